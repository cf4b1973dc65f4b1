/* The Hessenberg form of one matrix of one type, included by hessenberg.c with T, its real R, NAME, LETTER (LAPACK's
 * for the type), and MAKE (LAPACK's name for making q). LAPACK thinks in columns, so matrices are turned before and
 * behind it; it works on copies, with numbers to spare behind each (NOTE [spare numbers] in spectral.h). No
 * include guard: that is the point. */

extern void LAPACK(gehrd)(const int *n, const int *low, const int *high, T *a, const int *lead, T *scales, T *work,
                          const int *size, int *info);
extern void LAPACK(MAKE)(const int *n, const int *low, const int *high, T *a, const int *lead, const T *scales, T *work,
                         const int *size, int *info);

/* Numbers in front of LAPACK's own room: a matrix and the scales of its reflections. */
static int64_t FN(fixed)(int64_t n) {
    return n * n + SPARE + n + SPARE;
}

/* The room that the two steps want; with less they go column by column. */
static int FN(asked)(int64_t rows) {
    const int n = (int)rows, one = 1, lead = n > 0 ? n : 1, ask = -1;
    int info = 0;
    T none[4] = {0}, first = 0, second = 0;
    LAPACK(gehrd)(&n, &one, &n, none, &lead, none, &first, &ask, &info);
    LAPACK(MAKE)(&n, &one, &n, none, &lead, none, &second, &ask, &info);
    const int a = at_least(lead, (double)*(R *)&first), b = at_least(lead, (double)*(R *)&second);
    return a > b ? a : b;
}

/* Rows to columns before LAPACK and back behind it. */
static void FN(turned)(int64_t n, const T *from, T *to) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) to[i * n + j] = from[j * n + i];
}

/* What lies below the subdiagonal of a in between are the reflections that q is made of. */
static void FN(hessenberg)(int64_t rows, const T *x, T *h, T *q, T *work) {
    const int n = (int)rows, one = 1, lead = n > 0 ? n : 1, size = FN(asked)(rows);
    T *a = work, *scales = a + rows * rows + SPARE, *room = work + FN(fixed)(rows);
    int info = 0;
    FN(turned)(rows, x, a);
    LAPACK(gehrd)(&n, &one, &n, a, &lead, scales, room, &size, &info);
    FN(turned)(rows, a, h);
    for (int64_t i = 2; i < rows; i++)
        for (int64_t j = 0; j < i - 1; j++) h[i * rows + j] = 0;
    LAPACK(MAKE)(&n, &one, &n, a, &lead, scales, room, &size, &info);
    FN(turned)(rows, a, q);
}

/* The same work serves each matrix in turn. */
static void FN(hessenberg_all)(int64_t batch, int64_t n, const T *x, T *h, T *q, T *work) {
    for (int64_t b = 0; b < batch; b++) FN(hessenberg)(n, x + b * n * n, h + b * n * n, q + b * n * n, work);
}

#undef R
#undef T
#undef NAME
#undef LETTER
#undef MAKE
