/* Programs as C: one file that needs a C11 compiler and libm, and nothing of Lamina. A program either has a form in C
 * as a whole, or is refused with the name of the operation that has none, before a byte is written. */
#ifndef LAM_PROGRAM_EMIT_H
#define LAM_PROGRAM_EMIT_H

#include "lib/program/program.h"

#include <stdio.h>

/* Writes a finished program as a C function of this name, which is an identifier; `reentrant`: its workspace is the
 * caller's, of *workspace bytes (may be NULL). Nothing is written before it is known that every operation has a form in
 * C. */
lam_status lam__emit_program(const lam__program *p, const char *name, FILE *file, bool reentrant, int64_t *workspace);

/* Whether an operation has the same values in C, to the last bits of functions such as exp, also where it fails. */
bool lam__emit_is_same(const lam__equation *q);

#endif
