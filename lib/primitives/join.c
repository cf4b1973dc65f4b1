/* Tensors put together along an axis: concatenate. Its parameters say whether that axis is one of the parts' or a new
 * one (stack), so that stacking makes no views of its operands and its way back is one unstack. Most of this file is
 * how to write parts that are narrow or lie with gaps: of several ways, each says whether it applies, and the last
 * always does. */
#include "lib/primitives/join.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/places.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__join_params join_params;

/* Parameters have no list at their end: they are copied whole. */
static lam_tensor *apply_join(const join_params *p, size_t n, lam_tensor *const in[]) {
    return lam__apply(&lam__row_concatenate, p, sizeof *p, n, in);
}

/* The message names the first operand that does not fit the first of all. */
static lam_status shape_concatenate(const lam_call_site *call, lam_shape out[]) {
    const join_params *p = call->params;
    const lam_value *first = call->in[0];
    out->dtype = (lam_dtype)first->dtype;
    out->rank = first->rank + (p->fresh != 0);
    /* A joined axis begins with nothing and grows with each part; a new one is skipped in the dims of the parts. */
    for (int i = 0; i < out->rank; i++) out->dims[i] = i == p->axis ? 0 : first->dims[i - (p->fresh && i > p->axis)];
    for (int n = 0; n < call->inputs; n++) {
        const lam_value *x = call->in[n];
        bool fits = x->rank == first->rank && x->dtype == first->dtype;
        for (int i = 0; fits && i < x->rank; i++) fits = (i == p->axis && !p->fresh) || x->dims[i] == first->dims[i];
        if (!fits && p->fresh)
            return lam__error_call(call, LAM_ERR_SHAPE, "all must have one shape",
                                   "operand %d cannot be stacked with operand 0 along a new axis %d", n, p->axis);
        if (x->rank != first->rank)
            return lam__error_call(call, LAM_ERR_SHAPE, "lam_expand_dims gives it another axis, lam_stack all of them",
                                   "operand %d has rank %d, operand 0 has rank %d", n, x->rank, first->rank);
        if (!fits)
            return lam__error_call(call, LAM_ERR_SHAPE, "all but the joined axis must agree",
                                   "operand %d does not fit operand 0 on axis %d", n, p->axis);
        out->dims[p->axis] += p->fresh ? 1 : x->dims[p->axis];
    }
    return LAM_OK;
}

/* Parts that are narrow on the joined axis leave gaps between what they write, and long parts would go through all of
 * the result's memory once each. So they are written in turns, a block of the axis before at a time that the first
 * cache holds. */
enum { JOINED_BYTES = LAM__ROWS_HELD, GROUP = 128 };

/* `count` places from `first` on of the axis before the joined one go to `at`, which lies in the place. The general
 * way: any strides on either side. Each side has its own strides, so that the copy may go into a part of another
 * tensor. */
static void copy_block(const join_params *p, const lam_value *x, int64_t first, int64_t count,
                       const lam__join_place *to, char *at) {
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK], item = (int64_t)lam__dtype_bytes(x->dtype);
    int before = p->axis - 1;
    for (int i = 0; i < x->rank; i++) {
        dims[i] = i == before ? count : x->dims[i];
        strides[i] = to->strides[i + (p->fresh && i >= p->axis)];
    }
    const char *from = (const char *)x->data + (before >= 0 ? first * x->strides[before] * item : 0);
    lam__parallel_copy(lam__value_team(x), x->rank, dims, (lam_dtype)x->dtype, at, strides, (lam_dtype)x->dtype, from,
                       x->strides);
}

/* The step from row to row of a part that is one column, `along` the only other axis or all of them; -1: none. A part
 * that is not stacked but joined is a column only if it has one element on that axis. */
static int64_t column_step(const join_params *p, const lam_value *x, int64_t rows) {
    int along = p->axis - 1;
    /* Of what is stacked every part has one place on the new axis. */
    if (!p->fresh && x->dims[p->axis] != 1) return -1;
    if (along >= 0 && x->dims[along] == rows) return x->strides[along];
    return x->contiguous ? 1 : -1;
}

/* Columns go to a far place by way of a block that the first cache holds, whose lines are then written whole. A block
 * of as many rows as a line has items, or of a multiple, is so many lines. See lam__join_place: it is set by in-place
 * forms alone, whose tensor is not read before it is full. */
static void columns_far(lam_dtype dtype, int64_t rows, int64_t n, const void *column[], const int64_t step[],
                        char *data) {
    _Alignas(64) char block[JOINED_BYTES];
    const int64_t item = (int64_t)lam__dtype_bytes(dtype), fit = JOINED_BYTES / (n * item);
    const int64_t line = 64 / item, some = fit < line ? fit : fit - fit % line;
    for (int64_t first = 0; first < rows; first += some) {
        const int64_t count = rows - first < some ? rows - first : some;
        lam__kernels_columns(dtype, count, n, column, step, block, n);
        lam__kernels_stream((size_t)(count * n * item), data + first * n * item, block);
        for (int64_t j = 0; j < n; j++) column[j] = (const char *)column[j] + count * step[j] * item;
    }
    lam__kernels_stream_end();
}

/* Parts that are single columns go side by side, GROUP at once; false: they are not columns. Such are the parts of a
 * stack of numbers along the last axis under vmap: written part by part, each line of the result would be fetched once
 * for every part. */
static bool join_columns(const join_params *p, int parts, lam_value *const in[], const lam__join_place *to) {
    const void *column[GROUP];
    int64_t step[GROUP], rows = 1, row = parts;
    const lam_dtype dtype = (lam_dtype)in[0]->dtype;
    for (int i = 0; i < to->rank; i++) rows *= i == p->axis ? 1 : to->dims[i];
    if (p->axis > 0 && to->dims[p->axis - 1] == rows) row = to->strides[p->axis - 1];
    else if (!to->dense) return false;
    if (to->dims[p->axis] != parts || to->strides[p->axis] != 1 || rows < 2) return false;
    /* With gaps between its lines a place is columns only where one axis has all of the rows. */
    for (int n = 0; n < parts; n++)
        if (column_step(p, in[n], rows) < 0) return false;
    /* Called with nothing to do, the kernel says whether it knows the dtype; the place is looked at only from here
     * on. */
    if (!lam__kernels_columns(dtype, 0, 0, NULL, NULL, to->data, row)) return false; /* not of this dtype */
    for (int first = 0; first < parts; first += GROUP) {
        const int some = parts - first < GROUP ? parts - first : GROUP;
        char *at = to->data + first * (int64_t)lam__dtype_bytes(dtype);
        for (int n = 0; n < some; n++) {
            column[n] = in[first + n]->data;
            step[n] = column_step(p, in[first + n], rows);
        }
        if (to->far && row == some) columns_far(dtype, rows, some, column, step, at);
        else lam__kernels_columns(dtype, rows, some, column, step, at, row);
    }
    return true;
}

/* A stack along a new last axis of parts that lie column by column themselves, as vmap gives them along its second
 * axis: each is as many columns as it has. False: they are not so, or are too many. Stride by stride they are the
 * columns of the result, in the order of both axes. */
static bool join_blocks(const join_params *p, int parts, lam_value *const in[], const lam__join_place *to) {
    const void *column[GROUP];
    int64_t step[GROUP];
    const lam_dtype dtype = (lam_dtype)in[0]->dtype;
    /* The one form that vmap gives: other ranks come here as it, or not at all. */
    if (!p->fresh || p->axis != 2 || to->rank != 3 || to->dims[1] > GROUP / parts || to->dims[2] != parts) return false;
    if (to->strides[2] != 1 || to->strides[1] != parts) return false;
    if (!lam__kernels_columns(dtype, 0, 0, NULL, NULL, to->data, 0)) return false; /* not of this dtype */
    const int64_t rows = to->dims[0], columns = to->dims[1] * parts, row = to->strides[0];
    for (int64_t c = 0; c < columns; c++) {
        const lam_value *x = in[c % parts];
        column[c] = (const char *)x->data + c / parts * x->strides[1] * (int64_t)lam__dtype_bytes(dtype);
        step[c] = x->strides[0];
    }
    /* Lines that are not whole cannot be written past the caches. */
    if (to->far && row == columns) columns_far(dtype, rows, columns, column, step, to->data);
    else lam__kernels_columns(dtype, rows, columns, column, step, to->data, row);
    return true;
}

/* A part as rows, of which there are as many as the axes before the joined one have places; false: its items have gaps
 * or its rows no common step. The items of a row are those of the joined axis and all behind it. */
static bool rows_of_part(const join_params *p, const lam_value *x, int64_t rows, lam__rows *r) {
    int64_t dense = 1, size = 1;
    /* `rows` is no 0 here: a place without elements has been left out. */
    *r = (lam__rows){.from = x->data, .width = x->count / rows};
    for (int i = x->rank - 1; i >= 0; i--) {
        if (x->dims[i] == 1) continue;
        if (i >= p->axis) {
            if (x->strides[i] != dense) return false;
            dense *= x->dims[i];
        } else {
            if (size == 1) r->step = x->strides[i];
            else if (x->strides[i] != r->step * size) return false;
            size *= x->dims[i];
        }
    }
    return true;
}

/* Parts of many short rows, GROUP of them at once; see NOTE [joined rows] in copy.c. An item is an element of the
 * result's dtype. */
static bool join_rows(const join_params *p, int parts, lam_value *const in[], const lam__join_place *to) {
    lam__rows part[GROUP];
    int64_t rows = 1, row = 1, item = (int64_t)lam__dtype_bytes(in[0]->dtype);
    for (int i = 0; i < to->rank; i++)
        if (i < p->axis) rows *= to->dims[i];
        else row *= to->dims[i];
    /* Rows as long as the block gain nothing: there a copy of each part is as fast. */
    if (!to->dense || rows < 2 || row * item >= JOINED_BYTES) return false;
    for (int n = 0; n < parts; n++)
        if (!rows_of_part(p, in[n], rows, &part[0])) return false;
    char *at = to->data;
    for (int first = 0; first < parts; first += GROUP) {
        const int some = parts - first < GROUP ? parts - first : GROUP;
        int64_t width = 0;
        for (int n = 0; n < some; width += part[n++].width) rows_of_part(p, in[first + n], rows, &part[n]);
        if (!lam__kernels_rows((lam_dtype)in[0]->dtype, rows, some, part, at, row)) return false;
        at += width * item;
    }
    return true;
}

/* The fastest way that applies; all of them give the same bytes. */
static void join(const join_params *p, int parts, lam_value *const in[], const lam__join_place *to) {
    int axis = p->axis, before = axis - 1;
    int64_t item = (int64_t)lam__dtype_bytes(in[0]->dtype), row = axis ? to->strides[before] * item : 0;
    /* A block is so many rows of the result as the first cache holds; without gaps of rows there is one block. */
    int64_t rows = axis ? to->dims[before] : 1, block = row > 0 && row < JOINED_BYTES ? JOINED_BYTES / row : rows;
    if (join_columns(p, parts, in, to) || join_rows(p, parts, in, to) || join_blocks(p, parts, in, to)) return;
    for (int64_t first = 0; first < rows; first += block) {
        char *at = to->data + first * row;
        for (int n = 0; n < parts; n++) {
            const lam_value *x = in[n];
            int64_t count = first + block < rows ? block : rows - first;
            if (x->count) copy_block(p, x, first, count, to, at);
            at += (p->fresh ? 1 : x->dims[axis]) * to->strides[axis] * item;
        }
    }
}

/* The result has no gaps; the other user of `join` writes into a part of a tensor that has. */
static lam_status eval_concatenate(const lam_call_site *call, lam_value *const out[]) {
    const lam__join_place all = {out[0]->data, out[0]->rank, out[0]->dims, out[0]->strides, .dense = true};
    if (out[0]->count) join(call->params, call->inputs, call->in, &all);
    return LAM_OK;
}

/* The parts were checked by the caller: a kernel's view of a stack has no messages. */
void lam__join_stack(int axis, int parts, lam_value *const in[], const lam__join_place *to) {
    const join_params p = {.axis = axis, .fresh = 1};
    if (in[0]->count) join(&p, parts, in, to);
}

/* For what has the row's parameters at hand, as a plan has; elements are there, or the caller leaves it out. */
void lam__join_parts(const void *params, int parts, lam_value *const in[], const lam__join_place *to) {
    join(params, parts, in, to);
}

/* The transpose of putting together is taking apart: views of the cotangent. */
static void vjp_concatenate(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const join_params *p = r->params;
    int64_t at = 0;
    if (p->fresh) {
        lam_unstack(g[0], p->axis, gx, (size_t)r->inputs);
        return;
    }
    for (int n = 0; n < r->inputs; n++) {
        /* Sizes come from the types of parts, also of those that want no gradient (LAM_SAVE_TYPES). */
        int64_t size = lam_dim(r->in[n], p->axis);
        if (r->needs[n]) gx[n] = lam_slice_axis(g[0], p->axis, at, at + size);
        at += size;
    }
}

/* Parts without a batch axis are repeated, as all must have one; a broadcast is not copied before it is read. */
static void batch_concatenate(const lam_rule *r, lam_tensor *out[]) {
    join_params p = *(const join_params *)r->params;
    lam_tensor **in = lam__apply_room(r->ctx, (size_t)r->inputs);
    /* The axis is one of the result, in which the batch axis comes first. */
    p.axis++;
    for (int n = 0; in && n < r->inputs; n++) in[n] = lam__rules_with_batch(r, n);
    out[0] = in ? apply_join(&p, (size_t)r->inputs, in) : &r->ctx->failed;
}

/* Linear in all operands, however many (bit 31 stands for the rest). Dims of parts without a gradient are needed to
 * skip them. */
const lam_primitive lam__row_concatenate = {
    .name = "concatenate",
    .inputs = LAM_VARIADIC,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = ~0u,
    .saves = LAM_SAVE_TYPES,
    .shape = shape_concatenate,
    .eval = eval_concatenate,
    .vjp = vjp_concatenate,
    .batch = batch_concatenate,
    .layout = "i axis, i fresh",
};

/* The tensors in their common dtype, which room[] gets. Casts are recorded one by one, and each gradient comes back in
 * the dtype of its part. What is no tensor has the dtype of none, and is named by the row. */
static void promote(lam_list list, lam_tensor **room) {
    int dtype = lam_dtype_of(list.items[0]);
    for (size_t i = 1; i < list.count; i++) dtype = lam__dtype_promote(dtype, (int)lam_dtype_of(list.items[i]));
    for (size_t i = 0; i < list.count; i++)
        room[i] =
            lam_dtype_of(list.items[i]) == (lam_dtype)dtype ? list.items[i] : lam_cast(list.items[i], (lam_dtype)dtype);
}

/* The first context among the operands. The list may hold NULL, which the checks that follow report. */
static lam_ctx *context_of(lam_list list) {
    for (size_t i = 0; list.items && i < list.count; i++)
        if (list.items[i]) return list.items[i]->ctx;
    return &lam__context_failed;
}

/* The axis is checked against the first tensor; whether the others have it is for the shape rule, which names them. */
lam_tensor *lam_concatenate(lam_list list, int axis) {
    uint64_t since = lam__scope_now(list.count && list.items ? list.items[0] : NULL);
    lam_ctx *ctx = context_of(list);
    if (!list.count || !list.items) return lam__error_fail(ctx, LAM_ERR_ARITY, "concatenate: no tensors given");
    lam_tensor *first = list.items[0];
    if (lam__scope_peek(first) && lam_rank(first) == 0)
        return lam__axes_fail("concatenate", first, LAM_ERR_RANK, "rank 0 has no axis to join; use lam_stack");
    if (!lam__apply_axis("concatenate", first, lam_rank(first), &axis)) return lam__axes_failed(first);
    /* Of the innermost scope, so that lam__scope_only frees it with the rest. */
    lam_tensor **in = lam__apply_room(ctx, list.count);
    if (!in) return &ctx->failed;
    promote(list, in);
    const join_params p = {.axis = axis};
    return lam__scope_only(apply_join(&p, list.count, in), since);
}

/* The new axis may stand behind the last, so it is resolved against one axis more. */
lam_tensor *lam_stack(lam_list list, int axis) {
    uint64_t since = lam__scope_now(list.count && list.items ? list.items[0] : NULL);
    lam_ctx *ctx = context_of(list);
    if (!list.count || !list.items) return lam__error_fail(ctx, LAM_ERR_ARITY, "stack: no tensors given");
    if (!lam__apply_axis("stack", list.items[0], lam_rank(list.items[0]) + 1, &axis))
        return lam__axes_failed(list.items[0]);
    lam_tensor **in = lam__apply_room(ctx, list.count);
    if (!in) return &ctx->failed;
    promote(list, in);
    const join_params p = {.axis = axis, .fresh = 1};
    return lam__scope_only(apply_join(&p, list.count, in), since);
}
