/* Polynomials by their coefficients, the highest power first; the product of two is their lam_convolve. The opening
 * comment of ops.h applies here too. */
#ifndef LAMINA_POLYNOMIAL_H
#define LAMINA_POLYNOMIAL_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The polynomial with coefficients p, the highest power first, at x; 0 without coefficients.
 * Shape   that of x; p [n].
 * Fails   LAM_ERR_RANK. Derivative: by p and x. */
LAM_API lam_tensor *lam_polyval(lam_tensor *p, lam_tensor *x);

/* The transpose of lam_polyval: element k is the sum over all elements of the weight times x^(count - 1 - k), the
 * highest power first. With weights 1 and divided by the number of elements, the moments of x.
 * Shape   [count]; weights those of x.
 * Fails   LAM_ERR_SHAPE; LAM_ERR_VALUE for a negative count; LAM_ERR_DTYPE for complex operands. Derivative: by weights
 *         and x. */
LAM_API lam_tensor *lam_power_sums(lam_tensor *weights, lam_tensor *x, int64_t count);

/* The coefficients of the m-th derivative of each polynomial p. Bools are taken as i64.
 * Shape   p [..., n] to [..., n - m], at least [..., 0], the polynomial 0.
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative m. Derivative: linear. */
LAM_API lam_tensor *lam_polyder(lam_tensor *p, int64_t m);

/* The coefficients of the m-th integral of each polynomial p, with constants 0. Integers are taken as f64.
 * Shape   p [..., n] to [..., n + m].
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_VALUE for a negative m. Derivative: linear. */
LAM_API lam_tensor *lam_polyint(lam_tensor *p, int64_t m);

/* The polynomial p of this degree for which sum((weights (polyval(p, x) - y))^2) is least; weights NULL: ones. The
 * powers of x are scaled to one length first, and a power that hardly differs from a combination of the others counts
 * as one (as in lam_lstsq).
 * Shape   x and weights [n], y [n] or [n, k] to [degree + 1] or [degree + 1, k].
 * Fails   LAM_ERR_SHAPE; LAM_ERR_VALUE for a negative degree. Derivative: by x, y and weights, as lam_lstsq. */
LAM_API lam_tensor *lam_polyfit(lam_tensor *x, lam_tensor *y, int64_t degree, lam_tensor *weights);

/* The polynomial whose highest coefficient is 1 and whose roots are given.
 * Shape   roots [..., n] to [..., n + 1].
 * Fails   LAM_ERR_RANK for rank 0. Derivative: exact. */
LAM_API lam_tensor *lam_poly(lam_tensor *roots);

/* Sum, difference and product of polynomials.
 * Shape   [..., m] and [..., n], whose leading axes broadcast, to [..., max(m, n)]; the product of vectors [m] and [n]
 *         to [m + n - 1], or [0] if one is empty.
 * Fails   LAM_ERR_RANK for rank 0, of the product unless both are vectors; LAM_ERR_SHAPE. Derivative: by both. */
LAM_API lam_tensor *lam_polyadd(lam_tensor *p, lam_tensor *q);
LAM_API lam_tensor *lam_polysub(lam_tensor *p, lam_tensor *q); /* Fails as lam_polyadd does. */
LAM_API lam_tensor *lam_polymul(lam_tensor *p, lam_tensor *q); /* Fails as lam_polyadd does. */

/* Quotient and remainder: p is quotient times q plus rest. A NULL result is not wanted. Integers are taken as f64.
 * Shape   p [m], q [n], whose first element is not 0, to quotient [max(m - n + 1, 1)] and rest [n - 1].
 * Fails   LAM_ERR_RANK unless both are vectors; LAM_ERR_SHAPE for an empty q; out[] then hold failed tensors. Owner:
 *         current scope. Derivative: by both; infinite or NaN where q[0] is 0. */
LAM_API lam_status lam_polydiv(lam_tensor *p, lam_tensor *q, lam_tensor **quotient, lam_tensor **rest);

/* The roots of each polynomial p, complex, in the order of lam_eigvals, whose values for the companion matrix they are.
 * Shape   p [..., n + 1], p[0] not 0, to [..., n].
 * Fails   LAM_ERR_RANK for rank 0; LAM_ERR_SHAPE without coefficients; if p[0] is 0 as lam_eigvals of a matrix that is
 *         not finite. Derivative: as lam_eigvals; none where roots repeat. */
LAM_API lam_tensor *lam_roots(lam_tensor *p);

#ifdef __cplusplus
}
#endif
#endif
