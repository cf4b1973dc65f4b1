/* Derivatives that are not made of their functions without a loss: those of pow, whose exponent y - n is kept exactly
 * and whose power may leave the range before the factor brings it back, and those of hypot and atan2, x over the
 * distance or its square, which are in range where these are not. Members are named by orders: pow_slope_nm is n times
 * by x, m times by y. */
#ifndef LAM_KERNELS_SIMD_SLOPES_H
#define LAM_KERNELS_SIMD_SLOPES_H

#include "lib/kernels/simd/distance.h"
#include "lib/kernels/simd/pow.h"

#include "lib/kernels/special/special.h"

/* ---- pow -------------------------------------------------------------------------------------------------------- */

/* The factor c in d^n/dx^n d^m/dy^m x^y = c x^(y - n), for m <= 2: by y that of x^y is log(x)^m, and each derivative by
 * x multiplies with y - j, of which that of order k by y has k times the one before. */
ALWAYS_INLINE sum64 factor_of_power(sum64 log, V64 y, int n, int m) {
    const V64 near = m ? limited(y, 0x1p400) : y; /* beyond the power decides, but where it is 1 and m = 0 */
    /* c[m] is the factor for m derivatives by y; all are carried along since each needs the one before. */
    sum64 c[3] = {{splat64(1), (V64){0}}, log, product_of_sums(log, log)};
    for (int j = 0; j < n; j++) {
        const sum64 by = any_sum(near, splat64(-j));
        c[2] = plus(product_of_sums(c[2], by), (sum64){2 * c[1].hi, 2 * c[1].lo});
        c[1] = plus(product_of_sums(c[1], by), c[0]);
        c[0] = product_of_sums(c[0], by);
    }
    return c[m];
}

/* c exp(e), which may be a number though exp(e) is none, or c has few digits. The exponent is bounded so that one more
 * factor decides between 0, infinity and the number. What a product lacks is no number where the product is none. */
ALWAYS_INLINE V64 times_exp(sum64 c, sum64 e) {
    const V64 zero = {0}, one = splat64(1);
    /* A small factor is brought up by 2^500, and the exponential allowed to be as much larger. */
    const M64 small = (M64)(f64_magnitude(c.hi) < 0x1p-500);
    const V64 hi = most_of(splat64(-1400), least_of(either(small, one * 1700, one * 1400), e.hi));
    const M64 near = (M64)(hi == e.hi);
    V64 k;
    const sum64 power = exp_of((sum64){hi, either(near, e.lo, zero)}, &k);
    /* What is moved here is moved back with the exponent of the result. */
    const V64 up = either(small, one * 0x1p500, one);
    const sum64 p = product_of_sums((sum64){c.hi * up, c.lo * up}, power);
    const V64 r = scaled(p.hi + either((M64)(p.lo == p.lo), p.lo, zero), k - either(small, one * 500, zero));
    return r * either(near, one, either((M64)(e.hi > 0), one * 0x1p1000, one * 0x1p-1000));
}

/* For m = 0 what x = 0 makes of c x^(y - n), and the sign of x of the power. */
ALWAYS_INLINE V64 signed_slope(V64 r, V64 c, V64 x, V64 y, int n) {
    const V64 zero = {0}, half = 0.5 * y;
    const M64 sign = (M64)x & (M64)(-zero), whole = (M64)(y == whole64(y)), odd = whole & (M64)(half != whole64(half));
    /* c is 0 where one of the factors y - j is: the power was a polynomial, and has ended. */
    const V64 above = either((M64)(c == 0) | (M64)(y > n), zero, either((M64)(y == n), c, c * INFINITY));
    r = either((M64)(x == 0), above, r);
    /* Each derivative by x turns the parity of the power. */
    r = (V64)((M64)r ^ (sign & (n & 1 ? whole & ~odd : odd)));
    return either((M64)(x < 0) & ~whole, zero + NAN, r);
}

/* Lanes `where` one by one. */
static __attribute__((noinline)) V64 patched_pow_slope(V64 r, V64 x, V64 y, M64 where, int64_t code) {
    for (int i = 0; i < LANES64; i++)
        if (where[i]) r[i] = lam__special_pow_slope(x[i], y[i], code);
    return r;
}

/* Above its n-th power x has no derivative at 0 that is not 0. Rare lanes, which the special function does: operands
 * that are not finite, and for m > 0 bases that are not positive. */
static __attribute__((noinline)) V64 pow_slope_of(V64 x, V64 y, int n, int m) {
    /* y - n as a sum: it may cancel, and is the exponent. */
    const sum64 log = log_of_parts(parts_of_size(x), (V64){0}), exponent = any_sum(bounded_exponent(y), splat64(-n));
    const sum64 c = factor_of_power(log, y, n, m);
    sum64 e = product_of(log, exponent.hi);
    e.lo = madd(log.hi, exponent.lo, e.lo);
    V64 r = times_exp(c, e);
    M64 rare = not_finite(x, y);
    if (m == 0) {
        r = signed_slope(r, c.hi, x, y, n);
    } else {
        /* 0 to a power above 0: no factor of log(0) changes that. */
        const M64 none = (M64)(x == 0) & (M64)(y > n);
        r = either(none, (V64){0}, r);
        rare |= ~none & ~(M64)(x > 0);
    }
    return any64(rare) ? patched_pow_slope(r, x, y, rare, LAM__SLOPE_CODE(n, m)) : r;
}

/* One line per member. */
/* clang-format off */
#define MEMBER(n, m) \
    ALWAYS_INLINE V64 f64_pow_slope_##n##m(V64 x, V64 y) { return pow_slope_of(x, y, n, m); } \
    ALWAYS_INLINE V32 f32_pow_slope_##n##m(V32 x, V32 y) { return f32_through2(x, y, f64_pow_slope_##n##m); }
MEMBER(1, 0)
MEMBER(0, 1)
MEMBER(2, 0)
MEMBER(1, 1)
MEMBER(0, 2)
#undef MEMBER
/* clang-format on */

/* ---- hypot, atan2 ------------------------------------------------------------------------------------------------ */

/* x / hypot(x, y), 0 at the origin, 1 or -1 where x alone is infinite. Of large operands half the distance is always a
 * number. */
ALWAYS_INLINE V64 f64_hypot_slope(V64 x, V64 y) {
    /* Both operands by one power of 2, which a quotient does not see. */
    const scaled_pair s = scaled_pair_of(x, y);
    const sum64 root = root_of(square_of_distance(&s));
    const V64 first = either(s.large, 0.5 * x, s.x) / either(s.large, root.hi * 0x1p599, root.hi);
    const M64 exact = (M64)(f64_magnitude(s.x) >= 0x1p-900); /* below there s.x may have lost digits */
    const V64 left = either(exact, remainder_of(s.x, first, root.hi), (V64){0}) - first * root.lo;
    const V64 unit = (V64)((M64)splat64(1) | ((M64)x & (M64)(-(V64){0})));
    const M64 alone = (M64)(f64_magnitude(x) == INFINITY) & (M64)(f64_magnitude(y) <= f64_LARGEST);
    const V64 r = either((M64)(s.most == INFINITY), x / s.most, first + left / root.hi);
    return either((M64)(s.most == 0), x, either(alone, unit, r));
}

/* x / (x^2 + y^2), 0 where one of them is infinite. The derivative of atan2(y, x) by y; NaN at the origin. */
ALWAYS_INLINE V64 f64_atan2_slope(V64 x, V64 y) {
    const scaled_pair s = scaled_pair_of(x, y);
    const sum64 square = square_of_distance(&s);
    const M64 small = (M64)(f64_magnitude(s.x) < 0x1p-900); /* whose remainder would be below all numbers */
    const V64 up = either(small, splat64(0x1p600), splat64(1)), down = either(small, splat64(0x1p-600), splat64(1));
    const V64 above = s.x * up, first = above / square.hi;
    const V64 left = remainder_of(above, first, square.hi) - first * square.lo;
    const V64 r = (first + left / square.hi) * (s.scale * down);
    const M64 far = (M64)(s.most == INFINITY) & (M64)(x == x) & (M64)(y == y);
    return either(far, (V64){0}, r);
}

/* The derivatives of that, (y - x) (y + x) and -2 x y by the square of x^2 + y^2, of operands of size 1. */
ALWAYS_INLINE V64 atan2_slope_by(V64 x, V64 y, bool by_y) {
    const scaled_pair s = scaled_pair_of(x, y);
    /* The larger operand is brought next to 1, since the square of x^2 + y^2 is a fourth power. */
    const V64 k = parts_of(s.most * s.scale).k;
    const scaled_pair unit = {.x = scaled(s.x, -k), .y = scaled(s.y, -k)};
    const sum64 square = square_of_distance(&unit);
    const sum64 part =
        by_y ? product(-2 * unit.x, unit.y) : product_of_sums(any_sum(unit.y, -unit.x), any_sum(unit.y, unit.x));
    const sum64 q = quotient(part, product_of_sums(square, square));
    const V64 r = scaled(q.hi + q.lo, -2 * k) * s.scale * s.scale;
    const M64 far = (M64)(s.most == INFINITY) & (M64)(x == x) & (M64)(y == y);
    /* 0/0 at the origin, where there is no derivative. */
    return either(far, (V64){0}, either((M64)(s.most == 0), s.most / s.most, r));
}

/* Second derivatives of atan2, one name for each. */
ALWAYS_INLINE V64 f64_atan2_slope_by_x(V64 x, V64 y) {
    return atan2_slope_by(x, y, false);
}

ALWAYS_INLINE V64 f64_atan2_slope_by_y(V64 x, V64 y) {
    return atan2_slope_by(x, y, true);
}

/* Through doubles, all of these. */
ALWAYS_INLINE V32 f32_hypot_slope(V32 x, V32 y) {
    return f32_through2(x, y, f64_hypot_slope);
}

ALWAYS_INLINE V32 f32_atan2_slope(V32 x, V32 y) {
    return f32_through2(x, y, f64_atan2_slope);
}

ALWAYS_INLINE V32 f32_atan2_slope_by_x(V32 x, V32 y) {
    return f32_through2(x, y, f64_atan2_slope_by_x);
}

ALWAYS_INLINE V32 f32_atan2_slope_by_y(V32 x, V32 y) {
    return f32_through2(x, y, f64_atan2_slope_by_y);
}

#endif
