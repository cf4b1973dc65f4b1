/* Operations made of others: no rows, no rules. What needs no more than a line of calls and belongs to no family stands
 * here. */
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/reduce.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* log s(x) = -softplus(-x), which keeps its digits where s(x) is 1 and does not overflow where it is 0. */
lam_tensor *lam_log_logistic(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_neg(lam_softplus(lam_neg(lam__reduce_real(x)))), since);
}

/* From the first to the last. A single term gives a handle of its own, since a result is never an operand. A list of
 * none has no context that could record something; its result is the failed tensor of none. */
lam_tensor *lam_add_all(lam_list terms) {
    uint64_t since = lam__scope_now(terms.count && terms.items ? terms.items[0] : NULL);
    if (!terms.count || !terms.items) return lam__axes_failed(NULL);
    lam_tensor *sum = terms.count == 1 ? lam__scope_alias("add_all", terms.items[0]) : terms.items[0];
    for (size_t i = 1; i < terms.count; i++) sum = lam_add(sum, terms.items[i]);
    return lam__scope_only(sum, since);
}

/* Between the edges from x clamped to them, whose slope is 0 beyond. */
lam_tensor *lam_sparse_plus(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("sparse_plus", true, 1, &x, &failed)) return failed;
    lam_tensor *between = lam_square(lam_fma(lam_clamp(x, -1.0, 1.0), 0.5, 0.5));
    return lam__scope_only(lam_where(lam_ge(x, 1.0), x, between), since);
}

/* The derivative of sparse_plus, 0 and 1 beyond the edges. */
lam_tensor *lam_sparse_sigmoid(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("sparse_sigmoid", true, 1, &x, &failed)) return failed;
    return lam__scope_only(lam_fma(lam_clamp(x, -1.0, 1.0), 0.5, 0.5), since);
}
