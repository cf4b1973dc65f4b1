/* Custom Functions in functions that are checkpointed. A policy is about what the body of the checkpointed function
 * does itself: the name that it keeps is given inside the Function as well, in every callback, to other values.
 * Expected values by hand: Functions are the sine or the square, with their true derivatives. */
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

/* ---- foreign code ------------------------------------------------------------------------------------------------ */

/* Sizes on both sides of the one from which calls are put off. */
enum { FEW = 4, MOST = 600 };

/* a x y, by C code that reads one operand and looks at the memory of the other. */
static lam_tensor *product_in_c(double a, lam_tensor *x, lam_tensor *y) {
    double p[MOST];
    const double *q = lam_data(lam_contiguous(y));
    const size_t n = (size_t)lam_size(x);
    if (lam_read(x, p, n * sizeof *p) != LAM_OK || !q) return lam_fail(ctx, LAM_ERR_USER, "no raw data");
    for (size_t i = 0; i < n; i++) p[i] *= a * q[i];
    return lam_array(ctx, LAM_F64, lam_dims_of(x), p);
}

FORWARD(square_in_c) {
    out[0] = product_in_c(1, in[0], in[0]);
}

SETUP(save_x) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[0]));
}

FORWARD(square_saving) {
    square_in_c(fc, in, out);
    save_x(fc, in, out);
}

BACKWARD(twice_in_c) {
    gx[0] = product_in_c(2, g[0], lam_fctx_saved(fc, 0));
}

static const lam_function foreign[] = {
    {.name = "foreign", .inputs = 1, .outputs = 1, .forward = square_saving, .backward = twice_in_c},
    {.name = "apart",
     .inputs = 1,
     .outputs = 1,
     .forward = square_in_c,
     .setup_context = save_x,
     .backward = twice_in_c,
     .vmap_by_loop = true}};

/* The sum of x^2, whose argument is put off. */
BODY(sum_of_squares) {
    out[0] = lam_sum(call_function(env, NULL, LAM_LIST(named(lam_mul(1.0, in[0])))), NULL);
}

START_TEST(foreign_code_reads_what_is_put_off) {
    const lam_checkpoint_options policies[] = {{.policy = LAM_CHECKPOINT_NOTHING}, keeps_y};
    const int sizes[] = {FEW, MOST};
    lam_fn *f = FN_ENV(sum_of_squares, 1, 1, (void *)(uintptr_t)&foreign[_i]);
    for (int k = 0; k < 4; k++) {
        lam_tensor *x = lam_arange(ctx, LAM_F64, 0, sizes[k % 2], 1);
        lam_fn *again = lam_checkpoint(f, &policies[k / 2]);
        EXPECT_SAME(apply1(lam_grad(again, NULL), x), lam_mul(2.0, x), 0);
        EXPECT_SAME(apply1(lam_grad(lam_checkpoint(again, &keeps_y), NULL), x), lam_mul(2.0, x), 0);
        apply1(lam_grad(FN_ENV(sum_of, 1, 1, lam_grad(again, NULL)), NULL), x);
        EXPECT_ERROR(LAM_ERR_RULE, foreign[_i].name, "lam_", "would be lost");
    }
}
END_TEST

Suite *suite_custom_recomputed(void) {
    Suite *suite = suite_of("custom/recomputed", NULL, 0);
    suite_loop(suite, foreign_code_reads_what_is_put_off, 2);
    suite_loop(suite, a_policy_is_about_the_body_alone, STYLES);
    return suite;
}
