/* A build without FFTW: each transform fails and names the feature; what needs no FFTW works. */
#include "tests/primitives/cases.h"
#include "tests/support.h"

const cases_row cases_fft[] = {{0}};

START_TEST(each_transform_names_what_is_missing) {
    static lam_tensor *(*const forms[])(lam_tensor *, const lam_fft_options *) = {
        lam_fft, lam_ifft, lam_rfft, lam_irfft, lam_hfft, lam_ihfft, lam_fftn, lam_ifftn, lam_rfftn, lam_irfftn};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        ck_assert(lam_failed(forms[i](VEC(1, 2, 3), NULL)));
        EXPECT_ERROR(LAM_ERR_OPTION, "fft", "FFTW", "-Dfftw=enabled");
    }
}
END_TEST

START_TEST(frequencies_need_no_fftw) {
    EXPECT(lam_fftfreq(ctx, LAM_F64, 4, 0.25), LAM_DIMS(4), 0, 1, -2, -1);
    EXPECT(lam_fftshift(VEC(0, 1, -2, -1), (lam_axes){0}), LAM_DIMS(4), -2, -1, 0, 1);
}
END_TEST

START_TEST(what_is_made_of_transforms_is_refused) {
    lam_dct(VEC(1, 2), 0, false);
    EXPECT_ERROR(LAM_ERR_OPTION, "fft");
    lam_fftconvolve(VEC(1, 2), VEC(1, 2), LAM_CONVOLVE_FULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "fft");
    lam_welch(VEC(1, 2), NULL);
    EXPECT_ERROR(LAM_ERR_OPTION, "fft");
}
END_TEST

Suite *suite_primitives_spectra(void) {
    return SUITE_OF("primitives/spectra", what_is_made_of_transforms_is_refused);
}

Suite *suite_primitives_fft(void) {
    return SUITE_OF("primitives/fft", each_transform_names_what_is_missing, frequencies_need_no_fftw);
}
