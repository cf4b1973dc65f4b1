/* (x + sqrt(x^2 + b))/2, a smooth relu, with its slope by x as a row of its own. b is an operand, so that it is batched
 * and has derivatives; of a number that is 0 the function is relu itself. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* s = sqrt(x^2 + b), which is |x| and twice the value on the left: in range where the square is not, and with slopes
 * where b is 0. The side is chosen, not the absolute value taken, which would have no derivative at 0. */
static lam_tensor *root_of(const lam_rule *r) {
    lam_tensor *x = r->in[0], *size = lam_where(lam_gt(x, 0.0), x, lam_neg(x));
    return lam_fma(lam_squareplus_with(lam_neg(size), r->in[1]), 2.0, size);
}

/* By x a row of its own; by b 1/(4 s). Where s is 0, at x = 0 and b = 0, the slope by b is infinite. */
static lam_tensor *slope_squareplus(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 0) return lam_mul(t, lam_squareplus_slope(r->in[0], r->in[1]));
    return lam_div(lam_mul(0.25, t), root_of(r));
}

/* Called squareplus_with, since the public form without it takes a number for b. */
const lam_primitive lam__row_squareplus_with = {
    .name = "squareplus_with",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_squareplus + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_squareplus,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *lam_squareplus_with(lam_tensor *x, lam_tensor *b) {
    return lam__apply_binary(&lam__row_squareplus_with, x, b);
}

/* Of b = 0 it is relu, which has a slope at 0. */
lam_tensor *lam_squareplus(lam_tensor *x, double b) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("squareplus", true, 1, &x, &failed)) return failed;
    /* NaN fails it too. */
    if (!(b >= 0)) return lam__axes_fail("squareplus", x, LAM_ERR_VALUE, "b is %g", b);
    if (b == 0) return lam_relu(x);
    return lam__scope_named(lam_squareplus_with(x, lam_cast(lam_scalar(lam_ctx_of(x), b), lam_dtype_of(x))), since);
}

/* y/s^3: by the sum of squares where this has all its digits in every dtype, else in quotients that stay in range. Each
 * form sees what is meant for it only. */
static lam_tensor *over_cube(lam_tensor *x, lam_tensor *b, lam_tensor *s, lam_tensor *y) {
    lam_tensor *d = lam_fma(x, x, b), *near = lam_and(lam_gt(d, 0x1p-14), lam_lt(d, 0x1p15));
    lam_tensor *own_x = lam_where(near, x, 0.0), *own_b = lam_where(near, b, 1.0), *own_y = lam_where(near, y, 0.0);
    lam_tensor *squares = lam_fma(own_x, own_x, own_b);
    return lam_where(near, lam_div(lam_div(own_y, squares), lam_sqrt(squares)), lam_div(lam_div(lam_div(y, s), s), s));
}

/* b/(2 s^3) by x and -x/(4 s^3) by b; at the kink, where s is 0, it is chosen 0. */
static lam_tensor *slope_squareplus_slope(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *x = r->in[0], *b = r->in[1], *s = root_of(r);
    /* With s infinite all quotients are 0. */
    s = lam_where(lam_eq(s, 0.0), INFINITY, s);
    if (i == 0) return lam_mul(t, lam_mul(0.5, over_cube(x, b, s, b)));
    return lam_mul(t, lam_mul(-0.25, over_cube(x, b, s, lam_where(lam_is_finite(x), x, 0.0))));
}

const lam_primitive lam__row_squareplus_slope = {
    .name = "squareplus_slope",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_squareplus_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_squareplus_slope,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* (1 + x/s)/2. */
lam_tensor *lam_squareplus_slope(lam_tensor *x, lam_tensor *b) {
    return lam__apply_binary(&lam__row_squareplus_slope, x, b);
}
