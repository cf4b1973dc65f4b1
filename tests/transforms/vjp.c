/* vjp and its pullback. Expected values are worked out by hand. */
#include "tests/dispatch/probe.h"
#include "tests/support.h"

/* x y and x + y, of vectors. */
BODY(product_and_sum) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_add(in[0], in[1]);
}

static lam_fn *pullback_of(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out) {
    lam_fn *pullback = NULL;
    ck_assert_int_eq(lam_vjp(f, primals, out, n_out, &pullback, NULL), LAM_OK);
    return pullback;
}

START_TEST(several_inputs_and_outputs) {
    lam_tensor *out[2], *gx[2];
    lam_fn *pullback = pullback_of(FN(product_and_sum, 2, 2), LAM_LIST(VEC(2, 3), VEC(5, 7)), out, 2);
    EXPECT(out[0], LAM_DIMS(2), 10, 21);
    EXPECT(out[1], LAM_DIMS(2), 7, 10);
    ck_assert_int_eq(lam_fn_inputs(pullback), 2);
    ck_assert_int_eq(lam_fn_outputs(pullback), 2);
    lam_call(pullback, LAM_LIST(VEC(1, 10), VEC(100, 1000)), gx, 2);
    EXPECT(gx[0], LAM_DIMS(2), 105, 1070);
    EXPECT(gx[1], LAM_DIMS(2), 102, 1030);
}
END_TEST

START_TEST(a_null_cotangent_is_zero) {
    lam_tensor *out[2], *gx[2];
    lam_fn *pullback = pullback_of(FN(product_and_sum, 2, 2), LAM_LIST(VEC(2, 3), VEC(5, 7)), out, 2);
    lam_call(pullback, LAM_LIST(NULL, VEC(1, 2)), gx, 2);
    EXPECT(gx[0], LAM_DIMS(2), 1, 2);
    lam_call(pullback, LAM_LIST(NULL, NULL), gx, 2);
    EXPECT(gx[1], LAM_DIMS(2), 0, 0);
}
END_TEST

START_TEST(a_pullback_can_be_called_again_and_after_its_level_has_ended) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_tensor *out[2], *gx[2];
    lam_fn *pullback = lam_fn_hold(pullback_of(FN(product_and_sum, 2, 2), LAM_LIST(VEC(2, 3), VEC(5, 7)), out, 2));
    lam_scope_end(scope, NULL, 0);
    for (int i = 0; i < 3; i++) {
        lam_call(pullback, LAM_LIST(VEC(1, 10), NULL), gx, 2);
        EXPECT(gx[0], LAM_DIMS(2), 5, 70);
        EXPECT(gx[1], LAM_DIMS(2), 2, 30);
    }
    lam_fn_release(pullback);
}
END_TEST

BODY(same_value_twice) {
    out[0] = out[1] = lam_square(in[0]);
}

START_TEST(one_value_returned_twice_gets_both_cotangents) {
    lam_tensor *out[2];
    lam_fn *pullback = pullback_of(FN(same_value_twice, 1, 2), LAM_LIST(num(3)), out, 2);
    EXPECT_NUM(apply2(pullback, num(1), num(10)), 66);
}
END_TEST

BODY(swaps) {
    out[0] = in[1];
    out[1] = in[0];
}

START_TEST(inputs_returned_as_they_are) {
    lam_tensor *out[2], *gx[2];
    lam_fn *pullback = pullback_of(FN(swaps, 2, 2), LAM_LIST(num(3), num(4)), out, 2);
    EXPECT_NUM(out[0], 4);
    lam_call(pullback, LAM_LIST(num(1), num(10)), gx, 2);
    EXPECT_NUM(gx[0], 10);
    EXPECT_NUM(gx[1], 1);
}
END_TEST

START_TEST(cotangents_that_do_not_fit_are_refused) {
    lam_tensor *out[2], *gx[2];
    lam_fn *pullback = pullback_of(FN(product_and_sum, 2, 2), LAM_LIST(VEC(2, 3), VEC(5, 7)), out, 2);
    lam_call(pullback, LAM_LIST(VEC(1, 2)), gx, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "pullback(product_and_sum)", "2 inputs", "1 and 2");
    lam_call(pullback, LAM_LIST(NULL, VEC(1, 2, 3)), gx, 2);
    EXPECT_ERROR(LAM_ERR_SHAPE, "pullback", "cotangent 1", "f64[3] given", "f64[2] expected");
    lam_call(pullback, LAM_LIST(lam_ones(ctx, LAM_F32, LAM_DIMS(2)), NULL), gx, 2);
    EXPECT_ERROR(LAM_ERR_DTYPE, "cotangent 0", "f32[2] given", "f64[2] expected");
}
END_TEST

BODY(integer_output) {
    out[0] = lam_cast(in[0], LAM_I32);
}

START_TEST(an_integer_output_is_refused) {
    lam_tensor *out;
    lam_fn *pullback;
    ck_assert_int_eq(lam_vjp(FN(integer_output, 1, 1), LAM_LIST(num(1)), &out, 1, &pullback, NULL), LAM_ERR_DTYPE);
    ck_assert(lam_failed(pullback) && lam_failed(out));
    EXPECT_ERROR(LAM_ERR_DTYPE, "vjp", "output 0", "integer_output", "i32", "has_aux");
}
END_TEST

BODY(scales_by_integer) {
    out[0] = lam_mul(in[1], in[0]);
}

START_TEST(integer_inputs_are_left_out_unless_asked_for) {
    lam_tensor *out, *two = lam_full(ctx, LAM_I32, LAM_DIMS0, 2);
    lam_fn *f = FN(scales_by_integer, 2, 1), *pullback = pullback_of(f, LAM_LIST(two, num(5)), &out, 1);
    ck_assert_int_eq(lam_fn_outputs(pullback), 1);
    EXPECT_NUM(apply1(pullback, num(10)), 20);
    lam_grad_options o = {.argnums = LAM_AXES(0)};
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(two, num(5)), &out, 1, &pullback, &o), LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "vjp", "input 0", "i32");
}
END_TEST

START_TEST(wrong_counts_are_refused) {
    lam_tensor *out[2];
    lam_fn *pullback, *f = FN(product_and_sum, 2, 2);
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(num(1)), out, 2, &pullback, NULL), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "vjp", "1 primals", "2 expected");
    ck_assert_int_eq(lam_vjp(f, (lam_list){2, NULL}, out, 2, &pullback, NULL), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "vjp", "no items given", "2 primals");
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(num(1), num(2)), out, 1, &pullback, NULL), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "vjp", "1 outputs", "2 outputs");
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(num(1), num(2)), out, 2, NULL, NULL), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "vjp", "pullback is NULL");
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(num(1), NULL), out, 2, &pullback, NULL), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "vjp", "number 1 of the primals");
}
END_TEST

/* ---- with other transforms --------------------------------------------------------------------------------------- */

BODY(squares) {
    out[0] = lam_square(in[0]);
}

START_TEST(vmap_of_a_pullback) {
    lam_tensor *out;
    lam_fn *pullback = pullback_of(FN(squares, 1, 1), LAM_LIST(VEC(2, 3)), &out, 1);
    EXPECT(apply1(lam_vmap(pullback, NULL), MAT(2, 2, 1, 0, 0, 1)), LAM_DIMS(2, 2), 4, 0, 0, 6);
}
END_TEST

BODY(calls_pullback) {
    out[0] = lam_sum(lam_square(apply1(env, in[0])), NULL);
}

/* The pullback is g -> 2 x g; the sum of (2 x g)^2 has gradient 8 x^2 g by g. */
START_TEST(gradient_of_a_pullback_by_its_cotangent) {
    lam_tensor *out;
    lam_fn *pullback = pullback_of(FN(squares, 1, 1), LAM_LIST(VEC(2, 3)), &out, 1);
    EXPECT(apply1(lam_grad(FN_ENV(calls_pullback, 1, 1, pullback), NULL), VEC(1, 2)), LAM_DIMS(2), 32, 144);
}
END_TEST

BODY(cube) {
    out[0] = lam_mul(in[0], lam_square(in[0]));
}

START_TEST(vjp_of_grad) {
    lam_tensor *out;
    lam_fn *pullback = pullback_of(lam_grad(FN(cube, 1, 1), NULL), LAM_LIST(num(2)), &out, 1);
    EXPECT_NUM(out, 12);
    EXPECT_NUM(apply1(pullback, num(10)), 120);
}
END_TEST

BODY(pulls_inside) {
    lam_tensor *y;
    lam_fn *pullback = NULL;
    lam_vjp(lam_grad(FN(cube, 1, 1), NULL), LAM_LIST(in[0]), &y, 1, &pullback, NULL);
    out[0] = apply1(pullback, in[0]);
}

/* The vjp of 3 x^2 at x with cotangent x is 6 x^2; its gradient is 12 x. */
START_TEST(grad_of_vjp_of_grad) {
    EXPECT_NUM(apply1(FN(pulls_inside, 1, 1), num(2)), 24);
    EXPECT_NUM(apply1(lam_grad(FN(pulls_inside, 1, 1), NULL), num(2)), 24);
    EXPECT(apply1(lam_vmap(lam_grad(FN(pulls_inside, 1, 1), NULL), NULL), VEC(1, 2)), LAM_DIMS(2), 12, 24);
}
END_TEST

/* ---- work that is not done, memory that is not kept -------------------------------------------------------------- */

BODY(probes_both) {
    lam_tensor *dead = probe(lam_square(in[0]));
    (void)dead;
    out[0] = lam_add(probe(in[0]), probe(in[1]));
}

START_TEST(unwanted_gradients_and_dead_work_cost_nothing_backward) {
    lam_tensor *out;
    lam_fn *pullback;
    probed = (probe_counts){0};
    lam_vjp(FN(probes_both, 2, 1), LAM_LIST(num(1), num(2)), &out, 1, &pullback,
            &(lam_grad_options){.argnums = LAM_AXES(1)});
    ck_assert_int_eq(probed.eval, 3);
    EXPECT_NUM(apply1(pullback, num(5)), 5);
    ck_assert_int_eq(probed.vjp, 1);
    ck_assert_int_eq(probed.eval, 4);
}
END_TEST

BODY(probes_two_outputs) {
    out[0] = probe(in[0]);
    out[1] = probe(probe(in[0]));
}

START_TEST(an_output_without_cotangent_is_not_walked) {
    lam_tensor *out[2];
    lam_fn *pullback = pullback_of(FN(probes_two_outputs, 1, 2), LAM_LIST(num(1)), out, 2);
    probed = (probe_counts){0};
    EXPECT_NUM(apply2(pullback, num(5), NULL), 5);
    ck_assert_int_eq(probed.vjp, 1);
}
END_TEST

enum { WIDE = 10000, DEEP = 40 };

BODY(deep_and_wide) {
    out[0] = in[0];
    for (int i = 0; i < DEEP; i++) out[0] = lam_add(lam_neg(out[0]), 1.0);
    out[0] = lam_sum(out[0], NULL);
}

/* The way back through 80 operations holds a few cotangents at a time, not 80. */
START_TEST(cotangents_are_released_as_soon_as_used) {
    lam_tensor *y;
    lam_fn *pullback = pullback_of(FN(deep_and_wide, 1, 1), LAM_LIST(lam_ones(ctx, LAM_F64, LAM_DIMS(WIDE))), &y, 1);
    lam_ctx_reset_peak(ctx);
    size_t bytes = lam_ctx_bytes(ctx);
    EXPECT_NUM(lam_sum(apply1(pullback, num(1)), NULL), WIDE);
    ck_assert_uint_le((lam_ctx_peak_bytes(ctx) - bytes) / (WIDE * sizeof(double)), 4);
}
END_TEST

BODY(rebinds_through_a_chain) {
    lam_tensor *x = lam_alias(in[0]);
    for (int i = 0; i < DEEP; i++) lam_add_(x, num(1));
    out[0] = lam_sum(x, NULL);
}

START_TEST(the_tape_saves_only_what_derivatives_read) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(WIDE));
    lam_fn *g = lam_grad(FN(rebinds_through_a_chain, 1, 1), NULL);
    lam_ctx_reset_peak(ctx);
    size_t bytes = lam_ctx_bytes(ctx);
    EXPECT_NUM(lam_sum(apply1(g, x), NULL), WIDE);
    ck_assert_uint_le((lam_ctx_peak_bytes(ctx) - bytes) / (WIDE * sizeof(double)), 4);
}
END_TEST

enum { FACTORS = 16 };

BODY(multiplied_by_constants) {
    lam_tensor *x = lam_alias(in[0]);
    for (int i = 0; i < FACTORS; i++) lam_mul_(x, env);
    out[0] = lam_sum(x, NULL);
}

/* x c c c ...: gradients of x read c, which is there once; the products are read by gradients of c alone, which is a
 * constant. */
START_TEST(what_gradients_of_constants_would_read_is_not_saved) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(WIDE));
    lam_fn *g = lam_grad(FN_ENV(multiplied_by_constants, 1, 1, x), NULL);
    lam_ctx_reset_peak(ctx);
    size_t bytes = lam_ctx_bytes(ctx);
    EXPECT_NUM(lam_sum(apply1(g, x), NULL), WIDE);
    ck_assert_uint_le((lam_ctx_peak_bytes(ctx) - bytes) / (WIDE * sizeof(double)), 4);
}
END_TEST

BODY(product_of_all) {
    out[0] = in[0];
    for (int i = 1; i < FACTORS; i++) out[0] = lam_mul(out[0], in[i]);
    out[0] = lam_sum(out[0], NULL);
}

/* Each step of the way back makes a gradient and is done with a product that was saved, so that there are never more
 * than about as many wide values as factors; products that stayed until the end would make it twice that. */
START_TEST(what_was_saved_is_released_as_soon_as_used) {
    lam_tensor *x[FACTORS], *gx[FACTORS];
    for (int i = 0; i < FACTORS; i++) x[i] = lam_ones(ctx, LAM_F64, LAM_DIMS(WIDE));
    lam_fn *g =
        lam_grad(FN(product_of_all, FACTORS, 1), &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, FACTORS))});
    lam_ctx_reset_peak(ctx);
    size_t bytes = lam_ctx_bytes(ctx);
    ck_assert_int_eq(lam_call(g, (lam_list){FACTORS, x}, gx, FACTORS), LAM_OK);
    ck_assert_uint_le((lam_ctx_peak_bytes(ctx) - bytes) / (WIDE * sizeof(double)), FACTORS + 4);
    for (int i = 0; i < FACTORS; i++) EXPECT_NUM(lam_sum(gx[i], NULL), WIDE);
}
END_TEST

Suite *suite_transforms_vjp(void) {
    return SUITE_OF("transforms/vjp", several_inputs_and_outputs, a_null_cotangent_is_zero,
                    a_pullback_can_be_called_again_and_after_its_level_has_ended,
                    one_value_returned_twice_gets_both_cotangents, inputs_returned_as_they_are,
                    cotangents_that_do_not_fit_are_refused, an_integer_output_is_refused,
                    integer_inputs_are_left_out_unless_asked_for, wrong_counts_are_refused, vmap_of_a_pullback,
                    gradient_of_a_pullback_by_its_cotangent, vjp_of_grad, grad_of_vjp_of_grad,
                    unwanted_gradients_and_dead_work_cost_nothing_backward, an_output_without_cotangent_is_not_walked,
                    cotangents_are_released_as_soon_as_used, what_was_saved_is_released_as_soon_as_used,
                    the_tape_saves_only_what_derivatives_read, what_gradients_of_constants_would_read_is_not_saved);
}
