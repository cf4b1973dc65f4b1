/* The principal square root and logarithm of real matrices. The root is by Newton's method in increments (Iannazzo
 * 2003; Higham, Functions of Matrices, 2008, 6.20), whose residual is a few roundings also far from normal matrices,
 * since what was lost of an increment comes back with the next. Where eigenvalues lie on the negative real axis there
 * is no principal root, and it goes on without end. The logarithm is by inverse scaling and squaring (Cheng, Higham,
 * Kenney and Laub 2001): roots are taken until what is left is near 1, where a Pade approximant has all digits. */
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

/* sqrt of the sum of squares, without over- or underflow: hypot scales each term. Matrices here are small. */
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

/* Whether rounding a leaves six digits of its root: it changes it by some |x|^2/|a| roundings (Higham 2008, 6.2), which
 * are many where an eigenvalue next to 0 has less eigenvectors than it counts for. */
static bool is_determined(int64_t n, int64_t own, const double *a, double size, const double *x) {
    double from = 0, root = 0;
    for (int64_t i = 0; i < own; i++) {
        from = hypot(from, length(own, a + i * n));
        root = hypot(root, length(own, x + i * n));
    }
    return root * 0x1p-32 * root <= from / size;
}

/* Of a divided by its size: x begins as that, the increment as (1 - a)/2. Increments end by becoming nothing, or by not
 * becoming less any more when they are rounding only. */
bool lam__kernels_sqrtm(int64_t n, int64_t own, const double *a, double *x, void *room) {
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
            if (!is_root((int)n, x, a, size, factors) || !is_determined(n, own, a, size, x)) return false;
            for (int64_t i = 0; i < n * n; i++) x[i] *= sqrt(size);
            return true;
        }
        before = left;
        if (!isfinite(left) || !next((int)n, x, e, factors, solved, pivots)) return false;
    }
    return false;
}

/* ---- logarithm --------------------------------------------------------------------------------------------------- */

/* Of log(1 + e): the nodes and weights of Gauss and Legendre on [0, 1], as the approximant of 7 and 7 terms is the sum
 * of weight e/(1 + node e). */
enum { TERMS = 7, ROOTS = 120 };
static const double NODES[TERMS] = {
    0.02544604382862073773690515797607, 0.12923440720030278006806761335961, 0.29707742431130141654669679396152, 0.5,
    0.70292257568869858345330320603848, 0.87076559279969721993193238664039, 0.97455395617137926226309484202393,
};
static const double WEIGHTS[TERMS] = {
    0.06474248308443484663530571633954, 0.13985269574463833395073388571189, 0.19091502525255947247518488774449,
    0.20897959183673469387755102040816, 0.19091502525255947247518488774449, 0.13985269574463833395073388571189,
    0.06474248308443484663530571633954,
};

size_t lam__kernels_logm_bytes(int64_t n) {
    return (size_t)(3 * n * n) * sizeof(double) + lam__kernels_sqrtm_bytes(n);
}

/* Whether rounding a does not change all digits of its logarithm, which it does by some |a| |a^-1| roundings: of the
 * block of the first `own` rows and columns. */
static bool is_regular(int64_t n, int64_t own, const double *a, double *factor, double *inverse, int *pivots) {
    const int rows = (int)own;
    int info = 0;
    for (int64_t i = 0; i < own * own; i++) {
        factor[i] = a[i / own * n + i % own];
        inverse[i] = i % (own + 1) == 0;
    }
    const double size = length(own * own, factor);
    dgesv_(&rows, &rows, factor, &rows, pivots, inverse, &rows, &info);
    return info == 0 && size * 0x1p-52 * length(own * own, inverse) < 1;
}

/* Whether the approximant has all digits at e: its error is bounded by powers of e, which of far from normal matrices
 * are much less than its size (Al-Mohy and Higham 2012, theorem 2.1; 0.264 is their theta 7). */
static bool is_near_1(int n, const double *e, double *square, double *cube) {
    const int64_t count = (int64_t)n * n;
    if (length(count, e) <= 0.264) return true;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, e, n, e, n, 0, square, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, e, n, square, n, 0, cube, n);
    return sqrt(length(count, square)) <= 0.264 && cbrt(length(count, cube)) <= 0.264;
}

/* log = log(1 + e). False where a factor is singular, which it is not that near to 1. */
static bool approximant(int n, const double *e, double *log, double *factor, double *solved, int *pivots) {
    const size_t count = (size_t)n * (size_t)n;
    int info = 0;
    memset(log, 0, count * sizeof *log);
    for (int j = 0; j < TERMS && info == 0; j++) {
        memcpy(solved, e, count * sizeof *e);
        for (size_t i = 0; i < count; i++) factor[i] = NODES[j] * e[i] + (i % ((size_t)n + 1) == 0);
        dgesv_(&n, &n, factor, &n, pivots, solved, &n, &info);
        cblas_daxpy((int)count, WEIGHTS[j], solved, 1, log, 1);
    }
    return info == 0;
}

/* The matrix in `root` becomes its root. */
static bool next_root(int64_t n, int64_t own, double *root, double *room) {
    double *whole = room;
    memcpy(whole, root, (size_t)(n * n) * sizeof *root);
    return lam__kernels_sqrtm(n, own, whole, root, room + n * n);
}

/* The difference of the logarithms of two positive numbers in parts of that of the numbers: 1/a where they are one.
 * That of numbers which are half or twice of each other at most is exact. */
static double slope_of_log(double a, double b) {
    if (a == b) return 1 / a;
    if (a < b / 2 || b < a / 2) return (log(b) - log(a)) / (b - a);
    return log1p((b - a) / a) / (b - a);
}

/* The diagonal of a triangle's logarithm, and what lies beside it, follow from the same of the triangle: without the
 * roots, each of which costs a bit (Al-Mohy and Higham 2012, 5). */
static void refine_triangle(int64_t n, const double *a, double *x, bool lower) {
    const int64_t beside = lower ? n : 1; /* elements behind the diagonal */
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = i * (n + 1);
        x[at] = log(a[at]);
        if (i + 1 < n) x[at + beside] = a[at + beside] * slope_of_log(a[at], a[at + n + 1]);
    }
}

/* Nothing but zeros below the diagonal, or above it, and all of it positive. */
static bool is_triangle(int64_t n, const double *a, bool lower) {
    for (int64_t i = 0; i < n; i++) {
        if (!(a[i * (n + 1)] > 0)) return false;
        for (int64_t j = 0; j < i; j++)
            if (a[lower ? j * n + i : i * n + j] != 0) return false;
    }
    return true;
}

bool lam__kernels_logm(int64_t n, int64_t own, const double *a, double *x, void *room) {
    const int64_t count = n * n;
    double *root = room, *e = root + count, *rest = e + count; /* rest: what a root needs, and its operand */
    int *pivots = (int *)(void *)(rest + 3 * count);
    const bool finite = isfinite(length(count, a));
    double scale = 1;
    memcpy(root, a, (size_t)count * sizeof *a);
    if (finite && !is_regular(n, own, a, rest, rest + count, pivots)) return false;
    for (int k = 0; finite && k <= ROOTS; k++, scale *= 2) {
        for (int64_t i = 0; i < count; i++) e[i] = root[i] - (i % (n + 1) == 0);
        if (is_near_1((int)n, e, rest, rest + count)) break;
        if (k == ROOTS || !next_root(n, own, root, rest)) return false;
    }
    if (finite && !approximant((int)n, e, x, rest, rest + count, pivots)) return false;
    for (int64_t i = 0; i < count; i++) x[i] = finite ? scale * x[i] : (double)NAN;
    for (int lower = 0; finite && lower < 2; lower++)
        if (is_triangle(n, a, lower)) refine_triangle(n, a, x, lower);
    return true;
}
