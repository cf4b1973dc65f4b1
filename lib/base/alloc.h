/* Memory of one context. Small blocks come from slabs by size class, large ones are cached for reuse (fresh pages
 * cost ten times the work on them), every byte alive is counted, and a limit refuses before anything is touched. The
 * only file of the library that asks the outside for memory is alloc.c. */
#ifndef LAM_BASE_ALLOC_H
#define LAM_BASE_ALLOC_H

#include <lamina/context.h>

enum {
    LAM__ALLOC_STEP = 64,    /* bytes: small classes are multiples of it, and every block is so aligned */
    LAM__ALLOC_SMALL = 1024, /* bytes: largest block with a class of its own per step */
    LAM__ALLOC_CLASSES = 16 + 4 * 36
};
/* Bytes of a block. Rounded up, and with its header, it is a size_t where that has 32 bits, too. */
static const size_t LAM__ALLOC_MOST = (size_t)1 << (sizeof(size_t) < sizeof(int64_t) ? 30 : 45);

/* A block that waits in the free list of its class; the link lies in the block itself. */
typedef struct lam__block {
    struct lam__block *next;
} lam__block;

/* NOTE [lumps]
 * A large block that waits for reuse is described by a header apart, one step long, so that nothing of it is touched
 * until it is used. Whoever needs a header of his own beside the block (a buffer) asks for both at once: a lump, of
 * which the bytes behind these fields are his. */
typedef struct lam__lump {
    struct lam__lump *next; /* while it waits */
    void *data;
} lam__lump;

/* The head of a slab, in its first step. bytes: of the whole slab, with which it goes back. */
typedef struct lam__slab {
    struct lam__slab *next;
    size_t bytes;
} lam__slab;

/* free: by class, the block given back last in front, since it is the likeliest to be in the cache. plain: every block
 * is the allocator's own and nothing waits for reuse. */
typedef struct lam__pool {
    lam__block *free[LAM__ALLOC_SMALL / LAM__ALLOC_STEP + 1]; /* by class; class 0 is unused */
    lam__lump *lumps[LAM__ALLOC_CLASSES + 1];                 /* those of the larger classes */
    size_t bytes, peak, limit;                                /* bytes alive, their maximum, the most allowed */
    size_t cached, cache_limit;                               /* bytes of large blocks waiting for reuse */
    lam__slab *slabs;
    uint8_t doublings[LAM__ALLOC_SMALL / LAM__ALLOC_STEP + 1]; /* of the next slab, by class */
    lam_allocator allocator;
    bool plain;
} lam__pool;

/* allocator is copied; its env must live as long as the pool. limit: bytes, 0 for none. */
void lam__alloc_start(lam__pool *pool, const lam_allocator *allocator, size_t limit, bool plain);
void lam__alloc_stop(lam__pool *pool);
void lam__alloc_trim(lam__pool *pool);

/* The default allocator: jemalloc where the program has it, else the C library. */
lam_allocator lam__alloc_default(void);

/* What the inline functions leave: blocks of any size, and lists that are empty. bytes as asked for, in both. */
void *lam__alloc_slow(lam__pool *pool, size_t bytes);
void lam__alloc_slow_free(lam__pool *pool, void *block, size_t bytes);
/* A lump where none waits, and the end of one for which the cache has no room. bytes as asked for, without the
 * header. */
lam__lump *lam__alloc_lump_slow(lam__pool *pool, size_t bytes);
void lam__alloc_lump_slow_free(lam__pool *pool, lam__lump *lump, size_t bytes);

/* What a request of so many bytes counts for: those of its class. For messages; more than LAM__ALLOC_MOST are what they
 * are. */
size_t lam__alloc_counted(size_t bytes);

/* Four classes to each doubling above the small ones: at most a quarter of a block is waste. Blocks of more than 2^k
 * bytes, up to 2^(k+1), are of the classes behind lam__alloc_above(k). */
enum { LAM__ALLOC_SMALL_LOG2 = 10 };
_Static_assert(LAM__ALLOC_SMALL == 1 << LAM__ALLOC_SMALL_LOG2, "the first doubling begins where small blocks end");

static inline size_t lam__alloc_above(int k) {
    return LAM__ALLOC_SMALL / LAM__ALLOC_STEP + 4 * (size_t)(k - LAM__ALLOC_SMALL_LOG2);
}

/* The class of a block above the small ones, of at most LAM__ALLOC_MOST bytes. */
static inline size_t lam__alloc_large_class(size_t bytes, size_t *rounded) {
    int k = LAM__ALLOC_SMALL_LOG2;
#if defined(__GNUC__)
    k = 63 - __builtin_clzll((unsigned long long)bytes - 1);
#else
    while (((size_t)2 << k) < bytes) k++;
#endif
    const size_t quarters = ((bytes - 1 - ((size_t)1 << k)) >> (k - 2)) + 1;
    *rounded = ((size_t)1 << k) + (quarters << (k - 2));
    return lam__alloc_above(k) + quarters;
}

/* A small block from the free list of its class; NULL where that is empty or the limit refuses: lam__alloc_get then
 * knows more. */
static inline void *lam__alloc_try(lam__pool *pool, size_t bytes) {
    size_t class = (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP, alive = pool->bytes + class * LAM__ALLOC_STEP;
    lam__block *block = pool->free[class];
    if (!block || alive > pool->limit) return NULL;
    pool->free[class] = block->next;
    pool->bytes = alive;
    if (alive > pool->peak) pool->peak = alive;
    return block;
}

/* NULL when refused. The block is aligned to 64 bytes and not cleared. */
static inline void *lam__alloc_get(lam__pool *pool, size_t bytes) {
    void *block = bytes <= LAM__ALLOC_SMALL ? lam__alloc_try(pool, bytes) : NULL; /* class 0 is empty */
    return block ? block : lam__alloc_slow(pool, bytes);
}

/* A lump of more than LAM__ALLOC_SMALL bytes that waits for reuse; NULL where there is none or the limit refuses:
 * lam__alloc_lump then knows more. */
static inline lam__lump *lam__alloc_lump_try(lam__pool *pool, size_t bytes) {
    if (bytes > LAM__ALLOC_MOST) return NULL;
    size_t rounded, class = lam__alloc_large_class(bytes, &rounded), alive = pool->bytes + rounded + LAM__ALLOC_STEP;
    lam__lump *lump = pool->lumps[class];
    if (!lump || alive > pool->limit) return NULL;
    pool->lumps[class] = lump->next;
    pool->cached -= rounded;
    pool->bytes = alive;
    if (alive > pool->peak) pool->peak = alive;
    return lump;
}

/* More than LAM__ALLOC_SMALL bytes at lump->data, as lam__alloc_get gives them, and a header. NULL when refused. */
static inline lam__lump *lam__alloc_lump(lam__pool *pool, size_t bytes) {
    lam__lump *lump = lam__alloc_lump_try(pool, bytes);
    return lump ? lump : lam__alloc_lump_slow(pool, bytes);
}

/* The lump waits as it is, header and data, unless the cache is full. */
static inline void lam__alloc_lump_put(lam__pool *pool, lam__lump *lump, size_t bytes) {
    size_t rounded, class = lam__alloc_large_class(bytes, &rounded), cached = pool->cached + rounded;
    if (pool->plain || cached > pool->cache_limit) {
        lam__alloc_lump_slow_free(pool, lump, bytes);
        return;
    }
    lump->next = pool->lumps[class];
    pool->lumps[class] = lump;
    pool->cached = cached;
    pool->bytes -= rounded + LAM__ALLOC_STEP;
}

/* A block that its owner keeps for reuse does not count as alive. Taking it back may be refused by the limit. */
static inline void lam__alloc_set_aside(lam__pool *pool, size_t bytes) {
    pool->bytes -= (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP * LAM__ALLOC_STEP;
}

static inline bool lam__alloc_take_back(lam__pool *pool, size_t bytes) {
    size_t alive = pool->bytes + (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP * LAM__ALLOC_STEP;
    if (alive > pool->limit) return false;
    pool->bytes = alive;
    if (alive > pool->peak) pool->peak = alive;
    return true;
}

/* bytes as asked for at lam__alloc_get. */
static inline void lam__alloc_put(lam__pool *pool, void *block, size_t bytes) {
    size_t class = bytes ? (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP : 1;
    if (class <= LAM__ALLOC_SMALL / LAM__ALLOC_STEP && !pool->plain) {
        lam__block *b = (lam__block *)block;
        b->next = pool->free[class];
        pool->free[class] = b;
        pool->bytes -= class * LAM__ALLOC_STEP;
        return;
    }
    lam__alloc_slow_free(pool, block, bytes);
}

/* Gives up a block that was set aside. */
static inline void lam__alloc_put_aside(lam__pool *pool, void *block, size_t bytes) {
    pool->bytes += (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP * LAM__ALLOC_STEP;
    lam__alloc_put(pool, block, bytes);
}

#endif
