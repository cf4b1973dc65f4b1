/* Memory of one context: see alloc.h. Under AddressSanitizer nothing is pooled, so that it sees each block. */
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

/* NOTE [weak jemalloc]
 * A shared library that needs libjemalloc cannot be dlopen'ed into a program that does not (static TLS). So the
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

/* Four classes to each doubling above the small ones: at most a quarter of a block is waste. */
static size_t class_of(size_t bytes) {
    if (bytes <= LAM__ALLOC_SMALL) return bytes ? (bytes + LAM__ALLOC_STEP - 1) / LAM__ALLOC_STEP : 1;
    size_t base = LAM__ALLOC_SMALL, class = LAM__ALLOC_SMALL / LAM__ALLOC_STEP;
    for (; base * 2 < bytes; base *= 2) class += 4;
    return class + (bytes - base + base / 4 - 1) / (base / 4);
}

static size_t bytes_of(size_t class) {
    size_t small = LAM__ALLOC_SMALL / LAM__ALLOC_STEP;
    if (class <= small) return class * LAM__ALLOC_STEP;
    size_t base = (size_t)LAM__ALLOC_SMALL << ((class - small - 1) / 4);
    return base + ((class - small - 1) % 4 + 1) * (base / 4);
}

static size_t alignment_of(size_t rounded) {
    return rounded >= HUGE_PAGE ? HUGE_PAGE : LAM__ALLOC_STEP;
}

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

void lam__alloc_start(lam__pool *pool, const lam_allocator *allocator, size_t limit, bool plain) {
    memset(pool, 0, sizeof *pool);
    pool->allocator = *allocator;
    pool->limit = limit ? limit : SIZE_MAX;
    pool->plain = plain || CHECKED;
    pool->cache_limit = limit && limit < ((size_t)1 << 30) ? limit / 2 : (size_t)1 << 29;
}

void lam__alloc_trim(lam__pool *pool) {
    for (size_t class = LAM__ALLOC_SMALL / LAM__ALLOC_STEP + 1; class <= LAM__ALLOC_CLASSES; class ++) {
        lam__block *next;
        for (lam__block *b = pool->free[class]; b; b = next) {
            next = b->next;
            outside_put(pool, b, bytes_of(class));
        }
        pool->free[class] = NULL;
    }
    pool->cached = 0;
}

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

static void *large_get(lam__pool *pool, size_t class, size_t rounded) {
    lam__block *block = pool->free[class];
    if (block) {
        pool->free[class] = block->next;
        pool->cached -= rounded;
        return block;
    }
    void *fresh = outside_get(pool, rounded);
    if (fresh || !pool->cached) return fresh;
    lam__alloc_trim(pool);
    return outside_get(pool, rounded);
}

void *lam__alloc_slow(lam__pool *pool, size_t bytes) {
    if (bytes > (size_t)1 << 45) return NULL;
    size_t class = class_of(bytes), rounded = bytes_of(class);
    if (rounded > pool->limit || pool->bytes > pool->limit - rounded) return NULL;
    void *block;
    if (pool->plain) block = outside_get(pool, rounded);
    else if (rounded > LAM__ALLOC_SMALL) block = large_get(pool, class, rounded);
    else if ((block = pool->free[class])) pool->free[class] = ((lam__block *)block)->next;
    else block = slab_cut(pool, class, rounded);
    if (!block) return NULL;
    pool->bytes += rounded;
    if (pool->bytes > pool->peak) pool->peak = pool->bytes;
    return block;
}

void lam__alloc_slow_free(lam__pool *pool, void *block, size_t bytes) {
    size_t class = class_of(bytes), rounded = bytes_of(class);
    pool->bytes -= rounded;
    bool keep = !pool->plain && (rounded <= LAM__ALLOC_SMALL || pool->cached + rounded <= pool->cache_limit);
    if (!keep) {
        outside_put(pool, block, rounded);
        return;
    }
    if (rounded > LAM__ALLOC_SMALL) pool->cached += rounded;
    ((lam__block *)block)->next = pool->free[class];
    pool->free[class] = block;
}
