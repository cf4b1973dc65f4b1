/* One instruction set's loops on complex numbers, compiled once per set. A complex number is two neighbouring reals.
 * Sums and products are the textbook formulas, as in other array libraries; division neither overflows nor
 * underflows where the quotient does not; elementary functions are those of C's complex.h, with its branch cuts and
 * special values, or made of real functions in long double where C has none. */
#include "lib/kernels/simd/simd.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#undef I

#include "lib/kernels/simd/vector.h"

#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

typedef struct c128 {
    double re, im;
} c128;

typedef struct c64 {
    float re, im;
} c64;

/* ---- C's own functions ------------------------------------------------------------------------------------------ */

/* Through memory, which costs nothing: a complex number of C has the layout of two reals. */
ALWAYS_INLINE double _Complex native(c128 x) {
    double _Complex z;
    memcpy(&z, &x, sizeof z);
    return z;
}

ALWAYS_INLINE c128 parts(double _Complex z) {
    c128 x;
    memcpy(&x, &z, sizeof x);
    return x;
}

ALWAYS_INLINE c128 scaled(c128 x, double by) {
    return (c128){x.re * by, x.im * by};
}

/* One line per operation. */
/* clang-format off */
#define NATIVE(op) \
    static c128 wide_##op(c128 x) { return parts(c##op(native(x))); }
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
static c128 wide_log2(c128 x) { return scaled(wide_log(x), 1.44269504088896340736); }
static c128 wide_log10(c128 x) { return scaled(wide_log(x), 0.43429448190325182765); }
/* clang-format on */

/* ---- division --------------------------------------------------------------------------------------------------- */

static double larger(c128 x) {
    return fmax(fabs(x.re), fabs(x.im));
}

static c128 shifted(c128 x, int by) {
    return (c128){ldexp(x.re, by), ldexp(x.im, by)};
}

/* The textbook formula, for operands whose squares are in range. */
ALWAYS_INLINE c128 quotient(c128 x, c128 y) {
    double size = y.re * y.re + y.im * y.im;
    return (c128){(x.re * y.re + x.im * y.im) / size, (x.im * y.re - x.re * y.im) / size};
}

/* Whether squares of y and products with it are far from both ends of the range. */
static bool is_moderate(double size) {
    return size > 0x1p-480 && size < 0x1p480;
}

/* A real or imaginary divisor is exact; otherwise both operands are brought near 1 by powers of 2 if they are not
 * moderate. Infinities and NaN divide as the formula has it. */
static c128 wide_div(c128 x, c128 y) {
    if (y.im == 0) return (c128){x.re / y.re, x.im / y.re};
    if (y.re == 0) return (c128){x.im / y.im, -x.re / y.im};
    double dividend = larger(x), divisor = larger(y);
    if ((is_moderate(dividend) && is_moderate(divisor)) || dividend == 0 || !isfinite(dividend)) return quotient(x, y);
    if (!isfinite(divisor)) return isnan(divisor) || isnan(y.re) || isnan(y.im) ? quotient(x, y) : (c128){0, 0};
    int up = 0, down = 0;
    frexp(dividend, &up);
    frexp(divisor, &down);
    return shifted(quotient(shifted(x, -up), shifted(y, -down)), up - down);
}

ALWAYS_INLINE bool is_square_moderate(double square) {
    return (square > 0x1p-959) & (square < 0x1p959);
}

/* Whether the formula does it, as wide_div says, seen without branches. */
ALWAYS_INLINE bool is_plain(c128 x, c128 y) {
    const bool none = (x.re == 0) & (x.im == 0), both = (y.re != 0) & (y.im != 0);
    const bool moderate = is_square_moderate(x.re * x.re + x.im * x.im);
    return (moderate | none) & both & is_square_moderate(y.re * y.re + y.im * y.im);
}

/* With a real dividend of 1: a real or imaginary x has an exact reciprocal but for one rounding. */
static c128 wide_reciprocal(c128 x) {
    return wide_div((c128){1, 0}, x);
}

/* The branch is that of the root, whose real part is not negative. */
static c128 wide_rsqrt(c128 x) {
    return wide_reciprocal(wide_sqrt(x));
}

/* ---- what C lacks ----------------------------------------------------------------------------------------------- */

/* log(2) in two parts: 64 binary digits, and the next ones. */
static const long double LOG2 = 0xb.17217f7d1cf79acp-4L, LOG2_REST = -0xd.871319ff0342543p-70L;

static c128 product(c128 x, c128 y) {
    return (c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* (exp(x) - 1) cos(y) + (cos(y) - 1) + i exp(x) sin(y) The second difference is -2 sin(y/2)^2, so small arguments keep
 * their digits; large ones are those of exp, which knows where the product is a number though exp(x) is none. */
static c128 wide_expm1(c128 x) {
    if (x.im == 0) return (c128){expm1(x.re), x.im};
    if (!isfinite(x.im)) return (c128){x.im - x.im, x.im - x.im};
    if (x.re > 700) return wide_exp(x);
    double half = sin(0.5 * x.im);
    return (c128){expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im)};
}

/* The angle y log(2) is formed in long double as a sum of two, since it is reduced by multiples of the turn, which
 * leave nothing of its last digits; the size too, since it may leave the range where the product does not. */
static c128 wide_exp2(c128 x) {
    if (x.im == 0) return (c128){exp2(x.re), x.im};
    if (!isfinite(x.im)) return wide_exp(x);
    const long double size = exp2l(x.re), y = x.im, angle = y * LOG2, rest = fmal(y, LOG2, -angle) + y * LOG2_REST;
    const long double c = cosl(angle), s = sinl(angle), rest_c = cosl(rest), rest_s = sinl(rest);
    return (c128){(double)(size * (c * rest_c - s * rest_s)), (double)(size * (s * rest_c + c * rest_s))};
}

/* |1 + x|^2 = 1 + (re (2 + re) + im^2); where that is not near 1 nothing is lost in 1 + re, of which next to -1 the sum
 * would leave nothing. */
static c128 wide_log1p(c128 x) {
    if (!(larger(x) < 8)) return wide_log((c128){1 + x.re, x.im});
    const long double re = x.re, im = x.im, more = re * (2 + re) + im * im;
    const long double size = fabsl(more) < 0.5L ? 0.5L * log1pl(more) : logl(hypotl(1 + re, im));
    return (c128){(double)size, atan2(x.im, 1 + x.re)};
}

/* With e = exp(x) of the negative side it is 1 / (1 + e) or e / (1 + e), where 1 + e, which is 0 at odd multiples of
 * i pi, is 2 cos(y/2)^2 + (exp(re) - 1) cos(y) + i exp(re) sin(y): next to those both terms have one sign. */
static c128 wide_logistic(c128 x) {
    const bool negative = x.re < 0;
    const c128 z = negative ? x : (c128){-x.re, -x.im}, e = wide_exp(z);
    const double c = cos(0.5 * z.im);
    const c128 sum = {isfinite(z.im) ? 2 * c * c + expm1(z.re) * cos(z.im) : 1 + e.re, e.im};
    return wide_div(negative ? e : (c128){1, 0}, sum);
}

static c128 square_of(c128 x) {
    return product(x, x);
}

/* 1 / cosh(x)^2, which does not cancel where tanh is near 1. */
static c128 wide_tanh_slope(c128 x) {
    return square_of(wide_reciprocal(wide_cosh(x)));
}

/* 1 / (2 cosh(x / 2))^2. */
static c128 wide_logistic_slope(c128 x) {
    return square_of(scaled(wide_reciprocal(wide_cosh(scaled(x, 0.5))), 0.5));
}

/* Next to 1/2 the logarithms would cancel. */
static c128 wide_logit(c128 x) {
    const c128 y = {x.re - 0.5, x.im};
    if (larger(y) < 0.25) return scaled(wide_atanh(scaled(y, 2)), 2);
    const c128 a = wide_log(x), b = wide_log1p((c128){-x.re, -x.im});
    return (c128){a.re - b.re, a.im - b.im};
}

/* By squares; 1 for the exponent 0, whatever x is. */
static c128 power(c128 x, uint64_t k) {
    c128 result = {1, 0};
    for (; k; k >>= 1, x = product(x, x))
        if (k & 1) result = product(result, x);
    return result;
}

/* One over the power; where that leaves the range, the power of one over x. */
static c128 wide_integer_pow(c128 x, int64_t exponent) {
    if (exponent >= 0) return power(x, (uint64_t)exponent);
    const uint64_t k = 0 - (uint64_t)exponent;
    const c128 below = power(x, k);
    const bool inside = larger(below) > 0x1p-1000 && larger(below) < 0x1p1000;
    return inside ? wide_reciprocal(below) : power(wide_reciprocal(x), k);
}

/* x y / z, where the three are brought near 1 by powers of 2 if the product leaves the range. The exponents are put
 * back in one step at the end, where the result alone may leave the range. */
static c128 wide_mul_div(c128 x, c128 y, c128 z) {
    const c128 above = product(x, y);
    if (is_moderate(larger(above)) || !isfinite(larger(x)) || !isfinite(larger(y))) return wide_div(above, z);
    int a = 0, b = 0, c = 0;
    frexp(larger(x), &a);
    frexp(larger(y), &b);
    if (isfinite(larger(z))) frexp(larger(z), &c);
    return shifted(wide_div(product(shifted(x, -a), shifted(y, -b)), shifted(z, -c)), a + b - c);
}

/* 0 to the power of 0 is 1, of anything with a positive real part 0; the exponent of the result is the product y log x,
 * whose error long double keeps small. Small whole powers are products. */
static c128 wide_pow(c128 x, c128 y) {
    enum { PRODUCTS = 64 };
    if (y.im == 0 && y.re == trunc(y.re) && fabs(y.re) <= PRODUCTS) return wide_integer_pow(x, (int64_t)y.re);
    if (x.re == 0 && x.im == 0) return y.re > 0 ? (c128){0, 0} : (c128){(double)NAN, (double)NAN};
    long double size = logl(hypotl(x.re, x.im)), angle = atan2l(x.im, x.re);
    long double re = y.re * size - y.im * angle, im = y.re * angle + y.im * size, grown = expl(re);
    return (c128){(double)(grown * cosl(im)), (double)(grown * sinl(im))};
}

/* ---- loops ------------------------------------------------------------------------------------------------------ */

/* clang-format off */
ALWAYS_INLINE c128 c128_widen(c128 x) { return x; }
ALWAYS_INLINE c128 c128_narrow(c128 x) { return x; }
ALWAYS_INLINE c128 c64_widen(c64 x) { return (c128){(double)x.re, (double)x.im}; }
ALWAYS_INLINE c64 c64_narrow(c128 x) { return (c64){(float)x.re, (float)x.im}; }
/* clang-format on */

#define P       double
#define T       c128
#define NAME(x) c128_##x
#include "lib/kernels/simd/loops_complex.h"
#undef P
#undef T
#undef NAME

#define P       float
#define T       c64
#define NAME(x) c64_##x
#include "lib/kernels/simd/loops_complex.h"
#undef P
#undef T
#undef NAME

#define ROW(name) [LAM__LOOP_##name] = {c128_loop_##name, c64_loop_##name}

static lam__loop *const loops[LAM__LOOP_COUNT][2] = {
    ROW(neg),
    ROW(conj),
    ROW(square),
    ROW(add),
    ROW(sub),
    ROW(mul),
    ROW(div),
    ROW(pow),
    ROW(eq),
    ROW(ne),
    ROW(is_nan),
    ROW(exp),
    ROW(is_finite),
    ROW(reciprocal),
    ROW(integer_pow),
    ROW(where),
    ROW(sqrt),
    ROW(rsqrt),
    ROW(exp2),
    ROW(expm1),
    ROW(log),
    ROW(log2),
    ROW(log10),
    ROW(log1p),
    ROW(sin),
    ROW(cos),
    ROW(tan),
    ROW(asin),
    ROW(acos),
    ROW(atan),
    ROW(sinh),
    ROW(cosh),
    ROW(asinh),
    ROW(acosh),
    ROW(atanh),
    ROW(tanh),
    ROW(logistic),
    ROW(logit),
    ROW(mul_div),
    ROW(tanh_slope),
    ROW(logistic_slope),
};

/* NULL for operations that have no meaning for complex numbers, such as comparisons of size. */
lam__loop *LAM__ISA_NAME(lam__complex_find_)(lam__loop_id id, lam_dtype dtype) {
    return loops[id][dtype == LAM_C64];
}
