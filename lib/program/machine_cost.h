/* What is worth machine code: programs whose calls are what costs, and whose values are the same there. */
#ifndef LAM_PROGRAM_MACHINE_COST_H
#define LAM_PROGRAM_MACHINE_COST_H

#include "lib/dispatch/fn.h"

#include <stdbool.h>

/* Whether all of these functions are programs that go into machine code that has the values of calls
 * (lam__emit_is_same), and are faster there, each run once. */
bool lam__machine_is_worth(lam_fn *const fns[], int count);

#endif
