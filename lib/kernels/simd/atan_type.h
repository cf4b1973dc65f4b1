/* Template: atan and atan2 of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of exact.h or
 * single.h spell their names), SUM, ANY, TABLE (the row of tangents with few digits and their arcs in two parts), ARC
 * (the polynomial), HALF_TURN (pi in two parts), FLAT (from where on atan is pi/2), SAFE (a power of 2 whose square and
 * inverse square are in range), behind NAME(atan2_rare), which does operands beyond that. They are undefined again at
 * the end. No include guard: that is the point.
 * With c next to a/b the arc is that of c and that of t = (a - c b) / (b + c a), whose series is short. */

/* (atan(t) - t) / t^3 in t^2 for |t| <= 1/28. */
static const T NAME(arc_terms)[] = ARC, NAME(half_turn)[] = HALF_TURN;

/* atan(a/b) for 0 <= a <= b: the parts are rounded, but not to half an ulp of each other. */
ALWAYS_INLINE SUM NAME(arc_of)(V a, V b) {
    const V zero = {0};
    /* A rough quotient will do: it only says which arc is near. */
    const M at = (M)OWN(madd)(OWN(guess_of_ratio)(a, b), zero + 15, zero + OWN(ROUNDER));
    const V c = OWN(pick)(TABLE[0], at);
    /* a - c b, of which nothing is lost: the product's error comes along. */
    const SUM part = OWN(product)(c, b), left = {a - part.hi, -part.lo};
    /* b + c a as a sum. */
    const V hi = OWN(madd)(c, a, b), lo = OWN(madd)(c, a, b - hi);
    const SUM t = OWN(quotient)(left, (SUM){hi, lo}), arc = OWN(fast_sum)(OWN(pick)(TABLE[1], at), t.hi);
    const V square = t.hi * t.hi, rest = OWN(madd)(square * t.hi, OWN(POWERS)(square, NAME(arc_terms)), t.lo);
    return (SUM){arc.hi, arc.lo + (OWN(pick)(TABLE[2], at) + rest)};
}

/* `turns` pi (0, 1/2 or 1) and the arc, or less that where `back`. */
ALWAYS_INLINE V NAME(turned_arc)(V turns, SUM arc, M back) {
    const M sign = back & (M)(-(V){0});
    const SUM sum = OWN(fast_sum)(turns * NAME(half_turn)[0], (V)((M)arc.hi ^ sign));
    return sum.hi + (sum.lo + OWN(madd)(turns, (V){0} + NAME(half_turn)[1], (V)((M)arc.lo ^ sign)));
}

/* FLAT bounds the operand: from there on the result is pi/2. */
ALWAYS_INLINE V NAME(atan)(V x) {
    /* Infinity too, whose quotient would be none. */
    const V one = (V){0} + 1, size = OWN(bounded)(NAME(magnitude)(x), FLAT);
    /* Beyond 1 the arc of 1/x is taken off a quarter. */
    const M far = (M)(size > 1);
    const SUM arc = NAME(arc_of)(NAME(select)(far, one, size), NAME(select)(far, size, one));
    const V r = NAME(turned_arc)(NAME(select)(far, one * (T)0.5, (V){0}), arc, far);
    return (V)((M)r | ((M)x & (M)(-(V){0})));
}

/* Where the larger operand is 0 it does not matter. */
ALWAYS_INLINE V NAME(atan2)(V y, V x) {
    const V zero = {0}, one = zero + 1, a = NAME(magnitude)(x), b = NAME(magnitude)(y);
    const M steep = (M)(b > a), left = (M)x < 0;
    /* So that the quotient is at most 1. */
    const V less = NAME(select)(steep, a, b), more = NAME(select)(steep, b, a);
    /* 0/0 becomes 0/1. */
    const M none = (M)(more == 0),
            plain = (M)(more < SAFE) & ((M)(less > 1 / SAFE) | ((M)(less == 0) & (M)(more > 1 / SAFE)));
    const SUM arc = NAME(arc_of)(less, NAME(select)(none, one, more));
    /* Steep arcs are counted from pi/2, those on the left from pi. */
    const V turns = NAME(select)(steep, one * (T)0.5, NAME(select)(left, one, zero));
    const V r = (V)((M)NAME(turned_arc)(turns, arc, steep ^ left) | ((M)y & (M)(-zero)));
    return ANY(~(plain | none)) ? NAME(atan2_rare)(r, y, x, ~(plain | none)) : r;
}

#undef T
#undef V
#undef M
#undef SUM
#undef NAME
#undef OWN
#undef ANY
#undef TABLE
#undef ARC
#undef HALF_TURN
#undef FLAT
#undef SAFE
