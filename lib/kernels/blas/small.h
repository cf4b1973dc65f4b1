/* Matrix products that do not go to CBLAS: small ones of floats, and all of integers. Compiled once per instruction
 * set (small_simd.c). What a result is does not depend on the sizes of the batch and of out. */
#ifndef LAM_KERNELS_BLAS_SMALL_H
#define LAM_KERNELS_BLAS_SMALL_H

#include "lib/kernels/kernels.h"
#include "lib/kernels/simd/simd.h"

/* Limits of the loops for small products: k and n of TINY, n from 2 on; k of all; m and n of TURNED where both are
 * above 1, and n of DOTS. */
enum { LAM__SMALL_TINY = 4, LAM__SMALL_K = 32, LAM__SMALL_TURNED = 32 };

/* TINY: k and n are constants of loops. TILES: columns of out are vectors; fastest where y_col is 1. TURNED: rows of
 * out are, and it is turned at the end; where x_row is 1. DOTS: lines of x and y along k are; x_col and y_row are 1. */
enum { LAM__BY_TINY, LAM__BY_TILES, LAM__BY_TURNED, LAM__BY_DOTS, LAM__SMALL_WAYS };

typedef struct lam__small_type {
    void (*plain)(const lam__product *p); /* any size and stride */
    int lanes;                            /* elements of a vector; floats and complex numbers only, as what follows */
    bool halves;                          /* half of the last vector is used where that is enough */
    void (*by[LAM__SMALL_WAYS])(const lam__product *p);
} lam__small_type;

/* Whether rows of x, of 2 to 4 elements, lie without gaps and meet one vector: several lie in a vector of the machine
 * then, of so many lanes, of which an element takes `parts`. There are results for all lanes; or vectors of so many
 * bytes have masks for some of them, and it was measured to be worth it. */
static inline bool lam__product_is_short(const lam__product *p, int lanes, int parts, int bytes) {
    enum { MASKED = 32 };
    const int64_t k = p->k, least = bytes >= MASKED * parts ? 2 * parts : lanes;
    return p->n == 1 && k >= 2 && k <= 4 && k * parts <= lanes && p->m >= least && p->x_col == 1 && p->x_row == k;
}

/* Where a walk over a batch is: elements from the first ones, and products up to the next turn. */
typedef struct lam__product_place {
    int64_t x, y, left;
} lam__product_place;

static inline void lam__product_next(const lam__product *p, lam__product_place *at) {
    at->x += p->x_batch;
    at->y += p->y_batch;
    if (--at->left == 0) {
        at->x += p->x_turn;
        at->y += p->y_turn;
        at->left = p->run;
    }
}

/* Indexed by dtype. */
extern const lam__small_type lam__small_simd_v1[LAM_DTYPE_COUNT];
#if defined(LAM__HAVE_X86_64_LEVELS)
extern const lam__small_type lam__small_simd_v3[LAM_DTYPE_COUNT], lam__small_simd_v4[LAM_DTYPE_COUNT];
#endif

#endif
