/* The inverses of erf and of the normal distribution as vector functions, below 1 ULP in f64: the one by a table over
 * the logarithm of what the square leaves of 1; the other, whose tails reach much further, by a polynomial in the
 * middle and in the tails the root of minus the logarithm, mended by a table. f32's erf_inv is in single_functions.h,
 * its ndtri goes through f64. */
#ifndef LAM_KERNELS_SIMD_INVERSE_H
#define LAM_KERNELS_SIMD_INVERSE_H

#include "lib/kernels/simd/error.h"
#include "lib/kernels/simd/log.h"
#include "lib/kernels/simd/pow.h"
#include "lib/kernels/special/special.h"

/* erf_inv(x)/x in 8 x^2 - 1, for |x| <= 1/2, but for most of the first coefficient */
static const double INVERSE_MIDDLE[] = {
    0x1.ede07d1651b6cp-46, 0x1.d17c7b07ac5f5p-43, 0x1.9e7921c41ccd2p-40, 0x1.8e278f9035352p-37, 0x1.82612730b09e3p-34,
    0x1.7a340d2857d16p-31, 0x1.76f884a507bd0p-28, 0x1.79cf22ed476e7p-25, 0x1.84ae1144b9184p-22, 0x1.9b356dec0d0fbp-19,
    0x1.c499564b109fap-16, 0x1.08877d2b56c98p-12, 0x1.56a033eae07a1p-9,  0x1.12fc00eac5524p-5,  -0x1.7f22ac87b8cb4p-55,
};
static const double INVERSE_MIDDLE_FIRST = 0x1.d5b68cab21ed6p-1;

/* Here and below as a sum: values lose nothing where they are multiplied by root 2. */
ALWAYS_INLINE sum64 inverse_middle(V64 x) {
    const V64 first = splat64(INVERSE_MIDDLE_FIRST), rest = POWERS(8 * x * x - 1, INVERSE_MIDDLE);
    return product_of(fast_sum(first, rest), x);
}

/* y with erfc(y) = q, for q from 2^-299 to 1/2: in L = sqrt(-log(q)), from which y differs little. */
ALWAYS_INLINE sum64 inverse_tail(V64 q) {
    const sum64 log = log_of_parts(parts_of(q), (V64){0}), size = root_of((sum64){-log.hi, -log.lo});
    const sum64 off =
        /* As the table says: in 16.57 - 32/(L + 1.05). */
        VALUE(place_of_inverse(16.57, 32, inverse_of(any_sum(size.hi, splat64(1.05)))), lam__table_erfc_inv);
    const sum64 y = any_sum(size.hi, off.hi);
    return fast_sum(y.hi, y.lo + (size.lo + off.lo));
}

/* erf_inv(x)/x as a function of -log(1 - x^2), in which it is as smooth at 0 as in the tails. */
ALWAYS_INLINE V64 f64_erf_inv(V64 x) {
    const V64 zero = {0}, size = f64_magnitude(x), number = either((M64)(size < 1), x, zero);
    /* 1 - x^2 as a sum: next to 1 the first difference is exact. */
    const sum64 square = product(number, number), left = fast_sum(zero + 1, -square.hi);
    const sum64 log = f64_log_of_sum(fast_sum(left.hi, left.lo - square.lo));
    const doubling d = doubling_of(-log.hi, 2.40625);
    const sum64 p = PIECES(d.off - log.lo, d.at, lam__table_erf_inv), y = product_of(p, number);
    /* Next to the least numbers products have no exact error. The factor is sqrt(pi)/2, the slope at 0. */
    const V64 r = either((M64)(size < 0x1p-900), number * 0.88622692545275801, y.hi + y.lo);
    /* Beyond 1 there is none. */
    return either((M64)(size < 1), r, either((M64)(size == 1), x * INFINITY, zero + NAN));
}

/* Lanes `where` one by one: 0, 1, what lies outside of them, and the far tail. */
static __attribute__((noinline)) V64 patched_ndtri(V64 y, V64 p, M64 where) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) y[i] = lam__special_ndtri(p[i]);
    return y;
}

/* Rounded once. */
ALWAYS_INLINE V64 times_root_2(sum64 x) {
    const sum64 y = product_of(x, splat64(0x1.6a09e667f3bcdp+0));
    return y.hi + madd(x.hi, splat64(-0x1.bdd3413b26456p-54), y.lo);
}

/* Below 2^-300 come quantiles that are not met but on purpose. */
ALWAYS_INLINE V64 f64_ndtri(V64 p) {
    const V64 zero = {0};
    const M64 low = (M64)(p < 0.5), middle = (M64)(p >= 0.25) & (M64)(p <= 0.75);
    const M64 rare = ~((M64)(p >= 0x1p-300) & (M64)(p < 1));
    /* Exact between 1/4 and 3/4. */
    V64 y = times_root_2(inverse_middle(either(middle, 2 * p - 1, zero)));
    if (any64(~middle)) {
        /* Exact from 1/2 on, so the upper tail has as many digits as p has. */
        const V64 tail = times_root_2(inverse_tail(either(middle | rare, zero + 0.5, 2 * either(low, p, 1 - p))));
        y = either(middle, y, either(low, -tail, tail));
    }
    return any64(rare) ? patched_ndtri(y, p, rare) : y;
}

ALWAYS_INLINE V32 f32_ndtri(V32 p) {
    return f32_through1(p, f64_ndtri);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_ndtri_slope(V64 y, V64 p, M64 where) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) y[i] = lam__special_ndtri_slope(p[i]);
    return y;
}

/* One over the density at the quantile of p: with y of erfc(y) = q for twice the smaller tail it is sqrt(2 pi)
 * exp(y^2), taken as sqrt(2 pi) erfcx(y)/q, in which no digit of y counts more than once. */
ALWAYS_INLINE V64 f64_ndtri_slope(V64 p) {
    const V64 zero = {0}, half = zero + 0.5;
    const sum64 root = {zero + 0x1.40d931ff62706p+1, zero - 0x1.a6a0d6f814637p-53};
    const M64 rare = ~((M64)(p >= 0x1p-300) & (M64)(p < 1));
    /* The smaller tail, twice. */
    const V64 q = 2 * either(rare, half, either((M64)(p < 0.5), p, 1 - p));
    const M64 middle = (M64)(q >= 0.5);
    sum64 y = inverse_middle(either(middle, 1 - q, zero));
    if (any64(~middle)) y = either_sum(middle, y, inverse_tail(either(middle, half, q)));
    const sum64 s = quotient(product_of_sums(erfcx_of(y.hi, y.lo), root), (sum64){q, zero});
    return any64(rare) ? patched_ndtri_slope(s.hi + s.lo, p, rare) : s.hi + s.lo;
}

ALWAYS_INLINE V32 f32_ndtri_slope(V32 p) {
    return f32_through1(p, f64_ndtri_slope);
}

#endif
