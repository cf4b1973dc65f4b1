/* The loops of recurrence_simd.c for one floating type: T, FN(name). Included once for each; no guard. Which of them
 * runs depends on the number of lanes alone, and all give the same bits: a product, rounded, and a sum, rounded. */

#define W    8
#define NAME FN(lanes_of_8)
#include "lib/kernels/recurrence_lanes.h"

#define W    4
#define NAME FN(lanes_of_4)
#include "lib/kernels/recurrence_lanes.h"

#define W    2
#define NAME FN(lanes_of_2)
#include "lib/kernels/recurrence_lanes.h"

/* Rows of one lane, some at a time, as each waits for itself only; how many is a constant in the calls. */
ALWAYS_INLINE void FN(rows_abreast)(int rows, int64_t n, int64_t step, const T *a, const T *b, T *out) {
    T y[ABREAST];
    for (int k = 0; k < rows; k++) out[k * n] = y[k] = b[k * n];
    for (int64_t i = 1; i < n; i++) {
        a += step;
        b += step;
        out += step;
        for (int k = 0; k < rows; k++) out[k * n] = y[k] = a[k * n] * y[k] + b[k * n];
    }
}

static void FN(rows_of_1)(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    const int64_t n = s->n, first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
    for (int64_t o = 0, rows; o < s->outer; o += rows) {
        const int64_t at = o * n + first, left = s->outer - o;
        rows = left >= ABREAST ? ABREAST : left >= 2 ? 2 : 1;
        if (rows == ABREAST) FN(rows_abreast)(ABREAST, n, step, a + at, b + at, out + at);
        else if (rows == 2) FN(rows_abreast)(2, n, step, a + at, b + at, out + at);
        else FN(rows_abreast)(1, n, step, a + at, b + at, out + at);
    }
}

/* All lanes of a row side by side, row after row. What the step before has written is read again from the cache; with
 * LONG lanes and more it has long been stored by then. The first row is copied: nothing comes before it. */
static void FN(sweep)(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    const int64_t whole = s->n * s->inner, next = reverse ? -s->inner : s->inner;
    for (int64_t o = 0; o < s->outer; o++) {
        int64_t at = o * whole + (reverse ? whole - s->inner : 0);
        memcpy(out + at, b + at, (size_t)s->inner * sizeof(T));
        for (int64_t i = 1; i < s->n; i++) {
            const T *before = out + at;
            at += next;
            INDEPENDENT for (int64_t j = 0; j < s->inner; j++) out[at + j] = a[at + j] * before[j] + b[at + j];
        }
    }
}

/* The widest groups that a row fills; rows of LONG elements and more are swept in the order of memory instead. Lanes
 * that no group fills are computed again by the last one, at most W - 1 of them. An inner axis of no elements has
 * nothing to do. */
static void FN(recurrence)(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    if (s->inner >= LONG) FN(sweep)(s, reverse, a, b, out);
    else if (s->inner >= 8) FN(lanes_of_8)(s, reverse, a, b, out);
    else if (s->inner >= 4) FN(lanes_of_4)(s, reverse, a, b, out);
    else if (s->inner >= 2) FN(lanes_of_2)(s, reverse, a, b, out);
    else if (s->inner == 1) FN(rows_of_1)(s, reverse, a, b, out);
}

#undef T
#undef FN
