/* What a plan is made of: for plan*.c alone. Items are run in their order; everything that they need but the values
 * themselves is made with the plan, so a run asks for no memory but that of results. */
#ifndef LAM_PROGRAM_PLAN_ITEMS_H
#define LAM_PROGRAM_PLAN_ITEMS_H

#include "lib/program/draft.h"
#include "lib/program/plan.h"

/* What a fused part reads, and which of its data that is. */
typedef struct lam__plan_source {
    int64_t place;
    lam__source of;
} lam__plan_source;

/* A call, or a fused part with the variables and constants that it reads and the variables that it makes. dead:
 * variables that nobody reads behind this item. */
typedef struct lam__plan_item {
    int64_t equation; /* -1: a fused part */
    int64_t joined;   /* the equation that puts together the part that this one sets or adds; -1: it is any other */
    bool left;        /* to the item that says `joined` */
    bool covered;     /* of a constant that is set, nothing will be left */
    lam__fused *fused;
    const lam__plan_source *sources;
    const int64_t *made; /* variables, in the order of their data */
    const int64_t *dead;
    int64_t source_count, made_count, dead_count;
    int64_t made_place; /* among the data, of the first that is made */
} lam__plan_item;

struct lam__plan {
    lam_ctx *ctx;
    lam__program *program;
    lam__arena arena; /* of all lists here */
    lam__plan_item *items;
    int64_t count, room;           /* items */
    lam_value **slots;             /* by variable: its value, while it is needed */
    lam_value **work;              /* operands of a call, or sources made contiguous */
    void **data;                   /* what a fused part reads and writes */
    lam_value **kept;              /* constants without gaps, of sources */
    int64_t kept_count, kept_room; /* they are released with the plan */
    int64_t widest;                /* values that `work` and `data` have room for */
    struct lam__plan_bare *bare;   /* of a plan that is run on addresses; NULL, though it was asked for: it cannot be */
    bool asked;
    bool busy; /* between the first slot that is filled and the last that is emptied */
    lam__plan_report report;
};

/* NOTE [parts in place]
 * A loop that sets one part of a tensor after the other would copy all of it for each: where nobody needs x behind the
 * equation, and nobody else sees its memory, the part is written there; a part that is put together of others by those.
 * Where x is a constant of the program, the first part copies it, unless all of it is going to be set. So it is with a
 * part among zeros that is added to x, as gradients of slices are: the part is added there, and there are no zeros.
 *
 * Of y = set(x, 0, a), z = set(y, 1, b), w = add(z, set(zeros, 2, c)): x, if it dies here, is y, z and w in turn, and
 * of the zeros nothing is made. If somebody reads y later, z is a copy.
 *
 * Finds all of these; false without memory. */
bool lam__plan_find_parts(lam__plan *plan);

/* plan_bare.c */
typedef struct lam__plan_bare lam__plan_bare;
void lam__plan_bare_free(lam__plan *plan);

/* What a region of the program takes as this part, in nanoseconds of one run on one thread; native: as machine code. */
double lam__plan_part_cost(const lam__program *p, const lam__region *r, const lam__fused *f, bool native);

#endif
