/* Quotients of gamma functions: Pochhammer's symbol and the beta function. In long double, whose range is that of
 * quotients whose parts would be infinite in double; beyond that by the difference of two logarithms without the terms
 * that cancel. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

/* tgammal is a number up to here, and not 0 down to minus it; doubles alone are so up to 170. */
#define MOST (sizeof(wide) > sizeof(double) ? 1700.0L : 170.0L)

/* Factors of a product that is written out, where it may begin at a pole. */
enum { FACTORS = 64 };

static bool is_pole(wide x) {
    return x <= 0 && rintl(x) == x;
}

/* What Stirling's formula leaves of log Gamma(x): A&S 6.1.41, for x >= 20. */
static wide remainder_of(wide x) {
    static const wide c[] = {
        1.0L / 12,        -1.0L / 360, 1.0L / 1260,       -1.0L / 1680,      1.0L / 1188,
        -691.0L / 360360, 1.0L / 156,  -3617.0L / 122400, 43867.0L / 244188, -174611.0L / 125400,
    };
    const wide square = 1 / (x * x);
    wide sum = 0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) sum = sum * square + c[i];
    return sum / x;
}

/* Gamma(x + y) / Gamma(x) for x and x + y of 20 and more: (x - 1/2) log(1 + y/x) - y + y log(x + y) and the difference
 * of the remainders. What is left beside a power out of range does not bring it back. */
static wide far(wide x, wide y) {
    const wide end = x + y, share = (x - 0.5L) * log1pl(y / x) - y, power = powl(end, y);
    if (isinf(power) || power == 0) return power;
    return expl(share + (remainder_of(end) - remainder_of(x))) * power;
}

/* The product of x, x + 1, ..., or one over x - 1, x - 2, ..., of |n| factors. */
static wide product(wide x, int n) {
    wide value = 1;
    for (int i = 0; i < n; i++) value *= x + i;
    for (int i = 1; i <= -n; i++) value *= x - i;
    return n < 0 ? 1 / value : value;
}

/* Gamma(x + y) / Gamma(x). A pole below makes 0, unless there is one above too: then the limit along x, which is the
 * product. */
static wide pochhammer(wide x, wide y) {
    if (isnan(x) || isnan(y)) return NAN;
    if (rintl(y) == y && fabsl(y) <= FACTORS) return product(x, (int)y);
    const wide end = x + y;
    if (is_pole(x)) return is_pole(end) ? (wide)NAN : 0;
    if (x >= 100 && end >= 100) return far(x, y); /* where the sum x + y is not exact, as a quotient it would show */
    if (fabsl(x) <= MOST && fabsl(end) <= MOST) return tgammal(end) / tgammal(x);
    /* One of them is far out: the other is small beside it, and so is what its logarithm loses. */
    if (x > 0 && end > 0) return x < 20 ? far(20, end - 20) * (tgammal(20) / tgammal(x)) : 1 / far(end, -y);
    return NAN;
}

/* Gamma(x) Gamma(y) / Gamma(x + y), of two factors that leave no range: the smaller operand's own gamma function and
 * the quotient that is left. */
static wide beta(wide x, wide y) {
    if (isnan(x) || isnan(y)) return NAN;
    const wide small = x < y ? x : y, large = x < y ? y : x, end = x + y;
    if (large < 100 && fabsl(small) <= MOST && fabsl(end) <= MOST)
        return is_pole(end) && !is_pole(small) && !is_pole(large) ? 0 : tgammal(small) / tgammal(end) * tgammal(large);
    if (small > MOST || (small > 0 && isinf(large))) return 0;
    return end >= 20 && !isinf(large) ? tgammal(small) / far(large, small) : (wide)NAN;
}

/* One over (x + 1) B(x - y + 1, y + 1), which is whole for whole operands as far as the digits go. */
static wide binomial(wide x, wide y) {
    if (isnan(x) || isnan(y)) return NAN;
    return y >= 0 && y <= x ? 1 / ((x + 1) * beta(x - y + 1, y + 1)) : 0;
}

double lam__special_gamma_quotient(double x, double y, int64_t code) {
    return (double)(code == LAM__QUOTIENT_POCH   ? pochhammer(x, y)
                    : code == LAM__QUOTIENT_BETA ? beta(x, y)
                                                 : binomial(x, y));
}
