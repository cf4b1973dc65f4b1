/* argnums and auxiliary outputs, which every differentiating transform takes alike. */
#include "tests/support.h"

/* x y^2 z^3 */
BODY(three) {
    out[0] = lam_mul(lam_mul(in[0], lam_square(in[1])), lam_integer_pow(in[2], 3));
}

/* By x, y, z at (2, 3, 1): 9, 12, 54. */
static const double slopes[3] = {9, 12, 54};

static void expect_slopes(lam_axes argnums, int count, const int *which) {
    lam_tensor *out[3] = {NULL, NULL, NULL};
    lam_fn *g = lam_grad(FN(three, 3, 1), &(lam_grad_options){.argnums = argnums});
    ck_assert_int_eq(lam_fn_outputs(g), count);
    lam_call(g, LAM_LIST(num(2), num(3), num(1)), out, (size_t)count);
    for (int i = 0; i < count; i++) EXPECT_NUM(out[i], slopes[which[i]]);
}

START_TEST(no_argnums_means_the_first_input) {
    expect_slopes((lam_axes){0, NULL}, 1, (int[]){0});
}
END_TEST

START_TEST(the_order_of_argnums_is_kept_and_negative_ones_wrap) {
    expect_slopes(LAM_AXES(1), 1, (int[]){1});
    expect_slopes(LAM_AXES(2, 0), 2, (int[]){2, 0});
    expect_slopes(LAM_AXES(-1, 1, -3), 3, (int[]){2, 1, 0});
    expect_slopes(LAM_AXES(LAM_RANGE(1, 2)), 2, (int[]){1, 2});
    expect_slopes(LAM_AXES(LAM_RANGE(-2, 2), 0), 3, (int[]){1, 2, 0});
}
END_TEST

static void expect_refused(lam_axes argnums, const char *text) {
    lam_grad_options o = {.argnums = argnums};
    lam_tensor *y = NULL, *x[3] = {num(1), num(1), num(1)};
    lam_fn *f = FN(three, 3, 1), *pullback = NULL;
    ck_assert(lam_failed(lam_grad(f, &o)));
    EXPECT_ERROR(LAM_ERR_OPTION, "grad", "three", text);
    ck_assert(lam_failed(lam_value_and_grad(f, &o)));
    EXPECT_ERROR(LAM_ERR_OPTION, "value_and_grad", "three", text);
    ck_assert(lam_failed(lam_jvp_fn(f, &o)));
    EXPECT_ERROR(LAM_ERR_OPTION, "jvp", "three", text);
    ck_assert_int_eq(lam_vjp(f, (lam_list){3, x}, &y, 1, &pullback, &o), LAM_ERR_OPTION);
    ck_assert(lam_failed(pullback) && lam_failed(y));
    EXPECT_ERROR(LAM_ERR_OPTION, "vjp", "three", text);
}

START_TEST(impossible_argnums_are_refused_by_every_transform) {
    expect_refused(LAM_AXES(3), "argnum 3 of 'three' is out of range [-3, 3)");
    expect_refused(LAM_AXES(0, -4), "argnum -4");
    expect_refused(LAM_AXES(1, 0, 1), "argnum 1 of 'three' is named twice");
    expect_refused(LAM_AXES(0, -3), "argnum -3 of 'three' is named twice");
    expect_refused(LAM_NO_AXES, "empty list");
    expect_refused((lam_axes){2, NULL}, "count without items");
    expect_refused((lam_axes){-1, (const int[]){0}}, "impossible count");
    expect_refused(LAM_AXES(LAM_RANGE(0, -3)), "LAM_RANGE");
    expect_refused(LAM_AXES(0, 1, 2, 0), "more than its 3 inputs");
}
END_TEST

BODY(no_inputs) {
    out[0] = num(1);
}

START_TEST(a_function_without_inputs_has_no_gradient) {
    ck_assert(lam_failed(lam_grad(FN(no_inputs, 0, 1), NULL)));
    EXPECT_ERROR(LAM_ERR_ARITY, "grad", "no_inputs");
}
END_TEST

/* ---- trees ------------------------------------------------------------------------------------------------------- */

typedef struct layer {
    lam_tensor *weight, *bias;
} layer;

typedef struct model {
    layer layers[2];
    lam_tensor *scale;
} model;

/* sum over layers of (weight x + bias), times scale; in[] is the model, then x. */
BODY(predict) {
    lam_tensor *x = in[LAM_LEAF_COUNT(model)];
    out[0] = lam_mul(in[4], lam_add(lam_add(lam_mul(in[0], x), in[1]), lam_add(lam_mul(in[2], x), in[3])));
}

static model model_at(double scale) {
    return (model){{{num(2), num(3)}, {num(4), num(5)}}, num(scale)};
}

START_TEST(a_tree_of_arguments_gives_a_gradient_of_the_same_tree) {
    model m = model_at(10), grads;
    lam_tensor *in[6];
    memcpy(in, &m, sizeof m);
    in[5] = num(7);
    lam_grad_options o = {.argnums = LAM_AXES(LAM_RANGE(0, (int)LAM_LEAF_COUNT(model)))};
    lam_call(lam_grad(FN(predict, 6, 1), &o), (lam_list){6, in}, LAM_OUT(&grads));
    EXPECT_NUM(grads.layers[0].weight, 70);
    EXPECT_NUM(grads.layers[0].bias, 10);
    EXPECT_NUM(grads.layers[1].weight, 70);
    EXPECT_NUM(grads.layers[1].bias, 10);
    EXPECT_NUM(grads.scale, 2 * 7 + 3 + 4 * 7 + 5);
}
END_TEST

START_TEST(leaves_of_a_member_can_be_named) {
    model m = model_at(10);
    layer second;
    lam_tensor *in[6];
    memcpy(in, &m, sizeof m);
    in[5] = num(7);
    lam_grad_options o = {.argnums = LAM_AXES(LAM_LEAVES(model, layers[1]))};
    lam_call(lam_grad(FN(predict, 6, 1), &o), (lam_list){6, in}, LAM_OUT(&second));
    EXPECT_NUM(second.weight, 70);
    EXPECT_NUM(second.bias, 10);
}
END_TEST

/* ---- auxiliary outputs ------------------------------------------------------------------------------------------- */

/* x^2, then 3 x and whether x > 0. */
BODY(with_aux) {
    out[0] = lam_square(in[0]);
    out[1] = lam_mul(3.0, in[0]);
    out[2] = lam_gt(in[0], 0);
}

START_TEST(auxiliary_outputs_pass_through) {
    lam_tensor *out[4];
    lam_grad_options o = {.has_aux = 2};
    lam_call(lam_grad(FN(with_aux, 1, 3), &o), LAM_LIST(num(5)), out, 3);
    EXPECT_NUM(out[0], 10);
    EXPECT_NUM(out[1], 15);
    ck_assert_int_eq(lam_dtype_of(out[2]), LAM_BOOL);
    EXPECT_NUM(out[2], 1);
    lam_call(lam_value_and_grad(FN(with_aux, 1, 3), &o), LAM_LIST(num(5)), out, 4);
    EXPECT_NUM(out[0], 25);
    EXPECT_NUM(out[1], 10);
    EXPECT_NUM(out[2], 15);
    EXPECT_NUM(out[3], 1);
}
END_TEST

START_TEST(auxiliary_outputs_of_vjp_and_jvp) {
    lam_tensor *out[3], *dy;
    lam_fn *pullback, *f = FN(with_aux, 1, 3);
    lam_grad_options o = {.has_aux = 2};
    lam_vjp(f, LAM_LIST(num(5)), out, 3, &pullback, &o);
    ck_assert_int_eq(lam_fn_inputs(pullback), 1);
    EXPECT_NUM(out[1], 15);
    EXPECT_NUM(apply1(pullback, num(2)), 20);
    lam_jvp(f, LAM_LIST(num(5)), LAM_LIST(num(2)), out, &dy, 3, &o);
    EXPECT_NUM(out[0], 25);
    EXPECT_NUM(dy, 20);
    EXPECT_NUM(out[1], 15);
    ck_assert_int_eq(lam_fn_outputs(lam_jvp_fn(f, &o)), 4);
}
END_TEST

/* What comes out belongs to the caller's levels: it can be used after the gradient's level has ended. */
START_TEST(auxiliary_outputs_hold_no_box_of_the_ended_level) {
    lam_tensor *out[3];
    lam_call(lam_grad(FN(with_aux, 1, 3), &(lam_grad_options){.has_aux = 2}), LAM_LIST(num(5)), out, 3);
    EXPECT_NUM(lam_sin(out[1]), sin(15));
    ck_assert_ptr_nonnull(lam_data(out[1]));
}
END_TEST

BODY(aux_of_gradient) {
    lam_tensor *g[3];
    lam_call(lam_grad(FN(with_aux, 1, 3), &(lam_grad_options){.has_aux = 2}), LAM_LIST(in[0]), g, 3);
    out[0] = lam_mul(g[0], g[1]);
}

/* 2x * 3x = 6 x^2: the auxiliary output still depends on the outer level. */
START_TEST(auxiliary_outputs_flow_at_outer_levels) {
    EXPECT_NUM(apply1(lam_grad(FN(aux_of_gradient, 1, 1), NULL), num(5)), 60);
}
END_TEST

START_TEST(a_wrong_number_of_auxiliary_outputs_is_refused) {
    lam_fn *f = FN(with_aux, 1, 3);
    static const int wrong[3] = {-1, 3, 4};
    for (int i = 0; i < 3; i++) {
        ck_assert(lam_failed(lam_grad(f, &(lam_grad_options){.has_aux = wrong[i]})));
        EXPECT_ERROR(LAM_ERR_OPTION, "grad", "has_aux", "with_aux", "3 outputs", "remedy");
        ck_assert(lam_failed(lam_jvp_fn(f, &(lam_grad_options){.has_aux = wrong[i]})));
        EXPECT_ERROR(LAM_ERR_OPTION, "jvp", "has_aux");
    }
    ck_assert(lam_failed(lam_grad(f, &(lam_grad_options){.has_aux = 1})));
    EXPECT_ERROR(LAM_ERR_OPTION, "grad", "with_aux", "not one", "remedy");
}
END_TEST

Suite *suite_transforms_arguments(void) {
    return SUITE_OF("transforms/arguments", no_argnums_means_the_first_input,
                    the_order_of_argnums_is_kept_and_negative_ones_wrap,
                    impossible_argnums_are_refused_by_every_transform, a_function_without_inputs_has_no_gradient,
                    a_tree_of_arguments_gives_a_gradient_of_the_same_tree, leaves_of_a_member_can_be_named,
                    auxiliary_outputs_pass_through, auxiliary_outputs_of_vjp_and_jvp,
                    auxiliary_outputs_hold_no_box_of_the_ended_level, auxiliary_outputs_flow_at_outer_levels,
                    a_wrong_number_of_auxiliary_outputs_is_refused);
}
