/* The inner loops of one element type, included by reduce_simd.c, reduce_simd_integers.c and reduce_simd_complex.c with
 * - T, U, S: the element; the type of its sums and products (unsigned for integers: they wrap); that of running sums
 * - LANE: the lane of a vector: T, or a part of it
 * - M: a signed integer of its size, the lanes of a comparison; LIST: the lanes of a vector, which bytes have not
 * - NAME: the suffix; PARTS: LANE in a T; of two sums and products are all there is (reduce_complex.h)
 * - COMPENSATED 1: running sums carry their rounding error
 * - ORDERED 1: vectors have the instructions of reduce_vectors.h that choose (greater_NAME, ...)
 * - FLOATING 1: contiguous rows are those of reduce_rows.h, which needs SPREADS (1: a vector may hold several rows)
 * - H (bytes and i32): what the sums of 256 rows fit into
 * - E, WITHIN (only sums of what becomes T while it is read): what lies in memory; the suffix of loops for T as it is
 *
 * The operation is always a constant after inlining. Rows are summed in groups of 64 bytes, one or more of the
 * machine's vectors, so that a result depends on nothing but the number of elements and whether they are contiguous;
 * integers wrap and may meet in any order. No include guard: that is the point. Leaves are at most LAM__REDUCE_LEAF
 * elements or LAM__REDUCE_STRIDED_LEAF rows long, but of integers: what calls them joins leaves pairwise, so the error
 * of a sum of n elements grows with log(n). */
#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)
#ifdef E
#define ROUNDS     1
#define OPERATIONS 1
#else
#define ROUNDS     0
#define OPERATIONS (PARTS == 2 ? 2 : 4)
#define E          T
#define WITHIN     NAME
#endif
#define NEAR(name) EXPAND(name, WITHIN)

typedef LANE FN(vec) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(LANE)), may_alias));
typedef M FN(mask) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(LANE)), may_alias));

/* ---- the operations ------------------------------------------------------------------------------------------ */

#if PARTS == 2
#include "lib/kernels/reduce_complex.h"
#else
typedef U FN(uvec) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

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
#elif !FLOATING && INTEGERS_ORDERED
    if (op == LAM__REDUCE_OP_MAX || op == LAM__REDUCE_OP_MIN) {
        const U64 c = (U64)*a, d = (U64)*b;
        *a = (FN(vec))(op == LAM__REDUCE_OP_MAX ? FN(greater)(c, d) : FN(less)(c, d));
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
#endif

/* Whether few columns have an order of their own. Factors that are complex numbers are filled up by nothing, so their
 * columns have not. */
ALWAYS_INLINE bool FN(is_run)(lam__reduce_op op, const lam__reduce_block *b) {
    return (PARTS == 1 || op == LAM__REDUCE_OP_SUM) && lam__reduce_is_run(b);
}

/* `count` elements, a power of two up to 8, as a balanced tree. Written out for each count, because compilers make
 * vectors of columns of trees, not of trees. s: elements from one to the next. */
ALWAYS_INLINE T FN(tree)(lam__reduce_op op, int count, const E *x, int64_t s) {
    if (count == 1) return x[0];
    T a = FN(fold)(op, x[0], x[s]);
    if (count == 2) return a;
    T b = FN(fold)(op, x[2 * s], x[3 * s]);
    if (count == 4) return FN(fold)(op, a, b);
    T c = FN(fold)(op, x[4 * s], x[5 * s]), d = FN(fold)(op, x[6 * s], x[7 * s]);
    return FN(fold)(op, FN(fold)(op, a, b), FN(fold)(op, c, d));
}

/* ---- leaves -------------------------------------------------------------------------------------------------- */

/* The rows of a column from `from` on, of which those before are folded in r: eight at a time, then four, two, one. */
ALWAYS_INLINE T FN(column_from)(lam__reduce_op op, T r, int64_t from, int64_t rows, const E *x, int64_t s) {
    int64_t i = from;
    for (; rows - i >= 8; i += 8) r = FN(fold)(op, r, FN(tree)(op, 8, x + i * s, s));
    if (rows - i >= 4) r = FN(fold)(op, r, FN(tree)(op, 4, x + i * s, s)), i += 4;
    if (rows - i >= 2) r = FN(fold)(op, r, FN(tree)(op, 2, x + i * s, s)), i += 2;
    return i < rows ? FN(fold)(op, r, x[i * s]) : r;
}

/* One column. KEEP IN STEP: leaf order (by_rows). Whether a column is summed alone or beside others, its elements meet
 * in the same order. */
ALWAYS_INLINE T FN(column)(lam__reduce_op op, int64_t rows, const E *x, int64_t s) {
    if (rows >= 8) return FN(column_from)(op, FN(tree)(op, 8, x, s), 8, rows, x, s);
    if (rows >= 4) return FN(column_from)(op, FN(tree)(op, 4, x, s), 4, rows, x, s);
    if (rows >= 2) return FN(column_from)(op, FN(tree)(op, 2, x, s), 2, rows, x, s);
    return x[0];
}

/* ---- columns in vectors --------------------------------------------------------------------------------------- */

/* What lies in memory, as a vector of T. */
ALWAYS_INLINE FN(vec) FN(taken)(U64 v) {
#if ROUNDS
    return (FN(vec))rounded(v);
#else
    return (FN(vec))v;
#endif
}

ALWAYS_INLINE FN(vec) FN(at)(const E *x) {
    return FN(taken)((U64) * (const word_vec *)(const void *)x);
}

/* A vector of columns, or of those of layers that lie beside each other in it. */
ALWAYS_INLINE FN(vec) FN(lanes_at)(beside p, const E *x) {
    if (p.count == 1) return FN(at)(x);
    const bool words = PARTS == 2 && p.count == LANES64;
    return FN(taken)(words ? words_beside((const char *)x, p.step) : rows_beside(p.count, x, p.step));
}

/* Two, four, eight rows of a vector of columns as a balanced tree: that of FN(tree). */
ALWAYS_INLINE FN(vec) FN(two_lanes)(lam__reduce_op op, beside p, const E *x, int64_t s) {
    FN(vec) v = FN(lanes_at)(p, x);
    const FN(vec) more = FN(lanes_at)(p, x + s);
    FN(fold_lanes)(op, &v, &more);
    return v;
}

ALWAYS_INLINE FN(vec) FN(four_lanes)(lam__reduce_op op, beside p, const E *x, int64_t s) {
    FN(vec) v = FN(two_lanes)(op, p, x, s), more = FN(two_lanes)(op, p, x + 2 * s, s);
    FN(fold_lanes)(op, &v, &more);
    return v;
}

ALWAYS_INLINE FN(vec) FN(eight_lanes)(lam__reduce_op op, beside p, const E *x, int64_t s) {
    FN(vec) v = FN(four_lanes)(op, p, x, s), more = FN(four_lanes)(op, p, x + 4 * s, s);
    FN(fold_lanes)(op, &v, &more);
    return v;
}

/* Up to seven rows more. */
ALWAYS_INLINE FN(vec) FN(rest_lanes)(lam__reduce_op op, beside p, FN(vec) v, int64_t rows, const E *x, int64_t s) {
    FN(vec) more;
    if (rows & 4) more = FN(four_lanes)(op, p, x, s), FN(fold_lanes)(op, &v, &more), x += 4 * s;
    if (rows & 2) more = FN(two_lanes)(op, p, x, s), FN(fold_lanes)(op, &v, &more), x += 2 * s;
    if (rows & 1) more = FN(lanes_at)(p, x), FN(fold_lanes)(op, &v, &more);
    return v;
}

/* A vector of columns. KEEP IN STEP: leaf order (column). */
ALWAYS_INLINE FN(vec) FN(column_lanes)(lam__reduce_op op, beside p, int64_t rows, const E *x, int64_t s) {
    FN(vec) v, more;
    int64_t i = 8;
    if (rows < 8) {
        i = rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
        v = i == 4 ? FN(four_lanes)(op, p, x, s) : i == 2 ? FN(two_lanes)(op, p, x, s) : FN(lanes_at)(p, x);
    } else v = FN(eight_lanes)(op, p, x, s);
    for (; rows - i >= 8; i += 8) more = FN(eight_lanes)(op, p, x + i * s, s), FN(fold_lanes)(op, &v, &more);
    return FN(rest_lanes)(op, p, v, rows - i, x + i * s, s);
}

/* What becomes of a vector of columns: `count` rows, fewer than eight or a multiple of that, beside what is in `out`
 * unless they are the first. */
ALWAYS_INLINE FN(vec) FN(passed)(lam__reduce_op op, int64_t count, bool first, const E *x, int64_t s, const T *out) {
    FN(vec) v, more;
    if (first) v = FN(eight_lanes)(op, alone, x, s);
    else memcpy(&v, out, sizeof v);
    if (count < 8) return FN(rest_lanes)(op, alone, v, count, x, s);
    for (int64_t i = first ? 8 : 0; i < count; i += 8) {
        more = FN(eight_lanes)(op, alone, x + i * s, s);
        FN(fold_lanes)(op, &v, &more);
    }
    return v;
}

/* Adds `count` rows, eight at a time, to every column; x and out never overlap. The last vector begins earlier, so it
 * is made before the others and written after them. */
ALWAYS_INLINE void FN(pass)(lam__reduce_op op, int64_t count, bool first, const lam__reduce_block *b, const E *x,
                            T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t end = b->columns - LANES, s = b->row_step;
    const FN(vec) last = FN(passed)(op, count, first, x + end, s, out + end);
    for (int64_t c = 0; c < end; c += LANES) {
        const FN(vec) v = FN(passed)(op, count, first, x + c, s, out + c);
        memcpy(out + c, &v, sizeof v);
    }
    memcpy(out + end, &last, sizeof last);
}

#include "lib/kernels/reduce_columns.h"

#if defined(LIST) && PARTS == 1
/* Rows of three elements side by side: three vectors hold as many as one has lanes, and become one of the first, one of
 * the second and one of the third elements. */
ALWAYS_INLINE void FN(turn_triples)(const E *x, FN(vec) * v) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const FN(vec) a = FN(at)(x), b = FN(at)(x + LANES), c = FN(at)(x + 2 * LANES);
    v[0] = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 0)), c, LIST(SECOND, 0));
    v[1] = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 1)), c, LIST(SECOND, 1));
    v[2] = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 2)), c, LIST(SECOND, 2));
}

/* At least as many rows as a vector has lanes; the last ones overlap those before. Those in memory are brought, some at
 * a time. */
ALWAYS_INLINE void FN(each_triple)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T), SOME = ASK_BYTES / VECTOR_BYTES / 3 * LANES };
    const bool brought = BRINGS_ROWS && b->far == LAM__REDUCE_MEMORY;
    for (int64_t next = 0; next < b->columns; next += LANES) {
        const int64_t left = b->columns - next, c = LANES <= left ? next : b->columns - LANES;
        const E *x = (const E *)b->x + 3 * c;
        FN(vec) v[3];
        if (brought && next % SOME == 0) FN(touch)(3 * (left < SOME ? left : SOME), x);
        for (int64_t i = 0; !brought && b->far && i < 3 * VECTOR_BYTES; i += 64)
            __builtin_prefetch((const char *)x + AHEAD_BYTES + i);
        FN(turn_triples)(x, v);
        FN(fold_lanes)(op, &v[0], &v[1]);
        FN(fold_lanes)(op, &v[0], &v[2]);
        memcpy(out + c, v, sizeof v[0]);
    }
}
#endif

#if FLOATING
#include "lib/kernels/reduce_rows.h"
#else
#include "lib/kernels/reduce_integers.h"
#endif

/* A contiguous row by its lanes; few columns without gaps as one run; columns side by side in vectors, also where their
 * step is not 1 but smaller than that of the rows; else column by column. The choice is part of the order of a sum, so
 * it looks at the shape of the block and at nothing else. */
ALWAYS_INLINE void FN(leaf_of)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const E *x = b->x;
#if FLOATING
    if (b->row_step == 1 && b->rows >= 2) FN(leaf_rows)(op, b, out);
    else if (FN(is_run)(op, b) && lam__reduce_is_few(b)) FN(leaf_few)(op, b, out);
    else if (FN(is_run)(op, b)) FN(leaf_odd)(op, b, out);
#else
    if (FN(are_odd_words)(b)) FN(leaf_words)(op, b, out);
    else if (b->row_step == 1 && b->rows >= 2) FN(leaf_rows)(op, b, out);
    else if (lam__reduce_is_narrow(b, FN(WIDE))) FN(leaf_few)(op, b, out);
#endif
    else if (b->step == 1 && b->columns >= 2) FN(by_rows)(op, b, out);
    else if (b->columns >= 8 && b->rows <= APART_ROWS && llabs(b->step) < llabs(b->row_step))
        FN(by_rows_apart)(op, b, out);
    else if (b->row_step == 1)
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, 1);
    else
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(column)(op, b->rows, x + c * b->step, b->row_step);
}

#include "lib/kernels/reduce_layers.h"

/* Layers in memory each of which is a run of a few columns wait for it if nobody asks, those of two or four columns
 * only if they are long. */
ALWAYS_INLINE void FN(all_layers)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const bool is_long = b->rows * b->columns * (int64_t)sizeof(T) >= ASKED_BYTES;
    const bool run = lam__reduce_is_odd(b) || (is_long && lam__reduce_is_few(b));
    const bool ask = FLOATING && b->far && FN(are_layers)(b) && run;
    for (int64_t k = FN(by_layers)(op, b, out); k < b->layers; k++) {
        lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        if (ask) one.far = LAM__REDUCE_NEAR, FN(bring_layers)(1, b, one.x);
        FN(leaf_of)(op, &one, out + k * b->columns);
    }
}

/* One text for each operation, in which it is a constant. */
static void FN(leaf)(lam__reduce_op op, const lam__reduce_block *b, void *out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(all_layers)(LAM__REDUCE_OP_SUM, b, out); return;
#if OPERATIONS > 1
    case LAM__REDUCE_OP_PROD: FN(all_layers)(LAM__REDUCE_OP_PROD, b, out); return;
#endif
#if OPERATIONS > 2
    case LAM__REDUCE_OP_MAX: FN(all_layers)(LAM__REDUCE_OP_MAX, b, out); return;
    case LAM__REDUCE_OP_MIN: FN(all_layers)(LAM__REDUCE_OP_MIN, b, out); return;
#endif
    default: return;
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

#if !ROUNDS
/* The left part comes first in the tree, which decides between a NaN and another. */
ALWAYS_INLINE void FN(merge_of)(lam__reduce_op op, int64_t columns, T *restrict out, const T *restrict other) {
    for (int64_t c = 0; c < columns; c++) out[c] = FN(fold)(op, out[c], other[c]);
}

static void FN(merge)(lam__reduce_op op, int64_t columns, void *out, const void *other) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: FN(merge_of)(LAM__REDUCE_OP_SUM, columns, out, other); return;
    case LAM__REDUCE_OP_PROD: FN(merge_of)(LAM__REDUCE_OP_PROD, columns, out, other); return;
#if OPERATIONS > 2
    case LAM__REDUCE_OP_MAX: FN(merge_of)(LAM__REDUCE_OP_MAX, columns, out, other); return;
    case LAM__REDUCE_OP_MIN: FN(merge_of)(LAM__REDUCE_OP_MIN, columns, out, other); return;
#endif
    default: return;
    }
}

#endif

#if OPERATIONS == 4
#include "lib/kernels/reduce_places.h"
#include "lib/kernels/reduce_running.h"
#endif

#undef FN
#undef EXPAND
#undef PASTE
#undef T
#undef U
#undef S
#undef E
#undef WITHIN
#undef NEAR
#undef ROUNDS
#undef OPERATIONS
#undef M
#undef LANE
#undef PARTS
#undef NAME
#undef COMPENSATED
#undef ORDERED
#undef FLOATING
#undef LIST
#undef VECTOR
#undef SPREADS
#undef H
