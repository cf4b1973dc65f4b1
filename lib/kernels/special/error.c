/* The normal distribution and relatives of the error function, from libm's erfcl and the asymptotic series of erfcx.
 * Tails are never made of differences from 1. The inverses are Newton's method on functions that are nearly straight:
 * erf in the middle, the logarithm of erfc (concave, so that it cannot overshoot) in the tail. */
#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

#define SQRT_2           1.41421356237309504880168872420969808L
#define SQRT_PI          1.77245385090551602729816748334114518L
#define TWO_OVER_SQRT_PI 1.12837916709551257389615890312154517L

/* For x >= 8, where the series has 26 terms that fall, the last below 2^-64 of the first. A&S 7.1.23. */
static wide erfcx_far(wide x) {
    wide sum = 1, term = 1, half = -0.5L / (x * x);
    for (int k = 1; k <= 26; k++) {
        term *= half * (2 * k - 1);
        sum += term;
    }
    return sum / (x * SQRT_PI);
}

/* exp(x^2) has no overflow in long double up to 8, nor down to -27, where the callers stop. */
static wide erfcx(wide x) {
    return x > 8 ? erfcx_far(x) : expl(x * x) * erfcl(x);
}

/* Upwards by A&S 7.2.5: no loss for x <= 0, up to the 11 bits more than are wanted for x = 1. */
static wide integrals_up(wide x, int64_t n) {
    wide before = 2 / SQRT_PI, value = erfcx(x);
    for (int64_t k = 1; k <= n; k++) {
        wide next = (before - 2 * x * value) / (wide)(2 * k);
        before = value;
        value = next;
    }
    return value;
}

/* Downwards by the same for x > 1 (Gautschi 1961), from where the error of the start is lost on the way: the ratio of
 * each to the one before, whose product with the first gives the value. */
static wide integrals_down(wide x, int64_t n) {
    int64_t start = n + 20 + (int64_t)(300 / (x * x));
    wide ratio = 1 / (x + sqrtl(x * x + 2 * (wide)start)), product = 1;
    for (int64_t k = start; k > 0; k--) {
        ratio = 0.5L / (x + (wide)(k + 1) * ratio);
        if (k <= n) product *= ratio;
    }
    return product * erfcx(x);
}

double lam__special_erfcx(double x, int64_t n) {
    if (!(x >= -27)) return x < -27 ? INFINITY : x;
    return (double)(n == 0 ? erfcx(x) : x <= 1 ? integrals_up(x, n) : integrals_down(x, n));
}

/* The tail of the side that x lies on, so that a small probability has all its digits. */
double lam__special_ndtr(double x) {
    return (double)(0.5L * erfcl(-(wide)x / SQRT_2));
}

/* Three pieces: far left the logarithm of the scaled tail, whose exponent is added apart; right of 0 the result is near
 * 0 and is -log1p of what is missing. */
double lam__special_log_ndtr(double x) {
    wide z = (wide)x / SQRT_2;
    if (x < -1) return (double)(logl(0.5L * erfcx(-z)) - z * z);
    return (double)(x < 0 ? logl(0.5L * erfcl(-z)) : log1pl(-0.5L * erfcl(z)));
}

/* y with erfc(y) = q, for 0 < q <= 1/2. */
static wide tail_inverse(wide q) {
    wide target = logl(q), y = sqrtl(-target);
    for (int i = 0; i < 8; i++) {
        wide e = erfcx(y);
        y += (logl(e) - y * y - target) * e / TWO_OVER_SQRT_PI;
    }
    return y;
}

/* y with erf(y) = x, for |x| <= 1/2. */
static wide middle_inverse(wide x) {
    wide y = x / TWO_OVER_SQRT_PI;
    for (int i = 0; i < 5; i++) y -= (erfl(y) - x) * expl(y * y) / TWO_OVER_SQRT_PI;
    return y;
}

/* 1 - size is exact for size >= 1/2, so the tail loses nothing by it. NaN fails the comparison and is what comes
 * back. */
double lam__special_erf_inv(double x) {
    wide size = fabsl((wide)x);
    if (!(size < 1)) return size == 1 ? copysign(INFINITY, x) : NAN;
    return (double)(size <= 0.5L ? middle_inverse(x) : copysignl(tail_inverse(1 - size), x));
}

double lam__special_ndtri(double p) {
    if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p < 0.25) return (double)(-SQRT_2 * tail_inverse(2 * (wide)p));
    return (double)(SQRT_2 * (p > 0.75 ? tail_inverse(2 - 2 * (wide)p) : middle_inverse(2 * (wide)p - 1)));
}

/* With y of erfc(y) = q for twice the smaller tail, sqrt(2 pi) exp(y^2) as sqrt(2 pi) erfcx(y)/q. */
double lam__special_ndtri_slope(double p) {
    if (!(p > 0 && p < 1)) return p == 0 || p == 1 ? INFINITY : NAN;
    const wide q = 2 * (p < 0.5 ? (wide)p : 1 - (wide)p), y = q < 0.5L ? tail_inverse(q) : middle_inverse(1 - q);
    return (double)(SQRT_2 * SQRT_PI * erfcx(y) / q);
}
