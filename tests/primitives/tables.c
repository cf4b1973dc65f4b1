/* Windows, progressions and Simpson's rule, sums and quotients of polynomials, statistics that leave NaN out, products
 * with vectors, and a few activations: values by hand, from NumPy, SciPy and mpmath; derivatives against differences,
 * vmap against one call per example. */
#include "tests/primitives/bodies.h"

#include <float.h>

#define INTEGERS(...)                                                                                                  \
    lam_array(ctx, LAM_I64, LAM_DIMS(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static lam_tensor *empty(void) {
    return lam_zeros(ctx, LAM_F64, LAM_DIMS(0));
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* By hand; kaiser from mpmath, the second where I0 itself is beyond the range. */
START_TEST(windows_taper_off) {
    EXPECT(lam_bartlett(ctx, LAM_F64, 5), LAM_DIMS(5), 0, 0.5, 1, 0.5, 0);
    EXPECT_NEAR(lam_bartlett(ctx, LAM_F64, 4), 1e-15, LAM_DIMS(4), 0, 2 / 3.0, 2 / 3.0, 0);
    EXPECT_NEAR(lam_hanning(ctx, LAM_F64, 5), 1e-15, LAM_DIMS(5), 0, 0.5, 1, 0.5, 0);
    EXPECT_NEAR(lam_hanning(ctx, LAM_F64, 4), 1e-15, LAM_DIMS(4), 0, 0.75, 0.75, 0);
    EXPECT_NEAR(lam_hamming(ctx, LAM_F64, 5), 1e-15, LAM_DIMS(5), 0.08, 0.54, 1, 0.54, 0.08);
    EXPECT_NEAR(lam_blackman(ctx, LAM_F64, 5), 1e-15, LAM_DIMS(5), 0, 0.34, 1, 0.34, 0);
    EXPECT_NEAR(lam_kaiser(ctx, LAM_F64, 5, 8.6), 1e-14, LAM_DIMS(5), 0.0013325139979024194914, 0.34039362244018859164,
                1, 0.34039362244018859164, 0.0013325139979024194914);
    EXPECT_NEAR(lam_kaiser(ctx, LAM_F64, 4, 1500), 1e-12, LAM_DIMS(4), 0, 5.704450868601588367e-38,
                5.704450868601588367e-38, 0);
    EXPECT(lam_kaiser(ctx, LAM_F64, 3, 0), LAM_DIMS(3), 1, 1, 1);
    EXPECT(lam_hamming(ctx, LAM_F64, 1), LAM_DIMS(1), 1);
    EXPECT_EMPTY(lam_hanning(ctx, LAM_F64, 0), LAM_DIMS(0));
    ck_assert_int_eq(lam_dtype_of(lam_blackman(ctx, LAM_BF16, 3)), LAM_BF16);
    EXPECT_SAME(lam_hanning(ctx, LAM_F32, 9), lam_cast(lam_hanning(ctx, LAM_F64, 9), LAM_F32), 0);
    lam_hanning(ctx, LAM_I64, 3);
    EXPECT_STATUS(LAM_ERR_DTYPE);
    lam_kaiser(ctx, LAM_F64, -3, 1);
    EXPECT_STATUS(LAM_ERR_VALUE);
    lam_kaiser(ctx, LAM_F64, 3, NAN);
    EXPECT_ERROR(LAM_ERR_VALUE, "kaiser");
}
END_TEST

START_TEST(numbers_in_geometric_progression) {
    EXPECT_NEAR(lam_geomspace(ctx, LAM_F64, 1, 1024, 5), 1e-15, LAM_DIMS(5), 1, 5.6568542494923801952, 32,
                181.01933598375616625, 1024);
    EXPECT_NEAR(lam_geomspace(ctx, LAM_F64, -1e-300, -1e300, 5), 1e-13, LAM_DIMS(5), -1e-300, -1e-150, -1, -1e150,
                -1e300);
    EXPECT(lam_geomspace(ctx, LAM_F64, 3, 7, 1), LAM_DIMS(1), 3);
    EXPECT(lam_geomspace(ctx, LAM_F64, 0.1, 0.7, 2), LAM_DIMS(2), 0.1, 0.7);
    EXPECT_EMPTY(lam_geomspace(ctx, LAM_F64, 3, 7, 0), LAM_DIMS(0));
    lam_geomspace(ctx, LAM_F64, -1, 2, 3);
    EXPECT_STATUS(LAM_ERR_VALUE);
    lam_geomspace(ctx, LAM_I32, 1, 2, 3);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

START_TEST(differences_with_ends) {
    EXPECT(lam_ediff1d(VEC(1, 2, 4, 7, 0), num(-99), VEC(88, 99)), LAM_DIMS(7), -99, 1, 2, 3, -7, 88, 99);
    EXPECT(lam_ediff1d(MAT(2, 2, 1, 2, 4, 7), NULL, NULL), LAM_DIMS(3), 1, 2, 3);
    EXPECT(lam_ediff1d(empty(), num(1), NULL), LAM_DIMS(1), 1);
    EXPECT_EMPTY(lam_ediff1d(num(3), NULL, NULL), LAM_DIMS(0));
    lam_ediff1d(lam_cast(VEC(1), LAM_BOOL), NULL, NULL);
    EXPECT_ERROR(LAM_ERR_DTYPE, "ediff1d");
    lam_ediff1d(VEC(1, 2), lam_cast(VEC(1), LAM_C128), NULL);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

/* scipy.integrate.simpson, and that parabolas are integrated exactly. */
START_TEST(integrals_by_parabolas) {
    lam_tensor *y = VEC(1, 3, 2, 5, 4, 7), *x = VEC(0, 1, 1.5, 3, 3.25, 5);
    EXPECT_NEAR(lam_simpson(y, NULL, 0.5, 0), 1e-14, LAM_DIMS0, 9.416666666666666);
    EXPECT_NEAR(lam_simpson(y, x, 1, 0), 1e-14, LAM_DIMS0, 19.135416666666668);
    lam_tensor *y5 = lam_slice_axis(y, 0, 0, 5), *x5 = lam_slice_axis(x, 0, 0, 5);
    EXPECT_NEAR(lam_simpson(y5, x5, 1, 0), 1e-14, LAM_DIMS0, 12.0625);
    EXPECT_NEAR(lam_simpson(y5, NULL, 0.5, 0), 1e-14, LAM_DIMS0, 41 / 6.0);
    EXPECT_NEAR(lam_simpson(lam_slice_axis(y, 0, 0, 4), lam_slice_axis(x, 0, 0, 4), 1, 0), 1e-14, LAM_DIMS0, 7.875);
    EXPECT(lam_simpson(lam_slice_axis(y, 0, 0, 2), NULL, 1, 0), LAM_DIMS0, 2);
    EXPECT(lam_simpson(VEC(3), NULL, 1, 0), LAM_DIMS0, 0);
    EXPECT(lam_simpson(empty(), NULL, 1, 0), LAM_DIMS0, 0);
    lam_tensor *squares = lam_square(x), *rows = lam_stack(LAM_LIST(squares, lam_mul(2, x)), 0);
    EXPECT_NEAR(lam_simpson(rows, x, 1, -1), 1e-14, LAM_DIMS(2), 125 / 3.0, 25);
    EXPECT_NEAR(lam_simpson(lam_matrix_transpose(rows), x, 1, 0), 1e-14, LAM_DIMS(2), 125 / 3.0, 25);
    EXPECT(lam_simpson(VEC(9, 9, 9, 9), VEC(3, 3, 3, 3), 1, 0), LAM_DIMS0, 0); /* samples that coincide */
    EXPECT_NEAR(lam_simpson(VEC(1, 2, 3, 5, 7), VEC(0, 0, 1, 2, 2), 1, 0), 1e-14, LAM_DIMS0, 14 / 3.0);
    EXPECT_NEAR(lam_simpson(VEC(1, 2, 3, 5), VEC(0, 1, 1, 2), 1, 0), 1e-14, LAM_DIMS0, 3);
    EXPECT_NEAR(lam_simpson(VEC(1, 2, 3, 5), VEC(0, 1, 2, 2), 1, 0), 1e-14, LAM_DIMS0, 4);
    ck_assert_int_eq(lam_dtype_of(lam_simpson(lam_cast(y, LAM_F32), NULL, 0.1, 0)), LAM_F32);
    EXPECT_NEAR(lam_simpson(INTEGERS(1, 4, 9), NULL, 1, 0), 1e-15, LAM_DIMS0, 26 / 3.0);
    lam_tensor *z = lam_simpson(lam_complex(y, lam_neg(x)), NULL, 0.5, 0);
    EXPECT_NEAR(lam_real(z), 1e-14, LAM_DIMS0, 9.416666666666666);
    EXPECT_SAME(lam_imag(z), lam_neg(lam_simpson(x, NULL, 0.5, 0)), 1e-14);
    lam_simpson(y, NULL, 1, 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "simpson");
    lam_simpson(y, x5, 1, 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "simpson");
}
END_TEST

/* numpy.interp, with left and right, and its example of angles; the lines at the ends by hand. */
START_TEST(points_with_other_ends) {
    const double left = -5, right = 7;
    lam_tensor *xp = VEC(0, 1, 3), *fp = VEC(1, 2, 0), *x = VEC(-1, 0.5, 1.5, 3, 9);
    EXPECT(lam_interp_with(x, xp, fp, &(lam_interp_options){.left = &left, .right = &right}), LAM_DIMS(5), -5, 1.5, 1.5,
           0, 7);
    EXPECT(lam_interp_with(x, xp, fp, &(lam_interp_options){.extrapolate = true}), LAM_DIMS(5), 0, 1.5, 1.5, 0, -6);
    EXPECT_SAME(lam_interp_with(x, xp, fp, NULL), lam_interp(x, xp, fp), 0);
    lam_tensor *angles = VEC(-180, -170, -185, 185, -10, -5, 0, 365);
    EXPECT(lam_interp_with(angles, VEC(190, -190, 350, -350), VEC(5, 10, 3, 4), &(lam_interp_options){.period = 360}),
           LAM_DIMS(8), 7.5, 5, 8.75, 6.25, 3, 3.25, 3.5, 3.75);
    EXPECT(lam_interp_with(VEC(1, 7), VEC(2), VEC(9), &(lam_interp_options){.period = 5}), LAM_DIMS(2), 9, 9);
    lam_interp_with(x, xp, fp, &(lam_interp_options){.period = -1});
    EXPECT_ERROR(LAM_ERR_VALUE, "interp_with");
    lam_interp_with(x, xp, VEC(1), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "interp_with");
}
END_TEST

/* numpy.gradient with coordinates; a parabola's slope is exact inside. */
START_TEST(slopes_at_places) {
    EXPECT_NEAR(lam_gradient_at(VEC(1, 2, 4, 7, 11, 16), VEC(0, 1, 1.5, 3.5, 4, 6), 0), 1e-15, LAM_DIMS(6), 1, 3, 3.5,
                6.7, 6.9, 2.5);
    EXPECT_NEAR(lam_gradient_at(MAT(2, 3, 1, 2, 6, 3, 4, 5), VEC(0, 1, 3), 1), 1e-15, LAM_DIMS(2, 3), 1, 4 / 3.0, 2, 1,
                5 / 6.0, 0.5);
    EXPECT_NEAR(lam_gradient_at(MAT(3, 1, 0, 1, 9), VEC(0, 1, 3), 0), 1e-15, LAM_DIMS(3, 1), 1, 2, 4);
    EXPECT(lam_gradient_at(INTEGERS(1, 4), INTEGERS(0, 2), -1), LAM_DIMS(2), 1.5, 1.5);
    lam_gradient_at(VEC(1), VEC(1), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "gradient_at");
    lam_gradient_at(VEC(1, 2, 3), VEC(1, 2), 0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "gradient_at");
    lam_gradient_at(VEC(1, 2, 3), VEC(1, 2, 3), 1);
    EXPECT_ERROR(LAM_ERR_AXIS, "gradient_at");
}
END_TEST

/* numpy.lib.stride_tricks.sliding_window_view. */
START_TEST(windows_that_slide) {
    lam_tensor *x = MAT(2, 3, 0, 1, 2, 3, 4, 5);
    EXPECT(lam_sliding_windows(x, LAM_DIMS(2, 2), LAM_DIMS0), LAM_DIMS(1, 2, 2, 2), 0, 1, 3, 4, 1, 2, 4, 5);
    EXPECT(lam_sliding_windows(x, LAM_DIMS(2), LAM_DIMS0), LAM_DIMS(2, 2, 2), 0, 1, 1, 2, 3, 4, 4, 5);
    EXPECT(lam_sliding_windows(VEC(0, 1, 2, 3, 4, 5), LAM_DIMS(3), LAM_DIMS(2)), LAM_DIMS(2, 3), 0, 1, 2, 2, 3, 4);
    EXPECT(lam_sliding_windows(num(3), LAM_DIMS0, LAM_DIMS0), LAM_DIMS0, 3);
    EXPECT_EMPTY(lam_sliding_windows(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), LAM_DIMS(2), LAM_DIMS0),
                 LAM_DIMS(0, 2, 2));
    lam_sliding_windows(x, LAM_DIMS(4), LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_SHAPE, "sliding_windows");
    lam_sliding_windows(x, LAM_DIMS(0), LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_VALUE, "sliding_windows");
    lam_sliding_windows(x, LAM_DIMS(1, 1, 1), LAM_DIMS0);
    EXPECT_ERROR(LAM_ERR_RANK, "sliding_windows");
    lam_sliding_windows(x, LAM_DIMS(2), LAM_DIMS(1, 1));
    EXPECT_ERROR(LAM_ERR_SHAPE, "sliding_windows");
}
END_TEST

START_TEST(shifts_from_tensors) {
    lam_tensor *x = VEC(0, 1, 2, 3), *shift = lam_index(INTEGERS(1), 0, 0);
    EXPECT(lam_roll_by(x, shift, 0), LAM_DIMS(4), 3, 0, 1, 2);
    EXPECT_SAME(lam_roll_by(x, lam_mul(shift, -6), 0), lam_roll(x, -6, 0), 0);
    EXPECT(lam_roll_by(MAT(2, 2, 1, 2, 3, 4), shift, -1), LAM_DIMS(2, 2), 2, 1, 4, 3);
    EXPECT_EMPTY(lam_roll_by(empty(), shift, 0), LAM_DIMS(0));
    lam_roll_by(x, INTEGERS(1, 2), 0);
    EXPECT_ERROR(LAM_ERR_RANK, "roll_by");
    lam_roll_by(x, num(1), 0);
    EXPECT_ERROR(LAM_ERR_DTYPE, "roll_by");
}
END_TEST

/* jax.nn.initializers of JAX 0.10.2 with key 42: glorot_uniform, he_normal, lecun_normal, variance_scaling. The inverse
 * error function of JAX differs in the last digits. */
START_TEST(weights_to_begin_with) {
    lam_tensor *key = lam_key(ctx, 42);
    const lam_variance_scaling_options glorot = {.fan = LAM_FAN_AVERAGE, .sample = LAM_FAN_UNIFORM}, he = {.scale = 2},
                                       out = {2, LAM_FAN_OUT, LAM_FAN_NORMAL, 0, 0},
                                       window = {.sample = LAM_FAN_UNIFORM, .in_axis = 1, .out_axis = 0};
    EXPECT_NEAR(lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &glorot), 1e-14, LAM_DIMS(3, 2),
                -0.16053185835655454, -1.0625597003572986, 0.16244228078666093, 0.5035079759024822, 0.41144993279659403,
                0.31535179249633755);
    EXPECT_NEAR(lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &he), 1e-13, LAM_DIMS(3, 2),
                -0.1635708306711834, -1.6575056618332804, 0.16553806201115648, 0.5392539767161572, 0.43220109376589494,
                0.32626155876040047);
    EXPECT_NEAR(lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), NULL), 1e-13, LAM_DIMS(3, 2),
                -0.11566204357191028, -1.172033493337409, 0.11705308619256796, 0.3813101437178073, 0.3056123242381072,
                0.2307017606399724);
    EXPECT_NEAR(lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &out), 1e-13, LAM_DIMS(3, 2),
                -0.18471174528191162, -2.169824560397754, 0.18693555179382582, 0.6122653570510959, 0.4896249504757018,
                0.36900430470828355);
    lam_tensor *w = lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(2, 3, 2), &window);
    EXPECT_NEAR(lam_index(w, 0, 0), 1e-14, LAM_DIMS(3, 2), -0.10362286899177726, -0.6858793373058267,
                0.10485604136778114, 0.3250130008921531, 0.2655897895865616, 0.2035587067558287);
    ck_assert_int_eq(lam_dtype_of(lam_random_variance_scaling(key, LAM_F32, LAM_DIMS(3, 2), NULL)), LAM_F32);
    EXPECT_EMPTY(lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(0, 2), NULL), LAM_DIMS(0, 2));
    lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "random_variance_scaling");
    lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &(lam_variance_scaling_options){.in_axis = 2});
    EXPECT_ERROR(LAM_ERR_AXIS, "random_variance_scaling");
    lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &(lam_variance_scaling_options){.scale = -1});
    EXPECT_ERROR(LAM_ERR_VALUE, "random_variance_scaling");
    lam_random_variance_scaling(key, LAM_F64, LAM_DIMS(3, 2), &(lam_variance_scaling_options){.fan = (lam_fan)5});
    EXPECT_ERROR(LAM_ERR_OPTION, "random_variance_scaling");
    lam_random_variance_scaling(key, LAM_I64, LAM_DIMS(3, 2), NULL);
    EXPECT_STATUS(LAM_ERR_DTYPE);
}
END_TEST

/* ---- polynomials ------------------------------------------------------------------------------------------------- */

/* numpy.poly, polyadd, polymul, polydiv. */
START_TEST(arithmetic_of_polynomials) {
    lam_tensor *q, *r;
    EXPECT(lam_poly(VEC(1, 2, 3)), LAM_DIMS(4), 1, -6, 11, -6);
    EXPECT(lam_poly(MAT(2, 2, 1, 2, -1, 3)), LAM_DIMS(2, 3), 1, -3, 2, 1, -2, -3);
    EXPECT(lam_poly(empty()), LAM_DIMS(1), 1);
    EXPECT(lam_real(lam_poly(lam_complex(VEC(0, 0), VEC(1, -1)))), LAM_DIMS(3), 1, 0, 1);
    EXPECT(lam_polyadd(VEC(1, 2, 3), VEC(5, 6)), LAM_DIMS(3), 1, 7, 9);
    EXPECT(lam_polysub(VEC(5, 6), MAT(2, 3, 1, 2, 3, 4, 5, 6)), LAM_DIMS(2, 3), -1, 3, 3, -4, 0, 0);
    EXPECT(lam_polymul(VEC(1, 2), INTEGERS(1, -1, 3)), LAM_DIMS(4), 1, 1, 1, 6);
    EXPECT_EMPTY(lam_polymul(VEC(1, 2), empty()), LAM_DIMS(0));
    ck_assert_int_eq(lam_polydiv(VEC(3, 5, 2), VEC(2, 1), &q, &r), LAM_OK);
    EXPECT(q, LAM_DIMS(2), 1.5, 1.75);
    EXPECT(r, LAM_DIMS(1), 0.25);
    lam_polydiv(VEC(1, 0, 0, -1), VEC(1, 0, 1), &q, &r);
    EXPECT(q, LAM_DIMS(2), 1, 0);
    EXPECT(r, LAM_DIMS(2), -1, -1);
    lam_polydiv(INTEGERS(2, 1), INTEGERS(1, 2, 3), &q, &r);
    EXPECT(q, LAM_DIMS(1), 0);
    EXPECT(r, LAM_DIMS(2), 2, 1);
    lam_polydiv(VEC(4, 2), VEC(2), NULL, &r);
    EXPECT_EMPTY(r, LAM_DIMS(0));
    lam_polyadd(num(1), VEC(1));
    EXPECT_ERROR(LAM_ERR_RANK, "polyadd");
    lam_polymul(MAT(1, 1, 1), VEC(1));
    EXPECT_ERROR(LAM_ERR_RANK, "polymul");
    lam_poly(num(1));
    EXPECT_ERROR(LAM_ERR_RANK, "poly");
    lam_polysub(MAT(2, 1, 1, 2), MAT(3, 1, 1, 2, 3));
    EXPECT_STATUS(LAM_ERR_SHAPE);
    ck_assert_int_eq(lam_polydiv(VEC(1), empty(), &q, &r), LAM_ERR_SHAPE);
    ck_assert(lam_failed(q) && lam_failed(r));
    EXPECT_ERROR(LAM_ERR_SHAPE, "polydiv");
}
END_TEST

/* ---- without NaN ------------------------------------------------------------------------------------------------- */

/* numpy.nanquantile, nanmedian, nanpercentile; numpy.nancumsum. */
START_TEST(order_of_what_is_a_number) {
    lam_tensor *x = VEC(1.5, NAN, 3, -2, NAN, 0.25), *m = MAT(3, 3, 1, NAN, 4, NAN, NAN, NAN, 7, 8, -1);
    EXPECT_NEAR(lam_nanquantile(x, VEC(0, 0.3, 0.5, 1), NULL), 1e-14, LAM_DIMS(4), -2, 0.025, 0.875, 3);
    EXPECT_NUM(lam_nanmedian(x, NULL), 0.875);
    const lam_quantile_options middle = {.method = LAM_QUANTILE_MIDPOINT}, low = {.method = LAM_QUANTILE_LOWER},
                               high = {.method = LAM_QUANTILE_HIGHER}, near = {.method = LAM_QUANTILE_NEAREST};
    EXPECT_NUM(lam_nanpercentile(x, num(40), &middle), 0.875);
    EXPECT_NUM(lam_nanquantile(x, num(0.4), &low), 0.25);
    EXPECT_NUM(lam_nanquantile(x, num(0.4), &high), 1.5);
    EXPECT_NUM(lam_nanquantile(x, num(0.45), &near), 0.25);
    const lam_quantile_options rows = {.axes = LAM_AXES(1), .keepdims = true};
    EXPECT(lam_nanquantile(m, VEC(0.25, 0.5), &rows), LAM_DIMS(2, 3, 1), 1.75, NAN, 3, 2.5, NAN, 7);
    EXPECT(lam_nanmedian(m, &(lam_reduce_options){.axes = LAM_AXES(0)}), LAM_DIMS(3), 4, 8, 1.5);
    EXPECT_NUM(lam_nanmedian(m, NULL), 4);
    EXPECT(lam_nanquantile(x, VEC(-0.1, 1.5, NAN), NULL), LAM_DIMS(3), NAN, NAN, NAN);
    EXPECT_NUM(lam_nanmedian(empty(), NULL), NAN);
    EXPECT_NUM(lam_nanmedian(VEC(INFINITY, 1, NAN, 2), NULL), 2);
    EXPECT_NUM(lam_nanmedian(INTEGERS(3, 1, 2), NULL), 2);
    EXPECT(lam_nancumsum(x, 0), LAM_DIMS(6), 1.5, 1.5, 4.5, 2.5, 2.5, 2.75);
    EXPECT(lam_nancumprod(x, 0), LAM_DIMS(6), 1.5, 1.5, 4.5, -9, -9, -2.25);
    lam_nanmedian(x, &(lam_reduce_options){.axes = LAM_AXES(1)});
    EXPECT_ERROR(LAM_ERR_AXIS, "nanmedian");
    lam_nanquantile(x, num(0.5), &(lam_quantile_options){.method = (lam_quantile_method)9});
    EXPECT_ERROR(LAM_ERR_OPTION, "nanquantile");
    lam_nancumsum(x, 1);
    EXPECT_STATUS(LAM_ERR_AXIS);
}
END_TEST

BODY(median_of_numbers) {
    out[0] = lam_sum(lam_nanmedian(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)}), NULL);
}

/* The element in the middle gets all, of two each a half; NaN gets nothing, also where there is nothing else. */
START_TEST(gradients_pass_by_what_is_missing) {
    lam_tensor *x = MAT(3, 4, 5, NAN, 1, 3, NAN, 2, NAN, 8, NAN, NAN, NAN, NAN);
    EXPECT(apply1(lam_grad(FN(median_of_numbers, 1, 1), NULL), x), LAM_DIMS(3, 4), 0, 0, 0, 1, 0, 0.5, 0, 0.5, 0, 0, 0,
           0);
}
END_TEST

BODY(mean_of_numbers) {
    out[0] = lam_nanmean(in[0], &(lam_reduce_options){.axes = LAM_AXES(1)});
}

BODY(variance_of_numbers) {
    out[0] = lam_nanvar(in[0], &(lam_var_options){.axes = LAM_AXES(1)});
}

BODY(deviation_of_numbers) {
    out[0] = lam_nanstd(in[0], &(lam_var_options){.axes = LAM_AXES(1)});
}

/* Of 1, NaN, 4, 1, whose mean, variance are 2, and of nothing but NaN: the value is NaN there, a constant. */
START_TEST(both_modes_pass_by_what_is_missing) {
    static const lam_body of[] = {mean_of_numbers, variance_of_numbers, deviation_of_numbers};
    const double root = sqrt(2), values[] = {2, 2, root}, least[] = {1 / 3., -2 / 3., -1 / (3 * root)},
                 most[] = {1 / 3., 4 / 3., 2 / (3 * root)};
    lam_tensor *x = MAT(2, 4, 1, NAN, 4, 1, NAN, NAN, NAN, NAN), *dx = MAT(2, 4, 1, 1, 10, 100, 1, 1, 1, 1), *y, *dy,
               *gx;
    for (int k = 0; k < 3; k++) {
        lam_fn *f = FN(of[k], 1, 1), *pullback;
        ck_assert_int_eq(lam_jvp(f, LAM_LIST(x), LAM_LIST(dx), &y, &dy, 1, NULL), LAM_OK);
        EXPECT_NEAR(y, 1e-15, LAM_DIMS(2), values[k], NAN);
        EXPECT_NEAR(dy, 1e-15, LAM_DIMS(2), 101 * least[k] + 10 * most[k], 0);
        ck_assert_int_eq(lam_vjp(f, LAM_LIST(x), &y, 1, &pullback, NULL), LAM_OK);
        ck_assert_int_eq(lam_call(pullback, LAM_LIST(VEC(1, 1)), &gx, 1), LAM_OK);
        EXPECT_NEAR(gx, 1e-15, LAM_DIMS(2, 4), least[k], 0, most[k], least[k], 0, 0, 0, 0);
    }
}
END_TEST

/* ---- products, activations --------------------------------------------------------------------------------------- */

START_TEST(products_with_vectors) {
    lam_tensor *m = MAT(2, 3, 1, 2, 3, 4, 5, 6), *v = VEC(1, 0, -1), *w = VEC(1, -1);
    EXPECT(lam_matvec(m, v), LAM_DIMS(2), -2, -2);
    EXPECT(lam_vecmat(w, m), LAM_DIMS(3), -3, -3, -3);
    EXPECT(lam_matvec(m, lam_stack(LAM_LIST(v, lam_neg(v)), 0)), LAM_DIMS(2, 2), -2, -2, 2, 2);
    EXPECT(lam_vdot(m, lam_matrix_transpose(m)), LAM_DIMS0, 1 + 2 * 4 + 3 * 2 + 4 * 5 + 5 * 3 + 36);
    lam_tensor *z = lam_complex(VEC(1, 2), VEC(3, -1)), *u = lam_complex(VEC(0, 1), VEC(1, 1));
    EXPECT(lam_real(lam_vdot(z, u)), LAM_DIMS0, 4);
    EXPECT(lam_imag(lam_vdot(z, u)), LAM_DIMS0, 4);
    EXPECT(lam_imag(lam_vecmat(z, lam_cast(MAT(2, 1, 1, 1), LAM_C128))), LAM_DIMS(1), -2);
    EXPECT_EMPTY(lam_matvec(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), v), LAM_DIMS(0));
    lam_matvec(m, w);
    EXPECT_ERROR(LAM_ERR_SHAPE, "matvec");
    lam_vecmat(v, v);
    EXPECT_ERROR(LAM_ERR_RANK, "vecmat");
    lam_vdot(m, v);
    EXPECT_ERROR(LAM_ERR_SHAPE, "vdot");
}
END_TEST

/* Figures of mpmath with 60 digits. */
START_TEST(activations_at_their_edges) {
    EXPECT_NEAR(lam_squareplus(VEC(-1e8, -1, 0, 2, 1e200), 4), 1e-15, LAM_DIMS(5), 9.9999999999999969005e-9,
                0.6180339887498948482, 1, 2.4142135623730950488, 1e200);
    EXPECT(lam_squareplus(VEC(-3, 0, 3), 0), LAM_DIMS(3), 0, 0, 3);
    EXPECT(lam_sparse_plus(VEC(-2, -1, 0, 0.5, 1, 7, NAN, INFINITY)), LAM_DIMS(8), 0, 0, 0.25, 0.5625, 1, 7, NAN,
           INFINITY);
    EXPECT(lam_sparse_sigmoid(VEC(-2, -1, 0, 0.5, 1, 7)), LAM_DIMS(6), 0, 0, 0.5, 0.75, 1, 1);
    EXPECT_NEAR(lam_log1mexp(VEC(1e-20, 0.5, 0.6931471805599453, 1, 40, 800)), 1e-15, LAM_DIMS(6),
                -46.051701859880913735, -0.93275212956718857189, -0.69314718055994533261, -0.45867514538708189102,
                -4.2483542552915890044e-18, 0);
    EXPECT(lam_log1mexp(VEC(0, -1, INFINITY, NAN)), LAM_DIMS(4), -INFINITY, NAN, 0, NAN);
    EXPECT_NEAR(lam_logmeanexp(VEC(1, 2, 3), NULL), 1e-15, LAM_DIMS0, 2.3089936757762706);
    EXPECT_NEAR(lam_logmeanexp(MAT(2, 2, 1000, 1000, -INFINITY, -INFINITY), &(lam_reduce_options){.axes = LAM_AXES(1)}),
                1e-15, LAM_DIMS(2), 1000, -INFINITY);
    EXPECT_NUM(lam_logmeanexp(empty(), NULL), NAN);
    ck_assert_int_eq(lam_dtype_of(lam_squareplus(lam_cast(VEC(1), LAM_F16), 4)), LAM_F16);
    EXPECT(lam_sparse_plus(INTEGERS(-1, 0, 3)), LAM_DIMS(3), 0, 0.25, 3);
    lam_squareplus(VEC(1), -1);
    EXPECT_ERROR(LAM_ERR_VALUE, "squareplus");
    lam_log1mexp(lam_cast(VEC(1), LAM_C64));
    EXPECT_ERROR(LAM_ERR_DTYPE, "log1mexp");
}
END_TEST

BODY(log1mexp_sum) {
    out[0] = lam_sum(lam_log1mexp(in[0]), NULL);
}

BODY(squareplus_sum) {
    out[0] = lam_sum(lam_squareplus(in[0], 4), NULL);
}

/* 1 / (exp(x) - 1); (1 + x / sqrt(x^2 + 4)) / 2, which is 1/x^2 far on the left. */
START_TEST(slopes_at_the_edges) {
    EXPECT_NEAR(apply1(lam_grad(FN(log1mexp_sum, 1, 1), NULL), VEC(1e-20, 0.5, 1, 40, 0)), 1e-15, LAM_DIMS(5), 1e20,
                1 / expm1(0.5), 1 / expm1(1), exp(-40), INFINITY);
    EXPECT_NEAR(apply1(lam_grad(FN(squareplus_sum, 1, 1), NULL), VEC(-1e8, 0, 1e8)), 1e-15, LAM_DIMS(3), 1e-16, 0.5, 1);
}
END_TEST

BODY(cosine) {
    out[0] = lam_cosine_similarity(in[0], in[1], 0);
}

/* Of x = (3, -4, 0) and y = (-4, 3, 0), with directions u and v and c = u v = -0.96, the slope by x is (v - c u)/|x|
 * and its own (c (3 u u' - 1) - u v' - v u')/|x|^2. Sizes that all of these allow change nothing else. Where x is 0
 * all are 0. */
START_TEST(cosines_of_vectors_of_any_length) {
    static const double sizes[] = {1, 1e150, 1e-150}, others[] = {1, 1e300, 1e-300};
    lam_fn *f = FN(cosine, 2, 1), *slope = lam_vmap(lam_grad(f, NULL), NULL), *compiled = lam_jit(slope, NULL);
    lam_fn *hessian = lam_hessian(f, NULL);
    for (int i = 0; i < 9; i++) {
        const double size = sizes[i / 3];
        lam_tensor *x = lam_mul(VEC(3, -4, 0), size), *y = lam_mul(VEC(-4, 3, 0), others[i % 3]);
        lam_list rows = LAM_LIST(lam_stack(LAM_LIST(x, lam_zeros_like(x)), 0), lam_stack(LAM_LIST(y, y), 0));
        EXPECT_NEAR(apply2(f, x, y), 1e-15, LAM_DIMS0, -0.96);
        EXPECT_NEAR(lam_mul(lam_apply(slope, rows), size), 1e-14, LAM_DIMS(2, 3), -0.0448, -0.0336, 0, 0, 0, 0);
        EXPECT_NEAR(lam_mul(lam_apply(compiled, rows), size), 1e-14, LAM_DIMS(2, 3), -0.0448, -0.0336, 0, 0, 0, 0);
        lam_tensor *second = lam_mul(lam_mul(apply2(hessian, x, y), size), size);
        EXPECT_NEAR(second, 1e-14, LAM_DIMS(3, 3), 0.035328, 0.015296, 0, 0.015296, 0.003072, 0, 0, 0, 0.0384);
        EXPECT(apply2(hessian, lam_zeros_like(x), y), LAM_DIMS(3, 3), 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
    EXPECT_NEAR(lam_cosine_similarity(VEC(0x1p-1074, 0), VEC(3, 4), 0), 1e-15, LAM_DIMS0, 0.6);
    EXPECT_NEAR(lam_cosine_similarity(VEC(0x1p-1074, 0), VEC(1.5e308, 1.5e308), 0), 1e-15, LAM_DIMS0, sqrt(0.5));
}
END_TEST

/* ---- derivatives and batches ------------------------------------------------------------------------------------- */

BODY(polynomials) {
    lam_tensor *q, *r, *first = lam_index(in[0], 0, 0), *last = lam_index(in[0], 0, 2);
    lam_tensor *product = lam_polymul(first, lam_polyadd(last, lam_index(in[0], 0, 1)));
    lam_polydiv(product, lam_polysub(last, lam_slice_axis(first, 0, 0, 2)), &q, &r);
    out[0] = lam_concatenate(LAM_LIST(q, r, lam_poly(lam_sin(first))), 0);
}

BODY(integrals) {
    lam_tensor *x = lam_cumsum(lam_square(in[0]), 1), *more = lam_concatenate(LAM_LIST(in[0], lam_sin(in[0])), 1);
    lam_tensor *odd = lam_simpson(lam_sin(in[0]), x, 1, 1), *even = lam_simpson(more, NULL, 0.25, 1);
    lam_tensor *places = lam_cumsum(lam_square(more), 1);
    out[0] = lam_concatenate(LAM_LIST(odd, even, lam_simpson(more, places, 1, 1)), 0);
}

BODY(statistics) {
    lam_tensor *q = lam_mul(0.3, lam_abs(lam_index(lam_index(in[0], 0, 0), 0, 0)));
    lam_tensor *x = lam_where(lam_gt(in[0], 1.4), (double)NAN, in[0]);
    lam_tensor *part = lam_nanquantile(x, q, &(lam_quantile_options){.axes = LAM_AXES(1)});
    lam_tensor *scans = lam_mul(lam_nancumsum(x, 0), lam_nancumprod(x, 1));
    out[0] = lam_concatenate(LAM_LIST(lam_square(part), lam_collapse(scans, 0, 1)), 0);
}

BODY(products) {
    lam_tensor *v = lam_matvec(in[0], lam_index(in[0], 0, 1)), *w = lam_vecmat(v, lam_sin(in[0]));
    out[0] = lam_mul(lam_vdot(in[0], lam_square(in[0])), lam_ediff1d(w, lam_index(v, 0, 0), w));
}

BODY(activations) {
    lam_tensor *x = in[0], *above = lam_log1mexp(lam_add(lam_square(x), 0.05));
    lam_tensor *parts = lam_mul(lam_squareplus(x, 2), lam_sparse_plus(x));
    out[0] = lam_add(lam_mul(above, parts), lam_logmeanexp(x, &(lam_reduce_options){.axes = LAM_AXES(0)}));
}

BODY(points) {
    lam_tensor *first = lam_index(in[0], 0, 0), *xp = lam_cumsum(lam_square(lam_index(in[0], 0, 1)), 0);
    lam_tensor *slopes = lam_gradient_at(lam_sin(in[0]), xp, 1);
    lam_tensor *beyond = lam_interp_with(in[0], xp, first, &(lam_interp_options){.extrapolate = true});
    lam_tensor *around = lam_interp_with(in[0], first, xp, &(lam_interp_options){.period = 5});
    out[0] = lam_add(lam_mul(slopes, beyond), lam_square(around));
}

BODY(windows) {
    lam_tensor *shift = lam_argmax(lam_index(in[0], 0, 0), 0);
    lam_tensor *all = lam_sliding_windows(lam_roll_by(in[0], shift, 1), LAM_DIMS(2, 2), LAM_DIMS(1, 1));
    out[0] = lam_mul(all, lam_sin(lam_matrix_transpose(all)));
}

static const lam_body bodies[] = {polynomials, integrals, statistics, products, activations, points, windows};
enum { BODIES = sizeof bodies / sizeof bodies[0] };

START_TEST(derivatives_agree_with_differences) {
    bodies_differences(bodies[_i], _i);
}
END_TEST

START_TEST(vmap_equals_the_loop) {
    bodies_loop(bodies[_i], 0.9);
}
END_TEST

Suite *suite_primitives_tables(void);
Suite *suite_primitives_tables(void) {
    Suite *suite = SUITE_OF(
        "primitives/tables", windows_taper_off, numbers_in_geometric_progression, differences_with_ends,
        integrals_by_parabolas, points_with_other_ends, slopes_at_places, windows_that_slide, shifts_from_tensors,
        weights_to_begin_with, arithmetic_of_polynomials, order_of_what_is_a_number, gradients_pass_by_what_is_missing,
        both_modes_pass_by_what_is_missing, products_with_vectors, activations_at_their_edges, slopes_at_the_edges,
        cosines_of_vectors_of_any_length);
    suite_loop(suite, derivatives_agree_with_differences, BODIES);
    suite_loop(suite, vmap_equals_the_loop, BODIES);
    return suite;
}
