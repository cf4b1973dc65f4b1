/* Functions given by points, made of other operations: interpolation, the rules of the trapezoid and of Simpson. No
 * rows, no rules. Differences of places and of values are those of floats, whatever was given, and of f16 those of f32:
 * neither integers nor halves have room for them. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

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
    /* 0 times the share keeps a NaN of x. */
    return lam_where(flat, lam_add(lam_mul(share, lam_zeros_like(share)), f1),
                     lam_add(f0, lam_mul(share, lam_sub(f1, f0))));
}

/* Both lists are usable; otherwise *failed. Whether places ascend is not looked at: in a batch it could not be, and
 * NumPy does not. */
static bool are_points(const char *operation, lam_tensor *x, lam_tensor *xp, lam_tensor *fp, lam_tensor **failed) {
    lam_dims own = lam_dims_of(xp);
    if (!lam__apply_given(operation, 3, (lam_tensor *[]){x, xp, fp}, failed)) return false;
    if (own.rank == 1 && own.dims[0] > 0 && lam_rank(fp) == 1 && lam_dim(fp, 0) == own.dims[0]) return true;
    *failed = lam__matrices_fail(operation, 3, (lam_tensor *[]){x, xp, fp}, LAM_ERR_SHAPE, NULL,
                                 "the points are two lists of one length, which is not 0");
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
    lam_tensor *failed, *in[3] = {x, xp, fp};
    if (!are_points("interp", x, xp, fp, &failed)) return lam__scope_only(failed, since);
    const lam_dtype dtype = lam__apply_floats(3, in);
    lam_tensor *out = with_ends(in[0], in[1], in[2], lam_dim(xp, 0), &none);
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* Around a circle the points are put in order within one period, and the last and the first of them stand once more on
 * the other side, so that every x lies between two. */
static lam_tensor *around(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, int64_t n, double period) {
    /* So they come in order whatever turn of the circle they were given on. */
    xp = lam_mod(xp, period);
    lam_tensor *order = lam_argsort(xp, 0), *at = lam_take(xp, order, 0), *value = lam_take(fp, order, 0);
    lam_tensor *last = lam_slice_axis(at, 0, -1, LAM_END), *first = lam_slice_axis(at, 0, 0, 1);
    at = lam_concatenate(LAM_LIST(lam_sub(last, period), at, lam_add(first, period)), 0);
    value = lam_concatenate(LAM_LIST(lam_slice_axis(value, 0, -1, LAM_END), value, lam_slice_axis(value, 0, 0, 1)), 0);
    return between_points(lam_mod(x, period), at, value, n + 2);
}

/* A period leaves no ends. */
lam_tensor *lam_interp_with(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, const lam_interp_options *options) {
    static const lam_interp_options none;
    uint64_t since = lam__scope_now(x);
    const lam_interp_options *o = options ? options : &none;
    lam_tensor *failed, *out, *in[3] = {x, xp, fp};
    if (!are_points("interp_with", x, xp, fp, &failed)) return lam__scope_only(failed, since);
    /* A period of 0 is none. */
    if (!(o->period >= 0 && o->period <= DBL_MAX))
        return lam__axes_fail("interp_with", x, LAM_ERR_VALUE, "%g is not a period", o->period);
    const int64_t n = lam_dim(xp, 0);
    const lam_dtype dtype = lam__apply_floats(3, in);
    if (o->period != 0) out = around(in[0], in[1], in[2], n, o->period);
    else if (o->extrapolate) out = between_points(in[0], in[1], in[2], n);
    else out = with_ends(in[0], in[1], in[2], n, o);
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}

/* Whether y, and x where it is given, can be looked at. *failed is set where it is false. */
static bool samples(const char *operation, lam_tensor *y, lam_tensor *x, lam_tensor **failed) {
    lam_tensor *const in[2] = {y, x};
    lam_value *unused[2];
    return lam__scope_operands(operation, x ? 2 : 1, in, unused, failed) != NULL;
}

/* x, one number per element of the axis or as many as y has, seen along the axis of y. */
static lam_tensor *places(lam_tensor *x, int axis, int rank) {
    if (lam_rank(x) != 1) return x;
    for (int i = axis + 1; i < rank; i++) x = lam_expand_dims(x, -1);
    return x;
}

/* What a sum of areas becomes an integral by. */
typedef struct ending {
    double factor;
    lam_dtype dtype;
} ending;

/* Times the factor, in the dtype of what was given. */
static lam_tensor *ended(lam_tensor *sum, ending e) {
    return lam__apply_narrowed(lam_mul(e.factor, sum), e.dtype);
}

/* The areas between neighbouring samples, but for the ending: twice as large, and in units of dx where there are no
 * x. The factor goes on the sum, in `ended`. */
static lam_tensor *areas(const char *operation, lam_tensor *y, lam_tensor *x, double dx, int *axis, ending *e) {
    lam_dims own = lam_dims_of(y);
    lam_tensor *failed;
    *e = (ending){x ? 0.5 : 0.5 * dx, LAM_F64};
    if (!samples(operation, y, x, &failed)) return failed;
    if (!lam__apply_axis(operation, y, own.rank, axis)) return lam__axes_failed(y);
    const int64_t n = own.dims[*axis];
    if (x) x = places(x, *axis, own.rank);
    *axis -= own.rank; /* counted from the end, where x and y line up */
    if (x && lam_rank(x) >= -*axis && lam_dim(x, *axis) != n)
        return lam__axes_fail(operation, x, LAM_ERR_SHAPE, "%lld places for %lld samples", (long long)lam_dim(x, *axis),
                              (long long)n);
    lam_tensor *in[2] = {y, x};
    e->dtype = lam__apply_floats(2, in);
    lam_tensor *pairs = lam_add(lam_slice_axis(in[0], *axis, 1, LAM_END), lam_slice_axis(in[0], *axis, 0, -1));
    return x ? lam_mul(pairs, lam_diff(in[1], 1, *axis)) : pairs;
}

/* One sum over products, halved at the end: a pass fewer than halving each piece. */
lam_tensor *lam_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    ending e;
    lam_tensor *pieces = areas("trapezoid", y, x, dx, &axis, &e);
    const lam_reduce_options over = {.axes = {1, &axis}};
    return lam__scope_only(ended(lam_sum(pieces, &over), e), since);
}

/* As many results as pieces, one fewer than samples. There is no 0 in front, as scipy.integrate.cumulative_trapezoid
 * has it without `initial`. */
lam_tensor *lam_cumulative_trapezoid(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    ending e;
    lam_tensor *pieces = areas("cumulative_trapezoid", y, x, dx, &axis, &e);
    return lam__scope_only(ended(lam_cumsum(pieces, axis), e), since);
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
    /* A slice of no elements has no end to count from. */
    if (count == 0) return lam_slice_axis(x, axis, 0, 0);
    return lam_slice(x, (lam_dims){rank, starts}, (lam_dims){rank, stops}, (lam_dims){rank, steps});
}

/* x / y, and 0 where y is: what SciPy makes of quotients of distances where samples coincide. */
static lam_tensor *ratio(lam_tensor *x, lam_tensor *y) {
    lam_tensor *none = lam_eq(y, 0.0);
    return lam_where(none, 0.0, lam_div(x, lam_where(none, 1.0, y)));
}

/* The integrals of the parabolas through y0, y1, y2 at distances h0, h1, over both intervals. For even distances the
 * weights are 1, 4, 1 times a third of one. */
static lam_tensor *parabolas(lam_tensor *y[3], lam_tensor *h0, lam_tensor *h1) {
    lam_tensor *both = lam_add(h0, h1), *first = lam_mul(y[0], lam_sub(2.0, ratio(h1, h0)));
    lam_tensor *middle = lam_mul(y[1], lam_mul(ratio(both, h0), ratio(both, h1)));
    lam_tensor *last = lam_mul(y[2], lam_sub(2.0, ratio(h0, h1)));
    return lam_mul(lam_div(both, 6.0), lam_add(lam_add(first, middle), last));
}

/* The last interval of the parabola through the last three samples (Cartwright 2017). */
static lam_tensor *last_interval(lam_tensor *y[3], lam_tensor *h0, lam_tensor *h1) {
    lam_tensor *both = lam_add(h0, h1), *square = lam_square(h1);
    lam_tensor *last = ratio(lam_mul(h1, lam_fma(h1, 2.0, lam_mul(3.0, h0))), lam_mul(6.0, both));
    lam_tensor *middle = ratio(lam_fma(h0, lam_mul(3.0, h1), square), lam_mul(6.0, h0));
    lam_tensor *first = ratio(lam_mul(h1, square), lam_mul(lam_mul(6.0, h0), both));
    return lam_sub(lam_add(lam_mul(y[2], last), lam_mul(y[1], middle)), lam_mul(y[0], first));
}

/* Distances between samples as a tensor beside y, both floats: those of x, or dx for all; real also where y is
 * complex. One number for all is a view, not memory. */
static lam_tensor *steps_of(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    const int rank = lam_rank(y);
    if (x) return lam_diff(places(x, axis + rank, rank), 1, axis);
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < rank; i++) dims[i] = i == axis + rank ? lam_dim(y, axis) - 1 : 1;
    return lam__apply_broadcast(lam_cast(lam_scalar(lam_ctx_of(y), dx), lam__dtype_part((int)lam_dtype_of(y))), rank,
                                dims);
}

/* The axis is counted from the end, where x and y line up. Less than three samples have no parabola. */
lam_tensor *lam_simpson(lam_tensor *y, lam_tensor *x, double dx, int axis) {
    uint64_t since = lam__scope_now(y);
    const int rank = lam_rank(y);
    lam_tensor *failed;
    if (!samples("simpson", y, x, &failed)) return lam__scope_only(failed, since);
    if (!lam__apply_axis("simpson", y, rank, &axis)) return lam__axes_failed(y);
    const int64_t n = lam_dim(y, axis);
    if (n < 3) return lam__scope_named(lam_trapezoid(y, x, dx, axis), since);
    axis -= rank;
    /* From here on the axis is negative, and stays right for x, which may have fewer axes. */
    lam_tensor *in[2] = {y, x}, *part[3];
    const lam_dtype dtype = lam__apply_floats(2, in);
    lam_tensor *h = steps_of(in[0], in[1], dx, axis);
    if (lam_failed(in[0]) || lam_failed(h)) return lam__scope_only(lam_failed(h) ? h : in[0], since);
    if (lam_dim(h, axis) != n - 1)
        return lam__axes_fail("simpson", x, LAM_ERR_SHAPE, "%lld places for %lld samples",
                              (long long)lam_dim(h, axis) + 1, (long long)n);
    /* Parabolas through samples 0 to 2, 2 to 4 and so on, each over the two intervals between them. */
    const int64_t pairs = (n - 1) / 2;
    for (int i = 0; i < 3; i++) part[i] = every_second(in[0], axis, i, pairs);
    lam_tensor *pieces = parabolas(part, every_second(h, axis, 0, pairs), every_second(h, axis, 1, pairs));
    const lam_reduce_options over = {.axes = {1, &axis}};
    lam_tensor *sum = lam_sum(pieces, &over);
    if (n % 2) return lam__scope_only(lam__apply_narrowed(sum, dtype), since);
    /* An even number of samples leaves one interval behind the pairs. */
    for (int i = 0; i < 3; i++) part[i] = lam_index(in[0], axis, n - 3 + i);
    sum = lam_add(sum, last_interval(part, lam_index(h, axis, n - 3), lam_index(h, axis, n - 2)));
    return lam__scope_only(lam__apply_narrowed(sum, dtype), since);
}

/* Slopes of neighbours; inside the mean of the two, each weighted by the other's distance. That is exact for parabolas,
 * as numpy.gradient has it; at the ends there is one neighbour only. */
lam_tensor *lam_gradient_at(lam_tensor *y, lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(y);
    const int rank = lam_rank(y);
    lam_tensor *in[2] = {y, x}, *failed;
    if (!lam__apply_given("gradient_at", 2, in, &failed)) return failed;
    if (!lam__apply_axis("gradient_at", y, rank, &axis)) return lam__axes_failed(y);
    const int64_t n = lam_dim(y, axis);
    if (n < 2) return lam__axes_fail("gradient_at", y, LAM_ERR_SHAPE, "%lld samples have no slope", (long long)n);
    axis -= rank; /* counted from the end, where x and y line up */
    const lam_dtype dtype = lam__apply_floats(2, in);
    lam_tensor *h = steps_of(in[0], in[1], 0, axis);
    if (lam_failed(h)) return lam__scope_only(h, since);
    if (lam_dim(h, axis) != n - 1)
        return lam__axes_fail("gradient_at", x, LAM_ERR_SHAPE, "%lld places for %lld samples",
                              (long long)lam_dim(h, axis) + 1, (long long)n);
    lam_tensor *slope = lam_div(lam_diff(in[0], 1, axis), h);
    lam_tensor *h0 = lam_slice_axis(h, axis, 0, -1), *h1 = lam_slice_axis(h, axis, 1, LAM_END);
    lam_tensor *sum =
        lam_add(lam_mul(lam_slice_axis(slope, axis, 0, -1), h1), lam_mul(lam_slice_axis(slope, axis, 1, LAM_END), h0));
    lam_tensor *parts[3] = {lam_slice_axis(slope, axis, 0, 1), lam_div(sum, lam_add(h0, h1)),
                            lam_slice_axis(slope, axis, -1, LAM_END)};
    return lam__scope_only(lam__apply_narrowed(lam_concatenate((lam_list){3, parts}, axis), dtype), since);
}
