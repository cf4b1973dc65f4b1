/* The modified Bessel functions I_0, I_1 and I_2 as vector functions, the first two also times exp(-|x|), below 1 ULP
 * in f64: one table each for the whole half line, with the root that they fall with taken out; and the derivatives of
 * the scaled ones. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_BESSEL_H
#define LAM_KERNELS_SIMD_BESSEL_H

#include "lib/kernels/simd/gamma.h"

/* exp(-x) I_n(x) for 0 <= x <= 2^100 and n <= 2: what the table gives by the root of s = x + 2 + 2^-20, times (x/s)^n.
 * Pieces are of equal width in 1/s. */
ALWAYS_INLINE sum64 scaled_bessel(int n, V64 x) {
    /* s is above x, so x / s is at most 1; the little more keeps x = 0 inside of the table. */
    const sum64 shifted = any_sum(x, splat64(2 + 0x1p-20)), root = root_of(shifted);
    const place p = place_of_inverse(15.5 - 0x1p-30, 32, inverse_of(shifted));
    if (n == 0) return quotient(VALUE(p, lam__table_bessel_0), root);
    sum64 divisor = product_of(root, shifted.hi);
    divisor.lo = madd(root.hi, shifted.lo, divisor.lo);
    if (n == 1) return quotient(product_of(VALUE(p, lam__table_bessel_1), x), divisor);
    /* Powers of x / s and not of x: they stay in range. */
    const sum64 share = quotient((sum64){x, {0}}, shifted);
    return quotient(product_of_sums(product_of(VALUE(p, lam__table_bessel_2), x), share), divisor);
}

/* exp(x) e. Infinite from x = 800 on, whatever e is. */
ALWAYS_INLINE V64 grown(sum64 e, V64 x) {
    V64 k;
    const sum64 g = exp_of((sum64){either((M64)(x < 800), x, splat64(800)), (V64){0}}, &k);
    const sum64 p = product_of_sums(g, e);
    return scaled(p.hi + p.lo, k);
}

/* Infinite and huge arguments one by one; the sign of an odd order at the end. */
ALWAYS_INLINE V64 f64_bessel(V64 x, int n, bool is_scaled) {
    const V64 size = f64_magnitude(x);
    const M64 plain = (M64)(size <= 0x1p100), sign = (M64)x & (M64)(-(V64){0});
    const V64 y = either(plain, size, (V64){0});
    const sum64 e = scaled_bessel(n, y);
    const V64 r = is_scaled ? e.hi + e.lo : grown(e, y);
    return patch_special(n & 1 ? (V64)((M64)r | sign) : r, x, ~plain, lam__special_bessel_i, 2 * n + is_scaled);
}

/* The derivative of exp(-|x|) I_n(x), by tables of its own, since what it is the difference of cancels: -exp(-x) times
 * I_0(x) - I_1(x) for n = 0, the same without the sign less I_1(x)/x for n = 1, which has a zero at 1.54... At 0 the
 * derivative for n = 0 is 0, as that of |x| is taken to be there. */
ALWAYS_INLINE V64 f64_bessel_slope(V64 x, int n) {
    /* Of n = 0 the function is even, so the slope is odd. */
    const V64 zero = {0}, size = f64_magnitude(x), turn = either((M64)(x > 0), zero - 1, zero + 1);
    const M64 plain = (M64)(size <= 0x1p100);
    const V64 y = either(plain, size, zero);
    const sum64 shifted = any_sum(y, splat64(2 + 0x1p-20));
    const place p = place_of_inverse(15.5 - 0x1p-30, 32, inverse_of(shifted));
    sum64 top = n ? VALUE(p, lam__table_bessel_slope_1) : VALUE(p, lam__table_bessel_slope_0);
    sum64 divisor = product_of_sums(root_of(shifted), shifted);
    if (n) {
        /* The zero as a sum of two, and the distance from it as one: so the slope has its digits next to it. */
        sum64 away = any_sum(y, splat64(-0x1.8b8d75c13c72bp+0));
        away.lo -= 0x1.ea41d1af09efdp-54;
        top = product_of_sums(top, away);
        divisor = product_of_sums(divisor, shifted);
    }
    const sum64 q = quotient(top, divisor);
    const V64 r = n ? q.hi + q.lo : either((M64)(x == 0), zero, turn * (q.hi + q.lo));
    return patch_special(r, x, ~plain, lam__special_bessel_i, LAM__BESSEL_SCALED(n, 1));
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V64 f64_i0(V64 x) { return f64_bessel(x, 0, false); }
ALWAYS_INLINE V64 f64_i0e(V64 x) { return f64_bessel(x, 0, true); }
ALWAYS_INLINE V64 f64_i1(V64 x) { return f64_bessel(x, 1, false); }
ALWAYS_INLINE V64 f64_i2(V64 x) { return f64_bessel(x, 2, false); }
ALWAYS_INLINE V64 f64_i1e(V64 x) { return f64_bessel(x, 1, true); }
ALWAYS_INLINE V64 f64_i0e_slope(V64 x) { return f64_bessel_slope(x, 0); }
ALWAYS_INLINE V64 f64_i1e_slope(V64 x) { return f64_bessel_slope(x, 1); }
ALWAYS_INLINE V32 f32_i0(V32 x) { return f32_through1(x, f64_i0); }
ALWAYS_INLINE V32 f32_i0e(V32 x) { return f32_through1(x, f64_i0e); }
ALWAYS_INLINE V32 f32_i1(V32 x) { return f32_through1(x, f64_i1); }
ALWAYS_INLINE V32 f32_i2(V32 x) { return f32_through1(x, f64_i2); }
ALWAYS_INLINE V32 f32_i1e(V32 x) { return f32_through1(x, f64_i1e); }
ALWAYS_INLINE V32 f32_i0e_slope(V32 x) { return f32_through1(x, f64_i0e_slope); }
ALWAYS_INLINE V32 f32_i1e_slope(V32 x) { return f32_through1(x, f64_i1e_slope); }
/* clang-format on */

#endif
