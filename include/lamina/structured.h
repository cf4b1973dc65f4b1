/* Structured matrices made from a few numbers, and factorisations made of others, under the names of scipy.linalg.
 * Matrices made from vectors have their dtype. The opening comment of ops.h applies here too. */
#ifndef LAMINA_STRUCTURED_H
#define LAMINA_STRUCTURED_H

#include <lamina/base.h>
#include <lamina/convolution.h>
#include <lamina/linalg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrices of vectors ----------------------------------------------------------------------------------------- */

/* The matrix whose columns are c, each rotated by one element more than the one before: c[(i - j) mod n].
 * Shape   c [n] to [n, n].
 * Fails   LAM_ERR_RANK unless c is a vector. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_circulant(lam_tensor *c);

/* The matrix with c as its first column and r as its last row, all diagonals from the lower left up constant; r[0] is
 * not read. r NULL: zeros.
 * Shape   c [m], r [n] to [m, n].
 * Fails   LAM_ERR_RANK unless both are vectors; LAM_ERR_SHAPE for empty ones. Owner: current scope.
 *         Derivative: linear. */
LAM_API lam_tensor *lam_hankel(lam_tensor *c, lam_tensor *r);

/* The matrix whose eigenvalues are the roots of the polynomial with the coefficients a, the highest power first.
 * Integers are taken as f64.
 * Shape   a [n + 1] to [n, n].
 * Fails   LAM_ERR_RANK unless a is a vector; LAM_ERR_SHAPE for fewer than two. Owner: current scope. Derivative: of
 *         -a[k] / a[0]. */
LAM_API lam_tensor *lam_companion(lam_tensor *a);

/* The matrix with f in its first row and s below its diagonal: a population by age, with births and survival rates.
 * Shape   f [n], s [n - 1] to [n, n].
 * Fails   LAM_ERR_RANK unless both are vectors; LAM_ERR_SHAPE for other sizes. Owner: current scope.
 *         Derivative: linear. */
LAM_API lam_tensor *lam_leslie(lam_tensor *f, lam_tensor *s);

/* |a[i] - a[j]| for all pairs.
 * Shape   a [n] to [n, n].
 * Fails   LAM_ERR_RANK unless a is a vector; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 *         Derivative: as lam_abs. */
LAM_API lam_tensor *lam_fiedler(lam_tensor *a);

/* The matrix whose product with a vector of n elements is lam_convolve(a, vector, mode).
 * Shape   a [m] to [see lam_convolve_mode, n].
 * Fails   LAM_ERR_RANK unless a is a vector; LAM_ERR_SHAPE for an empty one; LAM_ERR_VALUE for n below 1;
 *         LAM_ERR_OPTION for another mode. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_convolution_matrix(lam_tensor *a, int64_t n, lam_convolve_mode mode);

/* ---- matrices of a size ------------------------------------------------------------------------------------------ */

/* Hilbert's matrix, 1/(i + j + 1).
 * Shape   [n, n].
 * Fails   as lam_zeros; LAM_ERR_DTYPE unless floating; LAM_ERR_VALUE for n < 0. Owner: current scope. */
LAM_API lam_tensor *lam_hilbert(lam_ctx *ctx, lam_dtype dtype, int64_t n);

/* Pascal's triangle: i + j over i; `lower`: i over j, a factor: its product with its transpose is the other.
 * Shape   [n, n].
 * Fails   as lam_hilbert does. Owner: current scope. */
LAM_API lam_tensor *lam_pascal(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool lower);

/* The inverse of Hilbert's matrix, whose elements are whole: exact while they are below 2^53.
 * Shape   [n, n].
 * Fails   as lam_hilbert does. Owner: current scope. */
LAM_API lam_tensor *lam_invhilbert(lam_ctx *ctx, lam_dtype dtype, int64_t n);

/* The inverse of lam_pascal(n, lower), likewise.
 * Shape   [n, n].
 * Fails   as lam_hilbert does. Owner: current scope. */
LAM_API lam_tensor *lam_invpascal(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool lower);

/* Helmert's matrix of contrasts: n - 1 orthonormal rows whose sum is 0, of which row i contrasts element i + 1 with
 * those before it; `full`: with a row of equal elements above them, an orthogonal matrix.
 * Shape   [n - 1, n], or [n, n].
 * Fails   as lam_hilbert does; LAM_ERR_VALUE for n below 1. Owner: current scope. */
LAM_API lam_tensor *lam_helmert(lam_ctx *ctx, lam_dtype dtype, int64_t n, bool full);

/* Hadamard's matrix of n = 2^k rows of ones and minus ones, each at right angles to the others.
 * Shape   [n, n].
 * Fails   as lam_zeros; LAM_ERR_VALUE unless n is a power of two. Owner: current scope. */
LAM_API lam_tensor *lam_hadamard(lam_ctx *ctx, lam_dtype dtype, int64_t n);

/* The matrix of the discrete Fourier transform, exp(-2 pi i j k / n). Needs no FFTW.
 * Shape   [n, n], of a complex dtype.
 * Fails   as lam_zeros; LAM_ERR_DTYPE unless complex; LAM_ERR_VALUE for n < 0. Owner: current scope. */
LAM_API lam_tensor *lam_dft(lam_ctx *ctx, lam_dtype dtype, int64_t n);

/* ---- factors ----------------------------------------------------------------------------------------------------- */

/* x = u p with orthonormal columns of u (rows if x is wide) and p symmetric, positive semidefinite; `left`: x = p u.
 * NULL for one that is not wanted.
 * Shape   [..., m, n] to u [..., m, n] and p [..., n, n], or [..., m, m].
 * Fails   as lam_svd does. Owner: current scope. Derivative: as lam_polar. */
LAM_API lam_status lam_polar_factors(lam_tensor *x, bool left, lam_tensor **u, lam_tensor **p);

/* Eigenvalues, ascending, and eigenvectors of the symmetric matrix with the diagonal d and e on both sides of it. NULL
 * for one that is not wanted.
 * Shape   d [n], e [n - 1] to [n] and [n, n].
 * Fails   LAM_ERR_RANK, LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope.
 *         Derivative: as lam_eigh. */
LAM_API lam_status lam_eigh_tridiagonal(lam_tensor *d, lam_tensor *e, lam_tensor **values, lam_tensor **vectors);

/* Eigenvalues, ascending, and vectors of a symmetric a in the metric of a symmetric, positive definite b: a v = b v
 * diag(values), v^T b v = 1. NULL for one that is not wanted.
 * Shape   [..., n, n] both, leading axes broadcast, to [..., n] and [..., n, n].
 * Fails   LAM_ERR_SHAPE unless square and of one size; as lam_cholesky of b does. Owner: current scope.
 *         Derivative: by a and b, as lam_eigh's.
 * Source  scipy.linalg.eigh(a, b). */
LAM_API lam_status lam_eigh_generalized(lam_tensor *a, lam_tensor *b, lam_tensor **values, lam_tensor **vectors);

/* The order in which QR with column pivoting takes the columns of x: each time the one whose part at right angles to
 * those before is longest. The first ones span the space of all columns.
 * Shape   [..., m, n] to [..., n]; i32. Matrices that hold an infinity or a NaN: 0, 1, 2, ...
 * Fails   LAM_ERR_RANK below rank 2. Owner: current scope. Derivative: none.
 * Source  LAPACK's xGEQP3. */
LAM_API lam_tensor *lam_qr_pivots(lam_tensor *x);

/* x[:, permutation] = q r with lam_qr_pivots(x) as permutation: the sizes on r's diagonal descend, and are close to 0
 * from the rank of x on. NULL for one that is not wanted.
 * Shape   q and r as of lam_qr, permutation [..., n], i32.
 * Fails   as lam_qr does. Owner: current scope. Derivative: that of lam_qr, the permutation fixed.
 * Source  scipy.linalg.qr(x, pivoting=True). */
LAM_API lam_status lam_qr_pivoted(lam_tensor *x, lam_tensor **q, lam_tensor **r, lam_tensor **permutation,
                                  const lam_qr_options *options);

/* The lower triangular factor of l l^T + w w^T, or of l l^T - w w^T where `downdate`, from the lower triangle of l,
 * whose diagonal has no zeros, in n^2 steps.
 * Shape   l [..., n, n], w [..., n], leading axes broadcast, to [..., n, n].
 * Fails   LAM_ERR_SHAPE; LAM_ERR_NUMERIC if the result is not positive definite; if elements cannot be read, it has NaN
 *         from the first such column on. Owner: current scope. Derivative: by both.
 * Source  Gill, Golub, Murray and Saunders, Methods for modifying matrix factorizations, 1974. */
LAM_API lam_tensor *lam_cholesky_update(lam_tensor *l, lam_tensor *w, bool downdate);

/* The first n columns of H_1 H_2 ... H_k, H_i = 1 - taus[i] v_i v_i^H, where v_i has 1 in row i, zeros above, and below
 * it the elements of column i of a: the form in which LAPACK's xGEQRF and xGEHRD store q.
 * Shape   a [..., m, n], taus [..., k], k <= m and k <= n, leading axes broadcast, to [..., m, n].
 * Fails   LAM_ERR_RANK; LAM_ERR_SHAPE. Owner: current scope. Derivative: by both, by those elements of a that are read.
 * Source  jax.lax.linalg.householder_product, LAPACK's xORGQR. */
LAM_API lam_tensor *lam_householder_product(lam_tensor *a, lam_tensor *taus);

typedef struct lam_ormqr_options {
    bool right_side; /* c times the product */
    bool transpose;  /* the adjoint of the product */
} lam_ormqr_options;

/* The same product, with all its m columns, times c, without forming the product.
 * Shape   as lam_householder_product, c [..., m, p] (right side: [..., p, m]), to that of c.
 * Fails   as lam_householder_product does. Owner: current scope. Derivative: by all three.
 * Source  jax.lax.linalg.ormqr, LAPACK's xORMQR. */
LAM_API lam_tensor *lam_ormqr(lam_tensor *a, lam_tensor *taus, lam_tensor *c, const lam_ormqr_options *options);

#ifdef __cplusplus
}
#endif
#endif
