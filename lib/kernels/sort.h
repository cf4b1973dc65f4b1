/* The first of an order; see lam__kernels_argsort for all of it. */
#ifndef LAM_KERNELS_SORT_H
#define LAM_KERNELS_SORT_H

#include "lib/kernels/kernels.h"

/* out[outer, count, inner] = the first `count` of the order that lam__kernels_argsort gives; count <= s->n. `work` is
 * that of lam__kernels_argsort. */
void lam__kernels_argsort_first(lam_dtype dtype, const lam__lanes *s, bool descending, int64_t count, const void *x,
                                int64_t *out, void *work);

#endif
