/* What the incomplete gamma and beta functions are undone by. Like the rest of this room, see special.h. */
#ifndef LAM_KERNELS_SPECIAL_INVERSE_H
#define LAM_KERNELS_SPECIAL_INVERSE_H

#include <stdbool.h>

/* The x with P(a, x) = p, or with Q(a, x) = p. */
double lam__special_igamma_inv(double a, double p, bool upper);

/* The x with I_x(a, b) = p, or with 1 - I_x(a, b) = p; or what is odd about the middle, (x - 1/2) / sqrt(x (1 - x)). */
double lam__special_betainc_inv(double a, double b, double p, bool upper, bool odd);

#endif
