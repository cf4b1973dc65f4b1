/* The inner loops of scatter for one element type, included by index.c with T the element, NAME, KIND and U the type of
 * sums and products (unsigned for integers: they wrap); or for COMPLEX numbers the type of each PART. No include
 * guard: that is the point. */

#if COMPLEX
/* Numbers without order. Products are those of the loops of complex numbers, to the last bit. */
static inline T NAME(combine)(lam__scatter_op op, T a, T b) {
    if (op == LAM__SCATTER_SET) return b;
    if (op == LAM__SCATTER_ADD) return (T){a.re + b.re, a.im + b.im};
    return (T){LAM__ROUNDED(a.re * b.re) - LAM__ROUNDED(a.im * b.im),
               LAM__ROUNDED(a.re * b.im) + LAM__ROUNDED(a.im * b.re)};
}
#else
/* Of NaN and another number NaN stays or comes in. Bytes are widened by U before they are multiplied; sums of bools are
 * or, whose elements are 0 or 1. Of equal numbers, zeros of both signs among them, the one that is there stays. */
static inline T NAME(combine)(lam__scatter_op op, T a, T b) {
    if (op == LAM__SCATTER_SET) return b;
    if (op == LAM__SCATTER_ADD) return KIND == BOOLS ? (T)(a != 0 || b != 0) : (T)((U)a + (U)b);
    if (op == LAM__SCATTER_MUL) return (T)((U)a * (U)b);
    const bool wins = op == LAM__SCATTER_MIN ? b < a : b > a;
    return wins || (KIND == FLOATS && isnan((double)b)) ? b : a;
}
#endif

/* Runs of one element. The same place may be named twice in a row, so the loop reads what it has just written and
 * cannot be made of vectors. */
static inline void NAME(run_of_one)(lam__scatter_op op, int count, const int64_t *at, T *row, const T *from) {
    for (int j = 0; j < count; j++)
        if (at[j] != OUTSIDE) row[at[j]] = NAME(combine)(op, row[at[j]], from[j]);
}

/* One run. Parts of sums are on their own, and of single numbers compilers make better vectors than of pairs. */
static inline void NAME(run_at)(lam__scatter_op op, int64_t inner, T *restrict to, const T *from) {
#if COMPLEX
    if (op == LAM__SCATTER_ADD) {
        PART *parts = (PART *)to;
        const PART *more = (const PART *)from;
        for (int64_t i = 0; i < 2 * inner; i++) parts[i] += more[i];
        return;
    }
#endif
    for (int64_t i = 0; i < inner; i++) to[i] = NAME(combine)(op, to[i], from[i]);
}

/* `op` is a constant in every call. */
static inline void NAME(run)(lam__scatter_op op, int64_t inner, int count, const int64_t *at, T *row, const T *from) {
    if (inner == 1) {
        NAME(run_of_one)(op, count, at, row, from);
        return;
    }
    for (int j = 0; j < count; j++, from += inner)
        if (at[j] != OUTSIDE) NAME(run_at)(op, inner, row + at[j] * inner, from);
}

/* One function for each operation, in which it is a constant. Complex numbers have no order, so they lack the last
 * two. */
static void NAME(scatter_add)(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    NAME(run)(LAM__SCATTER_ADD, inner, count, at, row, updates);
}

static void NAME(scatter_set)(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    NAME(run)(LAM__SCATTER_SET, inner, count, at, row, updates);
}

static void NAME(scatter_mul)(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    NAME(run)(LAM__SCATTER_MUL, inner, count, at, row, updates);
}

#if !COMPLEX
static void NAME(scatter_min)(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    NAME(run)(LAM__SCATTER_MIN, inner, count, at, row, updates);
}

static void NAME(scatter_max)(int64_t inner, int count, const int64_t *at, void *row, const void *updates) {
    NAME(run)(LAM__SCATTER_MAX, inner, count, at, row, updates);
}
#endif

#undef T
#undef U
#undef PART
#undef NAME
#undef KIND
