/* Scratch of kernels: see lent.h. */
#include "lib/primitives/lent.h"

/* A kernel asks for a few blocks at most; for one more than there are places it gets none, as if memory were
 * lacking. */
void *lam__lent_get(void *env, size_t bytes) {
    lam__lent *l = env;
    if (l->count == (int)(sizeof l->block / sizeof l->block[0])) return NULL;
    void *block = lam__alloc_get(&l->ctx->pool, bytes);
    if (!block) {
        lam__error_memory(l->ctx, bytes);
        return NULL;
    }
    l->block[l->count] = block;
    l->bytes[l->count++] = bytes;
    return block;
}

/* The pool takes each with the size that it was asked for. */
void lam__lent_return(lam__lent *l) {
    while (l->count--) lam__alloc_put(&l->ctx->pool, l->block[l->count], l->bytes[l->count]);
}
