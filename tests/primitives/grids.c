/* Convolutions of planes, trends, interpolation on grids, images of other sizes: values from SciPy 1.17.1
 * (interpolation also from JAX 0.10.2, whose modes these are; images from JAX alone), derivatives against
 * differences, vmap against one call per example, what is refused. */
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

/* A convolution is the same whichever operand is the window, also where most rows of it meet none of x. */
START_TEST(windows_larger_than_planes) {
    static const int64_t sizes[][4] = {{3, 3, 200, 30}, {2, 3, 200, 30}, {8, 8, 60, 50}, {1, 1, 60, 60}};
    const int64_t *s = sizes[_i];
    lam_tensor *x = lam_sin(lam_reshape(lam_arange(ctx, LAM_F64, 0, (double)(s[0] * s[1]), 1), LAM_DIMS(s[0], s[1])));
    lam_tensor *y = lam_cos(lam_reshape(lam_arange(ctx, LAM_F64, 0, (double)(s[2] * s[3]), 1), LAM_DIMS(s[2], s[3])));
    EXPECT_SAME(lam_convolve2d(x, y, LAM_CONVOLVE_FULL), lam_convolve2d(y, x, LAM_CONVOLVE_FULL), 1e-12);
    if (_i == 3) EXPECT_SAME(lam_convolve2d(lam_full(ctx, LAM_F64, LAM_DIMS(1, 1), 2), y, 0), lam_mul(2, y), 0);
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

/* JAX: halves go away from 0. What is just below a half stays below, and large numbers, to which no half can be added,
 * are what they are. */
START_TEST(nearest_elements_of_halves_and_large_numbers) {
    lam_tensor *x = lam_arange(ctx, LAM_F64, 0, 8, 1);
    lam_tensor *at = MAT(1, 8, 0.5, 1.5, 2.5, -0.5, -1.5, 0x1.fffffffffffffp-2, 0x1.0000000000001p52, -0x1.fffffffep28);
    EXPECT(lam_map_coordinates(x, at, 0, LAM_MAP_WRAP, 0), LAM_DIMS(8), 1, 2, 3, 7, 6, 0, 1, 0);
    at = lam_cast(MAT(1, 5, 0.5, -0.5, 0x1.fffffep-2, 8388609, -8388609), LAM_F32);
    EXPECT(lam_map_coordinates(x, at, 0, LAM_MAP_WRAP, 0), LAM_DIMS(5), 1, 7, 0, 1, 7);
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
    EXPECT_ERROR(LAM_ERR_VALUE, "map_coordinates", "order 3");
    lam_map_coordinates(x, at, 1, (lam_map_mode)8, 0);
    EXPECT_ERROR(LAM_ERR_VALUE, "map_coordinates", "mode 8");
    lam_map_coordinates(x, lam_cast(at, LAM_C128), 1, LAM_MAP_WRAP, 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "map_coordinates");
}
END_TEST

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Scaled by 1.3 and 0.6, moved by 0.4 and -0.2. */
static lam_tensor *moved(lam_tensor *x, lam_dims dims, lam_axes axes, lam_image_method method) {
    return lam_scale_and_translate(x, dims, axes, VEC(1.3, 0.6), VEC(0.4, -0.2),
                                   &(lam_image_options){.method = method});
}

START_TEST(images_of_other_sizes) {
    static const struct image {
        double smooth[6], aliased[6], moved[8];
    } rows[] = {
        [LAM_IMAGE_LINEAR] = {{1.375, 3.25, 1.4375, 3, 1.5, 2.75},
                              {1.25, 3.5, 1.625, 3.5, 2, 3.5},
                              {1.875, 3.6, 0, 0, 1.6586538461538465, 3.6692307692307695, 0, 0}},
        [LAM_IMAGE_CUBIC] = {{1.2637492607924306, 3.379783728985384, 1.314606741573034, 3.0401284109149276,
                              1.3654642223536375, 2.700473092844472},
                             {1.0825970034575485, 3.6336918939684972, 1.6277372262773722, 3.7080291970802923,
                              2.172877449097196, 3.7823665001920874},
                             {1.8755614497018513, 3.849996588893436, 0, 0, 1.5887999806604458, 3.9634192496318734}},
        [LAM_IMAGE_LANCZOS3] = {{1.2041790963541317, 3.4724657275085415, 1.1919246863654966, 3.0070482560329035,
                                 1.1796702763768618, 2.541630784557266},
                                {0.958682006533602, 3.6978918638246143, 1.4738844806743405, 3.665849246478116,
                                 1.9890869548150791, 3.633806629131618},
                                {1.9822699678593494, 4.022027855179618, 0, 0, 1.6314852003564742, 4.029754874496711}},
        [LAM_IMAGE_LANCZOS5] = {{1.1836348015325584, 3.5172505243112213, 1.1403895696884636, 2.9923049896226033,
                                 1.0971443378443693, 2.467359454933986},
                                {0.8640634229049947, 3.779339498790995, 1.358089979130151, 3.671600582268318,
                                 1.8521165353553075, 3.563861665745642},
                                {2.043253688346237, 4.167368772102103, 0, 0, 1.649276624929259, 4.0821990384683025}},
    };
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, -1, 5);
    const lam_dims other = LAM_DIMS(3, 2);
    for (int m = LAM_IMAGE_LINEAR; m <= LAM_IMAGE_LANCZOS5; m++) {
        const lam_image_options smooth = {.method = (lam_image_method)m}, aliased = {smooth.method, true};
        lam_tensor *y = lam_image_resize(x, other, &smooth), *single = lam_cast(x, LAM_F32);
        EXPECT_SAME(y, lam_array(ctx, LAM_F64, other, rows[m].smooth), 1e-14);
        EXPECT_SAME(lam_image_resize(x, other, &aliased), lam_array(ctx, LAM_F64, other, rows[m].aliased), 1e-14);
        lam_tensor *shifted = moved(x, LAM_DIMS(2, 4), LAM_AXES(0, 1), smooth.method);
        EXPECT_SAME(shifted, lam_array(ctx, LAM_F64, LAM_DIMS(2, 4), rows[m].moved), 1e-14);
        ck_assert_int_eq(lam_dtype_of(lam_image_resize(single, other, &smooth)), LAM_F32);
        EXPECT_SAME(lam_cast(lam_image_resize(single, other, &smooth), LAM_F64), y, 1e-6);
        lam_tensor *z = lam_image_resize(lam_complex(x, lam_neg(x)), other, &smooth);
        EXPECT_SAME(lam_imag(z), lam_neg(y), 1e-15);
        EXPECT_SAME(lam_cast(lam_image_resize(lam_cast(x, LAM_F16), other, &smooth), LAM_F64), y, 2e-3);
    }
    EXPECT(lam_image_resize(lam_cast(x, LAM_I32), LAM_DIMS(3, 5), &(lam_image_options){.method = LAM_IMAGE_NEAREST}),
           LAM_DIMS(3, 5), 1, 1, 2, 4, 4, 3, 3, -1, 5, 5, 3, 3, -1, 5, 5);
    EXPECT_SAME(lam_image_resize(x, LAM_DIMS(2, 3), NULL), x, 0);
    EXPECT_EMPTY(lam_image_resize(x, LAM_DIMS(0, 5), NULL), LAM_DIMS(0, 5));
    EXPECT_EMPTY(moved(x, LAM_DIMS(0, 5), (lam_axes){0}, LAM_IMAGE_CUBIC), LAM_DIMS(0, 5));
    EXPECT(lam_image_resize(VEC(7), LAM_DIMS(3), NULL), LAM_DIMS(3), 7, 7, 7);
    lam_tensor *half = lam_scale_and_translate(VEC(1, 2, 3), LAM_DIMS(3), (lam_axes){0}, num(1), num(0.5), NULL);
    EXPECT(half, LAM_DIMS(3), 1, 1.5, 2.5);
    EXPECT_OK();
}
END_TEST

BODY(resized) {
    out[0] = lam_image_resize(in[0], LAM_DIMS(3, 2), &(lam_image_options){.method = LAM_IMAGE_LANCZOS3});
}

BODY(shifted) {
    const lam_image_options cubic = {.method = LAM_IMAGE_CUBIC};
    out[0] = lam_scale_and_translate(in[0], LAM_DIMS(2, 4), LAM_AXES(1), in[1], in[2], &cubic);
}

START_TEST(derivatives_of_images) {
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, -1, 5), *scale = VEC(1.3), *shift = VEC(0.4);
    const lam_check_grads_options twice = {.order = 2};
    ck_assert_int_eq(lam_check_grads(FN(resized, 1, 1), LAM_LIST(x), &twice), LAM_OK);
    ck_assert_int_eq(lam_check_grads(FN(shifted, 3, 1), LAM_LIST(x, scale, shift), &twice), LAM_OK);
    lam_tensor *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *shifts = MAT(2, 1, 0.4, -0.3);
    lam_fn *each = lam_vmap(FN(shifted, 3, 1), &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED, 0)});
    lam_tensor *second = lam_apply(FN(shifted, 3, 1), LAM_LIST(lam_exp(x), scale, VEC(-0.3)));
    lam_tensor *both = lam_stack(LAM_LIST(lam_apply(FN(shifted, 3, 1), LAM_LIST(x, scale, shift)), second), 0);
    EXPECT_SAME(lam_apply(each, LAM_LIST(xs, scale, shifts)), both, 1e-14);
    EXPECT_OK();
}
END_TEST

START_TEST(wrong_images) {
    lam_tensor *x = MAT(2, 3, 1, 2, 4, 3, -1, 5), *one = num(1), *none = lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 2));
    const lam_axes rows = LAM_AXES(0);
    lam_image_resize(x, LAM_DIMS(4), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "image_resize");
    lam_image_resize(x, LAM_DIMS(4, -2), NULL);
    EXPECT_ERROR(LAM_ERR_VALUE, "image_resize", "-2");
    lam_image_resize(none, LAM_DIMS(1, 2), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "image_resize");
    lam_image_resize(x, LAM_DIMS(4, 4), &(lam_image_options){.method = (lam_image_method)9});
    EXPECT_ERROR(LAM_ERR_OPTION, "image_resize");
    moved(x, LAM_DIMS(4, 4), LAM_AXES(0, 1), LAM_IMAGE_NEAREST);
    EXPECT_ERROR(LAM_ERR_OPTION, "scale_and_translate", "map_coordinates");
    moved(x, LAM_DIMS(4, 4), rows, LAM_IMAGE_LINEAR);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scale_and_translate", "1 axes");
    lam_scale_and_translate(x, LAM_DIMS(4, 4), rows, one, one, NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "scale_and_translate", "axis 1");
    lam_scale_and_translate(x, LAM_DIMS(4, 3), LAM_AXES(2), one, one, NULL);
    EXPECT_ERROR(LAM_ERR_AXIS, "scale_and_translate");
    lam_scale_and_translate(x, LAM_DIMS(4, 3), rows, lam_cast(one, LAM_C128), one, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "scale_and_translate");
}
END_TEST

/* Points between ends that are further apart than the largest number, which is 1.797e308. Integers are the whole
 * numbers below, as numpy has them. */
START_TEST(points_between_far_ends) {
    EXPECT(lam_linspace(ctx, LAM_F64, -1.5e308, 1.5e308, 5), LAM_DIMS(5), -1.5e308, -0.75e308, 0, 0.75e308, 1.5e308);
    EXPECT(lam_linspace(ctx, LAM_F64, 1.7e308, -1.7e308, 2), LAM_DIMS(2), 1.7e308, -1.7e308);
    EXPECT(lam_linspace(ctx, LAM_I64, -2.5, 2.5, 5), LAM_DIMS(5), -3, -2, 0, 1, 2);
    EXPECT(lam_linspace(ctx, LAM_I32, 3, -4, 4), LAM_DIMS(4), 3, 0, -2, -4);
}
END_TEST

Suite *suite_primitives_grids(void) {
    Suite *suite =
        SUITE_OF("primitives/grids", convolutions_of_planes, complex_planes, wrong_planes, trends,
                 interpolation_on_grids, nearest_elements_of_halves_and_large_numbers, derivatives_of_interpolation,
                 wrong_places, images_of_other_sizes, derivatives_of_images, wrong_images, points_between_far_ends);
    suite_loop(suite, windows_larger_than_planes, 4);
    return suite;
}
