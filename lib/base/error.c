/* Failure: see error.h. A message has up to five lines: what went wrong, operands, function, levels, remedy. Only the
 * first failure's text is put together and kept, because those that follow from it say less; the rest are counted. No
 * function here allocates, so that being out of memory can be reported, and none jumps: who fails returns a status or
 * the failed tensor, and callers go on with that. */
#include "lib/base/error.h"

#include "lib/base/inline.h"
#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"
#include "lib/tensor/dtype.h"

#include <lamina/tensor.h>

#include <stdarg.h>
#include <string.h>

/* The name of each status, and what helps where who records a failure knows nothing better. */
static const struct {
    const char *name, *remedy;
} statuses[LAM_STATUS_COUNT] = {
    [LAM_OK] = {"LAM_OK", NULL},
    [LAM_ERR_VALUE] = {"LAM_ERR_VALUE", "check the values that its docstring allows"},
    [LAM_ERR_SHAPE] = {"LAM_ERR_SHAPE",
                       "change the dims with lam_reshape, lam_transpose, lam_expand_dims or lam_broadcast_to"},
    [LAM_ERR_DTYPE] = {"LAM_ERR_DTYPE", "change the dtype with lam_cast"},
    [LAM_ERR_AXIS] = {"LAM_ERR_AXIS", "name each axis once; negative ones count from the end"},
    [LAM_ERR_RANK] = {"LAM_ERR_RANK", "change the number of axes with lam_expand_dims, lam_squeeze or lam_reshape"},
    [LAM_ERR_INDEX] = {"LAM_ERR_INDEX", "indices are below the size of the axis; negative ones count from its end"},
    [LAM_ERR_ARITY] = {"LAM_ERR_ARITY", "check the counts in its docstring"},
    [LAM_ERR_NULL] = {"LAM_ERR_NULL", "NULL is allowed only where the docstring says so"},
    [LAM_ERR_MEMORY] = {"LAM_ERR_MEMORY",
                        "drop what is not needed, close scopes, work in chunks, or raise the limit of the context"},
    [LAM_ERR_OVERFLOW] = {"LAM_ERR_OVERFLOW", "split the work"},
    [LAM_ERR_BATCHED] = {"LAM_ERR_BATCHED",
                         "use operations, which see one example at a time, or pass the data as an unmapped input"},
    [LAM_ERR_ABSTRACT] = {"LAM_ERR_ABSTRACT", "use its dims and dtype only"},
    [LAM_ERR_ESCAPED] = {"LAM_ERR_ESCAPED", "return it from the function in which it was made"},
    [LAM_ERR_CAPTURED] = {"LAM_ERR_CAPTURED", "pass it as an input, or declare it in the function's captures"},
    [LAM_ERR_CONTEXT] = {"LAM_ERR_CONTEXT", "copy one of them over with lam_read and lam_array"},
    [LAM_ERR_FREED] = {"LAM_ERR_FREED", "keep it: lam_scope_end, lam_hold"},
    [LAM_ERR_STALE] = {"LAM_ERR_STALE", "make it again"},
    [LAM_ERR_RULE] = {"LAM_ERR_RULE", "lam_custom_jvp and lam_custom_vjp take a rule of your own"},
    [LAM_ERR_LINEAR] = {"LAM_ERR_LINEAR", "what is linear has no constant terms and no products of its inputs"},
    [LAM_ERR_SCOPE] = {"LAM_ERR_SCOPE", "end scopes in the function that began them, the last one first"},
    [LAM_ERR_OPTION] = {"LAM_ERR_OPTION", "zero is the default of each field; the header lists the other values"},
    [LAM_ERR_NUMERIC] =
        {"LAM_ERR_NUMERIC",
         "change the operands: these have no result, as where a matrix is singular or not positive definite"},
    [LAM_ERR_USER] = {"LAM_ERR_USER", NULL},
};

const char *lam_status_name(lam_status status) {
    bool known = (int)status >= 0 && status < LAM_STATUS_COUNT;
    return known ? statuses[status].name : "LAM_ERR_?";
}

/* ---- text ----------------------------------------------------------------------------------------------- */

/* vsnprintf tells how much it would have written; what did not fit is cut, and the text stays full and ended by NUL. */
static void append_list(lam__text *t, const char *format, va_list arguments) {
    if (t->used >= t->size) return; /* more is there than this part of a message may fill */
    size_t room = t->size - t->used;
    int written = vsnprintf(t->text + t->used, room, format, arguments);
    if (written > 0) t->used += (size_t)written < room ? (size_t)written : room - 1;
}

/* Writes behind what is there. Arguments as of printf. */
void lam__error_append(lam__text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append_list(t, format, arguments);
    va_end(arguments);
}

/* "f64[5, 3]", as lam_print shows it. */
void lam__error_append_type(lam__text *t, lam_dtype dtype, int rank, const int64_t *dims) {
    lam__error_append(t, "%s[", lam_dtype_name(dtype));
    for (int i = 0; i < rank; i++) lam__error_append(t, "%s%lld", i ? ", " : "", (long long)dims[i]);
    lam__error_append(t, "]");
}

/* The types of the first operands, as the caller of the operation sees them: of a box those that it shows. */
static void append_operands(lam__text *t, const lam_call_site *call) {
    enum { SHOWN = 8 };
    lam__error_append(t, "\n  operands: ");
    for (int i = 0; i < call->inputs && i < SHOWN; i++) {
        const lam_value *x = call->in[i];
        if (i) lam__error_append(t, ", ");
        if (x) lam__error_append_type(t, x->dtype, x->rank, x->dims);
        else lam__error_append(t, "NULL");
    }
    if (call->inputs > SHOWN) lam__error_append(t, " and %d more", call->inputs - SHOWN);
}

/* The functions that run, innermost first, and the levels. Those of the innermost call are shown rather than the
 * current one: while an interpreter works for that call, a level below it is current, which would mislead. */
static void append_place(lam__text *t, const lam_ctx *ctx, const char *remedy) {
    const char *lead = "\n  in function: ";
    const size_t whole = t->size;
    int shown = 0;
    t->size = whole - whole / 8; /* names of nested transforms are long: what follows has room of its own */
    for (const lam__frame *f = ctx->frame; f && shown < 12; f = f->parent, shown++, lead = ", called by ")
        lam__error_append(t, f->part ? "%s'%s' (%s)" : "%s'%s'", lead, f->name, f->part);
    t->size = whole;
    if (ctx->current) {
        lam__error_append(t, "\n  levels: ");
        lam__level_describe(ctx->frame ? ctx->frame->level : ctx->current, t);
    }
    if (remedy && *remedy) lam__error_append(t, "\n  remedy: %s", remedy);
}

/* ---- recording ------------------------------------------------------------------------------------------ */

/* Every failure passes here: a place for a breakpoint. Only the first one's text is kept. The static failed context
 * cannot be written to and keeps the status it was born with. LAM_OK from a user of lam_fail would be a failure without
 * a status and becomes LAM_ERR_USER. Where memory is lacking, the room that notices it does not know what it works for,
 * so the message names the primitive that is being applied. */
LAM__APART static lam_status record_failure(lam_ctx *ctx, const lam_call_site *call, lam_status status,
                                            const char *remedy, const char *format, va_list arguments) {
    if (ctx == &lam__context_failed) return ctx->error.status;
    if (status == LAM_OK) status = LAM_ERR_USER;
    ctx->error.last[ctx->error.count % LAM__ERRORS_KEPT] = status;
    if (ctx->error.count++) return status;
    if (!call && (status == LAM_ERR_MEMORY || status == LAM_ERR_OVERFLOW)) call = ctx->calling;
    ctx->error.status = status;
    ctx->error.time = remedy && !*remedy ? 0 : ++ctx->clock;
    ctx->error.lead = 0;
    lam__text t = {ctx->error.text, sizeof ctx->error.text / 4 * 3, 0}; /* long names leave the rest to what follows */
    if (call) lam__error_append(&t, "%s: ", call->primitive->name);
    append_list(&t, format, arguments);
    t.size = sizeof ctx->error.text;
    if (call && call->inputs) append_operands(&t, call);
    if (!remedy && (int)status > 0 && status < LAM_STATUS_COUNT) remedy = statuses[status].remedy;
    append_place(&t, ctx, remedy);
    return status;
}

lam_status lam__error_set(lam_ctx *ctx, lam_status status, const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    status = record_failure(ctx, NULL, status, remedy, format, arguments);
    va_end(arguments);
    return status;
}

lam_status lam__error_call(const lam_call_site *call, lam_status status, const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    status = record_failure(call->ctx, call, status, remedy, format, arguments);
    va_end(arguments);
    return status;
}

/* The user has called lam_moveaxis and not the transpose that refused. Innermost operations come first, so the last one
 * to put its name in front is the one that was called. */
void lam__error_within(lam_ctx *ctx, uint64_t since, const char *function) {
    lam__error *e = &ctx->error;
    if (ctx == &lam__context_failed || !e->count || e->time <= since) return;
    if (strncmp(function, "lam_", 4) != 0 || function[4] == '_') return;
    const char *name = function + 4;
    const size_t length = strlen(name), rest = strlen(e->text + e->lead);
    const bool named = strncmp(e->text + e->lead, name, length) == 0 && e->text[e->lead + length] == ':';
    const size_t lead = named ? 0 : length + 2;
    const size_t kept = rest < sizeof e->text - lead ? rest : sizeof e->text - lead - 1;
    memmove(e->text + lead, e->text + e->lead, kept);
    if (!named) {
        memcpy(e->text, name, length);
        memcpy(e->text + length, ": ", 2);
    }
    e->text[lead + kept] = '\0';
    e->lead = lead;
}

/* For rules, also of rows outside the library. The remedy is the usual one of the status. */
lam_status lam_rule_fail(const lam_call_site *call, lam_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    status = record_failure(call->ctx, call, status, NULL, format, arguments);
    va_end(arguments);
    return status;
}

/* Tells a limit that the user has set from memory that is not there: the remedies differ. The limit refuses what a
 * block of the size class would count for, which is up to a quarter more than what was asked for. */
lam_status lam__error_memory(lam_ctx *ctx, size_t bytes) {
    const lam__pool *pool = &ctx->pool;
    const size_t counted = lam__alloc_counted(bytes);
    bool limited = counted > pool->limit || pool->bytes > pool->limit - counted;
    return limited
               ? lam__error_set(ctx, LAM_ERR_MEMORY,
                                "raise the context's memory_limit, use chunk_size or lam_checkpoint",
                                "%zu bytes more, in a block of %zu, would pass the memory limit: %zu of %zu are in use",
                                bytes, counted, pool->bytes, pool->limit)
               : lam__error_set(ctx, LAM_ERR_MEMORY, "free tensors, use chunk_size or lam_checkpoint",
                                "out of memory: %zu bytes refused, %zu in use", bytes, pool->bytes);
}

/* Two numbers are the whole state, so that an attempt costs nothing where it succeeds. */
lam__mark lam__error_mark(const lam_ctx *ctx) {
    return (lam__mark){ctx->error.status, ctx->error.count};
}

/* Makes all failures since the mark undone. The text needs no copy: if there was a failure at the mark, the text is its
 * own still, since later ones do not touch it. */
void lam__error_roll_back(lam_ctx *ctx, lam__mark mark) {
    if (ctx == &lam__context_failed) return;
    ctx->error.count = mark.count;
    ctx->error.status = mark.status;
    if (!mark.count) ctx->error.text[0] = '\0';
}

/* The message may be of an earlier failure, whose text alone is kept; the status is never. */
lam_status lam__error_since(const lam_ctx *ctx, lam__mark mark) {
    const lam__error *e = &ctx->error;
    if (ctx == &lam__context_failed) return e->status;
    if (e->count <= mark.count) return LAM_OK;
    if (!mark.count) return e->status;
    const size_t first = e->count - mark.count <= LAM__ERRORS_KEPT ? mark.count : e->count - LAM__ERRORS_KEPT;
    return e->last[first % LAM__ERRORS_KEPT];
}

lam_status lam__error_since_or(const lam_ctx *ctx, lam__mark mark, lam_status otherwise) {
    const lam_status recorded = lam__error_since(ctx, mark);
    return recorded != LAM_OK ? recorded : otherwise;
}

lam_status lam__error_last(const lam_ctx *ctx) {
    const lam__error *e = &ctx->error;
    return ctx == &lam__context_failed ? e->status : e->count ? e->last[(e->count - 1) % LAM__ERRORS_KEPT] : LAM_OK;
}

/* ---- public --------------------------------------------------------------------------------------------- */

/* Without a context there is nothing to ask: NULL is itself the mistake. */
lam_status lam_status_of(const lam_ctx *ctx) {
    return ctx ? ctx->error.status : LAM_ERR_NULL;
}

/* Never NULL: "" where nothing has failed. */
const char *lam_error(const lam_ctx *ctx) {
    return ctx ? ctx->error.text : "no context";
}

size_t lam_error_count(const lam_ctx *ctx) {
    return ctx ? ctx->error.count : 0;
}

/* Forgets the first failure as well. Failed tensors made before are stale from then on (explain in scope.c). */
void lam_clear_error(lam_ctx *ctx) {
    if (ctx) lam__error_roll_back(ctx, (lam__mark){LAM_OK, 0});
}

/* Records and gives the failed tensor. Without a context there is nowhere to record, and the static failed one's tensor
 * is given. A remedy of "" adds none: the user's own words are all. */
static lam_tensor *fail(lam_ctx *ctx, lam_status status, const char *remedy, const char *format, va_list arguments) {
    if (!ctx) return &lam__context_failed.failed;
    record_failure(ctx, NULL, status, remedy, format, arguments);
    return &ctx->failed;
}

lam_tensor *lam_fail(lam_ctx *ctx, lam_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    lam_tensor *failed = fail(ctx, status, "", format, arguments);
    va_end(arguments);
    return failed;
}

lam_tensor *lam__error_fail(lam_ctx *ctx, lam_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    lam_tensor *failed = fail(ctx, status, NULL, format, arguments);
    va_end(arguments);
    return failed;
}

/* Takes a tensor, a function or a program: the first word of each says what it is (lam__magic), and it is read as bytes
 * because the type is not known here. A freed handle has not failed: it fails when it is used. */
bool lam_failed(const void *object) {
    if (!object) return true;
    uint32_t magic;
    memcpy(&magic, object, sizeof magic);
    return magic == LAM__FAILED || magic == LAM__FN_FAILED;
}
