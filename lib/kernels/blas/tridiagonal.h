/* Systems with three diagonals: LAPACK's elimination with exchanges, for every floating dtype. */
#ifndef LAM_KERNELS_BLAS_TRIDIAGONAL_H
#define LAM_KERNELS_BLAS_TRIDIAGONAL_H

#include <lamina/base.h>

/* One matrix and its right-hand sides. bands is [3, n]: row i of the matrix is lower[i], main[i], upper[i], in columns
 * i - 1, i, i + 1; the two entries that lie outside are not read. x is [m, n], a right-hand side in each row. */
typedef struct lam__tridiagonal {
    int64_t n, m;   /* at most INT_MAX each */
    bool transpose; /* of the matrix */
} lam__tridiagonal;

/* Scratch that a solve needs. */
size_t lam__kernels_tridiagonal_bytes(lam_dtype dtype, int64_t n);

/* Puts the solutions into x; false where the matrix is singular. Nothing here allocates. */
bool lam__kernels_tridiagonal(lam_dtype dtype, const lam__tridiagonal *how, const void *bands, void *x, void *room);

#endif
