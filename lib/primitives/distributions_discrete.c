/* Distributions of counts: rows of stats.c. Masses are at whole numbers of the support; distribution functions take the
 * whole number below. What lies outside is replaced before a function sees it. */
#include "lib/primitives/distributions.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* Whether k is no whole number, or outside [low, high]; high NULL: no bound. NaN is not said to be outside. */
static lam_tensor *no_count(lam_tensor *k, double low, lam_tensor *high) {
    lam_tensor *no = lam_or(lam_gt(k, lam_floor(k)), lam_lt(k, low));
    return high ? lam_or(no, lam_gt(k, high)) : no;
}

/* No mass where there is no such count. What stood in for the count had a mass of its own, which is not shown. */
static lam_tensor *mass(lam_tensor *none, lam_tensor *logpmf) {
    return lam_where(none, -INFINITY, logpmf);
}

/* log of n over k, as 1/((n + 1) B(n - k + 1, k + 1)). By lgamma of three large numbers little would be left of it. */
static lam_tensor *log_choose(lam_tensor *n, lam_tensor *k) {
    return lam_neg(lam_add(lam_log1p(n), lam_betaln(lam_add(lam_sub(n, k), 1.0), lam_add(k, 1.0))));
}

/* ---- Poisson, geometric ------------------------------------------------------------------------------------------ */

/* m^k exp(-m) / k! */
static lam_tensor *poisson_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, NULL), *k = lam_where(none, 0.0, z);
    return mass(none, lam_sub(lam_sub(lam_xlogy(k, s[0]), lam_lgamma(lam_add(k, 1.0))), s[0]));
}

/* The same as a product, for the rate 0, where the logarithm has no slope. */
static lam_tensor *poisson_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, NULL), *k = lam_where(none, 0.0, z);
    lam_tensor *rest = lam_exp(lam_neg(lam_add(s[0], lam_lgamma(lam_add(k, 1.0)))));
    return lam_where(none, 0.0, lam_mul(lam_pow(s[0], k), rest));
}

/* The parameter is number 1, its end 0. */
static const lam__distribution_ends poisson_ends = {1, 0, 0, poisson_at_end};

/* Q(k + 1, m), and P(k + 1, m) for the share above. k is rounded down, so the function is a step. */
static lam_tensor *poisson_cdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = lam_lt(z, 0.0), *k = lam_floor(lam_where(below, 0.0, z));
    return lam_where(below, 0.0, lam_igammac(lam_add(k, 1.0), s[0]));
}

/* The sum over all counts above k, in closed form. */
static lam_tensor *poisson_sf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = lam_lt(z, 0.0), *k = lam_floor(lam_where(below, 0.0, z));
    return lam_where(below, 1.0, lam_igamma(lam_add(k, 1.0), s[0]));
}

/* Logarithms of these where they are too small for a number. */
static lam_tensor *poisson_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_and(lam_ge(z, 0.0), lam_lt(s[0], INFINITY)));
    return lam__distributions_log_gamma(true, inside, lam_add(lam_floor(z), 1.0), s[0]);
}

/* Ends are looked at in both operands: a rate of 0 has nothing above any count, an infinite count nothing beyond it. */
static lam_tensor *poisson_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_and(lam_gt(s[0], 0.0), lam_lt(z, INFINITY)));
    return lam__distributions_log_gamma(false, inside, lam_add(lam_floor(z), 1.0), s[0]);
}

/* p (1 - p)^(k - 1): trials up to the first success, from 1 on. */
static lam_tensor *geom_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 1, NULL), *k = lam_where(none, 1.0, z);
    return mass(none, lam_add(lam_xlog1py(lam_sub(k, 1.0), lam_neg(s[0])), lam_log(s[0])));
}

/* As a product, for p = 1, where the logarithm of what is left is infinite. */
static lam_tensor *geom_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 1, NULL), *k = lam_where(none, 1.0, z);
    return lam_where(none, 0.0, lam_mul(s[0], lam_pow(lam_sub(1.0, s[0]), lam_sub(k, 1.0))));
}

/* The parameter is number 1, its end 1. */
static const lam__distribution_ends geom_ends = {1, 1, 1, geom_at_end};

/* (1 - p)^k: no success so far. Below the first trial k is 0, and all is still to come. */
static lam_tensor *geom_logsf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_xlog1py(lam_floor(lam_max(z, 0.0)), lam_neg(s[0]));
}

/* By expm1: small p make a small share. */
static lam_tensor *geom_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_neg(lam_expm1(geom_logsf(z, s)));
}

static lam_tensor *geom_sf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(geom_logsf(z, s));
}

/* ---- binomial, negative binomial, beta-binomial ------------------------------------------------------------------ */

/* n over k times p^k (1 - p)^(n - k) */
static lam_tensor *binom_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, s[0]), *k = lam_where(none, 0.0, z), *rest = lam_sub(s[0], k);
    lam_tensor *chance = lam_add(lam_xlogy(k, s[1]), lam_xlog1py(rest, lam_neg(s[1])));
    return mass(none, lam_add(log_choose(s[0], k), chance));
}

/* `ways` given by their logarithm, times p^a (1 - p)^b: beside a factor that is bounded the powers are 0. */
static lam_tensor *chances(lam_tensor *none, lam_tensor *ways, lam_tensor *p, lam_tensor *a, lam_tensor *b) {
    enum { MOST = 80 }; /* whose exponential is a number in every dtype but f16 */
    lam_tensor *powers = lam_mul(lam_pow(p, a), lam_pow(lam_sub(1.0, p), b));
    return lam_where(none, 0.0, lam_mul(lam_exp(lam_min(ways, (double)MOST)), powers));
}

/* As a product, for both ends of p. */
static lam_tensor *binom_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, s[0]), *k = lam_where(none, 0.0, z);
    return chances(none, log_choose(s[0], k), s[1], k, lam_sub(s[0], k));
}

/* The parameter is number 2, its ends 0 and 1. */
static const lam__distribution_ends binom_ends = {2, 0, 1, binom_at_end};

/* 1 - I_p(k + 1, n - k), and 1 from n on. Bounds are replaced for n and k alike, since betainc has no function of a
 * shape that is 0. */
static lam_tensor *binom_part(lam_tensor *z, lam_tensor *const s[], bool upper) {
    lam_tensor *below = lam_lt(z, 0.0), *above = lam_ge(z, s[0]), *none = lam_or(below, above);
    lam_tensor *k = lam_floor(lam_where(none, 0.0, z)), *n = lam_where(none, 1.0, s[0]);
    lam_tensor *a = lam_sub(n, k), *b = lam_add(k, 1.0), *p = s[1];
    lam_tensor *part = upper ? lam_betainc(b, a, p) : lam_betaincc(b, a, p);
    return lam_where(below, upper ? 1.0 : 0.0, lam_where(above, upper ? 0.0 : 1.0, part));
}

static lam_tensor *binom_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return binom_part(z, s, false);
}

static lam_tensor *binom_sf(lam_tensor *z, lam_tensor *const s[]) {
    return binom_part(z, s, true);
}

/* I_(1 - p)(n - k, k + 1), and I_p(k + 1, n - k). */
static lam_tensor *binom_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_and(lam_ge(z, 0.0), lam_lt(s[1], 1.0))), *k = lam_floor(z);
    return lam__distributions_log_beta(inside, lam_sub(s[0], k), lam_add(k, 1.0), lam_sub(1.0, s[1]), s[1]);
}

static lam_tensor *binom_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_and(lam_lt(z, s[0]), lam_gt(s[1], 0.0))), *k = lam_floor(z);
    return lam__distributions_log_beta(inside, lam_add(k, 1.0), lam_sub(s[0], k), s[1], lam_sub(1.0, s[1]));
}

/* The logarithm of Gamma(n + k)/(Gamma(n) k!), which is 1/((n + k) B(n, k + 1)). */
static lam_tensor *nbinom_ways(lam_tensor *n, lam_tensor *k) {
    return lam_neg(lam_add(lam_log(lam_add(n, k)), lam_betaln(n, lam_add(k, 1.0))));
}

/* Failures before the nth success. */
static lam_tensor *nbinom_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, NULL), *k = lam_where(none, 0.0, z), *n = s[0];
    return mass(none, lam_add(nbinom_ways(n, k), lam_add(lam_xlogy(n, s[1]), lam_xlog1py(k, lam_neg(s[1])))));
}

/* p is above 0, so that 1 is the only end of it. */
static lam_tensor *nbinom_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, NULL), *k = lam_where(none, 0.0, z);
    return chances(none, nbinom_ways(s[0], k), s[1], s[0], k);
}

/* The parameter is number 2, its end 1. */
static const lam__distribution_ends nbinom_ends = {2, 1, 1, nbinom_at_end};

/* I_p(n, k + 1), and 1 at infinity. */
static lam_tensor *nbinom_part(lam_tensor *z, lam_tensor *const s[], bool upper) {
    lam_tensor *below = lam_lt(z, 0.0), *above = lam_eq(z, INFINITY), *none = lam_or(below, above);
    lam_tensor *b = lam_add(lam_floor(lam_where(none, 0.0, z)), 1.0);
    lam_tensor *part = upper ? lam_betaincc(s[0], b, s[1]) : lam_betainc(s[0], b, s[1]);
    return lam_where(below, upper ? 1.0 : 0.0, lam_where(above, upper ? 0.0 : 1.0, part));
}

static lam_tensor *nbinom_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return nbinom_part(z, s, false);
}

static lam_tensor *nbinom_sf(lam_tensor *z, lam_tensor *const s[]) {
    return nbinom_part(z, s, true);
}

/* I_p(n, k + 1) and I_(1 - p)(k + 1, n), each by its logarithm. */
static lam_tensor *nbinom_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_ge(z, 0.0));
    return lam__distributions_log_beta(inside, s[0], lam_add(lam_floor(z), 1.0), s[1], lam_sub(1.0, s[1]));
}

/* The share above, whose shapes change places. */
static lam_tensor *nbinom_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(deep, lam_and(lam_lt(z, INFINITY), lam_lt(s[1], 1.0)));
    return lam__distributions_log_beta(inside, lam_add(lam_floor(z), 1.0), s[0], lam_sub(1.0, s[1]), s[1]);
}

/* n over k times B(k + a, n - k + b) / B(a, b): binomial, with p a beta variable. */
static lam_tensor *betabinom_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = no_count(z, 0, s[0]), *k = lam_where(none, 0.0, z), *rest = lam_sub(s[0], k);
    lam_tensor *share = lam_sub(lam_betaln(lam_add(k, s[1]), lam_add(rest, s[2])), lam_betaln(s[1], s[2]));
    return mass(none, lam_add(log_choose(s[0], k), share));
}

/* ---- Bernoulli --------------------------------------------------------------------------------------------------- */

/* The binomial distribution of one trial, whose ways are one. */
static lam_tensor *bernoulli_logpmf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = lam_or(no_count(z, 0, NULL), lam_gt(z, 1.0)), *k = lam_where(none, 0.0, z);
    return mass(none, lam_add(lam_xlogy(k, s[0]), lam_xlog1py(lam_sub(1.0, k), lam_neg(s[0]))));
}

/* As a product, where p is 0 or 1. */
static lam_tensor *bernoulli_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *none = lam_or(no_count(z, 0, NULL), lam_gt(z, 1.0)), *k = lam_where(none, 0.0, z);
    return chances(none, lam_zeros_like(k), s[0], k, lam_sub(1.0, k));
}

/* The parameter is number 1, its ends 0 and 1. */
static const lam__distribution_ends bernoulli_ends = {1, 0, 1, bernoulli_at_end};

/* All below 0, p from there to 1, nothing from 1 on. */
static lam_tensor *bernoulli_sf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *within = lam_where(lam_lt(z, 1.0), s[0], lam_where(lam_is_nan(z), z, 0.0));
    return lam_where(lam_lt(z, 0.0), 1.0, within);
}

/* What is left of 1, since at 0 the share is 1 - p itself. */
static lam_tensor *bernoulli_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_sub(1.0, bernoulli_sf(z, s));
}

/* The share of 0 is 1 - p. NaN is not inside, and ones like q make the result as wide as q. */
static lam_tensor *bernoulli_ppf(lam_tensor *q, lam_tensor *const s[]) {
    lam_tensor *inside = lam_and(lam_ge(q, 0.0), lam_le(q, 1.0)), *low = lam_le(q, lam_sub(1.0, s[0]));
    return lam_where(lam_not(inside), NAN, lam_where(low, 0.0, lam_ones_like(q)));
}

/* ---- quantiles -------------------------------------------------------------------------------------------------- */

/* The kernel counts, by its own forms of the incomplete functions: see inverse.h. */
static lam_tensor *poisson_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_poisson_count(false, s[0], q);
}

/* From the share above. */
static lam_tensor *poisson_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_poisson_count(true, s[0], q);
}

/* Trials are one more than the failures before the first success, which are counted. */
static lam_tensor *geom_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_add(lam__distributions_count(true, false, lam_ones_like(s[0]), s[0], q), 1.0);
}

static lam_tensor *geom_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_add(lam__distributions_count(true, true, lam_ones_like(s[0]), s[0], q), 1.0);
}

/* n and chance, as the kernel has them for trials; waiting, below, for successes. */
static lam_tensor *binom_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_count(false, false, s[0], s[1], q);
}

static lam_tensor *binom_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_count(false, true, s[0], s[1], q);
}

static lam_tensor *nbinom_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_count(true, false, s[0], s[1], q);
}

static lam_tensor *nbinom_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam__distributions_count(true, true, s[0], s[1], q);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const lam__distribution rows[] = {
    [LAM_POISSON] = {"poisson", "0", true, poisson_logpmf, poisson_cdf, poisson_sf, NULL, NULL, poisson_ppf,
                     poisson_isf, poisson_low, poisson_high, &poisson_ends},
    [LAM_GEOM] = {"geom", "p", true, geom_logpmf, geom_cdf, geom_sf, NULL, geom_logsf, geom_ppf, geom_isf, NULL, NULL,
                  &geom_ends},
    [LAM_BINOM] = {"binom", "01", true, binom_logpmf, binom_cdf, binom_sf, NULL, NULL, binom_ppf, binom_isf,
                   binom_low, binom_high, &binom_ends},
    [LAM_NBINOM] = {"nbinom", "+p", true, nbinom_logpmf, nbinom_cdf, nbinom_sf, NULL, NULL, nbinom_ppf, nbinom_isf,
                    nbinom_low, nbinom_high, &nbinom_ends},
    [LAM_BETABINOM] = {"betabinom", "0++", true, betabinom_logpmf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                       NULL},
    [LAM_BERNOULLI] = {"bernoulli", "1", true, bernoulli_logpmf, bernoulli_cdf, bernoulli_sf, NULL, NULL,
                       bernoulli_ppf, NULL, NULL, NULL, &bernoulli_ends},
};
/* clang-format on */

const lam__distribution *lam__distributions_discrete(lam_distribution which) {
    return (size_t)which < sizeof rows / sizeof *rows && rows[which].name ? &rows[which] : NULL;
}
