/* The 16-bit floats: stored as such, computed in f32. No row and no kernel but conversion knows of them: evaluation
 * widens the operands, asks the row as if they had been f32, and rounds its f32 results once. */
#ifndef LAM_DISPATCH_HALF_H
#define LAM_DISPATCH_HALF_H

#include "lib/dispatch/dispatch.h"

/* Whether this call goes that way: some operand is f16 or bf16, and the row computes (views and casts do not). */
bool lam__half_concerns(const lam_call_site *call);

/* Types of the outputs, and their values. */
lam_status lam__half_shape(const lam_call_site *call, lam_shape out[]);
lam_status lam__half_eval(const lam_call_site *call, lam_value *out[]);

#endif
