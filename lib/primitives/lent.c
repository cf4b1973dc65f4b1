/* Scratch of kernels: see lent.h. */
#include "lib/primitives/lent.h"

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

void lam__lent_return(lam__lent *l) {
    while (l->count--) lam__alloc_put(&l->ctx->pool, l->block[l->count], l->bytes[l->count]);
}
