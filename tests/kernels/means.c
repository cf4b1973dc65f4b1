/* Means (lib/kernels/means.h) beside the sums that they are made of, divided in C: the same bits wherever the division
 * is done. Shapes go through the ways of a reduction: layers and rows whose means fit a part of the first cache or do
 * not, larger than all caches, of one leaf and of many, in the order of memory and not, runs, and none at all. */
#include "lib/kernels/means.h"
#include "tests/kernels/reduce_sets.h"
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

/* Sums of i64 are those of f64 that lie as they do, to the last bit. */
static void expect_rounded(const shape *s, const char *x, int64_t span, const double *sums, size_t results, int line) {
    double *wide = malloc((size_t)(span + 1) * sizeof *wide), *want = calloc(results + 1, sizeof *want);
    for (int64_t i = 0; i < span; i++) wide[i] = (double)((const int64_t *)(const void *)x)[i];
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 3, s->dims, s->reduced, wide, s->strides, want);
    STRIDED_CHECK(memcmp(sums, want, results * sizeof *want) == 0, "sums of i64, shape %d", line);
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
    if (dtype == LAM_I64) expect_rounded(s, x, span, sums, (size_t)results, line);
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

/* Numbers that an f64 does not hold, halfway between two of them and next to that, the least and the largest, and sums
 * of them that cancel. */
static int64_t any_i64(uint64_t *state) {
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1, (INT64_C(1) << 53) + 1, (INT64_C(1) << 54) + 6};
    const int64_t k = strided_below(state, 12);
    if (k < 6) return odd[k];
    return (int64_t)strided_random(state) * (strided_below(state, 2) ? INT64_C(1) << 32 : 1) - k;
}

/* The loops for i64 in every instruction set beside those for f64 on what C makes of each element. Steps from a column,
 * a row, a layer to the next: dense, with gaps, rows, columns apart, layers that overlap. Memory ends where the block
 * does. */
static void check_rounding(int64_t layers, int64_t rows, int64_t columns, int layout, uint64_t *state) {
    const int64_t steps[][3] = {{1, columns, rows * columns}, {1, columns + 3, rows * (columns + 3)},
                                {rows, 1, rows * columns},    {rows + 2, 1, columns * (rows + 2)},
                                {2, 2 * columns, 1},          {1, columns, 1}};
    const int64_t *step = steps[layout];
    const int64_t span = (layers - 1) * step[2] + (rows - 1) * step[1] + (columns - 1) * step[0] + 1;
    const lam__reduce_type *whole[REDUCE_SETS], *plain[REDUCE_SETS];
    int64_t *x = malloc((size_t)span * sizeof *x);
    double *as = malloc((size_t)span * sizeof *as), out[6 * 70 + 1], want[6 * 70];
    for (int64_t i = 0; i < span; i++) x[i] = any_i64(state), as[i] = (double)x[i];
    lam__reduce_block b = {x,      columns, step[0], rows, step[1], (lam__reduce_reach)strided_below(state, 3),
                           layers, step[2], false,   0};
    (void)reduce_sets_of(LAM_F64, plain);
    for (int set = reduce_sets_of(LAM_I64, whole) - 1; set >= 0; set--) {
        b.x = as, out[layers * columns] = -77;
        plain[0]->leaf(LAM__REDUCE_OP_SUM, &b, want);
        b.x = x;
        whole[set]->round(&b, out);
        STRIDED_CHECK(memcmp(out, want, (size_t)(layers * columns) * sizeof *out) == 0 && out[layers * columns] == -77,
                      "set %d, %d layers of %d rows of %d, layout %d", set, (int)layers, (int)rows, (int)columns,
                      layout);
    }
    free(as);
    free(x);
}

START_TEST(sums_of_i64_are_those_of_f64) {
    uint64_t state = 41;
    for (int64_t rows = 1; rows <= 70; rows++)
        for (int64_t columns = 1; columns <= 70; columns++)
            check_rounding(1 + strided_below(&state, 6), rows, columns, (int)(rows * 5 + columns) % 6, &state);
    for (int64_t rows = 120; rows < 1100; rows += 61)
        for (int64_t columns = 1; columns < 20; columns++)
            for (int layout = 0; layout < 6; layout++) check_rounding(2, rows, columns, layout, &state);
}
END_TEST

/* Quotients as C rounds them, in every instruction set: of any sums, and of those nearest to (q + 1/2) n. */
static void check_shares(int64_t n, int count, uint64_t *state) {
    const lam__reduce_type *loops[REDUCE_SETS];
    int64_t sums[20];
    double shares[20];
    for (int k = 0; k < count; k++) {
        const int64_t most = INT64_MAX / n >> strided_below(state, 40);
        const int64_t q = most - (int64_t)strided_random(state) % (most + 1);
        sums[k] = k % 3 == 0 ? any_i64(state) : k % 3 == 1 ? (int64_t)strided_random(state) - (1 << 30) : q * n - n / 2;
    }
    sums[count] = -77;
    for (int set = reduce_sets_of(LAM_I64, loops) - 1; set >= 0; set--) {
        memcpy(shares, sums, sizeof shares);
        loops[set]->share(count, (double)n, shares);
        for (int k = 0; k < count; k++) {
            const double want = (double)sums[k] / (double)n;
            STRIDED_CHECK(memcmp(&want, &shares[k], sizeof want) == 0, "set %d, %lld / %lld: %a, not %a", set,
                          (long long)sums[k], (long long)n, shares[k], want);
        }
        ck_assert(memcmp(&shares[count], &sums[count], sizeof *sums) == 0);
    }
}

START_TEST(shares_are_quotients) {
    uint64_t state = 43;
    for (int64_t n = 1; n < 2000; n++) check_shares(n, 1 + strided_below(&state, 19), &state);
    for (int i = 0; i < 20000; i++) check_shares(1 + (int64_t)strided_random(&state), 19, &state);
    for (int64_t n = (INT64_C(1) << 51) - 1; n > 2; n = n / 2 + 1) check_shares(n, 19, &state);
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
    tcase_add_test(tests, sums_of_i64_are_those_of_f64);
    tcase_add_test(tests, shares_are_quotients);
    tcase_add_loop_test(tests, means_are_sums_divided, 0, sizeof shapes / sizeof *shapes);
    suite_add_tcase(suite, tests);
    return suite;
}
