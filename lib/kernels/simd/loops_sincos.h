/* Template: the loop that gives sine and cosine, each element by the same vector function whatever its place, as in
 * map_vector.h. Include behind that with T, V, LANES and NAME(x). No include guard: that is the point. The reduction of
 * the argument, which is most of the work, is done once. Nothing has gaps. x is not written. The rest of n goes as a
 * filled vector. */

static void NAME(loop_sincos)(int64_t n, const void *from, void *to_sine, void *to_cosine) {
    const T *x = from;
    T *sine = to_sine, *cosine = to_cosine;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + NAME(AHEAD));
        const NAME(pair) y = NAME(sincos)(NAME(load)(x + i));
        memcpy(sine + i, &y.sine, sizeof y.sine);
        memcpy(cosine + i, &y.cosine, sizeof y.cosine);
    }
    if (i == n) return;
    const NAME(pair) y = NAME(sincos)(NAME(load_part)(x + i, n - i));
    NAME(store_part)(sine + i, y.sine, n - i);
    NAME(store_part)(cosine + i, y.cosine, n - i);
}
