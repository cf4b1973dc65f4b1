/* Special functions, all elementwise. The opening comment of ops.h applies here too. The error bounds were measured
 * against MPFR (tests/README.md has a table of the results); every function is differentiable to any order by its last
 * operand, and by all others unless stated otherwise.
 *
 * Derivatives at singular points:
 *   erf_inv at -1, 1; ndtri at 0, 1          inf
 *   lgamma, digamma, polygamma at poles      NaN where the sides disagree
 *   xlog1py at x = 0                         by x: log(1 + y) where that is finite, else 0; by y: 0
 *   entr, rel_entr at x = 0, and outside     0; kl_div outside: 0
 *   logaddexp2, equal infinities             1/2 to each operand
 *   igamma, betainc at the ends of x         the density there, 0, finite or inf; by the parameters 0
 *   i0e, i1e at 0                            as if |x| had the slope 0 there
 *   nextafter                                1 by x, 0 by the other, as for the identity
 */
#ifndef LAMINA_SPECIAL_H
#define LAMINA_SPECIAL_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- error functions and the normal distribution ----------------------------------------------------------------- */

/* The y with erf(y) = x; -inf and inf at -1 and 1, NaN beyond. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: sqrt(pi)/2 exp(y^2).
 * Source  a polynomial, and in the tails one in sqrt(-log(1 - |x|)); 1 ULP. */
LAM_API lam_tensor *lam_erf_inv(lam_tensor *x);

/* exp(x^2) erfc(x), which does not underflow; inf from -27 down. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 2 x erfcx(x) - 2/sqrt(pi), without the
 *         cancellation.
 * Source  polynomials in pieces; 1 ULP. */
LAM_API lam_tensor *lam_erfcx(lam_tensor *x);

/* Distribution function of the normal distribution, accurate in the left tail. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: exp(-x^2/2) / sqrt(2 pi).
 * Source  erfcx and the exponential in two doubles; 1 ULP. */
LAM_API lam_tensor *lam_ndtr(lam_tensor *x);

/* log(ndtr(x)), even where ndtr underflows. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: density over distribution function, by erfcx.
 * Source  erfcx; 1 ULP. */
LAM_API lam_tensor *lam_log_ndtr(lam_tensor *x);

/* Quantiles of the normal distribution: the y with ndtr(y) = x; -inf at 0, inf at 1, NaN beyond. Integers are taken as
 * f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: one over the density at y.
 * Source  as erf_inv; 1 ULP. */
LAM_API lam_tensor *lam_ndtri(lam_tensor *x);

/* Owen's T: the integral of exp(-h^2 (1 + u^2) / 2) / (2 pi (1 + u^2)) over u from 0 to a, which is the probability
 * of X > h and 0 < Y < a X for normal X and Y.
 * Shape   h and a broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: by h
 *         -exp(-h^2 / 2) erf(a h / sqrt 2) / (2 sqrt(2 pi)), by a the integrand.
 * Source  Owen 1956; Patefield and Tandy 2000; 2 ULP. */
LAM_API lam_tensor *lam_owens_t(lam_tensor *h, lam_tensor *a);

/* Faddeeva's function exp(-z^2) erfc(-i z) of complex z. Real operands are taken as complex ones.
 * Shape   as z; c64 or c128.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 2 i / sqrt(pi) - 2 z w, without the cancellation
 *         for large z.
 * Source  Al Azah and Chandler-Wilde, 2021; 1 ULP of |w|. */
LAM_API lam_tensor *lam_wofz(lam_tensor *z);

/* The spherical harmonic Y_n^m at the polar angle theta and the azimuth phi, with the phase of Condon and Shortley; 0
 * for |m| > n.
 * Shape   theta and phi broadcast; complex.
 * Fails   LAM_ERR_VALUE unless 0 <= n <= 1000 and |m| <= 1000; LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex angles. Owner:
 *         current scope. Derivative: by both angles, of any order.
 * Source  the recurrence by degrees of normalised Legendre functions, DLMF 14.10.3, 14.30.1. */
LAM_API lam_tensor *lam_sph_harm_y(int64_t n, int64_t m, lam_tensor *theta, lam_tensor *phi);

/* ---- gamma and beta ---------------------------------------------------------------------------------------------- */

/* log|Gamma(x)|; inf at 0 and the negative integers. (gammaln elsewhere.) Integers are taken as f64. For complex
 * numbers lam_loggamma.
 * Fails   like any use of a handle. Owner: current scope. Derivative: digamma(x).
 * Source  polynomials in pieces and A&S 6.1.41; 1 ULP. */
LAM_API lam_tensor *lam_lgamma(lam_tensor *x);

/* The logarithm of Gamma(z) for complex z on the branch that is real for z > 0, with its cut along the negative axis;
 * NaN at poles. Real operands are taken as complex ones.
 * Shape   as z; c64 or c128.
 * Fails   LAM_ERR_RULE for more than 10 derivatives. Owner: current scope. Derivative: digamma(z).
 * Source  Hare 1997; 1 ULP of its size. */
LAM_API lam_tensor *lam_loggamma(lam_tensor *z);

/* Derivative of lgamma; NaN at negative integers, -inf at 0 (inf at -0). Integers are taken as f64. For complex numbers
 * the derivative of lam_loggamma, NaN at all poles.
 * Fails   like any use of a handle. Owner: current scope. Derivative: polygamma(x, 1).
 * Source  A&S 6.3; 1 ULP, for x < 0 relative to the larger of 1 and the result. */
LAM_API lam_tensor *lam_digamma(lam_tensor *x);

/* The nth derivative of digamma.
 * Fails   LAM_ERR_VALUE unless 0 <= n <= 1000, for complex numbers 9. Owner: current scope. Derivative: polygamma(x, n
 *         + 1).
 * Source  A&S 6.4, Euler-Maclaurin; 1 ULP, for x < 0 relative to the terms of the reflection formula. */
LAM_API lam_tensor *lam_polygamma(lam_tensor *x, int n);

/* Hurwitz zeta function: the sum of (q + k)^-s over k = 0, 1, ...; inf for s = 1 and where a term is infinite, NaN for
 * s < 1 and, unless s is whole, for q < 0.
 * Shape   s and q broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_RULE for more than 8 derivatives by s. Owner: current scope.
 * Derivative  by q: -s zeta(s + 1, q); by s the sum of -log(q + k) (q + k)^-s, NaN for q < 0.
 * Source  Euler-Maclaurin; 1 ULP for q > 0. */
LAM_API lam_tensor *lam_zeta(lam_tensor *s, lam_tensor *q);

/* The logarithm of the multivariate gamma function of dimension d: d (d - 1) / 4 log(pi) and the sum of
 * lgamma(a - j / 2) over j < d, for a > (d - 1) / 2. Integers are taken as f64.
 * Shape   that of a.
 * Fails   LAM_ERR_VALUE unless 1 <= d <= 1000; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 *         Derivative: the sum of digamma(a - j / 2). */
LAM_API lam_tensor *lam_multigammaln(lam_tensor *a, int64_t d);

/* log(Gamma(a) Gamma(b) / Gamma(a + b)) for a, b > 0, without cancellation.
 * Shape   a and b broadcast. A C number may stand for a or b.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: digamma(a) - digamma(a + b), likewise b.
 * Source  Stirling's series for operands of at least 10; 1 ULP of the larger of 1 and the result. */
LAM_API lam_tensor *lam_betaln(lam_tensor *a, lam_tensor *b);

/* Regularised lower incomplete gamma function P(a, x): the integral of t^(a-1) exp(-t) / Gamma(a) from 0 to x. NaN for
 * negative operands; 1 for a = 0 < x.
 * Shape   a and x broadcast. A C number may stand for a or x.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_RULE for more than 8 derivatives by a. Owner: current scope.
 * Derivative  by x the density; by a the integral of its derivative; 4 ULP where they are well conditioned.
 * Source  quadrature relative to Loader's form of the density, below 1 the power series; 4 ULP. */
LAM_API lam_tensor *lam_igamma(lam_tensor *a, lam_tensor *x);

/* 1 - igamma(a, x), accurate where it is small.
 * Shape   a and x broadcast. A C number may stand for a or x.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: minus those of igamma.
 * Source  as igamma. */
LAM_API lam_tensor *lam_igammac(lam_tensor *a, lam_tensor *x);

/* Regularised incomplete beta function: the integral of t^(a-1) (1-t)^(b-1) / B(a, b) from 0 to x. NaN unless
 * a, b > 0 and 0 <= x <= 1.
 * Shape   all three broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_RULE for more than 8 derivatives by a and b together. Owner: current scope.
 * Derivative  by x the density; by a and b the integral of its derivatives; 4 ULP where they are well conditioned.
 * Source  as igamma; 4 ULP. */
LAM_API lam_tensor *lam_betainc(lam_tensor *a, lam_tensor *b, lam_tensor *x);

/* 1 - betainc(a, b, x), accurate where it is small, even where 1 - x has lost the digits of x.
 * Shape   all three broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: minus those of betainc.
 * Source  as igamma; 4 ULP. */
LAM_API lam_tensor *lam_betaincc(lam_tensor *a, lam_tensor *b, lam_tensor *x);

/* The x with igamma(a, x) = p, and with igammac(a, x) = q, without losing digits where q is small; inf for p = 1 and q
 * = 0, NaN outside [0, 1] and unless a is positive and finite. Takes two to three times as long as igamma.
 * Shape   a and p broadcast; integers are taken as f64.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 * Derivative  by p one over the density at x; by a that of igamma, over it, of as many orders.
 * Source  Halley's method on log-concave functions; 2 ULP. */
LAM_API lam_tensor *lam_igamma_inv(lam_tensor *a, lam_tensor *p);
LAM_API lam_tensor *lam_igammac_inv(lam_tensor *a, lam_tensor *q); /* Fails as lam_igamma_inv does. */

/* The x with betainc(a, b, x) = p, and with betaincc(a, b, x) = q. As lam_igamma_inv, with x in [0, 1]. */
LAM_API lam_tensor *lam_betainc_inv(lam_tensor *a, lam_tensor *b, lam_tensor *p);  /* Fails as lam_igamma_inv does. */
LAM_API lam_tensor *lam_betaincc_inv(lam_tensor *a, lam_tensor *b, lam_tensor *q); /* Fails as lam_igamma_inv does. */

/* Kummer's function, the sum over n of (a)_n / (b)_n x^n / n!, and Gauss's, that of (a)_n (b)_n / (c)_n x^n / n!, with
 * (a)_n = a (a + 1) .. (a + n - 1), Gauss's continued to all x < 1; at 1 the limit. NaN where b (c) is 0 or a negative
 * integer, of Gauss's for x > 1 unless a or b is one, and for operands beyond 10000 (except x of hyp2f1). NaN also
 * where cancellation leaves fewer than about six digits: for some parameters beyond 50 of unlike signs, and beyond 20
 * next to x = 1 and far left of 0. A microsecond and more for each, up to milliseconds where terms cancel.
 * Shape   all operands broadcast; integers are taken as f64.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands; LAM_ERR_RULE for more than 2 derivatives by a, b and c
 *         together. Owner: current scope.
 * Derivative  by x the same with all parameters one higher, times a / b, of Gauss's times a b / c; by the parameters
 *         that of each term. At x = 1 NaN by the parameters of Gauss's.
 * Source  NIST Handbook of Mathematical Functions, 13.2 and 15.2, 15.8, 15.10, with twice the digits where terms
 *         cancel; 4 ULP up to parameters of 30 and -50 < x < 0.98, also of derivatives. */
LAM_API lam_tensor *lam_hyp1f1(lam_tensor *a, lam_tensor *b, lam_tensor *x);

/* Gauss's function, described above. Fails as lam_hyp1f1 does. */
LAM_API lam_tensor *lam_hyp2f1(lam_tensor *a, lam_tensor *b, lam_tensor *c, lam_tensor *x);

/* Gamma(x); inf with the sign of x at 0, NaN at the negative integers. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: gamma(x) digamma(x).
 * Source  tgammal; 1 ULP. */
LAM_API lam_tensor *lam_gamma(lam_tensor *x);

/* The sign of Gamma(x): 1 or -1, at 0 that of the zero, NaN at the negative integers. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: 0. */
LAM_API lam_tensor *lam_gammasgn(lam_tensor *x);

/* Gamma(n + 1), which is n! for whole n; 0 for n < 0. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: that of gamma at n + 1. */
LAM_API lam_tensor *lam_factorial(lam_tensor *n);

/* Pochhammer's symbol Gamma(x + y) / Gamma(x), which for whole y is x (x + 1) ... (x + y - 1). Integers are taken as
 * f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope.
 * Derivative  the result times digamma(x + y) - digamma(x), and times digamma(x + y); NaN at poles but x = 0.
 * Source  products, tgammal, the difference of Stirling's formulas; 1 ULP for x and x + y > 0. */
LAM_API lam_tensor *lam_poch(lam_tensor *x, lam_tensor *y);

/* The beta function Gamma(a) Gamma(b) / Gamma(a + b). Integers are taken as f64.
 * Shape   a and b broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: minus the result times digamma(a + b) - digamma(a), and b.
 * Source  as poch; 1 ULP for a, b > 0. */
LAM_API lam_tensor *lam_beta(lam_tensor *a, lam_tensor *b);

/* Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1)), which for whole operands counts the ways to choose k of n; 0 unless
 * 0 <= k <= n. Integers are taken as f64.
 * Shape   n and k broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: the result times differences of digamma.
 * Source  as beta; 1 ULP. */
LAM_API lam_tensor *lam_comb(lam_tensor *n, lam_tensor *k);

/* ---- exponential, sine and other integrals ----------------------------------------------------------------------- */

/* The integral of exp(-x t) / t^n over t > 1; NaN for x < 0, 1/(n - 1) at 0, or inf. Integers are taken as f64.
 * Fails   LAM_ERR_VALUE unless 0 <= n <= 1000. Owner: current scope. Derivative: -expn(x, n - 1), of any order.
 * Source  A&S 5.1.12, 5.1.22; 1 ULP. */
LAM_API lam_tensor *lam_expn(lam_tensor *x, int n);

/* lam_expn(x, 1). Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -exp(-x)/x. */
LAM_API lam_tensor *lam_exp1(lam_tensor *x);

/* The principal value of the integral of exp(t)/t from -inf to x; -inf at 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: exp(x)/x.
 * Source  A&S 5.1.10, 5.1.51; 1 ULP, next to its zero at 0.37 too. */
LAM_API lam_tensor *lam_expi(lam_tensor *x);

/* (exp(x) - 1)/x, 1 at 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: the integral of t exp(x t) over [0, 1], and so
 *         on, of any order.
 * Source  power series; 1 ULP. */
LAM_API lam_tensor *lam_exprel(lam_tensor *x);

/* The sine integral, of sin(t)/t from 0 to x. (The first result of sici elsewhere.) Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: sin(x)/x, of any order.
 * Source  A&S 5.2.14, 5.1.22; 1 ULP. */
LAM_API lam_tensor *lam_si(lam_tensor *x);

/* The cosine integral, of cos(t)/t from inf to |x|; -inf at 0. (The second result of sici elsewhere.) Integers are
 * taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: cos(x)/x.
 * Source  A&S 5.2.16, 5.1.22; 1 ULP of the larger of the result and 1/max(1, |x|). */
LAM_API lam_tensor *lam_ci(lam_tensor *x);

/* Fresnel's integrals of sin(pi/2 t^2), and of cos(pi/2 t^2), from 0 to x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: sin(pi/2 x^2), cos(pi/2 x^2).
 * Source  A&S 7.3.11, 7.3.13, 7.1.14; 1 ULP. */
LAM_API lam_tensor *lam_fresnel_s(lam_tensor *x);
LAM_API lam_tensor *lam_fresnel_c(lam_tensor *x); /* Fails as lam_fresnel_s does. */

/* Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 - 2 x dawsn(x), without the cancellation,
 *         and likewise to any order.
 * Source  polynomials in pieces, power and asymptotic series, Matta and Reichel 1971; 1 ULP. */
LAM_API lam_tensor *lam_dawsn(lam_tensor *x);

/* Spence's function: the integral of log(t)/(1 - t) from 1 to x, which is the dilogarithm of 1 - x; NaN for x < 0.
 * Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: log(x)/(1 - x), of any order.
 * Source  A&S 27.7.2 to 27.7.5; 1 ULP. */
LAM_API lam_tensor *lam_spence(lam_tensor *x);

/* Lambert's W, the branch through 0: the w >= -1 with w exp(w) = x; NaN left of -1/e, -1 at the float next to it.
 * Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: exp(-w)/(1 + w).
 * Source  Halley's method, next to -1/e Newton's on 1 + w; 1 ULP. */
LAM_API lam_tensor *lam_lambertw(lam_tensor *x);

/* (x^y - 1)/y, log(x) for y = 0; at x = 0 -1/y, or -inf for y <= 0.
 * Shape   x and y broadcast. Integers are taken as f64.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 * Derivative  x^(y-1), at x = 0 and inf too; by y, 32 times at most, also at y = 0; 0 where the result is infinite. */
LAM_API lam_tensor *lam_boxcox(lam_tensor *x, lam_tensor *y);

/* boxcox(1 + x, y), accurate where x is small.
 * Shape   x and y broadcast. Integers are taken as f64.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: as boxcox. */
LAM_API lam_tensor *lam_boxcox1p(lam_tensor *x, lam_tensor *y);

/* ---- Bessel functions -------------------------------------------------------------------------------------------- */

/* Modified Bessel function of the first kind, of order n.
 * Fails   LAM_ERR_VALUE unless 0 <= n <= 100. Owner: current scope. Derivative: (I_(n-1)(x) + I_(n+1)(x))/2.
 * Source  A&S 9.6.10, 9.7.1; 1 ULP. */
LAM_API lam_tensor *lam_bessel_i(lam_tensor *x, int n);

/* Modified Bessel function of the first kind, order 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: i1(x).
 * Source  A&S 9.6.10, 9.7.1; 1 ULP. */
LAM_API lam_tensor *lam_i0(lam_tensor *x);

/* exp(-|x|) i0(x), which does not overflow. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: i1e(x) - sign(x) i0e(x), without the
 *         cancellation, and likewise to any order.
 * Source  as i0. */
LAM_API lam_tensor *lam_i0e(lam_tensor *x);

/* Modified Bessel function of the first kind, order 1. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: (i0(x) + I_2(x))/2.
 * Source  as i0. */
LAM_API lam_tensor *lam_i1(lam_tensor *x);

/* exp(-|x|) i1(x), which does not overflow. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: i0e(x) - i1e(x)/x - sign(x) i1e(x), likewise.
 * Source  as i0. */
LAM_API lam_tensor *lam_i1e(lam_tensor *x);

/* Bessel function of the first kind, of order n. Integers are taken as f64.
 * Fails   LAM_ERR_VALUE unless 0 <= n <= 1000. Owner: current scope. Derivative: (J_(n-1)(x) - J_(n+1)(x))/2.
 * Source  A&S 9.1.10, 9.1.46, 9.2.5; 1 ULP of the larger of the result and sqrt(2/(pi max(1, |x|))). */
LAM_API lam_tensor *lam_bessel_j(lam_tensor *x, int n);

/* ---- logarithms of sums and products ----------------------------------------------------------------------------- */

/* log(1 + exp(x)), without overflow. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: logistic(x).
 * Source  exponential and logarithm in two doubles; 1 ULP. */
LAM_API lam_tensor *lam_softplus(lam_tensor *x);

/* log(logistic(x)) = -softplus(-x). (log_sigmoid elsewhere.) Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: logistic(-x).
 * Source  as softplus. */
LAM_API lam_tensor *lam_log_logistic(lam_tensor *x);

/* log(x / (1 - x)), the inverse of logistic. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (x (1 - x)).
 * Source  the quotient and its logarithm in two doubles; 1 ULP. */
LAM_API lam_tensor *lam_logit(lam_tensor *x);

/* log2(2^x + 2^y) without overflow. Integers are taken as f64.
 * Shape   x and y broadcast. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 2^(x - result), 2^(y - result).
 * Source  sums of two doubles, as is logaddexp; 1 ULP of the larger of the result and 2^-7 times either operand. */
LAM_API lam_tensor *lam_logaddexp2(lam_tensor *x, lam_tensor *y);

/* x log(1 + y), 0 where x is 0.
 * Shape   x and y broadcast. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: log(1 + y), x / (1 + y). */
LAM_API lam_tensor *lam_xlog1py(lam_tensor *x, lam_tensor *y);

/* -x log(x), 0 at 0 and -inf below.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -log(x) - 1, 0 at 0 (where it has none). */
LAM_API lam_tensor *lam_entr(lam_tensor *x);

/* -log(x) - 1, the derivative of entr, within 1 ULP even next to 1/e, where it has a zero: 0 at 0 and below. Integers
 * are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -1/x, 0 where the result is chosen 0. */
LAM_API lam_tensor *lam_entr_slope(lam_tensor *x);

/* x log(x/y) - x + y, the terms of a divergence: 0 for x = 0 and y = 0, y for x = 0 < y, inf for x < 0 or y < 0.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: log(x/y), 1 - x/y. */
LAM_API lam_tensor *lam_kl_div(lam_tensor *x, lam_tensor *y);

/* x log(x/y), the terms of relative entropy: 0 for x = 0 and y >= 0, inf for x < 0 or y < 0.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: log(x/y) + 1, -x/y. */
LAM_API lam_tensor *lam_rel_entr(lam_tensor *x, lam_tensor *y);

/* log(x/y) + 1, the derivative of rel_entr by x, within 1 ULP even where it is small: 0 where x or y is 0 or negative.
 * Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1/x, -1/y, 0 where the result is chosen 0. */
LAM_API lam_tensor *lam_rel_entr_slope(lam_tensor *x, lam_tensor *y);

/* ---- representation ---------------------------------------------------------------------------------------------- */

/* The float next to x in the direction of y; y itself where they are equal.
 * Shape   x and y broadcast; integers are taken as f64. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1, 0. */
LAM_API lam_tensor *lam_nextafter(lam_tensor *x, lam_tensor *y);

/* x moved left by y bits; bits beyond the width are lost. A y that is negative or at least the width gives 0.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_shift_left(lam_tensor *x, lam_tensor *y);

/* x moved right by y bits, zeros coming in. A y that is negative or at least the width gives 0.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_shift_right_logical(lam_tensor *x, lam_tensor *y);

/* x moved right by y bits, its sign coming in. A y that is negative or at least the width leaves only the sign.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_shift_right_arithmetic(lam_tensor *x, lam_tensor *y);

/* ---- derivatives of elementary functions ------------------------------------------------------------------------- */

/* 1 / cosh(x)^2, the derivative of tanh, with all its digits even where tanh is nearly constant. Integers are taken as
 * f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -2 tanh(x) times the result. */
LAM_API lam_tensor *lam_tanh_slope(lam_tensor *x);

/* sqrt(2 pi) exp(y^2/2) for y = lam_ndtri(x), its derivative; inf at 0 and 1, NaN beyond. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: y times the square of the result.
 * Source  erfcx; 1 ULP. */
LAM_API lam_tensor *lam_ndtri_slope(lam_tensor *x);

/* s (1 - s), the derivative of s = lam_logistic(x), with all its digits even where s is nearly 1. Integers are taken as
 * f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -tanh(x/2) times the result. */
LAM_API lam_tensor *lam_logistic_slope(lam_tensor *x);

/* s + x s (1 - s) with s = lam_logistic(x), the derivative of silu, within 1 ULP even next to -1.28, where it has a
 * zero and the terms cancel. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: s (1 - s) (2 - x tanh(x/2)). */
LAM_API lam_tensor *lam_silu_slope(lam_tensor *x);

/* w + x (1 - w^2) s with w = tanh(lam_softplus(x)) and s = lam_logistic(x), the derivative of mish, within 1 ULP even
 * next to -1.19, where it has a zero. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: (1 - w^2) (2 s + x s (1 - s - 2 w s)), within 1
 *         ULP too, as are those of higher order, up to the 14th. */
LAM_API lam_tensor *lam_mish_slope(lam_tensor *x);

/* lam_ndtr(x) + x d with d = exp(-x^2/2) / sqrt(2 pi), the derivative of gelu, within 1 ULP even next to -0.75, where
 * it has a zero. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: (2 - x^2) d. */
LAM_API lam_tensor *lam_gelu_slope(lam_tensor *x);

/* s + x c' s (1 - s) with s = lam_logistic(c), c = 2 sqrt(2/pi) (x + 0.044715 x^3) and c' its derivative: that of
 * gelu_tanh, within 1 ULP even next to -0.75, where it has a zero. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: s (1 - s) (2 c' + x c'' - x c'^2 tanh(c/2)). */
LAM_API lam_tensor *lam_gelu_tanh_slope(lam_tensor *x);

/* The share of exp(x) in exp(x) + exp(y), the derivative of logaddexp by x: 1/2 also between equal infinities. Integers
 * are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: by x the product of the shares of both, by y minus that. */
LAM_API lam_tensor *lam_logaddexp_slope(lam_tensor *x, lam_tensor *y);

/* The same of 2^x and 2^y, for logaddexp2.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: by x log(2) times the shares of both, by y minus that. */
LAM_API lam_tensor *lam_logaddexp2_slope(lam_tensor *x, lam_tensor *y);

/* x times factor y^n, in one pass: the form of the slopes of roots, quotients and powers. Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: factor y^n, and x factor n y^(n-1). */
LAM_API lam_tensor *lam_times_power(lam_tensor *x, lam_tensor *y, int n, double factor);

/* x y / z, where neither the product nor a quotient of two leaves the range on the way. Integers are taken as f64.
 * Shape   all three broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: y / z, x / z, and minus the result over z. */
LAM_API lam_tensor *lam_mul_div(lam_tensor *x, lam_tensor *y, lam_tensor *z);

/* x^y differentiated n times by x and m times by y, finite even where a factor of it leaves the range. At x = 0 it
 * follows the table in ops.h for pow. Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_VALUE unless n is in 0 to 1000 and m in 0 to 32. Owner: current scope.
 * Derivative  the same with n + 1 or m + 1; LAM_ERR_RULE for more than 32 by y. */
LAM_API lam_tensor *lam_pow_slope(lam_tensor *x, lam_tensor *y, int n, int m);

/* x / hypot(x, y), the derivative of hypot by x, 0 at the origin; neither over- nor underflows on the way. Integers are
 * taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: y^2 / hypot^3, -x y / hypot^3; 0 at the origin. */
LAM_API lam_tensor *lam_hypot_slope(lam_tensor *x, lam_tensor *y);

/* x / (x^2 + y^2), the derivative of atan2, NaN at the origin; neither over- nor underflows on the way. Integers are
 * taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: (y^2 - x^2) / (x^2 + y^2)^2, -2 x y / (x^2 + y^2)^2. */
LAM_API lam_tensor *lam_atan2_slope(lam_tensor *x, lam_tensor *y);

/* The nth polygamma function of a + b less that of a, psi(a + b) - psi(a) for n = 0, with all its digits even where b
 * is small beside a. Integers are taken as f64.
 * Shape   a and b broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_VALUE unless n is in 0 to 1000. Owner: current scope.
 * Derivative  by a the same for n + 1, by b the polygamma function n + 1 of a + b. */
LAM_API lam_tensor *lam_polygamma_gap(lam_tensor *a, lam_tensor *b, int n);

/* log(x/y) of positive numbers, with all its digits even where they are nearly equal or their quotient is out of range.
 * Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1/x, -1/y. */
LAM_API lam_tensor *lam_log_ratio(lam_tensor *x, lam_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
