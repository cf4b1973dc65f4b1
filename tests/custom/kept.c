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
                    tensors_of_another_context_are_not_saved);
}
