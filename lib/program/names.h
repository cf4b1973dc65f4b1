/* What the names in a program's text stand for. Names are not copied, so the text has to stay; constants are held by
 * the table and given up with it. */
#ifndef LAM_PROGRAM_NAMES_H
#define LAM_PROGRAM_NAMES_H

#include "lib/program/program.h"

/* A name, which lies in the text, and what it is. */
typedef struct lam__binding {
    const char *name;
    size_t length;
    lam__atom atom;
} lam__binding;

/* A hash table of `room` entries, 0 or a power of 2, half of them free. All zero but ctx: no names. */
typedef struct lam__names {
    lam_ctx *ctx;
    lam__binding *list;
    int64_t count, room;
} lam__names;

/* NULL: it is not bound. */
const lam__atom *lam__names_find(const lam__names *n, const char *name, size_t length);

/* Binds a name that is not; a constant is taken over. False after recording that memory is lacking. */
bool lam__names_put(lam__names *n, const char *name, size_t length, lam__atom atom);

void lam__names_close(lam__names *n);

#endif
