/* Control flow whose condition is traced: it becomes one equation of the program, which chooses when it is run. */
#ifndef LAM_TRANSFORMS_DEFERRED_H
#define LAM_TRANSFORMS_DEFERRED_H

#include "transforms/control.h"

/* How much is known of a condition. */
typedef enum lam__known {
    LAM__KNOWN,    /* its elements are there, if need be for each example */
    LAM__TRACED,   /* they will be when a program is run */
    LAM__NOT_ASKED /* never: types are all that is wanted */
} lam__known;

lam__known lam__deferred_known(const lam_tensor *condition);

/* What is to be done then. */
typedef enum lam__deferral { LAM__SWITCH, LAM__WHILE } lam__deferral;

/* Does it: operands are those of the operation, for LAM__SWITCH behind the index. results[] as of the operation; false
 * after recording a failure. */
bool lam__deferred_call(lam__control *c, lam__deferral kind, size_t n, lam_tensor *const operands[],
                        lam_tensor *results[]);

#endif
