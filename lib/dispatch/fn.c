/* Functions and their calls: see fn.h. A call opens a scope and a frame, gives the body fresh handles to its inputs,
 * and takes its outputs by value before the scope ends: so nothing a body makes outlives it but what it returns, an
 * output may be an input or be returned twice, and no handle of a caller can be freed or rebound by who is called.
 * Calls work on values; lam_call and lam_apply are the way in from handles. */
#include "lib/dispatch/fn.h"

#include "lib/base/stack.h"
#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/level.h"

#include <lamina/tensor.h>

#include <string.h>

enum {
    WAITING = 32,        /* freed functions that wait before their memory is used for another */
    LONGEST_NAME = 1024, /* of those that a transform derives */
    MOST = 1 << 24       /* inputs, outputs, captures: sums of a few such numbers fit an int */
};

/* What lies in front of the env of a derived function. */
typedef struct derived_head {
    lam_ctx *ctx;
    lam_fn *base;
    void (*env_free)(lam_ctx *ctx, void *env);
    size_t bytes; /* of head and env */
    _Alignas(max_align_t) char env[];
} derived_head;

/* ---- memory of functions ---------------------------------------------------------------------------------- */

/* Memory for a function, zeroed: that of a freed one where more than WAITING wait, so that a use after the end meets
 * the mark of a freed function for a while. */
static lam_fn *fn_take(lam_ctx *ctx) {
    lam_fn *f = ctx->fns_first;
    if (f && ctx->fns_waiting > WAITING) {
        if (!lam__alloc_take_back(&ctx->pool, sizeof *f)) return NULL;
        ctx->fns_first = f->next;
        ctx->fns_waiting--;
    } else {
        f = lam__alloc_get(&ctx->pool, sizeof *f);
        if (!f) return NULL;
    }
    memset(f, 0, sizeof *f);
    return f;
}

/* Freed functions stay functions, so that a use after the end is a named error. */
static void fn_wait(lam_ctx *ctx, lam_fn *f) {
    f->magic = LAM__FN_FREED;
    f->next = NULL;
    lam__alloc_set_aside(&ctx->pool, sizeof *f);
    if (ctx->fns_waiting++) ctx->fns_last->next = f;
    else ctx->fns_first = f;
    ctx->fns_last = f;
}

/* At the end of a context, when no function is left that could be freed after this. */
void lam__fn_free_waiting(lam_ctx *ctx) {
    lam_fn *next;
    for (lam_fn *f = ctx->fns_first; f; f = next) {
        next = f->next;
        lam__alloc_put_aside(&ctx->pool, f, sizeof *f);
    }
    ctx->fns_first = NULL;
    ctx->fns_waiting = 0;
}

/* A function that its scope has let go while others hold it goes to a list, so that the end of the context finds it. */
static void outlive(lam_fn *f) {
    f->outlives = true;
    f->prev = NULL;
    f->next = f->ctx->fns_outliving;
    if (f->next) f->next->prev = f;
    f->ctx->fns_outliving = f;
}

/* The last reference is gone. env_free comes first: it may be a user's function and may call the library. What other
 * functions the env holds may go with it, so this may nest as deep as functions derive from each other. */
static void fn_free(lam_fn *f) {
    lam_ctx *ctx = f->ctx;
    if (f->outlives) {
        if (f->next) f->next->prev = f->prev;
        if (f->prev) f->prev->next = f->next;
        else ctx->fns_outliving = f->next;
    }
    if (f->env_free) f->env_free(f->env);
    for (int i = 0; i < f->captured; i++) lam__value_release(f->captures[i]);
    if (f->captures) lam__alloc_put(&ctx->pool, f->captures, (size_t)f->captured * sizeof *f->captures);
    if (f->name) lam__alloc_put(&ctx->pool, f->name, f->name_bytes);
    fn_wait(ctx, f);
}

/* NULL and back again are accepted, as with values. */
lam_fn *lam__fn_retain(lam_fn *f) {
    if (f) f->refs++;
    return f;
}

/* NULL, and what is no live function, are left alone: a failed function is never counted. */
void lam__fn_release(lam_fn *f) {
    if (f && f->magic == LAM__FN && --f->refs == 0) fn_free(f);
}

/* Gives up the scope's reference. Where others are left, the function is noted as outliving its scope first. */
void lam__fn_leave_scope(lam_fn *f) {
    lam__scope_remove_fn(f);
    if (f->refs > 1) outlive(f);
    lam__fn_release(f);
}

/* What lam_fn_hold still has at the end of a context is taken away at once. Functions that others hold go with
 * these. */
void lam__fn_free_held(lam_ctx *ctx) {
    for (lam_fn *f = ctx->fns_outliving, *next; f; f = next) {
        next = f->next;
        if (!f->holds) continue;
        f->refs -= f->holds - 1;
        f->holds = 0;
        lam__fn_release(f);
        next = ctx->fns_outliving; /* others may have gone with it */
    }
}

/* ---- making --------------------------------------------------------------------------------------------- */

/* "<prefix>(<name>)", or the name alone. Transforms make functions inside functions, so this is no place for printf,
 * and derived names are cut: n around each other would take n^2 bytes. False without memory; fn_make records it. */
static bool copy_name(lam_fn *f, const char *prefix, const char *name) {
    size_t a = prefix ? strlen(prefix) : 0, b = strlen(name);
    const bool cut = prefix && b > LONGEST_NAME;
    if (cut) b = LONGEST_NAME;
    f->name_bytes = a + b + 3;
    f->name = lam__alloc_get(&f->ctx->pool, f->name_bytes);
    if (!f->name) return false;
    char *at = f->name;
    if (prefix) {
        memcpy(at, prefix, a);
        at[a] = '(';
        at += a + 1;
    }
    memcpy(at, name, b);
    if (cut) memcpy(at + b - 3, "...", 3);
    if (prefix) at[b++] = ')';
    at[b] = '\0';
    return true;
}

/* A function of the innermost scope with one reference, its; NULL after recording that memory is lacking. Body and env
 * are the caller's to set. */
static lam_fn *fn_make(lam_ctx *ctx, const char *prefix, const char *name) {
    lam_fn *f = fn_take(ctx);
    if (f) {
        f->ctx = ctx;
        if (copy_name(f, prefix, name)) {
            f->magic = LAM__FN;
            f->birth = ++ctx->clock;
            f->refs = 1;
            lam__scope_add_fn(ctx->scope, f);
            return f;
        }
        fn_wait(ctx, f);
    }
    lam__error_memory(ctx, sizeof *f);
    return NULL;
}

/* Captures are held by value: a function sees what the handles showed when it was made, whatever becomes of the
 * handles. */
static bool copy_captures(lam_fn *f, lam_list captures) {
    if (!captures.count) return true;
    size_t bytes = captures.count * sizeof *f->captures;
    f->captures = lam__alloc_get(&f->ctx->pool, bytes);
    if (!f->captures) {
        lam__error_memory(f->ctx, bytes);
        return false;
    }
    memset(f->captures, 0, bytes);
    f->captured = (int)captures.count;
    for (int i = 0; i < f->captured; i++) {
        f->captures[i] = lam__scope_operand_in(f->ctx, "lam_fn_new (captures)", (size_t)i, captures.items[i]);
        if (!f->captures[i]) return false;
        lam__value_hold(f->captures[i]);
    }
    return true;
}

/* Counts are bounded so that sums of them fit an int everywhere after this. */
static lam_status options_check(lam_ctx *ctx, const lam_fn_options *o) {
    if (!o || !o->body) return lam__error_set(ctx, LAM_ERR_NULL, NULL, "lam_fn_new: a function needs a body");
    if (o->inputs < 0 || o->outputs < 0 || o->inputs > MOST || o->outputs > MOST || o->captures.count > MOST)
        return lam__error_set(ctx, LAM_ERR_VALUE, NULL, "lam_fn_new: %d inputs and %d outputs are impossible",
                              o->inputs, o->outputs);
    if (o->captures.count && !o->captures.items)
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "lam_fn_new: captures has a count but no items");
    return LAM_OK;
}

/* env is taken over in any case: after a failure env_free has been called, so that the caller needs no branch for
 * it. */
lam_fn *lam_fn_new(lam_ctx *ctx, const lam_fn_options *options) {
    if (!ctx) ctx = &lam__context_failed;
    lam_fn *f = NULL;
    if (ctx != &lam__context_failed && options_check(ctx, options) == LAM_OK)
        f = fn_make(ctx, NULL, options->name ? options->name : "anonymous");
    if (!f) {
        if (options && options->env_free) options->env_free(options->env);
        return ctx->failed_fn;
    }
    f->body = options->body;
    f->inputs = options->inputs;
    f->outputs = options->outputs;
    f->env = options->env;
    f->env_free = options->env_free;
    f->owns = options->env_free || options->captures.count;
    if (copy_captures(f, options->captures)) return f;
    lam__fn_leave_scope(f);
    return ctx->failed_fn;
}

/* env_free of every derived function: first what the owner of the env holds in it, then the base. */
static void derived_free(void *env) {
    derived_head *head = (derived_head *)(void *)((char *)env - offsetof(derived_head, env));
    if (head->env_free) head->env_free(head->ctx, env);
    lam__fn_release(head->base);
    lam__alloc_put(&head->ctx->pool, head, head->bytes);
}

/* The env that a body gets lies behind its head, which knows the base. */
lam_fn *lam__fn_base(const void *env) {
    return ((const derived_head *)(const void *)((const char *)env - offsetof(derived_head, env)))->base;
}

/* Head and env are one block. On failure, also that of the base, nothing is held and the env stays the caller's.
 * `optional` is inherited: who wraps a function that takes NULL takes it as well. The base is held, not its scope: a
 * derived function outlives the base's own handle. */
lam_fn *lam__fn_derive(lam_ctx *ctx, const lam__derived *d) {
    if (d->base && d->base->magic != LAM__FN) return ctx->failed_fn;
    size_t bytes = sizeof(derived_head) + d->env_bytes;
    derived_head *head = lam__alloc_get(&ctx->pool, bytes);
    lam_fn *f = head ? fn_make(ctx, d->prefix, d->base ? d->base->name : "") : NULL;
    if (!f) {
        if (head) lam__alloc_put(&ctx->pool, head, bytes);
        else lam__error_memory(ctx, bytes);
        return ctx->failed_fn;
    }
    *head = (derived_head){.ctx = ctx, .base = lam__fn_retain(d->base), .env_free = d->env_free, .bytes = bytes};
    if (d->env_bytes) memcpy(head->env, d->env, d->env_bytes);
    f->body = d->body;
    f->inputs = d->inputs;
    f->outputs = d->outputs;
    f->env = head->env;
    f->env_free = derived_free;
    f->optional = d->base && d->base->optional;
    f->owns = d->env_free || (d->base && d->base->owns);
    return f;
}

lam_fn *lam__fn_captor(lam_fn *f) {
    while (f->env_free == derived_free && lam__fn_base(f->env)) f = lam__fn_base(f->env);
    return f;
}

/* The body gets its captures behind its inputs anyway, so it is called as it is. */
static void body_open(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam_fn *f = lam__fn_base(env);
    f->body(ctx, in, out, f->env);
}

/* Between f and the function that captures there are others, which know nothing of its captures. While f runs, that
 * function has the values that are given now; what it had comes back behind, also from a call inside. */
static void body_open_below(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env), *captor = lam__fn_captor(f);
    lam__scratch_area area;
    lam_value **now = lam__scratch_get(&area, ctx, (size_t)captor->captured * sizeof *now), **own = captor->captures;
    if (!now) return;
    for (int k = 0; k < captor->captured; k++) now[k] = lam__scope_peek(in[f->inputs + k]);
    captor->captures = now;
    lam_call(f, (lam_list){(size_t)f->inputs, in}, out, (size_t)f->outputs);
    captor->captures = own;
    lam__scratch_put(&area);
}

lam_fn *lam__fn_open(const char *prefix, lam_fn *f) {
    const lam_fn *captor = lam__fn_captor(f);
    lam_body body = captor == f ? body_open : body_open_below;
    return lam__fn_derive(f->ctx,
                          &(lam__derived){prefix, f, body, f->inputs + captor->captured, f->outputs, NULL, 0, NULL});
}

/* ---- use --------------------------------------------------------------------------------------------------- */

/* Nothing is recorded for NULL, which has no context, nor for a failed function whose failure is on record. */
lam_ctx *lam__fn_check(const char *what, lam_fn *f) {
    if (!f) return NULL;
    if (f->magic == LAM__FN && !f->hidden) return f->ctx;
    if (f->magic == LAM__FN)
        lam__error_set(f->ctx, LAM_ERR_RULE, "return what it is needed for as an output of forward",
                       "%s: function '%s'" LAM__HIDDEN_TEXT, what, f->name);
    if (f->magic == LAM__FN_FAILED && f->ctx->error.count == 0)
        lam__error_set(f->ctx, LAM_ERR_STALE, "make it again after lam_clear_error",
                       "%s: the function is stale: it failed before lam_clear_error", what);
    if (f->magic == LAM__FN_FREED)
        lam__error_set(f->ctx, LAM_ERR_FREED, "keep it with lam_fn_hold",
                       "%s: the function was used after it was freed", what);
    return NULL;
}

/* A NULL function has no context, so the operands are asked for one in which the failure can be seen. */
lam_ctx *lam__fn_check_call(const char *what, lam_fn *f, lam_list in, lam_ctx **where) {
    *where = f ? f->ctx : &lam__context_failed;
    if (*where != &lam__context_failed) return lam__fn_check(what, f);
    *where = lam__scope_context(in.items ? in.count : 0, in.items);
    if (*where != &lam__context_failed)
        lam__error_set(*where, LAM_ERR_NULL, "make it before it is called",
                       "%s: the function is NULL, or the failed one of no context", what);
    return NULL;
}

/* A hold is a reference that is counted apart, so that one too many lam_fn_release is found. */
lam_fn *lam_fn_hold(lam_fn *f) {
    if (!lam__fn_check("lam_fn_hold", f)) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    f->holds++;
    return lam__fn_retain(f);
}

void lam_fn_release(lam_fn *f) {
    if (!lam__fn_check("lam_fn_release", f)) return;
    if (!f->holds) {
        lam__error_set(f->ctx, LAM_ERR_VALUE, "call it once for each lam_fn_hold",
                       "lam_fn_release: function '%s' is not held", f->name);
        return;
    }
    f->holds--;
    lam__fn_release(f);
}

/* Ends the scope's reference early; a function that is held, or that others derive from, lives on. */
void lam_fn_drop(lam_fn *f) {
    if (lam__fn_check("lam_fn_drop", f) && f->scope) lam__fn_leave_scope(f);
}

/* The three below answer for a failed function too, so that code behind a failure runs on. */
int lam_fn_inputs(const lam_fn *f) {
    return f && f->magic == LAM__FN ? f->inputs : 0;
}

int lam_fn_outputs(const lam_fn *f) {
    return f && f->magic == LAM__FN ? f->outputs : 0;
}

/* Borrowed from the function. */
const char *lam_fn_name(const lam_fn *f) {
    return f && f->magic == LAM__FN ? f->name : "failed";
}

/* Made since the call began, in whatever scope; without a call everything is. */
bool lam__fn_made_here(const lam_ctx *ctx, const lam_tensor *t) {
    return !ctx->frame || t->birth > ctx->frame->start;
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

/* One reference to the value of output o. Refused is what the caller could not use: NULL unless it may lack, what has
 * failed or been freed, tensors of another context, and boxes of levels that have ended or are hidden here. */
static lam_status take_output(lam_fn *f, int o, lam_tensor *t, lam_value **out) {
    lam_ctx *ctx = f->ctx;
    lam_tensor *failed;
    if (!t && o >= f->outputs - f->lacking) return LAM_OK;
    if (!t)
        return lam__error_set(ctx, LAM_ERR_ARITY, "set every out[i]; on failure out[i] = lam_fail(...)",
                              "output %d of function '%s' was not set", o, f->name);
    lam_ctx *where = lam__scope_operands("output of a function", 1, &t, out, &failed);
    if (where && where != ctx) {
        *out = NULL;
        return lam__error_set(ctx, LAM_ERR_CONTEXT, "make it in the context that the body is given",
                              "output %d of function '%s' belongs to another context", o, f->name);
    }
    if (!where) {
        *out = NULL;
        if (ctx->error.status != LAM_OK) return ctx->error.status;
        return lam__error_set(ctx, LAM_ERR_CONTEXT, "NULL and empty lists belong to no context: check them before",
                              "output %d of function '%s' is the failed tensor of another context or of none", o,
                              f->name);
    }
    lam_value *v = *out;
    if (lam__value_is_box(v) && !lam__level_visible(ctx, lam__payload_of(v)->level)) {
        static const lam_primitive row = {.name = "output of a function"};
        *out = NULL;
        return lam__level_fail_hidden(
            &(lam_call_site){.ctx = ctx, .primitive = &row, .inputs = 1, .outputs = 1, .in = &v}, 0);
    }
    lam__value_hold(v);
    return LAM_OK;
}

/* Inputs, then captures, each in a handle of the body's scope. NULL stays NULL: an optional input that is not there. */
static void fill_inputs(lam_fn *f, lam_value *const in[], lam_tensor **handles) {
    for (int i = 0; i < f->inputs + f->captured; i++) {
        lam_value *v = i < f->inputs ? in[i] : f->captures[i - f->inputs];
        handles[i] = v ? lam__scope_handle(f->ctx, lam__value_hold(v)) : NULL;
    }
}

/* Runs the body; handles[] has room for inputs, captures and outputs. Every output is taken, also after one has failed,
 * so that the caller has one rule for releasing them. A scope that the body left open is closed, which is a failure:
 * what it returned may have been in there. */
static lam_status run_body(lam_fn *f, lam_value *const in[], lam_tensor **handles, lam_value *out[]) {
    lam_ctx *ctx = f->ctx;
    lam__frame frame = {.name = f->name, .parent = ctx->frame, .start = ctx->clock, .level = ctx->current};
    lam_tensor **results = handles + f->inputs + f->captured;
    lam_status status = LAM_OK, one;
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    ctx->frame = &frame;
    fill_inputs(f, in, handles);
    for (int o = 0; o < f->outputs; o++) results[o] = NULL;
    f->body(ctx, handles, results, f->env);
    for (int o = 0; o < f->outputs; o++)
        if ((one = take_output(f, o, results[o], &out[o])) != LAM_OK && status == LAM_OK) status = one;
    if (lam__scope_close_inner(&scope))
        status = lam__error_set(ctx, LAM_ERR_SCOPE, "end every scope that the body begins",
                                "function '%s' left a scope open", f->name);
    ctx->frame = frame.parent;
    lam__scope_close(&scope);
    return status != LAM_OK ? status : lam__eval_check_results(f, out);
}

/* Counts are of the call, not of the function's maker, so the remedy speaks to the caller. */
static lam_status fail_arity(const lam_fn *f, size_t n_in, size_t n_out) {
    return lam__error_set(f->ctx, LAM_ERR_ARITY, "give as many tensors, and room for as many results, as it has",
                          "function '%s' takes %d inputs and gives %d outputs, not %zu and %zu", f->name, f->inputs,
                          f->outputs, n_in, n_out);
}

/* The function is held while it runs, since its body may drop the last reference to it. A failure that the body
 * recorded counts even where its outputs are all right. After a failure out[] may hold values, which the caller
 * releases. The current level is not touched: a body runs at the level of whoever calls. */
lam_status lam__fn_call(lam_fn *f, size_t n_in, lam_value *const in[], size_t n_out, lam_value *out[]) {
    lam_ctx *ctx = f->ctx;
    for (size_t o = 0; o < n_out; o++) out[o] = NULL;
    if (n_in != (size_t)f->inputs || n_out != (size_t)f->outputs) return fail_arity(f, n_in, n_out);
    for (size_t i = 0; i < n_in && !f->optional; i++)
        if (!in[i])
            return lam__error_set(ctx, LAM_ERR_NULL, "give a tensor: only what says so takes NULL",
                                  "input %zu of function '%s' is NULL", i, f->name);
    if (lam__stack_is_short(ctx)) return lam__stack_fail(ctx, f->name);
    lam__scratch_area area;
    size_t count = (size_t)(f->inputs + f->captured + f->outputs);
    lam_tensor **handles = lam__scratch_get(&area, ctx, count * sizeof *handles);
    if (!handles) return LAM_ERR_MEMORY;
    lam__mark mark = lam__error_mark(ctx);
    lam__fn_retain(f);
    lam_status status = run_body(f, in, handles, out);
    lam__fn_release(f);
    lam__scratch_put(&area);
    return lam__error_since_or(ctx, mark, status);
}

/* Borrowed values of the operands; NULL stays NULL, and whether f takes that is asked by lam__fn_call. */
static lam_status call_values(lam_fn *f, lam_list in, lam_value **values, size_t n_out, lam_value **results) {
    const lam__mark mark = lam__error_mark(f->ctx);
    for (size_t i = 0; i < in.count; i++) {
        if (lam__scope_is_foreign(f->ctx, in.items[i]))
            return lam__error_set(f->ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                                  "%s: mixed contexts: input %zu belongs to another one", f->name, i);
        values[i] = in.items[i] ? lam__scope_operand_in(f->ctx, f->name, i, in.items[i]) : NULL;
        if (in.items[i] && !values[i]) return lam__error_since_or(f->ctx, mark, f->ctx->error.status);
    }
    return lam__fn_call(f, in.count, values, n_out, results);
}

/* All results are failed tensors before anything else, so that a caller who does not look at the status goes on safely.
 * What comes of the call is wrapped in handles of the scope that is innermost here, which is the caller's again. */
lam_status lam_call(lam_fn *f, lam_list in, lam_tensor **out, size_t n_out) {
    lam_ctx *where, *ctx = lam__fn_check_call("lam_call", f, in, &where);
    for (size_t o = 0; out && o < n_out; o++) out[o] = &where->failed;
    if (!ctx) return where->error.status != LAM_OK ? where->error.status : LAM_ERR_NULL;
    if ((!out && n_out) || (!in.items && in.count))
        return lam__error_set(ctx, LAM_ERR_NULL, NULL, "lam_call of '%s': a count without items", f->name);
    if (in.count != (size_t)f->inputs || n_out != (size_t)f->outputs) return fail_arity(f, in.count, n_out);
    lam__scratch_area area;
    lam_value **values = lam__scratch_get(&area, ctx, (in.count + n_out) * sizeof *values);
    if (!values) return LAM_ERR_MEMORY;
    lam_value **results = values + in.count;
    for (size_t o = 0; o < n_out; o++) results[o] = NULL;
    lam_status status = call_values(f, in, values, n_out, results);
    for (size_t o = 0; o < n_out; o++)
        out[o] = results[o] || status != LAM_OK ? lam__scope_handle(ctx, results[o]) : NULL;
    lam__scratch_put(&area);
    return status;
}

/* For functions of one output, which is a failed tensor after any failure, also that of a function with another
 * number. */
lam_tensor *lam_apply(lam_fn *f, lam_list in) {
    lam_tensor *out = NULL;
    return lam_call(f, in, &out, 1) == LAM_OK || !out ? out : &out->ctx->failed;
}
