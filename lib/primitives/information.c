/* Logarithms times a number and of a ratio: xlogy, xlog1py, relative entropy and what is made of these. Their slopes
 * are quotients of operands, never products that leave the range where the slope does not; at the ends of their domains
 * the slopes are those of the tables in ops.h and special.h. */
#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- x log y, x log(1 + y) --------------------------------------------------------------------------------------- */

/* Where x is 0 and the logarithm, which has its pole at `pole`, is not finite, and not NaN for cause. An inf times 0
 * would be NaN in the value as in the slope. */
static lam_tensor *nothing(lam_tensor *x, lam_tensor *y, double pole) {
    return lam_and(lam_eq(x, 0.0), lam_or(lam_le(y, pole), lam_eq(y, INFINITY)));
}

/* log(y) dx + x/y dy. At x = 0 a pole of the logarithm counts nothing: y is made 1 before the functions, so that second
 * derivatives meet no inf either. */
static lam_tensor *slope_xlogy(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *y = r->in[1], *none = nothing(x, y, 0), *safe = lam_where(none, 1.0, y);
    return i == 0 ? lam_mul(t, lam_log(safe)) : lam_where(none, 0.0, lam_mul(t, lam_div(x, safe)));
}

/* A loop of its own, which is exact where x is 0. */
const lam_primitive lam__row_xlogy = {
    .name = "xlogy",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_xlogy + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_xlogy,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* In parentheses, since the name is also a macro, which takes C numbers (literals.h). */
lam_tensor *(lam_xlogy)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    if (lam__cplx_is(x) || lam__cplx_is(y)) return lam__scope_named(lam__plane_xlogy(x, y, false), since);
    return lam__apply_binary(&lam__row_xlogy, x, y);
}

/* log(1 + y) dx + x/(1 + y) dy, the pole being at -1. What is put in for y has the logarithm 0. */
static lam_tensor *slope_xlog1py(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *y = r->in[1], *none = nothing(x, y, -1), *safe = lam_where(none, 0.0, y);
    return i == 0 ? lam_mul(t, lam_log1p(safe)) : lam_where(none, 0.0, lam_mul(t, lam_div(x, lam_add(safe, 1.0))));
}

const lam_primitive lam__row_xlog1py = {
    .name = "xlog1py",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_xlog1py + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_xlog1py,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* For y near 0, where 1 + y would be rounded. */
lam_tensor *(lam_xlog1py)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    if (lam__cplx_is(x) || lam__cplx_is(y)) return lam__scope_named(lam__plane_xlogy(x, y, true), since);
    return lam__apply_binary(&lam__row_xlog1py, x, y);
}

/* ---- log(x/y), x log(x/y) ---------------------------------------------------------------------------------------- */

/* d log(x/y) = dx/x - dy/y. Each operand's slope reads that operand alone. So one operand is saved where one gradient
 * is asked for. */
static lam_tensor *slope_log_ratio(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *slope = lam_div(t, r->in[i]);
    return i == 0 ? slope : lam_neg(slope);
}

const lam_primitive lam__row_log_ratio = {
    .name = "log_ratio",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_log_ratio + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log_ratio,
    .saves_for = {LAM_SAVE_IN(0), LAM_SAVE_IN(1)},
};

/* One loop, since the quotient may leave the range where its logarithm does not. */
lam_tensor *lam_log_ratio(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_log_ratio, x, y);
}

/* The constants outside, and 0 at x = 0, have no slopes. A NaN is not outside: it is the least of both. Comparisons
 * with NaN are false, so NaN goes the way of what is inside. */
static lam_tensor *is_outside(const lam_rule *r) {
    return lam_le(lam_min(r->in[0], r->in[1]), 0.0);
}

/* Inside, d = (log(x/y) + 1) dx - x/y dy. Where it is chosen 0 no quotient is made of the operands, so that second
 * derivatives are 0 there too. By x it is a row of its own, since its derivative is as simple as log_ratio's: dx/x -
 * dy/y. */
static lam_tensor *slope_rel_entr(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 0) return lam_mul(t, lam_rel_entr_slope(r->in[0], r->in[1]));
    lam_tensor *outside = is_outside(r), *y = lam_where(outside, 1.0, r->in[1]);
    return lam_where(outside, 0.0, lam_neg(lam_mul(t, lam_div(r->in[0], y))));
}

/* Outside it is a constant, as in SciPy. */
const lam_primitive lam__row_rel_entr = {
    .name = "rel_entr",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_rel_entr + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_rel_entr,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* x log(x/y), 0 at x = 0, inf where an operand is negative. As a function of both it is convex. */
lam_tensor *lam_rel_entr(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_rel_entr, x, y);
}

/* dx/x - dy/y inside, as the slope is log(x/y) and a constant there. */
static lam_tensor *slope_rel_entr_slope(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *outside = is_outside(r), *slope = lam_div(t, lam_where(outside, 1.0, r->in[i]));
    return lam_where(outside, 0.0, i == 0 ? slope : lam_neg(slope));
}

/* The operands tell where it is constant; the result alone does not. */
const lam_primitive lam__row_rel_entr_slope = {
    .name = "rel_entr_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_rel_entr_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_rel_entr_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* log(x/y) + 1 inside. */
lam_tensor *lam_rel_entr_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_rel_entr_slope, x, y);
}

/* ---- -x log(x) --------------------------------------------------------------------------------------------------- */

/* -log(x) - 1, with the constants of the row outside. Outside nothing depends on x. */
static lam_tensor *slope_entr(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_entr_slope(r->in[0]));
}

LAM__SLOPED_ROW(entr);

/* One pass makes value and slope where elements are at hand. */
const lam_primitive lam__row_entr = {
    .name = "entr",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_entr + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_entr,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_entr,
};

/* -x log(x), 0 at 0 and -inf for x < 0. */
lam_tensor *lam_entr(lam_tensor *x) {
    return lam__apply_unary(&lam__row_entr, x);
}

/* -dx/x, and none where the slope is chosen 0. By the operand, not by the slope, whose value tells of x with a rounding
 * more. */
static lam_tensor *slope_entr_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *outside = lam_le(r->in[0], 0.0), *x = lam_where(outside, 1.0, r->in[0]);
    return lam_where(outside, 0.0, lam_neg(lam_div(t, x)));
}

const lam_primitive lam__row_entr_slope = {
    .name = "entr_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_entr_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_entr_slope,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_entr_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_entr_slope, x);
}

/* ---- divergence -------------------------------------------------------------------------------------------------- */

/* x log(x/y) - x + y, as SciPy has it: convex and never negative. Outside, where the first term is infinite and has no
 * slope, nothing is added: y may be -inf. */
lam_tensor *lam_kl_div(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__apply_given("kl_div", 2, in, &failed)) return failed;
    const lam_dtype dtype = lam__apply_floats(2, in);
    lam_tensor *outside = lam_lt(lam_min(in[0], in[1]), 0.0);
    lam_tensor *rest = lam_where(outside, 0.0, lam_sub(in[1], in[0]));
    lam_tensor *sum = lam_add(lam_rel_entr(in[0], in[1]), rest);
    return lam__scope_only(lam__apply_narrowed(sum, dtype), since);
}
