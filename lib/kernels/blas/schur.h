/* The Schur form of matrices by LAPACK: x = z t z^H, z unitary, t upper triangular; of real matrices z orthogonal, and
 * blocks of two rows on t's diagonal for pairs of complex eigenvalues. Work and batches as the others in kernels.h. */
#ifndef LAM_KERNELS_BLAS_SCHUR_H
#define LAM_KERNELS_BLAS_SCHUR_H

#include "lib/kernels/kernels.h"

/* Bytes of work for matrices of n rows; f64, f32, c128 or c64. */
size_t lam__kernels_schur_bytes(lam_dtype dtype, int64_t n);

/* All of x, t and z are [batch, n, n]. A matrix with an infinity or a NaN gives NaN. The number of the first for which
 * the iteration did not end, or -1. */
int64_t lam__kernels_schur(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *t, void *z, void *work);

#endif
