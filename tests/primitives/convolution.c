/* What convolutions and windows are given by users: paddings by name, layouts, transposed convolutions, vectors,
 * pooling.
 * Values marked JAX are those of jax.lax 0.10.2, values marked NumPy those of numpy.convolve and correlate; the rest is
 * worked out by hand. */
#include "tests/support.h"

static lam_tensor *counted(lam_dims dims, double first) {
    double count = 1;
    for (int i = 0; i < dims.rank; i++) count *= (double)dims.dims[i];
    return lam_reshape(lam_arange(ctx, LAM_F64, first, first + count, 1), dims);
}

static lam_tensor *picture(void) {
    return counted(LAM_DIMS(1, 2, 3, 4), -10);
}

/* Element i is 7 i modulo 5, less 2. */
static lam_tensor *weights(void) {
    return lam_array(ctx, LAM_F64, LAM_DIMS(2, 2, 2, 2),
                     (double[]){-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2});
}

/* JAX */
START_TEST(padding_by_name) {
    lam_tensor *same =
        lam_conv_general(picture(), weights(), &(lam_conv_options){.strides = LAM_DIMS(2, 1), .padding = LAM_PAD_SAME});
    EXPECT(same, LAM_DIMS(1, 2, 2, 4), 23, 23, 23, 13, -8, -11, -14, 11, 6, 4, 2, 32, 10, 11, 12, 25);
    lam_tensor *lower = lam_conv_general(picture(), weights(),
                                         &(lam_conv_options){.strides = LAM_DIMS(2, 1), .padding = LAM_PAD_SAME_LOWER});
    EXPECT(lower, LAM_DIMS(1, 2, 2, 4), 14, -5, -2, 1, 10, 23, 23, 23, -4, 16, 13, 10, -32, -2, -4, -6);
    lam_tensor *valid = lam_conv_general(picture(), weights(),
                                         &(lam_conv_options){.strides = LAM_DIMS(2, 1), .padding = LAM_PAD_VALID});
    EXPECT(valid, LAM_DIMS(1, 2, 1, 3), 23, 23, 23, 6, 4, 2);
}
END_TEST

/* JAX */
START_TEST(layouts_name_the_axes) {
    lam_tensor *x = lam_transpose(picture(), LAM_AXES(0, 2, 3, 1)), *w = lam_transpose(weights(), LAM_AXES(2, 3, 1, 0));
    lam_conv_options o = {.strides = LAM_DIMS(1, 2),
                          .padding = LAM_PAD_SAME,
                          .layout_x = "NHWC",
                          .layout_w = "HWIO",
                          .layout_out = "NCHW"};
    EXPECT(lam_conv_general(x, w, &o), LAM_DIMS(1, 2, 3, 2), 23, 23, 23, 23, -8, -14, 6, 2, -2, -6, 10, 12);
    o.layout_out = "WNCH";
    EXPECT(lam_conv_general(x, w, &o), LAM_DIMS(2, 1, 2, 3), 23, 23, -8, 6, -2, 10, 23, 23, -14, 2, -6, 12);
    static const char *const wrong[] = {"NHW", "NHWW", "NHWX", "NHWCD", "HWIO", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        o.layout_out = wrong[i];
        ck_assert(lam_failed(lam_conv_general(x, w, &o)));
        EXPECT_ERROR(LAM_ERR_OPTION, "conv_general", "layout");
    }
}
END_TEST

/* JAX; transpose_kernel is transpose_window. */
START_TEST(transposed_convolutions) {
    lam_tensor *x = lam_array(ctx, LAM_F64, LAM_DIMS(1, 1, 4), (double[]){1, 2, -1, 3});
    lam_tensor *w = lam_array(ctx, LAM_F64, LAM_DIMS(1, 1, 3), (double[]){1, -2, 4});
    lam_conv_options o = {.strides = LAM_DIMS(2), .padding = LAM_PAD_SAME};
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 8), 4, -2, 9, -4, -2, 2, 11, -6);
    o.transpose_window = true;
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 8), 1, -2, 6, -4, 7, 2, -1, -6);
    o.padding = LAM_PAD_VALID;
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 9), 1, -2, 6, -4, 7, 2, -1, -6, 12);
    o = (lam_conv_options){.strides = LAM_DIMS(2), .pad_low = LAM_DIMS(1), .pad_high = LAM_DIMS(2)};
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 8), -2, 9, -4, -2, 2, 11, -6, 3);
    o = (lam_conv_options){.strides = LAM_DIMS(3), .window_dilation = LAM_DIMS(2), .padding = LAM_PAD_SAME};
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 12), 0, -2, 8, 1, -4, -4, 2, 2, 12, -1, -6, 0);
    o = (lam_conv_options){.window_dilation = LAM_DIMS(2), .padding = LAM_PAD_VALID};
    EXPECT(lam_conv_transpose(x, w, &o), LAM_DIMS(1, 1, 8), 4, 8, -6, 8, 3, -4, -1, 3);
    o.feature_groups = 2;
    lam_conv_transpose(x, w, &o);
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_transpose", "lam_conv_general");
    o = (lam_conv_options){.strides = LAM_DIMS(0), .padding = LAM_PAD_SAME};
    lam_conv_transpose(x, w, &o);
    EXPECT_ERROR(LAM_ERR_VALUE, "conv_transpose");
}
END_TEST

/* transpose_window makes it the transpose of the convolution with the same options: <y, A x> = <A' y, x>. */
START_TEST(the_transpose_of_a_strided_convolution) {
    lam_tensor *x = lam_sin(counted(LAM_DIMS(2, 3, 8, 7), 0)), *w = lam_cos(counted(LAM_DIMS(4, 3, 3, 2), 0));
    lam_conv_options o = {.strides = LAM_DIMS(2, 3), .padding = LAM_PAD_VALID, .transpose_window = true};
    lam_tensor *y = lam_conv_general(x, w, &o), *cotangent = lam_sin(lam_mul(2.0, y));
    lam_tensor *back = lam_conv_transpose(cotangent, w, &o); /* [2, 3, 7, 5]: what no window met is missing */
    lam_tensor *met = lam_slice(x, LAM_DIMS(0, 0, 0, 0), lam_dims_of(back), LAM_DIMS0);
    EXPECT_SAME(lam_sum(lam_mul(met, back), NULL), lam_sum(lam_mul(cotangent, y), NULL), 1e-12);
}
END_TEST

/* NumPy */
START_TEST(vectors_as_numpy_has_them) {
    lam_tensor *a = VEC(1, 2, 3, -1), *b = VEC(2, -1, 0.5), *c = VEC(1, 2);
    for (int swap = 0; swap < 2; swap++) {
        lam_tensor *x = swap ? b : a, *y = swap ? a : b;
        EXPECT(lam_convolve(x, y, LAM_CONVOLVE_FULL), LAM_DIMS(6), 2, 3, 4.5, -4, 2.5, -0.5);
        EXPECT(lam_convolve(x, y, LAM_CONVOLVE_SAME), LAM_DIMS(4), 3, 4.5, -4, 2.5);
        EXPECT(lam_convolve(x, y, LAM_CONVOLVE_VALID), LAM_DIMS(2), 4.5, -4);
    }
    EXPECT(lam_correlate(a, b, LAM_CONVOLVE_FULL), LAM_DIMS(6), 0.5, 0, 1.5, 0.5, 7, -2);
    EXPECT(lam_correlate(b, a, LAM_CONVOLVE_FULL), LAM_DIMS(6), -2, 7, 0.5, 1.5, 0, 0.5);
    EXPECT(lam_correlate(a, b, LAM_CONVOLVE_SAME), LAM_DIMS(4), 0, 1.5, 0.5, 7);
    EXPECT(lam_correlate(b, a, LAM_CONVOLVE_SAME), LAM_DIMS(4), 7, 0.5, 1.5, 0);
    EXPECT(lam_correlate(c, b, LAM_CONVOLVE_SAME), LAM_DIMS(3), 0, 0, 4);
    EXPECT(lam_correlate(b, c, LAM_CONVOLVE_SAME), LAM_DIMS(3), 4, 0, 0);
    EXPECT(lam_correlate(a, b, LAM_CONVOLVE_VALID), LAM_DIMS(2), 1.5, 0.5);
    EXPECT(lam_correlate(b, c, LAM_CONVOLVE_VALID), LAM_DIMS(2), 0, 0);
    lam_convolve(a, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "convolve", "empty");
    lam_correlate(a, MAT(1, 1, 1), LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_RANK, "correlate");
    lam_convolve(a, b, (lam_convolve_mode)7);
    EXPECT_ERROR(LAM_ERR_OPTION, "convolve", "7");
}
END_TEST

BODY(largest_weighted) {
    lam_window_options o = {.window = LAM_DIMS(2, 2), .strides = LAM_DIMS(1, 2), .padding = LAM_PAD_SAME};
    out[0] = lam_sum(lam_mul(lam_reduce_window_max(in[0], &o), MAT(3, 2, 1, 2, 3, 4, 5, 6)), NULL);
}

/* JAX; of equal elements the first has the gradient. */
START_TEST(pooling) {
    lam_tensor *x = MAT(3, 4, 1, 5, 2, 5, 7, 7, 0, 1, 3, 2, 9, 9);
    lam_window_options o = {.window = LAM_DIMS(2, 2), .strides = LAM_DIMS(1, 2), .padding = LAM_PAD_SAME};
    EXPECT(lam_max_pool(x, &o), LAM_DIMS(3, 2), 7, 5, 7, 9, 3, 9);
    EXPECT(apply1(lam_grad(FN(largest_weighted, 1, 1), NULL), x), LAM_DIMS(3, 4), 0, 0, 0, 2, 4, 0, 0, 0, 5, 0, 10, 0);
    o = (lam_window_options){.window = LAM_DIMS(2, 3), .padding = LAM_PAD_SAME};
    EXPECT_NEAR(lam_avg_pool(x, &o), 1e-15, LAM_DIMS(2, 2), 10. / 3, 4. / 3, 5. / 6, 3);
    o.exclude_padding = true; /* windows have 4, 4, 2 and 2 elements: one column of padding in front, one row below */
    EXPECT(lam_avg_pool(x, &o), LAM_DIMS(2, 2), 5, 2, 2.5, 9);
    EXPECT(lam_max_pool(VEC(3, 1, 4, 1, 5), &(lam_window_options){.window = LAM_DIMS(2)}), LAM_DIMS(2), 3, 4);
    lam_tensor *whole = lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){1, 2});
    EXPECT(lam_avg_pool(whole, &(lam_window_options){.window = LAM_DIMS(2)}), LAM_DIMS(1), 1.5);
}
END_TEST

static const lam_window_options pairs_by_three = {
    .window = {2, (int64_t[]){2, 3}}, .strides = {2, (int64_t[]){1, 2}}, .padding = LAM_PAD_SAME};

BODY(largest_of_pairs) {
    out[0] = lam_reduce_window_max(in[0], &pairs_by_three);
}
BODY(scattered_to_largest) {
    out[0] = lam_select_and_scatter_add(lam_sin(in[0]), lam_square(lam_reduce_window_sum(in[0], &pairs_by_three)),
                                        false, &pairs_by_three);
}
BODY(scattered_to_smallest) {
    out[0] = lam_select_and_scatter_add(in[0], in[1], true, &(lam_window_options){.window = LAM_DIMS(2)});
}

/* What lax.select_and_scatter_add gives by hand; for cotangents of the largest it is the gradient. */
START_TEST(places_of_windows_are_added_to) {
    lam_window_options side = {.window = LAM_DIMS(2), .strides = LAM_DIMS(2)}, sliding = {.window = LAM_DIMS(2)};
    lam_tensor *x = VEC(3, 1, 4, 4, 5), *waves = lam_sin(lam_iota(ctx, LAM_F64, LAM_DIMS(20), 0));
    EXPECT(lam_select_and_scatter_add(x, VEC(10, 20), false, &side), LAM_DIMS(5), 10, 0, 20, 0, 0);
    EXPECT(lam_select_and_scatter_add(x, VEC(10, 20), true, &side), LAM_DIMS(5), 0, 10, 20, 0, 0);
    EXPECT(lam_select_and_scatter_add(x, VEC(1, 2, 3, 4), false, &sliding), LAM_DIMS(5), 1, 0, 5, 0, 4);
    lam_tensor *whole =
        lam_select_and_scatter_add(lam_cast(VEC(3, 1, 4), LAM_I64), lam_cast(VEC(1, 2), LAM_F32), false, &sliding);
    ck_assert_int_eq(lam_dtype_of(whole), LAM_F32);
    EXPECT(lam_cast(whole, LAM_F64), LAM_DIMS(3), 1, 0, 2);
    lam_fn *largest = FN(largest_of_pairs, 1, 1), *back;
    lam_tensor *y, *at = lam_reshape(waves, LAM_DIMS(4, 5)), *g = lam_cos(apply1(largest, at));
    ck_assert_int_eq(lam_vjp(largest, LAM_LIST(at), &y, 1, &back, NULL), LAM_OK);
    EXPECT_SAME(lam_select_and_scatter_add(at, g, false, &pairs_by_three), apply1(back, g), 0);
    ck_assert_int_eq(lam_check_grads(FN(scattered_to_largest, 1, 1), LAM_LIST(at), NULL), LAM_OK);
    lam_tensor *rows = MAT(2, 3, 3, 1, 4, 1, 5, 9), *sums = MAT(2, 2, 1, 2, 3, 4);
    EXPECT(apply2(lam_vmap(FN(scattered_to_smallest, 2, 1), NULL), rows, sums), LAM_DIMS(2, 3), 0, 3, 0, 3, 4, 0);
    EXPECT_OK();
    lam_select_and_scatter_add(x, VEC(10, 20, 30), false, &side);
    EXPECT_ERROR(LAM_ERR_SHAPE, "select_and_scatter_add", "each window");
    lam_select_and_scatter_add(x, VEC(10, 20), false, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "select_and_scatter_add");
}
END_TEST

START_TEST(nan_wins_in_windows) {
    lam_tensor *x = VEC(1, NAN, 3, 2, NAN, NAN);
    lam_window_options o = {.window = LAM_DIMS(2)};
    EXPECT(lam_reduce_window_max(x, &o), LAM_DIMS(5), NAN, NAN, 3, NAN, NAN);
    EXPECT(lam_reduce_window_min(x, &o), LAM_DIMS(5), NAN, NAN, 2, NAN, NAN);
    EXPECT(lam_reduce_window_argmax(x, &o), LAM_DIMS(5), 1, 1, 2, 4, 4);
    EXPECT(lam_reduce_window_argmin(x, &o), LAM_DIMS(5), 1, 1, 3, 4, 4);
}
END_TEST

/* A window costs what it meets, not what it is long. */
START_TEST(windows_far_longer_than_the_operand) {
    const int64_t n = (int64_t)1 << 40;
    lam_window_options o = {.window = LAM_DIMS(n), .pad_low = LAM_DIMS(n - 1), .pad_high = LAM_DIMS(2)};
    EXPECT(lam_reduce_window_max(VEC(1, 5, 2), &o), LAM_DIMS(5), 1, 5, 5, 5, 5);
    EXPECT(lam_reduce_window_sum(VEC(1, 5, 2), &o), LAM_DIMS(5), 1, 6, 8, 8, 8);
    EXPECT(lam_reduce_window_argmin(VEC(4, 5, 2), &o), LAM_DIMS(5), 0, 0, 2, 2, 2);
    o = (lam_window_options){.window = LAM_DIMS(n), .pad_high = LAM_DIMS(n - 1), .input_dilation = LAM_DIMS(3)};
    EXPECT(lam_reduce_window_min(VEC(1, 5, 2), &o), LAM_DIMS(7), 1, 2, 2, 2, 2, 2, 2);
}
END_TEST

BODY(padded_maximum) {
    lam_window_options o = {.window = LAM_DIMS(2), .pad_low = LAM_DIMS(3), .pad_high = LAM_DIMS(0)};
    out[0] = lam_sum(lam_where(lam_is_finite(lam_reduce_window_max(in[0], &o)), lam_reduce_window_max(in[0], &o), 0.0),
                     NULL);
}

START_TEST(windows_without_elements_are_neutral_and_have_no_derivative) {
    lam_window_options o = {.window = LAM_DIMS(2), .pad_low = LAM_DIMS(3)};
    EXPECT(lam_reduce_window_max(VEC(1, 2), &o), LAM_DIMS(4), -INFINITY, -INFINITY, 1, 2);
    EXPECT(lam_reduce_window_min(VEC(1, 2), &o), LAM_DIMS(4), INFINITY, INFINITY, 1, 1);
    EXPECT(lam_reduce_window_argmax(VEC(1, 2), &o), LAM_DIMS(4), 2, 2, 0, 1);
    EXPECT(apply1(lam_grad(FN(padded_maximum, 1, 1), NULL), VEC(1, 2)), LAM_DIMS(2), 1, 1);
}
END_TEST

/* The patches of this convolution would take 49 MB at once, x and the result take 1 MB each. */
START_TEST(patches_take_bounded_memory) {
    lam_ctx *small = lam_ctx_new(&(lam_ctx_options){.memory_limit = 8 << 20});
    lam_tensor *x = lam_full(small, LAM_F64, LAM_DIMS(2, 16, 64, 64), 0.5);
    lam_tensor *w = lam_full(small, LAM_F64, LAM_DIMS(16, 16, 7, 7), 0.25);
    lam_tensor *y = lam_conv_general(x, w, NULL);
    ck_assert_msg(!lam_failed(y), "%s", lam_error(small));
    ck_assert_double_eq(lam_item(lam_max_reduce(y, NULL)), 98);
    ck_assert_double_eq(lam_item(lam_min_reduce(y, NULL)), 98);
    lam_ctx_free(small);
}
END_TEST

/* Elements 2^40 apart, of which every place of the result meets one, or none: no loop runs over the gaps. With gaps of
 * 3 and steps of 2, by hand: x at 0, 3, 6 and w at 0, 1 gives places 0, 2, 4 and 6. */
START_TEST(gaps_cost_nothing) {
    const int64_t far = (int64_t)1 << 40;
    lam_tensor *x = lam_reshape(VEC(1, 2, 3), LAM_DIMS(1, 1, 3)), *w = lam_reshape(VEC(5, 7), LAM_DIMS(1, 1, 2));
    lam_conv_options o = {.input_dilation = {1, &far}, .strides = {1, &far}};
    EXPECT(lam_conv_general(x, w, &o), LAM_DIMS(1, 1, 2), 5, 10);
    o.pad_low = LAM_DIMS(1), o.pad_high = LAM_DIMS(1);
    EXPECT(lam_conv_general(x, w, &o), LAM_DIMS(1, 1, 3), 7, 14, 21);
    o = (lam_conv_options){.input_dilation = LAM_DIMS(3), .strides = LAM_DIMS(2), .pad_high = LAM_DIMS(1)};
    EXPECT(lam_conv_general(x, w, &o), LAM_DIMS(1, 1, 4), 5, 14, 0, 15);
}
END_TEST

/* Sizes around those of the blocks, against the sum over the window written with slices. */
START_TEST(long_convolutions_equal_the_sum_over_the_window) {
    static const int64_t sizes[][4] = {
        {1500, 40, 2, 3}, {300, 1, 3, 200}, {70, 30, 2, 3}, {3000, 3, 90, 2}, {9, 3, 700, 5}};
    const int64_t *s = sizes[_i], n = s[0], k = s[1], c = s[2], o = s[3], places = n - k + 1;
    lam_tensor *x = lam_sin(counted(LAM_DIMS(2, c, n), 1)), *w = lam_cos(counted(LAM_DIMS(o, c, k), 1)), *want = NULL;
    for (int64_t i = 0; i < k; i++) {
        lam_tensor *part = lam_einsum("ncp,oc->nop", LAM_LIST(lam_slice_axis(x, 2, i, i + places), lam_index(w, 2, i)));
        want = want ? lam_add(want, part) : part;
    }
    EXPECT_SAME(lam_conv_general(x, w, NULL), want, 1e-10);
}
END_TEST

/* With windows of one element, and with those that have all of x, sums are products of matrices: as they lie, turned
 * over, and with axes that do not join in memory; one or three examples, one or two groups. */
START_TEST(windows_of_one_element_and_of_all_are_products) {
    enum { C = 2, O = 3, H = 4, W = 5 };
    const int64_t n = _i & 1 ? 3 : 1, groups = _i & 2 ? 2 : 1;
    const lam_conv_options options = {.feature_groups = groups};
    lam_tensor *x = lam_sin(counted(LAM_DIMS(n, groups * C, H, W), 1));
    lam_tensor *w = lam_cos(counted(LAM_DIMS(groups * O, C, H, W), 1));
    if (_i & 4) x = lam_reverse(x, LAM_AXES(2, 3)), w = lam_reverse(w, LAM_AXES(2, 3));
    if (_i & 8) x = lam_moveaxis(lam_contiguous(lam_moveaxis(x, 2, 3)), 2, 3);
    lam_tensor *one = lam_slice_axis(lam_slice_axis(w, 2, 1, 2), 3, 2, 3);
    lam_tensor *parts = lam_reshape(x, LAM_DIMS(n, groups, C, H, W)),
               *all = lam_reshape(w, LAM_DIMS(groups, O, C, H, W));
    lam_tensor *want = lam_einsum("ngchw,goc->ngohw", LAM_LIST(parts, lam_reshape(one, LAM_DIMS(groups, O, C))));
    EXPECT_SAME(lam_conv_general(x, one, &options), lam_reshape(want, LAM_DIMS(n, groups * O, H, W)), 1e-13);
    want = lam_einsum("ngchw,gochw->ngo", LAM_LIST(parts, all));
    EXPECT_SAME(lam_conv_general(x, w, &options), lam_reshape(want, LAM_DIMS(n, groups * O, 1, 1)), 1e-13);
}
END_TEST

BODY(strided) {
    out[0] = lam_conv_general(in[0], in[1], env);
}

/* Gradients by x of strided convolutions are gathered from products, or go by phases where sums have few terms or
 * features fill vectors. Both against the convolution's matrix, whose rows are convolutions of unit pictures: strides
 * below, at and above the window, what windows leave at the end, dilated windows, groups, one example, several, none,
 * results that take several items. All numbers are small integers, so sums are exact in any order. */
START_TEST(gradients_of_strided_convolutions_are_their_transposes) {
    static const struct {
        int64_t n, c, o, size, window, stride, spread, groups, sides;
        lam_padding padding;
    } cases[] = {
        {3, 2, 8, 15, 5, 2, 1, 1, 1, LAM_PAD_SAME},    {1, 2, 8, 22, 4, 4, 1, 1, 1, LAM_PAD_VALID},
        {2, 3, 5, 23, 3, 7, 1, 1, 1, LAM_PAD_VALID},   {2, 2, 9, 21, 3, 2, 3, 1, 1, LAM_PAD_SAME},
        {2, 6, 12, 12, 3, 2, 1, 2, 1, LAM_PAD_SAME},   {0, 2, 8, 12, 3, 2, 1, 1, 1, LAM_PAD_SAME},
        {2, 3, 10, 9, 3, 2, 1, 1, 2, LAM_PAD_SAME},    {1, 2, 6, 10, 4, 4, 1, 1, 2, LAM_PAD_SAME_LOWER},
        {2, 2, 7, 11, 2, 3, 1, 1, 2, LAM_PAD_VALID},   {2, 20, 2, 7, 2, 4, 1, 1, 2, LAM_PAD_SAME},
        {2, 1, 1, 8, 3, 2, 1, 1, 2, LAM_PAD_SAME},     {1, 1, 4, 5, 3, 2, 1, 1, 3, LAM_PAD_SAME},
        {2, 1, 4, 999, 65, 16, 1, 1, 1, LAM_PAD_SAME}, {2, 1, 3, 40, 16, 16, 1, 1, 1, LAM_PAD_SAME},
    };
    const int64_t side[3] = {cases[_i].size, cases[_i].size, cases[_i].size};
    const int64_t window[3] = {cases[_i].window, cases[_i].window, cases[_i].window};
    const int64_t step[3] = {cases[_i].stride, cases[_i].stride, cases[_i].stride};
    const int64_t spread[3] = {cases[_i].spread, cases[_i].spread, cases[_i].spread};
    const int64_t n = cases[_i].n, c = cases[_i].c, o = cases[_i].o, groups = cases[_i].groups;
    const int axes = (int)cases[_i].sides;
    lam_conv_options options = {.strides = {axes, step},
                                .window_dilation = {axes, spread},
                                .padding = cases[_i].padding,
                                .feature_groups = groups};
    int64_t all = c, x_dims[5] = {n, c}, w_dims[5] = {o, c / groups}, units[5] = {0, c};
    for (int i = 0; i < axes; i++) {
        all *= side[i];
        x_dims[2 + i] = units[2 + i] = side[i];
        w_dims[2 + i] = window[i];
    }
    units[0] = all;
    lam_tensor *x = lam_zeros(ctx, LAM_F64, (lam_dims){2 + axes, x_dims}), *out[1];
    lam_tensor *w = lam_floor(lam_mul(5.0, lam_cos(counted((lam_dims){2 + axes, w_dims}, 0))));
    lam_fn *pullback;
    const int by = 0;
    ck_assert_int_eq(lam_vjp(FN_ENV(strided, 2, 1, &options), LAM_LIST(x, w), out, 1, &pullback,
                             &(lam_grad_options){.argnums = {1, &by}}),
                     LAM_OK);
    lam_tensor *y = lam_floor(lam_mul(5.0, lam_sin(counted(lam_dims_of(out[0]), 1))));
    lam_tensor *unit = lam_reshape(lam_eye(ctx, LAM_F64, all, all), (lam_dims){2 + axes, units});
    lam_tensor *rows = lam_conv_general(unit, w, &options);
    const int64_t places = lam_size(rows) / all;
    lam_tensor *want = lam_einsum(
        "ap,np->na", LAM_LIST(lam_reshape(rows, LAM_DIMS(all, places)), lam_reshape(y, LAM_DIMS(n, places))));
    lam_tensor *got = lam_apply(pullback, LAM_LIST(y));
    EXPECT_SAME(lam_reshape(got, LAM_DIMS(n, all)), want, 0);
    lam_tensor *both = lam_apply(lam_vmap(pullback, NULL), LAM_LIST(lam_stack(LAM_LIST(y, y), 0)));
    EXPECT_SAME(both, lam_stack(LAM_LIST(got, got), 0), 0);
}
END_TEST

START_TEST(impossible_options_are_refused) {
    lam_tensor *x = picture(), *w = weights();
    lam_conv_general(x, w, &(lam_conv_options){.feature_groups = -1});
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_general", "groups");
    lam_conv_general(x, w, &(lam_conv_options){.feature_groups = 2, .batch_groups = 2});
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_general", "groups");
    lam_conv_general(x, w, &(lam_conv_options){.strides = LAM_DIMS(1)});
    EXPECT_ERROR(LAM_ERR_SHAPE, "conv_general", "1 strides", "2 axes");
    lam_conv_general(x, w, &(lam_conv_options){.padding = (lam_padding)9});
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_general", "9");
    lam_conv_general(x, w, &(lam_conv_options){.padding = LAM_PAD_SAME, .pad_low = LAM_DIMS(1, 1)});
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_general", "padding");
    lam_conv_general(x, w, &(lam_conv_options){.strides = {2, NULL}});
    EXPECT_ERROR(LAM_ERR_NULL, "conv_general");
    lam_max_pool(x, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "reduce_window_max", "window");
}
END_TEST

Suite *suite_primitives_convolution(void) {
    Suite *suite = SUITE_OF("primitives/convolution", padding_by_name, layouts_name_the_axes, transposed_convolutions,
                            the_transpose_of_a_strided_convolution, vectors_as_numpy_has_them, pooling,
                            places_of_windows_are_added_to, nan_wins_in_windows, windows_far_longer_than_the_operand,
                            windows_without_elements_are_neutral_and_have_no_derivative, patches_take_bounded_memory,
                            gaps_cost_nothing, impossible_options_are_refused);
    suite_loop(suite, windows_of_one_element_and_of_all_are_products, 16);
    suite_loop(suite, gradients_of_strided_convolutions_are_their_transposes, 14);
    suite_loop(suite, long_convolutions_equal_the_sum_over_the_window, 5);
    return suite;
}
