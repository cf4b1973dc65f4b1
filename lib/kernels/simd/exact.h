/* What the functions of this room are made of where one double is not enough: unevaluated sums of two (after Dekker
 * 1971), products whose rounding error is kept, and polynomials in pieces. Products use fused multiply-add where the
 * set has it; without it the same sums cost more instructions. Static helpers only; no lane depends on another. Names
 * of operations that a set lacks are defined here for all sets, from intrinsics or from arithmetic. */
#ifndef LAM_KERNELS_SIMD_EXACT_H
#define LAM_KERNELS_SIMD_EXACT_H

#include "lib/kernels/simd/fused.h"
#include "lib/kernels/simd/tables.h"

/* A number as the sum of two, the second below half an ulp of the first where nothing else is said. */
typedef struct sum64 {
    V64 hi, lo;
} sum64;

/* ---- what sets have and C has not ------------------------------------------------------------------------------- */

/* Adding this leaves an integer in the low bits of the double. Valid for |x| < 2^51. */
static const double ROUNDER = 0x1.8p52;

#if defined(__AVX512F__)
/* 2^k for whole k, |k| < 1023. */
ALWAYS_INLINE V64 two_to(V64 k) {
    return (V64)_mm512_scalef_pd(_mm512_set1_pd(1), (__m512d)k);
}
/* Of operands of which one is NaN, or which are equal, the second. */
ALWAYS_INLINE V64 least_of(V64 x, V64 y) {
    return (V64)_mm512_min_pd((__m512d)x, (__m512d)y);
}
/* The instruction's own rule, which sets share: it gives the second operand where it cannot tell. */
ALWAYS_INLINE V64 most_of(V64 x, V64 y) {
    return (V64)_mm512_max_pd((__m512d)x, (__m512d)y);
}
/* Correctly rounded in all sets. */
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm512_sqrt_pd((__m512d)x);
}
/* To the nearest whole number, in the middle to the even one; the sign of a zero is kept. */
ALWAYS_INLINE V64 whole64(V64 x) {
    return (V64)_mm512_roundscale_pd((__m512d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/* x 2^k for whole k, rounded once. One instruction, which takes any k. */
ALWAYS_INLINE V64 scaled(V64 x, V64 k) {
    return (V64)_mm512_scalef_pd((__m512d)x, (__m512d)k);
}
/* The same, but 0 where y < least: what is too small for a number takes long otherwise. The comparison lets NaN
 * through. */
ALWAYS_INLINE V64 scaled_unless(V64 y, double least, V64 x, V64 k) {
    const __mmask8 some = _mm512_cmp_pd_mask((__m512d)y, _mm512_set1_pd(least), _CMP_NLT_UQ);
    return (V64)_mm512_maskz_scalef_pd(some, (__m512d)x, (__m512d)k);
}
/* 1/x for 2^-1000 < |x| < 2^1000, up to 2^-56 more than a rounding, in a third of the time of a division: a guess of 14
 * bits, and the first powers of what it lacks. */
ALWAYS_INLINE V64 inverse64(V64 x) {
    const V64 guess = (V64)_mm512_rcp14_pd((__m512d)x), e = madd(-x, guess, 1 - (V64){0});
    return madd(guess, madd(madd(e, e, e), e, e), guess);
}
/* x / y up to some 2^-12 of it. */
ALWAYS_INLINE V64 guess_of_ratio(V64 x, V64 y) {
    return x * (V64)_mm512_rcp14_pd((__m512d)y);
}
/* The entries of a table of LAM__PIECES at the low bits of `at`. */
ALWAYS_INLINE V64 pick(const double *table, M64 at) {
    return (V64)_mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)at, _mm512_loadu_pd(table + 8));
}
/* table[at] for each lane. */
ALWAYS_INLINE V64 entries(const double *table, M64 at) {
    return (V64)_mm512_i64gather_pd((__m512i)at, table, 8);
}
#else
/* 2^k for whole k, |k| < 1023. */
ALWAYS_INLINE V64 two_to(V64 k) {
    return (V64)(((M64)(k + ROUNDER) + 1023) << 52);
}
#if defined(__AVX2__)
/* The same rule as that of the wider set, so lanes have the same bits. */
ALWAYS_INLINE V64 least_of(V64 x, V64 y) {
    return (V64)_mm256_min_pd((__m256d)x, (__m256d)y);
}
ALWAYS_INLINE V64 most_of(V64 x, V64 y) {
    return (V64)_mm256_max_pd((__m256d)x, (__m256d)y);
}
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm256_sqrt_pd((__m256d)x);
}
/* 1 / sqrt(x) up to some 2^-11 of it, for floats' range. */
ALWAYS_INLINE V64 guess_of_inverse_root(V64 x) {
    return (V64)_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)x)));
}
ALWAYS_INLINE V64 whole64(V64 x) {
    return (V64)_mm256_round_pd((__m256d)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
#if defined(__SSE2__)
ALWAYS_INLINE V64 least_of(V64 x, V64 y) {
    return (V64)_mm_min_pd((__m128d)x, (__m128d)y);
}
ALWAYS_INLINE V64 most_of(V64 x, V64 y) {
    return (V64)_mm_max_pd((__m128d)x, (__m128d)y);
}
/* Two lanes a time; without SSE2 lane by lane, with the rule written out. */
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm_sqrt_pd((__m128d)x);
}
/* By way of floats, of which there are instructions. */
ALWAYS_INLINE V64 guess_of_inverse_root(V64 x) {
    return (V64)_mm_cvtps_pd(_mm_rsqrt_ps(_mm_cvtpd_ps((__m128d)x)));
}
#else
ALWAYS_INLINE V64 least_of(V64 x, V64 y) {
    const M64 less = (M64)(x < y);
    return (V64)((less & (M64)x) | (~less & (M64)y));
}
ALWAYS_INLINE V64 most_of(V64 x, V64 y) {
    const M64 more = (M64)(x > y);
    return (V64)((more & (M64)x) | (~more & (M64)y));
}
ALWAYS_INLINE V64 root64(V64 x) {
    for (int i = 0; i < LANES64; i++) x[i] = __builtin_sqrt(x[i]);
    return x;
}
ALWAYS_INLINE V64 guess_of_inverse_root(V64 x) {
    return 1 / root64(x);
}
#endif
ALWAYS_INLINE V64 whole64(V64 x) {
/* aarch64 has an instruction for it. */
#if defined(__aarch64__)
    return (V64)vrndnq_f64((float64x2_t)x);
#else
    const M64 sign = (M64)x & (M64)(-(V64){0}), large = (M64)((V64)((M64)x ^ sign) >= 0x1p52);
    /* Adding 2^52 leaves no digits behind the point; numbers from there on are whole already. */
    const V64 step = (V64)((M64)((V64){0} + 0x1p52) | sign), rounded = (V64)((M64)((x + step) - step) | sign);
    return (V64)((large & (M64)x) | (~large & (M64)rounded));
#endif
}
#endif
/* A division, which is rounded correctly; who uses it relies on 2^-56 only. */
ALWAYS_INLINE V64 inverse64(V64 x) {
    return 1 / x;
}
/* Two factors, since 2^k alone may be no number though the result is; the first product is exact, so there is one
 * rounding. */
ALWAYS_INLINE V64 scaled(V64 x, V64 k) {
    const V64 half = (k * 0.5 + ROUNDER) - ROUNDER;
    return x * two_to(half) * two_to(k - half);
}
/* Here such lanes are 0 soon enough. */
ALWAYS_INLINE V64 scaled_unless(V64 y, double least, V64 x, V64 k) {
    (void)y, (void)least;
    return scaled(x, k);
}
/* More digits than are promised. */
ALWAYS_INLINE V64 guess_of_ratio(V64 x, V64 y) {
    return x / y;
}
ALWAYS_INLINE V64 entries(const double *table, M64 at) {
#if defined(__AVX2__)
    /* Offsets count items of eight bytes. */
    return (V64)_mm256_i64gather_pd(table, (__m256i)at, 8);
#else
    V64 x;
    for (int i = 0; i < LANES64; i++) x[i] = table[at[i]];
    return x;
#endif
}
/* Rows are in the first cache: sixteen entries are two lines. */
ALWAYS_INLINE V64 pick(const double *table, M64 at) {
    V64 x;
    for (int i = 0; i < LANES64; i++) x[i] = table[at[i] & (LAM__PIECES - 1)];
    return x;
}
#endif

/* yes where the mask is set, no elsewhere: masks are all ones or all zeros in each lane. */
ALWAYS_INLINE V64 either(M64 mask, V64 yes, V64 no) {
    return (V64)((mask & (M64)yes) | (~mask & (M64)no));
}

/* `yes` where a whole number is odd: masks of their own where the set has them, so that constants need not go through
 * integers. */
#if defined(__AVX512F__)
typedef __mmask8 choice;
/* Whether the last bit is set. */
ALWAYS_INLINE choice choice_of(M64 k) {
    return _mm512_test_epi64_mask((__m512i)k, _mm512_set1_epi64(1));
}
ALWAYS_INLINE V64 chosen(choice odd, V64 yes, V64 no) {
    return (V64)_mm512_mask_blend_pd(odd, (__m512d)no, (__m512d)yes);
}
#else
typedef M64 choice;
ALWAYS_INLINE choice choice_of(M64 k) {
    return -(k & 1);
}
ALWAYS_INLINE V64 chosen(choice odd, V64 yes, V64 no) {
    return either(odd, yes, no);
}
#endif

ALWAYS_INLINE V64 splat64(double x) {
    return x - (V64){0}; /* which keeps a negative zero */
}

/* x, but no more than `bound`, and no less than minus that; NaN stays NaN. */
ALWAYS_INLINE V64 bounded(V64 x, double bound) {
    /* In this order, so that NaN, the second, stays. */
    return least_of(splat64(bound), x);
}
ALWAYS_INLINE V64 limited(V64 x, double bound) {
    return most_of(splat64(-bound), bounded(x, bound));
}

/* ---- sums and products ------------------------------------------------------------------------------------------ */

/* x + y exactly, for |x| >= |y| or x = 0. */
ALWAYS_INLINE sum64 fast_sum(V64 x, V64 y) {
    const V64 hi = x + y;
    return (sum64){hi, y - (hi - x)};
}

/* x + y exactly (Knuth). */
ALWAYS_INLINE sum64 any_sum(V64 x, V64 y) {
    const V64 hi = x + y, part = hi - x;
    return (sum64){hi, (x - (hi - part)) + (y - part)};
}

/* Veltkamp's splitting by 2^27 + 1: the upper 26 digits, so that products of halves are exact. Overflows above
 * 2^996. */
ALWAYS_INLINE V64 upper_half(V64 x) {
    /* c - (c - x) is x rounded to its upper half. */
    const V64 c = x * 134217729.0;
    return c - (c - x);
}

/* z - x y up to one rounding, for z near the product. */
ALWAYS_INLINE V64 remainder_of(V64 z, V64 x, V64 y) {
#if defined(VECTOR_FMA)
    return madd(-x, y, z);
#else
    /* Four products, each exact, taken away from the largest on. */
    const V64 xh = upper_half(x), xl = x - xh, yh = upper_half(y), yl = y - yh;
    return (((z - xh * yh) - xh * yl) - xl * yh) - xl * yl;
#endif
}

/* x y exactly. As far as the error of the product is a number: not next to the least ones. */
ALWAYS_INLINE sum64 product(V64 x, V64 y) {
    const V64 hi = x * y;
    return (sum64){hi, -remainder_of(hi, x, y)};
}

/* x y + z for z far below the product. */
ALWAYS_INLINE V64 product_and(V64 x, V64 y, V64 z) {
#if defined(VECTOR_FMA)
    return madd(x, y, z);
#else
    const sum64 p = product(x, y);
    return p.hi + (p.lo + z);
#endif
}

/* x y up to some 2^-100 of it. */
ALWAYS_INLINE sum64 product_of(sum64 x, V64 y) {
    sum64 p = product(x.hi, y);
    p.lo = madd(x.lo, y, p.lo);
    return p;
}

/* x / y as a sum, of which the second part has a few digits less than a double. */
ALWAYS_INLINE sum64 quotient(sum64 x, sum64 y) {
    /* By the inverse twice: the remainder of the quotient is exact, and its share needs few digits. */
    const V64 inverse = inverse64(y.hi), q = x.hi * inverse;
    return (sum64){q, (remainder_of(x.hi, q, y.hi) + (x.lo - q * y.lo)) * inverse};
}

/* 1 / x as a sum, as `quotient` gives it. */
ALWAYS_INLINE sum64 inverse_of(sum64 x) {
    /* q lacks what 1 - q x says, times q. */
    const V64 q = inverse64(x.hi);
    return (sum64){q, (remainder_of(splat64(1), q, x.hi) - q * x.lo) * q};
}

/* x y to a little less than twice the digits of a double. The product of the two small parts is left out. */
ALWAYS_INLINE sum64 product_of_sums(sum64 x, sum64 y) {
    sum64 p = product(x.hi, y.hi);
    p.lo += madd(x.hi, y.lo, x.lo * y.hi);
    return p;
}

/* To some 2^-100 of the larger operand: what cancels is lost relative to that, not to the result. `minus` is the same
 * with a sign. */
ALWAYS_INLINE sum64 plus(sum64 x, sum64 y) {
    const sum64 s = any_sum(x.hi, y.hi);
    return fast_sum(s.hi, s.lo + (x.lo + y.lo));
}

ALWAYS_INLINE sum64 minus(sum64 x, sum64 y) {
    return plus(x, (sum64){-y.hi, -y.lo});
}

ALWAYS_INLINE sum64 either_sum(M64 mask, sum64 yes, sum64 no) {
    return (sum64){either(mask, yes.hi, no.hi), either(mask, yes.lo, no.lo)};
}

/* The root of a positive sum; of 0 it is 0. */
ALWAYS_INLINE sum64 root_of(sum64 x) {
    const V64 hi = root64(x.hi), lo = 0.5 * (remainder_of(x.hi, hi, hi) + x.lo) / hi;
    return (sum64){hi, either((M64)(hi > 0), lo, (V64){0})};
}

/* The root of x and `more`, which is far below and may be none, as a sum whose second part has few digits; x is 0 or
 * from 2^-100 to 2^100. A guess of 14 bits, made 28, then all but the last, mended by what its square leaves. */
ALWAYS_INLINE sum64 root_in_parts(V64 x, const V64 *more) {
#if defined(__AVX512F__)
    const __mmask8 some = _mm512_cmp_pd_mask((__m512d)x, _mm512_setzero_pd(), _CMP_NEQ_UQ);
    const V64 guess = (V64)_mm512_maskz_rsqrt14_pd(some, (__m512d)x), g = guess * x, h = 0.5 * guess;
    const V64 miss = madd(-g, h, splat64(0.5)), root = madd(g, miss, g), half = madd(h, miss, h);
    const V64 hi = madd(madd(-root, root, x), half, root);
    const V64 left = madd(-hi, hi, x);
    return (sum64){hi, (more ? left + *more : left) * half};
#else
    const V64 hi = root64(x), left = remainder_of(x, hi, hi);
    /* 2^-120 keeps a root of 0 from being divided by. */
    if (more) return (sum64){hi, (left + *more) / (2 * hi + 0x1p-120)};
    return (sum64){hi, left * (0.5 * guess_of_inverse_root(x + 0x1p-120))};
#endif
}

/* ---- polynomials ------------------------------------------------------------------------------------------------ */

/* Coefficients highest first. */
ALWAYS_INLINE V64 powers(V64 z, const double *c, int count) {
    /* Horner's rule, with fused steps where the set has them: sets without differ in the last bits. */
    V64 sum = splat64(c[0]);
    for (int i = 1; i < count; i++) sum = madd(sum, z, splat64(c[i]));
    return sum;
}
#define POWERS(z, table) powers(z, table, (int)(sizeof(table) / sizeof *(table)))

/* A function in LAM__PIECES pieces: row k of the table has the coefficients of one power for all of them, highest
 * first. The last row holds the values in the middles rounded to doubles, the one before what these lack. Here those
 * values, and what lies between them and the function. A rounded value and a small rest can be added to something else
 * without a rounding of their own. */
ALWAYS_INLINE sum64 pieces(V64 z, M64 at, const double (*table)[LAM__PIECES], int rows) {
    V64 sum = pick(table[0], at);
    for (int i = 1; i < rows - 1; i++) sum = madd(sum, z, pick(table[i], at));
    return (sum64){pick(table[rows - 1], at), sum};
}
#define PIECES(z, at, table) pieces(z, at, table, (int)(sizeof(table) / sizeof *(table)))

/* Which piece x lies in, where middles are whole numbers from 0 up, and how far from the middle. */
typedef struct place {
    V64 off;
    M64 at;
} place;

ALWAYS_INLINE place place_of(V64 x) {
    /* The whole number is in the low bits of the double, where `pick` looks for it. */
    const V64 shifted = x + ROUNDER;
    return (place){x - (shifted - ROUNDER), (M64)shifted};
}

/* The same for first - power / x, where `power` is one of 2 so that the products are exact. */
ALWAYS_INLINE place place_of_inverse(double first, double power, sum64 inverse) {
    /* The second part of 1/x goes in last, since it only moves the point within the piece. */
    const V64 less = power * inverse.hi, shifted = (first - less) + ROUNDER;
    return (place){((first - (shifted - ROUNDER)) - less) - power * inverse.lo, (M64)shifted};
}

/* The same for x >= 0 where widths of pieces double, four at a time: two bits of the exponent and two of the fraction
 * of s = 1 + x/width say which, the first being the thirteenth entry. `middle` is one of s. `width` has few digits, so
 * that its products with middles are exact. */
typedef struct doubling {
    V64 off, middle;
    M64 at;
} doubling;

ALWAYS_INLINE doubling doubling_of(V64 x, double width) {
    const U64 upper = (U64){0} + 0xfffc000000000000, half = (U64){0} + 0x0002000000000000;
    /* The first two bits of the fraction say which quarter of the octave it is; the next bit is its middle. */
    const V64 s = madd(x, splat64(1 / width), splat64(1)), middle = (V64)(((U64)s & upper) | half);
    return (doubling){x - madd(middle, splat64(width), splat64(-width)), middle, (M64)s >> 50};
}

/* The function in pieces at a place, as a sum. */
#define VALUE(p, table) value_of(PIECES((p).off, (p).at, table))
ALWAYS_INLINE sum64 value_of(sum64 p) {
    return fast_sum(p.hi, p.lo);
}

#endif
