/* NOTE [deep calls]
 * Users' functions and rules may call themselves. What the library adds to the C stack for each call would end the
 * process where the stack does, so a call is refused when too little is left: of the running thread's stack where the
 * system tells its bounds, otherwise when the outermost call lies DEEP bytes away. On a stack that is smaller than what
 * is kept the outermost call is refused, too. */
#if defined(__linux__)
#define _GNU_SOURCE /* pthread_getattr_np, gettid */
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#include "lib/base/stack.h"

enum {
    DEEP = 5 << 20,            /* bytes that calls within calls may take in any case; stacks have 8 MiB as a rule */
    MAIN_MOST = 64 << 20,      /* the system keeps 128 MiB for the main thread's stack, and more on request */
    RESERVE_LEAST = 128 << 10, /* bytes kept for what a call does beside calling on: kernels take up to 98 KiB */
    RESERVE_MOST = 1 << 20
};

#if defined(__linux__)
/* The main thread's stack begins behind the name of the program and is as long as its limit says. The C library reads
 * a file under /proc for the same, which takes thirty times as long as all else that a context needs to begin. */
static bool is_on_main_stack(lam_ctx *ctx, uintptr_t here) {
    const uintptr_t top = (uintptr_t)getauxval(AT_EXECFN);
    struct rlimit limit;
    if (here >= top || getpid() != gettid() || getrlimit(RLIMIT_STACK, &limit)) return false;
    const uintptr_t bytes = limit.rlim_cur < MAIN_MOST ? (uintptr_t)limit.rlim_cur : MAIN_MOST;
    if (top - here > bytes) return false;
    ctx->stack_end = top - bytes;
    ctx->stack_bytes = bytes;
    return true;
}

/* Notes the bounds of the running thread's stack; both 0 if they are not to be had. Asked once for each change of
 * thread. */
static void find_bounds(lam_ctx *ctx, uintptr_t here) {
    uintptr_t self = (uintptr_t)pthread_self();
    if (ctx->stack_thread == self) return;
    pthread_attr_t attributes;
    void *end = NULL;
    size_t bytes = 0;
    ctx->stack_thread = self;
    ctx->stack_end = ctx->stack_bytes = 0;
    if (is_on_main_stack(ctx, here)) return;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    if (!pthread_attr_getstack(&attributes, &end, &bytes)) {
        ctx->stack_end = (uintptr_t)end;
        ctx->stack_bytes = bytes;
    }
    pthread_attr_destroy(&attributes);
}
#else
static void find_bounds(lam_ctx *ctx, uintptr_t here) {
    (void)here;
    ctx->stack_end = ctx->stack_bytes = 0;
}
#endif

/* Bytes that calls within the outermost one, which begins here, may take. */
static uintptr_t room_below(lam_ctx *ctx, uintptr_t here) {
    find_bounds(ctx, here);
    if (here <= ctx->stack_end || here - ctx->stack_end > ctx->stack_bytes)
        return DEEP; /* not this thread's own stack */
    uintptr_t left = here - ctx->stack_end, reserve = ctx->stack_bytes / 4;
    if (reserve < RESERVE_LEAST) reserve = RESERVE_LEAST;
    if (reserve > RESERVE_MOST) reserve = RESERVE_MOST;
    left = left > reserve ? left - reserve : 0;
    return left < DEEP ? left : DEEP;
}

/* A context may be used by one thread after another, so the bounds are looked at for each outermost call. */
void lam__stack_begin(lam_ctx *ctx, uintptr_t here) {
    ctx->stack = here;
    ctx->stack_room = room_below(ctx, here);
}

lam_status lam__stack_fail(lam_ctx *ctx, const char *name) {
    return lam__error_set(ctx, LAM_ERR_MEMORY,
                          ctx->stack_room < DEEP ? "use a loop instead of recursion, or a thread with a larger stack"
                                                 : "use a loop instead of recursion",
                          "function '%s': calls within calls need more than the %zu bytes of stack that there are",
                          name, (size_t)ctx->stack_room);
}
