/* Loops that lam_jit records trip by trip as long as their operations have room in a program, and as one equation
 * beyond: both beside the operations one by one. */
#include "tests/support.h"

#include <lamina/control.h>

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

Suite *suite_transforms_nested_long(void) {
    Suite *suite = suite_create("transforms/nested_long");
    suite_loop(suite, a_long_while_on_constants_is_one_equation, 2);
    suite_loop(suite, a_loop_of_too_many_operations_is_one_equation, 6);
    return suite;
}
