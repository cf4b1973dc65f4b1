/* Template: sine, cosine and tangent of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of
 * exact.h or single.h spell their names), SUM, ANY, BITS of T, NEAR (below it turns are subtracted in three parts of
 * pi/2), QUARTERS (these), SINE and COSINE (the polynomials), behind NAME(turned_anywhere), which reduces what is
 * larger. They are undefined again at the end. No include guard: that is the point. */

/* The parts of pi/2 with their signs turned: products of the first and of numbers of quarters are exact, the second's
 * too where the set does not fuse them; (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2 for |r| <= pi/4. */
static const T NAME(quarters)[] = QUARTERS, NAME(sine)[] = SINE, NAME(cosine)[] = COSINE;

/* What x - k pi/2 leaves, a sum, for the next whole k; every part is exact but the last, so that nothing is lost where
 * x lies next to a multiple. */
ALWAYS_INLINE NAME(turned) NAME(turned_near)(V x) {
    const V zero = {0}, second = zero + NAME(quarters)[1];
    /* The nearest whole number of quarters, which also stands in the low bits of `shifted`. */
    const V shifted = OWN(madd)(x, zero + (T)0.63661977236758134, zero + OWN(ROUNDER)), k = shifted - OWN(ROUNDER);
    const V t = OWN(madd)(k, zero + NAME(quarters)[0], x), hi = OWN(madd)(k, second, t), part = hi - t;
    /* What the second sum has lost, and what the product has. */
    const V lo = (t - (hi - part)) + OWN(madd)(k, second, -part);
    return (NAME(turned)){hi, OWN(madd)(k, zero + NAME(quarters)[2], lo), (M)shifted};
}

/* One lane that is too large, or NaN, sends the whole vector the long way. */
ALWAYS_INLINE NAME(turned) NAME(turned_of)(V x) {
    return ANY(~(M)(NAME(magnitude)(x) < NEAR)) ? NAME(turned_anywhere)(x) : NAME(turned_near)(x);
}

/* 1 - r^2/2 rounded, and what it lacks with the share of r's second part. */
ALWAYS_INLINE SUM NAME(bend)(NAME(turned) r) {
    /* r.hi r.lo is what the square lacks to first order. */
    const V one = (V){0} + 1, half = (T)-0.5 * r.hi, hi = OWN(madd)(half, r.hi, one);
    return (SUM){hi, OWN(madd)(-r.hi, r.lo, OWN(madd)(half, r.hi, one - hi))};
}

/* What the sine has beyond r.hi, and below what the cosine has beyond bend.hi: small numbers, added last. */
ALWAYS_INLINE V NAME(sine_rest)(NAME(turned) r, V square, SUM bend) {
    return OWN(madd)(square * r.hi, OWN(POWERS)(square, NAME(sine)), r.lo * bend.hi);
}

ALWAYS_INLINE V NAME(cosine_rest)(V square, SUM bend) {
    return OWN(madd)(square * square, OWN(POWERS)(square, NAME(cosine)), bend.lo);
}

/* The sign of what is half a turn further on. */
ALWAYS_INLINE M NAME(sign_of_turn)(M k) {
    return (k & 2) << (BITS - 2);
}

/* The sine of k quarters and the rest: where choosing coefficients costs nothing by one polynomial, else by both. Bit 0
 * of k says which of sine and cosine, bit 1 the sign. */
#if defined(__AVX512F__)
ALWAYS_INLINE V NAME(wave)(NAME(turned) r, M k) {
    enum { COUNT = sizeof NAME(sine) / sizeof *NAME(sine) };
    const V zero = {0}, square = r.hi * r.hi;
    const SUM bend = NAME(bend)(r);
    const OWN(choice) odd = OWN(choice_of)(k);
    /* One polynomial whose coefficients are chosen lane by lane: sine and cosine have as many. */
    V rest = OWN(chosen)(odd, zero + NAME(cosine)[0], zero + NAME(sine)[0]);
    for (int i = 1; i < COUNT; i++)
        rest = OWN(madd)(rest, square, OWN(chosen)(odd, zero + NAME(cosine)[i], zero + NAME(sine)[i]));
    rest = OWN(madd)(square * OWN(chosen)(odd, square, r.hi), rest, OWN(chosen)(odd, bend.lo, r.lo * bend.hi));
    return (V)((M)(OWN(chosen)(odd, bend.hi, r.hi) + rest) ^ NAME(sign_of_turn)(k));
}
#else
ALWAYS_INLINE V NAME(wave)(NAME(turned) r, M k) {
    const V square = r.hi * r.hi;
    const SUM bend = NAME(bend)(r);
    const V sine = r.hi + NAME(sine_rest)(r, square, bend), cosine = bend.hi + NAME(cosine_rest)(square, bend);
    return (V)((M)OWN(chosen)(OWN(choice_of)(k), cosine, sine) ^ NAME(sign_of_turn)(k));
}
#endif

ALWAYS_INLINE V NAME(sin)(V x) {
    /* NAME(odd): next to 0 x is its own sine, with its sign. */
    const NAME(turned) r = NAME(turned_of)(x);
    return NAME(odd)(x, NAME(wave)(r, r.quarters));
}

/* The sine a quarter of the turn further on. */
ALWAYS_INLINE V NAME(cos)(V x) {
    const NAME(turned) r = NAME(turned_of)(x);
    return NAME(wave)(r, r.quarters + 1);
}

/* Sine and cosine of one argument: with the bits of the two functions. Both polynomials are needed, so choosing
 * coefficients would gain nothing. */
typedef struct NAME(pair) {
    V sine, cosine;
} NAME(pair);

/* Of an odd number of quarters they change places. */
ALWAYS_INLINE NAME(pair) NAME(sincos_of)(NAME(turned) r) {
    const V square = r.hi * r.hi;
    const SUM bend = NAME(bend)(r);
    const OWN(choice) odd = OWN(choice_of)(r.quarters);
    const V sine = r.hi + NAME(sine_rest)(r, square, bend), cosine = bend.hi + NAME(cosine_rest)(square, bend);
    const M first = (M)OWN(chosen)(odd, cosine, sine) ^ NAME(sign_of_turn)(r.quarters);
    const M second = (M)OWN(chosen)(odd, sine, cosine) ^ NAME(sign_of_turn)(r.quarters + 1);
    return (NAME(pair)){(V)first, (V)second};
}

ALWAYS_INLINE NAME(pair) NAME(sincos)(V x) {
    const NAME(pair) wave = NAME(sincos_of)(NAME(turned_of)(x));
    return (NAME(pair)){NAME(odd)(x, wave.sine), wave.cosine};
}

/* The quotient of both as sums; a quarter further on it is turned round. Its sign is that of -1 / tan there. */
ALWAYS_INLINE V NAME(tan_near)(NAME(turned) r) {
    const V square = r.hi * r.hi;
    /* Both as sums, so that the quotient is rounded once. */
    const SUM bend = NAME(bend)(r), s = OWN(fast_sum)(r.hi, NAME(sine_rest)(r, square, bend));
    const SUM c = OWN(fast_sum)(bend.hi, NAME(cosine_rest)(square, bend));
    const OWN(choice) odd = OWN(choice_of)(r.quarters);
    const SUM above = {OWN(chosen)(odd, c.hi, s.hi), OWN(chosen)(odd, c.lo, s.lo)};
    const SUM below = {OWN(chosen)(odd, s.hi, c.hi), OWN(chosen)(odd, s.lo, c.lo)};
    const SUM q = OWN(quotient)(above, below);
    return (V)((M)(q.hi + q.lo) ^ NAME(sign_of_turn)(r.quarters << 1));
}

/* Arguments next to 0 are their own tangent. */
ALWAYS_INLINE V NAME(tan)(V x) {
    return NAME(odd)(x, NAME(tan_near)(NAME(turned_of)(x)));
}

#undef T
#undef V
#undef M
#undef SUM
#undef NAME
#undef OWN
#undef ANY
#undef BITS
#undef NEAR
#undef QUARTERS
#undef SINE
#undef COSINE
