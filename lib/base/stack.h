/* The C stack: whether there is room for one more call of user code. What is too deep fails by name where it would have
 * ended the process. The bounds are those of the thread that runs now, looked up once for each change of thread. */
#ifndef LAM_BASE_STACK_H
#define LAM_BASE_STACK_H

#include "lib/base/context.h"

/* Notes where the outermost call begins and how much room there is for those within it. */
void lam__stack_begin(lam_ctx *ctx, uintptr_t here);

/* Asked before user code is called, with ctx->frame as it is outside: true when the call must be refused. */
static inline bool lam__stack_is_short(lam_ctx *ctx) {
#ifdef __GNUC__
    uintptr_t here = (uintptr_t)__builtin_frame_address(0); /* a sanitizer may move locals off the stack */
#else
    char local;
    uintptr_t here = (uintptr_t)&local;
#endif
    if (!ctx->frame) lam__stack_begin(ctx, here);
    return (here > ctx->stack ? here - ctx->stack : ctx->stack - here) >= ctx->stack_room;
}

/* Records that. `name` is the function that is not called. Returns the status. */
lam_status lam__stack_fail(lam_ctx *ctx, const char *name);

#endif
