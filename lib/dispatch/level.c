/* The level stack: see level.h. A level lies in the C frame of the transform that pushed it, so pushing costs no
 * allocation but where the display grows, and the order of pops is that of returns. A level is pushed on the current
 * one, which is its parent: calls go down along parents, and a pop goes back to the parent. */
#include "lib/dispatch/level.h"

#include <assert.h>
#include <string.h>

/* Level 0 and a display of 32 entries: deeper nests than that are rare. A failure is not recorded, since there is no
 * context yet to record it in. */
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

/* Depth is bounded by the C stack, not here. */
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

/* Values below have an axis for each level that hides one. */
static lam_status fail_axes(lam_ctx *ctx, const lam__interpreter *interpreter) {
    return lam__error_set(ctx, LAM_ERR_RANK, "make several batches one, or use lam_map for some of them",
                          "%s: %d nested batches use all the axes that there are (functions that run for some "
                          "examples only take one, too)",
                          interpreter->name, ctx->current->hidden);
}

lam_status lam__level_push(lam_ctx *ctx, lam__level *level, const lam__interpreter *interpreter, void *state) {
    int depth = ctx->current->depth + 1;
    if (ctx->current->hidden + interpreter->hides_axis > LAM_INNER_RANK) return fail_axes(ctx, interpreter);
    if (depth >= ctx->display_size && display_grow(ctx) != LAM_OK) return LAM_ERR_MEMORY;
    *level = (lam__level){.ctx = ctx,
                          .interpreter = interpreter,
                          .serial = ++ctx->levels,
                          .birth = ++ctx->clock,
                          .depth = depth,
                          .hidden = ctx->current->hidden + interpreter->hides_axis,
                          .parent = ctx->current,
                          .shadowed = ctx->display[depth],
                          .state = state};
    ctx->display[depth] = ctx->current = level;
    return LAM_OK;
}

/* finish first, while boxes are boxes; then what is left of them is ended. The display gets back the level that this
 * one had replaced there. */
void lam__level_pop(lam__level *level) {
    lam_ctx *ctx = level->ctx;
    assert(ctx->current == level && ctx->display[level->depth] == level);
    if (level->interpreter->finish) level->interpreter->finish(level);
    while (level->boxes) lam__value_end(level->boxes);
    ctx->display[level->depth] = level->shadowed;
    ctx->current = level->parent;
}

/* From `level` down to eval, along parents. */
void lam__level_describe(const lam__level *level, lam__text *text) {
    for (; level; level = level->parent) {
        lam__error_append(text, "%s", level->interpreter->name);
        if (level->interpreter->describe) level->interpreter->describe(level, text);
        if (level->parent) lam__error_append(text, " -> ");
    }
}

/* Escaped: the level has ended. Captured: it is open, but not on the current chain, because a function that runs for a
 * lower level uses what it did not get as an input. */
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

/* The row is made up for its name. */
bool lam__level_lives(lam_ctx *ctx, const char *operation, int n, lam_value *const in[], int operand) {
    if (in[operand]->kind != LAM__ENDED) return true;
    const lam_primitive row = {.name = operation};
    lam__level_fail_hidden(&(lam_call_site){.ctx = ctx, .primitive = &row, .inputs = n, .outputs = 1, .in = in},
                           operand);
    return false;
}
