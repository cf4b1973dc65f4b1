/* Normalisation and attention, made of other operations: no rows, no rules. What is NULL is left out. Integers are
 * taken as f64, and f16 is normalised in f32, in which its squares and a small epsilon are in range; an epsilon of 0
 * means the default, so that a zeroed struct of options is the usual case. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/lanes.h"
#include "lib/primitives/reduce.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* x scale + offset, in one pass over x where all are of one dtype: fma would promote the three together, and takes no
 * complex scale. */
static lam_tensor *affine(lam_tensor *x, lam_tensor *scale, lam_tensor *offset) {
    const lam_dtype dtype = lam_dtype_of(x);
    if (scale && offset && lam_dtype_of(scale) == dtype && lam_dtype_of(offset) == dtype)
        return lam_fma(x, scale, offset);
    if (scale) x = lam_mul(x, scale);
    return offset ? lam_add(x, offset) : x;
}

/* PyTorch's default. */
static const lam_normalize_options defaults = {.epsilon = 1e-5};

/* The options with defaults filled in: the last axis, 1e-5. */
static lam_normalize_options filled(const lam_normalize_options *options) {
    static const int last = -1;
    lam_normalize_options o = options ? *options : defaults;
    if (o.epsilon == 0) o.epsilon = defaults.epsilon;
    if (!o.axes.items) o.axes = (lam_axes){1, &last};
    return o;
}

/* Less the mean, over the deviation: the row beneath has its derivative in one piece. */
lam_tensor *lam_standardize(lam_tensor *x, const lam_normalize_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_normalize_options o = filled(options);
    lam__axis_set set;
    x = lam__reduce_real(x);
    if (!lam__axes_collect_set("standardize", x, o.axes, lam_rank(x), &set)) return lam__axes_failed(x);
    return lam__scope_only(lam__lanes_standardize(x, set, o.epsilon), since);
}

/* Whether x can be used. `beside` tells in which context that is recorded where x is NULL; it may be left out. */
static bool is_given(const char *operation, lam_tensor *x, lam_tensor *beside, lam_tensor **failed) {
    return lam__apply_given(operation, beside ? 2 : 1, (lam_tensor *[]){x, beside}, failed);
}

/* Standardised over the axes of the options, then scaled and moved; scale and offset broadcast. */
lam_tensor *lam_layer_norm(lam_tensor *x, lam_tensor *scale, lam_tensor *offset, const lam_normalize_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!is_given("layer_norm", x, scale ? scale : offset, &failed)) return failed;
    return lam__scope_only(affine(lam_standardize(x, options), scale, offset), since);
}

/* x / sqrt(mean(x^2) + epsilon), Zhang and Sennrich (2019): no mean is taken away. */
lam_tensor *lam_rms_norm(lam_tensor *x, lam_tensor *scale, const lam_normalize_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!is_given("rms_norm", x, scale, &failed)) return failed;
    lam_normalize_options o = filled(options);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *power = lam_mean(lam_square(x), &(lam_reduce_options){o.axes, true});
    lam_tensor *out = lam__apply_narrowed(lam_mul(x, lam_rsqrt(lam_add(power, o.epsilon))), dtype);
    return lam__scope_only(affine(out, scale, NULL), since);
}

/* One number per feature, seen along `axis` of `rank` axes. NULL stays NULL. */
static lam_tensor *along(lam_tensor *feature, int axis, int rank) {
    for (int i = axis + 1; feature && i < rank; i++) feature = lam_expand_dims(feature, -1);
    return feature;
}

/* (x - mean) / sqrt(variance + epsilon) with numbers of the caller's for a feature, one of which may be NULL: it is
 * then that of x over these axes. Times scale, plus offset. Of numbers for a feature the product is made first: each
 * pass over x less counts. */
static lam_tensor *normalized_by(lam_tensor *const in[3], lam_dtype dtype, lam_axes over, double epsilon,
                                 lam_tensor *scale, lam_tensor *offset) {
    lam_tensor *mean = in[1] ? in[1] : lam_mean(in[0], &(lam_reduce_options){over, true});
    lam_tensor *var = in[2] ? in[2] : lam_var(in[0], &(lam_var_options){.axes = over, .keepdims = true});
    lam_tensor *steepness = lam_rsqrt(lam_add(var, epsilon)), *out = lam_sub(in[0], mean);
    if (lam_dtype_of(out) == dtype) return affine(out, scale ? lam_mul(steepness, scale) : steepness, offset);
    return affine(lam__apply_narrowed(lam_mul(out, steepness), dtype), scale, offset);
}

/* A mean and a variance that are given are those of training and used as constants of the caller's choice; without them
 * x is standardised over all axes but `axis`, through which gradients go too. What is narrowed is so before the scale,
 * whose dtype is the caller's. */
lam_tensor *lam_batch_norm(lam_tensor *x, int axis, lam_tensor *mean, lam_tensor *var, lam_tensor *scale,
                           lam_tensor *offset, const lam_normalize_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!is_given("batch_norm", x, scale ? scale : offset, &failed)) return failed;
    int others[LAM_INNER_RANK], count = 0, rank = lam_rank(x);
    if (!lam__apply_axis("batch_norm", x, rank, &axis)) return lam__axes_failed(x);
    for (int i = 0; i < rank; i++)
        if (i != axis) others[count++] = i;
    lam_tensor *in[3] = {x, mean, var}, *out;
    const lam_dtype dtype = lam__apply_floats(3, in);
    const double epsilon = filled(options).epsilon;
    scale = along(scale, axis, rank), offset = along(offset, axis, rank);
    if (mean || var) {
        in[1] = along(in[1], axis, rank), in[2] = along(in[2], axis, rank);
        out = normalized_by(in, dtype, (lam_axes){count, others}, epsilon, scale, offset);
    } else {
        const lam__axis_set set = (((lam__axis_set)1 << rank) - 1) & ~((lam__axis_set)1 << axis);
        out = affine(lam__apply_narrowed(lam__lanes_standardize(in[0], set, epsilon), dtype), scale, offset);
    }
    return lam__scope_only(out, since);
}

/* ---- attention --------------------------------------------------------------------------------------------------- */

/* softmax over the last axis of what `taken` lets through (NULL: all); rows that nothing is let through for are 0. What
 * is not let through is -inf before the exponential, 0 after it and in its slope. The largest score is a constant for
 * derivatives, as it cancels. Rows of nothing divide by 1. */
static lam_tensor *masked_softmax(lam_tensor *scores, lam_tensor *taken) {
    if (!taken) return lam_softmax(scores, -1);
    const lam_reduce_options last = {LAM_AXES(-1), true};
    lam_tensor *open = lam_where(taken, scores, -INFINITY);
    lam_tensor *top = lam_stop_gradient(lam_max_reduce(open, &last));
    lam_tensor *away = lam_sub(open, lam_where(lam_eq(top, -INFINITY), 0.0, top));
    lam_tensor *terms = lam_exp(away), *sum = lam_sum(terms, &last);
    return lam_div(terms, lam_where(lam_eq(sum, 0.0), 1.0, sum));
}

/* Query i may look at keys 0 to i: one matrix, the same for all that stands in front. */
static lam_tensor *causal_mask(lam_tensor *scores) {
    lam_ctx *ctx = lam_ctx_of(scores);
    lam_tensor *row = lam_iota(ctx, LAM_I64, LAM_DIMS(lam_dim(scores, -2), 1), 0);
    lam_tensor *column = lam_iota(ctx, LAM_I64, LAM_DIMS(1, lam_dim(scores, -1)), 1);
    return lam_le(column, row);
}

/* softmax(q k^T / sqrt(d) + bias) v over the last two axes (Vaswani et al. 2017); leading axes broadcast as in
 * lam_matmul. The query is scaled rather than the scores, which are more. */
lam_tensor *lam_attention(lam_tensor *query, lam_tensor *key, lam_tensor *value, const lam_attention_options *options) {
    uint64_t since = lam__scope_now(query);
    static const lam_attention_options none;
    const lam_attention_options *o = options ? options : &none;
    lam_tensor *in[4] = {query, key, value, o->bias}, *failed;
    if (!lam__apply_given("attention", 3, in, &failed)) return failed;
    lam_dims own = lam_dims_of(query);
    if (own.rank < 2 || lam_rank(key) < 2 || lam_rank(value) < 2)
        return lam__axes_fail("attention", query, LAM_ERR_RANK, "query, key and value have two axes at least");
    if (lam_dim(key, -1) != lam_dim(query, -1))
        return lam__axes_fail("attention", query, LAM_ERR_SHAPE, "queries have %lld features, keys %lld",
                              (long long)lam_dim(query, -1), (long long)lam_dim(key, -1));
    if (lam_dim(value, -2) != lam_dim(key, -2))
        return lam__axes_fail("attention", query, LAM_ERR_SHAPE, "there are %lld keys and %lld values",
                              (long long)lam_dim(key, -2), (long long)lam_dim(value, -2));
    double scale = o->scale != 0 ? o->scale : 1 / sqrt((double)own.dims[own.rank - 1]);
    const lam_dtype dtype = lam__apply_floats(4, in);
    lam_tensor *scores = lam_matmul(lam_mul(in[0], scale), lam_moveaxis(in[1], -1, -2));
    if (in[3]) scores = lam_add(scores, in[3]);
    /* Where either mask forbids a key it is not taken. */
    lam_tensor *taken = o->causal ? causal_mask(scores) : NULL;
    if (o->mask) taken = taken ? lam_and(taken, o->mask) : o->mask;
    lam_tensor *out = lam_matmul(masked_softmax(scores, taken), in[2]);
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}
