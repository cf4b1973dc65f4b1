/* Parts of tensors: slice (a view) and its transpose update_slice. Padding, reversing and in-place updates are made of
 * these. Starts are element numbers, already resolved; steps may be negative. Rules see resolved parameters only, so
 * what a user may write (negative numbers, LAM_END, stops beyond the end) is settled once, in resolve. In-place forms
 * write over memory that nobody else sees, and otherwise are update_slice with another value for the handle. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/join.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/dispatch/part.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Whether all of x is taken, in its order. Then pad needs no slice. */
static bool takes_all(lam_tensor *x, const lam__slice_params *p) {
    const lam_dims own = lam__scope_peek(x) ? lam_dims_of(x) : (lam_dims){-1, NULL};
    bool all = own.rank == p->rank;
    for (int i = 0; i < own.rank && all; i++) all = p->at[i].count == own.dims[i] && p->at[i].step == 1;
    return all;
}

/* For parameters that are resolved; the row checks nothing more. The size counts the axes in use only. */
static lam_tensor *apply_slice(lam_tensor *x, const lam__slice_params *p) {
    return lam__apply1(&lam__row_slice, p, lam__slice_bytes(p->rank), x);
}

static lam_tensor *apply_update(lam_tensor *x, lam_tensor *part, const lam__slice_params *p) {
    lam_tensor *in[2] = {x, part};
    return lam__apply(&lam__row_update_slice, p, lam__slice_bytes(p->rank), 2, in);
}

/* The same parameters behind a batch axis, which is taken whole. A batch rule is the same row with one more axis in the
 * parameters. */
static lam__slice_params behind_batch(const lam_rule *r) {
    lam__slice_params q;
    lam__slice_behind_batch(r->params, r->size, &q);
    return q;
}

/* ---- slice ------------------------------------------------------------------------------------------------------- */

/* Counts were made by `resolve` and need no look at x. */
static lam_status shape_slice(const lam_call_site *call, lam_shape out[]) {
    const lam__slice_params *p = call->params;
    out->dtype = (lam_dtype)call->in[0]->dtype;
    out->rank = p->rank;
    for (int i = 0; i < p->rank; i++) out->dims[i] = p->at[i].count;
    return LAM_OK;
}

/* Without elements the offset would lie anywhere, even beyond the memory of the operand, so it is 0 then. */
static bool view_slice(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    const lam__slice_params *p = call->params;
    bool empty = false;
    *offset = 0;
    for (int i = 0; i < out->rank; i++) {
        strides[i] = call->in[0]->strides[i] * p->at[i].step;
        *offset += call->in[0]->strides[i] * p->at[i].start;
        empty = empty || p->at[i].count == 0;
    }
    if (empty) *offset = 0;
    return true;
}

/* The transpose: the cotangent in its place among zeros, which are one element seen everywhere. It is as large as the
 * operand for however small a part. Where cotangents are only added up, the row's view tells where to add this one, and
 * the zeros are not made. */
static void vjp_slice(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = apply_update(lam_zeros_like(r->in[0]), g[0], r->params);
}

/* A view again, of all examples at once. */
static void batch_slice(const lam_rule *r, lam_tensor *out[]) {
    lam__slice_params p = behind_batch(r);
    out[0] = apply_slice(r->in[0], &p);
}

/* A view with a linear rule: nothing is kept of the operand but its dims. */
const lam_primitive lam__row_slice = {
    .name = "slice",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_slice,
    .view = view_slice,
    .vjp = vjp_slice,
    .batch = batch_slice,
    .layout = "#i rank, {l start, l step, l count}[rank]",
};

/* Start, step and count along one axis from what a user writes: negatives from the end, LAM_END, clipped as Python
 * clips. For a negative step the places to stop at are -1 to size - 1, where -1 is before the first element; a user
 * writes LAM_END for it, since -1 means the last element. An empty part starts at 0, so that its offset is one of the
 * operand's. */
static void resolve(int64_t size, int64_t start, int64_t stop, int64_t step, int64_t *first, int64_t *count) {
    int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    if (start == LAM_END) start = step > 0 ? size : size - 1;
    else if (start < 0) start += size;
    start = start < least ? least : start > most ? most : start;
    if (stop == LAM_END) stop = step > 0 ? size : -1;
    else if (stop < 0) stop = stop + size < 0 ? least : stop + size;
    stop = stop < least ? least : stop > most ? most : stop;
    int64_t span = step > 0 ? stop - start : start - stop, by = step > 0 ? step : -step;
    *count = span > 0 ? (span - 1) / by + 1 : 0;
    *first = *count ? start : 0;
}

/* Fills params from the lists of a user; false after recording what is wrong. Lists must be as long as x has axes, but
 * steps may be left out. Checked in the order in which mistakes hide each other. */
static bool collect(const char *operation, lam_tensor *x, lam_dims starts, lam_dims stops, lam_dims steps,
                    lam__slice_params *p) {
    lam_dims own = lam_dims_of(x);
    if (!lam__scope_peek(x)) {
        lam__axes_fail(operation, x, LAM_ERR_NULL, "the operand is NULL");
        return false;
    }
    if (starts.rank != own.rank || stops.rank != own.rank || (steps.rank && steps.rank != own.rank)) {
        lam__axes_fail(operation, x, LAM_ERR_SHAPE, "%d starts, %d stops and %d steps for %d axes", starts.rank,
                       stops.rank, steps.rank, own.rank);
        return false;
    }
    if ((starts.rank && (!starts.dims || !stops.dims)) || (steps.rank && !steps.dims)) {
        lam__axes_fail(operation, x, LAM_ERR_NULL, "a list has a rank but no numbers");
        return false;
    }
    p->rank = own.rank;
    for (int i = 0; i < own.rank; i++) {
        int64_t step = steps.rank ? steps.dims[i] : 1;
        if (step == 0 || step == INT64_MIN) {
            lam__axes_fail(operation, x, LAM_ERR_VALUE, "the step of axis %d is %lld", i, (long long)step);
            return false;
        }
        resolve(own.dims[i], starts.dims[i], stops.dims[i], step, &p->at[i].start, &p->at[i].count);
        p->at[i].step = p->at[i].count > 1 ? step : 1; /* a step that is not taken may be of any size */
    }
    return true;
}

lam_tensor *lam_slice(lam_tensor *x, lam_dims starts, lam_dims stops, lam_dims steps) {
    lam__slice_params p;
    return collect("slice", x, starts, stops, steps, &p) ? apply_slice(x, &p) : lam__axes_failed(x);
}

/* Everything, to be narrowed on one axis. *axis is brought to 0..rank-1 on the way. */
static bool whole(const char *operation, lam_tensor *x, int *axis, lam__slice_params *p) {
    lam_dims own = lam_dims_of(x);
    if (!lam__apply_axis(operation, x, own.rank, axis)) return false;
    p->rank = own.rank;
    for (int i = 0; i < own.rank; i++) {
        p->at[i].start = 0;
        p->at[i].step = 1;
        p->at[i].count = own.dims[i];
    }
    return true;
}

/* An unusable x goes to the row, for which dispatch records what is wrong with it; so do the forms below. A range
 * outside gives no elements and no failure, as in Python. */
lam_tensor *lam_slice_axis(lam_tensor *x, int axis, int64_t start, int64_t stop) {
    uint64_t since = lam__scope_now(x);
    lam__slice_params p;
    if (!lam__scope_peek(x)) return lam__scope_named(lam__apply1(&lam__row_slice, NULL, 0, x), since);
    if (!whole("slice_axis", x, &axis, &p)) return lam__axes_failed(x);
    resolve(lam_dim(x, axis), start, stop, 1, &p.at[axis].start, &p.at[axis].count);
    return lam__scope_named(apply_slice(x, &p), since);
}

/* A slice of one element without its axis. Unlike a slice, an index outside is a failure: there is nothing to clip
 * to. */
lam_tensor *lam_index(lam_tensor *x, int axis, int64_t index) {
    uint64_t since = lam__scope_now(x);
    int64_t size = lam_dim(x, axis), dims[LAM_INNER_RANK];
    lam__slice_params p;
    if (!lam__scope_peek(x)) return lam__scope_named(lam__apply1(&lam__row_slice, NULL, 0, x), since);
    if (!whole("index", x, &axis, &p)) return lam__axes_failed(x);
    if (index < -size || index >= size)
        return lam__axes_fail("index", x, LAM_ERR_INDEX, "index %lld is out of range [-%lld, %lld) of axis %d",
                              (long long)index, (long long)size, (long long)size, axis);
    p.at[axis].start = index < 0 ? index + size : index;
    p.at[axis].count = 1;
    lam_dims own = lam_dims_of(x);
    for (int i = 0, n = 0; i < own.rank; i++)
        if (i != axis) dims[n++] = own.dims[i];
    return lam__scope_only(lam__apply_reshape(apply_slice(x, &p), own.rank - 1, dims), since);
}

/* Negative strides: a view. On an axis without elements the start stays 0. */
lam_tensor *lam_reverse(lam_tensor *x, lam_axes axes) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    lam__axis_set set;
    lam__slice_params p = {.rank = own.rank};
    if (!lam__axes_collect_set("reverse", x, axes, own.rank, &set)) return lam__axes_failed(x);
    for (int i = 0; i < own.rank; i++) {
        bool back = set >> i & 1u;
        p.at[i].start = back && own.dims[i] ? own.dims[i] - 1 : 0;
        p.at[i].step = back ? -1 : 1;
        p.at[i].count = own.dims[i];
    }
    return lam__scope_named(apply_slice(x, &p), since);
}

/* ---- update_slice ------------------------------------------------------------------------------------------------ */

/* The part has the dims of what it replaces exactly; the public form broadcasts and converts it before. */
static lam_status shape_update_slice(const lam_call_site *call, lam_shape out[]) {
    const lam__slice_params *p = call->params;
    const lam_value *x = call->in[0], *part = call->in[1];
    bool fits = part->rank == p->rank && part->dtype == x->dtype;
    for (int i = 0; fits && i < p->rank; i++) fits = part->dims[i] == p->at[i].count;
    if (!fits)
        return lam__error_call(call, LAM_ERR_SHAPE, "broadcast or cast it to the part that is replaced",
                               "the new part has another type than what it replaces");
    return lam__apply_shape_as(x, (lam_dtype)x->dtype, out);
}

/* Copies all of x and then the part over it. Copying only what stays would be several strided copies for each axis that
 * is cut. */
static lam_status eval_update_slice(const lam_call_site *call, lam_value *const out[]) {
    const lam__slice_params *p = call->params;
    const lam_value *x = call->in[0], *part = call->in[1];
    lam_dtype dtype = (lam_dtype)x->dtype;
    int64_t strides[LAM_INNER_RANK], offset = 0;
    if (x->count)
        lam__parallel_copy(lam__value_team(x), x->rank, x->dims, dtype, out[0]->data, out[0]->strides, dtype, x->data,
                           x->strides);
    /* Steps may be negative, so the first element of the part need not be the lowest in memory. */
    for (int i = 0; i < p->rank; i++) {
        strides[i] = out[0]->strides[i] * p->at[i].step;
        offset += out[0]->strides[i] * p->at[i].start;
    }
    char *first = (char *)out[0]->data + offset * (int64_t)lam__dtype_bytes(dtype);
    if (part->count)
        lam__parallel_copy(lam__value_team(part), part->rank, part->dims, dtype, first, strides, dtype, part->data,
                           part->strides);
    return LAM_OK;
}

/* By x the cotangent with zeros in the place of the part, by the part what stands in its place: linear in both
 * together. */
static void vjp_update_slice(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    if (r->needs[0]) gx[0] = apply_update(g[0], lam_zeros_like(r->in[1]), r->params);
    if (r->needs[1]) gx[1] = apply_slice(g[0], r->params);
}

/* Result and part both have the batch axis, whichever operand had one before. */
static void batch_update_slice(const lam_rule *r, lam_tensor *out[]) {
    lam__slice_params p = behind_batch(r);
    out[0] = apply_update(lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1), &p);
}

/* LAM_SAVE_TYPES: the way back needs the dims of the part even where only x wants a gradient. */
const lam_primitive lam__row_update_slice = {
    .name = "update_slice",
    .inputs = 2,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 3u,
    .saves = LAM_SAVE_TYPES,
    .shape = shape_update_slice,
    .eval = eval_update_slice,
    .vjp = vjp_update_slice,
    .batch = batch_update_slice,
    .layout = "#i rank, {l start, l step, l count}[rank]",
};

/* Whether `from` broadcasts to what p names. */
static bool broadcasts(lam_dims from, const lam__slice_params *p) {
    int lead = p->rank - from.rank;
    for (int i = 0; i < from.rank; i++)
        if (lead < 0 || (from.dims[i] != 1 && from.dims[i] != p->at[lead + i].count)) return false;
    return true;
}

/* Names the type that would have fitted. */
static lam_tensor *fail_part(const char *operation, lam_tensor *x, lam_tensor *value, const lam__slice_params *p) {
    int64_t dims[LAM_INNER_RANK];
    char text[256];
    lam__text t = {text, sizeof text, 0};
    for (int i = 0; i < p->rank; i++) dims[i] = p->at[i].count;
    lam__error_append_type(&t, lam_dtype_of(x), p->rank, dims);
    return lam__axes_fail(operation, value, LAM_ERR_SHAPE,
                          "the new part does not broadcast to the part of x that it replaces, %s", text);
}

/* value with the dtype and dims of the part it replaces. An unusable value stays what it is: the update says what is
 * wrong with it. A value of more axes than the part, or of sizes other than its own or 1, does not fit. */
static lam_tensor *fitted(const char *operation, lam_tensor *x, lam_tensor *value, const lam__slice_params *p) {
    int64_t dims[LAM_INNER_RANK];
    if (!lam__scope_peek(value)) return value;
    const lam_dims own = lam_dims_of(value);
    if (!broadcasts(own, p)) return fail_part(operation, x, value, p);
    bool same = own.rank == p->rank;
    for (int i = 0; i < p->rank; i++) {
        dims[i] = p->at[i].count;
        same = same && own.dims[i] == dims[i];
    }
    lam_tensor *part = lam__apply_in_dtype_of(operation, x, value);
    return same ? part : lam__apply_broadcast(part, p->rank, dims);
}

/* The result is new: nothing of x is changed. Value is converted to the dtype of x, never the other way. */
lam_tensor *lam_update_slice(lam_tensor *x, lam_tensor *value, lam_dims starts, lam_dims stops, lam_dims steps) {
    uint64_t since = lam__scope_now(x);
    lam__slice_params p;
    lam_tensor *in[2] = {x, value};
    if (!lam__scope_peek(x) || !lam__scope_peek(value)) return lam__apply(&lam__row_update_slice, NULL, 0, 2, in);
    return lam__scope_only(collect("update_slice", x, starts, stops, steps, &p)
                               ? apply_update(x, fitted("update_slice", x, value, &p), &p)
                               : lam__axes_failed(x),
                           since);
}

/* A tensor that is larger than the second cache (here twice that) and is filled part by part is not read before it is
 * full, and then from far away. Parts that are large themselves and lie without gaps are written straight to memory:
 * half the traffic. */
enum { LARGE_TENSOR = 1 << 22, LARGE_PART = 1 << 14 };

/* Whether part, in its own memory and in the place that it goes to, is one run of elements. */
static bool without_gaps(const lam_value *part, const int64_t strides[]) {
    int64_t step = 1;
    for (int i = part->rank - 1; i >= 0; i--) {
        if (part->dims[i] != 1 && strides[i] != step) return false;
        step *= part->dims[i];
    }
    return part->contiguous;
}

/* The elements of part, which has some, go to `to` in x. Streams are for one thread; a team copies in parts. */
static void copy_into(const lam_value *x, const lam_value *part, void *to, const int64_t strides[]) {
    lam__team *team = lam__value_team(part);
    lam_dtype dtype = (lam_dtype)part->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype);
    if (!team && x->count * item >= LARGE_TENSOR && part->count * item >= LARGE_PART && without_gaps(part, strides)) {
        lam__kernels_stream((size_t)(part->count * item), to, part->data);
        lam__kernels_stream_end();
    } else {
        lam__parallel_copy(team, part->rank, part->dims, dtype, to, strides, dtype, part->data, part->strides);
    }
}

/* The strides of what p names of x, and where it begins. For a contiguous or any other x; steps may be negative, so the
 * place may be the last one in memory. */
static char *place_of(const lam_value *x, const lam__slice_params *p, int64_t strides[]) {
    int64_t offset = 0;
    for (int i = 0; i < p->rank; i++) {
        strides[i] = x->strides[i] * p->at[i].step;
        offset += x->strides[i] * p->at[i].start;
    }
    return (char *)x->data + offset * (int64_t)lam__dtype_bytes(x->dtype);
}

/* Whether v is concrete, of x's dtype, and has the dims that p names, without axis `but` (-1: with all). */
static bool fits(const lam_value *v, const lam_value *x, const lam__slice_params *p, int but) {
    if (!v || v->kind != LAM__CONCRETE || v->dtype != x->dtype || v->rank != p->rank - (but >= 0)) return false;
    for (int i = 0; i < v->rank; i++)
        if (v->dims[i] != p->at[i + (but >= 0 && i >= but)].count) return false;
    return true;
}

/* Writes into x's own memory; false if somebody else sees it, or value is not a concrete one of this context. x itself
 * is no part of x: its elements would be overwritten before they are read. */
static bool over_itself(lam_tensor *x, lam_tensor *value, const lam__slice_params *p) {
    const lam_value *part = lam__scope_peek(value);
    int64_t strides[LAM_INNER_RANK];
    if (part == x->value || lam__scope_is_foreign(x->ctx, value)) return false;
    if (!lam__value_unshared(x->value) || !fits(part, x->value, p, -1)) return false;
    char *first = place_of(x->value, p, strides);
    if (part->count) copy_into(x->value, part, first, strides);
    return true;
}

/* The scope around takes what `fitted` makes; x takes the value of the result and stays in the scope it is of. An
 * overlap of value and x is no trouble: if value is a view of x, x's memory is seen by two, and a new value is made. */
lam_tensor *lam_set_(lam_tensor *x, lam_tensor *value, lam_dims starts, lam_dims stops, lam_dims steps) {
    lam__slice_params p;
    if (!lam__scope_peek(x)) return lam__apply_rebind("set_", x, x);
    if (!lam__apply_may_rebind("set_", x)) return x;
    lam_scope scope;
    lam__scope_open(x->ctx, &scope);
    lam_tensor *part = collect("set_", x, starts, stops, steps, &p) ? fitted("set_", x, value, &p) : &x->ctx->failed;
    lam_tensor *out = over_itself(x, part, &p) ? x : lam__apply_rebind("set_", x, apply_update(x, part, &p));
    lam__scope_close(&scope);
    return out;
}

/* The stack of parts, written into x's own memory; false as above, or where they do not fit as they are. Else the
 * caller makes the stack and sets that, which gives the same elements. Nothing is written before all parts are known to
 * fit: x must not be left half changed. */
static bool stack_over_itself(lam_tensor *x, lam_list list, int axis, const lam__slice_params *p) {
    lam__scratch_area area;
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK];
    if (axis < 0) axis += p->rank;
    if (axis < 0 || axis >= p->rank || p->at[axis].count != (int64_t)list.count || !lam__value_unshared(x->value))
        return false;
    lam_value **parts = lam__scratch_get(&area, x->ctx, list.count * sizeof *parts);
    bool all = parts != NULL;
    for (size_t i = 0; all && i < list.count; i++) {
        parts[i] = lam__scope_peek(list.items[i]);
        all = fits(parts[i], x->value, p, axis) && list.items[i]->ctx == x->ctx;
    }
    if (all) {
        for (int i = 0; i < p->rank; i++) dims[i] = p->at[i].count;
        char *first = place_of(x->value, p, strides);
        const lam__join_place place = {
            .data = first,
            .rank = p->rank,
            .dims = dims,
            .strides = strides,
            .far = x->value->count * (int64_t)lam__dtype_bytes(x->value->dtype) >= LAM__JOIN_FAR,
        };
        lam__join_stack(axis, (int)list.count, parts, &place);
    }
    lam__scratch_put(&area);
    return all;
}

/* Written in place the stack is never made; if that does not fit, this is set_ of the stack. A list that is wrong fails
 * x like any in-place form, lest its old value be taken for the result. That also says what is wrong with the list. */
lam_tensor *lam_set_stack_(lam_tensor *x, lam_list list, int axis, lam_dims starts, lam_dims stops, lam_dims steps) {
    lam__slice_params p;
    if (!lam__scope_peek(x)) return lam__apply_rebind("set_stack_", x, x);
    if (!lam__apply_may_rebind("set_stack_", x)) return x;
    lam_scope scope;
    lam__scope_open(x->ctx, &scope);
    lam_tensor *out = x;
    bool known = collect("set_stack_", x, starts, stops, steps, &p), any = list.count && list.items;
    if (known && !any) lam__error_fail(x->ctx, LAM_ERR_ARITY, "set_stack_: no tensors given");
    if (!known || !any) out = lam__apply_rebind("set_stack_", x, &x->ctx->failed);
    else if (!stack_over_itself(x, list, axis, &p)) out = lam_set_(x, lam_stack(list, axis), starts, stops, steps);
    lam__scope_close(&scope);
    return out;
}

/* ---- padding ----------------------------------------------------------------------------------------------------- */

/* Whether the sizes of one axis of a padded tensor can be added up. An eighth of the range leaves room for the sums
 * that follow. */
static bool pad_fits(int64_t size, int64_t low, int64_t high, int64_t gap) {
    const int64_t most = INT64_MAX / 8;
    return low >= -most && low <= most && high >= -most && high <= most && gap <= most / (size + 1) - 1;
}

/* As lax.pad: `interior` elements go between neighbours first, then `low` and `high` are added, or cut off where
 * negative. Along an axis `cut` elements of x fall off in front, so the first that is kept stands at low + cut (gap +
 * 1), and those behind the end of the result are left out. So it is a slice of x set into a broadcast number, and its
 * derivative is theirs. */
lam_tensor *lam_pad(lam_tensor *x, lam_dims low, lam_dims high, const lam_pad_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_pad_options none;
    const lam_pad_options *o = options ? options : &none;
    lam_dims own = lam_dims_of(x);
    if (!lam__scope_peek(x)) return lam__scope_named(lam__apply1(&lam__row_slice, NULL, 0, x), since);
    if (low.rank != own.rank || high.rank != own.rank || (o->interior.rank && o->interior.rank != own.rank))
        return lam__axes_fail("pad", x, LAM_ERR_SHAPE, "%d low, %d high and %d interior sizes for %d axes", low.rank,
                              high.rank, o->interior.rank, own.rank);
    if ((own.rank && (!low.dims || !high.dims)) || (o->interior.rank && !o->interior.dims))
        return lam__axes_fail("pad", x, LAM_ERR_NULL, "a list has a rank but no numbers");
    lam__slice_params keep = {.rank = own.rank}, place = {.rank = own.rank};
    int64_t dims[LAM_INNER_RANK], starts[LAM_INNER_RANK];
    for (int i = 0; i < own.rank; i++) {
        int64_t gap = o->interior.rank ? o->interior.dims[i] : 0;
        if (gap < 0) return lam__axes_fail("pad", x, LAM_ERR_VALUE, "interior padding of axis %d is negative", i);
        if (!pad_fits(own.dims[i], low.dims[i], high.dims[i], gap))
            return lam__axes_fail("pad", x, LAM_ERR_OVERFLOW, "the size of axis %d overflows", i);
        int64_t spread = own.dims[i] ? own.dims[i] + (own.dims[i] - 1) * gap : 0;
        dims[i] = spread + low.dims[i] + high.dims[i];
        if (dims[i] < 0)
            return lam__axes_fail("pad", x, LAM_ERR_SHAPE, "axis %d would have %lld elements", i, (long long)dims[i]);
        int64_t step = gap + 1, cut = low.dims[i] < 0 ? (-low.dims[i] + step - 1) / step : 0;
        starts[i] = low.dims[i] + cut * step;
        /* How many places, a step apart, there are from the first one to the end of the result, and elements for
         * them. */
        int64_t room = dims[i] - starts[i], most = room > 0 ? (room + step - 1) / step : 0, left = own.dims[i] - cut;
        keep.at[i].start = cut < own.dims[i] ? cut : 0;
        keep.at[i].step = 1;
        keep.at[i].count = left < 0 ? 0 : left < most ? left : most;
        place.at[i].start = keep.at[i].count ? starts[i] : 0;
        place.at[i].step = keep.at[i].count > 1 ? step : 1;
        place.at[i].count = keep.at[i].count;
    }
    lam_tensor *base = lam__apply_broadcast(lam_cast(lam_scalar(x->ctx, o->value), lam_dtype_of(x)), own.rank, dims);
    if (!takes_all(x, &keep)) x = apply_slice(x, &keep);
    return lam__scope_only(apply_update(base, x, &place), since);
}
