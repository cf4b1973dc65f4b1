/* The Hessenberg form of matrices by LAPACK: x = q h q^H, q unitary with the first unit vector as its first column, h
 * zero below its first subdiagonal, which is real. Work and batches as the others in kernels.h. */
#ifndef LAM_KERNELS_BLAS_HESSENBERG_H
#define LAM_KERNELS_BLAS_HESSENBERG_H

#include "lib/kernels/kernels.h"

/* Bytes of work for matrices of n rows; f64, f32, c128 or c64. */
size_t lam__kernels_hessenberg_bytes(lam_dtype dtype, int64_t n);

/* All of x, h and q are [batch, n, n]. */
void lam__kernels_hessenberg(lam_dtype dtype, int64_t batch, int64_t n, const void *x, void *h, void *q, void *work);

#endif
