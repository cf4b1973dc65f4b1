/* x y + z in vectors: one instruction and one rounding where the set has it (VECTOR_FMA), two elsewhere; the flags of
 * the build leave products and sums apart, so it is written out. The machine's intrinsics come from here. What needs
 * the product's own error has forms for both in exact.h and single.h. */
#ifndef LAM_KERNELS_SIMD_FUSED_H
#define LAM_KERNELS_SIMD_FUSED_H

#include "lib/kernels/simd/vector.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
/* A promise of one rounding, on which products kept exactly rely. */
#define VECTOR_FMA 1
#endif

/* By intrinsics, since __builtin_fma takes numbers only and the compiler may not join products and sums by itself
 * (-ffp-contract=off). The last form rounds twice: who relies on one rounding asks for VECTOR_FMA. AVX2 stands for FMA
 * here: x86-64-v3 has both. */
#if defined(__AVX512F__)
ALWAYS_INLINE V64 madd(V64 x, V64 y, V64 z) {
    return (V64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
}
ALWAYS_INLINE V32 madd32(V32 x, V32 y, V32 z) {
    return (V32)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
}
#elif defined(__AVX2__)
/* The names of vectors are the compiler's, so casts cost nothing. */
ALWAYS_INLINE V64 madd(V64 x, V64 y, V64 z) {
    return (V64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
}
ALWAYS_INLINE V32 madd32(V32 x, V32 y, V32 z) {
    return (V32)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
}
#elif defined(__aarch64__)
/* NEON's first operand is what is added to. */
ALWAYS_INLINE V64 madd(V64 x, V64 y, V64 z) {
    return (V64)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
}
ALWAYS_INLINE V32 madd32(V32 x, V32 y, V32 z) {
    return (V32)vfmaq_f32((float32x4_t)z, (float32x4_t)x, (float32x4_t)y);
}
#else
ALWAYS_INLINE V64 madd(V64 x, V64 y, V64 z) {
    return x * y + z;
}
ALWAYS_INLINE V32 madd32(V32 x, V32 y, V32 z) {
    return x * y + z;
}
#endif

#endif
