/* Machine code made of C: a text is compiled by the system's compiler and loaded, once for all that have the same text,
 * as the trips of a loop that is recorded trip by trip have. Only where a user asks for it. */
#ifndef LAM_PROGRAM_LIBRARY_H
#define LAM_PROGRAM_LIBRARY_H

#include "lib/base/context.h"

#include <stdio.h>

typedef struct lam__library lam__library;

/* What `write` writes, compiled and loaded, or found among what the context has: one reference. NULL where that cannot
 * be done. Source and library lie in a directory of their own until they are loaded. */
lam__library *lam__library_get(lam_ctx *ctx, bool (*write)(FILE *file, void *env), void *env);
void lam__library_release(lam_ctx *ctx, lam__library *library);

/* A function of it; NULL: there is none of this name. */
void *lam__library_find(const lam__library *library, const char *name);

#endif
