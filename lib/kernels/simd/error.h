/* erf, erfc, erfcx and the normal distribution as vector functions, below 1 ULP in f64: erf in pieces, the others as
 * exp(-x^2) with the square as a sum of two, times erfcx, which is one table for the whole half line. Tails are never
 * made of differences from 1. f32 goes through f64, but for what single_functions.h has. */
#ifndef LAM_KERNELS_SIMD_ERROR_H
#define LAM_KERNELS_SIMD_ERROR_H

#include "lib/kernels/simd/logexp.h"
#include "lib/kernels/simd/vmath.h"
#include "lib/kernels/special/special.h"

/* ---- erf -------------------------------------------------------------------------------------------------------- */

/* 6 is beyond where erf is 1 to all digits. Pieces are 0.4 wide; in the first three erf(x)/x - 1 is tabulated, so
 * that x is what is rounded last. */
ALWAYS_INLINE V64 f64_erf(V64 x) {
    const V64 zero = {0}, size = f64_magnitude(x), near = either((M64)(size < 6), size, zero + 6);
    const V64 shifted = near * 2.5 + ROUNDER, middle = shifted - ROUNDER;
    const V64 off = madd(near, zero + 0.5, 2 * near - middle); /* of which only the last sum is rounded */
    const sum64 p = PIECES(off, (M64)shifted, lam__table_erf);
    const M64 small = (M64)(middle < 3);
    const V64 r = madd(either(small, size, zero + 1), p.lo, either(small, size, p.hi));
    return either((M64)(x == x), (V64)((M64)r | ((M64)x & (M64)(-zero))), x);
}

/* ---- erfcx ------------------------------------------------------------------------------------------------------ */

/* erfcx(z + more) for z from 0 to 2^60, where `more` is below an ulp of z: the table has s erfcx(z) for
 * s = z + 0.5 + 2^-20, and the slope of the logarithm of erfcx is about -1/s. */
ALWAYS_INLINE sum64 erfcx_of(V64 z, V64 more) {
    const sum64 inverse = inverse_of(any_sum(z, splat64(0.5 + 0x1p-20)));
    sum64 e = product_of_sums(VALUE(place_of_inverse(15.5 - 0x1p-30, 8, inverse), lam__table_erfcx), inverse);
    e.lo = madd(-e.hi, more * inverse.hi, e.lo);
    return e;
}

/* ---- erfc, ndtr ------------------------------------------------------------------------------------------------- */

/* exp(-square) e as a sum. e is the share of the exponential: both are sums, so the product has an error of its
 * last digit alone. */
ALWAYS_INLINE sum64 damped(sum64 square, sum64 e) {
    V64 k;
    const sum64 g = exp_of((sum64){-square.hi, -square.lo}, &k);
    const sum64 p = product_of_sums(g, e), sum = fast_sum(p.hi, p.lo);
    return (sum64){scaled(sum.hi, k), scaled(sum.lo, k)};
}

/* The tail itself, or what it leaves of the whole. */
ALWAYS_INLINE V64 tail_or_rest(M64 rest, V64 whole, sum64 tail) {
    /* 1 - tail without the rounding of the tail. */
    const sum64 other = fast_sum(whole, -tail.hi);
    return either(rest, other.hi + (other.lo - tail.lo), tail.hi);
}

/* erfcx at a place of its table as a sum, whose last coefficients are kept apart. */
ALWAYS_INLINE sum64 erfcx_near(doubling d) {
    const double(*table)[LAM__PIECES] = lam__table_erfcx_near;
    const sum64 slope = pieces(d.off, d.at, table, LAM__ERFCX_SLOPES);
    const V64 rest = madd(slope.lo, d.off, pick(table[LAM__ERFCX_SLOPES], d.at));
    return (sum64){pick(table[LAM__ERFCX_SLOPES + 1], d.at), product_and(slope.hi, d.off, rest)};
}

/* Alone it needs fewer digits: exp(-z^2) in steps times erfcx in pieces. */
ALWAYS_INLINE V64 f64_erfc(V64 x) {
    /* erfc(27.3) is less than half of the least number. */
    const V64 z = bounded(f64_magnitude(x), 27.5);
    /* Pieces of doubling widths begin with this quarter (tables.h). */
    const doubling d = doubling_of(z, 1.84375);
    const sum64 e = erfcx_near(d), square = product(z, z);
    /* exp(-z^2) in steps: the square's second part goes into the rest, whose polynomial takes it. */
    const step64 s = step_next_to_log(-square.hi);
    const stepped_exp g = stepped(s, rest_of_log(s, -square.hi) - square.lo);
    const sum64 p = product(g.upper, e.hi);
    const V64 rest = madd(g.upper, e.lo, madd(g.lower, e.hi + e.lo, p.lo)),
              tail = scaled_unless(-z, -27.25, p.hi + rest, g.k);
    return either((M64)(x < 0), 2 - tail, tail);
}

/* z = |x|/sqrt(2) as a sum, up to z = 28. */
ALWAYS_INLINE sum64 over_root_2(V64 size) {
    /* 1/sqrt(2) as a sum of two. */
    const V64 root = splat64(0x1.6a09e667f3bcdp-1);
    sum64 z = product(size, root);
    z.lo = madd(size, splat64(-0x1.bdd3413b26456p-55), z.lo);
    return z;
}

/* The probability beyond |x| < 40, twice. */
ALWAYS_INLINE sum64 normal_tail(V64 size) {
    const sum64 z = over_root_2(size), square = product(size, 0.5 * size);
    return damped(square, erfcx_of(z.hi, z.lo));
}

/* On the left the tail itself, on the right 1 less it. */
ALWAYS_INLINE V64 f64_ndtr(V64 x) {
    const sum64 t = normal_tail(bounded(f64_magnitude(x), 40));
    const V64 r = tail_or_rest((M64)(x > 0), splat64(1), (sum64){0.5 * t.hi, 0.5 * t.lo});
    return either((M64)(x == x), r, x);
}

/* ---- log_ndtr --------------------------------------------------------------------------------------------------- */

/* On the left log(erfcx(z)/2) - z^2 with z = -x/sqrt(2), on the right the logarithm of what the tail leaves. */
ALWAYS_INLINE V64 f64_log_ndtr(V64 x) {
    const V64 zero = {0}, size = bounded(f64_magnitude(x), 0x1p60);
    const M64 left = (M64)(x < 0);
    const sum64 z = over_root_2(size), e = erfcx_of(z.hi, z.lo), square = product(size, 0.5 * size);
    /* Beyond 40 the tail is nothing beside 1, and a square of 800 gives that nothing. */
    const M64 near = (M64)(size < 40);
    const sum64 t = damped((sum64){either(near, square.hi, zero + 800), either(near, square.lo, zero)}, e);
    const sum64 rest = fast_sum(zero + 1, -0.5 * t.hi);
    const sum64 log =
        log_of((sum64){either(left, 0.5 * e.hi, rest.hi), either(left, 0.5 * e.lo, rest.lo - 0.5 * t.lo)});
    const sum64 sum = any_sum(-square.hi, log.hi);
    const V64 right = (V64)((M64)log.hi | (M64)(-zero)); /* ends in -0 */
    const V64 r = either(left, sum.hi + (sum.lo + (log.lo - square.lo)), right);
    return either((M64)(size < 0x1p60), r, either(left, (0.5 * x) * -x, either((M64)(x > 0), -zero, x)));
}

/* The same steps for a float's share of digits. */
ALWAYS_INLINE V64 quick_log_ndtr(V64 x) {
    const V64 zero = {0}, size = bounded(f64_magnitude(x), 0x1p60), half = 0.5 * x * x;
    const V64 e = 0.5 * erfcx_of(size * 0.70710678118654752, zero).hi;
    const V64 t = quick_exp(-either((M64)(size < 20), half, zero + 200)) * e;
    /* log(1 - t) for small t, where 1 - t would lose t. */
    const V64 small = -t - t * t * madd(t, splat64(1.0 / 3), splat64(0.5));
    const V64 log = quick_log_of_parts(parts_of(either((M64)(x < 0), e, 1 - t)));
    const V64 right = either((M64)(t < 0x1p-12), small, log);
    return either((M64)(x == x), either((M64)(x < 0), log - half, right), x);
}

ALWAYS_INLINE V32 f32_log_ndtr(V32 x) {
    return f32_through1(x, quick_log_ndtr);
}

/* ---- erfcx on the whole line ------------------------------------------------------------------------------------- */

/* 2 exp(x^2) - erfcx(-x) for x < 0, which is all where the other is lost. Infinite where that is, with nothing beside
 * it. */
ALWAYS_INLINE sum64 left_erfcx(V64 x, sum64 other) {
    /* exp(900) is infinite already. */
    const V64 zero = {0}, near = either((M64)(x > -30), x, zero - 30);
    V64 k;
    const sum64 g = exp_of(product(near, near), &k);
    const V64 hi = scaled(g.hi, k + 1), lo = scaled(g.lo, k + 1);
    const sum64 sum = fast_sum(hi, -other.hi);
    const M64 inside = (M64)(hi <= f64_LARGEST);
    return (sum64){either(inside, sum.hi, hi), either(inside, sum.lo + (lo - other.lo), zero)};
}

/* Left of 0 and far out each have a form of their own, which a vector without such lanes leaves out. */
ALWAYS_INLINE V64 f64_erfcx(V64 x) {
    const V64 zero = {0}, size = bounded(f64_magnitude(x), 0x1p60);
    const M64 left = (M64)(x < 0), far = (M64)(x >= 0x1p60);
    const sum64 e = erfcx_of(size, zero);
    V64 r = e.hi + e.lo;
    if (any64(left)) {
        const sum64 y = left_erfcx(x, e);
        r = either(left, y.hi + y.lo, r);
    }
    /* 1/(sqrt(pi) x), the first term of the asymptotic series: the next is 2^-121 of it. */
    if (any64(far)) r = either(far, 0.56418958354775628 / x, r);
    return either((M64)(x == x), r, x);
}

ALWAYS_INLINE V32 f32_erfcx(V32 x) {
    return f32_through1(x, f64_erfcx);
}

/* Its slope by -2: 1/sqrt(pi) - x erfcx(x), which cancels on the right and has a table there. */
ALWAYS_INLINE V64 f64_erfcx_integral(V64 x) {
    const V64 zero = {0}, root = zero + 0.56418958354775628, size = bounded(f64_magnitude(x), 0x1p60);
    const M64 left = (M64)(x < 0), far = (M64)(x >= 0x1p60);
    const sum64 inverse = inverse_of(any_sum(size, splat64(0.5 + 0x1p-20)));
    const sum64 e = VALUE(place_of_inverse(15.5 - 0x1p-30, 8, inverse), lam__table_erfcx_slope);
    /* The table is of s^2 times the function. */
    const sum64 y = product_of_sums(product_of_sums(e, inverse), inverse);
    V64 r = y.hi + y.lo;
    if (any64(left)) {
        /* -x erfcx(x) is what counts on the left, and may be infinite. */
        const sum64 p = product_of(left_erfcx(either(left, x, zero - 1), erfcx_of(size, zero)), size);
        r = either(left, either((M64)(p.hi <= f64_LARGEST), p.hi + (p.lo + root), p.hi), r);
    }
    /* 1/(2 sqrt(pi) x^2), in two divisions, since x^2 may be infinite. */
    if (any64(far)) r = either(far, (0.5 * root / x) / x, r);
    return either((M64)(x == x), r, x);
}

ALWAYS_INLINE V32 f32_erfcx_integral(V32 x) {
    return f32_through1(x, f64_erfcx_integral);
}

#endif
