/* The symmetric (Hermitian) part of square matrices, for factorisations that are defined by it and read a triangle. */
#ifndef LAM_KERNELS_SYMMETRIC_H
#define LAM_KERNELS_SYMMETRIC_H

#include "lib/kernels/kernels.h"

/* Contiguous row-major x [batch, n, n] becomes (x + x^H) / 2; of complex matrices only the lower triangle does. */
void lam__kernels_symmetric(lam_dtype dtype, int64_t batch, int64_t n, void *x);

/* Of a real matrix: its upper triangle, seen as columns, becomes the lower one, and there are zeros above it. */
void lam__symmetric_turn_down(lam_dtype dtype, int64_t n, void *x);

#endif
