/* Convolutions of dilated operands whose result has few features: gradients by x of convolutions with strides, above
 * all. Their products are made by one product of matrices, of all weights and the elements of x as they lie; then each
 * place of the result gathers those that it is the sum of. So x is read once, not once for each phase, and products
 * fill vectors however few features there are. A window of three, [a b c], in x = [p q] with gaps of 2 and two zeros at
 * either end:
 *
 *   products    a p  a q        places    0: c p          2: a p + c q    4: a q      a phase: it gathers rows a and c
 *               b p  b q                  1: b p          3: b q                      a phase: it gathers row b
 *               c p  c q */
#ifndef LAM_KERNELS_CONV_GATHER_H
#define LAM_KERNELS_CONV_GATHER_H

#include "lib/kernels/conv/conv.h"

/* What the places of one phase gather: NOTE [phases]. Steps of its weights count rows of products. */
typedef struct lam__conv_gathered {
    lam__conv_case shape;
    int64_t row, out; /* of its first weight; elements of the result in front of it */
} lam__conv_gathered;

typedef struct lam__conv_gather {
    lam__conv_case shape;
    lam_dtype dtype;
    const char *x, *w;
    char *out, *packed;         /* the caller sets packed and phases */
    lam__conv_gathered *phases; /* those that meet something */
    int64_t count;              /* of phases */
    int side;                   /* of them that are put together */
    int64_t line;               /* elements of room for a line */
    int axis;                   /* which is cut: the first one that has places */
    int64_t chunk, chunks;      /* places of each phase along it, of an item; how many of these there are */
    int64_t before, behind;     /* elements of x along it that places of an item meet besides their own: from -before */
    int64_t rest, step;         /* elements of x for each one along it; from one to the next in memory */
    int64_t window, items;      /* elements of the window; pieces of work: groups, examples, chunks */
    double cost;                /* of an item, in units of lam__team_run */
    bool gaps;                  /* some places meet nothing: the result is to be zero before */
    size_t packed_bytes, phases_bytes;        /* multiples of 64 */
    size_t room;                              /* bytes of scratch for each thread, a multiple of 64: products */
    size_t room_line, room_matmul, room_taps; /* from here on lines of the result, what the product needs, and lists */
} lam__conv_gather;

/* Whether it is done this way, and how. Neither depends on the number of threads. */
bool lam__conv_gather_plan(lam_dtype dtype, const lam__conv_case *s, const void *x, const void *w, void *out,
                           lam__conv_gather *plan);

/* Weights in the order of the product, and the list of phases. */
void lam__conv_gather_pack(lam__conv_gather *plan);

/* Does [begin, end) of plan->items. */
void lam__conv_gather_run(const lam__conv_gather *plan, int64_t begin, int64_t end, void *room);

#endif
