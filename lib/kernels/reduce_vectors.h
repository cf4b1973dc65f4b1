/* Vectors as the reductions need them (reduce_simd.c, reduce_simd_integers.c): the greater and the lesser of two, where
 * they are equal, how rows lie side by side in them, and words of bytes. Each set has its own instructions where
 * compilers do not see them in the general form. Static helpers only. */
#ifndef LAM_REDUCE_VECTORS_H
#define LAM_REDUCE_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/kernels/simd/lists.h"
#include "lib/kernels/simd/vector.h"

/* ---- the instructions that choose the greater or the lesser of two -------------------------------------------- */

#if defined(__SSE2__)
#include <immintrin.h>
#define FLOATS_ORDERED 1
#if defined(__AVX512F__)
/* A mask in a common register. GCC 12 may widen one where it is, store a byte of that when registers are short, and
 * read back all eight. */
ALWAYS_INLINE unsigned mask_bits(unsigned mask) {
    __asm__("" : "+r"(mask));
    return mask;
}

#define INTRINSIC(op, type)    _mm512_##op##_##type
#define UNORDERED(a, b, type)  (unsigned)_mm512_cmp_##type##_mask(a, b, _CMP_UNORD_Q)
#define EQUAL(a, b, type)      mask_bits(_mm512_cmp_##type##_mask(a, b, _CMP_EQ_OQ))
#define ABOVE(a, b, type, n)   _mm512_movm_epi##n(_mm512_cmp_##type##_mask(a, b, _CMP_GT_OQ))
#define OR_NAN(op, a, b, type) _mm512_mask_##op##_##type(a, _mm512_cmp_##type##_mask(a, a, _CMP_ORD_Q), a, b)
#elif defined(__AVX2__)
#define INTRINSIC(op, type)   _mm256_##op##_##type
#define UNORDERED(a, b, type) (unsigned)_mm256_movemask_##type(_mm256_cmp_##type(a, b, _CMP_UNORD_Q))
#define EQUAL(a, b, type)     (unsigned)_mm256_movemask_##type(_mm256_cmp_##type(a, b, _CMP_EQ_OQ))
#define ABOVE(a, b, type, n)  _mm256_cmp_##type(a, b, _CMP_GT_OQ)
#define OR_NAN(op, a, b, type)                                                                                         \
    _mm256_blendv_##type(_mm256_##op##_##type(a, b), a, _mm256_cmp_##type(a, a, _CMP_UNORD_Q))
#else
#define INTRINSIC(op, type)   _mm_##op##_##type
#define UNORDERED(a, b, type) (unsigned)_mm_movemask_##type(_mm_cmpunord_##type(a, b))
#define EQUAL(a, b, type)     (unsigned)_mm_movemask_##type(_mm_cmpeq_##type(a, b))
#define ABOVE(a, b, type, n)  _mm_cmpgt_##type(a, b)
#define OR_NAN(op, a, b, type)                                                                                         \
    _mm_or_##type(_mm_and_##type(_mm_cmpunord_##type(a, a), a),                                                        \
                  _mm_andnot_##type(_mm_cmpunord_##type(a, a), _mm_##op##_##type(a, b)))
#endif

/* greater, less: the instruction, which gives b where either is NaN, for loops that look for NaN apart and go again if
 * there was one. greatest, least: NaN where either is; x86 gives the second operand then, hence the mask of the first.
 * equal_in: a bit for each lane. greater_in: a mask. */
/* clang-format off */
ALWAYS_INLINE V64 greater_f64(V64 a, V64 b) { return (V64)INTRINSIC(max, pd)(a, b); }
ALWAYS_INLINE V64 less_f64(V64 a, V64 b) { return (V64)INTRINSIC(min, pd)(a, b); }
ALWAYS_INLINE V64 greatest_f64(V64 a, V64 b) { return (V64)OR_NAN(max, a, b, pd); }
ALWAYS_INLINE V64 least_f64(V64 a, V64 b) { return (V64)OR_NAN(min, a, b, pd); }
ALWAYS_INLINE unsigned either_is_nan_f64(V64 a, V64 b) { return UNORDERED(a, b, pd); }
ALWAYS_INLINE unsigned equal_in_f64(V64 a, V64 b) { return EQUAL(a, b, pd); }
ALWAYS_INLINE M64 greater_in_f64(V64 a, V64 b) { return (M64)ABOVE(a, b, pd, 64); }
ALWAYS_INLINE V32 greater_f32(V32 a, V32 b) { return (V32)INTRINSIC(max, ps)(a, b); }
ALWAYS_INLINE V32 less_f32(V32 a, V32 b) { return (V32)INTRINSIC(min, ps)(a, b); }
ALWAYS_INLINE V32 greatest_f32(V32 a, V32 b) { return (V32)OR_NAN(max, a, b, ps); }
ALWAYS_INLINE V32 least_f32(V32 a, V32 b) { return (V32)OR_NAN(min, a, b, ps); }
ALWAYS_INLINE unsigned either_is_nan_f32(V32 a, V32 b) { return UNORDERED(a, b, ps); }
ALWAYS_INLINE unsigned equal_in_f32(V32 a, V32 b) { return EQUAL(a, b, ps); }
ALWAYS_INLINE M32 greater_in_f32(V32 a, V32 b) { return (M32)ABOVE(a, b, ps, 32); }
/* clang-format on */
#else
#define FLOATS_ORDERED 0
/* clang-format off */
ALWAYS_INLINE uint64_t lanes_set(M64 v, int size) {
    uint64_t bits = 0;
    for (int k = 0; k < VECTOR_BYTES / size; k++) bits |= (uint64_t)(((const char *)&v)[k * size] & 1) << k;
    return bits;
}
ALWAYS_INLINE uint64_t equal_in_f64(V64 a, V64 b) { return lanes_set((M64)(a == b), 8); }
ALWAYS_INLINE uint64_t equal_in_f32(V32 a, V32 b) { return lanes_set((M64)(a == b), 4); }
/* clang-format on */
#endif

/* Where no lane equals the best there was a NaN, and what is found is of no use; it changes nothing where one does. */
#define NONE_EQUAL (UINT64_C(1) << 63)

/* ---- lists of lanes -------------------------------------------------------------------------------------------- */

/* Of 2 or 3 vectors with rows of 3 elements side by side: element h of row i is in the first two, or in the third. A
 * shuffle has two operands, so three vectors take two steps: FIRST picks what lies in the first two, SECOND keeps that
 * and adds the rest from the third. */
#define FIRST(i, h)  (3 * (i) + (h) < ROW_PAIR ? 3 * (i) + (h) : 0)
#define SECOND(i, h) (3 * (i) + (h) < ROW_PAIR ? (i) : 3 * (i) + (h)-ROW_PAIR / 2)
#define ROW_PAIR     (2 * VECTOR_BYTES / (int)sizeof(LANE))

/* The even and the odd blocks of `width` lanes of two vectors. */
#define EVEN_BLOCK(i, width) (((i) / (width)*2 * (width) + (i) % (width)) % ROW_PAIR)
#define ODD_BLOCK(i, width)  ((EVEN_BLOCK(i, width) + (width)) % ROW_PAIR)
/* The lane as far from i as two blocks of h lanes are from each other; the number of lane i in its block. */
#define OPPOSITE(i, h) (((i) ^ (h)) % (ROW_PAIR / 2))
#define OWN_LANE(i, h) ((i) % (h))
/* Part h of the pair that lane i belongs to; the highest bit, h, in the lanes of real parts. */
#define PART_OF_PAIR(i, h) ((i) / 2 * 2 + (h))
#define SIGN_OF_PART(i, h) ((i) % 2 ? 0 : (M)((uint64_t)1 << (h)))

/* ---- parts of vectors ------------------------------------------------------------------------------------------ */

/* first_of: n elements at x, filled up; nothing behind them is read. spread: LANES / size rows of n elements, `step`
 * from each other, each filled up to `size` elements; of the sizes that occur. n may be negative or more than a vector
 * has. Masked loads do not touch memory that they leave out, so a row may end where a page does. */
#if defined(__AVX512F__)
ALWAYS_INLINE V64 first_of_f64(int64_t n, const double *x, double none) {
    const __mmask8 have = (__mmask8)(n >= LANES64 ? 0xff : n > 0 ? (1u << n) - 1 : 0);
    return (V64)_mm512_mask_loadu_pd(_mm512_set1_pd(none), have, x);
}

ALWAYS_INLINE V32 first_of_f32(int64_t n, const float *x, float none) {
    const __mmask16 have = (__mmask16)(n >= LANES32 ? 0xffff : n > 0 ? (1u << n) - 1 : 0);
    return (V32)_mm512_mask_loadu_ps(_mm512_set1_ps(none), have, x);
}

ALWAYS_INLINE V64 spread_f64(int size, int64_t n, const double *x, int64_t step, double none) {
    const __mmask8 have = (__mmask8)((1u << n) - 1);
    const __m256d low = _mm256_mask_loadu_pd(_mm256_set1_pd(none), have, x);
    (void)size;
    return (V64)_mm512_insertf64x4(_mm512_castpd256_pd512(low),
                                   _mm256_mask_loadu_pd(_mm256_set1_pd(none), have, x + step), 1);
}

ALWAYS_INLINE __m256 eight_f32(int size, __mmask8 have, const float *x, int64_t step, float none) {
    if (size == 8) return _mm256_mask_loadu_ps(_mm256_set1_ps(none), have, x);
    const __m128 low = _mm_mask_loadu_ps(_mm_set1_ps(none), have, x);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), _mm_mask_loadu_ps(_mm_set1_ps(none), have, x + step), 1);
}

ALWAYS_INLINE V32 spread_f32(int size, int64_t n, const float *x, int64_t step, float none) {
    const __mmask8 have = (__mmask8)((1u << n) - 1);
    const __m256 low = eight_f32(size, have, x, step, none),
                 high = eight_f32(size, have, x + 8 / size * step, step, none);
    return (V32)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}
#elif defined(__AVX2__)
ALWAYS_INLINE V64 first_of_f64(int64_t n, const double *x, double none) {
    const __m256i have = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    return (V64)_mm256_blendv_pd(_mm256_set1_pd(none), _mm256_maskload_pd(x, have), (__m256d)have);
}

ALWAYS_INLINE V32 first_of_f32(int64_t n, const float *x, float none) {
    const __m256i have =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n < 8 ? (int)n : 8), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return (V32)_mm256_blendv_ps(_mm256_set1_ps(none), _mm256_maskload_ps(x, have), (__m256)have);
}

ALWAYS_INLINE V32 spread_f32(int size, int64_t n, const float *x, int64_t step, float none) {
    const __m128i have = _mm_cmpgt_epi32(_mm_set1_epi32((int)n), _mm_setr_epi32(0, 1, 2, 3));
    const __m128 fill = _mm_set1_ps(none), low = _mm_blendv_ps(fill, _mm_maskload_ps(x, have), (__m128)have);
    (void)size;
    return (V32)_mm256_insertf128_ps(_mm256_castps128_ps256(low),
                                     _mm_blendv_ps(fill, _mm_maskload_ps(x + step, have), (__m128)have), 1);
}
#else
ALWAYS_INLINE V64 first_of_f64(int64_t n, const double *x, double none) {
    return (V64){n > 0 ? x[0] : none, n > 1 ? x[1] : none};
}

ALWAYS_INLINE V32 first_of_f32(int64_t n, const float *x, float none) {
    return (V32){n > 0 ? x[0] : none, n > 1 ? x[1] : none, n > 2 ? x[2] : none, n > 3 ? x[3] : none};
}
#endif
/* Where a row has at least as many elements as a vector there are no rows to spread. */
#define SPREAD64 (VECTOR_BYTES > 32)
#define SPREAD32 (VECTOR_BYTES > 16)

/* As many rows, `step` bytes from each other, as lie side by side in a vector: 1, 2 or 4, of 16 bytes at least. */
ALWAYS_INLINE U64 rows_beside(int count, const void *x, int64_t step) {
    const char *row = x;
    U64 v;
    (void)count, (void)step;
#if defined(__AVX512F__)
#define QUARTER(i) _mm_loadu_si128((const __m128i *)(const void *)(row + (i)*step))
#define HALF(i)    _mm256_loadu_si256((const __m256i *)(const void *)(row + (i)*step))
    if (count == 4) {
        const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(QUARTER(0)), QUARTER(1), 1),
                      high = _mm256_inserti128_si256(_mm256_castsi128_si256(QUARTER(2)), QUARTER(3), 1);
        return (U64)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    }
    if (count == 2) return (U64)_mm512_inserti64x4(_mm512_castsi256_si512(HALF(0)), HALF(1), 1);
#elif defined(__AVX2__)
#define QUARTER(i) _mm_loadu_si128((const __m128i *)(const void *)(row + (i)*step))
    if (count == 2) return (U64)_mm256_inserti128_si256(_mm256_castsi128_si256(QUARTER(0)), QUARTER(1), 1);
#endif
    memcpy(&v, row, sizeof v);
    return v;
}

/* Layers that lie beside each other in a vector, a row of each: how many, which is a constant of the loop, and how many
 * bytes they are apart. */
typedef struct beside {
    int count;
    int64_t step;
} beside;

static const beside alone = {1, 0};

/* As many layers as have room if each takes so many bytes. */
ALWAYS_INLINE int layers_beside(int64_t bytes) {
    return VECTOR_BYTES > 32 && bytes <= 16 ? 4 : VECTOR_BYTES > 16 && bytes <= VECTOR_BYTES / 2 ? 2 : 1;
}

/* ---- words of bytes ---------------------------------------------------------------------------------------------- */

/* As they lie in memory. */
typedef uint64_t word_vec __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));
typedef uint32_t half_vec __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

ALWAYS_INLINE uint64_t word_at(const char *x) {
    uint64_t word;
    memcpy(&word, x, sizeof word);
    return word;
}

/* Bytes chosen in each 16 of a vector: byte i is that of number turn[i], or 0 where this is negative. */
#if defined(__AVX512BW__)
#define TURNS_BYTES 1
ALWAYS_INLINE U64 turned(U64 v, U64 turn) {
    return (U64)_mm512_shuffle_epi8((__m512i)v, (__m512i)turn);
}
#elif defined(__AVX2__)
#define TURNS_BYTES 1
ALWAYS_INLINE U64 turned(U64 v, U64 turn) {
    return (U64)_mm256_shuffle_epi8((__m256i)v, (__m256i)turn);
}
#else
#define TURNS_BYTES 0
ALWAYS_INLINE U64 turned(U64 v, U64 turn) {
    return v & turn;
}
#endif

/* Lanes of 32 bits: i is that of number at[i]. */
ALWAYS_INLINE U64 lanes_moved(U64 v, U64 at) {
#if defined(__AVX512F__)
    return (U64)_mm512_permutexvar_epi32((__m512i)at, (__m512i)v);
#elif defined(__AVX2__)
    return (U64)_mm256_permutevar8x32_epi32((__m256i)v, (__m256i)at);
#else
    half_vec to;
    for (int i = 0; i < LANES32; i++) to[i] = ((half_vec)v)[((half_vec)at)[i]];
    return (U64)to;
#endif
}

/* Of 16 numbers: i is that of number at[i]. */
ALWAYS_INLINE void keys_moved(const uint32_t *key, const uint32_t *at, uint32_t *to) {
#if defined(__AVX512F__)
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(_mm512_loadu_si512(at), _mm512_loadu_si512(key)));
#else
    for (int i = 0; i < 16; i++) to[i] = key[at[i]];
#endif
}

/* Lane i of a vector turned by h words; word k of row i, which lies h bytes behind the one before. */
#define WORD_BEYOND(i, h) (((i) + (h)) % LANES64)
#define WORD_OF_ROW(i, h) word_at(x + (i) * (h) + 8 * k)

/* The words at x, `step` bytes from each other, as many as a vector has. */
ALWAYS_INLINE U64 words_beside(const char *x, int64_t step) {
    const int64_t k = 0;
    return (U64){LIST64(WORD_OF_ROW, step)};
}

/* The sum of the eight bytes of each word. */
ALWAYS_INLINE U64 sums_of_bytes(U64 v) {
#if defined(__AVX512BW__)
    return (U64)_mm512_sad_epu8((__m512i)v, _mm512_setzero_si512());
#elif defined(__AVX2__)
    return (U64)_mm256_sad_epu8((__m256i)v, _mm256_setzero_si256());
#elif defined(__SSE2__)
    return (U64)_mm_sad_epu8((__m128i)v, _mm_setzero_si128());
#else
    const uint64_t even = 0x00ff00ff00ff00ff, first = 0x0001000100010001;
    return (((v & even) + (v >> 8 & even)) * first) >> 48;
#endif
}

/* The first byte of each word in all of its bytes. */
ALWAYS_INLINE U64 first_byte_in_all(U64 v) {
#if defined(__AVX512BW__)
    return (U64)_mm512_shuffle_epi8((__m512i)v, _mm512_set4_epi32(0x08080808, 0x08080808, 0, 0));
#else
    v &= 0xff;
    v |= v << 8;
    v |= v << 16;
    return v | v << 32;
#endif
}

/* A bit for each lane: whether elements are equal. */
#if defined(__AVX512BW__)
#define LANES_EQUAL(a, b, n) LANES_EQUAL_##n(_mm512_cmpeq_epi##n##_mask((__m512i)(a), (__m512i)(b)))
#define LANES_EQUAL_64(mask) mask_bits(mask)
#define LANES_EQUAL_32(mask) mask_bits(mask)
#define LANES_EQUAL_8(mask)  (mask)
#elif defined(__AVX2__)
#define LANES_EQUAL(a, b, n) LANES_EQUAL_##n(_mm256_cmpeq_epi##n((__m256i)(a), (__m256i)(b)))
#define LANES_EQUAL_64(v)    (unsigned)_mm256_movemask_pd((__m256d)(v))
#define LANES_EQUAL_32(v)    (unsigned)_mm256_movemask_ps((__m256)(v))
#define LANES_EQUAL_8(v)     (unsigned)_mm256_movemask_epi8(v)
#elif defined(__SSE2__)
#define LANES_EQUAL(a, b, n) LANES_EQUAL_##n(a, b)
#define LANES_EQUAL_64(a, b) (unsigned)_mm_movemask_pd((__m128d)((M64)(a) == (M64)(b)))
#define LANES_EQUAL_32(a, b) (unsigned)_mm_movemask_ps((__m128)_mm_cmpeq_epi32((__m128i)(a), (__m128i)(b)))
#define LANES_EQUAL_8(a, b)  (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)(a), (__m128i)(b)))
#else
typedef uint8_t bytes_vec __attribute__((vector_size(VECTOR_BYTES)));
#define LANES_EQUAL(a, b, n) LANES_EQUAL_##n(a, b)
#define LANES_EQUAL_64(a, b) lanes_set((M64)((M64)(a) == (M64)(b)), 8)
#define LANES_EQUAL_32(a, b) lanes_set((M64)((M32)(a) == (M32)(b)), 4)
#define LANES_EQUAL_8(a, b)  lanes_set((M64)((bytes_vec)(a) == (bytes_vec)(b)), 1)
#endif

/* clang-format off */
ALWAYS_INLINE uint64_t equal_in_i64(U64 a, U64 b) { return LANES_EQUAL(a, b, 64); }
ALWAYS_INLINE uint64_t equal_in_i32(U64 a, U64 b) { return LANES_EQUAL(a, b, 32); }
ALWAYS_INLINE uint64_t equal_in_u8(U64 a, U64 b) { return LANES_EQUAL(a, b, 8); }
/* clang-format on */

/* A bit for each byte of v, the first in memory lowest: its highest. */
ALWAYS_INLINE uint64_t high_bits(U64 v) {
#if defined(__AVX512BW__)
    return _mm512_movepi8_mask((__m512i)v);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8((__m256i)v);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)v);
#else
    uint64_t bits = 0;
    for (int k = 0; k < VECTOR_BYTES; k++) bits |= (uint64_t)(((const uint8_t *)&v)[k] >> 7) << k;
    return bits;
#endif
}

/* The greater or the lesser of integers, for sets that have the instruction for all of them. */
#if defined(__AVX512BW__)
#define INTEGERS_ORDERED 1
/* clang-format off */
ALWAYS_INLINE U64 greater_i64(U64 a, U64 b) { return (U64)_mm512_max_epi64((__m512i)a, (__m512i)b); }
ALWAYS_INLINE U64 less_i64(U64 a, U64 b) { return (U64)_mm512_min_epi64((__m512i)a, (__m512i)b); }
ALWAYS_INLINE U64 greater_i32(U64 a, U64 b) { return (U64)_mm512_max_epi32((__m512i)a, (__m512i)b); }
ALWAYS_INLINE U64 less_i32(U64 a, U64 b) { return (U64)_mm512_min_epi32((__m512i)a, (__m512i)b); }
ALWAYS_INLINE U64 greater_u8(U64 a, U64 b) { return (U64)_mm512_max_epu8((__m512i)a, (__m512i)b); }
ALWAYS_INLINE U64 less_u8(U64 a, U64 b) { return (U64)_mm512_min_epu8((__m512i)a, (__m512i)b); }
/* clang-format on */
#else
#define INTEGERS_ORDERED 0
#endif

/* where, but number in the lanes in which a > b: with masks of bits, which compilers do not see in the general form. */
#if defined(__AVX512BW__)
#define NUMBERED(where, greater, number, n) _mm512_mask_mov_epi##n((__m512i)(where), greater, (__m512i)(number))
#define GREATER_IN(a, b, type)              _mm512_cmpgt_##type##_mask((__m512i)(a), (__m512i)(b))
#define GREATER_FLOATS(a, b, type)          _mm512_cmp_##type##_mask(a, b, _CMP_GT_OQ)

ALWAYS_INLINE U64 numbered_f64(V64 a, V64 b, U64 number, U64 where) {
    return (U64)NUMBERED(where, GREATER_FLOATS(a, b, pd), number, 64);
}

ALWAYS_INLINE U64 numbered_f32(V32 a, V32 b, U64 number, U64 where) {
    return (U64)NUMBERED(where, GREATER_FLOATS(a, b, ps), number, 32);
}

ALWAYS_INLINE U64 numbered_i64(U64 a, U64 b, U64 number, U64 where) {
    return (U64)NUMBERED(where, GREATER_IN(a, b, epi64), number, 64);
}

ALWAYS_INLINE U64 numbered_i32(U64 a, U64 b, U64 number, U64 where) {
    return (U64)NUMBERED(where, GREATER_IN(a, b, epi32), number, 32);
}

#define LESSER(where, equal, number, n)                                                                                \
    _mm512_mask_min_epi##n((__m512i)(where), equal, (__m512i)(where), (__m512i)(number))
ALWAYS_INLINE U64 lesser_of_equal_f64(V64 a, V64 b, U64 number, U64 where) {
    return (U64)LESSER(where, _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ), number, 64);
}

ALWAYS_INLINE U64 lesser_of_equal_f32(V32 a, V32 b, U64 number, U64 where) {
    return (U64)LESSER(where, _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), number, 32);
}

ALWAYS_INLINE U64 lesser_of_equal_i64(U64 a, U64 b, U64 number, U64 where) {
    return (U64)LESSER(where, _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b), number, 64);
}

ALWAYS_INLINE U64 lesser_of_equal_i32(U64 a, U64 b, U64 number, U64 where) {
    return (U64)LESSER(where, _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b), number, 32);
}

ALWAYS_INLINE U64 lesser_of_equal_u8(U64 a, U64 b, U64 number, U64 where) {
    return (U64)LESSER(where, _mm512_cmpeq_epi8_mask((__m512i)a, (__m512i)b), number, 8);
}

ALWAYS_INLINE U64 numbered_u8(U64 a, U64 b, U64 number, U64 where) {
    return (U64)NUMBERED(where, GREATER_IN(a, b, epu8), number, 8);
}
#endif

/* The first element of each word of v; of each half of a word. */
/* clang-format off */
ALWAYS_INLINE void put_words_i64(U64 v, int64_t *out) { memcpy(out, &v, sizeof v); }
/* clang-format on */
ALWAYS_INLINE void put_words_i32(U64 v, int32_t *out) {
#if defined(__AVX512F__)
    _mm256_storeu_si256((__m256i *)(void *)out, _mm512_cvtepi64_epi32((__m512i)v));
#else
    for (int i = 0; i < LANES64; i++) out[i] = (int32_t)(uint32_t)v[i];
#endif
}

ALWAYS_INLINE void put_words_u8(U64 v, uint8_t *out) {
#if defined(__AVX512F__)
    _mm_storel_epi64((__m128i *)(void *)out, _mm512_cvtepi64_epi8((__m512i)v));
#else
    for (int i = 0; i < LANES64; i++) out[i] = (uint8_t)v[i];
#endif
}

ALWAYS_INLINE void put_halves(U64 v, uint8_t *out) {
#if defined(__AVX512F__)
    _mm_storeu_si128((__m128i *)(void *)out, _mm512_cvtepi32_epi8((__m512i)v));
#else
    for (int i = 0; i < LANES32; i++) out[i] = (uint8_t)((half_vec)v)[i];
#endif
}

#endif
