/* Complex logarithms of sums of exponentials, and what is made of them: along axes, with their derivatives, far out and
 * where an operand is no number. Elementwise ones are in tests/primitives/cases_complex.c too. Values by mpmath 1.3, as
 * jax.scipy.special.logsumexp and jax.nn of JAX 0.10.2 have them. */
#include "tests/support.h"

static lam_tensor *three(void) {
    static const lam_c128 z[] = {{1, 2}, {-0.5, 0.3}, {0.7, -1.1}};
    return lam_array(ctx, LAM_C128, LAM_DIMS(3), z);
}

static lam_tensor *scalar(double re, double im) {
    return lam_scalar_complex(ctx, re, im);
}

#define EXPECT_COMPLEX(t, tolerance, re, im) expect_complex(__LINE__, t, tolerance, re, im)
static void expect_complex(int line, lam_tensor *t, double tolerance, double re, double im) {
    const lam_c128 got = lam_item_complex(t);
    EXPECT_OK();
    ck_assert_msg((fabs(got.re - re) <= tolerance || got.re == re) && (fabs(got.im - im) <= tolerance || got.im == im),
                  "line %d: %.17g %+.17g i, not %.17g %+.17g i", line, got.re, got.im, re, im);
}

BODY(sum_of_exponentials) {
    out[0] = lam_logsumexp(in[0], NULL);
}

/* Weighted, since the plain sum is 1. */
BODY(weighted_softmax) {
    const lam_c128 weights[] = {{1, 0}, {0, 2}, {-1, 1}};
    lam_tensor *w = lam_array(ctx, LAM_C128, LAM_DIMS(3), weights);
    out[0] = lam_sum(lam_mul(w, lam_softmax(in[0], 0)), NULL);
}

BODY(weighted_log_softmax) {
    const lam_c128 weights[] = {{1, 0}, {0, 2}, {-1, 1}};
    lam_tensor *w = lam_array(ctx, LAM_C128, LAM_DIMS(3), weights);
    out[0] = lam_sum(lam_mul(w, lam_log_softmax(in[0], 0)), NULL);
}

START_TEST(values_along_an_axis) {
    EXPECT_COMPLEX(lam_logsumexp(three(), NULL), 1e-15, -0.073063266949559424, 1.1711628250433674);
    EXPECT_COMPLEX(lam_logmeanexp(three(), NULL), 1e-15, -1.1716755556176691, 1.1711628250433674);
    EXPECT_COMPLEX(lam_index(lam_softmax(three(), 0), 0, 0), 1e-15, 1.9760632161267331, 2.1556538971929999);
    EXPECT_COMPLEX(lam_index(lam_log_softmax(three(), 0), 0, 0), 1e-15, 1.0730632669495594, 0.82883717495663256);
    EXPECT_COMPLEX(lam_index(lam_softmax(three(), 0), 0, 1), 1e-15, 0.42017222034574099, -0.4992172495254459);
    EXPECT_COMPLEX(lam_index(lam_log_softmax(three(), 0), 0, 1), 1e-15, -0.42693673305044058, -0.87116282504336745);
    EXPECT_COMPLEX(lam_index(lam_softmax(three(), 0), 0, 2), 1e-15, -1.3962354364724741, -1.656436647667554);
    EXPECT_COMPLEX(lam_index(lam_log_softmax(three(), 0), 0, 2), 1e-15, 0.77306326694955938, -2.2711628250433675);
}
END_TEST

/* Both modes of a holomorphic function. */
static void expect_slopes(lam_body body, const lam_c128 want[3]) {
    lam_fn *f = FN(body, 1, 1);
    lam_tensor *slopes[] = {lam_apply(lam_grad(f, &(lam_grad_options){.holomorphic = true}), LAM_LIST(three())),
                            lam_apply(lam_jacfwd(f, &(lam_jacobian_options){.holomorphic = true}), LAM_LIST(three()))};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) EXPECT_COMPLEX(lam_index(slopes[k], 0, i), 1e-14, want[i].re, want[i].im);
}

START_TEST(derivatives_along_an_axis) {
    expect_slopes(sum_of_exponentials, (lam_c128[]){{1.9760632161267331, 2.1556538971929999},
                                                    {0.42017222034574099, -0.4992172495254459},
                                                    {-1.3962354364724741, -1.656436647667554}});
    expect_slopes(weighted_softmax, (lam_c128[]){{-2.9147660736433786, -17.271294323054627},
                                                 {-3.1595658007266966, 2.4810469759041143},
                                                 {6.0743318743700751, 14.790247347150512}});
    expect_slopes(weighted_log_softmax, (lam_c128[]){{7.4669616915789996, -5.9281896483801993},
                                                     {-1.4976517485763377, 0.73948333896277704},
                                                     {-5.969309943002662, 5.1887063094174223}});
}
END_TEST

START_TEST(sums_along_axes_are_those_of_rows) {
    lam_tensor *x = lam_stack(LAM_LIST(three(), lam_mul(2.0, three())), 0), *rows[2];
    for (int i = 0; i < 2; i++) rows[i] = lam_logsumexp(lam_index(x, 0, i), NULL);
    lam_tensor *kept = lam_logsumexp(x, &(lam_reduce_options){.axes = LAM_AXES(-1), .keepdims = true});
    ck_assert_int_eq(lam_rank(kept), 2);
    lam_tensor *off = lam_sub(lam_reshape(kept, LAM_DIMS(2)), lam_stack((lam_list){2, rows}, 0));
    EXPECT_NEAR(lam_abs(off), 1e-15, LAM_DIMS(2), 0, 0);
    lam_tensor *ones = lam_sum(lam_softmax(x, 1), &(lam_reduce_options){.axes = LAM_AXES(1)});
    EXPECT_NEAR(lam_real(ones), 1e-15, LAM_DIMS(2), 1, 1);
    lam_tensor *gap = lam_sub(lam_exp(lam_log_softmax(x, 1)), lam_softmax(x, 1));
    EXPECT_NUM(lam_lt(lam_max_reduce(lam_abs(gap), NULL), 1e-15), 1);
    ck_assert_int_eq(lam_dtype_of(lam_logsumexp(lam_cast(x, LAM_C64), NULL)), LAM_C64);
    EXPECT_COMPLEX(lam_logsumexp(lam_zeros(ctx, LAM_C128, LAM_DIMS(0)), NULL), 0, -INFINITY, 0);
}
END_TEST

/* Exponentials that are no numbers, imaginary parts that are many turns, and operands that are infinite. */
START_TEST(exponentials_out_of_range) {
    const double inf = INFINITY;
    EXPECT_COMPLEX((lam_logaddexp)(scalar(1000.0, 3.0), scalar(999.0, -2.0)), 1e-12, 1000.1478408409581,
                   -2.9739954821230277);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(-1000.0, 3.0), scalar(-1001.0, -2.0)), 1e-12, -999.85215915904189,
                   -2.9739954821230277);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(2.0, 100.0), scalar(1.0, -50.0)), 1e-12, 2.2503316635766504,
                   -0.32475906961508791);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(-800.0, 1.0), scalar(0.0, 0.0)), 1e-12, 0, 0);
    EXPECT_COMPLEX(lam_softplus(scalar(-50.0, 1.0)), 1e-36, 1.0421079902977287e-22, 1.6229870340142786e-22);
    EXPECT_COMPLEX(lam_softplus(scalar(800.0, 3.0)), 1e-13, 800.0, 3.0);
    EXPECT_COMPLEX(lam_softplus(scalar(40.0, 10.0)), 1e-13, 40.0, -2.566370614359173);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(-inf, 0), scalar(1, 2)), 0, 1, 2);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(-inf, 0), scalar(-inf, 0)), 0, -inf, 0);
    EXPECT_COMPLEX((lam_logaddexp)(scalar(3, 1), scalar(inf, 0)), 0, inf, 0);
    EXPECT_COMPLEX(lam_softplus(scalar(-inf, 0)), 0, 0, 0);
    EXPECT_COMPLEX(lam_logsumexp(lam_stack(LAM_LIST(scalar(-inf, 0), scalar(-inf, 0)), 0), NULL), 0, -inf, 0);
    ck_assert(isnan(lam_item_complex((lam_logaddexp)(scalar((double)NAN, 0), scalar(1, 0))).re));
}
END_TEST

START_TEST(a_pole_times_nothing_is_nothing) {
    EXPECT_COMPLEX((lam_xlogy)(scalar(0, 0), scalar(0, 0)), 0, 0, 0);
    EXPECT_COMPLEX((lam_xlog1py)(scalar(0, 0), scalar(-1, 0)), 0, 0, 0);
    EXPECT_COMPLEX((lam_xlogy)(num(2), scalar(0, 1)), 1e-15, 0, 3.14159265358979323846);
}
END_TEST

START_TEST(numbers_in_place_of_none_by_parts) {
    const double inf = INFINITY;
    EXPECT_COMPLEX(lam_nan_to_num(scalar((double)NAN, -2), NULL), 0, 0, -2);
    EXPECT_COMPLEX(lam_nan_to_num(scalar(1, inf), &(lam_nan_to_num_options){.posinf = &(double){7}}), 0, 1, 7);
    EXPECT(lam_is_close(lam_add(three(), 1e-9), three(), NULL), LAM_DIMS(3), 1, 1, 1);
    EXPECT_NUM(lam_is_close(scalar(1, 1), scalar(1, -1), NULL), 0);
    EXPECT_NUM(lam_is_close(scalar(inf, 1), scalar(inf, 1), NULL), 1);
}
END_TEST

Suite *suite_complex_principal(void) {
    return SUITE_OF("complex/principal", values_along_an_axis, derivatives_along_an_axis,
                    sums_along_axes_are_those_of_rows, exponentials_out_of_range, a_pole_times_nothing_is_nothing,
                    numbers_in_place_of_none_by_parts);
}
