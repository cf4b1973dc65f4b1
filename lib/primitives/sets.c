/* Counting and sets with results of a size that is given: where elements are not 0, which different ones there are, how
 * often each occurs. Made of sorting, running counts and scattering: no rows, no rules. A result's dims may not depend
 * on elements, since those are not known below vmap or on a tape; what is beyond the given size is dropped, what is
 * missing is marked or repeated, as the docstrings say. */
#include "lib/primitives/index.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Sets have no axes. */
static lam_tensor *flat(lam_tensor *x) {
    return lam__apply_reshape(x, 1, (const int64_t[]){lam_size(x)});
}

/* For each of `size` groups, the element that is the last with this number; -1 where there is none. `wanted` says which
 * elements count. */
static lam_tensor *representatives(lam_tensor *wanted, lam_tensor *numbers, int64_t size) {
    return lam__index_last(lam_where(wanted, numbers, size), size);
}

/* ---- nonzero ----------------------------------------------------------------------------------------------------- */

/* The running count of what is not 0 numbers these elements, and the last (and only) element of each number is its
 * place. Coordinates are read from a count along each axis. Places behind the last element that is not 0 are -1. */
lam_status lam_nonzero(lam_tensor *x, int64_t size, lam_tensor **out) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    const char *name = "nonzero";
    /* Named here, since own.rank of no tensor would say that it has no axes. */
    lam_tensor *none_of = lam__scope_peek(x) ? NULL : lam__axes_fail(name, x, LAM_ERR_NULL, "the operand is NULL");
    if (none_of) return lam__apply_status(1, &none_of);
    lam_status status = !out ? LAM_ERR_NULL : own.rank == 0 ? LAM_ERR_RANK : size < 0 ? LAM_ERR_VALUE : LAM_OK;
    for (int i = 0; out && i < own.rank; i++) out[i] = lam__axes_failed(x);
    if (status != LAM_OK) return lam__axes_fail(name, x, status, "%lld of the elements", (long long)size), status;
    lam_tensor *is = flat(lam_ne(x, lam_zeros_like(x)));
    /* One less than the count, so that numbers begin with 0. */
    lam_tensor *numbers = lam_sub(lam_cumsum(is, 0), 1), *at = representatives(is, numbers, size);
    lam_tensor *none = lam_lt(at, 0);
    for (int i = 0; i < own.rank; i++) {
        lam_tensor *along = flat(lam_iota(lam_ctx_of(x), LAM_I64, own, i));
        out[i] = lam_where(none, -1, lam_take_mode(along, at, 0, LAM_INDEX_FILL));
    }
    lam__scope_only_these((size_t)own.rank, out, since);
    return lam__apply_status((size_t)own.rank, out);
}

/* ---- unique ------------------------------------------------------------------------------------------------------ */

/* Equal elements are neighbours in sorted order, and a group begins where an element differs from the one before it.
 * NaNs are one group, though they equal nothing: they stand last, and none begins a group behind another. */
static lam_tensor *beginnings(lam_tensor *sorted, int64_t n) {
    lam_tensor *next = lam_slice_axis(sorted, 0, 1, LAM_END), *last = lam_slice_axis(sorted, 0, 0, n ? -1 : 0);
    lam_tensor *step = lam_ne(next, last);
    if (lam__dtype_is_inexact((int)lam_dtype_of(sorted))) step = lam_and(step, lam_not(lam_is_nan(last)));
    /* The first element, where there is one, begins a group in any case. */
    return lam_concatenate(LAM_LIST(lam_ones(lam_ctx_of(sorted), LAM_BOOL, LAM_DIMS(n > 0)), step), 0);
}

/* The first axis of x in this order has groups that begin where `new` is true. The number of the group, put back by the
 * inverse of the order, is `inverse`. Elements beyond `size` groups are dropped; missing groups repeat the first. */
static lam_tensor *groups_of(lam_tensor *sorted, lam_tensor *order, lam_tensor *new, int64_t size, lam_tensor **inverse,
                             lam_tensor **counts) {
    lam_tensor *group = lam_sub(lam_cumsum(new, 0), 1), *at = representatives(new, group, size);
    /* Where an element came from is the place to which its group goes back. */
    if (inverse) *inverse = lam_take(group, lam_index_inverse(order, lam_size(order)), 0);
    if (counts) {
        lam_tensor *none = lam_zeros(lam_ctx_of(new), LAM_I64, LAM_DIMS(size));
        *counts = lam_scatter_add_mode(none, group, lam_ones_like(group), 0, LAM_INDEX_FILL);
    }
    return lam_take(sorted, lam_where(lam_lt(at, 0), 0, at), 0);
}

/* Whether `size` of n elements can be given; the results that come beside them are failed ones until they are made. It
 * runs first, so that whoever returns early leaves no garbage in them. */
static bool some_of(const char *name, lam_tensor *x, int64_t size, int64_t n, lam_tensor **inverse,
                    lam_tensor **counts) {
    if (inverse) *inverse = lam__axes_failed(x);
    if (counts) *counts = lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail(name, x, LAM_ERR_NULL, "the operand is NULL"), false;
    if (size >= 0 && (size == 0 || n > 0)) return true;
    return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld of %lld elements", (long long)size, (long long)n), false;
}

/* What is not asked for is not made. */
lam_tensor *lam_unique(lam_tensor *x, int64_t size, lam_tensor **inverse, lam_tensor **counts) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    const int64_t n = lam_size(x);
    if (!some_of("unique", x, size, n, inverse, counts)) return lam__axes_failed(x);
    lam_tensor *line = flat(x), *order = lam_argsort(line, 0), *sorted = lam_take(line, order, 0);
    lam_tensor *number = NULL, *times = NULL, *new = beginnings(sorted, n);
    lam_tensor *out = groups_of(sorted, order, new, size, inverse ? &number : NULL, counts ? &times : NULL);
    if (inverse) *inverse = number = lam__apply_reshape(number, own.rank, own.dims);
    if (counts) *counts = times;
    lam_tensor *const results[] = {out, number, times};
    lam__scope_only_these(3, results, since);
    return out;
}

/* The order of rows [n, m] by their elements from the first to the last: each column is a key. */
static lam_tensor *order_of_rows(lam_tensor *rows, int64_t n, int64_t m) {
    lam_ctx *ctx = lam_ctx_of(rows);
    /* Rows of no elements are all alike, and stand in order as they are. */
    if (m == 0) return lam_iota(ctx, LAM_I64, LAM_DIMS(n), 0);
    lam_tensor **keys = lam__apply_room(ctx, (size_t)m);
    if (!keys) return lam__axes_failed(rows);
    /* lam_lexsort takes the key that counts most last. */
    for (int64_t i = 0; i < m; i++) keys[i] = lam_index(rows, 1, m - 1 - i);
    return lam_lexsort((lam_list){(size_t)m, keys}, 0);
}

/* Where a row differs from the one before it in any element; NaN does not differ from NaN. */
static lam_tensor *new_rows(lam_tensor *sorted, int64_t n) {
    lam_tensor *next = lam_slice_axis(sorted, 0, 1, LAM_END), *last = lam_slice_axis(sorted, 0, 0, n ? -1 : 0);
    lam_tensor *differ = lam_ne(next, last);
    if (lam__dtype_is_inexact((int)lam_dtype_of(sorted)))
        differ = lam_and(differ, lam_not(lam_and(lam_is_nan(next), lam_is_nan(last))));
    lam_tensor *step = lam_any(differ, &(lam_reduce_options){.axes = LAM_AXES(1)});
    return lam_concatenate(LAM_LIST(lam_ones(lam_ctx_of(sorted), LAM_BOOL, LAM_DIMS(n > 0)), step), 0);
}

/* As lam_unique, of rows with all that is behind the first axis in them. */
lam_tensor *lam_unique_rows(lam_tensor *x, int64_t size, lam_tensor **inverse, lam_tensor **counts) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK], m = 1;
    /* A scalar is refused below, by name, once its results are failed ones. */
    const int64_t n = own.rank ? own.dims[0] : 1;
    if (!some_of("unique_rows", x, size, n, inverse, counts)) return lam__axes_failed(x);
    if (own.rank == 0) return lam__axes_fail("unique_rows", x, LAM_ERR_RANK, "a scalar has no rows");
    if (lam__dtype_is_complex((int)lam_dtype_of(x)))
        return lam__axes_fail("unique_rows", x, LAM_ERR_DTYPE, "complex numbers have no order");
    /* Rows are compared as lists of m elements, whatever axes they have. */
    for (int i = 1; i < own.rank; i++) m *= own.dims[i];
    for (int i = 0; i < own.rank; i++) dims[i] = i ? own.dims[i] : size;
    lam_tensor *rows = lam__apply_reshape(x, 2, (const int64_t[]){n, m}), *order = order_of_rows(rows, n, m);
    lam_tensor *sorted = lam_take(rows, order, 0);
    lam_tensor *number = NULL, *times = NULL, *new = new_rows(sorted, n);
    lam_tensor *out = groups_of(sorted, order, new, size, inverse ? &number : NULL, counts ? &times : NULL);
    out = lam__apply_reshape(out, own.rank, dims);
    if (inverse) *inverse = number;
    if (counts) *counts = times;
    lam_tensor *const results[] = {out, number, times};
    lam__scope_only_these(3, results, since);
    return out;
}

/* ---- unions, intersections, differences -------------------------------------------------------------------------- */

typedef enum members { OF_EITHER, OF_BOTH, OF_FIRST, OF_ONE } members;

/* The groups of x and y together in ascending order, and who has members in each: numbers of groups that are counted
 * from the members, none of which are beyond the last group. */
static lam_tensor *wanted_groups(lam_tensor *group, lam_tensor *of_second, members what) {
    lam_tensor *none = lam_zeros_like(group);
    lam_tensor *second = lam_gt(lam_scatter_add(none, group, lam_cast(of_second, LAM_I64), 0), 0);
    lam_tensor *first = lam_gt(lam_scatter_add(none, group, lam_cast(lam_not(of_second), LAM_I64), 0), 0);
    return what == OF_EITHER  ? lam_or(first, second)
           : what == OF_BOTH  ? lam_and(first, second)
           : what == OF_FIRST ? lam_and(first, lam_not(second))
                              : lam_xor(first, second);
}

/* Elements of x stand before equal ones of y, since the order is stable, so that a group is shown by x's where it has
 * one. `fill` stands behind the last. */
static lam_tensor *set_of(const char *name, lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count,
                          members what) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed, *begins, *places;
    const bool usable = lam__matrices_ordered(name, false, 2, in, &failed);
    if (count) *count = usable ? lam__axes_failed(x) : failed;
    if (!usable) return failed;
    if (size < 0) return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld elements", (long long)size);
    const int64_t n = lam_size(in[0]) + lam_size(in[1]);
    lam_tensor *all = lam_concatenate(LAM_LIST(flat(in[0]), flat(in[1])), 0), *order = lam_argsort(all, 0);
    lam_tensor *sorted = lam_take(all, order, 0), *new = beginnings(sorted, n);
    lam_tensor *of_second = lam_ge(order, lam_size(in[0]));
    lam_tensor *wanted = wanted_groups(lam_sub(lam_cumsum(new, 0), 1), of_second, what);
    if (lam_failed(wanted)) return wanted;
    lam_nonzero(wanted, size, &places);
    /* There are no more groups than elements. */
    lam_nonzero(new, n, &begins);
    /* Without elements nothing can be taken: the place of the first is looked at, which `fill` replaces. */
    lam_tensor *one = lam_zeros(lam_ctx_of(x), LAM_I64, LAM_DIMS(n == 0)), *none = lam_lt(places, 0);
    lam_tensor *at = lam_take(lam_concatenate(LAM_LIST(begins, one), 0), lam_max(places, 0), 0);
    sorted = lam_concatenate(LAM_LIST(sorted, lam_cast(one, lam_dtype_of(sorted))), 0);
    lam_tensor *filled = lam_cast(lam_scalar(lam_ctx_of(x), fill), lam_dtype_of(sorted));
    lam_tensor *out = lam_where(none, filled, lam_take(sorted, at, 0)), *number = lam_sum(wanted, NULL);
    lam_tensor *const results[] = {out, count ? number : NULL};
    if (count) *count = number;
    lam__scope_only_these(2, results, since);
    return out;
}

lam_tensor *lam_set_union(lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(set_of("set_union", x, y, size, fill, count, OF_EITHER), since);
}

lam_tensor *lam_set_intersection(lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(set_of("set_intersection", x, y, size, fill, count, OF_BOTH), since);
}

lam_tensor *lam_set_difference(lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(set_of("set_difference", x, y, size, fill, count, OF_FIRST), since);
}

lam_tensor *lam_set_symmetric_difference(lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(set_of("set_symmetric_difference", x, y, size, fill, count, OF_ONE), since);
}

/* ---- is_in ------------------------------------------------------------------------------------------------------- */

/* A search in the sorted elements and a look at what stands there. NaN equals nothing and so is in nothing. */
lam_tensor *lam_is_in(lam_tensor *x, lam_tensor *elements) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, elements}, *failed;
    if (!lam__matrices_operands("is_in", false, 2, in, in, &failed)) return failed;
    if (lam__dtype_is_complex((int)lam_dtype_of(in[0])))
        return lam__matrices_fail("is_in", 2, in, LAM_ERR_DTYPE, "take lam_real, lam_imag or lam_abs of them",
                                  "complex numbers have no order");
    /* As bytes they have an order to search in. */
    for (int i = 0; i < 2; i++)
        if (lam_dtype_of(in[i]) == LAM_BOOL) in[i] = lam_cast(in[i], LAM_U8);
    int64_t n = lam_size(in[1]);
    lam_tensor *sorted = lam_sort(flat(in[1]), 0);
    /* Nothing lies in an empty list: false in the dims of x. */
    if (n == 0) return lam__scope_only(lam_ne(lam_zeros_like(in[0]), lam_zeros_like(in[0])), since);
    lam_tensor *at = lam_min(lam_searchsorted(sorted, in[0], false), n - 1);
    return lam__scope_only(lam_eq(lam_take(sorted, at, 0), in[0]), since);
}

/* ---- bincount, histogram ----------------------------------------------------------------------------------------- */

/* Adds ones or weights to `length` places; places outside are left out. Negative ones would else count from the end:
 * they go to a place behind the others, which is cut off. Linear in the weights, with the derivative of scattering. */
static lam_tensor *tally(const char *name, lam_tensor *places, lam_tensor *weights, int64_t length) {
    lam_dims own = lam_dims_of(places);
    lam_dtype dtype = LAM_I64;
    if (weights) {
        bool fits = lam_rank(weights) == own.rank;
        for (int i = 0; fits && i < own.rank; i++) fits = lam_dim(weights, i) == own.dims[i];
        /* A failed operand is left to what follows, which hands it on without a message of its own. */
        if (!fits && lam__scope_peek(places) && lam__scope_peek(weights))
            return lam__matrices_fail(name, 2, (lam_tensor *[]){places, weights}, LAM_ERR_SHAPE, NULL,
                                      "the weights have other dims than x");
        /* As weights, bools count what they mark. */
        if (lam_dtype_of(weights) == LAM_BOOL) weights = lam_cast(weights, LAM_I64);
        dtype = lam_dtype_of(weights);
    }
    places = lam_max(lam_cast(flat(places), LAM_I64), -1);
    const int64_t all = length < INT64_MAX ? length + 1 : length; /* so many there are not anyway */
    lam_tensor *base = lam_zeros(lam_ctx_of(places), dtype, LAM_DIMS(all));
    lam_tensor *added = weights ? flat(weights) : lam_ones_like(places);
    if (lam_failed(base)) return base;
    return lam_slice_axis(lam_scatter_add_mode(base, places, added, 0, LAM_INDEX_FILL), 0, 0, length);
}

/* x and, where they are given, weights are alive and of one context. Of two or three operands the list is filled from
 * the front. */
static bool usable(const char *name, lam_tensor *x, lam_tensor *more, lam_tensor *weights, lam_tensor **failed) {
    lam_tensor *in[3] = {x, more ? more : weights, weights};
    lam_value *values[3];
    return lam__scope_operands(name, 1u + (more != NULL) + (weights != NULL), in, values, failed);
}

/* Bools are refused: counting them is lam_sum, and as places they are most likely a mistake. */
lam_tensor *lam_bincount(lam_tensor *x, lam_tensor *weights, int64_t length) {
    uint64_t since = lam__scope_now(x);
    const char *name = "bincount";
    lam_tensor *failed;
    if (!usable(name, x, NULL, weights, &failed)) return failed;
    if (length < 0) return lam__axes_fail(name, x, LAM_ERR_VALUE, "there cannot be %lld places", (long long)length);
    if (lam__dtype_is_inexact((int)lam_dtype_of(x)) || lam_dtype_of(x) == LAM_BOOL)
        return lam__axes_fail(name, x, LAM_ERR_DTYPE, "only integers are counted");
    return lam__scope_only(tally(name, x, weights, length), since);
}

/* Bins are half open but for the last, which has its right edge, as in NumPy. An x below the first edge gets place -1
 * and one beyond the last edge place `bins`; both are left out. */
static lam_tensor *bins_of(lam_tensor *x, lam_tensor *edges, int64_t bins) {
    lam_tensor *place = lam_sub(lam_searchsorted(edges, x, true), 1);
    return lam_where(lam_eq(x, lam_index(edges, 0, -1)), bins - 1, place);
}

/* False after recording that the edges, a vector, do not ascend, where that can be seen. NaN does not. The comparison
 * belongs to no result and is freed at once. */
static bool edges_ascend(const char *name, lam_tensor *edges) {
    lam_scope scope;
    lam__scope_open(edges->ctx, &scope);
    const bool ascend = lam__seen_true(lam_le(lam_slice_axis(edges, 0, 0, -1), lam_slice_axis(edges, 0, 1, LAM_END)));
    lam__scope_close(&scope);
    if (!ascend) lam__axes_fail_with(name, edges, LAM_ERR_VALUE, "sort them first", "the edges do not ascend");
    return ascend;
}

/* Edges that cannot be seen, as those of a batch, are taken to ascend. */
lam_tensor *lam_histogram(lam_tensor *x, lam_tensor *edges, lam_tensor *weights) {
    uint64_t since = lam__scope_now(x);
    const char *name = "histogram";
    lam_tensor *failed;
    if (!edges) return lam__axes_fail(name, x, LAM_ERR_NULL, "no edges");
    if (!usable(name, x, edges, weights, &failed)) return failed;
    if (lam_rank(edges) != 1) return lam__axes_fail(name, edges, LAM_ERR_RANK, "the edges are not a vector");
    int64_t bins = lam_dim(edges, 0) - 1;
    if (bins < 1) return lam__axes_fail(name, edges, LAM_ERR_SHAPE, "a bin has two edges");
    if (!edges_ascend(name, edges)) return lam__axes_failed(x);
    return lam__scope_only(tally(name, bins_of(x, edges, bins), weights, bins), since);
}

/* Edges are vectors that ascend; how many bins each has, and altogether. They are checked along each axis before
 * anything is counted. */
static bool edges_fit(const char *name, lam_list edges, int64_t dims[], int64_t *total) {
    *total = 1;
    for (size_t k = 0; k < edges.count; k++) {
        lam_tensor *e = edges.items[k];
        if (lam_rank(e) != 1) return lam__axes_fail(name, e, LAM_ERR_RANK, "the edges are not a vector"), false;
        dims[k] = lam_dim(e, 0) - 1;
        if (dims[k] < 1) return lam__axes_fail(name, e, LAM_ERR_SHAPE, "a bin has two edges"), false;
        if (*total > INT64_MAX / dims[k]) return lam__axes_fail(name, e, LAM_ERR_OVERFLOW, "the sizes overflow"), false;
        if (!edges_ascend(name, e)) return false;
        *total *= dims[k];
    }
    return true;
}

/* The bins of a point along each axis are one number; where one of them is none, the point lies nowhere. */
lam_tensor *lam_histogram_nd(lam_tensor *x, lam_list edges, lam_tensor *weights) {
    uint64_t since = lam__scope_now(x);
    const char *name = "histogram_nd";
    lam_tensor *failed, *first = edges.count && edges.items ? edges.items[0] : NULL;
    int64_t dims[LAM_MAX_RANK], total;
    lam_value *values[LAM_MAX_RANK];
    if (!first || edges.count > LAM_MAX_RANK)
        return lam__axes_fail(name, x, LAM_ERR_ARITY, "%zu lists of edges", edges.count);
    if (!usable(name, x, first, weights, &failed)) return failed;
    if (!lam__scope_operands(name, edges.count, edges.items, values, &failed)) return failed;
    if (lam_rank(x) != 2 || lam_dim(x, 1) != (int64_t)edges.count)
        return lam__axes_fail(name, x, LAM_ERR_SHAPE, "points of %zu coordinates are needed", edges.count);
    if (!edges_fit(name, edges, dims, &total)) return lam__axes_failed(x);
    /* Places are row-major among the bins, as the result is. */
    lam_tensor *place = NULL, *outside = NULL;
    for (size_t k = 0; k < edges.count; k++) {
        lam_tensor *bin = bins_of(lam_index(x, 1, (int64_t)k), edges.items[k], dims[k]);
        lam_tensor *off = lam_or(lam_lt(bin, 0), lam_ge(bin, dims[k]));
        place = place ? lam_add(lam_mul(place, dims[k]), bin) : bin;
        outside = outside ? lam_or(outside, off) : off;
    }
    /* The place behind the last bin, which tally cuts off. */
    lam_tensor *sums = tally(name, lam_where(outside, total, place), weights, total);
    return lam__scope_only(lam_failed(sums) ? sums : lam_reshape(sums, (lam_dims){(int)edges.count, dims}), since);
}

/* The last edge is the greatest element itself, so that it lies in the last bin. */
lam_tensor *lam_histogram_edges(lam_tensor *x, int64_t bins) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("histogram_edges", true, 1, &x, &failed)) return failed;
    if (bins < 1) return lam__axes_fail("histogram_edges", x, LAM_ERR_VALUE, "%lld bins", (long long)bins);
    const int64_t count = bins < INT64_MAX ? bins + 1 : bins;
    /* As numpy.histogram_bin_edges has it for no elements, and below for one value: half a unit to both sides. */
    if (lam_size(x) == 0) return lam__scope_only(lam_linspace(lam_ctx_of(x), lam_dtype_of(x), 0, 1, count), since);
    lam_tensor *low = lam_min_reduce(x, NULL), *high = lam_max_reduce(x, NULL), *point = lam_eq(low, high);
    low = lam_where(point, lam_sub(low, 0.5), low);
    high = lam_where(point, lam_add(high, 0.5), high);
    lam_tensor *part = lam_div(lam_arange(lam_ctx_of(x), LAM_F64, 0, (double)bins, 1), (double)bins);
    part = lam_cast(part, lam_dtype_of(x));
    lam_tensor *edges = lam_add(low, lam_mul(part, lam_sub(high, low)));
    return lam__scope_only(lam_concatenate(LAM_LIST(edges, lam_expand_dims(high, 0)), 0), since);
}
