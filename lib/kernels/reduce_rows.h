/* Rows of contiguous floats, part of reduce_type.h. A row is folded in groups of 64 bytes, of which the last is filled
 * up with what changes nothing, and the lanes of the group that is left are folded in pairs of neighbours, and these
 * again. So the bits of a result follow from the elements and their number alone. Many rows are folded level by level:
 * the even and the odd lanes of two vectors, whose fold is one vector, two levels at a time, with what is between them
 * in a part of the first cache; rows shorter than half a group lie several to a vector. A lane may be a block of
 * columns: so are dense layers folded. LIST(f, h): f(i, h) for each lane i. No include guard: that is the point. */

enum {
    FN(LANES) = VECTOR_BYTES / sizeof(T),
    FN(WHOLE) = GROUP_BYTES / sizeof(T),      /* elements of a group */
    FN(GROUP) = GROUP_BYTES / VECTOR_BYTES,   /* vectors of it */
    FN(SIDE) = 4 * GROUP_BYTES / VECTOR_BYTES /* vectors of four groups */
};

/* What a fold with any element leaves as it is. -0 and not 0: a sum of negative zeros stays one. */
ALWAYS_INLINE LANE FN(nothing)(lam__reduce_op op) {
    switch (op) {
    case LAM__REDUCE_OP_SUM: return (LANE)-0.0;
    case LAM__REDUCE_OP_PROD: return 1;
    case LAM__REDUCE_OP_MAX: return (LANE)-HUGE_VAL;
    default: return (LANE)HUGE_VAL;
    }
}

/* ---- one row ------------------------------------------------------------------------------------------------- */

/* Two vectors at once. Ordered: a maximum or minimum by the machine's instruction, which is right unless an element is
 * NaN; *unordered tells whether one was. */
ALWAYS_INLINE void FN(fold_two)(lam__reduce_op op, bool ordered, FN(vec) * a, const E *b, unsigned *unordered) {
    FN(vec) c = FN(at)(b), d = FN(at)(b + FN(LANES));
#if ORDERED
    if (ordered) {
        READ_ONCE(c);
        READ_ONCE(d);
        *unordered |= FN(either_is_nan)(c, d);
        a[0] = op == LAM__REDUCE_OP_MAX ? FN(greater)(a[0], c) : FN(less)(a[0], c);
        a[1] = op == LAM__REDUCE_OP_MAX ? FN(greater)(a[1], d) : FN(less)(a[1], d);
        return;
    }
#endif
    (void)ordered, (void)unordered;
    FN(fold_lanes)(op, a, &c);
    FN(fold_lanes)(op, a + 1, &d);
}

/* The first 4 `count` groups at x, four side by side. The sums of a row are as many as four groups have lanes, so that
 * additions do not wait for each other, and are folded in halves down to one group. */
ALWAYS_INLINE void FN(four_groups)(lam__reduce_op op, bool ordered, int64_t count, const E *x, FN(vec) * group,
                                   unsigned *unordered) {
    enum { SIDE = FN(SIDE) };
    FN(vec) sum[SIDE];
    UNROLLED for (int k = 0; k < SIDE; k++) sum[k] = FN(at)(x + k * FN(LANES));
    if (ordered)
        UNROLLED for (int k = 0; k < SIDE; k += 2) FN(fold_two)(op, true, sum + k, x + k * FN(LANES), unordered);
    for (int64_t i = SIDE; i < count * SIDE; i += SIDE)
        UNROLLED for (int k = 0; k < SIDE; k += 2)
            FN(fold_two)(op, ordered, sum + k, x + (i + k) * FN(LANES), unordered);
    UNROLLED for (int k = 0; k < SIDE / 2; k++) FN(fold_lanes)(op, &sum[k], &sum[k + SIDE / 2]);
    UNROLLED for (int k = 0; k < FN(GROUP); k++) {
        FN(fold_lanes)(op, &sum[k], &sum[k + FN(GROUP)]);
        group[k] = sum[k];
    }
}

/* n >= 1 elements become one group. The quick way through maxima tells in the end whether there was a NaN; then all is
 * done again with the careful one. */
ALWAYS_INLINE void FN(gather)(lam__reduce_op op, int64_t n, const E *x, FN(vec) * group) {
    const int64_t fours = n / (4 * FN(WHOLE));
    const LANE none = FN(nothing)(op);
    const bool ordered = ORDERED && (op == LAM__REDUCE_OP_MAX || op == LAM__REDUCE_OP_MIN);
    unsigned unordered = 0;
    if (fours) FN(four_groups)(op, ordered, fours, x, group, &unordered);
    if (unordered) FN(four_groups)(op, false, fours, x, group, &unordered);
    int64_t i = fours ? fours * 4 * FN(WHOLE) : FN(WHOLE);
    for (int k = 0; k < FN(GROUP) && !fours; k++) group[k] = FN(first_of)(n - k * FN(LANES), x + k * FN(LANES), none);
    for (; i + FN(WHOLE) <= n; i += FN(WHOLE))
        for (int k = 0; k < FN(GROUP); k++) {
            const FN(vec) more = FN(at)(x + i + k * FN(LANES));
            FN(fold_lanes)(op, &group[k], &more);
        }
    if (i < n)
        for (int k = 0; k < FN(GROUP); k++) {
            const FN(vec) more = FN(first_of)(n - i - k * FN(LANES), x + i + k * FN(LANES), none);
            FN(fold_lanes)(op, &group[k], &more);
        }
}

/* Neighbours in a and then in b, folded: blocks of `width` lanes, a constant. Block i of the result is that of blocks
 * 2 i and 2 i + 1 of both, seen as one row of twice as many. */
ALWAYS_INLINE FN(vec) FN(halve)(lam__reduce_op op, int width, FN(vec) a, FN(vec) b) {
    FN(vec) even = a, odd = b;
#define MEET(width)                                                                                                    \
    case width:                                                                                                        \
        even = __builtin_shufflevector(a, b, LIST(EVEN_BLOCK, PARTS * width));                                         \
        odd = __builtin_shufflevector(a, b, LIST(ODD_BLOCK, PARTS * width));                                           \
        break
    switch (width) {
        MEET(1);
        MEET(2);
        MEET(4);
        MEET(8);
    }
#undef MEET
    FN(fold_lanes)(op, &even, &odd);
    return even;
}

/* The first elements of a row of complex factors, as many as are whole groups; the others are a column, as is a row of
 * fewer than four groups. */
ALWAYS_INLINE int64_t FN(in_groups)(lam__reduce_op op, int64_t n) {
    if (PARTS == 1 || op != LAM__REDUCE_OP_PROD) return n;
    return n < 4 * FN(WHOLE) ? 0 : n & -FN(WHOLE);
}

/* n >= 1 elements. */
ALWAYS_INLINE T FN(row)(lam__reduce_op op, int64_t n, const E *x) {
    const int64_t whole = FN(in_groups)(op, n);
    FN(vec) group[FN(GROUP)], v;
    T all;
    if (whole == 0) return FN(column)(op, n, x, 1);
    if (n == 1) return x[0];
    if (n == 2) return FN(fold)(op, x[0], x[1]);
    if (n == 3) return FN(fold)(op, FN(fold)(op, x[0], x[1]), x[2]);
    if (n == 4) return FN(fold)(op, FN(fold)(op, x[0], x[1]), FN(fold)(op, x[2], x[3]));
    FN(gather)(op, whole, x, group);
    for (int count = FN(GROUP); count > 1; count /= 2)
        for (int k = 0; k < count / 2; k++) group[k] = FN(halve)(op, 1, group[2 * k], group[2 * k + 1]);
    v = group[0];
    for (int count = FN(LANES); count > 1; count /= 2) v = FN(halve)(op, 1, v, v);
    memcpy(&all, &v, sizeof all);
    return whole < n ? FN(fold)(op, all, FN(column)(op, n - whole, x + whole, 1)) : all;
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
    const E *x = b->x;
    const int64_t n = b->columns, whole = b->rows / FN(WHOLE), more = b->rows % FN(WHOLE);
    const lam__reduce_block outer = lam__reduce_side(x, n * FN(WHOLE), whole, b->far);
    FN(by_rows)(op, &outer, wide);
    for (int64_t c = 0; c < n; c++) {
        out[c] = NEAR(column)(op, FN(WHOLE), wide + c, n);
        if (more) out[c] = FN(fold)(op, out[c], FN(column)(op, more, x + whole * FN(WHOLE) * n + c, n));
    }
}

/* ---- many rows ----------------------------------------------------------------------------------------------- */

/* What lies in vectors is folded in halves, level by level: first where it lies, then in a part of the first cache. */
enum { FN(ROOM) = ROOM_BYTES / sizeof(T) };

/* Where rows lie. */
typedef struct FN(rows) {
    const E *x;
    int64_t n, step; /* elements of a row, and from one to the next */
} FN(rows);

/* Vector k of the rows, each of which takes `size` elements, those it lacks filled up; rows of several groups are
 * folded, group by group, while they are read. groups 0: vectors as they lie. `size` and `groups` are constants in all
 * calls. */
ALWAYS_INLINE FN(vec) FN(piece)(lam__reduce_op op, int size, int groups, const FN(rows) * r, int64_t k) {
    enum { LANES = FN(LANES) };
    if (groups == 0) return FN(at)(r->x + k * LANES);
    const int64_t pieces = size > LANES ? size / LANES : 1, row = k / pieces, at = k % pieces * LANES;
    const LANE none = FN(nothing)(op);
    const E *x = r->x + row * r->step + at;
#if SPREADS
    if (size < LANES) return FN(spread)(size, r->n, r->x + k * (LANES / size) * r->step, r->step, none);
#endif
    FN(vec) v = groups > 1 ? FN(at)(x) : (FN(vec))FN(first_of)(r->n - at, x, none);
    for (int g = 1; g < groups; g++) {
        const int64_t behind = g * FN(WHOLE);
        const FN(vec) more =
            g < groups - 1 ? FN(at)(x + behind) : (FN(vec))FN(first_of)(r->n - at - behind, x + behind, none);
        FN(fold_lanes)(op, &v, &more);
    }
    return v;
}

/* `count` vectors, each of four; of two. `out` may be what is read: what is written has been read. */
ALWAYS_INLINE void FN(by_fours)(lam__reduce_op op, int width, int size, int groups, int64_t count, const FN(rows) * r,
                                T *out) {
    for (int64_t i = 0; i < count; i++) {
        FN(vec) v[4];
        for (int k = 0; k < 4; k++) v[k] = FN(piece)(op, size, groups, r, 4 * i + k);
        v[0] = FN(halve)(op, width, v[0], v[1]), v[2] = FN(halve)(op, width, v[2], v[3]);
        v[0] = FN(halve)(op, width, v[0], v[2]);
        memcpy(out + i * FN(LANES), v, sizeof *v);
    }
}

ALWAYS_INLINE void FN(by_twos)(lam__reduce_op op, int width, int64_t count, const E *x, T *out) {
    enum { LANES = FN(LANES) };
    for (int64_t i = 0; i < count; i++) {
        const FN(vec) half = FN(halve)(op, width, FN(at)(x + 2 * i * LANES), FN(at)(x + (2 * i + 1) * LANES));
        memcpy(out + i * LANES, &half, sizeof half);
    }
}

/* `count` vectors, each of `size` in the room: 2 or 4. */
ALWAYS_INLINE void FN(by_rest)(lam__reduce_op op, int width, int64_t size, int64_t count, const T *room, T *out) {
    const NEAR(rows) r = {room, 0, 0};
    if (size == 4) NEAR(by_fours)(op, width, 0, 0, count, &r, out);
    else NEAR(by_twos)(op, width, count, room, out);
}

/* So many elements without gaps that are about to be read: brought from memory (NOTE [bringing] in reduce_columns.h);
 * from the third cache lines ahead of them are asked for. */
ALWAYS_INLINE void FN(fetch)(lam__reduce_reach far, const E *x, int64_t elements) {
    if (BRINGS_ROWS && far == LAM__REDUCE_MEMORY) FN(touch)(elements, x);
    else
        for (int64_t i = 0; far && i < elements * (int64_t)sizeof(E); i += 64)
            __builtin_prefetch((const char *)x + AHEAD_BYTES + i);
}

/* The same of n rows of a block, which are asked for where more than half of what lies there is gaps. */
ALWAYS_INLINE void FN(fetch_rows)(const lam__reduce_block *b, const E *x, int64_t n) {
    const bool gaps = b->far && b->step > 2 * b->rows;
    FN(fetch)(gaps ? LAM__REDUCE_FAR : b->far, x, (n - 1) * b->step + b->rows);
}

/* Rows without gaps of `size` blocks, 2, 4, 8 or 16: as many results as `count` vectors have, as much at a time as the
 * room takes. */
ALWAYS_INLINE void FN(fold_dense)(lam__reduce_op op, int width, int64_t size, int64_t count, lam__reduce_reach far,
                                  const E *x, T *restrict out) {
    enum { LANES = FN(LANES), MOST = ROOM_BYTES / VECTOR_BYTES / 4 };
    _Alignas(GROUP_BYTES) T room[FN(ROOM)];
    const int64_t most = far ? ASK_BYTES / VECTOR_BYTES / size : MOST;
    for (int64_t i = 0; i < count; i += most) {
        const int64_t n = count - i < most ? count - i : most;
        const FN(rows) r = {x + i * size * LANES, 0, 0};
        FN(fetch)(far, r.x, n * size * LANES);
        if (size == 2) FN(by_twos)(op, width, n, r.x, out + i * LANES);
        else FN(by_fours)(op, width, 0, 0, n * size / 4, &r, size == 4 ? out + i * LANES : room);
        if (size > 4) FN(by_rest)(op, width, size / 4, n, room, out + i * LANES);
    }
}

/* The first level of `count` rows of up to so many groups; gives how many vectors are left for one. */
ALWAYS_INLINE int FN(fold_laid)(lam__reduce_op op, int size, int groups, int64_t count, const FN(rows) * r, T *room,
                                T *out) {
    FN(by_fours)(op, 1, size, groups, count * size / FN(LANES) / 4, r, size == 4 ? out : room);
    return size / 4;
}

/* Rows of four groups and more, first as groups side by side. */
ALWAYS_INLINE int FN(fold_long)(lam__reduce_op op, int64_t count, const FN(rows) * r, T *room, T *out) {
    const NEAR(rows) groups = {room, 0, 0};
    for (int64_t i = 0; i < count; i++) {
        FN(vec) group[FN(GROUP)];
        FN(gather)(op, r->n, r->x + i * r->step, group);
        memcpy(room + i * FN(WHOLE), group, sizeof group);
    }
    return NEAR(fold_laid)(op, FN(WHOLE), 0, count, &groups, room, out);
}

/* How many rows, `step` bytes from each other, are folded at once: as many as the room takes, or where they are asked
 * for so few that it is not long until they are read. */
ALWAYS_INLINE int64_t FN(rows_at_once)(bool asked, int64_t step) {
    enum { LANES = FN(LANES), MOST = FN(ROOM) / FN(WHOLE) / LANES * LANES };
    const int64_t some = asked && step > 0 ? ASK_BYTES / step & -LANES : MOST;
    return some > MOST ? MOST : some > LANES ? some : LANES;
}

/* Any rows, at least as many as a vector has lanes; the last ones overlap those before. */
ALWAYS_INLINE void FN(fold_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    enum { LANES = FN(LANES), WHOLE = FN(WHOLE) };
    _Alignas(GROUP_BYTES) T room[FN(ROOM)];
    FN(rows) r = {NULL, b->rows, b->step};
    const bool ahead = b->far && b->rows <= LAM__REDUCE_SHORT;
    const int64_t most = FN(rows_at_once)(ahead, b->step * (int64_t)sizeof(T));
    int left;
    for (int64_t c = 0, n; c < b->columns; c += n) {
        n = b->columns - c < most ? (b->columns - c) & -LANES : most;
        if (n == 0) n = LANES, c = b->columns - LANES;
        r.x = (const E *)b->x + c * r.step;
        if (ahead) FN(fetch_rows)(b, r.x, n);
        if (r.n <= 4) left = FN(fold_laid)(op, 4, 1, n, &r, room, out + c);
        else if (WHOLE > 8 && r.n <= 8) left = FN(fold_laid)(op, 8, 1, n, &r, room, out + c);
        else if (r.n <= WHOLE) left = FN(fold_laid)(op, WHOLE, 1, n, &r, room, out + c);
        else if (r.n <= 2 * WHOLE) left = FN(fold_laid)(op, WHOLE, 2, n, &r, room, out + c);
        else if (r.n <= 3 * WHOLE) left = FN(fold_laid)(op, WHOLE, 3, n, &r, room, out + c);
        else if (r.n < 4 * WHOLE) left = FN(fold_laid)(op, WHOLE, 4, n, &r, room, out + c);
        else left = FN(fold_long)(op, n, &r, room, out + c);
        if (left > 1) FN(by_rest)(op, 1, left, n / LANES, room, out + c);
    }
}

#if PARTS == 2
/* Short rows of factors are columns, as many side by side as a vector has elements; the last ones overlap those
 * before. */
ALWAYS_INLINE void FN(rows_across)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const beside p = {FN(LANES), b->step * (int64_t)sizeof(T)};
    for (int64_t next = 0; next < b->columns; next += FN(LANES)) {
        const int64_t c = next + FN(LANES) <= b->columns ? next : b->columns - FN(LANES);
        const E *x = (const E *)b->x + c * b->step;
        FN(fetch_rows)(b, x, FN(LANES));
        const FN(vec) v = FN(column_lanes)(op, p, b->rows, x, 1);
        memcpy(out + c, &v, sizeof v);
    }
}
#endif

ALWAYS_INLINE void FN(leaf_rows)(lam__reduce_op op, const lam__reduce_block *b, T *restrict out) {
    const int64_t n = b->rows, last = b->columns - FN(LANES);
    const bool dense = b->step == n;
    if (last < 0 || (PARTS == 2 && op == LAM__REDUCE_OP_PROD && n >= 4 * FN(WHOLE)))
        for (int64_t c = 0; c < b->columns; c++) out[c] = FN(row)(op, n, (const E *)b->x + c * b->step);
#if PARTS == 1
    else if (n == 3 && dense) FN(each_triple)(op, b, out);
#endif
    else if (dense && n <= FN(WHOLE) && (n == 2 || n == 4 || n == 8 || n == FN(WHOLE))) {
        /* The last ones overlap those before: both are one loop, so that there is one text. */
        const E *x = b->x;
        int64_t c = 0, count = b->columns / FN(LANES);
        while (count > 0) {
            FN(fold_dense)(op, 1, n, count, b->far, x + c * n, out + c);
            count = c == 0 && b->columns % FN(LANES) ? 1 : 0;
            c = last;
        }
    }
#if PARTS == 2
    else if (op == LAM__REDUCE_OP_PROD)
        FN(rows_across)(op, b, out);
#endif
    else FN(fold_rows)(op, b, out);
}
