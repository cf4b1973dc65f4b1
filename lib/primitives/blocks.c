/* Systems of equations between tensors, as those of matrices, and matrices made of blocks. No rows, no rules: a tensor
 * equation is one between matrices whose axes are groups of axes, and reshapes are views, so all cost is that of the
 * matrix operation. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Elements of the axes from up to, without, to. 1 of no axes. */
static int64_t product(lam_dims dims, int from, int to) {
    int64_t count = 1;
    for (int i = from; i < to; i++) count *= dims.dims[i];
    return count;
}

/* x, whose first axes hold as many elements as the others, as a square matrix. False: that is not so, and recorded.
 * Nothing moves: the groups of axes are neighbours already. */
static bool as_square(const char *operation, lam_tensor **x, int first) {
    lam_dims own = lam_dims_of(*x);
    int64_t n = product(own, 0, first);
    if (product(own, first, own.rank) != n)
        return lam__axes_fail(operation, *x, LAM_ERR_SHAPE,
                              "the first %d axes hold another number of elements than the rest", first),
               false;
    *x = lam__apply_reshape(*x, 2, (const int64_t[]){n, n});
    return true;
}

/* a has the axes of b in front and those of x behind, as in NumPy. Sizes of x are those that a has left. */
lam_tensor *lam_tensorsolve(lam_tensor *a, lam_tensor *b) {
    uint64_t since = lam__scope_now(a);
    lam_tensor *in[2] = {a, b}, *failed;
    if (!lam__matrices_operands("tensorsolve", true, 2, in, in, &failed)) return failed;
    lam_dims own = lam_dims_of(in[0]), right = lam_dims_of(in[1]);
    bool fits = right.rank <= own.rank;
    for (int i = 0; fits && i < right.rank; i++) fits = own.dims[i] == right.dims[i];
    if (!fits)
        return lam__matrices_fail("tensorsolve", 2, in, LAM_ERR_SHAPE, NULL, "a does not begin with the axes of b");
    int64_t n = lam_size(in[1]);
    if (!as_square("tensorsolve", &in[0], right.rank)) return lam__axes_failed(a);
    lam_tensor *x = lam_solve(in[0], lam__apply_reshape(in[1], 1, &n));
    return lam__scope_only(lam__apply_reshape(x, own.rank - right.rank, own.dims + right.rank), since);
}

/* The groups of axes change places in the inverse, as rows and columns do. Afterwards tensordot with it over `axes`
 * axes solves. */
lam_tensor *lam_tensorinv(lam_tensor *x, int axes) {
    uint64_t since = lam__scope_now(x);
    int64_t dims[LAM_INNER_RANK];
    lam_tensor *failed;
    if (!lam__matrices_operands("tensorinv", true, 1, &x, &x, &failed)) return failed;
    lam_dims own = lam_dims_of(x);
    if (axes <= 0 || axes >= own.rank)
        return lam__axes_fail("tensorinv", x, LAM_ERR_AXIS, "%d of %d axes are not some of them", axes, own.rank);
    for (int i = 0; i < own.rank; i++) dims[(i + own.rank - axes) % own.rank] = own.dims[i];
    if (!as_square("tensorinv", &x, axes)) return lam__axes_failed(x);
    return lam__scope_only(lam__apply_reshape(lam_inv(x), own.rank, dims), since);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A scalar is one element, a vector one row. More axes are leading ones. */
static lam_tensor *as_matrix(lam_tensor *x) {
    int64_t dims[2] = {1, lam_rank(x) ? lam_dim(x, -1) : 1};
    return lam_rank(x) >= 2 ? x : lam__apply_reshape(x, 2, dims);
}

/* Two blocks with zeros beside them, their leading axes broadcast. Leading axes broadcast, so a stack of blocks may
 * meet a single one. */
static lam_tensor *joined(lam_tensor *x, lam_tensor *y) {
    lam_tensor *pair[2] = {x, y};
    if (!lam__matrices_lead("block_diag", pair)) return lam__axes_failed(x);
    int64_t dims[LAM_INNER_RANK];
    lam_tensor *rows[2];
    for (int i = 0; i < 2; i++) {
        lam_dims own = lam_dims_of(pair[i]);
        for (int k = 0; k < own.rank; k++) dims[k] = own.dims[k];
        dims[own.rank - 1] = lam_dim(pair[1 - i], -1);
        lam_tensor *none = lam__apply_broadcast(lam_cast(lam_scalar(x->ctx, 0), lam_dtype_of(x)), own.rank, dims);
        rows[i] = lam_concatenate(i ? LAM_LIST(none, pair[1]) : LAM_LIST(pair[0], none), -1);
    }
    return lam_concatenate((lam_list){2, rows}, -2);
}

/* One after the other, so n matrices copy the first ones n times; the list is short as a rule. A list of one gives a
 * handle of its own, since the result must not be the operand's. Zeros are one element seen everywhere. */
lam_tensor *lam_block_diag(lam_list matrices) {
    lam_tensor *first = matrices.count && matrices.items ? matrices.items[0] : NULL, *failed;
    if (!first) return lam__axes_fail("block_diag", first, LAM_ERR_ARITY, "no matrices given");
    uint64_t since = lam__scope_now(first);
    lam_tensor **in = lam__apply_room(first->ctx, matrices.count);
    if (!in) return &first->ctx->failed;
    if (!lam__matrices_operands("block_diag", false, matrices.count, matrices.items, in, &failed)) return failed;
    lam_tensor *all = as_matrix(in[0]);
    for (size_t i = 1; i < matrices.count; i++) all = joined(all, as_matrix(in[i]));
    return lam__scope_only(all == in[0] ? lam_alias(all) : all, since);
}
