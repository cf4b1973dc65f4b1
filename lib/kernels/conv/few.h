/* Convolutions whose places are sums of few products: those of few features, with small windows, and their gradients by
 * x. There, what is done besides the products decides. So a part of x is copied once with its zeros around it, for all
 * phases of a dilated operand, and sums are written straight into lines of the result, those of two or three phases of
 * the last axis woven. */
#ifndef LAM_KERNELS_CONV_FEW_H
#define LAM_KERNELS_CONV_FEW_H

#include "lib/kernels/conv/pad.h"

enum { LAM__CONV_FEW_PHASES = 9, LAM__CONV_FEW_TAPS = 32 };

/* A place of the window along one axis: the phase whose places meet it, and the element of the block that the first of
 * these meets. */
typedef struct lam__conv_tap {
    int64_t phase, at;
} lam__conv_tap;

/* An axis: places of a phase are `period` apart, and meet elements that are `stride` apart. */
typedef struct lam__conv_few_axis {
    lam__conv_tap tap[LAM__CONV_FEW_TAPS];
    int64_t period, stride, window;
    int64_t first, extent; /* of the block, for the first chunk: the first may lie in front of x */
} lam__conv_few_axis;

typedef struct lam__conv_few {
    lam__conv_case shape;
    lam_dtype dtype;
    const struct lam__conv_loops *loops;
    const char *x, *w;
    char *out, *packed; /* the caller sets packed: weights, and from `tables` on offsets */
    lam__conv_few_axis axis[LAM__CONV_AXES];
    int64_t wide;          /* features side by side in packed weights: [groups, o / wide, terms, wide] */
    int side;              /* phases of the last axis: 1, or 2 or 3 that are woven */
    int cut;               /* the axis that is cut: the first one that has places */
    int64_t chunk, chunks; /* places of each phase along it, of an item; how many of these there are */
    lam__conv_pad pad;     /* of a feature in the block, which has those of all features, one behind the other */
    int64_t terms, phases; /* of a feature: products, in all phases; phases, the last axis fastest */
    int64_t begin[LAM__CONV_FEW_PHASES + 1]; /* the first term of each phase */
    int64_t items;                           /* pieces of work: groups, examples, chunks */
    double cost;                             /* of an item, in units of lam__team_run */
    size_t tables, packed_bytes;             /* multiples of 64 */
    size_t room;                             /* bytes of scratch for each thread, a multiple of 64: a block of x */
} lam__conv_few;

/* Whether it is done this way, and how. Neither depends on the number of threads. No size of s is 0. */
bool lam__conv_few_plan(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, const void *x,
                        const void *w, void *out, lam__conv_few *plan);

/* Offsets and weights in the order of the sums, before all else. */
void lam__conv_few_pack(lam__conv_few *plan);

/* Does [begin, end) of plan->items. */
void lam__conv_few_run(const lam__conv_few *plan, int64_t begin, int64_t end, void *room);

#endif
