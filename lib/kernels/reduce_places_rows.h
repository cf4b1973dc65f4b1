/* Where the largest or least element of short contiguous rows is, part of reduce_places.h, without a branch that
 * depends on the elements. Where vectors have lists of lanes, the best of a row comes into all lanes of a vector, and
 * the place is the first lane that equals it; rows of bytes are words, as many as a vector has. No include guard: that
 * is the point. */

#ifdef LIST
/* The best of each block of `size` lanes, a constant, in all of its lanes. */
ALWAYS_INLINE FN(vec) FN(best_of)(lam__reduce_op op, int size, FN(vec) v) {
    if (size > 1) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 1)));
    if (size > 2) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 2)));
    if (size > 4) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 4)));
    if (size > 8) v = FN(better_of)(op, v, __builtin_shufflevector(v, v, LIST(OPPOSITE, 8)));
    return v;
}

/* Rows of `vectors` vectors, the last of which may begin in those before it; of one, which begins with the row, the
 * first `size` lanes count and those behind the row are set aside by `keep`. Both are constants. Not 0: there was a
 * NaN, and nothing is right. */
ALWAYS_INLINE unsigned FN(places_in)(lam__reduce_op op, int vectors, int size, int64_t count,
                                     const lam__reduce_block *b, const T *x, int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t end = vectors > 1 ? b->rows - LANES : 0;
    int64_t at[8];
    for (int k = 0; k < vectors; k++) at[k] = vectors > 4 && k * LANES > end ? end : k * LANES;
    const FN(vec) fill = FN(nothing)(op) - (FN(vec)){0};
    FN(mask) keep = {0}, rest;
    unsigned unordered = 0;
    if (vectors == 1) memset(&keep, 0xff, (size_t)b->rows * sizeof(T));
    rest = ~keep & (FN(mask))fill;
    for (int64_t c = 0; c < count; c++, x += b->step, out += step) {
        FN(vec) v[8] = {*(const FN(vec) *)(const void *)(x + end)}, best;
        if (vectors == 1) v[0] = (FN(vec))((keep & (FN(mask))v[0]) | rest);
        best = v[0];
        UNROLLED for (int k = 1; k < vectors; k++) {
            v[k] = *(const FN(vec) *)(const void *)(x + at[k - 1]);
            best = FN(better_of)(op, best, v[k]);
        }
        UNROLLED for (int k = 0; k < vectors; k += 2) unordered |= FN(has_nan)(v[k], v[k + (k + 1 < vectors)]);
        best = FN(best_of)(op, size, best);
        uint64_t equal = (uint64_t)FN(equal_in)((VECTOR)v[0], (VECTOR)best) << end;
        UNROLLED for (int k = 1; k < vectors; k++) equal |= (uint64_t)FN(equal_in)((VECTOR)v[k], (VECTOR)best)
                                                            << at[k - 1];
        *out = __builtin_ctzll(equal | NONE_EQUAL);
    }
    return unordered;
}

/* Dense rows of `size` elements, a constant, several to a vector: each has one that is equal, so what is behind it does
 * not come first. */
ALWAYS_INLINE unsigned FN(places_beside)(lam__reduce_op op, int size, int64_t count, const T *x, int64_t *restrict out,
                                         int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    unsigned unordered = 0;
    for (int64_t c = 0; c < count; c += LANES / size, x += LANES) {
        const FN(vec) v = *(const FN(vec) *)(const void *)x, best = FN(best_of)(op, size, v);
        const uint64_t equal = FN(equal_in)((VECTOR)v, (VECTOR)best);
        unordered |= FN(has_nan)(v, v);
        for (int k = 0; k < LANES / size; k++, out += step) *out = __builtin_ctzll(equal >> k * size | NONE_EQUAL);
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
        if (step == 1)
            for (int i = 0; i < LANES; i++) out[i] = d.where[i];
        else
            for (int i = 0; i < LANES; i++) out[i * step] = d.where[i];
    }
    return unordered;
}

/* `count` short rows, behind which there is a vector to read. */
ALWAYS_INLINE unsigned FN(places_of)(lam__reduce_op op, int64_t count, const lam__reduce_block *b, const T *x,
                                     int64_t *restrict out, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->rows;
    if (b->step == n && (n <= LANES || n == 3)) {
        if (n == LANES) return FN(places_beside)(op, LANES, count, x, out, step);
        if (n == 8) return FN(places_beside)(op, 8, count, x, out, step);
        if (n == 4) return FN(places_beside)(op, 4, count, x, out, step);
        if (n == 3) return FN(places_of_three)(op, count, x, out, step);
        if (n == 2) return FN(places_beside)(op, 2, count, x, out, step);
    }
    if (n <= LANES && n <= 4) return FN(places_in)(op, 1, 4, count, b, x, out, step);
    if (n <= 8 && LANES > 8) return FN(places_in)(op, 1, 8, count, b, x, out, step);
    if (n <= LANES) return FN(places_in)(op, 1, LANES, count, b, x, out, step);
    if (n <= 2 * LANES) return FN(places_in)(op, 2, LANES, count, b, x, out, step);
    if (n <= 3 * LANES) return FN(places_in)(op, 3, LANES, count, b, x, out, step);
    if (n <= 4 * LANES) return FN(places_in)(op, 4, LANES, count, b, x, out, step);
    return FN(places_in)(op, 8, LANES, count, b, x, out, step);
}

/* Short rows: the best of each in all lanes of a vector, then the first lane that equals it, without a branch. Some at
 * a time; of these all are searched one by one if there is a NaN. So are the last of a block, behind which there is not
 * a vector to read. */
ALWAYS_INLINE void FN(arg_short)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->rows, step = b->step, beyond = n < LANES ? (LANES - n + step - 1) / step : 0;
    for (int64_t c = 0, some; c < b->columns; c += some) {
        const int64_t left = b->columns - c, most = (left - beyond) & -LANES;
        const T *x = (const T *)b->x + c * step;
        int64_t *out = (int64_t *)to->out + c * to->step;
        some = most <= 0 ? left : most < ARG_ROWS ? most : ARG_ROWS;
        if (most > 0 && !FN(places_of)(op, some, b, x, out, to->step)) continue;
        for (int64_t i = 0; i < some; i++) out[i * to->step] = FN(arg_row)(op, n, x + i * step);
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

/* Word k of rows of n bytes, what is behind them filled up. */
ALWAYS_INLINE U64 FN(filled_word)(const lam__reduce_block *b, const char *x, int64_t k, U64 keep, U64 fill) {
    const U64 word = FN(words)(b, x, k);
    return 8 * k + 8 > b->rows ? (word & keep) | (fill & ~keep) : word;
}

/* Rows of at most three words, as many at a time as a vector has words: the best byte of each row in all bytes of its
 * word, and the first that is equal to it. Gives how many are done. */
ALWAYS_INLINE int64_t FN(arg_words)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const int64_t n = b->rows, last = (n - 1) / 8, beyond = (8 * last + 8 - n + b->step - 1) / b->step;
    const U64 keep = FN(first_of_words)(n - 8 * last), fill = (U64)(FN(nothing)(op) - (FN(vec)){0});
    int64_t c = 0;
    for (; c + LANES64 <= b->columns - beyond; c += LANES64) {
        const char *x = (const char *)b->x + c * b->step;
        int64_t *out = (int64_t *)to->out + c * to->step;
        U64 word[3] = {FN(filled_word)(b, x, 0, keep, fill)};
        FN(vec) best = (FN(vec))word[0];
        for (int64_t k = 1; k <= last; k++) {
            word[k] = FN(filled_word)(b, x, k, keep, fill);
            FN(fold_lanes)(op, &best, (const FN(vec) *)&word[k]);
        }
        FN(within_words)(op, 64, &best);
        const U64 all = first_byte_in_all((U64)best);
        U64 place = FN(first_zero)(word[last] ^ all);
        for (int64_t k = last - 1; k >= 0; k--) {
            const U64 here = FN(first_zero)(word[k] ^ all), none = (U64)(here == 8);
            place = here + (none & place);
        }
        if (to->step == 1) memcpy(out, &place, sizeof place);
        else
            for (int i = 0; i < LANES64; i++) out[i * to->step] = (int64_t)place[i];
    }
    return c;
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
        const lam__reduce_block some = {x, n, step, rows, 1, b->far, 1, 0};
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
