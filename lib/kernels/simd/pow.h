/* pow, logistic, tanh, logaddexp and log_cosh as vector functions, made of the sums of logexp.h: f64 is rounded once,
 * within 0.6 ULP; f32 goes through f64 without second doubles (logistic and tanh: single_functions.h).
 * Operands that are not finite are done by libm, one by one, or chosen. */
#ifndef LAM_KERNELS_SIMD_POW_H
#define LAM_KERNELS_SIMD_POW_H

#include "lib/kernels/simd/logexp.h"
#include "lib/kernels/simd/vmath.h"

/* ---- pow -------------------------------------------------------------------------------------------------------- */

/* What the sign of x and its being 0 make of r = |x|^y: for x < 0 there is a power only where y is whole. */
ALWAYS_INLINE V64 signed_power(V64 r, V64 x, V64 y) {
    /* y is odd where it is whole and its half is not; beyond 2^53 all numbers are even. */
    const V64 zero = {0}, half = 0.5 * y;
    const M64 sign = (M64)x & (M64)(-zero), odd = (M64)(y == whole64(y)) & (M64)(half != whole64(half));
    /* log(0) is not asked for: parts_of_size gives it for 1, and here is what x = 0 makes of it. */
    r = either((M64)(x == 0) & (M64)(y > 0), zero, either((M64)(x == 0) & (M64)(y < 0), zero + INFINITY, r));
    r = (V64)((M64)r | (sign & odd));
    return either((M64)(x < 0) & (M64)(y != whole64(y)), zero + NAN, r);
}

/* |x| as a normal number and the exponent that this takes off it; 1 for what has no logarithm. */
ALWAYS_INLINE parts64 parts_of_size(V64 x) {
    const V64 zero = {0}, size = f64_magnitude(x);
    /* A subnormal number is brought up by 2^54, so that its digits are where those of others are. */
    const M64 small = (M64)(size < 0x1p-1022), none = (M64)(size == 0) | ~(M64)(size <= f64_LARGEST);
    parts64 p = parts_of(either(none, zero + 1, either(small, size * 0x1p54, size)));
    p.k -= either(small & ~none, zero + 54, zero);
    return p;
}

/* NaN included. */
ALWAYS_INLINE M64 not_finite(V64 x, V64 y) {
    return ~((M64)(f64_magnitude(x) <= f64_LARGEST) & (M64)(f64_magnitude(y) <= f64_LARGEST));
}

/* Beyond 2^70 an exponent gives 0, 1 or infinity whatever it is. NaN stays NaN. */
ALWAYS_INLINE V64 bounded_exponent(V64 y) {
    return limited(y, 0x1p70);
}

/* All operands, for vectors that have one of the rarer ones; lanes that are plain get the bits that f64_pow gives
 * them. */
static __attribute__((noinline)) V64 pow_anywhere(V64 x, V64 y) {
    const sum64 log = log_of_parts(parts_of_size(x), (V64){0});
    const V64 r = signed_power(exp_limited(product_of(log, bounded_exponent(y))), x, y);
    /* libm has the rules for infinities and NaN, such as pow(1, NaN) = 1. */
    return f64_patch2(r, x, y, not_finite(x, y), powl);
}

/* In vectors whose bases are all positive and whose exponents are not huge, nothing of the rest can happen. */
ALWAYS_INLINE V64 f64_pow(V64 x, V64 y) {
    const M64 plain = (M64)(x >= 0x1p-1022) & (M64)(x <= f64_LARGEST) & (M64)(f64_magnitude(y) <= 0x1p70);
    if (any64(~plain)) return pow_anywhere(x, y);
    return exp_limited(product_of(log_of_parts(parts_of(x), (V64){0}), y));
}

/* Logarithm and exponential have a float's share of digits and some more. */
ALWAYS_INLINE V64 quick_pow(V64 x, V64 y) {
    /* Floats are normal numbers as doubles, but the exponent may be as large as theirs. */
    const V64 e = quick_log_of_parts(parts_of_size(x)) * bounded_exponent(y);
    /* Far beyond what a float holds, and far within what quick_exp can do. */
    const V64 r = signed_power(quick_exp(limited(e, 200)), x, y);
    return f64_patch2(r, x, y, not_finite(x, y), powl);
}

ALWAYS_INLINE V32 f32_pow(V32 x, V32 y) {
    return f32_through2(x, y, quick_pow);
}

/* ---- logistic, tanh, softplus ------------------------------------------------------------------------------ */

/* exp(-size) as a sum for size >= 0, 0 from 746 on. */
ALWAYS_INLINE sum64 exp_of_negative(sum64 size) {
    /* From 746 on the result is 0 also where size is infinite, and infinity less infinity must not be met. */
    const M64 near = (M64)(size.hi < 750);
    V64 k;
    const sum64 e = exp_of((sum64){-either(near, size.hi, splat64(750)), either(near, -size.lo, (V64){0})}, &k);
    return (sum64){scaled(e.hi, k), scaled(e.lo, k)};
}

/* A function and its derivative. What is made of one of them alone leaves out what the other needs. */
typedef struct sloped64 {
    V64 value, slope;
} sloped64;

/* With e = exp(-|x|) and d = 1 + e the logistic function is 1/d, on the left e/d, and its slope is factor e/d^2: 1/d is
 * v (1 + miss). */
ALWAYS_INLINE sloped64 logistic_and_slope(V64 x, double factor) {
    const V64 zero = {0}, one = zero + 1;
    const M64 negative = (M64)(x < 0);
    V64 k;
    const V64 below = (V64)((M64)x | (M64)(-zero)); /* -|x| */
    const sum64 e = exp_of_double(most_of(zero - 800, below), &k);
    const V64 power = two_to(most_of(zero - 200, k)); /* beside 1 it is nothing from there on */
    const V64 sum = madd(e.hi, power, one);
    const sum64 d = {sum, madd(e.lo, power, madd(e.hi, power, one - sum))};
    /* The numerator: 1, on the left e, whose power of 2 is put on at the end. */
    const sum64 n = {either(negative, e.hi, one), either(negative, e.lo, zero)};
    const V64 v = inverse64(d.hi), q = n.hi * v;
    /* What the first quotient lacks of both parts. */
    const V64 rest = madd(-q, d.lo, remainder_of(n.hi, q, d.hi) + n.lo);
    const V64 miss = remainder_of(one, d.hi, v) - d.lo * v, p = e.hi * v;
    const V64 low = madd(e.lo, v, -remainder_of(p, e.hi, v));
    /* Left of -746 exp(x) is less than half of the least number. */
    return (sloped64){scaled_unless(x, -746, madd(rest, v, q), either(negative, k, zero)),
                      scaled_unless(below, -746, factor * product_and(p, v, madd(2 * p * v, miss, low * v)), k)};
}

/* One text for the function, its derivative, and both together: the compiler leaves out what is not asked for. */
ALWAYS_INLINE sloped64 f64_sloped_logistic(V64 x) {
    return logistic_and_slope(x, 1);
}

/* The value alone. The slope is left out by the compiler. */
ALWAYS_INLINE V64 f64_logistic(V64 x) {
    return f64_sloped_logistic(x).value;
}

ALWAYS_INLINE V64 f64_logistic_slope(V64 x) {
    return f64_sloped_logistic(x).slope;
}

/* 1 - tanh(x)^2 is 4 s(2 x) s(-2 x) for s = logistic. Without the difference, which would lose all digits where
 * tanh is next to 1. */
ALWAYS_INLINE V64 f64_tanh_slope(V64 x) {
    return logistic_and_slope(2 * x, 4).slope;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* 1 + power + u for power = 2^k with whole k <= 0, or both with their signs turned. */
ALWAYS_INLINE sum64 one_and(V64 power, sum64 u) {
    const sum64 whole = fast_sum(splat64(1), power), sum = fast_sum(whole.hi, u.hi);
    return (sum64){sum.hi, sum.lo + (whole.lo + u.lo)};
}

/* (1 - e) / (1 + e) for e = exp(-2|x|), which is 2^k (1 + u): in this set picking from tables takes longer. */
ALWAYS_INLINE V64 tanh_of_size(V64 size) {
    const reduced_exp e = reduced_exp_of((sum64){-2 * bounded(size, 22), {0}});
    const V64 power = two_to(e.k);
    /* 1 + e and 1 - e as sums: the power of 2 and what comes on top of it are added apart. Products with a power of
     * 2 are exact. */
    const sum64 u = fast_sum(e.r * power, e.tail * power);
    const sum64 q = quotient(one_and(-power, (sum64){-u.hi, -u.lo}), one_and(power, u));
    return f64_odd(size, q.hi + q.lo);
}
#else
/* From 19.2 on the result is 1. */
ALWAYS_INLINE V64 tanh_of_size(V64 size) {
    const doubling d = doubling_of(bounded(size, 19.2), 1.28125);
    const sum64 p = PIECES(d.off, d.at, lam__table_tanh);
    /* In the first pieces tanh(x)/x - 1 is tabulated, so that x itself is what is rounded last. */
    const M64 small = (M64)(d.middle < 1.5);
    return madd(either(small, size, splat64(1)), p.lo, either(small, size, p.hi));
}
#endif

/* The sign is put back at the end, so tanh is odd to the last bit. */
ALWAYS_INLINE V64 f64_tanh(V64 x) {
    return (V64)((M64)tanh_of_size(f64_magnitude(x)) | ((M64)x & (M64)(-(V64){0})));
}

/* s(x) s(-x) for s = logistic, for floats. It is even, and exp(-|x|) does not overflow. */
ALWAYS_INLINE V64 quick_bell(V64 x) {
    /* exp(-150) is far below the least float. */
    const V64 e = quick_exp(-bounded(f64_magnitude(x), 150)), inverse = inverse64(1 + e);
    return e * inverse * inverse;
}

/* 4 s(2 x) s(-2 x). */
ALWAYS_INLINE V64 quick_tanh_slope(V64 x) {
    return 4 * quick_bell(2 * x);
}

ALWAYS_INLINE V32 f32_logistic_slope(V32 x) {
    return f32_through1(x, quick_bell);
}

/* Through doubles. */
ALWAYS_INLINE V32 f32_tanh_slope(V32 x) {
    return f32_through1(x, quick_tanh_slope);
}

/* log(1 + exp(-size)) for size >= 0. */
ALWAYS_INLINE sum64 log_of_1_and_exp(sum64 size) {
    const sum64 e = exp_of_negative(size), sum = fast_sum(splat64(1), e.hi);
    const sum64 log = log_of((sum64){sum.hi, sum.lo + e.lo});
    const M64 small = (M64)(e.hi < 0x1p-40); /* and e^3 nothing beside e */
    return (sum64){either(small, e.hi, log.hi), either(small, madd(-0.5 * e.hi, e.hi, e.lo), log.lo)};
}

/* log(1 + e) for 0 <= e <= 1. */
ALWAYS_INLINE V64 quick_log_of_1_and(V64 e) {
    /* The series, where 1 + e would lose e. */
    const V64 small = e - e * e * madd(e, splat64(-1.0 / 3), splat64(0.5));
    return either((M64)(e < 0x1p-12), small, quick_log_of_parts(parts_of(1 + e)));
}

/* ---- logaddexp, logaddexp2, their slopes ------------------------------------------------------------------------- */

/* The larger operand, and by how much it is so: not finite where they are of no use. */
typedef struct ordered64 {
    V64 larger;
    sum64 gap;
} ordered64;

/* NaN makes neither larger; finite_or_larger then gives the sum. */
ALWAYS_INLINE ordered64 ordered_of(V64 x, V64 y) {
    /* Of equal operands the second, so the gap is 0. */
    const M64 first = (M64)(x > y);
    const V64 larger = either(first, x, y);
    return (ordered64){larger, any_sum(larger, -either(first, y, x))};
}

/* What an infinite operand decides, unless the other is NaN. */
ALWAYS_INLINE V64 finite_or_larger(V64 r, V64 larger, V64 x, V64 y) {
    r = either((M64)(f64_magnitude(larger) <= f64_LARGEST), r, larger);
    return either((M64)(x == x) & (M64)(y == y), r, x + y);
}

/* larger + log(1 + exp(-gap)), where the gap is exact, as a sum of two. */
ALWAYS_INLINE V64 f64_logaddexp(V64 x, V64 y) {
    const ordered64 o = ordered_of(x, y);
    const sum64 rest = log_of_1_and_exp(o.gap), sum = any_sum(o.larger, rest.hi);
    return finite_or_larger(sum.hi + (sum.lo + rest.lo), o.larger, x, y);
}

/* The gap in units of log(2), bounded so that its multiple is too. */
ALWAYS_INLINE V64 f64_logaddexp2(V64 x, V64 y) {
    const sum64 unit = {splat64(0x1.62e42fefa39efp-1), splat64(0x1.abc9e3b39803fp-56)};
    const sum64 inverse = {splat64(0x1.71547652b82fep+0), splat64(0x1.777d0ffda0d24p-56)};
    const ordered64 o = ordered_of(x, y);
    /* 2^-1100 is no number; of an infinite gap the multiple by a sum would be NaN. */
    const M64 near = (M64)(o.gap.hi < 1100);
    const sum64 gap = {either(near, o.gap.hi, splat64(1100)), either(near, o.gap.lo, (V64){0})};
    const sum64 rest = product_of_sums(log_of_1_and_exp(product_of_sums(gap, unit)), inverse);
    /* log2(2) is 1, which must not be rounded. */
    const M64 same = (M64)(gap.hi == 0);
    const sum64 sum = any_sum(o.larger, either(same, splat64(1), rest.hi));
    return finite_or_larger(sum.hi + (sum.lo + either(same, (V64){0}, rest.lo)), o.larger, x, y);
}

/* 1 / (1 + exp(-x)), on the left as exp(x) / (1 + exp(x)). */
ALWAYS_INLINE V64 logistic_of_sum(sum64 x) {
    const V64 zero = {0}, one = zero + 1, size = f64_magnitude(x.hi);
    const M64 negative = (M64)(x.hi < 0), near = (M64)(size < 800);
    V64 k;
    const sum64 e = exp_of((sum64){-bounded(size, 800), either(near, either(negative, x.lo, -x.lo), zero)}, &k);
    /* As in logistic_and_slope, of an argument that is a sum. */
    const V64 least = most_of(zero - 200, k); /* beside 1 it is nothing from there on */
    sum64 d = fast_sum(one, scaled(e.hi, least));
    d.lo += scaled(e.lo, least);
    const sum64 q = quotient((sum64){either(negative, e.hi, one), either(negative, e.lo, zero)}, d);
    return scaled_unless(x.hi, -746, q.hi + q.lo, either(negative, k, zero));
}

/* By how much x is larger, nothing between equal infinities. */
ALWAYS_INLINE sum64 lead_of(V64 x, V64 y) {
    return either_sum((M64)(x == y), (sum64){{0}, {0}}, any_sum(x, -y));
}

/* The share of exp(x) in exp(x) + exp(y). */
ALWAYS_INLINE V64 f64_logaddexp_slope(V64 x, V64 y) {
    return logistic_of_sum(lead_of(x, y));
}

ALWAYS_INLINE V64 f64_logaddexp2_slope(V64 x, V64 y) {
    const sum64 unit = {splat64(0x1.62e42fefa39efp-1), splat64(0x1.abc9e3b39803fp-56)}, lead = lead_of(x, y);
    /* The same for the slope: logistic_of_sum needs no more. */
    const V64 hi = limited(lead.hi, 1200);
    return logistic_of_sum(product_of_sums((sum64){hi, either((M64)(hi == lead.hi), lead.lo, (V64){0})}, unit));
}

/* As `share` of reference/floats.h, in doubles for f32. */
ALWAYS_INLINE V64 quick_share(V64 x, V64 y, double unit) {
    /* As in lead_of. */
    const V64 lead = either((M64)(x == y), (V64){0}, x - y), e = quick_exp(-bounded(unit * f64_magnitude(lead), 150));
    return either((M64)(lead < 0), e, splat64(1)) * inverse64(1 + e);
}

ALWAYS_INLINE V64 quick_logaddexp_slope(V64 x, V64 y) {
    return quick_share(x, y, 1);
}

ALWAYS_INLINE V64 quick_logaddexp2_slope(V64 x, V64 y) {
    return quick_share(x, y, 0x1.62e42fefa39efp-1);
}

ALWAYS_INLINE V32 f32_logaddexp_slope(V32 x, V32 y) {
    return f32_through2(x, y, quick_logaddexp_slope);
}

ALWAYS_INLINE V32 f32_logaddexp2_slope(V32 x, V32 y) {
    return f32_through2(x, y, quick_logaddexp2_slope);
}

/* The larger plus log(1 + exp(-unit gap)) / unit to a float's digits; exact between equals for unit = log(2). */
ALWAYS_INLINE V64 quick_sum_of_powers(V64 x, V64 y, double unit) {
    /* Of infinite operands the gap is NaN, but finite_or_larger does not look at it. */
    const V64 larger = either((M64)(x > y), x, y), gap = unit * f64_magnitude(x - y);
    const V64 rest = quick_log_of_1_and(quick_exp(-bounded(gap, 150))) * (1 / unit);
    const V64 even = splat64(0x1.62e42fefa39efp-1 / unit);
    return finite_or_larger(larger + either((M64)(gap == 0), even, rest), larger, x, y);
}

/* log(exp(x) + exp(y)), and below it the same of powers of 2. */
ALWAYS_INLINE V64 quick_logaddexp(V64 x, V64 y) {
    return quick_sum_of_powers(x, y, 1);
}

ALWAYS_INLINE V64 quick_logaddexp2(V64 x, V64 y) {
    return quick_sum_of_powers(x, y, 0x1.62e42fefa39efp-1);
}

/* Through doubles. */
ALWAYS_INLINE V32 f32_logaddexp(V32 x, V32 y) {
    return f32_through2(x, y, quick_logaddexp);
}

ALWAYS_INLINE V32 f32_logaddexp2(V32 x, V32 y) {
    return f32_through2(x, y, quick_logaddexp2);
}

/* ---- log_cosh ----------------------------------------------------------------------------------------------- */

/* (log(cosh(x)) - x^2/2) / x^4 in x^2, for |x| <= 1/4, times x^2 the rest is below 2^-59 */
static const double LOG_COSH[] = {-0x1.60f7367f0819fp-14, 0x1.0c70181419890p-12, -0x1.833a542aa94abp-11,
                                  0x1.1ea5cf0840658p-9,   -0x1.ba1ba1b405436p-8, 0x1.6c16c16c153c5p-6,
                                  -0x1.5555555555554p-4};

/* log(cosh(x - y)) = size - log(2) + log(1 + exp(-2 size)) for the size of the difference, which is kept exactly. */
ALWAYS_INLINE V64 f64_log_cosh(V64 x, V64 y) {
    const V64 zero = {0};
    const sum64 gap = any_sum(x, -y), log_2 = {zero + 0x1.62e42fefa39efp-1, zero + 0x1.abc9e3b39803fp-56};
    const M64 less = (M64)(gap.hi < 0);
    sum64 size = {f64_magnitude(gap.hi), either(less, -gap.lo, gap.lo)};
    /* Of an infinite difference the second part is NaN. */
    size.lo = either((M64)(size.hi <= f64_LARGEST), size.lo, zero);
    /* The series up to 1/4, for which the square is formed of what is at most 1. */
    const sum64 near = {bounded(size.hi, 1), either((M64)(size.hi < 1), size.lo, zero)};
    const sum64 square = product_of_sums(near, near);
    const V64 small = 0.5 * square.hi + madd(square.hi * square.hi, POWERS(square.hi, LOG_COSH), 0.5 * square.lo);
    const sum64 rest = minus(log_of_1_and_exp((sum64){2 * size.hi, 2 * size.lo}), log_2);
    const sum64 sum = any_sum(size.hi, rest.hi);
    /* Beyond 40 exp(-2 size) is nothing beside log(2). */
    const V64 middle = sum.hi + (sum.lo + (rest.lo + size.lo)), far = size.hi + (size.lo - log_2.hi);
    return either((M64)(size.hi < 0.25), small, either((M64)(size.hi > 40), far, middle));
}

/* The same series and the same sum, without second parts. */
ALWAYS_INLINE V64 quick_log_cosh(V64 x, V64 y) {
    const V64 size = f64_magnitude(x - y), square = bounded(size, 1) * bounded(size, 1);
    const V64 small = square * madd(square, POWERS(square, LOG_COSH), splat64(0.5));
    /* exp(-150) is nothing for a float. */
    const V64 rest = quick_log_of_1_and(quick_exp(-2 * bounded(size, 75))) - 0x1.62e42fefa39efp-1;
    return either((M64)(size < 0.25), small, size + rest);
}

ALWAYS_INLINE V32 f32_log_cosh(V32 x, V32 y) {
    return f32_through2(x, y, quick_log_cosh);
}

#endif
