/* Elements in lanes wider than they are, for sums that do not wrap. Static helpers only. */
#ifndef LAM_REDUCE_WIDENED_H
#define LAM_REDUCE_WIDENED_H

#include "lib/kernels/reduce_vectors.h"

/* As many elements as there are words in a vector, each in a word. */
#define NUMBER(i, h) x[i]
ALWAYS_INLINE M64 widened_u8(const uint8_t *x) {
#if defined(__AVX512F__)
    return (M64)_mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)x));
#elif defined(__AVX2__)
    int four;
    memcpy(&four, x, sizeof four);
    return (M64)_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
#else
    return (M64){LIST64(NUMBER, 0)};
#endif
}

ALWAYS_INLINE M64 widened_u16(const uint16_t *x) {
#if defined(__AVX512F__)
    return (M64)_mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)(const void *)x));
#elif defined(__AVX2__)
    return (M64)_mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)(const void *)x));
#else
    return (M64){LIST64(NUMBER, 0)};
#endif
}

ALWAYS_INLINE M64 widened_i32(const int32_t *x) {
#if defined(__AVX512F__)
    return (M64)_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)x));
#elif defined(__AVX2__)
    return (M64)_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)(const void *)x));
#else
    return (M64){LIST64(NUMBER, 0)};
#endif
}

/* As many elements as a vector has lanes of twice as many bits, or of i64. */
typedef uint16_t pair_vec __attribute__((vector_size(VECTOR_BYTES)));
ALWAYS_INLINE pair_vec lanes_u8(const uint8_t *x) {
#if defined(__AVX512BW__)
    return (pair_vec)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)x));
#elif defined(__AVX2__)
    return (pair_vec)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)x));
#elif defined(__SSE2__)
    return (pair_vec)_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(const void *)x), _mm_setzero_si128());
#else
    pair_vec v;
    for (int i = 0; i < VECTOR_BYTES / 2; i++) v[i] = x[i];
    return v;
#endif
}

ALWAYS_INLINE M64 lanes_i32(const int32_t *x) {
    return widened_i32(x);
}

/* The highest bits of both halves of a word: turned round, they make numbers without a sign of i32. */
#define TWO_SIGNS UINT64_C(0x8000000080000000)

/* What is read at once, summed into words: the bytes of each, or as many i32 as there are. Only `keep` counts. */
ALWAYS_INLINE U64 word_sums_u8(const uint8_t *x, U64 keep) {
    return sums_of_bytes((U64) * (const word_vec *)(const void *)x & keep);
}

ALWAYS_INLINE U64 word_sums_i32(const int32_t *x, U64 keep) {
    return (U64)widened_i32(x) & keep;
}

/* A vector whose words are sums: of bytes, of which `keep` counts; of two i32. */
ALWAYS_INLINE U64 pair_sums_u8(const uint8_t *x, U64 keep) {
    return word_sums_u8(x, keep);
}

ALWAYS_INLINE U64 pair_sums_i32(const int32_t *x, __attribute__((unused)) U64 keep) {
    const U64 v = (U64) * (const word_vec *)(const void *)x ^ TWO_SIGNS;
    return (v & UINT32_MAX) + (v >> 32) - (UINT64_C(1) << 32);
}

#endif
