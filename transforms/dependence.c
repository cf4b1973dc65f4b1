/* The level that sees what depends on what: see dependence.h. Each call is done below with the values themselves, so
 * that indices and conditions are at hand, and then once more with names of sets in the place of elements. A box is
 * {value, names}; without names the value has no derivative by the input but follows from it, as what floor, a
 * comparison or an order gives. Sets are never too small: what a row does with its operands is said in
 * dependence_rules.c, and what is said of no row there, makes everything depend on everything. Functions that a row
 * calls run at this level. */
#include "transforms/dependence.h"

#include "lib/dispatch/dispatch.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/custom.h"
#include "transforms/nested.h"

#include <string.h>

static lam_value *names_of(const lam__level *level, const lam_value *v) {
    return lam__level_owns(level, v) ? lam__payload_of(v)->extra : NULL;
}

/* Boxes around the results and their names, which are taken over. On failure nothing is left of the latter. */
static lam_status box_results(lam__level *level, int m, lam_value *out[], lam_value *depends[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < m; o++) {
        lam_value *box = out[o] ? lam__level_box(level, out[o], depends[o], 0) : NULL;
        if (!box) lam__value_release(depends[o]);
        if (out[o] && !box) status = LAM_ERR_MEMORY;
        out[o] = box;
    }
    return status;
}

/* Whether a row calls functions whose derivative is that of what they do. Those of custom Functions have rules, by
 * which results may depend on more than they are made of, and may read elements. What a program's choices and loops
 * call follows from values, which may be others where the program is run next. */
static bool is_looked_through(const lam_primitive *row) {
    return row->call && row->call != lam__custom_row.call && row != &lam__row_switch && row != &lam__row_while;
}

static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (is_looked_through(call->primitive)) {
        level->ctx->current = level;
        return lam__eval_called(call, out);
    }
    lam__scratch_area area;
    const int n = call->inputs, m = call->outputs;
    lam_value **in = lam__scratch_get(&area, level->ctx, (size_t)(2 * n + m) * sizeof *in + (size_t)n);
    if (!in) return LAM_ERR_MEMORY;
    lam_value **names = in + n, **depends = names + n;
    bool *varies = (bool *)(depends + m);
    for (int i = 0; i < n; i++) {
        varies[i] = lam__level_owns(level, call->in[i]);
        in[i] = varies[i] ? lam__payload_of(call->in[i])->inner : call->in[i];
        names[i] = names_of(level, call->in[i]);
    }
    memset(depends, 0, (size_t)m * sizeof *depends);
    lam_call_site below = *call;
    below.in = in;
    lam_status status = lam__dispatch(&below, out);
    if (status == LAM_OK) status = lam__dependence_of(level->state, &below, names, varies, out, depends);
    if (status == LAM_OK) status = box_results(level, m, out, depends);
    else lam__arguments_release(m, depends);
    if (status != LAM_OK) lam__arguments_release(m, out);
    lam__scratch_put(&area);
    return status;
}

static lam_value *read_value(const lam_value *box) {
    return lam__payload_of(box)->inner;
}

static void drop(lam_value *box) {
    lam__value_release(lam__payload_of(box)->extra);
}

static const lam__interpreter dependence = {
    .name = "sparsity",
    .process = process,
    .read = read_value,
    .drop = drop,
};

/* Each element of the input by itself: element i has the set of i, whose name is 1 + i. */
static lam_value *seed(lam__level *level, lam_value *x) {
    lam_value *names = lam__value_new(level->ctx, LAM_I64, x->rank, x->dims);
    if (!names) return NULL;
    for (int64_t i = 0; i < x->count; i++) ((int64_t *)names->data)[i] = 1 + i;
    lam_value *box = lam__level_box(level, lam__value_hold(x), names, 0);
    if (!box) lam__value_release(names);
    return box;
}

/* f with the level around it; boxes: room for its inputs, out: for its outputs, of which the first are left. */
static lam_status run(lam_fn *f, lam__level *level, int input, lam_value *const in[], lam_value *boxes[],
                      lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < f->inputs; i++) {
        boxes[i] = i == input ? seed(level, in[i]) : lam__value_hold(in[i]);
        if (!boxes[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
    lam__arguments_release(f->inputs, boxes);
    const int left = status == LAM_OK; /* after a failure there may be outputs all the same */
    lam__arguments_release(f->outputs - left, out + left);
    return status;
}

lam_status lam__dependence_run(lam_fn *f, int input, lam_value *const in[], lam__sets *sets, lam_value **first,
                               lam_value **depends) {
    lam__scratch_area area;
    lam__level level;
    *first = *depends = NULL;
    const size_t values = (size_t)(f->inputs + f->outputs);
    lam_value **boxes = lam__scratch_get(&area, f->ctx, values * sizeof *boxes), **out = boxes + f->inputs;
    if (!boxes) return LAM_ERR_MEMORY;
    memset(boxes, 0, values * sizeof *boxes);
    lam_status status = lam__level_push(f->ctx, &level, &dependence, sets);
    if (status == LAM_OK) {
        status = run(f, &level, input, in, boxes, out);
        if (status == LAM_OK) {
            *depends = lam__value_hold_any(names_of(&level, out[0]));
            *first = lam__value_hold(lam__level_owns(&level, out[0]) ? lam__payload_of(out[0])->inner : out[0]);
            lam__value_release(out[0]);
        }
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    return status;
}
