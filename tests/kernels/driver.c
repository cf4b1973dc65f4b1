/* lam__kernels_elementwise, lam__kernels_copy and lam__kernels_fill on random shapes and strides: each element of
 * the output is the operation on the elements at its index, found by plain index arithmetic, and memory between
 * the output's elements is left alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unmarked.h"
#include "tests/kernels/sets.h"
#include "tests/kernels/strided.h"

enum { LARGEST = 30000 };

static const char *at(const strided *a, const int64_t *index) {
    return a->x + strided_offset(a, index) * (int64_t)strided_item[a->dtype];
}

/* An output: any order of axes, gaps and negative strides, but no two indices on one element. */
static strided make_output(lam_dtype dtype, int rank, const int64_t *dims, uint64_t *state) {
    for (;;) {
        strided a = strided_make(dtype, rank, dims, state);
        bool distinct = true;
        for (int i = 0; i < rank; i++) distinct &= a.strides[i] != 0;
        if (distinct) return a;
        free(a.memory);
    }
}

/* ---- elementwise ------------------------------------------------------------------------------------------ */

static void run(lam__loop_id id, lam_dtype dtype, strided a[], int operands, const int64_t *dims, const void *params) {
    const int64_t *strides[OPERANDS];
    void *p[OPERANDS];
    size_t item[OPERANDS];
    for (int k = 0; k < operands; k++) {
        strides[k] = a[k].strides;
        p[k] = a[k].x;
        item[k] = strided_item[a[k].dtype];
    }
    lam__kernels_elementwise(lam__kernels_loop(id, dtype), operands, a[0].rank, dims, strides, p, item, params);
}

static void compare(lam__loop_id id, lam_dtype dtype, const strided a[], const int64_t *dims) {
    int64_t index[STRIDED_RANK] = {0};
    if (strided_count(a[0].rank, dims) == 0) return;
    do {
        double truth;
        const void *x[3];
        for (int k = 0; k < sets_rows[id].inputs; k++) x[k] = at(&a[k + 1], index);
        lam__reference_element(id, dtype, &truth, x, NULL);
        EXPECT_THAT(sets_same(a[0].dtype, &truth, at(&a[0], index)), "%s at %d %d %d %d %d", sets_rows[id].name,
                    (int)index[0], (int)index[1], (int)index[2], (int)index[3], (int)index[4]);
    } while (strided_next(a[0].rank, dims, index));
}

/* One operation of each number of inputs and of each pair of item sizes. */
static const struct {
    lam__loop_id id;
    lam_dtype dtype;
} operations[] = {
    {LAM__LOOP_neg, LAM_F64}, {LAM__LOOP_is_nan, LAM_F32}, {LAM__LOOP_sub, LAM_F64},    {LAM__LOOP_lt, LAM_I32},
    {LAM__LOOP_sub, LAM_U8},  {LAM__LOOP_where, LAM_F32},  {LAM__LOOP_where, LAM_BOOL}, {LAM__LOOP_clamp, LAM_I64},
};

START_TEST(elementwise_on_random_strides) {
    lam__loop_id id = operations[_i].id;
    lam_dtype dtype = operations[_i].dtype;
    uint64_t state = (uint64_t)_i + 1;
    for (int round = 0; round < 100; round++) {
        int64_t dims[STRIDED_RANK];
        int rank = strided_random_dims(dims, LARGEST, &state), operands = sets_rows[id].inputs + 1;
        strided a[OPERANDS];
        a[0] = make_output(sets_output(id, dtype), rank, dims, &state);
        for (int k = 1; k < operands; k++) a[k] = strided_make(sets_input(id, dtype, k - 1), rank, dims, &state);
        run(id, dtype, a, operands, dims, NULL);
        compare(id, dtype, a, dims);
        for (int k = 0; k < operands; k++) free(a[k].memory);
    }
}
END_TEST

/* The shapes the driver treats apart: a tiny last axis against a broadcast row, a transposed operand, both. */
START_TEST(elementwise_on_shapes_walked_in_tiles) {
    static const struct {
        int64_t dims[3], x[3], y[3];
    } cases[] = {
        {{5000, 3, 1}, {3, 1, 1}, {0, 1, 1}},        {{7, 1500, 3}, {4500, 3, 1}, {0, 0, 1}},
        {{130, 200, 1}, {1, 130, 1}, {200, 1, 1}},   {{65, 129, 3}, {1, 65, 65 * 129}, {0, 3, 1}},
        {{2, 100, 100}, {10000, 1, 100}, {1, 0, 2}},
    };
    static double memory[3][LARGEST * 2];
    uint64_t state = 9;
    for (int k = 1; k < 3; k++) sets_fill(LAM_F64, memory[k], LARGEST * 2, &state);
    for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
        const int64_t *dims = cases[c].dims, out[3] = {dims[1] * dims[2], dims[2], 1};
        strided a[3] = {{.dtype = LAM_F64, .rank = 3}, {.dtype = LAM_F64, .rank = 3}, {.dtype = LAM_F64, .rank = 3}};
        const int64_t *from[3] = {out, cases[c].x, cases[c].y};
        for (int k = 0; k < 3; k++) {
            memcpy(a[k].strides, from[k], sizeof out);
            a[k].x = (char *)memory[k];
        }
        run(LAM__LOOP_sub, LAM_F64, a, 3, dims, NULL);
        compare(LAM__LOOP_sub, LAM_F64, a, dims);
    }
}
END_TEST

/* Short rows one behind the other in the output, against each way an input can have its own: dense, a number for each
 * row, a row for all, rows with gaps, turned over, one number; with an axis in front and without. */
START_TEST(elementwise_on_short_rows) {
    enum { ROWS = 150, WIDEST = 33, WAYS = 6 };
    lam__loop_id id = operations[_i].id;
    lam_dtype dtype = operations[_i].dtype;
    int operands = sets_rows[id].inputs + 1;
    static double memory[OPERANDS][2 * ROWS * (WIDEST + 1) + 3 * WIDEST];
    uint64_t state = (uint64_t)_i + 3;
    for (int64_t n = 2; n <= WIDEST; n++)
        for (int first = 0; first < WAYS; first++) {
            const int64_t ways[WAYS][2] = {{n, 1}, {1, 0}, {0, 1}, {n + 2, 1}, {1, ROWS}, {0, 0}};
            const int64_t dims[] = {2, ROWS - n, n}, apart[] = {ROWS * n, 0, 1};
            strided a[OPERANDS];
            for (int k = 0; k < operands; k++) {
                const int64_t *way = ways[k ? (first + 2 * k) % WAYS : 0];
                a[k] = (strided){.dtype = k ? sets_input(id, dtype, k - 1) : sets_output(id, dtype), .rank = 3};
                a[k].strides[0] = k ? apart[(k + first) % 3] : (ROWS - n) * n;
                a[k].strides[1] = way[0], a[k].strides[2] = way[1];
                a[k].x = (char *)memory[k];
                if (k) sets_fill(a[k].dtype, memory[k], 2 * ROWS * WIDEST, &state);
            }
            run(id, dtype, a, operands, dims, NULL);
            compare(id, dtype, a, dims);
        }
}
END_TEST

START_TEST(elementwise_takes_32_axes) {
    int64_t dims[LAM__MAX_AXES], out[LAM__MAX_AXES], in[LAM__MAX_AXES];
    double x[1 << 12], y[1 << 12];
    for (int i = 0; i < LAM__MAX_AXES; i++) { /* 12 axes of 2, alternately, the input in opposite order */
        bool two = i % 2 == 0 && i < 24;
        dims[i] = two ? 2 : 1;
        out[i] = two ? 1 << (11 - i / 2) : 0;
        in[i] = two ? 1 << i / 2 : 0;
    }
    for (int i = 0; i < 1 << 12; i++) x[i] = i;
    lam__kernels_elementwise(lam__kernels_loop(LAM__LOOP_neg, LAM_F64), 2, LAM__MAX_AXES, dims,
                             (const int64_t *[]){out, in}, (void *[]){y, x}, (size_t[]){8, 8}, NULL);
    for (int i = 0; i < 1 << 12; i++) {
        int reversed = 0;
        for (int bit = 0; bit < 12; bit++) reversed |= (i >> bit & 1) << (11 - bit);
        ck_assert(y[i] == -reversed);
    }
}
END_TEST

/* ---- copies ---------------------------------------------------------------------------------------------- */

/* C's conversion with the meaning kernels.h adds, through long double, which holds every element exactly. */
static void convert(lam_dtype to, void *out, long double x) {
    static const long double least[] = {0, 0, INT64_MIN, INT32_MIN, 0},
                             most[] = {0, 0, INT64_MAX, INT32_MAX, UINT8_MAX};
    if (to == LAM_BOOL) {
        *(uint8_t *)out = x != 0;
        return;
    }
    if (to == LAM_F64) {
        *(double *)out = (double)x;
        return;
    }
    if (to == LAM_F32) {
        *(float *)out = (float)x;
        return;
    }
    long double inside = isnan(x) ? 0 : x < least[to] ? least[to] : x > most[to] ? most[to] : x;
    if (to == LAM_I64) *(int64_t *)out = (int64_t)inside;
    else if (to == LAM_I32) *(int32_t *)out = (int32_t)inside;
    else *(uint8_t *)out = (uint8_t)inside;
}

static bool is_integer(lam_dtype dtype) {
    return dtype != LAM_F64 && dtype != LAM_F32;
}

/* Between integers high bits are dropped, which modular arithmetic on 64 bits says without a case. */
static void expected(lam_dtype to, void *out, lam_dtype from, const void *x) {
    long double value = strided_get(from, x, 0);
    if (!is_integer(from) || !is_integer(to) || to == LAM_BOOL) {
        convert(to, out, value);
        return;
    }
    uint64_t bits = (uint64_t)(int64_t)value;
    if (to == LAM_I64) memcpy(out, &bits, 8);
    else if (to == LAM_I32) *(uint32_t *)out = (uint32_t)bits;
    else *(uint8_t *)out = (uint8_t)bits;
}

static void check_copy(const strided *to, const strided *from, const int64_t *dims) {
    int64_t index[STRIDED_RANK] = {0};
    lam__kernels_copy(to->rank, dims, to->dtype, to->x, to->strides, from->dtype, from->x, from->strides);
    if (strided_count(to->rank, dims) == 0) return;
    do {
        double truth = 0;
        expected(to->dtype, &truth, from->dtype, at(from, index));
        EXPECT_THAT(sets_same(to->dtype, &truth, at(to, index)), "%g of dtype %d to dtype %d gives %g",
                    sets_show(from->dtype, at(from, index)), from->dtype, to->dtype,
                    sets_show(to->dtype, at(to, index)));
    } while (strided_next(to->rank, dims, index));
}

START_TEST(copy_converts_between_all_dtypes) {
    lam_dtype to = (lam_dtype)(_i / REAL_DTYPES), from = (lam_dtype)(_i % REAL_DTYPES);
    uint64_t state = (uint64_t)_i + 5;
    for (int round = 0; round < 15; round++) {
        int64_t dims[STRIDED_RANK];
        int rank = strided_random_dims(dims, LARGEST / 4, &state);
        strided a = make_output(to, rank, dims, &state), b = strided_make(from, rank, dims, &state);
        check_copy(&a, &b, dims);
        free(a.memory);
        free(b.memory);
    }
}
END_TEST

/* All sets convert alike, special values included; the random copies above only use the machine's own. */
START_TEST(every_set_converts_alike) {
    lam_dtype to = (lam_dtype)(_i / REAL_DTYPES), from = (lam_dtype)(_i % REAL_DTYPES);
    enum { N = 999 };
    static const int64_t ones[2] = {1, 1};
    const lam__simd *sets[SETS];
    int count = sets_of_machine(sets);
    double x[N], out[N], truth;
    uint64_t state = (uint64_t)_i;
    sets_fill(from, x, N, &state);
    for (int s = 0; s < count; s++) {
        sets[s]->convert(to, from)(N, (void *[]){out, x}, ones, NULL);
        for (int i = 0; i < N; i++) {
            expected(to, &truth, from, (char *)x + (size_t)i * strided_item[from]);
            EXPECT_THAT(sets_same(to, &truth, (char *)out + (size_t)i * strided_item[to]), "%s: %g, %d to %d",
                        sets[s]->name, sets_show(from, (char *)x + (size_t)i * strided_item[from]), from, to);
        }
    }
}
END_TEST

START_TEST(copy_saturates_floats_and_drops_nan) {
    static const double x[] = {NAN,    INFINITY, -INFINITY, 1e300, -1e300, 255.9, 256, -0.9, 9223372036854775807.0,
                               -1e-320};
    static const int64_t n = 10, one = 1;
    int64_t wide[10];
    int32_t half[10];
    uint8_t byte[10], truth[10];
    lam__kernels_copy(1, &n, LAM_I64, wide, &one, LAM_F64, x, &one);
    lam__kernels_copy(1, &n, LAM_I32, half, &one, LAM_F64, x, &one);
    lam__kernels_copy(1, &n, LAM_U8, byte, &one, LAM_F64, x, &one);
    lam__kernels_copy(1, &n, LAM_BOOL, truth, &one, LAM_F64, x, &one);
    ck_assert(wide[0] == 0 && wide[1] == INT64_MAX && wide[2] == INT64_MIN && wide[3] == INT64_MAX &&
              wide[8] == INT64_MAX);
    ck_assert(half[0] == 0 && half[1] == INT32_MAX && half[2] == INT32_MIN && half[4] == INT32_MIN && half[5] == 255);
    ck_assert(byte[0] == 0 && byte[1] == 255 && byte[2] == 0 && byte[5] == 255 && byte[6] == 255 && byte[7] == 0);
    ck_assert(truth[0] == 1 && truth[1] == 1 && truth[9] == 1);
}
END_TEST

enum { ROOM = 22000 };

/* Item i of an array of four, eight or sixteen bytes each is made of the number given, and that number is read. */
static void set_item(char *x, size_t item, int64_t i, int32_t number) {
    for (size_t part = 0; part < item; part += 4) memcpy(x + (size_t)i * item + part, &number, 4);
}

static int32_t item_of(const char *x, size_t item, int64_t i) {
    int32_t first, last;
    memcpy(&first, x + (size_t)i * item, 4);
    memcpy(&last, x + (size_t)(i + 1) * item - 4, 4);
    return first == last ? first : -2;
}

/* Items that are numbers of their own in layouts that a copy moves without an elementwise loop: transposed, or in short
 * runs; gaps between runs stay as they are. first: of the items that are read. */
static void check_layout(lam_dtype dtype, const int64_t dims[3], const int64_t to[3], int64_t first,
                         const int64_t from[3]) {
    static char x[16 * ROOM], out[16 * ROOM];
    const size_t item = strided_item[dtype];
    for (int i = 0; i < ROOM; i++) set_item(x, item, i, i), set_item(out, item, i, -1);
    lam__kernels_copy(3, dims, dtype, out, to, dtype, x + (size_t)first * item, from);
    int64_t written = 0;
    for (int64_t i = 0; i < dims[0]; i++)
        for (int64_t j = 0; j < dims[1]; j++)
            for (int64_t k = 0; k < dims[2]; k++)
                ck_assert_int_eq(item_of(out, item, i * to[0] + j * to[1] + k * to[2]),
                                 first + i * from[0] + j * from[1] + k * from[2]);
    for (int i = 0; i < ROOM; i++) written += item_of(out, item, i) != -1;
    ck_assert_int_eq(written, dims[0] * dims[1] * dims[2]);
}

/* Planes of m by n: transposed, also where two axes are one, with two axes exchanged, in steps, from the back, and
 * transposed so; _i is the place of the dtype. */
static const lam_dtype moved_dtypes[] = {LAM_I32, LAM_I64, LAM_C128};

static void check_layouts(lam_dtype dtype, int64_t m, int64_t n) {
    const int64_t dims[] = {2, m, n}, dense[] = {m * n, n, 1};
    check_layout(dtype, dims, (int64_t[]){m * (n + 2), n + 2, 1}, 0, (int64_t[]){n * (m + 3), 1, m + 3});
    check_layout(dtype, dims, (int64_t[]){n + 1, 2 * (n + 1), 1}, 0, (int64_t[]){m * (n + 3), n + 3, 1});
    check_layout(dtype, dims, dense, 0, (int64_t[]){n, 2 * n, 1});
    check_layout(dtype, dims, (int64_t[]){1, 2 * n, 2}, 0, (int64_t[]){m * n, 1, m});
    check_layout(dtype, dims, dense, n - 1, (int64_t[]){m * n, n, -1});
    check_layout(dtype, dims, dense, (m - 1) * n, (int64_t[]){m * n, -n, 1});
    check_layout(dtype, dims, (int64_t[]){m, 1, 2 * m}, 0, (int64_t[]){m * n, n, 1});
    check_layout(dtype, dims, (int64_t[]){m * (n + 2), n + 2, 1}, m - 1, (int64_t[]){n * (m + 3), -1, m + 3});
    check_layout(dtype, dims, dense, 2 * m - 1, (int64_t[]){-m, -1, 2 * m});
}

START_TEST(copies_between_layouts) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 31, 32, 64, 67};
    static const int64_t long_ones[][2] = {{9, 513}, {513, 9}, {3, 1030}, {1030, 7}, {16, 300}, {255, 33}};
    enum { SIZES = sizeof sizes / sizeof *sizes, LONG = sizeof long_ones / sizeof *long_ones };
    for (int a = 0; a < SIZES; a++)
        for (int b = 0; b < SIZES; b++) check_layouts(moved_dtypes[_i], sizes[a], sizes[b]);
    for (int a = 0; a < LONG; a++) check_layouts(moved_dtypes[_i], long_ones[a][0], long_ones[a][1]);
}
END_TEST

/* Columns without gaps, or with steps of every sort in turns; item i of column j is what was there. */
static void check_columns(const lam__simd *set, int64_t rows, int64_t n, bool dense) {
    enum { MOST = 20 };
    static const int64_t steps[] = {1, 0, 2};
    static double x[2 * MOST * MOST], out[MOST * (MOST + 1)];
    const void *column[MOST];
    int64_t step[MOST];
    for (int i = 0; i < 2 * MOST * MOST; i++) x[i] = i;
    for (int i = 0; i < MOST * (MOST + 1); i++) out[i] = -1;
    for (int64_t j = 0; j < n; j++) {
        column[j] = x + 2 * MOST * j;
        step[j] = dense ? 1 : steps[j % 3];
    }
    set->turn(8)->columns(rows, n, column, step, out, n + 1);
    for (int64_t i = 0; i < MOST; i++)
        for (int64_t j = 0; j <= n && i * (n + 1) + j < MOST * (MOST + 1); j++) {
            const double want = i < rows && j < n ? x[2 * MOST * j + i * step[j]] : -1;
            EXPECT_THAT(out[i * (n + 1) + j] == want, "%s: row %d of %d, column %d of %d", set->name, (int)i, (int)rows,
                        (int)j, (int)n);
        }
}

START_TEST(columns_side_by_side_in_every_set) {
    const lam__simd *sets[SETS];
    int count = sets_of_machine(sets);
    for (int s = 0; s < count; s++)
        for (int64_t rows = 0; rows <= 19; rows++)
            for (int64_t n = 1; n <= 19; n++) {
                check_columns(sets[s], rows, n, true);
                check_columns(sets[s], rows, n, false);
            }
}
END_TEST

START_TEST(fill_repeats_the_element) {
    enum { MOST = 70 };
    for (lam_dtype dtype = 0; dtype < REAL_DTYPES; dtype++)
        for (int64_t n = 0; n < MOST; n++) {
            double x[MOST], item;
            size_t size = strided_item[dtype];
            uint64_t state = (uint64_t)n;
            memset(x, 0x5a, sizeof x);
            sets_fill(dtype, &item, 1, &state);
            lam__kernels_fill(dtype, x, n, &item);
            for (int64_t i = 0; i < n; i++) ck_assert(memcmp((char *)x + (size_t)i * size, &item, size) == 0);
            ck_assert_int_eq(((char *)x)[(size_t)n * size], 0x5a);
        }
}
END_TEST

/* Each element comes from its own number, rounded once to f64 and once to the dtype, _i; also of the last counts that
 * f64 has, and written in pieces that are no blocks. */
START_TEST(counts_are_made_from_their_places) {
    enum { N = 1300, PIECE = 37 };
    static const int64_t begins[] = {0, 511, INT64_C(0x80000000) - 700, INT64_C(0x1fffffffffffff) - N};
    const lam_dtype dtype = (lam_dtype)_i;
    const size_t item = strided_item[dtype];
    double whole[N + 1], pieces[N + 1], truth;
    for (int b = 0; b < 4; b++) {
        const double first = b % 2 ? -3.25 : 0, step = b % 2 ? 0.1 : 1;
        memset(whole, 0x5a, sizeof whole);
        lam__kernels_count_up(dtype, first, step, begins[b], N, whole);
        ck_assert_int_eq(((char *)whole)[N * item], 0x5a);
        for (int64_t at = 0; at < N; at += PIECE)
            lam__kernels_count_up(dtype, first, step, begins[b] + at, N - at < PIECE ? N - at : PIECE,
                                  (char *)pieces + (size_t)at * item);
        ck_assert(memcmp(whole, pieces, N * item) == 0);
        for (int j = 0; j < N; j++) {
            const double want = first + step * (double)(begins[b] + j);
            expected(dtype, &truth, LAM_F64, &want);
            ck_assert_msg(memcmp(&truth, (char *)whole + (size_t)j * item, item) == 0, "%d from %lld", j,
                          (long long)begins[b]);
        }
    }
}
END_TEST

Suite *suite_kernels_driver(void) {
    Suite *suite = suite_create("kernels/driver");
    TCase *tests = tcase_create("driver");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, elementwise_on_random_strides, 0, (int)(sizeof operations / sizeof *operations));
    tcase_add_test(tests, elementwise_on_shapes_walked_in_tiles);
    tcase_add_loop_test(tests, elementwise_on_short_rows, 0, (int)(sizeof operations / sizeof *operations));
    tcase_add_test(tests, elementwise_takes_32_axes);
    tcase_add_loop_test(tests, copy_converts_between_all_dtypes, 0, REAL_DTYPES * REAL_DTYPES);
    tcase_add_loop_test(tests, every_set_converts_alike, 0, REAL_DTYPES * REAL_DTYPES);
    tcase_add_test(tests, copy_saturates_floats_and_drops_nan);
    tcase_add_loop_test(tests, copies_between_layouts, 0, 3);
    tcase_add_test(tests, columns_side_by_side_in_every_set);
    tcase_add_test(tests, fill_repeats_the_element);
    tcase_add_loop_test(tests, counts_are_made_from_their_places, 0, REAL_DTYPES);
    suite_add_tcase(suite, tests);
    return suite;
}
