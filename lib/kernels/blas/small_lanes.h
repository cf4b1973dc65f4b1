/* Small products with one width of vector, included by small_type.h with LANES half (4) or full (8). rows, n and,
 * where it is at most 4, k are constants after inlining. No include guard: that is the point. */

/* Part of a vector goes lane by lane: through memory, a narrow store before a wide load costs more than the product. */
INLINE void FN2(read, LANES)(int n, const T *from, int64_t step, FN(LANES) *to) {
    enum { COUNT = sizeof(FN(LANES)) / sizeof(T) };
    FN(LANES) v = {0};
    if (n == COUNT && step == 1)
        memcpy(&v, from, sizeof v);
    else
        for (int j = 0; j < n; j++) v[j] = from[j * step];
    *to = v;
}

INLINE void FN2(write, LANES)(int n, const FN(LANES) *v, T *out) {
    enum { COUNT = sizeof(FN(LANES)) / sizeof(T) };
    if (n == COUNT)
        memcpy(out, v, sizeof *v);
    else
        for (int j = 0; j < n; j++) out[j] = (*v)[j];
}

/* `rows` rows of out, at most 4: each is a sum over k of an element of x times a row of y. */
INLINE void FN2(rows, LANES)(int rows, int64_t k, int n, const lam__product *p, const T *x, const FN(LANES) *y,
                             T *out) {
    FN(LANES) sum[4];
    for (int r = 0; r < rows; r++) sum[r] = x[r * p->x_row] * y[0];
    for (int64_t q = 1; q < k; q++)
        for (int r = 0; r < rows; r++) sum[r] += x[r * p->x_row + q * p->x_col] * y[q];
    for (int r = 0; r < rows; r++) FN2(write, LANES)(n, &sum[r], out + r * p->n);
}

INLINE void FN2(products, LANES)(const lam__product *p, int64_t k, int n, int64_t first) {
    T *out = (T *)p->out + first;
    FN(LANES) y[LAM__SMALL_K];
    for (int64_t b = 0; b < p->batch; b++) {
        const T *x = (const T *)p->x + b * p->x_batch;
        const T *from = (const T *)p->y + b * p->y_batch + first * p->y_col;
        for (int64_t q = 0; q < k; q++) FN2(read, LANES)(n, from + q * p->y_row, p->y_col, &y[q]);
        int64_t i = 0;
        for (; p->m - i >= 4; i += 4, x += 4 * p->x_row, out += 4 * p->n) FN2(rows, LANES)(4, k, n, p, x, y, out);
        if (p->m - i >= 2) FN2(rows, LANES)(2, k, n, p, x, y, out), i += 2, x += 2 * p->x_row, out += 2 * p->n;
        if (p->m > i) FN2(rows, LANES)(1, k, n, p, x, y, out), out += p->n;
    }
}

#undef LANES
