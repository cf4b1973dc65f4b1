/* Convolutions of planes, trends, interpolation on grids: values from SciPy 1.17.1 (interpolation also from JAX 0.10.2,
 * whose modes these are), derivatives against differences, vmap against one call per example, what is refused. */
#include "tests/support.h"

static lam_tensor *row(lam_tensor *x, int64_t i) {
    return lam_squeeze(lam_slice_axis(x, 0, i, i + 1), LAM_AXES(0));
}

/* ---- convolutions of planes -------------------------------------------------------------------------------------- */

BODY(convolved) {
    out[0] = lam_convolve2d(in[0], in[1], LAM_CONVOLVE_SAME);
}

BODY(correlated) {
    out[0] = lam_correlate2d(in[0], in[1], LAM_CONVOLVE_VALID);
}

START_TEST(convolutions_of_planes) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *y = MAT(2, 2, 1, 2, 0, -1);
    EXPECT(lam_convolve2d(x, y, LAM_CONVOLVE_FULL), LAM_DIMS(3, 4), 1, 4, 7, 6, 4, 12, 14, 9, 0, -4, -5, -6);
    EXPECT(lam_convolve2d(x, y, LAM_CONVOLVE_SAME), LAM_DIMS(2, 3), 1, 4, 7, 4, 12, 14);
    EXPECT(lam_convolve2d(x, y, LAM_CONVOLVE_VALID), LAM_DIMS(1, 2), 12, 14);
    EXPECT(lam_convolve2d(y, x, LAM_CONVOLVE_SAME), LAM_DIMS(2, 2), 4, 7, 12, 14);
    EXPECT(lam_convolve2d(MAT(1, 1, 2), x, LAM_CONVOLVE_VALID), LAM_DIMS(2, 3), 2, 4, 6, 8, 10, 12);
    EXPECT(lam_correlate2d(x, y, LAM_CONVOLVE_FULL), LAM_DIMS(3, 4), -1, -2, -3, 0, -2, 0, 2, 3, 8, 14, 17, 6);
    EXPECT(lam_correlate2d(x, y, LAM_CONVOLVE_SAME), LAM_DIMS(2, 3), 0, 2, 3, 14, 17, 6);
    EXPECT(lam_correlate2d(x, y, LAM_CONVOLVE_VALID), LAM_DIMS(1, 2), 0, 2);
    lam_tensor *large = MAT(3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    EXPECT(lam_correlate2d(y, large, LAM_CONVOLVE_VALID), LAM_DIMS(2, 3), 11, 9, 7, 3, 1, -1);
    EXPECT(lam_convolve2d(y, large, LAM_CONVOLVE_VALID), LAM_DIMS(2, 3), 15, 17, 19, 23, 25, 27);
    lam_tensor *single = lam_convolve2d(lam_cast(x, LAM_F32), lam_cast(y, LAM_I32), LAM_CONVOLVE_VALID);
    ck_assert_int_eq(lam_dtype_of(single), LAM_F32);
    EXPECT(lam_cast(single, LAM_F64), LAM_DIMS(1, 2), 12, 14);
    EXPECT_OK();
    lam_fn *both[] = {FN(convolved, 2, 1), FN(correlated, 2, 1)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(x, y), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_tensor *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *ys = lam_stack(LAM_LIST(y, lam_cos(y)), 0);
        lam_tensor *second = apply2(both[i], lam_exp(x), lam_cos(y));
        EXPECT_SAME(apply2(lam_vmap(both[i], NULL), xs, ys), lam_stack(LAM_LIST(apply2(both[i], x, y), second), 0),
                    1e-14);
    }
}
END_TEST

/* (1 + i) (2 - i) + ... of two elements by hand; the correlation has the conjugate. */
START_TEST(complex_planes) {
    lam_tensor *x = lam_complex(MAT(1, 2, 1, 0), MAT(1, 2, 1, 2)), *y = lam_complex(MAT(1, 1, 2), MAT(1, 1, -1));
    lam_tensor *z = lam_convolve2d(x, y, LAM_CONVOLVE_FULL), *w = lam_correlate2d(x, y, LAM_CONVOLVE_FULL);
    EXPECT(lam_real(z), LAM_DIMS(1, 2), 3, 2);
    EXPECT(lam_imag(z), LAM_DIMS(1, 2), 1, 4);
    EXPECT(lam_real(w), LAM_DIMS(1, 2), 1, -2);
    EXPECT(lam_imag(w), LAM_DIMS(1, 2), 3, 4);
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_planes) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *tall = MAT(3, 1, 1, 2, 3), *v = VEC(1, 2);
    lam_tensor *(*const both[])(lam_tensor *, lam_tensor *, lam_convolve_mode) = {lam_convolve2d, lam_correlate2d};
    static const char *const names[] = {"convolve2d", "correlate2d"};
    for (int i = 0; i < 2; i++) {
        both[i](x, v, LAM_CONVOLVE_FULL);
        EXPECT_ERROR(LAM_ERR_RANK, names[i]);
        both[i](x, tall, LAM_CONVOLVE_VALID);
        EXPECT_ERROR(LAM_ERR_SHAPE, names[i], "neither");
        both[i](x, lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), LAM_CONVOLVE_FULL);
        EXPECT_ERROR(LAM_ERR_SHAPE, names[i]);
        both[i](x, x, (lam_convolve_mode)7);
        EXPECT_ERROR(LAM_ERR_OPTION, names[i]);
    }
}
END_TEST

/* ---- trends ------------------------------------------------------------------------------------------------------ */

BODY(without_line) {
    out[0] = lam_detrend(in[0], 0, true);
}

START_TEST(trends) {
    lam_tensor *x = VEC(1, -2, 3, 0.5, 4), *both = lam_stack(LAM_LIST(x, lam_mul(-2.0, x)), 0);
    EXPECT_NEAR(lam_detrend(x, 0, true), 1e-14, LAM_DIMS(5), 1.4, -2.45, 1.7, -1.65, 1.0);
    EXPECT_NEAR(lam_detrend(x, -1, false), 1e-14, LAM_DIMS(5), -0.3, -3.3, 1.7, -0.8, 2.7);
    lam_tensor *columns = lam_matrix_transpose(both), *rows = lam_detrend(both, 1, true);
    EXPECT_SAME(lam_matrix_transpose(lam_detrend(columns, 0, true)), rows, 1e-15);
    EXPECT_SAME(row(rows, 1), lam_mul(-2.0, lam_detrend(x, 0, true)), 1e-15);
    EXPECT(lam_detrend(VEC(7), 0, true), LAM_DIMS(1), 0);
    EXPECT_EMPTY(lam_detrend(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), 0, true), LAM_DIMS(0));
    ck_assert_int_eq(lam_dtype_of(lam_detrend(lam_cast(x, LAM_F32), 0, true)), LAM_F32);
    lam_tensor *half = lam_cast(lam_arange(ctx, LAM_F64, 0, 500, 0.5), LAM_F16), *level = lam_full_like(half, 60000);
    EXPECT_SAME(lam_detrend(half, 0, true), lam_zeros_like(half), 1e-3); /* sums leave the range of f16 */
    EXPECT_SAME(lam_detrend(level, 0, false), lam_zeros_like(half), 0);
    EXPECT_OK();
    ck_assert_int_eq(lam_check_grads(FN(without_line, 1, 1), LAM_LIST(x), &(lam_check_grads_options){.order = 2}),
                     LAM_OK);
    EXPECT_SAME(apply1(lam_vmap(FN(without_line, 1, 1), NULL), both), rows, 1e-15);
    lam_detrend(x, 1, false);
    EXPECT_ERROR(LAM_ERR_AXIS, "detrend");
}
END_TEST

/* ---- interpolation on grids -------------------------------------------------------------------------------------- */

START_TEST(interpolation_on_grids) {
    static const struct mode {
        lam_map_mode mode;
        double linear[5], nearest[5];
    } rows[] = {
        {LAM_MAP_CONSTANT, {4.46, -0.04, -0.7, -1, -1}, {4, -1, -1, -1, -1}},
        {LAM_MAP_NEAREST, {4.46, 1.4, 9, 2, 4}, {4, 1, 9, 3, 4}},
        {LAM_MAP_WRAP, {4.46, 2.84, 1.99, 5.6, 4.64}, {4, 3, 1, 9, 4}},
        {LAM_MAP_MIRROR, {4.46, 2.84, 3.16, 4.4, 2.84}, {4, 3, 2, 5, 2}},
        {LAM_MAP_REFLECT, {4.46, 1.4, 9, 2.45, 3}, {4, 1, 9, 3, 3}},
    };
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, 5, 9);
    lam_tensor *at = MAT(2, 5, 0.3, -0.6, 1.7, 0.5, -2.2, 1.6, 0.4, 2.9, -1.3, 5.1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lam_tensor *linear = lam_map_coordinates(x, at, 1, rows[i].mode, -1);
        lam_tensor *nearest = lam_map_coordinates(x, at, 0, rows[i].mode, -1);
        EXPECT_SAME(linear, vector_of(rows[i].linear, 5), 1e-14);
        EXPECT_SAME(nearest, vector_of(rows[i].nearest, 5), 0);
        lam_tensor *single = lam_map_coordinates(lam_cast(x, LAM_F32), at, 1, rows[i].mode, -1);
        ck_assert_int_eq(lam_dtype_of(single), LAM_F32);
        lam_tensor *complex = lam_map_coordinates(lam_complex(x, x), at, 1, rows[i].mode, -1);
        EXPECT_SAME(lam_imag(lam_map_coordinates(lam_complex(x, x), at, 1, rows[i].mode, 0)),
                    lam_map_coordinates(x, at, 1, rows[i].mode, 0), 1e-15);
        EXPECT_SAME(lam_real(complex), linear, 1e-15);
    }
    EXPECT(lam_map_coordinates(x, MAT(2, 2, 0, 1, 2, 1), 1, LAM_MAP_MIRROR, 0), LAM_DIMS(2), 4, 5);
    EXPECT(lam_map_coordinates(VEC(7), MAT(1, 3, -4, 0, 9), 1, LAM_MAP_MIRROR, 0), LAM_DIMS(3), 7, 7, 7);
    EXPECT_EMPTY(lam_map_coordinates(x, lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), 1, LAM_MAP_WRAP, 0), LAM_DIMS(0));
    lam_tensor *far = lam_map_coordinates(VEC(1, 2), MAT(1, 3, INFINITY, -1e300, 1e18), 0, LAM_MAP_NEAREST, 0);
    EXPECT(far, LAM_DIMS(3), 2, 1, 2);
    lam_tensor *there = MAT(1, 4, INFINITY, -1e300, 1e16, NAN);
    EXPECT(lam_map_coordinates(VEC(1, 2), there, 1, LAM_MAP_NEAREST, 0), LAM_DIMS(4), 2, 1, 2, NAN);
    EXPECT(lam_map_coordinates(VEC(1, 2), there, 1, LAM_MAP_CONSTANT, 7), LAM_DIMS(4), 7, 7, 7, NAN);
    EXPECT(lam_map_coordinates(VEC(1, 2), there, 0, LAM_MAP_WRAP, 7), LAM_DIMS(4), 1, 1, 1, NAN);
    EXPECT(lam_map_coordinates(VEC(1, 2), lam_cast(there, LAM_F16), 1, LAM_MAP_NEAREST, 0), LAM_DIMS(4), 2, 1, 2, NAN);
    EXPECT_OK();
}
END_TEST

BODY(interpolated) {
    out[0] = lam_map_coordinates(in[0], in[1], 1, LAM_MAP_REFLECT, 0);
}

START_TEST(derivatives_of_interpolation) {
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, 5, 9), *at = MAT(2, 3, 0.3, -0.6, 1.7, 1.6, 0.4, 2.9);
    lam_fn *f = FN(interpolated, 2, 1);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x, at), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_tensor *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *ats = lam_stack(LAM_LIST(at, lam_neg(at)), 0);
    lam_tensor *each = lam_stack(LAM_LIST(apply2(f, x, at), apply2(f, lam_exp(x), lam_neg(at))), 0);
    EXPECT_SAME(apply2(lam_vmap(f, NULL), xs, ats), each, 1e-15);
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_places) {
    lam_tensor *x = MAT(2, 2, 1, 2, 3, 4), *at = MAT(2, 1, 0, 0);
    lam_map_coordinates(x, VEC(1, 2, 3), 1, LAM_MAP_WRAP, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "map_coordinates");
    lam_map_coordinates(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2)), at, 1, LAM_MAP_WRAP, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "map_coordinates");
    lam_map_coordinates(x, at, 3, LAM_MAP_WRAP, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "map_coordinates");
    lam_map_coordinates(x, at, 1, (lam_map_mode)8, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "map_coordinates");
    lam_map_coordinates(x, lam_cast(at, LAM_C128), 1, LAM_MAP_WRAP, 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "map_coordinates");
}
END_TEST

Suite *suite_primitives_grids(void) {
    return SUITE_OF("grids", convolutions_of_planes, complex_planes, wrong_planes, trends, interpolation_on_grids,
                    derivatives_of_interpolation, wrong_places);
}
