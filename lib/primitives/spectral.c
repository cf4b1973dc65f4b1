/* Norms and condition numbers, which are made of singular values. No rows, no rules: derivatives are those of
 * lam_svdvals, which hold where singular values repeat for all that depends on them symmetrically. */
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Sums of absolute values along one axis, or singular values, then their largest, smallest or sum. */
enum { FROBENIUS, ROWS, COLUMNS, SINGULAR };
enum { LARGEST, SMALLEST, SUM };

/* A line for each order of the public enum: what is summed, and which of the sums is taken. */
static const struct {
    int of, take;
} norms[] = {
    [LAM_NORM_DEFAULT] = {FROBENIUS, SUM},     [LAM_NORM_FROBENIUS] = {FROBENIUS, SUM},
    [LAM_NORM_NUCLEAR] = {SINGULAR, SUM},      [LAM_NORM_1] = {COLUMNS, LARGEST},
    [LAM_NORM_MINUS_1] = {COLUMNS, SMALLEST},  [LAM_NORM_2] = {SINGULAR, LARGEST},
    [LAM_NORM_MINUS_2] = {SINGULAR, SMALLEST}, [LAM_NORM_INF] = {ROWS, LARGEST},
    [LAM_NORM_MINUS_INF] = {ROWS, SMALLEST},
};

static const int last_axis = -1;
static const lam_reduce_options last = {.axes = {1, &last_axis}};

enum { NORMS = sizeof norms / sizeof norms[0] };

/* The norm of each matrix of a stack; the order is one of the table. The Frobenius norm is that of a vector of all
 * elements, with its care for squares that leave the range. Sums of absolute values need no factors. */
static lam_tensor *norm_of(lam_tensor *x, lam_matrix_order order) {
    if (norms[order].of == FROBENIUS) return lam_norm(x, &(lam_norm_options){.axes = LAM_AXES(-2, -1)});
    lam_tensor *parts = norms[order].of == SINGULAR ? lam_svdvals(x) : NULL;
    int along = norms[order].of == ROWS ? -1 : -2;
    if (!parts) parts = lam_sum(lam_abs(x), &(lam_reduce_options){.axes = {1, &along}});
    /* The largest of none is 0: no norm is less. */
    return norms[order].take == SUM || (norms[order].take == LARGEST && !lam_dim(parts, -1)) ? lam_sum(parts, &last)
           : norms[order].take == LARGEST ? lam_max_reduce(parts, &last)
                                          : lam_min_reduce(parts, &last);
}

/* An enum of C may hold any number. It becomes an index here. */
static bool is_order(const char *operation, lam_tensor *x, lam_matrix_order order) {
    if ((int)order >= 0 && (int)order < NORMS) return true;
    lam__axes_fail(operation, x, LAM_ERR_OPTION, "there is no norm of number %d", (int)order);
    return false;
}

/* The axes that hold rows and columns moved to the end; false after recording that they cannot. `at` keeps where they
 * were, as keepdims puts axes of one element back there. Moving the first shifts the second by one if that stood behind
 * it. */
static bool to_the_end(lam_tensor **x, lam_axes axes, int at[2]) {
    int count, rank = lam_rank(*x);
    if (!lam__axes_collect("matrix_norm", *x, axes, rank, &count, at)) return false;
    if (count < 0) at[0] = rank - 2, at[1] = rank - 1;
    else if (count != 2)
        return lam__axes_fail("matrix_norm", *x, LAM_ERR_AXIS, "%d axes do not make a matrix", count), false;
    if (at[0] == rank - 2 && at[1] == rank - 1) return true;
    *x = lam_moveaxis(*x, at[0], -1);
    *x = lam_moveaxis(*x, at[1] - (at[0] < at[1]), -1);
    return true;
}

/* Axes that are kept come back in the order of their numbers, since the first of two puts the second where it was.
 * Counted among the axes of x. */
lam_tensor *lam_matrix_norm(lam_tensor *x, const lam_matrix_norm_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_matrix_norm_options none;
    const lam_matrix_norm_options *o = options ? options : &none;
    lam_tensor *failed;
    int at[LAM_INNER_RANK];
    if (!lam__matrices_stack("matrix_norm", &x, &failed)) return failed;
    if (!is_order("matrix_norm", x, o->order) || !to_the_end(&x, o->axes, at)) return lam__axes_failed(x);
    lam_tensor *out = norm_of(x, o->order);
    if (!o->keepdims) return lam__scope_only(out, since);
    out = lam_expand_dims(out, at[0] < at[1] ? at[0] : at[1]);
    return lam__scope_only(lam_expand_dims(out, at[0] < at[1] ? at[1] : at[0]), since);
}

/* Largest over smallest singular value, or the product of the norms of the matrix and of its inverse. Whatever lam_inv
 * says of a singular matrix is said here. */
lam_tensor *lam_matrix_cond(lam_tensor *x, lam_matrix_order order) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed;
    if (!lam__matrices_stack("matrix_cond", &x, &failed)) return failed;
    if (!is_order("matrix_cond", x, order)) return lam__axes_failed(x);
    if (order == LAM_NORM_DEFAULT || order == LAM_NORM_2 || order == LAM_NORM_MINUS_2) {
        lam_tensor *s = lam_svdvals(x), *large = lam_max_reduce(s, &last), *small = lam_min_reduce(s, &last);
        return lam__scope_only(order == LAM_NORM_MINUS_2 ? lam_div(small, large) : lam_div(large, small), since);
    }
    if (!lam__matrices_square("matrix_cond", x)) return lam__axes_failed(x);
    return lam__scope_only(lam_mul(norm_of(x, order), norm_of(lam_inv(x), order)), since);
}
