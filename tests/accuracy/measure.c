/* See measure.h. */
#include "tests/accuracy/measure.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/kernels/oracle.h"

enum { BITS = 400 };

static void truth(const measure_row *row, mpfr_t value, mpfr_t x[]) {
    oracle_member(row->oracle, row->member, value, x);
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

static void of_sincos(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, lam_sincos(in[0], &out[0], NULL);
}

static void of_cosine(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, lam_sincos(in[0], NULL, &out[0]);
}

static void of_trigamma(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, out[0] = lam_polygamma(in[0], 1);
}

static void of_polygamma_2(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, out[0] = lam_polygamma(in[0], 2);
}

static void of_betainc(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env, out[0] = lam_betainc(in[0], in[1], in[2]);
}

/* The derivatives of igammac are minus those of igamma. */
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
     .range = {{-5, 9}}, .bound = 1, .derivatives = 1},
    {.name = "erf_inv", .inputs = 1, .body = of_erf_inv, .oracle = LAM__LOOP_erf_inv,
     .range = {{-1, 1}}, .bound = 1, .derivatives = 1},
    {.name = "ndtr", .inputs = 1, .body = of_ndtr, .oracle = LAM__LOOP_ndtr,
     .range = {{-30, 8}}, .bound = 1, .derivatives = 1},
    {.name = "ndtri", .inputs = 1, .body = of_ndtri, .oracle = LAM__LOOP_ndtri,
     .range = {{1e-12, 1}}, .bound = 1, .derivatives = 1},
    {.name = "softplus", .inputs = 1, .body = of_softplus, .oracle = LAM__LOOP_softplus,
     .range = {{-30, 30}}, .bound = 1, .derivatives = 1},
    {.name = "lgamma", .inputs = 1, .body = of_lgamma, .oracle = LAM__LOOP_lgamma,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "digamma", .inputs = 1, .body = of_digamma, .oracle = LAM__LOOP_digamma,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "erfcx", .inputs = 1, .body = of_erfcx, .oracle = LAM__LOOP_erfcx,
     .range = {{-5, 30}}, .bound = 1, .derivatives = 1},
    {.name = "log_ndtr", .inputs = 1, .body = of_log_ndtr, .oracle = LAM__LOOP_log_ndtr,
     .range = {{-30, 7}}, .bound = 1, .derivatives = 1},
    {.name = "i0", .inputs = 1, .body = of_i0, .oracle = LAM__LOOP_bessel_i,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1},
    {.name = "i0e", .inputs = 1, .body = of_i0e, .oracle = LAM__LOOP_bessel_i, .member = 1,
     .range = {{0.01, 60}}, .bound = 1, .derivatives = 0},
    {.name = "i1", .inputs = 1, .body = of_i1, .oracle = LAM__LOOP_bessel_i, .member = 2,
     .range = {{-30, 60}}, .bound = 1, .derivatives = 1},
    {.name = "i1e", .inputs = 1, .body = of_i1e, .oracle = LAM__LOOP_bessel_i, .member = 3,
     .range = {{0.01, 60}}, .bound = 1, .derivatives = 0},
    {.name = "polygamma 1", .inputs = 1, .body = of_trigamma, .oracle = LAM__LOOP_polygamma, .member = 1,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "polygamma 2", .inputs = 1, .body = of_polygamma_2, .oracle = LAM__LOOP_polygamma, .member = 2,
     .range = {{0.01, 100}}, .bound = 1, .derivatives = 1},
    {.name = "zeta", .inputs = 2, .body = of_zeta, .oracle = LAM__LOOP_zeta,
     .range = {{1.01, 4}, {0.5, 20}}, .bound = 1, .derivatives = 3},
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
    {.name = "xlogy", .inputs = 2, .body = of_xlogy, .oracle = LAM__LOOP_xlogy,
     .range = {{-9, 9}, {1e-30, 1e30}}, .bound = 1, .derivatives = 3},
    {.name = "xlog1py", .inputs = 2, .body = of_xlog1py, .oracle = LAM__LOOP_xlog1py,
     .range = {{-9, 9}, {-0.99, 9}}, .bound = 1, .derivatives = 3},
    {.name = "rel_entr", .inputs = 2, .body = of_rel_entr, .oracle = LAM__LOOP_rel_entr,
     .range = {{1e-15, 1e15}, {1e-15, 1e15}}, .bound = 1, .derivatives = 3},
    {.name = "log_ratio", .inputs = 2, .body = of_log_ratio, .oracle = LAM__LOOP_log_ratio,
     .range = {{1e-15, 1e15}, {1e-15, 1e15}}, .bound = 1, .derivatives = 3},
    {.name = "hypot_slope", .inputs = 2, .body = of_hypot_slope, .oracle = LAM__LOOP_hypot_slope,
     .range = {{-9, 9}, {-9, 9}}, .bound = 2, .derivatives = 3},
    {.name = "atan2_slope", .inputs = 2, .body = of_atan2_slope, .oracle = LAM__LOOP_atan2_slope,
     .range = {{-9, 9}, {-9, 9}}, .bound = 2, .derivatives = 3},
    {.name = "betaln", .inputs = 2, .body = of_betaln, .oracle = LAM__LOOP_betaln,
     .range = {{0.01, 1000}, {0.01, 1000}}, .bound = 1, .relative_to_1 = 1, .derivatives = 3},
    {.name = "igamma", .inputs = 2, .body = of_igamma, .oracle = LAM__LOOP_igamma,
     .range = {{0.01, 300}, {0.01, 300}}, .bound = 4, .relative_to_1 = 0, .derivatives = 2},
    {.name = "igammac", .inputs = 2, .body = of_igammac, .oracle = LAM__LOOP_igammac,
     .range = {{0.01, 300}, {0.01, 300}}, .bound = 4, .relative_to_1 = 0, .derivatives = 0},
    {.name = "betainc", .inputs = 3, .body = of_betainc, .oracle = LAM__LOOP_betainc,
     .range = {{0.1, 50}, {0.1, 50}, {0.02, 0.9}}, .bound = 8, .derivatives = 4},
};
/* clang-format on */

const int measure_count = sizeof measure_rows / sizeof *measure_rows;

/* ---- derivatives ------------------------------------------------------------------------------------------------ */

/* value = derivative by operand `by`; steps of 2^-60 of the operand. */
static void difference(const measure_row *row, mpfr_t value, mpfr_t x[], int by) {
    mpfr_t centre, step, below;
    mpfr_inits2(BITS, centre, step, below, (mpfr_ptr)NULL);
    mpfr_set(centre, x[by], MPFR_RNDN);
    mpfr_div_2ui(step, centre, 60, MPFR_RNDN);
    mpfr_add(x[by], centre, step, MPFR_RNDN);
    truth(row, value, x);
    mpfr_sub(x[by], centre, step, MPFR_RNDN);
    truth(row, below, x);
    mpfr_set(x[by], centre, MPFR_RNDN);
    mpfr_sub(value, value, below, MPFR_RNDN);
    mpfr_div(value, value, step, MPFR_RNDN);
    mpfr_div_2ui(value, value, 1, MPFR_RNDN);
    mpfr_clears(centre, step, below, (mpfr_ptr)NULL);
}

/* Whether a relative change e of any operand changes the derivative by no more than 4 e, relatively. */
static bool well_conditioned(const measure_row *row, const mpfr_t value, mpfr_t x[], int by) {
    bool good = true;
    mpfr_t centre, moved;
    mpfr_inits2(BITS, centre, moved, (mpfr_ptr)NULL);
    for (int i = 0; i < row->inputs && good; i++) {
        mpfr_set(centre, x[i], MPFR_RNDN);
        mpfr_mul_d(x[i], x[i], 1 + 0x1p-20, MPFR_RNDN);
        difference(row, moved, x, by);
        mpfr_set(x[i], centre, MPFR_RNDN);
        mpfr_div(moved, moved, value, MPFR_RNDN);
        mpfr_sub_ui(moved, moved, 1, MPFR_RNDN);
        good = mpfr_cmpabs(moved, (mpfr_set_d(centre, 0x1p-18, MPFR_RNDN), centre)) <= 0;
    }
    mpfr_clears(centre, moved, (mpfr_ptr)NULL);
    return good;
}

/* ---- sampling --------------------------------------------------------------------------------------------------- */

static double draw(const measure_row *row, int i, lam_dtype dtype, uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double u = (double)(*state >> 11) * 0x1p-53, low = row->range[i].low, high = row->range[i].high;
    double x = low > 0 ? low * pow(high / low, u) : low + (high - low) * u;
    return dtype == LAM_F64 ? x : (float)x;
}

/* ---- measuring -------------------------------------------------------------------------------------------------- */

enum { MOST = 1000 };

typedef struct sample {
    double x[MEASURE_OPERANDS][MOST], y[MOST];
} sample;

static void body_of_sum(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const measure_row *row = env;
    lam_tensor *y;
    row->body(ctx, in, &y, NULL);
    out[0] = lam_sum(y, NULL);
}

static void body_of_row(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const measure_row *row = env;
    row->body(ctx, in, out, NULL);
}

/* Draws the operands and fills y with the function of them, or with its derivative. */
static bool call(lam_ctx *ctx, const measure_row *row, lam_dtype dtype, int by, int n, sample *s) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *x[MEASURE_OPERANDS];
    uint64_t state = (uint64_t)(row - measure_rows) * 16 + dtype * 4 + (unsigned)(by + 1);
    for (int i = 0; i < row->inputs; i++) {
        for (int k = 0; k < n; k++) s->x[i][k] = draw(row, i, dtype, &state);
        x[i] = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(n), s->x[i]), dtype);
    }
    lam_body body = by < 0 ? body_of_row : body_of_sum;
    lam_fn_options options = {.name = row->name, .body = body, .inputs = row->inputs, .outputs = 1, .env = (void *)row};
    lam_fn *f = lam_fn_new(ctx, &options);
    if (by >= 0) f = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(by)});
    lam_tensor *y = lam_cast(lam_apply(f, (lam_list){(size_t)row->inputs, x}), LAM_F64);
    bool done = lam_read(y, s->y, (size_t)n * sizeof(double)) == LAM_OK;
    lam_scope_end(scope, NULL, 0);
    return done;
}

/* The error in ulps of the larger of the truth and row->relative_to_1 (values only). */
static double error_of(const measure_row *row, lam_dtype dtype, double got, mpfr_t value, int by) {
    double ulps = oracle_error(dtype, got, value), size = fabs(mpfr_get_d(value, MPFR_RNDN));
    if (by >= 0 || size >= row->relative_to_1 || size == 0) return ulps;
    return ulps * exp2(ilogb(size) - ilogb(row->relative_to_1));
}

measure_result measure(lam_ctx *ctx, const measure_row *row, lam_dtype dtype, int by, int samples) {
    static sample s;
    measure_result worst = {0};
    if (samples > MOST || !call(ctx, row, dtype, by, samples, &s)) return (measure_result){INFINITY, NAN, 0};
    mpfr_t value, x[MEASURE_OPERANDS];
    mpfr_inits2(BITS, value, x[0], x[1], x[2], (mpfr_ptr)NULL);
    for (int k = 0; k < samples; k++) {
        for (int i = 0; i < row->inputs; i++) mpfr_set_d(x[i], s.x[i][k], MPFR_RNDN);
        if (by < 0) truth(row, value, x);
        else difference(row, value, x, by);
        if (by >= 0 && (mpfr_zero_p(value) || !well_conditioned(row, value, x, by))) continue;
        double ulps = error_of(row, dtype, s.y[k], value, by);
        worst.looked++;
        if (!(ulps <= worst.ulps)) worst = (measure_result){ulps, s.x[0][k], worst.looked};
    }
    mpfr_clears(value, x[0], x[1], x[2], (mpfr_ptr)NULL);
    return worst;
}
