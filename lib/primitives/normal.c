/* Error functions and the normal distribution. The repeated integrals of erfc are one primitive with their order as its
 * parameter, so that derivatives of every order are accurate and finite. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* ---- error functions --------------------------------------------------------------------------------------------- */

/* y = erf^-1(x): dy = sqrt(pi)/2 exp(y^2) dx, of the result alone; inf at both ends, where y is. */
static lam_tensor *slope_erf_inv(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, 0.88622692545275801365), lam_exp(lam_square(r->out[0])));
}

/* Only the result is kept: the slope is smooth in it, and inf at the ends by itself. */
const lam_primitive lam__row_erf_inv = {
    .name = "erf_inv",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_erf_inv + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_erf_inv,
    .saves = LAM_SAVE_OUT(0),
};

lam_tensor *lam_erf_inv(lam_tensor *x) {
    return lam__apply_unary(&lam__row_erf_inv, x);
}

/* Member n is the repeated integral i^n erfc(x) exp(x^2), whose derivative is -2 (n + 1) times member n + 1 for these
 * scaled ones; no member changes its sign or cancels. */
static lam_tensor *slope_erfcx(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    const int64_t next = *(const int64_t *)r->params + 1;
    return lam_mul(lam_mul(t, -2.0 * (double)next), lam__apply_coded(r->primitive, next, 1, r->in));
}

/* The parameter is n of the repeated integral, 0 for the user's function. */
const lam_primitive lam__row_erfcx = {
    .name = "erfcx",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_erfcx + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_erfcx,
    .saves = LAM_SAVE_IN(0),
    .layout = "l member",
};

/* Member 0; the others are met in derivatives alone. It is large on the left, where exp(x^2) is, and inf below -27. */
lam_tensor *lam_erfcx(lam_tensor *x) {
    return lam__apply_coded(&lam__row_erfcx, 0, 1, &x);
}

/* ---- the normal distribution ------------------------------------------------------------------------------------- */

/* The density times the square root of 2 pi. Beyond 40 it is 0, and so are its derivatives, which would be products of
 * 0 and an infinite square. As in unary.c, with another scale: exp(-40^2/2) is 0 in f64. */
static lam_tensor *bell(lam_tensor *x) {
    return lam_exp(lam_mul(-0.5, lam_square(lam_clamp(x, -40.0, 40.0))));
}

/* The density, 1/sqrt(2 pi) exp(-x^2/2). */
static lam_tensor *slope_ndtr(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(lam_mul(t, 0.39894228040143267794), bell(r->in[0]));
}

/* (1 + erf(x/sqrt(2)))/2 with the digits of the left tail, where that sum cancels. */
const lam_primitive lam__row_ndtr = {
    .name = "ndtr",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_ndtr + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_ndtr,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_ndtr(lam_tensor *x) {
    return lam__apply_unary(&lam__row_ndtr, x);
}

/* The density over the distribution function: on the left erfcx gives it without a tail that vanishes, on the right
 * erfcx would overflow and its derivatives with it; far left the factors of its derivatives would leave the range. With
 * phi the density: phi(x)/Phi(x) = sqrt(2/pi) / erfcx(-x/sqrt(2)); for x below -1e9 it is -(x + 1/x) to all digits, as
 * the next term of the expansion is 2 x^-3. */
static lam_tensor *slope_log_ndtr(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *x = r->in[0], *right = lam_gt(x, 0.0), *far = lam_lt(x, -1e9), *z = lam_where(right, x, 0.0);
    lam_tensor *left = lam_erfcx(lam_where(lam_or(right, far), 0.0, lam_mul(x, -0.70710678118654752440)));
    lam_tensor *ratio = lam_where(right, lam_div(lam_mul(0.5, bell(z)), lam_ndtr(z)), lam_reciprocal(left));
    lam_tensor *below = lam_where(far, x, -1.0), *limit = lam_neg(lam_add(below, lam_reciprocal(below)));
    return lam_mul(t, lam_where(far, limit, lam_mul(0.79788456080286535588, ratio)));
}

/* A row of its own since log(ndtr(x)) is -inf from x = -39 on, where the exact value is about -765. */
const lam_primitive lam__row_log_ndtr = {
    .name = "log_ndtr",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log_ndtr + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log_ndtr,
    .saves = LAM_SAVE_IN(0),
};

/* -x^2/2 less some logarithms on the left, 0 to the last digit on the right. */
lam_tensor *lam_log_ndtr(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log_ndtr, x);
}

/* One over the density, by a row of its own. */
static lam_tensor *slope_ndtri(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_ndtri_slope(r->in[0]));
}

/* The operand only: at the ends the result would bring its own slope along. */
const lam_primitive lam__row_ndtri = {
    .name = "ndtri",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_ndtri + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_ndtri,
    .saves = LAM_SAVE_IN(0),
};

/* Infinite at 0 and 1, NaN outside, each with that slope. */
lam_tensor *lam_ndtri(lam_tensor *x) {
    return lam__apply_unary(&lam__row_ndtri, x);
}

/* The quantile times the square. d (1/phi(y)) = y / phi(y) dy, and dy is one over the density once more. */
static lam_tensor *slope_ndtri_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_mul(lam_mul(lam_ndtri(r->in[0]), r->out[0]), r->out[0]));
}

const lam_primitive lam__row_ndtri_slope = {
    .name = "ndtri_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_ndtri_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_ndtri_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
};

/* Public because rules of users' primitives need it, as those here do. */
lam_tensor *lam_ndtri_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_ndtri_slope, x);
}
