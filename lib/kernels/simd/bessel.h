/* The modified Bessel functions I_0 and I_1 as vector functions, also times exp(-|x|), below 1 ULP in f64: one table
 * each for the whole half line, with the root that they fall with taken out. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_BESSEL_H
#define LAM_KERNELS_SIMD_BESSEL_H

#include "lib/kernels/simd/gamma.h"

/* For 0 <= x <= 2^100: s = x + 2 + 2^-20, its root, and what the table of order n gives. */
typedef struct bessel_parts {
    sum64 shifted, root, value;
} bessel_parts;

ALWAYS_INLINE bessel_parts bessel_parts_of(int n, V64 x) {
    const sum64 shifted = any_sum(x, splat64(2 + 0x1p-20));
    const place p = place_of_inverse(15.5 - 0x1p-30, 32, inverse_of(shifted));
    const sum64 v = n ? VALUE(p, lam__table_bessel_1) : VALUE(p, lam__table_bessel_0);
    return (bessel_parts){shifted, root_of(shifted), v};
}

/* exp(-x) I_n(x): the value by the root of s, for n = 1 times x/s too. */
ALWAYS_INLINE sum64 scaled_bessel(int n, V64 x) {
    const bessel_parts b = bessel_parts_of(n, x);
    if (n == 0) return quotient(b.value, b.root);
    sum64 divisor = product_of(b.root, b.shifted.hi), value = product_of(b.value, x);
    divisor.lo = madd(b.root.hi, b.shifted.lo, divisor.lo);
    return quotient(value, divisor);
}

/* exp(x) e. */
ALWAYS_INLINE V64 grown(sum64 e, V64 x) {
    V64 k;
    const sum64 g = exp_of((sum64){either((M64)(x < 800), x, splat64(800)), (V64){0}}, &k);
    const sum64 p = product_of_sums(g, e);
    return scaled(p.hi + p.lo, k);
}

ALWAYS_INLINE V64 f64_bessel(V64 x, int n, bool is_scaled) {
    const V64 size = f64_magnitude(x);
    const M64 plain = (M64)(size <= 0x1p100), sign = (M64)x & (M64)(-(V64){0});
    const V64 y = either(plain, size, (V64){0});
    const sum64 e = scaled_bessel(n, y);
    const V64 r = is_scaled ? e.hi + e.lo : grown(e, y);
    return patch_special(n ? (V64)((M64)r | sign) : r, x, ~plain, lam__special_bessel_i, 2 * n + is_scaled);
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V64 f64_i0(V64 x) { return f64_bessel(x, 0, false); }
ALWAYS_INLINE V64 f64_i0e(V64 x) { return f64_bessel(x, 0, true); }
ALWAYS_INLINE V64 f64_i1(V64 x) { return f64_bessel(x, 1, false); }
ALWAYS_INLINE V64 f64_i1e(V64 x) { return f64_bessel(x, 1, true); }
ALWAYS_INLINE V32 f32_i0(V32 x) { return f32_through1(x, f64_i0); }
ALWAYS_INLINE V32 f32_i0e(V32 x) { return f32_through1(x, f64_i0e); }
ALWAYS_INLINE V32 f32_i1(V32 x) { return f32_through1(x, f64_i1); }
ALWAYS_INLINE V32 f32_i1e(V32 x) { return f32_through1(x, f64_i1e); }
/* clang-format on */

#endif
