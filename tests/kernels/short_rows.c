/* Reductions of rows of contiguous floats, which are folded several at a time (lib/kernels/reduce_rows.h), and running
 * results of rows: the bits of a result are those of its row alone, and what fills up a row takes no part. What the
 * results are is compared with an oracle in test_reduce.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "lib/kernels/kernels.h"
#include "lib/kernels/scan.h"
#include "tests/kernels/strided.h"

/* Whether rows stand side by side or apart, and however many there are: the bits of one row alone, of every length, by
 * every operation. _i is the dtype. */
START_TEST(bits_of_rows_do_not_depend_on_position) {
    enum { MOST_ROWS = 50, LONGEST = 140, GAP = 3 };
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = strided_item[dtype];
    uint64_t state = 98;
    const bool reduced[2] = {false, true};
    char *x = strided_fill(dtype, MOST_ROWS * (LONGEST + GAP) + 7, &state), part[MOST_ROWS * 8], one[8];
    for (int64_t length = 1; length < LONGEST; length++)
        for (int id = LAM__REDUCE_SUM; id <= LAM__REDUCE_MIN; id++) {
            const int64_t some[2] = {1 + strided_below(&state, MOST_ROWS), length};
            const int64_t strides[2] = {length + strided_below(&state, 2) * GAP, 1};
            char *from = x + (size_t)strided_below(&state, 7) * item;
            lam__kernels_reduce((lam__reduce_id)id, dtype, 2, some, reduced, from, strides, part);
            for (int64_t r = 0; r < some[0]; r++) {
                lam__kernels_reduce((lam__reduce_id)id, dtype, 1, some + 1, reduced + 1,
                                    from + (size_t)(r * strides[0]) * item, strides + 1, one);
                ck_assert_mem_eq(one, part + (size_t)r * item, item);
            }
        }
    free(x);
}
END_TEST

/* Running results of rows, which are turned several at a time (lib/kernels/reduce_running_rows.h): the bits of one row
 * alone, in both directions, whatever lies between the rows of x or of the results; there nothing is written. _i is the
 * dtype. */
START_TEST(running_results_of_rows_are_those_of_one_row) {
    enum { MOST_ROWS = 40, LONGEST = 40, GAP = 3, WIDTH = LONGEST + GAP };
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = strided_item[dtype], bytes = MOST_ROWS * WIDTH * item;
    uint64_t state = 41;
    char *x = strided_fill(dtype, MOST_ROWS * WIDTH, &state), *out = malloc(bytes), *wanted = malloc(bytes);
    for (int64_t length = 1; length <= LONGEST; length++)
        for (int id = LAM__REDUCE_SUM; id <= LAM__REDUCE_MIN; id++) {
            const int64_t dims[2] = {1 + strided_below(&state, MOST_ROWS), length};
            const int64_t from[2] = {length + strided_below(&state, 2) * GAP, 1};
            const int64_t to[2] = {length + strided_below(&state, 2) * GAP, 1};
            const bool reverse = strided_below(&state, 2);
            const lam__scan all = {(lam__reduce_id)id, dtype, 2, 1, reverse, dims, from, to};
            const lam__scan one = {(lam__reduce_id)id, dtype, 1, 0, reverse, dims + 1, from + 1, to + 1};
            memset(out, 7, bytes), memset(wanted, 7, bytes);
            lam__scan_run(&all, x, out);
            for (int64_t r = 0; r < dims[0]; r++)
                lam__scan_run(&one, x + (size_t)(r * from[0]) * item, wanted + (size_t)(r * to[0]) * item);
            ck_assert_mem_eq(out, wanted, bytes);
        }
    free(x);
    free(out);
    free(wanted);
}
END_TEST

/* Columns side by side, few and many, beside each of them alone; long enough for sums that carry their errors to go
 * one by one. _i is the dtype. */
START_TEST(running_results_of_columns_are_those_of_one_column) {
    enum { MOST = 9, LENGTH = 300 };
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = strided_item[dtype], bytes = MOST * LENGTH * item;
    uint64_t state = 17;
    char *x = strided_fill(dtype, MOST * LENGTH, &state), *out = malloc(bytes), *wanted = malloc(bytes);
    for (int64_t columns = 1; columns <= MOST; columns++)
        for (int k = 0; k < 8; k++) {
            const lam__reduce_id id = (lam__reduce_id)(LAM__REDUCE_SUM + k % 4);
            const int64_t dims[2] = {LENGTH - k, columns}, strides[2] = {columns, 1};
            const lam__scan all = {id, dtype, 2, 0, k / 4, dims, strides, strides};
            const lam__scan one = {id, dtype, 1, 0, k / 4, dims, strides, strides};
            memset(out, 7, bytes), memset(wanted, 7, bytes);
            lam__scan_run(&all, x, out);
            for (int64_t c = 0; c < columns; c++) lam__scan_run(&one, x + (size_t)c * item, wanted + (size_t)c * item);
            ck_assert_mem_eq(out, wanted, bytes);
        }
    free(x);
    free(out);
    free(wanted);
}
END_TEST

/* What fills up rows takes no part: sums of negative zeros are negative, of every length and number of rows. */
START_TEST(sums_keep_negative_zeros) {
    enum { MOST_ROWS = 40, LONGEST = 70 };
    static double x[MOST_ROWS * LONGEST], out[MOST_ROWS];
    static float y[MOST_ROWS * LONGEST], out_y[MOST_ROWS];
    const bool reduced[2] = {false, true};
    for (int i = 0; i < MOST_ROWS * LONGEST; i++) x[i] = -0.0, y[i] = -0.0f;
    for (int64_t length = 1; length <= LONGEST; length++)
        for (int64_t rows = 1; rows <= MOST_ROWS; rows += 13) {
            const int64_t dims[2] = {rows, length}, strides[2] = {length, 1};
            lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 2, dims, reduced, x, strides, out);
            lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F32, 2, dims, reduced, y, strides, out_y);
            for (int r = 0; r < rows; r++) ck_assert(signbit(out[r]) && out[r] == 0 && signbit(out_y[r]));
        }
}
END_TEST

/* Results larger than the caches go past them: each is there, at any alignment, and nothing behind them is touched. */
START_TEST(results_larger_than_the_caches) {
    const int64_t rows = (9 << 20) / 4 + 5, dims[2] = {rows, 2}, strides[2] = {2, 1};
    const bool reduced[2] = {false, true};
    float *x = malloc((size_t)rows * 2 * sizeof *x), *out = malloc((size_t)(rows + 2) * sizeof *out);
    for (int64_t i = 0; i < 2 * rows; i++) x[i] = (float)(i % 1000);
    out[0] = out[rows + 1] = -7;
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F32, 2, dims, reduced, x, strides, out + 1);
    for (int64_t i = 0; i < rows; i++) STRIDED_CHECK(out[i + 1] == (float)(2 * (2 * i % 1000) + 1), "row %d", (int)i);
    ck_assert(out[0] == -7 && out[rows + 1] == -7);
    free(x);
    free(out);
}
END_TEST

Suite *suite_kernels_short_rows(void);

Suite *suite_kernels_short_rows(void) {
    Suite *suite = suite_create("kernels/short_rows");
    TCase *tests = tcase_create("short_rows");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, bits_of_rows_do_not_depend_on_position, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, running_results_of_rows_are_those_of_one_row, LAM_F64, LAM_BOOL);
    tcase_add_loop_test(tests, running_results_of_columns_are_those_of_one_column, LAM_F64, LAM_BOOL);
    tcase_add_test(tests, sums_keep_negative_zeros);
    tcase_add_test(tests, results_larger_than_the_caches);
    suite_add_tcase(suite, tests);
    return suite;
}
