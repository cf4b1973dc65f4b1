/* Special functions made of others (factorials, signs, Box and Cox), and the ends of the domains of those that are
 * rows: values by hand and from their definitions; derivatives against differences, vmap against one call per example.
 * How many units in the last place the rows are off is for tests/kernels and tests/accuracy to say. */
#include "tests/support.h"

#include <float.h>

#define PI 3.14159265358979323846

START_TEST(factorials_and_signs) {
    EXPECT(lam_factorial(VEC(0, 1, 5, 20, -1, -0.5)), LAM_DIMS(6), 1, 1, 120, 2432902008176640000, 0, 0);
    EXPECT_NEAR(lam_factorial(VEC(0.5)), 1e-15, LAM_DIMS(1), 0.886226925452758);
    EXPECT(lam_factorial(lam_cast(VEC(3, 4), LAM_I32)), LAM_DIMS(2), 6, 24);
    EXPECT(lam_gammasgn(VEC(2, 0.0, -0.0, -0.5, -1.5, -2.5, INFINITY)), LAM_DIMS(7), 1, 1, -1, -1, 1, -1, 1);
    ck_assert_double_eq(lam_item(lam_sum(lam_is_nan(lam_gammasgn(VEC(-1, -4, NAN, -INFINITY))), NULL)), 4);
    ck_assert_int_eq(lam_dtype_of(lam_gammasgn(lam_cast(VEC(3), LAM_F32))), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_factorial(lam_cast(VEC(3), LAM_F32))), LAM_F32);
    EXPECT_EMPTY(lam_factorial(lam_zeros(ctx, LAM_F64, LAM_DIMS(0))), LAM_DIMS(0));
    EXPECT_OK();
    lam_factorial(lam_cast(VEC(1), LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "factorial");
    lam_gammasgn(lam_cast(VEC(1), LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "gammasgn");
}
END_TEST

/* Whole operands count, exactly; products of a symbol that begins at a pole. */
START_TEST(counts_are_whole) {
    EXPECT(lam_comb(VEC(10, 52, 100, 3, 5, 4), VEC(3, 5, 2, 5, -1, 4)), LAM_DIMS(6), 120, 2598960, 4950, 0, 0, 1);
    EXPECT_NEAR(lam_comb(num(1000), num(500)), 1e-15, LAM_DIMS0, 2.7028824094543657e299);
    EXPECT(lam_poch(VEC(1, 0.5, 200, 5, INFINITY, INFINITY), VEC(1e10, 1e300, 1e10, INFINITY, 0.5, -0.5)), LAM_DIMS(6),
           INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, 0);
    EXPECT(lam_poch(VEC(3, -3, -3, 5, 2), VEC(4, 2, 0.5, -2, 0)), LAM_DIMS(5), 360, 6, 0, 1. / 12, 1);
    EXPECT(lam_beta(VEC(2, 1, 0, 1e308), VEC(3, 1, 2, 1e308)), LAM_DIMS(4), 1. / 12, 1, INFINITY, 0);
    EXPECT_OK();
}
END_TEST

/* Limits and poles, as the docstrings say. */
START_TEST(ends_of_domains) {
    EXPECT(lam_exp1(VEC(0, INFINITY)), LAM_DIMS(2), INFINITY, 0);
    EXPECT(lam_expn(VEC(0, INFINITY), 3), LAM_DIMS(2), 0.5, 0);
    EXPECT(lam_expi(VEC(0, -INFINITY, INFINITY)), LAM_DIMS(3), -INFINITY, 0, INFINITY);
    EXPECT(lam_exprel(VEC(0, -INFINITY, INFINITY)), LAM_DIMS(3), 1, 0, INFINITY);
    EXPECT_NEAR(lam_si(VEC(0, INFINITY, -INFINITY)), 1e-15, LAM_DIMS(3), 0, PI / 2, -PI / 2);
    EXPECT(lam_ci(VEC(0, INFINITY)), LAM_DIMS(2), -INFINITY, 0);
    EXPECT(lam_fresnel_s(VEC(0, INFINITY, -INFINITY)), LAM_DIMS(3), 0, 0.5, -0.5);
    EXPECT(lam_fresnel_c(VEC(0, INFINITY, -INFINITY)), LAM_DIMS(3), 0, 0.5, -0.5);
    EXPECT(lam_dawsn(VEC(0, INFINITY, 1e300, -1e-310)), LAM_DIMS(4), 0, 0, 5e-301, -1e-310);
    EXPECT(lam_signbit(lam_dawsn(VEC(0.0, -0.0, INFINITY, -INFINITY))), LAM_DIMS(4), 0, 1, 0, 1);
    EXPECT_NEAR(lam_spence(VEC(0, 1, 2, INFINITY)), 1e-15, LAM_DIMS(4), PI * PI / 6, 0, -PI * PI / 12, -INFINITY);
    EXPECT(lam_lambertw(VEC(0, INFINITY, -0.36787944117144233)), LAM_DIMS(3), 0, INFINITY, -1);
    EXPECT(lam_bessel_j(VEC(0, INFINITY), 0), LAM_DIMS(2), 1, 0);
    EXPECT(lam_gamma(VEC(0.0, -0.0, INFINITY, 5, 172)), LAM_DIMS(5), INFINITY, -INFINITY, INFINITY, 24, INFINITY);
    lam_tensor *none = VEC(-1, -2);
    lam_tensor *nans[] = {lam_exp1(none), lam_spence(none), lam_lambertw(none), lam_gamma(none)};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        ck_assert_double_eq(lam_item(lam_all(lam_is_nan(nans[i]), NULL)), 1);
    EXPECT_OK();
}
END_TEST

/* Slopes at the places where an expression of the function would cancel or be 0/0: sin(x)/x at 0, log(x)/(1 - x) at 1,
 * 1 - 2 x F(x) far out, 1/2 of exprel at 0, W' at 0. */
BODY(si_of) {
    out[0] = lam_si(in[0]);
}
BODY(spence_of) {
    out[0] = lam_spence(in[0]);
}
BODY(dawsn_of) {
    out[0] = lam_dawsn(in[0]);
}
BODY(exprel_of) {
    out[0] = lam_exprel(in[0]);
}
BODY(lambertw_of) {
    out[0] = lam_lambertw(in[0]);
}

START_TEST(slopes_where_parts_cancel) {
    lam_fn *si = lam_grad(FN(si_of, 1, 1), NULL), *spence = lam_grad(FN(spence_of, 1, 1), NULL);
    lam_fn *exprel = lam_grad(FN(exprel_of, 1, 1), NULL), *w = lam_grad(FN(lambertw_of, 1, 1), NULL);
    EXPECT_NUM(apply1(si, num(0)), 1);
    EXPECT_NUM(apply1(lam_grad(lam_grad(si, NULL), NULL), num(0)), -1. / 3);
    EXPECT_NUM(apply1(spence, num(1)), -1);
    EXPECT_NUM(apply1(lam_grad(spence, NULL), num(1)), 0.5);
    EXPECT_NEAR(apply1(lam_grad(FN(dawsn_of, 1, 1), NULL), num(1e6)), 1e-11, LAM_DIMS0, -0.5e-12);
    EXPECT_NUM(apply1(exprel, num(0)), 0.5);
    EXPECT_NUM(apply1(lam_grad(exprel, NULL), num(0)), 1. / 3);
    EXPECT_NUM(apply1(w, num(0)), 1);
    EXPECT_NUM(apply1(lam_grad(w, NULL), num(0)), -2);
    EXPECT_NEAR(apply1(w, num(1e300)), 1e-13, LAM_DIMS0, 9.985406726398789771e-301);
    EXPECT_OK();
}
END_TEST

/* Where one way to Dawson's integral ends and another begins, and where higher derivatives are small beside what they
 * would be sums of. Values from the power series in 140 digits, and those of derivatives from F' = 1 - 2 x F. */
START_TEST(derivatives_of_dawsn) {
    enum { ORDERS = 8 };
    static const double at[][1 + ORDERS] = {
        {0.99, 0.5387945468144979, -0.06681320269270573, -0.9452989522974383, 2.138944736319751, 1.4366831358715235,
         -19.956190499583624, 25.146425830460338, 189.684362850692},
        {1.01, 0.5372720839445048, -0.08528960956789966, -0.9022591565618523, 2.1637219345265404, 1.0428366316275022,
         -19.416305472099875, 28.792570737366727, 174.83467277571773},
        {4.5, 0.11408861022682498, -0.02679749204142482, 0.013000207919173433, -0.009811903106861608,
         0.010305880446713878, -0.01425769916553204, 0.025260488022649574, -0.05625200221746168},
        {6.99, 0.07228646679702402, -0.010564805822395868, 0.0031230518030462, -0.0014010409170024036,
         0.0008482412014164033, -0.0006500846597820902, 0.0006057715295895876, -0.0006676700662773525},
        {7.03, 0.07186635815106192, -0.010440995603930683, 0.0030676818891415642, -0.0013676249456076638,
         0.0008227154003943659, -0.0006263789646834759, 0.0005797342395060125, -0.0006345158312528251},
        {8.7, 0.05785869785535237, -0.006741342683131254, 0.0015819669757790613, -0.0005608546460306461,
         0.00026706898625887527, -0.0001601631926592599, 0.00011614968968236896, -9.904628856210123e-05},
        {8.8, 0.05719238104574369, -0.006585906405088945, 0.0015271906380780638, -0.0005349296098181452,
         0.0002516173043309741, -0.00014902767767998297, 0.00010671408385795917, -8.983574374028614e-05},
    };
    lam_fn *f = FN(dawsn_of, 1, 1);
    for (int order = 0; order < ORDERS; order++, f = lam_grad(f, NULL))
        for (size_t i = 0; i < sizeof at / sizeof *at; i++)
            EXPECT_NEAR(apply1(f, num(at[i][0])), 4 * DBL_EPSILON, LAM_DIMS0, at[i][1 + order]);
    EXPECT_OK();
}
END_TEST

/* ---- Box and Cox ------------------------------------------------------------------------------------------------- */

BODY(beta_of) {
    out[0] = lam_beta(in[0], in[1]);
}

/* B(a, b) is 1/a + 1/b and what has no poles, of which alone the mixed derivative is: its terms of 1/(a + b)^2 cancel.
 * Values from digamma and trigamma in 80 digits. */
START_TEST(mixed_derivatives_of_beta) {
    static const double at[][4] = {/* a, b, value, bound */
                                   {1e-3, 1e-3, 2.3987097542847314726, 1e-11},
                                   {1e-5, 3e-5, 2.4040055776278543301, 1e-9},
                                   {1e-8, 0.1, 2.1637647300634522961, 1e-6},
                                   {0.01, 0.2, 1.9464433078636556702, 1e-12}};
    for (int first = 0; first < 2; first++) {
        lam_fn *once = lam_grad(FN(beta_of, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(first)});
        lam_fn *mixed = lam_grad(once, &(lam_grad_options){.argnums = LAM_AXES(1 - first)});
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            const double bound = at[i][3] * at[i][2];
            EXPECT_NEAR(apply2(mixed, num(at[i][0]), num(at[i][1])), bound, LAM_DIMS0, at[i][2]);
            EXPECT_NEAR(apply2(mixed, num(at[i][1]), num(at[i][0])), bound, LAM_DIMS0, at[i][2]);
        }
    }
    EXPECT_OK();
}
END_TEST

BODY(boxed) {
    out[0] = lam_boxcox(in[0], in[1]);
}

BODY(boxed_more) {
    out[0] = lam_boxcox1p(in[0], in[1]);
}

/* (x^y - 1)/y; by y at 0 it is log(x)^2 / 2. */
START_TEST(powers_of_box_and_cox) {
    lam_tensor *x = VEC(4, 2, 9, 0, 0), *y = VEC(0.5, 0, -1, 2, 0);
    EXPECT_NEAR(lam_boxcox(x, y), 1e-15, LAM_DIMS(5), 2, log(2), 8. / 9, -0.5, -INFINITY);
    EXPECT_NEAR(lam_boxcox1p(lam_sub(x, 1.0), y), 1e-15, LAM_DIMS(5), 2, log(2), 8. / 9, -0.5, -INFINITY);
    lam_tensor *powers = VEC(-2.5, 0, 2, NAN);
    EXPECT_NEAR(lam_boxcox(num(INFINITY), powers), 1e-15, LAM_DIMS(4), 0.4, INFINITY, INFINITY, NAN);
    EXPECT_NEAR(lam_boxcox1p(num(-1), powers), 1e-15, LAM_DIMS(4), -INFINITY, -INFINITY, -0.5, NAN);
    EXPECT_NEAR(lam_boxcox1p(num(1e-20), num(3)), 1e-15, LAM_DIMS0, 1e-20);
    EXPECT_NEAR(lam_boxcox(num(-0.0), powers), 1e-15, LAM_DIMS(4), -INFINITY, -INFINITY, -0.5, NAN);
    lam_fn *by_y = lam_grad(FN(boxed, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NEAR(apply2(by_y, num(3), num(0)), 1e-15, LAM_DIMS0, log(3) * log(3) / 2);
    EXPECT_NEAR(apply2(lam_grad(FN(boxed, 2, 1), NULL), num(3), num(2.5)), 1e-14, LAM_DIMS0, pow(3, 1.5));
    ck_assert_int_eq(lam_dtype_of(lam_boxcox(lam_cast(x, LAM_F32), lam_cast(y, LAM_F32))), LAM_F32);
    EXPECT_OK();
    lam_tensor *a = VEC(0.7, 2, 3), *b = VEC(-0.5, 0.3, 2);
    lam_fn *both[] = {FN(boxed, 2, 1), FN(boxed_more, 2, 1)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(a, b), &(lam_check_grads_options){.order = 2}), LAM_OK);
        EXPECT_SAME(apply2(lam_vmap(both[i], NULL), a, b), apply2(both[i], a, b), 0);
    }
    lam_boxcox(a, VEC(1, 2));
    EXPECT_STATUS(LAM_ERR_SHAPE);
    lam_boxcox1p(lam_cast(a, LAM_C128), b);
    EXPECT_ERROR(LAM_ERR_DTYPE, "boxcox1p");
}
END_TEST

Suite *suite_primitives_integrals(void) {
    return SUITE_OF("primitives/integrals", factorials_and_signs, counts_are_whole, ends_of_domains,
                    slopes_where_parts_cancel, derivatives_of_dawsn, mixed_derivatives_of_beta, powers_of_box_and_cox);
}
