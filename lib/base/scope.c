/* Handles and scopes: see scope.h. A handle is in one list at any time: that of its scope, that of the held ones whose
 * scope has ended, or that of the free ones. Scopes are a stack that the context points to the top of; those of
 * function calls and rules lie in C frames, those of users in the pool. What lies here costs a few words at each
 * operation, so the common ways are short and the rest lies apart (NOTE [short ways] in inline.h). */
#include "lib/base/scope.h"

#include "lib/base/context.h"
#include "lib/base/inline.h"
#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"
#include "lib/tensor/value.h"

#include <lamina/tensor.h>

enum {
    SLAB_HANDLES = 63,
    WAITING = 64,
    ENDED = 16
}; /* handles per slab; freed handles and ended scopes that wait for reuse */

/* The head fills a cache line, so that each handle behind it is one. They are in use, or wait, one by one. */
typedef struct lam__handle_slab {
    struct lam__handle_slab *next;
    char pad[64 - sizeof(void *)];
    lam_tensor handles[SLAB_HANDLES];
} handle_slab;

/* ---- free list ------------------------------------------------------------------------------------------ */

/* At the end of the queue, while handles are taken from its front: with WAITING handles ahead of it, a freed one stays
 * poisoned long enough for a mistaken use to find the mark rather than somebody else's tensor. */
static void wait_for_reuse(lam__handles *h, lam_tensor *t) {
    t->next = NULL;
    if (h->last) h->last->next = t;
    else h->first = t;
    h->last = t;
    h->waiting++;
}

/* Slabs are given back when the context ends and never before, so a stale pointer to a handle always points to a
 * handle. */
static bool add_slab(lam_ctx *ctx) {
    handle_slab *slab = lam__alloc_get(&ctx->pool, sizeof *slab);
    if (!slab) return false;
    slab->next = ctx->handles.slabs;
    ctx->handles.slabs = slab;
    for (int i = 0; i < SLAB_HANDLES; i++) {
        slab->handles[i].magic = LAM__FREED;
        slab->handles[i].ctx = ctx;
        wait_for_reuse(&ctx->handles, &slab->handles[i]);
    }
    return true;
}

/* More handles, so that one can be taken. False where there is none at all, which is recorded. */
static bool have_waiting(lam_ctx *ctx) {
    if (add_slab(ctx) || ctx->handles.waiting) return true;
    lam__error_memory(ctx, sizeof(handle_slab));
    return false;
}

/* ---- lists ------------------------------------------------------------------------------------------------ */

static void link_in(lam_tensor **head, lam_tensor *t) {
    t->prev = NULL;
    t->next = *head;
    if (*head) (*head)->prev = t;
    *head = t;
}

/* A live handle without a scope is a held one; handles that are lent (lam__scope_lend) are in no list and never get
 * here. */
static lam_tensor **head_of(lam_tensor *t) {
    return t->scope ? &t->scope->tensors : &t->ctx->handles.held;
}

static void unlink(lam_tensor *t) {
    if (t->next) t->next->prev = t->prev;
    if (t->prev) t->prev->next = t->next;
    else *head_of(t) = t->next;
}

/* The handle is marked before its value is released, which may call a user's function (that of borrowed memory). */
static inline void handle_free(lam_tensor *t) {
    lam_value *value = t->value;
    t->magic = LAM__FREED;
    t->value = NULL;
    wait_for_reuse(&t->ctx->handles, t);
    lam__value_release(value);
}

/* The first of those that wait; there is one. It belongs to the innermost scope; `birth` tells it from what was there
 * before (lam__fn_made_here, lam__scope_only, lam__scope_hide). */
static inline lam_tensor *handle_make(lam_ctx *ctx, lam_value *value) {
    lam__handles *h = &ctx->handles;
    lam_tensor *t = h->first;
    h->first = t->next;
    if (!h->first) h->last = NULL;
    h->waiting--;
    t->magic = LAM__LIVE;
    t->holds = 0;
    t->value = value;
    t->birth = ++ctx->clock;
    t->scope = ctx->scope;
    link_in(&ctx->scope->tensors, t);
    return t;
}

/* Without a value the failure is recorded already. Without memory for a slab, one of those that wait is taken early: a
 * late mistake is then not recognised, but the program goes on. */
LAM__APART static lam_tensor *handle_from_slab(lam_ctx *ctx, lam_value *value) {
    if (!value) return &ctx->failed;
    if (have_waiting(ctx)) return handle_make(ctx, value);
    lam__value_release(value);
    return &ctx->failed;
}

lam_tensor *lam__scope_handle(lam_ctx *ctx, lam_value *value) {
    return value && ctx->handles.waiting > WAITING ? handle_make(ctx, value) : handle_from_slab(ctx, value);
}

/* ---- scopes ------------------------------------------------------------------------------------------------ */

/* Memory for a scope of the user's. Ended ones stay scopes for a while, so that ending one twice is a named error. */
static lam_scope *scope_take(lam_ctx *ctx) {
    lam__handles *h = &ctx->handles;
    lam_scope *scope = h->ended_first;
    if (h->ended <= ENDED) return lam__alloc_get(&ctx->pool, sizeof *scope);
    if (!lam__alloc_take_back(&ctx->pool, sizeof *scope)) return NULL;
    h->ended_first = scope->parent;
    h->ended--;
    return scope;
}

/* The queue of ended scopes goes through `parent`, which an ended scope has no other use for. */
static void scope_wait(lam_ctx *ctx, lam_scope *scope) {
    lam__handles *h = &ctx->handles;
    scope->magic = LAM__FREED;
    scope->parent = NULL;
    lam__alloc_set_aside(&ctx->pool, sizeof *scope);
    if (h->ended++) h->ended_last->parent = scope;
    else h->ended_first = scope;
    h->ended_last = scope;
}

/* Functions first: env_free of one may let go of tensors that it held. Held tensors move to the list of those without
 * scope; all others go, and with them what only they show. */
static void scope_empty(lam_scope *scope) {
    while (scope->fns) lam__fn_leave_scope(scope->fns);
    lam_tensor *next;
    for (lam_tensor *t = scope->tensors; t; t = next) {
        next = t->next;
        if (t->holds) {
            t->scope = NULL;
            link_in(&scope->ctx->handles.held, t);
        } else {
            handle_free(t);
        }
    }
    scope->tensors = NULL;
}

/* Without an operand nothing is younger than the answer, so that lam__scope_only frees nothing. A handle that is freed
 * or has failed knows its context still. */
uint64_t lam__scope_now(const lam_tensor *x) {
    const bool known = x && (x->magic == LAM__LIVE || x->magic == LAM__FREED || x->magic == LAM__FAILED);
    return known ? x->ctx->clock : UINT64_MAX;
}

uint64_t lam__scope_now_in(const lam_ctx *ctx) {
    return ctx ? ctx->clock : UINT64_MAX;
}

/* Frees what the innermost scope got since a time, but for results and held handles. Handles are linked in at the
 * front, so those since a time come before all others and the walk ends at the first that is older. Where the first
 * result is not live, the operation has failed: what it made goes with the scope. */
static inline void free_since(const char *function, size_t n, lam_tensor *const results[], uint64_t since) {
    if (results[0]->magic != LAM__LIVE) {
        lam__error_within(results[0]->ctx, since, function);
        return;
    }
    lam_tensor *next;
    for (lam_tensor *t = results[0]->ctx->scope->tensors; t && t->birth > since; t = next) {
        bool kept = t->holds != 0;
        for (size_t i = 0; i < n && !kept; i++) kept = t == results[i];
        next = t->next;
        if (kept) continue;
        unlink(t);
        handle_free(t);
    }
}

void lam__scope_only_these_in(const char *function, size_t n, lam_tensor *const results[], uint64_t since) {
    free_since(function, n, results, since);
}

lam_tensor *lam__scope_only_in(const char *function, lam_tensor *result, uint64_t since) {
    free_since(function, 1, &result, since);
    return result;
}

lam_tensor *lam__scope_named_in(const char *function, lam_tensor *result, uint64_t since) {
    if (result->magic != LAM__LIVE) lam__error_within(result->ctx, since, function);
    return result;
}

/* What a callback or body has left open would otherwise swallow everything that its caller makes from here on. */
bool lam__scope_close_inner(lam_scope *scope) {
    lam_ctx *ctx = scope->ctx;
    bool any = false;
    for (; ctx->scope != scope; any = true) lam__scope_close(ctx->scope);
    return any;
}

/* The caller has closed what lies inside. A scope in a C frame needs no more; one of a user's waits for reuse. */
void lam__scope_close(lam_scope *scope) {
    lam_ctx *ctx = scope->ctx;
    scope_empty(scope);
    ctx->scope = scope->parent;
    if (scope->on_heap) scope_wait(ctx, scope);
}

/* The scope's reference is the one that the function was made with; nothing is counted here. */
void lam__scope_add_fn(lam_scope *scope, lam_fn *f) {
    f->scope = scope;
    f->prev = NULL;
    f->next = scope->fns;
    if (scope->fns) scope->fns->prev = f;
    scope->fns = f;
}

void lam__scope_remove_fn(lam_fn *f) {
    if (f->next) f->next->prev = f->prev;
    if (f->prev) f->prev->next = f->next;
    else f->scope->fns = f->next;
    f->scope = NULL;
}

/* The end of a context. Scopes that are open still are closed as if their functions had returned; held handles are let
 * go whatever their count, since nobody can release them any more. */
void lam__scope_free_all(lam_ctx *ctx) {
    lam__scope_close_inner(&ctx->outermost);
    while (ctx->outermost.fns) lam__fn_leave_scope(ctx->outermost.fns);
    lam__fn_free_held(ctx); /* before the tensors that their envs may hold */
    scope_empty(&ctx->outermost);
    lam_tensor *next;
    for (lam_tensor *t = ctx->handles.held; t; t = next) {
        next = t->next;
        handle_free(t);
    }
    ctx->handles.held = NULL;
    for (handle_slab *s = ctx->handles.slabs, *after; s; s = after) {
        after = s->next;
        lam__alloc_put(&ctx->pool, s, sizeof *s);
    }
    for (lam_scope *s = ctx->handles.ended_first, *after; s; s = after) {
        after = s->parent;
        lam__alloc_put_aside(&ctx->pool, s, sizeof *s);
    }
}

lam_scope *lam_scope_begin(lam_ctx *ctx) {
    if (!ctx || ctx == &lam__context_failed) return NULL;
    lam_scope *scope = scope_take(ctx);
    if (!scope) {
        lam__error_memory(ctx, sizeof *scope);
        return NULL;
    }
    lam__scope_open(ctx, scope);
    scope->on_heap = true;
    return scope;
}

/* Whether `scope` is open and was opened by the user inside the function that is running. The walk stops at the first
 * scope in a C frame, which is that of the innermost call: what lies below belongs to callers. */
static bool may_end(const lam_ctx *ctx, const lam_scope *scope) {
    const lam_scope *s = ctx->scope;
    while (s && s != scope && s->on_heap) s = s->parent;
    return s == scope && scope->on_heap;
}

/* Moves t to the parent of `scope` if it belongs to `scope` or to one inside it. Handles that an in-place form has
 * poisoned move too: they are failed, but still the user's to drop. The context's own failed tensor has no scope. */
static void keep_in_parent(lam_scope *scope, lam_tensor *t) {
    if (!t || (t->magic != LAM__LIVE && t->magic != LAM__FAILED) || t->ctx != scope->ctx || !t->scope) return;
    const lam_scope *s = scope->ctx->scope;
    while (s != scope && s != t->scope) s = s->parent;
    if (s != t->scope) return;
    unlink(t);
    t->scope = scope->parent;
    link_in(&scope->parent->tensors, t);
}

/* A scope that cannot be ended here is left alone. One with scopes open inside is ended with them, which is a failure
 * of the caller's, but one that leaves the stack of scopes in order. */
lam_status lam_scope_end(lam_scope *scope, lam_tensor *const keep[], size_t n) {
    if (!scope) return LAM_OK;
    lam_ctx *ctx = scope->ctx;
    if (scope->magic != LAM__SCOPE || !may_end(ctx, scope))
        return lam__error_set(ctx, LAM_ERR_SCOPE, "end each scope once, in the function that began it",
                              "lam_scope_end: this scope is not open here");
    for (size_t i = 0; keep && i < n; i++) keep_in_parent(scope, keep[i]);
    lam_status status = LAM_OK;
    if (lam__scope_close_inner(scope))
        status = lam__error_set(ctx, LAM_ERR_SCOPE, "end scopes in reverse order of beginning",
                                "lam_scope_end: a scope inside was still open");
    lam__scope_close(scope);
    return status;
}

/* Only held handles, and functions that outlive their scopes, are looked at: of what is made inside a callback, nothing
 * else lives on when its scope has ended. */
void lam__scope_hide(lam_ctx *ctx, uint64_t from, uint64_t until, bool hidden) {
    uint32_t old = hidden ? LAM__LIVE : LAM__HIDDEN;
    for (lam_tensor *t = ctx->handles.held; t; t = t->next)
        if (t->birth > from && t->birth <= until && t->magic == old) t->magic = hidden ? LAM__HIDDEN : LAM__LIVE;
    for (lam_fn *f = ctx->fns_outliving; f; f = f->next)
        if (f->birth > from && f->birth <= until && f->owns) f->hidden = hidden;
}

/* ---- use of handles ------------------------------------------------------------------------------------------ */

/* What is wrong with a handle that is not live. Gives the tensor to return. An operand that failed is no new failure:
 * the record is there, unless the user has cleared it meanwhile. */
static lam_tensor *explain(lam_ctx *ctx, const char *operation, size_t position, const lam_tensor *t) {
    if (!t)
        lam__error_set(ctx, LAM_ERR_NULL, "set the tensor before it is used", "%s: operand %zu is NULL", operation,
                       position);
    else if (t->magic == LAM__FAILED && t->ctx->error.count == 0)
        lam__error_set(ctx, LAM_ERR_STALE, "drop failed tensors when you clear the error",
                       "%s: operand %zu is stale: it failed before lam_clear_error", operation, position);
    else if (t->magic == LAM__FREED)
        lam__error_set(ctx, LAM_ERR_FREED,
                       "keep it with lam_scope_end or lam_hold; what a function uses later belongs in its captures",
                       "%s: operand %zu was used after it was freed", operation, position);
    else if (t->magic == LAM__HIDDEN)
        lam__error_set(ctx, LAM_ERR_RULE, "return it as an output of forward, and save that",
                       "%s: operand %zu" LAM__HIDDEN_TEXT, operation, position);
    else if (t->magic != LAM__FAILED)
        lam__error_set(ctx, LAM_ERR_VALUE, "pass what the library gave, and not after its end",
                       "%s: operand %zu is not a tensor", operation, position);
    return &ctx->failed;
}

/* What has a `ctx`: every handle that the library has made, whatever became of it. */
static bool has_context(const lam_tensor *t) {
    return t && (t->magic == LAM__LIVE || t->magic == LAM__FREED || t->magic == LAM__FAILED || t->magic == LAM__HIDDEN);
}

lam_ctx *lam__scope_context(size_t n, lam_tensor *const in[]) {
    for (size_t i = 0; i < n; i++)
        if (has_context(in[i]) && in[i]->ctx != &lam__context_failed) return in[i]->ctx;
    return &lam__context_failed;
}

bool lam__scope_is_foreign(const lam_ctx *ctx, const lam_tensor *t) {
    return t && t->magic == LAM__LIVE && t->ctx != ctx;
}

/* What is wrong with a handle for an operation of `ctx`, recorded there. A live operand of another one, or a failed
 * tensor of another one, cannot take part and would hide its own message there, so that is said here. */
static lam_tensor *explain_in(lam_ctx *ctx, const char *operation, size_t position, const lam_tensor *t) {
    if (lam__scope_is_foreign(ctx, t))
        lam__error_set(ctx, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                       "%s: mixed contexts: operand %zu belongs to another one", operation, position);
    else if (t && t->magic == LAM__FAILED && t->ctx != ctx)
        lam__error_set(ctx, LAM_ERR_CONTEXT, "NULL and empty lists belong to no context: check them before",
                       "%s: operand %zu is the failed tensor of another context or of none", operation, position);
    else return explain(ctx, operation, position, t);
    return &ctx->failed;
}

lam_value *lam__scope_operand_in(lam_ctx *ctx, const char *operation, size_t position, const lam_tensor *t) {
    if (t && t->magic == LAM__LIVE && t->ctx == ctx) return t->value;
    explain_in(ctx, operation, position, t);
    return NULL;
}

/* The check that every operation makes of its operands, so the common case is one comparison of marks and contexts
 * each. A failure is recorded in the first context that any operand has. */
lam_ctx *lam__scope_operands(const char *operation, size_t n, lam_tensor *const in[], lam_value *values[],
                             lam_tensor **failed) {
    if (n == 0) return NULL;
    lam_ctx *ctx = in[0] ? in[0]->ctx : NULL;
    for (size_t i = 0; i < n; i++) {
        if (!in[i] || in[i]->magic != LAM__LIVE || in[i]->ctx != ctx) {
            *failed = explain_in(lam__scope_context(n, in), operation, i, in[i]);
            return NULL;
        }
        values[i] = in[i]->value;
    }
    return ctx;
}

lam_value *lam__scope_peek(const lam_tensor *t) {
    return t && t->magic == LAM__LIVE ? t->value : NULL;
}

static bool usable(const char *operation, lam_tensor *t) {
    lam_value *value;
    lam_tensor *failed;
    return t && lam__scope_operands(operation, 1, &t, &value, &failed);
}

/* Whether t is a handle of its own, live or poisoned by a failed in-place form, and not a context's failed tensor. */
static bool owned(const lam_tensor *t) {
    return t->magic == LAM__LIVE || (t->magic == LAM__FAILED && (t->scope || t->holds));
}

/* All that lam_drop may be given beside a plain tensor: NULL and a context's failed tensor are nothing to do, a held
 * one leaves its scope, if it has one, and stays, and what was freed already is a failure. */
LAM__APART static void drop_any(lam_tensor *t) {
    if (!t || (!owned(t) && (t->magic == LAM__FAILED || !usable("lam_drop", t)))) return;
    unlink(t);
    t->scope = NULL;
    if (t->holds) link_in(&t->ctx->handles.held, t);
    else handle_free(t);
}

/* The plain case alone; NOTE [short ways] in inline.h. */
void lam_drop(lam_tensor *t) {
    if (!t || t->magic != LAM__LIVE || !t->scope || t->holds) {
        drop_any(t);
        return;
    }
    unlink(t);
    handle_free(t);
}

lam_tensor *lam_hold(lam_tensor *t) {
    if (!t || !usable("lam_hold", t)) return t ? &t->ctx->failed : &lam__context_failed.failed;
    t->holds++;
    return t;
}

/* The last release of a tensor whose scope has ended frees it; one that a scope has still stays until the scope
 * ends. */
void lam_release(lam_tensor *t) {
    if (!t || (!owned(t) && (t->magic == LAM__FAILED || !usable("lam_release", t)))) return;
    if (!t->holds) {
        lam__error_set(t->ctx, LAM_ERR_VALUE, "call it once for each lam_hold", "lam_release: this tensor is not held");
        return;
    }
    if (--t->holds || t->scope) return;
    unlink(t);
    handle_free(t);
}

lam_tensor *lam__scope_alias(const char *operation, lam_tensor *t) {
    if (!t || !usable(operation, t)) return t ? &t->ctx->failed : &lam__context_failed.failed;
    if (!lam__level_lives(t->ctx, operation, 1, &t->value, 0)) return &t->ctx->failed;
    return lam__scope_handle(t->ctx, lam__value_hold(t->value));
}

lam_tensor *lam_alias(lam_tensor *t) {
    return lam__scope_alias("lam_alias", t);
}
