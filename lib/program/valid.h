/* Parameters that were read from a text, against what shape rules and kernels take for granted of them: public
 * operations check them before they become parameters, and a text did not come through these. */
#ifndef LAM_PROGRAM_VALID_H
#define LAM_PROGRAM_VALID_H

#include <lamina/extend.h>

/* NULL, or what is wrong with the parameters or the ranks of the operands of a call. Asked before its shape rule. */
const char *lam__program_fault(const lam_call_site *call);

#endif
