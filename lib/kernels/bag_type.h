/* Bags of rows for one floating type, included by bag_simd.c with T, V a vector of it, MADD and FMA x y + z, and FN. No
 * include guard: that is the point.
 *
 * A bag's sum stays in registers: MOST vectors of it at a time, for each of which all entries are gone through. The
 * last vector ends where the row ends, so it may repeat some columns of the one before, which goes with it: both are
 * read before one is written, and these columns get the same numbers twice. Where rows of x are padded it lies behind
 * the one before instead, since reading what lies in two lines of the cache takes as long as three others; what is
 * written too much belongs to the next bag, whose turn is next. Rows shorter than a vector go by up to FEW columns.
 * n is a constant after inlining. Here the indices of a bag have become distances from x, and `more` says that there
 * were entries before these. */
enum { FN(LANES) = sizeof(V) / sizeof(T), FN(MOST) = 12, FN(FEW) = 4 };

/* A vector where it lies. At the alignment of its elements. */
typedef T FN(loose) __attribute__((vector_size(sizeof(V)), aligned(sizeof(T)), may_alias));

/* The same rounding as MADD of this machine, so a column has the same bits whether it is in a vector or among the
 * rest. */
ALWAYS_INLINE T FN(add_product)(T x, T y, T z) {
#if defined(VECTOR_FMA)
    return FMA(x, y, z);
#else
    return x * y + z;
#endif
}

ALWAYS_INLINE V FN(load)(const T *from) {
    return *(const FN(loose) *)from;
}

/* n vectors from column `first` on, of the bags [b, end). The last vector of a row ends with it, unless what is written
 * too much belongs to the next bag. */
ALWAYS_INLINE void FN(sum_vectors)(int n, const lam__bag *p, int64_t b, int64_t end, int64_t first, bool spills,
                                   bool more) {
    const bool ends = first + n * FN(LANES) >= p->width;
    for (; b < end; b++) {
        const int64_t *at = p->index + b * p->terms;
        const T *w = (const T *)p->w + b * p->w_bag;
        T *y = (T *)p->y + b * p->y_row + first;
        const int64_t last = ends && (!spills || b + 1 == p->bags) ? p->width - FN(LANES) - first : (n - 1) * FN(LANES);
        V sum[FN(MOST)];
        UNROLLED for (int i = 0; i < n; i++) sum[i] = more ? FN(load)(y + (i + 1 < n ? i * FN(LANES) : last)) : (V){0};
        for (int64_t t = 0; t < p->terms; t++) {
            const T *x = (const T *)p->x + at[t] + first;
            const V factor = w[t * p->w_term] - (V){0}; /* in each lane */
            UNROLLED for (int i = 0; i < n; i++) sum[i] =
                MADD(factor, FN(load)(x + (i + 1 < n ? i * FN(LANES) : last)), sum[i]);
        }
        UNROLLED for (int i = 0; i < n; i++) * (FN(loose) *)(y + (i + 1 < n ? i * FN(LANES) : last)) = sum[i];
    }
}

/* A function for each number of vectors, since only then do the sums stay in registers. */
static void FN(sum_wide)(int64_t n, const lam__bag *p, int64_t b, int64_t end, int64_t first, bool spills, bool more) {
    switch (n) {
    case 1: FN(sum_vectors)(1, p, b, end, first, spills, more); return;
    case 2: FN(sum_vectors)(2, p, b, end, first, spills, more); return;
    case 3: FN(sum_vectors)(3, p, b, end, first, spills, more); return;
    case 4: FN(sum_vectors)(4, p, b, end, first, spills, more); return;
    case 5: FN(sum_vectors)(5, p, b, end, first, spills, more); return;
    case 6: FN(sum_vectors)(6, p, b, end, first, spills, more); return;
    case 7: FN(sum_vectors)(7, p, b, end, first, spills, more); return;
    case 8: FN(sum_vectors)(8, p, b, end, first, spills, more); return;
    case 9: FN(sum_vectors)(9, p, b, end, first, spills, more); return;
    case 10: FN(sum_vectors)(10, p, b, end, first, spills, more); return;
    case 11: FN(sum_vectors)(11, p, b, end, first, spills, more); return;
    default: FN(sum_vectors)(12, p, b, end, first, spills, more); return;
    }
}

/* Rows that are shorter than a vector: n columns as numbers, one sum each. In the same order as in vectors. FEW of them
 * at a time. */
ALWAYS_INLINE void FN(sum_few)(int n, const lam__bag *p, const int64_t *at, const T *w, int64_t first, bool more,
                               T *y) {
    T sum[FN(FEW)];
    UNROLLED for (int i = 0; i < n; i++) sum[i] = more ? y[first + i] : 0;
    for (int64_t t = 0; t < p->terms; t++) {
        const T *x = (const T *)p->x + at[t] + first;
        UNROLLED for (int i = 0; i < n; i++) sum[i] = FN(add_product)(w[t * p->w_term], x[i], sum[i]);
    }
    UNROLLED for (int i = 0; i < n; i++) y[first + i] = sum[i];
}

static void FN(sum_narrow)(int64_t n, const lam__bag *p, const int64_t *at, const T *w, int64_t first, bool more,
                           T *y) {
    switch (n) {
    case 1: FN(sum_few)(1, p, at, w, first, more, y); return;
    case 2: FN(sum_few)(2, p, at, w, first, more, y); return;
    case 3: FN(sum_few)(3, p, at, w, first, more, y); return;
    default: FN(sum_few)(4, p, at, w, first, more, y); return;
    }
}

/* Columns in pieces of up to MOST vectors. A piece of MOST + 1 is not cut into MOST and 1, since a single vector would
 * wait for each of its own sums. Where the last piece ends depends on the width alone. Rows of one piece are done bag
 * after bag in one call; of several, a bag has all of its pieces before the next one, since its rows are near then. */
static void FN(sums_of)(const lam__bag *p, bool more) {
    const int64_t lanes = FN(LANES), vectors = (p->width + lanes - 1) / lanes;
    const int64_t together = vectors <= FN(MOST) ? p->bags : 1;
    const bool spills = p->padded && p->y_row == p->width && !more;
    for (int64_t b = 0; b < p->bags && p->width >= lanes; b += together)
        for (int64_t v = 0, n; v < vectors; v += n) {
            const int64_t left = vectors - v;
            n = left <= FN(MOST) ? left : left == FN(MOST) + 1 ? FN(MOST) - 1 : FN(MOST);
            FN(sum_wide)(n, p, b, b + together, v * lanes, spills, more);
        }
    for (int64_t b = 0; b < p->bags && p->width < lanes; b++)
        for (int64_t first = 0, n; first < p->width; first += n) {
            const T *w = (const T *)p->w + b * p->w_bag;
            n = p->width - first < FN(FEW) ? p->width - first : FN(FEW);
            FN(sum_narrow)(n, p, p->index + b * p->terms, w, first, more, (T *)p->y + b * p->y_row);
        }
}

/* Several entries may name one row, so rows are added to in memory, in the order of the entries: the result is the same
 * on every machine that has fma. Columns are independent of each other, so they become vectors. */
static void FN(spread_of)(const lam__bag *p, bool more) {
    (void)more;
    for (int64_t b = 0; b < p->bags; b++) {
        const T *w = (const T *)p->w + b * p->w_bag, *y = (const T *)p->y + b * p->y_row;
        for (int64_t t = 0; t < p->terms; t++) {
            const T factor = w[t * p->w_term];
            T *x = (T *)p->x + p->index[b * p->terms + t];
            INDEPENDENT for (int64_t i = 0; i < p->width; i++) x[i] = FN(add_product)(factor, y[i], x[i]);
        }
    }
}

/* Two sums of vectors, so that one addition need not wait for the one before; what does not fill both is added as
 * numbers. Their order is fixed: lanes of both, then the rest. */
static T FN(dot)(int64_t n, const T *x, const T *y) {
    V sum[2] = {{0}, {0}};
    T rest = 0;
    int64_t i = 0;
    for (; n - i >= 2 * FN(LANES); i += 2 * FN(LANES))
        for (int k = 0; k < 2; k++)
            sum[k] =
                MADD(*(const FN(loose) *)(x + i + k * FN(LANES)), *(const FN(loose) *)(y + i + k * FN(LANES)), sum[k]);
    for (; i < n; i++) rest = FN(add_product)(x[i], y[i], rest);
    sum[0] += sum[1];
    for (int k = 0; n >= 2 * FN(LANES) && k < FN(LANES); k++) rest += sum[0][k];
    return rest;
}

/* Each entry has a place of its own, so nothing is added to. */
static void FN(dots_of)(const lam__bag *p, bool more) {
    (void)more;
    for (int64_t b = 0; b < p->bags; b++)
        for (int64_t t = 0; t < p->terms; t++)
            ((T *)p->w)[b * p->w_bag + t * p->w_term] =
                FN(dot)(p->width, (const T *)p->x + p->index[b * p->terms + t], (const T *)p->y + b * p->y_row);
}

static bool FN(sums)(const lam__bag *p) {
    return by_pieces(p, sizeof(T), FN(sums_of));
}

static bool FN(spread)(const lam__bag *p) {
    return by_pieces(p, sizeof(T), FN(spread_of));
}

static bool FN(dots)(const lam__bag *p) {
    return by_pieces(p, sizeof(T), FN(dots_of));
}

#undef T
#undef V
#undef MADD
#undef FMA
#undef FN
