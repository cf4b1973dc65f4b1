/* Operations with functions in them: choices and loops as equations of a program. Their rows are those of the
 * transforms (transforms/nested.h); what a program knows of them is here. */
#ifndef LAM_PROGRAM_NESTED_H
#define LAM_PROGRAM_NESTED_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/staged.h"
#include "lib/program/program.h"

/* Parameters of such a row. Functions take all operands of the call in their order, held:
 * switch   behind the index; the index says which function
 * while    the condition and the body; the body gives the first `carries` anew
 * scan     carries, an element of each of the `elements` behind them, the rest; gives carries, then results of a trip
 * In a program they are programs; elsewhere they may be any functions. */
typedef struct lam__nested {
    int64_t carries, elements;
    int64_t length; /* scan: trips */
    bool reverse;   /* scan: the last element first */
    bool batch;     /* scan without carries: trips may be done at once, as a batch */
    bool kept;      /* nobody knows which way it goes: it is recorded also where a message is all that comes of it */
    int count;
    struct lam__machine *machine; /* the whole, compiled (machine.h), held; NULL */
    struct lam__trips *trips;     /* while: keeps what its way back reads (transforms/nested_trips.h), held; NULL */
    lam_fn *fns[];
} lam__nested;

static inline size_t lam__nested_bytes(int count) {
    return sizeof(lam__nested) + (size_t)count * sizeof(lam_fn *);
}

/* The parameters of such an equation; NULL for others. */
static inline const lam__nested *lam__nested_of(const lam__equation *e) {
    return e->primitive->staged && e->primitive->staged->nested ? e->params : NULL;
}

/* What belongs to a call, and not to one that is made of it. */
static inline void lam__nested_forget(lam__nested *what) {
    what->machine = NULL;
    what->trips = NULL;
}

/* Whether it makes trips, and is no choice. */
static inline bool lam__nested_is_loop(const lam__nested *what) {
    return what->carries || what->length;
}

#endif
