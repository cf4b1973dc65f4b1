/* Discrete Fourier transforms. They need a build with FFTW 3 (meson feature fftw; its licence is the GPL, which then
 * applies to programs linked with it); without it, each of them fails with LAM_ERR_OPTION and says so. Any sizes, c128
 * and c64 (f64 and f32 in and out of the real forms), as in jax.numpy.fft. */
#ifndef LAMINA_FFT_H
#define LAMINA_FFT_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The scaling for n elements: the inverse divides by n, both directions by sqrt(n), or the forward one by n. */
typedef enum lam_fft_norm { LAM_FFT_BACKWARD = 0, LAM_FFT_ORTHO, LAM_FFT_FORWARD } lam_fft_norm;

typedef struct lam_fft_options {
    lam_axes axes;  /* no list: the last axis, in the n-dimensional forms all; the real forms halve the last of them */
    lam_dims sizes; /* elements, one per axis: x is cut or zero-padded at the end; rank 0: the sizes of x. In lam_irfft
                       and lam_irfftn sizes of the result, without them 2 (m - 1) for m along the last axis */
    lam_fft_norm norm;
} lam_fft_options;

/* X_k = sum over j of x_j exp(-2 pi i j k / n), along one axis.
 * Shape   that of x, with the size along the axis.
 * Fails   LAM_ERR_OPTION without FFTW, for more than one axis, sizes that do not go with the axes, or an unknown norm;
 *         LAM_ERR_AXIS; LAM_ERR_VALUE for a size below 1.
 * Owner   current scope. Derivative: linear; the matrix is symmetric, so vjp is the same transform. */
LAM_API lam_tensor *lam_fft(lam_tensor *x, const lam_fft_options *options);

/* The inverse of lam_fft, with exp(2 pi i j k / n). Fails as lam_fft. Shape, Owner, Derivative: as lam_fft. */
LAM_API lam_tensor *lam_ifft(lam_tensor *x, const lam_fft_options *options);

/* The first n/2 + 1 elements of lam_fft of real x: the others are their conjugates.
 * Shape   that of x, with size/2 + 1 along the axis.
 * Fails   as lam_fft; LAM_ERR_DTYPE for complex x.
 * Owner   current scope. Derivative: linear over the reals. */
LAM_API lam_tensor *lam_rfft(lam_tensor *x, const lam_fft_options *options);

/* The inverse of lam_rfft: real, from the first n/2 + 1 elements, of which the imaginary parts of the first, and for
 * even n of the last, are ignored. Fails as lam_fft. Shape, Owner: as lam_fft. Derivative: linear over the reals. */
LAM_API lam_tensor *lam_irfft(lam_tensor *x, const lam_fft_options *options);

/* lam_fft of a signal with conjugate symmetry, given by its first n/2 + 1 elements: real. And its inverse, the first
 * n/2 + 1 elements of lam_ifft of real x.
 * Shape   as lam_irfft; as lam_rfft.
 * Fails   as lam_irfft; as lam_rfft. Owner: current scope. Derivative: linear over the reals. */
LAM_API lam_tensor *lam_hfft(lam_tensor *x, const lam_fft_options *options);
LAM_API lam_tensor *lam_ihfft(lam_tensor *x, const lam_fft_options *options); /* Fails as lam_rfft does. */

/* The same along several axes, or all. Fails as lam_fft does, except for the number of axes. */
LAM_API lam_tensor *lam_fftn(lam_tensor *x, const lam_fft_options *options);
LAM_API lam_tensor *lam_ifftn(lam_tensor *x, const lam_fft_options *options);  /* Fails as lam_fftn does. */
LAM_API lam_tensor *lam_rfftn(lam_tensor *x, const lam_fft_options *options);  /* Fails as lam_rfft does. */
LAM_API lam_tensor *lam_irfftn(lam_tensor *x, const lam_fft_options *options); /* Fails as lam_fftn does. */

/* The frequencies of lam_fft of n samples at distance d: 0, 1, ..., -2, -1 over n d. Needs no FFTW.
 * Shape   [n].
 * Fails   LAM_ERR_VALUE for n below 1; LAM_ERR_DTYPE unless floating. */
LAM_API lam_tensor *lam_fftfreq(lam_ctx *ctx, lam_dtype dtype, int64_t n, double d);

/* The frequencies of lam_rfft: 0, 1, ..., n/2 over n d. Shape: [n/2 + 1]. Fails as lam_fftfreq does. */
LAM_API lam_tensor *lam_rfftfreq(lam_ctx *ctx, lam_dtype dtype, int64_t n, double d);

/* The zero frequency moved to the middle of each axis (no list: of all), and back.
 * Fails   LAM_ERR_AXIS. Owner: current scope. Derivative: the same of dx. */
LAM_API lam_tensor *lam_fftshift(lam_tensor *x, lam_axes axes);
LAM_API lam_tensor *lam_ifftshift(lam_tensor *x, lam_axes axes); /* Fails as lam_fftshift does. */

#ifdef __cplusplus
}
#endif
#endif
