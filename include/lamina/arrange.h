/* Choosing, deleting, inserting, repeating and padding elements: the rest of NumPy's and lax's operations beside
 * indexing.h. All are made of other operations and work at every level. The opening comment of ops.h applies here
 * too. */
#ifndef LAMINA_ARRANGE_H
#define LAMINA_ARRANGE_H

#include <lamina/indexing.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* x broadcast to dims, where axis i of x is axis axes[i] of the result; axes ascend.
 * Shape   dims.
 * Fails   LAM_ERR_AXIS unless there is one axis for each of x, ascending; LAM_ERR_SHAPE unless sizes are equal or 1;
 *         LAM_ERR_RANK. Derivative: identity; the transpose sums. */
LAM_API lam_tensor *lam_broadcast_in_dim(lam_tensor *x, lam_dims dims, lam_axes axes);

/* All tensors repeated to the dims to which they broadcast together; each keeps its dtype.
 * Shape   out: the common dims.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_ARITY unless n_out is their number, from 1 to 64. Owner: current scope. Derivative:
 *         identity. */
LAM_API lam_status lam_broadcast_arrays(lam_list list, lam_tensor **out, size_t n_out);

/* Axes first up to last, both included, as one.
 * Shape   one axis in their place, as long as the product of their sizes.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_collapse(lam_tensor *x, int first, int last);

/* A grid of matrices as one matrix: the list holds rows * columns blocks, row by row.
 * Shape   [..., sums of rows, sums of columns].
 * Fails   LAM_ERR_ARITY for another number of blocks; LAM_ERR_SHAPE unless blocks of a row have equal heights and rows
 *         equal widths; LAM_ERR_AXIS below rank 2. Derivative: identity. */
LAM_API lam_tensor *lam_block(lam_list blocks, size_t rows, size_t columns);

/* ---- parts of an axis -------------------------------------------------------------------------------------------- */

/* Elements start to start + size of an axis, where start is a tensor: lam_dynamic_slice of one axis.
 * Fails   as lam_dynamic_slice; LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_dynamic_slice_axis(lam_tensor *x, lam_tensor *start, int64_t size, int axis);

/* x with update in place of the elements from start on along an axis; its other axes are those of x.
 * Fails   as lam_dynamic_update_slice; LAM_ERR_AXIS. Derivative: by x 1 elsewhere, by update 1. */
LAM_API lam_tensor *lam_dynamic_update_slice_axis(lam_tensor *x, lam_tensor *update, lam_tensor *start, int axis);

/* x without the elements of an axis with the given numbers, at most LAM_MAX_RANK (for more: lam_take of the rest);
 * negative ones count from the end, repeated ones count once.
 * Shape   that of x, the axis shorter by as many as there are different numbers.
 * Fails   LAM_ERR_AXIS; LAM_ERR_INDEX; LAM_ERR_RANK: too many numbers. Derivative: identity on the remaining
 *         elements. */
LAM_API lam_tensor *lam_delete(lam_tensor *x, lam_dims numbers, int axis);

/* x with values inserted before the elements of an axis with the given numbers (the size of the axis: at the end), at
 * most LAM_MAX_RANK numbers. Values for equal numbers keep their order. One number may stand for any number of values.
 * Shape   that of x with the axis longer by the values, which broadcast to [..., values, ...] and are cast to x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_INDEX; LAM_ERR_RANK: too many numbers; LAM_ERR_SHAPE; LAM_ERR_DTYPE.
 * Derivative: identity by both. */
LAM_API lam_tensor *lam_insert(lam_tensor *x, lam_dims numbers, lam_tensor *values, int axis);

/* The elements of an axis where the condition, a vector, is true: the first `size` of them, and `fill` where there are
 * fewer. Condition and axis may differ in length; missing elements are false.
 * Shape   that of x with `size` on the axis.
 * Fails   LAM_ERR_AXIS; LAM_ERR_RANK unless the condition is a vector; LAM_ERR_VALUE for a negative size. Derivative:
 *         identity on the remaining elements. */
LAM_API lam_tensor *lam_compress(lam_tensor *condition, lam_tensor *x, int64_t size, double fill, int axis);

/* Each element of an axis repeated counts[i] times; `total` results, of which those beyond the sum of the counts repeat
 * the last.
 * Shape   that of x with `total` on the axis.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE unless counts is a vector as long as the axis; LAM_ERR_DTYPE unless it holds
 *         integers; LAM_ERR_VALUE for a negative total, a positive one of no elements, and negative counts where they
 *         can be read. Derivative: identity. */
LAM_API lam_tensor *lam_repeat_each(lam_tensor *x, lam_tensor *counts, int64_t total, int axis);

/* The elements in row-major order, repeated as often as needed, in other dims; zeros if x has none.
 * Shape   dims.
 * Fails   LAM_ERR_RANK; LAM_ERR_VALUE; LAM_ERR_OVERFLOW. Derivative: identity. */
LAM_API lam_tensor *lam_resize(lam_tensor *x, lam_dims dims);

/* All windows of these sizes that lie within the last axes, one axis for each size, their starts strides apart (no
 * list: 1). Takes one copy of x for each element of a window; lam_pad and lam_pad_with add padding.
 * Shape   [..., windows along each axis, sizes].
 * Fails   LAM_ERR_RANK for more sizes than axes, or too many axes together; LAM_ERR_VALUE for sizes or strides below 1;
 *         LAM_ERR_SHAPE if there are not as many strides as sizes, or a size is larger than its axis. Derivative:
 *         identity on each copy of an element.
 * Source  numpy.lib.stride_tricks.sliding_window_view, lax.conv_general_dilated_patches. */
LAM_API lam_tensor *lam_sliding_windows(lam_tensor *x, lam_dims sizes, lam_dims strides);

/* The padding of lam_pad_with. */
typedef enum lam_pad_mode {
    LAM_PAD_EDGE = 0,   /* the first and the last element */
    LAM_PAD_REFLECT,    /* the elements mirrored at the edge, which is not repeated: c b | a b c | b a */
    LAM_PAD_SYMMETRIC,  /* mirrored, the edge repeated: b a | a b c | c b */
    LAM_PAD_WRAP,       /* the elements of the other end: b c | a b c | a b */
    LAM_PAD_MEAN,       /* the mean of the axis */
    LAM_PAD_MAXIMUM,    /* its largest element */
    LAM_PAD_MINIMUM,    /* its smallest element */
    LAM_PAD_MEDIAN,     /* its median */
    LAM_PAD_LINEAR_RAMP /* a line from the edge down to 0, the outermost element */
} lam_pad_mode;

/* x with low elements of padding before and high after along each axis, made of its own elements; the axes one after
 * the other.
 * Shape   low + own + high. Integers are taken as f64 by LAM_PAD_MEAN, LAM_PAD_MEDIAN and LAM_PAD_LINEAR_RAMP.
 * Fails   LAM_ERR_SHAPE for lists whose length is not the rank, or padding of an axis without elements; LAM_ERR_VALUE
 *         for negative numbers; LAM_ERR_OPTION; LAM_ERR_DTYPE for complex x in modes that need an order. Derivative:
 *         identity on each copy of an element. */
LAM_API lam_tensor *lam_pad_with(lam_tensor *x, lam_dims low, lam_dims high, lam_pad_mode mode);

/* Matrices with diagonal `offset` replaced by `value`, which broadcasts and is cast to x.
 * Shape   that of x.
 * Fails   LAM_ERR_RANK below rank 2; LAM_ERR_SHAPE; LAM_ERR_DTYPE. Derivative: by x 1 elsewhere, by value 1 there. */
LAM_API lam_tensor *lam_fill_diagonal(lam_tensor *x, lam_tensor *value, int64_t offset);

/* ---- choices and places ------------------------------------------------------------------------------------------ */

/* For each index, the element of the choice with that number; negative ones count from the end.
 * Shape   indices and choices broadcast; the dtype is the promoted one of the choices.
 * Fails   LAM_ERR_ARITY without choices; LAM_ERR_DTYPE unless indices are integers; LAM_ERR_INDEX; LAM_ERR_SHAPE.
 *         Derivative: 1 by the chosen element. */
LAM_API lam_tensor *lam_choose(lam_tensor *indices, lam_list choices);

/* Where x is not 0: the indices of the first `size` such elements in row-major order, -1 where there are fewer.
 * Shape   [size, rank of x]; i64.
 * Fails   as lam_nonzero does. Derivative: none. */
LAM_API lam_tensor *lam_argwhere(lam_tensor *x, int64_t size);

/* The row and the column of each place at and below diagonal `offset` of a matrix (triu: at and above it), row by row,
 * as LAM_TENSOR takes them. Their number follows from rows, columns and offset.
 * Shape   two vectors, i64.
 * Fails   LAM_ERR_VALUE for negative sizes; LAM_ERR_OVERFLOW. Owner: current scope. */
LAM_API lam_status lam_tril_indices(lam_ctx *ctx, int64_t rows, int64_t columns, int64_t offset, lam_tensor **row,
                                    lam_tensor **column);
LAM_API lam_status lam_triu_indices(lam_ctx *ctx, int64_t rows, int64_t columns, int64_t offset, lam_tensor **row,
                                    lam_tensor **column); /* Fails as lam_tril_indices does. */

/* ---- groups of rows ---------------------------------------------------------------------------------------------- */

/* The sum, product, largest and smallest of the rows of x that belong to each of `count` segments; rows of other
 * segments are left out. For a segment without rows 0, 1, and the results of lam_max_reduce and lam_min_reduce for no
 * elements.
 * Shape   x [n, items...]; segments [n], integers; out [count, items...], in the dtype of x, i64 for bools.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE; LAM_ERR_VALUE for a negative count. Derivative: as of lam_scatter_add, _mul,
 *         _max and _min.
 * Source  jax.ops.segment_sum and its kin. */
LAM_API lam_tensor *lam_segment_sum(lam_tensor *x, lam_tensor *segments, int64_t count);
LAM_API lam_tensor *lam_segment_prod(lam_tensor *x, lam_tensor *segments,
                                     int64_t count); /* Fails as lam_segment_sum does. */
LAM_API lam_tensor *lam_segment_max(lam_tensor *x, lam_tensor *segments,
                                    int64_t count); /* Fails as lam_segment_sum does. */
LAM_API lam_tensor *lam_segment_min(lam_tensor *x, lam_tensor *segments,
                                    int64_t count); /* Fails as lam_segment_sum does. */

/* ---- sets -------------------------------------------------------------------------------------------------------- */

/* The elements that are in x or y; in both; in x but not in y; in exactly one of them. Each comes once, in ascending
 * order; NaN is one element, and comes last. If there are more than `size`, the smallest; if fewer, followed by `fill`.
 * count, if not NULL, gets their number, which may exceed `size`.
 * Shape   [size]; count: rank 0, i64. The dtype is the promoted one.
 * Fails   LAM_ERR_VALUE for a negative size; LAM_ERR_DTYPE for complex operands. Derivative: that of taking; of equal
 *         elements that of the first in x, or in y if x has none.
 * Source  numpy.union1d, intersect1d, setdiff1d, setxor1d. */
LAM_API lam_tensor *lam_set_union(lam_tensor *x, lam_tensor *y, int64_t size, double fill, lam_tensor **count);
LAM_API lam_tensor *lam_set_intersection(lam_tensor *x, lam_tensor *y, int64_t size, double fill,
                                         lam_tensor **count); /* Fails as lam_set_union does. */
LAM_API lam_tensor *lam_set_difference(lam_tensor *x, lam_tensor *y, int64_t size, double fill,
                                       lam_tensor **count); /* Fails as lam_set_union does. */
LAM_API lam_tensor *lam_set_symmetric_difference(lam_tensor *x, lam_tensor *y, int64_t size, double fill,
                                                 lam_tensor **count); /* Fails as lam_set_union does. */

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* Several tensors of equal dims, ordered along an axis by the first `keys` of them, the first being the most
 * significant; equal ones keep their order.
 * Shape   out[i]: that of operands[i].
 * Fails   LAM_ERR_ARITY unless n_out is their number and keys is from 1 to that number; LAM_ERR_SHAPE; LAM_ERR_AXIS.
 *         Owner: current scope. Derivative: that of taking. */
LAM_API lam_status lam_sort_together(lam_list operands, size_t keys, int axis, lam_tensor **out, size_t n_out);

#ifdef __cplusplus
}
#endif
#endif
