/* What is made of reductions along an axis and of passes with their results: softmax, its logarithm, standardisation.
 * The lanes are worked on some at a time, so many that they stay in the first caches between the passes. How many there
 * are follows from the shape alone, and no lane looks at another. */
#include "lib/kernels/panels.h"

#include "lib/kernels/item.h"
#include "lib/kernels/places.h"

#include <stdalign.h>
#include <string.h>

/* Bytes of a panel whose lanes lie one behind the other, and of one whose lanes lie side by side: there lines of some
 * length are read at a time, so it may be as large as the second cache; lanes at most; bytes of such a line at least;
 * elements of a piece. */
enum { ROWS_BYTES = 32768, COLUMNS_BYTES = 1 << 19, MOST = 512, LINE = 512, PIECE = 2048 };

/* `count` lanes of n elements; the steps are those between lanes and between the elements of one. Lanes lie one behind
 * the other (n elements apart) or side by side (1 apart). x and out lie alike, and out is also where what is made on
 * the way lies. */
typedef struct panel {
    const lam__panels *how;
    int64_t count, n;
    int64_t strides[2]; /* elements */
    const void *x;
    void *out;
    size_t item;
} panel;

static int64_t at_most(int64_t x, int64_t limit) {
    return x < limit ? x : limit;
}

/* A number for each lane. */
typedef struct numbers {
    alignas(64) double of[MOST];
} numbers;

/* to = one result for each lane of `from`, which lies like the panel. */
static void reduce(const panel *p, lam__reduce_id id, const void *from, numbers *to) {
    const int64_t dims[] = {p->count, p->n};
    lam__kernels_reduce(id, p->how->dtype, 2, dims, (const bool[]){false, true}, from, p->strides, to->of);
}

/* to = loop(from, the number of the lane) for all elements; each: NULL: of `from` alone. */
static void apply(const panel *p, lam__loop_id id, const void *from, const numbers *each, void *to) {
    static const int64_t by_lane[] = {1, 0};
    const int64_t dims[] = {p->count, p->n}, *const strides[] = {p->strides, p->strides, by_lane};
    void *const at[] = {to, (void *)(uintptr_t)from, each ? (void *)(uintptr_t)each->of : NULL};
    const size_t items[] = {p->item, p->item, p->item};
    lam__kernels_elementwise(lam__kernels_loop(id, p->how->dtype), each ? 3 : 2, 2, dims, strides, at, items, NULL);
}

/* each = loop(each), or loop(each, y), where y is converted to the dtype first. */
static void on_numbers(const panel *p, lam__loop_id id, numbers *each, const double *y) {
    static const int64_t steps[] = {1, 1, 0};
    const double wide = y ? *y : 0;
    const float narrow = (float)wide;
    const void *number = p->how->dtype == LAM_F32 ? (const void *)&narrow : &wide;
    lam__kernels_loop(id, p->how->dtype)(p->count, (void *const[]){each->of, each->of, (void *)(uintptr_t)number},
                                         steps, NULL);
}

/* The piece of the panel from element `at` of each lane on: passes over a piece find it in the first cache, as they do
 * all of several lanes that lie one behind the other. */
static panel piece_of(const panel *p, int64_t at) {
    const bool near = p->strides[1] == 1 && p->count > 1;
    const int64_t most = near ? p->n : PIECE / p->count > 1 ? PIECE / p->count : 1;
    const int64_t from = at * p->strides[1] * (int64_t)p->item;
    panel piece = *p;
    piece.n = at_most(p->n - at, most);
    piece.x = (const char *)p->x + from;
    piece.out = (char *)p->out + from;
    return piece;
}

/* out = the exponentials of x less the largest of its lane; each: their sums. The largest is taken off first, so no
 * exponential is above 1 and the sum is at least 1; -inf in all places gives NaN. The logarithm is formed of x again
 * and not of the exponentials, of which small ones have lost it. */
static void run_softmax(const panel *p) {
    numbers largest, each;
    reduce(p, LAM__REDUCE_MAX, p->x, &largest);
    for (int64_t at = 0; at < p->n;) {
        const panel piece = piece_of(p, at);
        apply(&piece, LAM__LOOP_sub, piece.x, &largest, piece.out);
        apply(&piece, LAM__LOOP_exp, piece.out, NULL, piece.out);
        at += piece.n;
    }
    reduce(p, LAM__REDUCE_SUM, p->out, &each);
    if (p->how->id == LAM__PANELS_SOFTMAX) {
        on_numbers(p, LAM__LOOP_reciprocal, &each, NULL);
        apply(p, LAM__LOOP_mul, p->out, &each, p->out);
        return;
    }
    on_numbers(p, LAM__LOOP_log, &each, NULL);
    for (int64_t at = 0; at < p->n;) {
        const panel piece = piece_of(p, at);
        apply(&piece, LAM__LOOP_sub, piece.x, &largest, piece.out);
        apply(&piece, LAM__LOOP_sub, piece.out, &each, piece.out);
        at += piece.n;
    }
}

/* to = sums of the squares of p->out. */
static void sum_squares(const panel *p, numbers *to) {
    const int64_t dims[] = {p->count, p->n};
    const lam__squares s = {p->how->dtype, 2, dims, p->strides, (const bool[]){false, true}, p->out, NULL, NULL};
    lam__kernels_squares(&s, 0, INT64_MAX, to->of);
}

/* each: 1 / sqrt(variance + epsilon). Two passes: the mean, then the squares of what is left, since the difference of
 * the mean of squares and the square of the mean cancels where the mean is large. */
static void run_standardize(const panel *p, void *steepness) {
    const double n = (double)p->n;
    numbers mean, each;
    reduce(p, LAM__REDUCE_SUM, p->x, &mean);
    on_numbers(p, LAM__LOOP_div, &mean, &n);
    apply(p, LAM__LOOP_sub, p->x, &mean, p->out);
    sum_squares(p, &each);
    on_numbers(p, LAM__LOOP_div, &each, &n);
    on_numbers(p, LAM__LOOP_add, &each, &p->how->epsilon);
    on_numbers(p, LAM__LOOP_rsqrt, &each, NULL);
    apply(p, LAM__LOOP_mul, p->out, &each, p->out);
    memcpy(steepness, each.of, (size_t)p->count * p->item);
}

/* `count` lanes from one on, of which the first element is `at` elements from the start. */
static void run(panel *p, int64_t count, const char *x, char *out, int64_t at, char *steepness, int64_t lane) {
    p->count = count;
    p->x = x + at * (int64_t)p->item;
    p->out = out + at * (int64_t)p->item;
    if (p->how->id == LAM__PANELS_STANDARDIZE) run_standardize(p, steepness + lane * (int64_t)p->item);
    else run_softmax(p);
}

void lam__kernels_panels(const lam__panels *how, const void *x, void *out, void *steepness) {
    const lam__lanes *s = &how->lanes;
    const int64_t item = lam__item_bytes(how->dtype);
    const bool rows = s->inner == 1;
    /* Lanes of rows lie n apart and their elements side by side; otherwise lanes lie side by side and their
     * elements `inner` apart. */
    panel p = {.how = how, .n = s->n, .strides = {rows ? s->n : 1, s->inner}, .item = (size_t)item};
    if (s->outer == 0 || s->n == 0 || s->inner == 0) return;
    const int64_t fitting = (rows ? ROWS_BYTES : COLUMNS_BYTES) / item / s->n, least = rows ? 1 : LINE / item;
    const int64_t most = at_most(fitting < least ? least : fitting, MOST);
    if (rows) {
        for (int64_t i = 0; i < s->outer; i += most)
            run(&p, at_most(s->outer - i, most), x, out, i * s->n, steepness, i);
        return;
    }
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t i = 0; i < s->inner; i += most)
            run(&p, at_most(s->inner - i, most), x, out, o * s->n * s->inner + i, steepness, o * s->inner + i);
}
