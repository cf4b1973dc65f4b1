/* See oracle.h. The generator is splitmix64 (Steele, Lea, Flood 2014). */
#include "tests/kernels/oracle.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- values ------------------------------------------------------------------------------------------ */

typedef int function1(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int function2(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static int lgamma_abs(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    int sign;
    return mpfr_lgamma(out, &sign, x, rounding);
}

static int logit(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t other;
    mpfr_init2(other, mpfr_get_prec(out));
    mpfr_ui_sub(other, 1, x, rounding);
    mpfr_div(out, x, other, rounding);
    mpfr_clear(other);
    return mpfr_log(out, out, rounding);
}

/* By the difference that does not cancel. */
static int log1mexp(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    mpfr_t minus;
    mpfr_init2(minus, mpfr_get_prec(x));
    mpfr_neg(minus, x, rounding);
    if (mpfr_cmp_ui(x, 1) > 0) mpfr_exp(out, minus, rounding);
    else mpfr_expm1(out, minus, rounding);
    mpfr_clear(minus);
    mpfr_neg(out, out, rounding);
    return mpfr_cmp_ui(x, 1) > 0 ? mpfr_log1p(out, out, rounding) : mpfr_log(out, out, rounding);
}

/* p = (|x| + s)/2 and s = sqrt(x^2 + b). Exponents of MPFR do not end. */
static void square_parts(mpfr_t p, mpfr_t s, const mpfr_t x, const mpfr_t b) {
    mpfr_sqr(s, x, MPFR_RNDN);
    mpfr_add(s, s, b, MPFR_RNDN);
    mpfr_sqrt(s, s, MPFR_RNDN);
    mpfr_abs(p, x, MPFR_RNDN);
    mpfr_add(p, p, s, MPFR_RNDN);
    mpfr_div_ui(p, p, 2, MPFR_RNDN);
}

/* p on the right, (b/4)/p on the left, of b >= 0. */
static int squareplus(mpfr_t out, const mpfr_t x, const mpfr_t b, mpfr_rnd_t rounding) {
    if (mpfr_nan_p(x) || mpfr_nan_p(b) || mpfr_sgn(b) < 0) return mpfr_set_nan(out), 0;
    if (mpfr_inf_p(b)) return mpfr_add(out, x, b, rounding);
    mpfr_t p, s;
    mpfr_inits2(600, p, s, (mpfr_ptr)NULL);
    square_parts(p, s, x, b);
    if (mpfr_sgn(x) < 0) {
        mpfr_div(p, b, p, MPFR_RNDN);
        mpfr_div_ui(p, p, 4, MPFR_RNDN);
    }
    const int inexact = mpfr_set(out, p, rounding);
    mpfr_clears(p, s, (mpfr_ptr)NULL);
    return inexact;
}

/* p/s on the right, (b/4)/(p s) on the left; 0 of relu at its kink, 1/2 beside what is infinite. */
static int squareplus_slope(mpfr_t out, const mpfr_t x, const mpfr_t b, mpfr_rnd_t rounding) {
    if (mpfr_nan_p(x) || mpfr_nan_p(b) || mpfr_sgn(b) < 0) return mpfr_set_nan(out), 0;
    if (mpfr_inf_p(b)) return mpfr_inf_p(x) ? mpfr_set_nan(out), 0 : mpfr_set_d(out, 0.5, rounding);
    if (mpfr_inf_p(x) || (mpfr_zero_p(x) && mpfr_zero_p(b))) return mpfr_set_ui(out, mpfr_sgn(x) > 0, rounding);
    mpfr_t p, s;
    mpfr_inits2(600, p, s, (mpfr_ptr)NULL);
    square_parts(p, s, x, b);
    if (mpfr_sgn(x) < 0) {
        mpfr_div(p, b, p, MPFR_RNDN);
        mpfr_div_ui(p, p, 4, MPFR_RNDN);
    }
    const int inexact = mpfr_div(out, p, s, rounding);
    mpfr_clears(p, s, (mpfr_ptr)NULL);
    return inexact;
}

/* 1 / (exp(x) - 1); at 0 of any sign it is infinite. */
static int log1mexp_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_sgn(x) < 0) return mpfr_set_nan(out), 0;
    if (mpfr_zero_p(x)) return mpfr_set_inf(out, 1), 0;
    mpfr_expm1(out, x, rounding);
    return mpfr_ui_div(out, 1, out, rounding);
}

static int entr(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_zero_p(x)) return mpfr_set_ui(out, 0, rounding);
    if (mpfr_sgn(x) < 0) return mpfr_set_d(out, -INFINITY, rounding);
    mpfr_log(out, x, rounding);
    mpfr_mul(out, out, x, rounding);
    return mpfr_neg(out, out, rounding);
}

static int entr_slope(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmp_ui(x, 0) <= 0 && !mpfr_nan_p(x)) return mpfr_set_ui(out, 0, rounding);
    mpfr_t log;
    mpfr_init2(log, 300);
    mpfr_log(log, x, rounding);
    mpfr_add_ui(log, log, 1, rounding);
    const int inexact = mpfr_neg(out, log, rounding);
    mpfr_clear(log);
    return inexact;
}

static int softplus(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    if (mpfr_cmp_ui(x, 1000) > 0) return mpfr_set(out, x, rounding);
    mpfr_exp(out, x, rounding);
    return mpfr_log1p(out, out, rounding);
}

static int reciprocal(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    return mpfr_ui_div(out, 1, x, rounding);
}

/* MPFR follows IEEE 754 here, where rsqrt(-0) is -inf as 1/sqrt(-0) is; its own function gives +inf. */
static int rsqrt_(mpfr_t out, const mpfr_t x, mpfr_rnd_t rounding) {
    return mpfr_zero_p(x) ? mpfr_ui_div(out, 1, x, rounding) : mpfr_rec_sqrt(out, x, rounding);
}

/* The larger + log(1 + base^-gap) in units of log(base); infinities and NaN as the sum of the operands. */
static int log_of_sum(mpfr_t out, const mpfr_t x, const mpfr_t y, unsigned long base) {
    mpfr_t gap, unit;
    if (!mpfr_number_p(x) || !mpfr_number_p(y)) {
        bool against = mpfr_inf_p(x) && mpfr_inf_p(y) && mpfr_sgn(x) != mpfr_sgn(y);
        if (mpfr_nan_p(x) || mpfr_nan_p(y)) mpfr_set_nan(out);
        else if (against || mpfr_inf_p(x) != mpfr_inf_p(y)) mpfr_max(out, x, y, MPFR_RNDN);
        else mpfr_set(out, x, MPFR_RNDN);
        return 0;
    }
    mpfr_inits2(300, gap, unit, (mpfr_ptr)NULL);
    if (base == 2) mpfr_const_log2(unit, MPFR_RNDN);
    else mpfr_set_ui(unit, 1, MPFR_RNDN);
    mpfr_sub(gap, x, y, MPFR_RNDN);
    mpfr_abs(gap, gap, MPFR_RNDN);
    mpfr_mul(gap, gap, unit, MPFR_RNDN);
    mpfr_neg(gap, gap, MPFR_RNDN);
    mpfr_exp(gap, gap, MPFR_RNDN);
    mpfr_log1p(gap, gap, MPFR_RNDN);
    mpfr_div(gap, gap, unit, MPFR_RNDN);
    mpfr_add(out, mpfr_cmp(x, y) > 0 ? x : y, gap, MPFR_RNDN);
    mpfr_clears(gap, unit, (mpfr_ptr)NULL);
    return 0;
}

static int logaddexp(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    (void)rounding;
    return log_of_sum(out, x, y, 0);
}

static int logaddexp2(mpfr_t out, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding) {
    (void)rounding;
    return log_of_sum(out, x, y, 2);
}

static function1 *const functions1[LAM__LOOP_COUNT] = {
    [LAM__LOOP_sqrt] = mpfr_sqrt,
    [LAM__LOOP_rsqrt] = rsqrt_,
    [LAM__LOOP_reciprocal] = reciprocal,
    [LAM__LOOP_cbrt] = mpfr_cbrt,
    [LAM__LOOP_exp] = mpfr_exp,
    [LAM__LOOP_exp2] = mpfr_exp2,
    [LAM__LOOP_expm1] = mpfr_expm1,
    [LAM__LOOP_log] = mpfr_log,
    [LAM__LOOP_log2] = mpfr_log2,
    [LAM__LOOP_log10] = mpfr_log10,
    [LAM__LOOP_log1p] = mpfr_log1p,
    [LAM__LOOP_sin] = mpfr_sin,
    [LAM__LOOP_cos] = mpfr_cos,
    [LAM__LOOP_tan] = mpfr_tan,
    [LAM__LOOP_asin] = mpfr_asin,
    [LAM__LOOP_acos] = mpfr_acos,
    [LAM__LOOP_atan] = mpfr_atan,
    [LAM__LOOP_sinh] = mpfr_sinh,
    [LAM__LOOP_cosh] = mpfr_cosh,
    [LAM__LOOP_tanh] = mpfr_tanh,
    [LAM__LOOP_asinh] = mpfr_asinh,
    [LAM__LOOP_acosh] = mpfr_acosh,
    [LAM__LOOP_atanh] = mpfr_atanh,
    [LAM__LOOP_logistic] = oracle_logistic,
    [LAM__LOOP_erf] = mpfr_erf,
    [LAM__LOOP_erfc] = mpfr_erfc,
    [LAM__LOOP_lgamma] = lgamma_abs,
    [LAM__LOOP_softplus] = softplus,
    [LAM__LOOP_logit] = logit,
    [LAM__LOOP_log1mexp] = log1mexp,
    [LAM__LOOP_log1mexp_slope] = log1mexp_slope,
    [LAM__LOOP_entr] = entr,
    [LAM__LOOP_entr_slope] = entr_slope,
    [LAM__LOOP_ndtr] = oracle_ndtr,
    [LAM__LOOP_log_ndtr] = oracle_log_ndtr,
    [LAM__LOOP_ndtri] = oracle_ndtri,
    [LAM__LOOP_ndtri_slope] = oracle_ndtri_slope,
    [LAM__LOOP_erf_inv] = oracle_erf_inv,
    [LAM__LOOP_digamma] = mpfr_digamma,
    [LAM__LOOP_logistic_slope] = oracle_logistic_slope,
    [LAM__LOOP_silu] = oracle_silu,
    [LAM__LOOP_silu_slope] = oracle_silu_slope,
    [LAM__LOOP_tanh_slope] = oracle_tanh_slope,
    [LAM__LOOP_mish] = oracle_mish,
    [LAM__LOOP_mish_slope] = oracle_mish_slope,
    [LAM__LOOP_gelu] = oracle_gelu,
    [LAM__LOOP_gelu_slope] = oracle_gelu_slope,
    [LAM__LOOP_gelu_tanh] = oracle_gelu_tanh,
    [LAM__LOOP_gelu_tanh_slope] = oracle_gelu_tanh_slope,
};

static function2 *const functions2[LAM__LOOP_COUNT] = {
    [LAM__LOOP_div] = mpfr_div,
    [LAM__LOOP_pow] = mpfr_pow,
    [LAM__LOOP_atan2] = mpfr_atan2,
    [LAM__LOOP_hypot] = mpfr_hypot,
    [LAM__LOOP_logaddexp] = logaddexp,
    [LAM__LOOP_logaddexp2] = logaddexp2,
    [LAM__LOOP_logaddexp_slope] = oracle_logaddexp_slope,
    [LAM__LOOP_logaddexp2_slope] = oracle_logaddexp2_slope,
    [LAM__LOOP_log_cosh] = oracle_log_cosh,
    [LAM__LOOP_exp_gap] = oracle_exp_gap,
    [LAM__LOOP_squareplus] = squareplus,
    [LAM__LOOP_squareplus_slope] = squareplus_slope,
};

bool oracle_at(lam__loop_id id, mpfr_t value, const mpfr_t x, const mpfr_t y) {
    if (functions1[id]) functions1[id](value, x, MPFR_RNDN);
    else if (functions2[id]) functions2[id](value, x, y, MPFR_RNDN);
    return functions1[id] || functions2[id];
}

bool oracle_value(lam__loop_id id, mpfr_t value, double x, double y) {
    mpfr_t a, b;
    mpfr_inits2(64, a, b, (mpfr_ptr)NULL);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    bool judged = oracle_at(id, value, a, b);
    mpfr_clears(a, b, (mpfr_ptr)NULL);
    return judged;
}

/* ---- errors ---------------------------------------------------------------------------------------------- */

typedef struct format {
    int digits, least; /* bits of the significand; exponent of the least subnormal */
    double largest;
} format;

static format format_of(lam_dtype dtype) {
    return dtype == LAM_F64 ? (format){53, -1074, DBL_MAX} : (format){24, -149, FLT_MAX};
}

/* The value the type's infinity stands for when an error is measured: one ulp above the largest number. */
static void set_finite(mpfr_t out, lam_dtype dtype, double x) {
    mpfr_set_d(out, x, MPFR_RNDN);
    if (isinf(x)) mpfr_set_si_2exp(out, x < 0 ? -1 : 1, dtype == LAM_F64 ? 1024 : 128, MPFR_RNDN);
}

double oracle_error(lam_dtype dtype, double got, const mpfr_t value) {
    format f = format_of(dtype);
    if (isnan(got) || mpfr_nan_p(value)) return isnan(got) && mpfr_nan_p(value) ? 0 : INFINITY;
    if (mpfr_inf_p(value) || mpfr_zero_p(value))
        return mpfr_get_d(value, MPFR_RNDN) == got && !mpfr_signbit(value) == !signbit(got) ? 0 : INFINITY;
    if (isinf(got) && mpfr_cmpabs_ui(value, 1) > 0 && mpfr_get_exp(value) > (dtype == LAM_F64 ? 1024 : 128))
        return (got > 0) == (mpfr_sgn(value) > 0) ? 0 : INFINITY;
    long exponent = mpfr_get_exp(value) - f.digits;
    mpfr_t error;
    mpfr_init2(error, 192);
    set_finite(error, dtype, got);
    mpfr_sub(error, error, value, MPFR_RNDN);
    mpfr_mul_2si(error, error, -(exponent > f.least ? exponent : f.least), MPFR_RNDN);
    double ulps = fabs(mpfr_get_d(error, MPFR_RNDN));
    mpfr_clear(error);
    return ulps;
}

/* ---- samples --------------------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in (-1, 1). */
static double uniform(uint64_t *state) {
    return ((double)(next(state) >> 11) + 0.5) * 0x1p-52 - 1;
}

static double any_bits(lam_dtype dtype, uint64_t *state) {
    uint64_t bits = next(state);
    double x;
    float y;
    memcpy(&x, &bits, sizeof x);
    memcpy(&y, &bits, sizeof y);
    return dtype == LAM_F64 ? x : y;
}

/* Zeros, subnormals, thresholds of overflow and underflow, poles, branch points, quarter periods, integers. */
static const double specials[] = {
    0,
    0x1p-1074,
    0x1.8p-1073,
    0x1p-1022,
    0x1p-149,
    0x1p-126,
    1e-300,
    1e-160,
    1e-38,
    1e-20,
    0x1p-54,
    0x1p-53,
    0x1p-27,
    0x1p-25,
    1e-3,
    0.25,
    0.375,
    0.4375,
    0.5,
    0.625,
    0.84375,
    1,
    1.25,
    1.4616321449683622,
    1.5,
    2,
    2.5,
    3,
    3.5,
    4,
    5.5,
    6,
    6.5,
    10,
    15,
    17.328679513998633,
    22,
    26,
    26.543,
    27.226,
    28,
    36.7,
    88.0,
    88.72283,
    88.722839,
    89.415985,
    100,
    103.27892,
    103.97208,
    110,
    125,
    149,
    150,
    170.6,
    171.6,
    700,
    708.3964185322641,
    709,
    709.782712893384,
    709.7827128933841,
    710,
    710.4758600739439,
    710.475860073944,
    711,
    744.4400719213812,
    745.1332191019411,
    745.1332191019412,
    746,
    1000,
    1022.5,
    1023.9999999999999,
    1024,
    1074,
    1075,
    1e4,
    39000,
    1e5,
    8388607.5,
    8388608,
    16777217,
    1e9,
    4503599627370495.5,
    9007199254740991,
    1e14,
    1e15,
    1e22,
    1e30,
    1e38,
    FLT_MAX,
    1e100,
    1.3e154,
    1.4e154,
    1e200,
    2.5e305,
    1e308,
    0x1p1023,
    DBL_MAX,
    INFINITY,
    NAN,
    1.5707963267948966,
    3.141592653589793,
    4.71238898038469,
    6.283185307179586,
    11,
    22.0,
    33,
    44,
    52174,
    333,
    355,
    103993,
    104348,
    5.319372648326541e255,
    6381956970095103.0 * 0x1p797,
    16367173.0 * 0x1p72,
    -0.5,
    -1,
    -1.5,
    -2,
    -2.0000000000000004,
    -2.4570247382208006,
    -2.7476826467274127,
    -3,
    -3.1435808883499798,
    -3.5,
    -4.0,
    -10.5,
    -100.5,
    -170.5,
    -171.5,
    -1e5 - 0.5,
};

/* Each value with both signs, itself and up to two or three steps away on either side. */
enum {
    SPECIALS = sizeof specials / sizeof *specials,
    AWAY_LEAST = -2,
    AWAY_MOST = 3,
    AWAYS = AWAY_MOST - AWAY_LEAST + 1
};

int oracle_specials(void) {
    return SPECIALS * 2 * AWAYS;
}

double oracle_special(lam_dtype dtype, int i) {
    const double size = specials[i % SPECIALS];
    const int away = i / SPECIALS / 2 + AWAY_LEAST;
    double x = i / SPECIALS % 2 ? -size : size;
    for (int step = away < 0 ? -away : away; step > 0; step--)
        x = dtype == LAM_F64 ? nextafter(x, away * INFINITY) : nextafterf((float)x, (float)away * INFINITY);
    return dtype == LAM_F64 ? x : (float)x;
}

double oracle_draw(oracle_range range, lam_dtype dtype, uint64_t *state) {
    double x = 0;
    switch (range) {
    case ORACLE_BITS: return any_bits(dtype, state);
    case ORACLE_SPECIAL: x = oracle_special(dtype, (int)(next(state) % (unsigned)oracle_specials())); break;
    case ORACLE_UNIT: x = uniform(state); break;
    case ORACLE_NEAR: x = 20 * uniform(state); break;
    case ORACLE_WIDE: x = (dtype == LAM_F64 ? 760 : 110) * uniform(state); break;
    case ORACLE_MIDDLE: x = copysign(exp(23 * uniform(state)), uniform(state)); break;
    case ORACLE_ONE: x = copysign(1 + ldexp(uniform(state), -8 - (int)(next(state) % 43)), uniform(state)); break;
    case ORACLE_RANGES: break;
    }
    return dtype == LAM_F64 ? x : (float)x;
}
