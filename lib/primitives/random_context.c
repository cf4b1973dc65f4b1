/* Samples from the generator of the context: the arithmetic of random_samples.c on draws, whose level the machine
 * finds. A batched parameter meets a draw of its own level, or one that all examples share, as the options of vmap say.
 * The state of the generator is a seed and a count (lib/dispatch/draw.h), so these functions depend on the order of
 * calls, which is what their users want; whoever needs the same numbers again uses keys. */
#include "lib/primitives/random.h"
#include "lib/primitives/seen.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/create.h"

#include "lib/dispatch/draw.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* A source without operation or dtype is enough where `what` says everything. There is no key, so samplers that split
 * theirs are no use here: they have forms of their own or take lam_rand_key. */
lam_tensor *lam__random_of_context(const lam__source *s, const lam__random *what) {
    lam__draw d = lam__draw_whole(s->operation, what, s->dims);
    return lam__scope_handle(s->ctx, lam__draw_make(s->ctx, &d));
}

/* A context that can be drawn from; otherwise the failed tensor to return. A NULL context has nowhere to record; the
 * static failed one has its failure already. */
static lam_tensor *unusable(lam_ctx *ctx) {
    return !ctx || ctx == &lam__context_failed ? &lam__context_failed.failed : NULL;
}

/* A source of floats of dims; false after recording why not. What lam__random_source checks, without a key. */
static bool source(const char *operation, lam_ctx *ctx, lam_dtype dtype, lam_dims dims, lam__source *s) {
    *s = (lam__source){.operation = operation, .ctx = ctx, .dtype = dtype, .dims = dims};
    return lam__random_floating(operation, ctx, dtype) && lam__create_dims_valid(operation, ctx, dims);
}

/* Each of these begins with the context, since there is no operand that could be asked for it. */
lam_tensor *lam_rand(lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    lam__source s;
    lam_tensor *failed = unusable(ctx);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_only(source("rand", ctx, dtype, dims, &s) ? lam__random_unit(&s) : &ctx->failed, since);
}

/* The quantile of a uniform draw, as with keys: the same function makes both. */
lam_tensor *lam_randn(lam_ctx *ctx, lam_dtype dtype, lam_dims dims) {
    lam__source s;
    lam_tensor *failed = unusable(ctx);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_only(source("randn", ctx, dtype, dims, &s) ? lam__random_normal(&s) : &ctx->failed, since);
}

/* Integers need no dtype in the source: `what` says the form of the elements. */
lam_tensor *lam_randint(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, int64_t low, int64_t high) {
    lam__random what;
    lam_tensor *failed = unusable(ctx);
    if (failed) return failed;
    uint64_t since = lam__scope_now_in(ctx);
    if (!lam__create_dims_valid("randint", ctx, dims) || !lam__random_range("randint", ctx, dtype, low, high, &what))
        return &ctx->failed;
    return lam__scope_only(
        lam__random_of_context(&(lam__source){.operation = "randint", .ctx = ctx, .dims = dims}, &what), since);
}

/* 64 random bits decide: that two are equal has a chance of n^2 / 2^65. The draw is sorted by its order, which is the
 * permutation. */
lam_tensor *lam_randperm(lam_ctx *ctx, int64_t n) {
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *failed = unusable(ctx);
    lam__source s = {.operation = "randperm", .ctx = ctx, .dims = {1, &n}};
    if (failed) return failed;
    if (!lam__create_dims_valid("randperm", ctx, s.dims)) return &ctx->failed;
    return lam__scope_only(lam_argsort(lam__random_of_context(&s, &(lam__random){.form = LAM__RANDOM_WIDE}), 0), since);
}

/* A pair of words is a key: the way from the generator to functions that take keys. */
lam_tensor *lam_rand_key(lam_ctx *ctx) {
    uint64_t since = lam__scope_now_in(ctx);
    lam_tensor *failed = unusable(ctx);
    if (failed) return failed;
    lam__source s = {.operation = "rand_key", .ctx = ctx};
    return lam__scope_only(lam__random_of_context(&s, &(lam__random){.form = LAM__RANDOM_PAIRS}), since);
}

/* ---- as a tensor ------------------------------------------------------------------------------------------------- */

/* A source of what x is like: its dims, per example inside vmap, and its dtype or f64. NULL: *s is set; otherwise the
 * failed tensor. */
static lam_tensor *source_like(const char *operation, lam_tensor *x, lam__source *s) {
    lam_value *v;
    lam_tensor *failed;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &x, &v, &failed);
    if (!ctx) return failed;
    if (lam__dtype_is_complex(v->dtype)) {
        lam__random_floating(operation, ctx, (lam_dtype)v->dtype);
        return &ctx->failed;
    }
    lam_dtype dtype = lam__dtype_is_float(v->dtype) ? (lam_dtype)v->dtype : LAM_F64;
    /* Halves and integers have f64 numbers drawn for them. */
    *s = (lam__source){.operation = operation, .ctx = ctx, .dtype = dtype, .dims = lam_dims_of(x)};
    return NULL;
}

/* Per example inside vmap, each with numbers of its own unless its options share them. */
lam_tensor *lam_rand_like(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam__source s;
    lam_tensor *failed = source_like("rand_like", x, &s);
    return lam__scope_only(failed ? failed : lam__random_unit(&s), since);
}

/* Its dims and dtype only: elements of x have no part. */
lam_tensor *lam_randn_like(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam__source s;
    lam_tensor *failed = source_like("randn_like", x, &s);
    return lam__scope_only(failed ? failed : lam__random_normal(&s), since);
}

/* mean + scale z: both parameters get derivatives, and the draw has the dims to which they broadcast. */
lam_tensor *lam_rand_normal(lam_tensor *mean, lam_tensor *scale) {
    uint64_t since = lam__scope_now(mean);
    lam__source s;
    lam_tensor *failed;
    if (!lam__apply_given("rand_normal", 2, (lam_tensor *[]){mean, scale}, &failed)) return failed;
    /* The sum is made for its dtype and dims, and goes with the scope. */
    if ((failed = source_like("rand_normal", lam_add(mean, scale), &s))) return lam__scope_only(failed, since);
    if (!lam__seen_in_range(s.operation, "the scale", scale, 0, false, (double)INFINITY)) return &s.ctx->failed;
    return lam__scope_only(lam_add(mean, lam_mul(scale, lam__random_normal(&s))), since);
}

/* A bool has no derivative by p. u < p is never true for p = 0 and always for p = 1, since u is in [0, 1). */
lam_tensor *lam_rand_bernoulli(lam_tensor *p) {
    uint64_t since = lam__scope_now(p);
    lam__source s;
    lam_tensor *failed = source_like("rand_bernoulli", p, &s);
    if (failed) return failed;
    if (!lam__seen_in_range(s.operation, "the probability", p, 0, false, 1)) return &s.ctx->failed;
    return lam__scope_only(lam_lt(lam__random_unit(&s), p), since);
}
