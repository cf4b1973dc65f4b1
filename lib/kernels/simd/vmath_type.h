/* Template: what the elementary functions of one floating type share. Include with T, V, M, W (a wider scalar type),
 * ANY and NAME(x), and the constant NAME(TINY) of vmath.h.
 * Lanes that are rare and would cost the others much are done again one by one by libm in W and rounded once, which is
 * within 0.51 ULP. */

ALWAYS_INLINE V NAME(select)(M mask, V yes, V no) {
    return (V)((mask & (M)yes) | (~mask & (M)no));
}

/* By the sign bit, so a NaN keeps its digits. */
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

/* The same of two operands. */
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

/* For odd functions x + O(x^3): below TINY the next term is under a quarter ulp, and x itself the best result. */
ALWAYS_INLINE V NAME(odd)(V x, V y) {
    return NAME(select)((M)(NAME(magnitude)(x) < NAME(TINY)), x, y);
}
