/* Systems with three diagonals, by LAPACK, which overwrites the diagonals with its factors: it gets copies. */
#include "lib/kernels/blas/tridiagonal.h"

#include "lib/kernels/item.h"

#include <string.h>

/* LAPACK's own symbols: n, right-hand sides, the diagonals below, on and above, right-hand sides by columns. */
typedef void gtsv(const int *n, const int *m, void *lower, void *main, void *upper, void *x, const int *lead,
                  int *info);
extern gtsv dgtsv_, sgtsv_, zgtsv_, cgtsv_;

/* All four have one signature here: LAPACK sees addresses only. */
static gtsv *routine(lam_dtype dtype) {
    return dtype == LAM_F64 ? dgtsv_ : dtype == LAM_F32 ? sgtsv_ : dtype == LAM_C128 ? zgtsv_ : cgtsv_;
}

size_t lam__kernels_tridiagonal_bytes(lam_dtype dtype, int64_t n) {
    return 3 * (size_t)n * (size_t)lam__item_bytes(dtype);
}

/* Diagonals have n elements each; the lower one begins with an element that is not read, the upper one ends with such,
 * as in jax.lax.linalg.tridiagonal_solve. Transposing exchanges the two. False: a pivot is zero. */
bool lam__kernels_tridiagonal(lam_dtype dtype, const lam__tridiagonal *how, const void *bands, void *x, void *room) {
    const size_t item = (size_t)lam__item_bytes(dtype), row = (size_t)how->n * item;
    char *lower = (char *)room + item, *main = (char *)room + row, *upper = (char *)room + 2 * row;
    const int n = (int)how->n, m = (int)how->m;
    int info = 0;
    if (n == 0 || m == 0) return true;
    memcpy(room, bands, 3 * row);
    routine(dtype)(&n, &m, how->transpose ? upper : lower, main, how->transpose ? lower : upper, x, &n, &info);
    return info == 0;
}
