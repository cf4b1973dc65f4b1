/* The loops of plain.c for one type: T, SUM, MUL and NAME(f). No include guard: that is the point. LONG places at a
 * time, each summed in the order of the panel, which is that of the vectors of floats. The tile is summed in full,
 * reading x up to LONG - 1 elements behind the last place (LAM__CONV_SLACK is larger), and stored only as far as places
 * go; a loop of constant length is what the compiler turns into vectors. */

static inline void NAME(along)(const lam__conv_panel *p, int features) {
    for (int64_t first = 0; first < p->places; first += LONG)
        for (int f = 0; f < features; f++) {
            const T *w = (const T *)p->w + f;
            T sum[LONG] = {0}, *to = (T *)p->to + f * p->step + first;
            for (int64_t r = 0; r < p->rows; r++) {
                const T *x = (const T *)p->x + p->row[r] + first, same = w[r * features];
                for (int i = 0; i < LONG; i++) sum[i] = SUM(sum[i], MUL(x[i], same));
            }
            const int64_t left = p->places - first;
            for (int i = 0; i < LONG && i < left; i++) to[i] = p->add ? SUM(to[i], sum[i]) : sum[i];
        }
}

/* The number of features is a constant in each of these, as in the table of loops.h. Weights lie row by row with so
 * many features side by side. */
static void NAME(along_1)(const lam__conv_panel *p) {
    NAME(along)(p, 1);
}

static void NAME(along_2)(const lam__conv_panel *p) {
    NAME(along)(p, 2);
}

static void NAME(along_3)(const lam__conv_panel *p) {
    NAME(along)(p, 3);
}

static void NAME(along_4)(const lam__conv_panel *p) {
    NAME(along)(p, 4);
}

#undef T
#undef NAME
#undef SUM
#undef MUL
