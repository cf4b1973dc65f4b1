/* Windows that taper off to both ends, numbers in geometric progression, Bernoulli's: tables from nothing, made in f64
 * and rounded once. They are symmetric to the last bit, because they are made of the distance from the middle. */
#include "lib/primitives/axes.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* f64, f32 and the halves, to which f64 is rounded at the end. */
static bool is_real_float(lam_dtype dtype) {
    return lam__dtype_is_float((int)dtype) || lam__dtype_is_half((int)dtype);
}

/* From -1 to 1, one for each of count points: whole numbers divided once. NULL after a failure, which *failed is.
 * Distances from the middle are then equal at both sides. */
static lam_tensor *distances(const char *name, lam_ctx *ctx, lam_dtype dtype, int64_t count, lam_tensor **failed) {
    if (!ctx) return *failed = lam_linspace(ctx, dtype, 0, 0, 0), NULL;
    if (is_real_float(dtype) && count >= 0) {
        const double last = (double)count - 1;
        return lam_div(lam_arange(ctx, LAM_F64, -last, last + 1, 2), count > 1 ? last : 1.0);
    }
    *failed = lam__error_fail(ctx, count < 0 ? LAM_ERR_VALUE : LAM_ERR_DTYPE,
                              "%s: a window of %lld points, which are floats", name, (long long)count);
    return NULL;
}

/* a + b cos(pi t) + c cos(2 pi t): 1 in the middle, where t is 0. a is what is left of 1. */
static lam_tensor *cosines(const char *name, lam_ctx *ctx, lam_dtype dtype, int64_t count, double b, double c) {
    const double pi = 3.14159265358979323846;
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *failed, *t = distances(name, ctx, dtype, count, &failed);
    if (!t) return failed;
    lam_tensor *out = lam_add(lam_mul(b, lam_cos(lam_mul(pi, t))), 1 - b - c);
    if (c != 0) out = lam_add(out, lam_mul(c, lam_cos(lam_mul(2 * pi, t))));
    return lam__scope_only(lam_cast(out, dtype), since);
}

/* Coefficients of this one and the next two are those of NumPy. */
lam_tensor *lam_hanning(lam_ctx *ctx, lam_dtype dtype, int64_t count) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_named(cosines("hanning", ctx, dtype, count, 0.5, 0), since);
}

lam_tensor *lam_hamming(lam_ctx *ctx, lam_dtype dtype, int64_t count) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_named(cosines("hamming", ctx, dtype, count, 0.46, 0), since);
}

lam_tensor *lam_blackman(lam_ctx *ctx, lam_dtype dtype, int64_t count) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_named(cosines("blackman", ctx, dtype, count, 0.5, 0.08), since);
}

/* A triangle, 0 at both ends. */
lam_tensor *lam_bartlett(lam_ctx *ctx, lam_dtype dtype, int64_t count) {
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *failed, *t = distances("bartlett", ctx, dtype, count, &failed);
    return t ? lam__scope_only(lam_cast(lam_sub(1.0, lam_abs(t)), dtype), since) : failed;
}

/* Both Bessel functions without their exponentials, whose quotient is one of a difference: neither overflows. By the
 * sign of beta nothing changes, as both are even. */
lam_tensor *lam_kaiser(lam_ctx *ctx, lam_dtype dtype, int64_t count, double beta) {
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *failed, *t = distances("kaiser", ctx, dtype, count, &failed);
    if (!t || lam_failed(t)) return t ? lam__scope_named(t, since) : failed;
    if (!isfinite(beta)) return lam__axes_fail("kaiser", t, LAM_ERR_VALUE, "beta is %g", beta);
    beta = fabs(beta);
    lam_tensor *width = lam_sqrt(lam_mul(lam_sub(1.0, t), lam_add(1.0, t)));
    /* width - 1 = -t^2 / (1 + width) keeps the digits of the difference */
    lam_tensor *less = lam_mul(-beta, lam_div(lam_square(t), lam_add(width, 1.0)));
    lam_tensor *out = lam_div(lam_i0e(lam_mul(beta, width)), lam_i0e(lam_scalar(ctx, beta)));
    return lam__scope_only(lam_cast(lam_mul(out, lam_exp(less)), dtype), since);
}

/* start^(1 - t) stop^t: the quotient of both might leave the range. The ends are what was asked for. Both ends have one
 * sign, which is put back last. */
lam_tensor *lam_geomspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count) {
    const bool possible =
        count >= 0 && isfinite(start) && isfinite(stop) && start != 0 && stop != 0 && (start < 0) == (stop < 0);
    if (!ctx) return lam_linspace(ctx, dtype, start, stop, count);
    if (!is_real_float(dtype) || !possible)
        return lam__error_fail(ctx, possible ? LAM_ERR_DTYPE : LAM_ERR_VALUE,
                               "geomspace: %lld numbers from %g to %g, which are floats", (long long)count, start,
                               stop);
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *at = lam_arange(ctx, LAM_F64, 0, (double)count, 1), *t = lam_div(at, count > 1 ? (double)count - 1 : 1);
    lam_tensor *out = lam_mul(lam_pow(fabs(start), lam_sub(1.0, t)), lam_pow(fabs(stop), t));
    out = lam_where(lam_eq(t, 0.0), fabs(start), lam_where(lam_eq(t, 1.0), fabs(stop), out));
    return lam__scope_only(lam_cast(start < 0 ? lam_neg(out) : out, dtype), since);
}

/* ---- numbers of Bernoulli ---------------------------------------------------------------------------------------- */

/* B_2k for k > 0: 2 (2k)! / (2 pi)^2k, whose factors are multiplied up, times the sum of m^-2k, with the sign of
 * -(-1)^k. The first ones, whose sums are long, are quotients of whole numbers. 30 terms are enough from k = 8 on,
 * where the last is 1e-24. */
static double bernoulli(int64_t k, long double factor) {
    static const long double first[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                                        5.0L / 66, -691.0L / 2730, 7.0L / 6};
    if (k <= (int64_t)(sizeof first / sizeof *first)) return (double)first[k - 1];
    long double sum = 0;
    for (int m = 30; m > 0; m--) sum += powl(m, (long double)(-2 * k));
    return (double)(k % 2 ? factor * sum : -factor * sum);
}

/* Beyond 2k = 258 doubles end. What follows is 0 and, with signs by turns, infinite. */
lam_tensor *lam_bernoulli(lam_ctx *ctx, lam_dtype dtype, int64_t n) {
    enum { ALL = 261 };
    const long double turn = 6.28318530717958647692528676655900577L;
    double values[ALL] = {1, -0.5};
    if (!ctx || !is_real_float(dtype) || n < 0) {
        if (!ctx) return lam_linspace(ctx, dtype, 0, 0, 0);
        return lam__error_fail(ctx, n < 0 ? LAM_ERR_VALUE : LAM_ERR_DTYPE,
                               "bernoulli: numbers from 0 to %lld, which are floats", (long long)n);
    }
    uint64_t since = lam__scope_now_in(ctx);
    long double factor = 2;
    for (int64_t i = 1; 2 * i < ALL; i++) {
        factor *= (long double)(2 * i) / turn * ((long double)(2 * i - 1) / turn);
        values[2 * i] = bernoulli(i, factor);
    }
    lam_tensor *some = lam_array(ctx, LAM_F64, LAM_DIMS(n < ALL ? n + 1 : ALL), values);
    if (n < ALL) return lam__scope_only(lam_cast(some, dtype), since);
    lam_tensor *number = lam_iota(ctx, LAM_I64, LAM_DIMS(n - ALL + 1), 0); /* from 261 on: odd, even, ... */
    lam_tensor *sign = lam_where(lam_eq(lam_rem(number, 4), 1), INFINITY, -INFINITY);
    lam_tensor *beyond = lam_where(lam_eq(lam_rem(number, 2), 0), 0.0, sign);
    return lam__scope_only(lam_cast(lam_concatenate(LAM_LIST(some, beyond), 0), dtype), since);
}
