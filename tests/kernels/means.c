/* Means (lib/kernels/means.h) beside the sums that they are made of, divided in C: the same bits wherever the division
 * is done. Shapes go through the ways of a reduction: layers and rows whose means fit a part of the first cache or do
 * not, larger than all caches, of one leaf and of many, in the order of memory and not, runs, and none at all. */
#include "lib/kernels/means.h"
#include "tests/kernels/strided.h"

typedef struct shape {
    int64_t dims[3], strides[3];
    bool reduced[3];
} shape;

/* The division in C of what the sum is in. */
static void expect_mean(lam_dtype dtype, const void *sums, const void *means, int64_t i, double n, int line) {
    if (dtype == LAM_F32) {
        const float want = ((const float *)sums)[i] / (float)n, got = ((const float *)means)[i];
        STRIDED_CHECK(memcmp(&want, &got, sizeof got) == 0 || (isnan(want) && isnan(got)),
                      "shape %d, mean %d: %g, not %g", line, (int)i, (double)got, (double)want);
        return;
    }
    const double sum = dtype == LAM_F64 ? ((const double *)sums)[i] : (double)((const int64_t *)sums)[i],
                 want = sum / n, got = ((const double *)means)[i];
    STRIDED_CHECK(memcmp(&want, &got, sizeof got) == 0 || (isnan(want) && isnan(got)),
                  "shape %d, mean %d of dtype %d: %g, not %g", line, (int)i, (int)dtype, got, want);
}

static void check_means(lam_dtype dtype, const shape *s, int line) {
    const lam__reduce_id id = dtype == LAM_F64 || dtype == LAM_F32 ? LAM__REDUCE_SUM : LAM__REDUCE_TALLY;
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

START_TEST(means_are_sums_divided) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_I32, LAM_U8, LAM_BOOL};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) check_means(dtypes[d], &shapes[_i], _i);
}
END_TEST

Suite *suite_kernels_means(void);

Suite *suite_kernels_means(void) {
    Suite *suite = suite_create("kernels/means");
    TCase *tests = tcase_create("means");
    tcase_add_loop_test(tests, means_are_sums_divided, 0, sizeof shapes / sizeof *shapes);
    suite_add_tcase(suite, tests);
    return suite;
}
