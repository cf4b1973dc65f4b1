/* Samples of distributions with parameters, made of uniform, normal, exponential and gamma variables. Formulas and the
 * order of the bits are those of jax.random, rewritten where its own form loses digits, leaves the range or has no
 * derivative: each sample is a smooth function of its parameters at fixed bits. Gamma variables are taken as
 * logarithms, since for small shapes they are below the range. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* ---- without parameters ------------------------------------------------------------------------------------------ */

/* 1 and -1 of dtype, by f64 numbers whatever the dtype. */
static lam_tensor *signs(const lam__source *s, lam_dtype dtype) {
    lam__source coins = *s;
    coins.dtype = LAM_F64;
    return lam_sub(lam_mul(2, lam_cast(lam_lt(lam__random_unit(&coins), 0.5), dtype)), 1);
}

/* Signs have no derivative, so integers may have them. They are drawn as f64 numbers, so one key gives one pattern in
 * every dtype. */
lam_tensor *lam_random_rademacher(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_source("random_rademacher", key, LAM_F64, dims, &s, &failed)) return failed;
    if (dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_F64 || dtype == LAM_F32)
        return lam__scope_only(signs(&s, dtype), since);
    return lam__axes_fail("random_rademacher", key, LAM_ERR_DTYPE, "dtype %s cannot be had, f64, f32, i64 and i32 can",
                          lam_dtype_name(dtype));
}

/* The lengths of vectors of three normal numbers. As rows of one matrix: dims of the user may be as many as there can
 * be, without room for an axis of three. */
static lam_tensor *sample_maxwell(const lam__source *s) {
    int64_t count = 1;
    for (int i = 0; i < s->dims.rank; i++) count *= s->dims.dims[i];
    lam__source vectors = *s;
    vectors.dims = LAM_DIMS(count, 3);
    lam_tensor *lengths = lam_norm(lam__random_normal(&vectors), &(lam_norm_options){.axes = LAM_AXES(1)});
    return lam_reshape(lengths, s->dims);
}

/* Elements are counted before three numbers are made for each. */
lam_tensor *lam_random_maxwell(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_maxwell";
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_source(name, key, dtype, dims, &s, &failed) || !lam__create_countable(name, s.ctx, dtype, dims))
        return failed;
    return lam__scope_only(sample_maxwell(&s), since);
}

/* Q of a normal matrix, each column with the sign that R has on the diagonal (Mezzadri 2007). A wide matrix is the
 * transpose of a tall one. */
lam_tensor *lam_random_orthogonal(lam_tensor *key, lam_dtype dtype, int64_t rows, int64_t columns, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_orthogonal";
    int64_t wide[LAM_MAX_RANK], wider[LAM_MAX_RANK];
    lam_tensor *failed, *q, *r;
    lam__source s;
    if (!lam__random_source(name, key, dtype, dims, &s, &failed)) return failed;
    if (rows < 0 || columns < 0)
        return lam__axes_fail(name, key, LAM_ERR_VALUE, "there are no %lld x %lld matrices", (long long)rows,
                              (long long)columns);
    if (!lam__random_append(&s, rows > columns ? rows : columns, wide) ||
        !lam__random_append(&s, rows > columns ? columns : rows, wider))
        return failed;
    if (lam_qr(lam__random_normal(&s), &q, &r, NULL) != LAM_OK) return failed;
    lam_tensor *tall = lam_mul(q, lam_expand_dims(lam_sign(lam_diagonal(r, 0, -2, -1)), -2));
    return lam__scope_only(rows < columns ? lam_contiguous(lam_matrix_transpose(tall)) : tall, since);
}

/* ---- with parameters --------------------------------------------------------------------------------------------- */

/* Sampler of parameters that have been brought to one dtype and were looked at. */
typedef lam_tensor *sample(const lam__source *s, lam_tensor *const p[]);

/* The sample of n parameters, of which all but those without a name must be positive and finite. NaN fails the range
 * too. */
static lam_tensor *sample_of(const char *name, lam_tensor *key, int n, lam_tensor *p[], const char *const names[],
                             lam_dims dims, sample *draw) {
    uint64_t since = lam__scope_now(key);
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, n, p, 0, dims, &s, &failed) ||
        !lam__create_countable(name, s.ctx, s.dtype, dims))
        return failed;
    for (int i = 0; i < n; i++)
        if (names[i] && !lam__seen_in_range(name, names[i], p[i], 0, true, DBL_MAX)) return failed;
    return lam__scope_only(draw(&s, p), since);
}

/* By one word: the sampler, the names of its parameters and the name in messages. The list ends where the words do, so
 * n says how many there are. */
#define SAMPLE(n, draw, ...)                                                                                           \
    sample_of("random_" #draw, key, n, (lam_tensor *[]){__VA_ARGS__}, names_##draw, dims, sample_##draw)

/* No name: sigma may be anything, as its sign only turns the normal number. */
static const char *const names_lognormal[] = {NULL};

/* exp(sigma z). */
static lam_tensor *sample_lognormal(const lam__source *s, lam_tensor *const p[]) {
    return lam_exp(lam_mul(lam__random_normal(s), p[0]));
}

/* The normal variable inside has mean 0. */
lam_tensor *lam_random_lognormal(lam_tensor *key, lam_tensor *sigma, lam_dims dims) {
    return SAMPLE(1, lognormal, sigma);
}

static const char *const names_rayleigh[] = {"the scale"};

/* The least normal number stands for 0, whose logarithm is infinite. */
static lam_tensor *sample_rayleigh(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *u = lam_max(lam__random_unit(s), s->dtype == LAM_F64 ? DBL_MIN : FLT_MIN);
    return lam_mul(p[0], lam_sqrt(lam_mul(-2.0, lam_log(u))));
}

/* The scale times the length of a vector of two normal numbers. */
lam_tensor *lam_random_rayleigh(lam_tensor *key, lam_tensor *scale, lam_dims dims) {
    return SAMPLE(1, rayleigh, scale);
}

static const char *const names_weibull_min[] = {"the scale", "the concentration"};

/* scale e^(1 / k) of an exponential variable e: the quantile, with -log u for e. */
static lam_tensor *sample_weibull_min(const lam__source *s, lam_tensor *const p[]) {
    return lam_mul(p[0], lam_pow(lam__random_exponential(s), lam_reciprocal(p[1])));
}

/* Of concentration 1 it is exponential. */
lam_tensor *lam_random_weibull_min(lam_tensor *key, lam_tensor *scale, lam_tensor *concentration, lam_dims dims) {
    return SAMPLE(2, weibull_min, scale, concentration);
}

static const char *const names_pareto[] = {"the exponent"};

/* exp(e / b) = u^(-1 / b). */
static lam_tensor *sample_pareto(const lam__source *s, lam_tensor *const p[]) {
    return lam_exp(lam_div(lam__random_exponential(s), p[0]));
}

lam_tensor *lam_random_pareto(lam_tensor *key, lam_tensor *b, lam_dims dims) {
    return SAMPLE(1, pareto, b);
}

static const char *const names_double_sided_maxwell[] = {NULL, "the scale"};

/* loc + scale times a length with either sign. */
static lam_tensor *sample_double_sided_maxwell(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *keys = lam_split(s->key, 2);
    lam__source lengths = lam__random_with(s, keys, 0), coins = lam__random_with(s, keys, 1);
    return lam_fma(lam_mul(signs(&coins, s->dtype), sample_maxwell(&lengths)), p[1], p[0]);
}

lam_tensor *lam_random_double_sided_maxwell(lam_tensor *key, lam_tensor *loc, lam_tensor *scale, lam_dims dims) {
    return SAMPLE(2, double_sided_maxwell, loc, scale);
}

/* With y = v^2 of a normal v, the smaller root is mean / (1 + a + sqrt(a (a + 2))), a = mean y / 2, which jax.random
 * writes as a difference; the other is mean^2 over it. |v| taken out of the square root leaves it smooth at 0. */
static const char *const names_wald[] = {"the mean"};

static lam_tensor *sample_wald(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *keys = lam_split(s->key, 2), *mean = p[0];
    lam__source normal = lam__random_with(s, keys, 0), uniform = lam__random_with(s, keys, 1);
    lam_tensor *v = lam__random_normal(&normal), *half = lam_mul(0.5, mean), *a = lam_mul(half, lam_square(v));
    lam_tensor *root = lam_mul(lam_abs(v), lam_sqrt(lam_mul(half, lam_add(a, 2.0))));
    lam_tensor *less = lam_reciprocal(lam_add(lam_add(1.0, a), root));
    lam_tensor *smaller = lam_le(lam__random_unit(&uniform), lam_reciprocal(lam_add(1.0, less)));
    return lam_mul(mean, lam_where(smaller, less, lam_reciprocal(less)));
}

/* Of scale 1; also called inverse Gaussian. */
lam_tensor *lam_random_wald(lam_tensor *key, lam_tensor *mean, lam_dims dims) {
    return SAMPLE(1, wald, mean);
}

/* The logarithm of half a chi-squared variable. Half, since that is what gamma variables give. */
static lam_tensor *log_half_chisquare(const lam__source *s, lam_tensor *df) {
    return lam__random_loggamma(s, lam_mul(0.5, df));
}

/* Half of it, twice: shapes of gamma variables may be so small that the variable is 0 where its logarithm is a
 * number. */
static const char *const names_chisquare[] = {"the degrees of freedom"};

/* Twice a gamma variable of shape df / 2. */
static lam_tensor *sample_chisquare(const lam__source *s, lam_tensor *const p[]) {
    return lam_mul(2.0, lam_exp(log_half_chisquare(s, p[0])));
}

/* Degrees of freedom need not be whole. */
lam_tensor *lam_random_chisquare(lam_tensor *key, lam_tensor *df, lam_dims dims) {
    return SAMPLE(1, chisquare, df);
}

static const char *const names_t[] = {"the degrees of freedom"};

/* z / sqrt(c / df), with c from the logarithm of its half: z sqrt(df / 2) exp(-log(c / 2) / 2). */
static lam_tensor *sample_t(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *keys = lam_split(s->key, 2);
    lam__source normal = lam__random_with(s, keys, 0), gamma = lam__random_with(s, keys, 1);
    lam_tensor *less = lam_exp(lam_mul(-0.5, log_half_chisquare(&gamma, p[0])));
    return lam_mul(lam__random_normal(&normal), lam_mul(lam_sqrt(lam_mul(0.5, p[0])), less));
}

lam_tensor *lam_random_t(lam_tensor *key, lam_tensor *df, lam_dims dims) {
    return SAMPLE(1, t, df);
}

static const char *const names_f[] = {"the degrees of freedom above", "the degrees of freedom below"};

/* (a / df_above) / (b / df_below) of two chi-squared variables. */
static lam_tensor *sample_f(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *keys = lam_split(s->key, 2);
    lam__source below = lam__random_with(s, keys, 0), above = lam__random_with(s, keys, 1);
    lam_tensor *log = lam_sub(log_half_chisquare(&above, p[0]), log_half_chisquare(&below, p[1]));
    return lam_mul(lam_exp(log), lam_div(p[1], p[0]));
}

lam_tensor *lam_random_f(lam_tensor *key, lam_tensor *df_above, lam_tensor *df_below, lam_dims dims) {
    return SAMPLE(2, f, df_above, df_below);
}

static const char *const names_generalized_normal[] = {"the exponent"};

/* Logarithms of |x|^p, and signs. */
static lam_tensor *log_power(const lam__source *s, lam_tensor *p, lam_tensor **sign) {
    lam_tensor *keys = lam_split(s->key, 2);
    lam__source gamma = lam__random_with(s, keys, 0), coins = lam__random_with(s, keys, 1);
    *sign = signs(&coins, s->dtype);
    return lam__random_loggamma(&gamma, lam_reciprocal(p));
}

/* |x|^p is a gamma variable of shape 1 / p. Its logarithm is divided by p before the exponential, so that small shapes
 * stay in range. */
static lam_tensor *sample_generalized_normal(const lam__source *s, lam_tensor *const p[]) {
    lam_tensor *sign, *log = log_power(s, p[0], &sign);
    return lam_mul(sign, lam_exp(lam_div(log, p[0])));
}

/* p = 2 is normal up to scale, p = 1 is Laplace's. */
lam_tensor *lam_random_generalized_normal(lam_tensor *key, lam_tensor *p, lam_dims dims) {
    return SAMPLE(1, generalized_normal, p);
}

/* With an exponential variable as one more coordinate |x|^p, what is divided by the norm lies in the ball uniformly
 * (Barthe, Guedon, Mendelson, Naor 2005). */
lam_tensor *lam_random_ball(lam_tensor *key, int64_t d, lam_tensor *p, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_ball";
    int64_t wide[LAM_MAX_RANK];
    lam_tensor *failed, *sign;
    lam__source s;
    if (!lam__random_parameters(name, key, 1, &p, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the exponent", p, 0, true, DBL_MAX))
        return failed;
    if (d < 0) return lam__axes_fail(name, key, LAM_ERR_VALUE, "there is no ball of %lld dimensions", (long long)d);
    /* The exponent stands beside d coordinates, so it gets an axis of one. */
    lam_tensor *keys = lam_split(key, 2), *own = lam_expand_dims(p, -1);
    lam__source coordinates = lam__random_with(&s, keys, 0), last = lam__random_with(&s, keys, 1);
    if (!lam__random_append(&coordinates, d, wide)) return failed;
    lam_tensor *log = log_power(&coordinates, own, &sign), *rest = lam__random_exponential(&last);
    lam_tensor *sum = lam_add(lam_sum(lam_exp(log), &(lam_reduce_options){.axes = LAM_AXES(-1)}), rest);
    lam_tensor *length = lam_div(lam_sub(log, lam_expand_dims(lam_log(sum), -1)), own);
    return lam__scope_only(lam_mul(sign, lam_exp(length)), since);
}

/* ---- triangular -------------------------------------------------------------------------------------------------- */

/* The quantile, on the side of the mode where u lies; square roots apart, since u is no parameter and may be 0. Neither
 * side is divided by 0: both are chosen among products. */
static lam_tensor *sample_triangular(const lam__source *s, lam_tensor *left, lam_tensor *mode, lam_tensor *right) {
    lam_tensor *whole = lam_sub(right, left), *before = lam_sub(mode, left), *u = lam__random_unit(s);
    lam_tensor *rising = lam_lt(u, lam_div(before, whole)), *part = lam_where(rising, u, lam_sub(1.0, u));
    lam_tensor *side = lam_where(rising, before, lam_sub(right, mode));
    lam_tensor *from = lam_mul(lam_sqrt(part), lam_sqrt(lam_mul(whole, side)));
    return lam_where(rising, lam_add(left, from), lam_sub(right, from));
}

/* The mode may be either end, but the ends are two. NaN in any of them is refused with the range. */
lam_tensor *lam_random_triangular(lam_tensor *key, lam_tensor *left, lam_tensor *mode, lam_tensor *right,
                                  lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_triangular";
    lam_tensor *in[3] = {left, mode, right}, *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 3, in, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "mode - left", lam_sub(in[1], in[0]), 0, false, DBL_MAX) ||
        !lam__seen_in_range(name, "right - mode", lam_sub(in[2], in[1]), 0, false, DBL_MAX) ||
        !lam__seen_in_range(name, "right - left", lam_sub(in[2], in[0]), 0, true, DBL_MAX))
        return failed;
    return lam__scope_only(sample_triangular(&s, in[0], in[1], in[2]), since);
}
