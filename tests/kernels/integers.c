/* Reductions of integers (lib/kernels/reduce_integers.h) in every instruction set, against plain loops: at lengths
 * around those of vectors, groups, words and blocks, dense and with gaps, along rows and columns and in layers, with
 * elements that are drawn and with extremes. Blocks end where their memory does, so that a sanitizer sees what is read
 * beyond. */
#include "tests/kernels/reduce_sets.h"
#include "tests/kernels/strided.h"

enum { GAP = 3 };

static const lam_dtype dtypes[] = {LAM_I64, LAM_I32, LAM_U8, LAM_BOOL};

static int64_t get(lam_dtype dtype, const void *x, int64_t i) {
    switch (dtype) {
    case LAM_I64: return ((const int64_t *)x)[i];
    case LAM_I32: return ((const int32_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

static void put(lam_dtype dtype, void *x, int64_t i, int64_t v) {
    switch (dtype) {
    case LAM_I64: ((int64_t *)x)[i] = v; return;
    case LAM_I32: ((int32_t *)x)[i] = (int32_t)v; return;
    default: ((uint8_t *)x)[i] = (uint8_t)v;
    }
}

/* What an operation gives for column c: in uint64_t, which wraps, and cut to the dtype. */
static int64_t expected(lam__reduce_op op, lam_dtype dtype, const lam__reduce_block *b, int64_t c) {
    int64_t r = get(dtype, b->x, c * b->step), all[1];
    for (int64_t i = 1; i < b->rows; i++) {
        const int64_t v = get(dtype, b->x, c * b->step + i * b->row_step);
        switch (op) {
        case LAM__REDUCE_OP_SUM: r = (int64_t)((uint64_t)r + (uint64_t)v); break;
        case LAM__REDUCE_OP_PROD: r = (int64_t)((uint64_t)r * (uint64_t)v); break;
        case LAM__REDUCE_OP_MAX: r = v > r ? v : r; break;
        default: r = v < r ? v : r;
        }
    }
    put(dtype, all, 0, r);
    return get(dtype, all, 0);
}

static int64_t expected_tally(lam_dtype dtype, const lam__reduce_block *b, int64_t c) {
    int64_t sum = 0;
    for (int64_t i = 0; i < b->rows; i++) sum += get(dtype, b->x, c * b->step + i * b->row_step);
    return sum;
}

/* The first of the largest or least. */
static int64_t expected_place(lam__reduce_op op, lam_dtype dtype, const lam__reduce_block *b, int64_t c) {
    const int64_t best = expected(op, dtype, b, c);
    int64_t i = 0;
    while (get(dtype, b->x, c * b->step + i * b->row_step) != best) i++;
    return i;
}

/* Results that are no block's: where layers may be read that are not reduced, what comes of them may be written. */
static int64_t room_behind(const lam__reduce_block *b) {
    return b->behind ? LAM__REDUCE_BEHIND : 0;
}

/* Places of all layers, `gap` behind each. */
static void check_places(lam_dtype dtype, const lam__reduce_type *loops, int set, const lam__reduce_block *b, int gap) {
    const int64_t all = (b->columns + gap) * b->layers + room_behind(b);
    int64_t *out = malloc((size_t)(all + 1) * sizeof *out);
    const lam__reduce_target to = {out, 1, b->columns + gap};
    for (int op = LAM__REDUCE_OP_MAX; op <= LAM__REDUCE_OP_MIN; op++) {
        out[all] = -77;
        loops->arg((lam__reduce_op)op, b, &to);
        STRIDED_CHECK(out[all] == -77, "wrote beyond the end");
        for (int64_t i = 0; i < b->columns * b->layers; i++) {
            const lam__reduce_block one = lam__reduce_layer(b, i / b->columns, (int64_t)strided_item[dtype]);
            const int64_t place = out[i / b->columns * to.row_step + i % b->columns];
            STRIDED_CHECK(place == expected_place((lam__reduce_op)op, dtype, &one, i % b->columns),
                          "set %d, place, operation %d, %d rows, column %d of %d: %d", set, op, (int)b->rows,
                          (int)(i % b->columns), (int)b->columns, (int)place);
        }
    }
    free(out);
}

/* All layers of a block: their results one behind the other, places also GAP apart. */
static void check_block(lam_dtype dtype, const lam__reduce_block *b) {
    const lam__reduce_type *loops[REDUCE_SETS];
    const int64_t count = b->columns * b->layers, end = count + room_behind(b);
    int64_t *out = malloc((size_t)(end + 1) * sizeof *out);
    for (int set = reduce_sets_of(dtype, loops) - 1; set >= 0; set--) {
        for (int op = LAM__REDUCE_OP_SUM; op <= LAM__REDUCE_OP_MIN; op++) {
            put(dtype, out, end, 77);
            loops[set]->leaf((lam__reduce_op)op, b, out);
            STRIDED_CHECK(get(dtype, out, end) == 77, "wrote beyond the end");
            for (int64_t i = 0; i < count; i++) {
                const lam__reduce_block one = lam__reduce_layer(b, i / b->columns, (int64_t)strided_item[dtype]);
                STRIDED_CHECK(get(dtype, out, i) == expected((lam__reduce_op)op, dtype, &one, i % b->columns),
                              "set %d, operation %d, %d rows, column %d of %d", set, op, (int)b->rows,
                              (int)(i % b->columns), (int)b->columns);
            }
        }
        for (int gap = 0; gap <= GAP; gap += GAP) check_places(dtype, loops[set], set, b, gap);
        if (!loops[set]->tally) continue;
        out[end] = 77;
        loops[set]->tally(b, out);
        STRIDED_CHECK(out[end] == 77, "tally wrote beyond the end");
        for (int64_t i = 0; i < count; i++) {
            const lam__reduce_block one = lam__reduce_layer(b, i / b->columns, (int64_t)strided_item[dtype]);
            STRIDED_CHECK(out[i] == expected_tally(dtype, &one, i % b->columns),
                          "set %d, tally, %d rows, column %d of %d", set, (int)b->rows, (int)(i % b->columns),
                          (int)b->columns);
        }
    }
    free(out);
}

/* The elements of a block that ends where its memory does: drawn, or all the largest or the least. */
static char *elements(lam_dtype dtype, int64_t count, int kind, uint64_t *state) {
    static const int64_t ends[][2] = {[LAM_I64] = {INT64_MAX, INT64_MIN},
                                      [LAM_I32] = {INT32_MAX, INT32_MIN},
                                      [LAM_U8] = {255, 0},
                                      [LAM_BOOL] = {1, 0}};
    char *x = malloc((size_t)count * strided_item[dtype]);
    for (int64_t i = 0; i < count; i++) {
        if (kind == 0) strided_put_random(dtype, x, i, state);
        else put(dtype, x, i, ends[dtype][kind - 1]);
    }
    return x;
}

/* One shape in four layouts: rows dense, with gaps; columns dense, with gaps; and columns with gaps of their own. */
static void check_shape(lam_dtype dtype, int64_t rows, int64_t columns, int kind, uint64_t *state) {
    const int64_t steps[][2] = {{rows, 1},          {rows + GAP, 1},        {1, columns},
                                {1, columns + GAP}, {2, 2 * columns + GAP}, {rows * GAP, GAP}};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        const int64_t count = (columns - 1) * steps[k][0] + (rows - 1) * steps[k][1] + 1;
        char *x = elements(dtype, count, kind, state);
        const lam__reduce_block b = {x, columns, steps[k][0], rows, steps[k][1], (lam__reduce_reach)(rows % 3),
                                     1, 0,       false,       0};
        check_block(dtype, &b);
        free(x);
    }
}

/* Layers: dense, with gaps between them, with gaps between rows; ones that overlap; and rows that lie the other way. */
static void check_layers(lam_dtype dtype, int64_t layers, int64_t rows, int64_t columns, uint64_t *state) {
    const int64_t wide = columns + GAP,
                  steps[][3] = {{1, columns, rows * columns},  {1, columns, rows * columns + GAP},
                                {1, wide, rows * wide},        {1, columns, 1},
                                {rows, 1, rows * columns},     {2, 2 * columns, 2 * rows * columns},
                                {1, layers * columns, columns}};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        const int64_t *s = steps[k], count = (layers - 1) * s[2] + (columns - 1) * s[0] + (rows - 1) * s[1] + 1;
        char *x = elements(dtype, count, 0, state);
        const lam__reduce_block b = {x,      columns, s[0],  rows, s[1], (lam__reduce_reach)(state[0] % 3),
                                     layers, s[2],    false, 0};
        check_block(dtype, &b);
        free(x);
    }
}

/* Every short length, and those around longer ones. _i: the dtype. */
START_TEST(integers_of_every_length) {
    static const int lengths[] = {63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513, 1025, 2049, 4111};
    static const int columns[] = {1, 2, 3, 7, 8, 9, 16, 17, 33};
    uint64_t state = 31 + (uint64_t)_i;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (int64_t rows = 1; rows < 40; rows++) check_shape(dtypes[_i], rows, columns[c], (int)(rows % 3), &state);
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            if (lengths[k] * columns[c] < 10000) check_shape(dtypes[_i], lengths[k], columns[c], (int)(k % 3), &state);
    }
    for (int64_t rows = 200; rows < 2500; rows += 830) check_shape(dtypes[_i], rows, 66, rows % 3, &state);
    for (int n = 2; n < 12; n += 3) check_shape(dtypes[_i], 10007, n, n % 2, &state);
    for (int64_t rows = 1; rows < 34; rows += 3)
        for (int64_t n = 100; n < 3000; n *= 3) check_shape(dtypes[_i], rows, n, 0, &state);
}
END_TEST

/* Small blocks one behind the other, of all numbers of columns that are part of a vector. _i: the dtype. */
START_TEST(integers_in_layers) {
    static const int64_t rows[] = {1, 2, 3, 4, 7, 8, 9, 16, 23, 130};
    uint64_t state = 77 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t columns = 1; columns < 80; columns += 1 + columns / 8 * 3) {
            check_layers(dtypes[_i], 1 + strided_below(&state, 12), rows[r], columns, &state);
            check_layers(dtypes[_i], 2 + 64 / columns, rows[r], columns, &state);
        }
    for (int64_t columns = 4; columns <= 64; columns *= 2) check_layers(dtypes[_i], 9, 16, columns, &state);
}
END_TEST

/* Many rows of few columns: around as many as are taken apart or folded as they lie, and as fill vectors or do not. _i:
 * the dtype. */
START_TEST(integers_in_thin_layers) {
    static const int64_t rows[] = {31, 32, 33, 47, 48, 63, 64, 65, 79, 80, 128, 192, 256, 301};
    uint64_t state = 78 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t columns = 2; columns < 7; columns++)
            check_layers(dtypes[_i], 40 + strided_below(&state, 9), rows[r], columns, &state);
    for (int64_t few = 2; few < 31; few += 1 + 2 * SANITIZED)
        for (int64_t columns = 2; columns < 7; columns++)
            check_layers(dtypes[_i], 17 + strided_below(&state, 60), few, columns, &state);
}
END_TEST

/* Layers of which a vector holds several rows, around as many as a byte counts, and vectors of them: with few different
 * elements, so that the first of equals may be anywhere. _i: the dtype. */
START_TEST(places_in_thin_layers) {
    static const int64_t rows[] = {23, 64, 65, 127, 255, 256, 257, 511, 512, 513, 1025, 2047, 4100, 8192, 8200};
    uint64_t state = 79 + (uint64_t)_i;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t n = 2; n < 19; n += 1 + (int64_t)r / 8 * 2) {
            const int64_t layers = 1 + strided_below(&state, 3), layer = rows[r] * n, count = layers * layer;
            const lam_dtype dtype = dtypes[_i];
            char *x = elements(dtype, count, 0, &state);
            for (int64_t i = 0; i < count; i++) put(dtype, x, i, get(dtype, x, i) & (r % 2 ? 3 : 127));
            for (int64_t c = 0; c < n; c++) put(dtype, x, (c * 97 + (int64_t)r) % rows[r] * n + c, c % 2 ? 127 : 0);
            const lam__reduce_block b = {x, n, 1, rows[r], n, (lam__reduce_reach)(state % 3), layers, layer, false, 0};
            check_block(dtype, &b);
            free(x);
        }
}
END_TEST

/* Layers of up to nine columns of bytes and of any number of rows around those of 16 bytes, of vectors, and of what a
 * byte counts (lib/kernels/reduce_pairs.h): drawn, all the largest, all 0, and of two values, so that the first of
 * equals may be anywhere; alone or with others behind them, with gaps between them or without. One column is rows as
 * well. */
static void check_bytes(int64_t rows, int64_t columns, int kind, uint64_t *state) {
    const int64_t layers = 1 + strided_below(state, 50), layer = rows * columns + strided_below(state, 3) / 2 * GAP;
    const int64_t behind = strided_below(state, 2) * 70, count = (layers + behind - 1) * layer + rows * columns;
    char *x = elements(LAM_U8, count, kind % 3, state);
    for (int64_t i = 0; i < count && kind == 3; i++) x[i] &= 1;
    const lam__reduce_block b = {x,      columns, 1,     rows,  columns, (lam__reduce_reach)(*state % 3),
                                 layers, layer,   false, behind};
    check_block(LAM_U8, &b);
    if (columns == 1) check_block(LAM_U8, &(lam__reduce_block){x, layers, layer, rows, 1, b.far, 1, 0, false, 0});
    free(x);
}

/* _i: the number of columns. */
START_TEST(bytes_of_few_columns) {
    static const int64_t rows[] = {63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 255, 256, 257, 258, 300, 512, 1026};
    uint64_t state = 80 + (uint64_t)_i;
    for (int kind = 0; kind < 4; kind++) {
        for (int64_t few = 2; few < 52; few++) check_bytes(few, _i, kind, &state);
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) check_bytes(rows[r], _i, kind, &state);
    }
}
END_TEST

/* 16 and 32 columns of bytes in more rows than an element of 16 bits counts. */
START_TEST(bytes_of_many_rows) {
    static const int64_t rows[] = {2, 4, 30, 255, 256, 257, 510, 512, 514, 768, 1000, 1024};
    uint64_t state = 81;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int64_t columns = 8; columns <= 32; columns *= 2)
            for (int kind = 0; kind < 2; kind++) {
                check_bytes(rows[r], columns, kind, &state);
                check_bytes(rows[r], columns + 3, kind, &state);
            }
}
END_TEST

/* Sums of the extremes of more elements than a leaf has, by the door that plans: exact where their own dtype wraps. */
START_TEST(tallies_do_not_wrap) {
    const lam_dtype dtype = dtypes[_i];
    static const int64_t dims[][2] = {{1, 100003}, {3, 40001}, {40001, 3}, {70000, 1}, {300, 300}};
    if (dtype == LAM_I64) return;
    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
        for (int kind = 1; kind < 3; kind++)
            for (int axes = 1; axes < 4; axes++) {
                uint64_t state = 1;
                char *x = elements(dtype, dims[k][0] * dims[k][1], kind, &state);
                const bool reduced[2] = {axes & 1, axes & 2};
                const int64_t strides[2] = {dims[k][1], 1}, first = get(dtype, x, 0);
                const int64_t results = (reduced[0] ? 1 : dims[k][0]) * (reduced[1] ? 1 : dims[k][1]);
                int64_t *out = malloc((size_t)results * sizeof *out);
                lam__kernels_reduce(LAM__REDUCE_TALLY, dtype, 2, dims[k], reduced, x, strides, out);
                for (int64_t i = 0; i < results; i++)
                    ck_assert_int_eq(out[i], first * (dims[k][0] * dims[k][1] / results));
                free(out);
                free(x);
            }
}
END_TEST

/* The first of equals in columns, at every row of more than a number of one byte counts; NaN before and behind. */
START_TEST(places_in_columns) {
    enum { ROWS = 300, COLUMNS = 9 };
    static uint8_t bytes[ROWS][COLUMNS];
    static float x[ROWS][COLUMNS];
    const int64_t dims[2] = {ROWS, COLUMNS}, strides[2] = {COLUMNS, 1};
    int64_t out[COLUMNS];
    for (int64_t at = 0; at < ROWS; at++) {
        for (int64_t r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) bytes[r][c] = r >= at, x[r][c] = (float)(r >= at);
        lam__kernels_arg(true, LAM_U8, 2, dims, 0, bytes, strides, out);
        for (int c = 0; c < COLUMNS; c++) ck_assert_int_eq(out[c], at);
        lam__kernels_arg(true, LAM_F32, 2, dims, 0, x, strides, out);
        for (int c = 0; c < COLUMNS; c++) ck_assert_int_eq(out[c], at);
        for (int c = 0; c < COLUMNS; c++) x[at / 2 + 1][c] = x[ROWS - 1][c] = NAN;
        lam__kernels_arg(at % 2, LAM_F32, 2, dims, 0, x, strides, out);
        for (int c = 0; c < COLUMNS; c++) ck_assert_int_eq(out[c], at / 2 + 1);
    }
}
END_TEST

/* A reduction of bools that is known before its end: the one element that settles it stands anywhere, or nowhere. */
START_TEST(bools_are_settled_by_one) {
    enum { COUNT = 3 * LAM__REDUCE_LEAF + 1 };
    static const int places[] = {0, 1, 1022, 1023, 1024, 1025, 2047, 2048, 3071, 3072, COUNT};
    const int64_t dims[] = {COUNT}, strides[] = {1};
    uint8_t x[COUNT], out[1];
    for (int sought = 0; sought < 2; sought++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            const int at = places[k];
            memset(x, !sought, sizeof x);
            if (at < COUNT) x[at] = (uint8_t)sought;
            const lam__reduce_id id = sought ? LAM__REDUCE_ANY : LAM__REDUCE_ALL;
            lam__kernels_reduce(id, LAM_BOOL, 1, dims, (const bool[]){true}, x, strides, out);
            ck_assert_int_eq(out[0], at < COUNT ? sought : !sought);
        }
}
END_TEST

Suite *suite_kernels_integers(void);

Suite *suite_kernels_integers(void) {
    const int count = (int)(sizeof dtypes / sizeof *dtypes);
    Suite *suite = suite_create("kernels/integers");
    TCase *tests = tcase_create("integers");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, integers_of_every_length, 0, count);
    tcase_add_loop_test(tests, integers_in_layers, 0, count);
    tcase_add_loop_test(tests, integers_in_thin_layers, 0, count);
    tcase_add_loop_test(tests, places_in_thin_layers, 0, count);
    tcase_add_loop_test(tests, bytes_of_few_columns, 1, 10);
    tcase_add_test(tests, bytes_of_many_rows);
    tcase_add_loop_test(tests, tallies_do_not_wrap, 0, count);
    tcase_add_test(tests, places_in_columns);
    tcase_add_test(tests, bools_are_settled_by_one);
    suite_add_tcase(suite, tests);
    return suite;
}
