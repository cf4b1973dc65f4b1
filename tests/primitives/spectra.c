/* Cosine transforms, convolutions by Fourier transforms, spectra of pieces: values from SciPy 1.17.1, inverses,
 * derivatives against differences, vmap against one call per example, what is refused. */
#include "tests/support.h"

static lam_tensor *row(lam_tensor *x, int64_t i) {
    return lam_squeeze(lam_slice_axis(x, 0, i, i + 1), LAM_AXES(0));
}

/* ---- cosine transforms ------------------------------------------------------------------------------------------- */

BODY(transformed) {
    out[0] = lam_dct(in[0], 0, true);
}

BODY(transformed_back) {
    out[0] = lam_idct(in[0], 0, false);
}

START_TEST(cosine_transforms) {
    lam_tensor *x = VEC(1, -2, 3, 0.5, 4), *a = MAT(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT_NEAR(lam_dct(x, 0, false), 1e-14, LAM_DIMS(5), 13.0, -8.645265359233287, 3.017220926874316,
                1.2285710677209298, 11.517220926874314);
    EXPECT_NEAR(lam_dct(x, -1, true), 1e-14, LAM_DIMS(5), 2.906888370749727, -2.7338729511730984, 0.9541290332847181,
                0.38850828413831096, 3.6420650444278406);
    EXPECT_NEAR(lam_dct(VEC(1, -2, 3, 0.5), 0, false), 1e-14, LAM_DIMS(4), 5.0, -2.902954791139611, 0.7071067811865475,
                9.621478757477956);
    EXPECT_NEAR(lam_idct(x, 0, false), 1e-14, LAM_DIMS(5), 0.5109797108361124, -1.0628435446714308, 0.3,
                -0.4024040395784218, 1.1542678734137406);
    lam_tensor *plane = lam_dctn(a, (lam_axes){0, NULL}, false);
    EXPECT_SAME(plane, lam_dct(lam_dct(a, 0, false), 1, false), 1e-14);
    EXPECT_NEAR(lam_slice_axis(plane, 1, 0, 2), 1e-14, LAM_DIMS(2, 2), 84.0, -13.856406460551016, -25.45584412271571,
                0.0);
    for (int ortho = 0; ortho < 2; ortho++) {
        EXPECT_SAME(lam_idct(lam_dct(x, 0, ortho), 0, ortho), x, 1e-14);
        EXPECT_SAME(lam_idctn(lam_dctn(a, LAM_AXES(1, 0), ortho), LAM_AXES(0, 1), ortho), a, 1e-14);
        lam_tensor *f32 = lam_dct(lam_cast(x, LAM_F32), 0, ortho);
        ck_assert_int_eq(lam_dtype_of(f32), LAM_F32);
        EXPECT_SAME(lam_cast(f32, LAM_F64), lam_dct(x, 0, ortho), 1e-5);
        EXPECT_NEAR(lam_dct(VEC(3), 0, ortho), 1e-15, LAM_DIMS(1), ortho ? 3 : 6);
    }
    EXPECT_NEAR(lam_norm(lam_dct(x, 0, true), NULL), 1e-14, LAM_DIMS0, lam_item(lam_norm(x, NULL)));
    EXPECT_EMPTY(lam_dct(lam_zeros(ctx, LAM_F64, LAM_DIMS(0, 3)), 1, false), LAM_DIMS(0, 3));
    EXPECT_OK();
    lam_fn *both[] = {FN(transformed, 1, 1), FN(transformed_back, 1, 1)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_tensor *rows = lam_stack(LAM_LIST(x, lam_exp(x)), 0), *second = apply1(both[i], lam_exp(x));
        EXPECT_SAME(apply1(lam_vmap(both[i], NULL), rows), lam_stack(LAM_LIST(apply1(both[i], x), second), 0), 1e-14);
    }
}
END_TEST

START_TEST(wrong_cosine_transforms) {
    lam_tensor *x = VEC(1, 2);
    lam_dct(x, 1, false);
    EXPECT_ERROR(LAM_ERR_AXIS, "dct");
    lam_idct(lam_cast(x, LAM_C64), 0, false);
    EXPECT_ERROR(LAM_ERR_DTYPE, "idct");
    lam_dctn(lam_zeros(ctx, LAM_F64, LAM_DIMS(2, 0)), (lam_axes){0, NULL}, true);
    EXPECT_ERROR(LAM_ERR_SHAPE, "dctn");
    lam_idctn(x, LAM_AXES(0, 0), true);
    EXPECT_ERROR(LAM_ERR_AXIS, "idctn");
}
END_TEST

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

BODY(convolved) {
    out[0] = lam_fftconvolve(in[0], in[1], LAM_CONVOLVE_SAME);
}

/* Sums of products give the same. */
START_TEST(convolutions_by_transforms) {
    lam_tensor *x = MAT(2, 3, 1, 2, 3, 4, 5, 6), *y = MAT(2, 2, 1, 2, 0, -1), *v = VEC(1, -2, 3, 0.5),
               *w = VEC(2, 1, -1);
    for (int mode = LAM_CONVOLVE_FULL; mode <= LAM_CONVOLVE_VALID; mode++) {
        lam_convolve_mode m = (lam_convolve_mode)mode;
        EXPECT_SAME(lam_add(lam_fftconvolve(x, y, m), 20.0), lam_add(lam_convolve2d(x, y, m), 20.0), 1e-14);
        EXPECT_SAME(lam_add(lam_fftconvolve(v, w, m), 20.0), lam_add(lam_convolve(v, w, m), 20.0), 1e-14);
        lam_tensor *z = lam_complex(x, lam_exp(x)), *u = lam_complex(y, y);
        lam_tensor *gap = lam_abs(lam_sub(lam_fftconvolve(z, u, m), lam_convolve2d(z, u, m)));
        ck_assert_double_le(lam_item(lam_max_reduce(gap, NULL)), 1e-12);
    }
    ck_assert_int_eq(lam_dtype_of(lam_fftconvolve(lam_cast(v, LAM_F32), lam_cast(w, LAM_F32), LAM_CONVOLVE_FULL)),
                     LAM_F32);
    EXPECT_OK();
    lam_fn *f = FN(convolved, 2, 1);
    ck_assert_int_eq(lam_check_grads(f, LAM_LIST(x, y), &(lam_check_grads_options){.order = 2}), LAM_OK);
    lam_tensor *xs = lam_stack(LAM_LIST(x, lam_cos(x)), 0), *second = apply2(f, lam_cos(x), y);
    lam_fn *each = lam_vmap(f, &(lam_vmap_options){.in_axes = LAM_AXES(0, LAM_UNMAPPED)});
    EXPECT_SAME(lam_add(apply2(each, xs, y), 20.0), lam_add(lam_stack(LAM_LIST(apply2(f, x, y), second), 0), 20.0),
                1e-14);
    lam_fftconvolve(x, v, LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_RANK, "fftconvolve");
    lam_fftconvolve(v, lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "fftconvolve");
    lam_fftconvolve(v, w, (lam_convolve_mode)9);
    EXPECT_ERROR(LAM_ERR_OPTION, "fftconvolve");
}
END_TEST

/* ---- spectra of pieces ------------------------------------------------------------------------------------------- */

/* sin(t^2 / 5) */
static lam_tensor *chirp(int64_t n) {
    lam_tensor *t = lam_iota(ctx, LAM_F64, LAM_DIMS(n), 0);
    return lam_sin(lam_div(lam_mul(t, t), 5.0));
}

static const lam_stft_options four = {.nperseg = 4};

START_TEST(spectra_of_pieces) {
    lam_tensor *z = lam_stft(chirp(12), &four);
    EXPECT_NEAR(lam_add(lam_real(z), 1.0), 1e-13, LAM_DIMS(3, 7), 1.049667332698765304, 1.6518072858680755,
                0.97454376733997413, 1.06548308094580985, 0.90602963363817085, 1.13755319709070862, 0.79918606832651132,
                1, 0.6413219545502386, 1.029187071713790043, 0.60316606807542343, 0.88424508744923053,
                0.54352737463618617, 1, 0.950332667301234696, 1.06554880503144728, 0.967082089232445784,
                1.7281847829033432, 1.3254801914633681, 1.775392053636919, 1.20081393167348868);
    EXPECT_NEAR(row(lam_imag(z), 1), 1e-13, LAM_DIMS(7), 0.049667332698765304, 0.19379457502078348,
                -0.48319297638533343, 0.14811128635280252, -0.026485714286634446, -0.08270843507387214,
                0.20081393167348868);
    const lam_stft_options odd = {.nperseg = 5, .noverlap = 2, .nfft = 6, .window = VEC(1, 2, 3, 2, 1)};
    lam_tensor *y = lam_stft(chirp(11), &odd);
    EXPECT_NEAR(lam_real(y), 1e-12, LAM_DIMS(4, 5), 0.12385497249884947, 0.3865835381900437, -0.010740837178746175,
                0.05612945146788961, 0.10143836119195862, -0.08400185633776486, 0.005718266618224535,
                -0.17673298532348455, -0.1391363140008828, 0.10143836119195862, 0.004295624015595664,
                -0.17963826177170503, -0.1265183150658664, 0.21517050296660967, 0.10143836119195862,
                0.03555749214548893, 0.09370267264695809, 0.5783273423390612, -0.45251724890062894,
                0.10143836119195862);
    EXPECT_SAME(lam_slice_axis(lam_istft(y, &odd), 0, 0, 11), chirp(11), 1e-13);
    EXPECT_SAME(lam_istft(z, &four), chirp(12), 1e-13);
    EXPECT_SAME(lam_slice_axis(lam_istft(lam_stft(chirp(600), NULL), NULL), 0, 0, 600), chirp(600), 1e-9);
    lam_tensor *rows = lam_stack(LAM_LIST(chirp(12), lam_exp(chirp(12))), 0), *both = lam_stft(rows, &four);
    EXPECT_SAME(lam_real(row(both, 0)), lam_real(z), 1e-13);
    EXPECT_SAME(lam_istft(both, &four), rows, 1e-13);
    ck_assert_int_eq(lam_dtype_of(lam_stft(lam_cast(chirp(12), LAM_F32), &four)), LAM_C64);
    EXPECT_OK();
}
END_TEST

START_TEST(densities) {
    lam_tensor *y = chirp(12), *z = lam_cos(lam_iota(ctx, LAM_F64, LAM_DIMS(12), 0));
    EXPECT_NEAR(lam_welch(y, &(lam_stft_options){.fs = 2, .nperseg = 6}), 1e-13, LAM_DIMS(4), 0.06870025805993994,
                0.3128139276170873, 0.4907798385901314, 0.4497172684400752);
    lam_tensor *c = lam_csd(y, z, &(lam_stft_options){.nperseg = 5, .noverlap = 2, .nfft = 7});
    EXPECT_NEAR(lam_real(c), 1e-13, LAM_DIMS(4), -0.11706415669177701, -0.08997117382159131, 0.24765688084611792,
                0.17640343511613088);
    EXPECT_NEAR(lam_slice_axis(lam_imag(c), 0, 1, 4), 1e-13, LAM_DIMS(3), 0.21832295131182128, 0.3282808926192098,
                0.1755986342174014);
    EXPECT_SAME(lam_real(lam_csd(y, y, &four)), lam_welch(y, &four), 1e-14);
    EXPECT_OK();
}
END_TEST

BODY(there_and_back) {
    lam_tensor *z = lam_stft(in[0], &four);
    out[0] = lam_istft(lam_mul(z, lam_abs(z)), &four);
}

BODY(density_of) {
    out[0] = lam_welch(in[0], &four);
}

START_TEST(derivatives_of_spectra) {
    lam_fn *both[] = {FN(there_and_back, 1, 1), FN(density_of, 1, 1)};
    for (int i = 0; i < 2; i++) {
        lam_tensor *x = lam_add(chirp(12), 0.3), *rows = lam_stack(LAM_LIST(x, lam_exp(x)), 0);
        ck_assert_int_eq(lam_check_grads(both[i], LAM_LIST(x), &(lam_check_grads_options){.order = 2}), LAM_OK);
        lam_tensor *second = apply1(both[i], lam_exp(x));
        EXPECT_SAME(apply1(lam_vmap(both[i], NULL), rows), lam_stack(LAM_LIST(apply1(both[i], x), second), 0), 1e-12);
    }
}
END_TEST

START_TEST(wrong_spectra) {
    lam_tensor *x = chirp(12), *z = lam_stft(x, &four);
    lam_stft(num(1), NULL);
    EXPECT_ERROR(LAM_ERR_RANK, "stft");
    lam_stft(lam_zeros(ctx, LAM_F64, LAM_DIMS(0)), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "stft");
    lam_welch(x, &(lam_stft_options){.nperseg = 13});
    EXPECT_ERROR(LAM_ERR_VALUE, "welch");
    lam_welch(x, &(lam_stft_options){.nperseg = 4, .noverlap = 4});
    EXPECT_ERROR(LAM_ERR_VALUE, "welch");
    lam_stft(x, &(lam_stft_options){.nperseg = INT64_MIN, .noverlap = 1});
    EXPECT_ERROR(LAM_ERR_VALUE, "stft", "do not go together");
    lam_welch(x, &(lam_stft_options){.nperseg = 4, .nfft = 3});
    EXPECT_ERROR(LAM_ERR_VALUE, "welch");
    lam_welch(x, &(lam_stft_options){.fs = -1});
    EXPECT_ERROR(LAM_ERR_VALUE, "welch", "-1 samples");
    lam_stft(x, &(lam_stft_options){.fs = NAN});
    EXPECT_ERROR(LAM_ERR_VALUE, "stft", "nan samples");
    lam_stft(x, &(lam_stft_options){.nperseg = 4, .window = VEC(1, 2)});
    EXPECT_ERROR(LAM_ERR_SHAPE, "stft");
    lam_stft(z, &four);
    EXPECT_ERROR(LAM_ERR_DTYPE, "stft");
    lam_tensor *no_window = lam_fail(ctx, LAM_ERR_USER, "made here"), *freed = VEC(1, 2, 3, 4);
    lam_clear_error(ctx);
    lam_drop(freed);
    lam_stft(x, &(lam_stft_options){.nperseg = 4, .window = no_window});
    EXPECT_ERROR(LAM_ERR_STALE, "stft");
    lam_istft(z, &(lam_stft_options){.nperseg = 4, .window = freed});
    EXPECT_ERROR(LAM_ERR_FREED, "istft");
    ck_assert(lam_failed(lam_istft(z, &(lam_stft_options){.window = lam_cast(VEC(1, 2, 2, 1), LAM_C64)})));
    EXPECT_STATUS(LAM_ERR_DTYPE);
    lam_istft(x, &four);
    EXPECT_ERROR(LAM_ERR_RANK, "istft");
    lam_istft(z, &(lam_stft_options){.nperseg = 8});
    EXPECT_ERROR(LAM_ERR_SHAPE, "istft");
    lam_csd(x, chirp(11), NULL);
    EXPECT_ERROR(LAM_ERR_SHAPE, "csd");
}
END_TEST

Suite *suite_primitives_spectra(void) {
    return SUITE_OF("primitives/spectra", cosine_transforms, wrong_cosine_transforms, convolutions_by_transforms,
                    spectra_of_pieces, densities, derivatives_of_spectra, wrong_spectra);
}
