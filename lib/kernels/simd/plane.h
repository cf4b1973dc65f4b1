/* Elementary functions of complex numbers as vector functions, made of those of their parts: within a few units in the
 * last place of each part where nothing is said, and with the bits that a lane has in any other company. They are for
 * parts far from both ends of the range; other lanes are done again one by one (special/complex.h), which is where the
 * special values of C's Annex G come from. Branch cuts need no care: signs of zeros go through the formulas. */
#ifndef LAM_KERNELS_SIMD_PLANE_H
#define LAM_KERNELS_SIMD_PLANE_H

#include "lib/kernels/special/complex.h"

#include "lib/kernels/simd/atan.h"
#include "lib/kernels/simd/hyperbolic.h"
#include "lib/kernels/simd/log.h"
#include "lib/kernels/simd/trig.h"

/* Real and imaginary parts of a vector of numbers. */
typedef struct plane64 {
    V64 re, im;
} plane64;

/* What lanes that are not plain are done by. */
typedef lam_c128 plane_one(lam_c128);

/* ---- lanes that are not plain ----------------------------------------------------------------------------------- */

/* Out of line, since vectors seldom need it: inside, its loop would be in every function here. */
static __attribute__((noinline)) plane64 plane_patched(plane64 r, plane64 z, M64 where, plane_one one) {
    for (int i = 0; i < LANES64; i++) {
        if (!where[i]) continue;
        const lam_c128 got = one((lam_c128){z.re[i], z.im[i]});
        r.re[i] = got.re, r.im[i] = got.im;
    }
    return r;
}

/* One test for the vector; plain lanes keep their bits whatever the others are. */
ALWAYS_INLINE plane64 plane_patch(plane64 r, plane64 z, M64 plain, plane_one one) {
    return any64(~plain) ? plane_patched(r, z, ~plain, one) : r;
}

/* The same of two operands. */
static __attribute__((noinline)) plane64 plane_patched2(plane64 r, plane64 x, plane64 y, M64 where,
                                                        lam_c128 one(lam_c128, lam_c128)) {
    for (int i = 0; i < LANES64; i++) {
        if (!where[i]) continue;
        const lam_c128 got = one((lam_c128){x.re[i], x.im[i]}, (lam_c128){y.re[i], y.im[i]});
        r.re[i] = got.re, r.im[i] = got.im;
    }
    return r;
}

/* Not beyond the bound, and no NaN. */
ALWAYS_INLINE M64 is_within(V64 x, double bound) {
    return (M64)(f64_magnitude(x) <= bound);
}

/* Both parts below the bound, the larger above its inverse: squares are in range, and what one of them lacks is
 * nothing beside the other. */
ALWAYS_INLINE M64 is_moderate(plane64 z, double bound) {
    const M64 small = is_within(z.re, 1 / bound) & is_within(z.im, 1 / bound);
    return is_within(z.re, bound) & is_within(z.im, bound) & ~small;
}

/* x with the sign of y. */
ALWAYS_INLINE V64 with_sign(V64 x, V64 y) {
    const M64 sign = (M64)(-(V64){0});
    return (V64)(((M64)x & ~sign) | ((M64)y & sign));
}

/* i z, and -i z: functions of the circle are those of the hyperbola, turned. */
ALWAYS_INLINE plane64 turned_left(plane64 z) {
    return (plane64){-z.im, z.re};
}
ALWAYS_INLINE plane64 turned_right(plane64 z) {
    return (plane64){z.im, -z.re};
}

/* ---- squares and quotients -------------------------------------------------------------------------------------- */

/* x^2 + y^2 as a sum, of which nothing is lost where it is next to 1: its logarithm keeps all digits there. */
ALWAYS_INLINE sum64 sum_of_squares(V64 x, V64 y) {
    const sum64 p = product(x, x), q = product(y, y), s = any_sum(p.hi, q.hi), t = any_sum(p.lo, q.lo);
    const sum64 u = any_sum(s.lo, t.hi), h = fast_sum(s.hi, u.hi);
    return fast_sum(h.hi, h.lo + (u.lo + t.lo));
}

/* x / y by the textbook formula, where a real or imaginary divisor is exact, as lam__complex_div has it. */
ALWAYS_INLINE plane64 plane_quotient(plane64 x, plane64 y) {
    const M64 flat = (M64)(y.im == 0), steep = (M64)(y.re == 0) & ~flat;
    const V64 size = either(flat, y.re, either(steep, y.im, y.re * y.re + y.im * y.im));
    const V64 re = either(flat, x.re, either(steep, x.im, x.re * y.re + x.im * y.im));
    const V64 im = either(flat, x.im, either(steep, -x.re, x.im * y.re - x.re * y.im));
    return (plane64){re / size, im / size};
}

/* By the quotient, so that 1/x has the bits of a division. */
ALWAYS_INLINE plane64 plane_reciprocal(plane64 x) {
    return plane_quotient((plane64){splat64(1), splat64(0)}, x);
}

/* As the product of x with itself, whose imaginary part is a sum of two equal products. */
ALWAYS_INLINE plane64 plane_square(plane64 x) {
    return (plane64){x.re * x.re - x.im * x.im, x.re * x.im + x.im * x.re};
}

ALWAYS_INLINE plane64 plane_scaled(plane64 x, double by) {
    return (plane64){x.re * by, x.im * by};
}

/* ---- roots ------------------------------------------------------------------------------------------------------ */

/* Squares of such parts, and sums of two of them, are in range. */
static const double PLANE_MODERATE = 0x1p480;

/* The larger part is a root of half a sum, the other what is left of y: no difference is taken. */
ALWAYS_INLINE plane64 plane_root_of(plane64 z) {
    const V64 size = root64(madd(z.re, z.re, z.im * z.im)), more = root64(0.5 * (size + f64_magnitude(z.re)));
    const V64 less = z.im / (more + more);
    const M64 left = (M64)(z.re < 0);
    return (plane64){either(left, f64_magnitude(less), more), either(left, with_sign(more, z.im), less)};
}

ALWAYS_INLINE plane64 plane_sqrt(plane64 z) {
    return plane_patch(plane_root_of(z), z, is_moderate(z, PLANE_MODERATE), lam__complex_sqrt);
}

ALWAYS_INLINE plane64 plane_rsqrt(plane64 z) {
    const plane64 r = plane_reciprocal(plane_root_of(z));
    return plane_patch(r, z, is_moderate(z, PLANE_MODERATE), lam__complex_rsqrt);
}

/* ---- exponentials ----------------------------------------------------------------------------------------------- */

/* Beyond these exponentials leave the range, or their squares do: exp(700) is 2^1010, exp(600) 2^866. */
static const double PLANE_MOST_EXPONENT = 700, PLANE_MOST_SQUARE = 300;

/* exp(x) (cos(y) + i sin(y)). */
ALWAYS_INLINE plane64 plane_exp(plane64 z) {
    const M64 plain = is_within(z.re, PLANE_MOST_EXPONENT) & is_within(z.im, f64_LARGEST);
    const V64 size = f64_exp(z.re);
    const f64_pair turn = f64_sincos(z.im);
    return plane_patch((plane64){size * turn.cosine, size * turn.sine}, z, plain, lam__complex_exp);
}

/* (exp(x) - 1) cos(y) - 2 sin(y/2)^2 + i exp(x) sin(y): small arguments keep their digits. */
ALWAYS_INLINE plane64 plane_expm1(plane64 z) {
    const M64 plain = is_within(z.re, PLANE_MOST_EXPONENT) & is_within(z.im, f64_LARGEST);
    const f64_pair turn = f64_sincos(z.im);
    /* cos(y) - 1 is -2 sin(y/2)^2, without a difference of numbers next to 1. */
    const V64 half = f64_sin(0.5 * z.im);
    const plane64 r = {f64_expm1(z.re) * turn.cosine - 2 * half * half, f64_exp(z.re) * turn.sine};
    return plane_patch(r, z, plain, lam__complex_expm1);
}

/* What an angle that is a sum leaves of whole quarters, where its second part is far below a turn. */
ALWAYS_INLINE f64_turned turned_by(sum64 angle) {
    /* The first part by whole quarters, the second on top of what is left. */
    const f64_turned turned = f64_turned_of(angle.hi);
    const sum64 left = any_sum(turned.hi, turned.lo + angle.lo);
    return (f64_turned){left.hi, left.lo, turned.quarters};
}

/* The angle y log(2) is a sum. */
ALWAYS_INLINE plane64 plane_exp2(plane64 z) {
    /* exp2(1000) is a number. */
    const M64 plain = is_within(z.re, 1000) & is_within(z.im, 0.5 * f64_NEAR_TURNS);
    const sum64 log_2 = {splat64(0x1.62e42fefa39efp-1), splat64(0x1.abc9e3b39803fp-56)};
    const f64_pair turn = f64_sincos_of(turned_by(product_of(log_2, z.im)));
    const V64 size = f64_exp2(z.re);
    return plane_patch((plane64){size * turn.cosine, size * turn.sine}, z, plain, lam__complex_exp2);
}

/* With e = exp(x) of the negative side it is 1 / (1 + e) or e / (1 + e), where 1 + e, which is 0 at odd multiples of
 * i pi, is 2 cos(y/2)^2 + (exp(re) - 1) cos(y) + i exp(re) sin(y): next to those both terms have one sign. */
ALWAYS_INLINE plane64 plane_logistic(plane64 z) {
    const M64 negative = (M64)(z.re < 0), sign = ~negative & (M64)(-(V64){0});
    /* The side whose exponential is at most 1. */
    const plane64 x = {(V64)((M64)z.re ^ sign), (V64)((M64)z.im ^ sign)};
    const f64_pair turn = f64_sincos(x.im);
    const V64 size = f64_exp(x.re), half = f64_cos(0.5 * x.im);
    const plane64 e = {size * turn.cosine, size * turn.sine};
    const plane64 sum = {2 * half * half + f64_expm1(x.re) * turn.cosine, e.im};
    const plane64 above = {either(negative, e.re, splat64(1)), (V64)(negative & (M64)e.im)};
    /* Next to a zero of the sum, a pole of the function, its square may be nothing. */
    const M64 plain = is_within(x.re, PLANE_MOST_SQUARE) & is_within(x.im, f64_LARGEST) &
                      (M64)(sum.re * sum.re + sum.im * sum.im > 1 / PLANE_MODERATE);
    return plane_patch(plane_quotient(above, sum), z, plain, lam__complex_logistic);
}

/* ---- the hyperbola and the circle ------------------------------------------------------------------------------- */

/* Exponentials of x, as the caller uses them, are in range, and y is an angle, of whatever size. */
ALWAYS_INLINE M64 is_plain_arc(plane64 z, double most) {
    return is_within(z.re, most) & is_within(z.im, f64_LARGEST);
}

/* sinh(x) cos(y) + i cosh(x) sin(y): products only, so that nothing cancels. */
ALWAYS_INLINE plane64 plane_sinh_of(plane64 z) {
    const f64_pair turn = f64_sincos(z.im);
    return (plane64){f64_sinh(z.re) * turn.cosine, f64_cosh(z.re) * turn.sine};
}

/* cosh(x) cos(y) + i sinh(x) sin(y). */
ALWAYS_INLINE plane64 plane_cosh_of(plane64 z) {
    const f64_pair turn = f64_sincos(z.im);
    return (plane64){f64_cosh(z.re) * turn.cosine, f64_sinh(z.re) * turn.sine};
}

/* (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2). */
ALWAYS_INLINE plane64 plane_tanh_of(plane64 z) {
    const f64_pair turn = f64_sincos(z.im);
    /* The size of cosh(z), squared: a sum of two squares. */
    const V64 sinh = f64_sinh(z.re), size = madd(sinh, sinh, turn.cosine * turn.cosine);
    return (plane64){sinh * f64_cosh(z.re) / size, turn.sine * turn.cosine / size};
}

ALWAYS_INLINE plane64 plane_sinh(plane64 z) {
    return plane_patch(plane_sinh_of(z), z, is_plain_arc(z, PLANE_MOST_EXPONENT), lam__complex_sinh);
}

ALWAYS_INLINE plane64 plane_cosh(plane64 z) {
    return plane_patch(plane_cosh_of(z), z, is_plain_arc(z, PLANE_MOST_EXPONENT), lam__complex_cosh);
}

ALWAYS_INLINE plane64 plane_tanh(plane64 z) {
    return plane_patch(plane_tanh_of(z), z, is_plain_arc(z, PLANE_MOST_SQUARE), lam__complex_tanh);
}

/* sin(z) = -i sinh(i z). */
ALWAYS_INLINE plane64 plane_sin(plane64 z) {
    const plane64 x = turned_left(z), r = turned_right(plane_sinh_of(x));
    return plane_patch(r, z, is_plain_arc(x, PLANE_MOST_EXPONENT), lam__complex_sin);
}

/* cos(z) = cosh(i z). */
ALWAYS_INLINE plane64 plane_cos(plane64 z) {
    const plane64 x = turned_left(z);
    return plane_patch(plane_cosh_of(x), z, is_plain_arc(x, PLANE_MOST_EXPONENT), lam__complex_cos);
}

/* tan(z) = -i tanh(i z). */
ALWAYS_INLINE plane64 plane_tan(plane64 z) {
    const plane64 x = turned_left(z), r = turned_right(plane_tanh_of(x));
    return plane_patch(r, z, is_plain_arc(x, PLANE_MOST_SQUARE), lam__complex_tan);
}

/* 1 / cosh(x)^2, which does not cancel where tanh is near 1. */
ALWAYS_INLINE plane64 plane_tanh_slope(plane64 z) {
    const plane64 r = plane_square(plane_reciprocal(plane_cosh_of(z)));
    return plane_patch(r, z, is_plain_arc(z, PLANE_MOST_SQUARE), lam__complex_tanh_slope);
}

/* 1 / (2 cosh(x / 2))^2. */
ALWAYS_INLINE plane64 plane_logistic_slope(plane64 z) {
    const plane64 r = plane_scaled(plane_reciprocal(plane_cosh_of(plane_scaled(z, 0.5))), 0.5);
    return plane_patch(plane_square(r), z, is_plain_arc(z, PLANE_MOST_SQUARE), lam__complex_logistic_slope);
}

/* ---- logarithms ------------------------------------------------------------------------------------------------- */

/* log(|z|^2)/2 + i angle: no root is taken of the sum of squares, which would round it. */
ALWAYS_INLINE plane64 plane_log_of(plane64 z) {
    const sum64 log = f64_log_of_sum(sum_of_squares(z.re, z.im));
    return (plane64){0.5 * (log.hi + log.lo), f64_atan2(z.im, z.re)};
}

ALWAYS_INLINE plane64 plane_log(plane64 z) {
    return plane_patch(plane_log_of(z), z, is_moderate(z, PLANE_MODERATE), lam__complex_log);
}

/* The factor is rounded, and so is the product: in units of the last place that is one more. */
ALWAYS_INLINE plane64 plane_log2(plane64 z) {
    const plane64 r = plane_scaled(plane_log_of(z), 1.44269504088896340736);
    return plane_patch(r, z, is_moderate(z, PLANE_MODERATE), lam__complex_log2);
}

/* As plane_log2. */
ALWAYS_INLINE plane64 plane_log10(plane64 z) {
    const plane64 r = plane_scaled(plane_log_of(z), 0.43429448190325182765);
    return plane_patch(r, z, is_moderate(z, PLANE_MODERATE), lam__complex_log10);
}

/* ---- powers ----------------------------------------------------------------------------------------------------- */

/* The angle of z as a sum: by the arc of the first half quarter, as atan2 makes it (atan_type.h). */
ALWAYS_INLINE sum64 plane_angle(plane64 z) {
    const V64 a = f64_magnitude(z.re), b = f64_magnitude(z.im);
    const M64 steep = (M64)(b > a), left = (M64)z.re < 0, sign = (M64)(-(V64){0});
    const sum64 arc = f64_arc_of(either(steep, a, b), either(steep, b, a));
    /* The arc of the smaller part over the larger; quarters and signs follow from both. */
    const V64 turns = either(steep, splat64(0.5), either(left, splat64(1), splat64(0)));
    const M64 back = (steep ^ left) & sign, below = (M64)z.im & sign;
    const sum64 sum = fast_sum(turns * f64_half_turn[0], (V64)((M64)arc.hi ^ back));
    const V64 lo = sum.lo + madd(turns, splat64(f64_half_turn[1]), (V64)((M64)arc.lo ^ back));
    return (sum64){(V64)((M64)sum.hi ^ below), (V64)((M64)lo ^ below)};
}

/* Whole real exponents up to 64 are products. */
ALWAYS_INLINE M64 is_product(plane64 y) {
    return (M64)(y.im == 0) & is_within(y.re, 64) & (M64)(whole64(y.re) == y.re);
}

/* exp(y log x), whose exponent is made of sums: what it is rounded by would be seen in the result. */
ALWAYS_INLINE plane64 plane_pow(plane64 x, plane64 y) {
    /* A vector of products alone needs no logarithm. */
    const M64 whole = is_product(y);
    if (!any64(~whole)) return plane_patched2(x, x, y, whole, lam__complex_pow);
    const sum64 twice = f64_log_of_sum(sum_of_squares(x.re, x.im)), size = {0.5 * twice.hi, 0.5 * twice.lo};
    const sum64 angle = plane_angle(x);
    const sum64 re = minus(product_of(size, y.re), product_of(angle, y.im));
    const sum64 im = plus(product_of(angle, y.re), product_of(size, y.im));
    const M64 plain = is_moderate(x, PLANE_MODERATE) & is_within(re.hi, PLANE_MOST_EXPONENT) & is_within(im.hi, 1000);
    V64 k;
    /* The power of 2 is kept apart until the end. */
    const sum64 grown = exp_of((sum64){either(plain, re.hi, (V64){0}), re.lo}, &k);
    const f64_pair turn = f64_sincos_of(turned_by((sum64){either(plain, im.hi, (V64){0}), im.lo}));
    const V64 upper = grown.hi + grown.lo;
    const plane64 r = {scaled(upper * turn.cosine, k), scaled(upper * turn.sine, k)};
    /* Lanes that are products have been given a plain exponent too, and are done again. */
    const M64 others = ~plain | whole;
    return any64(others) ? plane_patched2(r, x, y, others, lam__complex_pow) : r;
}

/* ---- logarithms of 1 + x ---------------------------------------------------------------------------------------- */

/* |1 + x|^2 with what the sum 1 + x lacks. */
ALWAYS_INLINE plane64 plane_log1p(plane64 z) {
    /* The second part of 1 + x counts where the size is next to 1. */
    const sum64 one = any_sum(splat64(1), z.re), square = sum_of_squares(one.hi, z.im);
    const sum64 more = product(2 * one.hi, one.lo), s = any_sum(square.lo, more.hi), h = fast_sum(square.hi, s.hi);
    const sum64 log = f64_log_of_sum(fast_sum(h.hi, h.lo + (s.lo + madd(one.lo, one.lo, more.lo))));
    const plane64 r = {0.5 * (log.hi + log.lo), f64_atan2(z.im, one.hi)};
    return plane_patch(r, z, is_moderate((plane64){one.hi, z.im}, PLANE_MODERATE), lam__complex_log1p);
}

/* ---- inverse functions of the hyperbola and the circle ---------------------------------------------------------- */

/* log1p(4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, 1 - x^2 - y^2) / 2, by an x that is not negative. */
ALWAYS_INLINE plane64 plane_atanh_of(plane64 z, M64 *plain) {
    const V64 x = f64_magnitude(z.re), off = 1 - x, size = madd(off, off, z.im * z.im);
    const sum64 square = sum_of_squares(x, z.im);
    /* Next to the poles at -1 and 1 the size may be nothing. */
    *plain = is_within(x, 0x1p200) & is_within(z.im, 0x1p200) & (M64)(size > 0x1p-900);
    /* 1 - x^2 - y^2 would cancel on the circle: the square is a sum. */
    const V64 re = 0.25 * f64_log1p(4 * x / size), angle = f64_atan2(2 * z.im, (1 - square.hi) - square.lo);
    return (plane64){with_sign(re, z.re), 0.5 * angle};
}

ALWAYS_INLINE plane64 plane_atanh(plane64 z) {
    M64 plain;
    const plane64 r = plane_atanh_of(z, &plain);
    return plane_patch(r, z, plain, lam__complex_atanh);
}

ALWAYS_INLINE plane64 plane_atan(plane64 z) {
    M64 plain;
    /* atan(z) = -i atanh(i z). */
    const plane64 r = turned_right(plane_atanh_of(turned_left(z), &plain));
    return plane_patch(r, z, plain, lam__complex_atan);
}

/* What inverse sine and cosine of a number of the first quadrant are made of (Hull, Fairgrieve and Tang 1997): its
 * share of the larger axis of the ellipse with foci at -1 and 1 that it lies on, or the tangent of its arc as a
 * quotient; and the size of the imaginary part. */
typedef struct ellipse64 {
    V64 share, across, area;
    M64 near; /* where the share tells the arc */
} ellipse64;

/* With r and s the distances from -1 and 1 the axis is a = (r + s)/2. a - 1 and a - x would cancel: they are made of
 * r - |x + 1| = y^2/(r + |x + 1|) and the same of s and x - 1. The imaginary part is log(a + root(a^2 - 1)), the sine
 * of the arc x/a, its tangent x/root(a^2 - x^2), by which it is known where the sine is flat. */
ALWAYS_INLINE ellipse64 ellipse_of(V64 x, V64 y) {
    const V64 square = y * y, right = x + 1, left = x - 1;
    const V64 r = root64(madd(right, right, square)), s = root64(madd(left, left, square)), axis = 0.5 * (r + s);
    const M64 inside = (M64)(x <= 1);
    const V64 far_focus = r + right, sum = s + f64_magnitude(left);
    /* s + x - 1, which left of 1 is a difference and becomes y^2 over the sum. */
    const V64 near_focus = either(inside & (M64)(x < 1), square / sum, sum);
    const V64 less = 0.5 * (square / far_focus + near_focus); /* the axis less 1 */
    const V64 area = f64_log1p(less + root64(less * (axis + 1)));
    const V64 half = 0.5 * (axis + x);
    const V64 within = root64(half * (square / far_focus + sum)), beyond = y * root64(half / far_focus + half / sum);
    const V64 share = x / axis;
    return (ellipse64){share, either(inside, within, beyond), area, (M64)(share <= 0.625)};
}

/* Parts whose squares are in range, or 0. */
ALWAYS_INLINE M64 is_plain_ellipse(plane64 z) {
    const V64 y = f64_magnitude(z.im);
    return is_within(z.re, 0x1p200) & is_within(y, 0x1p200) & ((M64)(y >= 0x1p-400) | (M64)(y == 0));
}

/* asin and, of the same, acos. */
ALWAYS_INLINE plane64 plane_asin_of(plane64 z) {
    const V64 x = f64_magnitude(z.re);
    const ellipse64 e = ellipse_of(x, f64_magnitude(z.im));
    const V64 arc = either(e.near, f64_asin(e.share), f64_atan2(x, e.across));
    return (plane64){with_sign(arc, z.re), with_sign(e.area, z.im)};
}

/* Left of 0 the arc is more than a quarter: the sign of x goes into it, not onto the result as in asin. */
ALWAYS_INLINE plane64 plane_acos_of(plane64 z) {
    const ellipse64 e = ellipse_of(f64_magnitude(z.re), f64_magnitude(z.im));
    const V64 arc = either(e.near, f64_acos(with_sign(e.share, z.re)), f64_atan2(e.across, z.re));
    return (plane64){arc, with_sign(e.area, -z.im)};
}

ALWAYS_INLINE plane64 plane_asin(plane64 z) {
    return plane_patch(plane_asin_of(z), z, is_plain_ellipse(z), lam__complex_asin);
}

ALWAYS_INLINE plane64 plane_acos(plane64 z) {
    return plane_patch(plane_acos_of(z), z, is_plain_ellipse(z), lam__complex_acos);
}

/* asinh(z) = -i asin(i z). */
ALWAYS_INLINE plane64 plane_asinh(plane64 z) {
    const plane64 x = turned_left(z), r = turned_right(plane_asin_of(x));
    return plane_patch(r, z, is_plain_ellipse(x), lam__complex_asinh);
}

/* acos turned to the side with a real part that is not negative. */
ALWAYS_INLINE plane64 plane_acosh(plane64 z) {
    const plane64 arc = plane_acos_of(z), r = {f64_magnitude(arc.im), with_sign(arc.re, z.im)};
    return plane_patch(r, z, is_plain_ellipse(z), lam__complex_acosh);
}

/* log(x) - log(1 - x), or, next to 1/2 where these would cancel, twice atanh(2 x - 1). */
ALWAYS_INLINE plane64 plane_logit(plane64 z) {
    /* 2 x - 1, exact next to 1/2. */
    const plane64 off = {2 * (z.re - 0.5), 2 * z.im}, less = plane_log1p((plane64){-z.re, -z.im});
    const M64 near = is_within(off.re, 0.5) & is_within(off.im, 0.5);
    /* Both forms for all lanes, since a vector may have lanes of both. */
    const plane64 a = plane_log(z), b = plane_scaled(plane_atanh(off), 2);
    return (plane64){either(near, b.re, a.re - less.re), either(near, b.im, a.im - less.im)};
}

#endif
