/* Forward mode. Expected values are worked out by hand. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

/* x y and x + 2 y. */
BODY(product_and_sum) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_add(in[0], lam_mul(2.0, in[1]));
}

START_TEST(several_inputs_and_outputs) {
    lam_tensor *y[2], *dy[2];
    lam_fn *f = FN(product_and_sum, 2, 2);
    lam_status status = lam_jvp(f, LAM_LIST(num(3), num(5)), LAM_LIST(num(1), num(10)), y, dy, 2, NULL);
    ck_assert_int_eq(status, LAM_OK);
    EXPECT_NUM(y[0], 15);
    EXPECT_NUM(y[1], 13);
    EXPECT_NUM(dy[0], 35);
    EXPECT_NUM(dy[1], 21);
}
END_TEST

START_TEST(as_a_function_it_takes_primals_then_tangents) {
    lam_tensor *out[4];
    lam_fn *f = lam_jvp_fn(FN(product_and_sum, 2, 2), NULL);
    lam_call(f, LAM_LIST(num(3), num(5), num(1), NULL), out, 4);
    EXPECT_NUM(out[0], 15);
    EXPECT_NUM(out[1], 13);
    EXPECT_NUM(out[2], 5);
    EXPECT_NUM(out[3], 1);
}
END_TEST

START_TEST(a_null_tangent_is_zero_and_costs_nothing) {
    lam_tensor *y[2], *dy[2];
    lam_fn *f = FN(product_and_sum, 2, 2);
    lam_jvp(f, LAM_LIST(num(3), num(5)), LAM_LIST(NULL, num(1)), y, dy, 2, NULL);
    EXPECT_NUM(dy[0], 3);
    EXPECT_NUM(dy[1], 2);
    lam_jvp(f, LAM_LIST(num(3), num(5)), LAM_LIST(NULL, NULL), y, dy, 2, NULL);
    EXPECT_NUM(dy[0], 0);
    EXPECT_NUM(y[0], 15);
}
END_TEST

BODY(probes) {
    out[0] = lam_add(probe(in[0]), in[1]);
}

START_TEST(what_has_no_tangent_is_not_differentiated) {
    lam_tensor *y, *dy;
    probed = (probe_counts){0};
    lam_jvp(FN(probes, 2, 1), LAM_LIST(num(3), num(5)), LAM_LIST(NULL, num(1)), &y, &dy, 1, NULL);
    EXPECT_NUM(dy, 1);
    ck_assert_int_eq(probed.jvp, 0);
    ck_assert_int_eq(probed.eval, 1);
}
END_TEST

START_TEST(argnums_choose_the_tangents) {
    lam_tensor *y[2], *dy[2];
    lam_jvp(FN(product_and_sum, 2, 2), LAM_LIST(num(3), num(5)), LAM_LIST(num(1)), y, dy, 2,
            &(lam_grad_options){.argnums = LAM_AXES(-1)});
    EXPECT_NUM(dy[0], 3);
}
END_TEST

static void expect_refused(lam_list tangents, lam_status status, const char *text) {
    lam_tensor *y[2], *dy[2];
    lam_fn *f = FN(product_and_sum, 2, 2);
    ck_assert_int_ne(lam_jvp(f, LAM_LIST(VEC(3, 4), VEC(5, 6)), tangents, y, dy, 2, NULL), LAM_OK);
    ck_assert(lam_failed(y[0]) && lam_failed(dy[1]));
    EXPECT_ERROR(status, "jvp", "product_and_sum", text);
}

START_TEST(tangents_that_do_not_fit_are_refused) {
    expect_refused(LAM_LIST(VEC(1, 2)), LAM_ERR_ARITY, "1 tangents given, 2 expected");
    expect_refused(LAM_LIST(VEC(1, 2), VEC(1)), LAM_ERR_SHAPE, "tangent 1 does not fit: f64[1] given, f64[2] expected");
    expect_refused(LAM_LIST(NULL, lam_ones(ctx, LAM_F32, LAM_DIMS(2))), LAM_ERR_DTYPE, "f32[2] given, f64[2] expected");
    lam_tensor *y, *dy, *both[2];
    lam_jvp(FN(product_and_sum, 2, 2), LAM_LIST(num(1), num(2)), LAM_LIST(NULL, NULL), &y, &dy, 1, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "jvp", "1 outputs given, 2 expected");
    lam_jvp(FN(product_and_sum, 2, 2), LAM_LIST(num(1), num(2)), LAM_LIST(NULL, NULL), both, NULL, 2, NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "jvp", "no room for tangents", "lam_call");
}
END_TEST

BODY(scales_by_integer) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_cast(in[1], LAM_I32);
}

START_TEST(integer_inputs_take_null_and_integer_outputs_have_zero_tangents) {
    lam_tensor *y[2], *dy[2], *two = lam_full(ctx, LAM_I32, LAM_DIMS0, 2);
    lam_fn *f = FN(scales_by_integer, 2, 2);
    lam_jvp(f, LAM_LIST(two, num(5)), LAM_LIST(NULL, num(1)), y, dy, 2, NULL);
    EXPECT_NUM(dy[0], 2);
    EXPECT_NUM(dy[1], 0);
    lam_jvp(f, LAM_LIST(two, num(5)), LAM_LIST(two, num(1)), y, dy, 2, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "jvp", "input 0", "i32");
}
END_TEST

BODY(unrelated) {
    out[0] = lam_ones(ctx, LAM_F32, LAM_DIMS(2));
}

START_TEST(an_unrelated_output_has_a_zero_tangent_of_its_own_type) {
    lam_tensor *y, *dy;
    lam_jvp(FN(unrelated, 1, 1), LAM_LIST(num(1)), LAM_LIST(num(1)), &y, &dy, 1, NULL);
    ck_assert_int_eq(lam_dtype_of(dy), LAM_F32);
    EXPECT(dy, LAM_DIMS(2), 0, 0);
}
END_TEST

/* ---- nested and with other transforms ---------------------------------------------------------------------------- */

BODY(cube) {
    out[0] = lam_mul(in[0], lam_square(in[0]));
}

BODY(tangent_of_env) {
    lam_tensor *y, *dy;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &y, &dy, 1, NULL);
    out[0] = dy;
}

static lam_fn *forward(lam_fn *f) {
    return FN_ENV(tangent_of_env, 1, 1, f);
}

START_TEST(nested_forward_mode) {
    lam_fn *f = FN(cube, 1, 1);
    EXPECT_NUM(apply1(forward(f), num(2)), 12);
    EXPECT_NUM(apply1(forward(forward(f)), num(2)), 12);
    EXPECT_NUM(apply1(forward(forward(forward(f))), num(2)), 6);
    EXPECT_NUM(apply1(forward(forward(forward(forward(f)))), num(2)), 0);
}
END_TEST

START_TEST(forward_over_reverse_and_reverse_over_forward) {
    lam_fn *f = FN(cube, 1, 1);
    EXPECT_NUM(apply1(forward(lam_grad(f, NULL)), num(2)), 12);
    EXPECT_NUM(apply1(lam_grad(forward(f), NULL), num(2)), 12);
    EXPECT_NUM(apply1(lam_grad(forward(lam_grad(f, NULL)), NULL), num(2)), 6);
}
END_TEST

START_TEST(jvp_of_vmap_and_vmap_of_jvp) {
    lam_fn *f = FN(cube, 1, 1);
    EXPECT(apply1(lam_vmap(forward(f), NULL), VEC(1, 2)), LAM_DIMS(2), 3, 12);
    EXPECT(apply1(forward(lam_vmap(f, NULL)), VEC(1, 2)), LAM_DIMS(2), 3, 12);
    lam_tensor *out[2];
    lam_vmap_options o = {.in_axes = LAM_AXES(LAM_UNMAPPED, 0), .out_axes = LAM_AXES(LAM_UNMAPPED, 0)};
    lam_call(lam_vmap(lam_jvp_fn(f, NULL), &o), LAM_LIST(num(2), VEC(1, 10)), out, 2);
    EXPECT_NUM(out[0], 8);
    EXPECT(out[1], LAM_DIMS(2), 12, 120);
}
END_TEST

BODY(updates_in_place) {
    lam_tensor *x = lam_alias(in[0]), *view = lam_slice_axis(x, 0, 0, 1);
    lam_mul_(x, in[0]);
    out[0] = lam_add(lam_sum(x, NULL), lam_sum(view, NULL));
}

/* Of (a, b): a^2 + b^2 + a. */
START_TEST(updates_in_place_inside) {
    lam_tensor *y, *dy;
    lam_jvp(FN(updates_in_place, 1, 1), LAM_LIST(VEC(2, 3)), LAM_LIST(VEC(1, 10)), &y, &dy, 1, NULL);
    EXPECT_NUM(y, 15);
    EXPECT_NUM(dy, 4 + 60 + 1);
}
END_TEST

Suite *suite_transforms_jvp(void) {
    return SUITE_OF("transforms/jvp", several_inputs_and_outputs, as_a_function_it_takes_primals_then_tangents,
                    a_null_tangent_is_zero_and_costs_nothing, what_has_no_tangent_is_not_differentiated,
                    argnums_choose_the_tangents, tangents_that_do_not_fit_are_refused,
                    integer_inputs_take_null_and_integer_outputs_have_zero_tangents,
                    an_unrelated_output_has_a_zero_tangent_of_its_own_type, nested_forward_mode,
                    forward_over_reverse_and_reverse_over_forward, jvp_of_vmap_and_vmap_of_jvp,
                    updates_in_place_inside);
}
