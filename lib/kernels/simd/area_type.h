/* Template: asinh, acosh and atanh of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of
 * exact.h or single.h spell their names), SUM, VAST (from where on 1 is nothing beside the square), LOG_2_PARTS.
 * They are undefined again at the end. No include guard: that is the point.
 * All three are logarithms of sums of two numbers that have lost nothing. */

static const T NAME(whole_log_2)[] = LOG_2_PARTS;

/* log(x + sqrt(x^2 + one)) for x >= 0 and one = 1, or x >= 1 and one = -1. Beyond VAST one is nothing beside the
 * square: it is the logarithm of 2 x, whose log(2) is added apart, since 2 x may be infinite. */
ALWAYS_INLINE V NAME(area_of)(V x, T one) {
    const V zero = {0};
    const M vast = (M)(x > VAST);
    /* 1 stands for what is vast, whose square may be infinite. */
    const V y = NAME(select)(vast, zero + 1, x);
    const SUM square = OWN(product)(y, y), sum = OWN(any_sum)(zero + one, square.hi);
    const SUM s = OWN(fast_sum)(sum.hi, sum.lo + square.lo), root = OWN(root_in_parts)(s.hi, &s.lo);
    /* The larger first: for asinh the root, for acosh x. */
    const SUM both = one > 0 ? OWN(fast_sum)(root.hi, y) : OWN(fast_sum)(y, root.hi);
    /* Vast lanes take the logarithm of x. */
    const SUM log = NAME(log_of_sum)((SUM){NAME(select)(vast, x, both.hi), (V)(~vast & (M)(both.lo + root.lo))});
    const SUM r = OWN(fast_sum)(log.hi, (V)(vast & (M)(zero + NAME(whole_log_2)[0])));
    const V lo = r.lo + (log.lo + (V)(vast & (M)(zero + NAME(whole_log_2)[1])));
    return NAME(select)((M)(x < INFINITY), r.hi + lo, x);
}

/* Odd, and x itself where it is so small that the logarithm of 1 + x would lose it. */
ALWAYS_INLINE V NAME(asinh)(V x) {
    return NAME(odd)(x, (V)((M)NAME(area_of)(NAME(magnitude)(x), 1) | ((M)x & (M)(-(V){0}))));
}

/* NaN left of 1. */
ALWAYS_INLINE V NAME(acosh)(V x) {
    return NAME(select)((M)(x >= 1), NAME(area_of)(x, -1), (V){0} + NAN);
}

/* Half the logarithm of (1 + x) / (1 - x). */
ALWAYS_INLINE V NAME(atanh)(V x) {
    const V one = (V){0} + 1, size = NAME(magnitude)(x);
    /* Both 1 + |x| and 1 - |x| are sums without a rounding, so nothing is lost where x is near 1. */
    const SUM log = NAME(log_of_sum)(OWN(quotient)(OWN(fast_sum)(one, size), OWN(fast_sum)(one, -size)));
    /* 1 gives infinity, beyond it NaN. */
    const V end = NAME(select)((M)(size == 1), one * INFINITY, one * NAN);
    const V r = NAME(select)((M)(size < 1), (T)0.5 * (log.hi + log.lo), end);
    return NAME(odd)(x, (V)((M)r | ((M)x & (M)(-(V){0}))));
}

#undef T
#undef V
#undef M
#undef SUM
#undef NAME
#undef OWN
#undef VAST
#undef LOG_2_PARTS
