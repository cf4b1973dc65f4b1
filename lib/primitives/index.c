/* Taking by index: the primitives take, index_inverse (which index names a place last) and wrap_index (indices that are
 * known to name something). Leading axes may be shared by x and the indices (batch): a batched take is the same take
 * with one axis more in front, so nothing here loops over examples. Index tensors are never differentiated. Indices are
 * i64 or i32 for the rows, without a conversion, and negative ones count from the end; u8 is widened by the public
 * forms. */
#include "lib/primitives/index.h"

#include "lib/parallel/parallel.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>
#include <string.h>

typedef lam__index_params index_params;

/* For axes, batch and mode that are known to fit. */
lam_tensor *lam__index_take(lam_tensor *x, lam_tensor *indices, const index_params *p) {
    lam_tensor *in[2] = {x, indices};
    return lam__apply(&lam__row_take, p, sizeof *p, 2, in);
}

/* ---- geometry --------------------------------------------------------------------------------------------------- */

/* Groups of axes become one number each, so the kernels need not know where an axis ends: NOTE [geometry]. */
lam__index_shape lam__index_geometry(const index_params *p, const lam_value *x, const lam_value *indices) {
    return (lam__index_shape){
        .batch = lam__axes_product(x->dims, 0, p->batch),
        .outer = lam__axes_product(x->dims, p->batch, p->axis),
        .n = x->dims[p->axis],
        .k = lam__axes_product(indices->dims, p->batch, indices->rank),
        .inner = lam__axes_product(x->dims, p->axis + 1, x->rank),
    };
}

/* Type of what is taken: NOTE [geometry]. The axes of the indices stand where the axis of x was. Ranks add up, so this
 * may be more than there is room for, which must be found before out->dims is written. Message and room are those of
 * users, as levels bring axes of their own on both sides. */
lam_status lam__index_taken_shape(const lam_call_site *call, lam_shape *out) {
    const index_params *p = call->params;
    const lam_value *x = call->in[0], *indices = call->in[1];
    if (indices->dtype != LAM_I64 && indices->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are not integers");
    for (int i = 0; i < p->batch; i++)
        if (x->dims[i] != indices->dims[i])
            return lam__error_call(call, LAM_ERR_SHAPE, NULL, "the indices have %lld elements on axis %d, not %lld",
                                   (long long)indices->dims[i], i, (long long)x->dims[i]);
    if (x->rank - 1 + indices->rank - p->batch > LAM_INNER_RANK)
        return lam__error_call(call, LAM_ERR_RANK, NULL, "the result would have more than %d axes", LAM_MAX_RANK);
    out->dtype = (lam_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < p->axis; i++) out->dims[out->rank++] = x->dims[i];
    for (int i = p->batch; i < indices->rank; i++) out->dims[out->rank++] = indices->dims[i];
    for (int i = p->axis + 1; i < x->rank; i++) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

/* Indices are data, so that they can be wrong only at evaluation. The message tells the first wrong one and its
 * position among all of them, in row-major order. It is the first in order also where threads share the indices, since
 * one of them looks at all. */
lam_status lam__index_check(const lam_call_site *call, int64_t count, int64_t n, const lam_value *indices) {
    const lam__index_shape s = {.batch = 1, .n = n, .k = count};
    int64_t at = lam__kernels_index_check(&s, (lam_dtype)indices->dtype, indices->data);
    if (at < 0) return LAM_OK;
    const int32_t *narrow = indices->data;
    const int64_t *wide = indices->data;
    long long index = indices->dtype == LAM_I32 ? narrow[at] : wide[at];
    return lam__error_call(call, LAM_ERR_INDEX,
                           "indices are below the size of the axis, negative ones count from its end; lam_take_mode "
                           "and its like give a meaning to others",
                           "index %lld (element %lld of the indices) is out of range [-%lld, %lld)", index,
                           (long long)at, (long long)n, (long long)n);
}

/* Strides of axes may be those of one axis without the operand being contiguous: then a kernel walks it in place. Axes
 * of one element have any stride. */
bool lam__index_step(const lam_value *x, int from, int to, int64_t *step) {
    int64_t count = 1;
    *step = 0;
    for (int axis = to - 1; axis >= from; axis--) {
        if (x->dims[axis] == 1) continue;
        if (count == 1) *step = x->strides[axis];
        else if (x->strides[axis] != *step * count) return false;
        count *= x->dims[axis];
    }
    return true;
}

/* ---- take ------------------------------------------------------------------------------------------------------- */

/* x has gaps, or is one element seen many times: only what is taken of it is read, item by item. The start of an
 * example is found from its number by dividing by the batch dims, since their strides need have no common step. What
 * lies outside leaves what was there, which is zero. Slow for one element, and right for few: there is no kernel that
 * knows so many strides. */
static void take_where_it_lies(const index_params *p, const lam__index_shape *s, const lam_value *x,
                               const lam_value *indices, lam_value *out) {
    int64_t dims[LAM_INNER_RANK], from[LAM_INNER_RANK], to[LAM_INNER_RANK];
    const int64_t item = (int64_t)lam__dtype_bytes(x->dtype);
    int rank = 0, more = out->rank - x->rank + 1; /* axes of k */
    for (int i = p->batch; i < x->rank; i++) {
        if (i == p->axis) continue;
        dims[rank] = x->dims[i];
        from[rank] = x->strides[i];
        to[rank++] = out->strides[i > p->axis ? i + more - 1 : i];
    }
    for (int64_t i = 0; i < s->batch * s->k; i++) {
        int64_t b = i / s->k, start = 0;
        for (int axis = p->batch - 1, left = 0; axis >= 0; axis--, left++) {
            start += b % x->dims[axis] * x->strides[axis];
            b /= x->dims[axis];
        }
        int64_t at = lam__kernels_index_at((lam__index_mode)p->mode, s->n, (lam_dtype)indices->dtype, indices->data, i);
        char *place = (char *)out->data + (i / s->k * s->outer * s->k + i % s->k) * s->inner * item;
        const char *source = (const char *)x->data + (start + at * x->strides[p->axis]) * item;
        if (at < 0) continue; /* out was cleared before */
        lam__kernels_copy(rank, dims, (lam_dtype)x->dtype, place, to, (lam_dtype)x->dtype, source, from);
    }
}

/* Where x lies for the kernel; false: its axes would have to be put together first. Within an item elements lie side by
 * side, or there is one. */
static bool source_of(const index_params *p, const lam_value *x, lam__index_source *source) {
    int64_t inner;
    *source = (lam__index_source){.data = x->data, .n = x->strides[p->axis]};
    return lam__index_step(x, 0, p->batch, &source->batch) && lam__index_step(x, p->batch, p->axis, &source->outer) &&
           lam__index_step(x, p->axis + 1, x->rank, &inner) &&
           (inner == 1 || lam__axes_product(x->dims, p->axis + 1, x->rank) <= 1);
}

/* x is taken from where it lies if each group of axes has one step. Otherwise it is made contiguous first, except where
 * far less is taken than that would copy: an embedding table that is a transposed view, and a few rows of it. */
static lam_status take_from(const lam_call_site *call, const lam__index_shape *s, const lam_value *indices,
                            lam_value *out) {
    const index_params *p = call->params;
    lam_value *x = call->in[0];
    lam__index_source source;
    bool steady = source_of(p, x, &source);
    /* An eighth: making x contiguous reads and writes all of it. */
    if (!steady && out->count < x->count / 8) {
        static const union {
            double f64[2];
            int64_t i64[2];
        } zero;
        lam__parallel_fill(call->ctx->team, (lam_dtype)out->dtype, out->data, out->count, &zero);
        if (out->count) take_where_it_lies(p, s, x, indices, out);
        return LAM_OK;
    }
    x = steady ? lam__value_hold(x) : lam__value_contiguous(x);
    if (!x) return LAM_ERR_MEMORY;
    /* Of a copy every group has a step. */
    if (!steady) source_of(p, x, &source);
    lam__parallel_take(call->ctx->team, s, (lam__index_mode)p->mode, (lam_dtype)x->dtype, &source,
                       (lam_dtype)indices->dtype, indices->data, out->data);
    lam__value_release(x);
    return LAM_OK;
}

/* Checked before anything is taken, so the kernel may trust indices in mode ERROR. */
static lam_status eval_take(const lam_call_site *call, lam_value *const out[]) {
    const index_params *p = call->params;
    lam__index_shape s = lam__index_geometry(p, call->in[0], call->in[1]);
    lam_value *indices = lam__value_contiguous(call->in[1]);
    lam_status status = indices ? LAM_OK : LAM_ERR_MEMORY;
    if (indices && p->mode == LAM__INDEX_ERROR) status = lam__index_check(call, s.batch * s.k, s.n, indices);
    if (status == LAM_OK) status = take_from(call, &s, indices, out[0]);
    lam__value_release(indices);
    return status;
}

/* The transpose adds each cotangent to the element it was taken from, so an element that was taken twice gets both. The
 * mode goes along: what was clipped goes to the edge, what was left out goes nowhere. */
static void vjp_take(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = lam__index_scatter(&lam__row_scatter_add, lam_zeros_like(r->in[0]), r->in[1], g[0], r->params);
}

/* Only the indices are mapped: the batch axis is one of k, the first. */
static lam_tensor *take_for_each(const lam_rule *r, const index_params *p) {
    lam_tensor *taken = lam__index_take(r->in[0], lam_moveaxis(r->in[1], 0, p->batch), p);
    return lam_moveaxis(taken, p->axis, 0);
}

/* Indices of no batch are shared by all examples as they are: the batch axis of x is one of outer, the first. Otherwise
 * both get it in front and it is one of batch. Repeating x for indices that are mapped alone is never needed. What is
 * taken for indices alone is taken once, not once for each example. */
static void batch_take(const lam_rule *r, lam_tensor *out[]) {
    const index_params *p = r->params;
    bool shared = !r->mapped[1] && p->batch == 0;
    index_params q = {p->axis + 1, shared ? 0 : p->batch + 1, p->mode};
    if (!r->mapped[0]) out[0] = take_for_each(r, p);
    else out[0] = lam__index_take(r->in[0], shared ? r->in[1] : lam__rules_with_batch(r, 1), &q);
}

/* Linear in x for fixed indices, which are all that is saved. */
const lam_primitive lam__row_take = {
    .name = "take",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .saves = LAM_SAVE_IN(1),
    .shape = lam__index_taken_shape,
    .eval = eval_take,
    .vjp = vjp_take,
    .batch = batch_take,
    .layout = "i axis, i batch, i mode",
};

/* ---- index_inverse ---------------------------------------------------------------------------------------------- */

typedef lam__inverse_params inverse_params;

/* Along the last axis; axes before it are a batch, so vmap only adds one. Indices may name a place twice; the last one
 * stands there. */
static lam_status shape_index_inverse(const lam_call_site *call, lam_shape out[]) {
    const lam_value *indices = call->in[0];
    if (indices->dtype != LAM_I64 && indices->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are not integers");
    out->dtype = LAM_I64;
    out->rank = indices->rank;
    for (int i = 0; i + 1 < indices->rank; i++) out->dims[i] = indices->dims[i];
    out->dims[out->rank - 1] = ((const inverse_params *)call->params)->n;
    return LAM_OK;
}

/* In mode DROP an index outside names no place: callers of lam__index_last mark with n what is not to count. */
static lam_status eval_index_inverse(const lam_call_site *call, lam_value *const out[]) {
    const inverse_params *p = call->params;
    int last = call->in[0]->rank - 1;
    lam_value *indices = lam__value_contiguous(call->in[0]);
    if (!indices) return LAM_ERR_MEMORY;
    lam__index_shape s = {lam__axes_product(indices->dims, 0, last), 1, p->n, indices->dims[last], 1};
    lam_status status = LAM_OK;
    if (p->mode == LAM__INDEX_ERROR) status = lam__index_check(call, indices->count, p->n, indices);
    if (status == LAM_OK) lam__kernels_index_inverse(&s, (lam_dtype)indices->dtype, indices->data, out[0]->data);
    lam__value_release(indices);
    return status;
}

/* The mode is 64 bits wide so that the parameters, which are copied as bytes, have no padding. */
static lam_tensor *apply_inverse(lam_tensor *indices, int64_t n, lam__index_mode mode) {
    inverse_params p = {n, mode};
    return lam__apply1(&lam__row_index_inverse, &p, sizeof p, indices);
}

/* Axes before the last are a batch already. */
static void batch_index_inverse(const lam_rule *r, lam_tensor *out[]) {
    const inverse_params *p = r->params;
    out[0] = apply_inverse(r->in[0], p->n, (lam__index_mode)p->mode);
}

const lam_primitive lam__row_index_inverse = {
    .name = "index_inverse",
    /* No operand has a derivative: places are integers. */
    .inputs = 1,
    .shape = shape_index_inverse,
    .eval = eval_index_inverse,
    .batch = batch_index_inverse,
    .layout = "l n, l mode",
};

/* A rule's helper: what names no place is to be passed as n. */
lam_tensor *lam__index_last(lam_tensor *indices, int64_t n) {
    return apply_inverse(lam__index_integers(indices), n, LAM__INDEX_DROP);
}

/* ---- wrap_index ------------------------------------------------------------------------------------------------- */

typedef lam__wrap_params wrap_params;

/* The dims of the indices; always i64, as what is computed from them may be. */
static lam_status shape_wrap_index(const lam_call_site *call, lam_shape out[]) {
    const lam_value *indices = call->in[0];
    if (indices->dtype != LAM_I64 && indices->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are not integers");
    return lam__apply_shape_as(indices, LAM_I64, out);
}

/* Converts first and checks the result, so one loop serves both index dtypes. That n is 0 needs no case of its own:
 * then every index is outside. */
static lam_status eval_wrap_index(const lam_call_site *call, lam_value *const out[]) {
    const wrap_params *p = call->params;
    const lam_value *indices = call->in[0];
    int64_t *to = out[0]->data;
    if (indices->count)
        lam__parallel_copy(call->ctx->team, indices->rank, indices->dims, LAM_I64, to, out[0]->strides,
                           (lam_dtype)indices->dtype, indices->data, indices->strides);
    /* All are checked before any is changed, so that the message shows what the user gave. */
    lam_status status = lam__index_check(call, out[0]->count, p->n, out[0]);
    for (int64_t i = 0; status == LAM_OK && i < out[0]->count; i++) {
        if (to[i] < 0) to[i] += p->n;
        if (to[i] < p->limit) continue;
        status = lam__error_call(call, LAM_ERR_INDEX, "move it inside, or let a mode say what it means",
                                 "a window that starts at %lld does not end within %lld elements", (long long)to[i],
                                 (long long)p->n);
    }
    return status;
}

/* Element by element. */
static void batch_wrap_index(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, r->params, sizeof(wrap_params), r->in[0]);
}

const lam_primitive lam__row_wrap_index = {
    .name = "wrap_index",
    /* As index_inverse; nothing is read on the way back. */
    .inputs = 1,
    .shape = shape_wrap_index,
    .eval = eval_wrap_index,
    .batch = batch_wrap_index,
    .layout = "l n, l limit",
};

/* For lam_wrap_index limit is n; for windows, which must end inside, it is less. */
lam_tensor *lam__index_wrap(lam_tensor *indices, int64_t n, int64_t limit) {
    wrap_params p = {n, limit};
    return lam__apply1(&lam__row_wrap_index, &p, sizeof p, lam__index_integers(indices));
}

/* For users who want the check of mode ERROR once, before a loop of unchecked uses. */
lam_tensor *lam_wrap_index(lam_tensor *indices, int64_t n) {
    uint64_t since = lam__scope_now(indices);
    if (n < 0)
        return lam__axes_fail(lam__row_wrap_index.name, indices, LAM_ERR_VALUE, "an axis of %lld elements",
                              (long long)n);
    return lam__scope_only(lam__index_wrap(indices, n, n), since);
}

/* ---- rows of their own ------------------------------------------------------------------------------------------ */

/* All axes but the last are batch: each row of x has its own row of indices. So one take serves rows of any number of
 * leading axes. */
static index_params by_row(lam_tensor *x) {
    int32_t last = lam_rank(x) - 1;
    return (index_params){last, last, LAM__INDEX_DROP};
}

/* What lies outside takes 0 (mode DROP), so rules may use n for "none". */
lam_tensor *lam__index_take_rows(lam_tensor *x, lam_tensor *indices) {
    index_params p = by_row(x);
    return lam__index_take(x, indices, &p);
}

/* The transpose of lam__index_take_rows by x. */
lam_tensor *lam__index_add_rows(lam_tensor *x, lam_tensor *indices, lam_tensor *updates) {
    index_params p = by_row(x);
    return lam__index_scatter(&lam__row_scatter_add, x, indices, updates, &p);
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

/* u8 has no index kernels; what is wrong with others the rows say. */
lam_tensor *lam__index_integers(lam_tensor *indices) {
    return lam__scope_peek(indices) && lam_dtype_of(indices) == LAM_U8 ? lam_cast(indices, LAM_I64) : indices;
}

/* LAM_INDEX_FILL becomes DROP: kernels leave out what lies outside, and the public form puts the filler there. So does
 * LAM_INDEX_CLIP where there is no nearest element. */
bool lam__index_params_for(const char *operation, lam_tensor *x, int axis, lam_index_mode mode, index_params *p) {
    static const lam__index_mode modes[] = {LAM__INDEX_ERROR, LAM__INDEX_CLIP, LAM__INDEX_DROP};
    if ((unsigned)mode > LAM_INDEX_FILL) {
        lam__axes_fail(operation, x, LAM_ERR_OPTION, "there is no index mode %d", (int)mode);
        return false;
    }
    if (!lam__apply_axis(operation, x, lam_rank(x), &axis)) return false;
    if (mode == LAM_INDEX_CLIP && lam_dim(x, axis) == 0) mode = LAM_INDEX_FILL;
    *p = (index_params){axis, 0, modes[mode]};
    return true;
}

/* Flags for whole items line up with them only when axes of one element stand behind. Where there is no room for these
 * the flags come back as they are, and the operation that combines them refuses. */
lam_tensor *lam__index_spread(lam_tensor *flags, int behind) {
    lam_dims own = lam_dims_of(flags);
    int64_t dims[2 * LAM_INNER_RANK];
    for (int i = 0; i < own.rank + behind; i++) dims[i] = i < own.rank ? own.dims[i] : 1;
    return own.rank + behind > LAM_INNER_RANK ? flags : lam__apply_reshape(flags, own.rank + behind, dims);
}

/* What stands for an element that is not there: NaN, or the number of the dtype that is least likely to be meant. JAX's
 * mode "fill" has the same choices. */
static lam_tensor *filler(lam_tensor *like) {
    static const int64_t marks[LAM_DTYPE_COUNT] = {
        [LAM_I64] = INT64_MIN, [LAM_I32] = INT32_MIN, [LAM_U8] = UINT8_MAX, [LAM_BOOL] = true};
    lam_dtype dtype = lam_dtype_of(like);
    lam_ctx *ctx = lam_ctx_of(like);
    if (lam__dtype_is_inexact((int)dtype)) return lam_cast(lam_scalar(ctx, (double)NAN), dtype);
    return lam_cast(lam_array(ctx, LAM_I64, LAM_DIMS0, &marks[dtype]), dtype);
}

/* FILL is a take that leaves zeros, and a choice between that and the filler: its derivative is then zero outside
 * without a rule of its own. */
static lam_tensor *take(const char *function, lam_tensor *x, lam_tensor *indices, int axis, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    index_params p;
    if (!lam__index_params_for(function + strlen("lam_"), x, axis, mode, &p)) return lam__axes_failed(x);
    indices = lam__index_integers(indices);
    lam_tensor *taken = lam__index_take(x, indices, &p);
    if (p.mode != LAM__INDEX_DROP || lam_failed(taken)) return lam__scope_only_in(function, taken, since);
    int64_t n = lam_dim(x, p.axis);
    lam_tensor *wide = lam_cast(indices, LAM_I64); /* n may be beyond the dtype of the indices */
    lam_tensor *inside = lam_and(lam_ge(wide, -n), lam_lt(wide, n));
    inside = lam__index_spread(inside, lam_rank(x) - 1 - p.axis);
    return lam__scope_only_in(function, lam_where(inside, taken, filler(taken)), since);
}

lam_tensor *lam_take_mode(lam_tensor *x, lam_tensor *indices, int axis, lam_index_mode mode) {
    return take("lam_take_mode", x, indices, axis, mode);
}

/* Mode ERROR: an index outside fails rather than take something else. */
lam_tensor *lam_take(lam_tensor *x, lam_tensor *indices, int axis) {
    return take("lam_take", x, indices, axis, LAM_INDEX_ERROR);
}

/* A view: nothing is copied before the kernel runs. `common` has an entry for every axis, that of `axis` being
 * unused. */
lam_tensor *lam__index_axis_last(lam_tensor *x, int axis, const int64_t *common) {
    int64_t dims[LAM_INNER_RANK];
    int rank = lam_rank(x), n = 0;
    bool same = true;
    for (int i = 0; i < rank; i++) {
        if (i == axis) continue;
        same = same && lam_dim(x, i) == common[i];
        dims[n++] = common[i];
    }
    dims[n] = lam_dim(x, axis);
    x = lam_moveaxis(x, axis, rank - 1);
    return same ? x : lam__apply_broadcast(x, rank, dims);
}

/* Only an axis of one element stretches, on either side, as in broadcasting; but ranks must be equal, since it would
 * else not be clear which axis `axis` is. `common` of the axis itself is written, and not read. */
bool lam__index_common(const char *operation, lam_tensor *x, lam_tensor *indices, int axis, int64_t *common) {
    int rank = lam_rank(x);
    if (lam_rank(indices) != rank) {
        lam__axes_fail(operation, indices, LAM_ERR_SHAPE, "the indices have %d axes, not %d", lam_rank(indices), rank);
        return false;
    }
    for (int i = 0; i < rank; i++) {
        int64_t own = lam_dim(x, i), other = lam_dim(indices, i);
        common[i] = own == 1 ? other : own;
        if (i == axis || other == 1 || other == common[i]) continue;
        lam__axes_fail(operation, indices, LAM_ERR_SHAPE, "axis %d does not broadcast against the %lld elements of x",
                       i, (long long)own);
        return false;
    }
    return true;
}

/* All other axes pair up, so they are the batch of a take along the last axis. */
lam_tensor *lam_take_along_axis(lam_tensor *x, lam_tensor *indices, int axis) {
    uint64_t since = lam__scope_now(x);
    const char *name = "take_along_axis";
    int64_t common[LAM_INNER_RANK];
    int rank = lam_rank(x);
    lam_tensor *failed;
    if (!lam__apply_given(name, 2, (lam_tensor *[]){x, indices}, &failed)) return failed;
    if (!lam__apply_axis(name, x, rank, &axis)) return lam__axes_failed(x);
    if (!lam__index_common(name, x, indices, axis, common)) return lam__axes_failed(x);
    /* All but the last axis are batch, on both sides. */
    index_params p = {rank - 1, rank - 1, LAM__INDEX_ERROR};
    lam_tensor *at = lam__index_axis_last(lam__index_integers(indices), axis, common);
    return lam__scope_only(lam_moveaxis(lam__index_take(lam__index_axis_last(x, axis, common), at, &p), rank - 1, axis),
                           since);
}

/* Of a permutation this is the inverse permutation, by one pass instead of a sort. */
lam_tensor *lam_index_inverse(lam_tensor *indices, int64_t n) {
    uint64_t since = lam__scope_now(indices);
    const char *name = lam__row_index_inverse.name;
    if (lam__scope_peek(indices) && lam_rank(indices) == 0)
        return lam__axes_fail(name, indices, LAM_ERR_RANK, "no axis");
    if (n < 0) return lam__axes_fail(name, indices, LAM_ERR_VALUE, "there cannot be %lld places", (long long)n);
    return lam__scope_only(apply_inverse(lam__index_integers(indices), n, LAM__INDEX_ERROR), since);
}

/* A comparison with 0, 1, ..., n - 1: an index outside gives zeros everywhere, as in JAX, and no index is negative. */
lam_tensor *lam_one_hot(lam_tensor *indices, int64_t n, lam_dtype dtype) {
    uint64_t since = lam__scope_now(indices);
    if (!lam__scope_peek(indices)) return lam__axes_fail("one_hot", indices, LAM_ERR_NULL, "the operand is NULL");
    if (n < 0) return lam__axes_fail("one_hot", indices, LAM_ERR_VALUE, "there cannot be %lld places", (long long)n);
    if (lam__dtype_is_inexact((int)lam_dtype_of(indices)) || lam_dtype_of(indices) == LAM_BOOL)
        return lam__axes_fail("one_hot", indices, LAM_ERR_DTYPE, "the indices are not integers");
    lam_tensor *places = lam_arange(lam_ctx_of(indices), LAM_I64, 0, (double)n, 1);
    return lam__scope_only(lam_cast(lam_eq(lam_expand_dims(indices, -1), places), dtype), since);
}
