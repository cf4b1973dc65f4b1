/* The level stack: see level.h. */
#include "lib/dispatch/level.h"

#include <assert.h>
#include <string.h>

lam_status lam__level_start(lam_ctx *ctx, lam__level *ground) {
    enum { FIRST = 32 };
    ctx->display = lam__alloc_get(&ctx->pool, FIRST * sizeof(lam__level *));
    if (!ctx->display) return LAM_ERR_MEMORY;
    ctx->display_size = FIRST;
    *ground = (lam__level){.ctx = ctx, .interpreter = &lam__interpreter_eval, .birth = ++ctx->clock};
    ctx->display[0] = ctx->ground = ctx->current = ground;
    return LAM_OK;
}

void lam__level_stop(lam_ctx *ctx) {
    lam__alloc_put(&ctx->pool, ctx->display, (size_t)ctx->display_size * sizeof(lam__level *));
    ctx->display = NULL;
}

static lam_status display_grow(lam_ctx *ctx) {
    size_t bytes = (size_t)ctx->display_size * sizeof(lam__level *);
    lam__level **wider = lam__alloc_get(&ctx->pool, 2 * bytes);
    if (!wider) return lam__error_memory(ctx, 2 * bytes);
    memcpy(wider, ctx->display, bytes);
    lam__alloc_put(&ctx->pool, ctx->display, bytes);
    ctx->display = wider;
    ctx->display_size *= 2;
    return LAM_OK;
}

lam_status lam__level_push(lam_ctx *ctx, lam__level *level, const lam__interpreter *interpreter, void *state) {
    int depth = ctx->current->depth + 1;
    if (depth >= ctx->display_size && display_grow(ctx) != LAM_OK) return LAM_ERR_MEMORY;
    *level = (lam__level){.ctx = ctx,
                          .interpreter = interpreter,
                          .serial = ++ctx->levels,
                          .birth = ++ctx->clock,
                          .depth = depth,
                          .hidden = ctx->current->hidden + interpreter->hides_axis,
                          .parent = ctx->current,
                          .previous = ctx->current,
                          .shadowed = ctx->display[depth],
                          .state = state};
    ctx->display[depth] = ctx->current = level;
    return LAM_OK;
}

void lam__level_pop(lam__level *level) {
    lam_ctx *ctx = level->ctx;
    assert(ctx->current == level && ctx->display[level->depth] == level);
    if (level->interpreter->finish) level->interpreter->finish(level);
    while (level->boxes) lam__value_end(level->boxes);
    ctx->display[level->depth] = level->shadowed;
    ctx->current = level->previous;
}

void lam__level_describe(const lam__level *level, lam__text *text) {
    for (; level; level = level->parent) {
        lam__error_append(text, "%s", level->interpreter->name);
        if (level->interpreter->describe) level->interpreter->describe(level, text);
        if (level->parent) lam__error_append(text, " -> ");
    }
}

lam_status lam__level_fail_hidden(const lam_call_site *call, int operand) {
    lam__origin box = lam__value_origin(call->in[operand]);
    unsigned long long serial = (unsigned long long)box.serial;
    if (call->in[operand]->kind == LAM__ENDED)
        return lam__error_call(call, LAM_ERR_ESCAPED, "return it as an output of the function instead of keeping it",
                               "operand %d escaped: its level %llu (%s) has ended", operand, serial,
                               box.interpreter->name);
    return lam__error_call(call, LAM_ERR_CAPTURED, "pass it as an input, or declare it in the function's captures",
                           "operand %d is captured: its level %llu (%s) is open but hidden here", operand, serial,
                           box.interpreter->name);
}
