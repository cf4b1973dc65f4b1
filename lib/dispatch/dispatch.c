/* Dispatch: see dispatch.h. JAX finds the top trace among the operands and lifts every other operand into it; here
 * values of lower levels stay what they are, constants, which is both cheaper and what keeps perturbations apart: in
 * d/dx (x + y) the inner level has no part in a y that belongs to an outer one. While an interpreter works, the parent
 * of its level is current, which is put back behind it, whatever came of the call. */
#include "lib/dispatch/dispatch.h"

#include "lib/dispatch/part.h"
#include "lib/dispatch/staged.h"
#include "lib/tensor/dtype.h"

/* The highest level among the operands, NULL if they belong to none; *hidden is set to one whose level is not visible.
 * All visible levels lie on one chain, so the highest is the deepest. */
static inline lam__level *top_of(const lam_ctx *ctx, int n, lam_value *const in[], int *hidden) {
    lam__level *top = NULL;
    for (int i = 0; i < n; i++) {
        const lam_value *v = in[i];
        if (!v || !lam__value_is_box(v)) continue;
        lam__level *level = lam__payload_of(v)->level;
        if (level == top && top) continue;
        if (!lam__level_visible(ctx, level)) *hidden = *hidden < 0 ? i : *hidden;
        else if (!top || level->depth > top->depth) top = level;
    }
    return top;
}

lam__level *lam__dispatch_top(const lam_call_site *call) {
    int hidden = -1;
    lam__level *top = top_of(call->ctx, call->inputs, call->in, &hidden);
    return hidden < 0 ? top : NULL;
}

/* The innermost level from `level` down to above `top` that has a say in draws. */
static lam__level *drawing_level(lam__level *level, const lam__level *top) {
    while (level->depth > top->depth && !level->interpreter->draw) level = level->parent;
    return level->depth > top->depth ? level : NULL;
}

/* NOTE [draws below]
 * User code that runs for a level does not see the levels above it, which may have a say in what it draws. Whether it
 * draws is known when it has run: then those levels are asked, from the innermost on. Where the generator stands does
 * not tell: who draws again, as a checkpoint does on its way back, puts it back behind it. */
static lam_status process_drawing_at(lam__level *top, const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    lam__level *saved = ctx->current, *asked = drawing_level(saved, top);
    const lam_random_state before = ctx->random;
    const uint64_t drawn = ctx->drawn;
    bool other = false;
    lam_status status = lam__dispatch_at(top, call, out);
    if (ctx->drawn == drawn || ctx->aside->wanted) return status;
    for (; asked && !other && status == LAM_OK; asked = drawing_level(asked->parent, top)) {
        ctx->current = asked->parent;
        status = asked->interpreter->drawn(asked, call, before, out, &other);
    }
    ctx->current = saved;
    return status;
}

/* With the levels above `top` set aside, and again at one of these if it turns out to be wanted. What the first attempt
 * has recorded and drawn is undone. */
static lam_status process_staged_at(lam__level *top, const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    lam__aside aside = {ctx->aside, ctx->current, top, NULL};
    const lam_random_state before = ctx->random;
    const lam__mark mark = lam__error_mark(ctx);
    ctx->aside = &aside;
    lam_status status = process_drawing_at(top, call, out);
    ctx->aside = aside.outer;
    if (!aside.wanted) return status;
    for (int o = 0; o < call->outputs; o++) {
        if (status == LAM_OK && out[o]) lam__value_release(out[o]);
        out[o] = NULL;
    }
    lam__error_roll_back(ctx, mark);
    ctx->random = before;
    return process_staged_at(aside.wanted, call, out);
}

/* A collective: at the level that bears its axis, unless an operand belongs to one above that. */
static lam_status process_collective(lam__level *top, const lam_call_site *call, lam_value *out[]) {
    lam_ctx *ctx = call->ctx;
    lam__level *saved = ctx->current, *own = call->primitive->staged->level(call);
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    if (!own) return ctx->error.status;
    if (top && top->depth > own->depth) return lam__dispatch_at(top, call, out);
    ctx->current = own->parent;
    lam_status status = call->primitive->staged->at(own, call, out);
    ctx->current = saved;
    return status;
}

/* Staged primitives take a look at draws on the way (NOTE [draws below]); all others go straight to their level. */
lam_status lam__dispatch_any(const lam_call_site *call, lam_value *out[]) {
    int hidden = -1;
    lam__level *top = top_of(call->ctx, call->inputs, call->in, &hidden);
    if (hidden >= 0) return lam__level_fail_hidden(call, hidden);
    if (call->primitive->staged && call->primitive->staged->level) return process_collective(top, call, out);
    if (!top) return lam__eval(call, out);
    return call->primitive->staged ? process_staged_at(top, call, out) : lam__dispatch_at(top, call, out);
}

/* The short way for up to three operands whose boxes are all of one level; staged primitives need the look at draws. */
lam_status lam__dispatch(const lam_call_site *call, lam_value *out[]) {
    lam__level *level = call->primitive->staged ? NULL
                        : call->inputs == 2     ? lam__dispatch_level(call->ctx, 2, call->in)
                        : call->inputs == 1     ? lam__dispatch_level(call->ctx, 1, call->in)
                        : call->inputs == 3     ? lam__dispatch_level(call->ctx, 3, call->in)
                                                : NULL;
    return level ? lam__dispatch_at(level, call, out) : lam__dispatch_any(call, out);
}

lam_status lam__dispatch_with(const lam_call_site *call, lam_value *const in[], lam_value *out[]) {
    lam_call_site with = lam__dispatch_site(call, in);
    return lam__dispatch(&with, out);
}

/* Whether g, if it is a box, belongs to `level` or to a visible one below. */
static inline bool lies_within(const lam__level *level, const lam_value *g) {
    if (!lam__value_is_box(g)) return g->kind == LAM__CONCRETE;
    const lam__level *own = lam__payload_of(g)->level;
    return own == level || (lam__level_visible(level->ctx, own) && own->depth < level->depth);
}

/* The level of a box that only the caller holds; NULL where it is no such box, or its level is not visible. */
static inline lam__level *level_of_own(const lam_value *box) {
    if (box->kind != LAM__BOX || box->refs != 1) return NULL;
    lam__level *level = lam__payload_of(box)->level;
    return lam__level_visible(level->ctx, level) ? level : NULL;
}

/* False leaves sum and g as they are, and the caller makes the sum by a call. g must not be what lies above the level
 * of the sum: the box could not show it. */
bool lam__dispatch_accumulate(lam_value *sum, lam_value *g, int sign, lam_status *status) {
    lam__level *level = level_of_own(sum);
    if (!level || !level->interpreter->accumulate || !lies_within(level, g)) return false;
    if (!lam__value_same_type(sum, g)) return false;
    lam_ctx *ctx = level->ctx;
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    bool done = level->interpreter->accumulate(level, sum, g, sign, status);
    ctx->current = saved;
    return done;
}

bool lam__dispatch_accumulate_product(lam_value *sum, lam_value *x, lam_value *y, int sign, lam_status *status) {
    lam__level *level = level_of_own(sum);
    if (!level || !level->interpreter->accumulate_product || x->dtype != sum->dtype || y->dtype != sum->dtype)
        return false;
    if (!lies_within(level, x) || !lies_within(level, y)) return false;
    lam_ctx *ctx = level->ctx;
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    bool done = level->interpreter->accumulate_product(level, sum, x, y, sign, status);
    ctx->current = saved;
    return done;
}

/* Adds g to a part of concrete elements where they lie: the part has the strides of the whole times its steps, and
 * begins at the sum of strides times first elements. */
static bool add_part(lam_value *sum, const lam__slice_params *part, const lam_value *g, int sign, lam_status *status) {
    int64_t strides[LAM_INNER_RANK], offset = 0;
    if (sum->kind != LAM__CONCRETE || sum->rank != part->rank) return false;
    for (int i = 0; i < part->rank; i++) {
        strides[i] = sum->strides[i] * part->at[i].step;
        offset += sum->strides[i] * part->at[i].start;
    }
    *status = LAM_OK;
    return lam__elementwise_add_part(sum, g, sign, strides, offset);
}

/* At the base, and through the boxes of levels that know where the part lies below; elsewhere the caller puts g among
 * zeros. */
bool lam__dispatch_accumulate_part(lam_value *sum, const lam__slice_params *part, lam_value *g, int sign,
                                   lam_status *status) {
    if (sum->kind != LAM__BOX) return add_part(sum, part, g, sign, status);
    lam__level *level = level_of_own(sum);
    if (!level || !level->interpreter->accumulate_part || !lies_within(level, g)) return false;
    lam_ctx *ctx = level->ctx;
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    bool done = level->interpreter->accumulate_part(level, sum, part, g, sign, status);
    ctx->current = saved;
    return done;
}

/* x and y must have one type: the box keeps the dims that it shows. */
bool lam__dispatch_multiply(lam_value *x, lam_value *y, lam_status *status) {
    lam__level *level = level_of_own(x);
    if (!level || !level->interpreter->multiply || !lies_within(level, y) || !lam__value_same_type(x, y)) return false;
    lam_ctx *ctx = level->ctx;
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    bool done = level->interpreter->multiply(level, x, y, status);
    ctx->current = saved;
    return done;
}

/* Operands without boxes are checked by evaluation itself. Where all are floats of one type, as most are, a
 * differentiable elementwise row cannot refuse them, so its shape rule is not asked. Primitives without a shape rule
 * check what they get when they run. */
lam_status lam__dispatch_checked(const lam_call_site *call, lam_value *out[]) {
    bool boxed = false, alike = call->primitive->elementwise && call->primitive->derivative == LAM_ELEMENTWISE;
    for (int i = 0; i < call->inputs; i++) {
        const lam_value *x = call->in[i];
        boxed = boxed || (x && x->kind != LAM__CONCRETE);
        alike = alike && lam__dtype_is_float(x->dtype) && x->dtype == call->in[0]->dtype &&
                lam__value_same_dims(x, call->in[0]);
    }
    if (!boxed && !call->primitive->staged) return lam__eval(call, out);
    if (alike || !(call->primitive->shape || call->primitive->elementwise)) return lam__dispatch(call, out);
    lam__scratch_area area;
    lam_shape *shapes = lam__scratch_get(&area, call->ctx, (size_t)call->outputs * sizeof *shapes);
    lam_status status = shapes ? lam__eval_shape(call, shapes) : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__eval_check_rank(call, shapes);
    lam__scratch_put(&area);
    return status == LAM_OK ? lam__dispatch(call, out) : status;
}
