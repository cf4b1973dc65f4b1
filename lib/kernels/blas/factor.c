/* Cholesky, LU and triangular solves on batches of contiguous row-major matrices: real ones by dense.h and, where they
 * are tiny, by the loops of factor_type.h; complex ones by LAPACK and CBLAS. LAPACK thinks in columns: its upper
 * triangle is our lower one, so Cholesky needs no copy; LU works on the transpose, made in place where the matrix is
 * square. Nothing here allocates. */
#include "lib/kernels/blas/dense.h"
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"
#include "lib/kernels/symmetric.h"

#include <cblas.h>
#include <string.h>

/* Up to these n a solve by plain loops is faster than a call of CBLAS, SMALL_VECTOR with one right-hand side; up to
 * TINY also faster than tiles. */
enum { SMALL = 12, SMALL_VECTOR = 8, TINY = 3 }; /* n up to which solves by plain loops are faster */

/* LAPACK's own symbols. The lengths of character arguments come last, as Fortran compilers pass them; an
 * implementation in C ignores them. */
extern void zpotrf_(const char *uplo, const int *n, void *a, const int *lead, int *info, size_t uplo_length);
extern void cpotrf_(const char *uplo, const int *n, void *a, const int *lead, int *info, size_t uplo_length);
extern void zgetrf_(const int *m, const int *n, void *a, const int *lead, int *pivots, int *info);
extern void cgetrf_(const int *m, const int *n, void *a, const int *lead, int *pivots, int *info);

/* How a solve looks once sides and transposition have become strides. All eight cases (left or right, transposed or
 * not, lower or upper) are then one loop. Element (i, q) of the matrix is a[i a_row + q a_col], that of row i and
 * right-hand side c is b[i b_row + c b_col]. */
typedef struct small_solve {
    int64_t a_row, a_col, b_row, b_col;
    bool forward, unit_diagonal;
} small_solve;

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T    double
#define NAME f64
#include "lib/kernels/blas/factor_type.h"

#define T    float
#define NAME f32
#include "lib/kernels/blas/factor_type.h"

#define T    double _Complex
#define NAME c128
#include "lib/kernels/blas/turn_type.h"

#include "lib/kernels/blas/solve_type.h"

#define T    float _Complex
#define NAME c64
#include "lib/kernels/blas/turn_type.h"

#include "lib/kernels/blas/solve_type.h"

/* One LAPACK for all sizes of complex matrices. They must be Hermitian: an upper triangle by columns is a lower one by
 * rows of the conjugate, whose factor's transpose is again ours. A pivot is real, and not positive if LAPACK has missed
 * a NaN. */
static bool cholesky_of_complex(lam_dtype dtype, int64_t n, void *a) {
    int order = (int)n, info = 0;
    (dtype == LAM_C128 ? zpotrf_ : cpotrf_)("U", &order, a, &order, &info, 1);
    for (int64_t i = 0; i < n && info == 0; i++) {
        const int64_t at = 2 * (i * n + i);
        if (!((dtype == LAM_C128 ? ((const double *)a)[at] : (double)((const float *)a)[at]) > 0)) info = 1;
        const size_t item = (size_t)lam__item_bytes(dtype);
        memset((char *)a + (size_t)(i * n + i + 1) * item, 0, (size_t)(n - 1 - i) * item);
    }
    return info == 0;
}

/* The transpose of `from` [m, n] in `to`, or of a square matrix in its own place. */
static void turn(lam_dtype dtype, int64_t m, int64_t n, const char *from, char *to) {
    const int64_t item = lam__item_bytes(dtype);
    if (from != to)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) memcpy(to + (j * m + i) * item, from + (i * n + j) * item, (size_t)item);
    else if (dtype == LAM_C128) transpose_c128(n, (double _Complex *)(void *)to);
    else transpose_c64(n, (float _Complex *)(void *)to);
}

/* LAPACK counts from 1; that U is singular (info > 0) shows on its diagonal and is no failure. */
static void lu_of_complex(lam_dtype dtype, int64_t m, int64_t n, void *a, int32_t *pivots, void *room) {
    const int rows = (int)m, columns = (int)n;
    void *turned = m == n ? a : room;
    int info = 0;
    turn(dtype, m, n, a, turned);
    (dtype == LAM_C128 ? zgetrf_ : cgetrf_)(&rows, &columns, turned, &rows, pivots, &info);
    turn(dtype, n, m, turned, a);
    for (int64_t i = 0; i < m && i < n; i++) pivots[i]--;
}

/* ---- Cholesky ------------------------------------------------------------------------------------------------ */

/* Reals are factored in the upper triangle, whose rows fill vectors, and the factor is then turned down. */
int64_t lam__kernels_cholesky(lam_dtype dtype, int64_t batch, int64_t n, void *x) {
    for (int64_t b = 0; b < batch; b++) {
        void *a = (char *)x + b * n * n * lam__item_bytes(dtype);
        if (lam__cplx_is(dtype)) {
            if (!cholesky_of_complex(dtype, n, a)) return b;
        } else {
            if (!lam__dense_cholesky(dtype, n, a)) return b;
            lam__symmetric_turn_down(dtype, n, a);
        }
    }
    return -1;
}

/* ---- LU ------------------------------------------------------------------------------------------------------ */

/* Whether a vector would be filled badly. Then the tiles compute lanes that nobody asks for, and plain loops are as
 * fast. */
static bool is_tiny(lam_dtype dtype, int64_t n) {
    const int columns = lam__dense_loops_of(dtype)->columns;
    return n < columns || (n > columns && 2 * n < 3 * columns);
}

/* Only LAPACK wants columns, and of what is not square they do not fit into the place of the rows. */
size_t lam__kernels_lu_bytes(lam_dtype dtype, int64_t m, int64_t n) {
    return lam__cplx_is(dtype) && m != n ? (size_t)(m * n * lam__item_bytes(dtype)) : 0;
}

/* The way depends on the dtype and on n alone, so a matrix has the same bits alone and in a batch. */
void lam__kernels_lu(lam_dtype dtype, int64_t batch, int64_t m, int64_t n, void *x, int32_t *pivots, void *room) {
    const bool pairs = lam__cplx_is(dtype), tiny = !pairs && is_tiny(dtype, n);
    for (int64_t b = 0; b < batch; b++, pivots += m < n ? m : n) {
        void *a = (char *)x + b * m * n * lam__item_bytes(dtype);
        if (pairs) lu_of_complex(dtype, m, n, a, pivots, room);
        else if (!tiny) lam__dense_lu(dtype, m, n, a, pivots);
        else if (dtype == LAM_F64) lu_f64(m, n, a, pivots);
        else lu_f32(m, n, a, pivots);
    }
}

/* ---- triangular solves --------------------------------------------------------------------------------------- */

/* x op(a) = b is op(a)^T x^T = b^T: a solve from the right is one from the left with all strides exchanged. */
static void solve_small(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a, void *b) {
    const bool exchanged = how->transpose != how->right_side;
    const small_solve s = {
        .a_row = exchanged ? 1 : n,
        .a_col = exchanged ? n : 1,
        .b_row = how->right_side ? 1 : m,
        .b_col = how->right_side ? n : 1,
        .forward = how->upper == exchanged,
        .unit_diagonal = how->unit_diagonal,
    };
    if (dtype == LAM_C128) solve_c128(&s, n, m, a, b);
    else if (dtype == LAM_C64) solve_c64(&s, n, m, a, b);
    else if (dtype == LAM_F64) solve_f64(&s, n, m, a, b);
    else solve_f32(&s, n, m, a, b);
}

/* For complex matrices, and for reals from the right. CBLAS is told that all is row-major and turns it itself; b is
 * contiguous, so its lead is its width. */
static void solve_cblas(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a, void *b) {
    const CBLAS_SIDE side = how->right_side ? CblasRight : CblasLeft;
    const CBLAS_UPLO triangle = how->upper ? CblasUpper : CblasLower;
    const CBLAS_TRANSPOSE transpose = how->transpose ? CblasTrans : CblasNoTrans;
    const CBLAS_DIAG diagonal = how->unit_diagonal ? CblasUnit : CblasNonUnit;
    const int rows = (int)(how->right_side ? m : n), cols = (int)(how->right_side ? n : m), lead = (int)n;
    static const double one[2] = {1, 0};
    static const float one_f32[2] = {1, 0};
    if (dtype == LAM_C128)
        cblas_ztrsm(CblasRowMajor, side, triangle, transpose, diagonal, rows, cols, one, a, lead, b, cols);
    else if (dtype == LAM_C64)
        cblas_ctrsm(CblasRowMajor, side, triangle, transpose, diagonal, rows, cols, one_f32, a, lead, b, cols);
    else if (dtype == LAM_F64)
        cblas_dtrsm(CblasRowMajor, side, triangle, transpose, diagonal, rows, cols, 1.0, a, lead, b, cols);
    else cblas_strsm(CblasRowMajor, side, triangle, transpose, diagonal, rows, cols, 1.0f, a, lead, b, cols);
}

/* One right-hand side: b is a vector, and a solve from the right is one with the transpose. */
static void solve_vector(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a, void *b) {
    const CBLAS_UPLO triangle = how->upper ? CblasUpper : CblasLower;
    const CBLAS_TRANSPOSE turn = how->transpose != how->right_side ? CblasTrans : CblasNoTrans;
    const CBLAS_DIAG diagonal = how->unit_diagonal ? CblasUnit : CblasNonUnit;
    const int size = (int)n;
    (void)m;
    if (dtype == LAM_F64) cblas_dtrsv(CblasRowMajor, triangle, turn, diagonal, size, a, size, b, 1);
    else cblas_strsv(CblasRowMajor, triangle, turn, diagonal, size, a, size, b, 1);
}

/* Real ones from the left: right-hand sides lie side by side in the rows of b, so they fill vectors. */
static void solve_rows(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a, void *b) {
    const lam__dense_solve s = {.row = how->transpose ? 1 : n,
                                .col = how->transpose ? n : 1,
                                .b_row = m,
                                .forward = how->upper == how->transpose,
                                .unit_diagonal = how->unit_diagonal};
    lam__dense_substitute(dtype, &s, n, m, a, b);
}

/* What all ways of a solve are: one matrix with its right-hand sides. */
typedef void solve_one(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m, const void *a, void *b);

/* The choice is by sizes and dtype only, one for a whole batch, so that a matrix has the same bits alone and in a
 * batch. CBLAS counts in int; what it cannot count goes by plain loops. */
static solve_one *way_of(lam_dtype dtype, const lam__triangular *how, int64_t n, int64_t m) {
    const bool pairs = lam__cplx_is(dtype);
    if (!pairs && !how->right_side && m > 1 && n > TINY) return solve_rows;
    if (n <= (m > 1 ? SMALL : SMALL_VECTOR) || m > INT_MAX) return solve_small;
    return !pairs && m == 1 ? solve_vector : solve_cblas;
}

void lam__kernels_triangular_solve(lam_dtype dtype, const lam__triangular *how, int64_t batch, int64_t n, int64_t m,
                                   const void *a, void *b) {
    const int64_t item = lam__item_bytes(dtype);
    if (n == 0 || m == 0) return;
    solve_one *solve = way_of(dtype, how, n, m);
    for (int64_t i = 0; i < batch; i++) {
        const char *matrix = (const char *)a + i * n * n * item;
        char *sides = (char *)b + i * n * m * item;
        solve(dtype, how, n, m, matrix, sides);
    }
}
