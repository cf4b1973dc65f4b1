/* A part of a tensor: what a slice shows, as element numbers and steps along each axis. It says where to add what
 * belongs to the part, at every level. */
#ifndef LAM_DISPATCH_PART_H
#define LAM_DISPATCH_PART_H

#include "lib/tensor/value.h"

/* Per axis: first element, step, and number of elements. The parameters of slice and update_slice; whoever keeps them
 * copies the bytes in use only. */
typedef struct lam__slice_params {
    int32_t rank;
    struct {
        int64_t start, step, count;
    } at[LAM_INNER_RANK];
} lam__slice_params;

static inline size_t lam__slice_bytes(int rank) {
    return offsetof(lam__slice_params, at) + (size_t)rank * 3 * sizeof(int64_t);
}

/* The same part behind a batch axis, which is taken whole. */
static inline void lam__slice_behind_batch(const lam__slice_params *part, int64_t size, lam__slice_params *out) {
    out->rank = part->rank + 1;
    out->at[0].start = 0;
    out->at[0].step = 1;
    out->at[0].count = size;
    for (int i = 0; i < part->rank; i++) out->at[1 + i] = part->at[i];
}

#endif
