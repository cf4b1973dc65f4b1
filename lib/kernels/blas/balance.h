/* Matrices whose rows and columns are of very different sizes. Their LU factors need numbers that the range does not
 * have: a multiplier of 1e-400 times an element of 1e200 is no zero. Here they are brought to sizes near 1 by powers of
 * 2, which round nothing, and what is made of them is moved back. Whether that is wanted, and solves, are entries of
 * kernels.h. */
#ifndef LAM_KERNELS_BLAS_BALANCE_H
#define LAM_KERNELS_BLAS_BALANCE_H

#include <lamina/base.h>

/* Room for one matrix: it or its factors, pivots, and the exponents of its rows and columns. */
typedef struct lam__balanced {
    void *x;
    int32_t *pivots, *rows, *columns; /* n each */
} lam__balanced;

/* Bytes of that room, and its parts; the room is aligned to 8. */
size_t lam__balance_bytes(lam_dtype dtype, int64_t n);
lam__balanced lam__balance_parts(lam_dtype dtype, int64_t n, void *room);

/* to->x = x times 2^rows[i] 2^columns[j], so that the largest element of each row and column is near 1 (of those
 * without elements 0 is the exponent). False, and nothing done, where x is not finite. */
bool lam__balance_scale(lam_dtype dtype, int64_t n, const void *x, const lam__balanced *to);

#endif
