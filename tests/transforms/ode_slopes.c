/* Derivatives of lam_odeint. Expected values are derivatives of closed forms, where these are functions those that the
 * transforms give of them; of long steps, what a constant length means. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <stdlib.h>

static const lam_ode_options fine = {.rtol = 1e-12, .atol = 1e-12};

BODY(linear) {
    out[0] = lam_matmul(in[2], in[0]);
}

BODY(logistic) {
    lam_tensor *r = lam_index(in[2], 0, 0), *k = lam_index(in[2], 0, 1);
    out[0] = lam_mul(lam_mul(r, in[0]), lam_sub(1.0, lam_div(in[0], k)));
}

/* y' = w y cos t, which is y0 exp(w (sin t - sin t0)). */
BODY(driven) {
    out[0] = lam_mul(in[2], lam_mul(in[0], lam_cos(in[1])));
}

/* ---- against closed forms ---------------------------------------------------------------------------------------- */

BODY(flow) {
    lam_tensor *path = lam_odeint(FN(linear, 3, 1), in[0], VEC(0, 0.5, 1.5), LAM_LIST(in[1]), NULL, &fine);
    out[0] = lam_index(path, 0, 2);
}

BODY(flow_by_expm) {
    out[0] = lam_matmul(lam_expm(lam_mul(1.5, in[1])), in[0]);
}

/* By the start and by the matrix, in both modes; by the start that is expm(1.5 A). */
START_TEST(linear_systems) {
    lam_tensor *a = MAT(2, 2, -1, 2, 0.5, -3), *y0 = VEC(1, -2), *got[2], *want[2];
    const lam_jacobian_options both = {.argnums = LAM_AXES(0, 1)};
    lam_call(lam_jacfwd(FN(flow_by_expm, 2, 1), &both), LAM_LIST(y0, a), want, 2);
    for (int k = 0; k < 4; k++) {
        lam_fn *f = k % 2 ? lam_jacrev(FN(flow, 2, 1), &both) : lam_jacfwd(FN(flow, 2, 1), &both);
        lam_call(k > 1 ? lam_jit(f, NULL) : f, LAM_LIST(y0, a), got, 2);
        EXPECT_SAME(got[0], lam_expm(lam_mul(1.5, a)), 1e-10);
        for (int i = 0; i < 2; i++) EXPECT_SAME(got[i], want[i], 1e-10);
    }
    EXPECT_OK();
}
END_TEST

/* Of [y0, r, k]: the sum of y at three times. */
BODY(growth) {
    lam_tensor *y0 = lam_index(in[0], 0, 0), *p = lam_slice_axis(in[0], 0, 1, 3);
    out[0] = lam_sum(lam_odeint(FN(logistic, 3, 1), y0, VEC(0, 1, 3), LAM_LIST(p), NULL, &fine), NULL);
}

/* The same by captures of f. */
BODY(logistic_captured) {
    logistic(ctx, (lam_tensor *[]){in[0], in[1], in[2]}, out, env);
}

BODY(growth_captured) {
    lam_tensor *y0 = lam_index(in[0], 0, 0), *p = lam_slice_axis(in[0], 0, 1, 3);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "logistic of a capture",
                                                  .body = logistic_captured,
                                                  .inputs = 2,
                                                  .outputs = 1,
                                                  .captures = LAM_LIST(p)});
    out[0] = lam_sum(lam_odeint(f, y0, VEC(0, 1, 3), LAM_LIST(), NULL, &fine), NULL);
}

/* k y0 / (y0 + (k - y0) exp(-r t)). */
static lam_tensor *logistic_at(lam_tensor *y0, lam_tensor *r, lam_tensor *k, double t) {
    return lam_div(lam_mul(k, y0), lam_add(y0, lam_mul(lam_sub(k, y0), lam_exp(lam_mul(-t, r)))));
}

BODY(growth_by_formula) {
    lam_tensor *v[3];
    lam_unstack(in[0], 0, v, 3);
    out[0] = lam_add(v[0], lam_add(logistic_at(v[0], v[1], v[2], 1), logistic_at(v[0], v[1], v[2], 3)));
}

static lam_fn *hessian_by(lam_fn *f, int way) {
    switch (way) {
    case 0: return lam_hessian(f, NULL);
    case 1: return lam_jacrev(lam_grad(f, NULL), NULL);
    case 2: return lam_jacfwd(lam_jacfwd(f, NULL), NULL);
    default: return lam_jacrev(lam_jacfwd(f, NULL), NULL);
    }
}

/* By y0, r and k, as parameters and as captures, in all pairs of modes, of batches, and compiled. */
START_TEST(sensitivities_of_growth) {
    lam_tensor *at = MAT(2, 3, 0.1, 1.5, 2, 3, 0.5, 1);
    lam_fn *exact = FN(growth_by_formula, 1, 1);
    for (int k = 0; k < 2; k++) {
        lam_fn *f = k ? FN(growth_captured, 1, 1) : FN(growth, 1, 1);
        lam_tensor *slopes = apply1(lam_vmap(lam_grad(exact, NULL), NULL), at);
        EXPECT_SAME(apply1(lam_vmap(lam_grad(f, NULL), NULL), at), slopes, 1e-9);
        EXPECT_SAME(apply1(lam_vmap(lam_jacfwd(f, NULL), NULL), at), slopes, 1e-9);
        EXPECT_SAME(apply1(lam_jit(lam_vmap(lam_grad(f, NULL), NULL), NULL), at), slopes, 1e-9);
        for (int way = 0; way < (k ? 1 : 4); way += 1 + SANITIZED) {
            lam_tensor *want = apply1(lam_vmap(lam_hessian(exact, NULL), NULL), at);
            EXPECT_SAME(apply1(hessian_by(f, way), lam_index(at, 0, 0)), lam_index(want, 0, 0), 1e-8);
            lam_fn *compiled = lam_jit(lam_vmap(hessian_by(f, way), NULL), NULL);
            EXPECT_SAME(apply1(compiled, at), want, 1e-8);
        }
    }
    EXPECT_OK();
}
END_TEST

/* d/dt = f(y, t) at all times but the first, at which y is y0; by the first -w cos(t0) y: the solution begins later. */
BODY(driven_until) {
    out[0] = lam_odeint(FN(driven, 3, 1), in[1], in[0], LAM_LIST(in[2]), NULL, &fine);
}

BODY(driven_by_formula) {
    lam_tensor *first = lam_index(in[0], 0, 0), *since = lam_sub(lam_sin(in[0]), lam_sin(first));
    out[0] = lam_mul(in[1], lam_exp(lam_mul(in[2], since)));
}

START_TEST(derivatives_by_times) {
    const lam_jacobian_options all = {.argnums = LAM_AXES(0, 1, 2)};
    lam_tensor *ts[] = {VEC(0.3, 0.3, 1, 1.3, 4), VEC(4, 2.5, 2, 1), VEC(3, 3)}, *got[3], *want[3];
    for (int k = 0; k < 9; k++) {
        lam_list in = LAM_LIST(ts[k % 3], num(2), num(0.7));
        lam_fn *f = FN(driven_until, 3, 1), *g = FN(driven_by_formula, 3, 1);
        f = k < 6 ? lam_jacrev(f, &all) : lam_jacfwd(f, &all);
        lam_call(k < 3 ? lam_jit(f, NULL) : f, in, got, 3);
        lam_call(lam_jacfwd(g, &all), in, want, 3);
        for (int i = 0; i < 3; i++) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-7);
    }
    EXPECT_OK();
}
END_TEST

/* The sum of sin(y), so that what one time means for another counts. */
BODY(sum_until) {
    lam_tensor *y;
    driven_until(ctx, in, &y, env);
    out[0] = lam_sum(lam_sin(y), NULL);
}

BODY(sum_by_formula) {
    lam_tensor *y;
    driven_by_formula(ctx, in, &y, env);
    out[0] = lam_sum(lam_sin(y), NULL);
}

/* By all pairs of times, start and parameter, and by one time three times. */
START_TEST(higher_derivatives_by_times) {
    const lam_jacobian_options all = {.argnums = LAM_AXES(0, 1, 2)};
    lam_list in = LAM_LIST(VEC(0.3, 0.3, 1, 1, 1.3, 4), num(2), num(0.7));
    lam_tensor *got[9], *want[9];
    lam_fn *f = FN(sum_until, 3, 1), *g = FN(sum_by_formula, 3, 1);
    lam_call(lam_hessian(f, &all), in, got, 9);
    lam_call(lam_hessian(g, &all), in, want, 9);
    for (int i = 0; i < 9; i++) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-7);
    EXPECT_SAME(lam_add(1.0, lam_apply(lam_jacfwd(lam_hessian(f, NULL), NULL), in)),
                lam_add(1.0, lam_apply(lam_jacfwd(lam_hessian(g, NULL), NULL), in)), 1e-6);
    EXPECT_OK();
}
END_TEST

/* ---- of the numbers that are given ------------------------------------------------------------------------------- */

/* With tolerances that let errors be large, so that derivatives of the solution would be others. */
static const lam_ode_options coarse = {.rtol = 1e-2, .atol = 1e-2};

/* y' = -w y: each step multiplies y by a number, so dy/dy0 is y/y0 to rounding, if lengths of steps have no share in
 * it; they depend on y0 by atol. */
BODY(fading) {
    out[0] = lam_neg(lam_mul(in[2], in[0]));
}

BODY(faded) {
    out[0] = lam_odeint(FN(fading, 3, 1), in[0], VEC(0, 0.4, 2, 2.5), LAM_LIST(in[1]), NULL, &coarse);
}

START_TEST(lengths_of_steps_are_constants) {
    lam_tensor *y = apply2(FN(faded, 2, 1), num(3), num(1)), *want = lam_div(y, 3.0);
    EXPECT_SAME(apply2(lam_jacfwd(FN(faded, 2, 1), NULL), num(3), num(1)), want, 1e-14);
    EXPECT_SAME(apply2(lam_jacrev(FN(faded, 2, 1), NULL), num(3), num(1)), want, 1e-14);
    const double error = fabs(lam_item(lam_index(y, 0, 3)) / 3 - exp(-2.5));
    ck_assert_double_gt(error, 1e-5); /* or nothing has been shown */
    EXPECT_OK();
}
END_TEST

/* A step of y' = -y multiplies by R(-h), where R(z) = 1 + z + z^2/2 + ... + z^5/120 + z^6/600 (IV.2 in the second
 * volume). From a first length of 0.1 three are made: 0.05 to a time; ten times that, as a small error lets the next
 * one be; the rest. If that time is later, the first is longer, the second is as long, the third is shorter. */
static double grown(double h) {
    return 1 - h * (1 - h / 2 * (1 - h / 3 * (1 - h / 4 * (1 - h / 5 * (1 - h / 5)))));
}

static double slope_of_grown(double h) {
    return -1 + h * (1 - h / 2 * (1 - h / 3 * (1 - h / 4 * (1 - h * 6 / 25))));
}

BODY(in_three_steps) {
    const lam_ode_options o = {.rtol = 1e-2, .atol = 1e-2, .first_step = 0.1};
    lam_tensor *y = lam_odeint(FN(fading, 3, 1), num(1), in[0], LAM_LIST(num(1)), NULL, &o);
    out[0] = lam_index(y, 0, 2);
}

START_TEST(lengths_behind_a_time_are_constants) {
    const double a = grown(0.05), b = grown(0.5), c = grown(0.95), da = slope_of_grown(0.05), dc = slope_of_grown(0.95);
    lam_tensor *ts = VEC(0, 0.05, 1.5);
    lam_fn *f = FN(in_three_steps, 1, 1);
    EXPECT_NEAR(apply1(f, ts), 1e-14, LAM_DIMS0, a * b * c);
    for (int k = 0; k < 2; k++)
        EXPECT_NEAR(apply1(k ? lam_jacfwd(f, NULL) : lam_grad(f, NULL), ts), 1e-11, LAM_DIMS(3), -da * b * c,
                    b * (da * c - a * dc), a * b * dc);
    EXPECT_OK();
}
END_TEST

/* Steps of one length, the last of which ends at a time that stays: differences of the numbers, by all operands, at
 * first and second order. */
BODY(steady) {
    const lam_ode_options o = {.rtol = 1e9, .first_step = 0.3, .max_step = 0.3};
    lam_tensor *ts = lam_concatenate(LAM_LIST(VEC(0), in[2], VEC(2.5)), 0);
    lam_tensor *y = lam_odeint(FN(driven, 3, 1), in[0], ts, LAM_LIST(in[1]), NULL, &o);
    out[0] = lam_sum(lam_square(y), NULL);
}

START_TEST(differences_of_the_numbers) {
    lam_list at = LAM_LIST(num(2), num(0.7), VEC(0.5, 1.1, 2));
    ck_assert_int_eq(lam_check_grads(FN(steady, 3, 1), at, &(lam_check_grads_options){.order = 2}), LAM_OK);
    EXPECT_OK();
}
END_TEST

/* <g, J v> = <J' g, v> to rounding, by everything at once. */
BODY(steep) {
    const lam_ode_options o = {.rtol = 1e-4, .atol = 1e-4};
    out[0] = lam_odeint(FN(logistic, 3, 1), in[0], in[2], LAM_LIST(in[1]), NULL, &o);
}

START_TEST(modes_agree_to_rounding) {
    lam_list at = LAM_LIST(VEC(0.1, 3, 0.5), VEC(20, 2), VEC(0, 0.1, 0.3, 1));
    lam_list along = LAM_LIST(VEC(1, -1, 0.5), VEC(0.3, 2), VEC(0.1, -0.2, 1, 0.4));
    lam_tensor *y, *dy, *back[3], *sum = num(0);
    lam_fn *pullback;
    lam_jvp(FN(steep, 3, 1), at, along, &y, &dy, 1, NULL);
    lam_tensor *g = lam_cos(lam_mul(3.0, y));
    lam_vjp(FN(steep, 3, 1), at, &y, 1, &pullback, NULL);
    lam_call(pullback, LAM_LIST(g), back, 3);
    for (int k = 0; k < 3; k++) sum = lam_add(sum, lam_sum(lam_mul(back[k], along.items[k]), NULL));
    EXPECT_SAME(sum, lam_sum(lam_mul(g, dy), NULL), 1e-12);
    EXPECT_OK();
}
END_TEST

/* A step that leads to logarithms of negative numbers has no share in derivatives. The solution is exp(log(y0)
 * exp(-w t)). */
BODY(gompertz) {
    out[0] = lam_neg(lam_mul(in[2], lam_mul(in[0], lam_log(in[0]))));
}

BODY(withered) {
    const lam_ode_options o = {.rtol = 1e-11, .atol = 1e-11, .first_step = 2.5};
    lam_ode found;
    out[0] = lam_odeint(FN(gompertz, 3, 1), in[0], in[2], LAM_LIST(in[1]), &found, &o);
    out[1] = found.rejected;
}

BODY(withered_by_formula) {
    lam_tensor *since = lam_sub(in[2], lam_index(in[2], 0, 0));
    out[0] = lam_exp(lam_mul(lam_log(in[0]), lam_exp(lam_neg(lam_mul(in[1], since)))));
    out[1] = num(0);
}

START_TEST(rejected_steps_leave_no_nan) {
    const lam_jacobian_options all = {.argnums = LAM_AXES(0, 1, 2), .has_aux = 1};
    lam_list in = LAM_LIST(num(10), num(1), VEC(0, 1, 3));
    lam_tensor *got[10], *want[10];
    lam_call(lam_jacfwd(FN(withered_by_formula, 3, 2), &all), in, want, 4);
    for (int k = 0; k < 4; k++) {
        lam_fn *f = k % 2 ? lam_jacrev(FN(withered, 3, 2), &all) : lam_jacfwd(FN(withered, 3, 2), &all);
        lam_call(k > 1 ? lam_jit(f, NULL) : f, in, got, 4);
        for (int i = 0; i < 3; i++) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-9);
        ck_assert_double_ge(lam_item(got[3]), 1);
    }
    lam_call(lam_hessian(FN(withered_by_formula, 3, 2), &all), in, want, 10);
    lam_call(lam_hessian(FN(withered, 3, 2), &all), in, got, 10);
    for (int i = 0; i < 9; i++) EXPECT_SAME(lam_add(1.0, got[i]), lam_add(1.0, want[i]), 1e-8);
    EXPECT_OK();
}
END_TEST

/* What was reached has derivatives where the rest is NaN. */
BODY(exploding) {
    out[0] = lam_square(in[0]);
}

BODY(until_the_end) {
    lam_tensor *y = lam_odeint(FN(exploding, 2, 1), in[0], VEC(0, 0.5, 2), LAM_LIST(), NULL, &fine);
    out[0] = lam_index(y, 0, 1);
}

START_TEST(what_was_reached_has_derivatives) {
    EXPECT_NEAR(apply1(lam_grad(FN(until_the_end, 1, 1), NULL), num(1)), 1e-9, LAM_DIMS0, 4); /* 1 / (1 - y0 t)^2 */
    EXPECT_NEAR(apply1(lam_jacfwd(FN(until_the_end, 1, 1), NULL), num(1)), 1e-9, LAM_DIMS0, 4);
    EXPECT_OK();
}
END_TEST

/* ---- in programs, of batches ------------------------------------------------------------------------------------- */

/* Of many times, which are a loop. */
BODY(long_way) {
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0, 3, 13);
    out[0] = lam_sum(lam_odeint(FN(logistic, 3, 1), in[1], t, LAM_LIST(in[0]), NULL, NULL), NULL);
}

/* Each way to have the gradient gives the same numbers: a program of it, and the gradient of a program. */
START_TEST(gradients_in_programs) {
    lam_tensor *p = VEC(1.5, 2), *y0 = num(0.1);
    lam_fn *f = FN(long_way, 2, 1), *g = lam_grad(f, NULL);
    lam_tensor *want = apply2(g, p, y0);
    lam_fn *all[] = {lam_trace(g, LAM_LIST(p, y0)), lam_grad(lam_trace(f, LAM_LIST(p, y0)), NULL), lam_jit(g, NULL),
                     lam_jit(g, &(lam_jit_options){.native = true}), lam_checkpoint(g, NULL)};
    for (int k = 0; k < 5; k++) EXPECT_SAME(apply2(all[k], p, y0), want, 1e-10);
    EXPECT_OK();
}
END_TEST

/* Examples of different stiffness, one by one and together; per example and summed. */
START_TEST(gradients_of_batches) {
    lam_tensor *p = MAT(3, 2, 1, 2, 30, 2, 200, 1.5), *y0 = VEC(0.1, 0.2, 0.3);
    lam_fn *g = lam_grad(FN(long_way, 2, 1), NULL);
    lam_tensor *all = apply2(lam_vmap(g, NULL), p, y0), *compiled = apply2(lam_jit(lam_vmap(g, NULL), NULL), p, y0);
    for (int k = 0; k < 3; k++) {
        lam_tensor *one = apply2(g, lam_index(p, 0, k), lam_index(y0, 0, k));
        EXPECT_SAME(lam_index(all, 0, k), one, 1e-11);
        EXPECT_SAME(lam_index(compiled, 0, k), one, 1e-11);
    }
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_ode_slopes(void) {
    return SUITE_OF("transforms/ode_slopes", linear_systems, sensitivities_of_growth, derivatives_by_times,
                    higher_derivatives_by_times, lengths_of_steps_are_constants, lengths_behind_a_time_are_constants,
                    differences_of_the_numbers, modes_agree_to_rounding, rejected_steps_leave_no_nan,
                    what_was_reached_has_derivatives, gradients_in_programs, gradients_of_batches);
}
