/* Losses, made of other operations but for huber_loss and log_cosh, and the product that a weight of 0 makes 0. Each is
 * finite with finite gradients wherever the exact one is: logarithms of probabilities come from logits, and a weight of
 * 0 takes no part, whatever it weighs. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>
#include <string.h>

/* (p - t)^2, element by element; users choose the reduction. */
lam_tensor *lam_squared_error(lam_tensor *predictions, lam_tensor *targets) {
    uint64_t since = lam__scope_now(predictions);
    return lam__scope_only(lam_square(lam_sub(lam__reduce_real(predictions), targets)), since);
}

/* The difference cut off at delta, whose own slope beyond is chosen 0, so that no infinite difference meets it. By the
 * targets the difference is turned, which makes the minus. */
static lam_tensor *slope_huber_loss(const lam_rule *r, int i, lam_tensor *t) {
    double delta;
    memcpy(&delta, r->params, sizeof delta);
    return lam_mul(t, lam_clamp(lam_sub(r->in[i], r->in[1 - i]), -delta, delta));
}

const lam_primitive lam__row_huber_loss = {
    .name = "huber_loss",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_huber_loss + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_huber_loss,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
    .layout = "d delta",
};

lam_tensor *lam_huber_loss(lam_tensor *predictions, lam_tensor *targets, double delta) {
    return lam__apply_with(&lam__row_huber_loss, &delta, sizeof delta, 2, (lam_tensor *[]){predictions, targets});
}

/* tanh of the difference; by the targets it is turned, which makes the minus. */
static lam_tensor *slope_log_cosh(const lam_rule *r, int i, lam_tensor *t) {
    return lam_mul(t, lam_tanh(lam_sub(r->in[i], r->in[1 - i])));
}

/* Of the difference of both, as one function of two, so that what the difference is rounded by is not lost. */
const lam_primitive lam__row_log_cosh = {
    .name = "log_cosh",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_log_cosh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_log_cosh,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_IN(1),
};

lam_tensor *lam_log_cosh(lam_tensor *predictions, lam_tensor *targets) {
    return lam__apply_binary(&lam__row_log_cosh, predictions, targets);
}

/* By x the weight, as for the value. By the weight x, but 0 where that takes no part and is no number. */
static lam_tensor *slope_weigh(const lam_rule *r, int i, lam_tensor *t) {
    if (i == 1) return lam_weigh(r->in[0], t);
    lam_tensor *none = lam_and(lam_eq(r->in[0], 0.0), lam_not(lam_is_finite(r->in[1])));
    return lam_mul(t, lam_where(none, 0.0, r->in[1]));
}

const lam_primitive lam__row_weigh = {
    .name = "weigh",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_weigh + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 2u,
    .slope = slope_weigh,
    .saves = LAM_SAVE_IN(0),
    .saves_for = {LAM_SAVE_IN(1)},
};

lam_tensor *lam_weigh(lam_tensor *weight, lam_tensor *x) {
    return lam__apply_binary(&lam__row_weigh, weight, x);
}

/* A label of 0 beside a logit of -inf takes no part. lam_weigh makes 0 of that product, and of its slope by the logit;
 * by the label it is 0 as well, not -inf. */
static lam_tensor *weighted_sum(lam_tensor *weights, lam_tensor *x, int axis) {
    return lam_sum(lam_weigh(weights, x), &(lam_reduce_options){.axes = {1, &axis}});
}

lam_tensor *lam_softmax_cross_entropy(lam_tensor *logits, lam_tensor *labels, int axis) {
    uint64_t since = lam__scope_now(logits);
    lam_tensor *failed;
    if (!lam__apply_given("softmax_cross_entropy", 2, (lam_tensor *[]){logits, labels}, &failed)) return failed;
    return lam__scope_only(lam_neg(weighted_sum(labels, lam_log_softmax(logits, axis), axis)), since);
}

/* log sum exp(logits) - logit of the label: no probabilities are made, and one logit is taken instead of a product with
 * a one-hot vector. */
lam_tensor *lam_softmax_cross_entropy_with_integer_labels(lam_tensor *logits, lam_tensor *labels, int axis) {
    uint64_t since = lam__scope_now(logits);
    const char *name = "softmax_cross_entropy_with_integer_labels";
    lam_tensor *failed;
    if (!lam__apply_given(name, 2, (lam_tensor *[]){logits, labels}, &failed)) return failed;
    logits = lam__reduce_real(logits);
    if (!lam__apply_axis(name, logits, lam_rank(logits), &axis)) return lam__axes_failed(logits);
    lam_tensor *at_label = lam_take_along_axis(logits, lam_expand_dims(labels, axis), axis);
    lam_tensor *total = lam_logsumexp(logits, &(lam_reduce_options){.axes = {1, &axis}});
    return lam__scope_only(lam_sub(total, lam_squeeze(at_label, (lam_axes){1, &axis})), since);
}

/* No difference of large numbers: each label weighs the side that it names. Both sides are softplus, which is never
 * negative and never large where the label is right. */
lam_tensor *lam_sigmoid_binary_cross_entropy(lam_tensor *logits, lam_tensor *labels) {
    uint64_t since = lam__scope_now(logits);
    lam_tensor *failed;
    if (!lam__apply_given("sigmoid_binary_cross_entropy", 2, (lam_tensor *[]){logits, labels}, &failed)) return failed;
    lam_tensor *yes = lam_mul(lam_softplus(lam_neg(lam__reduce_real(logits))), labels);
    return lam__scope_only(lam_add(yes, lam_mul(lam_softplus(logits), lam_sub(1.0, labels))), since);
}

/* sum t (log t - log p), where t log t is 0 at t = 0. */
lam_tensor *lam_kl_divergence(lam_tensor *log_predictions, lam_tensor *targets, int axis) {
    uint64_t since = lam__scope_now(log_predictions);
    lam_tensor *failed;
    if (!lam__apply_given("kl_divergence", 2, (lam_tensor *[]){log_predictions, targets}, &failed)) return failed;
    const lam_reduce_options over = {.axes = {1, &axis}};
    return lam__scope_only(
        lam_sub(lam_sum(lam_xlogy(targets, targets), &over), weighted_sum(targets, log_predictions, axis)), since);
}

/* x in the dtype and the dims that it has beside y. What has them already is not passed over. A sum with zeros promotes
 * and broadcasts at once, and its derivative sums back. */
static lam_tensor *beside(lam_tensor *x, lam_tensor *y) {
    const lam_value *own = lam__scope_peek(x), *other = lam__scope_peek(y);
    return own && other && lam__value_same_type(own, other) ? x : lam_add(x, lam_zeros_like(y));
}

/* x over about its length, which counts as a constant here: what does not depend on lengths is the same of it, and no
 * product of its elements leaves the range. Lengths beyond the range are taken for its ends. The ends and their
 * reciprocals are normal numbers, so that nothing is lost by either. */
static lam_tensor *near_1(lam_tensor *x, lam_axes over) {
    lam_tensor *length = lam_norm(lam_stop_gradient(x), &(lam_norm_options){.axes = over, .keepdims = true});
    const double end = lam_dtype_of(length) == LAM_F32 ? 0x1p126 : 0x1p1022;
    return lam_mul(x, lam_reciprocal(lam_clamp(length, 1 / end, end)));
}

/* A vector of 0 has no direction, and what is taken for the cosine is 0, as are its derivatives: it is as one that is
 * infinitely long. */
static lam_tensor *length_of(lam_tensor *x, lam_axes over) {
    lam_tensor *length = lam_norm(x, &(lam_norm_options){.axes = over});
    return lam_where(lam_eq(length, 0.0), INFINITY, length);
}

/* Lengths about 1 come first: of the vectors as they are products would overflow, or vanish, where the cosine does
 * not. */
lam_tensor *lam_cosine_similarity(lam_tensor *x, lam_tensor *y, int axis) {
    uint64_t since = lam__scope_now(x);
    const lam_axes over = {1, &axis};
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__apply_given("cosine_similarity", 2, in, &failed)) return failed;
    const lam_dtype dtype = lam__apply_floats(2, in);
    x = beside(in[0], in[1]); /* so that both have the axis */
    y = beside(in[1], in[0]);
    if (!lam__apply_axis("cosine_similarity", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    x = near_1(x, over);
    y = near_1(y, over);
    /* One after the other: the derivative of a product of lengths would meet 0 times infinity. */
    lam_tensor *share = lam_div(lam_vecdot(lam_conj(x), y, axis), length_of(x, over));
    return lam__scope_only(lam__apply_narrowed(lam_div(share, length_of(y, over)), dtype), since);
}
