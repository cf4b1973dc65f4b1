/* Small layers of few rows and columns without gaps, several of which lie in a vector, part of reduce_layers.h. No
 * include guard: that is the point. */

#if defined(LIST) && PARTS == 1
/* NOTE [slides]
 * Layers without gaps of so few rows and columns that a vector of results has room for several: all rows are read where
 * the first one is, each a row further, and folded, so that the results lie where layers begin, and what is between
 * them is of no use. They are moved together and written; what is written behind them belongs to the next ones. */
typedef struct FN(slides) {
    int64_t count, beyond; /* layers in a vector; those read or written with the last ones */
    U64 together;          /* where results come from, in lanes of 32 bits */
} FN(slides);

/* Of lanes of so many bytes. */
ALWAYS_INLINE FN(slides) FN(slides_of)(int bytes, const lam__reduce_block *b) {
    const int64_t n = b->columns, lanes = VECTOR_BYTES / bytes, step = b->layer_step, halves = bytes / 4;
    const bool dense = b->step == 1 && b->row_step == n && step == n * b->rows && b->rows > 1 && b->rows <= SLIDE_ROWS;
    FN(slides) p = {dense && n > 1 && n < lanes ? (lanes - n) / step + 1 : 0, 0, {0}};
    uint32_t from[LANES32] = {0};
    if (p.count < 2) return p;
    for (int64_t k = 0; k < p.count; k++)
        for (int64_t i = 0; i < n * halves; i++) from[k * n * halves + i] = (uint32_t)(k * step * halves + i);
    memcpy(&p.together, from, sizeof from);
    const int64_t read = (step - n + lanes + step - 1) / step, written = (lanes + n - 1) / n;
    p.beyond = (read > written ? read : written) - p.count;
    return p;
}

ALWAYS_INLINE int64_t FN(slid_layers)(const FN(slides) * p, const lam__reduce_block *b) {
    const int64_t left = b->layers + b->behind - p->beyond;
    return left < b->layers ? left : b->layers;
}

/* Gives how many layers are done. */
ALWAYS_INLINE int64_t FN(by_slides)(lam__reduce_op op, int64_t rows, const FN(slides) * p, const lam__reduce_block *b,
                                    T *restrict out) {
    const int64_t n = b->columns, whole = FN(slid_layers)(p, b);
    int64_t k = 0;
    for (; k + p->count <= whole; k += p->count) {
        const FN(vec) v = FN(column_lanes)(op, alone, rows, (const E *)b->x + k * b->layer_step, n);
        const U64 some = lanes_moved((U64)v, p->together);
        memcpy(out + k * n, &some, sizeof some);
    }
    return k;
}

/* Few rows are a constant, as in by_wide_of. */
ALWAYS_INLINE int64_t FN(each_slide)(lam__reduce_op op, const FN(slides) * p, const lam__reduce_block *b,
                                     T *restrict out) {
    switch (b->rows) {
    case 2: return FN(by_slides)(op, 2, p, b, out);
    case 3: return FN(by_slides)(op, 3, p, b, out);
    default: return FN(by_slides)(op, b->rows, p, b, out);
    }
}

#ifdef H
/* As by_slides. */
ALWAYS_INLINE int64_t FN(tally_slides_of)(int64_t rows, const FN(slides) * p, const lam__reduce_block *b,
                                          int64_t *restrict out) {
    const int64_t n = b->columns, whole = FN(slid_layers)(p, b);
    int64_t k = 0;
    for (; k + p->count <= whole; k += p->count) {
        const T *x = (const T *)b->x + k * b->layer_step;
        M64 sums = FN(widened)(x);
        for (int64_t r = 1; r < rows; r++) sums += FN(widened)(x + r * n);
        const U64 some = lanes_moved((U64)sums, p->together);
        memcpy(out + k * n, &some, sizeof some);
    }
    return k;
}

ALWAYS_INLINE int64_t FN(tally_slides)(const FN(slides) * p, const lam__reduce_block *b, int64_t *restrict out) {
    if (b->rows == 2) return FN(tally_slides_of)(2, p, b, out);
    return b->rows == 3 ? FN(tally_slides_of)(3, p, b, out) : FN(tally_slides_of)(b->rows, p, b, out);
}
#endif
#endif

#if !defined(LIST) && VECTOR_BYTES == 64
/* Whether layers are those of NOTE [slides of bytes], and so small that reading them row by row costs little. */
ALWAYS_INLINE bool FN(are_slides)(const lam__reduce_block *b) {
    const int64_t n = b->columns, bytes = n * b->rows;
    return (n == 2 || n == 3) && bytes > n && bytes <= SLIDE_BYTES && b->row_step == n && b->layer_step == bytes;
}

/* Gives how many layers are done. */
ALWAYS_INLINE int64_t FN(by_slides)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->columns, step = b->layer_step;
    const slides p = slides_of((int)n, (int)step);
    const int64_t written = (64 + n - 1) / n, read = ((b->rows - 1) * n + 64 + step - 1) / step;
    const int64_t beyond = (written > read ? written : read) - p.count, left = b->layers + b->behind - beyond;
    const int64_t whole = left < b->layers ? left : b->layers;
    int64_t k = 0;
    for (; k + p.count <= whole; k += p.count) {
        const T *x = (const T *)b->x + k * step;
        FN(vec) v = *(const FN(vec) *)(const void *)x;
        for (int64_t r = 1; r < b->rows; r++) FN(fold_lanes)(op, &v, (const FN(vec) *)(const void *)(x + r * n));
        const U64 some = slides_together(&p, (U64)v);
        if (n == 3) memcpy(out + k * n, &some, sizeof some);
        else memcpy(out + k * n, &some, sizeof some / 2);
    }
    return k;
}
#endif
