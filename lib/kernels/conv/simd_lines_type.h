/* Lines of x on their way into blocks, and lines of phases on their way out, for one floating type: a part of
 * simd_type.h, with its names. No include guard: that is the point. */

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

/* A vector of each strip. */
ALWAYS_INLINE void NAME(split_three_at)(const T *x, const NAME(part) part[3], T *to, int64_t strip) {
    const V a = NAME(load_part)(x, part[0]), b = NAME(load_part)(x, part[1]), c = NAME(load_part)(x, part[2]);
    const V first[] = {__builtin_shufflevector(a, b, LIST(THIRD_FIRST, 0)),
                       __builtin_shufflevector(a, b, LIST(THIRD_FIRST, 1)),
                       __builtin_shufflevector(a, b, LIST(THIRD_FIRST, 2))};
    NAME(store_whole)(to, __builtin_shufflevector(first[0], c, LIST(THIRD_SECOND, 0)), false);
    NAME(store_whole)(to + strip, __builtin_shufflevector(first[1], c, LIST(THIRD_SECOND, 1)), false);
    NAME(store_whole)(to + 2 * strip, __builtin_shufflevector(first[2], c, LIST(THIRD_SECOND, 2)), false);
}

ALWAYS_INLINE void NAME(three_parts)(int64_t before, int64_t count, int64_t k, NAME(part) part[3]) {
    for (int i = 0; i < 3; i++) part[i] = NAME(part_of)(before, count, 3 * k + i * LANES);
}

/* As split, of lines that are whole vectors. */
static void NAME(split_three)(const lam__conv_lines *l, int64_t strip) {
    const int64_t before = l->before, count = l->count, last = (before + count + l->behind) / 3 - LANES;
    const bool whole = before <= 3 * LANES && before + count >= 3 * last;
    NAME(part) first[3], end[3];
    NAME(three_parts)(before, count, 0, first);
    NAME(three_parts)(before, count, last, end);
    const T *x = l->x;
    T *to = l->to;
    for (int64_t i = 0; i < l->lines; i++, x += l->x_step, to += l->to_step) {
        if (last > 0) NAME(split_three_at)(x, first, to, strip);
        for (int64_t k = LANES; k < last; k += LANES) {
            const int64_t from = 3 * k - before;
            NAME(part) part[3] = {{from, 0, LANES}, {from + LANES, 0, LANES}, {from + 2 * LANES, 0, LANES}};
            if (!whole) NAME(three_parts)(before, count, k, part);
            NAME(split_three_at)(x, part, to + k, strip);
        }
        NAME(split_three_at)(x, end, to + last, strip);
    }
}

/* ---- lines of phases --------------------------------------------------------------------------------------------- */

/* Two vectors become two whose lanes alternate. */
ALWAYS_INLINE void NAME(weave_two)(V *a, V *b) {
    const V low = __builtin_shufflevector(*a, *b, LIST(WOVEN, 0));
    *b = __builtin_shufflevector(*a, *b, LIST(WOVEN, 1));
    *a = low;
}

/* Three vectors become three whose lanes take turns. */
ALWAYS_INLINE void NAME(weave_three)(V *a, V *b, V *c) {
    const V first[] = {__builtin_shufflevector(*a, *b, LIST(WOVEN_FIRST, 0)),
                       __builtin_shufflevector(*a, *b, LIST(WOVEN_FIRST, 1)),
                       __builtin_shufflevector(*a, *b, LIST(WOVEN_FIRST, 2))};
    const V last = *c;
    *a = __builtin_shufflevector(first[0], last, LIST(WOVEN_SECOND, 0));
    *b = __builtin_shufflevector(first[1], last, LIST(WOVEN_SECOND, 1));
    *c = __builtin_shufflevector(first[2], last, LIST(WOVEN_SECOND, 2));
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
