/* Short rows of bytes, part of reduce_integers.h: they are read as words, as many of which lie in a vector as it has
 * room for, or turned within 16 bytes, and so are small layers of few columns. No include guard: that is the point. */

#if !defined(LIST) && TURNS_BYTES && VECTOR_BYTES == 32
/* NOTE [turned layers]
 * Layers of bytes without gaps of which 16 bytes hold one or more: each row of them is turned into the first of these,
 * where the results come to lie side by side. What is written behind them belongs to the next ones. */
enum { FN(TURNED_ROWS) = 8 };

ALWAYS_INLINE bool FN(are_turned)(const lam__reduce_block *b) {
    const int64_t n = b->columns, bytes = n * b->rows;
    return b->rows > 1 && b->rows <= FN(TURNED_ROWS) && bytes <= 16 && b->step == 1 && b->layer_step == bytes &&
           (n == 1 || b->row_step == n);
}

ALWAYS_INLINE void FN(turns_of_rows)(int64_t n, int64_t rows, int64_t each, U64 *turn) {
    for (int64_t r = 0; r < rows; r++) {
        signed char from[VECTOR_BYTES];
        for (int i = 0; i < VECTOR_BYTES; i++) {
            const int64_t at = i % 16;
            from[i] = (signed char)(at < each * n ? at / n * rows * n + r * n + at % n : -1);
        }
        memcpy(&turn[r], from, sizeof from);
    }
}

/* Gives how many layers are done. */
ALWAYS_INLINE int64_t FN(by_turns_of)(lam__reduce_op op, int64_t rows, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->columns, step = b->layer_step, each = 16 / step, some = SIXTEENS * each;
    const int64_t read = (16 + step - 1) / step, written = (8 + n - 1) / n, last = read > written ? read : written;
    const int64_t left = b->layers + b->behind - last + each, whole = left < b->layers ? left : b->layers;
    const char *x = b->x;
    U64 turn[FN(TURNED_ROWS)];
    FN(turns_of_rows)(n, rows, each, turn);
    int64_t k = 0;
    for (; k + some <= whole; k += some, x += some * step, out += some * n) {
        const U64 v = rows_beside(SIXTEENS, x, each * step);
        FN(vec) all = (FN(vec))turned(v, turn[0]);
        for (int64_t r = 1; r < rows; r++) {
            const FN(vec) more = (FN(vec))turned(v, turn[r]);
            FN(fold_lanes)(op, &all, &more);
        }
        for (int i = 0; i < SIXTEENS; i++) memcpy(out + i * each * n, (const char *)&all + 16 * i, 8);
    }
    return k;
}

/* Few rows are a constant, as in by_wide_of. */
ALWAYS_INLINE int64_t FN(by_turns)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    if (b->rows == 2) return FN(by_turns_of)(op, 2, b, out);
    return b->rows == 3 ? FN(by_turns_of)(op, 3, b, out) : FN(by_turns_of)(op, b->rows, b, out);
}
#endif

/* Rows of bytes that are read as words of eight; a word may reach beyond its row, but not beyond the last. */
ALWAYS_INLINE bool FN(are_words)(const lam__reduce_block *b) {
    return sizeof(T) == 1 && b->row_step == 1 && b->rows >= 2 && b->rows < LAM__REDUCE_SHORT && b->step >= b->rows;
}

/* Of these, those of one word, but dense ones of eight bytes, which are folded in vectors. */
ALWAYS_INLINE bool FN(are_odd_words)(const lam__reduce_block *b) {
    return FN(are_words)(b) && b->rows <= 8 && !(b->rows == 8 && b->step == 8);
}

/* Rows that lie so near to each other that those of 16 bytes are read at once and turned: where `size` bytes, 4 or 8,
 * that take their place come from. */
ALWAYS_INLINE U64 FN(turn_of)(int size, const lam__reduce_block *b) {
    signed char turn[VECTOR_BYTES];
    for (int i = 0; i < VECTOR_BYTES; i++)
        turn[i] = (signed char)(i % size < b->rows ? i % 16 / size * b->step + i % size : -1);
    U64 v;
    memcpy(&v, turn, sizeof v);
    return v;
}

/* As many of them as have room, with zeros behind them. */
ALWAYS_INLINE U64 FN(turned_rows)(int size, const char *x, int64_t step, U64 turn) {
    return turned(rows_beside(VECTOR_BYTES / 16, x, 16 / size * step), turn);
}

/* How rows of bytes are read as words. */
typedef struct FN(bytes) {
    int64_t n, step;
    U64 keep, turn;      /* what belongs to the last word of a row */
    int64_t last, whole; /* words before the last one; rows behind which there is enough to read */
    bool near;           /* they are turned */
} FN(bytes);

ALWAYS_INLINE FN(bytes) FN(bytes_of)(const lam__reduce_block *b) {
    const int64_t n = b->rows, last = (n - 1) / 8;
    const bool near = TURNS_BYTES && b->step < 8;
    const int64_t over = near ? 16 - b->step - n : 8 * last + 8 - n;
    const FN(bytes) r = {n,
                         b->step,
                         FN(first_bytes)(8, n - 8 * last),
                         near ? FN(turn_of)(8, b) : (U64){0},
                         last,
                         b->columns - (over + b->step - 1) / b->step,
                         near};
    return r;
}

/* The words of as many rows as a vector has words, the last of each with what is behind the row. `last` is that of r, a
 * constant. */
ALWAYS_INLINE void FN(words)(int last, const FN(bytes) * r, const char *x, U64 *word) {
    const word_vec *dense = (const word_vec *)(const void *)x;
    if (last == 0 && r->near) word[0] = FN(turned_rows)(8, x, r->step, r->turn);
    else if (last == 0 && r->n == 8 && r->step == 8) word[0] = (U64)dense[0];
    else if (last == 1) {
        const int64_t half = LANES64 / 2;
        const U64 a = r->step == 16 ? (U64)dense[0] : rows_beside((int)half, x, r->step);
        const U64 b = r->step == 16 ? (U64)dense[1] : rows_beside((int)half, x + half * r->step, r->step);
        word[0] = __builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 0));
        word[1] = __builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 1));
    } else UNROLLED for (int k = 0; k <= last; k++) word[k] = (U64){LIST64(WORD_OF_ROW, r->step)};
}

/* Rows of up to eight as words, filled up; of up to four two to a word where they lie near. */
ALWAYS_INLINE void FN(leaf_words)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const char *x = b->x;
    const FN(bytes) r = FN(bytes_of)(b);
    const U64 fill = (U64)(FN(nothing)(op) - (FN(vec)){0});
    const bool dense = r.n == 4 && r.step == 4;
    int64_t c = 0;
    /* Rows are layers of one column: NOTE [turned layers]. */
#if !defined(LIST) && TURNS_BYTES && VECTOR_BYTES == 32
    const lam__reduce_block layers = {x, 1, 1, r.n, 1, b->far, b->columns, r.step, false, 0};
    if (FN(are_turned)(&layers)) c = FN(by_turns)(op, &layers, out);
#endif
    if (dense || (TURNS_BYTES && r.step <= 4)) {
        const U64 turn = FN(turn_of)(4, b), rest = fill & ~FN(first_bytes)(4, r.n);
        const int64_t beyond = dense ? 0 : (16 - 3 * r.step - r.n + r.step - 1) / r.step;
        for (; c + LANES32 <= b->columns - beyond; c += LANES32) {
            FN(vec) v;
            if (dense) v = *(const FN(vec) *)(const void *)(x + c * 4);
            else v = (FN(vec))(FN(turned_rows)(4, x + c * r.step, r.step, turn) | rest);
            FN(within_words)(op, 32, &v);
            put_halves((U64)v, (uint8_t *)(out + c));
        }
    }
    for (; c + LANES64 <= r.whole; c += LANES64) {
        U64 word[1];
        FN(words)(0, &r, x + c * r.step, word);
        FN(vec) v = (FN(vec))((word[0] & r.keep) | (fill & ~r.keep));
        FN(within_words)(op, 64, &v);
        FN(put_words)((U64)v, out + c);
    }
    for (; c < b->columns; c++) out[c] = FN(column)(op, r.n, (const T *)b->x + c * r.step, 1);
}
