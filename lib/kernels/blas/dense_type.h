/* The loops of dense_simd.c for one floating type: T, V (a vector of it), M (a mask), LANES, FMA(x, y, sum), FUSED (the
 * same of numbers), SQRT, MAGNITUDE and NAME(f). Columns fill vectors; of the last vector of a row only `lanes` count.
 * No include guard: that is the point. */

typedef T NAME(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* A vector of a row; of the last one only what belongs to the row, for beyond it may lie the end of the memory. */
ALWAYS_INLINE V NAME(get)(const T *from, bool last, int lanes) {
    if (last && lanes < LANES) return NAME(load)(from, lanes);
    return *(const NAME(loose) *)from;
}

/* The same for writing: what lies beyond the row belongs to others. */
ALWAYS_INLINE void NAME(put)(T *to, V v, bool last, int lanes) {
    if (last && lanes < LANES) NAME(store)(to, v, lanes);
    else *(NAME(loose) *)to = v;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* rows x vectors of the result, from `row` and column `at` on. */
ALWAYS_INLINE void NAME(minus_tile)(const lam__dense_product *p, int rows, int vectors, int lanes, int64_t row,
                                    int64_t at) {
    const T *a = (const T *)p->a + row * p->a_row, *b = (const T *)p->b + at;
    T *c = (T *)p->c + row * p->c_row + at;
    V sum[MOST_ROWS][WIDEST];
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vectors; v++) sum[i][v] = NAME(get)(c + i * p->c_row + v * LANES, v == vectors - 1, lanes);
    for (int64_t q = 0; q < p->k; q++, a += p->a_col, b += p->b_row) {
        V line[WIDEST];
        for (int v = 0; v < vectors; v++) line[v] = -NAME(get)(b + v * LANES, v == vectors - 1, lanes);
        for (int i = 0; i < rows; i++) {
            const V same = a[i * p->a_row] - (V){0};
            for (int v = 0; v < vectors; v++) sum[i][v] = FMA(same, line[v], sum[i][v]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vectors; v++) NAME(put)(c + i * p->c_row + v * LANES, sum[i][v], v == vectors - 1, lanes);
}

/* All rows of so many vectors of columns. Six rows at a time fill the registers with sums; a rest of three has a tile
 * of its own, and what is left goes row by row. The tile does not change the order of a sum, so neither do the bits
 * depend on it. */
ALWAYS_INLINE void NAME(minus_columns)(const lam__dense_product *p, int vectors, int lanes, int64_t at) {
    int64_t row = 0;
    for (; p->m - row >= 6; row += 6) NAME(minus_tile)(p, 6, vectors, lanes, row, at);
    if (p->m - row >= 3) NAME(minus_tile)(p, 3, vectors, lanes, row, at), row += 3;
    for (; row < p->m; row++) NAME(minus_tile)(p, 1, vectors, lanes, row, at);
}

/* c -= a b, tile by tile. The number of vectors of a tile is a constant in each of the calls, so that a tile's sums are
 * registers; rows of b are read once for up to six rows of a. */
static void NAME(minus)(const lam__dense_product *p) {
    for (int64_t at = 0; at < p->n; at += WIDEST * LANES) {
        const int64_t left = p->n - at < WIDEST * LANES ? p->n - at : WIDEST * LANES;
        const int vectors = (int)((left + LANES - 1) / LANES), lanes = (int)(left - (vectors - 1) * LANES);
        if (vectors == 1) NAME(minus_columns)(p, 1, lanes, at);
        else if (vectors == 2) NAME(minus_columns)(p, 2, lanes, at);
        else if (vectors == 3) NAME(minus_columns)(p, WIDEST > 2 ? 3 : 2, lanes, at);
        else NAME(minus_columns)(p, WIDEST, lanes, at);
    }
}

/* ---- substitution ------------------------------------------------------------------------------------------------ */

/* Rows [done, done + rows) of the solution, some columns of it: what the rows before contribute is taken away, then the
 * block is solved, all in registers. a(i, q) counts from the first row of the substitution, as does x. */
ALWAYS_INLINE void NAME(solve_tile)(const lam__dense_solve *s, int rows, int vectors, int lanes, int64_t done,
                                    const T *a, T *x) {
    V sum[BLOCK][BLOCK_WIDEST];
    const T *from = a + done * s->row, *known = x;
    x += done * s->b_row;
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vectors; v++) sum[i][v] = NAME(get)(x + i * s->b_row + v * LANES, v == vectors - 1, lanes);
    for (int64_t q = 0; q < done; q++, from += s->col, known += s->b_row) {
        V line[BLOCK_WIDEST];
        for (int v = 0; v < vectors; v++) line[v] = -NAME(get)(known + v * LANES, v == vectors - 1, lanes);
        for (int i = 0; i < rows; i++) {
            const V same = from[i * s->row] - (V){0};
            for (int v = 0; v < vectors; v++) sum[i][v] = FMA(same, line[v], sum[i][v]);
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int q = 0; q < i; q++) {
            const V same = from[i * s->row + q * s->col] - (V){0};
            for (int v = 0; v < vectors; v++) sum[i][v] = FMA(same, -sum[q][v], sum[i][v]);
        }
        const V pivot = from[i * s->row + i * s->col] - (V){0};
        for (int v = 0; v < vectors && !s->unit_diagonal; v++) sum[i][v] /= pivot;
    }
    for (int i = 0; i < rows; i++)
        for (int v = 0; v < vectors; v++) NAME(put)(x + i * s->b_row + v * LANES, sum[i][v], v == vectors - 1, lanes);
}

/* Some columns of the right side, from the first row to the last. Each block reads all that is known again, from the
 * cache nearest by. */
ALWAYS_INLINE void NAME(solve_columns)(const lam__dense_solve *s, int64_t n, int vectors, int lanes, const T *a, T *x) {
    int64_t done = 0;
    for (; n - done >= BLOCK; done += BLOCK) NAME(solve_tile)(s, BLOCK, vectors, lanes, done, a, x);
    if (n - done >= 4) NAME(solve_tile)(s, 4, vectors, lanes, done, a, x), done += 4;
    for (; done < n; done++) NAME(solve_tile)(s, 1, vectors, lanes, done, a, x);
}

/* Backwards is forwards with all rows counted from the last one. */
static void NAME(solve)(const lam__dense_solve *how, int64_t n, int64_t m, const void *matrix, void *b) {
    lam__dense_solve s = *how;
    const T *a = matrix;
    T *x = b;
    if (!s.forward) {
        a += (n - 1) * (s.row + s.col);
        x += (n - 1) * s.b_row;
        s.row = -s.row, s.col = -s.col, s.b_row = -s.b_row;
    }
    for (int64_t at = 0; at < m; at += BLOCK_WIDEST * LANES) {
        const int64_t left = m - at < BLOCK_WIDEST * LANES ? m - at : BLOCK_WIDEST * LANES;
        if (left > LANES) NAME(solve_columns)(&s, n, BLOCK_WIDEST, (int)(left - LANES), a, x + at);
        else NAME(solve_columns)(&s, n, 1, (int)left, a, x + at);
    }
}

/* ---- Cholesky ---------------------------------------------------------------------------------------------------- */

/* The upper triangle of a block, row by row; everything before it has been taken away. The comparison is written so
 * that a NaN fails it too. */
ALWAYS_INLINE bool NAME(cholesky_block)(int64_t lead, int rows, T *a) {
    for (int i = 0; i < rows; i++) {
        T *row = a + i * lead;
        for (int q = 0; q < i; q++)
            for (int j = i; j < rows; j++) row[j] -= a[q * lead + i] * a[q * lead + j];
        if (!(row[i] > 0)) return false;
        row[i] = SQRT(row[i]);
        for (int j = i + 1; j < rows; j++) row[j] /= row[i];
    }
    return true;
}

/* Rows of u, a block after the other: the block on the diagonal, then what lies to its right is u_kk^-T times what is
 * left of a, a substitution whose matrix is u itself seen as columns. */
static bool NAME(cholesky)(int64_t n, int64_t lead, void *matrix) {
    const lam__dense_solve s = {1, lead, lead, true, false};
    T *a = matrix;
    for (int64_t k = 0; k < n; k += BLOCK) {
        const int64_t rows = n - k < BLOCK ? n - k : BLOCK;
        T *diagonal = a + k * lead + k;
        const lam__dense_product before = {rows, rows, k, a + k, a + k, diagonal, 1, lead, lead, lead};
        if (k) NAME(minus)(&before);
        if (!(rows == BLOCK ? NAME(cholesky_block)(lead, BLOCK, diagonal)
                            : NAME(cholesky_block)(lead, (int)rows, diagonal)))
            return false;
        for (int64_t at = k + rows; at < n; at += BLOCK_WIDEST * LANES) {
            const int64_t left = n - at < BLOCK_WIDEST * LANES ? n - at : BLOCK_WIDEST * LANES;
            if (left > LANES) NAME(solve_tile)(&s, BLOCK, BLOCK_WIDEST, (int)(left - LANES), k, a, a + at);
            else NAME(solve_tile)(&s, BLOCK, 1, (int)left, k, a, a + at);
        }
    }
    return true;
}

/* ---- LU ---------------------------------------------------------------------------------------------------------- */

/* The row from `row` on with the largest element of column c. */
static int64_t NAME(largest_below)(int64_t m, int64_t n, int64_t row, int64_t c, const T *a) {
    int64_t best = row;
    for (int64_t r = row + 1; r < m; r++)
        if (MAGNITUDE(a[r * n + c]) > MAGNITUDE(a[best * n + c])) best = r;
    return best;
}

/* Whole rows, the factors to the left included, as LAPACK does it: the permutation then holds for all of l. */
static void NAME(swap_rows)(int64_t n, T *restrict a, T *restrict b) {
    for (int64_t j = 0; j < n; j++) {
        const T t = a[j];
        a[j] = b[j], b[j] = t;
    }
}

/* Takes row i of the panel from those below, which keep the factors in its place. Gives the row that has the largest
 * element of the next column then; no element is read where a vector has just been written. The row is written as a
 * vector, whose lanes left of column i keep their factors; the next pivot is looked for with numbers computed beside
 * it, because a narrow load right behind a wide store waits for it. */
ALWAYS_INLINE int64_t NAME(eliminate)(int64_t m, int64_t n, int64_t first, int i, bool last, int lanes, T *a) {
    const T *row = a + (first + i) * n + first, pivot = row[i], after = i + 1 < lanes ? row[i + 1] : 0;
    const V top = NAME(get)(row, last, lanes);
    M here, right;
    for (int k = 0; k < LANES; k++) here[k] = k == i ? -1 : 0, right[k] = k > i ? -1 : 0;
    int64_t best = first + i + 1;
    T most = -1;
    for (int64_t r = best; r < m; r++) {
        T *below = a + r * n + first;
        const T factor = below[i] / pivot, next = i + 1 < lanes ? MAGNITUDE(FUSED(-factor, after, below[i + 1])) : 0;
        const V old = NAME(get)(below, last, lanes), same = factor - (V){0}, taken = FMA(-same, top, old);
        NAME(put)(below, (V)(((M)taken & right) | ((M)same & here) | ((M)old & ~(right | here))), last, lanes);
        if (next > most) most = next, best = r;
    }
    return best;
}

/* Columns [first, first + width), at most a vector of them. A column without a pivot is skipped, so a singular matrix
 * leaves a zero on the diagonal and nothing is divided by it; the next column is then searched anew, since elimination
 * has not done it. */
static void NAME(lu_panel)(int64_t m, int64_t n, int64_t first, int width, T *a, int32_t *pivots) {
    int64_t pivot = NAME(largest_below)(m, n, first, first, a);
    for (int i = 0; i < width; i++) {
        const int64_t at = first + i;
        pivots[at] = (int32_t)pivot;
        if (pivot != at) NAME(swap_rows)(n, a + at * n, a + pivot * n);
        if (a[at * n + at] == 0) pivot = i + 1 < width ? NAME(largest_below)(m, n, at + 1, at + 1, a) : 0;
        else if (width == LANES) pivot = NAME(eliminate)(m, n, first, i, false, LANES, a);
        else pivot = NAME(eliminate)(m, n, first, i, true, width, a);
    }
}

/* The left half of the columns, then what they do to the right half, then that. Recursion (Toledo 1997) makes nearly
 * all of the work products of large tiles, without a width of panels to choose; halves are multiples of a vector, so
 * only the last panel has a part of one. */
static void NAME(lu)(int64_t m, int64_t n, int64_t first, int64_t width, void *matrix, int32_t *pivots) {
    T *a = matrix;
    if (width <= LANES) {
        NAME(lu_panel)(m, n, first, (int)width, a, pivots);
        return;
    }
    const int64_t left = (width / 2 + LANES - 1) / LANES * LANES, next = first + left, right = width - left;
    const lam__dense_solve lower = {n, 1, n, true, true};
    NAME(lu)(m, n, first, left, a, pivots);
    NAME(solve)(&lower, left, right, a + first * n + first, a + first * n + next);
    NAME(minus)
    (&(lam__dense_product){m - next, right, left, a + next * n + first, a + first * n + next, a + next * n + next, n, 1,
                           n, n});
    NAME(lu)(m, n, next, right, a, pivots);
}
