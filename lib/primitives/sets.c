/* Counting and sets with results of a size that is given: where elements are not 0, which different ones there are, how
 * often each occurs. Made of sorting, running counts and scattering: no rows, no rules. A result's dims may not depend
 * on elements, since those are not known below vmap or on a tape; what is beyond the given size is dropped, what is
 * missing is marked or repeated, as the docstrings say. */
#include "lib/primitives/index.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

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
    if (!lam__scope_peek(x)) return lam__axes_fail(name, x, LAM_ERR_NULL, "no tensor"), lam_status_of(lam_ctx_of(x));
    lam_status status = !out ? LAM_ERR_NULL : own.rank == 0 ? LAM_ERR_RANK : size < 0 ? LAM_ERR_VALUE : LAM_OK;
    for (int i = 0; out && i < own.rank; i++) out[i] = lam__axes_failed(x);
    if (status != LAM_OK) return lam__axes_fail(name, x, status, "%lld of the elements", (long long)size), status;
    lam_tensor *is = flat(lam_ne(x, lam_zeros_like(x)));
    lam_tensor *numbers = lam_sub(lam_cumsum(is, 0), 1), *at = representatives(is, numbers, size);
    lam_tensor *none = lam_lt(at, 0);
    for (int i = 0; i < own.rank; i++) {
        lam_tensor *along = flat(lam_iota(lam_ctx_of(x), LAM_I64, own, i));
        out[i] = lam_where(none, -1, lam_take_mode(along, at, 0, LAM_INDEX_FILL));
    }
    lam__scope_only_these((size_t)own.rank, out, since);
    return lam_failed(out[own.rank - 1]) ? lam_status_of(lam_ctx_of(x)) : LAM_OK;
}

/* ---- unique ------------------------------------------------------------------------------------------------------ */

/* Equal elements are neighbours in sorted order, and a group begins where an element differs from the one before it.
 * The number of the group, put back by the inverse of the order, is `inverse`. NaNs are one group, though they equal
 * nothing: they stand last, and none begins a group behind another. Elements beyond `size` groups are dropped; missing
 * groups repeat the first. */
lam_tensor *lam_unique(lam_tensor *x, int64_t size, lam_tensor **inverse, lam_tensor **counts) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    lam_tensor *failed = lam__axes_failed(x);
    if (inverse) *inverse = failed;
    if (counts) *counts = failed;
    if (!lam__scope_peek(x)) return lam__axes_fail("unique", x, LAM_ERR_NULL, "no tensor");
    int64_t n = lam_size(x);
    if (size < 0 || (size > 0 && n == 0))
        return lam__axes_fail("unique", x, LAM_ERR_VALUE, "%lld of %lld elements", (long long)size, (long long)n);
    lam_tensor *line = flat(x), *order = lam_argsort(line, 0), *sorted = lam_take(line, order, 0);
    lam_tensor *next = lam_slice_axis(sorted, 0, 1, LAM_END), *last = lam_slice_axis(sorted, 0, 0, n ? -1 : 0);
    lam_tensor *step = lam_ne(next, last);
    if (lam__dtype_is_float((int)lam_dtype_of(x))) step = lam_and(step, lam_not(lam_is_nan(last)));
    lam_tensor *first = lam_ones_like(lam_eq(lam_slice_axis(order, 0, 0, 1), 0));
    lam_tensor *new = lam_concatenate(LAM_LIST(first, step), 0), *group = lam_sub(lam_cumsum(new, 0), 1);
    lam_tensor *at = representatives(new, group, size);
    if (inverse) *inverse = lam__apply_reshape(lam_take(group, lam_index_inverse(order, n), 0), own.rank, own.dims);
    if (counts) {
        lam_tensor *none = lam_zeros(lam_ctx_of(x), LAM_I64, LAM_DIMS(size));
        *counts = lam_scatter_add_mode(none, group, lam_ones_like(group), 0, LAM_INDEX_FILL);
    }
    lam_tensor *const results[] = {lam_take(sorted, lam_where(lam_lt(at, 0), 0, at), 0), inverse ? *inverse : NULL,
                                   counts ? *counts : NULL};
    lam__scope_only_these(3, results, since);
    return results[0];
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
    for (int i = 0; i < 2; i++)
        if (lam_dtype_of(in[i]) == LAM_BOOL) in[i] = lam_cast(in[i], LAM_U8);
    int64_t n = lam_size(in[1]);
    lam_tensor *sorted = lam_sort(flat(in[1]), 0);
    if (n == 0) return lam__scope_only(lam_ne(lam_zeros_like(in[0]), lam_zeros_like(in[0])), since);
    lam_tensor *at = lam_min(lam_searchsorted(sorted, in[0], false), n - 1);
    return lam__scope_only(lam_eq(lam_take(sorted, at, 0), in[0]), since);
}

/* ---- bincount, histogram ----------------------------------------------------------------------------------------- */

/* Adds ones or weights to `length` places; places outside are left out, negative ones too, which would else count from
 * the end. Linear in the weights, with the derivative of scattering. */
static lam_tensor *tally(const char *name, lam_tensor *places, lam_tensor *weights, int64_t length) {
    lam_dims own = lam_dims_of(places);
    lam_dtype dtype = LAM_I64;
    if (weights) {
        bool fits = lam_rank(weights) == own.rank;
        for (int i = 0; fits && i < own.rank; i++) fits = lam_dim(weights, i) == own.dims[i];
        if (!fits) return lam__axes_fail(name, weights, LAM_ERR_SHAPE, "the weights have other dims than x");
        if (lam_dtype_of(weights) == LAM_BOOL) weights = lam_cast(weights, LAM_I64);
        dtype = lam_dtype_of(weights);
    }
    places = lam_cast(flat(places), LAM_I64);
    places = lam_where(lam_lt(places, 0), length, places);
    lam_tensor *base = lam_zeros(lam_ctx_of(places), dtype, LAM_DIMS(length));
    lam_tensor *added = weights ? flat(weights) : lam_ones_like(places);
    return lam_failed(base) ? base : lam_scatter_add_mode(base, places, added, 0, LAM_INDEX_FILL);
}

/* x and, where they are given, weights are alive and of one context. */
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
    if (lam__dtype_is_float((int)lam_dtype_of(x)) || lam_dtype_of(x) == LAM_BOOL)
        return lam__axes_fail(name, x, LAM_ERR_DTYPE, "only integers are counted");
    return lam__scope_only(tally(name, x, weights, length), since);
}

/* Bins are half open but for the last, which has its right edge, as in NumPy. An x below the first edge gets place -1
 * and one beyond the last edge place `bins`; both are left out. */
lam_tensor *lam_histogram(lam_tensor *x, lam_tensor *edges, lam_tensor *weights) {
    uint64_t since = lam__scope_now(x);
    const char *name = "histogram";
    lam_tensor *failed;
    if (!edges) return lam__axes_fail(name, x, LAM_ERR_NULL, "no edges");
    if (!usable(name, x, edges, weights, &failed)) return failed;
    if (lam_rank(edges) != 1) return lam__axes_fail(name, edges, LAM_ERR_RANK, "the edges are no vector");
    int64_t bins = lam_dim(edges, 0) - 1;
    if (bins < 1) return lam__axes_fail(name, edges, LAM_ERR_SHAPE, "a bin has two edges");
    lam_tensor *place = lam_sub(lam_searchsorted(edges, x, true), 1), *last = lam_index(edges, 0, -1);
    place = lam_where(lam_eq(x, last), bins - 1, place);
    return lam__scope_only(tally(name, place, weights, bins), since);
}
