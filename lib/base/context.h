/* The context: everything the library knows. Rooms own their parts; this file only puts them side by side. Nothing in
 * it is atomic: a context has one thread at a time, and the workers of its team never see it. */
#ifndef LAM_BASE_CONTEXT_H
#define LAM_BASE_CONTEXT_H

#include "lib/base/alloc.h"
#include "lib/base/error.h"
#include "lib/base/scope.h"
#include "lib/base/team.h"
#include "lib/kernels/kernels.h"

struct lam__level;
struct lam__aside;
struct lam__frame;
struct lam__deferred;
struct lam__library;

/* What a room outside the base keeps for reuse until the context ends; `free` gives it up then. */
typedef struct lam__idle {
    void (*free)(lam_ctx *ctx, struct lam__idle *self);
} lam__idle;
/* Slots of such things; who asks for one takes it by a hash, so two may meet in one and put each other out. */
enum { LAM__IDLE = 16 };
/* Slots of what calls of one operation find again: NOTE [kept plans] in lib/kernels/fft.h, NOTE [kept sums] in
 * lib/primitives/einsum.c. lam_ctx_trim gives them up too. */
enum { LAM__PLANS_OF_TRANSFORMS, LAM__PLANS_OF_SUMS, LAM__PLANS };

/* A context is never copied: handles, levels and values point to it, and the failed tensor is found at its
 * beginning. */
struct lam_ctx {
    lam_tensor failed; /* the failed tensor; first, so that a pointer to it leads here */
    lam__pool pool;
    lam__error error;
    uint64_t clock;  /* one clock for levels and handles: "made before" is a comparison */
    uint64_t levels; /* pushed so far: the serial of the last one */

    lam_scope outermost; /* what no other scope owns */
    lam_scope *scope;    /* the innermost open one */
    lam__handles handles;

    struct lam__level *current;  /* top of the current chain of levels */
    struct lam__level *ground;   /* level 0: evaluation */
    struct lam__level **display; /* display[depth]: the level there that was pushed last; NOTE [display] in level.h */
    int display_size;            /* entries */
    struct lam__aside *aside;    /* levels that user code now running does not see; NOTE [asides] in level.h */
    struct lam__frame *frame;    /* the innermost function call */
    uintptr_t stack;             /* where the C stack was when the outermost one began; NOTE [deep calls] in stack.c */
    uintptr_t stack_room;        /* bytes that calls within it may take */
    uintptr_t stack_thread, stack_end, stack_bytes; /* the thread whose stack is known, and that stack */
    const lam_call_site *calling; /* the innermost primitive being applied: it is named when memory is lacking */

    struct lam__deferred *deferred; /* what waits to be freed; NOTE [no recursion] in lib/tensor/value.h */
    bool draining;
    bool spares; /* since it was last cleared a function has run that is to spare memory (lam_checkpoint) */
    lam_fn *failed_fn;
    lam_fn *fns_first, *fns_last; /* freed functions, waiting for reuse */
    int fns_waiting;
    lam_fn *fns_outliving;          /* functions that no scope has any more, but a hold or another function */
    lam__idle *idle[LAM__IDLE];     /* NOTE [kept instances] in transforms/custom_instance.c */
    lam__idle *plans[LAM__PLANS];   /* NULL: none */
    struct lam__library *libraries; /* machine code that is loaded: lib/program/library.h */
    int compiler_seconds;           /* that the compiler may take; 0 after it has taken longer: it is not asked again */
    lam__team *team;                /* threads that share large loops; NULL: this one alone */
    lam__loop *loops[LAM__LOOP_COUNT][LAM_DTYPE_COUNT]; /* kernels as they have been looked up */
    lam_random_state random;                            /* of the generator; NOTE [generator] in lib/dispatch/draw.h */
    uint64_t drawn; /* draws made so far, those that were made again included: it never goes back */
};

enum { LAM__COMPILER_SECONDS = 60 };

/* Opens a scope in the caller's frame. */
static inline void lam__scope_open(lam_ctx *ctx, lam_scope *scope) {
    const bool of_rule = ctx->scope->of_rule; /* inside a rule everything is */
    *scope = (lam_scope){.magic = LAM__SCOPE, .of_rule = of_rule, .ctx = ctx, .parent = ctx->scope};
    ctx->scope = scope;
}

/* The one static failed context: given out when no context can be made. It lies in read-only memory. */
extern const lam_ctx lam__context_static;
#define lam__context_failed (*(lam_ctx *)(uintptr_t)&lam__context_static)

#endif
