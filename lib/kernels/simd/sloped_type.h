/* Template: functions and their derivatives of one floating type in one pass. Include with T, V, LANES, NAME(x) behind
 * map_vector.h and the functions. No include guard: that is the point. What is not a whole vector goes through the same
 * function, filled up, so an element's bits do not depend on its place. */

/* The derivative of the sine is the cosine, with the bits that the cosine has alone. The next one is that of the
 * cosine, with the sign turned. */
ALWAYS_INLINE NAME(both) NAME(sin_and_slope)(V x) {
    const NAME(pair) y = NAME(sincos)(x);
    return (NAME(both)){y.sine, y.cosine};
}

/* Minus the sine. */
ALWAYS_INLINE NAME(both) NAME(cos_and_slope)(V x) {
    const NAME(pair) y = NAME(sincos)(x);
    return (NAME(both)){y.cosine, -y.sine};
}

/* Of one exponential: the compiler finds it. Both texts take it of -|x|. */
ALWAYS_INLINE NAME(both) NAME(softplus_and_slope)(V x) {
    return (NAME(both)){NAME(softplus)(x), NAME(logistic)(x)};
}

#define BOTH(f)                                                                                                        \
    static void NAME(f##_both)(int64_t n, const void *x, void *out, void *slope) {                                     \
        NAME(vectors_both)(n, x, out, slope, NAME(f##_and_slope));                                                     \
    }
BOTH(sin)
BOTH(cos)
BOTH(softplus)
