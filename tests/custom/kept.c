/* What is kept, by another way than a tensor that is plainly an input, an output or neither: outputs that are an input
 * as it came, functions that hold what forward made, tensors of another context. Expected values by hand. */
#include "tests/custom/callbacks.h"

/* ---- outputs that are inputs ------------------------------------------------------------------------------------- */

FORWARD(passes_on) {
    out[0] = lam_alias(in[0]);
}

SETUP(saves_output) {
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

FORWARD(passes_and_saves_output) {
    passes_on(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

FORWARD(saves_output_first) {
    lam_tensor *y = lam_alias(in[0]);
    lam_fctx_save_for_backward(fc, LAM_LIST(y));
    out[0] = y;
}

SETUP(saves_input) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

FORWARD(passes_and_saves_input) {
    passes_on(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

/* 10 g s */
BACKWARD(ten_times_saved) {
    gx[0] = lam_mul(g[0], lam_mul(10.0, lam_fctx_saved(fc, 0)));
}

#define PASSING(first, second)                                                                                         \
    {                                                                                                                  \
        .name = "passing", .inputs = 1, .outputs = 1, .forward = first, .setup_context = second,                       \
        .backward = ten_times_saved, .generate_vmap_rule = true                                                        \
    }

/* f' = 10 s at s = x. The second derivative of an input saved is 10; of an output saved, which has the derivative of
 * the Function, 10 times 10 x; the third then is 100 times 10 x. */
START_TEST(a_saved_output_that_is_an_input_has_the_rule) {
    const lam_function outputs[] = {PASSING(passes_on, saves_output), PASSING(passes_and_saves_output, NULL),
                                    PASSING(saves_output_first, NULL)},
                       inputs[] = {PASSING(passes_on, saves_input), PASSING(passes_and_saves_input, NULL)};
    for (int k = 0; k < 3; k++) {
        lam_fn *second = reverse_of(reverse_of(fn_of(&outputs[k])));
        EXPECT_NUM(apply1(second, num(3)), 300);
        EXPECT_NUM(apply1(reverse_of(second), num(3)), 3000);
        EXPECT(apply1(lam_vmap(second, NULL), VEC(3, 4)), LAM_DIMS(2), 300, 400);
    }
    for (int k = 0; k < 2; k++) {
        lam_fn *second = reverse_of(reverse_of(fn_of(&inputs[k])));
        EXPECT_NUM(apply1(second, num(3)), 10);
        EXPECT_NUM(apply1(reverse_of(second), num(3)), 0);
        EXPECT(apply1(lam_vmap(second, NULL), VEC(3, 4)), LAM_DIMS(2), 10, 10);
    }
}
END_TEST

/* ---- functions kept aside ---------------------------------------------------------------------------------------- */

static lam_fn *aside;

BODY(give_capture) {
    out[0] = lam_alias(in[0]);
}

BODY(square) {
    out[0] = lam_square(in[0]);
}

BODY(three) {
    out[0] = num(3);
}

static void put_aside(lam_fn *f) {
    lam_fn *before = aside;
    aside = lam_fn_hold(f);
    if (before) lam_fn_release(before);
}

/* x^3, with x^2 in a function that is kept. */
FORWARD(cube_keeps_capture) {
    lam_tensor *x2 = lam_square(in[0]);
    put_aside(lam_fn_new(
        ctx,
        &(lam_fn_options){.name = "aside", .body = give_capture, .inputs = 0, .outputs = 1, .captures = LAM_LIST(x2)}));
    out[0] = lam_mul(x2, in[0]);
}

/* The same in a function that another one is derived from, which is kept. */
FORWARD(cube_keeps_derived) {
    lam_tensor *x2 = lam_square(in[0]);
    const lam_fn_options o = {"aside", give_capture, 0, 1, .captures = LAM_LIST(x2)};
    put_aside(lam_checkpoint(lam_fn_new(ctx, &o), NULL));
    out[0] = lam_mul(x2, in[0]);
}

/* The same with the tape of x^2: its pullback of x / 2 is x^2. */
FORWARD(cube_keeps_pullback) {
    lam_fn *pullback;
    lam_tensor *x2;
    lam_vjp(FN(square, 1, 1), LAM_LIST(in[0]), &x2, 1, &pullback, NULL);
    put_aside(pullback);
    out[0] = lam_mul(x2, in[0]);
}

SETUP(saves_what_it_gives) {
    lam_tensor *half = lam_mul(0.5, in[0]);
    lam_list given = {(size_t)lam_fn_inputs(aside), &half};
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_apply(aside, given)));
}

SETUP(saves_what_a_derived_one_gives) {
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_apply(lam_checkpoint(aside, NULL), LAM_LIST(lam_mul(0.5, in[0])))));
}

BACKWARD(three_times_saved) {
    gx[0] = lam_mul(g[0], lam_mul(3.0, lam_fctx_saved(fc, 0)));
}

START_TEST(functions_that_hold_intermediates_are_refused_where_they_would_be_wrong) {
    const struct {
        void (*forward)(lam_fctx *, lam_tensor *const[], lam_tensor *[]);
        void (*setup)(lam_fctx *, lam_tensor *const[], lam_tensor *const[]);
    } rows[] = {{cube_keeps_capture, saves_what_it_gives},
                {cube_keeps_derived, saves_what_it_gives},
                {cube_keeps_pullback, saves_what_it_gives},
                {cube_keeps_pullback, saves_what_a_derived_one_gives}};
    lam_function f = {.name = "sly", .inputs = 1, .outputs = 1, .backward = three_times_saved};
    aside = NULL;
    for (int k = 0; k < 4; k++) {
        f.forward = rows[k].forward;
        f.setup_context = rows[k].setup;
        EXPECT_NUM(apply1(reverse_of(fn_of(&f)), num(3)), 27); /* one level: honest constants */
        apply1(reverse_of(reverse_of(fn_of(&f))), num(3));
        EXPECT_ERROR(LAM_ERR_RULE, "sly", "setup_context", "function", "made inside the forward", "return what");
    }
    EXPECT_NUM(lam_apply(aside, LAM_LIST(num(5))), 30); /* usable again afterwards: 2 x 5 */
    lam_fn_release(aside);
    aside = NULL;
}
END_TEST

/* x^3; keeps a function that holds nothing. */
FORWARD(cube_keeps_plain_function) {
    put_aside(FN(three, 0, 1));
    out[0] = lam_integer_pow(in[0], 3);
}

SETUP(saves_square) {
    lam_fctx_save_for_backward(fc, LAM_LIST(lam_mul(lam_square(in[0]), lam_div(lam_apply(aside, LAM_LIST()), 3.0))));
}

START_TEST(functions_without_values_may_be_kept) {
    const lam_function f = {.name = "plain",
                            .inputs = 1,
                            .outputs = 1,
                            .forward = cube_keeps_plain_function,
                            .setup_context = saves_square,
                            .backward = three_times_saved};
    aside = NULL;
    EXPECT_NUM(apply1(reverse_of(reverse_of(fn_of(&f))), num(3)), 18);
    lam_fn_release(aside);
    aside = NULL;
}
END_TEST

/* ---- another context --------------------------------------------------------------------------------------------- */

static lam_tensor *theirs;

SETUP(saves_theirs) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0], theirs));
}

START_TEST(tensors_of_another_context_are_not_saved) {
    lam_ctx *other = lam_ctx_new(NULL);
    const lam_function f = PASSING(passes_on, saves_theirs);
    theirs = lam_scalar(other, 1);
    ck_assert(lam_failed(apply1(reverse_of(fn_of(&f)), num(3))));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "passing", "setup_context", "mixed contexts: tensor 1");
    theirs = lam_fail(other, LAM_ERR_USER, "theirs");
    ck_assert(lam_failed(apply1(reverse_of(fn_of(&f)), num(3))));
    EXPECT_ERROR(LAM_ERR_CONTEXT, "passing", "setup_context", "mixed contexts: tensor 1");
    lam_ctx_free(other);
}
END_TEST

Suite *suite_custom_kept(void) {
    return SUITE_OF("custom/kept", a_saved_output_that_is_an_input_has_the_rule,
                    functions_that_hold_intermediates_are_refused_where_they_would_be_wrong,
                    functions_without_values_may_be_kept, tensors_of_another_context_are_not_saved);
}
