/* Windows that slide over axes, as users describe them and as rows have them (lam__window_axis): shared by convolutions
 * and reductions over windows. */
#ifndef LAM_PRIMITIVES_WINDOWS_H
#define LAM_PRIMITIVES_WINDOWS_H

#include "lib/base/context.h"
#include "lib/kernels/kernels.h"
#include "lib/primitives/params.h"

#include <lamina/convolution.h>

/* What the options of a user say; x is for messages. */
typedef struct lam__windows_how {
    const char *operation;
    lam_tensor *x;
    lam_padding padding;
    lam_dims strides, low, high, gap, spread;
} lam__windows_how;

/* The geometry of n axes with these sizes and windows. False after recording what is impossible. */
bool lam__windows_collect(const lam__windows_how *how, int n, const int64_t size[], const int64_t window[],
                          lam__window_axis at[]);

/* The same for a call of a user's, over the last axes of x, which is alive: its options as parameters. */
bool lam__windows_params(const char *operation, lam_tensor *x, const lam_window_options *o, lam__window_params *p);

/* The geometry that takes places of the result back to the `size` elements of the operand: element s at place k of the
 * turned window belongs to place t where s gap = t stride + k spread - low. */
lam__window_axis lam__windows_transposed(const lam__window_axis *a, int64_t size);

#endif
