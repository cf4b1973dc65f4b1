/* Instances of custom Functions: a Function with its attributes and counts, made into a row that dispatch can apply.
 * An instance is counted and never changes while somebody has it, so applications of one Function share it. What one
 * application brings to light beside its outputs lies in the frame of lam__custom_apply. */
#include "transforms/custom.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

static lam__instance *instance_of(const void *params) {
    return ((const lam__custom_params *)params)->instance;
}

lam__instance *lam__custom_of(const lam_call_site *call) {
    return instance_of(call->params);
}

void lam__custom_hold(lam__instance *x) {
    x->refs++;
}

/* One that is in a slot stays there, and takes the next application at once. */
void lam__custom_release(lam__instance *x) {
    if (!x || --x->refs) return;
    if (x->in_slot) {
        lam__alloc_set_aside(&x->ctx->pool, x->bytes);
        return;
    }
    if (x->attrs_release) x->attrs_release(x->ctx, x->attrs);
    lam__alloc_put(&x->ctx->pool, x, x->bytes);
}

void lam__custom_params_hold(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__custom_hold(instance_of(params));
}

void lam__custom_params_release(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__custom_release(instance_of(params));
}

/* Attributes may hold anything, so they begin where any type may. */
static size_t round_up(size_t bytes) {
    return (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

/* One block: the instance, its attributes, its name, which is a copy since the caller's struct may go. Attributes are
 * given up also where there is none. */
lam__instance *lam__custom_instance(lam_ctx *ctx, const lam_function *function, const void *attrs,
                                    void (*attrs_release)(lam_ctx *ctx, void *attrs), int inputs, int outputs) {
    const char *name = lam__custom_name(function);
    size_t head = round_up(sizeof(lam__instance)), plain = round_up(function->attrs_size), letters = strlen(name) + 1;
    size_t bytes = head + plain + letters;
    lam__instance *x = lam__alloc_get(&ctx->pool, bytes);
    if (!x) {
        lam__error_memory(ctx, bytes);
        if (attrs_release) attrs_release(ctx, (void *)(uintptr_t)attrs);
        return NULL;
    }
    char *at = (char *)x + head;
    *x = (lam__instance){.refs = 1,
                         .ctx = ctx,
                         .bytes = bytes,
                         .row = lam__custom_row,
                         .fn = *function,
                         .attrs = function->attrs_size ? at : NULL,
                         .attrs_release = attrs_release,
                         .inputs = inputs,
                         .outputs = outputs,
                         .linear_in = -1};
    if (function->attrs_size) memcpy(at, attrs, function->attrs_size);
    x->row.name = x->fn.name = memcpy(at + plain, name, letters);
    if (x->fn.jvp && !x->fn.backward) x->row.saves = LAM_SAVE_TYPES; /* NOTE [tangents of constants] */
    return x;
}

/* ---- kept instances ---------------------------------------------------------------------------------------------- */

/* NOTE [kept instances]
 * A program applies few Functions many times, mostly by lam_function_apply, which is given the whole Function each
 * time. So instances made there stay in a few slots of the context, by forward callback, and the next application of
 * an equal Function with equal attributes takes the one that is there. Equal means equal in every field, since the
 * caller may have changed the struct meanwhile. One that nobody has at the moment is set aside: it does not count as
 * alive memory. */
static lam__idle **slot_of(lam_ctx *ctx, const lam_function *f) {
    return &ctx->idle[((uintptr_t)f->forward >> 4) % LAM__IDLE];
}

/* Pointers to functions are compared; two that do the same are two Functions. */
static bool same_callbacks(const lam_function *a, const lam_function *b) {
    return a->forward == b->forward && a->setup_context == b->setup_context && a->backward == b->backward &&
           a->jvp == b->jvp && a->vmap == b->vmap && a->shape == b->shape;
}

/* The flags as one word, which compares them at once; a flag that is added to lam_function must be among them. */
static uint32_t flags_of(const lam_function *f) {
    _Static_assert(offsetof(lam_function, is_linear) - offsetof(lam_function, generate_vmap_rule) + sizeof(bool) ==
                       sizeof(uint32_t),
                   "four flags stand side by side");
    uint32_t flags;
    memcpy(&flags, &f->generate_vmap_rule, sizeof flags);
    return flags;
}

/* attrs is not NULL where there are any. */
static bool same(const lam__instance *x, const lam_function *f, const void *attrs) {
    const lam_function *g = &x->fn;
    return same_callbacks(f, g) && f->inputs == g->inputs && f->outputs == g->outputs &&
           f->attrs_size == g->attrs_size && flags_of(f) == flags_of(g) && !strcmp(lam__custom_name(f), g->name) &&
           (!f->attrs_size || !memcmp(x->attrs, attrs, f->attrs_size));
}

/* One that is set aside counts as alive memory again, for which there may be no room under the limit. */
lam__instance *lam__custom_find(lam_ctx *ctx, const lam_function *f, const void *attrs, size_t inputs, size_t outputs) {
    lam__instance *x = (lam__instance *)*slot_of(ctx, f);
    if (!x || (size_t)x->inputs != inputs || (size_t)x->outputs != outputs || (f->attrs_size && !attrs) ||
        !same(x, f, attrs))
        return NULL;
    if (!x->refs && !lam__alloc_take_back(&ctx->pool, x->bytes)) return NULL;
    x->refs++;
    return x;
}

/* Takes an instance out of its slot; it goes when nobody has it. Attributes of one that has been in a slot are plain,
 * so there is nothing in them to release. */
static void give_up(lam_ctx *ctx, lam__idle *self) {
    lam__instance *x = (lam__instance *)self;
    x->in_slot = false;
    if (!x->refs) lam__alloc_put_aside(&ctx->pool, x, x->bytes);
}

/* The one that was there has to make room, and goes when nobody has it. */
void lam__custom_keep(lam__instance *x) {
    lam__idle **slot = slot_of(x->ctx, &x->fn);
    if (x->ctx->pool.plain) return; /* for tools that watch each block */
    if (*slot) give_up(x->ctx, *slot);
    x->idle.free = give_up;
    x->in_slot = true;
    *slot = &x->idle;
}
