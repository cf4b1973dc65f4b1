/* The symmetric (Hermitian) part of square matrices, for factorisations that are defined by it and read a triangle. */
#ifndef LAM_KERNELS_SYMMETRIC_H
#define LAM_KERNELS_SYMMETRIC_H

#include "lib/kernels/kernels.h"

/* The lower triangles of contiguous row-major x [batch, n, n] become those of (x + x^H) / 2. */
void lam__kernels_symmetric(lam_dtype dtype, int64_t batch, int64_t n, void *x);

#endif
