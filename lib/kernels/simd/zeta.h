/* The Hurwitz zeta function and polygamma of whole order as vector functions: the sum of (q + k)^-s by Euler and
 * Maclaurin (Johansson, Rigorous high-precision computation of the Hurwitz zeta function, 2015), in sums of two
 * doubles, so that nothing but the last rounding is seen. Rare arguments are done one by one. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_ZETA_H
#define LAM_KERNELS_SIMD_ZETA_H

#include "lib/kernels/simd/stirling.h"

/* Terms that are added one by one, and the largest s that the rest is good for. With ten terms and twelve Bernoulli
 * numbers what is left out is below rounding. */
enum { ZETA_TERMS = 10, MOST_ZETA = 32 };

/* B_2j / (2j)! for j = 12, ..., 1 */
static const double BERNOULLI_SHARES[] = {
    -0x1.497d9033a2b5cp-63, 0x1.967e1f09c376fp-58, -0x1.f57d968caacf1p-53, 0x1.355871d652e9ep-47,
    -0x1.7da4e1f79955cp-42, 0x1.d6db2c4e09162p-37, -0x1.22805d644267fp-31, 0x1.66a8f2bf70ebep-26,
    -0x1.bbd779334ef0bp-21, 0x1.1566abc011567p-15, -0x1.6c16c16c16c17p-10, 0x1.5555555555555p-4,
};

/* y^-s as a sum. By logarithm and exponential, whose errors multiply with s: hence MOST_ZETA. */
ALWAYS_INLINE sum64 power_of_sum(sum64 y, sum64 s) {
    const sum64 log = product_of_sums(log_of(y), (sum64){-s.hi, -s.lo});
    V64 k;
    const sum64 e = exp_of(log, &k);
    return (sum64){scaled(e.hi, k), scaled(e.lo, k)};
}

/* y^-n as a sum, for whole n > 0. By squares of the inverse, with less than a rounding's loss in each. */
ALWAYS_INLINE sum64 whole_power_of_sum(sum64 y, int64_t n) {
    sum64 square = inverse_of(y), power = square;
    /* One factor is there already. */
    for (n--; n; n >>= 1) {
        if (n & 1) power = product_of_sums(power, square);
        if (n > 1) square = product_of_sums(square, square);
    }
    return power;
}

/* The sum of B_2j/(2j)! s (s + 1) ... (s + 2j - 2) y^(1 - 2j) over j = 1, 2, ..., from the last on. */
ALWAYS_INLINE V64 bernoulli_sum(V64 y, V64 s) {
    const V64 inverse = 1 / y, square = inverse * inverse;
    V64 sum = splat64(BERNOULLI_SHARES[0]);
    /* Horner's rule from the last term on; each step has two factors of s more. */
    for (int j = 12; j > 1; j--)
        sum = madd(sum * square, (s + (2 * j - 3)) * (s + (2 * j - 2)), splat64(BERNOULLI_SHARES[13 - j]));
    return sum * s * inverse;
}

/* For 1 < s <= MOST_ZETA and q > 0 whose powers are numbers; s may be given as a whole number, which is quicker. The
 * tail is power times (y/(s - 1) + 1/2 + the Bernoulli sum), for y = q + ZETA_TERMS. */
ALWAYS_INLINE sum64 plain_zeta(sum64 s, int64_t whole, V64 q) {
    const V64 zero = {0};
    sum64 sum = {zero, zero}, power = sum, y = sum;
    for (int k = 0; k <= ZETA_TERMS; k++) {
        /* q + k as a sum; the last power, of q + ZETA_TERMS, is only for the rest. */
        y = any_sum(q, splat64(k));
        power = whole ? whole_power_of_sum(y, whole) : power_of_sum(y, s);
        if (k < ZETA_TERMS) sum = plus(sum, power);
    }
    /* The integral y/(s - 1), half of the last term, and the derivatives at the end. */
    sum64 rest = quotient(y, plus(s, (sum64){splat64(-1), zero}));
    rest = plus(rest, any_sum(splat64(0.5), bernoulli_sum(y.hi, s.hi)));
    return plus(sum, product_of_sums(power, rest));
}

/* Where 12 steps of s each way stay numbers, whatever s is. And next to s = 1 the pole takes the digits. */
ALWAYS_INLINE M64 is_plain_zeta(V64 s, V64 q) {
    return (M64)(s > 1 + 0x1p-40) & (M64)(s <= MOST_ZETA) & (M64)(q >= 0x1p-28) & (M64)(q <= 0x1p28);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_zeta(V64 r, V64 s, V64 q, M64 where, int64_t code) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_zeta(s[i], q[i], code);
    return r;
}

/* Lanes that are not plain stand for (2, 1) until they are patched, and the vector's sum is made only if it has a plain
 * one. */
ALWAYS_INLINE V64 f64_zeta(V64 s, V64 q) {
    const M64 plain = is_plain_zeta(s, q);
    V64 r = {0};
    if (any64(plain)) {
        const sum64 z = plain_zeta((sum64){either(plain, s, splat64(2)), {0}}, 0, either(plain, q, splat64(1)));
        r = z.hi + z.lo;
    }
    return any64(~plain) ? patched_zeta(r, s, q, ~plain, 0) : r;
}

/* -s zeta(s + 1, q), where s + 1 is not rounded. */
ALWAYS_INLINE V64 f64_zeta_by_q(V64 s, V64 q) {
    const M64 plain = is_plain_zeta(s, q) & (M64)(s <= MOST_ZETA - 1);
    V64 r = {0};
    if (any64(plain)) {
        /* Lanes that are not plain stand for (2, 1). */
        const V64 first = either(plain, s, splat64(2));
        const sum64 z = product_of(plain_zeta(any_sum(first, splat64(1)), 0, either(plain, q, splat64(1))), -first);
        r = z.hi + z.lo;
    }
    return any64(~plain) ? patched_zeta(r, s, q, ~plain, LAM__SLOPE_CODE(1, 0)) : r;
}

/* Through doubles. */
ALWAYS_INLINE V32 f32_zeta(V32 s, V32 q) {
    return f32_through2(s, q, f64_zeta);
}

ALWAYS_INLINE V32 f32_zeta_by_q(V32 s, V32 q) {
    return f32_through2(s, q, f64_zeta_by_q);
}

/* The largest order whose factorial is a double, and by which no sign is lost. */
enum { MOST_VECTOR_POLYGAMMA = 18 };

/* (-1)^(n+1) n! zeta(n + 1, x), for n from 2 to MOST_VECTOR_POLYGAMMA. */
ALWAYS_INLINE V64 polygamma_of(V64 x, int64_t n) {
    const M64 plain = is_plain_zeta(splat64(2), x);
    V64 r = {0};
    if (any64(plain)) {
        /* Exact: factorials up to 18! are doubles. */
        double factor = n & 1 ? 1 : -1;
        for (int64_t k = 2; k <= n; k++) factor *= (double)k;
        const sum64 z = plain_zeta((sum64){splat64((double)n + 1), {0}}, n + 1, either(plain, x, splat64(1)));
        const sum64 scaled_up = product_of(z, splat64(factor));
        r = scaled_up.hi + scaled_up.lo;
    }
    return patch_special(r, x, ~plain, lam__special_polygamma, n);
}

#endif
