/* Sets of the numbers 0..n-1 under short names, for who has many of them and most are small or the same. A set never
 * changes, equal sets have the same name, and all of them go together. After a request of memory has been refused
 * `status` says so, and names that are given mean nothing. */
#ifndef LAM_TRANSFORMS_SETS_H
#define LAM_TRANSFORMS_SETS_H

#include "lib/base/context.h"

/* What the last unions of two sets were, at a place that follows from their names: newer ones push out older ones. */
typedef struct lam__sets_pair {
    int64_t a, b, both;
} lam__sets_pair;

enum { LAM__SETS_PAIRS = 1 << 12 };

/* The set with the name k holds items[ends[k - 1]] up to items[ends[k]], in ascending order. Name 0 is the empty set,
 * name 1 + i the set of i alone. */
typedef struct lam__sets {
    lam_ctx *ctx;
    lam_status status;
    int64_t n;
    int32_t *items;
    int64_t items_room;
    int64_t *ends;
    int64_t count, ends_room; /* of sets */
    int64_t *table;           /* names by what the sets hold, 0: free; a power of 2 of places */
    int64_t places;
    lam__sets_pair *pairs;
    int32_t *picked; /* of the union that is being made: its items, and for each number whether it is among them */
    int64_t picks;
    uint8_t *marks;
} lam__sets;

/* With the empty set and the sets of one number. `n` is at most INT32_MAX. */
lam_status lam__sets_start(lam__sets *s, lam_ctx *ctx, int64_t n);
void lam__sets_stop(lam__sets *s);

static inline int64_t lam__sets_size(const lam__sets *s, int64_t name) {
    return name ? s->ends[name] - s->ends[name - 1] : 0;
}

static inline const int32_t *lam__sets_items(const lam__sets *s, int64_t name) {
    return s->items + (name ? s->ends[name - 1] : 0);
}

/* The union of two. */
int64_t lam__sets_union(lam__sets *s, int64_t a, int64_t b);

/* The union of many: add each of them, then take it. One at a time is made. */
void lam__sets_add(lam__sets *s, int64_t name);
int64_t lam__sets_take(lam__sets *s);

#endif
