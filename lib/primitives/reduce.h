/* What is made of reductions needs these. */
#ifndef LAM_PRIMITIVES_REDUCE_H
#define LAM_PRIMITIVES_REDUCE_H

#include "lib/primitives/axes.h"

/* x as f64 if it is no float. What is no tensor is left for the operation itself to name. */
lam_tensor *lam__reduce_real(lam_tensor *x);

#endif
