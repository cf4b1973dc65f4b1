/* What the elementary functions as vector functions, f64_exp(V64), f32_exp(V32) and so on, share. What holds for all:
 * the largest error is below 1 ULP (tests/kernels measures it against MPFR), special values are those of Annex F, and
 * no lane depends on another. Rare arguments lean on a long double of 64 bits or more; where it has fewer, they lose
 * their last digits. */
#ifndef LAM_KERNELS_SIMD_VMATH_H
#define LAM_KERNELS_SIMD_VMATH_H

#include <math.h>

#include "lib/kernels/simd/exact.h"

/* Whether any lane is set: what decides that a whole vector takes a long way. A long way gives each lane what it would
 * have had in any other company. */
ALWAYS_INLINE bool any64(M64 mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask);
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#elif defined(__SSE2__)
    return _mm_movemask_epi8((__m128i)mask);
#elif defined(__aarch64__)
    return vmaxvq_u32((uint32x4_t)mask);
#else
    return mask[0] | mask[1];
#endif
}
/* Masks are all ones or all zeros, whatever the width of lanes. */
ALWAYS_INLINE bool any32(M32 mask) {
    return any64((M64)mask);
}

/* The sign comes back through a pointer: lgamma itself would write a global. */
static inline long double f64_wide_lgamma(long double x) {
    int sign;
    return lgammal_r(x, &sign);
}

/* TINY: x^2 < a quarter of the rounding unit. */
#define T       double
#define V       V64
#define M       M64
#define W       long double
#define ANY     any64
#define NAME(x) f64_##x
static const double f64_TINY = 0x1p-28;
#include "lib/kernels/simd/vmath_type.h"
#undef T
#undef V
#undef M
#undef W
#undef ANY
#undef NAME

#define T       float
#define V       V32
#define M       M32
#define W       double
#define ANY     any32
#define NAME(x) f32_##x
/* Both types take what vmath_type.h has; W is what rare lanes are computed in. Lanes of floats are done again in
 * double, those of doubles in long double. */
static const float f32_TINY = 0x1p-14f;
#include "lib/kernels/simd/vmath_type.h"
#undef T
#undef V
#undef M
#undef W
#undef ANY
#undef NAME

/* ---- f32 through double ------------------------------------------------------------------------------------ */

/* Half a vector of floats has as many lanes as a vector of doubles. */
typedef float HALF32 __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef union halves {
    V32 whole;
    HALF32 half[2];
} halves;

/* A function of floats by that of doubles, half a vector at a time: one rounding more, which at twice the digits is
 * never seen but where the result lies next to the middle between two floats. f's vectors are half as many lanes, so it
 * runs twice. */
ALWAYS_INLINE V32 f32_through1(V32 x, V64 f(V64)) {
    halves h = {.whole = x};
    for (int i = 0; i < 2; i++) h.half[i] = __builtin_convertvector(f(__builtin_convertvector(h.half[i], V64)), HALF32);
    return h.whole;
}

/* The same of two operands, and below of three. Results are narrowed by the hardware's rounding to nearest. */
ALWAYS_INLINE V32 f32_through2(V32 x, V32 y, V64 f(V64, V64)) {
    halves h = {.whole = x}, k = {.whole = y};
    for (int i = 0; i < 2; i++) {
        V64 a = __builtin_convertvector(h.half[i], V64), b = __builtin_convertvector(k.half[i], V64);
        h.half[i] = __builtin_convertvector(f(a, b), HALF32);
    }
    return h.whole;
}

ALWAYS_INLINE V32 f32_through3(V32 x, V32 y, V32 z, V64 f(V64, V64, V64)) {
    halves h = {.whole = x}, k = {.whole = y}, l = {.whole = z};
    for (int i = 0; i < 2; i++) {
        V64 a = __builtin_convertvector(h.half[i], V64), b = __builtin_convertvector(k.half[i], V64);
        h.half[i] = __builtin_convertvector(f(a, b, __builtin_convertvector(l.half[i], V64)), HALF32);
    }
    return h.whole;
}

#endif
