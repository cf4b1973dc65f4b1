/* Sylvester's equation in one type, included by sylvester.c with T, its real R, NAME, LETTER (LAPACK's for the type),
 * and IS_COMPLEX as 0 or 1. LAPACK thinks in columns, to which row-major matrices are transposed: b' x' + x' a' = c',
 * which is the same equation, so nothing is turned. With b' = u s u^H and a' = v r v^H it is s y + y r = u^H c' v for
 * x' = u y v^H. LAPACK works on copies, with numbers to spare behind each (NOTE [spare numbers] in spectral.h).
 * No include guard: that is the point. */

#include "lib/kernels/blas/gees_type.h"

extern void LAPACK(trsyl)(const char *turn_a, const char *turn_b, const int *sign, const int *m, const int *n,
                          const T *a, const int *lead_a, const T *b, const int *lead_b, T *c, const int *lead_c,
                          R *scale, int *info, size_t, size_t);
extern void LAPACK(gemm)(const char *turn_a, const char *turn_b, const int *m, const int *n, const int *k,
                         const T *alpha, const T *a, const int *lead_a, const T *b, const int *lead_b, const T *beta,
                         T *c, const int *lead_c, size_t, size_t);

/* Leading dimensions are at least 1, also of what is empty. */
static int FN(least)(int64_t n) {
    return n > 0 ? (int)n : 1;
}

/* out = left right, where "C" turns an operand; [m, k] [k, n] as columns. */
static void FN(times)(const char *turn, const char *turn_right, int64_t m, int64_t k, int64_t n, const T *left,
                      const T *right, T *out) {
    const int rows = (int)m, inner = (int)k, columns = (int)n, lead = FN(least)(m);
    const int lead_left = *turn == 'N' ? lead : FN(least)(k);
    const int lead_right = *turn_right == 'N' ? FN(least)(k) : FN(least)(n);
    const T one = 1, zero = 0;
    LAPACK(gemm)
    (turn, turn_right, &rows, &columns, &inner, &one, left, &lead_left, right, &lead_right, &zero, out, &lead, 1, 1);
}

/* Numbers in front of LAPACK's own room. */
static int64_t FN(fixed)(int64_t m, int64_t n) {
    return 2 * (m * m + SPARE) + 2 * (n * n + SPARE) + m * n + SPARE + 2 * (m > n ? m : n);
}

/* False: no one solution, or none found. */
static bool FN(sylvester)(int64_t m, int64_t n, const T *a, const T *b, const T *c, T *x, T *work) {
    T *r = work, *v = r + m * m + SPARE, *s = v + m * m + SPARE, *u = s + n * n + SPARE, *y = u + n * n + SPARE;
    T *values = y + m * n + SPARE, *room = work + FN(fixed)(m, n);
    const int rows = (int)n, columns = (int)m, lead_s = FN(least)(n), lead_r = FN(least)(m), sign = 1;
    int info = 0;
    R scale = 1;
    /* c may have any elements: it goes through products only. */
    if (!FN(finite)(m * m, a) || !FN(finite)(n * n, b)) {
        for (int64_t i = 0; i < m * n; i++) x[i] = NAN;
        return true;
    }
    for (int64_t i = 0; i < m * m; i++) r[i] = a[i];
    for (int64_t i = 0; i < n * n; i++) s[i] = b[i];
    if (FN(gees)(m, r, v, values, room, FN(asked)(m)) != 0) return false;
    if (FN(gees)(n, s, u, values, room, FN(asked)(n)) != 0) return false;
    FN(times)("C", "N", n, n, m, u, c, y);
    FN(times)("N", "N", n, m, m, y, v, x);
    LAPACK(trsyl)("N", "N", &sign, &rows, &columns, s, &lead_s, r, &lead_r, x, &lead_s, &scale, &info, 1, 1);
    if (info != 0) return false;
    FN(times)("N", "N", n, n, m, u, x, y);
    FN(times)("N", "C", n, m, m, y, v, x);
    /* LAPACK scales the right side down where the solution would overflow. */
    for (int64_t i = 0; i < m * n && scale != 1; i++) x[i] /= scale;
    return true;
}

/* The number of the first equation without a solution, or -1; the same work serves all. */
static int64_t FN(sylvester_all)(int64_t batch, int64_t m, int64_t n, const T *a, const T *b, const T *c, T *x,
                                 T *work) {
    for (int64_t k = 0; k < batch; k++)
        if (!FN(sylvester)(m, n, a + k * m * m, b + k * n * n, c + k * m * n, x + k * m * n, work)) return k;
    return -1;
}

#undef R
#undef T
#undef NAME
#undef LETTER
#undef IS_COMPLEX
