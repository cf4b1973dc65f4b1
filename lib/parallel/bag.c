/* Bags of rows shared among threads: each takes some of the bags. What is spread over rows has one writer. */
#include "lib/parallel/bag.h"

#include "lib/kernels/item.h"

#include <stdatomic.h>

/* A call as the workers see it; outside: some index names no row, which any worker may find. */
typedef struct sharing {
    lam__bag_op op;
    lam_dtype dtype;
    lam__bag bag;
    atomic_bool outside;
} sharing;

/* Bags are rows of y, of the weights and of the index; x is read by all. */
static void some_bags(void *env, int64_t begin, int64_t end, int worker) {
    sharing *s = env;
    const int64_t item = lam__item_bytes(s->dtype);
    lam__bag part = s->bag;
    (void)worker;
    /* The table x is that of all. */
    part.bags = end - begin;
    part.index += begin * part.terms;
    part.y = (char *)part.y + begin * part.y_row * item;
    part.w = (char *)part.w + begin * part.w_bag * item;
    if (!lam__kernels_bag(s->op, s->dtype, &part)) atomic_store(&s->outside, true);
}

/* What spreads adds to rows that several bags may share, in their order: that is left to one thread. An entry costs a
 * quarter of its columns and what finding its row takes. */
bool lam__parallel_bag(lam__team *team, lam__bag_op op, lam_dtype dtype, const lam__bag *bag) {
    sharing s = {.op = op, .dtype = dtype, .bag = *bag};
    const double each = (double)bag->terms * ((double)bag->width / 4 + 4) + 4;
    lam__team_run(op == LAM__BAG_SPREAD ? NULL : team, bag->bags, each, some_bags, &s);
    return !atomic_load(&s.outside);
}
