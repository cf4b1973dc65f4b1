/* Kernels of complex numbers that the entries of kernels.h hand over to; the same contracts. */
#ifndef LAM_KERNELS_CPLX_H
#define LAM_KERNELS_CPLX_H

#include "lib/kernels/kernels.h"

static inline bool lam__cplx_is(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

/* As lam__kernels_recurrence for c128 and c64. */
void lam__cplx_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b, void *out);

#endif
