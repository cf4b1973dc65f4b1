/* Elements of an axis repeated or moved, made of broadcasting, reshaping and slices: no rows, no rules. An axis is
 * worked on as the middle one of three, so that no rank is too high for the axis more that this takes. Everything up to
 * the last reshape is a view; that one copies, once, where the elements cannot stay where they are. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The axis `count` times: each element of it (each: a a b b), or as a whole (a b a b). An axis of one element is put
 * behind or before it and stretched to `count`, then both are made one. So the gradient is a sum over the stretched
 * axis, without an index in it. */
static lam_tensor *repeated(const char *operation, lam_tensor *x, int64_t count, int axis, bool each) {
    int64_t outer = 1, inner = 1, dims[LAM_INNER_RANK];
    lam_dims own = lam_dims_of(x);
    if (!lam__apply_axis(operation, x, own.rank, &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail(operation, x, LAM_ERR_NULL, "the operand is NULL");
    if (count < 0) return lam__axes_fail(operation, x, LAM_ERR_VALUE, "%lld times is impossible", (long long)count);
    for (int i = 0; i < own.rank; i++) {
        dims[i] = own.dims[i];
        if (i < axis) outer *= own.dims[i];
        if (i > axis) inner *= own.dims[i];
    }
    const int64_t n = dims[axis];
    /* With no elements any count goes: the result has none either. */
    if (n && count > INT64_MAX / n) return lam__axes_fail(operation, x, LAM_ERR_OVERFLOW, "the sizes overflow");
    dims[axis] = n * count;
    const int64_t narrow[] = {outer, each ? n : 1, each ? 1 : n, inner};
    const int64_t wide[] = {outer, each ? n : count, each ? count : n, inner};
    x = lam__apply_broadcast(lam__apply_reshape(x, 4, narrow), 4, wide);
    return lam__apply_reshape(x, own.rank, dims);
}

/* Each element `count` times in place, as numpy.repeat with one number. Repeats per element, another number for each,
 * would give a result whose size depends on elements. */
lam_tensor *lam_repeat(lam_tensor *x, int64_t count, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(repeated("repeat", x, count, axis, true), since);
}

/* Numbers of times line up with the axes from the last one, as in NumPy: more of them than axes put axes of one element
 * in front, fewer leave the first axes alone. Axes that stay as they are, the usual case, cost nothing. A list of no
 * numbers gives x as it is, under another handle. */
lam_tensor *lam_tile(lam_tensor *x, lam_dims repeats) {
    uint64_t since = lam__scope_now(x);
    int rank = lam_rank(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("tile", x, LAM_ERR_NULL, "the operand is NULL");
    if (repeats.rank < 0 || repeats.rank > LAM_MAX_RANK || (repeats.rank && !repeats.dims))
        return lam__axes_fail("tile", x, LAM_ERR_RANK, "%d numbers of times, at most %d are possible", repeats.rank,
                              LAM_MAX_RANK);
    /* As many axes as numbers; further ones of x in front are not counted. */
    if (repeats.rank > rank) {
        int64_t dims[LAM_MAX_RANK];
        for (int i = 0; i < repeats.rank; i++) dims[i] = i < repeats.rank - rank ? 1 : lam_dim(x, i - repeats.rank);
        x = lam__apply_reshape(x, rank = repeats.rank, dims);
    } else {
        x = lam_alias(x);
    }
    for (int i = 0; i < repeats.rank; i++)
        if (repeats.dims[i] != 1) x = repeated("tile", x, repeats.dims[i], rank - repeats.rank + i, false);
    return lam__scope_only(x, since);
}

/* Two slices in the other order; the way back is two slices of the cotangent. `first` is the element that comes to the
 * front, and the shift is brought into 0 to n - 1 first, where a negative one needs C's remainder corrected. Elements
 * that leave at one end come in at the other, so nothing is lost and the derivative is a roll back. */
lam_tensor *lam_roll(lam_tensor *x, int64_t shift, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("roll", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("roll", x, LAM_ERR_NULL, "the operand is NULL");
    int64_t n = lam_dim(x, axis);
    /* Of no elements any shift is none. */
    if (n == 0) return lam_alias(x);
    int64_t first = n - ((shift % n) + n) % n;
    return lam__scope_only(
        lam_concatenate(LAM_LIST(lam_slice_axis(x, axis, first, LAM_END), lam_slice_axis(x, axis, 0, first)), axis),
        since);
}

/* By indices, as the shift is known to the elements only; the way back is a scatter. Both numbers are brought into 0 to
 * n - 1 before they meet, so that nothing overflows. */
lam_tensor *lam_roll_by(lam_tensor *x, lam_tensor *shift, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, shift}, *failed;
    lam_value *v[2];
    if (!lam__scope_operands("roll_by", 2, in, v, &failed)) return failed;
    if (!lam__apply_axis("roll_by", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (lam_rank(shift) != 0) return lam__axes_fail("roll_by", shift, LAM_ERR_RANK, "a shift is one number");
    if (lam__dtype_is_inexact((int)lam_dtype_of(shift)) || lam_dtype_of(shift) == LAM_BOOL)
        return lam__axes_fail("roll_by", shift, LAM_ERR_DTYPE, "a shift is an integer");
    const int64_t n = lam_dim(x, axis);
    if (n == 0) return lam_alias(x);
    lam_tensor *from = lam_sub(lam_iota(lam_ctx_of(x), LAM_I64, LAM_DIMS(n), 0), lam_mod(lam_cast(shift, LAM_I64), n));
    return lam__scope_only(lam_take(x, lam_mod(from, n), axis), since);
}

/* A transposition and so a view. The same axis twice is no mistake, and changes nothing. */
lam_tensor *lam_swapaxes(lam_tensor *x, int axis1, int axis2) {
    uint64_t since = lam__scope_now(x);
    int rank = lam_rank(x), order[LAM_INNER_RANK];
    if (!lam__apply_axis("swapaxes", x, rank, &axis1) || !lam__apply_axis("swapaxes", x, rank, &axis2))
        return lam__axes_failed(x);
    for (int i = 0; i < rank; i++) order[i] = i == axis1 ? axis2 : i == axis2 ? axis1 : i;
    return lam__scope_named(lam_transpose(x, (lam_axes){rank, order}), since);
}

/* As numpy.rot90: a turn from axis1 towards axis2 is a reversal and a transposition, whose order tells the direction.
 * All are views. `times` may be negative or large. A reversal of both axes is the half turn. */
lam_tensor *lam_rot90(lam_tensor *x, int times, int axis1, int axis2) {
    uint64_t since = lam__scope_now(x);
    int rank = lam_rank(x);
    if (!lam__apply_axis("rot90", x, rank, &axis1) || !lam__apply_axis("rot90", x, rank, &axis2))
        return lam__axes_failed(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("rot90", x, LAM_ERR_NULL, "the operand is NULL");
    if (axis1 == axis2) return lam__axes_fail("rot90", x, LAM_ERR_AXIS, "the plane is axis %d twice", axis1);
    times = (times % 4 + 4) % 4;
    if (times == 0) return lam_alias(x);
    if (times == 2) return lam__scope_only(lam_reverse(x, LAM_AXES(axis1, axis2)), since);
    if (times == 1) return lam__scope_only(lam_swapaxes(lam_reverse(x, LAM_AXES(axis2)), axis1, axis2), since);
    return lam__scope_only(lam_reverse(lam_swapaxes(x, axis1, axis2), LAM_AXES(axis2)), since);
}

/* Matrix indexing: result i varies along axis i. Results are views of the vectors, of stride 0 along all other axes, so
 * a grid takes no memory until something is computed on it. All operands are checked before any result is made. */
lam_status lam_meshgrid(lam_list vectors, lam_tensor **out, size_t n_out) {
    int64_t dims[LAM_MAX_RANK], own[LAM_MAX_RANK];
    lam_value *values[LAM_MAX_RANK];
    lam_tensor *failed = lam__axes_failed(vectors.count && vectors.items ? vectors.items[0] : NULL);
    size_t n = vectors.count;
    /* Who looks at no status finds failed tensors. */
    for (size_t i = 0; out && i < n_out; i++) out[i] = failed;
    if (!n || !vectors.items || n > LAM_MAX_RANK || n != n_out || !out)
        return lam__error_fail(lam_ctx_of(failed), LAM_ERR_ARITY, "meshgrid: %zu vectors and %zu results", n, n_out),
               LAM_ERR_ARITY;
    lam_ctx *ctx = lam__scope_operands("meshgrid", n, vectors.items, values, &failed);
    if (!ctx) return lam__apply_status(1, &failed);
    uint64_t since = lam__scope_now(vectors.items[0]);
    for (size_t i = 0; i < n; i++) {
        if (lam_rank(vectors.items[i]) != 1)
            return lam__axes_fail("meshgrid", vectors.items[i], LAM_ERR_RANK, "operand %zu is not a vector", i),
                   LAM_ERR_RANK;
        dims[i] = lam_dim(vectors.items[i], 0);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) own[k] = k == i ? dims[k] : 1;
        out[i] = lam_broadcast_to(lam_reshape(vectors.items[i], (lam_dims){(int)n, own}), (lam_dims){(int)n, dims});
    }
    lam__scope_only_these(n, out, since);
    return lam__apply_status(n, out);
}

/* Of a matrix its diagonal, of a vector the matrix that has it. There the elements lie size + 1 apart in the flat
 * matrix, so one strided update_slice sets them, and the way back is a strided view. */
lam_tensor *lam_diag(lam_tensor *x, int64_t offset) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    if (!lam__scope_peek(x)) return lam__axes_fail("diag", x, LAM_ERR_NULL, "the operand is NULL");
    if (own.rank == 2) return lam__scope_only(lam_diagonal(x, offset, 0, 1), since);
    if (own.rank != 1) return lam__axes_fail("diag", x, LAM_ERR_RANK, "neither a vector nor a matrix");
    /* So the elements of the result can be counted, which is what the slice below needs. */
    const int64_t most = 3037000499, n = own.dims[0]; /* the largest whose square is an int64_t */
    if (offset > most || offset < -most || n > most - (offset < 0 ? -offset : offset))
        return lam__axes_fail("diag", x, LAM_ERR_OVERFLOW, "the sizes overflow");
    const int64_t size = n + (offset < 0 ? -offset : offset), start = offset < 0 ? -offset * size : offset;
    const int64_t stop = n ? start + (n - 1) * (size + 1) + 1 : start;
    lam_tensor *zero = lam_zeros(lam_ctx_of(x), lam_dtype_of(x), LAM_DIMS0);
    lam_tensor *flat = lam__apply_broadcast(zero, 1, (const int64_t[]){size * size});
    flat = lam_update_slice(flat, x, LAM_DIMS(start), LAM_DIMS(stop), LAM_DIMS(size + 1));
    return lam__scope_only(lam__apply_reshape(flat, 2, (const int64_t[]){size, size}), since);
}
