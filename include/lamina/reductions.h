/* Operations that combine the elements along axes: reductions, functions made of them, and scans. The opening comment
 * of ops.h applies here too; its table gives the derivatives at ties, zeros and infinities. */
#ifndef LAMINA_REDUCTIONS_H
#define LAMINA_REDUCTIONS_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions --------------------------------------------------------------------------------------------- */

typedef struct lam_reduce_options {
    lam_axes axes; /* which; no list: all */
    bool keepdims; /* leave each as an axis of one element */
} lam_reduce_options;

/* The sum over axes, blocked pairwise (error growth logarithmic); for bools the number of trues. The sum of integers
 * and bools is i64.
 * Shape   x without the axes, or with one element there.
 * Fails   LAM_ERR_AXIS. Derivative: 1 for each element. */
LAM_API lam_tensor *lam_sum(lam_tensor *x, const lam_reduce_options *options);

/* The product over axes; of no elements 1. The product of integers and bools is i64.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: the product of the others, without division: right with any number of zeros. */
LAM_API lam_tensor *lam_prod(lam_tensor *x, const lam_reduce_options *options);

/* The largest element over axes; NaN wins; of no elements -inf, or the least integer.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: 1 at the largest, shared equally among those that tie. */
LAM_API lam_tensor *lam_max_reduce(lam_tensor *x, const lam_reduce_options *options);

/* The smallest element over axes; NaN wins; of no elements inf, or the greatest integer.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: 1 at the smallest, shared equally among those that tie. */
LAM_API lam_tensor *lam_min_reduce(lam_tensor *x, const lam_reduce_options *options);

/* Whether any element is not 0; of none false.
 * Shape   as lam_sum, bool.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_any(lam_tensor *x, const lam_reduce_options *options);

/* Whether no element is 0; of none true.
 * Shape   as lam_sum, bool.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_all(lam_tensor *x, const lam_reduce_options *options);

/* The index of the first largest element along an axis; NaN counts as larger than everything.
 * Shape   x without the axis, i64.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE if the axis has no elements. Derivative: none. */
LAM_API lam_tensor *lam_argmax(lam_tensor *x, int axis);

/* The index of the first smallest element along an axis; NaN counts as smaller than everything.
 * Shape   x without the axis, i64.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE if the axis has no elements. Derivative: none. */
LAM_API lam_tensor *lam_argmin(lam_tensor *x, int axis);

/* log(sum(exp(x))) without overflow; -inf for no elements or all -inf. Integers are taken as f64.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: exp(x - result). For infinite x see the table. */
LAM_API lam_tensor *lam_logsumexp(lam_tensor *x, const lam_reduce_options *options);

/* log(mean(exp(x))) without overflow; NaN for no elements. Integers are taken as f64.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: as lam_logsumexp. */
LAM_API lam_tensor *lam_logmeanexp(lam_tensor *x, const lam_reduce_options *options);

/* The arithmetic mean; NaN for no elements. Integers are taken as f64.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: 1 / n for each element. */
LAM_API lam_tensor *lam_mean(lam_tensor *x, const lam_reduce_options *options);

typedef struct lam_var_options {
    lam_axes axes; /* which; no list: all */
    bool keepdims; /* leave each as an axis of one element */
    double ddof;   /* the divisor is the number of elements minus this */
} lam_var_options;

/* The mean square of the distance from the mean; NaN if ddof leaves no divisor. Integers are taken as f64.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: 2 (x - mean) / (n - ddof). */
LAM_API lam_tensor *lam_var(lam_tensor *x, const lam_var_options *options);

/* The square root of lam_var.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: (x - mean) / ((n - ddof) std), 0 where all elements are equal. */
LAM_API lam_tensor *lam_std(lam_tensor *x, const lam_var_options *options);

typedef struct lam_norm_options {
    lam_axes axes; /* which; no list: all */
    bool keepdims; /* leave each as an axis of one element */
    double order;  /* any number, INFINITY or -INFINITY; 0: 2 (how many are not 0: lam_count_nonzero) */
} lam_norm_options;

/* The vector norm sum(|x|^order)^(1/order) over axes, INFINITY: max(|x|), -INFINITY: min(|x|). Powers neither over- nor
 * underflow on the way. Integers are taken as f64. Of no elements 0, for a negative order inf.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS; LAM_ERR_OPTION for an order that is NaN. Derivative: sign(x) (|x| / norm)^(order - 1), 0 where
 *         x is 0, and for a negative order where the norm is. */
LAM_API lam_tensor *lam_norm(lam_tensor *x, const lam_norm_options *options);

/* x over its length along axes (no list: all), the derivative of lam_norm: a vector of length 1, or 0 where x is 0,
 * even if the length itself is out of range. Integers are taken as f64; complex numbers are vectors of two.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Owner: current scope.
 * Derivative  (t - u (u . t)) / |x| for u = x / |x|, without cancellation; 0 where x is. */
LAM_API lam_tensor *lam_norm_slope(lam_tensor *x, lam_axes axes);

/* The largest element minus the smallest, over axes.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: as lam_max_reduce and lam_min_reduce. */
LAM_API lam_tensor *lam_ptp(lam_tensor *x, const lam_reduce_options *options);

/* The number of elements over axes that are not 0.
 * Shape   as lam_sum, i64.
 * Fails   LAM_ERR_AXIS. Derivative: none. */
LAM_API lam_tensor *lam_count_nonzero(lam_tensor *x, const lam_reduce_options *options);

/* Sum, mean, maximum, minimum and product of the elements that are not NaN. Of none: 0, NaN, -inf, inf and 1.
 * Shape   as lam_sum. Integers, which have no NaN, as in lam_sum and so on.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for the maximum and minimum of complex numbers. Derivative: as of those; 0 where
 *         x is NaN. */
LAM_API lam_tensor *lam_nansum(lam_tensor *x, const lam_reduce_options *options);
LAM_API lam_tensor *lam_nanmean(lam_tensor *x, const lam_reduce_options *options); /* Fails as lam_nansum does. */
LAM_API lam_tensor *lam_nanmax(lam_tensor *x, const lam_reduce_options *options);  /* Fails as lam_nansum does. */
LAM_API lam_tensor *lam_nanmin(lam_tensor *x, const lam_reduce_options *options);  /* Fails as lam_nansum does. */
LAM_API lam_tensor *lam_nanprod(lam_tensor *x, const lam_reduce_options *options); /* Fails as lam_nansum does. */

/* lam_var and lam_std of the elements that are not NaN; NaN if ddof leaves no divisor.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS. Derivative: as lam_var and lam_std; 0 where x is NaN. */
LAM_API lam_tensor *lam_nanvar(lam_tensor *x, const lam_var_options *options);
LAM_API lam_tensor *lam_nanstd(lam_tensor *x, const lam_var_options *options); /* Fails as lam_nanvar does. */

/* sum(weights x) / sum(weights) over axes; weights broadcast to x, except that with one axis a vector of weights goes
 * along that axis.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: by x weights / sum(weights), by weights
 * (x - the result) / sum(weights). */
LAM_API lam_tensor *lam_average(lam_tensor *x, lam_tensor *weights, const lam_reduce_options *options);

typedef enum lam_quantile_method {
    LAM_QUANTILE_LINEAR = 0, /* between two elements, in proportion */
    LAM_QUANTILE_LOWER,
    LAM_QUANTILE_HIGHER,
    LAM_QUANTILE_MIDPOINT,
    LAM_QUANTILE_NEAREST /* halfway: the even one */
} lam_quantile_method;

typedef struct lam_quantile_options {
    lam_axes axes; /* which; no list: all */
    bool keepdims; /* leave each as an axis of one element */
    lam_quantile_method method;
} lam_quantile_options;

/* The value at fraction q of the sorted elements over axes; NaN where an element is NaN, and for q outside [0, 1].
 * Integers are taken as f64.
 * Shape   the dims of q, then as lam_sum.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE for axes without elements; LAM_ERR_OPTION. Derivative: by x that of taking; by q
 *         the distance of the two elements times their number less 1 (LINEAR), 0 otherwise. */
LAM_API lam_tensor *lam_quantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options);

/* lam_quantile of q / 100, and of 1/2.
 * Fails   as lam_quantile does. Derivative: as lam_quantile. */
LAM_API lam_tensor *lam_percentile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options);
LAM_API lam_tensor *lam_median(lam_tensor *x, const lam_reduce_options *options); /* Fails as lam_quantile does. */

/* lam_quantile, lam_percentile and lam_median of the elements that are not NaN; NaN if there are none.
 * Fails   as lam_quantile does, but not for axes without elements. Derivative: as lam_quantile; 0 where x is NaN. */
LAM_API lam_tensor *lam_nanquantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options);
LAM_API lam_tensor *lam_nanpercentile(lam_tensor *x, lam_tensor *q,
                                      const lam_quantile_options *options); /* Fails as lam_nanquantile does. */
LAM_API lam_tensor *lam_nanmedian(lam_tensor *x,
                                  const lam_reduce_options *options); /* Fails as lam_nanquantile does. */

/* The covariances of the rows of x, whose columns are observations: divided by their number minus ddof. For complex
 * rows, sums of one times the conjugate of the other: the matrix is Hermitian, its diagonal that of lam_var.
 * Shape   [rows, rows].
 * Fails   LAM_ERR_RANK unless x is a matrix. Derivative: exact. */
LAM_API lam_tensor *lam_cov(lam_tensor *x, double ddof);

typedef struct lam_cov_options {
    double ddof;          /* the divisor is the number of observations minus this */
    lam_tensor *fweights; /* [columns]: how often each observation was made; NULL: once */
    lam_tensor *aweights; /* [columns]: how much each counts; NULL: all the same */
} lam_cov_options;

/* lam_cov of observations with weights, about their weighted means. By aweights a the divisor is sum(w) - ddof sum(w a)
 * / sum(w) for w = fweights a, so that a common factor of them does not matter.
 * Shape   [rows, rows].
 * Fails   as lam_cov does; LAM_ERR_SHAPE for other weights; LAM_ERR_DTYPE for complex ones. Derivative: exact.
 * Source  numpy.cov. */
LAM_API lam_tensor *lam_cov_with(lam_tensor *x, const lam_cov_options *options);

/* The correlations of the rows of x: the covariances divided by both standard deviations.
 * Shape   [rows, rows].
 * Fails   as lam_cov does. Derivative: exact. */
LAM_API lam_tensor *lam_corrcoef(lam_tensor *x);

/* f(init, x over axes) where f combines two elements (rank 0) and is associative: neighbours are combined, then
 * neighbours of these, in row-major order. init is of rank 0 and has the dtype of x; of no elements it is the result.
 * Shape   as lam_sum.
 * Fails   LAM_ERR_AXIS; LAM_ERR_ARITY unless f has two inputs and one output; LAM_ERR_SHAPE, LAM_ERR_DTYPE if f does
 *         not return such an element. Derivative: that of f, to any order. */
LAM_API lam_tensor *lam_reduce(lam_fn *f, lam_tensor *x, lam_tensor *init, const lam_reduce_options *options);

/* Running combinations along an axis: element i of the results is f of all elements up to i (reverse: from the end down
 * to i), where f is associative. f takes parts of the operands, with the axis, twice: the earlier ones and the later
 * ones, and gives as many tensors of the same types: it works element by element along the axis. About 2 n applications
 * of f to elements, in 2 log2(n) calls. With several operands an element is one of each of them.
 * Shape   out[i]: that of operand i; all have the same size along the axis.
 * Fails   LAM_ERR_ARITY unless f has twice as many inputs as operands, and as many outputs; LAM_ERR_NULL; LAM_ERR_AXIS;
 *         LAM_ERR_SHAPE, LAM_ERR_DTYPE if operands or results of f do not fit. Owner: current scope. Derivative: that
 *         of f, to any order.
 * Source  jax.lax.associative_scan. */
LAM_API lam_status lam_associative_scan(lam_fn *f, lam_list operands, int axis, bool reverse, lam_tensor **out,
                                        size_t n_out);

/* exp(x) / sum(exp(x)) along an axis, without overflow. Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: s (dx - sum(s dx)) with s the result. */
LAM_API lam_tensor *lam_softmax(lam_tensor *x, int axis);

/* The logarithm of lam_softmax, accurate where that is small. Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: dx - sum(softmax(x) dx). */
LAM_API lam_tensor *lam_log_softmax(lam_tensor *x, int axis);

/* ---- scans --------------------------------------------------------------------------------------------------- */

/* Running sums along an axis (the error does not grow with its length); for bools counts as i64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: the running sums of dx. */
LAM_API lam_tensor *lam_cumsum(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_cumsum_reverse(lam_tensor *x, int axis); /* From the end. Fails as lam_cumsum does. */

/* Running products along an axis; bools are taken as i64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: products of the others, without division: right with any number of zeros. */
LAM_API lam_tensor *lam_cumprod(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_cumprod_reverse(lam_tensor *x, int axis); /* From the end. Fails as lam_cumprod does. */

/* Running sums and products of the elements that are not NaN. Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: as of those; 0 where x is NaN. */
LAM_API lam_tensor *lam_nancumsum(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_nancumprod(lam_tensor *x, int axis); /* Fails as lam_nancumsum does. */

/* Running maxima along an axis; NaN wins.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: 1 at the largest so far, shared equally among those that tie. */
LAM_API lam_tensor *lam_cummax(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_cummax_reverse(lam_tensor *x, int axis); /* From the end. Fails as lam_cummax does. */

/* Running minima along an axis; NaN wins.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: 1 at the smallest so far, shared equally among those that tie. */
LAM_API lam_tensor *lam_cummin(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_cummin_reverse(lam_tensor *x, int axis); /* From the end. Fails as lam_cummin does. */

/* Running log(sum(exp(x))) along an axis, without overflow. Integers are taken as f64.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: exp(x_j - result_i) for j up to i; where x is infinite as for lam_logsumexp. */
LAM_API lam_tensor *lam_cumlogsumexp(lam_tensor *x, int axis);
LAM_API lam_tensor *lam_cumlogsumexp_reverse(lam_tensor *x, int axis); /* From the end. Fails as lam_cumsum does. */

/* y_i = a_i y_(i-1) + b_i along an axis, y_0 = b_0; in reverse from the end. Integers are taken as f64.
 * Shape   that of a and b, which have the same dims.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: a recurrence again: dy_i = a_i dy_(i-1) + db_i + da_i y_(i-1). */
LAM_API lam_tensor *lam_linear_recurrence(lam_tensor *a, lam_tensor *b, int axis, bool reverse);

#ifdef __cplusplus
}
#endif
#endif
