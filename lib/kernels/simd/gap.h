/* psi(a + b) - psi(a) and the same of psi' as vector functions: sums of differences of the terms that the functions are
 * sums of, all of one sign, so that nothing cancels however small b is beside a. Rare arguments are done one by one.
 * f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_GAP_H
#define LAM_KERNELS_SIMD_GAP_H

#include "lib/kernels/simd/gamma.h"
#include "lib/kernels/simd/logs.h"

/* Terms that are taken one by one. */
enum { GAP_TERMS = 10 };

/* B_2k / 2k and B_2k for k = 1, ..., 9: of the series of psi and psi' (Abramowitz and Stegun 6.3.18, 6.4.12). */
static const double PSI_SERIES[] = {1.0 / 12,       -1.0 / 120, 1.0 / 252,      -1.0 / 240,     1.0 / 132,
                                    -691.0 / 32760, 1.0 / 12,   -3617.0 / 8160, 43867.0 / 14364};
static const double PSI_1_SERIES[] = {1.0 / 6,       -1.0 / 30, 1.0 / 42,      -1.0 / 30,    5.0 / 66,
                                      -691.0 / 2730, 7.0 / 6,   -3617.0 / 510, 43867.0 / 798};

/* For x = 1/y and z = 1/(y + b): the sum of c_k (x^m - z^m) / (x - z) over m = first, first + 2, ... */
ALWAYS_INLINE V64 series_gap(V64 x, V64 z, const double *c, int first) {
    V64 t = splat64(1), power = splat64(1), sum = {0}; /* (x^m - z^m) / (x - z) and z^(m - 1) for m = 1, 2, ... */
    for (int m = 2; m <= first + 16; m++) {
        /* Both recurrences have positive terms alone, so t has no cancellation. */
        power *= z;
        t = madd(x, t, power);
        if ((m - first) % 2 == 0) sum = madd(t, splat64(c[(m - first) / 2]), sum);
    }
    return sum;
}

/* psi(a + b) - psi(a) = log(1 + b/y) + (x - z)/2 + ..., of y = a + GAP_TERMS, and b/(p (p + b)) for each p before. */
ALWAYS_INLINE V64 digamma_gap_of(V64 a, V64 b) {
    /* x - z = b x z, without a difference. */
    const V64 y = a + GAP_TERMS, x = 1 / y, z = 1 / (y + b), apart = b * x * z;
    /* log((y + b)/y), of which 1 + b/y would lose a small b. */
    const sum64 log = log1p_anywhere(b / y);
    V64 rest = madd(apart, 0.5 + series_gap(x, z, PSI_SERIES, 2), log.lo); /* by itself: it may be nothing but ulps */
    /* The terms before y, from the smallest on. */
    for (int j = GAP_TERMS - 1; j >= 0; j--) rest += b / ((a + j) * (a + j + b));
    return log.hi + rest;
}

/* psi'(a) - psi'(a + b) = (x - z) (1 + (x + z)/2 + ...), and b (2 p + b)/(p (p + b))^2 for each p before. */
ALWAYS_INLINE V64 trigamma_gap_of(V64 a, V64 b) {
    const V64 y = a + GAP_TERMS, x = 1 / y, z = 1 / (y + b), apart = b * x * z;
    V64 rest = apart * (0.5 * (x + z) + series_gap(x, z, PSI_1_SERIES, 3));
    for (int j = GAP_TERMS - 1; j >= 0; j--) {
        /* b (1/p + 1/q)/(p q) is b (2 p + b)/(p q)^2. */
        const V64 p = a + j, q = p + b;
        rest += b / (p * q) * (1 / p + 1 / q);
    }
    return -(apart + rest);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_gap(V64 r, V64 a, V64 b, M64 where, int64_t n) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_polygamma_gap(a[i], b[i], n);
    return r;
}

/* Where products of four operands stay in range. */
ALWAYS_INLINE V64 gap_of(V64 a, V64 b, int64_t n, V64 f(V64, V64)) {
    /* a >= 2^-200: four factors of it are 2^-800. */
    const M64 plain = (M64)(a >= 0x1p-200) & (M64)(a <= 0x1p200) & (M64)(b >= 0) & (M64)(b <= 0x1p200);
    const V64 one = splat64(1), r = f(either(plain, a, one), either(plain, b, one));
    return any64(~plain) ? patched_gap(r, a, b, ~plain, n) : r;
}

ALWAYS_INLINE V64 f64_digamma_gap(V64 a, V64 b) {
    return gap_of(a, b, 0, digamma_gap_of);
}

ALWAYS_INLINE V64 f64_trigamma_gap(V64 a, V64 b) {
    return gap_of(a, b, 1, trigamma_gap_of);
}

/* Through doubles. */
ALWAYS_INLINE V32 f32_digamma_gap(V32 a, V32 b) {
    return f32_through2(a, b, f64_digamma_gap);
}

ALWAYS_INLINE V32 f32_trigamma_gap(V32 a, V32 b) {
    return f32_through2(a, b, f64_trigamma_gap);
}

#endif
