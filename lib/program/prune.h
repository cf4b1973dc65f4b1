/* What nobody reads of choices and loops: results of trips, operands. Dead equations go when a program is finished;
 * this goes from within equations. A scan that gives its last carry and all of them stacked, of which only the last one
 * is read, becomes one that stacks nothing. And what rules alone read goes for those who see no rules. */
#ifndef LAM_PROGRAM_PRUNE_H
#define LAM_PROGRAM_PRUNE_H

#include "lib/program/program.h"

/* A program that gives the same without them, also within the programs in it: p itself, or another one in its place,
 * whose reference is taken over; NULL without memory. p is finished. */
lam__program *lam__program_prune(lam__program *p);

/* The same, and without what is known of calls with rules of their own (application.h), whose operands their operations
 * need not read: for those whom no level sees, as text and C. */
lam__program *lam__program_plain(lam__program *p);

#endif
