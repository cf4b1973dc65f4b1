/* Elementary functions of one complex number: those of C's complex.h, with its branch cuts and special values, or made
 * of real functions in long double where C has none; quotients that neither overflow nor underflow where the result
 * does not; powers. What vectors (simd/plane.h) leave to it, and what has no vector form. */
#include "lib/kernels/special/complex.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#undef I

/* Through memory, which costs nothing: a complex number of C has the layout of two reals. */
static double _Complex native(lam_c128 x) {
    double _Complex z;
    memcpy(&z, &x, sizeof z);
    return z;
}

static lam_c128 parts(double _Complex z) {
    lam_c128 x;
    memcpy(&x, &z, sizeof x);
    return x;
}

static lam_c128 scaled(lam_c128 x, double by) {
    return (lam_c128){x.re * by, x.im * by};
}

/* One line per operation. */
/* clang-format off */
#define NATIVE(op) \
    lam_c128 lam__complex_##op(lam_c128 x) { return parts(c##op(native(x))); }
NATIVE(sqrt)
NATIVE(exp)
NATIVE(log)
NATIVE(sin)
NATIVE(cos)
NATIVE(tan)
NATIVE(asin)
NATIVE(acos)
NATIVE(atan)
NATIVE(sinh)
NATIVE(cosh)
NATIVE(tanh)
NATIVE(asinh)
NATIVE(acosh)
NATIVE(atanh)
#undef NATIVE
lam_c128 lam__complex_log2(lam_c128 x) { return scaled(lam__complex_log(x), 1.44269504088896340736); }
lam_c128 lam__complex_log10(lam_c128 x) { return scaled(lam__complex_log(x), 0.43429448190325182765); }
/* clang-format on */

/* ---- division --------------------------------------------------------------------------------------------------- */

static double larger(lam_c128 x) {
    return fmax(fabs(x.re), fabs(x.im));
}

static lam_c128 shifted(lam_c128 x, int by) {
    return (lam_c128){ldexp(x.re, by), ldexp(x.im, by)};
}

/* Whether squares of y and products with it are far from both ends of the range. */
static bool is_moderate(double size) {
    return size > 0x1p-480 && size < 0x1p480;
}

/* A real or imaginary divisor is exact; otherwise both operands are brought near 1 by powers of 2 if they are not
 * moderate. Infinities and NaN divide as the formula has it. */
lam_c128 lam__complex_div(lam_c128 x, lam_c128 y) {
    if (y.im == 0) return (lam_c128){x.re / y.re, x.im / y.re};
    if (y.re == 0) return (lam_c128){x.im / y.im, -x.re / y.im};
    double dividend = larger(x), divisor = larger(y);
    if ((is_moderate(dividend) && is_moderate(divisor)) || dividend == 0 || !isfinite(dividend))
        return lam__complex_quotient(x, y);
    if (!isfinite(divisor))
        return isnan(divisor) || isnan(y.re) || isnan(y.im) ? lam__complex_quotient(x, y) : (lam_c128){0, 0};
    int up = 0, down = 0;
    frexp(dividend, &up);
    frexp(divisor, &down);
    return shifted(lam__complex_quotient(shifted(x, -up), shifted(y, -down)), up - down);
}

/* With a real dividend of 1: a real or imaginary x has an exact reciprocal but for one rounding. */
lam_c128 lam__complex_reciprocal(lam_c128 x) {
    return lam__complex_div((lam_c128){1, 0}, x);
}

/* The branch is that of the root, whose real part is not negative. */
lam_c128 lam__complex_rsqrt(lam_c128 x) {
    return lam__complex_reciprocal(lam__complex_sqrt(x));
}

/* ---- what C lacks ----------------------------------------------------------------------------------------------- */

/* log(2) in two parts: 64 binary digits, and the next ones. */
static const long double LOG2 = 0xb.17217f7d1cf79acp-4L, LOG2_REST = -0xd.871319ff0342543p-70L;

static lam_c128 product(lam_c128 x, lam_c128 y) {
    return (lam_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* (exp(x) - 1) cos(y) + (cos(y) - 1) + i exp(x) sin(y) The second difference is -2 sin(y/2)^2, so small arguments keep
 * their digits; large ones are those of exp, which knows where the product is a number though exp(x) is none. */
lam_c128 lam__complex_expm1(lam_c128 x) {
    if (x.im == 0) return (lam_c128){expm1(x.re), x.im};
    if (!isfinite(x.im)) return (lam_c128){x.im - x.im, x.im - x.im};
    if (x.re > 700) return lam__complex_exp(x);
    double half = sin(0.5 * x.im);
    return (lam_c128){expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im)};
}

/* The angle y log(2) is formed in long double as a sum of two, since it is reduced by multiples of the turn, which
 * leave nothing of its last digits; the size too, since it may leave the range where the product does not. */
lam_c128 lam__complex_exp2(lam_c128 x) {
    if (x.im == 0) return (lam_c128){exp2(x.re), x.im};
    if (!isfinite(x.im)) return lam__complex_exp(x);
    const long double size = exp2l(x.re), y = x.im, angle = y * LOG2, rest = fmal(y, LOG2, -angle) + y * LOG2_REST;
    const long double c = cosl(angle), s = sinl(angle), rest_c = cosl(rest), rest_s = sinl(rest);
    return (lam_c128){(double)(size * (c * rest_c - s * rest_s)), (double)(size * (s * rest_c + c * rest_s))};
}

/* |1 + x|^2 = 1 + (re (2 + re) + im^2); where that is not near 1 nothing is lost in 1 + re, of which next to -1 the sum
 * would leave nothing. */
lam_c128 lam__complex_log1p(lam_c128 x) {
    if (!(larger(x) < 8)) return lam__complex_log((lam_c128){1 + x.re, x.im});
    const long double re = x.re, im = x.im, more = re * (2 + re) + im * im;
    const long double size = fabsl(more) < 0.5L ? 0.5L * log1pl(more) : logl(hypotl(1 + re, im));
    return (lam_c128){(double)size, atan2(x.im, 1 + x.re)};
}

/* With e = exp(x) of the negative side it is 1 / (1 + e) or e / (1 + e), where 1 + e, which is 0 at odd multiples of
 * i pi, is 2 cos(y/2)^2 + (exp(re) - 1) cos(y) + i exp(re) sin(y): next to those both terms have one sign. */
lam_c128 lam__complex_logistic(lam_c128 x) {
    const bool negative = x.re < 0;
    const lam_c128 z = negative ? x : (lam_c128){-x.re, -x.im}, e = lam__complex_exp(z);
    const double c = cos(0.5 * z.im);
    const lam_c128 sum = {isfinite(z.im) ? 2 * c * c + expm1(z.re) * cos(z.im) : 1 + e.re, e.im};
    return lam__complex_div(negative ? e : (lam_c128){1, 0}, sum);
}

static lam_c128 square_of(lam_c128 x) {
    return product(x, x);
}

/* 1 / cosh(x)^2, which does not cancel where tanh is near 1. */
lam_c128 lam__complex_tanh_slope(lam_c128 x) {
    return square_of(lam__complex_reciprocal(lam__complex_cosh(x)));
}

/* 1 / (2 cosh(x / 2))^2. */
lam_c128 lam__complex_logistic_slope(lam_c128 x) {
    return square_of(scaled(lam__complex_reciprocal(lam__complex_cosh(scaled(x, 0.5))), 0.5));
}

/* By squares; 1 for the exponent 0, whatever x is. */
static lam_c128 power(lam_c128 x, uint64_t k) {
    lam_c128 result = {1, 0};
    for (; k; k >>= 1, x = product(x, x))
        if (k & 1) result = product(result, x);
    return result;
}

/* One over the power; where that leaves the range, the power of one over x. */
lam_c128 lam__complex_integer_pow(lam_c128 x, int64_t exponent) {
    if (exponent >= 0) return power(x, (uint64_t)exponent);
    const uint64_t k = 0 - (uint64_t)exponent;
    const lam_c128 below = power(x, k);
    const bool inside = larger(below) > 0x1p-1000 && larger(below) < 0x1p1000;
    return inside ? lam__complex_reciprocal(below) : power(lam__complex_reciprocal(x), k);
}

/* x y / z, where the three are brought near 1 by powers of 2 if the product leaves the range. The exponents are put
 * back in one step at the end, where the result alone may leave the range. */
lam_c128 lam__complex_mul_div(lam_c128 x, lam_c128 y, lam_c128 z) {
    const lam_c128 above = product(x, y);
    if (is_moderate(larger(above)) || !isfinite(larger(x)) || !isfinite(larger(y))) return lam__complex_div(above, z);
    int a = 0, b = 0, c = 0;
    frexp(larger(x), &a);
    frexp(larger(y), &b);
    if (isfinite(larger(z))) frexp(larger(z), &c);
    return shifted(lam__complex_div(product(shifted(x, -a), shifted(y, -b)), shifted(z, -c)), a + b - c);
}

/* 0 to the power of 0 is 1, of anything with a positive real part 0; the exponent of the result is the product y log x,
 * whose error long double keeps small. Small whole powers are products. */
lam_c128 lam__complex_pow(lam_c128 x, lam_c128 y) {
    enum { PRODUCTS = 64 };
    if (y.im == 0 && y.re == trunc(y.re) && fabs(y.re) <= PRODUCTS) return lam__complex_integer_pow(x, (int64_t)y.re);
    if (x.re == 0 && x.im == 0) return y.re > 0 ? (lam_c128){0, 0} : (lam_c128){(double)NAN, (double)NAN};
    long double size = logl(hypotl(x.re, x.im)), angle = atan2l(x.im, x.re);
    long double re = y.re * size - y.im * angle, im = y.re * angle + y.im * size, grown = expl(re);
    return (lam_c128){(double)(grown * cosl(im)), (double)(grown * sinl(im))};
}
