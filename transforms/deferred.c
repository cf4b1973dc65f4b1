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

/* The program that x is a variable of, as far as its elements are concerned; boxes are opened as for reading. */
static const lam__program *program_at(const lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level) {
        const lam__interpreter *interpreter = lam__payload_of(v)->level->interpreter;
        if (interpreter == &lam__interpreter_trace) return lam__payload_of(v)->level->state;
        v = interpreter->hides_axis ? lam__payload_of(v)->inner : interpreter->read ? interpreter->read(v) : NULL;
    }
    return NULL;
}

lam__known lam__deferred_known(const lam_tensor *condition) {
    const lam__program *p = program_at(condition);
    return !p ? LAM__KNOWN : p->only_types ? LAM__NOT_ASKED : LAM__TRACED;
}

/* Up to so many trips a loop is recorded trip by trip: then its operations are fused with what is around, and where all
 * that it works on is small, with each other. */
enum { FEW_TRIPS = 64, FEW_ELEMENTS = 16, MANY_TRIPS = 16384 };

lam__known lam__deferred_loop(lam_fn *f, size_t n, lam_tensor *const operands[], int64_t trips) {
    const lam_fn *captor = lam__fn_captor(f);
    const size_t captured = (size_t)lam__arguments_captured(f);
    bool small = true, whole = false;
    for (size_t i = 0; i < n + captured; i++) {
        lam_tensor lent;
        if (i >= n) lam__scope_lend(&lent, f->ctx, captor->captures[i - n]);
        const lam_tensor *x = i < n ? operands[i] : &lent;
        const lam__program *p = program_at(x);
        const lam_value *v = lam__scope_peek(x);
        if (p && p->only_types) return LAM__NOT_ASKED;
        whole = whole || (p && p->keeps_loops);
        small = small && v && v->count <= FEW_ELEMENTS;
    }
    return whole && trips > (small ? MANY_TRIPS : FEW_TRIPS) ? LAM__TRACED : LAM__KNOWN;
}

/* The functions of the operation, with captures as inputs; held. */
typedef struct deferred {
    lam__later what;
    size_t count, taken; /* functions; inputs of each, without captures */
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
    const lam__later *w = &d->what;
    lam_tensor *const *operands = in + (w->kind == LAM__SWITCH), *const *captures = operands + w->n;
    lam_fn **fns = (lam_fn **)(void *)lam__apply_room(ctx, d->count);
    if (!fns) return;
    for (size_t i = 0; i < d->count; i++) {
        fns[i] = closed(ctx, d->open[i], d->taken, captures);
        captures += (size_t)d->open[i]->inputs - d->taken;
    }
    lam_list list = {w->n, operands}, init = {w->carries, operands}, xs = {w->n - w->carries, operands + w->carries};
    size_t outputs = (size_t)d->open[d->count - 1]->outputs;
    lam_scan_options o = {.reverse = w->reverse, .length = w->upper};
    switch (w->kind) {
    case LAM__SWITCH: lam_switch(in[0], fns, d->count, list, out, outputs); break;
    case LAM__WHILE: lam_while(fns[0], fns[1], list, out, outputs); break;
    case LAM__FORI: lam_fori(w->lower, w->upper, fns[0], list, out, outputs); break;
    case LAM__SCAN: lam_scan(fns[0], init, xs, out, outputs, &o); break;
    }
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

bool lam__deferred_call(lam__control *c, const lam__later *what, lam_tensor *const operands[], lam_tensor *results[]) {
    deferred shape = {.what = *what, .count = c->count, .taken = (size_t)c->fns[0]->inputs};
    size_t n = what->n + (what->kind == LAM__SWITCH), inputs = n;
    for (size_t i = 0; i < c->count; i++) inputs += (size_t)lam__arguments_captured(c->fns[i]);
    lam_tensor **in = lam__apply_room(c->ctx, inputs);
    lam_value **v = (lam_value **)(void *)lam__apply_room(c->ctx, inputs + c->n_out);
    if (!in || !v) return false;
    if (n) memcpy(in, operands, n * sizeof *in);
    memset(v, 0, (inputs + c->n_out) * sizeof *v);
    lam_fn *f = function_of(c, &shape, n, in);
    if (f->magic != LAM__FN || !lam__arguments_values(c->ctx, (int)inputs, in, v)) return false;
    lam_status status = lam__checkpoint_whole(f, v, v + inputs);
    return lam__arguments_give(c->ctx, status, (int)c->n_out, v + inputs, results) == LAM_OK;
}
