/* Functions given by points, made of other operations: interpolation, the rules of the trapezoid and of Simpson. No
 * rows, no rules. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/reduce.h"

#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>

/* Two points at one place have no line between them. Linear between neighbours, found by a search; the place has no
 * derivative, but the share between the two has, by x and by both lists. */
static lam_tensor *between_points(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, int64_t n) {
    lam_tensor *first = lam_clamp(lam_sub(lam_searchsorted(xp, x, true), 1), 0, n > 1 ? n - 2 : 0);
    lam_tensor *second = lam_min(lam_add(first, 1), n - 1);
    lam_tensor *x0 = lam_take(xp, first, 0), *f0 = lam_take(fp, first, 0), *f1 = lam_take(fp, second, 0);
    lam_tensor *width = lam_sub(lam_take(xp, second, 0), x0), *flat = lam_le(width, 0.0);
    lam_tensor *share = lam_div(lam_sub(x, x0), lam_where(flat, 1.0, width));
    return lam_where(flat, lam_fma(share, lam_zeros_like(share), f1), lam_add(f0, lam_mul(share, lam_sub(f1, f0))));
}

/* Both lists are usable; otherwise *failed. */
static bool are_points(const char *operation, lam_tensor *x, lam_tensor *xp, lam_tensor *fp, lam_tensor **failed) {
    lam_dims own = lam_dims_of(xp);
    if (lam_failed(x) || lam_failed(xp) || lam_failed(fp)) return *failed = lam_add(lam_add(x, xp), fp), false;
    if (own.rank == 1 && own.dims[0] > 0 && lam_rank(fp) == 1 && lam_dim(fp, 0) == own.dims[0]) return true;
    *failed = lam__axes_fail(operation, xp, LAM_ERR_SHAPE, "the points are two lists of one length, which is not 0");
    return false;
}

/* Beyond the ends the value is that of the end, or another that is given. */
static lam_tensor *with_ends(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, int64_t n, const lam_interp_options *o) {
    lam_tensor *out = between_points(x, xp, fp, n);
    lam_tensor *left = lam_lt(x, lam_index(xp, 0, 0)), *right = lam_gt(x, lam_index(xp, 0, n - 1));
    out = o->right ? lam_where(right, *o->right, out) : lam_where(right, lam_index(fp, 0, n - 1), out);
    return o->left ? lam_where(left, *o->left, out) : lam_where(left, lam_index(fp, 0, 0), out);
}

lam_tensor *lam_interp(lam_tensor *x, lam_tensor *xp, lam_tensor *fp) {
    static const lam_interp_options none;
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!are_points("interp", x, xp, fp, &failed)) return failed;
    return lam__scope_only(with_ends(lam__reduce_real(x), xp, fp, lam_dim(xp, 0), &none), since);
}

/* Around a circle the points are put in order within one period, and the last and the first of them stand once more on
 * the other side, so that every x lies between two. */
lam_tensor *lam_interp_with(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, const lam_interp_options *options) {
    static const lam_interp_options none;
    uint64_t since = lam__scope_now(x);
    const lam_interp_options *o = options ? options : &none;
    lam_tensor *failed;
    if (!are_points("interp_with", x, xp, fp, &failed)) return failed;
    if (!(o->period >= 0 && o->period <= DBL_MAX))
        return lam__axes_fail("interp_with", x, LAM_ERR_VALUE, "%g is no period", o->period);
    const int64_t n = lam_dim(xp, 0);
    x = lam__reduce_real(x);
    if (o->period == 0)
        return lam__scope_only(o->extrapolate ? between_points(x, xp, fp, n) : with_ends(x, xp, fp, n, o), since);
    xp = lam_mod(lam__reduce_real(xp), o->period);
    lam_tensor *order = lam_argsort(xp, 0), *at = lam_take(xp, order, 0), *value = lam_take(fp, order, 0);
    lam_tensor *last = lam_slice_axis(at, 0, -1, LAM_END), *first = lam_slice_axis(at, 0, 0, 1);
    at = lam_concatenate(LAM_LIST(lam_sub(last, o->period), at, lam_add(first, o->period)), 0);
    value = lam_concatenate(LAM_LIST(lam_slice_axis(value, 0, -1, LAM_END), value, lam_slice_axis(value, 0, 0, 1)), 0);
    return lam__scope_only(between_points(lam_mod(x, o->period), at, value, n + 2), since);
}

/* x, one number per element of the axis or as many as y has, seen along the axis of y. */
static lam_tensor *places(lam_tensor *x, int axis, int rank) {
    if (lam_rank(x) != 1) return x;
    for (int i = axis + 1; i < rank; i++) x = lam_expand_dims(x, -1);
    return x;
}

/* The areas between neighbouring samples, but for a factor: twice as large, and in units of dx where there are no x.
 * The factor is what the result is to be multiplied by. */
static lam_tensor *areas(const char *operation, lam_tensor *y, lam_tensor *x, double dx, int *axis, double *factor) {
    lam_dims own = lam_dims_of(y);
    *factor = x ? 0.5 : 0.5 * dx;
    if (lam_failed(y) || (x && lam_failed(x))) return lam_add(y, x ? x : y);
    if (!lam__apply_axis(operation, y, own.rank, axis)) return lam__axes_failed(y);
    y = lam__reduce_real(y);
    lam_tensor *pairs = lam_add(lam_slice_axis(y, *axis, 1, LAM_END), lam_slice_axis(y, *axis, 0, -1));
    if (!x) return pairs;
    const int64_t n = own.dims[*axis];
    x = places(x, *axis, own.rank);
    *axis -= own.rank; /* counted from the end, where x and y line up */
    if (lam_rank(x) >= -*axis && lam_dim(x, *axis) != n)
        return lam__axes_fail(operation, x, LAM_ERR_SHAPE, "%lld places for %lld samples", (long long)lam_dim(x, *axis),
                              (long long)n);
    return lam_mul(pairs, lam_sub(lam_slice_axis(x, *axis, 1, LAM_END), lam_slice_axis(x, *axis, 0, -1)));
}

/* One sum over products, halved at the end: a pass fewer than halving each piece. */
lam_tensor *lam_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    double factor;
    lam_tensor *pieces = areas("trapezoid", y, x, dx, &axis, &factor);
    const lam_reduce_options over = {.axes = {1, &axis}};
    return lam__scope_only(lam_mul(factor, lam_sum(pieces, &over)), since);
}

/* As many results as pieces, one fewer than samples. */
lam_tensor *lam_cumulative_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    double factor;
    lam_tensor *pieces = areas("cumulative_trapezoid", y, x, dx, &axis, &factor);
    return lam__scope_only(lam_mul(factor, lam_cumsum(pieces, axis)), since);
}

/* Every second element of an axis from `first` on, `count` of them. */
static lam_tensor *every_second(lam_tensor *x, int axis, int64_t first, int64_t count) {
    int64_t starts[LAM_INNER_RANK] = {0}, stops[LAM_INNER_RANK], steps[LAM_INNER_RANK];
    const int rank = lam_rank(x);
    if (axis < 0) axis += rank;
    for (int i = 0; i < rank; i++) {
        stops[i] = i == axis ? first + 2 * count - 1 : LAM_END;
        steps[i] = i == axis ? 2 : 1;
    }
    starts[axis] = first;
    if (count == 0) return lam_slice_axis(x, axis, 0, 0);
    return lam_slice(x, (lam_dims){rank, starts}, (lam_dims){rank, stops}, (lam_dims){rank, steps});
}

/* The integrals of the parabolas through y0, y1, y2 at distances h0, h1, over both intervals. */
static lam_tensor *parabolas(lam_tensor *y[3], lam_tensor *h0, lam_tensor *h1) {
    lam_tensor *both = lam_add(h0, h1), *first = lam_mul(y[0], lam_sub(2.0, lam_div(h1, h0)));
    lam_tensor *middle = lam_mul(y[1], lam_mul(lam_div(both, h0), lam_div(both, h1)));
    lam_tensor *last = lam_mul(y[2], lam_sub(2.0, lam_div(h0, h1)));
    return lam_mul(lam_div(both, 6.0), lam_add(lam_add(first, middle), last));
}

/* The last interval of the parabola through the last three samples (Cartwright 2017). */
static lam_tensor *last_interval(lam_tensor *y[3], lam_tensor *h0, lam_tensor *h1) {
    lam_tensor *both = lam_add(h0, h1), *square = lam_square(h1);
    lam_tensor *last = lam_div(lam_mul(h1, lam_fma(h1, 2.0, lam_mul(3.0, h0))), lam_mul(6.0, both));
    lam_tensor *middle = lam_div(lam_fma(h0, lam_mul(3.0, h1), square), lam_mul(6.0, h0));
    lam_tensor *first = lam_div(lam_mul(h1, square), lam_mul(lam_mul(6.0, h0), both));
    return lam_sub(lam_add(lam_mul(y[2], last), lam_mul(y[1], middle)), lam_mul(y[0], first));
}

/* Distances between samples as a tensor beside y: those of x, or dx for all; real also where y is complex. */
static lam_tensor *steps_of(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    const int rank = lam_rank(y);
    if (x) return lam_diff(places(lam__reduce_real(x), axis + rank, rank), 1, axis);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis + rank ? lam_dim(y, axis) - 1 : 1;
    return lam__apply_broadcast(lam_cast(lam_scalar(lam_ctx_of(y), dx), lam__dtype_part((int)lam_dtype_of(y))), rank,
                                dims);
}

/* The axis is counted from the end, where x and y line up. Less than three samples have no parabola. */
lam_tensor *lam_simpson(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    const int rank = lam_rank(y);
    if (lam_failed(y) || (x && lam_failed(x))) return lam_add(y, x ? x : y);
    if (!lam__apply_axis("simpson", y, rank, &axis)) return lam__axes_failed(y);
    const int64_t n = lam_dim(y, axis);
    if (n < 3) return lam_trapezoid(y, x, dx, axis);
    y = lam__reduce_real(y);
    axis -= rank;
    lam_tensor *h = steps_of(y, x, dx, axis), *part[3];
    if (lam_failed(h)) return h;
    if (lam_dim(h, axis) != n - 1)
        return lam__axes_fail("simpson", x, LAM_ERR_SHAPE, "%lld places for %lld samples",
                              (long long)lam_dim(h, axis) + 1, (long long)n);
    const int64_t pairs = (n - 1) / 2;
    for (int i = 0; i < 3; i++) part[i] = every_second(y, axis, i, pairs);
    lam_tensor *pieces = parabolas(part, every_second(h, axis, 0, pairs), every_second(h, axis, 1, pairs));
    const lam_reduce_options over = {.axes = {1, &axis}};
    lam_tensor *sum = lam_sum(pieces, &over);
    if (n % 2) return lam__scope_only(sum, since);
    for (int i = 0; i < 3; i++) part[i] = lam_index(y, axis, n - 3 + i);
    return lam__scope_only(lam_add(sum, last_interval(part, lam_index(h, axis, n - 3), lam_index(h, axis, n - 2))),
                           since);
}

/* Slopes of neighbours; inside the mean of the two, each weighted by the other's distance. */
lam_tensor *lam_gradient_at(lam_tensor *y, lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(y);
    const int rank = lam_rank(y);
    if (lam_failed(y) || lam_failed(x)) return lam_add(y, x);
    if (!lam__apply_axis("gradient_at", y, rank, &axis)) return lam__axes_failed(y);
    const int64_t n = lam_dim(y, axis);
    if (n < 2) return lam__axes_fail("gradient_at", y, LAM_ERR_SHAPE, "%lld samples have no slope", (long long)n);
    axis -= rank; /* counted from the end, where x and y line up */
    lam_tensor *h = steps_of(y, x, 0, axis);
    if (lam_failed(h)) return h;
    if (lam_dim(h, axis) != n - 1)
        return lam__axes_fail("gradient_at", x, LAM_ERR_SHAPE, "%lld places for %lld samples",
                              (long long)lam_dim(h, axis) + 1, (long long)n);
    lam_tensor *slope = lam_div(lam_diff(lam__reduce_real(y), 1, axis), h);
    lam_tensor *h0 = lam_slice_axis(h, axis, 0, -1), *h1 = lam_slice_axis(h, axis, 1, LAM_END);
    lam_tensor *sum =
        lam_add(lam_mul(lam_slice_axis(slope, axis, 0, -1), h1), lam_mul(lam_slice_axis(slope, axis, 1, LAM_END), h0));
    lam_tensor *parts[3] = {lam_slice_axis(slope, axis, 0, 1), lam_div(sum, lam_add(h0, h1)),
                            lam_slice_axis(slope, axis, -1, LAM_END)};
    return lam__scope_only(lam_concatenate((lam_list){3, parts}, axis), since);
}
