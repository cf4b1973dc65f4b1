/* Names that functions of programs may have in C. A file may be linked with others of its kind and with anything else,
 * so names are kept away from what C, its library and the helpers in the file are called. */
#ifndef LAM_PROGRAM_EMIT_NAMES_H
#define LAM_PROGRAM_EMIT_NAMES_H

#include <stdbool.h>

enum { LAM__EMIT_NAME = 64 }; /* with its end: what C promises to tell apart */

/* Whether this is an identifier that nothing else has: not C, not its library, and nothing in the file of another
 * program. */
bool lam__emit_names_fit(const char *name);

/* A name that fits. What cannot be in an identifier becomes a _; a name that is taken gets a _ behind it, or where that
 * is not enough an f_ in front. */
void lam__emit_names_make(const char *from, char name[LAM__EMIT_NAME]);

#endif
