/* Derivative rules that a custom Function does not have, made from the one that it has: jvp is linear in the tangents
 * and backward in the cotangents, so each is the transpose of the other. The given rule is recorded on variables and
 * the record transposed (lam_linear_transpose), which also finds out if the rule is not linear or reads the elements
 * of what it is given. */
#include "transforms/custom.h"

#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <lamina/tensor.h>

#include <string.h>

/* The given rule as a function of the tensors that have a derivative. */
typedef struct rule_env {
    lam_fctx *fc;
    lam_value *const *in, *const *results; /* types */
} rule_env;

/* The type of input k, or behind the inputs of output k: inside a batch that of one example. NULL where it is left
 * out. */
static const lam_value *type_of(const rule_env *e, int k) {
    int inputs = e->fc->instance->inputs;
    return e->fc->types ? e->fc->types[k] : k < inputs ? e->in[k] : e->results[k - inputs];
}

/* NOTE [tangents of constants]
 * A jvp callback gets zeros for the tangents of floating inputs that are constants, unless it has said that it takes
 * NULL. Where it is transposed those are variables like the others, and what comes back for them is dropped: what it
 * makes of zeros would be constants, which a linear function may not add unless they are seen to be zero, and products
 * with infinities are not. Their types come from the tape. */
static bool stands_in(lam_fctx *fc, int i) {
    return fc->instance->fn.jvp && fc->floating[i] && lam__context_innermost(fc)->materialize;
}

/* Whether input (k < inputs) or output k takes part. Integers have no tangent, and outputs that are constant none that
 * counts. */
static bool takes_part(const rule_env *e, int k) {
    lam_fctx *fc = e->fc;
    int inputs = fc->instance->inputs;
    return k < inputs ? fc->needs[k] || stands_in(fc, k)
                      : !fc->constant[k - inputs] && lam__dtype_is_inexact(type_of(e, k)->dtype);
}

/* The values of handles in[], spread over first..first+n-1; NULL where none takes part. The reverse of gather, which
 * closes the holes that a function may not have. */
static void spread(const rule_env *e, int first, int n, lam_tensor *const in[], lam_value *values[]) {
    for (int k = 0, from = 0; k < n; k++) values[k] = takes_part(e, first + k) ? lam__scope_peek(in[from++]) : NULL;
}

/* Handles of those that take part, zeros where the rule gave nothing. Values are taken over; after a failure handles
 * are failed ones. */
static void gather(const rule_env *e, int first, int n, lam_status status, lam_value *values[], lam_tensor *out[]) {
    lam_ctx *ctx = e->fc->ctx;
    for (int k = 0, to = 0; k < n; k++) {
        if (!takes_part(e, first + k)) {
            lam__value_release(values[k]);
            continue;
        }
        if (status == LAM_OK && !values[k]) values[k] = lam__arguments_zero(ctx, type_of(e, first + k));
        out[to++] = lam__scope_handle(ctx, values[k]);
    }
}

/* Forward: tangents of the inputs to those of the outputs. */
static void body_tangents(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const rule_env *e = env;
    lam__instance *x = e->fc->instance;
    lam__scratch_area area;
    lam_value **dx = lam__scratch_get(&area, ctx, (size_t)(x->inputs + x->outputs) * sizeof *dx);
    if (!dx) return;
    lam_value **dout = dx + x->inputs;
    memset(dout, 0, (size_t)x->outputs * sizeof *dout);
    spread(e, 0, x->inputs, in, dx);
    lam_status status;
    if (x->fn.jvp) {
        status = lam__custom_jvp(e->fc, e->in, e->results, dx, dout);
    } else {
        status = lam__custom_linear(e->fc, dx, dout);
    }
    gather(e, x->inputs, x->outputs, status, dout, out);
    lam__scratch_put(&area);
}

/* Backward: cotangents of the outputs to those of the inputs. */
static void body_cotangents(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const rule_env *e = env;
    lam__instance *x = e->fc->instance;
    lam__scratch_area area;
    lam_value **g = lam__scratch_get(&area, ctx, (size_t)(x->inputs + x->outputs) * sizeof *g);
    if (!g) return;
    lam_value **gx = g + x->outputs;
    spread(e, x->inputs, x->outputs, in, g);
    lam_status status = lam__custom_backward(e->fc, e->in, e->results, g, gx);
    gather(e, 0, x->inputs, status, gx, out);
    lam__scratch_put(&area);
}

/* The arity of the rule as a function, which has no holes: handles are only those of what takes part. In the order of
 * spread and gather. */
static int count_taking_part(const rule_env *e, int first, int n) {
    int count = 0;
    for (int k = 0; k < n; k++) count += takes_part(e, first + k);
    return count;
}

/* Calls the transpose of f, whose inputs are n_from of number `from` and whose outputs n_to of number `to`: to[] given,
 * from[] wanted, but for inputs that need none. */
static lam_status transpose(const rule_env *e, lam_fn *f, int from, int n_from, int to, int n_to,
                            lam_value *const given[], lam_value *wanted[]) {
    lam_ctx *ctx = e->fc->ctx;
    lam__scratch_area area;
    size_t handles = (size_t)(f->inputs + f->outputs);
    lam_tensor **list = lam__scratch_get(&area, ctx, handles * sizeof *list);
    if (!list) return LAM_ERR_MEMORY;
    lam_tensor **cotangents = list + f->inputs;
    lam__mark mark = lam__error_mark(ctx);
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    for (int k = 0, i = 0; k < n_from; k++)
        if (takes_part(e, from + k))
            list[i++] = lam__scope_handle(ctx, lam__value_hold((lam_value *)(uintptr_t)type_of(e, from + k)));
    for (int k = 0, o = 0; k < n_to; k++)
        if (takes_part(e, to + k))
            cotangents[o++] = given[k] ? lam__scope_handle(ctx, lam__value_hold(given[k])) : NULL;
    lam_fn *back = lam_linear_transpose(f, (lam_list){(size_t)f->inputs, list});
    lam_status status = lam_call(back, (lam_list){(size_t)f->outputs, cotangents}, list, (size_t)f->inputs);
    for (int k = 0, i = 0; k < n_from && status == LAM_OK; k++) {
        if (!takes_part(e, from + k)) continue;
        if (from + k >= e->fc->instance->inputs || e->fc->needs[k]) wanted[k] = lam__value_hold(list[i]->value);
        i++;
    }
    lam__scope_close(&scope);
    lam__scratch_put(&area);
    return lam__error_since_or(ctx, mark, status);
}

/* The rule as a function; it lives in the caller's frame for as long as it is recorded. The transpose is made, called
 * and freed within transpose(), so no scope has to own it. */
static lam_fn rule_fn(const rule_env *e, char name[], size_t size, const char *part, lam_body body, int inputs,
                      int outputs) {
    snprintf(name, size, "%s of %s", part, e->fc->instance->fn.name);
    return (lam_fn){.magic = LAM__FN,
                    .refs = 1,
                    .ctx = e->fc->ctx,
                    .name = name,
                    .body = body,
                    .inputs = inputs,
                    .outputs = outputs,
                    .env = (void *)(uintptr_t)e};
}

lam_status lam__derive_cotangents(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const g[],
                                  lam_value *gx[]) {
    const lam__instance *x = fc->instance;
    rule_env e = {fc, in, results};
    char name[128];
    for (int i = 0; i < x->inputs; i++) gx[i] = NULL;
    lam_fn f = rule_fn(&e, name, sizeof name, x->fn.jvp ? "jvp" : "forward", body_tangents,
                       count_taking_part(&e, 0, x->inputs), count_taking_part(&e, x->inputs, x->outputs));
    return transpose(&e, &f, 0, x->inputs, x->inputs, x->outputs, g, gx);
}

/* The transpose of backward takes tangents of the inputs to those of the outputs. */
lam_status lam__derive_tangents(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const dx[],
                                lam_value *dout[]) {
    const lam__instance *x = fc->instance;
    rule_env e = {fc, in, results};
    char name[128];
    for (int o = 0; o < x->outputs; o++) dout[o] = NULL;
    lam_fn f = rule_fn(&e, name, sizeof name, "backward", body_cotangents, count_taking_part(&e, x->inputs, x->outputs),
                       count_taking_part(&e, 0, x->inputs));
    return transpose(&e, &f, x->inputs, x->outputs, 0, x->inputs, dx, dout);
}
