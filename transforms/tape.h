/* The tape: reverse mode. Its interpreter records each differentiable call as a counted node that holds its parents
 * and what the row says its derivative reads; walking back from the end nodes gives the cotangents of the leaves.
 * There is no tape object: work that no output depends on drops itself, and what a pullback holds outlives the
 * level. */
#ifndef LAM_TRANSFORMS_TAPE_H
#define LAM_TRANSFORMS_TAPE_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

typedef struct lam__node lam__node;

/* Output `index` of `node`; node NULL: a constant. */
typedef struct lam__edge {
    lam__node *node;
    int index;
    int sign; /* of a term of a sum: 1 or -1; otherwise unused */
} lam__edge;

/* What running a function under a tape leaves: values of the levels below, and where they hang on the tape. */
typedef struct lam__recording {
    lam__edge *leaves; /* per input; node NULL where it was not wanted */
    lam__edge *ends;   /* per output */
    int inputs, outputs;
} lam__recording;

/* Calls f with a tape level around it; inputs with wanted[] are differentiable. out[] gets one reference per output.
 * On success lam__tape_forget gives the recording back. */
lam_status lam__tape_record(lam_fn *f, lam_value *const in[], const bool wanted[], lam_value *out[],
                            lam__recording *recording);
void lam__tape_forget(lam_ctx *ctx, lam__recording *recording);

/* Gradients gx[] per wanted input (NULL: zero) from cotangents g[] per output (NULL: zero), under whatever levels
 * are current. once: the recording is not used again, so what it saved is released on the way. */
lam_status lam__tape_pull(lam_ctx *ctx, const lam__recording *recording, lam_value *const g[], lam_value *gx[],
                          bool once);

/* The type of an input that was wanted. */
const lam_value *lam__tape_leaf_type(const lam__recording *recording, int input);

extern const lam__interpreter lam__interpreter_vjp;

#endif
