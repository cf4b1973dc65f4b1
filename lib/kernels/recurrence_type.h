/* The loops of recurrence.c for one floating type: T, FN(name). Included once for each; no guard. */

/* Lane by lane, since an element's exponential depends on what is the largest so far. The sum is kept in double for
 * both types and rounded once for each element. */
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
