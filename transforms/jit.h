/* Functions that lam_jit has made, as the library calls them: by values, without handles, as control flow does whose
 * functions were compiled with it. */
#ifndef LAM_TRANSFORMS_JIT_H
#define LAM_TRANSFORMS_JIT_H

#include "lib/dispatch/fn.h"
#include "lib/program/plan.h"

#include <lamina/program.h>

bool lam__jit_made(const lam_fn *f);

/* lam_jit of a function of a loop, which is called for each trip. */
lam_fn *lam__jit_trip(lam_fn *f, const lam_jit_options *options);

/* Calls such a function on values, without what a call by handles costs. One reference per output. */
lam_status lam__jit_call(lam_fn *f, lam_value *const in[], lam_value *out[]);

/* The plan that such a function runs on concrete values of these types, which lasts until it is called with others;
 * NULL where it has none or is at work. */
lam_status lam__jit_plan(lam_fn *f, lam_value *const in[], lam__plan **plan);

#endif
