/* Distributions and statistics, under the names of scipy.stats. The opening comment of ops.h applies here too.
 *
 * A distribution is a number; its functions take the variable and a list of parameters: the shape parameters of the
 * table, then loc and scale, which may be left out (0 and 1); discrete ones have no scale. Variable and parameters
 * broadcast; integers are taken as f64. An invalid parameter gives NaN. Everything is differentiable by the variable
 * and all parameters, inside the support; outside, and by counts, derivatives are 0. */
#ifndef LAMINA_STATS_H
#define LAMINA_STATS_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- distributions ----------------------------------------------------------------------------------------------- */

/* q: ppf and isf exist. Parentheses name what does not. */
typedef enum lam_distribution {
    LAM_NORM,       /* q: normal */
    LAM_UNIFORM,    /* q: on [0, 1] */
    LAM_EXPON,      /* q: exp(-x) for x >= 0 */
    LAM_LAPLACE,    /* q: exp(-|x|)/2 */
    LAM_LOGISTIC,   /* q: the derivative of lam_logistic */
    LAM_CAUCHY,     /* q: 1/(pi (1 + x^2)) */
    LAM_GUMBEL_R,   /* q: exp(-x - exp(-x)) */
    LAM_GUMBEL_L,   /* q: exp(x - exp(x)) */
    LAM_PARETO,     /* q: b; b x^(-b-1) for x >= 1 */
    LAM_GAMMA,      /* q: a; x^(a-1) exp(-x)/Gamma(a) for x >= 0 */
    LAM_BETA,       /* q: a, b; x^(a-1) (1-x)^(b-1)/B(a, b) on [0, 1] */
    LAM_CHI2,       /* q: degrees of freedom */
    LAM_T,          /* q: degrees of freedom */
    LAM_GENNORM,    /* q: p; exp(-|x|^p) p/(2 Gamma(1/p)) */
    LAM_TRUNCNORM,  /* a, b: the normal one on [a, b], bounds in the standardised variable */
    LAM_VONMISES,   /* q: kappa; exp(kappa cos x)/(2 pi I_0(kappa)); shares are those of [-pi, pi] */
    LAM_WRAPCAUCHY, /* q: c; (1-c^2)/(2 pi (1+c^2-2c cos x)) on [0, 2 pi] */
    LAM_BERNOULLI,  /* q: p */
    LAM_BINOM,      /* q: n, p; n >= 0, between whole numbers by the same formula */
    LAM_POISSON,    /* q: mu */
    LAM_GEOM,       /* q: p: trials up to the first success, from 1 on */
    LAM_NBINOM,     /* q: n, p: failures before the nth success */
    LAM_BETABINOM,  /* n, a, b; n as of LAM_BINOM (no cdf) */
} lam_distribution;

/* The logarithm of the density at x, or of the probability of the count x; -inf outside the support.
 * Shape   x and the parameters, broadcast.
 * Fails   LAM_ERR_VALUE for a number that is not one of these; LAM_ERR_ARITY for too few or too many parameters;
 *         LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands.
 * Owner   current scope. Derivative: by x and all parameters, as said above. */
LAM_API lam_tensor *lam_logpdf(lam_distribution which, lam_tensor *x, lam_list parameters);

/* The density, or the probability of a count. Fails as lam_logpdf does. Derivative: at an end of the support, or of the
 * range of a probability or a mean, that from inside. */
LAM_API lam_tensor *lam_pdf(lam_distribution which, lam_tensor *x, lam_list parameters);

/* The probability of at most x, and its logarithm, which stays finite where the probability underflows (except for
 * LAM_T and LAM_GENNORM).
 * Fails   as lam_logpdf does; LAM_ERR_RULE if there is none. Derivative: by x the density; by all parameters. */
LAM_API lam_tensor *lam_cdf(lam_distribution which, lam_tensor *x, lam_list parameters);
LAM_API lam_tensor *lam_logcdf(lam_distribution which, lam_tensor *x, lam_list parameters); /* Fails as lam_cdf does. */

/* The probability of more than x, with the digits of the tail, and its logarithm likewise. Fails as lam_cdf does. */
LAM_API lam_tensor *lam_sf(lam_distribution which, lam_tensor *x, lam_list parameters);
LAM_API lam_tensor *lam_logsf(lam_distribution which, lam_tensor *x, lam_list parameters); /* Fails as lam_cdf does. */

/* Quantiles: the x with cdf(x) = q; with sf(x) = q. NaN outside [0, 1]. For counts the least k with cdf(k) >= q; with
 * sf(k) <= q.
 * Fails   as lam_logpdf does; LAM_ERR_RULE if there is none. Derivative: by q 1 over the density there; by all
 *         parameters; 0 for counts. */
LAM_API lam_tensor *lam_ppf(lam_distribution which, lam_tensor *q, lam_list parameters);
LAM_API lam_tensor *lam_isf(lam_distribution which, lam_tensor *q, lam_list parameters); /* Fails as lam_ppf does. */

/* ---- distributions of vectors ------------------------------------------------------------------------------------ */

/* Log density of the normal distribution of vectors along the last axis of x.
 * Shape   x [..., k], mean [k] or broadcasting with x, covariance [k, k], positive definite, to [...].
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE; LAM_ERR_NUMERIC as lam_cholesky does. Owner: current scope.
 *         Derivative: by all three. */
LAM_API lam_tensor *lam_multivariate_normal_logpdf(lam_tensor *x, lam_tensor *mean, lam_tensor *covariance);

/* Log density of Dirichlet's distribution of vectors along the last axis of x that sum to 1, which is not checked; -inf
 * where an element is negative or over 1.
 * Shape   x [..., k] and alpha [..., k], broadcast, to [...].
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 *         Derivative: by both. */
LAM_API lam_tensor *lam_dirichlet_logpdf(lam_tensor *x, lam_tensor *alpha);

/* Log probability of the counts along the last axis of x in n trials with probabilities p; -inf unless they are whole,
 * not negative, and sum to n.
 * Shape   x [..., k], n [...], p [..., k], broadcast, to [...].
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 *         Derivative: by p; by the counts and n that of the formula between whole numbers. */
LAM_API lam_tensor *lam_multinomial_logpmf(lam_tensor *x, lam_tensor *n, lam_tensor *p);

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* How equal elements are ranked. */
typedef enum lam_rank_method {
    LAM_RANK_AVERAGE, /* the mean of their places */
    LAM_RANK_MIN,     /* the first of them */
    LAM_RANK_MAX,     /* the last of them */
    LAM_RANK_DENSE,   /* one place for all: 1 plus the number of distinct smaller elements */
} lam_rank_method;

/* The place of each element among all of x, from 1 on. NaNs come last, equal to each other.
 * Shape   that of x; f64, or the floating dtype of x.
 * Fails   LAM_ERR_VALUE for another method; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative:
 *         none. */
LAM_API lam_tensor *lam_rankdata(lam_tensor *x, lam_rank_method method);

/* The most frequent element of x, the least of several, and how often it occurs. NULL for one that is not wanted.
 * Shape   [], of the dtype of x; i64.
 * Fails   LAM_ERR_SHAPE for no elements; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 * Derivative  1 by one of the elements that are the mode; the count has none. */
LAM_API lam_status lam_mode(lam_tensor *x, lam_tensor **mode, lam_tensor **count);

/* The standard error of the mean along an axis: the standard deviation of n elements with n - 1 instead of n, over
 * sqrt(n).
 * Shape   the other axes.
 * Fails   LAM_ERR_AXIS. Owner: current scope. Derivative: as lam_std. */
LAM_API lam_tensor *lam_sem(lam_tensor *x, int axis);

/* The nearest row of the codebook to each row of x, the first of several, and how far away it is.
 * Shape   x [n, d], codebook [k, d] to code [n], i64, and distance [n].
 * Fails   LAM_ERR_RANK unless both are matrices; LAM_ERR_SHAPE for other columns, or an empty codebook; LAM_ERR_DTYPE
 *         for complex operands. Owner: current scope. Derivative: that of lam_norm; the code has none.
 * Source  scipy.cluster.vq.vq. */
LAM_API lam_status lam_vq(lam_tensor *x, lam_tensor *codebook, lam_tensor **code, lam_tensor **distance);

/* The density estimated from n points by normal bells around them (gaussian_kde): their covariance is that of the
 * points times `width`^2; width 0 is Scott's n^(-1/(d+4)).
 * Shape   points [n] or [d, n], x [m] or [d, m], to [m].
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE; LAM_ERR_NUMERIC if the points lie in a hyperplane. Owner: current scope.
 *         Derivative: by points and x. */
LAM_API lam_tensor *lam_gaussian_kde_logpdf(lam_tensor *points, lam_tensor *x, double width);

#ifdef __cplusplus
}
#endif
#endif
