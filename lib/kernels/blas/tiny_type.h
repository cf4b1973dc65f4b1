/* Products with k up to 4 and n of 2 to 4 of one floating type, included by small_simd.c with T, LANES and NAME(f). The
 * columns of out are side by side, y lies in registers in the same form, and four rows are computed at a time. k and n
 * are constants after inlining, so that loads and stores of partial rows are a few moves. No include guard: that is the
 * point. */
enum { NAME(WIDTH) = TINY * sizeof(T) < VECTOR_BYTES ? TINY : LANES, NAME(COUNT) = TINY / NAME(WIDTH) };
typedef T NAME(part) __attribute__((vector_size(NAME(WIDTH) * sizeof(T))));

typedef struct NAME(row) {
    NAME(part) part[NAME(COUNT)];
} NAME(row);

/* Where a row is not full it goes lane by lane: through memory, narrow stores before a wide load cost more than the
 * product itself. Elements beyond n are zeros. */
ALWAYS_INLINE void NAME(read_row)(int n, const T *from, int64_t step, NAME(row) * row) {
    enum { WIDTH = NAME(WIDTH) };
    if (n == TINY && step == 1) {
        memcpy(row, from, sizeof *row);
        return;
    }
    for (int i = 0; i < NAME(COUNT); i++) {
        NAME(part) v = {0};
        for (int j = 0; j < WIDTH && i * WIDTH + j < n; j++) v[j] = from[(i * WIDTH + j) * step];
        row->part[i] = v;
    }
}

/* `over`: what lies behind the row is written later, and may have the other columns now. Only where a row of out is
 * narrower than a vector of the machine, and never in the last product. */
ALWAYS_INLINE void NAME(write_row)(int n, bool over, const NAME(row) * row, T *out) {
    if (n == TINY || over) memcpy(out, row, sizeof *row);
    else
        for (int j = 0; j < n; j++) out[j] = row->part[j / NAME(WIDTH)][j % NAME(WIDTH)];
}

/* `rows` rows of out, at most 4: each is a sum over k of an element of x times a row of y. Elements of x are read where
 * they lie, with any steps. */
ALWAYS_INLINE void NAME(few_rows)(int rows, int k, int n, bool over, const lam__product *p, const T *x,
                                  const NAME(row) * y, T *out) {
    NAME(row) sum[TINY];
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < NAME(COUNT); i++) sum[r].part[i] = x[r * p->x_row] * y[0].part[i];
    for (int q = 1; q < k; q++)
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < NAME(COUNT); i++) sum[r].part[i] += x[r * p->x_row + q * p->x_col] * y[q].part[i];
    for (int r = 0; r < rows; r++) NAME(write_row)(n, over, &sum[r], out + r * p->n);
}

/* y is read once for all rows of a product; sums run along k from the first product on, unfused. */
ALWAYS_INLINE void NAME(tiny_of)(const lam__product *p, int k, int n) {
    T *out = p->out;
    NAME(row) y[TINY];
    lam__product_place at = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &at)) {
        const T *x = (const T *)p->x + at.x, *from = (const T *)p->y + at.y;
        const bool over = TINY * sizeof(T) <= VECTOR_BYTES && b + 1 < p->batch;
        for (int q = 0; q < k; q++) NAME(read_row)(n, from + q * p->y_row, p->y_col, &y[q]);
        int64_t i = 0;
        for (; p->m - i >= 4; i += 4, x += 4 * p->x_row, out += 4 * n) NAME(few_rows)(4, k, n, over, p, x, y, out);
        if (p->m - i >= 2) NAME(few_rows)(2, k, n, over, p, x, y, out), i += 2, x += 2 * p->x_row, out += 2 * n;
        if (p->m > i) NAME(few_rows)(1, k, n, over, p, x, y, out), out += n;
    }
}

/* A function for each k and n, so that both are constants; the last cases are 4. */
ALWAYS_INLINE void NAME(tiny_columns)(const lam__product *p, int n) {
    switch (p->k) {
    case 1: NAME(tiny_of)(p, 1, n); return;
    case 2: NAME(tiny_of)(p, 2, n); return;
    case 3: NAME(tiny_of)(p, 3, n); return;
    default: NAME(tiny_of)(p, 4, n); return;
    }
}

/* Sizes are constants from here on. */
static void NAME(tiny)(const lam__product *p) {
    switch (p->n) {
    case 2: NAME(tiny_columns)(p, 2); return;
    case 3: NAME(tiny_columns)(p, 3); return;
    default: NAME(tiny_columns)(p, 4); return;
    }
}
