/* digamma and polygamma of even order left of 0 next to their zeros, where the terms of the reflection formula cancel:
 * in sums of two long doubles (after Dekker 1971), as exact as a double's distance from a zero asks for. It is met
 * rarely, so nothing here is in a hurry. */
#include "lib/kernels/special/special.h"

#include <math.h>
#include <stdbool.h>

typedef lam__wide wide;

/* hi + lo, with some 2^-120 of it lost by each step (2^-220 where a wide has 113 digits). */
typedef struct pair {
    wide hi, lo;
} pair;

static pair joined(wide hi, wide lo) {
    const wide sum = hi + lo;
    return (pair){sum, lo - (sum - hi)};
}

static pair whole(wide x) {
    return (pair){x, 0};
}

/* Exact for single numbers (Knuth). */
static pair plus(pair x, pair y) {
    const wide hi = x.hi + y.hi, part = hi - x.hi;
    return joined(hi, (x.hi - (hi - part)) + (y.hi - part) + (x.lo + y.lo));
}

static pair minus(pair x, pair y) {
    return plus(x, (pair){-y.hi, -y.lo});
}

static pair times(pair x, pair y) {
    const wide hi = x.hi * y.hi;
    return joined(hi, fmal(x.hi, y.hi, -hi) + (x.hi * y.lo + x.lo * y.hi));
}

static pair over(pair x, pair y) {
    const wide q = x.hi / y.hi;
    return joined(q, (fmal(-q, y.hi, x.hi) + (x.lo - q * y.lo)) / y.hi);
}

/* log((1 + s)/(1 - s)) for |s| <= 1/3: A&S 4.1.27. */
static pair log_of_share(pair s) {
    const pair square = times(s, s);
    pair sum = whole(0);
    for (int k = 121; k > 0; k -= 2) sum = plus(times(sum, square), over(whole(2), whole(k)));
    return times(sum, s);
}

static pair log_of(pair x) {
    int e;
    const bool low = frexpl(x.hi, &e) < 0.70710678118654752L;
    e -= low;
    const pair f = {ldexpl(x.hi, -e), ldexpl(x.lo, -e)}, two = log_of_share(over(whole(1), whole(3)));
    return plus(times(whole(e), two), log_of_share(over(minus(f, whole(1)), plus(f, whole(1)))));
}

/* The Bernoulli numbers B2, B4, ... as fractions, which a wide could not hold. */
static const wide bernoulli[][2] = {{1, 6},       {-1, 30},       {1, 42},       {-1, 30},
                                    {5, 66},      {-691, 2730},   {7, 6},        {-3617, 510},
                                    {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730}};
enum { BERNOULLIS = sizeof bernoulli / sizeof *bernoulli };

static pair bernoulli_by(int j, wide divisor) {
    return over(whole(bernoulli[j - 1][0]), whole(bernoulli[j - 1][1] * divisor));
}

/* For x > 0: psi(x + m) less 1/x + ... + 1/(x + m - 1), where x + m is at least 64 (A&S 6.3.18). */
static pair psi(pair x) {
    pair sum = whole(0), tail = whole(0);
    for (; x.hi < 64; x = plus(x, whole(1))) sum = plus(sum, over(whole(1), x));
    const pair square = over(whole(1), times(x, x));
    for (int j = BERNOULLIS; j > 0; j--) tail = times(plus(tail, bernoulli_by(j, (wide)(2 * j))), square);
    return minus(minus(minus(log_of(x), over(whole(0.5L), x)), tail), sum);
}

static pair inverse_power(pair x, int64_t s) {
    pair p = x;
    for (int64_t k = 1; k < s; k++) p = times(p, x);
    return over(whole(1), p);
}

/* The sum of (x + k)^-s over k = 0, 1, ... for x > 0, s > 1, by Euler's and Maclaurin's formula from where its terms
 * fall for as many Bernoulli numbers as there are. */
static pair zeta(int64_t s, pair x) {
    pair sum = whole(0), series = whole(0.5L);
    for (; x.hi < (wide)(64 + 8 * s); x = plus(x, whole(1))) sum = plus(sum, inverse_power(x, s));
    pair term = over(whole(1), x);
    for (int j = 1; j <= BERNOULLIS; j++) {
        const wide factor = (wide)(s + 2 * j - 2);
        term = times(term, over(whole(factor), whole((wide)(2 * j))));
        series = plus(series, times(bernoulli_by(j, 1), term));
        term = over(times(term, over(whole(factor + 1), whole((wide)(2 * j + 1)))), times(x, x));
    }
    series = plus(series, over(x, whole((wide)(s - 1))));
    return plus(sum, times(series, inverse_power(x, s)));
}

/* psi(x) = psi(1 - x) - pi cot(pi x), of which the cotangent has the period 1: psi(1 - a) - psi(a) for the distance a
 * from the nearest pole. */
double lam__special_digamma_left(double x) {
    const wide a = (wide)x - rintl(x);
    const pair above = psi(plus(whole(1), whole(a))), below = psi(plus(whole(1), whole(-a)));
    const pair r = minus(plus(psi(plus(whole(1), whole(-(wide)x))), minus(above, below)), over(whole(1), whole(a)));
    return (double)(r.hi + r.lo);
}

/* Of the sum over all integers, odd in a, less the other side; half way between two poles nothing is left of the
 * first. */
wide lam__special_zeta_left(int64_t s, wide x) {
    const wide a = x - rintl(x);
    pair r = zeta(s, plus(whole(1), whole(-x)));
    if (fabsl(a) == 0.5L) return r.hi;
    r = plus(r, minus(zeta(s, plus(whole(1), whole(a))), zeta(s, plus(whole(1), whole(-a)))));
    r = plus(r, inverse_power(whole(a), s));
    return r.hi + r.lo;
}
