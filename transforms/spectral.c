/* Functions of numbers as functions of symmetric matrices: f(x) = v diag(f(w)) v^T. From values and vectors of a
 * decomposition derivatives cannot be had where eigenvalues repeat, since neither knows f'; here f is known, and the
 * derivative of order k is that of Daleckii and Krein,
 *   d^k f(x)[e1 .. ek] = v (sum over orders s of e1 .. ek, over all but the first and last index, of
 *                           f[w_i0, .., w_ik] p_s1[i0, i1] .. p_sk[i(k-1), ik]) v^T,   p = v^T e v,
 * with divided differences, which are derivatives of f where their points meet. It is linear and symmetric in each e,
 * and with one more direction it is its own derivative; so it is one Function, whose rules are the Function itself.
 * Source: Daleckii and Krein 1965; Noferini, A formula for the Frechet derivative of a generalized matrix function,
 * 2017; Higham, Functions of Matrices, 2008, 3.2 and B.16. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>

enum {
    BEYOND = 3, /* terms of the series reach this much beyond its first one */
    MOST = LAM_MAX_RANK - 2 < 8 ? LAM_MAX_RANK - 2
                                : 8 /* directions: tensors have an axis more, and k! products are made */
};

/* Inputs of the Function: x, then `order` directions. */
typedef struct spectral_attrs {
    lam_fn *f; /* held */
    int order;
} spectral_attrs;

static void release_attrs(lam_ctx *ctx, void *attrs) {
    spectral_attrs *a = attrs;
    (void)ctx;
    lam__fn_release(a->f);
}

/* ---- divided differences ----------------------------------------------------------------------------------------- */

/* The derivative of the base, element by element. */
static void body_slope(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *value;
    (void)ctx;
    lam_jvp(lam__fn_base(env), LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, out, 1, NULL);
}

/* f's derivative of this order over the factorial of that, at x. */
static lam_tensor *coefficient(lam_fn *f, int order, lam_tensor *x) {
    double factorial = 1;
    for (int k = 1; k <= order; k++) {
        lam__derived d = {"slope", f, body_slope, 1, 1, NULL, 0, NULL};
        f = lam__fn_derive(f->ctx, &d);
        factorial *= k;
    }
    return lam_div(lam_apply(f, LAM_LIST(x)), factorial);
}

/* f's divided differences of one order for all indices into w, in row-major order of the indices, with bounds of their
 * errors. */
typedef struct differences {
    lam_tensor *value, *error;
} differences;

/* The indices of w in each difference of `order`, ascending, as w is: [n^(order + 1), order + 1]. */
static lam_tensor *indices(lam_ctx *ctx, int64_t n, int order) {
    int64_t dims[LAM_MAX_RANK], count = 1;
    lam_tensor *axes[LAM_MAX_RANK];
    for (int k = 0; k <= order; k++) count *= dims[k] = n;
    for (int k = 0; k <= order; k++)
        axes[k] = lam_reshape(lam_iota(ctx, LAM_I64, (lam_dims){order + 1, dims}, k), LAM_DIMS(count));
    return lam_sort(lam_stack((lam_list){(size_t)order + 1, axes}, 1), 1);
}

/* Where the difference of the indices from column `from` on lies among those of one order less. */
static lam_tensor *place(lam_tensor *all, int64_t n, int order, int from) {
    lam_tensor *at = NULL;
    for (int k = from; k < from + order; k++) {
        lam_tensor *index = lam_squeeze(lam_slice_axis(all, 1, k, k + 1), LAM_AXES(1));
        at = at ? lam_add(lam_mul(at, n), index) : index;
    }
    return at;
}

static const int last_axis = -1;
static const lam_reduce_options last = {.axes = {1, &last_axis}};

/* The Taylor series of a difference about the mean of its points, of which the term of order 1 is 0: f^(k) / k!, plus
 * f^(k + r) / (k + r)! times the complete symmetric polynomial of degree r of the deviations. Its error is taken from
 * how fast its terms fall. */
static differences series(lam_fn *f, int order, lam_tensor *points, double epsilon) {
    lam_tensor *mean = lam_mean(points, &last), *off = lam_sub(points, lam_expand_dims(mean, -1));
    lam_tensor *squares = lam_sum(lam_square(off), &last), *cubes = lam_sum(lam_integer_pow(off, 3), &last);
    lam_tensor *first = coefficient(f, order, mean);
    lam_tensor *second = lam_mul(coefficient(f, order + 2, mean), lam_div(squares, 2.0));
    lam_tensor *third = lam_mul(coefficient(f, order + BEYOND, mean), lam_div(cubes, 3.0));
    lam_tensor *more = lam_add(lam_abs(second), lam_abs(third)), *size = lam_abs(first);
    lam_tensor *none = lam_eq(more, 0.0);
    lam_tensor *left = lam_where(none, 0.0, lam_div(lam_square(more), lam_where(none, 1.0, lam_add(size, more))));
    return (differences){lam_add(first, lam_add(second, third)), lam_add(left, lam_mul(epsilon, size))};
}

/* NOTE [near points]
 * (f[x1 .. xk] - f[x0 .. x(k-1)]) / (xk - x0) loses digits as the gap falls, the series as it rises; whichever knows
 * itself better is taken. A function that is bent or broken between its points, as |x| is, has a series that says
 * nothing of that, so the two must agree as well as they claim to. Where the points meet there is the series alone. */
static differences next(lam_fn *f, int order, lam_tensor *w, differences less, double epsilon) {
    const int64_t n = lam_dim(w, -1);
    lam_tensor *all = indices(lam_ctx_of(w), n, order), *points = lam_take(w, all, -1);
    lam_tensor *low = place(all, n, order, 0), *high = place(all, n, order, 1);
    lam_tensor *gap = lam_sub(lam_max_reduce(points, &last), lam_min_reduce(points, &last));
    lam_tensor *met = lam_eq(gap, 0.0), *over = lam_where(met, 1.0, gap);
    lam_tensor *a = lam_take(less.value, low, -1), *b = lam_take(less.value, high, -1);
    lam_tensor *rounding = lam_mul(epsilon, lam_add(lam_abs(a), lam_abs(b)));
    lam_tensor *error = lam_add(rounding, lam_add(lam_take(less.error, low, -1), lam_take(less.error, high, -1)));
    differences direct = {lam_div(lam_sub(b, a), over), lam_div(error, over)}, s = series(f, order, points, epsilon);
    lam_tensor *apart = lam_abs(lam_sub(direct.value, s.value)), *known = lam_add(direct.error, s.error);
    lam_tensor *agree = lam_le(apart, lam_mul(8.0, known));
    lam_tensor *near = lam_or(met, lam_and(lam_le(s.error, direct.error), agree));
    return (differences){lam_where(near, s.value, direct.value), lam_where(near, s.error, direct.error)};
}

/* ---- the Function ------------------------------------------------------------------------------------------------ */

/* The next order of numbers 0 .. k - 1 after this one; false after the last. */
static bool next_order(int k, int s[]) {
    int i = k - 2, j = k - 1;
    while (i >= 0 && s[i] > s[i + 1]) i--;
    if (i < 0) return false;
    while (s[j] < s[i]) j--;
    int kept = s[i];
    s[i] = s[j], s[j] = kept;
    for (int a = i + 1, b = k - 1; a < b; a++, b--) kept = s[a], s[a] = s[b], s[b] = kept;
    return true;
}

/* The factor p[.., i(at), i(at + 1)] of a product over k + 1 indices. */
static lam_tensor *spread(lam_tensor *p, int k, int at) {
    int64_t dims[LAM_INNER_RANK];
    const lam_dims own = lam_dims_of(p);
    const int lead = own.rank - 2;
    for (int i = 0; i < lead + k + 1; i++) {
        const int axis = i - lead - at;
        dims[i] = i < lead ? own.dims[i] : axis == 0 || axis == 1 ? own.dims[own.rank - 1] : 1;
    }
    return lam_reshape(p, (lam_dims){lead + k + 1, dims});
}

/* The sum over orders of the products of differences and directions p, in the basis of eigenvectors. */
static lam_tensor *combine(lam_tensor *table, int k, lam_tensor *const p[]) {
    int order[MOST], inner[MOST];
    const lam_dims own = lam_dims_of(p[0]);
    int64_t dims[LAM_INNER_RANK];
    const int lead = own.rank - 2;
    for (int i = 0; i < lead + k + 1; i++) dims[i] = own.dims[i < lead ? i : lead];
    lam_tensor *full = lam_reshape(table, (lam_dims){lead + k + 1, dims}), *sum = NULL;
    for (int i = 0; i < k; i++) order[i] = i, inner[i] = lead + 1 + i;
    do {
        lam_tensor *product = full;
        for (int j = 0; j < k; j++) product = lam_mul(product, spread(p[order[j]], k, j));
        sum = lam__matrices_plus(sum, product);
    } while (next_order(k, order));
    return k > 1 ? lam_sum(sum, &(lam_reduce_options){.axes = {k - 1, inner}}) : sum;
}

/* Whether f gives one number for each. */
static lam_tensor *values_of(lam_fctx *fc, lam_fn *f, lam_tensor *w) {
    lam_tensor *values = lam_apply(f, LAM_LIST(w));
    const lam_value *got = lam__scope_peek(values), *given = lam__scope_peek(w);
    if (got && given && !lam__value_same_type(got, given))
        return lam__custom_fail(fc, LAM_ERR_SHAPE, "write it with operations that go element by element",
                                "'%s' does not give numbers of the type that it is given", f->name),
               &fc->ctx->failed;
    return values;
}

static double epsilon_of(lam_tensor *w) {
    const int dtype = (int)lam_dtype_of(w);
    return dtype == LAM_F64 ? DBL_EPSILON : dtype == LAM_F16 ? 0x1p-10 : dtype == LAM_BF16 ? 0x1p-7 : FLT_EPSILON;
}

/* All of it on plain values: derivatives are the rules', so none goes through the decomposition. */
static void forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const spectral_attrs *a = lam_fctx_attrs(fc);
    lam_tensor *w, *v, *p[MOST];
    if (lam_eigh(in[0], &w, &v) != LAM_OK) return;
    const double epsilon = epsilon_of(w);
    differences table = {values_of(fc, a->f, w), NULL};
    if (lam_failed(table.value)) return;
    lam_tensor *adjoint = lam__matrices_adjoint(v), *left;
    table.error = lam_mul(epsilon, lam_abs(table.value));
    for (int k = 0; k < a->order; k++) {
        table = next(a->f, k + 1, w, table, epsilon);
        p[k] = lam_matmul(adjoint, lam_matmul(lam__matrices_symmetric(in[k + 1]), v));
    }
    if (a->order == 0) left = lam__matrices_scale(v, table.value);
    else left = lam_matmul(v, combine(table.value, a->order, p));
    out[0] = lam__matrices_symmetric(lam_matmul(left, adjoint));
}

/* Every rule needs x and all directions; a tangent or cotangent that is NULL saves an evaluation. */
static void setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)lam_fctx_inputs(fc), in});
    lam_fctx_set_materialize_grads(fc, false);
}

static lam_tensor *derivative(lam_fn *f, int order, lam_tensor *const in[]);

/* The saved inputs with `e` in the place of number i; i = 0: as one direction more behind them. */
static lam_tensor *along(lam_fctx *fc, int i, lam_tensor *e) {
    const spectral_attrs *a = lam_fctx_attrs(fc);
    lam_tensor *in[MOST + 2];
    for (int k = 0; k <= a->order; k++) in[k] = lam_fctx_saved(fc, k);
    in[i ? i : a->order + 1] = e;
    return derivative(a->f, a->order + !i, in);
}

static void jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    for (int i = 0; i < lam_fctx_inputs(fc); i++)
        if (t[i]) dout[0] = lam__matrices_plus(dout[0], along(fc, i, t[i]));
}

/* <g, d^k f[.., e, ..]> is symmetric in g and e for the product tr(g^H e); cotangents do not conjugate. */
static void backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    for (int i = 0; g[0] && i < lam_fctx_inputs(fc); i++)
        if (lam_fctx_needs_input_grad(fc, i)) gx[i] = lam_conj(along(fc, i, lam_conj(g[0])));
}

static const lam_function function_spectral = {
    .name = "spectral",
    .inputs = LAM_VARIADIC,
    .outputs = 1,
    .attrs_size = sizeof(spectral_attrs),
    .forward = forward,
    .setup_context = setup,
    .backward = backward,
    .jvp = jvp,
    .generate_vmap_rule = true,
};

/* The derivative of `order` at in[0] along the others. */
static lam_tensor *derivative(lam_fn *f, int order, lam_tensor *const in[]) {
    lam_tensor *out = &f->ctx->failed;
    if (order > MOST) {
        lam__error_set(f->ctx, LAM_ERR_OVERFLOW, "take fewer derivatives of it",
                       "a derivative of '%s' of order %d, of %d at most", f->name, order, MOST);
        return out;
    }
    const spectral_attrs a = {lam__fn_retain(f), order};
    lam__instance *x = lam__custom_instance(f->ctx, &function_spectral, &a, release_attrs, order + 1, 1);
    if (x) lam__custom_apply(x, (lam_list){(size_t)order + 1, in}, &out);
    lam__custom_release(x);
    return out;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Integers are taken as f64, as by lam_eigh. */
static void body_spectral(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *failed;
    (void)ctx;
    if (!lam__matrices_operands("spectral", true, 1, &x, &x, &failed)) out[0] = failed;
    else if (!lam__matrices_square("spectral", x)) out[0] = &ctx->failed;
    else out[0] = derivative(lam__fn_base(env), 0, &x);
}

lam_fn *lam_spectral(lam_fn *f) {
    lam_ctx *ctx = lam__fn_check("spectral", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (f->inputs != 1 || f->outputs != 1) {
        lam__error_set(ctx, LAM_ERR_ARITY, NULL,
                       "spectral: '%s' takes %d inputs and gives %d outputs, expected 1 and 1", f->name, f->inputs,
                       f->outputs);
        return ctx->failed_fn;
    }
    lam__derived d = {"spectral", f, body_spectral, 1, 1, NULL, 0, NULL};
    return lam__fn_derive(ctx, &d);
}
