/* Products made of the contractions, and solves with given factors: values worked out by hand or by NumPy 2.3,
 * derivatives against differences, batches against single calls, and messages. */
#include "tests/support.h"

#include <math.h>

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static lam_tensor *a33(void) {
    return MAT(3, 3, 1, 2, -1, 0.5, -3, 2, 4, 1, 0.25);
}

START_TEST(values) {
    lam_tensor *t = MAT(2, 2, 1, 2, 3, -4), *s = MAT(1, 2, 5, 6);
    EXPECT(lam_kron(t, s), LAM_DIMS(2, 4), 5, 6, 10, 12, 15, 18, -20, -24);
    EXPECT(lam_kron(VEC(1, 2), t), LAM_DIMS(2, 4), 1, 2, 2, 4, 3, -4, 6, -8);
    EXPECT(lam_kron(num(3), VEC(1, 2)), LAM_DIMS(2), 3, 6);
    EXPECT(lam_inner(t, MAT(3, 2, 1, 0, 0, 1, 2, 2)), LAM_DIMS(2, 3), 1, 2, 6, 3, -4, -2);
    EXPECT(lam_inner(num(2), VEC(1, 2)), LAM_DIMS(2), 2, 4);
    EXPECT(lam_cross(VEC(1, 2, 3), VEC(4, 5, 6), 0), LAM_DIMS(3), -3, 6, -3);
    EXPECT(lam_cross(MAT(2, 3, 1, 0, 0, 0, 1, 0), VEC(0, 0, 1), -1), LAM_DIMS(2, 3), 0, -1, 0, 1, 0, 0);
    EXPECT(lam_cross(MAT(3, 2, 1, 0, 0, 1, 0, 0), MAT(3, 1, 0, 0, 1), 0), LAM_DIMS(3, 2), 0, 1, -1, 0, 0, 0);
    EXPECT(lam_vander(VEC(2, -3), 4, false), LAM_DIMS(2, 4), 8, 4, 2, 1, -27, 9, -3, 1);
    EXPECT(lam_vander(VEC(2, -3), 3, true), LAM_DIMS(2, 3), 1, 2, 4, 1, -3, 9);
    EXPECT(lam_vander(VEC(2, -3), 1, true), LAM_DIMS(2, 1), 1, 1);
    EXPECT_EMPTY(lam_vander(VEC(2, -3), 0, true), LAM_DIMS(2, 0));
    EXPECT(lam_matrix_transpose(MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(3, 2), 1, 4, 2, 5, 3, 6);
}
END_TEST

START_TEST(powers) {
    lam_tensor *a = a33();
    EXPECT(lam_matrix_power(a, 0), LAM_DIMS(3, 3), 1, 0, 0, 0, 1, 0, 0, 0, 1);
    EXPECT_SAME(lam_matrix_power(a, 1), a, 0);
    EXPECT(lam_matrix_power(a, 5), LAM_DIMS(3, 3), 43.03125, 94.109375, -50.45703125, -88.75, -199.625, 107.71875,
           -22.7265625, -58.41796875, 32.4072265625);
    EXPECT_NEAR(lam_matrix_power(a, -3), 1e-11, LAM_DIMS(3, 3), -182.25, -105.5, 67, 443.875, 256.75, -162.5, 672.5,
                389, -246);
    lam_tensor *whole = lam_cast(MAT(2, 2, 1, 1, 1, 0), LAM_I64), *f = lam_matrix_power(whole, 90);
    ck_assert_int_eq(lam_dtype_of(f), LAM_I64);
    lam_tensor *fibonacci = lam_array(ctx, LAM_I64, LAM_DIMS0, (int64_t[]){2880067194370816120});
    EXPECT_NUM(lam_sub(lam_index(lam_index(f, 0, 0), 0, 1), fibonacci), 0); /* number 90 */
    EXPECT(lam_matrix_power(lam_ones(ctx, LAM_F64, LAM_DIMS(2, 1, 1)), -7), LAM_DIMS(2, 1, 1), 1, 1);
}
END_TEST

/* The cheapest order of 10 x 100, 100 x 5, 5 x 50 is the left one; all orders give one result. */
START_TEST(chains) {
    lam_tensor *a = a33(), *row = VEC(1, -2, 0.5), *b = MAT(3, 2, 1, 2, 3, -4, 0.5, 6);
    lam_tensor *want = lam_matmul(lam_matmul(lam_matmul(row, a), a), b);
    EXPECT_SAME(lam_multi_dot(LAM_LIST(row, a, a, b)), want, 1e-15);
    EXPECT_SAME(lam_multi_dot(LAM_LIST(row, a, row)), lam_matmul(lam_matmul(row, a), row), 1e-15);
    EXPECT_SAME(lam_multi_dot(LAM_LIST(a, b)), lam_matmul(a, b), 0);
    size_t before = lam_ctx_bytes(ctx);
    lam_tensor *thin = lam_ones(ctx, LAM_F64, LAM_DIMS(1, 400)), *tall = lam_ones(ctx, LAM_F64, LAM_DIMS(400, 1));
    lam_ctx_reset_peak(ctx);
    EXPECT_NUM(lam_sum(lam_multi_dot(LAM_LIST(tall, thin, tall, thin, tall)), NULL), 400.0 * 400 * 400);
    ck_assert_uint_lt(lam_ctx_peak_bytes(ctx) - before, 400 * 400 * sizeof(double)); /* no 400 x 400 in between */
}
END_TEST

START_TEST(solves_with_given_factors) {
    lam_tensor *a = a33(), *factors, *pivots, *order, *b = VEC(1, 2, 3);
    lam_lu(a, &factors, &pivots, &order);
    EXPECT_SAME(lam_lu_solve(factors, order, b, false), lam_solve(a, b), 1e-12);
    EXPECT_SAME(lam_lu_solve(factors, order, b, true), lam_solve(lam_matrix_transpose(a), b), 1e-12);
    lam_tensor *two = lam_stack(LAM_LIST(a, lam_reverse(a, LAM_AXES(0))), 0), *many = MAT(3, 2, 1, 2, 3, 4, 5, 6);
    lam_lu(two, &factors, &pivots, &order);
    EXPECT_SAME(lam_lu_solve(factors, order, many, false), lam_solve(two, many), 1e-12);
    lam_lu(a, &factors, &pivots, &order);
    lam_tensor *stack = lam_stack(LAM_LIST(many, lam_neg(many)), 0);
    EXPECT_SAME(lam_lu_solve(factors, order, stack, true), lam_solve(lam_matrix_transpose(a), stack), 1e-12);
}
END_TEST

BODY(kron_of_two) {
    out[0] = lam_kron(in[0], lam_sin(in[0]));
}
BODY(cross_of_rows) {
    out[0] = lam_cross(in[0], lam_cos(in[0]), -1);
}
BODY(inner_of_two) {
    out[0] = lam_inner(in[0], lam_exp(in[0]));
}
BODY(vander_of_all) {
    out[0] = lam_vander(in[0], 4, false);
}
BODY(power_up) {
    out[0] = lam_matrix_power(in[0], 6);
}
BODY(power_down) {
    out[0] = lam_matrix_power(in[0], -2);
}
BODY(chain_of_four) {
    out[0] = lam_multi_dot(LAM_LIST(in[0], in[0], lam_sin(in[0]), VEC(1, 2, 3)));
}
BODY(solved_by_factors) {
    lam_tensor *factors, *pivots, *order;
    lam_lu(in[0], &factors, &pivots, &order);
    out[0] = lam_lu_solve(factors, order, lam_slice_axis(in[0], -1, 0, 2), true);
}
BODY(rows_in_groups) {
    out[0] = lam_ragged_dot(in[0], lam_stack(LAM_LIST(in[0], lam_sin(in[0])), 0), INTEGERS(1, 1));
}
BODY(rows_in_given_groups) {
    out[0] = lam_ragged_dot(in[0], in[1], in[2]);
}

START_TEST(derivatives_and_batches) {
    static const lam_body bodies[] = {kron_of_two, cross_of_rows, inner_of_two,      vander_of_all, power_up,
                                      power_down,  chain_of_four, solved_by_factors, rows_in_groups};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        lam_fn *f = FN(bodies[i], 1, 1);
        lam_tensor *x = lam_add(lam_mul(0.25, a33()), lam_eye(ctx, LAM_F64, 3, 3)), *y = lam_matmul(x, x);
        ck_assert_msg(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}) == LAM_OK, "body %d: %s",
                      (int)i, lam_error(ctx));
        lam_tensor *both = apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0));
        EXPECT_SAME(lam_index(both, 0, 1), apply1(f, y), 1e-13);
    }
}
END_TEST

/* Each group by itself. What stands in other groups has no part in a result; sizes may be mapped. */
START_TEST(groups_of_rows) {
    lam_tensor *x = MAT(4, 2, 1, 2, 3, 4, 5, 6, 7, 8),
               *y = lam_reshape(lam_iota(ctx, LAM_F64, LAM_DIMS(18), 0), LAM_DIMS(3, 2, 3));
    lam_tensor *group[] = {lam_index(y, 0, 0), lam_index(y, 0, 1), lam_index(y, 0, 2)};
    lam_tensor *first = lam_matmul(lam_slice_axis(x, 0, 0, 1), group[0]);
    lam_tensor *rest = lam_matmul(lam_slice_axis(x, 0, 1, 3), group[2]);
    lam_tensor *want = lam_concatenate(LAM_LIST(first, rest, lam_zeros(ctx, LAM_F64, LAM_DIMS(1, 3))), 0);
    EXPECT_SAME(lam_ragged_dot(x, y, INTEGERS(1, 0, 2)), want, 0);
    EXPECT_SAME(lam_ragged_dot(x, y, INTEGERS(0, 9, 0)), lam_matmul(x, group[1]), 0);
    EXPECT_SAME(lam_ragged_dot(lam_cast(x, LAM_F32), y, INTEGERS(1, 0, 2)), want, 1e-6);
    EXPECT_EMPTY(lam_ragged_dot(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), y, INTEGERS(1, 0, 2)), LAM_DIMS(0, 3));
    lam_tensor *sizes = lam_stack(LAM_LIST(INTEGERS(1, 0, 2), INTEGERS(0, 9, 0)), 0);
    lam_vmap_options only = {.in_axes = LAM_AXES(LAM_UNMAPPED, LAM_UNMAPPED, 0)};
    lam_tensor *both = lam_apply(lam_vmap(FN(rows_in_given_groups, 3, 1), &only), LAM_LIST(x, y, sizes));
    EXPECT_SAME(both, lam_stack(LAM_LIST(want, lam_matmul(x, group[1])), 0), 0);
    lam_tensor *spoilt = lam_put(x, INTEGERS(0), num(INFINITY), 0);
    EXPECT_SAME(lam_slice_axis(lam_ragged_dot(spoilt, y, INTEGERS(1, 0, 2)), 0, 1, 3), rest, 0);
    EXPECT_OK();
    lam_ragged_dot(x, group[0], INTEGERS(1));
    EXPECT_ERROR(LAM_ERR_RANK, "ragged_dot");
    lam_ragged_dot(MAT(2, 3, 1, 2, 3, 4, 5, 6), y, INTEGERS(1, 0, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "ragged_dot", "2 rows");
    lam_ragged_dot(x, y, INTEGERS(1, 0));
    EXPECT_ERROR(LAM_ERR_SHAPE, "ragged_dot", "3 sizes");
    lam_ragged_dot(x, y, VEC(1, 0, 2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "ragged_dot");
    lam_ragged_dot(x, y, INTEGERS(1, -1, 2));
    EXPECT_ERROR(LAM_ERR_VALUE, "ragged_dot", "sizes");
}
END_TEST

START_TEST(mistakes_are_named) {
    lam_tensor *a = a33();
    lam_cross(VEC(1, 2), VEC(1, 2), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "cross", "3 elements");
    lam_inner(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_ERROR(LAM_ERR_SHAPE, "inner", "f64[2]", "f64[3]");
    lam_multi_dot(LAM_LIST(a, VEC(1, 2)));
    EXPECT_ERROR(LAM_ERR_SHAPE, "multi_dot", "factor 1");
    lam_multi_dot(LAM_LIST(a));
    EXPECT_ERROR(LAM_ERR_ARITY, "multi_dot", "2 to 64");
    lam_multi_dot(LAM_LIST(a, num(1), a));
    EXPECT_ERROR(LAM_ERR_RANK, "multi_dot", "factor 1");
    lam_vander(num(1), 2, false);
    EXPECT_ERROR(LAM_ERR_RANK, "vander");
    lam_vander(VEC(1), -2, false);
    EXPECT_ERROR(LAM_ERR_VALUE, "vander", "-2");
    lam_matrix_power(MAT(1, 2, 1, 2), 3);
    EXPECT_ERROR(LAM_ERR_SHAPE, "matrix_power", "square");
    lam_matrix_transpose(VEC(1));
    EXPECT_ERROR(LAM_ERR_RANK, "matrix_transpose");
}
END_TEST

Suite *suite_primitives_products(void) {
    return SUITE_OF("primitives/products", values, powers, chains, solves_with_given_factors, derivatives_and_batches,
                    groups_of_rows, mistakes_are_named);
}
