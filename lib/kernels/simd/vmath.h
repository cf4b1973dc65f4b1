/* What the elementary functions as vector functions, f64_exp(V64), f32_exp(V32) and so on, share, and hypot, which is
 * SLEEF's. What holds for every one: the largest error is below 1 ULP (tests/kernels measures it against MPFR), special
 * values are those of Annex F, and no lane depends on another.
 * x86-64 and AArch64 only: rare arguments lean on a long double of 64 bits or more. */
#ifndef LAM_KERNELS_SIMD_VMATH_H
#define LAM_KERNELS_SIMD_VMATH_H

#include <math.h>
#include <sleef.h>

#include "lib/kernels/simd/exact.h"

#if defined(__AVX512F__)
#define SLEEF_HYPOT Sleef_hypotd8_u05avx512f
ALWAYS_INLINE bool any64(M64 mask) {
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask);
}
ALWAYS_INLINE bool any32(M32 mask) {
    return any64((M64)mask);
}
#elif defined(__AVX2__)
#define SLEEF_HYPOT Sleef_hypotd4_u05avx2
ALWAYS_INLINE bool any64(M64 mask) {
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
}
ALWAYS_INLINE bool any32(M32 mask) {
    return any64((M64)mask);
}
#elif defined(__aarch64__)
#define SLEEF_HYPOT Sleef_hypotd2_u05advsimd
ALWAYS_INLINE bool any64(M64 mask) {
    return vmaxvq_u32((uint32x4_t)mask);
}
ALWAYS_INLINE bool any32(M32 mask) {
    return any64((M64)mask);
}
#else
#define SLEEF_HYPOT Sleef_hypotd2_u05sse2
ALWAYS_INLINE bool any64(M64 mask) {
    return _mm_movemask_epi8((__m128i)mask);
}
ALWAYS_INLINE bool any32(M32 mask) {
    return any64((M64)mask);
}
#endif

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
static const float f32_TINY = 0x1p-14f;
#include "lib/kernels/simd/vmath_type.h"
#undef T
#undef V
#undef M
#undef W
#undef ANY
#undef NAME

/* ---- f64 alone --------------------------------------------------------------------------------------------- */

ALWAYS_INLINE V64 f64_hypot(V64 x, V64 y) {
    return SLEEF_HYPOT(x, y);
}

/* ---- f32 through double ------------------------------------------------------------------------------------ */

typedef float HALF32 __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef union halves {
    V32 whole;
    HALF32 half[2];
} halves;

ALWAYS_INLINE V32 f32_through1(V32 x, V64 f(V64)) {
    halves h = {.whole = x};
    for (int i = 0; i < 2; i++) h.half[i] = __builtin_convertvector(f(__builtin_convertvector(h.half[i], V64)), HALF32);
    return h.whole;
}

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

/* No square of a float is too large or too small for a double. */
ALWAYS_INLINE V64 quick_hypot(V64 x, V64 y) {
    const V64 root = root64(x * x + y * y), zero = {0};
    const M64 infinite = (M64)(f64_magnitude(x) == INFINITY) | (M64)(f64_magnitude(y) == INFINITY);
    return f64_select(infinite, zero + INFINITY, root);
}

ALWAYS_INLINE V32 f32_hypot(V32 x, V32 y) {
    return f32_through2(x, y, quick_hypot);
}

#endif
