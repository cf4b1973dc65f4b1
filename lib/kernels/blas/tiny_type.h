/* Products with k up to 4 and n of 2 to 4 of one type, included by small_simd.c with T, LANES, PARTS (2: elements are
 * complex, two T each), TINY_LIST (the lanes of a row's vector) and NAME(f). Columns of out are side by side, y lies in
 * registers in the same form, and four rows are computed at a time. k and n are constants after inlining, so that
 * loads and stores of partial rows are a few moves. No include guard: that is the point. */
enum {
    NAME(ROW) = TINY * PARTS, /* numbers of a full row */
    NAME(WIDTH) = NAME(ROW) * sizeof(T) < VECTOR_BYTES ? NAME(ROW) : LANES,
    NAME(COUNT) = NAME(ROW) / NAME(WIDTH)
};
typedef T NAME(part) __attribute__((vector_size(NAME(WIDTH) * sizeof(T))));

/* A row of out or of y: one vector, or several where it is longer than the machine's. */
typedef struct NAME(row) {
    NAME(part) part[NAME(COUNT)];
} NAME(row);

/* Where a row is not full it goes lane by lane: through memory, narrow stores before a wide load cost more than the
 * product itself. Elements beyond n are zeros. */
ALWAYS_INLINE void NAME(read_row)(int n, const T *from, int64_t step, NAME(row) * row) {
    enum { WIDTH = NAME(WIDTH) };
    const int numbers = n * PARTS;
    if (n == TINY && step == 1) {
        memcpy(row, from, sizeof *row);
        return;
    }
    for (int i = 0; i < NAME(COUNT); i++) {
        NAME(part) v = {0};
        for (int j = 0; j < WIDTH && i * WIDTH + j < numbers; j++)
            v[j] = from[(i * WIDTH + j) / PARTS * step * PARTS + j % PARTS];
        row->part[i] = v;
    }
}

/* `over`: what lies behind the row is written later, and may have the other columns now. Only where a row of out is
 * narrower than a vector of the machine, and never in the last product. */
ALWAYS_INLINE void NAME(write_row)(int n, bool over, const NAME(row) * row, T *out) {
    if (n == TINY || over) memcpy(out, row, sizeof *row);
    else
        for (int j = 0; j < n * PARTS; j++) out[j] = row->part[j / NAME(WIDTH)][j % NAME(WIDTH)];
}

#if PARTS == 2
/* Sums of a c, a d and of b c, b d, in lanes of a row, become those of (a + b i)(c + d i). */
ALWAYS_INLINE NAME(part) NAME(tiny_joined)(NAME(part) sum, NAME(part) cross) {
    NAME(part) signs;
    for (int i = 0; i < NAME(WIDTH); i++) signs[i] = i & 1 ? 1 : -1;
    return sum + signs * __builtin_shufflevector(cross, cross, TINY_LIST(PARTNER, 0));
}
#endif

/* `rows` rows of out, at most 4: each is a sum over k of an element of x times a row of y. Elements of x are read where
 * they lie, with any steps; the parts of complex ones have sums of their own. */
ALWAYS_INLINE void NAME(few_rows)(int rows, int k, int n, bool over, const lam__product *p, const T *x,
                                  const NAME(row) * y, T *out) {
    NAME(row) sum[TINY][PARTS];
    for (int r = 0; r < rows; r++)
        for (int part = 0; part < PARTS; part++) {
            const T *row = x + r * p->x_row * PARTS + part;
            for (int i = 0; i < NAME(COUNT); i++) sum[r][part].part[i] = row[0] * y[0].part[i];
        }
    for (int q = 1; q < k; q++)
        for (int r = 0; r < rows; r++)
            for (int part = 0; part < PARTS; part++) {
                const T *row = x + (r * p->x_row + q * p->x_col) * PARTS + part;
                for (int i = 0; i < NAME(COUNT); i++) sum[r][part].part[i] += row[0] * y[q].part[i];
            }
    for (int r = 0; r < rows; r++) {
#if PARTS == 2
        for (int i = 0; i < NAME(COUNT); i++)
            sum[r][0].part[i] = NAME(tiny_joined)(sum[r][0].part[i], sum[r][1].part[i]);
#endif
        NAME(write_row)(n, over, &sum[r][0], out + r * n * PARTS);
    }
}

/* y is read once for all rows of a product; sums run along k from the first product on, unfused. */
ALWAYS_INLINE void NAME(tiny_of)(const lam__product *p, int k, int n) {
    const int64_t step = p->x_row * PARTS, row = n * PARTS;
    T *out = p->out;
    /* All of y stays in registers for a product. */
    NAME(row) y[TINY];
    lam__product_place at = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &at)) {
        const T *x = (const T *)p->x + at.x * PARTS, *from = (const T *)p->y + at.y * PARTS;
        const bool over = NAME(ROW) * sizeof(T) <= VECTOR_BYTES && b + 1 < p->batch;
        for (int q = 0; q < k; q++) NAME(read_row)(n, from + q * p->y_row * PARTS, p->y_col, &y[q]);
        int64_t i = 0;
        for (; p->m - i >= 4; i += 4, x += 4 * step, out += 4 * row) NAME(few_rows)(4, k, n, over, p, x, y, out);
        if (p->m - i >= 2) NAME(few_rows)(2, k, n, over, p, x, y, out), i += 2, x += 2 * step, out += 2 * row;
        if (p->m > i) NAME(few_rows)(1, k, n, over, p, x, y, out), out += row;
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
#undef TINY_LIST
