/* The context: birth and end. What a context needs from its first moment lies in one block (`whole`), taken from the
 * user's allocator and not from the pool in it; everything else comes from the pool, so the end of the pool is the end
 * of all. A context that cannot be made is the one static failed context, in read-only memory, which every function
 * accepts: it has a status, a text, a failed tensor, a failed function and a level, and nothing ever writes to it. */
#include "lib/base/context.h"

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"
#include "lib/kernels/kernels.h"
#include "lib/tensor/value.h"

#include <string.h>

static const int64_t no_axes[1];
/* The value of every failed tensor, so that whatever follows `value` without a question finds a type there: that of a
 * number, shared and not concrete. It lies in read-only memory: nobody may count its references. */
static const lam__value broken = {
    .head = {.kind = LAM__BROKEN,
             .dtype = LAM_F64,
             .refs = UINT32_MAX / 2,
             .count = 1,
             .dims = no_axes,
             .strides = no_axes},
};
static const lam_fn static_failed_fn = {.magic = LAM__FN_FAILED, .ctx = &lam__context_failed};
static const lam__level static_ground = {.ctx = &lam__context_failed, .interpreter = &lam__interpreter_eval};

/* Objects in read-only memory under the types that everything else of their kind has. */
#define READ_ONLY(type, object) ((type *)(uintptr_t) & (object))

const lam_ctx lam__context_static = {
    .failed = {.magic = LAM__FAILED, .ctx = &lam__context_failed, .value = READ_ONLY(lam_value, broken.head)},
    .error = {.status = LAM_ERR_MEMORY,
              .count = 1,
              .text =
                  "lam_ctx_new: this context could not be made: no memory, a negative number of threads, or an "
                  "allocator of which allocate or release is missing; or an operation was given NULL or an empty list, "
                  "which belong to no context"},
    .ground = READ_ONLY(lam__level, static_ground),
    .current = READ_ONLY(lam__level, static_ground),
    .failed_fn = READ_ONLY(lam_fn, static_failed_fn),
};

/* A context and what is embedded in its block. */
typedef struct whole {
    lam_ctx ctx;
    lam__level ground;
    lam_fn failed_fn;
    lam_allocator allocator;
} whole;

/* An allocator is both functions or neither; memory taken from one and given to another would be lost. */
static bool options_valid(const lam_ctx_options *o) {
    return o->threads >= 0 && !o->allocator.allocate == !o->allocator.release;
}

/* Sets what needs no memory. The rest, level and team, may fail and is done by lam_ctx_new. */
static void start(whole *w, const lam_ctx_options *o) {
    lam_ctx *ctx = &w->ctx;
    memset(w, 0, sizeof *w);
    w->allocator = o->allocator.allocate ? o->allocator : lam__alloc_default();
    lam__alloc_start(&ctx->pool, &w->allocator, o->memory_limit, o->plain_memory);
    ctx->failed = (lam_tensor){.magic = LAM__FAILED, .ctx = ctx, .value = READ_ONLY(lam_value, broken.head)};
    ctx->failed_fn = &w->failed_fn;
    w->failed_fn = (lam_fn){.magic = LAM__FN_FAILED, .ctx = ctx};
    ctx->outermost = (lam_scope){.magic = LAM__SCOPE, .ctx = ctx};
    ctx->scope = &ctx->outermost;
    ctx->random.seed = o->seed;
    ctx->compiler_seconds = LAM__COMPILER_SECONDS;
}

/* Each step that fails leaves nothing behind: the team is ended, the block goes back, and the caller gets the static
 * failed context. lam__kernels_start comes first because OpenBLAS ends the process where it lacks memory for its
 * buffers. */
lam_ctx *lam_ctx_new(const lam_ctx_options *options) {
    static const lam_ctx_options none;
    const lam_ctx_options *o = options ? options : &none;
    if (!options_valid(o) || !lam__kernels_start()) return &lam__context_failed;
    lam_allocator a = o->allocator.allocate ? o->allocator : lam__alloc_default();
    whole *w = a.allocate(a.env, sizeof *w, LAM__ALLOC_STEP);
    if (!w) return &lam__context_failed;
    start(w, o);
    if (o->threads > 1) w->ctx.team = lam__team_new(&w->allocator, o->threads);
    bool complete = o->threads <= 1 || w->ctx.team;
    if (complete && lam__level_start(&w->ctx, &w->ground) == LAM_OK) return &w->ctx;
    lam__team_free(w->ctx.team);
    a.release(a.env, w, sizeof *w, LAM__ALLOC_STEP);
    return &lam__context_failed;
}

static void free_plans(lam_ctx *ctx) {
    for (int k = 0; k < LAM__PLANS; k++) {
        if (ctx->plans[k]) ctx->plans[k]->free(ctx, ctx->plans[k]);
        ctx->plans[k] = NULL;
    }
}

/* Users' memory first (handles, functions, whose env_free may still call the library), then what rooms keep for reuse,
 * the display of levels, the threads, and the pool last. The allocator is copied out of the block that it is to
 * release. */
void lam_ctx_free(lam_ctx *ctx) {
    if (!ctx || ctx == &lam__context_failed) return;
    lam__scope_free_all(ctx);
    lam__fn_free_waiting(ctx);
    for (int k = 0; k < LAM__IDLE; k++)
        if (ctx->idle[k]) ctx->idle[k]->free(ctx, ctx->idle[k]);
    free_plans(ctx);
    lam__level_stop(ctx);
    lam__team_free(ctx->team);
    lam__alloc_stop(&ctx->pool);
    lam_allocator a = ctx->pool.allocator;
    a.release(a.env, ctx, sizeof(whole), LAM__ALLOC_STEP);
}

int lam_ctx_threads(const lam_ctx *ctx) {
    return ctx ? lam__team_size(ctx->team) : 1;
}

/* Bytes of blocks alive, rounded up to their classes; slabs and blocks that wait for reuse are not counted. */
size_t lam_ctx_bytes(const lam_ctx *ctx) {
    return ctx ? ctx->pool.bytes : 0;
}

size_t lam_ctx_peak_bytes(const lam_ctx *ctx) {
    return ctx ? ctx->pool.peak : 0;
}

/* The functions below write to the context and so pass the static failed one by. */
void lam_ctx_reset_peak(lam_ctx *ctx) {
    if (ctx && ctx != &lam__context_failed) ctx->pool.peak = ctx->pool.bytes;
}

void lam_ctx_trim(lam_ctx *ctx) {
    if (!ctx || ctx == &lam__context_failed) return;
    free_plans(ctx);
    lam__alloc_trim(&ctx->pool);
}

/* From the innermost level to eval. A nest that does not fit 1023 characters is cut, as every lam__text is. */
void lam_print_levels(FILE *file, const lam_ctx *ctx) {
    if (!ctx || !file) return;
    char line[1024];
    lam__text text = {line, sizeof line, 0};
    lam__level_describe(ctx->current, &text);
    fprintf(file, "%s\n", line);
}
