/* The first lanes of a vector, at least one of them: load_ gives zeros in the others, store_ writes no others; nothing
 * else in memory is touched. Loops over rows of any length end in such a part, and behind it lies the next row or the
 * end of the memory. With all lanes it is the plain load or store. */
#ifndef LAM_KERNELS_SIMD_FIRST_H
#define LAM_KERNELS_SIMD_FIRST_H

#include "lib/kernels/simd/fused.h"

#if defined(__AVX512F__)
/* A mask register has a bit for each lane. Bits of lanes 0 to lanes - 1 are set. */
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    return (V64)_mm512_maskz_loadu_pd((__mmask8)((1u << lanes) - 1), from);
}
/* Lanes that are left out are not touched in memory. So the end of a page may lie between them. */
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << lanes) - 1), (__m512d)v);
}
/* The same of sixteen lanes. */
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    return (V32)_mm512_maskz_loadu_ps((__mmask16)((1u << lanes) - 1), from);
}
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << lanes) - 1), (__m512)v);
}
#elif defined(__AVX2__)
/* Masks of AVX2 are vectors: what counts is the sign of each lane, set where its number is below the count. */
ALWAYS_INLINE __m256i first_f64(int lanes) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), _mm256_setr_epi64x(0, 1, 2, 3));
}
/* The same of eight lanes. */
ALWAYS_INLINE __m256i first_f32(int lanes) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
/* Lanes beyond the mask are zeros and are not read. */
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    return (V64)_mm256_maskload_pd(from, first_f64(lanes));
}
/* Masked stores take six to twelve cycles on AMD's machines without AVX-512. Parts of a vector take one each, and which
 * parts these are is the same from line to line, so branches are foreseen. */
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    if (lanes >= 4) {
        _mm256_storeu_pd(to, (__m256d)v);
        return;
    }
    __m128d part = _mm256_castpd256_pd128((__m256d)v);
    if (lanes & 2) {
        _mm_storeu_pd(to, part);
        part = _mm256_extractf128_pd((__m256d)v, 1);
        to += 2;
    }
    if (lanes & 1) _mm_store_sd(to, part);
}
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    return (V32)_mm256_maskload_ps(from, first_f32(lanes));
}
/* Four of them, two and one. */
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    if (lanes >= 8) {
        _mm256_storeu_ps(to, (__m256)v);
        return;
    }
    __m128 part = _mm256_castps256_ps128((__m256)v);
    if (lanes & 4) {
        _mm_storeu_ps(to, part);
        part = _mm256_extractf128_ps((__m256)v, 1);
        to += 4;
    }
    if (lanes & 2) {
        _mm_storel_pi((__m64 *)(void *)to, part);
        part = _mm_movehl_ps(part, part);
        to += 2;
    }
    if (lanes & 1) _mm_store_ss(to, part);
}
#else
/* Without masks vectors have 16 bytes. Lane by lane; whole ones at once, whatever their alignment. */
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    V64 v = {from[0]};
    if (lanes == LANES64) memcpy(&v, from, sizeof v);
    return v;
}
/* A whole vector would write what belongs to others. */
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    if (lanes == LANES64) memcpy(to, &v, sizeof v);
    else to[0] = v[0];
}
/* As above. Lanes are constants here: one that is not known goes through memory. */
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    V32 v = {from[0]};
    if (lanes == LANES32) memcpy(&v, from, sizeof v);
    else if (lanes == 3) v[1] = from[1], v[2] = from[2];
    else if (lanes == 2) v[1] = from[1];
    return v;
}
/* At most three numbers one by one. */
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    if (lanes == LANES32) {
        memcpy(to, &v, sizeof v);
        return;
    }
    to[0] = v[0];
    if (lanes > 1) to[1] = v[1];
    if (lanes > 2) to[2] = v[2];
}
#endif

#endif
