/* Sums of few products, written where they belong, for one floating type: a part of simd_type.h, with its names. No
 * include guard: that is the point. */

/* `features` x lines x vectors, of one phase of the last axis or of two or three that are woven on their way out. A
 * weight is spread once for all lines, and a vector of x loaded once for all features. Each sum is in the order of its
 * rows, whatever tile it is in. */
ALWAYS_INLINE void NAME(few_tile)(const lam__conv_near *p, const T *x, T *to, int side, int features, int lines,
                                  int vectors, int64_t left) {
    const int64_t x_line = p->x_line, to_line = p->to_line, to_feature = p->to_feature;
    V sum[LAM__CONV_WOVEN][FEW][FEW_SUMS];
    UNROLLED for (int j = 0; j < side; j++) {
        const int64_t *row = p->row[j], *end = row + p->rows[j];
        const T *w = p->w[j];
        UNROLLED for (int f = 0; f < features; f++) {
            UNROLLED for (int i = 0; i < lines * vectors; i++) sum[j][f][i] = (V){0};
        }
        for (; row < end; row++, w += features) {
            const T *from = x + *row;
            V same[FEW];
            UNROLLED for (int f = 0; f < features; f++) same[f] = w[f] - (V){0};
            UNROLLED for (int i = 0; i < lines * vectors; i++) {
                V at = NAME(load_whole)(from + i / vectors * x_line + i % vectors * LANES);
                if (features > 1) READ_ONCE(at);
                UNROLLED for (int f = 0; f < features; f++) sum[j][f][i] = FMA(same[f], at, sum[j][f][i]);
            }
        }
    }
    UNROLLED for (int f = 0; f < features; f++) {
        UNROLLED for (int i = 0; i < lines * vectors; i++) {
            T *at = to + f * to_feature + i / vectors * to_line + i % vectors * side * LANES;
            const int64_t rest = left - i % vectors * side * LANES;
            if (side == 2) NAME(weave_two)(&sum[0][f][i], &sum[1][f][i]);
            if (side == 3) NAME(weave_three)(&sum[0][f][i], &sum[1][f][i], &sum[2][f][i]);
            UNROLLED for (int j = 0; j < side; j++)
                NAME(store_first)(at + j * LANES, sum[j][f][i], false, rest - j * LANES);
        }
    }
}

/* Along a line, or some of them together: `wide` vectors of each phase while they are more than half full, then one. */
ALWAYS_INLINE void NAME(few_run)(const lam__conv_near *p, int64_t line, int side, int features, int lines, int wide) {
    const T *x = (const T *)p->x + line * p->x_line;
    T *to = (T *)p->to + line * p->to_line;
    int64_t left = p->count;
    for (; left > (wide / 2 + wide % 2) * side * LANES; left -= wide * side * LANES) {
        NAME(few_tile)(p, x, to, side, features, lines, wide, left);
        x += wide * LANES;
        to += wide * side * LANES;
    }
    for (; left > 0; left -= side * LANES, x += LANES, to += side * LANES)
        NAME(few_tile)(p, x, to, side, features, lines, 1, left);
}

/* `lines` of them together, of `wide` vectors; where there are fewer, or for the last one, as many vectors of one line.
 * The last lines are done again with those before them, which gives the same. */
ALWAYS_INLINE void NAME(few_any)(const lam__conv_near *p, int side, int features, int lines, int wide) {
    const int64_t all = p->lines;
    for (int64_t next = 0; next < all && all >= lines; next += lines)
        NAME(few_run)(p, next + lines <= all ? next : all - lines, side, features, lines, wide);
    for (int64_t line = 0; line < all && all < lines; line++) NAME(few_run)(p, line, side, features, 1, lines * wide);
}

/* All numbers are constants in each call, so sums are registers. */
static void NAME(few)(const lam__conv_near *p) {
    switch (10 * p->side + p->features) {
    case 11: NAME(few_any)(p, 1, 1, 4, FEW_WIDE); break;
    case 12: NAME(few_any)(p, 1, 2, 4, 1); break;
    case 13: NAME(few_any)(p, 1, 3, FEW_4, 1); break;
    case 14: NAME(few_any)(p, 1, 4, FEW_4, 1); break;
    case 21: NAME(few_any)(p, 2, 1, 4, FEW_WIDE); break;
    case 22: NAME(few_any)(p, 2, 2, FEW_2, 1); break;
    case 23: NAME(few_any)(p, 2, 3, FEW_3, 1); break;
    case 24: NAME(few_any)(p, 2, 4, FEW_3, 1); break;
    case 31: NAME(few_any)(p, 3, 1, 4, FEW_WIDE); break;
    case 32: NAME(few_any)(p, 3, 2, FEW_2, 1); break;
    case 33: NAME(few_any)(p, 3, 3, FEW_5, 1); break;
    default: NAME(few_any)(p, 3, 4, FEW_5, 1); break;
    }
}
