/* Memory in and out: copying in, wrapping the caller's, copying out whole and strided, and what the accessors tell. */
#include "lib/primitives/rows.h"
#include "tests/support.h"

static const double columns[6] = {1, 4, 2, 5, 3, 6}; /* of [[1, 2, 3], [4, 5, 6]] */

static bool equal(const double *x, const double *y, int n) {
    for (int i = 0; i < n; i++)
        if (x[i] != y[i]) return false;
    return true;
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */

START_TEST(array_copies_in) {
    double x[4] = {1, 2, 3, 4};
    lam_tensor *t = lam_array(ctx, LAM_F64, LAM_DIMS(2, 2), x);
    x[0] = 100;
    EXPECT(t, LAM_DIMS(2, 2), 1, 2, 3, 4);
}
END_TEST

START_TEST(array_takes_every_dtype) {
    EXPECT(lam_array(ctx, LAM_F32, LAM_DIMS(2), (float[]){0.5f, -1}), LAM_DIMS(2), 0.5, -1);
    EXPECT(lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){-5, 7}), LAM_DIMS(2), -5, 7);
    EXPECT(lam_array(ctx, LAM_I32, LAM_DIMS(2), (int32_t[]){-5, 7}), LAM_DIMS(2), -5, 7);
    EXPECT(lam_array(ctx, LAM_U8, LAM_DIMS(2), (uint8_t[]){0, 255}), LAM_DIMS(2), 0, 255);
    EXPECT(lam_array(ctx, LAM_BOOL, LAM_DIMS(3), (uint8_t[]){0, 1, 77}), LAM_DIMS(3), 0, 1, 1);
}
END_TEST

START_TEST(impossible_arrays_are_refused) {
    double x = 1;
    lam_array(ctx, LAM_F64, LAM_DIMS(2), NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "lam_array", "data");
    lam_array(ctx, LAM_F64, LAM_DIMS(-1), &x);
    EXPECT_ERROR(LAM_ERR_VALUE, "lam_array", "axis 0", "-1");
    lam_array(ctx, (lam_dtype)99, LAM_DIMS(1), &x);
    EXPECT_ERROR(LAM_ERR_DTYPE, "lam_array", "99");
    lam_array(ctx, LAM_F64, (lam_dims){17, (int64_t[17]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, &x);
    EXPECT_ERROR(LAM_ERR_RANK, "lam_array", "17", "16");
    lam_array(ctx, LAM_F64, (lam_dims){2, NULL}, &x);
    EXPECT_ERROR(LAM_ERR_NULL, "lam_array", "dims");
}
END_TEST

/* One element more than there are addresses for: as a size_t its bytes are those of one. */
START_TEST(bytes_that_no_size_can_say_are_refused) {
    const double x = 1;
    const int64_t n = (int64_t)(SIZE_MAX / sizeof x) + 2;
    lam_array(ctx, LAM_F64, LAM_DIMS(n), &x);
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "lam_array", "overflow");
    lam_contiguous(lam_zeros(ctx, LAM_F64, LAM_DIMS(1, n)));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "overflow");
    lam_contiguous(lam_broadcast_to(num(1), LAM_DIMS(n)));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "overflow");
}
END_TEST

START_TEST(zero_size_tensors_are_legal) {
    lam_tensor *t = lam_array(ctx, LAM_F64, LAM_DIMS(3, 0), NULL);
    EXPECT_EMPTY(t, LAM_DIMS(3, 0));
    ck_assert_int_eq(lam_read(t, NULL, 0), LAM_OK);
    EXPECT(lam_sum(t, &(lam_reduce_options){.axes = LAM_AXES(1)}), LAM_DIMS(3), 0, 0, 0);
}
END_TEST

START_TEST(sixteen_axes_are_possible) {
    lam_tensor *t = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3));
    ck_assert_int_eq(lam_rank(t), 16);
    ck_assert_int_eq(lam_dim(t, -1), 3);
    EXPECT_NUM(lam_sum(lam_add(t, t), NULL), 12);
    lam_expand_dims(t, 0);
    EXPECT_ERROR(LAM_ERR_RANK, "17 axes", "more than 16", "f64[2, 1");
    lam_reshape(num(1), (lam_dims){17, (int64_t[17]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}});
    EXPECT_ERROR(LAM_ERR_RANK, "reshape: ", "17");
}
END_TEST

START_TEST(dims_that_do_not_fit_are_named) {
    lam_reshape(VEC(1, 2, 3, 4, 5, 6), LAM_DIMS(2, -1, 2));
    EXPECT_ERROR(LAM_ERR_SHAPE, "reshape: 6 elements", "the 4 that the sizes beside -1 make");
    lam_reshape(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), LAM_DIMS(0, -1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "reshape: beside a size of 0 none can be inferred");
    lam_concatenate(LAM_LIST(lam_eye(ctx, LAM_F64, 2, 2), VEC(1, 2)), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "concatenate: operand 1 has rank 1, operand 0 has rank 2", "lam_expand_dims");
}
END_TEST

/* ---- borrowed memory --------------------------------------------------------------------------------------------- */

static int releases;

static void release(void *env, void *data) {
    ck_assert_ptr_eq(env, data);
    releases++;
}

static lam_tensor *borrow(double *x, lam_dims dims, lam_dims strides, bool writable) {
    releases = 0;
    return lam_borrow(ctx, LAM_F64, dims, x,
                      &(lam_borrow_options){.strides = strides, .release = release, .env = x, .writable = writable});
}

START_TEST(borrow_shows_the_callers_memory_and_releases_it_once) {
    double x[3] = {1, 2, 3};
    lam_tensor *t = borrow(x, LAM_DIMS(3), LAM_DIMS0, false);
    ck_assert_ptr_eq(lam_data(t), x);
    lam_tensor *view = lam_slice_axis(t, 0, 1, LAM_END);
    lam_drop(t);
    ck_assert_int_eq(releases, 0);
    EXPECT(view, LAM_DIMS(2), 2, 3);
    lam_drop(view);
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(borrow_takes_strides_of_any_sign) {
    double x[6] = {1, 2, 3, 4, 5, 6};
    EXPECT(borrow(x, LAM_DIMS(3, 2), LAM_DIMS(1, 3), false), LAM_DIMS(3, 2), 1, 4, 2, 5, 3, 6);
    EXPECT(borrow(x + 5, LAM_DIMS(3), LAM_DIMS(-2), false), LAM_DIMS(3), 6, 4, 2);
    lam_tensor *repeated = borrow(x, LAM_DIMS(2, 3), LAM_DIMS(0, 1), false);
    EXPECT(repeated, LAM_DIMS(2, 3), 1, 2, 3, 1, 2, 3);
    ck_assert_ptr_null(lam_data(repeated));
    EXPECT(lam_add(repeated, 1), LAM_DIMS(2, 3), 2, 3, 4, 2, 3, 4);
}
END_TEST

START_TEST(borrow_releases_also_after_a_failure) {
    double x[2] = {1, 2};
    borrow(x, LAM_DIMS(2), LAM_DIMS(1, 1), false);
    ck_assert_int_eq(releases, 1);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lam_borrow", "2 strides for 1 axes");
    borrow(x, LAM_DIMS(-2), LAM_DIMS0, false);
    ck_assert_int_eq(releases, 1);
    EXPECT_STATUS(LAM_ERR_VALUE);
}
END_TEST

START_TEST(borrow_releases_when_memory_is_refused_at_any_point) {
    lam_ctx *real = ctx;
    for (size_t n = 1, refused = 1; refused; n++) {
        memory m = {0};
        double x[2] = {1, 2};
        lam_ctx_options options = memory_options(&m);
        ctx = lam_ctx_new(&options);
        m.refuse = m.requests + n;
        lam_drop(borrow(x, LAM_DIMS(2), LAM_DIMS0, false));
        refused = lam_status_of(ctx) != LAM_OK;
        ck_assert_int_eq(releases, 1);
        lam_ctx_free(ctx);
        ck_assert_int_eq(releases, 1);
    }
    ctx = real;
}
END_TEST

START_TEST(borrowed_memory_is_released_at_the_end_of_the_context) {
    double x[1] = {1};
    lam_ctx *real = ctx;
    ctx = lam_ctx_new(NULL);
    borrow(x, LAM_DIMS(1), LAM_DIMS0, false);
    lam_ctx_free(ctx);
    ctx = real;
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(only_writable_borrowed_memory_is_written) {
    double x[2] = {1, 2}, y[2] = {1, 2};
    lam_tensor *one = VEC(10, 10), *fixed = borrow(x, LAM_DIMS(2), LAM_DIMS0, false);
    EXPECT(lam_add_(fixed, one), LAM_DIMS(2), 11, 12);
    ck_assert(x[0] == 1 && x[1] == 2);
    lam_tensor *open = borrow(y, LAM_DIMS(2), LAM_DIMS0, true);
    EXPECT(lam_add_(open, one), LAM_DIMS(2), 11, 12);
    ck_assert(y[0] == 11 && y[1] == 12);
}
END_TEST

/* ---- out --------------------------------------------------------------------------------------------------------- */

START_TEST(read_copies_row_major_whatever_the_strides) {
    double got[6];
    ck_assert_int_eq(lam_read(lam_transpose(MAT(2, 3, 1, 2, 3, 4, 5, 6), (lam_axes){0, NULL}), got, sizeof got),
                     LAM_OK);
    ck_assert(equal(got, columns, 6));
}
END_TEST

START_TEST(read_demands_the_exact_size) {
    double got[3] = {0};
    ck_assert_int_eq(lam_read(VEC(1, 2), got, sizeof got), LAM_ERR_VALUE);
    EXPECT_ERROR(LAM_ERR_VALUE, "lam_read", "24", "16");
    ck_assert(got[0] == 0);
    ck_assert_int_eq(lam_read(VEC(1, 2), NULL, 16), LAM_ERR_NULL);
    EXPECT_ERROR(LAM_ERR_NULL, "lam_read");
    ck_assert_int_ne(lam_read(NULL, got, 8), LAM_OK);
}
END_TEST

BODY(same) {
    out[0] = in[0];
}

/* Also where something else had failed before. */
START_TEST(a_status_is_that_of_this_call) {
    double got[2];
    ck_assert(lam_failed(lam_add(VEC(1, 2), VEC(1, 2, 3))));
    lam_tensor *dropped = VEC(1, 2);
    lam_drop(dropped);
    ck_assert_int_eq(lam_read(dropped, got, sizeof got), LAM_ERR_FREED);
    ck_assert_int_eq(lam_read_strided(dropped, got, LAM_DIMS(1)), LAM_ERR_FREED);
    lam_tensor *out;
    ck_assert_int_eq(lam_call(FN(same, 1, 1), LAM_LIST(dropped), &out, 1), LAM_ERR_FREED);
    ck_assert_int_eq(lam_bind(ctx, &lam__row_neg, NULL, 0, LAM_LIST(dropped), &out, 1), LAM_ERR_FREED);
    lam_tensor *failed = lam_add(VEC(1, 2), VEC(1, 2, 3));
    ck_assert_int_eq(lam_read(failed, got, sizeof got), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "add");
}
END_TEST

START_TEST(read_strided_writes_column_major) {
    double got[6] = {0};
    lam_tensor *t = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    ck_assert_int_eq(lam_read_strided(t, got, LAM_DIMS(1, 2)), LAM_OK);
    ck_assert(equal(got, columns, 6));
    ck_assert_int_eq(lam_read_strided(t, got, LAM_DIMS(1)), LAM_ERR_SHAPE);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lam_read_strided", "1 strides for 2 axes");
}
END_TEST

START_TEST(read_strided_leaves_gaps_alone) {
    double got[5] = {9, 9, 9, 9, 9}, want[5] = {1, 9, 9, 2, 9};
    lam_tensor *t = VEC(1, 2);
    ck_assert_int_eq(lam_read_strided(t, got, LAM_DIMS(3)), LAM_OK);
    ck_assert(equal(got, want, 5));
}
END_TEST

START_TEST(item_reads_the_only_element) {
    ck_assert(lam_item(lam_full(ctx, LAM_F32, LAM_DIMS(1, 1), 0.5)) == 0.5);
    ck_assert(lam_item(lam_lt(num(1), 2.0)) == 1);
    ck_assert(lam_item(lam_full(ctx, LAM_I32, LAM_DIMS0, -7)) == -7);
    ck_assert(isnan(lam_item(VEC(1, 2))));
    EXPECT_ERROR(LAM_ERR_SHAPE, "lam_item", "2 elements");
}
END_TEST

BODY(looks_at_its_data) {
    *(const void **)env = lam_data(in[0]);
    out[0] = in[0];
}

START_TEST(data_is_null_for_what_is_not_plain_memory) {
    const void *data = &data;
    lam_tensor *t = lam_ones(ctx, LAM_F64, LAM_DIMS(20, 30));
    ck_assert_ptr_nonnull(lam_data(t));
    ck_assert_ptr_null(lam_data(lam_transpose(t, (lam_axes){0, NULL})));
    ck_assert_ptr_nonnull(lam_data(lam_contiguous(lam_transpose(t, (lam_axes){0, NULL}))));
    ck_assert_ptr_null(lam_data(NULL));
    apply1(lam_vmap(FN_ENV(looks_at_its_data, 1, 1, &data), NULL), t);
    ck_assert_ptr_null(data);
    EXPECT_OK();
}
END_TEST

START_TEST(accessors_tell_type_and_sizes) {
    lam_tensor *t = lam_zeros(ctx, LAM_I32, LAM_DIMS(2, 3));
    ck_assert_int_eq(lam_dtype_of(t), LAM_I32);
    ck_assert_int_eq(lam_rank(t), 2);
    ck_assert_int_eq(lam_dim(t, 1), 3);
    ck_assert_int_eq(lam_dim(t, -2), 2);
    ck_assert_int_eq(lam_dim(t, 2), -1);
    ck_assert_int_eq(lam_dim(t, -3), -1);
    ck_assert_int_eq(lam_dims_of(t).dims[1], 3);
    ck_assert_int_eq(lam_size(t), 6);
    ck_assert_ptr_eq(lam_ctx_of(t), ctx);
    ck_assert_int_eq(lam_size(lam_zeros(ctx, LAM_F64, LAM_DIMS(4, 0, 5))), 0);
}
END_TEST

Suite *suite_tensor_memory(void) {
    return SUITE_OF("tensor/memory", array_copies_in, array_takes_every_dtype, impossible_arrays_are_refused,
                    bytes_that_no_size_can_say_are_refused, zero_size_tensors_are_legal, sixteen_axes_are_possible,
                    dims_that_do_not_fit_are_named, borrow_shows_the_callers_memory_and_releases_it_once,
                    borrow_takes_strides_of_any_sign, borrow_releases_also_after_a_failure,
                    borrow_releases_when_memory_is_refused_at_any_point,
                    borrowed_memory_is_released_at_the_end_of_the_context, only_writable_borrowed_memory_is_written,
                    read_copies_row_major_whatever_the_strides, read_demands_the_exact_size,
                    a_status_is_that_of_this_call, read_strided_writes_column_major, read_strided_leaves_gaps_alone,
                    item_reads_the_only_element, data_is_null_for_what_is_not_plain_memory,
                    accessors_tell_type_and_sizes);
}
