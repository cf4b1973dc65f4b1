/* Elementwise primitives of one operand. References are those of libm in long double, or closed forms. Domains keep
 * away from singular points, whose derivatives singular.c looks at. */
#include "tests/primitives/cases.h"

#include <math.h>

static const cases_form forms[] = {{"[]", {0}},      {"[5]", {0}},  {"[2,3]", {0}}, {"[0]", {0}},
                                   {"[2,0,3]", {0}}, {"[37]", {0}}, CASES_END};

static long double neg(long double x) {
    return -x;
}

static long double sign(long double x) {
    return isnan(x) ? x : (x > 0) - (x < 0);
}

static long double square(long double x) {
    return x * x;
}

static long double rsqrt(long double x) {
    return 1 / sqrtl(x);
}

static long double reciprocal(long double x) {
    return 1 / x;
}

static long double logistic(long double x) {
    return 1 / (1 + expl(-x));
}

static long double logistic_slope(long double x) {
    return logistic(x) * logistic(-x);
}

static long double softsign(long double x) {
    return x / (1 + fabsl(x));
}

static long double entr(long double x) {
    return x == 0 ? 0 : -x * logl(x);
}

static long double entr_slope(long double x) {
    return x == 0 ? 0 : -logl(x) - 1;
}

static long double silu(long double x) {
    return x * logistic(x);
}

static long double silu_slope(long double x) {
    return logistic(x) * (1 + x * logistic(-x));
}

static long double mish(long double x) {
    return x * tanhl(log1pl(expl(x)));
}

static long double mish_slope(long double x) {
    const long double w = tanhl(log1pl(expl(x)));
    return w + x * (1 - w * w) * logistic(x);
}

static long double below(long double x) {
    return erfcl(-x / sqrtl(2)) / 2;
}

static long double gelu(long double x) {
    return x * below(x);
}

static long double gelu_slope(long double x) {
    return below(x) + x * expl(-x * x / 2) / sqrtl(8 * atanl(1));
}

static long double gelu_tanh(long double x) {
    return x * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x))) / 2;
}

static long double gelu_tanh_slope(long double x) {
    const long double u = sqrtl(2 / acosl(-1)), t = tanhl(u * (x + 0.044715L * x * x * x));
    return (1 + t) / 2 + x * (1 - t * t) / 2 * u * (1 + 0.134145L * x * x);
}

static long double hard_silu(long double x) {
    return x * fminl(fmaxl(x + 3, 0), 6) / 6;
}

static long double hard_silu_slope(long double x) {
    return x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6;
}

static long double tanh_slope(long double x) {
    return 1 / (coshl(x) * coshl(x));
}

static long double finite(long double x) {
    return isfinite(x);
}

static long double nan_is(long double x) {
    return isnan(x);
}

/* Logical for bool, bitwise for integers: of these ~x is -1 - x. */
static void not_reference(const cases_use *u, const array in[], array out[]) {
    (void)u;
    array_like(out, in);
    for (int64_t e = 0; e < in->count; e++) out->data[e] = in->dtype == LAM_BOOL ? !in->data[e] : -1 - in->data[e];
}

static void call_not(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_not(in[0]);
}

static lam_tensor *usual_numbers(lam_tensor *x) {
    return lam_nan_to_num(x, NULL);
}

static long double itself(long double x) {
    return x;
}

/* What predicates are there for. */
static void put_specials(const cases_use *u, int i, array *x) {
    static const long double special[] = {INFINITY, -INFINITY, NAN};
    (void)u, (void)i;
    for (int64_t e = 0; e < x->count && e < 3 && array_is_float(x); e++) x->data[e] = special[e];
}

static void call_sincos(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    lam_sincos(in[0], &out[0], &out[1]);
}

static void sincos_reference(const cases_use *u, const array in[], array out[]) {
    (void)u;
    for (int o = 0; o < 2; o++) {
        array_like(&out[o], in);
        if (!array_is_float(in)) out[o].dtype = LAM_F64;
        for (int64_t e = 0; e < in->count; e++) out[o].data[e] = (o ? cosl : sinl)(in->data[e]);
    }
}

static const cases_form not_forms[] = {{"bool[]", {0}},   {"bool[2,3]", {0}}, {"bool[0]", {0}}, {"u8[5]", {0}},
                                       {"i32[2,3]", {0}}, {"i64[7]", {0}},    CASES_END};
static const cases_form power_forms[] = {
    {"[5]", {3}},    {"[2,3]", {2}},   {"[]", {1}},      {"[4]", {0}}, {"[0,2]", {3}},
    {"i64[5]", {4}}, {"f64[5]", {-2}}, {"f32[3]", {-1}}, CASES_END,
};
static const cases_wrong no_bool[] = {{"bool[3]", LAM_ERR_DTYPE, {0}}, CASES_WRONG_END};
static const cases_wrong no_floats[] = {{"f64[3]", LAM_ERR_DTYPE, {0}}, {"f32[]", LAM_ERR_DTYPE, {0}}, CASES_WRONG_END};

static void call_integer_pow(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_integer_pow(in[0], (int)u->arg[0]);
}

static void integer_pow_reference(const cases_use *u, const array in[], array out[]) {
    array_like(out, in);
    for (int64_t e = 0; e < in->count; e++) out->data[e] = powl(in->data[e], (long double)u->arg[0]);
}

#define UNARY(operation, oracle) .unary = operation, .unary_reference = oracle, .forms = forms
#define REAL                     .gives = CASES_REAL, .dtypes = CASES_ALL

const cases_row cases_unary[] = {
    {.name = "neg", UNARY(lam_neg, neg), .dtypes = CASES_NUMBERS, .wrong = no_bool},
    {.name = "abs", UNARY(lam_abs, fabsl), .dtypes = CASES_NUMBERS, .wrong = no_bool},
    {.name = "sign", UNARY(lam_sign, sign), .dtypes = CASES_NUMBERS, .wrong = no_bool},
    {.name = "square", UNARY(lam_square, square), .dtypes = CASES_NUMBERS, .wrong = no_bool},
    {.name = "floor", UNARY(lam_floor, floorl), REAL},
    {.name = "ceil", UNARY(lam_ceil, ceill), REAL},
    {.name = "round", UNARY(lam_round, rintl), REAL},
    {.name = "trunc", UNARY(lam_trunc, truncl), REAL},
    {.name = "sqrt", UNARY(lam_sqrt, sqrtl), REAL, .domain = {{0.1, 5}}},
    {.name = "rsqrt", UNARY(lam_rsqrt, rsqrt), REAL, .domain = {{0.2, 5}}},
    {.name = "cbrt", UNARY(lam_cbrt, cbrtl), REAL, .domain = {{-4, -0.2}}},
    {.name = "cbrt", UNARY(lam_cbrt, cbrtl), .domain = {{0.1, 4}}},
    {.name = "reciprocal", UNARY(lam_reciprocal, reciprocal), REAL, .domain = {{0.3, 3}}},
    {.name = "exp", UNARY(lam_exp, expl), REAL},
    {.name = "exp2", UNARY(lam_exp2, exp2l), REAL},
    {.name = "expm1", UNARY(lam_expm1, expm1l), REAL},
    {.name = "log", UNARY(lam_log, logl), REAL, .domain = {{0.2, 5}}},
    {.name = "log2", UNARY(lam_log2, log2l), REAL, .domain = {{0.2, 5}}},
    {.name = "log10", UNARY(lam_log10, log10l), REAL, .domain = {{0.2, 5}}},
    {.name = "log1p", UNARY(lam_log1p, log1pl), REAL, .domain = {{-0.8, 3}}},
    {.name = "sin", UNARY(lam_sin, sinl), REAL},
    {.name = "cos", UNARY(lam_cos, cosl), REAL},
    {.name = "sincos",
     .call = call_sincos,
     .reference = sincos_reference,
     .outputs = 2,
     .forms = forms,
     .dtypes = CASES_ALL},
    {.name = "tan", UNARY(lam_tan, tanl), REAL, .domain = {{-1.2, 1.2}}},
    {.name = "asin", UNARY(lam_asin, asinl), REAL, .domain = {{-0.9, 0.9}}},
    {.name = "acos", UNARY(lam_acos, acosl), REAL, .domain = {{-0.9, 0.9}}},
    {.name = "atan", UNARY(lam_atan, atanl), REAL},
    {.name = "sinh", UNARY(lam_sinh, sinhl), REAL},
    {.name = "cosh", UNARY(lam_cosh, coshl), REAL},
    {.name = "tanh", UNARY(lam_tanh, tanhl), REAL},
    {.name = "tanh_slope", UNARY(lam_tanh_slope, tanh_slope), REAL},
    {.name = "asinh", UNARY(lam_asinh, asinhl), REAL},
    {.name = "acosh", UNARY(lam_acosh, acoshl), REAL, .domain = {{1.2, 4}}},
    {.name = "atanh", UNARY(lam_atanh, atanhl), REAL, .domain = {{-0.9, 0.9}}},
    {.name = "logistic", UNARY(lam_logistic, logistic), REAL, .ulps = 3},
    {.name = "logistic_slope", UNARY(lam_logistic_slope, logistic_slope), REAL},
    {.name = "softsign", UNARY(lam_softsign, softsign), REAL, .ulps = 3},
    {.name = "entr", UNARY(lam_entr, entr), REAL, .domain = {{0.4, 4}}},
    {.name = "entr_slope", UNARY(lam_entr_slope, entr_slope), REAL, .domain = {{0.5, 4}}},
    {.name = "silu", UNARY(lam_silu, silu), REAL},
    {.name = "silu_slope", UNARY(lam_silu_slope, silu_slope), REAL},
    {.name = "mish", UNARY(lam_mish, mish), REAL},
    {.name = "mish_slope", UNARY(lam_mish_slope, mish_slope), REAL},
    {.name = "gelu", UNARY(lam_gelu, gelu), REAL},
    {.name = "gelu_slope", UNARY(lam_gelu_slope, gelu_slope), REAL},
    {.name = "gelu_tanh", UNARY(lam_gelu_tanh, gelu_tanh), REAL},
    {.name = "hard_silu", UNARY(lam_hard_silu, hard_silu), REAL, .ulps = 4, .domain = {{-2.5, 2.5}}},
    {.name = "hard_silu", UNARY(lam_hard_silu, hard_silu), .domain = {{3.1, 9}}},
    {.name = "hard_silu_slope", UNARY(lam_hard_silu_slope, hard_silu_slope), REAL, .ulps = 4, .domain = {{-2.5, 2.5}}},
    {.name = "hard_silu_slope", UNARY(lam_hard_silu_slope, hard_silu_slope), .domain = {{-9, -3.1}}},
    {.name = "gelu_tanh_slope", UNARY(lam_gelu_tanh_slope, gelu_tanh_slope), REAL},
    {.name = "erf", UNARY(lam_erf, erfl), REAL},
    {.name = "erfc", UNARY(lam_erfc, erfcl), REAL},
    {.name = "is_finite", UNARY(lam_is_finite, finite), .gives = CASES_BOOL, .dtypes = CASES_ALL, .fill = put_specials},
    {.name = "is_nan", UNARY(lam_is_nan, nan_is), .gives = CASES_BOOL, .dtypes = CASES_ALL, .fill = put_specials},
    {.name = "nan_to_num", UNARY(usual_numbers, itself)},
    {.name = "not", .call = call_not, .reference = not_reference, .forms = not_forms, .wrong = no_floats},
    {.name = "integer_pow",
     .call = call_integer_pow,
     .reference = integer_pow_reference,
     .forms = power_forms,
     .wrong = no_bool,
     .ulps = 4,
     .domain = {{0.4, 2.4}}},
    {.name = NULL},
};
