/* Derivatives that are mostly zeros: where a Jacobian or Hessian can differ from zero, and its entries there, from a
 * few directional derivatives: three for a tridiagonal matrix of any size, three for a diagonal with a full row and a
 * full column. The results fit optimisers and solvers that take sparse matrices. */
#ifndef LAMINA_SPARSE_H
#define LAMINA_SPARSE_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_sparse_options {
    int argnum;         /* the input to differentiate by; negative ones count from the end */
    int has_aux;        /* how many of the last outputs are passed through undifferentiated; exactly one output must
                           remain */
    int64_t chunk_size; /* directions at once; 0: all */
} lam_sparse_options;

/* Where the Jacobian of f's first output can differ from zero: a run of f at these examples that tracks the elements on
 * which each result depends. A value that happens to be zero does not remove an entry: a product depends on both
 * factors, a choice (lam_where, lam_max) on all alternatives. Decisions of C code, loops and branches (lam_cond) are
 * those made at the examples. Results of custom Functions depend on their operands as their rules say, on all of them
 * if a rule reads raw data or elements of a tangent. In a recorded program a choice depends on everything that any of
 * its functions depends on, if these consist of operations and loops of known length, and otherwise on all of its
 * operands, as results of lam_while do; in a batch each example depends on its own operands, in a batch with a name on
 * all. The dependences of intermediate elements are kept until the end: a running sum of n elements takes memory
 * proportional to the square of n, even if only its last element is wanted.
 * Shape   i64[entries, 2]: row (number of the element of the output) and column (of the input), in row-major order;
 *         sorted by rows, then by columns, without repetitions: the order of compressed rows (CSR).
 * Fails   as lam_jacobian does; LAM_ERR_BATCHED, LAM_ERR_ABSTRACT or LAM_ERR_VALUE for examples that belong to a
 *         transform: a batch, a trace, a derivative; LAM_ERR_BATCHED for positions that belong to a batch;
 *         LAM_ERR_OVERFLOW for more than 2^31 - 1 elements of the input. */
LAM_API lam_tensor *lam_jacobian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options *options);

/* The same for the Hessian of a scalar function: the sparsity of the Jacobian of its gradient. Both triangles.
 * Fails   as lam_grad and lam_jacobian_sparsity do. */
LAM_API lam_tensor *lam_hessian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options *options);

/* The entries of the Jacobian at `sparsity`: i64[entries, 2] as above, in any order, or a superset of the entries that
 * can differ from zero. By columns (forward mode), by rows (reverse mode), or with the fullest rows or columns apart
 * from the others, whichever needs fewest directions; f runs at most once per chunk of directions. `sparsity` must not
 * leave out an entry that is not zero: other entries would then be silently wrong. Draws of f from the context's
 * generator are the same for all directions.
 * Shape   outputs: [entries], in the order of `sparsity`, of the promoted dtype of input and output; then the auxiliary
 *         outputs.
 * Fails   at once for a sparsity that is not an integer [entries, 2] or has a negative number, LAM_ERR_OVERFLOW for a
 *         number that is not below 2^31 - 1, for options as lam_jacobian does; when called LAM_ERR_INDEX for an entry
 *         outside, LAM_ERR_DTYPE for inputs or outputs that are not real floating.
 * Source  A. H. Gebremedhin, F. Manne, A. Pothen, SIAM Review 47 (2005) 629; T. F. Coleman, A. Verma, SIAM Journal on
 *         Scientific Computing 19 (1998) 1210. */
LAM_API lam_fn *lam_sparse_jacobian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options *options);

/* The entries of the Hessian of a scalar function at `sparsity`; one triangle is enough, and symmetry saves directions.
 * Each direction costs a few gradients.
 * Shape   outputs: [entries], in the order of `sparsity`, of the dtype of the input, as gradients are; then the
 *         auxiliary outputs.
 * Fails   as lam_sparse_jacobian and lam_grad do. */
LAM_API lam_fn *lam_sparse_hessian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options *options);

#ifdef __cplusplus
}
#endif
#endif
