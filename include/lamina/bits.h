/* Numbers as bits, as digits and as whole numbers: counts and patterns of bits, powers of two, fractions, common
 * divisors. Shifts and nextafter are in special.h. The opening comment of ops.h applies here too. */
#ifndef LAMINA_BITS_H
#define LAMINA_BITS_H

#include <lamina/reductions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- bits of integers -------------------------------------------------------------------------------------------- */

/* The number of bits set in x; negative numbers are in two's complement.
 * Shape   that of x, in its dtype.
 * Fails   LAM_ERR_DTYPE for floats and bool. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_population_count(lam_tensor *x);

/* The number of zero bits of x above the highest set bit: the width for 0, none for a negative number.
 * Shape   that of x, in its dtype.
 * Fails   LAM_ERR_DTYPE for floats and bool. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_clz(lam_tensor *x);

/* The upper half of the product, which lam_mul leaves out: floor(x y / 2^width).
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Derivative: none. */
LAM_API lam_tensor *lam_mulhi(lam_tensor *x, lam_tensor *y);

/* Bitwise and, or, exclusive or of the elements over axes; for bools whether all, any, an odd number of them are true.
 * Of no elements: all bits set, none, none.
 * Shape   as lam_sum, in the dtype of x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for floats. Derivative: none. */
LAM_API lam_tensor *lam_and_reduce(lam_tensor *x, const lam_reduce_options *options);
LAM_API lam_tensor *lam_or_reduce(lam_tensor *x, const lam_reduce_options *options); /* Fails as lam_and_reduce does. */
LAM_API lam_tensor *lam_xor_reduce(lam_tensor *x,
                                   const lam_reduce_options *options); /* Fails as lam_and_reduce does. */

/* Bits packed into bytes: eight neighbours along the axis, each 1 where x is not 0, become one u8, the first in its
 * highest bit (little: in its lowest). The last byte is padded with zeros.
 * Shape   u8; the axis an eighth as long, rounded up.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for floats and complex numbers. Derivative: none. */
LAM_API lam_tensor *lam_pack_bits(lam_tensor *x, int axis, bool little);

/* Undoes lam_pack_bits: count bits along the axis, all for a negative count, zeros where there are fewer.
 * Shape   u8; the axis has count elements, or eight times as many as x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE unless x is u8; LAM_ERR_OVERFLOW. Derivative: none. */
LAM_API lam_tensor *lam_unpack_bits(lam_tensor *x, int axis, int64_t count, bool little);

/* ---- divisors ---------------------------------------------------------------------------------------------------- */

/* The greatest common divisor, not negative (except the least integer with 0 or itself, which wraps); 0 for two zeros.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Owner: current scope. Derivative: none. */
LAM_API lam_tensor *lam_gcd(lam_tensor *x, lam_tensor *y);

/* The least common multiple, not negative unless it wraps; 0 where x or y is.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   LAM_ERR_DTYPE for floats and bool; LAM_ERR_SHAPE. Derivative: none. */
LAM_API lam_tensor *lam_lcm(lam_tensor *x, lam_tensor *y);

/* Quotient and remainder, lam_floor_divide and lam_mod. NULL for one that is not wanted.
 * Shape   x and y broadcast; the dtype is the promoted one.
 * Fails   as lam_mod does; out[] then hold failed tensors. Owner: current scope. Derivative: zero; as lam_mod. */
LAM_API lam_status lam_divmod(lam_tensor *x, lam_tensor *y, lam_tensor **quotient, lam_tensor **rest);

/* ---- bits of anything -------------------------------------------------------------------------------------------- */

/* The same memory read as another dtype. One element becomes several of a smaller dtype along a new last axis, the
 * lowest bits first on a little-endian machine; several neighbours become one of a larger dtype.
 * Shape   that of x if both dtypes have the same size; for a smaller dtype x's axes, then n; for a larger one x without
 *         its last axis of n elements.
 * Fails   LAM_ERR_DTYPE for bool, whose bytes are only 0 and 1, or an invalid dtype; LAM_ERR_SHAPE for another last
 *         axis; LAM_ERR_RANK. Owner: current scope. Derivative: none.
 * Source  jax.lax.bitcast_convert_type; complex dtypes are two reals side by side. */
LAM_API lam_tensor *lam_bitcast(lam_tensor *x, lam_dtype dtype);

/* x rounded to a format with these numbers of exponent and fraction bits, in its own dtype: to the nearest, halfway to
 * the even one; infinite beyond the largest exponent, 0 below the least normal number. Numbers of bits not below those
 * of x change nothing. For f64, (5, 10) is f16 without its subnormal numbers, and (8, 7) is bf16.
 * Shape   that of x. Integers are taken as f64.
 * Fails   LAM_ERR_VALUE unless exponent_bits are from 1 to 255 and mantissa_bits from 0 to 255; LAM_ERR_DTYPE for
 *         complex numbers. Owner: current scope. Derivative: that of the identity, rounded the same way. */
LAM_API lam_tensor *lam_reduce_precision(lam_tensor *x, int exponent_bits, int mantissa_bits);

/* ---- digits of floats -------------------------------------------------------------------------------------------- */

/* x 2^exponents, rounded once; the factor itself may be out of range.
 * Shape   x and exponents broadcast; the dtype is that of x, integers are taken as f64.
 * Fails   LAM_ERR_DTYPE unless exponents are integers, and for complex x; LAM_ERR_SHAPE. Owner: current scope.
 *         Derivative: 2^exponents. */
LAM_API lam_tensor *lam_ldexp(lam_tensor *x, lam_tensor *exponents);

/* x as fraction 2^exponent with a fraction of size 1/2 or more and below 1. Zero, infinity and NaN have exponent 0.
 * NULL for one that is not wanted.
 * Shape   that of x; exponent: i32. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex numbers; out[] then hold failed tensors. Owner: current scope.
 *         Derivative: of the fraction 2^-exponent. */
LAM_API lam_status lam_frexp(lam_tensor *x, lam_tensor **fraction, lam_tensor **exponent);

/* The whole part of x, towards zero, and the rest; both have the sign of x. For infinity the rest is 0. NULL for one
 * that is not wanted.
 * Shape   that of x. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex numbers; out[] then hold failed tensors. Owner: current scope.
 *         Derivative: of the fraction 1, of the whole part 0. */
LAM_API lam_status lam_modf(lam_tensor *x, lam_tensor **fraction, lam_tensor **whole);

/* The distance to the next number away from 0, with the sign of x: the unit in the last place. NaN for infinity.
 * Shape   that of x. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex numbers. Derivative: 0. */
LAM_API lam_tensor *lam_spacing(lam_tensor *x);

/* x rounded to this many decimals, halfway to the even one; negative: to tens, hundreds, ... Numbers too large to have
 * such digits are unchanged.
 * Shape   that of x. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex numbers. Derivative: 0. */
LAM_API lam_tensor *lam_round_to(lam_tensor *x, int decimals);

/* The nearest integer, halves away from 0, as C's round, where lam_round goes to the even one.
 * Shape   that of x. Integers are taken as f64.
 * Fails   LAM_ERR_DTYPE for complex numbers. Derivative: 0. */
LAM_API lam_tensor *lam_round_away(lam_tensor *x);

/* x to the y in f64, or c128 for complex operands, for any dtypes.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: as lam_pow. */
LAM_API lam_tensor *lam_float_power(lam_tensor *x, lam_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
