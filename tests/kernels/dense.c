/* Factorisations, substitutions and products of every instruction set, on matrices whose results are small multiples
 * of 1/2: every step is exact then, so that every bit is compared (but for QR, which is held to rounding). Sizes lie
 * around those of vectors, tiles and blocks; what lies beside the operands must stay what it was. */
#include "tests/unmarked.h"
#include "lib/kernels/blas/dense.h"
#include "lib/kernels/blas/spectral.h"

#include "tests/kernels/sets.h"
#include "tests/kernels/strided.h"

#include <float.h>
#include <math.h>

static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 31, 33, 40, 64, 65, 67, 100, 129};
enum { SIZES = sizeof sizes / sizeof sizes[0], GAP = 3 };

/* Of the set and the dtype; NULL: this machine has not the set. */
static const lam__dense_loops *loops_of(int set, lam_dtype dtype) {
    const lam__simd *sets[SETS];
    if (set >= sets_of_machine(sets)) return NULL;
#if defined(LAM__HAVE_X86_64_LEVELS)
    if (sets[set] == &lam__simd_v4) return &lam__dense_loops_v4[dtype == LAM_F32];
    if (sets[set] == &lam__simd_v3) return &lam__dense_loops_v3[dtype == LAM_F32];
#endif
    return &lam__dense_loops_v1[dtype == LAM_F32];
}

static int draw(uint64_t *state, int low, int high) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((*state >> 33) % (uint64_t)(high - low + 1));
}

/* rows x columns of numbers below 4, rows `lead` apart. */
static double *draw_matrix(int64_t rows, int64_t lead, uint64_t *state) {
    double *x = calloc((size_t)(rows * lead + 1), sizeof *x);
    for (int64_t i = 0; i < rows * lead; i++) x[i] = draw(state, -3, 3);
    return x;
}

/* The same numbers in the dtype. */
static void *in_dtype(lam_dtype dtype, int64_t count, const double *x) {
    void *y = malloc((size_t)(count + 1) * strided_item[dtype]);
    for (int64_t i = 0; i < count; i++) strided_put(dtype, y, i, x[i]);
    return y;
}

/* What is to be written: NaN. */
static void *unset(lam_dtype dtype, int64_t count) {
    const size_t bytes = (size_t)(count + 1) * strided_item[dtype];
    return memset(malloc(bytes), 0xff, bytes);
}

static void check_same(lam_dtype dtype, int64_t count, const void *got, const double *want, int64_t n,
                       const char *what) {
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg((double)strided_get(dtype, got, i) == want[i], "%s of %d: %g at %d is %g", what, (int)n, want[i],
                      (int)i, (double)strided_get(dtype, got, i));
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void check_minus(const lam__dense_loops *loops, lam_dtype dtype, int64_t m, int64_t n, int64_t k, bool turned,
                        uint64_t *state) {
    const int64_t a_lead = (turned ? m : k) + GAP, lead = n + GAP, a_row = turned ? 1 : a_lead;
    const int64_t a_col = turned ? a_lead : 1;
    double *a = draw_matrix(turned ? k : m, a_lead, state), *b = draw_matrix(k, lead, state);
    double *c = draw_matrix(m, lead, state);
    void *x = in_dtype(dtype, (turned ? k : m) * a_lead, a), *y = in_dtype(dtype, k * lead, b);
    void *z = in_dtype(dtype, m * lead, c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t q = 0; q < k; q++) c[i * lead + j] -= a[i * a_row + q * a_col] * b[q * lead + j];
    loops->minus(&(lam__dense_product){m, n, k, x, y, z, a_row, a_col, lead, lead});
    check_same(dtype, m * lead, z, c, n, "product");
    void *all[] = {a, b, c, x, y, z};
    for (int i = 0; i < 6; i++) free(all[i]);
}

START_TEST(products_are_taken_away) {
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const lam__dense_loops *loops = loops_of(_i / 2, dtype);
    uint64_t state = 31;
    for (int i = 0; loops && i < 200; i++)
        check_minus(loops, dtype, draw(&state, 1, 20), sizes[draw(&state, 0, SIZES - 1)], draw(&state, 0, 40), i & 1,
                    &state);
}
END_TEST

/* ---- substitution ------------------------------------------------------------------------------------------------ */

static void check_solve(const lam__dense_loops *loops, lam_dtype dtype, int64_t n, int64_t m, int kind,
                        uint64_t *state) {
    const int64_t lead = n + GAP, b_row = m + GAP;
    const bool turned = kind & 1, upper = kind & 2, unit = kind & 4;
    double *a = draw_matrix(n, lead, state), *want = draw_matrix(n, b_row, state),
           *right = draw_matrix(n, b_row, state);
    for (int64_t i = 0; i < n; i++) a[i * lead + i] = unit ? 1000 : 1 << draw(state, 0, 2);
    const lam__dense_solve s = {turned ? 1 : lead, turned ? lead : 1, b_row, upper == turned, unit};
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) {
            double sum = (unit ? 1 : a[i * lead + i]) * want[i * b_row + c];
            for (int64_t q = s.forward ? 0 : i + 1; q < (s.forward ? i : n); q++)
                sum += a[i * s.row + q * s.col] * want[q * b_row + c];
            right[i * b_row + c] = sum;
        }
    for (int64_t i = 0; i < n; i++) /* what lies beside */
        for (int64_t c = m; c < b_row; c++) right[i * b_row + c] = want[i * b_row + c];
    void *x = in_dtype(dtype, n * lead, a), *y = in_dtype(dtype, n * b_row, right);
    loops->solve(&s, n, m, x, y);
    check_same(dtype, n * b_row, y, want, n, "solution");
    void *all[] = {a, want, right, x, y};
    for (int i = 0; i < 5; i++) free(all[i]);
}

START_TEST(substitutions_give_back_what_was_multiplied) {
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const lam__dense_loops *loops = loops_of(_i / 2, dtype);
    uint64_t state = 32;
    for (int i = 0; loops && i < 240; i++)
        check_solve(loops, dtype, sizes[i % SIZES], sizes[draw(&state, 0, SIZES - 1)], i % 8, &state);
}
END_TEST

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* u with powers of two on the diagonal; a = u^T u in the upper triangle. */
START_TEST(cholesky_gives_back_the_factor) {
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const lam__dense_loops *loops = loops_of(_i / 2, dtype);
    uint64_t state = 33;
    for (int o = 0; loops && o < SIZES; o++) {
        const int64_t n = sizes[o], lead = n + GAP;
        double *u = draw_matrix(n, lead, &state), *a = draw_matrix(n, lead, &state);
        for (int64_t i = 0; i < n; i++) u[i * lead + i] = 1 << draw(&state, 0, 2);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < lead; j++) {
                double sum = 0;
                for (int64_t q = 0; q <= i; q++) sum += u[q * lead + i] * u[q * lead + j];
                a[i * lead + j] = j < i || j >= n ? u[i * lead + j] : sum;
            }
        void *x = in_dtype(dtype, n * lead, a);
        ck_assert(loops->cholesky(n, lead, x));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++) strided_put(dtype, x, i * lead + j, u[i * lead + j]);
        check_same(dtype, n * lead, x, u, n, "factor");
        strided_put(dtype, x, (n - 1) * (lead + 1), -1);
        ck_assert(!loops->cholesky(n, lead, x));
        free(u), free(a), free(x);
    }
}
END_TEST

/* a = l u, rows mixed; every pivot is twice as large as what lies below it, so there is one way to choose them. */
START_TEST(lu_gives_back_factors_and_order) {
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const lam__dense_loops *loops = loops_of(_i / 2, dtype);
    uint64_t state = 34;
    for (int o = 0; loops && o < SIZES; o++) {
        const int64_t n = sizes[o];
        double *f = draw_matrix(n, n, &state), *a = draw_matrix(n, n, &state);
        int32_t *pivots = malloc((size_t)n * sizeof *pivots), *mixed = malloc((size_t)n * sizeof *mixed);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                f[i * n + j] = i == j ? 4 : j < i ? 0.5 * draw(&state, -1, 1) : 2 * f[i * n + j];
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t q = 0; q <= i && q <= j; q++) sum += (q == i ? 1 : f[i * n + q]) * f[q * n + j];
                a[i * n + j] = sum;
            }
        for (int64_t i = n - 1; i >= 0; i--) { /* exchanges that those of the pivots undo */
            mixed[i] = (int32_t)draw(&state, (int)i, (int)n - 1);
            for (int64_t j = 0; j < n; j++) {
                const double t = a[i * n + j];
                a[i * n + j] = a[mixed[i] * n + j], a[mixed[i] * n + j] = t;
            }
        }
        void *x = in_dtype(dtype, n * n, a);
        loops->lu(n, n, 0, n, x, pivots);
        check_same(dtype, n * n, x, f, n, "factors");
        for (int64_t i = 0; i < n; i++) ck_assert_int_eq(pivots[i], mixed[i]);
        free(f), free(a), free(pivots), free(mixed), free(x);
    }
}
END_TEST

/* q r = a and q^T q = 1 within n roundings of the norms, r with an upper triangle and, as LAPACK has it, a diagonal
 * whose sign is against that of what it replaces; columns of zeros, tiny and huge ones. */
static void check_qr(const lam__dense_loops *loops, lam_dtype dtype, int64_t m, int64_t n, int64_t columns,
                     double scale, uint64_t *state) {
    const double epsilon = dtype == LAM_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    double *a = draw_matrix(m, n, state);
    for (int64_t i = 0; i < m; i++) a[i * n + n - 1] *= scale, a[i * n + n / 2] = 0;
    const double first = a[0];
    void *x = in_dtype(dtype, m * n, a), *q = unset(dtype, m * columns), *r = unset(dtype, columns * n);
    void *room = malloc((size_t)loops->qr_room(m, n, columns) * strided_item[dtype]);
    loops->qr(m, n, columns, x, q, r, room);
    for (int64_t j = 0; j < n; j++) {
        long double norm = 0;
        for (int64_t i = 0; i < m; i++) norm = hypotl(norm, a[i * n + j]);
        for (int64_t i = 0; i < m; i++) {
            long double sum = 0;
            for (int64_t p = 0; p < columns; p++)
                sum += strided_get(dtype, q, i * columns + p) * strided_get(dtype, r, p * n + j);
            STRIDED_CHECK(fabsl(sum - a[i * n + j]) <= 4 * (long double)(m + n) * epsilon * norm, "%d x %d at %d, %d",
                          (int)m, (int)n, (int)i, (int)j);
        }
        for (int64_t i = j + 1; i < columns; i++)
            STRIDED_CHECK(strided_get(dtype, r, i * n + j) == 0, "below the diagonal");
    }
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j <= i; j++) {
            long double sum = 0;
            for (int64_t p = 0; p < m; p++)
                sum += strided_get(dtype, q, p * columns + i) * strided_get(dtype, q, p * columns + j);
            STRIDED_CHECK(fabsl(sum - (i == j)) <= 4 * (long double)(m + n) * epsilon, "columns %d, %d of %d", (int)i,
                          (int)j, (int)m);
        }
    if (n > 1 && m > 1 && first != 0 && a[n] != 0) ck_assert((first > 0) == (strided_get(dtype, r, 0) < 0));
    void *all[] = {a, x, q, r, room};
    for (int i = 0; i < 5; i++) free(all[i]);
}

START_TEST(qr_gives_orthonormal_columns) {
    const lam_dtype dtype = _i % 2 ? LAM_F32 : LAM_F64;
    const lam__dense_loops *loops = loops_of(_i / 2, dtype);
    const double scales[] = {1, dtype == LAM_F64 ? 1e-300 : 1e-36, dtype == LAM_F64 ? 1e300 : 1e36};
    uint64_t state = 35;
    for (int i = 0; loops && i < 90; i++) {
        const int64_t m = sizes[draw(&state, 0, SIZES - 3)], n = sizes[draw(&state, 0, SIZES - 3)];
        check_qr(loops, dtype, m, n, i & 1 || m < n ? m : n, scales[i % 3], &state);
    }
    for (int64_t n = 1; loops && n < 28; n++) /* tall ones */
        check_qr(loops, dtype, n % 2 ? 129 : 4 * n + n % 3, n, n, scales[n % 3], &state);
}
END_TEST

/* Sizes of work that LAPACK has worked out in an int that wrapped, or rounded to f32, or that are none. */
START_TEST(work_is_as_large_as_lapack_means) {
    ck_assert_int_eq(as_asked(100), 101);
    ck_assert_int_ge(as_asked((float)16777217), 16777217);
    ck_assert_int_eq(as_asked(1e10), INT_MAX);
    ck_assert_int_eq(at_least(70, 100), 101);
    ck_assert_int_eq(at_least(70, 50), 70);
    ck_assert_int_eq(at_least(70, -2147483600.), 70);
    ck_assert_int_eq(at_least(70, (double)NAN), 70);
}
END_TEST

Suite *suite_kernels_dense(void);

Suite *suite_kernels_dense(void) {
    Suite *suite = suite_create("kernels/dense");
    TCase *tests = tcase_create("dense");
    tcase_add_loop_test(tests, products_are_taken_away, 0, 2 * SETS);
    tcase_add_loop_test(tests, substitutions_give_back_what_was_multiplied, 0, 2 * SETS);
    tcase_add_loop_test(tests, cholesky_gives_back_the_factor, 0, 2 * SETS);
    tcase_add_loop_test(tests, lu_gives_back_factors_and_order, 0, 2 * SETS);
    tcase_add_loop_test(tests, qr_gives_orthonormal_columns, 0, 2 * SETS);
    tcase_add_test(tests, work_is_as_large_as_lapack_means);
    suite_add_tcase(suite, tests);
    return suite;
}
