/* atan and atan2 of both floating types, below 1 ULP (most at 0.55): one division, a table of sixteen arcs and a short
 * polynomial for all arguments, so that no lane waits for another; atan2 is not made of a rounded quotient. */
#ifndef LAM_KERNELS_SIMD_ATAN_H
#define LAM_KERNELS_SIMD_ATAN_H

#include "lib/kernels/simd/single.h"

/* x / y as a sum whose second part need not have many digits. */
ALWAYS_INLINE sum64 ratio(sum64 x, sum64 y) {
    return quotient(x, y);
}
ALWAYS_INLINE sum32 ratio32(sum32 x, sum32 y) {
    const V32 inverse = inverse32(y.hi), q = x.hi * inverse;
    return (sum32){q, (fused32(-q, y.hi, x.hi) + madd32(-q, y.lo, x.lo)) * inverse};
}

/* What is not in range, or nearly all of one operand, by libm in long double. */
static __attribute__((noinline)) V64 f64_atan2_rare(V64 r, V64 y, V64 x, M64 where) {
    return f64_patched2(r, y, x, where, atan2l);
}

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
#define HALF_TURN                                                                                                      \
    { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 }
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

#endif
