/* Where the largest or least element of each column of small layers one behind the other is, part of reduce_places.h:
 * as many layers as fill a vector go down their rows abreast. What lies beyond the columns of one belongs to the next,
 * as in reduce_layers.h. No include guard: that is the point. */

#ifdef LIST
/* Vectors of dense rows of layers that lie abreast, as many of both, 2 or 4, a constant: one of each layer before, one
 * of each row after. */
ALWAYS_INLINE void FN(turn_blocks)(int abreast, FN(vec) * v) {
    enum {
        HALF = VECTOR_BYTES / (int)sizeof(T) / 2 > 0 ? VECTOR_BYTES / (int)sizeof(T) / 2 : 1,
        QUARTER = HALF / 2 > 0 ? HALF / 2 : 1
    };
    const FN(vec) a = v[0], b = v[1], c = v[abreast / 2], d = v[abreast - 1];
    if (abreast == 2) {
        v[0] = __builtin_shufflevector(a, b, LIST(EVEN_BLOCK, HALF));
        v[1] = __builtin_shufflevector(a, b, LIST(ODD_BLOCK, HALF));
        return;
    }
    const FN(vec) even = __builtin_shufflevector(a, b, LIST(EVEN_BLOCK, QUARTER)),
                  odd = __builtin_shufflevector(a, b, LIST(ODD_BLOCK, QUARTER)),
                  even_2 = __builtin_shufflevector(c, d, LIST(EVEN_BLOCK, QUARTER)),
                  odd_2 = __builtin_shufflevector(c, d, LIST(ODD_BLOCK, QUARTER));
    v[0] = __builtin_shufflevector(even, even_2, LIST(EVEN_BLOCK, QUARTER));
    v[1] = __builtin_shufflevector(odd, odd_2, LIST(EVEN_BLOCK, QUARTER));
    v[2] = __builtin_shufflevector(even, even_2, LIST(ODD_BLOCK, QUARTER));
    v[3] = __builtin_shufflevector(odd, odd_2, LIST(ODD_BLOCK, QUARTER));
}

/* As many dense layers side by side as fill a vector. Gives how many are done. */
ALWAYS_INLINE int64_t FN(arg_abreast)(lam__reduce_op op, int abreast, const lam__reduce_block *b,
                                      const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    int64_t k = 0;
    for (; k + abreast <= b->layers; k += abreast) {
        const T *x = (const T *)b->x + k * b->layer_step;
        int64_t *out = (int64_t *)to->out + k * to->row_step;
        FN(down) d = {{0}, {0}, {0}, 0};
        for (int64_t r = 0; r < b->rows; r += abreast) {
            FN(vec) v[4];
            UNROLLED for (int i = 0; i < abreast; i++) v[i] =
                *(const FN(vec) *)(const void *)(x + i * b->layer_step + r * b->row_step);
            FN(turn_blocks)(abreast, v);
            if (r == 0) d.best = v[0];
            UNROLLED for (int i = 0; i < abreast; i += 2) FN(go_down_two)(op, &d, v[i], v[i + 1]);
        }
        if (d.unordered)
            for (int i = 0; i < abreast; i++) {
                const lam__reduce_block one = lam__reduce_layer(b, k + i, sizeof(T));
                FN(arg_apart)(op, &one, 0, (int)b->columns, out + i * b->columns);
            }
        else
            for (int i = 0; i < LANES; i++) out[i] = d.where[i];
    }
    return k;
}

/* NOTE [thin layers]
 * Of layers of few columns without gaps a vector holds several rows, as they lie: so it goes down the layer, each lane
 * with the number of its row, and what the lanes of a column have found meets at the end, in halves. What lies in a
 * vector beyond its last row goes the same way and meets nothing. */
enum { FN(THIN_LEVELS) = VECTOR_BYTES / sizeof(T) > 8 ? 3 : VECTOR_BYTES / sizeof(T) > 4 ? 2 : 1 };

typedef struct FN(thin) {
    int64_t each; /* rows in a vector */
    int levels;
    U64 with[FN(THIN_LEVELS)]; /* where each lane finds the one it meets, in lanes of 32 bits */
    FN(mask) row;
} FN(thin);

ALWAYS_INLINE bool FN(are_thin_places)(const lam__reduce_block *b) {
    enum { LANES = VECTOR_BYTES / sizeof(T), ITEM = sizeof(T) };
    const bool many = b->rows * b->columns * ITEM >= THIN_BYTES && b->rows <= INT32_MAX;
    return many && b->step == 1 && b->columns > 1 && b->columns <= LANES && b->row_step == b->columns &&
           b->layer_step >= b->columns;
}

ALWAYS_INLINE FN(thin) FN(thin_of)(int64_t n) {
    enum { LANES = VECTOR_BYTES / sizeof(T), HALVES = sizeof(T) / 4 };
    FN(thin) t = {.each = LANES / n};
    M row[LANES];
    for (int i = 0; i < LANES; i++) row[i] = (M)(i / n);
    memcpy(&t.row, row, sizeof row);
    for (int64_t left = t.each, half; left > 1; left = half) {
        uint32_t with[LANES32];
        half = (left + 1) / 2;
        for (int i = 0; i < LANES32; i++) {
            const int64_t lane = i / HALVES, meets = lane / n + half < left ? lane + half * n : lane;
            with[i] = (uint32_t)(meets * HALVES + i % HALVES);
        }
        memcpy(&t.with[t.levels++], with, sizeof with);
    }
    return t;
}

/* The layer at x: each column's first best in the first lanes. The last vector begins earlier. */
ALWAYS_INLINE FN(down) FN(down_thin)(lam__reduce_op op, const FN(thin) * t, int64_t n, int64_t rows, const T *x) {
    const int64_t step = t->each * n, last = (rows - t->each) * n;
    const M each = (M)t->each;
    FN(down) d = {*(const FN(vec) *)(const void *)x, t->row, t->row, 0};
    int64_t i = 0;
    for (; i + step < last; i += 2 * step) {
        const FN(vec) v = *(const FN(vec) *)(const void *)(x + i),
                      next = *(const FN(vec) *)(const void *)(x + i + step);
        FN(see)(op, &d, v);
        d.row += each;
        FN(see)(op, &d, next);
        d.row += each;
        d.unordered |= FN(has_nan)(v, next);
    }
    const FN(vec) v = *(const FN(vec) *)(const void *)(x + (i < last ? i : last)),
                  end = *(const FN(vec) *)(const void *)(x + last);
    if (i < last) FN(see)(op, &d, v);
    d.row = t->row + (M)(rows - t->each);
    FN(see)(op, &d, end);
    d.unordered |= FN(has_nan)(v, end);
    for (int k = 0; k < t->levels; k++) {
        const FN(vec) best = (FN(vec))lanes_moved((U64)d.best, t->with[k]);
        const FN(mask) where = (FN(mask))lanes_moved((U64)d.where, t->with[k]);
        d.where = FN(where_of)(op, true, d.best, best, d.where, where);
        d.best = FN(better_of)(op, d.best, best);
    }
    return d;
}

/* Gives how many layers are done; their places lie side by side. */
ALWAYS_INLINE int64_t FN(arg_thin_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const FN(thin) t = FN(thin_of)(b->columns);
    const int64_t n = b->columns, left = b->layers + b->behind - (t.each * n < LANES);
    const int64_t whole = left < b->layers ? left : b->layers;
    const T *x = b->x;
    for (int64_t k = 0; k < whole; k++, x += b->layer_step, out += n) {
        FN(number) at[LANES];
        const FN(down) d = FN(down_thin)(op, &t, n, b->rows, x);
        memcpy(at, &d.where, sizeof at);
        const lam__reduce_block one = lam__reduce_layer(b, k, sizeof(T));
        if (d.unordered) FN(arg_apart)(op, &one, 0, (int)n, out);
        else
            for (int64_t i = 0; i < n; i++) out[i] = at[i];
    }
    return whole;
}

static ONE_TEXT int64_t FN(arg_thin)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    return op == LAM__REDUCE_OP_MAX ? FN(arg_thin_of)(LAM__REDUCE_OP_MAX, b, out)
                                    : FN(arg_thin_of)(LAM__REDUCE_OP_MIN, b, out);
}
#else
/* Layers of up to eight columns of bytes, as many at a time as a vector has words, as in by_words. */
ALWAYS_INLINE int64_t FN(arg_abreast)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const int64_t n = b->columns, whole = FN(whole_layers)(b, 8);
    int64_t k = 0;
    for (; k + LANES64 <= whole; k += LANES64) {
        const T *x = (const T *)b->x + k * b->layer_step;
        int64_t *out = (int64_t *)to->out + k * to->row_step;
        FN(down) d = {FN(row_of_layers)(b, x), {0}, {0}, 0};
        FN(number) at[VECTOR_BYTES];
        for (int64_t r = 0; r < b->rows; r++) FN(go_down)(op, &d, FN(row_of_layers)(b, x + r * b->row_step));
        memcpy(at, &d.where, sizeof at);
        if (to->step == 1 && to->row_step == n)
            for (int l = 0; l < LANES64; l++) FN(put_numbers)(8, at + 8 * l, out + l * n);
        else
            for (int l = 0; l < LANES64; l++)
                for (int64_t i = 0; i < n; i++) out[l * to->row_step + i * to->step] = at[8 * l + i];
    }
    return k;
}

/* The same of bytes (NOTE [thin layers]): each 16 of a vector hold whole rows, and numbers count vectors. What lanes
 * have found meets as keys, the element above the row, the first of which is the largest. */
enum { FN(SIXTEENS) = VECTOR_BYTES / 16 };
typedef uint32_t FN(keys)[16];

typedef struct FN(thin) {
    int64_t n, rows, each; /* columns, rows in 16 bytes, in a vector */
    int levels;
    FN(keys) row, used, with[3]; /* of a lane: its row, all bits where it holds one, and the lanes it meets */
    U64 rest;                    /* the rows behind whole vectors */
} FN(thin);

ALWAYS_INLINE bool FN(are_thin_places)(const lam__reduce_block *b) {
    const int64_t n = b->columns, bytes = b->rows * n;
    if (b->step != 1 || n < 2 || n > 16 || b->row_step != n || bytes < THIN_BYTES_8 || b->layer_step < bytes)
        return false;
    return b->rows <= FN(ARG_COUNTED) * FN(SIXTEENS) * (16 / n);
}

ALWAYS_INLINE FN(thin) FN(thin_of)(int64_t n, int64_t rows) {
    FN(thin) t = {.n = n, .rows = 16 / n, .each = 16 / n * FN(SIXTEENS)};
    uint8_t rest[VECTOR_BYTES];
    for (int i = 0; i < 16; i++) t.row[i] = (uint32_t)(i / n), t.used[i] = i < t.rows * n ? UINT32_MAX : 0;
    for (int i = 0; i < VECTOR_BYTES; i++)
        rest[i] = i % 16 / n < t.rows && i / 16 * t.rows + i % 16 / n < rows % t.each ? 0xff : 0;
    memcpy(&t.rest, rest, sizeof rest);
    for (int64_t left = t.rows, half; left > 1; left = half, t.levels++) {
        half = (left + 1) / 2;
        for (int i = 0; i < 16; i++) t.with[t.levels][i] = (uint32_t)(i / n + half < left ? i + half * n : i);
    }
    return t;
}

ALWAYS_INLINE FN(vec) FN(thin_rows)(const FN(thin) * t, const T *x) {
    const int64_t step = t->rows * t->n;
    return (FN(vec))rows_beside(step == 16 ? 1 : FN(SIXTEENS), x, step);
}

ALWAYS_INLINE FN(down) FN(down_thin)(lam__reduce_op op, const FN(thin) * t, int64_t rows, const T *x) {
    const int64_t whole = rows / t->each;
    const U64 fill = (U64)(FN(nothing)(op) - (FN(vec)){0});
    FN(down) d = {FN(thin_rows)(t, x), {0}, {0}, 0};
    if (!whole) d.best = (FN(vec))(((U64)d.best & t->rest) | (fill & ~t->rest));
    for (int64_t k = 0; k < whole; k++, x += t->each * t->n) FN(go_down)(op, &d, FN(thin_rows)(t, x));
    if (whole && rows % t->each)
        FN(go_down)(op, &d, (FN(vec))(((U64)FN(thin_rows)(t, x) & t->rest) | (fill & ~t->rest)));
    return d;
}

ALWAYS_INLINE void FN(meet_thin)(lam__reduce_op op, const FN(thin) * t, const FN(down) * d, int64_t *restrict out) {
    FN(keys) best_key = {0};
    uint8_t best[VECTOR_BYTES], number[VECTOR_BYTES];
    memcpy(best, &d->best, sizeof best);
    memcpy(number, &d->where, sizeof number);
    for (int q = 0; q < FN(SIXTEENS); q++)
        for (int i = 0; i < 16; i++) {
            const uint32_t v = op == LAM__REDUCE_OP_MAX ? best[16 * q + i] : (uint32_t)(UINT8_MAX - best[16 * q + i]);
            const uint32_t row = number[16 * q + i] * (uint32_t)t->each + (uint32_t)(q * t->rows) + t->row[i];
            const uint32_t key = (v << 16 | (UINT16_MAX - row)) & t->used[i];
            best_key[i] = best_key[i] > key ? best_key[i] : key;
        }
    for (int k = 0; k < t->levels; k++) {
        FN(keys) other;
        keys_moved(best_key, t->with[k], other);
        for (int i = 0; i < 16; i++) best_key[i] = best_key[i] > other[i] ? best_key[i] : other[i];
    }
    for (int64_t c = 0; c < t->n; c++) out[c] = UINT16_MAX - (best_key[c] & UINT16_MAX);
}

/* Gives how many layers are done; their places lie side by side. */
ALWAYS_INLINE int64_t FN(arg_thin_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    const FN(thin) t = FN(thin_of)(b->columns, b->rows);
    const int64_t left = b->layers + b->behind - 1, whole = left < b->layers ? left : b->layers;
    for (int64_t k = 0; k < whole; k++) {
        const FN(down) d = FN(down_thin)(op, &t, b->rows, (const T *)b->x + k * b->layer_step);
        FN(meet_thin)(op, &t, &d, out + k * t.n);
    }
    return whole;
}

static ONE_TEXT int64_t FN(arg_thin)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    return op == LAM__REDUCE_OP_MAX ? FN(arg_thin_of)(LAM__REDUCE_OP_MAX, b, out)
                                    : FN(arg_thin_of)(LAM__REDUCE_OP_MIN, b, out);
}
#endif

/* As by_some, with places that lie side by side; layers with a NaN one by one. */
ALWAYS_INLINE int64_t FN(arg_some)(lam__reduce_op op, int count, int64_t rows, const lam__reduce_block *b,
                                   int64_t *out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, s = b->row_step, each = LANES / count;
    const int64_t whole = FN(whole_layers)(b, each);
    const beside p = {count, b->layer_step * (int64_t)sizeof(T)};
    const T *x = b->x;
    int64_t k = 0;
    for (; k + count <= whole; k += count, x += count * b->layer_step, out += count * n) {
        FN(bring_layers)(count, b, x);
        const FN(down) d = FN(first_down)(op, p, rows, x, s);
        FN(number) at[LANES];
        memcpy(at, &d.where, sizeof at);
        if (d.unordered)
            for (int i = 0; i < count; i++) {
                const lam__reduce_block one = lam__reduce_layer(b, k + i, sizeof(T));
                FN(arg_apart)(op, &one, 0, (int)n, out + i * n);
            }
        else UNROLLED for (int i = 0; i < count; i++) FN(put_numbers)((int)each, at + i * each, out + i * n);
    }
    return k;
}

#ifdef LIST
/* As by_slides; layers with a NaN beside them one by one. */
ALWAYS_INLINE int64_t FN(arg_slides)(lam__reduce_op op, int64_t rows, const FN(slides) * p, const lam__reduce_block *b,
                                     int64_t *out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, whole = FN(slid_layers)(p, b);
    int64_t k = 0;
    for (; k + p->count <= whole; k += p->count) {
        const FN(down) d = FN(first_down)(op, alone, rows, (const T *)b->x + k * b->layer_step, n);
        const U64 some = lanes_moved((U64)d.where, p->together);
        FN(number) at[LANES];
        memcpy(at, &some, sizeof at);
        if (d.unordered)
            for (int64_t i = 0; i < p->count; i++) {
                const lam__reduce_block one = lam__reduce_layer(b, k + i, sizeof(T));
                FN(arg_apart)(op, &one, 0, (int)n, out + (k + i) * n);
            }
        else if (p->count * n <= LANES / 2) FN(put_numbers)(LANES / 2, at, out + k * n);
        else FN(put_numbers)(LANES, at, out + k * n);
    }
    return k;
}
#endif

/* Few rows are a constant, as in by_wide_of. */
ALWAYS_INLINE int64_t FN(arg_pieces_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    const int count = layers_beside(b->columns * (int64_t)sizeof(T));
    const int64_t rows = b->rows;
#ifdef LIST
    const FN(slides) p = FN(slides_of)(sizeof(T), b);
    if (p.count > 1 && rows == 2) return FN(arg_slides)(op, 2, &p, b, out);
    if (p.count > 1 && rows == 3) return FN(arg_slides)(op, 3, &p, b, out);
    if (p.count > 1) return FN(arg_slides)(op, rows, &p, b, out);
#endif
    if (count == 4) return FN(arg_some)(op, 4, rows, b, out);
    if (count == 2) return FN(arg_some)(op, 2, rows, b, out);
    if (rows == 2) return FN(arg_some)(op, 1, 2, b, out);
    return rows == 3 ? FN(arg_some)(op, 1, 3, b, out) : FN(arg_some)(op, 1, rows, b, out);
}

static ONE_TEXT int64_t FN(arg_pieces)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    return op == LAM__REDUCE_OP_MAX ? FN(arg_pieces_of)(LAM__REDUCE_OP_MAX, b, out)
                                    : FN(arg_pieces_of)(LAM__REDUCE_OP_MIN, b, out);
}

/* The places of the layer at x, whose columns may be fewer than lanes. The last vector begins earlier. */
ALWAYS_INLINE void FN(put_layer)(lam__reduce_op op, const lam__reduce_block *b, const T *x, int64_t *out,
                                 int64_t step) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, count = n < LANES ? n : LANES;
    for (int64_t c = 0; c < n; c += LANES) {
        const int64_t first = c + LANES <= n || n < LANES ? c : n - LANES;
        if (step == 1 && count == LANES) FN(put_rows)(op, LANES, b->rows, x + first, b->row_step, out + first);
        else {
            int64_t where[LANES];
            FN(put_rows)(op, count, b->rows, x + first, b->row_step, where);
            for (int64_t i = 0; i < count; i++) out[(first + i) * step] = where[i];
        }
    }
}

/* Layers as in by_layers: gives how many are done. */
ALWAYS_INLINE int64_t FN(arg_layers)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns;
    const bool dense = to->step == 1 && to->row_step == n;
#ifndef LIST
    if (dense && are_paired(b)) return arg_pairs(op == LAM__REDUCE_OP_MIN, b, to->out);
#endif
    if (dense && FN(are_thin_places)(b)) return FN(arg_thin)(op, b, to->out);
    if (!FN(are_layers)(b) || b->rows > FN(ARG_COUNTED)) return 0;
    const int64_t whole = FN(whole_layers)(b, LANES);
    int64_t k = 0;
#ifdef LIST
    const bool blocks = dense && b->row_step == n && b->layer_step == b->rows * n;
    if (blocks && n == LANES / 2 && b->rows % 2 == 0) k = FN(arg_abreast)(op, 2, b, to);
    else if (blocks && n == LANES / 4 && b->rows % 4 == 0) k = FN(arg_abreast)(op, 4, b, to);
#else
    if (n <= 8) k = FN(arg_abreast)(op, b, to);
#endif
    if (k == 0 && dense && n <= LANES) k = FN(arg_pieces)(op, b, to->out);
    if (n > LANES && to->step == 1) {
        FN(arg_wide)(op, FN(are_brought)(b), b, to->out, to->row_step);
        return b->layers;
    }
    for (; k < whole; k++)
        FN(put_layer)(op, b, (const T *)b->x + k * b->layer_step, (int64_t *)to->out + k * to->row_step, to->step);
    return k;
}
