/* Reductions with a function of the user's. Neighbours are combined by the function mapped over all pairs at once, then
 * neighbours of these: a tree of logarithmic depth that keeps the order of the elements. Made of public calls, so that
 * derivatives are those of the function, to any order. The function must be associative, since nothing says where the
 * tree is cut; it need not be commutative. */
#include "transforms/arguments.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"

#include <lamina/fn.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>
#include <lamina/transforms.h>

/* One round along axis 0: pairs are combined, an odd one at the end stays. x is [n, m]; the pairs of all m columns make
 * one batch, so a round is one call. What the function gives is checked here, at the first call, where its type is
 * known. */
static lam_tensor *combine_pairs(lam_fn *pairs, lam_tensor *x) {
    int64_t n = lam_dim(x, 0), even = n - n % 2;
    lam_dims own = lam_dims_of(x);
    int64_t dims[2] = {even / 2 * own.dims[1], 1}, back[2] = {even / 2, own.dims[1]};
    int64_t two[3] = {even / 2, 2, own.dims[1]};
    lam_tensor *both = lam__apply_reshape(lam_slice_axis(x, 0, 0, even), 3, two);
    lam_tensor *left = lam__apply_reshape(lam_index(both, 1, 0), 1, dims);
    lam_tensor *right = lam__apply_reshape(lam_index(both, 1, 1), 1, dims);
    lam_tensor *made = lam_apply(pairs, LAM_LIST(left, right));
    if (lam_failed(made)) return made;
    if (lam_rank(made) != 1 || lam_dtype_of(made) != lam_dtype_of(x))
        return lam__axes_fail("reduce", made, lam_rank(made) != 1 ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                              "the function must give an element of rank 0 and of the dtype of x");
    made = lam__apply_reshape(made, 2, back);
    return even == n ? made : lam_concatenate(LAM_LIST(made, lam_slice_axis(x, 0, even, n)), 0);
}

/* x as [elements over the axes of the set, all others]. */
static lam_tensor *as_rows(lam_tensor *x, lam__axis_set set, lam_dims *kept, int64_t dims[]) {
    lam_dims own = lam_dims_of(x);
    int order[LAM_INNER_RANK], n = 0, rank = 0;
    int64_t two[2] = {1, 1};
    for (int i = 0; i < own.rank; i++)
        if (set >> i & 1u) order[n++] = i, two[0] *= own.dims[i];
    for (int i = 0; i < own.rank; i++)
        if (!(set >> i & 1u)) order[n++] = i, two[1] *= dims[rank++] = own.dims[i];
    *kept = (lam_dims){rank, dims};
    return lam__apply_reshape(lam_transpose(x, (lam_axes){own.rank, order}), 2, two);
}

/* init is combined in front of the result, once: f(init, x0 x1 ...). Without elements the result is init itself;
 * without columns there is nothing to call f for. */
static lam_tensor *reduce_rows(lam_fn *f, lam_tensor *x, lam_tensor *init) {
    lam_fn *pairs = lam_vmap(f, NULL);
    if (lam_dim(x, 1) == 0) return lam_broadcast_to(init, LAM_DIMS(0));
    while (!lam_failed(x) && lam_dim(x, 0) > 1) x = combine_pairs(pairs, x);
    if (lam_failed(x)) return x;
    lam_tensor *first = lam_broadcast_to(init, LAM_DIMS(1, lam_dim(x, 1)));
    return lam_dim(x, 0) == 0 ? lam_index(first, 0, 0)
                              : lam_index(combine_pairs(pairs, lam_concatenate(LAM_LIST(first, x), 0)), 0, 0);
}

/* `kept` and `dims` are the axes that stay; with keepdims the others stay as axes of one element. */
lam_tensor *lam_reduce(lam_fn *f, lam_tensor *x, lam_tensor *init, const lam_reduce_options *options) {
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    lam_tensor *in[2] = {x, init}, *failed;
    lam_value *values[2];
    int64_t dims[LAM_INNER_RANK];
    lam__axis_set set;
    lam_dims kept, own = lam_dims_of(x);
    if (!lam__scope_operands("reduce", 2, in, values, &failed)) return failed;
    if (!lam__axes_collect_set("reduce", x, o->axes, own.rank, &set)) return lam__axes_failed(x);
    if (lam_rank(init) != 0 || lam_dtype_of(init) != lam_dtype_of(x))
        return lam__axes_fail("reduce", init, lam_rank(init) ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                              "init must be of rank 0 and have the dtype of x");
    lam_tensor *out = reduce_rows(f, as_rows(x, set, &kept, dims), init);
    if (lam_failed(out)) return out;
    for (int i = 0; o->keepdims && i < own.rank; i++) dims[i] = set >> i & 1u ? 1 : own.dims[i];
    return lam__apply_reshape(out, o->keepdims ? own.rank : kept.rank, dims);
}
