/* The dual interpreter: forward mode. A box holds a primal and its tangent; calls whose operands have no tangent at
 * this level never reach it, so a zero tangent costs nothing. */
#ifndef LAM_TRANSFORMS_DUAL_H
#define LAM_TRANSFORMS_DUAL_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

extern const lam__interpreter lam__interpreter_jvp;

/* Calls f at `in` with tangents dx[] per input (NULL: zero). Gives one reference per output and per non-zero
 * tangent. */
lam_status lam__dual_run(lam_fn *f, lam_value *const in[], lam_value *const dx[], lam_value *out[], lam_value *dout[]);

#endif
