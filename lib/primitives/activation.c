/* Activation functions: those in straight pieces and softsign by one row, silu, mish, gelu and gelu_tanh with their
 * slopes by two each, others made of operations. Operands are guarded before a branch is chosen, so that the one that
 * is not taken sends 0 and never NaN, and each is its usual sub-gradient at a kink: 0 at 0 for relu, as JAX and PyTorch
 * have it. */
#include "lib/kernels/kernels.h"
#include "lib/kernels/special/special.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* ---- in straight pieces ------------------------------------------------------------------------------------------ */

/* ramp(x, y) is y where x > 0 and slope y elsewhere (for slope 0 exactly 0, whatever y), so relu is ramp(x, x) and its
 * own derivative is ramp(x, t). By x alone it is flat but where it jumps; by y it is linear, and the row is its own
 * jvp. */
static lam_tensor *slope_ramp(const lam_rule *r, int i, lam_tensor *t) {
    double slope;
    memcpy(&slope, r->params, sizeof slope);
    return i == 0 ? NULL : lam_ramp(r->in[0], t, slope);
}

/* Linear in y for given x; by x there is no slope to save y for. */
const lam_primitive lam__row_ramp = {
    .name = "ramp",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_ramp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 2u,
    .slope = slope_ramp,
    .saves = LAM_SAVE_IN(0),
    .layout = "d slope",
};

/* By x and y of one shape it is relu and its kin; the slope left of 0 is a parameter and no operand, so nothing is
 * differentiated by it. */
lam_tensor *lam_ramp(lam_tensor *x, lam_tensor *y, double slope) {
    return lam__apply_with(&lam__row_ramp, &slope, sizeof slope, 2, (lam_tensor *[]){x, y});
}

/* Integers keep their dtype: max does that, and ramp would make floats of them. */
lam_tensor *lam_relu(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam__dtype_is_inexact((int)lam_dtype_of(x)) ? lam_ramp(x, x, 0) : lam_max(x, 0), since);
}

/* clamp has loops for every dtype with an order, so integers stay what they are. Limits are numbers of the dtype of x:
 * -1 is none of u8, of which nothing is below 0, and bools are between all limits that are asked for. */
static lam_tensor *limited(lam_tensor *x, int low, int high) {
    const lam_dtype dtype = lam_dtype_of(x);
    return dtype == LAM_BOOL ? lam_alias(x) : lam_clamp(x, dtype == LAM_U8 ? 0 : low, high);
}

lam_tensor *lam_relu6(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(limited(x, 0, 6), since);
}

/* Both operands are x: the gradient comes by way of the second. */
lam_tensor *lam_leaky_relu(lam_tensor *x, double slope) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(lam_ramp(x, x, slope), since);
}

lam_tensor *lam_hard_tanh(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(limited(x, -1, 1), since);
}

/* hard_gate(x, y) is y times clamp(x + 3, 0, 6)/6. By x it is y/6 where the gate moves, 0 at both edges. */
static lam_tensor *slope_hard_gate(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 1) return lam_hard_gate(r->in[0], t);
    return lam_where(lam_lt(lam_abs(r->in[0]), 3.0), lam_div(lam_mul(t, r->in[1]), 6.0), 0.0);
}

/* By y alone the row is its own jvp, as ramp is; where x has a tangent too its slope is asked for both. */
const lam_primitive lam__row_hard_gate = {
    .name = "hard_gate",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_hard_gate + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 2u,
    .slope = slope_hard_gate,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

/* hard_sigmoid is made of it. */
lam_tensor *lam_hard_gate(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_hard_gate, x, y);
}

/* The gate of x on 1, so that it is one row with one kernel. */
lam_tensor *lam_hard_sigmoid(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    x = lam__reduce_real(x);
    return lam__scope_only(lam_hard_gate(x, lam_cast(lam_scalar(lam_ctx_of(x), 1), lam_dtype_of(x))), since);
}

/* The gate of x on x, of which a row knows the slope in one pass. */
static lam_tensor *slope_hard_silu(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, lam_hard_silu_slope(r->in[i]));
}

/* Of its own beside hard_gate(x, x): a rule for two operands would make two terms and add them. */
const lam_primitive lam__row_hard_silu = {
    .name = "hard_silu",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_hard_silu + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_hard_silu,
    .saves = LAM_SAVE_IN(0),
};

/* x clamp(x + 3, 0, 6)/6, as MobileNetV3 has it. */
lam_tensor *lam_hard_silu(lam_tensor *x) {
    return lam__apply_unary(&lam__row_hard_silu, x);
}

/* 1/3 between the edges, 0 beyond and at them. It jumps at the edges, where the sub-gradient of the flat side is
 * taken. */
static lam_tensor *slope_hard_silu_slope(const lam_rule *r, int i, lam_tensor *t) {
    return lam_where(lam_lt(lam_abs(r->in[i]), 3.0), lam_div(t, 3.0), 0.0);
}

/* The operand is saved for the comparison with the edges. */
const lam_primitive lam__row_hard_silu_slope = {
    .name = "hard_silu_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_hard_silu_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_hard_silu_slope,
    .saves = LAM_SAVE_IN(0),
};

/* (2 x + 3)/6 between the edges, 0 and 1 beyond. */
lam_tensor *lam_hard_silu_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_hard_silu_slope, x);
}

/* ---- with functions ---------------------------------------------------------------------------------------------- */

/* scale (exp(x / width) - 1) left of 0, x right of it. On the right the operand of expm1 is 0, so a large x does not
 * overflow there; at 0 the left branch is taken, and its slope. */
static lam_tensor *exponential_left(lam_tensor *x, double scale, double width) {
    x = lam__reduce_real(x);
    lam_tensor *right = lam_gt(x, 0.0), *left = lam_where(right, 0.0, x);
    left = lam_expm1(width == 1 ? left : lam_div(left, width));
    return lam_where(right, x, scale == 1 ? left : lam_mul(scale, left));
}

/* elu and celu differ in where alpha stands: celu(x) has the slope 1 at 0 for every alpha. elu has it for alpha = 1
 * alone. */
lam_tensor *lam_elu(lam_tensor *x, double alpha) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(exponential_left(x, alpha, 1), since);
}

/* Far below 0 both tend to -alpha. */
lam_tensor *lam_celu(lam_tensor *x, double alpha) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(exponential_left(x, alpha, alpha), since);
}

/* The constants that make mean 0 and variance 1 a fixed point (Klambauer et al. 2017). */
lam_tensor *lam_selu(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_mul(1.0507009873554804934, exponential_left(x, 1.6732632423543772848, 1)), since);
}

/* Slopes are rows of their own here and below, with a kernel each. Rules ask them where a level follows; where elements
 * are at hand a pass gives both (LAM__SLOPED_ROW). */
static lam_tensor *slope_gelu(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_gelu_slope(r->in[0]));
}

LAM__SLOPED_ROW(gelu);

/* The operand is kept, since gelu falls before it rises: its slope is no function of its value. So with those below. */
const lam_primitive lam__row_gelu = {
    .name = "gelu",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_gelu + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_gelu,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_gelu,
};

/* x Phi(x) exactly; the form with tanh is lam_gelu_tanh. */
lam_tensor *lam_gelu(lam_tensor *x) {
    return lam__apply_unary(&lam__row_gelu, x);
}

/* (2 - x^2) times the density, which is 0 from 40 on, where it does not meet a square that is not finite. */
static lam_tensor *slope_gelu_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    lam_tensor *near = lam_clamp(r->in[0], -40.0, 40.0);
    lam_tensor *density = lam_mul(0.39894228040143267794, lam_exp(lam_mul(-0.5, lam_square(near))));
    return lam_mul(t, lam_mul(density, lam_fma(lam_neg(near), near, 2.0)));
}

const lam_primitive lam__row_gelu_slope = {
    .name = "gelu_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_gelu_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_gelu_slope,
    .saves = LAM_SAVE_IN(0),
};

/* Phi(x) + x phi(x). */
lam_tensor *lam_gelu_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_gelu_slope, x);
}

/* As for gelu, from a kernel that knows the slope. */
static lam_tensor *slope_gelu_tanh(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_gelu_tanh_slope(r->in[0]));
}

LAM__SLOPED_ROW(gelu_tanh);

const lam_primitive lam__row_gelu_tanh = {
    .name = "gelu_tanh",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_gelu_tanh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_gelu_tanh,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_gelu_tanh,
};

/* Of c(x) = a x + b x^3; (1 + tanh(c/2))/2 is logistic(c). a is 2 sqrt(2 / pi), b is 0.044715 a (Hendrycks and Gimpel
 * 2016). */
static const double GELU_LINEAR = 1.59576912160573071, GELU_CUBIC = 0.0713548162726002488;

/* So many times a, and so many times b x^2. So c' is of_square(1, 3) and 2 c' + x c'' is of_square(2, 12). */
static lam_tensor *of_square(double linear, double cubic, lam_tensor *square) {
    return lam_fma(square, cubic * GELU_CUBIC, linear * GELU_LINEAR);
}

/* Complex numbers have no loop for it and are composed. */
lam_tensor *lam_gelu_tanh(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_gelu_tanh, x);
    uint64_t since = lam__scope_now(x);
    lam_tensor *steep = lam_add(lam_mul(lam_square(x), GELU_CUBIC), GELU_LINEAR);
    return lam__scope_only(lam_mul(x, lam_logistic(lam_mul(x, steep))), since);
}

/* s (1 - s) (2 c' + x c'' - x c'^2 tanh(c/2)) for s = logistic(c), near 0. */
static lam_tensor *gelu_tanh_bend_near(lam_tensor *x) {
    lam_tensor *square = lam_square(x), *c = lam_mul(x, of_square(1, 1, square)), *steep = of_square(1, 3, square);
    lam_tensor *turned = lam_mul(lam_mul(x, lam_square(steep)), lam_tanh(lam_mul(0.5, c)));
    return lam_mul(lam_logistic_slope(c), lam_sub(of_square(2, 12, square), turned));
}

/* The same for x >= 3/4, where the terms cancel. With the tail x (1 - s), which has all its digits, it is x s times the
 * tail by x^2, times a polynomial, 2 c' + x c'' - x c'^2, and 2 c'^2 times the tail. The polynomial is the one around a
 * float next to its zero. */
static lam_tensor *gelu_tanh_bend_far(lam_tensor *x) {
    /* Its Taylor coefficients there, from the fourth power down to the value; that of the fifth power is -9 b^2. */
    static const double around[] = {-0.27923047144657337, -1.3638020396158295, -2.4710798038079944, -4.009048894235496,
                                    2.143004781560062e-07};
    lam_tensor *square = lam_square(x), *tail = lam_neg(lam_gelu_tanh(lam_neg(x))), *steep = of_square(1, 3, square);
    lam_tensor *d = lam_sub(x, 0x1.37fdfep+0), *sum = lam_fma(d, -0.045823588247668835, around[0]);
    for (int k = 1; k < 5; k++) sum = lam_fma(d, sum, around[k]);
    sum = lam_fma(lam_mul(2.0, tail), lam_square(steep), sum);
    return lam_mul(lam_div(lam_mul(lam_gelu_tanh(x), tail), square), sum);
}

/* The second derivative of x s is even. The side is chosen, not the absolute value taken, which would have no
 * derivative at 0. Beyond the bound it is 0, which does not meet an infinite x. */
static lam_tensor *slope_gelu_tanh_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    /* c(22) is 795, whose exponential no double holds; so does the clamp keep the square of an infinite x away. */
    lam_tensor *x = lam_clamp(r->in[0], -22.0, 22.0), *size = lam_where(lam_gt(x, 0.0), x, lam_neg(x));
    lam_tensor *is_near = lam_lt(size, 0.75);
    lam_tensor *near = gelu_tanh_bend_near(lam_where(is_near, x, 0.0));
    lam_tensor *far = gelu_tanh_bend_far(lam_where(is_near, 1.0, size));
    return lam_mul(t, lam_where(is_near, near, far));
}

const lam_primitive lam__row_gelu_tanh_slope = {
    .name = "gelu_tanh_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_gelu_tanh_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_gelu_tanh_slope,
    .saves = LAM_SAVE_IN(0),
};

/* Public, as slopes are that a rule names: what a rule calls is recorded and printed like what a user calls. */
lam_tensor *lam_gelu_tanh_slope(lam_tensor *x) {
    return lam__apply_unary(&lam__row_gelu_tanh_slope, x);
}

/* silu(x) = x s(x) with s = logistic; the slope s + x s (1 - s) is a row of its own. */
static lam_tensor *slope_silu(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_silu_slope(r->in[0]));
}

LAM__SLOPED_ROW(silu);

const lam_primitive lam__row_silu = {
    .name = "silu",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_silu + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_silu,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_silu,
};

/* Complex numbers have no loop for it and are composed. */
lam_tensor *lam_silu(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_silu, x);
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_mul(x, lam_logistic(x)), since);
}

/* s'(x) (2 - x tanh(x/2)) for s = logistic. From 1 on the second factor is 2 - |x| + 2 |x| s(-|x|), so that next to its
 * zeros only what is small is rounded; next to 0 the slope of that would be a difference. Beyond the bound s' is 0,
 * which does not meet an infinite x. The side is chosen, not the absolute value taken, which would have no derivative
 * at 0. */
static lam_tensor *slope_silu_slope(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    /* exp(-746) is 0 in f64, and s' is from there on. */
    lam_tensor *x = lam_clamp(r->in[0], -800.0, 800.0), *size = lam_where(lam_gt(x, 0.0), x, lam_neg(x));
    lam_tensor *is_near = lam_lt(size, 1.0), *near = lam_where(is_near, x, 0.0);
    lam_tensor *far = lam_add(lam_sub(2.0, size), lam_mul(lam_mul(2.0, size), lam_logistic(lam_neg(size))));
    lam_tensor *turn = lam_where(is_near, lam_fma(lam_neg(near), lam_tanh(lam_mul(0.5, near)), 2.0), far);
    return lam_mul(t, lam_mul(lam_logistic_slope(r->in[0]), turn));
}

const lam_primitive lam__row_silu_slope = {
    .name = "silu_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_silu_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_silu_slope,
    .saves = LAM_SAVE_IN(0),
};

/* Of complex numbers s + x s', from the same parts as the function. */
lam_tensor *lam_silu_slope(lam_tensor *x) {
    if (!lam__cplx_is(x)) return lam__apply_unary(&lam__row_silu_slope, x);
    uint64_t since = lam__scope_now(x);
    lam_tensor *s = lam_logistic(x);
    return lam__scope_only(lam_add(s, lam_mul(x, lam_logistic_slope(x))), since);
}

/* All derivatives of mish are members of one row, the first of which is the slope. */
static lam_tensor *slope_mish(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_mul(t, lam_mish_slope(r->in[0]));
}

LAM__SLOPED_ROW(mish);

const lam_primitive lam__row_mish = {
    .name = "mish",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_mish + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_mish,
    .saves = LAM_SAVE_IN(0),
    .sloped = &sloped_mish,
};

/* By a loop for reals; of complex numbers, where branches have to be chosen, principal.c makes it. */
lam_tensor *lam_mish(lam_tensor *x) {
    return lam__cplx_is(x) ? lam__plane_mish(x) : lam__apply_unary(&lam__row_mish, x);
}

/* One order more of the same family; the parameter is 0 for the first derivative. The kernel knows LAM__MISH_ORDERS. */
static lam_tensor *slope_mish_slope(const lam_rule *r, int i, lam_tensor *t) {
    const int64_t order = *(const int64_t *)r->params;
    (void)i;
    if (order == LAM__MISH_ORDERS)
        return lam__axes_fail("mish", r->in[0], LAM_ERR_RULE, "derivatives end with order %d", LAM__MISH_ORDERS + 1);
    return lam_mul(t, lam__apply_coded(r->primitive, order + 1, 1, r->in));
}

/* The parameter counts derivatives, beginning with the first as 0. */
const lam_primitive lam__row_mish_slope = {
    .name = "mish_slope",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_mish_slope + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_mish_slope,
    .saves = LAM_SAVE_IN(0),
    .layout = "l member",
};

lam_tensor *lam_mish_slope(lam_tensor *x) {
    return lam__apply_coded(&lam__row_mish_slope, 0, 1, &x);
}

/* t / (1 + |x|)^2. Two quotients, since the square leaves the range where they do not. The result is of no use here: 1
 * - |y| has no digits left where x is large. */
static lam_tensor *slope_softsign(const lam_rule *r, int i, lam_tensor *t) {
    lam_tensor *bound = lam_add(lam_abs(r->in[i]), 1.0);
    return lam_div(lam_div(t, bound), bound);
}

/* A row, since of the slope of the quotient two large terms would be left that cancel. */
const lam_primitive lam__row_softsign = {
    .name = "softsign",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_softsign + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_softsign,
    .saves = LAM_SAVE_IN(0),
};

lam_tensor *lam_softsign(lam_tensor *x) {
    return lam__apply_unary(&lam__row_softsign, x);
}

/* The first half of the axis times the logistic function of the second. The two are views, so one product is all. */
lam_tensor *lam_glu(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    if (!lam__apply_axis("glu", x, own.rank, &axis)) return lam__axes_failed(x);
    int64_t size = own.rank ? own.dims[axis] : 0, half = size / 2;
    if (size % 2) return lam__axes_fail("glu", x, LAM_ERR_SHAPE, "axis %d cannot be halved", axis);
    return lam__scope_only(lam_mul(lam_slice_axis(x, axis, 0, half), lam_logistic(lam_slice_axis(x, axis, half, size))),
                           since);
}
