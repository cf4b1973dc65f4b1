/* once_differentiable: rules that have no derivative of their own. Such a rule is given nothing that a further level
 * differentiates: what a level of derivatives knows is refused. What a program records may be differentiated when the
 * program is, which is not known yet, so it goes through a row that is the identity and refuses to be differentiated. A
 * program that is linear in what it records is that derivative itself, and free. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/dependence.h"
#include "transforms/trace.h"

#include <string.h>

/* ---- the row ----------------------------------------------------------------------------------------------------- */

typedef struct once_params {
    lam__custom_params custom; /* first: what is held */
    const char *rule;          /* which one it is */
} once_params;

/* The same words whoever finds it, a level or a program. Recorded when a derivative gets there, not when the Function
 * is applied. */
static lam_status refuse(const lam__instance *x, const char *rule) {
    return lam__error_set(
        x->ctx, LAM_ERR_RULE, "write the rule with lamina operations and leave once_differentiable out",
        "Function '%s': it is once_differentiable, and a second derivative reaches its %s", x->fn.name, rule);
}

/* The identity, as a name is. Borrowed from the row of names, so that types and views are looked at in one place. */
static lam_status shape_once(const lam_call_site *call, lam_shape out[]) {
    return lam__row_checkpoint_name.shape(call, out);
}

static bool view_once(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    return lam__row_checkpoint_name.view(call, out, strides, offset);
}

/* Only what a derivative really reaches is refused. */
static void jvp_once(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const once_params *p = r->params;
    (void)dx;
    refuse(p->custom.instance, p->rule);
    dout[0] = &r->ctx->failed;
}

static void vjp_once(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    jvp_once(r, g, gx);
}

/* The identity of the whole batch. */
static void batch_once(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, r->params, sizeof(once_params), r->in[0]);
}

/* In no registry: it lives in programs alone, each of which holds the Function that it speaks of. */
static const lam_primitive row_once = {
    .name = "once",
    .inputs = 1,
    .derivative = LAM_GENERAL,
    .shape = shape_once,
    .view = view_once,
    .jvp = jvp_once,
    .vjp = vjp_once,
    .batch = batch_once,
    .params_hold = lam__custom_params_hold,
    .params_release = lam__custom_params_release,
};

/* ---- what a rule is given ---------------------------------------------------------------------------------------- */

/* Of a box whose level is open. */
static const lam__interpreter *interpreter_of(const lam_value *box) {
    return lam__payload_of(box)->level->interpreter;
}

/* The outermost box in v that belongs to no batch and carries something; NULL if there is none. Batches have no
 * derivatives, and levels that are transparent pass on what lies below them. */
static const lam_value *beyond_batches(const lam_value *v) {
    while (v && v->kind == LAM__BOX && (interpreter_of(v)->hides_axis || interpreter_of(v)->transparent))
        v = interpreter_of(v)->transparent ? interpreter_of(v)->read(v) : lam__payload_of(v)->inner;
    return v && v->kind == LAM__BOX ? v : NULL;
}

bool lam__custom_only_batches(const lam_value *v) {
    return !beyond_batches(v);
}

/* One reference to what stands for v, NULL for NULL. Integers have no derivative to lose. A trace that keeps loops is a
 * program to be run or differentiated later; one that records tangents keeps none, and what it has is linear
 * already. */
static lam_status guard(lam__instance *x, const char *rule, lam_value *v, lam_value **out) {
    const lam_value *box = v && lam__dtype_is_inexact(v->dtype) ? beyond_batches(v) : NULL;
    while (box && lam__dependence_is_once(box)) box = beyond_batches(lam__payload_of(box)->inner);
    const bool traced = box && interpreter_of(box) == &lam__interpreter_trace;
    if (box && !traced) return refuse(x, rule);
    if (!traced || !((const lam__program *)lam__payload_of(box)->level->state)->keeps_loops) {
        *out = v ? lam__value_hold(v) : NULL;
        return LAM_OK;
    }
    once_params params = {{x}, rule};
    const lam_call_site call = {.ctx = x->ctx,
                                .primitive = &row_once,
                                .params = &params,
                                .params_bytes = sizeof params,
                                .inputs = 1,
                                .outputs = 1,
                                .in = &v};
    return lam__dispatch(&call, out);
}

/* The saved values of both modes, one list after the other, as lam__context_with takes them. */
static lam_status guard_saved(const lam_fctx *holder, const char *rule, lam_value *values[]) {
    lam_status status = LAM_OK;
    for (int mode = 0; mode < LAM__FOR_BOTH; mode++)
        for (int k = 0; k < holder->saved[mode].count && status == LAM_OK; k++)
            status = guard(holder->instance, rule, holder->saved[mode].values[k], values++);
    return status;
}

/* The rule sees a copy of the context, whose saved values are guarded. Given values first, then saved ones, in one
 * block; results are compared with nothing, since the rule only reads them. */
lam_status lam__custom_once(const lam_call_site *call, lam_value *const results[], int n, lam_value *const given[],
                            const char *name, lam__custom_rule *rule, lam_value *wanted[]) {
    lam_fctx *fc = call->residual;
    const lam_fctx *holder = lam__context_innermost(fc);
    lam__scratch_area area;
    const int saved = holder->saved[LAM__FOR_BACKWARD].count + holder->saved[LAM__FOR_JVP].count;
    lam_value **values = lam__scratch_get(&area, fc->ctx, (size_t)(n + saved) * sizeof *values);
    if (!values) return LAM_ERR_MEMORY;
    memset(values, 0, (size_t)(n + saved) * sizeof *values);
    lam_status status = guard_saved(holder, name, values + n);
    for (int i = 0; i < n && status == LAM_OK; i++) status = guard(fc->instance, name, given[i], &values[i]);
    lam_fctx *with = status == LAM_OK ? lam__context_with(fc, values + n) : NULL;
    if (with) status = rule(with, call->in, results, values, wanted);
    else if (status == LAM_OK) status = LAM_ERR_MEMORY;
    lam__context_release(with);
    lam__arguments_release(n + saved, values);
    lam__scratch_put(&area);
    return status;
}
