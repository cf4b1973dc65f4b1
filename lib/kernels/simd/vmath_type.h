/* Template: the elementary functions of one floating type. Include with T, V (vector), M (mask), W (a wider scalar
 * type), WIDE(f) (libm's f in W), SLEEF(f, bound), NAME(x), and the constants NAME(TINY) and so on of vmath.h.
 * NOTE [lanes] SLEEF's sin, cos and tan choose a reduction for the whole vector by its largest argument. Lanes are
 * sorted here into the ranges SLEEF tells apart, and each range is computed on its own, with harmless numbers in
 * the other lanes; so a result depends on its own argument alone.
 * NOTE [patches] Where SLEEF overflows early, loses subnormals or digits, the lanes concerned (rare ones) are done
 * again one by one by libm in W and rounded once, which is within 0.51 ULP. */

ALWAYS_INLINE V NAME(select)(M mask, V yes, V no) {
    return (V)((mask & (M)yes) | (~mask & (M)no));
}

ALWAYS_INLINE V NAME(magnitude)(V x) {
    M sign = (M)(-(V){0});
    return (V)((M)x & ~sign);
}

/* Lanes `where` of y replaced by f of theirs in x. Not inlined: the callers stay small. */
static __attribute__((noinline)) V NAME(patched1)(V y, V x, M where, W f(W)) {
    for (int i = 0; i < (int)(sizeof(V) / sizeof(T)); i++)
        if (where[i]) y[i] = (T)f(x[i]);
    return y;
}

static __attribute__((noinline)) V NAME(patched2)(V r, V x, V y, M where, W f(W, W)) {
    for (int i = 0; i < (int)(sizeof(V) / sizeof(T)); i++)
        if (where[i]) r[i] = (T)f(x[i], y[i]);
    return r;
}

ALWAYS_INLINE V NAME(patch1)(V y, V x, M where, W f(W)) {
    return ANY(where) ? NAME(patched1)(y, x, where, f) : y;
}

ALWAYS_INLINE V NAME(patch2)(V r, V x, V y, M where, W f(W, W)) {
    return ANY(where) ? NAME(patched2)(r, x, y, where, f) : r;
}

/* See NOTE [lanes]. */
static __attribute__((noinline)) V NAME(trig_by_range)(V x, V f(V)) {
    V size = NAME(magnitude)(x), zero = {0}, y = x;
    M small = (M)(size < NAME(TRIG_SMALL)), large = ~(M)(size < NAME(TRIG_LARGE)), middle = ~(small | large);
    if (ANY(small)) y = f(NAME(select)(small, x, zero));
    if (ANY(middle)) y = NAME(select)(middle, f(NAME(select)(middle, x, zero + NAME(TRIG_SMALL) * 2)), y);
    if (ANY(large)) y = NAME(select)(large, f(NAME(select)(large, x, zero + NAME(TRIG_LARGE) * 2)), y);
    return y;
}

ALWAYS_INLINE V NAME(trig)(V x, V f(V)) {
    return ANY(~(M)(NAME(magnitude)(x) < NAME(TRIG_SMALL))) ? NAME(trig_by_range)(x, f) : f(x);
}

/* Sine and cosine of one argument. */
typedef struct NAME(pair) {
    V sine, cosine;
} NAME(pair);

ALWAYS_INLINE NAME(pair) NAME(unsorted_sincos)(V x) {
    const __typeof__(SLEEF(sincos, u10)(x)) both = SLEEF(sincos, u10)(x);
    return (NAME(pair)){both.x, both.y};
}

/* Lanes `where` of y replaced by those of x; the others hold a harmless number meanwhile. */
ALWAYS_INLINE NAME(pair) NAME(sincos_where)(NAME(pair) y, M where, V x, T harmless) {
    if (!ANY(where)) return y;
    NAME(pair) z = NAME(unsorted_sincos)(NAME(select)(where, x, (V){0} + harmless));
    return (NAME(pair)){NAME(select)(where, z.sine, y.sine), NAME(select)(where, z.cosine, y.cosine)};
}

/* See NOTE [lanes]. */
static __attribute__((noinline)) NAME(pair) NAME(sincos_by_range)(V x) {
    V size = NAME(magnitude)(x);
    M small = (M)(size < NAME(TRIG_SMALL)), large = ~(M)(size < NAME(TRIG_LARGE)), middle = ~(small | large);
    NAME(pair) y = NAME(sincos_where)((NAME(pair)){x, x}, small, x, 0);
    y = NAME(sincos_where)(y, middle, x, NAME(TRIG_SMALL) * 2);
    return NAME(sincos_where)(y, large, x, NAME(TRIG_LARGE) * 2);
}

ALWAYS_INLINE NAME(pair) NAME(sincos)(V x) {
    return ANY(~(M)(NAME(magnitude)(x) < NAME(TRIG_SMALL))) ? NAME(sincos_by_range)(x) : NAME(unsorted_sincos)(x);
}

/* For odd functions x + O(x^3): below TINY the next term is under a quarter ulp, and x itself the best result. */
ALWAYS_INLINE V NAME(odd)(V x, V y) {
    return NAME(select)((M)(NAME(magnitude)(x) < NAME(TINY)), x, y);
}

#define PLAIN(f)                                                                                                       \
    ALWAYS_INLINE V NAME(f)(V x) {                                                                                     \
        return SLEEF(f, u10)(x);                                                                                       \
    }
#define UNSORTED(f)                                                                                                    \
    ALWAYS_INLINE V NAME(unsorted_##f)(V x) {                                                                          \
        return SLEEF(f, u10)(x);                                                                                       \
    }
PLAIN(cbrt)
PLAIN(expm1)
PLAIN(asin)
PLAIN(acos)
PLAIN(atan)
UNSORTED(sin)
UNSORTED(cos)
UNSORTED(tan)
#undef PLAIN
#undef UNSORTED

ALWAYS_INLINE V NAME(sin)(V x) {
    return NAME(trig)(x, NAME(unsorted_sin));
}

ALWAYS_INLINE V NAME(cos)(V x) {
    return NAME(trig)(x, NAME(unsorted_cos));
}

ALWAYS_INLINE V NAME(tan)(V x) {
    return NAME(odd)(x, NAME(trig)(x, NAME(unsorted_tan)));
}

/* sinh and cosh overflow log(2) later than exp does; SLEEF's do with it. */
ALWAYS_INLINE M NAME(near_overflow)(V x) {
    V size = NAME(magnitude)(x);
    return (M)(size > NAME(EXP_SAFE)) & (M)(size < NAME(EXP_SAFE) + 2);
}

ALWAYS_INLINE V NAME(sinh)(V x) {
    return NAME(odd)(x, NAME(patch1)(SLEEF(sinh, u10)(x), x, NAME(near_overflow)(x), WIDE(sinh)));
}

ALWAYS_INLINE V NAME(cosh)(V x) {
    return NAME(patch1)(SLEEF(cosh, u10)(x), x, NAME(near_overflow)(x), WIDE(cosh));
}

ALWAYS_INLINE V NAME(atanh)(V x) {
    return NAME(odd)(x, SLEEF(atanh, u10)(x));
}
