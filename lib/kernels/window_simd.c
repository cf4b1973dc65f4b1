/* Reductions over windows for one instruction set. A window's places k are gone through one after the other, and for
 * each of them all results along the axis: these lie side by side, so vectors run along them even where the axis is the
 * last one. Each result still meets its elements in the order of k, so that every set gives the same bits. */
#include "lib/kernels/window_simd.h"

#include "lib/kernels/divisor.h"

#include <math.h>
#include <string.h>

enum {
    NEAR = 2048, /* elements of results that are worked on at once: they stay in the first cache */
    KEPT = 16    /* places of a window whose runs are kept; those of the others are found each time */
};

/* The results that have an element at one place of the window: count of them, at to, to + step, ..., whose elements are
 * from, from + pace, ... */
typedef struct window_run {
    int64_t to, step, from, pace, count;
} window_run;

/* Results of one axis in turn, [first, end), and the runs of the window's first places. */
typedef struct window_part {
    const lam__window_axis *axis;
    int64_t n, first, end;
    window_run kept[KEPT];
} window_part;

/* Place k at result t stands at t stride + k spread - low, and meets an element where that is a multiple of gap. These
 * t are a period apart; the first is looked for among the first results, since there are only so many rests. */
static window_run find_run(const window_part *p, int64_t k) {
    const lam__window_axis *a = p->axis;
    const int64_t ahead = a->low - k * a->spread, common = a->gap == 1 ? 1 : lam__divisor_common(a->stride, a->gap);
    /* The last place of the window that lies on an element or before it; without elements no result has one. */
    const int64_t last = p->n ? (p->n - 1) * a->gap + ahead : -1;
    int64_t to = ahead > 0 ? (ahead + a->stride - 1) / a->stride : 0, end = last < 0 ? 0 : last / a->stride + 1, tries;
    window_run r = {0, a->gap / common, 0, a->stride / common, 0};
    /* Only results of this part. */
    if (to < p->first) to = p->first;
    if (end > p->end) end = p->end;
    /* Places repeat after a period: without an element until then there is none. */
    for (tries = r.step; tries > 0 && to < end && (to * a->stride - ahead) % a->gap; tries--) to++;
    if (tries == 0 || to >= end) return r;
    r.to = to;
    r.from = (to * a->stride - ahead) / a->gap;
    r.count = (end - 1 - to) / r.step + 1;
    return r;
}

/* The runs of the first places are found once for all lines of the part; the last part may be shorter. */
static window_part part_of(const lam__window_axis *a, int64_t n, int64_t first, int64_t count) {
    window_part p = {a, n, first, first + count < a->out ? first + count : a->out, {{0}}};
    for (int64_t k = 0; k < a->window && k < KEPT; k++) p.kept[k] = find_run(&p, k);
    return p;
}

/* Of the first places as they were found before. */
static window_run run_of(const window_part *p, int64_t k) {
    return k < KEPT ? p->kept[k] : find_run(p, k);
}

/* The places of the window that meet elements of x for any result of the part lie from *first up to *end: a window may
 * be far longer than x. */
static void places_met(const window_part *p, int64_t *first, int64_t *end) {
    const lam__window_axis *a = p->axis;
    const int64_t before = a->low - (p->end - 1) * a->stride;
    const int64_t reach = (p->n - 1) * a->gap + a->low - p->first * a->stride;
    *first = before > 0 ? before / a->spread + (before % a->spread != 0) : 0;
    *end = p->n == 0 || reach < 0 ? 0 : reach / a->spread + 1;
    if (*end > a->window) *end = a->window;
}

/* ---- rows of a search ------------------------------------------------------------------------------------------- */

/* The axes in front of the last one, for which results and places of the window are gone through one by one. */
typedef struct window_front {
    const lam__windows *w;
    int64_t t[LAM__MAX_AXES], k[LAM__MAX_AXES]; /* which result, which place */
} window_front;

/* The element that stands at a place of an axis of n elements; -1 where there is none. Places in front of the first
 * element are padding; between elements there are gaps. */
static int64_t element_at(const lam__window_axis *a, int64_t n, int64_t place) {
    if (place < 0 || (a->gap > 1 && place % a->gap)) return -1;
    const int64_t e = a->gap > 1 ? place / a->gap : place;
    return e < n ? e : -1;
}

/* The row of x that the place meets, its number among the rows of all axes in front; -1 where there is none. */
static int64_t row_of(const window_front *f) {
    int64_t row = 0;
    for (int i = 0; i < f->w->rank - 1; i++) {
        const lam__window_axis *a = &f->w->axis[i];
        const int64_t e = element_at(a, f->w->dims[i], f->t[i] * a->stride + f->k[i] * a->spread - a->low);
        if (e < 0) return -1;
        row = row * f->w->dims[i] + e;
    }
    return row;
}

/* Both in row-major order; false behind the last one, which is the first again. */
static bool next_place(window_front *f) {
    for (int i = f->w->rank - 2; i >= 0; f->k[i--] = 0)
        if (++f->k[i] < f->w->axis[i].window) return true;
    return false;
}

static bool next_result(window_front *f) {
    for (int i = f->w->rank - 2; i >= 0; f->t[i--] = 0)
        if (++f->t[i] < f->w->axis[i].out) return true;
    return false;
}

/* Elements of the first `count` axes. */
static int64_t product(const int64_t *dims, int count) {
    int64_t all = 1;
    for (int i = 0; i < count; i++) all *= dims[i];
    return all;
}

/* LEAST and GREATEST are what the largest and the least begin with, so a window without elements gives them. Sums
 * of integers wrap, without a sign; those of bools are or. A NaN is the largest and the least of all. */
#define T         double
#define NAME(f)   f##_f64
#define FLOATS    1
#define LEAST     (-INFINITY)
#define GREATEST  INFINITY
#define SUM(a, b) ((a) + (b))
#include "lib/kernels/window_type.h"

#define T         float
#define NAME(f)   f##_f32
#define FLOATS    1
#define LEAST     (-INFINITY)
#define GREATEST  INFINITY
#define SUM(a, b) ((a) + (b))
#include "lib/kernels/window_type.h"

#define T         int64_t
#define NAME(f)   f##_i64
#define FLOATS    0
#define LEAST     INT64_MIN
#define GREATEST  INT64_MAX
#define SUM(a, b) (int64_t)((uint64_t)(a) + (uint64_t)(b))
#include "lib/kernels/window_type.h"

#define T         int32_t
#define NAME(f)   f##_i32
#define FLOATS    0
#define LEAST     INT32_MIN
#define GREATEST  INT32_MAX
#define SUM(a, b) (int32_t)((uint32_t)(a) + (uint32_t)(b))
#include "lib/kernels/window_type.h"

#define T         uint8_t
#define NAME(f)   f##_u8
#define FLOATS    0
#define LEAST     0
#define GREATEST  UINT8_MAX
#define SUM(a, b) (uint8_t)((a) + (b))
#include "lib/kernels/window_type.h"

/* Bytes of 0 and 1. */
#define T         uint8_t
#define NAME(f)   f##_bool
#define FLOATS    0
#define LEAST     0
#define GREATEST  1
#define SUM(a, b) ((a) | (b))
#include "lib/kernels/window_type.h"

/* By dtype; the others have no loops here. */
#define BY_DTYPE(f)                                                                                                    \
    {                                                                                                                  \
        [LAM_F64] = f##_f64, [LAM_F32] = f##_f32, [LAM_I64] = f##_i64, [LAM_I32] = f##_i32, [LAM_U8] = f##_u8,         \
        [LAM_BOOL] = f##_bool                                                                                          \
    }

/* There are no products of windows. */
const lam__window_set LAM__ISA_NAME(lam__window_simd_) = {
    .loop = {[LAM__REDUCE_SUM] = BY_DTYPE(window_sum),
             [LAM__REDUCE_MAX] = BY_DTYPE(window_max),
             [LAM__REDUCE_MIN] = BY_DTYPE(window_min)},
    .least = BY_DTYPE(window_least),
    .greatest = BY_DTYPE(window_greatest),
};
