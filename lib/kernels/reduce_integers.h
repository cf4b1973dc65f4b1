/* Rows of contiguous integers, part of reduce_type.h. Integers have no rounding, so elements may meet in any order and
 * all instruction sets give the same bits whatever they do: rests are filled up with what changes nothing, rows of few
 * bytes are words of eight, as many of which lie in a vector as it has room for. No include guard: that is the
 * point. */

/* What a fold with any element leaves as it is. */
ALWAYS_INLINE T FN(nothing)(lam__reduce_op op) {
    const T least = (T)-1 < 0 ? (T)((U)1 << (8 * sizeof(T) - 1)) : 0;
    switch (op) {
    case LAM__REDUCE_OP_SUM: return 0;
    case LAM__REDUCE_OP_PROD: return 1;
    case LAM__REDUCE_OP_MAX: return least;
    default: return (T)~least;
    }
}

/* Every word of v folded with that `bits` above it, of which lanes of so many remain. */
ALWAYS_INLINE void FN(fold_above)(lam__reduce_op op, int bits, FN(vec) * v) {
    const FN(vec) above = (FN(vec))((U64)*v >> bits);
    FN(fold_lanes)(op, v, &above);
}

/* The lanes of each word become its lowest one; what the others hold is of no use. */
ALWAYS_INLINE void FN(within_words)(lam__reduce_op op, int word, FN(vec) * v) {
    for (int bits = word / 2; bits >= (int)(8 * sizeof(T)); bits /= 2) FN(fold_above)(op, bits, v);
}

/* A vector in halves, until its first `bytes`, whole words, hold what all of it did. */
ALWAYS_INLINE void FN(fold_halves)(lam__reduce_op op, int64_t bytes, FN(vec) * v) {
    FN(vec) other;
#if VECTOR_BYTES >= 64
    if (bytes <= 32) {
        other = (FN(vec))__builtin_shufflevector((U64)*v, (U64)*v, LIST64(WORD_BEYOND, 4));
        FN(fold_lanes)(op, v, &other);
    }
#endif
#if VECTOR_BYTES >= 32
    if (bytes <= 16) {
        other = (FN(vec))__builtin_shufflevector((U64)*v, (U64)*v, LIST64(WORD_BEYOND, 2));
        FN(fold_lanes)(op, v, &other);
    }
#endif
    if (bytes <= 8) {
        other = (FN(vec))__builtin_shufflevector((U64)*v, (U64)*v, LIST64(WORD_BEYOND, 1));
        FN(fold_lanes)(op, v, &other);
    }
}

/* The lanes of one group, by whole words as long as there are several. */
ALWAYS_INLINE T FN(across)(lam__reduce_op op, const FN(vec) * group) {
    FN(vec) v = group[0];
    for (int k = 1; k < GROUP_BYTES / VECTOR_BYTES; k++) FN(fold_lanes)(op, &v, &group[k]);
    FN(fold_halves)(op, 8, &v);
    FN(within_words)(op, 64, &v);
    return (T)((U64)v)[0];
}

/* n >= 1 contiguous elements: four groups at a time, then one, then the rest, filled up. Counts are in vectors. */
ALWAYS_INLINE T FN(row)(lam__reduce_op op, int64_t n, const T *x) {
    enum { LANES = GROUP_BYTES / sizeof(T), GROUP = GROUP_BYTES / VECTOR_BYTES, SIDE = 4 * GROUP };
    const FN(vec) *v = (const FN(vec) *)(const void *)x;
    const int64_t count = n / LANES * GROUP, rest = n % LANES;
    int64_t i = 0;
    FN(vec) sum[SIDE];
    for (int k = 0; k < GROUP; k++) sum[k] = FN(nothing)(op) - (FN(vec)){0};
    if (count >= SIDE) {
        for (int k = 0; k < SIDE; k++) sum[k] = v[k];
        for (i = SIDE; i + SIDE <= count; i += SIDE)
            for (int k = 0; k < SIDE; k++) FN(fold_lanes)(op, sum + k, v + i + k);
        for (int half = SIDE / 2; half >= GROUP; half /= 2)
            for (int k = 0; k < half; k++) FN(fold_lanes)(op, &sum[k], &sum[k + half]);
    }
    for (; i < count; i += GROUP)
        for (int k = 0; k < GROUP; k++) FN(fold_lanes)(op, &sum[k], v + i + k);
    if (rest) {
        FN(vec) last[GROUP];
        for (int k = 0; k < GROUP; k++) last[k] = FN(nothing)(op) - (FN(vec)){0};
        memcpy(last, x + n - rest, (size_t)rest * sizeof(T));
        for (int k = 0; k < GROUP; k++) FN(fold_lanes)(op, &sum[k], &last[k]);
    }
    return FN(across)(op, sum);
}

/* ---- many rows ----------------------------------------------------------------------------------------------- */

/* The words of a and then of b, neighbours folded. */
ALWAYS_INLINE FN(vec) FN(halve)(lam__reduce_op op, FN(vec) a, FN(vec) b) {
    FN(vec) even = (FN(vec))__builtin_shufflevector((U64)a, (U64)b, LIST64(NEIGHBOUR, 0)), odd;
    odd = (FN(vec))__builtin_shufflevector((U64)a, (U64)b, LIST64(NEIGHBOUR, 1));
    FN(fold_lanes)(op, &even, &odd);
    return even;
}

/* How rows lie in vectors: in as many words, up to those of a vector, as `keep` tells, which are what their last vector
 * has of them; one behind the other if dense. */
typedef struct FN(rows) {
    const T *x;
    int64_t n, step;
    U64 keep;
    bool dense;
} FN(rows);

/* Vector k of rows that take `words` words each; a row of more than a vector is folded. What fills up a row is read
 * from beyond it. */
ALWAYS_INLINE FN(vec) FN(piece)(lam__reduce_op op, int words, const FN(rows) * r, int k) {
    enum { LANES = VECTOR_BYTES / sizeof(T), ITEM = sizeof(T) };
    const U64 fill = (U64)(FN(nothing)(op) - (FN(vec)){0});
    if (r->dense) return *(const FN(vec) *)(const void *)(r->x + k * LANES);
    const T *row = r->x + k * (LANES64 / words) * r->step;
    if (words < LANES64)
        return (FN(vec))((rows_beside(LANES64 / words, row, r->step * ITEM) & r->keep) | (fill & ~r->keep));
    const int64_t whole = r->n & -LANES;
    FN(vec) v = whole ? *(const FN(vec) *)(const void *)row : (FN(vec))fill, last;
    for (int64_t i = LANES; i < whole; i += LANES) FN(fold_lanes)(op, &v, (const FN(vec) *)(const void *)(row + i));
    if (whole == r->n) return v;
    last = (FN(vec))(((U64) * (const FN(vec) *)(const void *)(row + whole) & r->keep) | (fill & ~r->keep));
    FN(fold_lanes)(op, &v, &last);
    return v;
}

ALWAYS_INLINE FN(vec) FN(fold_2)(lam__reduce_op op, int words, const FN(rows) * r, int k) {
    const FN(vec) first = FN(piece)(op, words, r, k); /* before the next, which lies behind it */
    return FN(halve)(op, first, FN(piece)(op, words, r, k + 1));
}

ALWAYS_INLINE FN(vec) FN(fold_4)(lam__reduce_op op, int words, const FN(rows) * r, int k) {
    const FN(vec) first = FN(fold_2)(op, words, r, k);
    return FN(halve)(op, first, FN(fold_2)(op, words, r, k + 2));
}

/* As many rows as there are words in a vector, each of which takes `words` of them, a constant, and at most those of a
 * vector: in halves, until each row is one word. */
ALWAYS_INLINE FN(vec) FN(fold_words)(lam__reduce_op op, int words, const FN(rows) * r) {
    FN(vec)
    v = words == 1 ? FN(piece)(op, 1, r, 0) : words == 2 ? FN(fold_2)(op, 2, r, 0) : FN(fold_4)(op, words, r, 0);
    if (words == 8) v = FN(halve)(op, v, FN(fold_4)(op, words, r, 4));
    FN(within_words)(op, 64, &v);
    return v;
}

/* The first `count` bytes of each `size` in memory. */
ALWAYS_INLINE U64 FN(first_bytes)(int size, int64_t count) {
    U64 keep = {0};
    for (int i = 0; i < VECTOR_BYTES; i += size) memset((char *)&keep + i, 0xff, (size_t)count);
    return keep;
}

/* Gives how many rows are done; the last are those behind which too little lies. */
ALWAYS_INLINE int64_t FN(each_words)(lam__reduce_op op, int words, bool dense, const lam__reduce_block *b,
                                     T *restrict out) {
    const int64_t item = sizeof(T), over = -b->rows & (8 * words / item - 1);
    const int64_t whole = b->columns - (over + b->step - 1) / b->step;
    FN(rows) r = {NULL, b->rows, b->step, FN(first_bytes)(8 * words, 8 * words - over * item), dense};
    const bool brought = BRINGS_ROWS && b->far == LAM__REDUCE_MEMORY && b->step <= 2 * b->rows;
    int64_t c = 0, there = 0;
    for (; c + LANES64 <= whole; c += LANES64) {
        r.x = (const T *)b->x + c * b->step;
        if (brought && c >= there) there = FN(bring_rows)(b, c);
        for (int64_t i = 0; !brought && b->far && i < LANES64 * b->step * item; i += 64)
            __builtin_prefetch((const char *)r.x + AHEAD_BYTES + i);
        FN(put_words)((U64)FN(fold_words)(op, words, &r), out + c);
    }
    return c;
}

/* Rows that do not overlap several at a time, unless they are long. Products of what is narrower than i64, which are
 * none of their own, one by one: each operation here is a text of its own. */
ALWAYS_INLINE void FN(leaf_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t bytes = b->rows * (int64_t)sizeof(T);
    const bool short_rows = bytes <= (b->far ? LONG_BYTES / 2 : LONG_BYTES) && b->step >= b->rows;
    const bool wanted = op != LAM__REDUCE_OP_PROD || sizeof(T) == 8;
    const bool many = wanted && short_rows && b->columns >= LANES64;
    const bool dense = many && b->step == b->rows;
    int64_t c = 0;
#ifdef LIST
    if (dense && b->rows == 3 && b->columns >= (int64_t)(VECTOR_BYTES / sizeof(T))) {
        FN(each_triple)(op, b, out);
        return;
    }
#endif
    if (dense && bytes == 8) c = FN(each_words)(op, 1, true, b, out);
    else if (LANES64 > 2 && dense && bytes == 16) c = FN(each_words)(op, 2, true, b, out);
    else if (LANES64 > 4 && dense && bytes == 32) c = FN(each_words)(op, 4, true, b, out);
    else if (LANES64 > 2 && many && bytes <= 16) c = FN(each_words)(op, 2, false, b, out);
    else if (LANES64 > 4 && many && bytes <= 32) c = FN(each_words)(op, 4, false, b, out);
    else if (many) c = FN(each_words)(op, LANES64, false, b, out);
    for (; c < b->columns; c++) out[c] = FN(row)(op, b->rows, (const T *)b->x + c * b->step);
}

#include "lib/kernels/reduce_bytes.h"

/* ---- few columns --------------------------------------------------------------------------------------------- */

/* Elements of a wide row. */
enum { FN(WIDE) = WIDE_BYTES / sizeof(T) };

/* Few columns without gaps: several rows of them are one wide row, so that the loop over columns is long. */
ALWAYS_INLINE void FN(leaf_few)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    T wide[FN(WIDE)], rest[FN(WIDE)];
    const int64_t n = b->columns, folded = FN(WIDE) / n, whole = b->rows / folded, more = b->rows - whole * folded;
    const lam__reduce_block outer = lam__reduce_side(b->x, n * folded, whole, b->far);
    const lam__reduce_block inner = lam__reduce_side(wide, n, folded, LAM__REDUCE_NEAR);
    const lam__reduce_block end = lam__reduce_side((const T *)b->x + whole * folded * n, n, more, LAM__REDUCE_NEAR);
    FN(by_rows)(op, &outer, wide);
    FN(by_rows)(op, &inner, out);
    if (more > 0) FN(by_rows)(op, &end, rest);
    for (int64_t c = 0; c < n && more > 0; c++) out[c] = FN(fold)(op, out[c], rest[c]);
}

/* ---- sums in i64 --------------------------------------------------------------------------------------------- */

#ifdef H
/* Contiguous elements. Of i32 two to a word, without a sign: sums of words and of their higher halves give the rest. */
ALWAYS_INLINE int64_t FN(tally_row)(int64_t n, const T *x) {
    int64_t i = 0;
    uint64_t sum = 0;
    if (sizeof(T) == 1) {
        U64 words = {0}, last = {0};
        for (; i + VECTOR_BYTES <= n; i += VECTOR_BYTES)
            words += sums_of_bytes((U64) * (const FN(vec) *)(const void *)(x + i));
        memcpy(&last, x + i, (size_t)(n - i));
        words += sums_of_bytes(last);
        for (int k = 0; k < LANES64; k++) sum += words[k];
        return (int64_t)sum;
    }
    U64 both = {0}, high = {0};
    for (; i + 2 * LANES64 <= n; i += 2 * LANES64) {
        const U64 v = (U64) * (const FN(vec) *)(const void *)(x + i) ^ TWO_SIGNS;
        both += v, high += v >> 32;
    }
    both += high - (high << 32);
    for (int k = 0; k < LANES64; k++) sum += both[k];
    sum -= (uint64_t)i << 31;
    for (; i < n; i++) sum += (uint64_t)x[i];
    return (int64_t)sum;
}

/* Rows of bytes as words, up to number `last`, a constant. Gives how many are done. */
ALWAYS_INLINE int64_t FN(tally_words_to)(int last, const FN(bytes) * r, const char *x, int64_t *restrict out) {
    int64_t c = 0;
    for (; c + LANES64 <= r->whole; c += LANES64) {
        U64 word[4];
        FN(words)(last, r, x + c * r->step, word);
        U64 sums = sums_of_bytes(word[last] & r->keep);
        UNROLLED for (int k = 0; k < last; k++) sums += sums_of_bytes(word[k]);
        memcpy(out + c, &sums, sizeof sums);
    }
    return c;
}

ALWAYS_INLINE void FN(tally_words)(const lam__reduce_block *b, int64_t *restrict out) {
    const FN(bytes) r = FN(bytes_of)(b);
    int64_t c;
    if (r.last == 0) c = FN(tally_words_to)(0, &r, b->x, out);
    else if (r.last == 1) c = FN(tally_words_to)(1, &r, b->x, out);
    else if (r.last == 2) c = FN(tally_words_to)(2, &r, b->x, out);
    else c = FN(tally_words_to)(3, &r, b->x, out);
    for (; c < b->columns; c++) out[c] = FN(tally_row)(r.n, (const T *)b->x + c * r.step);
}

/* Rows whose sums are made side by side in i64; `size` vectors give one of results. */
typedef struct FN(tally_of) {
    const T *x;
    int64_t rows, step;
    U64 keep; /* of the last vector of a row */
} FN(tally_of);

/* Elements of a row that are read at once: a vector of bytes, or as many as there are words. */
enum { FN(TAKEN) = sizeof(T) == 1 ? VECTOR_BYTES : LANES64 };

/* Row k, summed lane by lane; of dense rows shorter than a vector, vector k. */
ALWAYS_INLINE U64 FN(tally_piece)(int size, const FN(tally_of) * r, int k) {
    enum { TAKEN = FN(TAKEN) };
    if (size < LANES64) return FN(pair_sums)(r->x + k * (int64_t)(VECTOR_BYTES / sizeof(T)), r->keep);
    const T *row = r->x + k * r->step;
    U64 sums = {0};
    int64_t i = 0;
    for (; i + TAKEN < r->rows; i += TAKEN) sums += FN(word_sums)(row + i, ~(U64){0});
    return sums + FN(word_sums)(row + i, r->keep);
}

ALWAYS_INLINE U64 FN(tally_meet)(U64 a, U64 b) {
    return __builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 0)) + __builtin_shufflevector(a, b, LIST64(NEIGHBOUR, 1));
}

/* In the order in which rows lie: arguments of a call would be read from the last to the first. */
ALWAYS_INLINE U64 FN(tally_2)(int size, const FN(tally_of) * r, int k) {
    const U64 first = FN(tally_piece)(size, r, k);
    return FN(tally_meet)(first, FN(tally_piece)(size, r, k + 1));
}

ALWAYS_INLINE U64 FN(tally_4)(int size, const FN(tally_of) * r, int k) {
    const U64 first = FN(tally_2)(size, r, k);
    return FN(tally_meet)(first, FN(tally_2)(size, r, k + 2));
}

/* As many rows as there are words in a vector: in halves, as in fold_words. `size` is a constant. */
ALWAYS_INLINE U64 FN(tally_some)(int size, const FN(tally_of) * r) {
    if (size == 1) return FN(tally_piece)(size, r, 0);
    if (size == 2) return FN(tally_2)(size, r, 0);
    const U64 first = FN(tally_4)(size, r, 0);
    return size == 4 ? first : FN(tally_meet)(first, FN(tally_4)(size, r, 4));
}

/* Rows that do not overlap. Gives how many are done. */
ALWAYS_INLINE int64_t FN(tally_rows)(int size, const lam__reduce_block *b, int64_t *restrict out) {
    enum { TAKEN = FN(TAKEN) };
    const int64_t over = size < LANES64 ? 0 : -b->rows & (TAKEN - 1), beyond = (over + b->step - 1) / b->step;
    FN(tally_of) r = {NULL, b->rows, b->step, ~(U64){0}};
    if (over) r.keep = FN(first_bytes)(VECTOR_BYTES, (TAKEN - over) * (VECTOR_BYTES / TAKEN));
    int64_t c = 0;
    for (; c + LANES64 <= b->columns - beyond; c += LANES64) {
        r.x = (const T *)b->x + c * b->step;
        const U64 sums = FN(tally_some)(size, &r);
        memcpy(out + c, &sums, sizeof sums);
    }
    return c;
}

/* Columns are added in lanes of H: as many of them as a vector holds. */
typedef H FN(wide) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* `count` rows of a vector of columns, added to their sums. */
ALWAYS_INLINE FN(wide) FN(tally_lanes)(int64_t count, const T *x, int64_t s, const H *sums) {
    FN(wide) v;
    memcpy(&v, sums, sizeof v);
    for (int64_t k = 0; k < count; k++) v += (FN(wide))FN(lanes)(x + k * s);
    return v;
}

/* The same of n columns: as in pass (reduce_type.h), or of one vector, whatever their number. */
ALWAYS_INLINE void FN(tally_pass)(int64_t count, const T *x, int64_t s, int64_t n, H *restrict sums) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    const int64_t end = n > LANES ? n - LANES : 0;
    const FN(wide) last = FN(tally_lanes)(count, x + end, s, sums + end);
    for (int64_t c = 0; c < end; c += LANES) {
        const FN(wide) v = FN(tally_lanes)(count, x + c, s, sums + c);
        memcpy(sums + c, &v, sizeof v);
    }
    memcpy(sums + end, &last, sizeof last);
}

/* Rows of columns side by side, as far as vectors may read: of fewer columns than lanes the last ones are left. Gives
 * how many are done. */
ALWAYS_INLINE int64_t FN(tally_dense_rows)(const lam__reduce_block *b, H *restrict sums) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    const int64_t n = b->columns, s = b->row_step, beyond = (b->rows - 1) * s + n - LANES;
    const int64_t fit = n >= LANES ? b->rows : s > 0 && beyond >= 0 ? beyond / s + 1 : 0;
    const int64_t most = FN(brought_rows)(b);
    const T *x = b->x;
    int64_t r = 0;
    for (int64_t some; r < fit; r += some) {
        some = fit - r < most ? fit - r : most;
        const T *row = x + r * s;
        FN(bring)(b, row, some);
        int64_t k = 0;
        for (; k + 8 <= some; k += 8) FN(tally_pass)(8, row + k * s, s, n, sums);
        if (k < some) FN(tally_pass)(some - k, row + k * s, s, n, sums);
    }
    return fit;
}

/* Any columns, as many rows at once as an H has room for. */
ALWAYS_INLINE void FN(tally_columns)(const lam__reduce_block *b, int64_t *restrict out) {
    enum { MOST = TALLY_COLUMNS, ROOM = 256, LANES = VECTOR_BYTES / sizeof(H) };
    lam__reduce_block some = *b;
    H sums[MOST + LANES];
    for (int64_t c = 0; c < b->columns; c += MOST)
        for (int64_t from = 0; from < b->rows; from += ROOM) {
            const T *x = some.x = (const T *)b->x + c * b->step + from * b->row_step;
            const int64_t n = some.columns = b->columns - c < MOST ? b->columns - c : MOST;
            some.rows = b->rows - from < ROOM ? b->rows - from : ROOM;
            memset(sums, 0, (size_t)(n < LANES ? LANES : n) * sizeof *sums);
            int64_t r = b->step == 1 ? FN(tally_dense_rows)(&some, sums) : 0;
            for (; r < some.rows; r++)
                for (int64_t i = 0; i < n; i++) sums[i] = (H)(sums[i] + (H)x[i * b->step + r * b->row_step]);
            for (int64_t i = 0; i < n; i++) out[c + i] = (from > 0 ? out[c + i] : 0) + (int64_t)sums[i];
        }
}

/* Few columns as in leaf_few. */
ALWAYS_INLINE void FN(tally_few)(const lam__reduce_block *b, int64_t *restrict out) {
    int64_t wide[FN(WIDE)], rest[FN(WIDE)];
    const int64_t n = b->columns, folded = FN(WIDE) / n, whole = b->rows / folded, more = b->rows - whole * folded;
    const lam__reduce_block outer = lam__reduce_side(b->x, n * folded, whole, b->far);
    const lam__reduce_block end = lam__reduce_side((const T *)b->x + whole * folded * n, n, more, LAM__REDUCE_NEAR);
    FN(tally_columns)(&outer, wide);
    FN(tally_columns)(&end, rest);
    for (int64_t c = 0; c < n; c++) out[c] = more > 0 ? rest[c] : 0;
    for (int64_t k = 0; k < folded; k++)
        for (int64_t c = 0; c < n; c++) out[c] += wide[k * n + c];
}

/* One layer. */
ALWAYS_INLINE void FN(tally_leaf)(const lam__reduce_block *b, int64_t *restrict out) {
    const T *x = b->x;
    const int64_t n = b->rows;
    if (FN(are_words)(b)) FN(tally_words)(b, out);
    else if (b->row_step == 1) {
        int64_t c = 0;
        if (b->step == n && n == 2) c = FN(tally_rows)(1, b, out);
        else if (LANES64 > 2 && b->step == n && n == 4) c = FN(tally_rows)(2, b, out);
        else if (LANES64 > 4 && b->step == n && n == 8) c = FN(tally_rows)(4, b, out);
        else if (b->step >= n && n >= 2 && n * (int64_t)sizeof(T) <= LONG_BYTES) c = FN(tally_rows)(LANES64, b, out);
        for (; c < b->columns; c++) out[c] = FN(tally_row)(n, x + c * b->step);
    } else if (lam__reduce_is_narrow(b, FN(WIDE))) FN(tally_few)(b, out);
    else FN(tally_columns)(b, out);
}
#endif
