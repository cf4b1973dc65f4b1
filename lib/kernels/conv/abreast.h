/* Convolutions of many groups with few features each: groups lie side by side in vectors, so that these are full
 * however few features there are, however short lines are, and whatever the strides. Elements of x are turned that way
 * on their way into the cache, results on their way out. Convolutions that have a window for each feature are the usual
 * case, and their gradients. Examples lie side by side likewise, as groups that have the same weights, where there are
 * many of them with lines too short to fill vectors; and features of x, whose results are then summed, as in gradients
 * by the window: there these are examples. */
#ifndef LAM_KERNELS_CONV_ABREAST_H
#define LAM_KERNELS_CONV_ABREAST_H

#include "lib/kernels/conv/conv.h"

/* A phase (NOTE [phases]) with its tables; steps of its results, and offsets, are of elements in rooms. */
typedef struct lam__conv_abreast_phase {
    lam__conv_case shape;
    int64_t w;                     /* elements of w in front of its first weight */
    int64_t packed;                /* rows of weights in front of its own, for each feature of both sides */
    int64_t window;                /* elements of its window */
    const int64_t *at, *put, *row; /* of its places in the block of x, of their results, of rows */
} lam__conv_abreast_phase;

typedef struct lam__conv_abreast {
    lam__conv_case shape;
    lam_dtype dtype;
    const struct lam__conv_loops *loops;
    const char *x, *w;
    char *out, *packed;                /* the caller sets packed and phases */
    lam__conv_abreast_phase *phases;   /* those that meet something */
    int64_t count, rows;               /* of phases; of rows that each feature has in all of them */
    int64_t blocks, wide, panel;       /* of groups; features side by side; features of x together */
    int axis;                          /* which is cut: the first one that has places */
    int64_t chunk, chunks, period;     /* places of each phase along it, of an item; how many of these there are */
    int64_t move;                      /* elements of x from chunk to chunk */
    int64_t first[LAM__CONV_AXES];     /* of the block of x in x, for the first chunk: may lie in front of it */
    int64_t extent[LAM__CONV_AXES];    /* of that block */
    int64_t results;                   /* of a feature and a group in an item */
    int64_t items, packs;              /* pieces of work: blocks of groups, examples, chunks; of the packing before */
    double cost;                       /* of an item, in units of lam__team_run */
    bool gaps;                         /* some places meet nothing */
    bool same;                         /* groups are examples, and have the same weights */
    size_t packed_bytes, phases_bytes; /* multiples of 64 */
    size_t room;                       /* bytes of scratch for each thread, a multiple of 64: a block of x, */
    size_t room_lines, room_out;       /* from here on lines that get zeros around them, from here on results */
} lam__conv_abreast;

/* Whether it is done this way, and how. Neither depends on the number of threads. */
bool lam__conv_abreast_plan(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s,
                            const void *x, const void *w, void *out, lam__conv_abreast *plan);

/* The same with examples in the place of groups, for a convolution of one group. */
bool lam__conv_abreast_examples(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s,
                                const void *x, const void *w, void *out, lam__conv_abreast *plan);

/* The same with the features of x in the place of groups, one result [n, o, places...] for each of the plan's
 * shape.groups, one behind the other at `out`, whose sum is wanted; the caller may set plan->out later. */
bool lam__conv_abreast_summed(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s,
                              const void *x, const void *w, void *out, lam__conv_abreast *plan);

/* The phases and their tables, before all else. */
void lam__conv_abreast_list(lam__conv_abreast *plan);

/* Packs [begin, end) of plan->packs. */
void lam__conv_abreast_pack(const lam__conv_abreast *plan, int64_t begin, int64_t end);

/* Does [begin, end) of plan->items, when all is packed. */
void lam__conv_abreast_run(const lam__conv_abreast *plan, int64_t begin, int64_t end, void *room);

#endif
