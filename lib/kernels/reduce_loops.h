/* What the reductions, scans and arg-reductions have in common: how axes are put in order and walked, and the
 * table of inner loops. The loops are compiled once per instruction set (reduce_simd.c), always with the same
 * number of lanes and the same order of operations, so every set gives the same bits; fused multiply-add is off. */
#ifndef LAM_REDUCE_LOOPS_H
#define LAM_REDUCE_LOOPS_H

#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

/* Longest run that one leaf of a sum takes: contiguous elements (32 or more lanes side by side), elements apart from
 * each other (eight at a time), and rows of few columns (eight or more as one, eight of these at a time). All keep the
 * error of a leaf near that of a pairwise sum. */
enum { LAM__REDUCE_LEAF = 1024, LAM__REDUCE_STRIDED_LEAF = 64, LAM__REDUCE_ODD_LEAF = 512, LAM__REDUCE_SHORT = 32 };

/* Where the elements of a reduction lie, by their bytes: what the second cache may hold, what the third may, more.
 * Machines that have more of either lose little, since reading ahead helps there too. */
typedef enum lam__reduce_reach { LAM__REDUCE_NEAR, LAM__REDUCE_FAR, LAM__REDUCE_MEMORY } lam__reduce_reach;

static inline lam__reduce_reach lam__reduce_reach_of(int64_t elements, int64_t item) {
    enum { SECOND = 1 << 20, THIRD = 1 << 24 };
    if (elements <= SECOND / item) return LAM__REDUCE_NEAR;
    return elements <= THIRD / item ? LAM__REDUCE_FAR : LAM__REDUCE_MEMORY;
}

/* The four operations that have loops; bool uses MAX and MIN on bytes for or and and. */
typedef enum lam__reduce_op {
    LAM__REDUCE_OP_SUM,
    LAM__REDUCE_OP_PROD,
    LAM__REDUCE_OP_MAX,
    LAM__REDUCE_OP_MIN
} lam__reduce_op;

/* columns results, each over `rows` >= 1 elements: element (c, r) is x[c * step + r * row_step]. Layer k of the blocks
 * that are reduced in one call begins at k * layer_step; its results are those from k * columns on. */
typedef struct lam__reduce_block {
    const void *x;
    int64_t columns, step; /* number of results, elements between their first inputs */
    int64_t rows, row_step;
    lam__reduce_reach far; /* what is read ahead, and what is brought: NOTE [bringing] */
    int64_t layers, layer_step;
    bool apart;     /* the order is that of columns with gaps, whether there are any or not */
    int64_t behind; /* layers behind these that may be read too, if there is room for LAM__REDUCE_BEHIND more results */
} lam__reduce_block;

enum { LAM__REDUCE_BEHIND = 64 };

/* Layer k alone. */
static inline lam__reduce_block lam__reduce_layer(const lam__reduce_block *b, int64_t k, int64_t item) {
    lam__reduce_block one = *b;
    one.x = (const char *)b->x + k * b->layer_step * item;
    one.layers = 1, one.behind = 0;
    return one;
}

/* Columns side by side without gaps. */
static inline lam__reduce_block lam__reduce_side(const void *x, int64_t columns, int64_t rows, lam__reduce_reach far) {
    return (lam__reduce_block){x, columns, 1, rows, columns, far, 1, 0, false, 0};
}

/* Whether two or four columns lie side by side without gaps and are long: their elements are one run. Of floats. */
static inline bool lam__reduce_is_few(const lam__reduce_block *b) {
    const int64_t n = b->columns;
    const bool run = b->step == 1 && b->row_step == n && !b->apart;
    return (n == 2 || n == 4) && run && b->rows * n >= 4 * LAM__REDUCE_SHORT;
}

/* Whether a few other columns do, of which a leaf takes many rows as one wide row. Of floats. */
static inline bool lam__reduce_is_odd(const lam__reduce_block *b) {
    const int64_t n = b->columns;
    const bool run = b->step == 1 && b->row_step == n && !b->apart;
    return (n == 3 || (n > 4 && n < 8)) && run && b->rows >= 4 * LAM__REDUCE_SHORT;
}

/* Whether the order in which columns meet is none of columns with gaps. Of floats. */
static inline bool lam__reduce_is_run(const lam__reduce_block *b) {
    return lam__reduce_is_few(b) || lam__reduce_is_odd(b);
}

/* Whether the columns lie side by side without gaps, so few that four or more rows of them are no longer than `wide`,
 * and the rows are many. Of what may meet in any order. */
static inline bool lam__reduce_is_narrow(const lam__reduce_block *b, int64_t wide) {
    const int64_t n = b->columns;
    return b->step == 1 && b->row_step == n && n > 1 && 4 * n <= wide && b->rows * n >= 16 * wide;
}

/* Where a scan or an arg-reduction of a block writes: column c, row r of a scan, or layer r of an arg-reduction, at
 * c * step + r * row_step. */
typedef struct lam__reduce_target {
    void *out;
    int64_t step, row_step; /* elements */
} lam__reduce_target;

typedef struct lam__reduce_type {
    void (*leaf)(lam__reduce_op op, const lam__reduce_block *block, void *out); /* out[layers][columns], no overlap */
    void (*merge)(lam__reduce_op op, int64_t columns, void *out, const void *other); /* out op= other */
    void (*scan)(lam__reduce_op op, const lam__reduce_block *block, const lam__reduce_target *to);
    void (*arg)(lam__reduce_op op, const lam__reduce_block *block, const lam__reduce_target *to); /* out: int64_t */
    void (*tally)(const lam__reduce_block *block,
                  int64_t *out); /* sums in i64; NULL but for integers smaller than it */
    void (*round)(const lam__reduce_block *block,
                  void *out); /* sums of what each becomes f64, as those of f64 that lie so; NULL but for i64 */
    void (*share)(int64_t count, double n, void *sums); /* sums / n, in f64, where they lie; NULL but for i64 */
} lam__reduce_type;

/* The loops for a dtype, chosen for this machine. */
const lam__reduce_type *lam__reduce_loops(lam_dtype dtype);

/* The operation that stands for `id` on `dtype`. */
lam__reduce_op lam__reduce_op_of(lam__reduce_id id, lam_dtype dtype);

/* n results of no elements. */
void lam__reduce_neutral(lam__reduce_op op, lam_dtype dtype, int64_t n, void *out);

/* ---- axes ---------------------------------------------------------------------------------------------------- */

typedef struct lam__reduce_axis {
    int64_t dim, x, out; /* elements; strides of the operand and the result */
} lam__reduce_axis;

typedef struct lam__reduce_axes {
    int rank;
    lam__reduce_axis at[LAM__MAX_AXES];
} lam__reduce_axes;

/* Sorts by falling stride of x and merges neighbours that are one longer axis. */
void lam__reduce_coalesce(lam__reduce_axes *axes);

/* Takes the axis at `position` out and returns it; an axis of one element if there is none. */
lam__reduce_axis lam__reduce_take_axis(lam__reduce_axes *axes, int position);

/* Position of the axis with the most elements, the inner one of equals; -1 for rank 0. */
int lam__reduce_longest(const lam__reduce_axes *axes);

/* A point on the axes and its two offsets in elements. */
typedef struct lam__reduce_walk {
    int64_t x, out;
    int64_t index[LAM__MAX_AXES];
} lam__reduce_walk;

void lam__reduce_begin(lam__reduce_walk *walk, const lam__reduce_axes *axes);

/* Steps to the next point, row by row; false after the last. */
bool lam__reduce_next(lam__reduce_walk *walk, const lam__reduce_axes *axes);

#endif
