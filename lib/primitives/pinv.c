/* Products of singular vectors: the pseudo-inverse, what is made of it, and the polar factor. Their derivatives are
 * written with the matrix and the result alone, so they hold to all orders wherever the rank stays what it is, also
 * where singular values repeat or nearly do: those of the vectors would have to cancel there. That of the
 * pseudo-inverse is by Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
 * whose variables separate", 1973, formula 4.12. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/structured.h>
#include <lamina/tensor.h>

#include <float.h>

/* The last two axes change places. */
static lam_status shape_pinv(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    for (int k = 0; k < x->rank - 2; k++) out->dims[k] = x->dims[k];
    out->dims[x->rank - 2] = x->dims[x->rank - 1];
    out->dims[x->rank - 1] = x->dims[x->rank - 2];
    return lam__matrices_fit(call, false);
}

/* Rows of vt over their singular values; 0 where those are no more than `rtol` times the largest. s descends. x^+ = v
 * diag(1/s) u^T, so dividing the rows of vt is all that is left but a product. */
static void divide_rows(lam_dtype dtype, int64_t k, int64_t n, double rtol, const char *s, char *vt) {
    const size_t item = lam__dtype_bytes(dtype);
    const double cut = k ? rtol * lam__dtype_load(dtype, s) : 0;
    for (int64_t i = 0; i < k; i++) {
        double value = lam__dtype_load(dtype, s + (size_t)i * item);
        bool none = value == 0 || value <= cut; /* not so for NaN, which stays */
        for (int64_t j = 0; j < n; j++) {
            char *at = vt + (size_t)(i * n + j) * item;
            lam__dtype_store(dtype, at, none ? 0 : lam__dtype_load(dtype, at) / value);
        }
    }
}

/* A matrix x = u diag(s) vt: u [m, k], s [k], vt [k, n], and where the product of them goes. */
typedef struct vectors {
    const lam__rectangle *r;
    lam_dtype dtype;
    double rtol; /* of the pseudo-inverse */
    char *u, *s, *vt, *out;
} vectors;

/* The product that is made of them. vt may be overwritten. */
typedef lam__product product_of(const vectors *v);

/* v diag(1/s) u^T: both factors are read transposed, by their strides. */
static lam__product inverse_of(const vectors *v) {
    const int64_t m = v->r->m, n = v->r->n, k = m < n ? m : n;
    divide_rows(v->dtype, k, n, v->rtol, v->s, v->vt);
    return (lam__product){.batch = 1,
                          .m = n,
                          .k = k,
                          .n = m,
                          .x = v->vt,
                          .x_row = 1,
                          .x_col = n,
                          .y = v->u,
                          .y_row = 1,
                          .y_col = k,
                          .out = v->out};
}

/* u vt. */
static lam__product nearest_of(const vectors *v) {
    const int64_t m = v->r->m, n = v->r->n, k = m < n ? m : n;
    return (lam__product){.batch = 1,
                          .m = m,
                          .k = k,
                          .n = n,
                          .x = v->u,
                          .x_row = k,
                          .x_col = 1,
                          .y = v->vt,
                          .y_row = n,
                          .y_col = 1,
                          .out = v->out};
}

/* Singular vectors of one matrix after the other, in `room` for them and for the kernel's own work, and their product.
 * The number of the first matrix whose iteration did not end, or -1. */
static int64_t multiply_all(vectors v, product_of f, const lam_value *x, char *room, lam_value *out) {
    const size_t item = lam__dtype_bytes(x->dtype);
    const int64_t m = v.r->m, n = v.r->n, k = m < n ? m : n;
    /* For one matrix: u, s and vt as the kernel leaves them, then its work, which wants to begin at a multiple of 8. */
    v.u = room, v.s = v.u + (size_t)(m * k) * item, v.vt = v.s + (size_t)k * item;
    char *work = v.vt + (size_t)(k * n) * item;
    work += (8 - (uintptr_t)work % 8) % 8;
    for (int64_t b = 0; b < lam__matrices_count(x); b++) {
        const size_t at = (size_t)(b * m * n) * item;
        if (lam__kernels_svd(v.dtype, v.r, 1, (const char *)x->data + at, v.u, v.s, v.vt, work) >= 0) return b;
        v.out = (char *)out->data + at;
        const lam__product product = f(&v);
        lam__kernels_matmul(v.dtype, &product, NULL, NULL);
    }
    return -1;
}

/* Matrices one after the other, in one room. */
static lam_status multiply(const lam_call_site *call, product_of f, double rtol, lam_value *out) {
    const lam_value *in = call->in[0];
    const lam__rectangle r = {.m = in->dims[in->rank - 2], .n = in->dims[in->rank - 1], .vectors = true};
    const lam_dtype dtype = (lam_dtype)in->dtype;
    int64_t k = r.m < r.n ? r.m : r.n, bad = -1;
    lam__work work;
    if (out->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    /* u, s and vt of one matrix, and 8 bytes so that the work behind them can be aligned. */
    size_t numbers = (size_t)((r.m + r.n + 1) * k) * lam__dtype_bytes(dtype) + 8;
    lam_status status = LAM_ERR_MEMORY;
    if (lam__matrices_work(call->ctx, numbers + lam__kernels_svd_bytes(dtype, &r), &work)) {
        bad = multiply_all((vectors){.r = &r, .dtype = dtype, .rtol = rtol}, f, x, work.room, out);
        status = LAM_OK;
    }
    lam__matrices_work_end(&work);
    lam__value_release(x);
    return bad < 0 ? status
                   : lam__matrices_bad(call, call->in[0], bad, "has singular values that were not found", NULL);
}

/* Without the singular values that count as 0. */
static lam_status eval_pinv(const lam_call_site *call, lam_value *const out[]) {
    const lam__pinv_params *p = call->params;
    return multiply(call, inverse_of, p->rtol, out[0]);
}

/* x y z, by whichever product of two is the smaller one. For a tall matrix x p is the large one, of the square of the
 * longer side, and p x the small one. */
static lam_tensor *three(bool first, lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    return first ? lam_matmul(lam_matmul(x, y), z) : lam_matmul(x, lam_matmul(y, z));
}

/* What lies outside of the spaces of x is taken first, where everything has the size of the direction, and multiplied
 * by p twice afterwards: the other way round the square of p meets x, and both leave the range long before the result
 * does. Of all products the small ones are made, so that nothing has the square of the longer side. */

/* With p the result: dp = -p dx p + p p^T dx^T (1 - x p) + (1 - p x) dx^T p^T p */
static void jvp_pinv(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *x = r->in[0], *p = r->out[0], *pt = lam__matrices_turn(p), *dxt = lam__matrices_turn(dx[0]);
    const bool tall = lam_dim(x, -2) >= lam_dim(x, -1);
    lam_tensor *left = lam_sub(dxt, three(tall, dxt, x, p)), *right = lam_sub(dxt, three(tall, p, x, dxt));
    lam_tensor *first = three(tall, p, dx[0], p), *second = three(tall, p, pt, left),
               *third = three(tall, right, pt, p);
    dout[0] = lam_sub(lam_add(second, third), first);
}

/* gx = -p^T g p^T + (1 - x p) g^T p p^T + p^T p g^T (1 - p x) */
static void vjp_pinv(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *x = r->in[0], *p = r->out[0], *pt = lam__matrices_turn(p), *gt = lam__matrices_turn(g[0]);
    const bool wide = lam_dim(x, -2) < lam_dim(x, -1);
    lam_tensor *left = lam_sub(gt, three(wide, x, p, gt)), *right = lam_sub(gt, three(wide, gt, p, x));
    lam_tensor *first = three(wide, pt, g[0], pt), *second = three(wide, left, p, pt),
               *third = three(wide, pt, p, right);
    gx[0] = lam_sub(lam_add(second, third), first);
}

/* The tolerance is a parameter and not a function of x: singular values below it do not come back in derivatives. It
 * cannot be one of x without telling when a value crosses it, where nothing has a derivative. */
static lam_tensor *apply_pinv(lam_tensor *x, double rtol) {
    lam__pinv_params p = {rtol};
    return lam__apply1(&lam__row_pinv, &p, sizeof p, x);
}

/* A stack with one more leading axis. */
static void batch_pinv(const lam_rule *r, lam_tensor *out[]) {
    const lam__pinv_params *p = r->params;
    out[0] = apply_pinv(r->in[0], p->rtol);
}

const lam_primitive lam__row_pinv = {
    .name = "pinv",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_pinv,
    .eval = eval_pinv,
    .jvp = jvp_pinv,
    .vjp = vjp_pinv,
    .batch = batch_pinv,
    .layout = "d rtol",
};

/* The tolerance that the options ask for, or `usual` times the longer side times the dtype's epsilon. */
static double tolerance(lam_tensor *x, const lam_rank_options *options, double usual) {
    if (options && options->rtol != 0) return options->rtol;
    double m = (double)lam_dim(x, -2), n = (double)lam_dim(x, -1);
    return usual * (m > n ? m : n) * (lam__matrices_real(lam_dtype_of(x)) == LAM_F32 ? FLT_EPSILON : DBL_EPSILON);
}

/* Of complex matrices by way of real ones, of which each singular value is there twice. So the same values are cut off,
 * and the result has the form of a complex matrix again. */
static lam_tensor *pseudo_inverse(lam_tensor *x, double rtol) {
    if (!lam__cplx_is(x)) return apply_pinv(x, rtol);
    return lam__cplx_from_real(apply_pinv(lam__cplx_as_real(x), rtol));
}

/* 10 max(m, n) epsilon, as in JAX; below it a singular value counts as 0. */
lam_tensor *lam_pinv(lam_tensor *x, const lam_rank_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_stack("pinv", &x, &failed)) return failed;
    return lam__scope_only(pseudo_inverse(x, tolerance(x, options, 10)), since);
}

/* p b, and once more for what that leaves: the exact p makes nothing of it, a rounded one takes its own error out. */
lam_tensor *lam_lstsq(lam_tensor *a, lam_tensor *b, const lam_rank_options *options) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[2] = {a, b}, *failed;
    if (!lam__matrices_operands("lstsq", true, 2, in, in, &failed)) return failed;
    /* A vector of b goes through as a matrix of one column. */
    int rank = lam_rank(in[1]);
    bool vector = rank == 1;
    if (lam_rank(in[0]) < 2 || rank == 0 || lam_dim(in[0], -2) != lam_dim(in[1], vector ? 0 : -2))
        return lam__matrices_fail("lstsq", 2, in, LAM_ERR_SHAPE, "write a batch of vectors as matrices of one column",
                                  "the right-hand side must have as many rows as the matrix");
    a = in[0];
    b = vector ? lam_expand_dims(in[1], 1) : in[1];
    lam_tensor *p = pseudo_inverse(a, tolerance(a, options, 1)), *x = lam_matmul(p, b);
    x = lam_add(x, lam_matmul(p, lam_sub(b, lam_matmul(a, x))));
    return lam__scope_only(vector ? lam_squeeze(x, LAM_AXES(-1)) : x, since);
}

/* Integers have no derivative; how many singular values lie above the tolerance times the largest. The tolerance is
 * NumPy's. */
lam_tensor *lam_matrix_rank(lam_tensor *x, const lam_rank_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_stack("matrix_rank", &x, &failed)) return failed;
    lam_tensor *s = lam_svdvals(x), *largest = lam_max_reduce(s, &(lam_reduce_options){LAM_AXES(-1), true});
    lam_tensor *above = lam_gt(s, lam_mul(tolerance(x, options, 1), largest));
    return lam__scope_only(lam_sum(above, &(lam_reduce_options){.axes = LAM_AXES(-1)}), since);
}

/* ---- the polar factor -------------------------------------------------------------------------------------------- */

/* That of x. */
static lam_status shape_polar(const lam_call_site *call, lam_shape out[]) {
    const lam_status typed = lam__matrices_typed(call, false);
    if (typed != LAM_OK) return typed;
    lam__apply_shape_as(call->in[0], (lam_dtype)call->in[0]->dtype, out);
    return lam__matrices_fit(call, false);
}

/* The matrix with orthonormal columns, or rows, that is nearest to x. */
static lam_status eval_polar(const lam_call_site *call, lam_value *const out[]) {
    return multiply(call, nearest_of, 0, out[0]);
}

/* x with its symmetric part alone, which rounding leaves it not quite. */
static lam_tensor *symmetric(lam_tensor *x) {
    return lam_mul(0.5, lam_add(x, lam__matrices_adjoint(x)));
}

/* How u changes with x = u p along t. Within its columns it turns: du = u z, z^H = -z, z p + p z = u^H t - t^H u. The
 * rest of t goes over p. Both are solved where p is diagonal, in a basis that counts as a constant, so no gap
 * between singular values is divided by; sums of two that are 0 turn nothing. */
static lam_tensor *change_of(lam_tensor *x, lam_tensor *u, lam_tensor *t) {
    lam_tensor *ut = lam__matrices_adjoint(u), *v;
    if (lam_dim(x, -2) < lam_dim(x, -1))
        return lam__matrices_adjoint(change_of(lam__matrices_adjoint(x), ut, lam__matrices_adjoint(t)));
    lam_tensor *p = symmetric(lam_matmul(ut, x)), *inside = lam_matmul(ut, t);
    lam_eigh(lam_stop_gradient(p), NULL, &v);
    lam_tensor *vt = lam__matrices_adjoint(v), *w = lam_matmul(vt, lam_matmul(p, v));
    lam_tensor *skew = lam_matmul(vt, lam_matmul(lam_sub(inside, lam__matrices_adjoint(inside)), v));
    lam_tensor *out = lam_matmul(lam_matmul(u, v), lam_gap_solve(w, skew, 1));
    if (lam_dim(x, -2) > lam_dim(x, -1)) {
        lam_tensor *outside = lam_sub(t, lam_matmul(u, inside));
        out = lam_add(out, lam_gap_solve(w, lam_matmul(outside, v), 0));
    }
    return lam_matmul(out, vt);
}

static void jvp_polar(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = change_of(r->in[0], r->out[0], dx[0]);
}

/* The change is a symmetric function of its direction. Cotangents are conjugated. */
static void vjp_polar(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_conj(change_of(r->in[0], r->out[0], lam_conj(g[0])));
}

/* A stack with one more leading axis. */
static void batch_polar(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_polar = {
    .name = "polar",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_polar,
    .eval = eval_polar,
    .jvp = jvp_polar,
    .vjp = vjp_polar,
    .batch = batch_polar,
};

/* p = u^H x, made symmetric, since rounding leaves it not quite so. */
lam_status lam_polar(lam_tensor *x, lam_tensor **u, lam_tensor **p) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[2], **const places[2] = {u, p};
    if (!lam__matrices_stack("polar", &x, &failed)) return lam__matrices_give_failed(failed, 2, places);
    out[0] = lam__apply1(&lam__row_polar, NULL, 0, x);
    out[1] = symmetric(lam_matmul(lam__matrices_adjoint(out[0]), x));
    return lam__matrices_give(lam_failed(out[0]) ? lam__error_last(out[0]->ctx) : LAM_OK, since, 2, out, places);
}

/* p = u^H x on the right, x u^H on the left. */
lam_status lam_polar_factors(lam_tensor *x, bool left, lam_tensor **u, lam_tensor **p) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *made[2], **const places[2] = {u, p};
    if (!lam__matrices_stack("polar_factors", &x, &failed)) return lam__matrices_give_failed(failed, 2, places);
    made[0] = lam__apply1(&lam__row_polar, NULL, 0, x);
    lam_tensor *back = lam__matrices_adjoint(made[0]);
    made[1] = left ? lam_matmul(x, back) : lam_matmul(back, x);
    return lam__matrices_give(lam_failed(made[0]) ? lam__error_last(made[0]->ctx) : LAM_OK, since, 2, made, places);
}
