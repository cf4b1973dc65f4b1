/* What other files of this folder need of complex numbers. */
#ifndef LAM_PRIMITIVES_CPLX_H
#define LAM_PRIMITIVES_CPLX_H

#include <lamina/complex.h>

/* Whether x is a live tensor of complex numbers. */
bool lam__cplx_is(const lam_tensor *x);

/* |x|, x / |x| (0 at 0) and |x|^2 of complex x. */
lam_tensor *lam__cplx_abs(lam_tensor *x);
lam_tensor *lam__cplx_sign(lam_tensor *x);
lam_tensor *lam__cplx_size(lam_tensor *x);

/* Complex matrices [..., m, n] as real ones [..., 2 m, 2 n], [[re, -im], [im, re]], and back: products, inverses and
 * power series of these are those of the complex ones. */
lam_tensor *lam__cplx_as_real(lam_tensor *x);
lam_tensor *lam__cplx_from_real(lam_tensor *both);

#endif
