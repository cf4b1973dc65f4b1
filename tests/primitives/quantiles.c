/* The incomplete gamma and beta functions undone, the quantiles made of them, and others: values from mpmath, 40
 * digits, there and back over many orders of magnitude, ends, derivatives against differences and known ones. */
#include "tests/support.h"

START_TEST(values_of_inverses) {
    EXPECT_NEAR(lam_igamma_inv(VEC(2.5, 2.5, 0.01, 300, 1000), VEC(0.01, 0.9, 0.3, 1e-20, 0.5)), 5e-16, LAM_DIMS(5),
                0.277149038364138573, 4.61817844989055953, 2.91741719174586862e-53, 166.567937178422004,
                999.666686426965182);
    EXPECT_NEAR(lam_igammac_inv(VEC(3, 0.2, 50), VEC(1e-30, 0.999, 0.25)), 5e-16, LAM_DIMS(3), 77.1005640975222739,
                6.52548084345727744e-16, 54.5706205350403007);
    EXPECT_NEAR(lam_betainc_inv(VEC(2, 0.25, 80, 100), VEC(3, 40, 0.125, 200), VEC(0.3, 0.75, 1e-40, 0.5)), 9e-16,
                LAM_DIMS(4), 0.272383942075105341, 0.00655553275085107461, 0.338724607533157872, 0.332962506648485783);
    EXPECT_NEAR(lam_betaincc_inv(VEC(2, 0.5), VEC(5, 0.5), VEC(1e-12, 0.875)), 9e-16, LAM_DIMS(2), 0.99721662673631517,
                0.0380602337443566219);
    EXPECT_NEAR(lam_igamma_inv(num(1), VEC(1e-300, 0.25)), 5e-16, LAM_DIMS(2), 1e-300, -log1p(-0.25));
    EXPECT_NEAR(lam_betainc_inv(num(3), num(1), VEC(1e-30, 0.5)), 5e-16, LAM_DIMS(2), 1e-10, cbrt(0.5));
    EXPECT_OK();
}
END_TEST

START_TEST(ends_of_inverses) {
    lam_tensor *p = VEC(0, 1, -0.1, 1.1, NAN), *a = VEC(0, -1, INFINITY, NAN), *half = num(0.5);
    EXPECT(lam_igamma_inv(num(2), p), LAM_DIMS(5), 0, INFINITY, NAN, NAN, NAN);
    EXPECT(lam_igammac_inv(num(2), p), LAM_DIMS(5), INFINITY, 0, NAN, NAN, NAN);
    EXPECT(lam_betainc_inv(num(2), num(3), p), LAM_DIMS(5), 0, 1, NAN, NAN, NAN);
    EXPECT(lam_betaincc_inv(num(2), num(3), p), LAM_DIMS(5), 1, 0, NAN, NAN, NAN);
    EXPECT(lam_igamma_inv(a, half), LAM_DIMS(4), NAN, NAN, NAN, NAN);
    EXPECT(lam_betainc_inv(a, half, half), LAM_DIMS(4), NAN, NAN, NAN, NAN);
    EXPECT(lam_betainc_inv(half, a, half), LAM_DIMS(4), NAN, NAN, NAN, NAN);
    EXPECT_NUM(lam_igamma_inv(num(1e-5), half), 0); /* 10^-30103 */
    EXPECT_NUM(lam_betainc_inv(num(7), num(7), half), 0.5);
    EXPECT_EMPTY(lam_igamma_inv(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), half), LAM_DIMS(0));
    EXPECT_OK();
}
END_TEST

/* Parameters from 1e-3 to 1e8 (1e5 of the beta function), shares down to 1e-300. What comes back has lost what the
 * rounding of x makes of it: of a relative e of x, e x f(x) / p of p. */
START_TEST(there_and_back) {
    uint64_t state = 1;
    enum { COUNT = 400 };
    double a[COUNT], b[COUNT], p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = exp((double)random_below(&state, 2500) / 100 - 7);
        b[i] = exp((double)random_below(&state, 1800) / 100 - 7);
        p[i] = i % 2 ? (1 + random_below(&state, 998)) / 1000.0 : exp(-random_below(&state, 6900) / 10.0);
    }
    lam_tensor *as = vector_of(a, COUNT), *bs = vector_of(b, COUNT), *ps = vector_of(p, COUNT), *one = num(1);
    lam_tensor *x = lam_igamma_inv(as, ps), *y = lam_igammac_inv(as, ps), *shares = lam_min(as, num(1e5));
    lam_tensor *z = lam_betainc_inv(shares, bs, ps);
    const lam_list in[] = {LAM_LIST(lam_igamma(as, x), x, lam_pdf(LAM_GAMMA, x, LAM_LIST(as))),
                           LAM_LIST(lam_igammac(as, y), y, lam_pdf(LAM_GAMMA, y, LAM_LIST(as))),
                           LAM_LIST(lam_betainc(shares, bs, z), z, lam_pdf(LAM_BETA, z, LAM_LIST(shares, bs)))};
    for (int k = 0; k < 3; k++) {
        lam_tensor *const *all = in[k].items, *inside = lam_gt(all[1], 1e-290);
        if (k == 2) inside = lam_and(inside, lam_lt(all[1], 1.0));
        lam_tensor *slip =
            lam_add(1.0, lam_div(lam_mul(all[1], all[2]), ps)); /* condition, and the function's own error */
        lam_tensor *error = lam_div(lam_abs(lam_sub(lam_div(all[0], ps), one)), slip);
        error = lam_where(inside, error, 0.0);
        EXPECT_NUM(lam_cast(lam_lt(lam_max_reduce(error, NULL), 4e-15), LAM_F64), 1);
    }
    EXPECT_OK();
}
END_TEST

BODY(gamma_inverse) {
    out[0] = lam_igamma_inv(in[0], in[1]);
}
BODY(upper_gamma_inverse) {
    out[0] = lam_igammac_inv(in[0], in[1]);
}
BODY(beta_inverse) {
    out[0] = lam_betainc_inv(in[0], in[1], in[2]);
}
BODY(upper_beta_inverse) {
    out[0] = lam_betaincc_inv(in[0], in[1], in[2]);
}

/* Student's quantile and, turned round, its isf. */
BODY(student) {
    out[0] = lam_sub(lam_ppf(LAM_T, in[1], LAM_LIST(in[0])), lam_mul(2.0, lam_isf(LAM_T, in[1], LAM_LIST(in[0]))));
}
BODY(bell) {
    out[0] = lam_ppf(LAM_GENNORM, in[1], LAM_LIST(in[0]));
}

START_TEST(inverses_are_differentiated) {
    const lam_check_grads_options second = {.order = 2, .tolerance = 1e-4};
    lam_tensor *a = VEC(0.7, 2.5, 30), *b = VEC(1.5, 0.6, 4), *p = VEC(0.2, 0.7, 0.95);
    ck_assert_int_eq(lam_check_grads(FN(gamma_inverse, 2, 1), LAM_LIST(a, p), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(upper_gamma_inverse, 2, 1), LAM_LIST(a, p), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(beta_inverse, 3, 1), LAM_LIST(a, b, p), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(upper_beta_inverse, 3, 1), LAM_LIST(a, b, p), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(student, 2, 1), LAM_LIST(a, VEC(0.2, 0.5, 0.9)), &second), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(bell, 2, 1), LAM_LIST(VEC(1.5, 0.8), VEC(0.2, 0.9)), &second), LAM_OK);
    EXPECT_OK();
}
END_TEST

/* Of a share at the middle one over the density there: of Student's with 4 degrees 8/3, and the third derivative is
 * -f''/f^4 = 5/4 f / f^4 there; of the generalised normal one 2 Gamma(1/p) / p. At ends nothing moves with a. */
START_TEST(slopes_in_the_middle_and_at_ends) {
    const lam_grad_options by_share = {.argnums = LAM_AXES(1)};
    lam_fn *slope = lam_grad(FN(student, 2, 1), &by_share), *third = lam_grad(lam_grad(slope, &by_share), &by_share);
    EXPECT_NEAR(apply2(slope, num(4), num(0.5)), 1e-14, LAM_DIMS0, 3 * 8. / 3);
    EXPECT_NEAR(apply2(third, num(4), num(0.5)), 1e-12, LAM_DIMS0, 3 * 1.25 * 512 / 27);
    for (int i = 0; i < 3; i++) {
        const double p = 0.8 + 0.6 * i;
        slope = lam_grad(FN(bell, 2, 1), &by_share);
        EXPECT_NEAR(apply2(slope, num(p), num(0.5)), 1e-14, LAM_DIMS0, 2 * tgamma(1 / p) / p);
    }
    lam_fn *by_a = lam_grad(FN(gamma_inverse, 2, 1), NULL);
    EXPECT_NUM(apply2(by_a, num(2), num(0)), 0);
    EXPECT_NUM(apply2(by_a, num(2), num(1)), 0);
    EXPECT_NUM(apply2(lam_grad(FN(gamma_inverse, 2, 1), &by_share), num(2), num(0)), INFINITY);
    EXPECT_NUM(apply2(lam_grad(FN(student, 2, 1), NULL), num(4), num(0.5)), 0);
    EXPECT_OK();
}
END_TEST

/* Hundreds of thousands of degrees are nearly normal; what is next to the middle is known to the rounding of the
 * share. */
START_TEST(quantiles_of_student) {
    EXPECT_NEAR(lam_ppf(LAM_T, VEC(0.75, 0.001, 1e-300, 0, 1, 0.5), LAM_LIST(num(1))), 1e-15, LAM_DIMS(6), 1,
                -318.30883898555045, -3.1830988618379067e299, -INFINITY, INFINITY, 0);
    EXPECT_NEAR(lam_ppf(LAM_T, num(0.975), LAM_LIST(num(1e12))), 1e-11, LAM_DIMS0, 1.9599639845400545);
    EXPECT_NEAR(lam_isf(LAM_T, num(1e-40), LAM_LIST(num(2))), 1e-15, LAM_DIMS0, sqrt(0.5) * 1e20);
    EXPECT_NEAR(lam_ppf(LAM_T, num(0.5 + 0x1p-30), LAM_LIST(num(1))), 1e-7, LAM_DIMS0,
                3.14159265358979323846 * 0x1p-30);
    EXPECT_OK();
}
END_TEST

/* Of each count its own share, also in f32, and of what lies between two the upper one. From the other side the same,
 * but where the share up to a count is rounded to 1. */
START_TEST(quantiles_of_counts) {
    static const struct {
        lam_distribution which;
        int first;
        double p[2];
    } rows[] = {{LAM_POISSON, 0, {3.7, NAN}},
                {LAM_BINOM, 0, {12, 0.3}},
                {LAM_NBINOM, 0, {2.5, 0.2}},
                {LAM_GEOM, 1, {0.05, NAN}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const lam_distribution which = rows[i].which;
        lam_tensor *p[] = {num(rows[i].p[0]), num(rows[i].p[1])}, *single[2];
        const lam_list all = {isnan(rows[i].p[1]) ? 1 : 2, p}, narrow = {all.count, single};
        lam_tensor *k = lam_arange(ctx, LAM_F64, rows[i].first, rows[i].first + 12, 1), *cdf = lam_cdf(which, k, all);
        for (int j = 0; j < 2; j++) single[j] = lam_cast(p[j], LAM_F32);
        EXPECT_SAME(lam_ppf(which, cdf, all), k, 0);
        EXPECT_SAME(lam_isf(which, lam_sf(which, k, all), all), k, 0);
        lam_tensor *more = lam_ppf(which, lam_add(cdf, 1e-9), all), *less = lam_ppf(which, lam_sub(cdf, 1e-9), all);
        EXPECT_SAME(more, lam_add(k, 1), 0);
        EXPECT_SAME(less, k, 0);
        lam_tensor *small = lam_cast(k, LAM_F32);
        EXPECT_SAME(lam_ppf(which, lam_cdf(which, small, narrow), narrow), small, 0);
        EXPECT(lam_is_nan(lam_ppf(which, VEC(-0.1, 1.1, NAN), all)), LAM_DIMS(3), 1, 1, 1);
        EXPECT_NUM(lam_ppf(which, num(0), all), rows[i].first);
        EXPECT_NUM(lam_ppf(which, num(1), all), which == LAM_BINOM ? 12 : INFINITY);
    }
    EXPECT(lam_ppf(LAM_BINOM, VEC(0.3, 1), LAM_LIST(num(7), num(1))), LAM_DIMS(2), 7, 7);
    EXPECT(lam_ppf(LAM_POISSON, VEC(0.3, 1), LAM_LIST(num(0))), LAM_DIMS(2), 0, 0);
    EXPECT(lam_ppf(LAM_GEOM, VEC(0.3, 1), LAM_LIST(num(1))), LAM_DIMS(2), 1, 1);
    EXPECT_NUM(lam_ppf(LAM_POISSON, num(0.5), LAM_LIST(num(1e15))), 1e15);
    EXPECT_NUM(lam_ppf(LAM_POISSON, num(0.5), LAM_LIST(num(3), num(10))), 13); /* loc */
    EXPECT_OK();
}
END_TEST

BODY(count) {
    out[0] = lam_ppf(LAM_NBINOM, in[2], LAM_LIST(in[0], in[1]));
}

START_TEST(counts_have_no_slopes) {
    const lam_grad_options all = {.argnums = LAM_AXES(0, 1, 2)};
    lam_tensor *o[3], *y, *dy;
    ck_assert_int_eq(lam_call(lam_grad(FN(count, 3, 1), &all), LAM_LIST(num(3), num(0.3), num(0.4)), o, 3), LAM_OK);
    for (int i = 0; i < 3; i++) EXPECT_NUM(o[i], 0);
    const lam_list in = LAM_LIST(num(3), num(0.3), num(0.4)), along = LAM_LIST(num(1), num(1), num(1));
    ck_assert_int_eq(lam_jvp(FN(count, 3, 1), in, along, &y, &dy, 1, NULL), LAM_OK);
    EXPECT_NUM(dy, 0);
    lam_tensor *q = VEC(0.1, 0.5, 0.9);
    lam_fn *batch = lam_vmap(FN(count, 3, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, LAM_UNMAPPED, 0)});
    EXPECT_SAME(lam_apply(batch, LAM_LIST(num(3), num(0.3), q)), lam_ppf(LAM_NBINOM, q, LAM_LIST(num(3), num(0.3))), 0);
    EXPECT_OK();
}
END_TEST

BODY(truncated) {
    out[0] = lam_sum(lam_mul(VEC(1, 2, -1), lam_ppf(LAM_TRUNCNORM, in[0], LAM_LIST(in[1], in[2]))), NULL);
}

/* From mpmath, 40 digits, on both sides, where shares of the normal distribution are no numbers, and without bounds. */
START_TEST(quantiles_of_truncated_normals) {
    const double many = INFINITY;
    lam_tensor *a = VEC(-0.5, -0.5, 8, -many, 60, -40), *b = VEC(2, 2, 11, -45, many, 40);
    lam_tensor *q = VEC(0.3, 0.999, 0.25, 0.25, 0.5, 0.75), *wide[] = {num(-many), num(many)};
    EXPECT_NEAR(lam_ppf(LAM_TRUNCNORM, q, LAM_LIST(a, b)), 1e-14, LAM_DIMS(6), 0.02294076277143214605,
                1.987764979734767726, 8.035347035954817477, -45.03078083377297595, 60.01154813595288935,
                0.6744897501960817432);
    EXPECT_NEAR(lam_isf(LAM_TRUNCNORM, num(1e-12), LAM_LIST(num(-1), num(5))), 1e-15, LAM_DIMS0, 4.999999434094151065);
    EXPECT_NEAR(lam_isf(LAM_TRUNCNORM, num(1e-12), (lam_list){2, wide}), 1e-15, LAM_DIMS0, 7.034483825301131933);
    lam_tensor *narrow =
        lam_ppf(LAM_TRUNCNORM, lam_cast(q, LAM_F32), LAM_LIST(lam_cast(a, LAM_F32), lam_cast(b, LAM_F32)));
    EXPECT_NEAR(lam_cast(lam_slice_axis(narrow, 0, 1, 6), LAM_F64), 1e-5, LAM_DIMS(5), 1.987765, 8.035347, -45.03078,
                60.01155, 0.67449);
    EXPECT(lam_ppf(LAM_TRUNCNORM, VEC(0, 1, -0.1, 1.1, NAN), LAM_LIST(num(-1), num(2))), LAM_DIMS(5), -1, 2, NAN, NAN,
           NAN);
    EXPECT_NEAR(lam_ppf(LAM_TRUNCNORM, num(0.3), LAM_LIST(num(-0.5), num(2), num(5), num(10))), 1e-14, LAM_DIMS0,
                5.2294076277143214605);
    const lam_list at = LAM_LIST(VEC(0.1, 0.5, 0.9), num(-0.7), num(2)),
                   far = LAM_LIST(VEC(0.1, 0.5, 0.9), num(50), num(52));
    const lam_check_grads_options twice = {.order = 2};
    ck_assert_int_eq(lam_check_grads(FN(truncated, 3, 1), at, &twice), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(truncated, 3, 1), far, &twice), LAM_OK);
    lam_tensor *slopes[3]; /* at the ends, from inside: 1 by the bound, 1 over the density by the share */
    lam_call(lam_grad(FN(truncated, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)}),
             LAM_LIST(VEC(0, 0, 1), num(-0.7), num(2)), slopes, 3);
    lam_tensor *density = lam_pdf(LAM_TRUNCNORM, VEC(-0.7, -0.7, 2), LAM_LIST(num(-0.7), num(2)));
    EXPECT_SAME(slopes[0], lam_div(VEC(1, 2, -1), density), 1e-14);
    EXPECT_NUM(slopes[1], 3);
    EXPECT_NUM(slopes[2], -1);
    lam_call(lam_grad(FN(truncated, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)}),
             LAM_LIST(VEC(0.1, 0.5, 0.9), num(-60), num(60)), slopes,
             3); /* where the density is no number at the bounds */
    EXPECT_SAME(slopes[0], lam_div(VEC(1, 2, -1), lam_pdf(LAM_NORM, lam_ndtri(VEC(0.1, 0.5, 0.9)), LAM_LIST())), 1e-13);
    EXPECT_NUM(slopes[1], 0);
    EXPECT_NUM(slopes[2], 0);
    lam_tensor *o[3]; /* no bound, no slope by it; by the shares as the normal distribution */
    lam_call(lam_grad(FN(truncated, 3, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)}),
             LAM_LIST(VEC(0.1, 0.5, 0.9), wide[0], wide[1]), o, 3);
    EXPECT_SAME(o[0], lam_div(VEC(1, 2, -1), lam_pdf(LAM_NORM, lam_ndtri(VEC(0.1, 0.5, 0.9)), LAM_LIST())), 1e-14);
    EXPECT_NUM(o[1], 0);
    EXPECT_NUM(o[2], 0);
    EXPECT_OK();
}
END_TEST

BODY(wrapped) {
    lam_tensor *x = lam_ppf(LAM_WRAPCAUCHY, in[0], LAM_LIST(in[1])),
               *y = lam_isf(LAM_WRAPCAUCHY, in[0], LAM_LIST(in[1]));
    out[0] = lam_sum(lam_mul(VEC(1, 2, -1), lam_add(x, lam_square(y))), NULL);
}

/* From mpmath; without a centre (c = 0) all arcs are alike. */
START_TEST(quantiles_on_the_circle) {
    lam_tensor *c = VEC(0.3, 0.3, 0.3, 0.9, 0), *q = VEC(0.01, 0.9, 0.5, 1e-12, 0.25);
    EXPECT_NEAR(lam_ppf(LAM_WRAPCAUCHY, q, LAM_LIST(c)), 1e-15, LAM_DIMS(5), 0.03384044131680222714,
                5.936777886090370729, 3.141592653589793238, 3.306939635357676254e-13, 1.570796326794896619);
    EXPECT_NEAR(lam_cdf(LAM_WRAPCAUCHY, VEC(0.3, 5, 1e-9, 3), LAM_LIST(VEC(0.3, 0.7, 0.9, 0))), 1e-15, LAM_DIMS(4),
                0.08710195717006710794, 0.5738412678433587772, 3.023943918746012184e-9, 0.4774648292756860073);
    EXPECT_NEAR(lam_sf(LAM_WRAPCAUCHY, VEC(0.3, 5, 3), LAM_LIST(VEC(0.3, 0.7, 0))), 1e-15, LAM_DIMS(3),
                0.9128980428299328921, 0.4261587321566412228, 0.5225351707243139927);
    EXPECT(lam_cdf(LAM_WRAPCAUCHY, VEC(-1, 0, 7, NAN), LAM_LIST(num(0.5))), LAM_DIMS(4), 0, 0, 1, NAN);
    EXPECT(lam_is_nan(lam_ppf(LAM_WRAPCAUCHY, VEC(-0.1, 1.1, NAN), LAM_LIST(num(0.5)))), LAM_DIMS(3), 1, 1, 1);
    lam_tensor *z = lam_linspace(ctx, LAM_F64, 0, 6.28, 9), *s = num(0.6);
    EXPECT_NEAR(lam_sub(lam_ppf(LAM_WRAPCAUCHY, lam_cdf(LAM_WRAPCAUCHY, z, LAM_LIST(s)), LAM_LIST(s)), z), 1e-13,
                LAM_DIMS(9), 0, 0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT_NEAR(lam_sub(lam_isf(LAM_WRAPCAUCHY, lam_sf(LAM_WRAPCAUCHY, z, LAM_LIST(s)), LAM_LIST(s)), z), 1e-13,
                LAM_DIMS(9), 0, 0, 0, 0, 0, 0, 0, 0, 0);
    lam_tensor *end = lam_full(ctx, LAM_F32, LAM_DIMS0, 6.2831855); /* a little more than the circle */
    EXPECT_NUM(lam_cast(lam_cdf(LAM_WRAPCAUCHY, end, LAM_LIST(lam_cast(s, LAM_F32))), LAM_F64), 1);
    ck_assert_int_eq(lam_check_grads(FN(wrapped, 2, 1), LAM_LIST(VEC(0.1, 0.5, 0.8), num(0.4)),
                                     &(lam_check_grads_options){.order = 2}),
                     LAM_OK);
    EXPECT_OK();
}
END_TEST

BODY(von_mises) {
    lam_tensor *x = lam_ppf(LAM_VONMISES, in[0], LAM_LIST(in[1])), *y = lam_isf(LAM_VONMISES, in[0], LAM_LIST(in[1]));
    out[0] = lam_sum(lam_mul(VEC(1, 2, -1), lam_add(x, lam_square(y))), NULL);
}

BODY(von_mises_share) {
    out[0] = lam_sum(lam_cdf(LAM_VONMISES, in[0], LAM_LIST(in[1])), NULL);
}

/* Fourier's series of Bessel functions by mpmath, 25 digits. SciPy has 6 of them from kappa = 50 on. */
START_TEST(quantiles_of_von_mises) {
    lam_tensor *k = VEC(0.5, 2, 60, 60, 0.1), *q = VEC(0.1, 0.9, 1e-5, 0.3, 0.75), *z = VEC(-3, -1, 0.5, 2);
    EXPECT_NEAR(lam_ppf(LAM_VONMISES, q, LAM_LIST(k)), 1e-14, LAM_DIMS(5), -2.12847498428032726, 1.05298164135453388,
                -0.559051881674447641, -0.0678553022034238645, 1.47118255454101234);
    const lam_list three = LAM_LIST(num(3));
    EXPECT_NEAR(lam_cdf(LAM_VONMISES, z, three), 1e-13, LAM_DIMS(4), 0.000232195395811193153, 0.0595663909829753593,
                0.791157464572180553, 0.996032270551792351);
    EXPECT_NEAR(lam_sf(LAM_VONMISES, z, three), 1e-13, LAM_DIMS(4), 0.999767804604188807, 0.940433609017024641,
                0.208842535427819447, 0.00396772944820764888);
    EXPECT_NEAR(lam_cdf(LAM_VONMISES, VEC(-4, 0, 4, NAN), three), 1e-14, LAM_DIMS(4), 0, 0.5, 1, NAN);
    EXPECT(lam_is_nan(lam_ppf(LAM_VONMISES, VEC(-0.1, 1.1, NAN), three)), LAM_DIMS(3), 1, 1, 1);
    EXPECT_NEAR(lam_ppf(LAM_VONMISES, VEC(0, 0.5, 1), three), 1e-15, LAM_DIMS(3), -acos(-1), 0, acos(-1));
    EXPECT_NEAR(lam_ppf(LAM_VONMISES, VEC(0.1, 0.7), LAM_LIST(num(0))), 1e-15, LAM_DIMS(2), -0.8 * acos(-1),
                0.4 * acos(-1));
    double kappas[] = {1e-3, 0.9, 1.1, 5, 300, 1e4, 1e8}, shares[] = {1e-5, 0.01, 0.3, 0.49, 0.5, 0.7, 0.999};
    for (int i = 0; i < 7; i++) { /* there and back, either side */
        lam_tensor *p = lam_array(ctx, LAM_F64, LAM_DIMS(7), shares), *one = lam_add(lam_zeros_like(p), 1.0);
        const lam_list own = LAM_LIST(num(kappas[i]));
        lam_tensor *x = lam_ppf(LAM_VONMISES, p, own), *y = lam_isf(LAM_VONMISES, p, own);
        EXPECT_SAME(lam_div(lam_cdf(LAM_VONMISES, x, own), p), one, 1e-9);
        EXPECT_SAME(lam_div(lam_sf(LAM_VONMISES, y, own), p), one, 1e-9);
    }
    lam_tensor *narrow = lam_ppf(LAM_VONMISES, lam_cast(q, LAM_F32), LAM_LIST(lam_cast(k, LAM_F32)));
    EXPECT_NEAR(lam_cast(narrow, LAM_F64), 1e-5, LAM_DIMS(5), -2.128475, 1.0529816, -0.55905188, -0.0678553, 1.4711826);
    const lam_check_grads_options twice = {.order = 2};
    ck_assert_int_eq(lam_check_grads(FN(von_mises, 2, 1), LAM_LIST(VEC(0.1, 0.5, 0.8), num(1.4)), &twice), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(von_mises, 2, 1), LAM_LIST(VEC(0.1, 0.5, 0.8), num(70)), &twice), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(von_mises_share, 2, 1), LAM_LIST(z, num(1.4)), &twice), LAM_OK);
    EXPECT_SAME(apply2(lam_grad(FN(von_mises_share, 2, 1), NULL), VEC(-1, 0, 1.5), num(2)),
                lam_pdf(LAM_VONMISES, VEC(-1, 0, 1.5), LAM_LIST(num(2))), 1e-13);
    EXPECT_OK();
}
END_TEST

Suite *suite_primitives_quantiles(void) {
    return SUITE_OF("primitives/quantiles", values_of_inverses, ends_of_inverses, there_and_back,
                    inverses_are_differentiated, slopes_in_the_middle_and_at_ends, quantiles_of_student,
                    quantiles_of_counts, counts_have_no_slopes, quantiles_of_truncated_normals, quantiles_on_the_circle,
                    quantiles_of_von_mises);
}
