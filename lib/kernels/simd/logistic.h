/* 1/(1+exp(-x)) in f64 to 0.7 ULP at both ends. Dividing rounded parts would cost 1.7: so exp(-|x|) is made here as
 * an unevaluated sum of two doubles (reduction after Cody and Waite), and the quotient is corrected once by its
 * exact remainder (product after Dekker 1971, so no fused multiply-add is needed and all sets agree). */
#ifndef LAM_KERNELS_SIMD_LOGISTIC_H
#define LAM_KERNELS_SIMD_LOGISTIC_H

#include "lib/kernels/simd/vmath.h"

typedef struct sum64 {
    V64 hi, lo;
} sum64;

/* x + y exactly, for |x| >= |y|. */
ALWAYS_INLINE sum64 fast_sum(V64 x, V64 y) {
    V64 hi = x + y;
    return (sum64){hi, y - (hi - x)};
}

ALWAYS_INLINE V64 upper_half(V64 x) {
    V64 c = x * 134217729.0;
    return c - (c - x);
}

/* z - x * y up to one rounding, for z near the product. */
ALWAYS_INLINE V64 remainder_of(V64 z, V64 x, V64 y) {
    V64 xh = upper_half(x), xl = x - xh, yh = upper_half(y), yl = y - yh;
    return (((z - xh * yh) - xh * yl) - xl * yh) - xl * yl;
}

/* Adding this leaves an integer in the low bits of the double. */
static const double ROUNDER = 0x1.8p52;

/* 2^k for whole k, |k| < 1023. */
ALWAYS_INLINE V64 power_of_2(V64 k) {
    return (V64)(((M64)(k + ROUNDER) + 1023) << 52);
}

/* exp(r) - 1 - r for |r| < 0.35: the Taylor series, whose rest is below 2^-57. */
ALWAYS_INLINE V64 exp_tail(V64 r) {
    static const double inverse_factorials[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
        1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,
    };
    V64 sum = {0};
    for (int i = 0; i < 12; i++) sum = sum * r + inverse_factorials[i];
    return sum * r * r;
}

/* exp(r) / 2^k as a sum, for the multiple k of log(2) in x. log(2) is taken in two parts, of which k times the
 * first is exact. */
ALWAYS_INLINE sum64 reduced_exp(V64 x, V64 *k) {
    *k = (x * 1.4426950408889634 + ROUNDER) - ROUNDER;
    V64 first = x - *k * 0x1.62e42fefa38p-1, second = *k * 0x1.ef35793c7673p-45;
    V64 r = first - second, r_lo = (first - r) - second;
    sum64 u = fast_sum(r, exp_tail(r) + r_lo), e = fast_sum((V64){0} + 1, u.hi);
    return (sum64){e.hi, e.lo + u.lo};
}

ALWAYS_INLINE V64 f64_logistic(V64 x) {
    V64 one = (V64){0} + 1, zero = {0}, k, size = f64_magnitude(x);
    M64 negative = (M64)(x < 0);
    sum64 e = reduced_exp(-f64_select((M64)(size < 800), size, zero + 800), &k);
    V64 half = (k * 0.5 + ROUNDER) - ROUNDER, scale1 = power_of_2(half), scale2 = power_of_2(k - half);
    sum64 d = fast_sum(one, e.hi * scale1 * scale2);
    d.lo += e.lo * scale1 * scale2;
    sum64 n = {f64_select(negative, e.hi, one), f64_select(negative, e.lo, zero)};
    V64 q = n.hi / d.hi;
    q += (remainder_of(n.hi, q, d.hi) + (n.lo - q * d.lo)) / d.hi;
    V64 r = f64_select(negative, q * scale1 * scale2, q);
    return f64_select((M64)(x == x), r, x);
}

#endif
