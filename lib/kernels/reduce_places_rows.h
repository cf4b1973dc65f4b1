/* Where the largest or least element of short contiguous rows is, part of reduce_places.h, without a branch that
 * depends on the elements. Rows up to a vector are folded level by level, each lane with its place, until a row is one
 * lane; of rows of up to four the best comes into all lanes of a vector, and the place is the first lane that equals
 * it; longer ones are folded vector by vector before they are so lane by lane. Rows of bytes are words, as many as a
 * vector has. No include guard: that is the point. */

#ifdef LIST
/* The best so far of each lane, and where in its row it is. */
typedef struct FN(found) {
    FN(vec) best;
    FN(mask) where;
} FN(found);

/* Neighbours in a and then in b: the better one of each two. The odd one, which lies behind the even one, counts only
 * if it is strictly better; where a row had `several` vectors, the lesser place counts of equals. */
ALWAYS_INLINE FN(found) FN(better_half)(lam__reduce_op op, bool several, FN(found) a, FN(found) b) {
    const FN(vec) even = __builtin_shufflevector(a.best, b.best, LIST(EVEN_BLOCK, 1)),
                  odd = __builtin_shufflevector(a.best, b.best, LIST(ODD_BLOCK, 1));
    const FN(mask) first = __builtin_shufflevector(a.where, b.where, LIST(EVEN_BLOCK, 1)),
                   second = __builtin_shufflevector(a.where, b.where, LIST(ODD_BLOCK, 1));
    return (FN(found)){FN(better_of)(op, even, odd), FN(where_of)(op, several, even, odd, first, second)};
}

/* Four vectors as one. */
ALWAYS_INLINE FN(found) FN(better_quarter)(lam__reduce_op op, bool several, const FN(found) * v) {
    return FN(better_half)(op, several, FN(better_half)(op, several, v[0], v[1]),
                           FN(better_half)(op, several, v[2], v[3]));
}

/* `count` vectors, a constant: 1, 2, 4, 8 or 16. */
ALWAYS_INLINE FN(found) FN(best_of)(lam__reduce_op op, bool several, int count, const FN(found) * v) {
    FN(found) some[4];
    if (count == 1) return v[0];
    if (count == 2) return FN(better_half)(op, several, v[0], v[1]);
    if (count == 4) return FN(better_quarter)(op, several, v);
    for (int k = 0; k < count / 4; k++) some[k] = FN(better_quarter)(op, several, v + 4 * k);
    return count == 8 ? FN(better_half)(op, several, some[0], some[1]) : FN(better_quarter)(op, several, some);
}

/* Where the best of a row of more than two vectors is, lane by lane: two at a time, which do not wait for each other.
 * The last vector begins in the one before it. */
ALWAYS_INLINE FN(found) FN(best_along)(lam__reduce_op op, int64_t n, const T *x, unsigned *unordered) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const FN(mask) numbers = {LIST(OWN_LANE, LANES)};
    const FN(vec) *v = (const FN(vec) *)(const void *)x, last = *(const FN(vec) *)(const void *)(x + n - LANES);
    FN(down) d[2] = {{v[0], numbers, numbers, 0}, {v[1], numbers + LANES, numbers + LANES, 0}};
    const int64_t count = (n - 1) / LANES;
    *unordered |= FN(has_nan)(v[0], v[1]) | FN(has_nan)(last, last);
    int64_t i = 2;
    for (; i + 2 <= count; i += 2) {
        FN(vec) a = v[i], b = v[i + 1];
        READ_ONCE(a);
        READ_ONCE(b);
        *unordered |= FN(has_nan)(a, b);
        d[0].row += 2 * LANES;
        d[1].row += 2 * LANES;
        FN(see)(op, &d[0], a);
        FN(see)(op, &d[1], b);
    }
    if (i < count) {
        *unordered |= FN(has_nan)(v[i], v[i]);
        d[0].row += 2 * LANES;
        FN(see)(op, &d[0], v[i]);
    }
    d[1].row = numbers + (M)(n - LANES);
    FN(see)(op, &d[1], last);
    return (FN(found)){FN(better_of)(op, d[0].best, d[1].best),
                       FN(where_of)(op, true, d[0].best, d[1].best, d[0].where, d[1].where)};
}

ALWAYS_INLINE void FN(put_places)(FN(mask) where, int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (step == 1)
        for (int i = 0; i < LANES; i++) out[i] = where[i];
    else
        for (int i = 0; i < LANES; i++) out[i * step] = where[i];
}

/* Vector k of rows that take `size` lanes each, filled up unless they are dense. */
ALWAYS_INLINE FN(vec) FN(rows_in)(bool dense, int size, const T *x, int64_t step, int k, FN(mask) keep, FN(mask) rest) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (dense) return *(const FN(vec) *)(const void *)(x + k * LANES);
    const int64_t rows = LANES / size;
    const FN(mask) v = (FN(mask))rows_beside((int)rows, x + k * rows * step, step * (int64_t)sizeof(T));
    return (FN(vec))((keep & v) | rest);
}

/* `count` rows, whole vectors of them, which take `size` lanes each, a constant. Not 0: there was a NaN, and nothing is
 * right. */
ALWAYS_INLINE unsigned FN(places_in)(lam__reduce_op op, bool dense, int size, int64_t count, const lam__reduce_block *b,
                                     const T *x, int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T), EACH = 4 };
    const int each = size < EACH ? size : EACH;
    const FN(mask) numbers = {LIST(OWN_LANE, size)}, keep = numbers < (M)b->rows;
    const FN(mask) rest = ~keep & (FN(mask))(FN(nothing)(op) - (FN(vec)){0});
    unsigned unordered = 0;
    for (int64_t c = 0; c < count; c += LANES, x += LANES * b->step, out += LANES * step) {
        FN(found) some[EACH];
        for (int k = 0; k < size / each; k++) {
            FN(found) v[EACH];
            UNROLLED for (int i = 0; i < each; i++) v[i] =
                (FN(found)){FN(rows_in)(dense, size, x, b->step, k * each + i, keep, rest), numbers};
            UNROLLED for (int i = 0; i < each; i += 2) unordered |= FN(has_nan)(v[i].best, v[i + 1].best);
            some[k] = FN(best_of)(op, false, each, v);
        }
        FN(put_places)(FN(best_of)(op, false, size / each, some).where, out, step);
    }
    return unordered;
}

/* The same of longer rows. */
ALWAYS_INLINE unsigned FN(places_along)(lam__reduce_op op, int64_t count, const lam__reduce_block *b, const T *x,
                                        int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    unsigned unordered = 0;
    for (int64_t c = 0; c < count; c += LANES, out += LANES * step) {
        FN(found) v[LANES];
        for (int k = 0; k < LANES; k++, x += b->step) v[k] = FN(best_along)(op, b->rows, x, &unordered);
        FN(put_places)(FN(best_of)(op, true, LANES, v).where, out, step);
    }
    return unordered;
}

/* The best of all lanes in each of them. */
ALWAYS_INLINE FN(vec) FN(best_in_all)(lam__reduce_op op, FN(vec) v) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 1)));
    if (LANES > 2) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 2)));
    if (LANES > 4) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 4)));
    if (LANES > 8) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 8)));
    return v;
}

/* The same of rows of `vectors` vectors, 2 to 4, a constant: the first lane that equals the best of all. The last
 * vector may begin in the one before it. */
ALWAYS_INLINE unsigned FN(places_across)(lam__reduce_op op, int vectors, int64_t count, const lam__reduce_block *b,
                                         const T *x, int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t end = b->rows - LANES;
    unsigned unordered = 0;
    for (int64_t c = 0; c < count; c++, x += b->step, out += step) {
        FN(vec) v[4] = {*(const FN(vec) *)(const void *)(x + end)}, best = v[0];
        UNROLLED for (int k = 1; k < vectors; k++) {
            v[k] = *(const FN(vec) *)(const void *)(x + (k - 1) * LANES);
            best = FN(better_of)(op, best, v[k]);
        }
        UNROLLED for (int k = 0; k < vectors; k += 2) unordered |= FN(has_nan)(v[k], v[k + (k + 1 < vectors)]);
        best = FN(best_in_all)(op, best);
        uint64_t equal = (uint64_t)FN(equal_in)((VECTOR)v[0], (VECTOR)best) << end;
        UNROLLED for (int k = 1; k < vectors; k++) equal |= (uint64_t)FN(equal_in)((VECTOR)v[k], (VECTOR)best)
                                                            << (k - 1) * LANES;
        *out = __builtin_ctzll(equal | NONE_EQUAL);
    }
    return unordered;
}

/* Dense rows of three, as columns. */
ALWAYS_INLINE unsigned FN(places_of_three)(lam__reduce_op op, int64_t count, const T *x, int64_t *restrict out,
                                           int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    unsigned unordered = 0;
    for (int64_t c = 0; c < count; c += LANES, x += 3 * LANES, out += LANES * step) {
        FN(vec) v[3];
        FN(turn_triples)(x, v);
        FN(down) d = {v[0], {0}, {0}, 0};
        for (int k = 0; k < 3; k++) FN(go_down)(op, &d, v[k]);
        unordered |= FN(has_nan)(v[0], v[1]) | FN(has_nan)(v[2], v[2]);
        FN(put_places)(d.where, out, step);
    }
    return unordered;
}

/* `count` rows, whole vectors of them, behind which there is enough to read. A text of its own, since these loops need
 * all registers. */
ALWAYS_INLINE unsigned FN(places_of)(lam__reduce_op op, int64_t count, const lam__reduce_block *b, const T *x,
                                     int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->rows;
    const bool dense = b->step == n;
    if (dense && n == 3) return FN(places_of_three)(op, count, x, out, step);
    if (dense && n == LANES) return FN(places_in)(op, true, LANES, count, b, x, out, step);
    if (LANES > 8 && dense && n == 8) return FN(places_in)(op, true, 8, count, b, x, out, step);
    if (LANES > 4 && dense && n == 4) return FN(places_in)(op, true, 4, count, b, x, out, step);
    if (LANES > 2 && dense && n == 2) return FN(places_in)(op, true, 2, count, b, x, out, step);
    if (LANES > 4 && n <= 4) return FN(places_in)(op, false, 4, count, b, x, out, step);
    if (LANES > 8 && n <= 8) return FN(places_in)(op, false, 8, count, b, x, out, step);
    if (n <= LANES) return FN(places_in)(op, false, LANES, count, b, x, out, step);
    if (n <= 2 * LANES) return FN(places_across)(op, 2, count, b, x, out, step);
    if (n <= 3 * LANES) return FN(places_across)(op, 3, count, b, x, out, step);
    if (n <= 4 * LANES) return FN(places_across)(op, 4, count, b, x, out, step);
    return FN(places_along)(op, count, b, x, out, step);
}

static ONE_TEXT unsigned FN(places)(lam__reduce_op op, int64_t count, const lam__reduce_block *b, const T *x,
                                    int64_t *restrict out, int64_t step) {
    return op == LAM__REDUCE_OP_MAX ? FN(places_of)(LAM__REDUCE_OP_MAX, count, b, x, out, step)
                                    : FN(places_of)(LAM__REDUCE_OP_MIN, count, b, x, out, step);
}

/* Short rows, some at a time, the last of which begin among those before; all of them are searched one by one if there
 * is a NaN. So are the last of a block, behind which a vector would read too far. */
ALWAYS_INLINE void FN(arg_short)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->rows, step = b->step, size = n <= 4 && LANES > 4 ? 4 : n <= 8 && LANES > 8 ? 8 : LANES;
    const bool beyond = n < size && !(n == 3 && step == 3);
    const int64_t end = b->columns - (beyond ? (size - n + step - 1) / step : 0);
    for (int64_t c = 0, behind; c < b->columns; c = behind) {
        const int64_t first = c < end && c > end - LANES && end >= LANES ? end - LANES : c;
        const int64_t whole = first < end ? (end - first) & -LANES : 0, count = whole < ARG_ROWS ? whole : ARG_ROWS;
        const T *x = (const T *)b->x;
        int64_t *out = to->out;
        behind = whole ? first + count : b->columns;
        if (whole && !FN(places)(op, count, b, x + first * step, out + first * to->step, to->step)) continue;
        for (int64_t i = first; i < behind; i++) out[i * to->step] = FN(arg_row)(op, n, x + i * step);
    }
}
#else
/* Which byte of each word is the first that is 0; 8: none. What the first subtraction borrows comes from a byte that is
 * 0, so the lowest mark is right (Warren, Hacker's Delight, 6-1). */
ALWAYS_INLINE U64 FN(first_zero)(U64 v) {
    const uint64_t ones = 0x0101010101010101;
    const U64 marks = (v - ones) & ~v & ones << 7, below = (marks - 1) & ~marks;
    return sums_of_bytes(below >> 7 & ones);
}

/* Rows of words up to number `last`, a constant, as many at a time as a vector has words: the best byte of each row in
 * all bytes of its word, and the first that is equal to it. Gives how many are done. */
ALWAYS_INLINE int64_t FN(arg_words_to)(lam__reduce_op op, int last, const FN(bytes) * r, const char *x,
                                       int64_t *restrict out, int64_t step) {
    const U64 fill = (U64)(FN(nothing)(op) - (FN(vec)){0});
    int64_t c = 0;
    for (; c + LANES64 <= r->whole; c += LANES64, out += LANES64 * step) {
        U64 word[4];
        FN(words)(last, r, x + c * r->step, word);
        word[last] = (word[last] & r->keep) | (fill & ~r->keep);
        FN(vec) best = (FN(vec))word[0];
        UNROLLED for (int k = 1; k <= last; k++) FN(fold_lanes)(op, &best, (const FN(vec) *)&word[k]);
        FN(within_words)(op, 64, &best);
        const U64 all = first_byte_in_all((U64)best);
        U64 place = FN(first_zero)(word[last] ^ all);
        UNROLLED for (int k = last - 1; k >= 0; k--) {
            const U64 here = FN(first_zero)(word[k] ^ all), none = (U64)(here == 8);
            place = here + (none & place);
        }
        if (step == 1) memcpy(out, &place, sizeof place);
        else
            for (int i = 0; i < LANES64; i++) out[i * step] = (int64_t)place[i];
    }
    return c;
}

/* Of at most three words. */
ALWAYS_INLINE int64_t FN(arg_words)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const FN(bytes) r = FN(bytes_of)(b);
    if (r.last == 0) return FN(arg_words_to)(op, 0, &r, b->x, to->out, to->step);
    if (r.last == 1) return FN(arg_words_to)(op, 1, &r, b->x, to->out, to->step);
    return FN(arg_words_to)(op, 2, &r, b->x, to->out, to->step);
}

/* The same of a short row, with a branch for 64 elements and not for each vector. The last vector may begin in what has
 * been looked through. `room`: elements that may be read from x on. */
ALWAYS_INLINE int64_t FN(place_short)(int64_t n, int64_t room, const T *x, T best) {
    enum { LANES = VECTOR_BYTES / sizeof(T), BITS = 64 };
    const T same = best;
    const FN(vec) all = best - (FN(vec)){0};
    if (best != same || room < LANES) return FN(place)(n, x, best);
    if (n <= LANES) return __builtin_ctzll(FN(equal_at)(x, all));
    for (int64_t base = 0;; base += BITS) {
        const int64_t end = n - base < BITS ? n : base + BITS;
        uint64_t equal = 0;
        int64_t i = base;
        for (; i + LANES <= end; i += LANES) equal |= FN(equal_at)(x + i, all) << (i - base);
        if (i < end && n - LANES >= base) equal |= FN(equal_at)(x + n - LANES, all) << (n - LANES - base);
        else if (i < end) equal |= FN(equal_at)(x + n - LANES, all) >> (base + LANES - n);
        if (equal) return base + __builtin_ctzll(equal);
    }
}

/* The places of `count` rows of n <= 64 elements, without a branch: a row is read as so many vectors,
 * the last of which may begin in the one before it. One shorter than a vector is read with what lies behind it, where
 * the first of equals is not looked for. */
ALWAYS_INLINE void FN(places_of)(int64_t vectors, int64_t count, int64_t n, const T *x, int64_t step, const T *best,
                                 int64_t *restrict out, int64_t out_step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t end = n > LANES ? n - LANES : 0;
    for (int64_t c = 0; c < count; c++, x += step, out += out_step) {
        const FN(vec) all = best[c] - (FN(vec)){0};
        uint64_t equal = FN(equal_at)(x + end, all) << end;
        for (int64_t k = 0; k < vectors - 1; k++) equal |= FN(equal_at)(x + k * LANES, all) << k * LANES;
        *out = __builtin_ctzll(equal);
    }
}

/* Short rows: the best of some of them, as in any reduction, then its place in each. The last of a block, behind which
 * there is not a vector to read, and any with a NaN beside them, are searched one by one. */
ALWAYS_INLINE void FN(arg_short)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T), BITS = 64 };
    T best[ARG_ROWS];
    const int64_t rows = b->rows, step = b->step, beyond = rows < LANES ? (LANES - rows + step - 1) / step : 0;
    const int64_t fit = ARG_NEAR / (step * (int64_t)sizeof(T));
    const int64_t whole = fit > ARG_ROWS ? ARG_ROWS : fit < FEW_ROWS ? FEW_ROWS : fit;
    const int64_t begin = FN(are_words)(b) && rows <= 24 ? FN(arg_words)(op, b, to) : 0;
    for (int64_t first = begin; first < b->columns; first += whole) {
        const int64_t left = b->columns - first, n = left < whole ? left : whole;
        const int64_t most = rows > BITS || left < beyond ? 0 : left - beyond < n ? left - beyond : n;
        const T *x = (const T *)b->x + first * step;
        int64_t *out = (int64_t *)to->out + first * to->step;
        const lam__reduce_block some = {x, n, step, rows, 1, b->far, 1, 0, false, 0};
        FN(leaf)(op, &some, best);
        const int64_t done = most;
        if (rows <= LANES) FN(places_of)(1, done, rows, x, step, best, out, to->step);
        else if (rows <= 2 * LANES) FN(places_of)(2, done, rows, x, step, best, out, to->step);
        else FN(places_of)((rows + LANES - 1) / LANES, done, rows, x, step, best, out, to->step);
        for (int64_t c = done; c < n; c++)
            out[c * to->step] = FN(place_short)(rows, (left - c - 1) * step + rows, x + c * step, best[c]);
    }
}
#endif
