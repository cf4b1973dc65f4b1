/* The modified Bessel functions I_n of whole order: the power series, whose terms are all of one sign, and far out the
 * asymptotic one (Abramowitz and Stegun 9.6.10, 9.7.1). */
#include "lib/kernels/special/special.h"

#include <math.h>

typedef lam__wide wide;

#define TWO_PI 6.28318530717958647692528676655900577L

/* I_n(x) for x >= 0. */
static wide near(int64_t n, wide x) {
    wide quarter = x * x / 4, term = 1, sum = 0;
    for (int64_t k = 1; k <= n; k++) term *= x / (wide)(2 * k);
    for (int64_t k = 1; term > sum * 0x1p-66L; k++) {
        sum += term;
        term *= quarter / (wide)(k * (n + k));
    }
    return sum;
}

/* I_n(x) exp(-x) for x >= 30 and x >= n^2. */
static wide far(int64_t n, wide x) {
    wide square = (wide)(4 * n * n), term = 1, sum = 1;
    for (int k = 1; k <= 40 && fabsl(term) > 0x1p-66L; k++) {
        wide odd = (wide)(2 * k - 1);
        term *= (odd * odd - square) / ((wide)(8 * k) * x);
        sum += term;
    }
    return sum / sqrtl(TWO_PI * x);
}

double lam__special_bessel_i(double x, int64_t code) {
    int64_t n = code >> 1;
    wide size = fabsl((wide)x), sign = x < 0 && n & 1 ? -1 : 1;
    if (isnan(x)) return x;
    if (isinf(x)) return (double)(code & 1 ? 0 : sign * INFINITY);
    if (size < 30 || size < (wide)(n * n)) return (double)(sign * near(n, size) * (code & 1 ? expl(-size) : 1));
    return (double)(sign * far(n, size) * (code & 1 ? 1 : expl(size)));
}
