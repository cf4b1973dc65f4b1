/* Logarithm and exponential of unevaluated sums, of which simd/pow.h makes pow, logistic, tanh and logaddexp, all below
 * 1 ULP in f64 since nothing is rounded on the way but in a second double; and exp and exp2 themselves. Their f32 forms
 * are single precision's share of the same steps, made in f64. exp takes powers of 2 in sixteenths from a table, so
 * that a short polynomial does for what is left. */
#ifndef LAM_KERNELS_SIMD_LOGEXP_H
#define LAM_KERNELS_SIMD_LOGEXP_H

#include "lib/kernels/simd/exact.h"
#include "lib/kernels/simd/vmath.h"

/* log(2) in two parts, of which multiples of the first by integers of 11 bits are exact. */
static const double LOG_2 = 0x1.62e42fefa38p-1, LOG_2_REST = 0x1.ef35793c7673p-45, LOG_2_INVERSE = 1.4426950408889634;

/* ---- log -------------------------------------------------------------------------------------------------------- */

/* x = z 2^k with z from 0.703125 to 1.40625, which lies in piece `at` of lam__table_log. For normal x > 0. */
typedef struct parts64 {
    V64 z, k;
    M64 at;
} parts64;

ALWAYS_INLINE parts64 parts_of(V64 x) {
    /* `first` is 0.703125: moved so far, the exponent changes there, and the first bits of the fraction say the
     * piece. */
    const uint64_t one = 0x3ff0000000000000, first = 0x3fe6800000000000, infinity = 0x7ff0000000000000;
    const U64 moved = (U64)x + (one - first), exponent = moved & infinity; /* beyond NaNs it wraps around */
    /* The exponent as a double, by its bits: conversions of integers are not instructions of all sets. */
    const V64 counted = (V64)((M64)(exponent >> 52) | (M64)splat64(0x1p52));
    return (parts64){(V64)((U64)x - exponent + one), counted - (0x1p52 + 1023), (M64)(moved >> 48)};
}

/* (log(1 + r) - r + r^2/2) / r^3 for |r| <= 1/32, the rest below 2^-72 */
static const double LOG_REST[] = {
    -0x1.560c7b3a0be78p-4, 0x1.7522531ae21b4p-4,  -0x1.99997182b7b95p-4,
    0x1.c71c469af81bp-4,   -0x1.00000001ca58dp-3, 0x1.249249267fe17p-3,
    -0x1.555555555547p-3,  0x1.99999999998a3p-3,  -0x1p-2,
    0x1.5555555555555p-2,
};

/* log((z + lo) 2^k) for the parts of a number and up to an ulp more, to 2^-64 of the result, also where that is near
 * 0. */
ALWAYS_INLINE sum64 log_of_parts(parts64 p, V64 lo) {
    const V64 inverse = pick(lam__table_log[0], p.at);
    /* z/c - 1: the product with its error, so that r is exact. */
    const sum64 z = product(p.z, inverse), r = fast_sum(z.hi - 1, madd(lo, inverse, z.lo)),
                square = product(r.hi, r.hi);
    const sum64 a = fast_sum(madd(p.k, splat64(LOG_2), pick(lam__table_log[1], p.at)), r.hi);
    const sum64 b = fast_sum(a.hi, -0.5 * square.hi);
    V64 rest = madd(p.k, splat64(LOG_2_REST), pick(lam__table_log[2], p.at));
    rest = madd(square.hi * r.hi, POWERS(r.hi, LOG_REST), rest);
    /* What all sums have lost. */
    rest += (a.lo + b.lo) + madd(-r.lo, r.hi, madd(square.lo, splat64(-0.5), r.lo));
    return fast_sum(b.hi, rest);
}

/* log(x) for x.hi normal and positive. */
ALWAYS_INLINE sum64 log_of(sum64 x) {
    const parts64 p = parts_of(x.hi);
    /* The second part in units of the fraction. */
    return log_of_parts(p, scaled(x.lo, -p.k));
}

/* The same for a float's share of digits. */
static const double QUICK_LOG_REST[] = {
    0x1.2492492492492p-3, -0x1.5555555555555p-3, 0x1.999999999999ap-3, -0.25, 0x1.5555555555555p-2, -0.5};

/* Without second parts: base and series are rounded. */
ALWAYS_INLINE V64 quick_log_of_parts(parts64 p) {
    /* Fused, z/c - 1 is rounded once. */
    const V64 r = madd(p.z, pick(lam__table_log[0], p.at), splat64(-1));
    const V64 base = madd(p.k, splat64(0x1.62e42fefa39efp-1), pick(lam__table_log[1], p.at));
    return madd(r * r, POWERS(r, QUICK_LOG_REST), r) + base;
}

/* ---- exp -------------------------------------------------------------------------------------------------------- */

/* Adding this leaves an integer number of sixteenths in the low bits of the double. */
static const double SIXTEENTHS = 0x1.8p48;

/* log(2) in two parts, of which multiples of the first by sixteenths, 15 bits of them, are exact. */
static const double SHORT_LOG_2 = 0x1.62e42fefap-1, SHORT_LOG_2_REST = 0x1.cf79abc9e3b3ap-40;

/* 2^(at/16) 2^k, the power of 2 that is next to a number, in sixteenths of its exponent. */
typedef struct step64 {
    V64 exponent, k;
    M64 at;
} step64;

/* Of a number to which SIXTEENTHS has been added. */
ALWAYS_INLINE step64 step_of(V64 shifted) {
    /* Without the last four bits it is the whole exponent. */
    const V64 whole = (V64)((M64)shifted & -16);
    return (step64){shifted - SIXTEENTHS, whole - SIXTEENTHS, (M64)shifted};
}

/* (upper + lower) 2^k, where upper is from 1 to 2 and lower below 2^-5 of it. */
typedef struct stepped_exp {
    V64 upper, lower, k;
} stepped_exp;

/* (exp(r) - 1 - r) / r^2 for |r| <= log(2)/32, times r^2 the rest is below 2^-64 */
static const double STEP_REST[] = {
    0x1.a01b0c2efc09ap-13, 0x1.6c17ed4ce9ff6p-10, 0x1.11111110e10a7p-7,
    0x1.55555554e9466p-5,  0x1.5555555555556p-3,  0x1.0000000000001p-1,
};

/* 2^(at/16) 2^k exp(r) */
ALWAYS_INLINE stepped_exp stepped(step64 s, V64 r) {
    const V64 upper = pick(lam__table_exp[0], s.at), grown = madd(r * r, POWERS(r, STEP_REST), r);
    return (stepped_exp){upper, madd(upper, grown, pick(lam__table_exp[1], s.at)), s.k};
}

/* Of an exponent in units of log(2). */
ALWAYS_INLINE step64 step_next_to_log(V64 x) {
    return step_of(madd(x, splat64(LOG_2_INVERSE), splat64(SIXTEENTHS)));
}

/* What the step leaves of x, for |x| < 2^10. */
ALWAYS_INLINE V64 rest_of_log(step64 s, V64 x) {
    return madd(s.exponent, splat64(-SHORT_LOG_2_REST), madd(s.exponent, splat64(-SHORT_LOG_2), x));
}

/* exp(x) = (result) 2^k up to some 2^-57 of it, for |x| < 2^10. */
ALWAYS_INLINE sum64 exp_of_double(V64 x, V64 *k) {
    const step64 s = step_next_to_log(x);
    const stepped_exp e = stepped(s, rest_of_log(s, x));
    *k = e.k;
    return fast_sum(e.upper, e.lower);
}

/* exp(x) = (result) 2^k up to some 2^-62 of it, for |x.hi| < 2^10. */
ALWAYS_INLINE sum64 exp_of(sum64 x, V64 *k) {
    const step64 s = step_next_to_log(x.hi);
    const V64 first = madd(s.exponent, splat64(-SHORT_LOG_2), x.hi),
              second = madd(s.exponent, splat64(SHORT_LOG_2_REST), -x.lo);
    /* `second` is the rest of log(2) and of x: first - second is r, with its error. */
    const V64 r = first - second, r_lo = (first - r) - second, tail = madd(r * r, POWERS(r, STEP_REST), r_lo);
    const V64 upper = pick(lam__table_exp[0], s.at);
    const sum64 grown = product(upper, r), sum = fast_sum(upper, grown.hi);
    *k = s.k;
    return fast_sum(sum.hi, sum.lo + (grown.lo + madd(upper, tail, pick(lam__table_exp[1], s.at))));
}

/* x 2^k for the k of the step `at`, where x and the result have all their digits: above its sixteenths stands what is
 * added to the exponent. */
ALWAYS_INLINE V64 moved(V64 x, M64 at) {
    return (V64)((U64)x + ((U64)(at & -16) << 48));
}

/* exp(x) for |x| < 708. Of NaN it is nothing to rely on: digits at its end would move its exponent. */
ALWAYS_INLINE V64 plain_exp(V64 x) {
    const step64 s = step_next_to_log(x);
    const stepped_exp e = stepped(s, rest_of_log(s, x));
    return moved(e.upper + e.lower, s.at);
}

/* exp(x + more) for any x, where `more` is far below it. exp(-746) is less than half of the least number. */
static __attribute__((noinline)) V64 exp_anywhere(V64 x, V64 more) {
    const V64 y = limited(x, 800);
    const step64 s = step_next_to_log(y);
    /* Where x was limited, `more` has no meaning. */
    const V64 near = either((M64)(y == x) & (M64)(y > -800), more, (V64){0});
    const stepped_exp e = stepped(s, rest_of_log(s, y) + near);
    return scaled_unless(x, -746, e.upper + e.lower, e.k);
}

/* In vectors without numbers that large or small, NaN and infinities nothing happens at the ends. */
ALWAYS_INLINE V64 f64_exp(V64 x) {
    return any64(~(M64)(f64_magnitude(x) < 708)) ? exp_anywhere(x, (V64){0}) : plain_exp(x);
}

/* exp(x - y), where what the difference is rounded by is not lost. */
ALWAYS_INLINE V64 f64_exp_gap(V64 x, V64 y) {
    const sum64 gap = any_sum(x, -y);
    if (any64(~(M64)(f64_magnitude(gap.hi) < 708))) return exp_anywhere(gap.hi, gap.lo);
    const step64 s = step_next_to_log(gap.hi);
    const stepped_exp e = stepped(s, rest_of_log(s, gap.hi) + gap.lo);
    return moved(e.upper + e.lower, s.at);
}

/* exp2(1200) is infinite, exp2(-1200) nothing. */
static __attribute__((noinline)) V64 exp2_anywhere(V64 x) {
    const V64 y = limited(x, 1200);
    const step64 s = step_of(y + SIXTEENTHS);
    const stepped_exp e = stepped(s, (y - s.exponent) * 0x1.62e42fefa39efp-1);
    return scaled_unless(x, -1076, e.upper + e.lower, e.k);
}

/* 2^x, exactly where x is whole. */
ALWAYS_INLINE V64 f64_exp2(V64 x) {
    if (any64(~(M64)(f64_magnitude(x) < 1022))) return exp2_anywhere(x);
    const step64 s = step_of(x + SIXTEENTHS);
    const stepped_exp e = stepped(s, (x - s.exponent) * 0x1.62e42fefa39efp-1);
    return moved(e.upper + e.lower, s.at);
}

/* exp(x), inf or 0 where it is too large or too small; x is no NaN. */
ALWAYS_INLINE V64 exp_limited(sum64 x) {
    const V64 hi = limited(x.hi, 800);
    V64 k;
    const sum64 e = exp_of((sum64){hi, either((M64)(hi == x.hi), x.lo, (V64){0})}, &k);
    /* The second part would not be seen, since the first is rounded to half an ulp. */
    return scaled(e.hi, k);
}

/* For a float's share of digits, and |x| < 708. A float's NaN has no digits at the end of a double, so it stays NaN. */
static const double QUICK_STEP_REST[] = {0x1.55565bba155fcp-5, 0x1.5556deecab6c7p-3, 0.5};

/* By the first row of the table alone. */
ALWAYS_INLINE V64 quick_exp(V64 x) {
    const step64 s = step_next_to_log(x);
    /* One product with log(2): a float does not see what it is rounded by. */
    const V64 r = madd(s.exponent, splat64(-0x1.62e42fefa39efp-1), x), upper = pick(lam__table_exp[0], s.at);
    return moved(madd(upper, madd(r * r, POWERS(r, QUICK_STEP_REST), r), upper), s.at);
}

/* ---- exp next to 1 ---------------------------------------------------------------------------------------------- */

/* (exp(r) - 1 - r) / r^2 for |r| <= 0.347, the rest below 2^-62 */
static const double EXP_REST[] = {
    0x1.1f7340dbc337ep-29,
    0x1.af4e554377204p-26,
    0x1.27e4db46cddd1p-22,
    0x1.71de01fdbf9cap-19,
    0x1.a01a01a6e1e2ap-16,
    0x1.a01a01abf85abp-13,
    0x1.6c16c16c162c3p-10,
    0x1.11111111100bep-7,
    0x1.5555555555556p-5,
    0x1.5555555555557p-3,
    0x1p-1,
};

/* exp(x) = (1 + r + tail) 2^k, for |x.hi| < 2^20: where k = 0, what is left of it beside 1. */
typedef struct reduced_exp {
    V64 r, tail, k;
} reduced_exp;

/* By whole multiples of log(2), without a table: r is up to log(2)/2. */
ALWAYS_INLINE reduced_exp reduced_exp_of(sum64 x) {
    const V64 k = madd(x.hi, splat64(LOG_2_INVERSE), splat64(ROUNDER)) - ROUNDER;
    const V64 first = madd(k, splat64(-LOG_2), x.hi), second = madd(k, splat64(LOG_2_REST), -x.lo);
    const V64 r = first - second, r_lo = (first - r) - second;
    /* The error of r counts r_lo (1 + r), to first order. */
    return (reduced_exp){r, madd(r * r, POWERS(r, EXP_REST), madd(r, r_lo, r_lo)), k};
}

#endif
