/* Polynomials at many points, and the sums over points that are their transpose. f64 and f32; elements lie one behind
 * the other. Points go through in blocks that stay in registers while the coefficients pass. */
#ifndef LAM_KERNELS_POLYNOMIAL_H
#define LAM_KERNELS_POLYNOMIAL_H

#include "lib/kernels/kernels.h"

/* What the loop below is told. */
typedef struct lam__polynomial {
    int64_t count;            /* of the coefficients, the highest power first */
    const void *coefficients; /* in the dtype of the loop */
} lam__polynomial;

/* The loop whose params are a lam__polynomial: the value at each element of its input, by Horner's rule without fused
 * steps; 0 without coefficients. Steps have to be 1. */
lam__loop *lam__kernels_polynomial(lam_dtype dtype);

/* out[k] = sum over i of g[i] x[i]^(count - 1 - k). */
size_t lam__kernels_power_sums_bytes(int64_t count); /* of room */
void lam__kernels_power_sums(lam_dtype dtype, int64_t n, const void *g, const void *x, int64_t count, void *out,
                             void *room);

/* ---- for the kernels --------------------------------------------------------------------------------------------- */

/* One compiled set, for f64 and f32; sums adds to out. */
typedef struct lam__polynomials {
    lam__loop *value[2];
    void (*sums[2])(int64_t n, const void *g, const void *x, int64_t count, void *out, void *room);
} lam__polynomials;

#endif
