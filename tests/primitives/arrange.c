/* Operations of arrange.h and histograms of several coordinates: values by hand, from NumPy's documentation and as
 * NumPy gives them; derivatives against differences, vmap against one call per example. */
#include "tests/primitives/bodies.h"

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static lam_tensor *empty(void) {
    return lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

START_TEST(axes_of_a_broadcast) {
    EXPECT(lam_broadcast_in_dim(VEC(1, 2), LAM_DIMS(2, 3), LAM_AXES(0)), LAM_DIMS(2, 3), 1, 1, 1, 2, 2, 2);
    EXPECT(lam_broadcast_in_dim(VEC(1, 2), LAM_DIMS(2, 2), LAM_AXES(-1)), LAM_DIMS(2, 2), 1, 2, 1, 2);
    EXPECT(lam_broadcast_in_dim(MAT(2, 1, 1, 2), LAM_DIMS(2, 1, 2), LAM_AXES(0, 2)), LAM_DIMS(2, 1, 2), 1, 1, 2, 2);
    EXPECT(lam_broadcast_in_dim(num(3), LAM_DIMS(2), LAM_NO_AXES), LAM_DIMS(2), 3, 3);
    lam_broadcast_in_dim(VEC(1, 2), LAM_DIMS(2, 3), LAM_AXES(2));
    EXPECT_ERROR(LAM_ERR_AXIS, "broadcast_in_dim");
    lam_broadcast_in_dim(MAT(1, 1, 1), LAM_DIMS(2, 3), LAM_AXES(1, 0));
    EXPECT_ERROR(LAM_ERR_AXIS, "broadcast_in_dim");
    lam_broadcast_in_dim(VEC(1, 2), LAM_DIMS(2, 3), LAM_AXES(1));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

START_TEST(tensors_of_common_dims) {
    lam_tensor *out[3];
    ck_assert_int_eq(lam_broadcast_arrays(LAM_LIST(VEC(1, 2), MAT(3, 1, 5, 6, 7), num(9)), out, 3), LAM_OK);
    EXPECT(out[0], LAM_DIMS(3, 2), 1, 2, 1, 2, 1, 2);
    EXPECT(out[1], LAM_DIMS(3, 2), 5, 5, 6, 6, 7, 7);
    EXPECT(out[2], LAM_DIMS(3, 2), 9, 9, 9, 9, 9, 9);
    ck_assert_int_eq(lam_broadcast_arrays(LAM_LIST(VEC(1, 2), VEC(1, 2, 3)), out, 2), LAM_ERR_SHAPE);
    ck_assert(lam_failed(out[0]) && lam_failed(out[1]));
    EXPECT_ERROR(LAM_ERR_SHAPE, "broadcast_arrays");
    ck_assert_int_eq(lam_broadcast_arrays(LAM_LIST(VEC(1, 2)), out, 2), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "broadcast_arrays");
}
END_TEST

START_TEST(axes_as_one) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 12, 1), LAM_DIMS(2, 3, 2));
    EXPECT_SAME(lam_collapse(x, 0, 1), lam_reshape(x, LAM_DIMS(6, 2)), 0);
    EXPECT_SAME(lam_collapse(x, -2, -1), lam_reshape(x, LAM_DIMS(2, 6)), 0);
    EXPECT_SAME(lam_collapse(x, 1, 1), x, 0);
    EXPECT_EMPTY(lam_collapse(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0, 3)), 0, 2), LAM_DIMS(0));
    lam_collapse(x, 2, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "collapse");
    lam_collapse(x, 0, 3);
    EXPECT_ERROR(LAM_ERR_AXIS, "collapse");
}
END_TEST

/* From NumPy's documentation of block. */
START_TEST(grids_of_blocks) {
    lam_tensor *a = lam_mul(2.0, lam_eye(ctx, LAM_F64, 2, 2)), *b = lam_mul(3.0, lam_eye(ctx, LAM_F64, 3, 3));
    lam_tensor *all = lam_block(
        LAM_LIST(a, lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 3)), lam_ones(ctx, LAM_F64, LAM_DIMS(3, 2)), b), 2, 2);
    EXPECT(all, LAM_DIMS(5, 5), 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 1, 3, 0, 0, 1, 1, 0, 3, 0, 1, 1, 0, 0, 3);
    lam_block(LAM_LIST(a, b), 2, 2);
    EXPECT_ERROR(LAM_ERR_ARITY, "block");
    lam_block(LAM_LIST(a, b), 1, 2);
    EXPECT_STATUS(LAM_ERR_SHAPE);
    lam_block(LAM_LIST(VEC(1), VEC(2)), 2, 1);
    EXPECT_STATUS(LAM_ERR_AXIS);
}
END_TEST

/* ---- parts of an axis -------------------------------------------------------------------------------------------- */

START_TEST(slices_of_one_axis) {
    lam_tensor *x = MAT(2, 4, 0, 1, 2, 3, 4, 5, 6, 7);
    EXPECT(lam_dynamic_slice_axis(x, lam_index(INTEGERS(1), 0, 0), 2, 1), LAM_DIMS(2, 2), 1, 2, 5, 6);
    EXPECT(lam_dynamic_slice_axis(x, lam_index(INTEGERS(9), 0, 0), 2, -1), LAM_DIMS(2, 2), 2, 3, 6, 7);
    EXPECT(lam_dynamic_slice_axis(x, lam_index(INTEGERS(1), 0, 0), 1, 0), LAM_DIMS(1, 4), 4, 5, 6, 7);
    EXPECT(lam_dynamic_update_slice_axis(x, MAT(2, 1, 8, 9), lam_index(INTEGERS(3), 0, 0), 1), LAM_DIMS(2, 4), 0, 1, 2,
           8, 4, 5, 6, 9);
    lam_dynamic_slice_axis(x, lam_index(INTEGERS(1), 0, 0), 2, 2);
    EXPECT_ERROR(LAM_ERR_AXIS, "dynamic_slice_axis");
    lam_dynamic_slice_axis(x, lam_index(INTEGERS(1), 0, 0), 5, 1);
    EXPECT_STATUS(LAM_ERR_VALUE);
    lam_dynamic_update_slice_axis(x, MAT(2, 1, 8, 9), num(3), 1);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

/* numpy.delete and numpy.insert. */
START_TEST(elements_out_and_in) {
    lam_tensor *x = VEC(1, 2, 3, 4), *m = MAT(2, 3, 0, 1, 2, 3, 4, 5);
    EXPECT(lam_delete(x, LAM_DIMS(1, -1, 1), 0), LAM_DIMS(2), 1, 3);
    EXPECT(lam_delete(m, LAM_DIMS(0), 1), LAM_DIMS(2, 2), 1, 2, 4, 5);
    EXPECT_EMPTY(lam_delete(m, LAM_DIMS(0, 1), 0), LAM_DIMS(0, 3));
    EXPECT_SAME(lam_delete(x, LAM_DIMS0, 0), x, 0);
    EXPECT(lam_insert(x, LAM_DIMS(1, 1, 4), VEC(10, 11, 12), 0), LAM_DIMS(7), 1, 10, 11, 2, 3, 4, 12);
    EXPECT(lam_insert(m, LAM_DIMS(1), num(9), 1), LAM_DIMS(2, 4), 0, 9, 1, 2, 3, 9, 4, 5);
    EXPECT(lam_insert(VEC(1, 2, 3), LAM_DIMS(-1), VEC(7, 8), 0), LAM_DIMS(5), 1, 2, 7, 8, 3);
    EXPECT(lam_insert(MAT(2, 2, 0, 1, 2, 3), LAM_DIMS(2, 0), MAT(2, 1, 5, 6), 1), LAM_DIMS(2, 4), 5, 0, 1, 5, 6, 2, 3,
           6);
    EXPECT(lam_insert(m, LAM_DIMS(2, 0), VEC(7, 8, 9), 0), LAM_DIMS(4, 3), 7, 8, 9, 0, 1, 2, 3, 4, 5, 7, 8, 9);
    EXPECT(lam_insert(empty(), LAM_DIMS(0), VEC(7, 8), 0), LAM_DIMS(2), 7, 8);
    ck_assert_int_eq(lam_dtype_of(lam_insert(INTEGERS(1), LAM_DIMS(0), num(2), 0)), LAM_I64);
    lam_delete(x, LAM_DIMS(4), 0);
    EXPECT_ERROR(LAM_ERR_INDEX, "delete", "4 is out of range [-4, 4)");
    int64_t many[LAM_MAX_RANK + 1] = {0};
    lam_delete(x, (lam_dims){LAM_MAX_RANK + 1, many}, 0);
    EXPECT_ERROR(LAM_ERR_RANK, "delete", "17 numbers are more than 16");
    lam_insert(x, (lam_dims){LAM_MAX_RANK + 1, many}, num(1), 0);
    EXPECT_ERROR(LAM_ERR_RANK, "insert");
    EXPECT(lam_delete(x, (lam_dims){LAM_MAX_RANK, many}, 0), LAM_DIMS(3), 2, 3, 4);
    lam_insert(x, LAM_DIMS(5), num(1), 0);
    EXPECT_ERROR(LAM_ERR_INDEX, "insert");
    lam_insert(x, LAM_DIMS(0, 1), VEC(1, 2, 3), 0);
    EXPECT_STATUS(LAM_ERR_SHAPE);
    lam_delete(num(1), LAM_DIMS(0), 0);
    EXPECT_ERROR(LAM_ERR_AXIS, "delete");
    lam_insert(x, LAM_DIMS(0), lam_cast(x, LAM_C128), 0);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(elements_where_a_condition_holds) {
    lam_tensor *x = VEC(1, 2, 3, 4), *m = MAT(2, 3, 0, 1, 2, 3, 4, 5), *c = lam_gt(x, 1.5);
    EXPECT(lam_compress(c, x, 3, -1, 0), LAM_DIMS(3), 2, 3, 4);
    EXPECT(lam_compress(c, x, 2, -1, 0), LAM_DIMS(2), 2, 3);
    EXPECT(lam_compress(c, x, 5, -1, 0), LAM_DIMS(5), 2, 3, 4, -1, -1);
    EXPECT(lam_compress(VEC(0, 1), m, 2, 9, 1), LAM_DIMS(2, 2), 1, 9, 4, 9);
    EXPECT(lam_compress(VEC(0, 1, 1, 1, 1), m, 2, 9, 0), LAM_DIMS(2, 3), 3, 4, 5, 9, 9, 9);
    EXPECT(lam_compress(empty(), empty(), 2, 9, 0), LAM_DIMS(2), 9, 9);
    EXPECT_SAME(lam_compress(c, INTEGERS(1, 2, 3, 4), 4, -7, 0), INTEGERS(2, 3, 4, -7), 0);
    EXPECT_EMPTY(lam_compress(c, x, 0, 9, 0), LAM_DIMS(0));
    lam_compress(m, x, 1, 0, 0);
    EXPECT_ERROR(LAM_ERR_RANK, "compress");
    lam_compress(c, x, -1, 0, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "compress");
    lam_compress(c, x, 1, 0, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "compress");
}
END_TEST

START_TEST(elements_as_often_as_counted) {
    lam_tensor *x = VEC(1, 2, 3), *counts = INTEGERS(2, 0, 3);
    EXPECT(lam_repeat_each(x, counts, 5, 0), LAM_DIMS(5), 1, 1, 3, 3, 3);
    EXPECT(lam_repeat_each(x, counts, 7, 0), LAM_DIMS(7), 1, 1, 3, 3, 3, 3, 3);
    EXPECT(lam_repeat_each(x, counts, 1, 0), LAM_DIMS(1), 1);
    EXPECT(lam_repeat_each(MAT(2, 3, 1, 2, 3, 4, 5, 6), counts, 3, 1), LAM_DIMS(2, 3), 1, 1, 3, 4, 4, 6);
    EXPECT_EMPTY(lam_repeat_each(empty(), lam_zeros(ctx, LAM_I64, LAM_DIMS(0)), 0, 0), LAM_DIMS(0));
    lam_repeat_each(x, INTEGERS(1, 2), 3, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "repeat_each");
    lam_repeat_each(x, x, 3, 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "repeat_each");
    lam_repeat_each(x, counts, -1, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "repeat_each");
}
END_TEST

START_TEST(elements_again_and_again) {
    EXPECT(lam_resize(VEC(1, 2, 3), LAM_DIMS(2, 4)), LAM_DIMS(2, 4), 1, 2, 3, 1, 2, 3, 1, 2);
    EXPECT(lam_resize(MAT(2, 2, 1, 2, 3, 4), LAM_DIMS(3)), LAM_DIMS(3), 1, 2, 3);
    EXPECT(lam_resize(num(7), LAM_DIMS(2)), LAM_DIMS(2), 7, 7);
    EXPECT(lam_resize(empty(), LAM_DIMS(2)), LAM_DIMS(2), 0, 0);
    EXPECT_EMPTY(lam_resize(VEC(1), LAM_DIMS(3, 0)), LAM_DIMS(3, 0));
    lam_resize(VEC(1), LAM_DIMS(-3));
    EXPECT_STATUS(LAM_ERR_VALUE);
}
END_TEST

/* numpy.pad. */
START_TEST(around_with_what_is_there) {
    lam_tensor *x = VEC(1, 2, 3), *y = VEC(1, 2, 6);
    EXPECT(lam_pad_with(x, LAM_DIMS(2), LAM_DIMS(3), LAM_PAD_EDGE), LAM_DIMS(8), 1, 1, 1, 2, 3, 3, 3, 3);
    EXPECT(lam_pad_with(x, LAM_DIMS(4), LAM_DIMS(5), LAM_PAD_REFLECT), LAM_DIMS(12), 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3,
           2);
    EXPECT(lam_pad_with(x, LAM_DIMS(4), LAM_DIMS(5), LAM_PAD_SYMMETRIC), LAM_DIMS(12), 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1,
           2);
    EXPECT(lam_pad_with(x, LAM_DIMS(4), LAM_DIMS(5), LAM_PAD_WRAP), LAM_DIMS(12), 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2);
    EXPECT(lam_pad_with(VEC(5), LAM_DIMS(1), LAM_DIMS(2), LAM_PAD_REFLECT), LAM_DIMS(4), 5, 5, 5, 5);
    EXPECT(lam_pad_with(y, LAM_DIMS(1), LAM_DIMS(2), LAM_PAD_MEAN), LAM_DIMS(6), 3, 1, 2, 6, 3, 3);
    EXPECT(lam_pad_with(y, LAM_DIMS(1), LAM_DIMS(2), LAM_PAD_MAXIMUM), LAM_DIMS(6), 6, 1, 2, 6, 6, 6);
    EXPECT(lam_pad_with(y, LAM_DIMS(1), LAM_DIMS(0), LAM_PAD_MINIMUM), LAM_DIMS(4), 1, 1, 2, 6);
    EXPECT(lam_pad_with(MAT(2, 2, 0, 1, 2, 3), LAM_DIMS(1, 0), LAM_DIMS(0, 1), LAM_PAD_MEAN), LAM_DIMS(3, 3), 1, 2, 1.5,
           0, 1, 0.5, 2, 3, 2.5);
    ck_assert_int_eq(lam_dtype_of(lam_pad_with(INTEGERS(1), LAM_DIMS(1), LAM_DIMS(0), LAM_PAD_WRAP)), LAM_I64);
    EXPECT_EMPTY(lam_pad_with(empty(), LAM_DIMS(0), LAM_DIMS(0), LAM_PAD_WRAP), LAM_DIMS(0));
    EXPECT_NUM(lam_pad_with(num(2), LAM_DIMS0, LAM_DIMS0, LAM_PAD_WRAP), 2);
    lam_pad_with(empty(), LAM_DIMS(1), LAM_DIMS(0), LAM_PAD_EDGE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "pad_with");
    lam_pad_with(x, LAM_DIMS(-1), LAM_DIMS(0), LAM_PAD_EDGE);
    EXPECT_ERROR(LAM_ERR_VALUE, "pad_with");
    lam_pad_with(x, LAM_DIMS(1), LAM_DIMS(0), (lam_pad_mode)9);
    EXPECT_ERROR(LAM_ERR_OPTION, "pad_with");
    lam_pad_with(x, LAM_DIMS(1, 1), LAM_DIMS(0, 0), LAM_PAD_EDGE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "pad_with");
    lam_pad_with(lam_cast(x, LAM_C128), LAM_DIMS(1), LAM_DIMS(0), LAM_PAD_MAXIMUM);
    EXPECT_ERROR(LAM_ERR_DTYPE, "pad_with");
}
END_TEST

START_TEST(diagonals_filled) {
    lam_tensor *m = MAT(2, 3, 0, 1, 2, 3, 4, 5);
    EXPECT(lam_fill_diagonal(m, num(9), 0), LAM_DIMS(2, 3), 9, 1, 2, 3, 9, 5);
    EXPECT(lam_fill_diagonal(m, VEC(7, 8, 9), 1), LAM_DIMS(2, 3), 0, 8, 2, 3, 4, 9);
    EXPECT(lam_fill_diagonal(m, num(9), -1), LAM_DIMS(2, 3), 0, 1, 2, 9, 4, 5);
    EXPECT_SAME(lam_fill_diagonal(m, num(9), 7), m, 0);
    lam_fill_diagonal(VEC(1), num(1), 0);
    EXPECT_ERROR(LAM_ERR_RANK, "fill_diagonal");
    lam_fill_diagonal(m, VEC(1, 2), 0);
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

/* ---- choices and places ------------------------------------------------------------------------------------------ */

START_TEST(choices_by_number) {
    lam_list choices = LAM_LIST(VEC(0, 1, 2, 3), VEC(10, 11, 12, 13), num(20));
    EXPECT(lam_choose(INTEGERS(2, 1, 0, -1), choices), LAM_DIMS(4), 20, 11, 2, 20);
    EXPECT(lam_choose(lam_reshape(INTEGERS(0, 1), LAM_DIMS(2, 1)), LAM_LIST(VEC(1, 2), VEC(3, 4))), LAM_DIMS(2, 2), 1,
           2, 3, 4);
    lam_choose(INTEGERS(3), choices);
    EXPECT_STATUS(LAM_ERR_INDEX);
    lam_choose(VEC(0), choices);
    EXPECT_ERROR(LAM_ERR_DTYPE, "choose");
    lam_choose(INTEGERS(0), LAM_LIST());
    EXPECT_ERROR(LAM_ERR_ARITY, "choose");
}
END_TEST

START_TEST(places_of_what_is_not_zero) {
    EXPECT(lam_argwhere(MAT(2, 3, 0, 1, 0, 2, 0, 3), 4), LAM_DIMS(4, 2), 0, 1, 1, 0, 1, 2, -1, -1);
    lam_argwhere(num(1), 2);
    EXPECT_STATUS(LAM_ERR_RANK);
}
END_TEST

/* numpy.tril_indices and triu_indices. */
START_TEST(places_of_triangles) {
    lam_tensor *r, *c;
    ck_assert_int_eq(lam_tril_indices(ctx, 3, 4, 1, &r, &c), LAM_OK);
    EXPECT(r, LAM_DIMS(9), 0, 0, 1, 1, 1, 2, 2, 2, 2);
    EXPECT(c, LAM_DIMS(9), 0, 1, 0, 1, 2, 0, 1, 2, 3);
    ck_assert_int_eq(lam_triu_indices(ctx, 3, 2, -1, &r, &c), LAM_OK);
    EXPECT(r, LAM_DIMS(5), 0, 0, 1, 1, 2);
    EXPECT(c, LAM_DIMS(5), 0, 1, 0, 1, 1);
    lam_tril_indices(ctx, 2, 2, -5, &r, NULL);
    EXPECT_EMPTY(r, LAM_DIMS(0));
    lam_triu_indices(ctx, 2, 2, -5, NULL, &c);
    EXPECT(c, LAM_DIMS(4), 0, 1, 0, 1);
    lam_triu_indices(ctx, 0, 2, 0, &r, &c);
    EXPECT_EMPTY(c, LAM_DIMS(0));
    lam_triu_indices(ctx, 1 << 20, 3, 1, &r, &c); /* most rows have none */
    EXPECT(c, LAM_DIMS(3), 1, 2, 2);
    for (int64_t k = 0; k < 5 * 5 * 13; k++) {
        const int64_t rows = k / 65, columns = k / 13 % 5, offset = k % 13 - 6;
        lam_tensor *all = lam_ones(ctx, LAM_F64, LAM_DIMS(rows, columns));
        lam_tril_indices(ctx, rows, columns, offset, &r, NULL);
        lam_triu_indices(ctx, rows, columns, offset, NULL, &c);
        EXPECT_NUM(lam_sum(lam_tril(all, offset), NULL), (double)lam_size(r));
        EXPECT_NUM(lam_sum(lam_triu(all, offset), NULL), (double)lam_size(c));
    }
    ck_assert_int_eq(lam_tril_indices(ctx, -1, 2, 0, &r, &c), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "tril_indices");
    ck_assert_int_eq(lam_triu_indices(ctx, 1, INT64_MAX, 0, &r, &c), LAM_ERR_OVERFLOW);
    ck_assert(lam_failed(r) && lam_failed(c));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "triu_indices");
}
END_TEST

/* ---- groups and sets --------------------------------------------------------------------------------------------- */

START_TEST(rows_in_segments) {
    lam_tensor *x = MAT(4, 2, 1, 2, 3, 4, 5, 6, 7, 8), *s = INTEGERS(0, 2, 0, -1);
    EXPECT(lam_segment_sum(x, s, 3), LAM_DIMS(3, 2), 6, 8, 0, 0, 3, 4);
    EXPECT(lam_segment_prod(x, s, 3), LAM_DIMS(3, 2), 5, 12, 1, 1, 3, 4);
    EXPECT(lam_segment_max(x, s, 3), LAM_DIMS(3, 2), 5, 6, -INFINITY, -INFINITY, 3, 4);
    EXPECT(lam_segment_min(x, s, 2), LAM_DIMS(2, 2), 1, 2, INFINITY, INFINITY);
    lam_tensor *whole = lam_segment_max(INTEGERS(5, 3), INTEGERS(0, 0), 2);
    EXPECT_SAME(whole, INTEGERS(5, INT64_MIN), 0);
    EXPECT_SAME(lam_segment_sum(lam_cast(VEC(1, 0, 1), LAM_BOOL), INTEGERS(0, 0, 0), 1), INTEGERS(2), 0);
    EXPECT(lam_segment_sum(empty(), lam_zeros(ctx, LAM_I64, LAM_DIMS(0)), 2), LAM_DIMS(2), 0, 0);
    lam_segment_sum(x, INTEGERS(0, 1), 3);
    EXPECT_ERROR(LAM_ERR_SHAPE, "segment_sum");
    lam_segment_max(x, VEC(0, 1, 2, 3), 3);
    EXPECT_ERROR(LAM_ERR_DTYPE, "segment_max");
    lam_segment_min(x, s, -3);
    EXPECT_ERROR(LAM_ERR_VALUE, "segment_min");
}
END_TEST

/* The first four from NumPy's documentation. */
START_TEST(sets_of_two) {
    lam_tensor *count;
    EXPECT(lam_set_union(VEC(-1, 0, 1), VEC(-2, 0, 2), 6, 9, &count), LAM_DIMS(6), -2, -1, 0, 1, 2, 9);
    EXPECT_NUM(count, 5);
    EXPECT(lam_set_intersection(VEC(1, 3, 4, 3), VEC(3, 1, 2, 1), 3, 0, &count), LAM_DIMS(3), 1, 3, 0);
    EXPECT_NUM(count, 2);
    EXPECT(lam_set_difference(VEC(1, 2, 3, 2, 4, 1), VEC(3, 4, 5, 6), 4, 0, &count), LAM_DIMS(4), 1, 2, 0, 0);
    EXPECT_NUM(count, 2);
    EXPECT(lam_set_difference(VEC(4, 2, 7, 1), VEC(2), 2, 0, NULL), LAM_DIMS(2), 1, 4);
    EXPECT(lam_set_symmetric_difference(VEC(1, 2, 3, 2, 4), VEC(2, 3, 5, 7, 5), 4, 0, &count), LAM_DIMS(4), 1, 4, 5, 7);
    EXPECT_NUM(count, 4);
    EXPECT(lam_set_union(VEC(3, NAN, 1), VEC(NAN), 2, 0, &count), LAM_DIMS(2), 1, 3);
    EXPECT_NUM(count, 3);
    EXPECT(lam_set_intersection(VEC(3, NAN, 1), VEC(NAN), 1, 0, NULL), LAM_DIMS(1), NAN);
    EXPECT(lam_set_difference(empty(), VEC(1), 2, -1, &count), LAM_DIMS(2), -1, -1);
    EXPECT_NUM(count, 0);
    EXPECT(lam_set_union(empty(), empty(), 2, -1, &count), LAM_DIMS(2), -1, -1);
    EXPECT_NUM(count, 0);
    EXPECT_SAME(lam_set_union(INTEGERS(3, 1), lam_cast(VEC(2, 3), LAM_U8), 3, 0, NULL), INTEGERS(1, 2, 3), 0);
    EXPECT(lam_set_symmetric_difference(MAT(2, 2, 4, 3, 2, 1), VEC(1, 4), 2, 0, NULL), LAM_DIMS(2), 2, 3);
    lam_set_union(VEC(1), VEC(1), -1, 0, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "set_union");
    lam_set_difference(lam_cast(VEC(1), LAM_C128), VEC(1), 1, 0, &count);
    ck_assert(lam_failed(count));
    EXPECT_ERROR(LAM_ERR_DTYPE, "set_difference");
}
END_TEST

/* numpy.unique with axis 0. */
START_TEST(rows_that_differ) {
    lam_tensor *x = MAT(5, 2, 1, 2, 0, 5, 1, 2, 1, 1, 0, 5), *inverse, *counts;
    EXPECT(lam_unique_rows(x, 4, &inverse, &counts), LAM_DIMS(4, 2), 0, 5, 1, 1, 1, 2, 0, 5);
    EXPECT(inverse, LAM_DIMS(5), 2, 0, 2, 1, 0);
    EXPECT(counts, LAM_DIMS(4), 2, 1, 2, 0);
    EXPECT(lam_unique_rows(x, 1, NULL, NULL), LAM_DIMS(1, 2), 0, 5);
    EXPECT(lam_unique_rows(MAT(4, 2, NAN, 1, NAN, 1, 1, NAN, NAN, 2), 3, NULL, &counts), LAM_DIMS(3, 2), 1, NAN, NAN, 1,
           NAN, 2);
    EXPECT(counts, LAM_DIMS(3), 1, 2, 1);
    EXPECT_EMPTY(lam_unique_rows(lam_zeros(ctx, LAM_F64, LAM_DIMS(3, 0)), 2, NULL, &counts), LAM_DIMS(2, 0));
    EXPECT(counts, LAM_DIMS(2), 3, 0);
    lam_unique_rows(num(1), 1, &inverse, NULL);
    ck_assert(lam_failed(inverse));
    EXPECT_ERROR(LAM_ERR_RANK, "unique_rows");
    lam_unique_rows(x, -1, NULL, NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "unique_rows");
    lam_unique_rows(lam_cast(x, LAM_C128), 1, NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "unique_rows");
}
END_TEST

START_TEST(tensors_in_one_order) {
    lam_tensor *out[3];
    ck_assert_int_eq(lam_sort_together(LAM_LIST(VEC(2, 1, 2, 1), VEC(3, 4, 1, 2), VEC(0, 1, 2, 3)), 2, 0, out, 3),
                     LAM_OK);
    EXPECT(out[0], LAM_DIMS(4), 1, 1, 2, 2);
    EXPECT(out[1], LAM_DIMS(4), 2, 4, 1, 3);
    EXPECT(out[2], LAM_DIMS(4), 3, 1, 2, 0);
    lam_sort_together(LAM_LIST(VEC(2, 1, 2), VEC(3, 4, 1)), 1, 0, out, 2);
    EXPECT(out[1], LAM_DIMS(3), 4, 3, 1);
    ck_assert_int_eq(lam_sort_together(LAM_LIST(VEC(1)), 2, 0, out, 1), LAM_ERR_ARITY);
    EXPECT_ERROR(LAM_ERR_ARITY, "sort_together");
    ck_assert_int_eq(lam_sort_together(LAM_LIST(VEC(1, 2), VEC(1)), 1, 0, out, 2), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "sort_together");
    ck_assert_int_eq(lam_sort_together(LAM_LIST(VEC(1, 2)), 1, 1, out, 1), LAM_ERR_AXIS);
    EXPECT_ERROR(LAM_ERR_AXIS, "sort_together");
}
END_TEST

/* numpy.histogramdd and histogram_bin_edges. */
START_TEST(bins_of_points) {
    lam_tensor *x = MAT(6, 2, 0, 0, 0.5, 1, 1, 2, 1.5, 0.5, 2, 2, 3, 1), *edges = VEC(0, 1, 2);
    EXPECT(lam_histogram_nd(x, LAM_LIST(edges, edges), NULL), LAM_DIMS(2, 2), 1, 1, 1, 2);
    EXPECT(lam_histogram_nd(x, LAM_LIST(edges, VEC(0, 3)), VEC(1, 2, 4, 8, 16, 32)), LAM_DIMS(2, 1), 3, 28);
    EXPECT(lam_histogram_nd(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 1)), LAM_LIST(edges), NULL), LAM_DIMS(2), 0, 0);
    EXPECT(lam_histogram_edges(VEC(1, 4, 2.5), 4), LAM_DIMS(5), 1, 1.75, 2.5, 3.25, 4);
    EXPECT(lam_histogram_edges(INTEGERS(3, 3), 2), LAM_DIMS(3), 2.5, 3, 3.5);
    EXPECT(lam_histogram_edges(empty(), 1), LAM_DIMS(2), 0, 1);
    lam_histogram_edges(empty(), INT64_MAX);
    EXPECT_STATUS(LAM_ERR_OVERFLOW);
    lam_histogram_nd(x, LAM_LIST(edges), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "histogram_nd");
    lam_histogram_nd(x, LAM_LIST(edges, x), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "histogram_nd");
    lam_histogram_nd(x, LAM_LIST(edges, VEC(1)), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "histogram_nd");
    lam_histogram_nd(x, LAM_LIST(), NULL);
    EXPECT_ERROR(LAM_ERR_ARITY, "histogram_nd");
    lam_histogram_edges(x, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "histogram_edges");
}
END_TEST

BODY(counted) {
    out[0] = lam_histogram(in[0], in[1], NULL);
}
BODY(counted_through) {
    out[0] = lam_sum(lam_mul(in[0], lam_cast(lam_histogram(in[0], in[0], NULL), LAM_F64)), NULL);
}
BODY(repeated) {
    out[0] = lam_repeat_each(in[0], in[1], 2, 0);
}

/* Equal edges make empty bins. What is wrong is seen under derivatives too; elements of a batch cannot be seen. */
START_TEST(edges_in_no_order_and_negative_counts_are_refused) {
    lam_tensor *x = VEC(1, 2, 3), *wrong[] = {VEC(0, 2, 1), VEC(0, NAN, 2), VEC(NAN, 0, 1), VEC(0, 1, NAN)};
    lam_tensor *rows = MAT(2, 3, 0, 1, 2, 0, 2, 1), *counts = lam_cast(MAT(2, 3, 0, 1, 1, 1, -1, 2), LAM_I64);
    EXPECT(lam_histogram(x, VEC(1, 2, 2, 3), NULL), LAM_DIMS(3), 1, 0, 2);
    EXPECT(lam_histogram(x, VEC(-INFINITY, 2, INFINITY), NULL), LAM_DIMS(2), 1, 2);
    EXPECT(lam_digitize(x, VEC(3, 2, 1), false), LAM_DIMS(3), 2, 1, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        lam_histogram(x, wrong[i], NULL);
        EXPECT_ERROR(LAM_ERR_VALUE, "histogram", "ascend");
        lam_histogram_nd(lam_expand_dims(x, 1), LAM_LIST(wrong[i]), NULL);
        EXPECT_ERROR(LAM_ERR_VALUE, "histogram_nd", "ascend");
        lam_digitize(x, wrong[i], false);
        EXPECT_ERROR(LAM_ERR_VALUE, "digitize", "order");
    }
    lam_histogram(x, VEC(3, 2, 1), NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "histogram", "ascend");
    apply2(lam_vmap(FN(counted, 2, 1), NULL), lam_stack(LAM_LIST(x, x), 0), rows);
    EXPECT_OK();
    apply1(lam_grad(FN(counted_through, 1, 1), NULL), VEC(2, 1));
    EXPECT_ERROR(LAM_ERR_VALUE, "histogram", "ascend");
    lam_repeat_each(x, INTEGERS(1, -1, 2), 2, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "repeat_each", "counts");
    apply2(lam_vmap(FN(repeated, 2, 1), NULL), lam_stack(LAM_LIST(x, x), 0), counts);
    EXPECT_OK();
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(moved) {
    lam_tensor *more =
        lam_insert(lam_delete(in[0], LAM_DIMS(1), 0), LAM_DIMS(2, 0), lam_sin(lam_index(in[0], 0, 1)), 0);
    out[0] = lam_mul(more, lam_resize(lam_square(in[0]), LAM_DIMS(4, 3)));
}

BODY(padded) {
    lam_tensor *around = lam_pad_with(lam_sin(in[0]), LAM_DIMS(2, 1), LAM_DIMS(1, 3), LAM_PAD_REFLECT);
    lam_tensor *level = lam_pad_with(in[0], LAM_DIMS(0, 1), LAM_DIMS(1, 0), LAM_PAD_MEAN);
    lam_tensor *most = lam_pad_with(lam_square(in[0]), LAM_DIMS(0, 1), LAM_DIMS(1, 0), LAM_PAD_MAXIMUM);
    out[0] = lam_add(lam_mul(level, most), lam_slice(around, LAM_DIMS(1, 2), LAM_DIMS(5, 6), LAM_DIMS0));
}

BODY(chosen) {
    lam_tensor *line = lam_collapse(in[0], 0, 1);
    lam_tensor *above = lam_compress(lam_gt(line, 0.0), lam_sin(line), 6, 0.5, 0);
    lam_tensor *each = lam_repeat_each(in[0], INTEGERS(1, 0, 2), 4, 1);
    lam_tensor *by = lam_choose(lam_cast(lam_gt(in[0], 0.5), LAM_I64), LAM_LIST(in[0], lam_square(in[0])));
    out[0] = lam_concatenate(LAM_LIST(above, lam_collapse(lam_mul(each, each), 0, 1), lam_collapse(by, 0, 1)), 0);
}

BODY(of_sets) {
    lam_tensor *line = lam_collapse(in[0], 0, 1), *other = VEC(0.43, 5, 6);
    lam_tensor *all = lam_set_union(line, other, 12, 0, NULL),
               *own = lam_set_difference(lam_sin(line), other, 4, 0, NULL);
    lam_tensor *rows = lam_unique_rows(in[0], 3, NULL, NULL);
    out[0] = lam_concatenate(LAM_LIST(lam_square(all), own, lam_collapse(lam_mul(rows, in[0]), 0, 1)), 0);
}

BODY(of_segments) {
    lam_tensor *s = INTEGERS(1, 0, 1);
    lam_tensor *sums = lam_mul(lam_segment_sum(in[0], s, 2), lam_segment_prod(in[0], s, 2));
    lam_tensor *ends = lam_sub(lam_segment_max(lam_sin(in[0]), s, 2), lam_segment_min(in[0], s, 2));
    out[0] = lam_mul(sums, lam_square(ends));
}

BODY(of_blocks) {
    lam_tensor *parts[2], *turned = lam_matrix_transpose(in[0]);
    lam_broadcast_arrays(LAM_LIST(lam_index(in[0], 0, 0), lam_sin(in[0])), parts, 2);
    lam_tensor *wide = lam_broadcast_in_dim(lam_index(in[0], 0, 1), LAM_DIMS(3, 3), LAM_AXES(0));
    lam_tensor *filled = lam_fill_diagonal(lam_mul(parts[0], parts[1]), lam_index(in[0], 0, 2), 1);
    out[0] = lam_matmul(lam_block(LAM_LIST(in[0], turned), 1, 2), lam_block(LAM_LIST(wide, filled), 2, 1));
}

BODY(in_order) {
    lam_tensor *all[2], *start = lam_argmax(lam_index(in[0], 0, 0), 0);
    lam_sort_together(LAM_LIST(in[0], lam_square(in[0])), 1, 1, all, 2);
    lam_tensor *part = lam_dynamic_slice_axis(in[0], start, 1, 1);
    out[0] = lam_dynamic_update_slice_axis(lam_mul(all[0], all[1]), lam_sin(part), start, 1);
}

static const lam_body bodies[] = {moved, padded, chosen, of_sets, of_segments, of_blocks, in_order};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    bodies_differences(bodies[_i], _i);
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    bodies_loop(bodies[_i], -0.9);
}
END_TEST

Suite *suite_primitives_arrange(void);
Suite *suite_primitives_arrange(void) {
    Suite *suite = SUITE_OF("primitives/arrange", axes_of_a_broadcast, tensors_of_common_dims, axes_as_one,
                            grids_of_blocks, slices_of_one_axis, elements_out_and_in, elements_where_a_condition_holds,
                            elements_as_often_as_counted, elements_again_and_again, around_with_what_is_there,
                            diagonals_filled, choices_by_number, places_of_what_is_not_zero, places_of_triangles,
                            rows_in_segments, sets_of_two, rows_that_differ, tensors_in_one_order, bins_of_points,
                            edges_in_no_order_and_negative_counts_are_refused);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    suite_loop(suite, vmap_equals_the_loop, BODIES);
    return suite;
}
