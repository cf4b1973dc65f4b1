/* QR, eigenvalues and singular values of one matrix of one floating type, included by spectral.c with T, NAME, DTYPE
 * and LETTER (LAPACK's for the type). LAPACK thinks in columns, so it is handed the transpose: a symmetric matrix is
 * its own, singular vectors change sides, and a QR is an LQ (small ones are dense.h's). No include guard: that is the
 * point. */

extern void LAPACK(syevd)(const char *job, const char *uplo, const int *n, T *a, const int *lead, T *w, T *work,
                          const int *size, int *iwork, const int *isize, int *info, size_t, size_t);
extern void LAPACK(gesdd)(const char *job, const int *m, const int *n, T *a, const int *lead, T *s, T *u,
                          const int *lead_u, T *vt, const int *lead_vt, T *work, const int *size, int *iwork, int *info,
                          size_t);
extern void LAPACK(gesvd)(const char *job_u, const char *job_vt, const int *m, const int *n, T *a, const int *lead,
                          T *s, T *u, const int *lead_u, T *vt, const int *lead_vt, T *work, const int *size, int *info,
                          size_t, size_t);
extern void LAPACK(gelqf)(const int *m, const int *n, T *a, const int *lead, T *tau, T *work, const int *size,
                          int *info);
extern void LAPACK(orglq)(const int *m, const int *n, const int *k, T *a, const int *lead, const T *tau, T *work,
                          const int *size, int *info);
extern void LAPACK(geev)(const char *job_left, const char *job_right, const int *n, T *a, const int *lead, T *re, T *im,
                         T *left, const int *lead_left, T *right, const int *lead_right, T *work, const int *size,
                         int *info, size_t, size_t);

/* 0 times an infinity or a NaN is NaN. A sum without branches, which the compiler turns into vectors; the order of the
 * sum does not matter, since all terms are zeros or one is NaN. */
static bool FN(all_finite)(int64_t count, const T *x) {
    T sum = 0;
    for (int64_t i = 0; i < count; i++) sum += 0 * x[i];
    return sum == 0;
}

/* Of what was not asked for, which is NULL, nothing is filled. */
static void FN(fill)(int64_t count, T value, T *x) {
    for (int64_t i = 0; x && i < count; i++) x[i] = value;
}

static void FN(fill_identity)(int64_t n, T *x) {
    for (int64_t i = 0; i < n * n; i++) x[i] = i % (n + 1) == 0;
}

/* ---- symmetric eigenvalues ------------------------------------------------------------------------------------- */

/* Work that LAPACK asks for, in numbers and ints. */
static work_sizes FN(eigh_sizes)(int64_t n, bool vectors) {
    const int order = (int)n, ask = -1;
    int info = 0, isize = 0;
    T none = 0, size = 0;
    LAPACK(syevd)(vectors ? "V" : "N", "U", &order, &none, &order, &none, &size, &ask, &isize, &ask, &info, 1, 1);
    return (work_sizes){as_asked((double)size), isize};
}

/* LAPACK's upper triangle is our lower one. Its vectors are columns: our rows. Rows of the result would be the vectors,
 * but the contract has them in columns, hence the transpose, in place. */
static bool FN(eigh)(int64_t n, bool vectors, work_sizes sizes, T *x, T *w, void *work) {
    const int order = (int)n;
    int info = 0;
    if (!FN(all_finite)(n * n, x)) {
        FN(fill)(n * n, NAN, x);
        FN(fill)(n, NAN, w);
        return true;
    }
    LAPACK(syevd)
    (vectors ? "V" : "N", "U", &order, x, &order, w, work, &sizes.numbers, (int *)((T *)work + sizes.numbers),
     &sizes.ints, &info, 1, 1);
    if (info == 0 && vectors) FN(transpose)(n, x);
    return info == 0;
}

/* ---- singular values ------------------------------------------------------------------------------------------- */

/* Whether the values are those of r in x = q r, which dense.h makes faster than LAPACK of a matrix that it sees turned;
 * u is q times that of r. Of small matrices that is more work than it saves. */
static bool FN(svd_is_tall)(const lam__rectangle *r) {
    return !r->full && 5 * r->m >= 8 * r->n && r->m * r->n >= TALL && lam__dense_fits_qr(DTYPE, r->m, r->n);
}

/* Enough for either of the two algorithms, beside a copy of the matrix. */
static work_sizes FN(svd_whole_sizes)(const lam__rectangle *r) {
    const int m = (int)r->m, n = (int)r->n, ask = -1, k = m < n ? m : n, lead_vt = svd_columns(r);
    const char *job = svd_job(r);
    int info = 0, ignored = 0;
    T none = 0, first = 0, second = 0;
    if (k == 0) return (work_sizes){0, 0};
    LAPACK(gesdd)(job, &n, &m, &none, &n, &none, &none, &n, &none, &lead_vt, &first, &ask, &ignored, &info, 1);
    LAPACK(gesvd)(job, job, &n, &m, &none, &n, &none, &none, &n, &none, &lead_vt, &second, &ask, &info, 1, 1);
    return (work_sizes){as_asked((double)(first > second ? first : second)), 8 * k};
}

/* Of a tall one: q, and r, what is made of it, and a copy. */
static work_sizes FN(svd_sizes)(const lam__rectangle *r) {
    const lam__rectangle inner = {r->n, r->n, false, r->vectors};
    if (!FN(svd_is_tall)(r)) return FN(svd_whole_sizes)(r);
    work_sizes sizes = FN(svd_whole_sizes)(&inner);
    sizes.numbers = at_least((int)lam__dense_loops_of(DTYPE)->qr_room(r->m, r->n, r->n), sizes.numbers);
    sizes.numbers += (int)((r->m + 3 * r->n) * r->n);
    return sizes;
}

/* What there is to say without LAPACK: x is empty, or not finite. Full factors of an empty matrix are identities, since
 * an orthogonal matrix of that size has to stand there; those of a matrix that is not finite are NaN in all
 * elements. */
static void FN(svd_trivial)(const lam__rectangle *r, T *u, T *s, T *vt) {
    const bool empty = r->m == 0 || r->n == 0;
    FN(fill)(r->m < r->n ? r->m : r->n, NAN, s);
    if (!r->vectors) return;
    FN(fill)(r->m * svd_columns(r), NAN, u);
    FN(fill)(r->n * svd_rows(r), NAN, vt);
    if (empty && r->full) FN(fill_identity)(r->m, u), FN(fill_identity)(r->n, vt);
}

/* x^T = v s u^T: LAPACK's first vectors, by columns, are our vt by rows; its second ones our u. Divide and conquer
 * first; where that does not converge, the slower and steadier way. `copy` has room for x. */
static bool FN(svd_whole)(const lam__rectangle *r, work_sizes sizes, const T *x, T *u, T *s, T *vt, T *room, T *copy,
                          int *ints) {
    const int m = (int)r->m, n = (int)r->n, lead = svd_columns(r);
    const int64_t count = r->m * r->n;
    const char *job = svd_job(r);
    int info = 0;
    memcpy(copy, x, (size_t)count * sizeof(T));
    LAPACK(gesdd)(job, &n, &m, copy, &n, s, vt, &n, u, &lead, room, &sizes.numbers, ints, &info, 1);
    if (info == 0) return true;
    memcpy(copy, x, (size_t)count * sizeof(T));
    LAPACK(gesvd)(job, job, &n, &m, copy, &n, s, vt, &n, u, &lead, room, &sizes.numbers, &info, 1, 1);
    return info == 0;
}

/* `copy` is x, which is lost. `q` is where q, r, u of r and a copy of r lie, one behind the other, and LAPACK's
 * room after them: as FN(svd_sizes) has added them up. */
static bool FN(svd_tall)(const lam__rectangle *r, work_sizes sizes, T *copy, T *u, T *s, T *vt, T *q, int *ints) {
    const int64_t m = r->m, n = r->n;
    const lam__rectangle square = {n, n, false, r->vectors};
    T *inner = q + m * n, *left = inner + n * n, *again = left + n * n, *room = again + n * n;
    sizes.numbers -= (int)((m + 3 * n) * n);
    lam__dense_loops_of(DTYPE)->qr(m, n, n, copy, r->vectors ? q : NULL, inner, room);
    if (!FN(svd_whole)(&square, sizes, inner, r->vectors ? left : NULL, s, vt, room, again, ints)) return false;
    const lam__product product = {.batch = 1,
                                  .m = m,
                                  .k = n,
                                  .n = n,
                                  .x = q,
                                  .x_row = n,
                                  .x_col = 1,
                                  .y = left,
                                  .y_row = n,
                                  .y_col = 1,
                                  .out = u};
    if (r->vectors) lam__kernels_matmul(DTYPE, &product, NULL, NULL);
    return true;
}

/* work: LAPACK's room, a copy of x, ints; see bytes_of in spectral.c. */
static bool FN(svd)(const lam__rectangle *r, work_sizes sizes, const T *x, T *u, T *s, T *vt, void *work) {
    const int64_t count = r->m * r->n;
    if (count == 0 || !FN(all_finite)(count, x)) return FN(svd_trivial)(r, u, s, vt), true;
    T *room = work, *copy = room + sizes.numbers;
    int *ints = (int *)(copy + count);
    if (!FN(svd_is_tall)(r)) return FN(svd_whole)(r, sizes, x, u, s, vt, room, copy, ints);
    memcpy(copy, x, (size_t)count * sizeof(T));
    return FN(svd_tall)(r, sizes, copy, u, s, vt, room, ints);
}

/* ---- QR ---------------------------------------------------------------------------------------------------------- */

/* LAPACK's room; the caller adds one number for each reflector. Small matrices are dense.h's, with its own. */
static work_sizes FN(qr_sizes)(const lam__rectangle *r) {
    const int m = (int)r->m, n = (int)r->n, k = m < n ? m : n, columns = r->full ? m : k, ask = -1;
    int info = 0;
    T none = 0, first = 0, second = 0;
    if (k == 0) return (work_sizes){0, 0};
    if (lam__dense_fits_qr(DTYPE, m, n))
        return (work_sizes){(int)lam__dense_loops_of(DTYPE)->qr_room(m, n, columns), 0};
    LAPACK(gelqf)(&n, &m, &none, &n, &none, &first, &ask, &info);
    LAPACK(orglq)(&columns, &m, &k, &none, &columns, &none, &second, &ask, &info);
    return (work_sizes){at_least(n > columns ? n : columns, (double)(first > second ? first : second)), 0};
}

/* x^T = l p has r = l^T in the place of x's upper triangle and q = p^T, whose reflectors lie below. Where dense.h's
 * loops are faster they do it. Columns of q beyond the k-th are made by orglq from the same reflectors, which is why
 * they begin as zeros. */
static void FN(qr)(const lam__rectangle *how, work_sizes sizes, T *x, T *q, T *r, void *work) {
    const int m = (int)how->m, n = (int)how->n, k = m < n ? m : n, columns = how->full ? m : k, rows = columns;
    if (k == 0 || !FN(all_finite)(how->m * how->n, x)) {
        FN(fill)(how->m * columns, NAN, q);
        FN(fill)((int64_t)rows * n, NAN, r);
        if (k == 0 && how->full) FN(fill_identity)(m, q);
        return;
    }
    if (lam__dense_fits_qr(DTYPE, m, n)) {
        lam__dense_loops_of(DTYPE)->qr(m, n, columns, x, q, r, work);
        return;
    }
    T *tau = work, *room = tau + k;
    int info = 0;
    LAPACK(gelqf)(&n, &m, x, &n, tau, room, &sizes.numbers, &info);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) r[i * n + j] = i <= j ? x[i * n + j] : 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < columns; j++) q[i * columns + j] = j < k ? x[i * n + j] : 0;
    LAPACK(orglq)(&columns, &m, &k, q, &columns, tau, room, &sizes.numbers, &info);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------------- */

/* LAPACK answers a size of -1 with the room it wants. The parts of complex results have their own room
 * (lam__kernels_eig_bytes in spectral.c). */
static work_sizes FN(eig_sizes)(int64_t n, bool vectors) {
    const int order = (int)n, ask = -1;
    int info = 0;
    T none = 0, size = 0;
    LAPACK(geev)
    ("N", vectors ? "V" : "N", &order, &none, &order, &none, &none, &none, &order, &none, &order, &size, &ask, &info, 1,
     1);
    return (work_sizes){as_asked((double)size), 0};
}

/* Numbers side by side as complex ones. Reals have the imaginary part 0. */
static void FN(join)(int64_t n, const T *re, const T *im, T *out) {
    for (int64_t i = 0; i < n; i++) out[2 * i] = re[i], out[2 * i + 1] = im[i];
}

/* A conjugate pair of values j, j + 1 has the vectors v_j + i v_(j+1) and v_j - i v_(j+1); LAPACK's v_j are columns.
 * LAPACK puts the value with the positive imaginary part first, so the sign of im[j] tells which of the two j is; a
 * real value has neither neighbour read. */
static void FN(spread_vectors)(int64_t n, const T *im, const T *v, T *out) {
    for (int64_t j = 0; j < n; j++) {
        const bool first = im[j] > 0, second = im[j] < 0;
        const T *real = v + (second ? j - 1 : j) * n, *imaginary = v + (first ? j + 1 : j) * n;
        for (int64_t i = 0; i < n; i++) {
            out[2 * (i * n + j)] = real[i];
            out[2 * (i * n + j) + 1] = first ? imaginary[i] : second ? -imaginary[i] : 0;
        }
    }
}

/* x is overwritten; values and vectors (or NULL) are pairs of parts. Only right vectors are asked for; the left ones of
 * the transpose would be conjugates, so the matrix is turned first. */
static bool FN(eig)(int64_t n, work_sizes sizes, T *x, T *values, T *vectors, void *work) {
    const int order = (int)n;
    T *room = work, *re = room + sizes.numbers, *im = re + n, *v = im + n, none = 0;
    int info = 0;
    if (!FN(all_finite)(n * n, x)) {
        FN(fill)(2 * n, NAN, values), FN(fill)(2 * n * n, NAN, vectors);
        return true;
    }
    FN(transpose)(n, x);
    LAPACK(geev)
    ("N", vectors ? "V" : "N", &order, x, &order, re, im, &none, &order, vectors ? v : &none, &order, room,
     &sizes.numbers, &info, 1, 1);
    if (info != 0) return false;
    FN(join)(n, re, im, values);
    if (vectors) FN(spread_vectors)(n, im, v, vectors);
    return true;
}

#undef T
#undef NAME
#undef DTYPE
#undef LETTER
