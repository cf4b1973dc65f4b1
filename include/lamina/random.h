/* Random numbers. A key is a tensor; the same key gives the same numbers, on every machine, under every transform, in
 * any order and in pieces: use a new one each time, from lam_split or lam_fold_in. Names, meanings and bits are those
 * of jax.random with its default generator (Threefry-2x32, partitionable counters) for the same key. Beside keys there
 * is the generator of the context, which is simpler to use and gives a new draw each time.
 *
 * A key is an i64 tensor of dims [2] that holds two words of 32 bits, each in [0, 2^32): the numbers that
 * jax.random.key_data shows. It is i64 because there is no unsigned 32-bit dtype, and as an ordinary tensor it can be
 * indexed, stacked, kept in trees, stored and mapped over: lam_split gives [n, 2], and lam_vmap of a function of a key
 * maps over those n. Functions take one key, of dims [2]; only the low 32 bits of each word count.
 *
 * Keys are integers: nothing has a derivative by them. Samplers have one by their parameters if the sample is a smooth
 * function of them at fixed bits. Make others from the standard ones by arithmetic, which is differentiated as usual:
 * mean + scale lam_random_normal(...).
 *
 * All of them fail with LAM_ERR_DTYPE or LAM_ERR_SHAPE for an invalid key; LAM_ERR_DTYPE for dtypes not offered; for
 * impossible dims as lam_zeros. Owner: current scope. */
#ifndef LAMINA_RANDOM_H
#define LAMINA_RANDOM_H

#include <lamina/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- keys ------------------------------------------------------------------------------------------------------ */

/* The key of a seed: its upper and its lower 32 bits.
 * Shape   i64[2].
 * Fails   only without memory. */
LAM_API lam_tensor *lam_key(lam_ctx *ctx, uint64_t seed);

/* n new keys from one, which should not be used again.
 * Shape   i64[n, 2].
 * Fails   LAM_ERR_VALUE for a negative n. */
LAM_API lam_tensor *lam_split(lam_tensor *key, int64_t n);

/* A new key for a number, such as that of a step or of an example: an integer tensor of rank 0 or a C integer. Its low
 * 32 bits count.
 * Shape   i64[2].
 * Fails   LAM_ERR_DTYPE, LAM_ERR_SHAPE for other data. */
LAM_API lam_tensor *lam_fold_in(lam_tensor *key, lam_tensor *data);

/* lam_fold_in with data a tensor or a number. Fails as lam_fold_in does. */
LAM_API lam_tensor *lam__fold_in_operand(lam_tensor *key, lam__operand data);

/* ---- standard samples ------------------------------------------------------------------------------------------ */

/* Random bits: of i64 all 64, of i32 and u8 as many as they have, as bit patterns.
 * Shape   dims.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_DTYPE, LAM_ERR_SHAPE for an invalid key; LAM_ERR_OVERFLOW. */
LAM_API lam_tensor *lam_random_bits(lam_tensor *key, lam_dtype dtype, lam_dims dims);

typedef struct lam_random_uniform_options {
    lam_tensor *low, *high; /* broadcast to dims; NULL: 0 and 1 */
} lam_random_uniform_options;

/* Uniform in [low, high), of 2^52 (f64) or 2^23 (f32) evenly spaced values.
 * Shape   dims.
 * Fails   LAM_ERR_SHAPE for bounds that do not broadcast to dims; LAM_ERR_VALUE for bounds out of order, if their
 *         elements can be read (not inside vmap).
 * Derivative  by low 1 - u, by high u, with u the place in the interval. */
LAM_API lam_tensor *lam_random_uniform(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                                       const lam_random_uniform_options *options);

/* Integers of [low, high), of i64, i32 or u8.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE for an empty range or one that the dtype does not hold. */
LAM_API lam_tensor *lam_random_randint(lam_tensor *key, lam_dtype dtype, lam_dims dims, int64_t low, int64_t high);

/* Standard normal, the quantiles of uniform numbers: mean 0, variance 1.
 * Shape   dims.
 * Fails   as said above. Source: inverse of the distribution function, within 3 ULP. */
LAM_API lam_tensor *lam_random_normal(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Exponential with mean 1.
 * Shape   dims.
 * Fails   as said above. */
LAM_API lam_tensor *lam_random_exponential(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Laplace: density exp(-|x|) / 2, variance 2.
 * Shape   dims.
 * Fails   as said above. */
LAM_API lam_tensor *lam_random_laplace(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Logistic: distribution function lam_logistic, variance pi^2 / 3.
 * Shape   dims.
 * Fails   as said above. */
LAM_API lam_tensor *lam_random_logistic(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Gumbel: distribution function exp(-exp(-x)), variance pi^2 / 6.
 * Shape   dims.
 * Fails   as said above. */
LAM_API lam_tensor *lam_random_gumbel(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Cauchy: density 1 / (pi (1 + x^2)); it has no mean.
 * Shape   dims.
 * Fails   as said above. */
LAM_API lam_tensor *lam_random_cauchy(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* 1 and -1, each with probability 1/2: i64, i32, f64 or f32.
 * Shape   dims.
 * Fails   LAM_ERR_DTYPE for others; as said above. */
LAM_API lam_tensor *lam_random_rademacher(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Maxwell: the length of a vector of three standard normals, mean 2 sqrt(2 / pi).
 * Shape   dims.
 * Fails   as said above; LAM_ERR_OVERFLOW. */
LAM_API lam_tensor *lam_random_maxwell(lam_tensor *key, lam_dtype dtype, lam_dims dims);

/* Orthogonal matrices, uniformly distributed: orthonormal columns, or rows if there are fewer rows.
 * Shape   dims, then rows and columns.
 * Fails   LAM_ERR_VALUE for negative sizes, LAM_ERR_RANK; as said above. Source: Mezzadri 2007. */
LAM_API lam_tensor *lam_random_orthogonal(lam_tensor *key, lam_dtype dtype, int64_t rows, int64_t columns,
                                          lam_dims dims);

typedef enum lam_fan { LAM_FAN_IN = 0, LAM_FAN_OUT, LAM_FAN_AVERAGE } lam_fan;
typedef enum lam_fan_sample { LAM_FAN_TRUNCATED_NORMAL = 0, LAM_FAN_NORMAL, LAM_FAN_UNIFORM } lam_fan_sample;

typedef struct lam_variance_scaling_options {
    double scale;          /* variance times fan; 0: 1 */
    lam_fan fan;           /* inputs or outputs of one unit, or the mean of both */
    lam_fan_sample sample; /* a normal truncated at 2 standard deviations before scaling; a plain normal; or uniform */
    int in_axis, out_axis; /* both 0: the last but one and the last; all others count as axes of a window */
} lam_variance_scaling_options;

/* Initial weights, of mean 0 and variance scale / fan: Lecun's by default, He's with scale 2, Glorot's with the
 * average.
 * Shape   dims.
 * Fails   LAM_ERR_RANK below rank 2; LAM_ERR_AXIS; LAM_ERR_VALUE for a negative scale; LAM_ERR_OPTION; as said above.
 * Source  jax.nn.initializers.variance_scaling. */
LAM_API lam_tensor *lam_random_variance_scaling(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                                                const lam_variance_scaling_options *options);

/* ---- samples with parameters ----------------------------------------------------------------------------------- */

/* dims are those of the result; parameters broadcast to them, and lam_dims_of(parameter) is the plain choice. The dtype
 * is that of the parameters together, f64 for integers, f16 and bf16. Conditions on elements are checked if these can
 * be read (not inside vmap); otherwise the sample has no meaning where they are violated. */

/* True with probability p.
 * Shape   dims, bool.
 * Fails   LAM_ERR_VALUE for p outside [0, 1]; LAM_ERR_SHAPE. Derivative: none. */
LAM_API lam_tensor *lam_random_bernoulli(lam_tensor *key, lam_tensor *p, lam_dims dims);

/* An index of `axis`, with probability proportional to exp(logits).
 * Shape   dims, i64; the logits without the axis broadcast to them.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE; LAM_ERR_VALUE for no categories. Derivative: none. */
LAM_API lam_tensor *lam_random_categorical(lam_tensor *key, lam_tensor *logits, int axis, lam_dims dims);

/* A standard normal that lies in (low, high).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless low < high; LAM_ERR_SHAPE. Derivative: that of the quantile by both bounds. */
LAM_API lam_tensor *lam_random_truncated_normal(lam_tensor *key, lam_tensor *low, lam_tensor *high, lam_dims dims);

/* Normal vectors of this mean and covariance, which must be positive definite.
 * Shape   dims, then the n of mean [..., n] and covariance [..., n, n]; their leading axes broadcast to dims.
 * Fails   LAM_ERR_SHAPE; as lam_cholesky does. Derivative: by the mean 1, by the covariance through its Cholesky
 *         factor. */
LAM_API lam_tensor *lam_random_multivariate_normal(lam_tensor *key, lam_tensor *mean, lam_tensor *covariance,
                                                   lam_dims dims);

/* Gamma with shape a and scale 1: density x^(a-1) exp(-x) / Gamma(a).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless a > 0; if a cannot be read, as in programs that lam_jit records, the sample is NaN
 *         instead; LAM_ERR_SHAPE; LAM_ERR_DTYPE for an invalid key.
 * Derivative  by a at a fixed place in the distribution, -(dP/da) / (dP/dx) with P = lam_igamma(a, x).
 * Source  Marsaglia and Tsang 2000. */
LAM_API lam_tensor *lam_random_gamma(lam_tensor *key, lam_tensor *a, lam_dims dims);

/* The logarithm of the same sample, even where the sample underflows: for a well below 1.
 * Shape   dims.
 * Fails   as lam_random_gamma does. Derivative: that of lam_random_gamma divided by the sample. */
LAM_API lam_tensor *lam_random_loggamma(lam_tensor *key, lam_tensor *a, lam_dims dims);

/* Beta: density x^(a-1) (1-x)^(b-1) / B(a, b).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless a, b > 0; LAM_ERR_SHAPE. Derivative: through the gamma variables it is made of. */
LAM_API lam_tensor *lam_random_beta(lam_tensor *key, lam_tensor *a, lam_tensor *b, lam_dims dims);

/* Dirichlet: positive numbers of sum 1 along the last axis, density proportional to the product of x_i^(alpha_i - 1).
 * Shape   dims, then the last axis of alpha, whose leading axes broadcast to dims.
 * Fails   LAM_ERR_VALUE unless alpha > 0; LAM_ERR_SHAPE. Derivative: as lam_random_beta. */
LAM_API lam_tensor *lam_random_dirichlet(lam_tensor *key, lam_tensor *alpha, lam_dims dims);

/* exp(sigma x) of a standard normal x.
 * Shape   dims.
 * Fails   LAM_ERR_SHAPE, LAM_ERR_DTYPE. Derivative: by sigma. */
LAM_API lam_tensor *lam_random_lognormal(lam_tensor *key, lam_tensor *sigma, lam_dims dims);

/* Rayleigh: density x / scale^2 exp(-x^2 / (2 scale^2)). Always finite, where jax.random once in 2^23 numbers of f32
 * gives infinity.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless the scale is positive; LAM_ERR_SHAPE. Derivative: by the scale. */
LAM_API lam_tensor *lam_random_rayleigh(lam_tensor *key, lam_tensor *scale, lam_dims dims);

/* Weibull: distribution function 1 - exp(-(x / scale)^concentration).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless both are positive; LAM_ERR_SHAPE. Derivative: by both. */
LAM_API lam_tensor *lam_random_weibull_min(lam_tensor *key, lam_tensor *scale, lam_tensor *concentration,
                                           lam_dims dims);

/* Pareto: density b / x^(b + 1) from 1 on.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless b > 0; LAM_ERR_SHAPE. Derivative: by b. */
LAM_API lam_tensor *lam_random_pareto(lam_tensor *key, lam_tensor *b, lam_dims dims);

/* loc + scale x with x of Maxwell's distribution or its negative.
 * Shape   dims, which jax.random puts in front of those of the parameters.
 * Fails   LAM_ERR_VALUE unless the scale is positive; LAM_ERR_SHAPE. Derivative: by both. */
LAM_API lam_tensor *lam_random_double_sided_maxwell(lam_tensor *key, lam_tensor *loc, lam_tensor *scale, lam_dims dims);

/* Wald (inverse Gaussian) of shape 1: density exp(-(x - mean)^2 / (2 mean^2 x)) / sqrt(2 pi x^3), variance mean^3.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless the mean is positive; LAM_ERR_SHAPE. Derivative: by the mean, of the root that was
 *         chosen. Source: Michael, Schucany and Haas 1976. */
LAM_API lam_tensor *lam_random_wald(lam_tensor *key, lam_tensor *mean, lam_dims dims);

/* Chi-squared with df degrees of freedom: twice a gamma variable of df / 2.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless df > 0; LAM_ERR_SHAPE. Derivative: through lam_random_loggamma. */
LAM_API lam_tensor *lam_random_chisquare(lam_tensor *key, lam_tensor *df, lam_dims dims);

/* Student's t: density proportional to (1 + x^2 / df)^(-(df + 1) / 2).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless df > 0; LAM_ERR_SHAPE. Derivative: through lam_random_loggamma. */
LAM_API lam_tensor *lam_random_t(lam_tensor *key, lam_tensor *df, lam_dims dims);

/* F: the ratio of two chi-squared variables, each divided by its degrees of freedom.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless both are positive; LAM_ERR_SHAPE. Derivative: through lam_random_loggamma. */
LAM_API lam_tensor *lam_random_f(lam_tensor *key, lam_tensor *df_above, lam_tensor *df_below, lam_dims dims);

/* Generalised normal: density proportional to exp(-|x|^p).
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless p > 0; LAM_ERR_SHAPE. Derivative: through lam_random_loggamma. */
LAM_API lam_tensor *lam_random_generalized_normal(lam_tensor *key, lam_tensor *p, lam_dims dims);

/* Points of the ball of d dimensions, sum of |x_i|^p at most 1, uniformly distributed.
 * Shape   dims, then d; p broadcasts to dims.
 * Fails   LAM_ERR_VALUE unless p > 0 and d >= 0; LAM_ERR_SHAPE; LAM_ERR_RANK. Derivative: by p. */
LAM_API lam_tensor *lam_random_ball(lam_tensor *key, int64_t d, lam_tensor *p, lam_dims dims);

/* Triangular: a density that rises from 0 at left to the mode and falls to 0 at right.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE unless left <= mode <= right and left < right; LAM_ERR_SHAPE.
 *         Derivative: by all three, that of the quantile. */
LAM_API lam_tensor *lam_random_triangular(lam_tensor *key, lam_tensor *left, lam_tensor *mode, lam_tensor *right,
                                          lam_dims dims);

/* Poisson: k with probability rate^k exp(-rate) / k!. The rate is taken as f32. For rates from 10 on each element keeps
 * the first number that it accepts, as a single sample of jax.random does; there, all elements of a call are redrawn
 * until each has one.
 * Shape   dims, i64.
 * Fails   LAM_ERR_VALUE for a negative rate; LAM_ERR_SHAPE; LAM_ERR_DTYPE for an invalid key. Derivative: none. Source:
 *         Hoermann 1993. */
LAM_API lam_tensor *lam_random_poisson(lam_tensor *key, lam_tensor *rate, lam_dims dims);

/* Binomial: how many of n trials succeed with probability p, a floating number. Where n min(p, 1 - p) > 10 each
 * element keeps the first number that it accepts, as with lam_random_poisson.
 * Shape   dims.
 * Fails   LAM_ERR_VALUE for a negative n or one above 2^62, or p outside [0, 1]; LAM_ERR_SHAPE; LAM_ERR_DTYPE for an
 *         invalid key. Derivative: none. Source: Hoermann 1993. */
LAM_API lam_tensor *lam_random_binomial(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims);

/* Multinomial: how many of n trials have each outcome of the last axis of p, with probability proportional to it:
 * floating numbers of sum n.
 * Shape   dims, then the last axis of p, whose leading axes broadcast to dims, as n does.
 * Fails   LAM_ERR_VALUE for a negative n or p, or no outcomes; LAM_ERR_SHAPE; LAM_ERR_RANK. Derivative: none. */
LAM_API lam_tensor *lam_random_multinomial(lam_tensor *key, lam_tensor *n, lam_tensor *p, lam_dims dims);

/* Geometric: the number of the first trial that succeeds with probability p, from 1 on; INT64_MAX for larger ones.
 * Shape   dims, i64.
 * Fails   LAM_ERR_VALUE for p outside (0, 1]; LAM_ERR_SHAPE. Derivative: none. */
LAM_API lam_tensor *lam_random_geometric(lam_tensor *key, lam_tensor *p, lam_dims dims);

/* x with an axis in random order; the other axes stay together. With x = lam_arange, the result is the random order
 * itself.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Derivative: dx in the same order. */
LAM_API lam_tensor *lam_random_permutation(lam_tensor *key, lam_tensor *x, int axis);

typedef struct lam_random_choice_options {
    lam_tensor *p; /* a weight for each element of the axis, not negative; NULL: all equally likely */
    bool without_replacement;
} lam_random_choice_options;

/* count elements of an axis of x at random.
 * Shape   that of x with count elements along the axis.
 * Fails   LAM_ERR_AXIS; LAM_ERR_VALUE for a negative count, more elements than there are without replacement, a choice
 *         from an empty axis, negative weights; LAM_ERR_SHAPE. Derivative: by x that of the elements taken; by p
 *         none. */
LAM_API lam_tensor *lam_random_choice(lam_tensor *key, lam_tensor *x, int axis, int64_t count,
                                      const lam_random_choice_options *options);

/* ---- the generator of the context ------------------------------------------------------------------------------ */

/* Each call is a new draw, from the seed in lam_ctx_options or lam_ctx_seed. Inside vmap, its option `randomness` says
 * what a draw is: an error (the default), one for all examples, or one for each. Draws are constants to derivatives; a
 * checkpointed function draws the same again when it is rerun. */

/* Uniform in [0, 1), as lam_random_uniform.
 * Shape   dims.
 * Fails   as lam_random_uniform does; LAM_ERR_OPTION inside a vmap whose randomness is LAM_RANDOMNESS_ERROR. */
LAM_API lam_tensor *lam_rand(lam_ctx *ctx, lam_dtype dtype, lam_dims dims);

/* Standard normal, as lam_random_normal.
 * Shape   dims.
 * Fails   as lam_rand does. */
LAM_API lam_tensor *lam_randn(lam_ctx *ctx, lam_dtype dtype, lam_dims dims);

/* The same with dims and dtype of x (f64 for integers, f16 and bf16). Fail as lam_rand does. */
LAM_API lam_tensor *lam_randn_like(lam_tensor *x); /* Fails as lam_rand does. */
LAM_API lam_tensor *lam_rand_like(lam_tensor *x);

/* Integers of [low, high), as lam_random_randint. Fails as that and lam_rand do. */
LAM_API lam_tensor *lam_randint(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, int64_t low, int64_t high);

/* 0 to n - 1 in random order.
 * Shape   i64[n].
 * Fails   LAM_ERR_VALUE for a negative n; as lam_rand does. */
LAM_API lam_tensor *lam_randperm(lam_ctx *ctx, int64_t n);

/* mean + scale times a standard normal for each element.
 * Shape   mean and scale broadcast.
 * Fails   LAM_ERR_VALUE for a negative scale if its elements can be read; LAM_ERR_SHAPE; as lam_rand does. Derivative:
 *         by mean 1, by scale the normal drawn. */
LAM_API lam_tensor *lam_rand_normal(lam_tensor *mean, lam_tensor *scale);

/* True with probability p.
 * Shape   that of p, bool.
 * Fails   as lam_random_bernoulli and lam_rand do. Derivative: none. */
LAM_API lam_tensor *lam_rand_bernoulli(lam_tensor *p);

/* A key, for everything that takes one.
 * Shape   i64[2].
 * Fails   as lam_rand does. */
LAM_API lam_tensor *lam_rand_key(lam_ctx *ctx);

#ifdef __cplusplus
}

extern "C++" {
/* Forwards numbers. Fails as lam_fold_in does. */
template <class T> std::enable_if_t<lam__cxx::is_literal<T>, lam_tensor *> lam_fold_in(lam_tensor *key, T data) {
    return lam__fold_in_operand(key, lam__cxx::operand(data));
}
}
#else
#define lam_fold_in(key, data) lam__fold_in_operand(key, LAM__OPERAND(data))
#endif
#endif
