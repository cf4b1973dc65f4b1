/* Initial value problems, under the name of jax.experimental.ode: an integrator with adaptive steps that works under
 * every transform; its derivatives are those of the computed solution. */
#ifndef LAMINA_ODE_H
#define LAMINA_ODE_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_ode_options {
    double rtol, atol; /* error of a step, relative to |y| and absolute; 0: 1.4e-8, for f32 1e-5 */
    double first_step; /* length of the first step tried; 0: chosen from f */
    double max_step;   /* the longest step; 0: any */
    int64_t max_steps; /* limit on steps from one time to the next, taken or rejected; 0: 100000 */
} lam_ode_options;

/* The outcome of an integration. */
typedef struct lam_ode {
    lam_tensor *status;      /* i64: 0 done; 1 too many steps between two times; 2 the step became too small, as before
                                a pole or where f is NaN; 3 the times are not in order */
    lam_tensor *steps;       /* i64: taken */
    lam_tensor *rejected;    /* i64: rejected */
    lam_tensor *evaluations; /* i64: of f */
} lam_ode;

/* y at times ts, where dy/dt = f(y, t, parameters...) and y is y0 at ts[0]: steps of fifth order by Dormand and Prince,
 * whose lengths keep the root mean square over y of error / (atol + rtol |y|) below 1; one step ends at each time.
 * Times rise or fall, and may repeat; f is never evaluated beyond the last. From the first time that could not be
 * reached on, y is NaN, and found->status says why; found may be NULL. Each example of a batch has its own steps; if
 * there are more than a few times, lam_jit and lam_trace record one loop.
 * Shape   f: y and t, of rank 0 and y's dtype, then the parameters -> y's type. ts: [m], real numbers. y: [m, dims of
 *         y0]; for one time y0, for none empty, without evaluating f.
 * Fails   LAM_ERR_ARITY unless f has two inputs more than there are parameters, and one output; LAM_ERR_NULL without y0
 *         or ts; LAM_ERR_DTYPE unless y0 is f32 or f64 and ts is real; LAM_ERR_SHAPE unless ts has rank 1;
 *         LAM_ERR_SHAPE, LAM_ERR_DTYPE if f gives another type than y's; LAM_ERR_RANK if there is no room for the axis
 *         of times; LAM_ERR_VALUE for negative options or NaN; as f does. *found then holds failed tensors.
 * Owner   y and found: current scope.
 * Derivative  of y, by y0, ts, the parameters and the captures of f, in all modes and of any order: that of the steps
 *         taken, whose lengths count as constants, except for those that end at one of the times; by a time it is f
 *         there. It agrees to rounding with differences of y where the steps stay the same, and is about as precise as
 *         y, whose error alone controls the steps. The backward pass reruns each step, and keeps a few tensors like y
 *         for each. Compiled, it may take other steps between two times than the forward pass where rounding decides:
 *         derivatives then differ by less than their error. None of found.
 * Source  Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 1993, II.4 and II.5; step lengths as
 *         in their DOPRI5, where no time is near. */
LAM_API lam_tensor *lam_odeint(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, lam_ode *found,
                               const lam_ode_options *options);

#ifdef __cplusplus
}
#endif
#endif
