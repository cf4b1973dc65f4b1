/* lgamma, digamma and trigamma as vector functions, below 1 ULP in f64: in pieces from 1 to 9 with the zeros taken out,
 * by Stirling's series beyond (Abramowitz and Stegun 6.1.41, 6.3.18, 6.4.11), and moved up by 1 below. Left of 0, and
 * where x is next to nothing, one by one. A part that no lane of a vector needs is left out, which changes no lane. */
#ifndef LAM_KERNELS_SIMD_GAMMA_H
#define LAM_KERNELS_SIMD_GAMMA_H

#include "lib/kernels/simd/logexp.h"
#include "lib/kernels/simd/vmath.h"
#include "lib/kernels/special/special.h"

/* Where the vector forms hold. Products with powers of x or of its inverse stay in range there. */
ALWAYS_INLINE M64 is_plain_gamma(V64 x) {
    return (M64)(x >= 0x1p-500) & (M64)(x <= 0x1p900);
}

/* The place of x, or of x + 1 where x < 1, in the tables for 1 to 9. */
ALWAYS_INLINE place gamma_place(V64 x) {
    const V64 zero = {0};
    /* Lanes from 9 on stand for 2 here; what they are is made by BEYOND. */
    const M64 below = (M64)(x < 1), inside = (M64)(x < 9);
    return place_of(madd(either(inside, x, zero + 2), zero + 2, either(below, zero - 0.5, zero - 2.5)));
}

/* What lanes from 9 on are, where the others are `inside`. */
#define BEYOND(inside, x, f) (any64((M64)((x) >= 9)) ? either((M64)((x) < 9), inside, f(x)) : (inside))

/* ---- lgamma ----------------------------------------------------------------------------------------------------- */

/* x (log Gamma(x) - (x - 1/2) log(x) + x - log(2 pi)/2) in 1/x^2, for x >= 9, the rest below 2^-56 */
static const double LGAMMA_REST[] = {
    -0x1.be67322adf3dp-10, 0x1.b7ced2ebcda4p-11,  -0x1.381110a5352b2p-11,
    0x1.a019ffd52a636p-11, -0x1.6c16c16bf7cb7p-9, 0x1.5555555555555p-4,
};

/* x (log(x) - 1) - log(x)/2 + log(2 pi)/2 and the rest, for x >= 9. */
ALWAYS_INLINE V64 lgamma_beyond(V64 x) {
    /* The series needs few digits: it is at most 1/108 of a number of size 1. */
    const V64 inverse = 1 / x, rest = inverse * POWERS(inverse * inverse, LGAMMA_REST);
    const sum64 log = log_of_parts(parts_of(x), (V64){0}), less = fast_sum(log.hi, splat64(-1));
    /* x (log(x) - 1) as a sum, since half a logarithm is added to it. */
    const sum64 p = product_of((sum64){less.hi, less.lo + log.lo}, x), sum = fast_sum(p.hi, -0.5 * log.hi);
    return sum.hi + (sum.lo + (p.lo - 0.5 * log.lo) + (rest + 0.91893853320467274));
}

/* log Gamma(x), or log Gamma(x + 1) where x < 1; the factors are (x - 1)(x - 2), or x (x - 1). */
ALWAYS_INLINE sum64 log_gamma_inside(V64 x) {
    const place at = gamma_place(x);
    const sum64 g = VALUE(at, lam__table_lgamma), less = any_sum(x, splat64(-1));
    /* Both zeros as factors that are exact, so next to 1 and 2 the result has all its digits. */
    sum64 factors = product(less.hi, either((M64)(x < 1), x, x - 2));
    factors.lo = madd(less.lo, x, factors.lo);
    return product_of_sums(factors, g);
}

/* Below 1 it is log Gamma(x + 1) - log(x). */
ALWAYS_INLINE V64 lgamma_inside(V64 x) {
    const V64 zero = {0};
    const M64 below = (M64)(x < 1);
    sum64 r = log_gamma_inside(x);
    if (any64(below)) {
        const sum64 log = log_of_parts(parts_of(either(below, x, zero + 1)), zero), sum = any_sum(-log.hi, r.hi);
        r = (sum64){sum.hi, sum.lo + (r.lo - log.lo)};
    }
    return (r.hi + r.lo) + zero; /* 0 has a sign */
}

ALWAYS_INLINE V64 f64_lgamma(V64 x) {
    const M64 plain = is_plain_gamma(x);
    /* 2 is harmless in all parts. */
    const V64 y = either(plain, x, splat64(2));
    return f64_patch1(BEYOND(lgamma_inside(y), y, lgamma_beyond), x, ~plain, f64_wide_lgamma);
}

/* Few lanes are left of 0, and there f32 alone has digits enough in f64. */
ALWAYS_INLINE V32 f32_lgamma(V32 x) {
    return f32_through1(x, f64_lgamma);
}

/* ---- digamma ---------------------------------------------------------------------------------------------------- */

/* x^2 (log(x) - 1/(2 x) - digamma(x)) in 1/x^2, for x >= 9, the rest below 2^-52 */
static const double DIGAMMA_REST[] = {
    -0x1.2c8a87bb3ed71p-6, 0x1.ee137b497020ep-8,  -0x1.110d305acccabp-8,
    0x1.04103e2b8093fp-8,  -0x1.11111110aed2bp-7, 0x1.555555555554dp-4,
};

/* log(x) - 1/(2 x) less the series. */
ALWAYS_INLINE V64 digamma_beyond(V64 x) {
    /* log(x) is the only part that needs a second double. */
    const V64 inverse = 1 / x, square = inverse * inverse;
    const sum64 log = log_of_parts(parts_of(x), (V64){0});
    return log.hi + (log.lo - madd(square, POWERS(square, DIGAMMA_REST), 0.5 * inverse));
}

/* 1/x, or 0 where `wanted` is not. */
ALWAYS_INLINE sum64 inverse_where(M64 wanted, V64 x) {
    const V64 zero = {0}, y = either(wanted, x, zero + 1), q = either(wanted, 1 / y, zero);
    return (sum64){q, either(wanted, remainder_of(zero + 1, q, y) * q, zero)};
}

/* The distance from the zero, as exact as x is. Below 1 it is digamma(x + 1) - 1/x, in which the distance is that of x
 * + 1. */
ALWAYS_INLINE sum64 digamma_inside_sum(V64 x) {
    const V64 zero = {0};
    const M64 below = (M64)(x < 1);
    const place at = gamma_place(x);
    const sum64 g = VALUE(at, lam__table_digamma), inverse = inverse_where(below, x);
    /* The zero at 1.4616 as a sum of two, of which the first is exact beside x. */
    sum64 away = any_sum(x, either(below, zero + (1 - 0x1.762d86356be3fp+0), zero - 0x1.762d86356be3fp+0));
    away.lo -= 0x1.b86a722197829p-54;
    /* On the left of 1 the inverse is the larger part. */
    const sum64 r = product_of_sums(away, g), sum = any_sum(-inverse.hi, r.hi);
    return (sum64){sum.hi, sum.lo + (r.lo - inverse.lo)};
}

/* Rounded once. */
ALWAYS_INLINE V64 digamma_inside(V64 x) {
    const sum64 r = digamma_inside_sum(x);
    return r.hi + r.lo;
}

/* Lanes `where` by the function that takes one number and a code (special.h). */
static __attribute__((noinline)) V64 patched_special(V64 y, V64 x, M64 where, double f(double, int64_t), int64_t k) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) y[i] = f(x[i], k);
    return y;
}

ALWAYS_INLINE V64 patch_special(V64 y, V64 x, M64 where, double f(double, int64_t), int64_t k) {
    return any64(where) ? patched_special(y, x, where, f, k) : y;
}

/* Poles and what is left of 0 one by one. */
ALWAYS_INLINE V64 f64_digamma(V64 x) {
    const M64 plain = is_plain_gamma(x);
    /* As in f64_lgamma. */
    const V64 y = either(plain, x, splat64(2));
    return patch_special(BEYOND(digamma_inside(y), y, digamma_beyond), x, ~plain, lam__special_polygamma, 0);
}

/* Through doubles: there is no shorter way that keeps digits next to the zero. */
ALWAYS_INLINE V32 f32_digamma(V32 x) {
    return f32_through1(x, f64_digamma);
}

/* ---- trigamma --------------------------------------------------------------------------------------------------- */

/* x^3 (trigamma(x) - 1/x - 1/(2 x^2)) in 1/x^2, for x >= 9, the rest below 2^-55 */
static const double TRIGAMMA_REST[] = {
    0x1.d31272e5a5fc6p-1, -0x1.fe1230517e024p-3, 0x1.362ad69318de4p-4, -0x1.1110c577cf434p-5,
    0x1.8618613730428p-6, -0x1.11111111094f4p-5, 0x1.5555555555554p-3,
};

/* 1/x + 1/(2 x^2) and the series, where 1/x has a second part. */
ALWAYS_INLINE V64 trigamma_beyond(V64 x) {
    const sum64 inverse = inverse_where((M64)(x == x), x);
    /* The series and what the first inverse lacks go in together. */
    const V64 square = inverse.hi * inverse.hi,
              last = madd(square * inverse.hi, POWERS(square, TRIGAMMA_REST), inverse.lo);
    return inverse.hi + madd(splat64(0.5), square, last);
}

/* Below 1 it is trigamma(x + 1) + 1/x^2. */
ALWAYS_INLINE V64 trigamma_inside(V64 x) {
    const M64 below = (M64)(x < 1);
    const place at = gamma_place(x);
    const sum64 g = VALUE(at, lam__table_trigamma), inverse = inverse_where(below, x);
    sum64 square = product(inverse.hi, inverse.hi);
    /* (hi + lo)^2 without the square of the small part. */
    square.lo = madd(2 * inverse.hi, inverse.lo, square.lo);
    const sum64 sum = any_sum(square.hi, g.hi);
    return sum.hi + (sum.lo + (square.lo + g.lo));
}

/* As f64_digamma. */
ALWAYS_INLINE V64 f64_trigamma(V64 x) {
    const M64 plain = is_plain_gamma(x);
    const V64 y = either(plain, x, splat64(2));
    return patch_special(BEYOND(trigamma_inside(y), y, trigamma_beyond), x, ~plain, lam__special_polygamma, 1);
}

ALWAYS_INLINE V32 f32_trigamma(V32 x) {
    return f32_through1(x, f64_trigamma);
}

#endif
