/* Derivatives of densities at the ends of their support and of their parameters, and where two sides meet: never NaN
 * where they exist. */
#include "tests/primitives/subject.h"

/* The first and the second derivative by one operand where the density is 0, or its logarithm infinite: those of
 * polynomials times exponentials, worked by hand; one-sided where the support ends. */
START_TEST(densities_at_ends_have_slopes) {
    static const struct {
        lam_distribution which;
        double x, p[3];
        int count, by;
        double slope, second;
    } rows[] = {
        {LAM_GAMMA, 0, {2}, 1, 0, 1, -2},
        {LAM_GAMMA, 0, {3}, 1, 0, 0, 1},
        {LAM_GAMMA, 0, {1}, 1, 0, -1, 1},
        {LAM_GAMMA, 0, {2}, 1, 1, 0, 0},
        {LAM_GAMMA, 0, {1.5}, 1, 0, INFINITY, -INFINITY},
        {LAM_GAMMA, 3, {2, 3, 0.5}, 3, 2, -4, -16},
        {LAM_CHI2, 0, {4}, 1, 0, 0.25, -0.25},
        {LAM_BETA, 0, {2, 3}, 2, 0, 12, -48},
        {LAM_BETA, 1, {2, 3}, 2, 0, 0, 24},
        {LAM_BETA, 1, {3, 2}, 2, 0, -12, -48},
        {LAM_BETA, 0, {600, 700}, 2, 0, 0, 0},
        {LAM_POISSON, 0, {0}, 1, 1, -1, 1},
        {LAM_POISSON, 1, {0}, 1, 1, 1, -2},
        {LAM_POISSON, 2, {0}, 1, 1, 0, 1},
        {LAM_BINOM, 1, {3, 0}, 2, 2, 3, -12},
        {LAM_BINOM, 2, {3, 1}, 2, 2, -3, -12},
        {LAM_BINOM, 0, {3, 0}, 2, 1, 0, 0},
        {LAM_BINOM, 900, {2000, 0}, 2, 2, 0, 0},
        {LAM_GEOM, 2, {1}, 1, 1, -1, -2},
        {LAM_NBINOM, 1, {2, 1}, 2, 2, -2, -8},
        {LAM_BERNOULLI, 1, {0}, 1, 1, 1, 0},
        {LAM_BERNOULLI, 0, {1}, 1, 1, -1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        subject s = {lam_pdf, rows[i].which, rows[i].count};
        lam_tensor *in[4] = {num(rows[i].x)};
        for (int k = 0; k < rows[i].count; k++) in[k + 1] = num(rows[i].p[k]);
        const lam_list at = {(size_t)rows[i].count + 1, in};
        const lam_grad_options by = {.argnums = {1, &rows[i].by}};
        lam_fn *slope = lam_grad(FN_ENV(of_all, rows[i].count + 1, 1, &s), &by);
        const double got = lam_item(lam_apply(slope, at)), second = lam_item(lam_apply(lam_grad(slope, &by), at));
        ck_assert_msg(got == rows[i].slope || fabs(got - rows[i].slope) <= 1e-13, "row %zu: %g", i, got);
        ck_assert_msg(second == rows[i].second || fabs(second - rows[i].second) <= 1e-12, "row %zu, second: %g", i,
                      second);
    }
    EXPECT_OK();
}
END_TEST

/* log f is a constant less |x|^p, in all pairs of modes. */
START_TEST(the_middle_of_the_generalised_normal_one) {
    static const double rows[][3] = {{0.5, 0, 0}, {1, 0, 0}, {1.5, 0, -INFINITY}, {2, 0, -2}, {2.5, 0, 0}, {4, 0, 0}};
    subject s = {lam_logpdf, LAM_GENNORM, 1};
    lam_fn *f = FN_ENV(of_all, 2, 1, &s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 4; k++) {
            lam_fn *slope = k & 1 ? lam_jacfwd(f, NULL) : lam_grad(f, NULL);
            lam_fn *second = k & 2 ? lam_jacfwd(slope, NULL) : lam_grad(slope, NULL);
            EXPECT_NUM(apply2(slope, num(0), num(rows[i][0])), rows[i][1]);
            EXPECT_NUM(apply2(second, num(0), num(rows[i][0])), rows[i][2]);
        }
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_ends(void) {
    return SUITE_OF("primitives/ends", densities_at_ends_have_slopes, the_middle_of_the_generalised_normal_one);
}
