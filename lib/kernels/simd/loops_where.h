/* Template: the loop that chooses. Include with T and NAME(x); T may be any type that can be assigned. Conditions are
 * bytes of 0 and 1. */
ALWAYS_INLINE void NAME(where_steps)(int64_t n, T *out, const uint8_t *c, const T *x, const T *y, int64_t so,
                                     int64_t sc, int64_t sx, int64_t sy) {
    INDEPENDENT for (int64_t i = 0; i < n; i++) {
        T a = x[i * sx], b = y[i * sy];
        out[i * so] = c[i * sc] ? a : b;
    }
}

/* Steps are constants where they are common (NOTE [known steps]). Both sides are read, so the choice needs no
 * branch. */
static void NAME(loop_where)(LOOP_ARGS) {
    int64_t so = step[0], sc = step[1], sx = step[2], sy = step[3];
    bool near = so == 1 && sc == 1 && n > 1;
    if (near && sx == 1 && sy == 1) NAME(where_steps)(n, p[0], p[1], p[2], p[3], 1, 1, 1, 1);
    else if (near && sx == 1 && sy == 0) NAME(where_steps)(n, p[0], p[1], p[2], p[3], 1, 1, 1, 0);
    else if (near && sx == 0 && sy == 1) NAME(where_steps)(n, p[0], p[1], p[2], p[3], 1, 1, 0, 1);
    else NAME(where_steps)(n, p[0], p[1], p[2], p[3], so, sc, sx, sy);
}
