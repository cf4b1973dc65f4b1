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

/* Where a walk over a batch is: elements from the first ones, and products up to the next turn. */
typedef struct lam__product_place {
    int64_t x, y, left;
} lam__product_place;

static inline void lam__product_next(const lam__product *p, lam__product_place *at) {
    at->x += p->x_batch;
    at->y += p->y_batch;
    if (--at->left == 0) {
        at->x += p->x_turn;
        at->y += p->y_turn;
        at->left = p->run;
    }
}

/* Indexed by dtype. */
extern const lam__small_type lam__small_simd_v1[LAM_DTYPE_COUNT];
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__small_type lam__small_simd_v3[LAM_DTYPE_COUNT], lam__small_simd_v4[LAM_DTYPE_COUNT];
#endif

#endif
