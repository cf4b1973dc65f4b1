/* Systems that are solved, and the functions that rules for them are given: custom_solve.c, custom_operator.c. */
#ifndef LAM_TRANSFORMS_CUSTOM_SOLVE_H
#define LAM_TRANSFORMS_CUSTOM_SOLVE_H

#include "transforms/custom.h"

/* Inputs of the Function: n parameters, b, `extra` captures, then `aside` captures of the preconditioner. Inputs of
 * matvec: the same with x in the place of b, without the last. */
typedef struct lam__solve_attrs {
    lam_fn *matvec; /* held */
    int n, extra, aside;
    lam_solve_rule solve, transpose_solve;
    void *env;
    bool symmetric;
    bool transposed;                /* it is the transposed system that is solved */
    bool iterative;                 /* the rules' env is `settings` */
    lam_iterative_options settings; /* the preconditioner is held, with its captures as inputs */
} lam__solve_attrs;

/* What an operator calls; in the frame of the callback for which it is made. */
typedef struct lam__operator_env {
    lam_fn *matvec;
    int n;
} lam__operator_env;

/* The operator at these parameters (in[] as the Function's inputs), transposed if that is what is solved. env lives in
 * the caller, so the function is of use until the caller returns. */
lam_fn *lam__custom_operator(const lam__solve_attrs *a, lam__operator_env *env, lam_tensor *const in[],
                             lam_tensor *like);

/* The settings of an iteration, with the preconditioner at its captures. */
lam_iterative_options lam__custom_settings(const lam__solve_attrs *a, lam_tensor *const in[]);

#endif
