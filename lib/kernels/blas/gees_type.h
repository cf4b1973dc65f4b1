/* LAPACK's Schur form of one matrix of columns, of one type: what schur_type.h and sylvester_type.h, which include this
 * with what they are given, both need of it. No include guard: that is the point. */

#if IS_COMPLEX
extern void LAPACK(gees)(const char *job, const char *sort, void *select, const int *n, T *a, const int *lead,
                         int *sorted, T *w, T *z, const int *lead_z, T *work, const int *size, R *rwork, int *flags,
                         int *info, size_t, size_t);
#else
extern void LAPACK(gees)(const char *job, const char *sort, void *select, const int *n, T *a, const int *lead,
                         int *sorted, T *re, T *im, T *z, const int *lead_z, T *work, const int *size, int *flags,
                         int *info, size_t, size_t);
#endif

/* Runs LAPACK, a in place with vectors z, or with size -1 asks it for the room it wants, which it puts into room[0].
 * `values` has room for 2 n numbers. Not 0: the iteration did not end. */
static int FN(gees)(int64_t rows, T *a, T *z, T *values, T *room, int size) {
    const int n = (int)rows, lead = n > 0 ? n : 1;
    int sorted = 0, flags = 0, info = 0;
/* "V": vectors are wanted; "N": values stay in the order in which they are found. */
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
    FN(gees)(n, none, none, none, &size, -1);
    return as_asked((double)*(R *)&size);
}

/* LAPACK need not end where a number is none. */
static bool FN(finite)(int64_t count, const T *x) {
    const R *parts = (const R *)x;
    R sum = 0;
    for (int64_t i = 0; i < (1 + IS_COMPLEX) * count; i++) sum += 0 * parts[i];
    return sum == 0;
}
