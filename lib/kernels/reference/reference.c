/* Reference elementwise operations: every one written once for floats, in double, and once for integers, in 64 bits. A
 * float's result is the double one rounded, which for + - * / and sqrt is the correctly rounded float; an integer's is
 * the 64-bit one cut to its width, which is what wrapping means. Speed does not matter here. Each is the formula that
 * the vector loops have to give, written without regard to them: what they share with this file is the name of the
 * operation and nothing else. Rows are made from elementwise.def, so none lacks its reference. */
#include "lib/kernels/reference/reference.h"

#include <math.h>
#include <string.h>

#include "lib/kernels/reference/integers.h"
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

/* ---- floats --------------------------------------------------------------------------------------------- */

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

static double f_entr(floats a) {
    return a.x == 0 ? 0 : a.x < 0 ? -INFINITY : (double)(-(long double)a.x * logl(a.x));
}

static double f_entr_slope(floats a) {
    return a.x <= 0 ? 0 : (double)(-1 - logl(a.x));
}

/* x w, w = tanh(log(1 + exp(x))): by the side of 0. */
static double f_mish(floats a) {
    const long double x = a.x, e = expl(-fabsl(x)), left = e * (2 + e);
    if (isinf(a.x)) return a.x > 0 ? a.x : -0.0;
    return (double)(a.x < 0 ? x * (left / (2 + left)) : x * ((1 + 2 * e) / (1 + 2 * e * (1 + e))));
}

static double f_gelu(floats a) {
    const long double root = 0.707106781186547524400844362104849039L;
    return isinf(a.x) ? (a.x > 0 ? a.x : -0.0) : (double)(a.x * (erfcl(-root * a.x) / 2));
}

static double f_gelu_slope(floats a) {
    const long double root = 0.707106781186547524400844362104849039L, per = 0.398942280401432677939946059934381868L;
    if (fabs(a.x) > 150) return a.x > 0 ? 1 : -0.0;
    return (double)(erfcl(-root * a.x) / 2 + per * a.x * expl(-0.5L * a.x * a.x));
}

/* e = exp(-c) for c = |x| (a + b x^2), and *w what the slope of c times |x| is. */
static long double gelu_tanh_of(double x, long double *w) {
    const long double a = 1.595769121605730711759542L, b = a * 0.044715L, size = fabsl((long double)x);
    *w = size * (a + 3 * b * size * size);
    return expl(-size * (a + b * size * size));
}

static double f_gelu_tanh(floats a) {
    long double w, e = gelu_tanh_of(a.x, &w);
    return isinf(a.x) ? (a.x > 0 ? a.x : -0.0) : (double)(a.x * (a.x < 0 ? e : 1) / (1 + e));
}

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

static double f_softsign(floats a) {
    return isinf(a.x) ? copysign(1, a.x) : a.x / (1 + fabs(a.x));
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

static double f_logaddexp_slope(floats a) {
    return share(a.x, a.y, 1);
}

static double f_logaddexp2_slope(floats a) {
    return share(a.x, a.y, 0.693147180559945309417232121458176568L);
}

static double f_exp_gap(floats a) {
    return (double)expl((long double)a.x - a.y);
}

static double f_log_cosh(floats a) {
    const long double size = fabsl((long double)a.x - a.y), half = sinhl(size < 1 ? size / 2 : 0);
    const long double far = size - 0.693147180559945309417232121458176568L + log1pl(expl(-2 * size));
    return (double)(size < 1 ? log1pl(2 * half * half) : far);
}

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

/* ---- table ---------------------------------------------------------------------------------------------- */

/* One line of the registry: how many inputs, what they become, and the function for each sort of numbers. */
typedef struct operation {
    int inputs;
    bool to_bool;                  /* result is a bool whatever the inputs are */
    double (*floats)(floats);      /* NULL: no meaning for floats */
    int64_t (*integers)(integers); /* NULL: none for integers */
    int64_t (*bools)(integers);    /* NULL: none for bool */
} operation;

/* KEEP IN STEP: loop-kinds */
#define ROW_REAL(name, n)                                                                                              \
    { n, false, f_##name, i_##name, NULL }
#define ROW_FLOAT(name, n)                                                                                             \
    { n, false, f_##name, NULL, NULL }
#define ROW_ELEMENTARY(name, n) ROW_FLOAT(name, n)
#define ROW_FAMILY(name, n)     ROW_FLOAT(name, n)
#define ROW_SPECIAL(name, n)    ROW_FLOAT(name, n)
#define ROW_INTEGER(name, n)                                                                                           \
    { n, false, NULL, i_##name, NULL }
#define ROW_COMPARE(name, n)                                                                                           \
    { n, true, f_##name, i_##name, i_##name }
#define ROW_LOGIC(name, n)                                                                                             \
    { n, false, NULL, i_##name, i_##name }
#define ROW_TEST(name, n)                                                                                              \
    { n, true, f_##name, NULL, NULL }
#define ROW_SELECT(name, n)                                                                                            \
    { n, false, f_##name, i_##name, i_##name }
#define ROW_COMPLEX(name, n)                                                                                           \
    { n, false, NULL, NULL, NULL }

static const operation operations[LAM__LOOP_COUNT] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = ROW_##kind(name, inputs),
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
};

/* Bools are bytes of 0 and 1, so the bits that the others invert do not count. */
static int64_t b_not(integers a) {
    return !a.x;
}

static int64_t (*bool_operation(lam__loop_id id))(integers) {
    switch (id) {
    case LAM__LOOP_add:
    case LAM__LOOP_max: return i_or;
    case LAM__LOOP_mul:
    case LAM__LOOP_min: return i_and;
    case LAM__LOOP_not: return b_not;
    default: return operations[id].bools;
    }
}

/* ---- elements in memory ------------------------------------------------------------------------------- */

static double read_float(lam_dtype dtype, const void *x) {
    return dtype == LAM_F64 ? *(const double *)x : *(const float *)x;
}

static int64_t read_integer(lam_dtype dtype, const void *x) {
    return dtype == LAM_I64 ? *(const int64_t *)x : dtype == LAM_I32 ? *(const int32_t *)x : *(const uint8_t *)x;
}

static void write_float(lam_dtype dtype, void *out, double x) {
    if (dtype == LAM_F64) *(double *)out = x;
    else *(float *)out = (float)x;
}

/* Cut to the width by way of unsigned numbers, which is defined for all of them. */
static void write_integer(lam_dtype dtype, void *out, int64_t x) {
    if (dtype == LAM_I64) *(int64_t *)out = x;
    else if (dtype == LAM_I32) *(int32_t *)out = (int32_t)(uint32_t)x;
    else *(uint8_t *)out = (uint8_t)x;
}

static bool float_element(const operation *op, lam_dtype dtype, void *out, const void *const x[], floats a) {
    if (!op->floats) return false;
    a.x = op == &operations[LAM__LOOP_where] ? *(const uint8_t *)x[0] : read_float(dtype, x[0]);
    a.y = op->inputs > 1 ? read_float(dtype, x[1]) : 0;
    a.z = op->inputs > 2 ? read_float(dtype, x[2]) : 0;
    if (op->to_bool) *(uint8_t *)out = op->floats(a) != 0;
    else write_float(dtype, out, op->floats(a));
    return true;
}

bool lam__reference_element(lam__loop_id id, lam_dtype dtype, void *out, const void *const x[], const void *params) {
    const operation *op = &operations[id];
    int64_t k = 0;
    if (params) memcpy(&k, params, sizeof k);
    if (dtype == LAM_F64 || dtype == LAM_F32)
        return float_element(op, dtype, out, x, (floats){.k = k, .params = params, .single = dtype == LAM_F32});
    int64_t (*compute)(integers) = dtype == LAM_BOOL ? bool_operation(id) : op->integers;
    if (!compute) return false;
    integers a = {.x = read_integer(id == LAM__LOOP_where ? LAM_BOOL : dtype, x[0]), .k = k};
    a.bits = dtype == LAM_I64 ? 64 : dtype == LAM_I32 ? 32 : 8;
    a.y = op->inputs > 1 ? read_integer(dtype, x[1]) : 0;
    a.z = op->inputs > 2 ? read_integer(dtype, x[2]) : 0;
    write_integer(op->to_bool ? LAM_BOOL : dtype, out, compute(a));
    return true;
}

/* ---- loops of what has no vector form ---------------------------------------------------------------- */

/* What operands there are; the others read the first. */
typedef struct columns {
    const char *at[3];
    int64_t step[3]; /* elements */
} columns;

static columns columns_of(void *const p[], const int64_t step[], int inputs) {
    columns c;
    for (int i = 0; i < 3; i++) {
        c.at[i] = p[i < inputs ? i + 1 : 1];
        c.step[i] = step[i < inputs ? i + 1 : 1];
    }
    return c;
}

/* A whole loop of one operation; steps in elements, as in a lam__loop. The parameter is read once. */
static void run(lam_dtype dtype, int64_t n, void *const p[], const int64_t step[], int inputs, const void *params,
                double f(floats)) {
    columns c = columns_of(p, step, inputs);
    int64_t item = dtype == LAM_F64 ? 8 : 4;
    floats a = {.single = dtype == LAM_F32};
    if (params) memcpy(&a.k, params, sizeof a.k);
    for (int64_t i = 0; i < n; i++) {
        a.x = read_float(dtype, c.at[0] + i * c.step[0] * item);
        a.y = read_float(dtype, c.at[1] + i * c.step[1] * item);
        a.z = read_float(dtype, c.at[2] + i * c.step[2] * item);
        write_float(dtype, (char *)p[0] + i * step[0] * item, f(a));
    }
}

/* The loops that kinds without a vector form have, one for each of f64 and f32; other kinds expand to nothing. KEEP IN
 * STEP: loop-kinds */
#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], const void *params
/* One-line adapters and empty rows. */
/* clang-format off */
#define DEFINE_ELEMENTARY(name, inputs) \
    static void f64_loop_##name(LOOP_ARGS) { run(LAM_F64, n, p, step, inputs, params, f_##name); } \
    static void f32_loop_##name(LOOP_ARGS) { run(LAM_F32, n, p, step, inputs, params, f_##name); }
#define DEFINE_FAMILY(name, inputs)   DEFINE_ELEMENTARY(name, inputs)
#define DEFINE_SPECIAL(name, inputs)  DEFINE_ELEMENTARY(name, inputs)
#define DEFINE_INTEGER(name, inputs)
#define DEFINE_REAL(name, inputs)
#define DEFINE_FLOAT(name, inputs)
#define DEFINE_COMPARE(name, inputs)
#define DEFINE_LOGIC(name, inputs)
#define DEFINE_TEST(name, inputs)
#define DEFINE_SELECT(name, inputs)
#define DEFINE_COMPLEX(name, inputs)
#define LAM__LOOP(name, inputs, kind) DEFINE_##kind(name, inputs)
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
#define FALLBACK_ELEMENTARY(name) \
    { f64_loop_##name, f32_loop_##name }
#define FALLBACK_FAMILY(name)   FALLBACK_ELEMENTARY(name)
#define FALLBACK_SPECIAL(name)  FALLBACK_ELEMENTARY(name)
#define FALLBACK_INTEGER(name) \
    { NULL }
#define FALLBACK_REAL(name) FALLBACK_INTEGER(name)
#define FALLBACK_FLOAT(name) FALLBACK_INTEGER(name)
#define FALLBACK_COMPARE(name) FALLBACK_INTEGER(name)
#define FALLBACK_LOGIC(name) FALLBACK_INTEGER(name)
#define FALLBACK_TEST(name) FALLBACK_INTEGER(name)
#define FALLBACK_SELECT(name) FALLBACK_INTEGER(name)
#define FALLBACK_COMPLEX(name) FALLBACK_INTEGER(name)
/* clang-format on */

lam__loop *lam__reference_loop(lam__loop_id id, lam_dtype dtype) {
    static lam__loop *const loops[LAM__LOOP_COUNT][2] = {
#define LAM__LOOP(name, inputs, kind) [LAM__LOOP_##name] = FALLBACK_##kind(name),
#include "lib/kernels/elementwise.def"
#undef LAM__LOOP
    };
    return dtype == LAM_F64 ? loops[id][0] : dtype == LAM_F32 ? loops[id][1] : NULL;
}
