/* Elements of an axis repeated or moved, made of broadcasting, reshaping and slices: no rows, no rules. An axis is
 * worked on as the middle one of three, so that no rank is too high for the axis more that this takes. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The axis `count` times: each element of it (each), or as a whole. */
static lam_tensor *repeated(const char *operation, lam_tensor *x, int64_t count, int axis, bool each) {
    int64_t outer = 1, inner = 1, dims[LAM_INNER_RANK];
    lam_dims own = lam_dims_of(x);
    if (!lam__apply_axis(operation, x, own.rank, &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail(operation, x, LAM_ERR_NULL, "no tensor");
    if (count < 0) return lam__axes_fail(operation, x, LAM_ERR_VALUE, "%lld times is impossible", (long long)count);
    for (int i = 0; i < own.rank; i++) {
        dims[i] = own.dims[i];
        if (i < axis) outer *= own.dims[i];
        if (i > axis) inner *= own.dims[i];
    }
    const int64_t n = dims[axis];
    if (n && count > INT64_MAX / n) return lam__axes_fail(operation, x, LAM_ERR_OVERFLOW, "the sizes overflow");
    dims[axis] = n * count;
    const int64_t narrow[] = {outer, each ? n : 1, each ? 1 : n, inner};
    const int64_t wide[] = {outer, each ? n : count, each ? count : n, inner};
    x = lam__apply_broadcast(lam__apply_reshape(x, 4, narrow), 4, wide);
    return lam__apply_reshape(x, own.rank, dims);
}

lam_tensor *lam_repeat(lam_tensor *x, int64_t count, int axis) {
    return repeated("repeat", x, count, axis, true);
}

lam_tensor *lam_tile(lam_tensor *x, lam_dims repeats) {
    int rank = lam_rank(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("tile", x, LAM_ERR_NULL, "no tensor");
    if (repeats.rank != rank || (rank && !repeats.dims))
        return lam__axes_fail("tile", x, LAM_ERR_SHAPE, "%d numbers for %d axes", repeats.rank, rank);
    x = lam_alias(x);
    for (int i = 0; i < rank; i++)
        if (repeats.dims[i] != 1) x = repeated("tile", x, repeats.dims[i], i, false);
    return x;
}

lam_tensor *lam_roll(lam_tensor *x, int64_t shift, int axis) {
    if (!lam__apply_axis("roll", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("roll", x, LAM_ERR_NULL, "no tensor");
    int64_t n = lam_dim(x, axis);
    if (n == 0) return lam_alias(x);
    int64_t first = n - ((shift % n) + n) % n;
    return lam_concatenate(LAM_LIST(lam_slice_axis(x, axis, first, LAM_END), lam_slice_axis(x, axis, 0, first)), axis);
}
