/* Functions that are integrals, and quotients of gamma functions. References are the integrals themselves by a rule
 * that knows nothing of the functions (tanh-sinh quadrature), bisection for an inverse, libm's gamma function. How many
 * units in the last place the functions are off is for tests/kernels and tests/accuracy to say. */
#include "tests/primitives/cases.h"

#include <math.h>

#define PI 3.14159265358979323846264338327950288L

static const cases_form one[] = {{"[]", {0}}, {"[5]", {0}}, {"[2,3]", {0}}, {"[0]", {0}}, {"[2,0,3]", {0}}, CASES_END};
static const cases_form two[] = {
    {"[2,3] [2,3]", {0}}, {"[2,3] [3]", {0}}, {"[3] [2,1]", {0}}, {"[] [4]", {0}},
    {"[] []", {0}},       {"[0,3] [3]", {0}}, {"[1] [0]", {0}},   CASES_END,
};
static const cases_wrong no_fit[] = {
    {"[2,3] [4]", LAM_ERR_SHAPE, {0}}, {"[2,3] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

static void call_negative(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = u->row->name[0] == 'e' ? lam_expn(in[0], -1) : lam_bessel_j(in[0], -1);
}

static void call_large(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = u->row->name[0] == 'e' ? lam_expn(in[0], 1001) : lam_bessel_j(in[0], 1001);
}

#define NO_ORDER .wrong_calls = {{"[2]", LAM_ERR_VALUE, call_negative}, {"[2]", LAM_ERR_VALUE, call_large}}

/* ---- integrals --------------------------------------------------------------------------------------------------- */

/* The integral of f(t, x) over t from `low` to `high` by the trapezoidal rule in t = tanh(sinh(u) pi/2): ends where f
 * is infinite are never reached. */
static long double integral(long double f(long double t, long double x), long double x, long double low,
                            long double high) {
    const long double h = 1.0L / 32, half = (high - low) / 2;
    long double sum = 0;
    for (int i = -150; i <= 150; i++) {
        const long double u = h * i, s = PI / 2 * sinhl(u), c = coshl(s);
        const long double from_end = expl(-fabsl(s)) / c; /* 1 - |t| */
        const long double t = i < 0 ? low + half * from_end : high - half * from_end;
        if (t > low && t < high) sum += f(t, x) * PI / 2 * coshl(u) / (c * c);
    }
    return sum * h * half;
}

/* With t for 1/t of the definition. */
static long double of_e1(long double t, long double x) {
    return expl(-x / t) / t;
}

static long double of_e3(long double t, long double x) {
    return expl(-x / t) * t;
}

static long double exp1(long double x) {
    return integral(of_e1, x, 0, 1);
}

static long double exp3(long double x) {
    return integral(of_e3, x, 0, 1);
}

static lam_tensor *call_exp3(lam_tensor *x) {
    return lam_expn(x, 3);
}

#define EULER 0.577215664901532860606512090082402431L

static long double of_expi(long double t, long double x) {
    return expm1l(x * t) / t;
}

static long double expi(long double x) {
    return EULER + logl(fabsl(x)) + integral(of_expi, x, 0, 1);
}

static long double of_exprel(long double t, long double x) {
    return expl(x * t);
}

static long double exprel(long double x) {
    return integral(of_exprel, x, 0, 1);
}

static long double of_si(long double t, long double x) {
    return sinl(x * t) / t;
}

static long double si(long double x) {
    return integral(of_si, x, 0, 1);
}

/* (cos(t) - 1)/t */
static long double of_ci(long double t, long double x) {
    const long double s = sinl(x * t / 2);
    return -2 * s * s / t;
}

static long double ci(long double x) {
    return EULER + logl(x) + integral(of_ci, x, 0, 1);
}

static long double of_fresnel_s(long double t, long double x) {
    return x * sinl(PI / 2 * x * x * t * t);
}

static long double of_fresnel_c(long double t, long double x) {
    return x * cosl(PI / 2 * x * x * t * t);
}

static long double fresnel_s(long double x) {
    return integral(of_fresnel_s, x, 0, 1);
}

static long double fresnel_c(long double x) {
    return integral(of_fresnel_c, x, 0, 1);
}

static long double of_dawsn(long double t, long double x) {
    return x * expl(x * x * (t * t - 1));
}

static long double dawsn(long double x) {
    return integral(of_dawsn, x, 0, 1);
}

/* From 1 to x, as t from 0 to 1. */
static long double of_spence(long double t, long double x) {
    const long double step = (x - 1) * t;
    return -log1pl(step) / t;
}

static long double spence(long double x) {
    return integral(of_spence, x, 0, 1);
}

/* The w in [-1, 3] with w exp(w) = x. */
static long double lambertw(long double x) {
    long double low = -1, high = 3;
    for (int i = 0; i < 80 && x != 0; i++) {
        const long double middle = (low + high) / 2;
        *(middle * expl(middle) < x ? &low : &high) = middle;
    }
    return x == 0 ? 0 : low;
}

/* A&S 9.1.21, over half a turn. */
static long double of_j0(long double t, long double x) {
    return cosl(x * sinl(PI * t));
}

static long double of_j3(long double t, long double x) {
    return cosl(3 * PI * t - x * sinl(PI * t));
}

static long double j0_of(long double x) {
    return integral(of_j0, x, 0, 1);
}

static long double j3_of(long double x) {
    return integral(of_j3, x, 0, 1);
}

static lam_tensor *call_j0(lam_tensor *x) {
    return lam_bessel_j(x, 0);
}

static lam_tensor *call_j3(lam_tensor *x) {
    return lam_bessel_j(x, 3);
}

/* ---- gamma functions --------------------------------------------------------------------------------------------- */

static long double poch(long double x, long double y) {
    return tgammal(x + y) / tgammal(x);
}

static long double boxcox(long double x, long double y) {
    return (powl(x, y) - 1) / y;
}

static long double boxcox1p(long double x, long double y) {
    return expm1l(y * log1pl(x)) / y;
}

static long double beta(long double a, long double b) {
    return expl(lgammal(a) + lgammal(b) - lgammal(a + b));
}

static long double comb(long double n, long double k) {
    return expl(lgammal(n + 1) - lgammal(k + 1) - lgammal(n - k + 1));
}

/* ---- hypergeometric functions: Euler's integrals, NIST 13.4.1 and 15.6.1 ----------------------------------------- */

static long double first, second, third; /* parameters of the integrands */

static long double confluent_part(long double t, long double x) {
    return expl(x * t) * powl(t, first - 1) * powl(1 - t, second - first - 1);
}
static long double gauss_part(long double t, long double x) {
    return powl(1 - x * t, -first) * powl(t, second - 1) * powl(1 - t, third - second - 1);
}

static long double hyp1f1(long double a, long double b, long double x) {
    first = a, second = b;
    return integral(confluent_part, x, 0, 1) * tgammal(b) / (tgammal(a) * tgammal(b - a));
}

static void call_hyp2f1(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_hyp2f1(in[0], in[1], in[2], in[3]);
}

static void reference_hyp2f1(const cases_use *u, const array in[], array out[]) {
    out->dtype = in[0].dtype;
    for (int i = 1; i < 4; i++) out->dtype = cases_promote(out->dtype, in[i].dtype);
    cases_broadcast(u->inputs, in, out);
    for (int64_t e = 0; e < out->count; e++) {
        first = cases_broadcast_element(&in[0], out, e);
        second = cases_broadcast_element(&in[1], out, e);
        third = cases_broadcast_element(&in[2], out, e);
        out->data[e] = integral(gauss_part, cases_broadcast_element(&in[3], out, e), 0, 1) * tgammal(third) /
                       (tgammal(second) * tgammal(third - second));
    }
}

/* Owen's T by its integral; first is h. */
static long double owens_part(long double t, long double x) {
    return x * expl(-first * first * (1 + x * x * t * t) / 2) / (2 * PI * (1 + x * x * t * t));
}

static long double owens_t(long double h, long double a) {
    first = h;
    return integral(owens_part, a, 0, 1);
}

static const cases_form three[] = {
    {"[2] [2] [2]", {0}}, {"[2,1] [2] []", {0}}, {"[] [] []", {0}}, {"[0] [] [1]", {0}}, CASES_END};
static const cases_form four[] = {
    {"[2] [2] [2] [2]", {0}}, {"[2,1] [2] [] [1]", {0}}, {"[] [] [] []", {0}}, {"[0] [] [1] []", {0}}, CASES_END};
static const cases_wrong no_fit_of_three[] = {
    {"[2] [3] []", LAM_ERR_SHAPE, {0}}, {"[2,3] [] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};
static const cases_wrong no_fit_of_four[] = {
    {"[2] [3] [] []", LAM_ERR_SHAPE, {0}}, {"[2,3] [] [] [2]", LAM_ERR_SHAPE, {0}}, CASES_WRONG_END};

static void call_boxcox_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_boxcox(in[0], lam_cast(in[0], LAM_C128));
}
static void call_boxcox1p_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_boxcox1p(lam_cast(in[0], LAM_C128), in[0]);
}
static void call_hyp1f1_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_hyp1f1(in[0], lam_cast(in[0], LAM_C128), in[0]);
}
static void call_owens_t_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_owens_t(in[0], lam_cast(in[0], LAM_C128));
}
static void call_hyp2f1_complex(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]) {
    (void)u;
    out[0] = lam_hyp2f1(in[0], in[0], lam_cast(in[0], LAM_C128), in[0]);
}

/* clang-format off */
#define UNARY(operation, oracle)   .unary = operation, .unary_reference = oracle, .forms = one
#define BINARY(operation, oracle)  .binary = operation, .binary_reference = oracle, .forms = two, .wrong = no_fit
#define REAL                       .gives = CASES_REAL, .dtypes = CASES_ALL
/* clang-format on */

const cases_row cases_integrals[] = {
    {.name = "gamma", UNARY(lam_gamma, tgammal), REAL, .domain = {{0.2, 7}}},
    {.name = "gamma", UNARY(lam_gamma, tgammal), .domain = {{-1.8, -1.2}}},
    {.name = "poch", BINARY(lam_poch, poch), .domain = {{0.3, 5}, {0.3, 5}}},
    {.name = "boxcox",
     BINARY(lam_boxcox, boxcox),
     .domain = {{0.3, 3}, {0.3, 3}},
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_boxcox_complex}}},
    {.name = "boxcox", BINARY(lam_boxcox, boxcox), .domain = {{0.3, 3}, {-3, -0.3}}},
    {.name = "boxcox1p",
     BINARY(lam_boxcox1p, boxcox1p),
     .domain = {{-0.5, 2}, {0.3, 3}},
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_boxcox1p_complex}}},
    {.name = "beta", BINARY(lam_beta, beta), .domain = {{0.3, 5}, {0.3, 5}}},
    {.name = "comb", BINARY(lam_comb, comb), .domain = {{5, 9}, {0.3, 4}}},
    {.name = "expn",
     UNARY(lam_exp1, exp1),
     .gives = CASES_REAL,
     .dtypes = CASES_NUMBERS,
     NO_ORDER,
     .domain = {{1.2, 7}}},
    {.name = "expn", UNARY(call_exp3, exp3), .domain = {{0.3, 5}}},
    {.name = "expi", UNARY(lam_expi, expi), REAL, .domain = {{0.6, 7}}},
    {.name = "expi", UNARY(lam_expi, expi), .domain = {{-4, -0.5}}},
    {.name = "exprel", UNARY(lam_exprel, exprel), REAL, .domain = {{-6, 5}}},
    {.name = "si", UNARY(lam_si, si), REAL, .domain = {{-9, 7}}},
    {.name = "ci", UNARY(lam_ci, ci), REAL, .domain = {{1, 3}}, .ulps = 4},
    {.name = "fresnel_s", UNARY(lam_fresnel_s, fresnel_s), REAL, .domain = {{-2, 2.5}}},
    {.name = "fresnel_c", UNARY(lam_fresnel_c, fresnel_c), REAL, .domain = {{-2, 2.5}}},
    {.name = "dawsn", UNARY(lam_dawsn, dawsn), REAL, .domain = {{-5, 6}}},
    {.name = "spence", UNARY(lam_spence, spence), REAL, .domain = {{0.2, 6}}},
    {.name = "lambertw", UNARY(lam_lambertw, lambertw), REAL, .domain = {{-0.3, 9}}},
    {.name = "bessel_j", UNARY(call_j0, j0_of), REAL, NO_ORDER, .domain = {{-2, 2}}},
    {.name = "bessel_j", UNARY(call_j3, j3_of), .domain = {{0.5, 5}}},
    {.name = "owens_t",
     BINARY(lam_owens_t, owens_t),
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_owens_t_complex}},
     .domain = {{-2, 2}, {-1.5, 2}}},
    {.name = "hyp1f1",
     .ternary = lam_hyp1f1,
     .ternary_reference = hyp1f1,
     .forms = three,
     .wrong = no_fit_of_three,
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_hyp1f1_complex}},
     .domain = {{0.8, 1.6}, {2.5, 4}, {-3, 4}}},
    {.name = "hyp2f1",
     .call = call_hyp2f1,
     .reference = reference_hyp2f1,
     .forms = four,
     .wrong = no_fit_of_four,
     .wrong_calls = {{"[2]", LAM_ERR_DTYPE, call_hyp2f1_complex}},
     .domain = {{-1.5, 2}, {0.8, 1.6}, {2.5, 4}, {-3, 0.7}}},
    {.name = NULL},
};
