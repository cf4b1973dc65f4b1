/* Programs as text: written, read back, and checked. What is printed is read back to the same program, to the last bit
 * of its constants (but for what a NaN carries), and printing that gives the same text again. A text may come from
 * anywhere: it is checked line by line before anything of it is used. */
#ifndef LAM_PROGRAM_TEXT_H
#define LAM_PROGRAM_TEXT_H

#include "lib/program/program.h"

/* NOTE [text]
 * program name(v0: f64[3], v1: f64[]) {
 *     c0: f64[3] = [1, 2, 3]
 *     v2: f64[3] = mul(v0, c0)
 *     v3: f64[] = sum(v2) axes=[0]
 *     v4: f64[] = add(v3, 0.5:f64)
 *     return v4, v1
 * }
 * Variables are numbered in the order in which they are made, constants in the order in which they are read; those of
 * rank 0 stand where they are read. Elements are listed row-major whatever the dims are; "all 0" is as many zeros,
 * "spread 0" one that is shown in all places. A result that nobody reads is `_`, one that is left out `-`. Parameters
 * stand behind the operands, as the row's layout names them; `opaque` are those that have none. Names that are no words
 * stand in quotes (quoted.h). The programs in an equation (nested.h) stand behind its parameters in braces, each with
 * names of its own:
 *     v2: f64[] = switch(v1, v0) {
 *         program f(v0: f64[]) {
 *             return v0
 *         }
 *     } */
void lam__program_print(FILE *file, const lam__program *p, const char *name);

/* The program of a text, as a function; the failed one after recording the line and what is wrong there. rows: those
 * that it may have beside lam_primitives, up to a NULL. */
lam_fn *lam__program_read(lam_ctx *ctx, const char *text, const lam_primitive *const *rows);

/* Whether each equation reads what is there, sets what was not set before, and gives what its row says; otherwise
 * records which does not. */
lam_status lam__program_check(const lam__program *p, const char *name);

/* The same of one equation, behind those that were checked. */
lam_status lam__program_check_equation(const lam__program *p, const char *name, int64_t k);

#endif
