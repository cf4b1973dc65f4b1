/* QR, eigenvalues and singular values of one matrix of complex numbers, included by spectral_complex.c with T, its real
 * R, NAME and LETTER (LAPACK's for the type). LAPACK thinks in columns, so it is handed the transpose: of a Hermitian
 * matrix that is the conjugate, singular vectors change sides, and a QR is an LQ. No include guard: that is the point.
 * The room of a call is work for LAPACK first, then the copies with SPARE numbers behind each, real work, ints. */

/* LAPACK's own symbols, in which lengths of character arguments come last; complex numbers go by address. */
extern void LAPACK(heevd)(const char *job, const char *uplo, const int *n, T *a, const int *lead, R *w, T *work,
                          const int *size, R *rwork, const int *rsize, int *iwork, const int *isize, int *info, size_t,
                          size_t);
extern void LAPACK(gesdd)(const char *job, const int *m, const int *n, T *a, const int *lead, R *s, T *u,
                          const int *lead_u, T *vt, const int *lead_vt, T *work, const int *size, R *rwork, int *iwork,
                          int *info, size_t);
extern void LAPACK(gesvd)(const char *job_u, const char *job_vt, const int *m, const int *n, T *a, const int *lead,
                          R *s, T *u, const int *lead_u, T *vt, const int *lead_vt, T *work, const int *size, R *rwork,
                          int *info, size_t, size_t);
extern void LAPACK(gelqf)(const int *m, const int *n, T *a, const int *lead, T *tau, T *work, const int *size,
                          int *info);
extern void LAPACK(unglq)(const int *m, const int *n, const int *k, T *a, const int *lead, const T *tau, T *work,
                          const int *size, int *info);
extern void LAPACK(geev)(const char *job_left, const char *job_right, const int *n, T *a, const int *lead, T *w,
                         T *left, const int *lead_left, T *right, const int *lead_right, T *work, const int *size,
                         R *rwork, int *info, size_t, size_t);

/* 0 times an infinity or a NaN is NaN. Both parts in turn, so an infinite real part beside a zero is found as well. No
 * branch, so the loop becomes vectors. A sum of zeros is 0 in any order. */
static bool FN(all_finite)(int64_t count, const T *x) {
    const R *parts = (const R *)x;
    R sum = 0;
    for (int64_t i = 0; i < 2 * count; i++) sum += 0 * parts[i];
    return sum == 0;
}

/* Both parts; nothing where x is NULL. What was not asked for is NULL. The count is that of complex numbers. */
static void FN(fill_nan)(int64_t count, T *x) {
    R *parts = (R *)x;
    for (int64_t i = 0; x && i < 2 * count; i++) parts[i] = NAN;
}

/* For full factors of a matrix that is empty. Imaginary parts are 0. */
static void FN(fill_identity)(int64_t n, T *x) {
    for (int64_t i = 0; i < n * n; i++) x[i] = i % (n + 1) == 0;
}

/* By its parts: conj may be a call. The copy is the function's own. */
static T FN(conjugate)(T x) {
    R *parts = (R *)&x;
    parts[1] = -parts[1];
    return x;
}

/* ---- eigenvalues of Hermitian matrices --------------------------------------------------------------------------- */

/* LAPACK answers a size of -1 with the room it wants, a complex one in its real part. Leading dimensions must be valid
 * even then. Real numbers and ints have sizes of their own. Nothing is read or written at the addresses of that call
 * but the sizes. Whole numbers come back as such, sizes of arrays of numbers as numbers. */
static work_sizes FN(eigh_sizes)(int64_t n, bool vectors) {
    const int order = (int)n, ask = -1;
    int info = 0, ints = 0;
    T none = 0, size = 0;
    R value = 0, real = 0;
    LAPACK(heevd)
    (vectors ? "V" : "N", "U", &order, &none, &order, &value, &size, &ask, &real, &ask, &ints, &ask, &info, 1, 1);
    return (work_sizes){as_asked((double)*(R *)&size), as_asked((double)real), ints};
}

/* The transpose is the conjugate: its vectors, by columns, are the conjugates of ours. x is read as it lies: its lower
 * triangle is the upper one of what LAPACK sees. Values need no change, being real. x is written only after success,
 * apart from a matrix that is not finite. Values are written by LAPACK itself, ascending. */
static bool FN(eigh)(int64_t n, bool vectors, T *x, R *w, void *work) {
    const work_sizes sizes = FN(eigh_sizes)(n, vectors);
    const int order = (int)n;
    T *room = work, *own = room + sizes.numbers;
    R *real = (R *)(own + n * n + SPARE);
    int info = 0, *ints = (int *)(real + sizes.reals);
    if (!FN(all_finite)(n * n, x)) {
        FN(fill_nan)(n * n, x);
        for (int64_t i = 0; i < n; i++) w[i] = NAN;
        return true;
    }
    memcpy(own, x, (size_t)(n * n) * sizeof(T));
    LAPACK(heevd)
    (vectors ? "V" : "N", "U", &order, own, &order, w, room, &sizes.numbers, real, &sizes.reals, ints, &sizes.ints,
     &info, 1, 1);
    if (info != 0 || !vectors) return info == 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) x[i * n + j] = FN(conjugate)(own[j * n + i]);
    return true;
}

/* ---- singular values ------------------------------------------------------------------------------------------- */

/* Enough for either of the two algorithms; real numbers as LAPACK's documentation says. With vectors gesdd documents
 * the larger of 5 k^2 + 5 k and 2 k most + 2 k^2 + k real numbers, k being the shorter side; the sum of both is taken.
 * Without vectors it is 7 k, which versions up to 3.6 need; ints are 8 k in both cases. */
static work_sizes FN(svd_sizes)(const lam__rectangle *r) {
    const int m = (int)r->m, n = (int)r->n, ask = -1, k = m < n ? m : n, most = m < n ? n : m;
    const int lead_vt = svd_columns(r);
    const char *job = svd_job(r);
    int info = 0, ignored = 0;
    T none = 0, first = 0, second = 0;
    R value = 0, real = 0;
    /* LAPACK is not asked about what is empty: leading dimensions of 0 are an error to it. */
    if (k == 0) return (work_sizes){0, 0, 0};
    LAPACK(gesdd)(job, &n, &m, &none, &n, &value, &none, &n, &none, &lead_vt, &first, &ask, &real, &ignored, &info, 1);
    LAPACK(gesvd)
    (job, job, &n, &m, &none, &n, &value, &none, &n, &none, &lead_vt, &second, &ask, &real, &info, 1, 1);
    const double sizes[2] = {(double)*(R *)&first, (double)*(R *)&second};
    const int64_t square = 5 * (int64_t)k + 5, oblong = 2 * (int64_t)most + 2 * (int64_t)k + 1;
    const int64_t with_vectors = (int64_t)k * (square > oblong ? square : oblong);
    return (work_sizes){as_asked(sizes[0] > sizes[1] ? sizes[0] : sizes[1]),
                        (int)(r->vectors ? with_vectors : 7 * (int64_t)k), 8 * k};
}

/* x^T = conj(v) s u^T: LAPACK's first vectors, by columns, are our vt by rows; its second ones our u. Divide and
 * conquer first; where that does not converge, the slower and steadier QR iteration on a fresh copy. What was not asked
 * for has no elements, and nothing is copied to it. Work is asked for again here, since its parts depend on it. */
static bool FN(svd)(const lam__rectangle *r, const T *x, T *u, R *s, T *vt, void *work) {
    const work_sizes sizes = FN(svd_sizes)(r);
    const int m = (int)r->m, n = (int)r->n, k = m < n ? m : n, lead = svd_columns(r);
    const int64_t count = r->m * r->n;
    const char *job = svd_job(r);
    const int64_t u_count = r->vectors ? r->m * lead : 0, vt_count = r->vectors ? r->n * svd_rows(r) : 0;
    T *room = work, *copy = room + sizes.numbers, *own_u = copy + count + SPARE, *own_vt = own_u + u_count + SPARE;
    R *real = (R *)(own_vt + vt_count + SPARE);
    int info = 0, *ints = (int *)(real + sizes.reals);
    if (count == 0 || !FN(all_finite)(count, x)) {
        for (int i = 0; i < k; i++) s[i] = NAN;
        FN(fill_nan)(u_count, u);
        FN(fill_nan)(vt_count, vt);
        if (count == 0 && r->vectors && r->full) FN(fill_identity)(r->m, u), FN(fill_identity)(r->n, vt);
        return true;
    }
    memcpy(copy, x, (size_t)count * sizeof(T));
    LAPACK(gesdd)(job, &n, &m, copy, &n, s, own_vt, &n, own_u, &lead, room, &sizes.numbers, real, ints, &info, 1);
    if (info != 0) {
        memcpy(copy, x, (size_t)count * sizeof(T));
        LAPACK(gesvd)
        (job, job, &n, &m, copy, &n, s, own_vt, &n, own_u, &lead, room, &sizes.numbers, real, &info, 1, 1);
    }
    if (u_count) memcpy(u, own_u, (size_t)u_count * sizeof(T));
    if (vt_count) memcpy(vt, own_vt, (size_t)vt_count * sizeof(T));
    return info == 0;
}

/* ---- QR ---------------------------------------------------------------------------------------------------------- */

/* One number for each reflector is added. By lam__spectral_complex_qr_bytes. */
static work_sizes FN(qr_sizes)(const lam__rectangle *r) {
    const int m = (int)r->m, n = (int)r->n, k = m < n ? m : n, columns = r->full ? m : k, ask = -1;
    int info = 0;
    T none = 0, first = 0, second = 0;
    /* Nothing is asked of what is empty. */
    if (k == 0) return (work_sizes){0, 0, 0};
    LAPACK(gelqf)(&n, &m, &none, &n, &none, &first, &ask, &info);
    LAPACK(unglq)(&columns, &m, &k, &none, &columns, &none, &second, &ask, &info);
    const double sizes[2] = {(double)*(R *)&first, (double)*(R *)&second};
    return (work_sizes){at_least(n > columns ? n : columns, sizes[0] > sizes[1] ? sizes[0] : sizes[1]), 0, 0};
}

/* x^T = l p has r = l^T in the place of x's upper triangle and q = p^T, whose reflectors lie below. Columns of q beyond
 * the k-th are made by unglq from the same reflectors. All of it goes through copies, q too, since unglq applies
 * reflectors by products of matrices and vectors (NOTE [spare numbers]). r's lower triangle is written as zeros. */
static void FN(qr)(const lam__rectangle *how, T *x, T *q, T *r, void *work) {
    const work_sizes sizes = FN(qr_sizes)(how);
    const int m = (int)how->m, n = (int)how->n, k = m < n ? m : n, columns = how->full ? m : k;
    if (k == 0 || !FN(all_finite)(how->m * how->n, x)) {
        FN(fill_nan)(how->m * columns, q);
        FN(fill_nan)((int64_t)columns * n, r);
        if (k == 0 && how->full) FN(fill_identity)(m, q);
        return;
    }
    T *tau = work, *room = tau + k, *own = room + sizes.numbers, *own_q = own + how->m * how->n + SPARE;
    int info = 0;
    memcpy(own, x, (size_t)(how->m * how->n) * sizeof(T));
    LAPACK(gelqf)(&n, &m, own, &n, tau, room, &sizes.numbers, &info);
    for (int64_t i = 0; i < columns; i++)
        for (int64_t j = 0; j < n; j++) r[i * n + j] = i <= j ? own[i * n + j] : 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < columns; j++) own_q[i * columns + j] = j < k ? own[i * n + j] : 0;
    LAPACK(unglq)(&columns, &m, &k, own_q, &columns, tau, room, &sizes.numbers, &info);
    memcpy(q, own_q, (size_t)(how->m * columns) * sizeof(T));
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

/* The real room is fixed by LAPACK's documentation: two numbers for each row. Left vectors are never asked for. The
 * complex one is asked for. */
static work_sizes FN(eig_sizes)(int64_t n, bool vectors) {
    const int order = (int)n, ask = -1;
    int info = 0;
    T none = 0, size = 0;
    R real = 0;
    LAPACK(geev)
    ("N", vectors ? "V" : "N", &order, &none, &order, &none, &none, &order, &none, &order, &size, &ask, &real, &info, 1,
     1);
    return (work_sizes){as_asked((double)*(R *)&size), 2 * order, 0};
}

/* [i, j] of one becomes [j, i] of the other. LAPACK reads columns where rows lie. */
static void FN(turned)(int64_t n, const T *from, T *to) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) to[i * n + j] = from[j * n + i];
}

/* x stays as it is; v may be NULL. LAPACK's vectors are columns of a matrix by columns, so they are turned. */
static bool FN(eig)(int64_t n, const T *x, T *w, T *v, void *work) {
    const work_sizes sizes = FN(eig_sizes)(n, v != NULL);
    const int order = (int)n;
    T *room = work, *own = room + sizes.numbers, *own_v = own + n * n + SPARE, none = 0;
    /* The copy of the vectors is there only where they are wanted (lam__spectral_complex_eig_bytes). */
    R *real = (R *)(v ? own_v + n * n + SPARE : own_v);
    int info = 0;
    if (!FN(all_finite)(n * n, x)) {
        FN(fill_nan)(n, w);
        FN(fill_nan)(n * n, v);
        return true;
    }
    FN(turned)(n, x, own);
    LAPACK(geev)
    ("N", v ? "V" : "N", &order, own, &order, w, &none, &order, v ? own_v : &none, &order, room, &sizes.numbers, real,
     &info, 1, 1);
    if (info == 0 && v) FN(turned)(n, own_v, v);
    return info == 0;
}

#undef R
#undef T
#undef NAME
#undef LETTER
