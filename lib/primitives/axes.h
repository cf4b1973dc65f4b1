/* Parameters made of axes, shared by the families: shapes, permutations, sets of axes. All are plain data; a
 * variable number of entries stands last, so that only those in use are copied. */
#ifndef LAM_PRIMITIVES_AXES_H
#define LAM_PRIMITIVES_AXES_H

#include "lib/base/context.h"

/* A set of axes: bit a is axis a. */
typedef uint32_t lam__axis_set;

typedef struct lam__dims_params {
    int32_t rank;
    int64_t dims[LAM_INNER_RANK]; /* the first `rank` */
} lam__dims_params;

typedef struct lam__order_params {
    int32_t rank;
    int8_t order[LAM_INNER_RANK]; /* output axis i is input axis order[i] */
} lam__order_params;

static inline size_t lam__axes_dims_bytes(int rank) {
    return offsetof(lam__dims_params, dims) + (size_t)rank * sizeof(int64_t);
}

/* Elements of the axes from up to, without, to. */
static inline int64_t lam__axes_product(const int64_t *dims, int from, int to) {
    int64_t count = 1;
    for (int axis = from; axis < to; axis++) count *= dims[axis];
    return count;
}

/* Of diagonal: elements [.., i, .., i + offset, ..] become the last axis. */
typedef struct lam__diagonal_params {
    int64_t offset;
    int32_t row, column; /* axes */
} lam__diagonal_params;

/* Collects an axis list of the user's (negatives, ranges) into numbers 0..rank-1 in `out` (room for LAM_INNER_RANK).
 * No list: count is -1. False after recording what is wrong, naming `operation`. */
bool lam__axes_collect(const char *operation, lam_tensor *x, lam_axes axes, int rank, int *count, int out[]);

/* The same as a set; no list gives all axes. */
bool lam__axes_collect_set(const char *operation, lam_tensor *x, lam_axes axes, int rank, lam__axis_set *set);

/* The failed tensor that belongs with x, after something was recorded for it. */
lam_tensor *lam__axes_failed(const lam_tensor *x);

/* Records a failure of `operation` on x (its type is shown) and gives the failed tensor. A failed x records nothing
 * new. */
lam_tensor *lam__axes_fail(const char *operation, lam_tensor *x, lam_status status, const char *format, ...)
    LAM_PRINTF(4, 5);

/* The same with a remedy of its own in place of the usual one of this status. */
lam_tensor *lam__axes_fail_with(const char *operation, lam_tensor *x, lam_status status, const char *remedy,
                                const char *format, ...) LAM_PRINTF(5, 6);

/* Expands an item list with LAM_RANGE entries; -1: too many for `room`, a negative count or one without items, or an
 * impossible range. */
int lam__axes_expand(lam_axes axes, int room, int out[]);

#endif
