/* The values interpreter: see values.h. Its boxes say that their values have a derivative, and no more: each call is
 * done one level below, staged ones as at any level that differentiates. A row that takes its derivative apart from its
 * values, as a choice or a checkpoint does, asks for the latter by this level; otherwise a level below would see the
 * operations of a function where its rule has run. */
#include "transforms/values.h"

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/staged.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <string.h>

/* A value of a lower level is what it is. */
static lam_value *inside(const lam__level *level, lam_value *v) {
    return lam__level_owns(level, v) ? lam__payload_of(v)->inner : v;
}

/* A stage that has values of its own gives them; what it keeps for a derivative goes at once. flags: room for all
 * operands and results, of which the latter say which are constants. Tangents are not known, hence the NULL: whoever
 * gives values at derivative levels does so without them. */
static lam_status apply_staged(lam__level *level, const lam_call_site *call, const lam_call_site *below, bool flags[],
                               lam_value *out[]) {
    const lam__staged *staged = call->primitive->staged;
    void *residual = NULL;
    for (int i = 0; i < call->inputs; i++) flags[i] = lam__level_owns(level, call->in[i]);
    lam_status status = staged->forward(below, flags, NULL, out, flags + call->inputs, &residual);
    if (status == LAM_OK && residual) staged->release(level->ctx, residual);
    return status;
}

/* Results have a derivative but for integers, those of rows that have none, and those that a stage says are
 * constant. Flags are bytes behind the pointers: an operand's, whether it has a derivative, then a result's, whether it
 * has none. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    const size_t n = (size_t)call->inputs, m = (size_t)call->outputs;
    lam_value **in = lam__scratch_get(&area, level->ctx, n * sizeof *in + n + m);
    if (!in) return LAM_ERR_MEMORY;
    bool *flags = (bool *)(void *)(in + n), *constant = flags + n;
    const bool none = call->primitive->derivative == LAM_NOT_DIFFERENTIABLE;
    for (size_t i = 0; i < n; i++) in[i] = inside(level, call->in[i]);
    for (size_t o = 0; o < m; o++) constant[o] = none;
    lam_call_site below = *call;
    below.in = in;
    lam_status status =
        call->primitive->staged ? apply_staged(level, call, &below, flags, out) : lam__dispatch(&below, out);
    const bool done = status == LAM_OK;
    for (size_t o = 0; o < m && done; o++) {
        if (!out[o] || constant[o] || !lam__dtype_is_inexact(out[o]->dtype)) continue;
        if (!(out[o] = lam__level_box(level, out[o], NULL, 0))) status = LAM_ERR_MEMORY;
    }
    if (done && status != LAM_OK) lam__arguments_release((int)m, out);
    lam__scratch_put(&area);
    return status;
}

static lam_value *read_inside(const lam_value *v) {
    return lam__payload_of(v)->inner;
}

static const lam__interpreter interpreter = {.name = "values", .process = process, .read = read_inside};

/* No state: a box holds nothing but its value. */
lam_status lam__values_push(lam_ctx *ctx, lam__level *level) {
    return lam__level_push(ctx, level, &interpreter, NULL);
}

/* What is not wanted is a constant, as it is. On failure boxes are as far as they have come, and the caller releases
 * all of them. */
lam_status lam__values_box(lam__level *level, int n, const bool wanted[], lam_value *const in[], lam_value *boxes[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < n; i++) {
        boxes[i] = lam__value_hold_any(in[i]);
        if (wanted[i] && !(boxes[i] = lam__level_box(level, boxes[i], NULL, 0))) status = LAM_ERR_MEMORY;
    }
    return status;
}

/* In place; others stay as they are. */
void lam__values_unbox(const lam__level *level, size_t n, lam_value *values[]) {
    for (size_t i = 0; i < n; i++) {
        if (!lam__level_owns(level, values[i])) continue;
        lam_value *v = lam__value_hold(inside(level, values[i]));
        lam__value_release(values[i]);
        values[i] = v;
    }
}

/* Calls f with the level around it; boxes: room for f's inputs. Results leave their boxes before the level ends, which
 * would empty them. */
static lam_status run(lam_fn *f, const bool wanted[], lam_value *const in[], lam_value *boxes[], lam_value *out[]) {
    lam__level level;
    lam_status status = lam__values_push(f->ctx, &level);
    if (status != LAM_OK) return status;
    status = lam__values_box(&level, f->inputs, wanted, in, boxes);
    if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
    lam__arguments_release(f->inputs, boxes);
    if (status == LAM_OK) lam__values_unbox(&level, (size_t)f->outputs, out);
    lam__level_pop(&level);
    return status;
}

/* env: wanted[] of lam__values_fn. */
static void body_values(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    const size_t bytes = (size_t)(2 * f->inputs + f->outputs + 1) * sizeof(lam_value *);
    lam_value **v = lam__scratch_get(&area, ctx, bytes);
    if (!v) return;
    memset(v, 0, bytes);
    lam_value **boxes = v + f->inputs, **results = boxes + f->inputs;
    lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? LAM_OK : ctx->error.status;
    if (status == LAM_OK) status = run(f, env, v, boxes, results);
    (void)lam__arguments_give(ctx, status, f->outputs, results, out);
    lam__scratch_put(&area);
}

/* wanted[] is copied into the function, which may outlive the call. */
lam_fn *lam__values_fn(lam_fn *f, const bool wanted[]) {
    return lam__fn_derive(f->ctx, &(lam__derived){"values", f, body_values, f->inputs, f->outputs, wanted,
                                                  (size_t)f->inputs * sizeof *wanted, NULL});
}
