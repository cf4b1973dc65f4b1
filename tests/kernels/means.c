/* Means (lib/kernels/means.h) beside the sums that they are made of, divided in C: the same bits wherever the division
 * is done. Shapes go through the ways of a reduction: layers and rows whose means fit a part of the first cache or do
 * not, larger than all caches, of one leaf and of many, in the order of memory and not, runs, and none at all. */
#include "lib/kernels/means.h"
#include "tests/kernels/strided.h"

typedef struct shape {
    int64_t dims[3], strides[3];
    bool reduced[3];
} shape;

/* What a mean is the quotient of. */
static lam__reduce_id sum_of(lam_dtype dtype) {
    if (dtype == LAM_I64) return LAM__REDUCE_ROUND;
    return dtype == LAM_I32 || dtype == LAM_U8 || dtype == LAM_BOOL ? LAM__REDUCE_TALLY : LAM__REDUCE_SUM;
}

/* The division in C of what the sum is in. */
static void expect_mean(lam_dtype dtype, const void *sums, const void *means, int64_t i, double n, int line) {
    if (dtype == LAM_F32) {
        const float want = ((const float *)sums)[i] / (float)n, got = ((const float *)means)[i];
        STRIDED_CHECK(memcmp(&want, &got, sizeof got) == 0 || (isnan(want) && isnan(got)),
                      "shape %d, mean %d: %g, not %g", line, (int)i, (double)got, (double)want);
        return;
    }
    const double sum = sum_of(dtype) != LAM__REDUCE_TALLY ? ((const double *)sums)[i]
                                                          : (double)((const int64_t *)sums)[i],
                 want = sum / n, got = ((const double *)means)[i];
    STRIDED_CHECK(memcmp(&want, &got, sizeof got) == 0 || (isnan(want) && isnan(got)),
                  "shape %d, mean %d of dtype %d: %g, not %g", line, (int)i, (int)dtype, got, want);
}

/* Sums of i64 are those of f64 that lie as they do, but for the order in which short rows are added. */
static void expect_rounded(const shape *s, const char *x, int64_t span, const double *sums, size_t results) {
    double *wide = malloc((size_t)(span + 1) * sizeof *wide), *want = calloc(results + 1, sizeof *want);
    double *sizes = calloc(results + 1, sizeof *sizes);
    for (int64_t i = 0; i < span; i++) wide[i] = (double)((const int64_t *)(const void *)x)[i];
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 3, s->dims, s->reduced, wide, s->strides, want);
    for (int64_t i = 0; i < span; i++) wide[i] = fabs(wide[i]);
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 3, s->dims, s->reduced, wide, s->strides, sizes);
    for (size_t i = 0; i < results; i++) ck_assert(fabs(sums[i] - want[i]) <= 52 * 0x1p-53 * sizes[i]);
    free(sizes);
    free(wide);
    free(want);
}

static void check_means(lam_dtype dtype, const shape *s, int line) {
    const lam__reduce_id id = sum_of(dtype);
    uint64_t state = 5 + (uint64_t)line;
    int64_t span = 1, results = 1;
    double n = 1;
    for (int i = 0; i < 3; i++) {
        span += s->dims[i] ? (s->dims[i] - 1) * s->strides[i] : 0;
        if (s->reduced[i]) n *= (double)s->dims[i];
        else results *= s->dims[i];
    }
    char *x = strided_fill(dtype, span, &state);
    double *sums = calloc((size_t)results + 1, sizeof *sums), *means = calloc((size_t)results + 1, sizeof *means);
    means[results] = -77;
    lam__kernels_reduce(id, dtype, 3, s->dims, s->reduced, x, s->strides, sums);
    if (dtype == LAM_I64) expect_rounded(s, x, span, sums, (size_t)results);
    lam__kernels_mean(id, dtype, 3, s->dims, s->reduced, x, s->strides, n, means);
    for (int64_t i = 0; i < results; i++) expect_mean(dtype, sums, means, i, n, line);
    ck_assert(means[results] == -77);
    lam__kernels_mean_of_sums(id, dtype, results, n, sums);
    ck_assert(memcmp(sums, means, (size_t)results * strided_item[dtype == LAM_F32 ? LAM_F32 : LAM_F64]) == 0);
    free(means);
    free(sums);
    free(x);
}

/* _i: the shape. */
static const shape shapes[] = {
    {{4000, 3, 3}, {9, 3, 1}, {false, true, false}},        /* layers */
    {{4000, 4, 5}, {20, 5, 1}, {false, true, false}},       /* by a power of 2 */
    {{1000, 4, 5}, {23, 5, 1}, {false, true, false}},       /* with gaps */
    {{3, 5, 5000}, {25000, 5000, 1}, {false, true, false}}, /* wide layers */
    {{1, 7, 5000}, {0, 5000, 1}, {false, true, false}},     /* columns */
    {{1, 5000, 7}, {0, 7, 1}, {false, false, true}},        /* rows */
    {{1, 30, 3000}, {0, 3000, 1}, {false, false, true}},    /* of several leaves */
    {{1, 70000, 2}, {0, 2, 1}, {false, true, false}},       /* few columns of many leaves */
    {{3, 300, 3}, {900, 3, 1}, {false, true, false}},
    {{40, 300, 6}, {1800, 6, 1}, {true, false, true}}, /* runs */
    {{40, 6, 50}, {300, 1, 6}, {true, false, false}},  /* kept axes in another order */
    {{40, 6, 50}, {300, 1, 6}, {false, false, true}},
    {{5, 6, 7}, {42, 7, 1}, {true, true, true}},
    {{5, 6, 7}, {42, 7, 1}, {false, false, false}},
    {{5, 0, 7}, {42, 7, 1}, {false, true, false}},      /* of nothing */
    {{400000, 4, 3}, {12, 3, 1}, {false, true, false}}, /* past the caches */
    {{1, 1100000, 3}, {0, 3, 1}, {false, false, true}},
    {{1, 3, 1100000}, {0, 1100000, 1}, {false, true, false}},
    {{2, 2, 1100000}, {2200000, 1100000, 1}, {false, true, false}},
};

/* Real and imaginary parts are divided each by themselves, infinite ones too. */
START_TEST(means_of_complex_numbers) {
    static const double x[] = {1, -2, 4, INFINITY, 1, -3}, lies[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float narrow[] = {1, -2, 4, 7, 1, -3};
    double mean[2], means[4];
    float narrow_mean[2];
    const int64_t three[] = {3}, one[] = {1}, square[] = {2, 2}, steps[] = {2, 1};
    lam__kernels_mean(LAM__REDUCE_SUM, LAM_C128, 1, three, (bool[]){true}, x, one, 3, mean);
    ck_assert(mean[0] == 2 && mean[1] == INFINITY);
    lam__kernels_mean(LAM__REDUCE_SUM, LAM_C64, 1, three, (bool[]){true}, narrow, one, 3, narrow_mean);
    ck_assert(narrow_mean[0] == 2 && narrow_mean[1] == 2 / 3.0f);
    lam__kernels_mean(LAM__REDUCE_SUM, LAM_C128, 2, square, (bool[]){true, false}, lies, steps, 2, means);
    ck_assert(means[0] == 3 && means[1] == 4 && means[2] == 5 && means[3] == 6);
}
END_TEST

START_TEST(means_are_sums_divided) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_I64, LAM_I32, LAM_U8, LAM_BOOL};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) check_means(dtypes[d], &shapes[_i], _i);
}
END_TEST

Suite *suite_kernels_means(void);

Suite *suite_kernels_means(void) {
    Suite *suite = suite_create("kernels/means");
    TCase *tests = tcase_create("means");
    tcase_add_test(tests, means_of_complex_numbers);
    tcase_add_loop_test(tests, means_are_sums_divided, 0, sizeof shapes / sizeof *shapes);
    suite_add_tcase(suite, tests);
    return suite;
}
