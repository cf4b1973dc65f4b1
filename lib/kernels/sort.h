/* Orders along an axis, all of them or their first places. */
#ifndef LAM_KERNELS_SORT_H
#define LAM_KERNELS_SORT_H

#include "lib/kernels/kernels.h"

/* out[outer, count, inner] (i64) = the first `count` <= s->n places of the stable order along the lanes: ascending with
 * NaN last, or descending with NaN first. `work` has lam__kernels_argsort_bytes(s->n) bytes, aligned to 8. */
size_t lam__kernels_argsort_bytes(int64_t n);
void lam__kernels_argsort_first(lam_dtype dtype, const lam__lanes *s, bool descending, int64_t count, const void *x,
                                int64_t *out, void *work);

#endif
