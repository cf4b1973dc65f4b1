/* What ode.c, which walks from time to time, knows of ode_step.c, which makes one step. */
#ifndef LAM_TRANSFORMS_ODE_H
#define LAM_TRANSFORMS_ODE_H

#include "transforms/custom.h"

/* Inputs of a step: y, its slope there, the times between which it goes; then the parameters and captures of f. */
enum { LAM__ODE_Y, LAM__ODE_SLOPE, LAM__ODE_FROM, LAM__ODE_UNTIL, LAM__ODE_OTHERS };

/* What it gives: y and its slope at the end, and the error that was estimated; the step is good where that is at
 * most 1. */
enum { LAM__ODE_END, LAM__ODE_END_SLOPE, LAM__ODE_ERROR, LAM__ODE_OUTPUTS };

/* A step as a Function, by f with its captures as inputs. NULL without memory. */
lam__instance *lam__ode_step(lam_fn *f, double rtol, double atol);

/* f at y and t, which must be of y's type; others: `count` of them. */
lam_tensor *lam__ode_slope(lam_fn *f, lam_tensor *y, lam_tensor *t, size_t count, lam_tensor *const others[]);

/* The root mean square of x / (atol + rtol reach), a number; 0 without elements. */
lam_tensor *lam__ode_size(lam_tensor *x, lam_tensor *reach, double rtol, double atol);

#endif
