/* Functions that say is_linear: forward is their jvp, also beside a backward, and outputs that they mark have no
 * derivative. Rules are wrong by a factor on purpose, so that the value tells which one ran. Expected values are by
 * hand. */
#include "tests/custom/callbacks.h"

/* ---- marks ------------------------------------------------------------------------------------------------------- */

/* 2 x and 3 x. */
FORWARD(multiples) {
    out[0] = lam_mul(2.0, in[0]);
    out[1] = lam_mul(3.0, in[0]);
}

FORWARD(multiples_marked) {
    multiples(fc, in, out);
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1]));
}

SETUP(marks_second) {
    lam_fctx_mark_non_differentiable(fc, LAM_LIST(out[1]));
}

static const lam_function combined = {
    .name = "combined", .inputs = 1, .outputs = 2, .forward = multiples_marked, .is_linear = true};
static const lam_function separate = {.name = "separate",
                                      .inputs = 1,
                                      .outputs = 2,
                                      .forward = multiples,
                                      .setup_context = marks_second,
                                      .generate_vmap_rule = true,
                                      .is_linear = true};
static const lam_function *const styles[] = {&combined, &separate};

BODY(sum_of_multiples) {
    lam_tensor *y[2];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = lam_add(y[0], y[1]);
}

BODY(product_of_multiples) {
    lam_tensor *y[2];
    lam_function_apply(ctx, env, NULL, LAM_LIST(in[0]), y, 2);
    out[0] = lam_mul(y[0], y[1]);
}

/* y0 + y1 and y0 y1 with y1 held still: 2 and 2 (3 x), and the second derivative of both is 0. */
START_TEST(marked_outputs_have_no_derivative) {
    for (int s = 0; s < 2; s++) {
        void *style = (void *)(uintptr_t)styles[s];
        lam_fn *sum = FN_ENV(sum_of_multiples, 1, 1, style), *product = FN_ENV(product_of_multiples, 1, 1, style);
        lam_fn *(*const modes[])(lam_fn *) = {reverse_of, forward_of};
        for (int m = 0; m < 2; m++) {
            EXPECT_NUM(apply1(modes[m](sum), num(5)), 2);
            EXPECT_NUM(apply1(modes[m](product), num(5)), 30);
            EXPECT(apply1(lam_vmap(modes[m](product), NULL), VEC(1, 2)), LAM_DIMS(2), 6, 12);
            for (int n = 0; n < 2; n++) EXPECT_NUM(apply1(modes[n](modes[m](product)), num(5)), 0);
        }
        EXPECT(apply1(lam_jacobian(lam_vmap(product, NULL), NULL), VEC(1, 2)), LAM_DIMS(2, 2), 6, 0, 0, 12);
        EXPECT(apply1(lam_jacrev(lam_vmap(product, NULL), NULL), VEC(1, 2)), LAM_DIMS(2, 2), 6, 0, 0, 12);
        lam_tensor *value;
        lam_fn *linear;
        lam_linearize(product, LAM_LIST(num(5)), &value, 1, &linear, NULL);
        EXPECT_NUM(value, 150);
        EXPECT_NUM(apply1(linear, num(10)), 300);
    }
}
END_TEST

/* ---- beside a backward ------------------------------------------------------------------------------------------- */

FORWARD(doubled) {
    out[0] = lam_mul(2.0, in[0]);
}

FORWARD(doubled_and_saved) {
    doubled(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_full(ctx, LAM_F64, LAM_DIMS0, 7)));
}

SETUP(saves_seven) {
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_full(ctx, LAM_F64, LAM_DIMS0, 7)));
}

BACKWARD(times_saved) {
    gx[0] = lam_mul(lam_fctx_saved(fc, 0), g[0]);
}

static const lam_function twice_combined = {.name = "twice",
                                            .inputs = 1,
                                            .outputs = 1,
                                            .forward = doubled_and_saved,
                                            .backward = times_saved,
                                            .is_linear = true};
static const lam_function twice_separate = {.name = "twice",
                                            .inputs = 1,
                                            .outputs = 1,
                                            .forward = doubled,
                                            .setup_context = saves_seven,
                                            .backward = times_saved,
                                            .generate_vmap_rule = true,
                                            .is_linear = true};
static const lam_function *const twice[] = {&twice_combined, &twice_separate};

BODY(twice_of_square) {
    out[0] = call_function(env, NULL, LAM_LIST(lam_square(in[0])));
}

/* Of 2 x^2, forward 4 x, reverse 14 x; the derivative of either by the other mode is that of the product with x. */
START_TEST(forward_is_the_jvp_beside_a_backward) {
    for (int s = 0; s < 2; s++) {
        lam_fn *f = FN_ENV(twice_of_square, 1, 1, (void *)(uintptr_t)twice[s]), *linear, *rows = lam_vmap(f, NULL);
        lam_tensor *value;
        EXPECT_NUM(apply1(forward_of(f), num(3)), 12);
        EXPECT_NUM(apply1(reverse_of(f), num(3)), 42);
        EXPECT_NUM(apply1(forward_of(forward_of(f)), num(3)), 4);
        EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(3)), 14);
        EXPECT_NUM(apply1(reverse_of(reverse_of(f)), num(3)), 14);
        EXPECT_NUM(apply1(reverse_of(forward_of(f)), num(3)), 14); /* of 2 (2 x dx): the tangent goes back as x does */
        EXPECT(apply1(lam_vmap(forward_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 4, 8);
        EXPECT(apply1(lam_jacfwd(rows, NULL), VEC(1, 2)), LAM_DIMS(2, 2), 4, 0, 0, 8);
        EXPECT(apply1(lam_jacrev(rows, NULL), VEC(1, 2)), LAM_DIMS(2, 2), 14, 0, 0, 28);
        lam_linearize(f, LAM_LIST(num(3)), &value, 1, &linear, NULL);
        EXPECT_NUM(apply1(linear, num(10)), 120);
    }
}
END_TEST

BACKWARD(reads_elements) {
    double read = 0;
    if (lam_read(g[0], &read, sizeof read) == LAM_OK) gx[0] = num(7 * read);
}

/* A backward in foreign code has no transpose, and forward mode does not ask for one. */
START_TEST(backward_may_be_foreign_code) {
    lam_function f = twice_separate;
    f.backward = reads_elements;
    EXPECT_NUM(apply1(forward_of(fn_of(&f)), num(3)), 2);
    EXPECT_NUM(apply1(reverse_of(fn_of(&f)), num(3)), 7);
}
END_TEST

Suite *suite_custom_linear(void) {
    return SUITE_OF("custom/linear", marked_outputs_have_no_derivative, forward_is_the_jvp_beside_a_backward,
                    backward_may_be_foreign_code);
}
