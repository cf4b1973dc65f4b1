/* The gamma function, exponential, sine and Fresnel's integrals, Spence's function, exprel and Lambert's W as vector
 * functions, below 1 ULP in f64: tables and short series for what is smooth, exponentials and logarithms of sums of two
 * doubles for the rest. What is rare (left of 0 for gamma, next to the branch point for W, next to nothing and to
 * infinity) is done one by one (lib/kernels/special/integrals.c). A part that no lane of a vector needs is left out,
 * which changes no lane. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_INTEGRALS_H
#define LAM_KERNELS_SIMD_INTEGRALS_H

#include "lib/kernels/simd/bessel.h"
#include "lib/kernels/simd/bessel_j.h"
#include "lib/kernels/simd/error.h"
#include "lib/kernels/simd/hyperbolic.h"
#include "lib/kernels/simd/stirling.h"
#include "lib/kernels/simd/trig.h"

/* Lanes that are not `plain` by the function that takes one number. */
#define PATCHED(y, x, plain, which, order)                                                                             \
    patch_special(y, x, ~(plain), lam__special_integrals, LAM__INTEGRAL_CODE(which, order))

/* ---- gamma ------------------------------------------------------------------------------------------------------ */

/* (x - 1/2) log(x) - x + log(2 pi)/2 and what Stirling's formula lacks, for x >= 9. */
ALWAYS_INLINE sum64 log_gamma_beyond(V64 x) {
    const V64 inverse = 1 / x, rest = inverse * POWERS(inverse * inverse, LGAMMA_REST);
    const sum64 power = product_of(log_of_parts(parts_of(x), (V64){0}), x - 0.5); /* x has bits left for a half */
    const sum64 constant = any_sum(splat64(HALF_LOG_2_PI), -x);
    return plus(power, (sum64){constant.hi, constant.lo + (rest + HALF_LOG_2_PI_REST)});
}

/* The exponential of log Gamma; below 1 it is Gamma(x + 1)/x. From 172 on it is infinite. */
ALWAYS_INLINE V64 f64_gamma(V64 x) {
    const M64 plain = (M64)(x >= 0x1p-500) & (M64)(x <= 200), below = (M64)(x < 1), inside = (M64)(x < 9);
    const V64 y = either(plain, x, splat64(2));
    /* 2 stands for lanes that are not plain, and for those that go the other way. */
    sum64 log = log_gamma_inside(either(inside, y, splat64(2)));
    if (any64(~inside)) log = either_sum(inside, log, log_gamma_beyond(either(inside, splat64(9), y)));
    V64 k;
    sum64 e = exp_of(log, &k);
    if (any64(below)) e = quotient(e, (sum64){either(below, y, splat64(1)), {0}});
    return PATCHED(scaled(e.hi + e.lo, k), x, plain, LAM__GAMMA, 0);
}

/* ---- exponential integrals -------------------------------------------------------------------------------------- */

static const double EULER_GAMMA = 0x1.2788cfc6fb619p-1, EULER_GAMMA_REST = -0x1.6cb90701fbfabp-58;

/* (x - E_1(x) - log(x) - gamma)/x^2 for x <= 0.5, the rest below 2^-56 */
static const double EXP1_REST[] = {
    -0x1.02ebce2440ee6p-29, 0x1.d27cd1f6f04e1p-26,  -0x1.488545b201af4p-22, 0x1.a0172dbaabc36p-19, -0x1.db8b5bc9a68p-16,
    0x1.e573ac3bad09dp-13,  -0x1.b4e81b4db2699p-10, 0x1.555555555452bp-7,   -0x1.c71c71c71c70dp-5, 0x1p-2,
};

/* x - gamma - log(x) less the rest, for x < 0.5, where nothing cancels to speak of. */
ALWAYS_INLINE V64 exp1_inside(V64 x) {
    const sum64 less = any_sum(x, splat64(-EULER_GAMMA)), log = log_of_parts(parts_of(x), (V64){0});
    /* gamma is a sum of two, since for x next to 0.5 the parts are of one size. */
    const sum64 r = minus((sum64){less.hi, less.lo - EULER_GAMMA_REST}, log);
    return r.hi + madd(-x * x, POWERS(x, EXP1_REST), r.lo);
}

/* exp(-x) times what the table gives by s, about x + 1/2, for x >= 0.5. */
ALWAYS_INLINE V64 exp1_beyond(V64 x) {
    const sum64 inverse = inverse_of(any_sum(x, splat64(0.5 + 0x1p-20)));
    const sum64 e = VALUE(place_of_inverse(15.5 - 0x1p-30, 16, inverse), lam__table_exp1);
    /* exp(-x) e: both as sums. */
    const sum64 r = damped((sum64){x, {0}}, product_of_sums(e, inverse));
    return r.hi;
}

/* Of x that is positive and not next to nothing. Beyond 1000 it is 0. */
ALWAYS_INLINE V64 exp1_of(V64 x) {
    const V64 half = splat64(0.5);
    const M64 inside = (M64)(x < 0.5);
    /* exp(-1000) is nothing. */
    const V64 r = exp1_beyond(either(inside, half, bounded(x, 1000)));
    return any64(inside) ? either(inside, exp1_inside(either(inside, x, half)), r) : r;
}

ALWAYS_INLINE V64 f64_exp1(V64 x) {
    /* Below 2^-1000 log(x) is done in another way; NaN and what is left of 0 go there too. */
    const M64 plain = (M64)(x >= 0x1p-1000);
    return PATCHED(exp1_of(either(plain, x, splat64(1))), x, plain, LAM__EXPN, 1);
}

/* exp(-x)/x, its slope with the other sign. */
ALWAYS_INLINE V64 f64_exp0(V64 x) {
    const M64 plain = (M64)(x >= 0x1p-900);
    const V64 y = either(plain, bounded(x, 1000), splat64(1));
    return PATCHED(damped((sum64){y, {0}}, inverse_of((sum64){y, {0}})).hi, x, plain, LAM__EXPN, 0);
}

/* (Ei(x) - log(x/zero))/(x - zero) for x <= 1, the rest below 2^-56. The last coefficient has a second part. */
static const double EXPI_ZERO = 0x1.7d72952b4b5fcp-2, EXPI_ZERO_REST = 0x1.e4c986021c6f2p-57;
static const double EXPI_FIRST = 0x1.19f5e1b267e52p+0, EXPI_FIRST_REST = -0x1.75f2cf3537336p-54;
static const double EXPI_REST[] = {
    0x1.6e3679248c4fcp-40, 0x1.86f553e042dc9p-37, 0x1.8f7642030b38ep-33, 0x1.41a90750b65cbp-29, 0x1.e87c054526e61p-26,
    0x1.5424287a051d7p-22, 0x1.aff09e621bdap-19,  0x1.efa8428ee1d97p-16, 0x1.fc8806bab4801p-13, 0x1.cc95ebc5ab3fcp-10,
    0x1.6ac79f8da04ecp-7,  0x1.e8e54953025e2p-5,  0x1.16c3c088da9dp-2,
};

/* By the distance from the zero for x < 1: both terms have its sign. */
ALWAYS_INLINE V64 expi_inside(V64 x) {
    const sum64 away = any_sum(x, splat64(-EXPI_ZERO)), d = {away.hi, away.lo - EXPI_ZERO_REST};
    const sum64 log = log_of(quotient((sum64){x, {0}}, (sum64){splat64(EXPI_ZERO), splat64(EXPI_ZERO_REST)}));
    const V64 more = madd(x, POWERS(x, EXPI_REST), splat64(EXPI_FIRST_REST));
    /* The last coefficient has a second part, so that next to the zero no digit is lost. */
    const sum64 r = plus(log, product_of_sums(d, fast_sum(splat64(EXPI_FIRST), more)));
    return r.hi + r.lo;
}

/* exp(x) times what the table gives by s, about x + 1, for x >= 1. */
ALWAYS_INLINE V64 expi_beyond(V64 x) {
    const sum64 inverse = inverse_of(any_sum(x, splat64(1 + 0x1p-20)));
    const sum64 e = VALUE(place_of_inverse(15.5 - 0x1p-30, 32, inverse), lam__table_expi);
    return grown(product_of_sums(e, inverse), x);
}

/* Left of 0 it is -E_1(-x). */
ALWAYS_INLINE V64 f64_expi(V64 x) {
    /* 1 stands for lanes that have another part. */
    const V64 size = f64_magnitude(x), one = splat64(1);
    const M64 plain = (M64)(size >= 0x1p-1000) & (M64)(size <= 0x1p60), left = (M64)(x < 0), inside = (M64)(size < 1);
    const V64 y = either(plain, size, one);
    V64 r = expi_beyond(either(inside | left, one, y));
    if (any64(inside)) r = either(inside, expi_inside(either(inside, y, one)), r);
    if (any64(left)) r = either(left, -exp1_of(y), r);
    return PATCHED(r, x, plain, LAM__EXPI, 0);
}

/* exp(x)/x, the slope of it. */
ALWAYS_INLINE V64 f64_expi_slope(V64 x) {
    const V64 size = f64_magnitude(x);
    const M64 plain = (M64)(size >= 0x1p-900) & (M64)(size <= 1000);
    const V64 y = either(plain, x, splat64(1));
    V64 k;
    const sum64 p = product_of_sums(exp_of((sum64){y, {0}}, &k), inverse_of((sum64){y, {0}}));
    return PATCHED(scaled(p.hi + p.lo, k), x, plain, LAM__EXPI, 1);
}

/* ---- sine integral ---------------------------------------------------------------------------------------------- */

/* pi/2 less f(x) cos(x) + g(x) sin(x), for x >= 4. */
ALWAYS_INLINE V64 si_beyond(V64 x) {
    const sum64 inverse = inverse_of(any_sum(x, splat64(0x1p-20)));
    const place p = place_of_inverse(15.5 - 0x1p-30, 64, inverse);
    const f64_pair turn = f64_sincos(x);
    const sum64 f = PIECES(p.off, p.at, lam__table_si_f), g = PIECES(p.off, p.at, lam__table_si_g);
    const V64 sines = (g.hi + g.lo) * inverse.hi * turn.sine;
    const sum64 sum = fast_sum(splat64(0x1.921fb54442d18p+0), -inverse.hi * madd(f.hi + f.lo, turn.cosine, sines));
    return sum.hi + (sum.lo + 0x1.1a62633145c07p-54);
}

/* Odd: that of the size, with the sign of x. Below 4 it is x times a table. */
ALWAYS_INLINE V64 f64_si(V64 x) {
    const V64 size = f64_magnitude(x), four = splat64(4);
    const M64 plain = (M64)(size >= 0x1p-900) & (M64)(size <= 0x1p900), inside = (M64)(size < 4);
    /* Pieces are a quarter wide. */
    const V64 y = either(plain, size, four), near = either(inside, y, four);
    const sum64 p = product_of(VALUE(place_of(madd(near, four, splat64(-0.5))), lam__table_si), near);
    V64 r = p.hi + p.lo;
    if (any64(~inside)) r = either(inside, r, si_beyond(either(inside, four, y)));
    return PATCHED((V64)((M64)r | ((M64)x & (M64)(-(V64){0}))), x, plain, LAM__SIN_INT, 0);
}

/* Its slope sin(x)/x. */
ALWAYS_INLINE V64 f64_si_slope(V64 x) {
    const V64 size = f64_magnitude(x);
    const M64 plain = (M64)(size >= 0x1p-60) & (M64)(size <= 0x1p900);
    /* Below 2^-60 sin(x)/x is 1, which the function of single numbers gives. */
    const V64 y = either(plain, size, splat64(1));
    const sum64 q = quotient(waves_of(f64_turned_of(y)).sine, (sum64){y, {0}});
    return PATCHED(q.hi + q.lo, x, plain, LAM__SIN_INT, 1);
}

/* ---- cosine integral --------------------------------------------------------------------------------------------- */

/* Ci(x)/(x - zero) for 2.9 <= x < 4, the rest below 2^-60. The last coefficient has a second part. */
static const double CI_ZERO = 0x1.b12cd2f74f769p+1, CI_ZERO_REST = 0x1.c6bdbd631b168p-53;
static const double CI_FIRST = -0x1.25b97c28501b4p-2, CI_FIRST_REST = -0x1.08276a9a61ec6p-56;
static const double CI_REST[] = {
    -0x1.26d1766c9076dp-47, 0x1.044636657a559p-45, -0x1.cc6d12939b20ep-44, 0x1.98173eb5f62e0p-42,
    -0x1.6a86c195e28c4p-40, 0x1.42db43630fdd4p-38, -0x1.205379ac01439p-36, 0x1.024948c9d51b0p-34,
    -0x1.d05d824cd42f5p-33, 0x1.a30f0f6208a3bp-31, -0x1.7bc20180ddd97p-29, 0x1.5a1be7d8743d2p-27,
    -0x1.3ead2d8b19ed9p-25, 0x1.24f34373235fdp-23, -0x1.0245c316cddccp-21, 0x1.f9527c28bdbe4p-20,
    -0x1.5576679888636p-17, 0x1.110be708c81ddp-15, 0x1.9373e6e7f75fcp-14,  0x1.4664f2dcb93e6p-17,
    -0x1.4caff42425f01p-7,  0x1.09f772bdaa7aap-5,  0x1.3ef529b2333f3p-4,
};

/* By the distance from the second zero, around which the terms below cancel. */
ALWAYS_INLINE V64 ci_next_to_zero(V64 x) {
    /* The zero as a sum of two. */
    const sum64 d = fast_sum(x - CI_ZERO, splat64(-CI_ZERO_REST)); /* the difference is exact */
    const V64 more = madd(d.hi, POWERS(d.hi, CI_REST), splat64(CI_FIRST_REST));
    const sum64 r = product_of_sums(d, fast_sum(splat64(CI_FIRST), more));
    return r.hi + r.lo;
}

/* gamma + log(x) less what is even in x, for x < 2.9; next to the first zero the rest of the table is not small. */
ALWAYS_INLINE V64 ci_inside(V64 x) {
    /* (gamma + log(x) - Ci(x))/x^2, which is even and smooth. */
    const sum64 even = VALUE(place_of(madd(x, splat64(4), splat64(-0.5))), lam__table_ci);
    const sum64 less = product_of_sums(even, product(x, x)), log = log_of_parts(parts_of(x), (V64){0});
    const sum64 r = minus(plus(log, (sum64){splat64(EULER_GAMMA), splat64(EULER_GAMMA_REST)}), less);
    return r.hi + r.lo;
}

/* f(x) sin(x) - g(x) cos(x) for x >= 4, where nothing cancels but next to zeros. */
ALWAYS_INLINE V64 ci_beyond(V64 x) {
    const sum64 inverse = inverse_of(any_sum(x, splat64(0x1p-20)));
    const place p = place_of_inverse(15.5 - 0x1p-30, 64, inverse);
    const waves64 turn = waves_of(f64_turned_of(x));
    const sum64 f = VALUE(p, lam__table_si_f), g = product_of_sums(VALUE(p, lam__table_si_g), inverse);
    /* Sums of two: next to zeros of Ci both products are of one size. */
    const sum64 r = minus(product_of_sums(f, turn.sine), product_of_sums(g, turn.cosine));
    const sum64 all = product_of_sums(fast_sum(r.hi, r.lo), inverse);
    return all.hi + all.lo;
}

/* Even, that is the real part left of 0. Results below 1/32 next to the first zero, 0.6165, have lost digits in the
 * difference that they are: those lanes are done one by one. */
ALWAYS_INLINE V64 f64_ci(V64 x) {
    const V64 size = f64_magnitude(x), four = splat64(4);
    const M64 plain = (M64)(size >= 0x1p-400) & (M64)(size <= 0x1p900);
    /* From 2.9 to 4 the second zero is near. */
    const M64 inside = (M64)(size < 2.9), beyond = (M64)(size >= 4), between = plain & ~inside & ~beyond;
    const V64 y = either(plain, size, four);
    V64 r = {0};
    if (any64(inside & plain)) r = ci_inside(either(inside & plain, y, splat64(1)));
    if (any64(between)) r = either(between, ci_next_to_zero(either(between, y, four)), r);
    if (any64(beyond)) r = either(beyond, ci_beyond(either(beyond, y, four)), r);
    return PATCHED(r, x, plain & ~(inside & (M64)(f64_magnitude(r) < 0x1p-5)), LAM__COS_INT, 0);
}

/* ---- Fresnel's integrals ---------------------------------------------------------------------------------------- */

/* pi/2 x^2: the square as a sum, whole turns taken off exactly of both parts, then the nearest quarter. */
ALWAYS_INLINE f64_turned turned_square(V64 x) {
    /* 4 quarters are a turn, so multiples of 4 come off both parts, which is exact. */
    const sum64 v = product(x, x), u = any_sum(v.hi - 4 * whole64(0.25 * v.hi), v.lo - 4 * whole64(0.25 * v.lo));
    const V64 shifted = u.hi + ROUNDER;
    const sum64 half_pi = {splat64(0x1.921fb54442d18p+0), splat64(0x1.1a62633145c07p-54)};
    const sum64 rest = product_of_sums(any_sum(u.hi - (shifted - ROUNDER), u.lo), half_pi),
                r = fast_sum(rest.hi, rest.lo);
    return (f64_turned){r.hi, r.lo, (M64)shifted};
}

/* f and g for x >= 1 (tables.h). */
typedef struct fresnel_parts {
    sum64 f, g;
} fresnel_parts;

/* Of one place in both tables. */
ALWAYS_INLINE fresnel_parts fresnel_parts_of(V64 x) {
    const sum64 inverse = inverse_of(any_sum(x, splat64(0x1p-20)));
    const place p = place_of_inverse(15.5 - 0x1p-30, 16, inverse);
    /* 1/(pi s), with 1/pi as a sum. */
    const sum64 over_pi =
        product_of_sums(inverse, (sum64){splat64(0x1.45f306dc9c883p-2), splat64(-0x1.6b01ec5417056p-56)});
    const sum64 f = product_of_sums(VALUE(p, lam__table_fresnel_f), over_pi);
    const sum64 g = product_of_sums(VALUE(p, lam__table_fresnel_g), product_of_sums(over_pi, over_pi));
    return (fresnel_parts){f, product_of_sums(g, inverse)};
}

/* Half of one less the sum of the products. */
ALWAYS_INLINE V64 half_less(sum64 x1, sum64 y1, sum64 x2, sum64 y2) {
    const sum64 r = minus((sum64){splat64(0.5), {0}}, plus(product_of_sums(x1, y1), product_of_sums(x2, y2)));
    return r.hi + r.lo;
}

/* S(x)/x^3 = first - x^4 (...) and C(x)/x = 1 - x^4 (...) for x < 1, the rest below 2^-56 */
static const double FRESNEL_S_FIRST = 0x1.0c152382d7366p-1, FRESNEL_S_FIRST_REST = -0x1.ee7cd05a988b3p-55;
static const double FRESNEL_S_REST[] = {
    0x1.7b1d42fb21bf5p-43, -0x1.7b602d79bb5e6p-36, 0x1.21bfcad5057dfp-29, -0x1.50051564aa517p-23,
    0x1.1b57c07164e2ep-17, -0x1.474740f5826e5p-12, 0x1.dacb4f393e11fp-8,  -0x1.79fb3502b22a8p-4,
};
static const double FRESNEL_C_REST[] = {
    0x1.0f196181a5254p-39, -0x1.e4069399e762dp-33, 0x1.43ba0f912f933p-26, -0x1.42260cf61d3d8p-20,
    0x1.c59b516e911ddp-15, -0x1.a4b5e2536bea9p-10, 0x1.cdca8f1f7bd49p-6,  -0x1.f952e0f96d63p-3,
};

/* x^3 in two parts, times a bracket that is a sum: all that is rounded is below an ulp of the result. */
ALWAYS_INLINE V64 fresnel_s_inside(V64 x) {
    const V64 fourth = (x * x) * (x * x);
    /* The bracket is a series in x^4. */
    const V64 more = madd(fourth, POWERS(fourth, FRESNEL_S_REST), splat64(FRESNEL_S_FIRST_REST));
    const sum64 p = product_of_sums(fast_sum(splat64(FRESNEL_S_FIRST), more), product_of(product(x, x), x));
    return p.hi + p.lo;
}

/* x times a series in x^4. */
ALWAYS_INLINE V64 fresnel_c_inside(V64 x) {
    const V64 fourth = (x * x) * (x * x);
    const sum64 p = product_of(fast_sum(splat64(1), fourth * POWERS(fourth, FRESNEL_C_REST)), x);
    return p.hi + p.lo;
}

/* Where products of three are numbers. */
ALWAYS_INLINE M64 is_plain_fresnel(V64 size) {
    return (M64)(size >= 0x1p-200) & (M64)(size <= 0x1p200);
}

/* C(x), or S(x) where `sine` says so. */
ALWAYS_INLINE V64 fresnel_of(bool sine, V64 x) {
    const V64 size = f64_magnitude(x), one = splat64(1);
    /* Both are odd. */
    const M64 plain = is_plain_fresnel(size), inside = (M64)(size < 1), sign = (M64)x & (M64)(-(V64){0});
    const V64 y = either(plain, size, one), near = either(inside, y, one), far = either(inside, one, y);
    V64 r = sine ? fresnel_s_inside(near) : fresnel_c_inside(near);
    if (any64(~inside)) {
        const fresnel_parts p = fresnel_parts_of(far);
        const waves64 w = waves_of(turned_square(far));
        const sum64 less = {-w.sine.hi, -w.sine.lo};
        const V64 beyond = sine ? half_less(p.f, w.cosine, p.g, w.sine) : half_less(p.g, w.cosine, p.f, less);
        /* S and C differ by a quarter of the turn (tables.h). */
        r = either(inside, r, beyond);
    }
    return PATCHED((V64)((M64)r | sign), x, plain, sine ? LAM__SIN_FRES : LAM__COS_FRES, 0);
}

ALWAYS_INLINE V64 f64_fresnel_s(V64 x) {
    return fresnel_of(true, x);
}

ALWAYS_INLINE V64 f64_fresnel_c(V64 x) {
    return fresnel_of(false, x);
}

/* Their slopes sin(pi/2 x^2) and cos(pi/2 x^2). */
ALWAYS_INLINE V64 f64_fresnel_s_slope(V64 x) {
    const M64 plain = is_plain_fresnel(f64_magnitude(x));
    const sum64 s = waves_of(turned_square(either(plain, x, splat64(1)))).sine;
    return PATCHED(s.hi + s.lo, x, plain, LAM__SIN_FRES, 1);
}

ALWAYS_INLINE V64 f64_fresnel_c_slope(V64 x) {
    const M64 plain = is_plain_fresnel(f64_magnitude(x));
    const sum64 c = waves_of(turned_square(either(plain, x, splat64(1)))).cosine;
    return PATCHED(c.hi + c.lo, x, plain, LAM__COS_FRES, 1);
}

/* ---- Spence's function ------------------------------------------------------------------------------------------ */

/* Li2(u)/u for u = 1 - x from -1.5 to 0.5. */
ALWAYS_INLINE sum64 spence_share(sum64 x) {
    place p = place_of(madd(x.hi, splat64(8), splat64(-4.5)));
    /* The second part of x moves the point within its piece. */
    p.off = madd(x.lo, splat64(8), p.off);
    return VALUE(p, lam__table_spence);
}

/* For x < 0.5 pi^2/6 - log(x) log(1 - x) - Li2(x); for x >= 2.5 less log(x)^2/2 the same of 1/x with the other sign. */
ALWAYS_INLINE V64 spence_outside(V64 x) {
    const V64 zero = {0};
    const M64 left = (M64)(x < 1);
    /* The reflections 1 - x and 1/x, both of which lead into the table. */
    const sum64 u = either_sum(left, (sum64){x, zero}, inverse_of((sum64){either(left, zero + 1, x), zero}));
    sum64 rest = any_sum(zero + 1, -u.hi);
    rest.lo -= u.lo;
    const sum64 log = log_of_parts(parts_of(x), zero), share = product_of_sums(spence_share(rest), u);
    /* pi^2/6 as a sum. */
    const sum64 whole = minus((sum64){zero + 0x1.a51a6625307d3p+0, zero + 0x1.1873d8912200cp-55}, share);
    const sum64 both = product_of_sums(log, log_of(rest)), square = product_of_sums(log, log);
    const sum64 more = plus(whole, (sum64){0.5 * square.hi, 0.5 * square.lo});
    const sum64 r = minus(either_sum(left, whole, (sum64){-more.hi, -more.lo}), both);
    return r.hi + r.lo;
}

/* (1 - x) times its share where that is smooth. */
ALWAYS_INLINE V64 f64_spence(V64 x) {
    const V64 zero = {0};
    const M64 plain = (M64)(x >= 0x1p-1000) & (M64)(x <= 0x1p900), inside = (M64)(x >= 0.5) & (M64)(x < 2.5);
    const V64 near = either(inside, x, zero + 1);
    /* 1 stands for what the table does not hold: its share is finished with a factor 0. */
    const sum64 p = product_of_sums(spence_share((sum64){near, zero}), any_sum(zero + 1, -near));
    V64 r = p.hi + p.lo;
    if (any64(plain & ~inside)) r = either(inside, r, spence_outside(either(plain & ~inside, x, zero + 0.25)));
    return PATCHED(r, x, plain, LAM__SPENCE, 0);
}

/* log(x)/(1 - x), its slope. */
ALWAYS_INLINE V64 f64_spence_slope(V64 x) {
    /* At 1 the quotient is 0/0. */
    const M64 plain = (M64)(x >= 0x1p-1000) & (M64)(x <= 0x1p900) & (M64)(x != 1);
    const V64 y = either(plain, x, splat64(2));
    const sum64 q = quotient(log_of_parts(parts_of(y), (V64){0}), any_sum(splat64(1), -y));
    return PATCHED(q.hi + q.lo, x, plain, LAM__SPENCE, 1);
}

/* ---- exprel ----------------------------------------------------------------------------------------------------- */

/* (exp(x) - 1)/x; 1 where x is next to nothing. */
ALWAYS_INLINE V64 f64_exprel(V64 x) {
    const V64 size = f64_magnitude(x), one = splat64(1);
    const M64 plain = (M64)(size <= 0x1p900), small = (M64)(size < 0x1p-60);
    /* x next to nothing: the quotient is 1. */
    const V64 y = either(plain & ~small, x, one);
    V64 k;
    const sum64 q = quotient(f64_expm1_parts(y, &k), (sum64){y, {0}});
    return PATCHED(either(small, one, scaled(q.hi + q.lo, k)), x, plain, LAM__EXPREL, 0);
}

/* (((x - 1) exp(x) + 1)/x^2 - 1/2)/x for |x| <= 0.25: x^(j - 1) / (j! (j + 2)), the rest below 2^-56 of the whole */
static const double EXPREL_SLOPE[] = {
    0x1.8aed2ad9830dep-26, 0x1.0d51868c04139p-22, 0x1.4ce18faf5a7f3p-19, 0x1.71de2836fbc32p-16, 0x1.6c16c16d171fcp-13,
    0x1.38138139b1af4p-10, 0x1.c71c71c71c61cp-8,  0x1.1111111110f73p-5,  0x1.0000000000000p-3,  0x1.5555555555555p-2,
};

/* The same beyond. On the left, from -60 on, the exponential is nothing. */
ALWAYS_INLINE V64 exprel_slope_beyond(V64 x) {
    V64 k;
    const sum64 e = exp_of((sum64){limited(most_of(splat64(-60), x), 800), {0}}, &k);
    const V64 one = two_to(most_of(splat64(-200), -k)); /* beside 2^k times the rest */
    const sum64 top = plus(product_of_sums(e, any_sum(most_of(splat64(-60), x), splat64(-1))), (sum64){one, {0}});
    const sum64 q = quotient(top, product(x, x));
    return scaled(q.hi + q.lo, k);
}

ALWAYS_INLINE V64 f64_exprel_slope(V64 x) {
    const V64 size = f64_magnitude(x);
    const M64 plain = (M64)(size <= 0x1p400), near = (M64)(size <= 0.25);
    /* What lies beyond is computed only in vectors that have such lanes. */
    const V64 z = either(near, x, (V64){0}), r = 0.5 + z * POWERS(z, EXPREL_SLOPE);
    const V64 y = any64(~near) ? either(near, r, exprel_slope_beyond(either(plain & ~near, x, splat64(1)))) : r;
    return PATCHED(y, x, plain, LAM__EXPREL, 1);
}

/* ---- Lambert's W ------------------------------------------------------------------------------------------------ */

/* w of log(x/w) = w by w (1 + log(x/w))/(1 + w) (Iacono and Boyd, New approximations to the principal real-valued
 * branch of the Lambert W-function, 2017), which squares the error each time; a step of Newton's method on
 * w - x exp(-w) at last, whose value is a sum. For x >= -0.25, not next to 0. */
ALWAYS_INLINE sum64 lambert_of(V64 x) {
    const V64 zero = {0}, one = zero + 1;
    const V64 first = log_of_parts(parts_of(1 + x), zero).hi, second = log_of_parts(parts_of(1 + first), zero).hi;
    /* Iacono and Boyd's first guess, log(1 + x) (1 - log(1 + log(1 + x))/(2 + log(1 + x))). */
    V64 w = first * (1 - second / (2 + first)), k;
    /* Next to 0 W is x, and the guess would be 0/0. */
    w = either((M64)(f64_magnitude(x) < 0x1p-10), x, w);
    /* Each step squares the error: four take a guess of two digits to all. */
    for (int i = 0; i < 4; i++) w = w * (1 + log_of_parts(parts_of(x / w), zero).hi) / (1 + w);
    const sum64 e = product_of(exp_of((sum64){-w, zero}, &k), x), gap = any_sum(w, -scaled(e.hi, k));
    /* w - x exp(-w), with what it is rounded by. */
    return fast_sum(w, -(gap.hi + (gap.lo - scaled(e.lo, k))) / (one + w));
}

/* Where the steps hold; 1 elsewhere. W has a branch point at -1/e, next to which digits are lost. */
ALWAYS_INLINE M64 is_plain_lambert(V64 x) {
    return (M64)(x >= -0.25) & (M64)(x <= 0x1p900) & (M64)(f64_magnitude(x) >= 0x1p-60);
}

/* By the principal branch. */
ALWAYS_INLINE V64 f64_lambertw(V64 x) {
    const M64 plain = is_plain_lambert(x);
    const sum64 w = lambert_of(either(plain, x, splat64(1)));
    return PATCHED(w.hi + w.lo, x, plain, LAM__LAMBERT, 0);
}

/* W/(x (1 + W)). */
ALWAYS_INLINE V64 f64_lambertw_slope(V64 x) {
    const M64 plain = is_plain_lambert(x);
    const V64 y = either(plain, x, splat64(1));
    const sum64 w = lambert_of(y), more = any_sum(splat64(1), w.hi);
    /* 1 + W as a sum. */
    const sum64 q = quotient(w, product_of(fast_sum(more.hi, more.lo + w.lo), y));
    return PATCHED(q.hi + q.lo, x, plain, LAM__LAMBERT, 1);
}

/* One line per member. */
/* clang-format off */
ALWAYS_INLINE V32 f32_gamma(V32 x) { return f32_through1(x, f64_gamma); }
ALWAYS_INLINE V32 f32_exp1(V32 x) { return f32_through1(x, f64_exp1); }
ALWAYS_INLINE V32 f32_exp0(V32 x) { return f32_through1(x, f64_exp0); }
ALWAYS_INLINE V32 f32_expi_slope(V32 x) { return f32_through1(x, f64_expi_slope); }
ALWAYS_INLINE V32 f32_spence_slope(V32 x) { return f32_through1(x, f64_spence_slope); }
ALWAYS_INLINE V32 f32_expi(V32 x) { return f32_through1(x, f64_expi); }
ALWAYS_INLINE V32 f32_ci(V32 x) { return f32_through1(x, f64_ci); }
ALWAYS_INLINE V32 f32_si(V32 x) { return f32_through1(x, f64_si); }
ALWAYS_INLINE V32 f32_si_slope(V32 x) { return f32_through1(x, f64_si_slope); }
ALWAYS_INLINE V32 f32_fresnel_s(V32 x) { return f32_through1(x, f64_fresnel_s); }
ALWAYS_INLINE V32 f32_fresnel_c(V32 x) { return f32_through1(x, f64_fresnel_c); }
ALWAYS_INLINE V32 f32_fresnel_s_slope(V32 x) { return f32_through1(x, f64_fresnel_s_slope); }
ALWAYS_INLINE V32 f32_fresnel_c_slope(V32 x) { return f32_through1(x, f64_fresnel_c_slope); }
ALWAYS_INLINE V32 f32_spence(V32 x) { return f32_through1(x, f64_spence); }
ALWAYS_INLINE V32 f32_exprel(V32 x) { return f32_through1(x, f64_exprel); }
ALWAYS_INLINE V32 f32_exprel_slope(V32 x) { return f32_through1(x, f64_exprel_slope); }
ALWAYS_INLINE V32 f32_lambertw(V32 x) { return f32_through1(x, f64_lambertw); }
ALWAYS_INLINE V32 f32_lambertw_slope(V32 x) { return f32_through1(x, f64_lambertw_slope); }
/* clang-format on */

#endif
