/* Operations of bits.h that are made of others, and what the case table cannot say of its rows: values by hand, by C's
 * own frexp, ldexp and modf, and by NumPy; derivatives against differences; vmap against one call per example. */
#include "tests/primitives/bodies.h"

#include <float.h>
#include <limits.h>

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define NARROW(...)                                                                                                    \
    lam_array(ctx, LAM_I32, LAM_DIMS(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (int32_t[]){__VA_ARGS__})
#define BYTES(...) lam_array(ctx, LAM_U8, LAM_DIMS(sizeof((uint8_t[]){__VA_ARGS__})), (uint8_t[]){__VA_ARGS__})

/* ---- integers ---------------------------------------------------------------------------------------------------- */

START_TEST(bits_of_integers) {
    EXPECT(lam_population_count(INTEGERS(0, 1, -1, 255, INT64_MIN)), LAM_DIMS(5), 0, 1, 64, 8, 1);
    EXPECT(lam_population_count(NARROW(-1, INT32_MIN, 0x0f0f0f0f)), LAM_DIMS(3), 32, 1, 16);
    EXPECT(lam_clz(INTEGERS(0, 1, -1, 255, INT64_MAX)), LAM_DIMS(5), 64, 63, 0, 56, 1);
    EXPECT(lam_clz(BYTES(0, 1, 255, 16)), LAM_DIMS(4), 8, 7, 0, 3);
    ck_assert_int_eq(lam_dtype_of(lam_clz(BYTES(0))), LAM_U8);
    ck_assert(lam_failed(lam_clz(VEC(1))));
    EXPECT_ERROR(LAM_ERR_DTYPE, "clz");
}
END_TEST

/* 3 x 7 of 2^62 + 1 by hand; -1 times anything is minus it, whose upper half is -1. */
START_TEST(upper_halves_of_products) {
    const int64_t big = (int64_t)1 << 62;
    EXPECT(lam_mulhi(INTEGERS(big, big, -1, INT64_MIN, INT64_MIN, -big), INTEGERS(4, 7, 5, 2, -2, 3)), LAM_DIMS(6), 1,
           1, -1, -1, 1, -1);
    EXPECT_SAME(lam_mulhi(INTEGERS(INT64_MIN, INT64_MAX), INTEGERS(INT64_MIN, INT64_MAX)),
                INTEGERS(big, ((int64_t)1 << 62) - 1), 0);
    EXPECT_SAME(lam_mulhi(INTEGERS(0x123456789abcdef, -0x123456789abcdef), INTEGERS(0xfedcba987654321)),
                INTEGERS(0x121fa00ad77d74, -0x121fa00ad77d75), 0);
    EXPECT_SAME(lam_mulhi(NARROW(INT32_MIN, 65536, -1), NARROW(INT32_MIN, 65536, 7)), NARROW(1 << 30, 1, -1), 0);
    EXPECT_SAME(lam_mulhi(BYTES(255, 16, 15), BYTES(255, 16, 15)), BYTES(254, 1, 0), 0);
    lam_mulhi(VEC(1), VEC(2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "mulhi");
    lam_mulhi(INTEGERS(1, 2), INTEGERS(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

START_TEST(divisors_and_multiples) {
    EXPECT(lam_gcd(INTEGERS(12, -12, 0, 0, 7), INTEGERS(18, 18, -5, 0, 1)), LAM_DIMS(5), 6, 6, 5, 0, 1);
    EXPECT_SAME(lam_gcd(INTEGERS(INT64_MIN, INT64_MIN, 1134903170), INTEGERS(6, INT64_MIN, 701408733)),
                INTEGERS(2, INT64_MIN, 1), 0);
    EXPECT(lam_lcm(INTEGERS(4, -4, 0, 0, 3), INTEGERS(6, 6, 5, 0, 3)), LAM_DIMS(5), 12, 12, 0, 0, 3);
    /* The product would wrap. */
    EXPECT_SAME(lam_lcm(INTEGERS((int64_t)3 << 40), INTEGERS((int64_t)5 << 40)), INTEGERS((int64_t)15 << 40), 0);
    EXPECT(lam_lcm(BYTES(12, 100), BYTES(18, 50)), LAM_DIMS(2), 36, 100);
    lam_lcm(VEC(1), VEC(2));
    EXPECT_ERROR(LAM_ERR_DTYPE, "lcm");
    EXPECT_EMPTY(lam_lcm(lam_zeros(ctx, LAM_I64, LAM_DIMS(0)), INTEGERS(3)), LAM_DIMS(0));
}
END_TEST

START_TEST(quotients_with_their_remainders) {
    lam_tensor *q, *r;
    ck_assert_int_eq(lam_divmod(VEC(7, -7, 7.5), VEC(3, 3, -2), &q, &r), LAM_OK);
    EXPECT(q, LAM_DIMS(3), 2, -3, -4);
    EXPECT(r, LAM_DIMS(3), 1, 2, -0.5);
    ck_assert_int_eq(lam_divmod(VEC(7), VEC(3), NULL, &r), LAM_OK);
    EXPECT(r, LAM_DIMS(1), 1);
    ck_assert_int_eq(lam_divmod(VEC(7, 1), VEC(3, 1, 2), &q, &r), LAM_ERR_SHAPE);
    ck_assert(lam_failed(q) && lam_failed(r));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

/* The first two from NumPy's documentation of packbits and unpackbits. */
START_TEST(bytes_of_bits) {
    const uint8_t rows[] = {1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1};
    lam_tensor *x = lam_array(ctx, LAM_U8, LAM_DIMS(2, 2, 3), rows);
    EXPECT(lam_pack_bits(x, -1, false), LAM_DIMS(2, 2, 1), 160, 64, 192, 32);
    EXPECT(lam_unpack_bits(lam_reshape(BYTES(2, 7, 23), LAM_DIMS(3, 1)), 1, -1, false), LAM_DIMS(3, 8), 0, 0, 0, 0, 0,
           0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1);
    EXPECT(lam_pack_bits(INTEGERS(1, 0, 0, 7, 0, 0, 0, 0, -1, 1), 0, true), LAM_DIMS(2), 9, 3);
    EXPECT(lam_unpack_bits(BYTES(9, 3), 0, 10, true), LAM_DIMS(10), 1, 0, 0, 1, 0, 0, 0, 0, 1, 1);
    EXPECT(lam_unpack_bits(BYTES(255), 0, 10, false), LAM_DIMS(10), 1, 1, 1, 1, 1, 1, 1, 1, 0, 0);
    EXPECT(lam_pack_bits(x, 0, false), LAM_DIMS(1, 2, 3), 192, 64, 128, 0, 128, 64);
    EXPECT_EMPTY(lam_pack_bits(lam_slice_axis(BYTES(1), 0, 0, 0), 0, false), LAM_DIMS(0));
    EXPECT_EMPTY(lam_unpack_bits(BYTES(1), 0, 0, false), LAM_DIMS(0));
    lam_pack_bits(VEC(1), 0, false);
    EXPECT_ERROR(LAM_ERR_DTYPE, "pack_bits");
    lam_unpack_bits(INTEGERS(1), 0, -1, false);
    EXPECT_ERROR(LAM_ERR_DTYPE, "unpack_bits");
    lam_unpack_bits(BYTES(1), 1, -1, false);
    EXPECT_ERROR(LAM_ERR_AXIS, "unpack_bits");
}
END_TEST

START_TEST(bits_of_many) {
    lam_tensor *x = lam_reshape(INTEGERS(12, 10, 6, 7, -1, 8), LAM_DIMS(2, 3));
    const lam_reduce_options rows = {.axes = LAM_AXES(1)}, kept = {.axes = LAM_AXES(0), .keepdims = true};
    EXPECT(lam_and_reduce(x, &rows), LAM_DIMS(2), 0, 0);
    EXPECT(lam_and_reduce(x, &kept), LAM_DIMS(1, 3), 4, 10, 0);
    EXPECT(lam_or_reduce(x, &rows), LAM_DIMS(2), 14, -1);
    EXPECT(lam_xor_reduce(x, &rows), LAM_DIMS(2), 12 ^ 10 ^ 6, 7 ^ -1 ^ 8);
    EXPECT(lam_xor_reduce(x, NULL), LAM_DIMS0, 12 ^ 10 ^ 6 ^ 7 ^ -1 ^ 8);
    EXPECT(lam_xor_reduce(lam_cast(VEC(1, 0, 1, 1), LAM_BOOL), NULL), LAM_DIMS0, 1);
    ck_assert_int_eq(lam_dtype_of(lam_or_reduce(BYTES(3, 8), NULL)), LAM_U8);
    lam_tensor *none = lam_zeros(ctx, LAM_U8, LAM_DIMS(2, 0));
    EXPECT(lam_and_reduce(none, &rows), LAM_DIMS(2), 255, 255);
    EXPECT(lam_or_reduce(none, NULL), LAM_DIMS0, 0);
    EXPECT_EMPTY(lam_xor_reduce(none, &(lam_reduce_options){.axes = LAM_AXES(0)}), LAM_DIMS(0));
    EXPECT(lam_or_reduce(lam_index(INTEGERS(5), 0, 0), NULL), LAM_DIMS0, 5);
    lam_and_reduce(VEC(1), NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "and_reduce");
    lam_or_reduce(x, &(lam_reduce_options){.axes = LAM_AXES(2)});
    EXPECT_ERROR(LAM_ERR_AXIS, "or_reduce");
}
END_TEST

/* ---- bits of anything -------------------------------------------------------------------------------------------- */

START_TEST(bits_as_another_dtype) {
    lam_tensor *x = VEC(1, -2, INFINITY);
    EXPECT_SAME(lam_bitcast(x, LAM_I64), INTEGERS(0x3ff0000000000000, -0x4000000000000000, 0x7ff0000000000000), 0);
    EXPECT_SAME(lam_bitcast(lam_bitcast(x, LAM_U8), LAM_F64), x, 0);
    EXPECT_SAME(lam_bitcast(NARROW(0x3f800000, -0x40800000), LAM_F32), lam_cast(VEC(1, -1), LAM_F32), 0);
    EXPECT(lam_bitcast(lam_cast(VEC(1, -2), LAM_F16), LAM_U8), LAM_DIMS(2, 2), 0, 0x3c, 0, 0xc0);
    EXPECT(lam_cast(lam_bitcast(lam_reshape(BYTES(0x80, 0x3f), LAM_DIMS(1, 2)), LAM_BF16), LAM_F64), LAM_DIMS(1), 1);
    EXPECT(lam_real(lam_bitcast(MAT(2, 2, 1, 2, 3, 4), LAM_C128)), LAM_DIMS(2), 1, 3);
    EXPECT(lam_bitcast(lam_complex(VEC(1, 3), VEC(2, 4)), LAM_F64), LAM_DIMS(2, 2), 1, 2, 3, 4);
    lam_tensor *turned = lam_bitcast(lam_transpose(MAT(2, 2, 1, 2, 3, 4), (lam_axes){0, NULL}), LAM_C128);
    EXPECT(lam_imag(turned), LAM_DIMS(2), 3, 4);
    EXPECT_SAME(lam_bitcast(BYTES(1, 2), LAM_U8), BYTES(1, 2), 0);
    lam_bitcast(x, LAM_C128);
    EXPECT_ERROR(LAM_ERR_SHAPE, "bitcast", "a last axis of 2 elements");
}
END_TEST

BODY(by_bits) {
    out[0] = lam_mul(lam_cast(lam_bitcast(in[0], LAM_I64), LAM_F64), in[0]);
}

/* Bits have no derivative: of the product the other factor's is left. */
START_TEST(bits_have_no_derivative) {
    EXPECT_NUM(apply1(lam_grad(FN(by_bits, 1, 1), NULL), num(0)), 0);
    EXPECT_NUM(apply1(lam_grad(FN(by_bits, 1, 1), NULL), num(1)), 0x3ff0000000000000);
}
END_TEST

/* ---- digits ------------------------------------------------------------------------------------------------------ */

/* Against the conversions to f16 and bf16, which round as reduce_precision does where results are normal numbers. */
START_TEST(fewer_digits) {
    enum { N = 400 };
    double x[N];
    for (int i = 0; i < N; i++) x[i] = (i % 2 ? -1 : 1) * exp(-9 + 0.05 * i) * (1 + 1e-3 * sin(i));
    lam_tensor *all = lam_array(ctx, LAM_F64, LAM_DIMS(N), x);
    EXPECT_SAME(lam_reduce_precision(all, 5, 10), lam_cast(lam_cast(all, LAM_F16), LAM_F64), 0);
    EXPECT_SAME(lam_reduce_precision(all, 8, 23), lam_cast(lam_cast(all, LAM_F32), LAM_F64), 0);
    lam_tensor *single = lam_cast(all, LAM_F32);
    EXPECT_SAME(lam_reduce_precision(single, 8, 7), lam_cast(lam_cast(single, LAM_BF16), LAM_F32), 0);
    EXPECT(lam_reduce_precision(VEC(65519, 65520, -1e300, 0x1p-15, -0x1p-14, 1 + 0x1p-11, 1 + 0x3p-11, INFINITY, NAN),
                                5, 10),
           LAM_DIMS(9), 65504, INFINITY, -INFINITY, 0, -0x1p-14, 1, 1 + 0x1p-9, INFINITY, NAN);
    EXPECT(lam_reduce_precision(VEC(5e-324, 1e-310), 11, 52), LAM_DIMS(2), 5e-324, 1e-310);
    ck_assert_int_eq(lam_dtype_of(lam_reduce_precision(lam_cast(all, LAM_F16), 4, 3)), LAM_F16);
    lam_reduce_precision(all, 0, 3);
    EXPECT_ERROR(LAM_ERR_VALUE, "reduce_precision");
}
END_TEST

BODY(rounded_square) {
    out[0] = lam_reduce_precision(lam_square(in[0]), 5, 3);
}

/* 1.21 and the tangent 2.2 times 1.03 with three bits behind the first; the cotangent 1 has no more, and 2.2 is behind
 * it. */
START_TEST(tangents_have_fewer_digits_too) {
    lam_tensor *x = num(1.1), *y, *dy;
    ck_assert_int_eq(lam_jvp(FN(rounded_square, 1, 1), LAM_LIST(x), LAM_LIST(num(1.03)), &y, &dy, 1, NULL), LAM_OK);
    EXPECT_NUM(y, 1.25);
    EXPECT_NUM(dy, 2.25);
    EXPECT_NUM(apply1(lam_grad(FN(rounded_square, 1, 1), NULL), x), 2.2);
}
END_TEST

START_TEST(powers_of_two) {
    const double x[] = {1,         -1.5, 0x1p-1074, 0x1.fffffffffffffp1023, 0x1.8p-1022,         0, -0.0, INFINITY,
                        -INFINITY, 1e-5, 3,         0x1.0000000000001p0,    0x1.8000000000001p-3};
    const int64_t e[] = {0, 3, -3, 1000, 2098, -2098, 2100, -1, -1022, -1074, -1075, -1023, -52, 5000, -5000, 1 << 30};
    enum { N = sizeof x / sizeof *x, M = sizeof e / sizeof *e };
    double want[N * M];
    float wantf[N * M];
    for (int i = 0; i < N * M; i++) {
        const int by = (int)(e[i % M] > 9000 ? 9000 : e[i % M]);
        want[i] = ldexp(x[i / M], by);
        wantf[i] = ldexpf((float)x[i / M], by);
    }
    lam_tensor *numbers = lam_array(ctx, LAM_F64, LAM_DIMS(N, 1), x), *by = lam_array(ctx, LAM_I64, LAM_DIMS(M), e);
    EXPECT_SAME(lam_ldexp(numbers, by), lam_array(ctx, LAM_F64, LAM_DIMS(N, M), want), 0);
    EXPECT_SAME(lam_ldexp(lam_cast(numbers, LAM_F32), by), lam_array(ctx, LAM_F32, LAM_DIMS(N, M), wantf), 0);
    EXPECT(lam_ldexp(INTEGERS(3, 5), NARROW(2, -1)), LAM_DIMS(2), 12, 2.5);
    /* f16 and bf16: the exponents themselves have more digits than these. */
    lam_tensor *half = lam_ldexp(lam_cast(VEC(1.5, 1, 0x1p-14), LAM_F16), INTEGERS(15, 16, -9));
    EXPECT(lam_cast(half, LAM_F64), LAM_DIMS(3), 49152, INFINITY, 0x1p-23);
    lam_tensor *brain = lam_ldexp(lam_cast(VEC(0x1p-126), LAM_BF16), INTEGERS(253));
    EXPECT(lam_cast(brain, LAM_F64), LAM_DIMS(1), 0x1p127);
    lam_ldexp(VEC(1), VEC(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "ldexp");
    lam_ldexp(lam_cast(VEC(1), LAM_C128), INTEGERS(1));
    EXPECT_ERROR(LAM_ERR_DTYPE, "ldexp");
}
END_TEST

START_TEST(fractions_and_exponents) {
    const double x[] = {1, -1, 0.5, 0x1.fffffffffffffp-1, 3e300, -0x1p-1074, 0x1.8p-1060, 0, -0.0, 0x1p-1022, DBL_MAX};
    enum { N = sizeof x / sizeof *x };
    double fraction[N];
    int32_t exponent[N];
    for (int i = 0; i < N; i++) fraction[i] = frexp(x[i], &exponent[i]);
    lam_tensor *m, *e, *all = lam_array(ctx, LAM_F64, LAM_DIMS(N), x);
    ck_assert_int_eq(lam_frexp(all, &m, &e), LAM_OK);
    EXPECT_SAME(m, lam_array(ctx, LAM_F64, LAM_DIMS(N), fraction), 0);
    EXPECT_SAME(e, lam_array(ctx, LAM_I32, LAM_DIMS(N), exponent), 0);
    lam_frexp(lam_cast(VEC(0x1p-149, 0x1.8p-130, 3e38, -1), LAM_F32), &m, &e);
    EXPECT(lam_cast(m, LAM_F64), LAM_DIMS(4), 0.5, 0.75, (double)frexpf(3e38f, &exponent[0]), -0.5);
    EXPECT(e, LAM_DIMS(4), -148, -129, 128, 1);
    lam_frexp(lam_cast(VEC(0x1p-24, 6), LAM_F16), &m, &e);
    EXPECT(e, LAM_DIMS(2), -23, 3);
    ck_assert_int_eq(lam_dtype_of(m), LAM_F16);
    lam_frexp(VEC(INFINITY, -INFINITY, NAN), &m, &e);
    EXPECT(m, LAM_DIMS(3), INFINITY, -INFINITY, NAN);
    EXPECT(e, LAM_DIMS(3), 0, 0, 0);
    lam_frexp(INTEGERS(12), NULL, &e);
    EXPECT(e, LAM_DIMS(1), 4);
    ck_assert_int_eq(lam_frexp(lam_cast(VEC(1), LAM_C64), &m, &e), LAM_ERR_DTYPE);
    EXPECT_ERROR(LAM_ERR_DTYPE, "frexp");
    EXPECT_EMPTY((lam_frexp(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), &m, &e), m), LAM_DIMS(0, 2));
}
END_TEST

START_TEST(whole_parts) {
    lam_tensor *f, *w, *x = VEC(3.25, -3.25, -3, 0.0, -0.0, 1e300, INFINITY, -INFINITY, NAN);
    ck_assert_int_eq(lam_modf(x, &f, &w), LAM_OK);
    EXPECT(f, LAM_DIMS(9), 0.25, -0.25, -0.0, 0.0, -0.0, 0, 0, -0.0, NAN);
    EXPECT(w, LAM_DIMS(9), 3, -3, -3, 0.0, -0.0, 1e300, INFINITY, -INFINITY, NAN);
    EXPECT(lam_signbit(f), LAM_DIMS(9), 0, 1, 1, 0, 1, 0, 0, 1, 0);
    ck_assert_int_eq(lam_modf(INTEGERS(3), &f, NULL), LAM_OK);
    EXPECT(f, LAM_DIMS(1), 0);
    lam_modf(lam_cast(VEC(1), LAM_C128), &f, &w);
    EXPECT_ERROR(LAM_ERR_DTYPE, "modf");
}
END_TEST

/* numpy.spacing and numpy.round. */
START_TEST(units_and_decimals) {
    EXPECT(lam_spacing(VEC(1, -1, 0, 1e300, INFINITY, NAN)), LAM_DIMS(6), DBL_EPSILON, -DBL_EPSILON, 5e-324,
           1.487016908477783e+284, NAN, NAN);
    EXPECT(lam_cast(lam_spacing(lam_cast(VEC(1), LAM_F32)), LAM_F64), LAM_DIMS(1), FLT_EPSILON);
    EXPECT(lam_cast(lam_spacing(lam_cast(VEC(1, -4), LAM_F16)), LAM_F64), LAM_DIMS(2), 0x1p-10, -0x1p-8);
    EXPECT(lam_cast(lam_spacing(lam_cast(VEC(1, 0), LAM_BF16)), LAM_F64), LAM_DIMS(2), 0x1p-7, 0x1p-133);
    EXPECT(lam_round_to(VEC(1.2345, -1.235, 2.5, 1e300, NAN, INFINITY), 2), LAM_DIMS(6), 1.23, -1.24, 2.5, 1e300, NAN,
           INFINITY);
    EXPECT(lam_round_to(VEC(1250, 1350, -149, 1e-300), -2), LAM_DIMS(4), 1200, 1400, -100, 0);
    EXPECT(lam_round_to(VEC(1.5, 1e-300), 400), LAM_DIMS(2), 1.5, 1e-300);
    EXPECT(lam_round_to(VEC(1.5, 1e308), -400), LAM_DIMS(2), 0, 0);
    /* Multiples of 10^309, of which 0 is the nearest one to all doubles; NumPy multiplies 0 by infinity. */
    EXPECT(lam_round_to(VEC(6e307, -DBL_MAX, INFINITY, NAN), -309), LAM_DIMS(4), 0, 0, INFINITY, NAN);
    EXPECT(lam_round_to(VEC(6e307, -4e307), -308), LAM_DIMS(2), 1e308, 0);
    EXPECT(lam_round_to(VEC(1, -INFINITY), INT_MIN), LAM_DIMS(2), 0, -INFINITY);
    EXPECT_SAME(lam_round_to(lam_cast(VEC(0.125, 1.005), LAM_F32), 2), lam_cast(VEC(0.12, 1), LAM_F32), 0);
    EXPECT(lam_round_away(VEC(0.5, -0.5, 1.5, 2.5, 0x1.fffffffffffffp-2, 0x1.0000000000001p52, INFINITY, NAN)),
           LAM_DIMS(8), 1, -1, 2, 3, 0, 0x1.0000000000001p52, INFINITY, NAN);
    lam_round_to(lam_cast(VEC(1), LAM_C128), 1);
    EXPECT_ERROR(LAM_ERR_DTYPE, "round_to");
    lam_spacing(lam_cast(VEC(1), LAM_C128));
    EXPECT_ERROR(LAM_ERR_DTYPE, "spacing");
}
END_TEST

START_TEST(powers_in_double) {
    EXPECT(lam_float_power(INTEGERS(2, 3), INTEGERS(-1, 2)), LAM_DIMS(2), 0.5, 9);
    ck_assert_int_eq(lam_dtype_of(lam_float_power(lam_cast(VEC(2), LAM_F16), lam_cast(VEC(2), LAM_F32))), LAM_F64);
    ck_assert_int_eq(lam_dtype_of(lam_float_power(lam_cast(VEC(2), LAM_C64), VEC(2))), LAM_C128);
    lam_float_power(VEC(1, 2), VEC(1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(scaled) {
    lam_tensor *by = lam_reshape(INTEGERS(1, -2, 3), LAM_DIMS(3, 1));
    out[0] = lam_mul(lam_ldexp(lam_sin(in[0]), by), in[0]);
}

BODY(taken_apart) {
    lam_tensor *fraction, *exponent;
    lam_frexp(in[0], &fraction, &exponent);
    out[0] = lam_mul(lam_square(fraction), lam_exp2(lam_cast(exponent, LAM_F64)));
}

BODY(fractions) {
    lam_tensor *fraction, *whole;
    lam_modf(lam_mul(3.0, in[0]), &fraction, &whole);
    out[0] = lam_add(lam_mul(lam_square(fraction), in[0]), whole);
}

BODY(rounded_and_raised) {
    out[0] = lam_mul(lam_float_power(lam_abs(in[0]), lam_add(lam_round_to(in[0], 1), 2.0)), lam_round_away(in[0]));
}

static const lam_body bodies[] = {scaled, taken_apart, fractions, rounded_and_raised};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    bodies_differences(bodies[_i], _i);
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    bodies_loop(bodies[_i], 0.9);
}
END_TEST

BODY(of_integers) {
    lam_tensor *bits = lam_unpack_bits(lam_cast(in[0], LAM_U8), -1, -1, false);
    lam_tensor *packed = lam_cast(lam_pack_bits(bits, 0, true), LAM_I64);
    lam_tensor *odd = lam_expand_dims(lam_xor_reduce(in[0], NULL), 0);
    out[0] = lam_concatenate(LAM_LIST(lam_mulhi(in[0], lam_full_like(in[0], 0x1p62)), packed, odd), 0);
}

START_TEST(batches_of_integers) {
    lam_fn *f = FN(of_integers, 1, 1);
    lam_tensor *x = INTEGERS(3, 200, -7), *y = INTEGERS(0, 17, 90);
    lam_tensor *apart = lam_stack(LAM_LIST(apply1(f, x), apply1(f, y)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), lam_stack(LAM_LIST(x, y), 0)), apart, 0);
}
END_TEST

Suite *suite_primitives_parts(void);
Suite *suite_primitives_parts(void) {
    Suite *suite =
        SUITE_OF("primitives/parts", bits_of_integers, upper_halves_of_products, divisors_and_multiples,
                 quotients_with_their_remainders, bytes_of_bits, bits_of_many, bits_as_another_dtype,
                 bits_have_no_derivative, fewer_digits, tangents_have_fewer_digits_too, powers_of_two,
                 fractions_and_exponents, whole_parts, units_and_decimals, powers_in_double, batches_of_integers);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    suite_loop(suite, vmap_equals_the_loop, BODIES);
    return suite;
}
