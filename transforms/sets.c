/* Sets of numbers under names: see sets.h. All sets lie one after the other; a hash of what they hold finds the name of
 * one that is there already, so that an array of a million equal sets costs one. */
#include "transforms/sets.h"

#include "lib/base/alloc.h"
#include "lib/base/error.h"

#include <stdlib.h>
#include <string.h>

/* More room, `bytes` of it, of which the first `used` are what there was. NULL where that is refused; the old block is
 * whole then. `status` is set as soon as one request is refused, and from then on names mean nothing. */
static void *widened(lam__sets *s, void *block, size_t used, size_t old, size_t bytes) {
    void *wider = lam__alloc_get(&s->ctx->pool, bytes);
    if (!wider) {
        s->status = lam__error_memory(s->ctx, bytes);
        return NULL;
    }
    if (used) memcpy(wider, block, used);
    if (block) lam__alloc_put(&s->ctx->pool, block, old);
    return wider;
}

/* Room for so many items behind those there are, which may move: pointers to items do not outlive this. At least twice
 * what there was, so that all copies together are no more than what is there in the end. */
static bool items_fit(lam__sets *s, int64_t more) {
    const int64_t used = s->ends[s->count - 1], item = sizeof *s->items;
    if (used + more <= s->items_room) return true;
    const int64_t room = 2 * s->items_room > used + more ? 2 * s->items_room : used + more;
    int32_t *wider = widened(s, s->items, (size_t)(used * item), (size_t)(s->items_room * item), (size_t)(room * item));
    if (!wider) return false;
    s->items = wider;
    s->items_room = room;
    return true;
}

/* Room for one more end. Room is 2 n + 64 at first, so it is never 0. */
static bool ends_fit(lam__sets *s) {
    const size_t end = sizeof *s->ends;
    if (s->count < s->ends_room) return true;
    int64_t *wider =
        widened(s, s->ends, (size_t)s->count * end, (size_t)s->ends_room * end, 2 * (size_t)s->ends_room * end);
    if (!wider) return false;
    s->ends = wider;
    s->ends_room *= 2;
    return true;
}

/* FNV-1a over the items. Low bits choose the place, so high ones are brought down at the end. */
static uint64_t hash(const int32_t *items, int64_t size) {
    uint64_t h = 14695981039346656037u;
    for (int64_t i = 0; i < size; i++) h = (h ^ (uint32_t)items[i]) * 1099511628211u;
    return h ^ h >> 29;
}

/* Where in the table a set like this stands, or would stand. Name 0 is the empty set, which is never looked for, so a 0
 * in the table is a free place. */
static int64_t place_of(const lam__sets *s, const int32_t *items, int64_t size) {
    const int64_t mask = s->places - 1;
    int64_t at = (int64_t)(hash(items, size) & (uint64_t)mask);
    for (; s->table[at]; at = (at + 1) & mask)
        if (lam__sets_size(s, s->table[at]) == size &&
            !memcmp(lam__sets_items(s, s->table[at]), items, (size_t)size * sizeof *items))
            break;
    return at;
}

/* Twice as many places as there are sets are kept at least. Names are put anew from the sets themselves: no hash is
 * kept. */
static bool table_fits(lam__sets *s) {
    if (2 * (s->count + 1) <= s->places) return true;
    const size_t name = sizeof *s->table, old = (size_t)s->places * name;
    int64_t *wider = widened(s, s->table, 0, old, 2 * old);
    if (!wider) return false;
    s->table = wider;
    s->places *= 2;
    memset(wider, 0, 2 * old);
    for (int64_t k = 1; k < s->count; k++) wider[place_of(s, lam__sets_items(s, k), lam__sets_size(s, k))] = k;
    return true;
}

/* The name of a set that lies behind all others, in room that items_fit has made: a new one, unless it is there. Where
 * the set is known what lies behind all others is simply forgotten, as the end has not moved. 0 after a failure,
 * too. */
static int64_t name_of_last(lam__sets *s, int64_t size) {
    if (size == 0) return 0;
    if (!ends_fit(s) || !table_fits(s)) return 0;
    const int32_t *items = s->items + s->ends[s->count - 1];
    const int64_t at = place_of(s, items, size);
    if (s->table[at]) return s->table[at];
    s->ends[s->count] = s->ends[s->count - 1] + size;
    return s->table[at] = s->count++;
}

/* After a failure what is there is given back by lam__sets_stop, as ever: blocks that were not got are NULL. n sets of
 * one number each are there from the beginning, so 1 + i is a name without being looked for. One byte more keeps
 * requests from being empty. */
lam_status lam__sets_start(lam__sets *s, lam_ctx *ctx, int64_t n) {
    *s = (lam__sets){.ctx = ctx, .n = n, .items_room = 2 * n + 64, .ends_room = 2 * n + 64, .places = 64};
    while (s->places < 4 * n) s->places *= 2;
    const size_t pairs = LAM__SETS_PAIRS * sizeof *s->pairs;
    if (!(s->items = widened(s, NULL, 0, 0, (size_t)s->items_room * sizeof *s->items)) ||
        !(s->ends = widened(s, NULL, 0, 0, (size_t)s->ends_room * sizeof *s->ends)) ||
        !(s->table = widened(s, NULL, 0, 0, (size_t)s->places * sizeof *s->table)) ||
        !(s->pairs = widened(s, NULL, 0, 0, pairs)) ||
        !(s->picked = widened(s, NULL, 0, 0, (size_t)n * sizeof *s->picked + 1)) ||
        !(s->marks = widened(s, NULL, 0, 0, (size_t)n + 1)))
        return s->status;
    memset(s->table, 0, (size_t)s->places * sizeof *s->table);
    memset(s->pairs, 0, pairs);
    memset(s->marks, 0, (size_t)n + 1);
    s->ends[0] = 0;
    s->count = 1;
    for (int64_t i = 0; i < n; i++) {
        s->items[i] = (int32_t)i;
        name_of_last(s, 1);
    }
    return LAM_OK;
}

/* By the room, which is as much as was asked for. */
static void give_back(lam__sets *s, void *block, size_t bytes) {
    if (block) lam__alloc_put(&s->ctx->pool, block, bytes);
}

void lam__sets_stop(lam__sets *s) {
    give_back(s, s->items, (size_t)s->items_room * sizeof *s->items);
    give_back(s, s->ends, (size_t)s->ends_room * sizeof *s->ends);
    give_back(s, s->table, (size_t)s->places * sizeof *s->table);
    give_back(s, s->pairs, LAM__SETS_PAIRS * sizeof *s->pairs);
    give_back(s, s->picked, (size_t)s->n * sizeof *s->picked + 1);
    give_back(s, s->marks, (size_t)s->n + 1);
}

_Static_assert(LAM__SETS_PAIRS == 1 << 12, "the upper 12 bits of a product choose a place");

/* Both are in ascending order, and so is what they are merged to. Returns its size. What both have is taken once: both
 * go on where they are equal. */
static int64_t merge(const int32_t *a, int64_t m, const int32_t *b, int64_t n, int32_t *out) {
    int64_t i = 0, j = 0, size = 0;
    while (i < m && j < n) {
        const int32_t x = a[i], y = b[j];
        out[size++] = x < y ? x : y;
        i += x <= y;
        j += y <= x;
    }
    while (i < m) out[size++] = a[i++];
    while (j < n) out[size++] = b[j++];
    return size;
}

/* An array asks for the same few unions again and again, so the last ones are looked up before any set is read. A new
 * one is merged where it would lie, and forgotten there if it is known. Two products mix both names into the upper
 * bits; a pair in the other order has another place, and is looked up by itself. */
int64_t lam__sets_union(lam__sets *s, int64_t a, int64_t b) {
    if (a == b || !b) return a;
    if (!a) return b;
    if (s->status != LAM_OK) return 0;
    /* A place that was never filled has two names of 0, which do not come as far as here. */
    lam__sets_pair *known = &s->pairs[((uint64_t)a * 0x9e3779b97f4a7c15u + (uint64_t)b) * 0x9e3779b97f4a7c15u >> 52];
    if (known->a == a && known->b == b) return known->both;
    const int64_t m = lam__sets_size(s, a), n = lam__sets_size(s, b);
    if (!items_fit(s, m + n)) return 0;
    const int64_t size = merge(lam__sets_items(s, a), m, lam__sets_items(s, b), n, s->items + s->ends[s->count - 1]);
    const int64_t both = name_of_last(s, size);
    *known = (lam__sets_pair){a, b, both};
    return both;
}

/* Each number once, however many of the sets have it. Pointers to items hold here, since nothing is made before
 * lam__sets_take. */
void lam__sets_add(lam__sets *s, int64_t name) {
    const int32_t *items = lam__sets_items(s, name);
    const int64_t size = lam__sets_size(s, name);
    for (int64_t i = 0; i < size; i++) {
        if (s->marks[items[i]]) continue;
        s->marks[items[i]] = 1;
        s->picked[s->picks++] = items[i];
    }
}

static int ascending(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Of many items the marks are read in their order, which takes less than to sort them. From a sixteenth of all numbers
 * on. Marks are cleared by what was picked, so a small set costs nothing for the others. The union that is being made
 * ends here, also after a failure. */
int64_t lam__sets_take(lam__sets *s) {
    const int64_t size = s->picks;
    s->picks = 0;
    int64_t found = 0;
    if (size > s->n / 16)
        for (int64_t i = 0; found < size; i++)
            if (s->marks[i]) s->picked[found++] = (int32_t)i;
    /* Where the marks were read nothing is left to sort. */
    if (!found && size) qsort(s->picked, (size_t)size, sizeof *s->picked, ascending);
    for (int64_t i = 0; i < size; i++) s->marks[s->picked[i]] = 0;
    if (s->status != LAM_OK || !items_fit(s, size)) return 0;
    memcpy(s->items + s->ends[s->count - 1], s->picked, (size_t)size * sizeof *s->picked);
    return name_of_last(s, size);
}
