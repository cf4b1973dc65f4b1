/* Systems that are solved, and the functions that rules for them are given: custom_solve.c, custom_operator.c. */
#ifndef LAM_TRANSFORMS_CUSTOM_SOLVE_H
#define LAM_TRANSFORMS_CUSTOM_SOLVE_H

#include "transforms/custom.h"

/* Functions that stand beside the system: no derivative goes through them. */
enum lam__beside { LAM__SOLVER, LAM__TRANSPOSE_SOLVER, LAM__PRECONDITIONER, LAM__BESIDES };

/* Inputs of the Function: n parameters, b, `extra` captures, then those of the functions beside, `captured` of each.
 * Inputs of matvec: the same with x in the place of b, without the last. */
typedef struct lam__solve_attrs {
    lam_fn *matvec; /* held */
    int n, extra;
    lam_fn *beside[LAM__BESIDES]; /* held, with their captures as inputs; NULL: not given */
    int captured[LAM__BESIDES];
    lam_solve_rule solve, transpose_solve;
    void *env;
    bool symmetric;
    bool transposed;                /* it is the transposed system that is solved */
    bool iterative;                 /* the rules' env is `settings` */
    lam_iterative_options settings; /* the preconditioner is one of `beside` */
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

/* Whether a call of matvec, opened, uses values of levels that are not among its inputs. Fails without memory. */
lam_status lam__custom_hides(lam_fn *open, lam_list in, bool *hides);

/* Whether f, `open` with captures, has no part in a derivative by more than in[]; records that it has. */
bool lam__custom_declares(const char *what, const lam_fn *f, lam_fn *open, lam_list in);

/* Whether f takes the parameters and one more, and gives one. */
bool lam__custom_check_counts(const char *what, const lam_fn *f, lam_list parameters);

/* Whether f is a function that fits, and operands are tensors; *where: whose failed tensor the result is. Without f the
 * tensor tells. A b that is NULL is the caller's to refuse. */
bool lam__custom_check_solve(const char *what, lam_fn *f, lam_list parameters, lam_tensor *b, lam_ctx **where);

/* One more reference to each function of these attributes, and one less. */
void lam__custom_retain_solve(const lam__solve_attrs *a);
void lam__custom_release_solve(const lam__solve_attrs *a);

/* Puts functions with captures as inputs in the place of the caller's functions beside the system. *captures: what
 * those inputs are now, in the order of the Function's. False after a failure. */
bool lam__custom_open_beside(lam_ctx *ctx, lam__solve_attrs *a, lam_list *captures);

/* A function beside the system, at its captures among the Function's inputs; NULL where none is given. */
lam_fn *lam__custom_beside(const lam__solve_attrs *a, lam_tensor *const in[], enum lam__beside which);

#endif
