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

/* A product of arrays without gaps is worked out on the spot. */
static inline lam_status apply(lam_ctx *ctx, const lam__einsum_step *step, lam_value *const in[2], lam_value **out) {
    if (step->row->elementwise && in[0]->kind == LAM__CONCRETE && in[1]->kind == LAM__CONCRETE &&
        (*out = lam__elementwise_pair(step->row, in[0], in[1], NULL)))
        return LAM_OK;
    lam_call_site call = {.ctx = ctx,
                          .primitive = step->row,
                          .params = step->bytes ? &step->params : NULL,
                          .params_bytes = step->bytes,
                          .inputs = step->row->inputs,
                          .outputs = 1,
                          .in = in};
    return lam__dispatch_checked(&call, out);
}

/* The results of steps need no handles: operands are alive, and nobody else sees what lies between. What a step has
 * consumed goes at once. */
bool lam__einsum_run(lam_ctx *ctx, const lam__einsum_step step[], int steps, lam__einsum_values *v) {
    for (const lam__einsum_step *end = step + steps; step < end; step++) {
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

/* After a failure. */
static void give_up(lam__einsum_values *v) {
    for (int n = 0; v->made; n++, v->made >>= 1)
        if (v->made & 1u) lam__value_release(v->x[n]);
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* NOTE [kept sums]
 * To read subscripts and to find an order takes longer than a product of small matrices, so a context keeps the steps
 * of its last calls, found by text, dims and dtype. Each has two places where it may lie; in the second of them it
 * makes room for others. A plan is out of its place while it runs, so whatever the steps lead to may trim the context,
 * or ask for the same sum. Calls with long texts or many axes are not kept: what is kept is bounded. It does not count
 * as alive memory. */
enum { KEPT = 64, LONGEST = 128, WORDS = 64 };

typedef struct plan {
    size_t bytes, text;              /* of this block; of the text */
    int words, dtype, steps, result; /* result: in whose place of the operands it is left */
    lam__einsum_step step[];         /* then the words of the key */
} plan;

typedef struct kept_plans {
    lam__idle idle;
    plan *at[KEPT];
} kept_plans;

/* What plans are found by: for each operand its rank and its dims, then the text. */
typedef struct key {
    size_t length; /* of the text */
    int words, dtype;
    unsigned place;
    uint64_t word[WORDS + LONGEST / 8 + 1];
} key;

/* n < 8 bytes as a word, which no other n bytes give. */
static inline uint64_t word_of(const char *at, size_t n) {
    uint64_t word = 0;
    for (size_t i = 0; i < n; i++) word = word << 8 | (unsigned char)at[i];
    return word;
}

/* Adds the text, eight bytes a word; the last word overlaps the one before it. */
static inline uint64_t add_text(key *k, const char *text) {
    uint64_t hash = 0, word;
    const size_t n = k->length;
    for (size_t at = 0; at < n; at += sizeof word) {
        if (n < sizeof word) word = word_of(text, n);
        else memcpy(&word, text + (at + sizeof word > n ? n - sizeof word : at), sizeof word);
        k->word[k->words++] = word;
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    }
    return hash ^ hash >> 32;
}

/* False: calls like this are not kept. */
static inline bool make_key(const char *subscripts, int count, lam_value *const x[], key *k) {
    uint64_t sizes = 0;
    k->length = strlen(subscripts);
    k->words = 0;
    k->dtype = x[0]->dtype;
    if (k->length > LONGEST) return false;
    for (int n = 0; n < count; n++) {
        const lam_value *v = x[n];
        if (k->words + 1 + v->rank > WORDS) return false;
        k->word[k->words++] = (uint64_t)v->rank;
        for (int i = 0; i < v->rank; i++) sizes = sizes * 31 + (k->word[k->words++] = (uint64_t)v->dims[i]);
    }
    k->place = (unsigned)((add_text(k, subscripts) + sizes) % KEPT);
    return true;
}

static uint64_t *words_of(plan *p) {
    return (uint64_t *)(p->step + p->steps);
}

static inline bool is_for(plan *p, const key *k) {
    if (p->text != k->length || p->words != k->words || p->dtype != k->dtype) return false;
    const uint64_t *word = words_of(p);
    for (int i = 0; i < k->words; i++)
        if (word[i] != k->word[i]) return false;
    return true;
}

static void forget(lam_ctx *ctx, plan *p) {
    if (p) lam__alloc_put_aside(&ctx->pool, p, p->bytes);
}

static void forget_all(lam_ctx *ctx, lam__idle *self) {
    kept_plans *all = (kept_plans *)self;
    for (int i = 0; i < KEPT; i++) forget(ctx, all->at[i]);
    lam__alloc_put_aside(&ctx->pool, all, sizeof *all);
}

/* Takes the plan out of its place; NULL: there is none. */
static plan *take_out(lam_ctx *ctx, const key *k) {
    kept_plans *all = (kept_plans *)ctx->plans[LAM__PLANS_OF_SUMS];
    if (!all) return NULL;
    for (unsigned second = 0; second < 2; second++) {
        plan **at = &all->at[k->place ^ second], *p = *at;
        if (!p || !is_for(p, k)) continue;
        *at = NULL;
        return p;
    }
    return NULL;
}

/* Puts a plan where it is found again, if need be in place of another one. */
static void put_back(lam_ctx *ctx, const key *k, plan *p) {
    kept_plans *all = (kept_plans *)ctx->plans[LAM__PLANS_OF_SUMS];
    if (!all) {
        forget(ctx, p);
        return;
    }
    plan **at = &all->at[k->place];
    if (*at) at = &all->at[k->place ^ 1u];
    forget(ctx, *at);
    *at = p;
}

/* Without memory for it the call is not kept, and the next one plans again. */
static void keep(lam__einsum *s, const key *k) {
    lam_ctx *ctx = s->ctx;
    const size_t steps = (size_t)s->steps * sizeof *s->step, words = (size_t)k->words * sizeof *k->word;
    const size_t bytes = sizeof(plan) + steps + words;
    if (!ctx->plans[LAM__PLANS_OF_SUMS]) {
        kept_plans *all = lam__alloc_get(&ctx->pool, sizeof *all);
        if (!all) return;
        memset(all, 0, sizeof *all);
        all->idle.free = forget_all;
        lam__alloc_set_aside(&ctx->pool, sizeof *all);
        ctx->plans[LAM__PLANS_OF_SUMS] = &all->idle;
    }
    plan *p = lam__alloc_get(&ctx->pool, bytes);
    if (!p) return;
    lam__alloc_set_aside(&ctx->pool, bytes);
    *p = (plan){.bytes = bytes,
                .text = k->length,
                .words = k->words,
                .dtype = k->dtype,
                .steps = s->steps,
                .result = s->terms[0].at};
    memcpy(p->step, s->step, steps);
    memcpy(words_of(p), k->word, words);
    put_back(ctx, k, p);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The call that none of those kept is like; gives in whose place of the operands the sum is, or -1. k: NULL where it is
 * not to be kept. A plan is kept before it is carried out, since it is a good one whatever becomes of the steps. */
LAM__APART static int plan_and_run(lam_ctx *ctx, const char *subscripts, int count, lam__einsum_values *v,
                                   const key *k) {
    lam__einsum s; /* most of it stays unused: no time for zeros */
    s.ctx = ctx;
    s.subscripts = subscripts;
    s.values = v;
    s.count = count;
    s.dtype = v->x[0]->dtype;
    if (!lam__einsum_read(&s) || !lam__einsum_plan(&s)) return -1;
    if (k && !s.begun) keep(&s, k);
    return lam__einsum_run(ctx, s.step, s.steps, v) ? s.terms[0].at : -1;
}

/* The same for any call. */
static inline int run(lam_ctx *ctx, const char *subscripts, int count, lam__einsum_values *v) {
    key k; /* most of it stays unused */
    const bool kept = make_key(subscripts, count, v->x, &k);
    plan *p = kept ? take_out(ctx, &k) : NULL;
    if (!p) return plan_and_run(ctx, subscripts, count, v, kept ? &k : NULL);
    const int result = lam__einsum_run(ctx, p->step, p->steps, v) ? p->result : -1;
    put_back(ctx, &k, p);
    return result;
}

/* The sum over live tensors of one dtype. An operand is not given back as it is. */
static lam_tensor *evaluate(lam_ctx *ctx, const char *subscripts, int count, lam_tensor *const in[],
                            lam__einsum_values *v) {
    v->made = 0;
    const int result = run(ctx, subscripts, count, v);
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

lam_tensor *lam_einsum(const char *subscripts, lam_list operands) {
    const size_t n = operands.count;
    lam_tensor *failed;
    lam__einsum_values v;
    bool alike = true;
    if (!n || !operands.items) return lam__axes_failed(NULL);
    if (n > LAM__EINSUM_OPERANDS)
        return lam__axes_fail("einsum", operands.items[0], LAM_ERR_ARITY, "%zu operands are more than %d", n,
                              LAM__EINSUM_OPERANDS);
    lam_ctx *ctx = lam__scope_operands("einsum", n, operands.items, v.x, &failed);
    if (!ctx) return failed;
    if (!subscripts) subscripts = "";
    for (size_t i = 1; i < n; i++) alike = alike && v.x[i]->dtype == v.x[0]->dtype;
    if (!alike) return evaluate_mixed(ctx, subscripts, operands, &v);
    return evaluate(ctx, subscripts, (int)n, operands.items, &v);
}
