/* A while that keeps its rows (transforms/nested_trips.h) and the way back over them, as machine code: C of one trip
 * there and of one back, and loops around both. Only where a user asks for it, and what machine_cost.h says is worth
 * it. */
#ifndef LAM_PROGRAM_MACHINE_TRIPS_H
#define LAM_PROGRAM_MACHINE_TRIPS_H

#include "lib/dispatch/fn.h"

typedef struct lam__machine_trips lam__machine_trips;

/* Of a loop: its condition and its body take the same; the body gives the first `carries` of that anew and then what is
 * kept beside them. The way back through a trip takes gradients, carries before the trip, what the trip has kept, and
 * what else the body takes; it gives gradients anew. */
enum { LAM__MACHINE_CONDITION, LAM__MACHINE_BODY, LAM__MACHINE_BACK, LAM__MACHINE_FUNCTIONS };

/* NULL where the loop is left as it is. */
lam__machine_trips *lam__machine_trips_new(lam_ctx *ctx, lam_fn *const fns[LAM__MACHINE_FUNCTIONS], int carries);
void lam__machine_trips_free(lam__machine_trips *m);

/* Makes trips from number `made` on, until the condition does not hold or there is no room for the carries of another
 * one; gives how many there are then. in[]: what the body takes. rows[]: of carries `room`, from those before the first
 * trip on, of what is kept one less. The condition holds no more if the result is less than room - 1. */
int64_t lam__machine_trips_there(const lam__machine_trips *m, void *const in[], void *const rows[], int64_t made,
                                 int64_t room);

/* The way back through so many trips, one at least. in[]: what the way back takes, of carries and what is kept all
 * rows. Gradients go to and fro between out[] and spare[] and end in out[]. */
void lam__machine_trips_back(const lam__machine_trips *m, void *const in[], int64_t trips, void *const out[],
                             void *const spare[]);

#endif
