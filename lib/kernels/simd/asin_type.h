/* Template: asin and acos of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of exact.h or
 * single.h spell their names), SUM, ARCSINE (the polynomial), HALF_TURN (pi in two parts). They are undefined again at
 * the end. No include guard: that is the point.
 * Up to 1/2 the arc is u (1 + u^2 P) for u = |x|, beyond it what twice that leaves of pi/2 for u = sqrt((1 - |x|)/2),
 * whose square is exact. */

/* (asin(u) - u) / u^3 in u^2 for u <= 1/2; pi in two parts. */
static const T NAME(arcsine_terms)[] = ARCSINE, NAME(whole_turn)[] = HALF_TURN;

/* The arc of u, which is |x| or the root, as a sum; `far` where it is the root. */
typedef struct NAME(arcsine) {
    SUM arc;
    /* Next to 1 the arc has an infinite slope, and the root takes it away. */
    M far;
} NAME(arcsine);

ALWAYS_INLINE NAME(arcsine) NAME(arcsine_of)(V x) {
    /* Signs come at the end. */
    const V size = NAME(magnitude)(x);
    const M far = (M)(size > (T)0.5);
    const V square = NAME(select)(far, (T)0.5 - (T)0.5 * size, x * x);
    /* The square is exact, so there is no second part of it to be told. */
    const SUM root = OWN(root_in_parts)(square, NULL);
    /* Up to 1/2 it is |x| itself. */
    const V u = NAME(select)(far, root.hi, size), lo = (V)(far & (M)root.lo);
    return (NAME(arcsine)){{u, OWN(madd)(square * u, OWN(POWERS)(square, NAME(arcsine_terms)), lo)}, far};
}

/* turns pi (0, 1/2 or 1) + factor arc; the factor is one of 2. pi in two parts, so that what is taken from it is
 * rounded once. */
ALWAYS_INLINE V NAME(turned_arcsine)(V turns, V factor, SUM arc) {
    const SUM sum = OWN(fast_sum)(turns * NAME(whole_turn)[0], factor * arc.hi);
    return sum.hi + (sum.lo + OWN(madd)(turns, (V){0} + NAME(whole_turn)[1], factor * arc.lo));
}

/* NaN beyond 1, as the root of a negative number is. */
ALWAYS_INLINE V NAME(asin)(V x) {
    const V zero = {0}, one = zero + 1;
    const NAME(arcsine) a = NAME(arcsine_of)(x);
    /* asin(x) = pi/2 - 2 asin(u) beyond 1/2, with the sign of x at the end. */
    const V r = NAME(turned_arcsine)((V)(a.far & (M)(one * (T)0.5)), NAME(select)(a.far, one * -2, one), a.arc);
    return (V)((M)r | ((M)x & (M)(-zero)));
}

/* Of the same arc. */
ALWAYS_INLINE V NAME(acos)(V x) {
    const V zero = {0}, one = zero + 1;
    const NAME(arcsine) a = NAME(arcsine_of)(x);
    /* acos(x) is pi/2 - asin(x); beyond 1/2 it is 2 asin(u), on the left pi less that. So the arc is taken away where
     * `left` and `far` are alike. */
    const M left = (M)(x < 0), sign = ~(left ^ a.far) & (M)(-zero);
    const V turns = NAME(select)(a.far, (V)(left & (M)one), one * (T)0.5);
    return NAME(turned_arcsine)(turns, (V)((M)NAME(select)(a.far, one * 2, one) ^ sign), a.arc);
}

#undef T
#undef V
#undef M
#undef SUM
#undef NAME
#undef OWN
#undef ARCSINE
#undef HALF_TURN
