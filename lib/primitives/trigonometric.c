/* Elementwise functions of one operand: trigonometric and hyperbolic ones and their inverses. Angles are in radians.
 * As in unary.c, each slope is t times the local derivative and serves both modes. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* 1 - x^2 of real x rounded once: it keeps its digits near 1, and its own slope -2 x keeps them near 0. As (1 - x)(1 +
 * x) it would have them too, but its derivative is a difference of nearly equal numbers near 0. */
static lam_tensor *one_minus_square(lam_tensor *x) {
    return lam_fma(lam_neg(x), x, 1.0);
}

/* 1 - z^2 of complex z is two factors beyond 1/2, where the square may leave the range or 1 - z^2 lose its digits, and
 * as it stands within, where derivatives of the factors would cancel. Both factors are made by subtracting from z,
 * since only that keeps the sign of an imaginary part of 0, which tells the sides of a branch cut. */
typedef struct circle {
    lam_tensor *near, *less, *more, *square; /* |z| < 1/2; 1 - z and 1 + z beyond; 1 - z^2 within; else harmless */
} circle;

/* Each form gets a harmless operand where the other is used (0.75, 0), so that its slope there is finite and times 0 is
 * 0. Which form is used is a choice without derivative. */
static circle circle_of(lam_tensor *z) {
    lam_tensor *near = lam_lt(lam_abs(lam_stop_gradient(z)), 0.5);
    lam_tensor *far = lam_where(near, 0.75, z), *small = lam_where(near, z, 0.0);
    return (circle){near, lam_neg(lam_sub(far, 1.0)), lam_sub(far, -1.0), lam_sub(1.0, lam_square(small))};
}

/* t over the root of 1 - z^2 as asin has it: a root for each factor, since that of the product lies on another branch
 * in half of the plane. */
static lam_tensor *over_root(lam_tensor *t, lam_tensor *z) {
    const circle c = circle_of(z);
    lam_tensor *far = lam_mul(lam_rsqrt(c.less), lam_rsqrt(c.more));
    return lam_mul(t, lam_where(c.near, lam_rsqrt(c.square), far));
}

/* t / (1 - z^2), one factor after the other beyond 1/2, so that their product cannot overflow. */
static lam_tensor *over_circle(lam_tensor *t, lam_tensor *z) {
    const circle c = circle_of(z);
    return lam_where(c.near, lam_div(t, c.square), lam_div(lam_div(t, c.less), c.more));
}

/* i z, with the signs of both parts, which a product with i would not keep: 0 times an infinite part is NaN. It is how
 * functions of i z are asked of those here: tan, atan and asinh are tanh, atanh and asin turned. */
static lam_tensor *turned(lam_tensor *z) {
    return lam_complex(lam_neg(lam_imag(z)), lam_real(z));
}

/* d sin = cos dx. Where elements are at hand the kernel gives both at once (sloped). */
static lam_tensor *slope_sin(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_cos(r->in[0]));
}

/* Sine and cosine share the reduction of their argument, so both cost little more than one; likewise for cos. */
LAM__SLOPED_ROW(sin);

/* The operand is saved for levels above others; where the cosine was kept it is not needed. */
const lam_primitive lam__row_sin = {
    .name = "sin",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sin + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_sin,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_sin,
};

/* Complex operands have a loop of their own; the sloped one is for reals. */
lam_tensor *lam_sin(lam_tensor *x) {
    return lam__apply_unary(&lam__row_sin, x);
}

/* d cos = -sin dx, sign and product in one pass. */
static lam_tensor *slope_cos(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam__times_integer_pow(t, lam_sin(r->in[0]), 1, -1.0);
}

/* As for sin. */
LAM__SLOPED_ROW(cos);

const lam_primitive lam__row_cos = {
    .name = "cos",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_cos + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_cos,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_cos,
};

lam_tensor *lam_cos(lam_tensor *x) {
    return lam__apply_unary(&lam__row_cos, x);
}

/* d tan = (1 + tan^2) dx of the result: no digits are lost for reals, as both terms are positive. tan(z) = -i tanh(i z)
 * gives the complex one, where tan^2 may be nearly -1. */
static lam_tensor *slope_tan(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return lam_mul(t, lam_tanh_slope(turned(r->in[0]))); /* the square may be nearly -1 */
    return lam_mul(t, lam_add(lam_square(r->out[0]), 1.0));
}

/* The operand is read by complex slopes only, the result by real ones; a row cannot say so, and both are saved. */
const lam_primitive lam__row_tan = {
    .name = "tan",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_tan + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_tan,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
};

/* Near pi/2 the result is large and never infinite, since no double is pi/2. */
lam_tensor *lam_tan(lam_tensor *x) {
    return lam__apply_unary(&lam__row_tan, x);
}

/* dx / sqrt(1 - x^2): inf at both ends, NaN beyond. */
static lam_tensor *slope_asin(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return over_root(t, r->in[0]);
    return lam_mul(t, lam_rsqrt(one_minus_square(r->in[0])));
}

/* The operand is saved: sqrt(1 - x^2) from the result would be a cosine more. */
const lam_primitive lam__row_asin = {
    .name = "asin",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_asin + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_asin,
    .saves = LAM_SAVE_IN(0),
};

/* NaN beyond [-1, 1] for reals; who wants values there casts to a complex dtype. */
lam_tensor *lam_asin(lam_tensor *x) {
    return lam__apply_unary(&lam__row_asin, x);
}

/* Minus that of asin, since the two add up to pi/2. */
static lam_tensor *slope_acos(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return lam_neg(over_root(t, r->in[0]));
    return lam_neg(lam_mul(t, lam_rsqrt(one_minus_square(r->in[0]))));
}

/* Accurate near 1, where pi/2 - asin(x) is not. */
const lam_primitive lam__row_acos = {
    .name = "acos",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_acos + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_acos,
    .saves = LAM_SAVE_IN(0),
};

/* NaN beyond [-1, 1] for reals, as asin. */
lam_tensor *lam_acos(lam_tensor *x) {
    return lam__apply_unary(&lam__row_acos, x);
}

/* dx / (1 + x^2), as two quotients by hypot(x, 1): x^2 overflows at 1e200, where the slope is 1e-400 and so 0, but t
 * may be large. Of complex numbers 1 + z^2 is 1 - (i z)^2. */
static lam_tensor *slope_atan(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return over_circle(t, turned(r->in[0]));
    lam_tensor *root = lam_hypot(r->in[0], 1.0); /* the square may be too large */
    return lam_div(lam_div(t, root), root);
}

/* Defined for all reals; complex ones have branch cuts on the imaginary axis beyond i and -i. */
const lam_primitive lam__row_atan = {
    .name = "atan",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_atan + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_atan,
    .saves = LAM_SAVE_IN(0),
};

/* Between -pi/2 and pi/2; lam_atan2 knows the quadrant. */
lam_tensor *lam_atan(lam_tensor *x) {
    return lam__apply_unary(&lam__row_atan, x);
}

/* d sinh = cosh dx, evaluated anew from the operand. */
static lam_tensor *slope_sinh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_cosh(r->in[0]));
}

/* Odd and steep: inf from 711 on, as is its slope. */
const lam_primitive lam__row_sinh = {
    .name = "sinh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sinh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_sinh,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_sinh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_sinh, x);
}

/* d cosh = sinh dx. Of the result, a root of y^2 - 1, it would have no sign, and no digits near 0. */
static lam_tensor *slope_cosh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_sinh(r->in[0]));
}

/* Even: 1 at 0, with the slope 0 there. */
const lam_primitive lam__row_cosh = {
    .name = "cosh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_cosh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_cosh,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_cosh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_cosh, x);
}

/* d tanh = (1 - tanh^2) dx, by a row of its own; see there. */
static lam_tensor *slope_tanh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_tanh_slope(r->in[0]));
}

/* The slope is worked out from the operand, since 1 - y^2 of the result has no digits from x = 19 on. */
const lam_primitive lam__row_tanh = {
    .name = "tanh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_tanh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_tanh,
    .saves = LAM_SAVE_IN(0),
};

/* 1 to the last digit from 19.1 on in f64. */
lam_tensor *lam_tanh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_tanh, x);
}

/* (1 - tanh^2)' = -2 tanh (1 - tanh^2). The result is saved, the tangent made anew: it is not among what this row
 * has. */
static lam_tensor *slope_tanh_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_times_power(t, r->out[0], 1, -2), lam_tanh(r->in[0]));
}

/* 1 - tanh(x)^2, which has no digits where tanh is nearly 1, as 4 s(2 x) s(-2 x) with s = logistic. That neither
 * overflows nor has a kink, however often it is differentiated. */
const lam_primitive lam__row_tanh_slope = {
    .name = "tanh_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_tanh_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_tanh_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
};

/* Public because rules of users' primitives need it, as those here do. */
lam_tensor *lam_tanh_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_tanh_slope, x);
}

/* dx / sqrt(1 + x^2), as hypot: the square of a real number may be too large where its root is not. */
static lam_tensor *slope_asinh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return over_root(t, turned(r->in[0]));
    return lam_div(t, lam_hypot(r->in[0], 1.0));
}

/* Odd, and accurate near 0, where log(x + sqrt(x^2 + 1)) is not. */
const lam_primitive lam__row_asinh = {
    .name = "asinh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_asinh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_asinh,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_asinh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_asinh, x);
}

/* dx / sqrt(x^2 - 1), a root for each factor: the difference of squares would lose its digits near 1. Of complex
 * numbers it is that of asin times -i above the real axis, and i below it. */
static lam_tensor *slope_acosh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *x = r->in[0];
    if (!lam__cplx_is(x)) return lam_mul(t, lam_mul(lam_rsqrt(lam_sub(x, 1.0)), lam_rsqrt(lam_add(x, 1.0))));
    lam_tensor *down = lam_copysign(1.0, lam_neg(lam_imag(x)));
    return lam_mul(over_root(t, x), lam_complex(lam_zeros_like(down), down));
}

/* Defined from 1 on; at 1 its slope is inf. */
const lam_primitive lam__row_acosh = {
    .name = "acosh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_acosh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_acosh,
    .saves = LAM_SAVE_IN(0),
};

/* NaN below 1 for reals. */
lam_tensor *lam_acosh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_acosh, x);
}

/* dx / (1 - x^2): inf at both ends. Between the ends it has the digits that 1 - x^2 has, all of them. */
static lam_tensor *slope_atanh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return over_circle(t, r->in[0]);
    return lam_div(t, one_minus_square(r->in[0]));
}

/* Within (-1, 1), inf at the ends. */
const lam_primitive lam__row_atanh = {
    .name = "atanh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_atanh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_atanh,
    .saves = LAM_SAVE_IN(0),
};

/* NaN beyond [-1, 1] for reals. */
lam_tensor *lam_atanh(lam_tensor *x) {
    return lam__apply_unary(&lam__row_atanh, x);
}
