/* What the incomplete gamma and beta functions are undone by. Like the rest of this room, see special.h. */
#ifndef LAM_KERNELS_SPECIAL_INVERSE_H
#define LAM_KERNELS_SPECIAL_INVERSE_H

#include <stdint.h>

/* Forms of both functions: of the upper side; (x - 1/2) / sqrt(x (1 - x)), which is odd about the middle, in the place
 * of x; counts of Poisson's and the binomial distribution, or of the negative binomial one, which are steps of p; of
 * shares that are f32. */
enum lam__inverse_form {
    LAM__INVERSE_UPPER = 1,
    LAM__INVERSE_ODD = 2,
    LAM__INVERSE_COUNTS = 4,
    LAM__INVERSE_WAITING = 8,
    LAM__INVERSE_NARROW = 16,
    LAM__INVERSE_STEPS = LAM__INVERSE_COUNTS | LAM__INVERSE_WAITING,
};

/* The x with P(a, x) = p, or with Q(a, x) = p. Of counts the least k that no more than p lies beyond (upper), or at
 * least p up to, of Poisson's distribution of mean a. */
double lam__special_igamma_inv(double a, double p, int64_t form);

/* The x with I_x(a, b) = p, or with 1 - I_x(a, b) = p. Of counts those of the binomial distribution of a trials with
 * chance b, or of the negative binomial one of a successes with chance b. */
double lam__special_betainc_inv(double a, double b, double p, int64_t form);

/* The logit of the x with I_x(a, b) = share, which is at most 1/2, from one that is near. */
long double lam__special_beta_root(double a, double b, long double share, long double near);

#endif
