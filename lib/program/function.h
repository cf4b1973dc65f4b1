/* Programs as functions: what users have of a program. The function holds the program, and runs it through dispatch, so
 * levels see its operations as they would see those of the code that was recorded. */
#ifndef LAM_PROGRAM_FUNCTION_H
#define LAM_PROGRAM_FUNCTION_H

#include "lib/dispatch/fn.h"
#include "lib/program/program.h"

/* A function of this name that runs a finished program through dispatch. The reference is taken over, also on failure,
 * which gives the failed function. */
lam_fn *lam__program_fn(lam_ctx *ctx, lam__program *p, const char *name);

/* The program of such a function, borrowed; NULL for others. */
lam__program *lam__program_of(const lam_fn *f);

/* The same after recording for whom (`what`) f is none, or cannot be used. */
lam__program *lam__program_given(const char *what, lam_fn *f);

#endif
