/* Steps of lam_odeint: their order, how many there are, and what they cost. Where it says so expected values are what
 * SciPy 1.17 gives, whose dopri5 is Hairer's program. */
#include "tests/support.h"

#define PI 3.14159265358979323846

/* y' = y cos t, which is y0 exp(sin t - sin t0). */
BODY(driven) {
    out[0] = lam_mul(in[0], lam_cos(in[1]));
}

BODY(lotka_volterra) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1), *xy = lam_mul(x, y);
    out[0] =
        lam_stack(LAM_LIST(lam_sub(lam_mul(1.1, x), lam_mul(0.4, xy)), lam_sub(lam_mul(0.1, xy), lam_mul(0.4, y))), 0);
}

BODY(van_der_pol) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1);
    out[0] = lam_stack(LAM_LIST(y, lam_sub(lam_mul(lam_mul(10.0, lam_sub(1.0, lam_square(x))), y), x)), 0);
}

/* A planet at places [0..1] with velocities [2..3]. */
BODY(kepler) {
    lam_tensor *q = lam_slice_axis(in[0], 0, 0, 2), *p = lam_slice_axis(in[0], 0, 2, 4);
    lam_tensor *r = lam_sqrt(lam_sum(lam_square(q), NULL));
    out[0] = lam_concatenate(LAM_LIST(p, lam_neg(lam_div(q, lam_integer_pow(r, 3)))), 0);
}

/* ---- as DOPRI5 --------------------------------------------------------------------------------------------------- */

typedef struct published {
    lam_body body;
    double y0[4], end, tolerance, y[2];
    int64_t size, steps, tried;
} published;

/* Places at the end, steps and tries of dopri5 from a first step of 0.01. */
static const published of_dopri5[] = {
    {lotka_volterra, {10, 5}, 20, 1e-6, {10.21409262, 1.3337893}, 2, 58, 65},
    {lotka_volterra, {10, 5}, 20, 1e-9, {10.21411065, 1.33380831}, 2, 217, 217},
    {van_der_pol, {2, 0}, 40, 1e-6, {1.87280777, -0.07448118}, 2, 512, 551},
    {kepler, {0.4, 0, 0, 2}, 2 * PI, 1e-6, {0.400000631, -1.37514211e-04}, 4, 35, 44},
    {kepler, {0.4, 0, 0, 2}, 2 * PI, 1e-10, {0.4, -8.51884597e-09}, 4, 197, 198},
};

START_TEST(steps_are_those_of_dopri5) {
    const published *p = &of_dopri5[_i];
    lam_ode found;
    const lam_ode_options o = {.rtol = p->tolerance, .atol = p->tolerance, .first_step = 0.01};
    lam_tensor *y =
        lam_odeint(FN(p->body, 2, 1), vector_of(p->y0, (size_t)p->size), VEC(0, p->end), LAM_LIST(), &found, &o);
    EXPECT_NEAR(lam_add(1.0, lam_slice_axis(lam_index(y, 0, 1), 0, 0, 2)), 1e-8, LAM_DIMS(2), 1 + p->y[0], 1 + p->y[1]);
    EXPECT_NUM(found.steps, (double)p->steps);
    EXPECT_NUM(found.rejected, (double)(p->tried - p->steps));
    EXPECT_NUM(found.evaluations, (double)(6 * p->tried + 1));
    EXPECT_OK();
}
END_TEST

/* The same without a first step. Times are those of the second and third evaluation: how far the start looks ahead, and
 * a fifth of the first step. */
typedef struct looks {
    double times[8];
    int64_t count;
} looks;

static void look(looks *l, lam_tensor *t) {
    if (l->count < 8) l->times[l->count] = lam_item(t);
    l->count++;
}

BODY(waves) {
    look(env, in[1]);
    out[0] = lam_mul(in[0], lam_cos(in[1]));
}

BODY(from_zero) {
    look(env, in[1]);
    out[0] = lam_sub(1.0, lam_mul(lam_square(in[0]), lam_sin(lam_mul(3.0, in[1]))));
}

BODY(stiff) {
    look(env, in[1]);
    out[0] = lam_mul(-1000.0, lam_sub(in[0], lam_cos(in[1])));
}

/* y' = y t^4, flat at first; one whose slope jumps, where steps are rejected. */
BODY(still) {
    look(env, in[1]);
    out[0] = lam_mul(in[0], lam_integer_pow(in[1], 4));
}

BODY(kicked) {
    look(env, in[1]);
    out[0] = lam_sub(lam_where(lam_gt(in[1], 1.0), 1e6, lam_zeros_like(in[1])), in[0]);
}

static const struct begun {
    lam_body body;
    double y0, from, to, tolerance, y, ahead, fifth;
    int64_t steps, evaluations;
} begun[] = {
    {waves, 1, 0, 10, 1e-6, 0.58041043, 0.01, 0.0057707996236288535, 34, 230},
    {from_zero, 0, 0, 3, 1e-8, 1.6806373, 1e-6, 1.9999999999999998e-05, 91, 590},
    {still, 1, 0, 2, 1e-6, 601.84491933, 1e-6, 1.9999999999999998e-05, 33, 242},
    {kicked, 1, 0, 3, 1e-4, 864662.7590323, 0.01, 0.014495593273553906, 36, 476},
    {stiff, 5, 2, 3, 1e-3, -0.98924244, 2.0000092316551803, 2.000184633103603, 309, 1862},
};

START_TEST(starts_are_those_of_dopri5) {
    const struct begun *b = &begun[_i];
    lam_ode found;
    looks l = {{0}, 0};
    lam_tensor *y = lam_odeint(FN_ENV(b->body, 2, 1, &l), num(b->y0), VEC(b->from, b->to), LAM_LIST(), &found,
                               &(lam_ode_options){.rtol = b->tolerance, .atol = b->tolerance});
    EXPECT_NEAR(y, 1e-7, LAM_DIMS(2), b->y0, b->y);
    ck_assert_double_eq_tol(l.times[1] - b->from, b->ahead - b->from, 1e-12);
    ck_assert_double_eq_tol(l.times[2] - b->from, b->fifth - b->from, 1e-12);
    EXPECT_NUM(found.steps, (double)b->steps);
    EXPECT_NUM(found.evaluations, (double)b->evaluations);
    ck_assert_int_eq(l.count, b->evaluations);
    EXPECT_OK();
}
END_TEST

/* What cannot be judged is tried again with a fifth of the length. The eighth evaluation is the first of the second
 * try. */
BODY(unknown_soon) {
    look(env, in[1]);
    out[0] = lam_where(lam_lt(in[1], 0.3), 1.0, lam_full_like(in[1], NAN));
}

START_TEST(unknown_errors_are_large_ones) {
    looks l = {{0}, 0};
    lam_ode found;
    lam_tensor *y = lam_odeint(FN_ENV(unknown_soon, 2, 1, &l), num(0), VEC(0, 0.2, 1), LAM_LIST(), &found,
                               &(lam_ode_options){.first_step = 1});
    EXPECT_NEAR(y, 1e-15, LAM_DIMS(3), 0, 0.2, NAN);
    ck_assert_double_eq_tol(l.times[1], 1.0 / 5, 1e-15);
    ck_assert_double_eq_tol(l.times[7], 0.2 / 5, 1e-15);
    EXPECT_NUM(found.status, 2);
    EXPECT_OK();
}
END_TEST

/* Radau, LSODA and DOP853 of scipy.integrate agree on ten digits. */
START_TEST(relaxation_oscillations) {
    lam_ode found;
    lam_tensor *y = lam_odeint(FN(van_der_pol, 2, 1), VEC(2, 0), VEC(0, 40), LAM_LIST(), &found,
                               &(lam_ode_options){.rtol = 1e-10, .atol = 1e-10});
    EXPECT_NEAR(lam_index(y, 0, 1), 2e-9, LAM_DIMS(2), 1.87280827985, -0.0744808050542);
    ck_assert_double_gt(lam_item(found.steps), 1000);
    EXPECT_OK();
}
END_TEST

/* With steps of length h the error is one of h^5 at their ends, and of h^4 at most between them. */
static double error_of(double h, double t) {
    const lam_ode_options o = {.rtol = 1e9, .first_step = h, .max_step = h};
    lam_tensor *y = lam_odeint(FN(driven, 2, 1), num(1), VEC(0, t, 4), LAM_LIST(), NULL, &o);
    return fabs(lam_item(lam_index(y, 0, 1)) - exp(sin(t)));
}

START_TEST(order_of_steps_and_between) {
    const double ends = log2(error_of(0.1, 2) / error_of(0.05, 2));
    ck_assert_msg(ends > 4.8 && ends < 5.3, "order %g", ends);
    const double within = log2(error_of(0.1, 0.07) / error_of(0.05, 0.035));
    ck_assert_msg(within > 4.5 && within < 5.5, "order %g of what one step leaves", within);
    ck_assert_double_lt(error_of(0.05, 2.52), 1e-7);
    EXPECT_OK();
}
END_TEST

/* Steps of one length: one that would leave less than a hundredth of its own goes to the end. As many as there may be
 * are enough where they end there. */
START_TEST(steps_of_one_length) {
    static const struct {
        double end;
        int64_t most, steps, status;
    } rows[] = {{2, 0, 2, 0}, {2.005, 0, 2, 0}, {2.02, 0, 3, 0}, {2, 2, 2, 0}, {3, 2, 2, 1}, {-2.005, 0, 2, 0}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        lam_ode found;
        const lam_ode_options o = {.rtol = 1e9, .first_step = 5, .max_step = 1, .max_steps = rows[k].most};
        lam_odeint(FN(driven, 2, 1), num(1), VEC(0, rows[k].end), LAM_LIST(), &found, &o);
        EXPECT_NUM(found.steps, (double)rows[k].steps);
        EXPECT_NUM(found.status, (double)rows[k].status);
    }
    EXPECT_OK();
}
END_TEST

/* f runs six times in each step: its last slope is the first one of the next. It sees no time beyond the last. */
typedef struct counter {
    int64_t runs;
    double latest;
} counter;

BODY(counted) {
    counter *c = env;
    c->latest = fmax(c->latest, lam_item(in[1]));
    c->runs++;
    out[0] = lam_neg(in[0]);
}

START_TEST(evaluations_are_counted_and_end_in_time) {
    counter c = {0};
    lam_ode found;
    lam_odeint(FN_ENV(counted, 2, 1, &c), num(1), VEC(0, 0.1, 0.2, 3), LAM_LIST(), &found, NULL);
    EXPECT_NUM(found.evaluations, (double)c.runs);
    EXPECT_NUM(lam_add(lam_mul(6, lam_add(found.steps, found.rejected)), 2), (double)c.runs);
    ck_assert_double_eq(c.latest, 3);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_ode_steps(void) {
    Suite *suite =
        SUITE_OF("transforms/ode_steps", relaxation_oscillations, order_of_steps_and_between,
                 unknown_errors_are_large_ones, steps_of_one_length, evaluations_are_counted_and_end_in_time);
    suite_loop(suite, steps_are_those_of_dopri5, sizeof of_dopri5 / sizeof *of_dopri5);
    suite_loop(suite, starts_are_those_of_dopri5, sizeof begun / sizeof *begun);
    return suite;
}
