/* In-place forms: they rebind a handle, keep dtype and dims, reuse memory only where nobody else can see it,
 * never reach outside the function call in which the handle was made, and poison the handle when they fail. */
#include "tests/support.h"

START_TEST(the_handle_shows_the_result) {
    lam_tensor *x = VEC(6, 8);
    ck_assert_ptr_eq(lam_add_(x, VEC(2, 2)), x);
    EXPECT(x, LAM_DIMS(2), 8, 10);
    EXPECT(lam_sub_(x, num(2)), LAM_DIMS(2), 6, 8);
    EXPECT(lam_mul_(x, x), LAM_DIMS(2), 36, 64);
    EXPECT(lam_div_(x, VEC(6, 8)), LAM_DIMS(2), 6, 8);
    EXPECT(lam_set_(x, num(1), LAM_DIMS(1), LAM_DIMS(2), LAM_DIMS0), LAM_DIMS(2), 6, 1);
    EXPECT(lam_assign_(x, VEC(3, 4)), LAM_DIMS(2), 3, 4);
}
END_TEST

START_TEST(numbers_are_weak_beside_the_handle) {
    lam_tensor *x = lam_cast(VEC(6, 8), LAM_F32), *n = lam_ones(ctx, LAM_U8, LAM_DIMS(2));
    ck_assert_ptr_eq(lam_add_(x, 2), x);
    EXPECT(lam_div_(lam_mul_(lam_sub_(x, 0.5), 3.0f), 1.5), LAM_DIMS(2), 15, 19);
    ck_assert_int_eq(lam_dtype_of(x), LAM_F32);
    EXPECT(lam_add_(n, 254), LAM_DIMS(2), 255, 255);
    lam_sub_(n, 256);
    ck_assert(lam_failed(n));
    EXPECT_ERROR(LAM_ERR_VALUE, "256", "u8", "remedy");
    lam_mul_(n = lam_ones(ctx, LAM_I64, LAM_DIMS(2)), 0.5);
    ck_assert(lam_failed(n));
    EXPECT_ERROR(LAM_ERR_DTYPE, "mul", "in-place", "i64[2]", "f64[2]");
}
END_TEST

START_TEST(memory_that_nobody_else_sees_is_reused) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(1000)), *y = lam_ones(ctx, LAM_F64, LAM_DIMS(1000));
    const void *data = lam_data(x);
    lam_add_(x, y);
    ck_assert_ptr_eq(lam_data(x), data);
    lam_set_(x, num(7), LAM_DIMS(0), LAM_DIMS(1), LAM_DIMS0);
    ck_assert_ptr_eq(lam_data(x), data);
    EXPECT_NUM(lam_sum(x, NULL), 2005);
}
END_TEST

START_TEST(a_view_or_alias_taken_earlier_keeps_its_content) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(100)), *head = lam_slice_axis(x, 0, 0, 3), *same = lam_alias(x);
    lam_add_(x, num(1));
    EXPECT(head, LAM_DIMS(3), 1, 1, 1);
    EXPECT_NUM(lam_sum(same, NULL), 100);
    EXPECT_NUM(lam_sum(x, NULL), 200);
    lam_tensor *rows = lam_broadcast_to(x, LAM_DIMS(3, 100));
    lam_set_(x, num(0), LAM_DIMS(0), LAM_DIMS(LAM_END), LAM_DIMS0);
    EXPECT_NUM(lam_sum(rows, NULL), 600);
    EXPECT_NUM(lam_sum(x, NULL), 0);
}
END_TEST

START_TEST(a_repeated_view_can_be_updated) {
    lam_tensor *x = lam_zeros_like(lam_ones(ctx, LAM_F64, LAM_DIMS(2, 3)));
    lam_set_(x, VEC(5), LAM_DIMS(0, 0), LAM_DIMS(1, 1), LAM_DIMS0);
    EXPECT(x, LAM_DIMS(2, 3), 5, 0, 0, 0, 0, 0);
}
END_TEST

/* y overlaps x: the result must be that of the plain form. */
START_TEST(operands_may_overlap) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, 100, 1), *backwards = lam_reverse(x, (lam_axes){0, NULL});
    lam_add_(x, backwards);
    EXPECT_SAME(x, lam_full(ctx, LAM_F64, LAM_DIMS(100), 99), 0);
}
END_TEST

static void poisoned(lam_tensor *x) {
    ck_assert(lam_failed(x));
    ck_assert(isnan(lam_item(x)));
}

START_TEST(another_dtype_or_shape_fails_and_poisons) {
    lam_tensor *x = lam_ones(ctx, LAM_I32, LAM_DIMS(2));
    lam_add_(x, VEC(0.5, 0.5));
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_DTYPE, "add", "in-place", "i32[2]", "f64[2]", "remedy");
    x = VEC(1, 2);
    lam_mul_(x, MAT(2, 2, 1, 2, 3, 4));
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "mul", "in-place", "f64[2]", "f64[2, 2]", "remedy");
    x = VEC(1, 2);
    lam_assign_(x, VEC(1, 2, 3));
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_SHAPE, "lam_assign_", "f64[3]");
}
END_TEST

START_TEST(a_failed_operand_poisons_and_a_poisoned_handle_stays_so) {
    lam_tensor *x = VEC(1, 2);
    lam_add_(x, VEC(1, 2, 3));
    poisoned(x);
    lam_add_(x, num(1));
    ck_assert(lam_failed(x));
    ck_assert_uint_eq(lam_error_count(ctx), 1);
    EXPECT_STATUS(LAM_ERR_SHAPE);
    ck_assert(lam_failed(lam_add(x, 1)));
    EXPECT_STATUS(LAM_ERR_STALE);
    lam_tensor *y = VEC(1, 2);
    lam_assign_(y, NULL);
    poisoned(y);
    EXPECT_ERROR(LAM_ERR_NULL, "lam_assign_", "operand 1");
}
END_TEST

static lam_tensor *outside;

BODY(updates_a_captured_tensor) {
    lam_add_(outside, in[0]);
    out[0] = in[0];
}

START_TEST(a_captured_tensor_is_refused_and_stays_as_it_is) {
    outside = num(1);
    ck_assert(lam_failed(apply1(lam_grad(FN(updates_a_captured_tensor, 1, 1), NULL), num(2))));
    EXPECT_ERROR(LAM_ERR_CAPTURED, "add", "made outside", "updates_a_captured_tensor", "vjp -> eval", "remedy");
    EXPECT_NUM(outside, 1);
    apply1(FN(updates_a_captured_tensor, 1, 1), num(2));
    EXPECT_STATUS(LAM_ERR_CAPTURED);
    EXPECT_NUM(outside, 1);
}
END_TEST

BODY(updates_its_input) {
    lam_mul_(in[0], in[0]);
    out[0] = in[0];
}

START_TEST(a_body_may_rebind_its_inputs_and_the_caller_does_not_see_it) {
    lam_tensor *x = VEC(3, 4);
    EXPECT(apply1(FN(updates_its_input, 1, 1), x), LAM_DIMS(2), 9, 16);
    EXPECT(x, LAM_DIMS(2), 3, 4);
    EXPECT_NUM(apply1(lam_grad(FN(updates_its_input, 1, 1), NULL), num(3)), 6);
}
END_TEST

/* x0 = 2 x, view = x0, x0 *= x, out = view + x0 = 2x + 2x^2; derivative 2 + 4x. */
BODY(updates_after_a_view) {
    lam_tensor *x = lam_mul(2.0, in[0]), *view = lam_reshape(x, LAM_DIMS(1));
    lam_mul_(x, in[0]);
    out[0] = lam_add(lam_sum(view, NULL), x);
}

START_TEST(updates_are_differentiated_and_views_keep_their_content) {
    lam_fn *f = FN(updates_after_a_view, 1, 1);
    EXPECT_NUM(apply1(f, num(3)), 24);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 14);
    EXPECT_NUM(apply1(lam_grad(lam_grad(f, NULL), NULL), num(3)), 4);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(3, 0)), LAM_DIMS(2), 14, 2);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 14);
}
END_TEST

/* A constant made inside becomes a variable: z = [0, 0], z[1] = x^2; sum of z * [3, 5] = 5 x^2. */
BODY(writes_into_a_constant) {
    lam_tensor *z = lam_zeros(ctx, LAM_F64, LAM_DIMS(2));
    lam_set_(z, lam_square(in[0]), LAM_DIMS(1), LAM_DIMS(2), LAM_DIMS0);
    out[0] = lam_sum(lam_mul(z, VEC(3, 5)), NULL);
}

START_TEST(a_constant_made_inside_takes_any_level) {
    lam_fn *f = FN(writes_into_a_constant, 1, 1);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(3)), 30);
    EXPECT(apply1(lam_vmap(f, NULL), VEC(1, 2)), LAM_DIMS(2), 5, 20);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(1, 2)), LAM_DIMS(2), 10, 20);
}
END_TEST

/* What a pullback saved is not what the handle shows later. */
BODY(squares_then_clears) {
    lam_tensor *x = lam_mul(in[0], 1.0);
    out[0] = lam_square(x);
    lam_set_(x, num(0), LAM_DIMS0, LAM_DIMS0, LAM_DIMS0);
}

START_TEST(a_saved_value_does_not_change) {
    EXPECT_NUM(apply1(lam_grad(FN(squares_then_clears, 1, 1), NULL), num(5)), 10);
}
END_TEST

START_TEST(a_loop_that_rebinds_leaves_nothing_behind) {
    lam_tensor *x = lam_zeros(ctx, LAM_F64, LAM_DIMS(100)), *one = lam_ones(ctx, LAM_F64, LAM_DIMS(100));
    warm_up();
    size_t bytes = lam_ctx_bytes(ctx);
    for (int i = 0; i < 1000; i++) lam_add_(x, one);
    ck_assert_uint_eq(lam_ctx_bytes(ctx), bytes);
    EXPECT_NUM(lam_sum(x, NULL), 1e5);
}
END_TEST

/* Large enough to be written past the caches; lines begin and end inside the parts. */
START_TEST(a_large_tensor_is_filled_part_by_part) {
    enum { ALL = 1200007, PART = 40003 };
    lam_tensor *x = lam_empty(ctx, LAM_F32, LAM_DIMS(ALL)), *whole = lam_arange(ctx, LAM_F32, 0, ALL, 1);
    const void *data = lam_data(x);
    for (int64_t first = 0; first < ALL; first += PART) {
        int64_t end = first + PART < ALL ? first + PART : ALL;
        lam_tensor *part = lam_contiguous(lam_mul(lam_slice_axis(whole, 0, first, end), 1.0));
        lam_set_(x, part, LAM_DIMS(first), LAM_DIMS(end), LAM_DIMS0);
    }
    ck_assert_ptr_eq(lam_data(x), data);
    EXPECT_SAME(x, whole, 0);
    lam_set_(x, lam_full(ctx, LAM_F32, LAM_DIMS(5000), -1), LAM_DIMS(3), LAM_DIMS(5003), LAM_DIMS0);
    EXPECT(lam_slice_axis(x, 0, 0, 4), LAM_DIMS(4), 0, 1, 2, -1);
    EXPECT(lam_slice_axis(x, 0, 5002, 5005), LAM_DIMS(3), -1, 5003, 5004);
}
END_TEST

START_TEST(empty_is_memory_to_be_written) {
    lam_tensor *x = lam_empty(ctx, LAM_I32, LAM_DIMS(2, 3)), *b = lam_empty(ctx, LAM_BOOL, LAM_DIMS(100));
    ck_assert_int_eq(lam_dtype_of(x), LAM_I32);
    lam_set_(x, lam_full(ctx, LAM_I32, LAM_DIMS0, 4), LAM_DIMS(0, 0), LAM_DIMS(2, 3), LAM_DIMS0);
    EXPECT(x, LAM_DIMS(2, 3), 4, 4, 4, 4, 4, 4);
    for (int i = 0; i < 100; i++) ck_assert_uint_le(((const uint8_t *)lam_data(b))[i], 1);
    ck_assert_int_eq((int)lam_size(lam_empty(ctx, LAM_F64, LAM_DIMS(0, 3))), 0);
    ck_assert(lam_failed(lam_empty(ctx, (lam_dtype)99, LAM_DIMS(2))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "empty", "no dtype 99");
    ck_assert(lam_failed(lam_empty(ctx, LAM_F64, LAM_DIMS(-1))));
    EXPECT_ERROR(LAM_ERR_VALUE, "empty", "negative size -1");
    ck_assert(lam_failed(lam_empty(ctx, LAM_F64, LAM_DIMS(INT64_MAX / 2, 4))));
    EXPECT_ERROR(LAM_ERR_OVERFLOW, "empty");
    ck_assert(lam_failed(lam_empty(NULL, LAM_F64, LAM_DIMS(1))));
}
END_TEST

/* Parts without gaps lie in the memory of the whole. */
START_TEST(parts_and_the_whole_change_apart) {
    enum { N = 10000 };
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(3, N)), *part[3], *column[3];
    const double *data = lam_data(x);
    size_t before = lam_ctx_bytes(ctx);
    lam_unstack(x, 0, part, 3);
    ck_assert_ptr_eq(lam_data(part[2]), data + 2 * N);
    ck_assert_uint_le(lam_ctx_bytes(ctx) - before, N);
    lam_add_(part[1], num(4));
    lam_mul_(x, num(7));
    EXPECT_NUM(lam_sum(part[0], NULL), N);
    EXPECT_NUM(lam_sum(part[1], NULL), 5 * N);
    EXPECT_NUM(lam_sum(x, NULL), 21 * N);
    lam_unstack(lam_slice_axis(x, 1, 5, 8), 1, column, 3);
    EXPECT(column[2], LAM_DIMS(3), 7, 7, 7);
    lam_tensor *turned = lam_transpose(x, LAM_AXES(1, 0)), *back[3];
    lam_unstack(turned, 1, back, 3);
    ck_assert_ptr_eq(lam_data(back[1]), (const double *)lam_data(x) + N);
}
END_TEST

Suite *suite_tensor_in_place(void) {
    return SUITE_OF(
        "tensor/in_place", the_handle_shows_the_result, numbers_are_weak_beside_the_handle,
        memory_that_nobody_else_sees_is_reused, a_view_or_alias_taken_earlier_keeps_its_content,
        a_repeated_view_can_be_updated, operands_may_overlap, another_dtype_or_shape_fails_and_poisons,
        a_failed_operand_poisons_and_a_poisoned_handle_stays_so, a_captured_tensor_is_refused_and_stays_as_it_is,
        a_body_may_rebind_its_inputs_and_the_caller_does_not_see_it,
        updates_are_differentiated_and_views_keep_their_content, a_constant_made_inside_takes_any_level,
        a_saved_value_does_not_change, a_loop_that_rebinds_leaves_nothing_behind, a_large_tensor_is_filled_part_by_part,
        empty_is_memory_to_be_written, parts_and_the_whole_change_apart);
}
