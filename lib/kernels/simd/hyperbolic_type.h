/* Template: expm1, sinh, cosh, log1mexp and its slope of one floating type. Include with T, V, M, NAME(x), OWN(x) (how
 * the helpers of exact.h or single.h spell their names), SUM, ANY, LOG_2_PARTS (the first without its last digits, so
 * that multiples are exact), SINH and COSH (the polynomials), LEAST (where expm1 is -1), MOST (where exp is infinite),
 * FAR (a power of 2 that is nothing beside 1). They are undefined again at the end. No include guard: that is the
 * point.
 * With x = k log(2) + r the first three are sums of sinh(r) and cosh(r) with powers of 2 as factors, of which the
 * largest is left out until the end; so nothing overflows, and what cancels is exact. */

/* (sinh(r) - r) / r^3 and (cosh(r) - 1 - r^2/2) / r^4 in r^2 for |r| <= log(2)/2. */
static const T NAME(sinh_terms)[] = SINH, NAME(cosh_terms)[] = COSH, NAME(log_2)[] = LOG_2_PARTS;

/* x = k log(2) + r + lo, what sinh(r + lo) has beyond r, and of cosh what is to be multiplied by r^4. */
typedef struct NAME(halved) {
    V k, r, lo, square, sinh, quartic;
} NAME(halved);

ALWAYS_INLINE NAME(halved) NAME(halved_of)(V x) {
    enum { COUNT = sizeof NAME(cosh_terms) / sizeof *NAME(cosh_terms) };
    /* Rounded to the nearest, by the trick of exact.h: so |r| <= log(2)/2. */
    const V zero = {0}, k = OWN(madd)(x, zero + (T)1.4426950408889634, zero + OWN(ROUNDER)) - OWN(ROUNDER);
    /* The first product is exact, since its factor has few digits; what the second loses is `lo`. */
    const V first = OWN(madd)(k, zero - NAME(log_2)[0], x), second = k * NAME(log_2)[1], r = first - second;
    const V lo = (first - r) - second, square = r * r;
    return (NAME(halved)){k,
                          r,
                          lo,
                          square,
                          OWN(madd)(square * r, OWN(POWERS)(square, NAME(sinh_terms)), lo),
                          OWN(powers)(square, NAME(cosh_terms), COUNT)};
}

/* exp(x) - 1 = (result) 2^k = ((1 - 2^-k) + r + r^2/2 + ...) 2^k: the first three may be of one size. */
ALWAYS_INLINE SUM NAME(expm1_parts)(V x, V *k) {
    const V zero = {0};
    const NAME(halved) h = NAME(halved_of)(OWN(most_of)(zero + LEAST, OWN(bounded)(x, MOST)));
    /* 2^-k beside 1. From FAR on it changes nothing, and the exponent stays that of a number. */
    const V power = OWN(two_to)(OWN(most_of)(zero - FAR, -h.k)), first = 1 - power, lost = (1 - first) - power;
    /* r^2/2 as a sum: next to 0 it and r are all that counts. */
    const SUM half = OWN(product)((T)0.5 * h.r, h.r), s = OWN(fast_sum)(first, h.r), t = OWN(fast_sum)(s.hi, half.hi);
    const V rest = h.sinh + OWN(madd)(h.square * h.square, h.quartic, h.r * h.lo);
    *k = h.k;
    return (SUM){t.hi, (t.lo + (s.lo + half.lo)) + (lost + rest)};
}

/* log(1 - exp(-x)). What is lost of the difference is nothing beside the exponential, however near to 1 the difference
 * is: the power of 2 that it has beside the rest is exact. */
ALWAYS_INLINE V NAME(log1mexp_of_number)(V x) {
    V k;
    const SUM e = NAME(expm1_parts)(-x, &k);
    /* The logarithm is that of -(exp(-x) - 1). */
    const SUM log = NAME(log_of_sum)(OWN(fast_sum)(-OWN(scaled)(e.hi, k), -OWN(scaled)(e.lo, k)));
    return log.hi + log.lo;
}

/* Next to 0 it is the logarithm of x. With e = exp(-x), far out it is -(e + e^2/2), which is exp(e/2 - x). */
static __attribute__((noinline)) V NAME(log1mexp_anywhere)(V x, M plain) {
    const V zero = {0}, r = NAME(log1mexp_of_number)(NAME(select)(plain, x, zero + 1));
    /* log(1 - e) = -(e + e^2/2 + ...), to all digits for such e. */
    const V far = -NAME(exp_gap)((T)0.5 * NAME(exp)(-x), x);
    return NAME(select)(plain, r, NAME(select)((M)(x > 1), far, NAME(log)(x)));
}

ALWAYS_INLINE V NAME(log1mexp)(V x) {
    /* Below TINY^2 it is log(x) to the last bit, from LEAST / -2 on -(e + e^2/2). */
    const M plain = (M)(x >= NAME(TINY) * NAME(TINY)) & (M)(x < LEAST / -2);
    return ANY(~plain) ? NAME(log1mexp_anywhere)(x, plain) : NAME(log1mexp_of_number)(x);
}

/* 1 / (exp(x) - 1), whose power of 2 is left out until the end, so that the exponential does not overflow. */
ALWAYS_INLINE V NAME(log1mexp_slope_of_number)(V x) {
    const V zero = {0};
    V k;
    const SUM e = NAME(expm1_parts)(x, &k);
    /* The quotient by a sum; its power of 2 comes last. */
    const SUM share = OWN(quotient)((SUM){zero + 1, zero}, OWN(fast_sum)(e.hi, e.lo));
    return OWN(scaled)(share.hi + share.lo, -k);
}

/* Next to 0 it is 1/x, also of -0, and there is none below. */
static __attribute__((noinline)) V NAME(log1mexp_slope_anywhere)(V x, M plain) {
    const V zero = {0}, r = NAME(log1mexp_slope_of_number)(NAME(select)(plain, x, zero + 1));
    const V near = NAME(select)((M)(x < 0), zero + (T)NAN, 1 / NAME(magnitude)(x));
    return NAME(select)(plain, r, near);
}

ALWAYS_INLINE V NAME(log1mexp_slope)(V x) {
    /* Left of TINY^2 the slope is 1/x to the last bit. */
    const M plain = (M)(x >= NAME(TINY) * NAME(TINY));
    return ANY(~plain) ? NAME(log1mexp_slope_anywhere)(x, plain) : NAME(log1mexp_slope_of_number)(x);
}

/* With the sign of x. 0 keeps its sign, and so do results that are nothing. */
ALWAYS_INLINE V NAME(expm1)(V x) {
    V k;
    const SUM e = NAME(expm1_parts)(x, &k);
    return (V)((M)OWN(scaled)(e.hi + e.lo, k) | ((M)x & (M)(-(V){0})));
}

/* 2^(k - 1) ((1 - power) cosh(r) + (1 + power) sinh(r)), where the power is one of 2, or minus that. */
ALWAYS_INLINE V NAME(mixed)(NAME(halved) h, V power) {
    const V first = 1 - power, lost = (1 - first) - power;
    /* power r is exact; sums from the largest part on. */
    const SUM p = OWN(fast_sum)(h.r, power * h.r), s = OWN(fast_sum)(first, p.hi);
    const V bend = OWN(madd)(h.square, OWN(madd)(h.quartic, h.square, (V){0} + (T)0.5), h.r * h.lo);
    const V rest = OWN(madd)(1 + power, h.sinh, first * bend);
    return OWN(scaled)(s.hi + ((s.lo + (p.lo + lost)) + rest), h.k - 1);
}

/* 2^(-2 k), the power that exp(-x) has beside exp(x); beyond 2 FAR it is nothing beside 1. */
ALWAYS_INLINE V NAME(inverse_square)(NAME(halved) h) {
    return OWN(two_to)(OWN(most_of)((V){0} - 2 * FAR, -2 * h.k));
}

/* The sign is put back at the end. */
ALWAYS_INLINE V NAME(sinh)(V x) {
    /* Beyond MOST both are infinite, and infinity has no k. */
    const NAME(halved) h = NAME(halved_of)(OWN(bounded)(NAME(magnitude)(x), MOST));
    return (V)((M)NAME(mixed)(h, NAME(inverse_square)(h)) | ((M)x & (M)(-(V){0})));
}

/* Even, so it has no sign to put back. */
ALWAYS_INLINE V NAME(cosh)(V x) {
    const NAME(halved) h = NAME(halved_of)(OWN(bounded)(NAME(magnitude)(x), MOST));
    return NAME(mixed)(h, -NAME(inverse_square)(h));
}

#undef T
#undef V
#undef M
#undef SUM
#undef NAME
#undef OWN
#undef ANY
#undef LOG_2_PARTS
#undef SINH
#undef COSH
#undef LEAST
#undef MOST
#undef FAR
