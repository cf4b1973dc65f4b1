/* Fourier transforms by FFTW. In a build without it this file has no implementation and nobody calls it. */
#ifndef LAM_KERNELS_FFT_H
#define LAM_KERNELS_FFT_H

#include <lamina/base.h>

typedef enum lam__fft_kind {
    LAM__FFT_FORWARD, /* complex to complex, exp(-i ...) */
    LAM__FFT_INVERSE, /* complex to complex, exp(+i ...) */
    LAM__FFT_REAL,    /* n reals to n/2 + 1 coefficients, along one axis */
    LAM__FFT_HALF     /* n/2 + 1 coefficients to n reals, along one axis; leaves x as it is */
} lam__fft_kind;

/* out = scale * transform of x along the axes of `set`; both contiguous, in doubles or floats. dims are those of the
 * side with n elements, and positive along the axes. False if FFTW makes no plan. */
bool lam__kernels_fft(lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set, double scale,
                      const void *x, void *out);

#endif
