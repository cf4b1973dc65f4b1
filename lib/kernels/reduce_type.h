/* The inner loops of one element type, included by reduce_simd.c with T the element U type of sums and products
 * (unsigned for integers: they wrap) M signed integer of T's size, the lanes of a comparison S type of running sums
 * NAME suffix COMPENSATED 1: running sums carry their rounding error ORDERED 1: vectors have the instructions of
 * reduce_simd.c that choose (greater_NAME, ...) FLOATING 1: contiguous rows are those of reduce_rows.h, which needs
 * LIST (the lanes of a vector) and SPREADS (1: a vector may hold several rows) The operation is always a constant after
 * inlining. H (bytes and i32): what the sums of 256 rows fit into. Rows are summed in groups of 64 bytes, one or more
 * of the machine's vectors, so that a result depends on nothing but the number of elements and whether they are
 * contiguous; integers wrap and may meet in any order. No include guard: that is the point. Leaves are at most
 * LAM__REDUCE_LEAF elements or LAM__REDUCE_STRIDED_LEAF rows long, but of integers: what calls them joins leaves
 * pairwise, so the error of a sum of n elements grows with log(n). */
#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

typedef T FN(vec) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef U FN(uvec) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
typedef M FN(mask) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* ---- the operations ------------------------------------------------------------------------------------------ */

/* A maximum keeps the left operand if it is greater or NaN, so that NaN wins on either side: written as an instruction
 * for those that are ordered, and a choice that is nearly always the same. `same` is a copy only because compilers warn
 * of a value compared with itself. */
ALWAYS_INLINE T FN(fold)(lam__reduce_op op, T a, T b) {
    const T same = a, more = a > b ? a : b, less = a < b ? a : b;
    switch (op) {
    case LAM__REDUCE_OP_SUM: return (T)((U)a + (U)b);
    case LAM__REDUCE_OP_PROD: return (T)((U)a * (U)b);
    case LAM__REDUCE_OP_MAX: return a == same ? more : a;
    default: return a == same ? less : a;
    }
}

/* The same for vectors, lane by lane, with masks where the machine has no instruction that treats NaN so. Integers have
 * no NaN: for them `!=` is never true. */
ALWAYS_INLINE void FN(fold_lanes)(lam__reduce_op op, FN(vec) * a, const FN(vec) * b) {
    const FN(vec) same = *a;
    FN(mask) keep;
#if ORDERED
    if (op == LAM__REDUCE_OP_MAX || op == LAM__REDUCE_OP_MIN) {
        *a = op == LAM__REDUCE_OP_MAX ? FN(greatest)(*a, *b) : FN(least)(*a, *b);
        return;
    }
#endif
    switch (op) {
    case LAM__REDUCE_OP_SUM: *a = (FN(vec))((FN(uvec)) * a + (FN(uvec)) * b); return;
    case LAM__REDUCE_OP_PROD: *a = (FN(vec))((FN(uvec)) * a * (FN(uvec)) * b); return;
    case LAM__REDUCE_OP_MAX: keep = (FN(mask))(*a > *b) | (FN(mask))(*a != same); break;
    default: keep = (FN(mask))(*a < *b) | (FN(mask))(*a != same); break;
    }
    *a = (FN(vec))((keep & (FN(mask)) * a) | (~keep & (FN(mask)) * b));
}

/* `count` elements, a power of two up to 8, as a balanced tree. Written out for each count, because compilers make
 * vectors of columns of trees, not of trees. s: elements from one to the next. */
ALWAYS_INLINE T FN(tree)(lam__reduce_op op, int count, const T *x, int64_t s) {
    if (count == 1) return x[0];
    T a = FN(fold)(op, x[0], x[s]);
    if (count == 2) return a;
    T b = FN(fold)(op, x[2 * s], x[3 * s]);
    if (count == 4) return FN(fold)(op, a, b);
    T c = FN(fold)(op, x[4 * s], x[5 * s]), d = FN(fold)(op, x[6 * s], x[7 * s]);
    return FN(fold)(op, FN(fold)(op, a, b), FN(fold)(op, c, d));
}

/* ---- leaves -------------------------------------------------------------------------------------------------- */

/* One column, eight rows at a time, then four, two, one. KEEP IN STEP: leaf order (by_rows). Whether a column is summed
 * alone or beside others, its elements meet in the same order. */
ALWAYS_INLINE T FN(column)(lam__reduce_op op, int64_t rows, const T *x, int64_t s) {
    int count = rows >= 8 ? 8 : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
    T r = count == 8   ? FN(tree)(op, 8, x, s)
          : count == 4 ? FN(tree)(op, 4, x, s)
          : count == 2 ? FN(tree)(op, 2, x, s)
                       : x[0];
    int64_t i = count;
    for (; rows - i >= 8; i += 8) r = FN(fold)(op, r, FN(tree)(op, 8, x + i * s, s));
    if (rows - i >= 4) r = FN(fold)(op, r, FN(tree)(op, 4, x + i * s, s)), i += 4;
    if (rows - i >= 2) r = FN(fold)(op, r, FN(tree)(op, 2, x + i * s, s)), i += 2;
    return i < rows ? FN(fold)(op, r, x[i * s]) : r;
}

/* Adds `count` rows, as a tree, to every column. b->x and out never overlap. `first`: there is nothing in out yet. A
 * constant count makes the tree straight code. */
ALWAYS_INLINE void FN(pass)(lam__reduce_op op, int count, bool first, const lam__reduce_block *b, int64_t row,
                            int64_t step, T *restrict out) {
    const T *x = (const T *)b->x + row * b->row_step;
    const int64_t columns = b->columns, s = b->row_step;
    if (first)
        for (int64_t c = 0; c < columns; c++) out[c] = FN(tree)(op, count, x + c * step, s);
    else
        for (int64_t c = 0; c < columns; c++) out[c] = FN(fold)(op, out[c], FN(tree)(op, count, x + c * step, s));
}

/* All columns side by side. KEEP IN STEP: leaf order (column). A pass over eight rows reads and writes each result
 * once. */
ALWAYS_INLINE void FN(by_rows)(lam__reduce_op op, const lam__reduce_block *b, int64_t step, T *restrict out) {
    int64_t i = 0;
    for (; b->rows - i >= 8; i += 8) FN(pass)(op, 8, i == 0, b, i, step, out);
    if (b->rows - i >= 4) FN(pass)(op, 4, i == 0, b, i, step, out), i += 4;
    if (b->rows - i >= 2) FN(pass)(op, 2, i == 0, b, i, step, out), i += 2;
    if (b->rows > i) FN(pass)(op, 1, i == 0, b, i, step, out);
}

#if FLOATING
#include "lib/kernels/reduce_rows.h"
#else
#include "lib/kernels/reduce_integers.h"
#endif

/* A contiguous row by its lanes; few columns without gaps as one run; columns side by side in vectors, also where their
 * step is not 1 but smaller than that of the rows; else column by column. The choice is part of the order of a sum, so
 * it looks at the shape of the block and at nothing else. */
ALWAYS_INLINE void FN(leaf_of)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const T *x = b->x;
    if (b->row_step == 1 && b->rows >= (FLOATING ? 2 : LAM__REDUCE_SHORT)) FN(leaf_rows)(op, b, out);
#if FLOATING
    else if (lam__reduce_is_few(b)) FN(leaf_few)(op, b, out);
#else
    else if (FN(are_words)(b)) FN(leaf_words)(op, b, out);
    else if (lam__reduce_is_narrow(b, WIDE)) FN(leaf_few)(op, b, out);
#endif
    else if (b->step == 1 && b->columns >= 8) FN(by_rows)(op, b, 1, out);
    else if (b->columns >= 8 && llabs(b->step) < llabs(b->row_step)) FN(by_rows)(op, b, b->step, out);
    else if (b->row_step == 1)
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, 1);
    else
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, b->row_step);
}

/* One text for each operation, in which it is a constant. */
static void FN(leaf)(lam__reduce_op op, const lam__reduce_block *b, void *out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(leaf_of)(LAM__REDUCE_OP_SUM, b, out); return;
    case LAM__REDUCE_OP_PROD: FN(leaf_of)(LAM__REDUCE_OP_PROD, b, out); return;
    case LAM__REDUCE_OP_MAX: FN(leaf_of)(LAM__REDUCE_OP_MAX, b, out); return;
    case LAM__REDUCE_OP_MIN: FN(leaf_of)(LAM__REDUCE_OP_MIN, b, out); return;
    }
}

/* The left part comes first in the tree, which decides between a NaN and another. */
ALWAYS_INLINE void FN(merge_of)(lam__reduce_op op, int64_t columns, T *restrict out, const T *restrict other) {
    for (int64_t c = 0; c < columns; c++) out[c] = FN(fold)(op, out[c], other[c]);
}

static void FN(merge)(lam__reduce_op op, int64_t columns, void *out, const void *other) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(merge_of)(LAM__REDUCE_OP_SUM, columns, out, other); return;
    case LAM__REDUCE_OP_PROD: FN(merge_of)(LAM__REDUCE_OP_PROD, columns, out, other); return;
    case LAM__REDUCE_OP_MAX: FN(merge_of)(LAM__REDUCE_OP_MAX, columns, out, other); return;
    case LAM__REDUCE_OP_MIN: FN(merge_of)(LAM__REDUCE_OP_MIN, columns, out, other); return;
    }
}

/* ---- arg-reductions ------------------------------------------------------------------------------------------ */

/* Strictly better, so that the first of equals stays; NaN is better than all but NaN. The copies are there because
 * compilers warn of a value compared with itself. */
ALWAYS_INLINE bool FN(better)(lam__reduce_op op, T a, T b) {
    const T same_a = a, same_b = b;
    bool beyond = op == LAM__REDUCE_OP_MAX ? a > b : a < b;
    return beyond | ((a != same_a) & (b == same_b));
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
#if ORDERED
    for (; i + LANES <= n; i += LANES) {
        const unsigned equal = FN(equal_in)(*(const FN(vec) *)(const void *)(x + i), all);
        if (equal) return i + __builtin_ctz(equal);
    }
#else
    for (; i + LANES <= n; i += LANES) {
        const uint64_t equal = high_bits((U64)(*(const FN(vec) *)(const void *)(x + i) == all));
        if (equal) return i + __builtin_ctzll(equal) / (int)sizeof(T);
    }
#endif
    while (x[i] != best) i++;
    return i;
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
    const lam__reduce_block outer = {x, n * folded, 1, whole, n * folded, false};
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

static void FN(arg)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    if (op == LAM__REDUCE_OP_MAX) FN(arg_of)(LAM__REDUCE_OP_MAX, b, to);
    else FN(arg_of)(LAM__REDUCE_OP_MIN, b, to);
}

/* ---- scans --------------------------------------------------------------------------------------------------- */

/* One step of a running sum. Those of f32 run in double; those of f64 add the rounding error of every step (Knuth's
 * 2Sum, exact) to `rest` and show value + rest. So the error of a prefix stays near one unit whatever its length,
 * at the cost of a plain sum, whose chain of dependent additions is as long. Once an infinity or NaN has come, rest
 * is NaN and the plain sum is shown. */
ALWAYS_INLINE T FN(advance)(S *value, S *rest, T x) {
    const S old = *value, term = (S)x, now = *value = (S)(old + term);
    if (!COMPENSATED) return (T)now;
    const S part = (S)(now - old);
    *rest += (S)((old - (now - part)) + (term - part));
    const S shown = (S)(now + *rest), difference = (S)(*rest - *rest), zero = 0;
    return difference == zero ? (T)shown : (T)now;
}

/* The first row is copied, so a running product or maximum of one element is that element, bit by bit. Sums and values
 * lie on the stack, a row of columns at a time. */
ALWAYS_INLINE void FN(scan_columns)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to,
                                    int64_t first, int columns, int64_t step, int64_t out_step) {
    S sum[SCAN_COLUMNS], rest[SCAN_COLUMNS] = {0};
    T value[SCAN_COLUMNS]; /* of what is no sum */
    const T *x = (const T *)b->x + first * step;
    T *out = (T *)to->out + first * out_step;
    for (int c = 0; c < columns; c++) out[c * out_step] = value[c] = x[c * step], sum[c] = (S)value[c];
    for (int64_t r = 1; r < b->rows; r++) {
        const T *restrict row = x + r * b->row_step;
        T *restrict to_row = out + r * to->row_step;
        if (op == LAM__REDUCE_OP_SUM)
            for (int c = 0; c < columns; c++) to_row[c * out_step] = FN(advance)(&sum[c], &rest[c], row[c * step]);
        else
            for (int c = 0; c < columns; c++) to_row[c * out_step] = value[c] = FN(fold)(op, value[c], row[c * step]);
    }
}

/* A single column stays in registers; contiguous ones go in vectors; others eight at a time to hide latency. The number
 * of columns is a constant where it is 1 or 8. */
ALWAYS_INLINE void FN(scan_of)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const bool contiguous = b->step == 1 && to->step == 1;
    const int most = contiguous ? SCAN_COLUMNS : 8;
    int columns;
    for (int64_t first = 0; first < b->columns; first += columns) {
        columns = (int)(b->columns - first < most ? b->columns - first : most);
        if (columns == 1) FN(scan_columns)(op, b, to, first, 1, b->step, to->step);
        else if (contiguous) FN(scan_columns)(op, b, to, first, columns, 1, 1);
        else if (columns == 8) FN(scan_columns)(op, b, to, first, 8, b->step, to->step);
        else FN(scan_columns)(op, b, to, first, columns, b->step, to->step);
    }
}

static void FN(scan)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(scan_of)(LAM__REDUCE_OP_SUM, b, to); return;
    case LAM__REDUCE_OP_PROD: FN(scan_of)(LAM__REDUCE_OP_PROD, b, to); return;
    case LAM__REDUCE_OP_MAX: FN(scan_of)(LAM__REDUCE_OP_MAX, b, to); return;
    case LAM__REDUCE_OP_MIN: FN(scan_of)(LAM__REDUCE_OP_MIN, b, to); return;
    }
}

#undef FN
#undef EXPAND
#undef PASTE
#undef T
#undef U
#undef S
#undef M
#undef NAME
#undef COMPENSATED
#undef ORDERED
#undef FLOATING
#undef LIST
#undef SPREADS
#undef H
