/* Owen's T function. One row; its derivatives are elementary. */
#include "lib/primitives/matrices.h"
#include "lib/primitives/pointwise.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/special/owens.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { H, A, INPUTS };

/* 2 pi, 1 / sqrt(2) and sqrt(2 pi). */
static const double TURN = 6.28318530717958647692, ROOT_HALF = 0.70710678118654752440,
                    ROOT_TURN = 2.50662827463100050242;

/* The kernel's form: all numbers as complex ones, of which the real parts are meant. */
static lam_c128 one_owens_t(const void *params, const lam_c128 x[]) {
    (void)params;
    return (lam_c128){lam__special_owens_t(x[H].re, x[A].re), 0};
}

/* Some 300 ns, in units of half a nanosecond. */
static lam_status eval_owens_t(const lam_call_site *call, lam_value *const out[]) {
    return lam__pointwise_eval(call, out, one_owens_t, 600);
}

/* By h: -exp(-h^2 / 2) erf(a h / sqrt 2) / (2 sqrt(2 pi)); by a the integrand at a. T(h, a) is the integral of exp(-h^2
 * (1 + x^2) / 2) / (1 + x^2) over x from 0 to a, over 2 pi (Owen 1956). Neither divides by what may vanish. */
static lam_tensor *slope(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *h = r->in[H], *a = r->in[A], *bell = lam_exp(lam_mul(-0.5, lam_square(h)));
    if (i == H) return lam_mul(t, lam_mul(-0.5 / ROOT_TURN, lam_mul(bell, lam_erf(lam_mul(ROOT_HALF, lam_mul(a, h))))));
    lam_tensor *both = lam_mul(bell, lam_exp(lam_mul(-0.5, lam_square(lam_mul(a, h)))));
    return lam_div(lam_mul(t, both), lam_mul(TURN, lam_add(1.0, lam_square(a))));
}

/* One slope serves both modes: the row goes element by element. */
static void jvp_owens_t(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    for (int i = 0; i < INPUTS; i++)
        if (dx[i]) dout[0] = lam__matrices_plus(dout[0], slope(r, i, dx[i]));
}

/* As a transpose: of a diagonal matrix that is the matrix. */
static void vjp_owens_t(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    for (int i = 0; i < INPUTS; i++)
        if (r->needs[i]) gx[i] = slope(r, i, g[0]);
}

/* Each example has both operands. No parameters go along. */
static void batch_owens_t(const lam_rule *r, lam_tensor *out[]) {
    lam__pointwise_batch(r, out, 0);
}

const lam_primitive lam__row_owens_t = {
    .name = "owens_t",
    .inputs = INPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_ALL_IN,
    .shape = lam__pointwise_shape,
    .eval = eval_owens_t,
    .jvp = jvp_owens_t,
    .vjp = vjp_owens_t,
    .batch = batch_owens_t,
};

/* Operands broadcast before the row, which compares types. */
lam_tensor *lam_owens_t(lam_tensor *h, lam_tensor *a) {
    return lam__pointwise_call(&lam__row_owens_t, NULL, 0, (lam_tensor *[]){h, a});
}
