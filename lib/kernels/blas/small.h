/* Matrix products that do not go to CBLAS: small ones of floats, and all of integers. Compiled once per instruction
 * set (small_simd.c). Sums run over k in order, without fused multiply-add, so every set gives the same bits. */
#ifndef LAM_KERNELS_BLAS_SMALL_H
#define LAM_KERNELS_BLAS_SMALL_H

#include "lib/kernels/kernels.h"
#include "lib/kernels/simd/simd.h"

enum { LAM__SMALL_K = 16 }; /* largest k of the small kernel; m and n are free */

typedef struct lam__small_type {
    void (*plain)(const lam__product *p); /* any size and stride */
    void (*small)(const lam__product *p); /* k <= LAM__SMALL_K; floats only, else NULL */
} lam__small_type;

/* Indexed by dtype. */
extern const lam__small_type lam__small_simd_v1[LAM_DTYPE_COUNT];
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__small_type lam__small_simd_v3[LAM_DTYPE_COUNT], lam__small_simd_v4[LAM_DTYPE_COUNT];
#endif

#endif
