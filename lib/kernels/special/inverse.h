/* What the incomplete gamma and beta functions are undone by. Like the rest of this room, see special.h. */
#ifndef LAM_KERNELS_SPECIAL_INVERSE_H
#define LAM_KERNELS_SPECIAL_INVERSE_H

#include <stdbool.h>

/* The x with P(a, x) = p, or with Q(a, x) = p. */
double lam__special_igamma_inv(double a, double p, bool upper);

/* The x with I_x(a, b) = p, or with 1 - I_x(a, b) = p; or what is odd about the middle, (x - 1/2) / sqrt(x (1 - x)). */
double lam__special_betainc_inv(double a, double b, double p, bool upper, bool odd);

/* The least count k that no more than p lies beyond (upper), or at least p up to: of Poisson's distribution of mean a,
 * the binomial one of a trials with chance b, the negative binomial one of a successes with chance b. What misses p by
 * less than the part `slack` of it counts as p. */
typedef enum lam__counts { LAM__POISSON_COUNTS, LAM__BINOMIAL_COUNTS, LAM__WAITING_COUNTS } lam__counts;
double lam__special_count_inv(lam__counts which, double a, double b, double p, double slack, bool upper);

#endif
