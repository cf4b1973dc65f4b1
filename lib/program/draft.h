/* Drafts: which equations of a program would be fused, for one number of lanes, and what that would cost. Several are
 * made of a program, and the cheapest becomes its plan; a draft changes nothing of the program and lives in an arena of
 * its own, so one that is not wanted, or would take too much, is simply closed. */
#ifndef LAM_PROGRAM_DRAFT_H
#define LAM_PROGRAM_DRAFT_H

#include "lib/program/fused.h"

/* How many lanes; of several axes with as many elements the lanes are the first that fit, or the last. native: what is
 * fused becomes machine code. shorter: axes that are shorter may be in the lanes too (NOTE [short axes] in shift.c). */
typedef struct lam__draft_lanes {
    int64_t count;
    bool last, native, shorter;
} lam__draft_lanes;

/* NOTE [stages]
 * A program is run in stages: calls, then the region of the stage, then the calls of the next one. An equation that can
 * be lowered goes to the first region in which its operands are there; any other one is a call as soon as they are. So
 * equations that have nothing to do with each other do not cut each other's regions, and each region is one part. What
 * would come behind so many stages is called.
 *
 * y = sin(x), z = solve(A, y), w = mul(z, y): the sine is in region 0, the solution, which reads what that region
 * makes, is a call of stage 1, and the product is in region 1, behind that call. y has to be written by region 0, for
 * the call and for region 1, which reads it from memory. */
/* NOTE [once more]
 * In grids a region may wait for another one for the sake of a neighbour: what it has computed in many steps is
 * written, and read at several places by the next region. What comes between, things moved about and single steps, is
 * not written as well but made once more there, from what is. An equation that does not fit the first region where its
 * operands are may fit the next one; and no region takes what has many elements and no lanes.
 *
 * g = f(u), out = g + pad(0.1 g[1:-1], 1, 1) + ...: f is many steps, and its slices are wanted at several places, so
 * region 0 writes g. What is 0.1 g there is so again in region 1, for each place of it, and is never written. */
typedef struct lam__draft_equation {
    int32_t stage;
    bool fused;              /* in the region of its stage; otherwise a call */
    bool forced;             /* to be a call: a result of it could not be stored, or its group is not worth it */
    int64_t target, targets; /* the first of what it stores in the list of its stage; how many */
} lam__draft_equation;

typedef struct lam__draft_variable {
    int32_t stage;  /* that of its region, or of the call that makes it; inputs: 0 */
    bool in_region; /* made in the region of this stage */
    bool needed;    /* as a value, outside */
    bool shared;    /* several equations read it, or one does and it is a result */
    lam__piece *piece;
    lam__piece *outside[2]; /* as a source of region `seen_in`, of even ones and of odd ones */
    int32_t seen_in[2];
} lam__draft_variable;

typedef struct lam__draft {
    const lam__program *program;
    lam__arena arena;
    lam__draft_lanes lanes;
    lam__draft_equation *equations;
    lam__draft_variable *variables;
    lam__region **regions; /* by stage; NULL: none */
    int64_t stages, stage_room;
    lam__target **targets; /* of each region */
    int64_t *target_counts;
    double *eager; /* nanoseconds of the equations of each region as calls */
} lam__draft;

/* False, with nothing recorded, where memory is lacking. The draft is closed by the caller, also then. */
bool lam__draft_make(lam__draft *d, const lam__program *p, lam__draft_lanes lanes);

/* The same once more, after equations have been forced. */
bool lam__draft_again(lam__draft *d);

void lam__draft_close(lam__draft *d);

/* What each of so many elements takes to be read or written by one pass, in nanoseconds; roughly. */
double lam__draft_move_cost(double elements);

/* What an equation takes as a call, in nanoseconds; roughly. */
double lam__draft_call_cost(const lam__program *p, const lam__equation *e);

/* Products that make one element of the result of a contraction. */
double lam__draft_contraction_terms(const lam__program *p, const lam__equation *e);

/* Lanes that a program may have, the likeliest first, at most `room`: those that leave no more scalars than can be
 * lowered. */
int lam__draft_choices(const lam__program *p, int room, lam__draft_lanes lanes[]);

#endif
