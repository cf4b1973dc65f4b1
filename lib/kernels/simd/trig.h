/* sin, cos, tan and both of the first at once as vector functions, below 1 ULP for every argument: what a whole number
 * of quarters of the turn leaves of it as a sum of two, by parts of pi/2 where it is not huge and by the digits of
 * 2/pi that matter where it is, then short polynomials. Lanes do not wait for each other: only a vector with a huge
 * argument takes the long way, and there each lane has the bits it has elsewhere. */
#ifndef LAM_KERNELS_SIMD_TRIG_H
#define LAM_KERNELS_SIMD_TRIG_H

#include "lib/kernels/simd/single.h"

/* What is left of an argument, and the number of quarters that were taken off, in the low bits. */
typedef struct f64_turned {
    V64 hi, lo;
    M64 quarters;
} f64_turned;

/* Below these, three parts of pi/2 are enough, and all but the last are taken off exactly. Without fma the parts have
 * fewer digits, and the bound is lower. */
#if defined(VECTOR_FMA)
static const double f64_NEAR_TURNS = 0x1p20;
#else
static const double f64_NEAR_TURNS = 0x1p10;
#endif

static f64_turned f64_turned_anywhere(V64 x);

/* ---- arguments of any size -------------------------------------------------------------------------------------- */

/* x less the next multiple of 4. */
ALWAYS_INLINE V64 without_fours(V64 x) {
    return x - 4 * whole64(0.25 * x);
}

/* x = X 2^(32 j) with X a whole number where j > 0: the number of quarters is X times row j of lam__table_turns, where
 * multiples of 4 have been left out. */
typedef struct huge64 {
    V64 x, part[4];
} huge64;

ALWAYS_INLINE huge64 huge_of(V64 x) {
    /* Beyond 52 the last bit of x counts more than one: rows are 32 bits apart, and a multiple of that comes off. */
    const U64 exponent = ((U64)f64_magnitude(x) >> 52) - 1023, some = (U64)((M64)exponent > 52);
    const U64 row = (some & (exponent - 52)) >> 5;
    huge64 h = {.x = (V64)((U64)x - (row << 57))};
    for (int p = 0; p < 4; p++) h.part[p] = entries(lam__table_turns[0] + p, (M64)(row << 2));
    return h;
}

/* The fraction of the number of quarters is the sum of six numbers, the first two parts of a number of quarters. Whole
 * fours are thrown away from the large parts first, since only the number of quarters modulo 4 and the fraction matter;
 * then the parts are added from the largest down, each sum with its error. The table has digits enough that a fraction
 * next to 0, for the double that lies closest to a multiple of pi/2, keeps 53 of its own (Payne and Hanek 1983). */
ALWAYS_INLINE f64_turned turned_huge(V64 x) {
    const huge64 h = huge_of(x);
    /* Products with their errors: only the last needs none. */
    const sum64 p = product(h.x, h.part[0]), q = product(h.x, h.part[1]), r = product(h.x, h.part[2]);
    const sum64 b = any_sum(p.lo, q.hi), c = any_sum(without_fours(p.hi), without_fours(b.hi));
    /* The nearest whole number of quarters, in the low bits. */
    const V64 shifted = c.hi + ROUNDER, fraction = c.hi - (shifted - ROUNDER);
    const sum64 s = any_sum(fraction, b.lo), t = any_sum(s.hi, q.lo), u = any_sum(t.hi, r.hi);
    const sum64 rest = any_sum(s.lo, t.lo), f = any_sum(u.hi, rest.hi);
    const V64 last = (c.lo + u.lo) + (rest.lo + madd(h.x, h.part[3], r.lo));
    /* pi/2 as a sum: what is left is a fraction of a quarter. */
    const sum64 quarter = {splat64(0x1.921fb54442d18p+0), splat64(0x1.1a62633145c07p-54)};
    const sum64 left = product_of_sums(fast_sum(f.hi, f.lo + last), quarter);
    return (f64_turned){left.hi, left.lo, (M64)shifted};
}

/* QUARTERS: -pi/2 in three parts. SINE is (sin(r) - r) / r^3 in r^2 and COSINE (cos(r) - 1 + r^2/2) / r^4 in r^2, for
 * |r| up to pi/4. Both polynomials are minimax. */
#define T       double
#define V       V64
#define M       M64
#define SUM     sum64
#define NAME(x) f64_##x
#define OWN(x)  x
#define ANY     any64
#define BITS    64
#define NEAR    f64_NEAR_TURNS
#if defined(VECTOR_FMA)
#define QUARTERS                                                                                                       \
    { -0x1.921fb54442d18p+0, -0x1.1a626331p-54, -0x1.1701b839a252p-88 }
#else
#define QUARTERS                                                                                                       \
    { -0x1.921fb54442cp+0, -0x1.18469898cc4p-44, -0x1.1701b839a252p-88 }
#endif
/* From the highest power down; the first term of each function stands apart. */
#define SINE                                                                                                           \
    {                                                                                                                  \
        0x1.5d9312b0efbf3p-33, -0x1.ae5e66e1cc7p-26, 0x1.71de35793b70fp-19, -0x1.a01a019c146f2p-13,                    \
            0x1.111111110f89ep-7, -0x1.5555555555549p-3                                                                \
    }
#define COSINE                                                                                                         \
    {                                                                                                                  \
        -0x1.8fb0b7856ca94p-37, 0x1.1ee9f08b8308dp-29, -0x1.27e4f811cc3d5p-22, 0x1.a01a019cbe7adp-16,                  \
            -0x1.6c16c16c1521ap-10, 0x1.555555555554cp-5                                                               \
    }
#include "lib/kernels/simd/trig_type.h"

/* Lanes that are not huge keep what the short way gives, so their bits do not depend on their neighbours; infinities
 * and NaN go the short way too and come out as NaN. */
static __attribute__((noinline)) f64_turned f64_turned_anywhere(V64 x) {
    const V64 size = f64_magnitude(x);
    /* Lanes that are not huge stand for one that is, whose result is not taken. */
    const M64 huge = (M64)(size >= f64_NEAR_TURNS) & (M64)(size <= f64_LARGEST);
    const f64_turned near = f64_turned_near(x), far = turned_huge(either(huge, x, splat64(f64_NEAR_TURNS)));
    return (f64_turned){either(huge, far.hi, near.hi), either(huge, far.lo, near.lo),
                        (huge & far.quarters) | (~huge & near.quarters)};
}

/* ---- f32 -------------------------------------------------------------------------------------------------------- */

#if defined(VECTOR_FMA)
/* As f64_turned, in floats. */
typedef struct f32_turned {
    V32 hi, lo;
    M32 quarters;
} f32_turned;

static f32_turned f32_turned_anywhere(V32 x);

/* Beyond it the parts of pi/2 have too few digits between them. */
static const float f32_NEAR_TURNS = 0x1p10f;

#define T       float
#define V       V32
#define M       M32
#define SUM     sum32
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define ANY     any32
#define BITS    32
#define NEAR    f32_NEAR_TURNS
#define QUARTERS                                                                                                       \
    { -0x1.921fb6p+0f, 0x1.778p-25f, -0x1.68c234p-39f }
#define SINE                                                                                                           \
    { -0x1.9955aep-13f, 0x1.11077cp-7f, -0x1.555546p-3f }
#define COSINE                                                                                                         \
    { 0x1.99e82ap-16f, -0x1.6c0c28p-10f, 0x1.55554ap-5f }
#include "lib/kernels/simd/trig_type.h"

/* Numbers of quarters of half a vector. */
typedef int32_t HALF_M32 __attribute__((vector_size(VECTOR_BYTES / 2)));

/* By doubles, whose remainder is cut in two. A float has so few digits that a remainder in double is never short of
 * them. */
static __attribute__((noinline)) f32_turned f32_turned_anywhere(V32 x) {
    const M32 far = ~(M32)(f32_magnitude(x) < f32_NEAR_TURNS);
    const halves h = {.whole = x};
    const f32_turned near = f32_turned_near(x);
    halves hi, lo;
    HALF_M32 quarters[2];
    /* Half a vector of floats is a vector of doubles. */
    for (int i = 0; i < 2; i++) {
        const f64_turned t = f64_turned_of(__builtin_convertvector(h.half[i], V64));
        hi.half[i] = __builtin_convertvector(t.hi, HALF32);
        lo.half[i] = __builtin_convertvector(t.hi - __builtin_convertvector(hi.half[i], V64), HALF32);
        quarters[i] = __builtin_convertvector(t.quarters, HALF_M32);
    }
    M32 whole;
    memcpy(&whole, quarters, sizeof whole);
    return (f32_turned){f32_select(far, hi.whole, near.hi), f32_select(far, lo.whole, near.lo),
                        (far & whole) | (~far & near.quarters)};
}
#else
/* (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2 for a float's share of digits. */
static const double QUICK_SINE[] = {0x1.6dbcfb3cb8553p-19, -0x1.a013a45587fbep-13, 0x1.11110decc7187p-7,
                                    -0x1.555555545d0d9p-3},
                    QUICK_COSINE[] = {-0x1.25239a89d2d1p-22, 0x1.a015c25343171p-16, -0x1.6c16bf534c846p-10,
                                      0x1.55555555027acp-5};

/* Multiples of the first part of pi/2 are exact up to the bound. */
ALWAYS_INLINE f64_turned quick_turned(V64 x) {
    if (any64(~(M64)(f64_magnitude(x) < 0x1p20))) return f64_turned_anywhere(x);
    /* The nearest whole number of quarters. */
    const V64 shifted = x * 0.63661977236758134 + ROUNDER, k = shifted - ROUNDER;
    return (f64_turned){(x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34, (V64){0}, (M64)shifted};
}

/* Without second parts: half the digits of a double are a float's and to spare. Signs follow from the number of
 * quarters, as in trig_type.h. */
ALWAYS_INLINE f64_pair quick_sincos(V64 x) {
    const f64_turned r = quick_turned(x);
    const V64 square = r.hi * r.hi, sine = r.hi + square * r.hi * POWERS(square, QUICK_SINE);
    const V64 cosine = (1 - 0.5 * square) + square * square * POWERS(square, QUICK_COSINE);
    const choice odd = choice_of(r.quarters);
    return (f64_pair){(V64)((M64)chosen(odd, cosine, sine) ^ f64_sign_of_turn(r.quarters)),
                      (V64)((M64)chosen(odd, sine, cosine) ^ f64_sign_of_turn(r.quarters + 1))};
}

/* Either is made of both, since lanes have quarters of their own. */
ALWAYS_INLINE V64 quick_sin(V64 x) {
    return quick_sincos(x).sine;
}
ALWAYS_INLINE V64 quick_cos(V64 x) {
    return quick_sincos(x).cosine;
}
/* The quotient of both, with digits to spare. */
ALWAYS_INLINE V64 quick_tan(V64 x) {
    const f64_pair y = quick_sincos(x);
    return y.sine / y.cosine;
}

/* Arguments next to 0 are their own sine. */
ALWAYS_INLINE V32 f32_sin(V32 x) {
    return f32_odd(x, f32_through1(x, quick_sin));
}
ALWAYS_INLINE V32 f32_cos(V32 x) {
    return f32_through1(x, quick_cos);
}
ALWAYS_INLINE V32 f32_tan(V32 x) {
    return f32_odd(x, f32_through1(x, quick_tan));
}

typedef struct f32_pair {
    V32 sine, cosine;
} f32_pair;

/* With the bits of the two functions, at the cost of both. */
ALWAYS_INLINE f32_pair f32_sincos(V32 x) {
    return (f32_pair){f32_sin(x), f32_cos(x)};
}
#endif

#endif
