/* Softmax, its logarithm, and standardisation to mean 0 and variance 1, along neighbouring axes. Their rules are
 * products and sums of the results, so that nothing is computed again and no exponential is larger than 1. */
#include "lib/primitives/lanes.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/params.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__lanes_params lanes_params;

/* 64 bits for the shift, as there may be 32 axes. */
static lam__axis_set set_of(const lam_rule *r) {
    const lanes_params *p = r->params;
    return (lam__axis_set)((((uint64_t)1 << p->count) - 1) << p->first);
}

/* The sum of x over these axes, which broadcasts against x. One sum that every rule here needs. The sum is a row of its
 * own, so second derivatives go by its rules. */
static lam_tensor *total(const lam_rule *r, lam_tensor *x) {
    lam__axis_set set = set_of(r);
    return lam__reduce_restore(lam__apply1(&lam__row_sum, &set, sizeof set, x), set, lam_dims_of(r->in[0]));
}

/* Integers were cast by the public forms. */
static lam_status shape_lanes(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_float(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not defined for this dtype");
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

/* The axes become [outer, n, inner]; the kernel works on panels of neighbouring lanes, so no transposition is made
 * where `inner` is not 1. steepness is for standardisation alone; NULL otherwise. */
static lam_status eval_lanes(const lam_call_site *call, lam__panels_id id, lam_value *to, void *steepness) {
    const lanes_params *p = call->params;
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    lam__panels how = {id, (lam_dtype)x->dtype, {1, 1, 1}, p->epsilon};
    for (int i = 0; i < x->rank; i++)
        *(i < p->first ? &how.lanes.outer : i < p->first + p->count ? &how.lanes.n : &how.lanes.inner) *= x->dims[i];
    if (x->count) lam__parallel_panels(call->ctx->team, &how, x->data, to->data, steepness);
    lam__value_release(x);
    return LAM_OK;
}

/* Parameters for operands with a batch axis in front. */
static lanes_params shifted(const lam_rule *r) {
    lanes_params p = *(const lanes_params *)r->params;
    p.first++;
    return p;
}

/* Lanes are independent, so a batch is more of them. */
static void batch_lanes(const lam_rule *r, lam_tensor *out[]) {
    lanes_params p = shifted(r);
    out[0] = lam__apply1(r->primitive, &p, sizeof p, r->in[0]);
}

/* ---- softmax: s (dx - sum(s dx)), which is its own transpose ----------------------------------------------------- */

/* exp(x - max) / sum, the largest term being 1. */
static lam_status eval_softmax(const lam_call_site *call, lam_value *const out[]) {
    return eval_lanes(call, LAM__PANELS_SOFTMAX, out[0], NULL);
}

/* Made of the result alone: no exponential. Signs are turned where there is one number per lane, so that the product
 * and the difference are one pass. So a second derivative needs nothing but products and sums either. */
static lam_tensor *slope_of_softmax(const lam_rule *r, lam_tensor *dx) {
    lam_tensor *weighted = lam_mul(r->out[0], dx);
    return lam_fma(r->out[0], lam_neg(total(r, weighted)), weighted);
}

/* Forward and backward are one function, as the matrix diag(s) - s s^T is symmetric. */
static void jvp_softmax(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = slope_of_softmax(r, dx[0]);
}

static void vjp_softmax(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = slope_of_softmax(r, g[0]);
}

/* The result is all that the rules read. */
const lam_primitive lam__row_softmax = {
    .name = "softmax",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(0),
    .shape = shape_lanes,
    .eval = eval_softmax,
    .jvp = jvp_softmax,
    .vjp = vjp_softmax,
    .batch = batch_lanes,
    .layout = "i first, i count, d epsilon",
};

/* ---- its logarithm ----------------------------------------------------------------------------------------------- */

/* x - max - log(sum of exp(x - max)): where softmax rounds to 0 this is still a number. */
static lam_status eval_log_softmax(const lam_call_site *call, lam_value *const out[]) {
    return eval_lanes(call, LAM__PANELS_LOG_SOFTMAX, out[0], NULL);
}

/* d y = dx - sum(exp(y) dx). exp of the result is at most 1; where y is -inf the weight is 0. */
static void jvp_log_softmax(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = lam_sub(dx[0], total(r, lam_mul(lam_exp(r->out[0]), dx[0])));
}

/* gx = g - exp(y) sum(g): the transpose of that. The exponential is made again, since saving it would be a tensor
 * more. */
static void vjp_log_softmax(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_fma(lam_exp(r->out[0]), lam_neg(total(r, g[0])), g[0]);
}

/* Saved is the result only, as for softmax: x may go. */
const lam_primitive lam__row_log_softmax = {
    .name = "log_softmax",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(0),
    .shape = shape_lanes,
    .eval = eval_log_softmax,
    .jvp = jvp_log_softmax,
    .vjp = vjp_log_softmax,
    .batch = batch_lanes,
    .layout = "i first, i count, d epsilon",
};

/* ---- standardisation --------------------------------------------------------------------------------------------- */

/* RESULT y is (x - mean) STEEP with STEEP = (variance + epsilon)^(-1/2), which is an output so that rules need not
 * compute it again: dy = STEEP (dx - mean(dx) - y mean(y dx)), dSTEEP = -STEEP^2 mean(y dx). */
enum { RESULT, STEEP, OUTPUTS };

/* The second result has the axes that are not standardised over. One number for each lane, in the order of the axes
 * that stay. */
static lam_status shape_standardize(const lam_call_site *call, lam_shape out[]) {
    const lanes_params *p = call->params;
    lam_status status = shape_lanes(call, &out[RESULT]);
    out[STEEP].dtype = out[RESULT].dtype;
    out[STEEP].rank = 0;
    for (int i = 0; i < call->in[0]->rank && status == LAM_OK; i++)
        if (i < p->first || i >= p->first + p->count) out[STEEP].dims[out[STEEP].rank++] = call->in[0]->dims[i];
    return status;
}

/* STEEP has no gaps either, so its memory is what the kernel fills. */
static lam_status eval_standardize(const lam_call_site *call, lam_value *const out[]) {
    return eval_lanes(call, LAM__PANELS_STANDARDIZE, out[RESULT], out[STEEP]->data);
}

/* One number per lane, brought to where it broadcasts against x. */
static lam_tensor *restored(const lam_rule *r, lam_tensor *each) {
    return lam__reduce_restore(each, set_of(r), lam_dims_of(r->in[0]));
}

/* Elements that one mean is made of. A double: it divides, and is exact below 2^53. */
static double lane_size(const lam_rule *r) {
    const lanes_params *p = r->params;
    lam_dims own = lam_dims_of(r->in[0]);
    double n = 1;
    for (int i = p->first; i < p->first + p->count && i < own.rank; i++) n *= (double)own.dims[i];
    return n;
}

/* STEEP (t - mean(t) - y mean(y t)), which is its own transpose; *against: -mean(y t). The middle factor is a
 * projection away from the ones and from y, which is symmetric. What there is one number of per lane is multiplied
 * first, so that two passes are left. */
static lam_tensor *standardized_slope(const lam_rule *r, lam_tensor *t, lam_tensor **against) {
    const double part = 1 / lane_size(r);
    lam_tensor *y = r->out[RESULT], *steep = restored(r, r->out[STEEP]), *level = lam_mul(-part, total(r, t));
    *against = lam_mul(-part, lam__rules_product_summed(y, t, lam_dims_of(steep)));
    return lam_fma(t, steep, lam_fma(y, lam_mul(*against, steep), lam_mul(level, steep)));
}

/* Both results have tangents; the one of STEEP uses the mean that the first has worked out. */
static void jvp_standardize(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *against, *steep = r->out[STEEP];
    dout[RESULT] = standardized_slope(r, dx[0], &against);
    lam_dims own = lam_dims_of(steep);
    dout[STEEP] = lam_mul(lam_square(steep), lam__apply_reshape(against, own.rank, own.dims));
}

/* By STEEP gx = -STEEP^2 g y/n; both terms are linear in their cotangents and are added. */
static void vjp_standardize(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *against;
    if (g[RESULT]) gx[0] = standardized_slope(r, g[RESULT], &against);
    if (!g[STEEP]) return;
    lam_tensor *each = lam_mul(-1 / lane_size(r), lam_mul(g[STEEP], lam_square(r->out[STEEP])));
    lam_tensor *y = r->out[RESULT], *factor = restored(r, each);
    gx[0] = g[RESULT] ? lam_fma(y, factor, gx[0]) : lam_mul(y, factor);
}

/* The order of outputs is the row's own, so out[] can be passed on. */
static void batch_standardize(const lam_rule *r, lam_tensor *out[]) {
    lanes_params p = shifted(r);
    lam_bind(r->ctx, r->primitive, &p, sizeof p, LAM_LIST(r->in[0]), out, OUTPUTS);
}

/* Both results, as the rules are made of them alone. */
const lam_primitive lam__row_standardize = {
    .name = "standardize",
    .inputs = 1,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(RESULT) | LAM_SAVE_OUT(STEEP),
    .shape = shape_standardize,
    .eval = eval_standardize,
    .jvp = jvp_standardize,
    .vjp = vjp_standardize,
    .batch = batch_standardize,
    .layout = "i first, i count, d epsilon",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Integers as f64; complex numbers are for the row to refuse. One axis out of those that a row can take. */
static lam_tensor *along_axis(const lam_primitive *row, lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis(row->name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    lanes_params p = {.first = axis, .count = 1};
    return lam__scope_only(lam__apply1(row, &p, sizeof p, lam__reduce_real(x)), since);
}

/* Along one axis; the rows could take several neighbouring ones. */
lam_tensor *lam_softmax(lam_tensor *x, int axis) {
    if (!lam__cplx_is(x)) return along_axis(&lam__row_softmax, x, axis);
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam__plane_softmax(x, axis), since);
}

lam_tensor *lam_log_softmax(lam_tensor *x, int axis) {
    if (!lam__cplx_is(x)) return along_axis(&lam__row_log_softmax, x, axis);
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam__plane_log_softmax(x, axis), since);
}

/* The axes of a set behind all others: order[i] is the axis that comes to place i, back[] the way back. How many they
 * are. Both halves keep their order, so lanes are the same ones. */
static int set_to_the_end(lam__axis_set set, int rank, int order[], int back[]) {
    int at = 0, count = 0;
    for (int in_set = 0; in_set < 2; in_set++)
        for (int i = 0; i < rank; i++)
            if ((int)(set >> i & 1u) == in_set) order[at++] = i, count += in_set;
    for (int i = 0; i < rank; i++) back[order[i]] = i;
    return count;
}

/* Axes that are not neighbours are moved to the end and back, since the row takes neighbours alone. Its second result
 * is for the rules, which find it among the results of the call; the handle to it is dropped here. */
lam_tensor *lam__lanes_standardize(lam_tensor *x, lam__axis_set set, double epsilon) {
    int order[LAM_INNER_RANK], back[LAM_INNER_RANK], rank = lam_rank(x), first = 0;
    lanes_params p = {.count = set_to_the_end(set, rank, order, back), .epsilon = epsilon};
    lam_tensor *out[OUTPUTS];
    while (set && !(set >> first & 1u)) first++;
    bool neighbours = (uint64_t)(set >> first) + 1 == (uint64_t)1 << p.count;
    p.first = neighbours ? first : rank - p.count;
    if (!neighbours) x = lam_transpose(x, (lam_axes){rank, order});
    if (lam_bind(lam_ctx_of(x), &lam__row_standardize, &p, sizeof p, LAM_LIST(x), out, OUTPUTS) != LAM_OK)
        return out[RESULT];
    lam_drop(out[STEEP]);
    return neighbours ? out[RESULT] : lam_transpose(out[RESULT], (lam_axes){rank, back});
}
