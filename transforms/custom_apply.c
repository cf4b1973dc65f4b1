/* What users call: applying a Function, making a lam_fn of it, printing which rules it would use. Impossible requests
 * are refused here, before anything runs. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "transforms/arguments.h"

#include <lamina/tensor.h>

#include <string.h>

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static const char *name_of(const lam_function *f) {
    return f->name ? f->name : "anonymous";
}

static lam_status check_count(lam_ctx *ctx, const lam_function *f, const char *which, int want, size_t given) {
    if (want == LAM_VARIADIC || (size_t)want == given) return LAM_OK;
    return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "Function '%s': %zu %s given, %d expected", name_of(f), given,
                          which, want);
}

static lam_status check_function(lam_ctx *ctx, const lam_function *f, const void *attrs, size_t n_in, size_t n_out) {
    if (!f || !f->forward)
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': it has no forward", f ? name_of(f) : "NULL");
    if (f->attrs_size && !attrs)
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': attrs is NULL, %zu bytes expected", name_of(f),
                              f->attrs_size);
    if ((f->vmap != NULL) + f->generate_vmap_rule + f->vmap_by_loop > 1)
        return lam__error_set(ctx, LAM_ERR_RULE, "choose one of vmap, generate_vmap_rule and vmap_by_loop",
                              "Function '%s': it has more than one batching rule", name_of(f));
    lam_status status = check_count(ctx, f, "inputs", f->inputs, n_in);
    return status == LAM_OK ? check_count(ctx, f, "outputs", f->outputs, n_out) : status;
}

/* ---- application ------------------------------------------------------------------------------------------------- */

static lam_status values_of(const lam__instance *x, lam_list in, lam_value *values[]) {
    lam_tensor *failed;
    for (size_t i = 0; i < in.count; i++) {
        values[i] = NULL;
        if (!in.items[i]) continue;
        lam_ctx *where = lam__scope_operands(x->fn.name, 1, &in.items[i], &values[i], &failed);
        if (!where) return x->ctx->error.status != LAM_OK ? x->ctx->error.status : failed->ctx->error.status;
        if (where != x->ctx)
            return lam__error_set(x->ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                                  "Function '%s': mixed contexts: input %zu belongs to another one", x->fn.name, i);
    }
    return LAM_OK;
}

/* The caller's handles of overwritten inputs show the new values. */
static lam_status rebind_dirty(const lam__instance *x, lam_list in, lam_tensor *const out[]) {
    lam__mark mark = lam__error_mark(x->ctx);
    for (int i = 0; i < x->inputs; i++) {
        if (x->dirty[i] < 0) continue;
        for (int j = 0; j < x->inputs; j++)
            if (j != i && in.items[j] == in.items[i])
                return lam__error_set(
                    x->ctx, LAM_ERR_RULE, "pass lam_alias(x) for one of them",
                    "Function '%s': inputs %d and %d are the same tensor, and input %d is marked dirty", x->fn.name,
                    i < j ? i : j, i < j ? j : i, i);
        lam__apply_rebind(x->fn.name, in.items[i], out[x->dirty[i]]);
    }
    return lam__error_since(x->ctx, mark);
}

lam_status lam__custom_apply(lam__instance *x, lam_list in, lam_tensor **out) {
    lam_ctx *ctx = x->ctx;
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (size_t)(x->inputs + x->outputs) * sizeof *values);
    if (!values) return LAM_ERR_MEMORY;
    lam_value **results = values + x->inputs;
    memset(results, 0, (size_t)x->outputs * sizeof *results);
    for (int i = 0; i < x->inputs; i++) x->dirty[i] = -1;
    lam__mark mark = lam__error_mark(ctx);
    lam_status status = values_of(x, in, values);
    if (status == LAM_OK) status = lam__custom_dispatch(x, values, results);
    lam__arguments_give(ctx, status, x->outputs, results, out);
    if (status == LAM_OK) status = rebind_dirty(x, in, out);
    for (int o = 0; o < x->outputs && status != LAM_OK; o++) out[o] = &ctx->failed;
    lam__scratch_put(&area);
    return status != LAM_OK ? status : lam__error_since(ctx, mark);
}

lam_status lam_function_apply(lam_ctx *ctx, const lam_function *function, const void *attrs, lam_list in,
                              lam_tensor **out, size_t n_out) {
    if (!ctx) ctx = &lam__context_failed;
    for (size_t o = 0; out && o < n_out; o++) out[o] = &ctx->failed;
    if (ctx == &lam__context_failed) return ctx->error.status;
    lam_status status = check_function(ctx, function, attrs, in.count, n_out);
    if (status != LAM_OK) return status;
    if ((!out && n_out) || (!in.items && in.count))
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "Function '%s': a count without items", name_of(function));
    lam__instance *x = lam__custom_instance(ctx, function, attrs, NULL, (int)in.count, (int)n_out);
    if (!x) return LAM_ERR_MEMORY;
    status = lam__custom_apply(x, in, out);
    lam__custom_release(x);
    return status;
}

/* ---- as a function ----------------------------------------------------------------------------------------------- */

static void body_function(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam__instance *x = env;
    (void)ctx;
    lam__custom_apply(x, (lam_list){(size_t)x->inputs, in}, out);
}

static void release_instance(void *env) {
    lam__custom_release(env);
}

lam_fn *lam__custom_fn(lam_ctx *ctx, lam__instance *x) {
    if (!x) return ctx->failed_fn;
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = x->fn.name,
                                                  .body = body_function,
                                                  .inputs = x->inputs,
                                                  .outputs = x->outputs,
                                                  .env = x,
                                                  .env_free = release_instance});
    if (f->magic == LAM__FN) f->optional = true;
    return f;
}

lam_fn *lam_function_fn(lam_ctx *ctx, const lam_function *function, const void *attrs, size_t n_in, size_t n_out) {
    if (!ctx || ctx == &lam__context_failed) return lam__context_failed.failed_fn;
    if (check_function(ctx, function, attrs, n_in, n_out) != LAM_OK) return ctx->failed_fn;
    return lam__custom_fn(ctx, lam__custom_instance(ctx, function, attrs, NULL, (int)n_in, (int)n_out));
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static const char *forward_rule(const lam_function *f) {
    if (f->jvp) return "jvp";
    if (f->is_linear && !f->backward) return "forward, on the tangents (is_linear)";
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

void lam_function_print_rules(FILE *file, const lam_function *f) {
    if (!file) return;
    if (!f) {
        fprintf(file, "Function NULL\n");
        return;
    }
    fprintf(file, "Function '%s', %s style\n", name_of(f), f->setup_context ? "separate" : "combined");
    fprintf(file, "  value      %s\n", f->forward ? "forward" : "missing: give it forward");
    fprintf(file, "  jvp        %s\n", forward_rule(f));
    fprintf(file, "  vjp, grad  %s\n", reverse_rule(f));
    fprintf(file, "  vmap       %s\n", batch_rule(f));
    fprintf(file, "  second     %s\n",
            f->once_differentiable ? "refused (once_differentiable)" : "by differentiating the rule");
}
