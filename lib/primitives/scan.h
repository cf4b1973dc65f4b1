/* What reductions share with scans. */
#ifndef LAM_PRIMITIVES_SCAN_H
#define LAM_PRIMITIVES_SCAN_H

#include "lib/base/context.h"
#include "lib/kernels/kernels.h"

/* Each element replaced by the one before it along `axis` (reverse: behind it); where there is none, `first`. */
lam_tensor *lam__scan_shift(lam_tensor *x, int axis, bool reverse, double first);

/* The lanes of a contiguous value along `axis`. */
lam__lanes lam__scan_lanes(const lam_value *x, int axis);

#endif
