/* A recorded while that keeps what its way back reads: the carries before each trip, and what else is worth it, one
 * behind the other. The loop and its way back are two equations, of which the first one may keep it for the other,
 * which otherwise makes the loop once more (nested_unwound.c). */
#ifndef LAM_TRANSFORMS_NESTED_TRIPS_H
#define LAM_TRANSFORMS_NESTED_TRIPS_H

#include "lib/program/machine_trips.h"
#include "transforms/nested.h"

/* The functions of the loop; the last one is the program of the body, which tells types. */
enum { LAM__TRIPS_CONDITION, LAM__TRIPS_BODY, LAM__TRIPS_PROGRAM, LAM__TRIPS_FUNCTIONS };

/* Counted: both equations hold it. `usual` is how many trips the last run has made, for which there is room at once the
 * next time. What follows is of the last run, if somebody waits for it: its operands and the rows, all held, and how
 * many trips there were. */
typedef struct lam__trips {
    size_t refs;
    lam_ctx *ctx;
    lam_fn *fns[LAM__TRIPS_FUNCTIONS]; /* compiled and held */
    int operands, carries;
    int kept;                    /* results of the body behind the carries */
    lam__machine_trips *machine; /* the loop and its way back, owned; NULL */
    int64_t usual;
    bool there;
    int64_t room, made;
    lam_value **in, **rows;
} lam__trips;

/* One reference; NULL without memory. Functions become held. */
lam__trips *lam__trips_new(lam_ctx *ctx, lam_fn *const fns[], int operands, int carries, int kept);
lam__trips *lam__trips_hold(lam__trips *t);
void lam__trips_release(lam__trips *t);

/* Carries, and what is kept beside them: what the body gives. */
static inline int lam__trips_rows(const lam__trips *t) {
    return t->carries + t->kept;
}

/* Makes the loop on plain operands; last[]: its results, one reference each, NULL: nobody wants them. What turns out
 * not to be plain leaves nothing, and *plain false. */
lam_status lam__trips_run(lam__trips *t, lam_value *const in[], lam_value *last[], bool *plain);

/* Whether what is kept is of a loop on these. */
bool lam__trips_are_of(const lam__trips *t, lam_value *const in[]);

/* Gives up what is kept. */
void lam__trips_forget(lam__trips *t);

#endif
