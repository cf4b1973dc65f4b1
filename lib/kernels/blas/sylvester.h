/* Sylvester's equation a x + x b = c by LAPACK, after Bartels and Stewart: Schur forms of a and b, and an equation of
 * triangles between them. Work and batches as the others in kernels.h. */
#ifndef LAM_KERNELS_BLAS_SYLVESTER_H
#define LAM_KERNELS_BLAS_SYLVESTER_H

#include "lib/kernels/kernels.h"

/* Bytes of work for a of m rows and b of n; f64, f32, c128 or c64. */
size_t lam__kernels_sylvester_bytes(lam_dtype dtype, int64_t m, int64_t n);

/* a [batch, m, m], b [batch, n, n], c and x [batch, m, n]. A matrix with an infinity or a NaN gives NaN. The number of
 * the first equation that has no one solution, or whose iteration did not end, or -1. */
int64_t lam__kernels_sylvester(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, const void *a, const void *b,
                               const void *c, void *x, void *work);

#endif
