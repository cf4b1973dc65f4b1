/* The batch interpreter: vmap. A box holds a value with one axis more, and which axis that is. Rules see the batch
 * axis in front; moving it there is a view. */
#ifndef LAM_TRANSFORMS_BATCH_H
#define LAM_TRANSFORMS_BATCH_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

#include <lamina/transforms.h>

extern const lam__interpreter lam__interpreter_vmap;
extern const lam__interpreter lam__interpreter_lanes; /* of functions that run for some examples alone (lanes.h) */

struct lam__crew;

/* How a batch level is meant; level->state. */
typedef struct lam__batch {
    int64_t size; /* elements of the batch axis */
    lam_randomness randomness;
    bool only_types;       /* a batch of none, which is asked for types: nothing is drawn in it */
    const char *axis_name; /* or NULL */
    int64_t whole, first;  /* a chunk: elements of the batch that it is cut from, and where it begins; whole 0: none */
    const struct lam__crew
        *crew;           /* examples of other levels that are at work alone (lanes.h); NULL: a batch of its own */
    uint64_t stands_for; /* serial of a level whose batch it is again, for what was recorded there; 0: none */
} lam__batch;

/* By what a batch level is known to what is recorded of its examples. */
uint64_t lam__batch_serial(const lam__level *level);

/* Calls f with a batch level around it. axes[i] is the batch axis of input i (0..rank-1) or LAM_UNMAPPED; outputs
 * come with the axis at out_axes[o] (negative: from the end), or without where that is LAM_UNMAPPED. */
lam_status lam__batch_run(lam_fn *f, const lam__batch *batch, lam_value *const in[], const int axes[], lam_value *out[],
                          const int out_axes[]);

/* f mapped over a batch like this one (its size, name, randomness and place); out_axes NULL: outputs with the axis in
 * front. */
lam_fn *lam__batch_mapped(lam_fn *f, const lam__batch *batch, const int axes[], const int out_axes[]);

/* The batch of a function that is mapped, all examples at once, and where its inputs and then its outputs have it;
 * NULL: f is no such function. */
const int *lam__batch_axes_of(const lam_fn *f, const lam__batch **batch);

/* v with axis `from` moved to `to`: one reference, NULL after recording a failure. */
lam_value *lam__batch_move(lam_ctx *ctx, lam_value *v, int from, int to);

/* Records that `operation` draws in a batch whose randomness is an error. */
lam_status lam__batch_refuse_draw(lam_ctx *ctx, const char *operation);

#endif
