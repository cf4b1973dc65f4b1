/* Elementwise functions of two and three operands. Operands broadcast; each slope is t times the derivative by operand
 * i, for both modes, in the dims of the result: rules.c sums it down to the dims of the operand on the way back. Rows
 * that multiply save for each operand only what its own slope reads, so that a product with a constant keeps that
 * constant and not the other factor. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Derivatives of a power by its base that a user may ask for in one call; what differentiates goes on beyond it. */
enum { MOST_SLOPES = 1000 };

/* ---- arithmetic ------------------------------------------------------------------------------------------ */

/* Sums: the derivative is a sign for each operand, and is passed on as data (`signs`). With both tangents at hand the
 * tangent is the same row applied to them; on the way back a cotangent is passed on as it is, or negated. The tape adds
 * cotangents of several uses by this row too. */
const lam_primitive lam__row_add = {
    .name = "add",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_add + 1,
    .derivative = LAM_ELEMENTWISE,
    .linear = 3u,
    .signs = {1, 1},
};

lam_tensor *(lam_add)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_add, x, y);
}

lam_tensor *(lam_add_)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary_(&lam__row_add, x, y);
}

const lam_primitive lam__row_sub = {
    .name = "sub",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_sub + 1,
    .derivative = LAM_ELEMENTWISE,
    .linear = 3u,
    .signs = {1, -1},
};

lam_tensor *(lam_sub)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_sub, x, y);
}

lam_tensor *(lam_sub_)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary_(&lam__row_sub, x, y);
}

/* d(x y) = dx y + x dy. Reached on the way back where operands broadcast: products of one shape are done on values in
 * rules.c. */
static lam_tensor *slope_mul(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, r->in[1 - i]);
}

/* Marked as linear in each operand: rules.c then does both modes on values, and an operand that no other one's gradient
 * needs is not kept (saves_for). */
const lam_primitive lam__row_mul = {
    .name = "mul",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_mul + 1,
    .derivative = LAM_ELEMENTWISE,
    .linear = 3u,
    .bilinear = true,
    .slope = slope_mul,
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0)},
};

lam_tensor *(lam_mul)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_mul, x, y);
}

lam_tensor *(lam_mul_)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary_(&lam__row_mul, x, y);
}

/* d(x/y) = dx / y - (x/y) dy / y. By y, what the numerator gets, times the quotient q, is taken away. t q may leave the
 * range where t q / y does not, and mul_div does not form it. The result is saved and not x: x / y^2 would need y^2,
 * which overflows at y = 1e200. */
static lam_tensor *slope_div(const lam_rule *r, int i, lam_tensor *t) {
    return i == 0 ? lam_div(t, r->in[1]) : lam_neg(lam_mul_div(t, r->out[0], r->in[1]));
}

/* By both operands at once dx / y - dy q / y, three passes where two slopes and their sum would be four. The quotient
 * of dx - q dy would be one division less, but q dy may leave the range where dy q / y does not. */
static void jvp_div(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    if (dx[0] && dx[1]) dout[0] = lam_sub(lam_div(dx[0], r->in[1]), lam_mul_div(dx[1], r->out[0], r->in[1]));
    else dout[0] = dx[0] ? slope_div(r, 0, dx[0]) : slope_div(r, 1, dx[1]);
}

/* Linear in the numerator alone, so with a constant divisor it is its own jvp. The divisor is read by either slope. */
const lam_primitive lam__row_div = {
    .name = "div",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_div + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 1u,
    .slope = slope_div,
    .jvp = jvp_div,
    .saves = LAM_SAVE_IN(1),
    .saves_for = {0, LAM_SAVE_OUT(0)},
};

lam_tensor *(lam_div)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_div, x, y);
}

lam_tensor *(lam_div_)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary_(&lam__row_div, x, y);
}

/* The bytes that the kernel reads, as they are. */
typedef lam__power lam__times_power_params;

/* d(c x y^n) = c y^n dx + c n x y^(n-1) dy: the family is closed under differentiation, with another n and c. For n = 0
 * it does not depend on y, and for n = 1 its slope by y is c x, one pass instead of two with a power y^0. */
static lam_tensor *slope_times_power(const lam_rule *r, int i, lam_tensor *t) {
    const lam__times_power_params *power = r->params;
    double factor = power->factor;
    int64_t n = power->exponent;
    if (i == 0) return lam__times_integer_pow(t, r->in[1], n, factor);
    if (n == 0) return NULL;
    if (n == 1) return lam__times_integer_pow(t, r->in[0], 1, factor); /* linear in t by its first operand */
    return lam__times_integer_pow(lam_mul(t, r->in[0]), r->in[1], n - 1, factor * (double)n);
}

/* Linear in x, so for exponent 1 it is a product with a factor, which rules.c treats as one (is_product). */
const lam_primitive lam__row_times_power = {
    .name = "times_power",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_times_power + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 1u,
    .slope = slope_times_power,
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0) | LAM_SAVE_IN(1)},
    .layout = "l exponent, d factor",
};

/* Wider than the public form, since derivatives of x^INT_MIN have exponents below it. */
static lam_tensor *integer_pow(lam_tensor *x, int64_t n) {
    return lam__apply1(&lam__row_integer_pow, &n, sizeof n, x);
}

/* Complex numbers have no loop for it, and a division of their own that neither over- nor underflows: so exponent -1 is
 * a division and not a product with the power -1. */
static lam_tensor *complex_times_power(lam_tensor *x, lam_tensor *y, int64_t exponent, double factor) {
    uint64_t since = lam__scope_now(x);
    if (exponent == -1) return lam__scope_only(lam_mul(factor, lam_div(x, y)), since);
    lam_tensor *power = exponent == 1 ? y : integer_pow(y, exponent);
    return lam__scope_only(lam_mul(x, lam_mul(factor, power)), since);
}

/* The exponent is 64 bits wide because each derivative of integer_pow takes one off an int: below INT_MIN it goes
 * on. */
lam_tensor *lam__times_integer_pow(lam_tensor *x, lam_tensor *y, int64_t exponent, double factor) {
    const lam__times_power_params power = {exponent, factor};
    if (lam__cplx_is(x) || lam__cplx_is(y)) return complex_times_power(x, y, exponent, factor);
    return lam__apply_with(&lam__row_times_power, &power, sizeof power, 2, (lam_tensor *[]){x, y});
}

lam_tensor *lam_times_power(lam_tensor *x, lam_tensor *y, int n, double factor) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam__times_integer_pow(x, y, n, factor), since);
}

/* x - y trunc(x / y): by x it is 1, by y minus the integer quotient, which is constant between its jumps. */
static lam_tensor *slope_rem(const lam_rule *r, int i, lam_tensor *t) {
    return i == 0 ? t : lam_neg(lam_mul(t, lam_trunc(lam_div(r->in[0], r->in[1]))));
}

const lam_primitive lam__row_rem = {
    .name = "rem",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_rem + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_rem,
    .saves_for = {0, LAM_SAVE_IN(0) | LAM_SAVE_IN(1)},
};

lam_tensor *(lam_rem)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_rem, x, y);
}

/* NOTE [pow]
 * The derivatives of real powers are a family, d^n/dx^n d^m/dy^m x^y, whose kernel knows what they are where a factor
 * vanishes or leaves the range: by x at x = 0 and y = 0 it is 0, by y at x = 0 likewise, as x^y is constant in y > 0
 * there. Complex ones are made of products: neither lets a NaN through from the factor that does not count. */
static lam_tensor *complex_slope_pow(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *y = r->in[1];
    lam_tensor *zero = lam_eq(x, 0.0);
    if (i == 1) return lam_mul(t, lam_mul(lam_pow(x, y), lam_log(lam_where(zero, 1.0, x))));
    lam_tensor *flat = lam_and(zero, lam_eq(y, 0.0));
    return lam_mul(t, lam_mul(y, lam_pow(x, lam_where(flat, 1.0, lam_sub(y, 1.0)))));
}

/* dx^y = y x^(y-1) dx + x^y log(x) dy, each factor by a member of the family pow_slope. */
static lam_tensor *slope_pow(const lam_rule *r, int i, lam_tensor *t) {
    if (lam__cplx_is(r->in[0])) return complex_slope_pow(r, i, t);
    const int64_t code = i == 0 ? LAM__SLOPE_CODE(1, 0) : LAM__SLOPE_CODE(0, 1);
    return lam_mul(t, lam__apply_coded(&lam__row_pow_slope, code, 2, r->in));
}

const lam_primitive lam__row_pow = {
    .name = "pow",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_pow + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_pow,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_pow)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_pow, x, y);
}

/* One order more by x or by y. The kernel knows LAM__POWER_ORDERS orders by y, so one more fails, in the name of pow,
 * which is what the user called; orders by x have no end. */
static lam_tensor *slope_pow_slope(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = *(const int64_t *)r->params, next = code + LAM__SLOPE_CODE(i == 0, i == 1);
    if (i == 1 && code % LAM__SLOPE_CODE(1, 0) == LAM__POWER_ORDERS)
        return lam__axes_fail("pow", r->in[0], LAM_ERR_RULE, "derivatives by the exponent end with order %d",
                              LAM__POWER_ORDERS);
    return lam_mul(t, lam__apply_coded(r->primitive, next, 2, r->in));
}

/* The parameter is LAM__SLOPE_CODE(n, m). Not linear in anything: each further derivative is the same row with another
 * code, so one kernel serves every order. */
const lam_primitive lam__row_pow_slope = {
    .name = "pow_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_pow_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_pow_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .layout = "l member",
};

/* Public because rules of users' primitives that contain powers need it as much as those here do. */
lam_tensor *lam_pow_slope(lam_tensor *x, lam_tensor *y, int n, int m) {
    if (n < 0 || n > MOST_SLOPES || m < 0 || m > LAM__POWER_ORDERS)
        return lam__axes_fail("pow_slope", x, LAM_ERR_VALUE, "orders %d and %d are not in 0 to %d and %d", n, m,
                              MOST_SLOPES, LAM__POWER_ORDERS);
    return lam__apply_coded(&lam__row_pow_slope, LAM__SLOPE_CODE(n, m), 2, (lam_tensor *[]){x, y});
}

/* dx^n = n x^(n-1) dx. n = 0 gives no tangent at all rather than one of zeros, and n = 1 passes t on, without a
 * pass. */
static lam_tensor *slope_integer_pow(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    int64_t n = *(const int64_t *)r->params;
    return n == 0 ? NULL : n == 1 ? t : lam__times_integer_pow(t, r->in[0], n - 1, (double)n);
}

const lam_primitive lam__row_integer_pow = {
    .name = "integer_pow",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_integer_pow + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_integer_pow,
    .saves = LAM_SAVE_IN(0),
    .layout = "l exponent",
};

lam_tensor *lam_integer_pow(lam_tensor *x, int n) {
    return integer_pow(x, n);
}

/* d atan2(y, x) = (x dy - y dx) / (x^2 + y^2), where in[0] is y and in[1] is x. Both quotients are atan2_slope, with
 * the operands in the one order or in the other. At the origin it is NaN. */
static lam_tensor *slope_atan2(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *slope = lam_mul(t, lam_atan2_slope(r->in[1 - i], r->in[i]));
    return i == 0 ? slope : lam_neg(slope);
}

const lam_primitive lam__row_atan2 = {
    .name = "atan2",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_atan2 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_atan2,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_atan2)(lam_tensor *y, lam_tensor *x) {
    return lam__apply_binary(&lam__row_atan2, y, x);
}

/* d hypot = (x dx + y dy) / hypot(x, y). At the origin the cone has no slope: 0 is taken, by the kernel of
 * hypot_slope. */
static lam_tensor *slope_hypot(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, lam_hypot_slope(r->in[i], r->in[1 - i]));
}

const lam_primitive lam__row_hypot = {
    .name = "hypot",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_hypot + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_hypot,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_hypot)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_hypot, x, y);
}

/* The distance, 1 instead of 0: shares are 0 at the origin, and so is what is divided by this; 0/0 would be NaN. */
static lam_tensor *distance(const lam_rule *r) {
    lam_tensor *d = lam_hypot(r->in[0], r->in[1]);
    return lam_where(lam_eq(d, 0.0), 1.0, d);
}

/* With the shares u = x/d and v = y/d: by x it is v^2/d, where 1/d - u^2/d would cancel for |x| much larger than |y|;
 * by y it is -u v/d. u is the result and saved for y alone. */
static lam_tensor *slope_hypot_slope(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *v = lam_hypot_slope(r->in[1], r->in[0]), *d = distance(r);
    return lam_mul(t, i == 0 ? lam_mul(v, lam_div(v, d)) : lam_neg(lam_div(lam_mul(r->out[0], v), d)));
}

const lam_primitive lam__row_hypot_slope = {
    .name = "hypot_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_hypot_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_hypot_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .saves_for = {0, LAM_SAVE_OUT(0)},
};

lam_tensor *lam_hypot_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_hypot_slope, x, y);
}

/* A family like pow_slope: code 64 n + m is n times by x and m times by y. f = x / (x^2 + y^2) is harmonic, so twice by
 * y is minus twice by x, and m never exceeds 1: orders of x alone are what the kernel has to know. */
static lam_tensor *slope_atan2_slope(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = *(const int64_t *)r->params, by_y = LAM__SLOPE_CODE(0, 1);
    const bool again = i == 1 && code & by_y;
    const int64_t next = code + (again ? LAM__SLOPE_CODE(2, 0) - by_y : i == 1 ? by_y : LAM__SLOPE_CODE(1, 0));
    lam_tensor *slope = lam_mul(t, lam__apply_coded(r->primitive, next, 2, r->in));
    return again ? lam_neg(slope) : slope;
}

const lam_primitive lam__row_atan2_slope = {
    .name = "atan2_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_atan2_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_atan2_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .layout = "l member",
};

lam_tensor *lam_atan2_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_coded(&lam__row_atan2_slope, 0, 2, (lam_tensor *[]){x, y});
}

/* ---- choice ------------------------------------------------------------------------------------------------ */

/* t where operand i is the result alone, half of it at a tie. Elsewhere exactly 0, even where t is inf or NaN, which a
 * product with 0 or 1 would not give. Where an operand is NaN neither comparison holds, and both get 0. */
static lam_tensor *share(const lam_rule *r, lam_tensor *wins, lam_tensor *t) {
    lam_tensor *tie = lam_eq(r->in[0], r->in[1]);
    return lam_where(wins, t, lam_where(tie, lam_mul(0.5, t), 0.0));
}

static lam_tensor *slope_max(const lam_rule *r, int i, lam_tensor *t) {
    return share(r, lam_gt(r->in[i], r->in[1 - i]), t);
}

const lam_primitive lam__row_max = {
    .name = "max",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_max + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_max,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_max)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_max, x, y);
}

static lam_tensor *slope_min(const lam_rule *r, int i, lam_tensor *t) {
    return share(r, lam_lt(r->in[i], r->in[1 - i]), t);
}

const lam_primitive lam__row_min = {
    .name = "min",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_min + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_min,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_min)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_min, x, y);
}

/* The condition has no derivative. What is not taken gets a chosen 0, not a multiplied one; see the table in ops.h. By
 * x where it holds, by y elsewhere. */
static lam_tensor *slope_where(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 0) return NULL;
    return i == 1 ? lam_where(r->in[0], t, 0.0) : lam_where(r->in[0], 0.0, t);
}

/* Linear in the two branches together: with tangents for both it is its own jvp. Only the condition is kept. */
const lam_primitive lam__row_where = {
    .name = "where",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_where + 1,
    .derivative = LAM_ELEMENTWISE,
    .linear = 6u,
    .slope = slope_where,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *(lam_where)(lam_tensor *condition, lam_tensor *x, lam_tensor *y) {
    return lam__apply_ternary(&lam__row_where, condition, x, y);
}

/* min(max(x, lo), hi) is x, lo or hi, and t goes to the one that it is. All comparisons are strict, so that at an edge,
 * where two of them tie, none gets it. With lo > hi the result is hi everywhere. A NaN is no edge: it is the result,
 * and t goes to it, so that what is made of it has no number for a derivative either. */
static lam_tensor *slope_clamp(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *lo = r->in[1], *hi = r->in[2];
    if (i == 0) return lam_where(lam_or(lam_le(x, lo), lam_ge(x, hi)), 0.0, t);
    lam_tensor *counts = i == 1 ? lam_and(lam_gt(lo, x), lam_lt(lo, hi)) : lam_lt(hi, lam_max(x, lo));
    return lam_where(counts, t, 0.0);
}

const lam_primitive lam__row_clamp = {
    .name = "clamp",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_clamp + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_clamp,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_IN(2),
};

lam_tensor *(lam_clamp)(lam_tensor *x, lam_tensor *lo, lam_tensor *hi) {
    return lam__apply_ternary(&lam__row_clamp, x, lo, hi);
}

/* |x| sign(y): by x it is sign(x) times the sign of y, 0 at x = 0; by y it is 0 but for the jump. The sign of y is read
 * by copysign and not by sign, which is 0 at y = 0 and does not tell -0 from 0 as the value does. */
static lam_tensor *slope_copysign(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 1) return NULL;
    return lam_mul(t, lam_mul(lam_sign(r->in[0]), lam_copysign(1.0, r->in[1])));
}

const lam_primitive lam__row_copysign = {
    .name = "copysign",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_copysign + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_copysign,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_copysign)(lam_tensor *x, lam_tensor *sign) {
    return lam__apply_binary(&lam__row_copysign, x, sign);
}
