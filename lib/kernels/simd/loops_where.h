/* Template: the loop that chooses. Include with T and NAME(x); T may be any type that can be assigned. */
static void NAME(loop_where)(LOOP_ARGS) {
    T *out = p[0];
    const uint8_t *c = p[1];
    const T *x = p[2], *y = p[3];
    int64_t so = step[0], sc = step[1], sx = step[2], sy = step[3];
    if (so == 1 && sc == 1 && sx == 1 && sy == 1) {
        INDEPENDENT for (int64_t i = 0; i < n; i++) {
            T a = x[i], b = y[i];
            out[i] = c[i] ? a : b;
        }
    } else {
        INDEPENDENT for (int64_t i = 0; i < n; i++) {
            T a = x[i * sx], b = y[i * sy];
            out[i * so] = c[i * sc] ? a : b;
        }
    }
}
