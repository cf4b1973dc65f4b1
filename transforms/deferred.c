/* See deferred.h. The operation, with all that its functions capture, is made a function of tensors alone and applied
 * as a primitive that is recorded whole (checkpoint.c): a program calls it with what is known then, and derivatives and
 * batches are calls of the function's derivative and batch, in which the choice is made again. */
#include "transforms/deferred.h"

#include "lib/base/context.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "transforms/arguments.h"
#include "transforms/rematerialise.h"
#include "transforms/trace.h"

#include <string.h>

/* Boxes are opened as for reading; only the outermost trace counts, whose program is the one that is run. */
lam__known lam__deferred_known(const lam_tensor *condition) {
    const lam_value *v = lam__scope_peek(condition);
    lam__known known = LAM__KNOWN;
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter == &lam__interpreter_trace)
            return ((const lam_program *)lam__payload_of(v)->level->state)->only_types ? LAM__NOT_ASKED : LAM__TRACED;
        v = interpreter->hides_axis ? lam__payload_of(v)->inner : interpreter->read ? interpreter->read(v) : NULL;
    }
    return known;
}

/* The functions of the operation, with captures as inputs; held. */
typedef struct deferred {
    lam__deferral kind;
    size_t count, n; /* functions; operands, without an index */
    lam_fn *open[];
} deferred;

static void deferred_free(lam_ctx *ctx, void *env) {
    deferred *d = env;
    (void)ctx;
    for (size_t i = 0; i < d->count; i++) lam__fn_release(d->open[i]);
}

/* in[]: operands, then captures, as the open function takes them. */
static void body_closed(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *open = env;
    (void)ctx;
    (void)lam_call(open, (lam_list){(size_t)open->inputs, in}, out, (size_t)open->outputs);
}

/* An open function at these captures. */
static lam_fn *closed(lam_ctx *ctx, lam_fn *open, size_t n, lam_tensor *const captures[]) {
    size_t captured = (size_t)open->inputs - n;
    if (!captured) return open;
    return lam_fn_new(ctx, &(lam_fn_options){.name = open->name,
                                             .body = body_closed,
                                             .inputs = (int)n,
                                             .outputs = open->outputs,
                                             .env = open,
                                             .captures = {captured, captures}});
}

/* in[]: the index of a switch, operands, captures of one function after the other. */
static void body_deferred(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const deferred *d = env;
    lam_tensor *const *operands = in + (d->kind == LAM__SWITCH), *const *captures = operands + d->n;
    lam_fn **fns = (lam_fn **)(void *)lam__apply_room(ctx, d->count);
    if (!fns) return;
    for (size_t i = 0; i < d->count; i++) {
        fns[i] = closed(ctx, d->open[i], d->n, captures);
        captures += (size_t)d->open[i]->inputs - d->n;
    }
    lam_list list = {d->n, operands};
    size_t outputs = (size_t)d->open[d->count - 1]->outputs;
    if (d->kind == LAM__SWITCH) (void)lam_switch(in[0], fns, d->count, list, out, outputs);
    else (void)lam_while(fns[0], fns[1], list, out, outputs);
}

/* The function of the operation, in the call's scope; in[] has room for its inputs, of which those behind the operands
 * are filled in. */
static lam_fn *function_of(lam__control *c, const deferred *shape, size_t given, lam_tensor **in) {
    lam__scratch_area area;
    size_t bytes = sizeof *shape + shape->count * sizeof *shape->open, at = given;
    deferred *d = lam__scratch_get(&area, c->ctx, bytes);
    lam_fn *made = c->ctx->failed_fn;
    if (!d) return made;
    *d = *shape;
    for (size_t i = 0; i < d->count; i++) {
        lam__arguments_append_captures(c->fns[i], in, (int)at);
        at += (size_t)lam__arguments_captured(c->fns[i]);
        d->open[i] = lam__fn_retain(lam__arguments_open("body", c->fns[i]));
    }
    bool fine = true;
    for (size_t i = 0; i < d->count; i++) fine = fine && d->open[i]->magic == LAM__FN;
    if (fine)
        made = lam__fn_derive(
            c->ctx, &(lam__derived){c->what, NULL, body_deferred, (int)at, (int)c->n_out, d, bytes, deferred_free});
    if (made->magic != LAM__FN) deferred_free(c->ctx, d);
    lam__scratch_put(&area);
    return made;
}

bool lam__deferred_call(lam__control *c, lam__deferral kind, size_t n, lam_tensor *const operands[],
                        lam_tensor *results[]) {
    deferred shape = {.kind = kind, .count = c->count, .n = n - (kind == LAM__SWITCH)};
    size_t inputs = n;
    for (size_t i = 0; i < c->count; i++) inputs += (size_t)lam__arguments_captured(c->fns[i]);
    lam_tensor **in = lam__apply_room(c->ctx, inputs);
    lam_value **v = (lam_value **)(void *)lam__apply_room(c->ctx, inputs + c->n_out);
    if (!in || !v) return false;
    memcpy(in, operands, n * sizeof *in);
    memset(v, 0, (inputs + c->n_out) * sizeof *v);
    lam_fn *f = function_of(c, &shape, n, in);
    if (f->magic != LAM__FN || !lam__arguments_values(c->ctx, (int)inputs, in, v)) return false;
    lam_status status = lam__checkpoint_whole(f, v, v + inputs);
    return lam__arguments_give(c->ctx, status, (int)c->n_out, v + inputs, results) == LAM_OK;
}
