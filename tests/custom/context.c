/* What custom Functions may keep: saved values and plain data, and what may not be kept. Expected values are
 * derivatives by hand; where a rule must be told from the code, its factor is wrong on purpose. */
#include "tests/custom/callbacks.h"

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
    lam_fn *f = lam_grad(fn_of_two(&keeper), NULL);
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
    EXPECT_NUM(apply1(lam_grad(fn_of(&f), NULL), num(3)), 300);
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, fn_of(&f)), num(3)), 30);
}
END_TEST

START_TEST(test_saving_twice_fails) {
    lam_function f = {.name = "hasty",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = square_forward,
                      .setup_context = save_twice,
                      .backward = times_saved};
    apply1(lam_grad(fn_of(&f), NULL), num(3));
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
    apply1(lam_grad(fn_of(&f), NULL), num(3));
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
    call_function(&f, NULL, LAM_LIST(num(3)));
    EXPECT_ERROR(LAM_ERR_RULE, "mixed", "forward", "may not be called here", "return it as an output");
}
END_TEST

/* Nothing is kept when no derivative is wanted: the bytes alive are those of the result. */
START_TEST(test_nothing_is_saved_without_a_derivative) {
    lam_function f = {.name = "f", .inputs = 1, .outputs = 1, .forward = saves_in_forward, .backward = times_saved};
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(1000));
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    lam_tensor *y = call_function(&f, NULL, LAM_LIST(x));
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
    EXPECT_NUM(apply1(lam_grad(fn_of(&f), NULL), num(3)), 3);
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
    lam_fn *g = lam_grad(fn_of(&f), NULL);
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

Suite *suite_custom_context(void) {
    return SUITE_OF("custom/context", test_every_kind_of_saved_value, test_each_mode_reads_its_own_list,
                    test_saving_twice_fails, test_reading_what_was_not_saved_fails, test_separate_forward_may_not_save,
                    test_nothing_is_saved_without_a_derivative, test_saved_tensors_are_shared,
                    test_saved_value_keeps_its_content, test_hidden_intermediate_is_an_error_where_it_would_be_wrong);
}
