/* Loops that lam_jit records trip by trip as long as their operations have room in a program, and as one equation
 * beyond: both beside the operations one by one. */
#include "tests/support.h"

#include <lamina/control.h>

#include <math.h>

BODY(is_below) {
    out[0] = lam_lt(in[0], *(int *)env);
}

BODY(turn_and_count) {
    (void)env;
    out[0] = lam_add(in[0], 1);
    out[1] = lam_sin(lam_add(in[1], lam_cast(in[0], LAM_F64)));
}

/* As many trips as env says, of a counter that begins at 0. */
BODY(counted_while) {
    lam_tensor *results[2];
    lam_while(FN_ENV(is_below, 2, 1, env), FN(turn_and_count, 2, 2),
              LAM_LIST(lam_full(ctx, LAM_I64, LAM_DIMS0, 0), in[0]), results, 2);
    out[0] = lam_sum(results[1], NULL);
}

/* Trips on 20 numbers are operations of the program up to 512 of them, and one equation beyond; those that a derivative
 * is taken of are operations. */
START_TEST(a_long_while_on_constants_is_one_equation) {
    int trips = _i ? 600 : 500;
    lam_tensor *x = lam_linspace(ctx, LAM_F64, -1, 1, 20);
    lam_fn *f = FN_ENV(counted_while, 1, 1, &trips), *jitted = lam_jit(f, NULL), *grad = lam_grad(f, NULL);
    lam_fn *batched = lam_vmap(f, NULL), *rows = lam_jit(batched, NULL), *slope = lam_jit(grad, NULL);
    lam_tensor *both = lam_stack(LAM_LIST(x, lam_neg(x)), 0);
    ck_assert_double_eq(lam_item(lam_apply(jitted, LAM_LIST(x))), lam_item(lam_apply(f, LAM_LIST(x))));
    if (_i) ck_assert_int_lt(lam_jit_report_of(jitted).equations, 5);
    else ck_assert_int_gt(lam_jit_report_of(jitted).equations, trips);
    EXPECT_SAME(lam_apply(rows, LAM_LIST(both)), lam_apply(batched, LAM_LIST(both)), 1e-14);
    EXPECT_SAME(lam_apply(slope, LAM_LIST(x)), lam_apply(grad, LAM_LIST(x)), 1e-14);
    ck_assert_int_eq(lam_jit_report_of(slope).direct, 0);
    EXPECT_OK();
}
END_TEST

/* Twenty operations on three numbers. */
static lam_tensor *stirred(lam_tensor *x) {
    for (int i = 0; i < 10; i++) x = lam_mul(lam_add(x, 0.01 * i), 0.98);
    return lam_sin(x);
}

BODY(stirs) {
    (void)env;
    out[0] = stirred(in[1]);
}

BODY(stirs_in) {
    (void)env;
    out[0] = stirred(lam_add(in[0], in[1]));
    out[1] = lam_sum(out[0], NULL);
}

BODY(stirs_on) {
    (void)env;
    out[0] = lam_add(in[0], 1);
    out[1] = stirred(in[1]);
}

/* As many trips, by each of the loops. */
BODY(long_loop) {
    const int trips = *(int *)env, which = trips % 10;
    lam_tensor *y[2];
    if (which == 0) lam_fori(0, trips, FN(stirs, 2, 1), LAM_LIST(in[0]), y, 1);
    else if (which == 1)
        lam_scan(FN(stirs_in, 2, 2), LAM_LIST(in[0]), LAM_LIST(lam_linspace(ctx, LAM_F64, 0, 1, trips)), y, 2, NULL);
    else
        lam_while(FN_ENV(is_below, 2, 1, env), FN(stirs_on, 2, 2),
                  LAM_LIST(lam_full(ctx, LAM_I64, LAM_DIMS0, 0), in[0]), y, 2);
    out[0] = which == 0   ? lam_sum(y[0], NULL)
             : which == 1 ? lam_add(lam_sum(y[0], NULL), lam_sum(y[1], NULL))
                          : lam_sum(y[1], NULL);
}

/* On few numbers it is operations that count: trips are those of the program as long as all of them have room in it. */
START_TEST(a_loop_of_too_many_operations_is_one_equation) {
    int trips = (_i / 3 ? 7000 : 60) + _i % 3;
    lam_tensor *x = VEC(0.1, 0.2, 0.3);
    lam_fn *f = FN_ENV(long_loop, 1, 1, &trips), *jitted = lam_jit(f, NULL);
    lam_fn *grad = lam_grad(f, NULL), *slope = lam_jit(grad, NULL);
    EXPECT_SAME(lam_apply(jitted, LAM_LIST(x)), lam_apply(f, LAM_LIST(x)), 1e-12);
    if (_i / 3) ck_assert_int_lt(lam_jit_report_of(jitted).equations, 8);
    else ck_assert_int_gt(lam_jit_report_of(jitted).equations, 10 * trips);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
    if (_i == 5) return; /* reverse mode keeps the trips of a while */
    EXPECT_SAME(lam_apply(slope, LAM_LIST(x)), lam_apply(grad, LAM_LIST(x)), 1e-12);
    EXPECT_OK();
}
END_TEST

BODY(stirred_by_number) {
    lam_fori(0, *(int *)env, FN(stirs, 2, 1), LAM_LIST(in[0]), out, 1);
}

/* Of up to 32 numbers 64 trips are those of the program; of more, which a trip passes over, eight. */
START_TEST(a_loop_on_many_numbers_is_one_equation) {
    static const struct {
        int numbers, trips;
        bool one;
    } of[] = {{33, 8, false}, {33, 9, true}, {32, 9, false}, {32, 64, false}, {32, 65, true}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int trips = of[k].trips;
        lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.1, 0.3, of[k].numbers);
        lam_fn *f = FN_ENV(stirred_by_number, 1, 1, &trips), *jitted = lam_jit(f, NULL);
        EXPECT_SAME(apply1(jitted, x), apply1(f, x), 1e-12);
        const int64_t equations = lam_jit_report_of(jitted).equations;
        ck_assert_msg(of[k].one ? equations < 8 : equations > 10 * trips, "%d numbers, %d trips: %d equations",
                      of[k].numbers, trips, (int)equations);
    }
    EXPECT_OK();
}
END_TEST

/* Six numbers, whose pairs are 36. */
BODY(pairs_pull) {
    lam_tensor *d = lam_sub(lam_expand_dims(in[1], 0), lam_expand_dims(in[1], 1));
    lam_tensor *pull = lam_mul(lam_sin(d), lam_exp(lam_neg(lam_square(d))));
    out[0] = lam_add(in[1], lam_mul(0.01, lam_sum(pull, &(lam_reduce_options){.axes = LAM_AXES(1)})));
}

BODY(pairs_pull_by_number) {
    lam_fori(0, *(int *)env, FN(pairs_pull, 2, 1), LAM_LIST(in[0]), out, 1);
}

/* Few numbers of which a trip makes many are many. */
START_TEST(a_loop_of_wide_trips_is_one_equation) {
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0.1, 0.9, 6);
    for (int trips = 8; trips <= 9; trips++) {
        lam_fn *f = FN_ENV(pairs_pull_by_number, 1, 1, &trips), *jitted = lam_jit(f, NULL);
        EXPECT_SAME(apply1(jitted, x), apply1(f, x), 1e-12);
        const int64_t equations = lam_jit_report_of(jitted).equations;
        ck_assert_msg(trips == 9 ? equations < 8 : equations > 5 * trips, "%d trips: %d equations", trips,
                      (int)equations);
    }
    EXPECT_OK();
}
END_TEST

/* The number of a trip is known while trips are recorded: C may read it and choose by it. *env: whether the carry is
 * read too, which is not known. */
BODY(by_its_number) {
    const int64_t i = (int64_t)lam_item(in[0]);
    const double more = env && *(bool *)env ? lam_item(in[1]) : 0;
    out[0] = i % 3 ? lam_mul(in[1], 1 + 0.001 * (double)i) : lam_add(in[1], 0.5 * (double)i + more);
}

typedef struct numbered {
    int64_t trips;
    bool reads_carry;
} numbered;

BODY(numbered_trips) {
    numbered *n = env;
    lam_fori(1, n->trips + 1, FN_ENV(by_its_number, 2, 1, &n->reads_carry), LAM_LIST(in[0]), out, 1);
}

/* Of x the loop makes a x + b. */
START_TEST(a_body_may_read_the_number_of_its_trip) {
    static const int64_t trips[] = {7, 9, 70, 400};
    numbered n = {trips[_i], false};
    double a = 1, b = 0;
    for (int64_t i = 1; i <= n.trips; i++) {
        const double by = i % 3 ? 1 + 0.001 * (double)i : 1;
        a *= by;
        b = i % 3 ? b * by : b + 0.5 * (double)i;
    }
    const double near = 1e-13 * (fabs(a) + fabs(b));
    lam_tensor *x = lam_linspace(ctx, LAM_F64, 0, 20, 21);
    lam_tensor *want = lam_add(lam_mul(a, x), b), *slope = lam_full(ctx, LAM_F64, LAM_DIMS(21), a);
    lam_fn *f = FN_ENV(numbered_trips, 1, 1, &n), *jitted = lam_jit(f, NULL), *program = lam_trace(f, LAM_LIST(x));
    EXPECT_SAME(lam_apply(program, LAM_LIST(x)), want, near);
    EXPECT_SAME(lam_apply(jitted, LAM_LIST(x)), want, near);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
    lam_tensor *y[2], *dy;
    lam_fn *tangents = lam_jit(lam_jvp_fn(lam_vmap(f, NULL), NULL), NULL);
    ck_assert_int_eq(lam_call(tangents, LAM_LIST(x, lam_ones_like(x)), y, 2), LAM_OK);
    EXPECT_SAME(y[1], slope, near);
    lam_jvp(program, LAM_LIST(x), LAM_LIST(lam_ones_like(x)), y, &dy, 1, NULL);
    EXPECT_SAME(dy, slope, near);
    EXPECT_OK();
    n.reads_carry = true;
    lam_trace(f, LAM_LIST(num(1)));
    EXPECT_ERROR(LAM_ERR_ABSTRACT, "lam_item", "by_its_number", "lam_take");
}
END_TEST

/* ---- loops in loops ---------------------------------------------------------------------------------------------- */

BODY(is_small) {
    (void)env;
    out[0] = lam_lt(lam_sum(in[0], NULL), 10.0);
}

BODY(grows) {
    (void)env;
    out[0] = lam_add(in[0], lam_add(0.5, lam_square(lam_sin(in[0]))));
}

BODY(shrinks) {
    (void)env;
    out[0] = lam_mul(in[0], 0.5);
}

/* A tenth of what x is when it is no longer small; or one step there, or half of x. */
static lam_tensor *grown(lam_tensor *x, bool once) {
    lam_tensor *y;
    if (once) lam_cond(lam_lt(lam_sum(x, NULL), 2.0), FN(grows, 1, 1), FN(shrinks, 1, 1), LAM_LIST(x), &y, 1);
    else lam_while(FN(is_small, 1, 1), FN(grows, 1, 1), LAM_LIST(x), &y, 1);
    return lam_mul(0.1, y);
}

/* once: trips have a choice in them and no loop. reads: C reads the number of the trip. */
typedef struct nest {
    int trips, outer;
    bool once, reads;
} nest;

static lam_tensor *number_of(const nest *n, lam_tensor *trip) {
    return n->reads ? num(lam_item(trip)) : lam_cast(trip, LAM_F64);
}

BODY(grows_by_number) {
    const nest *n = env;
    out[0] = grown(lam_add(in[1], lam_mul(0.01, number_of(n, in[0]))), n->once);
}

BODY(grows_in) {
    const nest *n = env;
    out[0] = grown(lam_add(in[0], in[1]), n->once);
    out[1] = lam_sum(out[0], NULL);
}

BODY(is_left) {
    out[0] = lam_lt(in[0], ((const nest *)env)->trips);
}

BODY(grows_and_counts) {
    const nest *n = env;
    out[0] = lam_add(in[0], 1);
    out[1] = grown(lam_add(in[1], lam_mul(0.01, number_of(n, in[0]))), n->once);
}

BODY(nested_loops) {
    const nest *n = env;
    lam_tensor *y[2] = {NULL, NULL};
    if (n->outer == 0) lam_fori(0, n->trips, FN_ENV(grows_by_number, 2, 1, env), LAM_LIST(in[0]), y, 1);
    else if (n->outer == 1)
        lam_scan(FN_ENV(grows_in, 2, 2, env), LAM_LIST(in[0]), LAM_LIST(lam_linspace(ctx, LAM_F64, 0, 1, n->trips)), y,
                 2, NULL);
    else
        lam_while(FN_ENV(is_left, 2, 1, env), FN_ENV(grows_and_counts, 2, 2, env),
                  LAM_LIST(lam_full(ctx, LAM_I64, LAM_DIMS0, 0), in[0]), y, 2);
    out[0] = n->outer == 0   ? lam_sum(y[0], NULL)
             : n->outer == 1 ? lam_add(lam_sum(y[0], NULL), lam_sum(y[1], NULL))
                             : lam_sum(y[1], NULL);
}

/* Equations of it, jitted, whose values are those of the function itself. */
static int64_t recorded_equations(const nest *n, bool native) {
    lam_tensor *x = VEC(0.1, 0.2, 0.3);
    lam_fn *f = FN_ENV(nested_loops, 1, 1, (void *)(uintptr_t)n), *grad = lam_grad(f, NULL);
    lam_fn *jitted = lam_jit(f, &(lam_jit_options){.native = native}), *slope = lam_jit(grad, NULL);
    EXPECT_SAME(lam_apply(jitted, LAM_LIST(x)), lam_apply(f, LAM_LIST(x)), 1e-12);
    if (!native && n->outer < 2) EXPECT_SAME(lam_apply(slope, LAM_LIST(x)), lam_apply(grad, LAM_LIST(x)), 1e-12);
    ck_assert_int_eq(lam_jit_report_of(jitted).direct, 0);
    EXPECT_OK();
    return lam_jit_report_of(jitted).equations;
}

/* What is within is compiled by itself: it would be once for each trip. */
START_TEST(a_loop_of_loops_is_one_equation) {
    const nest few = {7, _i, false, false}, more = {20, _i, false, false}, once = {20, _i, true, false};
    ck_assert_int_ge(recorded_equations(&few, false), 7);
    ck_assert_int_lt(recorded_equations(&more, false), 8);
    ck_assert_int_ge(recorded_equations(&once, false), 20);
    ck_assert_int_lt(recorded_equations(&once, true), 8);
}
END_TEST

/* As one equation no trip has a number, and a body that reads it goes on trip by trip. */
START_TEST(a_loop_of_loops_may_read_its_number) {
    const nest n = {20, 2 * _i, false, true};
    ck_assert_int_ge(recorded_equations(&n, false), 20);
}
END_TEST

Suite *suite_transforms_nested_long(void) {
    Suite *suite = SUITE_OF("transforms/nested_long", a_loop_on_many_numbers_is_one_equation,
                            a_loop_of_wide_trips_is_one_equation);
    suite_loop(suite, a_long_while_on_constants_is_one_equation, 2);
    suite_loop(suite, a_loop_of_too_many_operations_is_one_equation, 6);
    suite_loop(suite, a_body_may_read_the_number_of_its_trip, 4);
    suite_loop(suite, a_loop_of_loops_is_one_equation, 3);
    suite_loop(suite, a_loop_of_loops_may_read_its_number, 2);
    return suite;
}
