/* Reductions over any set of axes. keepdims is a reshape behind, so that the rows need one parameter only: the set. The
 * derivative of each says how much every element counts for the result; weights that depend on a choice (which element
 * is the largest) are constants, all others are functions of the operand again. What is made of these: statistics.c. */
#include "lib/primitives/reduce.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/scan.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/mean.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The reduced axes go, the others keep their order. No axis is no error: the result is a copy. */
static lam_status shape_reduction(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!lam__reduce_has(lam__reduce_set(call->params), i)) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

lam_status lam__reduce_shape_real(const lam_call_site *call, lam_shape out[]) {
    if (!lam__dtype_is_float(call->in[0]->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not defined for this dtype");
    return shape_reduction(call, out);
}

/* By the reductions of the kernels, which take strides and any set of axes. */
void lam__reduce_into(lam__reduce_id id, lam__axis_set set, const lam_value *x, void *out) {
    bool reduced[LAM_INNER_RANK];
    for (int i = 0; i < x->rank; i++) reduced[i] = lam__reduce_has(set, i);
    lam__parallel_reduce(lam__value_team(x), id, (lam_dtype)x->dtype, x->rank, x->dims, reduced, x->data, x->strides,
                         out);
}

/* Small integers are added in i64; i64 is rounded to f64 as it is read, since sums of it could wrap. */
void lam__reduce_mean_into(lam__axis_set set, const lam_value *x, double n, void *out) {
    const lam__reduce_id id = lam__reduce_is_tallied(x->dtype) ? LAM__REDUCE_TALLY
                              : x->dtype == LAM_I64            ? LAM__REDUCE_ROUND
                                                               : LAM__REDUCE_SUM;
    bool reduced[LAM_INNER_RANK];
    for (int i = 0; i < x->rank; i++) reduced[i] = lam__reduce_has(set, i);
    lam__parallel_mean(lam__value_team(x), id, (lam_dtype)x->dtype, x->rank, x->dims, reduced, x->data, x->strides, n,
                       out);
}

/* Sums of (x - centre)^2; the centres lie like the results. */
void lam__reduce_squares(lam__axis_set set, const lam_value *x, const void *centres, void *out) {
    bool reduced[LAM_INNER_RANK];
    for (int i = 0; i < x->rank; i++) reduced[i] = lam__reduce_has(set, i);
    const lam__squares s = {(lam_dtype)x->dtype, x->rank, x->dims, x->strides, reduced, x->data, centres, NULL};
    lam__parallel_squares(lam__value_team(x), &s, out);
}

/* Results are contiguous in the order of the axes that stay. */
static lam_status eval_reduction(const lam_call_site *call, lam_value *const out[], lam__reduce_id id) {
    lam__reduce_into(id, lam__reduce_set(call->params), call->in[0], out[0]->data);
    return LAM_OK;
}

/* The reduced axes come back with one element each. */
lam_tensor *lam__reduce_restore(lam_tensor *r, lam__axis_set set, lam_dims like) {
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < like.rank; i++) dims[i] = lam__reduce_has(set, i) ? 1 : like.dims[i];
    return lam__apply_reshape(r, like.rank, dims);
}

/* The same for what a rule is given beside its operand, as far as is needed to broadcast: axes in front need nothing. A
 * reshape less where the reduced axes stand in front, since broadcasting puts them there by itself. */
static lam_tensor *restored(const lam_rule *r, lam_tensor *t) {
    const lam__axis_set set = lam__reduce_set(r->params);
    return set & (set + 1) ? lam__reduce_restore(t, set, lam_dims_of(r->in[0])) : t;
}

lam_tensor *lam__reduce_repeated(const lam_rule *r, lam_tensor *t) {
    lam_dims own = lam_dims_of(r->in[0]);
    return lam__apply_broadcast(restored(r, t), own.rank, own.dims);
}

/* keepdims is a reshape behind the row, which is a view, so that the row and its rules have one form. */
lam_tensor *lam__reduce_apply(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *options) {
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    const uint64_t since = o->keepdims ? lam__scope_now(x) : 0;
    lam__axis_set set;
    if (!lam__axes_collect_set(row->name, x, o->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    lam_tensor *out = lam__apply1(row, &set, sizeof set, x);
    if (!o->keepdims || lam_failed(out)) return out;
    return lam__scope_only(lam__reduce_restore(out, set, lam_dims_of(x)), since);
}

lam_tensor *lam__reduce_sum(lam_tensor *x, lam__axis_set set) {
    return lam__apply1(&lam__row_sum, &set, sizeof set, x);
}

/* The same reduction behind a batch axis. Every reduction's parameter begins with the set, so one function serves all
 * whose parameter is nothing else. */
static void batch_reduction(const lam_rule *r, lam_tensor *out[]) {
    lam__axis_set set = lam__reduce_set(r->params) << 1;
    out[0] = lam__apply1(r->primitive, &set, sizeof set, r->in[0]);
}

/* Complex numbers are left as they are. */
lam_tensor *lam__reduce_real(lam_tensor *x) {
    return lam__dtype_is_inexact((int)lam_dtype_of(x)) ? x : lam_cast(x, LAM_F64);
}

/* Sums of many halves leave their range, and their digits. */
lam_tensor *lam__reduce_wide(lam_tensor *x) {
    return lam__dtype_is_half((int)lam_dtype_of(x)) ? lam_cast(x, LAM_F32) : x;
}

/* ---- sum -------------------------------------------------------------------------------------------------------- */

/* Bools are counted, not added modulo 2, and small integers do not wrap. */
bool lam__reduce_is_tallied(int dtype) {
    return dtype == LAM_BOOL || dtype == LAM_U8 || dtype == LAM_I32;
}

/* Sums of small integers are i64. */
static lam_status shape_sum(const lam_call_site *call, lam_shape out[]) {
    lam_status status = shape_reduction(call, out);
    if (lam__reduce_is_tallied((int)out->dtype)) out->dtype = LAM_I64;
    return status;
}

/* Pairwise, in blocks: the error grows with the logarithm of the number of elements. */
static lam_status eval_sum(const lam_call_site *call, lam_value *const out[]) {
    return eval_reduction(call, out, lam__reduce_is_tallied(call->in[0]->dtype) ? LAM__REDUCE_TALLY : LAM__REDUCE_SUM);
}

/* The transpose of summing is repeating: a view of g with stride 0, no memory. */
static void vjp_sum(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam__reduce_repeated(r, g[0]);
}

/* Linear: nothing but the dims of the operand is kept. */
const lam_primitive lam__row_sum = {
    .name = "sum",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_sum,
    .eval = eval_sum,
    .vjp = vjp_sum,
    .batch = batch_reduction,
    .layout = "A axes",
};

/* Rounded once per addition of the tree; the same bits for any number of threads. */
lam_tensor *lam_sum(lam_tensor *x, const lam_reduce_options *options) {
    return lam__reduce_apply(&lam__row_sum, x, options);
}

/* ---- prod ------------------------------------------------------------------------------------------------------- */

/* The product of no elements is 1. */
static lam_status eval_prod(const lam_call_site *call, lam_value *const out[]) {
    return eval_reduction(call, out, LAM__REDUCE_PROD);
}

/* For each element of the last axis the product of the others: of all before it times all behind it. Exact with zeros,
 * where dividing the product by the element would give 0/0. */
static lam_tensor *others_of_last(lam_tensor *x) {
    int last = lam_rank(x) - 1;
    lam_tensor *before = lam__scan_shift(lam_cumprod(x, last), last, false, 1);
    return lam_mul(before, lam__scan_shift(lam_cumprod_reverse(x, last), last, true, 1));
}

/* For each element the product of the others that are multiplied with it. The axes of the set become one, the last. A
 * transposition and a reshape, so the running products go along one axis. */
static lam_tensor *others(lam_tensor *x, lam__axis_set set) {
    lam_dims own = lam_dims_of(x);
    int order[LAM_INNER_RANK], back[LAM_INNER_RANK], n = 0;
    int64_t moved[LAM_INNER_RANK], flat[LAM_INNER_RANK];
    for (int i = 0; i < own.rank; i++)
        if (!lam__reduce_has(set, i)) order[n++] = i;
    int kept = n;
    for (int i = 0; i < own.rank; i++)
        if (lam__reduce_has(set, i)) order[n++] = i;
    flat[kept] = 1;
    for (int i = 0; i < n; i++) {
        moved[i] = own.dims[order[i]];
        back[order[i]] = i;
        if (i < kept) flat[i] = moved[i];
        else flat[kept] *= moved[i];
    }
    lam_tensor *rows = lam__apply_reshape(lam_transpose(x, (lam_axes){n, order}), kept + 1, flat);
    return lam_transpose(lam__apply_reshape(others_of_last(rows), n, moved), (lam_axes){n, back});
}

/* out' = sum of dx_i times the product of the others. */
static void jvp_prod(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam__axis_set set = lam__reduce_set(r->params);
    dout[0] = lam__reduce_sum(lam_mul(dx[0], others(r->in[0], set)), set);
}

/* gx_i = g times the product of the others; the transpose of the tangent. */
static void vjp_prod(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam_mul(restored(r, g[0]), others(r->in[0], lam__reduce_set(r->params)));
}

/* The operand is kept and not the result, of which no division is made. */
const lam_primitive lam__row_prod = {
    .name = "prod",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = shape_reduction,
    .eval = eval_prod,
    .jvp = jvp_prod,
    .vjp = vjp_prod,
    .batch = batch_reduction,
    .layout = "A axes",
};

/* Elements at once: what they are widened to stays in the cache, and takes no memory to speak of. Threads share parts
 * that are worth it only. */
static int64_t counted_at_once(lam_tensor *x) {
    return lam_ctx_of(x)->team ? 1 << 18 : 1 << 16;
}

/* Frees the widened elements before the next part is made. */
static lam_tensor *counted_part(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *o) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__reduce_apply(row, lam_cast(x, LAM_I64), o), since);
}

/* Part by part along the longest axis; parts: room for the results, which keep all axes and are reduced once more. */
static lam_tensor *counted_parts(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *o, int axis,
                                 int64_t step, lam_tensor **parts) {
    const lam_reduce_options kept = {.axes = o ? o->axes : (lam_axes){0, NULL}, .keepdims = true};
    const int64_t n = lam_dim(x, axis);
    size_t count = 0;
    for (int64_t i = 0; i < n; i += step) {
        lam_tensor *part = lam_slice_axis(x, axis, i, i + step < n ? i + step : n);
        parts[count] = counted_part(row, part, &kept);
        lam_drop(part);
        if (lam_failed(parts[count++])) return parts[count - 1];
    }
    return lam__reduce_apply(row, lam_concatenate((lam_list){count, parts}, axis), o);
}

/* Small integers are widened to i64, and wrap there. A large operand is widened part by part, so that a product of 1e9
 * bytes does not need 8e9. */
static lam_tensor *counted(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *o) {
    const lam_dims own = lam_dims_of(x);
    lam__axis_set set;
    int axis = 0;
    if (!lam__axes_collect_set(row->name, x, o ? o->axes : (lam_axes){0, NULL}, own.rank, &set))
        return lam__axes_failed(x);
    for (int i = 1; i < own.rank; i++)
        if (own.dims[i] > own.dims[axis]) axis = i;
    const int64_t most = counted_at_once(x);
    if (lam_size(x) <= most) return counted_part(row, x, o);
    const int64_t n = own.dims[axis], across = lam_size(x) / n, step = across < most ? most / across : 1;
    uint64_t since = lam__scope_now(x);
    lam__scratch_area area;
    lam_tensor **parts = lam__scratch_get(&area, lam_ctx_of(x), (size_t)((n + step - 1) / step) * sizeof(lam_tensor *));
    lam_tensor *out = parts ? counted_parts(row, x, o, axis, step, parts) : lam__axes_failed(x);
    lam__scratch_put(&area);
    return lam__scope_only(out, since);
}

/* i64 and floats are reduced in their own dtype. */
lam_tensor *lam_prod(lam_tensor *x, const lam_reduce_options *options) {
    return lam__reduce_is_tallied((int)lam_dtype_of(x)) ? counted(&lam__row_prod, x, options)
                                                        : lam__reduce_apply(&lam__row_prod, x, options);
}

/* ---- max_reduce, min_reduce ------------------------------------------------------------------------------------- */

/* Which elements are the result, and how many these are. A NaN is the result wherever there is one. restored() gives
 * the result the axes to compare against each element. */
static lam_tensor *winners(const lam_rule *r, lam_tensor **count) {
    lam_tensor *x = r->in[0], *wins = lam_or(lam_eq(x, restored(r, r->out[0])), lam_is_nan(x));
    *count = lam__reduce_sum(lam_cast(wins, lam_dtype_of(x)), lam__reduce_set(r->params));
    return wins;
}

/* The mean of the tangents of those that tie. Chosen, not multiplied: an infinite tangent elsewhere does not count. */
static void jvp_extreme(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *count, *wins = winners(r, &count);
    lam_tensor *none = lam_eq(count, 0.0); /* of no elements */
    dout[0] =
        lam_div(lam__reduce_sum(lam_where(wins, dx[0], 0.0), lam__reduce_set(r->params)), lam_where(none, 1.0, count));
}

/* g shared equally among those that tie. There is at least one wherever there are elements. */
static void vjp_extreme(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *count, *wins = winners(r, &count);
    gx[0] = lam_where(wins, restored(r, lam_div(g[0], count)), 0.0);
}

static lam_status eval_max_reduce(const lam_call_site *call, lam_value *const out[]) {
    return eval_reduction(call, out, LAM__REDUCE_MAX);
}

/* Operand and result are kept, as the rules compare them. */
const lam_primitive lam__row_max_reduce = {
    .name = "max_reduce",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_reduction,
    .eval = eval_max_reduce,
    .jvp = jvp_extreme,
    .vjp = vjp_extreme,
    .batch = batch_reduction,
    .layout = "A axes",
};

/* In the dtype of x. Of no elements -inf, or the least integer. */
lam_tensor *lam_max_reduce(lam_tensor *x, const lam_reduce_options *options) {
    return lam__reduce_apply(&lam__row_max_reduce, x, options);
}

static lam_status eval_min_reduce(const lam_call_site *call, lam_value *const out[]) {
    return eval_reduction(call, out, LAM__REDUCE_MIN);
}

const lam_primitive lam__row_min_reduce = {
    .name = "min_reduce",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = shape_reduction,
    .eval = eval_min_reduce,
    .jvp = jvp_extreme,
    .vjp = vjp_extreme,
    .batch = batch_reduction,
    .layout = "A axes",
};

lam_tensor *lam_min_reduce(lam_tensor *x, const lam_reduce_options *options) {
    return lam__reduce_apply(&lam__row_min_reduce, x, options);
}

/* ---- any, all --------------------------------------------------------------------------------------------------- */

static bool is_logical(int dtype) {
    return dtype == LAM_BOOL || dtype == LAM_U8;
}

/* The public forms convert first, but bytes; complex numbers by comparing with 0, as they have no conversion. */
static lam_status shape_logical(const lam_call_site *call, lam_shape out[]) {
    if (!is_logical(call->in[0]->dtype)) return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not a bool");
    const lam_status status = shape_reduction(call, out);
    out->dtype = LAM_BOOL;
    return status;
}

/* Of bytes the largest or the least, which is then compared with 0: they are read once. */
static lam_status eval_logical(const lam_call_site *call, lam_value *const out[], lam__reduce_id of_bool,
                               lam__reduce_id of_bytes) {
    static const int64_t flat[] = {1, 1, 0};
    const bool bytes = call->in[0]->dtype == LAM_U8;
    const lam_status status = eval_reduction(call, out, bytes ? of_bytes : of_bool);
    uint8_t none = 0;
    if (bytes)
        lam__parallel_loop(lam__value_team(out[0]), LAM__LOOP_ne, LAM_U8, lam__kernels_loop(LAM__LOOP_ne, LAM_U8),
                           out[0]->count, (void *[]){out[0]->data, out[0]->data, &none}, flat, NULL);
    return status;
}

/* x as bool or bytes; what is no tensor is left for the operation itself to name. A NaN is true, as it is not 0. */
static lam_tensor *truth(lam_tensor *x) {
    if (lam__cplx_is(x)) return lam_ne(x, 0.0);
    return lam__scope_peek(x) && !is_logical((int)lam_dtype_of(x)) ? lam_cast(x, LAM_BOOL) : x;
}

static lam_status eval_any(const lam_call_site *call, lam_value *const out[]) {
    return eval_logical(call, out, LAM__REDUCE_ANY, LAM__REDUCE_MAX);
}

/* Of bools and bytes; not differentiable, and so are the rows below. */
const lam_primitive lam__row_any = {
    .name = "any",
    .inputs = 1,
    .shape = shape_logical,
    .eval = eval_any,
    .batch = batch_reduction,
    .layout = "A axes",
};

/* Of no elements false; all of none is true. */
lam_tensor *lam_any(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__reduce_apply(&lam__row_any, truth(x), options), since);
}

static lam_status eval_all(const lam_call_site *call, lam_value *const out[]) {
    return eval_logical(call, out, LAM__REDUCE_ALL, LAM__REDUCE_MIN);
}

const lam_primitive lam__row_all = {
    .name = "all",
    .inputs = 1,
    .shape = shape_logical,
    .eval = eval_all,
    .batch = batch_reduction,
    .layout = "A axes",
};

/* Bools out; all dtypes but bools and bytes are compared with 0 first. */
lam_tensor *lam_all(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__reduce_apply(&lam__row_all, truth(x), options), since);
}

/* ---- argmax, argmin --------------------------------------------------------------------------------------------- */

/* Of no elements there is no first, unlike the maximum, which is -inf. */
static lam_status shape_arg(const lam_call_site *call, lam_shape out[]) {
    int axis = *(const int32_t *)call->params;
    const lam_value *x = call->in[0];
    if (x->dims[axis] == 0)
        return lam__error_call(call, LAM_ERR_SHAPE, "look at lam_dim first", "axis %d has no elements", axis);
    out->dtype = LAM_I64;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (i != axis) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

/* The first of those that tie; a NaN counts as the largest, and for argmin as the smallest. */
static lam_status eval_arg(const lam_call_site *call, lam_value *const out[], bool maximum) {
    int axis = *(const int32_t *)call->params;
    const lam_value *x = call->in[0];
    lam__parallel_arg(call->ctx->team, maximum, (lam_dtype)x->dtype, x->rank, x->dims, axis, x->data, x->strides,
                      out[0]->data);
    return LAM_OK;
}

/* One axis only: over several a position would have to be one of a flattened order. */
static lam_tensor *apply_arg(const lam_primitive *row, lam_tensor *x, int axis) {
    int32_t params = axis;
    return lam__apply1(row, &params, sizeof params, x);
}

/* The public forms, whose axis may be negative. */
static lam_tensor *arg(const lam_primitive *row, lam_tensor *x, int axis) {
    return lam__apply_axis(row->name, x, lam_rank(x), &axis) ? apply_arg(row, x, axis) : lam__axes_failed(x);
}

/* The axis is counted from the front, so it moves by one. */
static void batch_arg(const lam_rule *r, lam_tensor *out[]) {
    out[0] = apply_arg(r->primitive, r->in[0], *(const int32_t *)r->params + 1);
}

static lam_status eval_argmax(const lam_call_site *call, lam_value *const out[]) {
    return eval_arg(call, out, true);
}

const lam_primitive lam__row_argmax = {
    .name = "argmax",
    .inputs = 1,
    .shape = shape_arg,
    .eval = eval_argmax,
    .batch = batch_arg,
    .layout = "i axis",
};

/* The first of the largest; no derivative, as it is an integer. */
lam_tensor *lam_argmax(lam_tensor *x, int axis) {
    return arg(&lam__row_argmax, x, axis);
}

static lam_status eval_argmin(const lam_call_site *call, lam_value *const out[]) {
    return eval_arg(call, out, false);
}

const lam_primitive lam__row_argmin = {
    .name = "argmin",
    .inputs = 1,
    .shape = shape_arg,
    .eval = eval_argmin,
    .batch = batch_arg,
    .layout = "i axis",
};

lam_tensor *lam_argmin(lam_tensor *x, int axis) {
    return arg(&lam__row_argmin, x, axis);
}
