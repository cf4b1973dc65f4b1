/* Functions of numbers as functions of symmetric matrices: f(x) = v diag(f(w)) v^T. From values and vectors of a
 * decomposition derivatives cannot be had where eigenvalues repeat, since neither knows f'; here f is known, and the
 * derivative of order k is that of Daleckii and Krein,
 *   d^k f(x)[e1 .. ek] = v (sum over orders s of e1 .. ek, over all but the first and last index, of
 *                           f[w_i0, .., w_ik] p_s1[i0, i1] .. p_sk[i(k-1), ik]) v^T,   p = v^T e v,
 * with divided differences, which are derivatives of f where their points meet. It is linear and symmetric in each e,
 * and with one more direction it is its own derivative; so it is one Function, whose rules are the Function itself.
 * Captures of f are inputs of it: the derivative by one of them is the same Function of the numbers df/dc (x).
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

/* Inputs of the Function: x, `order` directions, then what f takes behind its x: its captures. */
typedef struct spectral_attrs {
    lam_fn *f; /* open, held */
    int order;
} spectral_attrs;

static void release_attrs(lam_ctx *ctx, void *attrs) {
    spectral_attrs *a = attrs;
    (void)ctx;
    lam__fn_release(a->f);
}

/* ---- divided differences ----------------------------------------------------------------------------------------- */

/* f with the values of its captures. The list is the Function's inputs behind x and the directions, borrowed. */
typedef struct numbers {
    lam_fn *f;
    lam_tensor *const *captures;
} numbers;

/* f at x, with its captures behind. */
static lam_tensor *values_at(numbers of, lam_tensor *x) {
    lam_tensor **in = lam__apply_room(of.f->ctx, (size_t)of.f->inputs);
    for (int k = 0; in && k < of.f->inputs; k++) in[k] = k ? of.captures[k - 1] : x;
    return in ? lam_apply(of.f, (lam_list){(size_t)of.f->inputs, in}) : &of.f->ctx->failed;
}

/* The derivative of the base by one input, along t. Other inputs have no tangent, and cost nothing. */
static void body_along(lam_fn *f, lam_tensor *const in[], lam_tensor *out[], int by, lam_tensor *t) {
    lam_tensor **tangents = lam__apply_room(f->ctx, (size_t)f->inputs), *value;
    for (int k = 0; tangents && k < f->inputs; k++) tangents[k] = k == by ? t : NULL;
    const lam_list at = {(size_t)f->inputs, in}, along = {(size_t)f->inputs, tangents};
    if (tangents) lam_jvp(f, at, along, &value, out, 1, NULL);
}

/* By x, element by element. */
static void body_slope(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    body_along(lam__fn_base(env), in, out, 0, lam_ones_like(in[0]));
}

/* By the input that env tells, along an input that comes behind the others. */
static void body_by_capture(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    (void)ctx;
    body_along(f, in, out, *(const int *)env, in[f->inputs]);
}

/* f's derivative of this order over the factorial of that, at x. Each derivative is one of f's own, element by element:
 * a function of numbers is differentiated at all points at once. */
static lam_tensor *coefficient(numbers of, int order, lam_tensor *x) {
    double factorial = 1;
    for (int k = 1; k <= order; k++) {
        lam__derived d = {"slope", of.f, body_slope, of.f->inputs, 1, NULL, 0, NULL};
        of.f = lam__fn_derive(of.f->ctx, &d);
        factorial *= k;
    }
    return lam_div(values_at(of, x), factorial);
}

/* f's divided differences of one order for all indices into w, in row-major order of the indices, with bounds of their
 * errors. */
typedef struct differences {
    lam_tensor *value, *error;
} differences;

/* The indices of w in each difference of `order`, ascending, as w is: [n^(order + 1), order + 1]. A difference is
 * symmetric in its points, so sorted indices name it; eigenvalues ascend, and sorted indices have their extremes at the
 * ends. */
static lam_tensor *indices(lam_ctx *ctx, int64_t n, int order) {
    int64_t dims[LAM_MAX_RANK], count = 1;
    lam_tensor *axes[LAM_MAX_RANK];
    for (int k = 0; k <= order; k++) count *= dims[k] = n;
    for (int k = 0; k <= order; k++)
        axes[k] = lam_reshape(lam_iota(ctx, LAM_I64, (lam_dims){order + 1, dims}, k), LAM_DIMS(count));
    return lam_sort(lam_stack((lam_list){(size_t)order + 1, axes}, 1), 1);
}

/* Where the difference of the indices from column `from` on lies among those of one order less. Row-major, as `indices`
 * numbers them. */
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
 * how fast its terms fall. The terms fall by about one ratio, from which what is left out is estimated. */
static differences series(numbers f, int order, lam_tensor *points, double epsilon) {
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
static differences next(numbers f, int order, lam_tensor *w, differences less, double epsilon) {
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

/* The next order of numbers 0 .. k - 1 after this one; false after the last. The usual step to the next permutation. */
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

/* The factor p[.., i(at), i(at + 1)] of a product over k + 1 indices. A failed p has no axes. Two axes of the
 * eigenvectors stand at their places, all others have one element and are broadcast. */
static lam_tensor *spread(lam_tensor *p, int k, int at) {
    if (lam_failed(p)) return p;
    int64_t dims[LAM_INNER_RANK];
    const lam_dims own = lam_dims_of(p);
    const int lead = own.rank - 2;
    for (int i = 0; i < lead + k + 1; i++) {
        const int axis = i - lead - at;
        dims[i] = i < lead ? own.dims[i] : axis == 0 || axis == 1 ? own.dims[own.rank - 1] : 1;
    }
    return lam_reshape(p, (lam_dims){lead + k + 1, dims});
}

/* The sum over orders of the products of differences and directions p, in the basis of eigenvectors. k! products for k
 * directions, since the sum is over their orders; hence MOST. */
static lam_tensor *combine(lam_tensor *table, int k, lam_tensor *const p[]) {
    if (lam_failed(p[0])) return p[0];
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
    } while (lam_size(full) && next_order(k, order));
    return k > 1 ? lam_sum(sum, &(lam_reduce_options){.axes = {k - 1, inner}}) : sum;
}

/* Whether f gives one number for each. A function that mixes elements, or changes their dtype, is none of numbers. */
static lam_tensor *values_of(lam_fctx *fc, numbers of, lam_tensor *w) {
    lam_tensor *values = values_at(of, w);
    const lam_value *got = lam__scope_peek(values), *given = lam__scope_peek(w);
    if (got && given && !lam__value_same_type(got, given))
        return lam__custom_fail(fc, LAM_ERR_SHAPE, "write it with operations that go element by element",
                                "'%s' does not give numbers of the type that it is given", of.f->name),
               &fc->ctx->failed;
    return values;
}

/* Halves are computed in f32 and rounded, but their eigenvalues come as halves. */
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
    const numbers f = {a->f, in + 1 + a->order};
    differences table = {values_of(fc, f, w), NULL};
    if (lam_failed(table.value)) return;
    lam_tensor *adjoint = lam__matrices_adjoint(v), *left;
    table.error = lam_mul(epsilon, lam_abs(table.value));
    for (int k = 0; k < a->order; k++) {
        table = next(f, k + 1, w, table, epsilon);
        p[k] = lam_matmul(adjoint, lam_matmul(lam__matrices_symmetric(in[k + 1]), v));
    }
    if (a->order == 0) left = lam__matrices_scale(v, table.value);
    else left = lam_matmul(v, combine(table.value, a->order, p));
    out[0] = lam__matrices_symmetric(lam_matmul(left, adjoint));
}

/* Every rule needs all inputs; a tangent or cotangent that is NULL saves an evaluation. */
static void setup(lam_fctx *fc, lam_tensor *const in[], lam_tensor *const out[]) {
    (void)out;
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)lam_fctx_inputs(fc), in});
    lam_fctx_set_materialize_grads(fc, false);
}

static lam_tensor *derivative(lam_fn *f, int order, lam_tensor *const in[]);

/* The derivative by input i along e: the saved inputs with e in the place of a direction; of x: as one direction more
 * behind them; of a capture: behind all, as an input of f's derivative by that. f's derivative by the capture is a
 * function with one input more, and the Function of that. */
static lam_tensor *along(lam_fctx *fc, int i, lam_tensor *e) {
    const spectral_attrs *a = lam_fctx_attrs(fc);
    lam_tensor **in = lam__apply_room(fc->ctx, (size_t)lam_fctx_inputs(fc) + 1);
    lam_fn *f = a->f;
    if (!in) return &fc->ctx->failed;
    for (int k = 0, to = 0; k < lam_fctx_inputs(fc); k++) {
        in[to++] = k && k == i && k <= a->order ? e : lam_fctx_saved(fc, k);
        if (k == a->order && i == 0) in[to++] = e;
    }
    if (i <= a->order) return derivative(f, a->order + !i, in);
    const int by = i - a->order;
    in[lam_fctx_inputs(fc)] = e;
    lam__derived d = {"slope", f, body_by_capture, f->inputs + 1, 1, &by, sizeof by, NULL};
    f = lam__fn_derive(fc->ctx, &d);
    return f->magic == LAM__FN ? derivative(f, a->order, in) : &fc->ctx->failed;
}

static void jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    for (int i = 0; i < lam_fctx_inputs(fc); i++)
        if (t[i]) dout[0] = lam__matrices_plus(dout[0], along(fc, i, t[i]));
}

/* What a capture's gradient is made of: one number for each direction of the capture. */
typedef struct gradient {
    lam_fctx *fc;
    int i;
    lam_tensor *g;
} gradient;

static void body_entry(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const gradient *e = env;
    (void)ctx;
    out[0] = lam_sum(lam_real(lam_mul(e->g, along(e->fc, e->i, in[0]))), NULL);
}

/* The gradient of Re <g, d^k f[..]> by a capture, direction by direction: each of them has divided differences of its
 * own, whose near points are not those of f (NOTE [near points]). `unit` is 1 or i. */
static lam_tensor *by_units(gradient *e, lam_tensor *c, lam_tensor *unit) {
    enum { CHUNK = 256 };
    lam_ctx *ctx = e->fc->ctx;
    int64_t dims[LAM_INNER_RANK];
    const lam_dims own = lam_dims_of(c);
    const int64_t n = lam_size(c);
    dims[0] = n;
    for (int k = 0; k < own.rank; k++) dims[k + 1] = own.dims[k];
    lam_tensor *units = lam_mul(unit, lam_eye(ctx, lam_dtype_of(c), n, n));
    lam_fn *f = lam_fn_new(
        ctx, &(lam_fn_options){.name = "spectral gradient", .body = body_entry, .inputs = 1, .outputs = 1, .env = e});
    f = lam_vmap(f, &(lam_vmap_options){.chunk_size = n > CHUNK ? CHUNK : 0});
    lam_tensor *all = lam_apply(f, LAM_LIST(lam__apply_reshape(units, own.rank + 1, dims)));
    return lam_cast(lam__apply_reshape(all, own.rank, own.dims), lam__matrices_real(lam_dtype_of(c)));
}

/* Cotangents do not conjugate: d = Re(gx dc), so gx of a complex c has the slope by its imaginary part with a minus. */
static lam_tensor *by_capture(lam_fctx *fc, int i, lam_tensor *g) {
    lam_tensor *c = lam_fctx_saved(fc, i), *one = lam_cast(lam_scalar(fc->ctx, 1), lam_dtype_of(c));
    gradient e = {fc, i, g};
    if (lam_size(c) == 0) return lam_zeros_like(c);
    lam_tensor *by_real = by_units(&e, c, one);
    if (!lam__dtype_is_complex((int)lam_dtype_of(c))) return by_real;
    lam_tensor *unit = lam_complex(lam_zeros_like(lam_real(one)), lam_real(one));
    return lam_complex(by_real, lam_neg(by_units(&e, c, unit)));
}

/* <g, d^k f[.., e, ..]> is symmetric in g and e for the product tr(g^H e); cotangents do not conjugate. Where the
 * cotangent is zero nothing is done. */
static void backward(lam_fctx *fc, lam_tensor *const g[], lam_tensor *gx[]) {
    const spectral_attrs *a = lam_fctx_attrs(fc);
    for (int i = 0; g[0] && i < lam_fctx_inputs(fc); i++)
        if (lam_fctx_needs_input_grad(fc, i))
            gx[i] = i > a->order ? by_capture(fc, i, g[0]) : lam_conj(along(fc, i, lam_conj(g[0])));
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

/* The derivative of `order` at in[0] along as many others, with the captures behind them. order counts the directions.
 * The Function's reference is given up at once: the application holds it. */
static lam_tensor *derivative(lam_fn *f, int order, lam_tensor *const in[]) {
    lam_tensor *out = &f->ctx->failed;
    if (order > MOST) {
        lam__error_set(f->ctx, LAM_ERR_OVERFLOW, "take fewer derivatives of it",
                       "a derivative of '%s' of order %d, of %d at most", f->name, order, MOST);
        return out;
    }
    const spectral_attrs a = {lam__fn_retain(f), order};
    const int inputs = order + f->inputs;
    lam__instance *x = lam__custom_instance(f->ctx, &function_spectral, &a, release_attrs, inputs, 1);
    if (x) lam__custom_apply(x, (lam_list){(size_t)inputs, in}, &out);
    lam__custom_release(x);
    return out;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Integers are taken as f64, as by lam_eigh. */
static void body_spectral(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = in[0], *failed;
    lam_fn *f = lam__fn_base(env), *open = lam__arguments_open("spectral", f);
    if (!lam__matrices_operands("spectral", true, 1, &x, &x, &failed)) out[0] = failed;
    else if (!lam__matrices_square("spectral", x) || open->magic != LAM__FN) out[0] = &ctx->failed;
    else {
        lam_tensor **all = lam__apply_room(ctx, (size_t)open->inputs);
        if (!all) return;
        all[0] = x;
        lam__arguments_append_captures(f, all, 1);
        out[0] = derivative(open, 0, all);
    }
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
