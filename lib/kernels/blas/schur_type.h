/* The Schur form of one matrix of one type, included by schur.c with T, its real R, NAME, LETTER (LAPACK's for the
 * type), and IS_COMPLEX as 0 or 1. LAPACK thinks in columns, so matrices are turned before and behind it; it works on
 * copies, with numbers to spare behind each (NOTE [spare numbers] in spectral_complex.c). No include guard: that is the
 * point. */

#if IS_COMPLEX
extern void LAPACK(gees)(const char *job, const char *sort, void *select, const int *n, T *a, const int *lead,
                         int *sorted, T *w, T *z, const int *lead_z, T *work, const int *size, R *rwork, int *flags,
                         int *info, size_t, size_t);
#else
extern void LAPACK(gees)(const char *job, const char *sort, void *select, const int *n, T *a, const int *lead,
                         int *sorted, T *re, T *im, T *z, const int *lead_z, T *work, const int *size, int *flags,
                         int *info, size_t, size_t);
#endif

/* Room in numbers behind which LAPACK's own begins: both matrices, eigenvalues and real work, of which nothing needs
 * more than n each. */
static int64_t FN(fixed)(int64_t n) {
    return 2 * (n * n + SPARE) + 2 * n;
}

/* Runs LAPACK, or with size -1 asks it for the room it wants, which it puts into room[0]. */
static int FN(run)(int n, T *a, T *z, T *values, T *room, int size) {
    int sorted = 0, flags = 0, info = 0;
    const int lead = n > 0 ? n : 1;
#if IS_COMPLEX
    LAPACK(gees)
    ("V", "N", NULL, &n, a, &lead, &sorted, values, z, &lead, room, &size, (R *)(values + n), &flags, &info, 1, 1);
#else
    LAPACK(gees)
    ("V", "N", NULL, &n, a, &lead, &sorted, values, values + n, z, &lead, room, &size, &flags, &info, 1, 1);
#endif
    return info;
}

/* The room that LAPACK wants. */
static int FN(asked)(int64_t n) {
    T none[4] = {0}, size = 0;
    FN(run)((int)n, none, none, none, &size, -1);
    return as_asked((double)*(R *)&size);
}

static bool FN(finite)(int64_t count, const T *x) {
    const R *parts = (const R *)x;
    R sum = 0;
    for (int64_t i = 0; i < (1 + IS_COMPLEX) * count; i++) sum += 0 * parts[i];
    return sum == 0;
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
    if (FN(run)((int)n, a, own, values, room, FN(asked)(n)) != 0) return false;
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
