/* Logarithms times a number, and of a ratio: xlogy, xlog1py, rel_entr with its slope, and log_ratio as vector
 * functions, of the sums of logexp.h, so that nothing but the last rounding is seen. A ratio is taken of the fractions
 * of its operands, so that it stays in range and is near 1 where its logarithm is small. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_LOGS_H
#define LAM_KERNELS_SIMD_LOGS_H

#include "lib/kernels/simd/pow.h"

/* `log` where x is positive and finite, elsewhere what the logarithm of x is, in one double. */
ALWAYS_INLINE sum64 log_or_special(sum64 log, V64 x) {
    const V64 zero = {0};
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST);
    const V64 special = either((M64)(x == 0), zero - INFINITY, either((M64)(x < 0), zero + NAN, x));
    return (sum64){either(plain, log.hi, special), either(plain, log.lo, zero)};
}

/* log(x) as a sum of two, for all of x. */
ALWAYS_INLINE sum64 log_anywhere(V64 x) {
    return log_or_special(log_of_parts(parts_of_size(x), (V64){0}), x);
}

/* log(1 + x), which below 2^-40 is x - x^2/2. */
ALWAYS_INLINE sum64 log1p_anywhere(V64 x) {
    const V64 zero = {0};
    /* What has no logarithm stands for 0, whose is 0. */
    const V64 y = either((M64)(x > -1) & (M64)(x <= f64_LARGEST), x, zero);
    const sum64 log = log_of(any_sum(splat64(1), y));
    const M64 small = (M64)(f64_magnitude(y) < 0x1p-40);
    return log_or_special((sum64){either(small, y, log.hi), either(small, -0.5 * y * y, log.lo)}, x + 1);
}

/* log(x/y 2^k) for fractions of numbers that are positive. */
ALWAYS_INLINE sum64 log_of_fractions(sum64 x, V64 y, V64 k) {
    /* Of fractions, from 0.5 to 2, so that no quotient leaves the range. */
    const sum64 q = quotient(x, (sum64){y, {0}});
    parts64 p = parts_of(q.hi);
    const V64 lo = scaled(q.lo, -p.k);
    p.k += k;
    return log_of_parts(p, lo);
}

/* log(x/y), 0 where they are equal; where one of them is not positive and finite, what the quotient says. */
ALWAYS_INLINE sum64 log_of_ratio(V64 x, V64 y) {
    const V64 zero = {0}, ratio = x / y;
    const parts64 a = parts_of_size(x), b = parts_of_size(y);
    const sum64 log = log_of_fractions((sum64){a.z, zero}, b.z, a.k - b.k);
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST) & (M64)(y > 0) & (M64)(y <= f64_LARGEST);
    /* Equal operands have the quotient 1 to the last bit, but an infinite one has none. */
    const M64 apart = ~(M64)(x == y);
    const V64 special = either((M64)(ratio == 0), zero - INFINITY, either((M64)(ratio < 0), zero + NAN, ratio));
    return (sum64){either(plain, either(apart, log.hi, zero), special), either(plain & apart, log.lo, zero)};
}

/* x times a logarithm; x is brought to where products of doubles are exact, and the result back. */
ALWAYS_INLINE V64 times_log(V64 x, sum64 log) {
    const V64 one = splat64(1), size = f64_magnitude(x);
    const M64 large = (M64)(size > 0x1p900), small = (M64)(size < 0x1p-900);
    /* Far out x is moved by 2^200, so that the error of the product is a number. */
    const sum64 p = product_of(log, x * either(large, one * 0x1p-200, either(small, one * 0x1p200, one)));
    const V64 r = either((M64)(f64_magnitude(p.hi) <= f64_LARGEST), p.hi + p.lo, p.hi);
    return r * either(large, one * 0x1p200, either(small, one * 0x1p-200, one));
}

/* 0 where x is 0, unless y is NaN. */
ALWAYS_INLINE V64 unless_nothing(V64 r, V64 x, V64 y) {
    return either((M64)(x == 0) & (M64)(y == y), (V64){0}, r);
}

/* x log(y). */
ALWAYS_INLINE V64 f64_xlogy(V64 x, V64 y) {
    /* 0 log(0) is 0, as in entropies. */
    return unless_nothing(times_log(x, log_anywhere(y)), x, y);
}

/* x log(1 + y). */
ALWAYS_INLINE V64 f64_xlog1py(V64 x, V64 y) {
    return unless_nothing(times_log(x, log1p_anywhere(y)), x, y);
}

/* log(x/y), rounded once. */
ALWAYS_INLINE V64 f64_log_ratio(V64 x, V64 y) {
    return log_of_ratio(x, y).hi;
}

/* Infinite where an operand is negative, or y is 0 and x is not. */
ALWAYS_INLINE V64 f64_rel_entr(V64 x, V64 y) {
    const V64 r = unless_nothing(times_log(x, log_of_ratio(x, y)), x, y);
    /* Where an operand is NaN so is the result. */
    const M64 outside = (M64)(x < 0) | (M64)(y < 0) | ((M64)(y == 0) & (M64)(x > 0));
    return either(outside & (M64)(x == x) & (M64)(y == y), (V64){0} + INFINITY, r);
}

/* log(x/y) + 1 inside, 0 where an operand is 0 or negative. The logarithm is that of e x/y, so that next to its zero
 * nothing cancels. */
ALWAYS_INLINE V64 f64_rel_entr_slope(V64 x, V64 y) {
    const V64 zero = {0}, ratio = x / y;
    const sum64 e = {splat64(0x1.5bf0a8b145769p+1), splat64(0x1.4d57ee2b1013ap-53)};
    const parts64 a = parts_of_size(x), b = parts_of_size(y);
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST) & (M64)(y > 0) & (M64)(y <= f64_LARGEST);
    const M64 outside = ((M64)(x <= 0) | (M64)(y <= 0)) & (M64)(x == x) & (M64)(y == y);
    const V64 special = either(outside, zero, either((M64)(ratio == 0), zero - INFINITY, ratio));
    /* The factor e goes into the fraction: log(e x/y) is log(x/y) + 1 without a sum. */
    return either(plain, log_of_fractions(product_of(e, a.z), b.z, a.k - b.k).hi, special);
}

/* In doubles the products and the logarithms of floats have more digits than are asked for. So they are rounded once
 * more, which is not seen. */
ALWAYS_INLINE V32 f32_xlogy(V32 x, V32 y) {
    return f32_through2(x, y, f64_xlogy);
}

ALWAYS_INLINE V32 f32_xlog1py(V32 x, V32 y) {
    return f32_through2(x, y, f64_xlog1py);
}

ALWAYS_INLINE V32 f32_log_ratio(V32 x, V32 y) {
    return f32_through2(x, y, f64_log_ratio);
}

ALWAYS_INLINE V32 f32_rel_entr(V32 x, V32 y) {
    return f32_through2(x, y, f64_rel_entr);
}

ALWAYS_INLINE V32 f32_rel_entr_slope(V32 x, V32 y) {
    return f32_through2(x, y, f64_rel_entr_slope);
}

#endif
