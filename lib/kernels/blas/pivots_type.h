/* Column pivots of matrices of one type, included by pivots.c with T, its real R, NAME, LETTER (LAPACK's for the type),
 * and REALS(x): x where LAPACK wants room for real numbers, nothing elsewhere. LAPACK thinks in columns, so matrices
 * are turned before it; it works on copies, with numbers to spare behind each (NOTE [spare numbers] in
 * spectral.h). No include guard: that is the point. */

extern void LAPACK(geqp3)(const int *m, const int *n, T *a, const int *lead, int *order, T *scales, T *work,
                          const int *size, REALS(R *reals) int *info);

/* Numbers in front of LAPACK's own room: a matrix, the scales of its reflections, two real numbers for each column. */
static int64_t FN(fixed)(int64_t m, int64_t n) {
    return m * n + (m < n ? m : n) + n + 3 * SPARE;
}

/* LAPACK's documentation wants 3 n + 1 at least. */
static int FN(asked)(int64_t rows, int64_t columns) {
    const int m = (int)rows, n = (int)columns, lead = m > 0 ? m : 1, ask = -1;
    int info = 0, order[1] = {0};
    T none[4] = {0}, first = 0;
    LAPACK(geqp3)(&m, &n, none, &lead, order, none, &first, &ask, REALS((R *)none) & info);
    return at_least(3 * n + 1, (double)*(R *)&first);
}

/* The order of what is not finite is left as it lies: LAPACK would look for norms that are none. */
static bool FN(finite)(int64_t m, int64_t n, const T *x) {
    const R *parts = (const R *)x;
    for (int64_t i = 0; i < m * n * (int64_t)(sizeof(T) / sizeof(R)); i++)
        if (!isfinite(parts[i])) return false;
    return true;
}

/* LAPACK counts from 1, and takes a 0 for a column that is free to move. */
static void FN(pivots)(int64_t rows, int64_t columns, const T *x, int32_t *order, T *work) {
    const int m = (int)rows, n = (int)columns;
    for (int j = 0; j < n; j++) order[j] = j;
    if (m == 0 || n == 0 || !FN(finite)(rows, columns, x)) return;
    const int size = FN(asked)(rows, columns);
    T *a = work, *scales = a + rows * columns + SPARE, *reals = scales + (m < n ? m : n) + SPARE;
    T *room = work + FN(fixed)(rows, columns);
    int info = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) a[j * rows + i] = x[i * columns + j];
    for (int j = 0; j < n; j++) order[j] = 0;
    LAPACK(geqp3)(&m, &n, a, &m, order, scales, room, &size, REALS((R *)reals) & info);
    for (int j = 0; j < n; j++) order[j]--;
    (void)reals;
}

/* The same work serves each matrix in turn. */
static void FN(pivots_all)(int64_t batch, int64_t m, int64_t n, const T *x, int32_t *order, T *work) {
    for (int64_t b = 0; b < batch; b++) FN(pivots)(m, n, x + b * m * n, order + b * n, work);
}

#undef R
#undef T
#undef NAME
#undef LETTER
