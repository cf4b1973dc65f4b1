/* Memory that a kernel asks for while it runs (lam__scratch), given back when it has returned. Kernels know no context,
 * so they are lent a function that asks for them; it counts in the context like all memory. */
#ifndef LAM_PRIMITIVES_LENT_H
#define LAM_PRIMITIVES_LENT_H

#include "lib/base/context.h"

typedef struct lam__lent {
    lam_ctx *ctx;
    void *block[8];
    size_t bytes[8];
    int count;
} lam__lent;

/* A block for the kernel; NULL after recording that there is no memory. env is a lam__lent. */
void *lam__lent_get(void *env, size_t bytes);

/* Takes all blocks back. */
void lam__lent_return(lam__lent *lent);

#endif
