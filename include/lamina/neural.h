/* Neural networks: activations, losses, normalisation, attention, and functions given by points. Integers are taken as
 * f64 unless stated otherwise. The opening comment of ops.h applies here too. */
#ifndef LAMINA_NEURAL_H
#define LAMINA_NEURAL_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- activations ------------------------------------------------------------------------------------------------- */

/* y where x > 0 or is NaN, else slope y: with y = x a function with a kink at 0, with another y its derivative along y,
 * in one pass. A slope of 0 gives 0 even where y is not finite. Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands.
 * Owner   current scope. Derivative: by y 1 or slope, by x 0. */
LAM_API lam_tensor *lam_ramp(lam_tensor *x, lam_tensor *y, double slope);

/* max(x, 0), in the dtype of x; NaN gives NaN.
 * Fails   like any use of a handle. Derivative: 1 for x > 0 and NaN, else 0. */
LAM_API lam_tensor *lam_relu(lam_tensor *x);

/* relu(x), at most 6.
 * Fails   like any use of a handle. Derivative: 1 for 0 < x < 6 and NaN, else 0. */
LAM_API lam_tensor *lam_relu6(lam_tensor *x);

/* x for x > 0, else slope x.
 * Fails   like any use of a handle. Derivative: 1 for x > 0, else slope. */
LAM_API lam_tensor *lam_leaky_relu(lam_tensor *x, double slope);

/* x for x > 0, else alpha (exp(x) - 1).
 * Fails   like any use of a handle. Derivative: 1 for x > 0, else alpha exp(x). */
LAM_API lam_tensor *lam_elu(lam_tensor *x, double alpha);

/* x for x > 0, else alpha (exp(x / alpha) - 1).
 * Fails   like any use of a handle. Derivative: 1 for x > 0, else exp(x / alpha). */
LAM_API lam_tensor *lam_celu(lam_tensor *x, double alpha);

/* 1.0507... elu(x, 1.6733...), which keeps mean 0 and variance 1.
 * Fails   like any use of a handle. Derivative: that of elu, scaled. Source: Klambauer et al. 2017. */
LAM_API lam_tensor *lam_selu(lam_tensor *x);

/* x ndtr(x), exact: not the approximation by tanh.
 * Fails   like any use of a handle. Derivative: ndtr(x) + x times the normal density. */
LAM_API lam_tensor *lam_gelu(lam_tensor *x);

/* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2, the approximation of gelu.
 * Fails   like any use of a handle. Derivative: lam_gelu_tanh_slope. Source: Hendrycks and Gimpel 2016. */
LAM_API lam_tensor *lam_gelu_tanh(lam_tensor *x);

/* x logistic(x). (swish elsewhere.)
 * Fails   like any use of a handle. Derivative: s + x s (1 - s) with s = logistic(x). */
LAM_API lam_tensor *lam_silu(lam_tensor *x);

/* x tanh(softplus(x)).
 * Fails   like any use of a handle. Derivative: lam_mish_slope(x). */
LAM_API lam_tensor *lam_mish(lam_tensor *x);

/* x / (1 + |x|).
 * Fails   like any use of a handle. Derivative: 1 / (1 + |x|)^2, 1 at 0. */
LAM_API lam_tensor *lam_softsign(lam_tensor *x);

/* x between -1 and 1, in the dtype of x.
 * Fails   like any use of a handle. Derivative: 1 inside, 0 outside and at the edges. */
LAM_API lam_tensor *lam_hard_tanh(lam_tensor *x);

/* y relu6(x + 3) / 6: with y = 1 and y = x the two functions below, with another y the derivative of the second by y,
 * in one pass. Integers are taken as f64.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands.
 * Owner   current scope. Derivative: by y hard_sigmoid(x), by x y/6 for -3 < x < 3, else 0. */
LAM_API lam_tensor *lam_hard_gate(lam_tensor *x, lam_tensor *y);

/* relu6(x + 3) / 6.
 * Fails   like any use of a handle. Derivative: 1/6 for -3 < x < 3, else 0. */
LAM_API lam_tensor *lam_hard_sigmoid(lam_tensor *x);

/* x hard_sigmoid(x).
 * Fails   like any use of a handle. Derivative: (2 x + 3)/6 for -3 < x < 3, 0 up to there and 1 from there on. */
LAM_API lam_tensor *lam_hard_silu(lam_tensor *x);

/* Its derivative: (2 x + 3)/6 for -3 < x < 3, 0 up to there and 1 from there on.
 * Fails   like any use of a handle. Derivative: 1/3 for -3 < x < 3, else 0. */
LAM_API lam_tensor *lam_hard_silu_slope(lam_tensor *x);

/* (x + sqrt(x^2 + b)) / 2 for b >= 0, without cancellation: relu for b = 0.
 * Fails   LAM_ERR_VALUE for a negative b; LAM_ERR_DTYPE for complex operands.
 *         Derivative: (1 + x / sqrt(x^2 + b)) / 2. */
LAM_API lam_tensor *lam_squareplus(lam_tensor *x, double b);

/* The same with b as an operand, NaN where b is negative; and its derivative by x, 0 where x and b are 0, like that of
 * relu.
 * Shape   x and b broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands.
 *         Derivative: by x lam_squareplus_slope, by b 1/(4 s) with s = sqrt(x^2 + b); b/(2 s^3) and -x/(4 s^3). */
LAM_API lam_tensor *lam_squareplus_with(lam_tensor *x, lam_tensor *b);
LAM_API lam_tensor *lam_squareplus_slope(lam_tensor *x, lam_tensor *b); /* Fails as lam_squareplus_with does. */

/* 0 up to -1, x from 1 on, (x + 1)^2 / 4 between; and its derivative: 0 up to -1, 1 from 1 on, (x + 1) / 2 between.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: lam_sparse_sigmoid; 1/2 for -1 < x < 1, else 0. */
LAM_API lam_tensor *lam_sparse_plus(lam_tensor *x);
LAM_API lam_tensor *lam_sparse_sigmoid(lam_tensor *x); /* Fails as lam_sparse_plus does. */

/* log(1 - exp(-x)) for x > 0, accurate at both ends; -inf at 0, NaN below.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: 1 / (exp(x) - 1), inf at 0. */
LAM_API lam_tensor *lam_log1mexp(lam_tensor *x);

/* 1 / (exp(x) - 1) for x > 0, even where exp(x) is out of range; inf at 0, NaN below.
 * Fails   LAM_ERR_DTYPE for complex operands. Derivative: -y (1 + y) for the result y. */
LAM_API lam_tensor *lam_log1mexp_slope(lam_tensor *x);

/* The first half of the axis times logistic of the second.
 * Shape   that axis halved.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE for an odd size. Derivative: that of the product. */
LAM_API lam_tensor *lam_glu(lam_tensor *x, int axis);

/* ---- losses ------------------------------------------------------------------------------------------------------ */

/* (predictions - targets)^2.
 * Shape   both broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: twice the difference. */
LAM_API lam_tensor *lam_squared_error(lam_tensor *predictions, lam_tensor *targets);

/* r^2/2 for a difference r of at most delta, beyond it delta |r| - delta^2/2.
 * Shape   both broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex numbers. Derivative: r, at most delta. */
LAM_API lam_tensor *lam_huber_loss(lam_tensor *predictions, lam_tensor *targets, double delta);

/* log(cosh(predictions - targets)), without overflow, within 1 ULP. Integers are taken as f64.
 * Shape   both broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: tanh of the difference. */
LAM_API lam_tensor *lam_log_cosh(lam_tensor *predictions, lam_tensor *targets);

/* weight times x, but 0 where the weight is 0, whatever x is. Integers are taken as f64.
 * Shape   weight and x broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands.
 *         Derivative: by x the weight; by the weight x, but 0 where the weight is 0 and x not finite. */
LAM_API lam_tensor *lam_weigh(lam_tensor *weight, lam_tensor *x);

/* Minus the sum of labels log_softmax(logits) along the axis; labels are a distribution. A label of 0 contributes
 * nothing, even where its logit is -inf.
 * Shape   both broadcast, without the axis.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_AXIS. Derivative: softmax(logits) - labels where labels add up to 1. */
LAM_API lam_tensor *lam_softmax_cross_entropy(lam_tensor *logits, lam_tensor *labels, int axis);

/* The same for labels that are the index of the right class along the axis.
 * Shape   logits without the axis, which is the shape of labels.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_AXIS; LAM_ERR_DTYPE unless labels are integers; LAM_ERR_INDEX. Derivative: softmax of
 *         logits, minus one at the label. */
LAM_API lam_tensor *lam_softmax_cross_entropy_with_integer_labels(lam_tensor *logits, lam_tensor *labels, int axis);

/* -labels log(p) - (1 - labels) log(1 - p) with p = logistic(logits), for labels from 0 to 1.
 * Shape   both broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: by the logits p - labels, by the labels -logits. */
LAM_API lam_tensor *lam_sigmoid_binary_cross_entropy(lam_tensor *logits, lam_tensor *labels);

/* The sum of targets (log(targets) - log_predictions) along the axis; a target of 0 contributes nothing.
 * Shape   both broadcast, without the axis.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_AXIS. Derivative: by log_predictions -targets,
 * by targets log(targets) + 1 - log_predictions. */
LAM_API lam_tensor *lam_kl_divergence(lam_tensor *log_predictions, lam_tensor *targets, int axis);

/* The cosine of the angle between x and y along the axis; 0 with gradient 0 where one of them is 0.
 * Shape   x and y broadcast, without the axis.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_AXIS. Derivative: orthogonal to the operand. */
LAM_API lam_tensor *lam_cosine_similarity(lam_tensor *x, lam_tensor *y, int axis);

/* ---- normalisation ----------------------------------------------------------------------------------------------- */

typedef struct lam_normalize_options {
    lam_axes axes;  /* standardize, layer_norm, rms_norm: the axes normalised over; no list: the last axis */
    double epsilon; /* added to the variance; 0: 1e-5 */
} lam_normalize_options;

/* (x - mean) / sqrt(variance + epsilon) over the axes, which are moved together first if they are not neighbours.
 * Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: finite even where all elements are equal. */
LAM_API lam_tensor *lam_standardize(lam_tensor *x, const lam_normalize_options *options);

/* lam_standardize(x), times scale, plus offset; each of these may be NULL.
 * Shape   that of x, with which scale and offset broadcast.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: finite even where all elements are equal. */
LAM_API lam_tensor *lam_layer_norm(lam_tensor *x, lam_tensor *scale, lam_tensor *offset,
                                   const lam_normalize_options *options);

/* x / sqrt(mean of x^2 + epsilon) over the axes, times scale, which may be NULL.
 * Shape   that of x, with which scale broadcasts.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: finite even where x is 0. */
LAM_API lam_tensor *lam_rms_norm(lam_tensor *x, lam_tensor *scale, const lam_normalize_options *options);

/* (x - mean) / sqrt(var + epsilon), times scale, plus offset, with one of each per element of `axis`. A mean or var of
 * NULL is that of x over all other axes (training); otherwise pass stored ones (evaluation).
 * Shape   that of x; mean, var, scale, offset [size of axis]; scale and offset may be NULL.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: also through mean and var. */
LAM_API lam_tensor *lam_batch_norm(lam_tensor *x, int axis, lam_tensor *mean, lam_tensor *var, lam_tensor *scale,
                                   lam_tensor *offset, const lam_normalize_options *options);

/* ---- attention --------------------------------------------------------------------------------------------------- */

typedef struct lam_attention_options {
    lam_tensor *mask; /* bool, broadcasts to [..., n, m]: true where a query may attend to a key; NULL: everywhere */
    lam_tensor *bias; /* added to the scores, broadcasts to [..., n, m]; NULL: nothing */
    double scale;     /* of the products; 0: 1 / sqrt(d) */
    bool causal;      /* query i attends only to keys 0 to i */
} lam_attention_options;

/* softmax(scale query key^T + bias) value. A query that may attend to no key gives 0 and gradient 0.
 * Shape   query [..., n, d], key [..., m, d], value [..., m, e] to [..., n, e]; leading axes broadcast as in
 *         lam_matmul.
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE; LAM_ERR_DTYPE unless mask is bool. Derivative: by query, key, value and bias. */
LAM_API lam_tensor *lam_attention(lam_tensor *query, lam_tensor *key, lam_tensor *value,
                                  const lam_attention_options *options);

/* ---- functions given by points ----------------------------------------------------------------------------------- */

/* The value at x of the line through the points (xp, fp), xp ascending; beyond the ends the value of the end.
 * Shape   that of x; xp and fp [n], n > 0; fp may be complex.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex x and xp.
 *         Derivative: by x the slope of the piece to the right, 0 beyond the ends; by xp and fp. */
LAM_API lam_tensor *lam_interp(lam_tensor *x, lam_tensor *xp, lam_tensor *fp);

typedef struct lam_interp_options {
    const double *left, *right; /* the values below xp[0] and above the last of xp; NULL: the value of the end */
    bool extrapolate;           /* instead of these, the lines through the two points at each end */
    double period;              /* x and xp are angles of this period, xp in any order; 0: they are not */
} lam_interp_options;

/* lam_interp with other values beyond the ends, or around a circle, which has no ends.
 * Fails   as lam_interp does; LAM_ERR_VALUE for a period that is negative or not finite. Derivative: as lam_interp. */
LAM_API lam_tensor *lam_interp_with(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, const lam_interp_options *options);

/* lam_gradient of samples at points x, which need not be evenly spaced: inside the slope of the parabola through three
 * neighbours, at the ends that of one interval.
 * Shape   that of y; x [size of the axis] or broadcasting with y.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE, also for fewer than two samples. Derivative: by y and x. */
LAM_API lam_tensor *lam_gradient_at(lam_tensor *y, lam_tensor *x, int axis);

/* The integral of y along the axis by the trapezoidal rule, at points x, or dx apart if x is NULL.
 * Shape   y without the axis; x [size of the axis] or broadcasting with y.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: by y and x. */
LAM_API lam_tensor *lam_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis);

/* The integral by Simpson's rule, parabolas through three samples; if their number is even, the last interval uses the
 * parabola through the last three; for two samples a trapezoid, for fewer 0. Where points coincide, quotients by the
 * distance between them count as 0, as in SciPy.
 * Shape   y without the axis; x [size of the axis] or broadcasting with y.
 * Fails   as lam_trapezoid does. Derivative: by y and x.
 * Source  scipy.integrate.simpson; Cartwright 2017 for even numbers. */
LAM_API lam_tensor *lam_simpson(lam_tensor *y, lam_tensor *x, double dx, int axis);

/* The same up to each sample but the first.
 * Shape   y with the axis shorter by one.
 * Fails   as lam_trapezoid does. Derivative: by y and x. */
LAM_API lam_tensor *lam_cumulative_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis);

#ifdef __cplusplus
}
#endif
#endif
