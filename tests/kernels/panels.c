/* Softmax, its logarithm and standardisation along lanes (lib/kernels/panels.h) against long double, on shapes around
 * every size where panels or the pieces of one are cut. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unmarked.h"
#include "lib/kernels/panels.h"
#include "tests/kernels/strided.h"

static const double epsilon = 0.01;

typedef struct lane {
    int64_t n, step; /* elements */
    const double *x, *out;
} lane;

/* What is left of the largest element is kept apart: its exponent is exact. */
static void check_softmax(const lane *l, bool logarithm, long double unit) {
    long double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < l->n; i++) largest = fmaxl(largest, l->x[i * l->step]);
    for (int64_t i = 0; i < l->n; i++) sum += expl(l->x[i * l->step] - largest);
    for (int64_t i = 0; i < l->n; i++) {
        const long double away = l->x[i * l->step] - largest, got = l->out[i * l->step];
        const long double want = logarithm ? away - logl(sum) : expl(away) / sum;
        const long double bound = unit * (logarithm ? 60 * (1 + fabsl(want)) : 60 * want);
        STRIDED_CHECK(fabsl(got - want) <= bound, "got %Lg, want %Lg at %d of %d", got, want, (int)i, (int)l->n);
    }
}

static void check_standardize(const lane *l, double steepness, long double unit) {
    long double mean = 0, square = 0;
    for (int64_t i = 0; i < l->n; i++) mean += l->x[i * l->step];
    mean /= l->n;
    for (int64_t i = 0; i < l->n; i++) square += powl(l->x[i * l->step] - mean, 2);
    const long double want = 1 / sqrtl(square / l->n + epsilon), bound = 100 * unit * want;
    STRIDED_CHECK(fabsl(steepness - want) <= bound, "got %g, want %Lg", steepness, want);
    for (int64_t i = 0; i < l->n; i++) {
        const long double each = (l->x[i * l->step] - mean) * want, got = l->out[i * l->step];
        STRIDED_CHECK(fabsl(got - each) <= 2 * bound, "got %Lg, want %Lg at %d of %d", got, each, (int)i, (int)l->n);
    }
}

static void check_panels(lam__panels_id id, lam_dtype dtype, const lam__lanes *s, uint64_t *state) {
    const int64_t lanes = s->outer * s->inner, count = lanes * s->n;
    const lam__panels how = {id, dtype, *s, epsilon};
    void *x = strided_fill(dtype, count, state), *out = strided_fill(dtype, count, state);
    void *steepness = strided_fill(dtype, lanes, state);
    double *wide = malloc((size_t)(count + 1) * sizeof *wide), *got = malloc((size_t)(count + 1) * sizeof *got);
    lam__kernels_panels(&how, x, out, steepness);
    for (int64_t i = 0; i < count; i++)
        wide[i] = (double)strided_get(dtype, x, i), got[i] = (double)strided_get(dtype, out, i);
    for (int64_t k = 0; k < lanes; k++) {
        const int64_t at = k / s->inner * s->n * s->inner + k % s->inner;
        const lane l = {s->n, s->inner, wide + at, got + at};
        const long double unit = dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON;
        if (id == LAM__PANELS_STANDARDIZE) check_standardize(&l, (double)strided_get(dtype, steepness, k), unit);
        else check_softmax(&l, id == LAM__PANELS_LOG_SOFTMAX, unit);
    }
    free(x);
    free(out);
    free(steepness);
    free(wide);
    free(got);
}

static void check_all(const lam__lanes *s, uint64_t *state) {
    for (int id = LAM__PANELS_SOFTMAX; id <= LAM__PANELS_STANDARDIZE; id++)
        for (int dtype = LAM_F64; dtype <= LAM_F32; dtype++)
            check_panels((lam__panels_id)id, (lam_dtype)dtype, s, state);
}

/* Lanes one behind the other: many short ones to a panel, one long one in pieces. */
START_TEST(lanes_that_are_rows) {
    static const int64_t sizes[] = {1, 2, 3, 10, 31, 32, 33, 1000, 2047, 2048, 2049, 4096, 4097, 8193};
    uint64_t state = 5;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_all(&(lam__lanes){1, sizes[k], 1}, &state);
        check_all(&(lam__lanes){3 + 1200 / sizes[k], sizes[k], 1}, &state);
    }
    check_all(&(lam__lanes){0, 5, 1}, &state);
}
END_TEST

/* Lanes side by side: as many to a panel as a line has at least, as 512 at most; long ones in pieces of few rows. */
START_TEST(lanes_that_are_columns) {
    static const int64_t sizes[] = {1, 2, 7, 60, 127, 128, 129, 513, 3000},
                         widths[] = {2, 3, 8, 63, 64, 65, 127, 128, 129, 511, 512, 513};
    uint64_t state = 6;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            if (sizes[k] * widths[w] < 100000) check_all(&(lam__lanes){2, sizes[k], widths[w]}, &state);
    check_all(&(lam__lanes){1, 3000, 130}, &state);
    check_all(&(lam__lanes){2, 5, 0}, &state);
}
END_TEST

Suite *suite_kernels_panels(void);

Suite *suite_kernels_panels(void) {
    Suite *suite = suite_create("kernels/panels");
    TCase *tests = tcase_create("panels");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, lanes_that_are_rows);
    tcase_add_test(tests, lanes_that_are_columns);
    suite_add_tcase(suite, tests);
    return suite;
}
