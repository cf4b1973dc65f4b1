/* Elementwise functions of one operand. Each slope is t times the local derivative and serves both modes; the saves
 * of a row are what its slope reads. Derivatives at singular points: the table in ops.h. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

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

/* The slope of a row whose derivative is factor y^exponent, y what it saves. */
static lam_tensor *slope_power(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    const int exponent = r->primitive->power.exponent;
    const double factor = r->primitive->power.factor;
    lam_tensor *y = r->primitive->saves & LAM_SAVE_OUT(0) ? r->out[0] : r->in[0];
    if (factor == 1 && exponent == 1) return lam_mul(t, y);
    if (factor == 1 && exponent == -1) return lam_div(t, y);
    return lam_times_power(t, y, exponent, factor);
}

#define POWER(y, n, c) .slope = slope_power, .saves = (y), .power = {(n), (c)}

static lam_tensor *slope_abs(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_sign(r->in[0]));
}

const lam_primitive lam__row_abs = {
    .name = "abs",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_abs + 1,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_abs,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_abs(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_abs, x);
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__cplx_abs(x), since);
}

const lam_primitive lam__row_sign = {
    .name = "sign",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sign + 1,
};

lam_tensor *lam_sign(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_sign, x);
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam__cplx_sign(x), since);
}

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

const lam_primitive lam__row_floor = {
    .name = "floor",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_floor + 1,
    .real = true,
};

lam_tensor *lam_floor(lam_tensor *x) {
    return lam__apply_unary(&lam__row_floor, x);
}

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

const lam_primitive lam__row_sqrt = {
    .name = "sqrt",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_sqrt + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), -1, 0.5),
};

lam_tensor *lam_sqrt(lam_tensor *x) {
    return lam__apply_unary(&lam__row_sqrt, x);
}

/* A quotient of infinities of one sign at -0 too, where the cube would turn it. */
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

lam_tensor *lam_rsqrt(lam_tensor *x) {
    return lam__apply_unary(&lam__row_rsqrt, x);
}

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

const lam_primitive lam__row_reciprocal = {
    .name = "reciprocal",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_reciprocal + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), 2, -1),
};

lam_tensor *lam_reciprocal(lam_tensor *x) {
    return lam__apply_unary(&lam__row_reciprocal, x);
}

const lam_primitive lam__row_exp = {
    .name = "exp",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_exp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_OUT(0), 1, 1),
};

lam_tensor *lam_exp(lam_tensor *x) {
    return lam__apply_unary(&lam__row_exp, x);
}

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

/* Not the result plus 1, which has no digits left of 0. */
static lam_tensor *slope_expm1(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_exp(r->in[0]));
}

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

const lam_primitive lam__row_log = {
    .name = "log",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    POWER(LAM_SAVE_IN(0), -1, 1),
};

lam_tensor *lam_log(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log, x);
}

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

static lam_tensor *slope_log1p(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_div(t, lam_add(r->in[0], 1.0));
}

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

static lam_tensor *slope_logistic(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_logistic_slope(r->in[0]));
}

lam_tensor *lam__unary_times_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, r->in[0]);
}

LAM__SLOPED_ROW(logistic);

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

/* s(-x) - s(x) is -tanh(x/2). */
static lam_tensor *slope_logistic_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_times_power(t, r->out[0], 1, -1), lam_tanh(lam_mul(0.5, r->in[0])));
}

/* s(x) s(-x) for s = logistic, since 1 - s(x) has no digits where s(x) is nearly 1. */
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

lam_tensor *lam_logistic_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_logistic_slope, x);
}

/* exp(-x^2), bounded where it is 0 so that its derivatives are too. */
static lam_tensor *bell(lam_tensor *x) {
    return lam_exp(lam_neg(lam_square(lam_clamp(x, -28.0, 28.0))));
}

static lam_tensor *slope_erf(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, 1.12837916709551257390), bell(r->in[0]));
}

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

static lam_tensor *slope_erfc(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, -1.12837916709551257390), bell(r->in[0]));
}

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

const lam_primitive lam__row_not = {
    .name = "not",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_not + 1,
};

lam_tensor *lam_not(lam_tensor *x) {
    return lam__apply_unary(&lam__row_not, x);
}
