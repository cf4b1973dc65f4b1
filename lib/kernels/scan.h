/* Scans into memory of any strides, for whoever scans parts of an array: what lam__kernels_cumulate and its complex
 * forms are made of. */
#ifndef LAM_KERNELS_SCAN_H
#define LAM_KERNELS_SCAN_H

#include "lib/kernels/kernels.h"

/* An array, the axis that is run along, and where the results go. */
typedef struct lam__scan {
    lam__reduce_id id;
    lam_dtype dtype;
    int rank, axis;
    bool reverse;
    const int64_t *dims, *from, *to; /* from, to: strides of x and of out, elements */
} lam__scan;

void lam__scan_run(const lam__scan *s, const void *x, void *out);

/* Fills `to` with the strides of an array without gaps; gives the number of elements. */
int64_t lam__scan_dense(int rank, const int64_t *dims, int64_t *to);

/* Of complex numbers. */
void lam__cplx_cumsum(const lam__scan *s, const void *x, void *out);
void lam__cplx_cumprod(const lam__scan *s, const void *x, void *out);

#endif
