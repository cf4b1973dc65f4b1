/* NumPy's indexing: numbers, slices, new axes and tensors of indices in one expression, to take parts and to update
 * them. No rows, no rules: slices are views, and what tensors name is taken from, or scattered to, the axes they stand
 * for, made one. Where these axes are not neighbours they come first, as in NumPy. */
#include "lib/primitives/index.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { STEPS = 2 * LAM_INNER_RANK, NEW = -1, NONE = -2 };

/* An expression, resolved against x. */
typedef struct plan {
    const char *name;
    lam_tensor *x;
    lam_index_mode mode;
    int rank;                                                                  /* of x */
    int64_t start[LAM_INNER_RANK], stop[LAM_INNER_RANK], step[LAM_INNER_RANK]; /* slices, per axis */
    bool dropped[LAM_INNER_RANK];      /* per axis: a slice of one element that goes */
    lam_tensor *index[LAM_INNER_RANK]; /* per axis; NULL: a slice */
    bool sliced, mixed;                /* an axis is not taken whole; there are tensors */
    int steps[STEPS], count;           /* the items: an axis, NEW, or NONE for a LAM_REST of no axes */
    lam_tensor *part;                  /* x, sliced */
    bool together;                     /* the indexed axes are neighbours */
    int indexed, first;                /* indexed axes, and where the first of them stands in `order` */
    int order[LAM_INNER_RANK];         /* axes of part with the indexed ones as neighbours */
    int64_t common[LAM_INNER_RANK];    /* dims of the indices, broadcast */
    int common_rank;
    int64_t dims[2 * STEPS]; /* of the result */
    int result;              /* its rank */
} plan;

/* What is wrong with an expression is told with the type of x. */
static bool refuse(const plan *p, lam_status status, const char *what, int64_t number) {
    lam__axes_fail(p->name, p->x, status, what, (long long)number);
    return false;
}

/* ---- reading the expression -------------------------------------------------------------------------------------- */

/* A mask would need a result whose size depends on its elements; the message says how to go round it. What is no tensor
 * is named itself. */
static bool take_tensor(plan *p, int axis, lam_tensor *index) {
    if (!index) return refuse(p, LAM_ERR_NULL, "the index of axis %lld is NULL", axis);
    if (!lam__scope_operand_in(lam_ctx_of(p->x), p->name, (size_t)axis + 1, index)) return false;
    if (lam__dtype_is_inexact((int)lam_dtype_of(index)) || lam_dtype_of(index) == LAM_BOOL)
        return refuse(p, LAM_ERR_DTYPE, "the indices of axis %lld are not integers (for a mask use lam_nonzero)", axis);
    p->index[axis] = index;
    return true;
}

/* A number: a slice of one element; beside tensors, and where a mode gives what lies outside a meaning, a tensor.
 * Beside tensors it takes part in their broadcast, as in NumPy, which decides where the result's axes stand. */
static bool take_element(plan *p, int axis, int64_t index) {
    int64_t size = lam_dim(p->x, axis);
    bool inside = index >= -size && index < size;
    if (!inside && p->mode == LAM_INDEX_ERROR) {
        lam__axes_fail(p->name, p->x, LAM_ERR_INDEX, "index %lld is out of range [-%lld, %lld) of axis %d",
                       (long long)index, (long long)size, (long long)size, axis);
        return false;
    }
    if (!inside || p->mixed) return take_tensor(p, axis, lam_array(lam_ctx_of(p->x), LAM_I64, LAM_DIMS0, &index));
    p->start[axis] = index < 0 ? index + size : index;
    p->stop[axis] = p->start[axis] + 1;
    p->dropped[axis] = p->sliced = true;
    return true;
}

/* Sets all that the plan holds for one axis; NULL, like an item of LAM_REST, takes the axis whole. */
static bool take_item(plan *p, int axis, const lam_at_item *item) {
    p->start[axis] = 0;
    p->stop[axis] = LAM_END;
    p->step[axis] = 1;
    p->index[axis] = NULL;
    p->dropped[axis] = false;
    p->steps[p->count++] = axis;
    if (!item || item->kind == LAM__AT_REST) return true;
    if (item->kind == LAM__AT_TENSOR) return take_tensor(p, axis, item->tensor);
    if (item->kind == LAM__AT_ELEMENT) return take_element(p, axis, item->start);
    p->start[axis] = item->start;
    p->stop[axis] = item->stop;
    p->step[axis] = item->step;
    /* Without any slice the indexed tensor is x itself, and no view of it is made. */
    p->sliced = p->sliced || item->start != 0 || item->stop != LAM_END || item->step != 1;
    return true;
}

/* Counts what the items name, and looks at their kinds. */
static bool count_items(plan *p, lam_at at, int *named, int *rests) {
    *named = *rests = 0;
    if (at.count < 0 || at.count > LAM_INNER_RANK || (at.count && !at.items))
        return refuse(p, LAM_ERR_OPTION, "an expression of %lld items", at.count);
    for (int i = 0; i < at.count; i++) {
        int kind = at.items[i].kind;
        if ((unsigned)kind > LAM__AT_REST) return refuse(p, LAM_ERR_OPTION, "item %lld is not an index", i);
        *rests += kind == LAM__AT_REST;
        *named += kind != LAM__AT_REST && kind != LAM__AT_NEW;
        p->mixed = p->mixed || kind == LAM__AT_TENSOR;
    }
    if (*rests > 1) return refuse(p, LAM_ERR_OPTION, "the index has LAM_REST %lld times", *rests);
    return *named <= p->rank || refuse(p, LAM_ERR_RANK, "the index names %lld axes", *named);
}

/* LAM_REST stands for as many axes as nothing else names, none included, and then still comes between what it stands
 * between, as in NumPy; without it they are at the end. Items are counted first, since what LAM_REST stands for is
 * known then only. */
static bool read_items(plan *p, lam_at at) {
    int named, rests, axis = 0;
    if (!count_items(p, at, &named, &rests)) return false;
    for (int i = 0; i < at.count; i++) {
        int kind = at.items[i].kind, times = kind == LAM__AT_REST ? p->rank - named : kind != LAM__AT_NEW;
        if (kind == LAM__AT_NEW) p->steps[p->count++] = NEW;
        if (kind == LAM__AT_REST && times == 0) p->steps[p->count++] = NONE;
        for (; times > 0; times--)
            if (!take_item(p, axis++, &at.items[i])) return false;
    }
    while (axis < p->rank) take_item(p, axis++, NULL);
    return true;
}

/* Broadcasts the dims of an index into the common ones. Index tensors of fewer axes get axes of one element in
 * front. */
static bool join_common(plan *p, int axis) {
    lam_dims own = lam_dims_of(p->index[axis]);
    for (; p->common_rank < own.rank; p->common_rank++) {
        for (int i = p->common_rank; i > 0; i--) p->common[i] = p->common[i - 1];
        p->common[0] = 1;
    }
    for (int i = 0; i < own.rank; i++) {
        int64_t *size = &p->common[p->common_rank - own.rank + i];
        if (*size == 1) *size = own.dims[i];
        else if (own.dims[i] != 1 && own.dims[i] != *size)
            return refuse(p, LAM_ERR_SHAPE, "the index of axis %lld does not broadcast against the others", axis);
    }
    return true;
}

/* The axes of the indices, broadcast, go into the result at one place. */
static void put_common(plan *p) {
    for (int i = 0; i < p->common_rank; i++) p->dims[p->result++] = p->common[i];
}

/* Whether the indexed axes are neighbours in the expression, their order, and the dims of the result. `state` is 0
 * before the first indexed axis, 1 among them and 2 behind: a second group of them parts them, and then the axes of the
 * indices come first. */
static bool lay_out(plan *p) {
    int state = 0, before = 0;
    p->together = true;
    for (int i = 0; i < p->count; i++) {
        bool indexed = p->steps[i] >= 0 && p->index[p->steps[i]];
        if (indexed && !join_common(p, p->steps[i])) return false;
        if (indexed && state == 2) p->together = false;
        state = indexed ? 1 : state ? 2 : 0;
        p->indexed += indexed;
    }
    p->first = 0;
    /* Whole axes in front of the first tensor stay in front of what it gives. */
    while (p->together && p->indexed && !p->index[p->first]) p->first++;
    for (int axis = 0; axis < p->rank; axis++) before += !p->index[axis] && axis < p->first;
    for (int axis = 0, a = before, o = 0; axis < p->rank; axis++) {
        if (o == before) o += p->indexed;
        p->order[p->index[axis] ? a++ : o++] = axis;
    }
    /* Parted groups have their common axes in front of all; else they stand where the first tensor does. */
    bool placed = !p->together;
    if (placed) put_common(p);
    for (int i = 0; i < p->count; i++) {
        int axis = p->steps[i];
        if (axis == NONE) continue;
        if (axis == NEW) p->dims[p->result++] = 1;
        else if (p->index[axis] && !placed) placed = true, put_common(p);
        else if (!p->index[axis] && !p->dropped[axis]) p->dims[p->result++] = lam_dim(p->part, axis);
    }
    return p->result <= LAM_INNER_RANK || refuse(p, LAM_ERR_RANK, "the result would have %lld axes", p->result);
}

/* Slices are taken here already, as a view, so that positions refer to `part`. Axes with a tensor are whole in it. */
static bool make_plan(const char *name, lam_tensor *x, lam_at at, lam_index_mode mode, plan *p) {
    *p = (plan){.name = name, .x = x, .mode = mode, .rank = lam_rank(x)};
    if (!lam__scope_peek(x)) return refuse(p, LAM_ERR_NULL, "the operand is NULL", 0);
    if ((unsigned)mode > LAM_INDEX_FILL) return refuse(p, LAM_ERR_OPTION, "there is no index mode %lld", (int)mode);
    if (!read_items(p, at)) return false;
    p->part = x;
    if (p->sliced)
        p->part =
            lam_slice(x, (lam_dims){p->rank, p->start}, (lam_dims){p->rank, p->stop}, (lam_dims){p->rank, p->step});
    return !lam_failed(p->part) && lay_out(p);
}

/* ---- following it ------------------------------------------------------------------------------------------------ */

/* part with the indexed axes as neighbours and made one. A transposition and a reshape, of which only the latter may
 * have to copy. */
static lam_tensor *merged(const plan *p) {
    lam_tensor *turned = lam_transpose(p->part, (lam_axes){p->rank, p->order});
    lam_dims own = lam_dims_of(turned);
    int64_t dims[LAM_INNER_RANK];
    int n = 0;
    for (int i = 0; i < own.rank; i++) {
        if (i > p->first && i < p->first + p->indexed) dims[n - 1] *= own.dims[i];
        else dims[n++] = own.dims[i];
    }
    return lam__apply_reshape(turned, n, dims);
}

/* Positions on the merged axis: the sum over the indexed axes of index times the elements behind it. In mode ERROR each
 * index is checked against its own axis, which a check of the sum would not do: (0, 5) of 2 x 3 is inside as a sum. In
 * the other modes it is clamped, so that a wrong one cannot wander into the next row; FILL marks the whole sum. */
static lam_tensor *positions(const plan *p) {
    lam_tensor *sum = NULL, *inside = NULL;
    int64_t step = 1;
    for (int i = p->first + p->indexed - 1; i >= p->first; i--) {
        int axis = p->order[i];
        int64_t n = lam_dim(p->part, axis);
        lam_tensor *at = p->index[axis];
        if (p->mode == LAM_INDEX_ERROR) {
            at = lam__index_wrap(at, n, n);
        } else {
            at = lam_cast(at, LAM_I64);
            at = lam_where(lam_lt(at, 0), lam_add(at, n), at);
            lam_tensor *fits = lam_and(lam_ge(at, 0), lam_lt(at, n));
            inside = inside ? lam_and(inside, fits) : fits;
            at = lam_clamp(at, 0, n - 1);
        }
        at = step == 1 ? at : lam_mul(at, step);
        sum = sum ? lam_add(sum, at) : at;
        step *= n;
    }
    /* By now `step` is the number of all positions, and so itself no position. */
    sum = p->mode == LAM_INDEX_FILL ? lam_where(inside, sum, step) : sum;
    return lam_broadcast_to(sum, (lam_dims){p->common_rank, p->common});
}

/* Without tensors nothing is taken: slices and a reshape. A result of the same dims is a view of what was taken. */
static lam_tensor *get(const plan *p) {
    lam_tensor *taken = p->indexed ? lam_take_mode(merged(p), positions(p), p->first, p->mode) : p->part;
    return lam_failed(taken) ? taken : lam__apply_reshape(taken, p->result, p->dims);
}

lam_tensor *lam_at_get_mode(lam_tensor *x, lam_at at, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    plan p;
    return lam__scope_only(make_plan("at_get", x, at, mode, &p) ? get(&p) : lam__axes_failed(x), since);
}

lam_tensor *lam_at_get(lam_tensor *x, lam_at at) {
    return lam_at_get_mode(x, at, LAM_INDEX_ERROR);
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* What stands in the place of the part; LAM_AT_SET takes the values as they are. */
static lam_tensor *combine(const plan *p, lam_at_op op, lam_tensor *values) {
    switch (op) {
    case LAM_AT_ADD: return lam_add(p->part, values);
    case LAM_AT_MUL: return lam_mul(p->part, values);
    case LAM_AT_MIN: return lam_min(p->part, values);
    case LAM_AT_MAX: return lam_max(p->part, values);
    default: return values;
    }
}

/* With tensors: combined where the positions point, an element that is named twice is combined twice (set: the
 * last). */
static lam_tensor *scatter(const plan *p, lam_at_op op, lam_tensor *values) {
    lam_tensor *x = merged(p), *at = positions(p);
    switch (op) {
    case LAM_AT_ADD: return lam_scatter_add_mode(x, at, values, p->first, p->mode);
    case LAM_AT_MUL: return lam_scatter_mul(x, at, values, p->first, p->mode);
    case LAM_AT_MIN: return lam_scatter_min(x, at, values, p->first, p->mode);
    case LAM_AT_MAX: return lam_scatter_max(x, at, values, p->first, p->mode);
    default: return lam_put_mode(x, at, values, p->first, p->mode);
    }
}

/* The dims of what is taken: those of the result without new axes; of the part where nothing is indexed. Values
 * broadcast to the result as the user sees it; the axes that only look different are brought back afterwards. New axes
 * have one element, so leaving them out moves nothing. */
static lam_tensor *fitted(const plan *p, lam_tensor *values) {
    int64_t dims[2 * LAM_INNER_RANK];
    int n = 0;
    values = lam__apply_broadcast(lam__apply_in_dtype_of("at", p->x, values), p->result, p->dims);
    if (lam_failed(values) || !p->indexed) {
        lam_dims own = lam_dims_of(p->part);
        return lam_failed(values) ? values : lam__apply_reshape(values, own.rank, own.dims);
    }
    for (int i = 0; i < p->rank; i++) {
        for (int k = 0; i == p->first && k < p->common_rank; k++) dims[n++] = p->common[k];
        if (!p->index[p->order[i]]) dims[n++] = lam_dim(p->part, p->order[i]);
    }
    return lam__apply_reshape(values, n, dims);
}

/* The updated axes apart again and where they were. The inverse of the order brings each axis back. */
static lam_tensor *unmerged(const plan *p, lam_tensor *x) {
    int64_t dims[LAM_INNER_RANK];
    int back[LAM_INNER_RANK];
    for (int i = 0; i < p->rank; i++) {
        dims[i] = lam_dim(p->part, p->order[i]);
        back[p->order[i]] = i;
    }
    return lam_failed(x) ? x : lam_transpose(lam__apply_reshape(x, p->rank, dims), (lam_axes){p->rank, back});
}

/* What the expression names is updated in `part`, and that set back where slices cut it out. Nothing is in place: x
 * keeps its value. */
lam_tensor *lam_at_update(lam_tensor *x, lam_at at, lam_tensor *values, lam_at_op op, lam_index_mode mode) {
    uint64_t since = lam__scope_now(x);
    static const char *const names[] = {"at_set", "at_add", "at_mul", "at_min", "at_max"};
    plan p;
    if ((unsigned)op > LAM_AT_MAX)
        return lam__axes_fail("at_update", x, LAM_ERR_OPTION, "there is no update %d", (int)op);
    lam_tensor *in[2] = {x, values}, *failed;
    lam_value *unused[2];
    if (!lam__scope_operands(names[op], 2, in, unused, &failed)) return failed;
    x = lam__scope_alias(names[op], x); /* looks at it, as no operation does where all elements are set */
    if (lam_failed(x)) return lam__scope_only(x, since);
    if (!make_plan(names[op], x, at, mode, &p)) return lam__axes_failed(x);
    values = fitted(&p, values);
    if (lam_failed(values)) return lam__scope_only(values, since);
    lam_tensor *part = p.indexed ? unmerged(&p, scatter(&p, op, values)) : combine(&p, op, values);
    if (p.sliced && !lam_failed(part))
        part = lam_update_slice(x, part, (lam_dims){p.rank, p.start}, (lam_dims){p.rank, p.stop},
                                (lam_dims){p.rank, p.step});
    return lam__scope_only(part, since);
}

/* Mode ERROR, as in all forms without one. */
lam_tensor *lam_at_set(lam_tensor *x, lam_at at, lam_tensor *values) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_at_update(x, at, values, LAM_AT_SET, LAM_INDEX_ERROR), since);
}

lam_tensor *lam_at_add(lam_tensor *x, lam_at at, lam_tensor *values) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_at_update(x, at, values, LAM_AT_ADD, LAM_INDEX_ERROR), since);
}

lam_tensor *lam_at_mul(lam_tensor *x, lam_at at, lam_tensor *values) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_at_update(x, at, values, LAM_AT_MUL, LAM_INDEX_ERROR), since);
}

lam_tensor *lam_at_min(lam_tensor *x, lam_at at, lam_tensor *values) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_at_update(x, at, values, LAM_AT_MIN, LAM_INDEX_ERROR), since);
}

lam_tensor *lam_at_max(lam_tensor *x, lam_at at, lam_tensor *values) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_at_update(x, at, values, LAM_AT_MAX, LAM_INDEX_ERROR), since);
}
