/* silu, mish and both forms of gelu with their derivatives as vector functions, below 1 ULP: all but the last step of
 * f64 is done on sums, since the derivatives have a zero, next to which they are a series. f32 goes through f64, but
 * for gelu. Exponentials are those of -|x|, which neither overflow nor cancel; a result below the normal numbers is
 * scaled once at the end. */
#ifndef LAM_KERNELS_SIMD_ACTIVATION_H
#define LAM_KERNELS_SIMD_ACTIVATION_H

#include "lib/kernels/simd/error.h"
#include "lib/kernels/simd/pow.h"
#include "lib/kernels/simd/single_functions.h"

/* ---- zeros of derivatives ---------------------------------------------------------------------------------------- */

/* A function next to its zero `at`: t (first + t rest(t)) for t = x - at, |t| <= width, the rest below 2^-61. There the
 * derivative is a difference of two numbers of one size, which leaves few digits. */
typedef struct zero64 {
    double width, at, at_lo, first, first_lo;
    int count;
    double rest[11];
} zero64;

/* r, or the series in lanes that are near: t is x less the zero as a sum of two, since the distance is all that counts
 * there. */
static __attribute__((noinline)) V64 near_zero(V64 r, V64 x, const zero64 *z) {
    const V64 off = x - z->at;
    const sum64 t = any_sum(off, splat64(-z->at_lo)), p = product(t.hi, splat64(z->first));
    const V64 rest = madd(t.hi, powers(t.hi, z->rest, z->count), splat64(z->first_lo));
    const V64 near = p.hi + (p.lo + madd(t.hi, rest, t.lo * z->first));
    return either((M64)(f64_magnitude(off) <= z->width), near, r);
}

/* r, but next to the zero the series, which not all vectors need. One comparison decides for the vector; near_zero then
 * chooses lane by lane. */
ALWAYS_INLINE V64 mended(V64 r, V64 x, const zero64 *z) {
    return any64((M64)(f64_magnitude(x - z->at) <= z->width)) ? near_zero(r, x, z) : r;
}

/* ---- silu -------------------------------------------------------------------------------------------------------- */

/* The zero of the derivative to some 106 bits, and the Taylor series there, the highest power first. */
static const zero64 silu_zero = {.width = 0x1p-7,
                                 .at = -0x1.474973c84120bp+0,
                                 .at_lo = -0x1.f8d74bc9ac154p-54,
                                 .first = 0x1.be1410460527fp-3,
                                 .first_lo = -0x1.2541062177473p-58,
                                 .count = 6,
                                 .rest = {0x1.a2a7caf0ee747p-11, 0x1.098e92b8f076dp-13, -0x1.b0f82c498fd2fp-8,
                                          -0x1.f2d0e32bc2994p-7, 0x1.353eb573ca457p-6, 0x1.2c563458cc0adp-3}};

/* With e = exp(-|x|) and d = 1 + e silu is x/d, on the left x e/d, and its slope is (d + |x| e)/d^2, on the left
 * e (d - |x|)/d^2. */
ALWAYS_INLINE sloped64 f64_sloped_silu(V64 x) {
    /* Beyond 800 the exponential is nothing in any sum here, and infinity must not meet a 0. */
    const V64 zero = {0}, one = zero + 1, size = bounded(f64_magnitude(x), 800), near_x = limited(x, 800);
    const M64 negative = (M64)(x < 0);
    V64 k;
    const sum64 e = exp_of((sum64){-size, zero}, &k);
    /* Beside 1 a number below 2^-200 says nothing, so e is brought there for d; its own exponent comes back at the
     * end. */
    const V64 near = most_of(zero - 200, k), small = scaled(e.hi, near), small_rest = scaled(e.lo, near);
    sum64 d = fast_sum(one, small);
    d.lo += small_rest;
    const sum64 inverse = inverse_of(d), left = product_of_sums(e, inverse);
    const sum64 share = {either(negative, left.hi, inverse.hi), either(negative, left.lo, inverse.lo)};
    /* The top of the slope: 1 + e + |x| e, on the left 1 + e - |x|, which has the zero that is mended below. */
    const sum64 p = product_of((sum64){small, small_rest}, size);
    const sum64 n = any_sum(d.hi, either(negative, -size, p.hi));
    const V64 n_rest = n.lo + (d.lo + either(negative, zero, p.lo)), down = either(negative, k, zero);
    const sum64 slope = product_of_sums(product_of_sums((sum64){n.hi, n_rest}, inverse), share);
    /* Left of -753 x exp(x) is less than half of the least number: that is 0 with the sign of x. */
    const V64 value = scaled_unless(x, -753, product_and(near_x, share.hi, near_x * share.lo), down);
    const M64 sign = (M64)x & (M64)(-zero), none = (M64)(x < -753) & sign; /* of what is too small for a number */
    const V64 own = (V64)((M64)scaled_unless(x, -753, slope.hi + slope.lo, down) | none);
    /* NaN has gone through all of it; only infinity would have been limited. */
    return (sloped64){(V64)((M64)either((M64)(x > 800), x, value) | sign), mended(own, x, &silu_zero)};
}

/* One text for the function, its derivative, and both together: the compiler leaves out what is not asked for. */
ALWAYS_INLINE V64 f64_silu(V64 x) {
    return f64_sloped_silu(x).value;
}

/* With its zero mended. Both are rounded once. */
ALWAYS_INLINE V64 f64_silu_slope(V64 x) {
    return f64_sloped_silu(x).slope;
}

/* The same formulas in doubles without second parts, for f32. */
ALWAYS_INLINE V64 quick_silu(V64 x) {
    /* exp(-150) is far below the least float. */
    const V64 e = quick_exp(-bounded(f64_magnitude(x), 150)), inverse = inverse64(1 + e);
    const V64 value = limited(x, 150) * inverse * either((M64)(x < 0), e, splat64(1));
    return either((M64)(x > 150), x, value);
}

/* Next to the zero floats need the series too. */
ALWAYS_INLINE V64 quick_silu_slope(V64 x) {
    const V64 size = bounded(f64_magnitude(x), 150), e = quick_exp(-size), inverse = inverse64(1 + e);
    const M64 negative = (M64)(x < 0);
    /* On the left (1 - |x|) + e in this order, since |x| and 1 nearly cancel where e still counts. */
    const V64 left = ((1 - size) + e) * e, right = madd(size, e, 1 + e);
    return mended(either(negative, left, right) * inverse * inverse, x, &silu_zero);
}

/* Through doubles, half a vector at a time. All of silu and mish are. */
ALWAYS_INLINE V32 f32_silu(V32 x) {
    return f32_through1(x, quick_silu);
}

ALWAYS_INLINE V32 f32_silu_slope(V32 x) {
    return f32_through1(x, quick_silu_slope);
}

/* ---- mish -------------------------------------------------------------------------------------------------------- */

/* As that of silu. */
static const zero64 mish_zero = {.width = 0x1p-7,
                                 .at = -0x1.31432c0d12d84p+0,
                                 .at_lo = -0x1.bf319154da210p-55,
                                 .first = 0x1.115acb42500bbp-2,
                                 .first_lo = 0x1.1ad72de557d4cp-56,
                                 .count = 6,
                                 .rest = {0x1.1e5e184a0fe00p-10, -0x1.b87ddfb51b745p-9, -0x1.03369d4ac90fap-6,
                                          -0x1.4c222fe64d4fbp-6, 0x1.574f121a868dbp-5, 0x1.a34a251d8ad7bp-3}};

/* With e = exp(-|x|) mish is x (1 + 2 e)/d, d = 1 + 2 e + 2 e^2, on the left x e (2 + e)/d, d = 2 + 2 e + e^2, and its
 * slope is (1 + 4 e + b e^2 + a e^3)/d^2, on the left e (a + b e + 4 e^2 + e^3)/d^2, for a = 4 x + 4, b = 4 x + 6. */
ALWAYS_INLINE sloped64 f64_sloped_mish(V64 x) {
    const V64 zero = {0}, one = zero + 1, size = bounded(f64_magnitude(x), 800), near_x = limited(x, 800);
    const M64 negative = (M64)(x < 0), sign = (M64)x & (M64)(-zero);
    V64 k;
    const sum64 e = exp_of((sum64){-size, zero}, &k);
    const V64 near = most_of(zero - 200, k), down = either(negative, k, zero);
    const sum64 small = {scaled(e.hi, near), scaled(e.lo, near)}, square = product_of_sums(small, small);
    const V64 first = either(negative, 2 * one, one), last = either(negative, one, 2 * one);
    const sum64 start = {first, zero}, share = plus(start, product_of(small, last));
    const sum64 d = plus(plus(start, product_of(small, 2 * one)), product_of(square, last)), inverse = inverse_of(d);
    const sum64 a = any_sum(4 * near_x, 4 * one), b = any_sum(4 * near_x, 6 * one), unit = {one, zero},
                four = {4 * one, zero};
    sum64 bend = plus(product_of_sums(either_sum(negative, unit, a), small), either_sum(negative, four, b));
    bend = plus(product_of_sums(bend, small), either_sum(negative, b, four));
    bend = plus(product_of_sums(bend, small), either_sum(negative, a, unit));
    const sum64 factor = product_of_sums(either_sum(negative, e, unit), inverse), part = product_of_sums(share, factor),
                slope = product_of_sums(product_of_sums(bend, inverse), factor);
    const V64 value = scaled_unless(x, -753, product_and(near_x, part.hi, near_x * part.lo), down);
    const V64 own = (V64)((M64)scaled_unless(x, -753, slope.hi + slope.lo, down) | (sign & (M64)(x < -753)));
    return (sloped64){(V64)((M64)either((M64)(x > 800), x, value) | sign), mended(own, x, &mish_zero)};
}

/* As f64_silu. */
ALWAYS_INLINE V64 f64_mish(V64 x) {
    return f64_sloped_mish(x).value;
}

/* As f64_silu_slope. */
ALWAYS_INLINE V64 f64_mish_slope(V64 x) {
    return f64_sloped_mish(x).slope;
}

/* As of silu_zero, for both zeros of the second derivative. There only the last digits of sums are lost, so a short
 * neighbourhood will do. */
static const zero64 mish_bend_left = {.width = 0x1p-20,
                                      .at = -0x1.20d0f116eb001p+1,
                                      .at_lo = -0x1.ed98c925498a2p-54,
                                      .first = 0x1.bd7543d635e3fp-4,
                                      .first_lo = -0x1.db4d963300d88p-58,
                                      .count = 3,
                                      .rest = {0x1.b79f54f639c0dp-9, 0x1.321192f866b01p-5, 0x1.956e15ad4977cp-4}};
static const zero64 mish_bend_right = {.width = 0x1p-20,
                                       .at = 0x1.7d9612a440040p+0,
                                       .at_lo = 0x1.48a1647177d43p-54,
                                       .first = -0x1.d8765d356c1afp-3,
                                       .first_lo = 0x1.3f83647e05722p-57,
                                       .count = 3,
                                       .rest = {-0x1.11016a32bec52p-4, -0x1.467b383afa813p-4, 0x1.2005f89b94e15p-2}};

/* a + b s on the left, c + d s on the right. */
ALWAYS_INLINE sum64 by_side(M64 left, V64 s, double a, double b, double c, double d) {
    const V64 zero = {0};
    return plus((sum64){either(left, zero + a, zero + c), zero}, product(s, either(left, zero + b, zero + d)));
}

/* The second derivative. With s = |x| and e = exp(-s) it is e p(e)/d^3 on the left, d = 2 + 2 e + e^2, and e^2 p(e)/d^3
 * on the right, d = 1 + 2 e + 2 e^2: here p has the coefficients the other way round, for -s. */
ALWAYS_INLINE V64 f64_mish_bend(V64 x) {
    const V64 zero = {0}, one = zero + 1, s = bounded(f64_magnitude(x), 800);
    const M64 left = (M64)(x < 0);
    V64 k;
    const sum64 e = exp_of((sum64){-s, zero}, &k);
    const V64 near = most_of(zero - 200, k);
    /* d is made of sums too, since its cube is divided by. */
    const sum64 small = {scaled(e.hi, near), scaled(e.lo, near)}, square = product_of_sums(small, small);
    const sum64 d = plus(plus((sum64){either(left, 2 * one, one), zero}, product_of(small, 2 * one)),
                         product_of(square, either(left, one, 2 * one)));
    /* Horner's rule in e from the highest power on; on the right the same numbers come in the other order. */
    sum64 p = by_side(left, s, 8, 8, 16, 8);
    p = plus(product_of_sums(p, small), by_side(left, s, 24, 12, 32, 8));
    p = plus(product_of_sums(p, small), by_side(left, s, 32, -8, 24, -12));
    p = plus(product_of_sums(p, small), by_side(left, s, 16, -8, 8, -8));
    const sum64 inverse = inverse_of(d), cube = product_of_sums(product_of_sums(inverse, inverse), inverse);
    const sum64 r = product_of_sums(product_of_sums(p, cube), either_sum(left, e, product_of_sums(e, e)));
    /* Far out the function is negative on both sides, so what is left of it there is -0. */
    const M64 none = (M64)(-zero) & (M64)(s > 753); /* of what is too small for a number */
    /* Below -2000 it is 0 all the same, and halves of that are exponents. */
    const V64 whole = most_of(zero - 2000, either(left, k, 2 * k));
    const V64 own = (V64)((M64)scaled_unless(-s, -753, r.hi + r.lo, whole) | none);
    return mended(mended(own, x, &mish_bend_left), x, &mish_bend_right);
}

/* For f32, as those of silu. */
ALWAYS_INLINE V64 quick_mish(V64 x) {
    const V64 one = splat64(1), e = quick_exp(-bounded(f64_magnitude(x), 150));
    const M64 negative = (M64)(x < 0);
    /* As in f64_sloped_mish, without second parts. */
    const V64 share = either(negative, e * (2 + e), madd(e, 2 * one, one));
    const V64 d = either(negative, madd(e, 2 + e, 2 * one), madd(2 * e, 1 + e, one));
    return either((M64)(x > 150), x, limited(x, 150) * share * inverse64(d));
}

/* The slope's polynomials in e by Horner's rule, the zero by the series. */
ALWAYS_INLINE V64 quick_mish_slope(V64 x) {
    const V64 one = splat64(1), y = limited(x, 150), e = quick_exp(-f64_magnitude(y)), a = 4 * y + 4, b = 4 * y + 6;
    const M64 negative = (M64)(x < 0);
    const V64 left = e * madd(e, madd(e, 4 + e, b), a), right = madd(e, madd(e, madd(e, a, b), 4 * one), one);
    const V64 inverse = inverse64(either(negative, madd(e, 2 + e, 2 * one), madd(2 * e, 1 + e, one)));
    return mended(either(negative, left, right) * inverse * inverse, x, &mish_zero);
}

/* As of silu. */
ALWAYS_INLINE V32 f32_mish(V32 x) {
    return f32_through1(x, quick_mish);
}

ALWAYS_INLINE V32 f32_mish_slope(V32 x) {
    return f32_through1(x, quick_mish_slope);
}

/* Rare, so there is no shorter form of it. */
ALWAYS_INLINE V32 f32_mish_bend(V32 x) {
    return f32_through1(x, f64_mish_bend);
}

/* ---- gelu -------------------------------------------------------------------------------------------------------- */

/* As silu_zero: next to it share and |x| times density cancel. */
static const zero64 gelu_zero = {.width = 0x1p-3,
                                 .at = -0x1.80ead197f00b4p-1,
                                 .at_lo = 0x1.13e74c58cada8p-56,
                                 .first = 0x1.b9d98fa5a3215p-2,
                                 .first_lo = 0x1.f7c1a23190c7cp-56,
                                 .count = 11,
                                 .rest = {-0x1.77ab0bd6916b6p-17, 0x1.67fc42bfcd017p-14, 0x1.86c83bc6f8b1cp-13,
                                          -0x1.86804508c2f19p-11, -0x1.258a6d8105101p-9, 0x1.297b9d48fe693p-8,
                                          0x1.3e346def41a19p-6, -0x1.e4088244eb160p-7, -0x1.d2fa4c17c7e84p-4,
                                          -0x1.2a2ef9bb865c4p-6, 0x1.8d9a941de3ac5p-2}};

/* x times the probability below x, and that probability plus x times the density: with e = exp(-x^2/2), of which the
 * probability beyond |x| is the share erfcx(z)/2, z = |x|/sqrt(2), the slope is e (share - |x|/sqrt(2 pi)), on the
 * right 1 less that. */
ALWAYS_INLINE sloped64 f64_sloped_gelu(V64 x) {
    const V64 zero = {0}, size = bounded(f64_magnitude(x), 40), near_x = limited(x, 40);
    const M64 left = (M64)(x < 0), sign = (M64)x & (M64)(-zero);
    /* z and z^2 are sums: what they lack would be multiplied by |x| in the exponential. */
    const sum64 z = over_root_2(size), square = product(size, 0.5 * size), whole = {zero + 1, zero};
    sum64 share = erfcx_of(z.hi, z.lo);
    share = (sum64){0.5 * share.hi, 0.5 * share.lo};
    V64 k;
    const sum64 e = exp_of((sum64){-square.hi, -square.lo}, &k);
    /* The density's factor, 1/sqrt(2 pi), as a sum. */
    const sum64 per = {zero + 0x1.9884533d43651p-2, zero - 0x1.cbc0d30ebfd15p-56};
    const sum64 tail = product_of_sums(e, share), steep = product_of_sums(e, minus(share, product_of(per, size)));
    const V64 near = most_of(zero - 200, k), down = either(left, k, zero);
    /* On the right both are 1 less the other side's, brought to its exponent. */
    const sum64 part = either_sum(left, tail, minus(whole, (sum64){scaled(tail.hi, near), scaled(tail.lo, near)}));
    const sum64 slope = either_sum(left, steep, minus(whole, (sum64){scaled(steep.hi, near), scaled(steep.lo, near)}));
    /* As -753 for silu: left of it the result is 0. */
    const V64 value = scaled_unless(x, -39, product_and(near_x, part.hi, near_x * part.lo), down);
    const V64 own = (V64)((M64)scaled_unless(x, -39, slope.hi + slope.lo, down) | (sign & (M64)(x < -39)));
    return (sloped64){(V64)((M64)either((M64)(x > 40), x, value) | sign), mended(own, x, &gelu_zero)};
}

/* As f64_silu: what is not asked for is left out. */
ALWAYS_INLINE V64 f64_gelu(V64 x) {
    return f64_sloped_gelu(x).value;
}

ALWAYS_INLINE V64 f64_gelu_slope(V64 x) {
    return f64_sloped_gelu(x).slope;
}

/* In two floats without doubles: the tail of single_functions.h, and what it leaves of 1. Beyond 14.5 the tail is
 * nothing beside 1, and by x below the least float. */
ALWAYS_INLINE V32 f32_gelu(V32 x) {
    const V32 zero = {0}, near_x = limited32(x, 14.5f);
    const M32 left = (M32)(x < 0);
    const stepped32_product tail = normal_tail32(bounded32(f32_magnitude(x), 14.5f));
    const V32 near = most_of32(zero - 60, tail.k);
    const sum32 t = fast_sum32(tail.hi, tail.lo), other = fast_sum32(zero + 1, -scaled32(t.hi, near));
    const sum32 part = {f32_select(left, t.hi, other.hi), f32_select(left, t.lo, other.lo - scaled32(t.lo, near))};
    const V32 value = fused32(near_x, part.hi, near_x * part.lo);
    return with_sign_of(
        f32_select((M32)(x > 14.5f), x, scaled_unless32(x, -14.5f, value, f32_select(left, tail.k, zero))), x);
}

/* As f64_sloped_gelu without second parts. Beyond 20 exp(-x^2/2) is no float. */
ALWAYS_INLINE V64 quick_gelu_slope(V64 x) {
    const V64 size = bounded(f64_magnitude(x), 20), share = 0.5 * erfcx_of(size * 0.70710678118654752, (V64){0}).hi;
    const V64 steep = quick_exp(-0.5 * size * size) * madd(size, splat64(-0.39894228040143268), share);
    return mended(either((M64)(x < 0), steep, 1 - steep), x, &gelu_zero);
}

ALWAYS_INLINE V32 f32_gelu_slope(V32 x) {
    return f32_through1(x, quick_gelu_slope);
}

/* ---- gelu_tanh --------------------------------------------------------------------------------------------------- */

/* As of silu_zero. */
static const zero64 gelu_tanh_zero = {.width = 0x1p-6,
                                      .at = -0x1.81429f9e97e4dp-1,
                                      .at_lo = 0x1.4f523ed77dbdcp-55,
                                      .first = 0x1.b8bacd2c96b91p-2,
                                      .first_lo = 0x1.7625a206be83dp-56,
                                      .count = 8,
                                      .rest = {-0x1.e63f294331885p-11, -0x1.3d8d64170bb72p-9, 0x1.58c9ed713486cp-8,
                                               0x1.427996dc249cep-6, -0x1.104a83edc0ddcp-6, -0x1.d2b77346470abp-4,
                                               -0x1.029615edb077ap-6, 0x1.8cd1a2b2fff33p-2}};

/* Of c(x) = a x + b x^3: a is 2 sqrt(2/pi), b is 0.044715 a. As sums, since c reaches 795 where the result is still
 * a number, and an error of c is one of the result. */
static const double GELU_LINEAR = 0x1.9884533d43651p+0, GELU_LINEAR_REST = -0x1.cbc0d30ebfd15p-54;
static const double GELU_CUBIC = 0x1.2444f2a4d8b4bp-4, GELU_CUBIC_REST = -0x1.6c843a29d1c70p-61;

/* x logistic(c(x)). With e = exp(-c(|x|)) and d = 1 + e the share of x is 1/d, on the left e/d, and the slope is the
 * share times 1 + x c'(x) (1 - share). */
ALWAYS_INLINE sloped64 f64_sloped_gelu_tanh(V64 x) {
    /* c(22) is 795, and exp(-795) no number. */
    const V64 zero = {0}, one = zero + 1, near_x = limited(x, 22), size = f64_magnitude(near_x);
    const M64 left = (M64)(x < 0), sign = (M64)x & (M64)(-zero);
    const sum64 unit = {one, zero}, a = {splat64(GELU_LINEAR), splat64(GELU_LINEAR_REST)},
                b = {splat64(GELU_CUBIC), splat64(GELU_CUBIC_REST)};
    const sum64 linear = product_of(a, size), cubic = product_of(product_of_sums(b, product(size, size)), size);
    /* c is also x c'(x) with the cubic term three times. */
    const sum64 c = plus(linear, cubic), w = plus(linear, product_of(cubic, 3 * one));
    V64 k;
    const sum64 e = exp_of((sum64){-c.hi, -c.lo}, &k);
    const V64 near = most_of(zero - 200, k), down = either(left, k, zero);
    const sum64 small = {scaled(e.hi, near), scaled(e.lo, near)}, inverse = inverse_of(plus(unit, small));
    const sum64 share = product_of_sums(either_sum(left, e, unit), inverse),
                rest = product_of_sums(product_of_sums(either_sum(left, unit, small), inverse), w);
    const sum64 slope = product_of_sums(share, either_sum(left, minus(unit, rest), plus(unit, rest)));
    const V64 value = scaled_unless(x, -22, product_and(near_x, share.hi, near_x * share.lo), down);
    const V64 own = (V64)((M64)scaled_unless(x, -22, slope.hi + slope.lo, down) | (sign & (M64)(x < -22)));
    return (sloped64){(V64)((M64)either((M64)(x > 22), x, value) | sign), mended(own, x, &gelu_tanh_zero)};
}

ALWAYS_INLINE V64 f64_gelu_tanh(V64 x) {
    return f64_sloped_gelu_tanh(x).value;
}

ALWAYS_INLINE V64 f64_gelu_tanh_slope(V64 x) {
    return f64_sloped_gelu_tanh(x).slope;
}

/* For f32, as those of silu. */
ALWAYS_INLINE V64 quick_gelu_tanh(V64 x) {
    /* c(13) is 177, and exp(-177) no float. */
    const V64 near_x = limited(x, 13), one = splat64(1), square = near_x * near_x;
    const V64 e = quick_exp(-f64_magnitude(near_x) * madd(square, splat64(GELU_CUBIC), splat64(GELU_LINEAR)));
    return either((M64)(x > 13), x, near_x * inverse64(1 + e) * either((M64)(x < 0), e, one));
}

/* As f64_sloped_gelu_tanh without second parts. */
ALWAYS_INLINE V64 quick_gelu_tanh_slope(V64 x) {
    const V64 size = bounded(f64_magnitude(x), 13), one = splat64(1), square = size * size;
    const V64 e = quick_exp(-size * madd(square, splat64(GELU_CUBIC), splat64(GELU_LINEAR))),
              inverse = inverse64(1 + e);
    const V64 w = size * madd(square, splat64(3 * GELU_CUBIC), splat64(GELU_LINEAR));
    /* The share times 1 + x c'(x) (1 - share), each side in the form that has no difference from 1. */
    const V64 left = e * (one - w * inverse), right = madd(w * inverse, e, one);
    return mended(either((M64)(x < 0), left, right) * inverse, x, &gelu_tanh_zero);
}

ALWAYS_INLINE V32 f32_gelu_tanh(V32 x) {
    return f32_through1(x, quick_gelu_tanh);
}

ALWAYS_INLINE V32 f32_gelu_tanh_slope(V32 x) {
    return f32_through1(x, quick_gelu_tanh_slope);
}

#endif
