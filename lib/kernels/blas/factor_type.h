/* LU and triangular solves of matrices smaller than a vector, of one floating type, included by factor.c with T and
 * NAME. No include guard: that is the point. */

/* The pivot of column i by magnitude, the first of equal ones; a NaN is never larger, so it is taken only where it
 * stands already, and spreads from there. */
static int64_t FN(largest_below)(int64_t m, int64_t n, int64_t i, const T *a) {
    int64_t best = i;
    for (int64_t r = i + 1; r < m; r++) {
        T v = a[r * n + i], w = a[best * n + i];
        if ((v < 0 ? -v : v) > (w < 0 ? -w : w)) best = r;
    }
    return best;
}

static void FN(swap_rows)(int64_t n, T *restrict a, T *restrict b) {
    for (int64_t j = 0; j < n; j++) {
        T t = a[j];
        a[j] = b[j], b[j] = t;
    }
}

/* Row by row, as LAPACK's getrf says it: pivots[i] is the row that i was exchanged with. A column without a pivot is
 * left as it is, and the zero on the diagonal tells the caller that the matrix is singular. */
static void FN(lu)(int64_t m, int64_t n, T *a, int32_t *pivots) {
    for (int64_t i = 0; i < m && i < n; i++) {
        T *row = a + i * n;
        int64_t pivot = FN(largest_below)(m, n, i, a);
        pivots[i] = (int32_t)pivot;
        if (pivot != i) FN(swap_rows)(n, row, a + pivot * n);
        if (row[i] == 0) continue;
        for (int64_t r = i + 1; r < m; r++) {
            T *restrict below = a + r * n;
            const T factor = below[i] /= row[i];
            for (int64_t j = i + 1; j < n; j++) below[j] -= factor * row[j];
        }
    }
}

#include "lib/kernels/blas/solve_type.h"
