/* Products with a third operand in one step: x y + z, rounded once, and x y / z, which does not leave the range on the
 * way. Each saves for an operand only what its own slope reads. Their rules are what other slopes are made of, where a
 * product and a sum would round twice or overflow. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* d(x y + z) = dx y + x dy + dz; by z nothing is read. */
static lam_tensor *slope_fma(const lam_rule *r, int i, lam_tensor *t) {
    return i == 2 ? t : lam_mul(t, r->in[1 - i]);
}

/* Each product is added to what is there in one pass. Three terms in two passes, where slopes and their sums would take
 * four. */
static void jvp_fma(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    lam_tensor *sum = dx[2];
    for (int i = 0; i < 2; i++) {
        if (!dx[i]) continue;
        sum = sum ? lam_fma(dx[i], r->in[1 - i], sum) : lam_mul(dx[i], r->in[1 - i]);
    }
    dout[0] = sum;
}

/* By x with z, or y with z, it is its own jvp; by x and y it is not, so bits of x and z are what `linear` names. */
const lam_primitive lam__row_fma = {
    .name = "fma",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_fma + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 5u,
    .slope = slope_fma,
    .jvp = jvp_fma,
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0)},
};

lam_tensor *(lam_fma)(lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    return lam__apply_ternary(&lam__row_fma, x, y, z);
}

/* As a family it is closed under differentiation. d(x y / z) = dx y / z + x dy / z - (x y / z) dz / z, and each of
 * these is x y / z of other operands. */
static lam_tensor *slope_mul_div(const lam_rule *r, int i, lam_tensor *t) {
    return i == 2 ? lam_neg(lam_mul_div(t, r->out[0], r->in[2])) : lam_mul_div(t, r->in[1 - i], r->in[2]);
}

const lam_primitive lam__row_mul_div = {
    .name = "mul_div",
    .inputs = 3,
    .elementwise = true,
    .loop = LAM__LOOP_mul_div + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 1u,
    .slope = slope_mul_div,
    .saves = LAM_SAVE_IN(2),
    .saves_for = {LAM_SAVE_IN(1), LAM_SAVE_IN(0), LAM_SAVE_OUT(0)},
};

/* Public as it is what slopes of users' quotients need. */
lam_tensor *lam_mul_div(lam_tensor *x, lam_tensor *y, lam_tensor *z) {
    return lam__apply_ternary(&lam__row_mul_div, x, y, z);
}
