/* Functions of one loop that a code chooses from (LAM__INTEGRAL_CODE): exponential, sine and cosine integrals,
 * Fresnel's and Dawson's, Spence's function, exprel, Lambert's W, the gamma function and Bessel's J; and what is made
 * of gamma functions of two operands. Orders of a family are part of the code, so a derivative that would cancel as an
 * expression is a member of its own. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* Beyond them recurrences of the kernel become long; derivatives may go a few orders further. */
enum { MOST_ORDER = 1000, MOST_BESSEL_J = 1000 };

/* The low four bits say which function it is, the rest which order. An order below 0 keeps its sign, as the shift is of
 * a signed number. */
static int64_t order_of(const lam_rule *r) {
    return *(const int64_t *)r->params >> 4;
}

/* A member of the family `which` at this order. Users' orders are checked before. */
static lam_tensor *member(const lam_primitive *row, int which, int64_t order, lam_tensor *x) {
    return lam__apply_coded(row, LAM__INTEGRAL_CODE(which, order), 1, &x);
}

/* One of these rows: what it keeps is all in which they differ. The loop is one for all; the code tells it what to
 * do. */
#define ROW(row, keeps)                                                                                                \
    const lam_primitive lam__row_##row = {                                                                             \
        .name = #row,                                                                                                  \
        .inputs = 1,                                                                                                   \
        .elementwise = true,                                                                                           \
        .loop = LAM__LOOP_integrals + 1,                                                                               \
        .real = true,                                                                                                  \
        .derivative = LAM_ELEMENTWISE,                                                                                 \
        .slope = slope_##row,                                                                                          \
        .saves = keeps,                                                                                                \
        .layout = "l member",                                                                                          \
    }

/* ---- exponential integrals --------------------------------------------------------------------------------------- */

/* E_n' = -E_(n-1), where orders below 0 are finite sums of terms of one sign. */
static lam_tensor *slope_expn(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_neg(lam_mul(t, member(r->primitive, LAM__EXPN, order_of(r) - 1, r->in[0])));
}

ROW(expn, LAM_SAVE_IN(0));

/* Order 0 is exp(-x)/x, the end of the family for users; its derivatives have orders below 0. */
lam_tensor *lam_expn(lam_tensor *x, int n) {
    if (n < 0 || n > MOST_ORDER)
        return lam__axes_fail("expn", x, LAM_ERR_VALUE, "order %d is not in 0 to %d", n, MOST_ORDER);
    return member(&lam__row_expn, LAM__EXPN, n, x);
}

/* Order 1 of the family, under its usual name. */
lam_tensor *lam_exp1(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(member(&lam__row_expn, LAM__EXPN, 1, x), since);
}

/* exp(x)/x, which is a member since the exponential may be no number where the quotient is; its own slope is it times
 * 1 - 1/x, up to 2 as (x - 1)/x, whose difference is exact next to 1. */
static lam_tensor *slope_expi(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (order_of(r) == 0) return lam_mul(t, member(r->primitive, LAM__EXPI, 1, r->in[0]));
    lam_tensor *x = r->in[0], *is_near = lam_lt(lam_abs(x), 2.0), *near = lam_where(is_near, x, 1.0);
    lam_tensor *far = lam_sub(1.0, lam_reciprocal(lam_where(is_near, 1.0, x)));
    return lam_mul(t, lam_mul(r->out[0], lam_where(is_near, lam_div(lam_sub(near, 1.0), near), far)));
}

/* The result is in the slope of order 1. */
ROW(expi, LAM_SAVE_IN(0) | LAM_SAVE_OUT(0));

/* The order counts derivatives from exp(x)/x on, which is order 1. */
lam_tensor *lam_expi(lam_tensor *x) {
    return member(&lam__row_expi, LAM__EXPI, 0, x);
}

/* The next order. exprel is (exp(x) - 1)/x, whose quotients for derivatives would cancel at 0. */
static lam_tensor *slope_exprel(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(r->primitive, LAM__EXPREL, order_of(r) + 1, r->in[0]));
}

ROW(exprel, LAM_SAVE_IN(0));

/* (exp(x) - 1)/x, 1 at 0. */
lam_tensor *lam_exprel(lam_tensor *x) {
    return member(&lam__row_exprel, LAM__EXPREL, 0, x);
}

/* ---- sine and cosine integrals ----------------------------------------------------------------------------------- */

/* sin(x)/x and its derivatives, which are finite at 0. */
static lam_tensor *slope_si(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(r->primitive, LAM__SIN_INT, order_of(r) + 1, r->in[0]));
}

/* Its slopes are bounded, so nothing is chosen here. */
ROW(si, LAM_SAVE_IN(0));

/* cos(x)/x, which vanishes far out though the cosine there is none. At 0 it is 1/x: the sine of a further derivative
 * over x would be 0/0. */
static lam_tensor *slope_ci(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *x = r->in[0], *far = lam_eq(lam_abs(x), INFINITY), *pole = lam_eq(x, 0.0);
    lam_tensor *wave = lam_div(lam_cos(lam_where(far, 0.0, x)), lam_where(pole, 1.0, x));
    return lam_mul(t, lam_where(pole, lam_reciprocal(lam_where(pole, x, 1.0)), wave));
}

ROW(ci, LAM_SAVE_IN(0));

/* The integral of sin(t)/t from 0 to x. */
lam_tensor *lam_si(lam_tensor *x) {
    return member(&lam__row_si, LAM__SIN_INT, 0, x);
}

/* Euler's constant + log(x) + the integral of (cos(t) - 1)/t. */
lam_tensor *lam_ci(lam_tensor *x) {
    return member(&lam__row_ci, LAM__COS_INT, 0, x);
}

/* ---- Fresnel's and Dawson's integrals ---------------------------------------------------------------------------- */

/* Order 1 is sin(pi/2 x^2), its slope pi x cos(pi/2 x^2). So the slope of each of the two is made of the other, and no
 * order above 1 is needed. */
static lam_tensor *slope_fresnel_s(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (order_of(r) == 0) return lam_mul(t, member(r->primitive, LAM__SIN_FRES, 1, r->in[0]));
    lam_tensor *wave = lam_mul(r->in[0], member(&lam__row_fresnel_c, LAM__COS_FRES, 1, r->in[0]));
    return lam_mul(t, lam_mul(3.14159265358979323846, wave));
}

ROW(fresnel_s, LAM_SAVE_IN(0));

/* The same with a minus. */
static lam_tensor *slope_fresnel_c(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (order_of(r) == 0) return lam_mul(t, member(r->primitive, LAM__COS_FRES, 1, r->in[0]));
    lam_tensor *wave = lam_mul(r->in[0], member(&lam__row_fresnel_s, LAM__SIN_FRES, 1, r->in[0]));
    return lam_mul(t, lam_mul(-3.14159265358979323846, wave));
}

ROW(fresnel_c, LAM_SAVE_IN(0));

/* The integral of sin(pi/2 t^2) from 0 to x. */
lam_tensor *lam_fresnel_s(lam_tensor *x) {
    return member(&lam__row_fresnel_s, LAM__SIN_FRES, 0, x);
}

/* The integral of cos(pi/2 t^2) from 0 to x. */
lam_tensor *lam_fresnel_c(lam_tensor *x) {
    return member(&lam__row_fresnel_c, LAM__COS_FRES, 0, x);
}

/* 1 - 2 x F(x) would lose every digit far out. The kernel has each derivative as a function. */
static lam_tensor *slope_dawsn(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(r->primitive, LAM__DAWSON, order_of(r) + 1, r->in[0]));
}

ROW(dawsn, LAM_SAVE_IN(0));

/* exp(-x^2) times the integral of exp(t^2) from 0 to x. */
lam_tensor *lam_dawsn(lam_tensor *x) {
    return member(&lam__row_dawsn, LAM__DAWSON, 0, x);
}

/* ---- Spence's function, Lambert's W ------------------------------------------------------------------------------ */

/* log(x)/(1 - x) and its derivatives, which are finite at 1. */
static lam_tensor *slope_spence(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, member(r->primitive, LAM__SPENCE, order_of(r) + 1, r->in[0]));
}

ROW(spence, LAM_SAVE_IN(0));

/* The integral of log(t)/(1 - t) from 1 to x, which SciPy calls spence. */
lam_tensor *lam_spence(lam_tensor *x) {
    return member(&lam__row_spence, LAM__SPENCE, 0, x);
}

/* Of W' the slope is -W'^2 (2 + W)/(1 + W), where the quotient is 1 + 1/(1 + W). Left of 0 that is 1 + W' exp(W): 1 + W
 * has lost its digits next to the branch point; right of it exp(W) leaves the range where W' vanishes. */
static lam_tensor *slope_lambertw(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    if (order_of(r) == 0) return lam_mul(t, member(r->primitive, LAM__LAMBERT, 1, r->in[0]));
    lam_tensor *w = member(r->primitive, LAM__LAMBERT, 0, r->in[0]), *right = lam_gt(w, 0.0);
    lam_tensor *left = lam_mul(r->out[0], lam_exp(lam_where(right, 0.0, w)));
    lam_tensor *share = lam_where(right, lam_reciprocal(lam_add(lam_where(right, w, 0.0), 1.0)), left);
    return lam_neg(lam_mul(t, lam_mul(r->out[0], lam_mul(r->out[0], lam_add(share, 1.0)))));
}

ROW(lambertw, LAM_SAVE_IN(0) | LAM_SAVE_OUT(0));

/* The principal branch, from -1/e on. */
lam_tensor *lam_lambertw(lam_tensor *x) {
    return member(&lam__row_lambertw, LAM__LAMBERT, 0, x);
}

/* ---- Bessel functions -------------------------------------------------------------------------------------------- */

/* J_n' = (J_(n-1) - J_(n+1))/2, where J_(-1) = -J_1. */
static lam_tensor *slope_bessel_j(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    const int64_t n = order_of(r);
    lam_tensor *above = member(r->primitive, LAM__BESSEL_J, n + 1, r->in[0]);
    if (n == 0) return lam_neg(lam_mul(t, above));
    return lam_mul(t, lam_mul(0.5, lam_sub(member(r->primitive, LAM__BESSEL_J, n - 1, r->in[0]), above)));
}

ROW(bessel_j, LAM_SAVE_IN(0));

/* Negative x are defined too, as n is a whole number. */
lam_tensor *lam_bessel_j(lam_tensor *x, int n) {
    if (n < 0 || n > MOST_BESSEL_J)
        return lam__axes_fail("bessel_j", x, LAM_ERR_VALUE, "order %d is not in 0 to %d", n, MOST_BESSEL_J);
    return member(&lam__row_bessel_j, LAM__BESSEL_J, n, x);
}

/* ---- gamma functions --------------------------------------------------------------------------------------------- */

/* The result times psi; at inf the result, whose derivatives are all inf: that of psi there is 0. */
static lam_tensor *slope_gamma(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *end = lam_eq(r->in[0], INFINITY), *psi = lam_digamma(lam_where(end, 1.0, r->in[0]));
    return lam_mul(t, lam_where(end, r->out[0], lam_mul(r->out[0], psi)));
}

ROW(gamma, LAM_SAVE_IN(0) | LAM_SAVE_OUT(0));

/* Poles are at 0 and at negative whole numbers. */
lam_tensor *lam_gamma(lam_tensor *x) {
    return member(&lam__row_gamma, LAM__GAMMA, 0, x);
}

/* The same for two operands: its family of loops as well. Every code keeps both operands. */
#define ROW_OF_TWO(row, family, rule, keeps)                                                                           \
    const lam_primitive lam__row_##row = {                                                                             \
        .name = #row,                                                                                                  \
        .inputs = 2,                                                                                                   \
        .elementwise = true,                                                                                           \
        .loop = LAM__LOOP_##family + 1,                                                                                \
        .real = true,                                                                                                  \
        .derivative = LAM_ELEMENTWISE,                                                                                 \
        .slope = rule,                                                                                                 \
        .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | (keeps),                                                            \
        .layout = "l member",                                                                                          \
    }
#define QUOTIENT(row) ROW_OF_TWO(row, gamma_quotient, slope_##row, LAM_SAVE_OUT(0))

/* Gamma(x + y)/Gamma(x): by x the result times psi(x + y) - psi(x), which does not cancel as a gap; by y times
 * psi(x + y). Next to its zero x = 0 that is 0 times inf, and further derivatives would cancel: there it is x/(x + y)
 * times the result for x + 1 and y. */
static lam_tensor *slope_poch(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *y = r->in[1], *size = lam_abs(x);
    if (i == 1) return lam_mul(t, lam_mul(r->out[0], lam_digamma(lam_add(x, y))));
    /* With y above |x| the sum of both is above 0, so that no gamma function is near a pole. */
    lam_tensor *near = lam_and(lam_lt(size, 0.5), lam_gt(y, size)), *inner = lam_where(near, x, 0.25);
    lam_tensor *above = lam_add(inner, 1.0), *more = lam_where(near, y, 2.0), *sum = lam_add(inner, more);
    lam_tensor *turn = lam_fma(inner, lam_polygamma_gap(above, more, 0), lam_div(more, sum));
    lam_tensor *far = lam_mul(lam_where(near, 1.0, r->out[0]), lam_polygamma_gap(lam_where(near, 1.0, x), y, 0));
    return lam_mul(t, lam_where(near, lam_mul(lam_div(lam_poch(above, more), sum), turn), far));
}

QUOTIENT(poch);

/* The rising factorial, for y that need not be whole. */
lam_tensor *(lam_poch)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_coded(&lam__row_poch, LAM__QUOTIENT_POCH, 2, (lam_tensor *[]){x, y});
}

/* By a, as that of betaln. Where both are small, further derivatives of that are differences of terms of 1/(a + b)^2:
 * there it is that of (1/a + 1/b) G, where G = Gamma(1 + a) Gamma(1 + b)/Gamma(1 + a + b) has no poles near. */
static lam_tensor *slope_beta(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[i], *y = r->in[1 - i], *least = lam_min(x, y);
    lam_tensor *near = lam_and(lam_gt(least, 1e-30), lam_lt(lam_max(x, y), 0.25));
    lam_tensor *a = lam_where(near, x, 0.25), *b = lam_where(near, y, 0.25), *above = lam_add(a, 1.0);
    lam_tensor *g = lam_div(lam_gamma(above), lam_poch(lam_add(b, 1.0), a));
    lam_tensor *poles = lam_add(lam_reciprocal(a), lam_reciprocal(b));
    lam_tensor *turn = lam_fma(poles, lam_polygamma_gap(above, b, 0), lam_reciprocal(lam_square(a)));
    lam_tensor *far = lam_mul(lam_where(near, 1.0, r->out[0]), lam_polygamma_gap(lam_where(near, 1.0, x), y, 0));
    return lam_neg(lam_mul(t, lam_where(near, lam_mul(g, turn), far)));
}

QUOTIENT(beta);

/* Gamma(a) Gamma(b)/Gamma(a + b). */
lam_tensor *(lam_beta)(lam_tensor *a, lam_tensor *b) {
    return lam__apply_coded(&lam__row_beta, LAM__QUOTIENT_BETA, 2, (lam_tensor *[]){a, b});
}

/* Gamma(n + 1) / (Gamma(k + 1) Gamma(n - k + 1)): by n the gap of psi over k from n - k + 1; by k that from k + 1 to
 * n - k + 1. Outside, where the result is 0, nothing moves, and the gaps are taken at 0. It is 0 where k is no number
 * of elements that can be chosen. */
static lam_tensor *slope_comb(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *inside = lam_ne(r->out[0], 0.0);
    lam_tensor *n = lam_where(inside, r->in[0], 0.0), *k = lam_where(inside, r->in[1], 0.0);
    lam_tensor *low = lam_add(lam_sub(n, k), 1.0);
    lam_tensor *slope = i == 0 ? lam_polygamma_gap(low, k, 0) : lam_sub(lam_digamma(low), lam_digamma(lam_add(k, 1.0)));
    return lam_mul(t, lam_mul(r->out[0], slope));
}

QUOTIENT(comb);

/* As scipy.special.comb, for numbers that need not be whole. */
lam_tensor *(lam_comb)(lam_tensor *n, lam_tensor *k) {
    return lam__apply_coded(&lam__row_comb, LAM__QUOTIENT_COMB, 2, (lam_tensor *[]){n, k});
}

/* ---- Box and Cox ------------------------------------------------------------------------------------------------- */

/* A derivative more by one operand; the kernel knows LAM__POWER_ORDERS of them by y. By x there is no last order. */
static lam_tensor *slope_box(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = *(const int64_t *)r->params;
    if (i == 1 && (code >> 1 & 63) == LAM__POWER_ORDERS)
        return lam__axes_fail(r->primitive->name, r->in[0], LAM_ERR_RULE, "derivatives by the power end with order %d",
                              LAM__POWER_ORDERS);
    const int64_t next = code + (i == 0 ? LAM__BOX_CODE(1, 0, 0) : LAM__BOX_CODE(0, 1, 0));
    return lam_mul(t, lam__apply_coded(r->primitive, next, 2, r->in));
}

/* Of x; below of 1 + x. */
ROW_OF_TWO(boxcox, box_cox, slope_box, 0);

/* (x^y - 1)/y, log(x) at y = 0. */
lam_tensor *(lam_boxcox)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_coded(&lam__row_boxcox, LAM__BOX_CODE(0, 0, 0), 2, (lam_tensor *[]){x, y});
}

ROW_OF_TWO(boxcox1p, box_cox, slope_box, 0);

/* (1 + x)^y - 1 over y, for x near 0. */
lam_tensor *(lam_boxcox1p)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_coded(&lam__row_boxcox1p, LAM__BOX_CODE(0, 0, 1), 2, (lam_tensor *[]){x, y});
}

/* ---- composed ---------------------------------------------------------------------------------------------------- */

/* Makes *x a real floating operand, integers taken as f64; false after a failure. */
static bool take_real(const char *operation, lam_tensor **x, lam_tensor **failed) {
    if (!lam__matrices_operands(operation, true, 1, x, x, failed)) return false;
    if (!lam__dtype_is_complex((int)lam_dtype_of(*x))) return true;
    *failed = lam__axes_fail_with(operation, *x, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                  "not defined for complex numbers");
    return false;
}

/* Gamma(n + 1), and 0 left of 0, where the gamma function has poles. As scipy.special.factorial has it; what stands in
 * for n has a finite slope. */
lam_tensor *lam_factorial(lam_tensor *n) {
    uint64_t since = lam__scope_now(n);
    lam_tensor *failed;
    if (!take_real("factorial", &n, &failed)) return failed;
    lam_tensor *below = lam_lt(n, 0.0), *safe = lam_where(below, 0.0, n);
    return lam__scope_only(lam_where(below, 0.0, lam_gamma(lam_add(safe, 1.0))), since);
}

/* Left of 0 the sign turns at each pole: it is that of (-1)^floor(x). At the poles themselves it has none: NaN. Zeros
 * have the sign that they bear. */
lam_tensor *lam_gammasgn(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!take_real("gammasgn", &x, &failed)) return failed;
    x = lam_stop_gradient(x);
    lam_tensor *whole = lam_floor(x), *odd = lam_ne(lam_rem(whole, 2.0), 0.0);
    lam_tensor *left = lam_where(lam_eq(x, whole), NAN, lam_where(odd, -1.0, lam_full_like(x, 1)));
    lam_tensor *right = lam_copysign(lam_full_like(x, 1), x);
    return lam__scope_only(lam_where(lam_lt(x, 0.0), left, lam_where(lam_is_nan(x), x, right)), since);
}
