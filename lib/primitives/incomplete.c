/* Hurwitz zeta and the incomplete gamma and beta functions with all derivatives. Each is one primitive whose parameter
 * says which derivative by the parameters and whether by x is meant; of the density, the derivative by x is made of its
 * own derivatives by the parameters, so that every order is closed under differentiation. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Orders of a derivative, LAM__SPECIAL_CODE taken apart. */
typedef struct orders {
    int i, j, by_x;
} orders;

/* Four bits each for the orders by the parameters, the rest for that by x. */
static orders orders_of(const lam_rule *r) {
    int64_t code = *(const int64_t *)r->params;
    return (orders){(int)(code >> 4 & 15), (int)(code & 15), (int)(code >> 8)};
}

/* The derivative with these orders at the operands of r. Orders by the parameters are bounded by the kernel; the
 * failure names the function whose derivative was asked. */
static lam_tensor *derivative(const lam_rule *r, int i, int j, int by_x) {
    int64_t code = LAM__SPECIAL_CODE(i, j, by_x);
    if (i + j > LAM__SPECIAL_ORDERS)
        return lam__axes_fail(r->primitive->name, r->in[0], LAM_ERR_RULE,
                              "derivatives by the parameters end with order %d", LAM__SPECIAL_ORDERS);
    return lam__apply_coded(r->primitive, code, r->inputs, r->in);
}

/* ---- zeta -------------------------------------------------------------------------------------------------------- */

/* Not -s times the function of s + 1, which is rounded: the kernel knows the derivatives by q too. The order by s
 * stands lowest in the code. */
static lam_tensor *slope_zeta(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = *(const int64_t *)r->params;
    if (i == 0 && code % LAM__SLOPE_CODE(1, 0) == LAM__SPECIAL_ORDERS)
        return lam__axes_fail("zeta", r->in[0], LAM_ERR_RULE, "derivatives by the first operand end with order %d",
                              LAM__SPECIAL_ORDERS);
    return lam_mul(t, lam__apply_coded(r->primitive, code + LAM__SLOPE_CODE(i == 1, i == 0), 2, r->in));
}

const lam_primitive lam__row_zeta = {
    .name = "zeta",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_zeta + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_zeta,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .layout = "l member",
};

/* The code 0 is the function itself. */
lam_tensor *(lam_zeta)(lam_tensor *s, lam_tensor *q) {
    return lam__apply_coded(&lam__row_zeta, 0, 2, (lam_tensor *[]){s, q});
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* Where x is so small that a/x may leave the range. There the density itself is as good as 0 or infinite, and its
 * quotient by x is made of another density. */
static lam_tensor *next_to_0(lam_tensor *x) {
    return lam_lt(x, lam_dtype_of(x) == LAM_F32 ? 0x1p-100 : 0x1p-900);
}

/* (a - 1)/x without quotients of two zeros, 0 where the density of a - 1 does it. */
static lam_tensor *steepness(lam_tensor *a, lam_tensor *x, lam_tensor *lower) {
    lam_tensor *flat = lam_or(lower, lam_eq(a, 1.0));
    return lam_div(lam_where(flat, 0.0, lam_sub(a, 1.0)), lam_where(flat, 1.0, x));
}

/* d/dx of d^k/da^k of the density f, which is f ((a - 1)/x - 1). By Leibniz' rule, as (a - 1)/x is linear in a:
 * d^k/da^k of f ((a - 1)/x - 1) has one more term, k/x d^(k-1) f. Next to x = 0 f (a - 1)/x is the density of a - 1,
 * for a > 1; in what is differentiated by a this is left, since there is no end to the cases. */
static lam_tensor *gamma_density_by_x(const lam_rule *r, int k) {
    lam_tensor *a = r->in[0], *x = r->in[1];
    if (k > 0) {
        lam_tensor *own = lam_mul(r->out[0], lam_sub(lam_div(lam_sub(a, 1.0), x), 1.0));
        return lam_add(own, lam_div(lam_mul((double)k, derivative(r, k - 1, 0, 1)), x));
    }
    lam_tensor *lower = lam_and(next_to_0(x), lam_gt(a, 1.0)), *less = lam_where(lower, lam_sub(a, 1.0), 1.0);
    lam_tensor *density = lam__apply_coded(r->primitive, LAM__SPECIAL_CODE(0, 0, 1), 2, (lam_tensor *[]){less, x});
    return lam_add(lam_mul(r->out[0], lam_sub(steepness(a, x, lower), 1.0)), lam_where(lower, density, 0.0));
}

/* P(a, x): by a the next order; by x the density at first, from there on its own recursion. Orders by a are counted on,
 * whatever the derivative by x is. */
static lam_tensor *slope_igamma(const lam_rule *r, int i, lam_tensor *t) {
    orders at = orders_of(r);
    if (i == 0) return lam_mul(t, derivative(r, at.i + 1, 0, at.by_x));
    return lam_mul(t, at.by_x ? gamma_density_by_x(r, at.i) : derivative(r, at.i, 0, 1));
}

const lam_primitive lam__row_igamma = {
    .name = "igamma",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_igamma + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_igamma,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_OUT(0),
    .layout = "l member",
};

/* In parentheses, as lam_igammac below: the names are also macros, which take C numbers (literals.h). */
lam_tensor *(lam_igamma)(lam_tensor *a, lam_tensor *x) {
    return lam__apply_coded(&lam__row_igamma, 0, 2, (lam_tensor *[]){a, x});
}

/* Q = 1 - P, so its derivatives are those of P with the other sign; the value has a row of its own for its digits in
 * the tail. */
static lam_tensor *slope_igammac(const lam_rule *r, int i, lam_tensor *t) {
    int64_t code = i == 0 ? LAM__SPECIAL_CODE(1, 0, 0) : LAM__SPECIAL_CODE(0, 0, 1);
    return lam_neg(lam_mul(t, lam__apply_coded(&lam__row_igamma, code, 2, r->in)));
}

const lam_primitive lam__row_igammac = {
    .name = "igammac",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_igammac + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_igammac,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *(lam_igammac)(lam_tensor *a, lam_tensor *x) {
    return lam__apply_binary(&lam__row_igammac, a, x);
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* (a + b - 1) times the density of one less in a (or in b) where `lower`, which is what f (a - 1)/x is; else 0. */
static lam_tensor *lowered(const lam_rule *r, int which, lam_tensor *lower) {
    lam_tensor *of[3] = {r->in[0], r->in[1], r->in[2]}, *whole = lam_sub(lam_add(of[0], of[1]), 1.0);
    of[which] = lam_where(lower, lam_sub(of[which], 1.0), 1.0);
    lam_tensor *density = lam__apply_coded(r->primitive, LAM__SPECIAL_CODE(0, 0, 1), 3, of);
    return lam_where(lower, lam_mul(whole, density), 0.0);
}

/* The first derivative by x, at both ends as for gamma. Next to 1 it is y that is 0 exactly: 1 - x has no digits to be
 * small with. */
static lam_tensor *plain_beta_density_by_x(const lam_rule *r) {
    lam_tensor *a = r->in[0], *b = r->in[1], *x = r->in[2], *y = lam_sub(1.0, x);
    lam_tensor *left = lam_and(next_to_0(x), lam_gt(a, 1.0)), *right = lam_and(lam_eq(y, 0.0), lam_gt(b, 1.0));
    lam_tensor *steep = lam_sub(steepness(a, x, left), steepness(b, y, right));
    return lam_add(lam_mul(r->out[0], steep), lam_sub(lowered(r, 0, left), lowered(r, 1, right)));
}

/* d/dx of the density differentiated i and j times, which without that is f ((a - 1)/x - (b - 1)/(1 - x)). Linear in a
 * and in b, hence one more term for each, as for gamma. */
static lam_tensor *beta_density_by_x(const lam_rule *r, int i, int j) {
    if (i == 0 && j == 0) return plain_beta_density_by_x(r);
    lam_tensor *x = r->in[2], *y = lam_sub(1.0, x);
    lam_tensor *steep = lam_sub(lam_div(lam_sub(r->in[0], 1.0), x), lam_div(lam_sub(r->in[1], 1.0), y));
    lam_tensor *sum = lam_mul(r->out[0], steep);
    if (i > 0) sum = lam_add(sum, lam_div(lam_mul((double)i, derivative(r, i - 1, j, 1)), x));
    if (j > 0) sum = lam_sub(sum, lam_div(lam_mul((double)j, derivative(r, i, j - 1, 1)), y));
    return sum;
}

/* Operands are a, b, x; the orders count how often by a and by b. By x the density comes first, and its own recursion
 * from there on. */
static lam_tensor *slope_betainc(const lam_rule *r, int i, lam_tensor *t) {
    orders at = orders_of(r);
    if (i < 2) return lam_mul(t, derivative(r, at.i + (i == 0), at.j + (i == 1), at.by_x));
    return lam_mul(t, at.by_x ? beta_density_by_x(r, at.i, at.j) : derivative(r, at.i, at.j, 1));
}

const lam_primitive lam__row_betainc = {
    .name = "betainc",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_betainc + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_betainc,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_IN(2) | LAM_SAVE_OUT(0),
    .layout = "l member",
};

lam_tensor *lam_betainc(lam_tensor *a, lam_tensor *b, lam_tensor *x) {
    return lam__apply_coded(&lam__row_betainc, 0, 3, (lam_tensor *[]){a, b, x});
}

/* As for gamma: derivatives are those of betainc with the other sign. The value has a row of its own, which keeps the
 * digits of a small share. */
static lam_tensor *slope_betaincc(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t code = LAM__SPECIAL_CODE(i == 0, i == 1, i == 2);
    return lam_neg(lam_mul(t, lam__apply_coded(&lam__row_betainc, code, 3, r->in)));
}

const lam_primitive lam__row_betaincc = {
    .name = "betaincc",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_betaincc + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_betaincc,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_IN(2),
};

lam_tensor *lam_betaincc(lam_tensor *a, lam_tensor *b, lam_tensor *x) {
    return lam__apply_ternary(&lam__row_betaincc, a, b, x);
}
