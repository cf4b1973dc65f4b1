/* The trace: records what depends on its variables as a program; everything else is evaluated as usual and becomes a
 * constant of it. */
#ifndef LAM_TRANSFORMS_TRACE_H
#define LAM_TRANSFORMS_TRACE_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"
#include "lib/program/program.h"

extern const lam__interpreter lam__interpreter_trace;

/* A level that records into `program`. Popped like any other. */
lam_status lam__trace_push(lam_ctx *ctx, lam__level *level, lam__program *program);

/* A box for a new variable of the program, of the type of `like`; NULL without memory. */
lam_value *lam__trace_variable(lam__level *level, const lam_value *like);

/* Whether what runs now is recorded for its types alone; then *v is a value of this type, in the place of elements that
 * nobody will look at, one reference, or NULL without memory. */
bool lam__trace_unknown(lam_ctx *ctx, lam_dtype dtype, int rank, const int64_t *dims, lam_value **v);

/* Makes v, taken over, result o of the program. */
void lam__trace_result(lam__level *level, int o, lam_value *v);

/* Records f into p, and finishes it: on its first `fixed` inputs as they are, and on variables of the types of the
 * others. boxes, out: room per input and output, cleared. */
lam_status lam__trace_fn(lam_fn *f, lam__program *p, int fixed, lam_value *const in[], lam_value **boxes,
                         lam_value **out);

#endif
