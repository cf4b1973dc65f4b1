/* Template: moving items of one size. Include with T (an integer of the size), SIDE (4 or 8), WIDE_SIDE (of squares in
 * turn_wide.h; 0: none) and NAME(x). Squares go through registers, so that neither side is walked in steps; where a
 * side is no multiple of the square's the last one overlaps the one before, which is moved again. No include guard:
 * that is the point. Steps are in items throughout. Overlapping squares write the same items twice, so the destination
 * must not be the source. */

/* Vectors of four items, whatever their size: what shuffles are written for. */
typedef T NAME(quad) __attribute__((vector_size(4 * sizeof(T))));

/* Four items, side by side or `step` apart. */
ALWAYS_INLINE void NAME(load)(const T *from, int64_t step, NAME(quad) * v) {
    if (step == 1) memcpy(v, from, sizeof *v);
    else *v = (NAME(quad)){from[0], from[step], from[2 * step], from[3 * step]};
}

/* Four columns become the four rows at `to`. In two rounds of shuffles: pairs of columns, then pairs of pairs. to_step
 * is from row to row. */
ALWAYS_INLINE void NAME(store_turned)(const NAME(quad) * v, T *to, int64_t to_step) {
    const NAME(quad) w = v[0], x = v[1], y = v[2], z = v[3];
    NAME(quad) wx_even = __builtin_shufflevector(w, x, 0, 4, 2, 6), wx_odd = __builtin_shufflevector(w, x, 1, 5, 3, 7);
    NAME(quad) yz_even = __builtin_shufflevector(y, z, 0, 4, 2, 6), yz_odd = __builtin_shufflevector(y, z, 1, 5, 3, 7);
    NAME(quad) row[4];
    row[0] = __builtin_shufflevector(wx_even, yz_even, 0, 1, 4, 5);
    row[1] = __builtin_shufflevector(wx_odd, yz_odd, 0, 1, 4, 5);
    row[2] = __builtin_shufflevector(wx_even, yz_even, 2, 3, 6, 7);
    row[3] = __builtin_shufflevector(wx_odd, yz_odd, 2, 3, 6, 7);
    UNROLLED for (int k = 0; k < 4; k++) memcpy(to + k * to_step, &row[k], sizeof row[k]);
}

/* Squares of eight, where a register holds eight items. */
#if SIDE == 8
typedef T NAME(octet) __attribute__((vector_size(8 * sizeof(T))));

/* Eight columns become the eight rows at `to`: pairs, then pairs of pairs, then halves. */
ALWAYS_INLINE void NAME(store_turned_8)(const NAME(octet) * v, T *to, int64_t to_step) {
    NAME(octet) two[8], four[8];
    UNROLLED for (int k = 0; k < 8; k += 2) {
        two[k] = __builtin_shufflevector(v[k], v[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        two[k + 1] = __builtin_shufflevector(v[k], v[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    UNROLLED for (int i = 0; i < 4; i++) {
        const int k = i / 2 * 4 + i % 2;
        four[k] = __builtin_shufflevector(two[k], two[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        four[k + 2] = __builtin_shufflevector(two[k], two[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    UNROLLED for (int k = 0; k < 4; k++) {
        NAME(octet) low = __builtin_shufflevector(four[k], four[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        NAME(octet) high = __builtin_shufflevector(four[k], four[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        memcpy(to + k * to_step, &low, sizeof low);
        memcpy(to + (k + 4) * to_step, &high, sizeof high);
    }
}
#endif

/* ---- columns side by side ---------------------------------------------------------------------------------------- */

/* Four rows of columns j to j + 3, from row i on. Columns have steps of their own, also 0 and negative ones. */
ALWAYS_INLINE void NAME(turn_columns)(const T *const column[], const int64_t step[], int64_t i, int64_t j, T *to,
                                      int64_t to_step) {
    NAME(quad) v[4];
    for (int k = 0; k < 4; k++) NAME(load)(column[j + k] + i * step[j + k], step[j + k], &v[k]);
    NAME(store_turned)(v, to + j, to_step);
}

/* Four rows of all columns. The last four columns overlap those before; fewer than four go item by item. */
ALWAYS_INLINE void NAME(four_rows)(int64_t n, const T *const column[], const int64_t step[], int64_t i, T *to,
                                   int64_t to_step) {
    for (int64_t next = 0; next < n && n >= 4; next += 4)
        NAME(turn_columns)(column, step, i, next + 4 <= n ? next : n - 4, to, to_step);
    for (int64_t j = 0; j < n && n < 4; j++)
        for (int k = 0; k < 4; k++) to[k * to_step + j] = column[j][(i + k) * step[j]];
}

#if SIDE == 8
/* Bands of eight rows, from `first` to `end`, of eight columns without gaps. to: of row 0, here and below. */
ALWAYS_INLINE void NAME(dense_bands)(int64_t first, int64_t end, const T *const column[], T *to, int64_t to_step) {
    for (int64_t i = first; i < end; i += 8) {
        NAME(octet) v[8];
        UNROLLED for (int k = 0; k < 8; k++) memcpy(&v[k], column[k] + i, sizeof v[k]);
        NAME(store_turned_8)(v, to + i * to_step, to_step);
    }
}

/* Eight columns as vectors read them: those of step 1 row by row; one of step 0, a number that stands for all rows, has
 * eight copies, which every band reads again. */
typedef struct NAME(eight) {
    const T *from[8];
    int64_t on[8];
    T filled[8][8];
} NAME(eight);

/* false: one of the columns has gaps. */
static bool NAME(eight_columns)(NAME(eight) * e, const T *const column[], const int64_t step[]) {
    for (int k = 0; k < 8; k++) {
        e->from[k] = column[k];
        e->on[k] = -1;
        if (step[k] == 1) continue;
        if (step[k] != 0) return false;
        for (int r = 0; r < 8; r++) e->filled[k][r] = column[k][0];
        e->from[k] = e->filled[k];
        e->on[k] = 0;
    }
    return true;
}

/* The same where some are numbers that stand for all rows. Where columns have gaps, by squares of four. */
static void NAME(mixed_bands)(int64_t first, int64_t end, const T *const column[], const int64_t step[], T *to,
                              int64_t to_step) {
    NAME(eight) e;
    const T *from[8];
    int64_t on[8];
    if (!NAME(eight_columns)(&e, column, step)) {
        for (int64_t i = first; i < end; i += 4)
            for (int c = 0; c < 8; c += 4) NAME(turn_columns)(column, step, i, c, to + i * to_step, to_step);
        return;
    }
    for (int k = 0; k < 8; k++) from[k] = e.from[k], on[k] = e.on[k];
    for (int64_t i = first; i < end; i += 8) {
        NAME(octet) v[8];
        UNROLLED for (int k = 0; k < 8; k++) memcpy(&v[k], from[k] + (i & on[k]), sizeof v[k]);
        NAME(store_turned_8)(v, to + i * to_step, to_step);
    }
}

/* Whether there are gaps is asked without a branch for each. */
ALWAYS_INLINE bool NAME(dense_8)(const int64_t step[]) {
    int64_t gaps = 0;
    for (int k = 0; k < 8; k++) gaps |= step[k] ^ 1;
    return gaps == 0;
}

/* Whole bands of eight rows of all columns, of which there are eight or more -> how many rows those are. The last eight
 * columns overlap those before where their number is no multiple of eight. Some bands at a time, so that lines of which
 * eight columns write a part are near when the next eight do. */
static int64_t NAME(bands_of_8)(int64_t rows, int64_t n, const T *const column[], const int64_t step[], T *to,
                                int64_t to_step) {
    enum { SOME = 64 };
    const int64_t whole = rows - rows % 8;
    for (int64_t i = 0; i < whole; i += SOME) {
        const int64_t end = whole - i < SOME ? whole : i + SOME;
        for (int64_t next = 0; next < n; next += 8) {
            const int64_t j = next + 8 <= n ? next : n - 8;
            if (NAME(dense_8)(step + j)) NAME(dense_bands)(i, end, column + j, to + j, to_step);
            else NAME(mixed_bands)(i, end, column + j, step + j, to + j, to_step);
        }
    }
    return whole;
}
#endif

/* Two or three columns without gaps that are all there is of a row, as the components of points: compilers make
 * shuffles of these loops. False: they are not so. */
static bool NAME(few_columns)(int64_t rows, int64_t n, const T *const column[], const int64_t step[], T *restrict to,
                              int64_t to_step) {
    if (to_step != n || (n != 2 && n != 3) || step[0] != 1 || step[1] != 1 || step[n - 1] != 1) return false;
    const T *restrict a = column[0], *restrict b = column[1], *restrict c = column[n - 1];
    if (n == 2)
        for (int64_t i = 0; i < rows; i++) {
            to[2 * i] = a[i];
            to[2 * i + 1] = b[i];
        }
    else
        for (int64_t i = 0; i < rows; i++) {
            to[3 * i] = a[i];
            to[3 * i + 1] = b[i];
            to[3 * i + 2] = c[i];
        }
    return true;
}

/* Fewer rows than a square has; a constant in the calls where points of three coordinates make it worth while. */
ALWAYS_INLINE void NAME(short_columns)(int64_t rows, int64_t n, const T *const column[], const int64_t step[], T *to,
                                       int64_t to_step) {
    for (int64_t j = 0; j < n; j++)
        for (int64_t k = 0; k < rows; k++) to[k * to_step + j] = column[j][k * step[j]];
}

/* Bands of eight rows, then of four; the last band overlaps the one before, unless there are fewer than four rows in
 * all. Items written twice get the same values. */
static void NAME(columns)(int64_t rows, int64_t n, const void *const from[], const int64_t step[], void *dst,
                          int64_t to_step) {
    const T *const *column = (const T *const *)from;
    T *to = dst;
    int64_t i = 0;
    if (NAME(few_columns)(rows, n, column, step, to, to_step)) return;
#if SIDE == 8
    if (n >= 8) i = NAME(bands_of_8)(rows, n, column, step, to, to_step);
#endif
    for (; i + 4 <= rows; i += 4) NAME(four_rows)(n, column, step, i, to + i * to_step, to_step);
    if (i == rows) return;
    if (rows >= 4) /* the last four again */
        NAME(four_rows)(n, column, step, rows - 4, to + (rows - 4) * to_step, to_step);
    else if (rows == 3) NAME(short_columns)(3, n, column, step, to, to_step);
    else NAME(short_columns)(rows, n, column, step, to, to_step);
}

/* ---- transposed planes ------------------------------------------------------------------------------------------- */

/* A square whose columns are runs of src: read by runs, written by rows. Steps are those between columns of src and
 * between rows of dst. */
ALWAYS_INLINE void NAME(square_4)(const T *from, int64_t from_step, T *to, int64_t to_step) {
    NAME(quad) v[4];
    UNROLLED for (int k = 0; k < 4; k++) memcpy(&v[k], from + k * from_step, sizeof v[k]);
    NAME(store_turned)(v, to, to_step);
}

#if SIDE == 8
/* The same with eight columns. */
ALWAYS_INLINE void NAME(square_8)(const T *from, int64_t from_step, T *to, int64_t to_step) {
    NAME(octet) v[8];
    UNROLLED for (int k = 0; k < 8; k++) memcpy(&v[k], from + k * from_step, sizeof v[k]);
    NAME(store_turned_8)(v, to, to_step);
}
#endif

/* side is a constant in every call, so one of these is left. Of 4 and 8 items, or as wide as a vector. */
ALWAYS_INLINE void NAME(square)(int side, const T *from, int64_t from_step, T *to, int64_t to_step) {
    if (side == 4) NAME(square_4)(from, from_step, to, to_step);
#if SIDE == 8
    else if (side == 8 && side != WIDE_SIDE) NAME(square_8)(from, from_step, to, to_step);
#endif
#if WIDE_SIDE
    else
        NAME(wide_square)((const char *)from, from_step * (int64_t)sizeof(T), (char *)to, to_step * (int64_t)sizeof(T));
#endif
}

/* Bands of two squares, so that what is read of a line is used while it is near; short lines are read as they follow
 * each other. Lines to be written are asked for in advance where they come from far: each band touches others than the
 * hardware foresees. The last band and the last column of squares overlap those before them. */
ALWAYS_INLINE void NAME(plane_of)(int side, int64_t rows, int64_t n, const T *src, int64_t src_step, T *dst,
                                  int64_t dst_step, bool far) {
    enum { AHEAD = 256 / sizeof(T), SHORT = 512 / sizeof(T) };
    const int64_t band = rows <= SHORT ? SHORT : 2 * side;
    for (int64_t i = 0; i < rows; i += band) {
        const int64_t end = i + band < rows ? i + band : rows;
        for (int64_t next = 0; next < n; next += side) {
            const int64_t j = next + side <= n ? next : n - side;
            for (int64_t k = i; far && k < end; k++) __builtin_prefetch(dst + k * dst_step + j + AHEAD, 1);
            for (int64_t k = i; k < end; k += side) {
                const int64_t row = k + side <= rows ? k : rows - side;
                NAME(square)(side, src + row + j * src_step, src_step, dst + row * dst_step + j, dst_step);
            }
        }
    }
}

/* For planes with a side below that of a square: the longer side should be the inner loop, which the callers see to.
 * Any steps. Whatever is left of a plane comes here. */
ALWAYS_INLINE void NAME(plane_few)(int64_t rows, int64_t n, const T *src, int64_t src_step, T *dst, int64_t dst_step) {
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < rows; i++) dst[i * dst_step + j] = src[i + j * src_step];
}

/* Two or three runs become one of pairs or of triples; four of them at a time. Gives how many items of each run it has
 * done: a multiple of four. n is a constant in the calls. */
ALWAYS_INLINE int64_t NAME(weave)(int64_t rows, int64_t n, const T *src, int64_t src_step, T *dst) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        NAME(quad) a, b, c, to[3];
        memcpy(&a, src + i, sizeof a);
        memcpy(&b, src + src_step + i, sizeof b);
        memcpy(&c, src + (n - 1) * src_step + i, sizeof c);
        if (n == 2) {
            to[0] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            to[1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        } else {
            NAME(quad) ab = __builtin_shufflevector(a, b, 0, 4, 1, 1), bc = __builtin_shufflevector(b, c, 1, 5, 2, 2);
            NAME(quad) ca = __builtin_shufflevector(c, a, 2, 7, 3, 3);
            to[0] = __builtin_shufflevector(ab, c, 0, 1, 4, 2);
            to[1] = __builtin_shufflevector(bc, a, 0, 1, 6, 2);
            to[2] = __builtin_shufflevector(ca, b, 0, 1, 7, 2);
        }
        for (int k = 0; k < n; k++) memcpy(dst + i * n + 4 * k, &to[k], sizeof a);
    }
    return i;
}

/* The other way. Runs of pairs or triples become two or three runs; gives how many of them it has done. */
ALWAYS_INLINE int64_t NAME(unweave)(int64_t rows, int64_t n, const T *src, T *dst, int64_t dst_step) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        NAME(quad) p, q, r, to[3];
        memcpy(&p, src + j * rows, sizeof p);
        memcpy(&q, src + j * rows + 4, sizeof q);
        memcpy(&r, src + j * rows + 4 * (rows - 1), sizeof r);
        if (rows == 2) {
            to[0] = __builtin_shufflevector(p, q, 0, 2, 4, 6);
            to[1] = __builtin_shufflevector(p, q, 1, 3, 5, 7);
        } else {
            NAME(quad) x = __builtin_shufflevector(p, q, 0, 3, 6, 6), y = __builtin_shufflevector(p, q, 1, 4, 7, 7);
            NAME(quad) z = __builtin_shufflevector(p, q, 2, 5, 5, 5);
            to[0] = __builtin_shufflevector(x, r, 0, 1, 2, 5);
            to[1] = __builtin_shufflevector(y, r, 0, 1, 2, 6);
            to[2] = __builtin_shufflevector(z, r, 0, 1, 4, 7);
        }
        for (int k = 0; k < rows; k++) memcpy(dst + k * dst_step + j, &to[k], sizeof p);
    }
    return j;
}

/* A side of two or three: woven where both sides are without gaps, else item by item; the constants make each case a
 * loop of its own. */
ALWAYS_INLINE void NAME(plane_short)(int64_t rows, int64_t n, const T *src, int64_t src_step, T *dst,
                                     int64_t dst_step) {
    if (n <= 3 && n < rows) {
        const int64_t i = dst_step == n ? NAME(weave)(rows, n, src, src_step, dst) : 0;
        NAME(plane_few)(rows - i, n, src + i, src_step, dst + i * dst_step, dst_step);
    } else {
        const int64_t j = src_step == rows ? NAME(unweave)(rows, n, src, dst, dst_step) : 0;
        NAME(plane_few)(rows, n - j, src + j * src_step, src_step, dst + j, dst_step);
    }
}

/* One line of items, by steps that are seldom 1. */
ALWAYS_INLINE void NAME(one_line)(int64_t n, const T *from, int64_t from_step, T *to, int64_t to_step) {
    for (int64_t i = 0; i < n; i++) to[i * to_step] = from[i * from_step];
}

/* Squares; of small planes one or two lines that no square takes go item by item, which is less than squares that
 * overlap; and first, since vectors that are read from what was written in parts wait for it. */
ALWAYS_INLINE void NAME(plane_squares)(int side, int64_t rows, int64_t n, const T *src, int64_t src_step, T *dst,
                                       int64_t dst_step, bool far) {
    enum { SMALL = 4096, FEW = 2 };
    const bool small = !far && rows * n <= SMALL;
    const int64_t columns = small && n % side <= FEW ? n - n % side : n;
    const int64_t whole = small && rows % side <= FEW ? rows - rows % side : rows;
    for (int64_t j = columns; j < n; j++) NAME(one_line)(rows, src + j * src_step, 1, dst + j, dst_step);
    for (int64_t i = whole; i < rows; i++) NAME(one_line)(columns, src + i, src_step, dst + i * dst_step, 1);
    NAME(plane_of)(side, whole, columns, src, src_step, dst, dst_step, far);
}

/* The widest squares that both sides fill. Which way is taken moves the same items to the same places. */
static void NAME(plane)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step,
                        bool far) {
    if (WIDE_SIDE > 4 && rows >= WIDE_SIDE && n >= WIDE_SIDE)
        NAME(plane_squares)(WIDE_SIDE, rows, n, src, src_step, dst, dst_step, far);
    else if (rows >= SIDE && n >= SIDE) NAME(plane_squares)(SIDE, rows, n, src, src_step, dst, dst_step, far);
    else if (rows >= 4 && n >= 4) NAME(plane_squares)(4, rows, n, src, src_step, dst, dst_step, far);
    else if (rows == 3 && n > 3) NAME(plane_short)(3, n, src, src_step, dst, dst_step);
    else if (rows == 2 && n > 2) NAME(plane_short)(2, n, src, src_step, dst, dst_step);
    else if (n == 3) NAME(plane_short)(rows, 3, src, src_step, dst, dst_step);
    else if (n == 2) NAME(plane_short)(rows, 2, src, src_step, dst, dst_step);
    else NAME(plane_few)(rows, n, src, src_step, dst, dst_step);
}

/* ---- short rows -------------------------------------------------------------------------------------------------- */

/* n is a constant in the calls where it is small. */
ALWAYS_INLINE void NAME(rows_few)(int64_t rows, int64_t n, const T *from, int64_t from_step, int64_t item_step, T *to,
                                  int64_t to_step) {
    for (int64_t i = 0; i < rows; i++, from += from_step, to += to_step)
        for (int64_t j = 0; j < n; j++) to[j] = from[j * item_step];
}

/* Triples with gaps between them, as four items each but the last: what is too much is overwritten. The last triple is
 * moved as three, since behind it the memory may end; src_step is above 3, so what is read too much lies within a gap.
 * It reads a fourth item of each row but the last. */
ALWAYS_INLINE void NAME(triples)(int64_t rows, const T *from, int64_t from_step, T *to) {
    for (int64_t i = 0; i < rows - 1; i++) memcpy(to + 3 * i, from + i * from_step, sizeof(NAME(quad)));
    if (rows > 0) memcpy(to + 3 * (rows - 1), from + (rows - 1) * from_step, 3 * sizeof(T));
}

/* Every step-th item; steps that the compiler knows are shuffles. Both sides are known not to overlap. */
ALWAYS_INLINE void NAME(pack_by)(int64_t n, const T *restrict from, int64_t step, T *restrict to) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) to[i] = from[i * step];
}

/* Steps that occur, as constants; others as they are. */
static void NAME(pack)(int64_t n, const T *from, int64_t step, T *to) {
    if (step == 2) NAME(pack_by)(n, from, 2, to);
    else if (step == 3) NAME(pack_by)(n, from, 3, to);
    else if (step == 4) NAME(pack_by)(n, from, 4, to);
    else if (step == -1) NAME(pack_by)(n, from, -1, to);
    else if (step == -2) NAME(pack_by)(n, from, -2, to);
    else NAME(pack_by)(n, from, step, to);
}

/* Of more than four items the last four of a row may have been moved already. Rows of up to four items have ways of
 * their own, which need no such overlap. n is not 0: copies and walks of nothing end before they come here, and parts
 * without width are left out of joined rows. */
static void NAME(rows)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step) {
    const T *from = src;
    T *to = dst;
    if (n == 3 && dst_step == 3 && src_step > 3) NAME(triples)(rows, from, src_step, to);
    else if (n == 3) NAME(rows_few)(rows, 3, from, src_step, 1, to, dst_step);
    else if (n == 2)
        for (int64_t i = 0; i < rows; i++) memcpy(to + i * dst_step, from + i * src_step, 2 * sizeof(T));
    else if (n == 1 && dst_step == 1) NAME(pack)(rows, from, src_step, to);
    else if (n == 1) NAME(rows_few)(rows, 1, from, src_step, 1, to, dst_step);
    else if (n == 4)
        for (int64_t i = 0; i < rows; i++) memcpy(to + i * dst_step, from + i * src_step, sizeof(NAME(quad)));
    else
        for (int64_t i = 0; i < rows; i++, from += src_step, to += dst_step) {
            for (int64_t j = 0; j + 4 < n; j += 4) memcpy(to + j, from + j, sizeof(NAME(quad)));
            memcpy(to + n - 4, from + n - 4, sizeof(NAME(quad)));
        }
}

/* Every second item, n of them or more than three: four are in two overlapping vectors, so nothing else is read. The
 * last four of a row may have been moved already. */
ALWAYS_INLINE void NAME(every_second)(int64_t rows, int64_t n, const T *from, int64_t from_step, T *to,
                                      int64_t to_step) {
    for (int64_t i = 0; i < rows; i++, from += from_step, to += to_step)
        for (int64_t next = 0; next < n; next += 4) {
            const int64_t j = next + 4 <= n ? next : n - 4;
            NAME(quad) a, b;
            memcpy(&a, from + 2 * j, sizeof a);
            memcpy(&b, from + 2 * j + 3, sizeof b);
            a = __builtin_shufflevector(a, b, 0, 2, 5, 7);
            memcpy(to + j, &a, sizeof a);
        }
}

/* Rows from their last item back, of four items or more. The last four of a row may have been moved already. */
ALWAYS_INLINE void NAME(backwards)(int64_t rows, int64_t n, const T *from, int64_t from_step, T *to, int64_t to_step) {
    for (int64_t i = 0; i < rows; i++, from += from_step, to += to_step)
        for (int64_t next = 0; next < n; next += 4) {
            const int64_t j = next + 4 <= n ? next : n - 4;
            NAME(quad) v;
            memcpy(&v, from - j - 3, sizeof v);
            v = __builtin_shufflevector(v, v, 3, 2, 1, 0);
            memcpy(to + j, &v, sizeof v);
        }
}

/* Grids that are rows or planes are moved as such; the rest item by item. row_step and item_step may be negative where
 * neither is 1. */
static void NAME(grid)(int64_t rows, int64_t n, const void *src, int64_t row_step, int64_t item_step, void *dst,
                       int64_t dst_step) {
    if (item_step == 1) NAME(rows)(rows, n, src, row_step, dst, dst_step);
    else if (row_step == 1 && item_step > 0) NAME(plane)(rows, n, src, item_step, dst, dst_step, false);
    else if (item_step == -1 && n == 4) NAME(backwards)(rows, 4, src, row_step, dst, dst_step);
    else if (item_step == -1 && n > 4) NAME(backwards)(rows, n, src, row_step, dst, dst_step);
    else if (item_step == 2 && n > 3) NAME(every_second)(rows, n, src, row_step, dst, dst_step);
    else if (n == 2) NAME(rows_few)(rows, 2, src, row_step, item_step, dst, dst_step);
    else if (n == 3) NAME(rows_few)(rows, 3, src, row_step, item_step, dst, dst_step);
    else NAME(rows_few)(rows, n, src, row_step, item_step, dst, dst_step);
}

/* The other way: runs of src become steps of dst. Steps that occur are constants. */
static void NAME(spread)(int64_t rows, int64_t n, const void *src, int64_t src_step, void *dst, int64_t dst_step,
                         int64_t item_step) {
    const T *from = src;
    T *to = dst;
    for (int64_t i = 0; i < rows; i++, from += src_step, to += dst_step)
        if (item_step == 2)
            for (int64_t j = 0; j < n; j++) to[2 * j] = from[j];
        else
            for (int64_t j = 0; j < n; j++) to[j * item_step] = from[j];
}

/* Of each of four items two or three. Four rows at a time; gives how many rows it has done. What is left is done by
 * repeat_of. */
ALWAYS_INLINE int64_t NAME(multiply)(int64_t rows, int64_t n, const T *from, int64_t step, T *dst) {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        NAME(quad) v, to[3];
        NAME(load)(from + i * step, step, &v);
        if (n == 2) {
            to[0] = __builtin_shufflevector(v, v, 0, 0, 1, 1);
            to[1] = __builtin_shufflevector(v, v, 2, 2, 3, 3);
        } else {
            to[0] = __builtin_shufflevector(v, v, 0, 0, 0, 1);
            to[1] = __builtin_shufflevector(v, v, 1, 1, 2, 2);
            to[2] = __builtin_shufflevector(v, v, 2, 3, 3, 3);
        }
        for (int k = 0; k < n; k++) memcpy(dst + i * n + 4 * k, &to[k], sizeof v);
    }
    return i;
}

/* Whole vectors, of which the next row overwrites what is too much. Behind the last row up to three items are written
 * too much. */
ALWAYS_INLINE void NAME(repeat_of)(int64_t rows, int64_t n, const T *from, int64_t step, T *to) {
    for (int64_t i = 0; i < rows; i++, from += step, to += n) {
        const NAME(quad) v = {*from, *from, *from, *from};
        for (int64_t j = 0; j < n; j += 4) memcpy(to + j, &v, sizeof v);
    }
}

/* Whoever calls it leaves room for up to three items behind the last one (simd.h). */
static void NAME(repeat)(int64_t rows, int64_t n, const void *src, int64_t step, void *dst) {
    const T *from = src;
    T *to = dst;
    const int64_t i = n == 2   ? NAME(multiply)(rows, 2, from, step, to)
                      : n == 3 ? NAME(multiply)(rows, 3, from, step, to)
                               : 0;
    if (n <= 4) NAME(repeat_of)(rows - i, n < 2 ? 1 : n, from + i * step, step, to + i * n);
    else NAME(repeat_of)(rows, n, from, step, to);
}

/* In the order of lam__turn. */
static const lam__turn NAME(turn) = {NAME(columns), NAME(rows), NAME(plane), NAME(grid), NAME(spread), NAME(repeat)};

#undef T
#undef SIDE
#undef WIDE_SIDE
#undef NAME
