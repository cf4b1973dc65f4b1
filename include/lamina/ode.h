/* Initial value problems, under the name of jax.experimental.ode: an integrator that chooses its own steps, works under
 * every transform, and whose derivatives are those of the numbers that it gives. */
#ifndef LAMINA_ODE_H
#define LAMINA_ODE_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_ode_options {
    double rtol, atol; /* error of a step, beside |y| and alone; 0: 1.4e-8, of f32 1e-5 */
    double first_step; /* length of the first step that is tried; 0: chosen from f */
    double max_step;   /* the longest step; 0: any */
    int64_t max_steps; /* steps from one time to the next at most, taken or rejected; 0: 100000 */
} lam_ode_options;

/* How an integration went. */
typedef struct lam_ode {
    lam_tensor *status;      /* i64: 0 done; 1 too many steps between two times; 2 the step has become too small, as
                                before a pole or where f is NaN; 3 the times are not in order */
    lam_tensor *steps;       /* i64: taken */
    lam_tensor *rejected;    /* i64: tried in vain */
    lam_tensor *evaluations; /* i64: of f */
} lam_ode;

/* y at times ts, where dy/dt = f(y, t, parameters...) and y is y0 at ts[0]: steps of fifth order by Dormand and Prince,
 * whose lengths keep the root mean square over y of error / (atol + rtol |y|) below 1, and of which one ends at each
 * time. Times rise or fall, and may repeat; f is asked for none beyond the last. What could not be reached is NaN, from
 * there on, and found->status says why; found may be NULL. Examples of a batch have steps of their own, and what
 * lam_jit and lam_trace record of more than a few times is one loop.
 * Shape   f: y and t, of rank 0 and y's dtype, then the parameters -> y's type. ts: [m], real numbers. y: [m, dims of
 *         y0]; of one time y0, of none nothing, and f is not asked.
 * Fails   LAM_ERR_ARITY unless f has two inputs more than there are parameters, and one output; LAM_ERR_NULL without y0
 *         or ts; LAM_ERR_DTYPE unless y0 is f32 or f64 and ts is real; LAM_ERR_SHAPE unless ts has rank 1;
 *         LAM_ERR_SHAPE, LAM_ERR_DTYPE where f gives another type than y's; LAM_ERR_RANK where there is no room for the
 *         axis of times; LAM_ERR_VALUE for negative options or NaN; as f does. *found is then of failed tensors.
 * Owner   y and found: current scope.
 * Derivative  of y, by y0, ts, the parameters and the captures of f, in all modes and of any order: that of the steps
 *         that were taken, whose lengths count as constants but for those that end at one of the times; by a time it is
 *         f there. It agrees to rounding with differences of y where steps stay the same, and is about as precise as y
 *         is, whose error alone chooses the steps. The way back runs each step again; it keeps a few tensors like y for
 *         each. Compiled, it may take other steps between two times than were taken on the way there, where rounding
 *         decides: derivatives then differ by less than they are precise. None of found.
 * Source  Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 1993, II.4 and II.5; lengths of steps
 *         as in their DOPRI5, where no time is near. */
LAM_API lam_tensor *lam_odeint(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, lam_ode *found,
                               const lam_ode_options *options);

#ifdef __cplusplus
}
#endif
#endif
