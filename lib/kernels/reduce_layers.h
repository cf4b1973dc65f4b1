/* Layers: small blocks one behind the other, part of reduce_type.h. Vectors of columns go down all rows of one and are
 * written as they are. Where columns are fewer than lanes, what lies beyond them belongs to the next layer, on both
 * sides: it is read, goes the same way, and is overwritten. So the last layers are left to loops that stay within
 * theirs. No include guard: that is the point. */

/* Whether layers are small and their columns lie side by side. */
ALWAYS_INLINE bool FN(are_layers)(const lam__reduce_block *b) {
    const bool small = b->rows * b->columns * (int64_t)sizeof(T) <= LAYER_BYTES;
    return b->layers + b->behind > 1 && small && b->step == 1 && b->row_step != 1 && b->layer_step >= b->columns;
}

/* How many layers may be read and written in vectors of so many lanes. */
ALWAYS_INLINE int64_t FN(whole_layers)(const lam__reduce_block *b, int64_t lanes) {
    const int64_t last = b->columns < lanes ? (lanes - 1) / b->columns : 0;
    const int64_t whole = b->layers + b->behind - last;
    return whole < 0 ? 0 : whole < b->layers ? whole : b->layers;
}

#if FLOATING
/* Dense layers of few columns are rows whose elements are blocks of columns. Trees of so many rows are those of columns
 * (KEEP IN STEP: leaf order (column)). Gives how many layers are done. */
ALWAYS_INLINE int64_t FN(by_blocks)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, rows = b->rows, count = b->layers * n / LANES;
    const bool dense = b->row_step == n && b->layer_step == rows * n;
    if (!dense || (rows != 2 && rows != 4 && rows != 8 && rows != 16)) return 0;
    if (LANES > 2 && n == 2) FN(fold_dense)(op, 2, rows, count, b->far, b->x, out);
    else if (LANES > 4 && n == 4) FN(fold_dense)(op, 4, rows, count, b->far, b->x, out);
    else if (LANES > 8 && n == 8) FN(fold_dense)(op, 8, rows, count, b->far, b->x, out);
    else return 0;
    return count * LANES / n;
}
#else
/* Whether a layer is whole vectors without gaps, each of several rows. */
ALWAYS_INLINE bool FN(are_dense)(const lam__reduce_block *b) {
    const int64_t bytes = b->columns * (int64_t)sizeof(T), size = b->rows * bytes;
    const bool halves = bytes == 8 || bytes == 16 || bytes == 32;
    return halves && bytes < VECTOR_BYTES && b->row_step == b->columns && size % VECTOR_BYTES == 0;
}

/* The rows in one vector meet in halves. */
ALWAYS_INLINE FN(vec) FN(dense_lanes)(lam__reduce_op op, const lam__reduce_block *b, const T *x) {
    const FN(vec) *row = (const FN(vec) *)(const void *)x;
    FN(vec) v = row[0];
    const int64_t bytes = b->columns * (int64_t)sizeof(T), count = b->rows * bytes / VECTOR_BYTES;
    for (int64_t k = 1; k < count; k++) FN(fold_lanes)(op, &v, &row[k]);
    FN(fold_halves)(op, bytes, &v);
    return v;
}
#endif

#ifndef LIST
/* One row of as many layers as a vector has words, a word of each: of up to eight bytes, and what is beside them. */
ALWAYS_INLINE FN(vec) FN(row_of_layers)(const lam__reduce_block *b, const T *row) {
    return (FN(vec))words_beside((const char *)row, b->layer_step);
}

/* Layers of up to eight columns of bytes, so many at a time. */
ALWAYS_INLINE int64_t FN(by_words)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->columns, whole = FN(whole_layers)(b, 8);
    int64_t k = 0;
    for (; k + LANES64 <= whole; k += LANES64) {
        const T *x = (const T *)b->x + k * b->layer_step;
        FN(vec) v = FN(row_of_layers)(b, x);
        for (int64_t r = 1; r < b->rows; r++) {
            const FN(vec) more = FN(row_of_layers)(b, x + r * b->row_step);
            FN(fold_lanes)(op, &v, &more);
        }
        for (int i = 0; i < LANES64; i++) memcpy(out + (k + i) * n, (const char *)&v + 8 * i, 8);
    }
    return k;
}
#endif

#if !defined(LIST) && TURNS_BYTES
/* Whether layers without gaps have so few columns of bytes, and so many rows, that 16 bytes hold several of these. What
 * is done twice leaves maxima and minima as they are, and nothing else. */
ALWAYS_INLINE bool FN(are_folded)(lam__reduce_op op, const lam__reduce_block *b) {
    const int64_t n = b->columns;
    const bool once = op == LAM__REDUCE_OP_MAX || op == LAM__REDUCE_OP_MIN;
    return once && n > 1 && n < 8 && b->row_step == n && b->rows >= 16 / n;
}

/* Each 16 bytes of a vector go down a layer of their own, or all of them down one where it is longer than that; the
 * last time from earlier on. Then those of one layer meet, and their rows. */
ALWAYS_INLINE int64_t FN(by_folds)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->columns, size = 16 / n * n, bytes = b->rows * n, whole = FN(whole_layers)(b, 8);
    const bool abreast = bytes < SIXTEENS * size;
    const int64_t count = abreast ? SIXTEENS : 1, apart = abreast ? b->layer_step : size;
    const int64_t each = SIXTEENS / count * size;
    const int lanes = apart == 16 ? 1 : SIXTEENS;
    U64 turn[3];
    int levels = 0;
    int64_t k = 0;
    for (int64_t rows = 16 / n; rows > 1; rows -= rows / 2, levels++) {
        char from[VECTOR_BYTES];
        for (int i = 0; i < VECTOR_BYTES; i++) from[i] = (char)((i + rows / 2 * n) % 16);
        memcpy(&turn[levels], from, sizeof from);
    }
    for (; k + count <= whole; k += count) {
        const T *x = (const T *)b->x + k * b->layer_step;
        FN(vec) v = (FN(vec))rows_beside(lanes, x, apart), other;
        for (int64_t i = each; i < bytes; i += each) {
            other = (FN(vec))rows_beside(lanes, x + (i < bytes - each ? i : bytes - each), apart);
            FN(fold_lanes)(op, &v, &other);
        }
        if (!abreast) FN(fold_halves)(op, 16, &v);
        for (int l = 0; l < levels; l++) {
            other = (FN(vec))turned((U64)v, turn[l]);
            FN(fold_lanes)(op, &v, &other);
        }
        for (int i = 0; i < count; i++) memcpy(out + (k + i) * n, (const char *)&v + 16 * i, 8);
    }
    return k;
}
#endif

#include "lib/kernels/reduce_slides.h"

/* `count` layers that are about to be read, if they lie beyond the near cache and are not more than have room there. */
ALWAYS_INLINE void FN(bring_layers)(int64_t count, const lam__reduce_block *b, const E *x) {
    const int64_t step = b->layer_step, size = (b->rows - 1) * b->row_step + b->columns;
    if (b->far && size <= step && count * step * (int64_t)sizeof(T) <= BRING_BYTES)
        FN(touch)((count - 1) * step + size, x);
}

/* So many layers at a time, a constant, as lie beside each other in a vector; brought unless they are so few bytes that
 * machines see them coming. Gives how many are done. */
ALWAYS_INLINE int64_t FN(by_some)(lam__reduce_op op, int count, int64_t rows, const lam__reduce_block *b,
                                  T *restrict out) {
    enum { BYTES = VECTOR_BYTES };
    const int64_t n = b->columns, item = (int64_t)sizeof(T), s = b->row_step;
    const int64_t whole = FN(whole_layers)(b, BYTES / count / item);
    const beside p = {count, b->layer_step * item};
    const E *x = b->x;
    int64_t k = 0;
    for (; k + count <= whole; k += count, x += count * b->layer_step, out += count * n) {
        if (p.step * count >= BRING_LEAST) FN(bring_layers)(count, b, x);
        const FN(vec) v = FN(column_lanes)(op, p, rows, x, s);
        UNROLLED for (int i = 0; i < count; i++)
            memcpy(out + i * n, (const char *)&v + i * (BYTES / count), BYTES / count);
    }
    return k;
}

/* Layers each in a vector of its own: few rows are a constant, as in by_wide_of. */
ALWAYS_INLINE int64_t FN(by_ones)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    switch (b->rows) {
    case 2: return FN(by_some)(op, 1, 2, b, out);
    case 3: return FN(by_some)(op, 1, 3, b, out);
    default: return FN(by_some)(op, 1, b->rows, b, out);
    }
}

ALWAYS_INLINE int64_t FN(by_pieces_of)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int count = layers_beside(b->columns * (int64_t)sizeof(T));
#if defined(LIST) && PARTS == 1
    const FN(slides) p = FN(slides_of)(sizeof(T), b);
    if (p.count > 1) return FN(each_slide)(op, &p, b, out);
#endif
    if (count == 4) return FN(by_some)(op, 4, b->rows, b, out);
    if (count == 2) return FN(by_some)(op, 2, b->rows, b, out);
    return FN(by_ones)(op, b, out);
}

/* Of layers no wider than a vector. Texts of their own: in the leaves there would be no registers left for them. No
 * products of integers come here (by_layers). */
static ONE_TEXT int64_t FN(by_pieces)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: return FN(by_pieces_of)(LAM__REDUCE_OP_SUM, b, out);
#if FLOATING && OPERATIONS > 1
    case LAM__REDUCE_OP_PROD: return FN(by_pieces_of)(LAM__REDUCE_OP_PROD, b, out);
#endif
#if OPERATIONS > 2
    case LAM__REDUCE_OP_MAX: return FN(by_pieces_of)(LAM__REDUCE_OP_MAX, b, out);
    case LAM__REDUCE_OP_MIN: return FN(by_pieces_of)(LAM__REDUCE_OP_MIN, b, out);
#endif
    default: return 0;
    }
}

/* Layers wider than a vector: those in memory that have no gaps are brought first (NOTE [bringing]), but for those of
 * rows shorter than a line, which machines see coming, and of few short rows, where writing takes the time. */
ALWAYS_INLINE bool FN(are_brought)(const lam__reduce_block *b) {
    const int64_t row = b->columns * (int64_t)sizeof(T), column = b->rows * (int64_t)sizeof(T);
    const bool dense = b->row_step == b->columns && b->layer_step == b->rows * b->columns;
    const bool enough = row >= BROUGHT_LONG || (row >= BROUGHT_ROW && column >= BROUGHT_COLUMN);
    return b->far == LAM__REDUCE_MEMORY && dense && enough;
}

/* Gives how many layers are done: none of those that are one run each, whose order is another, nor for products of
 * integers (leaf_rows says why). The last vector of many columns begins earlier. */
ALWAYS_INLINE int64_t FN(by_layers)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (!FN(are_layers)(b) || (FLOATING ? FN(is_run)(op, b) : op == LAM__REDUCE_OP_PROD)) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES);
#if FLOATING
    const int64_t done = FN(by_blocks)(op, b, out);
    if (done) return done;
#else
    if (FN(are_dense)(b)) {
        for (int64_t k = 0; k < whole; k++) {
            const FN(vec) v = FN(dense_lanes)(op, b, (const T *)b->x + k * b->layer_step);
            memcpy(out + k * n, &v, sizeof v);
        }
        return whole;
    }
#endif
#if !defined(LIST) && VECTOR_BYTES == 64
    if (FN(are_slides)(b)) return FN(by_slides)(op, b, out);
#elif !defined(LIST) && TURNS_BYTES
    if (FN(are_turned)(b)) return FN(by_turns)(op, b, out);
#endif
#if !defined(LIST) && TURNS_BYTES
    if (FN(are_folded)(op, b)) return FN(by_folds)(op, b, out);
#endif
#ifndef LIST
    if (n <= 8) return FN(by_words)(op, b, out);
#endif
    if (n <= LANES) return FN(by_pieces)(op, b, out);
    FN(by_wide)(op, FN(are_brought)(b), b, out);
    return whole;
}

#ifdef H
/* `rows` rows of a layer in lanes of i64. */
ALWAYS_INLINE void FN(tally_down)(const lam__reduce_block *b, int64_t rows, const T *x, int64_t *restrict out) {
    const int64_t n = b->columns, last = n > LANES64 ? n - LANES64 : 0, step = b->row_step;
    for (int64_t c = 0; c < n; c += LANES64) {
        const int64_t at = c < last ? c : last;
        M64 sums = FN(widened)(x + at), more = {0};
        int64_t r = 1;
        for (; r + 2 <= rows; r += 2) {
            sums += FN(widened)(x + at + r * step);
            more += FN(widened)(x + at + (r + 1) * step);
        }
        if (r < rows) sums += FN(widened)(x + at + r * step);
        sums += more;
        memcpy(out + at, &sums, sizeof sums);
    }
}

#ifndef LIST
/* So many rows at once as an H has room for. */
enum { FN(COUNTED) = 256 };

/* Those of many columns in lanes of H, as many rows at a time as fill one. */
ALWAYS_INLINE void FN(tally_down_wide)(const lam__reduce_block *b, int64_t rows, const T *x, int64_t *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    const H none[LANES] = {0};
    const int64_t n = b->columns, last = n - LANES;
    for (int64_t c = 0; c < n; c += LANES) {
        const int64_t at = c < last ? c : last;
        M64 all[sizeof(int64_t) / sizeof(H)];
        for (int64_t r = 0; r < rows; r += FN(COUNTED)) {
            const int64_t some = rows - r < FN(COUNTED) ? rows - r : FN(COUNTED);
            const FN(wide) v = FN(tally_lanes)(some, x + at + r * b->row_step, b->row_step, none);
            H sums[LANES];
            memcpy(sums, &v, sizeof sums);
            UNROLLED for (int i = 0; i < LANES / LANES64; i++) {
                const M64 part = widened_u16(sums + i * LANES64);
                all[i] = r > 0 ? all[i] + part : part;
            }
        }
        memcpy(out + at, all, sizeof all);
    }
}
#endif

#ifdef LIST
/* Whether layers without gaps are whole vectors of results, of several rows each. */
ALWAYS_INLINE bool FN(are_folds)(const lam__reduce_block *b) {
    const int64_t n = b->columns, rows = b->rows;
    return (2 * n == LANES64 || (4 * n == LANES64 && n > 1)) && b->row_step == n && rows * n % LANES64 == 0 &&
           rows >= 8;
}

/* One layer, as if these were its rows; then they meet. What lies behind the columns is of no use. */
ALWAYS_INLINE void FN(tally_folds)(const lam__reduce_block *b, const T *x, int64_t *restrict out) {
    lam__reduce_block wide = *b;
    int64_t all[LANES64];
    U64 sums;
    wide.columns = wide.row_step = LANES64, wide.rows = b->rows * b->columns / LANES64;
    FN(tally_down)(&wide, wide.rows, x, all);
    memcpy(&sums, all, sizeof sums);
    if (4 * b->columns == LANES64) sums += __builtin_shufflevector(sums, sums, LIST64(WORD_BEYOND, LANES64 / 4));
    sums += __builtin_shufflevector(sums, sums, LIST64(WORD_BEYOND, LANES64 / 2));
    memcpy(out, &sums, sizeof sums);
}
#endif

/* Layers wider than a vector, as in by_wide. */
ALWAYS_INLINE void FN(tally_vectors)(const lam__reduce_block *b, int64_t rows, int64_t *restrict out) {
    const bool brought = FN(are_brought)(b);
    for (int64_t k = 0; k < b->layers; k++, out += b->columns) {
        const T *x = FN(layer_at)(brought, b, k);
#ifndef LIST
        if (b->columns >= (int64_t)(VECTOR_BYTES / sizeof(H))) FN(tally_down_wide)(b, rows, x, out);
        else FN(tally_down)(b, rows, x, out);
#else
        FN(tally_down)(b, rows, x, out);
#endif
    }
}

static ONE_TEXT void FN(tally_wide)(const lam__reduce_block *b, int64_t *restrict out) {
    switch (b->rows) {
    case 2: FN(tally_vectors)(b, 2, out); return;
    case 3: FN(tally_vectors)(b, 3, out); return;
    case 5: FN(tally_vectors)(b, 5, out); return;
    default: FN(tally_vectors)(b, b->rows, out); return;
    }
}

#ifndef LIST
/* Layers without gaps of half or a quarter as many columns as there are lanes of H: several rows of them are one of as
 * many as there are lanes, whose parts meet. */
ALWAYS_INLINE bool FN(are_parts)(const lam__reduce_block *b) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    const int64_t n = b->columns, rows = b->rows;
    const bool part = 2 * n == LANES || (4 * n == LANES && LANES > 16);
    return part && b->row_step == n && rows >= PART_ROWS && rows * n % LANES == 0;
}

ALWAYS_INLINE void FN(tally_parts)(int n, const lam__reduce_block *b, const T *x, int64_t *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    const H none[LANES] = {0};
    const int64_t rows = b->rows * n / LANES, most = FN(COUNTED) * n / LANES;
    int64_t all[LANES];
    for (int64_t r = 0; r < rows; r += most) {
        const int64_t some = rows - r < most ? rows - r : most;
        const FN(wide) v = FN(tally_lanes)(some, x + r * LANES, LANES, none);
        H sums[LANES];
        memcpy(sums, &v, sizeof sums);
        for (int part = LANES / 2; part >= n; part /= 2)
            for (int i = 0; i < part; i++) sums[i] = (H)(sums[i] + sums[i + part]);
        for (int i = 0; i < n; i++) all[i] = (r > 0 ? all[i] : 0) + (int64_t)sums[i];
    }
    memcpy(out, all, (size_t)n * sizeof *out);
}

ALWAYS_INLINE void FN(tally_layers_of_parts)(const lam__reduce_block *b, int64_t *restrict out) {
    enum { LANES = VECTOR_BYTES / sizeof(H) };
    for (int64_t k = 0; k < b->layers; k++) {
        const T *x = (const T *)b->x + k * b->layer_step;
        if (2 * b->columns == LANES) FN(tally_parts)(LANES / 2, b, x, out + k * b->columns);
        else FN(tally_parts)(LANES / 4, b, x, out + k * b->columns);
    }
}
#endif

#ifndef LIST
/* Whether layers have so few columns of bytes that it is better to take those of many rows apart than row after row:
 * sooner where a layer is no more than a vector. */
ALWAYS_INLINE bool FN(are_thin)(const lam__reduce_block *b) {
    const int64_t n = b->columns, few = b->rows * n <= VECTOR_BYTES ? THIN_ROWS_IN_ONE : THIN_ROWS;
    return n > 1 && n <= THIN_COLUMNS && b->row_step == n && b->layer_step >= b->rows * n && b->rows >= few * n;
}

/* Which bytes of as many rows as a vector holds are those of each column. */
ALWAYS_INLINE void FN(bytes_of_columns)(int64_t n, U64 *own) {
    for (int64_t c = 0; c < n; c++) {
        unsigned char keep[VECTOR_BYTES] = {0};
        for (int64_t i = c; i <= VECTOR_BYTES - n + c; i += n) keep[i] = 0xff;
        memcpy(&own[c], keep, sizeof keep);
    }
}

/* The layer at x, of n columns, a constant. `rest` of a vector belongs to the last rows. */
ALWAYS_INLINE void FN(tally_thin)(int n, int64_t bytes, const U64 *own, U64 rest, const T *x, int64_t *restrict out) {
    const int64_t each = VECTOR_BYTES / n * n;
    U64 sums[THIN_COLUMNS] = {{0}};
    int64_t i = 0;
    for (; i + each <= bytes; i += each) {
        const U64 v = (U64) * (const word_vec *)(const void *)(x + i);
        UNROLLED for (int c = 0; c < n; c++) sums[c] += sums_of_bytes(v & own[c]);
    }
    if (i < bytes) {
        const U64 v = (U64) * (const word_vec *)(const void *)(x + i) & rest;
        UNROLLED for (int c = 0; c < n; c++) sums[c] += sums_of_bytes(v & own[c]);
    }
    UNROLLED for (int c = 0; c < n; c++) {
        int64_t sum = 0;
        for (int k = 0; k < LANES64; k++) sum += (int64_t)sums[c][k];
        out[c] = sum;
    }
}

/* Layers of no more than a vector: each column is a row of its own, of which the others are masked. As many layers at a
 * time as a vector has words; `size` as in tally_rows. Gives how many are done. */
ALWAYS_INLINE int64_t FN(tally_thin_rows)(int size, const lam__reduce_block *b, int64_t *restrict out) {
    const int64_t n = b->columns, step = b->layer_step, bytes = b->rows * n;
    const int64_t beyond = size < LANES64 ? 0 : (VECTOR_BYTES - bytes + step - 1) / step;
    const int64_t left = b->layers + b->behind - beyond, whole = left < b->layers ? left : b->layers;
    const U64 all = FN(first_bytes)(VECTOR_BYTES, size < LANES64 ? VECTOR_BYTES : bytes);
    U64 own[THIN_COLUMNS];
    int64_t k = 0;
    FN(bytes_of_columns)(n, own);
    for (; k + LANES64 <= whole; k += LANES64)
        for (int64_t c = 0; c < n; c++) {
            const FN(tally_of) r = {(const T *)b->x + k * step, bytes, step, own[c] & all};
            const U64 v = FN(tally_some)(size, &r);
            int64_t sums[LANES64];
            memcpy(sums, &v, sizeof sums);
            for (int i = 0; i < LANES64; i++) out[(k + i) * n + c] = sums[i];
        }
    return k;
}

/* Gives how many layers are done. */
ALWAYS_INLINE int64_t FN(tally_thin_layers)(const lam__reduce_block *b, int64_t *restrict out) {
    const int64_t n = b->columns, bytes = b->rows * n, whole = FN(whole_layers)(b, VECTOR_BYTES);
    const int64_t dense = b->layer_step == bytes ? bytes : 0;
    if (dense == 8) return FN(tally_thin_rows)(1, b, out);
    if (LANES64 > 2 && dense == 16) return FN(tally_thin_rows)(2, b, out);
    if (LANES64 > 4 && dense == 32) return FN(tally_thin_rows)(4, b, out);
    if (bytes <= VECTOR_BYTES) return FN(tally_thin_rows)(LANES64, b, out);
    const U64 rest = FN(first_bytes)(VECTOR_BYTES, bytes % (VECTOR_BYTES / n * n));
    U64 own[THIN_COLUMNS];
    FN(bytes_of_columns)(n, own);
    for (int64_t k = 0; k < whole; k++) {
        const T *x = (const T *)b->x + k * b->layer_step;
        switch (n) {
        case 2: FN(tally_thin)(2, bytes, own, rest, x, out + k * 2); break;
        case 3: FN(tally_thin)(3, bytes, own, rest, x, out + k * 3); break;
        case 4: FN(tally_thin)(4, bytes, own, rest, x, out + k * 4); break;
        default: FN(tally_thin)(5, bytes, own, rest, x, out + k * 5); break;
        }
    }
    return whole;
}
#endif

/* No more columns than words in a vector. */
ALWAYS_INLINE void FN(tally_narrow)(const lam__reduce_block *b, int64_t rows, int64_t layers, int64_t *restrict out) {
    const T *x = b->x;
    for (int64_t k = 0; k < layers; k++) FN(tally_down)(b, rows, x + k * b->layer_step, out + k * b->columns);
}

ALWAYS_INLINE int64_t FN(tally_layers)(const lam__reduce_block *b, int64_t *restrict out) {
    if (!FN(are_layers)(b)) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES64);
#ifndef LIST
    if (are_paired(b)) return tally_pairs(b, out);
    if (FN(are_parts)(b)) {
        FN(tally_layers_of_parts)(b, out);
        return b->layers;
    }
    if (FN(are_thin)(b)) return FN(tally_thin_layers)(b, out);
#endif
#ifdef LIST
    const FN(slides) p = FN(slides_of)(sizeof(int64_t), b);
    if (p.count > 1) return FN(tally_slides)(&p, b, out);
    if (FN(are_folds)(b)) {
        for (int64_t k = 0; k < whole; k++) FN(tally_folds)(b, (const T *)b->x + k * b->layer_step, out + k * n);
        return whole;
    }
#endif
    if (n > LANES64) FN(tally_wide)(b, out);
    else if (b->rows == 2) FN(tally_narrow)(b, 2, whole, out);
    else if (b->rows == 3) FN(tally_narrow)(b, 3, whole, out);
    else FN(tally_narrow)(b, b->rows, whole, out);
    return whole;
}
#endif
