/* digamma left of 0 next to its zeros, where the terms of the reflection formula cancel: in sums of two long doubles
 * (after Dekker 1971), as exact as a double's distance from a zero asks for. It is met rarely, so nothing here is in a
 * hurry. */
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

/* For x > 0: psi(x + m) less 1/x + ... + 1/(x + m - 1), where x + m is at least 64 (A&S 6.3.18). */
static pair right(pair x) {
    static const wide bernoulli[][2] = {{1, 6},       {-1, 30},       {1, 42},       {-1, 30},
                                        {5, 66},      {-691, 2730},   {7, 6},        {-3617, 510},
                                        {43867, 798}, {-174611, 330}, {854513, 138}, {-236364091, 2730}};
    pair sum = whole(0), tail = whole(0);
    for (; x.hi < 64; x = plus(x, whole(1))) sum = plus(sum, over(whole(1), x));
    const pair square = over(whole(1), times(x, x));
    for (int k = (int)(sizeof bernoulli / sizeof *bernoulli); k > 0; k--) {
        const wide *b = bernoulli[k - 1];
        tail = times(plus(tail, over(whole(b[0]), whole(b[1] * (wide)(2 * k)))), square);
    }
    return minus(minus(minus(log_of(x), over(whole(0.5L), x)), tail), sum);
}

/* psi(x) = psi(1 - x) - pi cot(pi x), of which the cotangent has the period 1: psi(1 - a) - psi(a) for the distance a
 * from the nearest pole. */
double lam__special_digamma_left(double x) {
    const wide a = (wide)x - rintl(x);
    const pair other = right(plus(whole(1), whole(-(wide)x))), above = right(plus(whole(1), whole(a))),
               below = right(plus(whole(1), whole(-a)));
    const pair r = minus(plus(other, minus(above, below)), over(whole(1), whole(a)));
    return (double)(r.hi + r.lo);
}
