/* Derivatives of the incomplete functions by parameters next to 0, where what counts lies next to the ends, to second
 * order: by differences of mpmath's values of 240 digits. */
#include "tests/support.h"

enum { MOST = 3, SLOPES = 5 };

/* The derivatives by a and b, twice by a, by a and b, twice by b; of gamma by a, and twice. */
static const struct point {
    double x[MOST], slope[SLOPES];
} betas[] =
    {
        /* clang-format off */
    {{0.01, 0.5, 1e-30}, {-34.819112994793828, 0.023987942331185742,
     2453.9250287044495, 0.66924447569133229, -0.079686351091623942}},
    {{1e-05, 30, 1e-30}, {-65.073528085595995, 3.3872990725989149e-7,
     4235.7123639504761, 0.033850928278020834, -1.1480055480210465e-8}},
    {{0.03, 30, 1e-09}, {-10.158849535264442, 0.00061424615521916589,
     169.82718590806338, 0.010139675462292692, -2.0183066900864718e-5}},
    {{1e-08, 2.0, 0.999}, {-5.0033359353349853e-7, 3.7062931603686765e-14,
     -9.9999974964629195e-7, 3.7062931941806221e-6, -2.7579947021684539e-13}},
    {{30.0, 1e-08, 0.001}, {-2.3159371802444644e-99, 3.3365625321196840e-92,
     1.6075493482463019e-98, -2.3159372718583645e-91, 2.6430149568311348e-91}},
    {{2.0, 1e-05, 0.1}, {-1.4960939735279924e-7, 0.0053606153703669877,
     4.3053839965567641e-7, -0.014961044926388785, 0.0099712432652850842}},
    {{1e-08, 1e-08, 0.6}, {-24999999.898633729, 25000000.101366278,
     2499999989863371.8, 10136627.418890981, -2500000010136627.2}},
    {{0.003, 30, 0.4}, {-1.7933518666714612e-8, 2.8928737501458238e-11,
     -1.1005894356510075e-7, 9.7304234886390172e-9, -1.5753597679119067e-11}},
    {{0.3, 1e-05, 0.9}, {-0.00012137901681750771, 5.1543565419978340,
     0.00075257840647705560, -12.136900809579669, -37.019474560116781}},
    {{2.0, 1e-08, 1e-09}, {-1.0611633028383732e-25, 5.0000001033333340e-19,
     2.2533850865516727e-24, -1.0611633131275391e-17, 1.0000000000000001e-18}},
        /* clang-format on */
},
  gammas[] = {
      {{1e-8, 1e-30}, {-68.50029021842337, 4690.6480413276121}},
      {{0.001, 1e-9}, {-19.745842507886408, 396.22341835837089}},
      {{0.02, 1e-5}, {-8.8105953673990204, 95.352157992258778}},
      {{0.6, 0.1}, {-0.66848933311696091, 1.4300653812463792}},
};

BODY(share_of_beta) {
    out[0] = lam_betainc(in[0], in[1], in[2]);
}

BODY(share_of_gamma) {
    out[0] = lam_igamma(in[0], in[1]);
}

/* `order`: 1 or 2. */
static void expect_slope(int row, int order, lam_tensor *got, double want) {
    const double y = lam_item(got), tolerance = order == 1 ? 1e-15 : 4e-15;
    ck_assert_msg(fabs(y - want) <= tolerance * fabs(want), "row %d, order %d: %.17g, not %.17g", row, order, y, want);
}

START_TEST(slopes_of_beta) {
    const struct point *at = &betas[_i];
    lam_fn *f = FN(share_of_beta, 3, 1), *first = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_fn *second = lam_hessian(f, &(lam_jacobian_options){.argnums = LAM_AXES(0, 1)});
    lam_list x = LAM_LIST(num(at->x[0]), num(at->x[1]), num(at->x[2]));
    lam_tensor *slopes[2], *bends[4];
    lam_call(first, x, slopes, 2);
    lam_call(second, x, bends, 4);
    for (int i = 0; i < 2; i++) expect_slope(_i, 1, slopes[i], at->slope[i]);
    expect_slope(_i, 2, bends[0], at->slope[2]);
    expect_slope(_i, 2, bends[1], at->slope[3]);
    expect_slope(_i, 2, bends[2], at->slope[3]);
    expect_slope(_i, 2, bends[3], at->slope[4]);
    EXPECT_OK();
}
END_TEST

START_TEST(slopes_of_gamma) {
    const struct point *at = &gammas[_i];
    lam_fn *first = lam_grad(FN(share_of_gamma, 2, 1), NULL);
    lam_tensor *a = num(at->x[0]), *x = num(at->x[1]);
    expect_slope(_i, 1, apply2(first, a, x), at->slope[0]);
    expect_slope(_i, 2, apply2(lam_grad(first, NULL), a, x), at->slope[1]);
    EXPECT_OK();
}
END_TEST

/* ---- the last order ---------------------------------------------------------------------------------------------- */

BODY(last_slope_of_pow) {
    out[0] = lam_pow_slope(lam_scalar(ctx, 2), in[0], 0, 32);
}

/* log(2)^32 2^y; the kernel knows no order more. */
START_TEST(derivatives_by_a_power_end_with_order_32) {
    lam_fn *f = FN(last_slope_of_pow, 1, 1);
    EXPECT_NEAR(lam_mul(1e5, apply1(f, num(1))), 1e-14, LAM_DIMS0, 1e5 * 2 * pow(0.69314718055994531, 32));
    EXPECT_OK();
    apply1(lam_grad(f, NULL), num(1));
    EXPECT_STATUS(LAM_ERR_RULE);
}
END_TEST

Suite *suite_primitives_parameters(void) {
    Suite *suite = SUITE_OF("primitives/parameters", derivatives_by_a_power_end_with_order_32);
    suite_loop(suite, slopes_of_beta, (int)(sizeof betas / sizeof *betas));
    suite_loop(suite, slopes_of_gamma, (int)(sizeof gammas / sizeof *gammas));
    return suite;
}
