/* Matrix products that do not go to CBLAS: small ones of floats, and all of integers. Compiled once per instruction
 * set (small_simd.c). What a result is does not depend on the sizes of the batch and of out. */
#ifndef LAM_KERNELS_BLAS_SMALL_H
#define LAM_KERNELS_BLAS_SMALL_H

#include "lib/kernels/kernels.h"
#include "lib/kernels/simd/simd.h"

/* Limits of the loops for small products: k and n of TINY, n from 2 on; k where a matrix is moved (k n where it is y of
 * DOTS); m and n of TURNED where both are above 1, and n of DOTS where y is moved; BESIDE has none. */
enum { LAM__SMALL_TINY = 4, LAM__SMALL_K = 32, LAM__SMALL_TURNED = 32 };

/* TINY: k and n are constants of loops. TILES: columns of out are vectors; fastest where y_col is 1. TURNED: rows of
 * out are, and it is turned at the end; where x_row is 1. DOTS: lines of x and y along k are; x_col and y_row are 1.
 * BESIDE: products of two vectors each, of reals, lie side by side; x_batch and y_batch are 1. */
enum { LAM__BY_TINY, LAM__BY_TILES, LAM__BY_TURNED, LAM__BY_DOTS, LAM__BY_BESIDE, LAM__SMALL_WAYS };

typedef struct lam__small_type {
    void (*plain)(const lam__product *p); /* any size and stride */
    int lanes;                            /* elements of a vector; floats and complex numbers only, as what follows */
    bool halves;                          /* half of the last vector is used where that is enough */
    void (*by[LAM__SMALL_WAYS])(const lam__product *p);
} lam__small_type;

/* The way that a small product of floats or complex numbers goes, if it is worth not to be given to CBLAS, or
 * LAM__SMALL_WAYS. */
int lam__small_way(lam_dtype dtype, const lam__small_type *loops, const lam__product *p);

/* Whether rows of x, of 2 to 4 elements, lie without gaps and meet one vector: several lie in a vector of the machine
 * then, of so many lanes, of which an element takes `parts`. There are results for all lanes; or vectors of so many
 * bytes have masks for some of them, and it was measured to be worth it. */
static inline bool lam__product_is_short(const lam__product *p, int lanes, int parts, int bytes) {
    enum { MASKED = 32 };
    const int64_t k = p->k, least = bytes >= MASKED * parts ? 2 * parts : lanes;
    return p->n == 1 && k >= 2 && k <= 4 && k * parts <= lanes && p->m >= least && p->x_col == 1 && p->x_row == k;
}

/* x y with rows and columns of the result exchanged: transpose(y) transpose(x). */
static inline lam__product lam__product_turned(const lam__product *p) {
    lam__product q = *p;
    q.m = p->n, q.n = p->m;
    q.x = p->y, q.x_batch = p->y_batch, q.x_turn = p->y_turn, q.x_row = p->y_col, q.x_col = p->y_row;
    q.y = p->x, q.y_batch = p->x_batch, q.y_turn = p->x_turn, q.y_row = p->x_col, q.y_col = p->x_row;
    return q;
}

/* How many of the last columns are better made by vectors of rows than as a last vector of each row, which they hardly
 * fill. Reals whose columns of x have no gaps; sums are the same. A vector of rows costs a quarter more than one of
 * columns, and each result a step. */
static inline int lam__product_edge(const lam__product *p, int lanes, bool halves) {
    const int64_t over = p->n % lanes, vectors = (p->m + lanes - 1) / lanes, saved = p->m * (halves ? 2 : 4);
    if (p->x_row != 1 || p->n < lanes || over == 0 || over > 2) return 0;
    return p->k * (saved - 5 * over * vectors) > 4 * over * p->m + 64 ? (int)over : 0;
}

/* Dots of some neighbouring columns, and of rows in blocks that give a vector of results or less; both numbers are
 * powers of two. */
typedef struct lam__dots_panel {
    int64_t first; /* column */
    int columns, rows;
} lam__dots_panel;

/* The panel from column `first` on, of at most so many results, a power of two, and at most p->m rows. Where rows
 * go into them, blocks are nearer to squares, so that fewer lines are read for a result. Where nearly a full panel is
 * left, it overlaps the one before. */
static inline lam__dots_panel lam__dots_panel_at(const lam__product *p, int64_t first, int most) {
    const int64_t left = p->n - first;
    lam__dots_panel panel = {first, 1, 1};
    int side = most;
    while (side > 4 && p->m % (most / side * 2) == 0) side /= 2;
    if (first > 0 && left < side && left > side - side / 4) panel.first = p->n - side, panel.columns = side;
    while (panel.columns * 2 <= side && panel.columns * 2 <= left) panel.columns *= 2;
    while (panel.rows * panel.columns * 2 <= most && panel.rows * 2 <= p->m) panel.rows *= 2;
    return panel;
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
