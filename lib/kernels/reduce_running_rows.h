/* Running results along rows without gaps, as many rows at a time as a vector has lanes; part of reduce_type.h. Pieces
 * of 16 bytes of these rows are turned in registers, so that a vector has the next element of each row, and turned back
 * when the results are there. No include guard: that is the point. */

/* Elements of a piece; rows of a vector. */
#define UNIT ((int)(16 / sizeof(T)))
#define ROWS ((int)(VECTOR_BYTES / sizeof(T)))

/* What is known of each row so far: the result, or a plain sum and its error. */
typedef struct FN(abreast) {
    FN(vec) value, rest;
} FN(abreast);

/* Where the rows begin, in bytes from x and out. */
typedef struct FN(lines) {
    const char *x;
    char *out;
    int64_t from[ROWS], to[ROWS];
} FN(lines);

/* The next elements into what there is. KEEP IN STEP: running step (advance). */
ALWAYS_INLINE FN(vec) FN(advance_rows)(lam__reduce_op op, FN(abreast) * s, FN(vec) x) {
#if COMPENSATED
    if (op == LAM__REDUCE_OP_SUM) {
        const FN(vec) old = s->value, now = old + x, part = now - old, zero = {0};
        s->value = now;
        s->rest += (old - (now - part)) + (x - part);
        const FN(mask) shown = (FN(mask))(now + s->rest), finite = (FN(mask))(s->rest - s->rest == zero);
        return (FN(vec))((finite & shown) | (~finite & (FN(mask))now));
    }
#endif
    FN(fold_lanes)(op, &s->value, &x);
    return s->value;
}

/* Elements k to UNIT - 1 of a piece of each row; the results take their places. */
ALWAYS_INLINE void FN(scan_piece)(lam__reduce_op op, FN(abreast) * s, int k, U64 v[]) {
    for (; k < UNIT; k++) v[k] = (U64)FN(advance_rows)(op, s, (FN(vec))v[k]);
}

/* Elements i to i + UNIT - 1 of each row, as vectors of rows. A row from the back has its first element highest. */
ALWAYS_INLINE void FN(bring_piece)(const FN(lines) * p, bool back, int64_t i, U64 v[]) {
    const char *x = p->x + (back ? 1 - UNIT - i : i) * (int64_t)sizeof(T);
    U64 piece[4], row[4];
    for (int k = 0; k < UNIT; k++) piece[k] = join_pieces(x, p->from + k, UNIT);
    if (UNIT == 4) exchange_32(piece, row);
    else exchange_64(piece, row);
    for (int k = 0; k < UNIT; k++) v[k] = row[back ? UNIT - 1 - k : k];
}

/* The way back. */
ALWAYS_INLINE void FN(put_piece)(const FN(lines) * p, bool back, int64_t i, const U64 v[]) {
    char *out = p->out + (back ? 1 - UNIT - i : i) * (int64_t)sizeof(T);
    U64 piece[4], row[4];
    for (int k = 0; k < UNIT; k++) row[back ? UNIT - 1 - k : k] = v[k];
    if (UNIT == 4) exchange_32(row, piece);
    else exchange_64(row, piece);
    for (int k = 0; k < UNIT; k++) part_pieces(piece[k], out, p->to + k, UNIT);
}

/* The last `left` elements of rows of n, fewer than a piece: one that begins earlier, with results in front that are
 * there already, in v. */
ALWAYS_INLINE void FN(scan_last)(lam__reduce_op op, const FN(lines) * p, bool back, int64_t n, int left,
                                 FN(abreast) * s, const U64 v[]) {
    U64 last[4];
    FN(bring_piece)(p, back, n - UNIT, last);
    for (int k = 0; k < UNIT - left; k++) last[k] = v[left + k];
    FN(scan_piece)(op, s, UNIT - left, last);
    FN(put_piece)(p, back, n - UNIT, last);
}

/* A vector of rows of n elements, a piece or more. The first elements are results as they are. */
ALWAYS_INLINE void FN(scan_abreast)(lam__reduce_op op, const FN(lines) * p, bool back, int64_t n) {
    U64 v[4];
    FN(bring_piece)(p, back, 0, v);
    FN(abreast) s = {(FN(vec))v[0], {0}};
    FN(scan_piece)(op, &s, 1, v);
    FN(put_piece)(p, back, 0, v);
    for (int64_t i = UNIT; i + UNIT <= n; i += UNIT) {
        FN(bring_piece)(p, back, i, v);
        FN(scan_piece)(op, &s, 0, v);
        FN(put_piece)(p, back, i, v);
    }
    for (int left = 1; left < UNIT; left++) /* constants */
        if (n % UNIT == left) FN(scan_last)(op, p, back, n, left, &s, v);
}

/* Rows that fill no vector are the last one several times, which gives the same results several times. */
ALWAYS_INLINE void FN(scan_rows)(lam__reduce_op op, bool back, const lam__reduce_block *b,
                                 const lam__reduce_target *to) {
    for (int64_t first = 0; first < b->columns; first += ROWS) {
        FN(lines) p = {b->x, to->out, {0}, {0}};
        for (int k = 0; k < ROWS; k++) {
            const int64_t row = first + k < b->columns ? first + k : b->columns - 1;
            p.from[k] = row * b->step * (int64_t)sizeof(T), p.to[k] = row * to->step * (int64_t)sizeof(T);
        }
        FN(scan_abreast)(op, &p, back, b->rows);
    }
}

/* Whether columns are rows without gaps on both sides, enough of them for half a vector, and long enough: products wait
 * for each other least. Sums of f32 run in double, and to widen what has been turned costs as much as it saves. */
ALWAYS_INLINE bool FN(are_rows)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const bool same = b->row_step == to->row_step && (b->row_step == 1 || b->row_step == -1);
    if (FLOATING && !COMPENSATED && op == LAM__REDUCE_OP_SUM) return false;
    return same && b->rows >= (op == LAM__REDUCE_OP_PROD ? 5 : 4) && 2 * b->columns >= ROWS && b->columns > 1;
}

#undef UNIT
#undef ROWS
