/* What other files of this folder need of functions of complex numbers. */
#ifndef LAM_PRIMITIVES_PLANE_H
#define LAM_PRIMITIVES_PLANE_H

#include <lamina/ops.h>

/* The derivative of order n of digamma, of complex z. */
lam_tensor *lam__plane_polygamma(lam_tensor *z, int n);

/* principal.c: the public operations of the same names, for complex operands. */
lam_tensor *lam__plane_softplus(lam_tensor *z);
lam_tensor *lam__plane_mish(lam_tensor *z);
lam_tensor *lam__plane_logaddexp(lam_tensor *x, lam_tensor *y);
lam_tensor *lam__plane_logaddexp2(lam_tensor *x, lam_tensor *y);
lam_tensor *lam__plane_logsumexp(lam_tensor *z, const lam_reduce_options *options);
lam_tensor *lam__plane_softmax(lam_tensor *z, int axis);
lam_tensor *lam__plane_log_softmax(lam_tensor *z, int axis);
lam_tensor *lam__plane_xlogy(lam_tensor *x, lam_tensor *y, bool plus); /* plus: xlog1py */

#endif
