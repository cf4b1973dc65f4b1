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

/* Short rows: the best of some of them, as in any reduction, then its place in each. */
ALWAYS_INLINE void FN(arg_short)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    T best[ARG_ROWS];
    int64_t *out = to->out;
    for (int64_t first = 0; first < b->columns; first += ARG_ROWS) {
        const int64_t n = b->columns - first < ARG_ROWS ? b->columns - first : ARG_ROWS;
        const T *x = (const T *)b->x + first * b->step;
        const lam__reduce_block some = {x, n, b->step, b->rows, 1, b->far, 1, 0};
        FN(leaf)(op, &some, best);
        for (int64_t c = 0; c < n; c++) {
            const int64_t room = (b->columns - first - c - 1) * b->step + b->rows;
            out[(first + c) * to->step] = FN(place_short)(b->rows, room, x + c * b->step, best[c]);
        }
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

/* `count` rows from row r on, a constant: the best so far of each column and its row. Both are chosen without a branch
 * and are of one size, so the loop over columns becomes vectors. Not careful: as if there were no NaN. Not 0: there was
 * one. */
ALWAYS_INLINE M FN(arg_pass)(lam__reduce_op op, bool careful, int count, const T *x, int64_t row_step, int columns,
                             int64_t step, M r, T *restrict best, M *restrict at) {
    M unordered = 0;
    for (int c = 0; c < columns; c++) {
        T least = best[c];
        M place = at[c];
        for (int k = 0; k < count; k++) {
            const T v = x[k * row_step + c * step], same = v;
            const bool beyond = op == LAM__REDUCE_OP_MAX ? v > least : v < least;
            const bool take = careful ? FN(better)(op, v, least) : beyond;
            least = take ? v : least;
            place = take ? (M)(r + k) : place;
            unordered |= (M)(v != same);
        }
        best[c] = least, at[c] = place;
    }
    return unordered;
}

/* n rows of columns side by side, n no more than an M counts. Whether one of them may be NaN. */
ALWAYS_INLINE bool FN(arg_rows)(lam__reduce_op op, bool careful, int64_t n, const T *x, int64_t row_step, int columns,
                                int64_t step, T *restrict best, M *restrict at) {
    M unordered = 0;
    int64_t r = 1;
    for (int c = 0; c < columns; c++) best[c] = x[c * step], at[c] = 0;
    for (; !careful && r + 4 <= n; r += 4)
        unordered |= FN(arg_pass)(op, false, 4, x + r * row_step, row_step, columns, step, (M)r, best, at);
    for (; r < n; r++)
        unordered |= FN(arg_pass)(op, careful, 1, x + r * row_step, row_step, columns, step, (M)r, best, at);
    return unordered != 0;
}

/* Up to ARG_COLUMNS columns side by side, as many rows at once as numbers of the size of an element count. Where there
 * was a NaN all is done again with care. */
ALWAYS_INLINE void FN(arg_columns)(lam__reduce_op op, const lam__reduce_block *b, int64_t first, int columns,
                                   int64_t step, int64_t *restrict where) {
    const int64_t most = sizeof(T) == 1 ? INT8_MAX : sizeof(T) == 4 ? INT32_MAX : INT64_MAX;
    T best[ARG_COLUMNS], part[ARG_COLUMNS];
    M at[ARG_COLUMNS];
    for (int64_t from = 0, n; from < b->rows; from += n) {
        const T *x = (const T *)b->x + first * step + from * b->row_step;
        T *to = from == 0 ? best : part;
        n = b->rows - from < most ? b->rows - from : most;
        const bool unordered = FN(arg_rows)(op, false, n, x, b->row_step, columns, step, to, at);
        if (FLOATING && unordered) FN(arg_rows)(op, true, n, x, b->row_step, columns, step, to, at);
        for (int c = 0; c < columns && from == 0; c++) where[c] = at[c];
        for (int c = 0; c < columns && from > 0; c++)
            if (FN(better)(op, part[c], best[c])) best[c] = part[c], where[c] = from + at[c];
    }
}

/* Few columns without gaps: several rows of them are searched as one wide row, each of whose columns then has its
 * first; of equal ones among these the first row counts. The rows that are left come last, one by one. */
ALWAYS_INLINE void FN(arg_few)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    const T *x = b->x;
    const int64_t n = b->columns, folded = ARG_COLUMNS / n, whole = b->rows / folded;
    const lam__reduce_block outer = {x, n * folded, 1, whole, n * folded, false, 1, 0};
    int64_t wide[ARG_COLUMNS];
    FN(arg_columns)(op, &outer, 0, (int)(n * folded), 1, wide);
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

ALWAYS_INLINE void FN(arg_of)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    int64_t *out = to->out, where[ARG_COLUMNS];
    const int64_t bytes = b->rows * (int64_t)sizeof(T);
    const bool short_rows = b->rows >= (sizeof(T) == 1 ? 4 : 8) && bytes <= LONG_BYTES && b->step >= b->rows;
    if (b->row_step == 1 && short_rows && b->columns >= FEW_ROWS) {
        FN(arg_short)(op, b, to);
        return;
    }
    if (b->row_step == 1 && b->rows >= LAM__REDUCE_SHORT) {
        for (int64_t c = 0; c < b->columns; c++)
            out[c * to->step] = FN(arg_row)(op, b->rows, (const T *)b->x + c * b->step);
        return;
    }
    const bool narrow = lam__reduce_is_narrow(b, ARG_COLUMNS);
    for (int64_t first = 0; first < b->columns; first += ARG_COLUMNS) {
        const int columns = (int)(b->columns - first < ARG_COLUMNS ? b->columns - first : ARG_COLUMNS);
        int64_t *places = to->step == 1 ? out + first : where;
        if (narrow) FN(arg_few)(op, b, places);
        else if (b->step == 1) FN(arg_columns)(op, b, first, columns, 1, places);
        else FN(arg_apart)(op, b, first, columns, places);
        for (int c = 0; c < columns && to->step != 1; c++) out[(first + c) * to->step] = where[c];
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

/* Where the best of a vector of columns is. False: one may be NaN, and nothing was found. */
ALWAYS_INLINE bool FN(arg_lanes)(lam__reduce_op op, int64_t rows, const T *x, int64_t s, M *at) {
    FN(vec) best = *(const FN(vec) *)(const void *)x;
    FN(mask) where = {0};
    bool unordered = FLOATING && FN(any_nan)(best);
    for (int64_t r = 1; r < rows; r++) {
        const FN(vec) v = *(const FN(vec) *)(const void *)(x + r * s);
        const FN(mask) beyond = op == LAM__REDUCE_OP_MAX ? FN(above)(v, best) : FN(above)(best, v);
        best = (FN(vec))((beyond & (FN(mask))v) | (~beyond & (FN(mask))best));
        where = (beyond & ((M)r - (FN(mask)){0})) | (~beyond & where);
        unordered |= FLOATING && FN(any_nan)(v);
    }
    memcpy(at, &where, sizeof where);
    return !unordered;
}

/* Layers as in by_layers: gives how many are done. Rows as many as an M counts. */
ALWAYS_INLINE int64_t FN(arg_layers)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (!FN(are_layers)(b) || b->rows > INT8_MAX) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES);
    for (int64_t k = 0; k < whole; k++)
        for (int64_t c = 0; c < n; c += LANES) {
            const int64_t first = c + LANES <= n || n < LANES ? c : n - LANES, count = n < LANES ? n : LANES;
            const T *x = (const T *)b->x + k * b->layer_step + first;
            int64_t *out = (int64_t *)to->out + k * to->row_step + first * to->step;
            const lam__reduce_block one = {x, count, 1, b->rows, b->row_step, false, 1, 0};
            M at[LANES];
            int64_t where[LANES];
            const bool found = FN(arg_lanes)(op, b->rows, x, b->row_step, at);
            if (!found) FN(arg_apart)(op, &one, 0, (int)count, where);
            for (int64_t i = 0; i < count; i++) out[i * to->step] = found ? at[i] : where[i];
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
