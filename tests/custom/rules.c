/* Which rule of a custom Function runs, under every transform and nesting. The rules of these Functions are wrong on
 * purpose (odd.h), so that the value shows which one ran; expected values are products of their factors and of
 * derivatives of powers, by hand. */
#include "tests/custom/odd.h"

static const lam_function *const styles[] = {&separate, &combined};

/* ---- one level --------------------------------------------------------------------------------------------------- */

START_TEST(value_runs_forward_only) {
    for (int s = 0; s < 2; s++) {
        forwards = setups = 0;
        EXPECT_NUM(apply1(fn_of(styles[s]), num(2)), 16);
        ck_assert_int_eq(forwards, 1);
        ck_assert_int_eq(setups, 0);
    }
}
END_TEST

START_TEST(grad_uses_backward) {
    for (int s = 0; s < 2; s++) EXPECT_NUM(apply1(reverse_of(fn_of(styles[s])), num(2)), 5 * 8);
}
END_TEST

START_TEST(jvp_uses_jvp) {
    for (int s = 0; s < 2; s++) EXPECT_NUM(apply1(forward_of(fn_of(styles[s])), num(2)), 7 * 8);
}
END_TEST

START_TEST(vmap_maps_all_callbacks) {
    for (int s = 0; s < 2; s++) {
        lam_fn *f = fn_of(styles[s]);
        EXPECT(apply1(lam_vmap(f, NULL), VEC(1, 2)), LAM_DIMS(2), 1, 16);
        EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 5, 40);
        EXPECT(apply1(lam_vmap(forward_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 7, 56);
    }
}
END_TEST

START_TEST(derivatives_of_vmap) {
    for (int s = 0; s < 2; s++) {
        lam_fn *rows = lam_vmap(fn_of(styles[s]), NULL);
        EXPECT(apply1(reverse_of(FN_ENV(sum_of, 1, 1, rows)), VEC(1, 2)), LAM_DIMS(2), 5, 40);
        EXPECT(apply1(forward_of(rows), VEC(1, 2)), LAM_DIMS(2), 7, 56);
    }
}
END_TEST

START_TEST(jacobians) {
    for (int s = 0; s < 2; s++) {
        lam_fn *rows = lam_vmap(fn_of(styles[s]), NULL);
        EXPECT(apply1(lam_jacrev(rows, NULL), VEC(1, 2)), LAM_DIMS(2, 2), 5, 0, 0, 40);
        EXPECT(apply1(lam_jacfwd(rows, NULL), VEC(1, 2)), LAM_DIMS(2, 2), 7, 0, 0, 56);
    }
}
END_TEST

START_TEST(linearize_uses_jvp) {
    for (int s = 0; s < 2; s++) {
        lam_tensor *value;
        lam_fn *linear;
        lam_linearize(fn_of(styles[s]), LAM_LIST(num(2)), &value, 1, &linear, NULL);
        EXPECT_NUM(value, 16);
        EXPECT_NUM(apply1(linear, num(3)), 7 * 8 * 3);
    }
}
END_TEST

/* ---- nestings to depth three
 * ---------------------------------------------------------------------------------------------- */

/* The innermost transform chooses the rule; the outer ones differentiate that rule: of c x^3, 3 c x^2 and 6 c x. */
START_TEST(every_nesting_of_modes) {
    lam_fn *(*const mode[2])(lam_fn *) = {reverse_of, forward_of};
    const double factor[2] = {5, 7};
    for (int s = 0; s < 2; s++)
        for (int path = 0; path < 8; path++) {
            double c = factor[path & 1];
            lam_fn *first = mode[path & 1](fn_of(styles[s])), *second = mode[path >> 1 & 1](first),
                   *third = mode[path >> 2 & 1](second);
            EXPECT_NUM(apply1(first, num(2)), c * 8);
            EXPECT_NUM(apply1(second, num(2)), 3 * c * 4);
            EXPECT_NUM(apply1(third, num(2)), 6 * c * 2);
            EXPECT(apply1(lam_vmap(third, NULL), VEC(1, 2)), LAM_DIMS(2), 6 * c, 12 * c);
            EXPECT(apply1(mode[path >> 2 & 1](FN_ENV(sum_of, 1, 1, lam_vmap(second, NULL))),
                          path >> 2 & 1 ? VEC(2) : VEC(2)),
                   path >> 2 & 1 ? LAM_DIMS0 : LAM_DIMS(1), 12 * c);
        }
}
END_TEST

BODY(value_of_vjp) {
    lam_fn *pullback;
    lam_vjp(env, LAM_LIST(in[0]), out, 1, &pullback, NULL);
}

BODY(value_of_jvp) {
    lam_tensor *tangent;
    lam_jvp(env, LAM_LIST(in[0]), LAM_LIST(lam_ones_like(in[0])), out, &tangent, 1, NULL);
}

/* The value that comes out of an inner transform still has the rule of the outer one, not the derivative of forward's
 * code. */
START_TEST(outputs_have_the_rule_of_every_level) {
    for (int s = 0; s < 2; s++) {
        lam_fn *f = fn_of(styles[s]);
        EXPECT_NUM(apply1(reverse_of(FN_ENV(value_of_vjp, 1, 1, f)), num(2)), 40);
        EXPECT_NUM(apply1(reverse_of(FN_ENV(value_of_jvp, 1, 1, f)), num(2)), 40);
        EXPECT_NUM(apply1(forward_of(FN_ENV(value_of_vjp, 1, 1, f)), num(2)), 56);
        EXPECT_NUM(apply1(forward_of(FN_ENV(value_of_jvp, 1, 1, f)), num(2)), 56);
    }
}
END_TEST

START_TEST(nested_vmap) {
    for (int s = 0; s < 2; s++) {
        lam_fn *twice = lam_vmap(lam_vmap(reverse_of(fn_of(styles[s])), NULL),
                                 &(lam_vmap_options){.in_axes = LAM_AXES(1), .out_axes = LAM_AXES(1)});
        EXPECT(apply1(twice, MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 5, 40, 135, 320);
        lam_fn *rows = lam_vmap(lam_vmap(fn_of(styles[s]), NULL), NULL);
        EXPECT(apply1(reverse_of(FN_ENV(sum_of, 1, 1, rows)), MAT(2, 2, 1, 2, 3, 4)), LAM_DIMS(2, 2), 5, 40, 135, 320);
        EXPECT(apply1(lam_vmap(reverse_of(FN_ENV(sum_of, 1, 1, lam_vmap(fn_of(styles[s]), NULL))), NULL),
                      MAT(2, 2, 1, 2, 3, 4)),
               LAM_DIMS(2, 2), 5, 40, 135, 320);
    }
}
END_TEST

START_TEST(setup_runs_once_per_derivative_level) {
    setups = forwards = 0;
    EXPECT_NUM(apply1(reverse_of(fn_of(&separate)), num(2)), 40);
    ck_assert_int_eq(setups, 1);
    ck_assert_int_eq(forwards, 1);
    setups = forwards = 0;
    EXPECT_NUM(apply1(reverse_of(reverse_of(fn_of(&separate))), num(2)), 60);
    ck_assert_int_eq(setups, 2);
    ck_assert_int_eq(forwards, 1);
    setups = forwards = 0;
    EXPECT(apply1(lam_vmap(reverse_of(fn_of(&separate)), NULL), VEC(1, 2)), LAM_DIMS(2), 5, 40);
    ck_assert_int_eq(setups, 1);
    ck_assert_int_eq(forwards, 1);
}
END_TEST

START_TEST(combined_forward_serves_value_and_saving) {
    forwards = 0;
    EXPECT_NUM(apply1(reverse_of(fn_of(&combined)), num(2)), 40);
    ck_assert_int_eq(forwards, 1);
    forwards = 0;
    EXPECT(apply1(lam_vmap(reverse_of(fn_of(&combined)), NULL), VEC(1, 2)), LAM_DIMS(2), 5, 40);
    ck_assert_int_eq(forwards, 1);
}
END_TEST

/* ---- the textbook: true rules
 * ----------------------------------------------------------------------------------------------- */

static void cube_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_integer_pow(in[0], 3);
}

static void cube_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    dout[0] = lam_mul(lam_mul(3.0, lam_square(lam_fctx_saved(fc, 0))), t[0]);
}

START_TEST(third_derivative_of_a_cube_by_three_jvps) {
    lam_function f = {.name = "cube",
                      .inputs = 1,
                      .outputs = 1,
                      .forward = cube_forward,
                      .setup_context = odd_setup,
                      .jvp = cube_jvp};
    EXPECT_NUM(apply1(forward_of(forward_of(forward_of(fn_of(&f)))), num(2)), 6);
}
END_TEST

/* ---- rules that are missing
 * ---------------------------------------------------------------------------------------------- */

START_TEST(reverse_mode_transposes_jvp) {
    lam_function f = separate;
    f.backward = NULL;
    EXPECT_NUM(apply1(reverse_of(fn_of(&f)), num(2)), 56);
    EXPECT_NUM(apply1(reverse_of(reverse_of(fn_of(&f))), num(2)), 3 * 7 * 4);
    EXPECT_NUM(apply1(forward_of(reverse_of(forward_of(fn_of(&f)))), num(2)), 6 * 7 * 2);
    EXPECT(apply1(lam_vmap(reverse_of(fn_of(&f)), NULL), VEC(1, 2)), LAM_DIMS(2), 7, 56);
}
END_TEST

/* x sqrt(y) */
static void root_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_mul(in[0], lam_sqrt(in[1]));
    lam_fctx_save_for_forward(fc, LAM_LIST(in[0], in[1]));
}

static void root_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_tensor *root = lam_sqrt(lam_fctx_saved(fc, 1));
    dout[0] = lam_add(lam_mul(t[0], root), lam_div(lam_mul(lam_fctx_saved(fc, 0), t[1]), lam_mul(2, root)));
}

static const lam_function root = {.name = "root", .inputs = 2, .outputs = 1, .forward = root_forward, .jvp = root_jvp};

BODY(of_first) {
    lam_tensor *y = env;
    lam_function_apply(ctx, &root, NULL, LAM_LIST(in[0], y), out, 1);
}

static lam_fn *by_first(lam_fn *f) {
    return lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0)});
}

START_TEST(transposed_jvp_gets_tangents_of_constants) {
    lam_fn *f = lam_function_fn(ctx, &root, NULL, 2, 1), *df = by_first(f);
    EXPECT_NUM(apply1(reverse_of(FN_ENV(of_first, 1, 1, num(9))), num(5)), 3);
    EXPECT_NUM(apply1(reverse_of(FN_ENV(of_first, 1, 1, num(0))), num(5)), 0); /* 0/0 times its tangent */
    EXPECT_NUM(apply1(reverse_of(reverse_of(FN_ENV(of_first, 1, 1, num(9)))), num(5)), 0);
    EXPECT_NUM(lam_apply(by_first(df), LAM_LIST(num(5), num(9))), 0);
    lam_fn *mixed = lam_grad(df, &(lam_grad_options){.argnums = LAM_AXES(1)});
    EXPECT_NUM(lam_apply(mixed, LAM_LIST(num(5), num(4))), 0.25);
    EXPECT(lam_apply(lam_vmap(df, NULL), LAM_LIST(VEC(5, 6), VEC(9, 4))), LAM_DIMS(2), 3, 2);
    EXPECT_NUM(apply1(forward_of(FN_ENV(of_first, 1, 1, num(9))), num(5)), 3);
}
END_TEST

/* Adds zeros, which a batch level or a tape hides in boxes. */
static void padded_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0);
    dout[0] = lam_add(lam_mul(t[0], 7), lam_mul(x, 0));
}

/* The same by products that are added in one operation, of which either factor is zero. */
static void fused_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0), *zero = lam_zeros_like(x);
    dout[0] = lam_fma(zero, x, lam_fma(x, zero, lam_mul(t[0], 7)));
}

START_TEST(zeros_in_boxes_may_be_added_by_a_linear_rule) {
    void (*const rules[])(lam_fctx *, lam_tensor *const *, lam_tensor **) = {padded_jvp, fused_jvp};
    for (int k = 0; k < 2; k++) {
        lam_function f = separate;
        f.backward = NULL;
        f.jvp = rules[k];
        EXPECT_NUM(apply1(reverse_of(fn_of(&f)), num(2)), 7);
        EXPECT_NUM(apply1(reverse_of(reverse_of(fn_of(&f))), num(2)), 0);
        EXPECT(apply1(lam_vmap(reverse_of(fn_of(&f)), NULL), VEC(1, 2)), LAM_DIMS(2), 7, 7);
    }
}
END_TEST

START_TEST(forward_mode_transposes_backward) {
    for (int s = 0; s < 2; s++) {
        lam_function f = *styles[s];
        f.jvp = NULL;
        EXPECT_NUM(apply1(forward_of(fn_of(&f)), num(2)), 40);
        EXPECT_NUM(apply1(forward_of(forward_of(fn_of(&f))), num(2)), 3 * 5 * 4);
        EXPECT_NUM(apply1(reverse_of(forward_of(reverse_of(fn_of(&f)))), num(2)), 6 * 5 * 2);
        EXPECT(apply1(lam_vmap(forward_of(fn_of(&f)), NULL), VEC(1, 2)), LAM_DIMS(2), 5, 40);
        EXPECT(apply1(forward_of(lam_vmap(fn_of(&f), NULL)), VEC(1, 2)), LAM_DIMS(2), 5, 40);
        EXPECT(apply1(lam_jacfwd(lam_vmap(fn_of(&f), NULL), NULL), VEC(1, 2)), LAM_DIMS(2, 2), 5, 0, 0, 40);
    }
}
END_TEST

static void scale_forward(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    (void)fc;
    out[0] = lam_mul(in[0], lam_cast(in[1], LAM_F64));
}

BODY(scaled) {
    const lam_function f = {.name = "scale", .inputs = 2, .outputs = 1, .forward = scale_forward, .is_linear = true};
    lam_tensor *factor = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){3});
    lam_function_apply(ctx, &f, NULL, LAM_LIST(lam_square(in[0]), factor), out, 1);
}

START_TEST(linear_function_is_its_own_derivative) {
    lam_fn *f = FN(scaled, 1, 1);
    EXPECT_NUM(apply1(forward_of(f), num(2)), 12);
    EXPECT_NUM(apply1(reverse_of(f), num(2)), 12);
    EXPECT_NUM(apply1(reverse_of(forward_of(f)), num(2)), 6);
    EXPECT_NUM(apply1(forward_of(reverse_of(f)), num(2)), 6);
    EXPECT(apply1(lam_vmap(reverse_of(f), NULL), VEC(1, 2)), LAM_DIMS(2), 6, 12);
    EXPECT(apply1(reverse_of(FN_ENV(sum_of, 1, 1, lam_vmap(f, NULL))), VEC(1, 2)), LAM_DIMS(2), 6, 12);
}
END_TEST

static void sine_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    (void)fc;
    dout[0] = lam_sin(t[0]);
}

static void reading_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    (void)fc;
    dout[0] = lam_mul(lam_item(t[0]), t[0]);
}

static void affine_jvp(lam_fctx *fc, lam_tensor *const t[], lam_tensor *dout[]) {
    lam_tensor *x = lam_fctx_saved(fc, 0);
    dout[0] = lam_fma(x, x, t[0]);
}

START_TEST(rule_that_is_not_linear_cannot_be_transposed) {
    lam_function f = separate;
    f.name = "crooked";
    f.backward = NULL;
    f.jvp = sine_jvp;
    apply1(reverse_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_LINEAR, "crooked", "jvp", "sin");
    f.jvp = affine_jvp;
    apply1(reverse_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_LINEAR, "crooked", "jvp", "fma adds a constant");
    f.jvp = reading_jvp;
    apply1(reverse_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_ABSTRACT, "crooked", "jvp", "lam_item");
}
END_TEST

START_TEST(missing_rules_are_named) {
    lam_function f = {.name = "bare", .inputs = 1, .outputs = 1, .forward = odd_forward, .setup_context = odd_setup};
    apply1(reverse_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_RULE, "bare", "no derivative rule", "backward");
    apply1(forward_of(fn_of(&f)), num(2));
    EXPECT_ERROR(LAM_ERR_RULE, "bare", "no derivative rule");
    apply1(lam_vmap(fn_of(&f), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_RULE, "bare", "no batching rule", "vmap_by_loop");
    f.generate_vmap_rule = f.vmap_by_loop = true;
    fn_of(&f);
    EXPECT_ERROR(LAM_ERR_RULE, "bare", "more than one batching rule");
}
END_TEST

Suite *suite_custom_rules(void) {
    return SUITE_OF("custom/rules", value_runs_forward_only, grad_uses_backward, jvp_uses_jvp, vmap_maps_all_callbacks,
                    derivatives_of_vmap, jacobians, linearize_uses_jvp, every_nesting_of_modes,
                    outputs_have_the_rule_of_every_level, nested_vmap, setup_runs_once_per_derivative_level,
                    combined_forward_serves_value_and_saving, third_derivative_of_a_cube_by_three_jvps,
                    reverse_mode_transposes_jvp, transposed_jvp_gets_tangents_of_constants,
                    zeros_in_boxes_may_be_added_by_a_linear_rule, forward_mode_transposes_backward,
                    linear_function_is_its_own_derivative, rule_that_is_not_linear_cannot_be_transposed,
                    missing_rules_are_named);
}
