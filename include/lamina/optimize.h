/* Minima of functions, under the name of scipy.optimize: a search that works under every transform, and derivatives of
 * the minimum that do not go through the search. */
#ifndef LAMINA_OPTIMIZE_H
#define LAMINA_OPTIMIZE_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_minimize_options {
    double gtol;        /* done when the norm of the gradient is below this; 0: 1e-5 */
    double norm;        /* order of that norm, as in lam_norm_options; 0: INFINITY, the largest element */
    int64_t maxiter;    /* limit on steps; 0: 200 for each element of x0 */
    int64_t line_tries; /* limit on doublings of a step; 0: 10 */
} lam_minimize_options;

/* The results of a search beside x. */
typedef struct lam_minimum {
    lam_tensor *value;           /* f at x, rank 0 */
    lam_tensor *gradient;        /* at x, of x's type */
    lam_tensor *inverse_hessian; /* estimated by the search, [n, n] for the n elements of x in row-major order */
    lam_tensor *status;          /* i64: 0 done; 1 iteration limit; 3, 5 line search failed (5: f unbounded along the
                                    line) */
    lam_tensor *iterations;      /* i64: steps */
    lam_tensor *evaluations;     /* i64: of value and gradient together */
} lam_minimum;

/* The x near x0 where f(x, parameters...), a number, is least: quasi-Newton steps (BFGS) whose lengths satisfy the
 * strong Wolfe conditions, or, close to the minimum, where differences of values are rounding, those of Hager and
 * Zhang. A search that fails returns the last point, and says so in found->status; found may be NULL. Each example of a
 * batch searches separately; lam_jit and lam_trace record one loop.
 * Shape   x: as x0, of any rank.
 * Fails   LAM_ERR_ARITY unless f has one input more than there are parameters, and one output; LAM_ERR_DTYPE unless x0
 *         is real and floating; LAM_ERR_VALUE for negative options or NaN; LAM_ERR_CAPTURED under a derivative if f
 *         uses a tensor that has one and is neither a parameter nor a capture; as lam_value_and_grad(f) does. *found
 *         then holds failed tensors.
 * Owner   x and found: current scope.
 * Derivative  of x and the value, by the parameters and the captures of f, of any order: that of the point where the
 *         gradient is zero, as precise as the gradient is zero there, which gtol controls. It solves with the Hessian
 *         as a matrix: LAM_ERR_NUMERIC if that is singular. None by x0, nor of the other results.
 * Source  Nocedal and Wright, Numerical Optimization, 2006, algorithms 6.1, 3.5 and 3.6; Hager and Zhang 2005. */
LAM_API lam_tensor *lam_minimize(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_minimum *found,
                                 const lam_minimize_options *options);

#ifdef __cplusplus
}
#endif
#endif
