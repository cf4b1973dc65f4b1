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

/* A contiguous row: the best of each block first, then its place in the block that had it. So most of the work is a
 * maximum, which vectors do well, and only one block is searched for a place. Blocks stay in the first cache for the
 * search. */
ALWAYS_INLINE int64_t FN(arg_row_of)(lam__reduce_op op, int64_t n, const T *x) {
    enum { BLOCK = ARG_BYTES / sizeof(T) };
    T best = x[0];
    int64_t block = 0;
    for (int64_t i = 0; i < n; i += BLOCK) {
        T v = FN(row)(op, n - i < BLOCK ? n - i : BLOCK, x + i);
        if (i == 0 || FN(better)(op, v, best)) best = v, block = i;
    }
    return block + FN(place)(n - block, x + block, best);
}

/* One text for each operation, whoever calls it; so with columns below. */
static ONE_TEXT int64_t FN(arg_row)(lam__reduce_op op, int64_t n, const T *x) {
    return op == LAM__REDUCE_OP_MAX ? FN(arg_row_of)(LAM__REDUCE_OP_MAX, n, x)
                                    : FN(arg_row_of)(LAM__REDUCE_OP_MIN, n, x);
}

/* The better lane of two; of NaN, which is looked for apart, whatever the machine gives. */
ALWAYS_INLINE FN(vec) FN(better_of)(lam__reduce_op op, FN(vec) a, FN(vec) b) {
#if ORDERED
    return op == LAM__REDUCE_OP_MAX ? FN(greater)(a, b) : FN(less)(a, b);
#else
    FN(fold_lanes)(op, &a, &b);
    return a;
#endif
}

/* Whether a lane of either is NaN; not 0 if so. */
ALWAYS_INLINE unsigned FN(has_nan)(FN(vec) a, FN(vec) b) {
#if ORDERED
    return (unsigned)FN(either_is_nan)(a, b);
#else
    return FLOATING && (FN(any_nan)(a) || FN(any_nan)(b));
#endif
}

/* What numbers of rows are read as: bytes count up to 256 of them, so that one without a sign. */
#ifdef LIST
typedef M FN(number);
enum { FN(ARG_COUNTED) = INT32_MAX };
#else
typedef uint8_t FN(number);
enum { FN(ARG_COUNTED) = UINT8_MAX + 1 };
#endif
typedef FN(number) FN(numbers) __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* What is known of a vector of columns on the way down its rows: the best of each, and the first row that has it. */
typedef struct FN(down) {
    FN(vec) best;
    FN(mask) where, row;
    unsigned unordered; /* not 0: there was a NaN, and nothing is right */
} FN(down);

/* `second` where b is strictly better than a, else `first`; of equals the lesser if it is not known which comes
 * first. */
ALWAYS_INLINE FN(mask)
    FN(where_of)(lam__reduce_op op, bool several, FN(vec) a, FN(vec) b, FN(mask) first, FN(mask) second) {
    const FN(vec) more = op == LAM__REDUCE_OP_MAX ? b : a, less = op == LAM__REDUCE_OP_MAX ? a : b;
#if defined(__AVX512BW__)
    if (several) first = (FN(mask))FN(lesser_of_equal)((VECTOR)a, (VECTOR)b, (U64)second, (U64)first);
    return (FN(mask))FN(numbered)((VECTOR)more, (VECTOR)less, (U64)second, (U64)first);
#else
    FN(mask) take = (FN(mask))(more > less);
    if (several) take |= (FN(mask))(a == b) & (FN(mask))(second < first);
    return (take & second) | (~take & first);
#endif
}

/* Row d->row; the next row. */
ALWAYS_INLINE void FN(see)(lam__reduce_op op, FN(down) * d, FN(vec) v) {
    d->where = FN(where_of)(op, false, d->best, v, d->where, d->row);
    d->best = FN(better_of)(op, d->best, v);
}

ALWAYS_INLINE void FN(go_down)(lam__reduce_op op, FN(down) * d, FN(vec) v) {
    FN(see)(op, d, v);
    d->row = (FN(mask))((FN(numbers))d->row + 1);
}

ALWAYS_INLINE void FN(go_down_two)(lam__reduce_op op, FN(down) * d, FN(vec) v, FN(vec) next) {
    FN(go_down)(op, d, v);
    FN(go_down)(op, d, next);
    d->unordered |= FN(has_nan)(v, next);
}

#include "lib/kernels/reduce_places_rows.h"

/* Columns that lie apart, which are read one by one whatever is done with them: rows outside, so that reading goes
 * through memory once. */
ALWAYS_INLINE void FN(arg_apart_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t first, int columns,
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

static ONE_TEXT void FN(arg_apart)(lam__reduce_op op, const lam__reduce_block *b, int64_t first, int columns,
                                   int64_t *restrict where) {
    if (op == LAM__REDUCE_OP_MAX) FN(arg_apart_of)(LAM__REDUCE_OP_MAX, b, first, columns, where);
    else FN(arg_apart_of)(LAM__REDUCE_OP_MIN, b, first, columns, where);
}

/* `rows` more rows. */
ALWAYS_INLINE void FN(go_down_rows)(lam__reduce_op op, beside p, FN(down) * d, int64_t rows, const T *x, int64_t s) {
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
        const FN(vec) v = FN(lanes_at)(p, x + r * s);
        FN(go_down_two)(op, d, v, FN(lanes_at)(p, x + (r + 1) * s));
    }
    if (r < rows) {
        const FN(vec) last = FN(lanes_at)(p, x + r * s);
        FN(go_down)(op, d, last);
        d->unordered |= FN(has_nan)(last, last);
    }
}

/* The first row counts twice, which changes nothing. */
ALWAYS_INLINE FN(down) FN(first_down)(lam__reduce_op op, beside p, int64_t rows, const T *x, int64_t s) {
    FN(down) d = {FN(lanes_at)(p, x), {0}, {0}, 0};
    FN(go_down_rows)(op, p, &d, rows, x, s);
    return d;
}

/* `count` of them as places, a constant, of bytes as many as fill whole vectors of places. */
ALWAYS_INLINE void FN(put_numbers)(int count, const FN(number) * at, int64_t *restrict where) {
#ifdef LIST
    for (int i = 0; i < count; i++) where[i] = at[i];
#else
    UNROLLED for (int i = 0; i < count; i += LANES64) {
        const M64 some = widened_u8(at + i);
        memcpy(where + i, &some, sizeof some);
    }
#endif
}

/* Where the best of `count` columns from x on is, all of a vector if there are as many. */
ALWAYS_INLINE void FN(put_rows)(lam__reduce_op op, int64_t count, int64_t rows, const T *x, int64_t s,
                                int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const lam__reduce_block one = {x, count, 1, rows, s, LAM__REDUCE_NEAR, 1, 0, false, 0};
    const FN(down) d = FN(first_down)(op, alone, rows, x, s);
    FN(number) at[LANES];
    memcpy(at, &d.where, sizeof at);
    if (d.unordered) FN(arg_apart)(op, &one, 0, (int)count, where);
    else if (count == LANES) FN(put_numbers)(LANES, at, where);
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
        const FN(vec) v =
            rows == 8 ? FN(eight_lanes)(op, alone, x + i, s) : FN(column_lanes)(op, alone, rows, x + i, s);
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
    M at[ARG_COLUMNS];
    const T *x = b->x;
    const int64_t s = b->row_step, n = b->columns, most = FN(brought_rows)(b);
    for (int64_t r = 0; r < b->rows; r += most) {
        const int64_t some = b->rows - r < most ? b->rows - r : most;
        const T *row = x + r * s;
        FN(bring)(b, row, some);
        int64_t k = 0;
        for (; k + 8 <= some; k += 8) FN(arg_pass)(op, 8, row + k * s, s, n, (M)((r + k) / 8), best, at);
        if (k < some) FN(arg_pass)(op, some - k, row + k * s, s, n, (M)((r + k) / 8), best, at);
    }
    for (int64_t c = 0; c < n; c++) {
        const int64_t first = (int64_t)at[c] * 8, count = b->rows - first < 8 ? b->rows - first : 8;
        const T *part = x + first * s + c;
        where[c] = first + (count == 8 ? FN(arg_among)(8, part, s, best[c]) : FN(arg_among)(count, part, s, best[c]));
    }
}

/* Rows up to which looking at all again costs no more than looking at eight of each column one by one: as many as a
 * number counts. */
enum { FN(ARG_DOWN) = sizeof(T) == 1 ? FN(ARG_COUNTED) : 8 * VECTOR_BYTES / sizeof(T) };

/* Rows of columns in memory, as many as a number counts, some at a time: NOTE [bringing]. The last vector begins
 * earlier: what is done twice changes nothing. Not 0: there was a NaN, and nothing is right. */
ALWAYS_INLINE unsigned FN(arg_far)(lam__reduce_op op, const lam__reduce_block *b, T *restrict best,
                                   int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, s = b->row_step, most = FN(brought_rows)(b);
    const T *x = b->x;
    FN(number) at[ARG_COLUMNS];
    FN(down) d = {{0}, {0}, {0}, 0};
    memcpy(best, x, (size_t)n * sizeof(T));
    memset(at, 0, (size_t)n * sizeof *at);
    for (int64_t r = 0; r < b->rows; r += most) {
        const int64_t some = b->rows - r < most ? b->rows - r : most;
        const T *row = x + r * s;
        FN(bring)(b, row, some);
        for (int64_t c = 0; c < n; c += LANES) {
            const int64_t i = c + LANES <= n ? c : n - LANES;
            d.row = (M)r - (FN(mask)){0};
            memcpy(&d.best, best + i, sizeof d.best);
            memcpy(&d.where, at + i, sizeof d.where);
            FN(go_down_rows)(op, alone, &d, some, row + i, s);
            memcpy(best + i, &d.best, sizeof d.best);
            memcpy(at + i, &d.where, sizeof d.where);
        }
    }
    for (int64_t c = 0; c < n; c++) where[c] = at[c];
    return d.unordered;
}

/* A vector of columns after the other of layers wider than one, as in by_vectors; layers with a NaN again and one by
 * one. */
ALWAYS_INLINE void FN(arg_vectors)(lam__reduce_op op, int64_t rows, bool brought, const lam__reduce_block *b,
                                   int64_t *restrict where, int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, last = n - LANES;
    for (int64_t k = 0; k < b->layers; k++, where += step) {
        const T *x = FN(layer_at)(brought, b, k);
        unsigned unordered = 0;
        for (int64_t c = 0; c < n; c += LANES) {
            const int64_t i = c < last ? c : last;
            const FN(down) d = FN(first_down)(op, alone, rows, x + i, b->row_step);
            FN(number) at[LANES];
            memcpy(at, &d.where, sizeof at);
            FN(put_numbers)(LANES, at, where + i);
            unordered |= d.unordered;
        }
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        for (int64_t c = 0; unordered && c < n; c += LANES)
            FN(arg_apart)(op, &one, c, n - c < LANES ? (int)(n - c) : LANES, where + c);
    }
}

/* Few rows are a constant, as in by_wide_of. */
ALWAYS_INLINE void FN(arg_wide_of)(lam__reduce_op op, bool brought, const lam__reduce_block *b, int64_t *restrict where,
                                   int64_t step) {
    switch (b->rows) {
    case 2: FN(arg_vectors)(op, 2, brought, b, where, step); return;
    case 3: FN(arg_vectors)(op, 3, brought, b, where, step); return;
    case 5: FN(arg_vectors)(op, 5, brought, b, where, step); return;
    default: FN(arg_vectors)(op, b->rows, brought, b, where, step); return;
    }
}

/* Columns side by side, at least as many as a vector has lanes, of one layer or more; as many rows as a number counts.
 * Places lie side by side, those of a layer `step` behind those of the one before. */
static ONE_TEXT void FN(arg_wide)(lam__reduce_op op, bool brought, const lam__reduce_block *b, int64_t *where,
                                  int64_t step) {
    if (op == LAM__REDUCE_OP_MAX) FN(arg_wide_of)(LAM__REDUCE_OP_MAX, brought, b, where, step);
    else FN(arg_wide_of)(LAM__REDUCE_OP_MIN, brought, b, where, step);
}

/* Few rows, a vector of columns after the other where they are near. */
ALWAYS_INLINE void FN(arg_down)(lam__reduce_op op, const lam__reduce_block *b, T *restrict best,
                                int64_t *restrict where) {
    const bool far = b->far == LAM__REDUCE_MEMORY && b->rows > FEW_ROWS;
    if (!far) FN(arg_wide)(op, false, b, where, 0);
    else if (FN(arg_far)(op, b, best, where)) FN(arg_apart)(op, b, 0, (int)b->columns, where);
}

/* Columns side by side, up to ARG_COLUMNS: all rows at once, or as many as a number counts. */
ALWAYS_INLINE void FN(arg_columns_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    enum { LANES = VECTOR_BYTES / sizeof(T), BYTES = sizeof(T) == 1 };
    const bool brought = b->far == LAM__REDUCE_MEMORY;
    const int64_t bytes = brought ? FN(ARG_COUNTED) : INT8_MAX * 8, n = b->columns;
    const int64_t most = BYTES ? bytes : sizeof(T) == 4 ? INT32_MAX : INT64_MAX;
    T best[ARG_COLUMNS], part[ARG_COLUMNS];
    int64_t place[ARG_COLUMNS];
    lam__reduce_block some = *b;
    if (n < LANES) FN(arg_apart)(op, b, 0, (int)n, where);
    else if (b->rows <= FN(ARG_DOWN) || (!BYTES && brought && b->rows <= most)) FN(arg_down)(op, b, best, where);
    else
        for (int64_t from = 0; from < b->rows; from += some.rows) {
            some.x = (const T *)b->x + from * b->row_step;
            some.rows = b->rows - from < most ? b->rows - from : most;
            if (BYTES && brought) FN(arg_far)(op, &some, part, place);
            else FN(arg_rows)(op, &some, part, place);
            for (int64_t c = 0; c < n; c++)
                if (from == 0 || FN(better)(op, part[c], best[c])) best[c] = part[c], where[c] = from + place[c];
        }
}

static ONE_TEXT void FN(arg_columns)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    if (op == LAM__REDUCE_OP_MAX) FN(arg_columns_of)(LAM__REDUCE_OP_MAX, b, where);
    else FN(arg_columns_of)(LAM__REDUCE_OP_MIN, b, where);
}

/* Elements of a wide row. */
enum { FN(ARG_WIDE) = WIDE_BYTES / sizeof(T) };

/* Few columns without gaps: several rows of them are searched as one wide row, each of whose columns then has its
 * first; of equal ones among these the first row counts. The rows that are left come last, one by one. */
ALWAYS_INLINE void FN(arg_few)(lam__reduce_op op, const lam__reduce_block *b, int64_t *restrict where) {
    const T *x = b->x;
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, folded = (2 * LANES + n - 1) / n, whole = b->rows / folded;
    const lam__reduce_block outer = lam__reduce_side(x, n * folded, whole, b->far);
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
#ifdef LIST
    const bool short_rows = b->rows >= 2 && b->rows <= ARG_BYTES / (int64_t)sizeof(T) && b->step >= b->rows;
#else
    const bool short_rows = b->rows >= 2 && b->rows <= LONG_BYTES && b->step >= b->rows;
#endif
    if (b->row_step == 1 && short_rows && b->columns >= FEW_ROWS) {
#ifdef LIST
        FN(arg_short)(op, b, to);
#else
        const int64_t done = arg_paired_rows(op == LAM__REDUCE_OP_MIN, b, to);
        const lam__reduce_block rest = {
            (const T *)b->x + done * b->step, b->columns - done, b->step, b->rows, 1, b->far, 1, 0, false, 0};
        const lam__reduce_target at = {out + done * to->step, to->step, 0};
        if (done < b->columns) FN(arg_short)(op, &rest, &at);
#endif
        return;
    }
    if (b->row_step == 1 && b->rows >= LAM__REDUCE_SHORT) {
        for (int64_t c = 0; c < b->columns; c++)
            out[c * to->step] = FN(arg_row)(op, b->rows, (const T *)b->x + c * b->step);
        return;
    }
    const bool narrow = b->columns < (int64_t)(VECTOR_BYTES / sizeof(T)) && lam__reduce_is_narrow(b, FN(ARG_WIDE));
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

#include "lib/kernels/reduce_places_layers.h"

ALWAYS_INLINE void FN(arg_all)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    for (int64_t k = FN(arg_layers)(op, b, to); k < b->layers; k++) {
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        const lam__reduce_target at = {(int64_t *)to->out + k * to->row_step, to->step, 0};
        FN(arg_of)(op, &one, &at);
    }
}

#ifndef LIST
static void FN(arg)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to);

/* Layers of more rows than a number counts: so many rows of some layers at a time. */
static void FN(arg_tall)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const int64_t n = b->columns, most = ARG_COLUMNS / n;
    int64_t part[ARG_COLUMNS];
    for (int64_t first = 0; first < b->layers; first += most)
        for (int64_t from = 0; from < b->rows; from += FN(ARG_COUNTED)) {
            const T *x = (const T *)b->x + first * b->layer_step;
            const int64_t left = b->rows - from, layers = b->layers - first < most ? b->layers - first : most;
            lam__reduce_block some = *b;
            some.x = x + from * b->row_step, some.layers = layers;
            some.rows = left < FN(ARG_COUNTED) ? left : FN(ARG_COUNTED);
            FN(arg)(op, &some, &(lam__reduce_target){part, 1, n});
            for (int64_t k = 0; k < layers; k++)
                for (int64_t c = 0; c < n; c++) {
                    const T *column = x + k * b->layer_step + c;
                    int64_t *at = (int64_t *)to->out + (first + k) * to->row_step + c * to->step;
                    const int64_t place = from + part[k * n + c];
                    if (from == 0 || FN(better)(op, column[place * b->row_step], column[*at * b->row_step]))
                        *at = place;
                }
        }
}
#endif

static void FN(arg)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
#ifndef LIST
    if (FN(are_layers)(b) && b->rows > FN(ARG_COUNTED) && !FN(are_thin_places)(b)) {
        FN(arg_tall)(op, b, to);
        return;
    }
#endif
    if (op == LAM__REDUCE_OP_MAX) FN(arg_all)(LAM__REDUCE_OP_MAX, b, to);
    else FN(arg_all)(LAM__REDUCE_OP_MIN, b, to);
}
