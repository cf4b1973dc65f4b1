/* What users call: applying a Function, making a lam_fn of it, printing which rules it would use. Impossible requests
 * are refused here, before anything runs: counts that do not fit, a Function without forward or with two batching
 * rules, NULL where there must be something. What is left to fail later is what callbacks do. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "transforms/arguments.h"

#include <lamina/tensor.h>

#include <string.h>

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Without a rule, and with one of another context, even a failed one, the failure is recorded in the context of f,
 * where failures are looked for and which is to outlive the rule. */
bool lam__custom_goes_with(const char *what, const lam_fn *f, const char *role, lam_fn *rule) {
    if (rule && rule->ctx == f->ctx) return lam__fn_check(what, rule);
    if (rule)
        lam__error_set(f->ctx, LAM_ERR_CONTEXT, "make it in the same context",
                       "%s of '%s': mixed contexts: %s '%s' belongs to another one", what, f->name, role,
                       lam_fn_name(rule));
    else lam__error_set(f->ctx, LAM_ERR_NULL, NULL, "%s of '%s': %s is NULL", what, f->name, role);
    return false;
}

/* A variadic Function takes any number; its callbacks ask how many there are. */
static lam_status check_count(lam_ctx *ctx, const lam_function *f, const char *which, int want, size_t given) {
    if (want == LAM_VARIADIC || (size_t)want == given) return LAM_OK;
    return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "Function '%s': %zu %s given, %d expected", lam__custom_name(f),
                          given, which, want);
}

/* Asked for each new instance, so not for an application that finds one of an equal Function and equal counts. Missing
 * rules are no fault here: not every application is differentiated or batched. */
static lam_status check_function(lam_ctx *ctx, const lam_function *f, const void *attrs, size_t n_in, size_t n_out) {
    if (!f || !f->forward)
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': it has no forward",
                              f ? lam__custom_name(f) : "NULL");
    if (f->attrs_size && !attrs)
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': attrs is NULL, %zu bytes expected",
                              lam__custom_name(f), f->attrs_size);
    if ((f->vmap != NULL) + f->generate_vmap_rule + f->vmap_by_loop > 1)
        return lam__error_set(ctx, LAM_ERR_RULE, "choose one of vmap, generate_vmap_rule and vmap_by_loop",
                              "Function '%s': it has more than one batching rule", lam__custom_name(f));
    lam_status status = check_count(ctx, f, "inputs", f->inputs, n_in);
    return status == LAM_OK ? check_count(ctx, f, "outputs", f->outputs, n_out) : status;
}

/* ---- application ------------------------------------------------------------------------------------------------- */

/* Input i where it is not just a tensor of this context. NULL is an input that is left out; whether the Function can do
 * without it is the callback's to say. A failed tensor gives the status of the failure that it came from. */
LAM__APART static lam_status value_of(const lam__instance *x, size_t i, lam_tensor *t, lam_value **value) {
    *value = NULL;
    if (!t) return LAM_OK;
    if (lam__scope_is_foreign(x->ctx, t))
        return lam__error_set(x->ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                              "Function '%s': mixed contexts: input %zu belongs to another one", x->fn.name, i);
    *value = lam__scope_operand_in(x->ctx, x->fn.name, i, t);
    return *value ? LAM_OK : x->ctx->error.status;
}

/* Borrowed values of the handles; NULL for inputs that are left out. A live handle of this context is the usual case,
 * and needs no more than its value. */
static inline lam_status values_of(const lam__instance *x, lam_list in, lam_value *values[]) {
    lam_status status = LAM_OK;
    for (size_t i = 0; i < in.count && status == LAM_OK; i++) {
        lam_tensor *t = in.items[i];
        if (t && t->magic == LAM__LIVE && t->ctx == x->ctx) values[i] = t->value;
        else status = value_of(x, i, t, &values[i]);
    }
    return status;
}

/* The caller's handles of overwritten inputs show the new values. One handle given twice would have to show the new
 * value and the old one, so that is refused: f(x, x) with the first marked dirty. lam__apply_rebind refuses handles
 * that may not change, as captures, which the mark finds. */
static lam_status rebind_dirty(const lam__instance *x, const int shown[], lam_list in, lam_tensor *const out[]) {
    lam__mark mark = lam__error_mark(x->ctx);
    for (int i = 0; i < x->inputs; i++) {
        if (shown[i] < 0) continue;
        for (int j = 0; j < x->inputs; j++)
            if (j != i && in.items[j] == in.items[i])
                return lam__error_set(
                    x->ctx, LAM_ERR_RULE, "pass lam_alias(x) for one of them",
                    "Function '%s': inputs %d and %d are the same tensor, and input %d is marked dirty", x->fn.name,
                    i < j ? i : j, i < j ? j : i, i);
        lam__apply_rebind(x->fn.name, in.items[i], out[shown[i]]);
    }
    return lam__error_since(x->ctx, mark);
}

/* After a failure every output is a failed tensor, also those that were made: nobody sees half of an application. Gives
 * the status back, so that it can be returned. */
static lam_status fail_all(lam_ctx *ctx, lam_status status, size_t n_out, lam_tensor **out) {
    for (size_t o = 0; out && o < n_out; o++) out[o] = &ctx->failed;
    return status;
}

/* `overwritten` points into this frame while the Function runs and names the outputs that overwritten inputs are to
 * show. An application of the same Function inside has a frame of its own, so the outer one is put back. A handle for
 * which memory is lacking has no status but its record, so that is asked as well. `out` may be NULL only where
 * there are no outputs; what comes of a failure is the same either way. */
LAM__UNROLLED lam_status apply(lam__instance *x, lam_list in, lam_tensor **out) {
    lam_ctx *ctx = x->ctx;
    size_t n = (size_t)x->inputs, m = (size_t)x->outputs;
    const lam__mark mark = lam__error_mark(ctx);
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (n + m) * sizeof *values + n * sizeof(int));
    if (!values) return fail_all(ctx, LAM_ERR_MEMORY, m, out);
    lam_value **results = values + n;
    lam__overwritten own = {.any = false, .by = (int *)(void *)(results + m)}, *outer = x->overwritten;
    x->overwritten = &own;
    lam_status status = values_of(x, in, values);
    if (status == LAM_OK) status = lam__custom_dispatch(x, values, results);
    x->overwritten = outer;
    for (size_t o = 0; o < m && status == LAM_OK; o++) out[o] = results[o] ? lam__scope_handle(ctx, results[o]) : NULL;
    if (status == LAM_OK && own.any) status = rebind_dirty(x, own.by, in, out);
    lam__scratch_put(&area);
    const lam_status ended = lam__error_since_or(ctx, mark, status);
    return status == LAM_OK ? ended : fail_all(ctx, ended, m, out);
}

/* For instances that belong to the library's own Functions (hooks, rules, solves). A copy of the short way that users'
 * applications take, which stays inlined there. */
lam_status lam__custom_apply(lam__instance *x, lam_list in, lam_tensor **out) {
    return apply(x, in, out);
}

/* An instance for this application, which waits for the next one where it may; NULL after recording what is wrong. The
 * caller has a reference in any case; the slot has none (NOTE [kept instances]). */
LAM__APART static lam__instance *instance_for(lam_ctx *ctx, const lam_function *f, const void *attrs, size_t n_in,
                                              size_t n_out) {
    if (check_function(ctx, f, attrs, n_in, n_out) != LAM_OK) return NULL;
    lam__instance *x = lam__custom_instance(ctx, f, attrs, NULL, (int)n_in, (int)n_out);
    if (x) lam__custom_keep(x);
    return x;
}

/* Finds the instance that an earlier application left, else makes one. Lists are checked with the instance at hand,
 * whose name the message shows. */
lam_status lam_function_apply(lam_ctx *ctx, const lam_function *function, const void *attrs, lam_list in,
                              lam_tensor **out, size_t n_out) {
    if (!ctx) ctx = &lam__context_failed;
    if (ctx == &lam__context_failed) return fail_all(ctx, ctx->error.status, n_out, out);
    const lam__mark mark = lam__error_mark(ctx);
    lam__instance *x = function ? lam__custom_find(ctx, function, attrs, in.count, n_out) : NULL;
    if (!x) x = instance_for(ctx, function, attrs, in.count, n_out);
    if (x && ((!out && n_out) || (!in.items && in.count))) {
        lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': a count without items", x->fn.name);
        lam__custom_release(x);
        x = NULL;
    }
    if (!x) return fail_all(ctx, lam__error_since(ctx, mark), n_out, out);
    lam_status status = apply(x, in, out);
    lam__custom_release(x);
    return status;
}

/* ---- as a function ----------------------------------------------------------------------------------------------- */

/* A lam_fn has no way to say that an output is left out, so there it is a failure. */
static void body_function(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam__instance *x = env;
    if (lam__custom_apply(x, (lam_list){(size_t)x->inputs, in}, out) != LAM_OK) return;
    for (int o = 0; o < x->outputs; o++) {
        if (out[o]) continue;
        lam__error_set(ctx, LAM_ERR_ARITY, "apply it with lam_function_apply, and return the outputs that there are",
                       "Function '%s': output %d is left out, but a function has to give each of its outputs",
                       x->fn.name, o);
        out[o] = &ctx->failed;
    }
}

/* env_free gets no context, as the instance knows its own. */
static void release_instance(void *env) {
    lam__custom_release(env);
}

/* `optional`: inputs may be NULL, as in an application. The instance is released by env_free, also where lam_fn_new
 * fails. The body gets captures behind the inputs, as the instance does. x may be NULL, which has been recorded. */
lam_fn *lam__custom_fn(lam_ctx *ctx, lam__instance *x, lam_list captures) {
    if (!x) return ctx->failed_fn;
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = x->fn.name,
                                                  .body = body_function,
                                                  .inputs = x->inputs - (int)captures.count,
                                                  .outputs = x->outputs,
                                                  .env = x,
                                                  .env_free = release_instance,
                                                  .captures = captures});
    if (f->magic == LAM__FN) f->optional = true;
    return f;
}

/* This instance is not shared through a slot: the function keeps it as long as it lives. */
lam_fn *lam_function_fn(lam_ctx *ctx, const lam_function *function, const void *attrs, size_t n_in, size_t n_out) {
    if (!ctx || ctx == &lam__context_failed) return lam__context_failed.failed_fn;
    if (check_function(ctx, function, attrs, n_in, n_out) != LAM_OK) return ctx->failed_fn;
    return lam__custom_fn(ctx, lam__custom_instance(ctx, function, attrs, NULL, (int)n_in, (int)n_out),
                          (lam_list){0, NULL});
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* The three below say what tangents_stage, cotangents_stage and lam__custom_batched choose, and what they would refuse.
 * KEEP IN STEP: custom-rules In the order in which the stages look for a rule. */
static const char *forward_rule(const lam_function *f) {
    if (f->jvp) return "jvp";
    if (f->is_linear) return "forward, on the tangents (is_linear)";
    return f->backward ? "backward, transposed" : "missing: give it jvp or backward";
}

static const char *reverse_rule(const lam_function *f) {
    if (f->backward) return "backward";
    if (f->jvp) return "jvp, transposed";
    return f->is_linear ? "forward, transposed (is_linear)" : "missing: give it backward or jvp";
}

static const char *batch_rule(const lam_function *f) {
    if ((f->vmap != NULL) + f->generate_vmap_rule + f->vmap_by_loop > 1)
        return "more than one: choose one of vmap, generate_vmap_rule and vmap_by_loop";
    if (f->vmap) return "vmap";
    if (f->vmap_by_loop) return f->shape ? "forward, in a loop" : "forward, in a loop (an empty batch needs shape)";
    if (!f->generate_vmap_rule && f->setup_context)
        return "missing: give it vmap, or say generate_vmap_rule or vmap_by_loop";
    return f->generate_vmap_rule ? "generated" : "generated (the default of the combined style)";
}

/* Says what would happen without running anything, so that a missing rule is seen before a derivative is wanted. */
void lam_function_print_rules(FILE *file, const lam_function *f) {
    if (!file) return;
    if (!f) {
        fprintf(file, "Function NULL\n");
        return;
    }
    fprintf(file, "Function '%s', %s style\n", lam__custom_name(f), f->setup_context ? "separate" : "combined");
    fprintf(file, "  value      %s\n", f->forward ? "forward" : "missing: give it forward");
    fprintf(file, "  jvp        %s\n", forward_rule(f));
    fprintf(file, "  vjp, grad  %s\n", reverse_rule(f));
    fprintf(file, "  vmap       %s\n", batch_rule(f));
    fprintf(file, "  second     %s\n",
            f->once_differentiable ? "refused (once_differentiable)" : "by differentiating the rule");
}
