/* Programs as C, the text of functions of elements: what the table in emit_scalar.c calls by @name, written to a file
 * once for each dtype that uses it. They are right to the accuracy of libm's functions, like the table. Coefficients
 * are hexadecimal, so that every compiler makes the same numbers of them. See emit_writer.h. */
#include "lib/program/emit_writer.h"

/* clang-format off */
const lam__emit_helper lam__emit_scalars[] = {
    /* As in simd/elements.h: of zeros the largest is +0 and the least -0, and NaN in one operand makes NaN. */
    {"max",
     "static $T max_$S($T x, $T y) {\n"
     "    if (x == y) return signbit(x) ? y : x;\n"
     "    return x > y || x != x ? x : y;\n}\n"},
    {"min",
     "static $T min_$S($T x, $T y) {\n"
     "    if (x == y) return signbit(x) ? x : y;\n"
     "    return x < y || x != x ? x : y;\n}\n"},
    /* Of whole numbers (lam__emit_comparison). The order of floats is `less` in emit_index.c. */
    {"is_equal", "static int is_equal_$S($T x, $T y) {\n    return x == y;\n}\n"},
    {"is_less", "static int is_less_$S($T x, $T y) {\n    return x < y;\n}\n"},
    /* As min(max(x, low), high): where low is above high, it is high. */
    {"clamp",
     "static $T clamp_$S($T x, $T low, $T high) {\n"
     "    const $T least = x > low ? x : low;\n"
     "    return least < high ? least : high;\n}\n"},
    /* Signs of zeros and what infinities give are those of x y / z as it stands; only where the product alone leaves
     * the range are exponents taken off and put back. A z that is 0 or infinite has none to take off, so it divides
     * first. */
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
    /* Floats saturate, NaN is 0: what C leaves open. The first number that is too large is a power of 2, which a double
     * holds, while INT64_MAX itself is none. */
    {"to_i64",
     "static int64_t to_i64_f64(double x) {\n"
     "    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;\n}\n"},
    /* Between INT32_MAX and 2^31 a cast cuts what is behind the point. */
    {"to_i32",
     "static int32_t to_i32_f64(double x) {\n"
     "    return x != x ? 0 : x >= 0x1p31 ? INT32_MAX : x <= -0x1p31 ? INT32_MIN : (int32_t)x;\n}\n"},
    {"to_u8",
     "static uint8_t to_u8_f64(double x) {\n"
     "    return x > 0 ? x < 255 ? (uint8_t)x : 255 : 0;\n}\n"},
    /* By squaring, from the lowest bit on, with the products that NAME(power) of simd/loops_float.h makes. */
    {"power",
     "static $T power_$S($T base, uint64_t n) {\n"
     "    $T result = 1;\n"
     "    for (; n; n >>= 1, base *= base)\n"
     "        if (n & 1) result *= base;\n"
     "    return result;\n}\n"},
    /* Products are the formula, not C's *, which may look for infinities behind NaN (C11 G.5.1). */
    {"raised",
     "static double _Complex raised_$S(double _Complex x, uint64_t n) {\n"
     "    double _Complex result = 1;\n"
     "    for (; n; n >>= 1, x = @wide_mul(x, x))\n"
     "        if (n & 1) result = @wide_mul(result, x);\n"
     "    return result;\n}\n"},
    /* As lam__complex_integer_pow, in double whatever the type. */
    {"complex_power",
     "static $T complex_power_$S(double _Complex x, int64_t n) {\n"
     "    const uint64_t k = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;\n"
     "    const double _Complex power = @raised(x, k);\n"
     "    const double size = fmax(fabs(creal(power)), fabs(cimag(power)));\n"
     "    if (n >= 0) return ($T)power;\n"
     "    return size > 0x1p-1000 && size < 0x1p1000 ? @div(1, power) : ($T)@raised(@c128:div(1, x), k);\n}\n"},
    /* Products wrap around. Negative powers are whole numbers of 1 and -1 alone. As unsigned numbers of 64 bits
     * whatever the dtype: low bits of a product depend on low bits alone. */
    {"whole_power",
     "static $T whole_power_$S($T x, int64_t n) {\n"
     "    uint64_t base = (uint64_t)x, result = 1;\n"
     "    if (n < 0) return x == 1 ? 1 : x + 1 == 0 ? ($T)(n % 2 ? -1 : 1) : 0;\n"
     "    for (; n; n >>= 1, base *= base) result *= n & 1 ? base : 1;\n"
     "    return ($T)result;\n}\n"},
    /* The exponent is a number of x's dtype, which may be larger than any int. Beyond 9999 either way any number is 0
     * or infinite already. */
    {"times_two_to",
     "static $T times_two_to_$S($T x, $T y) {\n"
     "    return y != y ? x + y : ldexp$f(x, y > 9999 ? 9999 : y < -9999 ? -9999 : (int)rint$f(y));\n}\n"},
    /* By exponentials of numbers below 0, which do not overflow, in this one and those that follow. */
    {"logistic",
     "static $T logistic_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x));\n"
     "    return (x < 0 ? e : 1) / (1 + e);\n}\n"},
    /* Even in x, so one exponential of -|x| serves both sides. */
    {"logistic_slope",
     "static $T logistic_slope_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x));\n"
     "    return e / ((1 + e) * (1 + e));\n}\n"},
    /* log(1 + exp x) = max(x, 0) + log(1 + exp -|x|). */
    {"softplus",
     "static $T softplus_$S($T x) {\n"
     "    return (x > 0 ? x : 0) + log1p$f(exp$f(-fabs$f(x)));\n}\n"},
    /* Maechler, Accurately Computing log(1 - exp(-|a|)), 2012: log 2 is where either form begins to lose digits. */
    {"log1mexp",
     "static $T log1mexp_$S($T x) {\n"
     "    return x < ($T)0x1.62e42fefa39efp-1 ? log$f(-expm1$f(-x)) : log1p$f(-exp$f(-x));\n}\n"},
    {"log1mexp_slope",
     "static $T log1mexp_slope_$S($T x) {\n"
     "    if (x == 0) return INFINITY;\n"
     "    return x < 0 ? NAN : exp$f(-x) / -expm1$f(-x);\n}\n"},
    /* Right digits double with each step, so eight are enough from either start. The factor exp(y^2) is 1 over the
     * slope of erf, up to the constant. */
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
    /* Reflection DLMF 5.5.4, recurrence 5.5.2, asymptotic series 5.11.2 with seven Bernoulli numbers. At 12 the first
     * term that is left out is 2e-18 (B16 / (16 x^16)), below a rounding of the sum. */
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
    /* As in special/gamma.c, in double: the sum by Euler's and Maclaurin's formula, DLMF 25.11.28 with six Bernoulli
     * numbers; on the left it is that over all integers less that of the other side. How far x has to go grows with s,
     * since the terms that are left out do. */
    {"hurwitz",
     "/* The sum of (x + k)^-s over k = 0, 1, ... for x > 0, s > 1. */\n"
     "static double hurwitz_$S(int s, double x) {\n"
     "    static const double bernoulli[] = {1 / 6.0, -1 / 30.0, 1 / 42.0, -1 / 30.0, 5 / 66.0, -691 / 2730.0};\n"
     "    double sum = 0, series = 0.5;\n"
     "    for (; x < 16 + 2 * s; x += 1) sum += pow(x, -s);\n"
     "    double term = 1 / x;\n"
     "    for (int j = 1; j <= 6; j++) {\n"
     "        term *= (s + 2 * j - 2) / (2.0 * j);\n"
     "        series += bernoulli[j - 1] * term;\n"
     "        term *= (s + 2 * j - 1) / (2.0 * j + 1) / (x * x);\n    }\n"
     "    return sum + series * pow(x, -s) + pow(x, 1 - s) / (s - 1);\n}\n"},
    /* (-1)^s n! times the sum, DLMF 25.11.12. Half way between integers the two sides of odd s are equal, and their
     * difference is left out instead of rounded. */
    {"polygamma",
     "static double polygamma_$S(double x, int n) {\n"
     "    const int s = n + 1;\n"
     "    const double a = x - rint(x), sign = s % 2 ? -1 : 1;\n"
     "    double sum;\n"
     "    if (n == 0) return @digamma(x);\n"
     "    if (x - x != 0) return x > 0 ? 0 : NAN;\n"
     "    if (x > 0) sum = @hurwitz(s, x);\n"
     "    else if (a == 0) sum = s % 2 == 0 ? INFINITY : x == 0 ? copysign(INFINITY, x) : NAN;\n"
     "    else if (s % 2 && fabs(a) == 0.5) sum = @hurwitz(s, 1 - x);\n"
     "    else sum = pow(a, -s) + @hurwitz(s, 1 + a) + sign * (@hurwitz(s, 1 - a) - @hurwitz(s, 1 - x));\n"
     "    return sign * tgamma(s) * sum;\n}\n"},
    /* What x^2 lost by rounding comes back as a factor; beyond 10 the asymptotic series, A&S 7.1.23. */
    {"erfcx",
     "/* exp(x^2) erfc(x). */\n"
     "static double erfcx_$S(double x) {\n"
     "    const double square = x * x, half = -0.5 / square;\n"
     "    double sum = 1, term = 1;\n"
     "    if (x < -27) return INFINITY;\n"
     "    if (x < 10) return exp(square) * (1 + fma(x, x, -square)) * erfc(x);\n"
     "    for (int k = 1; k <= 14; k++) sum += term *= half * (2 * k - 1);\n"
     "    return sum / (x * 0x1.c5bf891b4ef6bp+0);\n}\n"},
    /* Far on the left the density comes off as -x^2 / 2; far on the right the logarithm of 1 less something is that
     * something. Beyond 40 this is less than any double. */
    {"log_ndtr",
     "static double log_ndtr_$S(double x) {\n"
     "    const double z = x * 0x1.6a09e667f3bcdp-1;\n"
     "    const double square = x * x / 2, lost = fma(x, x / 2, -square);\n"
     "    if (x < -1) return log(@erfcx(-z) / 2) - square;\n"
     "    if (x < 5) return x < 0 ? log(erfc(-z) / 2) : log1p(-erfc(z) / 2);\n"
     "    return x > 40 ? -0.0 : log1p(-@erfcx(z) / 2 * exp(-square) * (1 - lost));\n}\n"},
    /* Newton's method on the logarithm, which is concave. */
    {"erfc_inv",
     "/* y with erfc(y) = q, for 0 < q <= 1. */\n"
     "static double erfc_inv_$S(double q) {\n"
     "    const double goal = log(q);\n"
     "    double y = sqrt(-goal);\n"
     "    if (q > 0.5) return @erf_inv(1 - q);\n"
     "    for (int k = 0; k < 8; k++) {\n"
     "        const double e = @erfcx(y);\n"
     "        y += (log(e) - y * y - goal) * e / 0x1.20dd750429b6dp+0;\n    }\n"
     "    return y;\n}\n"},
    /* 2 p - 1 is exact in the middle, and so is 2 - 2 p on the right (Sterbenz), so nothing is lost before the
     * inverse. */
    {"ndtri",
     "static double ndtri_$S(double p) {\n"
     "    if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;\n"
     "    if (p > 0.25 && p < 0.75) return 0x1.6a09e667f3bcdp+0 * @erf_inv(2 * p - 1);\n"
     "    return 0x1.6a09e667f3bcdp+0 * (p < 0.5 ? -@erfc_inv(2 * p) : @erfc_inv(2 - 2 * p));\n}\n"},
    /* The density at the tail's end is q over erfcx, which does not underflow where exp would. */
    {"ndtri_slope",
     "/* 1 over the density at ndtri(p): 0x1.40...p+1 is sqrt(2 pi). */\n"
     "static double ndtri_slope_$S(double p) {\n"
     "    const double q = 2 * (p < 0.5 ? p : 1 - p);\n"
     "    if (!(p > 0 && p < 1)) return p == 0 || p == 1 ? INFINITY : NAN;\n"
     "    return 0x1.40d931ff62706p+1 * @erfcx(@erfc_inv(q)) / q;\n}\n"},
    /* erfc(-x / sqrt 2) / 2. */
    {"ndtr",
     "static $T ndtr_$S($T x) {\n"
     "    return erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2;\n}\n"},
    /* Beyond 800 exponentials of either dtype are 0 or infinite: limits are written out, since infinities would give
     * NaN. */
    {"silu",
     "static $T silu_$S($T x) {\n"
     "    return x < -800 ? -($T)0 : x / (1 + exp$f(-x));\n}\n"},
    {"silu_slope",
     "static $T silu_slope_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x)), d = 1 + e;\n"
     "    if (fabs$f(x) > 800) return x > 0;\n"
     "    return x < 0 ? e * (d + x) / (d * d) : (d + x * e) / (d * d);\n}\n"},
    /* x tanh(log(1 + exp x)), where tanh(log u) = (u^2 - 1) / (u^2 + 1). */
    {"mish",
     "static $T mish_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x)), left = e * (2 + e);\n"
     "    if (fabs$f(x) > 800) return x > 0 ? x : -($T)0;\n"
     "    return x < 0 ? x * (left / (2 + left)) : x * ((1 + 2 * e) / (1 + 2 * e * (1 + e)));\n}\n"},
    {"mish_slope",
     "/* w + x w' of w = tanh(log(1 + u)) with u = exp(x). */\n"
     "static $T mish_slope_$S($T x) {\n"
     "    const $T e = exp$f(-fabs$f(x)), d = x < 0 ? 2 + e * (2 + e) : 1 + 2 * e * (1 + e);\n"
     "    if (fabs$f(x) > 800) return x > 0 ? 1 : -($T)0;\n"
     "    return (x < 0 ? e * (2 + e) : 1 + 2 * e) / d + x * (4 * e * (x < 0 ? 1 : e) * (1 + e) / (d * d));\n}\n"},
    /* Far on the left erfc is 0, and of -infinity the product would be NaN. */
    {"gelu",
     "static $T gelu_$S($T x) {\n"
     "    return x < -100 ? -($T)0 : x * (erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2);\n}\n"},
    /* Normal distribution and density; 0x1.98...p-2 is 1 / sqrt(2 pi). */
    {"gelu_slope",
     "static $T gelu_slope_$S($T x) {\n"
     "    if (fabs$f(x) > 100) return x > 0 ? 1 : -($T)0;\n"
     "    return erfc$f(-x * ($T)0x1.6a09e667f3bcdp-1) / 2 + ($T)0x1.9884533d43651p-2 * x * exp$f(-x * x / 2);\n}\n"},
    /* x times the logistic function of c, twice the operand of tanh: 0x1.98...p+0 is 2 sqrt(2 / pi), the other factor
     * 0.044715 of that. */
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
    /* Near 1/2 the two logarithms would cancel. */
    {"logit",
     "static $T logit_$S($T x) {\n"
     "    return fabs$f(x - ($T)0.5) < ($T)0.25 ? 2 * atanh$f(2 * x - 1) : log$f(x) - log1p$f(-x);\n}\n"},
    /* min(max(x + 3, 0), 6) / 6 by comparisons, which let NaN through. */
    {"hard_gate",
     "static $T hard_gate_$S($T x, $T y) {\n"
     "    const $T up = x + 3, open = up < 0 ? 0 : up;\n"
     "    return y * ((open > 6 ? 6 : open) / 6);\n}\n"},
    /* (x + sqrt(x^2 + b)) / 2. On the left, where that cancels, it is b / 4 over what the other side has; halves are
     * taken before they are added, so that the sum does not overflow. */
    {"squareplus",
     "static $T squareplus_$S($T x, $T b) {\n"
     "    const $T p = ($T)0.5 * fabs$f(x) + ($T)0.5 * hypot$f(x, sqrt$f(b));\n"
     "    if (!(b >= 0 && b < INFINITY)) return b > 0 ? x + b : NAN;\n"
     "    return x < 0 ? ($T)0.25 * b / p : p;\n}\n"},
    /* The share of the left side, which is what the right one lacks of 1. */
    {"squareplus_slope",
     "static $T squareplus_slope_$S($T x, $T b) {\n"
     "    const $T s = hypot$f(x, sqrt$f(b)), share = ($T)0.25 * b / (($T)0.5 * fabs$f(x) + ($T)0.5 * s) / s;\n"
     "    if (!(b >= 0 && b < INFINITY)) return b > 0 ? x - x + ($T)0.5 : NAN;\n"
     "    if (s == 0 || isinf(x)) return x > 0;\n"
     "    return x < 0 ? share : 1 - share;\n}\n"},
    /* d^2 / 2 within delta, linear beyond: with c, the difference clamped, one formula is both. */
    {"huber_loss",
     "static $T huber_loss_$S($T x, $T y, $T delta) {\n"
     "    const $T d = x - y, low = d < -delta ? -delta : d, c = low > delta ? delta : low;\n"
     "    return c * (d - c) + ($T)0.5 * (c * c);\n}\n"},
    /* 0 where x is 0, whatever the logarithm, but NaN of a y that is NaN. */
    {"xlogy",
     "static $T xlogy_$S($T x, $T y) {\n"
     "    return x == 0 && y == y ? 0 : x * log$f(y);\n}\n"},
    {"xlog1py",
     "static $T xlog1py_$S($T x, $T y) {\n"
     "    return x == 0 && y == y ? 0 : x * log1p$f(y);\n}\n"},
    /* Near 1 the difference is exact and the ratio is not; where the ratio leaves the range the logarithms do not. */
    {"log_ratio",
     "static $T log_ratio_$S($T x, $T y) {\n"
     "    const $T ratio = x / y;\n"
     "    if (ratio > ($T)0.5 && ratio < 2) return log1p$f((x - y) / y);\n"
     "    return isfinite(ratio) && ratio > 0 ? log$f(ratio) : log$f(x) - log$f(y);\n}\n"},
    /* As in scipy.special: 0 log 0 is 0, and what lies outside is infinite. */
    {"rel_entr",
     "static $T rel_entr_$S($T x, $T y) {\n"
     "    if (x != x || y != y) return x + y;\n"
     "    if (x < 0 || y < 0 || (y == 0 && x > 0)) return INFINITY;\n"
     "    return x == 0 ? 0 : x * @log_ratio(x, y);\n}\n"},
    /* To even: what is added is just less than half of what falls off, and one more where the last bit that stays is
     * odd. A carry goes up into the exponent, as it should. */
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
    /* As lam__special_pow_slope (kernels/special/power.c), in the type of the operands. */
    {"pow_slope",
     "/* x^y differentiated n times by x and m <= 32 times by y: code is 64 n + m. c: factors of x^(y - n). */\n"
     "static $T pow_slope_$S($T x, $T y, int code) {\n"
     "    const int n = code >> 6, m = code & 63;\n"
     "    const $T power = pow$f(x, y - ($T)n);\n"
     "    $T c[33] = {1};\n"
     "    if (x != x || y != y || (m && x < 0)) return NAN;\n"
     "    for (int k = 1; k <= m; k++) c[k] = x == 0 ? 0 : c[k - 1] * log$f(x);\n"
     "    for (int j = 0; j < n; j++) {\n"
     "        for (int k = m; k > 0; k--) c[k] = c[k] * (y - ($T)j) + ($T)k * c[k - 1];\n"
     "        c[0] *= y - ($T)j;\n    }\n"
     "    if (m && x == 0) {\n"
     "        const int whole = c[0] == 0, logs = m - whole;\n"
     "        const $T first = c[whole];\n"
     "        if (y > ($T)n || (n == 0 && y == 0)) return 0;\n"
     "        if (n == 0) return NAN;\n"
     "        if (logs) return (logs & 1 ? -first : first) * ($T)INFINITY;\n"
     "        return first == 0 || y == ($T)n ? first : first * ($T)INFINITY;\n    }\n"
     "    return c[m] == 0 || (power == 0 && isinf(c[m])) ? 0 : c[m] * power;\n}\n"},
    /* x / |(x, y)|: 1 or -1 for an infinite x beside a finite y, and 0 in the origin. */
    {"hypot_slope",
     "static $T hypot_slope_$S($T x, $T y) {\n"
     "    if (x == 0 && y == 0) return x;\n"
     "    return x - x != 0 && y - y == 0 && x == x ? copysign$f(1, x) : x / hypot$f(x, y);\n}\n"},
    /* x / (x^2 + y^2) is the real part of 1 / z with z = x + i y, whose k-th derivative is (-1)^k k! / z^(k + 1); a
     * derivative by y is i times one by x, which the loop has once at most. */
    {"atan_slope",
     "/* Derivatives of x / (x^2 + y^2): code >> 6 of them by x, the rest by y. */\n"
     "static $T atan_slope_$S($T x, $T y, int code) {\n"
     "    const $T size = hypot$f(x, y), c = x / size / size, s = y / size / size;\n"
     "    $T re = c, im = -s, factor = 1;\n"
     "    if (x != x || y != y) return NAN;\n"
     "    if (isinf(size)) return 0;\n"
     "    for (int k = 1; k <= (code >> 6) + (code & 63); k++) {\n"
     "        const $T next = re * c + im * s;\n"
     "        im = im * c - re * s;\n"
     "        re = next;\n"
     "        factor *= ($T)-k;\n    }\n"
     "    return factor * (code & 63 ? -im : re);\n}\n"},
    /* Equal operands come first, since infinite ones have no difference. */
    {"logaddexp",
     "static $T logaddexp_$S($T x, $T y) {\n"
     "    if (x == y || x != x || y != y) return isinf(x) || x != y ? x + y : x + ($T)0x1.62e42fefa39efp-1;\n"
     "    return (x > y ? x : y) + log1p$f(exp$f(-fabs$f(x - y)));\n}\n"},
    /* The same to the base 2, where equal operands give one more. */
    {"logadd_two",
     "static $T logadd_two_$S($T x, $T y) {\n"
     "    if (x == y || x != x || y != y) return isinf(x) || x != y ? x + y : x + 1;\n"
     "    return (x > y ? x : y) + log1p$f(exp2$f(-fabs$f(x - y))) / ($T)0x1.62e42fefa39efp-1;\n}\n"},
    {"share",
     "/* The logistic function of unit (x - y), which is 0 between equal infinities. */\n"
     "static $T share_$S($T x, $T y, $T unit) {\n"
     "    const $T lead = x == y ? 0 : unit * (x - y), e = exp$f(-fabs$f(lead));\n"
     "    return (lead < 0 ? e : 1) / (1 + e);\n}\n"},
    /* log cosh d = log(1 + 2 sinh(d / 2)^2) for small d, d - log 2 + log(1 + exp(-2 d)) for large d. */
    {"log_cosh",
     "static $T log_cosh_$S($T x, $T y) {\n"
     "    const $T size = fabs$f(x - y), half = sinh$f(size < 1 ? size / 2 : 0);\n"
     "    if (size < 1) return log1p$f(2 * half * half);\n"
     "    return size - ($T)0x1.62e42fefa39efp-1 + log1p$f(exp$f(-2 * size));\n}\n"},
    /* As in special/bessel.c, in double: the power series, the asymptotic one, means over a circle, see there. */
    {"bessel_near",
     "static double bessel_near_$S(int n, double x) {\n"
     "    double term = 1, sum = 0;\n"
     "    for (int k = 1; k <= n; k++) term *= x / (2.0 * k);\n"
     "    for (int k = 1; term > sum * 0x1p-56; k++) {\n"
     "        sum += term;\n"
     "        term *= x * x / 4 / ((double)k * (n + k));\n    }\n"
     "    return sum;\n}\n"},
    /* Derivatives by x are taken of the powers of x, term by term. */
    {"bessel_far",
     "static double bessel_far_$S(int n, double x, int order) {\n"
     "    double term = 0x1.9884533d43651p-2 / sqrt(x);\n"
     "    for (int k = 0; k < order; k++) term *= -(k + 0.5) / x;\n"
     "    double sum = term, first = fabs(term);\n"
     "    for (int k = 1; k <= 40 && fabs(term) > first * 0x1p-56; k++) {\n"
     "        const double odd = 2 * k - 1;\n"
     "        term *= (odd * odd - 4.0 * n * n) / (8 * k * x) * (odd + 2 * order) / odd;\n"
     "        sum += term;\n    }\n"
     "    return sum;\n}\n"},
    /* The mean over a circle is as good as exact once there are enough places, since what is summed is periodic; more
     * of them for larger x, whose peak is narrower. */
    {"bessel_middle",
     "static double bessel_middle_$S(int n, double x, int order) {\n"
     "    const int count = 48 + 2 * order + (int)(12 * sqrt(x));\n"
     "    double sum = 0;\n"
     "    for (int i = 0; i < count; i++) {\n"
     "        const double root = sin(0x1.921fb54442d18p+0 * (i + 0.5) / count), w = 2 * root * root;\n"
     "        double term = exp(-x * w);\n"
     "        for (int k = 0; k < order; k++) term *= -w;\n"
     "        sum += n ? term * (1 - w) : term;\n    }\n"
     "    return sum / count;\n}\n"},
    {"bessel_i",
     "/* I_n(x), or a derivative of it times exp(-|x|) for n of 0 or 1. */\n"
     "static double bessel_i_$S(double x, int n, int scaled, int order) {\n"
     "    const double size = fabs(x), sign = x < 0 && (n + order) % 2 ? -1 : 1;\n"
     "    if (x != x) return x;\n"
     "    if (isinf(x)) return scaled ? 0 : sign * INFINITY;\n"
     "    if (order > 0 && x == 0) {\n"
     "        double value = (order - n) % 2 ? 0 : ldexp(1, -order);\n"
     "        for (int k = 1; k <= (order - n) / 2; k++) value *= (double)(order + 1 - k) / k;\n"
     "        return value;\n    }\n"
     "    if (order > 0 && size < 30 + 10 * order) return sign * @bessel_middle(n, size, order);\n"
     "    if (order == 0 && (size < 30 || size < (double)n * n))\n"
     "        return sign * @bessel_near(n, size) * (scaled ? exp(-size) : 1);\n"
     "    return sign * @bessel_far(n, size, order) * (scaled ? 1 : exp(size / 2)) * (scaled ? 1 : exp(size / 2));\n"
     "}\n"},
    {"mul",
     "/* The formula as it stands: an infinite factor gives NaN. */\n"
     "static $T mul_$S($T x, $T y) {\n"
     "    const $U a = creal$f(x), b = cimag$f(x), c = creal$f(y), d = cimag$f(y);\n"
     "    const $T z = @join(a * c - b * d, a * d + b * c);\n"
     "    return z;\n}\n"},
    /* As lam__complex_div: in double whatever the type, so that only the result is rounded to it. */
    {"div",
     "/* A real or imaginary divisor is exact; others are brought near 1 by powers of 2 if they are far from it. */\n"
     "static $T div_$S(double _Complex x, double _Complex y) {\n"
     "    double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);\n"
     "    if (d == 0) return @join(($U)(a / c), ($U)(b / c));\n"
     "    if (c == 0) return @join(($U)(b / d), ($U)(-a / d));\n"
     "    const double above = fmax(fabs(a), fabs(b)), below = fmax(fabs(c), fabs(d));\n"
     "    const int near = above > 0x1p-480 && above < 0x1p480 && below > 0x1p-480 && below < 0x1p480;\n"
     "    int up = 0, down = 0;\n"
     "    if (!near && above != 0 && above - above == 0) {\n"
     "        if (below == INFINITY && c == c && d == d) return @join(0, 0);\n"
     "        if (below - below == 0) frexp(above, &up), frexp(below, &down);\n"
     "        a = ldexp(a, -up), b = ldexp(b, -up), c = ldexp(c, -down), d = ldexp(d, -down);\n"
     "    }\n"
     "    const double size = c * c + d * d;\n"
     "    return @join(($U)ldexp((a * c + b * d) / size, up - down), ($U)ldexp((b * c - a * d) / size, up - down));\n"
     "}\n"},
    /* In double whatever the type: products of floats are exact there, and @div takes doubles. */
    {"wide_mul",
     "static double _Complex wide_mul_$S(double _Complex x, double _Complex y) {\n"
     "    const double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);\n"
     "    return @c128:join(a * c - b * d, a * d + b * c);\n}\n"},
    /* As a difference of squares factored, which does not cancel as a^2 - b^2 does. */
    {"square",
     "static $T square_$S($T x) {\n"
     "    const $U a = creal$f(x), b = cimag$f(x);\n"
     "    return @join((a - b) * (a + b), 2 * a * b);\n}\n"},
    /* Both parts have to be; an infinite one less itself is NaN. */
    {"is_finite",
     "static uint8_t is_finite_$S($T x) {\n"
     "    return creal$f(x) - creal$f(x) == 0 && cimag$f(x) - cimag$f(x) == 0;\n}\n"},
    /* A complex number lies in memory as its two parts (C11 6.2.5), and re + I * im would make NaN of infinite ones. */
    {"join",
     "static $T join_$S($U re, $U im) {\n"
     "    const $U both[2] = {re, im};\n"
     "    $T z;\n"
     "    memcpy(&z, both, sizeof z);\n"
     "    return z;\n}\n"},
    /* Bits one by one: C11 has no function for them, and compilers know the loop. */
    {"ones",
     "static $T ones_$S($T x) {\n"
     "    $T count = 0;\n"
     "    for (unsigned i = 0; i < 8 * sizeof x; i++) count += ($T)(($U)x >> i & 1);\n"
     "    return count;\n}\n"},
    /* From the highest bit down to the first that is set; of 0 all of them. */
    {"leading",
     "static $T leading_$S($T x) {\n"
     "    $T count = 0;\n"
     "    for (unsigned i = 8 * sizeof x; i-- && !(($U)x >> i & 1);) count++;\n"
     "    return count;\n}\n"},
    /* Euclid's, on sizes: that of the least integer has no sign bit to spare, so they are unsigned. */
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
