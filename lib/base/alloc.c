/* Memory of one context: see alloc.h. Three kinds of blocks, by size: up to 1 KiB from slabs that are cut into one
 * class and are not given back before the context ends; above that from outside one by one, four classes to a doubling,
 * and kept for the next request of their class up to cache_limit, described by headers apart (NOTE [lumps]); from 2 MiB
 * on the same, aligned for huge pages. No block says how large it is: whoever frees it says how many bytes were asked
 * for. Under AddressSanitizer nothing is pooled, so that it sees each block. */
#define _DEFAULT_SOURCE
#include "lib/base/alloc.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED 1
#endif
#endif
#ifndef CHECKED
#define CHECKED 0
#endif

enum { SLAB = 64 * 1024, SLAB_DOUBLINGS = 5, HUGE_PAGE = 2 * 1024 * 1024 }; /* the largest slab is a huge page */
_Static_assert(SLAB << SLAB_DOUBLINGS == HUGE_PAGE, "the largest slab is a huge page");

/* A shared library that needs libjemalloc cannot be dlopen'ed into a program that does not (static TLS). So the
 * library only looks whether the program brought jemalloc along. */
#if defined(__GNUC__)
extern void *mallocx(size_t bytes, int flags) __attribute__((weak));
extern void sdallocx(void *block, size_t bytes, int flags) __attribute__((weak));
#else
static void *(*const mallocx)(size_t, int) = NULL;
static void (*const sdallocx)(void *, size_t, int) = NULL;
#endif

static int log2_of(size_t alignment) {
    int bits = 0;
    while (alignment > 1) alignment >>= 1, bits++;
    return bits; /* jemalloc's flags begin with the binary logarithm of the alignment */
}

static void *allocate_jemalloc(void *env, size_t bytes, size_t alignment) {
    (void)env;
    return mallocx(bytes, log2_of(alignment));
}

static void release_jemalloc(void *env, void *block, size_t bytes, size_t alignment) {
    (void)env;
    sdallocx(block, bytes, log2_of(alignment));
}

/* C11 wants a size that is a multiple of the alignment. Rounding one near SIZE_MAX up wraps around, which is
 * refused. */
static void *allocate_libc(void *env, size_t bytes, size_t alignment) {
    (void)env;
    size_t whole = (bytes + alignment - 1) & ~(alignment - 1);
    return whole < bytes ? NULL : aligned_alloc(alignment, whole);
}

static void release_libc(void *env, void *block, size_t bytes, size_t alignment) {
    (void)env, (void)bytes, (void)alignment;
    free(block);
}

lam_allocator lam__alloc_default(void) {
    lam_allocator jemalloc = {allocate_jemalloc, release_jemalloc, NULL}, libc = {allocate_libc, release_libc, NULL};
    return mallocx && sdallocx ? jemalloc : libc;
}

static inline size_t class_of(size_t bytes, size_t *rounded) {
    if (bytes > LAM__ALLOC_SMALL) return lam__alloc_large_class(bytes, rounded);
    const size_t class = bytes ? (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP : 1;
    *rounded = class * LAM__ALLOC_STEP;
    return class;
}

size_t lam__alloc_counted(size_t bytes) {
    size_t rounded = bytes;
    if (bytes <= LAM__ALLOC_MOST) class_of(bytes, &rounded);
    return rounded;
}

/* Bytes of the blocks of a class, the reverse of class_of: for blocks that wait and of which nobody knows the size. */
static size_t bytes_of(size_t class) {
    const size_t small = LAM__ALLOC_SMALL / LAM__ALLOC_STEP;
    if (class <= small) return class * LAM__ALLOC_STEP;
    const size_t k = LAM__ALLOC_SMALL_LOG2 + (class - small - 1) / 4, quarters = (class - small - 1) % 4 + 1;
    return ((size_t)1 << k) + (quarters << (k - 2));
}

/* Depends on the rounded size alone, so that a block is released with the alignment that it was allocated with. */
static size_t alignment_of(size_t rounded) {
    return rounded >= HUGE_PAGE ? HUGE_PAGE : LAM__ALLOC_STEP;
}

/* The one place where the pool asks the allocator. Large blocks are meant for huge pages: fresh memory that is written
 * once costs more in page faults than in the writing. */
static void *outside_get(lam__pool *pool, size_t bytes) {
    void *block = pool->allocator.allocate(pool->allocator.env, bytes, alignment_of(bytes));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (block && bytes >= HUGE_PAGE) madvise(block, bytes, MADV_HUGEPAGE); /* a quarter of the page faults' cost */
#endif
    return block;
}

static void outside_put(lam__pool *pool, void *block, size_t bytes) {
    pool->allocator.release(pool->allocator.env, block, bytes, alignment_of(bytes));
}

/* A limit of 0 is none. The cache holds at most half of a limit below 1 GiB, otherwise 512 MiB: what waits there is not
 * alive, so the limit does not count it, and the process should not be much larger than the limit says. */
void lam__alloc_start(lam__pool *pool, const lam_allocator *allocator, size_t limit, bool plain) {
    memset(pool, 0, sizeof *pool);
    pool->allocator = *allocator;
    pool->limit = limit ? limit : SIZE_MAX;
    pool->plain = plain || CHECKED;
    pool->cache_limit = limit && limit < ((size_t)1 << 30) ? limit / 2 : (size_t)1 << 29;
}

/* A step that nobody uses: a header whose lump has gone. */
static void put_header(lam__pool *pool, void *header) {
    lam__block *b = (lam__block *)header;
    b->next = pool->free[1];
    pool->free[1] = b;
}

/* Gives all large blocks that wait back to the allocator. Slabs stay, since some of their blocks may be alive. */
void lam__alloc_trim(lam__pool *pool) {
    for (size_t class = LAM__ALLOC_SMALL / LAM__ALLOC_STEP + 1; class <= LAM__ALLOC_CLASSES; class ++) {
        lam__lump *next;
        for (lam__lump *lump = pool->lumps[class]; lump; lump = next) {
            next = lump->next;
            outside_put(pool, lump->data, bytes_of(class));
            put_header(pool, lump);
        }
        pool->lumps[class] = NULL;
    }
    pool->cached = 0;
}

/* Slabs go with all that lies in them, alive or not: by now the rooms have given up what they hold. */
void lam__alloc_stop(lam__pool *pool) {
    lam__alloc_trim(pool);
    lam__slab *next;
    for (lam__slab *slab = pool->slabs; slab; slab = next) {
        next = slab->next;
        outside_put(pool, slab, slab->bytes);
    }
    pool->slabs = NULL;
}

/* Cuts a new slab into blocks of one class; its first step is its own. Each slab of a class is twice as large as the
 * one before: what needs many blocks gets them on huge pages, where a long tape is a fifth faster. */
static void *slab_cut(lam__pool *pool, size_t class, size_t rounded) {
    size_t bytes = (size_t)SLAB << pool->doublings[class];
    char *start = outside_get(pool, bytes);
    if (!start && bytes > SLAB) start = outside_get(pool, bytes = SLAB);
    if (!start) return NULL;
    if (pool->doublings[class] < SLAB_DOUBLINGS) pool->doublings[class]++;
    lam__slab *slab = (lam__slab *)(void *)start;
    *slab = (lam__slab){pool->slabs, bytes};
    pool->slabs = slab;
    for (size_t at = LAM__ALLOC_STEP + rounded; at + rounded <= bytes; at += rounded) {
        lam__block *b = (lam__block *)(void *)(start + at);
        b->next = pool->free[class];
        pool->free[class] = b;
    }
    return start + LAM__ALLOC_STEP;
}

/* A large block from outside, if need be in place of those that wait for reuse: what is refused with a full cache may
 * be there without it, and to fail while memory lies idle would be a lie. */
static void *large_fresh(lam__pool *pool, size_t rounded) {
    void *fresh = outside_get(pool, rounded);
    if (fresh || !pool->cached) return fresh;
    lam__alloc_trim(pool);
    return outside_get(pool, rounded);
}

/* A large block that waits, or a fresh one. Who wants no header of his own leaves it to the next that needs one. */
static void *large_get(lam__pool *pool, size_t class, size_t rounded) {
    lam__lump *lump = pool->lumps[class];
    if (!lump) return large_fresh(pool, rounded);
    pool->lumps[class] = lump->next;
    pool->cached -= rounded;
    put_header(pool, lump);
    return lump->data;
}

/* From the free list of the class, which a new slab fills where it is empty. Counts nothing: headers of what waits are
 * not alive. */
static void *small_get(lam__pool *pool, size_t class, size_t rounded) {
    lam__block *block = pool->free[class];
    if (!block) return slab_cut(pool, class, rounded);
    pool->free[class] = block->next;
    return block;
}

/* Any request, the pool without free lists too. The limit is compared without a sum that could wrap around. Requests of
 * more than LAM__ALLOC_MOST bytes have no class and are refused before sizes near SIZE_MAX are rounded up. */
void *lam__alloc_slow(lam__pool *pool, size_t bytes) {
    if (bytes > LAM__ALLOC_MOST) return NULL;
    size_t rounded, class = class_of(bytes, &rounded);
    if (rounded > pool->limit || pool->bytes > pool->limit - rounded) return NULL;
    void *block = pool->plain                  ? outside_get(pool, rounded)
                  : rounded > LAM__ALLOC_SMALL ? large_get(pool, class, rounded)
                                               : small_get(pool, class, rounded);
    if (!block) return NULL;
    pool->bytes += rounded;
    if (pool->bytes > pool->peak) pool->peak = pool->bytes;
    return block;
}

/* A large block waits for reuse as long as the cache has room for it; otherwise it goes back at once, rather than
 * another one that waits, since to choose that one would take a list in order of age. False: no room, or no header. */
static bool large_put(lam__pool *pool, void *block, size_t class, size_t rounded) {
    lam__lump *lump = pool->cached + rounded > pool->cache_limit ? NULL : small_get(pool, 1, LAM__ALLOC_STEP);
    if (!lump) return false;
    *lump = (lam__lump){pool->lumps[class], block};
    pool->lumps[class] = lump;
    pool->cached += rounded;
    return true;
}

/* Small blocks come here from a plain pool only. To give memory back never fails: without a header for a large block it
 * goes to the allocator at once. */
void lam__alloc_slow_free(lam__pool *pool, void *block, size_t bytes) {
    size_t rounded, class = class_of(bytes, &rounded);
    pool->bytes -= rounded;
    if (pool->plain || !large_put(pool, block, class, rounded)) outside_put(pool, block, rounded);
}

/* Data first, since they are what is mostly refused. Both or neither. */
lam__lump *lam__alloc_lump_slow(lam__pool *pool, size_t bytes) {
    void *data = lam__alloc_slow(pool, bytes);
    lam__lump *lump = data ? lam__alloc_get(pool, LAM__ALLOC_STEP) : NULL;
    if (lump) lump->data = data;
    else if (data) lam__alloc_slow_free(pool, data, bytes);
    return lump;
}

void lam__alloc_lump_slow_free(lam__pool *pool, lam__lump *lump, size_t bytes) {
    lam__alloc_slow_free(pool, lump->data, bytes);
    lam__alloc_put(pool, lump, LAM__ALLOC_STEP);
}
