/* Template: the logarithms of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of exact.h or
 * single.h spell their names), SUM, PARTS (their types), ANY, LEAST (the least normal number), RANGE (a power of 2 that
 * makes subnormal numbers normal, and its exponent RANGE_EXPONENT), REST_TERMS and the units UNIT_E, UNIT_2, UNIT_10,
 * which are undefined again at the end. No include guard: that is the point.
 * log(z 2^k) = k log(2) - log(1/c) + log(1 + r), where c is next to z and r = z/c - 1. The first two are an exact sum
 * of numbers with few digits and what they lack. */

/* A unit of logarithms: 1 over it and log(2) in it, both in two parts; minus the logarithms of the 1/c, which stand in
 * the table's first row; (log(1 + r) - r) / r^2. The unit of the natural ones is 1. */
typedef struct NAME(log_unit) {
    bool natural;
    T inverse, inverse_rest, log_2, log_2_rest;
    const T (*table)[LAM__PIECES];
    T rest[REST_TERMS];
} NAME(log_unit);

static const NAME(log_unit) NAME(unit_e) = UNIT_E, NAME(unit_2) = UNIT_2, NAME(unit_10) = UNIT_10;

/* r, and r in the unit with what it lacks. */
typedef struct NAME(log_off) {
    V off;
    SUM scaled;
} NAME(log_off);

/* For the fraction z and `more`, which is below an ulp of it and may be none. */
ALWAYS_INLINE NAME(log_off) NAME(log_off_of)(V z, const V *more, V inverse, const NAME(log_unit) * u) {
    const SUM whole = OWN(product)(z, inverse);
    const V r = whole.hi - 1, lacks = more ? OWN(madd)(*more, inverse, whole.lo) : whole.lo,
            lo = OWN(madd)(lacks, -r, lacks);
    if (u->natural) return (NAME(log_off)){r, {r, lo}};
    /* Over log(base): the product with its error. */
    const SUM p = OWN(product)(r, (V){0} + u->inverse);
    const V rest = OWN(madd)(r, (V){0} + u->inverse_rest, p.lo);
    return (NAME(log_off)){r, {p.hi, OWN(madd)(lo, (V){0} + u->inverse, rest)}};
}

/* log((z + more) 2^k), whose second part is not rounded to half an ulp of the first, but far below. */
ALWAYS_INLINE SUM NAME(log_in_unit)(PARTS p, const V *more, const NAME(log_unit) * u) {
    const NAME(log_off) o = NAME(log_off_of)(p.z, more, OWN(pick)(u->table[0], p.at), u);
    const V base = OWN(madd)(p.k, (V){0} + u->log_2, OWN(pick)(u->table[1], p.at));
    const V rest = OWN(madd)(p.k, (V){0} + u->log_2_rest, OWN(pick)(u->table[2], p.at));
    /* The larger part first; where k and the piece are 0 it is the other alone. */
    const SUM a = OWN(fast_sum)(base, o.scaled.hi);
    const V bend = OWN(powers)(o.off, u->rest, REST_TERMS);
    return (SUM){a.hi, a.lo + OWN(madd)(o.off * o.off, bend, rest + o.scaled.lo)};
}

/* Rounded once: the sum's second part has all digits that matter. */
ALWAYS_INLINE V NAME(log_of_parts_in_unit)(PARTS p, const NAME(log_unit) * u) {
    const SUM log = NAME(log_in_unit)(p, NULL, u);
    return log.hi + log.lo;
}

/* -inf at 0, NaN left of it, infinity and NaN as they are; r elsewhere. */
ALWAYS_INLINE V NAME(log_of_others)(V x, V r) {
    const V zero = {0}, other = NAME(select)((M)(x == INFINITY), x, zero + NAN);
    return NAME(select)((M)(x > 0) & (M)(x < INFINITY), r, NAME(select)((M)(x == 0), zero - INFINITY, other));
}

/* Subnormal numbers are made normal first; what has no logarithm stands for 1 until the end. */
static __attribute__((noinline)) V NAME(log_anywhere)(V x, const NAME(log_unit) * u) {
    const V zero = {0};
    /* 1 stands for them, whose logarithm is 0. */
    const M small = (M)(x < LEAST), none = ~((M)(x > 0) & (M)(x < INFINITY));
    PARTS p = OWN(parts_of)(NAME(select)(none, zero + 1, NAME(select)(small, x * RANGE, x)));
    p.k -= NAME(select)(small & ~none, zero + RANGE_EXPONENT, zero);
    return NAME(log_of_others)(x, NAME(log_of_parts_in_unit)(p, u));
}

/* In vectors of normal positive numbers nothing of the rest can happen. */
ALWAYS_INLINE V NAME(log_of_any)(V x, const NAME(log_unit) * u) {
    const M plain = (M)(x >= LEAST) & (M)(x < INFINITY);
    return ANY(~plain) ? NAME(log_anywhere)(x, u) : NAME(log_of_parts_in_unit)(OWN(parts_of)(x), u);
}

/* Each unit is a constant in one of these, so branches on it vanish. */
ALWAYS_INLINE V NAME(log)(V x) {
    return NAME(log_of_any)(x, &NAME(unit_e));
}

ALWAYS_INLINE V NAME(log2)(V x) {
    return NAME(log_of_any)(x, &NAME(unit_2));
}

ALWAYS_INLINE V NAME(log10)(V x) {
    return NAME(log_of_any)(x, &NAME(unit_10));
}

/* log(x) for x.hi normal and positive. x.lo is brought to the fraction's size by the same power of 2. */
ALWAYS_INLINE SUM NAME(log_of_sum)(SUM x) {
    const PARTS p = OWN(parts_of)(x.hi);
    const V more = OWN(scaled)(x.lo, -p.k);
    return NAME(log_in_unit)(p, &more, &NAME(unit_e));
}

/* 1 + x as a sum is exact, so nothing is lost for small x but what TINY takes care of. */
ALWAYS_INLINE V NAME(log1p_of_number)(V x) {
    const SUM log = NAME(log_of_sum)(OWN(any_sum)((V){0} + 1, x));
    return log.hi + log.lo;
}

static __attribute__((noinline)) V NAME(log1p_anywhere)(V x) {
    const V zero = {0}, size = NAME(magnitude)(x);
    /* Where x is tiny log(1 + x) is x. */
    const M none = ~((M)(x > -1) & (M)(x < INFINITY)), tiny = (M)(size < NAME(TINY) * NAME(TINY));
    const V r = NAME(log1p_of_number)(NAME(select)(none, zero, x));
    return NAME(select)(none, NAME(log_of_others)(x + 1, r), NAME(select)(tiny, x, r));
}

/* Only vectors with a lane that is not plain take the longer way. */
ALWAYS_INLINE V NAME(log1p)(V x) {
    const M plain = (M)(x > -1) & (M)(x < INFINITY) & (M)(NAME(magnitude)(x) >= NAME(TINY) * NAME(TINY));
    return ANY(~plain) ? NAME(log1p_anywhere)(x) : NAME(log1p_of_number)(x);
}

/* log(x / (1 - x)), whose difference is exact and whose quotient is a sum. */
ALWAYS_INLINE V NAME(logit_of_number)(V x) {
    const V zero = {0};
    const SUM log = NAME(log_of_sum)(OWN(quotient)((SUM){x, zero}, OWN(fast_sum)(zero + 1, -x)));
    return log.hi + log.lo;
}

/* What is nothing beside 1, and what has no logit but at the ends. NaN left of 0 and right of 1. */
static __attribute__((noinline)) V NAME(logit_anywhere)(V x, M plain) {
    /* 1/2 stands for what is not plain. */
    const V zero = {0}, r = NAME(logit_of_number)(NAME(select)(plain, x, zero + (T)0.5));
    const V end = NAME(select)((M)(x == 1), zero + INFINITY, zero + NAN);
    return NAME(select)(plain, r, NAME(select)((M)(x >= 1), end, NAME(log)(x)));
}

/* Below LEAST times RANGE the quotient's error would be no number. */
ALWAYS_INLINE V NAME(logit)(V x) {
    const M plain = (M)(x >= LEAST * RANGE) & (M)(x < 1);
    return ANY(~plain) ? NAME(logit_anywhere)(x, plain) : NAME(logit_of_number)(x);
}

#undef T
#undef V
#undef M
#undef SUM
#undef PARTS
#undef NAME
#undef OWN
#undef ANY
#undef LEAST
#undef RANGE
#undef RANGE_EXPONENT
#undef REST_TERMS
#undef UNIT_E
#undef UNIT_2
#undef UNIT_10
