/* Logarithms of gamma and beta functions and of their densities without cancellation, as sums of two doubles: all of
 * them are made of Stirling's formula, what it lacks (Abramowitz and Stegun 6.1.41; in pieces below 9), and of
 * r - log(1 + r) (Loader, Fast and accurate computation of binomial probabilities, 2000). */
#ifndef LAM_KERNELS_SIMD_STIRLING_H
#define LAM_KERNELS_SIMD_STIRLING_H

#include "lib/kernels/simd/gamma.h"

/* log(2 pi)/2 */
static const double HALF_LOG_2_PI = 0x1.d67f1c864beb5p-1, HALF_LOG_2_PI_REST = -0x1.65b5a1b7ff5dfp-55;

/* s - log(1 + s) for s from -1/64 to 1/32: s^2 (1/2 - s (1/3 - ...)). */
ALWAYS_INLINE sum64 near_log_gap(sum64 s) {
    /* The table of the logarithm without its last coefficient, which is 1/3 and has a second part here. */
    const V64 rest = powers(s.hi, LOG_REST, (int)(sizeof LOG_REST / sizeof *LOG_REST) - 1);
    const sum64 third = fast_sum(splat64(0x1.5555555555555p-2), madd(s.hi, rest, splat64(0x1.5555555555555p-56)));
    const sum64 tail = product_of_sums(third, s), factor = fast_sum(splat64(0.5), -tail.hi);
    return product_of_sums(product_of_sums(s, s), (sum64){factor.hi, factor.lo - tail.lo});
}

/* r = ratio - 1, r - log(ratio) to 2^-64 of it, and log(ratio), for a normal ratio > 0. Where no piece of the logarithm
 * is taken off, r is what is left. */
typedef struct log_gap {
    sum64 r, gap, log;
} log_gap;

/* By the table of the logarithm, of which each part is kept as a sum. */
ALWAYS_INLINE log_gap log_gap_of(sum64 ratio) {
    const parts64 p = parts_of(ratio.hi);
    const V64 inverse = pick(lam__table_log[0], p.at), piece = pick(lam__table_log[1], p.at);
    const sum64 z = product(p.z, inverse);
    /* z/c - 1, with what the ratio's second part adds. */
    const sum64 s = fast_sum(z.hi - 1, madd(scaled(ratio.lo, -p.k), inverse, z.lo)), near = near_log_gap(s);
    sum64 r = any_sum(ratio.hi, splat64(-1));
    r.lo += ratio.lo;
    const V64 base = madd(p.k, splat64(LOG_2), piece);
    const V64 rest = madd(p.k, splat64(LOG_2_REST), pick(lam__table_log[2], p.at));
    /* r - log(ratio) is this and `near`, since log(1 + s) is s - near. */
    const sum64 left = minus(minus(r, (sum64){base, rest}), s);
    const sum64 log = minus(plus((sum64){base, rest}, s), near);
    return (log_gap){r, either_sum((M64)(base == 0), near, plus(left, near)), log};
}

/* ---- what Stirling's formula lacks ------------------------------------------------------------------------------ */

/* log Gamma(x) - ((x - 1/2) log(x) - x + log(2 pi)/2) for x from 2^-500 to 9. */
ALWAYS_INLINE sum64 stirling_rest_inside(V64 x) {
    const V64 zero = {0};
    /* x + 1/2 where x < 1: log_gamma_inside gives log Gamma(x + 1) there, which is log(x) more. */
    const sum64 half = any_sum(x, either((M64)(x < 1), zero + 0.5, zero - 0.5));
    const sum64 power = product_of_sums(log_of_parts(parts_of(x), zero), half);
    sum64 constant = any_sum(x, splat64(-HALF_LOG_2_PI));
    constant.lo -= HALF_LOG_2_PI_REST;
    return plus(minus(log_gamma_inside(x), power), constant);
}

/* The same for all x. */
static __attribute__((noinline)) sum64 stirling_rest(V64 x) {
    const V64 zero = {0};
    const M64 inside = (M64)(x < 9);
    /* 9 stands for lanes that the series does not hold for. */
    const V64 inverse = 1 / either(inside, zero + 9, x);
    const sum64 rest = {inverse * POWERS(inverse * inverse, LGAMMA_REST), zero};
    return any64(inside) ? either_sum(inside, stirling_rest_inside(either(inside, x, zero + 2)), rest) : rest;
}

/* log(x) - digamma(x). */
static __attribute__((noinline)) sum64 digamma_gap(V64 x) {
    const V64 zero = {0};
    const M64 inside = (M64)(x < 9);
    const V64 inverse = 1 / either(inside, zero + 9, x), square = inverse * inverse;
    const sum64 gap = fast_sum(0.5 * inverse, square * POWERS(square, DIGAMMA_REST));
    if (!any64(inside)) return gap;
    /* 2 for lanes that have the series. */
    const V64 y = either(inside, x, zero + 2);
    return either_sum(inside, minus(log_of_parts(parts_of(y), zero), digamma_inside_sum(y)), gap);
}

/* ---- betaln ----------------------------------------------------------------------------------------------------- */

/* With s = a + b and a <= b: a log(a/s) + (b - 1/2) log(b/s) - log(a)/2 and what Stirling's formulas lack. */
ALWAYS_INLINE V64 ordered_betaln(V64 a, V64 b) {
    const V64 zero = {0};
    /* a/s is small where a is far below b, so log(b/s) is made of it and not of b/s, which is next to 1. */
    const sum64 s = fast_sum(b, a), share = quotient((sum64){a, zero}, s);
    const sum64 gap = log_gap_of(quotient((sum64){b, zero}, s)).gap, more = plus(share, gap); /* -log(b/s) */
    sum64 sum = minus(product_of(log_of(share), a), product_of_sums(more, any_sum(b, splat64(-0.5))));
    const sum64 log_a = log_of_parts(parts_of(a), zero);
    sum = minus(sum, (sum64){0.5 * log_a.hi, 0.5 * log_a.lo});
    sum = plus(sum, (sum64){splat64(HALF_LOG_2_PI), splat64(HALF_LOG_2_PI_REST)});
    /* What three formulas lack is far below the rest, and is added last. */
    sum = plus(sum, minus(plus(stirling_rest(a), stirling_rest(b)), stirling_rest(s.hi)));
    return sum.hi + sum.lo;
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_betaln(V64 r, V64 a, V64 b, M64 where) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_betaln(a[i], b[i]);
    return r;
}

/* betaln is symmetric, so the smaller operand comes first. */
ALWAYS_INLINE V64 f64_betaln(V64 a, V64 b) {
    const V64 least = either((M64)(a < b), a, b), most = either((M64)(a < b), b, a);
    /* Beyond these quotients and products would leave the range. */
    const M64 plain = (M64)(least >= 0x1p-400) & (M64)(most <= 0x1p500);
    const V64 r = ordered_betaln(either(plain, least, splat64(1)), either(plain, most, splat64(1)));
    return any64(~plain) ? patched_betaln(r, a, b, ~plain) : r;
}

ALWAYS_INLINE V32 f32_betaln(V32 a, V32 b) {
    return f32_through2(a, b, f64_betaln);
}

#endif
