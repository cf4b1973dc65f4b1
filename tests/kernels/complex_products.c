/* Sums and products of complex numbers (lib/kernels/reduce_complex.h), and sums of few columns that are one run:
 * against long double, each result alone against all at once, and every instruction set against the one that needs
 * nothing. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unmarked.h"
#include "lib/kernels/kernels.h"
#include "tests/kernels/reduce_sets.h"
#include "tests/kernels/strided.h"

enum { COLUMNS = 258, LONGEST = 1030 };

static const lam_dtype part_of[] = {LAM_F64, LAM_F32};

typedef struct products {
    lam_dtype dtype;
    int64_t dims[3], strides[3]; /* results, and the two axes that a product goes along */
    char *x;
} products;

static const bool reduced[] = {false, true, true};

static long double _Complex at(const products *p, int64_t i) {
    const lam_dtype part = part_of[p->dtype == LAM_C64];
    return strided_get(part, p->x, 2 * i) + I * strided_get(part, p->x, 2 * i + 1);
}

/* Each factor rounds three times, and each result has the bits of one that is made alone. */
static void check_products(const products *p, int64_t n) {
    const size_t item = strided_item[p->dtype];
    const int64_t alone[] = {1, p->dims[1], p->dims[2]};
    char *out = malloc((size_t)(p->dims[0] + 1) * item), one[16];
    lam__kernels_reduce(LAM__REDUCE_PROD, p->dtype, 3, p->dims, reduced, p->x, p->strides, out);
    for (int64_t c = 0; c < p->dims[0]; c++) {
        long double _Complex want = 1;
        for (int64_t i = 0; i < p->dims[1]; i++)
            for (int64_t j = 0; j < p->dims[2]; j++)
                want *= at(p, c * p->strides[0] + i * p->strides[1] + j * p->strides[2]);
        const products got = {.dtype = p->dtype, .x = out};
        const long double bound = 3 * (long double)n * (p->dtype == LAM_C128 ? DBL_EPSILON : FLT_EPSILON);
        STRIDED_CHECK(cabsl(at(&got, c) - want) <= bound * cabsl(want), "result %d of %d factors", (int)c, (int)n);
        lam__kernels_reduce(LAM__REDUCE_PROD, p->dtype, 3, alone, reduced, p->x + c * p->strides[0] * (int64_t)item,
                            p->strides, one);
        STRIDED_CHECK(!memcmp(one, out + (size_t)c * item, item), "result %d alone has other bits", (int)c);
    }
    free(out);
}

/* Numbers near the unit circle, whose products neither grow nor vanish. */
static char *fill(lam_dtype dtype, int64_t count, uint64_t *state) {
    const lam_dtype part = part_of[dtype == LAM_C64];
    char *x = strided_fill(part, 2 * count, state);
    for (int64_t i = 0; i < count; i++) {
        const double turn = 7 * (double)strided_get(part, x, 2 * i);
        strided_put(part, x, 2 * i, cos(turn));
        strided_put(part, x, 2 * i + 1, sin(turn));
    }
    return x;
}

/* Along rows, along columns, along two axes, from behind. _i is the dtype. */
START_TEST(products_of_every_length) {
    static const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 70};
    static const int64_t widths[] = {0, 1, 2, 255, 256, 257};
    const lam_dtype dtype = (lam_dtype)_i;
    const int64_t item = (int64_t)strided_item[dtype];
    uint64_t state = 8;
    char *x = fill(dtype, COLUMNS * 70 * 3, &state);
    for (size_t a = 0; a < sizeof lengths / sizeof *lengths; a++)
        for (size_t b = 0; b < sizeof widths / sizeof *widths; b++) {
            const int64_t n = lengths[a], m = widths[b];
            check_products(&(products){dtype, {m, 1, n}, {n, 7, 1}, x}, n);
            check_products(&(products){dtype, {m, 1, n}, {1, 7, m}, x}, n);
            check_products(&(products){dtype, {m, 3, n}, {1, COLUMNS, 3 * COLUMNS}, x}, 3 * n);
            if (n > 0) check_products(&(products){dtype, {m, 1, n}, {1, 7, -m}, x + (n - 1) * m * item}, n);
        }
    free(x);
}
END_TEST

/* Lengths around those of blocks, one and several of which are made together. */
START_TEST(products_of_several_blocks) {
    static const int64_t lengths[] = {127, 128, 129, 255, 384, 511, 512, 513, 641, LONGEST};
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 10;
    char *x = fill(dtype, 6 * LONGEST, &state);
    for (size_t a = 0; a < sizeof lengths / sizeof *lengths; a++)
        for (int64_t m = 1; m <= 3; m++) {
            const int64_t n = lengths[a];
            check_products(&(products){dtype, {m, 1, n}, {n, 7, 1}, x}, n);
            check_products(&(products){dtype, {m, 1, n}, {1, 7, m}, x}, n);
            check_products(&(products){dtype, {m, 2, n}, {n, 3 * n, 1}, x}, 2 * n);
        }
    free(x);
}
END_TEST

/* Sums of every pair of parts apart, as reals, whose additions are no more than these. */
static void check_sums(lam_dtype dtype, const int64_t dims[3], const bool along[3], const char *x) {
    const int64_t strides[] = {dims[1] * dims[2], dims[2], 1};
    const lam_dtype part = part_of[dtype == LAM_C64];
    const int64_t results = (along[0] ? 1 : dims[0]) * (along[1] ? 1 : dims[1]) * (along[2] ? 1 : dims[2]);
    const int64_t n = dims[0] * dims[1] * dims[2] / results;
    char *out = malloc((size_t)results * strided_item[dtype]);
    long double *want = calloc((size_t)results * 2, sizeof *want);
    for (int64_t i = 0; i < dims[0] * dims[1] * dims[2]; i++) {
        const int64_t at[] = {i / strides[0], i / dims[2] % dims[1], i % dims[2]};
        int64_t to = 0;
        for (int k = 0; k < 3; k++)
            if (!along[k]) to = to * dims[k] + at[k];
        for (int k = 0; k < 2; k++) want[2 * to + k] += strided_get(part, x, 2 * i + k);
    }
    lam__kernels_reduce(LAM__REDUCE_SUM, dtype, 3, dims, along, x, strides, out);
    const long double bound = (long double)n * (dtype == LAM_C128 ? DBL_EPSILON : FLT_EPSILON);
    for (int64_t i = 0; i < 2 * results; i++)
        STRIDED_CHECK(fabsl(strided_get(part, out, i) - want[i]) <= bound, "part %d of sums of %d", (int)i, (int)n);
    free(want);
    free(out);
}

/* Along all sets of axes, of arrays within the caches and beyond them. */
START_TEST(sums_along_all_axes) {
    static const int64_t sizes[][3] = {{70, 2, 3},    {67, 5, 2},   {9, 33, 4},   {3, 4, 300},
                                       {600, 2, 100}, {5000, 3, 5}, {90, 40, 33}, {21, 2, 2000}};
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 12;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char *x = strided_fill(part_of[dtype == LAM_C64], 2 * sizes[s][0] * sizes[s][1] * sizes[s][2], &state);
        for (int set = 1; set < 8; set++) check_sums(dtype, sizes[s], (bool[]){set & 1, set & 2, set & 4}, x);
        free(x);
    }
}
END_TEST

/* Leaves of layers with and without gaps, and what joins them. _i is the dtype. */
START_TEST(bits_do_not_depend_on_instruction_set) {
    const lam__reduce_type *loops[REDUCE_SETS];
    const int sets = reduce_sets_of((lam_dtype)_i, loops);
    const int64_t item = (int64_t)strided_item[_i];
    uint64_t state = 11;
    for (int round = 0; round < 600; round++) {
        const int64_t rows = 1 + strided_below(&state, round % 2 ? 20 : 200), n = 1 + strided_below(&state, 20);
        const int64_t layers = 1 + strided_below(&state, 9), gap = strided_below(&state, 2);
        const bool across = round % 3 == 0;
        const lam__reduce_reach far = (lam__reduce_reach)strided_below(&state, 3);
        const int64_t step = across ? rows + gap : 1, down = across ? 1 : n + gap, layer = rows * n + gap * (rows + n);
        char *x = strided_fill(part_of[_i == LAM_C64], 2 * layers * (layer + 1), &state), *out[2];
        for (int k = 0; k < 2; k++) out[k] = malloc((size_t)(layers * n * item));
        const lam__reduce_block b = {x, n, step, rows, down, far, layers, layer, round % 5 == 0, 0};
        for (int op = LAM__REDUCE_OP_SUM; op <= LAM__REDUCE_OP_PROD; op++)
            for (int k = 0; k < sets; k++) {
                loops[k]->leaf((lam__reduce_op)op, &b, out[k > 0]);
                loops[k]->merge((lam__reduce_op)op, layers * n, out[k > 0], x);
                STRIDED_CHECK(k == 0 || !memcmp(out[0], out[1], (size_t)(layers * n * item)),
                              "op %d, set %d, %d rows of %d, %d columns", op, k, (int)rows, (int)step, (int)n);
            }
        for (int k = 0; k < 2; k++) free(out[k]);
        free(x);
    }
}
END_TEST

/* Columns that are one run, of every length around that of a leaf; with a gap, without one. Lanes of 32 additions and
 * the tree above them round 52 times at most. */
START_TEST(few_columns) {
    static const int64_t lengths[] = {0, 1, 2, 7, 8, 15, 16, 17, 64, 65, 255, 256, 257, 511, 512, 513, LONGEST};
    const lam_dtype dtype = (lam_dtype)_i;
    const bool rows[] = {true, false};
    uint64_t state = 9;
    char *x = strided_fill(dtype, LONGEST * 6, &state), out[6 * 8];
    for (size_t a = 0; a < sizeof lengths / sizeof *lengths; a++)
        for (int64_t columns = 1; columns <= 5; columns++)
            for (int64_t gap = 0; gap < 2; gap++) {
                const int64_t dims[] = {lengths[a], columns}, strides[] = {columns + gap, 1};
                lam__kernels_reduce(LAM__REDUCE_SUM, dtype, 2, dims, rows, x, strides, out);
                for (int64_t c = 0; c < columns; c++) {
                    long double want = 0, size = 0;
                    for (int64_t r = 0; r < dims[0]; r++) {
                        const long double v = strided_get(dtype, x, r * strides[0] + c);
                        want += v, size += fabsl(v);
                    }
                    const long double bound = 52 * size * (dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON);
                    STRIDED_CHECK(fabsl(strided_get(dtype, out, c) - want) <= bound, "column %d of %d, %d rows", (int)c,
                                  (int)columns, (int)dims[0]);
                }
            }
    free(x);
}
END_TEST

/* The largest of a column, and a NaN that only its column sees, wherever it lies. */
START_TEST(few_columns_with_nan) {
    enum { ROWS = 77, FEW = 4 };
    const int64_t dims[] = {ROWS, FEW}, strides[] = {FEW, 1};
    const bool rows[] = {true, false};
    double x[ROWS * FEW], out[FEW];
    for (int nan = 0; nan < ROWS * FEW; nan++) {
        for (int i = 0; i < ROWS * FEW; i++) x[i] = i * 37 % 101 - (i % FEW) * 1000;
        x[nan] = NAN;
        lam__kernels_reduce(LAM__REDUCE_MAX, LAM_F64, 2, dims, rows, x, strides, out);
        for (int c = 0; c < FEW; c++) {
            double want = -INFINITY;
            for (int r = 0; r < ROWS; r++) want = fmax(want, x[r * FEW + c]);
            STRIDED_CHECK(c == nan % FEW ? isnan(out[c]) : out[c] == want, "column %d, NaN at %d", c, nan);
        }
    }
}
END_TEST

Suite *suite_kernels_complex_products(void);

Suite *suite_kernels_complex_products(void) {
    Suite *suite = suite_create("kernels/complex_products");
    TCase *tests = tcase_create("complex_products");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, products_of_every_length, LAM_C128, LAM_C64 + 1);
    tcase_add_loop_test(tests, products_of_several_blocks, LAM_C128, LAM_C64 + 1);
    tcase_add_loop_test(tests, sums_along_all_axes, LAM_C128, LAM_C64 + 1);
    tcase_add_loop_test(tests, bits_do_not_depend_on_instruction_set, LAM_C128, LAM_C64 + 1);
    tcase_add_loop_test(tests, few_columns, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, few_columns_with_nan);
    suite_add_tcase(suite, tests);
    return suite;
}
