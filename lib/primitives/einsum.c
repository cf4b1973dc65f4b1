/* Einstein summation. What subscripts mean for operands of some dims is found out once and becomes a list of steps,
 * which are applications of other rows; a context keeps those of its last calls. */
#include "lib/primitives/einsum.h"

#include "lib/base/inline.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* Notes the type of a step's result, where evaluation makes use of it. Elementwise steps have a way without a shape
 * rule, and halves are evaluated by way of f32. */
static void learn(lam__einsum_step *step, const lam_value *out) {
    if (step->row->elementwise || step->row->call || out->rank > LAM_MAX_RANK || lam__dtype_is_half(out->dtype)) return;
    step->known = lam__apply_shape_as(out, (lam_dtype)out->dtype, &step->type) == LAM_OK;
}

/* A product of arrays without gaps is worked out on the spot, and no shape rule is asked twice. */
static inline lam_status apply(lam_ctx *ctx, lam__einsum_step *step, lam_value *const in[2], lam_value **out) {
    const bool plain = in[0]->kind == LAM__CONCRETE && in[1]->kind == LAM__CONCRETE;
    if (plain && step->row->elementwise && (*out = lam__elementwise_pair(step->row, in[0], in[1], NULL))) return LAM_OK;
    const lam_call_site call = {.ctx = ctx,
                                .primitive = step->row,
                                .params = step->bytes ? &step->params : NULL,
                                .params_bytes = step->bytes,
                                .inputs = step->row->inputs,
                                .outputs = 1,
                                .in = in};
    if (plain && step->known) return lam__eval_known(&call, &step->type, out);
    const lam_status status = lam__dispatch_checked(&call, out);
    if (status == LAM_OK) learn(step, *out);
    return status;
}

/* The results of steps need no handles: operands are alive, and nobody else sees what lies between. What a step has
 * consumed goes at once. */
bool lam__einsum_run(lam_ctx *ctx, lam__einsum_step step[], int steps, lam__einsum_values *v) {
    for (lam__einsum_step *end = step + steps; step < end; step++) {
        const lam__labels x = (lam__labels)1 << step->x, y = (lam__labels)1 << step->y;
        lam_value *const in[2] = {v->x[step->x], v->x[step->y]};
        lam_value *out = NULL;
        const lam_status status = apply(ctx, step, in, &out);
        if (v->made & x) lam__value_release(in[0]);
        if (v->made & y & ~x) lam__value_release(in[1]);
        v->made &= ~(x | y);
        if (status != LAM_OK) return false;
        v->x[step->x] = out;
        v->made |= x;
    }
    return true;
}

/* After a failure. Bits of `made` are the references that the sum holds itself. */
static void give_up(lam__einsum_values *v) {
    for (int n = 0; v->made; n++, v->made >>= 1)
        if (v->made & 1u) lam__value_release(v->x[n]);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* NOTE [kept sums]
 * To read subscripts and to find an order takes longer than a product of small matrices, so a context keeps the steps
 * of its last calls. Each has two places by its text, dims and dtype; in the second of them it makes room for others.
 * Calls from one line of a program have their text at one address: by that, and by sizes, plans are found at hand
 * without a look at the whole text but for the comparison that every plan has to pass. Whatever the steps lead to may
 * trim the context, or ask for the same sum: a plan that is given up while it runs is freed behind that. Calls with
 * long texts or many axes are not kept: what is kept is bounded. It does not count as alive memory. */
enum { KEPT_BITS = 6, KEPT = 1 << KEPT_BITS, HANDS_BITS = 5, HANDS = 1 << HANDS_BITS, LONGEST = 128, WORDS = 64 };

typedef struct plan {
    size_t bytes; /* of this block */
    int operands, dtype, steps;
    int result;              /* in whose place of the operands it is left */
    int running;             /* calls that use it now */
    bool gone;               /* has no place any more */
    lam__einsum_step step[]; /* then the rank and the dims of each operand as words, then the text */
} plan;

typedef struct kept_plans {
    lam__idle idle;
    plan *at[KEPT];    /* by what they are for */
    plan *hand[HANDS]; /* some of these, by the address of the text and the sizes of operands */
} kept_plans;
_Static_assert(sizeof(kept_plans) <= LAM__ALLOC_SMALL, "blocks of other sizes are counted as those of their class");

static inline kept_plans *kept(const lam_ctx *ctx) {
    return (kept_plans *)ctx->plans[LAM__PLANS_OF_SUMS];
}

static inline int64_t *words_of(plan *p) {
    return (int64_t *)(void *)(p->step + p->steps);
}

/* Sizes are compared before the text, since they differ sooner. All that has been compared lies in one block: ranks and
 * dims of the operands, then the subscripts. */
static inline bool is_for(plan *p, const char *subscripts, int count, lam_value *const x[]) {
    if (p->operands != count || p->dtype != x[0]->dtype) return false;
    const int64_t *word = words_of(p);
    for (int n = 0; n < count; n++) {
        if (*word++ != x[n]->rank) return false;
        for (int i = 0; i < x[n]->rank; i++)
            if (*word++ != x[n]->dims[i]) return false;
    }
    return strcmp((const char *)word, subscripts) == 0;
}

/* Where a plan that serves this line of a program is at hand. Two calls may have one hand; the comparison tells. */
static inline plan **hand_for(kept_plans *all, const char *subscripts, int count, lam_value *const x[]) {
    const uint64_t sizes = (uint64_t)x[0]->count * 31 + (uint64_t)x[count - 1]->count;
    return &all->hand[((uint64_t)(uintptr_t)subscripts + (sizes << 8)) * 0x9e3779b97f4a7c15u >> (64 - HANDS_BITS)];
}

/* The first of the two places. The second is that with its last bit turned. */
static unsigned place_of(const char *subscripts, int count, lam_value *const x[]) {
    uint64_t hash = 0;
    for (; *subscripts; subscripts++) hash = hash * 31 + (unsigned char)*subscripts;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < x[n]->rank; i++) hash = hash * 31 + (uint64_t)x[n]->dims[i];
    return (unsigned)(hash * 0x9e3779b97f4a7c15u >> (64 - KEPT_BITS));
}

/* A plan that runs is freed by whoever ends last (leave). */
static void forget(lam_ctx *ctx, plan *p) {
    p->gone = true;
    if (!p->running) lam__alloc_put_aside(&ctx->pool, p, p->bytes);
}

/* For when the context is trimmed, or ends. */
static void forget_all(lam_ctx *ctx, lam__idle *self) {
    kept_plans *all = (kept_plans *)self;
    for (int i = 0; i < KEPT; i++)
        if (all->at[i]) forget(ctx, all->at[i]);
    lam__alloc_put_aside(&ctx->pool, all, sizeof *all);
}

/* Makes a place free. */
static void clear_place(lam_ctx *ctx, kept_plans *all, plan **at) {
    if (!*at) return;
    for (int i = 0; i < HANDS; i++)
        if (all->hand[i] == *at) all->hand[i] = NULL;
    forget(ctx, *at);
    *at = NULL;
}

/* The plan for a call, which is at hand from now on; NULL: there is none. */
LAM__APART static plan *look_up(kept_plans *all, const char *subscripts, int count, lam_value *const x[]) {
    const unsigned place = place_of(subscripts, count, x);
    for (unsigned second = 0; second < 2; second++) {
        plan *p = all->at[place ^ second];
        if (p && is_for(p, subscripts, count, x)) return *hand_for(all, subscripts, count, x) = p;
    }
    return NULL;
}

/* Room for plans, if there is none yet; NULL without memory for it. */
static kept_plans *begin_keeping(lam_ctx *ctx) {
    kept_plans *all = kept(ctx);
    if (all || !(all = lam__alloc_get(&ctx->pool, sizeof *all))) return all;
    memset(all, 0, sizeof *all);
    all->idle.free = forget_all;
    lam__alloc_set_aside(&ctx->pool, sizeof *all);
    ctx->plans[LAM__PLANS_OF_SUMS] = &all->idle;
    return all;
}

/* The steps as a plan that is kept. NULL: the call is not one of those, or there is no memory for it. */
static plan *keep(const lam__einsum *s, int count) {
    lam_ctx *ctx = s->ctx;
    lam_value *const *x = s->values->x;
    const size_t length = strlen(s->subscripts);
    int words = count;
    if (s->begun || length > LONGEST) return NULL; /* operands of a sum that has begun are gone */
    for (int n = 0; n < count; n++) words += x[n]->rank;
    if (words > WORDS) return NULL;
    size_t bytes = sizeof(plan) + (size_t)s->steps * sizeof *s->step + (size_t)words * sizeof(int64_t) + length + 1;
    if (bytes > LAM__ALLOC_SMALL) lam__alloc_large_class(bytes, &bytes); /* what is set aside is what was counted */
    kept_plans *all = begin_keeping(ctx);
    plan *p = all ? lam__alloc_get(&ctx->pool, bytes) : NULL;
    if (!p) return NULL;
    lam__alloc_set_aside(&ctx->pool, bytes);
    *p = (plan){.bytes = bytes, .operands = count, .dtype = s->dtype, .steps = s->steps};
    p->result = s->terms[0].at;
    memcpy(p->step, s->step, (size_t)s->steps * sizeof *s->step);
    int64_t *word = words_of(p);
    for (int n = 0; n < count; n++) {
        *word++ = x[n]->rank;
        for (int i = 0; i < x[n]->rank; i++) *word++ = x[n]->dims[i];
    }
    memcpy(word, s->subscripts, length + 1);
    plan **at = &all->at[place_of(s->subscripts, count, x)];
    if (*at) at = &all->at[(at - all->at) ^ 1];
    clear_place(ctx, all, at);
    *hand_for(all, s->subscripts, count, x) = *at = p;
    return p;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* What is left when a plan has been carried out. */
static inline void leave(lam_ctx *ctx, plan *p) {
    p->running--;
    if (p->gone) forget(ctx, p);
}

/* Gives in whose place of the operands the sum is, or -1. */
static int carry_out(lam_ctx *ctx, plan *p, lam__einsum_values *v) {
    p->running++;
    const int result = lam__einsum_run(ctx, p->step, p->steps, v) ? p->result : -1;
    leave(ctx, p);
    return result;
}

/* A plan of one step, as most are: nothing is made on the way. */
static inline lam_tensor *carry_out_one(lam_ctx *ctx, plan *p, lam_value *const x[]) {
    lam__einsum_step *step = p->step;
    lam_value *const in[2] = {x[step->x], x[step->y]};
    lam_value *out = NULL;
    p->running++;
    const lam_status status = apply(ctx, step, in, &out);
    leave(ctx, p);
    return status == LAM_OK ? lam__scope_handle(ctx, out) : &ctx->failed;
}

/* The call that none of those kept is like. A plan is kept before it is carried out, since it is a good one whatever
 * becomes of the steps. */
LAM__APART static int plan_and_run(lam_ctx *ctx, const char *subscripts, int count, lam__einsum_values *v) {
    lam__einsum s; /* most of it stays unused: no time for zeros */
    s.ctx = ctx;
    s.subscripts = subscripts;
    s.values = v;
    s.count = count;
    s.dtype = v->x[0]->dtype;
    if (!lam__einsum_read(&s) || !lam__einsum_plan(&s)) return -1;
    plan *p = keep(&s, count);
    if (p) return carry_out(ctx, p, v);
    return lam__einsum_run(ctx, s.step, s.steps, v) ? s.terms[0].at : -1;
}

/* NULL: none is kept. */
static inline plan *find(lam_ctx *ctx, const char *subscripts, int count, lam_value *const x[]) {
    kept_plans *all = kept(ctx);
    if (!all) return NULL;
    plan *p = *hand_for(all, subscripts, count, x);
    return p && is_for(p, subscripts, count, x) ? p : look_up(all, subscripts, count, x);
}

/* The sum over live tensors of one dtype. An operand is not given back as it is. */
static inline lam_tensor *evaluate(lam_ctx *ctx, const char *subscripts, int count, lam_tensor *const in[],
                                   lam__einsum_values *v) {
    plan *p = find(ctx, subscripts, count, v->x);
    if (p && p->steps == 1) return carry_out_one(ctx, p, v->x);
    v->made = 0;
    const int result = p ? carry_out(ctx, p, v) : plan_and_run(ctx, subscripts, count, v);
    if (result < 0) {
        give_up(v);
        return &ctx->failed;
    }
    return v->made ? lam__scope_handle(ctx, v->x[result]) : lam_alias(in[result]);
}

/* The sum over operands of several dtypes, brought to one, one after the other. */
LAM__APART static lam_tensor *evaluate_mixed(lam_ctx *ctx, const char *subscripts, lam_list operands,
                                             lam__einsum_values *v) {
    const uint64_t since = ctx->clock;
    lam_tensor *in[LAM__EINSUM_OPERANDS];
    lam_dtype dtype = (lam_dtype)v->x[0]->dtype;
    for (size_t n = 1; n < operands.count; n++) dtype = lam__dtype_promote((int)dtype, v->x[n]->dtype);
    for (size_t n = 0; n < operands.count; n++) {
        in[n] = lam_cast(operands.items[n], dtype);
        if (lam_failed(in[n])) return in[n];
        v->x[n] = in[n]->value;
    }
    return lam__scope_only(evaluate(ctx, subscripts, (int)operands.count, in, v), since);
}

/* What is not live tensors of one context and dtype: records what is wrong, or brings them to one dtype. */
LAM__APART static lam_tensor *evaluate_any(const char *subscripts, lam_list operands) {
    lam_tensor *failed;
    lam__einsum_values v;
    if (!operands.count || !operands.items) return lam__axes_failed(NULL);
    if (operands.count > LAM__EINSUM_OPERANDS)
        return lam__axes_fail("einsum", operands.items[0], LAM_ERR_ARITY, "%zu operands are more than %d",
                              operands.count, LAM__EINSUM_OPERANDS);
    lam_ctx *ctx = lam__scope_operands("einsum", operands.count, operands.items, v.x, &failed);
    return ctx ? evaluate_mixed(ctx, subscripts, operands, &v) : failed;
}

/* NOTE [short ways] in lib/base/inline.h. */
lam_tensor *lam_einsum(const char *subscripts, lam_list operands) {
    const size_t count = operands.items && operands.count <= LAM__EINSUM_OPERANDS ? operands.count : 0;
    lam__einsum_values v;
    lam_ctx *ctx = count && operands.items[0] ? operands.items[0]->ctx : NULL;
    bool alike = ctx != NULL;
    if (!subscripts) subscripts = "";
    for (size_t n = 0; n < count && alike; n++) {
        const lam_tensor *t = operands.items[n];
        alike = t && t->magic == LAM__LIVE && t->ctx == ctx;
        if (!alike) break;
        v.x[n] = t->value;
        alike = t->value->dtype == v.x[0]->dtype;
    }
    if (!alike) return evaluate_any(subscripts, operands);
    return evaluate(ctx, subscripts, (int)count, operands.items, &v);
}
