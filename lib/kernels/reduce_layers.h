/* Layers: small blocks one behind the other, part of reduce_type.h. Vectors of columns go down all rows of one and are
 * written as they are. Where columns are fewer than lanes, what lies beyond them belongs to the next layer, on both
 * sides: it is read, goes the same way, and is overwritten. So the last layers are left to loops that stay within
 * theirs. No include guard: that is the point. */

/* Whether layers are small and their columns lie side by side. */
ALWAYS_INLINE bool FN(are_layers)(const lam__reduce_block *b) {
    const bool small = b->rows * b->columns * (int64_t)sizeof(T) <= (b->far ? LAYER_BYTES / 4 : LAYER_BYTES);
    return b->layers > 1 && small && b->step == 1 && b->row_step != 1 && b->layer_step >= b->columns;
}

/* How many layers may be read and written in vectors of so many lanes. */
ALWAYS_INLINE int64_t FN(whole_layers)(const lam__reduce_block *b, int64_t lanes) {
    const int64_t last = b->columns < lanes ? (lanes - 1) / b->columns : 0;
    return b->layers > last ? b->layers - last : 0;
}

#if !FLOATING
/* Whether a layer is whole vectors without gaps, each of several rows. */
ALWAYS_INLINE bool FN(are_dense)(const lam__reduce_block *b) {
    const int64_t bytes = b->columns * (int64_t)sizeof(T);
    const bool halves = bytes == 8 || bytes == 16 || bytes == 32;
    return halves && bytes < VECTOR_BYTES && b->row_step == b->columns && b->rows * bytes % VECTOR_BYTES == 0;
}

/* The rows in one vector meet in halves. */
ALWAYS_INLINE FN(vec) FN(dense_lanes)(lam__reduce_op op, const lam__reduce_block *b, const T *x) {
    const FN(vec) *row = (const FN(vec) *)(const void *)x;
    FN(vec) v = row[0];
    const int64_t bytes = b->columns * (int64_t)sizeof(T), count = b->rows * bytes / VECTOR_BYTES;
    for (int64_t k = 1; k < count; k++) FN(fold_lanes)(op, &v, &row[k]);
    FN(fold_halves)(op, bytes, &v);
    return v;
}
#endif

/* Gives how many layers are done: none of those that are one run each, whose order is another, nor for products of
 * integers (leaf_rows says why). The last vector of many columns begins earlier. */
ALWAYS_INLINE int64_t FN(by_layers)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const T *x = b->x;
    if (!FN(are_layers)(b) || (FLOATING ? lam__reduce_is_run(b) : op == LAM__REDUCE_OP_PROD)) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES);
#if !FLOATING
    if (FN(are_dense)(b)) {
        for (int64_t k = 0; k < whole; k++) {
            const FN(vec) v = FN(dense_lanes)(op, b, x + k * b->layer_step);
            memcpy(out + k * n, &v, sizeof v);
        }
        return whole;
    }
#endif
    for (int64_t k = 0; k < whole; k++) FN(by_vectors)(op, n, b->rows, x + k * b->layer_step, b->row_step, out + k * n);
    return whole;
}

#ifdef H
/* As by_layers, in lanes of i64. Bytes in many columns are better added in narrower lanes, by tally_columns. */
ALWAYS_INLINE int64_t FN(tally_layers)(const lam__reduce_block *b, int64_t *restrict out) {
    const T *x = b->x;
    if (!FN(are_layers)(b) || (sizeof(T) == 1 && b->columns > 2 * VECTOR_BYTES / 8)) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES64), last = n > LANES64 ? n - LANES64 : 0;
    for (int64_t k = 0; k < whole; k++)
        for (int64_t c = 0; c < n; c += LANES64) {
            const int64_t at = c < last ? c : last;
            M64 sums = {0};
            for (int64_t r = 0; r < b->rows; r++) sums += FN(widened)(x + k * b->layer_step + at + r * b->row_step);
            memcpy(out + k * n + at, &sums, sizeof sums);
        }
    return whole;
}
#endif
