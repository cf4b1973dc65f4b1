/* Dispatch: finds the level that a call belongs to and lets its interpreter do it, with the parent of that level
 * current. Calls of primitives pass here, and once more for each level that takes a part in them, but for short ways of
 * elementwise ones; where no operand is a box, a call is evaluated. Whoever calls gets one reference per output, or
 * NULLs and a failure on record. */
#ifndef LAM_DISPATCH_DISPATCH_H
#define LAM_DISPATCH_DISPATCH_H

#include "lib/base/inline.h"
#include "lib/dispatch/level.h"

/* Applies a primitive to values. Cost depends on the levels that the operands belong to, not on the depth of the stack.
 * Gives one reference per output; on failure records it and leaves out[] NULL. NULL operands are not looked at. */
lam_status lam__dispatch(const lam_call_site *call, lam_value *out[]);

/* The same; looks at the operands without a short way. */
lam_status lam__dispatch_any(const lam_call_site *call, lam_value *out[]);

/* The level of a call on n operands whose boxes are all of one level: most calls are like this. NULL where it is not
 * so, there is no box, or the level is not visible. n is a constant. */
LAM__UNROLLED lam__level *lam__dispatch_level(const lam_ctx *ctx, int n, lam_value *const in[]) {
    const lam_value *box = NULL;
    for (int i = 0; i < n; i++) {
        if (!in[i]) return NULL;
        if (!lam__value_is_box(in[i])) continue;
        if (box && lam__payload_of(box)->level != lam__payload_of(in[i])->level) return NULL;
        box = in[i];
    }
    lam__level *level = box ? lam__payload_of(box)->level : NULL; /* of an ended box: NULL */
    return lam__level_visible(ctx, level) ? level : NULL;
}

/* The highest level among the operands; NULL where they belong to none, or one that they belong to is not visible. */
lam__level *lam__dispatch_top(const lam_call_site *call);

/* Lets `level`, which the call belongs to, do it. */
static inline lam_status lam__dispatch_at(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    lam__level *saved = ctx->current;
    const lam_call_site *caller = ctx->calling;
    ctx->current = level->parent;
    ctx->calling = call;
    lam_status status = level->interpreter->process(level, call, out);
    ctx->calling = caller;
    ctx->current = saved;
    return status;
}

/* lam__dispatch on other operands. */
lam_status lam__dispatch_with(const lam_call_site *call, lam_value *const in[], lam_value *out[]);

/* lam__dispatch after checking dtypes and dims as the user sees them: for calls that come from outside. */
lam_status lam__dispatch_checked(const lam_call_site *call, lam_value *out[]);

/* Adds g, with its sign, to a box that only the caller holds, in place. False, with nothing done, where that does not
 * fit; otherwise *status tells. */
bool lam__dispatch_accumulate(lam_value *sum, lam_value *g, int sign, lam_status *status);

/* The box x, which only the caller holds, becomes x times y, likewise. */
bool lam__dispatch_multiply(lam_value *x, lam_value *y, lam_status *status);

/* As lam__dispatch_accumulate for x times y, without making the product. */
bool lam__dispatch_accumulate_product(lam_value *sum, lam_value *x, lam_value *y, int sign, lam_status *status);

/* As lam__dispatch_accumulate for g that goes to a part of `sum`, which may be concrete too. */
bool lam__dispatch_accumulate_part(lam_value *sum, const struct lam__slice_params *part, lam_value *g, int sign,
                                   lam_status *status);

/* Level 0. */
lam_status lam__eval(const lam_call_site *call, lam_value *out[]);

/* The same of one output whose type is known from an earlier call on operands of these types, for rows that neither are
 * elementwise nor call functions. Operands are concrete and of no half dtype, and the type is one that a user's tensor
 * may have. */
lam_status lam__eval_known(const lam_call_site *call, const lam_shape *type, lam_value **out);

/* Applies a primitive that calls functions, at whatever levels these and the operands are; out[] is NULL on failure. */
lam_status lam__eval_called(const lam_call_site *call, lam_value *out[]);

/* Types of the outputs from the types of the operands. */
lam_status lam__eval_shape(const lam_call_site *call, lam_shape out[]);

/* How many axes a result may have here: as many as a user may have, or inside a rule as the machine has left beside
 * those that levels hide. */
int lam__eval_most_axes(const lam_ctx *ctx);

/* LAM_ERR_RANK where a result has more axes than a user may have, or inside a rule than the machine can have. */
lam_status lam__eval_check_rank(const lam_call_site *call, const lam_shape shapes[]);

/* The same of what a call of f gives, where its caller stands; out[] is NULL where it is refused. */
lam_status lam__eval_check_results(const lam_fn *f, lam_value *out[]);

/* The elementwise class (elementwise.c): one shape rule and one evaluation for all of it. */
lam_status lam__elementwise_shape(const lam_call_site *call, lam_shape *out);
lam_status lam__elementwise_eval(const lam_call_site *call, lam_value **out);

/* The same into memory without gaps that is there, of a call that is known to be right. */
void lam__elementwise_fill(const lam_call_site *call, lam_value *out);

/* The short way for what most calls are: concrete operands without gaps, of one dtype, each with the dims of the
 * largest or a single element. NULL, with nothing recorded, where it does not apply. */
lam_value *lam__elementwise_quick(lam_ctx *ctx, const lam_primitive *primitive, int n, lam_value *const in[],
                                  const void *params);

/* The same for one operand (then y is x) or two. */
lam_value *lam__elementwise_pair(const lam_primitive *primitive, lam_value *x, lam_value *y, const void *params);

/* A row that has `sloped`, on one operand, and its derivative there. NULL, with nothing recorded, where x has gaps or
 * is not concrete, or both together are no less work: then the row's slope is to be asked. */
lam_value *lam__elementwise_sloped(const lam_primitive *primitive, const lam_value *x, lam_value **slope);

/* The other operand of a product, where one is 1 everywhere by strides of 0; NULL: it is none. */
lam_value *lam__elementwise_by_one(const lam_primitive *primitive, lam_value *x, lam_value *y);

/* Writes the result over x, whose memory nobody else sees, if both have one dtype and equal dims; y is x for one
 * operand. False, with nothing done, if that does not fit. */
bool lam__elementwise_pair_into(const lam_primitive *primitive, lam_value *x, lam_value *y);

/* Adds x, with a sign, to the part of sum that begins at element `offset` and has these strides, as many as sum has
 * axes, in its memory, which nobody else sees. False, with nothing done, if that does not fit. */
bool lam__elementwise_add_part(lam_value *sum, const lam_value *x, int sign, const int64_t strides[], int64_t offset);

/* Adds x times y, real numbers, with a sign to sum in its memory, which nobody else sees, rounding once. Each factor
 * has the dims of the sum or is one element. False, with nothing done, if that does not fit, or fma is slow here. */
bool lam__elementwise_add_product(lam_value *sum, const lam_value *x, const lam_value *y, int sign);

/* Writes the result over in[0], whose memory nobody else sees. False, with nothing done, if that does not fit. */
bool lam__elementwise_into_first(const lam_call_site *call);

/* A call on other operands; NOTE [word by word] in lib/tensor/value.h. */
static inline lam_call_site lam__dispatch_site(const lam_call_site *call, lam_value *const in[]) {
    return (lam_call_site){.ctx = call->ctx,
                           .primitive = call->primitive,
                           .params = call->params,
                           .params_bytes = call->params_bytes,
                           .inputs = call->inputs,
                           .outputs = call->outputs,
                           .in = in,
                           .residual = call->residual};
}

/* For interpreters: the call with the n operands that lie below; n is call->inputs, of which a constant makes this
 * short. Numbers and small arrays are worked out on the spot. */
LAM__UNROLLED lam_status lam__dispatch_below(const lam_call_site *call, int n, lam_value *const in[],
                                             lam_value *out[]) {
    if (n <= 2 && call->primitive->elementwise && in[0]->kind == LAM__CONCRETE && in[n - 1]->kind == LAM__CONCRETE &&
        (out[0] = lam__elementwise_pair(call->primitive, in[0], in[n - 1], call->params)))
        return LAM_OK;
    if (n == 3 && call->primitive->elementwise && in[0]->kind == LAM__CONCRETE && in[1]->kind == LAM__CONCRETE &&
        in[2]->kind == LAM__CONCRETE &&
        (out[0] = lam__elementwise_quick(call->ctx, call->primitive, n, in, call->params)))
        return LAM_OK;
    return lam__dispatch_with(call, in, out);
}

/* Memory for the time of one call: a few bytes in the C frame, more from the pool. */
typedef struct lam__scratch {
    lam_ctx *ctx;
    void *block;
    size_t bytes;
    _Alignas(16) char few[384];
} lam__scratch_area;

/* NULL after recording that memory is lacking; lam__scratch_put is right then, too. Not cleared, and gone with the
 * frame. */
static inline void *lam__scratch_get(lam__scratch_area *s, lam_ctx *ctx, size_t bytes) {
    s->ctx = ctx;
    s->block = NULL;
    if (bytes <= sizeof s->few) return s->few;
    s->bytes = bytes;
    s->block = lam__alloc_get(&ctx->pool, bytes);
    if (!s->block) lam__error_memory(ctx, bytes);
    return s->block;
}

static inline void lam__scratch_put(lam__scratch_area *s) {
    if (s->block) lam__alloc_put(&s->ctx->pool, s->block, s->bytes);
}

#endif
