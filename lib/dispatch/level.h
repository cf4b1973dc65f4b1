/* The level stack: push, pop, visibility. */
#ifndef LAM_DISPATCH_LEVEL_H
#define LAM_DISPATCH_LEVEL_H

#include "lib/dispatch/interpreter.h"

/* Pushes a level on the current one and makes it current. Every push that succeeds is popped, whatever fails
 * between. */
lam_status lam__level_push(lam_ctx *ctx, lam__level *level, const lam__interpreter *interpreter, void *state);
void lam__level_pop(lam__level *level);

/* NOTE [display]
 * Levels form a tree: a rule runs with a lower level current and may push a new one there. display[depth] is the level
 * pushed last at that depth, so a level lies on the chain from the current one exactly if its depth is not greater and
 * the display holds it. One comparison serves escaped, hidden and captured. */
static inline bool lam__level_visible(const lam_ctx *ctx, const lam__level *level) {
    return level && level->depth <= ctx->current->depth && ctx->display[level->depth] == level;
}

/* Whether v is a box of exactly this level. */
static inline bool lam__level_owns(const lam__level *level, const lam_value *v) {
    return v && v->kind == LAM__BOX && lam__payload_of(v)->level == level;
}

lam_status lam__level_start(lam_ctx *ctx, lam__level *ground);
void lam__level_stop(lam_ctx *ctx);

/* "vmap(size 5) -> vjp -> eval" */
void lam__level_describe(const lam__level *level, lam__text *text);

/* Records that a box of a level that is not visible was used. */
lam_status lam__level_fail_hidden(const lam_call_site *call, int operand);

#endif
