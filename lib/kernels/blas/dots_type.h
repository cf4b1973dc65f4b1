/* Small products whose operands both lie along k, of one type: dots of lines. Included by small_type.h with what that
 * file is given. A dot is a vector of partial sums, and as many of them as a vector has lanes are folded in pairs into
 * one vector of results. What a dot is does not depend on how many are made at a time, nor on which: the last part of
 * its lines begins it, the whole vectors follow, and its lanes are added as a tree of neighbours. Steps are in parts of
 * elements, W is the results of one vector. No include guard: that is the point. */
enum { NAME(W) = LANES / PARTS };

/* Lanes of a and then of b, the even (h of 0) or the odd ones: within each 16 bytes, or whole 16 bytes of them.
 * Shuffles of both were measured to cost less than masks that leave half of the lanes where they are. */
#define PIECE        (16 / (int)sizeof(T))
#define WITHIN(i, h) ((i) / PIECE * PIECE + (i) % (PIECE / 2) * 2 + (h) + ((i) % PIECE < PIECE / 2 ? 0 : LANES))
#define ACROSS(i, h)                                                                                                   \
    ((((i) % (LANES / 2) / PIECE * 2 + (h)) * PIECE + (i) % (LANES / 2) % PIECE + (i) / (LANES / 2) * LANES) %         \
     (2 * LANES))

/* Vectors of sums of so many lines, half of them in each. The sums of a line, which lie at equal places of 16 bytes or
 * in equal places of these, become half as many. */
ALWAYS_INLINE V NAME(halved)(int lines, V a, V b) {
    if (lines <= PIECE)
        return __builtin_shufflevector(a, b, LIST(WITHIN, 0)) + __builtin_shufflevector(a, b, LIST(WITHIN, 1));
    return __builtin_shufflevector(a, b, LIST(ACROSS, 0)) + __builtin_shufflevector(a, b, LIST(ACROSS, 1));
}

/* One vector of the sums of two lines, of four and so on. Functions and no loop, so that all are registers. */
ALWAYS_INLINE V NAME(fold_2)(const V sum[]) {
    return NAME(halved)(2, sum[0], sum[1]);
}

ALWAYS_INLINE V NAME(fold_4)(const V sum[]) {
    return NAME(halved)(4, NAME(fold_2)(sum), NAME(fold_2)(sum + 2));
}

ALWAYS_INLINE V NAME(fold_8)(const V sum[]) {
    return NAME(halved)(8, NAME(fold_4)(sum), NAME(fold_4)(sum + 4));
}

ALWAYS_INLINE V NAME(fold_16)(const V sum[]) {
    return NAME(halved)(16, NAME(fold_8)(sum), NAME(fold_8)(sum + 8));
}

/* Sums of so many results to one vector that has the first ones in its lanes: PARTS sums each, results a power of two.
 * Of complex numbers the first are of a c, b d, whose difference is taken, the second of a d, b c. */
ALWAYS_INLINE V NAME(folded)(int results, V sum[]) {
    const int lines = results * PARTS;
#if PARTS == 2
    V signs;
    for (int i = 0; i < LANES; i++) signs[i] = i & 1 ? -1 : 1;
    for (int i = 0; i < results; i++) sum[2 * i] *= signs;
#endif
    V v = sum[0];
    if (lines == 2) v = NAME(fold_2)(sum);
    if (lines == 4) v = NAME(fold_4)(sum);
    if (lines == 8) v = NAME(fold_8)(sum);
    if (lines == 16) v = NAME(fold_16)(sum);
    for (int n = lines; n < LANES; n *= 2) v = NAME(halved)(2 * n, v, v);
    return v;
}

/* What a line is multiplied by: itself, and of complex numbers also with the parts exchanged. */
ALWAYS_INLINE void NAME(factors)(V line, V to[]) {
    to[0] = line;
#if PARTS == 2
    to[1] = __builtin_shufflevector(line, line, LIST(PARTNER, 0));
#endif
}

/* Each of `many` lines times each of `few`, at most W results, those of the first line first. The few stay in
 * registers. */
ALWAYS_INLINE V NAME(block)(int many, const T *a, int64_t a_step, int few, const T *b, int64_t b_step, int64_t k) {
    /* The last part, which may be all there is, is read by lanes so that nothing behind the line is touched. */
    const int64_t whole = (k * PARTS - 1) / LANES * LANES;
    const int last = (int)(k * PARTS - whole), each = few * PARTS;
    V sum[LANES], factor[LANES];
    for (int j = 0; j < few; j++) NAME(factors)(NAME(load)(b + j * b_step + whole, last), factor + j * PARTS);
    for (int i = 0; i < many; i++) {
        const V line = NAME(load)(a + i * a_step + whole, last);
        for (int j = 0; j < each; j++) sum[i * each + j] = line * factor[j];
    }
    for (int64_t q = 0; q < whole; q += LANES) {
        for (int j = 0; j < few; j++) NAME(factors)(NAME(whole)(b + j * b_step + q), factor + j * PARTS);
        for (int i = 0; i < many; i++) {
            const V line = NAME(whole)(a + i * a_step + q);
            for (int j = 0; j < each; j++) sum[i * each + j] = FMA(line, factor[j], sum[i * each + j]);
        }
    }
    /* What no result needs is folded too, so it has to be something. */
    for (int i = many * each; i < LANES; i++) sum[i] = sum[0];
    return NAME(folded)(NAME(W), sum);
}

/* Where the lines of some results are that lie one after the other, from those of the first one on; rows of results
 * have such steps. What is missing of W is the last line again. */
typedef struct NAME(lines) {
    int64_t k, x[NAME(W)], y[NAME(W)], x_row, y_row;
} NAME(lines);

/* The dots of the first lines, as many as `results`, a power of two. */
ALWAYS_INLINE V NAME(dots_of)(int results, const NAME(lines) * l, const T *x, const T *y) {
    const int64_t whole = (l->k * PARTS - 1) / LANES * LANES;
    const int last = (int)(l->k * PARTS - whole);
    V sum[LANES], factor[PARTS];
    for (int i = 0; i < results; i++) {
        const V line = NAME(load)(x + l->x[i] + whole, last);
        NAME(factors)(NAME(load)(y + l->y[i] + whole, last), factor);
        for (int j = 0; j < PARTS; j++) sum[i * PARTS + j] = line * factor[j];
    }
    for (int64_t q = 0; q < whole; q += LANES)
        for (int i = 0; i < results; i++) {
            const V line = NAME(whole)(x + l->x[i] + q);
            NAME(factors)(NAME(whole)(y + l->y[i] + q), factor);
            for (int j = 0; j < PARTS; j++) sum[i * PARTS + j] = FMA(line, factor[j], sum[i * PARTS + j]);
        }
    return NAME(folded)(results, sum);
}

/* ---- products as dots -------------------------------------------------------------------------------------------- */

/* y with its columns as lines without gaps: where it lies, or copied into the frame. */
ALWAYS_INLINE const T *NAME(columns_of)(const lam__product *p, const T *y, T *packed) {
    if (p->y_row == 1) return y;
    NAME(move)(p->n, p->k, y, p->y_col, p->y_row, packed, p->k);
    return packed;
}

/* Blocks of rows by columns, W results each or a little less, and either all columns or one row. The last one overlaps
 * the one before, whose results it gives again. */
ALWAYS_INLINE void NAME(block_dots)(const lam__product *p, int rows, int columns) {
    T packed[LAM__SMALL_K * LAM__SMALL_TURNED * PARTS];
    const int64_t x_row = p->x_row * PARTS, y_col = (p->y_row == 1 ? p->y_col : p->k) * PARTS;
    T *out = p->out;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in), out += p->m * p->n * PARTS) {
        const T *x = (const T *)p->x + in.x * PARTS;
        const T *y = NAME(columns_of)(p, (const T *)p->y + in.y * PARTS, packed);
        for (int64_t next = 0; next < p->m; next += rows) {
            const int64_t i = next + rows <= p->m ? next : p->m - rows;
            for (int64_t after = 0; after < p->n; after += columns) {
                const int64_t j = after + columns <= p->n ? after : p->n - columns;
                const T *row = x + i * x_row, *column = y + j * y_col;
                const V sums = rows == 1 ? NAME(block)(columns, column, y_col, 1, row, x_row, p->k)
                                         : NAME(block)(rows, row, x_row, columns, column, y_col, p->k);
                NAME(store)(out + (i * p->n + j) * PARTS, sums, rows * columns * PARTS);
            }
        }
    }
}

/* Results of so many rows and columns to out, whose rows are `step` apart. */
ALWAYS_INLINE void NAME(put_block)(int rows, int columns, V sums, T *out, int64_t step) {
    T each[LANES];
    if (rows == 1) {
        NAME(store)(out, sums, columns * PARTS);
        return;
    }
    NAME(put)(each, sums);
    for (int r = 0; r < rows; r++) memcpy(out + r * step, each + r * columns * PARTS, columns * PARTS * sizeof(T));
}

/* All rows of a panel, whose columns are lines y_col apart; the last rows overlap those before. */
ALWAYS_INLINE void NAME(panel)(int rows, int columns, const lam__product *p, const T *x, const T *y, int64_t y_col,
                               T *out) {
    const int64_t x_row = p->x_row * PARTS, step = p->n * PARTS;
    /* Never so. It spares the compiler functions for what a vector cannot hold. */
    if (rows * columns > NAME(W)) return;
    for (int64_t next = 0; next < p->m; next += rows) {
        const int64_t i = next + rows <= p->m ? next : p->m - rows;
        const T *row = x + i * x_row;
        const V sums = rows == 1 ? NAME(block)(columns, y, y_col, 1, row, x_row, p->k)
                                 : NAME(block)(rows, row, x_row, columns, y, y_col, p->k);
        NAME(put_block)(rows, columns, sums, out + i * step, step);
    }
}

/* Both numbers are constants in each call. More results than a vector has do not occur. */
ALWAYS_INLINE void NAME(panel_of)(int rows, int columns, const lam__product *p, const T *x, const T *y, int64_t y_col,
                                  T *out) {
    switch (columns) {
    case 1: NAME(panel)(rows, 1, p, x, y, y_col, out); return;
    case 2: NAME(panel)(rows, 2, p, x, y, y_col, out); return;
    case 4: NAME(panel)(rows, 4, p, x, y, y_col, out); return;
    case 8: NAME(panel)(rows, 8, p, x, y, y_col, out); return;
    default: NAME(panel)(rows, 16, p, x, y, y_col, out); return;
    }
}

/* From here on rows are a constant, and in the next function columns too. */
static void NAME(one_panel)(const lam__dots_panel *panel, const lam__product *p, const T *x, const T *y, int64_t y_col,
                            T *out) {
    switch (panel->rows) {
    case 1: NAME(panel_of)(1, panel->columns, p, x, y, y_col, out); return;
    case 2: NAME(panel_of)(2, panel->columns, p, x, y, y_col, out); return;
    case 4: NAME(panel_of)(4, panel->columns, p, x, y, y_col, out); return;
    case 8: NAME(panel_of)(8, panel->columns, p, x, y, y_col, out); return;
    default: NAME(panel_of)(16, panel->columns, p, x, y, y_col, out); return;
    }
}

/* Some of the panels, which are those of small.h, beginning at column `first`: how many. A panel begins where the one
 * before ends, until all columns have one. */
static int NAME(find_panels)(const lam__product *p, int64_t first, lam__dots_panel panels[LAM__SMALL_TURNED]) {
    int count = 0;
    for (; first < p->n && count < LAM__SMALL_TURNED; count++) {
        panels[count] = lam__dots_panel_at(p, first, NAME(W));
        first = panels[count].first + panels[count].columns;
    }
    return count;
}

/* Panels by panels: where columns are many, some of these are found anew for each product. */
static void NAME(panel_dots)(const lam__product *p) {
    T packed[LAM__SMALL_K * LAM__SMALL_TURNED * PARTS];
    const int64_t y_col = (p->y_row == 1 ? p->y_col : p->k) * PARTS;
    lam__dots_panel panels[LAM__SMALL_TURNED];
    int count = NAME(find_panels)(p, 0, panels);
    T *out = p->out;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in), out += p->m * p->n * PARTS) {
        const T *x = (const T *)p->x + in.x * PARTS;
        const T *y = NAME(columns_of)(p, (const T *)p->y + in.y * PARTS, packed);
        for (int64_t next = 0; next < p->n; next = panels[count - 1].first + panels[count - 1].columns) {
            if (p->n > LAM__SMALL_TURNED) count = NAME(find_panels)(p, next, panels);
            for (int i = 0; i < count; i++) {
                const int64_t first = panels[i].first;
                NAME(one_panel)(&panels[i], p, x, y + first * y_col, y_col, out + first * PARTS);
            }
        }
    }
}

/* A few whole rows of results at a time, which are lines wherever they are; the last ones overlap those before. */
ALWAYS_INLINE void NAME(line_dots)(const lam__product *p, const NAME(lines) * l, int64_t rows, int results) {
    T packed[LAM__SMALL_K * LAM__SMALL_TURNED * PARTS];
    const int count = (int)(rows * p->n) * PARTS;
    T *out = p->out;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in), out += p->m * p->n * PARTS) {
        const T *x = (const T *)p->x + in.x * PARTS;
        const T *y = NAME(columns_of)(p, (const T *)p->y + in.y * PARTS, packed);
        for (int64_t next = 0; next < p->m; next += rows) {
            const int64_t i = next + rows <= p->m ? next : p->m - rows;
            const V sums = NAME(dots_of)(results, l, x + i * l->x_row, y + i * l->y_row);
            NAME(store)(out + i * p->n * PARTS, sums, count);
        }
    }
}

/* So many rows of p->n results each. The number of lines that are multiplied is a constant in each call. */
static void NAME(few_dots)(const lam__product *p, int64_t rows, int64_t y_row) {
    const int64_t results = rows * p->n, y_col = (p->y_row == 1 ? p->y_col : p->k) * PARTS;
    NAME(lines) l = {.k = p->k, .x_row = p->x_row * PARTS, .y_row = y_row * PARTS};
    for (int64_t i = 0, row = 0, column = 0; i < NAME(W); i++) {
        l.x[i] = row * l.x_row;
        l.y[i] = row * l.y_row + column * y_col;
        if (i + 1 >= results) continue;
        if (++column == p->n) row++, column = 0;
    }
    /* A power of two of lines is multiplied; those behind the results are the last one again and are not stored. */
    if (results <= 1) NAME(line_dots)(p, &l, rows, 1);
    else if (results <= 2 && NAME(W) > 2) NAME(line_dots)(p, &l, rows, 2);
    else if (results <= 4 && NAME(W) > 4) NAME(line_dots)(p, &l, rows, 4);
    else if (results <= 8 && NAME(W) > 8) NAME(line_dots)(p, &l, rows, 8);
    else NAME(line_dots)(p, &l, rows, NAME(W));
}

/* ---- short rows -------------------------------------------------------------------------------------------------- */

/* What the numbers of rows of 2 or 4 elements meet; of 3, those in one of three vectors. Lanes that a vector lacks
 * stand for others: one that is too short is not used so. */
#define AGAIN(i, k) ((i) % ((k)*PARTS) % (2 * LANES))
#define THIRD(i, h) (((i) + (h)*LANES) % (3 * PARTS) % (2 * LANES))
/* Lane i of LANES rows that lie in three vectors: element h of row i is in the first two, or in the third. */
#define FIRST(i, h) (3 * (i) + (h) < 2 * LANES ? 3 * (i) + (h) : 0)
#define THEN(i, h)  (3 * (i) + (h) < 2 * LANES ? (i) : 3 * (i) + (h)-LANES)
/* Pairs of the lanes of two vectors, half of them. */
#define PAIRS(i, h) ((i) / 2 + (h) * (LANES / 2) + (i) % 2 * LANES)

/* Elements h of all rows. */
#define OF_ROWS(v, h)                                                                                                  \
    __builtin_shufflevector(__builtin_shufflevector((v)[0], (v)[1], LIST(FIRST, h)), (v)[2], LIST(THEN, h))

/* Neighbours in a and then in b, added. */
ALWAYS_INLINE V NAME(paired)(V a, V b) {
    return __builtin_shufflevector(a, b, LIST(NEIGHBOUR, 0)) + __builtin_shufflevector(a, b, LIST(NEIGHBOUR, 1));
}

/* As many rows of k products, a constant, as a vector has lanes, which lie in k vectors. They are summed as a single
 * row is: neighbours, then neighbours of these, then the zeros that fill up its vector. */
ALWAYS_INLINE V NAME(short_sums)(int k, V v[]) {
    if (k == 3) return OF_ROWS(v, 0) + OF_ROWS(v, 1) + (OF_ROWS(v, 2) + (V){0});
    if (k == 4) v[0] = NAME(paired)(v[0], v[1]), v[1] = NAME(paired)(v[2], v[3]);
    v[0] = NAME(paired)(v[0], v[1]);
    return k * PARTS < LANES ? v[0] + (V){0} : v[0];
}

/* A vector of x, which may have fewer numbers `left` than lanes, or none, unless there are LANES rows. */
ALWAYS_INLINE V NAME(numbers)(bool all, const T *x, int64_t left) {
    return all ? NAME(whole)(x) : NAME(load)(x, left < LANES ? (int)(left > 0 ? left : 0) : LANES);
}

/* The same of results. */
ALWAYS_INLINE void NAME(give)(bool all, T *out, V v, int64_t left) {
    if (all) NAME(put)(out, v);
    else NAME(store)(out, v, left < LANES ? (int)(left > 0 ? left : 0) : LANES);
}

/* LANES rows of x, or fewer, m: then they lie in `count` vectors, a constant up to k. What they meet comes again after
 * three vectors; of complex numbers in two forms, one of which gives the real parts. */
ALWAYS_INLINE void NAME(short_rows)(int k, int count, bool all, int64_t m, const T *x, V factor[PARTS][3], T *out) {
    const int64_t n = m * k * PARTS;
    V sum[PARTS][4] = {{{0}}};
#if PARTS == 1
    for (int i = 0; i < count; i++) sum[0][i] = NAME(numbers)(all, x + i * LANES, n - i * LANES) * factor[0][i % 3];
    NAME(give)(all, out, NAME(short_sums)(k, sum[0]), m);
#else
    for (int i = 0; i < count; i++) {
        const int64_t at = 2 * i * LANES;
        const V a = NAME(numbers)(all, x + at, n - at), b = NAME(numbers)(all, x + at + LANES, n - at - LANES);
        for (int part = 0; part < PARTS; part++)
            sum[part][i] = NAME(paired)(a * factor[part][2 * i % 3], b * factor[part][(2 * i + 1) % 3]);
    }
    const V real = NAME(short_sums)(k, sum[0]), imaginary = NAME(short_sums)(k, sum[1]);
    NAME(give)(all, out, __builtin_shufflevector(real, imaginary, LIST(PAIRS, 0)), 2 * m);
    NAME(give)(all, out + LANES, __builtin_shufflevector(real, imaginary, LIST(PAIRS, 1)), 2 * m - LANES);
#endif
}

/* The k elements that rows meet, number by number. Not by a mask: gcc 12 drops the mask of a load if shuffles take only
 * lanes within it, and what lies behind the vector may be no memory. */
ALWAYS_INLINE V NAME(one_vector)(int k, const lam__product *p, const T *y) {
    V v = {0};
    for (int i = 0; i < k * PARTS && i < LANES; i++) v[i] = y[i / PARTS * p->y_row * PARTS + i % PARTS];
    return v;
}

/* All rows of all products: of LANES and more the last ones of each once more with those before them. */
ALWAYS_INLINE void NAME(all_short_rows)(int k, int count, bool all, const lam__product *p) {
    T *out = p->out;
    lam__product_place in = {.left = p->left};
    for (int64_t b = 0; b < p->batch; b++, lam__product_next(p, &in), out += p->m * PARTS) {
        const T *x = (const T *)p->x + in.x * PARTS;
        const V y = NAME(one_vector)(k, p, (const T *)p->y + in.y * PARTS);
        V factor[PARTS][3] = {{__builtin_shufflevector(y, y, LIST(THIRD, 0)),
                               __builtin_shufflevector(y, y, LIST(THIRD, 1)),
                               __builtin_shufflevector(y, y, LIST(THIRD, 2))}};
        for (int i = 0; i < 3 && k == 2; i++) factor[0][i] = __builtin_shufflevector(y, y, LIST(AGAIN, 2));
        for (int i = 0; i < 3 && k == 4; i++) factor[0][i] = __builtin_shufflevector(y, y, LIST(AGAIN, 4));
#if PARTS == 2
        /* Of the real part the second product counts with a minus. */
        V signs;
        for (int i = 0; i < LANES; i++) signs[i] = i & 1 ? -1 : 1;
        for (int i = 0; i < 3; i++) {
            factor[1][i] = __builtin_shufflevector(factor[0][i], factor[0][i], LIST(PARTNER, 0));
            factor[0][i] *= signs;
        }
#endif
        if (!all) NAME(short_rows)(k, count, false, p->m, x, factor, out);
        for (int64_t next = 0; all && next < p->m; next += LANES) {
            const int64_t i = next + LANES <= p->m ? next : p->m - LANES;
            NAME(short_rows)(k, count, true, LANES, x + i * k * PARTS, factor, out + i * PARTS);
        }
    }
}

/* Fewer rows than LANES. */
static void NAME(few_short_dots)(const lam__product *p) {
    const int64_t n = p->m * p->k;
    if (p->k == 2 && n <= LANES) NAME(all_short_rows)(2, 1, false, p);
    else if (p->k == 2) NAME(all_short_rows)(2, 2, false, p);
    else if (p->k == 3 && n <= LANES) NAME(all_short_rows)(3, 1, false, p);
    else if (p->k == 3 && n <= 2 * LANES) NAME(all_short_rows)(3, 2, false, p);
    else if (p->k == 3) NAME(all_short_rows)(3, 3, false, p);
    else if (n <= LANES) NAME(all_short_rows)(4, 1, false, p);
    else if (n <= 2 * LANES) NAME(all_short_rows)(4, 2, false, p);
    else NAME(all_short_rows)(4, 4, false, p);
}

/* With LANES rows and more every vector of x is whole. */
static void NAME(short_dots)(const lam__product *p) {
    if (p->m < LANES) NAME(few_short_dots)(p);
    else if (p->k == 2) NAME(all_short_rows)(2, 2, true, p);
    else if (p->k == 3) NAME(all_short_rows)(3, 3, true, p);
    else NAME(all_short_rows)(4, 4, true, p);
}

#undef AGAIN
#undef THIRD
#undef FIRST
#undef THEN
#undef PAIRS
#undef OF_ROWS

/* Lines of x and y along k, an entry of lam__small_type. Products of two vectors each are rows of a column of results,
 * as long as one step walks them. KEEP IN STEP: blocks of dots. */
static void NAME(dots)(const lam__product *p) {
    enum { W = NAME(W) };
    if (lam__product_is_short(p, LANES, PARTS, VECTOR_BYTES)) {
        NAME(short_dots)(p);
        return;
    }
    lam__product q = *p;
    int64_t y_row = 0;
    /* One step walks a batch that has no runs; then such products are rows of one. */
    if (p->m * p->n == 1 && p->run == 0 && p->y_row == 1) {
        q.batch = 1, q.m = p->batch, q.x_row = p->x_batch;
        y_row = p->y_batch;
    }
    const int64_t rows = q.n < W ? W / q.n : 1;
    /* Few rows, or a batch: lines are listed. Otherwise blocks of rows by columns, which read each line once for
     * many. */
    if (y_row || (q.n < W && q.n <= 4 && q.m < rows)) NAME(few_dots)(&q, rows < q.m ? rows : q.m, y_row);
    else if (q.n > 4 || q.n == 3 || q.n > W) NAME(panel_dots)(&q);
    else if (q.n == W) NAME(block_dots)(&q, 1, W);
    else if (q.n == 1) NAME(block_dots)(&q, W, 1);
    else if (q.n == 2) NAME(block_dots)(&q, W / 2, 2);
    else NAME(block_dots)(&q, W / 4, 4);
}

#undef PIECE
#undef WITHIN
#undef ACROSS
