/* The modified Bessel functions I_n of whole order: the power series, whose terms are all of one sign, and far out the
 * asymptotic one (Abramowitz and Stegun 9.6.10, 9.7.1). Derivatives of those times exp(-|x|), which sums of
 * neighbouring functions would cancel, are derivatives of that series, and integrals. */
#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

#define TWO_PI 6.28318530717958647692528676655900577L

/* I_n(x) for x >= 0. Every term is at least 0, so nothing cancels; the sum ends where a term no longer counts in 64
 * digits, and at once where the first one is 0. */
static wide near(int64_t n, wide x) {
    wide quarter = x * x / 4, term = 1, sum = 0;
    for (int64_t k = 1; k <= n; k++) term *= x / (wide)(2 * k);
    for (int64_t k = 1; term > sum * 0x1p-66L; k++) {
        sum += term;
        term *= quarter / (wide)(k * (n + k));
    }
    return sum;
}

/* The derivative of that order of I_n(x) exp(-x), for x >= 30 + 10 order and x >= n^2. */
static wide far(int64_t n, wide x, int64_t order) {
    wide square = (wide)(4 * n * n), term = 1 / sqrtl(TWO_PI * x);
    for (int64_t k = 0; k < order; k++) term *= -((wide)k + 0.5L) / x;
    wide sum = term, first = fabsl(term);
    for (int64_t k = 1; k <= 40 && fabsl(term) > first * 0x1p-66L; k++) {
        wide odd = (wide)(2 * k - 1);
        term *= (odd * odd - square) / ((wide)(8 * k) * x) * (odd + (wide)(2 * order)) / odd;
        sum += term;
    }
    return sum;
}

/* The same for x > 0 below that, n = 0 or 1 and order > 0: with w = 1 - cos(t) the function is the mean of exp(-x w),
 * for n = 1 times 1 - w, over a circle, of which equally spaced points give all digits (A&S 9.6.16). For n = 0 all
 * terms are of one sign, for n = 1 they are but of two neighbouring orders. */
static wide middle(int64_t n, wide x, int64_t order) {
    const int64_t count = 48 + 2 * order + (int64_t)(12 * sqrtl(x));
    wide sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const wide root = sinl(TWO_PI / 4 * ((wide)i + 0.5L) / (wide)count), w = 2 * root * root;
        wide term = expl(-x * w);
        for (int64_t k = 0; k < order; k++) term *= -w;
        sum += n ? term * (1 - w) : term;
    }
    return sum / (wide)count;
}

/* The derivative of that order of I_n(x) at 0, n = 0 or 1, is C(k, (k - n)/2)/2^k. */
static wide at_zero(int64_t n, int64_t order) {
    if ((order - n) % 2) return 0;
    wide value = 1;
    for (int64_t m = 1; m <= (order - n) / 2; m++) value *= (wide)(order + 1 - m) / (wide)m;
    return ldexpl(value, -(int)order);
}

/* Which side of 0 matters to the parity only: I_n(-x) = (-1)^n I_n(x), and each derivative brings one more sign. */
static double scaled(double x, int64_t n, int64_t order) {
    const wide size = fabsl((wide)x), sign = x < 0 && (n + order) & 1 ? -1 : 1;
    if (isinf(x)) return 0;
    if (order > 0 && x == 0) return (double)at_zero(n, order);
    if (size >= (wide)(30 + 10 * order)) return (double)(sign * far(n, size, order));
    return (double)(sign * (order ? middle(n, size, order) : near(n, size) * expl(-size)));
}

double lam__special_bessel_i(double x, int64_t code) {
    int64_t n = code >> 1;
    wide size = fabsl((wide)x), sign = x < 0 && n & 1 ? -1 : 1;
    if (isnan(x)) return x;
    if (code & 1) return scaled(x, n & 127, code >> 8);
    if (isinf(x)) return (double)(sign * INFINITY);
    if (size < 30 || size < (wide)(n * n)) return (double)(sign * near(n, size));
    return (double)(sign * far(n, size, 0) * expl(size));
}
