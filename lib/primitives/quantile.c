/* Statistics that need the order of elements, or leave some of them out; averages and covariances. No rows, no rules.
 * What is missing (NaN) or out of range is chosen last, so that it sends no NaN to what is not. Names and results are
 * NumPy's; where elements tie, gradients go to those that the stable sort put there. */
#include "lib/primitives/reduce.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* ---- simple ones ------------------------------------------------------------------------------------------------- */

/* The largest less the smallest. */
lam_tensor *lam_ptp(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_sub(lam_max_reduce(x, options), lam_min_reduce(x, options)), since);
}

/* NaN counts, as it is not 0. Complex numbers count where either part is not 0. */
lam_tensor *lam_count_nonzero(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_sum(lam_ne(x, lam_zeros_like(x)), options), since);
}

/* x with `neutral` in place of NaN, of which complex numbers may have a part. Infinities stay; the slope of what is
 * replaced is 0. */
static lam_tensor *without_nan(lam_tensor *x, double neutral) {
    if (lam__cplx_is(x)) return lam_where(lam_is_nan(x), neutral, x);
    return lam__nan_to_num(lam__reduce_real(x), neutral, INFINITY, -INFINITY);
}

/* Likewise, but integers stay what they are: an f64 does not hold all of them. */
static lam_tensor *present(lam_tensor *x, double neutral) {
    const bool exact = lam__scope_peek(x) && !lam__dtype_is_inexact((int)lam_dtype_of(x));
    return exact ? x : without_nan(x, neutral);
}

/* Sums of integers stay exact. */
lam_tensor *lam_nansum(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_sum(present(x, 0), options), since);
}

/* total / divisor; NaN, a constant, of nothing but NaN, so that its derivative is 0 in both modes. A divisor of 1 takes
 * part where there are none, so that no derivative meets 0 / 0. */
static lam_tensor *over_present(lam_tensor *total, lam_tensor *divisor, lam_tensor *count) {
    lam_tensor *none = lam_eq(count, 0.0);
    return lam_where(none, (double)NAN, lam_div(total, lam_where(none, 1.0, divisor)));
}

/* The number of elements that are no NaN, as a float. What is counted has no derivative. */
static lam_tensor *presence(lam_tensor *x, lam_dtype dtype, const lam_reduce_options *options) {
    return lam_cast(lam_sum(lam_not(lam_is_nan(x)), options), dtype);
}

/* The sum of numbers over how many there are: NaN where there are none. */
lam_tensor *lam_nanmean(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *sum = lam_nansum(x, options), *count = presence(x, lam_dtype_of(sum), options);
    return lam__scope_only(lam__apply_narrowed(over_present(sum, count, count), dtype), since);
}

/* Of nothing but NaN it is -inf, the maximum of no elements, where NumPy gives NaN. */
lam_tensor *lam_nanmax(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_max_reduce(present(x, -INFINITY), options), since);
}

/* Likewise inf. */
lam_tensor *lam_nanmin(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_min_reduce(present(x, INFINITY), options), since);
}

/* NaN multiplies by 1; the product of nothing is 1. */
lam_tensor *lam_nanprod(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_prod(present(x, 1), options), since);
}

/* NaN adds nothing and multiplies by 1. */
lam_tensor *lam_nancumsum(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_cumsum(without_nan(x, 0), axis), since);
}

lam_tensor *lam_nancumprod(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_cumprod(without_nan(x, 1), axis), since);
}

/* Floating x less the mean of what is there, 0 where it is NaN, which adds nothing to squares; how many elements are
 * there, and what the sum of squares is divided by: NaN with no more of them than ddof. The mean keeps its axes, to be
 * taken from all of x; counts lie as the result does. */
static lam_tensor *deviations(lam_tensor *x, const lam_var_options *o, lam_tensor **count, lam_tensor **divisor) {
    lam_tensor *mean = lam_nanmean(x, &(lam_reduce_options){o->axes, true});
    *count = presence(x, lam__dtype_part((int)lam_dtype_of(x)), &(lam_reduce_options){o->axes, o->keepdims});
    lam_tensor *left = lam_sub(*count, o->ddof);
    *divisor = lam_where(lam_gt(left, 0.0), left, (double)NAN);
    return lam_where(lam_is_nan(x), 0.0, lam_sub(x, mean));
}

/* Of complex numbers those of their sizes. */
static lam_tensor *squares(lam_tensor *x) {
    return lam__cplx_is(x) ? lam_add(lam_square(lam_real(x)), lam_square(lam_imag(x))) : lam_square(x);
}

/* Two passes: squares of differences from the mean, which do not cancel as sums of squares would. */
lam_tensor *lam_nanvar(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *count, *divisor, *away = deviations(x, o, &count, &divisor);
    lam_tensor *sum = lam_sum(squares(away), &(lam_reduce_options){o->axes, o->keepdims});
    return lam__scope_only(lam__apply_narrowed(over_present(sum, divisor, count), dtype), since);
}

/* By the length, whose squares stay in range and whose slope is 0 where all elements are equal, as for std. */
lam_tensor *lam_nanstd(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *count, *divisor, *away = deviations(x, o, &count, &divisor);
    lam_tensor *length = lam__norm_length(away, &(lam_reduce_options){o->axes, o->keepdims});
    return lam__scope_only(lam__apply_narrowed(over_present(length, lam_sqrt(divisor), count), dtype), since);
}

/* Weights along the one axis that is named, if they are a vector, as they are in numpy; else as they are. NULL after
 * recording what is wrong with the axes. Axes that are not one leave the weights to line up from the last axis. */
static lam_tensor *along_axis(lam_tensor *x, lam_tensor *weights, const lam_reduce_options *options) {
    const int rank = lam_rank(x);
    int axes[LAM_INNER_RANK], count;
    int64_t dims[LAM_INNER_RANK];
    if (!lam__axes_collect("average", x, options ? options->axes : (lam_axes){0}, rank, &count, axes)) return NULL;
    if (count != 1 || lam_rank(weights) != 1) return weights;
    for (int i = 0; i < rank; i++) dims[i] = i == axes[0] ? lam_size(weights) : 1;
    return lam__apply_reshape(weights, rank, dims);
}

/* sum(w x) / sum(w); weights broadcast to x, and both get derivatives. */
lam_tensor *lam_average(lam_tensor *x, lam_tensor *weights, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, weights}, *failed;
    lam_value *values[2];
    if (!lam__scope_operands("average", 2, in, values, &failed)) return failed;
    if (!(weights = along_axis(x, weights, options))) return lam__axes_failed(x);
    lam_dims own = lam_dims_of(x), given = lam_dims_of(weights);
    bool fits = given.rank <= own.rank;
    for (int i = 0; fits && i < given.rank; i++)
        fits = given.dims[i] == 1 || given.dims[i] == own.dims[own.rank - given.rank + i];
    if (!fits)
        return lam__axes_fail_with("average", in[1], LAM_ERR_SHAPE, "a vector goes along the axis that is named",
                                   "the weights do not broadcast to x");
    /* LAM_DTYPE_COUNT: x is no half, and the mean stays in the dtype it is made in. */
    const lam_dtype dtype = lam__dtype_is_half((int)lam_dtype_of(x)) ? lam_dtype_of(x) : LAM_DTYPE_COUNT;
    x = lam__reduce_wide(lam__reduce_real(x));
    weights = lam_broadcast_to(lam_cast(weights, lam_dtype_of(x)), own);
    lam_tensor *mean = lam_div(lam_sum(lam_mul(x, weights), options), lam_sum(weights, options));
    return lam__scope_only(dtype == LAM_DTYPE_COUNT ? mean : lam_cast(mean, dtype), since);
}

/* ---- quantiles --------------------------------------------------------------------------------------------------- */

/* x with the axes of the set as one, the last, and how many elements it has. The sort then is one along the last axis
 * whatever axes were named. dims has room for one more than the rank. What is kept lies in front, in its order. */
static lam_tensor *gathered(lam_tensor *x, lam__axis_set set, int64_t *n, lam_dims *kept, int64_t dims[]) {
    lam_dims own = lam_dims_of(x);
    int order[LAM_INNER_RANK], rank = 0, behind = 0;
    *n = 1;
    for (int i = 0; i < own.rank; i++) {
        if (set >> i & 1u) {
            *n *= own.dims[i];
            behind++;
        } else {
            dims[rank] = own.dims[i];
            order[rank++] = i;
        }
    }
    /* Behind what is kept come the axes of the set, in their order too. */
    for (int i = 0, k = rank; i < own.rank; i++)
        if (set >> i & 1u) order[k++] = i;
    *kept = (lam_dims){rank, dims};
    dims[rank] = *n;
    return lam__apply_reshape(lam_transpose(x, (lam_axes){own.rank, order}), rank + 1, dims);
}

/* Element `number` (dims of q) of the last axis, q's dims in front. Clipped, since a q out of range or NaN gives a
 * position that is none; what it gives is replaced afterwards. */
static lam_tensor *element(lam_tensor *sorted, lam_tensor *number) {
    int last = lam_rank(sorted) - 1, rank = lam_rank(number);
    lam_tensor *out = lam_take_mode(sorted, lam_cast(number, LAM_I64), last, LAM_INDEX_CLIP);
    for (int i = 0; i < rank; i++) out = lam_moveaxis(out, last + i, i);
    return out;
}

/* x broadcast against what stands behind q's dims. q stands in front of what is kept of x, so axes of one element
 * behind it let the two broadcast. */
static lam_tensor *in_front(lam_tensor *q, int behind) {
    lam_dims own = lam_dims_of(q);
    int64_t dims[2 * LAM_INNER_RANK];
    for (int i = 0; i < own.rank + behind; i++) dims[i] = i < own.rank ? own.dims[i] : 1;
    return lam__apply_reshape(q, own.rank + behind, dims);
}

/* x + part (y - x), by halves, whose difference is in range; where one is infinite that would be inf - inf, and the
 * middle is taken instead. */
static lam_tensor *mixed(lam_tensor *x, lam_tensor *y, lam_tensor *part) {
    lam_tensor *finite = lam_and(lam_is_finite(x), lam_is_finite(y)), *from = lam_where(finite, x, 0.0);
    lam_tensor *half = lam_sub(lam_mul(0.5, lam_where(finite, y, 0.0)), lam_mul(0.5, from));
    lam_tensor *there = lam_add(from, lam_mul(lam_mul(2.0, part), half));
    return lam_where(finite, there, lam_mul(0.5, lam_add(x, y))); /* the middle: x where both are the same element */
}

/* Element number q (n - 1) of the sorted ones, which as a rule lies between two. Halves go to the even neighbour, as in
 * NumPy's nearest. */
static lam_tensor *between(lam_tensor *sorted, lam_tensor *at, lam_quantile_method method) {
    lam_tensor *low = lam_floor(at), *high = lam_ceil(at);
    if (method == LAM_QUANTILE_LOWER) return element(sorted, low);
    if (method == LAM_QUANTILE_HIGHER) return element(sorted, high);
    if (method == LAM_QUANTILE_NEAREST) return element(sorted, lam_round(at));
    lam_tensor *x = element(sorted, low), *y = element(sorted, high);
    if (method == LAM_QUANTILE_MIDPOINT) return lam_add(lam_mul(0.5, x), lam_mul(0.5, y));
    lam_tensor *part = in_front(lam_cast(lam_sub(at, low), lam_dtype_of(x)), lam_rank(sorted) - 1);
    return mixed(x, y, part);
}

/* Differentiable by the elements, through the take, and by q, through the part between two. One NaN makes the whole
 * result NaN, as in NumPy; the dims of q come first in the result. */
static lam_tensor *quantile(const char *name, lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    static const lam_quantile_options none;
    const lam_quantile_options *o = options ? options : &none;
    lam_tensor *in[2] = {x, q}, *failed;
    lam_value *values[2];
    int64_t n, dims[LAM_INNER_RANK + 1], kept_dims[2 * LAM_INNER_RANK];
    lam_dims kept, own = lam_dims_of(x);
    lam__axis_set set;
    if (!lam__scope_operands(name, 2, in, values, &failed)) return failed;
    if (!lam__axes_collect_set(name, x, o->axes, own.rank, &set)) return lam__axes_failed(x);
    if ((unsigned)o->method > LAM_QUANTILE_NEAREST)
        return lam__axes_fail(name, x, LAM_ERR_OPTION, "there is no method %d", (int)o->method);
    lam_tensor *rows = gathered(lam__reduce_real(x), set, &n, &kept, dims);
    if (n == 0)
        return lam__axes_fail_with(name, x, LAM_ERR_SHAPE, "look at lam_size first",
                                   "there are no elements to choose from");
    lam_tensor *sorted = lam_sort(rows, -1);
    if (lam_failed(sorted)) return sorted;
    /* Positions are f64 whatever x is: f32 could not number the elements of a large tensor. */
    q = lam_cast(q, LAM_F64);
    lam_tensor *out = between(sorted, lam_mul(q, (double)(n - 1)), o->method);
    lam_tensor *wrong = lam_not(lam_and(lam_ge(q, 0.0), lam_le(q, 1.0)));
    /* NaN sorts last, but whether there is one is asked of all, since a low quantile would not meet it. */
    lam_tensor *missing = lam_any(lam_is_nan(rows), &(lam_reduce_options){.axes = LAM_AXES(-1)});
    out = lam_where(lam_or(in_front(wrong, kept.rank), missing), (double)NAN, out);
    /* Each axis of the set comes back with one element, where it was. */
    if (!o->keepdims || lam_failed(out)) return out;
    int rank = lam_rank(q);
    for (int i = 0; i < rank; i++) kept_dims[i] = lam_dim(q, i);
    for (int i = 0; i < own.rank; i++) kept_dims[rank + i] = set >> i & 1u ? 1 : own.dims[i];
    return lam__apply_reshape(out, rank + own.rank, kept_dims);
}

lam_tensor *lam_quantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(quantile("quantile", x, q, options), since);
}

/* q in hundredths. */
lam_tensor *lam_percentile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__apply_given("percentile", 2, (lam_tensor *[]){x, q}, &failed)) return failed;
    return lam__scope_only(quantile("percentile", x, lam_div(q, 100.0), options), since);
}

/* The quantile of one half: the mean of the two in the middle where there is no single one. */
lam_tensor *lam_median(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    if (!lam__scope_peek(x)) return lam__axes_fail("median", x, LAM_ERR_NULL, "the operand is NULL");
    return lam__scope_only(
        quantile("median", x, lam_scalar(lam_ctx_of(x), 0.5), &(lam_quantile_options){o->axes, o->keepdims, 0}), since);
}

/* ---- quantiles of what is not NaN -------------------------------------------------------------------------------- */

/* Along the last axis of both, where the dims before it are equal. Rows have different numbers of elements, so each row
 * has indices of its own. */
static lam_tensor *own_element(lam_tensor *sorted, lam_tensor *number) {
    return lam_take_along_axis(sorted, lam_cast(number, LAM_I64), -1);
}

/* As `between`, but each row has positions of its own. */
static lam_tensor *own_between(lam_tensor *sorted, lam_tensor *at, lam_quantile_method method) {
    lam_tensor *low = lam_floor(at), *high = lam_ceil(at);
    if (method == LAM_QUANTILE_LOWER) return own_element(sorted, low);
    if (method == LAM_QUANTILE_HIGHER) return own_element(sorted, high);
    if (method == LAM_QUANTILE_NEAREST) return own_element(sorted, lam_round(at));
    lam_tensor *x = own_element(sorted, low), *y = own_element(sorted, high);
    if (method == LAM_QUANTILE_MIDPOINT) return lam_add(lam_mul(0.5, x), lam_mul(0.5, y));
    return mixed(x, y, lam_cast(lam_sub(at, low), lam_dtype_of(x)));
}

/* NaN is sorted behind all else, so the numbers of a row stand in front, and how many there are gives the positions.
 * One NaN more makes an element for rows that have none. [kept..., q] becomes q's dims, then what is kept. */
static lam_tensor *nan_quantile(const char *name, lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    static const lam_quantile_options none;
    const lam_quantile_options *o = options ? options : &none;
    lam_tensor *in[2] = {x, q}, *failed;
    lam_value *values[2];
    int64_t n, dims[LAM_INNER_RANK + 1], out_dims[2 * LAM_INNER_RANK];
    lam_dims kept, own = lam_dims_of(x), given = lam_dims_of(q);
    lam__axis_set set;
    if (!lam__scope_operands(name, 2, in, values, &failed)) return failed;
    if (!lam__axes_collect_set(name, x, o->axes, own.rank, &set)) return lam__axes_failed(x);
    if ((unsigned)o->method > LAM_QUANTILE_NEAREST)
        return lam__axes_fail(name, x, LAM_ERR_OPTION, "there is no method %d", (int)o->method);
    lam_tensor *rows = gathered(lam__reduce_real(x), set, &n, &kept, dims), *tail;
    /* One index for all of q, whose dims come back at the end. */
    int64_t count = lam_size(q), one_more[LAM_INNER_RANK + 1];
    for (int i = 0; i <= kept.rank; i++) one_more[i] = i < kept.rank ? dims[i] : 1;
    tail = lam_cast(lam__apply_broadcast(lam_scalar(lam_ctx_of(x), NAN), kept.rank + 1, one_more), lam_dtype_of(rows));
    lam_tensor *sorted = lam_sort(lam_concatenate(LAM_LIST(rows, tail), -1), -1);
    if (lam_failed(sorted)) return sorted;
    lam_tensor *there = lam_sum(lam_not(lam_is_nan(rows)), &(lam_reduce_options){{1, (const int[]){-1}}, true});
    lam_tensor *part = lam__apply_reshape(lam_cast(q, LAM_F64), 1, &count);
    lam_tensor *wrong = lam_not(lam_and(lam_ge(part, 0.0), lam_le(part, 1.0)));
    /* The position of a wrong q is that of 0, which is there; what it gives is replaced. */
    lam_tensor *at = lam_mul(lam_cast(lam_max(lam_sub(there, 1), 0), LAM_F64), lam_where(wrong, 0.0, part));
    lam_tensor *out = own_between(sorted, at, o->method);
    out = lam_moveaxis(lam_where(lam_or(wrong, lam_eq(there, 0)), (double)NAN, out), -1, 0);
    int rank = given.rank;
    for (int i = 0; i < rank; i++) out_dims[i] = given.dims[i];
    for (int i = 0; i < own.rank; i++) {
        if (!(set >> i & 1u)) out_dims[rank++] = own.dims[i];
        else if (o->keepdims) out_dims[rank++] = 1;
    }
    return lam_failed(out) ? out : lam__apply_reshape(out, rank, out_dims);
}

lam_tensor *lam_nanquantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(nan_quantile("nanquantile", x, q, options), since);
}

lam_tensor *lam_nanpercentile(lam_tensor *x, lam_tensor *q, const lam_quantile_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__apply_given("nanpercentile", 2, (lam_tensor *[]){x, q}, &failed)) return failed;
    return lam__scope_only(nan_quantile("nanpercentile", x, lam_div(q, 100.0), options), since);
}

/* The quantile of one half, whose options are other ones. */
lam_tensor *lam_nanmedian(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    if (!lam__scope_peek(x)) return lam__axes_fail("nanmedian", x, LAM_ERR_NULL, "the operand is NULL");
    const lam_quantile_options half = {.axes = o->axes, .keepdims = o->keepdims};
    return lam__scope_only(nan_quantile("nanmedian", x, lam_scalar(lam_ctx_of(x), 0.5), &half), since);
}

/* ---- covariances ------------------------------------------------------------------------------------------------- */

/* Rows are variables, columns observations. Of complex numbers the second factor is conjugated, so variances are real.
 * With no more observations than ddof it divides by 0. */
static lam_tensor *covariance(const char *name, lam_tensor *x, double ddof) {
    if (!lam__scope_peek(x)) return lam__axes_fail(name, x, LAM_ERR_NULL, "the operand is NULL");
    if (lam_rank(x) != 2) return lam__axes_fail(name, x, LAM_ERR_RANK, "rows of observations are needed");
    double n = (double)lam_dim(x, 1);
    lam_tensor *away = lam_sub(x, lam_mean(x, &(lam_reduce_options){.axes = LAM_AXES(1), .keepdims = true}));
    return lam_div(lam_matmul(away, lam_conj(lam_transpose(away, (lam_axes){0, NULL}))), n > ddof ? n - ddof : 0.0);
}

/* Halves are summed as f32, and rounded once. */
lam_tensor *lam_cov(lam_tensor *x, double ddof) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *wide = lam__reduce_wide(x);
    if (wide != x) return lam__scope_only(lam_cast(covariance("cov", wide, ddof), lam_dtype_of(x)), since);
    return lam__scope_only(covariance("cov", x, ddof), since);
}

/* Whether x and the weights that there are fit each other. False: *failed is the result. Weights are seen one by one,
 * so that the message names the one that is wrong. */
static bool weights_fit(lam_tensor *const in[3], lam_tensor **failed) {
    lam_value *unused;
    if (!lam__scope_operands("cov_with", 1, in, &unused, failed)) return false;
    if (lam_rank(in[0]) != 2)
        return *failed = lam__axes_fail("cov_with", in[0], LAM_ERR_RANK, "rows of observations are needed"), false;
    for (int i = 1; i < 3; i++) {
        lam_tensor *w = in[i];
        if (!w) continue;
        if (!lam__scope_operand_in(lam_ctx_of(in[0]), "cov_with", (size_t)i, w))
            return *failed = lam__axes_failed(in[0]), false;
        if (!lam__matrices_ordered("cov_with", true, 1, &w, failed)) return false;
        if (lam_rank(w) == 1 && lam_dim(w, 0) == lam_dim(in[0], 1)) continue;
        *failed = lam__matrices_fail("cov_with", 2, (lam_tensor *[]){in[0], w}, LAM_ERR_SHAPE,
                                     "give a vector with one for each column", "the weights do not fit");
        return false;
    }
    return true;
}

/* By frequencies alone the last factor is 1. Elements count as often as fweights say and as much as aweights say; of
 * the sum of both, ddof times its mean aweight is lost, as in numpy.cov. */
lam_tensor *lam_cov_with(lam_tensor *x, const lam_cov_options *options) {
    static const lam_cov_options none;
    const lam_cov_options *o = options ? options : &none;
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[3] = {x, o->fweights, o->aweights}, *failed;
    if (!weights_fit(in, &failed)) return failed;
    const lam_dtype dtype = lam__apply_floats(3, in);
    /* An f32 widens nothing that it is multiplied by. */
    for (int i = 1; i < 3; i++)
        if (!in[i]) in[i] = lam_ones(lam_ctx_of(x), LAM_F32, LAM_DIMS(lam_dim(x, 1)));
    lam_tensor *w = lam_mul(in[1], in[2]), *all = lam_sum(w, NULL);
    lam_tensor *mean = lam_div(lam_matvec(in[0], w), all), *away = lam_sub(in[0], lam_expand_dims(mean, 1));
    lam_tensor *lost = lam_mul(o->ddof, lam_div(lam_sum(lam_mul(w, in[2]), NULL), all));
    lam_tensor *products = lam_matmul(lam_mul(away, w), lam_conj(lam_matrix_transpose(away)));
    lam_tensor *out = lam_div(products, lam_max(lam_sub(all, lost), 0.0));
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* c[i, k] / (s[i] s[k]), one division after the other, so that the product of two small sizes is not made. */
lam_tensor *lam_corrcoef(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *wide = lam__reduce_wide(x);
    if (wide != x) return lam__scope_only(lam_cast(lam_corrcoef(wide), lam_dtype_of(x)), since);
    lam_tensor *c = covariance("corrcoef", x, 0), *size = lam_sqrt(lam_real(lam_diagonal(c, 0, 0, 1)));
    return lam__scope_only(lam_div(lam_div(c, lam_expand_dims(size, 1)), size), since);
}
