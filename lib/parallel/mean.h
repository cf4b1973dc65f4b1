/* Means with their work shared among the threads of a team, as in parallel.h. */
#ifndef LAM_PARALLEL_MEAN_H
#define LAM_PARALLEL_MEAN_H

#include "lib/parallel/parallel.h"

/* lam__kernels_mean (lib/kernels/means.h): the sum over the reduced axes divided by n, which is the caller's. */
void lam__parallel_mean(lam__team *team, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                        const bool *reduced, const void *x, const int64_t *strides, double n, void *out);

#endif
