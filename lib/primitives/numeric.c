/* Remainders, comparisons up to rounding, differences, bins and grids: operations made of others, without rows or
 * rules. What a derivative must not see is chosen before it is computed with, as everywhere. Names, defaults and edge
 * cases are NumPy's unless a docstring says otherwise; where NumPy warns and gives a number, this gives the number. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/index.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* ---- elementwise ------------------------------------------------------------------------------------------------- */

/* A zero of the dtype of x, with its dims. */
static lam_tensor *none_of(lam_tensor *x) {
    return lam_zeros_like(x);
}

/* x - y floor(x / y), from the remainder of division towards 0: y is added where that is not 0 and has the other sign.
 * Both are exact, so this is too but for that sum. */
static lam_tensor *floored_rest(lam_tensor *x, lam_tensor *y) {
    lam_tensor *rest = lam_rem(x, y), *zero = none_of(rest);
    lam_tensor *other_side = lam_ne(lam_lt(rest, zero), lam_lt(y, zero));
    return lam_where(lam_and(lam_ne(rest, zero), other_side), lam_add(rest, y), rest);
}

/* As Python's %, where lam_rem is C's: -1 mod 3 is 2. In parentheses: the name is also a macro, which takes C numbers
 * (literals.h). */
lam_tensor *(lam_mod)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_ordered("mod", false, 2, in, &failed)) return failed;
    if (lam_dtype_of(in[0]) == LAM_BOOL)
        return lam__matrices_fail("mod", 2, in, LAM_ERR_DTYPE, "cast first", "not defined for this dtype");
    return lam__scope_only(floored_rest(in[0], in[1]), since);
}

/* Of integers of 32 bits and less the rounded quotient has the right whole part, since f64 holds 53 bits; the least one
 * by -1 wraps. A divisor of 0 gives 0 and is 1 while it is divided by. */
static lam_tensor *narrow_quotient(lam_tensor *x, lam_tensor *y) {
    lam_tensor *by_zero = lam_eq(y, none_of(y)), *safe = lam_cast(lam_where(by_zero, 1, y), LAM_F64);
    lam_tensor *floored = lam_cast(lam_floor(lam_div(lam_cast(x, LAM_F64), safe)), LAM_I64);
    return lam_where(by_zero, 0, lam_cast(floored, lam_dtype_of(x)));
}

/* The quotient of what y divides. f64 may not hold it: what its rounding leaves is divided once more. The first
 * quotient is off by some thousands at most, so the second, of what is left, is exact. */
static lam_tensor *whole_quotient(lam_tensor *x, lam_tensor *y) {
    lam_dtype dtype = lam_dtype_of(x);
    lam_tensor *by_zero = lam_eq(y, none_of(y)), *safe = lam_where(by_zero, 1, y);
    lam_tensor *first = lam_cast(lam_round(lam_div(x, safe)), dtype), *left = lam_sub(x, lam_mul(first, safe));
    lam_tensor *second = lam_cast(lam_round(lam_div(left, safe)), dtype);
    return lam_where(by_zero, 0, lam_add(first, second));
}

/* Of floats the rounded quotient lies above the true one by less than its last digit, so its floor is right or one too
 * large; what is left of x, whose sign fma does not lose, tells. An infinite y leaves x itself, where 0 times y is NaN:
 * below 0 the quotient is -1. */
static lam_tensor *floored_quotient(lam_tensor *x, lam_tensor *y) {
    lam_tensor *floored = lam_floor(lam_div(x, y)), *rest = lam_fma(lam_neg(floored), y, x);
    rest = lam_where(lam_is_nan(rest), x, rest);
    lam_tensor *beyond = lam_lt(lam_mul(rest, lam_copysign(1.0, y)), 0.0);
    return lam_where(beyond, lam_sub(floored, 1.0), floored);
}

/* Piecewise constant, so floats are cut off from derivatives at once. Each kind of dtype has a way that is exact for
 * it. */
lam_tensor *(lam_floor_divide)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_ordered("floor_divide", false, 2, in, &failed)) return failed;
    if (lam_dtype_of(in[0]) == LAM_BOOL)
        return lam__matrices_fail("floor_divide", 2, in, LAM_ERR_DTYPE, "cast first", "not defined for this dtype");
    if (lam_dtype_of(in[0]) == LAM_I32 || lam_dtype_of(in[0]) == LAM_U8)
        return lam__scope_only(narrow_quotient(in[0], in[1]), since);
    if (lam__dtype_is_inexact((int)lam_dtype_of(in[0])))
        return lam__scope_only(floored_quotient(lam_stop_gradient(in[0]), lam_stop_gradient(in[1])), since);
    /* What is left is i64, of whose quotients f64 holds too few digits: what y divides is divided, by way of the
     * rest. */
    lam_tensor *rest = lam_rem(in[0], in[1]), *zero = none_of(rest), *towards_zero = lam_sub(in[0], rest);
    lam_tensor *below = lam_and(lam_ne(rest, zero), lam_ne(lam_lt(rest, zero), lam_lt(in[1], none_of(in[1]))));
    return lam__scope_only(lam_sub(whole_quotient(towards_zero, in[1]), lam_cast(below, LAM_I64)), since);
}

/* sinc near 0, a polynomial in x^2: (-pi^2)^k / (2k + 1)!, the highest k first. In one pass, with its derivatives. */
static lam_tensor *sinc_series(lam_tensor *square) {
    static const double terms[] = {5.5074589121509654817e-14,
                                   -3.3481335350440666869e-12,
                                   1.7165384749821433018e-10,
                                   -7.3047118222177747971e-9,
                                   2.5312174041370276514e-7,
                                   -6.9758736616563804745e-6,
                                   0.00014842879303107100368,
                                   -0.0023460810354558236375,
                                   0.026147847817654800505,
                                   -0.1907518241220842137,
                                   0.81174242528335364364,
                                   -1.6449340668482264365,
                                   1};
    enum { COUNT = sizeof terms / sizeof terms[0] };
    lam_tensor *p = lam_array(lam_ctx_of(square), LAM_F64, LAM_DIMS(COUNT), terms);
    return lam_polyval(lam_cast(p, lam_dtype_of(square)), square);
}

/* Near 0 the first terms of sin(z) / z in x^2, whose derivatives are those of sinc to any order there; |z| <= 2 leaves
 * an error of 2^26 / 27!. Elsewhere sin(z) / z, whose sine is that of the distance from the next whole number, which is
 * exact. */
lam_tensor *lam_sinc(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("sinc", false, 1, &x, &x, &failed)) return failed;
    if (!lam__dtype_is_inexact((int)lam_dtype_of(x))) x = lam_cast(x, LAM_F64);
    lam_tensor *z = lam_mul(3.14159265358979323846, x), *near = lam_le(lam_abs(z), 2.0),
               *whole = lam_round(lam_real(x));
    lam_tensor *off = lam_mul(3.14159265358979323846, lam_sub(x, whole)), *odd = lam_ne(lam_rem(whole, 2.0), 0.0);
    lam_tensor *series = sinc_series(lam_square(lam_where(near, x, 0.0))), *far = lam_where(near, 1.0, x);
    lam_tensor *sine = lam_sin(lam_where(near, 0.0, lam_where(odd, lam_neg(off), off)));
    lam_tensor *wave = lam_div(lam_mul(0.31830988618379067154, sine), far); /* pi x may leave the range */
    return lam__scope_only(lam_where(near, series, wave), since);
}

/* y is what stands at 0, and the only operand with a derivative: 1 there. NaN stays NaN. */
lam_tensor *(lam_heaviside)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    if (!lam__matrices_ordered("heaviside", false, 2, in, &failed)) return failed;
    x = lam_stop_gradient(in[0]);
    lam_tensor *step = lam_cast(lam_gt(x, none_of(x)), lam_dtype_of(x));
    if (lam__dtype_is_inexact((int)lam_dtype_of(x))) step = lam_where(lam_is_nan(x), x, step);
    return lam__scope_only(lam_where(lam_eq(x, none_of(x)), in[1], step), since);
}

/* Of floats by copysign, which alone tells -0 from 0 and the sign of a NaN. */
lam_tensor *lam_signbit(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("signbit", false, 1, &x, &failed)) return failed;
    lam_tensor *sign = lam__dtype_is_inexact((int)lam_dtype_of(x)) ? lam_copysign(lam_ones_like(x), x) : x;
    return lam__scope_only(lam_lt(sign, none_of(x)), since);
}

/* Degrees and radians: one product by a constant. */
static lam_tensor *scaled(const char *operation, lam_tensor *x, double by) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    return lam__matrices_ordered(operation, false, 1, &x, &failed) ? lam__scope_only(lam_mul(x, by), since) : failed;
}

/* Integers become f64 by the product with a floating number. */
lam_tensor *lam_deg2rad(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(scaled("deg2rad", x, 0.01745329251994329577), since);
}

lam_tensor *lam_rad2deg(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_named(scaled("rad2deg", x, 57.29577951308232088), since);
}

/* From the last condition to the first, so that the first one that holds has its say last. */
lam_tensor *lam_select(lam_list conditions, lam_list choices, lam_tensor *otherwise) {
    uint64_t since = lam__scope_now(otherwise);
    if (conditions.count != choices.count || (conditions.count && (!conditions.items || !choices.items)))
        return lam__axes_fail("select", otherwise, LAM_ERR_ARITY, "%zu conditions for %zu choices", conditions.count,
                              choices.count);
    /* A condition knows the context where the last operand is NULL. */
    lam_tensor *failed, *in[2] = {otherwise, conditions.count ? conditions.items[0] : NULL};
    if (!lam__apply_given("select", conditions.count ? 2 : 1, in, &failed)) return failed;
    /* A copy of the handle, since a result is never an operand. */
    lam_tensor *out = lam_alias(otherwise);
    for (size_t i = conditions.count; i-- > 0;) out = lam_where(conditions.items[i], choices.items[i], out);
    return lam__scope_only(out, since);
}

/* What is neither finite nor NaN. */
lam_tensor *lam_is_inf(lam_tensor *x) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("is_inf", false, 1, &x, &x, &failed)) return failed;
    if (lam__dtype_is_complex((int)lam_dtype_of(x)))
        return lam__scope_only(lam_or(lam_is_inf(lam_real(x)), lam_is_inf(lam_imag(x))), since);
    return lam__scope_only(lam_not(lam_or(lam_is_finite(x), lam_is_nan(x))), since);
}

/* The largest number of the dtype stands for infinity, also for halves, whose row works in f32. Of complex numbers by
 * parts. */
lam_tensor *lam_nan_to_num(lam_tensor *x, const lam_nan_to_num_options *options) {
    static const lam_nan_to_num_options usual;
    const uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_operands("nan_to_num", false, 1, &x, &x, &failed)) return failed;
    if (lam__dtype_is_complex((int)lam_dtype_of(x))) {
        lam_tensor *re = lam_nan_to_num(lam_real(x), options), *im = lam_nan_to_num(lam_imag(x), options);
        return lam__scope_only(lam_complex(re, im), since);
    }
    if (!lam__dtype_is_inexact((int)lam_dtype_of(x))) return lam_alias(x);
    if (!options) options = &usual;
    const double most = lam_dtype_of(x) == LAM_F64    ? DBL_MAX
                        : lam_dtype_of(x) == LAM_F16  ? 65504
                        : lam_dtype_of(x) == LAM_BF16 ? 0x1.fep127
                                                      : FLT_MAX;
    return lam__nan_to_num(x, options->nan, options->posinf ? *options->posinf : most,
                           options->neginf ? *options->neginf : -most);
}

/* 0 is "not given" in the options; a negative one asks for 0. */
static double or_usual(double given, double usual) {
    return given == 0 ? usual : given < 0 ? 0 : given;
}

/* |x - y| <= atol + rtol |y|, which is not symmetric, as in NumPy. Infinities are close to themselves only, NaN to NaN
 * if asked. Elements are compared in f64 at least for integers, whose difference could wrap. */
static lam_tensor *close_to(const char *operation, lam_tensor *x, lam_tensor *y, const lam_close_options *options) {
    static const lam_close_options usual;
    lam_tensor *in[2] = {x, y}, *failed;
    if (!options) options = &usual;
    if (!lam__matrices_operands(operation, false, 2, in, in, &failed)) return failed;
    for (int i = 0; i < 2; i++)
        in[i] = lam_stop_gradient(lam__dtype_is_inexact((int)lam_dtype_of(in[i])) ? in[i] : lam_cast(in[i], LAM_F64));
    lam_tensor *bound = lam_mul(or_usual(options->rtol, 1e-5), lam_abs(in[1]));
    bound = lam_add(bound, or_usual(options->atol, 1e-8));
    lam_tensor *near = lam_le(lam_abs(lam_sub(in[0], in[1])), bound);
    near = lam_and(near, lam_and(lam_is_finite(in[0]), lam_is_finite(in[1])));
    near = lam_or(near, lam_eq(in[0], in[1]));
    return options->equal_nan ? lam_or(near, lam_and(lam_is_nan(in[0]), lam_is_nan(in[1]))) : near;
}

/* Not symmetric in x and y: the relative bound is that of y. */
lam_tensor *lam_is_close(lam_tensor *x, lam_tensor *y, const lam_close_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(close_to("is_close", x, y, options), since);
}

/* One bool for all: NaN is close to nothing unless equal_nan is set. */
lam_tensor *lam_all_close(lam_tensor *x, lam_tensor *y, const lam_close_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(lam_all(close_to("all_close", x, y, options), NULL), since);
}

/* Other dims are an answer and no failure: nothing is broadcast. */
lam_tensor *lam_array_equal(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    lam_value *v[2];
    lam_ctx *ctx = lam__scope_operands("array_equal", 2, in, v, &failed);
    if (!ctx) return failed;
    lam_dims own = lam_dims_of(x), other = lam_dims_of(y);
    bool alike = own.rank == other.rank;
    for (int i = 0; alike && i < own.rank; i++) alike = own.dims[i] == other.dims[i];
    if (!alike) return lam_zeros(ctx, LAM_BOOL, LAM_DIMS0);
    return lam__scope_only(lam_all(lam_eq(x, y), NULL), since);
}

/* Each operand with the other one in place of its NaN: where one is NaN the two are one tensor twice, whose halves of
 * the derivative add up. */
static bool without_nan(const char *operation, lam_tensor *in[2], lam_tensor **failed) {
    if (!lam__matrices_ordered(operation, false, 2, in, failed)) return false;
    if (!lam__dtype_is_inexact((int)lam_dtype_of(in[0]))) return true;
    lam_tensor *x = in[0], *y = in[1];
    in[0] = lam_where(lam_is_nan(x), y, x);
    in[1] = lam_where(lam_is_nan(y), x, y);
    return true;
}

lam_tensor *(lam_fmax)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    return without_nan("fmax", in, &failed) ? lam__scope_only(lam_max(in[0], in[1]), since) : failed;
}

lam_tensor *(lam_fmin)(lam_tensor *x, lam_tensor *y) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    return without_nan("fmin", in, &failed) ? lam__scope_only(lam_min(in[0], in[1]), since) : failed;
}

/* ---- along an axis ----------------------------------------------------------------------------------------------- */

/* Elements from up to, without, to. */
static lam_tensor *part(lam_tensor *x, int axis, int64_t from, int64_t to) {
    return lam_slice_axis(x, axis, from, to);
}

/* Once is two slices and a difference; n times repeats that. Bools are widened first, where numpy.diff takes xor. More
 * differences than elements leave none. */
lam_tensor *lam_diff(lam_tensor *x, int64_t n, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("diff", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (n < 0) return lam__axes_fail("diff", x, LAM_ERR_VALUE, "%lld times is impossible", (long long)n);
    lam_tensor *all = lam_dtype_of(x) == LAM_BOOL ? lam_cast(x, LAM_I64) : lam_alias(x);
    if (n > lam_dim(all, axis)) n = lam_dim(all, axis);
    for (; n > 0; n--) {
        int64_t size = lam_dim(all, axis);
        all = lam_sub(part(all, axis, size > 0, size), part(all, axis, 0, size > 0 ? size - 1 : 0));
    }
    return lam__scope_only(all, since);
}

/* What stands before and behind has the dtype of x, as in NumPy. */
lam_tensor *lam_ediff1d(lam_tensor *x, lam_tensor *before, lam_tensor *behind) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *parts[3], *ends[2] = {before, behind};
    if (!lam__scope_peek(x)) return lam__axes_fail("ediff1d", x, LAM_ERR_NULL, "the operand is NULL");
    if (lam_dtype_of(x) == LAM_BOOL) return lam__axes_fail("ediff1d", x, LAM_ERR_DTYPE, "bools have no difference");
    const int64_t n = lam_size(x);
    parts[1] = lam_diff(lam__apply_reshape(x, 1, &n), 1, 0);
    for (int i = 0; i < 2; i++) {
        const int64_t size = ends[i] ? lam_size(ends[i]) : 0;
        /* What is not given is an empty part. */
        lam_tensor *end = ends[i] ? lam__apply_in_dtype_of("ediff1d", x, ends[i]) : part(parts[1], 0, 0, 0);
        parts[2 * i] = lam__apply_reshape(end, 1, &size);
    }
    return lam__scope_only(lam_concatenate((lam_list){3, parts}, 0), since);
}

/* Central differences inside, one-sided ones at the ends: second and first order in h. */
lam_tensor *lam_gradient(lam_tensor *x, double h, int axis) {
    uint64_t since = lam__scope_now(x);
    if (!lam__apply_axis("gradient", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    int64_t n = lam_dim(x, axis);
    if (n < 2) return lam__axes_fail("gradient", x, LAM_ERR_SHAPE, "%lld samples have no slope", (long long)n);
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *first = lam_sub(part(x, axis, 1, 2), part(x, axis, 0, 1));
    lam_tensor *last = lam_sub(part(x, axis, n - 1, n), part(x, axis, n - 2, n - 1));
    lam_tensor *inner = lam_mul(0.5, lam_sub(part(x, axis, 2, n), part(x, axis, 0, n - 2)));
    lam_tensor *slope = lam_div(lam_concatenate(LAM_LIST(first, inner, last), axis), h);
    return lam__scope_only(lam__apply_narrowed(slope, dtype), since);
}

/* Whole periods are taken away so that no step is longer than half of one. What is added is constant in pieces, so the
 * derivative is 1. Half a period up and down are the same place: the way that x went is kept. */
lam_tensor *lam_unwrap(lam_tensor *x, double period, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_ordered("unwrap", false, 1, &x, &failed)) return failed;
    if (!lam__apply_axis("unwrap", x, lam_rank(x), &axis)) return lam__axes_failed(x);
    if (!(period >= 0 && period <= DBL_MAX))
        return lam__axes_fail("unwrap", x, LAM_ERR_VALUE, "%g is not a period", period);
    /* As numpy.unwrap. */
    if (period == 0) period = 6.28318530717958647693;
    const lam_dtype dtype = lam__apply_floats(1, &x);
    lam_tensor *step = lam_diff(lam_stop_gradient(x), 1, axis), *turns = lam_round(lam_div(step, period));
    lam_tensor *left = lam_sub(step, lam_mul(period, turns)), *half = lam_eq(lam_abs(left), period / 2);
    turns = lam_where(lam_and(half, lam_lt(lam_mul(left, step), 0.0)), lam_sub(turns, lam_sign(step)), turns);
    lam_tensor *first = lam_zeros_like(part(x, axis, 0, 1));
    lam_tensor *all = lam_cumsum(lam_concatenate(LAM_LIST(first, turns), axis), axis);
    return lam__scope_only(lam__apply_narrowed(lam_sub(x, lam_mul(period, all)), dtype), since);
}

/* The first element that equals the largest (smallest) number; NaN equals nothing. */
static lam_tensor *place_of(const char *operation, lam_tensor *x, int axis, bool largest) {
    lam_tensor *failed;
    if (!lam__matrices_ordered(operation, false, 1, &x, &failed)) return failed;
    if (!lam__apply_axis(operation, x, lam_rank(x), &axis)) return lam__axes_failed(x);
    /* Integers have no NaN to leave out. */
    if (!lam__dtype_is_inexact((int)lam_dtype_of(x))) return largest ? lam_argmax(x, axis) : lam_argmin(x, axis);
    lam_reduce_options kept = {.axes = LAM_AXES(axis), .keepdims = true}, gone = {.axes = LAM_AXES(axis)};
    lam_tensor *numbers = lam_stop_gradient(x);
    lam_tensor *hits = lam_eq(numbers, largest ? lam_nanmax(numbers, &kept) : lam_nanmin(numbers, &kept));
    return lam_where(lam_any(hits, &gone), lam_argmax(lam_cast(hits, LAM_U8), axis), -1);
}

lam_tensor *lam_nanargmax(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(place_of("nanargmax", x, axis, true), since);
}

lam_tensor *lam_nanargmin(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(place_of("nanargmin", x, axis, false), since);
}

/* False after recording that the edges, a vector, neither ascend nor descend, where that can be seen. */
static bool edges_in_order(lam_tensor *edges) {
    lam_scope scope;
    lam__scope_open(edges->ctx, &scope);
    lam_tensor *before = lam_slice_axis(edges, 0, 0, -1), *after = lam_slice_axis(edges, 0, 1, LAM_END);
    lam_tensor *up = lam_all(lam_le(before, after), NULL), *down = lam_all(lam_ge(before, after), NULL);
    const bool order = lam__seen_true(lam_or(up, down));
    lam__scope_close(&scope);
    if (!order) lam__axes_fail_with("digitize", edges, LAM_ERR_VALUE, "sort them first", "the edges are in no order");
    return order;
}

/* Edges may rise or fall, which only their elements tell, and these may be unknown here: so both searches are made and
 * one is chosen by the first and last edge. */
lam_tensor *lam_digitize(lam_tensor *x, lam_tensor *edges, bool right) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, edges}, *failed;
    if (!lam__matrices_ordered("digitize", false, 2, in, &failed)) return failed;
    if (lam_rank(edges) != 1)
        return lam__matrices_fail("digitize", 2, in, LAM_ERR_RANK, NULL, "the edges are not a vector");
    if (!edges_in_order(in[1])) return lam__axes_failed(x);
    int64_t n = lam_size(edges);
    lam_tensor *up = lam_searchsorted(in[1], in[0], !right);
    /* Fewer than two edges neither rise nor fall. */
    if (n < 2) return lam__scope_only(up, since);
    lam_tensor *down = lam_sub(n, lam_searchsorted(lam_reverse(in[1], (lam_axes){0, NULL}), in[0], !right));
    lam_tensor *ascending = lam_ge(lam_index(in[1], 0, -1), lam_index(in[1], 0, 0));
    return lam__scope_only(lam_where(ascending, up, down), since);
}

/* As equal as can be: the first n % parts parts have one element more. Each is a view. */
lam_status lam_array_split(lam_tensor *x, int axis, lam_tensor **out, size_t n_out) {
    /* Before anything can fail, so that no result is garbage. */
    for (size_t i = 0; out && i < n_out; i++) out[i] = lam__axes_failed(x);
    if (!lam__apply_axis("array_split", x, lam_rank(x), &axis)) return lam__error_last(lam_ctx_of(x));
    if (!n_out || !out) return lam__axes_fail("array_split", x, LAM_ERR_ARITY, "no parts are asked for"), LAM_ERR_ARITY;
    int64_t n = lam_dim(x, axis), parts = (int64_t)n_out, at = 0;
    for (int64_t i = 0; i < parts; i++) {
        int64_t size = n / parts + (i < n % parts);
        out[i] = part(x, axis, at, at + size);
        at += size;
    }
    return lam__apply_status(n_out, out);
}

/* ---- grids and indices ------------------------------------------------------------------------------------------- */

/* Exponents and powers are f64 and are rounded once to dtype. */
lam_tensor *lam_logspace(lam_ctx *ctx, lam_dtype dtype, double start, double stop, int64_t count, double base) {
    if (!ctx) return lam_linspace(ctx, dtype, start, stop, count);
    uint64_t since = lam__scope_now_in(ctx);
    if (!lam__dtype_is_inexact((int)dtype) || lam__dtype_is_complex((int)dtype))
        return lam__error_fail(ctx, LAM_ERR_DTYPE, "logspace: powers of %g are made in floating dtypes", base);
    lam_tensor *exponents = lam_linspace(ctx, LAM_F64, start, stop, count);
    return lam__scope_only(lam_cast(lam_pow(base, exponents), dtype), since);
}

/* Ones on and below the diagonal `offset`. */
lam_tensor *lam_tri(lam_ctx *ctx, lam_dtype dtype, int64_t rows, int64_t columns, int64_t offset) {
    uint64_t since = lam__scope_now_in(ctx);
    return lam__scope_only(lam_tril(lam_ones(ctx, dtype, LAM_DIMS(rows, columns)), offset), since);
}

/* Whether dims are possible and their product is a number of places. */
static bool fitting(const char *operation, lam_tensor *x, lam_dims dims) {
    int64_t count = 1;
    if (dims.rank < 0 || dims.rank > LAM_MAX_RANK)
        return lam__axes_fail(operation, x, LAM_ERR_RANK, "%d axes are not in [0, %d]", dims.rank, LAM_MAX_RANK), false;
    for (int i = 0; i < dims.rank; i++) {
        if (dims.dims[i] < 0 || (dims.dims[i] > 0 && count > INT64_MAX / dims.dims[i]))
            return lam__axes_fail(operation, x, LAM_ERR_VALUE, "impossible dims"), false;
        count *= dims.dims[i];
    }
    return true;
}

/* The coordinates of each number by repeated division, the last axis first. Numbers outside are clipped to the first or
 * the last place, negative ones after counting from the end, as in jax.numpy. */
lam_status lam_unravel_index(lam_tensor *numbers, lam_dims dims, lam_tensor **out) {
    const char *name = "unravel_index";
    lam_tensor *failed = lam__axes_failed(numbers);
    /* No more than there can be, since dims have not been looked at. */
    for (int i = 0; out && i < dims.rank && i < LAM_MAX_RANK; i++) out[i] = failed;
    if (!lam__scope_peek(numbers) || !out || (dims.rank && !dims.dims)) {
        failed = lam__axes_fail(name, numbers, LAM_ERR_NULL, "no numbers, dims or room");
        return lam__apply_status(1, &failed);
    }
    if (lam__dtype_is_inexact((int)lam_dtype_of(numbers)) || lam_dtype_of(numbers) == LAM_BOOL)
        return lam__axes_fail(name, numbers, LAM_ERR_DTYPE, "places are numbered by integers"), LAM_ERR_DTYPE;
    if (!fitting(name, numbers, dims)) return lam__error_last(lam_ctx_of(numbers));
    uint64_t since = lam__scope_now(numbers);
    int64_t count = 1;
    for (int i = 0; i < dims.rank; i++) count *= dims.dims[i];
    lam_tensor *left = lam_cast(numbers, LAM_I64);
    left = lam_clamp(lam_where(lam_lt(left, 0), lam_add(left, count), left), 0, count > 0 ? count - 1 : 0);
    for (int i = dims.rank - 1; i >= 0; i--) {
        /* An axis of no places has none to name; nothing is divided by 0. */
        int64_t n = dims.dims[i] > 0 ? dims.dims[i] : 1;
        out[i] = lam_rem(left, n);
        if (i) left = lam_floor_divide(left, n);
    }
    if (dims.rank) lam__scope_only_these((size_t)dims.rank, out, since);
    return lam__apply_status((size_t)dims.rank, out);
}

/* Horner's scheme over the axes; each index is checked against its own axis and may be negative. */
lam_tensor *lam_ravel_index(lam_list indices, lam_dims dims) {
    const char *name = "ravel_index";
    lam_tensor *first = indices.count && indices.items ? indices.items[0] : NULL, *number = NULL;
    if (!first || indices.count != (size_t)dims.rank || !dims.dims)
        return lam__axes_fail(name, first, LAM_ERR_ARITY, "%zu indices for %d axes", indices.count, dims.rank);
    if (!fitting(name, first, dims)) return lam__axes_failed(first);
    uint64_t since = lam__scope_now(first);
    for (int i = 0; i < dims.rank; i++) {
        lam_tensor *at = lam_wrap_index(indices.items[i], dims.dims[i]);
        number = number ? lam_add(lam_mul(number, dims.dims[i]), at) : at;
    }
    return lam__scope_only(number, since);
}
