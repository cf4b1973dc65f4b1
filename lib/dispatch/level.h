/* The level stack: push, pop, visibility. A level lies in the C frame of the function that pushed it and is popped by
 * that same function, so levels end in the order of returns. Boxes that outlive their level become ended ones, which
 * know what they were but hold nothing. */
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
 * the display holds it. One comparison serves escaped, hidden and captured.
 *
 * In vmap(grad(f)) the display is eval, vmap, vjp. While vjp differentiates a call, vmap is current, so boxes of vjp,
 * which is deeper, are not visible. A grad that is called then is pushed at the depth of vjp, in its place, and gives
 * the place back when it is popped. */
static inline bool lam__level_visible(const lam_ctx *ctx, const lam__level *level) {
    return level && level->depth <= ctx->current->depth && ctx->display[level->depth] == level;
}

/* NOTE [asides]
 * User code that runs for a level, as the body of a checkpoint or a forward does, sees the levels below that one. The
 * levels between the one that was current and that one are set aside meanwhile. User code may need one of these though
 * no operand belongs to it: because it draws (NOTE [draws below] in dispatch.c), or because it names its axis. In
 * grad of x -> sum(vmap of i -> f(x)) the operand of f belongs to grad alone, so a forward of f runs below grad, and
 * the vmap, which is above grad, is set aside; yet that forward may ask for a sum along the axis of the vmap. Who
 * looks for a name asks the asides in their turn, and where one has the level, leaves word and fails: the call is then
 * done again, at that level. */
typedef struct lam__aside {
    struct lam__aside *outer;
    lam__level *from, *top; /* set aside are `from` and its parents down to above `top` */
    lam__level *wanted;     /* by user code: one of these, or NULL */
} lam__aside;

/* Whether v is a box of exactly this level. */
static inline bool lam__level_owns(const lam__level *level, const lam_value *v) {
    return v && v->kind == LAM__BOX && lam__payload_of(v)->level == level;
}

/* ---- boxes ---- */

/* Puts what makes v, whose head is set, a box of `level`. */
static inline lam_value *lam__level_link(lam__level *level, lam__value *v, lam_value *inner, void *extra,
                                         int64_t number) {
    lam_value *next = level->boxes;
    v->as.box.level = level;
    v->as.box.inner = inner;
    v->as.box.extra = extra;
    v->as.box.number = number;
    v->as.box.prev = NULL;
    v->as.box.next = next;
    if (next) lam__payload_of(next)->prev = &v->head;
    level->boxes = &v->head;
    return &v->head;
}

/* The head of a box that shows what lies in it from axis `first` on, whose elements are `count`; the dims are set. */
static inline void lam__level_head(lam__value *v, lam_ctx *ctx, const lam_value *inner, int first, int64_t count) {
    v->head.kind = LAM__BOX;
    v->head.dtype = inner->dtype;
    v->head.rank = (uint8_t)(inner->rank - first);
    v->head.contiguous = true;
    v->head.refs = 1;
    v->head.count = count;
    v->head.dims = v->axes;
    v->head.strides = NULL; /* nothing reads those of a box */
    v->head.data = NULL;
    v->ctx = ctx;
}

static inline lam_value *lam__level_box_any(lam__level *level, lam_value *inner, void *extra, int64_t number) {
    lam_value *box = lam__value_box(level, (lam_dtype)inner->dtype, inner->rank, inner->dims, inner);
    if (!box) return NULL;
    lam__payload_of(box)->extra = extra;
    lam__payload_of(box)->number = number;
    return box;
}

/* A box around the whole of inner, taken over also on failure, with what the interpreter keeps in it. */
static inline lam_value *lam__level_box(lam__level *level, lam_value *inner, void *extra, int64_t number) {
    lam_ctx *ctx = level->ctx;
    int rank = inner->rank;
    lam__value *v = rank <= LAM__INLINE_AXES ? lam__alloc_try(&ctx->pool, LAM__VALUE_NARROW) : NULL;
    if (!v) return lam__level_box_any(level, inner, extra, number);
    for (int i = 0; i < rank; i++) v->axes[i] = inner->dims[i];
    lam__level_head(v, ctx, inner, 0, inner->count);
    return lam__level_link(level, v, inner, extra, number);
}

/* A box that does not show the first axis of inner, which is taken over also on failure. */
static inline lam_value *lam__level_box_behind(lam__level *level, lam_value *inner) {
    lam_ctx *ctx = level->ctx;
    int rank = inner->rank - 1;
    bool few = rank <= LAM__INLINE_AXES && inner->count; /* counting its elements cannot overflow */
    lam__value *v = few ? lam__alloc_try(&ctx->pool, LAM__VALUE_NARROW) : NULL;
    if (!v) return lam__value_box(level, (lam_dtype)inner->dtype, rank, inner->dims + 1, inner);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        int64_t size = inner->dims[i + 1];
        v->axes[i] = size;
        count *= size;
    }
    lam__level_head(v, ctx, inner, 1, count);
    return lam__level_link(level, v, inner, NULL, 0);
}

/* Level 0, in memory of the context's own, and the display; at the end of the context the display goes. */
lam_status lam__level_start(lam_ctx *ctx, lam__level *ground);
void lam__level_stop(lam_ctx *ctx);

/* "vmap(size 5) -> vjp -> eval" */
void lam__level_describe(const lam__level *level, lam__text *text);

/* Records that a box of a level that is not visible was used. */
lam_status lam__level_fail_hidden(const lam_call_site *call, int operand);

/* Whether one of n operands is no box of a level that has ended; otherwise records it, as dispatch does. For what uses
 * a value without a row. */
bool lam__level_lives(lam_ctx *ctx, const char *operation, int n, lam_value *const in[], int operand);

#endif
