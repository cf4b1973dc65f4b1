/* The loops of symmetric.c for reals T: FN(name). Blocks across the diagonal are taken together, so that both sides
 * stay in cache. Included once for each; no guard. */

/* to[i, j] = from[j, i]; where rows lie as many elements apart as is said. */
static void FN(turn)(int64_t rows, int64_t columns, const T *from, int64_t from_step, T *to, int64_t to_step) {
    lam__elementwise_simd()->turn(sizeof(T))->plane(rows, columns, from, from_step, to, to_step, false);
}

/* Where the block that begins here ends: the last one of a row of blocks may be smaller. */
static int64_t FN(end_of)(int64_t start, int64_t n) {
    return n - start < BLOCK ? n : start + BLOCK;
}

/* The block of rows i0 and columns j0, before them, and the one across the diagonal. */
static void FN(mean_block)(int64_t n, int64_t i0, int64_t j0, T *a) {
    const int64_t rows = FN(end_of)(i0, n) - i0;
    T across[BLOCK * BLOCK], *below = a + i0 * n + j0, *above = a + j0 * n + i0;
    FN(turn)(rows, BLOCK, above, n, across, BLOCK);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < BLOCK; j++) below[i * n + j] = (T)0.5 * (below[i * n + j] + across[i * BLOCK + j]);
    FN(turn)(BLOCK, rows, below, n, above, n);
}

/* Blocks below the diagonal with those across; the blocks on it element by element. */
static void FN(mean)(int64_t n, T *a) {
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
        for (int64_t j0 = 0; j0 < i0; j0 += BLOCK) FN(mean_block)(n, i0, j0, a);
        for (int64_t i = i0; i < FN(end_of)(i0, n); i++)
            for (int64_t j = i0; j < i; j++) a[i * n + j] = a[j * n + i] = (T)0.5 * (a[i * n + j] + a[j * n + i]);
    }
}

/* Blocks are turned as a whole where they do not meet the diagonal; those on it element by element. */
static void FN(turn_down)(int64_t n, T *a) {
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK) {
        const int64_t end = FN(end_of)(i0, n);
        for (int64_t j0 = 0; j0 < i0; j0 += BLOCK) FN(turn)(end - i0, BLOCK, a + j0 * n + i0, n, a + i0 * n + j0, n);
        for (int64_t i = i0; i < end; i++)
            for (int64_t j = i0; j < i; j++) a[i * n + j] = a[j * n + i], a[j * n + i] = 0;
    }
    for (int64_t i = 0; i < (n - 1) / BLOCK * BLOCK; i++) { /* the rest of the upper triangle */
        const int64_t first = (i / BLOCK + 1) * BLOCK;
        memset(a + i * n + first, 0, (size_t)(n - first) * sizeof(T));
    }
}

/* Real parts are averaged, imaginary parts with opposite signs; those of the diagonal become 0, as a Hermitian matrix
 * has them. */
static void FN(mean_of_pairs)(int64_t n, T *a) {
    enum { SMALL = 16 };
    for (int64_t i0 = 0; i0 < n; i0 += SMALL)
        for (int64_t j0 = 0; j0 <= i0; j0 += SMALL)
            for (int64_t i = i0; i < n && i < i0 + SMALL; i++)
                for (int64_t j = j0; j <= i && j < j0 + SMALL; j++) {
                    T *x = a + 2 * (i * n + j);
                    const T *y = a + 2 * (j * n + i);
                    x[0] = (T)0.5 * (x[0] + y[0]), x[1] = (T)0.5 * (x[1] - y[1]);
                }
}

#undef T
#undef FN
