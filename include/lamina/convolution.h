/* Windows that slide over axes: convolutions, reductions over windows, pooling. The opening comment of ops.h applies
 * here too. All of them move windows in the same way: strides, padding, and dilation of the operand (gaps between its
 * elements) and of the window (gaps between its elements). */
#ifndef LAMINA_CONVOLUTION_H
#define LAMINA_CONVOLUTION_H

#include <lamina/base.h>

/* Convolutions, sums over windows and average pooling take complex numbers too; operations that need an order do
 * not. */

#ifdef __cplusplus
extern "C" {
#endif

/* The padding of an axis. */
typedef enum lam_padding {
    LAM_PAD_GIVEN = 0, /* pad_low before and pad_high after; nothing if these are not given */
    LAM_PAD_VALID,     /* nothing */
    LAM_PAD_SAME,      /* so that ceil(size / stride) windows fit; if odd, one more after */
    LAM_PAD_SAME_LOWER /* the same; if odd, one more before */
} lam_padding;

/* ---- convolution ------------------------------------------------------------------------------------------------- */

/* Lists have one number per window axis; rank 0 means the default for all. */
typedef struct lam_conv_options {
    lam_dims strides; /* default 1 */
    lam_padding padding;
    lam_dims pad_low, pad_high; /* elements, negative: cut off; default 0 */
    lam_dims input_dilation;    /* distance of neighbours in x; default 1 */
    lam_dims window_dilation;   /* distance of neighbours in w; default 1 */
    int64_t feature_groups;     /* default 1 */
    int64_t batch_groups;       /* default 1 */
    const char *layout_x;       /* letters of the axes, N batch, C features; NULL: "NC" and then the window axes */
    const char *layout_w;       /* O output features, I input features; NULL: "OI" and then the window axes */
    const char *layout_out;     /* as layout_x; NULL: the same */
    bool transpose_window;      /* lam_conv_transpose: w flipped and its O and I exchanged, as in a gradient */
} lam_conv_options;

/* The products of w with the windows of x (a correlation, as in every neural network), over 1 to 3 axes; these are the
 * letters in layout_x other than N and C. With feature groups each group of input features makes its own group of
 * output features; with batch groups each group of examples does.
 * Shape   x [N, C, ...], w [O, C / feature_groups, ...] gives [N / batch_groups, O, ...]; places per axis:
 *         floor((low + dilated size + high - dilated window) / stride) + 1.
 * Fails   LAM_ERR_RANK, LAM_ERR_SHAPE; LAM_ERR_OPTION for impossible options; LAM_ERR_VALUE for sizes below 1;
 *         LAM_ERR_OVERFLOW.
 * Derivative: bilinear; both transposes are convolutions again. */
LAM_API lam_tensor *lam_conv_general(lam_tensor *x, lam_tensor *w, const lam_conv_options *options);

/* The same with strides taken as the dilation of x, which undoes the striding of a convolution. With padding SAME the
 * sizes are multiplied by the strides, with VALID every product is kept; given padding surrounds the dilated x.
 * Shape   w as for lam_conv_general; with transpose_window it is that of the convolution whose transpose this is.
 * Fails   as lam_conv_general; LAM_ERR_OPTION for input_dilation or groups. Derivative: bilinear. */
LAM_API lam_tensor *lam_conv_transpose(lam_tensor *x, lam_tensor *w, const lam_conv_options *options);

typedef enum lam_convolve_mode {
    LAM_CONVOLVE_FULL = 0, /* m + n - 1 elements */
    LAM_CONVOLVE_SAME,     /* the middle max(m, n) of these */
    LAM_CONVOLVE_VALID     /* those where the shorter lies within the longer */
} lam_convolve_mode;

/* The convolution of two vectors: the coefficients of the product of two polynomials.
 * Shape   vectors give a vector; see lam_convolve_mode.
 * Fails   LAM_ERR_RANK unless both are vectors; LAM_ERR_SHAPE for empty ones; LAM_ERR_OPTION. Derivative: bilinear. */
LAM_API lam_tensor *lam_convolve(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode);

/* lam_convolve with y flipped.
 * Fails   as lam_convolve does. Derivative: bilinear. */
LAM_API lam_tensor *lam_correlate(lam_tensor *x, lam_tensor *y, lam_convolve_mode mode);

/* ---- windows ----------------------------------------------------------------------------------------------------- */

/* Windows over the last axes of x, as many as window has; the other lists have one number for each of these. */
typedef struct lam_window_options {
    lam_dims window;  /* elements; required */
    lam_dims strides; /* default: 1 for reductions, the window for pooling */
    lam_padding padding;
    lam_dims pad_low, pad_high; /* elements, negative: cut off; default 0 */
    lam_dims input_dilation;    /* default 1 */
    lam_dims window_dilation;   /* default 1 */
    bool exclude_padding;       /* lam_avg_pool: divide by the number of elements, not by the size of the window */
} lam_window_options;

/* The sum over each window; for bools the number of trues as i64.
 * Shape   the windowed axes get floor((low + dilated size + high - dilated window) / stride) + 1 elements.
 * Fails   LAM_ERR_RANK, LAM_ERR_SHAPE, LAM_ERR_OPTION, LAM_ERR_VALUE, LAM_ERR_OVERFLOW for impossible windows.
 *         Derivative: identity; the transpose is a sum over windows again. */
LAM_API lam_tensor *lam_reduce_window_sum(lam_tensor *x, const lam_window_options *options);

/* The largest element of each window; NaN wins; -inf (the least integer) where a window has none.
 * Fails   as lam_reduce_window_sum. Derivative: 1 at the first largest element. */
LAM_API lam_tensor *lam_reduce_window_max(lam_tensor *x, const lam_window_options *options);

/* The smallest element of each window; NaN wins; inf (the greatest integer) where a window has none.
 * Fails   as lam_reduce_window_sum. Derivative: 1 at the first smallest element. */
LAM_API lam_tensor *lam_reduce_window_min(lam_tensor *x, const lam_window_options *options);

/* The position of the first largest (smallest) element of each window: its row-major number among the windowed axes, or
 * the number of their elements if the window is empty.
 * Shape   as lam_reduce_window_sum, i64.
 * Fails   as lam_reduce_window_sum. Derivative: none. */
LAM_API lam_tensor *lam_reduce_window_argmax(lam_tensor *x, const lam_window_options *options);
LAM_API lam_tensor *lam_reduce_window_argmin(lam_tensor *x, const lam_window_options *options); /* Of the smallest.
 * Fails   as lam_reduce_window_sum. */

/* Zeros like x, to which each element of source is added at the position of the first largest (smallest) element of its
 * window of x: what the derivative of lam_reduce_window_max does with cotangents.
 * Shape   source as lam_reduce_window_sum of x; out that of x, in the dtype of source.
 * Fails   as lam_reduce_window_sum; LAM_ERR_SHAPE. Derivative: by source the elements at these positions; by x 0.
 * Source  jax.lax.select_and_scatter_add. */
LAM_API lam_tensor *lam_select_and_scatter_add(lam_tensor *x, lam_tensor *source, bool smallest,
                                               const lam_window_options *options);

/* The windows of x as features: the elements of a window of the first feature, then those of the second, and so on.
 * Padding and gaps are zeros. exclude_padding is ignored.
 * Shape   x [..., C, sizes] to [..., C times the elements of a window, places].
 * Fails   as lam_reduce_window_sum; LAM_ERR_RANK if no axis of features precedes the windows, or intermediate results
 *         would have too many axes. Owner: current scope. Derivative: identity on each copy of an element.
 * Source  jax.lax.conv_general_dilated_patches. */
LAM_API lam_tensor *lam_conv_patches(lam_tensor *x, const lam_window_options *options);

/* A convolution with different weights at each position: the product of w and lam_conv_patches(x, options) there.
 * Shape   x [..., C, sizes], w [O, C times the elements of a window, places] to [..., O, places].
 * Fails   as lam_conv_patches; LAM_ERR_SHAPE for other weights. Owner: current scope. Derivative: bilinear.
 * Source  jax.lax.conv_general_dilated_local. */
LAM_API lam_tensor *lam_conv_local(lam_tensor *x, lam_tensor *w, const lam_window_options *options);

/* The largest element of each window. By default windows do not overlap.
 * Fails   as lam_reduce_window_max. Derivative: as lam_reduce_window_max. */
LAM_API lam_tensor *lam_max_pool(lam_tensor *x, const lam_window_options *options);

/* The mean of each window, padding counted as zeros unless excluded. By default windows do not overlap. Integers are
 * taken as f64.
 * Fails   as lam_reduce_window_sum. Derivative: 1 / n for each element. */
LAM_API lam_tensor *lam_avg_pool(lam_tensor *x, const lam_window_options *options);

#ifdef __cplusplus
}
#endif
#endif
