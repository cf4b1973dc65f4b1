/* Tensors put together along an axis: concatenate. Its parameters say whether that axis is one of the parts' or a new
 * one (stack), so that stacking makes no views of its operands and its way back is one unstack. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef struct join_params {
    int32_t axis;  /* of the result */
    int32_t fresh; /* the parts do not have it */
} join_params;

static lam_tensor *apply_join(const join_params *p, size_t n, lam_tensor *const in[]) {
    return lam__apply(&lam__row_concatenate, p, sizeof *p, n, in);
}

static lam_status shape_concatenate(const lam_call_site *call, lam_shape out[]) {
    const join_params *p = call->params;
    const lam_value *first = call->in[0];
    out->dtype = (lam_dtype)first->dtype;
    out->rank = first->rank + (p->fresh != 0);
    for (int i = 0; i < out->rank; i++) out->dims[i] = i == p->axis ? 0 : first->dims[i - (p->fresh && i > p->axis)];
    for (int n = 0; n < call->inputs; n++) {
        const lam_value *x = call->in[n];
        bool fits = x->rank == first->rank && x->dtype == first->dtype;
        for (int i = 0; fits && i < x->rank; i++) fits = (i == p->axis && !p->fresh) || x->dims[i] == first->dims[i];
        if (!fits)
            return lam__error_call(call, LAM_ERR_SHAPE,
                                   p->fresh ? "all must have one shape" : "all but the joined axis must agree",
                                   "operand %d does not fit operand 0 on axis %d", n, p->axis);
        out->dims[p->axis] += p->fresh ? 1 : x->dims[p->axis];
    }
    return LAM_OK;
}

/* NOTE [joined columns]
 * Parts that are narrow on the joined axis leave gaps between what they write, and long parts would go through all of
 * the result's memory once each. So they are written in turns, a block of the axis before at a time that the first
 * cache holds. */
enum { JOINED_BYTES = 1 << 14 };

/* `count` places from `first` on of the axis before the joined one go to `to`, which lies in out. */
static void copy_block(const join_params *p, const lam_value *x, int64_t first, int64_t count, const lam_value *out,
                       char *to) {
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK], item = (int64_t)lam__dtype_bytes(x->dtype);
    int before = p->axis - 1;
    for (int i = 0; i < x->rank; i++) {
        dims[i] = i == before ? count : x->dims[i];
        strides[i] = out->strides[i + (p->fresh && i >= p->axis)];
    }
    const char *from = (const char *)x->data + (before >= 0 ? first * x->strides[before] * item : 0);
    lam__parallel_copy(lam__value_team(x), x->rank, dims, (lam_dtype)x->dtype, to, strides, (lam_dtype)x->dtype, from,
                       x->strides);
}

/* The step from row to row of a part that is one column, `along` the only other axis or all of them; -1: none. */
static int64_t column_step(const join_params *p, const lam_value *x, int64_t rows) {
    int along = p->axis - 1;
    if (!p->fresh && x->dims[p->axis] != 1) return -1;
    if (along >= 0 && x->dims[along] == rows) return x->strides[along];
    return x->contiguous ? 1 : -1;
}

/* Parts that are single columns go side by side at once; false: they are not, or are too many. */
static bool join_columns(const lam_call_site *call, const join_params *p, lam_value *out) {
    enum { MOST = 64 };
    const void *column[MOST];
    int64_t step[MOST], parts = call->inputs, rows = out->count / parts;
    if (parts > MOST || out->dims[p->axis] != parts || out->strides[p->axis] != 1 || rows < 2) return false;
    for (int n = 0; n < parts; n++) {
        column[n] = call->in[n]->data;
        step[n] = column_step(p, call->in[n], rows);
        if (step[n] < 0) return false;
    }
    return lam__kernels_columns((lam_dtype)out->dtype, rows, parts, column, step, out->data, parts);
}

static lam_status eval_concatenate(const lam_call_site *call, lam_value *const out[]) {
    const join_params *p = call->params;
    int axis = p->axis, before = axis - 1;
    int64_t item = (int64_t)lam__dtype_bytes(out[0]->dtype), row = axis ? out[0]->strides[before] * item : 0;
    int64_t rows = axis ? out[0]->dims[before] : 1, block = row && row < JOINED_BYTES ? JOINED_BYTES / row : rows;
    if (!out[0]->count || join_columns(call, p, out[0])) return LAM_OK;
    for (int64_t first = 0; first < rows; first += block) {
        char *at = (char *)out[0]->data + first * row;
        for (int n = 0; n < call->inputs; n++) {
            const lam_value *x = call->in[n];
            int64_t count = first + block < rows ? block : rows - first;
            if (x->count) copy_block(p, x, first, count, out[0], at);
            at += (p->fresh ? 1 : x->dims[axis]) * out[0]->strides[axis] * item;
        }
    }
    return LAM_OK;
}

static void vjp_concatenate(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const join_params *p = r->params;
    int64_t at = 0;
    if (p->fresh) {
        lam_unstack(g[0], p->axis, gx, (size_t)r->inputs);
        return;
    }
    for (int n = 0; n < r->inputs; n++) {
        int64_t size = lam_dim(r->in[n], p->axis);
        if (r->needs[n]) gx[n] = lam_slice_axis(g[0], p->axis, at, at + size);
        at += size;
    }
}

static void batch_concatenate(const lam_rule *r, lam_tensor *out[]) {
    join_params p = *(const join_params *)r->params;
    lam_tensor **in = lam__apply_room(r->ctx, (size_t)r->inputs);
    p.axis++;
    for (int n = 0; in && n < r->inputs; n++) in[n] = lam__rules_with_batch(r, n);
    out[0] = in ? apply_join(&p, (size_t)r->inputs, in) : &r->ctx->failed;
}

const lam_primitive lam__row_concatenate = {
    .name = "concatenate",
    .inputs = LAM_VARIADIC,
    .complex = true,
    .derivative = LAM_LINEAR,
    .linear = ~0u,
    .saves = LAM_SAVE_TYPES,
    .shape = shape_concatenate,
    .eval = eval_concatenate,
    .vjp = vjp_concatenate,
    .batch = batch_concatenate,
};

/* The tensors in their common dtype, which room[] gets. */
static void promote(lam_list list, lam_tensor **room) {
    int dtype = lam_dtype_of(list.items[0]);
    for (size_t i = 1; i < list.count; i++) dtype = lam__dtype_promote(dtype, (int)lam_dtype_of(list.items[i]));
    for (size_t i = 0; i < list.count; i++)
        room[i] =
            lam_dtype_of(list.items[i]) == (lam_dtype)dtype ? list.items[i] : lam_cast(list.items[i], (lam_dtype)dtype);
}

/* The first context among the operands. */
static lam_ctx *context_of(lam_list list) {
    for (size_t i = 0; list.items && i < list.count; i++)
        if (list.items[i]) return list.items[i]->ctx;
    return &lam__context_failed;
}

lam_tensor *lam_concatenate(lam_list list, int axis) {
    uint64_t since = lam__scope_now(list.count && list.items ? list.items[0] : NULL);
    lam_ctx *ctx = context_of(list);
    if (!list.count || !list.items) return lam_fail(ctx, LAM_ERR_ARITY, "concatenate: no tensors given");
    lam_tensor *first = list.items[0];
    if (lam__scope_peek(first) && lam_rank(first) == 0)
        return lam__axes_fail("concatenate", first, LAM_ERR_RANK, "rank 0 has no axis to join; use lam_stack");
    if (!lam__apply_axis("concatenate", first, lam_rank(first), &axis)) return lam__axes_failed(first);
    lam_tensor **in = lam__apply_room(ctx, list.count);
    if (!in) return &ctx->failed;
    promote(list, in);
    const join_params p = {.axis = axis};
    return lam__scope_only(apply_join(&p, list.count, in), since);
}

lam_tensor *lam_stack(lam_list list, int axis) {
    uint64_t since = lam__scope_now(list.count && list.items ? list.items[0] : NULL);
    lam_ctx *ctx = context_of(list);
    if (!list.count || !list.items) return lam_fail(ctx, LAM_ERR_ARITY, "stack: no tensors given");
    if (!lam__apply_axis("stack", list.items[0], lam_rank(list.items[0]) + 1, &axis))
        return lam__axes_failed(list.items[0]);
    lam_tensor **in = lam__apply_room(ctx, list.count);
    if (!in) return &ctx->failed;
    promote(list, in);
    const join_params p = {.axis = axis, .fresh = 1};
    return lam__scope_only(apply_join(&p, list.count, in), since);
}
