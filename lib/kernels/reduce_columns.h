/* Columns side by side, part of reduce_type.h: a pass goes down all of them, a vector of columns down few rows at once,
 * of one layer or of many. No include guard: that is the point. */

/* NOTE [bringing]
 * A pass goes along eight rows at once, and layers abreast lie apart: orders that no machine sees coming. What has no
 * gaps in memory is touched first, line by line as it lies, as much as a good part of the first cache takes; reading
 * ahead is then the machine's. Loads of whole lines do that. Prefetches do not: with these it takes up to twice as
 * long; loads of one byte of each line do or do not, with where the code lies, and it takes up to three times as long.
 * Rows as long as a page are seen coming. From the third cache, which answers soon enough, it would cost more than
 * the waiting. Rows with gaps are asked for, line by line, some rows ahead. */

/* Rows of a block that a pass goes down, brought where they are far: eight where they are long or have gaps. */
ALWAYS_INLINE int64_t FN(brought_rows)(const lam__reduce_block *b) {
    const int64_t eight = 8 * b->columns * (int64_t)sizeof(T);
    const bool many = b->row_step == b->columns && 2 * eight <= NEAR_BYTES;
    return many ? NEAR_BYTES / eight * 8 : 8;
}

/* Loads that compilers leave where they are. */
ALWAYS_INLINE void FN(touch)(int64_t elements, const E *x) {
    const int64_t last = elements * (int64_t)sizeof(T) - (int64_t)sizeof(touched_vec);
    for (int64_t i = 0; i < last; i += sizeof(touched_vec))
        (void)*(const volatile touched_vec *)(const void *)((const char *)x + i);
    if (last >= 0) (void)*(const volatile touched_vec *)(const void *)((const char *)x + last);
}

/* So many rows at x, which are about to be read. */
ALWAYS_INLINE void FN(bring)(const lam__reduce_block *b, const E *x, int64_t rows) {
    const int64_t bytes = b->columns * (int64_t)sizeof(T), step = b->row_step * (int64_t)sizeof(T);
    if (!b->far || bytes > BRING_BYTES / 8 || step <= 0) return;
    if (step <= bytes) {
        if (b->far == LAM__REDUCE_MEMORY) FN(touch)((rows - 1) * b->row_step + b->columns, x);
        return;
    }
    const char *row = (const char *)x + (8 + AHEAD_BYTES / step) * step;
    for (int k = 0; k < 8; k++)
        for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(row + k * step + i);
}

/* Some rows of a block side by side from number c on: gives up to which. */
ALWAYS_INLINE int64_t FN(bring_rows)(const lam__reduce_block *b, int64_t c) {
    const int64_t most = 1 + ASK_BYTES / (b->step * (int64_t)sizeof(T)), left = b->columns - c;
    const int64_t n = left < most ? left : most;
    FN(touch)((n - 1) * b->step + b->rows, (const E *)b->x + c * b->step);
    return c + n;
}

/* Layer k, brought with those behind it where k is a multiple of as many as are worked on at once. */
ALWAYS_INLINE const E *FN(layer_at)(bool brought, const lam__reduce_block *b, int64_t k) {
    const int64_t size = b->layer_step;
    const E *x = (const E *)b->x + k * size;
    if (brought) {
        const int64_t bytes = size * (int64_t)sizeof(T), left = b->layers - k;
        const int64_t most = bytes < NEAR_BYTES ? NEAR_BYTES / bytes : 1;
        if (k % most == 0) FN(touch)((left < most ? left : most) * size, x);
    }
    return x;
}

/* Each vector of columns of each layer down all rows; the last one begins earlier. */
ALWAYS_INLINE void FN(by_vectors)(lam__reduce_op op, int64_t rows, bool brought, const lam__reduce_block *b,
                                  T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, last = n - LANES, s = b->row_step, layers = b->layers;
    for (int64_t k = 0; k < layers; k++, out += n) {
        const E *x = FN(layer_at)(brought, b, k);
        for (int64_t c = 0; c < last; c += LANES) {
            const FN(vec) v = FN(column_lanes)(op, alone, rows, x + c, s);
            memcpy(out + c, &v, sizeof v);
        }
        const FN(vec) v = FN(column_lanes)(op, alone, rows, x + last, s);
        memcpy(out + last, &v, sizeof v);
    }
}

/* Few rows are a constant: then nothing is asked for each vector. */
ALWAYS_INLINE void FN(by_wide_of)(lam__reduce_op op, bool brought, const lam__reduce_block *b, T *restrict out) {
    switch (b->rows) {
    case 2: FN(by_vectors)(op, 2, brought, b, out); return;
    case 3: FN(by_vectors)(op, 3, brought, b, out); return;
    case 4: FN(by_vectors)(op, 4, brought, b, out); return;
    case 5: FN(by_vectors)(op, 5, brought, b, out); return;
    default: FN(by_vectors)(op, b->rows, brought, b, out); return;
    }
}

/* Columns side by side, at least as many as a vector has lanes, of one layer or more. */
static ONE_TEXT void FN(by_wide)(lam__reduce_op op, bool brought, const lam__reduce_block *b, T *restrict out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(by_wide_of)(LAM__REDUCE_OP_SUM, brought, b, out); return;
#if OPERATIONS > 1
    case LAM__REDUCE_OP_PROD: FN(by_wide_of)(LAM__REDUCE_OP_PROD, brought, b, out); return;
#endif
#if OPERATIONS > 2
    case LAM__REDUCE_OP_MAX: FN(by_wide_of)(LAM__REDUCE_OP_MAX, brought, b, out); return;
    case LAM__REDUCE_OP_MIN: FN(by_wide_of)(LAM__REDUCE_OP_MIN, brought, b, out); return;
#endif
    default: return;
    }
}

/* Fewer columns than lanes: what lies behind them in a row is read too and not used, as far as there is a row behind
 * it. KEEP IN STEP: leaf order (column). */
ALWAYS_INLINE void FN(by_narrow_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t s = b->row_step, room = (b->rows - 1) * s + b->columns - LANES;
    const int64_t whole = s > 0 && room >= 0 ? (room / s + 1) & -8 : 0;
    const E *x = b->x;
    T some[LANES];
    if (whole) {
        const FN(vec) v = FN(column_lanes)(op, alone, whole, x, s);
        memcpy(some, &v, sizeof some);
    }
    for (int64_t c = 0; c < b->columns; c++)
        out[c] = whole ? FN(column_from)(op, some[c], whole, b->rows, x + c, s) : FN(column)(op, b->rows, x + c, s);
}

/* Columns side by side. KEEP IN STEP: leaf order (column). A pass reads and writes each result once. */
ALWAYS_INLINE void FN(by_dense_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const E *x = b->x;
    const int64_t s = b->row_step, most = FN(brought_rows)(b);
    if (b->columns < LANES) FN(by_narrow_rows)(op, b, out);
    else if (b->rows < 8) FN(by_wide)(op, false, b, out);
    else
        for (int64_t i = 0; i < b->rows; i += most) {
            const int64_t n = b->rows - i < most ? b->rows - i : most, whole = n & -8;
            const E *row = x + i * s;
            FN(bring)(b, row, n);
            if (i == 0) FN(pass)(op, whole, true, b, row, out);
            else if (whole) FN(pass)(op, whole, false, b, row, out);
            if (n > whole) FN(pass)(op, n & 7, false, b, row + whole * s, out);
        }
}

/* One text for each operation, whoever calls it. */
static ONE_TEXT void FN(by_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(by_dense_rows)(LAM__REDUCE_OP_SUM, b, out); return;
#if OPERATIONS > 1
    case LAM__REDUCE_OP_PROD: FN(by_dense_rows)(LAM__REDUCE_OP_PROD, b, out); return;
#endif
#if OPERATIONS > 2
    case LAM__REDUCE_OP_MAX: FN(by_dense_rows)(LAM__REDUCE_OP_MAX, b, out); return;
    case LAM__REDUCE_OP_MIN: FN(by_dense_rows)(LAM__REDUCE_OP_MIN, b, out); return;
#endif
    default: return;
    }
}

/* Columns with gaps, but nearer to each other than the rows are: some of them at a time are brought side by side. */
static ONE_TEXT void FN(by_rows_apart)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    T room[LAYER_BYTES / sizeof(T)];
    const int64_t most = (int64_t)(LAYER_BYTES / sizeof(T)) / b->rows;
    for (int64_t c = 0; c < b->columns; c += most) {
        const int64_t n = b->columns - c < most ? b->columns - c : most;
        const lam__reduce_block side = lam__reduce_side(room, n, b->rows, LAM__REDUCE_NEAR);
        for (int64_t r = 0; r < b->rows; r++)
            for (int64_t i = 0; i < n; i++) room[r * n + i] = ((const E *)b->x)[(c + i) * b->step + r * b->row_step];
        NEAR(by_rows)(op, &side, out + c);
    }
}
