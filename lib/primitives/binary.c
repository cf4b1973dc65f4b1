/* Elementwise functions of two and three operands. Operands broadcast; each slope is t times the derivative by
 * operand i, for both modes. Rows that multiply save for each operand only what its own slope reads. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Derivatives of a power by its base that a call may ask for. */
enum { MOST_SLOPES = 1000 };

/* ---- arithmetic ------------------------------------------------------------------------------------------ */

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

static lam_tensor *slope_mul(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, r->in[1 - i]);
}

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

/* What the numerator gets, times the quotient, is taken away. Where it leaves the range, the product need not. */
static lam_tensor *slope_div(const lam_rule *r, int i, lam_tensor *t) {
    return i == 0 ? lam_div(t, r->in[1]) : lam_neg(lam_mul_div(t, r->out[0], r->in[1]));
}

/* By both operands at once: (dx - x/y dy) / y, one division. */
static void jvp_div(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    if (dx[0] && dx[1]) dout[0] = lam_div(lam_sub(dx[0], lam_mul(r->out[0], dx[1])), r->in[1]);
    else dout[0] = dx[0] ? slope_div(r, 0, dx[0]) : slope_div(r, 1, dx[1]);
}

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

typedef lam__power lam__times_power_params;

static lam_tensor *slope_times_power(const lam_rule *r, int i, lam_tensor *t) {
    const lam__times_power_params *power = r->params;
    double factor = power->factor;
    int64_t n = power->exponent;
    if (i == 0) return lam__times_integer_pow(t, r->in[1], n, factor);
    if (n == 0) return NULL;
    if (n == 1) return lam__times_integer_pow(t, r->in[0], 1, factor); /* linear in t by its first operand */
    return lam__times_integer_pow(lam_mul(t, r->in[0]), r->in[1], n - 1, factor * (double)n);
}

static void print_times_power(FILE *file, const void *params) {
    const lam__times_power_params *power = params;
    fprintf(file, "factor=%g, exponent=%lld", power->factor, (long long)power->exponent);
}

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
    .params_print = print_times_power,
};

/* Complex numbers have no loop for it, and a division of their own that neither over- nor underflows. */
static lam_tensor *complex_times_power(lam_tensor *x, lam_tensor *y, int64_t exponent, double factor) {
    uint64_t since = lam__scope_now(x);
    if (exponent == -1) return lam__scope_only(lam_mul(factor, lam_div(x, y)), since);
    lam_tensor *power = exponent == 1 ? y : lam__integer_pow(y, exponent);
    return lam__scope_only(lam_mul(x, lam_mul(factor, power)), since);
}

lam_tensor *lam__times_integer_pow(lam_tensor *x, lam_tensor *y, int64_t exponent, double factor) {
    const lam__times_power_params power = {exponent, factor};
    if (lam__cplx_is(x) || lam__cplx_is(y)) return complex_times_power(x, y, exponent, factor);
    return lam__apply_with(&lam__row_times_power, &power, sizeof power, 2, (lam_tensor *[]){x, y});
}

lam_tensor *lam_times_power(lam_tensor *x, lam_tensor *y, int n, double factor) {
    return lam__times_integer_pow(x, y, n, factor);
}

/* x - y trunc(x / y): the derivative by y is minus the integer quotient. */
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

static lam_tensor *slope_pow_slope(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = *(const int64_t *)r->params, next = code + LAM__SLOPE_CODE(i == 0, i == 1);
    if (i == 1 && code % LAM__SLOPE_CODE(1, 0) == LAM__POWER_ORDERS)
        return lam__axes_fail("pow", r->in[0], LAM_ERR_RULE, "derivatives by the exponent end with order %d",
                              LAM__POWER_ORDERS);
    return lam_mul(t, lam__apply_coded(r->primitive, next, 2, r->in));
}

const lam_primitive lam__row_pow_slope = {
    .name = "pow_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_pow_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_pow_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *lam_pow_slope(lam_tensor *x, lam_tensor *y, int n, int m) {
    if (n < 0 || n > MOST_SLOPES || m < 0 || m > LAM__POWER_ORDERS)
        return lam__axes_fail("pow_slope", x, LAM_ERR_VALUE, "orders %d and %d are not in 0 to %d and %d", n, m,
                              MOST_SLOPES, LAM__POWER_ORDERS);
    return lam__apply_coded(&lam__row_pow_slope, LAM__SLOPE_CODE(n, m), 2, (lam_tensor *[]){x, y});
}

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
};

lam_tensor *lam__integer_pow(lam_tensor *x, int64_t n) {
    return lam__apply1(&lam__row_integer_pow, &n, sizeof n, x);
}

lam_tensor *lam_integer_pow(lam_tensor *x, int n) {
    return lam__integer_pow(x, n);
}

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

/* At the origin the cone has no slope: 0 is taken. */
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

/* The distance, 1 instead of 0. */
static lam_tensor *distance(const lam_rule *r) {
    lam_tensor *d = lam_hypot(r->in[0], r->in[1]);
    return lam_where(lam_eq(d, 0.0), 1.0, d);
}

/* With the shares u and v of x and y: by x it is v^2/d, where 1/d - u^2/d would cancel; by y -u v/d. */
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

/* A family like pow_slope, of which twice by y is minus twice by x. */
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
};

lam_tensor *lam_atan2_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_coded(&lam__row_atan2_slope, 0, 2, (lam_tensor *[]){x, y});
}

/* ---- choice ------------------------------------------------------------------------------------------------ */

/* t where operand i is the result alone, half of it at a tie. Elsewhere exactly 0, even where t is inf or NaN. */
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

static lam_tensor *slope_where(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 0) return NULL;
    return i == 1 ? lam_where(r->in[0], t, 0.0) : lam_where(r->in[0], 0.0, t);
}

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

static lam_tensor *slope_clamp(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *lo = r->in[1], *hi = r->in[2];
    lam_tensor *counts = i == 0   ? lam_and(lam_gt(x, lo), lam_lt(x, hi))
                         : i == 1 ? lam_and(lam_gt(lo, x), lam_lt(lo, hi))
                                  : lam_lt(hi, lam_max(x, lo));
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
