/* The dual interpreter: see dual.h. Values are pairs x + e dx with e e = 0, so a call gives y = f(x) and dy = f'(x) dx,
 * both computed one level below. A box exists only where there is a tangent: what has none stays a plain value, and
 * NULL is zero for tangents on both sides of every rule. Tangents have the dtype and dims of their primals. */
#include "transforms/dual.h"

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/staged.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/print.h"
#include "transforms/arguments.h"

#include <string.h>

/* A box {primal, tangent}; takes both over, also on failure. */
static lam_value *dual(lam__level *level, lam_value *primal, lam_value *tangent) {
    lam_value *box = lam__level_box(level, primal, tangent, 0);
    if (!box) lam__value_release(tangent);
    return box;
}

/* Takes over both lists. A tangent of a result that is not floating is dropped. On failure out[] is released by the
 * caller; no tangent is left. */
LAM__UNROLLED lam_status box_results(lam__level *level, int m, lam_value *out[], lam_value *dout[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < m; o++) {
        if (!dout[o]) continue; /* zero, or no result */
        if (lam__dtype_is_inexact(out[o]->dtype)) out[o] = dual(level, out[o], dout[o]);
        else lam__value_release(dout[o]);
        if (!out[o]) status = LAM_ERR_MEMORY;
    }
    return status;
}

/* A Function's stages: forward with the tangents known to it, then `tangents`. What forward kept goes at once.
 * constant[] is what forward says of its outputs; the stage leaves their tangents NULL. */
static lam_status apply_staged(const lam_call_site *below, lam_value *const tangents[], lam_value *out[],
                               lam_value *results[]) {
    const lam__staged *staged = below->primitive->staged;
    lam__scratch_area area;
    size_t n = (size_t)below->inputs, m = (size_t)below->outputs;
    bool *needs = lam__scratch_get(&area, below->ctx, n + m), *constant = needs + n;
    if (!needs) return LAM_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) needs[i] = tangents[i] != NULL; /* what has one wants one */
    for (size_t o = 0; o < m; o++) constant[o] = false;
    lam_call_site with = *below;
    lam_status status = staged->forward(below, needs, tangents, out, constant, &with.residual);
    if (status == LAM_OK) {
        status = staged->tangents(&with, out, tangents, results);
        staged->release(below->ctx, with.residual);
    }
    lam__scratch_put(&area);
    return status;
}

/* Any other row: its value first, since rules read results. Both steps run with the level's parent current, so tangents
 * may be boxes of levels below and are recorded or batched there as any value is. On failure results[] is not set, and
 * nobody looks at it. */
static lam_status apply(const lam_call_site *below, lam_value *const tangents[], lam_value *out[],
                        lam_value *results[]) {
    lam_status status = lam__dispatch(below, out);
    return status == LAM_OK ? lam__rules_tangents(below, out, tangents, results) : status;
}

/* Borrowed. Operands of lower levels are constants: they have no tangent here. */
LAM__UNROLLED void unbox_operands(const lam__level *level, int n, lam_value *const boxes[], lam_value *primals[],
                                  lam_value *tangents[]) {
    for (int i = 0; i < n; i++) {
        bool own = lam__level_owns(level, boxes[i]);
        primals[i] = own ? lam__payload_of(boxes[i])->inner : boxes[i];
        tangents[i] = own ? lam__payload_of(boxes[i])->extra : NULL;
    }
}

/* Any number of operands and results. One block holds primals, tangents and the tangents of results. */
LAM__APART static lam_status process_lists(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    int n = call->inputs, m = call->outputs;
    lam_value **primals = lam__scratch_get(&area, level->ctx, (size_t)(2 * n + m) * sizeof *primals);
    if (!primals) return LAM_ERR_MEMORY;
    lam_value **tangents = primals + n, **results = tangents + n;
    unbox_operands(level, n, call->in, primals, tangents);
    lam_call_site below = *call;
    below.in = primals;
    for (int o = 0; o < m; o++) out[o] = NULL;
    lam_status status = (call->primitive->staged ? apply_staged : apply)(&below, tangents, out, results);
    if (status == LAM_OK) status = box_results(level, m, out, results);
    if (status != LAM_OK) lam__arguments_release(m, out);
    lam__scratch_put(&area);
    return status;
}

/* An elementwise call on n operands, where n is a constant. The commonest rows come through here: for products, sums
 * and powers lam__rules_tangents needs no handles. */
LAM__UNROLLED lam_status process_few(lam__level *level, const lam_call_site *call, int n, lam_value *out[]) {
    lam_value *primals[3], *tangents[3], *result;
    unbox_operands(level, n, call->in, primals, tangents);
    lam_status status = lam__dispatch_below(call, n, primals, out);
    if (status != LAM_OK || call->primitive->derivative == LAM_NOT_DIFFERENTIABLE) return status; /* then a constant */
    lam_call_site below = lam__dispatch_site(call, primals);
    status = lam__rules_tangents(&below, out, tangents, &result);
    if (status == LAM_OK) status = box_results(level, 1, out, &result);
    if (status != LAM_OK) lam__arguments_release(1, out);
    return status;
}

/* A row that may be evaluated together with its derivative: where the operand is at hand. Then dy = dx f'(x), and both
 * f and f' come from one pass over x. The slope is a value of its own, given up when the product is made. */
LAM__APART static lam_status process_sloped(lam__level *level, const lam_call_site *call, lam_value **out) {
    lam_value *x, *dx, *slope, *result = NULL;
    unbox_operands(level, 1, call->in, &x, &dx);
    *out = dx ? lam__elementwise_sloped(call->primitive, x, &slope) : NULL; /* NULL: the general way */
    if (!*out) return process_few(level, call, 1, out);
    lam_status status = lam__rules_times(level->ctx, &lam__row_mul, dx, slope, &result);
    lam__value_release(slope);
    if (status == LAM_OK) status = box_results(level, 1, out, &result);
    if (status != LAM_OK) lam__arguments_release(1, out);
    return status;
}

/* What cannot be elementwise, or has more than three operands, takes the way of lists. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (!call->primitive->elementwise) return process_lists(level, call, out);
    if (call->inputs == 2) return process_few(level, call, 2, out);
    if (call->inputs == 1)
        return call->primitive->sloped ? process_sloped(level, call, out) : process_few(level, call, 1, out);
    if (call->inputs == 3) return process_few(level, call, 3, out);
    return process_lists(level, call, out);
}

/* Primal to primal, tangent to tangent: (x + e dx) + (y + e dy). A constant has nothing for the tangent. The tangent is
 * taken out of the payload while it changes, and put back whatever it has become, also after a failure. */
static bool accumulate(lam__level *level, lam_value *sum, lam_value *g, int sign, lam_status *status) {
    bool own = lam__level_owns(level, g);
    lam__payload *to = lam__payload_of(sum);
    const lam__payload *from = lam__payload_of(g);
    lam_value *tangent = to->extra;
    *status = lam__rules_accumulate(level->ctx, &to->inner, lam__value_hold(own ? from->inner : g), sign);
    if (own && *status == LAM_OK)
        *status = lam__rules_accumulate(level->ctx, &tangent, lam__value_hold(from->extra), sign);
    to->extra = tangent;
    return true;
}

/* Terms of the product go where they belong: x y, and dx y + x dy. The term dx dy goes with e e. */
static bool accumulate_product(lam__level *level, lam_value *sum, lam_value *x, lam_value *y, int sign,
                               lam_status *status) {
    lam_value *boxes[2] = {x, y}, *primals[2], *tangents[2];
    const lam_primitive *mul = &lam__row_mul;
    lam__payload *to = lam__payload_of(sum);
    unbox_operands(level, 2, boxes, primals, tangents);
    lam_value *tangent = to->extra;
    *status = lam__rules_accumulate_times(level->ctx, mul, &to->inner, primals[0], primals[1], sign);
    for (int i = 0; i < 2 && *status == LAM_OK; i++)
        if (tangents[i])
            *status = lam__rules_accumulate_times(level->ctx, mul, &tangent, tangents[i], primals[1 - i], sign);
    to->extra = tangent;
    return true;
}

/* x becomes x y and its tangent dx y + x dy. The tangent first, while x is there. Once begun it is done: a failure on
 * the way leaves a box that is of no use to anybody, which the caller releases. */
static bool multiply(lam__level *level, lam_value *x, lam_value *y, lam_status *status) {
    lam_value *primal, *dy;
    lam__payload *to = lam__payload_of(x);
    lam_value *tangent = to->extra;
    unbox_operands(level, 1, &y, &primal, &dy);
    *status = lam__rules_multiply(level->ctx, &tangent, primal);
    if (dy && *status == LAM_OK)
        *status = lam__rules_accumulate_times(level->ctx, &lam__row_mul, &tangent, to->inner, dy, 1);
    if (*status == LAM_OK) *status = lam__rules_multiply(level->ctx, &to->inner, primal);
    to->extra = tangent;
    return true;
}

/* C code sees the primal: what it computes from that is a constant to this level. Borrowed, for as long as the box is
 * held. */
static lam_value *read_primal(const lam_value *box) {
    return lam__payload_of(box)->inner;
}

/* The tangent is the box's own reference. */
static void drop(lam_value *box) {
    lam__value_release(lam__payload_of(box)->extra);
}

/* "tangent f64[3]: 1, 0, 0". */
static void print(FILE *file, const lam_value *box) {
    fputs("tangent ", file);
    lam__print_brief(file, lam__payload_of(box)->extra);
}

const lam__interpreter lam__interpreter_jvp = {
    .name = "jvp",
    .process = process,
    .accumulate = accumulate,
    .accumulate_product = accumulate_product,
    .multiply = multiply,
    .read = read_primal,
    .drop = drop,
    .print = print,
};

/* Results as pairs again, one reference each; a tangent that is zero is NULL. A result that has no box does not depend
 * on any tangent. */
static void unbox(const lam__level *level, int n, lam_value *out[], lam_value *dout[]) {
    for (int o = 0; o < n; o++) {
        dout[o] = NULL;
        if (!lam__level_owns(level, out[o])) continue;
        lam_value *box = out[o];
        out[o] = lam__value_hold(lam__payload_of(box)->inner);
        dout[o] = lam__value_hold(lam__payload_of(box)->extra);
        lam__value_release(box);
    }
}

/* The box of an input whose tangent is NULL is not made: f sees the value itself, whose operations never reach this
 * level. Results are taken apart before the pop. On failure nothing is given. The caller keeps in[] and dx[], whose
 * types must agree; nothing here looks. */
lam_status lam__dual_run(lam_fn *f, lam_value *const in[], lam_value *const dx[], lam_value *out[], lam_value *dout[]) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    lam__level level;
    for (int o = 0; o < f->outputs; o++) out[o] = NULL;
    for (int o = 0; o < f->outputs; o++) dout[o] = NULL;
    lam_value **boxes = lam__scratch_get(&area, ctx, (size_t)f->inputs * sizeof *boxes);
    lam_status status = boxes ? lam__level_push(ctx, &level, &lam__interpreter_jvp, NULL) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        for (int i = 0; i < f->inputs; i++) {
            boxes[i] = lam__value_hold_any(in[i]);
            if (dx[i]) boxes[i] = dual(&level, boxes[i], lam__value_hold(dx[i])); /* in[i] is there */
            if (in[i] && !boxes[i]) status = LAM_ERR_MEMORY;
        }
        if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
        lam__arguments_release(f->inputs, boxes);
        if (status == LAM_OK) unbox(&level, f->outputs, out, dout);
        else lam__arguments_release(f->outputs, out);
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    return status;
}
