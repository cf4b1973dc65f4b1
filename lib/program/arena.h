/* An arena: memory for what is made while a program is compiled, and given up at once. Its blocks come from the pool of
 * the context and count there. */
#ifndef LAM_PROGRAM_ARENA_H
#define LAM_PROGRAM_ARENA_H

#include "lib/base/context.h"

typedef struct lam__arena {
    lam_ctx *ctx;
    struct lam__arena_chunk *chunks; /* the newest first */
    size_t used;                     /* bytes of the newest one */
    size_t bytes, most;              /* in all, and the most that it may have; 0: no limit */
    bool lacking;                    /* memory was refused */
} lam__arena;

static inline void lam__arena_open(lam__arena *a, lam_ctx *ctx) {
    *a = (lam__arena){.ctx = ctx};
}

/* Not cleared, aligned to 64 bytes; NULL, with nothing recorded, where memory is lacking. */
void *lam__arena_get(lam__arena *a, size_t bytes);

/* Items of `item` bytes in an array that grows: room for one more, as many in use. The old array stays in the arena.
 * NULL without memory. */
void *lam__arena_grow(lam__arena *a, void *array, int64_t used, int64_t *room, size_t item);

void lam__arena_close(lam__arena *a);

#endif
