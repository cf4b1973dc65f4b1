/* Reductions over any set of axes with any strides. The axes are split into kept and reduced, put in order of
 * stride and merged; one axis of each kind becomes the block that the inner loops see (columns and rows), the
 * others are walked. Rows beyond one leaf are merged by a binary counter, so the error of a sum grows with the
 * logarithm of the number of elements along every pattern of axes. The order of operations follows from dims and
 * strides alone. */
#include "lib/kernels/cplx.h"
#include "lib/kernels/means.h"
#include "lib/kernels/places.h"
#include "lib/kernels/reduce_blocks.h"

#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum {
    STACK_BYTES = 32768,    /* of partial results: bounded, and within the first-level cache */
    FEW_ROWS = 16,          /* a run shorter than this is not worth being the inner one */
    FEW_ELEMENTS = 64,      /* nor is a block smaller than this, where there is a larger one */
    ROW_TILE = 4096,        /* elements of contiguous rows between two merges */
    INTEGER_LEAF = 1 << 17, /* elements of a leaf of integers, which may meet in any order */
    NEAR_COLUMNS = 128,     /* columns at once where walked axes lie between them, so that lines stay in cache */
    LONGEST_RUN = 256,      /* elements of a run that is reduced last */
    RUNS_BYTES = 16384,     /* of such runs at once */
};

typedef struct plan {
    const lam__reduce_type *merges; /* of the results */
    lam__reduce_task task;
    size_t item, result;            /* bytes of an element, of a result */
    lam__reduce_axes kept, reduced; /* those that are walked */
    lam__reduce_axis columns, rows; /* those of the block */
    lam__reduce_axis layers;        /* blocks that are done in one call */
    int64_t start;                  /* where the first element lies, in elements from that of all indices 0 */
    int64_t leaf, leaves;           /* rows of a leaf; leaves of one result */
    int64_t run;                    /* elements side by side that each leaf reduces last; 1: none */
    int64_t first, count;           /* those of the leaves that are wanted */
    int64_t tile;                   /* columns worked on at once */
    bool columns_outside;           /* walked axes have smaller strides than the columns */
    lam__reduce_reach far;          /* where the elements are */
    bool floating;
    const char *numbers, *out;        /* a number for each result, laid like these; or NULL */
    const lam__reduce_finish *finish; /* of results that the task does not finish */
} plan;

/* ---- planning ------------------------------------------------------------------------------------------------ */

/* Sorts the axes into kept and reduced; `count` gets the number of results and of elements of each. A reduced
 * axis may be walked from either end, so it gets a positive stride and the start moves. The largest or least of
 * one element that is seen many times is that element. */
static void split_axes(plan *p, int rank, const int64_t *dims, const bool *reduced, const int64_t *strides,
                       int64_t count[2]) {
    const bool once = p->task.op == LAM__REDUCE_OP_MAX || p->task.op == LAM__REDUCE_OP_MIN;
    p->kept.rank = p->reduced.rank = 0;
    p->start = 0;
    count[0] = count[1] = 1;
    for (int i = rank - 1; i >= 0; i--) {
        lam__reduce_axes *axes = reduced[i] ? &p->reduced : &p->kept;
        lam__reduce_axis axis = {dims[i], strides[i], reduced[i] ? 0 : count[0]};
        count[reduced[i]] *= dims[i];
        if (dims[i] <= 1 || (once && reduced[i] && strides[i] == 0)) continue;
        if (reduced[i] && strides[i] < 0) p->start += (dims[i] - 1) * strides[i], axis.x = -strides[i];
        axes->at[axes->rank++] = axis;
    }
}

static int64_t at_most(int64_t x, int64_t limit) {
    return x < limit ? x : limit;
}

/* Elements side by side, and enough of them that lanes of one row are worth folding in the end. */
static bool is_row(lam__reduce_axis axis) {
    return axis.x == 1 && axis.dim >= LAM__REDUCE_SHORT;
}

/* Of constants: shifts, where a division would be a good part of a small reduction. */
static inline int64_t leaves_of(int64_t rows, int64_t leaf) {
    return (rows + leaf - 1) / leaf;
}

/* NOTE [runs]
 * Short runs of reduced elements with kept axes between them and the other reduced ones, as over axes 0 and 2 of
 * [n, k, j], are columns at first, so that a leaf goes along what lies side by side; what comes of them is reduced
 * behind each leaf. Whether there are such follows from reduced axes alone, which no thread cuts. */
static void choose_run(plan *p) {
    const int last = p->reduced.rank - 1;
    p->run = 1;
    if (last < 1 || p->reduced.at[last].x != 1 || p->reduced.at[last].dim > LONGEST_RUN) return;
    p->run = lam__reduce_take_axis(&p->reduced, last).dim;
}

/* The rows: the run with the smallest stride, unless it is short and another is longer. Contiguous rows have long
 * leaves, because a leaf keeps many sums side by side; elements that lie apart have one chain for each column. */
static void choose_rows(plan *p) {
    int last = p->reduced.rank - 1;
    bool is_long = last >= 0 && p->reduced.at[last].dim >= FEW_ROWS;
    p->rows = lam__reduce_take_axis(&p->reduced, is_long ? last : lam__reduce_longest(&p->reduced));
    p->leaf = is_row(p->rows) ? LAM__REDUCE_LEAF : LAM__REDUCE_STRIDED_LEAF;
    p->leaves =
        is_row(p->rows) ? leaves_of(p->rows.dim, LAM__REDUCE_LEAF) : leaves_of(p->rows.dim, LAM__REDUCE_STRIDED_LEAF);
}

/* Few columns that are one run have leaves as long as those of a row, unless they are complex factors, which are never
 * one; those of integers may be longer. */
static void choose_leaf(plan *p) {
    const lam__reduce_block block = {
        NULL, p->columns.dim, p->columns.x, p->rows.dim, p->rows.x, LAM__REDUCE_NEAR, 1, 0, false, 0};
    const bool apart = lam__cplx_is(p->task.dtype) && p->task.op == LAM__REDUCE_OP_PROD;
    if (apart && !is_row(p->rows)) {
        p->leaf = LAM__REDUCE_LEAF;
        p->leaves = leaves_of(p->rows.dim, LAM__REDUCE_LEAF);
    } else if (p->floating && !apart && lam__reduce_is_few(&block)) {
        p->leaf = LAM__REDUCE_LEAF / p->columns.dim;
        p->leaves = leaves_of(p->rows.dim, p->leaf);
    } else if (p->floating && !apart && lam__reduce_is_odd(&block)) {
        p->leaf = LAM__REDUCE_ODD_LEAF;
        p->leaves = leaves_of(p->rows.dim, LAM__REDUCE_ODD_LEAF);
    } else if (!p->floating && is_row(p->rows)) {
        p->leaf = INTEGER_LEAF;
        p->leaves = leaves_of(p->rows.dim, INTEGER_LEAF);
    } else if (!p->floating && p->rows.dim > p->leaf && p->leaf * p->columns.dim < INTEGER_LEAF) {
        p->leaf = INTEGER_LEAF / p->columns.dim;
        p->leaves = leaves_of(p->rows.dim, p->leaf);
    }
    for (int i = 0; i < p->reduced.rank; i++) p->leaves *= p->reduced.at[i].dim;
    p->first = 0, p->count = p->leaves;
}

/* Whether blocks of the last kept axis would be layers: one leaf each, with results one behind the other. */
static bool has_layers(const plan *p) {
    const int last = p->kept.rank - 1;
    if (last < 1 || p->leaves > 1 || p->reduced.rank > 0) return false;
    const lam__reduce_axis *inner = &p->kept.at[last], *outer = inner - 1;
    return inner->x == 1 && inner->out == 1 && outer->out == inner->dim && p->rows.x >= inner->dim;
}

/* The columns: the kept axis with the smallest stride, unless the block would be small and alone. Rows and columns
 * follow from dims and strides, not from how many threads or parts there are. */
static void choose_columns(plan *p) {
    int last = p->kept.rank - 1;
    bool enough = last >= 0 && p->kept.at[last].dim * at_most(p->rows.dim, p->leaf) >= FEW_ELEMENTS;
    enough = enough || has_layers(p);
    p->columns = lam__reduce_take_axis(&p->kept, enough ? last : lam__reduce_longest(&p->kept));
}

/* What leaves its results where they belong needs no room for them. reduce_columns writes straight to `out` where this
 * holds. */
static bool is_direct(const plan *p) {
    return p->leaves == 1 && p->columns.out == 1;
}

/* The stack holds one entry of a tile's columns for each level of the binary counter, and one more that is being made;
 * the tile is as wide as that leaves room for. Entries of f64 with 2^40 leaves still have 97 columns. Integers, which
 * may meet in any order, need no counter: each leaf joins those before it. */
static void choose_tile(plan *p) {
    int levels = 2, last = p->kept.rank - 1;
    p->columns_outside = last >= 0 && llabs(p->kept.at[last].x) < llabs(p->columns.x);
    p->tile = NEAR_COLUMNS;
    if (is_direct(p)) return;
    for (int64_t n = p->leaves; n > 1 && p->floating; n >>= 1) levels++;
    p->tile = STACK_BYTES / (levels * (int64_t)p->result);
    if (p->leaves > 1 && is_row(p->rows))
        p->tile = p->rows.dim > p->leaf ? 1 : at_most(p->tile, 1 + ROW_TILE / p->rows.dim);
    if (p->columns_outside) p->tile = at_most(p->tile, NEAR_COLUMNS);
}

/* Blocks whose results lie one behind the other are layers of one. */
static void choose_layers(plan *p) {
    const int last = p->kept.rank - 1;
    const bool behind = last >= 0 && p->kept.at[last].out == p->columns.dim && !p->columns_outside;
    p->layers = (lam__reduce_axis){1, 0, 0};
    if (p->run == 1 && is_direct(p) && behind) p->layers = lam__reduce_take_axis(&p->kept, last);
}

/* ---- running ------------------------------------------------------------------------------------------------- */

/* Puts the walk where leaf number `leaf` is; gives its first row. Leaves count along the rows first, then through the
 * walked axes as lam__reduce_next does. */
static int64_t seek(const plan *p, int64_t leaf, lam__reduce_walk *walk) {
    const int64_t each = (p->rows.dim + p->leaf - 1) / p->leaf;
    int64_t outer = leaf / each;
    for (int i = p->reduced.rank - 1; i >= 0; i--) {
        const lam__reduce_axis *axis = &p->reduced.at[i];
        walk->index[i] = outer % axis->dim;
        walk->x += walk->index[i] * axis->x;
        outer /= axis->dim;
    }
    return leaf % each * p->leaf;
}

/* Up to so many columns of runs, from column c on, whose elements are reduced into `room` as columns. Runs without gaps
 * are done at once. */
static void reduce_runs(const plan *p, const lam__reduce_block *block, int64_t c, int64_t count, const char *numbers,
                        char *room) {
    const int64_t item = (int64_t)p->item, run = p->run, width = count * run;
    const bool wide = block->step == run;
    lam__reduce_block some = *block;
    some.step = 1, some.columns = wide ? width : run, some.apart = true;
    for (int64_t i = 0; i < count; i += wide ? count : 1) {
        some.x = (const char *)block->x + (c + i) * block->step * item;
        lam__reduce_block_into(&p->task, &some, numbers ? numbers + i * run * item : NULL, 1,
                               room + i * run * (int64_t)p->result);
    }
}

/* One leaf of columns that are runs: NOTE [runs]. */
static LAM__OWN_FRAME void reduce_leaf_of_runs(const plan *p, const lam__reduce_block *block, const char *numbers,
                                               char *out) {
    alignas(64) char room[RUNS_BYTES], repeated[RUNS_BYTES];
    const int64_t run = p->run, item = (int64_t)p->item, result = (int64_t)p->result;
    const int64_t most = RUNS_BYTES / (run * result);
    for (int64_t c = 0; c < block->columns; c += most) {
        const int64_t count = at_most(block->columns - c, most);
        for (int64_t i = 0; i < count * run && numbers; i++)
            memcpy(repeated + i * item, numbers + (c + i / run) * p->columns.out * item, p->item);
        reduce_runs(p, block, c, count, numbers ? repeated : NULL, room);
        const lam__reduce_block side = {room, count, run, run, 1, LAM__REDUCE_NEAR, 1, 0, false, 0};
        p->merges->leaf(p->task.op, &side, out + c * result);
    }
}

/* One leaf of columns whose results belong at `target`. */
static void reduce_leaf(const plan *p, const lam__reduce_block *block, const char *target, char *out) {
    const char *numbers = p->numbers ? p->numbers + (target - p->out) : NULL;
    if (p->run == 1) lam__reduce_block_into(&p->task, block, numbers, p->columns.out, out);
    else reduce_leaf_of_runs(p, block, numbers, out);
}

/* Whether one result is known before its end: of bools the largest is 1, and the least 0. */
static bool is_settled(const plan *p, int64_t columns, const char *result) {
    return columns == 1 && p->task.dtype == LAM_BOOL && p->task.kind == LAM__REDUCE_LEAVES &&
           *result == (p->task.op == LAM__REDUCE_OP_MAX);
}

/* Reduces the wanted leaves of the block at x into the first `columns` elements of `stack`. Entry k of the counter lies
 * at k tiles. */
static void reduce_tile(const plan *p, const char *x, int64_t columns, const char *target, char *stack) {
    const size_t entry = (size_t)p->tile * p->result;
    lam__reduce_walk walk;
    uint64_t count = 0;
    char *top = stack;
    lam__reduce_begin(&walk, &p->reduced);
    int64_t row = p->first ? seek(p, p->first, &walk) : 0;
    do {
        for (; row < p->rows.dim && count < (uint64_t)p->count; row += p->leaf) {
            const void *start = x + (walk.x + row * p->rows.x) * (int64_t)p->item;
            const int64_t rows = at_most(p->rows.dim - row, p->leaf);
            const lam__reduce_block block = {start, columns, p->columns.x, rows, p->rows.x, p->far, 1, 0, false, 0};
            reduce_leaf(p, &block, target, top);
            if (is_settled(p, columns, top)) {
                *stack = *top;
                return;
            }
            int merges = p->floating ? __builtin_ctzll(count + 1) : count > 0;
            for (count++; merges > 0; merges--, top -= entry) p->merges->merge(p->task.op, columns, top - entry, top);
            top += entry;
        }
        row = 0;
    } while (count < (uint64_t)p->count && lam__reduce_next(&walk, &p->reduced));
    for (top -= entry; top > stack; top -= entry) p->merges->merge(p->task.op, columns, top - entry, top);
}

/* Puts n contiguous elements at `step` elements from each other. The sizes are constants, so that each copy is a
 * move. */
static void spread(size_t item, int64_t n, const char *from, char *to, int64_t step) {
    const int64_t size = (int64_t)item;
    if (step == 1) memcpy(to, from, (size_t)(n * size));
    else if (size == 16)
        for (int64_t i = 0; i < n; i++) memcpy(to + i * step * 16, from + i * 16, 16);
    else if (size == 8)
        for (int64_t i = 0; i < n; i++) memcpy(to + i * step * 8, from + i * 8, 8);
    else if (size == 4)
        for (int64_t i = 0; i < n; i++) memcpy(to + i * step * 4, from + i * 4, 4);
    else
        for (int64_t i = 0; i < n; i++) to[i * step] = from[i];
}

/* Columns of several leaves, or whose results lie apart, tile by tile. */
static LAM__OWN_FRAME void reduce_tiles(const plan *p, const char *x, int64_t count, char *out) {
    alignas(64) char stack[STACK_BYTES];
    const int64_t item = (int64_t)p->item;
    for (int64_t c = 0; c < count; c += p->tile) {
        const int64_t columns = at_most(count - c, p->tile);
        char *to = out + c * p->columns.out * (int64_t)p->result;
        reduce_tile(p, x + c * p->columns.x * item, columns, to, stack);
        if (p->finish) lam__reduce_finish_some(p->finish, p->task.kind, columns, stack);
        spread(p->result, columns, stack, to, p->columns.out);
    }
}

/* `count` columns at one point of the walked kept axes. One leaf with results side by side needs no stack. */
static void reduce_columns(const plan *p, const char *x, int64_t count, char *out) {
    if (!is_direct(p)) {
        reduce_tiles(p, x, count, out);
        return;
    }
    const lam__reduce_block block = {x,      count,         p->columns.x, p->rows.dim, p->rows.x,
                                     p->far, p->layers.dim, p->layers.x,  false,       0};
    reduce_leaf(p, &block, out, out);
    if (p->finish) lam__reduce_finish_some(p->finish, p->task.kind, count, out);
}

/* Columns outermost only where walked axes lie between them in memory; else each point of the walk takes all of its
 * columns while they are near. */
static void reduce_all(const plan *p, const char *x, char *out) {
    const int64_t item = (int64_t)p->item, result = (int64_t)p->result;
    x += p->start * item;
    const int64_t span = p->columns_outside ? p->tile : p->columns.dim;
    lam__reduce_walk walk;
    for (int64_t c = 0; c < p->columns.dim; c += span) {
        const char *from = x + c * p->columns.x * item;
        char *to = out + c * p->columns.out * result;
        lam__reduce_begin(&walk, &p->kept);
        do reduce_columns(p, from + walk.x * item, at_most(p->columns.dim - c, span), to + walk.out * result);
        while (lam__reduce_next(&walk, &p->kept));
    }
}

/* What becomes of each leaf. Elements are changed for sums of squares. */
static lam__reduce_task task_of(lam__reduce_id id, lam_dtype dtype) {
    const lam__reduce_kind kind = id == LAM__REDUCE_TALLY   ? LAM__REDUCE_TALLIES
                                  : id == LAM__REDUCE_ROUND ? LAM__REDUCE_ROUNDS
                                                            : LAM__REDUCE_LEAVES;
    return (lam__reduce_task){kind, dtype, lam__reduce_op_of(id, dtype), {NULL, NULL, 0}, NULL};
}

/* The plan; false where there is nothing to reduce. */
static bool make_plan(plan *p, lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                      const int64_t *strides, int64_t count[2]) {
    const lam_dtype result = lam__reduce_result(id, dtype);
    p->task = task_of(id, dtype);
    p->item = (size_t)lam__item_bytes(dtype);
    p->merges = lam__reduce_loops(result), p->result = (size_t)lam__item_bytes(result);
    p->floating = result == LAM_F64 || result == LAM_F32 || lam__cplx_is(dtype);
    p->numbers = NULL, p->finish = NULL;
    split_axes(p, rank, dims, reduced, strides, count);
    if (count[0] == 0 || count[1] == 0) return false;
    p->far = lam__reduce_reach_of(count[0] * count[1], (int64_t)p->item);
    lam__reduce_coalesce(&p->kept);
    lam__reduce_coalesce(&p->reduced);
    choose_run(p);
    choose_rows(p);
    choose_columns(p);
    choose_leaf(p);
    choose_tile(p);
    choose_layers(p);
    return true;
}

/* Rows of one leaf that lie one behind the other: what most small reductions are, and what their plan would come to.
 * False: something else. */
static bool reduce_dense(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                         const void *x, const int64_t *strides, const lam__reduce_finish *finish, void *out) {
    int64_t rows = 1, columns = 1;
    int axis = rank - 1;
    for (; axis >= 0 && (reduced[axis] || dims[axis] == 1); axis--) {
        if (dims[axis] != 1 && strides[axis] != rows) return false;
        rows *= dims[axis];
        if (rows > LAM__REDUCE_LEAF || rows == 0) return false;
    }
    for (; axis >= 0; axis--) {
        if (dims[axis] == 1) continue;
        if (reduced[axis] || strides[axis] != rows * columns) return false;
        columns *= dims[axis];
    }
    const lam__reduce_reach far = lam__reduce_reach_of(columns * rows, lam__item_bytes(dtype));
    const lam__reduce_block block = {x, columns, rows, rows, 1, far, 1, 0, false, 0};
    lam__reduce_task task = task_of(id, dtype);
    task.finish = finish;
    if (columns > 0) lam__reduce_block_into(&task, &block, NULL, 0, out);
    return true;
}

/* Layers are finished by their task, since they may be many; other results where the last of their leaves is joined. */
static void reduce(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                   const void *x, const int64_t *strides, const lam__reduce_finish *finish, void *out) {
    if (reduce_dense(id, dtype, rank, dims, reduced, x, strides, finish, out)) return;
    plan p; /* filled piece by piece: clearing its axes would cost more than a small reduction */
    int64_t count[2];
    if (make_plan(&p, id, dtype, rank, dims, reduced, strides, count)) {
        if (is_direct(&p) && p.run == 1) p.task.finish = finish;
        else p.finish = finish;
        reduce_all(&p, x, out);
        return;
    }
    lam__reduce_neutral(p.task.op, lam__reduce_result(id, dtype), count[0], out);
    if (finish) lam__reduce_finish_some(finish, p.task.kind, count[0], out);
}

void lam__kernels_reduce(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                         const void *x, const int64_t *strides, void *out) {
    reduce(id, dtype, rank, dims, reduced, x, strides, NULL, out);
}

/* ---- means --------------------------------------------------------------------------------------------------- */

typedef union number {
    double f64;
    float f32;
} number;

/* By a product where the reciprocal is exact, and with it each mean: divisions take as long as all else. */
static lam__reduce_finish share_of(lam_dtype dtype, double n, number *by) {
    int exponent;
    const bool exact = frexp(n, &exponent) == 0.5, narrow = dtype == LAM_F32 || dtype == LAM_C64;
    if (narrow) by->f32 = (float)(exact ? 1 / n : n);
    else by->f64 = exact ? 1 / n : n;
    lam__loop *loop = lam__kernels_loop(exact ? LAM__LOOP_mul : LAM__LOOP_div, narrow ? LAM_F32 : LAM_F64);
    return (lam__reduce_finish){loop, by, lam__cplx_is(dtype) ? 2 : 1, n};
}

void lam__kernels_mean(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                       const void *x, const int64_t *strides, double n, void *out) {
    number by;
    const lam__reduce_finish finish = share_of(dtype, n, &by);
    reduce(id, dtype, rank, dims, reduced, x, strides, &finish, out);
}

void lam__kernels_mean_of_sums(lam__reduce_id id, lam_dtype dtype, int64_t results, double n, void *sums) {
    number by;
    const lam__reduce_finish finish = share_of(dtype, n, &by);
    lam__reduce_finish_some(&finish, task_of(id, dtype).kind, results, sums);
}

/* ---- parts --------------------------------------------------------------------------------------------------- */

int64_t lam__kernels_reduce_leaves(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims,
                                   const bool *reduced, const int64_t *strides) {
    plan p;
    int64_t count[2];
    bool any = make_plan(&p, id, dtype, rank, dims, reduced, strides, count);
    return any ? p.leaves : 0;
}

void lam__kernels_reduce_part(lam__reduce_id id, lam_dtype dtype, int rank, const int64_t *dims, const bool *reduced,
                              const void *x, const int64_t *strides, int64_t first, int64_t leaves, void *out) {
    plan p;
    int64_t count[2];
    if (!make_plan(&p, id, dtype, rank, dims, reduced, strides, count)) return;
    p.first = first;
    p.count = at_most(leaves, p.leaves - first);
    reduce_all(&p, x, out);
}

void lam__kernels_reduce_join(lam__reduce_id id, lam_dtype dtype, int64_t results, int64_t parts, void *out) {
    const lam_dtype result = lam__reduce_result(id, dtype);
    const int64_t row = results * lam__item_bytes(result);
    for (int64_t width = 1; width < parts; width *= 2)
        for (int64_t i = 0; i + width < parts; i += 2 * width)
            lam__reduce_loops(result)->merge(lam__reduce_op_of(id, dtype), results, (char *)out + i * row,
                                             (const char *)out + (i + width) * row);
}

/* ---- sums of squares --------------------------------------------------------------------------------------------- */

/* The plan of the sum, with what is done to the elements before. */
static bool plan_squares(plan *p, const lam__squares *s, int64_t count[2]) {
    if (!make_plan(p, LAM__REDUCE_SUM, s->dtype, s->rank, s->dims, s->reduced, s->strides, count)) return false;
    p->task.change.square = lam__kernels_loop(s->y ? LAM__LOOP_mul : LAM__LOOP_square, s->dtype);
    if (s->y) p->task.change.apart = (int64_t)((intptr_t)s->y - (intptr_t)s->x);
    if (s->centres) p->task.change.less = lam__kernels_loop(LAM__LOOP_sub, s->dtype);
    p->numbers = s->centres;
    return true;
}

int64_t lam__kernels_squares(const lam__squares *s, int64_t first, int64_t leaves, void *out) {
    plan p;
    int64_t count[2];
    if (!plan_squares(&p, s, count)) {
        for (int64_t i = 0; out && i < count[0]; i++) memset((char *)out + i * (int64_t)p.item, 0, p.item);
        return 0;
    }
    if (!out) return p.leaves;
    p.first = first;
    p.count = at_most(leaves, p.leaves - first);
    p.out = out;
    reduce_all(&p, s->x, out);
    return p.leaves;
}
