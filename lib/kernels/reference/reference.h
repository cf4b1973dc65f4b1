/* The plain loops: one element at a time, through libm. They are the oracle that tests hold the vector loops
 * against, and what elementary functions fall back to where there is no vector library. */
#ifndef LAM_KERNELS_REFERENCE_H
#define LAM_KERNELS_REFERENCE_H

#include "lib/kernels/kernels.h"

/* The loop a build without SLEEF uses for an elementary function; NULL for all other loops, whose vector forms
 * need no library. */
lam__loop *lam__reference_fallback(lam__loop_id id, lam_dtype dtype);

/* One element of any operation: out from x[0..], elements of dtype (for `where`: x[0] bool); false where the
 * operation has no meaning for the dtype. */
bool lam__reference_element(lam__loop_id id, lam_dtype dtype, void *out, const void *const x[], const void *params);

#endif
