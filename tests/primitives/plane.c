/* Special functions of complex numbers and Owen's T. Expected values are mpmath's with 40 digits, functions of real
 * numbers, and series that are not those of the kernels; that derivatives agree in all modes is the case table's and
 * lam_check_grads' to say. */
#include "tests/support.h"

/* Largest difference relative to the size of each expected number. */
static double off(lam_tensor *got, lam_tensor *want) {
    lam_tensor *d = lam_div(lam_abs(lam_sub(got, want)), lam_abs(want));
    return lam_item(lam_max_reduce(d, NULL));
}

static lam_tensor *of_parts(lam_tensor *re, lam_tensor *im) {
    return lam_complex(re, im);
}

/* w(z) from mpmath: exp(-z^2) erfc(-i z). */
BODY(wofz) {
    out[0] = lam_wofz(in[0]);
}

START_TEST(values_of_wofz) {
    lam_tensor *z = of_parts(VEC(0, 1, -2, 0.5, 6, 3, 20000, 0.1), VEC(0, 0.5, 1e-8, 4, 0.001, -0.5, 3, -2.5));
    lam_tensor *want =
        of_parts(VEC(1.0, 0.354900332867577884, 0.0183156412059911792, 0.13515598496200036, 0.0000163753400276053254,
                     -0.0374401171004242596, 4.23142179726901302e-9, 899.940814610396069),
                 VEC(0.0, 0.342871719131100717, -0.340026216333440633, 0.0159840752934862104, 0.0953962061132766209,
                     0.193028479427317113, 0.0000282094785779363915, 491.762362413470276));
    ck_assert_double_le(off(lam_wofz(z), want), 1e-15);
    lam_tensor *slope, *value, *one = lam_ones_like(z);
    lam_jvp(FN(wofz, 1, 1), LAM_LIST(z), LAM_LIST(one), &value, &slope, 1, NULL);
    lam_tensor *slopes =
        of_parts(VEC(0.0, -0.366928946604055051, 0.07326255802344039, -0.00728338261411067723, -5.71166810471065908e-6,
                     0.0316122231752284449, -4.23142171792985493e-13, -2638.7999749894306),
                 VEC(1.12837916709551257, 0.0877353959657332569, -0.231725698604562784, 0.0311472121060234812,
                     -0.0163753390144869317, -0.0672318265688143607, -1.41047386895167825e-9, 4402.4799797363818));
    ck_assert_double_le(off(slope, slopes), 1e-15);
    lam_tensor *x = VEC(-3, -0.5, 0, 0.7, 5);
    EXPECT_SAME(lam_real(lam_wofz(x)), lam_exp(lam_neg(lam_square(x))), 1e-15);
    EXPECT_SAME(lam_imag(lam_wofz(x)), lam_mul(2 / sqrt(3.14159265358979323846), lam_dawsn(x)), 1e-15);
    EXPECT_SAME(lam_real(lam_wofz(lam_complex(VEC(0, 0, 0), VEC(0.1, 2, 9)))), lam_erfcx(VEC(0.1, 2, 9)), 2e-15);
    ck_assert_int_eq(lam_dtype_of(lam_wofz(lam_cast(x, LAM_F32))), LAM_C64);
    EXPECT_NUM(lam_any(lam_is_finite(lam_wofz(lam_complex(num(NAN), num(1)))), NULL), 0);
    EXPECT_OK();
}
END_TEST

/* log Gamma and its derivatives: mpmath's loggamma and psi. */
START_TEST(values_of_loggamma) {
    lam_tensor *z =
        of_parts(VEC(1, 1.001, 2.1, 0.3, -2.5, -7.3, 30, -20.2), VEC(0.01, 0.0002, -0.1, 5, 0.1, -3, 4, 15));
    lam_tensor *want =
        of_parts(VEC(-0.0000822439977038716744, -0.000576426448946792257, 0.0424052003344098288, -7.25664881832182528,
                     -0.103149244042819203, -16.1598732774584967, 70.9867029482492235, -83.1896582889042246),
                 VEC(-0.00577175598411805691, -0.000115114383165217149, -0.0485933428251176872, 2.73737089045382777,
                     -9.31444426835983812, 18.2693703239416439, 13.5499390698639647, -18.4321947184822727));
    ck_assert_double_le(off(lam_loggamma(z), want), 1e-15);
    lam_tensor *digammas =
        of_parts(VEC(-0.577095469579486204, -0.575571883857656509, 0.487127175651829555, 1.60856685549759334,
                     1.10369737777880841, 2.12354617422824722, 3.39354484797022116, 3.24118348338694287),
                 VEC(0.01644825844697282, 0.000328506630548310591, -0.060616284913317945, 1.61090983523329236,
                     0.922699291458598904, -2.77481711373918208, 0.134758769702555568, 2.51458257109896277));
    ck_assert_double_le(off(lam_digamma(z), digammas), 1e-15);
    lam_tensor *third = of_parts(
        VEC(6.48783745195296821, 6.46911162878246124, 0.407000863127996692, 0.00197642007840931167, 127.634449337700377,
            -0.00155899203789577375, 0.0000696592830809409494, 0.0000364778570425046487),
        VEC(-0.248741692981402717, -0.00495290846270494471, 0.0697954994857193337, 0.0161707717730684452,
            -0.0067765882183571458, 0.00304238921401858691, -0.0000297939737805021975, -0.000113998774713520827));
    ck_assert_double_le(off(lam_polygamma(z, 3), third), 1e-15);
    lam_tensor *x = VEC(0.1, 1, 2, 3.5, 80);
    EXPECT_SAME(lam_real(lam_loggamma(x)), lam_lgamma(x), 1e-15);
    EXPECT_SAME(lam_imag(lam_loggamma(x)), lam_zeros_like(x), 0);
    /* both sides of the cut */
    EXPECT_NEAR(lam_imag(lam_loggamma(of_parts(VEC(-0.5, -0.5, -1.5), VEC(0.0, -0.0, 0.0)))), 1e-15, LAM_DIMS(3),
                -3.14159265358979323846, 3.14159265358979323846, -2 * 3.14159265358979323846);
    EXPECT_NUM(lam_any(lam_is_finite(lam_loggamma(VEC(0, -3))), NULL), 0);
    EXPECT_OK();
}
END_TEST

BODY(parts_of_wofz) {
    lam_tensor *w = lam_wofz(lam_complex(in[0], in[1]));
    out[0] = lam_sum(lam_add(lam_real(w), lam_mul(0.7, lam_imag(w))), NULL);
}
BODY(parts_of_loggamma) {
    lam_tensor *w = lam_loggamma(lam_complex(in[0], in[1]));
    out[0] = lam_sum(lam_add(lam_real(w), lam_mul(0.7, lam_imag(w))), NULL);
}
BODY(total_of_owens_t) {
    out[0] = lam_sum(lam_owens_t(in[0], in[1]), NULL);
}
BODY(parts_of_harmonics) {
    lam_tensor *sum = num(0);
    for (int n = 0; n < 5; n++)
        for (int m = -n; m <= n; m++) {
            lam_tensor *y = lam_sph_harm_y(n, m, in[0], in[1]), *c = lam_cos(num(n + 1.7 * m));
            sum = lam_add(sum, lam_mul(c, lam_sum(lam_add(lam_real(y), lam_mul(0.7, lam_imag(y))), NULL)));
        }
    out[0] = sum;
}

START_TEST(derivatives) {
    const lam_check_grads_options third = {.order = 3};
    lam_tensor *x = VEC(0.3, -1.2, 2.5, -0.4), *y = VEC(0.8, 0.2, -0.3, -1.5);
    ck_assert(lam_check_grads(FN(parts_of_wofz, 2, 1), LAM_LIST(x, y), &third) == LAM_OK);
    ck_assert(lam_check_grads(FN(parts_of_loggamma, 2, 1), LAM_LIST(x, y), &third) == LAM_OK);
    ck_assert(lam_check_grads(FN(total_of_owens_t, 2, 1), LAM_LIST(x, y), &third) == LAM_OK);
    ck_assert(lam_check_grads(FN(parts_of_harmonics, 2, 1), LAM_LIST(x, y), &third) == LAM_OK);
    EXPECT_OK();
}
END_TEST

/* mpmath quadrature; T(h, 1) = ndtr(h) ndtr(-h) / 2, T(0, a) = atan(a) / 2 pi. */
START_TEST(values_of_owens_t) {
    EXPECT_NEAR(lam_owens_t(VEC(1, -2, 0.1, 5, 8.6, 3), VEC(0.5, -3, 20, 0.9, 1.0, 0.01)), 1e-15, LAM_DIMS(6),
                0.0430646911207853656, -0.0113750659715450406, 0.229917891643736332, 1.4332524965861534e-7,
                1.99290248142409094e-18, 0.0000176772762428201143);
    lam_tensor *h = VEC(0.2, 1, 4, 12), *tail = lam_ndtr(lam_neg(h));
    EXPECT_SAME(lam_owens_t(h, num(1)), lam_mul(0.5, lam_mul(tail, lam_sub(1.0, tail))), 1e-15);
    EXPECT_NEAR(lam_owens_t(VEC(0, 0, 1, INFINITY, NAN), VEC(1, INFINITY, INFINITY, 2, 1)), 1e-15, LAM_DIMS(5), 0.125,
                0.25, 0.0793276269657285, 0, NAN);
    ck_assert_int_eq(lam_dtype_of(lam_owens_t(lam_cast(h, LAM_F32), num(1))), LAM_F64);
    EXPECT_EMPTY(lam_owens_t(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), num(1)), LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

/* sqrt(3 / 8 pi) and the like; the sum of |Y|^2 over orders is (2n + 1) / 4 pi. */
START_TEST(spherical_harmonics) {
    const double pi = 3.14159265358979323846;
    lam_tensor *theta = VEC(0, 0.4, 1.9, pi), *phi = VEC(0.3, -2, 5, 1);
    lam_tensor *first = lam_sph_harm_y(1, 1, theta, phi), *size = lam_mul(-sqrt(3 / (8 * pi)), lam_sin(theta));
    EXPECT_SAME(lam_real(first), lam_mul(size, lam_cos(phi)), 1e-15);
    EXPECT_SAME(lam_imag(first), lam_mul(size, lam_sin(phi)), 1e-15);
    EXPECT_SAME(lam_real(lam_sph_harm_y(1, -1, theta, phi)), lam_mul(-1.0, lam_mul(size, lam_cos(phi))), 1e-15);
    EXPECT_SAME(lam_real(lam_sph_harm_y(2, 0, theta, phi)),
                lam_mul(sqrt(5 / (16 * pi)), lam_sub(lam_mul(3.0, lam_square(lam_cos(theta))), 1.0)), 1e-15);
    lam_tensor *sum = lam_zeros_like(theta);
    for (int m = -40; m <= 40; m++) sum = lam_add(sum, lam_square(lam_abs(lam_sph_harm_y(40, m, theta, phi))));
    EXPECT_SAME(sum, lam_full_like(theta, 81 / (4 * pi)), 1e-13);
    EXPECT_NUM(lam_sum(lam_abs(lam_sph_harm_y(2, 3, theta, phi)), NULL), 0);
    lam_tensor *grid = lam_sph_harm_y(3, -2, lam_reshape(theta, LAM_DIMS(4, 1)), VEC(1, 2, 3));
    ck_assert_int_eq(lam_rank(grid), 2);
    EXPECT_SAME(lam_real(lam_index(grid, 1, 1)), lam_real(lam_sph_harm_y(3, -2, theta, num(2))), 0);
    ck_assert_int_eq(lam_dtype_of(lam_sph_harm_y(1, 0, lam_cast(theta, LAM_F32), lam_cast(phi, LAM_F32))), LAM_C64);
    EXPECT_OK();
}
END_TEST

/* 11 derivatives, of which the kernel knows 10. */
BODY(along_one) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, &out[0], 1, NULL);
}
BODY(highest) {
    out[0] = lam_polygamma(in[0], 9);
}

START_TEST(bad_input) {
    lam_tensor *z = of_parts(num(1), num(2));
    lam_sph_harm_y(-1, 0, num(1), num(1));
    EXPECT_ERROR(LAM_ERR_VALUE, "sph_harm_y", "degree -1");
    lam_sph_harm_y(2, 1001, num(1), num(1));
    EXPECT_ERROR(LAM_ERR_VALUE, "sph_harm_y", "order 1001");
    lam_sph_harm_y(2, INT64_MIN, num(1), num(1)); /* has no size as an integer */
    EXPECT_ERROR(LAM_ERR_VALUE, "sph_harm_y", "order -9223372036854775808");
    lam_sph_harm_y(2, 1, z, num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "sph_harm_y");
    lam_polygamma(z, 10);
    EXPECT_ERROR(LAM_ERR_VALUE, "polygamma", "not below 10");
    apply1(FN_ENV(along_one, 1, 1, FN(highest, 1, 1)), z);
    EXPECT_ERROR(LAM_ERR_RULE, "loggamma", "order 10");
    lam_owens_t(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_ERROR(LAM_ERR_SHAPE, "owens_t");
}
END_TEST

Suite *suite_primitives_plane(void) {
    return SUITE_OF("primitives/plane", values_of_wofz, values_of_loggamma, derivatives, values_of_owens_t,
                    spherical_harmonics, bad_input);
}
