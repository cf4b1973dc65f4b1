/* The order in which QR with column pivoting takes the columns of matrices, by LAPACK: each time the one that is
 * longest at right angles to those before. Work and batches as the others in kernels.h. */
#ifndef LAM_KERNELS_BLAS_PIVOTS_H
#define LAM_KERNELS_BLAS_PIVOTS_H

#include "lib/kernels/kernels.h"

/* Bytes of work for m x n matrices; f64, f32, c128 or c64. */
size_t lam__kernels_pivots_bytes(lam_dtype dtype, int64_t m, int64_t n);

/* x [batch, m, n] to order [batch, n]. That of a matrix that holds an infinity or a NaN is as it was. */
void lam__kernels_pivots(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, const void *x, int32_t *order,
                         void *work);

#endif
