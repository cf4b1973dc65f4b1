/* The plain loops: one element at a time, through libm. They are the oracle that tests hold the vector loops against,
 * and what members of families use that have no vector form. */
#ifndef LAM_KERNELS_REFERENCE_H
#define LAM_KERNELS_REFERENCE_H

#include "lib/kernels/kernels.h"

/* The loop of an elementary function, for members of families that have no vector form; NULL for all others. */
lam__loop *lam__reference_loop(lam__loop_id id, lam_dtype dtype);

/* One element of any operation: out from x[0..], elements of dtype (for `where`: x[0] bool); false where the
 * operation has no meaning for the dtype. */
bool lam__reference_element(lam__loop_id id, lam_dtype dtype, void *out, const void *const x[], const void *params);

#endif
