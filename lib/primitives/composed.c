/* Operations made of others: no rows, no rules. */
#include "lib/primitives/axes.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

lam_tensor *(lam_logaddexp)(lam_tensor *x, lam_tensor *y) {
    lam_tensor *gap = lam_sub(x, y);
    lam_tensor *equal = lam_is_nan(gap); /* two infinities of one sign: their common value is the answer */
    lam_tensor *safe = lam_where(equal, 0.0, gap);
    return lam_where(equal, lam_add(x, y), lam_add(lam_max(x, y), lam_log1p(lam_exp(lam_neg(lam_abs(safe))))));
}

lam_tensor *(lam_xlogy)(lam_tensor *x, lam_tensor *y) {
    lam_tensor *harmless = lam_and(lam_gt(y, 0.0), lam_is_finite(y));
    lam_tensor *replace = lam_and(lam_eq(x, 0.0), lam_not(lam_or(harmless, lam_is_nan(y))));
    return lam_mul(x, lam_log(lam_where(replace, 1.0, y)));
}

lam_tensor *lam_add_all(lam_list terms) {
    if (!terms.count || !terms.items) return lam__axes_failed(NULL);
    lam_tensor *sum = terms.items[0];
    for (size_t i = 1; i < terms.count; i++) sum = lam_add(sum, terms.items[i]);
    return sum;
}
