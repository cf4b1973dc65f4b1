/* Custom Functions in functions that are checkpointed. A policy is about what the body of the checkpointed function does
 * itself: the name that it keeps is given inside the Function as well, in every callback, to other values. Expected
 * values by hand: the Function is the sine, with its true derivative. */
#include "tests/custom/callbacks.h"

#include <math.h>

static lam_tensor *named(lam_tensor *x) {
    return lam_checkpoint_name(x, "y");
}

/* ---- the sine in each style -------------------------------------------------------------------------------------- */

FORWARD(sine) {
    out[0] = named(lam_sin(in[0]));
}

FORWARD(sine_saving) {
    sine(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(named(lam_cos(in[0]))));
}

SETUP(save_cosine) {
    lam_fctx_save_for_backward(fc, LAM_LIST(named(lam_cos(in[0]))));
}

BACKWARD(times_cosine) {
    gx[0] = named(lam_mul(g[0], named(lam_fctx_saved(fc, 0))));
}

JVP(cosine_times) {
    dout[0] = named(lam_mul(t[0], named(lam_fctx_saved(fc, 0))));
}

static const lam_function combined = {
    .name = "combined", .inputs = 1, .outputs = 1, .forward = sine_saving, .backward = times_cosine};
static const lam_function separate = {.name = "separate",
                                      .inputs = 1,
                                      .outputs = 1,
                                      .forward = sine,
                                      .setup_context = save_cosine,
                                      .backward = times_cosine,
                                      .jvp = cosine_times,
                                      .generate_vmap_rule = true};

BODY(sine_of) {
    out[0] = named(lam_sin(in[0]));
}

BODY(sine_and_x) {
    out[0] = named(lam_sin(in[0]));
    out[1] = named(in[0]);
}

BODY(pulled) {
    out[0] = named(lam_mul(in[1], named(lam_cos(in[0]))));
}

/* The value comes from C, and no level knows it. */
BODY(number_and_x) {
    out[0] = lam_scalar(ctx, sin(lam_item(in[0])));
    out[1] = in[0];
}

BODY(pushed) {
    out[0] = named(lam_sin(in[0]));
    out[1] = named(lam_mul(in[1], named(lam_cos(in[0]))));
}

typedef enum style { COMBINED, SEPARATE, VJP_RULE, JVP_RULE, CHECKPOINTED, FROM_C, STYLES } style;

static const char *const y_alone[] = {"y"};
static const lam_checkpoint_options keeps_y = {.policy = LAM_CHECKPOINT_NAMED, .names = y_alone, .name_count = 1};

static lam_fn *sine_in(style s) {
    lam_fn *f = FN(sine_of, 1, 1), *back = FN(pulled, 2, 1);
    switch (s) {
    case COMBINED: return fn_of(&combined);
    case SEPARATE: return fn_of(&separate);
    case VJP_RULE: return lam_custom_vjp(f, FN(sine_and_x, 1, 2), back, NULL);
    case JVP_RULE: return lam_custom_jvp(f, FN(pushed, 2, 2), NULL);
    case FROM_C: return lam_custom_vjp(f, FN(number_and_x, 1, 2), back, NULL);
    default: return lam_checkpoint(f, &keeps_y);
    }
}

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

/* 9 sin(x)^2, whose derivative reads 3 sin(x). */
BODY(squared) {
    out[0] = lam_square(named(lam_mul(3.0, apply1(sine_in(*(const style *)env), in[0]))));
}

START_TEST(a_policy_is_about_the_body_alone) {
    const style s = (style)_i;
    lam_fn *f = lam_checkpoint(FN_ENV(squared, 1, 1, (void *)(uintptr_t)&s), &keeps_y);
    for (int deep = 1; deep <= 3; deep++, f = lam_checkpoint(f, &keeps_y)) {
        EXPECT_NEAR(apply1(lam_grad(f, NULL), num(0.3)), 1e-14, LAM_DIMS0, 9 * sin(0.6));
        EXPECT_NEAR(apply1(lam_jacfwd(f, NULL), num(0.3)), 1e-14, LAM_DIMS0, 9 * sin(0.6));
        if (s == FROM_C) continue; /* whose value has no derivative of its own, and cannot be read in a batch */
        EXPECT_NEAR(apply1(lam_hessian(f, NULL), num(0.3)), 1e-13, LAM_DIMS0, 18 * cos(0.6));
        EXPECT_NEAR(apply1(lam_grad(lam_grad(f, NULL), NULL), num(0.3)), 1e-13, LAM_DIMS0, 18 * cos(0.6));
        EXPECT_NEAR(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(0.3, -0.7)), 1e-14, LAM_DIMS(2), 9 * sin(0.6),
                    9 * sin(-1.4));
        EXPECT_NEAR(apply1(lam_jit(lam_grad(f, NULL), NULL), num(0.3)), 1e-14, LAM_DIMS0, 9 * sin(0.6));
    }
}
END_TEST

Suite *suite_custom_recomputed(void) {
    Suite *suite = suite_of("custom/recomputed", NULL, 0);
    suite_loop(suite, a_policy_is_about_the_body_alone, STYLES);
    return suite;
}
