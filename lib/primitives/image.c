/* Images of other sizes: each axis is a matrix of weights, made of a kernel at the distances of old places from new
 * ones, and the axes follow one another. Weights are made in f64 whatever the image is, since places are large
 * numbers, and they are ordinary operations of scale and translation, so both have derivatives. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/signal.h>
#include <lamina/tensor.h>

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* Keys's cubic (1981) with a = -1/2, in two pieces: (a + 2) x^3 - (a + 3) x^2 + 1 up to 1, a (x^3 - 5 x^2 + 8 x - 4) up
 * to 2. It passes through the elements and has a continuous slope. */
static lam_tensor *cubic(lam_tensor *x) {
    lam_tensor *inner = lam_add(lam_mul(lam_mul(lam_sub(lam_mul(1.5, x), 2.5), x), x), 1.0);
    lam_tensor *outer = lam_add(lam_mul(lam_sub(lam_mul(lam_sub(2.5, lam_mul(0.5, x)), x), 4.0), x), 2.0);
    return lam_where(lam_lt(x, 1.0), inner, lam_where(lam_lt(x, 2.0), outer, 0.0));
}

/* sinc(x) sinc(x / radius). From the radius on it is 0. */
static lam_tensor *lanczos(lam_tensor *x, double radius) {
    return lam_where(lam_le(x, radius), lam_mul(lam_sinc(x), lam_sinc(lam_div(x, radius))), 0.0);
}

/* At distances x >= 0. A triangle is the default, which is linear interpolation. */
static lam_tensor *kernel(lam_image_method method, lam_tensor *x) {
    switch (method) {
    case LAM_IMAGE_CUBIC: return cubic(x);
    case LAM_IMAGE_LANCZOS3: return lanczos(x, 3);
    case LAM_IMAGE_LANCZOS5: return lanczos(x, 5);
    default: return lam_max(lam_sub(1.0, x), 0.0);
    }
}

/* [m, n]: what each of m old elements gives to each of n new ones, whose centres lie at (i + 1/2 - shift)/scale - 1/2.
 * The kernel is as wide as the spaces between new elements where these are the wider ones. Weights add up to 1; beyond
 * the image they are 0. Smaller images so mean over what they leave out; `aliased` samples it. */
static lam_tensor *weights(int64_t m, int64_t n, lam_tensor *scale, lam_tensor *shift, lam_image_options how) {
    lam_ctx *ctx = lam_ctx_of(scale);
    lam_tensor *i = lam_iota(ctx, LAM_F64, LAM_DIMS(n), 0), *k = lam_iota(ctx, LAM_F64, LAM_DIMS(m, 1), 0);
    lam_tensor *places = lam_sub(lam_div(lam_sub(lam_add(i, 0.5), shift), scale), 0.5);
    lam_tensor *away = lam_abs(lam_sub(places, k));
    if (!how.aliased) away = lam_div(away, lam_max(lam_reciprocal(scale), 1.0));
    lam_tensor *w = kernel(how.method, away), *total = lam_sum(w, &(lam_reduce_options){LAM_AXES(0), true});
    /* 1000 roundings of f32, as in JAX: where the sum is less no old element is near. */
    lam_tensor *some = lam_gt(lam_abs(total), 1e-4);
    w = lam_where(some, lam_div(w, lam_where(some, total, 1.0)), 0.0);
    return lam_where(lam_and(lam_ge(places, -0.5), lam_le(places, (double)m - 0.5)), w, 0.0);
}

/* The weights gone through along an axis. tensordot puts the new axis last, hence the move. */
static lam_tensor *along(lam_tensor *x, int axis, lam_tensor *w) {
    w = lam_cast(w, lam__matrices_real(lam_dtype_of(x)));
    return lam_moveaxis(lam_tensordot(x, w, LAM_AXES(axis), LAM_AXES(0)), -1, axis);
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Whether x can become an image of these dims; otherwise *failed is the result. Shapes are checked for both operations
 * before anything is made. */
static bool fits(const char *operation, lam_tensor *x, lam_dims dims, lam_image_options how, lam_tensor **failed) {
    const int rank = lam_rank(x);
    *failed = NULL;
    if (dims.rank != rank || (rank && !dims.dims))
        *failed = lam__axes_fail(operation, x, LAM_ERR_RANK, "%d dims are given for rank %d", dims.rank, rank);
    else if ((int)how.method < 0 || how.method > LAM_IMAGE_NEAREST)
        *failed = lam__axes_fail(operation, x, LAM_ERR_OPTION, "there is no method %d", (int)how.method);
    for (int a = 0; !*failed && a < rank; a++) {
        if (dims.dims[a] < 0)
            *failed = lam__axes_fail(operation, x, LAM_ERR_VALUE, "axis %d cannot have %lld elements", a,
                                     (long long)dims.dims[a]);
        else if (lam_dim(x, a) == 0 && dims.dims[a] > 0)
            *failed = lam__axes_fail(operation, x, LAM_ERR_SHAPE, "axis %d has no elements to be made more of", a);
    }
    return !*failed;
}

/* ---- the two operations ------------------------------------------------------------------------------------------ */

/* The element whose interval holds the centre of the new one. Constant indices: its derivative is that of taking. */
static lam_tensor *nearest(lam_tensor *x, int axis, int64_t n) {
    const int64_t m = lam_dim(x, axis);
    lam_tensor *i = lam_iota(lam_ctx_of(x), LAM_F64, LAM_DIMS(n), 0);
    lam_tensor *places = lam_floor(lam_mul(lam_add(i, 0.5), (double)m / (double)n));
    return lam_take(x, lam_cast(places, LAM_I64), axis);
}

/* Axes that keep their size are left as they are: their weights would be the unit matrix, for the price of a
 * product. */
lam_tensor *lam_image_resize(lam_tensor *x, lam_dims dims, const lam_image_options *options) {
    uint64_t since = lam__scope_now(x);
    const lam_image_options how = options ? *options : (lam_image_options){0};
    lam_tensor *failed, *y = x;
    if (!lam__matrices_operands("image_resize", how.method != LAM_IMAGE_NEAREST, 1, &y, &y, &failed)) return failed;
    if (!fits("image_resize", y, dims, how, &failed)) return failed;
    lam_tensor *zero = lam_scalar(lam_ctx_of(y), 0);
    for (int a = 0; a < dims.rank; a++) {
        const int64_t m = lam_dim(y, a), n = dims.dims[a];
        if (m == n) continue;
        if (n == 0) y = lam_slice_axis(y, a, 0, 0);
        else if (how.method == LAM_IMAGE_NEAREST) y = nearest(y, a, n);
        else y = along(y, a, weights(m, n, lam_scalar(lam_ctx_of(y), (double)n / (double)m), zero, how));
    }
    return lam__scope_only(y == x ? lam_alias(x) : y, since);
}

/* One of the numbers of a vector, or the number that stands for all. As f64, like the places. */
static lam_tensor *entry(lam_tensor *v, int k) {
    return lam_cast(lam_rank(v) ? lam_index(v, 0, k) : v, LAM_F64);
}

/* What is not named is neither scaled nor moved, and has to keep its size. Numbers for scale and translation are for
 * all axes that are. Both may be computed, and are differentiated then. */
lam_tensor *lam_scale_and_translate(lam_tensor *x, lam_dims dims, lam_axes axes, lam_tensor *scale,
                                    lam_tensor *translation, const lam_image_options *options) {
    static const char operation[] = "scale_and_translate";
    uint64_t since = lam__scope_now(x);
    const lam_image_options how = options ? *options : (lam_image_options){0};
    lam_tensor *in[2] = {scale, translation}, *failed, *y = x;
    int count, all[LAM_INNER_RANK];
    if (!lam__apply_given(operation, 3, (lam_tensor *[]){x, scale, translation}, &failed)) return failed;
    if (!lam__matrices_operands(operation, true, 1, &y, &y, &failed)) return failed;
    if (!lam__matrices_ordered(operation, true, 2, in, &failed) || !fits(operation, y, dims, how, &failed))
        return failed;
    if (how.method == LAM_IMAGE_NEAREST)
        return lam__axes_fail_with(operation, x, LAM_ERR_OPTION, "take lam_image_resize or lam_map_coordinates",
                                   "the nearest element is not a kernel");
    if (!lam__axes_collect(operation, y, axes, dims.rank, &count, all)) return lam__axes_failed(y);
    for (int a = 0; count < 0 && a < dims.rank; a++) all[a] = a;
    if (count < 0) count = dims.rank;
    for (int i = 0; i < 2; i++)
        if (lam_rank(in[i]) > 1 || (lam_rank(in[i]) == 1 && lam_size(in[i]) != count))
            return lam__axes_fail(operation, in[i], LAM_ERR_SHAPE, "%s is a number, or one for each of %d axes",
                                  i ? "translation" : "scale", count);
    uint32_t moved = 0;
    for (int k = 0; k < count; k++) moved |= UINT32_C(1) << all[k];
    for (int a = 0; a < dims.rank; a++)
        if (!(moved >> a & 1u) && lam_dim(y, a) != dims.dims[a])
            return lam__axes_fail(operation, x, LAM_ERR_SHAPE, "axis %d is not scaled and has %lld elements, not %lld",
                                  a, (long long)lam_dim(y, a), (long long)dims.dims[a]);
    /* The kernel of all axes is a product of one for each, so they are gone through one by one. */
    for (int k = 0; k < count; k++) {
        const int64_t m = lam_dim(y, all[k]);
        y = along(y, all[k], weights(m, dims.dims[all[k]], entry(in[0], k), entry(in[1], k), how));
    }
    return lam__scope_only(y == x ? lam_alias(x) : y, since);
}
