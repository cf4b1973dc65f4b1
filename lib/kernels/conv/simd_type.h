/* The loops of simd.c for one floating type: T, V (a vector of it), LANES, LIST, FMA(x, y, sum) and NAME(f).
 * Tiles of the result stay in registers while a panel of the contraction runs. Each element of a result is summed in
 * the order of the panel, whatever tile it is in. No include guard: that is the point. */

typedef T NAME(loose) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* At any alignment. */
ALWAYS_INLINE V NAME(load_whole)(const T *from) {
    return *(const NAME(loose) *)from;
}

/* Into the result or onto it, where earlier panels have been. The memory of results is at no alignment that could be
 * relied on. */
ALWAYS_INLINE void NAME(store_whole)(T *to, V v, bool add) {
    if (add) v += NAME(load_whole)(to);
    *(NAME(loose) *)to = v;
}

/* The first `count` lanes, of which there may be more or none: behind them lies the next line of somebody else's
 * result. */
ALWAYS_INLINE void NAME(store_first)(T *to, V v, bool add, int64_t count) {
    if (count >= LANES) {
        NAME(store_whole)(to, v, add);
    } else if (count > 0) {
        if (add) v += NAME(load)(to, (int)count);
        NAME(store)(to, v, (int)count);
    }
}

/* ---- vectors of features ----------------------------------------------------------------------------------------- */

/* places x (vectors of features): each element of x meets all of them. The last tile counts its last place again. It
 * reads nothing beyond the tables and is not written again. Rows of x are found by one addition each, so x may lie in
 * any way. */
ALWAYS_INLINE void NAME(across)(const lam__conv_panel *p, int places, int vectors) {
    for (int64_t first = 0; first < p->places; first += places) {
        const T *x[MOST_PLACES], *w = p->w;
        V sum[MOST_PLACES][WIDEST];
        for (int i = 0; i < places; i++) {
            const int64_t at = first + i < p->places ? first + i : p->places - 1;
            x[i] = (const T *)p->x + p->at[at];
            for (int v = 0; v < vectors; v++) sum[i][v] = (V){0};
        }
        for (int64_t r = 0; r < p->rows; r++, w += vectors * LANES) {
            const int64_t row = p->row[r];
            V weights[WIDEST];
            for (int v = 0; v < vectors; v++) weights[v] = NAME(load_whole)(w + v * LANES);
            for (int i = 0; i < places; i++) {
                const V same = x[i][row] - (V){0};
                for (int v = 0; v < vectors; v++) sum[i][v] = FMA(same, weights[v], sum[i][v]);
            }
        }
        T *to = (T *)p->to + first * p->step;
        for (int i = 0; i < places; i++)
            if (first + i < p->places)
                for (int v = 0; v < vectors; v++) NAME(store_whole)(to + i * p->step + v * LANES, sum[i][v], p->add);
    }
}

/* As many places as leave registers for one element of x and the weights: a function for each number of vectors.
 * `places` and `vectors` are constants in each, so the sums of a tile are registers. */
static void NAME(across_1)(const lam__conv_panel *p) {
    NAME(across)(p, 8, 1);
}

static void NAME(across_2)(const lam__conv_panel *p) {
    NAME(across)(p, WIDEST > 2 ? 8 : 6, 2);
}

#if VECTOR_BYTES >= 64
static void NAME(across_3)(const lam__conv_panel *p) {
    NAME(across)(p, 8, 3);
}

static void NAME(across_4)(const lam__conv_panel *p) {
    NAME(across)(p, 6, 4);
}
#endif

/* ---- vectors of places ------------------------------------------------------------------------------------------- */

/* `features` x vectors of neighbours from place `first` on. Each weight is spread once and meets all vectors; each
 * vector of x is loaded once for all features, at any alignment. Loads go beyond the last place, which loops.h allows;
 * stores do not. */
ALWAYS_INLINE void NAME(along_tile)(const lam__conv_panel *p, int features, int vectors, int64_t first) {
    const T *w = p->w, *x = (const T *)p->x + first;
    V sum[FEW][LONGEST];
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int v = 0; v < vectors; v++) sum[f][v] = (V){0};
    }
    for (int64_t r = 0; r < p->rows; r++, w += features) {
        const T *from = x + p->row[r];
        V same[FEW];
        UNROLLED for (int f = 0; f < features; f++) same[f] = w[f] - (V){0};
        UNROLLED for (int v = 0; v < vectors; v++) {
            V at = NAME(load_whole)(from + v * LANES);
            if (features > 1) READ_ONCE(at);
            UNROLLED for (int f = 0; f < features; f++) sum[f][v] = FMA(same[f], at, sum[f][v]);
        }
    }
    T *to = (T *)p->to + first;
    const int64_t left = p->places - first;
    const bool whole = left >= vectors * LANES;
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int v = 0; v < vectors; v++) {
            T *at = to + f * p->step + v * LANES;
            if (whole) NAME(store_whole)(at, sum[f][v], p->add);
            else NAME(store_first)(at, sum[f][v], p->add, left - v * LANES);
        }
    }
}

/* Long tiles while they are filled but for one vector, then shorter ones: a rest wastes less in them, and a sum of few
 * vectors waits for each of them. Which tile a place is in does not change its sum. */
ALWAYS_INLINE void NAME(along)(const lam__conv_panel *p, int features, int vectors) {
    int64_t first = 0;
    for (; p->places - first > (vectors - 1) * LANES; first += vectors * LANES)
        NAME(along_tile)(p, features, vectors, first);
    if (vectors > MEDIUM)
        for (; p->places - first > SHORT * LANES; first += MEDIUM * LANES) NAME(along_tile)(p, features, MEDIUM, first);
    for (; first < p->places; first += SHORT * LANES) NAME(along_tile)(p, features, SHORT, first);
}

/* The same count of registers for features times vectors of places. With 16 registers: sums, the weights of the
 * features and one vector of x. */
static void NAME(along_1)(const lam__conv_panel *p) {
    NAME(along)(p, 1, 8);
}

static void NAME(along_2)(const lam__conv_panel *p) {
    NAME(along)(p, 2, WIDEST > 2 ? 8 : 5);
}

static void NAME(along_3)(const lam__conv_panel *p) {
    NAME(along)(p, 3, WIDEST > 2 ? 8 : 3);
}

static void NAME(along_4)(const lam__conv_panel *p) {
    NAME(along)(p, 4, WIDEST > 2 ? 6 : 2);
}

/* ---- lines of places --------------------------------------------------------------------------------------------- */

/* What one line of x adds to lines lo to hi, which meet it at lines line - lo to line - hi of the window; w and row
 * begin at the first of these. Each vector of x is loaded once for all of them. */
ALWAYS_INLINE void NAME(add_line)(const T *x, const T *w, const int64_t *row, int64_t window, int64_t line, int lo,
                                  int hi, int vectors, V sum[LINES][LINE_WIDE]) {
    for (int64_t k = 0; k < window; k++) {
        const T *from = x + row[k];
        V at[LINE_WIDE];
        UNROLLED for (int v = 0; v < vectors; v++) {
            at[v] = NAME(load_whole)(from + v * LANES);
            READ_ONCE(at[v]);
        }
        UNROLLED for (int i = lo; i <= hi; i++) {
            const V same = w[(line - i) * window + k] - (V){0};
            UNROLLED for (int v = 0; v < vectors; v++) sum[i][v] = FMA(same, at[v], sum[i][v]);
        }
    }
}

/* LINES lines x vectors. A line of x meets those lines of places that lie within the window above it. The cases are
 * what can be for windows of two lines and more, so that sums are registers; each sum is in the order of the panel. */
ALWAYS_INLINE void NAME(lines_tile)(const lam__conv_panel *p, int64_t at_line, int64_t first, int vectors) {
    const int64_t high = p->window[0], wide = p->window[1];
    const T *w = p->w, *x = (const T *)p->x + at_line * p->x_line + first;
    V sum[LINES][LINE_WIDE];
    UNROLLED for (int i = 0; i < LINES; i++) {
        UNROLLED for (int v = 0; v < vectors; v++) sum[i][v] = (V){0};
    }
    for (int64_t r = 0; r < p->rows; r += high * wide, w += high * wide)
        for (int64_t j = 0; j < LINES + high - 1; j++) {
            const T *from = x + j * p->x_line;
            const int64_t lo = j < high ? 0 : j - high + 1, hi = j < LINES ? j : LINES - 1;
#define ADD_LINE(l, h)                                                                                                 \
    case LINES *(l) + (h): NAME(add_line)(from, w, p->row + r, wide, j, l, h, vectors, sum); break
            switch (LINES * lo + hi) {
                ADD_LINE(0, 0);
                ADD_LINE(0, 1);
                ADD_LINE(0, 2);
                ADD_LINE(0, 3);
                ADD_LINE(1, 2);
                ADD_LINE(1, 3);
                ADD_LINE(2, 3);
                ADD_LINE(3, 3);
            }
#undef ADD_LINE
        }
    T *to = (T *)p->to + at_line * p->to_line + first;
    const int64_t left = p->places - first;
    UNROLLED for (int i = 0; i < LINES; i++) {
        UNROLLED for (int v = 0; v < vectors; v++)
            NAME(store_first)(to + i * p->to_line + v * LANES, sum[i][v], false, left - v * LANES);
    }
}

/* LINES of them at least. The last ones are done again with those before them, which gives the same. */
static void NAME(along_lines)(const lam__conv_panel *p) {
    for (int64_t next = 0; next < p->lines; next += LINES) {
        const int64_t line = next + LINES <= p->lines ? next : p->lines - LINES;
        int64_t first = 0;
        for (; p->places - first > (LINE_WIDE - 1) * LANES; first += LINE_WIDE * LANES)
            NAME(lines_tile)(p, line, first, LINE_WIDE);
        for (; LINE_WIDE > SHORT && p->places - first > LANES; first += SHORT * LANES)
            NAME(lines_tile)(p, line, first, SHORT);
        for (; first < p->places; first += LANES) NAME(lines_tile)(p, line, first, 1);
    }
}

/* ---- vectors of the contraction ---------------------------------------------------------------------------------- */

/* Halves onto halves, so the order does not depend on how the compiler does it. A tree, by lanes, which is the same sum
 * for every tile. */
ALWAYS_INLINE T NAME(sum_lanes)(V v) {
    T lane[LANES];
    memcpy(lane, &v, sizeof v);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) lane[i] += lane[i + half];
    return lane[0];
}

/* One line of the contraction, `whole` vectors and what `rest` leaves of one more: there w is 0, and x may be anything.
 * The mask keeps what lies there, which may be an infinity or a NaN of another line, from being multiplied by those
 * zeros. */
ALWAYS_INLINE void NAME(dots_line)(const T *const x[], const T *const w[], int features, int places, int64_t whole,
                                   NAME(mask) rest, V sum[FEW][MOST_DOTS]) {
    for (int64_t k = 0; k < whole * LANES; k += LANES)
        for (int i = 0; i < places; i++) {
            const V at = NAME(load_whole)(x[i] + k);
            for (int f = 0; f < features; f++) sum[f][i] = FMA(NAME(load_whole)(w[f] + k), at, sum[f][i]);
        }
    if (!rest[0]) return;
    for (int i = 0; i < places; i++) {
        const V at = (V)((NAME(mask))NAME(load_whole)(x[i] + whole * LANES) & rest);
        for (int f = 0; f < features; f++) sum[f][i] = FMA(NAME(load_whole)(w[f] + whole * LANES), at, sum[f][i]);
    }
}

/* features x places of sums that are vectors until the end. A tile that goes beyond the last place counts that place
 * again and does not write it. Lanes are folded once for each place and feature of a panel, not for each line. */
ALWAYS_INLINE void NAME(dots_tile)(const lam__conv_panel *p, int features, int places, int64_t f0, int64_t i0) {
    const int64_t whole = p->run / LANES, line = (p->run + LANES - 1) / LANES * LANES;
    V sum[FEW][MOST_DOTS];
    NAME(mask) rest;
    for (int i = 0; i < LANES; i++) rest[i] = i < p->run % LANES ? -1 : 0;
    for (int f = 0; f < features; f++)
        for (int i = 0; i < places; i++) sum[f][i] = (V){0};
    for (int64_t r = 0; r < p->rows; r++) {
        const T *x[MOST_DOTS], *w[FEW];
        for (int i = 0; i < places; i++)
            x[i] = (const T *)p->x + p->row[r] + p->at[i0 + i < p->places ? i0 + i : p->places - 1];
        for (int f = 0; f < features; f++) w[f] = (const T *)p->w + (f0 + f) * p->w_step + r * line;
        NAME(dots_line)(x, w, features, places, whole, rest, sum);
    }
    for (int i = 0; i < places; i++)
        for (int f = 0; f < features && i0 + i < p->places; f++) {
            T *to = (T *)p->to + (i0 + i) * p->step + f0 + f;
            *to = NAME(sum_lanes)(sum[f][i]) + (p->add ? *to : 0);
        }
}

/* Four features at a time, then two, then one: fewer features leave registers for more places. */
static void NAME(dots)(const lam__conv_panel *p) {
    int64_t f = 0;
    for (; f + 4 <= p->features; f += 4)
        for (int64_t i = 0; i < p->places; i += DOTS_4) NAME(dots_tile)(p, 4, DOTS_4, f, i);
    for (; f + 2 <= p->features; f += 2)
        for (int64_t i = 0; i < p->places; i += DOTS_2) NAME(dots_tile)(p, 2, DOTS_2, f, i);
    for (; f < p->features; f++)
        for (int64_t i = 0; i < p->places; i += DOTS_1) NAME(dots_tile)(p, 1, DOTS_1, f, i);
}

/* ---- vectors of groups ------------------------------------------------------------------------------------------- */

/* features x places, each a vector of groups: nothing is spread or folded. A tile that goes beyond the last place
 * counts that place again and does not write it. */
ALWAYS_INLINE void NAME(abreast_tile)(const lam__conv_panel *p, int features, int places, int64_t first) {
    const int64_t left = p->places - first, rows = p->rows, step = p->step, *row = p->row, *put = p->put + first;
    const bool add = p->add;
    const T *x[MOST_ABREAST], *w = p->w;
    V sum[FEW][MOST_ABREAST];
    UNROLLED for (int i = 0; i < places; i++) {
        x[i] = (const T *)p->x + p->at[first + (i < left ? i : left - 1)];
        UNROLLED for (int f = 0; f < features; f++) sum[f][i] = (V){0};
    }
    for (int64_t r = 0; r < rows; r++, w += features * LANES) {
        V weights[FEW];
        UNROLLED for (int f = 0; f < features; f++) weights[f] = NAME(load_whole)(w + f * LANES);
        UNROLLED for (int i = 0; i < places; i++) {
            V at = NAME(load_whole)(x[i] + row[r]);
            if (features > 1) READ_ONCE(at);
            UNROLLED for (int f = 0; f < features; f++) sum[f][i] = FMA(weights[f], at, sum[f][i]);
        }
    }
    T *to = p->to;
    UNROLLED for (int i = 0; i < places; i++) {
        if (i >= left) return;
        UNROLLED for (int f = 0; f < features; f++) NAME(store_whole)(to + put[i] + f * step, sum[f][i], add);
    }
}

/* Tiles of `few` places where no more are left. */
ALWAYS_INLINE void NAME(abreast)(const lam__conv_panel *p, int features, int places, int few) {
    int64_t first = 0;
    for (; p->places - first > few; first += places) NAME(abreast_tile)(p, features, places, first);
    if (first < p->places) NAME(abreast_tile)(p, features, few, first);
}

static void NAME(abreast_1)(const lam__conv_panel *p) {
    NAME(abreast)(p, 1, ABREAST_1, ABREAST_1 / 2);
}

static void NAME(abreast_2)(const lam__conv_panel *p) {
    NAME(abreast)(p, 2, ABREAST_2, ABREAST_2 / 2);
}

static void NAME(abreast_3)(const lam__conv_panel *p) {
    NAME(abreast)(p, 3, ABREAST_3, ABREAST_3 / 2);
}

static void NAME(abreast_4)(const lam__conv_panel *p) {
    NAME(abreast)(p, 4, ABREAST_4, ABREAST_4 / 2);
}

/* ---- copies of lines --------------------------------------------------------------------------------------------- */

/* The first `count` lanes and, where it is loose, the others too: whole stores are faster. */
ALWAYS_INLINE void NAME(store_end)(T *to, V v, int64_t count, bool loose) {
    if (loose) NAME(store_whole)(to, v, false);
    else NAME(store)(to, v, (int)count);
}

ALWAYS_INLINE void NAME(zeros)(T *to, int64_t count, bool loose) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) NAME(store_whole)(to + i, (V){0}, false);
    if (i < count) NAME(store_end)(to + i, (V){0}, count - i, loose);
}

/* `count` elements that are neighbours in x. Nothing beyond them is read; where the last vector is loose, zeros follow
 * them. */
ALWAYS_INLINE void NAME(copy_line)(T *to, const T *x, int64_t count, bool loose) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) NAME(store_whole)(to + i, NAME(load_whole)(x + i), false);
    if (i < count) NAME(store_end)(to + i, NAME(load)(x + i, (int)(count - i)), count - i, loose);
}

/* Every second one: the even lanes of two vectors. The last one is followed by an element that may not be there, so
 * that is not read. */
ALWAYS_INLINE void NAME(copy_second)(T *to, const T *x, int64_t count, bool loose) {
    for (; count > LANES; count -= LANES, to += LANES, x += 2 * LANES) {
        const V low = NAME(load_whole)(x), high = NAME(load_whole)(x + LANES);
        NAME(store_whole)(to, __builtin_shufflevector(low, high, LIST(NEIGHBOUR, 0)), false);
    }
    const int reach = 2 * (int)count - 1;
    const V low = NAME(load)(x, reach < LANES ? reach : LANES);
    const V high = reach > LANES ? NAME(load)(x + LANES, reach - LANES) : (V){0};
    NAME(store_end)(to, __builtin_shufflevector(low, high, LIST(NEIGHBOUR, 0)), count, loose);
}

/* `apart` and `loose` are constants in the calls. */
ALWAYS_INLINE void NAME(copy_lines)(const lam__conv_lines *l, int apart, bool loose) {
    const int64_t before = l->before, count = l->count, behind = l->behind, left = (LANES - count % LANES) % LANES;
    const T *x = l->x;
    T *to = l->to;
    for (int64_t i = 0; i < l->lines; i++, x += l->x_step, to += l->to_step) {
        NAME(zeros)(to, before, loose);
        if (apart == 1) NAME(copy_line)(to + before, x, count, loose);
        else NAME(copy_second)(to + before, x, count, loose);
        if (!loose || behind > left) NAME(zeros)(to + before + count, behind, loose);
    }
}

static void NAME(copy)(const lam__conv_lines *l) {
    if (l->apart == 1 && l->loose) NAME(copy_lines)(l, 1, true);
    else if (l->apart == 1) NAME(copy_lines)(l, 1, false);
    else if (l->loose) NAME(copy_lines)(l, 2, true);
    else NAME(copy_lines)(l, 2, false);
}

/* ---- strips of lines --------------------------------------------------------------------------------------------- */

/* Part of a line that is `before` zeros, `count` elements from x on, and zeros: the lanes of it that a vector from
 * element k on has. */
typedef struct NAME(part) {
    int64_t from; /* elements behind x, or in front of it */
    int low, high;
} NAME(part);

ALWAYS_INLINE NAME(part) NAME(part_of)(int64_t before, int64_t count, int64_t k) {
    const int64_t low = before < k ? 0 : before - k, high = before + count < k ? 0 : before + count - k;
    const int64_t end = high < LANES ? high : LANES;
    return (NAME(part)){k - before, low < end ? (int)low : (int)end, (int)end};
}

ALWAYS_INLINE V NAME(load_part)(const T *x, NAME(part) p) {
    if (p.low == 0 && p.high == LANES) return NAME(load_whole)(x + p.from);
    return NAME(between)(x + p.from, p.low, p.high);
}

/* A vector of both strips, or `count` elements of even ones: these end where those of odd ones may begin. */
ALWAYS_INLINE void NAME(split_at)(const T *x, NAME(part) first, NAME(part) second, T *to, T *odd, int64_t count,
                                  bool loose) {
    const V low = NAME(load_part)(x, first), high = NAME(load_part)(x, second);
    const V even = __builtin_shufflevector(low, high, LIST(NEIGHBOUR, 0));
    NAME(store_whole)(odd, __builtin_shufflevector(low, high, LIST(NEIGHBOUR, 1)), false);
    if (count >= LANES || loose) NAME(store_whole)(to, even, false);
    else NAME(store)(to, even, (int)count);
}

/* All lines have the same parts, of which all but those of the first and the last vector are whole unless there are
 * very many zeros. A line of even elements is loose as long as that stays in front of the odd ones, of which some are
 * there already; those have others behind them. */
static void NAME(split)(const lam__conv_lines *l, int64_t odd, int64_t room) {
    const int64_t before = l->before, count = l->count, all = (before + count + l->behind) / 2;
    const int64_t last = (all - 1) / LANES * LANES, lines = l->lines, x_step = l->x_step, to_step = l->to_step;
    const NAME(part) first[] = {NAME(part_of)(before, count, 0), NAME(part_of)(before, count, LANES)};
    const NAME(part) end[] = {NAME(part_of)(before, count, 2 * last), NAME(part_of)(before, count, 2 * last + LANES)};
    const bool whole = before <= 2 * LANES && before + count >= 2 * last;
    const T *x = l->x;
    T *to = l->to;
    int64_t i = 0;
    for (; last == 0 && i < lines && i * to_step + LANES <= room; i++, x += x_step, to += to_step) /* short lines */
        NAME(split_at)(x, end[0], end[1], to, to + odd, LANES, true);
    for (; i < lines; i++, x += x_step, to += to_step) {
        if (last > 0) NAME(split_at)(x, first[0], first[1], to, to + odd, LANES, true);
        for (int64_t k = LANES; k < last; k += LANES) {
            NAME(part) low = {2 * k - before, 0, LANES}, high = {2 * k - before + LANES, 0, LANES};
            if (!whole) low = NAME(part_of)(before, count, 2 * k), high = NAME(part_of)(before, count, 2 * k + LANES);
            NAME(split_at)(x, low, high, to + k, to + odd + k, LANES, true);
        }
        NAME(split_at)(x, end[0], end[1], to + last, to + odd + last, all - last, i * to_step + last + LANES <= room);
    }
}

/* ---- lines of phases --------------------------------------------------------------------------------------------- */

/* Two vectors become two whose lanes alternate. */
ALWAYS_INLINE void NAME(weave_two)(V *a, V *b) {
    const V low = __builtin_shufflevector(*a, *b, LIST(WOVEN, 0));
    *b = __builtin_shufflevector(*a, *b, LIST(WOVEN, 1));
    *a = low;
}

/* What two lines, of at most a vector each, are together. */
ALWAYS_INLINE void NAME(weave_rest)(T *to, const T *first, const T *second, int count) {
    if (count <= 0) return;
    V a = NAME(load)(first, (count + 1) / 2), b = count > 1 ? NAME(load)(second, count / 2) : (V){0};
    NAME(weave_two)(&a, &b);
    NAME(store)(to, a, count < LANES ? count : LANES);
    if (count > LANES) NAME(store)(to + LANES, b, count - LANES);
}

static void NAME(weave_2)(T *to, const T *const from[], int64_t count) {
    int64_t k = 0;
    for (; (k + LANES) * 2 <= count; k += LANES) {
        V a = NAME(load_whole)(from[0] + k), b = NAME(load_whole)(from[1] + k);
        NAME(weave_two)(&a, &b);
        NAME(store_whole)(to + 2 * k, a, false);
        NAME(store_whole)(to + 2 * k + LANES, b, false);
    }
    NAME(weave_rest)(to + 2 * k, from[0] + k, from[1] + k, (int)(count - 2 * k));
}

/* The first and third line alternate, and the others; then these pairs do. How much of each line was done. */
static int64_t NAME(weave_4)(T *to, const T *const from[], int64_t count) {
    int64_t k = 0;
    for (; (k + LANES) * 4 <= count; k += LANES) {
        V v[4];
        for (int i = 0; i < 4; i++) v[i] = NAME(load_whole)(from[i] + k);
        NAME(weave_two)(&v[0], &v[2]);
        NAME(weave_two)(&v[1], &v[3]);
        NAME(weave_two)(&v[0], &v[1]);
        NAME(weave_two)(&v[2], &v[3]);
        for (int i = 0; i < 4; i++) NAME(store_whole)(to + 4 * k + i * LANES, v[i], false);
    }
    return k;
}

/* Other numbers of lines, and what is left of four, element by element. */
static void NAME(weave)(void *out, const void *const lines[], int64_t count, int side) {
    const T *const *from = (const T *const *)lines;
    T *to = out;
    if (side == 2) {
        NAME(weave_2)(to, from, count);
        return;
    }
    int64_t k = side == 4 ? NAME(weave_4)(to, from, count) : 0;
    for (; side == 8 && (k + 1) * 8 <= count; k++) /* a constant, which compilers unroll */
        for (int i = 0; i < 8; i++) to[k * 8 + i] = from[i][k];
    for (; k * side < count; k++)
        for (int i = 0; i < side && k * side + i < count; i++) to[k * side + i] = from[i][k];
}

#undef T
#undef V
#undef LANES
#undef LIST
#undef FMA
#undef NAME
