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

/* Asks for the eight rows after those from x on, where rows are so short that machines do not see them coming. */
ALWAYS_INLINE void FN(fetch)(const lam__reduce_block *b, int64_t step, const T *x) {
    const int64_t bytes = b->columns * step * (int64_t)sizeof(T);
    if (!b->far || bytes > FETCH_BYTES) return;
    for (int k = 8; k < 16; k++)
        for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch((const char *)(x + k * b->row_step) + i);
}

/* All columns side by side. KEEP IN STEP: leaf order (column). A pass over eight rows reads and writes each result
 * once. */
ALWAYS_INLINE void FN(by_rows)(lam__reduce_op op, const lam__reduce_block *b, int64_t step, T *restrict out) {
    int64_t i = 0;
    for (; b->rows - i >= 8; i += 8) {
        FN(fetch)(b, step, (const T *)b->x + i * b->row_step);
        FN(pass)(op, 8, i == 0, b, i, step, out);
    }
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
#if FLOATING
    if (b->row_step == 1 && b->rows >= 2) FN(leaf_rows)(op, b, out);
    else if (lam__reduce_is_few(b)) FN(leaf_few)(op, b, out);
    else if (lam__reduce_is_odd(b)) FN(leaf_odd)(op, b, out);
#else
    if (FN(are_odd_words)(b)) FN(leaf_words)(op, b, out);
    else if (b->row_step == 1 && b->rows >= 2) FN(leaf_rows)(op, b, out);
    else if (lam__reduce_is_narrow(b, WIDE)) FN(leaf_few)(op, b, out);
#endif
    else if (b->step == 1 && b->columns >= 8) FN(by_rows)(op, b, 1, out);
    else if (b->columns >= 8 && llabs(b->step) < llabs(b->row_step)) FN(by_rows)(op, b, b->step, out);
    else if (b->row_step == 1)
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, 1);
    else
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, b->row_step);
}

#include "lib/kernels/reduce_layers.h"

ALWAYS_INLINE void FN(all_layers)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    for (int64_t k = FN(by_layers)(op, b, out); k < b->layers; k++) {
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        FN(leaf_of)(op, &one, out + k * b->columns);
    }
}

/* One text for each operation, in which it is a constant. */
static void FN(leaf)(lam__reduce_op op, const lam__reduce_block *b, void *out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(all_layers)(LAM__REDUCE_OP_SUM, b, out); return;
    case LAM__REDUCE_OP_PROD: FN(all_layers)(LAM__REDUCE_OP_PROD, b, out); return;
    case LAM__REDUCE_OP_MAX: FN(all_layers)(LAM__REDUCE_OP_MAX, b, out); return;
    case LAM__REDUCE_OP_MIN: FN(all_layers)(LAM__REDUCE_OP_MIN, b, out); return;
    }
}

#ifdef H
/* The sum of each column, which does not wrap before that of i64 does. */
static void FN(tally)(const lam__reduce_block *b, int64_t *restrict out) {
    for (int64_t k = FN(tally_layers)(b, out); k < b->layers; k++) {
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        FN(tally_leaf)(&one, out + k * b->columns);
    }
}
#endif

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

#include "lib/kernels/reduce_places.h"
#include "lib/kernels/reduce_running.h"

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
#undef VECTOR
#undef SPREADS
#undef H
