/* Normal samples: quantiles of uniform numbers, by the inverse error function. Formulas as jax.random has them; its own
 * inverse error function is off by up to 100 ULP in the tails, where these numbers then differ from it. */
#include "lib/primitives/random.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* The normal quantile of a uniform number in (-1, 1): the square root of 2 times the inverse error function. The lower
 * bound is the first number above -1, at which the quantile would be -inf. */
lam_tensor *lam__random_normal(const lam__source *s) {
    double epsilon = s->dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON;
    lam_tensor *u = lam__random_between(s, -1 + epsilon / 2, 1);
    return lam_mul(1.4142135623730951, lam_erf_inv(u));
}

/* The same numbers as lam__random_normal gives to other samplers with this key. */
lam_tensor *lam_random_normal(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    lam__source s;
    return lam__scope_only(
        lam__random_source("random_normal", key, dtype, dims, &s, &failed) ? lam__random_normal(&s) : failed, since);
}

/* A normal sample between bounds: the quantile of a uniform number between their probabilities, kept inside the bounds
 * where rounding would leave them. The bounds of the last step are the neighbours inside, since a sample is in the open
 * interval; they are constants, so the derivative by a bound comes by way of u alone. */
lam_tensor *lam_random_truncated_normal(lam_tensor *key, lam_tensor *low, lam_tensor *high, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_truncated_normal";
    lam_tensor *bounds[2] = {low, high}, *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 2, bounds, 0, dims, &s, &failed) ||
        !lam__random_in_range(name, "high - low", lam_sub(bounds[1], bounds[0]), 0, true, (double)INFINITY))
        return failed;
    lam_tensor *a = lam_erf(lam_div(bounds[0], 1.4142135623730951)),
               *b = lam_erf(lam_div(bounds[1], 1.4142135623730951));
    lam_tensor *u = lam_max(a, lam_fma(lam__random_unit(&s), lam_sub(b, a), a));
    lam_tensor *least = lam_nextafter(lam_stop_gradient(bounds[0]), lam_full_like(bounds[0], (double)INFINITY));
    lam_tensor *most = lam_nextafter(lam_stop_gradient(bounds[1]), lam_full_like(bounds[1], -(double)INFINITY));
    return lam__scope_only(lam_clamp(lam_mul(1.4142135623730951, lam_erf_inv(u)), least, most), since);
}

/* mean + L z with L the Cholesky factor of the covariance. The two parameters are checked apart, as each has axes of
 * its own: one of the mean, two of the covariance. */
lam_tensor *lam_random_multivariate_normal(lam_tensor *key, lam_tensor *mean, lam_tensor *covariance, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_multivariate_normal";
    lam_tensor *factor = covariance, *failed;
    lam__source s, of_covariance;
    int64_t wide[LAM_MAX_RANK], n = lam_dim(mean, -1);
    if (!lam__random_parameters(name, key, 1, &mean, 1, dims, &s, &failed) ||
        !lam__random_parameters(name, key, 1, &factor, 2, dims, &of_covariance, &failed))
        return failed;
    if (lam_dim(covariance, -1) != n || lam_dim(covariance, -2) != n)
        return lam__axes_fail(name, covariance, LAM_ERR_SHAPE, "the covariance is no %lld x %lld matrix", (long long)n,
                              (long long)n);
    if (!lam__random_append(&s, n, wide)) return failed;
    s.dtype = lam__dtype_promote((int)s.dtype, (int)of_covariance.dtype);
    lam_tensor *z = lam_expand_dims(lam__random_normal(&s), -1);
    return lam__scope_only(lam_add(mean, lam_squeeze(lam_matmul(lam_cholesky(factor), z), LAM_AXES(-1))), since);
}
