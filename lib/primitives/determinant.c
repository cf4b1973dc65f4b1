/* Determinants. The derivative of the determinant is the matrix of cofactors, a primitive of its own that exists for
 * singular matrices too, and has a derivative there: det x^-T would be 0 times inf at a matrix of rank n - 1, whose
 * cofactors are not 0. Up to three rows all orders are exact. The derivative of the logarithm is the inverse. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/solve.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What is made of the factors of a matrix: one kernel each. All three factor the matrix in the same way, so they share
 * what surrounds that. */
enum { DET, COFACTOR, LOG_DET };

/* What the workers share. `out` are the signs where logarithms are asked for, which go to `log`. */
typedef struct stack {
    int what;
    const lam_value *x, *out, *log;
    int64_t n;
} stack;

/* Matrix (or number) `at` of `count` in x. A number stands for a matrix of one element in the results. */
static void *part_of(const lam_value *x, int64_t at, int64_t count) {
    return (char *)x->data + at * (x->count / count) * (int64_t)lam__dtype_bytes(x->dtype);
}

/* The kernels leave x alone and factor in the worker's room. */
static int64_t factor_part(const void *env, int64_t begin, int64_t end, void *room) {
    const stack *s = env;
    const int64_t count = lam__matrices_count(s->x), some = end - begin;
    const lam_dtype dtype = (lam_dtype)s->x->dtype;
    const void *x = part_of(s->x, begin, count);
    void *out = part_of(s->out, begin, count);
    if (s->what == DET) lam__kernels_det(dtype, some, s->n, x, out, room);
    else if (s->what == COFACTOR) lam__kernels_cofactor(dtype, some, s->n, x, out, room);
    else lam__kernels_log_det(dtype, some, s->n, x, out, part_of(s->log, begin, count), room);
    return -1;
}

/* Cost: n^3/8 units and something for each row; cofactors are some three times as much. Parts of different matrices are
 * shared among threads, a single one is not. */
static lam_status factor_each(const lam_call_site *call, int what, const lam_value *out, const lam_value *log) {
    if (out->count == 0) return LAM_OK;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    const stack s = {what, x, out, log, x->dims[x->rank - 1]};
    const double n = (double)s.n, cost = n * n * (n / 8 + 2) * (what == COFACTOR ? 3 : 1);
    int64_t bad;
    lam_status status = lam__matrices_each(call->ctx, lam__matrices_count(x), cost,
                                           lam__kernels_det_bytes((lam_dtype)x->dtype, s.n), factor_part, &s, &bad);
    lam__value_release(x);
    return status;
}

/* Numbers as matrices of one element. */
static lam_tensor *as_matrix(lam_tensor *x) {
    return lam_expand_dims(lam_expand_dims(x, -1), -1);
}

/* ---- cofactors --------------------------------------------------------------------------------------------------- */

/* Each cofactor stands where the element does that it belongs to. */
static lam_status shape_cofactor(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

static lam_status eval_cofactor(const lam_call_site *call, lam_value *const out[]) {
    return factor_each(call, COFACTOR, out[0], NULL);
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
 * are constants. The logarithm is not looked at. */
static lam_tensor *orientation(lam_tensor *x) {
    lam_tensor *sign = NULL, *log;
    if (lam__cplx_is(x)) sign = lam_det(x);
    else lam_slogdet(lam_stop_gradient(x), &sign, &log);
    return as_matrix(sign);
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

/* Rows of cofactors of three rows are the cross products of the two others. Nothing is divided, so this is right for
 * every rank and can be differentiated again. */
static lam_tensor *change_of_three(lam_tensor *x, lam_tensor *e) {
    lam_tensor *x1 = lam_roll(x, -1, -2), *x2 = lam_roll(x, -2, -2), *e1 = lam_roll(e, -1, -2),
               *e2 = lam_roll(e, -2, -2);
    return lam_add(lam_cross(e1, x2, -1), lam_cross(x1, e2, -1));
}

/* The change of the cofactors of more than three rows. Which of two forms is used is decided by the least singular
 * value beside the largest: below 2^-26 (f32: 2^-11), about the root of the rounding unit, the inverse would have lost
 * half of its digits. There it is given the identity instead, which keeps what is not chosen finite. Both forms are
 * made, since matrices of a stack may need either. */
static lam_tensor *change_along(lam_tensor *x, lam_tensor *e) {
    int64_t n = lam_dim(x, -1);
    lam_tensor *u, *s, *vt;
    lam_svd(x, &u, &s, &vt, NULL);
    double root = lam_dtype_of(s) == LAM_F32 ? 0x1p-11 : 0x1p-26;
    lam_tensor *singular = lam_le(lam_slice_axis(s, -1, n - 1, n), lam_mul(root, lam_slice_axis(s, -1, 0, 1)));
    singular = lam_expand_dims(singular, -1);
    lam_tensor *one = lam_eye(lam_ctx_of(x), lam_dtype_of(x), n, n), *regular = lam_where(singular, one, x);
    return lam_where(singular, change_by_svd(u, s, vt, e), change_by_inverse(regular, lam_cofactor(regular), e));
}

/* x 2^exponent, in two steps: half of an exponent that leaves the range is one that does not. */
static lam_tensor *moved(lam_tensor *x, lam_tensor *exponent) {
    lam_tensor *half = lam_floor(lam_mul(0.5, exponent));
    return lam_mul(lam_mul(x, lam_exp2(half)), lam_exp2(lam_sub(exponent, half)));
}

/* What brings the largest along an axis near 1, of logarithms of sizes; 0 where there is none. */
static lam_tensor *exponents(lam_tensor *logs, int axis) {
    lam_tensor *largest = lam_max_reduce(logs, &(lam_reduce_options){LAM_AXES(axis), true});
    return lam_where(lam_is_finite(largest), lam_neg(lam_floor(largest)), 0.0);
}

/* Where rows or columns are of different sizes, singular values say nothing of the rank. With constant diagonal r and c
 * the cofactors of r x c are those of x times det(r) det(c) r^-1 c^-1, and so are their changes. Powers of two round
 * nothing. */
static lam_tensor *balanced_change(lam_tensor *x, lam_tensor *e) {
    lam_tensor *logs = lam_log2(lam_abs(lam_stop_gradient(x))), *rows = exponents(logs, -1);
    lam_tensor *columns = exponents(lam_add(logs, rows), -2), *both = lam_add(rows, columns);
    const lam_reduce_options all = {LAM_AXES(-2, -1), true};
    lam_tensor *sum = lam_add(lam_sum(rows, &all), lam_sum(columns, &all));
    return moved(change_along(moved(x, both), moved(e, both)), lam_sub(both, sum));
}

/* Cofactors of two rows are the elements in other places, so they change as these do: by operations that are known to
 * be linear. */
static lam_tensor *change_of_two(lam_tensor *e) {
    lam_tensor *turned = lam_reverse(e, LAM_AXES(-2, -1));
    return lam_where(lam_eye(lam_ctx_of(e), LAM_BOOL, 2, 2), turned, lam_neg(turned));
}

/* The second derivative of the determinant along e, symmetric. Cofactors of one row are constant. */
static lam_tensor *second_along(lam_tensor *x, lam_tensor *e) {
    const int64_t n = lam_dim(x, -1);
    if (n < 2) return lam_zeros_like(e);
    if (n == 2) return change_of_two(e);
    return n == 3 ? change_of_three(x, e) : balanced_change(x, e);
}

/* The second derivative of det is a symmetric bilinear form, so one function serves both modes. It is made of
 * operations, so that third derivatives follow. */
static void jvp_cofactor(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = second_along(r->in[0], dx[0]);
}

static void vjp_cofactor(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = second_along(r->in[0], g[0]);
}

/* A stack with one more leading axis. */
static void batch_cofactor(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_cofactor = {
    .name = "cofactor",
    .inputs = 1,
    .takes_complex = true,
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

/* A number for each matrix of the stack. */
static lam_status shape_det(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_cofactor(call, out);
    out->rank -= 2;
    return status;
}

static lam_status eval_det(const lam_call_site *call, lam_value *const out[]) {
    return factor_each(call, DET, out[0], NULL);
}

/* d det = sum of cofactors times dx (Jacobi's formula). */
static void jvp_det(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = lam_sum(lam_mul(lam_cofactor(r->in[0]), dx[0]), &(lam_reduce_options){.axes = LAM_AXES(-2, -1)});
}

/* gx = g times the cofactors. */
static void vjp_det(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(lam_cofactor(r->in[0]), as_matrix(g[0]));
}

/* A stack with one more leading axis. */
static void batch_det(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

const lam_primitive lam__row_det = {
    .name = "det",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_det,
    .eval = eval_det,
    .jvp = jvp_det,
    .vjp = vjp_det,
    .batch = batch_det,
};

/* The derivative is the cofactor matrix, which singular matrices have too. */
lam_tensor *lam_det(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("det", true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square("det", x)) return lam__axes_failed(x);
    return lam__scope_only(lam__apply1(&lam__row_det, NULL, 0, x), since);
}

/* ---- slogdet ----------------------------------------------------------------------------------------------------- */

enum { SIGN, LOG, SLOGDET_OUTPUTS };

/* Signs have the dtype of x, logarithms that of its size. */
static lam_status shape_slogdet(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_det(call, &out[SIGN]);
    out[LOG] = out[SIGN];
    out[LOG].dtype = lam__matrices_real(out[SIGN].dtype);
    return status;
}

/* The sign and the logarithm of the size, which stays in range where the determinant does not. */
static lam_status eval_slogdet(const lam_call_site *call, lam_value *const out[]) {
    return factor_each(call, LOG_DET, out[SIGN], out[LOG]);
}

/* With t = tr(x^-1 dx): the change of the logarithm of the complex determinant, whose parts are those of the two
 * results. At a singular matrix it is infinite or NaN, and no failure. */
static void jvp_slogdet(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *inverse = lam__matrices_turn(lam__solve_inverse(r->in[0]));
    lam_tensor *t = lam_sum(lam_mul(inverse, dx[0]), &(lam_reduce_options){.axes = LAM_AXES(-2, -1)});
    dout[LOG] = lam_real(t);
    if (lam__cplx_is(t)) dout[SIGN] = lam_mul(r->out[SIGN], lam_complex(lam_zeros_like(dout[LOG]), lam_imag(t)));
}

/* gx = (g_log + i im(g_sign sign)) x^-T. The transpose of that under the pairing Re(g w); the sign of a real
 * determinant has no derivative. */
static void vjp_slogdet(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *inverse = lam__matrices_turn(lam__solve_inverse(r->in[0])), *factor = g[LOG];
    if (lam__cplx_is(inverse) && g[SIGN]) {
        lam_tensor *turn = lam_imag(lam_mul(g[SIGN], r->out[SIGN]));
        factor = lam_complex(factor ? factor : lam_zeros_like(turn), turn);
    }
    if (factor) gx[0] = lam_mul(as_matrix(factor), inverse);
}

static lam_status apply_slogdet(lam_tensor *x, lam_tensor *out[SLOGDET_OUTPUTS]) {
    return lam_bind(x->ctx, &lam__row_slogdet, NULL, 0, LAM_LIST(x), out, SLOGDET_OUTPUTS);
}

/* As det. */
static void batch_slogdet(const lam_rule *r, lam_tensor *out[]) {
    apply_slogdet(r->in[0], out);
}

const lam_primitive lam__row_slogdet = {
    .name = "slogdet",
    .inputs = 1,
    .takes_complex = true,
    .outputs = SLOGDET_OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(SIGN),
    .shape = shape_slogdet,
    .eval = eval_slogdet,
    .jvp = jvp_slogdet,
    .vjp = vjp_slogdet,
    .batch = batch_slogdet,
};

/* Sign and logarithm of the size apart, as the product may leave the range: of 200 rows of 1e-3 on the diagonal it is
 * 1e-600. */
lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *out[SLOGDET_OUTPUTS], **const places[] = {[SIGN] = sign, [LOG] = log};
    if (!lam__matrices_operands("slogdet", true, 1, &x, &x, &failed))
        return lam__matrices_give_failed(failed, SLOGDET_OUTPUTS, places);
    if (!lam__matrices_square("slogdet", x))
        return lam__matrices_give_failed(lam__axes_failed(x), SLOGDET_OUTPUTS, places);
    return lam__matrices_give(apply_slogdet(x, out), since, SLOGDET_OUTPUTS, out, places);
}
