/* Gathering for one floating type: T and NAME(f). No include guard: that is the point. */

/* line[i] += from[i] for i in [begin, end), and, where that is the end of the line, for up to LONG - 1 more: whole
 * vectors are faster than a rest counted out, and nobody reads those. */
static void NAME(add)(T *restrict line, const T *restrict from, int64_t begin, int64_t end, bool last) {
    int64_t i = begin;
    for (const int64_t whole = last ? end : end - LONG + 1; i < whole; i += LONG)
        for (int k = 0; k < LONG; k++) line[i + k] += from[i + k];
    for (; i < end; i++) line[i] += from[i];
}

/* The sum of what one line of places meets, in the order of the window: into `line`, or where it lies already if that
 * is one row of products. */
static const T *NAME(sum)(const lam__conv_axis a[], const int64_t step[], const reach *r, int64_t count, const T *rows,
                          const int64_t at[], T *line) {
    bool empty = true;
    for (int64_t k0 = 0; k0 < a[0].window; k0++) {
        const int64_t e0 = at[0] + k0 * a[0].spread - a[0].low;
        if (e0 < 0 || e0 >= a[0].size) continue;
        for (int64_t k1 = 0; k1 < a[1].window; k1++) {
            const int64_t e1 = at[1] + k1 * a[1].spread - a[1].low;
            if (e1 < 0 || e1 >= a[1].size) continue;
            const T *row = rows + (k0 * step[0] + k1 * step[1]) * r->columns + (e0 - r->x[0]) * r->step[0] +
                           (e1 - r->x[1]) * r->step[1] - r->x[2];
            for (int64_t k2 = 0; k2 < a[2].window; k2++) {
                const int64_t e2 = r->first[2] + k2 * a[2].spread - a[2].low;
                const int64_t begin = e2 < 0 ? -e2 : 0, end = a[2].size - e2 < count ? a[2].size - e2 : count;
                const T *from = row + k2 * step[2] * r->columns + e2;
                if (begin == 0 && end == count && a[0].window * a[1].window * a[2].window == 1) return from;
                if (empty) memset(line, 0, (size_t)(count + LONG) * sizeof *line);
                NAME(add)(line, from, begin, end, end == count);
                empty = false;
            }
        }
    }
    if (empty) memset(line, 0, (size_t)count * sizeof *line);
    return line;
}

/* `side` lines that lie element by element beside each other. */
static inline void NAME(weave)(T *restrict to, const T *const from[], int64_t count, int side) {
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < side; i++) to[k * side + i] = from[i][k];
}

/* Lines of `side` phases, the first of them to `to`, each with elements `step` apart. count[] is that of places, which
 * differ by one at most. */
static void NAME(put)(T *to, int64_t step, const T *const from[], const int64_t count[], int side) {
    const int64_t whole = side == step ? count[side - 1] : 0;
    if (whole > 0 && side == 2) NAME(weave)(to, from, whole, 2);
    else if (whole > 0 && side == 4) NAME(weave)(to, from, whole, 4);
    for (int i = 0; i < side; i++)
        for (int64_t k = side == 2 || side == 4 ? whole : 0; k < count[i]; k++) to[k * step + i] = from[i][k];
}

/* All features of `side` phases that are neighbours along the last axis, at the places of an item. */
static void NAME(phases)(const lam__conv_gather *p, const lam__conv_gathered *g, int side, const reach *item,
                         const void *products, void *result, void *lines) {
    const int64_t *to_step = g->shape.out_step;
    reach r = *item;
    int64_t count[SIDE];
    for (int i = 0; i < LAM__CONV_AXES; i++)
        if (r.end[i] > g->shape.axis[i].out) r.end[i] = g->shape.axis[i].out;
    for (int i = 0; i < side; i++) {
        const int64_t out = g[i].shape.axis[2].out, end = item->end[2] < out ? item->end[2] : out;
        count[i] = end > r.first[2] ? end - r.first[2] : 0;
    }
    for (int64_t o = 0; o < g->shape.o; o++)
        for (int64_t i = r.first[0]; i < r.end[0]; i++)
            for (int64_t j = r.first[1]; j < r.end[1]; j++) {
                const T *rows = (const T *)products + o * p->window * r.columns, *from[SIDE];
                T *to = (T *)result + o * to_step[2] + i * to_step[3] + j * to_step[4] + r.first[2] * to_step[5];
                for (int k = 0; k < side; k++)
                    from[k] = NAME(sum)(g[k].shape.axis, g[k].shape.w_step + 3, &r, count[k],
                                        rows + g[k].row * r.columns, (int64_t[]){i, j}, (T *)lines + k * p->line);
                NAME(put)(to + g->out, to_step[5], from, count, side);
            }
}

#undef T
#undef NAME
