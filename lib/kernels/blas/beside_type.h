/* Products of two vectors each, the products of a batch lying side by side, of one type: vectors are of products, and
 * memory is read row by row. Included by small_type.h with what that file is given. What a product is does not depend
 * on the others: BESIDE_TERMS of its terms are summed up in their order, and then these sums. No include guard: that is
 * the point. */

/* Sums of n products, begun or gone on with: of `rows` terms each, a constant, from x and y on. */
ALWAYS_INLINE void NAME(beside_rows)(int rows, bool begun, const lam__product *p, int64_t n, const T *x, const T *y,
                                     T *sums) {
    const int64_t x_step = p->x_col, y_step = p->y_row;
    int64_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        V sum = begun ? NAME(whole)(sums + c) : (V){0};
        UNROLLED for (int r = 0; r < rows; r++) sum =
            FMA(NAME(whole)(x + r * x_step + c), NAME(whole)(y + r * y_step + c), sum);
        NAME(put)(sums + c, sum);
    }
    if (c == n) return;
    const int left = (int)(n - c);
    V sum = begun ? NAME(load)(sums + c, left) : (V){0};
    UNROLLED for (int r = 0; r < rows; r++) sum =
        FMA(NAME(load)(x + r * x_step + c, left), NAME(load)(y + r * y_step + c, left), sum);
    NAME(store)(sums + c, sum, left);
}

/* The same of any number of terms: some rows at a time, so that sums are seldom written. */
static void NAME(beside_terms)(const lam__product *p, int64_t terms, int64_t n, const T *x, const T *y, T *sums) {
    enum { ROWS = 4 };
    int64_t r = 0;
    for (; r + ROWS <= terms; r += ROWS)
        if (r) NAME(beside_rows)(ROWS, true, p, n, x + r * p->x_col, y + r * p->y_row, sums);
        else NAME(beside_rows)(ROWS, false, p, n, x, y, sums);
    for (; r < terms; r++)
        if (r) NAME(beside_rows)(1, true, p, n, x + r * p->x_col, y + r * p->y_row, sums);
        else NAME(beside_rows)(1, false, p, n, x, y, sums);
}

/* A piece of a batch that stays in the first cache, of n products. */
static void NAME(beside_some)(const lam__product *p, int64_t n, const T *x, const T *y, T *out) {
    T sums[BESIDE_PRODUCTS];
    for (int64_t first = 0; first < p->k; first += BESIDE_TERMS) {
        const int64_t terms = p->k - first < BESIDE_TERMS ? p->k - first : BESIDE_TERMS;
        NAME(beside_terms)(p, terms, n, x + first * p->x_col, y + first * p->y_row, first ? sums : out);
        for (int64_t c = 0; c < n && first; c++) out[c] += sums[c];
    }
}

/* Steps within a run are 1. */
static void NAME(beside)(const lam__product *p) {
    int64_t left = p->run ? p->left : p->batch;
    const T *x = p->x, *y = p->y;
    T *out = p->out;
    for (int64_t b = 0, n; b < p->batch; b += n, x += n, y += n, out += n, left -= n) {
        if (left == 0) x += p->x_turn, y += p->y_turn, left = p->run;
        n = left < p->batch - b ? left : p->batch - b;
        if (n > BESIDE_PRODUCTS) n = BESIDE_PRODUCTS;
        NAME(beside_some)(p, n, x, y, out);
    }
}
