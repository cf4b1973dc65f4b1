/* The loops of window_simd.c for one element type: T the element, NAME(f) the function's name, FLOATS whether NaN
 * exists, LEAST and GREATEST what the maximum and the minimum of nothing are, SUM(a, b). No include guard: that is the
 * point. Nothing is kept from one result to the next: windows that overlap are combined anew, which costs the window's
 * length for each result. */

/* Whether a is NaN and b is not: then a wins as the largest and as the smallest. */
static inline bool NAME(is_first_nan)(T a, T b) {
#if FLOATS
    return (a != a) & (b == b);
#else
    (void)a, (void)b;
    return false;
#endif
}

/* Whether a takes the place of b. Of equal ones b stays, so the first of them is what remains. */
static inline bool NAME(wins)(bool greatest, T a, T b) {
    return (greatest ? a > b : a < b) | NAME(is_first_nan)(a, b);
}

/* The one that stays. No branch depends on which is larger, also where there are too few for vectors. */
static inline T NAME(better)(bool greatest, T a, T b) {
    const T kept = (greatest ? a > b : a < b) ? a : b;
    return NAME(is_first_nan)(a, b) ? a : kept;
}

/* a joins what has been found so far, b. */
static inline T NAME(combine)(lam__reduce_id id, T a, T b) {
    return id == LAM__REDUCE_SUM ? (T)SUM(a, b) : NAME(better)(id == LAM__REDUCE_MAX, a, b);
}

/* count elements of x, pace apart, to as many of out, step apart. Strides 1 and 2 are what networks have. */
static inline void NAME(join)(lam__reduce_id id, int64_t count, const T *x, int64_t pace, T *restrict out,
                              int64_t step) {
    if (pace == 1 && step == 1)
        for (int64_t i = 0; i < count; i++) out[i] = NAME(combine)(id, x[i], out[i]);
    else if (pace == 2 && step == 1)
        for (int64_t i = 0; i < count; i++) out[i] = NAME(combine)(id, x[2 * i], out[i]);
    else
        for (int64_t i = 0; i < count; i++) out[i * step] = NAME(combine)(id, x[i * pace], out[i * step]);
}

/* The rows of one place of the window, each of inner elements. */
static inline void NAME(join_rows)(lam__reduce_id id, const window_run *r, int64_t inner, const T *x, T *out) {
    x += r->from * inner;
    out += r->to * inner;
    if (r->pace == 1 && r->step == 1) NAME(join)(id, r->count * inner, x, 1, out, 1);
    else if (inner == 1) NAME(join)(id, r->count, x, r->pace, out, r->step);
    else
        for (int64_t j = 0; j < r->count; j++)
            NAME(join)(id, inner, x + j * r->pace * inner, 1, out + j * r->step * inner, 1);
}

/* `id` is a constant in every call. */
static inline void NAME(run)(lam__reduce_id id, const lam__lanes *s, const lam__window_axis *a, const T *x, T *out) {
    const T start = id == LAM__REDUCE_SUM ? (T)0 : id == LAM__REDUCE_MAX ? (T)LEAST : (T)GREATEST;
    const int64_t step = s->inner < NEAR ? NEAR / (s->inner + !s->inner) : 1;
    for (int64_t t = 0; t < a->out; t += step) {
        const window_part p = part_of(a, s->n, t, step);
        int64_t first, end;
        places_met(&p, &first, &end);
        for (int64_t o = 0; o < s->outer; o++) {
            T *to = out + o * a->out * s->inner;
            for (int64_t i = t * s->inner; i < p.end * s->inner; i++) to[i] = start;
            for (int64_t k = first; k < end; k++) {
                const window_run r = run_of(&p, k);
                if (r.count) NAME(join_rows)(id, &r, s->inner, x + o * s->n * s->inner, to);
            }
        }
    }
}

/* A function for each reduction, so that the choice is made when it is compiled. */
static void NAME(window_sum)(const lam__lanes *s, const lam__window_axis *a, const void *x, void *out) {
    NAME(run)(LAM__REDUCE_SUM, s, a, x, out);
}

static void NAME(window_max)(const lam__lanes *s, const lam__window_axis *a, const void *x, void *out) {
    NAME(run)(LAM__REDUCE_MAX, s, a, x, out);
}

static void NAME(window_min)(const lam__lanes *s, const lam__window_axis *a, const void *x, void *out) {
    NAME(run)(LAM__REDUCE_MIN, s, a, x, out);
}

/* ---- where the best element of a window stands ------------------------------------------------------------------ */

/* The elements x[at], x[at + pace], ... against the best of as many results so far, which `none` stands for as long as
 * there is none: then best is what every element is at least as good as. */
static inline void NAME(compare)(bool greatest, int64_t count, const T *restrict x, int64_t at, int64_t pace,
                                 int64_t none, T *restrict best, int64_t *restrict where, int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        const T a = x[at + i * pace], b = best[i * step];
        const int64_t old = where[i * step];
        const int64_t taken = -(int64_t)(NAME(wins)(greatest, a, b) | (old == none));
        best[i * step] = NAME(better)(greatest, a, b);
        where[i * step] = ((at + i * pace) & taken) | (old & ~taken);
    }
}

/* Part of a row of results: the places of the window in row-major order, so that of equal ones the first stays. */
static inline void NAME(search_part)(bool greatest, const window_part *p, window_front *f, const T *x, int64_t none,
                                     int64_t *out) {
    T best[NEAR];
    int64_t first, end;
    places_met(p, &first, &end);
    for (int64_t i = p->first; i < p->end; i++) {
        best[i - p->first] = greatest ? (T)LEAST : (T)GREATEST;
        out[i] = none;
    }
    do {
        const int64_t row = row_of(f);
        for (int64_t k = first; k < end && row >= 0; k++) {
            const window_run r = run_of(p, k);
            if (!r.count) continue;
            const int64_t at = row * p->n + r.from;
            T *to = best + (r.to - p->first);
            if (r.pace == 1 && r.step == 1) NAME(compare)(greatest, r.count, x, at, 1, none, to, out + r.to, 1);
            else NAME(compare)(greatest, r.count, x, at, r.pace, none, to, out + r.to, r.step);
        }
    } while (next_place(f));
}

/* All axes at once: its cost is the number of the window's places, for every result. */
static inline void NAME(search)(bool greatest, int64_t outer, const lam__windows *w, const T *x, int64_t *out) {
    const int64_t size = product(w->dims, w->rank), n = w->dims[w->rank - 1], results = w->axis[w->rank - 1].out;
    int64_t rows = 1;
    for (int i = 0; i < w->rank - 1; i++) rows *= w->axis[i].out;
    for (int64_t t = 0; rows && t < results; t += NEAR) {
        const window_part p = part_of(&w->axis[w->rank - 1], n, t, NEAR);
        for (int64_t o = 0; o < outer; o++) {
            window_front f = {w, {0}, {0}};
            int64_t *to = out + o * rows * results;
            do {
                NAME(search_part)(greatest, &p, &f, x + o * size, size, to);
                to += results;
            } while (next_result(&f));
        }
    }
}

static void NAME(window_greatest)(int64_t outer, const lam__windows *w, const void *x, int64_t *out) {
    NAME(search)(true, outer, w, x, out);
}

static void NAME(window_least)(int64_t outer, const lam__windows *w, const void *x, int64_t *out) {
    NAME(search)(false, outer, w, x, out);
}

#undef T
#undef NAME
#undef FLOATS
#undef LEAST
#undef GREATEST
#undef SUM
