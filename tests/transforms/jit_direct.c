/* jit: functions that are called as they are, since they draw, read elements, belong to open levels or come back to
 * themselves. What is compiled is in jit.c. */
#include "tests/support.h"

#include <string.h>

BODY(counted) {
    out[0] = lam_sum(lam_mul(in[0], lam_sin(in[0])), NULL);
}

BODY(noisy) {
    out[0] = lam_add(in[0], lam_rand(here, LAM_F64, LAM_DIMS(3)));
}

START_TEST(draws_are_new_at_each_call) {
    lam_fn *f = FN(noisy, 1, 1), *jitted = lam_jit(f, NULL);
    lam_tensor *x = VEC(0, 0, 0);
    const lam_random_state start = lam_ctx_random_state(ctx);
    lam_tensor *a = apply1(f, x), *b = apply1(f, x);
    lam_ctx_set_random_state(ctx, start);
    EXPECT_SAME(apply1(jitted, x), a, 0);
    EXPECT_SAME(apply1(jitted, x), b, 0);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 2);
    ck_assert(strstr(lam_jit_report_of(jitted).cause, "draws"));
}
END_TEST

BODY(calls_env) {
    lam_call(env, (lam_list){1, in}, out, 1);
}

START_TEST(levels_see_the_function_as_it_is) {
    lam_fn *jitted = lam_jit(FN(counted, 1, 1), NULL);
    lam_fn *g = lam_grad(FN_ENV(calls_env, 1, 1, jitted), NULL);
    EXPECT_NEAR(apply1(g, VEC(1, 2)), 1e-15, LAM_DIMS(2), sin(1) + cos(1), sin(2) + 2 * cos(2));
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 1);
    ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 0);
}
END_TEST

/* The inner function is jitted and takes a constant, but captures what is being differentiated. */
BODY(times_capture) {
    out[0] = lam_mul(in[0], in[1]);
}

BODY(captures_input) {
    lam_fn *inner = lam_fn_new(here, &(lam_fn_options){"inner", times_capture, 1, 1, .captures = LAM_LIST(in[0])});
    lam_fn *jitted = lam_jit(inner, NULL);
    out[0] = lam_add(apply1(jitted, num(3)), apply1(jitted, num(4)));
}

START_TEST(captured_values_of_open_levels) {
    EXPECT_NUM(apply1(lam_grad(FN(captures_input, 1, 1), NULL), num(5)), 7);
    EXPECT(apply1(lam_vmap(FN(captures_input, 1, 1), NULL), VEC(1, 2)), LAM_DIMS(2), 7, 14);
}
END_TEST

/* A linear Function that is one equation, and reads what it multiplies by as it runs. */
static lam_tensor *factor;

static void forward_scaled(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_mul(in[0], factor);
}

static void setup_scaled(UNUSED lam_fctx *fc, UNUSED lam_tensor *const in[], UNUSED lam_tensor *const out[]) {
}

static void shape_scaled(UNUSED lam_fctx *fc, const lam_type in[], lam_type out[]) {
    out[0] = in[0];
}

static const lam_function scaled = {.name = "scaled",
                                    .inputs = 1,
                                    .outputs = 1,
                                    .forward = forward_scaled,
                                    .backward = forward_scaled,
                                    .setup_context = setup_scaled,
                                    .shape = shape_scaled,
                                    .is_linear = true,
                                    .generate_vmap_rule = true};

BODY(sine_of_scaled) {
    lam_function_apply(here, &scaled, NULL, LAM_LIST(in[0]), out, 1);
    out[0] = lam_sin(out[0]);
    if (env) out[0] = lam_mul(out[0], factor);
}

BODY(factor_is_input) {
    factor = in[0];
    out[0] = lam_sum(apply1(env, VEC(0.25, 0.5)), NULL);
}

/* s is the factor, read by the Function as it runs, and in the second function by an equation too. */
START_TEST(linear_functions_that_read_open_levels) {
    const lam_jit_options all = {.fusion = LAM_JIT_ALL};
    lam_fn *f = lam_jit(FN(sine_of_scaled, 1, 1), &all), *g = lam_jit(FN_ENV(sine_of_scaled, 1, 1, ctx), &all);
    for (int k = 0; k < 2; k++) {
        EXPECT_NEAR(apply1(lam_grad(FN_ENV(factor_is_input, 1, 1, f), NULL), num(3)), 1e-15, LAM_DIMS0,
                    0.25 * cos(0.75) + 0.5 * cos(1.5));
        EXPECT_NEAR(apply1(lam_grad(FN_ENV(factor_is_input, 1, 1, g), NULL), num(3)), 1e-15, LAM_DIMS0,
                    0.75 * cos(0.75) + 1.5 * cos(1.5) + sin(0.75) + sin(1.5));
    }
    ck_assert_int_eq(lam_jit_report_of(f).recorded, 1);
    ck_assert_int_eq(lam_jit_report_of(g).recorded, 0);
}
END_TEST

BODY(branches) {
    double x = lam_item(in[0]);
    out[0] = x > 0 ? lam_sin(in[0]) : lam_cos(in[0]);
}

START_TEST(functions_that_look_at_their_inputs) {
    lam_fn *f = lam_jit(FN(branches, 1, 1), NULL);
    for (int k = 0; k < 2; k++) {
        EXPECT_NEAR(apply1(f, num(1)), 1e-15, LAM_DIMS0, sin(1));
        EXPECT_NEAR(apply1(f, num(-1)), 1e-15, LAM_DIMS0, cos(1));
    }
    ck_assert_int_eq(lam_jit_report_of(f).direct, 4);
    ck_assert(strstr(lam_jit_report_of(f).cause, "reads elements"));
}
END_TEST

/* The square of a number, by C code that looks at its memory. */
static void forward_square(lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    const double *x = lam_data(lam_contiguous(in[0]));
    out[0] = x ? lam_scalar(lam_fctx_ctx(fc), *x * *x) : lam_fail(lam_fctx_ctx(fc), LAM_ERR_USER, "no memory");
}

static const lam_function square_of_memory = {
    .name = "square", .inputs = 1, .outputs = 1, .forward = forward_square, .vmap_by_loop = true};

BODY(looks_at_memory) {
    const double *x = lam_data(in[0]);
    out[0] = x ? lam_scalar(here, *x * *x) : lam_fail(here, LAM_ERR_USER, "no memory");
}

START_TEST(functions_that_look_at_memory) {
    lam_fn *in_callback = lam_jit(lam_function_fn(ctx, &square_of_memory, NULL, 1, 1), NULL),
           *in_body = lam_jit(FN(looks_at_memory, 1, 1), NULL);
    for (int k = 1; k <= 3; k++) {
        EXPECT_NUM(apply1(in_callback, num(k)), k * k);
        EXPECT_NUM(apply1(in_body, num(k)), k * k);
    }
    ck_assert_int_eq(lam_jit_report_of(in_callback).direct, 3);
    ck_assert_int_eq(lam_jit_report_of(in_body).direct, 3);
    ck_assert(strstr(lam_jit_report_of(in_body).cause, "reads elements"));
}
END_TEST

BODY(is_negative) {
    out[0] = lam_lt(in[0], 0);
}

BODY(refuses) {
    out[0] = lam_fail(here, LAM_ERR_USER, "no root");
}

BODY(beyond_the_end) {
    out[0] = lam_mul(in[0], lam_index(lam_take(VEC(1, 2), lam_full(here, LAM_I64, LAM_DIMS(1), 2), 0), 0, 0));
}

BODY(root) {
    out[0] = lam_sqrt(in[0]);
}

/* The root; env is what is done with negative numbers instead. */
BODY(root_or_failure) {
    lam_cond(apply1(FN(is_negative, 1, 1), in[0]), FN_ENV(*(const lam_body *)env, 1, 1, NULL), FN(root, 1, 1),
             LAM_LIST(in[0]), out, 1);
}

/* Recording runs all branches, and these fail: only who takes them meets that. */
START_TEST(branches_that_fail_need_not_be_taken) {
    static const lam_body failing[] = {refuses, beyond_the_end};
    static const char *const words[] = {"no root", "take"};
    static const lam_status statuses[] = {LAM_ERR_USER, LAM_ERR_INDEX};
    for (int k = 0; k < 2; k++) {
        lam_fn *f = FN_ENV(root_or_failure, 1, 1, (void *)(uintptr_t)&failing[k]), *jitted = lam_jit(f, NULL);
        EXPECT_NUM(apply1(jitted, num(4)), 2);
        EXPECT_NUM(apply1(lam_jit(lam_grad(f, NULL), NULL), num(4)), 0.25);
        EXPECT_NUM(apply1(jitted, num(9)), 3);
        ck_assert_int_eq(lam_jit_report_of(jitted).direct, 2);
        ck_assert(strstr(lam_jit_report_of(jitted).cause, "branch"));
        (void)apply1(jitted, num(-4));
        EXPECT_OWN(statuses[k], words[k]);
    }
}
END_TEST

/* f is called again from within its own call: by the way back of a custom rule, for example. */
BODY(comes_back) {
    lam_fn **self = env;
    out[0] = lam_mul(in[0], 2);
    if (lam_rank(in[0]) == 1) out[0] = lam_sum(lam_add(out[0], apply1(*self, lam_index(in[0], 0, 0))), NULL);
}

START_TEST(a_function_that_calls_itself) {
    static lam_fn *self;
    self = lam_jit(FN_ENV(comes_back, 1, 1, &self), NULL);
    for (int k = 0; k < 2; k++) EXPECT_NUM(apply1(self, VEC(1, 2)), 10);
}
END_TEST

/* f(x) = x + y of a Function that is one equation of f and runs while f does: y = 2 x, but the first time 2 x + f(x),
 * or with `of_first` 2 x + f(x[0]), which is another signature. */
static lam_fn *running;
static bool comes_again, of_first;

static void forward_returning(UNUSED lam_fctx *fc, lam_tensor *const in[], lam_tensor *out[]) {
    out[0] = lam_mul(in[0], 2);
    if (!comes_again) return;
    comes_again = false;
    out[0] = lam_add(out[0], apply1(running, of_first ? lam_index(in[0], 0, 0) : in[0]));
}

BODY(plus_returning) {
    lam_function f = scaled;
    f.forward = f.backward = forward_returning;
    lam_function_apply(here, &f, NULL, LAM_LIST(in[0]), out, 1);
    out[0] = lam_add(in[0], out[0]);
}

/* The plan that is running is neither run again nor, where there is room for one signature, dropped for another. */
START_TEST(a_plan_that_is_running_is_left_alone) {
    running = lam_jit(FN(plus_returning, 1, 1), &(lam_jit_options){.signatures = 1});
    for (int k = 0; k < 4; k++) {
        comes_again = false;
        EXPECT(apply1(running, VEC(1, 2)), LAM_DIMS(2), 3, 6);
        comes_again = true, of_first = k % 2;
        if (of_first) EXPECT(apply1(running, VEC(1, 2)), LAM_DIMS(2), 6, 9);
        else EXPECT(apply1(running, VEC(1, 2)), LAM_DIMS(2), 6, 12);
    }
}
END_TEST

BODY(scaled_by_found) {
    out[0] = lam_mul(lam_sin(*(lam_tensor **)env), in[0]);
}

BODY(through_a_checkpoint) {
    void *found = (void *)(uintptr_t)&in[0];
    lam_fn *f = lam_checkpoint(FN_ENV(scaled_by_found, 1, 1, found), NULL);
    out[0] = lam_sum(lam_square(lam_apply(f, LAM_LIST(in[1]))), NULL);
}

/* A function within uses a tensor that it has not declared, which a call at hand may do and a recorded one may not;
 * where both may not, the message is that of the call. */
START_TEST(undeclared_captures_are_read_by_calls) {
    lam_fn *f = FN(through_a_checkpoint, 2, 1), *g = lam_grad(f, NULL), *jitted = lam_jit(g, NULL);
    lam_fn *both = lam_grad(f, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_tensor *out[2];
    for (int i = 0; i < 2; i++) EXPECT_SAME(apply2(jitted, num(0.7), VEC(1, 2)), apply2(g, num(0.7), VEC(1, 2)), 0);
    ck_assert_int_eq(lam_jit_report_of(jitted).recorded, 0);
    ck_assert_ptr_ne(strstr(lam_jit_report_of(jitted).cause, "none of its inputs and captures"), NULL);
    EXPECT_OK();
    ck_assert_int_eq(lam_call(lam_jit(both, NULL), LAM_LIST(num(0.7), VEC(1, 2)), out, 2), LAM_ERR_CAPTURED);
    EXPECT_ERROR(LAM_ERR_CAPTURED, "vjp", "scaled_by_found", "captures");
}
END_TEST

Suite *suite_transforms_jit_direct(void) {
    return SUITE_OF("transforms/jit_direct", draws_are_new_at_each_call, levels_see_the_function_as_it_is,
                    captured_values_of_open_levels, linear_functions_that_read_open_levels,
                    functions_that_look_at_their_inputs, functions_that_look_at_memory,
                    branches_that_fail_need_not_be_taken, a_function_that_calls_itself,
                    a_plan_that_is_running_is_left_alone, undeclared_captures_are_read_by_calls);
}
