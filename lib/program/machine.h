/* A loop or choice of a program as machine code: what lam_emit_c writes of it, compiled and loaded. Only where a user
 * asks for machine code, where all that it works on is small, so that calls are what costs, and where every operation
 * has its values in C too. */
#ifndef LAM_PROGRAM_MACHINE_H
#define LAM_PROGRAM_MACHINE_H

#include "lib/program/program.h"

typedef struct lam__machine lam__machine;

/* Of equation e of program p, which has programs in it; one reference. NULL where it is left as it is. */
lam__machine *lam__machine_new(const lam__program *p, const lam__equation *e);
lam__machine *lam__machine_hold(lam__machine *m);
void lam__machine_release(lam__machine *m);

/* Runs it on plain values of the types that it was made for. One reference per result. */
lam_status lam__machine_run(lam__machine *m, lam_value *const in[], lam_value *out[]);

#endif
