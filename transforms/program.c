/* lam_trace and lam_eval_shape: a function recorded as a program, and recorded for the types of its results alone; and
 * reading, since a text may have rows of the transforms. */
#include "transforms/arguments.h"
#include "transforms/nested.h"
#include "transforms/trace.h"

#include "lib/program/function.h"
#include "lib/program/prune.h"
#include "lib/program/text.h"

#include <lamina/program.h>

#include <string.h>

/* What f draws from the context's generator would be drawn once, and be the same in each run. The generator is set
 * back, so a trace that is refused leaves no mark in the context. */
static lam_status check_draws(const lam_fn *f, const lam_random_state *before) {
    lam_ctx *ctx = f->ctx;
    if (!memcmp(before, &ctx->random, sizeof *before)) return LAM_OK;
    ctx->random = *before;
    return lam__error_set(ctx, LAM_ERR_VALUE, "give it a key (lam_key) as an input, and draw with that",
                          "trace of '%s': it draws from the generator of the context", f->name);
}

/* A finished program, one reference; NULL after recording what failed. For types alone draws are allowed, since nothing
 * of them is kept, and the generator is set back; such a program is not pruned either, as nobody runs it. */
static lam__program *record(const char *what, lam_fn *f, lam_list examples, bool only_types) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    const size_t values = (size_t)(2 * f->inputs + f->outputs);
    lam_value **in = lam__scratch_get(&area, ctx, (values + 1) * sizeof *in);
    if (!in) return NULL;
    memset(in, 0, values * sizeof *in);
    const lam_random_state before = ctx->random;
    lam__fn_retain(f); /* its body may drop it */
    lam_status status = lam__arguments_list(what, f, "examples", examples, f->inputs, false, in);
    lam__program *p = status == LAM_OK ? lam__program_new(ctx, f->inputs, f->outputs) : NULL;
    if (p) {
        p->only_types = only_types;
        p->keeps_loops = true;
        /* Rules are for levels that see the program run, which nobody does for types. */
        p->keeps_rules = !only_types;
        status = lam__trace_fn(f, p, 0, in, in + f->inputs, in + 2 * f->inputs);
        if (only_types) ctx->random = before;
        else if (status == LAM_OK) status = check_draws(f, &before);
    }
    lam__fn_release(f);
    lam__scratch_put(&area);
    if (status == LAM_OK) return only_types || !p ? p : lam__program_prune(p);
    lam__program_release(p);
    return NULL;
}

/* f is held until its name has been copied, whatever its body drops. */
lam_program *lam_trace(lam_fn *f, lam_list examples) {
    lam_ctx *ctx = lam__fn_check("trace", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    lam__fn_retain(f);
    lam__program *p = record("trace", f, examples, false);
    lam_fn *made = p ? lam__program_fn(ctx, p, f->name) : ctx->failed_fn;
    lam__fn_release(f);
    return made;
}

/* The type of output o for the user, who sees at most LAM_MAX_RANK axes: inside the trace there may be more. */
static void fill_type(lam_ctx *ctx, const char *function, int o, const lam_value *v, lam_type *type) {
    if (v->rank > LAM_MAX_RANK) {
        lam__error_set(ctx, LAM_ERR_RANK, NULL, "eval_shape: output %d of '%s' would have %d axes, more than %d", o,
                       function, v->rank, LAM_MAX_RANK);
        return;
    }
    type->dtype = (lam_dtype)v->dtype;
    type->rank = v->rank;
    for (int i = 0; i < v->rank; i++) type->dims[i] = v->dims[i];
}

/* types[] is set in any case: to nothing first, and to nothing again after a failure half way. */
lam_status lam_eval_shape(lam_fn *f, lam_list examples, lam_type types[], size_t n) {
    lam_ctx *where, *ctx = lam__fn_check_call("eval_shape", f, examples, &where);
    for (size_t o = 0; types && o < n; o++) types[o] = (lam_type){0};
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if (n != (size_t)f->outputs || (!types && n))
        return lam__error_set(ctx, LAM_ERR_ARITY, NULL, "eval_shape of '%s': room for %zu types given, %d outputs",
                              f->name, types ? n : 0, f->outputs);
    /* What had failed before is not this call's to report. */
    const lam__mark mark = lam__error_mark(ctx);
    lam__program *p = record("eval_shape", f, examples, true);
    for (size_t o = 0; p && o < n; o++) fill_type(ctx, f->name, (int)o, lam__program_result_type(p, (int)o), &types[o]);
    lam__program_release(p);
    const lam_status status = lam__error_since(ctx, mark);
    for (size_t o = 0; status != LAM_OK && o < n; o++) types[o] = (lam_type){0};
    /* p has been released, and is asked only whether it was there. */
    return p || status != LAM_OK ? status : LAM_ERR_MEMORY;
}

/* Choices and loops are rows that lam_primitives does not have, so they come along here. */
lam_program *lam_program_read(lam_ctx *ctx, const char *text) {
    if (!ctx || ctx == &lam__context_failed) return lam__context_failed.failed_fn;
    if (text) return lam__program_read(ctx, text, lam__nested_rows);
    lam__error_set(ctx, LAM_ERR_NULL, NULL, "program_read: no text");
    return ctx->failed_fn;
}
