/* Complex numbers: LAM_C128 and LAM_C64. Arithmetic, powers, exponentials, logarithms, trigonometric and hyperbolic
 * functions and their inverses, sums, products, contractions, layout and indexing take them as they take real numbers,
 * and so do logistic, silu, mish, gelu_tanh, sinc, xlogy, xlog1py, softmax and the logarithms of sums of exponentials;
 * of these logsumexp, logaddexp and softplus have imaginary parts in [-pi, pi], logaddexp2 the same over log(2).
 * Operations that need an order (lt, max, sort, floor, ...) fail with LAM_ERR_DTYPE. Branch cuts and special values are
 * those of C's Annex G, as in numpy; products and quotients of infinities follow the formula of the parts. A real
 * operand beside a complex one counts as complex with imaginary part 0, and its derivative is real.
 *
 * NOTE [complex derivatives]  Conventions are those of JAX. A complex number stands for two real ones; df(x; v) is the
 * derivative along v, linear over the reals. Forward mode gives df(x; v). A cotangent g of the output pairs with a
 * tangent w as the real part of the plain product g w, nothing conjugated, and reverse mode gives the gx with
 * Re(gx v) = Re(g df(x; v)) for all v. So:
 *   f holomorphic              jvp is f'(x) v, vjp is f'(x) g
 *   f real-valued, x = a + ib  lam_grad is df/da - i df/db; the direction of steepest ascent is its conjugate
 *   f complex-valued           lam_grad fails unless options.holomorphic is set; it then gives f'(x)
 * lam_jacfwd and lam_hessian of a complex input need options.holomorphic too, as does lam_jacrev of a complex output.
 */
#ifndef LAMINA_COMPLEX_H
#define LAMINA_COMPLEX_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* re + i im, element by element.
 * Shape   the operands broadcast; c64 of f32 parts, otherwise c128.
 * Fails   LAM_ERR_DTYPE for complex operands; LAM_ERR_SHAPE if dims do not broadcast.
 * Owner   current scope. Derivative: linear. */
LAM_API lam_tensor *lam_complex(lam_tensor *re, lam_tensor *im);

/* A rank-0 c128 tensor.
 * Fails   LAM_ERR_MEMORY.
 * Owner   current scope. */
LAM_API lam_tensor *lam_scalar_complex(lam_ctx *ctx, double re, double im);

/* The real part: f64 of c128, f32 of c64; a real tensor is returned unchanged.
 * Fails   like any use of a handle. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_real(lam_tensor *x);

/* The imaginary part, as lam_real; zeros for a real tensor.
 * Fails   like any use of a handle. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_imag(lam_tensor *x);

/* The conjugate re - i im; a real tensor is returned unchanged.
 * Fails   like any use of a handle. Owner: current scope. Derivative: that of the conjugate; not holomorphic. */
LAM_API lam_tensor *lam_conj(lam_tensor *x);

/* The angle from the positive real axis in radians, in [-pi, pi].
 * Fails   like any use of a handle. Owner: current scope. Derivative: that of atan2(im, re), NaN at 0; 0 for real x. */
LAM_API lam_tensor *lam_angle(lam_tensor *x);

/* The only element of a tensor of any dtype.
 * Fails   as lam_item does, which serves the other dtypes; a failure gives NaN. */
LAM_API lam_c128 lam_item_complex(lam_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
