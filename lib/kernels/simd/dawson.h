/* Dawson's integral and its first two derivatives as vector functions, below 1 ULP in f64. F(x)/x, F'(x) and F''(x)/x
 * are functions of x^2 alone, without singularities, that fall with powers of it: so one table each serves the whole
 * line, in pieces of equal width in 1/(x^2 + 8), with zeros taken out. Next to nothing each is the first term of its
 * series; huge numbers are done one by one (lib/kernels/special/integrals.c). f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_DAWSON_H
#define LAM_KERNELS_SIMD_DAWSON_H

#include "lib/kernels/simd/gamma.h"

/* As VALUE, where the function changes by a large part of itself within a piece: the first coefficient and the distance
 * from the middle are sums of two as well, `more` being the second part of the latter. */
ALWAYS_INLINE sum64 steep_value(place p, V64 more, const double (*table)[LAM__PIECES], int rows) {
    const sum64 slope = pieces(p.off, p.at, table, rows - 2), climb = product(slope.hi, p.off);
    const sum64 sum = fast_sum(pick(table[rows - 1], p.at), climb.hi);
    const V64 rest = madd(slope.lo, p.off, madd(slope.hi, more, pick(table[rows - 2], p.at)));
    return (sum64){sum.hi, sum.lo + (climb.lo + rest)};
}
#define STEEP_VALUE(p, more, table) steep_value(p, more, table, (int)(sizeof(table) / sizeof *(table)))

/* The derivative of this order, 0 to 2. Where it has a zero, that of x^2 is known in two parts. */
ALWAYS_INLINE V64 dawson_of(V64 x, int order) {
    const V64 zero = {0}, size = f64_magnitude(x);
    const M64 plain = (M64)(size <= 0x1p100), small = (M64)(size < 0x1p-30);
    const V64 y = either(plain & ~small, x, zero + 1);
    const sum64 square = product(y, y);
    sum64 shifted = any_sum(square.hi, splat64(8 + 0x1p-20)); /* the little more keeps 0 inside of the table */
    shifted.lo += square.lo;
    const sum64 inverse = inverse_of(shifted);
    place p = place_of_inverse(15.5 - 0x1p-30, 128, (sum64){inverse.hi, zero});
    const sum64 off = fast_sum(p.off, -128 * inverse.lo);
    p.off = off.hi;
    sum64 r;
    if (order == 0) r = product_of_sums(STEEP_VALUE(p, off.lo, lam__table_dawson), inverse);
    else {
        const sum64 root = order == 1 ? (sum64){zero + 0x1.b543c4b39c4a5p-1, zero + 0x1.e1b37d39a0c3bp-55}
                                      : (sum64){zero + 0x1.20c24dfbb9d6cp+1, zero + 0x1.d5d4eaf8632aap-56};
        const sum64 away = product_of_sums(minus(square, root), product_of_sums(inverse, inverse));
        if (order == 1) r = product_of_sums(STEEP_VALUE(p, off.lo, lam__table_dawson_slope), away);
        else r = product_of_sums(product_of_sums(STEEP_VALUE(p, off.lo, lam__table_dawson_bend), away), inverse);
    }
    if (order != 1) r = product_of(r, y);
    const V64 first = order == 0 ? x : order == 1 ? zero + 1 : -4 * x;
    return patch_special(either(small, first, r.hi + r.lo), x, ~plain, lam__special_integrals,
                         LAM__INTEGRAL_CODE(LAM__DAWSON, order));
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V64 f64_dawsn(V64 x) { return dawson_of(x, 0); }
ALWAYS_INLINE V64 f64_dawsn_slope(V64 x) { return dawson_of(x, 1); }
ALWAYS_INLINE V64 f64_dawsn_bend(V64 x) { return dawson_of(x, 2); }
ALWAYS_INLINE V32 f32_dawsn(V32 x) { return f32_through1(x, f64_dawsn); }
ALWAYS_INLINE V32 f32_dawsn_slope(V32 x) { return f32_through1(x, f64_dawsn_slope); }
ALWAYS_INLINE V32 f32_dawsn_bend(V32 x) { return f32_through1(x, f64_dawsn_bend); }
/* clang-format on */

#endif
