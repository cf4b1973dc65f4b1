/* The transpose of a square matrix of one type in place, included by factor.c and spectral.c with T and FN. No include
 * guard: that is the point. */

/* Square blocks across the diagonal change places, so that both sides stay in cache. */
static void FN(transpose)(int64_t n, T *a) {
    enum { BLOCK = 16 };
    for (int64_t i0 = 0; i0 < n; i0 += BLOCK)
        for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK)
            for (int64_t i = i0; i < n && i < i0 + BLOCK; i++)
                for (int64_t j = j0; j < i && j < j0 + BLOCK; j++) {
                    T t = a[i * n + j];
                    a[i * n + j] = a[j * n + i], a[j * n + i] = t;
                }
}
