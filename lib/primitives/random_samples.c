/* Samples of distributions from the bits of a key: each the inverse of its distribution function, or another function
 * of uniform numbers, written with operations, so that vmap and derivatives by parameters need nothing more. The
 * formulas and their order are those of jax.random, whose numbers these are but for the roundings of elementary
 * functions. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* The least number that is not subnormal: the lower bound of uniform numbers whose logarithm is taken. jax.random takes
 * it as well. */
static double least_normal(lam_dtype dtype) {
    return dtype == LAM_F64 ? DBL_MIN : FLT_MIN;
}

/* The distance from 1 to the next number. */
static double epsilon_of(lam_dtype dtype) {
    return dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON;
}

/* ---- without parameters ------------------------------------------------------------------------------------------ */

/* 1 - u in place of u, to keep 0 out of the logarithm. u is below 1, so 1 - u is above 0. log1p keeps the digits where
 * u is small. */
lam_tensor *lam__random_exponential(const lam__source *s) {
    return lam_neg(lam_log1p(lam_neg(lam__random_unit(s))));
}

/* sign(u) log(1 - |u|) of u in (-1, 1): both tails from one draw. */
static lam_tensor *sample_laplace(const lam__source *s) {
    lam_tensor *u = lam__random_between(s, -1 + epsilon_of(s->dtype) / 2, 1);
    return lam_mul(lam_sign(u), lam_log1p(lam_neg(lam_abs(u))));
}

/* log(u) - log(1 - u), the inverse of the logistic function. Where u is small log1p(-u) is about -u, and no digits are
 * lost. */
static lam_tensor *sample_logistic(const lam__source *s) {
    lam_tensor *u = lam__random_between(s, least_normal(s->dtype), 1);
    return lam_sub(lam_log(u), lam_log1p(lam_neg(u)));
}

/* -log(-log(u)), the inverse of exp(-exp(-x)). Two logarithms, of which the inner is below 0 as u is below 1. */
static lam_tensor *sample_gumbel(const lam__source *s) {
    return lam_neg(lam_log(lam_neg(lam_log(lam__random_between(s, least_normal(s->dtype), 1)))));
}

/* tan(pi (u - 1/2)), with u away from 0, where the tangent has a pole. */
static lam_tensor *sample_cauchy(const lam__source *s) {
    return lam_tan(lam_mul(3.141592653589793, lam_sub(lam__random_between(s, epsilon_of(s->dtype), 1), 0.5)));
}

/* A standard sample of a key. */
typedef lam_tensor *sample(const lam__source *s);

/* Checks first, since draw can only be called with a source that is sound. */
static lam_tensor *standard(const char *operation, lam_tensor *key, lam_dtype dtype, lam_dims dims, sample *draw) {
    lam_tensor *failed;
    lam__source s;
    return lam__random_source(operation, key, dtype, dims, &s, &failed) ? draw(&s) : failed;
}

/* The five that follow need a dtype, as there is no parameter to have it from. */
lam_tensor *lam_random_exponential(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(standard("random_exponential", key, dtype, dims, lam__random_exponential), since);
}

lam_tensor *lam_random_laplace(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(standard("random_laplace", key, dtype, dims, sample_laplace), since);
}

lam_tensor *lam_random_logistic(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(standard("random_logistic", key, dtype, dims, sample_logistic), since);
}

lam_tensor *lam_random_gumbel(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(standard("random_gumbel", key, dtype, dims, sample_gumbel), since);
}

lam_tensor *lam_random_cauchy(lam_tensor *key, lam_dtype dtype, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    return lam__scope_only(standard("random_cauchy", key, dtype, dims, sample_cauchy), since);
}

/* ---- with parameters --------------------------------------------------------------------------------------------- */

/* u < p is false for p = 0 and true for p = 1, without exception. */
lam_tensor *lam_random_bernoulli(lam_tensor *key, lam_tensor *p, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_bernoulli";
    lam_tensor *failed;
    lam__source s;
    if (!lam__random_parameters(name, key, 1, &p, 0, dims, &s, &failed) ||
        !lam__seen_in_range(name, "the probability", p, 0, false, 1))
        return failed;
    return lam__scope_only(lam_lt(lam__random_unit(&s), p), since);
}

/* Dims of a sample of logits: dims with the axis of the categories put where it is in the logits, counted from the
 * end. False after recording that they do not go with the logits. Axes of one element are repeated, as everywhere. */
static bool dims_of_logits(const char *name, lam_tensor *logits, int axis, lam_dims dims, int64_t wide[]) {
    lam_dims own = lam_dims_of(logits);
    int lead = dims.rank + 1 - own.rank;
    bool fits = lead >= 0 && dims.rank < LAM_MAX_RANK;
    for (int i = 0; fits && i < own.rank; i++) wide[lead + i] = own.dims[i];
    for (int i = 0; fits && i < dims.rank; i++) {
        int to = i < lead + axis ? i : i + 1;
        fits = to < lead || own.dims[to - lead] == dims.dims[i] || own.dims[to - lead] == 1;
        wide[to] = dims.dims[i];
    }
    if (!fits)
        lam__axes_fail(name, logits, LAM_ERR_SHAPE, "the logits without axis %d do not broadcast to the dims", axis);
    return fits;
}

/* The largest of logits with Gumbel noise. The index of the largest is distributed as softmax(logits) (Gumbel 1954), so
 * probabilities are never made. */
lam_tensor *lam_random_categorical(lam_tensor *key, lam_tensor *logits, int axis, lam_dims dims) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_categorical";
    int64_t wide[LAM_MAX_RANK];
    lam_tensor *in[2] = {key, logits}, *failed;
    lam_value *v[2];
    lam__source s;
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    if (!lam__apply_axis(name, logits, lam_rank(logits), &axis)) return lam__axes_failed(logits);
    if (!lam__random_parameters(name, key, 1, &logits, lam_rank(logits), dims, &s, &failed) ||
        !dims_of_logits(name, logits, axis, dims, wide))
        return failed;
    if (!lam_dim(logits, axis)) return lam__axes_fail(name, logits, LAM_ERR_VALUE, "there are no categories");
    s.dims = (lam_dims){dims.rank + 1, wide};
    return lam__scope_only(lam_argmax(lam_add(sample_gumbel(&s), logits), axis - lam_rank(logits)), since);
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

/* Sorting by random words of 32 bits gives every order alike unless two words are equal. It is done again with new
 * words until the chance that two elements had equal ones each time is small: 3 log(n) / log(2^32) times. n is at most
 * a count of memory, so log(n) is at most 44 and there are 6 rounds or fewer. The 3 is that of jax.random. */
static int rounds_of(int64_t n) {
    return n > 1 ? (int)ceil(3 * log((double)n) / log(UINT32_MAX)) : 0;
}

/* An order is drawn and x taken by it, so the derivative is that of taking. Every slice along the axis moves as one. */
lam_tensor *lam_random_permutation(lam_tensor *key, lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(key);
    const char *name = "random_permutation";
    lam_tensor *in[2] = {key, x}, *failed;
    lam_value *v[2];
    lam__source s;
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    if (!lam__apply_axis(name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    int64_t n = lam_dim(x, axis);
    if (!lam__random_source(name, key, LAM_F64, (lam_dims){1, &n}, &s, &failed)) return failed;
    lam_tensor *order = NULL;
    for (int round = rounds_of(n); round > 0; round--) {
        lam_tensor *keys = lam_split(s.key, 2);
        lam__source now = lam__random_with(&s, keys, 1);
        s = lam__random_with(&s, keys, 0);
        lam_tensor *words = lam__random_draw(&now, &(lam__random){.form = LAM__RANDOM_WORDS});
        lam_tensor *next = lam_argsort(words, 0);
        order = order ? lam_take(order, next, 0) : next;
    }
    /* One element or none has one order. */
    if (!order) order = lam_arange(s.ctx, LAM_I64, 0, (double)n, 1);
    return lam__scope_only(lam_take(x, order, axis), since);
}

/* Places of count elements of n with probabilities p: where uniform numbers fall among the sums of p, or the largest of
 * log(p) with Gumbel noise, which repeat none. The sums are not divided by their last one: the uniform number is
 * multiplied with it, and is in (0, 1], so an element of probability 0 is never hit. */
static lam_tensor *places_by_probability(lam__source *s, lam_tensor *p, int64_t count, bool without) {
    int64_t n = lam_dim(p, 0);
    lam_tensor *at;
    s->dims = (lam_dims){1, without ? &n : &count};
    if (without) {
        lam_top_k(lam_add(sample_gumbel(s), lam_log(p)), count, &at);
        return at;
    }
    lam_tensor *sums = lam_cumsum(p, 0), *u = lam__random_unit(s);
    return lam_searchsorted(sums, lam_mul(lam_index(sums, 0, -1), lam_sub(1.0, u)), false);
}

/* Without p the elements are alike: with replacement a range of integers, without it the front of a permutation.
 * Choosing has no derivative by p. Places are drawn first, so x may have any dtype. */
lam_tensor *lam_random_choice(lam_tensor *key, lam_tensor *x, int axis, int64_t count,
                              const lam_random_choice_options *options) {
    uint64_t since = lam__scope_now(key);
    static const lam_random_choice_options none;
    const lam_random_choice_options *o = options ? options : &none;
    const char *name = "random_choice";
    lam_tensor *in[2] = {key, x}, *p = o->p, *failed;
    lam_value *v[2];
    lam__source s;
    if (!lam__scope_operands(name, 2, in, v, &failed)) return failed;
    if (!lam__apply_axis(name, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    int64_t n = lam_dim(x, axis);
    if (count < 0 || (count > 0 && n == 0) || (o->without_replacement && count > n))
        return lam__axes_fail(name, x, LAM_ERR_VALUE, "%lld of %lld elements", (long long)count, (long long)n);
    /* randint refuses an empty range. Of no elements none are drawn, so any range will do. */
    if (!p && !o->without_replacement)
        return lam__scope_only(lam_take(x, lam_random_randint(key, LAM_I64, (lam_dims){1, &count}, 0, n ? n : 1), axis),
                               since);
    if (!p) return lam__scope_only(lam_slice_axis(lam_random_permutation(key, x, axis), axis, 0, count), since);
    if (!lam__random_parameters(name, key, 1, &p, 0, (lam_dims){1, &n}, &s, &failed) ||
        !lam__seen_in_range(name, "p", p, 0, false, (double)INFINITY))
        return failed;
    /* The sums of no weights have no last one. */
    if (!n) return lam__scope_only(lam_slice_axis(x, axis, 0, 0), since);
    /* One number stands for all, which are alike then. */
    p = lam_broadcast_to(p, (lam_dims){1, &n});
    return lam__scope_only(
        lam_take(x, places_by_probability(&s, lam_stop_gradient(p), count, o->without_replacement), axis), since);
}
