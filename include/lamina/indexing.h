/* Operations by index: taking, adding and setting elements that a tensor of indices names, and sorting. Part of ops.h,
 * whose opening comment holds here too. Indices are integers of any dtype; negative ones count from the end. */
#ifndef LAMINA_INDEXING_H
#define LAMINA_INDEXING_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an index outside [-n, n) means. */
typedef enum lam_index_mode {
    LAM_INDEX_ERROR = 0, /* fails with LAM_ERR_INDEX, naming the index */
    LAM_INDEX_CLIP,      /* the nearest element */
    LAM_INDEX_FILL       /* taking gives NaN (0 for integers), adding and setting leave it out */
} lam_index_mode;

/* The elements of an axis that the indices name.
 * Shape   dims of x with the axis replaced by the dims of indices.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for indices that are no integers; LAM_ERR_INDEX. Derivative: the same of dx. */
LAM_API lam_tensor *lam_take(lam_tensor *x, lam_tensor *indices, int axis);

/* lam_take with another meaning of indices that lie outside.
 * Fails   as lam_take does; LAM_ERR_OPTION for no such mode. */
LAM_API lam_tensor *lam_take_mode(lam_tensor *x, lam_tensor *indices, int axis, lam_index_mode mode);

/* Along one axis, the elements that indices name at the same place of the other axes: takes what argsort names.
 * Shape   that of indices, whose rank is that of x; the other axes broadcast against those of x.
 * Fails   as lam_take does; LAM_ERR_SHAPE. Derivative: the same of dx. */
LAM_API lam_tensor *lam_take_along_axis(lam_tensor *x, lam_tensor *indices, int axis);

/* x with updates added to the elements of an axis that the indices name; repeated ones add up, in their order.
 * Shape   that of x; updates have the dims that lam_take would give, or broadcast to them. They get the dtype of x.
 * Fails   as lam_take does; LAM_ERR_SHAPE. Derivative: by x 1; by updates lam_take. */
LAM_API lam_tensor *lam_scatter_add(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis);

/* lam_scatter_add with another meaning of indices that lie outside.
 * Fails   as lam_scatter_add does; LAM_ERR_OPTION for no such mode. */
LAM_API lam_tensor *lam_scatter_add_mode(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis,
                                         lam_index_mode mode);

/* x with updates in place of the elements of an axis that the indices name; of repeated ones the last stays.
 * Shape   as lam_scatter_add.
 * Fails   as lam_scatter_add does. Derivative: by x 1 where it stays, by updates 1 where they stay. */
LAM_API lam_tensor *lam_put(lam_tensor *x, lam_tensor *indices, lam_tensor *updates, int axis);

/* For each place of an axis of n elements, which index names it last; -1 where none does.
 * Shape   dims of indices with the last one replaced by n; i64.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative n; as lam_take does. Derivative: none. */
LAM_API lam_tensor *lam_index_inverse(lam_tensor *indices, int64_t n);

/* 1 in the place that the index names, 0 in the n - 1 others; only zeros for an index outside [0, n).
 * Shape   dims of indices, then n.
 * Fails   LAM_ERR_DTYPE for indices that are no integers, or no such dtype; LAM_ERR_VALUE for a negative n.
 *         Derivative: none. */
LAM_API lam_tensor *lam_one_hot(lam_tensor *indices, int64_t n, lam_dtype dtype);

/* ---- sorting -------------------------------------------------------------------------------------------------- */

/* The indices that put an axis in ascending order; equal elements keep theirs, NaN comes last.
 * Shape   that of x, i64.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_argsort(lam_tensor *x, int axis);

/* The elements of an axis in ascending order, NaN last.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: dx in the same order. */
LAM_API lam_tensor *lam_sort(lam_tensor *x, int axis);

/* The k largest elements of the last axis in descending order, NaN first; indices, if not NULL, gets where they stand.
 * Shape   that of x with k in the last place, both.
 * Fails   LAM_ERR_AXIS for rank 0; LAM_ERR_VALUE for k outside [0, n]. Derivative: that of the elements taken. */
LAM_API lam_tensor *lam_top_k(lam_tensor *x, int64_t k, lam_tensor **indices);

/* How many elements of an ascending vector lie before each value (right: or are equal to it); NaN is beyond all else.
 * Shape   that of values, i64.
 * Fails   LAM_ERR_RANK unless sorted is a vector. Derivative: none. */
LAM_API lam_tensor *lam_searchsorted(lam_tensor *sorted, lam_tensor *values, bool right);

/* ---- made of the above ------------------------------------------------------------------------------------------ */

/* x repeated as a whole, repeats.dims[i] times along axis i.
 * Shape   sizes multiplied.
 * Fails   LAM_ERR_SHAPE unless there is one number per axis; LAM_ERR_VALUE for a negative one. Derivative: identity. */
LAM_API lam_tensor *lam_tile(lam_tensor *x, lam_dims repeats);

/* Each element of an axis `count` times.
 * Shape   that of x with the axis count times as long.
 * Fails   LAM_ERR_AXIS; LAM_ERR_VALUE for a negative count. Derivative: identity. */
LAM_API lam_tensor *lam_repeat(lam_tensor *x, int64_t count, int axis);

/* The elements of an axis moved by `shift` places towards its end, those that fall off coming in at the start.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_roll(lam_tensor *x, int64_t shift, int axis);

#ifdef __cplusplus
}
#endif
#endif
