/* Kernels along lanes that are made of reductions and elementwise loops: softmax, its logarithm, standardisation. */
#ifndef LAM_KERNELS_PANELS_H
#define LAM_KERNELS_PANELS_H

#include "lib/kernels/kernels.h"

typedef enum lam__panels_id {
    LAM__PANELS_SOFTMAX,     /* exp(x) / sum(exp(x)) */
    LAM__PANELS_LOG_SOFTMAX, /* its logarithm */
    LAM__PANELS_STANDARDIZE  /* (x - mean) / sqrt(variance + epsilon) */
} lam__panels_id;

typedef struct lam__panels {
    lam__panels_id id;
    lam_dtype dtype; /* f64 or f32 */
    lam__lanes lanes;
    double epsilon; /* of STANDARDIZE */
} lam__panels;

/* out like x, contiguous; STANDARDIZE: steepness[outer, inner] = 1 / sqrt(variance + epsilon). */
void lam__kernels_panels(const lam__panels *how, const void *x, void *out, void *steepness);

#endif
