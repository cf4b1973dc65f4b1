/* Windows as features and convolutions without shared weights, and what is put around with them from NumPy: values by
 * hand and from JAX 0.10.2, against convolutions where weights are the same everywhere, derivatives against
 * differences, vmap, what is refused. */
#include "tests/support.h"

static lam_tensor *counted(lam_dims dims) {
    int64_t n = 1;
    for (int i = 0; i < dims.rank; i++) n *= dims.dims[i];
    return lam_reshape(lam_arange(ctx, LAM_F64, 1, (double)n + 1, 1), dims);
}

START_TEST(windows_as_features) {
    const lam_window_options two = {.window = LAM_DIMS(2)};
    EXPECT(lam_conv_patches(MAT(2, 3, 1, 2, 3, 4, 5, 6), &two), LAM_DIMS(4, 2), 1, 2, 2, 3, 4, 5, 5, 6);
    const lam_window_options square = {.window = LAM_DIMS(2, 2), .padding = LAM_PAD_SAME, .strides = LAM_DIMS(2, 1)};
    EXPECT(lam_conv_patches(counted(LAM_DIMS(1, 3, 2)), &square), LAM_DIMS(4, 2, 2), 1, 2, 5, 6, 2, 0, 6, 0, 3, 4, 0, 0,
           4, 0, 0, 0);
    /* 0 1 0 2 0 3: the first and third element of windows of three */
    const lam_window_options wide = {
        .window = LAM_DIMS(2), .pad_low = LAM_DIMS(1), .input_dilation = LAM_DIMS(2), .window_dilation = LAM_DIMS(2)};
    EXPECT(lam_conv_patches(MAT(1, 3, 1, 2, 3), &wide), LAM_DIMS(2, 4), 0, 1, 0, 2, 0, 2, 0, 3);
    const lam_window_options cut = {.window = LAM_DIMS(1), .pad_low = LAM_DIMS(-1), .pad_high = LAM_DIMS(-1)};
    EXPECT(lam_conv_patches(MAT(1, 4, 1, 2, 3, 4), &cut), LAM_DIMS(1, 2), 2, 3);
    EXPECT_OK();
}
END_TEST

/* Nothing is multiplied: infinities are where they were, and every dtype has windows. */
START_TEST(windows_of_anything) {
    const lam_window_options two = {.window = LAM_DIMS(2), .pad_high = LAM_DIMS(1)};
    EXPECT(lam_conv_patches(MAT(1, 2, INFINITY, 1), &two), LAM_DIMS(2, 2), INFINITY, 1, 1, 0);
    lam_tensor *mask = lam_conv_patches(lam_gt(MAT(1, 2, 1, -1), 0), &two);
    ck_assert_int_eq(lam_dtype_of(mask), LAM_BOOL);
    EXPECT(mask, LAM_DIMS(2, 2), 1, 0, 0, 0);
    EXPECT_EMPTY(lam_conv_patches(MAT(1, 2, 1, 2), &(lam_window_options){.window = LAM_DIMS(5)}), LAM_DIMS(5, 0));
    EXPECT(lam_conv_patches(lam_zeros(ctx, LAM_F64, LAM_DIMS(1, 0)),
                            &(lam_window_options){.window = LAM_DIMS(2), .pad_low = LAM_DIMS(3)}),
           LAM_DIMS(2, 2), 0, 0, 0, 0);
    EXPECT_EMPTY(lam_conv_patches(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 1, 3)), &two), LAM_DIMS(0, 2, 3));
    EXPECT_OK();
}
END_TEST

/* Lists of a test, which are gone behind it. */
#define GEOMETRIES                                                                                                     \
    {                                                                                                                  \
        {.window = LAM_DIMS(3, 2)}, {.window = LAM_DIMS(2, 2), .strides = LAM_DIMS(1, 3), .padding = LAM_PAD_SAME},    \
            {.window = LAM_DIMS(2, 3),                                                                                 \
             .input_dilation = LAM_DIMS(2, 1),                                                                         \
             .window_dilation = LAM_DIMS(1, 2),                                                                        \
             .pad_low = LAM_DIMS(1, 0)},                                                                               \
            {.window = LAM_DIMS(1, 2), .pad_low = LAM_DIMS(-1, 2), .pad_high = LAM_DIMS(2, -1)},                       \
    }

/* Weights that are the same at all places make a convolution. */
START_TEST(shared_weights_are_a_convolution) {
    lam_window_options all[] = GEOMETRIES, o = all[_i];
    lam_tensor *x = lam_sin(counted(LAM_DIMS(2, 3, 4, 5)));
    lam_tensor *w = lam_cos(counted(LAM_DIMS(4, 3, o.window.dims[0], o.window.dims[1])));
    lam_conv_options same = {.strides = o.strides,
                             .padding = o.padding,
                             .pad_low = o.pad_low,
                             .pad_high = o.pad_high,
                             .input_dilation = o.input_dilation,
                             .window_dilation = o.window_dilation};
    lam_tensor *want = lam_conv_general(x, w, &same), *flat = lam_reshape(w, LAM_DIMS(4, -1, 1, 1));
    lam_tensor *everywhere = lam_broadcast_to(flat, LAM_DIMS(4, lam_dim(flat, 1), lam_dim(want, 2), lam_dim(want, 3)));
    EXPECT_SAME(lam_conv_local(x, everywhere, &o), want, 1e-13);
    EXPECT_OK();
}
END_TEST

BODY(patched) {
    out[0] = lam_conv_patches(in[0], env);
}

BODY(local) {
    out[0] = lam_conv_local(in[0], in[1], env);
}

START_TEST(windows_are_differentiated_and_batched) {
    lam_window_options all[] = GEOMETRIES, o = all[_i];
    lam_tensor *x = lam_sin(counted(LAM_DIMS(2, 4, 5))), *p = lam_conv_patches(x, &o);
    lam_tensor *w = lam_cos(counted(LAM_DIMS(2, lam_dim(p, 0), lam_dim(p, 1), lam_dim(p, 2))));
    lam_fn *f = FN_ENV(patched, 1, 1, &o), *g = FN_ENV(local, 2, 1, &o);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), NULL), LAM_OK);
    ck_assert_int_eq(lam_check_grads(g, LAM_LIST(x, w), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_tensor *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *ws = lam_stack(LAM_LIST(w, lam_exp(w)), 0);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), xs), apply1(f, xs), 0);
    EXPECT_SAME(apply2(lam_vmap(g, NULL), xs, ws),
                lam_stack(LAM_LIST(apply2(g, x, w), apply2(g, lam_exp(x), lam_exp(w))), 0), 1e-13);
    EXPECT_OK();
}
END_TEST

BODY(around) {
    lam_tensor *ramp = lam_pad_with(lam_square(in[0]), LAM_DIMS(0, 1), LAM_DIMS(1, 0), LAM_PAD_LINEAR_RAMP);
    out[0] = lam_mul(ramp, lam_pad_with(lam_sin(in[0]), LAM_DIMS(0, 1), LAM_DIMS(1, 0), LAM_PAD_MEDIAN));
}

START_TEST(medians_and_ramps_around) {
    lam_tensor *y = VEC(1, 2, 6), *whole = lam_array(ctx, LAM_I64, LAM_DIMS(2), (int64_t[]){8, 4});
    EXPECT(lam_pad_with(y, LAM_DIMS(1), LAM_DIMS(2), LAM_PAD_MEDIAN), LAM_DIMS(6), 2, 1, 2, 6, 2, 2);
    EXPECT(lam_pad_with(whole, LAM_DIMS(4), LAM_DIMS(2), LAM_PAD_LINEAR_RAMP), LAM_DIMS(8), 0, 2, 4, 6, 8, 4, 2, 0);
    EXPECT(lam_pad_with(MAT(2, 1, 4, 8), LAM_DIMS(1, 0), LAM_DIMS(1, 2), LAM_PAD_LINEAR_RAMP), LAM_DIMS(4, 3), 0, 0, 0,
           4, 2, 0, 8, 4, 0, 0, 0, 0);
    lam_tensor *z = lam_pad_with(lam_complex(VEC(2), VEC(-4)), LAM_DIMS(2), LAM_DIMS(0), LAM_PAD_LINEAR_RAMP);
    EXPECT(lam_imag(z), LAM_DIMS(3), 0, -2, -4);
    EXPECT_OK();
    lam_pad_with(z, LAM_DIMS(1), LAM_DIMS(1), LAM_PAD_MEDIAN);
    EXPECT_ERROR(LAM_ERR_DTYPE, "pad_with");
    lam_tensor *x = MAT(2, 3, 0.3, 0.7, -0.4, 1.1, 0.9, 0.2), *xs = lam_stack(LAM_LIST(x, lam_exp(x)), 0);
    lam_fn *f = FN(around, 1, 1);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
    EXPECT_SAME(apply1(lam_vmap(f, NULL), xs), lam_stack(LAM_LIST(apply1(f, x), apply1(f, lam_exp(x))), 0), 1e-15);
}
END_TEST

START_TEST(wrong_windows) {
    lam_tensor *x = MAT(1, 3, 1, 2, 3);
    const lam_window_options two = {.window = LAM_DIMS(2)}, none = {.window = LAM_DIMS(0)};
    lam_conv_patches(x, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_patches");
    lam_conv_patches(x, &none);
    EXPECT_ERROR(LAM_ERR_VALUE, "conv_patches");
    lam_conv_patches(VEC(1, 2, 3), &two);
    EXPECT_ERROR(LAM_ERR_RANK, "conv_patches", "features");
    lam_conv_patches(VEC(1, 2, 3), &(lam_window_options){.window = LAM_DIMS(1, 1)});
    EXPECT_ERROR(LAM_ERR_RANK, "conv_patches");
    lam_conv_local(x, counted(LAM_DIMS(1, 2, 3)), &two);
    EXPECT_ERROR(LAM_ERR_SHAPE, "conv_local", "weights");
    lam_conv_local(x, counted(LAM_DIMS(2, 2)), &two);
    EXPECT_ERROR(LAM_ERR_SHAPE, "conv_local");
    lam_conv_local(x, x, NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "conv_local");
}
END_TEST

Suite *suite_primitives_patches(void) {
    Suite *suite = SUITE_OF("primitives/patches", windows_as_features, windows_of_anything, medians_and_ramps_around,
                            wrong_windows);
    suite_loop(suite, shared_weights_are_a_convolution, 4);
    suite_loop(suite, windows_are_differentiated_and_batched, 4);
    return suite;
}
