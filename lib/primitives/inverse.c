/* The incomplete gamma and beta functions undone: two rows, whose parameter says of which side. Their derivatives are
 * those of the functions, by the implicit function theorem. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/inverse.h"

#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/distributions.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* The parameter of both rows is a sum of lam__inverse_form, 0 for the plain function of the lower side. */
static int64_t form_of(const lam_rule *r) {
    return *(const int64_t *)r->params;
}

/* t, with the sign of the side. The upper share falls where the lower one rises, so its inverse has a minus in all that
 * is by the share. */
static lam_tensor *signed_by(const lam_rule *r, lam_tensor *t) {
    return form_of(r) & LAM__INVERSE_UPPER ? lam_neg(t) : t;
}

/* ---- gamma ------------------------------------------------------------------------------------------------------- */

/* 1/f by the share, f the density, with the sign of the side; -(dP/da)/f by a. At the ends, which are the same for all
 * a, nothing by a. */
static lam_tensor *slope_igamma_inv(const lam_rule *r, int i, lam_tensor *t) {
    /* Counts are steps of the share: their slope is 0 wherever there is one. */
    if (form_of(r) & LAM__INVERSE_STEPS) return NULL;
    lam_tensor *a = r->in[0], *x = r->out[0];
    const int64_t density = LAM__SPECIAL_CODE(0, 0, 1), by_a = LAM__SPECIAL_CODE(1, 0, 0);
    if (i == 1) {
        lam_tensor *f = lam__apply_coded(&lam__row_igamma, density, 2, (lam_tensor *[]){a, x});
        return lam_div(signed_by(r, t), f);
    }
    /* 1 stands for x at the ends, where f is 0 or infinite and the quotient would be NaN, which a later choice would
     * hand on to second derivatives. */
    lam_tensor *end = lam_or(lam_eq(x, 0.0), lam_eq(x, INFINITY)), *in[2] = {a, lam_where(end, 1.0, x)};
    lam_tensor *f = lam__apply_coded(&lam__row_igamma, density, 2, in);
    lam_tensor *move = lam_div(lam__apply_coded(&lam__row_igamma, by_a, 2, in), lam_neg(f));
    return lam_mul(t, lam_where(end, 0.0, move));
}

/* ---- beta -------------------------------------------------------------------------------------------------------- */

/* I_x(a, b) or one of its derivatives, as the code says (special.h). */
static lam_tensor *beta_member(int64_t code, lam_tensor *a, lam_tensor *b, lam_tensor *x) {
    return lam__apply_coded(&lam__row_betainc, code, 3, (lam_tensor *[]){a, b, x});
}

/* As for gamma: 1/f by the share, -(dI/da)/f and -(dI/db)/f by the parameters. By the share nothing is replaced at the
 * ends, since the slope is infinite where f is 0. */
static lam_tensor *slope_plain(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *a = r->in[0], *b = r->in[1], *x = r->out[0];
    if (i == 2) return lam_div(signed_by(r, t), beta_member(LAM__SPECIAL_CODE(0, 0, 1), a, b, x));
    lam_tensor *end = lam_or(lam_eq(x, 0.0), lam_eq(x, 1.0)), *inside = lam_where(end, 0.5, x);
    lam_tensor *f = beta_member(LAM__SPECIAL_CODE(0, 0, 1), a, b, inside);
    lam_tensor *move = lam_div(beta_member(LAM__SPECIAL_CODE(i == 0, i == 1, 0), a, b, inside), lam_neg(f));
    return lam_mul(t, lam_where(end, 0.0, move));
}

/* Of v = (x - 1/2) / sqrt(x (1 - x)), with s = sqrt(1 + v^2), x (1 - x) is 1 / (4 s^2) and the side that holds less of
 * x and 1 - x is 1 / (2 s (s + |v|)). Beyond the middle everything is said of 1 - x, with the operands exchanged, so
 * that it keeps its digits: of a function that is one there. dv/dx is 2 s^3. */
static lam_tensor *slope_odd(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *over = lam_gt(r->out[0], 0.0), *end = lam_eq(lam_abs(r->out[0]), INFINITY);
    lam_tensor *v = lam_where(end, 0.0, lam_where(over, lam_neg(r->out[0]), r->out[0])), *s = lam_hypot(v, 1.0);
    lam_tensor *x = lam_div(lam_div(0.5, s), lam_sub(s, v));
    lam_tensor *a = lam_where(over, r->in[1], r->in[0]), *b = lam_where(over, r->in[0], r->in[1]);
    lam_tensor *f = beta_member(LAM__SPECIAL_CODE(0, 0, 1), a, b, x);
    lam_tensor *rise = lam_mul(lam_mul(lam_div(lam_mul(2.0, s), f), s), s);
    if (i == 2) return lam_mul(signed_by(r, t), lam_where(end, INFINITY, rise));
    lam_tensor *by_first = beta_member(LAM__SPECIAL_CODE(1, 0, 0), a, b, x);
    lam_tensor *by_second = beta_member(LAM__SPECIAL_CODE(0, 1, 0), a, b, x);
    /* I_x(a, b) is 1 - I_(1 - x)(b, a): beyond the middle the derivative by a is that by the second operand, with the
     * other sign. */
    lam_tensor *left = lam_neg(i == 0 ? by_first : by_second), *right = i == 0 ? by_second : by_first;
    return lam_mul(t, lam_where(end, 0.0, lam_mul(lam_where(over, right, left), rise)));
}

static lam_tensor *slope_betainc_inv(const lam_rule *r, int i, lam_tensor *t) {
    if (form_of(r) & LAM__INVERSE_STEPS) return NULL;
    return form_of(r) & LAM__INVERSE_ODD ? slope_odd(r, i, t) : slope_plain(r, i, t);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Steps have no slope. */
const lam_primitive lam__row_igamma_inv = {
    .name = "igamma_inv",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_igamma_inv + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_igamma_inv,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .layout = "l form",
};

const lam_primitive lam__row_betainc_inv = {
    .name = "betainc_inv",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_betainc_inv + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_betainc_inv,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1) | LAM_SAVE_OUT(0),
    .layout = "l form",
};

static lam_tensor *inverse(const lam_primitive *row, int64_t form, lam_tensor *in[]) {
    return lam__apply_coded(row, form, row->inputs, in);
}

lam_tensor *lam_igamma_inv(lam_tensor *a, lam_tensor *p) {
    return inverse(&lam__row_igamma_inv, 0, (lam_tensor *[]){a, p});
}

lam_tensor *lam_igammac_inv(lam_tensor *a, lam_tensor *q) {
    uint64_t since = lam__scope_now(a);
    return lam__scope_named(inverse(&lam__row_igamma_inv, LAM__INVERSE_UPPER, (lam_tensor *[]){a, q}), since);
}

lam_tensor *lam_betainc_inv(lam_tensor *a, lam_tensor *b, lam_tensor *p) {
    return inverse(&lam__row_betainc_inv, 0, (lam_tensor *[]){a, b, p});
}

lam_tensor *lam_betaincc_inv(lam_tensor *a, lam_tensor *b, lam_tensor *q) {
    uint64_t since = lam__scope_now(a);
    return lam__scope_named(inverse(&lam__row_betainc_inv, LAM__INVERSE_UPPER, (lam_tensor *[]){a, b, q}), since);
}

/* Failures bear the name of the quantile that this serves. */
lam_tensor *lam__distributions_odd_beta(bool upper, lam_tensor *a, lam_tensor *b, lam_tensor *p) {
    return inverse(&lam__row_betainc_inv, LAM__INVERSE_ODD | (upper ? LAM__INVERSE_UPPER : 0),
                   (lam_tensor *[]){a, b, p});
}

/* A share that was computed in f32 misses that of a count by more than one of f64 does: the kernel allows for 2^-21 or
 * 2^-48 of it. */
static int64_t counting(int64_t form, bool upper, lam_tensor *p) {
    return form | (upper ? LAM__INVERSE_UPPER : 0) | (lam_dtype_of(p) == LAM_F32 ? LAM__INVERSE_NARROW : 0);
}

/* Steps, and so without a derivative. The mean stands where the gamma function has its parameter. */
lam_tensor *lam__distributions_poisson_count(bool upper, lam_tensor *mean, lam_tensor *p) {
    return inverse(&lam__row_igamma_inv, counting(LAM__INVERSE_COUNTS, upper, p), (lam_tensor *[]){mean, p});
}

/* The kernel of these forms reads n and chance where it has a and b elsewhere. */
lam_tensor *lam__distributions_count(bool waiting, bool upper, lam_tensor *n, lam_tensor *chance, lam_tensor *p) {
    const int64_t form = counting(waiting ? LAM__INVERSE_WAITING : LAM__INVERSE_COUNTS, upper, p);
    return inverse(&lam__row_betainc_inv, form, (lam_tensor *[]){n, chance, p});
}
