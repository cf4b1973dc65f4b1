/* Operations made of others: no rows, no rules. */
#include "lib/primitives/axes.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* The larger + log(1 + exp(the smaller - the larger)): smooth also where they change places, since each choice is. Two
 * infinities of one sign, whose difference is NaN, are the result in equal parts. */
lam_tensor *(lam_logaddexp)(lam_tensor *x, lam_tensor *y) {
    lam_tensor *first = lam_gt(x, y), *large = lam_where(first, x, y), *small = lam_where(first, y, x);
    lam_tensor *gap = lam_sub(small, large), *same = lam_is_nan(gap);
    lam_tensor *rest = lam_log1p(lam_exp(lam_where(same, 0.0, gap)));
    return lam_where(same, lam_mul(0.5, lam_add(x, y)), lam_add(large, rest));
}

lam_tensor *(lam_xlogy)(lam_tensor *x, lam_tensor *y) {
    lam_tensor *harmless = lam_and(lam_gt(y, 0.0), lam_is_finite(y));
    lam_tensor *replace = lam_and(lam_eq(x, 0.0), lam_not(lam_or(harmless, lam_is_nan(y))));
    return lam_mul(x, lam_log(lam_where(replace, 1.0, y)));
}

lam_tensor *lam_add_all(lam_list terms) {
    if (!terms.count || !terms.items) return lam__axes_failed(NULL);
    lam_tensor *sum = terms.count == 1 ? lam_alias(terms.items[0]) : terms.items[0];
    for (size_t i = 1; i < terms.count; i++) sum = lam_add(sum, terms.items[i]);
    return sum;
}
