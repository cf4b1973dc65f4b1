/* In-place Functions, views as outputs, hooks on gradients. Expected values by hand. */
#include "tests/custom/callbacks.h"

/* ---- exp in place ------------------------------------------------------------------------------------------------ */

FORWARD(exp_forward) {
    lam_assign_(in[0], lam_exp(in[0]));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = in[0];
}

FORWARD(exp_combined) {
    exp_forward(fc, in, out);
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

SETUP(exp_setup) {
    lam_fctx_save_for_backward(fc, LAM_LIST(out[0]));
}

/* Twice and three times the true derivative, to tell the rules from the code. */
BACKWARD(exp_backward) {
    gx[0] = lam_mul(lam_mul(2.0, lam_fctx_saved(fc, 0)), g[0]);
}

JVP(exp_jvp) {
    dout[0] = lam_mul(lam_mul(3.0, lam_fctx_saved(fc, 0)), t[0]);
}

static const lam_function exp_separate = {.name = "exp_",
                                          .inputs = 1,
                                          .outputs = 1,
                                          .forward = exp_forward,
                                          .setup_context = exp_setup,
                                          .backward = exp_backward,
                                          .jvp = exp_jvp,
                                          .generate_vmap_rule = true};
static const lam_function exp_one = {
    .name = "exp_", .inputs = 1, .outputs = 1, .forward = exp_combined, .backward = exp_backward, .jvp = exp_jvp};
static const lam_function *const styles[] = {&exp_separate, &exp_one};

/* What the caller's handle shows after the call is what comes out. */
BODY(through_handle) {
    lam_tensor *x = lam_alias(in[0]), *y;
    lam_function_apply(ctx, env, NULL, LAM_LIST(x), &y, 1);
    out[0] = x;
}

START_TEST(callers_handle_shows_the_new_value_at_every_level) {
    for (int s = 0; s < 2; s++) {
        lam_fn *f = FN_ENV(through_handle, 1, 1, (void *)(uintptr_t)styles[s]), *g = lam_grad(f, NULL),
               *d = FN_ENV(along, 1, 1, f);
        EXPECT_NEAR(apply1(f, num(2)), 1e-15, LAM_DIMS0, exp(2));
        EXPECT_NEAR(apply1(g, num(2)), 1e-15, LAM_DIMS0, 2 * exp(2));
        EXPECT_NEAR(apply1(d, num(2)), 1e-15, LAM_DIMS0, 3 * exp(2));
        EXPECT_NEAR(apply1(lam_grad(g, NULL), num(2)), 1e-15, LAM_DIMS0, 4 * exp(2));
        EXPECT_NEAR(apply1(lam_grad(d, NULL), num(2)), 1e-15, LAM_DIMS0, 6 * exp(2));
        EXPECT_NEAR(apply1(lam_vmap(f, NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2), 1, exp(2));
        EXPECT_NEAR(apply1(lam_vmap(g, NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2), 2, 2 * exp(2));
        EXPECT_NEAR(apply1(lam_jacfwd(lam_vmap(f, NULL), NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2, 2), 3, 0, 0, 3 * exp(2));
    }
}
END_TEST

FORWARD(exp_alias) {
    lam_assign_(in[0], lam_exp(in[0]));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = lam_alias(in[0]);
}

/* The output may be another handle of what the input was overwritten with. */
START_TEST(output_may_be_an_alias_of_the_dirty_input) {
    lam_function f = exp_separate;
    f.forward = exp_alias;
    lam_fn *g = FN_ENV(through_handle, 1, 1, &f);
    EXPECT_NEAR(apply1(g, num(2)), 1e-15, LAM_DIMS0, exp(2));
    EXPECT_NEAR(apply1(lam_grad(g, NULL), num(2)), 1e-15, LAM_DIMS0, 2 * exp(2));
}
END_TEST

START_TEST(callers_value_is_copied_when_others_see_it) {
    lam_tensor *x = VEC(0, 1), *view = lam_slice_axis(x, 0, 1, 2), *y;
    lam_function_apply(ctx, &exp_separate, NULL, LAM_LIST(x), &y, 1);
    EXPECT_NEAR(x, 1e-15, LAM_DIMS(2), 1, exp(1));
    EXPECT_NEAR(y, 1e-15, LAM_DIMS(2), 1, exp(1));
    EXPECT(view, LAM_DIMS(1), 1);
}
END_TEST

BODY(overwrites_captured) {
    lam_tensor *y;
    lam_function_apply(ctx, &exp_separate, NULL, LAM_LIST((lam_tensor *)env), &y, 1);
    out[0] = lam_add(in[0], y);
}

START_TEST(captured_handle_is_not_rebound) {
    lam_tensor *x = num(1);
    apply1(FN_ENV(overwrites_captured, 1, 1, x), num(2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "exp_");
    EXPECT_NUM(x, 1);
}
END_TEST

FORWARD(overwrites_unmarked) {
    lam_add_(in[0], in[0]);
    out[0] = in[0];
}

FORWARD(marks_but_keeps) {
    lam_assign_(in[0], lam_exp(in[0]));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = lam_zeros_like(in[0]);
}

FORWARD(marks_a_stranger) {
    out[0] = lam_exp(in[0]);
    lam_fctx_mark_dirty(fc, LAM_LIST(out[0]));
}

FORWARD(adds_second) {
    lam_add_(in[0], in[1]);
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = in[0];
}

START_TEST(wrong_marks) {
    lam_function f = {.name = "rewriter", .inputs = 1, .outputs = 1, .forward = overwrites_unmarked};
    lam_tensor *y, *x = num(1);
    lam_function_apply(ctx, &f, NULL, LAM_LIST(x), &y, 1);
    EXPECT_ERROR(LAM_ERR_RULE, "rewriter", "forward", "input 0", "not marked dirty");
    f.forward = marks_but_keeps;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(x), &y, 1);
    EXPECT_ERROR(LAM_ERR_RULE, "rewriter", "forward", "input 0", "none of the outputs");
    f.forward = marks_a_stranger;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(x), &y, 1);
    EXPECT_ERROR(LAM_ERR_RULE, "rewriter", "forward", "tensor 0", "is not an input");
    f.forward = adds_second;
    f.inputs = 2;
    lam_function_apply(ctx, &f, NULL, LAM_LIST(x, x), &y, 1);
    EXPECT_ERROR(LAM_ERR_RULE, "rewriter", "inputs 0 and 1 are the same tensor");
    EXPECT_NUM(x, 1);
    lam_function_apply(ctx, &f, NULL, LAM_LIST(x, num(4)), &y, 1);
    EXPECT_NUM(x, 5);
}
END_TEST

/* What forward lets go of early is not overwritten, not even when its handle comes to show something else. */
FORWARD(drops_its_input) {
    out[0] = lam_exp(in[0]);
    lam_drop(in[0]);
    for (int i = 0; i < 300; i++) lam_drop(lam_scalar(ctx, i));
    lam_tensor *made[300];
    for (int i = 0; i < 300; i++) made[i] = lam_scalar(ctx, i);
    lam_drop(made[0]);
}

START_TEST(dropped_inputs_are_not_overwritten) {
    const lam_function f = {.name = "dropper", .inputs = 1, .outputs = 1, .forward = drops_its_input};
    lam_tensor *x = num(0);
    EXPECT_NUM(call_function(&f, NULL, LAM_LIST(x)), 1);
    EXPECT_NUM(x, 0);
}
END_TEST

/* The function itself, called in its own forward after the mark: each call has marks of its own. */
static lam_fn *doubling;
static int left;

FORWARD(doubles_recursively) {
    lam_add_(in[0], in[0]);
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    if (left-- > 0) lam_add_(in[0], apply1(doubling, num(10)));
    out[0] = in[0];
}

START_TEST(marks_belong_to_one_call) {
    lam_function f = {.name = "doubling", .inputs = 1, .outputs = 1, .forward = doubles_recursively};
    doubling = fn_of(&f);
    left = 2;
    EXPECT_NUM(apply1(doubling, num(1)), 2 + 20 + 20);
}
END_TEST

static void adds_one_vmap(lam_fctx *fc, const lam_vmap_info *info, const int in_axes[], lam_tensor *const in[],
                          lam_tensor *out[], int out_axes[]) {
    (void)info;
    lam_assign_(in[0], lam_exp(in[0]));
    lam_fctx_mark_dirty(fc, LAM_LIST(in[0]));
    out[0] = in[0];
    out_axes[0] = in_axes[0];
}

START_TEST(vmap_rule_may_overwrite_too) {
    lam_function f = exp_separate;
    f.generate_vmap_rule = false;
    f.vmap = adds_one_vmap;
    EXPECT_NEAR(apply1(lam_vmap(FN_ENV(through_handle, 1, 1, &f), NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2), 1, exp(2));
    f.vmap = NULL;
    f.vmap_by_loop = true;
    EXPECT_NEAR(apply1(lam_vmap(FN_ENV(through_handle, 1, 1, &f), NULL), VEC(0, 2)), 1e-15, LAM_DIMS(2), 1, exp(2));
}
END_TEST

/* ---- outputs that share storage with inputs ---------------------------------------------------------------------- */

FORWARD(halves_forward) {
    out[0] = lam_slice_axis(in[0], 0, 0, 2);
    out[1] = lam_slice_axis(in[0], 0, 2, LAM_END);
}

SETUP(saves_nothing) {
}

BACKWARD(halves_backward) {
    gx[0] = lam_concatenate(LAM_LIST(lam_mul(5.0, g[0]), lam_mul(7.0, g[1])), 0);
}

BODY(halves) {
    const lam_function f = {.name = "halves",
                            .inputs = 1,
                            .outputs = 2,
                            .forward = halves_forward,
                            .setup_context = saves_nothing,
                            .backward = halves_backward,
                            .generate_vmap_rule = true};
    lam_tensor *y[2];
    lam_function_apply(ctx, &f, NULL, LAM_LIST(in[0]), y, 2);
    lam_mul_(y[0], y[0]); /* an overwritten view leaves the input alone */
    out[0] = lam_sum(lam_concatenate(LAM_LIST(y[0], y[1], in[0]), 0), NULL);
}

START_TEST(views_of_inputs_have_the_rule_of_the_function) {
    lam_fn *f = FN(halves, 1, 1);
    EXPECT_NUM(apply1(f, VEC(2, 3, 4, 5)), 4 + 9 + 4 + 5 + 14);
    EXPECT(apply1(lam_grad(f, NULL), VEC(2, 3, 4, 5)), LAM_DIMS(4), 5 * 4 + 1, 5 * 6 + 1, 8, 8);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), MAT(1, 4, 2, 3, 4, 5)), LAM_DIMS(1, 4), 21, 31, 8, 8);
}
END_TEST

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

static double noted;

BODY(notes) {
    noted = lam_item(in[0]);
    out[0] = in[0];
}

BODY(doubles) {
    out[0] = lam_mul(2.0, in[0]);
}

typedef struct hooked {
    lam_fn *callback;
    lam_hook *hook;
} hooked;

BODY(square_with_hook) {
    hooked *h = env;
    out[0] = lam_square(lam_on_gradient(in[0], h->callback, &h->hook));
}

START_TEST(hook_sees_and_replaces_cotangents) {
    hooked see = {.callback = FN(notes, 1, 1)}, change = {.callback = FN(doubles, 1, 1)};
    EXPECT_NUM(apply1(lam_grad(FN_ENV(square_with_hook, 1, 1, &see), NULL), num(3)), 6);
    ck_assert_double_eq(noted, 6);
    lam_fn *f = FN_ENV(square_with_hook, 1, 1, &change);
    EXPECT_NUM(apply1(f, num(3)), 9);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 12);
    EXPECT_NUM(apply1(lam_grad(lam_grad(f, NULL), NULL), num(3)),
               8); /* 2 (2 x) through two hooks: 4 x, then again doubled */
    EXPECT_NUM(apply1(FN_ENV(along, 1, 1, f), num(3)), 6);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 4)), LAM_DIMS(2), 12, 16);
}
END_TEST

START_TEST(removed_hook_is_the_identity) {
    hooked h = {.callback = FN(doubles, 1, 1)};
    lam_fn *pullback;
    lam_tensor *y;
    lam_vjp(FN_ENV(square_with_hook, 1, 1, &h), LAM_LIST(num(3)), &y, 1, &pullback, NULL);
    EXPECT_NUM(apply1(pullback, num(1)), 12);
    lam_hook_remove(h.hook); /* alive as long as the pullback is */
    lam_hook_remove(NULL);
    EXPECT_NUM(apply1(pullback, num(1)), 6);
    lam_fn_drop(pullback);
    lam_hook_remove(h.hook);
    EXPECT_OK();
}
END_TEST

START_TEST(hook_of_wrong_arity) {
    lam_on_gradient(num(1), FN(doubles, 1, 2), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "lam_on_gradient", "doubles");
    ck_assert(lam_failed(lam_on_gradient(num(1), NULL, NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "lam_on_gradient", "the function is NULL");
}
END_TEST

Suite *suite_custom_in_place(void) {
    return SUITE_OF("custom/in_place", callers_handle_shows_the_new_value_at_every_level,
                    output_may_be_an_alias_of_the_dirty_input, callers_value_is_copied_when_others_see_it,
                    captured_handle_is_not_rebound, wrong_marks, dropped_inputs_are_not_overwritten,
                    marks_belong_to_one_call, vmap_rule_may_overwrite_too,
                    views_of_inputs_have_the_rule_of_the_function, hook_sees_and_replaces_cotangents,
                    removed_hook_is_the_identity, hook_of_wrong_arity);
}
