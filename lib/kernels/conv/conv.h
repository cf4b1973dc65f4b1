/* Convolution without a matrix of patches. Elements of x that a part of the result meets are found by two tables, at[]
 * for its places and row[] for places of the window: element (c, k) meets place t at x[at[t] + row[c, k]]. Where that
 * reaches outside of x, a part of it is copied with its zeros around it first (block.c). A plan says how the result is
 * cut into items, which any thread may do in any order, and the contraction into panels, which are added in their order
 * whatever the cuts; so bits depend on the operands alone. This is the way that always fits. Other files here have
 * faster ones for some sizes: NOTE [ways] in lib/parallel/conv.c. */
#ifndef LAM_KERNELS_CONV_H
#define LAM_KERNELS_CONV_H

#include "lib/kernels/kernels.h"

enum { LAM__CONV_AXES = 3 };

/* As lam__window_axis, with the size of the operand. */
typedef struct lam__conv_axis {
    int64_t size, window, stride, low, gap, spread, out;
} lam__conv_axis;

/* out[groups, n, o, places...] = the sum over c and the window of x[groups, n, c, ...] w[groups, o, c, window...]. */
typedef struct lam__conv_case {
    int64_t groups, n, c, o;
    lam__conv_axis axis[LAM__CONV_AXES]; /* axes that are not there have one element in all three operands */
    int64_t x_step[6];                   /* elements: groups, n, c and the axes of x */
    int64_t w_step[6];                   /* groups, o, c and the window */
    int64_t out_step[6];                 /* groups, n, o and the places */
} lam__conv_case;

/* A range of each of four axes: of n and the places, or of c and the window. */
typedef struct lam__conv_box {
    int64_t start[4], dims[4];
} lam__conv_box;

/* What boxes divide: all of it, sizes of boxes (the last ones may be smaller), how many there are. */
typedef struct lam__conv_grid {
    int64_t dims[4], size[4], count[4], boxes, volume; /* volume: elements of a box */
} lam__conv_grid;

typedef struct lam__conv {
    lam__conv_case shape;
    lam_dtype dtype;
    const char *x, *w;
    char *out, *packed;
    const struct lam__conv_loops *loops;
    int way;                   /* who lies side by side in vectors: block.h */
    bool in_place;             /* x needs no copies */
    bool direct;               /* loops write the result where it belongs, by lines */
    bool by_lines;             /* several lines of one feature go together */
    bool own;                  /* an item packs its weights: NOTE [weights that are used once] in plan.c */
    lam__conv_grid places;     /* n and the places */
    lam__conv_grid rows;       /* c and the window */
    int64_t features, chunks;  /* of an item; how many of these there are */
    int64_t wide;              /* features side by side in packed weights */
    int64_t run;               /* elements of a packed line of the window, where it is taken by lines */
    int64_t items, packs;      /* pieces of work; of the packing before */
    double cost;               /* of an item, in units of lam__team_run */
    size_t packed_bytes;       /* for the weights, before anything is run; aligned to 64 */
    size_t room;               /* bytes of scratch for each thread, aligned to 64: a block of x, */
    size_t room_sums, room_at; /* from here on sums, from here on tables, */
    size_t room_own;           /* from here on weights of an item */
} lam__conv;

/* The loops for this machine. */
const struct lam__conv_loops *lam__conv_loops_of(lam_dtype dtype);

/* The plan of a convolution of `threads` threads whose operand is not dilated. False: nothing is left to be done. */
bool lam__conv_plan(const struct lam__conv_loops *loops, lam_dtype dtype, const lam__conv_case *s, int threads,
                    const void *x, const void *w, void *out, lam__conv *plan);

/* Packs [begin, end) of plan->packs into plan->packed, which the caller has set. */
void lam__conv_pack(const lam__conv *plan, int64_t begin, int64_t end);

/* Does [begin, end) of plan->items, when all is packed. */
void lam__conv_run(const lam__conv *plan, int64_t begin, int64_t end, void *room);

/* NOTE [phases]  Where an operand is dilated, each place of the result meets only some places of the window, and those
 * that are `period` apart meet the same ones: for t = phase + period u the places k = first + every j of the window
 * meet elements, and which elements is again a convolution, without gaps. So no zero is multiplied: the gradient of a
 * convolution of stride 2 along two axes is four convolutions by a quarter of the window each. */
int64_t lam__conv_phases(const lam__conv_case *s);

/* The same of one axis; the phases of the last one are counted through first. */
int64_t lam__conv_period(const lam__conv_axis *a);

/* Phase number `i`, and the elements to where its weights and its result begin. False: it meets nothing and is 0. */
bool lam__conv_phase(const lam__conv_case *s, int64_t i, lam__conv_case *phase, int64_t *w_first, int64_t *out_first);

#endif
