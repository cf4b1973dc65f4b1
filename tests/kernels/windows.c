/* Windows of every instruction set against the definition, element by element: results in one vector, in several and
 * in several blocks, windows longer than what is kept of them, dilated and strided both ways, with padding in front and
 * behind that is negative too. Sums are of whole numbers, so that bits are equal whatever the order; few different
 * numbers and NaN among them show which of equal elements is taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/window_simd.h"
#include "tests/kernels/strided.h"

enum { ROOM = 20000, RESULTS = 1 << 18, CASES = 3000, LONG_CASES = 12 };

typedef struct window_case {
    int64_t outer, inner, dims[2];
    lam__window_axis axis[2]; /* a loop sees the last one */
} window_case;

static double wide[ROOM], wide_out[RESULTS + 1];
static float narrow[ROOM], narrow_out[RESULTS + 1];
static int64_t places[RESULTS + 1];

/* The element of x that place k of the window meets at result t; -1 without one. */
static int64_t met(const lam__window_axis *a, int64_t n, int64_t t, int64_t k) {
    const int64_t at = t * a->stride + k * a->spread - a->low;
    return at >= 0 && at % a->gap == 0 && at / a->gap < n ? at / a->gap : -1;
}

static bool beats(bool greatest, double a, double b) {
    return (greatest ? a > b : a < b) || (isnan(a) && !isnan(b));
}

/* What stands at o, t, i of the reduction along the last axis. */
static double expected(const window_case *c, lam__reduce_id id, int64_t o, int64_t t, int64_t i) {
    const lam__window_axis *a = &c->axis[1];
    double best = id == LAM__REDUCE_SUM ? 0 : id == LAM__REDUCE_MAX ? (double)-INFINITY : (double)INFINITY;
    for (int64_t k = 0; k < a->window; k++) {
        const int64_t e = met(a, c->dims[1], t, k);
        const double x = e < 0 ? 0 : wide[(o * c->dims[1] + e) * c->inner + i];
        if (e < 0) continue;
        if (id == LAM__REDUCE_SUM) best += x;
        else if (beats(id == LAM__REDUCE_MAX, x, best)) best = x;
    }
    return best;
}

static bool same(double x, double y) {
    return x == y || (isnan(x) && isnan(y));
}

static void check_loop(const lam__window_set *set, const window_case *c, lam__reduce_id id) {
    const lam__lanes s = {c->outer, c->dims[1], c->inner};
    const int64_t out = c->axis[1].out, count = c->outer * out * c->inner;
    wide_out[count] = narrow_out[count] = 77;
    set->loop[id][LAM_F64](&s, &c->axis[1], wide, wide_out);
    set->loop[id][LAM_F32](&s, &c->axis[1], narrow, narrow_out);
    for (int64_t r = 0; r < count; r++) {
        const double x = expected(c, id, r / (out * c->inner), r / c->inner % out, r % c->inner);
        if (!same(wide_out[r], x) || !same((double)narrow_out[r], x))
            ck_abort_msg("reduction %d, result %d: %g, %g and not %g", (int)id, (int)r, wide_out[r],
                         (double)narrow_out[r], x);
    }
    if (wide_out[count] != 77 || narrow_out[count] != 77) ck_abort_msg("written beyond the end");
}

/* The position of the best element of result t, u of an example. */
static int64_t best_place(const window_case *c, bool greatest, int64_t o, int64_t t, int64_t u) {
    const int64_t size = c->dims[0] * c->dims[1];
    int64_t best = size;
    for (int64_t k = 0; k < c->axis[0].window; k++)
        for (int64_t l = 0; l < c->axis[1].window; l++) {
            const int64_t row = met(&c->axis[0], c->dims[0], t, k), e = met(&c->axis[1], c->dims[1], u, l);
            const int64_t at = row * c->dims[1] + e;
            if (row < 0 || e < 0) continue;
            if (best == size || beats(greatest, wide[o * size + at], wide[o * size + best])) best = at;
        }
    return best;
}

static void check_search(const lam__window_set *set, const window_case *c, bool greatest, lam_dtype dtype) {
    const lam__windows w = {2, c->dims, c->axis};
    const int64_t rows = c->axis[0].out, out = c->axis[1].out, count = c->outer * rows * out;
    places[count] = 77;
    (greatest ? set->greatest : set->least)[dtype](c->outer, &w, dtype == LAM_F64 ? (void *)wide : narrow, places);
    for (int64_t r = 0; r < count; r++) {
        const int64_t place = best_place(c, greatest, r / (rows * out), r / out % rows, r % out);
        if (places[r] != place) ck_abort_msg("result %d: place %d and not %d", (int)r, (int)places[r], (int)place);
    }
    if (places[count] != 77) ck_abort_msg("written beyond the end");
}

/* A window of at most `most` places. */
static lam__window_axis draw_axis(uint64_t *state, int64_t n, int most) {
    lam__window_axis a = {1 + strided_below(state, most), 1 + strided_below(state, 3), strided_below(state, 7) - 2,
                          1 + strided_below(state, 3),    1 + strided_below(state, 3), 0};
    const int64_t room =
        (n ? (n - 1) * a.gap + 1 : 0) + a.low + strided_below(state, 7) - 2 - (a.window - 1) * a.spread;
    a.out = room < 1 ? 0 : (room - 1) / a.stride + 1;
    return a;
}

static void fill(uint64_t *state, int nan_in) {
    for (int64_t i = 0; i < ROOM; i++) {
        wide[i] = strided_below(state, nan_in) ? strided_below(state, 9) - 4 : (double)NAN;
        narrow[i] = (float)wide[i];
    }
}

static void check_set(const lam__window_set *set) {
    uint64_t state = 5;
    for (int i = 0; i < CASES + LONG_CASES; i++) {
        const bool is_long = i >= CASES;
        window_case c = {
            strided_below(&state, 4), 1 + strided_below(&state, 3) * strided_below(&state, 12), {0}, {{0}}};
        c.dims[0] = strided_below(&state, 6);
        c.dims[1] = is_long ? 2500 + strided_below(&state, 1500) : strided_below(&state, 40);
        if (is_long) c.outer = c.inner = c.dims[0] = 1;
        for (int k = 0; k < 2; k++) c.axis[k] = draw_axis(&state, c.dims[k], k && i % 5 == 0 ? 24 : 5);
        fill(&state, 1 + i % 50 * 4);
        for (int id = 0; id < LAM__REDUCE_COUNT; id++)
            if (set->loop[id][LAM_F64]) check_loop(set, &c, (lam__reduce_id)id);
        for (int k = 0; k < 4; k++) check_search(set, &c, k & 1, k & 2 ? LAM_F64 : LAM_F32);
    }
}

START_TEST(windows_follow_the_definition_in_every_set) {
    check_set(&lam__window_simd_v1);
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (lam__elementwise_simd() != &lam__simd_v1) check_set(&lam__window_simd_v3);
    if (lam__elementwise_simd() == &lam__simd_v4) check_set(&lam__window_simd_v4);
#endif
}
END_TEST

Suite *suite_kernels_windows(void);

Suite *suite_kernels_windows(void) {
    Suite *suite = suite_create("kernels/windows");
    TCase *tests = tcase_create("windows");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, windows_follow_the_definition_in_every_set);
    suite_add_tcase(suite, tests);
    return suite;
}
