/* Special functions and operations on bits. References are libm's in long double where it has them, else series and
 * sums written for the purpose (the numbers are Abramowitz and Stegun's), inverses by bisection. How many units in the
 * last place the functions themselves are off is for tests/accuracy to say. */
#include "tests/primitives/cases.h"

#include <math.h>

static const cases_form one[] = {{"[]", {0}}, {"[5]", {0}}, {"[2,3]", {0}}, {"[0]", {0}}, {"[2,0,3]", {0}}, CASES_END};
static const cases_form two[] = {
    {"[2,3] [2,3]", {0}}, {"[2,3] [3]", {0}}, {"[3] [2,1]", {0}}, {"[] [4]", {0}},
    {"[] []", {0}},       {"[0,3] [3]", {0}}, {"[1] [0]", {0}},   CASES_END,
};
static const cases_form three[] = {
    {"[2] [2] [2]", {0}}, {"[2,1] [2] []", {0}}, {"[] [] []", {0}}, {"[0] [] [1]", {0}}, CASES_END,
};
static const cases_form shifts[] = {
    {"i64[2,3] i64[3]", {0}}, {"i32[3] i32[2,1]", {0}}, {"u8[5] u8[]", {0}}, {"i64[] i32[2]", {0}},
    {"i64[0] i64[1]", {0}},   {"i32[] i32[]", {0}},     CASES_END,
};

static const cases_wrong no_fit[] = {
    {"[2,3] [4]", LAM_ERR_SHAPE, {0}}, {"[2,3] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_wrong no_fit_of_three[] = {
    {"[2] [3] []", LAM_ERR_SHAPE, {0}}, {"[2,3] [] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static void call_no_order(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    bool poly = u->row->name[0] == 'p';
    out[0] = poly ? lam_polygamma(in[0], -1) : lam_bessel_i(in[0], -1);
}

static void call_large_order(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    bool poly = u->row->name[0] == 'p';
    out[0] = poly ? lam_polygamma(in[0], 1001) : lam_bessel_i(in[0], 101);
}

#define NO_ORDER .wrong_calls = {{"[2]", LAM_ERR_VALUE, call_no_order}, {"[2]", LAM_ERR_VALUE, call_large_order}}

static const cases_wrong bad_shift[] = {
    {"f64[3] f64[3]", LAM_ERR_DTYPE, {0}},
    {"bool[2] bool[2]", LAM_ERR_DTYPE, {0}},
    {"i64[2] i64[3]", LAM_ERR_SHAPE, {0}},
    CASES_WRONG_END,
};

/* ---- error functions --------------------------------------------------------------------------------------------- */

static long double erfcx(long double x) {
    return expl(x * x) * erfcl(x);
}

static long double ndtr(long double x) {
    return erfcl(-x / sqrtl(2)) / 2;
}

static long double log_ndtr(long double x) {
    return x > 0 ? log1pl(-ndtr(-x)) : logl(ndtr(x));
}

/* The x in [-12, 12] with f(x) = y, f rising. */
static long double bisected(long double f(long double), long double y) {
    long double low = -12, high = 12;
    for (int i = 0; i < 80; i++) {
        long double middle = (low + high) / 2;
        *(f(middle) < y ? &low : &high) = middle;
    }
    return low;
}

static long double erf_inv(long double x) {
    return bisected(erfl, x);
}

static long double ndtri(long double p) {
    return bisected(ndtr, p);
}

static long double ndtri_slope(long double p) {
    const long double y = ndtri(p);
    return sqrtl(2 * acosl(-1)) * expl(y * y / 2);
}

static long double softplus(long double x) {
    return log1pl(expl(x));
}

static long double logit(long double x) {
    return 2 * atanhl(2 * x - 1);
}

static long double log1mexp(long double x) {
    return logl(-expm1l(-x));
}

static long double log1mexp_slope(long double x) {
    return 1 / expm1l(x);
}

/* ---- gamma and beta ---------------------------------------------------------------------------------------------- */

/* The nth derivative of digamma, n > 0, is (-1)^(n+1) n! times the sum of (x + k)^-(n+1); what is left of it after many
 * terms is an integral (midpoint rule with two corrections). */
static long double polygamma(int n, long double x) {
    enum { TERMS = 300 };
    long double sum = 0, factorial = tgammal(n + 1), end = x + TERMS - 0.5L;
    for (int k = TERMS - 1; k >= 0; k--) sum += powl(x + k, -(n + 1));
    long double first = (n + 1) * powl(end, -(n + 2)), third = first * (n + 2) * (n + 3) / (end * end);
    sum += powl(end, -n) / n - first / 24 + 7 * third / 5760;
    return (n % 2 ? 1 : -1) * factorial * sum;
}

static long double trigamma(long double x) {
    return polygamma(1, x);
}

static long double third(long double x) {
    return polygamma(3, x);
}

static lam_tensor *call_trigamma(lam_tensor *x) {
    return lam_polygamma(x, 1);
}

static lam_tensor *call_third(lam_tensor *x) {
    return lam_polygamma(x, 3);
}

/* A&S 6.3.5 and 6.3.18. */
static long double digamma(long double x) {
    long double sum = 0;
    for (; x < 80; x++) sum -= 1 / x;
    return sum + logl(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * x * x * x * x) - 1 / (252 * powl(x, 6));
}

/* Sixty terms; of the rest the integral, half the first term, and Euler's and Maclaurin's corrections B_2k/(2k)! times
 * the derivatives of order 2k - 1 (DLMF 25.11.5), of which the fifth is below 1e-20. */
static long double zeta(long double s, long double q) {
    static const long double shares[] = {1 / 12.0L, -1 / 720.0L, 1 / 30240.0L, -1 / 1209600.0L};
    const long double end = q + 60;
    long double sum = 0, slope = s * powl(end, -s - 1);
    for (int k = 0; k < 60; k++) sum += powl(q + k, -s);
    sum += powl(end, 1 - s) / (s - 1) + powl(end, -s) / 2;
    for (int k = 0; k < 4; k++) {
        sum += shares[k] * slope;
        slope *= (s + 2 * k + 1) * (s + 2 * k + 2) / (end * end);
    }
    return sum;
}

static long double logaddexp(long double x, long double y) {
    return logl(expl(x) + expl(y));
}

static long double logaddexp2(long double x, long double y) {
    return log2l(exp2l(x) + exp2l(y));
}

static long double logaddexp_slope(long double x, long double y) {
    return 1 / (1 + expl(y - x));
}

static long double logaddexp2_slope(long double x, long double y) {
    return 1 / (1 + exp2l(y - x));
}

static long double log_cosh(long double x, long double y) {
    return logl(coshl(x - y));
}

static long double betaln(long double a, long double b) {
    return lgammal(a) + lgammal(b) - lgammal(a + b);
}

static long double digamma_gap(long double a, long double b) {
    return digamma(a + b) - digamma(a);
}

static lam_tensor *call_digamma_gap(lam_tensor *a, lam_tensor *b) {
    return lam_polygamma_gap(a, b, 0);
}

static void call_negative_gap(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_polygamma_gap(in[0], in[1], -1);
}

/* A&S 6.5.29. */
static long double igamma(long double a, long double x) {
    long double term = expl(a * logl(x) - x - lgammal(a + 1)), sum = 0;
    for (int n = 1; n < 80; n++) {
        sum += term;
        term *= x / (a + n);
    }
    return sum;
}

static long double igammac(long double a, long double x) {
    return 1 - igamma(a, x);
}

/* A&S 26.5.4. */
static long double betainc(long double a, long double b, long double x) {
    long double term = expl(a * logl(x) + b * log1pl(-x) - betaln(a, b)) / a, sum = 0;
    for (int n = 1; n < 400; n++) {
        sum += term;
        term *= x * (a + b + n - 1) / (a + n);
    }
    return sum;
}

static long double betaincc(long double a, long double b, long double x) {
    return betainc(b, a, 1 - x);
}

/* Halving what holds the root of an ascending function. */
static long double root_of(long double (*f)(long double a, long double b, long double x), long double a, long double b,
                           long double p, long double high) {
    long double low = 0;
    for (int i = 0; i < 90; i++) {
        const long double x = (low + high) / 2;
        if (f(a, b, x) < p) low = x;
        else high = x;
    }
    return (low + high) / 2;
}

static long double igamma_of(long double a, long double b, long double x) {
    (void)b;
    return igamma(a, x);
}

static long double igamma_inv(long double a, long double p) {
    return root_of(igamma_of, a, 0, p, 20);
}

static long double igammac_inv(long double a, long double q) {
    return igamma_inv(a, 1 - q);
}

static long double betainc_inv(long double a, long double b, long double p) {
    return root_of(betainc, a, b, p, 1);
}

static long double betaincc_inv(long double a, long double b, long double q) {
    return betainc_inv(a, b, 1 - q);
}

static void call_igamma_inv_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_igamma_inv(in[0], lam_cast(in[0], LAM_C128));
}

static void call_betainc_inv_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_betaincc_inv(in[0], lam_cast(in[0], LAM_C128), in[0]);
}

/* ---- Bessel functions: A&S 9.6.10 -------------------------------------------------------------------------------- */

static long double bessel(int n, long double x) {
    long double term = powl(x / 2, n) / tgammal(n + 1), sum = 0;
    for (int k = 1; k < 60; k++) {
        sum += term;
        term *= x * x / (4.0L * k * (n + k));
    }
    return sum;
}

static long double i0(long double x) {
    return bessel(0, x);
}

static long double i0e(long double x) {
    return bessel(0, x) * expl(-fabsl(x));
}

static long double i1(long double x) {
    return bessel(1, x);
}

static long double i1e(long double x) {
    return bessel(1, x) * expl(-fabsl(x));
}

/* ---- logarithms times a number, derivatives of powers and angles ------------------------------------------------- */

static long double xlogy(long double x, long double y) {
    return x * logl(y);
}

static long double xlog1py(long double x, long double y) {
    return x * log1pl(y);
}

static long double rel_entr(long double x, long double y) {
    return x * logl(x / y);
}

static long double rel_entr_slope(long double x, long double y) {
    return logl(x / y) + 1;
}

static long double log_ratio(long double x, long double y) {
    return logl(x / y);
}

static long double hypot_slope(long double x, long double y) {
    return x == 0 ? 0 : x / sqrtl(x * x + y * y);
}

static long double atan2_slope(long double x, long double y) {
    return x / (x * x + y * y);
}

/* args: how many times by x and by y. */
static const cases_form slopes[] = {
    {"[2,3] [2,3]", {1, 0}}, {"[2,3] [3]", {0, 1}}, {"[3] [2,1]", {2, 0}}, {"[] [4]", {1, 1}},
    {"[] []", {0, 2}},       {"[0,3] [3]", {1, 0}}, {"[5] [5]", {3, 0}},   {"[5] [5]", {2, 1}},
    {"[5] [5]", {1, 2}},     {"[1] [0]", {0, 3}},   {"[3] [3]", {0, 0}},   CASES_END,
};

static void call_pow_slope(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_pow_slope(in[0], in[1], (int)u->arg[0], (int)u->arg[1]);
}

static void call_negative_slope(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_pow_slope(in[0], in[1], -1, 0);
}

static void call_high_slope(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_pow_slope(in[0], in[1], 0, 33);
}

/* x^(y-n) times the mth derivative by y of y (y-1) ... (y-n+1) x^0 e^(y log x): the polynomial's coefficients in powers
 * of a step from y, times those of the exponential's. */
static long double power_slope(long double x, long double y, int n, int m) {
    long double c[8] = {1}, sum = 0, share = 1;
    for (int j = 0; j < n; j++)
        for (int k = m; k >= 0; k--) c[k] = c[k] * (y - j) + (k > 0 ? c[k - 1] : 0);
    for (int k = m; k >= 0; k--) {
        sum += c[k] * share;
        share *= logl(x) / (m - k + 1);
    }
    return sum * tgammal(m + 1) * powl(x, y - n);
}

static void pow_slope_reference(const cases_use *u, const array in[], array out[]) {
    cases_broadcast(2, in, out);
    for (int64_t e = 0; e < out->count; e++)
        out->data[e] = power_slope(cases_broadcast_element(&in[0], out, e), cases_broadcast_element(&in[1], out, e),
                                   (int)u->arg[0], (int)u->arg[1]);
}

/* ---- bits -------------------------------------------------------------------------------------------------------- */

/* By multiplication and division of what is positive; counts are below every width. */
static long double shift_left(long double x, long double y) {
    return x * exp2l(y);
}

static long double shift_right(long double x, long double y) {
    return floorl(x / exp2l(y));
}

/* In long double, whose neighbours are nearer: the value is looked at by tests/kernels bit by bit. */
static long double near(long double x, long double y) {
    (void)y;
    return x;
}

/* clang-format off */
#define UNARY(operation, oracle)   .unary = operation, .unary_reference = oracle, .forms = one
#define BINARY(operation, oracle)  .binary = operation, .binary_reference = oracle, .forms = two, .wrong = no_fit
#define SHIFT(operation, oracle, low) \
    .binary = operation, .binary_reference = oracle, .forms = shifts, .wrong = bad_shift, .domain = {{low, 9}, {0, 4}}
#define REAL                       .gives = CASES_REAL, .dtypes = CASES_ALL
/* clang-format on */

const cases_row cases_special[] = {
    {.name = "erfcx", UNARY(lam_erfcx, erfcx), REAL, .domain = {{-2, 3}}},
    {.name = "erf_inv", UNARY(lam_erf_inv, erf_inv), .domain = {{-0.9, 0.9}}, .ulps = 4},
    {.name = "ndtr", UNARY(lam_ndtr, ndtr), REAL, .domain = {{-4, 2}}, .ulps = 4},
    {.name = "log_ndtr", UNARY(lam_log_ndtr, log_ndtr), REAL, .domain = {{-9, 3}}},
    {.name = "ndtri_slope", UNARY(lam_ndtri_slope, ndtri_slope), .domain = {{0.15, 0.85}}, .ulps = 4},
    {.name = "ndtri", UNARY(lam_ndtri, ndtri), .domain = {{0.03, 0.97}}, .ulps = 4},
    {.name = "softplus", UNARY(lam_softplus, softplus), REAL, .domain = {{-6, 6}}, .ulps = 4},
    {.name = "log1mexp",
     UNARY(lam_log1mexp, log1mexp),
     REAL,
     .domain = {{0.05, 4}},
     .ulps = 4,
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, cases_call_complex}}},
    {.name = "log1mexp_slope",
     UNARY(lam_log1mexp_slope, log1mexp_slope),
     REAL,
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, cases_call_complex}},
     .domain = {{0.05, 4}},
     .ulps = 4},
    {.name = "logit", UNARY(lam_logit, logit), REAL, .domain = {{0.05, 0.95}}, .ulps = 4},
    {.name = "lgamma", UNARY(lam_lgamma, lgammal), REAL, .domain = {{0.2, 7}}},
    {.name = "lgamma", UNARY(lam_lgamma, lgammal), .domain = {{-1.8, -1.2}}},
    {.name = "digamma", UNARY(lam_digamma, digamma), REAL, .domain = {{0.2, 7}}},
    {.name = "polygamma", UNARY(call_trigamma, trigamma), REAL, NO_ORDER, .domain = {{0.3, 7}}},
    {.name = "polygamma", UNARY(call_third, third), .domain = {{0.4, 7}}, .ulps = 4},
    {.name = "zeta", BINARY(lam_zeta, zeta), .domain = {{1.2, 5}, {0.3, 6}}},
    {.name = "logaddexp", BINARY(lam_logaddexp, logaddexp), REAL, .domain = {{-4, 4}, {-4, 4}}},
    {.name = "logaddexp2", BINARY(lam_logaddexp2, logaddexp2), REAL, .domain = {{-4, 4}, {-4, 4}}},
    {.name = "logaddexp_slope", BINARY(lam_logaddexp_slope, logaddexp_slope), REAL, .domain = {{-4, 4}, {-4, 4}}},
    {.name = "logaddexp2_slope", BINARY(lam_logaddexp2_slope, logaddexp2_slope), REAL, .domain = {{-4, 4}, {-4, 4}}},
    {.name = "log_cosh", BINARY(lam_log_cosh, log_cosh), REAL, .domain = {{0.5, 2}, {-2, 0}}},
    {.name = "polygamma_gap",
     BINARY(call_digamma_gap, digamma_gap),
     .wrong_calls = {{"[2] [2]", LAM_ERR_VALUE, call_negative_gap}},
     .domain = {{0.3, 5}, {0.3, 5}},
     .ulps = 4},
    {.name = "betaln", BINARY(lam_betaln, betaln), .domain = {{0.3, 5}, {0.3, 5}}},
    {.name = "igamma", BINARY(lam_igamma, igamma), .domain = {{0.4, 4}, {0.3, 5}}, .ulps = 4},
    {.name = "igammac", BINARY(lam_igammac, igammac), .domain = {{0.4, 4}, {0.3, 5}}, .ulps = 4},
    {.name = "betainc",
     .ternary = lam_betainc,
     .ternary_reference = betainc,
     .forms = three,
     .wrong = no_fit_of_three,
     .domain = {{0.5, 4}, {0.5, 4}, {0.15, 0.85}},
     .ulps = 8},
    {.name = "betaincc",
     .ternary = lam_betaincc,
     .ternary_reference = betaincc,
     .forms = three,
     .wrong = no_fit_of_three,
     .domain = {{0.5, 4}, {0.5, 4}, {0.15, 0.85}},
     .ulps = 8},
    {.name = "igamma_inv",
     BINARY(lam_igamma_inv, igamma_inv),
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_igamma_inv_complex}},
     .domain = {{0.4, 4}, {0.1, 0.9}},
     .ulps = 8},
    {.name = "igamma_inv", BINARY(lam_igammac_inv, igammac_inv), .domain = {{0.4, 4}, {0.1, 0.9}}, .ulps = 8},
    {.name = "betainc_inv",
     .ternary = lam_betainc_inv,
     .ternary_reference = betainc_inv,
     .forms = three,
     .wrong = no_fit_of_three,
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_betainc_inv_complex}},
     .domain = {{0.6, 3}, {0.6, 3}, {0.15, 0.8}},
     .ulps = 8},
    {.name = "betainc_inv",
     .ternary = lam_betaincc_inv,
     .ternary_reference = betaincc_inv,
     .forms = three,
     .wrong = no_fit_of_three,
     .domain = {{0.6, 3}, {0.6, 3}, {0.2, 0.85}},
     .ulps = 8},
    {.name = "bessel_i", UNARY(lam_i0, i0), REAL, NO_ORDER},
    {.name = "bessel_i", UNARY(lam_i0e, i0e), .domain = {{0.3, 5}}},
    {.name = "bessel_i", UNARY(lam_i1, i1), REAL},
    {.name = "bessel_i", UNARY(lam_i1e, i1e), .domain = {{0.3, 5}}},
    {.name = "xlogy", BINARY(lam_xlogy, xlogy), .domain = {{0, 0}, {0.3, 4}}},
    {.name = "xlog1py", BINARY(lam_xlog1py, xlog1py), .domain = {{0, 0}, {-0.7, 4}}},
    {.name = "rel_entr", BINARY(lam_rel_entr, rel_entr), .domain = {{0.3, 4}, {0.3, 4}}},
    {.name = "rel_entr_slope", BINARY(lam_rel_entr_slope, rel_entr_slope), .domain = {{0.5, 4}, {0.3, 1}}},
    {.name = "log_ratio", BINARY(lam_log_ratio, log_ratio), .domain = {{0.3, 4}, {0.3, 4}}},
    {.name = "hypot_slope", BINARY(lam_hypot_slope, hypot_slope), REAL, .domain = {{0, 0}, {0.4, 2}}, .ulps = 4},
    {.name = "atan2_slope", BINARY(lam_atan2_slope, atan2_slope), REAL, .domain = {{0, 0}, {0.4, 2}}, .ulps = 4},
    {.name = "pow_slope",
     .call = call_pow_slope,
     .reference = pow_slope_reference,
     .forms = slopes,
     .wrong = no_fit,
     .wrong_calls = {{"[2] [2]", LAM_ERR_VALUE, call_negative_slope}, {"[2] [2]", LAM_ERR_VALUE, call_high_slope}},
     .domain = {{0.4, 2.4}, {3.1, 4.9}},
     .ulps = 20},
    {.name = "shift_left", SHIFT(lam_shift_left, shift_left, 0)},
    {.name = "shift_right_logical", SHIFT(lam_shift_right_logical, shift_right, 0)},
    {.name = "shift_right_arithmetic", SHIFT(lam_shift_right_arithmetic, shift_right, -9)},
    {.name = "nextafter",
     BINARY(lam_nextafter, near),
     .gives = CASES_REAL,
     .dtypes = CASES_NUMBERS,
     .domain = {{1, 3}, {1, 3}}},
    {.name = NULL},
};
