/* The loops of recurrence.c for one floating type: T, FN(name). Included once for each; no guard. */

/* All lanes of one outer element side by side, so that the inner loop has no chain. */
static void FN(recurrence)(const lam__lanes *s, bool reverse, const T *a, const T *b, T *out) {
    const lane_walk w = walk_of(s->n, s->inner, reverse);
    for (int64_t o = 0; o < s->outer; o++) {
        const int64_t first = o * s->n * s->inner + w.start;
        for (int64_t j = 0; j < s->inner; j++) out[first + j] = b[first + j];
        for (int64_t i = 1; i < s->n; i++) {
            const int64_t at = first + i * w.step;
            const T *restrict factor = a + at, *restrict term = b + at, *restrict before = out + at - w.step;
            T *restrict to = out + at;
            for (int64_t j = 0; j < s->inner; j++) to[j] = factor[j] * before[j] + term[j];
        }
    }
}

static void FN(cumlogsumexp)(const lam__lanes *s, bool reverse, const T *x, T *out) {
    const lane_walk w = walk_of(s->n, s->inner, reverse);
    for (int64_t o = 0; o < s->outer; o++)
        for (int64_t j = 0; j < s->inner; j++) {
            int64_t at = o * s->n * s->inner + w.start + j;
            exp_sum sum = {(double)-INFINITY, 0};
            for (int64_t i = 0; i < s->n; i++, at += w.step) out[at] = (T)exp_sum_add(&sum, (double)x[at]);
        }
}

#undef T
#undef FN
