/* Rows of contiguous floats, part of reduce_type.h. A row is folded in groups of 64 bytes, of which the last is filled
 * up with what changes nothing, and the lanes of the group that is left are folded in pairs of neighbours, and these
 * again. So the bits of a result follow from the elements and their number alone. As many rows as a vector has lanes
 * are folded at once: the even and the odd lanes of two vectors, whose fold is one vector, and so on until each row is
 * one lane; rows shorter than half a group begin in the middle, several to a vector. LIST(f, h): f(i, h) for each lane
 * i. No include guard: that is the point. */

enum {
    FN(LANES) = VECTOR_BYTES / sizeof(T),
    FN(WHOLE) = GROUP_BYTES / sizeof(T),      /* elements of a group */
    FN(GROUP) = GROUP_BYTES / VECTOR_BYTES,   /* vectors of it */
    FN(SIDE) = 4 * GROUP_BYTES / VECTOR_BYTES /* vectors of four groups */
};

/* What a fold with any element leaves as it is. -0 and not 0: a sum of negative zeros stays one. */
ALWAYS_INLINE T FN(nothing)(lam__reduce_op op) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: return (T)-0.0;
    case LAM__REDUCE_OP_PROD: return 1;
    case LAM__REDUCE_OP_MAX: return (T)-HUGE_VAL;
    default: return (T)HUGE_VAL;
    }
}

/* ---- one row ------------------------------------------------------------------------------------------------- */

/* Two vectors at once. Ordered: a maximum or minimum by the machine's instruction, which is right unless an element is
 * NaN; *unordered tells whether one was. */
ALWAYS_INLINE void FN(fold_two)(lam__reduce_op op, bool ordered, FN(vec) * a, const FN(vec) * b, unsigned *unordered) {
#if ORDERED
    if (ordered) {
        FN(vec) c = b[0], d = b[1];
        READ_ONCE(c);
        READ_ONCE(d);
        *unordered |= FN(either_is_nan)(c, d);
        a[0] = op == LAM__REDUCE_OP_MAX ? FN(greater)(a[0], c) : FN(less)(a[0], c);
        a[1] = op == LAM__REDUCE_OP_MAX ? FN(greater)(a[1], d) : FN(less)(a[1], d);
        return;
    }
#endif
    (void)ordered, (void)unordered;
    for (int k = 0; k < 2; k++) FN(fold_lanes)(op, a + k, b + k);
}

/* The first 4 `count` groups at x, four side by side. The sums of a row are as many as four groups have lanes, so that
 * additions do not wait for each other, and are folded in halves down to one group. */
ALWAYS_INLINE void FN(four_groups)(lam__reduce_op op, bool ordered, int64_t count, const T *x, FN(vec) * group,
                                   unsigned *unordered) {
    enum { SIDE = FN(SIDE) };
    const FN(vec) *v = (const FN(vec) *)(const void *)x;
    FN(vec) sum[SIDE];
    for (int k = 0; k < SIDE; k++) sum[k] = v[k];
    for (int k = 0; k < SIDE && ordered; k += 2) FN(fold_two)(op, true, sum + k, v + k, unordered);
    for (int64_t i = SIDE; i < count * SIDE; i += SIDE)
        for (int k = 0; k < SIDE; k += 2) FN(fold_two)(op, ordered, sum + k, v + i + k, unordered);
    for (int half = SIDE / 2; half >= FN(GROUP); half /= 2)
        for (int k = 0; k < half; k++) FN(fold_lanes)(op, &sum[k], &sum[k + half]);
    for (int k = 0; k < FN(GROUP); k++) group[k] = sum[k];
}

/* n >= 1 elements become one group. The quick way through maxima tells in the end whether there was a NaN; then all is
 * done again with the careful one. */
ALWAYS_INLINE void FN(gather)(lam__reduce_op op, int64_t n, const T *x, FN(vec) * group) {
    const int64_t fours = n / (4 * FN(WHOLE));
    const T none = FN(nothing)(op);
    const bool ordered = ORDERED && (op == LAM__REDUCE_OP_MAX || op == LAM__REDUCE_OP_MIN);
    unsigned unordered = 0;
    if (fours) FN(four_groups)(op, ordered, fours, x, group, &unordered);
    if (unordered) FN(four_groups)(op, false, fours, x, group, &unordered);
    int64_t i = fours * 4 * FN(WHOLE);
    for (int k = 0; k < FN(GROUP) && !fours; k++) group[k] = FN(first_of)(n - k * FN(LANES), x + k * FN(LANES), none);
    if (!fours) i = FN(WHOLE);
    for (; i < n; i += FN(WHOLE))
        for (int k = 0; k < FN(GROUP); k++) {
            const FN(vec) more = FN(first_of)(n - i - k * FN(LANES), x + i + k * FN(LANES), none);
            FN(fold_lanes)(op, &group[k], &more);
        }
}

/* The neighbours in a and then in b, folded. Lane i of the result is that of lanes 2 i and 2 i + 1 of both, seen as one
 * row of twice as many. */
ALWAYS_INLINE FN(vec) FN(halve)(lam__reduce_op op, FN(vec) a, FN(vec) b) {
    FN(vec) even = __builtin_shufflevector(a, b, LIST(NEIGHBOUR, 0)), odd;
    odd = __builtin_shufflevector(a, b, LIST(NEIGHBOUR, 1));
    FN(fold_lanes)(op, &even, &odd);
    return even;
}

/* n >= 1 elements. */
ALWAYS_INLINE T FN(row)(lam__reduce_op op, int64_t n, const T *x) {
    FN(vec) group[FN(GROUP)], v;
    if (n == 1) return x[0];
    if (n == 2) return FN(fold)(op, x[0], x[1]);
    if (n == 3) return FN(fold)(op, FN(fold)(op, x[0], x[1]), x[2]);
    if (n == 4) return FN(fold)(op, FN(fold)(op, x[0], x[1]), FN(fold)(op, x[2], x[3]));
    FN(gather)(op, n, x, group);
    for (int count = FN(GROUP); count > 1; count /= 2)
        for (int k = 0; k < count / 2; k++) group[k] = FN(halve)(op, group[2 * k], group[2 * k + 1]);
    v = group[0];
    for (int count = FN(LANES); count > 1; count /= 2) v = FN(halve)(op, v, v);
    return v[0];
}

/* ---- few columns side by side ------------------------------------------------------------------------------------ */

/* Columns without gaps, of which a group holds whole rows: a row whose lanes are folded until one of each column is
 * left. Lane j of a group holds column j modulo the number of columns, in every group. */
ALWAYS_INLINE void FN(leaf_few)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    FN(vec) group[FN(GROUP)];
    T lane[FN(WHOLE)];
    FN(gather)(op, b->rows * b->columns, b->x, group);
    memcpy(lane, group, sizeof lane);
    for (int64_t half = FN(WHOLE) / 2; half >= b->columns; half /= 2)
        for (int64_t j = 0; j < half; j++) lane[j] = FN(fold)(op, lane[j], lane[j + half]);
    memcpy(out, lane, (size_t)b->columns * sizeof(T));
}

/* Other few columns without gaps: as many rows of them as a group has lanes are one wide row. The rows that are left
 * come last. */
ALWAYS_INLINE void FN(leaf_odd)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    T wide[8 * FN(WHOLE)];
    const T *x = b->x;
    const int64_t n = b->columns, whole = b->rows / FN(WHOLE), more = b->rows % FN(WHOLE);
    const lam__reduce_block outer = {x, n * FN(WHOLE), 1, whole, n * FN(WHOLE), b->far, 1, 0};
    FN(by_rows)(op, &outer, wide);
    for (int64_t c = 0; c < n; c++) {
        out[c] = FN(column)(op, FN(WHOLE), wide + c, n);
        if (more) out[c] = FN(fold)(op, out[c], FN(column)(op, more, x + whole * FN(WHOLE) * n + c, n));
    }
}

/* ---- many rows ----------------------------------------------------------------------------------------------- */

/* Where as many rows as there are lanes lie. */
typedef struct FN(rows) {
    const T *x;
    int64_t n, step; /* elements of a row, and from one to the next */
} FN(rows);

/* How rows are read: side by side and as long as a size that is folded; shorter than that; as long as two groups. TWICE
 * folds the second group into the first while it is read. */
#ifndef REDUCE_ROW_FORMS
#define REDUCE_ROW_FORMS
typedef enum row_form { DENSE, PADDED, TWICE } row_form;
#endif

/* Vector k of the rows, each of which takes `size` elements, those it lacks filled up. `size` and `form` are constants
 * in all calls, so what remains of this is one or two loads. */
ALWAYS_INLINE FN(vec) FN(piece)(lam__reduce_op op, int size, row_form form, const FN(rows) * r, int k) {
    enum { LANES = FN(LANES) };
    const int pieces = size > LANES ? size / LANES : 1, row = k / pieces, at = k % pieces * LANES;
    const T none = FN(nothing)(op);
    if (form == DENSE) return *(const FN(vec) *)(const void *)(r->x + row * (size > LANES ? size : LANES) + at);
#if SPREADS
    if (size < LANES) return FN(spread)(size, r->n, r->x + k * (LANES / size) * r->step, r->step, none);
#endif
    FN(vec) v = FN(first_of)(form == TWICE ? LANES : r->n - at, r->x + row * r->step + at, none);
    if (form == TWICE) {
        const FN(vec) more = FN(first_of)(r->n - FN(WHOLE) - at, r->x + row * r->step + FN(WHOLE) + at, none);
        FN(fold_lanes)(op, &v, &more);
    }
    return v;
}

ALWAYS_INLINE FN(vec) FN(fold_2)(lam__reduce_op op, int size, row_form form, const FN(rows) * r, int k) {
    return FN(halve)(op, FN(piece)(op, size, form, r, k), FN(piece)(op, size, form, r, k + 1));
}

ALWAYS_INLINE FN(vec) FN(fold_4)(lam__reduce_op op, int size, row_form form, const FN(rows) * r, int k) {
    return FN(halve)(op, FN(fold_2)(op, size, form, r, k), FN(fold_2)(op, size, form, r, k + 2));
}

ALWAYS_INLINE FN(vec) FN(fold_8)(lam__reduce_op op, int size, row_form form, const FN(rows) * r, int k) {
    return FN(halve)(op, FN(fold_4)(op, size, form, r, k), FN(fold_4)(op, size, form, r, k + 4));
}

/* All rows: `size` vectors become one. In the order in which a single row is folded: neighbours, then neighbours of
 * these. */
ALWAYS_INLINE FN(vec) FN(fold_rows)(lam__reduce_op op, int size, row_form form, const FN(rows) * r) {
    if (size == 2) return FN(fold_2)(op, 2, form, r, 0);
    if (size == 4) return FN(fold_4)(op, 4, form, r, 0);
    if (size == 8) return FN(fold_8)(op, 8, form, r, 0);
    return FN(halve)(op, FN(fold_8)(op, size, form, r, 0), FN(fold_8)(op, size, form, r, 8));
}

/* Three elements side by side. Three vectors hold as many rows as one has lanes. */
ALWAYS_INLINE FN(vec) FN(fold_triples)(lam__reduce_op op, const T *x) {
    const FN(vec) *v = (const FN(vec) *)(const void *)x;
    const FN(vec) a = v[0], b = v[1], c = v[2];
    FN(vec) e = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 0)), c, LIST(SECOND, 0));
    FN(vec) f = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 1)), c, LIST(SECOND, 1));
    FN(vec) g = __builtin_shufflevector(__builtin_shufflevector(a, b, LIST(FIRST, 2)), c, LIST(SECOND, 2));
    FN(fold_lanes)(op, &e, &f);
    FN(fold_lanes)(op, &e, &g);
    return e;
}

/* Rows longer than two groups become groups side by side first. */
ALWAYS_INLINE FN(vec) FN(fold_long_rows)(lam__reduce_op op, const FN(rows) * r) {
    _Alignas(GROUP_BYTES) T room[FN(LANES) * FN(WHOLE)];
    for (int i = 0; i < FN(LANES); i++) {
        FN(vec) group[FN(GROUP)];
        FN(gather)(op, r->n, r->x + i * r->step, group);
        memcpy(room + i * FN(WHOLE), group, sizeof group);
    }
    const FN(rows) groups = {room, FN(WHOLE), FN(WHOLE)};
    return FN(fold_rows)(op, FN(WHOLE), DENSE, &groups);
}

/* The last rows overlap those before. size 3: triples; 0: longer than two groups. */
ALWAYS_INLINE void FN(each_rows)(lam__reduce_op op, int size, row_form form, const lam__reduce_block *b,
                                 T *restrict out) {
    FN(rows) r = {NULL, b->rows, b->step};
    const bool ahead = b->far && b->rows <= LAM__REDUCE_SHORT;
    for (int64_t next = 0; next < b->columns; next += FN(LANES)) {
        const int64_t c = next + FN(LANES) <= b->columns ? next : b->columns - FN(LANES);
        r.x = (const T *)b->x + c * r.step;
        for (int64_t i = 0; ahead && i < FN(LANES) * r.step * (int64_t)sizeof(T); i += 64)
            __builtin_prefetch((const char *)r.x + AHEAD_BYTES + i);
        const FN(vec) v = size == 3   ? FN(fold_triples)(op, r.x)
                          : size == 0 ? FN(fold_long_rows)(op, &r)
                                      : FN(fold_rows)(op, size, form, &r);
        memcpy(out + c, &v, sizeof v);
    }
}

ALWAYS_INLINE void FN(leaf_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->rows;
    const bool dense = b->step == n;
    if (b->columns < FN(LANES))
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(row)(op, n, (const T *)b->x + c * b->step);
    else if (n == 2 && dense) FN(each_rows)(op, 2, DENSE, b, out);
    else if (n == 3 && dense) FN(each_rows)(op, 3, DENSE, b, out);
    else if (n == 4 && dense) FN(each_rows)(op, 4, DENSE, b, out);
    else if (n <= 4) FN(each_rows)(op, 4, PADDED, b, out);
    else if (n == 8 && dense) FN(each_rows)(op, 8, DENSE, b, out);
    else if (n <= 8) FN(each_rows)(op, 8, PADDED, b, out);
    else if (n <= FN(WHOLE)) FN(each_rows)(op, FN(WHOLE), PADDED, b, out);
    else if (n <= 2 * FN(WHOLE)) FN(each_rows)(op, FN(WHOLE), TWICE, b, out);
    else FN(each_rows)(op, 0, PADDED, b, out);
}
