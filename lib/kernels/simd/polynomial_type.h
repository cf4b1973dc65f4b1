/* Template: polynomials in one floating type. Include with T, V (a vector of T) and NAME(x). A last block that is not
 * whole is computed in full beside its own elements, by the same steps. No include guard: that is the point. Products
 * and sums are not fused, so all sets give the same bits. */

enum { NAME(LANES) = VECTOR_BYTES / sizeof(T), NAME(BLOCK) = VECTORS * NAME(LANES) };

/* A block of n elements, what is missing of it being 0. Zeros add nothing to sums and cost no branch. */
ALWAYS_INLINE void NAME(take)(const T *from, int64_t n, V to[VECTORS]) {
    T part[NAME(BLOCK)] = {0};
    /* Nothing behind the n elements is read. */
    if (n < NAME(BLOCK)) memcpy(part, from, (size_t)n * sizeof(T));
    memcpy(to, n < NAME(BLOCK) ? part : from, VECTORS * sizeof(V));
}

/* Several vectors in step: each waits for its own product only, so the latency of one is filled by the others. VECTORS
 * of them and as many sums are registers. */
ALWAYS_INLINE void NAME(horner)(const V x[VECTORS], int64_t count, const T *c, V sum[VECTORS]) {
    for (int v = 0; v < VECTORS; v++) sum[v] = (V){0} + c[0];
    for (int64_t k = 1; k < count; k++)
        for (int v = 0; v < VECTORS; v++) sum[v] = sum[v] * x[v] + c[k];
}

/* As a loop of one operand, contiguous on both sides. A polynomial without coefficients is 0. */
static void NAME(value)(int64_t n, void *const p[], const int64_t step[], const void *params) {
    const lam__polynomial *q = params;
    (void)step;
    if (!q->count) memset(p[0], 0, (size_t)n * sizeof(T));
    for (int64_t i = 0; i < n && q->count; i += NAME(BLOCK)) {
        int64_t some = n - i < NAME(BLOCK) ? n - i : NAME(BLOCK);
        V x[VECTORS], sum[VECTORS];
        NAME(take)((const T *)p[1] + i, some, x);
        NAME(horner)(x, q->count, q->coefficients, sum);
        if (some == NAME(BLOCK)) memcpy((T *)p[0] + i, sum, sizeof sum);
        else memcpy((T *)p[0] + i, sum, (size_t)some * sizeof(T));
    }
}

/* Adds what a block sums to, lane by lane, to the LANES elements of room that belong to each power. */
ALWAYS_INLINE void NAME(add_powers)(V g[VECTORS], const V x[VECTORS], int64_t count, T *room) {
    for (int64_t k = 0; k < count; k++, room += NAME(LANES)) {
        V sum[VECTORS], before;
        for (int v = 0; v < VECTORS; v++) {
            sum[v] = g[v];
            g[v] *= x[v];
        }
        for (int half = VECTORS / 2; half; half /= 2)
            for (int v = 0; v < half; v++) sum[v] += sum[v + half];
        memcpy(&before, room, sizeof before); /* which need not be aligned */
        before += sum[0];
        memcpy(room, &before, sizeof before);
    }
}

/* Adds the sums over up to CHUNK blocks to out. Lanes are added from the first to the last. Coefficients come highest
 * power first, sums of powers lowest first. */
static void NAME(sums_of_chunk)(int64_t n, const T *g, const T *x, int64_t count, T *out, T *room) {
    memset(room, 0, (size_t)count * sizeof(V));
    for (int64_t i = 0; i < n; i += NAME(BLOCK)) {
        int64_t some = n - i < NAME(BLOCK) ? n - i : NAME(BLOCK);
        V factor[VECTORS], at[VECTORS];
        NAME(take)(g + i, some, factor);
        NAME(take)(x + i, some, at);
        NAME(add_powers)(factor, at, count, room);
    }
    for (int64_t k = 0; k < count; k++) {
        T sum = 0;
        for (int lane = 0; lane < NAME(LANES); lane++) sum += room[k * NAME(LANES) + lane];
        out[count - 1 - k] += sum;
    }
}

/* Sums over chunks are added up one after the other: a chunk is long enough for that to be few additions, and short
 * enough that the sums inside it lose little. */
static void NAME(sums)(int64_t n, const void *g, const void *x, int64_t count, void *out, void *room) {
    const int64_t most = CHUNK * NAME(BLOCK);
    for (int64_t i = 0; i < n; i += most)
        NAME(sums_of_chunk)(n - i < most ? n - i : most, (const T *)g + i, (const T *)x + i, count, out, room);
}

#undef T
#undef V
#undef NAME
