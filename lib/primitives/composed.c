/* Operations made of others: no rows, no rules. */
#include "lib/primitives/axes.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* log(1 + exp(x)) of numbers up to 0, to base e or 2. */
static lam_tensor *natural_rest(lam_tensor *gap) {
    return lam_softplus(gap);
}

static lam_tensor *binary_rest(lam_tensor *gap) {
    return lam_mul(lam_log1p(lam_exp2(gap)), 1.44269504088896340736);
}

/* The larger + log(1 + exp(the smaller - the larger)): smooth also where they change places, since each choice is. Two
 * infinities of one sign, whose difference is NaN, are the result in equal parts. */
static lam_tensor *add_powers(lam_tensor *x, lam_tensor *y, lam_tensor *(*rest_of)(lam_tensor *gap)) {
    lam_tensor *first = lam_gt(x, y), *large = lam_where(first, x, y), *small = lam_where(first, y, x);
    lam_tensor *gap = lam_sub(small, large), *same = lam_is_nan(gap);
    lam_tensor *rest = rest_of(lam_where(same, 0.0, gap));
    return lam_where(same, lam_mul(0.5, lam_add(x, y)), lam_add(large, rest));
}

lam_tensor *(lam_logaddexp)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(add_powers(x, y, natural_rest), since);
}

lam_tensor *(lam_logaddexp2)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(add_powers(x, y, binary_rest), since);
}

/* y, but `instead` where x is 0 and the logarithm, which has its pole at `pole`, is not finite and not NaN for
 * cause. */
static lam_tensor *guarded(lam_tensor *x, lam_tensor *y, double pole, double instead) {
    lam_tensor *harmless = lam_and(lam_gt(y, pole), lam_is_finite(y));
    lam_tensor *replace = lam_and(lam_eq(x, 0.0), lam_not(lam_or(harmless, lam_is_nan(y))));
    return lam_where(replace, instead, y);
}

lam_tensor *(lam_xlogy)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_mul(x, lam_log(guarded(x, y, 0, 1))), since);
}

lam_tensor *(lam_xlog1py)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_mul(x, lam_log1p(guarded(x, y, -1, 0))), since);
}

lam_tensor *lam_log_logistic(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_neg(lam_softplus(lam_neg(x))), since);
}

lam_tensor *lam_logit(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_sub(lam_log(x), lam_log1p(lam_neg(x))), since);
}

lam_tensor *lam_entr(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *outside = lam_lt(x, 0.0), *inside = lam_where(outside, 0.0, x);
    return lam__scope_only(lam_where(outside, -INFINITY, lam_neg(lam_xlogy(inside, inside))), since);
}

lam_tensor *lam_rel_entr(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *none = lam_and(lam_eq(x, 0.0), lam_ge(y, 0.0)), *outside = lam_or(lam_lt(x, 0.0), lam_lt(y, 0.0));
    lam_tensor *skip = lam_or(none, outside);
    lam_tensor *ratio = lam_div(lam_where(skip, 1.0, x), lam_where(skip, 1.0, y));
    return lam__scope_only(lam_where(outside, INFINITY, lam_where(none, 0.0, lam_mul(x, lam_log(ratio)))), since);
}

lam_tensor *lam_kl_div(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_add(lam_rel_entr(x, y), lam_sub(y, x)), since);
}

lam_tensor *lam_add_all(lam_list terms) {
    uint64_t since = lam__scope_now(terms.count && terms.items ? terms.items[0] : NULL);
    if (!terms.count || !terms.items) return lam__axes_failed(NULL);
    lam_tensor *sum = terms.count == 1 ? lam_alias(terms.items[0]) : terms.items[0];
    for (size_t i = 1; i < terms.count; i++) sum = lam_add(sum, terms.items[i]);
    return lam__scope_only(sum, since);
}
