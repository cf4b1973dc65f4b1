/* Special functions of complex numbers: Faddeeva's, and the logarithm of gamma with its derivatives, whose parameter
 * says which one is meant. Spherical harmonics are made of other operations. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/pointwise.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/special/plane.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* The square root of pi, in derivatives and in norms. */
static const double ROOT_PI = 1.77245385090551602730;

/* Of both rows: how often the derivative is taken. */
static int order_of(const void *params) {
    return (int)*(const int64_t *)params;
}

/* z is complex here: `plane` has seen to that, and rules get what the row had. */
static lam_tensor *of_order(const lam_primitive *row, int64_t order, lam_tensor *z) {
    return lam__apply1(row, &order, sizeof order, z);
}

/* Elements share nothing, so a batch is more of them. */
static void batch_plane(const lam_rule *r, lam_tensor *out[]) {
    lam__pointwise_batch(r, out, sizeof(int64_t));
}

/* The function itself, which is its derivative of order 0. Operands that are not complex are taken as complex numbers
 * of their size. They become c64 or c128. */
static lam_tensor *plane(const lam_primitive *row, lam_tensor *z) {
    uint64_t since = lam__scope_now(z);
    lam_tensor *failed;
    if (!lam__matrices_operands(row->name, true, 1, &z, &z, &failed)) return failed;
    z = lam_cast(z, lam__dtype_promote((int)lam_dtype_of(z), LAM_C64));
    return lam__scope_only(of_order(row, 0, z), since);
}

/* ---- Faddeeva's function ----------------------------------------------------------------------------------------- */

/* Orders are 0 and 1: the slope of order 1 is made of both. No other occurs: order 2 is made of these. */
static lam_c128 one_wofz(const void *params, const lam_c128 z[]) {
    return lam__special_wofz(z[0], order_of(params));
}

/* Half a microsecond, in units of half a nanosecond. */
static lam_status eval_wofz(const lam_call_site *call, lam_value *const out[]) {
    return lam__pointwise_eval(call, out, one_wofz, 1000);
}

/* w' from the kernel, since 2 i / sqrt(pi) - 2 z w cancels for large z; then w'' = -2 (z w' + w). All derivatives end
 * up in w and w'. */
static lam_tensor *slope_wofz(const lam_rule *r, lam_tensor *t) {
    lam_tensor *z = r->in[0];
    if (order_of(r->params) == 0) return lam_mul(t, of_order(r->primitive, 1, z));
    return lam_mul(t, lam_mul(-2.0, lam_add(lam_mul(z, r->out[0]), of_order(r->primitive, 0, z))));
}

/* One factor serves both modes, since transposes do not conjugate (NOTE [complex derivatives] in complex.h). */
static void jvp_wofz(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = slope_wofz(r, dx[0]);
}

static void vjp_wofz(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = slope_wofz(r, g[0]);
}

/* The result is in the slope of order 1. */
const lam_primitive lam__row_wofz = {
    .name = "wofz",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .shape = lam__pointwise_shape,
    .eval = eval_wofz,
    .jvp = jvp_wofz,
    .vjp = vjp_wofz,
    .batch = batch_plane,
    .layout = "l order",
};

/* The Voigt profile is its real part along a line. */
lam_tensor *lam_wofz(lam_tensor *z) {
    return plane(&lam__row_wofz, z);
}

/* ---- the logarithm of gamma -------------------------------------------------------------------------------------- */

/* Order 0 is the principal branch of the logarithm, continuous but at the cut of negative numbers. */
static lam_c128 one_loggamma(const void *params, const lam_c128 z[]) {
    return lam__special_loggamma(z[0], order_of(params));
}

/* A microsecond or two. Far from 0 it is Stirling's series, near 0 some recurrence steps before it. */
static lam_status eval_loggamma(const lam_call_site *call, lam_value *const out[]) {
    return lam__pointwise_eval(call, out, one_loggamma, 2000);
}

/* The derivative of one order is the function of the next, as far as the kernel knows them. */
static lam_tensor *slope_loggamma(const lam_rule *r, lam_tensor *t) {
    const int next = order_of(r->params) + 1;
    if (next > LAM__LOGGAMMA_ORDERS)
        return lam__axes_fail("loggamma", r->in[0], LAM_ERR_RULE, "derivatives of complex numbers end with order %d",
                              LAM__LOGGAMMA_ORDERS);
    return lam_mul(t, of_order(r->primitive, next, r->in[0]));
}

static void jvp_loggamma(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[0] = slope_loggamma(r, dx[0]);
}

static void vjp_loggamma(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    gx[0] = slope_loggamma(r, g[0]);
}

/* The operand alone is saved: the next order is no function of this one. */
const lam_primitive lam__row_loggamma = {
    .name = "loggamma",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_IN(0),
    .shape = lam__pointwise_shape,
    .eval = eval_loggamma,
    .jvp = jvp_loggamma,
    .vjp = vjp_loggamma,
    .batch = batch_plane,
    .layout = "l order",
};

lam_tensor *lam_loggamma(lam_tensor *z) {
    return plane(&lam__row_loggamma, z);
}

/* Derivative n of digamma is derivative n + 1 of the logarithm. Order 0 is digamma itself, for lam_digamma. */
lam_tensor *lam__plane_polygamma(lam_tensor *z, int n) {
    if (n >= LAM__LOGGAMMA_ORDERS)
        return lam__axes_fail("polygamma", z, LAM_ERR_VALUE, "order %d of complex numbers is not below %d", n,
                              LAM__LOGGAMMA_ORDERS);
    return of_order(&lam__row_loggamma, n + 1, z);
}

/* ---- spherical harmonics ----------------------------------------------------------------------------------------- */

/* The associated Legendre function of cos(theta), normalised so that the integral of its square over the sphere is 1:
 * p_m^m = (-1)^m sqrt((2m + 1)!! / (4 pi (2m)!!)) sin^m, then by degrees
 * p_l^m = a_l (cos p_(l-1)^m - p_(l-2)^m / a_(l-1)), a_l^2 = (4 l^2 - 1) / (l^2 - m^2). Factors are multiplied one by
 * one: factorials leave the range beyond degree 85. (170! is the last that f64 holds.) The degree goes up by a loop in
 * C, so each is some operations on whole tensors. */
static lam_tensor *legendre(int64_t n, int64_t m, lam_tensor *theta) {
    double scale = 0.5 / ROOT_PI, below = 0;
    for (int64_t k = 1; k <= m; k++) scale *= -sqrt((2 * (double)k + 1) / (2 * (double)k));
    lam_tensor *c = lam_cos(theta), *before = NULL;
    lam_tensor *p = lam_mul(scale, m ? lam_integer_pow(lam_sin(theta), (int)m) : lam_ones_like(theta));
    for (int64_t l = m + 1; l <= n; l++) {
        const double d = (double)l, a = sqrt((2 * d - 1) * (2 * d + 1) / ((d - (double)m) * (d + (double)m)));
        lam_tensor *next = lam_mul(c, p);
        if (before) next = lam_sub(next, lam_mul(1 / below, before));
        before = p;
        p = lam_mul(a, next);
        below = a;
    }
    return p;
}

/* p exp(i m phi); of -m the conjugate of that of m, with the sign of (-1)^m. The order is checked before anything is
 * made. An order above the degree gives zeros. */
lam_tensor *lam_sph_harm_y(int64_t n, int64_t m, lam_tensor *theta, lam_tensor *phi) {
    /* It bounds how many operations one call makes, four for each degree. */
    enum { MOST_DEGREE = 1000 };
    uint64_t since = lam__scope_now(theta);
    lam_tensor *in[2] = {theta, phi}, *failed;
    if (!lam__matrices_ordered("sph_harm_y", true, 2, in, &failed)) return failed;
    if (n < 0 || n > MOST_DEGREE || m < -MOST_DEGREE || m > MOST_DEGREE)
        return lam__matrices_fail("sph_harm_y", 2, in, LAM_ERR_VALUE, NULL,
                                  "degree %lld and order %lld are not in 0 to %d and -%d to %d", (long long)n,
                                  (long long)m, MOST_DEGREE, MOST_DEGREE, MOST_DEGREE);
    const int64_t size = m < 0 ? -m : m;
    lam_tensor *p = size > n ? lam_zeros_like(in[0]) : legendre(n, size, in[0]);
    lam_tensor *turn = lam_mul((double)m, in[1]);
    if (m < 0 && size % 2) p = lam_neg(p);
    return lam__scope_only(lam_complex(lam_mul(p, lam_cos(turn)), lam_mul(p, lam_sin(turn))), since);
}
