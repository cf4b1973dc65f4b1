/* Reductions, arg-reductions and scans against plain long double loops, on random shapes and strides of every dtype;
 * accuracy of sums along every pattern of axes; bits that do not depend on position, tile or instruction set.
 * Integer results are exact: the oracle works in uint64_t and cuts to the dtype. */
#include "lib/kernels/places.h"
#include "lib/kernels/reduce_simd.h"
#include "tests/kernels/strided.h"

#include <float.h>
#include <math.h>

enum { MOST = 20000 };

static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_I64, LAM_I32, LAM_U8, LAM_BOOL};
static const long double epsilon[] = {DBL_EPSILON, FLT_EPSILON};

static bool is_float(lam_dtype dtype) {
    return dtype == LAM_F64 || dtype == LAM_F32;
}

static bool is_tallied(lam_dtype dtype) {
    return dtype == LAM_I32 || dtype == LAM_U8 || dtype == LAM_BOOL;
}

static uint64_t get_bits(lam_dtype dtype, const void *x, int64_t i) {
    switch (dtype) {
    case LAM_I64: return (uint64_t)((const int64_t *)x)[i];
    case LAM_I32: return (uint64_t)(int64_t)((const int32_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

/* ---- oracle -------------------------------------------------------------------------------------------------- */

typedef struct accumulated {
    long double value, magnitude; /* of floats: result, sum of absolute values */
    uint64_t bits;                /* of integers */
    int64_t count;
} accumulated;

static uint64_t cut(lam_dtype dtype, uint64_t v) {
    if (dtype == LAM_I32) return (uint64_t)(int64_t)(int32_t)(uint32_t)v;
    return dtype == LAM_I64 ? v : (uint8_t)v;
}

static void add_float(accumulated *a, lam__reduce_id id, long double v) {
    const bool first = a->count == 0;
    a->magnitude += fabsl(v);
    if (id == LAM__REDUCE_SUM) a->value += v;
    if (id == LAM__REDUCE_PROD) a->value *= v;
    if (id == LAM__REDUCE_MAX && (first || isnan(v) || v > a->value))
        a->value = first || !isnan(a->value) ? v : a->value;
    if (id == LAM__REDUCE_MIN && (first || isnan(v) || v < a->value))
        a->value = first || !isnan(a->value) ? v : a->value;
}

static void add_integer(accumulated *a, lam__reduce_id id, lam_dtype dtype, uint64_t v) {
    const bool first = a->count == 0, boolean = dtype == LAM_BOOL;
    const int64_t x = (int64_t)v, y = (int64_t)a->bits;
    switch (id) {
    case LAM__REDUCE_SUM: a->bits = boolean ? a->bits | v : cut(dtype, a->bits + v); return;
    case LAM__REDUCE_TALLY: a->bits += v; return;
    case LAM__REDUCE_PROD: a->bits = boolean ? a->bits & v : cut(dtype, a->bits * v); return;
    case LAM__REDUCE_ANY:
    case LAM__REDUCE_MAX: a->bits = first || x > y ? v : a->bits; return;
    default: a->bits = first || x < y ? v : a->bits; return;
    }
}

static accumulated start_of(lam__reduce_id id, lam_dtype dtype) {
    static const int64_t least[] = {0, 0, INT64_MIN, INT32_MIN, 0, 0}, most[] = {0, 0, INT64_MAX, INT32_MAX, 255, 1};
    switch (id) {
    case LAM__REDUCE_TALLY:
    case LAM__REDUCE_SUM: return (accumulated){0};
    case LAM__REDUCE_PROD: return (accumulated){.value = 1, .bits = 1};
    case LAM__REDUCE_ANY:
    case LAM__REDUCE_MAX: return (accumulated){.value = -INFINITY, .bits = (uint64_t)least[dtype]};
    default: return (accumulated){.value = INFINITY, .bits = (uint64_t)most[dtype]};
    }
}

/* Error bounds from the analysis of the algorithms: a pairwise sum with leaves of up to 32 additions in a row makes at
 * most 32 + 20 roundings on the way of an element, a product of n factors n. */
static void check_result(lam__reduce_id id, lam_dtype dtype, const accumulated *want, const void *out, int64_t i) {
    if (!is_float(dtype)) {
        const lam_dtype result = lam__reduce_result(id, dtype);
        STRIDED_CHECK(get_bits(result, out, i) == want->bits, "integer result %lld", (long long)i);
        return;
    }
    const long double got = strided_get(dtype, out, i);
    if (isnan(want->value) || isinf(want->value) || id == LAM__REDUCE_MAX || id == LAM__REDUCE_MIN) {
        STRIDED_CHECK(got == want->value || (isnan(got) && isnan(want->value)), "%Lg is not %Lg", got, want->value);
        return;
    }
    const long double e = epsilon[dtype], smallest = dtype == LAM_F64 ? DBL_MIN : FLT_MIN;
    const long double bound = id == LAM__REDUCE_SUM ? 52 * e * want->magnitude
                                                    : (long double)want->count * (e * fabsl(want->value) + smallest);
    STRIDED_CHECK(fabsl(got - want->value) <= bound, "got %.20Lg, want %.20Lg, bound %Lg", got, want->value, bound);
}

/* ---- reductions ---------------------------------------------------------------------------------------------- */

static void accumulate_all(const strided *a, lam__reduce_id id, const bool *reduced, accumulated *want) {
    int64_t index[STRIDED_RANK] = {0};
    if (strided_count(a->rank, a->dims) == 0) return;
    do {
        int64_t to = 0, offset = strided_offset(a, index);
        for (int i = 0; i < a->rank; i++)
            if (!reduced[i]) to = to * a->dims[i] + index[i];
        if (is_float(a->dtype)) add_float(&want[to], id, strided_get(a->dtype, a->x, offset));
        else add_integer(&want[to], id, a->dtype, get_bits(a->dtype, a->x, offset));
        want[to].count++;
    } while (strided_next(a->rank, a->dims, index));
}

static void check_reduce(const strided *a, lam__reduce_id id, const bool *reduced) {
    int64_t results = 1;
    for (int i = 0; i < a->rank; i++) results *= reduced[i] ? 1 : a->dims[i];
    accumulated *want = calloc((size_t)results + 1, sizeof *want);
    char *out = malloc((size_t)(results + 1) * 8);
    const size_t end = (size_t)results * strided_item[lam__reduce_result(id, a->dtype)];
    for (int64_t i = 0; i < results; i++) want[i] = start_of(id, a->dtype);
    accumulate_all(a, id, reduced, want);
    memset(out + end, 0x5a, 8);
    lam__kernels_reduce(id, a->dtype, a->rank, a->dims, reduced, a->x, a->strides, out);
    for (int64_t i = 0; i < results; i++) check_result(id, a->dtype, &want[i], out, i);
    for (size_t i = end; i < end + 8; i++) STRIDED_CHECK(out[i] == 0x5a, "wrote beyond the end");
    free(want);
    free(out);
}

/* Every operation on random arrays; _i is the dtype. */
START_TEST(reduce_random) {
    const lam_dtype dtype = dtypes[_i];
    uint64_t state = 12345 + (uint64_t)_i;
    for (int round = 0; round < (SANITIZED ? 150 : 600); round++) {
        int64_t dims[STRIDED_RANK];
        bool reduced[STRIDED_RANK];
        int rank = strided_random_dims(dims, MOST, &state);
        strided a = strided_make(dtype, rank, dims, &state);
        for (int i = 0; i < rank; i++) reduced[i] = strided_below(&state, 2);
        for (int id = LAM__REDUCE_SUM; id <= LAM__REDUCE_MIN; id++) check_reduce(&a, (lam__reduce_id)id, reduced);
        if (dtype == LAM_BOOL) check_reduce(&a, LAM__REDUCE_ANY, reduced), check_reduce(&a, LAM__REDUCE_ALL, reduced);
        if (is_tallied(dtype)) check_reduce(&a, LAM__REDUCE_TALLY, reduced);
        free(a.memory);
    }
}
END_TEST

/* A NaN anywhere wins over an infinity anywhere, in every leaf: contiguous, short, by rows, by columns. */
START_TEST(reduce_nan_wins) {
    static const int64_t shapes[][2] = {{1, 5},  {3, 40}, {70, 9}, {9, 70},  {2, 1100}, {130, 3}, {37, 2},
                                        {37, 4}, {37, 8}, {18, 7}, {18, 12}, {18, 16},  {18, 31}, {18, 50}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int axis = 0; axis < 2; axis++) {
            const int64_t *dims = shapes[s], count = dims[0] * dims[1], strides[2] = {dims[1], 1};
            double *x = malloc((size_t)count * sizeof *x), out[1100];
            float *y = malloc((size_t)count * sizeof *y), out_y[1100];
            for (int64_t i = 0; i < count; i++) x[i] = i % 2 ? INFINITY : -INFINITY, y[i] = (float)x[i];
            for (int64_t at = 0; at < count; at++) {
                const bool reduced[2] = {axis == 0, axis == 1};
                const int64_t hit = axis == 0 ? at % dims[1] : at / dims[1];
                const lam__reduce_id id = at % 2 ? LAM__REDUCE_MAX : LAM__REDUCE_MIN;
                const double old = x[at];
                x[at] = NAN, y[at] = NAN;
                lam__kernels_reduce(id, LAM_F64, 2, dims, reduced, x, strides, out);
                lam__kernels_reduce(id, LAM_F32, 2, dims, reduced, y, strides, out_y);
                for (int64_t i = 0; i < dims[1 - axis]; i++) {
                    STRIDED_CHECK(!isnan(out[i]) == (i != hit), "f64 result %d", (int)i);
                    STRIDED_CHECK(!isnan(out_y[i]) == (i != hit), "f32 result %d", (int)i);
                }
                x[at] = old, y[at] = (float)old;
            }
            free(x);
            free(y);
        }
}
END_TEST

/* Rank 0 is a copy; an empty array gives the neutral element, no results none. */
START_TEST(reduce_empty_and_rank_0) {
    const int64_t dims[2] = {0, 3}, strides[2] = {3, 1};
    const bool first[2] = {true, false}, second[2] = {false, true};
    double x = 2.5, out[3] = {7, 7, 7};
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 0, NULL, NULL, &x, NULL, out);
    ck_assert(out[0] == 2.5);
    lam__kernels_reduce(LAM__REDUCE_PROD, LAM_F64, 2, dims, first, NULL, strides, out);
    ck_assert(out[0] == 1 && out[1] == 1 && out[2] == 1);
    lam__kernels_reduce(LAM__REDUCE_MAX, LAM_F64, 2, dims, first, NULL, strides, out);
    ck_assert(out[2] == -INFINITY);
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 2, dims, second, NULL, strides, out);
    ck_assert(out[2] == -INFINITY);
    uint8_t any = 9, all = 9;
    lam__kernels_reduce(LAM__REDUCE_ANY, LAM_BOOL, 1, dims, first, NULL, strides, &any);
    lam__kernels_reduce(LAM__REDUCE_ALL, LAM_BOOL, 1, dims, first, NULL, strides, &all);
    ck_assert(any == 0 && all == 1);
}
END_TEST

/* Sums of squares of x less a number for each result; as many roundings as in a sum, and three for each square. */
static void check_squares(const strided *a, const bool *reduced, bool centred, uint64_t *state) {
    int64_t results = 1, index[STRIDED_RANK] = {0};
    for (int i = 0; i < a->rank; i++) results *= reduced[i] ? 1 : a->dims[i];
    char *centres = strided_fill(a->dtype, results + 1, state), *out = malloc((size_t)(results + 1) * 8);
    long double *want = calloc((size_t)results + 1, sizeof *want);
    const lam__squares s = {a->dtype, a->rank, a->dims, a->strides, reduced, a->x, centred ? centres : NULL, NULL};
    for (bool more = strided_count(a->rank, a->dims) > 0; more; more = strided_next(a->rank, a->dims, index)) {
        int64_t to = 0;
        for (int i = 0; i < a->rank; i++)
            if (!reduced[i]) to = to * a->dims[i] + index[i];
        const long double centre = centred ? strided_get(a->dtype, centres, to) : 0;
        const long double x = strided_get(a->dtype, a->x, strided_offset(a, index)) - centre;
        want[to] += x * x;
    }
    const int64_t leaves = lam__kernels_squares(&s, 0, INT64_MAX, out), item = (int64_t)strided_item[a->dtype];
    for (int64_t i = 0; i < results; i++) {
        const long double got = strided_get(a->dtype, out, i), bound = 55 * epsilon[a->dtype] * want[i];
        STRIDED_CHECK(fabsl(got - want[i]) <= bound, "got %.20Lg, want %.20Lg", got, want[i]);
    }
    if (leaves > 1) { /* in parts of one leaf */
        char *parts = malloc((size_t)(leaves * results * item));
        for (int64_t k = 0; k < leaves; k++) lam__kernels_squares(&s, k, 1, parts + k * results * item);
        lam__kernels_reduce_join(LAM__REDUCE_SUM, a->dtype, results, leaves, parts);
        STRIDED_CHECK(memcmp(parts, out, (size_t)(results * item)) == 0, "%d parts", (int)leaves);
        free(parts);
    }
    free(want);
    free(out);
    free(centres);
}

START_TEST(squares_random) {
    uint64_t state = 77 + (uint64_t)_i;
    for (int round = 0; round < (SANITIZED ? 150 : 600); round++) {
        int64_t dims[STRIDED_RANK];
        bool reduced[STRIDED_RANK];
        int rank = strided_random_dims(dims, MOST, &state);
        strided a = strided_make(dtypes[_i], rank, dims, &state);
        for (int i = 0; i < rank; i++) reduced[i] = strided_below(&state, 2);
        check_squares(&a, reduced, round % 2, &state);
        free(a.memory);
    }
}
END_TEST

/* 2^20 times float 0.1: a running sum is off by 4e-2 of the result, a pairwise one by less than 4 epsilon. */
START_TEST(reduce_accuracy_along_every_pattern) {
    static const struct {
        int64_t dims[3], strides[3];
        bool reduced[3];
    } patterns[] = {
        {{1, 1, 1 << 20}, {0, 0, 1}, {true, true, true}},              /* contiguous */
        {{1, 1, 1 << 20}, {0, 0, 2}, {true, true, true}},              /* strided */
        {{1, 1, 1 << 20}, {0, 0, -1}, {true, true, true}},             /* backwards; x is set to the end */
        {{1, 1, 1 << 20}, {0, 0, 0}, {true, true, true}},              /* one element repeated */
        {{1 << 20, 1, 2}, {2, 0, 1}, {true, false, false}},            /* narrow columns */
        {{1 << 20, 1, 20}, {0, 0, 1}, {true, false, false}},           /* wider than a vector */
        {{1 << 10, 2, 1 << 10}, {2048, 1024, 1}, {true, false, true}}, /* around a kept axis */
        {{1 << 10, 3, 1 << 10}, {1024, 0, 1}, {true, false, true}},
        {{1 << 17, 2, 8}, {16, 8, 1}, {true, false, true}}, /* short rows, many of them */
        {{8, 2, 1 << 17}, {1 << 18, 1, 2}, {true, false, true}},
    };
    const int64_t count = 1 << 21;
    float *x = malloc((size_t)count * sizeof *x), out[32];
    for (int64_t i = 0; i < count; i++) x[i] = 0.1f;
    for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
        const float *start = patterns[p].strides[2] < 0 ? x + count - 1 : x;
        const long double want = (long double)0.1f * (1 << 20);
        lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F32, 3, patterns[p].dims, patterns[p].reduced, start,
                            patterns[p].strides, out);
        const int64_t results = patterns[p].reduced[2] ? patterns[p].dims[1] : patterns[p].dims[2];
        for (int64_t i = 0; i < results; i++)
            ck_assert_msg(fabsl((long double)out[i] - want) <= 4 * FLT_EPSILON * want, "pattern %zu: %.9g", p, out[i]);
    }
    free(x);
}
END_TEST

/* A column's bits depend neither on how many stand beside it nor on where it lies. */
START_TEST(reduce_bits_do_not_depend_on_position) {
    enum { ROWS = 5 * 64 + 8 + 4 + 2 + 1, COLUMNS = 900 }; /* every step of a leaf */
    uint64_t state = 99;
    const int64_t all[2] = {ROWS, COLUMNS}, strides[2] = {COLUMNS, 1};
    const bool rows[2] = {true, false};
    double *x = strided_fill(LAM_F64, ROWS * COLUMNS, &state), *full = malloc(COLUMNS * sizeof *full), part[COLUMNS];
    lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 2, all, rows, x, strides, full);
    for (int width = 1; width < 40; width++) {
        const int64_t first = strided_below(&state, COLUMNS - width), some[2] = {ROWS, width};
        lam__kernels_reduce(LAM__REDUCE_SUM, LAM_F64, 2, some, rows, x + first, strides, part);
        ck_assert_mem_eq(part, full + first, (size_t)width * sizeof *part);
    }
    free(x);
    free(full);
}
END_TEST

#if defined(LAM__HAVE_X86_64_LEVELS)
/* What each instruction set makes of one block, bit by bit. */
static void compare_sets(const lam__reduce_type *one, const lam__reduce_type *other, lam_dtype dtype, uint64_t *state) {
    const int64_t rows = 1 + strided_below(state, strided_below(state, 2) ? 40 : 300);
    const int64_t columns = 1 + strided_below(state, 40);
    void *from = strided_fill(dtype, rows * columns, state);
    const bool by_rows = strided_below(state, 3) == 0;
    const lam__reduce_block block = {from,
                                     columns,
                                     by_rows ? 1 : rows,
                                     rows,
                                     by_rows ? columns : 1,
                                     (lam__reduce_reach)strided_below(state, 3),
                                     1,
                                     0,
                                     false,
                                     0};
    const size_t bytes = (size_t)(rows * columns) * 8;
    char *x = calloc(1, bytes), *y = calloc(1, bytes);
    for (int op = LAM__REDUCE_OP_SUM; op <= LAM__REDUCE_OP_MIN; op++) {
        one->leaf((lam__reduce_op)op, &block, x), other->leaf((lam__reduce_op)op, &block, y);
        ck_assert_mem_eq(x, y, bytes);
        const lam__reduce_target to_x = {x, block.step, block.row_step}, to_y = {y, block.step, block.row_step};
        one->scan((lam__reduce_op)op, &block, &to_x), other->scan((lam__reduce_op)op, &block, &to_y);
        ck_assert_mem_eq(x, y, bytes);
    }
    free(x);
    free(y);
    free(from);
}

START_TEST(reduce_bits_do_not_depend_on_instruction_set) {
    uint64_t state = 5;
    const lam_dtype dtype = dtypes[_i];
    for (int round = 0; round < 200; round++) {
        if (__builtin_cpu_supports("avx2"))
            compare_sets(lam__reduce_simd_v1[dtype], lam__reduce_simd_v3[dtype], dtype, &state);
        if (lam__elementwise_simd() == &lam__simd_v4)
            compare_sets(lam__reduce_simd_v1[dtype], lam__reduce_simd_v4[dtype], dtype, &state);
    }
}
END_TEST
#endif

/* ---- arg-reductions ------------------------------------------------------------------------------------------ */

static bool beats(bool maximum, long double a, long double b) {
    if (isnan(b)) return false;
    return isnan(a) || (maximum ? a > b : a < b);
}

static void check_arg(const strided *a, int axis, bool maximum) {
    int64_t rest[STRIDED_RANK], index[STRIDED_RANK] = {0}, count, i = 0;
    memcpy(rest, a->dims, sizeof rest);
    rest[axis] = 1;
    count = strided_count(a->rank, rest);
    int64_t *out = malloc((size_t)(count + 1) * sizeof *out);
    out[count] = -77;
    lam__kernels_arg(maximum, a->dtype, a->rank, a->dims, axis, a->x, a->strides, out);
    ck_assert_int_eq(out[count], -77);
    if (count > 0) do {
            const int64_t start = strided_offset(a, index), step = a->strides[axis];
            int64_t best = 0;
            for (int64_t r = 1; r < a->dims[axis]; r++)
                if (beats(maximum, strided_get(a->dtype, a->x, start + r * step),
                          strided_get(a->dtype, a->x, start + best * step)))
                    best = r;
            STRIDED_CHECK(out[i] == best, "got %d, want %d", (int)out[i], (int)best);
            i++;
        } while (strided_next(a->rank, rest, index));
    free(out);
}

/* Random arrays with few distinct values, so that ties are common, and NaN in some. */
START_TEST(arg_random) {
    const lam_dtype dtype = dtypes[_i];
    uint64_t state = 777 + (uint64_t)_i;
    for (int round = 0; round < 400; round++) {
        int64_t dims[STRIDED_RANK];
        int rank = strided_random_dims(dims, MOST, &state);
        strided a = strided_make(dtype, rank, dims, &state);
        const int axis = rank ? strided_below(&state, rank) : 0;
        const int64_t size = (int64_t)((uintptr_t)a.x - (uintptr_t)a.memory) / (int64_t)strided_item[dtype];
        for (int64_t i = 0; round % 2 && is_float(dtype) && i <= size; i++) {
            const double v = strided_below(&state, 200) ? strided_below(&state, 3) : NAN;
            if (dtype == LAM_F64) ((double *)a.memory)[i] = v;
            else ((float *)a.memory)[i] = (float)v;
        }
        if (rank > 0 && dims[axis] > 0) check_arg(&a, axis, true), check_arg(&a, axis, false);
        free(a.memory);
    }
}
END_TEST

/* The first of equals and the first NaN, at every place of rows of every length around the block of 256. */
START_TEST(arg_first_of_equals) {
    enum { N = 700 };
    double x[N] = {0};
    const int64_t strides[1] = {1};
    for (int64_t n = 1; n <= N; n += 37)
        for (int64_t at = 0; at < n; at++) {
            int64_t out = -1;
            for (int64_t i = at; i < n; i += 3) x[i] = 1;
            lam__kernels_arg(true, LAM_F64, 1, &n, 0, x, strides, &out);
            STRIDED_CHECK(out == at, "got %d, want %d", (int)out, (int)at);
            x[at] = 0;
            for (int64_t i = at; i < n; i += 5) x[i] = NAN;
            lam__kernels_arg(false, LAM_F64, 1, &n, 0, x, strides, &out);
            STRIDED_CHECK(out == at, "got %d, want %d", (int)out, (int)at);
            memset(x, 0, sizeof x);
        }
}
END_TEST

/* ---- scans --------------------------------------------------------------------------------------------------- */

static void check_scan(const strided *a, int axis, lam__reduce_id id, bool reverse) {
    int64_t rest[STRIDED_RANK], index[STRIDED_RANK] = {0}, inner = 1, outer = 0;
    const int64_t count = strided_count(a->rank, a->dims);
    char *out = malloc((size_t)(count + 1) * 8);
    memcpy(rest, a->dims, sizeof rest);
    rest[axis] = 1;
    for (int i = axis + 1; i < a->rank; i++) inner *= a->dims[i];
    lam__kernels_cumulate(id, a->dtype, a->rank, a->dims, axis, reverse, a->x, a->strides, out);
    if (count > 0) do {
            accumulated sum = start_of(id, a->dtype);
            const int64_t start = strided_offset(a, index), n = a->dims[axis];
            const int64_t to = outer / inner * inner * n + outer % inner;
            for (int64_t r = 0; r < n; r++) {
                const int64_t at = reverse ? n - 1 - r : r, offset = start + at * a->strides[axis];
                if (is_float(a->dtype)) add_float(&sum, id, strided_get(a->dtype, a->x, offset));
                else add_integer(&sum, id, a->dtype, get_bits(a->dtype, a->x, offset));
                sum.count++;
                check_result(id, a->dtype, &sum, out, to + at * inner);
            }
            outer++;
        } while (strided_next(a->rank, rest, index));
    free(out);
}

START_TEST(scan_random) {
    const lam_dtype dtype = dtypes[_i];
    uint64_t state = 4242 + (uint64_t)_i;
    for (int round = 0; round < (SANITIZED ? 100 : 300); round++) {
        int64_t dims[STRIDED_RANK];
        int rank = strided_random_dims(dims, MOST, &state);
        strided a = strided_make(dtype, rank, dims, &state);
        const int axis = rank ? strided_below(&state, rank) : 0;
        for (int id = LAM__REDUCE_SUM; rank > 0 && id <= LAM__REDUCE_MIN; id++)
            check_scan(&a, axis, (lam__reduce_id)id, round % 2);
        free(a.memory);
    }
}
END_TEST

/* Every prefix of 2^20 times 0.1 is rounded from the exact multiple (up to what the compensation of f64 leaves, n
 * squared epsilons of an epsilon); an infinity stays one until its opposite makes a NaN. _i is the dtype. */
START_TEST(scan_accuracy_and_infinities) {
    const lam_dtype dtype = (lam_dtype)_i;
    const int64_t n = 1 << 20, one = 1;
    const long double term = dtype == LAM_F64 ? (long double)0.1 : (long double)0.1f;
    void *x = calloc((size_t)n, strided_item[dtype]), *out = calloc((size_t)n, strided_item[dtype]);
    for (int64_t i = 0; i < n; i++) strided_put(dtype, x, i, (double)term);
    lam__kernels_cumulate(LAM__REDUCE_SUM, dtype, 1, &n, 0, false, x, &one, out);
    for (int64_t i = 0; i < n; i++) {
        const long double want = term * (i + 1), got = strided_get(dtype, out, i);
        STRIDED_CHECK(fabsl(got - want) <= (epsilon[dtype] / 2 + 1e-18L) * want, "prefix %d: %.20Lg", (int)i, got);
    }
    strided_put(dtype, x, 10, INFINITY), strided_put(dtype, x, 20, -INFINITY);
    lam__kernels_cumulate(LAM__REDUCE_SUM, dtype, 1, &n, 0, false, x, &one, out);
    ck_assert(isfinite(strided_get(dtype, out, 9)));
    for (int64_t i = 10; i < 20; i++) ck_assert(strided_get(dtype, out, i) == INFINITY);
    ck_assert(isnan(strided_get(dtype, out, 20)) && isnan(strided_get(dtype, out, n - 1)));
    free(x);
    free(out);
}
END_TEST

Suite *suite_kernels_test_reduce(void);

Suite *suite_kernels_test_reduce(void) {
    const int count = (int)(sizeof dtypes / sizeof dtypes[0]);
    Suite *suite = suite_create("kernels/reduce");
    TCase *tests = tcase_create("reduce");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, reduce_random, 0, count);
    tcase_add_loop_test(tests, squares_random, 0, 2);
    tcase_add_test(tests, reduce_nan_wins);
    tcase_add_test(tests, reduce_empty_and_rank_0);
    tcase_add_test(tests, reduce_accuracy_along_every_pattern);
    tcase_add_test(tests, reduce_bits_do_not_depend_on_position);
#if defined(LAM__HAVE_X86_64_LEVELS)
    tcase_add_loop_test(tests, reduce_bits_do_not_depend_on_instruction_set, 0, count);
#endif
    tcase_add_loop_test(tests, arg_random, 0, count);
    tcase_add_test(tests, arg_first_of_equals);
    tcase_add_loop_test(tests, scan_random, 0, count);
    tcase_add_loop_test(tests, scan_accuracy_and_infinities, LAM_F64, LAM_F32 + 1);
    suite_add_tcase(suite, tests);
    return suite;
}
