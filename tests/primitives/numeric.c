/* Operations of numeric.h, blocks and tensor equations: values from the definitions by hand and from the examples of
 * NumPy's and SciPy's documentation; derivatives against differences, vmap against one call per example. */
#include "tests/support.h"

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* ---- values ------------------------------------------------------------------------------------------------------ */

START_TEST(remainders_and_quotients_round_down) {
    EXPECT(lam_mod(VEC(5, -5, 5, -5, 5.5, -6, 6), VEC(3, 3, -3, -3, -2, 3, -3)), LAM_DIMS(7), 2, 1, -1, -2, -0.5, 0, 0);
    EXPECT(lam_mod(INTEGERS(5, -5, 5, -5, 7), INTEGERS(3, 3, -3, -3, 0)), LAM_DIMS(5), 2, 1, -1, -2, 0);
    EXPECT(lam_floor_divide(VEC(5, -5, 5, -5, 7.5, -7.5, 0.7, 0.6), VEC(3, 3, -3, -3, 2, 2, 0.1, 0.1)), LAM_DIMS(8), 1,
           -2, -2, 1, 3, -4, 6, 5);
    EXPECT(lam_floor_divide(VEC(1, -1, INFINITY), VEC(0, 0, 2)), LAM_DIMS(3), INFINITY, -INFINITY, INFINITY);
    /* 1 / 0.1 rounds up to 10; quotients that round to 0, and rests that are subnormal or larger than what is left */
    EXPECT(lam_floor_divide(VEC(1, -1, -1e-320, 1e-320, -5e-324, 1e308), VEC(0.1, 0.1, 1e308, -1e308, 1, 0.3)),
           LAM_DIMS(6), 9, -10, -1, -1, -1, INFINITY);
    EXPECT_NUM(lam_div(1.0, lam_floor_divide(num(-0.0), num(5))), -INFINITY);
    EXPECT(lam_floor_divide(VEC(0.5, -0.5, -0.5, 0.5, -0.0), VEC(INFINITY, INFINITY, -INFINITY, -INFINITY, INFINITY)),
           LAM_DIMS(5), 0, -1, 0, -1, 0);
    /* What y divides next below x may be beyond the least integer: it is not gone through. */
    lam_tensor *least = INTEGERS(INT64_MIN, INT64_MIN + 1, 1, -1, INT64_MAX, INT64_MIN);
    EXPECT_SAME(lam_floor_divide(least, INTEGERS(5, 5, INT64_MIN, INT64_MIN, -2, -1)),
                INTEGERS(-1844674407370955162, -1844674407370955162, -1, 0, -((int64_t)1 << 62), INT64_MIN), 0);
    EXPECT(lam_floor_divide(INTEGERS(5, -5, 5, -5, 7), INTEGERS(3, 3, -3, -3, 0)), LAM_DIMS(5), 1, -2, -2, 1, 0);
    lam_tensor *large = lam_floor_divide(INTEGERS(((int64_t)1 << 62) + 1, -((int64_t)1 << 62) - 1), INTEGERS(3));
    EXPECT_SAME(large, INTEGERS(1537228672809129301, -1537228672809129302), 0);
    lam_tensor *narrow = lam_cast(VEC(5, -5, 5, -5, 7, INT32_MIN, INT32_MIN, INT32_MAX), LAM_I32);
    EXPECT(lam_floor_divide(narrow, lam_cast(VEC(3, 3, -3, -3, 0, -1, 7, INT32_MIN), LAM_I32)), LAM_DIMS(8), 1, -2, -2,
           1, 0, INT32_MIN, -306783379, -1);
    EXPECT(lam_floor_divide(lam_cast(VEC(200, 7, 255), LAM_U8), lam_cast(VEC(7, 0, 255), LAM_U8)), LAM_DIMS(3), 28, 0,
           1);
    EXPECT(lam_mod(VEC(5, -5), 3), LAM_DIMS(2), 2, 1);
    EXPECT_OK();
    lam_mod(lam_cast(VEC(1), LAM_BOOL), lam_cast(VEC(1), LAM_BOOL));
    EXPECT_ERROR(LAM_ERR_DTYPE, "mod");
    lam_floor_divide(lam_cast(VEC(1), LAM_C128), VEC(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "floor_divide");
    lam_mod(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

BODY(sinc) {
    out[0] = lam_sum(lam_sinc(in[0]), NULL);
}

/* sinc(x) = 1 - (pi x)^2 / 6 + (pi x)^4 / 120 - ... */
START_TEST(sinc_is_smooth_at_zero) {
    const double pi = acos(-1);
    EXPECT_NEAR(lam_sinc(VEC(0, 0.5, -1.5, 0.1)), 1e-15, LAM_DIMS(4), 1, 2 / pi, -2 / (3 * pi),
                sin(pi * 0.1) / (pi * 0.1));
    /* Exactly 0 at whole numbers, and of half ones the inverse of pi x, however far out. */
    EXPECT(lam_sinc(VEC(1, -2, 1e5, 1e15)), LAM_DIMS(4), 0, 0, 0, 0);
    EXPECT_NEAR(lam_mul(lam_sinc(VEC(1e6 + 0.5, -1e9 - 1.5)), 1e6), 1e-15, LAM_DIMS(2), 1 / (pi * (1 + 5e-7)),
                -1 / (pi * (1e3 + 1.5e-6)));
    EXPECT_NEAR(apply1(lam_grad(FN(sinc, 1, 1), NULL), VEC(1e6, 1001)), 1e-18, LAM_DIMS(2), 1e-6, -1 / 1001.0);
    lam_fn *f = FN(sinc, 1, 1);
    for (int order = 1; order <= 4; order++) {
        f = lam_grad(f, NULL);
        double want[] = {0, -pi * pi / 3, 0, pi * pi * pi * pi / 5};
        EXPECT_NEAR(apply1(f, num(0)), 1e-14, LAM_DIMS0, want[order - 1]);
    }
    ck_assert(lam_check_grads(FN(sinc, 1, 1), LAM_LIST(VEC(0.01, 0.15, 0.16, 0.7, -2.3)),
                              &(lam_check_grads_options){.order = 2}) == LAM_OK);
}
END_TEST

BODY(replaced) {
    out[0] = lam_sum(lam_mul(2, lam_nan_to_num(in[0], NULL)), NULL);
}

BODY(sum_of_numbers) {
    out[0] = lam_nansum(in[0], NULL);
}

START_TEST(what_is_no_number) {
    lam_tensor *x = VEC(1, NAN, INFINITY, -INFINITY);
    EXPECT(lam_is_inf(x), LAM_DIMS(4), 0, 0, 1, 1);
    EXPECT(lam_is_inf(lam_complex(VEC(1, NAN, 2, NAN), x)), LAM_DIMS(4), 0, 0, 1, 1);
    EXPECT(lam_nan_to_num(x, NULL), LAM_DIMS(4), 1, 0, 1.7976931348623157e308, -1.7976931348623157e308);
    const double high = 9, low = -8;
    EXPECT(lam_nan_to_num(x, &(lam_nan_to_num_options){7, &high, &low}), LAM_DIMS(4), 1, 7, 9, -8);
    EXPECT(lam_nan_to_num(INTEGERS(3), NULL), LAM_DIMS(1), 3);
    EXPECT(apply1(lam_grad(FN(replaced, 1, 1), NULL), x), LAM_DIMS(4), 2, 0, 0, 0);
    EXPECT(apply1(lam_grad(FN(sum_of_numbers, 1, 1), NULL), x), LAM_DIMS(4), 1, 0, 1, 1);
    lam_tensor *y = VEC(1 + 1e-6, NAN, INFINITY, INFINITY);
    EXPECT(lam_is_close(x, y, NULL), LAM_DIMS(4), 1, 0, 1, 0);
    EXPECT(lam_is_close(x, y, &(lam_close_options){.rtol = -1, .equal_nan = true}), LAM_DIMS(4), 0, 1, 1, 0);
    EXPECT_NUM(lam_all_close(VEC(1, 2), VEC(1, 2 + 1e-9), NULL), 1);
    EXPECT_NUM(lam_all_close(VEC(1, 2), VEC(1, 2.1), NULL), 0);
    EXPECT_NUM(lam_all_close(VEC(1, 2), VEC(1, 2.1), &(lam_close_options){.atol = 0.2}), 1);
}
END_TEST

BODY(larger_and_smaller) {
    lam_tensor *x = lam_index(in[0], 0, 0), *y = lam_index(in[0], 0, 1);
    out[0] = lam_mul(lam_square(lam_fmax(x, y)), lam_exp(lam_fmin(x, lam_sin(y))));
}

BODY(larger) {
    out[0] = lam_sum(lam_fmax(in[0], in[1]), NULL);
}

START_TEST(nan_counts_as_absent) {
    lam_tensor *x = VEC(1, NAN, 3, NAN), *y = VEC(2, 5, NAN, NAN), *got[2];
    EXPECT(lam_fmax(x, y), LAM_DIMS(4), 2, 5, 3, NAN);
    EXPECT(lam_fmin(x, y), LAM_DIMS(4), 1, 5, 3, NAN);
    EXPECT_SAME(lam_fmin(INTEGERS(3, -4), INTEGERS(2)), INTEGERS(2, -4), 0);
    lam_tensor *a = VEC(1, NAN, 3, 7), *b = VEC(2, 5, NAN, 7);
    lam_fn *slopes_of = lam_grad(FN(larger, 2, 1), &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    ck_assert(lam_call(slopes_of, LAM_LIST(a, b), got, 2) == LAM_OK);
    EXPECT(got[0], LAM_DIMS(4), 0, 0, 1, 0.5);
    EXPECT(got[1], LAM_DIMS(4), 1, 1, 0, 0.5);
    lam_tensor *rows = MAT(4, 3, 1, NAN, 7, NAN, NAN, NAN, NAN, -INFINITY, -INFINITY, 4, 4, NAN);
    EXPECT(lam_nanargmax(rows, 1), LAM_DIMS(4), 2, -1, 1, 0);
    EXPECT(lam_nanargmin(rows, -1), LAM_DIMS(4), 0, -1, 1, 0);
    EXPECT(lam_nanargmax(rows, 0), LAM_DIMS(3), 3, 3, 0);
    EXPECT_NUM(lam_nanargmin(INTEGERS(3, 1, 2), 0), 1);
    ck_assert(lam_failed(lam_nanargmax(rows, 2)));
    EXPECT_ERROR(LAM_ERR_AXIS, "nanargmax");
    ck_assert(lam_failed(lam_nanargmin(lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 0)), 1)));
    EXPECT_STATUS(LAM_ERR_SHAPE);
    ck_assert(lam_failed(lam_fmax(x, lam_cast(y, LAM_C128))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "fmax");
    ck_assert(lam_failed(lam_fmin(x, VEC(1, 2, 3))));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

START_TEST(equal_arrays) {
    EXPECT_NUM(lam_array_equal(VEC(1, 2), VEC(1, 2)), 1);
    EXPECT_NUM(lam_array_equal(VEC(1, 2), INTEGERS(1, 2)), 1);
    EXPECT_NUM(lam_array_equal(VEC(1, 2), VEC(1, 3)), 0);
    EXPECT_NUM(lam_array_equal(VEC(1, 1), num(1)), 0);
    EXPECT_NUM(lam_array_equal(VEC(1, NAN), VEC(1, NAN)), 0);
    EXPECT_NUM(lam_array_equal(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2))), 1);
    EXPECT_NUM(lam_array_equal(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3))), 0);
    ck_assert(lam_failed(lam_array_equal(VEC(1), NULL)));
    EXPECT_ERROR(LAM_ERR_NULL, "array_equal");
}
END_TEST

START_TEST(differences_and_slopes) {
    lam_tensor *x = VEC(1, 4, 9, 16);
    EXPECT(lam_diff(x, 1, 0), LAM_DIMS(3), 3, 5, 7);
    EXPECT(lam_diff(x, 2, -1), LAM_DIMS(2), 2, 2);
    EXPECT(lam_diff(x, 0, 0), LAM_DIMS(4), 1, 4, 9, 16);
    EXPECT_EMPTY(lam_diff(x, 7, 0), LAM_DIMS(0));
    EXPECT(lam_diff(lam_cast(VEC(1, 0, 1), LAM_BOOL), 1, 0), LAM_DIMS(2), -1, 1);
    EXPECT(lam_gradient(x, 0.5, 0), LAM_DIMS(4), 6, 8, 12, 14);
    EXPECT(lam_gradient(MAT(2, 2, 1, 2, 5, 9), 1, 0), LAM_DIMS(2, 2), 4, 7, 4, 7);
    lam_diff(x, -1, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "diff");
    lam_diff(x, 1, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "diff");
    lam_gradient(VEC(1), 1, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "gradient");
}
END_TEST

START_TEST(descending_order) {
    EXPECT(lam_sort_descending(VEC(2, NAN, 1, 3), 0), LAM_DIMS(4), NAN, 3, 2, 1);
    EXPECT(lam_argsort_descending(VEC(2, 1, 2), -1), LAM_DIMS(3), 0, 2, 1);
    EXPECT(lam_sort_descending(MAT(2, 2, 1, 4, 3, 2), 0), LAM_DIMS(2, 2), 3, 4, 1, 2);
    lam_sort_descending(num(1), 0);
    EXPECT_ERROR(LAM_ERR_AXIS, "sort_descending");
}
END_TEST

/* The first three from NumPy's documentation of digitize, the others from its rule for descending bins. */
START_TEST(bins) {
    lam_tensor *x = VEC(0.2, 6.4, 3.0, 1.6), *y = VEC(1.2, 10.0, 12.4, 15.5, 20), *edges = VEC(0, 5, 10, 15, 20);
    EXPECT(lam_digitize(x, VEC(0, 1, 2.5, 4, 10), false), LAM_DIMS(4), 1, 4, 3, 2);
    EXPECT(lam_digitize(y, edges, true), LAM_DIMS(5), 1, 2, 3, 4, 4);
    EXPECT(lam_digitize(y, edges, false), LAM_DIMS(5), 1, 3, 3, 4, 5);
    EXPECT(lam_digitize(VEC(0.2, 6.4, 4), VEC(10, 4, 2.5, 1, 0), false), LAM_DIMS(3), 4, 1, 1);
    EXPECT(lam_digitize(VEC(0.2, 6.4, 4), VEC(10, 4, 2.5, 1, 0), true), LAM_DIMS(3), 4, 1, 2);
    lam_digitize(x, MAT(1, 2, 1, 2), false);
    EXPECT_ERROR(LAM_ERR_RANK, "digitize");
}
END_TEST

START_TEST(parts_and_grids) {
    lam_tensor *out[3];
    ck_assert(lam_array_split(VEC(0, 1, 2, 3, 4, 5, 6), 0, out, 3) == LAM_OK);
    EXPECT(out[0], LAM_DIMS(3), 0, 1, 2);
    EXPECT(out[1], LAM_DIMS(2), 3, 4);
    EXPECT(out[2], LAM_DIMS(2), 5, 6);
    EXPECT_NEAR(lam_logspace(ctx, LAM_F64, 0, 3, 4, 10), 1e-15, LAM_DIMS(4), 1, 10, 100, 1000);
    EXPECT(lam_tri(ctx, LAM_F64, 2, 3, 0), LAM_DIMS(2, 3), 1, 0, 0, 1, 1, 0);
    ck_assert(lam_array_split(VEC(1), 0, out, 0) == LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "array_split");
    lam_logspace(ctx, LAM_I64, 0, 1, 2, 10);
    EXPECT_ERROR(LAM_ERR_DTYPE, "logspace");
}
END_TEST

/* From NumPy's documentation of unravel_index. */
START_TEST(numbers_of_places) {
    lam_tensor *out[2];
    ck_assert(lam_unravel_index(INTEGERS(22, 41, 37, -1, 99), LAM_DIMS(7, 6), out) == LAM_OK);
    EXPECT(out[0], LAM_DIMS(5), 3, 6, 6, 6, 6);
    EXPECT(out[1], LAM_DIMS(5), 4, 5, 1, 5, 5);
    EXPECT(lam_ravel_index(LAM_LIST(INTEGERS(3, 6, 6), INTEGERS(4, 5, -5)), LAM_DIMS(7, 6)), LAM_DIMS(3), 22, 41, 37);
    ck_assert(lam_unravel_index(VEC(1), LAM_DIMS(3), out) == LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "unravel_index");
    lam_ravel_index(LAM_LIST(INTEGERS(7)), LAM_DIMS(7));
    EXPECT_ERROR(LAM_ERR_INDEX, "wrap_index");
    lam_ravel_index(LAM_LIST(INTEGERS(7)), LAM_DIMS(7, 3));
    EXPECT_ERROR(LAM_ERR_ARITY, "ravel_index");
}
END_TEST

/* ---- matrices ---------------------------------------------------------------------------------------------------- */

/* From SciPy's documentation of block_diag. */
START_TEST(blocks_along_the_diagonal) {
    lam_tensor *one = lam_eye(ctx, LAM_F64, 2, 2), *two = MAT(2, 3, 3, 4, 5, 6, 7, 8);
    EXPECT(lam_block_diag(LAM_LIST(one, two, num(7))), LAM_DIMS(5, 6), 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 4,
           5, 0, 0, 0, 6, 7, 8, 0, 0, 0, 0, 0, 0, 7);
    EXPECT(lam_block_diag(LAM_LIST(VEC(1, 2))), LAM_DIMS(1, 2), 1, 2);
    lam_tensor *stack = lam_reshape(VEC(1, 2, 3), LAM_DIMS(3, 1, 1));
    EXPECT(lam_block_diag(LAM_LIST(stack, num(9))), LAM_DIMS(3, 2, 2), 1, 0, 0, 9, 2, 0, 0, 9, 3, 0, 0, 9);
}
END_TEST

/* More than any room in a frame. The eighth is the one of another dtype. */
START_TEST(blocks_without_number) {
    lam_tensor *many[100], *counted = lam_arange(ctx, LAM_F32, 0, 100, 1);
    for (int i = 0; i < 100; i++) many[i] = i == 8 ? num(8) : lam_index(counted, 0, i);
    lam_tensor *all = lam_block_diag((lam_list){100, many});
    ck_assert_int_eq(lam_dtype_of(all), LAM_F64);
    EXPECT_SAME(all, lam_cast(lam_diag(counted, 0), LAM_F64), 0);
    many[70] = NULL;
    lam_block_diag((lam_list){100, many});
    EXPECT_ERROR(LAM_ERR_NULL, "block_diag", "70");
}
END_TEST

static lam_tensor *four_axes(void) {
    lam_tensor *x = lam_reshape(lam_sin(lam_arange(ctx, LAM_F64, 1, 37, 1)), LAM_DIMS(6, 6));
    return lam_reshape(lam_add(x, lam_mul(4.0, lam_eye(ctx, LAM_F64, 6, 6))), LAM_DIMS(2, 3, 3, 2));
}

START_TEST(equations_between_tensors) {
    lam_tensor *a = four_axes(), *b = lam_cos(lam_reshape(lam_arange(ctx, LAM_F64, 0, 6, 1), LAM_DIMS(2, 3)));
    lam_tensor *x = lam_tensorsolve(a, b);
    EXPECT_SAME(lam_tensordot(a, x, LAM_AXES(2, 3), LAM_AXES(0, 1)), b, 1e-13);
    EXPECT_SAME(lam_tensordot(lam_tensorinv(a, 2), b, LAM_AXES(2, 3), LAM_AXES(0, 1)), x, 1e-13);
    lam_tensorsolve(a, VEC(1, 2, 3));
    EXPECT_ERROR(LAM_ERR_SHAPE, "tensorsolve", "does not begin");
    lam_tensorinv(a, 4);
    EXPECT_ERROR(LAM_ERR_AXIS, "tensorinv");
    lam_tensorinv(a, 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "tensorinv");
}
END_TEST

START_TEST(eigenvectors_of_general_matrices) {
    lam_tensor *x = MAT(3, 3, 1, 2, 0.5, -1, 0.7, 0.3, 0.4, -0.6, 2), *w, *v;
    ck_assert(lam_eig(x, &w, &v) == LAM_OK);
    lam_tensor *left = lam_matmul(lam_cast(x, LAM_C128), v), *right = lam_mul(v, lam_expand_dims(w, 0));
    EXPECT_NUM(lam_lt(lam_max_reduce(lam_abs(lam_sub(left, right)), NULL), 1e-13), 1);
    EXPECT_NEAR(lam_sum(lam_square(lam_abs(v)), &(lam_reduce_options){.axes = LAM_AXES(0)}), 1e-14, LAM_DIMS(3), 1, 1,
                1);
    lam_eig(MAT(2, 3, 1, 2, 3, 4, 5, 6), &w, &v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "eig");
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(remainders) {
    lam_tensor *two = lam_add(lam_abs(lam_slice_axis(in[0], 0, 0, 2)), 0.5);
    out[0] = lam_mul(lam_mod(lam_slice_axis(in[0], 0, 1, 3), two),
                     lam_floor_divide(lam_slice_axis(in[0], 0, 0, 2), num(0.3)));
    out[0] = lam_index(out[0], 0, 0);
}

BODY(slopes) {
    out[0] = lam_concatenate(LAM_LIST(lam_square(lam_diff(in[0], 2, -1)), lam_sin(lam_gradient(in[0], 0.3, -1))), -1);
}

BODY(in_descending_order) {
    out[0] = lam_mul(lam_sort_descending(in[0], 0), lam_nan_to_num(lam_square(in[0]), NULL));
}

BODY(of_blocks) {
    lam_tensor *all = lam_block_diag(LAM_LIST(lam_index(in[0], 0, 0), lam_square(in[0])));
    out[0] = lam_matmul(lam_sin(all), lam_matrix_transpose(all));
}

BODY(tensor_equations) {
    lam_tensor *a = lam_add(four_axes(), lam_reshape(in[0], LAM_DIMS(1, 3, 1, 1)));
    lam_tensor *b = lam_reshape(lam_concatenate(LAM_LIST(in[0], lam_square(in[0])), 0), LAM_DIMS(2, 3));
    out[0] =
        lam_add(lam_matrix_transpose(lam_tensorsolve(a, b)), lam_index(lam_index(lam_tensorinv(a, 2), 0, 1), 0, 1));
}

/* What does not change when an eigenvector is turned by a phase: the sizes of its entries, and of sums of them. */
BODY(sizes_of_eigenvectors) {
    lam_tensor *w, *v,
        *x = lam_reshape(lam_concatenate(LAM_LIST(in[0], lam_sin(in[0]), lam_mul(in[0], in[0])), 0), LAM_DIMS(3, 3));
    lam_eig(lam_add(x, MAT(3, 3, 1, 2, 0.5, -1, 0.7, 0.3, 0.4, -0.6, 2)), &w, &v);
    lam_tensor *whole = lam_sum(v, &(lam_reduce_options){.axes = LAM_AXES(0)});
    out[0] = lam_add(lam_sum(lam_mul(lam_abs(whole), lam_real(w)), NULL),
                     lam_sum(lam_mul(lam_square(lam_abs(v)), lam_expand_dims(lam_imag(w), 0)), NULL));
}

static const lam_body bodies[] = {remainders,         slopes,           in_descending_order,  of_blocks,
                                  larger_and_smaller, tensor_equations, sizes_of_eigenvectors};

enum { BODIES = sizeof bodies / sizeof bodies[0] };

static lam_tensor *operand(int i) {
    return bodies[i] == tensor_equations || bodies[i] == sizes_of_eigenvectors
               ? VEC(0.3, -0.2, 0.45)
               : MAT(3, 3, 0.37, -1.21, 1.53, 1.13, 0.42, -0.71, -1.44, 0.66, 1.28);
}

START_TEST(derivatives_agree_with_differences) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(operand(_i)), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "body %d: %s", _i, lam_error(ctx));
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    lam_tensor *x = operand(_i), *y = lam_mul(x, 0.9), *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0)), apart, 1e-13);
}
END_TEST

BODY(log_of_sum) {
    out[0] = lam_logsumexp(in[0], NULL);
}

/* x_i = c i has sums that are known: (e^(c n) - 1) / (e^c - 1), of which element i has the share e^(c i). Where c is
 * 1e-2 or more, later elements leave what the first ones suggest far behind; where it is -1, most shares are below the
 * least normal number. */
START_TEST(long_sums_of_exponentials) {
    enum { N = 5000 };
    static const double steps[] = {1e-4, 1e-3, 1e-2, 1, -1e-3, -1e-2, -1};
    double c = steps[_i], x[N], top = c > 0 ? c * (N - 1) : 0;
    for (int i = 0; i < N; i++) x[i] = c * i;
    double sum = expm1(-fabs(c) * N) / expm1(-fabs(c)); /* in shares of the largest */
    lam_tensor *at = lam_array(ctx, LAM_F64, LAM_DIMS(N), x), *g = apply1(lam_grad(FN(log_of_sum, 1, 1), NULL), at);
    EXPECT_NEAR(lam_logsumexp(at, NULL), 1e-15 * (8 + top), LAM_DIMS0, top + log(sum));
    const double *shares = lam_data(g);
    for (int i = 0; i < N; i++) {
        double share = (double)(expl((long double)x[i] - top) / sum); /* the difference is exact */
        ck_assert_msg(fabs(shares[i] - share) <= 4e-15 * share + 3e-308, "%d: %g for %g", i, shares[i], share);
        ck_assert_msg(shares[i] == 0 || shares[i] * sum > 2.2e-308, "%d: %g is no normal number", i, shares[i]);
    }
    lam_tensor *narrow = lam_cast(at, LAM_F32);
    EXPECT_NEAR(lam_cast(lam_logsumexp(narrow, NULL), LAM_F64), 2e-6 * (1 + top), LAM_DIMS0, top + log(sum));
    lam_tensor *all = lam_sum(apply1(lam_grad(FN(log_of_sum, 1, 1), NULL), narrow), NULL);
    EXPECT_NEAR(lam_cast(all, LAM_F64), 1e-5, LAM_DIMS0, 1);
}
END_TEST

/* Wherever they stand, in long sums too: infinities and NaN. */
START_TEST(long_sums_of_exponentials_with_special_values) {
    enum { N = 4000 };
    static const int places[] = {0, 5, 2000, N - 1};
    const double pairs[][3] = {
        {1, INFINITY, INFINITY},           {INFINITY, NAN, NAN},      {1, NAN, NAN}, {-INFINITY, 0, 0},
        {-INFINITY, -INFINITY, -INFINITY}, {0, -INFINITY, log(N - 1)}};
    for (int p = 0; p < 6; p++)
        for (int k = 0; k < 4; k++) {
            double x[N];
            for (int i = 0; i < N; i++) x[i] = pairs[p][i == places[k]];
            EXPECT_NEAR(lam_logsumexp(lam_array(ctx, LAM_F64, LAM_DIMS(N), x), NULL), 1e-14, LAM_DIMS0, pairs[p][2]);
        }
}
END_TEST

/* ---- operands that cannot be ------------------------------------------------------------------------------------- */

BODY(keep_input) {
    *(lam_tensor **)env = lam_hold(in[0]);
    out[0] = in[0];
}

/* An operand that fails on the way must not meet code that counts on its axes. */
START_TEST(failures_on_the_way_stop_what_follows) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4), *z = lam_complex(x, x), *bad = lam_fail(ctx, LAM_ERR_USER, "made here");
    ck_assert(lam_failed(lam_trapezoid(bad, x, 1, INT_MAX)));
    ck_assert(lam_failed(lam_batch_norm(bad, INT_MAX, x, x, x, x, NULL)));
    EXPECT_STATUS(LAM_ERR_USER);
    lam_median(z, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "complex");
    lam_tensor *ended;
    apply1(lam_grad(FN_ENV(keep_input, 1, 1, &ended), NULL), num(1));
    lam_block_diag(LAM_LIST(ended, x));
    EXPECT_STATUS(LAM_ERR_ESCAPED);
    lam_release(ended);
}
END_TEST

START_TEST(impossible_sizes_are_refused_at_once) {
    lam_tensor *out[LAM_MAX_RANK];
    int64_t dims[LAM_MAX_RANK + 1] = {1};
    ck_assert_int_eq(lam_unravel_index(lam_zeros(ctx, LAM_I64, LAM_DIMS(1)), (lam_dims){INT_MAX, dims}, out),
                     LAM_ERR_RANK);
    EXPECT_ERROR(LAM_ERR_RANK, "unravel_index", "16");
    lam_fftfreq(ctx, LAM_F64, INT64_MAX, 1);
    EXPECT_STATUS(LAM_ERR_VALUE);
    ck_assert_int_eq(lam_size(lam_eye(ctx, LAM_F64, (int64_t)1 << 50, 0)), 0);
    lam_diag(lam_broadcast_to(num(1), LAM_DIMS(INT32_MAX)), INT32_MAX);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "diag", "the sizes overflow");
    lam_diag(num(1), INT64_MIN);
    EXPECT_STATUS(LAM_ERR_RANK);
    lam_diag(VEC(1), INT64_MIN);
    EXPECT_STATUS(LAM_ERR_OVERFLOW);
}
END_TEST

START_TEST(results_that_are_not_wanted_are_left_out) {
    lam_tensor *x = MAT(2, 2, 4, 0, 0, 9), *a, *b;
    warm_up();
    size_t before = lam_ctx_bytes(ctx);
    ck_assert_int_eq(lam_lu(x, NULL, NULL, NULL), LAM_OK);
    ck_assert_int_eq(lam_qr(x, NULL, NULL, NULL), LAM_OK);
    ck_assert_int_eq(lam_svd(x, NULL, NULL, NULL, NULL), LAM_OK);
    ck_assert_int_eq(lam_slogdet(x, NULL, NULL), LAM_OK);
    ck_assert_int_eq(lam_eig(x, NULL, NULL), LAM_OK);
    ck_assert_int_eq(lam_sincos(x, NULL, NULL), LAM_OK);
    ck_assert_uint_eq(lam_ctx_bytes(ctx), before);
    lam_svd(x, NULL, &a, NULL, NULL);
    EXPECT_NEAR(a, 1e-14, LAM_DIMS(2), 9, 4);
    lam_eigh(x, &a, NULL);
    EXPECT_NEAR(a, 1e-14, LAM_DIMS(2), 4, 9);
    lam_polar(x, NULL, &b);
    EXPECT_NEAR(b, 1e-14, LAM_DIMS(2, 2), 4, 0, 0, 9);
    lam_lu(VEC(1, 2), NULL, &a, NULL);
    ck_assert(lam_failed(a));
    EXPECT_ERROR(LAM_ERR_RANK, "lu");
}
END_TEST

BODY(length) {
    out[0] = lam_norm(in[0], NULL);
}

/* The squares of these leave the range; the lengths are 5 times the unit, for a triangle of 3, 4 and 5. */
START_TEST(lengths_at_both_ends_of_the_range) {
    static const double units[] = {1e200, 1e-200, 1e307, 1e-307};
    lam_fn *f = FN(length, 1, 1), *hessian = lam_hessian(f, NULL);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const double u = units[i];
        lam_tensor *x = lam_mul(VEC(3, -4, 0), u);
        EXPECT_NEAR(apply1(f, x), 1e-15, LAM_DIMS0, 5 * u);
        EXPECT_NEAR(lam_std(lam_mul(VEC(3, -3), u), NULL), 1e-15, LAM_DIMS0, 3 * u);
        EXPECT_NEAR(apply1(lam_grad(f, NULL), x), 1e-15, LAM_DIMS(3), 0.6, -0.8, 0);
        EXPECT_NEAR(lam_mul(apply1(hessian, x), u), 1e-15, LAM_DIMS(3, 3), 0.128, 0.096, 0, 0.096, 0.072, 0, 0, 0, 0.2);
        EXPECT_NEAR(lam_cosine_similarity(x, lam_mul(VEC(-4, 3, 0), u), 0), 1e-15, LAM_DIMS0, -0.96);
        EXPECT_NEAR(lam_norm(x, &(lam_norm_options){.order = 3}), 1e-14, LAM_DIMS0, 4.4979414452754150 * u);
    }
    lam_tensor *mixed = lam_mul(MAT(3, 2, 3, 4, 3, 4, 3, 4), MAT(3, 1, 1e-200, 1, 1e200));
    EXPECT_NEAR(lam_div(lam_norm(mixed, &(lam_norm_options){.axes = LAM_AXES(1)}), VEC(1e-200, 1, 1e200)), 1e-15,
                LAM_DIMS(3), 5, 5, 5);
    EXPECT_NUM(lam_norm(VEC(1e200, INFINITY), NULL), INFINITY);
    EXPECT_NUM(lam_norm(VEC(1e200, NAN), NULL), NAN);
    EXPECT_NEAR(lam_cast(lam_norm(lam_cast(lam_mul(VEC(3, 4), 1e-30), LAM_F32), NULL), LAM_F64), 1e-7, LAM_DIMS0,
                5e-30);
}
END_TEST

BODY(ratio) {
    out[0] = lam_div(in[0], in[1]);
}

/* The quotients are 1e200 and 1e-200; times the divisor's tangent they leave the range, and over the divisor they are
 * back: dx / y - q (dy / y), worked out by hand. */
START_TEST(tangents_of_quotients_at_both_ends_of_the_range) {
    lam_tensor *x = VEC(1e300, 1e-300), *y = VEC(1e100, 1e-100), *q, *dq;
    lam_list tangents = LAM_LIST(VEC(1e300, 0), VEC(1e150, 1e-150));
    ck_assert_int_eq(lam_jvp(FN(ratio, 2, 1), LAM_LIST(x, y), tangents, &q, &dq, 1, NULL), LAM_OK);
    EXPECT_NEAR(lam_div(dq, VEC(1e250, 1e-250)), 1e-14, LAM_DIMS(2), -1, -1);
}
END_TEST

Suite *suite_primitives_numeric(void) {
    Suite *suite = SUITE_OF("primitives/numeric", remainders_and_quotients_round_down, sinc_is_smooth_at_zero,
                            what_is_no_number, nan_counts_as_absent, equal_arrays, differences_and_slopes,
                            descending_order, bins, parts_and_grids, numbers_of_places, blocks_along_the_diagonal,
                            blocks_without_number, equations_between_tensors, eigenvectors_of_general_matrices,
                            lengths_at_both_ends_of_the_range, tangents_of_quotients_at_both_ends_of_the_range,
                            long_sums_of_exponentials_with_special_values, failures_on_the_way_stop_what_follows,
                            impossible_sizes_are_refused_at_once, results_that_are_not_wanted_are_left_out);
    suite_loop(suite, long_sums_of_exponentials, 7);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    suite_loop(suite, vmap_equals_the_loop, BODIES);
    return suite;
}
