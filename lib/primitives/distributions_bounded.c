/* Distributions on a part of the line: rows of stats.c. What lies outside is replaced by a point inside before a
 * function sees it, and the result there is chosen afterwards. */
#include "lib/primitives/distributions.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

#define LOG_2    0.69314718055994530942
#define LOG_2PI  1.83787706640934548356
#define CIRCLE   6.28318530717958647693
#define MOST_LOG 80.0 /* whose exponential is a number in every dtype but f16 */
#define BELOW(z) lam_lt(z, 0.0)

/* -inf outside. NaN is inside, since it fails every comparison. */
static lam_tensor *inside_only(lam_tensor *outside, lam_tensor *logpdf) {
    return lam_where(outside, -INFINITY, logpdf);
}

/* NaN compares as inside, as everywhere here. A share q is tested by it as well as a variable. */
static lam_tensor *outside_unit(lam_tensor *z) {
    return lam_or(lam_lt(z, 0.0), lam_gt(z, 1.0));
}

/* ---- uniform, exponential ---------------------------------------------------------------------------------------- */

/* 0 times z, so that NaN stays NaN. */
static lam_tensor *uniform_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    lam_tensor *outside = outside_unit(z);
    return inside_only(outside, lam_mul(0.0, lam_where(outside, 0.0, z)));
}

static lam_tensor *uniform_cdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    /* clamp passes NaN on. */
    return lam_clamp(z, 0.0, 1.0);
}

/* From 1/2 on the difference is exact. */
static lam_tensor *uniform_sf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_sub(1.0, lam_clamp(z, 0.0, 1.0));
}

static lam_tensor *uniform_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_where(outside_unit(q), NAN, q);
}

/* exp(-z), as the share above z is. */
static lam_tensor *expon_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return inside_only(BELOW(z), lam_neg(z));
}

static lam_tensor *expon_logsf(lam_tensor *z, lam_tensor *const s[]) {
    (void)s;
    return lam_where(BELOW(z), 0.0, lam_neg(z));
}

/* By expm1: small shares keep their digits, which 1 - exp would round away. */
static lam_tensor *expon_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_neg(lam_expm1(expon_logsf(z, s)));
}

static lam_tensor *expon_sf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(expon_logsf(z, s));
}

/* A share below 0 has no quantile; of one above 1 the logarithm is NaN by itself. */
static lam_tensor *expon_ppf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_log1p(lam_neg(lam_where(lam_lt(q, 0.0), NAN, q))));
}

/* From the logarithm of the share above. */
static lam_tensor *expon_isf(lam_tensor *q, lam_tensor *const s[]) {
    (void)s;
    return lam_neg(lam_log(lam_where(lam_gt(q, 1.0), NAN, q)));
}

/* ---- gamma, chi squared, Pareto ---------------------------------------------------------------------------------- */

/* xlogy, since at 0 a shape of 1 asks for 0 log 0. */
static lam_tensor *gamma_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = BELOW(z), *x = lam_where(below, 1.0, z);
    return inside_only(below, lam_sub(lam_sub(lam_xlogy(lam_sub(s[0], 1.0), x), x), lam_lgamma(s[0])));
}

/* The density as a product of powers, which has derivatives at 0 where its logarithm is infinite
 * (lam__distribution_ends). */
static lam_tensor *gamma_at_end(lam_tensor *z, lam_tensor *const s[]) {
    return lam_mul(lam_pow(z, lam_sub(s[0], 1.0)), lam_exp(lam_neg(lam_add(z, lam_lgamma(s[0])))));
}

/* The end is 0, twice, as there is one alone. */
static const lam__distribution_ends gamma_ends = {0, 0, 0, gamma_at_end};

/* P(s, z) and, below, Q(s, z): DLMF 8.2.4. */
static lam_tensor *gamma_cdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = BELOW(z);
    return lam_where(below, 0.0, lam_igamma(s[0], lam_where(below, 1.0, z)));
}

/* The other function of the pair, so that far out nothing cancels. */
static lam_tensor *gamma_sf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = BELOW(z);
    return lam_where(below, 1.0, lam_igammac(s[0], lam_where(below, 1.0, z)));
}

static lam_tensor *gamma_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_igamma_inv(s[0], q);
}

/* From the upper share, without 1 - q. */
static lam_tensor *gamma_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_igammac_inv(s[0], q);
}

/* Where shares underflow (`deep`) their logarithms are worked out by themselves, but for the very end, where there is
 * no share. */
static lam_tensor *gamma_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return lam__distributions_log_gamma(false, lam_and(deep, lam_gt(z, 0.0)), s[0], z);
}

static lam_tensor *gamma_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return lam__distributions_log_gamma(true, lam_and(deep, lam_lt(z, INFINITY)), s[0], z);
}

/* Twice a gamma variable of half the freedom. So its density is half of that at half the variable. */
static lam_tensor *chi2_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_sub(gamma_logpdf(lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])}), LOG_2);
}

static lam_tensor *chi2_at_end(lam_tensor *z, lam_tensor *const s[]) {
    return lam_mul(0.5, gamma_at_end(lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])}));
}

static const lam__distribution_ends chi2_ends = {0, 0, 0, chi2_at_end};

static lam_tensor *chi2_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return gamma_cdf(lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])});
}

static lam_tensor *chi2_sf(lam_tensor *z, lam_tensor *const s[]) {
    return gamma_sf(lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])});
}

static lam_tensor *chi2_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_mul(2.0, lam_igamma_inv(lam_mul(0.5, s[0]), q));
}

static lam_tensor *chi2_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_mul(2.0, lam_igammac_inv(lam_mul(0.5, s[0]), q));
}

static lam_tensor *chi2_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return gamma_low(deep, lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])});
}

static lam_tensor *chi2_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return gamma_high(deep, lam_mul(0.5, z), (lam_tensor *[]){lam_mul(0.5, s[0])});
}

/* s z^-(s + 1) from 1 on */
static lam_tensor *pareto_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = lam_lt(z, 1.0), *l = lam_log(lam_where(below, 1.0, z));
    return inside_only(below, lam_sub(lam_log(s[0]), lam_mul(lam_add(s[0], 1.0), l)));
}

/* z^-s; below 1, where nothing lies, the share above is all. */
static lam_tensor *pareto_logsf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_neg(lam_mul(s[0], lam_log(lam_where(lam_lt(z, 1.0), 1.0, z))));
}

/* By expm1, as for exponential variables. */
static lam_tensor *pareto_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_neg(lam_expm1(pareto_logsf(z, s)));
}

/* z^-s, from its logarithm. */
static lam_tensor *pareto_sf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(pareto_logsf(z, s));
}

/* The logarithm of a Pareto variable is an exponential one, s times as fast. */
static lam_tensor *pareto_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_exp(lam_div(expon_ppf(q, s), s[0]));
}

static lam_tensor *pareto_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_exp(lam_div(expon_isf(q, s), s[0]));
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* z^(a - 1) (1 - z)^(b - 1) / B(a, b) */
static lam_tensor *beta_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *outside = outside_unit(z), *x = lam_where(outside, 0.5, z);
    lam_tensor *powers = lam_add(lam_xlogy(lam_sub(s[0], 1.0), x), lam_xlog1py(lam_sub(s[1], 1.0), lam_neg(x)));
    return inside_only(outside, lam_sub(powers, lam_betaln(s[0], s[1])));
}

/* The factor is bounded, since the powers beside one that is infinite are 0. */
static lam_tensor *beta_at_end(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *left = lam_pow(z, lam_sub(s[0], 1.0)), *right = lam_pow(lam_sub(1.0, z), lam_sub(s[1], 1.0));
    return lam_mul(lam_mul(left, right), lam_exp(lam_min(lam_neg(lam_betaln(s[0], s[1])), MOST_LOG)));
}

/* Ends 0 and 1. */
static const lam__distribution_ends beta_ends = {0, 0, 1, beta_at_end};

static lam_tensor *beta_cdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *outside = outside_unit(z), *x = lam_where(outside, 0.5, z);
    /* Outside the share is that of the nearer end: clamping says so, and keeps NaN. */
    return lam_where(outside, lam_clamp(z, 0.0, 1.0), lam_betainc(s[0], s[1], x));
}

/* Of betaincc, so that shares near the upper end keep their digits. */
static lam_tensor *beta_sf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *outside = outside_unit(z), *x = lam_where(outside, 0.5, z);
    return lam_where(outside, lam_sub(1.0, lam_clamp(z, 0.0, 1.0)), lam_betaincc(s[0], s[1], x));
}

static lam_tensor *beta_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_betainc_inv(s[0], s[1], q);
}

/* From the upper share, without 1 - q. */
static lam_tensor *beta_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_betaincc_inv(s[0], s[1], q);
}

/* From the other end the shapes change places, so one series serves both tails. */
static lam_tensor *beta_low(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return lam__distributions_log_beta(lam_and(deep, lam_gt(z, 0.0)), s[0], s[1], z, lam_sub(1.0, z));
}

static lam_tensor *beta_high(lam_tensor *deep, lam_tensor *z, lam_tensor *const s[]) {
    return lam__distributions_log_beta(lam_and(deep, lam_lt(z, 1.0)), s[1], s[0], lam_sub(1.0, z), z);
}

/* ---- truncated normal -------------------------------------------------------------------------------------------- */

/* log(Phi(b) - Phi(a)) for a <= b, on the side where both are tails: from the logarithm of the larger one and what the
 * smaller takes away. */
static lam_tensor *log_mass(lam_tensor *a, lam_tensor *b) {
    lam_tensor *right = lam_gt(a, 0.0), *low = lam_where(right, lam_neg(b), a), *high = lam_where(right, lam_neg(a), b);
    lam_tensor *larger = lam_log_ndtr(high), *open = lam_eq(low, -INFINITY);
    lam_tensor *gap = lam_sub(lam_log_ndtr(lam_where(open, 0.0, low)), lam_where(open, 1.0, larger));
    return lam_add(larger, lam_where(open, 0.0, lam_log(lam_neg(lam_expm1(gap)))));
}

/* NaN is inside here, too. Bounds belong to what is inside. */
static lam_tensor *outside_bounds(lam_tensor *z, lam_tensor *const s[]) {
    return lam_or(lam_lt(z, s[0]), lam_gt(z, s[1]));
}

/* Divided by the share of the normal distribution between the bounds, as logarithms, since it may be as deep as a tail
 * goes. */
static lam_tensor *truncnorm_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *bell = lam_sub(lam_mul(-0.5, lam_square(z)), LOG_2PI / 2);
    return inside_only(outside_bounds(z, s), lam_sub(bell, log_mass(s[0], s[1])));
}

/* The share of [a, z]; at a itself the logarithm is -inf, whose exponential is 0. */
static lam_tensor *truncnorm_logcdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *below = lam_le(z, s[0]), *above = lam_ge(z, s[1]);
    lam_tensor *x = lam_where(lam_or(below, above), s[1], z);
    lam_tensor *share = lam_sub(log_mass(s[0], x), log_mass(s[0], s[1]));
    return lam_where(below, -INFINITY, lam_where(above, 0.0, share));
}

/* The share above z is that below -z of the mirrored variable, so that both tails keep their digits. */
static lam_tensor *truncnorm_logsf(lam_tensor *z, lam_tensor *const s[]) {
    return truncnorm_logcdf(lam_neg(z), (lam_tensor *[]){lam_neg(s[1]), lam_neg(s[0])});
}

/* The logarithm is the accurate one, from which the share is made; by differences narrow bounds far out would leave
 * 0. */
static lam_tensor *truncnorm_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(truncnorm_logcdf(z, s));
}

/* From its own logarithm, not as the rest of the other. */
static lam_tensor *truncnorm_sf(lam_tensor *z, lam_tensor *const s[]) {
    return lam_exp(truncnorm_logsf(z, s));
}

/* The x with log Phi(x) = y, for y up to log(1/2). As long as exp(y) is a number it has the digits for that: those of y
 * that are lost do not count so far out. Beyond, Newton's steps from the tail's first terms, -x^2/2 - log(-x) -
 * log(2 pi)/2. Elsewhere they work on a goal that is as deep as any. */
static lam_tensor *normal_quantile(lam_tensor *y) {
    const double least = log(lam__distributions_least(y));
    lam_tensor *deep = lam_and(lam_lt(y, least), lam_gt(y, -INFINITY)), *goal = lam_where(deep, y, 2 * least);
    lam_tensor *square = lam_mul(-2.0, goal);
    lam_tensor *x = lam_neg(lam_sqrt(lam_sub(lam_sub(square, lam_log(square)), LOG_2PI)));
    for (int k = 0; k < 2; k++) {
        lam_tensor *at = lam_log_ndtr(x), *bell = lam_sub(lam_mul(-0.5, lam_square(x)), LOG_2PI / 2);
        x = lam_sub(x, lam_mul(lam_sub(at, goal), lam_exp(lam_sub(at, bell))));
    }
    return lam_where(deep, x, lam_ndtri(lam_exp(lam_where(deep, 0.0, y))));
}

/* log((1 - q) Phi(a) + q Phi(b)). Where one bound is infinite its term is missing: the other stands for both, and log 2
 * is taken away again. */
static lam_tensor *log_between(lam_tensor *a, lam_tensor *b, lam_tensor *q) {
    lam_tensor *no_a = lam_eq(a, -INFINITY), *no_b = lam_eq(b, -INFINITY);
    lam_tensor *first = lam_add(lam_log_ndtr(lam_where(no_a, 0.0, a)), lam_log1p(lam_neg(q)));
    lam_tensor *second = lam_add(lam_log_ndtr(lam_where(no_b, 0.0, b)), lam_log(q));
    lam_tensor *both = lam_logaddexp(lam_where(no_a, second, first), lam_where(no_b, first, second));
    return lam_sub(both, lam_where(lam_or(no_a, no_b), LOG_2, 0.0));
}

/* A bound, moved by a change of the share at it, which is 0: with the slope from inside. */
static lam_tensor *at_bound(lam_tensor *bound, lam_tensor *change, lam_tensor *const s[]) {
    lam_tensor *open = lam_is_inf(bound), *bell = lam_mul(-0.5, lam_square(lam_where(open, 0.0, bound)));
    lam_tensor *density = lam_exp(lam_sub(lam_sub(bell, LOG_2PI / 2), log_mass(s[0], s[1])));
    lam_tensor *some = lam_gt(density, 0.0);
    return lam_where(open, bound, lam_add(bound, lam_div(change, lam_where(some, density, 1.0))));
}

/* From the side where the share of all that is normal is less than half, so that it keeps its digits. An end of [0, 1]
 * is an end of the support. What rounding carries beyond a bound is brought back. */
static lam_tensor *truncnorm_ppf(lam_tensor *q, lam_tensor *const s[]) {
    lam_tensor *none = lam_eq(q, 0.0), *all = lam_eq(q, 1.0), *p = lam_where(lam_or(none, all), 0.5, q);
    lam_tensor *below = log_between(s[0], s[1], p), *above = log_between(lam_neg(s[0]), lam_neg(s[1]), p);
    lam_tensor *left = lam_lt(below, above), *x = normal_quantile(lam_where(left, below, above));
    x = lam_where(left, x, lam_neg(x));
    x = lam_where(lam_lt(x, s[0]), s[0], lam_where(lam_gt(x, s[1]), s[1], x));
    lam_tensor *first = at_bound(s[0], lam_where(none, q, 0.0), s),
               *last = at_bound(s[1], lam_where(all, lam_sub(q, 1.0), 0.0), s);
    return lam_where(none, first, lam_where(all, last, x));
}

/* By the mirrored variable, so that small q keep their digits. */
static lam_tensor *truncnorm_isf(lam_tensor *q, lam_tensor *const s[]) {
    return lam_neg(truncnorm_ppf(q, (lam_tensor *[]){lam_neg(s[1]), lam_neg(s[0])}));
}

/* ---- wrapped Cauchy ---------------------------------------------------------------------------------------------- */

/* (1 - c^2) / (2 pi (1 + c^2 - 2 c cos z)), where the last factor is (1 - c)^2 + 4 c sin(z/2)^2. */
static lam_tensor *wrapcauchy_logpdf(lam_tensor *z, lam_tensor *const s[]) {
    lam_tensor *outside = lam_or(lam_lt(z, 0.0), lam_gt(z, CIRCLE)), *c = s[0], *gap = lam_sub(1.0, c);
    lam_tensor *turn = lam_square(lam_sin(lam_mul(0.5, z)));
    lam_tensor *below = lam_add(lam_square(gap), lam_mul(lam_mul(4.0, c), turn));
    return inside_only(outside, lam_sub(lam_log(lam_div(lam_mul(gap, lam_add(1.0, c)), below)), LOG_2PI));
}

/* The share up to z, for z up to half the circle. Neither operand of atan2 is negative there, so it has no jump
 * within. */
static lam_tensor *share_of_arc(lam_tensor *z, lam_tensor *c) {
    lam_tensor *half = lam_mul(0.5, z), *x = lam_mul(lam_sub(1.0, c), lam_cos(half));
    return lam_div(lam_atan2(lam_mul(lam_add(1.0, c), lam_sin(half)), x), CIRCLE / 2);
}

/* Both halves are alike: what lies behind z is what lies before the same arc from the other end. */
static lam_tensor *wrapcauchy_part(lam_tensor *z, lam_tensor *c, bool upper) {
    lam_tensor *below = BELOW(z), *above = lam_gt(z, CIRCLE), *second = lam_gt(z, CIRCLE / 2);
    lam_tensor *arc = lam_where(lam_or(below, above), 0.0, lam_where(second, lam_sub(CIRCLE, z), z));
    lam_tensor *share = share_of_arc(arc, c), *rest = lam_sub(1.0, share);
    lam_tensor *within = upper ? lam_where(second, share, rest) : lam_where(second, rest, share);
    return lam_where(below, upper ? 1.0 : 0.0, lam_where(above, upper ? 0.0 : 1.0, within));
}

/* c = 0 is the uniform distribution on the circle. */
static lam_tensor *wrapcauchy_cdf(lam_tensor *z, lam_tensor *const s[]) {
    return wrapcauchy_part(z, s[0], false);
}

static lam_tensor *wrapcauchy_sf(lam_tensor *z, lam_tensor *const s[]) {
    return wrapcauchy_part(z, s[0], true);
}

/* The arc that has this share, from the end that is nearer. share_of_arc undone: the same arctangent with 1 + c and 1 -
 * c exchanged. */
static lam_tensor *wrapcauchy_quantile(lam_tensor *q, lam_tensor *c, bool upper) {
    lam_tensor *second = lam_gt(q, 0.5), *angle = lam_mul(CIRCLE / 2, lam_where(second, lam_sub(1.0, q), q));
    lam_tensor *x = lam_mul(lam_add(1.0, c), lam_cos(angle)), *y = lam_mul(lam_sub(1.0, c), lam_sin(angle));
    lam_tensor *arc = lam_mul(2.0, lam_atan2(y, x)), *rest = lam_sub(CIRCLE, arc);
    lam_tensor *z = upper ? lam_where(second, arc, rest) : lam_where(second, rest, arc);
    return lam_where(outside_unit(q), NAN, z);
}

static lam_tensor *wrapcauchy_ppf(lam_tensor *q, lam_tensor *const s[]) {
    return wrapcauchy_quantile(q, s[0], false);
}

static lam_tensor *wrapcauchy_isf(lam_tensor *q, lam_tensor *const s[]) {
    return wrapcauchy_quantile(q, s[0], true);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const lam__distribution rows[] = {
    [LAM_UNIFORM] = {"uniform", "", false, uniform_logpdf, uniform_cdf, uniform_sf, NULL, NULL, uniform_ppf, NULL,
                     NULL, NULL, NULL},
    [LAM_EXPON] = {"expon", "", false, expon_logpdf, expon_cdf, expon_sf, NULL, expon_logsf, expon_ppf, expon_isf,
                   NULL, NULL, NULL},
    [LAM_GAMMA] = {"gamma", "+", false, gamma_logpdf, gamma_cdf, gamma_sf, NULL, NULL, gamma_ppf, gamma_isf,
                   gamma_low, gamma_high, &gamma_ends},
    [LAM_CHI2] = {"chi2", "+", false, chi2_logpdf, chi2_cdf, chi2_sf, NULL, NULL, chi2_ppf, chi2_isf, chi2_low,
                  chi2_high, &chi2_ends},
    [LAM_PARETO] = {"pareto", "+", false, pareto_logpdf, pareto_cdf, pareto_sf, NULL, pareto_logsf, pareto_ppf,
                    pareto_isf, NULL, NULL, NULL},
    [LAM_BETA] = {"beta", "++", false, beta_logpdf, beta_cdf, beta_sf, NULL, NULL, beta_ppf, beta_isf, beta_low,
                  beta_high, &beta_ends},
    [LAM_TRUNCNORM] = {"truncnorm", "*>", false, truncnorm_logpdf, truncnorm_cdf, truncnorm_sf, truncnorm_logcdf,
                       truncnorm_logsf, truncnorm_ppf, truncnorm_isf, NULL, NULL, NULL},
    [LAM_WRAPCAUCHY] = {"wrapcauchy", "c", false, wrapcauchy_logpdf, wrapcauchy_cdf, wrapcauchy_sf, NULL, NULL,
                        wrapcauchy_ppf, wrapcauchy_isf, NULL, NULL, NULL},
};
/* clang-format on */

const lam__distribution *lam__distributions_bounded(lam_distribution which) {
    return (size_t)which < sizeof rows / sizeof *rows && rows[which].name ? &rows[which] : NULL;
}
