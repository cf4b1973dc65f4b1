/* Steps of lam_odeint: their order, how many there are, and what they cost. Between two times expected values are what
 * SciPy 1.17 gives, whose dopri5 is Hairer's program; of many times, what a page of Python gives that follows II.4 and
 * ends steps at times, and that gives what dopri5 gives between two. */
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
    int64_t size, steps, tried, times;
} published;

/* Places at the end, steps and tries of dopri5 from a first step of 0.01; then of times that lie farther apart than
 * steps are long, as far, nearer, and in the past. */
static const published of_dopri5[] = {
    {lotka_volterra, {10, 5}, 20, 1e-6, {10.21409262, 1.3337893}, 2, 58, 65, 2},
    {lotka_volterra, {10, 5}, 20, 1e-9, {10.21411065, 1.33380831}, 2, 217, 217, 2},
    {van_der_pol, {2, 0}, 40, 1e-6, {1.87280777, -0.07448118}, 2, 512, 551, 2},
    {kepler, {0.4, 0, 0, 2}, 2 * PI, 1e-6, {0.400000631, -1.37514211e-04}, 4, 35, 44, 2},
    {kepler, {0.4, 0, 0, 2}, 2 * PI, 1e-10, {0.4, -8.51884597e-09}, 4, 197, 198, 2},
    {lotka_volterra, {10, 5}, 20, 1e-6, {10.21409268, 1.333789073}, 2, 66, 73, 21},
    {lotka_volterra, {10, 5}, 20, 1e-9, {10.21411065, 1.333808306}, 2, 284, 286, 201},
    {van_der_pol, {2, 0}, 40, 1e-6, {1.872807559, -0.07448114146}, 2, 532, 571, 41},
    {kepler, {0.4, 0, 0, 2}, 2 * PI, 1e-6, {0.4000004011, -1.291036064e-4}, 4, 39, 46, 11},
    {kepler, {0.4, 0, 0, 2}, -2 * PI, 1e-10, {0.4, 8.515841855e-9}, 4, 197, 198, 5},
};

START_TEST(steps_are_those_of_dopri5) {
    const published *p = &of_dopri5[_i];
    lam_ode found;
    const lam_ode_options o = {.rtol = p->tolerance, .atol = p->tolerance, .first_step = 0.01};
    lam_tensor *ts = lam_linspace(ctx, LAM_F64, 0, p->end, p->times);
    lam_tensor *y = lam_odeint(FN(p->body, 2, 1), vector_of(p->y0, (size_t)p->size), ts, LAM_LIST(), &found, &o);
    lam_tensor *last = lam_slice_axis(lam_index(y, 0, -1), 0, 0, 2);
    EXPECT_NEAR(lam_add(1.0, last), 1e-8, LAM_DIMS(2), 1 + p->y[0], 1 + p->y[1]);
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

/* What cannot be judged is tried again with a fifth of the length that it had. The eighth evaluation is the first of
 * the second try. */
BODY(unknown_soon) {
    look(env, in[1]);
    out[0] = lam_where(lam_lt(in[1], 0.3), 1.0, lam_full_like(in[1], NAN));
}

START_TEST(unknown_errors_are_large_ones) {
    for (int k = 0; k < 2; k++) {
        const double ends[] = {1, 0.5}, end = ends[k];
        looks l = {{0}, 0};
        lam_ode found;
        lam_tensor *y = lam_odeint(FN_ENV(unknown_soon, 2, 1, &l), num(0), VEC(0, end, 1), LAM_LIST(), &found,
                                   &(lam_ode_options){.first_step = 1});
        EXPECT_NEAR(y, 1e-15, LAM_DIMS(3), 0, NAN, NAN);
        ck_assert_double_eq_tol(l.times[1], end / 5, 1e-15);
        ck_assert_double_eq_tol(l.times[7], end / 25, 1e-15);
        EXPECT_NUM(found.status, 2);
    }
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

/* With steps of length h the error is one of h^5; of one step alone, cut at a time, of h^6. */
static double error_of(double h, double t) {
    const lam_ode_options o = {.rtol = 1e9, .first_step = h, .max_step = h};
    lam_tensor *y = lam_odeint(FN(driven, 2, 1), num(1), VEC(0, t, 4), LAM_LIST(), NULL, &o);
    return fabs(lam_item(lam_index(y, 0, 1)) - exp(sin(t)));
}

START_TEST(order_of_steps) {
    const double many = log2(error_of(0.1, 2) / error_of(0.05, 2));
    ck_assert_msg(many > 4.8 && many < 5.3, "order %g", many);
    const double one = log2(error_of(0.1, 0.07) / error_of(0.05, 0.035));
    ck_assert_msg(one > 5.7 && one < 6.3, "order %g of one step", one);
    ck_assert_double_lt(error_of(0.05, 2.52), 1e-8);
    EXPECT_OK();
}
END_TEST

/* What is tried behind a time is what would have been tried without it, however near that was. */
START_TEST(times_that_are_near_shorten_no_later_step) {
    static const double near[] = {1e-13, 1e-9, 1e-4, 1e-2};
    lam_tensor *far = VEC(0, 20), *p = VEC(10, 5);
    const lam_ode_options o = {.rtol = 1e-9, .atol = 1e-9, .first_step = 0.01};
    lam_ode alone, found;
    lam_odeint(FN(lotka_volterra, 2, 1), p, far, LAM_LIST(), &alone, &o);
    for (size_t k = 0; k < sizeof near / sizeof *near; k++) {
        lam_odeint(FN(lotka_volterra, 2, 1), p, VEC(0, 5, 5 + near[k], 5 + near[k], 20), LAM_LIST(), &found, &o);
        ck_assert_double_le(lam_item(found.steps), lam_item(alone.steps) + 4);
        ck_assert_double_le(lam_item(found.rejected), lam_item(alone.rejected) + 1);
        EXPECT_NUM(found.status, 0);
    }
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

/* f runs six times in each step: its last slope is the first one of the next. It sees no time beyond the last, nor, but
 * for the look ahead at the start, beyond another before it has seen that one, whatever differences of times round
 * to. */
typedef struct counter {
    int64_t runs;
    double latest;
    int reached; /* of ends */
} counter;

static const double ends[] = {-1000.1, -3, -1e-3, 1e-3, 0.1, 0.1, 0.3, 3};
enum { ENDS = sizeof ends / sizeof *ends };

BODY(counted) {
    counter *c = env;
    const double t = lam_item(in[1]);
    while (c->reached < ENDS - 1 && t == ends[c->reached]) c->reached++;
    c->latest = fmax(c->latest, t - ends[c->reached]);
    c->runs++;
    out[0] = lam_sin(in[0]);
}

START_TEST(evaluations_are_counted_and_end_in_time) {
    const lam_ode_options all[] = {{0}, {.first_step = 1}, {.first_step = 7, .max_step = 7}};
    for (int k = 0; k < 3; k++) {
        counter c = {.latest = -1};
        lam_ode found;
        lam_odeint(FN_ENV(counted, 2, 1, &c), num(1), vector_of(ends, ENDS), LAM_LIST(), &found, &all[k]);
        EXPECT_NUM(found.evaluations, (double)c.runs);
        EXPECT_NUM(lam_add(lam_mul(6, lam_add(found.steps, found.rejected)), k ? 1 : 2), (double)c.runs);
        ck_assert_double_eq(c.latest, 0);
        ck_assert_int_eq(c.reached, ENDS - 1);
    }
    EXPECT_OK();
}
END_TEST

/* The look ahead at the start, too: where the slope is small it goes to the end, which differences miss by 4e-14. */
BODY(slow) {
    counter *c = env;
    c->latest = fmax(c->latest, lam_item(in[1]));
    out[0] = lam_mul(1e-9, lam_sin(in[0]));
}

START_TEST(the_look_ahead_ends_in_time) {
    const volatile double begin = -1000.1, end = 3e-3, difference = end - begin;
    counter c = {.latest = begin};
    ck_assert_double_gt(begin + difference, end); /* or nothing is shown */
    lam_odeint(FN_ENV(slow, 2, 1, &c), num(1), VEC(begin, end), LAM_LIST(), NULL, NULL);
    ck_assert_double_eq(c.latest, end);
    EXPECT_OK();
}
END_TEST

Suite *suite_transforms_ode_steps(void) {
    Suite *suite = SUITE_OF("transforms/ode_steps", relaxation_oscillations, order_of_steps,
                            times_that_are_near_shorten_no_later_step, unknown_errors_are_large_ones,
                            steps_of_one_length, evaluations_are_counted_and_end_in_time, the_look_ahead_ends_in_time);
    suite_loop(suite, steps_are_those_of_dopri5, sizeof of_dopri5 / sizeof *of_dopri5);
    suite_loop(suite, starts_are_those_of_dopri5, sizeof begun / sizeof *begun);
    return suite;
}
