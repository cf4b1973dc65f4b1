/* Fourier transforms of a build without FFTW: they say what is missing. See fft.h. The public forms are there in every
 * build, so that programs link and find out when they run; the rows are not registered then. */
#include "lib/primitives/fft.h"

/* An unusable x is reported instead, as everywhere. */
static lam_tensor *absent(const char *operation, lam_tensor *x) {
    return lam__axes_fail_with(operation, x, LAM_ERR_OPTION, "configure it with -Dfftw=enabled",
                               "this build of Lamina has no FFTW");
}

lam_tensor *lam__fft_complex(lam_tensor *x, lam__axis_set set, bool inverse, double scale) {
    (void)set, (void)inverse, (void)scale;
    return absent("fft", x);
}

lam_tensor *lam__fft_real(lam_tensor *x, int axis, double scale) {
    (void)axis, (void)scale;
    return absent("rfft", x);
}

lam_tensor *lam__fft_half(lam_tensor *x, int axis, int64_t n, double scale) {
    (void)axis, (void)n, (void)scale;
    return absent("irfft", x);
}
