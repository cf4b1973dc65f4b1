/* Programs as C: one file that needs a C11 compiler and libm, and nothing of Lamina. */
#ifndef LAM_PROGRAM_EMIT_H
#define LAM_PROGRAM_EMIT_H

#include "lib/program/program.h"

#include <stdio.h>

/* Writes a finished program as a C function of this name, which is an identifier; `reentrant`: its workspace is the
 * caller's. Nothing is written before it is known that every operation has a form in C. */
lam_status lam__emit_program(const lam__program *p, const char *name, FILE *file, bool reentrant);

#endif
