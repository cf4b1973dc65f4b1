/* Products of matrices that are cut along their sums (NOTE [long sums in parts]), with one thread and with two. */
#include "tests/support.h"

#include <stdlib.h>

/* Sums of whole numbers, which doubles hold, against their sums as integers; each way the numbers may lie. */
START_TEST(long_sums_in_parts_are_whole) {
    enum { ROWS = 700001, COLUMNS = 5 };
    lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = 1 + _i});
    int64_t want[COLUMNS][COLUMNS] = {{0}};
    double *x = malloc((size_t)ROWS * COLUMNS * sizeof *x), got[COLUMNS * COLUMNS];
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) x[i * COLUMNS + j] = (double)((i * i + 7 * j * i + j) % 1009);
    for (int64_t i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            for (int k = 0; k < COLUMNS; k++) want[j][k] += (int64_t)x[i * COLUMNS + j] * (int64_t)x[i * COLUMNS + k];
    lam_tensor *tall = lam_array(c, LAM_F64, LAM_DIMS(ROWS, COLUMNS), x), *wide = lam_matrix_transpose(tall);
    lam_tensor *lines = lam_contiguous(wide), *turned = lam_matrix_transpose(lines);
    lam_tensor *const products[] = {lam_matmul(wide, tall), lam_matmul(lines, turned), lam_matmul(wide, turned),
                                    lam_matmul(lines, tall)};
    for (int p = 0; p < 4; p++) {
        ck_assert_int_eq(lam_read(products[p], got, sizeof got), LAM_OK);
        for (int i = 0; i < COLUMNS * COLUMNS; i++)
            ck_assert_msg(got[i] == (double)want[i / COLUMNS][i % COLUMNS], "product %d, element %d", p, i);
    }
    free(x);
    lam_ctx_free(c);
}
END_TEST

Suite *suite_parallel_long_sums(void) {
    Suite *suite = suite_create("parallel/long_sums");
    suite_loop(suite, long_sums_in_parts_are_whole, 2);
    return suite;
}
