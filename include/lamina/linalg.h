/* Contractions and linear algebra. Part of ops.h, whose opening comment holds here too. A "stack" is a tensor [...,
 * rows, columns]: a matrix for every index of the leading axes. Linear algebra works in floating dtypes; integers are
 * taken as f64. */
#ifndef LAMINA_LINALG_H
#define LAMINA_LINALG_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contractions ------------------------------------------------------------------------------------------- */

typedef struct lam_dot_options {
    lam_axes contract_x, contract_y; /* axes summed over, in pairs; no list: none */
    lam_axes batch_x, batch_y;       /* axes gone through together, in pairs; no list: none */
} lam_dot_options;

/* The general contraction of two tensors; integers wrap, bools are combined by and and or.
 * Shape   the batch axes in the order of batch_x, the other axes of x that are not contracted, those of y.
 * Fails   LAM_ERR_AXIS for axes out of range, named twice, or lists of two lengths; LAM_ERR_SHAPE when paired axes
 *         differ in size.
 * Derivative: bilinear. */
LAM_API lam_tensor *lam_dot_general(lam_tensor *x, lam_tensor *y, const lam_dot_options *options);

/* The matrix product: the last axis of x with the last but one of y, or the only one.
 * Shape   [..., m, k] times [..., k, n] gives [..., m, n]; leading axes broadcast; a vector loses its axis.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_matmul(lam_tensor *x, lam_tensor *y);

/* The product over the last axis of x and the last but one of y (or its only one), no axes gone through together;
 * lam_mul for rank 0.
 * Shape   the other axes of x, those of y.
 * Fails   LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_dot(lam_tensor *x, lam_tensor *y);

/* The sum of products along an axis of both.
 * Shape   the other axes, broadcast.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_vecdot(lam_tensor *x, lam_tensor *y, int axis);

/* Every element of x times every element of y.
 * Shape   [elements of x, elements of y].
 * Fails   like any use of a handle. Derivative: bilinear. */
LAM_API lam_tensor *lam_outer(lam_tensor *x, lam_tensor *y);

/* The sum of products over the axes in axes_x, paired with those in axes_y; no lists: the last two of x with the first
 * two of y.
 * Shape   the other axes of x, those of y.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_tensordot(lam_tensor *x, lam_tensor *y, lam_axes axes_x, lam_axes axes_y);

/* Einstein summation, for example "ij,jk->ik": one letter per axis, equal letters are gone through together, letters
 * that the result lacks are summed over. "..." stands for any number of leading, middle or last axes, which broadcast.
 * A letter twice in one term is its diagonal. Without "->" the result has the axes of "...", then the letters that
 * occur once, sorted. The operands are contracted in pairs, in the order that takes the fewest multiplications (beyond
 * 5 operands: greedily).
 * Fails   LAM_ERR_VALUE for subscripts that say nothing; LAM_ERR_ARITY, LAM_ERR_RANK, LAM_ERR_SHAPE when they do not
 *         fit the operands; each names the subscript. Derivative: multilinear. */
LAM_API lam_tensor *lam_einsum(const char *subscripts, lam_list operands);

/* ---- parts of matrices ---------------------------------------------------------------------------------------- */

/* The elements whose index along axis2 is that along axis1 plus offset. A view.
 * Shape   the other axes, then the diagonal.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_diagonal(lam_tensor *x, int64_t offset, int axis1, int axis2);

/* The sum of a diagonal.
 * Shape   the other axes.
 * Fails   as lam_diagonal. Derivative: 1 on the diagonal. */
LAM_API lam_tensor *lam_trace(lam_tensor *x, int64_t offset, int axis1, int axis2);

/* The matrices of a stack with zeros above the diagonal `offset` (tril) or below it (triu).
 * Fails   LAM_ERR_RANK below rank 2. Derivative: identity on what stays. */
LAM_API lam_tensor *lam_tril(lam_tensor *x, int64_t offset);
LAM_API lam_tensor *lam_triu(lam_tensor *x, int64_t offset); /* Fails as lam_tril does. */

/* ---- linear algebra --------------------------------------------------------------------------------------------- */

/* The lower triangular l with l l^T = (x + x^T) / 2, zeros above the diagonal.
 * Fails   LAM_ERR_SHAPE unless square; LAM_ERR_NUMERIC naming the first matrix that is not positive definite.
 * Derivative: l phi(l^-1 dx l^-T), phi the lower triangle with half the diagonal; symmetric in x.
 * Source  Murray, Differentiation of the Cholesky decomposition, 2016. */
LAM_API lam_tensor *lam_cholesky(lam_tensor *x);

typedef struct lam_triangular_options {
    bool right_side;    /* solve x op(a) = b */
    bool upper;         /* read the upper triangle of a; the other is never looked at */
    bool transpose;     /* op(a) is a^T */
    bool unit_diagonal; /* take the diagonal of a as ones */
} lam_triangular_options;

/* The x with op(a) x = b for triangular matrices a (default: lower, from the left).
 * Shape   that of b, [..., n, m] (right side: [..., m, n]) or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE. A zero on the diagonal gives infinities. Derivative: linear in b; in a by the triangle that
 *         is read. */
LAM_API lam_tensor *lam_triangular_solve(lam_tensor *a, lam_tensor *b, const lam_triangular_options *options);

/* The x with l l^T x = b, for l from lam_cholesky.
 * Fails   as lam_triangular_solve. Derivative: as two of them. */
LAM_API lam_tensor *lam_cho_solve(lam_tensor *l, lam_tensor *b);

/* Rows exchanged for stability, then factored: x[permutation] = l u, l with ones on its diagonal.
 * Shape   factors: that of x, u in the upper triangle, l below it. pivots, permutation: i32 [..., n]; row i was
 *         exchanged with row pivots[i], in that order; permutation is the outcome.
 * Fails   LAM_ERR_SHAPE unless square; never for singular matrices, which leave zeros on u's diagonal.
 * Owner   the three: current scope. Derivative: of the factors, the permutation fixed; needs x invertible. */
LAM_API lam_status lam_lu(lam_tensor *x, lam_tensor **factors, lam_tensor **pivots, lam_tensor **permutation);

/* The x with a x = b.
 * Shape   that of b, [..., n, m] or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_NUMERIC naming the first matrix that is singular.
 * Derivative: implicit, dx = a^-1 (db - da x); the factors of a are computed once and kept for it. */
LAM_API lam_tensor *lam_solve(lam_tensor *a, lam_tensor *b);

/* The inverse of each matrix; lam_solve is more accurate and cheaper where the inverse is only to be multiplied.
 * Fails   as lam_solve. Derivative: -x^-1 dx x^-1. */
LAM_API lam_tensor *lam_inv(lam_tensor *x);

/* The determinant of each matrix.
 * Shape   the leading axes.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: det(x) tr(x^-1 dx); at singular matrices only up to 3 rows. */
LAM_API lam_tensor *lam_det(lam_tensor *x);

/* The sign of the determinant and the logarithm of its size: 0 and -inf for singular matrices.
 * Shape   the leading axes.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: of the logarithm tr(x^-1 dx); of the sign 0. */
LAM_API lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log);

#ifdef __cplusplus
}
#endif
#endif
