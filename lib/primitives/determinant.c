/* Determinants, by LU factors: the product of u's diagonal and the sign of the row exchanges. The derivative of the
 * determinant is the matrix of cofactors, a primitive of its own that exists for singular matrices too, and has a
 * derivative there: det x^-T would be 0 times inf at a matrix of rank n - 1, whose cofactors are not 0. Up to three
 * rows the determinant is written out, which is exact to all orders. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* Over the last axis, as all here work on stacks. */
static lam_tensor *sum_last(lam_tensor *x) {
    return lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(-1)});
}

/* 1 or -1 by whether `count` is even, in dtype. */
static lam_tensor *parity(lam_tensor *count, lam_dtype dtype) {
    return lam_cast(lam_sub(1, lam_mul(2, lam_rem(count, 2))), dtype);
}

/* How many rows were exchanged with another. LAPACK's pivots say for each row with which one it was exchanged, itself
 * counting as none. */
static lam_tensor *exchanges(lam_tensor *pivots) {
    return sum_last(lam_ne(pivots, lam_arange(lam_ctx_of(pivots), LAM_I32, 0, (double)lam_dim(pivots, -1), 1)));
}

/* Element [row, column] of each matrix of the stack. */
static lam_tensor *at(lam_tensor *x, int row, int column) {
    return lam_index(lam_index(x, -1, column), -1, row);
}

/* The minor of a 3 x 3 matrix without row 0 and column c, signed by going around. "Around" means that columns after the
 * last begin again, which has the sign in it. */
static lam_tensor *minor(lam_tensor *x, int c) {
    int a = (c + 1) % 3, b = (c + 2) % 3;
    return lam_sub(lam_mul(at(x, 1, a), at(x, 2, b)), lam_mul(at(x, 1, b), at(x, 2, a)));
}

/* A polynomial in the elements, with the derivatives of one. Of no rows it is 1, the product of nothing. */
static lam_tensor *written_out(lam_tensor *x, int64_t n) {
    if (n == 0) return lam_prod(lam_diagonal(x, 0, -2, -1), &(lam_reduce_options){.axes = LAM_AXES(-1)});
    if (n == 1) return at(x, 0, 0);
    if (n == 2) return lam_sub(lam_mul(at(x, 0, 0), at(x, 1, 1)), lam_mul(at(x, 0, 1), at(x, 1, 0)));
    lam_tensor *sum = lam_mul(at(x, 0, 0), minor(x, 0));
    return lam_add(lam_add(sum, lam_mul(at(x, 0, 1), minor(x, 1))), lam_mul(at(x, 0, 2), minor(x, 2)));
}

/* ---- slogdet -------------------------------------------------------------------------------------------------- */

/* The factors of x, its u's diagonal, and its exchanges; false: *failed is what the operation returns. */
static bool factors(const char *operation, lam_tensor **x, lam_tensor **diagonal, lam_tensor **swaps,
                    lam_tensor **failed) {
    lam_tensor *f, *pivots, *permutation;
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    *failed = lam__axes_failed(*x);
    if (!lam__matrices_square(operation, *x)) return false;
    if (lam_lu(*x, &f, &pivots, &permutation) != LAM_OK) return false;
    *diagonal = lam_diagonal(f, 0, -2, -1);
    *swaps = exchanges(pivots);
    return true;
}

/* Sign and logarithm of the size apart, as the product may leave the range: of 200 rows of 1e-3 on the diagonal it is
 * 1e-600. The sign of real matrices is made of counts and has no derivative; that of complex ones turns. */
lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *diagonal, *swaps, *failed, *out[2], **const places[2] = {sign, log};
    if (!factors("slogdet", &x, &diagonal, &swaps, &failed)) return lam__matrices_give_failed(failed, 2, places);
    out[1] = sum_last(lam_log(lam_abs(diagonal)));
    if (lam__cplx_is(diagonal)) {
        lam_tensor *turns = lam_prod(lam_sign(diagonal), &(lam_reduce_options){.axes = LAM_AXES(-1)});
        out[0] = lam_mul(turns, parity(swaps, lam_dtype_of(x)));
    } else {
        lam_tensor *negative = sum_last(lam_lt(diagonal, 0.0)), *zeros = sum_last(lam_eq(diagonal, 0.0));
        out[0] = lam_where(lam_gt(zeros, 0), 0.0, parity(lam_add(swaps, negative), lam_dtype_of(x)));
    }
    lam_status status = lam_failed(out[0]) || lam_failed(out[1]) ? lam_status_of(lam_ctx_of(x)) : LAM_OK;
    return lam__matrices_give(status, since, 2, out, places);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef void factors_kernel(lam_dtype dtype, int64_t batch, int64_t n, void *x, int32_t *pivots, void *out);

typedef struct stack {
    factors_kernel *kernel;
    const lam_value *x, *out;
    int64_t n, step; /* rows; elements of a result */
} stack;

/* Bytes of a matrix, rounded up so that pivots may follow. */
static size_t matrix_room(const stack *s) {
    return ((size_t)(s->n * s->n) * lam__dtype_bytes(s->x->dtype) + 7) & ~(size_t)7;
}

/* The kernel destroys its operand, so each matrix is copied to the worker's room first. */
static int64_t factor_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const size_t item = lam__dtype_bytes(s->x->dtype), bytes = (size_t)(s->n * s->n) * item;
    int32_t *pivots = (int32_t *)(void *)((char *)room + matrix_room(s));
    for (int64_t b = begin; b < end; b++) {
        if (bytes) memcpy(room, (const char *)s->x->data + (size_t)b * bytes, bytes);
        s->kernel((lam_dtype)s->x->dtype, 1, s->n, room, pivots, (char *)s->out->data + (size_t)(b * s->step) * item);
    }
    return -1;
}

/* Results have `step` elements each. Cost: n^3/8 units and something for each row; cofactors are some three times as
 * much. */
static lam_status factor_each(const lam_call_site *call, lam_value *out, int64_t step, factors_kernel *kernel) {
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {kernel, x, out, x->dims[x->rank - 1], step};
    const double n = (double)s.n, cost = n * n * (n / 8 + 2) * (step > 1 ? 3 : 1);
    int64_t bad;
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost,
                                           matrix_room(&s) + (size_t)s.n * sizeof(int32_t), factor_part, &s, &bad);
    lam__value_release(x);
    return status;
}

/* ---- cofactors --------------------------------------------------------------------------------------------------- */

static lam_status shape_cofactor(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    for (int k = 0; k < x->rank; k++) out->dims[k] = x->dims[k];
    return LAM_OK;
}

static lam_status eval_cofactor(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    return x->count ? factor_each(call, out[0], x->dims[x->rank - 1] * x->dims[x->rank - 1], lam__kernels_cofactor)
                    : LAM_OK;
}

/* [i, j] is the product of all s but s[i] and s[j], 0 on the diagonal: of those before i, between, and behind j.
 * Running products instead of quotients: exact with zeros, of which two or more are what this is for. */
static lam_tensor *products_without_two(lam_tensor *s) {
    int64_t n = lam_dim(s, -1);
    lam_tensor *one = lam_ones_like(lam_slice_axis(s, -1, 0, 1));
    lam_tensor *before = lam_concatenate(LAM_LIST(one, lam_cumprod(lam_slice_axis(s, -1, 0, n - 1), -1)), -1);
    lam_tensor *behind = lam_concatenate(LAM_LIST(lam_cumprod_reverse(lam_slice_axis(s, -1, 1, n), -1), one), -1);
    lam_tensor *rows = lam_mul(lam_expand_dims(s, -2), lam_expand_dims(lam_ones_like(s), -1));
    lam_tensor *running = lam_cumprod(lam_add(lam_triu(rows, 1), lam_tril(lam_ones_like(rows), 0)), -1);
    lam_tensor *first = lam_ones_like(lam_slice_axis(rows, -1, 0, 1));
    lam_tensor *between = lam_concatenate(LAM_LIST(first, lam_slice_axis(running, -1, 0, n - 1)), -1);
    lam_tensor *all = lam_mul(lam_mul(lam_expand_dims(before, -1), between), lam_expand_dims(behind, -2));
    all = lam_triu(all, 1);
    return lam_add(all, lam__matrices_turn(all));
}

/* The determinants of orthogonal matrices, which do not move; of unitary ones they do. Real ones are 1 or -1, so they
 * are constants. */
static lam_tensor *orientation(lam_tensor *x) {
    lam_tensor *sign = NULL, *log;
    if (lam__cplx_is(x)) sign = lam_det(x);
    else lam_slogdet(lam_stop_gradient(x), &sign, &log);
    return lam_expand_dims(lam_expand_dims(sign, -1), -1);
}

/* The change of the cofactors of u diag(s) vt along e, by those of diag(s): right for every rank. Those of a unitary
 * matrix are its conjugate times its determinant. */
static lam_tensor *change_by_svd(lam_tensor *u, lam_tensor *s, lam_tensor *vt, lam_tensor *e) {
    lam_tensor *p = lam_matmul(lam__matrices_adjoint(u), lam_matmul(e, lam__matrices_adjoint(vt)));
    lam_tensor *pi = products_without_two(s), *d = lam_expand_dims(lam_diagonal(p, 0, -2, -1), -1);
    lam_tensor *on_diagonal = lam_squeeze(lam_matmul(pi, d), LAM_AXES(-1)), *left = lam_conj(u);
    lam_tensor *core = lam_matmul(left, lam_mul(pi, lam__matrices_turn(p)));
    lam_tensor *change = lam_matmul(lam_sub(lam__matrices_scale(left, on_diagonal), core), lam_conj(vt));
    return lam_mul(lam_mul(orientation(u), orientation(vt)), change);
}

/* The change of det x^-T along e: exact to all orders for matrices that are not singular. C' = C tr(x^-1 e) - x^-T e^T
 * C for C = det(x) x^-T. */
static lam_tensor *change_by_inverse(lam_tensor *x, lam_tensor *cofactors_of_x, lam_tensor *e) {
    lam_tensor *inverse = lam__matrices_turn(lam_inv(x));
    lam_tensor *part = lam_sum(lam_mul(inverse, e), &(lam_reduce_options){LAM_AXES(-2, -1), true});
    return lam_sub(lam_mul(cofactors_of_x, part),
                   lam_matmul(inverse, lam_matmul(lam__matrices_turn(e), cofactors_of_x)));
}

/* The second derivative of the determinant along e, symmetric. Which of two forms is used is decided by the least
 * singular value beside the largest: below 2^-26 (f32: 2^-11), about the root of the rounding unit, the inverse would
 * have lost half of its digits. There it is given the identity instead, which keeps what is not chosen finite. */
static lam_tensor *second_along(lam_tensor *x, lam_tensor *e) {
    int64_t n = lam_dim(x, -1);
    lam_tensor *u, *s, *vt;
    if (n < 2) return lam_mul(0.0, e);
    lam_svd(x, &u, &s, &vt, NULL);
    double root = lam_dtype_of(s) == LAM_F32 ? 0x1p-11 : 0x1p-26;
    lam_tensor *singular = lam_le(lam_slice_axis(s, -1, n - 1, n), lam_mul(root, lam_slice_axis(s, -1, 0, 1)));
    singular = lam_expand_dims(singular, -1);
    lam_tensor *one = lam_eye(lam_ctx_of(x), lam_dtype_of(x), n, n), *regular = lam_where(singular, one, x);
    return lam_where(singular, change_by_svd(u, s, vt, e), change_by_inverse(regular, lam_cofactor(regular), e));
}

/* The second derivative of det is a symmetric bilinear form, so one function serves both modes. */
static void jvp_cofactor(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = second_along(r->in[0], dx[0]);
}

static void vjp_cofactor(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = second_along(r->in[0], g[0]);
}

static void batch_cofactor(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_cofactor = {
    .name = "cofactor",
    .inputs = 1,
    .complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_cofactor,
    .eval = eval_cofactor,
    .jvp = jvp_cofactor,
    .vjp = vjp_cofactor,
    .batch = batch_cofactor,
};

lam_tensor *lam_cofactor(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("cofactor", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("cofactor", x)) return lam__axes_failed(x);
    return lam__scope_only(lam__apply1(&lam__row_cofactor, NULL, 0, x), since);
}

/* ---- det --------------------------------------------------------------------------------------------------------- */

static lam_status shape_det(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_cofactor(call, out);
    out->rank -= 2;
    return status;
}

static lam_status eval_det(const lam_call_site *call, lam_value *const out[]) {
    return out[0]->count ? factor_each(call, out[0], 1, lam__kernels_det) : LAM_OK;
}

/* d det = sum of cofactors times dx (Jacobi's formula). */
static void jvp_det(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = lam_sum(lam_mul(lam_cofactor(r->in[0]), dx[0]), &(lam_reduce_options){.axes = LAM_AXES(-2, -1)});
}

/* gx = g times the cofactors. */
static void vjp_det(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_cofactor(r->in[0]), lam_expand_dims(lam_expand_dims(g[0], -1), -1));
}

static void batch_det(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_det = {
    .name = "det",
    .inputs = 1,
    .complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_det,
    .eval = eval_det,
    .jvp = jvp_det,
    .vjp = vjp_det,
    .batch = batch_det,
};

lam_tensor *lam_det(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("det", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("det", x)) return lam__axes_failed(x);
    if (lam_dim(x, -1) <= 3) return lam__scope_only(written_out(x, lam_dim(x, -1)), since);
    return lam__scope_only(lam__apply1(&lam__row_det, NULL, 0, x), since);
}
