/* What custom Functions may keep and say: saved values, plain data, gradients, marks, in-place forms. Expected values
 * are derivatives
 * by hand; where a rule must be told from the code, its factor is wrong on purpose. */
#include "tests/support.h"

/* A Function of the test is a struct with its callbacks; CALLBACKS name them alike. */
#define FORWARD(name)  static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *out[])
#define SETUP(name)    static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *const out[])
#define BACKWARD(name) static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const g[], UNUSED lam_tensor *gx[])
#define JVP(name)      static void name(UNUSED lam_fctx *fc, UNUSED lam_tensor *const t[], UNUSED lam_tensor *dout[])

static lam_tensor *apply(const lam_function *f, const void *attrs, lam_list in) {
    lam_tensor *out = NULL;
    lam_function_apply(ctx, f, attrs, in, &out, 1);
    return out;
}

/* Applies env's Function to all inputs and sums the first of two outputs, or the only one. */
BODY(sum_of_one) {
    const lam_function *f = env;
    out[0] = lam_sum(apply(f, NULL, LAM_LIST(in[0])), NULL);
}

BODY(sum_of_two) {
    const lam_function *f = env;
    out[0] = lam_sum(apply(f, NULL, LAM_LIST(in[0], in[1])), NULL);
}

static lam_tensor *grad_one(const lam_function *f, lam_tensor *x) {
    return apply1(lam_grad(FN_ENV(sum_of_one, 1, 1, (void *)(uintptr_t)f), NULL), x);
}

BODY(along) {
    lam_tensor *value;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), &value, &out[0], 1, NULL);
}

/* ---- saved values ------------------------------------------------------------------------------------------------ */

FORWARD(times_forward) {
    out[0] = lam_mul(in[0], in[1]);
}

SETUP(save_all) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], NULL, in[1], out[0], lam_add(in[0], 1.0)));
    lam_fctx_set_data(fc, "factor", &(double){2}, sizeof(double));
    lam_fctx_set_data(fc, "count", &(int){3}, sizeof(int));
    lam_fctx_set_data(fc, "factor", &(double){4}, sizeof(double));
}

/* gx = 4 (x + 1) y g + out g: each kind of saved value takes part. */
BACKWARD(uses_all) {
    size_t size = 0;
    const double *factor = lam_fctx_data(fc, "factor", &size);
    const int *count = lam_fctx_data(fc, "count", NULL);
    ck_assert_uint_eq(size, sizeof *factor);
    ck_assert_int_eq(*count, 3);
    ck_assert_ptr_null(lam_fctx_data(fc, "nothing", &size));
    ck_assert_int_eq(lam_fctx_saved_count(fc), 5);
    ck_assert_ptr_null(lam_fctx_saved(fc, 1));
    gx[0] = lam_mul(
        g[0], lam_add(lam_mul(lam_mul(*factor, lam_fctx_saved(fc, 4)), lam_fctx_saved(fc, 2)), lam_fctx_saved(fc, 3)));
}

static const lam_function keeper = {.name = "keeper",
                                    .inputs = 2,
                                    .outputs = 1,
                                    .forward = times_forward,
                                    .setup_context = save_all,
                                    .backward = uses_all,
                                    .generate_vmap_rule = true};

START_TEST(test_every_kind_of_saved_value) {
    lam_fn *f = lam_grad(FN_ENV(sum_of_two, 2, 1, (void *)(uintptr_t)&keeper), NULL);
    EXPECT_NUM(apply2(f, num(3), num(5)), 4 * 4 * 5 + 15);
    /* The rule once more: 4 y from x + 1, and out has the rule of the outer level, 4 (x + 1) y + out. */
    EXPECT_NUM(apply2(lam_grad(f, NULL), num(3), num(5)), 4 * 5 + 4 * 4 * 5 + 15);
    EXPECT(
        lam_apply(lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)}), LAM_LIST(VEC(3, 4), num(5))),
        LAM_DIMS(2), 95, 120);
}
END_TEST

static int saves;

FORWARD(square_forward) {
    out[0] = lam_square(in[0]);
}

SETUP(save_twice) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

SETUP(save_for_both) {
    saves++;
    lam_fctx_save_for_forward(fc, LAM_LIST(lam_mul(10.0, in[0])));
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_mul(100.0, in[0])));
}

BACKWARD(times_saved) {
    gx[0] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

JVP(saved_times) {
    dout[0] = lam_mul(lam_fctx_saved(fc, 0), t[0]);
}

START_TEST(test_each_mode_reads_its_own_list) {
    lam_function f = {.name = "f",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = save_for_both,
                      .backward = times_saved,
                      .jvp = saved_times};
    EXPECT_NUM(grad_one(&f, num(3)), 300);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, FN_ENV(sum_of_one, 1, 1, &f)), num(3)), 30);
}
END_TEST

START_TEST(test_saving_twice_fails) {
    lam_function f = {.name = "hasty",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = save_twice,
                      .backward = times_saved};
    grad_one(&f, num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "hasty", "setup_context", "twice");
}
END_TEST

BACKWARD(reads_too_far) {
    gx[0] = lam_fctx_saved(fc, 2);
}

START_TEST(test_reading_what_was_not_saved_fails) {
    lam_function f = keeper;
    f.inputs = 1;
    f.forward = square_forward;
    f.setup_context = save_for_both;
    f.backward = reads_too_far;
    f.name = "greedy";
    grad_one(&f, num(3));
    EXPECT_ERROR(LAM_ERR_RULE, "greedy", "backward", "tensor 2", "1 were saved");
}
END_TEST

FORWARD(saves_in_forward) {
    out[0] = lam_square(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

START_TEST(test_separate_forward_may_not_save) {
    lam_function f = {.name = "mixed",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = saves_in_forward,
                      .setup_context = save_for_both,
                      .backward = times_saved};
    apply(&f, NULL, LAM_LIST(num(3)));
    EXPECT_ERROR(LAM_ERR_RULE, "mixed", "forward", "may not be called here", "return it as an output");
}
END_TEST

/* Nothing is kept when no derivative is wanted: the bytes alive are those of the result. */
START_TEST(test_nothing_is_saved_without_a_derivative) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000));
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_tensor *y = apply(&f, NULL, LAM_LIST(x));
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, 8000 + 1024);
    lam_drop(y);
    EXPECT_OK();
}
END_TEST

/* A saved input is the input, not a copy: a pullback adds nothing of its size. */
START_TEST(test_saved_tensors_are_shared) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000)), *y;
    lam_fn *body = lam_function_fn(ctx, &f, NULL, 1, 1), *pullback;
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_vjp(body, LAM_LIST(x), &y, 1, &pullback, NULL);
    ck_assert_uint_lt(lam_ctx_bytes(ctx) - before, 8000 + 4096);
    EXPECT_OK();
}
END_TEST

/* A value that is changed after it was saved keeps what it was. */
FORWARD(saves_then_changes) {
    lam_tensor *x = lam_alias(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(x));
    lam_mul_(x, num(10));
    out[0] = x;
}

START_TEST(test_saved_value_keeps_its_content) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_then_changes, .backward = times_saved};
    EXPECT_NUM(grad_one(&f, num(3)), 3);
}
END_TEST

/* ---- intermediates kept aside ------------------------------------------------------------------------------------ */

static lam_tensor *aside;
static bool as_operand;

FORWARD(hides_intermediate) {
    if (aside) lam_release(aside);
    aside = lam_hold(lam_sin(in[0]));
    out[0] = lam_square(aside);
}

SETUP(saves_hidden) {
    lam_fctx_save_for_backward(fc, LAM_LIST(as_operand ? lam_add(aside, 0.0) : aside));
}

START_TEST(test_hidden_intermediate_is_an_error_where_it_would_be_wrong) {
    lam_function f = {.name = "sly",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = hides_intermediate,
                      .setup_context = saves_hidden,
                      .backward = times_saved};
    lam_fn *g = lam_grad(FN_ENV(sum_of_one, 1, 1, &f), NULL);
    aside = NULL;
    for (int k = 0; k < 2; k++) {
        as_operand = k;
        EXPECT_NEAR(apply1(g, num(3)), 1e-15, LAM_DIMS0, sin(3)); /* one level: an honest constant */
        apply1(lam_grad(g, NULL), num(3));
        EXPECT_ERROR(LAM_ERR_RULE, "sly", "setup_context", "made inside", "return it as an output of forward");
    }
    EXPECT_NEAR(lam_add(aside, 0.0), 1e-15, LAM_DIMS0, sin(3)); /* usable again afterwards */
    lam_release(aside);
    aside = NULL;
}
END_TEST

/* ---- gradients given --------------------------------------------------------------------------------------------- */

static lam_tensor *(*gradient)(lam_tensor *g);
static int slot;

BACKWARD(gives_gradient) {
    gx[slot] = gradient(g[0]);
}

SETUP(saves_nothing) {
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
    return apply2(lam_grad(FN_ENV(sum_of_two, 2, 1, (void *)(uintptr_t)&f), NULL), x, y);
}

START_TEST(test_gradients_that_do_not_fit) {
    with(too_long, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "giver", "backward", "input 0", "expected f64[3]", "got f64[5]");
    with(single, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "giver", "backward", "input 0", "expected f64[3]", "got f32[3]");
    with(rows, 2, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_ARITY, "giver", "backward", "too many", "2 expected");
    with(refusal, 0, VEC(1, 2, 3), VEC(1, 1, 1));
    EXPECT_ERROR(LAM_ERR_USER, "no gradient on sundays", "giver", "backward");
    with(rows, 1, VEC(1, 2, 3), lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){1, 1, 1}));
    EXPECT_ERROR(LAM_ERR_RULE, "giver", "backward", "input 1", "no floating tensor");
}
END_TEST

START_TEST(test_gradients_that_are_reduced_or_zero) {
    EXPECT(with(rows, 0, VEC(1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(3), 5, 7, 9);
    EXPECT(with(rows, 0, MAT(1, 3, 1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(1, 3), 5, 7, 9);
    EXPECT(with(nothing, 0, VEC(1, 2, 3), VEC(1, 1, 1)), LAM_DIMS(3), 0, 0, 0);
    EXPECT(with(too_long, 1, VEC(1, 2, 3), num(1)), LAM_DIMS(3), 0, 0, 0);
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

START_TEST(test_needs_input_grad_is_that_of_the_level) {
    lam_fn *f = FN_ENV(sum_of_two, 2, 1, (void *)(uintptr_t)&product);
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

START_TEST(test_materialised_and_absent_cotangents) {
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

START_TEST(test_non_differentiable_outputs) {
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

START_TEST(test_marking_what_is_no_output_fails) {
    lam_function f = {.name = "marker",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = marks_a_stranger,
                      .backward = times_saved};
    grad_one(&f, num(3));
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

START_TEST(test_input_returned_as_is_and_twice) {
    lam_fn *f = FN(two_and_three, 1, 1);
    EXPECT_NUM(apply1(f, num(3)), 15);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 2 * 5 + 3 * 7);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, f), num(3)), 31);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4)), LAM_DIMS(2), 31, 31);
}
END_TEST

/* ---- optional inputs, attributes, lists -------------------------------------------------------------------------- */

typedef struct power {
    int exponent;
    double factor;
} power;

/* factor * sum of x^exponent over all inputs that are there. */
FORWARD(powers_forward) {
    const power *p = lam_fctx_attrs(fc);
    lam_tensor *sum = NULL;
    for (int i = 0; i < lam_fctx_inputs(fc); i++) {
        lam_tensor *one = in[i] ? lam_mul(p->factor, lam_integer_pow(in[i], p->exponent)) : NULL;
        if (one) sum = sum ? lam_add(sum, one) : one;
    }
    out[0] = sum;
    lam_fctx_save_for_backward(fc, (lam_list){(size_t)lam_fctx_inputs(fc), in});
}

BACKWARD(powers_backward) {
    const power *p = lam_fctx_attrs(fc);
    for (int i = 0; i < lam_fctx_inputs(fc); i++) {
        lam_tensor *x = lam_fctx_saved(fc, i);
        if (x) gx[i] = lam_mul(lam_mul(p->factor * p->exponent, lam_integer_pow(x, p->exponent - 1)), g[0]);
    }
}

static const lam_function powers = {.name = "powers",
                                    .inputs = LAM_VARIADIC,
                                    .outputs = 1,
                                    .attrs_size = sizeof(power),
                                    .forward = powers_forward,
                                    .backward = powers_backward};

BODY(powers_with_a_hole) {
    power p = {3, 2};
    lam_function_apply(ctx, &powers, &p, LAM_LIST(in[0], NULL, in[1]), out, 1);
}

START_TEST(test_optional_inputs_and_attributes) {
    lam_fn *f = FN(powers_with_a_hole, 2, 1), *by_second = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(apply2(f, num(1), num(2)), 2 + 16);
    EXPECT_NUM(apply2(by_second, num(1), num(2)), 2 * 3 * 4);
    EXPECT_NUM(apply2(lam_grad(by_second, &(lam_grad_options){.argnums = LAM_AXES(1)}), num(1), num(2)), 2 * 6 * 2);
    EXPECT(apply2(lam_vmap(by_second, NULL), VEC(1, 1), VEC(2, 3)), LAM_DIMS(2), 24, 54);
    EXPECT_NUM(lam_apply(lam_function_fn(ctx, &powers, &(power){2, 1}, 3, 1), LAM_LIST(num(3), NULL, num(4))), 25);
}
END_TEST

/* A tree goes in and comes out as its leaves. */
typedef struct layer {
    lam_tensor *weight, *bias;
} layer;

typedef struct model {
    layer layers[2];
    lam_tensor *scale;
} model;

BODY(powers_of_tree) {
    lam_function_apply(ctx, &powers, &(power){2, 1}, (lam_list){5, in}, out, 1);
}

START_TEST(test_trees) {
    model m = {.layers = {{num(1), num(2)}, {num(3), num(4)}}, .scale = num(5)}, gradient_of_m;
    lam_fn *f = FN(powers_of_tree, 5, 1);
    lam_fn *g = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(LAM_RANGE(0, 5))});
    lam_call(g, LAM_TREE(&m), LAM_OUT(&gradient_of_m));
    EXPECT_NUM(gradient_of_m.layers[0].weight, 2);
    EXPECT_NUM(gradient_of_m.layers[1].bias, 8);
    EXPECT_NUM(gradient_of_m.scale, 10);
}
END_TEST

Suite *suite_custom_context(void) {
    return SUITE_OF("custom/context", test_every_kind_of_saved_value, test_each_mode_reads_its_own_list,
                    test_saving_twice_fails, test_reading_what_was_not_saved_fails, test_separate_forward_may_not_save,
                    test_nothing_is_saved_without_a_derivative, test_saved_tensors_are_shared,
                    test_saved_value_keeps_its_content, test_hidden_intermediate_is_an_error_where_it_would_be_wrong,
                    test_gradients_that_do_not_fit, test_gradients_that_are_reduced_or_zero,
                    test_needs_input_grad_is_that_of_the_level, test_materialised_and_absent_cotangents,
                    test_non_differentiable_outputs, test_marking_what_is_no_output_fails,
                    test_input_returned_as_is_and_twice, test_optional_inputs_and_attributes, test_trees);
}
