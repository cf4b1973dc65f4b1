/* What is made of reductions along an axis and of passes with their results: softmax, its logarithm, standardisation.
 * The lanes are worked on some at a time, so many that they stay in the first caches between the passes. How many there
 * are follows from the shape alone, and no lane looks at another. */
#include "lib/kernels/panels.h"

#include "lib/kernels/item.h"

#include <stdalign.h>
#include <string.h>

enum { PANEL_BYTES = 32768, MOST = 512, COLUMNS = 16 };

/* `count` lanes of n elements; the steps are those between lanes and between the elements of one. */
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

/* each = loop(each), or loop(each, y). */
static void on_numbers(const panel *p, lam__loop_id id, numbers *each, const double *y) {
    static const int64_t steps[] = {1, 1, 0};
    const double wide = y ? *y : 0;
    const float narrow = (float)wide;
    const void *number = p->how->dtype == LAM_F32 ? (const void *)&narrow : &wide;
    lam__kernels_loop(id, p->how->dtype)(p->count, (void *const[]){each->of, each->of, (void *)(uintptr_t)number},
                                         steps, NULL);
}

/* out = x less the largest of its lane; each: the sums of exponentials of that. */
static void run_softmax(const panel *p) {
    numbers largest, each;
    reduce(p, LAM__REDUCE_MAX, p->x, &largest);
    apply(p, LAM__LOOP_sub, p->x, &largest, p->out);
    apply(p, LAM__LOOP_exp, p->out, NULL, p->out);
    reduce(p, LAM__REDUCE_SUM, p->out, &each);
    if (p->how->id == LAM__PANELS_SOFTMAX) {
        on_numbers(p, LAM__LOOP_reciprocal, &each, NULL);
        apply(p, LAM__LOOP_mul, p->out, &each, p->out);
    } else {
        on_numbers(p, LAM__LOOP_log, &each, NULL);
        apply(p, LAM__LOOP_sub, p->x, &largest, p->out);
        apply(p, LAM__LOOP_sub, p->out, &each, p->out);
    }
}

/* The squares of `n` elements of each lane from number `at` on, one behind the other as the panel has them, and what
 * they add. */
static void add_squares(const panel *p, int64_t at, int64_t n, void *room, numbers *to) {
    static const int64_t flat[] = {1, 1, 1};
    const bool side_by_side = p->strides[0] == 1;
    const int64_t dims[] = {p->count, n};
    panel part = *p;
    numbers some;
    part.n = n;
    part.strides[0] = side_by_side ? 1 : n;
    part.strides[1] = side_by_side ? p->count : 1;
    const char *from = (const char *)p->out + at * p->strides[1] * (int64_t)p->item;
    lam__kernels_elementwise(lam__kernels_loop(LAM__LOOP_square, p->how->dtype), 2, 2, dims,
                             (const int64_t *const[]){part.strides, p->strides},
                             (void *const[]){room, (void *)(uintptr_t)from}, (const size_t[]){p->item, p->item}, NULL);
    reduce(&part, LAM__REDUCE_SUM, room, &some);
    if (at == 0) *to = some;
    else
        lam__kernels_loop(LAM__LOOP_add, p->how->dtype)(p->count, (void *const[]){to->of, to->of, some.of}, flat, NULL);
}

/* Sums of the squares of p->out. Long lanes go in parts, since there is room for one panel. */
static void sum_squares(const panel *p, numbers *to) {
    alignas(64) char room[PANEL_BYTES];
    const int64_t most = PANEL_BYTES / (int64_t)p->item / p->count;
    for (int64_t at = 0; at < p->n; at += most) add_squares(p, at, at_most(p->n - at, most), room, to);
}

/* each: 1 / sqrt(variance + epsilon). */
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
    panel p = {.how = how, .n = s->n, .strides = {rows ? s->n : 1, s->inner}, .item = (size_t)item};
    if (s->outer == 0 || s->n == 0 || s->inner == 0) return;
    const int64_t fitting = PANEL_BYTES / item / s->n, least = rows ? 1 : COLUMNS;
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
