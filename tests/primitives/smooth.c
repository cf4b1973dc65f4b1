/* Rows with slopes of their own among activations, losses and norms, where their formulas end: squareplus of an
 * operand, hard_silu, products that a weight of 0 makes 0, and norms of whole orders. Values are those of mpmath with
 * 700 digits, or by hand. */
#include "tests/support.h"

#include <math.h>

BODY(squareplus_sum) {
    out[0] = lam_sum(lam_squareplus_with(in[0], in[1]), NULL);
}

/* By x and by b. */
static lam_tensor *slope(lam_tensor *x, lam_tensor *b, int which) {
    return apply2(lam_grad(FN(squareplus_sum, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(which)}), x, b);
}

/* Squares of x and b itself leave the range, both ways. */
START_TEST(squareplus_beyond_the_range_of_squares) {
    lam_tensor *x = VEC(-1e200, 1e-310, -3e-160, 1.5e308, -1e154, -1e-5, 3);
    lam_tensor *b = VEC(1e300, 1e-300, 1e-320, 1e308, 1e308, 1e-10, 0);
    EXPECT_NEAR(lam_squareplus_with(x, b), 1e-15, LAM_DIMS(7), 2.500000000000000207e99, 5.000000000000000063e-151,
                8.113794995745730286e-162, 1.5e308, 2.071067811865475209e153, 2.071067811865475189e-6, 3);
    EXPECT_NEAR(slope(x, b, 0), 1e-15, LAM_DIMS(7), 2.500000000000000283e-101, 0.5, 0.02565808693657641706, 1,
                0.1464466094067262322, 0.1464466094067262266, 1);
    EXPECT_NEAR(slope(x, b, 1), 1e-15, LAM_DIMS(7), 2.500000000000000076e-201, 2.499999999999999969e149,
                7.905698551057059805e158, 1.666666666666666648e-309, 1.767766952966368773e-155, 17677.66952966368723,
                0.08333333333333333333);
}
END_TEST

/* Beside infinities and NaN; of a negative b there is none. */
START_TEST(squareplus_of_what_is_no_number) {
    lam_tensor *x = VEC(INFINITY, -INFINITY, 1, NAN, 1, 1, 0), *b = VEC(2, 2, INFINITY, 1, NAN, -0.5, 0);
    EXPECT(lam_squareplus_with(x, b), LAM_DIMS(7), INFINITY, 0, INFINITY, NAN, NAN, NAN, 0);
    EXPECT(lam_squareplus_slope(x, b), LAM_DIMS(7), 1, 0, 0.5, NAN, NAN, NAN, 0);
}
END_TEST

BODY(slope_sum) {
    out[0] = lam_sum(lam_squareplus_slope(in[0], in[1]), NULL);
}

/* b/(2 s^3) and -x/(4 s^3), of x = -3, 4, 0 and b = 16, 9, 4, with s = 5, 5, 2; and where b is 0. */
START_TEST(squareplus_of_second_order) {
    lam_tensor *x = VEC(-3, 4, 0, -2, 0), *b = VEC(16, 9, 4, 0, 0);
    lam_fn *f = lam_grad(FN(slope_sum, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_tensor *got[2];
    ck_assert_int_eq(lam_call(f, LAM_LIST(x, b), got, 2), LAM_OK);
    EXPECT_NEAR(got[0], 1e-15, LAM_DIMS(5), 8 / 125.0, 4.5 / 125, 0.25, 0, 0);
    EXPECT_NEAR(got[1], 1e-15, LAM_DIMS(5), 3 / 500.0, -4 / 500.0, 0, 1 / 16.0, 0);
}
END_TEST

START_TEST(hard_silu_has_two_edges) {
    lam_tensor *x = VEC(-INFINITY, -3, -1.5, 0, 1.5, 3, 8, INFINITY, NAN);
    EXPECT(lam_hard_silu_slope(x), LAM_DIMS(9), 0, 0, 0, 0.5, 1, 1, 1, 1, NAN);
    EXPECT(lam_hard_silu(VEC(-4, -3, -1.5, 0, 1.5, 3, 8)), LAM_DIMS(7), 0, 0, -0.375, 0, 1.125, 3, 8);
}
END_TEST

BODY(weighed_sum) {
    out[0] = lam_sum(lam_weigh(in[0], in[1]), NULL);
}

/* By the weights x, but 0 where it takes no part and is no number. */
START_TEST(weights_of_0_take_no_part) {
    lam_tensor *weights = VEC(0, 0, -0.0, 0, 2, -1, NAN), *x = VEC(INFINITY, NAN, -INFINITY, 5, INFINITY, 3, 1);
    EXPECT(lam_weigh(weights, x), LAM_DIMS(7), 0, 0, 0, 0, INFINITY, -3, NAN);
    lam_tensor *got[2];
    lam_fn *f = lam_grad(FN(weighed_sum, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    ck_assert_int_eq(lam_call(f, LAM_LIST(weights, x), got, 2), LAM_OK);
    EXPECT(got[0], LAM_DIMS(7), 0, 0, 0, 5, INFINITY, 3, 1);
    EXPECT(got[1], LAM_DIMS(7), 0, 0, 0, 0, 2, -1, NAN);
}
END_TEST

BODY(norm_of_order) {
    out[0] = lam_norm(in[0], &(lam_norm_options){.order = *(const int *)env});
}

/* Of 3, -4, 0 and 1, times sizes whose powers leave the range; the slope does not see the size. */
START_TEST(norms_of_whole_orders) {
    static const double norms[] = {4.5143574354740013794, 4.2877472302889119392, 4.1746863385914122395};
    static const double slopes[][4] = {
        {0.44162192303550013495, -0.7851056409520002399, 0, 0.049069102559500014994},
        {0.34251235271538645668, -0.81188113236239752696, 0, 0.012685642693162461359},
        {0.26667949008352081341, -0.8428388822392756572, 0, 0.0032923393837471705359},
    };
    static const double sizes[] = {1, 0x1p-1000, 0x1p1000};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            int order = 3 + k;
            lam_tensor *x = lam_mul(sizes[i], VEC(3, -4, 0, 1));
            lam_fn *f = FN_ENV(norm_of_order, 1, 1, &order);
            EXPECT_NEAR(apply1(f, x), 1e-15, LAM_DIMS0, norms[k] * sizes[i]);
            EXPECT_NEAR(apply1(lam_grad(f, NULL), x), 1e-15, LAM_DIMS(4), slopes[k][0], slopes[k][1], slopes[k][2],
                        slopes[k][3]);
            if (i == 0)
                ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
        }
}
END_TEST

/* The sum along the axis that env says, so that what comes of each row is seen in its slopes. */
BODY(sum_of_logsumexps) {
    out[0] = lam_sum(lam_logsumexp(in[0], &(lam_reduce_options){.axes = {1, env}}), NULL);
}

/* Rows whose largest element is infinite or 0 among others, in both dtypes, along the last axis and the first. */
START_TEST(rows_without_a_largest_number_are_summed_among_others) {
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32};
    const double inf = INFINITY, third = 1.0 / 3;
    for (int k = 0; k < 4; k++) {
        int axis = 1 - k / 2;
        const double close = k % 2 ? 1e-6 : 1e-15;
        lam_tensor *rows = MAT(4, 3, -inf, -inf, -inf, 1, inf, -inf, 0, 0, 0, 1, 2, 3);
        lam_tensor *x = lam_contiguous(lam_cast(axis ? rows : lam_matrix_transpose(rows), dtypes[k % 2]));
        lam_tensor *sums = lam_logsumexp(x, &(lam_reduce_options){.axes = {1, &axis}});
        lam_tensor *cubes = lam_norm(x, &(lam_norm_options){.order = 3, .axes = {1, &axis}});
        lam_tensor *slopes = apply1(lam_grad(FN_ENV(sum_of_logsumexps, 1, 1, &axis), NULL), x);
        EXPECT_NEAR(lam_cast(sums, LAM_F64), close, LAM_DIMS(4), -inf, inf, 1.0986122886681098, 3.4076059644443803);
        EXPECT_NEAR(lam_cast(cubes, LAM_F64), close, LAM_DIMS(4), inf, inf, 0, 3.3019272488946263);
        EXPECT_NEAR(lam_cast(axis ? slopes : lam_matrix_transpose(slopes), LAM_F64), close, LAM_DIMS(4, 3), 0, 0, 0, 0,
                    1, 0, third, third, third, 0.090030573170380458, 0.24472847105479765, 0.66524095577482189);
    }
}
END_TEST

Suite *suite_primitives_smooth(void) {
    return SUITE_OF("primitives/smooth", squareplus_beyond_the_range_of_squares, squareplus_of_what_is_no_number,
                    squareplus_of_second_order, hard_silu_has_two_edges, weights_of_0_take_no_part,
                    norms_of_whole_orders, rows_without_a_largest_number_are_summed_among_others);
}
