/* The operations. Names and argument orders follow jax.numpy and lax: tensor first, options last. All tensors of one
 * call belong to one context; dtypes are promoted (bool < integers < floats < complex; the wider of two; an integer
 * with a float takes the float's; f64 with c64 gives c128). complex.h says which operations take complex numbers. Each
 * operation works at every level. Not repeated below, because it holds for all: an operation given a failed tensor
 * returns the failed tensor; NULL, freed, escaped, captured operands and those of another context are failures; results
 * belong to the current scope; every operation may fail with LAM_ERR_MEMORY. An empty list belongs to no context: what
 * it fails with is on no record, and the result is a failed tensor of no context.
 *
 * Derivatives at singular points: sub-gradients as in JAX unless a reason is given. An infinite slope is multiplied
 * like any other, so that a tangent or cotangent of 0 gives NaN there; absent ones (NULL) give none.
 *   abs, copysign at 0           0, the middle of the sub-gradients: x and -x are treated alike (JAX gives 1)
 *   sign floor ceil round trunc  0 everywhere, also at the steps
 *   sqrt, cbrt at 0              inf; rsqrt, reciprocal at 0: -inf
 *   log, log2, log10 at 0        inf; log1p at -1: inf
 *   asin, acos at -1 and 1       inf, -inf; atanh there and acosh at 1: inf
 *   outside the domain           by the formula of the derivative, though the value is NaN: log at -1 has -1
 *   pow by x at y = 0            0, also at x = 0
 *   pow by y at x = 0            0 for y >= 0: x^y is constant in y > 0 (no NaN from 0 times log 0); NaN for y < 0
 *   pow by y at x < 0            NaN, as x^y has no neighbours in y
 *   integer_pow with n = 0       0
 *   max, min at a tie            1/2 to each operand
 *   max, min where NaN wins      0 to both operands, as in JAX; of reductions 1 to the NaN, shared by several
 *   clamp at an edge             0, by x as by lo and hi
 *   hypot at the origin          0, 0 (JAX gives NaN; 0 is in the sub-differential of the cone)
 *   atan2 at the origin          NaN: no direction is distinguished
 *   where, max, min, clamp       exactly 0 to elements not taken, even if inf or NaN comes back; likewise the
 *                                reductions max and min. But in where(x > 0, sqrt(x), y) at x = 0 the 0 is then
 *                                multiplied by the slope of sqrt and gives NaN. Guard the operand as well:
 *                                where(x > 0, sqrt(where(x > 0, x, 1)), y) has the gradient 0
 *   max_reduce, min_reduce, tie  shared equally among the elements that tie
 *   reduce_window_max, ..., tie  the first of those that tie, in row-major order
 *   prod with zeros              exact: products of the others, no division
 *   cummax, cummin, tie          shared equally among those so far that tie
 *   cumprod with zeros           exact, as for prod
 *   logsumexp with all -inf      0; with inf shared equally among those (cumlogsumexp: those so far)
 *   logaddexp, equal infinities  1/2 to each operand
 *   norm at 0, std of equal ones 0
 *   xlogy at x = 0               by x: log(y) for finite y > 0, 0 for other y; by y: 0
 */
#ifndef LAMINA_OPS_H
#define LAMINA_OPS_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- from nothing ---------------------------------------------------------------------------------------- */

/* A tensor with its own memory, filled with zeros, ones, `value` converted to dtype; lam_empty: unspecified until
 * written.
 * Fails   LAM_ERR_DTYPE, LAM_ERR_RANK, LAM_ERR_VALUE for impossible dtype and dims; LAM_ERR_OVERFLOW. */
LAM_API lam_tensor *lam_zeros(lam_ctx *ctx, lam_dtype dtype, lam_dims dims);
LAM_API lam_tensor *lam_ones(lam_ctx *ctx, lam_dtype dtype, lam_dims dims);               /* Fails as lam_zeros does. */
LAM_API lam_tensor *lam_full(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, double value); /* Fails as lam_zeros does. */
LAM_API lam_tensor *lam_empty(lam_ctx *ctx, lam_dtype dtype, lam_dims dims);              /* Fails as lam_zeros does. */

/* One value broadcast to dtype and dims of x (per example inside vmap): takes no memory; a constant, not a function of
 * x.
 * Fails   like any use of a handle. */
LAM_API lam_tensor *lam_zeros_like(lam_tensor *x);
LAM_API lam_tensor *lam_ones_like(lam_tensor *x);               /* Fails like any use of a handle. */
LAM_API lam_tensor *lam_full_like(lam_tensor *x, double value); /* Fails like any use of a handle. */
LAM_API lam_tensor *lam_empty_like(lam_tensor *x);              /* Zeros. Fails like any use of a handle. */

/* A rows x columns matrix of zeros with ones on the main diagonal. Fails as lam_zeros does. */
LAM_API lam_tensor *lam_eye(lam_ctx *ctx, lam_dtype dtype, int64_t rows, int64_t columns);

/* start, start + step, ... before stop; each element is start + i step, rounded once.
 * Shape   [ceil((stop - start) / step)], none if negative.
 * Fails   LAM_ERR_VALUE if that is not finite. */
LAM_API lam_tensor *lam_arange(lam_ctx *ctx, lam_dtype dtype, double start, double stop, double step);

/* count points from start to stop, both included; rounded down for integer dtypes.
 * Shape   [count].
 * Fails   LAM_ERR_VALUE for a negative count. */
LAM_API lam_tensor *lam_linspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count);

/* Each element is its own index along `axis`.
 * Shape   dims.
 * Fails   LAM_ERR_AXIS; as lam_zeros does. */
LAM_API lam_tensor *lam_iota(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, int axis);

/* ---- elementwise: one operand -------------------------------------------------------------------------- */

/* Minus x; integers wrap.
 * Fails   LAM_ERR_DTYPE for bool. Owner: current scope. Derivative: -1. */
LAM_API lam_tensor *lam_neg(lam_tensor *x);

/* Absolute value; integers wrap; real for complex x.
 * Fails   LAM_ERR_DTYPE for bool. Owner: current scope. Derivative: sign(x), 0 at 0. */
LAM_API lam_tensor *lam_abs(lam_tensor *x);

/* -1, 0 or 1; keeps the sign of a zero and NaN. For complex x: x / |x|, 0 at 0.
 * Fails   LAM_ERR_DTYPE for bool. Owner: current scope. Derivative: 0; for complex x that of x / |x|. */
LAM_API lam_tensor *lam_sign(lam_tensor *x);

/* x times x; integers wrap.
 * Fails   LAM_ERR_DTYPE for bool. Owner: current scope. Derivative: 2 x. */
LAM_API lam_tensor *lam_square(lam_tensor *x);

/* Greatest integer not above x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 0. */
LAM_API lam_tensor *lam_floor(lam_tensor *x);

/* Least integer not below x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 0. */
LAM_API lam_tensor *lam_ceil(lam_tensor *x);

/* Nearest integer, halves to the even one. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 0. */
LAM_API lam_tensor *lam_round(lam_tensor *x);

/* Integer next to x towards zero. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 0. */
LAM_API lam_tensor *lam_trunc(lam_tensor *x);

/* Square root; NaN below 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (2 sqrt(x)), inf at 0. */
LAM_API lam_tensor *lam_sqrt(lam_tensor *x);

/* 1 / sqrt(x). Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -x^(-3/2) / 2. */
LAM_API lam_tensor *lam_rsqrt(lam_tensor *x);

/* Cube root, real for negative x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: x^(-2/3) / 3, inf at 0. */
LAM_API lam_tensor *lam_cbrt(lam_tensor *x);

/* 1 / x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -1 / x^2. */
LAM_API lam_tensor *lam_reciprocal(lam_tensor *x);

/* e to the x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: exp(x). */
LAM_API lam_tensor *lam_exp(lam_tensor *x);

/* 2 to the x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: log(2) 2^x. */
LAM_API lam_tensor *lam_exp2(lam_tensor *x);

/* exp(x) - 1, accurate near 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: exp(x). */
LAM_API lam_tensor *lam_expm1(lam_tensor *x);

/* Natural logarithm; NaN below 0, -inf at 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / x, inf at 0. */
LAM_API lam_tensor *lam_log(lam_tensor *x);

/* Logarithm to base 2. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (x log 2). */
LAM_API lam_tensor *lam_log2(lam_tensor *x);

/* Logarithm to base 10. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (x log 10). */
LAM_API lam_tensor *lam_log10(lam_tensor *x);

/* log(1 + x), accurate near 0. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (1 + x), inf at -1. */
LAM_API lam_tensor *lam_log1p(lam_tensor *x);

/* Sine; x in radians. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: cos(x). */
LAM_API lam_tensor *lam_sin(lam_tensor *x);

/* Cosine; x in radians. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -sin(x). */
LAM_API lam_tensor *lam_cos(lam_tensor *x);

/* Tangent; x in radians. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 + tan(x)^2. */
LAM_API lam_tensor *lam_tan(lam_tensor *x);

/* Inverse sine, in radians; NaN beyond [-1, 1]. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / sqrt(1 - x^2), inf at -1 and 1. */
LAM_API lam_tensor *lam_asin(lam_tensor *x);

/* Inverse cosine, in radians; NaN beyond [-1, 1]. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -1 / sqrt(1 - x^2), -inf at -1 and 1. */
LAM_API lam_tensor *lam_acos(lam_tensor *x);

/* Inverse tangent, in radians. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (1 + x^2). */
LAM_API lam_tensor *lam_atan(lam_tensor *x);

/* Hyperbolic sine. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: cosh(x). */
LAM_API lam_tensor *lam_sinh(lam_tensor *x);

/* Hyperbolic cosine. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: sinh(x). */
LAM_API lam_tensor *lam_cosh(lam_tensor *x);

/* Hyperbolic tangent. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / cosh(x)^2. */
LAM_API lam_tensor *lam_tanh(lam_tensor *x);

/* Inverse hyperbolic sine. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / sqrt(1 + x^2). */
LAM_API lam_tensor *lam_asinh(lam_tensor *x);

/* Inverse hyperbolic cosine; NaN below 1. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / sqrt((x - 1)(x + 1)), inf at 1, NaN below. */
LAM_API lam_tensor *lam_acosh(lam_tensor *x);

/* Inverse hyperbolic tangent; NaN beyond [-1, 1]. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 1 / (1 - x^2), inf at -1 and 1. */
LAM_API lam_tensor *lam_atanh(lam_tensor *x);

/* 1 / (1 + exp(-x)), without overflow. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: s (1 - s) with s the result. */
LAM_API lam_tensor *lam_logistic(lam_tensor *x);

/* Error function. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: 2 exp(-x^2) / sqrt(pi). */
LAM_API lam_tensor *lam_erf(lam_tensor *x);

/* 1 - erf(x), accurate for large x. Integers are taken as f64.
 * Fails   like any use of a handle. Owner: current scope. Derivative: -2 exp(-x^2) / sqrt(pi). */
LAM_API lam_tensor *lam_erfc(lam_tensor *x);

/* Whether x is neither infinite nor NaN.
 * Shape   that of x, bool.
 * Fails   like any use of a handle. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_is_finite(lam_tensor *x);

/* Whether x is NaN.
 * Shape   that of x, bool.
 * Fails   like any use of a handle. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_is_nan(lam_tensor *x);

/* Logical not of a bool, bitwise not of an integer.
 * Fails   LAM_ERR_DTYPE for floats. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_not(lam_tensor *x);

/* x in another dtype, as C converts; float to integer saturates, NaN gives 0; anything but 0 is true.
 * Fails   LAM_ERR_DTYPE for an invalid dtype, and from complex to anything else: take the part that is meant
 *         (lam_real). Derivative: identity between floats and complex numbers, none otherwise. */
LAM_API lam_tensor *lam_cast(lam_tensor *x, lam_dtype dtype);

/* x with every derivative of it zero, in both modes and at all levels.
 * Fails   like any use of a handle. Derivative: 0. */
LAM_API lam_tensor *lam_stop_gradient(lam_tensor *x);

/* ---- elementwise: two and three operands ------------------------------------------------------------------ */

/* Whether x = y, element by element; false where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_eq(lam_tensor *x, lam_tensor *y);

/* Whether x is not y, element by element; true where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_ne(lam_tensor *x, lam_tensor *y);

/* Whether x < y, element by element; false where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_lt(lam_tensor *x, lam_tensor *y);

/* Whether x <= y, element by element; false where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_le(lam_tensor *x, lam_tensor *y);

/* Whether x > y, element by element; false where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_gt(lam_tensor *x, lam_tensor *y);

/* Whether x >= y, element by element; false where one is NaN.
 * Shape   x and y broadcast; bool.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_ge(lam_tensor *x, lam_tensor *y);

/* Logical and of bools, bitwise and of integers.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_DTYPE for floats; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_and(lam_tensor *x, lam_tensor *y);

/* Logical or of bools, bitwise or of integers.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_DTYPE for floats; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_or(lam_tensor *x, lam_tensor *y);

/* Logical xor of bools, bitwise xor of integers.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_DTYPE for floats; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_xor(lam_tensor *x, lam_tensor *y);

/* Sum.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1, 1. */
LAM_API lam_tensor *lam_add(lam_tensor *x, lam_tensor *y);

/* Difference.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: 1, -1. */
LAM_API lam_tensor *lam_sub(lam_tensor *x, lam_tensor *y);

/* Product.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: y, x. */
LAM_API lam_tensor *lam_mul(lam_tensor *x, lam_tensor *y);

/* Quotient; integers are taken as f64.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1 / y, -x / y^2. */
LAM_API lam_tensor *lam_div(lam_tensor *x, lam_tensor *y);

/* Remainder with the sign of x, as C's fmod and %; an integer by 0 gives 0.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: 1, -trunc(x / y). */
LAM_API lam_tensor *lam_rem(lam_tensor *x, lam_tensor *y);

/* x to the y; integers are taken as f64.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: y x^(y-1), x^y log(x); see the table. */
LAM_API lam_tensor *lam_pow(lam_tensor *x, lam_tensor *y);

/* The larger; NaN wins.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: 1 where larger, 1/2 at a tie. */
LAM_API lam_tensor *lam_max(lam_tensor *x, lam_tensor *y);

/* The smaller; NaN wins.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: 1 where smaller, 1/2 at a tie. */
LAM_API lam_tensor *lam_min(lam_tensor *x, lam_tensor *y);

/* Angle of the point (y, x), in radians; x here is the ordinate.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: y / (x^2 + y^2), -x / (x^2 + y^2). */
LAM_API lam_tensor *lam_atan2(lam_tensor *x, lam_tensor *y);

/* sqrt(x^2 + y^2) without overflow.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: x / hypot, y / hypot; 0 at the origin. */
LAM_API lam_tensor *lam_hypot(lam_tensor *x, lam_tensor *y);

/* |x| with the sign of y.
 * Shape   x and y broadcast; the dtype is the promoted one. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE. Owner: current scope. Derivative: sign(x) sign(y), 0. */
LAM_API lam_tensor *lam_copysign(lam_tensor *x, lam_tensor *y);

/* Rebinds x to lam_add(x, y), in x's own memory if nothing else uses it; the others likewise. A C number may stand for
 * y.
 * Fails   as lam_assign_ does, LAM_ERR_DTYPE where the result would have another dtype. Returns x. */
LAM_API lam_tensor *lam_add_(lam_tensor *x, lam_tensor *y);
LAM_API lam_tensor *lam_sub_(lam_tensor *x, lam_tensor *y); /* Fails as lam_add_ does. */
LAM_API lam_tensor *lam_mul_(lam_tensor *x, lam_tensor *y); /* Fails as lam_add_ does. */
LAM_API lam_tensor *lam_div_(lam_tensor *x, lam_tensor *y); /* Fails as lam_add_ does. */

/* x where the condition holds, else y. Elements not taken get a gradient of exactly 0; see the table.
 * Shape   all three broadcast; condition is bool. C numbers may stand for x and y.
 * Fails   LAM_ERR_DTYPE unless condition is bool; LAM_ERR_SHAPE. Owner: current scope.
 * Derivative  by x 1 where taken, by y 1 elsewhere. */
LAM_API lam_tensor *lam_where(lam_tensor *condition, lam_tensor *x, lam_tensor *y);

/* min(max(x, lo), hi).
 * Shape   all three broadcast. C numbers may stand for lo and hi.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: 1 inside and at NaN, 0 outside and at the edges. */
LAM_API lam_tensor *lam_clamp(lam_tensor *x, lam_tensor *lo, lam_tensor *hi);

/* x y + z, rounded once; integers are taken as f64. Shape: all three broadcast. C numbers may stand for y and z.
 * Fails   LAM_ERR_SHAPE. Owner: current scope. Derivative: y, x, 1. */
LAM_API lam_tensor *lam_fma(lam_tensor *x, lam_tensor *y, lam_tensor *z);

/* x to an integer power by repeated multiplication.
 * Fails   LAM_ERR_DTYPE for bool. Owner: current scope. Derivative: n x^(n-1), 0 for n = 0. */
LAM_API lam_tensor *lam_integer_pow(lam_tensor *x, int n);

/* log(exp(x) + exp(y)) without overflow.
 * Shape   x and y broadcast. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Derivative: exp(x - result), exp(y - result). */
LAM_API lam_tensor *lam_logaddexp(lam_tensor *x, lam_tensor *y);

/* x log(y), 0 where x is 0.
 * Shape   x and y broadcast. A C number may stand for x or y.
 * Fails   LAM_ERR_SHAPE. Derivative: log(y), x / y. */
LAM_API lam_tensor *lam_xlogy(lam_tensor *x, lam_tensor *y);

/* The sum of all terms, left to right.
 * Shape   the terms broadcast.
 * Fails   LAM_ERR_SHAPE. An empty list has no context: the result is the failed tensor of the static failed context,
 *         which the first operation that uses it reports (LAM_ERR_CONTEXT). Derivative: 1 for each. */
LAM_API lam_tensor *lam_add_all(lam_list terms);

/* ---- layout ------------------------------------------------------------------------------------------------ */

/* x with other dims and the same elements in row-major order; one size may be -1: inferred from the others.
 * Fails   LAM_ERR_SHAPE, LAM_ERR_VALUE, LAM_ERR_RANK, LAM_ERR_OVERFLOW for impossible dims. Derivative: identity. */
LAM_API lam_tensor *lam_reshape(lam_tensor *x, lam_dims dims);

/* Axes in another order: axis i of the result is axis axes[i] of x; no list reverses them.
 * Fails   LAM_ERR_AXIS unless each axis is named once. Derivative: identity. */
LAM_API lam_tensor *lam_transpose(lam_tensor *x, lam_axes axes);

/* One axis moved to another place, the others in their order.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_moveaxis(lam_tensor *x, int from, int to);

/* x repeated along axes of one element and new leading axes to the given dims.
 * Fails   LAM_ERR_SHAPE if a size is neither equal nor 1; LAM_ERR_VALUE, LAM_ERR_RANK, LAM_ERR_OVERFLOW. Derivative:
 *         identity; the transpose sums. */
LAM_API lam_tensor *lam_broadcast_to(lam_tensor *x, lam_dims dims);

/* A new axis of one element that becomes axis `axis` of the result.
 * Fails   LAM_ERR_AXIS; LAM_ERR_RANK. Derivative: identity. */
LAM_API lam_tensor *lam_expand_dims(lam_tensor *x, int axis);

/* Without the named axes, which have one element each; no list: without every axis of one element.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE if a named axis has another size. Derivative: identity. */
LAM_API lam_tensor *lam_squeeze(lam_tensor *x, lam_axes axes);

/* x in row-major memory without gaps: x itself if it already is.
 * Fails   like any use of a handle. Derivative: identity. */
LAM_API lam_tensor *lam_contiguous(lam_tensor *x);

/* Elements starts to stops (excluded) by steps along each axis; negative numbers count from the end, LAM_END means up
 * to the end in the direction of the step, LAM_DIMS0 as steps means all 1; bounds outside are clipped. A view.
 * Shape   per axis, the number of steps that fit.
 * Fails   LAM_ERR_SHAPE for lists whose length is not the rank; LAM_ERR_VALUE for a step of 0. Derivative: identity. */
LAM_API lam_tensor *lam_slice(lam_tensor *x, lam_dims starts, lam_dims stops, lam_dims steps);

/* Elements start to stop (excluded) of one axis, as lam_slice.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_slice_axis(lam_tensor *x, int axis, int64_t start, int64_t stop);

/* One element of an axis, which is removed; a negative index counts from the end.
 * Fails   LAM_ERR_AXIS; LAM_ERR_INDEX. Derivative: identity. */
LAM_API lam_tensor *lam_index(lam_tensor *x, int axis, int64_t index);

/* The named axes backwards; no list: all. A view.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_reverse(lam_tensor *x, lam_axes axes);

/* x with the elements that lam_slice would select replaced by value, which is broadcast and cast to them.
 * Fails   as lam_slice does. Derivative: by x 1 elsewhere, 0 there; by value 1. */
LAM_API lam_tensor *lam_update_slice(lam_tensor *x, lam_tensor *value, lam_dims starts, lam_dims stops, lam_dims steps);

/* Rebinds x to lam_update_slice of it, in x's own memory if nothing else uses it.
 * Fails   as lam_update_slice and lam_assign_. Returns x. */
LAM_API lam_tensor *lam_set_(lam_tensor *x, lam_tensor *value, lam_dims starts, lam_dims stops, lam_dims steps);

/* The tensors one after another along an axis; dtypes are promoted.
 * Shape   sizes of all other axes equal.
 * Fails   LAM_ERR_ARITY for none; LAM_ERR_SHAPE; LAM_ERR_AXIS; LAM_ERR_RANK for rank 0. Derivative: identity. */
LAM_API lam_tensor *lam_concatenate(lam_list list, int axis);

/* Tensors of one shape along a new axis that becomes `axis` of the result.
 * Fails   as lam_concatenate. Derivative: identity. */
LAM_API lam_tensor *lam_stack(lam_list list, int axis);

/* The parts of x at each index of `axis`, without that axis: the opposite of lam_stack, and the way to split a tensor
 * into all its parts in one operation (its derivative stacks their cotangents).
 * Shape   out[i]: x's without the axis; n_out is the size of the axis.
 * Fails   LAM_ERR_AXIS; LAM_ERR_ARITY unless n_out is the size of the axis; LAM_ERR_NULL.
 * Owner   out: current scope. */
LAM_API lam_status lam_unstack(lam_tensor *x, int axis, lam_tensor **out, size_t n_out);

/* n_out parts of x along `axis`, one after the other: the opposite of lam_concatenate.
 * Shape   out[i]: x's with sizes[i] elements on the axis.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE unless the sizes add up to that of the axis; LAM_ERR_NULL.
 * Owner   out: current scope. */
LAM_API lam_status lam_split_sizes(lam_tensor *x, int axis, const int64_t *sizes, lam_tensor **out, size_t n_out);

typedef struct lam_pad_options {
    double value;      /* of the padding around and between */
    lam_dims interior; /* elements put between neighbours, per axis; rank 0: none */
} lam_pad_options;

/* x with low elements of padding before, high after (negative: cut off) and interior between, per axis.
 * Shape   per axis n + (n - 1) interior + low + high; low + high if n is 0.
 * Units   elements.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_VALUE for negative interior. Derivative: identity on x. */
LAM_API lam_tensor *lam_pad(lam_tensor *x, lam_dims low, lam_dims high, const lam_pad_options *options);

#ifdef __cplusplus
}
#endif

#include <lamina/arrange.h>
#include <lamina/bits.h>
#include <lamina/complex.h>
#include <lamina/convolution.h>
#include <lamina/fft.h>
#include <lamina/indexing.h>
#include <lamina/linalg.h>
#include <lamina/neural.h>
#include <lamina/numeric.h>
#include <lamina/polynomial.h>
#include <lamina/reductions.h>
#include <lamina/special.h>
#include <lamina/literals.h>

#endif
