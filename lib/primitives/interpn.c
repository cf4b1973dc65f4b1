/* Interpolation between the points of a grid whose lines are given: the corners of a cell are rows of a bag, so that no
 * corner is copied and all derivatives are those of lam_embedding_bag. Lines are searched as by lam_interp, whose
 * slopes at them are the same. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/seen.h"

#include <lamina/ops.h>
#include <lamina/signal.h>
#include <lamina/tensor.h>

#include <math.h>

static const char *const operation = "interpn";

typedef struct cells {
    lam_tensor *index;   /* [corners, ...]: rows of the values; NULL before the first axis */
    lam_tensor *weight;  /* their weights */
    lam_tensor *outside; /* [...], bool: beyond the grid along some axis */
} cells;

/* The lines of an axis and x along it, in one real dtype. False: *failed is the result. */
static bool line_of(lam_tensor *points, lam_tensor *x, int64_t n, bool nearest, lam_tensor *io[2],
                    lam_tensor **failed) {
    io[0] = points;
    io[1] = x;
    if (!lam__matrices_ordered(operation, true, 2, io, failed)) return false;
    lam__apply_floats(2, io);
    if (lam_rank(io[0]) != 1 || lam_size(io[0]) != n)
        *failed = lam__matrices_fail(operation, 2, io, LAM_ERR_SHAPE, "give a vector as long as the axis of the values",
                                     "an axis of %lld values has other points", (long long)n);
    else if (n < (nearest ? 1 : 2))
        *failed = lam__matrices_fail(operation, 2, io, LAM_ERR_SHAPE, "leave out axes of one point",
                                     "between %lld points there is nothing", (long long)n);
    else return true;
    return false;
}

/* False after recording that the points do not ascend, where that can be seen. What is compared goes at once: nothing
 * of it is wanted but the answer. */
static bool ascends(lam_tensor *points) {
    lam_scope scope;
    lam__scope_open(points->ctx, &scope);
    lam_tensor *before = lam_slice_axis(points, 0, 0, -1), *after = lam_slice_axis(points, 0, 1, LAM_END);
    const bool order = lam__seen_true(lam_all(lam_lt(before, after), NULL));
    lam__scope_close(&scope);
    if (!order)
        lam__axes_fail_with(operation, points, LAM_ERR_VALUE, "sort them, and the values with them",
                            "the points do not ascend");
    return order;
}

/* Each corner becomes two, all lower ones before all upper ones: `step` behind them in the rows. They are in front, so
 * that loops go along the places. */
static void add_corners(cells *c, lam_tensor *lower, int64_t step, lam_tensor *share) {
    lam_tensor *less = lam_sub(1.0, share);
    lam_tensor *first = c->index ? lam_add(c->index, lower) : lam_expand_dims(lower, 0);
    lam_tensor *weights[2] = {c->weight ? lam_mul(c->weight, less) : lam_expand_dims(less, 0),
                              c->weight ? lam_mul(c->weight, share) : lam_expand_dims(share, 0)};
    c->index = lam_concatenate(LAM_LIST(first, lam_add(first, step)), 0);
    c->weight = lam_concatenate((lam_list){2, weights}, 0);
}

/* What lies beyond stands on the edge, without a derivative, where it gets another value anyway. */
static void split(cells *c, lam_tensor *points, lam_tensor *x, int64_t stride, const lam_interpn_options *o) {
    const int64_t n = lam_size(points);
    lam_tensor *first = lam_index(points, 0, 0), *last = lam_index(points, 0, -1);
    if (!o->extrapolate) {
        lam_tensor *below = lam_lt(x, first), *above = lam_gt(x, last), *beyond = lam_or(below, above);
        c->outside = c->outside ? lam_or(c->outside, beyond) : beyond;
        x = lam_where(below, lam_stop_gradient(first), lam_where(above, lam_stop_gradient(last), x));
    }
    /* A place on a line belongs to the cell behind it, on the last line to the last cell. */
    lam_tensor *lower = lam_clamp(lam_sub(lam_searchsorted(points, x, true), 1), 0, n > 1 ? n - 2 : 0);
    lam_tensor *upper = n > 1 ? lam_add(lower, 1) : lower;
    lam_tensor *x0 = lam_take(points, lower, 0), *width = lam_sub(lam_take(points, upper, 0), x0);
    /* Points that could not be seen may coincide: nothing is divided by 0, and the share is 0 there or any number. */
    lam_tensor *share = lam_div(lam_sub(x, x0), lam_where(lam_le(width, 0.0), 1.0, width));
    /* A share of one half goes to the lower point, as in SciPy. */
    if (o->nearest) { /* NaN stays what it is */
        share = lam_stop_gradient(share);
        share = lam_where(lam_gt(share, 0.5), 1.0, lam_where(lam_le(share, 0.5), 0.0, share));
    }
    add_corners(c, stride > 1 ? lam_mul(lower, stride) : lower, n > 1 ? stride : 0, share);
}

/* All corners around every place. False: *failed is the result. The last axis comes first, since rows of the grid lie
 * one behind the other along it. */
static bool find(lam_list points, const lam_dims *own, lam_tensor *x, const lam_interpn_options *o, cells *c,
                 lam_tensor **failed) {
    int64_t stride = 1;
    for (int k = (int)points.count - 1; k >= 0; k--) {
        lam_tensor *line[2];
        if (!line_of(points.items[k], lam_index(x, -1, k), own->dims[k], o->nearest, line, failed)) return false;
        if (!ascends(line[0])) return *failed = lam__axes_failed(x), false;
        split(c, line[0], line[1], stride, o);
        stride *= own->dims[k];
    }
    /* In front corners suited the loops above; a bag has them last. */
    c->index = lam_contiguous(lam_moveaxis(c->index, 0, -1));
    c->weight = lam_contiguous(lam_moveaxis(c->weight, 0, -1));
    return true;
}

/* The axes of the grid as one. */
static lam_tensor *as_rows(lam_tensor *values, const lam_dims *own, int axes) {
    int64_t dims[LAM_INNER_RANK] = {1};
    for (int i = 0; i < axes; i++) dims[0] *= own->dims[i];
    for (int i = axes; i < own->rank; i++) dims[i - axes + 1] = own->dims[i];
    return lam__apply_reshape(values, own->rank - axes + 1, dims);
}

/* Bags are of real numbers. So the two parts of complex values are summed apart, with the same corners. */
static lam_tensor *sums(lam_tensor *rows, const cells *c) {
    if (!lam__cplx_is(rows)) return lam_embedding_bag(rows, c->index, lam_cast(c->weight, lam_dtype_of(rows)));
    return lam_complex(sums(lam_real(rows), c), sums(lam_imag(rows), c));
}

/* Whether there are as many lists of points as axes of a grid and coordinates. */
static bool fits(lam_list points, lam_tensor *values, lam_tensor *x, lam_tensor **failed) {
    lam_value *unused[2];
    if (!lam__scope_operands(operation, 2, (lam_tensor *[]){values, x}, unused, failed)) return false;
    const int axes = points.count <= LAM_MAX_RANK ? (int)points.count : LAM_MAX_RANK + 1;
    if (axes == 0 || !points.items)
        *failed = lam__axes_fail(operation, x, LAM_ERR_ARITY, "a grid has a list of points for each of its axes");
    else if (lam_rank(values) < axes || lam_rank(x) == 0 || lam_dim(x, -1) != axes)
        *failed = lam__matrices_fail(operation, 2, (lam_tensor *[]){values, x}, LAM_ERR_SHAPE,
                                     "values have the axes of the grid in front, x the coordinates along its last axis",
                                     "%zu lists of points do not fit", points.count);
    else return true;
    return false;
}

lam_tensor *lam_interpn(lam_list points, lam_tensor *values, lam_tensor *x, const lam_interpn_options *options) {
    static const lam_interpn_options none;
    const lam_interpn_options *o = options ? options : &none;
    uint64_t since = lam__scope_now(values);
    lam_tensor *failed;
    cells c = {0};
    if (!fits(points, values, x, &failed)) return failed;
    const lam_dtype dtype = lam__apply_floats(1, &values);
    lam_dims own = lam_dims_of(values);
    if (!find(points, &own, x, o, &c, &failed)) return lam__scope_only(failed, since);
    const int axes = (int)points.count;
    lam_tensor *out = sums(as_rows(values, &own, axes), &c);
    /* What stands behind the axes of the grid goes along as rows, so `outside` gets an axis for each of these. */
    for (int i = axes; c.outside && i < own.rank; i++) c.outside = lam_expand_dims(c.outside, -1);
    if (c.outside) out = lam_where(c.outside, o->fill ? *o->fill : (double)NAN, out);
    return lam__scope_only(lam__apply_narrowed(out, dtype), since);
}
