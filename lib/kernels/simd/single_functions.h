/* Elementary functions of f32 in floats, below 1 ULP (most at 0.75): exponential, tanh, the error functions and the
 * normal distribution. Logarithms are in log.h; what is left to double precision in vmath.h and pow.h. */
#ifndef LAM_KERNELS_SIMD_SINGLE_FUNCTIONS_H
#define LAM_KERNELS_SIMD_SINGLE_FUNCTIONS_H

#include "lib/kernels/simd/single.h"

/* `size` is not negative. */
ALWAYS_INLINE V32 with_sign_of(V32 size, V32 x) {
    return (V32)((M32)size | ((M32)x & (M32)(-(V32){0})));
}

/* ---- exp -------------------------------------------------------------------------------------------------------- */

/* (upper + lower) 2^k, where upper is from 1 to 2 and lower below 2^-5 of it. `at` has k above its last four bits. */
typedef struct stepped_exp32 {
    V32 upper, lower, k;
    M32 at;
} stepped_exp32;

/* (exp(r) - 1 - r) / r^2 for |r| <= log(2)/32 */
static const float SINGLE_STEP_REST[] = {0x1.555556p-5f, 0x1.555556p-3f, 0.5f};

/* 2^exponent exp(r), where the exponent is one of sixteenths that SIXTEENTHS32 has been added to. */
ALWAYS_INLINE stepped_exp32 stepped32(V32 shifted, V32 r) {
    const M32 at = (M32)shifted;
    const V32 upper = pick32(lam__single_exp[1], at), grown = madd32(r * r, POWERS32(r, SINGLE_STEP_REST), r);
    /* Without the sixteenths the shifted number is the exponent of the result. */
    return (stepped_exp32){upper, madd32(upper, grown, pick32(lam__single_exp[0], at)), (V32)(at & -16) - SIXTEENTHS32,
                           at};
}

/* exp(x + more) for |x| < 2^10 and `more` below an ulp of x. Multiples of the first part of log(2) are exact. */
ALWAYS_INLINE stepped_exp32 stepped_exp_of(V32 x, V32 more) {
    const V32 shifted = madd32(x, splat32(0x1.715476p+0f), splat32(SIXTEENTHS32)), exponent = shifted - SIXTEENTHS32;
    const V32 r = madd32(exponent, splat32(0x1.bd0106p-13f), madd32(exponent, splat32(-0x1.63p-1f), x));
    return stepped32(shifted, r + more);
}

/* (upper + lower) 2^k, where that has all its digits: as `moved` of logexp.h. */
ALWAYS_INLINE V32 moved32(stepped_exp32 e) {
    return (V32)((M32)(e.upper + e.lower) + ((e.at & -16) << 19));
}

/* exp(x + more) for any x. exp(-104) is less than half of the least float. */
static __attribute__((noinline)) V32 exp_anywhere32(V32 x, V32 more) {
    const V32 y = limited32(x, 120);
    const stepped_exp32 e = stepped_exp_of(y, f32_select((M32)(y == x) & (M32)(y > -120), more, (V32){0}));
    return scaled_unless32(x, -104, e.upper + e.lower, e.k);
}

/* Powers of 2 in sixteenths from a table, a short polynomial for the rest, one rounding. Ends as those of f64. */
ALWAYS_INLINE V32 f32_exp(V32 x) {
    if (any32(~(M32)(f32_magnitude(x) < 87))) return exp_anywhere32(x, (V32){0});
    const stepped_exp32 e = stepped_exp_of(x, (V32){0});
    return moved32(e);
}

/* exp(x - y), where what the difference is rounded by goes into the rest. */
ALWAYS_INLINE V32 f32_exp_gap(V32 x, V32 y) {
    const sum32 gap = any_sum32(x, -y);
    if (any32(~(M32)(f32_magnitude(gap.hi) < 87))) return exp_anywhere32(gap.hi, gap.lo);
    const stepped_exp32 e = stepped_exp_of(gap.hi, gap.lo);
    return moved32(e);
}

/* exp2(-180) is nothing, exp2(180) infinite. */
static __attribute__((noinline)) V32 exp2_anywhere32(V32 x) {
    const V32 y = limited32(x, 180), shifted = y + SIXTEENTHS32;
    const stepped_exp32 e = stepped32(shifted, (y - (shifted - SIXTEENTHS32)) * 0x1.62e43p-1f);
    return scaled_unless32(x, -152, e.upper + e.lower, e.k);
}

/* 2^x, exactly where x is whole. */
ALWAYS_INLINE V32 f32_exp2(V32 x) {
    if (any32(~(M32)(f32_magnitude(x) < 126))) return exp2_anywhere32(x);
    const V32 shifted = x + SIXTEENTHS32;
    const stepped_exp32 e = stepped32(shifted, (x - (shifted - SIXTEENTHS32)) * 0x1.62e43p-1f);
    return moved32(e);
}

/* exp(-|x|) = (hi + lo) 2^k, as good as 0 beyond 110. */
ALWAYS_INLINE sum32 exp_of_minus_size(V32 x, V32 *k) {
    /* -120: exp(-120) is no float, and the exponent stays within what two_to32 can do. */
    const V32 below = (V32)((M32)x | (M32)(-(V32){0})); /* -|x| */
    const stepped_exp32 e = stepped_exp_of(most_of32(splat32(-120), below), (V32){0});
    *k = e.k;
    return fast_sum32(e.upper, e.lower);
}

/* 1 / (1 + exp(-x)), on the left as exp(x) / (1 + exp(x)). */
ALWAYS_INLINE V32 f32_logistic(V32 x) {
    const V32 zero = {0}, one = zero + 1;
    const M32 negative = (M32)(x < 0);
    V32 k;
    /* As logistic_and_slope in pow.h. */
    const sum32 e = exp_of_minus_size(x, &k);
    const V32 power = two_to32(most_of32(zero - 60, k)); /* beside 1 it is nothing from there on */
    const V32 sum = madd32(e.hi, power, one);
    const sum32 d = {sum, madd32(e.lo, power, madd32(e.hi, power, one - sum))};
    const sum32 n = {f32_select(negative, e.hi, one), f32_select(negative, e.lo, zero)};
    const V32 inverse = inverse32(d.hi), q = n.hi * inverse, y = madd32(left_by_quotient32(q, n, d), inverse, q);
    return scaled_unless32(x, -104, y, f32_select(negative, k, zero));
}

/* ---- tanh ------------------------------------------------------------------------------------------------------- */

/* tanh(x)/x - 1 in the first two pieces. */
ALWAYS_INLINE V32 f32_tanh(V32 x) {
    /* From 9.3 on tanh is 1 to all digits. */
    const V32 size = bounded32(f32_magnitude(x), 9.3f);
    const doubling32 d = doubling_of32(size, 0.625f);
    const sum32 p = PIECES32(d.off, d.at, lam__single_tanh);
    const M32 small = (M32)(d.middle < 1.5f);
    return with_sign_of(madd32(f32_select(small, size, splat32(1)), p.lo, f32_select(small, size, p.hi)), x);
}

/* ---- erf, erfc, ndtr -------------------------------------------------------------------------------------------- */

/* erf(x)/x - 1 in the first three pieces, of which 3.75 are as wide as 1. */
ALWAYS_INLINE V32 f32_erf(V32 x) {
    /* From 4.1 on erf is 1 to all digits. */
    const V32 size = bounded32(f32_magnitude(x), 4.1f);
    const V32 shifted = madd32(size, splat32(3.75f), splat32(ROUNDER32)), middle = shifted - ROUNDER32;
    const sum32 p = PIECES32(fused32(size, splat32(3.75f), -middle), (M32)shifted, lam__single_erf);
    const M32 small = (M32)(middle < 3);
    return with_sign_of(madd32(f32_select(small, size, splat32(1)), p.lo, f32_select(small, size, p.hi)), x);
}

/* (hi + lo) 2^k */
typedef struct stepped32_product {
    V32 hi, lo, k;
} stepped32_product;

/* exp(-square) p: what is lost of the product goes with what the parts lack. */
ALWAYS_INLINE stepped32_product damped32(sum32 square, sum32 p) {
    const stepped_exp32 e = stepped_exp_of(-square.hi, -square.lo);
    const sum32 first = product32(e.upper, p.hi);
    return (stepped32_product){first.hi, madd32(e.upper, p.lo, madd32(e.lower, p.hi + p.lo, first.lo)), e.k};
}

/* Below exp(-104) nothing is left of a product whose other factor is at most 1. */
ALWAYS_INLINE V32 rounded32(stepped32_product p, V32 square) {
    return scaled_unless32(-square, -104, p.hi + p.lo, p.k);
}

/* exp(-x^2), the square kept exactly, times erfcx in pieces. */
ALWAYS_INLINE V32 f32_erfc(V32 x) {
    /* erfc(10.25) is less than half of the least float. */
    const V32 z = bounded32(f32_magnitude(x), 10.25f);
    const doubling32 d = doubling_of32(z, 0.6875f);
    const sum32 square = product32(z, z);
    const V32 tail = rounded32(damped32(square, PIECES32(d.off, d.at, lam__single_erfcx)), square.hi);
    return f32_select((M32)(x < 0), 2 - tail, tail);
}

/* The probability beyond z >= 0. */
ALWAYS_INLINE stepped32_product normal_tail32(V32 z) {
    const doubling32 d = doubling_of32(z, 0.96875f);
    return damped32(product32(0.5f * z, z), PIECES32(d.off, d.at, lam__single_ndtr));
}

/* exp(-x^2/2) times the table of the tail over it; right of 0 what that leaves of 1. */
ALWAYS_INLINE V32 f32_ndtr(V32 x) {
    /* As in f32_gelu: the tail is less than half of the least float. */
    const V32 z = bounded32(f32_magnitude(x), 14.5f), tail = rounded32(normal_tail32(z), 0.5f * z * z);
    return f32_select((M32)(x > 0), 1 - tail, tail);
}

/* ---- erf_inv ---------------------------------------------------------------------------------------------------- */

/* erf_inv(x)/x for |x| < 3/4 in six pieces; beyond, erf_inv(x) in a piece for each exponent of 1 - |x|. */
typedef struct inverse_place32 {
    V32 factor, off;
    M32 at;
} inverse_place32;

ALWAYS_INLINE inverse_place32 inverse_place_of(V32 size) {
    /* The fraction of 1 - |x|, put from 1 to 2, is the place in its piece; the exponent says which piece. */
    const M32 small = (M32)(size < 0.75f), fraction = (M32)((M32){0} + 0x7fffff), one = (M32)splat32(1);
    const V32 shifted = madd32(size, splat32(8), splat32(-0.5f)) + ROUNDER32, left = 1 - size;
    const V32 near = size - madd32(shifted - ROUNDER32, splat32(0.125f), splat32(0.0625f));
    const V32 far = (V32)(((M32)left & fraction) | one) - 1.5f;
    const M32 at = (small & (M32)shifted) | (~small & ((M32)left >> 23));
    return (inverse_place32){f32_select(small, size, splat32(1)), f32_select(small, near, far), at};
}

/* The least numbers are made larger on the way, so that what the first part of a product lacks is there. */
ALWAYS_INLINE V32 f32_erf_inv(V32 x) {
    enum { LAST = LAM__SINGLE_ERF_INV_ROWS - 1 };
    const V32 size = f32_magnitude(x);
    const M32 least = (M32)(size < 0x1p-100f);
    const inverse_place32 p = inverse_place_of(size);
    const V32 factor = p.factor * f32_select(least, splat32(0x1p64f), splat32(1));
    V32 sum = pick32_twice(lam__single_erf_inv[0], p.at);
    for (int i = 1; i < LAST; i++) sum = madd32(sum, p.off, pick32_twice(lam__single_erf_inv[i], p.at));
    V32 y = fused32(factor, pick32_twice(lam__single_erf_inv[LAST], p.at), factor * sum);
    y *= f32_select(least, splat32(0x1p-64f), splat32(1));
    y = f32_select((M32)(size < 1), y, f32_select((M32)(size == 1), splat32(INFINITY), splat32(NAN)));
    return with_sign_of(y, x);
}

#endif
