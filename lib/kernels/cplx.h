/* Kernels of complex numbers that the entries of kernels.h hand over to; the same contracts. */
#ifndef LAM_KERNELS_CPLX_H
#define LAM_KERNELS_CPLX_H

#include "lib/kernels/kernels.h"

static inline bool lam__cplx_is(lam_dtype dtype) {
    return dtype == LAM_C128 || dtype == LAM_C64;
}

/* An array of complex numbers as one of reals with an axis more, the last. Its parts lie side by side, so the new axis
 * has a stride of 1 and the others count twice. */
typedef struct lam__cplx_view {
    lam_dtype dtype;
    int64_t dims[LAM__MAX_AXES], strides[LAM__MAX_AXES];
} lam__cplx_view;
lam__cplx_view lam__cplx_view_of(lam_dtype dtype, int rank, const int64_t *dims, const int64_t *strides);

/* As lam__kernels_reduce and lam__kernels_recurrence for c128 and c64. */
void lam__cplx_sum(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                   const int64_t *strides, void *out);
void lam__cplx_prod(lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced, const void *x,
                    const int64_t *strides, void *out);
void lam__cplx_recurrence(lam_dtype dtype, const lam__lanes *s, bool reverse, const void *a, const void *b, void *out);

#endif
