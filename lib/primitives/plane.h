/* What other files of this folder need of functions of complex numbers. */
#ifndef LAM_PRIMITIVES_PLANE_H
#define LAM_PRIMITIVES_PLANE_H

#include <lamina/ops.h>

/* The derivative of order n of digamma, of complex z. */
lam_tensor *lam__plane_polygamma(lam_tensor *z, int n);

#endif
