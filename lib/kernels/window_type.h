/* The loops of window.c for one element type: T the element, NAME(f) the function's name, FLOATS whether NaN exists,
 * LEAST and GREATEST what the maximum and the minimum of nothing are, SUM(a, b). No include guard: that is the point.
 * Windows of one axis at a time; a result is combined row by row, in the order of the window's places. Nothing is kept
 * from one result to the next: windows that overlap are combined anew, which costs the window's length for each
 * result. */

/* Whether a is NaN and b is not: then a wins as the largest and as the smallest. */
static inline bool NAME(is_first_nan)(T a, T b) {
#if FLOATS
    return a != a && b == b;
#else
    (void)a, (void)b;
    return false;
#endif
}

/* a joins what has been found so far, b. Of equal ones b stays, so the first of them is what remains. */
static inline T NAME(combine)(lam__reduce_id id, T a, T b) {
    if (id == LAM__REDUCE_SUM) return (T)SUM(a, b);
    const bool wins = (id == LAM__REDUCE_MAX ? a > b : a < b) || NAME(is_first_nan)(a, b);
    return wins ? a : b;
}

/* `id` is a constant in every call. */
static inline void NAME(run)(lam__reduce_id id, const lam__lanes *s, const lam__window_axis *a, const T *x, T *out) {
    const T start = id == LAM__REDUCE_SUM ? (T)0 : id == LAM__REDUCE_MAX ? (T)LEAST : (T)GREATEST;
    for (int64_t o = 0; o < s->outer; o++, x += s->n * s->inner)
        for (int64_t t = 0; t < a->out; t++, out += s->inner) {
            T *restrict to = out;
            int64_t k, end;
            bounds(a, s->n, t, &k, &end);
            for (int64_t i = 0; i < s->inner; i++) to[i] = start;
            for (; k < end; k++) {
                const int64_t at = t * a->stride + k * a->spread - a->low;
                if (a->gap > 1 && at % a->gap) continue;
                const T *row = x + (a->gap > 1 ? at / a->gap : at) * s->inner;
                for (int64_t i = 0; i < s->inner; i++) to[i] = NAME(combine)(id, row[i], to[i]);
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

/* Whether element i takes the place of element j as the largest, or the smallest; the first NaN stays. Positions are
 * those of elements of type T. */
static bool NAME(is_greater)(const void *x, int64_t i, int64_t j) {
    const T a = ((const T *)x)[i], b = ((const T *)x)[j];
    return a > b || NAME(is_first_nan)(a, b);
}

static bool NAME(is_less)(const void *x, int64_t i, int64_t j) {
    const T a = ((const T *)x)[i], b = ((const T *)x)[j];
    return a < b || NAME(is_first_nan)(a, b);
}

#undef T
#undef NAME
#undef FLOATS
#undef LEAST
#undef GREATEST
#undef SUM
