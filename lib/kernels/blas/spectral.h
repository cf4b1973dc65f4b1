/* The complex side of spectral.c: the same functions for c128 and c64, whose values and singular values are real. */
#ifndef LAM_KERNELS_BLAS_SPECTRAL_H
#define LAM_KERNELS_BLAS_SPECTRAL_H

#include "lib/kernels/kernels.h"

size_t lam__spectral_complex_eigh_bytes(lam_dtype dtype, int64_t n, bool vectors);
bool lam__spectral_complex_eigh(lam_dtype dtype, int64_t n, bool vectors, void *x, void *values, void *work);
size_t lam__spectral_complex_svd_bytes(lam_dtype dtype, const lam__rectangle *r);
bool lam__spectral_complex_svd(lam_dtype dtype, const lam__rectangle *r, const void *x, void *u, void *s, void *vt,
                               void *work);
size_t lam__spectral_complex_qr_bytes(lam_dtype dtype, const lam__rectangle *r);
void lam__spectral_complex_qr(lam_dtype dtype, const lam__rectangle *how, void *x, void *q, void *r, void *work);

#endif
