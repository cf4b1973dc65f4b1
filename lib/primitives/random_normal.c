/* Normal samples: quantiles of uniform numbers, by the inverse error function. Formulas as jax.random has them; its own
 * inverse error function is off by up to 100 ULP in the tails, where these numbers then differ from it. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

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
        !lam__seen_in_range(name, "high - low", lam_sub(bounds[1], bounds[0]), 0, true, (double)INFINITY))
        return failed;
    /* erf(x / sqrt 2) of the bounds: probabilities on the scale from -1 to 1, on which erf_inv takes u. */
    lam_tensor *a = lam_erf(lam_div(bounds[0], 1.4142135623730951)),
               *b = lam_erf(lam_div(bounds[1], 1.4142135623730951));
    /* Rounding of fma may fall below a by a unit. */
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
        return lam__axes_fail(name, covariance, LAM_ERR_SHAPE, "the covariance is not a %lld x %lld matrix",
                              (long long)n, (long long)n);
    if (!lam__random_append(&s, n, wide)) return failed;
    s.dtype = lam__dtype_promote((int)s.dtype, (int)of_covariance.dtype);
    /* Vectors as columns, for a product with the factor of each. */
    lam_tensor *z = lam_expand_dims(lam__random_normal(&s), -1);
    return lam__scope_only(lam_add(mean, lam_squeeze(lam_matmul(lam_cholesky(factor), z), LAM_AXES(-1))), since);
}

/* ---- weights to begin with --------------------------------------------------------------------------------------- */

/* How many inputs and outputs a unit has: all axes but two are places of a window, which count for both. Without axes
 * given, the last two are those of inputs and outputs. */
static bool fans(lam_tensor *key, lam_dims dims, const lam_variance_scaling_options *o, double *in, double *out) {
    const char *name = "random_variance_scaling";
    const bool usual = o->in_axis == 0 && o->out_axis == 0;
    /* 0 for both cannot be meant, so it is what nothing given looks like. */
    int axis[2] = {usual ? -2 : o->in_axis, usual ? -1 : o->out_axis};
    double places = 1;
    if (dims.rank < 2 || dims.rank > LAM_MAX_RANK || !dims.dims)
        return lam__axes_fail(name, key, LAM_ERR_RANK, "weights have an axis for inputs and one for outputs"), false;
    for (int i = 0; i < 2; i++) {
        if (axis[i] < 0) axis[i] += dims.rank;
        if (axis[i] < 0 || axis[i] >= dims.rank || (i && axis[1] == axis[0]))
            return lam__axes_fail(name, key, LAM_ERR_AXIS, "axes %d and %d of %d", o->in_axis, o->out_axis, dims.rank),
                   false;
    }
    for (int i = 0; i < dims.rank; i++)
        if (i != axis[0] && i != axis[1]) places *= (double)dims.dims[i];
    *in = places * (double)dims.dims[axis[0]];
    *out = places * (double)dims.dims[axis[1]];
    return true;
}

/* The standard deviation of a standard normal between -2 and 2 is 0.8796...; that of uniform numbers between -1 and 1
 * the root of 1/3. Without elements there is no fan, and nothing to scale. */
lam_tensor *lam_random_variance_scaling(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                                        const lam_variance_scaling_options *options) {
    static const lam_variance_scaling_options none;
    const lam_variance_scaling_options *o = options ? options : &none;
    const char *name = "random_variance_scaling";
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    double in, out;
    lam__source s;
    if (!lam__random_source(name, key, dtype, dims, &s, &failed)) return failed;
    if (!fans(key, dims, o, &in, &out)) return lam__axes_failed(key);
    if ((unsigned)o->fan > LAM_FAN_AVERAGE || (unsigned)o->sample > LAM_FAN_UNIFORM)
        return lam__axes_fail(name, key, LAM_ERR_OPTION, "no such fan or sample");
    if (!(o->scale >= 0 && o->scale <= DBL_MAX)) return lam__axes_fail(name, key, LAM_ERR_VALUE, "scale %g", o->scale);
    const double fan = o->fan == LAM_FAN_IN ? in : o->fan == LAM_FAN_OUT ? out : (in + out) / 2;
    /* A scale of 0 is the default of the option. */
    const double variance = (o->scale == 0 ? 1 : o->scale) / (fan > 0 ? fan : 1);
    if (o->sample == LAM_FAN_NORMAL)
        return lam__scope_only(lam_mul(lam_random_normal(key, dtype, dims), sqrt(variance)), since);
    lam_tensor *one = lam_cast(lam_scalar(lam_ctx_of(key), 1), dtype);
    if (o->sample == LAM_FAN_UNIFORM) {
        const lam_random_uniform_options both = {.low = lam_neg(one), .high = one};
        return lam__scope_only(lam_mul(lam_random_uniform(key, dtype, dims, &both), sqrt(3 * variance)), since);
    }
    /* Cut at two deviations, it is made wider by what the cut takes away. */
    lam_tensor *cut = lam_random_truncated_normal(key, lam_mul(one, -2), lam_mul(one, 2), dims);
    return lam__scope_only(lam_mul(cut, sqrt(variance) / 0.87962566103423978), since);
}
