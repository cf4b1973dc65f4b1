/* Indexing: take and its transpose scatter_add, on one axis, with leading axes that x and the indices share (batch). A
 * batched take is the same take with one axis more in front, so nothing here loops over examples. Index tensors are
 * never differentiated; their elements are checked where they are used (mode LAM_INDEX_ERROR).
 *
 * NOTE [geometry]  x is [batch..., outer..., n, inner...], indices are [batch..., k...], what is taken or added is
 * [batch..., outer..., k..., inner...]; `axis` is where n stands in x. The kernels see each group as one number. */
#include "lib/primitives/index.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

typedef struct index_params {
    int32_t axis;
    int32_t batch; /* axes that x and the indices share, in front of both */
    int32_t mode;  /* lam__index_mode: ERROR, CLIP or DROP, which are linear; FILL is made of DROP */
} index_params;

static lam_tensor *apply_take(lam_tensor *x, lam_tensor *indices, const index_params *p) {
    lam_tensor *in[2] = {x, indices};
    return lam__apply(&lam__row_take, p, sizeof *p, 2, in);
}

static lam_tensor *apply_scatter_add(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, const index_params *p) {
    lam_tensor *in[3] = {x, indices, updates};
    return lam__apply(&lam__row_scatter_add, p, sizeof *p, 3, in);
}

/* ---- geometry --------------------------------------------------------------------------------------------------- */

static int64_t product(const int64_t *dims, int from, int to) {
    int64_t count = 1;
    for (int i = from; i < to; i++) count *= dims[i];
    return count;
}

static lam__index_shape geometry(const index_params *p, const lam_value *x, const lam_value *indices) {
    return (lam__index_shape){
        .batch = product(x->dims, 0, p->batch),
        .outer = product(x->dims, p->batch, p->axis),
        .n = x->dims[p->axis],
        .k = product(indices->dims, p->batch, indices->rank),
        .inner = product(x->dims, p->axis + 1, x->rank),
    };
}

/* Type of what is taken: NOTE [geometry]. */
static lam_status taken_shape(const lam_call_site *call, lam_shape *out) {
    const index_params *p = call->params;
    const lam_value *x = call->in[0], *indices = call->in[1];
    if (indices->dtype != LAM_I64 && indices->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are no integers");
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

/* Every index must name an element. `indices` is contiguous. */
static lam_status check_indices(const lam_call_site *call, const lam__index_shape *s, const lam_value *indices) {
    int64_t at = lam__kernels_index_check(s, (lam_dtype)indices->dtype, indices->data);
    if (at < 0) return LAM_OK;
    const int32_t *narrow = indices->data;
    const int64_t *wide = indices->data;
    long long index = indices->dtype == LAM_I32 ? narrow[at] : wide[at];
    return lam__error_call(call, LAM_ERR_INDEX, "or say with a mode what is meant by it",
                           "index %lld (element %lld of the indices) is out of range [-%lld, %lld)", index,
                           (long long)at, (long long)s->n, (long long)s->n);
}

/* ---- take ------------------------------------------------------------------------------------------------------- */

static lam_status eval_take(const lam_call_site *call, lam_value *const out[]) {
    const index_params *p = call->params;
    lam__index_shape s = geometry(p, call->in[0], call->in[1]);
    lam_value *x = lam__value_contiguous(call->in[0]), *indices = x ? lam__value_contiguous(call->in[1]) : NULL;
    lam_status status = indices ? LAM_OK : LAM_ERR_MEMORY;
    if (indices && p->mode == LAM__INDEX_ERROR) status = check_indices(call, &s, indices);
    if (status == LAM_OK)
        lam__kernels_take(&s, (lam__index_mode)p->mode, (lam_dtype)x->dtype, x->data, (lam_dtype)indices->dtype,
                          indices->data, out[0]->data);
    lam__value_release(x);
    lam__value_release(indices);
    return status;
}

static void vjp_take(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_scatter_add(lam_zeros_like(r->in[0]), r->in[1], g[0], r->params);
}

/* Only the indices are mapped: the batch axis is one of k, the first. */
static lam_tensor *take_for_each(const lam_rule *r, const index_params *p) {
    lam_tensor *taken = apply_take(r->in[0], lam_moveaxis(r->in[1], 0, p->batch), p);
    return lam_moveaxis(taken, p->axis, 0);
}

/* Indices of no batch are shared by all examples as they are: the batch axis of x is one of outer, the first. */
static void batch_take(const lam_rule *r, lam_tensor *out[]) {
    const index_params *p = r->params;
    bool shared = !r->mapped[1] && p->batch == 0;
    index_params q = {p->axis + 1, shared ? 0 : p->batch + 1, p->mode};
    if (!r->mapped[0]) out[0] = take_for_each(r, p);
    else out[0] = apply_take(r->in[0], shared ? r->in[1] : lam__rules_with_batch(r, 1), &q);
}

const lam_primitive lam__row_take = {
    .name = "take",
    .inputs = 2,
    .complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .saves = LAM_SAVE_IN(1),
    .shape = taken_shape,
    .eval = eval_take,
    .vjp = vjp_take,
    .batch = batch_take,
};

/* ---- scatter_add ------------------------------------------------------------------------------------------------ */

static lam_status shape_scatter_add(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0], *updates = call->in[2];
    lam_status status = taken_shape(call, out);
    if (status != LAM_OK) return status;
    bool fits = updates->rank == out->rank && updates->dtype == x->dtype;
    for (int i = 0; fits && i < out->rank; i++) fits = updates->dims[i] == out->dims[i];
    if (!fits)
        return lam__error_call(call, LAM_ERR_SHAPE, "cast or broadcast them",
                               "the updates are not of the type that taking at the indices gives");
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = x->dims[i];
    return LAM_OK;
}

static lam_status eval_scatter_add(const lam_call_site *call, lam_value *const out[]) {
    const index_params *p = call->params;
    const lam_value *x = call->in[0];
    const lam_dtype dtype = (lam_dtype)x->dtype;
    lam__index_shape s = geometry(p, x, call->in[1]);
    lam_value *indices = lam__value_contiguous(call->in[1]);
    lam_value *updates = indices ? lam__value_contiguous(call->in[2]) : NULL;
    lam_status status = updates ? LAM_OK : LAM_ERR_MEMORY;
    if (updates && p->mode == LAM__INDEX_ERROR) status = check_indices(call, &s, indices);
    if (status == LAM_OK && x->count) {
        lam__kernels_copy(x->rank, x->dims, dtype, out[0]->data, out[0]->strides, dtype, x->data, x->strides);
        lam__kernels_scatter_add(&s, (lam__index_mode)p->mode, dtype, out[0]->data, (lam_dtype)indices->dtype,
                                 indices->data, updates->data);
    }
    lam__value_release(indices);
    lam__value_release(updates);
    return status;
}

static void vjp_scatter_add(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = g[0];
    if (r->needs[2]) gx[2] = apply_take(g[0], r->in[1], r->params);
}

static void batch_scatter_add(const lam_rule *r, lam_tensor *out[]) {
    const index_params *p = r->params;
    bool shared = !r->mapped[1] && p->batch == 0;
    index_params q = {p->axis + 1, shared ? 0 : p->batch + 1, p->mode};
    lam_tensor *indices = shared ? r->in[1] : lam__rules_with_batch(r, 1);
    out[0] = apply_scatter_add(lam__rules_with_batch(r, 0), indices, lam__rules_with_batch(r, 2), &q);
}

const lam_primitive lam__row_scatter_add = {
    .name = "scatter_add",
    .inputs = 3,
    .complex = true,
    .derivative = LAM_LINEAR,
    .linear = 5u,
    .saves = LAM_SAVE_IN(1),
    .shape = shape_scatter_add,
    .eval = eval_scatter_add,
    .vjp = vjp_scatter_add,
    .batch = batch_scatter_add,
};

/* ---- index_inverse ---------------------------------------------------------------------------------------------- */

static lam_status shape_index_inverse(const lam_call_site *call, lam_shape out[]) {
    const lam_value *indices = call->in[0];
    if (indices->dtype != LAM_I64 && indices->dtype != LAM_I32)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast them to LAM_I64", "the indices are no integers");
    out->dtype = LAM_I64;
    out->rank = indices->rank;
    for (int i = 0; i + 1 < indices->rank; i++) out->dims[i] = indices->dims[i];
    out->dims[out->rank - 1] = *(const int64_t *)call->params;
    return LAM_OK;
}

static lam_status eval_index_inverse(const lam_call_site *call, lam_value *const out[]) {
    int last = call->in[0]->rank - 1;
    lam_value *indices = lam__value_contiguous(call->in[0]);
    if (!indices) return LAM_ERR_MEMORY;
    lam__index_shape s = {product(indices->dims, 0, last), 1, *(const int64_t *)call->params, indices->dims[last], 1};
    lam_status status = check_indices(call, &s, indices);
    if (status == LAM_OK) lam__kernels_index_inverse(&s, (lam_dtype)indices->dtype, indices->data, out[0]->data);
    lam__value_release(indices);
    return status;
}

static void batch_index_inverse(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, r->params, sizeof(int64_t), r->in[0]);
}

const lam_primitive lam__row_index_inverse = {
    .name = "index_inverse",
    .inputs = 1,
    .shape = shape_index_inverse,
    .eval = eval_index_inverse,
    .batch = batch_index_inverse,
};

/* ---- rows of their own ------------------------------------------------------------------------------------------ */

static index_params by_row(lam_tensor *x) {
    int32_t last = lam_rank(x) - 1;
    return (index_params){last, last, LAM__INDEX_DROP};
}

lam_tensor *lam__index_take_rows(lam_tensor *x, lam_tensor *indices) {
    index_params p = by_row(x);
    return apply_take(x, indices, &p);
}

lam_tensor *lam__index_add_rows(lam_tensor *x, lam_tensor *indices, lam_tensor *updates) {
    index_params p = by_row(x);
    return apply_scatter_add(x, indices, updates, &p);
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

/* Integers of other dtypes as i64; what is no tensor or no integer is left for the operation itself to name. */
static lam_tensor *integers(lam_tensor *indices) {
    return lam__scope_peek(indices) && lam_dtype_of(indices) == LAM_U8 ? lam_cast(indices, LAM_I64) : indices;
}

/* Parameters for a call of a user's; false after recording what is wrong with them. */
static bool params_for(const lam_primitive *row, lam_tensor *x, int axis, lam_index_mode mode, index_params *p) {
    static const lam__index_mode modes[] = {LAM__INDEX_ERROR, LAM__INDEX_CLIP, LAM__INDEX_DROP};
    if ((unsigned)mode > LAM_INDEX_FILL) {
        lam__axes_fail(row->name, x, LAM_ERR_OPTION, "there is no index mode %d", (int)mode);
        return false;
    }
    if (!lam__apply_axis(row->name, x, lam_rank(x), &axis)) return false;
    *p = (index_params){axis, 0, modes[mode]};
    return true;
}

/* `flags`, of the dims of the indices, with an axis of one element for each of the `behind` axes that stand behind. */
static lam_tensor *spread(lam_tensor *flags, int behind) {
    lam_dims own = lam_dims_of(flags);
    int64_t dims[2 * LAM_INNER_RANK];
    for (int i = 0; i < own.rank + behind; i++) dims[i] = i < own.rank ? own.dims[i] : 1;
    return own.rank + behind > LAM_INNER_RANK ? flags : lam__apply_reshape(flags, own.rank + behind, dims);
}

lam_tensor *lam_take_mode(lam_tensor *x, lam_tensor *indices, int axis, lam_index_mode mode) {
    index_params p;
    if (!params_for(&lam__row_take, x, axis, mode, &p)) return lam__axes_failed(x);
    indices = integers(indices);
    lam_tensor *taken = apply_take(x, indices, &p);
    if (mode != LAM_INDEX_FILL || lam_failed(taken) || !lam__dtype_is_inexact((int)lam_dtype_of(x))) return taken;
    int64_t n = lam_dim(x, p.axis);
    lam_tensor *wide = lam_cast(indices, LAM_I64); /* n may be beyond the dtype of the indices */
    lam_tensor *inside = lam_and(lam_ge(wide, -n), lam_lt(wide, n));
    return lam_where(spread(inside, lam_rank(x) - 1 - p.axis), taken, (double)NAN);
}

lam_tensor *lam_take(lam_tensor *x, lam_tensor *indices, int axis) {
    return lam_take_mode(x, indices, axis, LAM_INDEX_ERROR);
}

/* x with an axis moved to the end and its other axes broadcast to those of `like`. */
static lam_tensor *axis_last(lam_tensor *x, int axis, const int64_t *common) {
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

lam_tensor *lam_take_along_axis(lam_tensor *x, lam_tensor *indices, int axis) {
    const char *name = "take_along_axis";
    int64_t common[LAM_INNER_RANK];
    int rank = lam_rank(x);
    if (!lam__apply_axis(name, x, rank, &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x) || !lam__scope_peek(indices)) return lam_take(x, indices, axis);
    if (lam_rank(indices) != rank)
        return lam__axes_fail(name, indices, LAM_ERR_SHAPE, "the indices have %d axes, not %d", lam_rank(indices),
                              rank);
    for (int i = 0; i < rank; i++) {
        int64_t own = lam_dim(x, i), other = lam_dim(indices, i);
        common[i] = own == 1 ? other : own;
        if (i != axis && other != 1 && other != common[i])
            return lam__axes_fail(name, indices, LAM_ERR_SHAPE,
                                  "axis %d does not broadcast against the %lld elements of x", i, (long long)own);
    }
    index_params p = {rank - 1, rank - 1, LAM__INDEX_ERROR};
    lam_tensor *taken = apply_take(axis_last(x, axis, common), axis_last(integers(indices), axis, common), &p);
    return lam_moveaxis(taken, rank - 1, axis);
}

/* Updates as they are to be: the dtype of x, and the dims that taking at the indices gives. */
static lam_tensor *fitted(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    lam_dims own = lam_dims_of(x), at = lam_dims_of(indices);
    int64_t dims[2 * LAM_INNER_RANK];
    int rank = 0;
    if (!lam__scope_peek(x) || !lam__scope_peek(indices) || !lam__scope_peek(updates)) return updates;
    for (int i = 0; i < axis; i++) dims[rank++] = own.dims[i];
    for (int i = 0; i < at.rank; i++) dims[rank++] = at.dims[i];
    for (int i = axis + 1; i < own.rank; i++) dims[rank++] = own.dims[i];
    lam_dims given = lam_dims_of(updates);
    lam_tensor *cast = lam_cast(updates, lam_dtype_of(x));
    for (int i = 0, lead = rank - given.rank; i < given.rank;
         i++) /* what does not fit is for the shape rule to refuse */
        if (lead < 0 || (given.dims[i] != 1 && given.dims[i] != dims[lead + i])) return cast;
    return lam_broadcast_to(cast, (lam_dims){rank, dims});
}

lam_tensor *lam_scatter_add_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                 lam_index_mode mode) {
    index_params p;
    if (!params_for(&lam__row_scatter_add, x, axis, mode, &p)) return lam__axes_failed(x);
    indices = integers(indices);
    return apply_scatter_add(x, indices, fitted(x, indices, updates, p.axis), &p);
}

lam_tensor *lam_scatter_add(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    return lam_scatter_add_mode(x, indices, updates, axis, LAM_INDEX_ERROR);
}

lam_tensor *lam_index_inverse(lam_tensor *indices, int64_t n) {
    const char *name = lam__row_index_inverse.name;
    if (lam__scope_peek(indices) && lam_rank(indices) == 0)
        return lam__axes_fail(name, indices, LAM_ERR_RANK, "no axis");
    if (n < 0) return lam__axes_fail(name, indices, LAM_ERR_VALUE, "there cannot be %lld places", (long long)n);
    return lam__apply1(&lam__row_index_inverse, &n, sizeof n, integers(indices));
}

/* Each place takes the update that names it last, or keeps what it has. */
lam_tensor *lam_put(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis) {
    index_params p;
    if (!params_for(&lam__row_scatter_add, x, axis, LAM_INDEX_FILL, &p)) return lam__axes_failed(x);
    indices = integers(indices);
    updates = fitted(x, indices, updates, p.axis);
    lam_tensor *in[3] = {x, indices, updates}, *failed;
    lam_value *values[3];
    if (!lam__scope_operands("put", 3, in, values, &failed) || lam_failed(updates)) return failed;
    lam_dims own = lam_dims_of(x);
    int64_t rows[LAM_INNER_RANK], count = lam_size(indices);
    for (int i = 0; i < own.rank; i++) rows[i] = i == p.axis ? count : own.dims[i];
    lam_tensor *last = lam_index_inverse(lam__apply_reshape(indices, 1, &count), own.dims[p.axis]);
    lam_tensor *taken = apply_take(lam__apply_reshape(updates, own.rank, rows), last, &p);
    return lam_where(spread(lam_ge(last, 0), own.rank - 1 - p.axis), taken, x);
}

lam_tensor *lam_one_hot(lam_tensor *indices, int64_t n, lam_dtype dtype) {
    if (!lam__scope_peek(indices)) return lam__axes_fail("one_hot", indices, LAM_ERR_NULL, "no tensor");
    if (n < 0) return lam__axes_fail("one_hot", indices, LAM_ERR_VALUE, "there cannot be %lld places", (long long)n);
    if (lam__dtype_is_float((int)lam_dtype_of(indices)) || lam_dtype_of(indices) == LAM_BOOL)
        return lam__axes_fail("one_hot", indices, LAM_ERR_DTYPE, "the indices are no integers");
    lam_tensor *places = lam_arange(lam_ctx_of(indices), LAM_I64, 0, (double)n, 1);
    return lam_cast(lam_eq(lam_expand_dims(indices, -1), places), dtype);
}
