/* Linear Functions whose forward is foreign code, where a level records what functions do: lam_linearize,
 * lam_linear_transpose, lam_jacobian, and rules whose transpose is derived. Such a Function is recorded whole. Its
 * backward is five times the true one, so that the value tells which rule ran; forward is the jvp. Expected values by
 * hand. */
#include "tests/custom/callbacks.h"

/* Weights (integers, saved) and x (floating): the products, by a loop over raw numbers. */
FORWARD(weigh_forward) {
    const int64_t *w = lam_data(lam_contiguous(in[0]));
    const double *x = lam_data(lam_contiguous(in[1]));
    double product[8];
    int64_t n = lam_size(in[1]);
    if (!w || !x || n > 8) {
        lam_fail(ctx, LAM_ERR_USER, "no raw data");
        return;
    }
    for (int64_t i = 0; i < n; i++) product[i] = (double)w[i] * x[i];
    out[0] = lam_array(ctx, LAM_F64, lam_dims_of(in[1]), product);
}

SETUP(weigh_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

static const lam_function weigh;

BACKWARD(weigh_backward) {
    gx[1] = lam_mul(5.0, call_function(&weigh, NULL, LAM_LIST(lam_fctx_saved(fc, 0), g[0])));
}

/* The weights are never batched in these tests. */
VMAP(weigh_vmap) {
    lam_tensor *w = lam_broadcast_to(in[0], lam_dims_of(lam_moveaxis(in[1], in_axes[1], 0)));
    out[0] = call_function(&weigh, NULL, LAM_LIST(w, lam_moveaxis(in[1], in_axes[1], 0)));
    out_axes[0] = 0;
}

static void second_type(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    (void)fc;
    out[0] = in[1];
}

static const lam_function weigh = {.name = "weigh",
                                   .inputs = 2,
                                   .outputs = 1,
                                   .forward = weigh_forward,
                                   .setup_context = weigh_setup,
                                   .backward = weigh_backward,
                                   .vmap = weigh_vmap,
                                   .shape = second_type,
                                   .is_linear = true};

static lam_tensor *weights(void) {
    return lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){2, 3});
}

BODY(weighed) {
    out[0] = call_function(env ? env : (void *)(uintptr_t)&weigh, NULL, LAM_LIST(weights(), in[0]));
}

START_TEST(transpose_uses_backward) {
    lam_fn *back = lam_linear_transpose(FN(weighed, 1, 1), LAM_LIST(VEC(0, 0)));
    EXPECT(apply1(back, VEC(1, 10)), LAM_DIMS(2), 10, 150);
    EXPECT(apply1(lam_vmap(back, NULL), MAT(2, 2, 1, 10, 0, 1)), LAM_DIMS(2, 2), 10, 150, 0, 15);
    EXPECT(apply1(lam_jacfwd(back, NULL), VEC(0, 0)), LAM_DIMS(2, 2), 10, 0, 0, 15);
    EXPECT(apply1(lam_linear_transpose(back, LAM_LIST(VEC(0, 0))), VEC(1, 1)), LAM_DIMS(2), 50, 75);
}
END_TEST

/* One output of two inputs: lam_jacobian transposes. */
BODY(sum_of_weighed) {
    weighed(ctx, in, out, env);
    out[0] = lam_sum(out[0], NULL);
}

START_TEST(forward_mode_applies_the_function) {
    lam_fn *f = FN(weighed, 1, 1), *linear;
    lam_tensor *value;
    EXPECT(apply1(forward_of(f), VEC(7, 7)), LAM_DIMS(2), 2, 3);
    EXPECT(apply1(lam_jacfwd(lam_vmap(f, NULL), NULL), MAT(1, 2, 7, 7)), LAM_DIMS(1, 2, 1, 2), 2, 0, 0, 3);
    lam_linearize(f, LAM_LIST(VEC(7, 7)), &value, 1, &linear, NULL);
    EXPECT(value, LAM_DIMS(2), 14, 21);
    EXPECT(apply1(linear, VEC(1, 10)), LAM_DIMS(2), 2, 30);
    EXPECT(apply1(lam_linear_transpose(linear, LAM_LIST(VEC(0, 0))), VEC(1, 10)), LAM_DIMS(2), 10, 150);
    EXPECT(apply1(lam_jacobian(f, NULL), VEC(7, 7)), LAM_DIMS(2, 2), 2, 0, 0, 3);
    EXPECT(apply1(lam_jacobian(FN(sum_of_weighed, 1, 1), NULL), VEC(7, 7)), LAM_DIMS(2), 10, 15);
}
END_TEST

/* w x + w y, of which y may be left out. */
FORWARD(weigh_sum) {
    lam_tensor *pair[] = {in[0], in[2] ? lam_add(in[1], in[2]) : in[1]};
    weigh_forward(fc, pair, out);
}

BACKWARD(weigh_sum_backward) {
    weigh_backward(fc, g, gx);
    if (lam_fctx_needs_input_grad(fc, 2)) gx[2] = lam_mul(100.0, g[0]);
}

BODY(weighed_sum) {
    lam_function f = weigh;
    f.inputs = 3;
    f.forward = weigh_sum;
    f.backward = weigh_sum_backward;
    out[0] = call_function(&f, NULL, LAM_LIST(weights(), in[0], env ? *(lam_tensor **)env : NULL));
}

BODY(weighed_pair) {
    lam_tensor *y = in[1];
    weighed_sum(ctx, in, out, &y);
}

START_TEST(constants_and_holes_beside_variables) {
    lam_tensor *x = VEC(0, 0), *zero = lam_zeros(ctx, LAM_F64, LAM_DIMS(2)), *one = VEC(1, 1), *g[2];
    EXPECT(apply1(lam_linear_transpose(FN(weighed_sum, 1, 1), LAM_LIST(x)), VEC(1, 1)), LAM_DIMS(2), 10, 15);
    EXPECT(apply1(lam_linear_transpose(FN_ENV(weighed_sum, 1, 1, &zero), LAM_LIST(x)), VEC(1, 1)), LAM_DIMS(2), 10, 15);
    lam_linear_transpose(FN_ENV(weighed_sum, 1, 1, &one), LAM_LIST(x));
    EXPECT_ERROR(LAM_ERR_LINEAR, "weighed_sum", "weigh adds a constant that is not zero");
    lam_call(lam_linear_transpose(FN(weighed_pair, 2, 1), LAM_LIST(x, x)), LAM_LIST(one), g, 2);
    EXPECT(g[0], LAM_DIMS(2), 10, 15);
    EXPECT(g[1], LAM_DIMS(2), 100, 100);
}
END_TEST

/* w x, and its negative, of which only one may have a cotangent. */
FORWARD(weigh_twice) {
    weigh_forward(fc, in, out);
    out[1] = lam_neg(out[0]);
}

BACKWARD(weigh_twice_backward) {
    gx[1] = lam_add(g[0], lam_mul(1000.0, g[1]));
}

static void two_types(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    second_type(fc, in, out);
    second_type(fc, in, out + 1);
}

BODY(weighed_twice) {
    lam_function f = weigh;
    f.outputs = 2;
    f.forward = weigh_twice;
    f.backward = weigh_twice_backward;
    f.shape = two_types;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(weights(), in[0]), out, 2);
}

START_TEST(absent_cotangents_are_zeros) {
    lam_fn *back = lam_linear_transpose(FN(weighed_twice, 1, 2), LAM_LIST(VEC(0, 0)));
    EXPECT(lam_apply(back, LAM_LIST(VEC(1, 2), VEC(3, 4))), LAM_DIMS(2), 3001, 4002);
    EXPECT(lam_apply(back, LAM_LIST(VEC(1, 2), NULL)), LAM_DIMS(2), 1, 2);
    EXPECT(lam_apply(back, LAM_LIST(NULL, VEC(3, 4))), LAM_DIMS(2), 3000, 4000);
    EXPECT(lam_apply(back, LAM_LIST(NULL, NULL)), LAM_DIMS(2), 0, 0);
}
END_TEST

SETUP(saves_variable) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[1]));
}

BACKWARD(reads_variable) {
    gx[1] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

SETUP(saves_twice) {
    weigh_setup(fc, in, out);
    weigh_setup(fc, in, out);
}

/* What a linear Function must not do there, each with a message of its own. */
START_TEST(refusals) {
    lam_function f = weigh;
    f.shape = NULL;
    lam_linear_transpose(FN_ENV(weighed, 1, 1, &f), LAM_LIST(VEC(0, 0)));
    EXPECT_ERROR(LAM_ERR_ABSTRACT, "lam_data", "'weigh' (forward)", "traced");
    f = weigh;
    f.setup_context = saves_twice;
    lam_linear_transpose(FN_ENV(weighed, 1, 1, &f), LAM_LIST(VEC(0, 0)));
    EXPECT_ERROR(LAM_ERR_RULE, "'weigh', setup_context", "called twice");
    f.setup_context = saves_variable;
    f.backward = reads_variable;
    lam_fn *back = lam_linear_transpose(FN_ENV(weighed, 1, 1, &f), LAM_LIST(VEC(0, 0)));
    EXPECT_OK();
    apply1(back, VEC(1, 1));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "'weigh' (backward)");
    EXPECT(apply1(lam_grad(FN_ENV(sum_of, 1, 1, FN_ENV(weighed, 1, 1, &f)), NULL), VEC(1, 2)), LAM_DIMS(2), 1, 2);
}
END_TEST

/* With as many axes as a tensor may have; under vmap its rule sees one more, which a shape callback has no room for. */
BODY(weighed_high) {
    int64_t dims[LAM_MAX_RANK];
    for (int i = 0; i < LAM_MAX_RANK; i++) dims[i] = i + 1 < LAM_MAX_RANK ? 1 : 2;
    lam_tensor *x = lam_reshape(in[0], (lam_dims){LAM_MAX_RANK, dims});
    out[0] = lam_reshape(call_function(&weigh, NULL, LAM_LIST(weights(), x)), LAM_DIMS(2));
}

START_TEST(axes_that_a_shape_callback_cannot_be_told) {
    lam_fn *f = FN(weighed_high, 1, 1), *each = lam_vmap(f, NULL);
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(apply1(lam_linear_transpose(f, LAM_LIST(VEC(0, 0))), VEC(1, 10)), LAM_DIMS(2), 10, 150);
    EXPECT(apply1(each, x), LAM_DIMS(2, 2), 2, 6, 6, 12);
    ck_assert(lam_failed(lam_linear_transpose(each, LAM_LIST(x))));
    EXPECT_ERROR(LAM_ERR_RANK, "weigh", "has 17 axes", "shape callback", "remedy");
}
END_TEST

/* ---- ways back through loops ------------------------------------------------------------------------------------- */

BODY(is_below_one) {
    out[0] = lam_lt(in[0], 1.0);
}

BODY(twice) {
    out[0] = lam_mul(2.0, in[0]);
}

/* Doubled until it is 1 or more. */
BODY(doubled) {
    lam_while(FN(is_below_one, 1, 1), FN(twice, 1, 1), LAM_LIST(in[0]), out, 1);
}

FORWARD(doubled_forward) {
    out[0] = apply1(FN(doubled, 1, 1), in[0]);
}

SETUP(doubled_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

/* Three times the derivative, which is 2 for each trip. */
BACKWARD(doubled_backward) {
    lam_fn *pullback;
    lam_tensor *y;
    lam_vjp(FN(doubled, 1, 1), LAM_LIST(lam_fctx_saved(fc, 0)), &y, 1, &pullback, NULL);
    gx[0] = lam_mul(3.0, apply1(pullback, g[0]));
}

BODY(doubled_function) {
    static const lam_function f = {.name = "doubled",
                                   .inputs = 1,
                                   .outputs = 1,
                                   .forward = doubled_forward,
                                   .setup_context = doubled_setup,
                                   .backward = doubled_backward,
                                   .generate_vmap_rule = true};
    out[0] = call_function(&f, NULL, LAM_LIST(in[0]));
}

/* Forward mode by a backward that goes back through a loop of trips that are not known yet: it is linear in the
 * cotangent, whatever the trips will be. */
START_TEST(ways_back_through_loops_are_transposed) {
    lam_fn *f = forward_of(FN(doubled_function, 1, 1)), *rows = forward_of(lam_vmap(FN(doubled_function, 1, 1), NULL));
    lam_program *p = lam_trace(f, LAM_LIST(num(1))), *q = lam_trace(rows, LAM_LIST(VEC(1, 1, 1)));
    EXPECT_NUM(apply1(p, num(0.3)), 3 * 4);
    EXPECT_NUM(apply1(p, num(2)), 3);
    EXPECT(apply1(lam_vmap(p, NULL), VEC(0.3, 0.6, 2)), LAM_DIMS(3), 12, 6, 3);
    EXPECT(apply1(q, VEC(0.3, 0.6, 2)), LAM_DIMS(3), 12, 6, 3);
    EXPECT_NUM(apply1(reverse_of(p), num(0.3)), 0);
    lam_fn *jitted = lam_jit(f, NULL);
    EXPECT_NUM(apply1(jitted, num(0.3)), 12);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}
END_TEST

/* ---- rules that add zeros ---------------------------------------------------------------------------------------- */

BODY(square) {
    out[0] = lam_square(in[0]);
}

BODY(is_positive) {
    out[0] = lam_gt(in[0], 0.0);
}

BODY(times_zero) {
    out[0] = lam_mul(in[0], lam_zeros_like(in[0]));
}

BODY(minus_zero) {
    out[0] = lam_neg(apply1(FN(times_zero, 1, 1), in[0]));
}

BODY(first_is_below_one) {
    out[0] = lam_lt(in[0], 1.0);
}

/* The third input is a capture. */
BODY(step_and_zero) {
    out[0] = lam_add(in[0], 1.0);
    out[1] = lam_mul(in[2], lam_zeros_like(in[1]));
}

/* The square and its tangent, to which zeros are added that have no elements while x has none: products, results of
 * choices and of loops. */
BODY(square_padded) {
    lam_tensor *zeros = lam_zeros_like(in[0]), *chosen = NULL, *carried[2] = {NULL, NULL};
    lam_fn_options step = {"step_and_zero", step_and_zero, 2, 2, .captures = LAM_LIST(in[0])};
    lam_cond(apply1(FN(is_positive, 1, 1), in[0]), FN(times_zero, 1, 1), FN(minus_zero, 1, 1), LAM_LIST(in[0]), &chosen,
             1);
    lam_while(FN(first_is_below_one, 2, 1), lam_fn_new(here, &step), LAM_LIST(in[0], zeros), carried, 2);
    out[0] = lam_square(in[0]);
    out[1] = lam_add(lam_mul(lam_mul(2, in[0]), in[1]), lam_neg(lam_mul(in[0], zeros)));
    out[1] = lam_add(lam_fma(lam_sin(in[0]), zeros, chosen), lam_add(carried[1], out[1]));
}

START_TEST(rules_may_add_what_is_made_of_zeros) {
    lam_fn *f = reverse_of(lam_custom_jvp(FN(square, 1, 1), FN(square_padded, 2, 2), NULL)), *jitted = lam_jit(f, NULL);
    EXPECT_NUM(apply1(lam_trace(f, LAM_LIST(num(3))), num(4)), 8);
    EXPECT_NUM(apply1(jitted, num(0.25)), 0.5);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}
END_TEST

Suite *suite_custom_recorded(void) {
    return SUITE_OF("custom/recorded", transpose_uses_backward, forward_mode_applies_the_function,
                    constants_and_holes_beside_variables, absent_cotangents_are_zeros, refusals,
                    axes_that_a_shape_callback_cannot_be_told, ways_back_through_loops_are_transposed,
                    rules_may_add_what_is_made_of_zeros);
}
