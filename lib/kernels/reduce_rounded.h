/* i64 that become f64: while they are read, as for their mean, which is what reduce_type.h needs to read them; and sums
 * that become means. Each is rounded once, to even, by every instruction set. Nothing is filled up with -0, since no
 * such number becomes that. Static helpers only. */
#ifndef LAM_REDUCE_ROUNDED_H
#define LAM_REDUCE_ROUNDED_H

#include "lib/kernels/reduce_vectors.h"
#include "lib/kernels/simd/fused.h"

/* Without an instruction: 2^52 and the lower half is a double, and so is 2^84 and the upper half in units of 2^32, of
 * which 2^63 stands for 0. Their difference to these powers is exact, so their sum is rounded once. */
ALWAYS_INLINE V64 rounded(U64 v) {
#if defined(__AVX512DQ__)
    return (V64)_mm512_cvtepi64_pd((__m512i)v);
#else
    const U64 low = (v & UINT32_MAX) | UINT64_C(0x4330000000000000);
    const U64 high = ((v ^ UINT64_C(1) << 63) >> 32) | UINT64_C(0x4530000000000000);
    return ((V64)high - (0x1p84 + 0x1p63 + 0x1p52)) + (V64)low;
#endif
}

/* x / n without a division, which takes as long as all else does, for whole x and n, n < 2^51. Let Q = x / n, u the
 * distance of doubles there, r the rounded reciprocal of n, (1 + d) / n with |d| <= 2^-53. But for a power of 2, x has
 * no more than 53 bits, so that u is at most 1. q = x r, rounded, is within 2 u of Q; x - n q is a multiple of u / 2,
 * no more than 4 n of these, which a double holds: it is exact. q + (x - n q) r = Q + (q - Q) d, within 2^-52 u of Q,
 * is what the last operation rounds. A middle between two doubles has 54 bits, and times n no fewer, so it is not Q; it
 * differs from it by a multiple of u / (2 n), which is more than 2^-52 u. So the rounding is that of Q. */
ALWAYS_INLINE V64 share(V64 x, double n, double r) {
#if defined(VECTOR_FMA)
    const V64 zero = {0}, q = x * r;
    return madd(madd(q, zero - n, x), zero + r, q);
#else
    (void)r;
    return x / n;
#endif
}

/* As first_of and spread of reduce_vectors.h. */
#if defined(__AVX512F__)
ALWAYS_INLINE V64 first_of_r64(int64_t n, const int64_t *x, double none) {
    const __mmask8 have = (__mmask8)(n >= LANES64 ? 0xff : n > 0 ? (1u << n) - 1 : 0);
    (void)none;
    return rounded((U64)_mm512_maskz_loadu_epi64(have, x));
}

ALWAYS_INLINE V64 spread_r64(int size, int64_t n, const int64_t *x, int64_t step, double none) {
    const __mmask8 have = (__mmask8)((1u << n) - 1);
    const __m256i low = _mm256_maskz_loadu_epi64(have, x), high = _mm256_maskz_loadu_epi64(have, x + step);
    (void)size, (void)none;
    return rounded((U64)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}
#elif defined(__AVX2__)
ALWAYS_INLINE V64 first_of_r64(int64_t n, const int64_t *x, double none) {
    const __m256i have = _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
    (void)none;
    return rounded((U64)_mm256_maskload_epi64((const long long *)x, have));
}
#else
ALWAYS_INLINE V64 first_of_r64(int64_t n, const int64_t *x, double none) {
    (void)none;
    return (V64){n > 0 ? (double)x[0] : 0, n > 1 ? (double)x[1] : 0};
}
#endif

#endif
