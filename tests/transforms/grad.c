/* Gradients. Expected values are derivatives worked out by hand. */
#include "tests/support.h"

static lam_fn *grad(lam_fn *f) {
    return lam_grad(f, NULL);
}

BODY(sine) {
    out[0] = lam_sin(in[0]);
}

BODY(reciprocal) {
    out[0] = lam_div(1.0, in[0]);
}

BODY(composite) {
    out[0] = lam_exp(lam_mul(lam_sin(in[0]), lam_log(in[0])));
}

/* x^(sin x) has derivative x^(sin x) (cos x log x + sin x / x). */
START_TEST(composites) {
    double x = 1.3;
    EXPECT_NEAR(apply1(grad(FN(composite, 1, 1)), num(x)), 1e-14, LAM_DIMS0,
                pow(x, sin(x)) * (cos(x) * log(x) + sin(x) / x));
}
END_TEST

START_TEST(second_derivative_of_sine) {
    EXPECT_NEAR(apply1(grad(grad(FN(sine, 1, 1))), num(0.4)), 1e-15, LAM_DIMS0, -sin(0.4));
}
END_TEST

/* 6! / 4^7 = 0.0439453125. */
START_TEST(sixth_derivative_of_the_reciprocal) {
    lam_fn *f = FN(reciprocal, 1, 1);
    for (int i = 0; i < 6; i++) f = grad(f);
    EXPECT_NUM(apply1(f, num(4)), 0.0439453125);
}
END_TEST

BODY(value_used_twice) {
    lam_tensor *y = lam_mul(3.0, in[0]);
    out[0] = lam_add(lam_mul(y, y), lam_add(y, in[0]));
}

START_TEST(a_value_used_twice_accumulates) {
    EXPECT_NUM(apply1(grad(FN(value_used_twice, 1, 1)), num(2)), 18 * 2 + 4);
}
END_TEST

BODY(unrelated) {
    out[0] = num(3);
}

BODY(ignores_the_second) {
    out[0] = lam_sum(in[0], NULL);
}

START_TEST(unrelated_outputs_and_unused_inputs_give_zeros) {
    lam_tensor *g[2];
    EXPECT(apply1(grad(FN(unrelated, 1, 1)), VEC(1, 2)), LAM_DIMS(2), 0, 0);
    lam_fn *f = lam_grad(FN(ignores_the_second, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(f, LAM_LIST(VEC(1, 2), lam_ones(ctx, LAM_F32, LAM_DIMS(1, 3))), g, 2);
    EXPECT(g[0], LAM_DIMS(2), 1, 1);
    EXPECT(g[1], LAM_DIMS(1, 3), 0, 0, 0);
    ck_assert_int_eq(lam_dtype_of(g[1]), LAM_F32);
}
END_TEST

BODY(identity) {
    out[0] = in[0];
}

START_TEST(an_output_that_is_no_scalar_fails_with_a_hint) {
    lam_fn *g = grad(FN(identity, 1, 1));
    ck_assert(lam_failed(apply1(g, VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "grad", "identity", "scalar", "f64[2]", "lam_sum", "lam_jacrev");
    ck_assert(lam_failed(apply1(g, VEC(1))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "grad", "f64[1]", "one element", "lam_squeeze");
}
END_TEST

START_TEST(integer_and_bool_inputs_and_outputs_fail) {
    lam_fn *g = grad(FN(identity, 1, 1));
    ck_assert(lam_failed(apply1(g, lam_ones(ctx, LAM_I32, LAM_DIMS0))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "input 0", "identity", "i32", "cast");
    ck_assert(lam_failed(apply1(g, lam_ones(ctx, LAM_BOOL, LAM_DIMS0))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "bool");
}
END_TEST

BODY(compares) {
    out[0] = lam_gt(in[0], 0);
}

START_TEST(an_integer_output_fails) {
    ck_assert(lam_failed(apply1(grad(FN(compares, 1, 1)), num(1))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "grad", "output 0", "compares", "bool", "cast");
}
END_TEST

BODY(through_other_dtypes) {
    lam_tensor *wide = lam_cast(in[0], LAM_F64);
    out[0] = lam_cast(lam_sum(lam_mul(wide, wide), NULL), LAM_F32);
}

START_TEST(conversions_inside_keep_the_dtype_of_the_input) {
    lam_tensor *g = apply1(grad(FN(through_other_dtypes, 1, 1)), lam_full(ctx, LAM_F32, LAM_DIMS(2, 1), 1.5));
    ck_assert_int_eq(lam_dtype_of(g), LAM_F32);
    EXPECT(g, LAM_DIMS(2, 1), 3, 3);
}
END_TEST

/* sum of w * view(x), with w telling the places apart. */
BODY(through_views) {
    lam_tensor *t = lam_transpose(in[0], (lam_axes){0, NULL});
    lam_tensor *s = lam_slice(t, LAM_DIMS(2, 0), LAM_DIMS(0, 2), LAM_DIMS(-1, 1));
    lam_tensor *wide = lam_broadcast_to(lam_reshape(s, LAM_DIMS(4)), LAM_DIMS(3, 4));
    out[0] = lam_sum(lam_mul(wide, VEC(1, 10, 100, 1000)), NULL);
}

/* x is 2 x 3; the view is [x02, x12, x01, x11], counted three times. */
START_TEST(views_inside) {
    EXPECT(apply1(grad(FN(through_views, 1, 1)), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(2, 3), 0, 300, 3, 0, 3000, 30);
}
END_TEST

BODY(indexes) {
    lam_tensor *row = lam_index(in[0], 0, -1);
    out[0] = lam_mul(lam_index(row, 0, 0), lam_index(row, 0, 1));
}

START_TEST(indexing_inside) {
    EXPECT(apply1(grad(FN(indexes, 1, 1)), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 0, 0, 4, 3);
}
END_TEST

BODY(makes_constants) {
    lam_tensor *weights = lam_arange(ctx, LAM_F64, 1, 4, 1);
    out[0] = lam_sum(lam_mul(lam_add(in[0], lam_ones_like(in[0])), weights), NULL);
}

START_TEST(constants_made_inside) {
    EXPECT(apply1(grad(FN(makes_constants, 1, 1)), VEC(5, 6, 7)), LAM_DIMS(3), 1, 2, 3);
}
END_TEST

BODY(stops) {
    out[0] = lam_mul(lam_stop_gradient(lam_square(in[0])), in[0]);
}

/* c x with c = x^2 held fixed: slope x^2; of that, nothing but the stopped part is left: 0. */
START_TEST(stop_gradient_stops_both_modes_and_all_nested_levels) {
    lam_fn *f = FN(stops, 1, 1);
    lam_tensor *y, *dy;
    EXPECT_NUM(apply1(grad(f), num(3)), 9);
    EXPECT_NUM(apply1(grad(grad(f)), num(3)), 0);
    lam_jvp(f, LAM_LIST(num(3)), LAM_LIST(num(1)), &y, &dy, 1, NULL);
    EXPECT_NUM(y, 27);
    EXPECT_NUM(dy, 9);
    EXPECT(apply1(lam_vmap(grad(f), NULL), VEC(1, 2)), LAM_DIMS(2), 1, 4);
}
END_TEST

BODY(branches_on_its_value) {
    out[0] = lam_item(in[0]) > 0 ? lam_square(in[0]) : lam_neg(in[0]);
}

/* Under grad and jvp the values are known, so C's own control flow works. */
START_TEST(branching_on_a_value) {
    lam_fn *f = FN(branches_on_its_value, 1, 1);
    EXPECT_NUM(apply1(grad(f), num(3)), 6);
    EXPECT_NUM(apply1(grad(f), num(-3)), -1);
    EXPECT_NUM(apply1(grad(grad(f)), num(3)), 2);
}
END_TEST

BODY(three_outputs) {
    out[0] = lam_square(in[0]);
    out[1] = out[2] = in[0];
}

START_TEST(value_and_grad_runs_once_and_gives_both) {
    lam_tensor *out[4];
    lam_call(lam_value_and_grad(FN(three_outputs, 1, 3), &(lam_grad_options){.has_aux = 2}), LAM_LIST(num(3)), out, 4);
    EXPECT_NUM(out[0], 9);
    EXPECT_NUM(out[1], 6);
    EXPECT_NUM(out[2], 3);
    EXPECT_NUM(out[3], 3);
}
END_TEST

START_TEST(options_are_copied) {
    int items[1] = {0};
    lam_grad_options o = {.argnums = {1, items}};
    lam_fn *g = lam_grad(FN(value_used_twice, 1, 1), &o);
    items[0] = 9;
    o.has_aux = 5;
    EXPECT_NUM(apply1(g, num(2)), 40);
}
END_TEST

BODY(identity_to_itself) {
    out[0] = in[0];
}

START_TEST(the_identity_has_gradient_one) {
    EXPECT_NUM(apply1(grad(FN(identity_to_itself, 1, 1)), num(3)), 1);
    EXPECT_NUM(apply1(grad(grad(FN(identity_to_itself, 1, 1))), num(3)), 0);
}
END_TEST

START_TEST(an_empty_input) {
    EXPECT_EMPTY(apply1(grad(FN(ignores_the_second, 1, 1)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3))), LAM_DIMS(0, 3));
}
END_TEST

Suite *suite_transforms_grad(void) {
    return SUITE_OF("transforms/grad", composites, second_derivative_of_sine, sixth_derivative_of_the_reciprocal,
                    a_value_used_twice_accumulates, unrelated_outputs_and_unused_inputs_give_zeros,
                    an_output_that_is_no_scalar_fails_with_a_hint, integer_and_bool_inputs_and_outputs_fail,
                    an_integer_output_fails, conversions_inside_keep_the_dtype_of_the_input, views_inside,
                    indexing_inside, constants_made_inside, stop_gradient_stops_both_modes_and_all_nested_levels,
                    branching_on_a_value, value_and_grad_runs_once_and_gives_both, options_are_copied,
                    the_identity_has_gradient_one, an_empty_input);
}
