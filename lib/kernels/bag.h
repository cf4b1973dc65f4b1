/* Bags of rows: x [rows, width], y [bags, width], and for each bag `terms` entries, each of which names a row of x and
 * has a weight. That is a matrix [bags, rows] with few entries in a row; the three loops multiply by it, by its
 * transpose, and find what only its entries need of y x'. Each row of a result is the same whoever computes the others,
 * so bags may be shared among threads, but not where x is the result. */
#ifndef LAM_KERNELS_BAG_H
#define LAM_KERNELS_BAG_H

#include "lib/kernels/kernels.h"

typedef enum lam__bag_op {
    LAM__BAG_SUMS,   /* y[b] = the sum over its entries of w * x[row] */
    LAM__BAG_SPREAD, /* x[row] += w * y[b], in the order of the entries */
    LAM__BAG_DOTS    /* w = the sum of x[row] * y[b], for each entry of b */
} lam__bag_op;

/* f64 or f32; items of rows have no gaps. Steps in elements. padded: behind each row of x there are zeros up to the end
 * of a line of the cache, where the next one begins. */
typedef struct lam__bag {
    int64_t bags, terms, rows, width;
    void *x, *y, *w;
    int64_t x_row, y_row, w_bag, w_term;
    const int64_t *index; /* [bags, terms]; negative ones count from the end */
    bool padded;
} lam__bag;

/* False: an index lies outside [-rows, rows), and the result is undefined. There are rows, or no entries. */
bool lam__kernels_bag(lam__bag_op op, lam_dtype dtype, const lam__bag *bag);

/* Sums read x many times over: bytes of a copy whose rows begin with a cache line, which is worth it; 0: it is not. */
size_t lam__kernels_bag_room(lam_dtype dtype, const lam__bag *bag);

/* Copies x there, padded; room is aligned to 64 bytes. */
void lam__kernels_bag_align(lam_dtype dtype, lam__bag *bag, void *room);

/* The loops for one instruction set, by operation. */
typedef struct lam__bag_set {
    bool (*f64[3])(const lam__bag *bag);
    bool (*f32[3])(const lam__bag *bag);
} lam__bag_set;

extern const lam__bag_set lam__bag_simd_v1;
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__bag_set lam__bag_simd_v3, lam__bag_simd_v4;
#endif

#endif
