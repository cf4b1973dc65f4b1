/* Distributions of vectors, and statistics of samples that order them: ranks, the mode. All composed. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/stats.h>
#include <lamina/tensor.h>

#include <math.h>

#define LOG_2PI 1.83787706640934548356

static const int last = -1;
/* Axes are pointers to numbers, which have to live as long as the options. */
static const lam_reduce_options last_axis = {.axes = {1, &last}};

/* n operands as one real floating dtype, the first of rank 1 at least. False: *failed is the result. */
static bool vectors(const char *operation, size_t n, lam_tensor *x[], lam_tensor **failed) {
    lam_tensor *first = x[0];
    if (!lam__matrices_operands(operation, true, n, x, x, failed)) return false;
    if (lam__dtype_is_complex((int)lam_dtype_of(x[0]))) {
        *failed = lam__axes_fail_with(operation, first, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                      "not defined for complex numbers");
        return false;
    }
    if (lam_rank(x[0]) > 0) return true;
    *failed = lam__matrices_fail(operation, n, x, LAM_ERR_RANK, "give it an axis of elements", "a vector is needed");
    return false;
}

/* ---- distributions of vectors ------------------------------------------------------------------------------------ */

/* -1/2 |l^-1 d|^2 - log det l - k/2 log(2 pi) for the rows d of a matrix, with the covariance l l^T. Vectors are rows,
 * so they are multiplied from the right by the inverse transpose. */
static lam_tensor *normal_rows(lam_tensor *rows, lam_tensor *covariance) {
    const lam_triangular_solve_options turned = {.right_side = true, .transpose = true};
    lam_tensor *l = lam_cholesky(covariance), *white = lam_triangular_solve(l, rows, &turned);
    lam_tensor *log_root = lam_sum(lam_log(lam_diagonal(l, 0, -2, -1)), NULL);
    lam_tensor *unit = lam_add(log_root, 0.5 * (double)lam_dim(covariance, -1) * LOG_2PI);
    return lam_neg(lam_add(lam_mul(0.5, lam_sum(lam_square(white), &last_axis)), unit));
}

/* Rows of one matrix, whatever axes stand in front, so that all of them are one triangular solve. */
lam_tensor *lam_multivariate_normal_logpdf(lam_tensor *x, lam_tensor *mean, lam_tensor *covariance) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[3] = {x, mean, covariance}, *failed;
    if (!vectors("multivariate_normal_logpdf", 3, in, &failed)) return failed;
    if (lam_rank(in[2]) != 2)
        return lam__matrices_fail("multivariate_normal_logpdf", 3, in, LAM_ERR_RANK, "map over stacks of them",
                                  "the covariance must be one matrix");
    const int64_t k = lam_dim(in[2], 0);
    if (lam_dim(in[2], 1) != k || lam_dim(in[0], -1) != k || (lam_rank(in[1]) > 0 && lam_dim(in[1], -1) != k))
        return lam__matrices_fail("multivariate_normal_logpdf", 3, in, LAM_ERR_SHAPE,
                                  "the last axis of x and mean, and both of the covariance, are the same",
                                  "the sizes do not fit");
    lam_tensor *away = lam_sub(in[0], in[1]);
    lam_dims own = lam_dims_of(away), lead = own;
    if (own.rank == 0) return away; /* it has failed */
    lead.rank--;
    /* Elements of rows of none cannot be counted by division. */
    lam_tensor *rows = lam_reshape(away, LAM_DIMS(k ? lam_size(away) / k : 0, k));
    return lam__scope_only(lam_reshape(normal_rows(rows, in[2]), lead), since);
}

/* Where an element lies outside, a point inside is put in its place first, so that gradients there are finite numbers
 * times 0. A number for alpha stands for all elements, whose count only the powers know. 1 is one, since its logarithm
 * is 0 whatever the power. */
lam_tensor *lam_dirichlet_logpdf(lam_tensor *x, lam_tensor *alpha) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, alpha}, *failed;
    if (!vectors("dirichlet_logpdf", 2, in, &failed)) return failed;
    lam_tensor *a = lam_rank(in[1]) ? in[1] : lam_expand_dims(in[1], 0);
    lam_tensor *outside = lam_or(lam_lt(in[0], 0.0), lam_gt(in[0], 1.0)), *inside = lam_where(outside, 1.0, in[0]);
    lam_tensor *powers = lam_xlogy(lam_sub(a, 1.0), inside), *all = lam_add(a, lam_zeros_like(powers));
    lam_tensor *unit = lam_sub(lam_lgamma(lam_sum(all, &last_axis)), lam_sum(lam_lgamma(all), &last_axis));
    lam_tensor *density = lam_add(lam_sum(powers, &last_axis), unit);
    density = lam_where(lam_any(outside, &last_axis), -INFINITY, density);
    return lam__scope_only(lam_where(lam_all(lam_gt(a, 0.0), &last_axis), density, NAN), since);
}

/* What is said of counts is said by what NaN is not, so that NaN goes through. So comparisons are written by < and >,
 * which NaN fails. */
lam_tensor *lam_multinomial_logpmf(lam_tensor *x, lam_tensor *n, lam_tensor *p) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[3] = {x, n, p}, *failed;
    if (!vectors("multinomial_logpmf", 3, in, &failed)) return failed;
    lam_tensor *none = lam_or(lam_lt(in[0], 0.0), lam_gt(in[0], lam_floor(in[0])));
    lam_tensor *k = lam_where(none, 0.0, in[0]);
    lam_tensor *terms = lam_sub(lam_xlogy(k, in[2]), lam_lgamma(lam_add(k, 1.0)));
    lam_tensor *sum = lam_sum(k, &last_axis), *other = lam_or(lam_lt(sum, in[1]), lam_gt(sum, in[1]));
    lam_tensor *bad = lam_or(lam_any(none, &last_axis), other),
               *each = lam_rank(in[2]) ? in[2] : lam_expand_dims(in[2], 0);
    lam_tensor *chances = lam_all(lam_and(lam_ge(each, 0.0), lam_le(each, 1.0)), &last_axis);
    lam_tensor *mass = lam_add(lam_lgamma(lam_add(in[1], 1.0)), lam_sum(terms, &last_axis));
    lam_tensor *possible = lam_and(chances, lam_ge(in[1], 0.0));
    return lam__scope_only(lam_where(possible, lam_where(bad, -INFINITY, mass), NAN), since);
}

/* ---- kernel density ---------------------------------------------------------------------------------------------- */

/* [n] as [1, n]. One coordinate for each of n points: points are columns, as in SciPy. A stack of them is for vmap. */
static lam_tensor *as_columns(lam_tensor *x) {
    return lam_rank(x) == 1 ? lam_expand_dims(x, 0) : x;
}

/* m n differences at once: one solve for all pairs, and a sum of exponentials that cannot leave the range. A width of 0
 * is Scott's, n^(-1/(d + 4)). The mean of the densities is a sum of exponentials over n, taken as logarithms. */
lam_tensor *lam_gaussian_kde_logpdf(lam_tensor *points, lam_tensor *x, double width) {
    uint64_t since = lam__scope_now(points);
    lam_tensor *in[2] = {points, x}, *failed;
    if (!vectors("gaussian_kde_logpdf", 2, in, &failed)) return failed;
    for (int i = 0; i < 2; i++)
        if (lam_rank(in[i]) != 1 && lam_rank(in[i]) != 2)
            return lam__matrices_fail("gaussian_kde_logpdf", 2, in, LAM_ERR_RANK, "give [n] or [d, n]",
                                      "points are the columns of a matrix");
    in[0] = as_columns(in[0]);
    in[1] = as_columns(in[1]);
    if (lam_dim(in[0], 0) != lam_dim(in[1], 0))
        return lam__matrices_fail("gaussian_kde_logpdf", 2, in, LAM_ERR_SHAPE, NULL, "points have other coordinates");
    const int64_t d = lam_dim(in[0], 0), n = lam_dim(in[0], 1), m = lam_dim(in[1], 1);
    /* SciPy's factor: the kernel's covariance is that of the points times the square of it. */
    const double scale = width == 0 ? pow((double)n, -1 / ((double)d + 4)) : width;
    lam_tensor *covariance = lam_mul(scale * scale, lam_cov(in[0], 1));
    lam_tensor *from = lam_expand_dims(lam_matrix_transpose(in[1]), 1), *to = lam_matrix_transpose(in[0]);
    lam_tensor *pairs = lam_reshape(lam_sub(from, to), LAM_DIMS(m * n, d));
    lam_tensor *each = lam_reshape(normal_rows(pairs, covariance), LAM_DIMS(m, n));
    return lam__scope_only(lam_sub(lam_logsumexp(each, &last_axis), log((double)n)), since);
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

/* All distances decide; that to the chosen row is worked out once more, for a derivative that knows of it alone. The
 * choice has none, so nothing is recorded for the other distances. */
lam_status lam_vq(lam_tensor *x, lam_tensor *codebook, lam_tensor **code, lam_tensor **distance) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, codebook}, *failed = NULL, *made[2], **const places[2] = {code, distance};
    bool good = lam__matrices_ordered("vq", true, 2, in, &failed);
    if (good && (lam_rank(in[0]) != 2 || lam_rank(in[1]) != 2))
        failed = lam__matrices_fail("vq", 2, in, LAM_ERR_RANK, "map over stacks of them", "matrices are needed");
    else if (good && (lam_dim(in[0], 1) != lam_dim(in[1], 1) || lam_dim(in[1], 0) == 0))
        failed =
            lam__matrices_fail("vq", 2, in, LAM_ERR_SHAPE, NULL, "rows of one length are needed, and one at least");
    if (failed) return lam__matrices_give_failed(failed, 2, places);
    const lam_dtype dtype = lam__apply_floats(2, in);
    const lam_norm_options along = {.axes = {1, &last}};
    /* [rows of x, 1, n] against [codes, n]. */
    lam_tensor *apart = lam_sub(lam_expand_dims(lam_stop_gradient(in[0]), 1), lam_stop_gradient(in[1]));
    made[0] = lam_argmin(lam_norm(apart, &along), 1);
    made[1] = lam__apply_narrowed(lam_norm(lam_sub(in[0], lam_take(in[1], made[0], 0)), &along), dtype);
    return lam__matrices_give(LAM_OK, since, 2, made, places);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* All elements in ascending order; real ones only. Ranks go over all of x, so it is flattened first. */
static lam_tensor *ascending(const char *operation, lam_tensor **x, lam_tensor **failed) {
    lam_tensor *given = *x;
    if (!lam__matrices_operands(operation, false, 1, x, x, failed)) return NULL;
    if (lam__dtype_is_complex((int)lam_dtype_of(*x))) {
        *failed = lam__axes_fail_with(operation, given, LAM_ERR_DTYPE, "work on lam_real, lam_imag or lam_abs of it",
                                      "complex numbers have no order");
        return NULL;
    }
    return lam_sort(lam_reshape(*x, LAM_DIMS(lam_size(*x))), 0);
}

/* How many different values are smaller: a new one begins wherever a neighbour differs. `before` counts places, of
 * which the first of equal elements is one where the number changes. */
static lam_tensor *dense(lam_tensor *sorted, lam_tensor *before) {
    const int64_t n = lam_size(sorted);
    if (n == 0) return lam_cast(before, LAM_I64);
    lam_tensor *left = lam_slice_axis(sorted, 0, 0, n - 1), *right = lam_slice_axis(sorted, 0, 1, n);
    lam_tensor *changes = lam_cumsum(lam_cast(lam_ne(left, right), LAM_I64), 0);
    lam_tensor *places = lam_concatenate(LAM_LIST(lam_zeros(lam_ctx_of(sorted), LAM_I64, LAM_DIMS(1)), changes), 0);
    return lam_take(places, before, 0);
}

/* Equal elements take the places from before + 1 to through, whose average is half of the sum of both: exact in f64,
 * and rounded once. */
lam_tensor *lam_rankdata(lam_tensor *x, lam_rank_method method) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed, *given = x, *sorted = ascending("rankdata", &x, &failed), *rank;
    if (!sorted) return failed;
    const bool floating = lam__dtype_is_inexact((int)lam_dtype_of(given));
    const lam_dtype dtype = floating ? lam_dtype_of(given) : LAM_F64;
    lam_tensor *before = lam_searchsorted(sorted, x, false), *through = lam_searchsorted(sorted, x, true);
    switch (method) {
    case LAM_RANK_AVERAGE: rank = lam_mul(0.5, lam_cast(lam_add(lam_add(before, through), 1), LAM_F64)); break;
    case LAM_RANK_MIN: rank = lam_add(before, 1); break;
    case LAM_RANK_MAX: rank = through; break;
    case LAM_RANK_DENSE: rank = lam_add(dense(sorted, before), 1); break;
    default: return lam__axes_fail("rankdata", given, LAM_ERR_VALUE, "there is no method %d", (int)method);
    }
    return lam__scope_only(lam_cast(rank, dtype), since);
}

/* How often an element occurs: the places up to and with it less those before it. argmax gives the first of equal
 * counts, which is the smallest value. Both results are taken at one place, so they agree. */
lam_status lam_mode(lam_tensor *x, lam_tensor **mode, lam_tensor **count) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed = NULL, *made[2], **const places[2] = {mode, count};
    lam_tensor *given = x, *sorted = ascending("mode", &x, &failed);
    if (sorted && !lam_failed(sorted) && lam_size(sorted) == 0)
        failed = lam__axes_fail("mode", given, LAM_ERR_SHAPE, "no elements have no mode"), sorted = NULL;
    if (!sorted) return lam__matrices_give_failed(failed, 2, places);
    lam_tensor *counts = lam_sub(lam_searchsorted(sorted, sorted, true), lam_searchsorted(sorted, sorted, false));
    lam_tensor *at = lam_argmax(counts, 0);
    made[0] = lam_take(sorted, at, 0);
    made[1] = lam_take(counts, at, 0);
    return lam__matrices_give(LAM_OK, since, 2, made, places);
}

/* The deviation of a mean of n: that of one observation over sqrt(n). The axis is asked for its size once lam_std has
 * found it. */
lam_tensor *lam_sem(lam_tensor *x, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *deviation = lam_std(x, &(lam_var_options){.axes = LAM_AXES(axis), .ddof = 1});
    if (lam_failed(deviation)) return lam__scope_only(deviation, since);
    return lam__scope_only(lam_div(deviation, sqrt((double)lam_dim(x, axis))), since);
}
