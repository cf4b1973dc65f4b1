/* Elementwise walks in blocks, where the inner run is short ([n, 3] beside [n, 1] or [3]) or goes in steps. The part of
 * an operand that is in a block is first laid in memory as the output lies, in a place that stays in the first cache;
 * then the loop runs over contiguous elements. What a loop computes of an element does not depend on that. A block is
 * some rows of one axis and all that is inside it, where the output has no gaps; one run of the loop each. */
#include "lib/kernels/elementwise_walk.h"

#include <stdalign.h>
#include <string.h>

#include "lib/kernels/simd/simd.h"

enum {
    OPERANDS = LAM__WALK_OPERANDS,
    BLOCK = 1024,  /* elements */
    SLACK = 8,     /* elements that a turn may write too much */
    WIDEST = 256,  /* elements of a row of a flat block */
    ALIGNED = 16,  /* rows, so that blocks begin where lines do */
    FEWEST = 24,   /* elements of a walk worth a flat block */
    INNER = 8 + 1, /* axes of at least two elements in WIDEST, and one */
};

/* An operand's part of a block. Its axes, rows first, are merged as far as its own strides allow. */
typedef struct part {
    const lam__turn *turn;
    bool staged, fixed; /* brought in order; the same in all rows */
    int64_t step;       /* of the loop: 1, or 0 for a single element */
    int rank;
    int64_t dim[INNER], stride[INNER]; /* of the first: elements for each row of the block; items */
} part;

typedef struct block {
    const lam__walk *w;
    int first;                    /* the axis of the rows */
    int64_t width, rows;          /* elements of a row; rows at once */
    const char *filled[OPERANDS]; /* of a fixed operand: where it was brought from */
    part of[OPERANDS];
} block;

/* ---- planning --------------------------------------------------------------------------------------------------- */

/* Whether memory of the operand from axis `first` on is without gaps. */
static bool is_dense(const lam__walk *w, int k, int first) {
    int64_t stride = (int64_t)w->item[k];
    for (int a = w->rank - 1; a >= first; a--) {
        if (w->axes[a].stride[k] != stride) return false;
        stride *= w->axes[a].dim;
    }
    return true;
}

/* Axes from `first` on as few as the operand's strides allow. The axis of the rows counts as one element here: how many
 * rows a block has is decided later. */
static void merge_part(const lam__walk *w, int k, int first, part *to) {
    to->rank = 0;
    for (int a = first; a < w->rank; a++) {
        const int64_t dim = a == first ? 1 : w->axes[a].dim, stride = w->axes[a].stride[k] / (int64_t)w->item[k];
        if (to->rank > 0 && to->stride[to->rank - 1] == stride * dim) {
            to->dim[to->rank - 1] *= dim;
            to->stride[to->rank - 1] = stride;
        } else {
            to->dim[to->rank] = dim;
            to->stride[to->rank++] = stride;
        }
    }
}

/* What lies side by side, or is one element for all, is read where it is. False: it has to be brought in order, and
 * there are no loops for items of this size. */
static bool plan_part(const lam__walk *w, int k, int first, part *to) {
    merge_part(w, k, first, to);
    to->step = to->rank > 1 || to->stride[0] != 0;
    to->staged = to->rank > 1 || to->stride[0] > 1 || to->stride[0] < 0;
    to->fixed = to->stride[0] == 0;
    to->turn = lam__elementwise_simd()->turn((int64_t)w->item[k]);
    return !to->staged || to->turn;
}

/* The loop writes the output in place, many rows in one run, so the output may have no gaps. */
static bool plan_parts(const lam__walk *w, block *b) {
    for (int k = 1; k < w->operands; k++)
        if (!plan_part(w, k, b->first, &b->of[k])) return false;
    return is_dense(w, 0, b->first);
}

/* The rows of the block: the axis that is outside of as many short ones as a row takes. */
static bool plan_short(const lam__walk *w, block *b) {
    b->first = w->rank - 1;
    b->width = w->axes[b->first].dim;
    if (b->first == 0) return false;
    while (b->first > 1 && b->width * w->axes[b->first - 1].dim <= WIDEST) b->width *= w->axes[--b->first].dim;
    const lam__walk_axis *rows = &w->axes[--b->first];
    b->rows = BLOCK / b->width;
    if (b->rows > ALIGNED) b->rows -= b->rows % ALIGNED;
    if (b->rows > rows->dim) b->rows = rows->dim;
    return b->rows * b->width >= FEWEST && plan_parts(w, b);
}

/* Long runs in steps: rows of one element. */
static bool plan_steps(const lam__walk *w, block *b) {
    bool any = false;
    b->first = w->rank - 1;
    b->width = 1;
    b->rows = BLOCK;
    if (!plan_parts(w, b)) return false;
    for (int k = 1; k < w->operands; k++) any = any || b->of[k].staged;
    return any;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Lays `rows` rows of an operand of several axes in order. */
static void gather(const part *p, int64_t rows, int64_t width, int64_t item, const char *from, char *to) {
    const int last = p->rank - 1;
    const int64_t n = p->dim[last], each = width / p->dim[0];
    int64_t at[INNER] = {0};
    if (last == 1 && p->stride[1] == 0) {
        p->turn->repeat(rows * p->dim[0], n, from, p->stride[0], to);
        return;
    }
    for (int a = last; a > 0;) {
        p->turn->grid(rows * p->dim[0], n, from, p->stride[0], p->stride[last], to, each);
        to += n * item;
        for (a = last - 1; a > 0; a--) {
            from += p->stride[a] * item;
            if (++at[a] < p->dim[a]) break;
            from -= p->dim[a] * p->stride[a] * item;
            at[a] = 0;
        }
    }
}

/* One row, and then as many as there are, twice as many each time. */
static void gather_fixed(const part *p, int64_t rows, int64_t width, int64_t item, const char *from, char *to) {
    part one = *p;
    const int64_t all = rows * width * item;
    one.dim[0] = 1;
    gather(&one, 1, width / p->dim[0], item, from, to);
    for (int64_t done = width / p->dim[0] * item; done < all; done *= 2)
        memcpy(to + done, to, (size_t)(done < all - done ? done : all - done));
}

/* An operand of one axis that is not dense: every s-th element. */
static void gather_steps(const part *p, int64_t rows, const char *from, char *to) {
    p->turn->grid(rows * p->dim[0], 1, from, p->stride[0], 1, to, 1);
}

/* Brings `rows` rows of operand k in order; a row for all of them only where another one is wanted than before. */
static void stage(block *b, int k, int64_t rows, const char *from, char *to) {
    const part *of = &b->of[k];
    const int64_t item = (int64_t)b->w->item[k];
    if (of->rank == 1) gather_steps(of, rows, from, to);
    else if (!of->fixed) gather(of, rows, b->width, item, from, to);
    else if (from != b->filled[k]) gather_fixed(of, b->rows, b->width, item, from, to);
    b->filled[k] = from;
}

/* All rows of one position of the outer axes. */
static void run_rows(block *b, void *const base[], char (*room)[(BLOCK + SLACK) * 8]) {
    const lam__walk_axis *axis = &b->w->axes[b->first];
    void *p[OPERANDS];
    int64_t step[OPERANDS] = {1};
    for (int64_t row = 0; row < axis->dim; row += b->rows) {
        const int64_t rows = b->rows < axis->dim - row ? b->rows : axis->dim - row;
        p[0] = (char *)base[0] + row * axis->stride[0];
        for (int k = 1; k < b->w->operands; k++) {
            char *from = (char *)base[k] + row * axis->stride[k];
            step[k] = b->of[k].step;
            p[k] = b->of[k].staged ? room[k - 1] : from;
            if (b->of[k].staged) stage(b, k, rows, from, p[k]);
        }
        b->w->loop(rows * b->width, p, step, b->w->params);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

bool lam__elementwise_next(const lam__walk *w, int last, int left_out, int64_t at[], void *p[]) {
    for (int a = last; a >= 0; a--) {
        const lam__walk_axis *axis = &w->axes[a];
        if (a == left_out) continue;
        const bool more = ++at[a] < axis->dim;
        for (int k = 0; k < w->operands; k++)
            p[k] = (char *)p[k] + (more ? axis->stride[k] : -(axis->dim - 1) * axis->stride[k]);
        if (more) return true;
        at[a] = 0;
    }
    return false;
}

bool lam__elementwise_blocks(const lam__walk *w, void *const base[]) {
    alignas(64) char room[OPERANDS - 1][(BLOCK + SLACK) * 8];
    int64_t at[LAM__MAX_AXES] = {0};
    void *p[OPERANDS];
    block b;
    b.w = w;
    if (!(w->axes[w->rank - 1].dim < LAM__WALK_SHORT ? plan_short : plan_steps)(w, &b)) return false;
    for (int k = 0; k < w->operands; k++) p[k] = base[k], b.filled[k] = NULL;
    do run_rows(&b, p, room);
    while (lam__elementwise_next(w, b.first - 1, b.first, at, p));
    return true;
}
