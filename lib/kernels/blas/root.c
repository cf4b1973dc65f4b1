/* The principal square root of a real matrix by Newton's method in increments (Iannazzo 2003; Higham, Functions of
 * Matrices, 2008, 6.20), whose residual is a few roundings also far from normal matrices, since what was lost of an
 * increment comes back with the next. Where eigenvalues lie on the negative real axis there is no principal root, and
 * it goes on without end. */
#include "lib/kernels/blas/root.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

extern void dgesv_(const int *n, const int *columns, double *a, const int *lead, int *pivots, double *b,
                   const int *lead_b, int *info);

/* Each step halves what eigenvalues next to 0 have too much, so these are the bits of a root that may lie in front of
 * the last one. */
enum { STEPS = 100 };

size_t lam__kernels_sqrtm_bytes(int64_t n) {
    return (size_t)(3 * n * n) * sizeof(double) + ((size_t)n + 2) * sizeof(int);
}

/* sqrt of the sum of squares, without over- or underflow. */
static double length(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum = hypot(sum, x[i]);
    return sum;
}

/* e = -e x^-1 e / 2; false where x is singular. What LAPACK reads by columns are transposes, which change nothing: all
 * of these matrices are functions of one. */
static bool next(int n, const double *x, double *e, double *factors, double *solved, int *pivots) {
    int info = 0;
    const size_t bytes = (size_t)n * (size_t)n * sizeof *x;
    memcpy(factors, x, bytes);
    memcpy(solved, e, bytes);
    dgesv_(&n, &n, factors, &n, pivots, solved, &n, &info);
    if (info != 0) return false;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -0.5, e, n, solved, n, 0, factors, n);
    memcpy(e, factors, bytes);
    return true;
}

/* Whether x^2 is a / size up to what far from normal matrices make of rounding: where there is no root, the iteration
 * may come to rest anywhere. */
static bool is_root(int n, const double *x, const double *a, double size, double *square) {
    const int64_t count = (int64_t)n * n;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x, n, x, n, 0, square, n);
    for (int64_t i = 0; i < count; i++) square[i] -= a[i] / size;
    const double whole = length(count, x), away = length(count, square);
    return away <= 1e-10 * (whole * whole) && away <= 1e-4;
}

/* Of a divided by its size: x begins as that, the increment as (1 - a)/2. Increments end by becoming nothing, or by not
 * becoming less any more when they are rounding only. */
bool lam__kernels_sqrtm(int64_t n, const double *a, double *x, void *room) {
    double *e = room, *factors = e + n * n, *solved = factors + n * n;
    int *pivots = (int *)(void *)(solved + n * n);
    const double size = length(n * n, a);
    for (int64_t i = 0; i < n * n; i++) {
        x[i] = isfinite(size) ? a[i] / size : (double)NAN;
        e[i] = 0.5 * ((i % (n + 1) == 0) - x[i]);
    }
    if (!isfinite(size)) return true;
    double before = INFINITY;
    for (int k = 0; k < STEPS; k++) {
        for (int64_t i = 0; i < n * n; i++) x[i] += e[i];
        const double left = length(n * n, e), whole = length(n * n, x);
        if (left <= 0x1p-53 * whole || (left <= 1e-8 * whole && left >= before / 2)) {
            if (!is_root((int)n, x, a, size, factors)) return false;
            for (int64_t i = 0; i < n * n; i++) x[i] *= sqrt(size);
            return true;
        }
        before = left;
        if (!isfinite(left) || !next((int)n, x, e, factors, solved, pivots)) return false;
    }
    return false;
}
