/* The modified Bessel functions I_n of whole order: the power series, whose terms are all of one sign, and far out the
 * asymptotic one (Abramowitz and Stegun 9.6.10, 9.7.1). Derivatives of those times exp(-|x|), which sums of
 * neighbouring functions would cancel, are derivatives of that series, and integrals. The functions J_n, whose power
 * series cancels, go by their recursion downwards where neither series serves. */
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

/* ---- J_n --------------------------------------------------------------------------------------------------------- */

/* The power series, for x^2 <= 4 (n + 1), where the terms fall and cancel but little: A&S 9.1.10. */
static wide series(int64_t n, wide x) {
    const wide quarter = -x * x / 4;
    wide term = 1, sum = 0;
    for (int64_t k = 1; k <= n; k++) term *= x / (wide)(2 * k);
    for (int64_t k = 1; fabsl(term) > fabsl(sum) * 0x1p-68L; k++) {
        sum += term;
        term *= quarter / (wide)(k * (n + k));
    }
    return sum;
}

/* Hankel's expansion, A&S 9.2.5, for x > 25 + n^2 / 2. The angle x - n pi/2 - pi/4 is not rounded: the quarter turns
 * choose the functions, and the eighth is a sum of both over sqrt(2). */
static wide expansion(int64_t n, wide x) {
    const wide square = (wide)(4 * n * n), root = 0.564189583547756286948079451560772586L; /* 1/sqrt(pi) */
    wide term = 1, p = 0, q = 0;
    for (int k = 0; k < 60 && fabsl(term) > 0x1p-68L; k++) {
        const wide odd = (wide)(2 * k + 1);
        if (k & 1) q += k & 2 ? -term : term;
        else p += k & 2 ? -term : term;
        term *= (square - odd * odd) / ((wide)(8 * (k + 1)) * x);
    }
    const wide s = sinl(x), c = cosl(x), even = s + c, other = s - c; /* sqrt(2) cos and sin of x - pi/4 */
    const wide cosine = n & 1 ? other : even, sine = n & 1 ? -even : other, value = p * cosine - q * sine;
    return (n & 2 ? -value : value) * root / sqrtl(x);
}

/* Downwards by J_(k-1) = 2k/x J_k - J_(k+1) from where the error of the start is lost on the way (Miller), scaled by
 * J_0 + 2 J_2 + 2 J_4 + ... = 1, A&S 9.1.46. What grows too large on the way is brought back, all of it. */
static wide downwards(int64_t n, wide x) {
    const int64_t most = n > (int64_t)x ? n : (int64_t)x, start = most + 40 + (int64_t)(8 * sqrtl((wide)most));
    const wide twice = 2 / x;
    wide above = 0, value = 1, sum = 0, found = 0;
    for (int64_t k = start & ~INT64_C(1); k > 0; k--) {
        if (k == n) found = value;
        if (!(k & 1)) sum += 2 * value;
        const wide below = (wide)k * twice * value - above;
        above = value;
        value = below;
        if (fabsl(value) > 0x1p+500L) {
            value *= 0x1p-500L;
            above *= 0x1p-500L;
            sum *= 0x1p-500L;
            found *= 0x1p-500L;
        }
    }
    return (n == 0 ? value : found) / (sum + value);
}

wide lam__special_bessel_j(wide x, int64_t n) {
    const wide size = fabsl(x), sign = x < 0 && n & 1 ? -1 : 1;
    if (isinf(x)) return 0;
    if (size * size <= (wide)(4 * (n + 1))) return sign * series(n, size);
    return sign * (size > 25 + (wide)(n * n) / 2 ? expansion(n, size) : downwards(n, size));
}
