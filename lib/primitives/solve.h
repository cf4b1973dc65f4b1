/* What other files of this folder need of solves. */
#ifndef LAM_PRIMITIVES_SOLVE_H
#define LAM_PRIMITIVES_SOLVE_H

#include <lamina/base.h>

/* lam_inv for rules: of a singular matrix without a failure, infinities and NaN. */
lam_tensor *lam__solve_inverse(lam_tensor *x);

#endif
