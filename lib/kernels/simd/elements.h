/* Template: the operations on one element of a floating type that are one or two exactly rounded steps. Include with T,
 * B (unsigned integer of the same size), NAME(x), MATH(f) (the libm spelling). What the loops apply, and steps of
 * compiled chains, so that both give the same bits.
 * KEEP IN STEP: native-steps */

/* Through memcpy, which is how C lets bits be looked at; it costs nothing. */
ALWAYS_INLINE B NAME(to_bits)(T x) {
    B bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* And back. */
ALWAYS_INLINE T NAME(from_bits)(B bits) {
    T x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* One line per operation. */
/* clang-format off */
/* Zeros and NaNs keep their sign in `sign`; `round` goes to even in the middle (the rounding mode is never changed). */
ALWAYS_INLINE T NAME(neg)(T x) { return -x; }
ALWAYS_INLINE T NAME(abs)(T x) { return MATH(fabs)(x); }
ALWAYS_INLINE T NAME(sign)(T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x; }
ALWAYS_INLINE T NAME(square)(T x) { return x * x; }
ALWAYS_INLINE T NAME(floor)(T x) { return MATH(floor)(x); }
ALWAYS_INLINE T NAME(ceil)(T x) { return MATH(ceil)(x); }
ALWAYS_INLINE T NAME(round)(T x) { return MATH(rint)(x); }
ALWAYS_INLINE T NAME(trunc)(T x) { return MATH(trunc)(x); }
ALWAYS_INLINE T NAME(sqrt)(T x) { return MATH(sqrt)(x); }
ALWAYS_INLINE T NAME(reciprocal)(T x) { return 1 / x; }
ALWAYS_INLINE uint8_t NAME(is_finite)(T x) { return MATH(fabs)(x) <= NAME(LARGEST); }
ALWAYS_INLINE uint8_t NAME(is_nan)(T x) { return x != x; }
ALWAYS_INLINE T NAME(add)(T x, T y) { return x + y; }
ALWAYS_INLINE T NAME(sub)(T x, T y) { return x - y; }
ALWAYS_INLINE T NAME(mul)(T x, T y) { return x * y; }
ALWAYS_INLINE T NAME(div)(T x, T y) { return x / y; }
ALWAYS_INLINE T NAME(copysign)(T x, T y) { return MATH(copysign)(x, y); }
/* clang-format on */

/* Equal operands differ at most in the sign of zero: both bit patterns and-ed keep it only if both have it. */
ALWAYS_INLINE T NAME(max)(T x, T y) {
    T equal = NAME(from_bits)(NAME(to_bits)(x) & NAME(to_bits)(y));
    T other = x > y || x != x ? x : y;
    return x == y ? equal : other;
}

/* Or-ed where max has and. The sign bit of -0 wins here. */
ALWAYS_INLINE T NAME(min)(T x, T y) {
    T equal = NAME(from_bits)(NAME(to_bits)(x) | NAME(to_bits)(y));
    T other = x < y || x != x ? x : y;
    return x == y ? equal : other;
}

/* x y / z. Where the product alone leaves the range, all three are moved by one power of 2: down, or up, which operands
 * of a product below the range have room for. */
ALWAYS_INLINE T NAME(mul_div)(T x, T y, T z) {
    const T size = MATH(fabs)(x * y), a = MATH(fabs)(x), b = MATH(fabs)(y), most = a > b ? a : b;
    const bool large = (size > NAME(LARGEST)) & (most <= NAME(LARGEST));
    const bool small = (size < NAME(NORMAL)) & (most < NAME(ROOM));
    const T by = large ? NAME(DOWN) : small ? NAME(UP) : 1, back = large ? 1 / NAME(DOWN) : small ? 1 / NAME(UP) : 1;
    return (x * by) * (y * by) / (z * by) * back;
}
