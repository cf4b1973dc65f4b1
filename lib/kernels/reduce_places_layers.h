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
#else
/* Layers of up to eight columns of bytes, as many at a time as a vector has words, as in by_words. */
ALWAYS_INLINE int64_t FN(arg_abreast)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    const int64_t n = b->columns, whole = FN(whole_layers)(b, 8);
    int64_t k = 0;
    for (; k + LANES64 <= whole; k += LANES64) {
        const T *x = (const T *)b->x + k * b->layer_step;
        int64_t *out = (int64_t *)to->out + k * to->row_step;
        FN(down) d = {FN(row_of_layers)(b, x), {0}, {0}, 0};
        M at[VECTOR_BYTES];
        for (int64_t r = 0; r < b->rows; r++) FN(go_down)(op, &d, FN(row_of_layers)(b, x + r * b->row_step));
        memcpy(at, &d.where, sizeof at);
        if (to->step == 1 && to->row_step == n && n > 2)
            for (int l = 0; l < LANES64; l++)
                for (int i = 0; i < 8; i++) out[l * n + i] = at[8 * l + i];
        else if (to->step == 1 && to->row_step == n)
            for (int l = 0; l < LANES64; l++)
                for (int i = 0; i < 2; i++) out[l * n + i] = at[8 * l + i];
        else
            for (int l = 0; l < LANES64; l++)
                for (int64_t i = 0; i < n; i++) out[l * to->row_step + i * to->step] = at[8 * l + i];
    }
    return k;
}
#endif

/* As by_some, with places that lie side by side; layers with a NaN one by one. */
ALWAYS_INLINE int64_t FN(arg_some)(lam__reduce_op op, int count, const lam__reduce_block *b, int64_t *out) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    const int64_t n = b->columns, rows = b->rows, s = b->row_step, each = LANES / count;
    const int64_t whole = FN(whole_layers)(b, each);
    const beside p = {count, b->layer_step * (int64_t)sizeof(T)};
    const T *x = b->x;
    int64_t k = 0;
    for (; k + count <= whole; k += count, x += count * b->layer_step, out += count * n) {
        if (b->far) FN(ask_layers)(count, b, x);
        const FN(down) d = FN(first_down)(op, p, rows, x, s);
        M at[LANES];
        memcpy(at, &d.where, sizeof at);
        if (d.unordered)
            for (int i = 0; i < count; i++) {
                const lam__reduce_block one = lam__reduce_layer(b, k + i, sizeof(T));
                FN(arg_apart)(op, &one, 0, (int)n, out + i * n);
            }
        else UNROLLED for (int i = 0; i < count; i++) for (int c = 0; c < each; c++) out[i * n + c] = at[i * each + c];
    }
    return k;
}

ALWAYS_INLINE int64_t FN(arg_pieces_of)(lam__reduce_op op, const lam__reduce_block *b, int64_t *out) {
    const int count = layers_beside(b->columns * (int64_t)sizeof(T));
    if (count == 4) return FN(arg_some)(op, 4, b, out);
    if (count == 2) return FN(arg_some)(op, 2, b, out);
    return FN(arg_some)(op, 1, b, out);
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

/* Layers wider than a vector, as in by_wide. */
ALWAYS_INLINE void FN(arg_wide)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    FN(vec) room[LAYER_BYTES / VECTOR_BYTES];
    const bool brought = FN(are_brought)(BROUGHT_ROW, b);
    const int64_t most = FN(layers_at_once)(brought, b);
    for (int64_t k = 0; k < b->layers; k += most) {
        const int64_t count = b->layers - k < most ? b->layers - k : most;
        const T *x = FN(layers_at)(brought, b, k, count, room);
        for (int64_t i = 0; i < count; i++)
            FN(put_layer)(op, b, x + i * b->layer_step, (int64_t *)to->out + (k + i) * to->row_step, to->step);
    }
}

/* Rows that an M counts. */
enum { FN(ARG_COUNTED) = sizeof(T) == 1 ? INT8_MAX : INT32_MAX };

/* Layers as in by_layers: gives how many are done. */
ALWAYS_INLINE int64_t FN(arg_layers)(lam__reduce_op op, const lam__reduce_block *b, const lam__reduce_target *to) {
    enum { LANES = VECTOR_BYTES / sizeof(T) };
    if (!FN(are_layers)(b) || b->rows > FN(ARG_COUNTED)) return 0;
    const int64_t n = b->columns, whole = FN(whole_layers)(b, LANES);
    const bool dense = to->step == 1 && to->row_step == n;
    int64_t k = 0;
#ifdef LIST
    const bool blocks = dense && b->row_step == n && b->layer_step == b->rows * n;
    if (blocks && n == LANES / 2 && b->rows % 2 == 0) k = FN(arg_abreast)(op, 2, b, to);
    else if (blocks && n == LANES / 4 && b->rows % 4 == 0) k = FN(arg_abreast)(op, 4, b, to);
#else
    if (n <= 8) k = FN(arg_abreast)(op, b, to);
#endif
    if (k == 0 && dense && n <= LANES) k = FN(arg_pieces)(op, b, to->out);
    if (k == 0 && n > LANES) {
        FN(arg_wide)(op, b, to);
        return b->layers;
    }
    for (; k < whole; k++)
        FN(put_layer)(op, b, (const T *)b->x + k * b->layer_step, (int64_t *)to->out + k * to->row_step, to->step);
    return k;
}
