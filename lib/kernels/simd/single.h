/* f32's own arithmetic: vectors of floats as exact.h has those of doubles. Sums of two floats hold what one loses, and
 * polynomials in pieces pick their coefficients from registers, so that a function of sixteen numbers takes little
 * longer than loading them. single_functions.h says what is made of it. Static helpers only; no lane depends on
 * another. Names are those of exact.h with 32 behind them, so that one text serves both types (OWN in the templates).
 * Tables are sixteen floats a row, which is one register with AVX-512 and two with AVX2; the least set reads them lane
 * by lane. */
#ifndef LAM_KERNELS_SIMD_SINGLE_H
#define LAM_KERNELS_SIMD_SINGLE_H

#include "lib/kernels/simd/exact.h"
#include "lib/kernels/simd/tables_single.h"
#include "lib/kernels/simd/vmath.h"

/* A number as the sum of two, the second below half an ulp of the first. */
typedef struct sum32 {
    V32 hi, lo;
} sum32;

/* Adding this leaves an integer in the low bits of the float, and this one sixteenths. Valid for |x| < 2^22, or 2^18 of
 * sixteenths: beyond that no bits are left for them. */
static const float ROUNDER32 = 0x1.8p23f, SIXTEENTHS32 = 0x1.8p19f;

ALWAYS_INLINE V32 splat32(float x) {
    return x - (V32){0}; /* which keeps a negative zero */
}

/* 2^k for whole k, |k| < 127. By the bits of the exponent. */
ALWAYS_INLINE V32 two_to32(V32 k) {
    return (V32)(((M32)(k + ROUNDER32) + 127) << 23);
}

/* fused32: x y + z, whose product keeps all its digits. least_of32, most_of32: of operands of which one is NaN the
 * second. scaled32: x 2^k for whole k, rounded once. pick32: the entries of a table of LAM__PIECES at the low bits
 * of `at`; pick32_twice: of twice as many. Sets differ here in speed, and in the last digits of guesses: what is
 * made of a guess corrects it, so that error bounds hold for all sets. */
#if defined(__AVX512F__)
ALWAYS_INLINE V32 fused32(V32 x, V32 y, V32 z) {
    return madd32(x, y, z);
}
ALWAYS_INLINE V32 least_of32(V32 x, V32 y) {
    return (V32)_mm512_min_ps((__m512)x, (__m512)y);
}
ALWAYS_INLINE V32 most_of32(V32 x, V32 y) {
    return (V32)_mm512_max_ps((__m512)x, (__m512)y);
}
ALWAYS_INLINE V32 scaled32(V32 x, V32 k) {
    return (V32)_mm512_scalef_ps((__m512)x, (__m512)k);
}
/* Correctly rounded. */
ALWAYS_INLINE V32 root32(V32 x) {
    return (V32)_mm512_sqrt_ps((__m512)x);
}
/* x 2^k, but 0 where y < least; NaN goes through. */
ALWAYS_INLINE V32 scaled_unless32(V32 y, float least, V32 x, V32 k) {
    const __mmask16 some = _mm512_cmp_ps_mask((__m512)y, _mm512_set1_ps(least), _CMP_NLT_UQ);
    return (V32)_mm512_maskz_scalef_ps(some, (__m512)x, (__m512)k);
}
/* 1/x up to an ulp or two, for 2^-100 < |x| < 2^100. */
ALWAYS_INLINE V32 inverse32(V32 x) {
    const V32 guess = (V32)_mm512_rcp14_ps((__m512)x);
    return madd32(guess, madd32(-x, guess, splat32(1)), guess);
}
/* To some 2^-12 of it. */
ALWAYS_INLINE V32 guess_of_ratio32(V32 x, V32 y) {
    return x * (V32)_mm512_rcp14_ps((__m512)y);
}
/* Sixteen entries are one register, picked from by one instruction. Higher bits of `at` are left out by it. */
ALWAYS_INLINE V32 pick32(const float *table, M32 at) {
    return (V32)_mm512_permutexvar_ps((__m512i)at, _mm512_load_ps(table));
}
/* The same of two registers. */
ALWAYS_INLINE V32 pick32_twice(const float *table, M32 at) {
    return (V32)_mm512_permutex2var_ps(_mm512_load_ps(table), (__m512i)at, _mm512_load_ps(table + 16));
}
#else
#if defined(__AVX2__)
/* Sets with fma have one instruction for it. */
ALWAYS_INLINE V32 fused32(V32 x, V32 y, V32 z) {
    return madd32(x, y, z);
}
ALWAYS_INLINE V32 least_of32(V32 x, V32 y) {
    return (V32)_mm256_min_ps((__m256)x, (__m256)y);
}
ALWAYS_INLINE V32 most_of32(V32 x, V32 y) {
    return (V32)_mm256_max_ps((__m256)x, (__m256)y);
}
/* Correctly rounded; the guess below to some 2^-11. */
ALWAYS_INLINE V32 root32(V32 x) {
    return (V32)_mm256_sqrt_ps((__m256)x);
}
ALWAYS_INLINE V32 guess_of_inverse_root32(V32 x) {
    return (V32)_mm256_rsqrt_ps((__m256)x);
}
/* Entries 0 to 7 and 8 to 15 by the three low bits, of which the fourth chooses one. */
ALWAYS_INLINE V32 pick32(const float *table, M32 at) {
    const __m256i entry = (__m256i)at;
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), entry);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), entry);
    return (V32)_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(entry, 28)));
}
/* Both halves, of which the fifth bit chooses one. */
ALWAYS_INLINE V32 pick32_twice(const float *table, M32 at) {
    const __m256 low = (__m256)pick32(table, at), high = (__m256)pick32(table + LAM__PIECES, at);
    return (V32)_mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32((__m256i)at, 27)));
}
#else
#if defined(__aarch64__)
ALWAYS_INLINE V32 fused32(V32 x, V32 y, V32 z) {
    return madd32(x, y, z);
}
#else
/* A product of floats is exact in double, and so is what is left of it beside its rounding to float. Other
 * sums are rounded twice, which is next to half an ulp of a float all the same. */
ALWAYS_INLINE V32 fused32(V32 x, V32 y, V32 z) {
    const halves a = {.whole = x}, b = {.whole = y}, c = {.whole = z};
    halves r;
    for (int i = 0; i < 2; i++) {
        const V64 p = __builtin_convertvector(a.half[i], V64) * __builtin_convertvector(b.half[i], V64);
        r.half[i] = __builtin_convertvector(p + __builtin_convertvector(c.half[i], V64), HALF32);
    }
    return r.whole;
}
#endif
/* Without AVX2 there are four lanes. */
#if defined(__SSE2__)
ALWAYS_INLINE V32 least_of32(V32 x, V32 y) {
    return (V32)_mm_min_ps((__m128)x, (__m128)y);
}
ALWAYS_INLINE V32 most_of32(V32 x, V32 y) {
    return (V32)_mm_max_ps((__m128)x, (__m128)y);
}
ALWAYS_INLINE V32 root32(V32 x) {
    return (V32)_mm_sqrt_ps((__m128)x);
}
/* To some 2^-11 of it. */
ALWAYS_INLINE V32 guess_of_inverse_root32(V32 x) {
    return (V32)_mm_rsqrt_ps((__m128)x);
}
#else
/* As x86 has it: the second where they do not compare. */
ALWAYS_INLINE V32 least_of32(V32 x, V32 y) {
    const M32 less = (M32)(x < y);
    return (V32)((less & (M32)x) | (~less & (M32)y));
}
ALWAYS_INLINE V32 most_of32(V32 x, V32 y) {
    const M32 more = (M32)(x > y);
    return (V32)((more & (M32)x) | (~more & (M32)y));
}
ALWAYS_INLINE V32 root32(V32 x) {
    for (int i = 0; i < LANES32; i++) x[i] = __builtin_sqrtf(x[i]);
    return x;
}
ALWAYS_INLINE V32 guess_of_inverse_root32(V32 x) {
    return 1 / root32(x);
}
#endif
/* Lane by lane: there is no instruction that picks. Sixteen floats lie in the first cache. */
ALWAYS_INLINE V32 pick32(const float *table, M32 at) {
    V32 x;
    for (int i = 0; i < LANES32; i++) x[i] = table[at[i] & (LAM__PIECES - 1)];
    return x;
}
ALWAYS_INLINE V32 pick32_twice(const float *table, M32 at) {
    V32 x;
    for (int i = 0; i < LANES32; i++) x[i] = table[at[i] & (2 * LAM__PIECES - 1)];
    return x;
}
#endif
/* In two steps, since 2^k alone may be no number though the result is; the first step is exact, so there is one
 * rounding. */
ALWAYS_INLINE V32 scaled32(V32 x, V32 k) {
    const V32 half = (k * 0.5f + ROUNDER32) - ROUNDER32;
    return x * two_to32(half) * two_to32(k - half);
}
/* k has been bounded below, so too small a number becomes 0 by the second product. */
ALWAYS_INLINE V32 scaled_unless32(V32 y, float least, V32 x, V32 k) {
    (void)y, (void)least;
    return scaled32(x, k);
}
/* Correctly rounded here. A division is what the set has. */
ALWAYS_INLINE V32 inverse32(V32 x) {
    return 1 / x;
}
ALWAYS_INLINE V32 guess_of_ratio32(V32 x, V32 y) {
    return x / y;
}
#endif

/* As those of exact.h. */
#if defined(__AVX512F__)
typedef __mmask16 choice32;
ALWAYS_INLINE choice32 choice_of32(M32 k) {
    return _mm512_test_epi32_mask((__m512i)k, _mm512_set1_epi32(1));
}
ALWAYS_INLINE V32 chosen32(choice32 odd, V32 yes, V32 no) {
    return (V32)_mm512_mask_blend_ps(odd, (__m512)no, (__m512)yes);
}
#else
typedef M32 choice32;
ALWAYS_INLINE choice32 choice_of32(M32 k) {
    return -(k & 1);
}
ALWAYS_INLINE V32 chosen32(choice32 odd, V32 yes, V32 no) {
    return f32_select(odd, yes, no);
}
#endif

/* x, but no more than `bound`, and no less than minus that; NaN stays NaN. */
ALWAYS_INLINE V32 bounded32(V32 x, float bound) {
    return least_of32(splat32(bound), x);
}
ALWAYS_INLINE V32 limited32(V32 x, float bound) {
    return most_of32(splat32(-bound), bounded32(x, bound));
}

/* ---- sums and products ------------------------------------------------------------------------------------------ */

/* x + y exactly, for |x| >= |y| or x = 0. */
ALWAYS_INLINE sum32 fast_sum32(V32 x, V32 y) {
    const V32 hi = x + y;
    return (sum32){hi, y - (hi - x)};
}

/* x + y exactly (Knuth). */
ALWAYS_INLINE sum32 any_sum32(V32 x, V32 y) {
    const V32 hi = x + y, part = hi - x;
    return (sum32){hi, (x - (hi - part)) + (y - part)};
}

/* x y exactly. */
ALWAYS_INLINE sum32 product32(V32 x, V32 y) {
    const V32 hi = x * y;
    return (sum32){hi, fused32(x, y, -hi)};
}

/* What q y leaves of x, for q next to the quotient. `fused32` keeps what x.hi and q y.hi cancel; the second parts
 * are small beside it. */
ALWAYS_INLINE V32 left_by_quotient32(V32 q, sum32 x, sum32 y) {
    return fused32(-q, y.hi, x.hi) + madd32(-q, y.lo, x.lo);
}

/* x / y as a sum. The second part has a few digits less than a float. */
ALWAYS_INLINE sum32 quotient32(sum32 x, sum32 y) {
    const V32 inverse = inverse32(y.hi), q = x.hi * inverse;
    return (sum32){q, left_by_quotient32(q, x, y) * inverse};
}

/* As that of exact.h, from 2^-40 to 2^40. `more` is far below x and may be none. */
ALWAYS_INLINE sum32 root_in_parts32(V32 x, const V32 *more) {
#if defined(__AVX512F__)
    const __mmask16 some = _mm512_cmp_ps_mask((__m512)x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    const V32 guess = (V32)_mm512_maskz_rsqrt14_ps(some, (__m512)x), root = guess * x, half = 0.5f * guess;
    const V32 hi = madd32(madd32(-root, root, x), half, root);
    const V32 left = madd32(-hi, hi, x);
    return (sum32){hi, (more ? left + *more : left) * half};
#else
    const V32 hi = root32(x), left = fused32(-hi, hi, x);
    /* So that a root of 0 divides by no 0. */
    if (more) return (sum32){hi, (left + *more) / (2 * hi + 0x1p-60f)};
    return (sum32){hi, left * (0.5f * guess_of_inverse_root32(x + 0x1p-60f))};
#endif
}

/* Shifts and comparisons of bits are those of numbers without a sign. */
typedef uint32_t U32 __attribute__((vector_size(VECTOR_BYTES)));

/* x = z 2^k with z from 0.703125 to 1.40625, in piece `at` of lam__single_log, as parts64. For normal x > 0. */
typedef struct parts32 {
    V32 z, k;
    M32 at;
} parts32;

ALWAYS_INLINE parts32 parts_of32(V32 x) {
    const U32 one = (U32)splat32(1), moved = (U32)x + (one - (U32)splat32(0.703125f)); /* beyond NaNs it wraps around */
    const U32 exponent = moved & 0x7f800000;
    const V32 k = __builtin_convertvector((M32)(exponent >> 23) - 127, V32);
    return (parts32){(V32)((U32)x - exponent + one), k, (M32)(moved >> 19)};
}

/* ---- polynomials ------------------------------------------------------------------------------------------------ */

/* Coefficients highest first. */
ALWAYS_INLINE V32 powers32(V32 z, const float *c, int count) {
    V32 sum = splat32(c[0]);
    for (int i = 1; i < count; i++) sum = madd32(sum, z, splat32(c[i]));
    return sum;
}
#define POWERS32(z, table) powers32(z, table, (int)(sizeof(table) / sizeof *(table)))

/* As `pieces` of exact.h. The last row holds the values in the middles, the one before what these lack. */
ALWAYS_INLINE sum32 pieces32(V32 z, M32 at, const float (*table)[LAM__PIECES], int rows) {
    V32 sum = pick32(table[0], at);
    for (int i = 1; i < rows - 1; i++) sum = madd32(sum, z, pick32(table[i], at));
    return (sum32){pick32(table[rows - 1], at), sum};
}
#define PIECES32(z, at, table) pieces32(z, at, table, (int)(sizeof(table) / sizeof *(table)))

/* As `doubling` of exact.h. Two bits of the exponent and two of the fraction say which piece. */
typedef struct doubling32 {
    V32 off, middle;
    M32 at;
} doubling32;

/* Two bits of the exponent and two of the fraction, which lie above the other 21. */
ALWAYS_INLINE doubling32 doubling_of32(V32 x, float width) {
    const V32 s = madd32(x, splat32(1 / width), splat32(1));
    const M32 upper = (M32){0} - (1 << 21), half = (M32){0} + (1 << 20);
    const V32 middle = (V32)(((M32)s & upper) | half);
    return (doubling32){x - (middle * width - width), middle, (M32)s >> 21};
}

#endif
