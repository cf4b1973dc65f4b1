/* Matrix products against long double sums for every small size, every layout and every dtype; Cholesky, LU and
 * triangular solves by their residuals, small and large, in batches; the start of OpenBLAS from several threads. */
#define _DEFAULT_SOURCE /* threads */

#include "lib/kernels/kernels.h"
#include "tests/kernels/strided.h"

#include <float.h>
#include <pthread.h>

/* ---- matmul -------------------------------------------------------------------------------------------------- */

/* Scratch that counts; it refuses when `left` runs out. */
typedef struct pool {
    void *blocks[4];
    int used, left;
} pool;

static void *take_scratch(void *env, size_t bytes) {
    pool *p = env;
    if (p->left-- <= 0) return NULL;
    ck_assert_int_lt(p->used, 4);
    return p->blocks[p->used++] = malloc(bytes + 1);
}

static void empty_pool(pool *p) {
    while (p->used > 0) free(p->blocks[--p->used]);
}

/* How the three axes of an operand lie in memory. */
typedef enum layout { ROWS, COLUMNS, GAPS, BACKWARDS, SHARED, REPEATED, TIGHT, LAYOUTS } layout;

typedef struct operand {
    void *memory;
    char *x;
    int64_t strides[3];
} operand;

static operand make_operand(lam_dtype dtype, layout how, int64_t batch, int64_t rows, int64_t cols, uint64_t *state) {
    const int64_t size = (batch * rows * cols + 1) * 12, item = (int64_t)strided_item[dtype];
    operand o = {.memory = strided_fill(dtype, size, state)};
    o.x = o.memory;
    switch (how) {
    case ROWS: memcpy(o.strides, (int64_t[]){rows * cols, cols, 1}, sizeof o.strides); break;
    case COLUMNS: memcpy(o.strides, (int64_t[]){rows * cols, 1, rows}, sizeof o.strides); break;
    case GAPS: memcpy(o.strides, (int64_t[]){rows * cols * 6, cols * 3, 2}, sizeof o.strides); break;
    case BACKWARDS:
        memcpy(o.strides, (int64_t[]){-rows * cols, -cols, -1}, sizeof o.strides);
        o.x += (batch * rows * cols) * item;
        break;
    case SHARED: memcpy(o.strides, (int64_t[]){0, cols, 1}, sizeof o.strides); break;
    case REPEATED: memcpy(o.strides, (int64_t[]){rows, 1, 0}, sizeof o.strides); break;
    default: memcpy(o.strides, (int64_t[]){cols, batch * cols, 1}, sizeof o.strides); break; /* batch inside rows */
    }
    return o;
}

/* Integers wrap and bool is or of ands, so those are exact; a sum of k products of floats makes at most k + 1
 * roundings. */
static void check_element(lam_dtype dtype, int64_t k, const operand *x, const operand *y, int64_t from_x,
                          int64_t from_y, const void *out, int64_t i) {
    long double sum = 0, magnitude = 0;
    uint64_t bits = 0;
    for (int64_t q = 0; q < k; q++) {
        const long double a = strided_get(dtype, x->x, from_x + q * x->strides[2]);
        const long double b = strided_get(dtype, y->x, from_y + q * y->strides[1]);
        sum += a * b, magnitude += fabsl(a * b);
        if (dtype > LAM_F32) bits += (uint64_t)(int64_t)a * (uint64_t)(int64_t)b;
    }
    const long double got = strided_get(dtype, out, i);
    const long double epsilon = dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON;
    bool good;
    switch (dtype) {
    case LAM_I64: good = got == (long double)(int64_t)bits; break;
    case LAM_I32: good = got == (long double)(int32_t)(uint32_t)bits; break;
    case LAM_U8: good = got == (long double)(uint8_t)bits; break;
    case LAM_BOOL: good = got == (long double)(bits != 0); break;
    default: good = fabsl(got - sum) <= (long double)(k + 1) * epsilon * magnitude; break;
    }
    STRIDED_CHECK(good, "dtype %d k %d element %d: got %Lg, want %Lg", dtype, (int)k, (int)i, got, sum);
}

static lam__product product_of(const int64_t size[4], const operand *x, const operand *y, void *out) {
    return (lam__product){.batch = size[0],
                          .m = size[1],
                          .k = size[2],
                          .n = size[3],
                          .x = x->x,
                          .x_batch = x->strides[0],
                          .x_row = x->strides[1],
                          .x_col = x->strides[2],
                          .y = y->x,
                          .y_batch = y->strides[0],
                          .y_row = y->strides[1],
                          .y_col = y->strides[2],
                          .out = out};
}

static void check_matmul(lam_dtype dtype, const int64_t size[4], layout how_x, layout how_y, uint64_t *state) {
    const int64_t batch = size[0], m = size[1], k = size[2], n = size[3], count = batch * m * n;
    const size_t item = strided_item[dtype], end = (size_t)count * item;
    operand x = make_operand(dtype, how_x, batch, m, k, state), y = make_operand(dtype, how_y, batch, k, n, state);
    char *out = malloc(end + 8);
    pool scratch = {.left = 4};
    memset(out, 0x5a, end + 8);
    const lam__product p = product_of(size, &x, &y, out);
    ck_assert(lam__kernels_matmul(dtype, &p, take_scratch, &scratch));
    for (int64_t i = 0; i < count; i++) {
        const int64_t b = i / (m * n), row = i / n % m, col = i % n;
        check_element(dtype, k, &x, &y, b * x.strides[0] + row * x.strides[1], b * y.strides[0] + col * y.strides[2],
                      out, i);
    }
    for (size_t i = end; i < end + 8; i++) STRIDED_CHECK(out[i] == 0x5a, "wrote beyond the end");
    empty_pool(&scratch);
    free(x.memory);
    free(y.memory);
    free(out);
}

static void check_layouts(lam_dtype dtype, const int64_t size[4], uint64_t *state) {
    for (int x = 0; x < LAYOUTS; x++)
        for (int y = 0; y < LAYOUTS; y++) check_matmul(dtype, size, (layout)x, (layout)y, state);
}

/* All m, k, n from 0 to 9, each with two pairs of layouts in turn; _i is the dtype. */
START_TEST(matmul_every_small_size) {
    uint64_t state = 8 + (uint64_t)_i;
    for (int64_t m = 0; m <= 9; m++)
        for (int64_t k = 0; k <= 9; k++)
            for (int64_t n = 0; n <= 9; n++)
                for (int64_t batch = 1; batch <= 3; batch += 2) {
                    const int64_t size[4] = {batch, m, k, n};
                    check_matmul((lam_dtype)_i, size, (layout)strided_below(&state, LAYOUTS),
                                 (layout)strided_below(&state, LAYOUTS), &state);
                    check_matmul((lam_dtype)_i, size, ROWS, (layout)strided_below(&state, LAYOUTS), &state);
                }
}
END_TEST

/* Every pair of layouts at sizes that reach every path: tiny, small, vectors, outer products, CBLAS. */
START_TEST(matmul_every_layout) {
    static const int64_t sizes[][4] = {{3, 3, 2, 4},   {2, 8, 8, 8},   {2, 12, 16, 13}, {3, 1, 40, 1},   {3, 1, 40, 37},
                                       {3, 37, 40, 1}, {3, 20, 1, 30}, {2, 33, 17, 21}, {1, 70, 65, 40}, {4, 100, 3, 3},
                                       {3, 3, 3, 100}, {3, 3, 100, 3}, {0, 3, 3, 3},    {2, 20, 0, 20}};
    uint64_t state = 80 + (uint64_t)_i;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) check_layouts((lam_dtype)_i, sizes[i], &state);
}
END_TEST

/* Results of few elements, each of so many terms that they are summed in pieces, the last one shorter; and matrices of
 * a few columns times vectors. */
START_TEST(matmul_of_long_contractions) {
    static const layout layouts[] = {ROWS, COLUMNS, GAPS, TIGHT};
    static const int64_t sizes[][4] = {{1, 6, 30011, 6}, {2, 24, 3001, 30}, {1, 64, 500, 64}, {1, 3, 25001, 40},
                                       {2, 6, 2500, 1},  {1, 1, 2500, 7},   {1, 8, 2500, 1}};
    uint64_t state = 180 + (uint64_t)_i;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < 4; y += 1 + SANITIZED)
                check_matmul((lam_dtype)_i, sizes[i], layouts[x], layouts[(x + y) % 4], &state);
}
END_TEST

/* How the 12 matrices of an operand are walked in 3 runs of 4: in matrices, within a run and from run to run. */
static const int64_t walks[][2] = {{1, 4}, {0, 1}, {3, 1}, {1, 0}, {0, 0}};
enum { RUNS = 3, RUN = 4, WALKS = sizeof walks / sizeof walks[0] };

static void check_runs(lam_dtype dtype, const int64_t size[4], const int64_t walk_x[2], const int64_t walk_y[2],
                       int64_t cut, uint64_t *state) {
    const int64_t m = size[1], k = size[2], n = size[3], one_x = m * k, one_y = k * n;
    operand x = make_operand(dtype, ROWS, RUNS * RUN, m, k, state),
            y = make_operand(dtype, ROWS, RUNS * RUN, k, n, state);
    char *out = malloc((size_t)(RUNS * RUN * m * n) * strided_item[dtype]);
    lam__product p = product_of(size, &x, &y, out);
    p.run = RUN;
    p.x_batch = walk_x[0] * one_x, p.x_turn = walk_x[1] * one_x - RUN * p.x_batch;
    p.y_batch = walk_y[0] * one_y, p.y_turn = walk_y[1] * one_y - RUN * p.y_batch;
    lam__matmul plan;
    ck_assert(lam__kernels_matmul_plan(dtype, &p, &plan));
    void *room = malloc(plan.room + 1);
    if (cut > plan.product.batch) cut = plan.product.batch;
    lam__kernels_matmul_part(&plan, 0, cut, 0, plan.product.m, room);
    lam__kernels_matmul_part(&plan, cut, plan.product.batch, 0, plan.product.m, room);
    for (int64_t i = 0; i < RUNS * RUN * m * n; i++) {
        const int64_t b = i / (m * n), outer = b / RUN, inner = b % RUN;
        check_element(dtype, k, &x, &y, (inner * walk_x[0] + outer * walk_x[1]) * one_x + i / n % m * k,
                      (inner * walk_y[0] + outer * walk_y[1]) * one_y + i % n, out, i);
    }
    free(room);
    free(x.memory);
    free(y.memory);
    free(out);
}

/* Batches that one stride does not walk, by every kernel, in two parts that may meet within a run. */
START_TEST(matmul_in_runs) {
    static const int64_t sizes[][4] = {{12, 4, 4, 4},   {12, 1, 5, 4},   {12, 3, 5, 1},  {12, 1, 7, 1},
                                       {12, 1, 40, 30}, {12, 30, 40, 1}, {12, 20, 1, 9}, {12, 20, 17, 21}};
    uint64_t state = 800 + (uint64_t)_i;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int a = 0; a < WALKS; a++)
            for (int b = 0; b < WALKS; b++)
                check_runs((lam_dtype)_i, sizes[i], walks[a], walks[b], (a + 2 * b) % 12, &state);
}
END_TEST

/* Rows that do not fill a vector are read and written together with what lies behind them. A matrix of NaN between
 * others spoils neither of these, and nothing is written behind the last one. */
START_TEST(matmul_keeps_neighbours_apart) {
    enum { BATCH = 3, MOST = 9, COUNT = BATCH * MOST * MOST, GUARD = 16 };
    static double x[COUNT], y[COUNT], out[COUNT + GUARD];
    const int64_t n = _i, size = n * n;
    pool none = {.left = 0};
    for (int64_t i = 0; i < BATCH * size; i++) {
        x[i] = (double)(i % 5 - 2);
        y[i] = i / size == 1 ? NAN : (double)(i % 7 - 3);
    }
    for (int64_t i = 0; i < GUARD; i++) out[BATCH * size + i] = 99;
    const lam__product p = {BATCH,           n,          n,          n,      .x = x,
                            .x_batch = size, .x_row = n, .x_col = 1, .y = y, .y_batch = size,
                            .y_row = n,      .y_col = 1, .out = out};
    ck_assert(lam__kernels_matmul(LAM_F64, &p, take_scratch, &none));
    for (int64_t i = 0; i < BATCH * size; i++) {
        const int64_t b = i / size, row = i % size / n, column = i % n;
        double want = 0;
        for (int64_t k = 0; k < n; k++) want += x[b * size + row * n + k] * y[b * size + k * n + column];
        if (b == 1) ck_assert(isnan(out[i]));
        else ck_assert_double_eq(out[i], want);
    }
    for (int64_t i = 0; i < GUARD; i++) ck_assert_double_eq(out[BATCH * size + i], 99);
}
END_TEST

/* An operand without a stride of 1 is copied for CBLAS, one that has one is not; there is one block for both, and if it
 * is refused that is reported. */
START_TEST(matmul_scratch) {
    uint64_t state = 3;
    static const struct {
        layout x, y;
        int wanted;
    } cases[] = {{ROWS, COLUMNS, 0}, {COLUMNS, ROWS, 0}, {SHARED, ROWS, 0},   {TIGHT, TIGHT, 0},
                 {GAPS, ROWS, 1},    {ROWS, GAPS, 1},    {GAPS, BACKWARDS, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int left = 0; left <= cases[i].wanted; left++) {
            pool scratch = {.left = left};
            operand x = make_operand(LAM_F64, cases[i].x, 2, 40, 410, &state);
            operand y = make_operand(LAM_F64, cases[i].y, 2, 410, 420, &state);
            double *out = malloc(2 * 40 * 420 * sizeof *out);
            const lam__product p = product_of((int64_t[]){2, 40, 410, 420}, &x, &y, out);
            bool done = lam__kernels_matmul(LAM_F64, &p, take_scratch, &scratch);
            ck_assert_int_eq(done, left == cases[i].wanted);
            empty_pool(&scratch);
            free(x.memory);
            free(y.memory);
            free(out);
        }
}
END_TEST

/* ---- factorisations ------------------------------------------------------------------------------------------ */

static const int64_t orders[] = {0, 1, 2, 3, 5, 8, 9, 13, 16, 17, 24, 25, 40, 100, 131, 270};
enum { ORDERS = sizeof orders / sizeof orders[0], BATCH = 3 };

static long double epsilon_of(lam_dtype dtype) {
    return dtype == LAM_F64 ? DBL_EPSILON : FLT_EPSILON;
}

/* Symmetric, positive definite because the diagonal dominates. */
static void *make_definite(lam_dtype dtype, int64_t n, uint64_t *state) {
    char *a = strided_fill(dtype, BATCH * n * n, state);
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i; j < n; j++) {
                const double below = (double)strided_get(dtype, a, (b * n + j) * n + i);
                strided_put(dtype, a, (b * n + i) * n + j, i == j ? (double)n + 1 : below);
            }
    return a;
}

/* L L' = A within n + 2 roundings of |L| |L'| (Higham, Accuracy and Stability, theorem 10.3; one for the square
 * root); zeros above. */
static void check_cholesky(lam_dtype dtype, int64_t n, const void *a, const void *l) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            long double sum = 0, magnitude = 0;
            for (int64_t q = 0; q < n; q++) {
                const long double term = strided_get(dtype, l, i * n + q) * strided_get(dtype, l, j * n + q);
                sum += term, magnitude += fabsl(term);
            }
            if (j > i) STRIDED_CHECK(strided_get(dtype, l, i * n + j) == 0, "above the diagonal");
            else
                STRIDED_CHECK(fabsl(sum - strided_get(dtype, a, i * n + j)) <= (n + 2) * epsilon_of(dtype) * magnitude,
                              "n %d at %d, %d", (int)n, (int)i, (int)j);
        }
}

START_TEST(cholesky_batches) {
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 17;
    for (int o = 0; o < ORDERS; o++) {
        const int64_t n = orders[o], bytes = n * n * (int64_t)strided_item[dtype];
        char *a = make_definite(dtype, n, &state), *l = malloc((size_t)(BATCH * bytes) + 1);
        memcpy(l, a, (size_t)(BATCH * bytes));
        ck_assert_int_eq(lam__kernels_cholesky(dtype, BATCH, n, l), -1);
        for (int b = 0; b < BATCH; b++) check_cholesky(dtype, n, a + b * bytes, l + b * bytes);
        free(a);
        free(l);
    }
}
END_TEST

/* The last matrix of the batch has a negative, zero or NaN pivot at its end, or a NaN beside the diagonal. */
START_TEST(cholesky_names_the_matrix_that_is_not_definite) {
    static const double bad[] = {-1, 0, NAN};
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 18;
    for (int o = 1; o < ORDERS; o++)
        for (int kind = 0; kind < 4; kind++) {
            const int64_t n = orders[o], last = BATCH * n * n - 1;
            if (kind == 3 && n == 1) continue;
            char *a = make_definite(dtype, n, &state);
            strided_put(dtype, a, kind == 3 ? last - 1 : last, kind == 3 ? NAN : bad[kind]);
            if (kind == 3) strided_put(dtype, a, last - n, NAN);
            ck_assert_int_eq(lam__kernels_cholesky(dtype, BATCH, n, a), 2);
            free(a);
        }
}
END_TEST

/* P A = L U within n roundings of |L| |U| (Higham, theorem 9.3); partial pivoting keeps every |l| at most 1. */
static void check_lu(lam_dtype dtype, int64_t n, char *a, const void *lu, const int32_t *pivots) {
    const size_t item = strided_item[dtype];
    for (int64_t i = 0; i < n; i++) {
        ck_assert(pivots[i] >= i && pivots[i] < n);
        for (size_t byte = 0; byte < (size_t)n * item && pivots[i] != i; byte++) {
            char *row = a + (size_t)(i * n) * item, *other = a + (size_t)(pivots[i] * n) * item, t = row[byte];
            row[byte] = other[byte], other[byte] = t;
        }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            long double sum = 0, magnitude = 0;
            for (int64_t q = 0; q <= i && q <= j; q++) {
                const long double l = q == i ? 1 : strided_get(dtype, lu, i * n + q);
                sum += l * strided_get(dtype, lu, q * n + j);
                magnitude += fabsl(l * strided_get(dtype, lu, q * n + j));
            }
            STRIDED_CHECK(j >= i || fabsl(strided_get(dtype, lu, i * n + j)) <= 1, "a factor above 1");
            STRIDED_CHECK(fabsl(sum - strided_get(dtype, a, i * n + j)) <= (n + 1) * epsilon_of(dtype) * magnitude,
                          "n %d at %d, %d", (int)n, (int)i, (int)j);
        }
}

START_TEST(lu_batches) {
    const lam_dtype dtype = (lam_dtype)_i;
    uint64_t state = 19;
    for (int o = 0; o < ORDERS; o++) {
        const int64_t n = orders[o], bytes = n * n * (int64_t)strided_item[dtype];
        int32_t *pivots = malloc((size_t)(BATCH * n) * sizeof *pivots + 1);
        char *a = strided_fill(dtype, BATCH * n * n, &state), *lu = malloc((size_t)(BATCH * bytes) + 1);
        memcpy(lu, a, (size_t)(BATCH * bytes));
        lam__kernels_lu(dtype, BATCH, n, n, lu, pivots, NULL);
        for (int b = 0; b < BATCH; b++) check_lu(dtype, n, a + b * bytes, lu + b * bytes, pivots + b * n);
        free(a);
        free(lu);
        free(pivots);
    }
}
END_TEST

/* A column of zeros in the middle: U has a zero there, the rest is factored all the same. */
START_TEST(lu_singular) {
    uint64_t state = 20;
    for (int o = 3; o < ORDERS; o++) {
        const int64_t n = orders[o], middle = n / 2;
        int32_t *pivots = malloc((size_t)n * sizeof *pivots);
        double *a = strided_fill(LAM_F64, n * n, &state), *lu = malloc((size_t)(n * n) * sizeof *lu);
        for (int64_t i = 0; i < n; i++) a[i * n + middle] = 0;
        memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
        lam__kernels_lu(LAM_F64, 1, n, n, lu, pivots, NULL);
        ck_assert(lu[middle * n + middle] == 0);
        check_lu(LAM_F64, n, (char *)a, lu, pivots);
        free(a);
        free(lu);
        free(pivots);
    }
}
END_TEST

/* ---- triangular solves --------------------------------------------------------------------------------------- */

/* Entry (i, j) of op(a); what the solve must not read counts as zero or one, and holds NaN. */
static long double entry(lam_dtype dtype, const lam__triangular *how, int64_t n, const void *a, int64_t i, int64_t j) {
    const int64_t row = how->transpose ? j : i, col = how->transpose ? i : j;
    if (row == col) return how->unit_diagonal ? 1 : strided_get(dtype, a, row * n + col);
    return how->upper == (col > row) ? strided_get(dtype, a, row * n + col) : 0;
}

static void *make_triangle(lam_dtype dtype, const lam__triangular *how, int64_t n, uint64_t *state) {
    char *a = strided_fill(dtype, BATCH * n * n, state);
    for (int64_t b = 0; b < BATCH; b++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const int64_t at = (b * n + i) * n + j;
                if (i == j) strided_put(dtype, a, at, how->unit_diagonal ? NAN : 2 + (double)(i % 3));
                else if (how->upper != (j > i)) strided_put(dtype, a, at, NAN);
                else strided_put(dtype, a, at, (double)strided_get(dtype, a, at) / (double)n);
            }
    return a;
}

/* |op(a) x - b| <= (n + 2) epsilon |op(a)| |x| (Higham, theorem 8.5; two more for a reciprocal of the diagonal). */
static void check_solution(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a,
                           const void *x, const void *b) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) {
            long double sum = 0, magnitude = 0;
            for (int64_t q = 0; q < n; q++) {
                const long double left =
                    how->right_side ? entry(dtype, how, n, a, q, i) : entry(dtype, how, n, a, i, q);
                const long double term = left * strided_get(dtype, x, how->right_side ? c * n + q : q * m + c);
                sum += term, magnitude += fabsl(term);
            }
            const long double want = strided_get(dtype, b, how->right_side ? c * n + i : i * m + c);
            STRIDED_CHECK(fabsl(sum - want) <= (n + 2) * epsilon_of(dtype) * magnitude, "n %d m %d", (int)n, (int)m);
        }
}

START_TEST(triangular_solve_all_ways) {
    static const int64_t sides[] = {0, 1, 9, 2, 30};
    const lam_dtype dtype = (lam_dtype)(_i / 16);
    const lam__triangular how = {_i & 1, _i >> 1 & 1, _i >> 2 & 1, _i >> 3 & 1};
    uint64_t state = 21 + (uint64_t)_i;
    for (int o = 0; o < ORDERS; o++)
        for (size_t s = SANITIZED ? (size_t)o % 2 : 0; s < sizeof sides / sizeof sides[0]; s += 1 + SANITIZED) {
            const int64_t n = orders[o], m = sides[s], item = (int64_t)strided_item[dtype], bytes = n * m * item;
            char *a = make_triangle(dtype, &how, n, &state), *b = strided_fill(dtype, BATCH * n * m, &state);
            char *x = malloc((size_t)(BATCH * bytes) + 1);
            memcpy(x, b, (size_t)(BATCH * bytes));
            lam__kernels_triangular_solve(dtype, &how, BATCH, n, m, a, x);
            for (int i = 0; i < BATCH; i++)
                check_solution(dtype, &how, n, m, a + i * n * n * item, x + i * bytes, b + i * bytes);
            free(a);
            free(b);
            free(x);
        }
}
END_TEST

/* ---- start --------------------------------------------------------------------------------------------------- */

static void *start_thread(void *unused) {
    (void)unused;
    return lam__kernels_start() ? (void *)(uintptr_t)1 : NULL;
}

START_TEST(start_from_several_threads) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&threads[i], NULL, start_thread, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *started = NULL;
        pthread_join(threads[i], &started);
        ck_assert_ptr_nonnull(started);
    }
    ck_assert(lam__kernels_start());
}
END_TEST

Suite *suite_kernels_test_blas(void);

Suite *suite_kernels_test_blas(void) {
    Suite *suite = suite_create("kernels/blas");
    TCase *tests = tcase_create("blas");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, start_from_several_threads);
    tcase_add_loop_test(tests, matmul_every_small_size, 0, REAL_DTYPES);
    tcase_add_loop_test(tests, matmul_every_layout, 0, REAL_DTYPES);
    tcase_add_loop_test(tests, matmul_of_long_contractions, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, matmul_in_runs, 0, REAL_DTYPES);
    tcase_add_loop_test(tests, matmul_keeps_neighbours_apart, 1, 10);
    tcase_add_test(tests, matmul_scratch);
    tcase_add_loop_test(tests, cholesky_batches, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, cholesky_names_the_matrix_that_is_not_definite, LAM_F64, LAM_F32 + 1);
    tcase_add_loop_test(tests, lu_batches, LAM_F64, LAM_F32 + 1);
    tcase_add_test(tests, lu_singular);
    tcase_add_loop_test(tests, triangular_solve_all_ways, 0, 32);
    suite_add_tcase(suite, tests);
    return suite;
}
