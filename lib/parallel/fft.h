/* Fourier transforms shared among threads. Apart from parallel.h, since builds without FFTW have none. */
#ifndef LAM_PARALLEL_FFT_H
#define LAM_PARALLEL_FFT_H

#include "lib/kernels/fft.h"
#include "lib/parallel/parallel.h"

/* out = scale * transform of x along the axes of `set`: see lam__kernels_fft_begin. False if FFTW makes no plan. */
bool lam__parallel_fft(lam__team *team, lam__fft_kind kind, bool doubles, int rank, const int64_t *dims, uint32_t set,
                       double scale, const void *x, void *out, lam__fft_plans *plans);

#endif
