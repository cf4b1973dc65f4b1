/* Draws from the generator of the context. A draw has no operands that could tell its level: along the current chain,
 * the innermost level whose interpreter has a say takes it, and what that wants goes on to the levels below. */
#ifndef LAM_DISPATCH_DRAW_H
#define LAM_DISPATCH_DRAW_H

#include "lib/tensor/value.h"

/* NOTE [generator]
 * Draw number n of a seed has the key that Threefry makes of the seed's key and the counter n, and its elements are
 * those that a sampler makes of this key: the state of the generator is two numbers, going back to a state is an
 * assignment, and a part of a draw can be made without the rest. So chunks of a batch, examples that are done one
 * after another and functions that are run again see the numbers that the whole would. */
typedef struct lam__draw {
    const char *operation; /* for messages */
    lam__random what;
    int rank;
    int64_t dims[LAM_INNER_RANK];  /* elements of this part */
    int64_t whole[LAM_INNER_RANK]; /* of the draw that it is a part of */
    int64_t start[LAM_INNER_RANK]; /* where it begins */
} lam__draw;

/* A draw of these dims, the whole of it. */
lam__draw lam__draw_whole(const char *operation, const lam__random *what, lam_dims dims);

/* A state from which `number` has draws of its own. */
lam_random_state lam__draw_stream(lam_random_state of, uint64_t number);

/* Makes the draw: one reference, NULL after recording a failure. */
lam_value *lam__draw_make(lam_ctx *ctx, const lam__draw *d);

#endif
