/* Square roots and logarithms of matrices (root.c). All in double: what is narrower is converted by the caller. */
#ifndef LAM_KERNELS_BLAS_ROOT_H
#define LAM_KERNELS_BLAS_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of `room` for matrices of n rows, which is aligned to 8. */
size_t lam__kernels_sqrtm_bytes(int64_t n);

/* The principal square root of the contiguous row-major a, into x. False where there is none: an eigenvalue is 0 or on
 * the negative real axis; or where rounding a leaves less than six digits, which the block of the first `own` rows and
 * columns tells. What is not finite gives NaN. */
bool lam__kernels_sqrtm(int64_t n, int64_t own, const double *a, double *x, void *room);

/* The principal logarithm likewise. */
size_t lam__kernels_logm_bytes(int64_t n);
bool lam__kernels_logm(int64_t n, int64_t own, const double *a, double *x, void *room);

#endif
