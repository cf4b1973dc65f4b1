/* Scans with a function of the user's: sums, products of matrices and linear recurrences against loops over elements
 * and against the scans that the library has; derivatives against differences, vmap against one call per example. */
#include "tests/primitives/bodies.h"

BODY(plus) {
    out[0] = lam_add(in[0], in[1]);
}

BODY(second_of_two) {
    out[0] = in[1];
}

/* Matrices along axis 0: a product that does not commute. */
BODY(times) {
    out[0] = lam_matmul(in[0], in[1]);
}

/* x -> a x + b, first (a0, b0), then (a1, b1). */
BODY(affine) {
    out[0] = lam_mul(in[0], in[2]);
    out[1] = lam_add(lam_mul(in[1], in[2]), in[3]);
}

BODY(narrow) {
    out[0] = lam_cast(in[0], LAM_F32);
}

BODY(shorter) {
    out[0] = lam_sum(in[0], NULL);
}

static lam_tensor *scan_of(lam_body body, lam_tensor *x, int axis, bool reverse) {
    lam_tensor *y;
    lam_associative_scan(FN(body, 2, 1), LAM_LIST(x), axis, reverse, &y, 1);
    return y;
}

START_TEST(sums_of_every_length) {
    for (int64_t n = 0; n < 20; n++) {
        lam_tensor *x = lam_sin(lam_arange(ctx, LAM_F64, 0, (double)n, 1));
        EXPECT_SAME(scan_of(plus, x, 0, false), lam_cumsum(x, 0), 1e-13);
        EXPECT_SAME(scan_of(plus, x, 0, true), lam_cumsum_reverse(x, 0), 1e-13);
        EXPECT_SAME(scan_of(second_of_two, x, 0, false), x, 0);
    }
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_I64, 0, 30, 1), LAM_DIMS(2, 5, 3));
    EXPECT_SAME(scan_of(plus, x, 1, false), lam_cumsum(x, 1), 0);
    EXPECT_SAME(scan_of(plus, x, -1, true), lam_cumsum_reverse(x, 2), 0);
    EXPECT_EMPTY(scan_of(plus, lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 0)), 0, false), LAM_DIMS(3, 0));
}
END_TEST

/* Along each axis of tensors of as many as there may be; both axes have more than one element. */
START_TEST(sums_along_each_of_the_most_axes) {
    for (int axis = 0; axis < LAM_MAX_RANK; axis++) {
        int64_t dims[LAM_MAX_RANK];
        for (int i = 0; i < LAM_MAX_RANK; i++) dims[i] = i == axis ? 7 : i == (axis + 5) % LAM_MAX_RANK ? 3 : 1;
        lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_I64, 0, 21, 1), (lam_dims){LAM_MAX_RANK, dims});
        EXPECT_SAME(scan_of(plus, x, axis, false), lam_cumsum(x, axis), 0);
        EXPECT_SAME(scan_of(plus, x, axis, true), lam_cumsum_reverse(x, axis), 0);
    }
}
END_TEST

/* One product after the other. */
START_TEST(products_in_their_order) {
    lam_tensor *x = lam_reshape(lam_cos(lam_arange(ctx, LAM_F64, 0, 44, 1)), LAM_DIMS(11, 2, 2));
    lam_tensor *all = scan_of(times, x, 0, false), *so_far = lam_index(x, 0, 0);
    for (int64_t i = 0; i < 11; i++) {
        if (i) so_far = lam_matmul(so_far, lam_index(x, 0, i));
        EXPECT_SAME(lam_index(all, 0, i), so_far, 1e-13);
    }
}
END_TEST

START_TEST(recurrences_of_two_tensors) {
    lam_tensor *a = lam_cos(lam_arange(ctx, LAM_F64, 0, 13, 1)), *b = lam_sin(lam_arange(ctx, LAM_F64, 0, 13, 1)),
               *y[2];
    ck_assert_int_eq(lam_associative_scan(FN(affine, 4, 2), LAM_LIST(a, b), 0, false, y, 2), LAM_OK);
    EXPECT_SAME(y[0], lam_cumprod(a, 0), 1e-13);
    EXPECT_SAME(y[1], lam_linear_recurrence(a, b, 0, false), 1e-13);
    ck_assert_int_eq(lam_associative_scan(FN(affine, 4, 2), LAM_LIST(a, b), 0, true, y, 2), LAM_OK);
    EXPECT_SAME(y[1], lam_linear_recurrence(a, b, 0, true), 1e-13);
}
END_TEST

START_TEST(what_does_not_fit) {
    lam_tensor *x = VEC(1, 2, 3), *y[2];
    ck_assert_int_eq(lam_associative_scan(FN(plus, 2, 1), LAM_LIST(x, x), 0, false, y, 2), LAM_ERR_ARITY);
    ck_assert(lam_failed(y[0]) && lam_failed(y[1]));
    EXPECT_ERROR(LAM_ERR_ARITY, "associative_scan");
    ck_assert_int_eq(lam_associative_scan(FN(affine, 4, 2), LAM_LIST(x, VEC(1, 2)), 0, false, y, 2), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "associative_scan");
    ck_assert_int_eq(lam_associative_scan(FN(plus, 2, 1), LAM_LIST(x), 1, false, y, 1), LAM_ERR_AXIS);
    EXPECT_ERROR(LAM_ERR_AXIS, "associative_scan");
    ck_assert(lam_failed(scan_of(narrow, x, 0, false)));
    EXPECT_ERROR(LAM_ERR_DTYPE, "associative_scan");
    ck_assert(lam_failed(scan_of(shorter, x, 0, false)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "associative_scan");
    ck_assert_int_eq(lam_associative_scan(FN(plus, 2, 1), LAM_LIST(), 0, false, y, 1), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "associative_scan of 'plus'", "0 operands");
}
END_TEST

START_TEST(what_is_missing) {
    lam_tensor *x = VEC(1, 2, 3), *y[2];
    ck_assert_int_eq(lam_associative_scan(FN(affine, 4, 2), LAM_LIST(x, NULL), 0, false, y, 2), LAM_ERR_NULL);
    ck_assert(lam_failed(y[0]) && lam_failed(y[1]));
    EXPECT_ERROR(LAM_ERR_NULL, "associative_scan", "number 1 of the operands");
    ck_assert_int_eq(lam_associative_scan(FN(plus, 2, 1), LAM_LIST(NULL), 0, false, y, 1), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "associative_scan", "number 0 of the operands");
    ck_assert_int_eq(lam_associative_scan(NULL, LAM_LIST(x), 0, false, y, 1), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "associative_scan", "function");
    ck_assert_int_eq(lam_associative_scan(FN(plus, 2, 1), LAM_LIST(x), 0, false, NULL, 1), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "associative_scan", "no room");
}
END_TEST

/* A reduction of no elements has nothing to call its function for, and looks at it all the same. */
START_TEST(reductions_without_a_function_of_two) {
    for (int64_t n = 0; n < 3; n++) {
        ck_assert(lam_failed(lam_reduce(FN(shorter, 1, 1), lam_ones(ctx, LAM_F64, LAM_DIMS(n)), num(0), NULL)));
        EXPECT_ERROR(LAM_ERR_ARITY, "reduce", "'shorter' takes 1");
    }
    ck_assert(lam_failed(lam_reduce(NULL, VEC(1, 2), num(0), NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "reduce", "function");
}
END_TEST

/* Rows of more columns than are run along at once: each column has the bits that it has among few. */
START_TEST(running_sums_of_long_rows) {
    enum { ROWS = 5, COLUMNS = 2500, SOME = 50 };
    static const lam_dtype dtypes[] = {LAM_F64, LAM_F32, LAM_I32};
    for (int k = 0; k < 3; k++) {
        lam_tensor *waves = lam_sin(lam_iota(ctx, LAM_F64, LAM_DIMS(ROWS * COLUMNS), 0));
        lam_tensor *x = lam_cast(lam_reshape(lam_mul(waves, 99.0), LAM_DIMS(ROWS, COLUMNS)), dtypes[k]);
        lam_tensor *sums = lam_cumsum(x, 0), *back = lam_cumsum_reverse(x, 0), *most = lam_cummax(x, 0);
        for (int64_t c = 0; c < COLUMNS; c += SOME) {
            lam_tensor *some = lam_contiguous(lam_slice_axis(x, 1, c, c + SOME));
            EXPECT_SAME(lam_slice_axis(sums, 1, c, c + SOME), lam_cumsum(some, 0), 0);
            EXPECT_SAME(lam_slice_axis(back, 1, c, c + SOME), lam_cumsum_reverse(some, 0), 0);
            EXPECT_SAME(lam_slice_axis(most, 1, c, c + SOME), lam_cummax(some, 0), 0);
        }
    }
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(recurrence) {
    lam_tensor *y[2];
    lam_associative_scan(FN(affine, 4, 2), LAM_LIST(lam_sin(in[0]), lam_square(in[0])), 1, false, y, 2);
    out[0] = lam_mul(y[0], y[1]);
}

BODY(matrices) {
    lam_tensor *x = lam_add(lam_expand_dims(in[0], 1), lam_eye(ctx, LAM_F64, 3, 3));
    out[0] = lam_mul(scan_of(times, x, 0, true), x);
}

static const lam_body bodies[] = {recurrence, matrices};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    bodies_differences(bodies[_i], _i);
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    bodies_loop(bodies[_i], 0.9);
}
END_TEST

Suite *suite_primitives_scans(void);
Suite *suite_primitives_scans(void) {
    Suite *suite = SUITE_OF("primitives/scans", sums_of_every_length, sums_along_each_of_the_most_axes,
                            products_in_their_order, recurrences_of_two_tensors, what_does_not_fit, what_is_missing,
                            reductions_without_a_function_of_two, running_sums_of_long_rows);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    suite_loop(suite, vmap_equals_the_loop, BODIES);
    return suite;
}
