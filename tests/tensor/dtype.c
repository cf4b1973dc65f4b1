/* Promotion of dtypes, and C numbers beside tensors. The tables here are written down from the documented order: bool <
 * integers < floats, the wider of two, an integer with a float takes the float's. */
#include "tests/support.h"

#define TYPES 6

static const lam_dtype all[TYPES] = {LAM_BOOL, LAM_U8, LAM_I32, LAM_I64, LAM_F32, LAM_F64};

/* promoted[i][j] of all[i] with all[j]. */
static const lam_dtype promoted[TYPES][TYPES] = {
    {LAM_BOOL, LAM_U8, LAM_I32, LAM_I64, LAM_F32, LAM_F64}, {LAM_U8, LAM_U8, LAM_I32, LAM_I64, LAM_F32, LAM_F64},
    {LAM_I32, LAM_I32, LAM_I32, LAM_I64, LAM_F32, LAM_F64}, {LAM_I64, LAM_I64, LAM_I64, LAM_I64, LAM_F32, LAM_F64},
    {LAM_F32, LAM_F32, LAM_F32, LAM_F32, LAM_F32, LAM_F64}, {LAM_F64, LAM_F64, LAM_F64, LAM_F64, LAM_F64, LAM_F64},
};

START_TEST(the_promotion_table) {
    for (int i = 0; i < TYPES; i++)
        for (int j = 0; j < TYPES; j++) {
            lam_tensor *x = lam_ones(ctx, all[i], LAM_DIMS(2)), *y = lam_ones(ctx, all[j], LAM_DIMS(2));
            lam_tensor *z = lam_max(x, y);
            ck_assert_msg(lam_dtype_of(z) == promoted[i][j], "%s with %s is %s", lam_dtype_name(all[i]),
                          lam_dtype_name(all[j]), lam_dtype_name(lam_dtype_of(z)));
            EXPECT(z, LAM_DIMS(2), 1, 1);
            ck_assert_int_eq(lam_dtype_of(lam_concatenate(LAM_LIST(x, y), 0)), promoted[i][j]);
        }
}
END_TEST

START_TEST(division_and_real_functions_take_integers_as_f64) {
    lam_tensor *x = lam_full(ctx, LAM_I32, LAM_DIMS(1), 7), *y = lam_full(ctx, LAM_I64, LAM_DIMS(1), 2);
    lam_tensor *z = lam_div(x, y), *r = lam_sqrt(lam_full(ctx, LAM_U8, LAM_DIMS(1), 9));
    ck_assert_int_eq(lam_dtype_of(z), LAM_F64);
    EXPECT(z, LAM_DIMS(1), 3.5);
    ck_assert_int_eq(lam_dtype_of(r), LAM_F64);
    EXPECT(r, LAM_DIMS(1), 3);
    ck_assert_int_eq(lam_dtype_of(lam_sin(lam_zeros(ctx, LAM_F32, LAM_DIMS(1)))), LAM_F32);
}
END_TEST

START_TEST(numbers_take_the_dtype_of_the_tensor_beside_them) {
    for (int i = 1; i < TYPES; i++) {
        lam_tensor *x = lam_ones(ctx, all[i], LAM_DIMS(1));
        ck_assert_int_eq(lam_dtype_of(lam_add(x, 1)), all[i]);
        ck_assert_int_eq(lam_dtype_of(lam_add(1, x)), all[i]);
        EXPECT(lam_sub(3, x), LAM_DIMS(1), 2);
        lam_dtype with_float = all[i] == LAM_F32 ? LAM_F32 : LAM_F64;
        ck_assert_int_eq(lam_dtype_of(lam_mul(0.5, x)), with_float);
        ck_assert_int_eq(lam_dtype_of(lam_mul(x, 0.5f)), with_float);
        EXPECT(lam_mul(x, 0.5), LAM_DIMS(1), 0.5);
    }
}
END_TEST

START_TEST(a_number_that_the_dtype_cannot_hold_is_an_error) {
    lam_tensor *byte = lam_ones(ctx, LAM_U8, LAM_DIMS(1)), *wide = lam_ones(ctx, LAM_I64, LAM_DIMS(1));
    EXPECT(lam_max(byte, 255), LAM_DIMS(1), 255);
    lam_add(byte, 256);
    EXPECT_ERROR(LAM_ERR_VALUE, "256", "u8", "remedy");
    lam_add(-1, byte);
    EXPECT_ERROR(LAM_ERR_VALUE, "-1", "u8");
    lam_add(lam_ones(ctx, LAM_I32, LAM_DIMS(1)), 1LL << 31);
    EXPECT_ERROR(LAM_ERR_VALUE, "2147483648", "i32");
    lam_add(wide, UINT64_MAX);
    EXPECT_ERROR(LAM_ERR_VALUE, "18446744073709551615", "i64", "floating");
    lam_and(byte, byte);
    lam_max(lam_lt(byte, 2), 2);
    EXPECT_ERROR(LAM_ERR_VALUE, "2", "bool");
    EXPECT_NEAR(lam_add(num(0), UINT64_MAX), 1e-15, LAM_DIMS0, 18446744073709551615.0);
}
END_TEST

/* IEEE 754: the largest binary16 is 65504, and the next step would be 32 further, so from 65520 on numbers round to
 * infinity. A floating number is rounded like any result. */
START_TEST(an_integer_beyond_the_largest_half_is_an_error) {
    lam_tensor *half = lam_zeros(ctx, LAM_F16, LAM_DIMS(1)), *brain = lam_zeros(ctx, LAM_BF16, LAM_DIMS(1));
    EXPECT(lam_add(half, 65519), LAM_DIMS(1), 65504);
    EXPECT(lam_sub(half, 65504), LAM_DIMS(1), -65504);
    ck_assert(lam_failed(lam_add(half, 65520)));
    EXPECT_ERROR(LAM_ERR_VALUE, "65520", "f16", "wider");
    ck_assert(lam_failed(lam_mul(-100000, half)));
    EXPECT_ERROR(LAM_ERR_VALUE, "-100000", "f16");
    ck_assert(lam_failed(lam_add(half, UINT64_MAX)));
    EXPECT_ERROR(LAM_ERR_VALUE, "18446744073709551615", "f16", "wider");
    EXPECT(lam_add(brain, UINT64_MAX), LAM_DIMS(1), 0x1p64);
    EXPECT(lam_add(half, 1e6), LAM_DIMS(1), INFINITY);
}
END_TEST

START_TEST(a_number_beside_a_tensor_that_cannot_be_used) {
    lam_tensor *x = num(1);
    lam_drop(x);
    lam_tensor *c = lam_gt(num(1), 0), *none = NULL;
    ck_assert(lam_failed(lam_add(2.0, x)));
    EXPECT_ERROR(LAM_ERR_FREED, "add: operand 1");
    ck_assert(lam_failed(lam_add(x, 2.0)));
    EXPECT_ERROR(LAM_ERR_FREED, "add: operand 0");
    ck_assert(lam_failed(lam_clamp(x, 0, 1)));
    EXPECT_ERROR(LAM_ERR_FREED, "clamp: operand 0");
    ck_assert(lam_failed(lam_clamp(c, 0, x)));
    EXPECT_ERROR(LAM_ERR_FREED, "clamp: operand 2");
    ck_assert(lam_failed(lam_where(x, 1.0, 2.0)));
    EXPECT_ERROR(LAM_ERR_FREED, ": operand 0");
    ck_assert(lam_failed(lam_where(c, 1.0, x)));
    EXPECT_ERROR(LAM_ERR_FREED, ": operand 2");
    ck_assert(lam_failed(lam_where(c, 2.0, none)));
    EXPECT_ERROR(LAM_ERR_NULL, ": operand 2 is NULL");
    ck_assert(lam_failed(lam_where(c, none, 2.0)));
    EXPECT_ERROR(LAM_ERR_NULL, ": operand 1 is NULL");
    ck_assert(lam_failed(lam_mul(2.0, none)));
}
END_TEST

/* Of x > 1 ? 1 : 0 times x, and x: the slope by x is 1 or 2. */
BODY(sum_of_fma) {
    out[0] = lam_sum(lam_fma(lam_gt(in[0], 1.0), in[0], in[0]), NULL);
}

START_TEST(where_and_clamp_take_numbers) {
    lam_tensor *x = VEC(-1, 0.5, 2);
    EXPECT(lam_clamp(x, 0, 1), LAM_DIMS(3), 0, 0.5, 1);
    EXPECT(lam_where(lam_lt(x, 0), 7, x), LAM_DIMS(3), 7, 0.5, 2);
    lam_tensor *z = lam_where(lam_lt(x, 0), 1, 0);
    EXPECT(z, LAM_DIMS(3), 1, 0, 0);
    ck_assert_int_eq(lam_dtype_of(z), LAM_I64);
    ck_assert_int_eq(lam_dtype_of(lam_where(lam_lt(x, 0), 1.5, 0)), LAM_F64);
}
END_TEST

/* A bool in front has a dtype of its own as the condition of where only. */
START_TEST(a_bool_in_front_of_three_operands_is_a_number) {
    for (int i = 0; i < TYPES; i++) {
        lam_tensor *yes = lam_ones(ctx, LAM_BOOL, LAM_DIMS(2)), *y = lam_full(ctx, all[i], LAM_DIMS(2), 1);
        lam_dtype real = all[i] == LAM_F32 ? LAM_F32 : LAM_F64;
        ck_assert_int_eq(lam_dtype_of(lam_fma(yes, y, y)), real);
        EXPECT(lam_fma(yes, y, y), LAM_DIMS(2), 2, 2);
        EXPECT(lam_mul_div(yes, y, y), LAM_DIMS(2), 1, 1);
        EXPECT(lam_betainc(yes, y, lam_mul(0.25, y)), LAM_DIMS(2), 0.25, 0.25);
        if (all[i] == LAM_BOOL) continue; /* which clamp does not take */
        ck_assert_int_eq(lam_dtype_of(lam_clamp(yes, lam_sub(y, 1), y)), all[i]);
        EXPECT(lam_clamp(yes, lam_sub(y, 1), y), LAM_DIMS(2), 1, 1);
    }
    lam_tensor *x = VEC(1, 2);
    EXPECT(lam_apply(lam_grad(FN(sum_of_fma, 1, 1), NULL), LAM_LIST(x)), LAM_DIMS(2), 1, 2);
}
END_TEST

START_TEST(integer_numbers_are_exact_beyond_2_to_the_53) {
    int64_t x = (1LL << 62) + 1, got = 0;
    lam_tensor *t = lam_array(ctx, LAM_I64, LAM_DIMS0, &x);
    ck_assert_int_eq(lam_read(lam_sub(t, 1LL << 62), &got, sizeof got), LAM_OK);
    ck_assert_int_eq(got, 1);
}
END_TEST

START_TEST(names_and_sizes_of_dtypes) {
    static const char *const names[TYPES] = {"bool", "u8", "i32", "i64", "f32", "f64"};
    static const size_t bytes[TYPES] = {1, 1, 4, 8, 4, 8};
    for (int i = 0; i < TYPES; i++) {
        ck_assert_str_eq(lam_dtype_name(all[i]), names[i]);
        ck_assert_uint_eq(lam_dtype_bytes(all[i]), bytes[i]);
    }
    ck_assert_str_eq(lam_dtype_name(LAM_DTYPE_COUNT), "?");
    ck_assert_uint_eq(lam_dtype_bytes((lam_dtype)-1), 0);
}
END_TEST

START_TEST(an_operation_that_has_no_such_dtype_says_so) {
    lam_not(num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "not", "f64", "remedy");
    lam_and(num(1), num(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "and", "f64[], f64[]");
    lam_neg(lam_ones(ctx, LAM_BOOL, LAM_DIMS(2)));
    EXPECT_ERROR(LAM_ERR_DTYPE, "neg", "bool[2]");
    lam_where(num(1), num(1), num(2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "where", "condition", "remedy");
    lam_cast(num(1), LAM_DTYPE_COUNT);
    EXPECT_ERROR(LAM_ERR_DTYPE, "cast");
}
END_TEST

Suite *suite_tensor_dtype(void) {
    return SUITE_OF("tensor/dtype", the_promotion_table, division_and_real_functions_take_integers_as_f64,
                    numbers_take_the_dtype_of_the_tensor_beside_them, a_number_that_the_dtype_cannot_hold_is_an_error,
                    an_integer_beyond_the_largest_half_is_an_error, a_number_beside_a_tensor_that_cannot_be_used,
                    where_and_clamp_take_numbers, a_bool_in_front_of_three_operands_is_a_number,
                    integer_numbers_are_exact_beyond_2_to_the_53, names_and_sizes_of_dtypes,
                    an_operation_that_has_no_such_dtype_says_so);
}
