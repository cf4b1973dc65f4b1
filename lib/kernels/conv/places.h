/* Convolutions of few places, each of which meets many elements: gradients by the window. Vectors run along lines of
 * what takes the part of the window, which is read where it is; a part of x is copied once for all places and features,
 * and each place has a vector of sums. */
#ifndef LAM_KERNELS_CONV_PLACES_H
#define LAM_KERNELS_CONV_PLACES_H

#include "lib/kernels/conv/pad.h"

typedef struct lam__conv_places {
    lam__conv_case shape;
    lam_dtype dtype;
    const struct lam__conv_loops *loops;
    const char *x, *w;
    char *out;
    int64_t *at;             /* the caller sets it: where places are in the block, plan->at_bytes bytes */
    lam__conv_pad pad;       /* of one feature of x */
    int64_t places;          /* of a feature */
    int cut;                 /* the axis of the window that is cut: the first one that is not 1 */
    int64_t chunk, chunks;   /* places of the window along it that are done together; how many of these there are */
    int64_t items;           /* pieces of work: groups, examples */
    double cost;             /* of an item, in units of lam__team_run */
    size_t at_bytes;         /* a multiple of 64 */
    size_t room, room_block; /* bytes of scratch for each thread, a multiple of 64: sums, and from here on the block */
} lam__conv_places;

/* Whether it is done this way, and how. Neither depends on the number of threads. No size of s is 0. */
bool lam__conv_places_plan(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                           const void *w, void *out, lam__conv_places *plan);

/* The table of places, before all else. */
void lam__conv_places_list(lam__conv_places *plan);

/* Does [begin, end) of plan->items. */
void lam__conv_places_run(const lam__conv_places *plan, int64_t begin, int64_t end, void *room);

#endif
