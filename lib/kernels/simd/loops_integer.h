/* Template: all loops of one integer type. Include with T, B (the unsigned type arithmetic is done in, at least as
 * wide as unsigned int) and NAME(x). Everything wraps in T; nothing traps: x rem 0 is 0, and so is the remainder of
 * the least integer by -1; a shift by a negative number or by the width and more leaves nothing but the sign, if that;
 * a negative power is the truncated reciprocal, with 0 for a zero base. */

/* The loops of map.h for results of the type itself and for bools. */
#define R      T
#define MAP(x) NAME(x)
#include "lib/kernels/simd/map.h"
#undef R
#undef MAP
#define R      uint8_t
#define MAP(x) NAME(x##_to_bool)
#include "lib/kernels/simd/map.h"
#undef R
#undef MAP

/* One line per operation. */
/* clang-format off */
/* is_negative is false for unsigned types, whose B is wider, so `abs` and `sign` need no other text. B is unsigned int
 * at least because narrower types would be promoted to int, whose products overflow. */
ALWAYS_INLINE T NAME(neg)(T x) { return (T)(0 - (B)x); }
ALWAYS_INLINE bool NAME(is_negative)(T x) { return (B)x >> (8 * sizeof(B) - 1); }
ALWAYS_INLINE T NAME(abs)(T x) { return NAME(is_negative)(x) ? (T)(0 - (B)x) : x; }
ALWAYS_INLINE T NAME(sign)(T x) { return (T)((x > 0) - NAME(is_negative)(x)); }
ALWAYS_INLINE T NAME(square)(T x) { return (T)((B)x * (B)x); }
ALWAYS_INLINE T NAME(not)(T x) { return (T)~(B)x; }
ALWAYS_INLINE T NAME(add)(T x, T y) { return (T)((B)x + (B)y); }
ALWAYS_INLINE T NAME(sub)(T x, T y) { return (T)((B)x - (B)y); }
ALWAYS_INLINE T NAME(mul)(T x, T y) { return (T)((B)x * (B)y); }
ALWAYS_INLINE T NAME(rem)(T x, T y) { return (B)y + 1 <= 1 ? 0 : (T)(x % y); } /* y is 0 or -1: 0 */
ALWAYS_INLINE T NAME(max)(T x, T y) { return x > y ? x : y; }
ALWAYS_INLINE T NAME(min)(T x, T y) { return x < y ? x : y; }
ALWAYS_INLINE T NAME(and)(T x, T y) { return (T)(x & y); }
ALWAYS_INLINE T NAME(or)(T x, T y) { return (T)(x | y); }
ALWAYS_INLINE T NAME(xor)(T x, T y) { return (T)(x ^ y); }
ALWAYS_INLINE bool NAME(is_far)(T y) { return (B)y >= 8 * sizeof(T); }
ALWAYS_INLINE T NAME(shift_left)(T x, T y) { return NAME(is_far)(y) ? 0 : (T)((B)x << (B)y); }
ALWAYS_INLINE T NAME(shift_right_logical)(T x, T y) { return NAME(is_far)(y) ? 0 : (T)((B)x >> (B)y); }
ALWAYS_INLINE T NAME(sign_bits)(T x) { return (T)(0 - (B)NAME(is_negative)(x)); }
ALWAYS_INLINE T NAME(shift_right_arithmetic)(T x, T y) { return NAME(is_far)(y) ? NAME(sign_bits)(x) : (T)(x >> y); }
/* clang-format on */

/* Counts of ones in fields of 2, 4 and 8 bits, whose sum a product gathers in the highest byte: without a branch or a
 * table, so that the loop becomes vectors. */
ALWAYS_INLINE T NAME(population_count)(T x) {
    const B all = ~(B)0;
    B v = (B)x;
    v -= v >> 1 & all / 3;
    v = (v & all / 5) + (v >> 2 & all / 5);
    v = (v + (v >> 4)) & all / 17;
    return (T)(v * (all / 255) >> (8 * sizeof(B) - 8));
}

/* The ones that are left when every bit below the highest one is set too are not leading zeros. */
ALWAYS_INLINE T NAME(clz)(T x) {
    for (unsigned shift = 1; shift < 8 * sizeof(T); shift *= 2) x = (T)(x | NAME(shift_right_logical)(x, (T)shift));
    return (T)(8 * sizeof(T) - (B)NAME(population_count)(x));
}

/* Stein's algorithm: odd numbers are taken from each other, and what is left is halved while it is even. Of the least
 * integer and 0 the result is the least integer again, whose size T does not hold. */
static T NAME(gcd)(T x, T y) {
    B a = (B)NAME(abs)(x), b = (B)NAME(abs)(y);
    if (a == 0 || b == 0) return (T)(a | b);
    const int common = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    do {
        b >>= __builtin_ctzll(b);
        const B less = a < b ? a : b;
        b = a < b ? b - a : a - b;
        a = less;
    } while (b);
    return (T)(a << common);
}

/* clang-format off */
#define UNARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(unary)(n, p, step, NAME(op)); }
#define BINARY(op) \
    static void NAME(loop_##op)(LOOP_ARGS) { NAME(binary)(n, p, step, NAME(op)); }
UNARY(neg)
UNARY(abs)
UNARY(sign)
UNARY(square)
UNARY(not)
UNARY(population_count)
UNARY(clz)
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(rem)
BINARY(max)
BINARY(min)
BINARY(and)
BINARY(or)
BINARY(xor)
BINARY(gcd)
BINARY(shift_left)
BINARY(shift_right_logical)
BINARY(shift_right_arithmetic)
#undef UNARY
#undef BINARY
/* clang-format on */

#include "lib/kernels/simd/loops_common.h"

/* In the unsigned type, where products wrap. Cut to T at the end. The exponent 0 gives 1. */
static T NAME(power)(T x, uint64_t exponent) {
    B result = 1;
    for (B base = (B)x; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return (T)result;
}

/* 1/x^k truncated: only 1 and -1 have a reciprocal that is not 0. A base of -1 alternates; 0 has no reciprocal and
 * gives 0. */
static T NAME(negative_power)(T x, bool odd) {
    bool minus_one = (B)x + 1 == 0;
    return x == 1 || (minus_one && odd) ? x : (T)minus_one;
}

/* Exponents are the same for all elements, bases differ. */
static void NAME(loop_integer_pow)(LOOP_ARGS) {
    T *out = p[0];
    const T *x = p[1];
    int64_t exponent;
    memcpy(&exponent, params, sizeof exponent);
    for (int64_t i = 0; i < n; i++) {
        T base = x[i * step[1]];
        out[i * step[0]] =
            exponent < 0 ? NAME(negative_power)(base, exponent & 1) : NAME(power)(base, (uint64_t)exponent);
    }
}
