/* What the way back through a loop computes again of the way there, kept by the way there instead, where that is
 * cheaper: products, exponentials and whole loops, not what follows from these by an addition. A tape keeps all that
 * its rules read, and a loop that is run again from its carries nothing; this is what lies between, found in the
 * programs of a trip there and of a trip back. */
#ifndef LAM_PROGRAM_RESIDUALS_H
#define LAM_PROGRAM_RESIDUALS_H

#include "lib/program/arena.h"
#include "lib/program/program.h"

/* Two programs: a trip there, with `count` results more, behind the others; a trip back, which takes them as inputs. */
typedef struct lam__residuals {
    lam__program *there, *back; /* one reference each */
    int count;
} lam__residuals;

/* The variable of an atom that stands for nothing. */
enum { LAM__RESIDUALS_NONE = -2 };

/* Splits a trip back into what the trip there can tell and the rest. link[]: for each input of `back` what it is in
 * `there`, of the same trip: an atom of that program, or one of LAM__RESIDUALS_NONE. trips: how many there are, at a
 * guess; most: bytes that all of them may keep. What is kept stands at input `at` of the new trip back. Programs are
 * finished, without calls with rules. *made has no programs where nothing is gained, or memory is to be
 * spared. False, with nothing recorded by
 * the arena, without memory. */
bool lam__residuals_split(lam__arena *arena, const lam__program *there, const lam__program *back,
                          const lam__atom link[], int64_t trips, double most, int at, lam__residuals *made);

/* The same for each scan that goes back through another one of the program: p itself, or another program in its place,
 * whose reference is taken over; NULL without memory. */
lam__program *lam__residuals_keep(lam__program *p);

#endif
