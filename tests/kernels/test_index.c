/* take, and scattering that adds or sets, against loops written from the definition, for every dtype, mode and index
 * type, and for shapes around the chunk of indices; and the check of indices. */
#include "lib/kernels/places.h"
#include "tests/kernels/strided.h"

static const lam__index_shape shapes[] = {
    {1, 1, 5, 7, 1},     {1, 3, 4, 600, 1}, {2, 3, 5, 300, 3},  {3, 1, 1, 257, 1},   {1, 2, 9, 256, 17},
    {4, 2, 3, 0, 2},     {0, 2, 3, 4, 2},   {2, 0, 3, 4, 2},    {2, 2, 3, 4, 0},     {2, 1, 0, 5, 2},
    {1, 90, 5, 7, 1},    {300, 1, 4, 3, 1}, {70, 1, 9, 100, 1}, {40, 1, 4, 3, 2},    {3, 70, 4, 5, 1},
    {1, 11, 49, 300, 1}, {2, 3, 5, 257, 1}, {2, 8, 5, 600, 1},  {2, 3, 700, 600, 1}, {1, 2, 90, 40, 5},
    {2, 1, 300, 270, 8}, {1, 2, 9, 256, 2}, {1, 2, 9, 256, 4},  {1, 1, 9, 256, 8},   {1, 1, 9, 256, 16},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* Indices from -n - 3 to n + 2, or only legal ones; of these half are the elements of a slice, where there are so
 * many. */
static void *make_index(const lam__index_shape *s, lam_dtype dtype, bool legal, uint64_t *state) {
    const int64_t count = s->batch * s->k;
    const bool slice = legal && s->k <= s->n && strided_below(state, 2);
    const int start = slice ? strided_below(state, (int)(s->n - s->k) + 1) : 0;
    void *index = malloc((size_t)count * 8 + 1);
    for (int64_t i = 0; i < count; i++) {
        const int n = (int)s->n;
        const int at = slice   ? start + (int)(i % s->k)
                       : legal ? strided_below(state, 2 * n) - n
                               : strided_below(state, 2 * n + 6) - n - 3;
        if (dtype == LAM_I64) ((int64_t *)index)[i] = at;
        else ((int32_t *)index)[i] = at;
    }
    return index;
}

/* Where index j of batch b points, or -1. */
static int64_t target(const lam__index_shape *s, lam__index_mode mode, lam_dtype dtype, const void *index, int64_t i) {
    int64_t at = (int64_t)strided_get(dtype, index, i);
    if (at < 0) at += s->n;
    if (mode == LAM__INDEX_CLIP && s->n > 0) at = at < 0 ? 0 : at >= s->n ? s->n - 1 : at;
    return at >= 0 && at < s->n ? at : -1;
}

/* Contiguous x of the shape. */
static lam__index_source dense(const lam__index_shape *s, const void *x) {
    return (lam__index_source){x, s->outer * s->n * s->inner, s->n * s->inner, s->inner};
}

/* Where x lies, with its first element `first` elements from the beginning of memory of `size` elements. */
static lam__index_source source_of(const lam__index_shape *s, int layout, int64_t *first, int64_t *size) {
    const int64_t run = s->inner + 1;
    lam__index_source x = dense(s, NULL);
    *first = 0;
    *size = s->batch * s->outer * s->n * s->inner;
    if (layout == 1) { /* the places outermost, gaps between the runs */
        x = (lam__index_source){NULL, s->outer * run, run, s->batch * s->outer * run};
        *size = s->batch * s->outer * s->n * run;
    } else if (layout == 2 && s->n > 0) { /* from the last place back, one row for all */
        x = (lam__index_source){NULL, 0, 0, -s->inner};
        *first = (s->n - 1) * s->inner;
    } else if (layout == 3 && s->inner == 1) { /* transposed: the rows side by side */
        x = (lam__index_source){NULL, s->outer * s->n, 1, s->outer};
    }
    return x;
}

static void check_take(const lam__index_shape *s, int layout, lam__index_mode mode, lam_dtype dtype,
                       lam_dtype index_dtype, uint64_t *state) {
    const int64_t size = s->batch * s->outer * s->k * s->inner;
    const size_t item = strided_item[dtype];
    int64_t first, room;
    lam__index_source source = source_of(s, layout, &first, &room);
    char *x = strided_fill(dtype, room, state);
    char *out = malloc((size_t)size * item + 1);
    void *index = make_index(s, index_dtype, mode == LAM__INDEX_ERROR, state);
    source.data = x + (size_t)first * item;
    lam__kernels_take_from(s, mode, dtype, &source, index_dtype, index, out);
    for (int64_t i = 0; i < size; i++) {
        const int64_t inner = i % s->inner, j = i / s->inner % s->k, row = i / s->inner / s->k, b = row / s->outer;
        const int64_t at = target(s, mode, index_dtype, index, b * s->k + j);
        const long double got = strided_get(dtype, out, i);
        const int64_t from = first + b * source.batch + row % s->outer * source.outer + at * source.n + inner;
        if (at >= 0) STRIDED_CHECK(got == strided_get(dtype, x, from), "layout %d element %d", layout, (int)i);
        else STRIDED_CHECK(dtype <= LAM_F32 ? isnan(got) : got == 0, "fill %d", (int)i);
    }
    free(x);
    free(out);
    free(index);
}

static void add_one(lam_dtype dtype, void *out, int64_t i, const void *updates, int64_t from) {
    switch (dtype) {
    case LAM_F64: ((double *)out)[i] += ((const double *)updates)[from]; return;
    case LAM_F32: ((float *)out)[i] += ((const float *)updates)[from]; return;
    case LAM_I64: ((uint64_t *)out)[i] += ((const uint64_t *)updates)[from]; return;
    case LAM_I32: ((uint32_t *)out)[i] += ((const uint32_t *)updates)[from]; return;
    case LAM_U8: ((uint8_t *)out)[i] = (uint8_t)(((uint8_t *)out)[i] + ((const uint8_t *)updates)[from]); return;
    default: ((uint8_t *)out)[i] |= ((const uint8_t *)updates)[from]; return;
    }
}

/* Equal to the last bit: the order of additions is part of the contract. */
static void check_scatter(const lam__index_shape *s, lam__scatter_op op, lam__index_mode mode, lam_dtype dtype,
                          lam_dtype index_dtype, uint64_t *state) {
    const int64_t size = s->batch * s->outer * s->n * s->inner, count = s->batch * s->outer * s->k * s->inner;
    const size_t bytes = (size_t)size * strided_item[dtype];
    char *out = strided_fill(dtype, size, state), *want = malloc(bytes + 1);
    void *updates = strided_fill(dtype, count, state);
    void *index = make_index(s, index_dtype, mode == LAM__INDEX_ERROR, state);
    memcpy(want, out, bytes);
    lam__kernels_scatter(op, s, mode, dtype, out, index_dtype, index, updates);
    for (int64_t i = 0; i < count; i++) {
        const int64_t inner = i % s->inner, j = i / s->inner % s->k, row = i / s->inner / s->k, b = row / s->outer;
        const int64_t at = target(s, mode, index_dtype, index, b * s->k + j);
        const int64_t to = (row * s->n + at) * s->inner + inner, item = (int64_t)strided_item[dtype];
        if (at >= 0 && op == LAM__SCATTER_ADD) add_one(dtype, want, to, updates, i);
        else if (at >= 0) memcpy(want + to * item, (const char *)updates + i * item, (size_t)item);
    }
    STRIDED_CHECK(memcmp(out, want, bytes) == 0, "dtype %d mode %d n %d", dtype, mode, (int)s->n);
    free(out);
    free(want);
    free(updates);
    free(index);
}

/* _i is the dtype. */
START_TEST(take_and_scatter_all_modes) {
    uint64_t state = 31 + (uint64_t)_i;
    for (int i = 0; i < SHAPES; i++)
        for (int mode = LAM__INDEX_ERROR; mode <= LAM__INDEX_FILL; mode++) {
            if (mode == LAM__INDEX_ERROR && shapes[i].n == 0) continue; /* no index is legal there */
            for (int layout = 0; layout < 4; layout++) {
                check_take(&shapes[i], layout, (lam__index_mode)mode, (lam_dtype)_i, LAM_I64, &state);
                check_take(&shapes[i], layout, (lam__index_mode)mode, (lam_dtype)_i, LAM_I32, &state);
            }
            for (int k = 0; k < 2; k++) {
                const lam__scatter_op op = k ? LAM__SCATTER_SET : LAM__SCATTER_ADD;
                check_scatter(&shapes[i], op, (lam__index_mode)mode, (lam_dtype)_i, LAM_I64, &state);
                check_scatter(&shapes[i], op, (lam__index_mode)mode, (lam_dtype)_i, LAM_I32, &state);
            }
        }
}
END_TEST

/* From an x that has no gaps. */
static void take(const lam__index_shape *s, lam__index_mode mode, const double *x, const int64_t *index, double *out) {
    const int64_t row = s->n * s->inner;
    const lam__index_source source = {x, s->outer * row, row, s->inner};
    lam__kernels_take_from(s, mode, LAM_F64, &source, LAM_I64, index, out);
}

START_TEST(index_extremes_do_not_wrap) {
    const lam__index_shape s = {1, 1, 3, 4, 1};
    const int64_t index[4] = {INT64_MIN, INT64_MAX, -3, 2};
    const double x[3] = {10, 20, 30};
    double out[4];
    take(&s, LAM__INDEX_CLIP, x, index, out);
    ck_assert(out[0] == 10 && out[1] == 30 && out[2] == 10 && out[3] == 30);
    take(&s, LAM__INDEX_FILL, x, index, out);
    ck_assert(isnan(out[0]) && isnan(out[1]) && out[2] == 10 && out[3] == 30);
}
END_TEST

START_TEST(index_check_finds_the_first) {
    const lam__index_shape s = {2, 1, 4, 3, 1}, empty = {1, 1, 0, 1, 1}, none = {1, 1, 0, 0, 1};
    const int64_t good[6] = {0, 3, -4, -1, 2, 1};
    const int32_t low[6] = {0, 3, -4, -5, 2, 9}, high[6] = {0, 1, 2, 3, 4, -7};
    ck_assert_int_eq(lam__kernels_index_check(&s, LAM_I64, good), -1);
    ck_assert_int_eq(lam__kernels_index_check(&s, LAM_I32, low), 3);
    ck_assert_int_eq(lam__kernels_index_check(&s, LAM_I32, high), 4);
    ck_assert_int_eq(lam__kernels_index_check(&empty, LAM_I64, good), 0);
    ck_assert_int_eq(lam__kernels_index_check(&none, LAM_I64, NULL), -1);
    int64_t many[700] = {0};
    const lam__index_shape long_one = {1, 1, 4, 700, 1}, huge = {1, 1, INT64_MAX, 3, 1};
    ck_assert_int_eq(lam__kernels_index_check(&long_one, LAM_I64, many), -1);
    many[699] = 4;
    ck_assert_int_eq(lam__kernels_index_check(&long_one, LAM_I64, many), 699);
    many[601] = INT64_MIN;
    ck_assert_int_eq(lam__kernels_index_check(&long_one, LAM_I64, many), 601);
    many[300] = INT64_MAX;
    ck_assert_int_eq(lam__kernels_index_check(&long_one, LAM_I64, many), 300);
    const int64_t ends[3] = {INT64_MAX - 1, -INT64_MAX, INT64_MIN};
    ck_assert_int_eq(lam__kernels_index_check(&huge, LAM_I64, ends), 2);
}
END_TEST

Suite *suite_kernels_test_index(void);

Suite *suite_kernels_test_index(void) {
    Suite *suite = suite_create("kernels/index");
    TCase *tests = tcase_create("index");
    tcase_add_loop_test(tests, take_and_scatter_all_modes, 0, REAL_DTYPES);
    tcase_add_test(tests, index_extremes_do_not_wrap);
    tcase_add_test(tests, index_check_finds_the_first);
    suite_add_tcase(suite, tests);
    return suite;
}
