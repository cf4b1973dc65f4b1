/* Sorting and what rearranges axes: values against counting and against small cases worked out by hand, ties and NaN,
 * derivatives against differences, vmap against one call per example. */
#include "tests/support.h"

#define WHOLE(dims, ...) lam_array(ctx, LAM_I64, dims, (int64_t[]){__VA_ARGS__})

START_TEST(equal_elements_keep_their_order_and_nan_comes_last) {
    lam_tensor *x = VEC(2, NAN, 1, 2, -0.0, NAN, 0.0, 1);
    EXPECT(lam_argsort(x, 0), LAM_DIMS(8), 4, 6, 2, 7, 0, 3, 1, 5);
    EXPECT(lam_sort(x, -1), LAM_DIMS(8), 0, 0, 1, 1, 2, 2, NAN, NAN);
    EXPECT(lam_sort(MAT(2, 3, 3, 1, 2, 1, 2, 0), 0), LAM_DIMS(2, 3), 1, 1, 0, 3, 2, 2);
    EXPECT(lam_argsort(lam_array(ctx, LAM_BOOL, LAM_DIMS(4), (uint8_t[]){1, 0, 1, 0}), 0), LAM_DIMS(4), 1, 3, 0, 2);
}
END_TEST

/* Lengths around the runs that are sorted by insertion, and one with many equal elements. */
START_TEST(long_axes_are_sorted) {
    int64_t n = (int64_t[]){1, 15, 16, 17, 31, 32, 33, 64, 100, 1000, 4099}[_i];
    lam_tensor *x = lam_floor(lam_mul(lam_sin(lam_mul(lam_arange(ctx, LAM_F64, 0, (double)n, 1), 12.9898)), 300.0));
    lam_tensor *order = lam_argsort(x, 0), *sorted = lam_sort(x, 0);
    lam_tensor *step = lam_sub(lam_slice_axis(sorted, 0, 1, LAM_END), lam_slice_axis(sorted, 0, 0, -1));
    lam_tensor *later = lam_gt(lam_slice_axis(order, 0, 1, LAM_END), lam_slice_axis(order, 0, 0, -1));
    EXPECT_NUM(lam_all(lam_or(lam_gt(step, 0.0), lam_and(lam_eq(step, 0.0), later)), NULL), 1);
    EXPECT_SAME(lam_take(order, lam_index_inverse(order, n), 0), lam_arange(ctx, LAM_I64, 0, (double)n, 1), 0);
    EXPECT_SAME(sorted, lam_take(x, order, 0), 0);
    lam_take(x, order, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "take: axis 1 ");
}
END_TEST

BODY(largest_three) {
    out[0] = lam_top_k(in[0], 3, NULL);
}

START_TEST(top_k_gives_the_largest_first) {
    lam_tensor *at, *x = MAT(2, 4, 1, 5, 5, 2, NAN, 0, 7, 1);
    EXPECT(lam_top_k(x, 2, &at), LAM_DIMS(2, 2), 5, 5, NAN, 7);
    EXPECT(at, LAM_DIMS(2, 2), 1, 2, 0, 2);
    EXPECT_EMPTY(lam_top_k(x, 0, NULL), LAM_DIMS(2, 0));
    lam_tensor *many = lam_rand(ctx, LAM_F64, LAM_DIMS(3, 200)), *most = lam_top_k(many, 7, &at);
    EXPECT_SAME(most, lam_slice_axis(lam_sort_descending(many, 1), 1, 0, 7), 0);
    EXPECT_SAME(at, lam_slice_axis(lam_argsort_descending(many, 1), 1, 0, 7), 0);
    EXPECT_SAME(lam_apply(lam_vmap(FN(largest_three, 1, 1), NULL), LAM_LIST(many)), lam_top_k(many, 3, NULL), 0);
    lam_top_k(x, 5, &at);
    ck_assert(lam_failed(at));
    EXPECT_ERROR(LAM_ERR_VALUE, "top_k", "5 of 4", "k is 0 up to");
    lam_top_k(num(1), 1, NULL);
    EXPECT_ERROR(LAM_ERR_AXIS, "top_k");
    lam_quantile(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), num(0.5), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "quantile: there are no elements", "lam_size");
}
END_TEST

START_TEST(searchsorted_stands_before_or_behind_equal_ones) {
    lam_tensor *x = VEC(1, 3, 3, 5, NAN);
    EXPECT(lam_searchsorted(x, VEC(0, 1, 3, 4, 9, NAN), false), LAM_DIMS(6), 0, 0, 1, 3, 4, 4);
    EXPECT(lam_searchsorted(x, VEC(0, 1, 3, 4, 9, NAN), true), LAM_DIMS(6), 0, 1, 3, 3, 4, 5);
    EXPECT(lam_searchsorted(WHOLE(LAM_DIMS(2), 1, 2), num(1.5), true), LAM_DIMS0, 1);
}
END_TEST

START_TEST(tile_repeat_and_roll_move_elements) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(lam_tile(x, LAM_DIMS(1, 2)), LAM_DIMS(2, 4), 1, 2, 1, 2, 3, 4, 3, 4);
    EXPECT(lam_tile(x, LAM_DIMS(2, 1)), LAM_DIMS(4, 2), 1, 2, 3, 4, 1, 2, 3, 4);
    EXPECT_EMPTY(lam_tile(x, LAM_DIMS(0, 3)), LAM_DIMS(0, 6));
    EXPECT_NUM(lam_tile(num(3), LAM_DIMS0), 3);
    EXPECT(lam_tile(num(3), LAM_DIMS(2)), LAM_DIMS(2), 3, 3);
    EXPECT(lam_tile(x, LAM_DIMS(2)), LAM_DIMS(2, 4), 1, 2, 1, 2, 3, 4, 3, 4);
    EXPECT(lam_tile(x, LAM_DIMS(2, 1, 1)), LAM_DIMS(2, 2, 2), 1, 2, 3, 4, 1, 2, 3, 4);
    EXPECT(lam_repeat(x, 2, 1), LAM_DIMS(2, 4), 1, 1, 2, 2, 3, 3, 4, 4);
    EXPECT(lam_repeat(x, 2, -2), LAM_DIMS(4, 2), 1, 2, 1, 2, 3, 4, 3, 4);
    EXPECT(lam_roll(VEC(1, 2, 3), 1, 0), LAM_DIMS(3), 3, 1, 2);
    EXPECT(lam_roll(VEC(1, 2, 3), -4, 0), LAM_DIMS(3), 2, 3, 1);
    EXPECT(lam_roll(VEC(1, 2, 3), INT64_MIN, 0), LAM_DIMS(3), 3, 1, 2); /* -2^63 = 1 modulo 3 */
    EXPECT_EMPTY(lam_roll(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), 3, 0), LAM_DIMS(0));
}
END_TEST

START_TEST(wrong_rearrangements_fail_with_their_names) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4);
    lam_tile(x, LAM_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    EXPECT_ERROR(LAM_ERR_RANK, "tile", "17 numbers", "at most 16");
    lam_tile(x, LAM_DIMS(1, -1));
    EXPECT_ERROR(LAM_ERR_VALUE, "tile", "-1");
    lam_repeat(x, INT64_MAX, 0);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "repeat");
    lam_repeat(x, 1, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "repeat");
    lam_sort(x, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "sort");
    lam_drop(x);
    lam_roll(x, 1, 0);
    EXPECT_ERROR(LAM_ERR_FREED, "roll");
    lam_tile(x, LAM_DIMS(1, 1));
    EXPECT_ERROR(LAM_ERR_FREED, "tile");
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(sorted_rows) {
    out[0] = lam_square(lam_sort(lam_sin(in[0]), 1));
}

BODY(two_largest) {
    out[0] = lam_exp(lam_top_k(in[0], 2, NULL));
}

BODY(rearranged) {
    out[0] = lam_mul(lam_tile(in[0], LAM_DIMS(1, 2)), lam_square(lam_repeat(lam_roll(in[0], 1, 1), 2, 1)));
}

static const lam_body bodies[] = {sorted_rows, two_largest, rearranged};

static lam_tensor *matrix(void) {
    return MAT(3, 4, 0.3, -1.2, 1.5, 0.8, 1.1, 0.4, -0.7, 1.3, -1.4, 0.6, 1.2, -0.2);
}

START_TEST(derivatives_agree_with_differences) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    ck_assert_msg(lam_check_grads(f, LAM_LIST(matrix()), &(lam_check_grads_options){.order = 2}) == LAM_OK,
                  "body %d: %s", _i, lam_error(ctx));
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    lam_fn *f = FN(bodies[_i], 1, 1);
    lam_tensor *x = matrix(), *y = lam_cos(lam_mul(x, 3.0)), *both = lam_stack(LAM_LIST(x, y), 0);
    lam_tensor *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), both), apart, 0);
    lam_tensor *twice = apply1(lam_vmap(lam_vmap(f, NULL), NULL), lam_stack(LAM_LIST(both, both), 0));
    EXPECT_SAME(twice, lam_stack(LAM_LIST(apart, apart), 0), 0);
}
END_TEST

BODY(largest) {
    out[0] = lam_max_reduce(in[0], NULL);
}

BODY(smallest) {
    out[0] = lam_min_reduce(in[0], NULL);
}

/* As the table in ops.h says. */
START_TEST(the_number_that_wins_has_the_slope) {
    for (int k = 0; k < 2; k++) {
        lam_fn *g = lam_grad(k ? FN(largest, 1, 1) : FN(smallest, 1, 1), NULL);
        EXPECT(apply1(g, VEC(NAN, 1, 2)), LAM_DIMS(3), 1, 0, 0);
        EXPECT(apply1(g, VEC(NAN, 1, NAN, 2)), LAM_DIMS(4), 0.5, 0, 0.5, 0);
    }
}
END_TEST

Suite *suite_primitives_sorting(void) {
    Suite *suite = SUITE_OF("primitives/sorting", equal_elements_keep_their_order_and_nan_comes_last,
                            top_k_gives_the_largest_first, searchsorted_stands_before_or_behind_equal_ones,
                            tile_repeat_and_roll_move_elements, wrong_rearrangements_fail_with_their_names,
                            the_number_that_wins_has_the_slope);
    suite_loop(suite, long_axes_are_sorted, 11);
    suite_loop(suite, derivatives_agree_with_differences, (int)(sizeof bodies / sizeof bodies[0]));
    suite_loop(suite, vmap_equals_the_loop, (int)(sizeof bodies / sizeof bodies[0]));
    return suite;
}
