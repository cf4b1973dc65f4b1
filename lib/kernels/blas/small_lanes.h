/* Small products with COUNT columns side by side, included by small_type.h with COUNT and LANES 4 and half, or 8 and
 * full. They are one or more of the machine's vectors. rows, n and, where it is at most 4, k are constants after
 * inlining. No include guard: that is the point. */
typedef T FN2(part, LANES)
    __attribute__((vector_size(COUNT * sizeof(T) < VECTOR_BYTES ? COUNT * sizeof(T) : VECTOR_BYTES)));

typedef struct FN(LANES) {
    FN2(part, LANES) part[COUNT * sizeof(T) / sizeof(FN2(part, LANES))];
} FN(LANES);

/* Where a row is not full it goes lane by lane: through memory, narrow stores before a wide load cost more than the
 * product itself. */
ALWAYS_INLINE void FN2(read, LANES)(int n, const T *from, int64_t step, FN(LANES) * row) {
    enum { WIDTH = sizeof row->part[0] / sizeof(T) };
    if (n == COUNT && step == 1) {
        memcpy(row, from, sizeof *row);
        return;
    }
    for (int i = 0; i < COUNT / WIDTH; i++) {
        FN2(part, LANES) v = {0};
        for (int j = 0; j < WIDTH && i * WIDTH + j < n; j++) v[j] = from[(i * WIDTH + j) * step];
        row->part[i] = v;
    }
}

ALWAYS_INLINE void FN2(write, LANES)(int n, const FN(LANES) * row, T *out) {
    enum { WIDTH = sizeof row->part[0] / sizeof(T) };
    if (n == COUNT) memcpy(out, row, sizeof *row);
    else
        for (int j = 0; j < n; j++) out[j] = row->part[j / WIDTH][j % WIDTH];
}

/* `rows` rows of out, at most 4: each is a sum over k of an element of x times a row of y. */
ALWAYS_INLINE void FN2(rows, LANES)(int rows, int64_t k, int n, const lam__product *p, const T *x, const FN(LANES) * y,
                                    T *out) {
    enum { PARTS = sizeof y->part / sizeof y->part[0] };
    FN(LANES) sum[4];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < PARTS; i++) sum[r].part[i] = x[r * p->x_row] * y[0].part[i];
    for (int64_t q = 1; q < k; q++)
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < PARTS; i++) sum[r].part[i] += x[r * p->x_row + q * p->x_col] * y[q].part[i];
    for (int r = 0; r < rows; r++) FN2(write, LANES)(n, &sum[r], out + r * p->n);
}

/* Columns [first, first + n) of every product of the batch. */
ALWAYS_INLINE void FN2(products, LANES)(const lam__product *p, int64_t k, int n, int64_t first) {
    T *out = (T *)p->out + first;
    FN(LANES) y[LAM__SMALL_K];
    lam__product_place at = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &at)) {
        const T *x = (const T *)p->x + at.x;
        const T *from = (const T *)p->y + at.y + first * p->y_col;
        for (int64_t q = 0; q < k; q++) FN2(read, LANES)(n, from + q * p->y_row, p->y_col, &y[q]);
        int64_t i = 0;
        for (; p->m - i >= 4; i += 4, x += 4 * p->x_row, out += 4 * p->n) FN2(rows, LANES)(4, k, n, p, x, y, out);
        if (p->m - i >= 2) FN2(rows, LANES)(2, k, n, p, x, y, out), i += 2, x += 2 * p->x_row, out += 2 * p->n;
        if (p->m > i) FN2(rows, LANES)(1, k, n, p, x, y, out), out += p->n;
    }
}

#undef LANES
#undef COUNT
