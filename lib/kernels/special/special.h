/* Special functions one number at a time, for what has no vector form and as the fallback of what has. They work in
 * long double, which on x86-64 carries 11 bits more than their results: within 1 ULP of f64 where the room says so,
 * and so exact to the last bit but rarely in f32. NaN gives NaN, poles and domains are those of the public
 * operations. Nothing is allocated, nothing is global, nothing raises or fails. */
#ifndef LAM_KERNELS_SPECIAL_H
#define LAM_KERNELS_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

typedef long double lam__wide;

/* The highest total order of derivatives by the parameters of a function of several variables. */
enum { LAM__SPECIAL_ORDERS = 8 };

/* ---- gamma.c ---- */
double lam__special_lgamma(double x);
lam__wide lam__special_wide_lgamma(lam__wide x); /* the same before rounding */
double lam__special_digamma(double x);
double lam__special_polygamma(double x, int64_t n); /* n >= 0 */

/* digamma.c, with all digits also next to zeros: digamma for x < 0 that is no pole, and the sum of (x + k)^-s for odd
 * s > 1. */
double lam__special_digamma_left(double x);
lam__wide lam__special_zeta_left(int64_t s, lam__wide x);

/* psi^(n)(a + b) - psi^(n)(a), without cancellation for a > 0 and b >= 0. */
double lam__special_polygamma_gap(double a, double b, int64_t n);

/* psi^(n)(x), the same before rounding. */
lam__wide lam__special_psi(int64_t n, lam__wide x);

/* Which derivative is meant: 64 n + m is n times by the operand by which there may be any number of them (q of zeta, x
 * of x^y) and m times by the other. */
#define LAM__SLOPE_CODE(n, m) ((int64_t)64 * (n) + (m))

/* The Hurwitz zeta function or a derivative of it, m <= LAM__SPECIAL_ORDERS. */
double lam__special_zeta(double s, double q, int64_t code);

/* ---- power.c ---- */

/* A derivative of x^y, m <= LAM__POWER_ORDERS. */
enum { LAM__POWER_ORDERS = 32 };
double lam__special_pow_slope(double x, double y, int64_t code);

/* The box of Box and Cox, (x^y - 1)/y, of 1 + x where `plus`, or a derivative of it, m <= LAM__POWER_ORDERS. */
#define LAM__BOX_CODE(n, m, plus) (2 * LAM__SLOPE_CODE(n, m) + (plus))
double lam__special_box_cox(double x, double y, int64_t code);

/* x log y and x log(1 + y), 0 where x is and the other is no NaN; x log(x/y), 0 where x is and y is not negative,
 * infinite where an operand is negative; log(x/y); x / hypot(x, y), 0 at the origin. */
double lam__special_xlogy(double x, double y);
double lam__special_xlog1py(double x, double y);
double lam__special_rel_entr(double x, double y);
double lam__special_rel_entr_slope(double x, double y);
double lam__special_log_ratio(double x, double y);
double lam__special_hypot_slope(double x, double y);

/* A derivative of x / (x^2 + y^2), m being 0 or 1 times by y; NaN at the origin. */
double lam__special_atan2_slope(double x, double y, int64_t code);

/* ---- quotient.c ---- */

/* What is made of gamma functions, by the code: Gamma(x + y) / Gamma(x); Gamma(x) Gamma(y) / Gamma(x + y); x over y,
 * which is 0 unless 0 <= y <= x. */
enum { LAM__QUOTIENT_POCH, LAM__QUOTIENT_BETA, LAM__QUOTIENT_COMB };
double lam__special_gamma_quotient(double x, double y, int64_t code);

/* ---- integrals.c ---- */

/* Functions of one operand of which one loop serves all: which of them, and 16 times an order. For the orders see the
 * functions themselves, in integrals.c. */
enum lam__integral {
    LAM__EXPN,     /* E_n of order n, which may be negative */
    LAM__EXPI,     /* Ei, or exp(x)/x */
    LAM__SIN_INT,  /* Si, or the derivative of this order */
    LAM__COS_INT,  /* Ci */
    LAM__SIN_FRES, /* S, or sin(pi/2 x^2) */
    LAM__COS_FRES, /* C, or cos(pi/2 x^2) */
    LAM__DAWSON,   /* Dawson's integral, or the derivative of this order */
    LAM__SPENCE,   /* Spence's function, or the derivative of this order */
    LAM__LAMBERT,  /* Lambert's W, or its derivative */
    LAM__EXPREL,   /* (exp(x) - 1)/x, or the derivative of this order */
    LAM__GAMMA,    /* the gamma function */
    LAM__BESSEL_J, /* J_n of order n */
};
#define LAM__INTEGRAL_CODE(which, order) ((int64_t)16 * (order) + (which))
double lam__special_integrals(double x, int64_t code);

/* The kth derivative of exprel before rounding. */
lam__wide lam__special_exprel(lam__wide x, int64_t k);

/* ---- incomplete.c ---- */

/* Which derivative of an incomplete function is meant, as a parameter of loops: 256 d + 16 i + j is that by the first
 * and second parameter i and j times, and d (0 or 1) times by x. */
#define LAM__SPECIAL_CODE(i, j, d) ((int64_t)256 * (d) + 16 * (i) + (j))

/* P(a, x) or a derivative of it (j = 0); Q(a, x). */
double lam__special_igamma(double a, double x, int64_t code);
double lam__special_igammac(double a, double x);

/* I_x(a, b) or a derivative of it. */
double lam__special_betainc(double a, double b, double x, int64_t code);
double lam__special_betaincc(double a, double b, double x);
double lam__special_betaln(double a, double b);

/* The same inside their domains, before rounding, y = 1 - x: P and Q, I and 1 - I, x^a exp(-x) / Gamma(a), x^a y^b /
 * B(a, b), log B(a, b) for a <= b. */
lam__wide lam__special_wide_igamma(double a, double x, bool upper);
lam__wide lam__special_wide_betainc(double a, double b, lam__wide x, lam__wide y, bool rest);
lam__wide lam__special_gamma_density(double a, double x);
lam__wide lam__special_beta_density(lam__wide a, lam__wide b, lam__wide x, lam__wide y);
lam__wide lam__special_wide_betaln(lam__wide a, lam__wide b);

/* ---- small.c ---- */

/* P(a, x) for a, x < 1, or Q(a, x) where `upper`; the derivative of P of order k by a. */
lam__wide lam__special_small_gamma(double a, double x, bool upper);
lam__wide lam__special_small_gamma_slope(double a, double x, int k);

/* Whether I_z(p, q) is for small.c; I, or 1 - I where `rest`; the derivative of I of order i by p and j by q. */
bool lam__special_is_small_beta(double p, double q, lam__wide z);
lam__wide lam__special_small_beta(double p, double q, lam__wide z, bool rest);
lam__wide lam__special_small_beta_slope(double p, double q, lam__wide z, int i, int j);

/* ---- error.c ---- */

/* exp(x^2) times the n-fold integral of erfc from x to infinity (A&S 7.2.1): erfcx for n = 0. The derivative is
 * -2 (n + 1) times the next. */
double lam__special_erfcx(double x, int64_t n);
double lam__special_ndtr(double x);
double lam__special_log_ndtr(double x);
double lam__special_erf_inv(double x);
double lam__special_ndtri(double p);
double lam__special_ndtri_slope(double p);

/* ---- activation.c ---- */

/* The derivative of that order, 0 being the first, of mish, x tanh(log(1 + exp(x))); NaN above LAM__MISH_ORDERS. */
enum { LAM__MISH_ORDERS = 14 };
double lam__special_mish_slope(double x, int64_t order);

/* ---- bessel.c ---- */

/* I_n(x) for code 2 n; for code LAM__BESSEL_SCALED(n, k), of n = 0 or 1, the k-th derivative of I_n(x) exp(-|x|), at 0
 * as if |x| had the slope 0 there. */
#define LAM__BESSEL_SCALED(n, k) ((int64_t)256 * (k) + 2 * (n) + 1)
double lam__special_bessel_i(double x, int64_t code);

/* J_n(x) for 0 <= n <= 1000, before rounding. */
lam__wide lam__special_bessel_j(lam__wide x, int64_t n);

#endif
