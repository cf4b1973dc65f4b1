/* Gradients that custom Functions give and get: what fits, what is reduced, what is wanted, which are absent, and
 * outputs without derivative or that are inputs. Expected values are derivatives by hand. */
#include "tests/custom/callbacks.h"

FORWARD(times_forward) {
    out[0] = lam_mul(in[0], in[1]);
}

SETUP(saves_nothing) {
}

FORWARD(square_forward) {
    out[0] = lam_square(in[0]);
}

BACKWARD(times_saved) {
    gx[0] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

/* ---- gradients given --------------------------------------------------------------------------------------------- */

static lam_tensor *(*gradient)(lam_tensor *g);
static int slot;

BACKWARD(gives_gradient) {
    gx[slot] = gradient(g[0]);
}

static lam_tensor *too_long(lam_tensor *g) {
    (void)g;
    return VEC(1, 2, 3, 4, 5);
}

static lam_tensor *single(lam_tensor *g) {
    return lam_cast(g, LAM_F32);
}

static lam_tensor *rows(lam_tensor *g) {
    return lam_mul(g, MAT(2, 3, 1, 2, 3, 4, 5, 6));
}

static lam_tensor *nothing(lam_tensor *g) {
    (void)g;
    return NULL;
}

static lam_tensor *wide_zeros(lam_tensor *g) {
    (void)g;
    return lam_zeros(ctx, LAM_F64, LAM_DIMS(4, 2, 3));
}

static lam_tensor *refusal(lam_tensor *g) {
    (void)g;
    return lam_fail(ctx, LAM_ERR_USER, "no gradient on sundays");
}

static lam_tensor *with(lam_tensor *(*rule)(lam_tensor *g), int position, lam_tensor *x, lam_tensor *y) {
    const lam_function f = {.name = "giver",
                            .inputs = 2,
                            .outputs = 1,
                            .forward = times_forward,
                            .setup_context = saves_nothing,
                            .backward = gives_gradient};
    gradient = rule;
    slot = position;
    return apply2(lam_grad(FN_ENV(sum_of_pair, 2, 1, fn_of_two(&f)), NULL), x, y);
}

START_TEST(gradients_that_do_not_fit) {
    with(too_long, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "giver", "backward", "input 0", "expected f64[3]", "got f64[5]");
    with(single, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "giver", "backward", "input 0", "expected f64[3]", "got f32[3]");
    with(rows, 2, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_ARITY, "giver", "backward", "too many", "2 expected");
    with(refusal, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_USER, "no gradient on sundays", "giver", "backward");
    with(rows, 1, VEC(1, 2, 3), lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){1, 1, 1}));
    EXPECT_ERROR(LAM_ERR_RULE, "giver", "backward", "input 1", "not a floating-point tensor");
}
END_TEST

START_TEST(gradients_that_are_reduced_or_zero) {
    EXPECT(with(rows, 0, VEC(1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(3), 5, 7, 9);
    EXPECT(with(rows, 0, MAT(1, 3, 1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(1, 3), 5, 7, 9);
    EXPECT(with(wide_zeros, 0, VEC(1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(3), 0, 0, 0);
    EXPECT(with(nothing, 0, VEC(1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(3), 0, 0, 0);
    EXPECT(with(too_long, 1, VEC(1, 2, 3), num(1)), LAM_DIMS(3), 0, 0, 0);
}
END_TEST

/* x alone; the second input is a hole. */
FORWARD(first_forward) {
    out[0] = lam_mul(2.0, in[0]);
}

BODY(second_is_a_hole) {
    const lam_function f = {.name = "giver",
                            .inputs = 2,
                            .outputs = 1,
                            .forward = first_forward,
                            .setup_context = saves_nothing,
                            .backward = gives_gradient};
    out[0] = call_function(&f, NULL, LAM_LIST(in[0], NULL));
}

START_TEST(gradient_for_a_hole_is_refused) {
    gradient = nothing;
    slot = 1;
    EXPECT_NUM(apply1(lam_grad(FN(second_is_a_hole, 1, 1), NULL), num(3)), 0);
    gradient = too_long;
    apply1(lam_grad(FN(second_is_a_hole, 1, 1), NULL), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "giver", "backward", "input 1", "not a floating-point tensor");
}
END_TEST

/* ---- tangents given and got -------------------------------------------------------------------------------------- */

/* x y, y, and the integer part of x. */
FORWARD(trio_forward) {
    out[0] = lam_mul(in[0], in[1]);
    out[1] = lam_alias(in[1]);
    out[2] = lam_cast(in[0], LAM_I64);
}

static bool materialize_tangents, null_tangents[2];
static lam_tensor *(*tangent)(lam_tensor *t);

SETUP(trio_setup) {
    lam_fctx_set_materialize_grads(fc, materialize_tangents);
}

JVP(trio_jvp) {
    for (int i = 0; i < 2; i++) null_tangents[i] = !t[i];
    if (tangent) dout[slot] = tangent(t[0]);
}

BODY(trio) {
    const lam_function f = {.name = "trio",
                            .inputs = 2,
                            .outputs = 3,
                            .forward = trio_forward,
                            .setup_context = trio_setup,
                            .jvp = trio_jvp};
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0], in[1]), out, 3);
}

/* Tangents of the outputs along ones for the first input only. */
static void tangents_of_trio(lam_tensor *(*rule)(lam_tensor *t), int position, lam_tensor *got[3]) {
    lam_tensor *values[3], *x = VEC(1, 2, 3);
    tangent = rule;
    slot = position;
    lam_jvp(FN(trio, 2, 3), LAM_LIST(x, VEC(4, 5, 6)), LAM_LIST(lam_ones_like(x), NULL), values, got, 3, NULL);
}

static lam_tensor *sevenfold(lam_tensor *t) {
    return lam_mul(7.0, t);
}

static lam_tensor *integers(lam_tensor *t) {
    return lam_cast(t, LAM_I64);
}

START_TEST(tangents_absent_and_materialised) {
    lam_tensor *got[3];
    for (int k = 0; k < 2; k++) {
        materialize_tangents = k;
        tangents_of_trio(sevenfold, 0, got);
        EXPECT(got[0], LAM_DIMS(3), 7, 7, 7);
        EXPECT(got[1], LAM_DIMS(3), 0, 0, 0); /* not given: zero */
        ck_assert(!null_tangents[0]);
        ck_assert(null_tangents[1] == !materialize_tangents);
        tangents_of_trio(NULL, 0, got);
        EXPECT(got[0], LAM_DIMS(3), 0, 0, 0);
    }
}
END_TEST

START_TEST(tangents_that_do_not_fit) {
    lam_tensor *got[3];
    tangents_of_trio(too_long, 1, got);
    EXPECT_ERROR(LAM_ERR_SHAPE, "trio", "jvp", "output 1", "expected f64[3]", "got f64[5]");
    tangents_of_trio(single, 0, got);
    EXPECT_ERROR(LAM_ERR_DTYPE, "trio", "jvp", "output 0", "expected f64[3]", "got f32[3]");
    tangents_of_trio(sevenfold, 2, got);
    EXPECT_ERROR(LAM_ERR_RULE, "trio", "jvp", "output 2", "has no derivative");
    tangents_of_trio(integers, 0, got);
    EXPECT_ERROR(LAM_ERR_DTYPE, "trio", "jvp", "output 0", "got i64[3]");
    tangents_of_trio(sevenfold, 3, got);
    EXPECT_ERROR(LAM_ERR_ARITY, "trio", "jvp", "too many", "3 expected");
    tangents_of_trio(refusal, 0, got);
    EXPECT_ERROR(LAM_ERR_USER, "no gradient on sundays", "trio", "jvp");
}
END_TEST

/* ---- what is wanted ---------------------------------------------------------------------------------------------- */

static int wants[2];

BACKWARD(notes_wants) {
    for (int i = 0; i < 2; i++) wants[i] += lam_fctx_needs_input_grad(fc, i);
    gx[0] = lam_mul(lam_fctx_saved(fc, 1), g[0]);
    gx[1] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

SETUP(saves_inputs) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], in[1]));
}

static const lam_function product = {.name = "product",
                                     .inputs = 2,
                                     .outputs = 1,
                                     .forward = times_forward,
                                     .setup_context = saves_inputs,
                                     .backward = notes_wants,
                                     .generate_vmap_rule = true};

START_TEST(needs_input_grad_is_that_of_the_level) {
    lam_fn *f = fn_of_two(&product);
    wants[0] = wants[1] = 0;
    EXPECT_NUM(apply2(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), num(3), num(5)), 3);
    ck_assert_int_eq(wants[0], 0);
    ck_assert_int_eq(wants[1], 1);
    wants[0] = wants[1] = 0; /* the inner level wants input 1, the outer one input 0: y, by x */
    lam_fn *mixed = lam_grad(lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)}), NULL);
    EXPECT_NUM(apply2(mixed, num(3), num(5)), 1);
    ck_assert_int_eq(wants[0], 0);
    ck_assert_int_eq(wants[1], 1);
}
END_TEST

/* ---- several outputs: marks and zeros ---------------------------------------------------------------------------- */

static bool seen_null[3], materialize, mark;

/* x^2, x^3 (which may be marked), and the integer part of x. */
FORWARD(three_forward) {
    out[0] = lam_square(in[0]);
    out[1] = lam_integer_pow(in[0], 3);
    out[2] = lam_cast(in[0], LAM_I64);
}

SETUP(three_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    lam_fctx_set_materialize_grads(fc, materialize);
    if (mark) lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1]));
}

BACKWARD(three_backward) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *sum = lam_zeros_like(x);
    for (int o = 0; o < 3; o++) seen_null[o] = !g[o];
    if (g[0]) sum = lam_add(sum, lam_mul(g[0], lam_mul(2.0, x)));
    if (g[1]) sum = lam_add(sum, lam_mul(g[1], lam_mul(3.0, lam_square(x))));
    gx[0] = sum;
}

static const lam_function three = {.name = "three",
                                   .inputs = 1,
                                   .outputs = 3,
                                   .forward = three_forward,
                                   .setup_context = three_setup,
                                   .backward = three_backward,
                                   .generate_vmap_rule = true};

BODY(first_of_three) {
    lam_tensor *y[3];
    lam_function_apply(ctx, &three, NULL, LAM_LIST(in[0]), y, 3);
    out[0] = lam_sum(y[0], NULL);
}

BODY(sum_of_three) {
    lam_tensor *y[3];
    lam_function_apply(ctx, &three, NULL, LAM_LIST(in[0]), y, 3);
    out[0] = lam_sum(lam_add(lam_add(y[0], y[1]), y[2]), NULL);
}

START_TEST(materialised_and_absent_cotangents) {
    mark = false;
    for (int k = 0; k < 2; k++) {
        materialize = k;
        EXPECT_NUM(apply1(lam_grad(FN(first_of_three, 1, 1), NULL), num(3)), 6);
        ck_assert(!seen_null[0]);
        ck_assert(seen_null[1] == !materialize);
        ck_assert(seen_null[2]); /* integer: NULL in any case */
        EXPECT(apply1(lam_vmap(lam_grad(FN(first_of_three, 1, 1), NULL), NULL), VEC(3, 4)), LAM_DIMS(2), 6, 8);
        EXPECT(apply1(lam_grad(FN(first_of_three, 1, 1), NULL), VEC(3, 4)), LAM_DIMS(2), 6, 8);
    }
}
END_TEST

START_TEST(non_differentiable_outputs) {
    materialize = true;
    mark = false;
    EXPECT_NUM(apply1(lam_grad(FN(sum_of_three, 1, 1), NULL), num(2)), 4 + 12);
    mark = true;
    EXPECT_NUM(apply1(lam_grad(FN(sum_of_three, 1, 1), NULL), num(2)), 4);
    ck_assert(seen_null[1]);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, FN(sum_of_three, 1, 1)), num(2)), 4);
    EXPECT(apply1(lam_vmap(lam_grad(FN(sum_of_three, 1, 1), NULL), NULL), VEC(2, 3)), LAM_DIMS(2), 4, 6);
    ck_assert(seen_null[1]);
    mark = false;
}
END_TEST

SETUP(marks_a_stranger) {
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(in[0]));
}

START_TEST(marking_what_is_no_output_fails) {
    lam_function f = {.name = "marker",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = marks_a_stranger,
                      .backward = times_saved};
    apply1(lam_grad(fn_of(&f), NULL), num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "marker", "setup_context", "tensor 0", "is not an output");
}
END_TEST

/* ---- outputs that are inputs ------------------------------------------------------------------------------------- */

FORWARD(same_twice) {
    out[0] = in[0];
    out[1] = in[0];
}

BACKWARD(five_and_seven) {
    gx[0] = lam_add(lam_mul(5.0, g[0]), lam_mul(7.0, g[1]));
}

BODY(two_and_three) {
    const lam_function f = {.name = "same",
                            .inputs = 1,
                            .outputs = 2,
                            .forward = same_twice,
                            .setup_context = saves_nothing,
                            .backward = five_and_seven,
                            .generate_vmap_rule = true};
    lam_tensor *y[2];
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = lam_add(lam_mul(2.0, y[0]), lam_mul(3.0, y[1]));
}

START_TEST(input_returned_as_is_and_twice) {
    lam_fn *f = FN(two_and_three, 1, 1);
    EXPECT_NUM(apply1(f, num(3)), 15);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 2 * 5 + 3 * 7);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, f), num(3)), 31);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4)), LAM_DIMS(2), 31, 31);
}
END_TEST

/* ---- pullbacks within rules -------------------------------------------------------------------------------------- */

static lam_fn *pullback;
static bool pulls;

/* 2 x g, once with a call of the pullback that is calling it. */
BACKWARD(pulls_itself) {
    if (pulls) {
        pulls = false;
        lam_apply(pullback, LAM_LIST(g[0]));
    }
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

SETUP(saves_input) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

BODY(triple_of_square) {
    const lam_function f = {.name = "square",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = square_forward,
                            .setup_context = saves_input,
                            .backward = pulls_itself,
                            .generate_vmap_rule = true};
    out[0] = lam_mul(3.0, call_function(&f, NULL, LAM_LIST(in[0])));
}

/* What waits for cotangents of one walk cannot take those of another. Afterwards the pullback is as it was. */
START_TEST(a_pullback_that_its_own_rule_calls_is_refused) {
    lam_tensor *y;
    lam_vjp(FN(triple_of_square, 1, 1), LAM_LIST(num(5)), &y, 1, &pullback, NULL);
    for (int round = 0; round < 2; round++) {
        pulls = true;
        ck_assert(lam_failed(lam_apply(pullback, LAM_LIST(num(1)))));
        EXPECT_ERROR(LAM_ERR_VALUE, "a pullback was called by a rule that it is itself calling", "square", "backward");
        EXPECT_NUM(lam_apply(pullback, LAM_LIST(num(7))), 3 * 2 * 5 * 7);
    }
}
END_TEST

Suite *suite_custom_gradients(void) {
    return SUITE_OF("custom/gradients", gradients_that_do_not_fit, gradients_that_are_reduced_or_zero,
                    gradient_for_a_hole_is_refused, tangents_absent_and_materialised, tangents_that_do_not_fit,
                    needs_input_grad_is_that_of_the_level, materialised_and_absent_cotangents,
                    non_differentiable_outputs, marking_what_is_no_output_fails, input_returned_as_is_and_twice,
                    a_pullback_that_its_own_rule_calls_is_refused);
}
