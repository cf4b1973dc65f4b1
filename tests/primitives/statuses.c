/* What calls say of operands that there are not any more, and of failures that were there before them. */
#include "tests/support.h"

#include <limits.h>

BODY(keep_input) {
    *(lam_tensor **)env = lam_hold(in[0]);
    out[0] = in[0];
}

/* A status is that of the call, whatever failed in the context before. */
START_TEST(statuses_are_of_the_call) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4), *o[2], *vector = VEC(1, 2, 2), *none = lam_zeros(ctx, LAM_I64, LAM_DIMS(1));
    lam_fail(ctx, LAM_ERR_USER, "made here");
    ck_assert_int_eq(lam_mode(vector, &o[0], &o[1]), LAM_OK);
    ck_assert_int_eq(lam_polar_factors(x, true, &o[0], &o[1]), LAM_OK);
    ck_assert_int_eq(lam_unravel_index(vector, LAM_DIMS(2, 2), o), LAM_ERR_DTYPE);
    ck_assert_int_eq(lam_unravel_index(none, LAM_DIMS(2, -2), o), LAM_ERR_VALUE);
    ck_assert_int_eq(lam_array_split(x, 2, o, 2), LAM_ERR_AXIS);
    ck_assert_int_eq(lam_eigh(vector, &o[0], &o[1]), LAM_ERR_SHAPE);
    ck_assert_int_eq(lam_split_sizes(x, 0, (int64_t[]){1, 2}, o, 2), LAM_ERR_SHAPE);
    EXPECT_STATUS(LAM_ERR_USER);
}
END_TEST

BODY(added) {
    out[0] = lam_add(in[0], in[1]);
}

/* Of several failures of a call the first. */
START_TEST(the_first_failure_of_a_call_is_its_status) {
    lam_tensor *i = lam_zeros(ctx, LAM_I64, LAM_DIMS(2)), *x = MAT(2, 2, 1, 2, 3, 4), *y, *dy;
    lam_fn *f = FN(added, 2, 1), *pullback;
    ck_assert_int_eq(lam_jvp(f, LAM_LIST(i, x), LAM_LIST(x, x), &y, &dy, 1, NULL), LAM_ERR_DTYPE);
    EXPECT_STATUS(LAM_ERR_DTYPE);
    lam_grad_options both = {.argnums = LAM_AXES(0, 1)};
    ck_assert_int_eq(lam_vjp(f, LAM_LIST(i, x), &y, 1, &pullback, &both), LAM_ERR_DTYPE);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(freed_operands_have_no_axes) {
    lam_tensor *freed = VEC(1, 2, 3, 4), *x = VEC(1, 2, 3, 4), *o[2];
    lam_drop(freed);
    lam_trapezoid(freed, NULL, 1, 0);
    EXPECT_ERROR(LAM_ERR_FREED, "trapezoid");
    lam_simpson(freed, x, 1, 0);
    EXPECT_ERROR(LAM_ERR_FREED, "simpson");
    lam_cumulative_trapezoid(x, freed, 1, 0);
    EXPECT_ERROR(LAM_ERR_FREED, "cumulative_trapezoid");
    ck_assert_int_eq(lam_unravel_index(freed, LAM_DIMS(2, 2), o), LAM_ERR_FREED);
    ck_assert_int_eq(lam_nonzero(freed, 1, o), LAM_ERR_FREED);
    EXPECT_STATUS(LAM_ERR_FREED);
}
END_TEST

/* Of two keys that are wrong the first is named, by the operation that was called. */
START_TEST(the_first_of_two_wrong_operands_is_named) {
    lam_lexsort(LAM_LIST(lam_cast(VEC(1, 2), LAM_C128), VEC(1)), 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "lexsort: argsort");
}
END_TEST

/* Also where no element of them is needed. */
START_TEST(ended_operands_are_looked_at) {
    lam_tensor *ended;
    apply1(lam_grad(FN_ENV(keep_input, 1, 1, &ended), NULL), num(1));
    lam_resize(ended, LAM_DIMS(0));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "resize");
    lam_at_set(ended, LAM_AT(LAM_REST), num(1));
    EXPECT_ERROR(LAM_ERR_ESCAPED, "at_set");
    lam_release(ended);
}
END_TEST

static lam_fn *stale_fn(void) {
    lam_fn *f = FN(added, 2, 1);
    lam_fn_drop(f);
    return f;
}

START_TEST(counts_below_zero_and_functions_that_are_gone) {
    lam_sliding_windows(VEC(1, 2), (lam_dims){INT_MIN, (int64_t[]){1}}, LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_RANK, "sliding_windows");
    lam_tile(VEC(1, 2), (lam_dims){-1, NULL});
    EXPECT_ERROR(LAM_ERR_RANK, "tile");
    lam_cg(FN(added, 2, 1), LAM_LIST(num(1)), num(1), &(lam_iterative_options){.preconditioner = stale_fn()});
    EXPECT_ERROR(LAM_ERR_FREED, "cg");
    ck_assert(lam_failed(lam_invhilbert(NULL, LAM_F64, INT64_MIN)));
}
END_TEST

/* NULL belongs to no context: the others say where the failure is recorded. */
START_TEST(missing_operands_are_on_record) {
    lam_tensor *yes = lam_gt(num(1), 0.0);
    ck_assert(lam_failed(lam_select(LAM_LIST(yes), LAM_LIST(num(1)), NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "select", "operand 0");
    ck_assert(lam_failed(lam_select(LAM_LIST(NULL), LAM_LIST(num(1)), num(2))));
    EXPECT_ERROR(LAM_ERR_NULL, "select", "operand 1");
}
END_TEST

Suite *suite_primitives_statuses(void) {
    return SUITE_OF("primitives/statuses", statuses_are_of_the_call, the_first_failure_of_a_call_is_its_status,
                    freed_operands_have_no_axes, the_first_of_two_wrong_operands_is_named, ended_operands_are_looked_at,
                    counts_below_zero_and_functions_that_are_gone, missing_operands_are_on_record);
}
