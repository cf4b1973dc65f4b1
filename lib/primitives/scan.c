/* Scans: running results along one axis, from the front or from the back. All derivatives are instances of one linear
 * recurrence, y_i = a_i y_(i-1) + b_i, whose own derivatives are linear recurrences again: so every scan is exact where
 * a formula by division would meet 0 / 0, costs a pass over the data, and can be differentiated to any order.
 *
 * NOTE [scans]  The tangent of a scan is R(keep, enter * dx) / share, where R(a, b) is the recurrence:
 *   cumprod        keep = x_i             enter = out_(i-1)        share = 1
 *   cummax         keep = no new maximum  enter = x_i is out_i     share = how many are out_i so far
 *   cumlogsumexp   keep = exp(out_(i-1) - out_i)  enter = exp(x_i - out_i)  share = 1 (infinities: as for cummax)
 * The cotangent is the transpose: enter * R'(keep, g / share), with R' from the other end and keep moved by one. */
#include "lib/primitives/scan.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

typedef lam__scan_params scan_params;

/* `axis` has been resolved; rules add one for a batch axis. */
static lam_tensor *apply_scan(const lam_primitive *row, lam_tensor *x, int axis, bool reverse) {
    scan_params p = {axis, reverse};
    return lam__apply1(row, &p, sizeof p, x);
}

/* Operands of one type; the row checks it. Who calls it has seen to that, or lets the row say it. */
static lam_tensor *recurrence(lam_tensor *a, lam_tensor *b, int axis, bool reverse) {
    scan_params p = {axis, reverse};
    lam_tensor *in[2] = {a, b};
    return lam__apply(&lam__row_linear_recurrence, &p, sizeof p, 2, in);
}

/* A pad by one at one end and by minus one at the other, so it is a slice set into a number, with their derivatives.
 * Both recurrences of a rule need it: elements before, and factors behind. */
lam_tensor *lam__scan_shift(lam_tensor *x, int axis, bool reverse, double first) {
    int64_t low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
    int rank = lam_rank(x);
    if (axis < 0 || axis >= rank) return x; /* the failed tensor, which has no axes */
    low[axis] = reverse ? -1 : 1;
    high[axis] = -low[axis];
    return lam_pad(x, (lam_dims){rank, low}, (lam_dims){rank, high}, &(lam_pad_options){.value = first});
}

/* R' of NOTE [scans]: y_i = g_i + a_(i+1) y_(i+1). The coefficient that leads from i to i + 1 belongs to element i + 1,
 * hence the shift; what is shifted in has no say. */
static lam_tensor *recurrence_transposed(lam_tensor *a, lam_tensor *g, int axis, bool reverse) {
    return recurrence(lam__scan_shift(a, axis, !reverse, 0), g, axis, !reverse);
}

/* A scan keeps the type of its operand. */
static lam_status shape_scan(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

/* There are kernels for f64 and f32; of integers the public form makes f64, of halves evaluation makes f32. */
static lam_status shape_floating(const lam_call_site *call, lam_shape out[]) {
    if (!lam__dtype_is_float(call->in[0]->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not defined for this dtype");
    return shape_scan(call, out);
}

/* Kernels of these take strides, so x is not made contiguous. */
static lam_status eval_cumulate(const lam_call_site *call, lam_value *const out[], lam__reduce_id id) {
    const scan_params *p = call->params;
    const lam_value *x = call->in[0];
    lam__parallel_cumulate(call->ctx->team, id, (lam_dtype)x->dtype, x->rank, x->dims, p->axis, p->reverse, x->data,
                           x->strides, out[0]->data);
    return LAM_OK;
}

/* Of a contiguous value, so three numbers say all. */
lam__lanes lam__scan_lanes(const lam_value *x, int axis) {
    lam__lanes s = {1, x->dims[axis], 1};
    for (int i = 0; i < axis; i++) s.outer *= x->dims[i];
    for (int i = axis + 1; i < x->rank; i++) s.inner *= x->dims[i];
    if (x->count == 0) s.outer = 0; /* not a loop over lanes without elements, of which there may be many */
    return s;
}

/* Lanes are independent: one more axis in front. */
static void batch_scan(const lam_rule *r, lam_tensor *out[]) {
    const scan_params *p = r->params;
    out[0] = apply_scan(r->primitive, r->in[0], p->axis + 1, p->reverse);
}

/* ---- linear_recurrence ------------------------------------------------------------------------------------------ */

/* Factors and terms come in pairs, so their types are one. */
static lam_status shape_linear_recurrence(const lam_call_site *call, lam_shape out[]) {
    if (!lam__value_same_type(call->in[0], call->in[1]))
        return lam__error_call(call, LAM_ERR_SHAPE, "broadcast or cast them", "the operands differ in type");
    if (!lam__dtype_is_inexact(call->in[0]->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not defined for this dtype");
    return shape_scan(call, out);
}

/* The kernel wants both along the same lanes without gaps. Both are made so before anything is computed; a released
 * NULL is nothing. */
static lam_status eval_linear_recurrence(const lam_call_site *call, lam_value *const out[]) {
    const scan_params *p = call->params;
    lam_value *a = lam__value_contiguous(call->in[0]), *b = a ? lam__value_contiguous(call->in[1]) : NULL;
    lam__lanes s = lam__scan_lanes(out[0], p->axis);
    if (b)
        lam__parallel_recurrence(call->ctx->team, (lam_dtype)b->dtype, &s, p->reverse, a->data, b->data, out[0]->data);
    lam_status status = b ? LAM_OK : LAM_ERR_MEMORY;
    lam__value_release(a);
    lam__value_release(b);
    return status;
}

/* y'_i = a_i y'_(i-1) + (a'_i y_(i-1) + b'_i): the same recurrence with another b. One of the two tangents is there, or
 * the rule would not be asked; without b' the sum has one term. */
static void jvp_linear_recurrence(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const scan_params *p = r->params;
    lam_tensor *b = dx[0] ? lam_mul(dx[0], lam__scan_shift(r->out[0], p->axis, p->reverse, 0)) : NULL;
    if (dx[1]) b = b ? lam_add(b, dx[1]) : dx[1];
    dout[0] = recurrence(r->in[0], b, p->axis, p->reverse);
}

/* gb = R'(a, g), ga_i = gb_i y_(i-1). The gradient by b is worked out in any case, as that by a is made of it. */
static void vjp_linear_recurrence(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const scan_params *p = r->params;
    gx[1] = recurrence_transposed(r->in[0], g[0], p->axis, p->reverse);
    if (r->needs[0]) gx[0] = lam_mul(gx[1], lam__scan_shift(r->out[0], p->axis, p->reverse, 0));
}

/* Both get the batch axis, since the row does not broadcast. */
static void batch_linear_recurrence(const lam_rule *r, lam_tensor *out[]) {
    const scan_params *p = r->params;
    out[0] = recurrence(lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1), p->axis + 1, p->reverse);
}

/* Linear by its second operand for a given first. */
const lam_primitive lam__row_linear_recurrence = {
    .name = "linear_recurrence",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .linear = 2u,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_OUT(0)},
    .shape = shape_linear_recurrence,
    .eval = eval_linear_recurrence,
    .jvp = jvp_linear_recurrence,
    .vjp = vjp_linear_recurrence,
    .batch = batch_linear_recurrence,
    .layout = "i axis, i reverse",
};

/* ---- cumsum ----------------------------------------------------------------------------------------------------- */

/* Integers wrap in their dtype; bools are widened by the public form. */
static lam_status eval_cumsum(const lam_call_site *call, lam_value *const out[]) {
    return eval_cumulate(call, out, LAM__REDUCE_SUM);
}

/* The transpose sums from the other end. */
static void vjp_cumsum(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const scan_params *p = r->params;
    gx[0] = apply_scan(r->primitive, g[0], p->axis, !p->reverse);
}

/* The transpose goes the other way along the axis. */
const lam_primitive lam__row_cumsum = {
    .name = "cumsum",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_scan,
    .eval = eval_cumsum,
    .vjp = vjp_cumsum,
    .batch = batch_scan,
    .layout = "i axis, i reverse",
};

/* ---- products, extremes, logsumexp: see NOTE [scans] ------------------------------------------------------------ */

/* What NOTE [scans] calls by these names, for one call. */
typedef struct weights {
    lam_tensor *keep, *enter, *share; /* share NULL: 1 */
} weights;

typedef weights weights_of(const lam_rule *r, const scan_params *p);

/* NOTE [scans] for the weights of one row. */
static void tangent(const lam_rule *r, weights_of *of, lam_tensor *dx, lam_tensor **dout) {
    const scan_params *p = r->params;
    weights w = of(r, p);
    *dout = recurrence(w.keep, lam_mul(w.enter, dx), p->axis, p->reverse);
    if (w.share) *dout = lam_div(*dout, w.share);
}

/* The transpose of `tangent`, factor by factor in reverse order. */
static void cotangent(const lam_rule *r, weights_of *of, lam_tensor *g, lam_tensor **gx) {
    const scan_params *p = r->params;
    weights w = of(r, p);
    if (w.share) g = lam_div(g, w.share);
    *gx = lam_mul(w.enter, recurrence_transposed(w.keep, g, p->axis, p->reverse));
}

/* share = the total weight that has entered, 0 where none has; a constant, for it counts ties, or is 1. It is a
 * recurrence with the same keep: what replaces an element begins to count anew. */
static weights shared(lam_tensor *keep, lam_tensor *enter, const scan_params *p) {
    return (weights){keep, enter, recurrence(lam_stop_gradient(keep), lam_stop_gradient(enter), p->axis, p->reverse)};
}

/* As for sums, integers wrap. */
static lam_status eval_cumprod(const lam_call_site *call, lam_value *const out[]) {
    return eval_cumulate(call, out, LAM__REDUCE_PROD);
}

/* out_i = x_i out_(i-1), so out'_i = x_i out'_(i-1) + out_(i-1) x'_i: exact with zeros, where out / x would be 0/0. No
 * share: each element enters once. */
static weights weights_cumprod(const lam_rule *r, const scan_params *p) {
    return (weights){r->in[0], lam__scan_shift(r->out[0], p->axis, p->reverse, 1), NULL};
}

/* Both modes by the weights, as for the rows below. */
static void jvp_cumprod(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    tangent(r, weights_cumprod, dx[0], dout);
}

static void vjp_cumprod(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    cotangent(r, weights_cumprod, g[0], gx);
}

/* Both are saved: weights are elements and the results before them. */
const lam_primitive lam__row_cumprod = {
    .name = "cumprod",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_scan,
    .eval = eval_cumprod,
    .jvp = jvp_cumprod,
    .vjp = vjp_cumprod,
    .batch = batch_scan,
    .layout = "i axis, i reverse",
};

/* An element keeps what it was given so far unless a new extreme replaces it. A NaN once met stays the maximum; those
 * that are NaN share it. Of the first element there is none before, and keep has no say. */
static weights weights_extreme(const lam_rule *r, const scan_params *p) {
    lam_tensor *x = r->in[0], *out = r->out[0], *before = lam__scan_shift(out, p->axis, p->reverse, 0);
    lam_dtype dtype = lam_dtype_of(x);
    lam_tensor *keep = lam_cast(lam_or(lam_eq(out, before), lam_is_nan(before)), dtype);
    weights w = shared(keep, lam_cast(lam_or(lam_eq(x, out), lam_is_nan(x)), dtype), p);
    /* A place where nothing has entered, as before the first NaN, has no ties to share. */
    w.share = lam_max(w.share, 1.0);
    return w;
}

/* Of maxima and minima alike, since all is said by where operand and result are equal. */
static void jvp_extreme(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    tangent(r, weights_extreme, dx[0], dout);
}

static void vjp_extreme(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    cotangent(r, weights_extreme, g[0], gx);
}

/* A NaN once met stays, as the kernel compares so that nothing beats it. */
static lam_status eval_cummax(const lam_call_site *call, lam_value *const out[]) {
    return eval_cumulate(call, out, LAM__REDUCE_MAX);
}

/* Operand and result are kept: where they are equal tells what has entered. */
const lam_primitive lam__row_cummax = {
    .name = "cummax",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_scan,
    .eval = eval_cummax,
    .jvp = jvp_extreme,
    .vjp = vjp_extreme,
    .batch = batch_scan,
    .layout = "i axis, i reverse",
};

static lam_status eval_cummin(const lam_call_site *call, lam_value *const out[]) {
    return eval_cumulate(call, out, LAM__REDUCE_MIN);
}

const lam_primitive lam__row_cummin = {
    .name = "cummin",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_scan,
    .eval = eval_cummin,
    .jvp = jvp_extreme,
    .vjp = vjp_extreme,
    .batch = batch_scan,
    .layout = "i axis, i reverse",
};

/* The kernel runs along lanes of a contiguous operand. */
static lam_status eval_cumlogsumexp(const lam_call_site *call, lam_value *const out[]) {
    const scan_params *p = call->params;
    lam_value *x = lam__value_contiguous(call->in[0]);
    lam__lanes s = lam__scan_lanes(out[0], p->axis);
    if (x) lam__parallel_cumlogsumexp(call->ctx->team, (lam_dtype)x->dtype, &s, p->reverse, x->data, out[0]->data);
    lam__value_release(x);
    return x ? LAM_OK : LAM_ERR_MEMORY;
}

/* Infinities are taken as the greatest finite numbers, so that their differences are 0 instead of NaN. All weights are
 * exp of a difference that is at most 0 but for rounding, so none overflows. */
static weights weights_cumlogsumexp(const lam_rule *r, const scan_params *p) {
    /* Halves come here as f32, so the number is in range for both floating dtypes. */
    double most = lam__dtype_largest((int)lam_dtype_of(r->in[0]));
    lam_tensor *out = lam_clamp(r->out[0], -most, most);
    /* Before the first element nothing has been summed, and the exponential of -inf is that nothing. */
    lam_tensor *before = lam__scan_shift(lam_min(r->out[0], most), p->axis, p->reverse, (double)-INFINITY);
    weights w = shared(lam_exp(lam_sub(before, out)), lam_exp(lam_sub(lam_min(r->in[0], most), out)), p);
    /* Where all that was summed is -inf no weight has entered; 1 stands for the divisor, and the tangent is 0. */
    w.share = lam_where(lam_eq(w.share, 0.0), 1.0, w.share);
    return w;
}

static void jvp_cumlogsumexp(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    tangent(r, weights_cumlogsumexp, dx[0], dout);
}

static void vjp_cumlogsumexp(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    cotangent(r, weights_cumlogsumexp, g[0], gx);
}

const lam_primitive lam__row_cumlogsumexp = {
    .name = "cumlogsumexp",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_floating,
    .eval = eval_cumlogsumexp,
    .jvp = jvp_cumlogsumexp,
    .vjp = vjp_cumlogsumexp,
    .batch = batch_scan,
    .layout = "i axis, i reverse",
};

/* ---- public ----------------------------------------------------------------------------------------------------- */

/* x in another dtype; what is no tensor is left for the operation itself to name. */
static lam_tensor *as(lam_tensor *x, lam_dtype dtype) {
    return lam_dtype_of(x) == dtype ? x : lam_cast(x, dtype);
}

/* Bools are counted, not added modulo 2. */
static lam_tensor *counted(lam_tensor *x) {
    return lam_dtype_of(x) == LAM_BOOL ? lam_cast(x, LAM_I64) : x;
}

/* Integers as f64; complex numbers are left for the row to refuse. */
static lam_tensor *real(lam_tensor *x) {
    return lam__dtype_is_inexact((int)lam_dtype_of(x)) ? x : lam_cast(x, LAM_F64);
}

/* The public forms: an axis that may be negative, and an operand that has been brought to its dtype. The row's name
 * serves for messages; functions that run from the back put theirs in front. */
static lam_tensor *scan(const lam_primitive *row, lam_tensor *x, int axis, bool reverse) {
    if (!lam__apply_axis(row->name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    return apply_scan(row, x, axis, reverse);
}

/* Each has a form that runs from the back, which saves two reversals. */
lam_tensor *lam_cumsum(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumsum, counted(x), axis, false), since);
}

lam_tensor *lam_cumsum_reverse(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumsum, counted(x), axis, true), since);
}

lam_tensor *lam_cumprod(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumprod, counted(x), axis, false), since);
}

lam_tensor *lam_cumprod_reverse(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumprod, counted(x), axis, true), since);
}

/* In the dtype of x, of any that has an order. A NaN stays once it has been met. */
lam_tensor *lam_cummax(lam_tensor *x, int axis) {
    return scan(&lam__row_cummax, x, axis, false);
}

lam_tensor *lam_cummax_reverse(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(scan(&lam__row_cummax, x, axis, true), since);
}

lam_tensor *lam_cummin(lam_tensor *x, int axis) {
    return scan(&lam__row_cummin, x, axis, false);
}

lam_tensor *lam_cummin_reverse(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(scan(&lam__row_cummin, x, axis, true), since);
}

lam_tensor *lam_cumlogsumexp(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumlogsumexp, real(x), axis, false), since);
}

lam_tensor *lam_cumlogsumexp_reverse(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(scan(&lam__row_cumlogsumexp, real(x), axis, true), since);
}

/* Both operands in one floating dtype; the row wants one type, so dims must agree and do not broadcast. What is no
 * tensor has no dtype that counts, and is named by the row. */
lam_tensor *lam_linear_recurrence(lam_tensor *a, lam_tensor *b, int axis, bool reverse) {
    uint64_t since = lam__scope_now(a);
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(a), (int)lam_dtype_of(b));
    if (!lam__apply_axis(lam__row_linear_recurrence.name, a, lam_rank(a), &axis)) return lam__axes_failed(a);
    if (!lam__dtype_is_inexact((int)dtype)) dtype = LAM_F64;
    return lam__scope_only(recurrence(as(a, dtype), as(b, dtype), axis, reverse), since);
}
