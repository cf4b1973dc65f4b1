/* What is made of reductions: means and variances. No rows, no rules. A standard deviation is a norm, which has a slope
 * at 0 and squares that stay in range. */
#include "lib/primitives/reduce.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/cplx.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* How many elements each result is made of. False after recording that the axes are wrong. */
static bool extent(const char *operation, lam_tensor *x, lam_axes axes, double *n) {
    lam_dims own = lam_dims_of(x);
    lam__axis_set set;
    if (!lam__axes_collect_set(operation, x, axes, own.rank, &set)) return false;
    *n = 1;
    for (int i = 0; i < own.rank; i++)
        if (set >> i & 1u) *n *= (double)own.dims[i];
    return true;
}

/* ---- mean, variance --------------------------------------------------------------------------------------------- */

lam_tensor *lam_mean(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    double n;
    if (!extent("mean", x, (options ? options : &none)->axes, &n)) return lam__axes_failed(x);
    return lam__scope_only(lam_div(lam_sum(lam__reduce_real(x), options), n), since);
}

/* |x|^2 */
static lam_tensor *squared(lam_tensor *x) {
    return lam__cplx_is(x) ? lam__cplx_size(x) : lam_square(x);
}

/* What is left of x without its mean. False after recording that the axes are wrong. */
static bool deviations(const char *operation, lam_tensor *x, const lam_var_options *o, lam_tensor **away,
                       double *divisor) {
    double n;
    if (!extent(operation, x, o->axes, &n)) return false;
    *away = lam_sub(x, lam_mean(x, &(lam_reduce_options){o->axes, true}));
    *divisor = n > o->ddof ? n - o->ddof : 0;
    return true;
}

lam_tensor *lam_var(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    lam_tensor *away;
    double divisor;
    if (!deviations("var", x, o, &away, &divisor)) return lam__axes_failed(x);
    lam_tensor *sum = lam_sum(squared(away), &(lam_reduce_options){o->axes, o->keepdims});
    return lam__scope_only(lam_div(sum, divisor), since);
}

lam_tensor *lam_std(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    lam_tensor *away;
    double divisor;
    if (!deviations("std", x, o, &away, &divisor)) return lam__axes_failed(x);
    lam_tensor *length = lam__norm_length(away, &(lam_reduce_options){o->axes, o->keepdims});
    return lam__scope_only(lam_div(length, sqrt(divisor)), since);
}
