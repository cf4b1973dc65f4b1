/* Distributions, and statistics of samples: values from SciPy (stats_values.h and where said), from each other, and by
 * hand; derivatives against differences, vmap against one call per example, what is refused. */
#include "tests/primitives/stats_values.h"
#include "tests/primitives/subject.h"

enum { VALUES = sizeof stats_values / sizeof *stats_values };

/* The parameters of a row as tensors; they live as long as the test. */
static lam_list parameters_of(const stats_value *v, lam_dtype dtype) {
    static lam_tensor *list[5];
    for (int i = 0; i < v->count; i++) list[i] = lam_cast(num(v->parameters[i]), dtype);
    return (lam_list){(size_t)v->count, list};
}

typedef lam_tensor *function_of_distribution(lam_distribution, lam_tensor *, lam_list);

static bool has_cdf(lam_distribution which) {
    return which != LAM_BETABINOM;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void expect_value(int row, const char *what, lam_tensor *t, double want, double tolerance) {
    double got = lam_item(t);
    bool same = isinf(want) ? got == want : fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300);
    ck_assert_msg(same, "row %d, %s: %.17g, expected %.17g", row, what, got, want);
}

START_TEST(functions_of_distributions) {
    const stats_value *v = &stats_values[_i];
    for (int wide = 1; wide >= 0; wide--) {
        const lam_dtype dtype = wide ? LAM_F64 : LAM_F32;
        const double near = wide ? 4e-13 : 4e-4;
        lam_list p = parameters_of(v, dtype);
        lam_tensor *x = lam_cast(num(v->x), dtype), *density = lam_logpdf(v->which, x, p);
        ck_assert_int_eq(lam_dtype_of(density), dtype);
        expect_value(_i, "logpdf", lam_add(density, wide ? 0 : 1e-3), v->logpdf + (wide ? 0 : 1e-3), near);
        expect_value(_i, "pdf", lam_pdf(v->which, x, p), exp(v->logpdf), wide ? 1e-11 : 1e-2);
        if (isnan(v->cdf)) continue;
        expect_value(_i, "cdf", lam_cdf(v->which, x, p), v->cdf, near * 10);
        expect_value(_i, "sf", lam_sf(v->which, x, p), v->sf, near * 10);
        if (!wide) continue; /* logarithms next to 0 have no digits of their own */
        lam_tensor *left = lam_logcdf(v->which, x, p), *right = lam_logsf(v->which, x, p);
        expect_value(_i, "logcdf", lam_exp(left), v->cdf, 1e-11);
        expect_value(_i, "logsf", lam_exp(right), v->sf, 1e-11);
    }
    EXPECT_OK();
}
END_TEST

/* loc 1, scale 2, shapes 2.5 and 1/2, from SciPy, those without a formula from mpmath, 40 digits; SciPy's isf of
 * Gumbel's left one at 1e-9 likewise. */
START_TEST(quantiles) {
    static const struct quantile {
        lam_distribution which;
        double low, high, tail; /* ppf of 0.01 and 0.9, isf of 1e-9 */
    } rows[] = {
        {LAM_NORM, -3.6526957480816815, 3.5631031310892007, 12.995614030015373},
        {LAM_UNIFORM, 1.02, 2.8, 2.999999998},
        {LAM_EXPON, 1.020100671707003, 5.605170185988092, 42.44653167389282},
        {LAM_LAPLACE, -6.824046010856292, 4.218875824868201, 41.060237312772934},
        {LAM_LOGISTIC, -8.19023970026918, 5.394449154672439, 42.44653167189282},
        {LAM_CAUCHY, -62.64103190754791, 7.155367074350509, 636619773.3675814},
        {LAM_GUMBEL_R, -2.0543592516158022, 5.500734654624891, 42.446531672892824},
        {LAM_GUMBEL_L, -8.20029845355316, 2.668064890495912, 7.06251404516835},
        {LAM_PARETO, 3.008056451841815, 6.023772863019161, 7963.143411069948},
        {LAM_GAMMA, 1.55429807672827715, 10.2363568997811191, 51.692193701543032},
        {LAM_CHI2, 1.11242410966964424, 11.8957602967673858, 87.4034378309443644},
        {LAM_T, -9.70622234606174854, 4.46050185761435367, 6980.16679073996345},
        {LAM_GENNORM, -1.84372939857775705, 2.67883341838403026, 7.28191453506348914},
        {LAM_BETA, 1.47040722171341223, 2.99303622105035943, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lam_tensor *all[] = {num(2.5), num(0.5), num(1), num(2)};
        const int shapes = rows[i].which == LAM_BETA ? 2 : rows[i].which >= LAM_PARETO ? 1 : 0;
        if (shapes == 1) all[1] = all[0];
        lam_list p = {(size_t)shapes + 2, all + 2 - shapes};
        EXPECT_NEAR(lam_ppf(rows[i].which, VEC(0.01, 0.9), p), 1e-12, LAM_DIMS(2), rows[i].low, rows[i].high);
        EXPECT_NEAR(lam_isf(rows[i].which, num(1e-9), p), 1e-12, LAM_DIMS0, rows[i].tail);
        lam_tensor *q = VEC(0.003, 0.2, 0.5, 0.77, 0.999);
        EXPECT_SAME(lam_cdf(rows[i].which, lam_ppf(rows[i].which, q, p), p), q, 1e-12);
        lam_tensor *outside = lam_is_nan(lam_ppf(rows[i].which, VEC(-0.1, 1.1), p));
        ck_assert_double_eq(lam_item(lam_all(outside, NULL)), 1);
    }
    EXPECT(lam_ppf(LAM_BERNOULLI, VEC(0, 0.6, 0.8, 1), LAM_LIST(num(0.3))), LAM_DIMS(4), 0, 0, 1, 1);
    EXPECT_OK();
}
END_TEST

/* From mpmath, 40 digits. */
START_TEST(tails_keep_their_digits) {
    const lam_list none = {0, NULL};
    lam_tensor *three = num(3), *many = num(1e8), *one = num(1), *tiny = num(1e-12);
    EXPECT_NEAR(lam_isf(LAM_LAPLACE, num(1e-20), none), 1e-15, LAM_DIMS0, 45.358554679320968);
    EXPECT_NEAR(lam_isf(LAM_CAUCHY, num(1e-20), none), 1e-15, LAM_DIMS0, 3.1830988618379069e19);
    EXPECT_NEAR(lam_logcdf(LAM_LAPLACE, VEC(-800, 40), none), 1e-15, LAM_DIMS(2), -800.69314718055995,
                -2.1241771276457945e-18);
    EXPECT_NEAR(lam_logsf(LAM_LAPLACE, num(800), none), 1e-15, LAM_DIMS0, -800.69314718055995);
    EXPECT_NEAR(lam_cdf(LAM_T, num(1e-9), LAM_LIST(three)), 4e-16, LAM_DIMS0, 0.5000000003675526);
    EXPECT_NEAR(lam_cdf(LAM_T, num(0.3), LAM_LIST(many)), 4e-16, LAM_DIMS0, 0.61791142187716809);
    EXPECT_NEAR(lam_sf(LAM_T, num(5), LAM_LIST(many)), 1e-9, LAM_DIMS0, 2.8665205506336431e-7);
    EXPECT_NEAR(lam_sf(LAM_BETA, num(1e-20), LAM_LIST(num(0.01), num(0.5))), 1e-14, LAM_DIMS0, 0.37762833693418656);
    EXPECT_NEAR(lam_sf(LAM_NBINOM, num(1e10), LAM_LIST(num(0.5), tiny)), 1e-14, LAM_DIMS0, 0.88753708397749786);
    EXPECT_NEAR(lam_cdf(LAM_BINOM, VEC(0, 1), LAM_LIST(num(1e12), tiny)), 1e-13, LAM_DIMS(2), 0.36787944117125839,
                0.73575888234288465);
    EXPECT_NEAR(lam_logcdf(LAM_GAMMA, num(40), LAM_LIST(num(2))), 1e-13, LAM_DIMS0, -1.7418252446695516e-16);
    EXPECT(lam_cdf(LAM_NBINOM, VEC(INFINITY, -INFINITY), LAM_LIST(three, num(0.5))), LAM_DIMS(2), 1, 0);
    EXPECT_NUM(lam_sf(LAM_BETA, num(1), LAM_LIST(one, one)), 0);
    EXPECT_OK();
}
END_TEST

static lam_tensor *all_nan(lam_tensor *x) {
    return lam_all(lam_is_nan(x), NULL);
}

/* What is no distribution has no value anywhere, also outside the support, and NaN is no count. */
START_TEST(impossible_parameters_give_nan) {
    static const struct impossible {
        lam_distribution which;
        int count;
        double p[3];
    } rows[] = {
        {LAM_PARETO, 1, {-1}},
        {LAM_GAMMA, 1, {-1.5}},
        {LAM_GAMMA, 1, {0}},
        {LAM_BETA, 2, {-1, 2}},
        {LAM_BETA, 2, {1, NAN}},
        {LAM_CHI2, 1, {-2.5}},
        {LAM_T, 1, {-1}},
        {LAM_GENNORM, 1, {0}},
        {LAM_TRUNCNORM, 2, {2, -1}},
        {LAM_VONMISES, 1, {-2}},
        {LAM_WRAPCAUCHY, 1, {-0.5}},
        {LAM_WRAPCAUCHY, 1, {1}},
        {LAM_BERNOULLI, 1, {1.5}},
        {LAM_BERNOULLI, 1, {-0.5}},
        {LAM_BINOM, 2, {4, 1.5}},
        {LAM_BINOM, 2, {-1, 0.5}},
        {LAM_POISSON, 1, {-1}},
        {LAM_GEOM, 1, {0}},
        {LAM_GEOM, 1, {2}},
        {LAM_NBINOM, 2, {0, 0.5}},
        {LAM_NBINOM, 2, {3, 1.5}},
        {LAM_BETABINOM, 3, {3, 0, 1}},
        {LAM_NORM, 2, {0, -1}},
    };
    function_of_distribution *const functions[] = {lam_logpdf, lam_pdf, lam_cdf, lam_sf, lam_logcdf, lam_logsf};
    lam_tensor *x = VEC(-INFINITY, -2, 0, 0.4, 1, 3, 50, INFINITY);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct impossible *r = &rows[i];
        lam_tensor *bad[3], *good[3] = {num(0.5), num(0.75), num(1)};
        for (int k = 0; k < r->count; k++) bad[k] = num(r->p[k]);
        const lam_list p = {(size_t)r->count, bad}, q = {(size_t)r->count, good};
        for (int k = 0; k < (has_cdf(r->which) ? 6 : 2); k++) {
            ck_assert_msg(lam_item(all_nan(functions[k](r->which, x, p))), "row %zu, function %d", i, k);
            ck_assert_msg(lam_item(all_nan(functions[k](r->which, num(NAN), q))), "NaN, row %zu, function %d", i, k);
        }
    }
    EXPECT_NUM(lam_ppf(LAM_PARETO, num(0.5), LAM_LIST(num(-1))), NAN);
    EXPECT_NUM(lam_ppf(LAM_BERNOULLI, num(NAN), LAM_LIST(num(0.5))), NAN);
    EXPECT_OK();
}
END_TEST

START_TEST(operands_broadcast_and_may_be_integers) {
    lam_tensor *k = lam_array(ctx, LAM_I32, LAM_DIMS(3, 1), (int32_t[]){0, 1, 4}), *p = VEC(0.2, 0.5);
    lam_tensor *mass = lam_pdf(LAM_BINOM, k, LAM_LIST(lam_cast(num(4), LAM_I64), p));
    EXPECT_NEAR(mass, 1e-14, LAM_DIMS(3, 2), 0.4096, 0.0625, 0.4096, 0.25, 0.0016, 0.0625);
    EXPECT_EMPTY(lam_logpdf(LAM_NORM, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_LIST(num(1))), LAM_DIMS(0));
    lam_tensor *bad = lam_logpdf(LAM_NORM, num(1), LAM_LIST(num(0), num(-1)));
    ck_assert(isnan(lam_item(bad)));
    ck_assert(isnan(lam_item(lam_logpdf(LAM_UNIFORM, num(NAN), LAM_LIST()))));
    EXPECT_OK();
}
END_TEST

/* Masses of counts sum to 1. */
START_TEST(masses_sum_to_one) {
    lam_tensor *k = lam_iota(ctx, LAM_F64, LAM_DIMS(400), 0), *n = num(12), *p = num(0.15);
    const struct {
        lam_distribution which;
        lam_list p;
    } rows[] = {{LAM_BINOM, LAM_LIST(n, p)},  {LAM_POISSON, LAM_LIST(n)},         {LAM_GEOM, LAM_LIST(p)},
                {LAM_NBINOM, LAM_LIST(n, p)}, {LAM_BETABINOM, LAM_LIST(n, n, p)}, {LAM_BERNOULLI, LAM_LIST(p)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_NEAR(lam_sum(lam_pdf(rows[i].which, k, rows[i].p), NULL), 1e-12, LAM_DIMS0, 1);
    EXPECT_OK();
}
END_TEST

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* by the parameters, at a count that all have */
BODY(of_parameters) {
    const subject *s = env;
    out[0] = s->f(s->which, num(s->which == LAM_BERNOULLI ? 1 : 2), (lam_list){(size_t)s->count, in});
}

/* In the middle of each: x, parameters. Where the density has a kink (Laplace), beside it. */
static const struct place {
    lam_distribution which;
    int count;
    double x, p[4];
} places[] = {
    {LAM_NORM, 2, 0.4, {0.1, 1.3}},
    {LAM_UNIFORM, 2, 0.4, {0.1, 1.3}},
    {LAM_EXPON, 2, 0.9, {0.1, 1.3}},
    {LAM_LAPLACE, 2, 0.9, {0.1, 1.3}},
    {LAM_LOGISTIC, 2, 0.9, {0.1, 1.3}},
    {LAM_CAUCHY, 2, 0.9, {0.1, 1.3}},
    {LAM_GUMBEL_R, 2, 0.9, {0.1, 1.3}},
    {LAM_GUMBEL_L, 2, 0.9, {0.1, 1.3}},
    {LAM_PARETO, 3, 2.9, {1.7, 0.1, 1.3}},
    {LAM_GAMMA, 3, 1.9, {1.7, 0.1, 1.3}},
    {LAM_CHI2, 3, 1.9, {3.7, 0.1, 1.3}},
    {LAM_T, 3, 1.9, {3.7, 0.1, 1.3}},
    {LAM_GENNORM, 3, 1.9, {1.7, 0.1, 1.3}},
    {LAM_BETA, 4, 0.6, {1.7, 2.3, 0.1, 1.3}},
    {LAM_TRUNCNORM, 4, 0.6, {-0.7, 2, 0, 1}},
    {LAM_VONMISES, 2, 0.6, {1.7, 0.1}},
    {LAM_WRAPCAUCHY, 2, 0.6, {0.4, 0.1}},
    {LAM_BERNOULLI, 1, NAN, {0.4}},
    {LAM_BINOM, 2, NAN, {7.5, 0.4}},
    {LAM_POISSON, 1, NAN, {1.4}},
    {LAM_GEOM, 1, NAN, {0.4}},
    {LAM_NBINOM, 2, NAN, {2.5, 0.4}},
    {LAM_BETABINOM, 3, NAN, {5.5, 1.4, 2.3}},
};

START_TEST(derivatives_of_distributions) {
    function_of_distribution *const functions[] = {lam_logpdf, lam_pdf,   lam_cdf, lam_sf,
                                                   lam_logcdf, lam_logsf, lam_ppf};
    const struct place *at = &places[_i];
    const bool count = isnan(at->x);
    for (int k = 0; k < 7; k++) {
        const bool quantile = k == 6;
        if ((k > 1 && !has_cdf(at->which)) || (quantile && at->which > LAM_GENNORM)) continue;
        if (at->which == LAM_BERNOULLI && k > 1) continue; /* constants, whose logarithms are infinite */
        subject s = {functions[k], at->which, at->count};
        lam_tensor *in[5] = {num(quantile ? 0.3 : at->x)};
        for (int i = 0; i < at->count; i++) in[i + 1] = num(at->p[i]);
        lam_list all = {(size_t)at->count + !count, count ? in + 1 : in};
        lam_fn *f = FN_ENV(count ? of_parameters : of_all, (int)all.count, 1, &s);
        ck_assert_msg(lam_check_grads(f, all, &(lam_check_grads_options){.order = 2, .tolerance = 1e-4}) == LAM_OK,
                      "distribution %d, function %d: %s", (int)at->which, k, lam_error(ctx));
    }
}
END_TEST

/* Of the distribution function it is the density, also at the middle of Student's, where the parts of it have none. */
START_TEST(densities_are_slopes) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct place *at = &places[i];
        if (isnan(at->x) || !has_cdf(at->which)) continue;
        subject s = {lam_cdf, at->which, at->count};
        lam_tensor *in[5] = {num(at->which == LAM_T ? at->p[1] : at->x)};
        for (int k = 0; k < at->count; k++) in[k + 1] = num(at->p[k]);
        lam_tensor *slope =
            lam_apply(lam_grad(FN_ENV(of_all, at->count + 1, 1, &s), NULL), (lam_list){(size_t)at->count + 1, in});
        EXPECT_SAME(slope, lam_pdf(at->which, in[0], (lam_list){(size_t)at->count, in + 1}), 1e-13);
    }
    EXPECT_OK();
}
END_TEST

/* At the middle, where two sides meet, cdf and sf have the derivatives of the density there, and next to it: with f(0)
 * = 1/2 for Laplace's, 3/8 for Student's of 4 degrees, p/(2 Gamma(1/p)) for the generalised normal one, and f''(0)/f(0)
 * = -(n + 1)/n and -2 (for p = 2). Values at x = 0.05 from mpmath. */
START_TEST(both_sides_meet_smoothly) {
    static const struct {
        lam_distribution which;
        double p, x, slope, third; /* NAN: there is none */
    } rows[] = {
        {LAM_LAPLACE, NAN, 0, 0.5, NAN},
        {LAM_T, 4, 0, 0.375, -0.46875},
        {LAM_T, 4, 1e-9, 0.375, -0.46875},
        {LAM_GENNORM, 1, 0, 0.5, NAN},
        {LAM_GENNORM, 1.5, 0, 0.55386608371623625, NAN},
        {LAM_GENNORM, 2, 0, 0.5641895835477563, -1.1283791670955126},
        {LAM_GENNORM, 3, 0, 0.55992326086109279, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        subject s = {lam_cdf, rows[i].which, isnan(rows[i].p) ? 0 : 1};
        lam_tensor *in[] = {num(rows[i].x), num(rows[i].p)};
        for (int upper = 0; upper < 2; upper++) {
            s.f = upper ? lam_sf : lam_cdf;
            const double sign = upper ? -1 : 1;
            lam_fn *slope = lam_grad(FN_ENV(of_all, s.count + 1, 1, &s), NULL);
            const lam_list at = {(size_t)s.count + 1, in};
            EXPECT_NEAR(lam_apply(slope, at), 1e-14, LAM_DIMS0, sign * rows[i].slope);
            if (isnan(rows[i].third)) continue;
            EXPECT_NEAR(lam_apply(lam_grad(lam_grad(slope, NULL), NULL), at), 1e-9, LAM_DIMS0, sign * rows[i].third);
        }
        s.f = lam_logcdf;
        EXPECT_NEAR(lam_apply(lam_grad(FN_ENV(of_all, s.count + 1, 1, &s), NULL), (lam_list){(size_t)s.count + 1, in}),
                    1e-8, LAM_DIMS0, 2 * rows[i].slope);
    }
    /* by p next to the middle */
    subject s = {lam_cdf, LAM_GENNORM, 1};
    lam_fn *by_p = lam_grad(FN_ENV(of_all, 2, 1, &s), &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NEAR(apply2(by_p, num(0.05), num(1.5)), 1e-14, LAM_DIMS0, 0.0026449828459183685);
    EXPECT_NEAR(apply2(by_p, num(0.05), num(3)), 1e-14, LAM_DIMS0, -0.0004078632054610922);
    /* a share far from all is flat, and a quantile at the end of the support rises */
    EXPECT_NUM(apply1(lam_grad(FN_ENV(of_all, 1, 1, (&(subject){lam_cdf, LAM_GUMBEL_R, 0})), NULL), num(-800)), 0);
    EXPECT_NUM(apply1(lam_grad(FN_ENV(of_all, 1, 1, (&(subject){lam_cdf, LAM_GUMBEL_L, 0})), NULL), num(800)), 0);
    EXPECT_NUM(apply1(lam_grad(FN_ENV(of_all, 1, 1, (&(subject){lam_ppf, LAM_GUMBEL_R, 0})), NULL), num(1)), INFINITY);
    EXPECT_OK();
}
END_TEST

/* Outside the support nothing moves, and nothing is NaN. */
START_TEST(gradients_outside_are_zero) {
    const lam_distribution bounded[] = {LAM_EXPON, LAM_GAMMA, LAM_BETA, LAM_PARETO, LAM_CHI2, LAM_UNIFORM};
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
        int count = bounded[i] == LAM_BETA ? 2 : bounded[i] == LAM_EXPON || bounded[i] == LAM_UNIFORM ? 0 : 1;
        subject s = {lam_cdf, bounded[i], count};
        lam_fn *f = lam_grad(FN_ENV(of_all, count + 1, 1, &s), &(lam_grad_options){.argnums = LAM_AXES(count ? 1 : 0)});
        lam_tensor *in[] = {num(-0.5), num(0.5), num(2.5)};
        function_of_distribution *const functions[] = {lam_cdf, lam_pdf, lam_sf, lam_logcdf, lam_logsf};
        for (int k = 0; k < 5; k++) {
            s.f = functions[k];
            EXPECT_NUM(lam_apply(f, (lam_list){(size_t)count + 1, in}), 0);
        }
    }
    EXPECT_OK();
}
END_TEST

BODY(gamma_density) {
    out[0] = lam_logpdf(LAM_GAMMA, in[0], LAM_LIST(in[1]));
}

START_TEST(batches_of_distributions) {
    lam_tensor *x = VEC(0.5, 1, 3), *a = VEC(2, 0.7, 1.5);
    lam_fn *f = FN(gamma_density, 2, 1);
    EXPECT_SAME(apply2(lam_vmap(f, NULL), x, a), apply2(f, x, a), 0);
    lam_fn *only = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    EXPECT_SAME(apply2(only, x, a), apply2(f, x, lam_expand_dims(a, 1)), 0);
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_distributions) {
    lam_tensor *x = VEC(1, 2), *complex = lam_cast(x, LAM_C128);
    function_of_distribution *const functions[] = {lam_logpdf, lam_pdf,   lam_cdf, lam_sf,
                                                   lam_logcdf, lam_logsf, lam_ppf, lam_isf};
    static const char *const names[] = {"logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"};
    for (int k = 0; k < 8; k++) {
        functions[k]((lam_distribution)99, x, LAM_LIST());
        EXPECT_ERROR(LAM_ERR_VALUE, names[k], "99");
        functions[k](LAM_GAMMA, x, LAM_LIST());
        EXPECT_ERROR(LAM_ERR_ARITY, names[k], "gamma", "1 to 3");
        functions[k](LAM_POISSON, x, LAM_LIST(num(1), num(2), num(3)));
        EXPECT_ERROR(LAM_ERR_ARITY, names[k], "poisson", "1 to 2");
        functions[k](LAM_NORM, complex, LAM_LIST());
        EXPECT_ERROR(LAM_ERR_DTYPE, names[k]);
        functions[k](LAM_NORM, x, LAM_LIST(VEC(1, 2, 3)));
        EXPECT_STATUS(LAM_ERR_SHAPE);
    }
    const lam_list three = LAM_LIST(num(9), num(1), num(1));
    lam_cdf(LAM_BETABINOM, x, three);
    EXPECT_ERROR(LAM_ERR_RULE, "cdf", "betabinom");
    lam_ppf(LAM_BETABINOM, x, three);
    EXPECT_ERROR(LAM_ERR_RULE, "ppf", "betabinom");
}
END_TEST

/* ---- vectors ----------------------------------------------------------------------------------------------------- */

BODY(normal_vectors) {
    out[0] = lam_multivariate_normal_logpdf(in[0], in[1], in[2]);
}

BODY(dirichlet) {
    out[0] = lam_dirichlet_logpdf(in[0], in[1]);
}

BODY(multinomial) {
    out[0] = lam_multinomial_logpmf(VEC(2, 0, 3), num(5), in[0]);
}

/* SciPy's values. */
START_TEST(distributions_of_vectors) {
    lam_tensor *x = MAT(2, 2, 0.5, -1, 1, 1), *mean = VEC(0, 0.5), *covariance = MAT(2, 2, 2, 0.3, 0.3, 1);
    EXPECT_NEAR(lam_multivariate_normal_logpdf(x, mean, covariance), 1e-14, LAM_DIMS(2), -3.522685231941232,
                -2.4755648130930648);
    EXPECT_SAME(lam_multivariate_normal_logpdf(x, num(0), lam_eye(ctx, LAM_F64, 2, 2)),
                lam_sum(lam_logpdf(LAM_NORM, x, LAM_LIST()), &(lam_reduce_options){LAM_AXES(1), false}), 1e-15);
    ck_assert_int_eq(lam_check_grads(FN(normal_vectors, 3, 1), LAM_LIST(x, mean, covariance),
                                     &(lam_check_grads_options){.order = 2}),
                     LAM_OK);
    lam_tensor *share = VEC(0.2, 0.3, 0.5), *alpha = VEC(0.5, 2, 3), *chance = VEC(0.2, 0.3, 0.5);
    EXPECT_NEAR(lam_dirichlet_logpdf(share, alpha), 1e-14, LAM_DIMS0, 0.9067536349052947);
    EXPECT(lam_dirichlet_logpdf(MAT(2, 2, -0.1, 1.1, 0.5, 0.5), num(1)), LAM_DIMS(2), -INFINITY, 0);
    EXPECT_NEAR(lam_dirichlet_logpdf(VEC(0, 1), MAT(3, 2, 2, 2, 0.5, 2, 1, 2)), 1e-15, LAM_DIMS(3), -INFINITY, INFINITY,
                log(2)); /* an element 0: x^(alpha - 1) is 0, infinite and 1 */
    ck_assert_int_eq(lam_check_grads(FN(dirichlet, 2, 1), LAM_LIST(share, alpha), NULL), LAM_OK);
    EXPECT_NEAR(lam_multinomial_logpmf(VEC(2, 0, 3), num(5), chance), 1e-14, LAM_DIMS0, -2.9957322735539913);
    EXPECT(lam_multinomial_logpmf(MAT(2, 3, 2, 0, 2, 2.5, 0.5, 2), num(5), chance), LAM_DIMS(2), -INFINITY, -INFINITY);
    ck_assert_int_eq(lam_check_grads(FN(multinomial, 1, 1), LAM_LIST(chance), NULL), LAM_OK);
    EXPECT(lam_multinomial_logpmf(MAT(2, 2, 0, 2, NAN, 1), num(2), VEC(-0.5, 1.5)), LAM_DIMS(2), NAN, NAN);
    EXPECT(lam_multinomial_logpmf(MAT(2, 2, 1, 1, NAN, 1), VEC(NAN, 2), VEC(0.5, 0.5)), LAM_DIMS(2), NAN, NAN);
    EXPECT_NUM(lam_multinomial_logpmf(VEC(0, 0), num(-1), num(0.5)), NAN);
    EXPECT(lam_dirichlet_logpdf(VEC(0.5, 0.5), MAT(2, 2, -1, 2, 1, 1)), LAM_DIMS(2), NAN, 0);
    lam_fn *each = lam_vmap(FN(dirichlet, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    lam_tensor *alphas = lam_stack(LAM_LIST(alpha, share), 0);
    EXPECT_SAME(apply2(each, share, alphas), lam_dirichlet_logpdf(share, alphas), 0);
    EXPECT_OK();
    lam_multivariate_normal_logpdf(num(1), mean, covariance);
    EXPECT_ERROR(LAM_ERR_RANK, "multivariate_normal_logpdf");
    lam_multivariate_normal_logpdf(x, mean, mean);
    EXPECT_ERROR(LAM_ERR_RANK, "multivariate_normal_logpdf");
    lam_multivariate_normal_logpdf(x, share, covariance);
    EXPECT_ERROR(LAM_ERR_SHAPE, "multivariate_normal_logpdf");
    lam_multivariate_normal_logpdf(x, mean, lam_neg(covariance));
    EXPECT_STATUS(LAM_ERR_NUMERIC);
    lam_dirichlet_logpdf(num(1), alpha);
    EXPECT_ERROR(LAM_ERR_RANK, "dirichlet_logpdf");
    lam_multinomial_logpmf(lam_cast(share, LAM_C128), num(1), chance);
    EXPECT_ERROR(LAM_ERR_DTYPE, "multinomial_logpmf");
}
END_TEST

BODY(kernel_density) {
    out[0] = lam_gaussian_kde_logpdf(in[0], in[1], 0);
}

/* SciPy's gaussian_kde. */
START_TEST(kernel_densities) {
    lam_tensor *points = VEC(0, 1, 1.5, 4), *x = VEC(0.5, 3), *planes = MAT(2, 4, 0, 1, 1.5, 4, 1, 0, 3, 2);
    EXPECT_NEAR(lam_gaussian_kde_logpdf(points, x, 0), 1e-14, LAM_DIMS(2), -1.596163924457971, -2.0796077182925554);
    EXPECT_NEAR(lam_gaussian_kde_logpdf(planes, MAT(2, 2, 0.5, 3, 1, 1), 0.5), 1e-14, LAM_DIMS(2), -2.5916774956598227,
                -3.710988368512303);
    ck_assert_int_eq(lam_check_grads(FN(kernel_density, 2, 1), LAM_LIST(points, x), NULL), LAM_OK);
    lam_gaussian_kde_logpdf(points, planes, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "gaussian_kde_logpdf");
    lam_gaussian_kde_logpdf(num(1), x, 0);
    EXPECT_ERROR(LAM_ERR_RANK, "gaussian_kde_logpdf");
}
END_TEST

/* ---- samples ----------------------------------------------------------------------------------------------------- */

BODY(ranks) {
    out[0] = lam_rankdata(in[0], LAM_RANK_AVERAGE);
}

/* SciPy's values. */
START_TEST(ranks_modes_and_errors) {
    lam_tensor *x = VEC(3, 1, 3, 2, 1, 7), *mode, *count;
    EXPECT(lam_rankdata(x, LAM_RANK_AVERAGE), LAM_DIMS(6), 4.5, 1.5, 4.5, 3, 1.5, 6);
    EXPECT(lam_rankdata(x, LAM_RANK_MIN), LAM_DIMS(6), 4, 1, 4, 3, 1, 6);
    EXPECT(lam_rankdata(x, LAM_RANK_MAX), LAM_DIMS(6), 5, 2, 5, 3, 2, 6);
    EXPECT(lam_rankdata(lam_reshape(x, LAM_DIMS(2, 3)), LAM_RANK_DENSE), LAM_DIMS(2, 3), 3, 1, 3, 2, 1, 4);
    EXPECT(lam_rankdata(VEC(NAN, 1, NAN), LAM_RANK_DENSE), LAM_DIMS(3), 2, 1, 2);
    EXPECT_EMPTY(lam_rankdata(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_RANK_DENSE), LAM_DIMS(0));
    lam_tensor *pair = MAT(2, 3, 3, 1, 3, 2, 1, 7);
    EXPECT(apply1(lam_vmap(FN(ranks, 1, 1), NULL), pair), LAM_DIMS(2, 3), 2.5, 1, 2.5, 2, 1, 3);
    ck_assert_int_eq(lam_mode(x, &mode, &count), LAM_OK);
    EXPECT_NUM(mode, 1);
    ck_assert_double_eq(lam_item(count), 2);
    lam_mode(lam_cast(x, LAM_U8), &mode, NULL);
    ck_assert_int_eq(lam_dtype_of(mode), LAM_U8);
    EXPECT_NEAR(lam_sem(VEC(1, 4, 2, 8), 0), 1e-15, LAM_DIMS0, 1.547847968417226);
    EXPECT_NEAR(lam_sem(MAT(2, 2, 1, 2, 3, 6), 0), 1e-15, LAM_DIMS(2), 1, 2);
    EXPECT_OK();
    lam_rankdata(x, (lam_rank_method)9);
    EXPECT_ERROR(LAM_ERR_VALUE, "rankdata");
    lam_rankdata(lam_cast(x, LAM_C64), LAM_RANK_MIN);
    EXPECT_ERROR(LAM_ERR_DTYPE, "rankdata");
    lam_mode(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), &mode, &count);
    EXPECT_ERROR(LAM_ERR_SHAPE, "mode");
    lam_sem(x, 1);
    EXPECT_STATUS(LAM_ERR_AXIS);
}
END_TEST

/* However many numbers: the sum of the squares of an infinity and a NaN is NaN, though C's hypot is infinite. */
START_TEST(lengths_of_infinity_and_nan) {
    const lam_norm_options rows = {.axes = LAM_AXES(1)};
    EXPECT_NUM(lam_norm(VEC(INFINITY, NAN), NULL), NAN);
    EXPECT_NUM(lam_norm(VEC(INFINITY, NAN, 1), NULL), NAN);
    EXPECT(lam_norm(MAT(3, 2, NAN, INFINITY, 3, -4, 1, -INFINITY), &rows), LAM_DIMS(3), NAN, 5, INFINITY);
    EXPECT_NUM(lam_std(VEC(INFINITY, 1), NULL), NAN);
    EXPECT_NUM(lam_var(VEC(INFINITY, 1), NULL), NAN);
}
END_TEST

Suite *suite_primitives_stats(void) {
    Suite *suite =
        SUITE_OF("primitives/stats", quantiles, tails_keep_their_digits, impossible_parameters_give_nan,
                 operands_broadcast_and_may_be_integers, masses_sum_to_one, densities_are_slopes,
                 both_sides_meet_smoothly, gradients_outside_are_zero, batches_of_distributions, wrong_distributions,
                 distributions_of_vectors, kernel_densities, ranks_modes_and_errors, lengths_of_infinity_and_nan);
    suite_loop(suite, functions_of_distributions, VALUES);
    suite_loop(suite, derivatives_of_distributions, sizeof places / sizeof *places);
    return suite;
}
