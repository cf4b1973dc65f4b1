/* Numbers taken apart and put together again: fractions and exponents, whole parts, decimals, quotients with their
 * remainders, halves of products, bytes of bits. Made of other operations, without rows or rules. What is constant in
 * pieces is cut off from derivatives where it is made, so that only the part that moves with x carries one. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Two results where they are wanted; a failure of either is one of both. */
static lam_status give(uint64_t since, lam_tensor *first, lam_tensor *second, lam_tensor **a, lam_tensor **b) {
    lam_tensor *made[2] = {first, second}, **const places[2] = {a, b};
    if (lam_failed(first) || lam_failed(second))
        return lam__matrices_give_failed(lam_failed(first) ? first : second, 2, places);
    return lam__matrices_give(LAM_OK, since, 2, made, places);
}

static lam_status give_failed(lam_tensor *failed, lam_tensor **a, lam_tensor **b) {
    lam_tensor **const places[2] = {a, b};
    return lam__matrices_give_failed(failed, 2, places);
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

/* Whether x and y, which become one dtype, are integers; otherwise *failed. Bools have no products: they are refused as
 * floats are. */
static bool integers(const char *operation, lam_tensor *in[2], lam_tensor **failed) {
    if (!lam__matrices_operands(operation, false, 2, in, in, failed)) return false;
    const lam_dtype dtype = lam_dtype_of(in[0]);
    if (!lam__dtype_is_inexact((int)dtype) && dtype != LAM_BOOL) return true;
    *failed = lam__matrices_fail(operation, 2, in, LAM_ERR_DTYPE, "cast first", "not defined for this dtype");
    return false;
}

/* Of i64 from products of halves of 32 bits, whose sums do not overflow (Warren, Hacker's Delight, 8-2). The mask of 32
 * bits is exact as a double, which lam_full_like takes. */
static lam_tensor *upper_half(lam_tensor *x, lam_tensor *y) {
    const int64_t low_bits = 0xffffffff;
    lam_tensor *x1 = lam_shift_right_arithmetic(x, 32), *x0 = lam_and(x, lam_full_like(x, (double)low_bits));
    lam_tensor *y1 = lam_shift_right_arithmetic(y, 32), *y0 = lam_and(y, lam_full_like(y, (double)low_bits));
    lam_tensor *carry = lam_shift_right_logical(lam_mul(x0, y0), 32), *middle = lam_add(lam_mul(x1, y0), carry);
    lam_tensor *other = lam_add(lam_and(middle, lam_full_like(middle, (double)low_bits)), lam_mul(x0, y1));
    middle = lam_shift_right_arithmetic(middle, 32);
    return lam_add(lam_add(lam_mul(x1, y1), middle), lam_shift_right_arithmetic(other, 32));
}

/* Narrower integers have products that i64 holds. */
lam_tensor *lam_mulhi(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!integers("mulhi", in, &failed)) return failed;
    const lam_dtype dtype = lam_dtype_of(in[0]);
    if (dtype == LAM_I64) return lam__scope_only(upper_half(in[0], in[1]), since);
    lam_tensor *product = lam_mul(lam_cast(in[0], LAM_I64), lam_cast(in[1], LAM_I64));
    /* What is neither i64 nor i32 here is u8. */
    return lam__scope_only(lam_cast(lam_shift_right_arithmetic(product, dtype == LAM_I32 ? 32 : 8), dtype), since);
}

/* One of them less the common divisor, times the other: the product alone might wrap where the result does not. */
lam_tensor *(lam_lcm)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!integers("lcm", in, &failed)) return failed;
    /* Of 0 and 0 the divisor is 0 as well, and so is the multiple. */
    lam_tensor *divisor = lam_gcd(in[0], in[1]), *none = lam_eq(divisor, lam_zeros_like(divisor));
    return lam__scope_only(lam_abs(lam_mul(lam_floor_divide(in[0], lam_where(none, 1, divisor)), in[1])), since);
}

/* Both round down, so that quotient y + rest is x. The second is not made where the first has failed, so that a mistake
 * is counted once. */
lam_status lam_divmod(lam_tensor *x, lam_tensor *y, lam_tensor **quotient, lam_tensor **rest) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__apply_given("divmod", 2, (lam_tensor *[]){x, y}, &failed)) return give_failed(failed, quotient, rest);
    lam_tensor *q = lam__scope_named(lam_floor_divide(x, y), since);
    return give(since, q, lam_failed(q) ? q : lam_mod(x, y), quotient, rest);
}

/* ---- bitwise reductions ------------------------------------------------------------------------------------------ */

typedef lam_tensor *bitwise(lam_tensor *, lam_tensor *);

/* x as [elements over the axes of the set, all others], and the dims of the result. What is reduced comes in front, so
 * that halves of it are slices without gaps. */
static lam_tensor *as_columns(lam_tensor *x, lam__axis_set set, bool keepdims, int *rank, int64_t dims[]) {
    lam_dims own = lam_dims_of(x);
    int order[LAM_INNER_RANK], n = 0;
    int64_t two[2] = {1, 1};
    *rank = 0;
    for (int i = 0; i < own.rank; i++)
        if (set >> i & 1u) order[n++] = i, two[0] *= own.dims[i];
    for (int i = 0; i < own.rank; i++) {
        const bool gone = set >> i & 1u;
        if (!gone) order[n++] = i, two[1] *= own.dims[i];
        if (!gone || keepdims) dims[(*rank)++] = gone ? 1 : own.dims[i];
    }
    return lam__apply_reshape(lam_transpose(x, (lam_axes){own.rank, order}), 2, two);
}

/* One half combined with the other, again and again: as many passes over memory as two. An odd one goes along to the
 * next round. Of no elements the neutral one is given: all bits, or none. */
static lam_tensor *folded(const char *operation, lam_tensor *x, const lam_reduce_options *options, bitwise *combine,
                          bool ones) {
    static const lam_reduce_options usual;
    const lam_reduce_options *o = options ? options : &usual;
    uint64_t since = lam__scope_now(x);
    lam__axis_set set;
    int64_t dims[LAM_INNER_RANK], n;
    int rank;
    if (!lam__scope_peek(x)) return lam__axes_fail(operation, x, LAM_ERR_NULL, "the operand is NULL");
    if (lam__dtype_is_inexact((int)lam_dtype_of(x)))
        return lam__axes_fail(operation, x, LAM_ERR_DTYPE, "floats have no bits to combine");
    if (!lam__axes_collect_set(operation, x, o->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    x = as_columns(x, set, o->keepdims, &rank, dims);
    /* as_columns has made the elements that are combined the first of two axes. */
    while (!lam_failed(x) && (n = lam_dim(x, 0)) > 1) {
        lam_tensor *half = combine(lam_slice_axis(x, 0, 0, n / 2), lam_slice_axis(x, 0, n / 2, n - n % 2));
        x = n % 2 ? lam_concatenate(LAM_LIST(half, lam_slice_axis(x, 0, n - 1, n)), 0) : half;
    }
    if (lam_failed(x)) return x;
    lam_tensor *none = lam_zeros(lam_ctx_of(x), lam_dtype_of(x), LAM_DIMS0);
    if (lam_dim(x, 0) == 0) x = lam__apply_broadcast(ones ? lam_not(none) : none, 1, (const int64_t[]){lam_dim(x, 1)});
    return lam__scope_only(lam__apply_reshape(x, rank, dims), since);
}

lam_tensor *lam_and_reduce(lam_tensor *x, const lam_reduce_options *options) {
    return folded("and_reduce", x, options, lam_and, true);
}

lam_tensor *lam_or_reduce(lam_tensor *x, const lam_reduce_options *options) {
    return folded("or_reduce", x, options, lam_or, false);
}

lam_tensor *lam_xor_reduce(lam_tensor *x, const lam_reduce_options *options) {
    return folded("xor_reduce", x, options, lam_xor, false);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* The exponents of positive numbers stand above the digits of their bits; subnormal numbers are made normal first. */
static lam_tensor *exponent_of(lam_tensor *x) {
    const bool wide = lam_dtype_of(x) == LAM_F64;
    /* In [1/2, 1) fractions have one more in the exponent than in [1, 2), hence a bias of one less than that of the
     * format. */
    const int digits = wide ? 52 : 23, bias = wide ? 1022 : 126, up = digits + 2;
    lam_tensor *size = lam_abs(lam_stop_gradient(x)), *small = lam_lt(size, wide ? DBL_MIN : (double)FLT_MIN);
    lam_tensor *scaled = lam_where(small, lam_mul(size, ldexp(1, up)), size);
    lam_tensor *bits = lam_shift_right_logical(lam_bitcast(scaled, wide ? LAM_I64 : LAM_I32), digits);
    lam_tensor *exponent = lam_sub(lam_cast(bits, LAM_I32), lam_where(small, lam_full_like(bits, bias + up), bias));
    lam_tensor *none = lam_or(lam_eq(size, 0.0), lam_not(lam_is_finite(size)));
    return lam_cast(lam_where(none, 0, exponent), LAM_I32);
}

/* f16 and bf16 are taken apart as f32, which holds them and is exact here. The exponent is a constant to derivatives,
 * so the fraction has the slope 2^-e. */
lam_status lam_frexp(lam_tensor *x, lam_tensor **fraction, lam_tensor **exponent) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("frexp", true, 1, &x, &failed)) return give_failed(failed, fraction, exponent);
    lam_tensor *wide = lam__dtype_is_half((int)lam_dtype_of(x)) ? lam_cast(x, LAM_F32) : x, *e = exponent_of(wide);
    return give(since, lam_ldexp(x, lam_neg(e)), e, fraction, exponent);
}

/* C's fmod by 1 keeps the sign of x also where nothing is left; of infinity it would be NaN. */
lam_status lam_modf(lam_tensor *x, lam_tensor **fraction, lam_tensor **whole) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("modf", true, 1, &x, &failed)) return give_failed(failed, fraction, whole);
    lam_tensor *infinite = lam_is_inf(x), *none = lam_copysign(0.0, lam_stop_gradient(x));
    lam_tensor *left = lam_rem(lam_where(infinite, 0.0, x), 1.0);
    return give(since, lam_where(infinite, none, left), lam_trunc(x), fraction, whole);
}

/* The distance to the next number away from 0, with the sign of x, as in NumPy: negative below 0, NaN of infinities. */
lam_tensor *lam_spacing(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("spacing", true, 1, &x, &failed)) return failed;
    lam_tensor *own = lam_stop_gradient(x), *size = lam_abs(own);
    return lam__scope_only(lam_copysign(lam_sub(lam_nextafter(size, (double)INFINITY), size), own), since);
}

/* In f64: multiplied and divided by a power of ten, which is exact up to 10^22. Where the product leaves the range, x
 * has no such digits. Of a power beyond the range of doubles more than half is beyond it too, so that all round to 0,
 * which the quotient by infinity is. */
lam_tensor *lam_round_to(lam_tensor *x, int decimals) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("round_to", true, 1, &x, &failed)) return failed;
    /* No double has digits there. */
    if (decimals > 308) return lam__scope_only(lam_stop_gradient(x), since);
    const bool beyond = decimals < -308;
    const double ten = beyond ? (double)INFINITY : pow(10, abs(decimals));
    lam_tensor *own = lam_cast(lam_stop_gradient(x), LAM_F64);
    lam_tensor *there = decimals < 0 ? lam_div(own, ten) : lam_mul(own, ten), *rounded = lam_round(there);
    lam_tensor *back = beyond ? rounded : decimals < 0 ? lam_mul(rounded, ten) : lam_div(rounded, ten);
    return lam__scope_only(lam_cast(lam_where(lam_is_finite(there), back, own), lam_dtype_of(x)), since);
}

/* What is left beyond the whole part is exact, so that the greatest number below 1/2 does not become 1, as it would by
 * adding 1/2. */
lam_tensor *lam_round_away(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("round_away", true, 1, &x, &failed)) return failed;
    lam_tensor *own = lam_stop_gradient(x), *whole = lam_trunc(own);
    lam_tensor *far = lam_ge(lam_abs(lam_sub(own, whole)), 0.5);
    return lam__scope_only(lam_where(far, lam_add(whole, lam_copysign(1.0, own)), whole), since);
}

/* c64 becomes c128, all else f64. */
lam_tensor *(lam_float_power)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_operands("float_power", true, 2, in, in, &failed)) return failed;
    const lam_dtype wide = lam__dtype_is_complex((int)lam_dtype_of(in[0])) ? LAM_C128 : LAM_F64;
    return lam__scope_only(lam_pow(lam_cast(x, wide), lam_cast(y, wide)), since);
}

/* ---- bytes of bits ----------------------------------------------------------------------------------------------- */

/* Where bit i of a byte stands: from the highest down, or from the lowest up; along `axis` of `rank` axes. */
static lam_tensor *places_of_bits(lam_ctx *ctx, bool little, int axis, int rank) {
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis ? 8 : 1;
    lam_tensor *places = lam_arange(ctx, LAM_U8, little ? 0 : 7, little ? 8 : -1, little ? 1 : -1);
    return lam__apply_reshape(places, rank, dims);
}

/* The axis as groups of eight: [..., groups, 8, ...]. An axis more than x has, within the room for inner ranks. */
static lam_tensor *in_bytes(lam_tensor *x, int axis, int64_t groups) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < own.rank; i++) dims[i < axis ? i : i + 1] = own.dims[i];
    dims[axis] = groups;
    dims[axis + 1] = 8;
    return lam__apply_reshape(x, own.rank + 1, dims);
}

/* The weight of each bit, times the bits, is at most 255 together. */
lam_tensor *lam_pack_bits(lam_tensor *x, int axis, bool little) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    int64_t low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
    if (!lam__apply_axis("pack_bits", x, own.rank, &axis)) return lam__axes_failed(x);
    if (lam__dtype_is_inexact((int)lam_dtype_of(x)))
        return lam__axes_fail("pack_bits", x, LAM_ERR_DTYPE, "bits come from integers and bools");
    const int64_t groups = own.dims[axis] / 8 + (own.dims[axis] % 8 > 0);
    high[axis] = groups * 8 - own.dims[axis];
    /* What is not 0 is a bit, as in NumPy. */
    lam_tensor *bits = lam_cast(lam_ne(x, lam_zeros_like(x)), LAM_U8);
    bits = in_bytes(lam_pad(bits, (lam_dims){own.rank, low}, (lam_dims){own.rank, high}, NULL), axis, groups);
    bits = lam_shift_left(bits, places_of_bits(lam_ctx_of(x), little, axis + 1, own.rank + 1));
    /* Sums of bytes are i64, which none of these fills. */
    return lam__scope_only(lam_cast(lam_sum(bits, &(lam_reduce_options){.axes = LAM_AXES(axis + 1)}), LAM_U8), since);
}

/* Each byte moved down by each place, of which the lowest bit stays. */
lam_tensor *lam_unpack_bits(lam_tensor *x, int axis, int64_t count, bool little) {
    uint64_t since = lam__scope_now(x);
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK], low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0};
    if (!lam__apply_axis("unpack_bits", x, own.rank, &axis)) return lam__axes_failed(x);
    if (lam_dtype_of(x) != LAM_U8) return lam__axes_fail("unpack_bits", x, LAM_ERR_DTYPE, "bytes are u8");
    for (int i = 0; i < own.rank; i++) dims[i] = own.dims[i];
    if (dims[axis] > INT64_MAX / 8) return lam__axes_fail("unpack_bits", x, LAM_ERR_OVERFLOW, "the sizes overflow");
    dims[axis] *= 8;
    /* Negative where fewer bits are wanted than there are: lam_pad then cuts. */
    if (count >= 0) high[axis] = count - dims[axis];
    lam_tensor *places = places_of_bits(lam_ctx_of(x), little, axis + 1, own.rank + 1);
    lam_tensor *moved = lam_shift_right_logical(lam_expand_dims(x, axis + 1), places);
    lam_tensor *bits = lam__apply_reshape(lam_and(moved, lam_ones_like(moved)), own.rank, dims);
    return lam__scope_only(lam_pad(bits, (lam_dims){own.rank, low}, (lam_dims){own.rank, high}, NULL), since);
}
