/* Where the largest or least element of each column or row is, part of reduce_type.h: the first of equals, in whatever
 * order elements are looked at. NaN is beyond all numbers. No include guard: that is the point. */

/* Strictly better, so that the first of equals stays; NaN is better than all but NaN. The copies are there because
 * compilers warn of a value compared with itself. */
ALWAYS_INLINE bool FN(better)(lam__reduce_op op, T a, T b) {
    const T same_a = a, same_b = b;
    bool beyond = op == LAM__REDUCE_OP_MAX ? a > b : a < b;
    return beyond | ((a != same_a) & (b == same_b));
}

/* A bit for each lane of the vector at x that equals that of `all`. */
ALWAYS_INLINE uint64_t FN(equal_at)(const T *x, FN(vec) all) {
    return FN(equal_in)((VECTOR) * (const FN(vec) *)(const void *)x, (VECTOR)all);
}

/* Where the first of n elements is that equals one that is there. `best` came from these elements, so the search ends.
 * Zeros of both signs are equal: the first of them counts. NaN equals nothing and is looked for apart. */
ALWAYS_INLINE int64_t FN(place)(int64_t n, const T *x, T best) {
    const T same = best;
    int64_t i = 0;
    for (; best != same; i++) {
        const T v = x[i], v_same = v;
        if (v != v_same) return i;
    }
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const FN(vec) all = best - (FN(vec)){0};
    for (; i + LANES <= n; i += LANES) {
        const uint64_t equal = FN(equal_at)(x + i, all);
        if (equal) return i + __builtin_ctzll(equal);
    }
    while (x[i] != best) i++;
    return i;
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

/* The lanes in which a > b, and whether a lane is NaN. */
ALWAYS_INLINE FN(mask) FN(above)(FN(vec) a, FN(vec) b) {
#if ORDERED
    return (FN(mask))FN(greater_in)(a, b);
#else
    return (FN(mask))(a > b);
#endif
}

ALWAYS_INLINE bool FN(any_nan)(FN(vec) v) {
#if ORDERED
    return FN(either_is_nan)(v, v) != 0;
#else
    const FN(vec) same = v;
    return high_bits((U64)(v != same)) != 0;
#endif
}

/* The places of `count` rows of n <= 64 elements, none of them NaN, without a branch: a row is read as so many vectors,
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

/* Whether one of so many is NaN, all of an array of ARG_ROWS. */
ALWAYS_INLINE bool FN(one_is_nan)(const T *x) {
    bool nan = false;
    for (int i = 0; FLOATING && i < (int)(ARG_ROWS * sizeof(T) / VECTOR_BYTES); i++)
        nan |= FN(any_nan)(((const FN(vec) *)(const void *)x)[i]);
    return nan;
}

/* Short rows: the best of some of them, as in any reduction, then its place in each. The last of a block, behind which
 * there is not a vector to read, and any with a NaN beside them, are searched one by one. */
ALWAYS_INLINE void FN(arg_short)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T), BITS = 64 };
    T best[ARG_ROWS] = {0};
    const int64_t rows = b->rows, step = b->step, beyond = rows < LANES ? (LANES - rows + step - 1) / step : 0;
    for (int64_t first = 0; first < b->columns; first += ARG_ROWS) {
        const int64_t left = b->columns - first, n = left < ARG_ROWS ? left : ARG_ROWS;
        const int64_t most = rows > BITS || left < beyond ? 0 : left - beyond < n ? left - beyond : n;
        const T *x = (const T *)b->x + first * step;
        int64_t *out = (int64_t *)to->out + first * to->step;
        const lam__reduce_block some = {x, n, step, rows, 1, b->far, 1, 0};
        FN(leaf)(op, &some, best);
        const int64_t done = FN(one_is_nan)(best) ? 0 : most;
        if (rows <= LANES) FN(places_of)(1, done, rows, x, step, best, out, to->step);
        else if (rows <= 2 * LANES) FN(places_of)(2, done, rows, x, step, best, out, to->step);
        else FN(places_of)((rows + LANES - 1) / LANES, done, rows, x, step, best, out, to->step);
        for (int64_t c = done; c < n; c++)
            out[c * to->step] = FN(place_short)(rows, (left - c - 1) * step + rows, x + c * step, best[c]);
    }
}

/* A contiguous row: the best of each block first, then its place in the block that had it. So most of the work is a
 * maximum, which vectors do well, and only one block is searched for a place. Blocks stay in the first cache for the
 * search. */
ALWAYS_INLINE int64_t FN(arg_row)(lam__reduce_op op, int64_t n, const T *x) {
    enum { BLOCK = ARG_BYTES / sizeof(T) };
    T best = FN(row)(op, n < BLOCK ? n : BLOCK, x);
    int64_t block = 0;
    for (int64_t i = BLOCK; i < n; i += BLOCK) {
        T v = FN(row)(op, n - i < BLOCK ? n - i : BLOCK, x + i);
        if (FN(better)(op, v, best)) best = v, block = i;
    }
    return block + FN(place)(n - block, x + block, best);
}

/* Columns that lie apart, which are read one by one whatever is done with them: rows outside, so that reading goes
 * through memory once. */
ALWAYS_INLINE void FN(arg_apart)(lam__reduce_op op, const lam__reduce_block *b, int64_t first, int columns,
                                 int64_t *restrict where) {
    T best[ARG_COLUMNS];
    const T *x = (const T *)b->x + first * b->step;
    for (int c = 0; c < columns; c++) best[c] = x[c * b->step], where[c] = 0;
    for (int64_t r = 1; r < b->rows; r++) {
        const T *row = x + r * b->row_step;
        for (int c = 0; c < columns; c++) {
            const T v = row[c * b->step];
            const bool take = FN(better)(op, v, best[c]);
            best[c] = take ? v : best[c];
            where[c] = take ? r : where[c];
        }
    }
}

/* The first rows in which a vector of columns has what `best` says, from the last row to the first: a row waits for no
 * comparison of another. */
ALWAYS_INLINE FN(mask) FN(first_rows)(int64_t rows, const T *x, int64_t s, FN(vec) best) {
    FN(mask) where = {0}, number = (M)(rows - 1) - where;
    for (int64_t r = rows - 1; r >= 0; r--, number -= 1) {
        const FN(mask) here = (FN(mask))(*(const FN(vec) *)(const void *)(x + r * s) == best);
        where = (here & number) | (~here & where);
    }
    return where;
}

/* Where the best of `count` columns from x on is, all of a vector if there are as many, by a vector of these bests. */
ALWAYS_INLINE void FN(put_rows)(lam__reduce_op op, int64_t count, int64_t rows, const T *x, int64_t s, FN(vec) best,
                                int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const lam__reduce_block one = {x, count, 1, rows, s, false, 1, 0};
    M at[LANES];
    if (FLOATING && FN(any_nan)(best)) {
        FN(arg_apart)(op, &one, 0, (int)count, where);
        return;
    }
    const FN(mask) first = FN(first_rows)(rows, x, s, best);
    memcpy(at, &first, sizeof at);
    if (count == LANES)
        for (int i = 0; i < LANES; i++) where[i] = at[i];
    else
        for (int64_t i = 0; i < count; i++) where[i] = at[i];
}

/* The lanes in which a is strictly better than b: see FN(better). */
ALWAYS_INLINE FN(mask) FN(better_lanes)(lam__reduce_op op, FN(vec) a, FN(vec) b) {
    const FN(mask) beyond = op == LAM__REDUCE_OP_MAX ? FN(above)(a, b) : FN(above)(b, a);
#if FLOATING
    const FN(vec) same_a = a, same_b = b;
    return beyond | ((FN(mask))(a != same_a) & (FN(mask))(b == same_b));
#else
    return beyond;
#endif
}

/* Up to eight rows of columns side by side: the best so far of each column, and the number of the eight rows that it
 * came from. What is done twice changes nothing, so the last vector may begin earlier. */
ALWAYS_INLINE void FN(arg_pass)(lam__reduce_op op, int64_t rows, const T *x, int64_t s, int64_t columns, M number,
                                T *restrict best, M *restrict at) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    for (int64_t c = 0; c < columns; c += LANES) {
        const int64_t i = c + LANES <= columns ? c : columns - LANES;
        const FN(vec) v = rows == 8 ? FN(eight_lanes)(op, x + i, s) : FN(column_lanes)(op, rows, x + i, s);
        FN(vec) most = v;
        FN(mask) where = {0};
        if (number > 0) {
            memcpy(&most, best + i, sizeof most);
            memcpy(&where, at + i, sizeof where);
            const FN(mask) take = FN(better_lanes)(op, v, most);
            most = (FN(vec))((take & (FN(mask))v) | (~take & (FN(mask))most));
            where = (take & (number - (FN(mask)){0})) | (~take & where);
        }
        memcpy(best + i, &most, sizeof most);
        memcpy(at + i, &where, sizeof where);
    }
}

/* The first of n <= 8 rows of a column that has the best of it. */
ALWAYS_INLINE int64_t FN(arg_among)(int64_t n, const T *x, int64_t s, T best) {
    const T same = best;
    int64_t place = n - 1;
    for (int64_t r = n - 2; r >= 0; r--) {
        const T v = x[r * s], v_same = v;
        place = (v == best) | ((best != same) & (v != v_same)) ? r : place;
    }
    return place;
}

/* Columns side by side, a vector of them or more, of so many rows that numbers of eight rows fit an M. */
ALWAYS_INLINE void FN(arg_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict best,
                                int64_t *restrict where) {
    FN(vec) room[BRING_BYTES / VECTOR_BYTES];
    M at[ARG_COLUMNS];
    const T *x = b->x;
    const int64_t s = b->row_step, n = b->columns;
    int64_t r = 0;
    for (; r + 8 <= b->rows; r += 8) FN(arg_pass)(op, 8, FN(bring)(b, x + r * s, room), s, n, (M)(r / 8), best, at);
    if (r < b->rows) FN(arg_pass)(op, b->rows - r, x + r * s, s, n, (M)(r / 8), best, at);
    for (int64_t c = 0; c < n; c++) {
        const int64_t first = (int64_t)at[c] * 8, count = b->rows - first < 8 ? b->rows - first : 8;
        const T *part = x + first * s + c;
        where[c] = first + (count == 8 ? FN(arg_among)(8, part, s, best[c]) : FN(arg_among)(count, part, s, best[c]));
    }
}

/* Rows up to which looking at all again costs no more than looking at eight of each column one by one: as many as an M
 * counts. */
enum { FN(ARG_DOWN) = sizeof(T) == 1 ? INT8_MAX : 8 * VECTOR_BYTES / sizeof(T) };

/* Few rows: the best of each column, as in any reduction, then its place. */
ALWAYS_INLINE void FN(arg_down)(lam__reduce_op op, const lam__reduce_block *b, T *restrict best,
                                int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    FN(by_rows)(op, b, best);
    for (int64_t c = 0; c < b->columns; c += LANES) {
        const int64_t i = c + LANES <= b->columns ? c : b->columns - LANES;
        FN(put_rows)(op, LANES, b->rows, (const T *)b->x + i, b->row_step, *(FN(vec) *)(void *)(best + i), where + i);
    }
}

/* Columns side by side, up to ARG_COLUMNS. */
ALWAYS_INLINE void FN(arg_columns)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t most = sizeof(T) == 1 ? INT8_MAX * 8 : sizeof(T) == 4 ? INT32_MAX : INT64_MAX, n = b->columns;
    T best[ARG_COLUMNS], part[ARG_COLUMNS];
    int64_t place[ARG_COLUMNS];
    if (n < LANES) FN(arg_apart)(op, b, 0, (int)n, where);
    else if (b->rows <= FN(ARG_DOWN)) FN(arg_down)(op, b, best, where);
    else {
        lam__reduce_block some = *b;
        some.rows = b->rows < most ? b->rows : most;
        FN(arg_rows)(op, &some, best, where);
        for (int64_t from = some.rows; from < b->rows; from += some.rows) {
            some.x = (const T *)b->x + from * b->row_step;
            some.rows = b->rows - from < most ? b->rows - from : most;
            FN(arg_rows)(op, &some, part, place);
            for (int64_t c = 0; c < n; c++)
                if (FN(better)(op, part[c], best[c])) best[c] = part[c], where[c] = from + place[c];
        }
    }
}

/* Elements of a wide row. */
enum { FN(ARG_WIDE) = WIDE_BYTES / sizeof(T) };

/* Few columns without gaps: several rows of them are searched as one wide row, each of whose columns then has its
 * first; of equal ones among these the first row counts. The rows that are left come last, one by one. */
ALWAYS_INLINE void FN(arg_few)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    const T *x = b->x;
    const int64_t n = b->columns, folded = FN(ARG_WIDE) / n, whole = b->rows / folded;
    const lam__reduce_block outer = {x, n * folded, 1, whole, n * folded, b->far, 1, 0};
    int64_t wide[FN(ARG_WIDE)];
    FN(arg_columns)(op, &outer, wide);
    for (int64_t c = 0; c < n; c++) {
        int64_t first = wide[c] * folded;
        for (int64_t k = 1; k < folded; k++) {
            const int64_t row = wide[k * n + c] * folded + k;
            const T v = x[row * n + c], best = x[first * n + c];
            if (FN(better)(op, v, best) || (row < first && !FN(better)(op, best, v))) first = row;
        }
        for (int64_t row = whole * folded; row < b->rows; row++)
            if (FN(better)(op, x[row * n + c], x[first * n + c])) first = row;
        where[c] = first;
    }
}

ALWAYS_INLINE void FN(arg_of)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    int64_t *out = to->out, where[ARG_COLUMNS];
    const int64_t bytes = b->rows * (int64_t)sizeof(T);
    const bool short_rows =
        (bytes >= 32 || (sizeof(T) == 1 && b->rows >= 4)) && bytes <= LONG_BYTES && b->step >= b->rows;
    if (b->row_step == 1 && short_rows && b->columns >= FEW_ROWS) {
        FN(arg_short)(op, b, to);
        return;
    }
    if (b->row_step == 1 && b->rows >= LAM__REDUCE_SHORT) {
        for (int64_t c = 0; c < b->columns; c++)
            out[c * to->step] = FN(arg_row)(op, b->rows, (const T *)b->x + c * b->step);
        return;
    }
    const bool narrow = lam__reduce_is_narrow(b, FN(ARG_WIDE));
    for (int64_t first = 0; first < b->columns; first += ARG_COLUMNS) {
        const int columns = (int)(b->columns - first < ARG_COLUMNS ? b->columns - first : ARG_COLUMNS);
        int64_t *places = to->step == 1 ? out + first : where;
        lam__reduce_block some = *b;
        some.x = (const T *)b->x + first * b->step, some.columns = columns;
        if (narrow) FN(arg_few)(op, b, places);
        else if (b->step == 1) FN(arg_columns)(op, &some, places);
        else FN(arg_apart)(op, b, first, columns, places);
        for (int c = 0; c < columns && to->step != 1; c++) out[(first + c) * to->step] = where[c];
    }
}

/* Layers as in by_layers: gives how many are done. Rows as many as an M counts. */
ALWAYS_INLINE int64_t FN(arg_layers)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (!FN(are_layers)(b) || b->rows > INT8_MAX) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES);
    const bool dense = to->step == 1 && to->row_step == n && 2 * n >= LANES;
    for (int64_t k = 0; k < whole; k++)
        for (int64_t c = 0; c < n; c += LANES) {
            const int64_t first = c + LANES <= n || n < LANES ? c : n - LANES, count = n < LANES ? n : LANES;
            const T *x = (const T *)b->x + k * b->layer_step + first;
            int64_t *out = (int64_t *)to->out + k * to->row_step + first * to->step;
            const FN(vec) best = FN(column_lanes)(op, b->rows, x, b->row_step);
            if (dense) FN(put_rows)(op, LANES, b->rows, x, b->row_step, best, out);
            else {
                int64_t where[LANES];
                FN(put_rows)(op, count, b->rows, x, b->row_step, best, where);
                for (int64_t i = 0; i < count; i++) out[i * to->step] = where[i];
            }
        }
    return whole;
}

ALWAYS_INLINE void FN(arg_all)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    for (int64_t k = FN(arg_layers)(op, b, to); k < b->layers; k++) {
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        const lam__reduce_target at = {(int64_t *)to->out + k * to->row_step, to->step, 0};
        FN(arg_of)(op, &one, &at);
    }
}

static void FN(arg)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    if (op == LAM__REDUCE_OP_MAX) FN(arg_all)(LAM__REDUCE_OP_MAX, b, to);
    else FN(arg_all)(LAM__REDUCE_OP_MIN, b, to);
}
