/* The normal distribution, the inverses of erf and softplus as vector functions, for the set being compiled: at most
 * 2.5
 * ULP in f64 (tests/kernels measures them against MPFR), exact but for the last bit in f32, which goes through f64.
 * The polynomials are Chebyshev expansions at 50 digits, cut below 2^-55 of the result and written out in powers,
 * highest first. */
#ifndef LAM_KERNELS_SIMD_NORMAL_H
#define LAM_KERNELS_SIMD_NORMAL_H

#include "lib/kernels/simd/logistic.h"
#include "lib/kernels/special/special.h"

#if defined(__AVX512F__)
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm512_sqrt_pd((__m512d)x);
}
#elif defined(__AVX2__)
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm256_sqrt_pd((__m256d)x);
}
#else
ALWAYS_INLINE V64 root64(V64 x) {
    return (V64)_mm_sqrt_pd((__m128d)x);
}
#endif

/* ---- softplus ---------------------------------------------------------------------------------------------------- */

ALWAYS_INLINE V64 f64_softplus(V64 x) {
    V64 zero = {0}, rest = SLEEF64(log1p, u10)(SLEEF64(exp, u10)(-f64_magnitude(x)));
    return f64_select((M64)(x > 0), x, zero) + rest;
}

ALWAYS_INLINE V32 f32_softplus(V32 x) {
    return f32_through1(x, f64_softplus);
}

/* ---- ndtr -------------------------------------------------------------------------------------------------------- */

/* erfc(z + d)/2 where z + d is -x/sqrt(2) to 100 bits, of which d alone would be up to 700 ulps in the tail. The slope
 * of log erfc, which d is multiplied by, is needed to a per cent: -(z + sqrt(z^2 + 4/pi)) is that (Abramowitz and
 * Stegun 7.1.13). */
ALWAYS_INLINE V64 f64_ndtr(V64 x) {
    const double scale = 0x1.6a09e667f3bcdp-1, scale_rest = -0x1.bdd3413b26456p-55;
    V64 zero = {0}, bound = f64_select((M64)(x > 40), zero + 40, x);
    bound = f64_select((M64)(bound < -40), zero - 40, bound);
    V64 z = -bound * scale, d = -(remainder_of(z, -bound, zero + scale) + bound * scale_rest);
    V64 steep = z + root64(z * z + 1.2732395447351628);
    V64 half = 0.5 * f64_erfc(z);
    return half - half * (steep * d);
}

ALWAYS_INLINE V64 quick_ndtr(V64 x) {
    return 0.5 * f64_erfc(x * -0.70710678118654752);
}

ALWAYS_INLINE V32 f32_ndtr(V32 x) {
    return f32_through1(x, quick_ndtr);
}

/* ---- inverses ---------------------------------------------------------------------------------------------------- */

/* erf_inv(x)/x in 8 x^2 - 1, for |x| <= 1/2 */
static const double INVERSE_MIDDLE[] = {
    0x1.ede07d1651b6cp-46, 0x1.d17c7b07ac5f5p-43, 0x1.9e7921c41ccd2p-40, 0x1.8e278f9035352p-37, 0x1.82612730b09e3p-34,
    0x1.7a340d2857d16p-31, 0x1.76f884a507bd0p-28, 0x1.79cf22ed476e7p-25, 0x1.84ae1144b9184p-22, 0x1.9b356dec0d0fbp-19,
    0x1.c499564b109fap-16, 0x1.08877d2b56c98p-12, 0x1.56a033eae07a1p-9,  0x1.12fc00eac5524p-5,  0x1.d5b68cab21ed6p-1,
};

/* y - L in (L - 1.54125)/0.70875, for L from 0.8325 to 2.25 */
static const double INVERSE_NEAR[] = {
    -0x1.66313f98ce005p-34, 0x1.8f3b25704ffa5p-34,  0x1.3e7ee0041ddecp-31,  -0x1.c744c9be684c2p-30,
    0x1.6d56deffa5a4ap-29,  -0x1.58f261c7d03f2p-28, 0x1.a77037fc30054p-28,  0x1.af2aceb0c6d54p-27,
    -0x1.c0308d0a9a09cp-24, 0x1.addd08783feb3p-22,  -0x1.35ec77a58914cp-20, 0x1.5e44bdd1a2ddep-19,
    -0x1.0d0b71c577b69p-18, -0x1.8f277213b31bdp-22, 0x1.1be85abb8d7f3p-15,  -0x1.67197228d9b8dp-13,
    0x1.42aaf465fdbefp-11,  -0x1.df340c688b19bp-10, 0x1.2d4768a8bbaa0p-8,   -0x1.2ffb4a02fc6d3p-7,
    0x1.5ae70e22d7049p-7,   0x1.e0dda6f43102fp-6,   -0x1.69d8b7daf386fp-2,
};

/* y - L in (L - 4.2)/1.95, for L from 2.25 to 6.15 */
static const double INVERSE_FAR[] = {
    -0x1.ffa48ed4d68e2p-32, 0x1.b0aafad109bffp-31,  0x1.c6d07294e9860p-30, -0x1.d89a2cd847398p-29,
    -0x1.fb2581788e13bp-33, -0x1.cd49bc70dc911p-29, 0x1.cbf9587e1fefcp-26, -0x1.23f8fd7f7eb60p-24,
    0x1.52b1cbdc94552p-23,  -0x1.a5a47dc393e65p-22, 0x1.ffcfd547fedaap-21, -0x1.2a92a82bc30c8p-19,
    0x1.52cc667ee25bdp-18,  -0x1.75da7f5cf4998p-17, 0x1.8f4cac3c70b6ep-16, -0x1.99bfea518767fp-15,
    0x1.8e596dd036014p-14,  -0x1.6432128d1b291p-13, 0x1.0f7df6a351b3ap-12, -0x1.ffb984fad5aefp-13,
    -0x1.8a9f740981cf0p-12, 0x1.c00943c823aa5p-9,   -0x1.f23bd4b92bf92p-7, 0x1.e262fbd8061a2p-5,
    -0x1.f08310a9f1fd9p-3,
};

#define INVERSE(table, z) powers(z, table, (int)(sizeof table / sizeof *table))

ALWAYS_INLINE V64 powers(V64 z, const double *c, int count) {
    V64 sum = (V64){0} + c[0];
    for (int i = 1; i < count; i++) sum = sum * z + c[i];
    return sum;
}

ALWAYS_INLINE V64 inverse_middle(V64 x) {
    return x * INVERSE(INVERSE_MIDDLE, 8 * x * x - 1);
}

/* y with erfc(y) = q: in L = sqrt(-log(q)), from which y differs little. Good for q from 2^-54 to 1/2. */
ALWAYS_INLINE V64 inverse_tail(V64 q) {
    V64 size = root64(-SLEEF64(log, u10)(q));
    V64 near = INVERSE(INVERSE_NEAR, (size - 1.54125) * (1 / 0.70875));
    V64 far = INVERSE(INVERSE_FAR, (size - 4.2) * (1 / 1.95));
    return size + f64_select((M64)(size < 2.25), near, far);
}

ALWAYS_INLINE V64 f64_erf_inv(V64 x) {
    V64 size = f64_magnitude(x), zero = {0}, tail = inverse_tail(1 - size);
    M64 sign = (M64)x & (M64)(-zero);
    tail = f64_select((M64)(size == 1), zero + INFINITY, tail);
    V64 y = f64_select((M64)(size <= 0.5), inverse_middle(x), (V64)((M64)tail | sign));
    return f64_select((M64)(size > 1), zero + NAN, y);
}

ALWAYS_INLINE V32 f32_erf_inv(V32 x) {
    return f32_through1(x, f64_erf_inv);
}

static __attribute__((noinline)) V64 patched_ndtri(V64 y, V64 p, M64 where) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) y[i] = lam__special_ndtri(p[i]);
    return y;
}

/* The double nearest to the root is off by 0.43 ulp, which is added. */
ALWAYS_INLINE V64 times_root_2(V64 x) {
    return x * 0x1.6a09e667f3bcdp+0 + x * -0x1.bdd3413b26456p-54;
}

/* Below 2^-55 come quantiles that are not met but on purpose. */
ALWAYS_INLINE V64 f64_ndtri(V64 p) {
    V64 x = 2 * p - 1;
    M64 low = (M64)(p < 0.5);
    V64 tail = times_root_2(inverse_tail(2 * f64_select(low, p, 1 - p)));
    V64 y = f64_select((M64)(f64_magnitude(x) <= 0.5), times_root_2(inverse_middle(x)), f64_select(low, -tail, tail));
    M64 rare = ~(M64)(p >= 0x1p-55) | (M64)(p >= 1);
    return any64(rare) ? patched_ndtri(y, p, rare) : y;
}

ALWAYS_INLINE V32 f32_ndtri(V32 p) {
    return f32_through1(p, f64_ndtri);
}

#endif
