/* Determinants, by LU factors: the product of u's diagonal and the sign of the row exchanges. The derivative of the
 * determinant is the matrix of cofactors, a primitive of its own that exists for singular matrices too, and has a
 * derivative there. Up to three rows the determinant is written out, which is exact to all orders. */
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

#include <float.h>
#include <math.h>
#include <string.h>

static lam_tensor *sum_last(lam_tensor *x) {
    return lam_sum(x, &(lam_reduce_options){.axes = LAM_AXES(-1)});
}

/* 1 or -1 by whether `count` is even, in dtype. */
static lam_tensor *parity(lam_tensor *count, lam_dtype dtype) {
    return lam_cast(lam_sub(1, lam_mul(2, lam_rem(count, 2))), dtype);
}

/* How many rows were exchanged with another. */
static lam_tensor *exchanges(lam_tensor *pivots) {
    return sum_last(lam_ne(pivots, lam_arange(lam_ctx_of(pivots), LAM_I32, 0, (double)lam_dim(pivots, -1), 1)));
}

static lam_tensor *at(lam_tensor *x, int row, int column) {
    return lam_index(lam_index(x, -1, column), -1, row);
}

/* The minor of a 3 x 3 matrix without row 0 and column c, signed by going around. */
static lam_tensor *minor(lam_tensor *x, int c) {
    int a = (c + 1) % 3, b = (c + 2) % 3;
    return lam_sub(lam_mul(at(x, 1, a), at(x, 2, b)), lam_mul(at(x, 1, b), at(x, 2, a)));
}

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

lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *diagonal, *swaps, *failed;
    if (!factors("slogdet", &x, &diagonal, &swaps, &failed)) {
        *sign = *log = failed;
        return lam_status_of(lam_ctx_of(failed));
    }
    *log = sum_last(lam_log(lam_abs(diagonal)));
    if (lam__cplx_is(diagonal)) {
        lam_tensor *turns = lam_prod(lam_sign(diagonal), &(lam_reduce_options){.axes = LAM_AXES(-1)});
        *sign = lam_mul(turns, parity(swaps, lam_dtype_of(x)));
    } else {
        lam_tensor *negative = sum_last(lam_lt(diagonal, 0.0)), *zeros = sum_last(lam_eq(diagonal, 0.0));
        *sign = lam_where(lam_gt(zeros, 0), 0.0, parity(lam_add(swaps, negative), lam_dtype_of(x)));
    }
    lam__scope_only_these(2, (lam_tensor *const[]){*sign, *log}, since);
    return lam_failed(*sign) || lam_failed(*log) ? lam_status_of(lam_ctx_of(x)) : LAM_OK;
}

/* ---- factors in the kernel's work ------------------------------------------------------------------------------- */

/* One matrix after the other: its LU factors, which `each` makes the result of. */
typedef struct factored {
    lam_dtype dtype;
    int64_t n;
    char *factors;
    int32_t *pivots;
} factored;

typedef void each_factored(const factored *f, void *out);

/* Element i of u's diagonal. */
static char *diagonal_at(const factored *f, int64_t i) {
    return f->factors + (size_t)(i * f->n + i) * lam__dtype_bytes(f->dtype);
}
static double diagonal(const factored *f, int64_t i) {
    return lam__dtype_load(f->dtype, diagonal_at(f, i));
}

static double determinant(const factored *f) {
    double product = 1;
    for (int64_t i = 0; i < f->n; i++) product *= diagonal(f, i) * (f->pivots[i] == i ? 1 : -1);
    return product;
}

/* Results lie `step` elements apart. */
static lam_status factor_each(const lam_call_site *call, lam_value *out, int64_t step, each_factored *each) {
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    factored f = {.dtype = (lam_dtype)x->dtype, .n = x->dims[x->rank - 1]};
    const size_t item = lam__dtype_bytes(x->dtype), bytes = (size_t)(f.n * f.n) * item;
    lam__work work;
    bool room = lam__matrices_work(call->ctx, bytes + 8 + (size_t)f.n * sizeof(int32_t), &work);
    for (int64_t b = 0; room && b < lam__matrices_count(x); b++) {
        f.factors = work.room;
        f.pivots = (int32_t *)(void *)(f.factors + (bytes + 7) / 8 * 8);
        if (bytes) memcpy(f.factors, (const char *)x->data + (size_t)b * bytes, bytes);
        lam__kernels_lu(f.dtype, 1, f.n, f.factors, f.pivots);
        each(&f, (char *)out->data + (size_t)(b * step) * item);
    }
    lam__matrices_work_end(&work);
    lam__value_release(x);
    return room ? LAM_OK : LAM_ERR_MEMORY;
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

/* NOTE [small pivots]
 * Pivots below the rounding of the largest are as good as any others of that size, so they get it: the cofactors are
 * polynomials, so they move by rounding only, and det x^-T is theirs for every rank. */
static void raise_pivots(const factored *f) {
    const bool wide = f->dtype == LAM_F64;
    const double tiny = wide ? 1e-150 : 1e-30, epsilon = wide ? DBL_EPSILON : FLT_EPSILON;
    double largest = 0;
    for (int64_t i = 0; i < f->n; i++) largest = fmax(largest, fabs(diagonal(f, i)));
    const double least = largest > 0 ? epsilon * largest : tiny;
    for (int64_t i = 0; i < f->n; i++)
        if (fabs(diagonal(f, i)) < least)
            lam__dtype_store(f->dtype, diagonal_at(f, i), copysign(least, diagonal(f, i)));
}

static void exchange_rows(size_t bytes, char *x, char *y) {
    for (size_t i = 0; i < bytes; i++) {
        char t = x[i];
        x[i] = y[i], y[i] = t;
    }
}

/* With x = p^T l u: det p^T l^-T u^-T. */
static void cofactors(const factored *f, void *out) {
    static const lam__triangular lower = {.transpose = true, .unit_diagonal = true},
                                 upper = {.transpose = true, .upper = true};
    const size_t item = lam__dtype_bytes(f->dtype), row = (size_t)f->n * item;
    raise_pivots(f);
    const double det = determinant(f);
    for (int64_t e = 0; e < f->n * f->n; e++)
        lam__dtype_store(f->dtype, (char *)out + (size_t)e * item, e % (f->n + 1) == 0);
    lam__kernels_triangular_solve(f->dtype, &upper, 1, f->n, f->n, f->factors, out);
    lam__kernels_triangular_solve(f->dtype, &lower, 1, f->n, f->n, f->factors, out);
    for (int64_t i = f->n - 1; i >= 0; i--)
        if (f->pivots[i] != i)
            exchange_rows(row, (char *)out + (size_t)i * row, (char *)out + (size_t)f->pivots[i] * row);
    for (int64_t e = 0; e < f->n * f->n; e++) {
        char *at = (char *)out + (size_t)e * item;
        lam__dtype_store(f->dtype, at, det * lam__dtype_load(f->dtype, at));
    }
}

static lam_status eval_cofactor(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    return x->count ? factor_each(call, out[0], x->dims[x->rank - 1] * x->dims[x->rank - 1], cofactors) : LAM_OK;
}

/* [i, j] is the product of all s but s[i] and s[j], 0 on the diagonal: of those before i, between, and behind j. */
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

static lam_tensor *sign_of(lam_tensor *x) {
    lam_tensor *sign, *log;
    lam_slogdet(lam_stop_gradient(x), &sign, &log);
    return lam_expand_dims(lam_expand_dims(sign, -1), -1);
}

/* The change of the cofactors of u diag(s) vt along e, by those of diag(s): right for every rank. */
static lam_tensor *change_by_svd(lam_tensor *u, lam_tensor *s, lam_tensor *vt, lam_tensor *e) {
    lam_tensor *p = lam_matmul(lam__matrices_turn(u), lam_matmul(e, lam__matrices_turn(vt)));
    lam_tensor *pi = products_without_two(s), *d = lam_expand_dims(lam_diagonal(p, 0, -2, -1), -1);
    lam_tensor *on_diagonal = lam_squeeze(lam_matmul(pi, d), LAM_AXES(-1));
    lam_tensor *core = lam_matmul(u, lam_mul(pi, lam__matrices_turn(p)));
    lam_tensor *change = lam_matmul(lam_sub(lam__matrices_scale(u, on_diagonal), core), vt);
    return lam_mul(lam_mul(sign_of(u), sign_of(vt)), change);
}

/* The change of det x^-T along e: exact to all orders for matrices that are not singular. */
static lam_tensor *change_by_inverse(lam_tensor *x, lam_tensor *cofactors_of_x, lam_tensor *e) {
    lam_tensor *inverse = lam__matrices_turn(lam_inv(x));
    lam_tensor *part = lam_sum(lam_mul(inverse, e), &(lam_reduce_options){LAM_AXES(-2, -1), true});
    return lam_sub(lam_mul(cofactors_of_x, part),
                   lam_matmul(inverse, lam_matmul(lam__matrices_turn(e), cofactors_of_x)));
}

/* The second derivative of the determinant along e, symmetric. */
static lam_tensor *second_along(lam_tensor *x, lam_tensor *e) {
    int64_t n = lam_dim(x, -1);
    lam_tensor *u, *s, *vt;
    if (n < 2) return lam_mul(0.0, e);
    lam_svd(x, &u, &s, &vt, NULL);
    double root = lam_dtype_of(x) == LAM_F32 ? 0x1p-11 : 0x1p-26;
    lam_tensor *singular = lam_le(lam_slice_axis(s, -1, n - 1, n), lam_mul(root, lam_slice_axis(s, -1, 0, 1)));
    singular = lam_expand_dims(singular, -1);
    lam_tensor *one = lam_eye(lam_ctx_of(x), lam_dtype_of(x), n, n), *regular = lam_where(singular, one, x);
    return lam_where(singular, change_by_svd(u, s, vt, e), change_by_inverse(regular, lam_cofactor(regular), e));
}

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
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_cofactor,
    .eval = eval_cofactor,
    .jvp = jvp_cofactor,
    .vjp = vjp_cofactor,
    .batch = batch_cofactor,
};

lam_tensor *lam_cofactor(lam_tensor *x) {
    lam_tensor *failed;
    if (!lam__matrices_operands("cofactor", true, 1, &x, &x, &failed)) return failed;
    return lam__matrices_square("cofactor", x) ? lam__apply1(&lam__row_cofactor, NULL, 0, x) : lam__axes_failed(x);
}

/* ---- det --------------------------------------------------------------------------------------------------------- */

static lam_status shape_det(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_cofactor(call, out);
    out->rank -= 2;
    return status;
}

static void store_determinant(const factored *f, void *out) {
    lam__dtype_store(f->dtype, out, determinant(f));
}

static lam_status eval_det(const lam_call_site *call, lam_value *const out[]) {
    return out[0]->count ? factor_each(call, out[0], 1, store_determinant) : LAM_OK;
}

static void jvp_det(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = lam_sum(lam_mul(lam_cofactor(r->in[0]), dx[0]), &(lam_reduce_options){.axes = LAM_AXES(-2, -1)});
}

static void vjp_det(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_cofactor(r->in[0]), lam_expand_dims(lam_expand_dims(g[0], -1), -1));
}

static void batch_det(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_det = {
    .name = "det",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_det,
    .eval = eval_det,
    .jvp = jvp_det,
    .vjp = vjp_det,
    .batch = batch_det,
};

/* The row is for reals: this has no derivative at singular matrices. */
static lam_tensor *complex_det(lam_tensor *x) {
    lam_tensor *diagonal, *swaps, *failed;
    if (!factors("det", &x, &diagonal, &swaps, &failed)) return failed;
    return lam_mul(lam_prod(diagonal, &(lam_reduce_options){.axes = LAM_AXES(-1)}), parity(swaps, lam_dtype_of(x)));
}

lam_tensor *lam_det(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("det", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("det", x)) return lam__axes_failed(x);
    if (lam_dim(x, -1) <= 3) return lam__scope_only(written_out(x, lam_dim(x, -1)), since);
    return lam__scope_only(lam__cplx_is(x) ? complex_det(x) : lam__apply1(&lam__row_det, NULL, 0, x), since);
}
