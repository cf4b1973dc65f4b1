/* What is made of reductions: means, variances, norms. No rows, no rules. Where a root has no slope at 0 the 0
 * is taken out before and put back behind, so that no inf or NaN comes into a gradient. */
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

/* f(x) where x is not 0, and 0 with slope 0 where it is. */
static lam_tensor *safe_at_zero(lam_tensor *x, lam_tensor *(*f)(lam_tensor *x, double p), double p) {
    lam_tensor *zero = lam_eq(x, 0.0);
    return lam_where(zero, 0.0, f(lam_where(zero, 1.0, x), p));
}

static lam_tensor *root(lam_tensor *x, double p) {
    return p == 2 ? lam_sqrt(x) : lam_pow(x, 1 / p);
}

static lam_tensor *power(lam_tensor *x, double p) {
    return lam_pow(x, p);
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

static lam_tensor *variance(const char *operation, lam_tensor *x, const lam_var_options *options) {
    static const lam_var_options none;
    const lam_var_options *o = options ? options : &none;
    double n;
    if (!extent(operation, x, o->axes, &n)) return lam__axes_failed(x);
    lam_tensor *away = lam_sub(x, lam_mean(x, &(lam_reduce_options){o->axes, true}));
    double divisor = n > o->ddof ? n - o->ddof : 0;
    return lam_div(lam_sum(squared(away), &(lam_reduce_options){o->axes, o->keepdims}), divisor);
}

lam_tensor *lam_var(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(variance("var", x, options), since);
}

lam_tensor *lam_std(lam_tensor *x, const lam_var_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(safe_at_zero(variance("std", x, options), root, 2), since);
}

/* ---- norm ------------------------------------------------------------------------------------------------------- */

lam_tensor *lam_norm(lam_tensor *x, const lam_norm_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_norm_options none;
    const lam_norm_options *o = options ? options : &none;
    const lam_reduce_options over = {o->axes, o->keepdims};
    double order = o->order == 0 ? 2 : o->order, n;
    if (!extent("norm", x, o->axes, &n)) return lam__axes_failed(x);
    x = lam__reduce_real(x);
    if (order == 2) return lam__scope_only(safe_at_zero(lam_sum(squared(x), &over), root, 2), since);
    lam_tensor *size = lam_abs(x);
    if (order == 1) return lam__scope_only(lam_sum(size, &over), since);
    if (isinf(order))
        return lam__scope_only(order > 0 ? lam_max_reduce(size, &over) : lam_min_reduce(size, &over), since);
    if (!(order > 0)) return lam__axes_fail("norm", x, LAM_ERR_OPTION, "there is no norm of order %g", order);
    return lam__scope_only(safe_at_zero(lam_sum(safe_at_zero(size, power, order), &over), root, order), since);
}
