/* The rows of measure.h: every elementwise operation whose values or derivatives are rounded, families with some of
 * their members, and what is composed of them. What the oracle of tests/kernels does not know is written down here. */
#include "tests/accuracy/measure.h"
#include "tests/accuracy/series.h"

#include "lib/kernels/special/special.h"
#include "tests/kernels/oracle.h"

enum { BITS = 240 };

/* ---- truths ------------------------------------------------------------------------------------------------------ */

/* Steps of a calculation: each replaces the value, in the digits that it has. */
static void log1p_exp(mpfr_t v) {
    mpfr_exp(v, v, MPFR_RNDN);
    mpfr_log1p(v, v, MPFR_RNDN);
}

static void true_log_logistic(mpfr_t v, mpfr_t x[]) {
    mpfr_neg(v, x[0], MPFR_RNDN);
    log1p_exp(v);
    mpfr_neg(v, v, MPFR_RNDN);
}

static void true_kl_div(mpfr_t v, mpfr_t x[]) {
    mpfr_div(v, x[0], x[1], MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_sub_ui(v, v, 1, MPFR_RNDN);
    mpfr_mul(v, v, x[0], MPFR_RNDN);
    mpfr_add(v, v, x[1], MPFR_RNDN);
}

static void true_square(mpfr_t v, mpfr_t x[]) {
    mpfr_sqr(v, x[0], MPFR_RNDN);
}

static void true_cube(mpfr_t v, mpfr_t x[]) {
    mpfr_pow_ui(v, x[0], 3, MPFR_RNDN);
}

static void true_fma(mpfr_t v, mpfr_t x[]) {
    mpfr_fma(v, x[0], x[1], x[2], MPFR_RNDN);
}

static void true_mul_div(mpfr_t v, mpfr_t x[]) {
    mpfr_mul(v, x[0], x[1], MPFR_RNDN);
    mpfr_div(v, v, x[2], MPFR_RNDN);
}

static void true_softsign(mpfr_t v, mpfr_t x[]) {
    mpfr_abs(v, x[0], MPFR_RNDN);
    mpfr_add_ui(v, v, 1, MPFR_RNDN);
    mpfr_div(v, x[0], v, MPFR_RNDN);
}

static void true_squareplus(mpfr_t v, mpfr_t x[]) {
    oracle_at(LAM__LOOP_squareplus, v, x[0], x[1]);
}

static void true_squareplus_slope(mpfr_t v, mpfr_t x[]) {
    oracle_at(LAM__LOOP_squareplus_slope, v, x[0], x[1]);
}

static void true_elu(mpfr_t v, mpfr_t x[]) {
    if (mpfr_sgn(x[0]) > 0) mpfr_set(v, x[0], MPFR_RNDN);
    else mpfr_expm1(v, x[0], MPFR_RNDN);
}

static void true_sinc(mpfr_t v, mpfr_t x[]) {
    mpfr_t z;
    mpfr_init2(z, BITS);
    mpfr_const_pi(z, MPFR_RNDN);
    mpfr_mul(z, z, x[0], MPFR_RNDN);
    mpfr_sin(v, z, MPFR_RNDN);
    mpfr_div(v, v, z, MPFR_RNDN);
    mpfr_clear(z);
}

/* log Gamma_3(a) = 3/2 log(pi) + the sum of log Gamma(a - j/2) over j = 0, 1, 2. */
static void true_multigammaln(mpfr_t v, mpfr_t x[]) {
    mpfr_t z;
    int sign;
    mpfr_init2(z, BITS);
    mpfr_const_pi(v, MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_mul_d(v, v, 1.5, MPFR_RNDN);
    for (int j = 0; j < 3; j++) {
        mpfr_sub_d(z, x[0], 0.5 * j, MPFR_RNDN);
        mpfr_lgamma(z, &sign, z, MPFR_RNDN);
        mpfr_add(v, v, z, MPFR_RNDN);
    }
    mpfr_clear(z);
}

/* P(a, x) up to a constant, which is its complement's where that is smaller and P as good as 1. */
static void gamma_slopes(mpfr_t v, mpfr_t x[]) {
    const bool above = mpfr_cmp(x[1], x[0]) > 0;
    oracle_member(above ? LAM__LOOP_igammac : LAM__LOOP_igamma, 0, v, x);
    if (above) mpfr_neg(v, v, MPFR_RNDN);
}

static void upper_gamma_slopes(mpfr_t v, mpfr_t x[]) {
    gamma_slopes(v, x);
    mpfr_neg(v, v, MPFR_RNDN);
}

/* I_x(a, b) likewise, which is 1 - I_(1-x)(b, a): the smaller of both up to a factor, left of its mean a/(a + b). */
static void beta_slopes(mpfr_t v, mpfr_t x[]) {
    mpfr_t other[3];
    mpfr_inits2(BITS, other[0], other[1], other[2], (mpfr_ptr)NULL);
    mpfr_set(other[0], x[1], MPFR_RNDN);
    mpfr_set(other[1], x[0], MPFR_RNDN);
    mpfr_ui_sub(other[2], 1, x[2], MPFR_RNDN);
    mpfr_add(v, x[0], x[1], MPFR_RNDN);
    mpfr_mul(v, v, x[2], MPFR_RNDN);
    const bool above = mpfr_cmp(v, x[0]) > 0;
    oracle_member(LAM__LOOP_betainc, 0, v, above ? other : x);
    if (above) mpfr_neg(v, v, MPFR_RNDN);
    mpfr_clears(other[0], other[1], other[2], (mpfr_ptr)NULL);
}

static void upper_beta_slopes(mpfr_t v, mpfr_t x[]) {
    beta_slopes(v, x);
    mpfr_neg(v, v, MPFR_RNDN);
}

/* ---- the rows --------------------------------------------------------------------------------------------------- */

/* One line per operation. */
/* clang-format off */
#define BODY1(name) \
    static void of_##name(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) { \
        (void)ctx, (void)env, out[0] = lam_##name(in[0]); \
    }
#define BODY2(name) \
    static void of_##name(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) { \
        (void)ctx, (void)env, out[0] = lam_##name(in[0], in[1]); \
    }
BODY1(sqrt) BODY1(rsqrt) BODY1(cbrt) BODY1(reciprocal) BODY1(exp) BODY1(exp2) BODY1(expm1) BODY1(log)
BODY1(log2) BODY1(log10) BODY1(log1p) BODY1(sin) BODY1(cos) BODY1(tan) BODY1(asin) BODY1(acos) BODY1(atan)
BODY1(sinh) BODY1(cosh) BODY1(tanh) BODY1(asinh) BODY1(acosh) BODY1(atanh) BODY1(logistic) BODY1(erf)
BODY1(erfc) BODY1(erf_inv) BODY1(ndtr) BODY1(ndtri) BODY1(softplus) BODY1(lgamma) BODY1(digamma) BODY1(erfcx)
BODY1(log_ndtr) BODY1(i0) BODY1(i0e) BODY1(i1) BODY1(i1e) BODY2(div) BODY2(pow) BODY2(atan2) BODY2(hypot)
BODY2(zeta) BODY2(logaddexp) BODY2(logaddexp2) BODY2(betaln) BODY2(igamma) BODY2(igammac)
BODY2(xlogy) BODY2(xlog1py) BODY2(rel_entr) BODY2(log_ratio) BODY2(hypot_slope) BODY2(atan2_slope)
BODY2(logaddexp_slope) BODY2(logaddexp2_slope) BODY1(mish_slope) BODY1(gelu_slope) BODY1(gelu_tanh)
BODY1(gelu_tanh_slope) BODY1(ndtri_slope)
BODY1(tanh_slope) BODY1(logistic_slope) BODY1(log_logistic) BODY1(logit) BODY1(log1mexp)
BODY1(entr) BODY1(entr_slope) BODY2(rel_entr_slope) BODY2(kl_div) BODY1(square)
BODY1(gamma) BODY2(poch) BODY2(beta) BODY2(comb) BODY1(exp1) BODY1(expi) BODY1(exprel) BODY1(si) BODY1(ci)
BODY2(boxcox) BODY2(boxcox1p) BODY1(fresnel_s) BODY1(fresnel_c) BODY1(dawsn) BODY1(spence) BODY1(lambertw)
BODY1(silu) BODY1(silu_slope) BODY1(gelu) BODY1(mish) BODY1(softsign) BODY1(sinc) BODY2(log_cosh)
BODY2(squareplus_with) BODY2(squareplus_slope) BODY1(log1mexp_slope)

#define FAMILY(name, call) \
    static void of_##name(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) { \
        (void)ctx, (void)env, out[0] = call; \
    }
FAMILY(trigamma, lam_polygamma(in[0], 1))
FAMILY(polygamma_2, lam_polygamma(in[0], 2))
FAMILY(polygamma_5, lam_polygamma(in[0], 5))
FAMILY(polygamma_20, lam_polygamma(in[0], 20))
FAMILY(polygamma_gap, lam_polygamma_gap(in[0], in[1], 0))
FAMILY(pow_slope_10, lam_pow_slope(in[0], in[1], 1, 0))
FAMILY(pow_slope_01, lam_pow_slope(in[0], in[1], 0, 1))
FAMILY(bessel_2, lam_bessel_i(in[0], 2))
FAMILY(bessel_9, lam_bessel_i(in[0], 9))
FAMILY(exp3, lam_expn(in[0], 3))
FAMILY(bessel_j0, lam_bessel_j(in[0], 0))
FAMILY(bessel_j5, lam_bessel_j(in[0], 5))
FAMILY(igamma_inv, lam_igamma_inv(in[0], in[1]))
FAMILY(igammac_inv, lam_igammac_inv(in[0], in[1]))
FAMILY(betainc, lam_betainc(in[0], in[1], in[2]))
FAMILY(betaincc, lam_betaincc(in[0], in[1], in[2]))
FAMILY(betainc_inv, lam_betainc_inv(in[0], in[1], in[2]))
FAMILY(betaincc_inv, lam_betaincc_inv(in[0], in[1], in[2]))
FAMILY(owens_t, lam_owens_t(in[0], in[1]))
FAMILY(hyp1f1, lam_hyp1f1(in[0], in[1], in[2]))
FAMILY(hyp2f1, lam_hyp2f1(in[0], in[1], lam_full_like(in[1], SERIES_HYPER_C), in[2]))
FAMILY(fma, lam_fma(in[0], in[1], in[2]))
FAMILY(mul_div, lam_mul_div(in[0], in[1], in[2]))
FAMILY(cube, lam_integer_pow(in[0], 3))
FAMILY(elu, lam_elu(in[0], 1))
FAMILY(multigammaln, lam_multigammaln(in[0], 3))
FAMILY(lse, lam_logsumexp(lam_stack(LAM_LIST(in[0], in[1]), 0), &(lam_reduce_options){.axes = LAM_AXES(0)}))
FAMILY(length, lam_norm(lam_stack(LAM_LIST(in[0], in[1]), 0), &(lam_norm_options){.axes = LAM_AXES(0)}))

static void of_sincos(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, lam_sincos(in[0], &out[0], NULL);
}

static void of_cosine(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, lam_sincos(in[0], NULL, &out[0]);
}

const measure_row measure_rows[] = {
    {.name = "sqrt", .inputs = 1, .body = of_sqrt, .oracle = LAM__LOOP_sqrt,
     .range = {{1e-30, 1e+30}}, .bound = 0.5, .derivatives = 1},
    {.name = "rsqrt", .inputs = 1, .body = of_rsqrt, .oracle = LAM__LOOP_rsqrt,
     .range = {{1e-30, 1e+30}}, .bound = 1, .derivatives = 1},
    {.name = "cbrt", .inputs = 1, .body = of_cbrt, .oracle = LAM__LOOP_cbrt,
     .range = {{1e-30, 1e+30}}, .bound = 1, .derivatives = 1},
    {.name = "reciprocal", .inputs = 1, .body = of_reciprocal, .oracle = LAM__LOOP_reciprocal,
     .range = {{1e-30, 1e+30}}, .bound = 0.5, .derivatives = 1},
    {.name = "exp", .inputs = 1, .body = of_exp, .oracle = LAM__LOOP_exp,
     .range = {{-80, 80}}, .bound = 1, .derivatives = 1},
    {.name = "exp2", .inputs = 1, .body = of_exp2, .oracle = LAM__LOOP_exp2,
     .range = {{-120, 120}}, .bound = 1, .derivatives = 1},
    {.name = "expm1", .inputs = 1, .body = of_expm1, .oracle = LAM__LOOP_expm1,
     .range = {{-80, 80}}, .bound = 1, .derivatives = 1},
    {.name = "log", .inputs = 1, .body = of_log, .oracle = LAM__LOOP_log,
     .range = {{1e-30, 1e+30}}, .bound = 1, .derivatives = 1},
    {.name = "log2", .inputs = 1, .body = of_log2, .oracle = LAM__LOOP_log2,
     .range = {{1e-30, 1e+30}}, .bound = 1, .derivatives = 1},
    {.name = "log10", .inputs = 1, .body = of_log10, .oracle = LAM__LOOP_log10,
     .range = {{1e-30, 1e+30}}, .bound = 1, .derivatives = 1},
    {.name = "log1p", .inputs = 1, .body = of_log1p, .oracle = LAM__LOOP_log1p,
     .range = {{-0.99, 9}}, .bound = 1, .derivatives = 1},
    {.name = "sin", .inputs = 1, .body = of_sin, .oracle = LAM__LOOP_sin,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "cos", .inputs = 1, .body = of_cos, .oracle = LAM__LOOP_cos,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "sincos, sine", .inputs = 1, .body = of_sincos, .oracle = LAM__LOOP_sin,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "sincos, cosine", .inputs = 1, .body = of_cosine, .oracle = LAM__LOOP_cos,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "tan", .inputs = 1, .body = of_tan, .oracle = LAM__LOOP_tan,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "asin", .inputs = 1, .body = of_asin, .oracle = LAM__LOOP_asin,
     .range = {{-1, 1}}, .bound = 1, .derivatives = 1},
    {.name = "acos", .inputs = 1, .body = of_acos, .oracle = LAM__LOOP_acos,
     .range = {{-1, 1}}, .bound = 1, .derivatives = 1},
    {.name = "atan", .inputs = 1, .body = of_atan, .oracle = LAM__LOOP_atan,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "sinh", .inputs = 1, .body = of_sinh, .oracle = LAM__LOOP_sinh,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "cosh", .inputs = 1, .body = of_cosh, .oracle = LAM__LOOP_cosh,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "tanh", .inputs = 1, .body = of_tanh, .oracle = LAM__LOOP_tanh,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "asinh", .inputs = 1, .body = of_asinh, .oracle = LAM__LOOP_asinh,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "acosh", .inputs = 1, .body = of_acosh, .oracle = LAM__LOOP_acosh,
     .range = {{1, 9}}, .bound = 1, .derivatives = 1},
    {.name = "atanh", .inputs = 1, .body = of_atanh, .oracle = LAM__LOOP_atanh,
     .range = {{-1, 1}}, .bound = 1, .derivatives = 1},
    {.name = "logistic", .inputs = 1, .body = of_logistic, .oracle = LAM__LOOP_logistic,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "erf", .inputs = 1, .body = of_erf, .oracle = LAM__LOOP_erf,
     .range = {{-5, 5}}, .bound = 1, .derivatives = 1},
    {.name = "erfc", .inputs = 1, .body = of_erfc, .oracle = LAM__LOOP_erfc,
     .range = {{-5, 9}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "erf_inv", .inputs = 1, .body = of_erf_inv, .oracle = LAM__LOOP_erf_inv,
     .range = {{-1, 1}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "ndtr", .inputs = 1, .body = of_ndtr, .oracle = LAM__LOOP_ndtr,
     .range = {{-30, 8}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "ndtri", .inputs = 1, .body = of_ndtri, .oracle = LAM__LOOP_ndtri,
     .range = {{1e-12, 1}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "ndtri_slope", .inputs = 1, .body = of_ndtri_slope, .oracle = LAM__LOOP_ndtri_slope,
     .range = {{1e-12, 1}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "softplus", .inputs = 1, .body = of_softplus, .oracle = LAM__LOOP_softplus,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "lgamma", .inputs = 1, .body = of_lgamma, .oracle = LAM__LOOP_lgamma,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "digamma", .inputs = 1, .body = of_digamma, .oracle = LAM__LOOP_digamma,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "erfcx", .inputs = 1, .body = of_erfcx, .oracle = LAM__LOOP_erfcx,
     .range = {{-5, 30}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "log_ndtr", .inputs = 1, .body = of_log_ndtr, .oracle = LAM__LOOP_log_ndtr,
     .range = {{-30, 7}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "i0", .inputs = 1, .body = of_i0, .oracle = LAM__LOOP_bessel_i,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1},
    {.name = "i0e", .inputs = 1, .body = of_i0e, .oracle = LAM__LOOP_bessel_i, .member = LAM__BESSEL_SCALED(0, 0),
     .range = {{-60, 60}}, .bound = 1, .derivatives = 1},
    {.name = "i1", .inputs = 1, .body = of_i1, .oracle = LAM__LOOP_bessel_i, .member = 2,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1},
    {.name = "i1e", .inputs = 1, .body = of_i1e, .oracle = LAM__LOOP_bessel_i, .member = LAM__BESSEL_SCALED(1, 0),
     .range = {{-60, 60}}, .bound = 1, .derivatives = 1},
    {.name = "bessel_i 2", .inputs = 1, .body = of_bessel_2, .oracle = LAM__LOOP_bessel_i, .member = 4,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1},
    {.name = "bessel_i 9", .inputs = 1, .body = of_bessel_9, .oracle = LAM__LOOP_bessel_i, .member = 18,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1, .condition = 40},
    {.name = "polygamma 1", .inputs = 1, .body = of_trigamma, .oracle = LAM__LOOP_polygamma, .member = 1,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "polygamma 2", .inputs = 1, .body = of_polygamma_2, .oracle = LAM__LOOP_polygamma, .member = 2,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "polygamma 5", .inputs = 1, .body = of_polygamma_5, .oracle = LAM__LOOP_polygamma, .member = 5,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 40},
    {.name = "polygamma 20", .inputs = 1, .body = of_polygamma_20, .oracle = LAM__LOOP_polygamma, .member = 20,
     .range = {{0.1, 100}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 40},
    {.name = "polygamma_gap", .inputs = 2, .body = of_polygamma_gap, .oracle = LAM__LOOP_polygamma_gap,
     .range = {{0.01, 100}, {0.01, 100}}, .bound = 4, .derivatives = 3, .costly = true},
    {.name = "zeta", .inputs = 2, .body = of_zeta, .oracle = LAM__LOOP_zeta,
     .range = {{1.01, 4}, {0.5, 20}}, .bound = 1, .derivatives = 3, .costly = true},
    {.name = "div", .inputs = 2, .body = of_div, .oracle = LAM__LOOP_div,
     .range = {{-9, 9}, {0.01, 9}}, .bound = 0.5, .relative_to_1 = 0, .derivatives = 3},
    {.name = "pow", .inputs = 2, .body = of_pow, .oracle = LAM__LOOP_pow,
     .range = {{0.01, 100}, {-20, 20}}, .bound = 1, .relative_to_1 = 0, .derivatives = 3},
    {.name = "atan2", .inputs = 2, .body = of_atan2, .oracle = LAM__LOOP_atan2,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .relative_to_1 = 0, .derivatives = 3},
    {.name = "hypot", .inputs = 2, .body = of_hypot, .oracle = LAM__LOOP_hypot,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .relative_to_1 = 0, .derivatives = 3},
    {.name = "logaddexp", .inputs = 2, .body = of_logaddexp, .oracle = LAM__LOOP_logaddexp,
     .range = {{-30, 30}, {-30, 30}}, .bound = 1, .relative_to_1 = 0, .derivatives = 3},
    {.name = "logaddexp2", .inputs = 2, .body = of_logaddexp2, .oracle = LAM__LOOP_logaddexp2,
     .range = {{-30, 30}, {-30, 30}}, .bound = 1, .relative_to_1 = 0, .derivatives = 3},
    {.name = "logaddexp_slope", .inputs = 2, .body = of_logaddexp_slope, .oracle = LAM__LOOP_logaddexp_slope,
     .range = {{-30, 30}, {-30, 30}}, .bound = 1, .derivatives = 3},
    {.name = "logaddexp2_slope", .inputs = 2, .body = of_logaddexp2_slope, .oracle = LAM__LOOP_logaddexp2_slope,
     .range = {{-30, 30}, {-30, 30}}, .bound = 1, .derivatives = 3},
    {.name = "xlogy", .inputs = 2, .body = of_xlogy, .oracle = LAM__LOOP_xlogy,
     .range = {{-9, 9}, {1e-30, 1e30}}, .bound = 1, .derivatives = 3},
    {.name = "xlog1py", .inputs = 2, .body = of_xlog1py, .oracle = LAM__LOOP_xlog1py,
     .range = {{-9, 9}, {-0.99, 9}}, .bound = 1, .derivatives = 3},
    {.name = "rel_entr", .inputs = 2, .body = of_rel_entr, .oracle = LAM__LOOP_rel_entr,
     .range = {{1e-15, 1e15}, {1e-15, 1e15}}, .bound = 1, .derivatives = 3},
    {.name = "rel_entr_slope", .inputs = 2, .body = of_rel_entr_slope, .oracle = LAM__LOOP_rel_entr_slope,
     .range = {{1e-15, 1e15}, {1e-15, 1e15}}, .bound = 1, .derivatives = 3},
    {.name = "log_ratio", .inputs = 2, .body = of_log_ratio, .oracle = LAM__LOOP_log_ratio,
     .range = {{1e-15, 1e15}, {1e-15, 1e15}}, .bound = 1, .derivatives = 3},
    {.name = "hypot_slope", .inputs = 2, .body = of_hypot_slope, .oracle = LAM__LOOP_hypot_slope,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .derivatives = 3},
    {.name = "atan2_slope", .inputs = 2, .body = of_atan2_slope, .oracle = LAM__LOOP_atan2_slope,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .derivatives = 3},
    {.name = "betaln", .inputs = 2, .body = of_betaln, .oracle = LAM__LOOP_betaln,
     .range = {{0.01, 1000}, {0.01, 1000}}, .bound = 1, .relative_to_1 = 1, .derivatives = 3, .costly = true},
    {.name = "igamma", .inputs = 2, .body = of_igamma, .oracle = LAM__LOOP_igamma,
     .slopes = gamma_slopes, .range = {{0.001, 300}, {0.001, 300}}, .bound = 4, .derivatives = 3, .costly = true},
    {.name = "igamma, small", .inputs = 2, .body = of_igamma, .oracle = LAM__LOOP_igamma,
     .slopes = gamma_slopes, .range = {{1e-6, 1}, {1e-30, 1}}, .bound = 4, .derivatives = 3, .costly = true},
    {.name = "igammac", .inputs = 2, .body = of_igammac, .oracle = LAM__LOOP_igammac,
     .slopes = upper_gamma_slopes, .range = {{0.001, 300}, {0.001, 300}}, .bound = 4, .derivatives = 3, .costly = true},
    {.name = "betainc", .inputs = 3, .body = of_betainc, .oracle = LAM__LOOP_betainc, .slopes = beta_slopes,
     .range = {{0.01, 50}, {0.01, 50}, {0.001, 0.9}}, .bound = 4, .derivatives = 7, .costly = true},
    {.name = "betainc, small", .inputs = 3, .body = of_betainc, .oracle = LAM__LOOP_betainc, .slopes = beta_slopes,
     .range = {{1e-6, 0.1}, {1e-6, 10}, {1e-30, 0.5}}, .bound = 4, .derivatives = 7, .costly = true},
    {.name = "betaincc", .inputs = 3, .body = of_betaincc, .oracle = LAM__LOOP_betaincc, .slopes = upper_beta_slopes,
     .range = {{0.001, 50}, {0.01, 50}, {0.001, 0.9}}, .bound = 4, .derivatives = 7, .costly = true},
    {.name = "igamma_inv", .inputs = 2, .body = of_igamma_inv, .oracle = LAM__LOOP_igamma_inv,
     .range = {{1, 1000}, {1e-30, 1}}, .bound = 2, .costly = true},
    {.name = "igamma_inv, small", .inputs = 2, .body = of_igamma_inv, .oracle = LAM__LOOP_igamma_inv,
     .range = {{0.02, 1}, {1e-4, 1}}, .bound = 2, .costly = true},
    {.name = "igammac_inv", .inputs = 2, .body = of_igammac_inv, .oracle = LAM__LOOP_igamma_inv, .member = 1,
     .range = {{0.01, 300}, {1e-30, 1}}, .bound = 2, .costly = true},
    {.name = "betainc_inv", .inputs = 3, .body = of_betainc_inv, .oracle = LAM__LOOP_betainc_inv,
     .range = {{0.5, 1000}, {0.5, 1000}, {1e-9, 1}}, .bound = 2, .costly = true},
    {.name = "betainc_inv, small", .inputs = 3, .body = of_betainc_inv, .oracle = LAM__LOOP_betainc_inv,
     .range = {{0.02, 1}, {0.02, 20}, {1e-4, 1}}, .bound = 2, .costly = true},
    {.name = "betaincc_inv", .inputs = 3, .body = of_betaincc_inv, .oracle = LAM__LOOP_betainc_inv, .member = 1,
     .range = {{0.1, 100}, {0.1, 100}, {1e-9, 1}}, .bound = 2, .costly = true},
    {.name = "owens_t", .inputs = 2, .body = of_owens_t, .truth = series_owens_t,
     .range = {{0.01, 6}, {0.01, 1.5}}, .bound = 2, .derivatives = 3, .costly = true},
    {.name = "hyp1f1", .inputs = 3, .body = of_hyp1f1, .truth = series_hyp1f1,
     .range = {{-20, 20}, {0.1, 30}, {-20, 20}}, .bound = 4, .derivatives = 7, .costly = true},
    {.name = "hyp2f1", .inputs = 3, .body = of_hyp2f1, .truth = series_hyp2f1,
     .range = {{-9, 9}, {-9, 9}, {-3, 0.9}}, .bound = 4, .derivatives = 7, .costly = true},
    {.name = "pow_slope by x", .inputs = 2, .body = of_pow_slope_10, .oracle = LAM__LOOP_pow_slope, .member = 64,
     .range = {{0.01, 100}, {-20, 20}}, .bound = 1, .derivatives = 3},
    {.name = "pow_slope by y", .inputs = 2, .body = of_pow_slope_01, .oracle = LAM__LOOP_pow_slope, .member = 1,
     .range = {{0.01, 100}, {-20, 20}}, .bound = 1, .derivatives = 3},
    {.name = "gamma", .inputs = 1, .body = of_gamma, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__GAMMA, 0),
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 100},
    {.name = "exp1", .inputs = 1, .body = of_exp1, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__EXPN, 1),
     .range = {{1e-6, 30}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 40},
    {.name = "expn 3", .inputs = 1, .body = of_exp3, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__EXPN, 3),
     .range = {{1e-6, 30}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 40},
    {.name = "expi", .inputs = 1, .body = of_expi, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__EXPI, 0),
     .range = {{1e-6, 60}}, .bound = 1, .derivatives = 1, .costly = true, .condition = 100},
    {.name = "exprel", .inputs = 1, .body = of_exprel, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__EXPREL, 0),
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "si", .inputs = 1, .body = of_si, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__SIN_INT, 0),
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "ci", .inputs = 1, .body = of_ci, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__COS_INT, 0),
     .range = {{1e-6, 30}}, .bound = 1, .derivatives = 1, .costly = true, .relative_to_1 = 0.03},
    {.name = "fresnel_s", .inputs = 1, .body = of_fresnel_s, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__SIN_FRES, 0),
     .range = {{-4, 4}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "fresnel_c", .inputs = 1, .body = of_fresnel_c, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__COS_FRES, 0),
     .range = {{-4, 4}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "dawsn", .inputs = 1, .body = of_dawsn, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__DAWSON, 0),
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "spence", .inputs = 1, .body = of_spence, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__SPENCE, 0),
     .range = {{1e-6, 20}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "lambertw", .inputs = 1, .body = of_lambertw, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__LAMBERT, 0),
     .range = {{-0.36, 30}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "bessel_j 0", .inputs = 1, .body = of_bessel_j0, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__BESSEL_J, 0),
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1, .costly = true, .relative_to_1 = 0.1},
    {.name = "bessel_j 5", .inputs = 1, .body = of_bessel_j5, .oracle = LAM__LOOP_integrals,
     .member = LAM__INTEGRAL_CODE(LAM__BESSEL_J, 5),
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1, .costly = true, .relative_to_1 = 0.1},
    {.name = "poch", .inputs = 2, .body = of_poch, .oracle = LAM__LOOP_gamma_quotient,
     .member = LAM__QUOTIENT_POCH,
     .range = {{2, 100}, {0.1, 20}}, .bound = 1, .derivatives = 3, .costly = true, .condition = 100},
    {.name = "boxcox", .inputs = 2, .body = of_boxcox, .oracle = LAM__LOOP_box_cox,
     .range = {{0.01, 100}, {-20, 20}}, .bound = 1, .derivatives = 3},
    {.name = "boxcox1p", .inputs = 2, .body = of_boxcox1p, .oracle = LAM__LOOP_box_cox,
     .member = LAM__BOX_CODE(0, 0, 1),
     .range = {{-0.99, 9}, {-20, 20}}, .bound = 1, .derivatives = 3},
    {.name = "beta", .inputs = 2, .body = of_beta, .oracle = LAM__LOOP_gamma_quotient,
     .member = LAM__QUOTIENT_BETA,
     .range = {{0.1, 100}, {0.1, 20}}, .bound = 1, .derivatives = 3, .costly = true, .condition = 100},
    {.name = "comb", .inputs = 2, .body = of_comb, .oracle = LAM__LOOP_gamma_quotient,
     .member = LAM__QUOTIENT_COMB,
     .range = {{40, 100}, {1, 9}}, .bound = 1, .derivatives = 3, .costly = true, .condition = 100},
    {.name = "tanh_slope", .inputs = 1, .body = of_tanh_slope, .oracle = LAM__LOOP_tanh_slope,
     .range = {{-9, 9}}, .bound = 1, .derivatives = 1},
    {.name = "logistic_slope", .inputs = 1, .body = of_logistic_slope, .oracle = LAM__LOOP_logistic_slope,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "square", .inputs = 1, .body = of_square, .truth = true_square,
     .range = {{-9, 9}}, .bound = 0.5, .derivatives = 1},
    {.name = "integer_pow 3", .inputs = 1, .body = of_cube, .truth = true_cube,
     .range = {{-9, 9}}, .bound = 2, .derivatives = 1},
    {.name = "fma", .inputs = 3, .body = of_fma, .truth = true_fma,
     .range = {{-9, 9}, {-9, 9}, {-9, 9}}, .bound = 0.5, .derivatives = 7},
    {.name = "mul_div", .inputs = 3, .body = of_mul_div, .truth = true_mul_div,
     .range = {{-9, 9}, {-9, 9}, {0.01, 9}}, .bound = 1.5, .derivatives = 7},
    {.name = "log_logistic", .inputs = 1, .body = of_log_logistic, .truth = true_log_logistic,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "log1mexp", .inputs = 1, .body = of_log1mexp, .oracle = LAM__LOOP_log1mexp,
     .range = {{1e-6, 40}}, .bound = 1, .derivatives = 1},
    {.name = "log1mexp_slope", .inputs = 1, .body = of_log1mexp_slope, .oracle = LAM__LOOP_log1mexp_slope,
     .range = {{1e-6, 40}}, .bound = 1, .derivatives = 1},
    {.name = "logit", .inputs = 1, .body = of_logit, .oracle = LAM__LOOP_logit,
     .range = {{1e-12, 1}}, .bound = 1, .derivatives = 1},
    {.name = "entr", .inputs = 1, .body = of_entr, .oracle = LAM__LOOP_entr,
     .range = {{1e-15, 1e15}}, .bound = 1, .derivatives = 1},
    {.name = "entr_slope", .inputs = 1, .body = of_entr_slope, .oracle = LAM__LOOP_entr_slope,
     .range = {{1e-15, 1e15}}, .bound = 1, .derivatives = 1},
    {.name = "kl_div", .inputs = 2, .body = of_kl_div, .truth = true_kl_div,
     .range = {{0.01, 100}, {0.01, 100}}, .bound = 4, .relative_to_1 = 100, .derivatives = 3},
    {.name = "silu", .inputs = 1, .body = of_silu, .oracle = LAM__LOOP_silu,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "silu_slope", .inputs = 1, .body = of_silu_slope, .oracle = LAM__LOOP_silu_slope,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "gelu", .inputs = 1, .body = of_gelu, .oracle = LAM__LOOP_gelu,
     .range = {{-12, 9}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "gelu_slope", .inputs = 1, .body = of_gelu_slope, .oracle = LAM__LOOP_gelu_slope,
     .range = {{-12, 9}}, .bound = 1, .derivatives = 1, .costly = true},
    {.name = "gelu_tanh", .inputs = 1, .body = of_gelu_tanh, .oracle = LAM__LOOP_gelu_tanh,
     .range = {{-22, 9}}, .bound = 1, .derivatives = 1},
    {.name = "gelu_tanh_slope", .inputs = 1, .body = of_gelu_tanh_slope, .oracle = LAM__LOOP_gelu_tanh_slope,
     .range = {{-12, 9}}, .bound = 1, .derivatives = 1},
    {.name = "mish", .inputs = 1, .body = of_mish, .oracle = LAM__LOOP_mish,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "mish_slope", .inputs = 1, .body = of_mish_slope, .oracle = LAM__LOOP_mish_slope,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "softsign", .inputs = 1, .body = of_softsign, .truth = true_softsign,
     .range = {{-9, 9}}, .bound = 2, .derivatives = 1},
    {.name = "squareplus", .inputs = 2, .body = of_squareplus_with, .truth = true_squareplus,
     .range = {{-30, 30}, {0.01, 9}}, .bound = 1.5, .derivatives = 3},
    {.name = "squareplus_slope", .inputs = 2, .body = of_squareplus_slope, .truth = true_squareplus_slope,
     .range = {{-30, 30}, {0.01, 9}}, .bound = 2.5, .derivatives = 3},
    {.name = "elu", .inputs = 1, .body = of_elu, .truth = true_elu,
     .range = {{-30, 9}}, .bound = 1, .derivatives = 1},
    {.name = "sinc", .inputs = 1, .body = of_sinc, .truth = true_sinc,
     .range = {{-30.3, 30.3}}, .bound = 4, .relative_to_1 = 1, .derivatives = 1},
    {.name = "log_cosh", .inputs = 2, .body = of_log_cosh, .oracle = LAM__LOOP_log_cosh,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .derivatives = 3},
    {.name = "multigammaln 3", .inputs = 1, .body = of_multigammaln, .truth = true_multigammaln,
     .range = {{1.1, 100}}, .bound = 4, .relative_to_1 = 10, .derivatives = 1, .costly = true},
    {.name = "logsumexp of two", .inputs = 2, .body = of_lse, .oracle = LAM__LOOP_logaddexp,
     .range = {{-30, 30}, {-30, 30}}, .bound = 2, .relative_to_1 = 1, .derivatives = 3},
    {.name = "norm of two", .inputs = 2, .body = of_length, .oracle = LAM__LOOP_hypot,
     .range = {{-9, 9}, {-9, 9}}, .bound = 1, .derivatives = 3},
};
/* clang-format on */

const int measure_count = sizeof measure_rows / sizeof *measure_rows;
