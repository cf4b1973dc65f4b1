/* expm1, sinh, cosh and their inverses, log1mexp and softplus, of both floating types, below 1 ULP: the first three
 * without a division, the others as logarithms. The steps are in hyperbolic_type.h and area_type.h, one text for both
 * types; here are the constants, of which polynomials are minimax on the interval that the reduction leaves. */
#ifndef LAM_KERNELS_SIMD_HYPERBOLIC_H
#define LAM_KERNELS_SIMD_HYPERBOLIC_H

/* SINH is (sinh(r) - r) / r^3 in r^2 and COSH (cosh(r) - 1 - r^2/2) / r^4 in r^2, both for r between whole multiples of
 * log(2). */
#include "lib/kernels/simd/log.h"
#include "lib/kernels/simd/single_functions.h"

#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define NAME(x) f64_##x
#define OWN(x)  x
#define ANY     any64
#define LOG_2_PARTS                                                                                                    \
    { LOG_2, LOG_2_REST }
/* From the highest power down. Minimax on the reduced interval. */
#define SINH                                                                                                           \
    { 0x1.af5f590176f65p-26, 0x1.71ddf7f8b1d46p-19, 0x1.a01a01b00ad4fp-13, 0x1.111111110f649p-7, 0x1.5555555555559p-3 }
#define COSH                                                                                                           \
    { 0x1.1f83fd82fb4adp-29, 0x1.27e4d135dc399p-22, 0x1.a01a01ab1887cp-16, 0x1.6c16c16c15775p-10, 0x1.5555555555557p-5 }
/* exp(-40) is nothing beside 1 in f64, and exp(-20) in f32; beyond MOST the exponential is infinite; 2^-FAR is nothing
 * beside 1 however it is rounded. */
#define LEAST -40
#define MOST  800
#define FAR   60
#include "lib/kernels/simd/hyperbolic_type.h"

#define T       float
#define V       V32
#define M       M32
#define SUM     sum32
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define ANY     any32
/* The first part has few digits, so that its multiples are exact. */
#define LOG_2_PARTS                                                                                                    \
    { 0x1.62e4p-1f, 0x1.7f7d1cp-20f }
#define SINH                                                                                                           \
    { 0x1.a2ddb4p-13f, 0x1.110fcp-7f, 0x1.555556p-3f }
#define COSH                                                                                                           \
    { 0x1.6d412cp-10f, 0x1.5554f2p-5f }
#define LEAST -20
#define MOST  120
#define FAR   30
#include "lib/kernels/simd/hyperbolic_type.h"

/* ---- asinh, acosh, atanh ---------------------------------------------------------------------------------------- */

#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define NAME(x) f64_##x
#define OWN(x)  x
/* From VAST on log(2 x) is asinh and acosh to the last bit. */
#define VAST 0x1p28
#define LOG_2_PARTS                                                                                                    \
    { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 }
#include "lib/kernels/simd/area_type.h"

#define T       float
#define V       V32
#define M       M32
#define SUM     sum32
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define VAST    0x1p14f
#define LOG_2_PARTS                                                                                                    \
    { 0x1.62e43p-1f, -0x1.05c61p-29f }
#include "lib/kernels/simd/area_type.h"

/* ---- softplus --------------------------------------------------------------------------------------------------- */

/* The larger of x and 0 and log(1 + exp(-|x|)), which far on the left is e - e^2/2, and on the right nothing. Far on
 * the left a sum with 1 would leave the small exponential fewer digits than the result has, hence the series. */
ALWAYS_INLINE V64 f64_softplus(V64 x) {
    const V64 zero = {0};
    V64 k;
    /* exp(-800) is 0, and what is made of it. */
    const sum64 e = exp_of_double(-bounded(f64_magnitude(x), 800), &k);
    const V64 least = most_of(zero - 200, k), power = scaled(e.hi, least); /* beside 1 it is nothing from there on */
    sum64 d = fast_sum(zero + 1, power);
    d.lo += scaled(e.lo, least);
    /* x and a logarithm of at most log(2): the larger may be either. */
    const sum64 log = f64_log_of_sum(d), sum = any_sum(either((M64)(x > 0), x, zero), log.hi);
    const V64 near = either((M64)(x > 40), x, sum.hi + (sum.lo + log.lo));
    /* e - e^2/2, scaled once; the next term is e^3/3, below 2^-72 of it from -25 on. */
    const V64 far = scaled_unless(-f64_magnitude(x), -746, e.hi + madd(-0.5 * power, e.hi, e.lo), k);
    return either((M64)(x < -25), far, near);
}

/* The same steps in floats, whose ends lie nearer. Beyond 20 the result is x to the last bit. */
ALWAYS_INLINE V32 f32_softplus(V32 x) {
    const V32 zero = {0};
    V32 k;
    const sum32 e = exp_of_minus_size(bounded32(x, 30), &k);
    const V32 least = most_of32(zero - 60, k), power = scaled32(e.hi, least);
    sum32 d = fast_sum32(zero + 1, power);
    d.lo += scaled32(e.lo, least);
    const sum32 log = f32_log_of_sum(d), sum = any_sum32(f32_select((M32)(x > 0), x, zero), log.hi);
    /* The same bounds for 24 digits: 20, -10, -104. */
    const V32 near = f32_select((M32)(x > 20), x, sum.hi + (sum.lo + log.lo));
    const V32 far = scaled_unless32(x, -104, e.hi + madd32(-0.5f * power, e.hi, e.lo), k);
    return f32_select((M32)(x < -10), far, near);
}

#endif
