/* Windows of one element, for one floating type: a part of simd_type.h, with its names, for vectors of 64 bytes. Pieces
 * of pictures are picked out of whole vectors where they are, and spread where they belong. No include guard: that is
 * the point. */

/* A pick in registers: copied before anything is stored, since stores could be to what they are read from. */
typedef struct NAME(picker) {
    list_of_lanes list[2], spread[4];
    int64_t source[4], target[4];
    uint32_t read, second, kept, written, present[4];
} NAME(picker);

ALWAYS_INLINE NAME(picker) NAME(picker_of)(const lam__conv_pick *pick) {
    NAME(picker) p = {.read = pick->read, .second = pick->second, .kept = pick->kept, .written = pick->written};
    UNROLLED for (int i = 0; i < 2; i++) p.list[i] = NAME(list)(pick->index[i]);
    UNROLLED for (int i = 0; i < 4; i++) {
        p.source[i] = pick->source[i];
        p.target[i] = pick->target[i];
        p.spread[i] = NAME(list)(pick->spread[i]);
        p.present[i] = NAME(present)(p.spread[i]);
    }
    return p;
}

/* The places of a piece that begins at x; zeros in lanes that do not count. `sources` is a constant. */
ALWAYS_INLINE V NAME(pick_piece)(const T *x, const NAME(picker) * p, int sources, uint32_t lanes) {
    if (sources == 1) return NAME(load_lanes)(x, p->read & lanes);
    const V first = NAME(load_lanes)(x, p->read), other = NAME(load_lanes)(x + p->source[1], p->read);
    const V low = NAME(pick)(first, other, p->list[0], lanes);
    if (sources == 2) return low;
    const V third = NAME(load_whole)(x + p->source[2]), last = NAME(load_whole)(x + p->source[3]);
    return NAME(either)(low, NAME(pick)(third, last, p->list[1], lanes), p->second);
}

/* The sum of a piece to where it belongs. Of four vectors the first two are neighbours, and so are the others. */
ALWAYS_INLINE void NAME(put_piece)(T *to, V sum, const NAME(picker) * p, int first, int targets) {
    if (targets == 1) {
        NAME(store_lanes)(to, sum, p->kept);
        return;
    }
    UNROLLED for (int k = first; k < first + 2; k++)
        NAME(store_lanes)(to + p->target[k], NAME(spread)(sum, p->spread[k], p->present[k]), p->written);
}

/* features x POINTS pieces; where there are fewer, the last one again, which gives the same. Each sum is in the order
 * of its terms. */
ALWAYS_INLINE void NAME(points_tile)(const lam__conv_pointed *p, const NAME(picker) * pick,
                                     const lam__conv_piece *pieces, int64_t count, int64_t feature, int features,
                                     int sources, int targets) {
    const int64_t terms = p->terms, x_step = p->x_step, w_term = p->w_term, to_step = p->to_step;
    const T *x[POINTS], *w[FEW];
    T *to[POINTS];
    V sum[FEW][POINTS];
    UNROLLED for (int f = 0; f < features; f++) w[f] = (const T *)p->w + (feature + f) * p->w_feature;
    UNROLLED for (int i = 0; i < POINTS; i++) {
        const lam__conv_piece *piece = pieces + (i < count ? i : count - 1);
        x[i] = (const T *)p->x + piece->x;
        to[i] = (T *)p->to + feature * to_step + piece->to;
        UNROLLED for (int f = 0; f < features; f++) sum[f][i] = (V){0};
    }
    for (int64_t c = 0, at = 0, row = 0; c < terms; c++, at += x_step, row += w_term) {
        V same[FEW];
        UNROLLED for (int f = 0; f < features; f++) same[f] = w[f][row] - (V){0};
        UNROLLED for (int i = 0; i < POINTS; i++) {
            V from = NAME(pick_piece)(x[i] + at, pick, sources, ~0u);
            if (features > 1) READ_ONCE(from);
            UNROLLED for (int f = 0; f < features; f++) sum[f][i] = FMA(same[f], from, sum[f][i]);
        }
    }
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int k = 0; k < targets; k += 2) {
            UNROLLED for (int i = 0; i < POINTS; i++) NAME(put_piece)(to[i] + f * to_step, sum[f][i], pick, k, targets);
        }
    }
}

/* All features of some pieces, then of the next ones, which are in the first cache then. Where there are POINTS of them
 * the last ones are done again with those before them. */
ALWAYS_INLINE void NAME(points_any)(const lam__conv_pointed *p, const lam__conv_pick *pick,
                                    const lam__conv_piece *pieces, int64_t count, int sources, int targets) {
    const NAME(picker) picker = NAME(picker_of)(pick);
    for (int64_t next = 0; next < count; next += POINTS) {
        const int64_t first = next + POINTS <= count || count < POINTS ? next : count - POINTS, left = count - first;
        const lam__conv_piece *these = pieces + first;
        int64_t f = 0;
        for (; f + 4 <= p->features; f += 4) NAME(points_tile)(p, &picker, these, left, f, 4, sources, targets);
        for (; f + 2 <= p->features; f += 2) NAME(points_tile)(p, &picker, these, left, f, 2, sources, targets);
        if (f < p->features) NAME(points_tile)(p, &picker, these, left, f, 1, sources, targets);
    }
}

static void NAME(points)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces,
                         int64_t count) {
    if (pick->targets > 1) NAME(points_any)(p, pick, pieces, count, 1, 4);
    else if (pick->sources > 2) NAME(points_any)(p, pick, pieces, count, 4, 1);
    else if (pick->sources > 1) NAME(points_any)(p, pick, pieces, count, 2, 1);
    else NAME(points_any)(p, pick, pieces, count, 1, 1);
}

/* features x terms vectors of sums, from (feature, term) on; where there are fewer, the last one again, which is not
 * written. With one sum some pieces go together, so that none waits for the one before. */
ALWAYS_INLINE void NAME(sums_tile)(const lam__conv_pointed *p, const lam__conv_pick *pick,
                                   const lam__conv_piece *pieces, int64_t count, int64_t feature, int64_t term,
                                   int features, int terms, int sources) {
    const int ways = features * terms == 1 ? 4 : 1;
    const NAME(picker) picker = NAME(picker_of)(pick);
    const T *x[POINTS], *w[FEW];
    V sum[FEW][POINTS];
    UNROLLED for (int f = 0; f < features; f++) w[f] =
        (const T *)p->w + (feature + f < p->features ? feature + f : p->features - 1) * p->w_feature;
    UNROLLED for (int c = 0; c < terms; c++) x[c] =
        (const T *)p->x + (term + c < p->terms ? term + c : p->terms - 1) * p->x_step;
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int c = 0; c < POINTS; c++) sum[f][c] = (V){0};
    }
    for (int64_t next = 0; next < count; next += ways) {
        UNROLLED for (int i = 0; i < ways; i++) {
            const lam__conv_piece *piece = pieces + (next + i < count ? next + i : count - 1);
            const uint32_t lanes = next + i < count ? piece->lanes : 0;
            V from[FEW];
            UNROLLED for (int f = 0; f < features; f++) from[f] = NAME(load_lanes)(w[f] + piece->to, lanes);
            UNROLLED for (int c = 0; c < terms; c++) {
                V at = NAME(pick_piece)(x[c] + piece->x, &picker, sources, lanes);
                if (features > 1) READ_ONCE(at);
                UNROLLED for (int f = 0; f < features; f++) sum[f][c + i] = FMA(from[f], at, sum[f][c + i]);
            }
        }
    }
    UNROLLED for (int i = 1; i < ways; i++) sum[0][0] += sum[0][i];
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int c = 0; c < terms; c++) if (feature + f < p->features && term + c < p->terms)
            NAME(store_whole)((T *)p->to + ((term + c) * p->features + feature + f) * LANES, sum[f][c], p->add);
    }
}

ALWAYS_INLINE void NAME(sums_of)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces,
                                 int64_t count, int features, int terms, int sources) {
    for (int64_t f = 0; f < p->features; f += features)
        for (int64_t c = 0; c < p->terms; c += terms)
            NAME(sums_tile)(p, pick, pieces, count, f, c, features, terms, sources);
}

/* Tiles of one, two or four on either side, that are filled as well as can be. */
ALWAYS_INLINE void NAME(sums_any)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces,
                                  int64_t count, int sources) {
    const int64_t features = p->features, terms = p->terms;
    if (features == 1 && terms == 1) NAME(sums_of)(p, pick, pieces, count, 1, 1, sources);
    else if (features == 1) NAME(sums_of)(p, pick, pieces, count, 1, 4, sources);
    else if (terms == 1) NAME(sums_of)(p, pick, pieces, count, 4, 1, sources);
    else if (features == 2 || terms == 2) NAME(sums_of)(p, pick, pieces, count, 2, 2, sources);
    else NAME(sums_of)(p, pick, pieces, count, 4, 4, sources);
}

static void NAME(sums)(const lam__conv_pointed *p, const lam__conv_pick *pick, const lam__conv_piece *pieces,
                       int64_t count) {
    if (pick->sources > 2) NAME(sums_any)(p, pick, pieces, count, 4);
    else if (pick->sources > 1) NAME(sums_any)(p, pick, pieces, count, 2);
    else NAME(sums_any)(p, pick, pieces, count, 1);
}
