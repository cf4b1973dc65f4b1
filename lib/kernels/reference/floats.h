/* Reference operations on floats, in double, or in long double where the result would lose digits: reference.c, of
 * which this is a part, rounds them to the dtype. */
#ifndef LAM_KERNELS_REFERENCE_FLOATS_H
#define LAM_KERNELS_REFERENCE_FLOATS_H

#include <math.h>
#include <string.h>

#include "lib/kernels/kernels.h"
#include "lib/kernels/special/inverse.h"
#include "lib/kernels/special/special.h"

/* Operands as read from memory, widened, and what is left to know: k is the parameter (the exponent of integer_pow), or
 * the first of them. Operands that an operation does not have are 0. */
typedef struct floats {
    double x, y, z;
    int64_t k;
    const void *params;
    bool single; /* they are f32 */
} floats;

/* One line per operation. */
/* clang-format off */
static double f_neg(floats a) { return -a.x; }
static double f_abs(floats a) { return fabs(a.x); }
static double f_sign(floats a) { return a.x > 0 ? 1 : a.x < 0 ? -1 : a.x; }
static double f_square(floats a) { return a.x * a.x; }
static double f_integer_pow(floats a) { return pow(a.x, (double)a.k); }
static double f_floor(floats a) { return floor(a.x); }
static double f_ceil(floats a) { return ceil(a.x); }
static double f_round(floats a) { return nearbyint(a.x); }
static double f_trunc(floats a) { return trunc(a.x); }
static double f_sqrt(floats a) { return sqrt(a.x); }
static double f_rsqrt(floats a) { return 1 / sqrt(a.x); }
static double f_reciprocal(floats a) { return 1 / a.x; }
static double f_is_finite(floats a) { return isfinite(a.x) != 0; }
static double f_is_nan(floats a) { return isnan(a.x) != 0; }
static double f_add(floats a) { return a.x + a.y; }
static double f_sub(floats a) { return a.x - a.y; }
static double f_mul(floats a) { return a.x * a.y; }
static double f_div(floats a) { return a.x / a.y; }
static double f_rem(floats a) { return fmod(a.x, a.y); }
static double f_copysign(floats a) { return copysign(a.x, a.y); }
/* Of f32 the neighbour and the single rounding are those of the narrow type, which double would hide. */
static double f_nextafter(floats a) { return a.single ? nextafterf((float)a.x, (float)a.y) : nextafter(a.x, a.y); }
static double f_eq(floats a) { return a.x == a.y; }
static double f_ne(floats a) { return a.x != a.y; }
static double f_lt(floats a) { return a.x < a.y; }
static double f_le(floats a) { return a.x <= a.y; }
static double f_gt(floats a) { return a.x > a.y; }
static double f_ge(floats a) { return a.x >= a.y; }
static double f_where(floats a) { return a.x != 0 ? a.y : a.z; }
static double f_fma(floats a) { return a.single ? fmaf((float)a.x, (float)a.y, (float)a.z) : fma(a.x, a.y, a.z); }
static double f_fnma(floats a) { a.x = -a.x; return f_fma(a); }
static double f_mul_div(floats a) { return (double)((long double)a.x * a.y / a.z); }
/* clang-format on */

/* Products on the way that leave the range of f32 stay in that of double. */
static double f_times_power(floats a) {
    lam__power power = {1, 1};
    if (a.params) memcpy(&power, a.params, sizeof power);
    return a.x * (power.factor * pow(a.y, (double)power.exponent));
}

/* The second operand, times the slope where the first is at most 0; a slope of 0 gives 0 also of what is not finite. */
static double f_ramp(floats a) {
    double slope = 0;
    if (a.params) memcpy(&slope, a.params, sizeof slope);
    return a.x <= 0 ? slope == 0 ? 0 : slope * a.y : a.y;
}

static double f_nan_to_num(floats a) {
    lam__replacements r = {0, 0, 0};
    if (a.params) memcpy(&r, a.params, sizeof r);
    return isnan(a.x) ? r.nan : isinf(a.x) ? a.x > 0 ? r.high : r.low : a.x;
}

/* NaN wins; of two zeros the positive one, whichever comes first. */
static double larger(double x, double y) {
    if (isnan(x) || isnan(y)) return NAN;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

/* The upper bound of a clamp wins where the two are crossed. */
/* clang-format off */
static double f_max(floats a) { return larger(a.x, a.y); }
static double f_min(floats a) { return -larger(-a.x, -a.y); }
static double f_clamp(floats a) { return -larger(-larger(a.x, a.y), -a.z); }

static double f_cbrt(floats a) { return cbrt(a.x); }
static double f_exp(floats a) { return exp(a.x); }
static double f_exp2(floats a) { return exp2(a.x); }
static double f_expm1(floats a) { return expm1(a.x); }
static double f_log(floats a) { return log(a.x); }
static double f_log2(floats a) { return log2(a.x); }
static double f_log10(floats a) { return log10(a.x); }
static double f_log1p(floats a) { return log1p(a.x); }
static double f_sin(floats a) { return sin(a.x); }
static double f_cos(floats a) { return cos(a.x); }
static double f_tan(floats a) { return tan(a.x); }
static double f_asin(floats a) { return asin(a.x); }
static double f_acos(floats a) { return acos(a.x); }
static double f_atan(floats a) { return atan(a.x); }
static double f_sinh(floats a) { return sinh(a.x); }
static double f_cosh(floats a) { return cosh(a.x); }
static double f_tanh(floats a) { return tanh(a.x); }
static double f_asinh(floats a) { return asinh(a.x); }
static double f_acosh(floats a) { return acosh(a.x); }
static double f_atanh(floats a) { return atanh(a.x); }
static double f_erf(floats a) { return erf(a.x); }
static double f_erfc(floats a) { return erfc(a.x); }
static double f_pow(floats a) { return pow(a.x, a.y); }
static double f_atan2(floats a) { return atan2(a.x, a.y); }
static double f_hypot(floats a) { return hypot(a.x, a.y); }
/* clang-format on */

/* exp of the negative side only, so nothing overflows and small results keep their digits. */
static double f_logistic(floats a) {
    double e = exp(-fabs(a.x));
    return (a.x < 0 ? e : 1) / (1 + e);
}

/* logistic(x) logistic(-x), which is even: one exponential that cannot overflow. */
static double f_logistic_slope(floats a) {
    double e = exp(-fabs(a.x));
    return e / ((1 + e) * (1 + e));
}

/* x / (1 + exp(-x)); far on the left the result is no number any more, and -inf by infinity would be NaN. */
static double f_silu(floats a) {
    return a.x < -800 ? -0.0 : (double)((long double)a.x / (1 + expl(-(long double)a.x)));
}

/* s (1 + x (1 - s)) for s = 1 / (1 + exp(-x)), with e = exp(-|x|) on either side. At infinities the product would be 0
 * times infinity. */
static double f_silu_slope(floats a) {
    const long double e = expl(-fabsl((long double)a.x)), d = 1 + e;
    if (isinf(a.x)) return a.x > 0;
    return (double)(a.x < 0 ? e * (d + a.x) / (d * d) : (d + a.x * e) / (d * d));
}

/* -x log x, and its limit at 0; -inf outside of the domain. */
static double f_entr(floats a) {
    return a.x == 0 ? 0 : a.x < 0 ? -INFINITY : (double)(-(long double)a.x * logl(a.x));
}

/* By convention 0 where there is no slope, at 0 and below. */
static double f_entr_slope(floats a) {
    return a.x <= 0 ? 0 : (double)(-1 - logl(a.x));
}

/* x w, w = tanh(log(1 + exp(x))): by the side of 0. */
static double f_mish(floats a) {
    const long double x = a.x, e = expl(-fabsl(x)), left = e * (2 + e);
    if (isinf(a.x)) return a.x > 0 ? a.x : -0.0;
    return (double)(a.x < 0 ? x * (left / (2 + left)) : x * ((1 + 2 * e) / (1 + 2 * e * (1 + e))));
}

/* x times the normal distribution at x. By erfc, whose left tail keeps its digits; at -inf infinity would meet 0. */
static double f_gelu(floats a) {
    const long double root = 0.707106781186547524400844362104849039L;
    return isinf(a.x) ? (a.x > 0 ? a.x : -0.0) : (double)(a.x * (erfcl(-root * a.x) / 2));
}

/* Distribution and x times density. Farther out than 150 neither has anything left that is not 0 or 1. */
static double f_gelu_slope(floats a) {
    const long double root = 0.707106781186547524400844362104849039L, per = 0.398942280401432677939946059934381868L;
    if (fabs(a.x) > 150) return a.x > 0 ? 1 : -0.0;
    return (double)(erfcl(-root * a.x) / 2 + per * a.x * expl(-0.5L * a.x * a.x));
}

/* e = exp(-c) for c = |x| (a + b x^2), and *w what the slope of c times |x| is. The tanh of Hendrycks and Gimpel's
 * gelu is written as the logistic function of twice its argument, so a is 2 sqrt(2 / pi). */
static long double gelu_tanh_of(double x, long double *w) {
    const long double a = 1.595769121605730711759542L, b = a * 0.044715L, size = fabsl((long double)x);
    *w = size * (a + 3 * b * size * size);
    return expl(-size * (a + b * size * size));
}

/* x times the logistic function of c, by the exponential that cannot overflow. */
static double f_gelu_tanh(floats a) {
    long double w, e = gelu_tanh_of(a.x, &w);
    return isinf(a.x) ? (a.x > 0 ? a.x : -0.0) : (double)(a.x * (a.x < 0 ? e : 1) / (1 + e));
}

/* The logistic function of c and x times its slope, each side of 0 in a form that does not cancel. */
static double f_gelu_tanh_slope(floats a) {
    long double w;
    if (fabs(a.x) > 150) return a.x > 0 ? 1 : -0.0;
    const long double e = gelu_tanh_of(a.x, &w), d = 1 + e;
    return (double)(a.x < 0 ? e / d * (1 - w / d) : (1 + w * e / d) / d);
}

/* 1 - tanh(x)^2, without the difference. */
static double f_tanh_slope(floats a) {
    return 4 * f_logistic_slope((floats){.x = 2 * a.x});
}

/* log(1 + exp(x)), whose exponential would overflow on the right. */
static double f_softplus(floats a) {
    return (a.x > 0 ? a.x : 0) + log1p(exp(-fabs(a.x)));
}

/* log(1 - exp(-x)), by expm1 where exp(-x) is more than 1/2, so that neither difference cancels. */
static double f_log1mexp(floats a) {
    return (double)(a.x < 0.7 ? logl(0 - expm1l(-(long double)a.x)) : log1pl(-expl(-(long double)a.x)));
}

/* 1 / (exp(x) - 1) for x > 0, of which exp may be too large where the result is not. */
static double f_log1mexp_slope(floats a) {
    if (a.x == 0) return INFINITY;
    return a.x < 0 ? NAN : (double)(expl(-(long double)a.x) / -expm1l(-(long double)a.x));
}

/* log(x / (1 - x)): next to 1/2, where it vanishes, as the inverse hyperbolic tangent. */
static double f_logit(floats a) {
    const long double x = a.x;
    return (double)(fabsl(x - 0.5L) < 0.25L ? 2 * atanhl(2 * x - 1) : logl(x) - log1pl(-x));
}

/* y times relu6(x + 3) / 6; NaN goes through both comparisons. */
static double f_hard_gate(floats a) {
    const double up = a.x + 3, open = up < 0 ? 0 : up;
    return a.y * ((open > 6 ? 6 : open) / 6);
}

/* x times relu6(x + 3) / 6. */
static double f_hard_silu(floats a) {
    return f_hard_gate((floats){.x = a.x, .y = a.x});
}

/* The slope of the gate and of its operand, 0 and 1 beyond the edges. */
static double f_hard_silu_slope(floats a) {
    return a.x <= -3 ? 0 : a.x >= 3 ? 1 : (a.x + a.x + 3) / 6;
}

/* 0 takes part in nothing, also where the second operand is infinite or NaN. */
static double f_weigh(floats a) {
    return a.x == 0 ? 0 : a.x * a.y;
}

/* x / (1 + |x|), which of infinity would be NaN. */
static double f_softsign(floats a) {
    return isinf(a.x) ? copysign(1, a.x) : a.x / (1 + fabs(a.x));
}

/* (|x| + sqrt(x^2 + b))/2, on the left b/4 over that; by hypot, whose square stays in range. */
static double f_squareplus(floats a) {
    if (!(a.y >= 0 && a.y < INFINITY)) return a.y > 0 ? a.x + a.y : NAN;
    const long double p = (fabsl(a.x) + hypotl(a.x, sqrtl(a.y))) / 2;
    return (double)(a.x < 0 ? (long double)a.y / 4 / p : p);
}

/* Its derivative by x, which at the kink for b = 0 is 0. */
static double f_squareplus_slope(floats a) {
    if (!(a.y >= 0 && a.y < INFINITY)) return a.y > 0 ? a.x - a.x + 0.5 : NAN;
    const long double s = hypotl(a.x, sqrtl(a.y)), share = (long double)a.y / (fabsl(a.x) + s) / 2 / s;
    if (s == 0 || isinf(a.x)) return a.x > 0;
    return (double)(a.x < 0 ? share : 1 - share);
}

/* Of the difference cut off at delta, and what is left of it. */
static double f_huber_loss(floats a) {
    double delta = 0;
    if (a.params) memcpy(&delta, a.params, sizeof delta);
    const double d = a.x - a.y, c = -larger(-larger(d, -delta), -delta);
    return c * (d - c) + 0.5 * (c * c);
}

/* Infinite operands of one sign, and NaN, are the sum already. */
static long double larger_and(double x, double y, long double rest) {
    if (isnan(x) || isnan(y) || x == y) return isfinite(x) && isfinite(y) ? x + rest : (long double)(x + y);
    return larger(x, y) + rest;
}

/* Both in long double, since where the larger operand and the rest nearly cancel f64 would have no digits left to
 * compare with. */
static double f_logaddexp(floats a) {
    return (double)larger_and(a.x, a.y, log1pl(expl(-fabsl((long double)a.x - a.y))));
}

static double f_logaddexp2(floats a) {
    const long double unit = 0.693147180559945309417232121458176568L;
    return (double)larger_and(a.x, a.y, log1pl(exp2l(-fabsl((long double)a.x - a.y))) / unit);
}

/* The logistic function of x - y, which is 0 between equal infinities. */
static double share(double x, double y, long double unit) {
    const long double lead = x == y ? 0 : unit * ((long double)x - y), e = expl(-fabsl(lead));
    return (double)((lead < 0 ? e : 1) / (1 + e));
}

/* By x: how much of the sum is exp(x). That by y is the rest of 1. */
static double f_logaddexp_slope(floats a) {
    return share(a.x, a.y, 1);
}

static double f_logaddexp2_slope(floats a) {
    return share(a.x, a.y, 0.693147180559945309417232121458176568L);
}

/* The difference in long double: rounded to double its error would be multiplied by the result. */
static double f_exp_gap(floats a) {
    return (double)expl((long double)a.x - a.y);
}

/* log(cosh(x - y)). Near 0 cosh - 1 is 2 sinh(d / 2)^2, far out cosh is exp(d) / 2 but for a small term. */
static double f_log_cosh(floats a) {
    const long double size = fabsl((long double)a.x - a.y), half = sinhl(size < 1 ? size / 2 : 0);
    const long double far = size - 0.693147180559945309417232121458176568L + log1pl(expl(-2 * size));
    return (double)(size < 1 ? log1pl(2 * half * half) : far);
}

/* Each is a function of kernels/special, for one number. */
/* clang-format off */
static double f_lgamma(floats a) { return lam__special_lgamma(a.x); }
static double f_mish_slope(floats a) { return lam__special_mish_slope(a.x, a.k); }
static double f_ndtr(floats a) { return lam__special_ndtr(a.x); }
static double f_ndtri_slope(floats a) { return lam__special_ndtri_slope(a.x); }
static double f_ndtri(floats a) { return lam__special_ndtri(a.x); }
static double f_erf_inv(floats a) { return lam__special_erf_inv(a.x); }
static double f_erfcx(floats a) { return lam__special_erfcx(a.x, a.k); }
static double f_log_ndtr(floats a) { return lam__special_log_ndtr(a.x); }
static double f_digamma(floats a) { return lam__special_digamma(a.x); }
static double f_polygamma(floats a) { return lam__special_polygamma(a.x, a.k); }
static double f_zeta(floats a) { return lam__special_zeta(a.x, a.y, a.k); }
static double f_bessel_i(floats a) { return lam__special_bessel_i(a.x, a.k); }
static double f_igamma(floats a) { return lam__special_igamma(a.x, a.y, a.k); }
static double f_igammac(floats a) { return lam__special_igammac(a.x, a.y); }
static double f_polygamma_gap(floats a) { return lam__special_polygamma_gap(a.x, a.y, a.k); }
static double f_betaln(floats a) { return lam__special_betaln(a.x, a.y); }
static double f_betainc(floats a) { return lam__special_betainc(a.x, a.y, a.z, a.k); }
static double f_betaincc(floats a) { return lam__special_betaincc(a.x, a.y, a.z); }
static double f_igamma_inv(floats a) { return lam__special_igamma_inv(a.x, a.y, a.k); }
static double f_betainc_inv(floats a) { return lam__special_betainc_inv(a.x, a.y, a.z, a.k); }
static double f_integrals(floats a) { return lam__special_integrals(a.x, a.k); }
static double f_gamma_quotient(floats a) { return lam__special_gamma_quotient(a.x, a.y, a.k); }
static double f_xlogy(floats a) { return lam__special_xlogy(a.x, a.y); }
static double f_xlog1py(floats a) { return lam__special_xlog1py(a.x, a.y); }
static double f_rel_entr_slope(floats a) { return lam__special_rel_entr_slope(a.x, a.y); }
static double f_rel_entr(floats a) { return lam__special_rel_entr(a.x, a.y); }
static double f_log_ratio(floats a) { return lam__special_log_ratio(a.x, a.y); }
static double f_pow_slope(floats a) { return lam__special_pow_slope(a.x, a.y, a.k); }
static double f_box_cox(floats a) { return lam__special_box_cox(a.x, a.y, a.k); }
static double f_atan2_slope(floats a) { return lam__special_atan2_slope(a.x, a.y, a.k); }
static double f_hypot_slope(floats a) { return lam__special_hypot_slope(a.x, a.y); }
/* clang-format on */

/* Rounded to a whole number and cut to what decides, which is far less than an int holds. */
static double f_ldexp(floats a) {
    return isnan(a.y) ? a.y : ldexp(a.x, (int)rint(fmin(fmax(a.y, -9999), 9999)));
}

/* As arithmetic: a whole number of units, which are the last digit's and no finer than that of the least normal number.
 * A format with a narrower exponent has neither subnormal numbers nor what is beyond its range. */
static double f_reduce_precision(floats a) {
    const int own = a.single ? 24 : 53, wide = a.single ? 8 : 11, digits = (int)(a.k & 255) + 1;
    const int bits = (int)(a.k >> 8 & 255), bias = bits < 1 ? 0 : (1 << ((bits < wide ? bits : wide) - 1)) - 1;
    const int least = a.single ? -125 : -1021;
    int exponent;
    if (a.x == 0 || !isfinite(a.x)) return a.x;
    frexp(a.x, &exponent);
    const int unit = (exponent < least ? least : exponent) - (digits < own ? digits : own);
    const double out = ldexp(rint(ldexp(a.x, -unit)), unit), size = fabs(out);
    if (bits >= wide) return out;
    return copysign(size >= ldexp(1, bias + 1) ? INFINITY : size < ldexp(1, 1 - bias) ? 0 : size, a.x);
}

#endif
