/* lam_check_grads: right derivatives pass, wrong ones are found, in either mode and at the order where they are wrong.
 * The wrong rules are wrong by a factor or by a constant that should be a variable. */
#include "tests/support.h"

BODY(smooth) {
    out[0] = lam_mul(lam_sin(in[0]), lam_exp(in[1]));
    out[1] = lam_sum(lam_square(in[0]), NULL);
}

BODY(cube) {
    out[0] = lam_integer_pow(in[0], 3);
}

/* Value and tangent of the cube, the tangent by a factor that env points to. */
BODY(cube_rule) {
    out[0] = lam_integer_pow(in[0], 3);
    out[1] = lam_mul(lam_mul(*(double *)env, lam_square(in[0])), in[1]);
}

BODY(cube_forward) {
    out[0] = lam_integer_pow(in[0], 3);
    out[1] = in[0];
}

BODY(cube_backward) {
    out[0] = lam_mul(lam_mul(*(double *)env, lam_square(in[0])), in[1]);
}

/* Right at first; its own derivative misses what hides behind stop_gradient. */
BODY(cube_backward_once) {
    out[0] = lam_mul(lam_mul(3, lam_square(lam_stop_gradient(in[0]))), in[1]);
}

static void both_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_integer_pow(in[0], 3);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static void right_jvp(lam_fctx *fc, lam_tensor *const tangents_in[], lam_tensor *tangents_out[]) {
    tangents_out[0] = lam_mul(lam_mul(3, lam_square(lam_fctx_saved(fc, 0))), tangents_in[0]);
}

static void wrong_backward(lam_fctx *fc, lam_tensor *const grad_out[], lam_tensor *grad_in[]) {
    grad_in[0] = lam_mul(lam_mul(2, lam_square(lam_fctx_saved(fc, 0))), grad_out[0]);
}

static const lam_function both_ways = {.name = "both_ways",
                                       .inputs = 1,
                                       .outputs = 1,
                                       .forward = both_forward,
                                       .jvp = right_jvp,
                                       .backward = wrong_backward};

static double right = 3, wrong = 3.1, far_off = 6;

static lam_status checked(lam_fn *f, int order) {
    return lam_check_grads(f, LAM_LIST(VEC(0.7, -1.2)), &(lam_check_grads_options){.order = order});
}

START_TEST(right_derivatives_pass_at_every_order) {
    lam_tensor *x = VEC(0.3, -0.8), *y = num(0.4), *n = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){2});
    for (int order = 0; order <= 3; order++)
        ck_assert_int_eq(
            lam_check_grads(FN(smooth, 2, 2), LAM_LIST(x, y), &(lam_check_grads_options){.order = order, .seed = 7}),
            LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(smooth, 2, 2), LAM_LIST(lam_cast(x, LAM_F32), lam_cast(y, LAM_F32)), NULL),
                     LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(n), NULL), LAM_OK); /* nothing to differentiate */
    ck_assert_int_eq(checked(lam_custom_jvp(FN(cube, 1, 1), FN_ENV(cube_rule, 2, 2, &right), NULL), 2), LAM_OK);
    ck_assert_int_eq(
        checked(lam_custom_vjp(FN(cube, 1, 1), FN(cube_forward, 1, 2), FN_ENV(cube_backward, 2, 1, &right), NULL), 2),
        LAM_OK);
    EXPECT_OK();
}
END_TEST

/* With few digits, at large x, and where values are infinite: 1e200 squared is, in forward mode and as a difference. */
START_TEST(sizes_and_digits_set_the_step) {
    static const lam_dtype few[] = {LAM_F16, LAM_BF16};
    for (int i = 0; i < 2; i++) {
        lam_tensor *x = lam_cast(VEC(0.7, -1.2), few[i]);
        ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(x), NULL), LAM_OK);
        lam_fn *f = lam_custom_jvp(FN(cube, 1, 1), FN_ENV(cube_rule, 2, 2, &far_off), NULL);
        ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), NULL), LAM_ERR_VALUE);
        EXPECT_ERROR(LAM_ERR_VALUE, "forward mode against a central difference");
    }
    ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(VEC(3e9, -2e8)), NULL), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(VEC(1e200)), NULL), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "forward mode against a central difference");
}
END_TEST

START_TEST(a_wrong_rule_is_found) {
    lam_fn *f = lam_custom_jvp(FN(cube, 1, 1), FN_ENV(cube_rule, 2, 2, &wrong), NULL);
    ck_assert_int_eq(checked(f, 1), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "check_grads", "cube", "forward mode against a central difference", "against",
                 "remedy");
    f = lam_custom_vjp(FN(cube, 1, 1), FN(cube_forward, 1, 2), FN_ENV(cube_backward, 2, 1, &wrong), NULL);
    ck_assert_int_eq(checked(f, 1), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "cube", "mode against");
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(VEC(0.7)), &(lam_check_grads_options){.tolerance = 0.1}), LAM_OK);
    ck_assert_int_eq(checked(lam_function_fn(ctx, &both_ways, NULL, 1, 1), 1), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "both_ways", "reverse mode against forward mode");
}
END_TEST

START_TEST(an_error_of_the_second_order_is_found_there) {
    lam_fn *f = lam_custom_vjp(FN(cube, 1, 1), FN(cube_forward, 1, 2), FN(cube_backward_once, 2, 1), NULL);
    ck_assert_int_eq(checked(f, 1), LAM_OK);
    ck_assert_int_eq(checked(f, 2), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "check_grads");
}
END_TEST

START_TEST(failures_from_before_are_not_its_own) {
    lam_fail(ctx, LAM_ERR_SHAPE, "earlier");
    ck_assert_int_eq(checked(FN(cube, 1, 1), 2), LAM_OK);
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_OWN(LAM_ERR_SHAPE, "earlier");
}
END_TEST

BODY(square_matrix) {
    out[0] = lam_matmul(in[0], in[0]);
}

START_TEST(impossible_requests_are_refused) {
    ck_assert_int_eq(checked(FN(cube, 1, 1), -1), LAM_ERR_OPTION);
    EXPECT_ERROR(LAM_ERR_OPTION, "check_grads", "cube", "order");
    ck_assert_int_eq(checked(FN(cube, 1, 1), INT_MAX), LAM_ERR_OPTION);
    EXPECT_ERROR(LAM_ERR_OPTION, "check_grads", "cube", "more than 16");
    ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(num(1)), &(lam_check_grads_options){.tolerance = NAN}),
                     LAM_ERR_OPTION);
    EXPECT_ERROR(LAM_ERR_OPTION, "check_grads", "cube", "tolerance", "NaN");
    ck_assert_int_eq(lam_check_grads(FN(cube, 1, 1), LAM_LIST(num(1)), &(lam_check_grads_options){.step = NAN}),
                     LAM_ERR_OPTION);
    EXPECT_ERROR(LAM_ERR_OPTION, "check_grads", "cube", "step", "NaN");
    ck_assert_int_eq(lam_check_grads(FN(smooth, 2, 2), LAM_LIST(num(1)), NULL), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "check_grads", "smooth");
    /* of integers there is nothing to compare, but the function is run */
    lam_fn *matrix = FN(square_matrix, 1, 1);
    ck_assert_int_eq(lam_check_grads(matrix, LAM_LIST(lam_eye(ctx, LAM_I64, 2, 2)), NULL), LAM_OK);
    ck_assert_int_eq(lam_check_grads(matrix, LAM_LIST(lam_eye(ctx, LAM_I64, 2, 3)), NULL), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "square_matrix");
}
END_TEST

Suite *suite_transforms_check_grads(void) {
    return SUITE_OF("transforms/check_grads", right_derivatives_pass_at_every_order, sizes_and_digits_set_the_step,
                    a_wrong_rule_is_found, an_error_of_the_second_order_is_found_there,
                    failures_from_before_are_not_its_own, impossible_requests_are_refused);
}
