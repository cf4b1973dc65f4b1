/* The loops of simd.c for one floating type: T, V (a vector of it), LANES, LIST, FMA(x, y, sum) and NAME(f).
 * Tiles of the result stay in registers while a panel of the contraction runs. Each element of a result is summed in
 * the order of the panel, whatever tile it is in. Copies of lines are in simd_lines_type.h, sums of few products in
 * simd_few_type.h. No include guard: that is the point. */

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

/* ---- few places -------------------------------------------------------------------------------------------------- */

/* features x places, each a vector that sums up lines: element k of line i of w meets that of x at at[place]. A tile
 * that goes beyond the last place counts that place again and does not write it. What lies in x behind the elements
 * that are met may be anything. */
ALWAYS_INLINE void NAME(far_tile)(const lam__conv_panel *p, int features, int places, int64_t f0, int64_t i0) {
    const int64_t whole = p->run / LANES * LANES, x_line = p->x_line, w_line = p->to_line, w_step = p->w_step;
    const int left = (int)(p->run - whole);
    const T *x = p->x, *w = (const T *)p->w + f0 * w_step;
    int64_t at[MOST_DOTS];
    V sum[FEW][MOST_DOTS];
    NAME(mask) rest;
    for (int i = 0; i < LANES; i++) rest[i] = i < left ? -1 : 0;
    UNROLLED for (int i = 0; i < places; i++) {
        at[i] = p->at[i0 + i < p->places ? i0 + i : p->places - 1];
        UNROLLED for (int f = 0; f < features; f++) sum[f][i] = (V){0};
    }
    for (int64_t line = 0; line < p->lines; line++, x += x_line, w += w_line) {
        for (int64_t k = 0; k < whole; k += LANES) {
            V same[FEW];
            UNROLLED for (int f = 0; f < features; f++) same[f] = NAME(load_whole)(w + f * w_step + k);
            UNROLLED for (int i = 0; i < places; i++) {
                V from = NAME(load_whole)(x + at[i] + k);
                if (features > 1) READ_ONCE(from);
                UNROLLED for (int f = 0; f < features; f++) sum[f][i] = FMA(same[f], from, sum[f][i]);
            }
        }
        if (left == 0) continue;
        V same[FEW];
        UNROLLED for (int f = 0; f < features; f++) same[f] = NAME(load)(w + f * w_step + whole, left);
        UNROLLED for (int i = 0; i < places; i++) {
            V from = (V)((NAME(mask))NAME(load_whole)(x + at[i] + whole) & rest);
            if (features > 1) READ_ONCE(from);
            UNROLLED for (int f = 0; f < features; f++) sum[f][i] = FMA(same[f], from, sum[f][i]);
        }
    }
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int i = 0; i < places; i++) {
            T *to = (T *)p->to + ((f0 + f) * p->places + i0 + i) * LANES;
            if (i0 + i < p->places) NAME(store_whole)(to, sum[f][i], p->add);
        }
    }
}

/* As `dots`. */
static void NAME(far)(const lam__conv_panel *p) {
    int64_t f = 0;
    for (; f + 4 <= p->features; f += 4)
        for (int64_t i = 0; i < p->places; i += DOTS_4) NAME(far_tile)(p, 4, DOTS_4, f, i);
    for (; f + 2 <= p->features; f += 2)
        for (int64_t i = 0; i < p->places; i += DOTS_2) NAME(far_tile)(p, 2, DOTS_2, f, i);
    for (; f < p->features; f++)
        for (int64_t i = 0; i < p->places; i += DOTS_1) NAME(far_tile)(p, 1, DOTS_1, f, i);
}

/* Vectors that are blocks of 2 h lanes: the halves of each are added, and blocks of both vectors alternate. */
#define FOLD(v, n, h)                                                                                                  \
    for (int i = 0; i < (n) / 2; i++)                                                                                  \
    (v)[i] = __builtin_shufflevector((v)[i], (v)[i + (n) / 2], LIST(FOLDED_LOW, h)) +                                  \
             __builtin_shufflevector((v)[i], (v)[i + (n) / 2], LIST(FOLDED_HIGH, h))

/* to[k] is the sum of the lanes of vector k, in the order of sum_lanes, LANES vectors at a time; to may be sums. */
static void NAME(fold)(void *to, const void *sums, int64_t count) {
    const T *from = sums;
    T *out = to;
    int64_t k = 0;
    for (; k + LANES <= count; k += LANES) {
        V v[LANES];
        for (int i = 0; i < LANES; i++) v[i] = NAME(load_whole)(from + (k + i) * LANES);
        FOLD(v, LANES, LANES / 2);
        if (LANES >= 4) FOLD(v, LANES / 2, HALVED(LANES, 4));
        if (LANES >= 8) FOLD(v, LANES / 4, HALVED(LANES, 8));
        if (LANES >= 16) FOLD(v, LANES / 8, HALVED(LANES, 16));
        NAME(store_whole)(out + k, v[0], false);
    }
    for (; k < count; k++) out[k] = NAME(sum_lanes)(NAME(load_whole)(from + k * LANES));
}
#undef FOLD

/* ---- vectors of groups ------------------------------------------------------------------------------------------- */

/* features x places, each a vector of groups: nothing is spread, but weights that all groups have, or folded. A tile
 * that goes beyond the last place counts that place again and does not write it. */
ALWAYS_INLINE void NAME(abreast_tile)(const lam__conv_panel *p, bool same, int features, int places, int64_t first) {
    const int64_t left = p->places - first, rows = p->rows, step = p->step, *row = p->row, *put = p->put + first;
    const bool add = p->add;
    const T *x[MOST_ABREAST], *w = p->w;
    V sum[FEW][MOST_ABREAST];
    UNROLLED for (int i = 0; i < places; i++) {
        x[i] = (const T *)p->x + p->at[first + (i < left ? i : left - 1)];
        UNROLLED for (int f = 0; f < features; f++) sum[f][i] = (V){0};
    }
    for (int64_t r = 0; r < rows; r++, w += features * (same ? 1 : LANES)) {
        V weights[FEW];
        UNROLLED for (int f = 0; f < features; f++) weights[f] = same ? w[f] - (V){0} : NAME(load_whole)(w + f * LANES);
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
ALWAYS_INLINE void NAME(abreast_all)(const lam__conv_panel *p, bool same, int features, int places, int few) {
    int64_t first = 0;
    for (; p->places - first > few; first += places) NAME(abreast_tile)(p, same, features, places, first);
    if (first < p->places) NAME(abreast_tile)(p, same, features, few, first);
}

ALWAYS_INLINE void NAME(abreast)(const lam__conv_panel *p, int features, int places, int few) {
    if (p->same) NAME(abreast_all)(p, true, features, places, few);
    else NAME(abreast_all)(p, false, features, places, few);
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

#include "lib/kernels/conv/simd_lines_type.h"

#include "lib/kernels/conv/simd_few_type.h"

#if VECTOR_BYTES >= 64
#include "lib/kernels/conv/simd_points_type.h"
#endif

#undef T
#undef V
#undef LANES
#undef LIST
#undef FMA
#undef NAME
