/* Contractions and linear algebra. The opening comment of ops.h applies here too. A "stack" is a tensor [..., rows,
 * columns]: a matrix for every index of the leading axes. Linear algebra works in floating dtypes; integers are taken
 * as f64. All functions take complex matrices: read ^T as the adjoint where symmetric matrices, eigenvectors, singular
 * vectors and least squares are described (not in matmul, solve, inv, det), Hermitian for symmetric, phases for signs;
 * eigenvalues of lam_eigh, singular values and norms are real. Functions that give several results take NULL for one
 * that is not wanted. */
#ifndef LAMINA_LINALG_H
#define LAMINA_LINALG_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contractions ------------------------------------------------------------------------------------------- */

typedef struct lam_dot_general_options {
    lam_axes contract_x, contract_y; /* axes summed over, in pairs; no list: none */
    lam_axes batch_x, batch_y;       /* axes iterated together, in pairs; no list: none */
} lam_dot_general_options;

/* The general contraction of two tensors; integers wrap, bools are combined by and and or.
 * Shape   the batch axes in the order of batch_x, the other axes of x that are not contracted, those of y.
 * Fails   LAM_ERR_AXIS for axes out of range, named twice, or lists of different lengths; LAM_ERR_SHAPE if paired axes
 *         differ in size.
 * Derivative: bilinear. */
LAM_API lam_tensor *lam_dot_general(lam_tensor *x, lam_tensor *y, const lam_dot_general_options *options);

/* The matrix product: the last axis of x with the last but one of y, or the only one.
 * Shape   [..., m, k] times [..., k, n] gives [..., m, n]; leading axes broadcast; a vector loses its axis.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_matmul(lam_tensor *x, lam_tensor *y);

/* The product over the last axis of x and the last but one of y (or its only one), without batch axes; lam_mul for rank
 * 0.
 * Shape   the other axes of x, those of y.
 * Fails   LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_dot(lam_tensor *x, lam_tensor *y);

/* Matrices times vectors; vectors, which are conjugated, times matrices. (lam_matmul takes a matrix for many vectors.)
 * Shape   [..., m, k] and [..., k] to [..., m]; [..., k] and [..., k, n] to [..., n]; leading axes broadcast.
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_matvec(lam_tensor *x, lam_tensor *y);
LAM_API lam_tensor *lam_vecmat(lam_tensor *x, lam_tensor *y); /* Fails as lam_matvec does. */

/* The sum of conj(x) y over all elements, in row-major order.
 * Shape   rank 0; x and y have as many elements.
 * Fails   LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_vdot(lam_tensor *x, lam_tensor *y);

/* The sum of conj(x) y along an axis of both.
 * Shape   the other axes, broadcast.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_vecdot(lam_tensor *x, lam_tensor *y, int axis);

/* Every element of x times every element of y.
 * Shape   [elements of x, elements of y].
 * Fails   like any use of a handle. Derivative: bilinear. */
LAM_API lam_tensor *lam_outer(lam_tensor *x, lam_tensor *y);

/* Groups of rows of a matrix times a matrix for each group: the first sizes[0] rows times y[0], the next sizes[1] times
 * y[1], and so on. Rows after the last group give 0. Every row is multiplied by every matrix.
 * Shape   x [m, k], y [g, k, n], sizes [g] to [m, n].
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE; LAM_ERR_DTYPE unless sizes are integers; LAM_ERR_VALUE for negative ones where
 *         they can be read. Derivative: bilinear; none by sizes. */
LAM_API lam_tensor *lam_ragged_dot(lam_tensor *x, lam_tensor *y, lam_tensor *sizes);

/* The sum of products over the axes in axes_x, paired with those in axes_y; no lists: the last two of x with the first
 * two of y.
 * Shape   the other axes of x, those of y.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_tensordot(lam_tensor *x, lam_tensor *y, lam_axes axes_x, lam_axes axes_y);

/* The sum of products over the last axis of both; lam_mul for rank 0.
 * Shape   the other axes of x, those of y.
 * Fails   LAM_ERR_SHAPE. Derivative: bilinear. */
LAM_API lam_tensor *lam_inner(lam_tensor *x, lam_tensor *y);

/* The Kronecker product: each element of x replaced by it times y.
 * Shape   the sizes multiplied axis by axis, lined up at the last one.
 * Fails   LAM_ERR_RANK for more than 8 axes. Derivative: bilinear. */
LAM_API lam_tensor *lam_kron(lam_tensor *x, lam_tensor *y);

/* The cross product of vectors of 3 elements along an axis of both.
 * Shape   x and y broadcast.
 * Fails   LAM_ERR_AXIS; LAM_ERR_SHAPE unless both have 3 elements there. Derivative: bilinear. */
LAM_API lam_tensor *lam_cross(lam_tensor *x, lam_tensor *y, int axis);

/* The product of 2 to 64 matrices, the first and last of which may be vectors, in the order that takes the fewest
 * multiplications.
 * Shape   as lam_matmul from left to right.
 * Fails   LAM_ERR_ARITY; LAM_ERR_RANK; LAM_ERR_SHAPE. Derivative: multilinear. */
LAM_API lam_tensor *lam_multi_dot(lam_list factors);

/* Powers 0 to n - 1 of each element, the highest first, or `increasing`.
 * Shape   the dims of x, then n.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative n. Derivative: k x^(k-1). */
LAM_API lam_tensor *lam_vander(lam_tensor *x, int64_t n, bool increasing);

/* The matrix with c as its first column and r as its first row, all diagonals constant; r[0] is not read. r NULL: the
 * conjugate of c.
 * Shape   c [m], r [n] to [m, n].
 * Fails   LAM_ERR_RANK unless both are vectors; LAM_ERR_SHAPE for empty ones. Derivative: linear. */
LAM_API lam_tensor *lam_toeplitz(lam_tensor *c, lam_tensor *r);

/* Einstein summation, for example "ij,jk->ik": one letter per axis; axes with equal letters are iterated together;
 * letters that the result lacks are summed over. "..." stands for any number of leading, middle or last axes, which
 * broadcast. A letter that occurs twice in one term takes the diagonal. Without "->" the result has the axes of "...",
 * then the letters that occur once, sorted. The operands are contracted in pairs, in the order that takes the fewest
 * multiplications (beyond 5 operands: greedily).
 * Fails   LAM_ERR_VALUE for malformed subscripts; LAM_ERR_ARITY, LAM_ERR_RANK, LAM_ERR_SHAPE if they do not fit the
 *         operands; each names the subscript. Derivative: multilinear. */
LAM_API lam_tensor *lam_einsum(const char *subscripts, lam_list operands);

/* ---- parts of matrices ---------------------------------------------------------------------------------------- */

/* The elements whose index along axis2 is that along axis1 plus offset. A view.
 * Shape   the other axes, then the diagonal.
 * Fails   LAM_ERR_AXIS. Derivative: identity. */
LAM_API lam_tensor *lam_diagonal(lam_tensor *x, int64_t offset, int axis1, int axis2);

/* The sum of a diagonal.
 * Shape   the other axes.
 * Fails   as lam_diagonal. Derivative: 1 on the diagonal. */
LAM_API lam_tensor *lam_matrix_trace(lam_tensor *x, int64_t offset, int axis1, int axis2);

/* The matrices of a stack with zeros above the diagonal `offset` (tril) or below it (triu).
 * Fails   LAM_ERR_RANK below rank 2. Derivative: identity on the remaining elements. */
LAM_API lam_tensor *lam_tril(lam_tensor *x, int64_t offset);
LAM_API lam_tensor *lam_triu(lam_tensor *x, int64_t offset); /* Fails as lam_tril does. */

/* Rows and columns exchanged.
 * Fails   LAM_ERR_RANK below rank 2. Derivative: identity. */
LAM_API lam_tensor *lam_matrix_transpose(lam_tensor *x);

/* ---- linear algebra --------------------------------------------------------------------------------------------- */

/* The lower triangular l with l l^T = (x + x^T) / 2, zeros above the diagonal.
 * Fails   LAM_ERR_SHAPE unless square; LAM_ERR_NUMERIC naming the first matrix that is not positive definite.
 * Derivative: l phi(l^-1 dx l^-T), phi the lower triangle with half the diagonal; symmetric in x.
 * Source  Murray, Differentiation of the Cholesky decomposition, 2016. */
LAM_API lam_tensor *lam_cholesky(lam_tensor *x);

typedef struct lam_triangular_solve_options {
    bool right_side;    /* solve x op(a) = b */
    bool upper;         /* read the upper triangle of a; the other is never read */
    bool transpose;     /* op(a) is a^T */
    bool unit_diagonal; /* take the diagonal of a as ones */
} lam_triangular_solve_options;

/* The x with op(a) x = b for triangular matrices a (default: lower, from the left).
 * Shape   that of b, [..., n, m] (right side: [..., m, n]) or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE. A zero on the diagonal gives infinities. Derivative: linear in b; in a by the triangle that
 *         is read. */
LAM_API lam_tensor *lam_triangular_solve(lam_tensor *a, lam_tensor *b, const lam_triangular_solve_options *options);

/* The x with l l^T x = b, for l from lam_cholesky.
 * Fails   as lam_triangular_solve. Derivative: as two of them. */
LAM_API lam_tensor *lam_cho_solve(lam_tensor *l, lam_tensor *b);

/* Rows exchanged for stability, then factored: x[permutation] = l u, l with ones on its diagonal.
 * Shape   factors: that of x [..., m, n], u [..., min(m, n), n] in the upper triangle, l [..., m, min(m, n)] below it.
 *         pivots: i32 [..., min(m, n)], row i was exchanged with row pivots[i], in that order; permutation: i32
 *         [..., m], the outcome.
 * Fails   LAM_ERR_RANK for less than two axes; never for singular matrices, which leave zeros on u's diagonal.
 * Owner   the three: current scope. Derivative: of the factors, the permutation fixed; needs the leading square block
 *         of x[permutation], of min(m, n) rows, to be invertible. */
LAM_API lam_status lam_lu(lam_tensor *x, lam_tensor **factors, lam_tensor **pivots, lam_tensor **permutation);

/* The x with a x = b, or with `transpose` a^T x = b, from the results of lam_lu for a: factors and permutation.
 * Shape   that of b, [..., n, m] or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for an invalid permutation. A zero on the diagonal gives infinities. Derivative:
 *         linear in b; as of triangular solves in the factors. */
LAM_API lam_tensor *lam_lu_solve(lam_tensor *factors, lam_tensor *permutation, lam_tensor *b, bool transpose);

/* The x with a x = b.
 * Shape   that of b, [..., n, m] or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_NUMERIC naming the first matrix that is singular.
 * Derivative: implicit, dx = a^-1 (db - da x); the factors of a are computed once and kept for it. */
LAM_API lam_tensor *lam_solve(lam_tensor *a, lam_tensor *b);

/* The x with a x = b where a has three diagonals: row i of a holds lower[i], main[i], upper[i] in columns i - 1, i and
 * i + 1; lower[0] and upper[n - 1] are not read. In time and memory proportional to n, with exchanges of rows.
 * Shape   diagonals [..., n]; that of b, [..., n, m] or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_RANK for diagonals of LAM_MAX_RANK axes; LAM_ERR_NUMERIC naming the first matrix that
 *         is singular.
 * Derivative: implicit, as of lam_solve, by the entries that are read. */
LAM_API lam_tensor *lam_tridiagonal_solve(lam_tensor *lower, lam_tensor *main, lam_tensor *upper, lam_tensor *b);

/* The x with tensordot(a, x) = b over all axes of x: a has the axes of b, then those of x, which hold as many elements.
 * Shape   the axes of a after those of b.
 * Fails   LAM_ERR_SHAPE; as lam_solve. Derivative: as lam_solve. */
LAM_API lam_tensor *lam_tensorsolve(lam_tensor *a, lam_tensor *b);

/* The tensor that tensordot undoes x with, whose first `axes` axes hold as many elements as the others.
 * Shape   the other axes of x, then the first ones.
 * Fails   LAM_ERR_AXIS unless 0 < axes < rank; LAM_ERR_SHAPE; as lam_solve. Derivative: as lam_inv. */
LAM_API lam_tensor *lam_tensorinv(lam_tensor *x, int axes);

/* Matrices along the diagonal, zeros beside them; dtypes are promoted, leading axes broadcast. A vector is one row, a
 * number one element.
 * Shape   [..., sum of rows, sum of columns].
 * Fails   LAM_ERR_ARITY for none; LAM_ERR_SHAPE. Derivative: identity of each. */
LAM_API lam_tensor *lam_block_diag(lam_list matrices);

/* The inverse of each matrix; lam_solve is more accurate and cheaper where the inverse is only to be multiplied.
 * Fails   as lam_solve. Derivative: -x^-1 dx x^-1. */
LAM_API lam_tensor *lam_inv(lam_tensor *x);

/* The determinant of each matrix. It, its logarithm, cofactors, lam_solve and lam_inv keep their digits where rows and
 * columns are of very different sizes: intermediate results outside the range do no harm.
 * Shape   the leading axes.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: the sum of lam_cofactor(x) times dx, even at singular matrices. */
LAM_API lam_tensor *lam_det(lam_tensor *x);

/* The matrices of cofactors: [i, j] is the determinant without row i and column j, with the sign of i + j; det(x) x^-T
 * where x can be inverted.
 * Shape   that of x.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: the second one of the determinant, for every rank; a third one at
 *         singular matrices with more than 3 rows needs distinct singular values. */
LAM_API lam_tensor *lam_cofactor(lam_tensor *x);

/* The sign of the determinant and the logarithm of its size: 0 and -inf for singular matrices.
 * Shape   the leading axes.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: of the logarithm tr(x^-1 dx), not finite at singular matrices; of
 *         the sign 0, for complex x i im(tr(x^-1 dx)) times it. */
LAM_API lam_status lam_slogdet(lam_tensor *x, lam_tensor **sign, lam_tensor **log);

/* Matrix powers by repeated squaring; negative powers are those of the inverse.
 * Fails   LAM_ERR_SHAPE unless square; for negative n as lam_inv. Derivative: as of the products. */
LAM_API lam_tensor *lam_matrix_power(lam_tensor *x, int64_t n);

/* The exponential of each matrix, the sum of x^k / k!. A matrix that is not finite gives NaN.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: lam_expm_frechet(x, dx).
 * Source  Higham, The scaling and squaring method for the matrix exponential revisited, 2005. */
LAM_API lam_tensor *lam_expm(lam_tensor *x);

/* The derivative of the exponential at x along e: the integral of exp(s x) e exp((1 - s) x) over s from 0 to 1.
 * Shape   leading axes broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: linear in e; in x the second derivative of the exponential. */
LAM_API lam_tensor *lam_expm_frechet(lam_tensor *x, lam_tensor *e);

/* The principal square root of each matrix: the one whose eigenvalues have positive real parts. A matrix that is not
 * finite gives NaN.
 * Fails   LAM_ERR_SHAPE unless square; LAM_ERR_NUMERIC naming the first matrix with an eigenvalue that is 0 or on the
 *         negative real axis, also for complex matrices, or so near to 0 that rounding x leaves fewer than six digits:
 *         where it has fewer eigenvectors than its multiplicity. Derivative: lam_sqrtm_frechet(x, dx).
 * Source  Higham, Functions of Matrices, 2008, 6.20: Newton's method in increments. */
LAM_API lam_tensor *lam_sqrtm(lam_tensor *x);

/* The derivative of the square root r at x along e: the l with r l + l r = e.
 * Shape   leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_NUMERIC as lam_sqrtm. Derivative: linear in e; in x the second derivative of the
 *         root. */
LAM_API lam_tensor *lam_sqrtm_frechet(lam_tensor *x, lam_tensor *e);

/* The principal logarithm of each matrix: the one whose eigenvalues have imaginary parts between -pi and pi. A matrix
 * that is not finite gives NaN.
 * Fails   LAM_ERR_SHAPE unless square; LAM_ERR_NUMERIC as lam_sqrtm, and where the size of x times that of its inverse
 *         is beyond 2^52, so that rounding decides. Derivative: lam_logm_frechet(x, dx).
 * Source  Cheng, Higham, Kenney and Laub, Approximating the logarithm of a matrix to specified accuracy, 2001. */
LAM_API lam_tensor *lam_logm(lam_tensor *x);

/* The derivative of the logarithm at x along e: the integral of (s x + 1 - s)^-1 e (s x + 1 - s)^-1 over s from 0 to 1.
 * Shape   leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_NUMERIC as lam_sqrtm. Derivative: linear in e; in x the second derivative of the
 *         logarithm. */
LAM_API lam_tensor *lam_logm_frechet(lam_tensor *x, lam_tensor *e);

/* ---- orthogonal factors, eigenvalues, singular values ----------------------------------------------------------- */

/* All of these: matrices up to 16384 rows and columns (LAM_ERR_OVERFLOW beyond; of the longer side there is no limit
 * where factors are not full). A matrix that holds an infinity or a NaN gives NaN. LAM_ERR_NUMERIC names a matrix for
 * which the iteration does not converge, if there ever is one.
 *
 * Where eigenvalues or singular values repeat, or are closer than their rounding, their vectors are not determined and
 * have no derivative. This never gives a NaN: rotations of vectors within such a group count as 0. So results that
 * depend only on the span of such vectors have derivatives of every order (a projector on all of them, a single value
 * and its vector, u v^T), and sums of functions of the values have the first. Where values are close but not equal,
 * derivatives of vectors lose digits by their rounding over the gap, second ones by its square. One thing cannot be
 * derived from values and vectors: the derivative of v f(w) v^T between equals is f', which neither knows; the second
 * derivative of a sum of f(w) needs it too. For such functions use those that know f: lam_spectral, whose trace is the
 * sum, has all derivatives for any f; lam_expm, lam_logm, lam_sqrtm, lam_pinv, lam_solve, lam_inv, lam_matrix_power,
 * lam_polar and lam_matrix_norm have rules of their own. For complex matrices the phases of vectors are not determined
 * either: eigenvectors change at right angles to themselves, the phases of a pair of singular vectors turn against each
 * other. */

typedef struct lam_qr_options {
    bool full_matrices; /* q square, r as x; otherwise the columns that x needs */
} lam_qr_options;

/* x = q r, q with orthonormal columns, r upper triangular. Signs are LAPACK's: r's diagonal may be negative.
 * Shape   [..., m, n] gives q [..., m, k] and r [..., k, n] with k = min(m, n); full: [..., m, m] and [..., m, n].
 * Fails   LAM_ERR_RANK below rank 2.
 * Owner   both: current scope. Derivative: needs the first k columns to be independent; further columns of a full q
 *         only turn back against the others. For complex x, r's diagonal is real and stays so. */
LAM_API lam_status lam_qr(lam_tensor *x, lam_tensor **q, lam_tensor **r, const lam_qr_options *options);

/* (x + x^T) / 2 = v diag(w) v^T: eigenvalues, ascending, and orthonormal eigenvectors in columns. Their signs are
 * LAPACK's.
 * Shape   [..., n, n] gives values [..., n] and vectors [..., n, n].
 * Fails   LAM_ERR_SHAPE unless square.
 * Owner   both: current scope. Derivative: dw = diag(p) and dv = v (p / (w_j - w_i)), p = v^T dx v; symmetric in x. */
LAM_API lam_status lam_eigh(lam_tensor *x, lam_tensor **values, lam_tensor **vectors);

/* The eigenvalues that lam_eigh gives, faster.
 * Shape   [..., n].
 * Fails   as lam_eigh. Derivative: diag(v^T dx v); where they repeat, right for functions that treat them alike, but
 *         the second derivative lacks the mixing of the vectors of equal ones: for that see lam_spectral. */
LAM_API lam_tensor *lam_eigvalsh(lam_tensor *x);

/* Eigenvalues and right eigenvectors of general matrices: x v = v diag(w), both complex, each column of v of
 * length 1. Order as lam_eigvals has it.
 * Shape   [..., n, n] gives [..., n] and [..., n, n].
 * Fails   as lam_eigvals does. Derivative: of the values as lam_eigvals; of the vectors up to a turn of each by a
 *         phase, which x does not determine: right for results that such phases do not change. */
LAM_API lam_status lam_eig(lam_tensor *x, lam_tensor **values, lam_tensor **vectors);

/* The eigenvalues of general matrices, in no order but that conjugate pairs of real matrices are neighbours, the one
 * with the positive imaginary part first.
 * Shape   [..., n, n] gives [..., n], complex.
 * Fails   LAM_ERR_SHAPE unless square. Derivative: diag(v^-1 dx v), v the eigenvectors; where they repeat, right for
 *         functions that treat them alike. Without n independent eigenvectors it is infinite, and so results are not
 *         finite (not even for sums of powers, whose own derivatives are finite: for those see lam_matrix_power and
 *         lam_matrix_trace); near such matrices it is large. */
LAM_API lam_tensor *lam_eigvals(lam_tensor *x);

typedef struct lam_svd_options {
    bool full_matrices; /* u and vt square; otherwise the vectors that belong to singular values */
} lam_svd_options;

/* x = u diag(s) vt, singular values descending, orthonormal vectors in the columns of u and the rows of vt.
 * Shape   [..., m, n] gives u [..., m, k], s [..., k], vt [..., k, n] with k = min(m, n); full: [..., m, m] and
 *         [..., n, n].
 * Fails   LAM_ERR_RANK below rank 2.
 * Owner   the three: current scope. Derivative: Townsend, Differentiating the singular value decomposition, 2016; at
 *         singular values of 0 the vectors beyond the span have none, and 0 is taken. */
LAM_API lam_status lam_svd(lam_tensor *x, lam_tensor **u, lam_tensor **s, lam_tensor **vt,
                           const lam_svd_options *options);

/* The singular values that lam_svd gives, faster.
 * Shape   [..., min(m, n)].
 * Fails   as lam_svd. Derivative: diag(u^T dx v); 0 for those that are 0, where lam_svd takes the vectors it happened
 *         to find. */
LAM_API lam_tensor *lam_svdvals(lam_tensor *x);

typedef struct lam_schur_options {
    bool complex_form; /* the complex form, which has no blocks, for real matrices too */
} lam_schur_options;

/* x = vectors form vectors^H: vectors unitary, form upper triangular with the eigenvalues on its diagonal, in LAPACK's
 * order. For real matrices both are real, and a pair of complex eigenvalues is a block of two rows on the diagonal.
 * Shape   [..., n, n] gives two of these.
 * Fails   LAM_ERR_SHAPE unless square.
 * Owner   both: current scope. Derivative: where eigenvalues are distinct, phases of vectors held; NaN for a real form
 *         with blocks: use the complex one. */
LAM_API lam_status lam_schur(lam_tensor *x, lam_tensor **form, lam_tensor **vectors, const lam_schur_options *options);

/* The x with a x + x b = c; Lyapunov's equation where b is a^H.
 * Shape   a [..., m, m], b [..., n, n] and c [..., m, n]: as c; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE, LAM_ERR_RANK; LAM_ERR_NUMERIC where an eigenvalue of a is one of b with a minus.
 * Owner   current scope. Derivative: by all three, of every order, by solving again.
 * Source  Bartels and Stewart, Algorithm 432, 1972 (LAPACK). */
LAM_API lam_tensor *lam_solve_sylvester(lam_tensor *a, lam_tensor *b, lam_tensor *c);

/* The complex Schur form from a real one and its vectors: x = vectors form vectors^H for both. A block of two rows
 * becomes a pair of eigenvalues. Complex forms are returned unchanged.
 * Shape   two of [..., n, n] give two of these.
 * Fails   LAM_ERR_SHAPE unless square and of one size.
 * Owner   both: current scope. Derivative: as lam_schur's. */
LAM_API lam_status lam_rsf2csf(lam_tensor *form, lam_tensor *vectors, lam_tensor **complex_form,
                               lam_tensor **complex_vectors);

/* x = vectors form vectors^H: vectors unitary with the first unit vector as their first column, form zero below its
 * first subdiagonal, which is real.
 * Shape   [..., n, n] gives two of these.
 * Fails   LAM_ERR_SHAPE unless square.
 * Owner   both: current scope. Derivative: where the subdiagonal has no zeros, by one pass through the columns. */
LAM_API lam_status lam_hessenberg(lam_tensor *x, lam_tensor **form, lam_tensor **vectors);

/* (x + x^H) / 2 = vectors t vectors^H, where t has `main` on its diagonal and `beside` on both sides of it, all real;
 * vectors as lam_hessenberg's.
 * Shape   [..., n, n] gives [..., n], [..., n - 1] and [..., n, n].
 * Fails   as lam_hessenberg. Owner: all: current scope. Derivative: as lam_hessenberg's. */
LAM_API lam_status lam_tridiagonal(lam_tensor *x, lam_tensor **main, lam_tensor **beside, lam_tensor **vectors);

/* The x with x w + sign w x = p for w that is triangular or nearly diagonal; for a diagonal w, p[i, j] / (w[j] + sign
 * w[i]). Where such a divisor does not exceed the rounding of the largest w, x is 0. Derivatives of eigenvectors (sign
 * -1), singular vectors (-1, 1 and 0) and Schur forms (-1) use it. Elements on both sides of the diagonal are handled
 * by iteration, and must be small compared with the divisors.
 * Shape   w [..., n, n], p [..., n, n], or with sign 0 [..., m, n]: as p; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_OPTION for a sign other than -1, 0, 1; LAM_ERR_NUMERIC if the iteration does not
 *         converge. Derivative: linear in p; in w that of the equation, even where w repeats. */
LAM_API lam_tensor *lam_gap_solve(lam_tensor *w, lam_tensor *p, int sign);

/* x = u p, u with orthonormal columns (rows, where x is wide) nearest to x, p symmetric with no negative eigenvalue.
 * Shape   [..., m, n] gives u [..., m, n] and p [..., n, n].
 * Fails   as lam_svd.
 * Owner   both: current scope. Derivative: of every order, however close singular values are, by the matrix and u
 *         (a Sylvester equation, not the vectors); needs full rank. */
LAM_API lam_status lam_polar(lam_tensor *x, lam_tensor **u, lam_tensor **p);

typedef struct lam_rank_options {
    double rtol; /* singular values up to this times the largest count as 0; 0: see each call; negative: only 0 does */
} lam_rank_options;

/* The pseudo-inverse of Moore and Penrose. rtol 0: 10 max(m, n) epsilon.
 * Shape   [..., m, n] gives [..., n, m].
 * Fails   LAM_ERR_RANK below rank 2. Derivative: within the matrices of the same rank, even at equal singular values.
 * Source  Golub and Pereyra, The differentiation of pseudo-inverses, 1973. */
LAM_API lam_tensor *lam_pinv(lam_tensor *x, const lam_rank_options *options);

/* The x of least length among those for which the length of a x - b is least. rtol 0: max(m, n) epsilon.
 * Shape   a [..., m, n] and b [..., m, k] or [m] give [..., n, k] or [n]; leading axes broadcast.
 * Fails   LAM_ERR_SHAPE. Derivative: as lam_pinv times b. */
LAM_API lam_tensor *lam_lstsq(lam_tensor *a, lam_tensor *b, const lam_rank_options *options);

/* The number of singular values that count. rtol 0: max(m, n) epsilon.
 * Shape   the leading axes; i64.
 * Fails   LAM_ERR_RANK below rank 2. Derivative: none. */
LAM_API lam_tensor *lam_matrix_rank(lam_tensor *x, const lam_rank_options *options);

typedef enum lam_matrix_order {
    LAM_NORM_DEFAULT = 0, /* Frobenius for lam_matrix_norm, 2 for lam_matrix_cond */
    LAM_NORM_FROBENIUS,   /* the root of the sum of squares */
    LAM_NORM_NUCLEAR,     /* the sum of the singular values */
    LAM_NORM_1,           /* the largest sum of sizes in a column */
    LAM_NORM_MINUS_1,     /* the smallest sum of sizes in a column */
    LAM_NORM_2,           /* the largest singular value */
    LAM_NORM_MINUS_2,     /* the smallest singular value */
    LAM_NORM_INF,         /* the largest sum of sizes in a row */
    LAM_NORM_MINUS_INF    /* the smallest sum of sizes in a row */
} lam_matrix_order;

typedef struct lam_matrix_norm_options {
    lam_matrix_order order;
    lam_axes axes; /* rows, columns; no list: the last two */
    bool keepdims; /* leave each as an axis of one element */
} lam_matrix_norm_options;

/* Norms of matrices; of vectors see lam_norm.
 * Shape   the other axes.
 * Fails   LAM_ERR_RANK below rank 2; LAM_ERR_AXIS; LAM_ERR_OPTION for an invalid order. Where there is nothing to
 *         choose from, the largest is 0 and the smallest inf. Derivative: 0 for singular values that are 0 and at the
 *         zero matrix; shared equally among sums and singular values that tie for largest. Both derivatives of the
 *         nuclear norm are right even where singular values repeat. */
LAM_API lam_tensor *lam_matrix_norm(lam_tensor *x, const lam_matrix_norm_options *options);

/* The condition number: the norm of x times that of its inverse. For order 2 the ratio of the singular values, inf for
 * singular matrices.
 * Shape   the leading axes.
 * Fails   LAM_ERR_RANK; LAM_ERR_OPTION; for other orders LAM_ERR_SHAPE unless square, and as lam_inv.
 *         Derivative: of the norms, as lam_matrix_norm. */
LAM_API lam_tensor *lam_matrix_cond(lam_tensor *x, lam_matrix_order order);

#ifdef __cplusplus
}
#endif
#endif
