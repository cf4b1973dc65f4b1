/* The loops of symmetric.c for reals T: FN(name). Blocks across the diagonal are taken together, so that both sides
 * stay in cache. Included once for each; no guard. */

static void FN(mean)(int64_t n, T *a) {
    enum { BLOCK = 16 };
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK)
        for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK)
            for (int64_t i = i0; i < n && i < i0 + BLOCK; i++)
                for (int64_t j = j0; j < i && j < j0 + BLOCK; j++)
                    a[i * n + j] = (T)0.5 * (a[i * n + j] + a[j * n + i]);
}

static void FN(mean_of_pairs)(int64_t n, T *a) {
    enum { BLOCK = 16 };
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK)
        for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK)
            for (int64_t i = i0; i < n && i < i0 + BLOCK; i++)
                for (int64_t j = j0; j <= i && j < j0 + BLOCK; j++) {
                    T *x = a + 2 * (i * n + j);
                    const T *y = a + 2 * (j * n + i);
                    x[0] = (T)0.5 * (x[0] + y[0]), x[1] = (T)0.5 * (x[1] - y[1]);
                }
}

#undef T
#undef FN
