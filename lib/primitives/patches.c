/* Windows of x as features, and convolutions whose weights differ from place to place, which are products with them.
 * Elements are taken by constant indices, an axis at a time, so that infinities stay where they are. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/params.h"
#include "lib/primitives/windows.h"

#include <lamina/convolution.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

/* One axis with what the window wants around it and between its elements. `end` is where the last window ends: what no
 * window reaches is cut off, by a negative number for lam_pad. */
static lam_tensor *with_room(lam_tensor *x, int axis, const lam__window_axis *a) {
    int64_t low[LAM_INNER_RANK] = {0}, high[LAM_INNER_RANK] = {0}, between[LAM_INNER_RANK] = {0};
    const int rank = lam_rank(x);
    const int64_t n = lam_dim(x, axis), have = n ? (n - 1) * a->gap + 1 : 0;
    const int64_t end = a->out ? (a->out - 1) * a->stride + (a->window - 1) * a->spread + 1 : 0;
    low[axis] = a->low;
    high[axis] = end - a->low - have;
    between[axis] = a->gap - 1;
    if (low[axis] == 0 && high[axis] == 0 && between[axis] == 0) return x;
    const lam_pad_options o = {.interior = {rank, between}};
    return lam_pad(x, (lam_dims){rank, low}, (lam_dims){rank, high}, &o);
}

/* An axis as [window, places], of which the first becomes the fastest part of the features that stand in front of all
 * windowed axes. Taking has a derivative that adds up what windows share. */
static lam_tensor *taken(lam_tensor *x, int feature, int axis, const lam__window_axis *a) {
    const lam_dims both = LAM_DIMS(a->window, a->out);
    lam_ctx *ctx = lam_ctx_of(x);
    lam_tensor *place = lam_mul(lam_iota(ctx, LAM_I64, both, 1), a->stride);
    lam_tensor *index = lam_add(place, lam_mul(lam_iota(ctx, LAM_I64, both, 0), a->spread));
    x = lam_moveaxis(lam_take(with_room(x, axis, a), index, axis), axis, feature + 1);
    return lam_collapse(x, feature, feature + 1);
}

/* Axis by axis: each one is taken apart into windows, whose elements join the axis of features. The last axis is then
 * the fastest, as in lax. */
static lam_tensor *patches(const char *operation, lam_tensor *x, const lam_window_options *options) {
    lam__window_params p;
    lam_value *unused;
    lam_tensor *failed;
    if (!lam__scope_operands(operation, 1, &x, &unused, &failed)) return failed;
    if (!lam__windows_params(operation, x, options, &p)) return lam__axes_failed(x);
    if (p.lead < 1)
        return lam__axes_fail_with(operation, x, LAM_ERR_RANK, "add an axis of one feature in front of the others",
                                   "there is no axis of features");
    for (int i = 0; i < p.rank; i++) x = taken(x, p.lead - 1, p.lead + i, &p.at[i]);
    return x;
}

/* lax.conv_general_dilated_patches, with features in front. */
lam_tensor *lam_conv_patches(lam_tensor *x, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    return lam__scope_only(patches("conv_patches", x, options), since);
}

/* [..., features, places] as three axes: all in front, features, all places. Reshapes of neighbours are views where
 * strides allow it. */
static lam_tensor *flat(lam_tensor *x, int axes) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[3] = {1, 1, 1};
    for (int i = 0; i < own.rank; i++)
        dims[i < own.rank - axes - 1 ? 0 : i == own.rank - axes - 1 ? 1 : 2] *= own.dims[i];
    return lam__apply_reshape(x, 3, dims);
}

/* Whether w has weights for the windows of x that `all` holds. Axes are compared from the last one on, since x may have
 * any number in front. The first axis of w are the features of the result, of which any number will do. */
static bool weights_fit(lam_tensor *all, lam_tensor *w, int axes) {
    lam_dims have = lam_dims_of(all), own = lam_dims_of(w);
    if (own.rank != axes + 2) return false;
    for (int i = 0; i <= axes; i++)
        if (own.dims[own.rank - 1 - i] != have.dims[have.rank - 1 - i]) return false;
    return true;
}

/* A product of matrices for each place. Places are the batch of the product, and what stands in front of the features
 * its rows. So nothing is repeated. */
lam_tensor *lam_conv_local(lam_tensor *x, lam_tensor *w, const lam_window_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, w}, *failed;
    if (!lam__matrices_operands("conv_local", false, 2, in, in, &failed)) return failed;
    lam_tensor *all = patches("conv_local", in[0], options);
    if (lam_failed(all)) return all;
    const int axes = options->window.rank;
    if (!weights_fit(all, in[1], axes))
        return lam__matrices_fail("conv_local", 2, (lam_tensor *[]){all, in[1]}, LAM_ERR_SHAPE,
                                  "w is [features of the result, features of lam_conv_patches(x), places]",
                                  "the weights do not fit the windows");
    /* `flat` has made features the axis 1, and places the axis 2, of both. */
    const lam_dot_general_options o = {LAM_AXES(1), LAM_AXES(1), LAM_AXES(2), LAM_AXES(2)};
    lam_tensor *out = lam_transpose(lam_dot_general(flat(all, axes), flat(in[1], axes), &o), LAM_AXES(1, 2, 0));
    int64_t dims[LAM_INNER_RANK];
    lam_dims own = lam_dims_of(all);
    for (int i = 0; i < own.rank; i++) dims[i] = own.dims[i];
    dims[own.rank - axes - 1] = lam_dim(in[1], 0);
    return lam__scope_only(lam_reshape(out, (lam_dims){own.rank, dims}), since);
}
