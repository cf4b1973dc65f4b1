/* The modified Bessel functions I_0 and I_1 as vector functions, also times exp(-|x|), below 1 ULP in f64: one table
 * each for the whole half line, with the root that they fall with taken out; and the derivatives of the latter. f32
 * goes through f64. */
#ifndef LAM_KERNELS_SIMD_BESSEL_H
#define LAM_KERNELS_SIMD_BESSEL_H

#include "lib/kernels/simd/gamma.h"

/* For 0 <= x <= 2^100: s = x + 2 + 2^-20, its root, and what the table of order n gives. Pieces are of equal width in
 * 1/s. */
typedef struct bessel_parts {
    sum64 shifted, root, value;
} bessel_parts;

ALWAYS_INLINE bessel_parts bessel_parts_of(int n, V64 x) {
    const sum64 shifted = any_sum(x, splat64(2 + 0x1p-20));
    const place p = place_of_inverse(15.5 - 0x1p-30, 32, inverse_of(shifted));
    const sum64 v = n ? VALUE(p, lam__table_bessel_1) : VALUE(p, lam__table_bessel_0);
    return (bessel_parts){shifted, root_of(shifted), v};
}

/* The product of the root and s, by which the value for n = 1 is exp(-x) I_1(x)/x. */
ALWAYS_INLINE sum64 divisor_of(const bessel_parts *b) {
    sum64 divisor = product_of(b->root, b->shifted.hi);
    divisor.lo = madd(b->root.hi, b->shifted.lo, divisor.lo);
    return divisor;
}

/* exp(-x) I_n(x): the value by the root of s, for n = 1 times x/s too. */
ALWAYS_INLINE sum64 scaled_bessel(int n, V64 x) {
    const bessel_parts b = bessel_parts_of(n, x);
    return n == 0 ? quotient(b.value, b.root) : quotient(product_of(b.value, x), divisor_of(&b));
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
    return patch_special(n ? (V64)((M64)r | sign) : r, x, ~plain, lam__special_bessel_i, 2 * n + is_scaled);
}

/* (I_0(x) - I_1(x)) exp(-x) times 2 x sqrt(2 pi x) in 1/x, for x >= 32: the difference of the asymptotic series, the
 * rest below 2^-53 */
static const double BESSEL_FALL[] = {
    0x1.899390e911307p+27,
    0x1.89f60e6cac5b9p+24,
    0x1.a4b152e43e2cdp+21,
    0x1.e167d975a6f19p+18,
    0x1.28b0434518614p+16,
    0x1.8c45ce0d09db7p+13,
    0x1.20cb84acbfa18p+11,
    0x1.cf3ae57e504p+8,
    0x1.9d08ec5418p+6,
    0x1.9ea793e8p+4,
    0x1.dc5239p+2,
    0x1.3fc4ap+1,
    0x1.0266p+0,
    0x1.068p-1,
    0x1.68p-2,
    0x1.8p-2,
    0x1p+0,
};

/* The derivative of exp(-|x|) I_n(x): with the difference d = exp(-x) (I_0(x) - I_1(x)), of sums as long as they have
 * digits enough, it is -d for n = 0, and d less exp(-x) I_1(x)/x for n = 1. At 0 the derivative for n = 0 is 0, as that
 * of |x| is taken to be there. */
ALWAYS_INLINE V64 f64_bessel_slope(V64 x, int n) {
    const V64 zero = {0}, size = f64_magnitude(x), turn = either((M64)(x > 0), zero - 1, zero + 1);
    const M64 plain = (M64)(size <= 0x1p100), far = (M64)(size >= 32);
    const V64 y = either(plain, size, zero), inverse = 1 / either(far, y, zero + 32);
    const bessel_parts b = bessel_parts_of(1, y);
    const sum64 share = quotient(b.value, divisor_of(&b)), e = scaled_bessel(0, y), f = product_of(share, y);
    const sum64 d = any_sum(e.hi, -f.hi);
    const V64 root = root64(inverse * 0.15915494309189535), fall = 0.5 * inverse * root * POWERS(inverse, BESSEL_FALL);
    const sum64 both = {either(far, fall, d.hi), either(far, zero, d.lo + (e.lo - f.lo))};
    V64 r = either((M64)(x == 0), zero, turn * (both.hi + both.lo));
    if (n == 1) {
        const sum64 less = any_sum(both.hi, -share.hi);
        r = less.hi + (less.lo + (both.lo - share.lo));
    }
    return patch_special(r, x, ~plain, lam__special_bessel_i, LAM__BESSEL_SCALED(n, 1));
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V64 f64_i0(V64 x) { return f64_bessel(x, 0, false); }
ALWAYS_INLINE V64 f64_i0e(V64 x) { return f64_bessel(x, 0, true); }
ALWAYS_INLINE V64 f64_i1(V64 x) { return f64_bessel(x, 1, false); }
ALWAYS_INLINE V64 f64_i1e(V64 x) { return f64_bessel(x, 1, true); }
ALWAYS_INLINE V64 f64_i0e_slope(V64 x) { return f64_bessel_slope(x, 0); }
ALWAYS_INLINE V64 f64_i1e_slope(V64 x) { return f64_bessel_slope(x, 1); }
ALWAYS_INLINE V32 f32_i0(V32 x) { return f32_through1(x, f64_i0); }
ALWAYS_INLINE V32 f32_i0e(V32 x) { return f32_through1(x, f64_i0e); }
ALWAYS_INLINE V32 f32_i1(V32 x) { return f32_through1(x, f64_i1); }
ALWAYS_INLINE V32 f32_i1e(V32 x) { return f32_through1(x, f64_i1e); }
ALWAYS_INLINE V32 f32_i0e_slope(V32 x) { return f32_through1(x, f64_i0e_slope); }
ALWAYS_INLINE V32 f32_i1e_slope(V32 x) { return f32_through1(x, f64_i1e_slope); }
/* clang-format on */

#endif
