/* See control.h. Operations are put together from calls and operations on handles at the level where the caller is, so
 * that levels see what is done as they see what a user does; only what runs for some examples alone has a level of its
 * own (lanes.h). */
#include "transforms/control.h"

#include "lib/base/context.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Where a failure of these functions goes: to a context that one of them has, or an operand. Without any of them it is
 * the failed context, in which nothing is recorded. */
static lam_ctx *context_of(size_t count, lam_fn *const fns[], lam_list in) {
    for (size_t i = 0; i < count; i++)
        if (fns[i] && fns[i]->ctx != &lam__context_failed) return fns[i]->ctx;
    return lam__scope_context(in.items ? in.count : 0, in.items);
}

/* A NULL has no context to record in, so that of the call serves. */
bool lam__control_check_fn(lam_ctx *ctx, const char *what, lam_fn *f, size_t i) {
    if ((!f || f->ctx == &lam__context_failed) && ctx != &lam__context_failed)
        lam__error_set(ctx, LAM_ERR_NULL, "make it before it is called",
                       "%s: function number %zu is NULL, or the failed one of no context", what, i);
    if (!lam__fn_check(what, f)) return false;
    if (f->ctx == ctx) return true;
    lam__error_set(ctx, LAM_ERR_CONTEXT, "make all in one context", "%s: mixed contexts: '%s' belongs to another one",
                   what, f->name);
    return false;
}

/* Nothing of what is here is released before lam__control_end, so whatever fails in between ends there. `status` may
 * be that of an earlier failure: an operand that has failed says why it did. out[] is failed before anything else, so
 * that callers who do not look at the status meet failed tensors. Functions are held once all of them are known to be
 * alive. */
bool lam__control_begin(lam__control *c, const char *what, size_t count, lam_fn *const fns[], lam_list in,
                        lam_tensor **out, size_t n_out, lam_status *status) {
    lam_ctx *ctx = context_of(count, fns, in);
    const lam__mark mark = lam__error_mark(ctx);
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++) fine = lam__control_check_fn(ctx, what, fns[i], i);
    if (fine && n_out && !out) {
        lam__error_set(ctx, LAM_ERR_NULL, NULL, "%s: there is no room for %zu outputs", what, n_out);
        fine = false;
    }
    for (size_t i = 0; out && i < n_out; i++) out[i] = &ctx->failed;
    *status = fine ? LAM_OK : lam__error_since(ctx, mark);
    /* Nothing new is on record where a function failed when it was made, and in no context. */
    if (!fine && *status == LAM_OK) *status = ctx->error.status != LAM_OK ? ctx->error.status : LAM_ERR_NULL;
    if (!fine) return false;
    *c = (lam__control){.what = what, .ctx = ctx, .mark = mark, .out = out, .n_out = n_out};
    c->fns = fns;
    c->count = count;
    for (size_t i = 0; i < count; i++) lam__fn_retain(fns[i]); /* a body may drop it */
    lam__scope_open(ctx, &c->scope);
    return true;
}

/* Results are held over the end of the scope that they were made in, and get handles in the caller's. A result that is
 * missing without a new failure comes of an earlier one, whose status it gets. */
lam_status lam__control_end(lam__control *c, lam_tensor *const results[]) {
    lam_ctx *ctx = c->ctx;
    lam__scratch_area area;
    lam_value **v = lam__scratch_get(&area, ctx, c->n_out * sizeof *v);
    lam_status status = v ? lam__error_since(ctx, c->mark) : LAM_ERR_MEMORY;
    for (size_t i = 0; v && i < c->n_out; i++) {
        v[i] = results ? lam__scope_peek(results[i]) : NULL;
        if (v[i]) lam__value_hold(v[i]);
        else if (status == LAM_OK) status = ctx->error.status;
    }
    lam__scope_close(&c->scope);
    for (size_t i = 0; i < c->count; i++) lam__fn_release(c->fns[i]);
    if (v) lam__arguments_give(ctx, status, (int)c->n_out, v, c->out);
    lam__scratch_put(&area);
    return status;
}

/* Handles of the call's own: a body may drop those that were given, and what belongs to another context is told before
 * it is looked at. */
bool lam__control_operands(lam__control *c, const char *which, lam_list list, lam_tensor *copies[]) {
    if (list.count && !list.items) {
        lam__error_set(c->ctx, LAM_ERR_NULL, NULL, "%s: there is no list of %s", c->what, which);
        return false;
    }
    for (size_t i = 0; i < list.count; i++) {
        lam_value *v = NULL;
        if (!list.items[i])
            lam__error_set(c->ctx, LAM_ERR_NULL, NULL, "%s: number %zu of the %s is NULL", c->what, i, which);
        else if (lam__scope_is_foreign(c->ctx, list.items[i]))
            lam__error_set(c->ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                           "%s: mixed contexts: number %zu of the %s belongs to another one", c->what, i, which);
        else v = lam__scope_operand_in(c->ctx, c->what, i, list.items[i]);
        if (!v) return false;
        copies[i] = lam__scope_handle(c->ctx, lam__value_hold(v));
        if (lam_failed(copies[i])) return false; /* there was no memory for a handle */
    }
    return true;
}

/* Counted before the call, since the function itself cannot say what the caller has room for. */
bool lam__control_arity(lam__control *c, const lam_fn *f, size_t inputs, size_t outputs) {
    if ((size_t)f->inputs == inputs && (size_t)f->outputs == outputs) return true;
    lam__error_set(c->ctx, LAM_ERR_ARITY, "count inputs and outputs of the function, and the room for results",
                   "%s: '%s' takes %d and gives %d, where it gets %zu and is to give %zu", c->what, f->name, f->inputs,
                   f->outputs, inputs, outputs);
    return false;
}

/* As i64, since a choice takes it for an index. A failed one has been recorded. f is the condition whose result x is;
 * NULL: x is the predicate itself. */
lam_tensor *lam__control_truth(lam__control *c, const lam_fn *f, lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    if (!v) return x;
    if (v->rank || lam__dtype_is_complex(v->dtype)) {
        char text[256];
        lam__text t = {text, sizeof text, 0};
        lam__error_append_type(&t, (lam_dtype)v->dtype, v->rank, v->dims);
        lam__error_set(c->ctx, v->rank ? LAM_ERR_SHAPE : LAM_ERR_DTYPE, "reduce it with lam_all or lam_any",
                       "%s: the %s%s%s is %s, a bool of rank 0 expected", c->what, f ? "result of '" : "predicate",
                       f ? f->name : "", f ? "'" : "", text);
        return &c->ctx->failed;
    }
    /* As in C whatever is not 0 is true, NaN among it. */
    return lam_cast(v->dtype == LAM_BOOL ? x : lam_ne(x, 0), LAM_I64);
}

/* All carries that changed are listed, since it is one mistake of the body that changes several. An operand that has
 * failed has been recorded. `from` hides axes of lanes, which a user has not written. */
bool lam__control_same(lam__control *c, const lam_fn *f, size_t n, lam_tensor *const now[], lam_tensor *const next[],
                       int from) {
    char text[1024];
    lam__text t = {text, sizeof text, 0};
    bool dtypes = false;
    for (size_t i = 0; i < n; i++) {
        const lam_value *a = lam__scope_peek(now[i]), *b = lam__scope_peek(next[i]);
        if (!a || !b) return false;
        if (lam__value_same_type(a, b)) continue;
        dtypes = dtypes || a->dtype != b->dtype;
        lam__error_append(&t, "%scarry %zu is ", t.used ? "; " : "", i);
        lam__error_append_type(&t, (lam_dtype)a->dtype, a->rank - from, a->dims + from);
        lam__error_append(&t, " and becomes ");
        lam__error_append_type(&t, (lam_dtype)b->dtype, b->rank - from, b->dims + from);
    }
    if (!t.used) return true;
    lam__error_set(c->ctx, dtypes ? LAM_ERR_DTYPE : LAM_ERR_SHAPE,
                   "let it give what it takes; lam_cast and lam_broadcast_to change a first carry",
                   "%s: '%s' changes types: %s", c->what, f->name, text);
    return false;
}

/* ---- for some examples alone ------------------------------------------------------------------------------------- */

/* Lent handles: captures are values, and have none of the user's. */
void lam__control_add_captures(lam__crew *crew, lam_fn *f) {
    const lam_fn *captor = lam__fn_captor(f);
    for (int k = 0; k < lam__arguments_captured(f); k++) {
        lam_tensor lent;
        lam__scope_lend(&lent, crew->ctx, captor->captures[k]);
        lam__lanes_add(crew, &lent);
    }
}

/* Captures become inputs of the function, since those of some examples alone are others than the ones that it holds.
 * Room is the scope's, like all that is made in an operation, and goes with lam__control_end. */
bool lam__control_task(lam__control *c, const lam__crew *crew, lam_fn *f, lam__task *task) {
    int captured = lam__arguments_captured(f);
    size_t n = (size_t)(f->inputs + captured);
    *task = (lam__task){lam__arguments_open("lanes", f), lam__apply_room(c->ctx, n),
                        (bool *)(void *)lam__apply_room(c->ctx, n), (size_t)f->inputs};
    if (!task->in || !task->mapped || task->f->magic != LAM__FN) return false;
    if (captured) lam__arguments_append_captures(f, task->in, f->inputs);
    for (size_t i = task->inputs; i < n; i++)
        if (!lam__control_set(crew, task, i, task->in[i])) return false;
    return true;
}

/* What is the same for all lanes is handed on unopened, and every example gets all of it. */
bool lam__control_set(const lam__crew *crew, lam__task *task, size_t i, lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    if (!v) return false;
    task->mapped[i] = lam__lanes_holds(crew, x);
    task->in[i] = task->mapped[i] ? lam__lanes_open(crew, x) : x;
    return !lam_failed(task->in[i]);
}

/* One part alone holds all lanes in their order. Put behind one another and then taken in order, which are two
 * operations that levels know. */
lam_tensor *lam__control_join(lam__control *c, size_t parts, lam_tensor *const part[], size_t stride,
                              const int64_t place[], int64_t size) {
    if (parts == 1) return part[0];
    lam_tensor **list = lam__apply_room(c->ctx, parts);
    if (!list) return &c->ctx->failed;
    for (size_t p = 0; p < parts; p++) list[p] = part[p * stride];
    return lam_take(lam_concatenate((lam_list){parts, list}, 0), lam_array(c->ctx, LAM_I64, LAM_DIMS(size), place), 0);
}
