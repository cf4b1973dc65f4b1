/* The C stack: whether there is room for one more call of user code. */
#ifndef LAM_BASE_STACK_H
#define LAM_BASE_STACK_H

#include "lib/base/context.h"

/* Asked before user code is called, with ctx->frame as it is outside: true when the call must be refused. */
bool lam__stack_is_short(lam_ctx *ctx);

/* Records that. `name` is the function that is not called. Returns the status. */
lam_status lam__stack_fail(lam_ctx *ctx, const char *name);

#endif
