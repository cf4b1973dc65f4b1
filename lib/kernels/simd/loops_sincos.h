/* Template: the loop that gives sine and cosine, each element by the same vector function whatever its place. Include
 * behind map_vector.h with V and NAME(x). No include guard: that is the point. The reduction of the argument, which is
 * most of the work, is done once. Nothing has gaps. x is not written. */

ALWAYS_INLINE NAME(both) NAME(sine_and_cosine)(V x) {
    const NAME(pair) y = NAME(sincos)(x);
    return (NAME(both)){y.sine, y.cosine};
}

static void NAME(loop_sincos)(int64_t n, const void *x, void *sine, void *cosine) {
    NAME(vectors_both)(n, x, sine, cosine, NAME(sine_and_cosine));
}
