/* Recurrences of W lanes in registers, for one floating type T; NAME is the function. No guard.
 *
 * Two groups of W go side by side, since each waits for itself only: of one row, or of two rows where a group is a row.
 * Where a row is no multiple of W, its last group begins earlier and computes some lanes again. Hence out must not be b
 * or a. */

#define GROUP LAM__JOIN(NAME, _group)
#define PAIR  LAM__JOIN(NAME, _pair)

typedef T GROUP __attribute__((vector_size(W * sizeof(T)), aligned(sizeof(T)), may_alias));

/* Two groups, `other` elements apart. */
ALWAYS_INLINE void PAIR(int64_t n, int64_t step, int64_t other, const T *a, const T *b, T *out) {
    GROUP x = *(const GROUP *)b, y = *(const GROUP *)(b + other);
    *(GROUP *)out = x;
    *(GROUP *)(out + other) = y;
    for (int64_t i = 1; i < n; i++) {
        a += step;
        b += step;
        out += step;
        x = *(const GROUP *)a * x + *(const GROUP *)b;
        y = *(const GROUP *)(a + other) * y + *(const GROUP *)(b + other);
        *(GROUP *)out = x;
        *(GROUP *)(out + other) = y;
    }
}

/* Two groups of W lanes go at once: `beside` is the second group of a row, or where a row is one group (`two`) that of
 * the next row. Lanes at the end may be computed twice and get the same bits, since out is written only. */
static void NAME(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    const int64_t whole = s->n * s->inner, last = s->inner - W, step = reverse ? -s->inner : s->inner;
    for (int64_t o = 0; o < s->outer; o++) {
        const bool two = last == 0 && o + 1 < s->outer;
        for (int64_t j = 0; j < s->inner; j += 2 * W) {
            const int64_t lane = j < last ? j : last, beside = lane + W < last ? lane + W : last;
            const int64_t at = o * whole + (reverse ? whole - s->inner : 0) + lane;
            PAIR(s->n, step, two ? whole : beside - lane, a + at, b + at, out + at);
        }
        o += two;
    }
}

#undef GROUP
#undef PAIR
#undef NAME
#undef W
