/* Reductions of short runs with kept axes between them and other reduced ones (NOTE [runs] in lib/kernels/reduce.c):
 * the bits of a result are those of its runs alone, whatever lies between them, and those that parts of it give when
 * they are joined. What the results are is compared with an oracle in test_reduce.c, and here where sums are exact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/places.h"
#include "tests/kernels/strided.h"

enum { ROWS = 150, MOST_KEPT = 9, LONGEST = 260, GAP = 3, ELEMENTS = ROWS * (MOST_KEPT * LONGEST + GAP) };

static const bool reduced[3] = {true, false, true};
static const int runs[] = {2, 3, 4, 5, 7, 8, 9, 16, 31, 100, 256, 257};

/* [rows, kept, run], dense or with gaps between runs and between rows, in one direction or the other. */
static strided layout(lam_dtype dtype, int64_t rows, int64_t kept, int64_t run, int kind, void *x) {
    strided a = {.dtype = dtype, .rank = 3, .dims = {rows, kept, run}, .memory = x, .x = x};
    a.strides[2] = 1;
    a.strides[1] = run + (kind & 1 ? 1 : 0);
    a.strides[0] = kept * a.strides[1] + (kind & 2 ? GAP : 0);
    const int64_t item = (int64_t)strided_item[dtype];
    if (kind & 4) a.x += (kept - 1) * a.strides[1] * item, a.strides[1] = -a.strides[1];
    if (kind & 8) a.x += (rows - 1) * a.strides[0] * item, a.strides[0] = -a.strides[0];
    return a;
}

static void check_alone(const strided *a, lam__reduce_id id, const char *out) {
    const int64_t dims[3] = {a->dims[0], 1, a->dims[2]};
    char one[8];
    for (int64_t k = 0; k < a->dims[1]; k++) {
        const char *x = a->x + k * a->strides[1] * (int64_t)strided_item[a->dtype];
        lam__kernels_reduce(id, a->dtype, 3, dims, reduced, x, a->strides, one);
        STRIDED_CHECK(memcmp(one, out + (size_t)k * strided_item[a->dtype], strided_item[a->dtype]) == 0,
                      "result %d of [%d, %d, %d]", (int)k, (int)a->dims[0], (int)a->dims[1], (int)a->dims[2]);
    }
}

static void check_parts(const strided *a, lam__reduce_id id, const char *out) {
    const int64_t leaves = lam__kernels_reduce_leaves(id, a->dtype, 3, a->dims, reduced, a->strides);
    const size_t row = (size_t)a->dims[1] * strided_item[a->dtype];
    char *parts = malloc((size_t)leaves * row);
    for (int64_t k = 0; k < leaves; k++)
        lam__kernels_reduce_part(id, a->dtype, 3, a->dims, reduced, a->x, a->strides, k, 1, parts + (size_t)k * row);
    lam__kernels_reduce_join(id, a->dtype, a->dims[1], leaves, parts);
    STRIDED_CHECK(memcmp(parts, out, row) == 0, "%d parts of [%d, %d, %d]", (int)leaves, (int)a->dims[0],
                  (int)a->dims[1], (int)a->dims[2]);
    free(parts);
}

/* Every operation, of many rows and of few. _i is the dtype. */
START_TEST(bits_of_runs_do_not_depend_on_neighbours) {
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 51;
    void *x = strided_fill(dtype, ELEMENTS, &state);
    char out[MOST_KEPT * 8];
    for (size_t j = 0; j < sizeof runs / sizeof *runs; j++)
        for (int kept = 1; kept <= MOST_KEPT; kept++)
            for (int kind = 0; kind < 16; kind++) {
                const lam__reduce_id id = (lam__reduce_id)(LAM__REDUCE_SUM + strided_below(&state, 4));
                const strided a = layout(dtype, kind % 3 ? ROWS : 3, kept, runs[j], kind, x);
                lam__kernels_reduce(id, dtype, 3, a.dims, reduced, a.x, a.strides, out);
                check_alone(&a, id, out);
                check_parts(&a, id, out);
            }
    free(x);
}
END_TEST

/* Small whole numbers: sums, and sums of squares less a centre, are exact, and so compared with plain loops. */
START_TEST(sums_of_runs_are_exact) {
    double *x = malloc(ELEMENTS * sizeof *x), out[MOST_KEPT], squares[MOST_KEPT], centres[MOST_KEPT];
    for (int i = 0; i < ELEMENTS; i++) x[i] = (double)(i * 7 % 19 - 9);
    for (int i = 0; i < MOST_KEPT; i++) centres[i] = i - 2;
    for (size_t j = 0; j < sizeof runs / sizeof *runs; j++)
        for (int kind = 0; kind < 16; kind++) {
            const strided a = layout(LAM_F64, kind % 3 ? ROWS : 3, 1 + kind % MOST_KEPT, runs[j], kind, x);
            const lam__squares s = {LAM_F64, 3, a.dims, a.strides, reduced, a.x, centres, NULL};
            int64_t index[STRIDED_RANK] = {0};
            double want[2][MOST_KEPT] = {{0}, {0}};
            lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 3, a.dims, reduced, a.x, a.strides, out);
            lam__kernels_squares(&s, 0, INT64_MAX, squares);
            do {
                const double v = (double)strided_get(LAM_F64, a.x, strided_offset(&a, index));
                want[0][index[1]] += v;
                want[1][index[1]] += (v - centres[index[1]]) * (v - centres[index[1]]);
            } while (strided_next(3, a.dims, index));
            for (int k = 0; k < a.dims[1]; k++) ck_assert(out[k] == want[0][k] && squares[k] == want[1][k]);
        }
    free(x);
}
END_TEST

/* Results that are more than fit beside each other, wherever a NaN is: it is in its own result alone. */
START_TEST(nan_in_a_run) {
    enum { KEPT = 1500, RUN = 3, FEW = 4 };
    double *x = malloc(FEW * KEPT * RUN * sizeof *x), out[KEPT];
    const int64_t dims[3] = {FEW, KEPT, RUN}, strides[3] = {KEPT * RUN, RUN, 1};
    for (int i = 0; i < FEW * KEPT * RUN; i++) x[i] = i % 11;
    for (int at = 0; at < FEW * KEPT * RUN; at += 131)
        for (int id = LAM__REDUCE_SUM; id <= LAM__REDUCE_MIN; id++) {
            const double was = x[at];
            x[at] = (double)NAN;
            lam__kernels_reduce((lam__reduce_id)id, LAM_F64, 3, dims, reduced, x, strides, out);
            x[at] = was;
            for (int k = 0; k < KEPT; k++) STRIDED_CHECK((out[k] != out[k]) == (k == at / RUN % KEPT), "result %d", k);
        }
    free(x);
}
END_TEST

Suite *suite_kernels_runs(void);

Suite *suite_kernels_runs(void) {
    Suite *suite = suite_create("kernels/runs");
    TCase *tests = tcase_create("runs");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, bits_of_runs_do_not_depend_on_neighbours, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, sums_of_runs_are_exact);
    tcase_add_test(tests, nan_in_a_run);
    suite_add_tcase(suite, tests);
    return suite;
}
