/* Elementwise functions of one operand. Each slope is t times the local derivative and serves both modes; the saves of
 * a row are what its slope reads, its result rather than its operand where the derivative can be written with either:
 * the result is alive anyway, and the operand may then be freed or overwritten. Rows with `real` take integers as f64,
 * the others keep them; rows without `derivative` are constant wherever they have one, so both modes give zero without
 * a call. Derivatives at singular points: the table in ops.h. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

/* A sum of one operand with a sign: `signs` is all that the derivative is, so nothing is saved and no slope is called.
 * Integers wrap; bool has no loop and is refused for that. */
const lam_primitive lam__row_neg = {
    .name = "neg",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_neg + 1,
    .derivative = LAM_ELEMENTWISE,
    .signs = {-1},
    .linear = 1u,
};

lam_tensor *lam_neg(lam_tensor *x) {
    return lam__apply_unary(&lam__row_neg, x);
}

/* The slope of a row whose derivative is factor y^exponent, y what it saves. A factor that is 1 leaves a plain product
 * or quotient, which complex operands have loops for as well. For floats of one shape times_power in rules.c does the
 * same without a handle: it chooses between product, quotient and times_power by the same conditions, so that a
 * derivative has the same bits whichever of the two gives it. */
static lam_tensor *slope_power(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    const int exponent = r->primitive->power.exponent;
    const double factor = r->primitive->power.factor;
    lam_tensor *y = r->primitive->saves & LAM_SAVE_OUT(0) ? r->out[0] : r->in[0];
    if (factor == 1 && exponent == 1) return lam_mul(t, y);
    if (factor == 1 && exponent == -1) return lam_div(t, y);
    return lam_times_power(t, y, exponent, factor);
}

/* y is the one LAM_SAVE_ bit that is read, the operand or the result; the derivative is c y^n. */
#define POWER(y, n, c) .slope = slope_power, .saves = (y), .power = {(n), (c)}

/* d|x| = sign(x) dx, where sign(0) = 0 decides the corner. The second derivative is 0 everywhere, as sign has none. */
static lam_tensor *slope_abs(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_sign(r->in[0]));
}

/* Not `real`: integers keep their dtype, and the least one, which has no opposite, wraps to itself. */
const lam_primitive lam__row_abs = {
    .name = "abs",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_abs + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_abs,
    .saves = LAM_SAVE_IN(0),
};

/* The complex modulus has a real result and no row of its own: it is composed of hypot of the parts, so its derivative
 * is that of hypot, 0 at the origin. */
lam_tensor *lam_abs(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_abs, x);
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__cplx_abs(x), since);
}

/* No derivative: constant but for the step at 0, where it is taken as 0 too. */
const lam_primitive lam__row_sign = {
    .name = "sign",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sign + 1,
};

/* x / |x| of complex x turns with x, so unlike the real sign it is not constant; composed, like the modulus. */
lam_tensor *lam_sign(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_sign, x);
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__cplx_sign(x), since);
}

/* d(x^2) = 2 x dx. Not `bilinear` like mul: one operand is read once, and one cotangent comes back instead of two that
 * would have to be added. */
const lam_primitive lam__row_square = {
    .name = "square",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_square + 1,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_IN(0), 1, 2),
};

lam_tensor *lam_square(lam_tensor *x) {
    return lam__apply_unary(&lam__row_square, x);
}

/* The four roundings: constant between their steps, and 0 is taken at the steps. With `real` their result is a float
 * even for integers. */
const lam_primitive lam__row_floor = {
    .name = "floor",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_floor + 1,
    .real = true,
};

/* Towards -inf, as mod and floor_divide have it. */
lam_tensor *lam_floor(lam_tensor *x) {
    return lam__apply_unary(&lam__row_floor, x);
}

/* -0 for x in (-1, 0), as IEEE 754 has it; floor gives -1 there. */
const lam_primitive lam__row_ceil = {
    .name = "ceil",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_ceil + 1,
    .real = true,
};

lam_tensor *lam_ceil(lam_tensor *x) {
    return lam__apply_unary(&lam__row_ceil, x);
}

/* Halves go to the even neighbour, the default rounding of IEEE 754, so that round(2.5) is 2; C's round gives 3. */
const lam_primitive lam__row_round = {
    .name = "round",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_round + 1,
    .real = true,
};

lam_tensor *lam_round(lam_tensor *x) {
    return lam__apply_unary(&lam__row_round, x);
}

/* Towards 0: what a conversion to an integer does, but without a limit on the range. */
const lam_primitive lam__row_trunc = {
    .name = "trunc",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_trunc + 1,
    .real = true,
};

lam_tensor *lam_trunc(lam_tensor *x) {
    return lam__apply_unary(&lam__row_trunc, x);
}

/* y = sqrt(x), dy = dx / (2 y): inf at 0. */
const lam_primitive lam__row_sqrt = {
    .name = "sqrt",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sqrt + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), -1, 0.5),
};

/* NaN for negative reals, -0 for -0. */
lam_tensor *lam_sqrt(lam_tensor *x) {
    return lam__apply_unary(&lam__row_sqrt, x);
}

/* y = x^(-1/2), dy = -1/2 y / x dx. That is -1/2 y^3 as well, in fewer passes, but at x = -0, where y is -inf, the
 * quotient is one of infinities of one sign as at +0, -inf, and the cube would turn it to +inf. */
static lam_tensor *slope_rsqrt(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_div(lam_times_power(t, r->out[0], 1, -0.5), r->in[0]);
}

const lam_primitive lam__row_rsqrt = {
    .name = "rsqrt",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_rsqrt + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_rsqrt,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
};

/* Inf at 0, -inf at -0, NaN below. */
lam_tensor *lam_rsqrt(lam_tensor *x) {
    return lam__apply_unary(&lam__row_rsqrt, x);
}

/* y = x^(1/3), dy = 1/3 y^-2 dx: defined for negative x as the value is, inf at 0. */
const lam_primitive lam__row_cbrt = {
    .name = "cbrt",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_cbrt + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), -2, 1.0 / 3),
};

lam_tensor *lam_cbrt(lam_tensor *x) {
    return lam__apply_unary(&lam__row_cbrt, x);
}

/* y = 1/x, dy = -y^2 dx: -inf at 0 of either sign. */
const lam_primitive lam__row_reciprocal = {
    .name = "reciprocal",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_reciprocal + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), 2, -1),
};

/* 1 / 0 is inf and 1 / -0 is -inf. */
lam_tensor *lam_reciprocal(lam_tensor *x) {
    return lam__apply_unary(&lam__row_reciprocal, x);
}

/* dy = y dx: one product by the result. Where y is 0 or inf the slope is the same 0 or inf. */
const lam_primitive lam__row_exp = {
    .name = "exp",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_exp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), 1, 1),
};

/* 0 for -inf and inf for inf, with the slope of that value. */
lam_tensor *lam_exp(lam_tensor *x) {
    return lam__apply_unary(&lam__row_exp, x);
}

/* dy = ln(2) y dx. */
const lam_primitive lam__row_exp2 = {
    .name = "exp2",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_exp2 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), 1, 0.69314718055994530942),
};

lam_tensor *lam_exp2(lam_tensor *x) {
    return lam__apply_unary(&lam__row_exp2, x);
}

/* d(exp(x) - 1) = exp(x) dx. Not the result plus 1, which has no digits left of 0: at x = -40 the result is -1 and the
 * sum would be 0. So the operand is saved and exp is worked out anew. */
static lam_tensor *slope_expm1(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_exp(r->in[0]));
}

/* expm1 and log1p undo each other to the last digits near 0; as exp and log of sums they would not. */
const lam_primitive lam__row_expm1 = {
    .name = "expm1",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_expm1 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_expm1,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_expm1(lam_tensor *x) {
    return lam__apply_unary(&lam__row_expm1, x);
}

/* dy = dx / x for every x: where x < 0 and the value is NaN, the formula is what the table in ops.h asks for. */
const lam_primitive lam__row_log = {
    .name = "log",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_IN(0), -1, 1),
};

/* NaN for negative reals; complex operands have the principal branch, cut along the negative reals. */
lam_tensor *lam_log(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log, x);
}

/* dy = log2(e) x^-1 dx. */
const lam_primitive lam__row_log2 = {
    .name = "log2",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log2 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_IN(0), -1, 1.44269504088896340736),
};

lam_tensor *lam_log2(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log2, x);
}

/* dy = log10(e) x^-1 dx. */
const lam_primitive lam__row_log10 = {
    .name = "log10",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log10 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_IN(0), -1, 0.43429448190325182765),
};

lam_tensor *lam_log10(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log10, x);
}

/* d log(1 + x) = dx / (1 + x). The sum is rounded once, and not at all near -1, where the quotient is steep; at -1 it
 * is inf. */
static lam_tensor *slope_log1p(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_div(t, lam_add(r->in[0], 1.0));
}

/* log1p and expm1 are rows of their own for x near 0, where 1 + x and exp(x) - 1 keep few digits of x. */
const lam_primitive lam__row_log1p = {
    .name = "log1p",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log1p + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log1p,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_log1p(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log1p, x);
}

/* s'(x) = s(x) s(-x), by a row of its own; see there for why it is not s (1 - s). */
static lam_tensor *slope_logistic(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_logistic_slope(r->in[0]));
}

/* The rule of every row that `sloped` names: the one operand of such a row is the derivative itself, which the kernel
 * gave along with the value. */
lam_tensor *lam__unary_times_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, r->in[0]);
}

/* The row that a tape records in place of logistic where the elements were at hand and the kernel gave value and slope
 * in one pass. It keeps the name, so that messages show what the user called. */
LAM__SLOPED_ROW(logistic);

/* Where the slope was kept the way back is one product; only below another level, where there are no elements, is
 * slope_logistic asked, so what it saves is the operand. */
const lam_primitive lam__row_logistic = {
    .name = "logistic",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_logistic + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logistic,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_logistic,
};

lam_tensor *lam_logistic(lam_tensor *x) {
    return lam__apply_unary(&lam__row_logistic, x);
}

/* (s(x) s(-x))' = s(x) s(-x) (s(-x) - s(x)), and s(-x) - s(x) is -tanh(x/2), which does not cancel near 0. */
static lam_tensor *slope_logistic_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_times_power(t, r->out[0], 1, -1), lam_tanh(lam_mul(0.5, r->in[0])));
}

/* s(x) s(-x) for s = logistic, since 1 - s(x) has no digits where s(x) is nearly 1. At x = 40 that difference would be
 * 0 and the derivative is 4.2e-18. */
const lam_primitive lam__row_logistic_slope = {
    .name = "logistic_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_logistic_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logistic_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
};

/* Public because rules of users' primitives need it, as those here do. */
lam_tensor *lam_logistic_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_logistic_slope, x);
}

/* exp(-x^2), with x bounded where the result is 0 so that its derivatives are too: at x = inf the slope of the square
 * is inf, and 0 times that would be NaN. exp(-28^2) is 0 in f64 and in f32, so the values are the same. */
static lam_tensor *bell(lam_tensor *x) {
    return lam_exp(lam_neg(lam_square(lam_clamp(x, -28.0, 28.0))));
}

/* erf'(x) = 2/sqrt(pi) exp(-x^2). Five passes, of which one is an elementary function; the constant goes to t. */
static lam_tensor *slope_erf(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, 1.12837916709551257390), bell(r->in[0]));
}

/* The operand is saved and not the result: erf(x) is 1 to the last digit at x = 6, where the slope is still 2.6e-16. */
const lam_primitive lam__row_erf = {
    .name = "erf",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_erf + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_erf,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_erf(lam_tensor *x) {
    return lam__apply_unary(&lam__row_erf, x);
}

/* Minus that of erf, since erfc = 1 - erf; the bell comes from x and so loses no digits where erfc underflows. */
static lam_tensor *slope_erfc(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, -1.12837916709551257390), bell(r->in[0]));
}

/* A row of its own for the right tail: 1 - erf(x) is 0 from x = 6 on, erfc(6) is 2.2e-17. */
const lam_primitive lam__row_erfc = {
    .name = "erfc",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_erfc + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_erfc,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_erfc(lam_tensor *x) {
    return lam__apply_unary(&lam__row_erfc, x);
}

/* Predicates: bool for every dtype. There are loops for floats only, so integers come as f64, and are always finite. */
const lam_primitive lam__row_is_finite = {
    .name = "is_finite",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_is_finite + 1,
    .predicate = true,
    .real = true,
};

lam_tensor *lam_is_finite(lam_tensor *x) {
    return lam__apply_unary(&lam__row_is_finite, x);
}

const lam_primitive lam__row_is_nan = {
    .name = "is_nan",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_is_nan + 1,
    .predicate = true,
    .real = true,
};

lam_tensor *lam_is_nan(lam_tensor *x) {
    return lam__apply_unary(&lam__row_is_nan, x);
}

/* Logical for bool and bitwise for integers, as in C; floats have no loop, so `not` of them is refused. */
const lam_primitive lam__row_not = {
    .name = "not",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_not + 1,
};

lam_tensor *lam_not(lam_tensor *x) {
    return lam__apply_unary(&lam__row_not, x);
}
