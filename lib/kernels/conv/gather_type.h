/* Gathering for one floating type: T and NAME(f). No include guard: that is the point. */

/* A vector that every machine has in one register. */
typedef T NAME(vector) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));

/* The sum of what one line of `count` places meets, in the order of the window: into `line`, or where it lies already
 * if that is one row of products. Places that meet all taps go LONG at a time, beyond the last of them too: what is
 * made there is overwritten by those at the ends, which follow, or read by nobody. */
static const T *NAME(sum)(const taps *t, int64_t size, int64_t count, const T *products, T *line) {
    if (t->count == 1 && t->low == 0 && t->high == count) return products + t->at[0];
    for (int64_t i = t->low; i < t->high && t->count > 0; i += LONG) {
        NAME(vector) sum[LONG * sizeof(T) / VECTOR] = {0};
        for (int64_t k = 0; k < t->count; k++) {
            const NAME(vector) *from = (const NAME(vector) *)(products + t->at[k] + i);
            for (size_t v = 0; v < sizeof sum / sizeof *sum; v++) sum[v] += from[v];
        }
        memcpy(line + i, sum, sizeof sum);
    }
    for (int64_t i = 0; i < t->low; i++) line[i] = 0;
    for (int64_t i = t->high; i < count; i++) line[i] = 0;
    for (int64_t k = 0; k < t->count && (t->low > 0 || t->high < count); k++) {
        const int64_t first = -t->shift[k], end = size + first < count ? size + first : count;
        const T *from = products + t->at[k];
        for (int64_t i = first > 0 ? first : 0; i < t->low && i < end; i++) line[i] += from[i];
        for (int64_t i = t->high > first ? t->high : first; i < end; i++) line[i] += from[i];
    }
    return line;
}

/* Lines of `side` phases, the first of them to `to`, each with elements `step` apart. count[] is that of places, which
 * differ by one at most, the first ones being longer. */
static void NAME(put)(const lam__conv_loops *loops, T *to, int64_t step, const T *const from[], const int64_t count[],
                      int side) {
    int64_t all = 0;
    for (int i = 0; i < side; i++) all += count[i];
    if (side == step) loops->weave(to, (const void *const *)from, all, side);
    for (int i = 0; i < side && side != step; i++)
        for (int64_t k = 0; k < count[i]; k++) to[k * step + i] = from[i][k];
}

/* All features of `side` phases that are neighbours along the last axis, at the places of an item. */
static void NAME(phases)(const lam__conv_gather *p, const lam__conv_gathered *g, int side, const reach *item,
                         const void *products, void *result, void *lines, taps lists[]) {
    const int64_t *to_step = g->shape.out_step;
    const lam__conv_loops *loops = lam__conv_loops_of(p->dtype);
    reach r = *item;
    int64_t count[SIDE];
    for (int i = 0; i < LAM__CONV_AXES; i++)
        if (r.end[i] > g->shape.axis[i].out) r.end[i] = g->shape.axis[i].out;
    for (int i = 0; i < side; i++) {
        lists[i].end[0] = -1; /* nothing is listed */
        const int64_t out = g[i].shape.axis[2].out, end = item->end[2] < out ? item->end[2] : out;
        count[i] = end > r.first[2] ? end - r.first[2] : 0;
    }
    for (int64_t o = 0; o < g->shape.o; o++)
        for (int64_t i = r.first[0]; i < r.end[0]; i++)
            for (int64_t j = r.first[1]; j < r.end[1]; j++) {
                const T *meet = (const T *)products + o * p->window * r.columns + (i - r.x[0]) * r.step[0] +
                                (j - r.x[1]) * r.step[1] + r.first[2] - r.x[2];
                T *to = (T *)result + o * to_step[2] + i * to_step[3] + j * to_step[4] + r.first[2] * to_step[5];
                const T *from[SIDE];
                for (int k = 0; k < side; k++) {
                    list_taps(&lists[k], &g[k], &r, (int64_t[]){i, j}, count[k]);
                    from[k] = NAME(sum)(&lists[k], g->shape.axis[2].size, count[k], meet, (T *)lines + k * p->line);
                }
                NAME(put)(loops, to + g->out, to_step[5], from, count, side);
            }
}

#undef T
#undef NAME
