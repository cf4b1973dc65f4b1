/* What functions of matrices share whose derivatives come by blocks: see corner.h. */
#include "lib/primitives/corner.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Any real floating type; of a stack each matrix for itself. */
lam_status lam__corner_shape(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    lam_status typed = lam__matrices_typed(call, true);
    if (typed != LAM_OK) return typed;
    lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
    return lam__matrices_fit(call, false);
}

/* The wrapper has broadcast leading axes; rules pair matrices one by one. */
lam_status lam__corner_shape_map(const lam_call_site *call, lam_shape out[]) {
    if (!lam__value_same_type(call->in[0], call->in[1]))
        return lam__error_call(call, LAM_ERR_SHAPE, NULL, "a matrix and its change must be of one type");
    return lam__corner_shape(call, out);
}

/* One of the four blocks of a matrix of 2 n rows. Rules and l see blocks only, so that a stack of any leading axes goes
 * along. */
static lam_tensor *block(lam_tensor *x, int row, int column) {
    int64_t n = lam_dim(x, -1) / 2;
    return lam_slice_axis(lam_slice_axis(x, -2, row * n, (row + 1) * n), -1, column * n, (column + 1) * n);
}

/* [[x, e], [0, x]]; NULL is zero. A matrix of twice the rows, so each further order costs eight times as much: high
 * ones are for small matrices. */
static lam_tensor *blocks(lam_tensor *x, lam_tensor *e) {
    lam_tensor *zero = lam_zeros_like(x ? x : e);
    lam_tensor *above = lam_concatenate(LAM_LIST(x ? x : zero, e ? e : zero), -1);
    return lam_concatenate(LAM_LIST(above, lam_concatenate(LAM_LIST(zero, x ? x : zero), -1)), -2);
}

/* l of one matrix or a stack. */
static lam_tensor *apply_map(const lam_primitive *l, lam_tensor *x, lam_tensor *e) {
    lam_tensor *in[2] = {x, e};
    return lam__apply(l, NULL, 0, 2, in);
}

/* ---- rules of f -------------------------------------------------------------------------------------------------- */

/* The rows of f know their l here and nowhere else: a row has no place for another one. */
static const lam_primitive *map_of(const lam_primitive *f) {
    return f == &lam__row_expm    ? &lam__row_expm_frechet
           : f == &lam__row_sqrtm ? &lam__row_sqrtm_frechet
                                  : &lam__row_logm_frechet;
}

/* df(x) = l(x, dx). */
void lam__corner_jvp(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = apply_map(map_of(r->primitive), r->in[0], dx[0]);
}

/* gx = l(x^T, g). */
void lam__corner_vjp(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_map(map_of(r->primitive), lam__matrices_turn(r->in[0]), g[0]);
}

/* A stack with one more leading axis. */
void lam__corner_batch(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, NULL, 0, r->in[0]);
}

/* ---- rules of l -------------------------------------------------------------------------------------------------- */

/* A number for each matrix that brings e to the size of x: in one matrix with it, a larger e would leave x few digits.
 * l is linear in e, so any number does, and this one counts as a constant. */
static lam_tensor *scale_of(lam_tensor *x, lam_tensor *e) {
    const lam_reduce_options whole = {.axes = LAM_AXES(-2, -1), .keepdims = true};
    lam_tensor *own = lam_sum(lam_abs(lam_stop_gradient(x)), &whole);
    lam_tensor *ratio = lam_div(lam_where(lam_gt(own, 0.0), own, 1.0), lam_sum(lam_abs(lam_stop_gradient(e)), &whole));
    return lam_where(lam_and(lam_gt(ratio, 0.0), lam_is_finite(ratio)), ratio, 1.0);
}

/* dl(x, e) = the upper right block of l([[x, e], [0, x]], [[dx, de], [0, dx]]); with dx = 0 it is l(x, de). */
void lam__corner_jvp_map(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *x = r->in[0], *e = r->in[1];
    if (!dx[0]) {
        dout[0] = apply_map(r->primitive, x, dx[1]);
        return;
    }
    lam_tensor *scale = scale_of(x, e), *change = blocks(dx[0], dx[1] ? lam_mul(scale, dx[1]) : NULL);
    dout[0] = lam_div(block(apply_map(r->primitive, blocks(x, lam_mul(scale, e)), change), 0, 1), scale);
}

/* The transpose of the map above: l of the transposed blocks along [[0, g], [0, 0]]. By x both diagonal blocks count,
 * since x stands in both; by e the upper right one. Without needs[0] no block is made: l is linear in e. */
void lam__corner_vjp_map(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (!r->needs[0]) {
        gx[1] = apply_map(r->primitive, lam__matrices_turn(r->in[0]), g[0]);
        return;
    }
    lam_tensor *scale = scale_of(r->in[0], r->in[1]);
    lam_tensor *both = lam__matrices_turn(blocks(r->in[0], lam_mul(scale, r->in[1])));
    lam_tensor *all = apply_map(r->primitive, both, blocks(NULL, g[0]));
    gx[0] = lam_div(lam_add(block(all, 0, 0), block(all, 1, 1)), scale);
    gx[1] = block(all, 0, 1);
}

/* Pairs of matrices, so both get the batch axis. */
void lam__corner_batch_map(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_map(r->primitive, lam__matrices_with_batch(r, 0), lam__matrices_with_batch(r, 1));
}

/* ---- what users call --------------------------------------------------------------------------------------------- */

/* A complex matrix goes as a real one of twice the rows: functions of that have the same form. */
lam_tensor *lam__corner_call(const lam_primitive *f, lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands(f->name, true, 1, &x, &x, &failed)) return failed;
    if (!lam__matrices_square(f->name, x)) return lam__axes_failed(x);
    bool complex = lam__cplx_is(x);
    lam_tensor *out = lam__apply1(f, NULL, 0, complex ? lam__cplx_as_real(x) : x);
    return lam__scope_only(complex ? lam__cplx_from_real(out) : out, since);
}

/* Leading axes of both broadcast. Each failure is that of the first operand's context, which both have. */
lam_tensor *lam__corner_call_map(const lam_primitive *l, lam_tensor *x, lam_tensor *e) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, e}, *failed;
    if (!lam__matrices_operands(l->name, true, 2, in, in, &failed)) return failed;
    if (!lam__matrices_square(l->name, in[0])) return lam__axes_failed(in[0]);
    if (!lam__matrices_square(l->name, in[1])) return lam__axes_failed(in[0]);
    if (!lam__matrices_lead(l->name, in)) return lam__axes_failed(in[0]);
    bool complex = lam__cplx_is(in[0]);
    for (int i = 0; i < 2 && complex; i++) in[i] = lam__cplx_as_real(in[i]);
    lam_tensor *out = apply_map(l, in[0], in[1]);
    return lam__scope_only(complex ? lam__cplx_from_real(out) : out, since);
}
