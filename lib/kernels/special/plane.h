/* Special functions of complex numbers, one at a time: Faddeeva's, and the logarithm of gamma with its derivatives.
 * Like the rest of this room, see special.h. */
#ifndef LAM_KERNELS_SPECIAL_PLANE_H
#define LAM_KERNELS_SPECIAL_PLANE_H

#include <lamina/base.h>

/* w(z) = exp(-z^2) erfc(-i z), or its first derivative (order 1). */
lam_c128 lam__special_wofz(lam_c128 z, int order);

/* The highest order of a derivative of the logarithm: of higher ones the reflection by powers of cot loses digits. */
enum { LAM__LOGGAMMA_ORDERS = 10 };

/* order 0: log Gamma(z), on the branch that is real for positive z and has its cut along the negative axis; order k:
 * its derivative of that order, digamma and what follows it. NaN at poles. */
lam_c128 lam__special_loggamma(lam_c128 z, int order);

#endif
