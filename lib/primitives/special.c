/* Special functions of one or two operands: softplus, logarithms of sums, gamma and Bessel functions. Families that a
 * derivative leads along (polygamma, Bessel functions) are one primitive each with their order as its parameter, so
 * that derivatives of every order are accurate and finite. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* Beyond the first n! leaves the range of long double soon; beyond the second the power series becomes long. */
enum { MOST_POLYGAMMA = 1000, MOST_BESSEL = 100, MOST_DIMENSION = 1000 };

/* The parameter of a family: the order, or a code made of it. It is compared with the parameters of other calls, so it
 * is an i64 throughout. */
static int64_t order_of(const lam_rule *r) {
    return *(const int64_t *)r->params;
}

/* The member of a family. Its slope is another member, so derivatives end only where the kernel's orders do. */
static lam_tensor *member(const lam_primitive *family, lam_tensor *x, int64_t order) {
    return lam__apply_coded(family, order, 1, &x);
}

/* ---- softplus ---------------------------------------------------------------------------------------------------- */

/* log(1 + exp(x))' = logistic(x). At most 1, and 0 far below. */
static lam_tensor *slope_softplus(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_logistic(r->in[0]));
}

LAM__SLOPED_ROW(softplus);

/* log1p(exp(x)) without overflow; slope and value come of one exponential where elements are at hand. */
const lam_primitive lam__row_softplus = {
    .name = "softplus",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_softplus + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_softplus,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_softplus,
};

/* As jax.nn.softplus. Complex numbers go another way, as a branch has to be chosen. */
lam_tensor *lam_softplus(lam_tensor *x) {
    return lam__cplx_is(x) ? lam__plane_softplus(x) : lam__apply_unary(&lam__row_softplus, x);
}

/* 1 / (x (1 - x)) as 1/x + 1/(1 - x): neither vanishes within, and of each further derivative one is infinite at an
 * end and the other is not, so that none of them is NaN there. Complex numbers may be far out, where the two cancel. */
static lam_tensor *slope_logit(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (lam__cplx_is(r->in[0])) return lam_div(lam_div(t, r->in[0]), lam_sub(1.0, r->in[0]));
    return lam_add(lam_div(t, r->in[0]), lam_div(t, lam_sub(1.0, r->in[0])));
}

/* log(x / (1 - x)) with the digits of both ends. At 0 and 1 it is infinite. */
const lam_primitive lam__row_logit = {
    .name = "logit",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_logit + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logit,
    .saves = LAM_SAVE_IN(0),
};

/* The inverse of lam_logistic. */
lam_tensor *lam_logit(lam_tensor *x) {
    return lam__apply_unary(&lam__row_logit, x);
}

/* A row of its own, since exp(x) is too large where 1 / (exp(x) - 1) is not. It is inf at 0 and goes to 0 for large
 * x. */
static lam_tensor *slope_log1mexp(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_log1mexp_slope(r->in[0]));
}

/* A row, since each half of the axis needs a form of its own. */
const lam_primitive lam__row_log1mexp = {
    .name = "log1mexp",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log1mexp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log1mexp,
    .saves = LAM_SAVE_IN(0),
};

/* log(1 - exp(-x)) of x > 0, with the digits of small and of large x. */
lam_tensor *lam_log1mexp(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log1mexp, x);
}

/* -y (1 + y), whose terms have one sign. y = 1 / (exp(x) - 1) is the result, which alone is saved. */
static lam_tensor *slope_log1mexp_slope(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *y = r->out[i];
    return lam_neg(lam_mul(t, lam_fma(y, y, y)));
}

const lam_primitive lam__row_log1mexp_slope = {
    .name = "log1mexp_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_log1mexp_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log1mexp_slope,
    .saves = LAM_SAVE_OUT(0),
};

/* 1 / (exp(x) - 1), by the form that has its digits. */
lam_tensor *lam_log1mexp_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_log1mexp_slope, x);
}

/* ---- logaddexp --------------------------------------------------------------------------------------------------- */

/* t times the slope of a share, which is the product of both shares in `unit`; at infinities nothing moves. unit is 1
 * or log 2. */
static lam_tensor *times_shares(const lam_rule *r, int i, lam_tensor *t, lam_tensor *other, double unit) {
    lam_tensor *shares = lam_where(lam_eq(lam_abs(r->in[0]), INFINITY), 0.0, lam_mul(r->out[0], other));
    return lam_mul(t, lam_mul(i == 0 ? unit : -unit, shares));
}

/* The share of exp(x) in exp(x) + exp(y): of the difference of x and y, which is kept exactly, so that nothing is lost
 * where it is large. logistic(x - y), where both are finite. */
static lam_tensor *slope_logaddexp_slope(const lam_rule *r, int i, lam_tensor *t) {
    return times_shares(r, i, t, lam_logaddexp_slope(r->in[1], r->in[0]), 1);
}

/* All three are saved: the share of the other operand is made of both. */
const lam_primitive lam__row_logaddexp_slope = {
    .name = "logaddexp_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_logaddexp_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logaddexp_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_OUT(0),
};

lam_tensor *lam_logaddexp_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_logaddexp_slope, x, y);
}

/* The share of operand i in the sum of exponentials. Two shares add up to 1. */
static lam_tensor *slope_logaddexp(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, lam_logaddexp_slope(r->in[i], r->in[1 - i]));
}

/* max + log1p(exp(-|x - y|)) in one loop, which never overflows. Two equal infinities give that infinity, and no
 * NaN. */
const lam_primitive lam__row_logaddexp = {
    .name = "logaddexp",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_logaddexp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logaddexp,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* In parentheses, since the name is also a macro, which takes C numbers (literals.h). */
lam_tensor *(lam_logaddexp)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    if (lam__cplx_is(x) || lam__cplx_is(y)) return lam__scope_named(lam__plane_logaddexp(x, y), since);
    return lam__apply_binary(&lam__row_logaddexp, x, y);
}

/* The same of powers of 2. The factor is log 2, by which the derivative of 2^x is more than that of exp(x). */
static lam_tensor *slope_logaddexp2_slope(const lam_rule *r, int i, lam_tensor *t) {
    return times_shares(r, i, t, lam_logaddexp2_slope(r->in[1], r->in[0]), 0.69314718055994530942);
}

const lam_primitive lam__row_logaddexp2_slope = {
    .name = "logaddexp2_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_logaddexp2_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logaddexp2_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_OUT(0),
};

lam_tensor *lam_logaddexp2_slope(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_logaddexp2_slope, x, y);
}

/* No factor log 2: that of the powers and that of the logarithm cancel. */
static lam_tensor *slope_logaddexp2(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, lam_logaddexp2_slope(r->in[i], r->in[1 - i]));
}

/* As numpy.logaddexp2. */
const lam_primitive lam__row_logaddexp2 = {
    .name = "logaddexp2",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_logaddexp2 + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_logaddexp2,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* log2(2^x + 2^y). */
lam_tensor *(lam_logaddexp2)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    if (lam__cplx_is(x) || lam__cplx_is(y)) return lam__scope_named(lam__plane_logaddexp2(x, y), since);
    return lam__apply_binary(&lam__row_logaddexp2, x, y);
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* lgamma' = psi, psi' = polygamma 1, and so on: the family never ends, and no order is made by differences of
 * another. */
static lam_tensor *slope_lgamma(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_digamma(r->in[0]));
}

/* log |Gamma(x)|: at negative x the sign is lost, and the slope is digamma all the same. Poles are infinite. */
const lam_primitive lam__row_lgamma = {
    .name = "lgamma",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_lgamma + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_lgamma,
    .saves = LAM_SAVE_IN(0),
};

/* Complex numbers have lam_loggamma. */
lam_tensor *lam_lgamma(lam_tensor *x) {
    return lam__apply_unary(&lam__row_lgamma, x);
}

/* psi' is polygamma of order 1, of the same family as all that follow. A kernel of its own makes order 0. */
static lam_tensor *slope_digamma(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(&lam__row_polygamma, r->in[0], 1));
}

/* A loop of its own, in vectors; the orders above are longer sums. */
const lam_primitive lam__row_digamma = {
    .name = "digamma",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_digamma + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_digamma,
    .saves = LAM_SAVE_IN(0),
};

/* Public as a row of its own, since it is the first that gradients of lgamma meet. */
lam_tensor *lam_digamma(lam_tensor *x) {
    return lam__cplx_is(x) ? lam__plane_polygamma(x, 0) : lam__apply_unary(&lam__row_digamma, x);
}

/* No bound here: what users ask for is bounded by MOST_POLYGAMMA, derivatives of it go beyond. */
static lam_tensor *slope_polygamma(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(r->primitive, r->in[0], order_of(r) + 1));
}

/* The parameter is the order n, as an i64. So calls of different orders are different calls. */
const lam_primitive lam__row_polygamma = {
    .name = "polygamma",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_polygamma + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_polygamma,
    .saves = LAM_SAVE_IN(0),
    .layout = "l order",
};

/* Order 0 is digamma, which has a vector form of its own. For n > 0 and x > 0 the sign is that of (-1)^(n + 1). */
lam_tensor *lam_polygamma(lam_tensor *x, int n) {
    if (n < 0 || n > MOST_POLYGAMMA)
        return lam__axes_fail("polygamma", x, LAM_ERR_VALUE, "order %d is not in 0 to %d", n, MOST_POLYGAMMA);
    if (lam__cplx_is(x)) return lam__plane_polygamma(x, n);
    return n == 0 ? lam_digamma(x) : member(&lam__row_polygamma, x, n);
}

/* gap_n(a, b) = psi_n(a + b) - psi_n(a). By a it is gap_(n+1), which again does not cancel for small b; by b it is
 * psi_(n+1)(a + b). A plain difference would lose all digits of a small b. */
static lam_tensor *slope_polygamma_gap(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t next = order_of(r) + 1;
    lam_tensor *slope = i == 0 ? lam__apply_coded(r->primitive, next, 2, r->in)
                               : member(&lam__row_polygamma, lam_add(r->in[0], r->in[1]), next);
    return lam_mul(t, slope);
}

/* The parameter is the order of both terms. */
const lam_primitive lam__row_polygamma_gap = {
    .name = "polygamma_gap",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_polygamma_gap + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_polygamma_gap,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .layout = "l member",
};

lam_tensor *lam_polygamma_gap(lam_tensor *a, lam_tensor *b, int n) {
    if (n < 0 || n > MOST_POLYGAMMA)
        return lam__axes_fail("polygamma_gap", a, LAM_ERR_VALUE, "order %d is not in 0 to %d", n, MOST_POLYGAMMA);
    return lam__apply_coded(&lam__row_polygamma_gap, n, 2, (lam_tensor *[]){a, b});
}

/* psi(a) - psi(a + b), which would cancel. d log B(a, b) = (psi(a) - psi(a + b)) da + ..., where a large a and a small
 * b leave few digits to a plain difference. The gap is computed as one number. */
static lam_tensor *slope_betaln(const lam_rule *r, int i, lam_tensor *t) {
    return lam_neg(lam_mul(t, lam_polygamma_gap(r->in[i], r->in[1 - i], 0)));
}

/* Not the sum of three lgammas, which cancels for large operands. */
const lam_primitive lam__row_betaln = {
    .name = "betaln",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_betaln + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_betaln,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_betaln)(lam_tensor *a, lam_tensor *b) {
    return lam__apply_binary(&lam__row_betaln, a, b);
}

/* ---- Bessel functions -------------------------------------------------------------------------------------------- */

/* I_n' = (I_(n-1) + I_(n+1))/2, where I_(-1) = I_1; scaled by exp(-|x|) the next derivative of the same. The code is
 * twice the order, or LAM__BESSEL_SCALED, whose next derivative is 256 higher. At order 0 the two neighbours are
 * one. The odd codes are the scaled ones, for which a formula would need the sign of x. */
static lam_tensor *slope_bessel_i(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    int64_t code = order_of(r);
    if (code & 1) return lam_mul(t, member(r->primitive, r->in[0], code + LAM__BESSEL_SCALED(0, 1) - 1));
    lam_tensor *above = member(r->primitive, r->in[0], code + 2);
    if (code == 0) return lam_mul(t, above);
    return lam_mul(t, lam_mul(0.5, lam_add(member(r->primitive, r->in[0], code - 2), above)));
}

/* The parameter is a code: see LAM__BESSEL_SCALED. One loop for all orders, scaled or not. */
const lam_primitive lam__row_bessel_i = {
    .name = "bessel_i",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_bessel_i + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_bessel_i,
    .saves = LAM_SAVE_IN(0),
    .layout = "l member",
};

/* Orders are 0 to MOST_BESSEL for users; derivatives go beyond. Odd orders are odd functions. */
lam_tensor *lam_bessel_i(lam_tensor *x, int n) {
    if (n < 0 || n > MOST_BESSEL)
        return lam__axes_fail("bessel_i", x, LAM_ERR_VALUE, "order %d is not in 0 to %d", n, MOST_BESSEL);
    return member(&lam__row_bessel_i, x, 2 * (int64_t)n);
}

/* The orders 0 and 1 have names of their own, and scaled forms, whose values stay in range for any x. */
lam_tensor *lam_i0(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(member(&lam__row_bessel_i, x, 0), since);
}

lam_tensor *lam_i0e(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(member(&lam__row_bessel_i, x, LAM__BESSEL_SCALED(0, 0)), since);
}

lam_tensor *lam_i1(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(member(&lam__row_bessel_i, x, 2), since);
}

lam_tensor *lam_i1e(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(member(&lam__row_bessel_i, x, LAM__BESSEL_SCALED(1, 0)), since);
}

/* ---- composed ---------------------------------------------------------------------------------------------------- */

/* log Gamma_d(a) = d (d - 1)/4 log(pi) + the sum over j of lgamma(a - j/2), d terms. The bound on d is one on
 * operations, of which each term makes three. The sum starts with j = 0. */
lam_tensor *lam_multigammaln(lam_tensor *a, int64_t d) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *failed;
    if (!lam__matrices_operands("multigammaln", true, 1, &a, &a, &failed)) return failed;
    if (lam__dtype_is_complex((int)lam_dtype_of(a)))
        return lam__axes_fail_with("multigammaln", a, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                   "not defined for complex numbers");
    if (d < 1 || d > MOST_DIMENSION)
        return lam__axes_fail("multigammaln", a, LAM_ERR_VALUE, "dimension %lld is not in [1, %d]", (long long)d,
                              MOST_DIMENSION);
    const double log_pi = 1.14472988584940017414;
    lam_tensor *sum = lam_lgamma(a);
    for (int64_t j = 1; j < d; j++) sum = lam_add(sum, lam_lgamma(lam_sub(a, 0.5 * (double)j)));
    return lam__scope_only(lam_add(sum, (double)d * (double)(d - 1) / 4 * log_pi), since);
}
