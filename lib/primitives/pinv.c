/* The pseudo-inverse, and what is made of it. Its derivative is written with the matrix and the result alone (Golub and
 * Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate",
 * 1973, formula 4.12), so it holds to all orders wherever the rank stays what it is, also where singular values repeat
 * or are zero. */
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

/* Singular vectors of one matrix after the other, in `room` for them and for the kernel's own work. */
static int64_t invert_all(const lam__rectangle *r, double rtol, const lam_value *x, char *room, lam_value *out) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    const size_t item = lam__dtype_bytes(dtype);
    const int64_t m = r->m, n = r->n, k = m < n ? m : n, one = m * n;
    /* For one matrix: u, s and vt as the kernel leaves them, then its work, which wants to begin at a multiple of 8. */
    char *u = room, *s = u + (size_t)(m * k) * item, *vt = s + (size_t)k * item, *work = vt + (size_t)(k * n) * item;
    work += (8 - (uintptr_t)work % 8) % 8;
    for (int64_t b = 0; b < lam__matrices_count(x); b++) {
        const size_t at = (size_t)(b * one) * item;
        if (lam__kernels_svd(dtype, r, 1, (const char *)x->data + at, u, s, vt, work) >= 0) return b;
        divide_rows(dtype, k, n, rtol, s, vt);
        /* Both factors are read transposed, by their strides. */
        const lam__product product = {.batch = 1,
                                      .m = n,
                                      .k = k,
                                      .n = m,
                                      .x = vt,
                                      .x_row = 1,
                                      .x_col = n,
                                      .y = u,
                                      .y_row = 1,
                                      .y_col = k,
                                      .out = (char *)out->data + at};
        lam__kernels_matmul(dtype, &product, NULL, NULL);
    }
    return -1;
}

/* Matrices one after the other, in one room. */
static lam_status eval_pinv(const lam_call_site *call, lam_value *const out[]) {
    const lam__pinv_params *p = call->params;
    /* The result has the axes of x exchanged, so these are the rows and columns of x. */
    lam__rectangle r = {.m = out[0]->dims[out[0]->rank - 1], .n = out[0]->dims[out[0]->rank - 2], .vectors = true};
    int64_t k = r.m < r.n ? r.m : r.n, bad = -1;
    lam__work work;
    if (out[0]->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    /* u, s and vt of one matrix, and 8 bytes so that the work behind them can be aligned. */
    size_t numbers = (size_t)((r.m + r.n + 1) * k) * lam__dtype_bytes(x->dtype) + 8;
    lam_status status = LAM_ERR_MEMORY;
    if (lam__matrices_work(call->ctx, numbers + lam__kernels_svd_bytes((lam_dtype)x->dtype, &r), &work)) {
        bad = invert_all(&r, p->rtol, x, work.room, out[0]);
        status = LAM_OK;
    }
    lam__matrices_work_end(&work);
    lam__value_release(x);
    return bad < 0 ? status
                   : lam__matrices_bad(call, call->in[0], bad, "has singular values that were not found", NULL);
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
