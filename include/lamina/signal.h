/* Signals: cosine transforms, convolutions of planes, spectra of pieces, trends, interpolation on grids, images of
 * other sizes, under the names of scipy.signal, scipy.fft, scipy.ndimage and jax.image. All are composed of other
 * operations; those that use Fourier transforms fail as lam_fft does in a build without them. Integers are taken as
 * f64. The opening comment of ops.h applies here too. */
#ifndef LAMINA_SIGNAL_H
#define LAMINA_SIGNAL_H

#include <lamina/base.h>
#include <lamina/convolution.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cosine transforms ------------------------------------------------------------------------------------------- */

/* The discrete cosine transform of type 2 along an axis, 2 sum of x_j cos(pi k (2 j + 1) / (2 n)); `ortho`: scaled to
 * an orthogonal matrix. idct is its inverse.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS; LAM_ERR_DTYPE for complex operands; LAM_ERR_SHAPE for an axis without elements.
 * Owner   current scope. Derivative: linear. */
LAM_API lam_tensor *lam_dct(lam_tensor *x, int axis, bool ortho);
LAM_API lam_tensor *lam_idct(lam_tensor *x, int axis, bool ortho); /* Fails as lam_dct does. */

/* The same along several axes; no list: all. Fails as lam_dct does. */
LAM_API lam_tensor *lam_dctn(lam_tensor *x, lam_axes axes, bool ortho);
LAM_API lam_tensor *lam_idctn(lam_tensor *x, lam_axes axes, bool ortho); /* Fails as lam_dct does. */

/* ---- convolutions ------------------------------------------------------------------------------------------------ */

/* The convolution of two tensors along all axes, by Fourier transforms. LAM_CONVOLVE_SAME gives as many elements as x
 * has, from the middle.
 * Shape   sizes m and n give m + n - 1, axis by axis, or as lam_convolve_mode says.
 * Fails   LAM_ERR_RANK unless both have the same rank above 0; LAM_ERR_SHAPE for axes without elements, and for
 *         LAM_CONVOLVE_VALID if neither lies within the other; LAM_ERR_OPTION for another mode. Owner: current scope.
 *         Derivative: bilinear. */
LAM_API lam_tensor *lam_fftconvolve(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode);

/* The convolution of two matrices, and their correlation (with the conjugate of y, not flipped), as sums of products.
 * Modes as in lam_fftconvolve.
 * Shape   [m, n] and [k, l] give [m + k - 1, n + l - 1], or as the mode says.
 * Fails   as lam_fftconvolve does; LAM_ERR_RANK unless both are matrices. Owner: current scope. Derivative: bilinear.
 */
LAM_API lam_tensor *lam_convolve2d(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode);
LAM_API lam_tensor *lam_correlate2d(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode); /* Fails likewise. */

/* ---- spectra of pieces ------------------------------------------------------------------------------------------- */

/* x minus its mean along an axis, or with `linear` minus the least-squares line.
 * Shape   that of x.
 * Fails   LAM_ERR_AXIS. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_detrend(lam_tensor *x, int axis, bool linear);

typedef struct lam_stft_options {
    double fs;          /* samples per unit of time; 0: 1 */
    lam_tensor *window; /* [nperseg]; NULL: Hann's, periodic */
    int64_t nperseg;    /* elements of a piece; 0: those of the window, or else 256 or all there are */
    int64_t noverlap;   /* elements that neighbours share; 0: half of a piece; negative: none */
    int64_t nfft;       /* elements of a transform, with zeros after the piece; 0: nperseg */
} lam_stft_options;

/* The spectra of overlapping pieces of the last axis, padded with half a piece of zeros at both ends, and as many more
 * as fill the last piece; divided by the sum of the window.
 * Shape   [..., n] to [..., nfft/2 + 1, pieces], complex.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE for no elements or another window; LAM_ERR_VALUE for a negative fs, or
 *         sizes that do not fit; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: linear in x. */
LAM_API lam_tensor *lam_stft(lam_tensor *x, const lam_stft_options *options);

/* The signal whose spectra of pieces lie nearest to these: the inverse of lam_stft if it has one.
 * Shape   [..., nfft/2 + 1, pieces] to [..., (pieces - 1) step], one more for pieces of odd length.
 * Fails   as lam_stft does; LAM_ERR_RANK below rank 2. Owner: current scope. Derivative: linear in the spectra. */
LAM_API lam_tensor *lam_istft(lam_tensor *spectra, const lam_stft_options *options);

/* Welch's estimate of the spectral density along the last axis: the mean over pieces, each minus its mean, of the
 * squared spectrum, one-sided, in units squared per frequency. lam_csd: the cross density of x and y, conj(X) Y.
 * Shape   [..., n] to [..., nfft/2 + 1]; x and y have the same n, and broadcast.
 * Fails   as lam_stft does; LAM_ERR_SHAPE for other dims of y. Owner: current scope. Derivative: by x and y. */
LAM_API lam_tensor *lam_welch(lam_tensor *x, const lam_stft_options *options);
LAM_API lam_tensor *lam_csd(lam_tensor *x, lam_tensor *y, const lam_stft_options *options); /* Fails as lam_welch. */

/* ---- interpolation on grids -------------------------------------------------------------------------------------- */

/* The values beyond the grid. */
typedef enum lam_map_mode {
    LAM_MAP_CONSTANT, /* `cval` */
    LAM_MAP_NEAREST,  /* a a a | a b c d | d d d */
    LAM_MAP_WRAP,     /* b c d | a b c d | a b c */
    LAM_MAP_MIRROR,   /* d c b | a b c d | c b a */
    LAM_MAP_REFLECT,  /* c b a | a b c d | d c b */
} lam_map_mode;

/* The values of x at positions between its elements: those of the nearest one (order 0), or linear between neighbours
 * (order 1). Row i of the coordinates is the index along axis i of x; NaN gives NaN.
 * Shape   coordinates [rank of x, ...] to [...].
 * Fails   LAM_ERR_SHAPE for other coordinates, or an x without elements; LAM_ERR_VALUE for another order or mode;
 *         LAM_ERR_DTYPE for complex coordinates. Owner: current scope.
 * Derivative  by x, and for order 1 by the coordinates: the difference of the neighbours. */
LAM_API lam_tensor *lam_map_coordinates(lam_tensor *x, lam_tensor *coordinates, int order, lam_map_mode mode,
                                        double cval);

typedef struct lam_interpn_options {
    bool nearest;       /* the value of the nearest point, the lower one at a tie; otherwise linear between
                           neighbours */
    bool extrapolate;   /* the pieces at the edges continue beyond the grid; otherwise it is `fill` */
    const double *fill; /* NULL: NaN */
} lam_interpn_options;

/* The function with these values on a grid, evaluated at x: linear along each axis between neighbouring points. The
 * list holds the points of each axis, in ascending order. NaN gives NaN.
 * Shape   values [points of each axis, items...], x [..., number of axes] to [..., items...].
 * Fails   LAM_ERR_ARITY without points; LAM_ERR_SHAPE for sizes that do not fit, and for axes of one point (nearest: of
 *         none); LAM_ERR_VALUE for points that do not ascend, if they can be read; LAM_ERR_DTYPE for complex x.
 * Owner   current scope.
 * Derivative  by values, and unless nearest by x and points: by x the slope of the following piece, beyond the grid 0,
 *         or that of the last piece.
 * Source  scipy.interpolate.interpn, RegularGridInterpolator. */
LAM_API lam_tensor *lam_interpn(lam_list points, lam_tensor *values, lam_tensor *x, const lam_interpn_options *options);

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* The kernels of jax.image, as functions of a distance in elements. */
typedef enum lam_image_method {
    LAM_IMAGE_LINEAR,   /* 1 - distance, up to 1 */
    LAM_IMAGE_CUBIC,    /* Keys's, up to 2 */
    LAM_IMAGE_LANCZOS3, /* sinc(distance) sinc(distance / 3), up to 3 */
    LAM_IMAGE_LANCZOS5, /* the same with 5 */
    LAM_IMAGE_NEAREST,  /* the element that the centre of the new one falls into, in the dtype of the image */
} lam_image_method;

typedef struct lam_image_options {
    lam_image_method method;
    bool aliased; /* kernels keep their width if the image becomes smaller, so that elements in between are ignored */
} lam_image_options;

/* x with other dims: along every axis whose size changes, each new element is the sum of the old ones weighted by the
 * kernel around its centre; weights are scaled to a sum of 1. Batches and channels are axes that keep their size.
 * Shape   dims, as many as x has.
 * Fails   LAM_ERR_RANK for other dims; LAM_ERR_VALUE for negative ones; LAM_ERR_SHAPE for an axis without elements that
 *         should get some; LAM_ERR_OPTION for another method. Owner: current scope. Derivative: linear.
 * Source  jax.image.resize. */
LAM_API lam_tensor *lam_image_resize(lam_tensor *x, lam_dims dims, const lam_image_options *options);

/* The image with axis axes[k] scaled by scale[k] and then moved by translation[k] elements, cropped to dims; 0 outside
 * the image. No list: all axes.
 * Shape   dims; scale and translation [number of axes], or of rank 0 for all.
 * Fails   as lam_image_resize does; LAM_ERR_AXIS; LAM_ERR_SHAPE for other scales, and if an axis that is not in the
 *         list changes its size; LAM_ERR_OPTION for LAM_IMAGE_NEAREST; LAM_ERR_DTYPE for complex scales.
 * Owner   current scope. Derivative: by x, scale and translation; jumps at the edge contribute none.
 * Source  jax.image.scale_and_translate. */
LAM_API lam_tensor *lam_scale_and_translate(lam_tensor *x, lam_dims dims, lam_axes axes, lam_tensor *scale,
                                            lam_tensor *translation, const lam_image_options *options);

#ifdef __cplusplus
}
#endif
#endif
