/* jit: sums of few elements as steps, of exponentials too, along whichever axis: values of logsumexp beside its
 * definition in C, and what else is made of its results beside the plain function. */
#include "tests/support.h"

#include <math.h>

enum { SIDE = 5 };

/* The logarithms of sums along each axis of a table. */
BODY(both_ways) {
    out[0] = lam_logsumexp(in[0], &(lam_reduce_options){.axes = LAM_AXES(0)});
    out[1] = lam_logsumexp(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

BODY(weighed) {
    lam_tensor *sums[2];
    both_ways(here, in, sums, env);
    out[0] = lam_dot(lam_square(sums[0]), lam_sin(sums[1]));
}

BODY(first_sums) {
    lam_tensor *sums[2];
    both_ways(here, in, sums, env);
    out[0] = lam_index(sums[0], 0, 3);
}

/* With the largest taken out, by the definition. */
static double logsum(const double *x, int n, int step) {
    double largest = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++) {
        if (isnan(x[i * step])) return NAN;
        largest = fmax(largest, x[i * step]);
    }
    if (isinf(largest)) return largest;
    for (int i = 0; i < n; i++) sum += exp(x[i * step] - largest);
    return largest + log(sum);
}

static void same_number(double got, double want, double epsilon) {
    if (isnan(want)) ck_assert(isnan(got));
    else if (isinf(want)) ck_assert_double_eq(got, want);
    else ck_assert_double_le(fabs(got - want), 4 * epsilon * (fabs(want) + 1));
}

/* Rows and columns with nothing but -inf, with inf, NaN, far from each other and from 0. */
static const double tables[][SIDE * SIDE] = {
    {0.5, 1, -2, 3, 0, 0.25, -1, 2, 2, 1, 7, -7, 0.125, 4, 3, 1, 1, 1, 1, 1, -0.0, 0, 0.5, -0.5, 2},
    {-INFINITY, 1, -INFINITY, 3, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -7, 0.125,
     4,         3, -INFINITY, 1, 1, 1,         -INFINITY, -INFINITY, 0,         0.5,       -0.5,      2},
    {INFINITY, 1, INFINITY, 3, -INFINITY, 0.25, -1, 2, 2, 1, 7, -7, 0.125, 4, 3, 1, 1, NAN, 1, 1, 0, 0, 0.5, -0.5, 2},
    {700, -700, 710, 800, -1e30, 1e30, 1e8, -1e8, 5, 40, -800, 60, 700, -9, 0, -740, 1, 0, 745, 2, 3, -3, 80, -20, 9},
};

START_TEST(sums_of_exponentials_are_steps) {
    const double *x = tables[_i];
    lam_fn *f = FN(both_ways, 1, 2);
    for (int dtype = LAM_F64; dtype <= LAM_F32; dtype++) {
        const double epsilon = dtype == LAM_F64 ? 0x1p-52 : 0x1p-23;
        lam_tensor *table = lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(SIDE, SIDE), x), (lam_dtype)dtype), *got[2];
        lam_fn *jitted = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
        double rounded[SIDE * SIDE], sums[2][SIDE];
        ck_assert_int_eq(lam_call(jitted, LAM_LIST(table), got, 2), LAM_OK);
        ck_assert_int_eq(lam_read(lam_cast(table, LAM_F64), rounded, sizeof rounded), LAM_OK);
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(lam_read(lam_cast(got[k], LAM_F64), sums[k], sizeof sums[k]), LAM_OK);
        for (int i = 0; i < SIDE; i++) {
            same_number(sums[0][i], logsum(rounded + i, SIDE, SIDE), epsilon);
            same_number(sums[1][i], logsum(rounded + SIDE * i, SIDE, 1), epsilon);
        }
        ck_assert_int_eq(lam_jit_report_of(jitted).fused, 2);
    }
}
END_TEST

/* Terms and their sum are results that derivatives read. */
START_TEST(derivatives_of_sums_of_exponentials) {
    lam_fn *f = FN(weighed, 1, 1), *all[] = {lam_grad(f, NULL), lam_jacfwd(f, NULL), lam_hessian(f, NULL)};
    lam_tensor *table = lam_array(ctx, LAM_F64, LAM_DIMS(SIDE, SIDE), tables[0]);
    for (int k = 0; k < 3; k++) {
        lam_fn *jitted = lam_jit(all[k], &(lam_jit_options){.fusion = LAM_JIT_ALL});
        EXPECT_SAME(apply1(jitted, table), apply1(all[k], table), 1e-13);
    }
    lam_tensor *far = lam_array(ctx, LAM_F64, LAM_DIMS(SIDE, SIDE), tables[1]);
    lam_fn *pull = lam_jit(lam_grad(FN(first_sums, 1, 1), NULL), &(lam_jit_options){.fusion = LAM_JIT_ALL});
    EXPECT_SAME(apply1(pull, far), apply1(lam_grad(FN(first_sums, 1, 1), NULL), far), 1e-15);
}
END_TEST

BODY(columns) {
    lam_tensor *x = lam_add(lam_expand_dims(in[0], 1), in[1]);
    out[0] = lam_sum(lam_mul(x, x), &(lam_reduce_options){.axes = LAM_AXES(*(int *)env)});
}

/* Of a square table either axis may be that of the lanes: the one along which nothing is added. */
START_TEST(lanes_go_along_the_axis_that_is_kept) {
    lam_tensor *row = lam_linspace(ctx, LAM_F64, -1, 2, 16), *table = lam_outer(row, lam_cos(row));
    for (int axis = 0; axis < 2; axis++) {
        lam_fn *f = FN_ENV(columns, 2, 1, &axis), *jitted = lam_jit(f, &(lam_jit_options){.fusion = LAM_JIT_ALL});
        EXPECT_SAME(apply2(jitted, row, table), apply2(f, row, table), 1e-14);
        const lam_jit_report r = lam_jit_report_of(jitted);
        ck_assert_int_eq(r.parts, 1);
        ck_assert_int_eq(r.fused, r.equations);
        ck_assert_int_eq(r.lanes, 16);
    }
}
END_TEST

Suite *suite_transforms_jit_sums(void) {
    Suite *suite =
        SUITE_OF("transforms/jit_sums", derivatives_of_sums_of_exponentials, lanes_go_along_the_axis_that_is_kept);
    suite_loop(suite, sums_of_exponentials_are_steps, 4);
    return suite;
}
