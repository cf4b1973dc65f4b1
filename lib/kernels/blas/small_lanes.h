/* Small products with COUNT columns side by side, included by small_type.h with COUNT and LANES 4 and half, or 8 and
 * full. They are one or more of the machine's vectors. rows, n and, where it is at most 4, k are constants after
 * inlining. No include guard: that is the point. */
typedef T FN2(part, LANES)
    __attribute__((vector_size(COUNT * sizeof(T) < VECTOR_BYTES ? COUNT * sizeof(T) : VECTOR_BYTES)));

typedef struct FN(LANES) {
    FN2(part, LANES) part[COUNT * sizeof(T) / sizeof(FN2(part, LANES))];
} FN(LANES);

/* Where a row is not full it goes lane by lane: through memory, narrow stores before a wide load cost more than the
 * product itself. `beyond`: there are more elements of y behind it, so it may be read as a full one, and masked. */
enum { FN2(MASKS, LANES) = VECTOR_BYTES == 64 && COUNT == 8 }; /* elsewhere that gains nothing */

ALWAYS_INLINE void FN2(read, LANES)(int n, bool beyond, const T *from, int64_t step, FN(LANES) * row) {
    enum { WIDTH = sizeof row->part[0] / sizeof(T) };
    if ((n == COUNT || beyond) && step == 1) {
        memcpy(row, from, sizeof *row);
        for (int i = 0; n < COUNT && i < COUNT / WIDTH; i++) {
            __typeof__(row->part[i] == row->part[i]) own;
            for (int j = 0; j < WIDTH; j++) own[j] = i * WIDTH + j < n ? -1 : 0;
            row->part[i] = (FN2(part, LANES))((__typeof__(own))row->part[i] & own);
        }
        return;
    }
    for (int i = 0; i < COUNT / WIDTH; i++) {
        FN2(part, LANES) v = {0};
        for (int j = 0; j < WIDTH && i * WIDTH + j < n; j++) v[j] = from[(i * WIDTH + j) * step];
        row->part[i] = v;
    }
}

/* `over`: what lies behind the row is written later, and may have the other columns now. */
ALWAYS_INLINE void FN2(write, LANES)(int n, bool over, const FN(LANES) * row, T *out) {
    enum { WIDTH = sizeof row->part[0] / sizeof(T) };
    if (n == COUNT || over) memcpy(out, row, sizeof *row);
    else
        for (int j = 0; j < n; j++) out[j] = row->part[j / WIDTH][j % WIDTH];
}

/* `rows` rows of out, at most 4: each is a sum over k of an element of x times a row of y. */
ALWAYS_INLINE void FN2(rows, LANES)(int rows, int64_t k, int n, bool over, const lam__product *p, const T *x,
                                    const FN(LANES) * y, T *out) {
    enum { PARTS = sizeof y->part / sizeof y->part[0] };
    FN(LANES) sum[4];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < PARTS; i++) sum[r].part[i] = x[r * p->x_row] * y[0].part[i];
    for (int64_t q = 1; q < k; q++)
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < PARTS; i++) sum[r].part[i] += x[r * p->x_row + q * p->x_col] * y[q].part[i];
    for (int r = 0; r < rows; r++) FN2(write, LANES)(n, over, &sum[r], out + r * p->n);
}

/* Columns [first, first + n) of every product of the batch. */
ALWAYS_INLINE void FN2(products, LANES)(const lam__product *p, int64_t k, int n, int64_t first) {
    T *out = (T *)p->out + first;
    FN(LANES) y[LAM__SMALL_K];
    lam__product_place at = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &at)) {
        const T *x = (const T *)p->x + at.x;
        const T *from = (const T *)p->y + at.y + first * p->y_col;
        const bool over = COUNT * sizeof(T) <= VECTOR_BYTES && n == p->n && b + 1 < p->batch;
        const bool next = at.left != 1 && p->y_batch == k * p->y_row && COUNT <= p->y_batch + n;
        const bool beyond = FN2(MASKS, LANES) && over && next;
        for (int64_t q = 0; q < k; q++) FN2(read, LANES)(n, beyond, from + q * p->y_row, p->y_col, &y[q]);
        int64_t i = 0;
        for (; p->m - i >= 4; i += 4, x += 4 * p->x_row, out += 4 * p->n) FN2(rows, LANES)(4, k, n, over, p, x, y, out);
        if (p->m - i >= 2) FN2(rows, LANES)(2, k, n, over, p, x, y, out), i += 2, x += 2 * p->x_row, out += 2 * p->n;
        if (p->m > i) FN2(rows, LANES)(1, k, n, over, p, x, y, out), out += p->n;
    }
}

#undef LANES
#undef COUNT
