/* The arena: chunks that double up to a megabyte, so that small programs take little and large ones few calls. */
#include "lib/program/arena.h"

#include <string.h>

/* Bytes. Blocks begin on lines of the cache: vectors in them are aligned, and two workers' blocks share no line. */
enum { FIRST = 1 << 14, LARGEST = 1 << 20, STEP = 64 };

/* The head of a chunk takes its first step. */
typedef struct lam__arena_chunk {
    struct lam__arena_chunk *next;
    size_t bytes; /* of all of it */
} lam__arena_chunk;

/* What is left of the chunk before is lost, which is less than what is asked for now. */
static bool add_chunk(lam__arena *a, size_t bytes) {
    size_t size = a->chunks ? 2 * a->chunks->bytes : FIRST;
    if (size > LARGEST) size = LARGEST;
    if (size < bytes + STEP) size = bytes + STEP;
    if (a->most && a->bytes + size > a->most) return false;
    lam__arena_chunk *c = lam__alloc_get(&a->ctx->pool, size);
    if (!c) return false;
    a->bytes += size;
    *c = (lam__arena_chunk){a->chunks, size};
    a->chunks = c;
    a->used = STEP;
    return true;
}

/* `lacking` stays set, so that those who make a great deal can go on with NULLs for a while and ask once. A block of no
 * bytes is an address too, which the next one may have as well. */
void *lam__arena_get(lam__arena *a, size_t bytes) {
    bytes = (bytes + STEP - 1) / STEP * STEP;
    if ((!a->chunks || a->chunks->bytes - a->used < bytes) && !add_chunk(a, bytes)) {
        a->lacking = true;
        return NULL;
    }
    void *made = (char *)a->chunks + a->used;
    a->used += bytes;
    return made;
}

/* At least 64 items at first: most lists never grow. The old array is not given back, so that pointers into it hold. */
void *lam__arena_grow(lam__arena *a, void *array, int64_t used, int64_t *room, size_t item) {
    if (used < *room) return array;
    int64_t wider = *room ? 2 * *room : 64;
    void *fresh = lam__arena_get(a, (size_t)wider * item);
    if (!fresh) return NULL;
    if (used) memcpy(fresh, array, (size_t)used * item);
    *room = wider;
    return fresh;
}

/* May be called again: there are no chunks then. */
void lam__arena_close(lam__arena *a) {
    while (a->chunks) {
        lam__arena_chunk *next = a->chunks->next;
        lam__alloc_put(&a->ctx->pool, a->chunks, a->chunks->bytes);
        a->chunks = next;
    }
}
