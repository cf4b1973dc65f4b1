/* Windows of a tensor that start where a tensor says: the general gather and scatter of lax, and slices with moving
 * starts. No rows, no rules: windows are numbered element by element over the axes on which they are not whole, and
 * taken from, or scattered to, these axes made one. Axes on which windows are whole keep out of it, so a gather of rows
 * costs an index for each row and not one for each element. */
#include "lib/primitives/index.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* ---- gather and scatter ------------------------------------------------------------------------------------------ */

/* Dimension numbers resolved against the operands. */
typedef struct plan {
    const char *name;
    lam_tensor *x, *starts;
    int rank, outer;                           /* axes of x; of starts without the last one */
    int window_count, windows[LAM_INNER_RANK]; /* axes of the result that are those of the window */
    int start_of[LAM_INNER_RANK];              /* per axis of x: which start is for it; -1: none */
    int batch_of[LAM_INNER_RANK];              /* per axis of x: the axis of starts it goes along with; -1: none */
    bool gone[LAM_INNER_RANK];                 /* per axis of x: not in the result (collapsed, or a batch axis) */
    int64_t size[LAM_INNER_RANK];              /* of the window */
    int from, to;                              /* axes of x on which windows are not whole lie in [from, to) */
    lam_index_mode mode;
} plan;

/* A mistake is told with the type of x: the numbers refer to its axes. */
static bool refuse(const plan *p, lam_status status, const char *what, int number) {
    lam__axes_fail(p->name, p->x, status, what, number);
    return false;
}

/* What each axis of x is: it has a start, or goes along with an axis of the starts (batch), is collapsed, or none of
 * these. The lists say it by axes; here it is turned round. An axis may have a start and be collapsed, but a batch axis
 * is nothing else. */
static bool read_axes(plan *p, const lam_gather_options *o) {
    int list[LAM_INNER_RANK], along[LAM_INNER_RANK], count, more;
    for (int i = 0; i < p->rank; i++) p->start_of[i] = p->batch_of[i] = -1;
    if (!lam__axes_collect(p->name, p->x, o->index_axes, p->rank, &count, list)) return false;
    /* Unlike elsewhere no list names no axis: every axis is then whole, or gone. */
    if (count < 0) count = 0;
    if (count != lam_dim(p->starts, p->outer))
        return refuse(p, LAM_ERR_SHAPE, "the last axis of the starts must have one element for each of %d index_axes",
                      count);
    for (int i = 0; i < count; i++) p->start_of[list[i]] = i;
    if (!lam__axes_collect(p->name, p->x, o->collapsed_axes, p->rank, &count, list)) return false;
    /* Without a list the count is -1 here, and the loops have nothing to do. */
    for (int i = 0; i < count; i++) p->gone[list[i]] = true;
    if (!lam__axes_collect(p->name, p->x, o->batch_axes, p->rank, &count, list) ||
        !lam__axes_collect(p->name, p->starts, o->starts_batch_axes, p->outer, &more, along))
        return false;
    if (count != more) return refuse(p, LAM_ERR_AXIS, "batch axes must come in pairs, not %d", count);
    for (int i = 0; i < count; i++) {
        if (p->gone[list[i]] || p->start_of[list[i]] >= 0)
            return refuse(p, LAM_ERR_AXIS, "axis %d is a batch axis and something else", list[i]);
        if (lam_dim(p->x, list[i]) != lam_dim(p->starts, along[i]))
            return refuse(p, LAM_ERR_SHAPE, "batch axis %d has another size in the starts", list[i]);
        p->gone[list[i]] = true;
        p->batch_of[list[i]] = along[i];
    }
    return true;
}

/* The sizes, the range of axes that are made one, and the places of the window's axes in the result. A window larger
 * than its axis fits nowhere and is refused whatever the mode. */
static bool read_window(plan *p, const lam_gather_options *o) {
    int left = 0;
    if (o->window.rank != p->rank || (p->rank && !o->window.dims))
        return refuse(p, LAM_ERR_SHAPE, "the window must have as many sizes as x has axes, not %d", o->window.rank);
    p->from = p->rank;
    for (int i = 0; i < p->rank; i++) {
        int64_t n = lam_dim(p->x, i);
        /* A batch axis is gone through by its own index, one element at a time, whatever size the list has for it. */
        p->size[i] = p->batch_of[i] >= 0 ? 1 : o->window.dims[i];
        if (p->size[i] < 0 || p->size[i] > n)
            return refuse(p, LAM_ERR_VALUE, "the window is larger than axis %d, or negative", i);
        if (p->gone[i] && p->size[i] != 1)
            return refuse(p, LAM_ERR_SHAPE, "collapsed axis %d must have a window of one element", i);
        left += !p->gone[i];
        /* Axes that are taken whole stay as they are. Only the range from the first to the last of the others is
         * merged. */
        bool whole = p->start_of[i] < 0 && p->batch_of[i] < 0 && p->size[i] == n;
        if (whole) continue;
        if (p->from == p->rank) p->from = i;
        p->to = i + 1;
    }
    if (p->from == p->rank) p->from = p->to = 0;
    int rank = p->outer + left;
    if (rank > LAM_INNER_RANK) return refuse(p, LAM_ERR_RANK, "the result would have %d axes", rank);
    if (!lam__axes_collect(p->name, p->x, o->offset_axes, rank, &p->window_count, p->windows)) return false;
    if (p->window_count < 0) p->window_count = 0;
    return p->window_count == left || refuse(p, LAM_ERR_AXIS, "there must be %d offset_axes", left);
}

/* Everything is checked here against the operands' dims, so the functions that follow fail only for memory and for
 * starts that lie outside. */
static bool make_plan(const char *name, lam_tensor *x, lam_tensor *starts, const lam_gather_options *o, plan *p) {
    *p = (plan){.name = name, .x = x, .starts = starts, .rank = lam_rank(x), .outer = lam_rank(starts) - 1};
    if (!o) return refuse(p, LAM_ERR_OPTION, "%d options are given", 0);
    p->mode = o->mode;
    if ((unsigned)o->mode > LAM_INDEX_FILL) return refuse(p, LAM_ERR_OPTION, "there is no index mode %d", o->mode);
    if (lam__dtype_is_inexact((int)lam_dtype_of(starts)))
        return lam__axes_fail(name, starts, LAM_ERR_DTYPE, "the starts are not integers"), false;
    if (p->outer < 0) return refuse(p, LAM_ERR_RANK, "the starts have %d axes", 0);
    return read_axes(p, o) && read_window(p, o);
}

/* `numbers`, of rank 1, along axis `axis` of `rank`. So it broadcasts along the others. */
static lam_tensor *along(lam_tensor *numbers, int axis, int rank) {
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? lam_size(numbers) : 1;
    return lam__apply_reshape(numbers, rank, dims);
}

/* 0, 1, ..., n - 1. */
static lam_tensor *counting(const plan *p, int64_t n) {
    return lam_iota(lam_ctx_of(p->x), LAM_I64, LAM_DIMS(n), 0);
}

/* Where windows start on one axis, dims those of starts without the last axis. What lies outside is clipped, or is
 * marked in *inside: a window that sticks out at one end counts as outside as a whole, as in lax. In mode ERROR
 * negative starts count from the end, and one that leaves no room for the window fails. */
static lam_tensor *start_on(const plan *p, int axis, lam_tensor **inside) {
    int64_t n = lam_dim(p->x, axis), last = n - p->size[axis];
    lam_tensor *at = lam_index(p->starts, p->outer, p->start_of[axis]);
    /* An axis of no elements has one start, 0, for a window of none. */
    if (p->mode == LAM_INDEX_ERROR) return lam__index_wrap(at, n ? n : 1, last + 1);
    at = lam_cast(at, LAM_I64);
    lam_tensor *fits = lam_and(lam_ge(at, 0), lam_le(at, last));
    *inside = *inside ? lam_and(*inside, fits) : fits;
    return lam_clamp(at, 0, last);
}

/* Element numbers [starts' axes, window on from..to) on these axes of x made one: the sum over the axes of (start +
 * place in the window) times the step of the axis. The terms broadcast against each other, so each is as small as it
 * can be until they are added. In mode FILL a window outside gets a number beyond the end. */
static lam_tensor *numbers(const plan *p) {
    int width = p->to - p->from, rank = p->outer + width;
    int64_t dims[2 * LAM_INNER_RANK], step = 1;
    lam_tensor *sum = lam_zeros(lam_ctx_of(p->x), LAM_I64, LAM_DIMS0), *inside = NULL;
    for (int axis = p->to - 1; axis >= p->from; axis--) {
        lam_tensor *at = along(counting(p, p->size[axis]), p->outer + axis - p->from, rank);
        if (p->start_of[axis] >= 0) at = lam_add(at, lam__index_spread(start_on(p, axis, &inside), width));
        if (p->batch_of[axis] >= 0) at = lam_add(at, along(counting(p, lam_dim(p->x, axis)), p->batch_of[axis], rank));
        sum = lam_add(sum, lam_mul(at, step));
        step *= lam_dim(p->x, axis);
    }
    if (inside && p->mode == LAM_INDEX_FILL) sum = lam_where(lam__index_spread(inside, width), sum, step);
    for (int i = 0; i < rank; i++) dims[i] = i < p->outer ? lam_dim(p->starts, i) : p->size[p->from + i - p->outer];
    return lam__apply_broadcast(sum, rank, dims);
}

/* x with the axes from..to made one, which stays where windows are whole on all axes too. */
static lam_tensor *merged(const plan *p, lam_tensor *x) {
    int64_t dims[LAM_INNER_RANK + 1];
    int n = 0;
    for (int i = 0; i <= p->rank; i++) {
        if (i == p->from) dims[n++] = 1;
        if (i == p->rank) break;
        if (i >= p->from && i < p->to) dims[n - 1] *= lam_dim(p->x, i);
        else dims[n++] = lam_dim(p->x, i);
    }
    return lam__apply_reshape(x, n, dims);
}

/* What is taken has the axes [x before from, starts', window from..to, x behind to]. The order of the result's axes in
 * it once those that are gone are left out; and the dims with and without these. */
static int arrange(const plan *p, int order[], int64_t full[], int64_t kept[]) {
    int rank = 0, n = 0, window = 0, outer = 0, place[2 * LAM_INNER_RANK], where[LAM_INNER_RANK];
    for (int i = 0; i < p->rank; i++) {
        for (int k = 0; i == p->from && k < p->outer; k++) {
            where[k] = n;
            full[rank++] = kept[n++] = lam_dim(p->starts, k);
        }
        full[rank++] = p->size[i];
        if (p->gone[i]) continue;
        place[window++] = n;
        kept[n++] = p->size[i];
    }
    /* x of no axes has none in front of which the starts' could stand. */
    for (int k = 0; p->rank == 0 && k < p->outer; k++) {
        where[k] = n;
        full[rank++] = kept[n++] = lam_dim(p->starts, k);
    }
    for (int i = 0, w; i < n; i++) {
        for (w = 0; w < window && p->windows[w] != i; w++) continue;
        order[i] = w < window ? place[w] : where[outer++];
    }
    return n;
}

/* A take by numbers of what begins at a start, from x with the axes that are indexed made one; then axes are put in
 * their order. */
lam_tensor *lam_gather(lam_tensor *x, lam_tensor *starts, const lam_gather_options *options) {
    uint64_t since = lam__scope_now(x);
    int order[2 * LAM_INNER_RANK];
    int64_t full[2 * LAM_INNER_RANK], kept[2 * LAM_INNER_RANK];
    lam_tensor *in[2] = {x, starts}, *failed;
    lam_value *values[2];
    plan p;
    if (!lam__scope_operands("gather", 2, in, values, &failed)) return failed;
    if (!make_plan("gather", x, starts, options, &p)) return lam__axes_failed(x);
    lam_tensor *taken = lam_take_mode(merged(&p, x), numbers(&p), p.from, p.mode);
    if (lam_failed(taken)) return taken;
    int rank = arrange(&p, order, full, kept);
    return lam__scope_only(lam_transpose(lam__apply_reshape(taken, rank, kept), (lam_axes){rank, order}), since);
}

/* By the operations of scatter.c, on the merged axis. */
static lam_tensor *combine(const plan *p, lam_at_op op, lam_tensor *x, lam_tensor *at, lam_tensor *updates) {
    switch (op) {
    case LAM_AT_ADD: return lam_scatter_add_mode(x, at, updates, p->from, p->mode);
    case LAM_AT_MUL: return lam_scatter_mul(x, at, updates, p->from, p->mode);
    case LAM_AT_MIN: return lam_scatter_min(x, at, updates, p->from, p->mode);
    case LAM_AT_MAX: return lam_scatter_max(x, at, updates, p->from, p->mode);
    default: return lam_put_mode(x, at, updates, p->from, p->mode);
    }
}

/* The transpose of lam_gather's way: updates are put into the order in which elements would be taken, the axes that are
 * gone come back as axes of one element, and x takes its own dims again at the end. */
lam_tensor *lam_scatter(lam_tensor *x, lam_tensor *starts, lam_tensor *updates, lam_at_op op,
                        const lam_gather_options *options) {
    uint64_t since = lam__scope_now(x);
    int order[2 * LAM_INNER_RANK], back[2 * LAM_INNER_RANK];
    int64_t full[2 * LAM_INNER_RANK], kept[2 * LAM_INNER_RANK];
    lam_tensor *in[3] = {x, starts, updates}, *failed;
    lam_value *values[3];
    plan p;
    if (!lam__scope_operands("scatter", 3, in, values, &failed)) return failed;
    if (!make_plan("scatter", x, starts, options, &p)) return lam__axes_failed(x);
    if ((unsigned)op > LAM_AT_MAX)
        return lam__axes_fail("scatter", x, LAM_ERR_OPTION, "there is no update %d", (int)op);
    int rank = arrange(&p, order, full, kept);
    bool fits = lam_rank(updates) == rank;
    for (int i = 0; fits && i < rank; i++) fits = lam_dim(updates, i) == kept[order[i]];
    if (!fits)
        return lam__axes_fail("scatter", updates, LAM_ERR_SHAPE,
                              "the updates have not the dims of what would be taken");
    /* order[] leads from elements as they are taken to the axes of lam_gather's result; updates come the other way. */
    for (int i = 0; i < rank; i++) back[order[i]] = i;
    lam_tensor *base = merged(&p, x), *at = numbers(&p);
    updates = lam_transpose(lam__apply_in_dtype_of("scatter", x, updates), (lam_axes){rank, back});
    int full_rank = p.outer + p.rank;
    updates = lam__apply_reshape(updates, full_rank, full);
    lam_dims own = lam_dims_of(x);
    lam_tensor *out = lam_failed(at) ? at : combine(&p, op, base, at, updates);
    return lam__scope_only(lam_failed(out) ? out : lam__apply_reshape(out, own.rank, own.dims), since);
}

/* ---- moving slices ----------------------------------------------------------------------------------------------- */

/* The start on one axis as an i64 of rank 0 that leaves room for `size` elements: negative ones count from the end, and
 * what would stick out is moved in. So a dynamic slice never fails for its start, as in JAX: no element has to be read
 * to check it, and the start may belong to any level. */
static lam_tensor *start_at(lam_tensor *start, int64_t n, int64_t size) {
    start = lam_cast(start, LAM_I64);
    return lam_clamp(lam_where(lam_lt(start, 0), lam_add(start, n), start), 0, n - size);
}

/* An integer of rank 0 that is at hand. */
static int64_t integer_of(const lam_value *v) {
    if (v->dtype == LAM_I64) return *(const int64_t *)v->data;
    return v->dtype == LAM_I32 ? *(const int32_t *)v->data : *(const uint8_t *)v->data;
}

/* Where a slice of these sizes begins and ends, as start_at says, if all starts are numbers of no level: then it is one
 * whose place is known. False: they are not. */
static bool known(lam_tensor *x, lam_list starts, lam_dims sizes, int64_t first[], int64_t stop[]) {
    for (int i = 0; i < sizes.rank; i++) {
        const lam_value *v = lam__scope_peek(starts.items[i]);
        if (!v || v->kind != LAM__CONCRETE) return false;
        const int64_t n = lam_dim(x, i), most = n - sizes.dims[i], given = integer_of(v);
        const int64_t at = given < 0 ? given + n : given;
        first[i] = at < 0 ? 0 : at > most ? most : at;
        stop[i] = first[i] + sizes.dims[i];
    }
    return true;
}

/* The elements start, start + 1, ... of an axis, as indices. */
static lam_tensor *moving(lam_tensor *x, lam_tensor *start, int axis, int64_t size) {
    lam_tensor *at = start_at(start, lam_dim(x, axis), size);
    return lam_add(lam_iota(lam_ctx_of(x), LAM_I64, LAM_DIMS(size), 0), at);
}

/* x, `more` and starts are tensors that fit together; `sizes` are those of the slice. *failed is the result where it is
 * false. */
static bool check(const char *name, lam_tensor *x, lam_tensor *more, lam_list starts, lam_dims sizes,
                  lam_tensor **failed) {
    lam_tensor *in[LAM_MAX_RANK + 2] = {x, more};
    lam_value *values[LAM_MAX_RANK + 2];
    size_t n = more ? 2 : 1;
    /* in[] has room for as many starts as a user's tensor may have axes. */
    bool counted = starts.count <= LAM_MAX_RANK && (!starts.count || starts.items);
    for (size_t i = 0; counted && i < starts.count; i++) in[n++] = starts.items[i];
    if (!lam__scope_operands(name, n, in, values, failed)) return false;
    lam_dims own = lam_dims_of(x);
    /* From here on x has a context, whose failed tensor is the result. */
    *failed = lam__axes_failed(x);
    if (more && sizes.rank != own.rank)
        return lam__matrices_fail(name, 2, in, LAM_ERR_SHAPE, NULL, "the update has rank %d, x has rank %d", sizes.rank,
                                  own.rank),
               false;
    if (!counted || (int)starts.count != own.rank || sizes.rank != own.rank || (own.rank && !sizes.dims))
        return lam__axes_fail_with(name, x, LAM_ERR_SHAPE, "give one of each for every axis",
                                   "%d starts and %d sizes for %d axes", (int)starts.count, sizes.rank, own.rank),
               false;
    for (int i = 0; i < own.rank; i++) {
        lam_tensor *start = starts.items[i];
        if (lam_rank(start) != 0 || lam__dtype_is_inexact((int)lam_dtype_of(start)) || lam_dtype_of(start) == LAM_BOOL)
            return lam__axes_fail(name, start, LAM_ERR_DTYPE, "the start of axis %d is not an integer of rank 0", i),
                   false;
        if (sizes.dims[i] < 0 || sizes.dims[i] > own.dims[i])
            return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld elements of axis %d", (long long)sizes.dims[i], i),
                   false;
    }
    return true;
}

/* A slice where the place is known, which is a view. Else one take for each axis that is not whole, in turn, so each
 * works on what the ones before have left. */
lam_tensor *lam_dynamic_slice(lam_tensor *x, lam_list starts, lam_dims sizes) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    int64_t first[LAM_MAX_RANK], stop[LAM_MAX_RANK];
    if (!check("dynamic_slice", x, NULL, starts, sizes, &failed)) return failed;
    if (known(x, starts, sizes, first, stop))
        return lam_slice(x, (lam_dims){sizes.rank, first}, (lam_dims){sizes.rank, stop}, LAM_DIMS0);
    x = lam_alias(x);
    for (int i = 0; i < sizes.rank; i++)
        if (sizes.dims[i] != lam_dim(x, i)) x = lam_take(x, moving(x, starts.items[i], i, sizes.dims[i]), i);
    return lam__scope_only(x, since);
}

/* The elements of an axis that the update covers, with it in them, put back; from the first such axis on. Calls itself
 * once for each axis at most. */
static lam_tensor *update_from(int axis, lam_tensor *x, lam_tensor *update, lam_list starts) {
    int rank = lam_rank(x), more;
    while (axis < rank && lam_dim(update, axis) == lam_dim(x, axis)) axis++;
    if (axis == rank) return lam_alias(update);
    for (more = axis + 1; more < rank && lam_dim(update, more) == lam_dim(x, more);) more++;
    lam_tensor *at = moving(x, starts.items[axis], axis, lam_dim(update, axis));
    if (more < rank) update = update_from(axis + 1, lam_take(x, at, axis), update, starts);
    return lam_put(x, at, update, axis);
}

/* Where the place is not known, nested along the axes that the update does not cover: the part of x at the first such
 * axis is taken, updated along the others, and put back whole. */
lam_tensor *lam_dynamic_update_slice(lam_tensor *x, lam_tensor *update, lam_list starts) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!update) return lam__axes_fail("dynamic_update_slice", x, LAM_ERR_NULL, "no update");
    if (!check("dynamic_update_slice", x, update, starts, lam_dims_of(update), &failed)) return failed;
    const lam_dims sizes = lam_dims_of(update);
    int64_t first[LAM_MAX_RANK], stop[LAM_MAX_RANK];
    update = lam_cast(update, lam_dtype_of(x));
    if (!known(x, starts, sizes, first, stop)) return lam__scope_only(update_from(0, x, update, starts), since);
    const lam_dims from = {sizes.rank, first}, to = {sizes.rank, stop};
    return lam__scope_only(lam_update_slice(x, update, from, to, LAM_DIMS0), since);
}
