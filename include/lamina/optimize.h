/* Minima of functions, under the name of scipy.optimize: a search that works under every transform, and derivatives of
 * what it finds that do not go through the search. */
#ifndef LAMINA_OPTIMIZE_H
#define LAMINA_OPTIMIZE_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_minimize_options {
    double gtol;        /* done when the norm of the gradient is below this; 0: 1e-5 */
    double norm;        /* order of that norm, as lam_norm_options has it; 0: INFINITY, the largest element */
    int64_t maxiter;    /* steps at most; 0: 200 for each element of x0 */
    int64_t line_tries; /* doublings of a step at most; 0: 10 */
} lam_minimize_options;

/* What a search has found out beside x. */
typedef struct lam_minimum {
    lam_tensor *value;           /* f at x, rank 0 */
    lam_tensor *gradient;        /* there, of x's type */
    lam_tensor *inverse_hessian; /* as the search has estimated it, [n, n] for the n elements of x in row-major order */
    lam_tensor *status;          /* i64: 0 done; 1 no more steps; 3 and 5 no step along a line is good enough, 5 where
                                    the function goes on falling */
    lam_tensor *iterations;      /* i64: steps */
    lam_tensor *evaluations;     /* i64: of value and gradient together */
} lam_minimum;

/* The x near x0 where f(x, parameters...), a number, is least: quasi-Newton steps (BFGS) of lengths that fulfil the
 * strong conditions of Wolfe, or close to the minimum, where differences of values are rounding, those of Hager and
 * Zhang. A search that ends without success gives the last point, and says so in found->status; found may be NULL.
 * Examples of a batch search each for itself, and what lam_jit and lam_trace record of it is one loop.
 * Shape   x: as x0, of any rank.
 * Fails   LAM_ERR_ARITY unless f has one input more than there are parameters, and one output; LAM_ERR_DTYPE unless x0
 *         is real and floating; LAM_ERR_VALUE for negative options or NaN; LAM_ERR_CAPTURED under a derivative where f
 *         uses a tensor that has one and is no parameter and no capture; as lam_value_and_grad(f) does. *found is then
 *         of failed tensors.
 * Owner   x and found: current scope.
 * Derivative  of x and the value, by the parameters and the captures of f, of any order: that of the place where the
 *         gradient is zero, as precise as it is zero there, which is what gtol is for. It solves with the Hessian as a
 *         matrix: LAM_ERR_NUMERIC where that is singular. None by x0, nor of what else is found.
 * Source  Nocedal and Wright, Numerical Optimization, 2006, algorithms 6.1, 3.5 and 3.6; Hager and Zhang 2005. */
LAM_API lam_tensor *lam_minimize(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_minimum *found,
                                 const lam_minimize_options *options);

#ifdef __cplusplus
}
#endif
#endif
