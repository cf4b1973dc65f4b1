/* f16 and bf16: every value there and back, rounding once from f64 and from integers, promotion, derivatives. What each
 * operation gives is in tests/primitives/properties_half.c. */
#include "tests/support.h"

/* The number that 16 bits mean, by the definition: sign, exponent of `bits` bits, fraction. */
static double meaning(uint16_t h, int fraction, int bias) {
    int exponent = (h & 0x7fff) >> fraction, last = (1 << (15 - fraction)) - 1;
    double part = h & ((1 << fraction) - 1), size;
    if (exponent == last) size = part != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0) size = ldexp(part, 1 - bias - fraction);
    else size = ldexp(part + ldexp(1, fraction), exponent - bias - fraction);
    return h & 0x8000 ? -size : size;
}

static void check_all(lam_dtype dtype, int fraction, int bias) {
    static uint16_t bits[65536], back[65536];
    static double values[65536];
    for (int i = 0; i < 65536; i++) bits[i] = (uint16_t)i;
    lam_tensor *x = lam_array(ctx, dtype, LAM_DIMS(65536), bits), *wide = lam_cast(x, LAM_F64);
    ck_assert_int_eq(lam_read(wide, values, sizeof values), LAM_OK);
    ck_assert_int_eq(lam_read(lam_cast(wide, dtype), back, sizeof back), LAM_OK);
    for (int i = 0; i < 65536; i++) {
        double want = meaning((uint16_t)i, fraction, bias);
        ck_assert_msg(values[i] == want || (isnan(values[i]) && isnan(want)), "%#x is %g", i, values[i]);
        ck_assert_msg(isnan(want) || signbit(values[i]) == signbit(want), "%#x", i);
        ck_assert_msg(back[i] == bits[i] || (isnan(want) && isnan(meaning(back[i], fraction, bias))), "%#x", i);
    }
}

START_TEST(every_value_there_and_back) {
    check_all(LAM_F16, 10, 15);
    check_all(LAM_BF16, 7, 127);
}
END_TEST

/* Neighbours have the given side of each other and no number of the dtype between them: a quarter and three quarters of
 * the way are rounded to the one and the other. Beyond the largest lies infinity, and from there the largest. */
static void check_neighbours(lam_dtype dtype, int fraction, int bias, double largest, double side) {
    static uint16_t bits[65536];
    static double next[65536], x[65536], points[2][65536], back[2][65536];
    for (int i = 0; i < 65536; i++) bits[i] = (uint16_t)i;
    lam_tensor *from = lam_array(ctx, dtype, LAM_DIMS(65536), bits), *to = lam_cast(lam_scalar(ctx, side), dtype);
    lam_tensor *moved = (lam_nextafter)(from, to);
    ck_assert_int_eq(lam_dtype_of(moved), dtype);
    ck_assert_int_eq(lam_read(lam_cast(moved, LAM_F64), next, sizeof next), LAM_OK);
    for (int i = 0; i < 65536; i++) {
        x[i] = meaning((uint16_t)i, fraction, bias);
        for (int k = 0; k < 2; k++) points[k][i] = x[i] + (k ? 0.75 : 0.25) * (next[i] - x[i]);
    }
    for (int k = 0; k < 2; k++) {
        lam_tensor *rounded = lam_cast(lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(65536), points[k]), dtype), LAM_F64);
        ck_assert_int_eq(lam_read(rounded, back[k], sizeof back[k]), LAM_OK);
    }
    for (int i = 0; i < 65536; i++) {
        if (isnan(x[i])) ck_assert_msg(isnan(next[i]), "%#x", i);
        else if (x[i] == side) ck_assert_msg(next[i] == side, "%#x", i);
        else if (isinf(x[i])) ck_assert_msg(next[i] == copysign(largest, x[i]), "%#x", i);
        else if (x[i] == copysign(largest, side)) ck_assert_msg(next[i] == side, "%#x", i);
        else
            ck_assert_msg((next[i] > x[i]) == (side > 0) && next[i] != x[i] && back[0][i] == x[i] &&
                              back[1][i] == next[i],
                          "%#x: %g from %g", i, next[i], x[i]);
    }
}

START_TEST(neighbours_are_those_of_the_dtype) {
    for (int k = 0; k < 2; k++) {
        check_neighbours(LAM_F16, 10, 15, 65504, k ? -INFINITY : INFINITY);
        check_neighbours(LAM_BF16, 7, 127, 0x1.fep127, k ? -INFINITY : INFINITY);
    }
    const double x[] = {0, -0.0, 1, -0.0, 0, NAN, 1}, towards[] = {-0.0, 0, 1, -1, 2, 1, NAN};
    lam_tensor *a = lam_array(ctx, LAM_F64, LAM_DIMS(7), x), *b = lam_array(ctx, LAM_F64, LAM_DIMS(7), towards);
    double got[7];
    lam_tensor *moved = (lam_nextafter)(lam_cast(a, LAM_F16), lam_cast(b, LAM_F16));
    ck_assert_int_eq(lam_read(lam_cast(moved, LAM_F64), got, sizeof got), LAM_OK);
    const double want[] = {-0.0, 0, 1, -0x1p-24, 0x1p-24, NAN, NAN};
    for (int i = 0; i < 7; i++)
        ck_assert_msg(isnan(want[i]) ? isnan(got[i]) : got[i] == want[i] && signbit(got[i]) == signbit(want[i]), "%d",
                      i);
}
END_TEST

static void check_narrowed(lam_tensor *narrow, const uint16_t want[3], double middle) {
    uint16_t got[3];
    ck_assert_int_eq(lam_read(narrow, got, sizeof got), LAM_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(got[i] == want[i], "point %d at %a becomes %#x, not %#x", i, middle, got[i], want[i]);
}

/* Between two neighbours the nearer one is taken, in the middle the one whose last bit is 0. */
static void check_rounding(lam_dtype dtype, int fraction, int bias, uint16_t largest) {
    for (uint16_t h = 0; h < largest; h++) {
        double low = meaning(h, fraction, bias), high = meaning((uint16_t)(h + 1), fraction, bias);
        double middle = low + (high - low) / 2, points[] = {middle, nextafter(middle, 0), nextafter(middle, high)};
        float near = (float)middle, singles[] = {near, nextafterf(near, 0), nextafterf(near, (float)high)};
        uint16_t want[] = {(uint16_t)(h + (h & 1)), h, (uint16_t)(h + 1)};
        lam_scope *scope = lam_scope_begin(ctx);
        check_narrowed(lam_cast(lam_array(ctx, LAM_F64, LAM_DIMS(3), points), dtype), want, middle);
        check_narrowed(lam_cast(lam_array(ctx, LAM_F32, LAM_DIMS(3), singles), dtype), want, middle);
        lam_scope_end(scope, NULL, 0);
        h = (uint16_t)(h + h % 7);
    }
}

START_TEST(floats_are_rounded_once) {
    check_rounding(LAM_F16, 10, 15, 0x7bff);
    check_rounding(LAM_BF16, 7, 127, 0x7f7f);
}
END_TEST

START_TEST(beyond_the_range) {
    EXPECT(lam_cast(lam_cast(VEC(65519, 65520, -1e300, 2e-8, 3e-8), LAM_F16), LAM_F64), LAM_DIMS(5), 65504, INFINITY,
           -INFINITY, 0, 0x1p-24);
    EXPECT(lam_cast(lam_cast(VEC(3.3e38, 3.4e38, 1e300), LAM_BF16), LAM_F64), LAM_DIMS(3), 0x1.fp127, INFINITY,
           INFINITY);
}
END_TEST

/* 2^60 + 2^52 lies between two bf16; one more decides, though f64 cannot tell it. */
START_TEST(integers_are_rounded_once) {
    int64_t x[] = {((int64_t)1 << 60) + ((int64_t)1 << 52), ((int64_t)1 << 60) + ((int64_t)1 << 52) + 1, 2049, -2051};
    lam_tensor *t = lam_array(ctx, LAM_I64, LAM_DIMS(4), x);
    EXPECT(lam_cast(lam_cast(t, LAM_BF16), LAM_F64), LAM_DIMS(4), 0x1p60, 0x1.02p60, 2048, -2048);
    EXPECT(lam_cast(lam_cast(lam_slice_axis(t, 0, 2, 4), LAM_F16), LAM_F64), LAM_DIMS(2), 2048, -2052);
    int32_t y[] = {(1 << 30) + (1 << 22), (1 << 30) + (1 << 22) + 1, -(1 << 30) - (1 << 22) - 1, 2049, INT32_MIN};
    EXPECT(lam_cast(lam_cast(lam_array(ctx, LAM_I32, LAM_DIMS(5), y), LAM_BF16), LAM_F64), LAM_DIMS(5), 0x1p30,
           0x1.02p30, -0x1.02p30, 2048, -0x1p31);
}
END_TEST

START_TEST(names_sizes_promotion) {
    lam_tensor *h = lam_ones(ctx, LAM_F16, LAM_DIMS(2)), *b = lam_ones(ctx, LAM_BF16, LAM_DIMS(2));
    ck_assert_str_eq(lam_dtype_name(LAM_F16), "f16");
    ck_assert_str_eq(lam_dtype_name(LAM_BF16), "bf16");
    ck_assert_uint_eq(lam_dtype_bytes(LAM_F16) + lam_dtype_bytes(LAM_BF16), 4);
    ck_assert_int_eq(lam_dtype_of(lam_add(h, b)), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_add(h, lam_ones(ctx, LAM_F32, LAM_DIMS0))), LAM_F32);
    ck_assert_int_eq(lam_dtype_of(lam_add(h, lam_ones(ctx, LAM_I64, LAM_DIMS0))), LAM_F16);
    ck_assert_int_eq(lam_dtype_of(lam_add(b, lam_ones(ctx, LAM_C64, LAM_DIMS0))), LAM_C64);
    ck_assert_int_eq(lam_dtype_of(lam_mul(2.5, b)), LAM_BF16);
    ck_assert_int_eq(lam_dtype_of(lam_mean(h, NULL)), LAM_F16);
    ck_assert_int_eq(lam_dtype_of(lam_complex(h, h)), LAM_C64);
}
END_TEST

/* A sum that were kept in f16 would stay at 2048. */
START_TEST(sums_are_formed_in_f32) {
    EXPECT_NUM(lam_cast(lam_sum(lam_ones(ctx, LAM_F16, LAM_DIMS(3000)), NULL), LAM_F64), 3000);
    lam_tensor *m = lam_ones(ctx, LAM_BF16, LAM_DIMS(2, 512));
    EXPECT(lam_cast(lam_matmul(m, lam_transpose(m, (lam_axes){0})), LAM_F64), LAM_DIMS(2, 2), 512, 512, 512, 512);
}
END_TEST

BODY(mean) {
    out[0] = lam_mean(in[0], NULL);
}

/* 70,000, by which the cotangent is divided, is no f16. */
START_TEST(shares_of_means_are_formed_in_f32) {
    enum { MANY = 70000 };
    lam_tensor *x = lam_full(ctx, LAM_F16, LAM_DIMS(MANY), 1.5);
    EXPECT_NUM(lam_cast(lam_mean(x, NULL), LAM_F64), 1.5);
    lam_tensor *g = lam_slice_axis(apply1(lam_grad(FN(mean, 1, 1), NULL), x), 0, 0, 1);
    EXPECT_SAME(g, lam_full(ctx, LAM_F16, LAM_DIMS(1), 1.0 / MANY), 0);
}
END_TEST

BODY(cubes) {
    out[0] = lam_sum(lam_mul(in[0], lam_square(in[0])), NULL);
}

START_TEST(derivatives_have_the_dtype_of_the_input) {
    lam_tensor *x = lam_cast(MAT(2, 2, 1, 2, -3, 0.5), LAM_F16);
    lam_tensor *g = apply1(lam_vmap(lam_grad(FN(cubes, 1, 1), NULL), NULL), x);
    ck_assert_int_eq(lam_dtype_of(g), LAM_F16);
    EXPECT(lam_cast(g, LAM_F64), LAM_DIMS(2, 2), 3, 12, 27, 0.75);
    lam_tensor *h = apply1(lam_hessian(FN(cubes, 1, 1), NULL), lam_cast(VEC(1, 2), LAM_BF16));
    ck_assert_int_eq(lam_dtype_of(h), LAM_BF16);
    EXPECT(lam_cast(h, LAM_F64), LAM_DIMS(2, 2), 6, 0, 0, 12);
}
END_TEST

START_TEST(in_place_views_and_items) {
    lam_tensor *x = lam_cast(VEC(1, 2, 3, 4), LAM_F16);
    lam_add_(x, x);
    EXPECT(lam_cast(lam_slice(x, LAM_DIMS(3), LAM_DIMS(LAM_END), LAM_DIMS(-2)), LAM_F64), LAM_DIMS(2), 8, 4);
    ck_assert_double_eq(lam_item(lam_index(x, 0, 1)), 4);
    EXPECT(lam_gt(x, 5), LAM_DIMS(4), 0, 0, 1, 1);
    EXPECT(lam_cast(lam_full(ctx, LAM_BF16, LAM_DIMS(3), 1.5), LAM_F64), LAM_DIMS(3), 1.5, 1.5, 1.5);
}
END_TEST

Suite *suite_tensor_half(void) {
    return SUITE_OF("tensor/half", every_value_there_and_back, neighbours_are_those_of_the_dtype,
                    floats_are_rounded_once, beyond_the_range, integers_are_rounded_once, names_sizes_promotion,
                    sums_are_formed_in_f32, shares_of_means_are_formed_in_f32, derivatives_have_the_dtype_of_the_input,
                    in_place_views_and_items);
}
