/* Programs as C, elements: what each elementwise loop is as an expression. Arithmetic has the bits of the loops; what
 * is made of libm's functions is right to their accuracy. $1 to $3 are operands, $4 to $6 parameters; see
 * emit_writer.h. A loop without an entry has no form in C for numbers of that sort. */
#include "lib/program/emit_writer.h"

#include "lib/kernels/kernels.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* Of f64 and f32; i64 and i32; u8 where that is another text; bool; c128 and c64. */
typedef struct expression {
    const char *floats, *integers, *bytes, *bools, *complexes;
} expression;

/* One line per loop. Whole numbers are computed as $U, which wraps around as the loops do where C leaves the overflow
 * of signed ones open, and cast back, since C widens small ones to int. Members that are NULL are dtypes whose loop
 * does not exist, or has no form here. */
/* clang-format off */
static const expression expressions[LAM__LOOP_COUNT] = {
    [LAM__LOOP_neg] = {"-$1", "($T)(0 - ($U)$1)", NULL, NULL, "-$1"},
    [LAM__LOOP_abs] = {"fabs$f($1)", "($1 > 0 ? $1 : ($T)(0 - ($U)$1))", "$1", NULL, NULL},
    [LAM__LOOP_sign] = {"($1 > 0 ? 1 : $1 < 0 ? -1 : $1)", "($1 > 0) - ($1 < 0)", "$1 > 0", NULL, NULL},
    [LAM__LOOP_square] = {"$1 * $1", "($T)(($U)$1 * ($U)$1)", NULL, NULL, "@square($1)"},
    [LAM__LOOP_floor] = {"floor$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ceil] = {"ceil$f($1)", NULL, NULL, NULL, NULL},
    /* rint goes to even in the middle, as the loop does; the rounding mode is that of the caller. */
    [LAM__LOOP_round] = {"rint$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_trunc] = {"trunc$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_sqrt] = {"sqrt$f($1)", NULL, NULL, NULL, "csqrt$f($1)"},
    [LAM__LOOP_rsqrt] = {"1 / sqrt$f($1)", NULL, NULL, NULL, "1 / csqrt$f($1)"},
    [LAM__LOOP_cbrt] = {"cbrt$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_reciprocal] = {"1 / $1", NULL, NULL, NULL, "@div(1, $1)"},
    [LAM__LOOP_exp] = {"exp$f($1)", NULL, NULL, NULL, "cexp$f($1)"},
    [LAM__LOOP_exp2] = {"exp2$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_expm1] = {"expm1$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log] = {"log$f($1)", NULL, NULL, NULL, "clog$f($1)"},
    [LAM__LOOP_log2] = {"log2$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log10] = {"log10$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log1p] = {"log1p$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_sin] = {"sin$f($1)", NULL, NULL, NULL, "csin$f($1)"},
    [LAM__LOOP_cos] = {"cos$f($1)", NULL, NULL, NULL, "ccos$f($1)"},
    [LAM__LOOP_tan] = {"tan$f($1)", NULL, NULL, NULL, "ctan$f($1)"},
    [LAM__LOOP_asin] = {"asin$f($1)", NULL, NULL, NULL, "casin$f($1)"},
    [LAM__LOOP_acos] = {"acos$f($1)", NULL, NULL, NULL, "cacos$f($1)"},
    [LAM__LOOP_atan] = {"atan$f($1)", NULL, NULL, NULL, "catan$f($1)"},
    [LAM__LOOP_sinh] = {"sinh$f($1)", NULL, NULL, NULL, "csinh$f($1)"},
    [LAM__LOOP_cosh] = {"cosh$f($1)", NULL, NULL, NULL, "ccosh$f($1)"},
    [LAM__LOOP_tanh] = {"tanh$f($1)", NULL, NULL, NULL, "ctanh$f($1)"},
    [LAM__LOOP_asinh] = {"asinh$f($1)", NULL, NULL, NULL, "casinh$f($1)"},
    [LAM__LOOP_acosh] = {"acosh$f($1)", NULL, NULL, NULL, "cacosh$f($1)"},
    [LAM__LOOP_atanh] = {"atanh$f($1)", NULL, NULL, NULL, "catanh$f($1)"},
    [LAM__LOOP_logistic] = {"@logistic($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logistic_slope] = {"@logistic_slope($1)", NULL, NULL, NULL, NULL},
    /* 1 / cosh(x)^2, without its overflow. */
    [LAM__LOOP_tanh_slope] = {"4 * @logistic_slope(2 * $1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erf] = {"erf$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erfc] = {"erfc$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erf_inv] = {"($T)@erf_inv($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ndtr] = {"@ndtr($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_lgamma] = {"lgamma$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_digamma] = {"@digamma($1)", NULL, NULL, NULL, NULL},
    /* Long functions are there in double alone: floats are widened and the result is rounded once. */
    [LAM__LOOP_polygamma] = {"($T)@f64:polygamma($1, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_bessel_i] = {"($T)@f64:bessel_i($1, $4, $5, $6)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erfcx] = {"($T)@f64:erfcx($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log_ndtr] = {"($T)@f64:log_ndtr($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ndtri] = {"($T)@f64:ndtri($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ndtri_slope] = {"($T)@f64:ndtri_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_softplus] = {"@softplus($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_silu] = {"@silu($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_silu_slope] = {"@silu_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_mish] = {"@mish($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_mish_slope] = {"@mish_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu] = {"@gelu($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_slope] = {"@gelu_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_tanh] = {"@gelu_tanh($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_tanh_slope] = {"@gelu_tanh_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log1mexp] = {"@log1mexp($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logit] = {"@logit($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_softsign] = {"(fabs$f($1) == INFINITY ? copysign$f(1, $1) : $1 / (1 + fabs$f($1)))",
                            NULL, NULL, NULL, NULL},
    [LAM__LOOP_squareplus] = {"@squareplus($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_squareplus_slope] = {"@squareplus_slope($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_huber_loss] = {"@huber_loss($1, $2, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log1mexp_slope] = {"@log1mexp_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hard_silu] = {"@hard_gate($1, $1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hard_silu_slope] = {"($1 >= 3 ? 1 : $1 <= -3 ? 0 : ($1 + $1 + 3) / 6)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_weigh] = {"($1 == 0 ? 0 : $1 * $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hard_gate] = {"@hard_gate($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log_ratio] = {"@log_ratio($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_rel_entr] = {"@rel_entr($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_reduce_precision] = {"@rounded($1, $4, $5, $6)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_rel_entr_slope] = {"($2 == $2 && ($1 <= 0 || $2 <= 0) ? 0 : 1 + @log_ratio($1, $2))",
                                  NULL, NULL, NULL, NULL},
    [LAM__LOOP_entr] = {"($1 == 0 ? 0 : $1 < 0 ? -INFINITY : -$1 * log$f($1))", NULL, NULL, NULL, NULL},
    [LAM__LOOP_entr_slope] = {"($1 <= 0 ? 0 : -1 - log$f($1))", NULL, NULL, NULL, NULL},
    [LAM__LOOP_xlogy] = {"@xlogy($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_xlog1py] = {"@xlog1py($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_pow_slope] = {"@pow_slope($1, $2, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hypot_slope] = {"@hypot_slope($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_atan2_slope] = {"@atan_slope($1, $2, $4)", NULL, NULL, NULL, NULL},
    /* The difference is NaN for infinities and for NaN. */
    [LAM__LOOP_is_finite] = {"$1 - $1 == 0", NULL, NULL, NULL, "@is_finite($1)"},
    [LAM__LOOP_is_nan] = {"$1 != $1", NULL, NULL, NULL, "$1 != $1"},
    [LAM__LOOP_not] = {NULL, "($T)~$1", "($T)~$1", "!$1", NULL},
    [LAM__LOOP_add] = {"$1 + $2", "($T)(($U)$1 + ($U)$2)", NULL, "$1 | $2", "$1 + $2"},
    [LAM__LOOP_sub] = {"$1 - $2", "($T)(($U)$1 - ($U)$2)", NULL, NULL, "$1 - $2"},
    [LAM__LOOP_mul] = {"$1 * $2", "($T)(($U)$1 * ($U)$2)", NULL, "$1 & $2", "@mul($1, $2)"},
    [LAM__LOOP_div] = {"$1 / $2", NULL, NULL, NULL, "@div($1, $2)"},
    /* By 0 and by -1 C's remainder may trap, the latter for the least integer. */
    [LAM__LOOP_rem] = {"fmod$f($1, $2)", "($2 == 0 || $2 == -1 ? 0 : $1 % $2)", "($2 == 0 ? 0 : $1 % $2)", NULL, NULL},
    [LAM__LOOP_pow] = {"pow$f($1, $2)", NULL, NULL, NULL, "cpow$f($1, $2)"},
    /* fmax leaves the sign of zeros open and passes over NaN. */
    [LAM__LOOP_max] = {"@max($1, $2)", "($1 > $2 ? $1 : $2)", NULL, "$1 | $2", NULL},
    [LAM__LOOP_min] = {"@min($1, $2)", "($1 < $2 ? $1 : $2)", NULL, "$1 & $2", NULL},
    [LAM__LOOP_atan2] = {"atan2$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hypot] = {"hypot$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp] = {"@logaddexp($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp2] = {"@logadd_two($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp_slope] = {"@share($1, $2, 1)", NULL, NULL, NULL, NULL},
    /* The constant is log 2: shares are those of powers of 2. */
    [LAM__LOOP_logaddexp2_slope] = {"@share($1, $2, ($T)0x1.62e42fefa39efp-1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log_cosh] = {"@log_cosh($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_exp_gap] = {"exp$f($1 - $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_copysign] = {"copysign$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_nextafter] = {"nextafter$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ldexp] = {"@times_two_to($1, $2)", NULL, NULL, NULL, NULL},
    /* A comparison is an int of 0 or 1, as a bool is a byte of these. */
    [LAM__LOOP_eq] = {"$1 == $2", "$1 == $2", NULL, "$1 == $2", "$1 == $2"},
    [LAM__LOOP_ne] = {"$1 != $2", "$1 != $2", NULL, "$1 != $2", "$1 != $2"},
    [LAM__LOOP_lt] = {"$1 < $2", "$1 < $2", NULL, "$1 < $2", NULL},
    [LAM__LOOP_le] = {"$1 <= $2", "$1 <= $2", NULL, "$1 <= $2", NULL},
    [LAM__LOOP_gt] = {"$1 > $2", "$1 > $2", NULL, "$1 > $2", NULL},
    [LAM__LOOP_ge] = {"$1 >= $2", "$1 >= $2", NULL, "$1 >= $2", NULL},
    [LAM__LOOP_and] = {NULL, "$1 & $2", NULL, "$1 & $2", NULL},
    [LAM__LOOP_or] = {NULL, "$1 | $2", NULL, "$1 | $2", NULL},
    [LAM__LOOP_xor] = {NULL, "$1 ^ $2", NULL, "$1 ^ $2", NULL},
    [LAM__LOOP_where] = {"($1 ? $2 : $3)", "($1 ? $2 : $3)", NULL, "($1 ? $2 : $3)", "($1 ? $2 : $3)"},
    /* Of integers no operand is NaN, so one function without the care of min and max does. */
    [LAM__LOOP_clamp] = {"@min(@max($1, $2), $3)", "@clamp($1, $2, $3)", NULL, NULL, NULL},
    /* libm's fma rounds once, on machines without the instruction too. */
    [LAM__LOOP_fma] = {"fma$f($1, $2, $3)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_fnma] = {"fma$f(-$1, $2, $3)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_mul_div] = {"@mul_div($1, $2, $3)", NULL, NULL, NULL, "@div(@wide_mul($1, $2), $3)"},
    [LAM__LOOP_conj] = {NULL, NULL, NULL, NULL, "conj$f($1)"},
    [LAM__LOOP_nan_to_num] =
        {"($1 != $1 ? $4 : $1 == INFINITY ? $5 : $1 == -INFINITY ? $6 : $1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_population_count] = {NULL, "@ones($1)", NULL, NULL, NULL},
    [LAM__LOOP_clz] = {NULL, "@leading($1)", NULL, NULL, NULL},
    [LAM__LOOP_gcd] = {NULL, "@divisor($1, $2)", NULL, NULL, NULL},
    /* C leaves open what a shift by the width or more, or by less than 0, gives: here 0, or for arithmetic shifts the
     * sign in all bits. As $U a negative count is a large one. */
    [LAM__LOOP_shift_left] = {NULL, "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 << $2) : 0)", NULL, NULL, NULL},
    [LAM__LOOP_shift_right_logical] = {NULL, "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 >> $2) : 0)", NULL, NULL, NULL},
    [LAM__LOOP_shift_right_arithmetic] =
        {NULL, "($1 >> (($U)$2 < 8 * sizeof($T) ? $2 : ($T)(8 * sizeof($T) - 1)))",
         "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 >> $2) : 0)", NULL, NULL},
};
/* clang-format on */

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Powers that loops spell out; others by squaring. A negative power is the reciprocal of a positive one. The sign of
 * the exponent is in the form for floats, while others are given it with the number. */
static const char *integer_pow(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    int64_t n;
    memcpy(&n, q->params, sizeof n);
    snprintf(parameters[0], LAM__EMIT_NUMBER, "%lld", (long long)(lam__dtype_is_float(dtype) && n < 0 ? -n : n));
    if (dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_U8) return "@whole_power($1, $4)";
    if (dtype == LAM_C128 || dtype == LAM_C64) return "@complex_power($1, $4)";
    if (!lam__dtype_is_float(dtype)) return NULL;
    return n < 0 ? "1 / @power($1, $4)" : "@power($1, $4)";
}

/* Of positive powers the factor goes with the power, of negative ones with x. Up to 3 and down to -2 in the order of
 * the loop's own short forms, whose bits these are. */
static const char *times_power(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    lam__power k = {1, 1};
    if (q->params_bytes) memcpy(&k, q->params, sizeof k);
    if (!lam__dtype_is_float(dtype)) return NULL;
    lam__emit_real(dtype, dtype == LAM_F32 ? (double)(float)k.factor : k.factor, parameters[0]);
    snprintf(parameters[1], LAM__EMIT_NUMBER, "%lld", (long long)(k.exponent < 0 ? -k.exponent : k.exponent));
    switch (k.exponent) {
    case 1: return "$1 * ($4 * $2)";
    case 2: return "$1 * ($4 * ($2 * $2))";
    case 3: return "$1 * ($4 * ($2 * ($2 * $2)))";
    case -1: return "$1 * $4 / $2";
    case -2: return "$1 * $4 / ($2 * $2)";
    default: return k.exponent < 0 ? "$1 * $4 / @power($2, $5)" : "$1 * ($4 * @power($2, $5))";
    }
}

/* The parameter of a loop that has one, as $4; without bytes it is 0. Rounded to the dtype first, as the loop rounds
 * its parameter before it computes with it. */
static double one_number(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    double x = 0;
    if (q->params_bytes) memcpy(&x, q->params, sizeof x);
    lam__emit_real(dtype, dtype == LAM_F32 ? (double)(float)x : x, parameters[0]);
    return x;
}

/* A slope of 0 makes 0 of anything, where a product would make NaN of infinities. */
static const char *ramp(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    const double slope = one_number(q, dtype, parameters);
    return slope == 0 ? "($1 <= 0 ? 0 : $2)" : "($1 <= 0 ? $4 * $2 : $2)";
}

/* For NaN, +inf and -inf, in this order. */
static void replacements(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    lam__replacements r = {0, 0, 0};
    if (q->params_bytes) memcpy(&r, q->params, sizeof r);
    const double all[] = {r.nan, r.high, r.low};
    for (int i = 0; i < 3; i++) lam__emit_real(dtype, dtype == LAM_F32 ? (double)(float)all[i] : all[i], parameters[i]);
}

/* What loop_reduce_precision of simd/loops_float.h makes of the code. $4: bits of the fraction that fall off. $5 and
 * $6: the bits of the largest number that stays finite, and of the least that does not become 0. The text has no types
 * for f32's bits of its own, so both limits are written in 64 bits, which $U narrows. */
static void precision(int64_t code, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    const int own = dtype == LAM_F64 ? 52 : 23, bits = dtype == LAM_F64 ? 64 : 32;
    const int exponent = (int)(code >> 8 & 255), digits = (int)(code & 255), width = bits - 1 - own;
    const bool whole = exponent >= width;
    const uint64_t bias = whole || exponent < 1 ? 0 : (UINT64_C(1) << (exponent - 1)) - 1,
                   middle = (UINT64_C(1) << (width - 1)) - 1;
    const uint64_t infinite = (2 * middle + 1) << own;
    const uint64_t most = whole ? infinite : ((middle + bias + 1) << own) - 1,
                   least = whole ? 0 : (middle - bias + 1) << own;
    snprintf(parameters[0], LAM__EMIT_NUMBER, "%d", digits < own ? own - digits : 0);
    snprintf(parameters[1], LAM__EMIT_NUMBER, "UINT64_C(%llu)", (unsigned long long)most);
    snprintf(parameters[2], LAM__EMIT_NUMBER, "UINT64_C(%llu)", (unsigned long long)least);
}

/* Order of the function, whether it is scaled, order of the derivative: see lam__special_bessel_i. An unscaled code is
 * an order alone, which needs no bits for a derivative. */
static void bessel(int64_t code, char parameters[3][LAM__EMIT_NUMBER]) {
    const bool scaled = code & 1;
    const int64_t all[] = {scaled ? code >> 1 & 127 : code >> 1, scaled, scaled ? code >> 8 : 0};
    for (int i = 0; i < 3; i++) snprintf(parameters[i], LAM__EMIT_NUMBER, "%lld", (long long)all[i]);
}

/* NULL where the loop has no form for the dtype. Bytes are integers unless something else is said of them. What is 16
 * bits wide was refused before (check_type in emit.c). */
static const char *of_dtype(const expression *x, lam_dtype dtype) {
    switch (dtype) {
    case LAM_F64:
    case LAM_F32: return x->floats;
    case LAM_I64:
    case LAM_I32: return x->integers;
    case LAM_U8: return x->bytes ? x->bytes : x->integers;
    case LAM_BOOL: return x->bools;
    case LAM_C128:
    case LAM_C64: return x->complexes;
    default: return NULL;
    }
}

/* Compilers warn of comparisons whose outcome they see: of a whole number with itself, or of a byte with the ends of
 * its range. Functions hide that from them. NULL: the row compares nothing. Also max and min, which compare to
 * choose. */
const char *lam__emit_comparison(const lam__equation *q) {
    switch ((lam__loop_id)(q->primitive->loop - 1)) {
    case LAM__LOOP_eq: return "@is_equal($1, $2)";
    case LAM__LOOP_ne: return "!@is_equal($1, $2)";
    case LAM__LOOP_lt: return "@is_less($1, $2)";
    case LAM__LOOP_le: return "!@is_less($2, $1)";
    case LAM__LOOP_gt: return "@is_less($2, $1)";
    case LAM__LOOP_ge: return "!@is_less($1, $2)";
    case LAM__LOOP_max: return "(@is_less($1, $2) ? $2 : $1)";
    case LAM__LOOP_min: return "(@is_less($1, $2) ? $1 : $2)";
    default: return NULL;
    }
}

/* parameters[] get what $4 to $6 stand for in the text. NULL: there is no form. */
const char *lam__emit_expression(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    const lam__loop_id id = (lam__loop_id)(q->primitive->loop - 1);
    int64_t code = 0;
    if (q->params_bytes >= sizeof code) memcpy(&code, q->params, sizeof code);
    if (q->primitive == &lam__row_gamma) return lam__dtype_is_float(dtype) ? "tgamma$f($1)" : NULL;
    switch (id) {
    case LAM__LOOP_integer_pow: return integer_pow(q, dtype, parameters);
    case LAM__LOOP_times_power: return times_power(q, dtype, parameters);
    case LAM__LOOP_ramp: return ramp(q, dtype, parameters);
    case LAM__LOOP_reduce_precision: precision(code, dtype, parameters); break;
    case LAM__LOOP_huber_loss: one_number(q, dtype, parameters); break;
    case LAM__LOOP_nan_to_num: replacements(q, dtype, parameters); break;
    case LAM__LOOP_pow_slope:
    case LAM__LOOP_atan2_slope:
    case LAM__LOOP_polygamma: snprintf(parameters[0], LAM__EMIT_NUMBER, "%lld", (long long)code); break;
    case LAM__LOOP_bessel_i: bessel(code, parameters); break;
    case LAM__LOOP_erfcx:
    case LAM__LOOP_mish_slope:
        if (code) return NULL; /* the function itself, or the first derivative, alone */
        break;
    default: break;
    }
    return of_dtype(&expressions[id], dtype);
}
