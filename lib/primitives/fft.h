/* The three transforms that the public forms (fourier.c) are made of, each times `scale`. A build without FFTW has
 * fft_absent.c in place of fft.c, where they fail. */
#ifndef LAM_PRIMITIVES_FFT_H
#define LAM_PRIMITIVES_FFT_H

#include "lib/primitives/axes.h"

/* Complex x along a set of axes. */
lam_tensor *lam__fft_complex(lam_tensor *x, lam__axis_set set, bool inverse, double scale);

/* Real x along one axis: the first n/2 + 1 of its n elements. */
lam_tensor *lam__fft_real(lam_tensor *x, int axis, double scale);

/* Complex x of n/2 + 1 elements along one axis: the n real ones. */
lam_tensor *lam__fft_half(lam_tensor *x, int axis, int64_t n, double scale);

#endif
