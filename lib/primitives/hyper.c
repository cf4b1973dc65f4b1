/* The hypergeometric functions 1F1 and 2F1. Rows whose parameter says how often the derivative is taken by each
 * operand, so that every order is closed under differentiation; by the parameters of the functions there are two
 * orders, of which the kernel knows (lib/kernels/special/hyper.h). Operands come with equal dims: an element has one of
 * each. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/pointwise.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/special/hyper.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* A microsecond or more for each element, in units of half a nanosecond. */
enum { COST = 2000 };

/* Real numbers in the form that pointwise.c hands out. The imaginary parts of real rows are not read. */
static lam_c128 one_hyp1f1(const void *params, const lam_c128 x[]) {
    return (lam_c128){lam__special_hyp1f1(x[0].re, x[1].re, x[2].re, *(const lam__hyper_order *)params), 0};
}

static lam_c128 one_hyp2f1(const void *params, const lam_c128 x[]) {
    return (lam_c128){lam__special_hyp2f1(x[0].re, x[1].re, x[2].re, x[3].re, *(const lam__hyper_order *)params), 0};
}

/* Elements are independent, so that threads may share them. */
static lam_status eval_hyp1f1(const lam_call_site *call, lam_value *const out[]) {
    return lam__pointwise_eval(call, out, one_hyp1f1, COST);
}

/* Time depends on where x lies, so COST is rough. */
static lam_status eval_hyp2f1(const lam_call_site *call, lam_value *const out[]) {
    return lam__pointwise_eval(call, out, one_hyp2f1, COST);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* t times the derivative by operand i. By x there is no last order: each derivative is a function of the same kind. */
static lam_tensor *slope(const lam_rule *r, int i, lam_tensor *t) {
    lam__hyper_order order = *(const lam__hyper_order *)r->params;
    const int *by = order.by;
    if (i == r->inputs - 1) order.by_x++;
    else order.by[i]++;
    if (by[0] + by[1] + by[2] > LAM__HYPER_ORDERS)
        return lam__axes_fail(r->primitive->name, r->in[0], LAM_ERR_RULE,
                              "derivatives by the parameters end with order %d", LAM__HYPER_ORDERS);
    return lam_mul(t, lam__apply(r->primitive, &order, sizeof order, r->inputs, r->in));
}

/* One slope serves both modes: the row goes element by element. As slopes are numbers for each element, nothing is
 * transposed. */
static void jvp_hyper(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    for (int i = 0; i < r->inputs; i++)
        if (dx[i]) dout[0] = lam__matrices_plus(dout[0], slope(r, i, dx[i]));
}

/* Only what is asked for is computed, as each slope is a whole function. */
static void vjp_hyper(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    for (int i = 0; i < r->inputs; i++)
        if (r->needs[i]) gx[i] = slope(r, i, g[0]);
}

/* Each example has all operands of its own. Orders say nothing of axes. */
static void batch_hyper(const lam_rule *r, lam_tensor *out[]) {
    lam__pointwise_batch(r, out, sizeof(lam__hyper_order));
}

const lam_primitive lam__row_hyp1f1 = {
    .name = "hyp1f1",
    .inputs = 3,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN,
    .shape = lam__pointwise_shape,
    .eval = eval_hyp1f1,
    .jvp = jvp_hyper,
    .vjp = vjp_hyper,
    .batch = batch_hyper,
    .layout = "i by[3], i by_x",
};

const lam_primitive lam__row_hyp2f1 = {
    .name = "hyp2f1",
    .inputs = 4,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN,
    .shape = lam__pointwise_shape,
    .eval = eval_hyp2f1,
    .jvp = jvp_hyper,
    .vjp = vjp_hyper,
    .batch = batch_hyper,
    .layout = "i by[3], i by_x",
};

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* No derivative: users begin with the function itself, and orders above 0 come of derivatives only. */
static const lam__hyper_order value;

/* Kummer's function M. */
lam_tensor *lam_hyp1f1(lam_tensor *a, lam_tensor *b, lam_tensor *x) {
    return lam__pointwise_call(&lam__row_hyp1f1, &value, sizeof value, (lam_tensor *[]){a, b, x});
}

/* Gauss's function F. */
lam_tensor *lam_hyp2f1(lam_tensor *a, lam_tensor *b, lam_tensor *c, lam_tensor *x) {
    return lam__pointwise_call(&lam__row_hyp2f1, &value, sizeof value, (lam_tensor *[]){a, b, c, x});
}
