/* Reductions over windows that slide along one axis. Windows of several axes are worked on axis by axis, since their
 * sums, maxima and minima can be; the cost is the sum of the window's sides, not their product. Where the largest
 * element of a window stands is asked for of all axes at once. Padding is never there: places outside of the operand,
 * and between its elements where it is dilated, are left out. Indices of windows count places, not elements, until
 * `gap` divides them. */
#include "lib/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* Which of the window's places k hold an element at place t: first to end, every one of them where gap is 1. The
 * quotients are rounded so that no place in front of the operand or behind it is named; first may be beyond end, then
 * there is none. */
static void bounds(const lam__window_axis *a, int64_t size, int64_t t, int64_t *first, int64_t *end) {
    const int64_t at = t * a->stride - a->low, last = size ? (size - 1) * a->gap : -1;
    *first = at < 0 ? (-at + a->spread - 1) / a->spread : 0;
    *end = at > last ? 0 : (last - at) / a->spread + 1;
    if (*end > a->window) *end = a->window;
}

/* One window axis of [outer, n, inner], which gives [outer, a->out, inner]. Rows of inner elements are combined with
 * each other, so vectors run along them. */
typedef void window_loop(const lam__lanes *s, const lam__window_axis *a, const void *x, void *out);
/* Whether element i of x takes the place of element j. x is of the function's own type; i and j are positions. */
typedef bool window_better(const void *x, int64_t i, int64_t j);

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

#define T         uint8_t
#define NAME(f)   f##_bool
#define FLOATS    0
#define LEAST     0
#define GREATEST  1
#define SUM(a, b) ((a) | (b))
#include "lib/kernels/window_type.h"

#define BY_DTYPE(f)                                                                                                    \
    {                                                                                                                  \
        [LAM_F64] = f##_f64, [LAM_F32] = f##_f32, [LAM_I64] = f##_i64, [LAM_I32] = f##_i32, [LAM_U8] = f##_u8,         \
        [LAM_BOOL] = f##_bool                                                                                          \
    }

/* False, and nothing written, for a reduction or a dtype that has no loop; with s->outer == 0 the call only asks. */
bool lam__kernels_window(lam__reduce_id id, lam_dtype dtype, const lam__lanes *s, const lam__window_axis *a,
                         const void *x, void *out) {
    /* By reduction and dtype; there are no products of windows. */
    static window_loop *const loops[][LAM_DTYPE_COUNT] = {
        [LAM__REDUCE_SUM] = BY_DTYPE(window_sum),
        [LAM__REDUCE_MAX] = BY_DTYPE(window_max),
        [LAM__REDUCE_MIN] = BY_DTYPE(window_min),
    };
    if (!loops[id][dtype]) return false;
    loops[id][dtype](s, a, x, out);
    return true;
}

/* ---- where the best element of a window stands ------------------------------------------------------------------ */

/* The best element of one window: its position in x, or `none`. The window's places are gone through in row-major
 * order, so that of equal ones the first stays. Its cost is the number of the window's places, for every result: the
 * axes cannot be taken one by one, since the position along one depends on the others. */
static int64_t best_of(const lam__windows *w, window_better *better, const void *x, const int64_t t[], int64_t none) {
    int64_t k[LAM__MAX_AXES] = {0}, best = none, count = 1;
    for (int i = 0; i < w->rank; i++) count *= w->axis[i].window;
    for (int64_t c = 0; c < count; c++) {
        int64_t position = 0;
        for (int i = 0; i < w->rank && position >= 0; i++) {
            const lam__window_axis *a = &w->axis[i];
            const int64_t at = t[i] * a->stride + k[i] * a->spread - a->low;
            const bool inside = at >= 0 && at % a->gap == 0 && at / a->gap < w->dims[i];
            position = inside ? position * w->dims[i] + at / a->gap : -1;
        }
        if (position >= 0 && (best == none || better(x, position, best))) best = position;
        for (int i = w->rank - 1; i >= 0 && ++k[i] == w->axis[i].window; i--) k[i] = 0;
    }
    return best;
}

/* Positions count through the axes of the windows in row-major order. A window that meets no element gives the number
 * of elements, which is no position: whoever gathers by it takes what lies outside. */
bool lam__kernels_window_arg(bool maximum, lam_dtype dtype, int64_t outer, const lam__windows *w, const void *x,
                             int64_t item, int64_t *out) {
    static window_better *const better[2][LAM_DTYPE_COUNT] = {BY_DTYPE(is_less), BY_DTYPE(is_greater)};
    int64_t size = 1, places = 1;
    if (!better[maximum][dtype]) return false;
    for (int i = 0; i < w->rank; i++) {
        size *= w->dims[i];
        places *= w->axis[i].out;
    }
    for (int64_t o = 0; o < outer; o++) {
        int64_t t[LAM__MAX_AXES] = {0};
        for (int64_t p = 0; p < places; p++) {
            *out++ = best_of(w, better[maximum][dtype], (const char *)x + o * size * item, t, size);
            for (int i = w->rank - 1; i >= 0 && ++t[i] == w->axis[i].out; i--) t[i] = 0;
        }
    }
    return true;
}
