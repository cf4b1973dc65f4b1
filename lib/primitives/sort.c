/* Sorting. The primitives give orders and places, which are integers and have no derivative; sorted elements are taken
 * from the operand by them, so that their derivative is that of taking: the cotangent goes back to where each element
 * came from. Orders are stable, so ties have one answer and gradients at them do too; NaN is beyond all else. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"
#include "lib/primitives/scan.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* ---- argsort ----------------------------------------------------------------------------------------------------- */

typedef lam__sort_params sort_params;

/* The value of `count` that stands for the whole axis. */
enum { ALL = -1 };

/* `count` lets top_k ask for the front of an order, which the kernel then need not finish. */
static lam_tensor *apply_argsort(lam_tensor *x, int axis, bool descending, int64_t count) {
    sort_params p = {axis, descending, count};
    return lam__apply1(&lam__row_argsort, &p, sizeof p, x);
}

/* Places and orders are i64 whatever is sorted. Of the sorted axis only `count` places where not all are wanted. */
static lam_status shape_argsort(const lam_call_site *call, lam_shape out[]) {
    const sort_params *p = call->params;
    lam__apply_shape_as(call->in[0], LAM_I64, out);
    if (p->count != ALL) out->dims[p->axis] = p->count;
    return LAM_OK;
}

/* The kernel's scratch comes as a value, which the pool gives and takes back like any; its size depends on the threads.
 * Without elements no scratch is needed, though the axis itself may be long. */
static lam_status eval_argsort(const lam_call_site *call, lam_value *const out[]) {
    const sort_params *p = call->params;
    lam__lanes s = lam__scan_lanes(call->in[0], p->axis);
    int64_t bytes = (int64_t)(out[0]->count ? lam__parallel_argsort_bytes(call->ctx->team, &s) : 0);
    lam_value *x = lam__value_contiguous(call->in[0]), *work = x ? lam__value_new(call->ctx, LAM_U8, 1, &bytes) : NULL;
    if (work && out[0]->count)
        lam__parallel_argsort(call->ctx->team, (lam_dtype)x->dtype, &s, p->descending, out[0]->dims[p->axis], x->data,
                              out[0]->data, work->data);
    lam_status status = work ? LAM_OK : LAM_ERR_MEMORY;
    lam__value_release(x);
    lam__value_release(work);
    return status;
}

/* A batch in front moves the axis by one. The front of the order is one of each lane, whatever lanes there are. */
static void batch_argsort(const lam_rule *r, lam_tensor *out[]) {
    const sort_params *p = r->params;
    out[0] = apply_argsort(r->in[0], p->axis + 1, p->descending, p->count);
}

/* Integers have no derivative: the rules of taking carry it. No elements are kept for it, since the take keeps the
 * order. */
const lam_primitive lam__row_argsort = {
    .name = "argsort",
    .inputs = 1,
    .shape = shape_argsort,
    .eval = eval_argsort,
    .batch = batch_argsort,
    .layout = "i axis, i descending, l count",
};

/* Ascending, with NaN last. */
lam_tensor *lam_argsort(lam_tensor *x, int axis) {
    if (!lam__apply_axis(lam__row_argsort.name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    return apply_argsort(x, axis, false, ALL);
}

/* One order serves value and derivative: the elements are taken by it, and the way back is the transpose of that. */
lam_tensor *lam_sort(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("sort", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    return lam__scope_only(lam_take_along_axis(x, apply_argsort(x, axis, false, ALL), axis), since);
}

/* The last key counts most, as in NumPy. By the key that counts least first: equal elements keep the order that they
 * have then, because each sort is stable. */
lam_tensor *lam_lexsort(lam_list keys, int axis) {
    lam_tensor *first = keys.count && keys.items ? keys.items[0] : NULL;
    if (!first) return lam__axes_fail("lexsort", first, LAM_ERR_ARITY, "there are no keys");
    uint64_t since = lam__scope_now(first);
    if (!lam__apply_axis("lexsort", first, lam_rank(first), &axis)) return lam__axes_failed(first);
    /* The first key alone is an order; each further one sorts what the order so far gives. */
    lam_tensor *order = lam_argsort(first, axis);
    lam_dims own = lam_dims_of(first);
    for (size_t i = 1; i < keys.count && !lam_failed(order); i++) {
        lam_tensor *key = keys.items[i];
        lam_dims other = lam_dims_of(key);
        bool same = other.rank == own.rank;
        for (int k = 0; same && k < own.rank; k++) same = other.dims[k] == own.dims[k];
        if (!same && lam__scope_peek(key) && lam__scope_peek(first))
            return lam__matrices_fail("lexsort", 2, (lam_tensor *[]){first, key}, LAM_ERR_SHAPE,
                                      "all keys have the same dims", "key %zu has other dims than the first", i);
        lam_tensor *moved = lam_argsort(lam_take_along_axis(key, order, axis), axis);
        order = lam_take_along_axis(order, moved, axis);
    }
    return lam__scope_only(order, since);
}

/* NaN first; equal elements keep their order, which a reversed ascending order would turn. */
lam_tensor *lam_argsort_descending(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("argsort_descending", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    return lam__scope_named(apply_argsort(x, axis, true, ALL), since);
}

/* Not lam_sort reversed: that would turn the order of equal elements, and so the places of their gradients. */
lam_tensor *lam_sort_descending(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("sort_descending", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    return lam__scope_only(lam_take_along_axis(x, apply_argsort(x, axis, true, ALL), axis), since);
}

/* The k first of the descending order. The order is needed for the elements, so it is a result for free; without a
 * place for it the scope frees it here. */
lam_tensor *lam_top_k(lam_tensor *x, int64_t k, lam_tensor **indices) {
    uint64_t since = lam__scope_now(x);
    int axis = -1;
    lam_tensor *order = lam__axes_failed(x);
    if (lam__apply_axis("top_k", x, lam_rank(x), &axis)) {
        int64_t n = lam_dim(x, axis);
        if (lam__scope_peek(x) && (k < 0 || k > n))
            /* Without a tensor nothing is said of k: the row names what x is. */
            lam__axes_fail_with("top_k", x, LAM_ERR_VALUE, "k is 0 up to the size of the last axis",
                                "%lld of %lld elements", (long long)k, (long long)n);
        else order = apply_argsort(x, axis, true, k);
    }
    if (indices) *indices = order;
    lam_tensor *taken = lam_failed(order) ? order : lam_take_along_axis(x, order, axis);
    lam__scope_only_these(indices ? 2 : 1, (lam_tensor *const[]){taken, order}, since);
    return taken;
}

/* ---- searchsorted: sorted is [batch..., n], values are [batch..., m] --------------------------------------------- */

/* `right` says on which side of equal elements the place is. */
static lam_tensor *apply_searchsorted(lam_tensor *sorted, lam_tensor *values, int32_t right) {
    lam_tensor *in[2] = {sorted, values};
    return lam__apply(&lam__row_searchsorted, &right, sizeof right, 2, in);
}

/* Neither operand broadcasts here: the public form has one vector, and vmap repeats. */
static lam_status shape_searchsorted(const lam_call_site *call, lam_shape out[]) {
    const lam_value *sorted = call->in[0], *values = call->in[1];
    bool fits = sorted->rank == values->rank && sorted->rank > 0 && sorted->dtype == values->dtype;
    for (int i = 0; fits && i + 1 < sorted->rank; i++) fits = sorted->dims[i] == values->dims[i];
    if (!fits) return lam__error_call(call, LAM_ERR_SHAPE, NULL, "all axes but the last, and the dtypes, must agree");
    lam__apply_shape_as(values, LAM_I64, out);
    return LAM_OK;
}

/* The last axis is searched and everything before it is one batch. Threads share the values, each of which is searched
 * for alone. */
static lam_status eval_searchsorted(const lam_call_site *call, lam_value *const out[]) {
    int last = out[0]->rank - 1;
    lam_value *sorted = lam__value_contiguous(call->in[0]);
    lam_value *values = sorted ? lam__value_contiguous(call->in[1]) : NULL;
    lam__lanes s = lam__scan_lanes(out[0], last);
    bool right = *(const int32_t *)call->params;
    if (values)
        lam__parallel_searchsorted(call->ctx->team, (lam_dtype)values->dtype, s.outer, sorted->dims[last], s.n, right,
                                   sorted->data, values->data, out[0]->data);
    lam_status status = values ? LAM_OK : LAM_ERR_MEMORY;
    lam__value_release(sorted);
    lam__value_release(values);
    return status;
}

/* Both operands get the batch axis, since the row pairs them one to one. */
static void batch_searchsorted(const lam_rule *r, lam_tensor *out[]) {
    lam_tensor *sorted = lam__rules_with_batch(r, 0);
    out[0] = apply_searchsorted(sorted, lam__rules_with_batch(r, 1), *(const int32_t *)r->params);
}

/* Places are integers, so there is no derivative. */
const lam_primitive lam__row_searchsorted = {
    .name = "searchsorted",
    .inputs = 2,
    .shape = shape_searchsorted,
    .eval = eval_searchsorted,
    .batch = batch_searchsorted,
    .layout = "i right",
};

/* Any number of values in one vector: they are flattened to the row's [m] and take their dims back afterwards. Both are
 * brought to one dtype first, so that comparisons mean what they would between single elements. */
lam_tensor *lam_searchsorted(lam_tensor *sorted, lam_tensor *values, bool right) {
    uint64_t since = lam__scope_now(sorted);
    const char *name = lam__row_searchsorted.name;
    /* The row names what is no tensor. */
    if (!lam__scope_peek(sorted) || !lam__scope_peek(values)) return apply_searchsorted(sorted, values, right);
    if (lam_rank(sorted) != 1) return lam__axes_fail(name, sorted, LAM_ERR_RANK, "the sorted operand is not a vector");
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(sorted), (int)lam_dtype_of(values));
    /* In row-major order, as the reshape back puts them. */
    int64_t count = lam_size(values);
    lam_dims own = lam_dims_of(values);
    lam_tensor *row = lam__apply_reshape(lam_cast(values, dtype), 1, &count);
    return lam__scope_only(
        lam__apply_reshape(apply_searchsorted(lam_cast(sorted, dtype), row, right), own.rank, own.dims), since);
}
