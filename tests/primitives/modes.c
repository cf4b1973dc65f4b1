/* Functions of one number where numbers end: at zeros of both signs, infinities, NaN, the least and largest numbers.
 * Value, both modes and all four pairs of modes are worked out at all of these points at once; the modes must agree,
 * and where the value is a number or infinite no derivative may be NaN, but where a row says that there is none. What
 * they agree on is looked at in a table of its own, of limits worked out by hand. */
#include "tests/support.h"

#include <float.h>

enum { ALL = 7, MOST = 32 };

typedef lam_tensor *function(lam_tensor *x);

/* Functions of more operands, of the last. */
#define OF(name, expression)                                                                                           \
    static lam_tensor *name(lam_tensor *x) {                                                                           \
        return expression;                                                                                             \
    }
#define LIKE(value) lam_full_like(x, value)

/* clang-format off */
OF(polygamma_1, lam_polygamma(x, 1)) OF(expn_2, lam_expn(x, 2)) OF(bessel_i_2, lam_bessel_i(x, 2))
OF(bessel_j_0, lam_bessel_j(x, 0)) OF(bessel_j_1, lam_bessel_j(x, 1)) OF(elu_2, lam_elu(x, 2))
OF(celu_2, lam_celu(x, 2))
OF(squareplus_4, lam_squareplus(x, 4)) OF(squareplus_slope_4, lam_squareplus_slope(x, LIKE(4)))
OF(squareplus_by_b, lam_squareplus_with(LIKE(1), x)) OF(weigh_2, lam_weigh(LIKE(2), x))
OF(weigh_0, lam_weigh(LIKE(0), x))
OF(leaky_relu_1, lam_leaky_relu(x, 0.1))
OF(huber_1, lam_huber_loss(x, LIKE(0), 1))
OF(cube, lam_integer_pow(x, 3)) OF(inverse_cube, lam_integer_pow(x, -3)) OF(to_half, lam_pow(x, 0.5))
OF(to_third_half, lam_pow(x, 1.5)) OF(to_minus_half, lam_pow(x, -0.5)) OF(power_of_2, lam_pow(2.0, x))
OF(power_of_half, lam_pow(0.5, x)) OF(logaddexp_0, lam_logaddexp(x, 0.0)) OF(log_cosh_0, lam_log_cosh(x, LIKE(0)))
OF(hypot_1, lam_hypot(x, 1.0)) OF(hypot_0, lam_hypot(x, 0.0)) OF(atan2_over_1, lam_atan2(x, 1.0))
OF(atan2_of_1, lam_atan2(1.0, x)) OF(one_over, lam_div(1.0, x)) OF(log_of, lam_xlogy(2.0, x))
OF(log1p_of, lam_xlog1py(LIKE(1), x)) OF(max_0, lam_max(x, 0.0)) OF(clamp_1, lam_clamp(x, -1.0, 1.0))
OF(zeta_2, lam_zeta(LIKE(2), x)) OF(betaln_1, lam_betaln(x, LIKE(1))) OF(beta_1, lam_beta(x, LIKE(1)))
OF(poch_2, lam_poch(x, LIKE(2.5)))
OF(igamma_1, lam_igamma(LIKE(1), x)) OF(igamma_2, lam_igamma(LIKE(2), x)) OF(igamma_half, lam_igamma(LIKE(2.5), x))
OF(igammac_half, lam_igammac(LIKE(1.5), x)) OF(igammac_by_a, lam_igammac(x, LIKE(2)))
OF(uniform, lam_betainc(LIKE(1), LIKE(1), x)) OF(betainc_2, lam_betainc(LIKE(2), LIKE(2), x))
OF(betaincc_half, lam_betaincc(LIKE(2.5), LIKE(3), x)) OF(boxcox_2, lam_boxcox(x, LIKE(2)))
OF(boxcox_1, lam_boxcox(x, LIKE(1))) OF(boxcox_half, lam_boxcox(x, LIKE(0.5)))
OF(boxcox1p_half, lam_boxcox1p(x, LIKE(0.5))) OF(boxcox_0, lam_boxcox(x, LIKE(0)))
OF(boxcox_of_4, lam_boxcox(LIKE(4), x)) OF(boxcox_of_0, lam_boxcox(LIKE(0), x))
OF(boxcox_of_infinity, lam_boxcox(LIKE(INFINITY), x)) OF(boxcox1p_of_tiny, lam_boxcox1p(LIKE(1e-20), x))
OF(rel_entr_1, lam_rel_entr(x, LIKE(1))) OF(kl_div_of_1, lam_kl_div(LIKE(1), x))
OF(cross_entropy_0, lam_sigmoid_binary_cross_entropy(x, LIKE(0)))

/* Where a derivative has no value though the function has one. */
enum { EVERYWHERE, POLES = 1, WAVES = 2 }; /* where the sides of a pole disagree; at infinity */

static const struct row {
    const char *name;
    function *f;
    int undefined;
} rows[] = {
#define ROW(name) {#name, lam_##name, EVERYWHERE}
#define OWN(name) {#name, name, EVERYWHERE}
    ROW(abs), ROW(acos), ROW(acosh), ROW(angle), ROW(asin), ROW(asinh), ROW(atan), ROW(atanh), ROW(cbrt), ROW(ceil),
    ROW(ci), ROW(cos), ROW(cosh), ROW(dawsn), ROW(deg2rad), ROW(entr), ROW(entr_slope), ROW(erf), ROW(erf_inv),
    ROW(erfc), ROW(erfcx),
    ROW(exp), ROW(exp1), ROW(exp2), ROW(expi), ROW(expm1), ROW(exprel), ROW(factorial), ROW(floor), ROW(gamma),
    ROW(gelu), ROW(gelu_slope), ROW(gelu_tanh), ROW(gelu_tanh_slope), ROW(hard_sigmoid), ROW(hard_silu),
    ROW(hard_silu_slope), ROW(hard_tanh), ROW(i0), ROW(i0e), ROW(i1), ROW(i1e), ROW(lambertw), ROW(log),
    ROW(log10), ROW(log1mexp), ROW(log1mexp_slope), ROW(log1p), ROW(log2), ROW(log_logistic),
    ROW(log_ndtr), ROW(logistic), ROW(logistic_slope), ROW(logit), ROW(mish), ROW(mish_slope), ROW(ndtr), ROW(ndtri),
    ROW(ndtri_slope), ROW(neg), ROW(rad2deg), ROW(reciprocal), ROW(relu), ROW(relu6), ROW(round), ROW(rsqrt),
    ROW(selu), ROW(si),
    ROW(sign), ROW(silu), ROW(silu_slope), ROW(sin), ROW(sinc), ROW(sinh), ROW(softplus), ROW(softsign),
    ROW(sparse_plus), ROW(sparse_sigmoid), ROW(spence), ROW(sqrt), ROW(square), ROW(tan), ROW(tanh), ROW(tanh_slope),
    ROW(trunc), {"lgamma", lam_lgamma, POLES}, {"digamma", lam_digamma, POLES}, {"polygamma_1", polygamma_1, POLES},
    {"fresnel_s", lam_fresnel_s, WAVES}, {"fresnel_c", lam_fresnel_c, WAVES}, OWN(expn_2), OWN(bessel_i_2),
    OWN(bessel_j_0), OWN(bessel_j_1), OWN(elu_2), OWN(celu_2), OWN(squareplus_4), OWN(squareplus_slope_4),
    OWN(squareplus_by_b), OWN(weigh_2), OWN(weigh_0), OWN(leaky_relu_1), OWN(huber_1),
    OWN(cube), OWN(inverse_cube), OWN(to_half), OWN(to_third_half), OWN(to_minus_half), OWN(power_of_2),
    OWN(power_of_half), OWN(logaddexp_0), OWN(log_cosh_0), OWN(hypot_1), OWN(hypot_0), OWN(atan2_over_1),
    OWN(atan2_of_1), OWN(one_over), OWN(log_of), OWN(log1p_of), OWN(max_0), OWN(clamp_1), OWN(zeta_2), OWN(betaln_1),
    OWN(beta_1), OWN(igamma_1), OWN(igamma_2), OWN(igamma_half), OWN(igammac_half), OWN(igammac_by_a), OWN(uniform),
    OWN(betainc_2), OWN(betaincc_half), OWN(boxcox_half), OWN(boxcox1p_half), OWN(boxcox_0), OWN(boxcox_of_4),
    OWN(boxcox_of_0), OWN(boxcox_of_infinity), OWN(boxcox1p_of_tiny), OWN(rel_entr_1),
    OWN(kl_div_of_1), OWN(cross_entropy_0),
};

static const double doubles[] = {
    0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-1074, -0x1p-1074, DBL_MIN, -DBL_MIN, DBL_MAX, -DBL_MAX, 0.5, -0.5,
    2, -3, 1e-20, -1e-20, 1e20, -1e20, 700, -700,
};
static const double floats[] = {
    0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-149, FLT_MIN, -FLT_MIN, FLT_MAX, -FLT_MAX, 0.5, -0.5,
    2, -3, 1e-20, -1e-20, 1e20, -1e20, 85, -85,
};
/* clang-format on */

enum { POINTS = sizeof doubles / sizeof doubles[0] };

BODY(value_of) {
    out[0] = ((const struct row *)env)->f(in[0]);
}

BODY(forward) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, out, 1, NULL);
}

BODY(reverse) {
    lam_tensor *value;
    lam_fn *pullback;
    if (lam_vjp(env, LAM_LIST(in[0]), &value, 1, &pullback, NULL)) return;
    out[0] = lam_apply(pullback, LAM_LIST(lam_ones_like(in[0])));
}

/* y[0] is the value, y[1] and y[2] the slope in both modes, the others the second derivative in all pairs. */
static void work_out(const struct row *row, lam_tensor *x, double y[ALL][MOST]) {
    lam_fn *f[ALL] = {FN_ENV(value_of, 1, 1, (void *)(uintptr_t)row)};
    for (int i = 1; i < ALL; i++) f[i] = FN_ENV(i % 2 ? forward : reverse, 1, 1, f[(i - 1) / 2]);
    for (int i = 0; i < ALL; i++) {
        lam_tensor *result = lam_cast(lam_apply(f[i], LAM_LIST(x)), LAM_F64);
        EXPECT_OK();
        ck_assert_int_eq(lam_read(result, y[i], (size_t)lam_size(x) * sizeof(double)), LAM_OK);
    }
}

static bool alike(double x, double y, double tolerance, double least) {
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y)) || fabs(x - y) <= least;
}

static bool is_undefined(const struct row *row, double x) {
    if (row->undefined == POLES) return x < 0 && (isinf(x) || x == floor(x));
    return row->undefined == WAVES && isinf(x);
}

/* Where the value is NaN and x is not, nothing is said. */
static void look_at(const struct row *row, lam_dtype dtype, const double *x) {
    static const char *const names[ALL] = {"value",      "jvp",        "vjp",       "jvp of jvp",
                                           "vjp of jvp", "jvp of vjp", "vjp of vjp"};
    const double tolerance = dtype == LAM_F64 ? 1e-13 : 1e-5, least = dtype == LAM_F64 ? 0x1p-1072 : 0x1p-147;
    double y[ALL][MOST];
    work_out(row, lam_cast(vector_of(x, POINTS), dtype), y);
    for (int k = 0; k < POINTS; k++) {
        if (isnan(y[0][k]) && !isnan(x[k])) continue;
        for (int i = 1; i < ALL; i++) {
            const int first = i < 3 ? 1 : 3;
            ck_assert_msg(alike(y[i][k], y[first][k], tolerance, least), "%s of %s at %g is %.17g, but %s %.17g",
                          names[i], row->name, x[k], y[i][k], names[first], y[first][k]);
            ck_assert_msg(!isnan(y[i][k]) || isnan(x[k]) || is_undefined(row, x[k]),
                          "%s of %s at %g is NaN, the value %g", names[i], row->name, x[k], y[0][k]);
        }
    }
}

START_TEST(modes_agree_where_numbers_end) {
    look_at(&rows[_i], LAM_F64, doubles);
    look_at(&rows[_i], LAM_F32, floats);
}
END_TEST

/* clang-format off */
static const struct known {
    function *f;
    double x, slope, second; /* of igammac by a: from 60 digits of its Taylor series, by mpmath */
} known[] = {
    {lam_logit, 0, INFINITY, -INFINITY}, {lam_logit, 1, INFINITY, INFINITY}, {lam_ndtri, 0, INFINITY, -INFINITY},
    {lam_ndtri, 1, INFINITY, INFINITY}, {lam_ndtri, 0x1p-1074, INFINITY, -INFINITY},
    {lam_ndtri, 0.5, 2.5066282746310002, 0},
    {lam_gelu_tanh, INFINITY, 1, 0}, {lam_gelu_tanh, -INFINITY, 0, 0}, {lam_sinc, 0x1p1023, 0x1p-1023, 0},
    {lam_sparse_plus, NAN, NAN, 0.5}, {lam_relu6, NAN, 1, 0}, {huber_1, INFINITY, 1, 0}, {huber_1, -INFINITY, -1, 0},
    {huber_1, 1, 1, 0}, {huber_1, 0, 0, 1}, {lam_ci, 0, INFINITY, -INFINITY}, {lam_log1mexp, -0.0, INFINITY, -INFINITY},
    {lam_spence, 0, -INFINITY, INFINITY}, {lam_expi, INFINITY, INFINITY, INFINITY},
    {lam_expi, 1 - 0x1p-53, 2.7182818284590452, -3.0178990733754025e-16}, {lam_exprel, 1e20, INFINITY, INFINITY},
    {lam_gamma, INFINITY, INFINITY, INFINITY}, {lam_lambertw, INFINITY, 0, 0}, {lam_fresnel_c, DBL_MAX, 1, 0},
    {lam_angle, 0, 0, 0}, {to_half, -INFINITY, 0, 0}, {igamma_1, 0, 1, -1}, {igamma_2, 0, 0, 1}, {igamma_half, 0, 0, 0},
    {igammac_half, 0, 0, -INFINITY}, {uniform, 0, 1, 0}, {uniform, 1, 1, 0}, {betainc_2, 0, 0, 6},
    {betainc_2, 1, 0, -6},
    {igammac_by_a, 0, 0.048900510708061120, 0.15277245543434619},
    {igammac_by_a, 1e-200, 0.048900510708061120, 0.15277245543434619},
    {lam_entr, 0, 0, 0}, {lam_entr, INFINITY, -INFINITY, 0}, {lam_entr, 0x1p-1074, 743.44007192138126, -INFINITY},
    {lam_silu_slope, 1e-20, 0.5, -5e-21}, {beta_1, INFINITY, 0, 0},
    {poch_2, 0, 1.3293403881791370, 3.4041012353387358}, {poch_2, -1e-20, 1.3293403881791370, 3.4041012353387358},
    {betaln_1, INFINITY, 0, 0},
    {boxcox_2, 1e-20, 1e-20, 1}, {boxcox_2, 0, 0, 1}, {boxcox_2, INFINITY, INFINITY, 1}, {boxcox_1, 0, 1, 0},
    {boxcox_1, 1e-20, 1, 0}, {boxcox_1, 1e20, 1, 0}, {boxcox_half, 0, INFINITY, -INFINITY},
    {boxcox1p_half, -1, INFINITY, -INFINITY}, {boxcox_0, 0, INFINITY, -INFINITY}, {boxcox_0, INFINITY, 0, 0},
    {boxcox_of_4, 0, 0.96090602783640285, 0.88806573863714522}, /* log(4)^2/2, log(4)^3/3 */
    {boxcox_of_4, 0x1p-1074, 0.96090602783640285, 0.88806573863714522}, {boxcox_of_4, -INFINITY, 0, 0},
    {boxcox_of_0, 2, 0.25, -0.25}, {boxcox_of_0, -1, 0, 0}, {boxcox_of_infinity, -2, 0.25, 0.25},
    {boxcox1p_of_tiny, 1e20, 1e-40, 7.1828182845904524e-61}, /* exprel' and exprel'' at 1 */
};
/* clang-format on */

START_TEST(known_answers_where_numbers_end) {
    const struct row row = {"", known[_i].f, EVERYWHERE};
    double y[ALL][MOST];
    work_out(&row, num(known[_i].x), y);
    for (int i = 1; i < ALL; i++) {
        const double want = i < 3 ? known[_i].slope : known[_i].second;
        ck_assert_msg(alike(y[i][0], want, 4e-15, 0), "row %d at %g, %d: %.17g, not %.17g", _i, known[_i].x, i, y[i][0],
                      want);
    }
}
END_TEST

static void mean_of_columns(lam_ctx *c, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)c, (void)env;
    out[0] = lam_mean(in[0], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

/* It is NaN whatever is not there. */
START_TEST(the_mean_of_nothing_is_a_constant) {
    lam_tensor *none = lam_zeros(ctx, LAM_F32, LAM_DIMS(0, 2)), *out[2];
    lam_fn *f = FN(mean_of_columns, 1, 1);
    ck_assert_int_eq(lam_call(lam_jvp_fn(f, NULL), LAM_LIST(none, none), out, 2), LAM_OK);
    EXPECT(out[0], LAM_DIMS(2), NAN, NAN);
    EXPECT(out[1], LAM_DIMS(2), 0, 0);
    EXPECT_EMPTY(apply1(lam_jacrev(f, NULL), none), LAM_DIMS(2, 0, 2));
    ck_assert_int_eq(lam_dtype_of(out[0]), LAM_F32);
}
END_TEST

Suite *suite_primitives_modes(void) {
    Suite *suite = suite_create("primitives/modes");
    suite_loop(suite, modes_agree_where_numbers_end, (int)(sizeof rows / sizeof rows[0]));
    suite_loop(suite, known_answers_where_numbers_end, (int)(sizeof known / sizeof known[0]));
    suite_loop(suite, the_mean_of_nothing_is_a_constant, 1);
    return suite;
}
