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

/* One line per loop. */
/* clang-format off */
static const expression expressions[LAM__LOOP_COUNT] = {
    [LAM__LOOP_neg] = {"-$1", "($T)(0 - ($U)$1)", NULL, NULL, "-$1"},
    [LAM__LOOP_abs] = {"fabs$f($1)", "($1 > 0 ? $1 : ($T)(0 - ($U)$1))", "$1", NULL, NULL},
    [LAM__LOOP_sign] = {"($1 > 0 ? 1 : $1 < 0 ? -1 : $1)", "($1 > 0) - ($1 < 0)", "$1 > 0", NULL, NULL},
    [LAM__LOOP_square] = {"$1 * $1", "($T)(($U)$1 * ($U)$1)", NULL, NULL, "@square($1)"},
    [LAM__LOOP_floor] = {"floor$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ceil] = {"ceil$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_round] = {"rint$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_trunc] = {"trunc$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_sqrt] = {"sqrt$f($1)", NULL, NULL, NULL, "csqrt$f($1)"},
    [LAM__LOOP_rsqrt] = {"1 / sqrt$f($1)", NULL, NULL, NULL, "1 / csqrt$f($1)"},
    [LAM__LOOP_cbrt] = {"cbrt$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_reciprocal] = {"1 / $1", NULL, NULL, NULL, "1 / $1"},
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
    [LAM__LOOP_tanh_slope] = {"4 * @logistic_slope(2 * $1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erf] = {"erf$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erfc] = {"erfc$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_erf_inv] = {"($T)@erf_inv($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ndtr] = {"@ndtr($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_lgamma] = {"lgamma$f($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_digamma] = {"@digamma($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_softplus] = {"@softplus($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_silu] = {"@silu($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_silu_slope] = {"@silu_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_mish] = {"@mish($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu] = {"@gelu($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_slope] = {"@gelu_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_tanh] = {"@gelu_tanh($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_gelu_tanh_slope] = {"@gelu_tanh_slope($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logit] = {"@logit($1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_softsign] = {"(fabs$f($1) == INFINITY ? copysign$f(1, $1) : $1 / (1 + fabs$f($1)))",
                            NULL, NULL, NULL, NULL},
    [LAM__LOOP_huber_loss] = {"@huber_loss($1, $2, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hard_gate] = {"@hard_gate($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log_ratio] = {"@log_ratio($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_rel_entr] = {"@rel_entr($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_reduce_precision] = {"@rounded($1, $4, $5, $6)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_rel_entr_slope] = {"($1 <= 0 || $2 <= 0 ? 0 : 1 + @log_ratio($1, $2))", NULL, NULL, NULL, NULL},
    [LAM__LOOP_entr] = {"($1 == 0 ? 0 : $1 < 0 ? -INFINITY : -$1 * log$f($1))", NULL, NULL, NULL, NULL},
    [LAM__LOOP_entr_slope] = {"($1 <= 0 ? 0 : -1 - log$f($1))", NULL, NULL, NULL, NULL},
    [LAM__LOOP_xlogy] = {"@xlogy($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_xlog1py] = {"@xlog1py($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_pow_slope] = {"@pow_slope($1, $2, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hypot_slope] = {"@hypot_slope($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_atan2_slope] = {"@atan_slope($1, $2, $4)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_is_finite] = {"$1 - $1 == 0", NULL, NULL, NULL, "@is_finite($1)"},
    [LAM__LOOP_is_nan] = {"$1 != $1", NULL, NULL, NULL, "$1 != $1"},
    [LAM__LOOP_not] = {NULL, "($T)~$1", "($T)~$1", "!$1", NULL},
    [LAM__LOOP_add] = {"$1 + $2", "($T)(($U)$1 + ($U)$2)", NULL, "$1 | $2", "$1 + $2"},
    [LAM__LOOP_sub] = {"$1 - $2", "($T)(($U)$1 - ($U)$2)", NULL, NULL, "$1 - $2"},
    [LAM__LOOP_mul] = {"$1 * $2", "($T)(($U)$1 * ($U)$2)", NULL, "$1 & $2", "@mul($1, $2)"},
    [LAM__LOOP_div] = {"$1 / $2", NULL, NULL, NULL, "$1 / $2"},
    [LAM__LOOP_rem] = {"fmod$f($1, $2)", "($2 == 0 || $2 == -1 ? 0 : $1 % $2)", "($2 == 0 ? 0 : $1 % $2)", NULL, NULL},
    [LAM__LOOP_pow] = {"pow$f($1, $2)", NULL, NULL, NULL, "cpow$f($1, $2)"},
    [LAM__LOOP_max] = {"@max($1, $2)", "($1 > $2 ? $1 : $2)", NULL, "$1 | $2", NULL},
    [LAM__LOOP_min] = {"@min($1, $2)", "($1 < $2 ? $1 : $2)", NULL, "$1 & $2", NULL},
    [LAM__LOOP_atan2] = {"atan2$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_hypot] = {"hypot$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp] = {"@logaddexp($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp2] = {"@logadd_two($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp_slope] = {"@share($1, $2, 1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_logaddexp2_slope] = {"@share($1, $2, ($T)0x1.62e42fefa39efp-1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_log_cosh] = {"@log_cosh($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_exp_gap] = {"exp$f($1 - $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_copysign] = {"copysign$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_nextafter] = {"nextafter$f($1, $2)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_ldexp] = {"@times_two_to($1, $2)", NULL, NULL, NULL, NULL},
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
    [LAM__LOOP_clamp] = {"@min(@max($1, $2), $3)", "@clamp($1, $2, $3)", NULL, NULL, NULL},
    [LAM__LOOP_fma] = {"fma$f($1, $2, $3)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_fnma] = {"fma$f(-$1, $2, $3)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_mul_div] = {"@mul_div($1, $2, $3)", NULL, NULL, NULL, "@mul($1, $2) / $3"},
    [LAM__LOOP_conj] = {NULL, NULL, NULL, NULL, "conj$f($1)"},
    [LAM__LOOP_nan_to_num] =
        {"($1 != $1 ? $4 : $1 == INFINITY ? $5 : $1 == -INFINITY ? $6 : $1)", NULL, NULL, NULL, NULL},
    [LAM__LOOP_population_count] = {NULL, "@ones($1)", NULL, NULL, NULL},
    [LAM__LOOP_clz] = {NULL, "@leading($1)", NULL, NULL, NULL},
    [LAM__LOOP_gcd] = {NULL, "@divisor($1, $2)", NULL, NULL, NULL},
    [LAM__LOOP_shift_left] = {NULL, "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 << $2) : 0)", NULL, NULL, NULL},
    [LAM__LOOP_shift_right_logical] = {NULL, "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 >> $2) : 0)", NULL, NULL, NULL},
    [LAM__LOOP_shift_right_arithmetic] =
        {NULL, "($1 >> (($U)$2 < 8 * sizeof($T) ? $2 : ($T)(8 * sizeof($T) - 1)))",
         "(($U)$2 < 8 * sizeof($T) ? ($T)(($U)$1 >> $2) : 0)", NULL, NULL},
};

const lam__emit_helper lam__emit_scalars[] = {
    {"max",
     "static $T max_$S($T x, $T y) {\n"
     "    if (x == y) return signbit(x) ? y : x;\n"
     "    return x > y || x != x ? x : y;\n}\n"},
    {"min",
     "static $T min_$S($T x, $T y) {\n"
     "    if (x == y) return signbit(x) ? x : y;\n"
     "    return x < y || x != x ? x : y;\n}\n"},
    {"equal", "static int equal_$S($T x, $T y) {\n    return x == y;\n}\n"},
    {"less", "static int less_$S($T x, $T y) {\n    return x < y;\n}\n"},
    {"clamp",
     "static $T clamp_$S($T x, $T low, $T high) {\n"
     "    const $T least = x > low ? x : low;\n"
     "    return least < high ? least : high;\n}\n"},
    {"mul_div",
     "/* x y / z, where x y alone leaves the range too. */\n"
     "static $T mul_div_$S($T x, $T y, $T z) {\n"
     "    const $T size = fabs$f(x * y), least = sizeof($T) == 8 ? ($T)0x1p-1022 : ($T)0x1p-126;\n"
     "    int a, b, c;\n"
     "    if (!(size < least || size > 1 / least) || x == 0 || y == 0 || x - x != 0 || y - y != 0) return x * y / z;\n"
     "    if (z == 0 || z - z != 0) return x / z * y;\n"
     "    x = frexp$f(x, &a);\n"
     "    y = frexp$f(y, &b);\n"
     "    z = frexp$f(z, &c);\n"
     "    return ldexp$f(x * y / z, a + b - c);\n}\n"},
    {"to_i64",
     "static int64_t to_i64_f64(double x) {\n"
     "    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;\n}\n"},
    {"to_i32",
     "static int32_t to_i32_f64(double x) {\n"
     "    return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (int32_t)x;\n}\n"},
    {"to_u8",
     "static uint8_t to_u8_f64(double x) {\n"
     "    return x > 0 ? x < 255 ? (uint8_t)x : 255 : 0;\n}\n"},
    {"power",
     "static $T power_$S($T base, uint64_t n) {\n"
     "    $T result = 1;\n"
     "    for (; n; n >>= 1, base *= base)\n"
     "        if (n & 1) result *= base;\n"
     "    return result;\n}\n"},
    {"complex_power",
     "static $T complex_power_$S($T base, int64_t n) {\n"
     "    $T result = 1;\n"
     "    for (int64_t k = n < 0 ? -n : n; k; k >>= 1, base = @mul(base, base))\n"
     "        if (k & 1) result = @mul(result, base);\n"
     "    return n < 0 ? 1 / result : result;\n}\n"},
    {"whole_power",
     "static $T whole_power_$S($T x, int64_t n) {\n"
     "    uint64_t base = (uint64_t)x, result = 1;\n"
     "    if (n < 0) return x == 1 ? 1 : x + 1 == 0 ? ($T)(n % 2 ? -1 : 1) : 0;\n"
     "    for (; n; n >>= 1, base *= base) result *= n & 1 ? base : 1;\n"
     "    return ($T)result;\n}\n"},
    {"times_two_to",
     "static $T times_two_to_$S($T x, $T y) {\n"
     "    return y != y ? x + y : ldexp$f(x, y > 9999 ? 9999 : y < -9999 ? -9999 : (int)rint$f(y));\n}\n"},
    {"logistic",
     "static $T logistic_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x));\n"
     "    return (x < 0 ? e : 1) / (1 + e);\n}\n"},
    {"logistic_slope",
     "static $T logistic_slope_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x));\n"
     "    return e / ((1 + e) * (1 + e));\n}\n"},
    {"softplus",
     "static $T softplus_$S($T x) {\n"
     "    return (x > 0 ? x : 0) + log1p$f(exp$f(-fabs$f(x)));\n}\n"},
    {"erf_inv",
     "/* Newton's method on erf, in the tail on the logarithm of erfc; 1.128... is 2 / sqrt(pi). */\n"
     "static double erf_inv_$S(double x) {\n"
     "    const double size = fabs(x), slope = 0x1.20dd750429b6dp+0, goal = log(1 - size);\n"
     "    double y = size <= 0.5 ? size / slope : sqrt(-goal);\n"
     "    if (!(size < 1)) return size == 1 ? copysign(INFINITY, x) : NAN;\n"
     "    for (int k = 0; k < 8; k++)\n"
     "        if (size <= 0.5) y -= (erf(y) - size) * exp(y * y) / slope;\n"
     "        else y += (log(erfc(y)) - goal) * erfc(y) * exp(y * y) / slope;\n"
     "    return copysign(y, x);\n}\n"},
    {"digamma",
     "/* Reflected from the left, up to 12 by its recurrence, and there its asymptotic series. */\n"
     "static $T digamma_$S($T x) {\n"
     "    $T sum = 0;\n"
     "    if (x == 0) return copysign$f(INFINITY, -x);\n"
     "    if (x < 0) {\n"
     "        const $T part = x - floor$f(x);\n"
     "        if (part == 0 || x - x != 0) return NAN;\n"
     "        sum = ($T)-0x1.921fb54442d18p+1 / tan$f(($T)0x1.921fb54442d18p+1 * part);\n"
     "        x = 1 - x;\n    }\n"
     "    for (; x < 12; x += 1) sum -= 1 / x;\n"
     "    const $T y = 1 / (x * x);\n"
     "    const $T far = 1 / ($T)240 - y * (1 / ($T)132 - y * (691 / ($T)32760 - y / 12));\n"
     "    const $T tail = y * (1 / ($T)12 - y * (1 / ($T)120 - y * (1 / ($T)252 - y * far)));\n"
     "    return sum + (log$f(x) - 1 / (2 * x) - tail);\n"
     "}\n"},
    {"ndtr",
     "static $T ndtr_$S($T x) {\n"
     "    return erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2;\n}\n"},
    {"silu",
     "static $T silu_$S($T x) {\n"
     "    return x < -800 ? -($T)0 : x / (1 + exp$f(-x));\n}\n"},
    {"silu_slope",
     "static $T silu_slope_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x)), d = 1 + e;\n"
     "    if (fabs$f(x) > 800) return x > 0;\n"
     "    return x < 0 ? e * (d + x) / (d * d) : (d + x * e) / (d * d);\n}\n"},
    {"mish",
     "static $T mish_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x)), left = e * (2 + e);\n"
     "    if (fabs$f(x) > 800) return x > 0 ? x : -($T)0;\n"
     "    return x < 0 ? x * (left / (2 + left)) : x * ((1 + 2 * e) / (1 + 2 * e * (1 + e)));\n}\n"},
    {"gelu",
     "static $T gelu_$S($T x) {\n"
     "    return x < -100 ? -($T)0 : x * (erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2);\n}\n"},
    {"gelu_slope",
     "static $T gelu_slope_$S($T x) {\n"
     "    if (fabs$f(x) > 100) return x > 0 ? 1 : -($T)0;\n"
     "    return erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2 + ($T)0x1.9884533d43651p-2 * x * exp$f(-x * x / 2);\n}\n"},
    {"gelu_tanh",
     "static $T gelu_tanh_$S($T x) {\n"
     "    const $T c = x * (($T)0x1.9884533d43651p+0 + ($T)0x1.2444f2a4d8b4bp-4 * (x * x));\n"
     "    if (fabs$f(x) > 22) return x > 0 ? x : -($T)0;\n"
     "    return x / (1 + exp$f(-c));\n}\n"},
    {"gelu_tanh_slope",
     "static $T gelu_tanh_slope_$S($T x) {\n"
     "    const $T size = fabs$f(x), linear = ($T)0x1.9884533d43651p+0 * size;\n"
     "    const $T cubic = ($T)0x1.2444f2a4d8b4bp-4 * size * (x * x), w = linear + 3 * cubic;\n"
     "    const $T e = exp$f(-(linear + cubic)), d = 1 + e;\n"
     "    if (size > 22) return x > 0 ? 1 : -($T)0;\n"
     "    return x < 0 ? e / d * (1 - w / d) : (1 + w * (e / d)) / d;\n}\n"},
    {"logit",
     "static $T logit_$S($T x) {\n"
     "    return fabs$f(x - ($T)0.5) < ($T)0.25 ? 2 * atanh$f(2 * x - 1) : log$f(x) - log1p$f(-x);\n}\n"},
    {"hard_gate",
     "static $T hard_gate_$S($T x, $T y) {\n"
     "    const $T up = x + 3, open = up < 0 ? 0 : up;\n"
     "    return y * ((open > 6 ? 6 : open) / 6);\n}\n"},
    {"huber_loss",
     "static $T huber_loss_$S($T x, $T y, $T delta) {\n"
     "    const $T d = x - y, low = d < -delta ? -delta : d, c = low > delta ? delta : low;\n"
     "    return c * (d - c) + ($T)0.5 * (c * c);\n}\n"},
    {"xlogy",
     "static $T xlogy_$S($T x, $T y) {\n"
     "    return x == 0 && y == y ? 0 : x * log$f(y);\n}\n"},
    {"xlog1py",
     "static $T xlog1py_$S($T x, $T y) {\n"
     "    return x == 0 && y == y ? 0 : x * log1p$f(y);\n}\n"},
    {"log_ratio",
     "static $T log_ratio_$S($T x, $T y) {\n"
     "    const $T ratio = x / y;\n"
     "    if (ratio > ($T)0.5 && ratio < 2) return log1p$f((x - y) / y);\n"
     "    return isfinite(ratio) && ratio > 0 ? log$f(ratio) : log$f(x) - log$f(y);\n}\n"},
    {"rel_entr",
     "static $T rel_entr_$S($T x, $T y) {\n"
     "    if (x != x || y != y) return x + y;\n"
     "    if (x < 0 || y < 0 || (y == 0 && x > 0)) return INFINITY;\n"
     "    return x == 0 ? 0 : x * @log_ratio(x, y);\n}\n"},
    {"rounded",
     "/* `cut` bits fall off; sizes above `most` become infinite, those below `least` 0. */\n"
     "static $T rounded_$S($T x, int cut, $U most, $U least) {\n"
     "    const $U one = 1, sign = one << (8 * sizeof x - 1);\n"
     "    const $T infinite = INFINITY;\n"
     "    $U bits, ends;\n"
     "    memcpy(&bits, &x, sizeof x);\n"
     "    memcpy(&ends, &infinite, sizeof x);\n"
     "    const $U size = bits & ~sign, half = cut ? (one << (cut - 1)) - 1 + (size >> cut & 1) : 0;\n"
     "    const $U kept = (size + half) >> cut << cut;\n"
     "    const $U out = (kept > most ? ends : kept < least ? 0 : kept) | (bits & sign);\n"
     "    if (x == x) memcpy(&x, &out, sizeof x);\n"
     "    return x;\n}\n"},
    {"pow_slope",
     "/* The derivative of x^y: n times by x, or once by y (code 1). */\n"
     "static $T pow_slope_$S($T x, $T y, int code) {\n"
     "    $T factor = 1;\n"
     "    if (code == 1) return x == 0 && y > 0 ? 0 : pow$f(x, y) * log$f(x);\n"
     "    for (int i = 0; i < code >> 6; i++) factor *= y - i;\n"
     "    return factor == 0 ? x + y - (x + y) : factor * pow$f(x, y - (code >> 6));\n}\n"},
    {"hypot_slope",
     "static $T hypot_slope_$S($T x, $T y) {\n"
     "    if (x == 0 && y == 0) return x;\n"
     "    return x - x != 0 && y - y == 0 && x == x ? copysign$f(1, x) : x / hypot$f(x, y);\n}\n"},
    {"atan_slope",
     "/* Derivatives of x / (x^2 + y^2): code >> 6 of them by x, the rest by y. */\n"
     "static $T atan_slope_$S($T x, $T y, int code) {\n"
     "    const $T size = hypot$f(x, y), c = x / size / size, s = y / size / size;\n"
     "    $T re = c, im = -s, factor = 1;\n"
     "    if (isinf(size)) return 0;\n"
     "    for (int k = 1; k <= (code >> 6) + (code & 63); k++) {\n"
     "        const $T next = re * c + im * s;\n"
     "        im = im * c - re * s;\n"
     "        re = next;\n"
     "        factor *= ($T)-k;\n    }\n"
     "    return factor * (code & 63 ? -im : re);\n}\n"},
    {"logaddexp",
     "static $T logaddexp_$S($T x, $T y) {\n"
     "    if (x == y || x != x || y != y) return isinf(x) || x != y ? x + y : x + ($T)0x1.62e42fefa39efp-1;\n"
     "    return (x > y ? x : y) + log1p$f(exp$f(-fabs$f(x - y)));\n}\n"},
    {"logadd_two",
     "static $T logadd_two_$S($T x, $T y) {\n"
     "    if (x == y || x != x || y != y) return isinf(x) || x != y ? x + y : x + 1;\n"
     "    return (x > y ? x : y) + log1p$f(exp2$f(-fabs$f(x - y))) / ($T)0x1.62e42fefa39efp-1;\n}\n"},
    {"share",
     "/* The logistic function of unit (x - y), which is 0 between equal infinities. */\n"
     "static $T share_$S($T x, $T y, $T unit) {\n"
     "    const $T lead = x == y ? 0 : unit * (x - y), e = exp$f(-fabs$f(lead));\n"
     "    return (lead < 0 ? e : 1) / (1 + e);\n}\n"},
    {"log_cosh",
     "static $T log_cosh_$S($T x, $T y) {\n"
     "    const $T size = fabs$f(x - y), half = sinh$f(size < 1 ? size / 2 : 0);\n"
     "    if (size < 1) return log1p$f(2 * half * half);\n"
     "    return size - ($T)0x1.62e42fefa39efp-1 + log1p$f(exp$f(-2 * size));\n}\n"},
    {"mul",
     "/* The formula as it stands: an infinite factor gives NaN. */\n"
     "static $T mul_$S($T x, $T y) {\n"
     "    const $U a = creal$f(x), b = cimag$f(x), c = creal$f(y), d = cimag$f(y);\n"
     "    const $T z = @join(a * c - b * d, a * d + b * c);\n"
     "    return z;\n}\n"},
    {"square",
     "static $T square_$S($T x) {\n"
     "    const $U a = creal$f(x), b = cimag$f(x);\n"
     "    return @join((a - b) * (a + b), 2 * a * b);\n}\n"},
    {"is_finite",
     "static uint8_t is_finite_$S($T x) {\n"
     "    return creal$f(x) - creal$f(x) == 0 && cimag$f(x) - cimag$f(x) == 0;\n}\n"},
    {"join",
     "static $T join_$S($U re, $U im) {\n"
     "    const $U both[2] = {re, im};\n"
     "    $T z;\n"
     "    memcpy(&z, both, sizeof z);\n"
     "    return z;\n}\n"},
    {"ones",
     "static $T ones_$S($T x) {\n"
     "    $T count = 0;\n"
     "    for (unsigned i = 0; i < 8 * sizeof x; i++) count += ($T)(($U)x >> i & 1);\n"
     "    return count;\n}\n"},
    {"leading",
     "static $T leading_$S($T x) {\n"
     "    $T count = 0;\n"
     "    for (unsigned i = 8 * sizeof x; i-- && !(($U)x >> i & 1);) count++;\n"
     "    return count;\n}\n"},
    {"divisor",
     "static $T divisor_$S($T x, $T y) {\n"
     "    $U a = x > 0 ? ($U)x : ($U)(0 - ($U)x), b = y > 0 ? ($U)y : ($U)(0 - ($U)y);\n"
     "    while (b) {\n"
     "        const $U rest = a % b;\n"
     "        a = b;\n"
     "        b = rest;\n    }\n"
     "    return ($T)a;\n}\n"},
    {NULL, NULL},
};
/* clang-format on */

/* ---- parameters -------------------------------------------------------------------------------------------------- */

/* Powers that loops spell out; others by squaring. A negative power is the reciprocal of a positive one. */
static const char *integer_pow(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    int64_t n;
    memcpy(&n, q->params, sizeof n);
    snprintf(parameters[0], LAM__EMIT_NUMBER, "%lld", (long long)(lam__dtype_is_float(dtype) && n < 0 ? -n : n));
    if (dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_U8) return "@whole_power($1, $4)";
    if (dtype == LAM_C128 || dtype == LAM_C64) return "@complex_power($1, $4)";
    if (!lam__dtype_is_float(dtype)) return NULL;
    return n < 0 ? "1 / @power($1, $4)" : "@power($1, $4)";
}

/* Of positive powers the factor goes with the power, of negative ones with x. */
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

/* The parameter of a loop that has one, as $4; without bytes it is 0. */
static double one_number(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    double x = 0;
    if (q->params_bytes) memcpy(&x, q->params, sizeof x);
    lam__emit_real(dtype, dtype == LAM_F32 ? (double)(float)x : x, parameters[0]);
    return x;
}

static const char *ramp(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    const double slope = one_number(q, dtype, parameters);
    return slope == 0 ? "($1 <= 0 ? 0 : $2)" : "($1 <= 0 ? $4 * $2 : $2)";
}

static void replacements(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]) {
    lam__replacements r = {0, 0, 0};
    if (q->params_bytes) memcpy(&r, q->params, sizeof r);
    const double all[] = {r.nan, r.high, r.low};
    for (int i = 0; i < 3; i++) lam__emit_real(dtype, dtype == LAM_F32 ? (double)(float)all[i] : all[i], parameters[i]);
}

/* What loop_reduce_precision of simd/loops_float.h makes of the code. */
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
 * its range. Functions hide that from them. NULL: the row compares nothing. */
const char *lam__emit_comparison(const lam__equation *q) {
    switch ((lam__loop_id)(q->primitive->loop - 1)) {
    case LAM__LOOP_eq: return "@equal($1, $2)";
    case LAM__LOOP_ne: return "!@equal($1, $2)";
    case LAM__LOOP_lt: return "@less($1, $2)";
    case LAM__LOOP_le: return "!@less($2, $1)";
    case LAM__LOOP_gt: return "@less($2, $1)";
    case LAM__LOOP_ge: return "!@less($1, $2)";
    case LAM__LOOP_max: return "(@less($1, $2) ? $2 : $1)";
    case LAM__LOOP_min: return "(@less($1, $2) ? $1 : $2)";
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
        if ((code & 63) && code != 1) return NULL;
        snprintf(parameters[0], LAM__EMIT_NUMBER, "%lld", (long long)code);
        break;
    case LAM__LOOP_atan2_slope: snprintf(parameters[0], LAM__EMIT_NUMBER, "%lld", (long long)code); break;
    default: break;
    }
    return of_dtype(&expressions[id], dtype);
}
