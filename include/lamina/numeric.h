/* Remainders and quotients, comparisons up to rounding, differences along an axis, bins, grids. The opening comment of
 * ops.h applies here too. */
#ifndef LAMINA_NUMERIC_H
#define LAMINA_NUMERIC_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

/* Remainder with the sign of y: x - y floor(x / y), where lam_rem has the sign of x. An integer by 0 gives 0.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for bool and complex operands. Derivative: 1, -floor(x / y). */
LAM_API lam_tensor *lam_mod(lam_tensor *x, lam_tensor *y);

/* The quotient rounded down; lam_mod is the remainder. An integer by 0 gives 0; integers are exact, except the least
 * number by -1, which wraps.
 * Shape   as lam_mod.
 * Fails   as lam_mod does. Derivative: zero. */
LAM_API lam_tensor *lam_floor_divide(lam_tensor *x, lam_tensor *y);

/* Sine and cosine of x at once, which costs little more than one of them, and whose derivatives evaluate neither again;
 * x in radians. Integers are taken as f64. NULL for one that is not wanted.
 * Shape   both have that of x.
 * Fails   like any use of a handle; out[] then hold failed tensors. Owner: current scope.
 * Derivative: cos(x); -sin(x).
 * Source  Within 1 ULP. */
LAM_API lam_status lam_sincos(lam_tensor *x, lam_tensor **sine, lam_tensor **cosine);

/* sin(pi x) / (pi x), 1 at 0. Integers are taken as f64.
 * Fails   like any use of a handle. Derivative: exact, at 0 to any order. */
LAM_API lam_tensor *lam_sinc(lam_tensor *x);

/* 0 for x < 0, 1 for x > 0, y at 0; NaN stays.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Derivative: by x 0, by y 1 where x is 0. */
LAM_API lam_tensor *lam_heaviside(lam_tensor *x, lam_tensor *y);

/* Whether x has a minus sign, -0 and NaN included; bool.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: none. */
LAM_API lam_tensor *lam_signbit(lam_tensor *x);

/* Degrees as radians, and radians as degrees. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: pi / 180; 180 / pi. */
LAM_API lam_tensor *lam_deg2rad(lam_tensor *x);
LAM_API lam_tensor *lam_rad2deg(lam_tensor *x); /* Fails as lam_deg2rad does. */

/* For each element, the first choice whose condition is true, or `otherwise` where none is.
 * Shape   all broadcast; the dtype is the promoted one of the choices.
 * Fails   LAM_ERR_ARITY unless there is one choice for each condition; LAM_ERR_DTYPE unless conditions are bool;
 *         LAM_ERR_SHAPE. Derivative: as lam_where. */
LAM_API lam_tensor *lam_select(lam_list conditions, lam_list choices, lam_tensor *otherwise);

/* Whether x, or a part of complex x, is an infinity of either sign; bool.
 * Fails   like any use of a handle. Derivative: none. */
LAM_API lam_tensor *lam_is_inf(lam_tensor *x);

typedef struct lam_nan_to_num_options {
    double nan;           /* replaces NaN */
    const double *posinf; /* replaces infinity; NULL: the largest finite number */
    const double *neginf; /* replaces -infinity; NULL: the least finite number */
} lam_nan_to_num_options;

/* x with NaN and infinities replaced by numbers, in both parts of complex numbers. Integers are unchanged.
 * Fails   like any use of a handle. Derivative: 1 where x is unchanged, else 0. */
LAM_API lam_tensor *lam_nan_to_num(lam_tensor *x, const lam_nan_to_num_options *options);

/* The larger and the smaller of x and y; where one is NaN the other one, where both are NaN.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Derivative: as lam_max and lam_min, by the operand
 *         returned. */
LAM_API lam_tensor *lam_fmax(lam_tensor *x, lam_tensor *y);
LAM_API lam_tensor *lam_fmin(lam_tensor *x, lam_tensor *y); /* Fails as lam_fmax does. */

typedef struct lam_close_options {
    double rtol;    /* 0: 1e-5; negative: none */
    double atol;    /* 0: 1e-8; negative: none */
    bool equal_nan; /* NaN is close to NaN */
} lam_close_options;

/* Whether |x - y| <= atol + rtol |y|; an infinity is close only to itself. lam_all_close: whether all elements are.
 * Shape   x and y broadcast; bool. lam_all_close: rank 0.
 * Fails   LAM_ERR_SHAPE. Derivative: none. */
LAM_API lam_tensor *lam_is_close(lam_tensor *x, lam_tensor *y, const lam_close_options *options);
LAM_API lam_tensor *lam_all_close(lam_tensor *x, lam_tensor *y,
                                  const lam_close_options *options); /* Fails as lam_is_close does. */

/* Whether x and y have the same dims and elements; NaN equals nothing.
 * Shape   rank 0, bool.
 * Fails   like any use of a handle. Derivative: none. */
LAM_API lam_tensor *lam_array_equal(lam_tensor *x, lam_tensor *y);

/* ---- along an axis ----------------------------------------------------------------------------------------------- */

/* Differences of neighbours, n times. Bools are taken as i64.
 * Shape   the axis shorter by n, at least empty.
 * Fails   LAM_ERR_AXIS; LAM_ERR_VALUE for a negative n. Derivative: linear. */
LAM_API lam_tensor *lam_diff(lam_tensor *x, int64_t n, int axis);

/* Differences of neighbours of all elements in row-major order, with the vector `before` in front and `behind` at the
 * end; NULL: none.
 * Shape   a vector; the dtype is that of x.
 * Fails   LAM_ERR_DTYPE for bools, and for complex vectors beside real x. Derivative: linear. */
LAM_API lam_tensor *lam_ediff1d(lam_tensor *x, lam_tensor *before, lam_tensor *behind);

/* The slope along an axis of samples at distance h, from both neighbours, at the ends from one. Integers are taken as
 * f64. (For derivatives of functions see lam_grad.)
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE for fewer than two samples. Derivative: linear. */
LAM_API lam_tensor *lam_gradient(lam_tensor *x, double h, int axis);

/* x with multiples of the period added so that neighbours are at most half a period apart: continuous angles. A period
 * of 0 is 2 pi. Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_VALUE unless the period is finite and not negative; LAM_ERR_DTYPE for complex operands.
 *         Derivative: 1. */
LAM_API lam_tensor *lam_unwrap(lam_tensor *x, double period, int axis);

/* The elements of an axis in descending order; NaN comes first, equal ones stay in their order.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: dx in that order. */
LAM_API lam_tensor *lam_sort_descending(lam_tensor *x, int axis);

/* The indices that put an axis in descending order; i64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_argsort_descending(lam_tensor *x, int axis);

/* The index of the first largest (smallest) element along an axis that is not NaN; -1 where all are.
 * Shape   x without the axis, i64.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE if the axis has no elements; LAM_ERR_DTYPE for complex operands. Derivative:
 *         none. */
LAM_API lam_tensor *lam_nanargmax(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_nanargmin(lam_tensor *x, int axis); /* Fails as lam_nanargmax does. */

/* The bin of each element of x: how many of the ascending edges lie at or below it (right: below it). For descending
 * edges, how many lie above it (right: at or above it).
 * Shape   that of x; i64.
 * Fails   LAM_ERR_RANK unless edges is a vector; LAM_ERR_VALUE if its elements can be read and are not in order, or
 *         hold NaN. Derivative: none. */
LAM_API lam_tensor *lam_digitize(lam_tensor *x, lam_tensor *edges, bool right);

/* n_out parts of an axis, the first ones longer by one where the axis cannot be split evenly. Views.
 * Shape   n / n_out of n along the axis, in the first n % n_out parts one more.
 * Fails   LAM_ERR_AXIS; LAM_ERR_ARITY for no parts. Derivative: identity. */
LAM_API lam_status lam_array_split(lam_tensor *x, int axis, lam_tensor **out, size_t n_out);

/* ---- grids and indices ------------------------------------------------------------------------------------------- */

/* base^e for count exponents e from start to stop, both included.
 * Shape   [count].
 * Fails   LAM_ERR_VALUE for a negative count; LAM_ERR_DTYPE unless floating. */
LAM_API lam_tensor *lam_logspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count, double base);

/* count numbers from start to stop, both included and exact, each the same multiple of the one before.
 * Shape   [count].
 * Fails   LAM_ERR_VALUE for a negative count, or unless start and stop are finite, not 0 and of one sign; LAM_ERR_DTYPE
 *         unless floating. */
LAM_API lam_tensor *lam_geomspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count);

/* Bernoulli's numbers B_0 to B_n, with B_1 = -1/2.
 * Shape   [n + 1]. Beyond the range of the dtype, inf with their sign.
 * Fails   LAM_ERR_VALUE for a negative n; LAM_ERR_DTYPE unless floating. */
LAM_API lam_tensor *lam_bernoulli(lam_ctx *ctx, lam_dtype dtype, int64_t n);

/* Windows of count points that taper off towards both ends, symmetric, 1 in the middle: a triangle; raised cosines; and
 * I0(beta sqrt(1 - t^2)) / I0(beta) for t from -1 to 1.
 * Shape   [count]; a single point is 1.
 * Fails   LAM_ERR_VALUE for a negative count, or a beta that is not finite; LAM_ERR_DTYPE unless floating.
 * Source  numpy.bartlett, hanning, hamming, blackman, kaiser. */
LAM_API lam_tensor *lam_bartlett(lam_ctx *ctx, lam_dtype dtype, int64_t count);
LAM_API lam_tensor *lam_hanning(lam_ctx *ctx, lam_dtype dtype, int64_t count);  /* Fails as lam_bartlett does. */
LAM_API lam_tensor *lam_hamming(lam_ctx *ctx, lam_dtype dtype, int64_t count);  /* Fails as lam_bartlett does. */
LAM_API lam_tensor *lam_blackman(lam_ctx *ctx, lam_dtype dtype, int64_t count); /* Fails as lam_bartlett does. */
LAM_API lam_tensor *lam_kaiser(lam_ctx *ctx, lam_dtype dtype, int64_t count,
                               double beta); /* Fails as lam_bartlett does. */

/* Ones at and below a diagonal, zeros above it; offset as for lam_tril.
 * Shape   [rows, columns].
 * Fails   as lam_zeros does. */
LAM_API lam_tensor *lam_tri(lam_ctx *ctx, lam_dtype dtype, int64_t rows, int64_t columns, int64_t offset);

/* The indices, along each axis of a tensor of these dims, of the elements with these row-major numbers; out has
 * dims.rank entries. Numbers outside are clipped; negative ones count from the end.
 * Shape   that of numbers; i64.
 * Fails   LAM_ERR_DTYPE unless integers; LAM_ERR_VALUE for negative dims; LAM_ERR_RANK; LAM_ERR_NULL.
 *         Derivative: none. */
LAM_API lam_status lam_unravel_index(lam_tensor *numbers, lam_dims dims, lam_tensor **out);

/* The row-major numbers, in a tensor of these dims, of the elements whose indices along each axis the list holds:
 * undoes lam_unravel_index.
 * Shape   the indices broadcast; i64.
 * Fails   LAM_ERR_ARITY unless there is one for each axis; LAM_ERR_DTYPE unless integers; LAM_ERR_SHAPE;
 *         LAM_ERR_INDEX for one outside [-n, n). Derivative: none. */
LAM_API lam_tensor *lam_ravel_index(lam_list indices, lam_dims dims);

#ifdef __cplusplus
}
#endif
#endif
