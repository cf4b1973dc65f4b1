/* atan, atan2, asin and acos of both floating types, below 1 ULP: the first two (0.51) by one division, a table of
 * sixteen arcs and a short polynomial for all arguments, so that no lane waits for another, and not of a rounded
 * quotient; the others by a polynomial and a root whose rest is kept. The steps are in atan_type.h and asin_type.h, one
 * text for both types; here are the constants of each. */
#ifndef LAM_KERNELS_SIMD_ATAN_H
#define LAM_KERNELS_SIMD_ATAN_H

/* ARC is (atan(r) - r) / r^3 in r^2, for what the table leaves; ARCSINE is (asin(r) - r) / r^3 in r^2. */
#include "lib/kernels/simd/single.h"

/* What is not in range, or nearly all of one operand, by libm in long double. The quotient of such operands may
 * underflow, or its inverse overflow, though the arc is a number. */
static __attribute__((noinline)) V64 f64_atan2_rare(V64 r, V64 y, V64 x, M64 where) {
    return f64_patched2(r, y, x, where, atan2l);
}

/* The arc that the table leaves is below 1/28, so few terms are enough. */
#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define NAME(x) f64_##x
#define OWN(x)  x
#define ANY     any64
#define TABLE   lam__table_atan
#define ARC                                                                                                            \
    { 0x1.c5f4a73060744p-4, -0x1.2492209961b37p-3, 0x1.999999953808dp-3, -0x1.5555555555428p-2 }
/* pi as a sum of two. */
#define HALF_TURN                                                                                                      \
    { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 }
/* From FLAT on 1/x is less than half an ulp of pi/2. SAFE bounds both operands of atan2, so that products of two of
 * them are numbers. */
#define FLAT 0x1p56
#define SAFE 0x1p400
#include "lib/kernels/simd/atan_type.h"

/* In doubles all floats are in range. */
static __attribute__((noinline)) V32 f32_atan2_rare(V32 r, V32 y, V32 x, M32 where) {
    return f32_select(where, f32_through2(y, x, f64_atan2), r);
}

#define T       float
#define V       V32
#define M       M32
#define SUM     sum32
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define ANY     any32
#define TABLE   lam__single_atan
#define ARC                                                                                                            \
    { 0x1.99999ap-3f, -0x1.555556p-2f }
#define HALF_TURN                                                                                                      \
    { 0x1.921fb6p+1f, -0x1.777a5cp-24f }
#define FLAT 0x1p27f
#define SAFE 0x1p50f
#include "lib/kernels/simd/atan_type.h"

/* ---- asin, acos ------------------------------------------------------------------------------------------------- */

#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define NAME(x) f64_##x
#define OWN(x)  x
/* From the highest power down, minimax for |x| up to 1/2. f64 needs thirteen terms for 53 digits, f32 five for 24. */
#define ARCSINE                                                                                                        \
    {                                                                                                                  \
        0x1.0bb1773a61199p-5, -0x1.59593237855a5p-6, 0x1.64970643036bp-6, 0x1.e2ac415b90a83p-9, 0x1.61757bde74807p-7,  \
            0x1.757b2238daaa4p-7, 0x1.ca20db80e4abbp-7, 0x1.1c49e207228d5p-6, 0x1.6e8bdfb3251b6p-6,                    \
            0x1.f1c71a8d2eb25p-6, 0x1.6db6db722816ap-5, 0x1.333333332df42p-4, 0x1.5555555555578p-3                     \
    }
#define HALF_TURN                                                                                                      \
    { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 }
#include "lib/kernels/simd/asin_type.h"

#define T       float
#define V       V32
#define M       M32
#define SUM     sum32
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define ARCSINE                                                                                                        \
    { 0x1.59c6c8p-5f, 0x1.8bbb98p-6f, 0x1.74899cp-5f, 0x1.33016ep-4f, 0x1.5555cap-3f }
#define HALF_TURN                                                                                                      \
    { 0x1.921fb6p+1f, -0x1.777a5cp-24f }
#include "lib/kernels/simd/asin_type.h"

#endif
