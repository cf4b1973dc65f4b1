/* Initial value problems: lam_odeint, its values and what it refuses; ode_steps.c has what is chosen on the way,
 * ode_slopes.c derivatives. Expected values are closed forms and invariants. */
#include "tests/support.h"
#include "tests/transforms/build.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

static const lam_ode_options fine = {.rtol = 1e-12, .atol = 1e-12};

/* y' = -y; y' = r y (1 - y / k) with a parameter [r, k]; y' = A y. */
BODY(decay) {
    out[0] = lam_neg(in[0]);
}

BODY(logistic) {
    lam_tensor *r = lam_index(in[2], 0, 0), *k = lam_index(in[2], 0, 1);
    out[0] = lam_mul(lam_mul(r, in[0]), lam_sub(1.0, lam_div(in[0], k)));
}

BODY(linear) {
    out[0] = lam_matmul(in[2], in[0]);
}

/* y' = y cos t, which is y0 exp(sin t - sin t0). */
BODY(driven) {
    out[0] = lam_mul(in[0], lam_cos(in[1]));
}

BODY(lotka_volterra) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1), *xy = lam_mul(x, y);
    out[0] =
        lam_stack(LAM_LIST(lam_sub(lam_mul(1.1, x), lam_mul(0.4, xy)), lam_sub(lam_mul(0.1, xy), lam_mul(0.4, y))), 0);
}

/* A planet at places [0..1] with velocities [2..3]. */
BODY(kepler) {
    lam_tensor *q = lam_slice_axis(in[0], 0, 0, 2), *p = lam_slice_axis(in[0], 0, 2, 4);
    lam_tensor *r = lam_sqrt(lam_sum(lam_square(q), NULL));
    out[0] = lam_concatenate(LAM_LIST(p, lam_neg(lam_div(q, lam_integer_pow(r, 3)))), 0);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

START_TEST(closed_forms) {
    lam_ode found;
    lam_tensor *y = lam_odeint(FN(decay, 2, 1), num(2), VEC(0, 0.5, 1, 3), LAM_LIST(), &found, &fine);
    EXPECT_NEAR(y, 1e-11, LAM_DIMS(4), 2, 2 * exp(-0.5), 2 * exp(-1), 2 * exp(-3));
    EXPECT_NUM(found.status, 0);
    y = lam_odeint(FN(driven, 2, 1), num(2), VEC(1, 2, 30), LAM_LIST(), NULL, &fine);
    EXPECT_NEAR(y, 1e-10, LAM_DIMS(3), 2, 2 * exp(sin(2) - sin(1)), 2 * exp(sin(30) - sin(1)));
    y = lam_odeint(FN(logistic, 3, 1), VEC(0.1, 3), VEC(0, 2), LAM_LIST(VEC(1.5, 2)), NULL, &fine);
    const double e = exp(-3);
    EXPECT_NEAR(y, 1e-10, LAM_DIMS(2, 2), 0.1, 3, 2 / (1 + 19 * e), 2 / (1 - e / 3));
    lam_tensor *spin = MAT(2, 2, 0, 1, -1, 0), *t = VEC(0, 1, 20 * PI, 21 * PI);
    y = lam_odeint(FN(linear, 3, 1), VEC(1, 0), t, LAM_LIST(spin), NULL, &fine);
    EXPECT_NEAR(lam_add(1.0, y), 1e-9, LAM_DIMS(4, 2), 2, 1, 1 + cos(1), 1 - sin(1), 2, 1, 0, 1);
    lam_tensor *a = MAT(3, 3, -1, 2, 0.5, 0, -3, 1, 0.25, 0.5, -0.5), *b = MAT(3, 2, 1, 0, -1, 2, 0.5, 1);
    y = lam_odeint(FN(linear, 3, 1), b, VEC(0, 1.5), LAM_LIST(a), NULL, &fine);
    EXPECT_SAME(lam_index(y, 0, 1), lam_matmul(lam_expm(lam_mul(1.5, a)), b), 1e-10);
    EXPECT_OK();
}
END_TEST

/* x -> 0.1 x - 0.4 log x + 0.4 y - 1.1 log y stays what it is. An ellipse of eccentricity 0.6 is at its far end, (-1.6,
 * 0) at velocity (0, -0.5), after half a turn. */
START_TEST(invariants_of_motion) {
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0, 40, 101), *x, *y;
    lam_tensor *path = lam_odeint(FN(lotka_volterra, 2, 1), VEC(10, 5), t, LAM_LIST(), NULL, &fine);
    x = lam_index(path, 1, 0), y = lam_index(path, 1, 1);
    lam_tensor *v =
        lam_add(lam_sub(lam_mul(0.1, x), lam_mul(0.4, lam_log(x))), lam_sub(lam_mul(0.4, y), lam_mul(1.1, lam_log(y))));
    lam_tensor *first = lam_full_like(v, 0.1 * 10 - 0.4 * log(10) + 0.4 * 5 - 1.1 * log(5));
    EXPECT_SAME(v, first, 1e-9);
    path = lam_odeint(FN(kepler, 2, 1), VEC(0.4, 0, 0, 2), VEC(0, PI, 2 * PI), LAM_LIST(), NULL, &fine);
    EXPECT_NEAR(lam_add(3.0, path), 1e-9, LAM_DIMS(3, 4), 3.4, 3, 3, 5, 1.4, 3, 3, 2.5, 3.4, 3, 3, 5);
    EXPECT_OK();
}
END_TEST

/* ---- times ------------------------------------------------------------------------------------------------------- */

START_TEST(times_in_any_order_that_is_one) {
    lam_tensor *p = VEC(1.5, 2);
    lam_fn *f = FN(logistic, 3, 1);
    lam_tensor *on = lam_odeint(f, num(0.1), VEC(0, 0.5, 2), LAM_LIST(p), NULL, &fine);
    lam_tensor *back = lam_odeint(f, lam_index(on, 0, 2), VEC(2, 0.5, 0), LAM_LIST(p), NULL, &fine);
    EXPECT_SAME(back, lam_reverse(on, LAM_AXES(0)), 1e-9);
    lam_tensor *again = lam_odeint(f, num(0.1), VEC(0, 0, 0.5, 0.5, 2, 2), LAM_LIST(p), NULL, &fine);
    EXPECT_SAME(again, lam_repeat(on, 2, 0), 1e-12);
    EXPECT(lam_odeint(f, num(0.1), VEC(3, 3), LAM_LIST(p), NULL, &fine), LAM_DIMS(2), 0.1, 0.1);
    lam_tensor *whole = lam_array(ctx, LAM_I64, LAM_DIMS(3), (int64_t[]){0, 1, 2});
    EXPECT_NEAR(lam_odeint(FN(decay, 2, 1), num(1), whole, LAM_LIST(), NULL, &fine), 1e-11, LAM_DIMS(3), 1, exp(-1),
                exp(-2));
    EXPECT_OK();
}
END_TEST

/* Far from 0, where times lie 0.0001 apart, the first step is not shorter than that. */
BODY(clock) {
    out[0] = lam_ones_like(in[0]);
}

START_TEST(times_far_from_zero) {
    lam_ode found;
    EXPECT_NEAR(lam_odeint(FN(clock, 2, 1), num(0), VEC(1e12, 1e12 + 8), LAM_LIST(), &found, NULL), 1e-12, LAM_DIMS(2),
                0, 8);
    EXPECT_NUM(found.status, 0);
    EXPECT_OK();
}
END_TEST

START_TEST(few_times_and_few_elements) {
    lam_ode found;
    lam_fn *f = FN(decay, 2, 1);
    EXPECT(lam_odeint(f, VEC(1, 2), VEC(5), LAM_LIST(), &found, NULL), LAM_DIMS(1, 2), 1, 2);
    EXPECT_NUM(found.status, 0);
    EXPECT_NUM(found.evaluations, 0);
    EXPECT_EMPTY(lam_odeint(f, VEC(1, 2), lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_LIST(), &found, NULL),
                 LAM_DIMS(0, 2));
    EXPECT_NUM(found.steps, 0);
    EXPECT_EMPTY(lam_odeint(f, lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), VEC(0, 1, 2), LAM_LIST(), &found, NULL),
                 LAM_DIMS(3, 2, 0));
    EXPECT_NUM(found.status, 0);
    EXPECT_OK();
}
END_TEST

START_TEST(floats) {
    lam_tensor *y = lam_odeint(FN(decay, 2, 1), lam_cast(num(1), LAM_F32), VEC(0, 1, 5), LAM_LIST(), NULL, NULL);
    ck_assert_int_eq(lam_dtype_of(y), LAM_F32);
    EXPECT_NEAR(lam_cast(y, LAM_F64), 1e-3, LAM_DIMS(3), 1, exp(-1), exp(-5));
    EXPECT_OK();
}
END_TEST

/* ---- what has no end --------------------------------------------------------------------------------------------- */

/* 1 / (1 - t); y' = 1 as long as t is below 1.5, then NaN. */
BODY(explosion) {
    out[0] = lam_square(in[0]);
}

BODY(unknown_later) {
    out[0] = lam_add(lam_where(lam_lt(in[1], 1.5), 1.0, lam_full_like(in[1], NAN)), lam_mul(0.0, in[0]));
}

BODY(unknown) {
    out[0] = lam_mul((double)NAN, in[0]);
}

/* NaN from where it could not be reached on, and why. */
START_TEST(integrations_without_success) {
    lam_ode found;
    lam_tensor *y = lam_odeint(FN(explosion, 2, 1), num(1), VEC(0, 0.5, 2, 3), LAM_LIST(), &found, NULL);
    EXPECT_NEAR(y, 1e-6, LAM_DIMS(4), 1, 2, NAN, NAN);
    EXPECT_NUM(found.status, 2);
    y = lam_odeint(FN(unknown_later, 2, 1), num(0), VEC(0, 0.25, 1, 2, 2.5), LAM_LIST(), &found, NULL);
    EXPECT_NEAR(y, 1e-12, LAM_DIMS(5), 0, 0.25, 1, NAN, NAN);
    EXPECT_NUM(found.status, 2);
    y = lam_odeint(FN(unknown, 2, 1), VEC(1, 2), VEC(0, 1), LAM_LIST(), &found, NULL);
    EXPECT(y, LAM_DIMS(2, 2), 1, 2, NAN, NAN);
    EXPECT_NUM(found.status, 2);
    const lam_ode_options few = {.max_steps = 50, .rtol = 1e-6, .atol = 1e-6, .first_step = 0.01};
    y = lam_odeint(FN(lotka_volterra, 2, 1), VEC(10, 5), VEC(0, 5, 30, 31), LAM_LIST(), &found, &few);
    EXPECT_NUM(found.status, 1);
    EXPECT_NUM(lam_sum(lam_cast(lam_is_nan(y), LAM_I64), NULL), 4);
    y = lam_odeint(FN(lotka_volterra, 2, 1), VEC(10, 5), VEC(0, 5, 10, 15, 20), LAM_LIST(), &found, &few);
    EXPECT_NUM(found.status, 0); /* between two times that many are enough */
    EXPECT_NUM(found.steps, 59);
    EXPECT_OK();
}
END_TEST

START_TEST(times_without_order) {
    lam_ode found;
    EXPECT(lam_odeint(FN(decay, 2, 1), num(1), VEC(0, 1, 0.5, 2), LAM_LIST(), &found, NULL), LAM_DIMS(4), 1, NAN, NAN,
           NAN);
    EXPECT_NUM(found.status, 3);
    EXPECT(lam_odeint(FN(decay, 2, 1), num(1), VEC(0, 1, NAN), LAM_LIST(), &found, NULL), LAM_DIMS(3), 1, NAN, NAN);
    EXPECT_NUM(found.status, 3);
    lam_tensor *y =
        lam_odeint(FN(decay, 2, 1), num(1), VEC(0, INFINITY), LAM_LIST(), &found, &(lam_ode_options){.max_steps = 30});
    EXPECT(y, LAM_DIMS(2), 1, NAN);
    EXPECT_NUM(found.status, 1);
    EXPECT_OK();
}
END_TEST

/* A first step that is too long leads to logarithms of negative numbers, and is rejected. The solution is exp(log(y0)
 * exp(-t)). */
BODY(gompertz) {
    out[0] = lam_neg(lam_mul(in[0], lam_log(in[0])));
}

START_TEST(steps_that_lead_nowhere_are_rejected) {
    lam_ode found;
    const lam_ode_options o = {.rtol = 1e-10, .atol = 1e-10, .first_step = 2.5};
    lam_tensor *y = lam_odeint(FN(gompertz, 2, 1), num(10), VEC(0, 3), LAM_LIST(), &found, &o);
    EXPECT_NEAR(y, 1e-9, LAM_DIMS(2), 10, exp(log(10) * exp(-3)));
    ck_assert_double_ge(lam_item(found.rejected), 1);
    EXPECT_OK();
}
END_TEST

/* ---- batches, programs ------------------------------------------------------------------------------------------- */

/* Of [r, k] and y0: y, and how it went. */
BODY(growth) {
    lam_ode found;
    out[0] = lam_odeint(FN(logistic, 3, 1), in[1], VEC(0, 0.5, 1, 2), LAM_LIST(in[0]), &found, NULL);
    out[1] = found.steps, out[2] = found.rejected, out[3] = found.evaluations, out[4] = found.status;
}

/* Of very different stiffness; one fails. */
START_TEST(examples_have_steps_of_their_own) {
    lam_tensor *p = MAT(5, 2, 1, 2, 30, 2, 1000, 1.5, -1, 0.01, 0, 1), *y0 = VEC(0.1, 0.2, 0.3, 1, 5), *all[5], *one[5];
    for (int k = 0; k < 3; k++) {
        lam_fn *f = lam_vmap(FN(growth, 2, 5), NULL);
        if (k) f = lam_jit(f, &(lam_jit_options){.native = k == 2});
        lam_call(f, LAM_LIST(p, y0), all, 5);
        for (int i = 0; i < 5; i++) {
            lam_call(FN(growth, 2, 5), LAM_LIST(lam_index(p, 0, i), lam_index(y0, 0, i)), one, 5);
            for (int o = 0; o < 5; o++) EXPECT_SAME(lam_index(all[o], 0, i), one[o], k == 2 ? 1e-9 : 1e-12);
            if (i == 3) EXPECT_NUM(one[4], 2);
        }
    }
    ck_assert_double_gt(lam_item(lam_index(all[1], 0, 2)), 5 * lam_item(lam_index(all[1], 0, 0)));
    EXPECT_OK();
}
END_TEST

BODY(growth_until) {
    out[0] = lam_odeint(FN(logistic, 3, 1), num(0.1), in[1], LAM_LIST(in[0]), NULL, NULL);
}

/* Times of their own too, in both directions. */
START_TEST(examples_have_times_of_their_own) {
    lam_tensor *p = VEC(1.5, 2), *ts = MAT(3, 3, 0, 1, 2, 0, -0.5, -1, 3, 3, 5), *all;
    lam_fn *f = lam_vmap(FN(growth_until, 2, 1), &(lam_vmap_options){.in_axes = LAM_AXES(LAM_UNMAPPED, 0)});
    all = apply2(f, p, ts);
    for (int i = 0; i < 3; i++)
        EXPECT_SAME(lam_index(all, 0, i), apply2(FN(growth_until, 2, 1), p, lam_index(ts, 0, i)), 1e-12);
    EXPECT_OK();
}
END_TEST

/* Of many times a program has a loop in a loop, is text, and read back the same; machine code gives the same numbers,
 * and so does C. */
BODY(path) {
    lam_ode found;
    lam_tensor *t = lam_linspace(ctx, LAM_F64, 0, 3, 31);
    out[0] = lam_odeint(FN(logistic, 3, 1), in[1], t, LAM_LIST(in[0]), &found, NULL);
    out[1] = found.steps;
}

START_TEST(programs_integrate) {
    lam_tensor *p = VEC(1.5, 2), *y0 = VEC(0.1, 0.5), *want[2], *got[2];
    lam_program *program = lam_trace(FN(path, 2, 2), LAM_LIST(p, y0));
    char *text = printed_text(program);
    ck_assert_ptr_nonnull(strstr(text, "scan"));
    ck_assert_ptr_nonnull(strstr(text, "while"));
    lam_fn *all[] = {lam_program_read(ctx, text), lam_jit(FN(path, 2, 2), NULL),
                     lam_jit(FN(path, 2, 2), &(lam_jit_options){.native = true})};
    lam_call(FN(path, 2, 2), LAM_LIST(p, y0), want, 2);
    for (int k = 0; k < 3; k++) {
        lam_call(all[k], LAM_LIST(p, y0), got, 2);
        for (int i = 0; i < 2; i++) EXPECT_SAME(got[i], want[i], 1e-10);
    }
    free(text);
    EXPECT_OK();
}
END_TEST

/* y along the times, and its derivative along (1, -1) in the parameters. */
BODY(path_forward) {
    lam_tensor *dp = VEC(1, -1), *y[2], *dy[2];
    lam_jvp(FN(path, 2, 2), LAM_LIST(in[0], in[1]), LAM_LIST(dp, NULL), y, dy, 2, &(lam_grad_options){.has_aux = 1});
    out[0] = y[0], out[1] = dy[0];
}

START_TEST(paths_as_c) {
    enum { ELEMENTS = 62 };
    build b;
    void (*call)(const double *, const double *, double *, double *);
    double y[ELEMENTS], dy[ELEMENTS];
    lam_tensor *p = VEC(1.5, 2), *y0 = VEC(0.1, 0.5), *want[2];
    build_begin(&b);
    build_add(&b, "path", lam_trace(FN(path_forward, 2, 2), LAM_LIST(p, y0)), &(lam_emit_options){.name = "path"});
    build_end(&b);
    build_find(&b, "path", &call);
    call((double[]){1, 3}, (double[]){0.2, 4}, y, dy);
    lam_call(FN(path_forward, 2, 2), LAM_LIST(VEC(1, 3), VEC(0.2, 4)), want, 2);
    EXPECT_SAME(lam_array(ctx, LAM_F64, LAM_DIMS(31, 2), y), want[0], 1e-10);
    EXPECT_SAME(lam_array(ctx, LAM_F64, LAM_DIMS(31, 2), dy), want[1], 1e-9);
    EXPECT_OK();
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------------- */

BODY(of_another_type) {
    out[0] = lam_cast(in[0], LAM_F32);
}

BODY(of_other_dims) {
    out[0] = lam_sum(in[0], NULL);
}

START_TEST(what_is_refused) {
    lam_ode found;
    lam_fn *f = FN(decay, 2, 1);
    lam_tensor *y = VEC(1, 2), *ts = VEC(0, 1);
    ck_assert(lam_failed(lam_odeint(f, y, ts, LAM_LIST(y), &found, NULL)));
    EXPECT_ERROR(LAM_ERR_ARITY, "odeint", "decay", "2 inputs", "expected 3");
    ck_assert(lam_failed(found.status) && lam_failed(found.evaluations));
    lam_odeint(f, NULL, ts, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "odeint of 'decay'", "y0 is NULL");
    lam_odeint(f, y, NULL, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "ts is NULL");
    lam_odeint(f, lam_cast(y, LAM_I64), ts, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "y0 must be f32 or f64");
    lam_odeint(f, lam_cast(y, LAM_F16), ts, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "y0 must be f32 or f64");
    lam_odeint(f, y, lam_complex(ts, ts), LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "ts must be real");
    lam_odeint(f, y, num(1), LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "ts has rank 0, expected 1");
    int64_t ones[LAM_MAX_RANK];
    for (int k = 0; k < LAM_MAX_RANK; k++) ones[k] = 1;
    lam_odeint(f, lam_ones(ctx, LAM_F64, (lam_dims){LAM_MAX_RANK, ones}), ts, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "no room for the axis of times");
    lam_odeint(FN(of_another_type, 2, 1), y, ts, LAM_LIST(), &found, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "odeint", "of_another_type", "f64[2]", "f32[2]");
    ck_assert(lam_failed(found.steps));
    lam_odeint(FN(of_other_dims, 2, 1), y, ts, LAM_LIST(), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "of_other_dims", "f64[2]", "f64[]");
    static const lam_ode_options wrong[] = {
        {.rtol = -1}, {.atol = NAN}, {.first_step = -1}, {.max_step = NAN}, {.max_steps = -1}};
    static const char *const texts[] = {"rtol -1", "atol nan", "first_step -1", "max_step nan", "max_steps -1"};
    for (int k = 0; k < 5; k++) {
        lam_odeint(f, y, ts, LAM_LIST(), NULL, &wrong[k]);
        EXPECT_ERROR(LAM_ERR_VALUE, texts[k]);
    }
}
END_TEST

BODY(failing) {
    int64_t *runs = env;
    out[0] = ++*runs == 20 ? lam_fail(ctx, LAM_ERR_USER, "out of fuel") : lam_neg(in[0]);
}

/* What f says goes to the caller, and the next call is as if nothing had been. */
START_TEST(an_f_that_fails_is_named) {
    int64_t runs = 0;
    lam_ode found;
    ck_assert(lam_failed(lam_odeint(FN_ENV(failing, 2, 1, &runs), num(1), VEC(0, 3), LAM_LIST(), &found, NULL)));
    ck_assert(lam_failed(found.steps));
    EXPECT_OWN(LAM_ERR_USER, "out of fuel", "failing");
    EXPECT_NEAR(lam_odeint(FN_ENV(failing, 2, 1, &runs), num(1), VEC(0, 3), LAM_LIST(), &found, NULL), 1e-6,
                LAM_DIMS(2), 1, exp(-3));
    EXPECT_OK();
}
END_TEST

BODY(times_env) {
    out[0] = lam_mul(in[0], env);
}

BODY(growth_undeclared) {
    out[0] = lam_odeint(FN_ENV(times_env, 2, 1, in[0]), num(1), VEC(0, 1), LAM_LIST(), NULL, NULL);
}

START_TEST(an_undeclared_capture_is_named) {
    apply1(lam_vmap(FN(growth_undeclared, 1, 1), NULL), VEC(1, 2));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "odeint", "did not come in as an operand", "captures");
}
END_TEST

Suite *suite_transforms_ode(void) {
    return SUITE_OF("transforms/ode", closed_forms, invariants_of_motion, times_in_any_order_that_is_one,
                    times_far_from_zero, few_times_and_few_elements, floats, integrations_without_success,
                    times_without_order, steps_that_lead_nowhere_are_rejected, examples_have_steps_of_their_own,
                    examples_have_times_of_their_own, programs_integrate, paths_as_c, what_is_refused,
                    an_f_that_fails_is_named, an_undeclared_capture_is_named);
}
