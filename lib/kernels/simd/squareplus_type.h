/* Template: squareplus and its slope of one floating type. Include with T, V, M, W (a wider scalar type), NAME(x),
 * OWN(x) (how the helpers of exact.h or single.h spell their names), and the ends of what is plain: LEAST of b, MOST of
 * s^2. They are undefined again at the end. No include guard: that is the point.
 * With s = sqrt(x^2 + b) the value is p = (|x| + s)/2 on the right and v = (s - |x|)/2 on the left, with p v = b/4
 * and p - v = |x|. The slope is v/s on the left, 1 - v/s on the right. */

/* v and s, and about 1/s. v is b/4 over p, with the roundings of both, and one of Newton's steps on v (|x| + v) = b/4,
 * which leaves the last of them: p = |x| + v has all its digits then, as has s = |x| + 2 v. */
typedef struct NAME(square_parts) {
    V v, s, inverse;
} NAME(square_parts);

ALWAYS_INLINE NAME(square_parts) NAME(square_parts_of)(V size, V b) {
    V inverse;
    const V quarter = (T)0.25 * b, root = NAME(half_root)(OWN(madd)(size, size, b), &inverse);
    const V rough = quarter * NAME(half_inverse)((T)0.5 * (size + root));
    const V v = rough - NAME(beyond)(rough, size, quarter) * inverse;
    return (NAME(square_parts)){v, size + 2 * v, inverse};
}

/* b and s^2 are in range, and so are quotients. Elsewhere, and where an operand is NaN, lanes are done one by one. */
ALWAYS_INLINE M NAME(is_square_plain)(V size, V b) {
    return (M)(b > (T)LEAST) & (M)(OWN(madd)(size, size, b) < (T)MOST);
}

/* Of b below 0 there is none. */
static inline W NAME(wide_squareplus)(W x, W b) {
    /* An infinite b counts more than x. */
    if (!(b >= 0 && b < INFINITY)) return b > 0 ? x + b : (W)NAN;
    const W size = x < 0 ? -x : x, p = (W)0.5 * size + (W)0.5 * (W)hypotl(size, sqrtl(b));
    return x < 0 ? b / 4 / p : p;
}

/* Where both operands are 0 it is 0, as that of relu. */
static inline W NAME(wide_squareplus_slope)(W x, W b) {
    if (!(b >= 0 && b < INFINITY)) return b > 0 ? x - x + (W)0.5 : (W)NAN;
    const W size = x < 0 ? -x : x, s = (W)hypotl(size, sqrtl(b)), share = b / ((W)0.5 * size + (W)0.5 * s) / 4 / s;
    return s == 0 ? 0 : size == INFINITY ? x > 0 : x < 0 ? share : 1 - share;
}

ALWAYS_INLINE V NAME(squareplus)(V x, V b) {
    const V size = NAME(magnitude)(x);
    const NAME(square_parts) r = NAME(square_parts_of)(size, b);
    /* On the right the value is |x| + v. */
    const V y = NAME(select)((M)(x < 0), r.v, size + r.v);
    return NAME(patch2)(y, x, b, ~NAME(is_square_plain)(size, b), NAME(wide_squareplus));
}

/* The quotient with what its product with s leaves of v. */
ALWAYS_INLINE V NAME(squareplus_slope)(V x, V b) {
    const V size = NAME(magnitude)(x);
    const NAME(square_parts) r = NAME(square_parts_of)(size, b);
    /* v/s is at most 1/2, so 1 less it loses nothing. */
    const V share = NAME(ratio_by)(r.v, r.s, r.inverse), y = NAME(select)((M)(x < 0), share, 1 - share);
    return NAME(patch2)(y, x, b, ~NAME(is_square_plain)(size, b), NAME(wide_squareplus_slope));
}

#undef T
#undef V
#undef M
#undef W
#undef NAME
#undef OWN
#undef LEAST
#undef MOST
