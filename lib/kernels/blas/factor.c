/* Cholesky, LU and triangular solves on batches of contiguous row-major matrices: small ones by the loops of
 * factor_type.h, others by LAPACK and CBLAS. LAPACK thinks in columns: its upper triangle is our lower one, so
 * Cholesky needs no copy; LU works on the transpose, made in place. Nothing here allocates. */
#include "lib/kernels/cplx.h"
#include "lib/kernels/item.h"
#include "lib/kernels/kernels.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { SMALL_CHOLESKY = 6, SMALL_LU = 40, SMALL_SOLVE = 12 }; /* n up to which our own loops are faster (tests/bench) */

/* LAPACK's own symbols. The lengths of character arguments come last, as Fortran compilers pass them; an
 * implementation in C ignores them. */
extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lead, int *info, size_t uplo_length);
extern void spotrf_(const char *uplo, const int *n, float *a, const int *lead, int *info, size_t uplo_length);
extern void dgetrf_(const int *m, const int *n, double *a, const int *lead, int *pivots, int *info);
extern void sgetrf_(const int *m, const int *n, float *a, const int *lead, int *pivots, int *info);

extern void zpotrf_(const char *uplo, const int *n, void *a, const int *lead, int *info, size_t uplo_length);
extern void cpotrf_(const char *uplo, const int *n, void *a, const int *lead, int *info, size_t uplo_length);
extern void zgetrf_(const int *m, const int *n, void *a, const int *lead, int *pivots, int *info);
extern void cgetrf_(const int *m, const int *n, void *a, const int *lead, int *pivots, int *info);

/* How a solve looks once sides and transposition have become strides. */
typedef struct small_solve {
    int64_t a_row, a_col, b_row, b_col;
    bool forward, unit_diagonal;
} small_solve;

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

#define T    double
#define NAME f64
#define SQRT sqrt
#include "lib/kernels/blas/turn_type.h"
#include "lib/kernels/blas/factor_type.h"

#define T    float
#define NAME f32
#define SQRT sqrtf
#include "lib/kernels/blas/turn_type.h"
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

static void lu_of_complex(lam_dtype dtype, int64_t n, void *a, int32_t *pivots) {
    int order = (int)n, info = 0;
    if (dtype == LAM_C128) transpose_c128(n, a);
    else transpose_c64(n, a);
    (dtype == LAM_C128 ? zgetrf_ : cgetrf_)(&order, &order, a, &order, pivots, &info);
    if (dtype == LAM_C128) transpose_c128(n, a);
    else transpose_c64(n, a);
    for (int64_t i = 0; i < n; i++) pivots[i]--;
}

/* ---- Cholesky ------------------------------------------------------------------------------------------------ */

static bool cholesky_of_f64(int64_t n, double *a) {
    int order = (int)n, info = 0;
    if (n <= SMALL_CHOLESKY) return cholesky_f64(n, a);
    dpotrf_("U", &order, a, &order, &info, 1);
    return info == 0 && is_factor_f64(n, a);
}

static bool cholesky_of_f32(int64_t n, float *a) {
    int order = (int)n, info = 0;
    if (n <= SMALL_CHOLESKY) return cholesky_f32(n, a);
    spotrf_("U", &order, a, &order, &info, 1);
    return info == 0 && is_factor_f32(n, a);
}

int64_t lam__kernels_cholesky(lam_dtype dtype, int64_t batch, int64_t n, void *x) {
    for (int64_t b = 0; b < batch; b++) {
        if (lam__cplx_is(dtype)) {
            if (!cholesky_of_complex(dtype, n, (char *)x + b * n * n * lam__item_bytes(dtype))) return b;
        } else if (dtype == LAM_F64) {
            double *a = (double *)x + b * n * n;
            if (!cholesky_of_f64(n, a)) return b;
            clear_upper_f64(n, a);
        } else {
            float *a = (float *)x + b * n * n;
            if (!cholesky_of_f32(n, a)) return b;
            clear_upper_f32(n, a);
        }
    }
    return -1;
}

/* ---- LU ------------------------------------------------------------------------------------------------------ */

/* LAPACK counts from 1; that U is singular (info > 0) shows on its diagonal and is no failure. */
static void lu_of_f64(int64_t n, double *a, int32_t *pivots) {
    int order = (int)n, info = 0;
    transpose_f64(n, a);
    dgetrf_(&order, &order, a, &order, pivots, &info);
    transpose_f64(n, a);
    for (int64_t i = 0; i < n; i++) pivots[i]--;
}

static void lu_of_f32(int64_t n, float *a, int32_t *pivots) {
    int order = (int)n, info = 0;
    transpose_f32(n, a);
    sgetrf_(&order, &order, a, &order, pivots, &info);
    transpose_f32(n, a);
    for (int64_t i = 0; i < n; i++) pivots[i]--;
}

void lam__kernels_lu(lam_dtype dtype, int64_t batch, int64_t n, void *x, int32_t *pivots) {
    for (int64_t b = 0; b < batch; b++, pivots += n) {
        if (lam__cplx_is(dtype)) lu_of_complex(dtype, n, (char *)x + b * n * n * lam__item_bytes(dtype), pivots);
        else if (dtype == LAM_F64) (n <= SMALL_LU ? lu_f64 : lu_of_f64)(n, (double *)x + b * n * n, pivots);
        else (n <= SMALL_LU ? lu_f32 : lu_of_f32)(n, (float *)x + b * n * n, pivots);
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

void lam__kernels_triangular_solve(lam_dtype dtype, const lam__triangular *how, int64_t batch, int64_t n, int64_t m,
                                   const void *a, void *b) {
    const int64_t item = lam__item_bytes(dtype);
    const bool small = n <= SMALL_SOLVE || m > INT_MAX;
    if (n == 0 || m == 0) return;
    for (int64_t i = 0; i < batch; i++) {
        const char *matrix = (const char *)a + i * n * n * item;
        char *sides = (char *)b + i * n * m * item;
        (small ? solve_small : solve_cblas)(dtype, how, n, m, matrix, sides);
    }
}
