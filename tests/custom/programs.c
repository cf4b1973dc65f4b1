/* Functions with rules in programs that are differentiated later: choices and loops on traced values under lam_jit, and
 * what lam_trace gives. The rules are those of odd.h, so that the value shows whether they ran; expected values are
 * products of their factors and of derivatives of powers, by hand. */
#include "tests/custom/odd.h"

#include <math.h>

/* The same as rules for functions. */
BODY(fourth_power) {
    out[0] = lam_square(lam_square(in[0]));
}

BODY(power_and_point) {
    fourth_power(ctx, in, out, env);
    out[1] = in[0];
}

BODY(pulled_back) {
    out[0] = times_cube(5, in[0], in[1]);
}

BODY(pushed_forward) {
    fourth_power(ctx, in, out, env);
    out[1] = times_cube(7, in[0], in[1]);
}

static lam_fn *with_vjp(void) {
    return lam_custom_vjp(FN(fourth_power, 1, 1), FN(power_and_point, 1, 2), FN(pulled_back, 2, 1), NULL);
}

static lam_fn *with_jvp(void) {
    return lam_custom_jvp(FN(fourth_power, 1, 1), FN(pushed_forward, 2, 2), NULL);
}

/* ---- where they are called --------------------------------------------------------------------------------------- */

BODY(zero) {
    out[0] = lam_mul(0.0, in[0]);
}

/* env's function of x, elementwise, in a choice. */
BODY(in_a_branch) {
    lam_cond(lam_gt(lam_sum(in[0], NULL), 0), env, FN(zero, 1, 1), LAM_LIST(in[0]), out, 1);
}

BODY(below_one) {
    out[0] = lam_lt(in[0], 1);
}

BODY(count_and_apply) {
    out[0] = lam_add(in[0], 1);
    out[1] = apply1(env, in[1]);
}

/* Once. */
BODY(in_a_while) {
    lam_tensor *both[2], *start = lam_mul(0.0, lam_sum(in[0], NULL));
    lam_while(FN(below_one, 2, 1), FN_ENV(count_and_apply, 2, 2, env), LAM_LIST(start, in[0]), both, 2);
    out[0] = both[1];
}

BODY(apply_to_element) {
    out[0] = in[0];
    out[1] = apply1(env, in[1]);
}

/* A hundred times to the same; the mean of the results. */
BODY(in_a_long_scan) {
    lam_tensor *both[2], *rows = lam_broadcast_to(in[0], LAM_DIMS(100, lam_dim(in[0], 0)));
    lam_scan(FN_ENV(apply_to_element, 2, 2, env), LAM_LIST(lam_scalar(ctx, 0)), LAM_LIST(rows), both, 2, NULL);
    out[0] = lam_mean(both[1], &(lam_reduce_options){.axes = LAM_AXES(0)});
}

/* A choice in a choice. */
BODY(in_two_branches) {
    out[0] = apply1(FN_ENV(in_a_branch, 1, 1, FN_ENV(in_a_branch, 1, 1, env)), in[0]);
}

BODY(recorded) {
    out[0] = apply1(lam_trace(env, LAM_LIST(in[0])), in[0]);
}

BODY(checkpointed) {
    out[0] = apply1(lam_checkpoint(env, NULL), in[0]);
}

BODY(checkpointed_with_contractions) {
    out[0] = apply1(lam_checkpoint(env, &(lam_checkpoint_options){.policy = LAM_CHECKPOINT_CONTRACTIONS}), in[0]);
}

static const lam_body places[] = {
    in_a_branch, in_a_while, in_a_long_scan, in_two_branches, recorded, checkpointed, checkpointed_with_contractions};
enum { PLACES = sizeof places / sizeof *places };

static lam_fn *(*const modes[])(lam_fn *) = {reverse_of, forward_of};

/* The derivative of the sum of f(x) by x, by mode. */
static lam_fn *derivative(int mode, lam_fn *f) {
    return mode ? forward_of(f) : lam_grad(FN_ENV(sum_of, 1, 1, f), NULL);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

START_TEST(rules_run_wherever_a_function_is_called) {
    lam_fn *functions[] = {fn_of(&separate), fn_of(&combined), with_vjp(), with_jvp()};
    const double factors[][2] = {{5, 7}, {5, 7}, {5, 5}, {7, 7}};
    for (int f = 0; f < 4; f++)
        for (int place = 0; place < PLACES; place++)
            for (int mode = 0; mode < 2; mode++) {
                lam_fn *d = derivative(mode, function_of("place", places[place], 1, 1, functions[f]));
                const double c = factors[f][mode];
                EXPECT_NEAR(apply1(d, VEC(1, 2)), 1e-14, LAM_DIMS(2), c, 8 * c);
                EXPECT_NEAR(apply1(lam_jit(d, NULL), VEC(1, 2)), 1e-14, LAM_DIMS(2), c, 8 * c);
            }
}
END_TEST

/* The innermost transform chooses the rule, the outer one differentiates it: 3 c x^2. */
START_TEST(rules_are_differentiated_again) {
    lam_fn *functions[] = {fn_of(&separate), fn_of(&combined)};
    for (int f = 0; f < 2; f++)
        for (int place = 0; place < PLACES; place++)
            for (int path = 0; path < 4; path++) {
                lam_fn *at = function_of("place", places[place], 1, 1, functions[f]);
                lam_fn *twice = derivative(path >> 1, derivative(path & 1, at));
                const double c = path & 1 ? 7 : 5;
                EXPECT_NEAR(apply1(lam_jit(twice, NULL), VEC(1, 2)), 1e-14, LAM_DIMS(2), 3 * c, 12 * c);
            }
}
END_TEST

BODY(square_of) {
    out[0] = lam_square(apply1(env, in[0]));
}

/* The value y of a function with lam_custom_vjp or lam_custom_jvp is what the rule has done, x^4, also to the level
 * around it, wherever that is called: the derivative of 2 y c x^3 is 2 (4 x^3) c x^3 + 2 x^4 (3 c x^2) = 14 c x^6. */
START_TEST(what_a_rule_has_done_is_differentiated) {
    lam_fn *functions[] = {with_vjp(), with_jvp()};
    for (int f = 0; f < 2; f++)
        for (int place = -1; place < PLACES; place++)
            for (int path = 0; path < 4; path++) {
                lam_fn *at = place < 0 ? functions[f] : function_of("place", places[place], 1, 1, functions[f]);
                lam_fn *once = derivative(path & 1, FN_ENV(square_of, 1, 1, at)), *twice = derivative(path >> 1, once);
                lam_fn *traced = derivative(path >> 1, lam_trace(once, LAM_LIST(VEC(1, 2))));
                const double c = f ? 7 : 5;
                EXPECT_NEAR(apply1(twice, VEC(1, 2)), 1e-14, LAM_DIMS(2), 14 * c, 896 * c);
                EXPECT_NEAR(apply1(lam_jit(twice, NULL), VEC(1, 2)), 1e-14, LAM_DIMS(2), 14 * c, 896 * c);
                EXPECT_NEAR(apply1(traced, VEC(1, 2)), 1e-14, LAM_DIMS(2), 14 * c, 896 * c);
            }
}
END_TEST

/* A program of a function, and one of the program, keep what is known of it, under every transform. */
START_TEST(recorded_functions_keep_their_rules) {
    lam_fn *functions[] = {fn_of(&separate), fn_of(&combined)};
    for (int f = 0; f < 2; f++) {
        lam_fn *once = lam_trace(functions[f], LAM_LIST(num(2))), *again = lam_trace(once, LAM_LIST(num(2)));
        for (int mode = 0; mode < 2; mode++) {
            const double c = mode ? 7 : 5;
            EXPECT_NUM(apply1(modes[mode](once), num(2)), 8 * c);
            EXPECT_NUM(apply1(modes[mode](again), num(2)), 8 * c);
            EXPECT_NUM(apply1(reverse_of(modes[mode](again)), num(2)), 12 * c);
            EXPECT(apply1(lam_vmap(modes[mode](again), NULL), VEC(1, 2)), LAM_DIMS(2), c, 8 * c);
            EXPECT(apply1(derivative(mode, lam_vmap(again, NULL)), VEC(1, 2)), LAM_DIMS(2), c, 8 * c);
            EXPECT_NUM(apply1(lam_trace(modes[mode](again), LAM_LIST(num(2))), num(2)), 8 * c);
        }
    }
}
END_TEST

/* Where no level looks, a program runs the operations that were recorded and calls nobody. */
START_TEST(values_come_from_the_operations) {
    lam_fn *p = lam_trace(fn_of(&separate), LAM_LIST(num(2)));
    lam_fn *f = lam_jit(FN_ENV(in_a_branch, 1, 1, fn_of(&separate)), NULL);
    EXPECT(apply1(f, VEC(1, 2)), LAM_DIMS(2), 1, 16);
    forwards = 0;
    EXPECT_NUM(apply1(p, num(2)), 16);
    EXPECT_NUM(apply1(lam_jit(p, NULL), num(2)), 16);
    EXPECT(apply1(f, VEC(2, 3)), LAM_DIMS(2), 16, 81);
    ck_assert_int_eq(forwards, 0);
}
END_TEST

/* Functions that give what they got, a constant, or one value twice, so that nothing but the rule tells their results
 * from what was there before. */
FORWARD(pass_forward) {
    out[0] = out[1] = in[0];
    out[2] = lam_ones(ctx, LAM_F64, LAM_DIMS0);
}

BACKWARD(pass_backward) {
    gx[0] = lam_add_all(LAM_LIST(lam_mul(10.0, g[0]), lam_mul(100.0, g[1]), lam_mul(1000.0, g[2])));
}

static const lam_function pass = {
    .name = "pass", .inputs = 1, .outputs = 3, .forward = pass_forward, .backward = pass_backward};

/* x + (x + 2 x + 3), whose rules give 1 + 10 + 2 * 100 + 3 * 1000. */
BODY(passed) {
    lam_tensor *y[3];
    lam_function_apply(ctx, &pass, NULL, LAM_LIST(in[0]), y, 3);
    out[0] = lam_add_all(LAM_LIST(in[0], y[0], lam_mul(2, y[1]), lam_mul(3, y[2])));
}

/* Of a result that nobody reads as well: x, whose rule gives 10. */
BODY(passed_alone) {
    lam_tensor *y[3];
    lam_function_apply(ctx, &pass, NULL, LAM_LIST(in[0]), y, 3);
    out[0] = y[0];
}

START_TEST(results_that_are_inputs_or_constants) {
    lam_fn *p = lam_trace(FN(passed, 1, 1), LAM_LIST(num(2)));
    EXPECT_NUM(apply1(p, num(2)), 11);
    EXPECT_NUM(apply1(reverse_of(p), num(2)), 3211);
    EXPECT_NUM(apply1(lam_jit(reverse_of(FN_ENV(in_a_branch, 1, 1, FN(passed, 1, 1))), NULL), num(2)), 3211);
    EXPECT_NUM(apply1(reverse_of(lam_trace(FN(passed_alone, 1, 1), LAM_LIST(num(2)))), num(2)), 10);
    EXPECT_NUM(apply1(lam_jit(reverse_of(FN_ENV(in_a_branch, 1, 1, FN(passed_alone, 1, 1))), NULL), num(2)), 10);
}
END_TEST

BODY(clip) {
    out[0] = lam_clamp(in[0], -1, 1);
}

BODY(clipped) {
    out[0] = lam_square(lam_on_gradient(in[0], FN(clip, 1, 1), NULL));
}

/* d/dx x^2 is 8 at 4, clipped to 1. */
START_TEST(hooks_in_programs) {
    EXPECT_NUM(apply1(lam_jit(reverse_of(FN_ENV(in_a_branch, 1, 1, FN(clipped, 1, 1))), NULL), num(4)), 1);
    EXPECT_NUM(apply1(reverse_of(lam_trace(FN(clipped, 1, 1), LAM_LIST(num(4)))), num(4)), 1);
}
END_TEST

/* An operand that the rule alone reads, and forward does not. */
FORWARD(first_forward) {
    out[0] = lam_alias(in[0]);
}

SETUP(save_second) {
    lam_fctx_save_for_backward(fc, LAM_LIST(in[1]));
}

BACKWARD(times_second) {
    gx[0] = lam_mul(g[0], lam_fctx_saved(fc, 0));
}

static const lam_function scaled = {.name = "scaled",
                                    .inputs = 2,
                                    .outputs = 1,
                                    .forward = first_forward,
                                    .setup_context = save_second,
                                    .backward = times_second};

/* With a slope that is computed for the rule. */
BODY(scaled_by_sum) {
    out[0] = call_function(&scaled, NULL, LAM_LIST(in[0], lam_add(in[1], in[2])));
}

BODY(scaled_in_a_branch) {
    lam_cond(lam_gt(in[0], 0), FN(scaled_by_sum, 3, 1), FN(scaled_by_sum, 3, 1), LAM_LIST(in[0], in[1], in[2]), out, 1);
}

START_TEST(operands_that_rules_alone_read) {
    lam_fn *p = lam_trace(FN(scaled_by_sum, 3, 1), LAM_LIST(num(1), num(1), num(1)));
    EXPECT_NUM(lam_apply(lam_grad(p, NULL), LAM_LIST(num(2), num(3), num(4))), 7);
    lam_fn *g = lam_jit(lam_grad(FN(scaled_in_a_branch, 3, 1), NULL), NULL);
    EXPECT_NUM(lam_apply(g, LAM_LIST(num(2), num(3), num(4))), 7);
    EXPECT_NUM(
        lam_apply(lam_trace(lam_grad(p, NULL), LAM_LIST(num(1), num(1), num(1))), LAM_LIST(num(2), num(3), num(4))), 7);
}
END_TEST

/* A Function in a Function: the rule of the outer one counts, and that of the inner one where the outer one's rule
 * calls it. */
FORWARD(outer_forward) {
    out[0] = lam_mul(2.0, call_function(&separate, NULL, LAM_LIST(in[0])));
}

BACKWARD(outer_backward) {
    gx[0] = lam_mul(g[0], call_function(&separate, NULL, LAM_LIST(lam_fctx_saved(fc, 0))));
}

static const lam_function outer = {.name = "outer",
                                   .inputs = 1,
                                   .outputs = 1,
                                   .forward = outer_forward,
                                   .setup_context = odd_setup,
                                   .backward = outer_backward,
                                   .generate_vmap_rule = true};

/* x^4, then 5 x^3. */
START_TEST(functions_in_functions) {
    lam_fn *p = lam_trace(fn_of(&outer), LAM_LIST(num(2))), *at = FN_ENV(in_a_branch, 1, 1, fn_of(&outer));
    EXPECT_NUM(apply1(p, num(2)), 32);
    EXPECT_NUM(apply1(reverse_of(p), num(2)), 16);
    EXPECT_NUM(apply1(reverse_of(reverse_of(p)), num(2)), 40);
    EXPECT_NUM(apply1(reverse_of(lam_trace(reverse_of(p), LAM_LIST(num(2)))), num(2)), 40);
    EXPECT_NUM(apply1(lam_jit(reverse_of(at), NULL), num(2)), 16);
    EXPECT_NUM(apply1(lam_jit(reverse_of(reverse_of(at)), NULL), num(2)), 40);
}
END_TEST

/* Bisection for the square root of p: the operations have derivative 0, the rule of the root has 1 / (2 sqrt p). */
BODY(bisected) {
    lam_tensor *lo = num(0), *hi = num(16);
    for (int i = 0; i < 60; i++) {
        lam_tensor *middle = lam_mul(0.5, lam_add(lo, hi)), *above = lam_gt(lam_square(middle), in[1]);
        hi = lam_where(above, middle, hi);
        lo = lam_where(above, lo, middle);
    }
    out[0] = lo;
}

BODY(square_less_p) {
    out[0] = lam_sub(lam_square(in[0]), in[1]);
}

static lam_tensor *divide(lam_ctx *where, lam_fn *linear, lam_tensor *b, void *env) {
    (void)where, (void)env;
    return lam_div(b, apply1(linear, lam_ones_like(b)));
}

BODY(root) {
    out[0] = lam_custom_root(FN(square_less_p, 2, 1), num(1), LAM_LIST(in[0]), FN(bisected, 2, 1), divide, NULL);
}

START_TEST(roots_in_programs) {
    EXPECT_NUM(apply1(lam_jit(reverse_of(FN_ENV(in_a_branch, 1, 1, FN(root, 1, 1))), NULL), num(4)), 0.25);
    EXPECT_NUM(apply1(reverse_of(lam_trace(FN(root, 1, 1), LAM_LIST(num(4)))), num(4)), 0.25);
}
END_TEST

/* A rule that is linear by its elements: what it adds is zero. */
BODY(square_and_tangent) {
    out[0] = lam_square(in[0]);
    out[1] = lam_add(lam_mul(lam_mul(2, in[0]), in[1]), lam_sub(in[0], in[0]));
}

BODY(crooked_and_tangent) {
    out[0] = lam_square(in[0]);
    out[1] = lam_add(in[1], in[0]);
}

BODY(square) {
    out[0] = lam_square(in[0]);
}

START_TEST(rules_that_are_linear_by_their_elements) {
    lam_fn *f = lam_custom_jvp(FN(square, 1, 1), FN(square_and_tangent, 2, 2), NULL);
    lam_fn *jitted = lam_jit(reverse_of(f), NULL);
    EXPECT_NUM(apply1(jitted, num(3)), 6);
    EXPECT_NUM(apply1(jitted, num(4)), 8);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 2);
    ck_assert(strstr(lam_jit_report_of(jitted).cause, "linear"));
    EXPECT_NUM(apply1(lam_jit(reverse_of(FN_ENV(in_a_branch, 1, 1, f)), NULL), num(3)), 6);
    f = lam_custom_jvp(FN(square, 1, 1), FN(crooked_and_tangent, 2, 2), NULL);
    apply1(lam_jit(reverse_of(f), NULL), num(3));
    EXPECT_ERROR(LAM_ERR_LINEAR, "square", "not linear");
}
END_TEST

/* x y; of a tangent that is a constant the rule makes zeros, which have no elements while a program is recorded. */
BODY(product) {
    out[0] = lam_dot(in[0], in[1]);
}

BODY(product_and_tangent) {
    out[0] = lam_dot(in[0], in[1]);
    out[1] = lam_add(lam_dot(in[1], in[2]), lam_dot(in[0], in[3]));
}

START_TEST(jacobians_record_rules_that_add_zeros) {
    lam_fn *f = lam_jacobian(lam_custom_jvp(FN(product, 2, 1), FN(product_and_tangent, 4, 2), NULL), NULL);
    lam_program *p = lam_trace(f, LAM_LIST(VEC(0, 0), VEC(0, 0)));
    lam_fn *jitted = lam_jit(f, NULL);
    EXPECT(apply2(p, VEC(2, 3), VEC(5, 7)), LAM_DIMS(2), 5, 7);
    EXPECT(apply2(jitted, VEC(2, 3), VEC(5, 7)), LAM_DIMS(2), 5, 7);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
}
END_TEST

/* What a forward hands out behind its results' back has no rule. */
static lam_tensor *handed_out;

FORWARD(leaking_forward) {
    handed_out = lam_hold(lam_sin(in[0]));
    out[0] = lam_cos(in[0]);
}

BODY(leaked) {
    lam_function f = separate;
    f.name = "leaking";
    f.forward = leaking_forward;
    lam_tensor *y = call_function(&f, NULL, LAM_LIST(in[0]));
    out[0] = lam_add(y, handed_out);
    lam_release(handed_out);
}

START_TEST(values_from_inside_are_refused) {
    lam_fn *p = lam_trace(FN(leaked, 1, 1), LAM_LIST(num(0)));
    EXPECT_NUM(apply1(p, num(0)), 1);
    apply1(reverse_of(p), num(0));
    EXPECT_ERROR(LAM_ERR_RULE, "leaking", "inside", "return it as an output");
}
END_TEST

/* The text of a program is that of its operations; the functions that are held go with it. */
START_TEST(programs_give_everything_back) {
    lam_scope *scope = lam_scope_begin(ctx);
    lam_fn *p = lam_trace(FN_ENV(in_a_long_scan, 1, 1, with_vjp()), LAM_LIST(VEC(1, 2)));
    EXPECT_OK();
    ck_assert_int_eq(lam_program_check(p), LAM_OK);
    lam_fn_hold(p);
    lam_scope_end(scope, NULL, 0);
    EXPECT_NEAR(apply1(lam_grad(FN_ENV(sum_of, 1, 1, p), NULL), VEC(1, 2)), 1e-14, LAM_DIMS(2), 5, 40);
    lam_fn_release(p);
}
END_TEST

/* ---- gradients that are zero whatever is chosen ------------------------------------------------------------------ */

BODY(first_of_two) {
    out[0] = lam_mul(2.0, in[0]);
}

BODY(cube_of_first) {
    out[0] = lam_integer_pow(in[0], 3);
}

/* The cube of x where x is small; the mean is an operand that neither function reads. */
BODY(choice_beside_a_mean) {
    lam_tensor *mean = lam_mean(in[0], NULL);
    lam_cond(lam_lt(mean, 9), FN(cube_of_first, 2, 1), FN(first_of_two, 2, 1), LAM_LIST(in[0], mean), out, 1);
}

BODY(twice_beside) {
    out[0] = lam_mul(1.5, in[0]);
    out[1] = in[1];
    out[2] = lam_ones_like(in[2]);
}

/* 1.5^20 x; no trip reads the mean or the elements. */
BODY(loop_beside_a_mean) {
    lam_tensor *mean = lam_mean(in[0], NULL), *y[3];
    lam_scan(FN(twice_beside, 3, 3), LAM_LIST(in[0], mean), LAM_LIST(lam_broadcast_to(mean, LAM_DIMS(20))), y, 3, NULL);
    out[0] = y[0];
}

BODY(with_point) {
    out[0] = apply1(env, in[0]);
    out[1] = in[0];
}

BODY(pulled_by_vjp) {
    lam_tensor *y;
    lam_fn *pullback;
    lam_vjp(env, LAM_LIST(in[0]), &y, 1, &pullback, NULL);
    out[0] = lam_mul(2.0, apply1(pullback, in[1]));
}

/* Forward mode transposes a backward that has such gradients in it, which are no constants that it adds. The rule gives
 * twice the derivative. */
START_TEST(gradients_that_nothing_reads_are_zero) {
    const lam_body bodies[] = {choice_beside_a_mean, loop_beside_a_mean};
    const double slopes[][2] = {{3, 12}, {pow(1.5, 20), pow(1.5, 20)}};
    for (int k = 0; k < 2; k++) {
        lam_fn *f = function_of("beside", bodies[k], 1, 1, NULL);
        lam_fn *g = lam_custom_vjp(f, FN_ENV(with_point, 1, 2, f), FN_ENV(pulled_by_vjp, 2, 1, f), NULL);
        lam_fn *d = forward_of(g);
        const double want[] = {2 * slopes[k][0], 2 * slopes[k][1]};
        EXPECT_NEAR(apply1(d, VEC(1, 2)), 1e-14, LAM_DIMS(2), want[0], want[1]);
        EXPECT_NEAR(apply1(lam_trace(d, LAM_LIST(VEC(1, 2))), VEC(1, 2)), 1e-14, LAM_DIMS(2), want[0], want[1]);
    }
}
END_TEST

Suite *suite_custom_programs(void) {
    return SUITE_OF("custom/programs", rules_run_wherever_a_function_is_called, rules_are_differentiated_again,
                    what_a_rule_has_done_is_differentiated, gradients_that_nothing_reads_are_zero,
                    recorded_functions_keep_their_rules, values_come_from_the_operations,
                    results_that_are_inputs_or_constants, hooks_in_programs, operands_that_rules_alone_read,
                    functions_in_functions, roots_in_programs, rules_that_are_linear_by_their_elements,
                    jacobians_record_rules_that_add_zeros, values_from_inside_are_refused,
                    programs_give_everything_back);
}
