/* 1/(1+exp(-x)) and tanh in f64 to 0.7 ULP everywhere. Dividing rounded parts would cost 1.7: so exp(-|x|) is made
 * here as an unevaluated sum of two doubles (reduction after Cody and Waite), and the quotient is corrected once by its
 * remainder, which is exact but for one rounding (product after Dekker 1971 where there is no fused multiply-add). */
#ifndef LAM_KERNELS_SIMD_LOGISTIC_H
#define LAM_KERNELS_SIMD_LOGISTIC_H

#include "lib/kernels/simd/vmath.h"

#if defined(__FMA__)
#include <immintrin.h>
#endif

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

/* x y + z: in one rounding where that is one instruction. */
ALWAYS_INLINE V64 multiply_add(V64 x, V64 y, V64 z) {
#if defined(__AVX512F__)
    return (V64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(__FMA__)
    return (V64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    return x * y + z;
#endif
}

/* z - x * y up to one rounding, for z near the product. */
ALWAYS_INLINE V64 remainder_of(V64 z, V64 x, V64 y) {
#if defined(__FMA__)
    return multiply_add(-x, y, z);
#endif
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
    for (int i = 0; i < 12; i++) sum = multiply_add(sum, r, (V64){0} + inverse_factorials[i]);
    return sum * r * r;
}

/* exp(r) - 1 as a sum, where r is x without the multiple k of log(2) in it. log(2) is taken in two parts, of which k
 * times the first is exact. */
ALWAYS_INLINE sum64 reduced_expm1(V64 x, V64 *k) {
    *k = (x * 1.4426950408889634 + ROUNDER) - ROUNDER;
    V64 first = x - *k * 0x1.62e42fefa38p-1, second = *k * 0x1.ef35793c7673p-45;
    V64 r = first - second, r_lo = (first - r) - second;
    return fast_sum(r, exp_tail(r) + r_lo);
}

/* x + y, for |x| >= |y| or x = 0. */
ALWAYS_INLINE sum64 plus(V64 x, sum64 y) {
    sum64 s = fast_sum(x, y.hi);
    return (sum64){s.hi, s.lo + y.lo};
}

/* n / d, corrected once. */
ALWAYS_INLINE V64 quotient(sum64 n, sum64 d) {
    V64 inverse = 1 / d.hi, q = n.hi * inverse;
    return q + (remainder_of(n.hi, q, d.hi) + (n.lo - q * d.lo)) * inverse;
}

ALWAYS_INLINE V64 f64_logistic(V64 x) {
    V64 one = (V64){0} + 1, zero = {0}, k, size = f64_magnitude(x);
    M64 negative = (M64)(x < 0);
    sum64 e = plus(one, reduced_expm1(-f64_select((M64)(size < 800), size, zero + 800), &k));
    V64 half = (k * 0.5 + ROUNDER) - ROUNDER, scale1 = power_of_2(half), scale2 = power_of_2(k - half);
    sum64 d = plus(one, (sum64){e.hi * scale1 * scale2, e.lo * scale1 * scale2});
    V64 q = quotient((sum64){f64_select(negative, e.hi, one), f64_select(negative, e.lo, zero)}, d);
    V64 r = f64_select(negative, q * scale1 * scale2, q);
    return f64_select((M64)(x == x), r, x);
}

/* 1 + 2^k + 2^k u for whole k <= 0, or with the signs of the latter turned. */
ALWAYS_INLINE sum64 one_and(V64 power, sum64 u) {
    sum64 whole = fast_sum((V64){0} + 1, power), sum = plus(whole.hi, u);
    return (sum64){sum.hi, sum.lo + whole.lo};
}

/* (1 - e) / (1 + e) for e = exp(-2|x|), which is 2^k (1 + u). */
ALWAYS_INLINE V64 f64_tanh(V64 x) {
    V64 zero = {0}, k, size = f64_magnitude(x), sign = (V64)((M64)x ^ (M64)size);
    sum64 u = reduced_expm1(f64_select((M64)(size < 22), size, zero + 22) * -2, &k);
    V64 power = power_of_2(k);
    u = (sum64){u.hi * power, u.lo * power};
    V64 q = quotient(one_and(-power, (sum64){-u.hi, -u.lo}), one_and(power, u));
    return f64_select((M64)(x == x), f64_odd(x, (V64)((M64)q | (M64)sign)), x);
}

#endif
