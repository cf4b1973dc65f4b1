/* Sums that are divided while they are near: see reduce.c. */
#ifndef LAM_KERNELS_MEANS_H
#define LAM_KERNELS_MEANS_H

#include "lib/kernels/kernels.h"

/* lam__kernels_reduce of floats and complex numbers (LAM__REDUCE_SUM), of small integers (LAM__REDUCE_TALLY) or of i64
 * (LAM__REDUCE_ROUND), and every result by n: of tallies in f64, where the sums would lie. */
void lam__kernels_mean(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                       const void *x, const int64_t *strides, double n, void *out);

/* The same of sums that are there, such as come of parts, in place. */
void lam__kernels_mean_of_sums(lam__reduce_id id, lam_dtype dtype, int64_t results, double n, void *sums);

#endif
