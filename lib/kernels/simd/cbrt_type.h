/* Template: the cube root of one floating type. Include with T, V, M, NAME(x), OWN(x) (how the helpers of exact.h or
 * single.h spell their names), SUM, PARTS, TABLE (x^(-1/3) by squares in quarters of octaves, up to 2^-13 of it), LEAST
 * (the least normal number), RANGE (2^RANGE_EXPONENT, which makes others normal; a multiple of 3), SHIFT (the bits of
 * the fraction). They are undefined again at the end. No include guard: that is the point. */

/* By the exponent's bits, for numbers that stay normal. */
ALWAYS_INLINE V NAME(times_power_of_2)(V x, V k) {
    return (V)((M)x + ((M)(k + OWN(ROUNDER)) << SHIFT));
}

/* x = v 2^(3 k) with v from 0.35 to 2.82. A guess y of v^(-1/3) is mended once, and then c = v y^2 by what its cube
 * leaves of v. */
ALWAYS_INLINE V NAME(cbrt_of_normal)(V x, V *k) {
    const V zero = {0};
    /* The fraction and its exponent, of which whole multiples of 3 come off. */
    const PARTS p = OWN(parts_of)(x);
    *k = OWN(madd)(p.k, zero + (T)(1 / 3.0), zero + OWN(ROUNDER)) - OWN(ROUNDER);
    /* The rest of the exponent, -1, 0 or 1, goes back into the fraction. */
    const V v = NAME(times_power_of_2)(p.z, p.k - 3 * *k);
    /* The last two bits of the exponent and the first two of the fraction: sixteen quarters of octaves. */
    const M at = (M)v >> (SHIFT - 2);
    const V high = OWN(pick)(TABLE[0], at), middle = OWN(pick)(TABLE[1], at), low = OWN(pick)(TABLE[2], at);
    /* v y^3 is 1 - left. */
    const V y = OWN(madd)(OWN(madd)(high, v, middle), v, low), left = OWN(madd)(-(v * y), y * y, zero + 1);
    /* (1 - left)^(-1/3) is 1 + left/3 + 2/9 left^2 and less. */
    const V bend = OWN(madd)(left, zero + (T)(2 / 9.0), zero + (T)(1 / 3.0)), near = OWN(madd)(left * bend, y, y);
    const V c = v * near * near;
    /* c^3 with its error, so that v - c^3 has digits to mend c by. */
    const SUM square = OWN(product)(c, c), cube = OWN(product)(square.hi, c);
    const V rest = (v - cube.hi) - OWN(madd)(square.lo, c, cube.lo);
    return OWN(madd)(rest, near * near * (T)(1 / 3.0), c);
}

/* 0, infinities and NaN are their own cube roots. */
ALWAYS_INLINE V NAME(cbrt)(V x) {
    const V zero = {0}, one = zero + 1, size = NAME(magnitude)(x);
    /* Subnormal numbers are made normal, and their roots taken back. */
    const M plain = (M)(size > 0) & (M)(size < INFINITY), small = (M)(size < LEAST);
    V k;
    const V normal = NAME(select)(plain, NAME(select)(small, size * RANGE, size), one),
            c = NAME(cbrt_of_normal)(normal, &k);
    const V r = NAME(times_power_of_2)(c, k - (V)(small & (M)(one * (RANGE_EXPONENT / 3))));
    return NAME(select)(plain, (V)((M)r | ((M)x & (M)(-zero))), x);
}

#undef T
#undef V
#undef M
#undef SUM
#undef PARTS
#undef NAME
#undef OWN
#undef TABLE
#undef LEAST
#undef RANGE
#undef RANGE_EXPONENT
#undef SHIFT
