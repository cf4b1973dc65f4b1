/* Reference operations on integers, in 64 bits: reference.c, of which this is a part, cuts results to the width of the
 * dtype, which is what wrapping means. */
#ifndef LAM_KERNELS_REFERENCE_INTEGERS_H
#define LAM_KERNELS_REFERENCE_INTEGERS_H

#include <stdbool.h>
#include <stdint.h>

/* Operands as read from memory and the parameter; those that an operation does not have are 0. k is the exponent of
 * integer_pow. */
typedef struct integers {
    int64_t x, y, z, k;
    int bits; /* of each, in memory */
} integers;

/* One line per operation. Sums, products and shifts to the left are taken without a sign, since C does not say what
 * becomes of a signed one that overflows. Shifts to the right of as many bits as there are, or more, leave the sign. */
/* clang-format off */
static int64_t wrap(uint64_t x) { return (int64_t)x; }

static int64_t i_neg(integers a) { return wrap(0 - (uint64_t)a.x); }
static int64_t i_abs(integers a) { return a.x < 0 ? i_neg(a) : a.x; }
static int64_t i_sign(integers a) { return (a.x > 0) - (a.x < 0); }
static int64_t i_square(integers a) { return wrap((uint64_t)a.x * (uint64_t)a.x); }
static int64_t i_not(integers a) { return ~a.x; }
static int64_t i_add(integers a) { return wrap((uint64_t)a.x + (uint64_t)a.y); }
static int64_t i_sub(integers a) { return wrap((uint64_t)a.x - (uint64_t)a.y); }
static int64_t i_mul(integers a) { return wrap((uint64_t)a.x * (uint64_t)a.y); }
static int64_t i_rem(integers a) { return a.y == 0 || a.y == -1 ? 0 : a.x % a.y; } /* by -1 it may trap */
static int64_t i_max(integers a) { return a.x > a.y ? a.x : a.y; }
static int64_t i_min(integers a) { return a.x < a.y ? a.x : a.y; }
static int64_t i_and(integers a) { return a.x & a.y; }
static int64_t i_or(integers a) { return a.x | a.y; }
static int64_t i_xor(integers a) { return a.x ^ a.y; }
static bool is_far(integers a) { return a.y < 0 || a.y >= a.bits; } /* C leaves such shifts undefined */
static int64_t i_shift_left(integers a) { return is_far(a) ? 0 : wrap((uint64_t)a.x << a.y); }
static int64_t i_shift_right_arithmetic(integers a) { return a.x >> (is_far(a) ? 63 : a.y); }
static int64_t i_eq(integers a) { return a.x == a.y; }
static int64_t i_ne(integers a) { return a.x != a.y; }
static int64_t i_lt(integers a) { return a.x < a.y; }
static int64_t i_le(integers a) { return a.x <= a.y; }
static int64_t i_gt(integers a) { return a.x > a.y; }
static int64_t i_ge(integers a) { return a.x >= a.y; }
static int64_t i_where(integers a) { return a.x ? a.y : a.z; }
/* clang-format on */

/* Of the element's own width: the widened operand has copies of its sign above that. */
static int64_t i_shift_right_logical(integers a) {
    uint64_t own = a.bits == 64 ? (uint64_t)a.x : (uint64_t)a.x & ((UINT64_C(1) << a.bits) - 1);
    return is_far(a) ? 0 : wrap(own >> a.y);
}

/* The upper bound wins where the two are crossed, as for floats. */
static int64_t i_clamp(integers a) {
    int64_t low = a.x > a.y ? a.x : a.y;
    return low < a.z ? low : a.z;
}

/* A negative power is 1/x^|k| truncated, where 1/0 counts as 0. Products wrap without a sign and are cut to the width
 * when they are written. */
static int64_t i_integer_pow(integers a) {
    if (a.k < 0) return a.x == 1 ? 1 : a.x == -1 ? (a.k % 2 ? -1 : 1) : 0;
    uint64_t result = 1;
    for (uint64_t base = (uint64_t)a.x, k = (uint64_t)a.k; k; k >>= 1, base *= base) result *= k & 1 ? base : 1;
    return wrap(result);
}

/* Of the element's own width, one bit after the other. */
static int64_t i_population_count(integers a) {
    int64_t count = 0;
    for (int i = 0; i < a.bits; i++) count += a.x >> i & 1;
    return count;
}

/* From the highest bit down; of 0 all. */
static int64_t i_clz(integers a) {
    int64_t count = 0;
    while (count < a.bits && !(a.x >> (a.bits - 1 - count) & 1)) count++;
    return count;
}

/* Euclid's algorithm on sizes. */
static int64_t i_gcd(integers a) {
    uint64_t x = a.x < 0 ? 0 - (uint64_t)a.x : (uint64_t)a.x, y = a.y < 0 ? 0 - (uint64_t)a.y : (uint64_t)a.y;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return wrap(x);
}

#endif
