/* Convolutions whose windows have one element, and the two transposes of those, where features are few: products of
 * matrices of which one is a batch of pictures, or every second or third element of their lines. A copy of these would
 * be more than the products, so they are read and written where they are, in pieces that fill a vector each, however
 * short lines are and however small pictures. */
#ifndef LAM_KERNELS_CONV_POINTS_H
#define LAM_KERNELS_CONV_POINTS_H

#include "lib/kernels/conv/conv.h"
#include "lib/kernels/conv/loops.h"

/* Pieces that differ in what they write: the last ones of their line, of their picture, or both. */
enum { LAM__CONV_POINTS_KINDS = 4 };

typedef struct lam__conv_points {
    lam__conv_case shape;
    lam_dtype dtype;
    const struct lam__conv_loops *loops;
    const char *x, *w;
    char *out;
    bool sums;                     /* places are summed up: the window has all of them */
    int64_t dims[4];               /* examples, planes, lines, places of a line */
    int64_t x_step[4], to_step[4]; /* of these, in elements; to: of the result, or of the cotangent */
    int64_t end[2];                /* lines of a plane and elements of a line that the result has */
    int64_t apart, side, gap;      /* of places in a line of x and in one of the result; of its lines */
    int64_t lines, places;         /* of a piece */
    int64_t across, down;          /* pieces of a line; of a plane */
    int last_kind, lowest_kind;    /* what is added for them */
    int64_t pictures;              /* of a group */
    int64_t together, cuts;        /* of a chunk: pictures, or chunks of a picture; one of them is 1 */
    int64_t chunks, each, parts;   /* of a group; of an item; items of a group */
    int64_t items;                 /* pieces of work: groups and their parts */
    double cost;                   /* of an item, in units of lam__team_run */
    size_t sum_bytes;              /* sums of an item */
    char *room;                    /* the caller sets it where places are summed up: sum_bytes for each item */
    lam__conv_pick pick[LAM__CONV_POINTS_KINDS];
} lam__conv_points;

/* Whether it is done this way, and how. Neither depends on the number of threads. No size of s is 0. */
bool lam__conv_points_plan(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                           const void *w, void *out, lam__conv_points *plan);

/* Does [begin, end) of plan->items. */
void lam__conv_points_run(const lam__conv_points *plan, int64_t begin, int64_t end);

/* Adds up the sums of all items, in their order, when they are done. */
void lam__conv_points_fold(const lam__conv_points *plan);

#endif
