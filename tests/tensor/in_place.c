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

/* x itself is the part: what is read is x as it was. */
START_TEST(a_tensor_is_set_into_itself) {
    lam_tensor *x = VEC(1, 2, 3, 4), *m = MAT(2, 2, 1, 2, 3, 4), *all = VEC(1, 2, 3);
    lam_set_(x, x, LAM_DIMS(-1), LAM_DIMS(LAM_END), LAM_DIMS(-1));
    EXPECT(x, LAM_DIMS(4), 4, 3, 2, 1);
    lam_set_(m, m, LAM_DIMS(-1, 0), LAM_DIMS(LAM_END, 2), LAM_DIMS(-1, 1));
    EXPECT(m, LAM_DIMS(2, 2), 3, 4, 1, 2);
    lam_set_(all, all, LAM_DIMS(0), LAM_DIMS(LAM_END), LAM_DIMS0);
    EXPECT(all, LAM_DIMS(3), 1, 2, 3);
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

/* What lam_set_stack_ does in the memory of x is what lam_set_ of the stack does to a copy. */
static void check_set_stack(lam_tensor *x, lam_list list, int axis, lam_dims starts, lam_dims stops, lam_dims steps,
                            bool in_place) {
    const void *data = lam_data(x);
    lam_tensor *want = lam_update_slice(lam_mul(x, 1.0), lam_stack(list, axis), starts, stops, steps);
    ck_assert_ptr_eq(lam_set_stack_(x, list, axis, starts, stops, steps), x);
    EXPECT_SAME(x, want, 0);
    if (in_place) ck_assert_ptr_eq(lam_data(x), data);
}

START_TEST(a_stack_is_written_where_it_belongs) {
    lam_tensor *x = lam_reshape(lam_arange(ctx, LAM_F64, 0, 300, 1), LAM_DIMS(10, 6, 5)), *part[5], *few[2], *row[3];
    x = lam_mul(x, 1.0);
    for (int i = 0; i < 5; i++) part[i] = lam_mul(lam_arange(ctx, LAM_F64, 0, 60, 1), 7.0 * i + 1);
    for (int i = 0; i < 5; i++) part[i] = lam_reshape(part[i], LAM_DIMS(10, 6));
    const lam_dims zero = LAM_DIMS(0, 0, 0), all = LAM_DIMS(LAM_END, LAM_END, LAM_END), one = LAM_DIMS0;
    check_set_stack(x, (lam_list){5, part}, 2, zero, all, one, true);
    check_set_stack(x, (lam_list){5, part}, -1, LAM_DIMS(-1, 0, 4), LAM_DIMS(LAM_END, LAM_END, LAM_END),
                    LAM_DIMS(-1, 1, -1), true);
    for (int i = 0; i < 2; i++) few[i] = lam_transpose(lam_slice_axis(part[i + 1], 0, 2, 7), LAM_AXES(1, 0));
    check_set_stack(x, (lam_list){2, few}, 1, LAM_DIMS(2, 1, 0), LAM_DIMS(8, 4, 5), LAM_DIMS(1, 2, 1), true);
    for (int i = 0; i < 3; i++) row[i] = lam_mul(VEC(1, 2, 3, 4, 5), i + 0.5);
    check_set_stack(x, (lam_list){3, row}, 0, LAM_DIMS(0, 1, 0), LAM_DIMS(10, 4, 5), one, false); /* broadcast */
    row[1] = lam_cast(row[1], LAM_F32);
    check_set_stack(x, (lam_list){3, row}, 0, LAM_DIMS(2, 0, 0), LAM_DIMS(3, 3, 5), one, false); /* converted */
    lam_tensor *kept = lam_slice_axis(x, 0, 0, 10);
    lam_tensor *before = lam_mul(x, 1.0);
    check_set_stack(x, (lam_list){5, part}, 2, zero, all, one, false);
    EXPECT_SAME(kept, before, 0);
}
END_TEST

/* Large enough to be written past the caches; the last block of rows is not full. */
START_TEST(columns_fill_a_large_tensor_part_by_part) {
    enum { ROWS = 70003, COLUMNS = 30, PART = 9001 };
    lam_tensor *x = lam_empty(ctx, LAM_F64, LAM_DIMS(ROWS, COLUMNS)), *count = lam_arange(ctx, LAM_F64, 0, ROWS, 1);
    const double *data = lam_data(x);
    for (int64_t first = 0; first < ROWS; first += PART) {
        lam_tensor *column[COLUMNS];
        int64_t end = first + PART < ROWS ? first + PART : ROWS;
        for (int j = 0; j < COLUMNS; j++)
            column[j] = lam_add(lam_mul(lam_slice_axis(count, 0, first, end), COLUMNS), j);
        column[3] = lam_slice_axis(lam_stack(LAM_LIST(column[0], column[3]), 1), 1, 1, 2);
        column[3] = lam_reshape(column[3], LAM_DIMS(end - first));
        lam_set_stack_(x, (lam_list){COLUMNS, column}, 1, LAM_DIMS(first, 0), LAM_DIMS(end, COLUMNS), LAM_DIMS0);
    }
    ck_assert_ptr_eq(lam_data(x), data);
    int64_t wrong = 0;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) wrong += data[i] != (double)i;
    ck_assert_int_eq(wrong, 0);
}
END_TEST

/* z = [x^2, 2 x, 1] made in a constant; 3 x^2 + 10 x + 7, whose derivatives are 6 x + 10 and 6. */
BODY(stacks_into_a_constant) {
    lam_tensor *z = lam_ones(ctx, LAM_F64, LAM_DIMS(3));
    lam_set_stack_(z, LAM_LIST(lam_square(in[0]), lam_mul(2.0, in[0])), 0, LAM_DIMS(0), LAM_DIMS(2), LAM_DIMS0);
    out[0] = lam_sum(lam_mul(z, VEC(3, 5, 7)), NULL);
}

START_TEST(a_stack_written_into_a_constant_is_differentiated) {
    lam_fn *f = FN(stacks_into_a_constant, 1, 1);
    EXPECT_NUM(apply1(f, num(2)), 39);
    EXPECT_NUM(apply1(lam_grad(f, NULL), num(2)), 22);
    EXPECT_NUM(apply1(lam_grad(lam_grad(f, NULL), NULL), num(2)), 6);
    EXPECT(apply1(lam_vmap(lam_grad(f, NULL), NULL), VEC(2, 0)), LAM_DIMS(2), 22, 10);
}
END_TEST

/* Whether or not x's own memory could take it. */
START_TEST(parts_of_another_context_poison) {
    lam_ctx *other = lam_ctx_new(NULL);
    lam_tensor *theirs = lam_ones(other, LAM_F64, LAM_DIMS(2)), *one = lam_scalar(other, 1), *x = VEC(1, 2);
    lam_set_(x, theirs, LAM_DIMS(0), LAM_DIMS(2), LAM_DIMS0);
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "update_slice", "mixed contexts", "operand 1");
    lam_set_(x = VEC(1, 2), one, LAM_DIMS(0), LAM_DIMS(2), LAM_DIMS0);
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "mixed contexts", "operand 1");
    lam_set_stack_(x = VEC(1, 2), LAM_LIST(one, one), 0, LAM_DIMS(0), LAM_DIMS(2), LAM_DIMS0);
    poisoned(x);
    EXPECT_ERROR(LAM_ERR_CONTEXT, "mixed contexts", "operand 1");
    ck_assert_int_eq(lam_status_of(other), LAM_OK);
    lam_ctx_free(other);
}
END_TEST

START_TEST(a_stack_that_does_not_fit_poisons) {
    lam_tensor *x = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2));
    lam_set_stack_(x, LAM_LIST(VEC(1, 2, 3), VEC(1, 2, 3)), 0, LAM_DIMS(0, 0), LAM_DIMS(2, 2), LAM_DIMS0);
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_SHAPE, "set_", "broadcast");
    lam_set_stack_(x = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2)), (lam_list){0, NULL}, 0, LAM_DIMS(0, 0), LAM_DIMS(2, 2),
                   LAM_DIMS0);
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_ARITY, "stack");
    lam_set_stack_(x = lam_ones(ctx, LAM_F64, LAM_DIMS(2, 2)), LAM_LIST(VEC(1, 2), VEC(1, 2)), 2, LAM_DIMS(0, 0),
                   LAM_DIMS(2, 2), LAM_DIMS0);
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_AXIS, "stack");
    lam_set_stack_(x = lam_ones(ctx, LAM_F64, LAM_DIMS(2)), LAM_LIST(num(1), NULL), 0, LAM_DIMS(0), LAM_DIMS(2),
                   LAM_DIMS0);
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_NULL, "NULL");
    lam_set_stack_(x = lam_ones(ctx, LAM_F64, LAM_DIMS(2)), LAM_LIST(num(1)), 0, LAM_DIMS(0, 0), LAM_DIMS(2),
                   LAM_DIMS0);
    ck_assert(lam_failed(x));
    EXPECT_ERROR(LAM_ERR_SHAPE, "set_stack_", "2 starts");
    ck_assert(lam_failed(lam_set_stack_(NULL, LAM_LIST(num(1)), 0, LAM_DIMS0, LAM_DIMS0, LAM_DIMS0)));
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
        a_repeated_view_can_be_updated, operands_may_overlap, a_tensor_is_set_into_itself,
        another_dtype_or_shape_fails_and_poisons, a_failed_operand_poisons_and_a_poisoned_handle_stays_so,
        a_captured_tensor_is_refused_and_stays_as_it_is, a_body_may_rebind_its_inputs_and_the_caller_does_not_see_it,
        updates_are_differentiated_and_views_keep_their_content, a_constant_made_inside_takes_any_level,
        a_saved_value_does_not_change, a_loop_that_rebinds_leaves_nothing_behind, a_large_tensor_is_filled_part_by_part,
        a_stack_is_written_where_it_belongs, columns_fill_a_large_tensor_part_by_part,
        a_stack_written_into_a_constant_is_differentiated, parts_of_another_context_poison,
        a_stack_that_does_not_fit_poisons, empty_is_memory_to_be_written, parts_and_the_whole_change_apart);
}
