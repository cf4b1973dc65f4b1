/* The Schur form of one matrix of one type, included by schur.c with T, its real R, NAME, LETTER (LAPACK's for the
 * type), and IS_COMPLEX as 0 or 1. LAPACK thinks in columns, so matrices are turned before and behind it; it works on
 * copies, with numbers to spare behind each (NOTE [spare numbers] in spectral.h). No include guard: that is the
 * point. */

#include "lib/kernels/blas/gees_type.h"

/* Room in numbers behind which LAPACK's own begins: both matrices, eigenvalues and real work, of which nothing needs
 * more than n each. */
static int64_t FN(fixed)(int64_t n) {
    return 2 * (n * n + SPARE) + 2 * n;
}

static void FN(turned)(int64_t n, const T *from, T *to) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) to[i * n + j] = from[j * n + i];
}

/* False: the iteration did not end. */
static bool FN(schur)(int64_t n, const T *x, T *t, T *z, T *work) {
    T *a = work, *own = a + n * n + SPARE, *values = own + n * n + SPARE, *room = work + FN(fixed)(n);
    if (!FN(finite)(n * n, x)) {
        for (int64_t i = 0; i < n * n; i++) t[i] = z[i] = NAN;
        return true;
    }
    FN(turned)(n, x, a);
    if (FN(gees)(n, a, own, values, room, FN(asked)(n)) != 0) return false;
    FN(turned)(n, a, t);
    FN(turned)(n, own, z);
    return true;
}

static int64_t FN(schur_all)(int64_t batch, int64_t n, const T *x, T *t, T *z, T *work) {
    for (int64_t b = 0; b < batch; b++)
        if (!FN(schur)(n, x + b * n * n, t + b * n * n, z + b * n * n, work)) return b;
    return -1;
}

#undef R
#undef T
#undef NAME
#undef LETTER
#undef IS_COMPLEX
