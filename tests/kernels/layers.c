/* Reductions of floats in many small blocks at once and of few columns (lib/kernels/reduce_layers.h, reduce_rows.h),
 * places in short rows and in layers (reduce_places.h), and running sums that have no others beside them
 * (reduce_running.h), in every instruction set. A layer is compared bit by bit with the same block alone, whose values
 * test_reduce.c compares with an oracle; places with a plain search; a long sum with the same sum beside others. Blocks
 * end where their memory does, so that a sanitizer sees what is read beyond. */
#include "tests/kernels/reduce_sets.h"
#include "tests/kernels/strided.h"

#include <float.h>

enum { GAP = 3 };

/* few: of so few values that ties are common, and NaN now and then; RARE: hardly ever. */
enum { RARE = 2 };
static char *elements(lam_dtype dtype, int64_t count, int few, uint64_t *state) {
    char *x = malloc((size_t)count * strided_item[dtype]);
    for (int64_t i = 0; i < count; i++) {
        if (!few) strided_put_random(dtype, x, i, state);
        else
            strided_put(dtype, x, i,
                        strided_below(state, few == RARE ? 20000 : 60) ? strided_below(state, 4) - 2 : NAN);
    }
    return x;
}

/* Steps from a column, a row, a layer to the next: dense; with gaps between layers, between rows; layers side by side;
 * rows that run on; columns apart; layers that overlap. */
enum { LAYOUTS = 7 };
static lam__reduce_block layout(int k, int64_t layers, int64_t rows, int64_t columns) {
    const int64_t wide = columns + GAP, steps[LAYOUTS][3] = {
                                            {1, columns, rows * columns},
                                            {1, columns, rows * columns + GAP},
                                            {1, wide, rows * wide},
                                            {1, layers * columns, columns},
                                            {rows, 1, rows * columns},
                                            {2, 2 * columns, 2 * rows * columns},
                                            {1, columns, 1},
                                        };
    return (lam__reduce_block){
        NULL,   columns,     steps[k][0], rows, steps[k][1], (lam__reduce_reach)((k + rows + columns) % 3),
        layers, steps[k][2], false,       0};
}

static int64_t size_of(const lam__reduce_block *b) {
    return (b->layers + b->behind - 1) * b->layer_step + (b->columns - 1) * b->step + (b->rows - 1) * b->row_step + 1;
}

/* Results that are no block's: where layers behind may be read, what comes of them may be written. */
static int64_t room_behind(const lam__reduce_block *b) {
    return b->behind ? LAM__REDUCE_BEHIND : 0;
}

/* ---- reductions ------------------------------------------------------------------------------------------------ */

static void check_leaf(lam_dtype dtype, lam__reduce_block b, uint64_t *state) {
    const lam__reduce_type *loops[REDUCE_SETS];
    const int64_t item = (int64_t)strided_item[dtype], count = b.layers * b.columns, end = count + room_behind(&b);
    char *out = malloc((size_t)((end + 1) * item)), *want = malloc((size_t)(count * item));
    for (int few = 0; few < 2; few++) {
        char *x = elements(dtype, size_of(&b), few, state);
        b.x = x;
        for (int set = reduce_sets_of(dtype, loops) - 1; set >= 0; set--)
            for (int op = few ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_SUM; op <= LAM__REDUCE_OP_MIN; op++) {
                memset(out + end * item, 0x5a, (size_t)item);
                loops[set]->leaf((lam__reduce_op)op, &b, out);
                for (int64_t k = 0; k < b.layers; k++) {
                    const lam__reduce_block one = lam__reduce_layer(&b, k, item);
                    loops[0]->leaf((lam__reduce_op)op, &one, want + k * b.columns * item);
                }
                STRIDED_CHECK(memcmp(out, want, (size_t)(count * item)) == 0,
                              "set %d, operation %d, %d layers of %d rows of %d", set, op, (int)b.layers, (int)b.rows,
                              (int)b.columns);
                for (int64_t i = 0; i < item; i++) STRIDED_CHECK(out[end * item + i] == 0x5a, "wrote beyond the end");
            }
        free(x);
    }
    free(want);
    free(out);
}

/* _i: the dtype. */
START_TEST(layers_are_blocks) {
    static const int64_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 23, 31, 32, 33, 70};
    uint64_t state = 19 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t columns = 1; columns < 40; columns += 1 + columns / 10 * 2) {
            for (int k = 0; k < LAYOUTS; k++)
                check_leaf((lam_dtype)_i, layout(k, 1 + strided_below(&state, 20), rows[r], columns), &state);
            lam__reduce_block some = layout(0, 1 + strided_below(&state, 20), rows[r], columns);
            some.behind = 20;
            check_leaf((lam_dtype)_i, some, &state);
        }
}
END_TEST

/* Columns beside others, dense, with gaps behind them and between them, near or in memory, have the bits of the same
 * columns alone. _i: the dtype. */
START_TEST(columns_beside_others) {
    static const int64_t rows[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 64},
                         columns[] = {8, 9, 12, 15, 16, 17, 31, 33, 64, 65, 100, 130, 257};
    const lam_dtype dtype = (lam_dtype)_i;
    const int64_t item = (int64_t)strided_item[dtype];
    const lam__reduce_type *loops[REDUCE_SETS];
    uint64_t state = 23 + (uint64_t)_i;
    char *out = malloc(258 * 8), *want = malloc(257 * 8);
    for (size_t i = 0; i < sizeof rows / sizeof *rows * (sizeof columns / sizeof *columns) * 12; i++) {
        const int64_t n = columns[i / 12 % (sizeof columns / sizeof *columns)], step = i % 3 == 2 ? 2 : 1;
        const int64_t r = rows[i / 12 / (sizeof columns / sizeof *columns)], down = n * step + (i % 3 ? GAP : 0);
        lam__reduce_block b = {NULL, n, step, r, down, (lam__reduce_reach)(i / 3 % 3), 1, 0, false, 0};
        char *x = elements(dtype, size_of(&b), i / 6 % 2, &state);
        b.x = x;
        for (int set = reduce_sets_of(dtype, loops) - 1; set >= 0; set--)
            for (int op = i / 6 % 2 ? LAM__REDUCE_OP_MAX : LAM__REDUCE_OP_SUM; op <= LAM__REDUCE_OP_MIN; op++) {
                memset(out + n * item, 0x5a, 8);
                loops[set]->leaf((lam__reduce_op)op, &b, out);
                for (int64_t c = 0; c < n; c++) {
                    const lam__reduce_block one = {x + c * step * item, 1, 1, r,     down,
                                                   LAM__REDUCE_NEAR,    1, 0, false, 0};
                    loops[0]->leaf((lam__reduce_op)op, &one, want + c * item);
                }
                STRIDED_CHECK(memcmp(out, want, (size_t)(n * item)) == 0, "set %d, operation %d, %d rows of %d, %d",
                              set, op, (int)r, (int)n, (int)(i % 12));
                for (int k = 0; k < 8; k++) STRIDED_CHECK(out[n * item + k] == 0x5a, "wrote beyond the end");
            }
        free(x);
    }
    free(want);
    free(out);
}
END_TEST

/* By the door that plans: many layers of 5 x 3, so that results go past the caches, each made of its own elements; what
 * lies behind the last one stays as it was. */
enum { FAR_LAYERS = (9 << 20) / 12 + 5, FAR_RESULTS = 3 * FAR_LAYERS, FAR_ROWS = 5 };
static const int64_t far_dims[3] = {FAR_LAYERS, FAR_ROWS, 3}, far_strides[3] = {3 * FAR_ROWS, 3, 1};
static const bool far_reduced[3] = {false, true, false};

/* Numbers without order; row 0 of result i, the others 3 elements from each other. */
static int far_number(int64_t at) {
    return (int)(at * 131 % 251);
}

static int64_t far_first(int64_t i) {
    return i / 3 * 3 * FAR_ROWS + i % 3;
}

START_TEST(layers_larger_than_the_caches) {
    float *x = malloc((size_t)FAR_RESULTS * FAR_ROWS * sizeof *x), *out = malloc((FAR_RESULTS + 1) * sizeof *out);
    int64_t *places = malloc((FAR_RESULTS + 1) * sizeof *places);
    for (int64_t i = 0; i < (int64_t)FAR_RESULTS * FAR_ROWS; i++) x[i] = (float)far_number(i);
    out[FAR_RESULTS] = -7, places[FAR_RESULTS] = -7;
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F32, 3, far_dims, far_reduced, x, far_strides, out);
    lam__kernels_arg(true, LAM_F32, 3, far_dims, 1, x, far_strides, places);
    for (int64_t i = 0; i < FAR_RESULTS; i++) {
        int sum = 0, best = 0;
        for (int r = 0; r < FAR_ROWS; r++) {
            sum += far_number(far_first(i) + 3 * r);
            if (far_number(far_first(i) + 3 * r) > far_number(far_first(i) + 3 * best)) best = r;
        }
        STRIDED_CHECK(out[i] == (float)sum && places[i] == best, "result %d", (int)i);
    }
    ck_assert(out[FAR_RESULTS] == -7 && places[FAR_RESULTS] == -7);
    free(places);
    free(out);
    free(x);
}
END_TEST

/* The same of bytes, whose sums are i64. */
START_TEST(layers_of_bytes_larger_than_the_caches) {
    uint8_t *x = malloc((size_t)FAR_RESULTS * FAR_ROWS), *out = malloc(FAR_RESULTS + 1);
    int64_t *sums = malloc((FAR_RESULTS + 1) * sizeof *sums);
    for (int64_t i = 0; i < (int64_t)FAR_RESULTS * FAR_ROWS; i++) x[i] = (uint8_t)far_number(i);
    out[FAR_RESULTS] = 7, sums[FAR_RESULTS] = -7;
    lam__kernels_reduce(LAM__REDUCE_TALLY, LAM_U8, 3, far_dims, far_reduced, x, far_strides, sums);
    lam__kernels_reduce(LAM__REDUCE_MAX, LAM_U8, 3, far_dims, far_reduced, x, far_strides, out);
    for (int64_t i = 0; i < FAR_RESULTS; i++) {
        int sum = 0, most = 0;
        for (int r = 0; r < FAR_ROWS; r++) {
            const int v = far_number(far_first(i) + 3 * r);
            sum += v;
            if (v > most) most = v;
        }
        STRIDED_CHECK(sums[i] == sum && out[i] == most, "result %d", (int)i);
    }
    ck_assert(out[FAR_RESULTS] == 7 && sums[FAR_RESULTS] == -7);
    free(sums);
    free(out);
    free(x);
}
END_TEST

/* Three and five to seven columns: the error of a sum of many equal numbers stays that of a pairwise one; every set
 * gives the same bits; parts of it are nodes of its tree. */
START_TEST(sums_of_few_columns) {
    static const int64_t lengths[] = {31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1024, 3333, 1 << 18};
    const bool reduced[2] = {true, false};
    for (int64_t n = 3; n < 8; n += 1 + (n == 3))
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const int64_t rows = lengths[k], dims[2] = {rows, n}, strides[2] = {n, 1};
            float *x = malloc((size_t)(rows * n) * sizeof *x), out[8], v1[8], *parts;
            for (int64_t i = 0; i < rows * n; i++) x[i] = 0.1f * (float)(1 + i % n);
            lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F32, 2, dims, reduced, x, strides, out);
            for (int64_t c = 0; c < n; c++) {
                const long double want = (long double)x[c] * (long double)rows;
                STRIDED_CHECK(fabsl(out[c] - want) <= 4 * FLT_EPSILON * want, "%d of %d: %.9g", (int)c, (int)n, out[c]);
            }
            const int64_t leaves = lam__kernels_reduce_leaves(LAM__REDUCE_SUM, LAM_F32, 2, dims, reduced, strides);
            parts = malloc((size_t)(leaves * n) * sizeof *parts);
            for (int64_t i = 0; i < leaves; i++)
                lam__kernels_reduce_part(LAM__REDUCE_SUM, LAM_F32, 2, dims, reduced, x, strides, i, 1, parts + i * n);
            lam__kernels_reduce_join(LAM__REDUCE_SUM, LAM_F32, n, leaves, parts);
            ck_assert_mem_eq(parts, out, (size_t)n * sizeof *out);
            const lam__reduce_block b = {x, n, 1, rows < 512 ? rows : 512, n, LAM__REDUCE_NEAR, 1, 0, false, 0};
            const lam__reduce_type *loops[REDUCE_SETS];
            for (int set = reduce_sets_of(LAM_F32, loops) - 1; set >= 0; set--) {
                loops[set]->leaf(LAM__REDUCE_OP_SUM, &b, out);
                loops[0]->leaf(LAM__REDUCE_OP_SUM, &b, v1);
                ck_assert_mem_eq(v1, out, (size_t)n * sizeof *out);
            }
            free(parts);
            free(x);
        }
}
END_TEST

/* ---- places ---------------------------------------------------------------------------------------------------- */

static int64_t expected_place(lam__reduce_op op, lam_dtype dtype, const lam__reduce_block *b, int64_t c) {
    int64_t best = 0;
    for (int64_t r = 1; r < b->rows; r++) {
        const long double v = strided_get(dtype, b->x, c * b->step + r * b->row_step);
        const long double most = strided_get(dtype, b->x, c * b->step + best * b->row_step);
        if (isnan(most)) break;
        if (isnan(v) || (op == LAM__REDUCE_OP_MAX ? v > most : v < most)) best = r;
    }
    return best;
}

static void check_places(lam_dtype dtype, lam__reduce_block b, int few, uint64_t *state) {
    const lam__reduce_type *loops[REDUCE_SETS];
    const int64_t step = b.behind ? 1 : 1 + strided_below(state, 2), count = b.layers * b.columns;
    const int64_t end = count * step + room_behind(&b);
    int64_t *out = malloc((size_t)(end + 1) * sizeof *out);
    const lam__reduce_target to = {out, step, b.columns * step};
    char *x = elements(dtype, size_of(&b), few, state);
    b.x = x;
    for (int set = reduce_sets_of(dtype, loops) - 1; set >= 0; set--)
        for (int op = LAM__REDUCE_OP_MAX; op <= LAM__REDUCE_OP_MIN; op++) {
            out[end] = -77;
            loops[set]->arg((lam__reduce_op)op, &b, &to);
            ck_assert_int_eq(out[end], -77);
            for (int64_t i = 0; i < count; i++) {
                const lam__reduce_block one = lam__reduce_layer(&b, i / b.columns, (int64_t)strided_item[dtype]);
                const int64_t want = expected_place((lam__reduce_op)op, dtype, &one, i % b.columns);
                STRIDED_CHECK(out[i * step] == want, "set %d, operation %d, %d layers of %d rows of %d: %d, not %d",
                              set, op, (int)b.layers, (int)b.rows, (int)b.columns, (int)out[i * step], (int)want);
            }
        }
    free(x);
    free(out);
}

/* Rows of every length around vectors and 64 bits, dense and with gaps; the first of equals, NaN before numbers. _i:
 * the dtype. */
START_TEST(places_in_short_rows) {
    static const int64_t columns[] = {1, 7, 8, 9, 16, 17, 20, 70, 130, 300};
    uint64_t state = 23 + (uint64_t)_i;
    for (int64_t rows = 1; rows < 560; rows += rows < 140 ? 1 : 13)
        for (int k = 0; k < 2; k++) {
            const int64_t n = columns[strided_below(&state, sizeof columns / sizeof *columns)];
            const lam__reduce_block b = {NULL, n, rows + k * GAP, rows, 1, LAM__REDUCE_NEAR, 1, 0, false, 0};
            check_places((lam_dtype)_i, b, rows % 3, &state);
        }
}
END_TEST

/* Columns side by side, few rows and many, near and in memory. */
START_TEST(places_in_wide_columns) {
    static const int64_t rows[] = {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 71, 129, 300},
                         columns[] = {8, 15, 16, 17, 33, 64, 100, 130, 513, 600};
    uint64_t state = 37 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            for (int few = 0; few <= RARE; few++) {
                const lam__reduce_block b = {NULL,
                                             columns[c],
                                             1,
                                             rows[r],
                                             columns[c] + (r + c) % 3 * GAP,
                                             (lam__reduce_reach)((r + (size_t)few) % 3),
                                             1,
                                             0,
                                             false,
                                             0};
                check_places((lam_dtype)_i, b, few, &state);
            }
    const lam__reduce_block narrow = {NULL, 5, 1, 5000, 5, LAM__REDUCE_MEMORY, 1, 0, false, 0};
    for (int few = 0; few <= RARE; few++) check_places((lam_dtype)_i, narrow, few, &state);
}
END_TEST

START_TEST(places_in_layers) {
    static const int64_t rows[] = {1, 2, 3, 4, 5, 6, 8, 9, 33, 126, 127, 128, 129, 300};
    uint64_t state = 29 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t columns = 1; columns < 40; columns += 1 + columns / 10 * 2) {
            for (int k = 0; k < LAYOUTS; k++)
                check_places((lam_dtype)_i, layout(k, 1 + strided_below(&state, 20), rows[r], columns), k % 4, &state);
            lam__reduce_block some = layout(0, 1 + strided_below(&state, 20), rows[r], columns);
            some.behind = 20;
            check_places((lam_dtype)_i, some, (int)columns % 3, &state);
        }
}
END_TEST

/* ---- running sums ------------------------------------------------------------------------------------------------ */

/* A sum alone has the bits of the same sum beside others: of lengths around blocks, forwards and backwards, in steps,
 * with numbers that cancel, and with an infinity and its opposite on the way. */
START_TEST(running_sums_alone_and_beside_others) {
    enum { LONGEST = 900, BESIDE = 16 };
    static double x[LONGEST], wide[LONGEST][BESIDE], beside[LONGEST][BESIDE], alone[3 * LONGEST];
    static const int64_t lengths[] = {1, 2, 3, 255, 256, 257, 319, 320, 321, 322, 384, 385, 512, 640, 641, 899, 900};
    const lam__reduce_type *loops[REDUCE_SETS];
    uint64_t state = 37;
    for (int special = 0; special < 3; special++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const int64_t n = lengths[k];
            for (int64_t i = 0; i < n; i++) {
                strided_put_random(LAM_F64, x, i, &state);
                x[i] *= i % 3 ? 0x1p40 : 1;
            }
            if (special > 0 && n > 2) x[strided_below(&state, (int)n)] = INFINITY;
            if (special > 1 && n > 2) x[strided_below(&state, (int)n)] = -INFINITY;
            for (int64_t i = 0; i < n; i++)
                for (int c = 0; c < BESIDE; c++) wide[i][c] = x[i];
            for (int set = reduce_sets_of(LAM_F64, loops) - 1; set >= 0; set--)
                for (int64_t step = -3; step <= 3; step += 2) {
                    const bool back = step < 0;
                    const lam__reduce_block columns = {back ? wide[n - 1] : wide[0],
                                                       BESIDE,
                                                       1,
                                                       n,
                                                       back ? -BESIDE : BESIDE,
                                                       LAM__REDUCE_NEAR,
                                                       1,
                                                       0,
                                                       false,
                                                       0};
                    const lam__reduce_block one = {back ? x + n - 1 : x, 1, 1, n,     back ? -1 : 1,
                                                   LAM__REDUCE_NEAR,     1, 0, false, 0};
                    const lam__reduce_target to_columns = {beside[0], 1, BESIDE};
                    const lam__reduce_target to_one = {back ? alone - step * (n - 1) : alone, 1, step};
                    loops[0]->scan(LAM__REDUCE_OP_SUM, &columns, &to_columns);
                    loops[set]->scan(LAM__REDUCE_OP_SUM, &one, &to_one);
                    for (int64_t i = 0; i < n; i++) {
                        const double got = ((double *)to_one.out)[i * step], want = beside[i][BESIDE - 1];
                        STRIDED_CHECK(memcmp(&got, &want, sizeof got) == 0 || (isnan(got) && isnan(want)),
                                      "set %d, %d of %d, step %d: %g, not %g", set, (int)i, (int)n, (int)step, got,
                                      want);
                    }
                }
        }
}
END_TEST

Suite *suite_kernels_layers(void);

Suite *suite_kernels_layers(void) {
    Suite *suite = suite_create("kernels/layers");
    TCase *tests = tcase_create("layers");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, columns_beside_others, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, layers_are_blocks, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, layers_larger_than_the_caches);
    tcase_add_test(tests, layers_of_bytes_larger_than_the_caches);
    tcase_add_test(tests, sums_of_few_columns);
    tcase_add_loop_test(tests, places_in_short_rows, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, places_in_wide_columns, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, places_in_layers, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, running_sums_alone_and_beside_others);
    suite_add_tcase(suite, tests);
    return suite;
}
