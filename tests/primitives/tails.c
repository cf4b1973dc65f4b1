/* Logarithms of shares below the least number: values and slopes by the variable and the last parameter against mpmath
 * (60 digits), by Kummer's and Gauss's functions. */
#include "tests/support.h"

static const struct tail {
    lam_distribution which;
    bool upper;
    double x, parameters[2]; /* the second is 0 where there is one */
    double value, by_x, by_parameter;
} tails[] = {
    /* clang-format off */
    {LAM_GAMMA, true, 900.0, {2.5, 0.0}, -890.0794245222952, -0.9983351841546725, 6.100349848677578},
    {LAM_GAMMA, true, 4000.0, {1500.0, 0.0}, -1033.8431896223356, -0.6253996488799544, 0.9815621127083444},
    {LAM_GAMMA, false, 0.0001, {90.0, 0.0}, -1147.083371999164, 899999.0109890228, -13.715695321999014},
    {LAM_GAMMA, false, 300.0, {1500.0, 0.0}, -1218.5095374339362, 4.000832293758327, -1.6099375289681734},
    {LAM_CHI2, true, 2500.0, {3.0, 0.0}, -1246.3133685869398, -0.499800159808332, 3.5476042682229614},
    {LAM_CHI2, false, 0.5, {900.0, 0.0}, -2927.217067780918, 899.5011092596168, -3.7483269366246383},
    {LAM_POISSON, false, 3.0, {800.0, 0.0}, -781.734171948339, 0.0, -0.9962546933373752},
    {LAM_POISSON, true, 400.0, {2.0, 0.0}, -1730.5376525265306, 0.0, 199.50249993765973},
    {LAM_BETA, false, 0.001, {150.0, 2.0}, -1031.1470058817156, 149999.0056347365, 4.5968092340119995},
    {LAM_BETA, true, 0.999, {2.0, 140.0}, -962.1379725681818, -139999.00610535272, -6.900663130749849},
    {LAM_BETA, false, 0.1, {2000.0, 2500.0}, -1782.0029961885562, 17225.122974165275, 0.48257950435371144},
    {LAM_BINOM, false, 10.0, {2000.0, 0.5}, -1325.4072521068736, 0.0, -3960.0201712730013},
    {LAM_BINOM, true, 1900.0, {2000.0, 0.25}, -2272.9197975031343, 0.0, 7472.0941320832335},
    {LAM_NBINOM, false, 2.0, {200.0, 0.01}, -911.1356119368869, 0.0, 19997.989950253806},
    {LAM_NBINOM, true, 9000.0, {5.0, 0.2}, -1981.7076580396101, 0.0, -11231.261118506984},
    {LAM_T, true, 6.0, {1000.0, 0.0}, -20.402861582652899, -5.9442095386694767, -0.00032622470517063484},
    /* clang-format on */
};
enum { TAILS = sizeof tails / sizeof tails[0] };

static lam_tensor *log_share(const struct tail *t, lam_tensor *x, lam_tensor *p, lam_tensor *q) {
    lam_list parameters = q ? LAM_LIST(p, q) : LAM_LIST(p);
    return t->upper ? lam_logsf(t->which, x, parameters) : lam_logcdf(t->which, x, parameters);
}

/* Inputs: x, the last parameter; env: the row. */
BODY(of_two) {
    const struct tail *t = env;
    const bool pair = t->parameters[1] != 0;
    out[0] = pair ? log_share(t, in[0], lam_cast(num(t->parameters[0]), lam_dtype_of(in[0])), in[1])
                  : log_share(t, in[0], in[1], NULL);
}

static void expect_near(int row, const char *what, lam_tensor *got, double want, double tolerance) {
    ck_assert_msg(fabs(lam_item(got) - want) <= tolerance * fabs(want), "row %d, %s: %.17g, not %.17g", row, what,
                  lam_item(got), want);
}

START_TEST(deep_tails) {
    const struct tail *t = &tails[_i];
    lam_tensor *x = num(t->x), *p = num(t->parameters[t->parameters[1] != 0]), *got[3], *singles[3];
    lam_fn *f = FN_ENV(of_two, 2, 1, (void *)(uintptr_t)t);
    lam_fn *all = lam_value_and_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(all, LAM_LIST(x, p), got, 3);
    expect_near(_i, "value", got[0], t->value, 4e-14);
    expect_near(_i, "slope by the variable", got[1], t->by_x, 1e-11);
    expect_near(_i, "slope by the parameter", got[2], t->by_parameter, 1e-11);
    lam_call(all, LAM_LIST(lam_cast(x, LAM_F32), lam_cast(p, LAM_F32)), singles, 3);
    expect_near(_i, "value of floats", singles[0], t->value, 1e-5);
    EXPECT_OK();
}
END_TEST

/* Across the least share that has a logarithm of its own nothing jumps: differences stay those of neighbours. */
START_TEST(tails_begin_without_a_step) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 600, 660, 601), *a = num(2.5);
    lam_tensor *y = lam_logsf(LAM_GAMMA, x, LAM_LIST(a)), *slopes = lam_diff(y, 1, 0);
    EXPECT_NEAR(lam_slice_axis(y, 0, 300, 301), 1e-14, LAM_DIMS(1), -620.61372313532764);
    lam_tensor *bend = lam_max_reduce(lam_abs(lam_diff(slopes, 1, 0)), NULL);
    ck_assert_double_le(lam_item(bend), 1e-7); /* that of 1.5 log(x), and rounding */
    EXPECT_OK();
}
END_TEST

/* Nothing there: -inf, and no slope. */
START_TEST(outside_there_is_nothing) {
    lam_tensor *two = num(2), *none = VEC(-1, 0), *far = num(INFINITY);
    EXPECT(lam_logcdf(LAM_GAMMA, none, LAM_LIST(two)), LAM_DIMS(2), -INFINITY, -INFINITY);
    EXPECT_NUM(lam_logsf(LAM_GAMMA, far, LAM_LIST(two)), -INFINITY);
    EXPECT_NUM(lam_logcdf(LAM_GAMMA, far, LAM_LIST(two)), 0);
    EXPECT(lam_logcdf(LAM_BETA, none, LAM_LIST(two, two)), LAM_DIMS(2), -INFINITY, -INFINITY);
    EXPECT(lam_logsf(LAM_BETA, VEC(1, 2), LAM_LIST(two, two)), LAM_DIMS(2), -INFINITY, -INFINITY);
    EXPECT_NUM(lam_logcdf(LAM_POISSON, num(-1), LAM_LIST(two)), -INFINITY);
    EXPECT_NUM(lam_logsf(LAM_POISSON, far, LAM_LIST(two)), -INFINITY);
    EXPECT_NUM(lam_logsf(LAM_POISSON, num(3), LAM_LIST(num(0))), -INFINITY);
    EXPECT_NUM(lam_logcdf(LAM_BINOM, num(-1), LAM_LIST(two, num(0.5))), -INFINITY);
    EXPECT_NUM(lam_logsf(LAM_BINOM, num(2), LAM_LIST(two, num(0.5))), -INFINITY);
    EXPECT_NUM(lam_logcdf(LAM_NBINOM, num(-1), LAM_LIST(two, num(0.5))), -INFINITY);
    EXPECT_NUM(lam_logsf(LAM_NBINOM, far, LAM_LIST(two, num(0.5))), -INFINITY);
    EXPECT_NUM(lam_is_nan(lam_logsf(LAM_GAMMA, num(NAN), LAM_LIST(two))), 1);
    EXPECT_OK();
}
END_TEST

BODY(log_density_of_t) {
    out[0] = lam_logpdf(LAM_T, in[0], LAM_LIST(num(3)));
}

BODY(share_of_t) {
    out[0] = lam_cdf(LAM_T, in[0], LAM_LIST(num(1)));
}

/* -2 log(1e300) - log(pi), and so on: squares that leave the range are not made; nor is the difference of 1 and what is
 * nearly 1 (t of many degrees of freedom, by mpmath). */
START_TEST(far_out) {
    lam_tensor *far = num(1e300), *three = num(3);
    EXPECT_NEAR(lam_logpdf(LAM_CAUCHY, far, LAM_LIST()), 1e-15, LAM_DIMS0, -1382.6957856822768);
    EXPECT_NEAR(lam_logpdf(LAM_T, lam_neg(far), LAM_LIST(three)), 1e-15, LAM_DIMS0, -2761.9057758651421);
    EXPECT_NEAR(lam_logsf(LAM_T, num(6), LAM_LIST(num(1e7))), 1e-14, LAM_DIMS0, -20.736734770477251);
    EXPECT_NEAR(lam_mul(1e-299, lam_logsf(LAM_NBINOM, far, LAM_LIST(three, num(0.4)))), 1e-14, LAM_DIMS0,
                -5.1082562376599068); /* 10 log(0.6) */
    lam_fn *slope = lam_grad(FN(log_density_of_t, 1, 1), NULL);
    EXPECT_NEAR(lam_mul(1e300, apply1(slope, far)), 1e-14, LAM_DIMS0, -4);
    EXPECT_NUM(apply1(lam_grad(FN(share_of_t, 1, 1), NULL), num(INFINITY)), 0);
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_tails(void) {
    Suite *suite = SUITE_OF("primitives/tails", tails_begin_without_a_step, outside_there_is_nothing, far_out);
    suite_loop(suite, deep_tails, TAILS);
    return suite;
}
