/* The level under a checkpointed function. Forward it passes every call on and keeps the results that the policy
 * names. When the function is run again for its derivative, it finds those calls again, and a level below the tape
 * gives what was kept and puts all else off until somebody reads it. */
#ifndef LAM_TRANSFORMS_REMATERIALISE_H
#define LAM_TRANSFORMS_REMATERIALISE_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

/* Names that a policy has, and bytes of one with its end. */
enum { LAM__KEEP_NAMES = 8, LAM__KEEP_LENGTH = 32 };

/* What to keep; plain data, so that it can be a primitive's parameter. */
typedef struct lam__policy {
    int32_t kind; /* lam_checkpoint_policy */
    int32_t names;
    char name[LAM__KEEP_NAMES][LAM__KEEP_LENGTH];
} lam__policy;

/* Kept results, in the order in which the function computes them. */
typedef struct lam__kept {
    lam_value **values;
    size_t count, room;
} lam__kept;

/* What the level does with calls. */
enum lam__keeping {
    LAM__KEEP,   /* forward */
    LAM__FIND,   /* run again, above the tape: NOTE [found above the tape] in rematerialise.c */
    LAM__REPLAY, /* run again, below the tape: NOTE [put off] there */
    LAM__PASS    /* below the tape, on the way back: rules read, so nothing is put off */
};

/* The state of such a level; policy and kept are the caller's. */
typedef struct lam__rematerialise {
    const lam__policy *policy;
    enum lam__keeping mode;
    lam__kept *kept;
    size_t next;                      /* FIND: of kept, the next to be found */
    struct lam__rematerialise *giver; /* FIND: the state of the level below the tape */
    lam_value *given;                 /* REPLAY: the result of the call on its way down from FIND, borrowed, or NULL */
} lam__rematerialise;

extern const lam__interpreter lam__interpreter_rematerialise;

/* Boxes for n values at the level, or back from them to what they hold; each takes over the references it is given. */
lam_status lam__rematerialise_box(lam__level *level, int n, lam_value *values[]);
void lam__rematerialise_unbox(const lam__level *level, int n, lam_value *values[]);

/* Runs f forward over a level with this state: inputs go in in boxes, results come out of them; on failure out[] is
 * NULL. Where wanted[] is given, values are those that f has at a level that differentiates by such inputs (values.h).
 * That level lies below: the calls that count are those of f itself. */
lam_status lam__rematerialise_keep(lam_fn *f, lam__rematerialise *state, const bool wanted[], lam_value *const in[],
                                   lam_value *out[]);

/* f over a level that finds what `giver`, which must live as long, has to give: f for the tape above the giver. */
lam_fn *lam__rematerialise_finder(lam_fn *f, lam__rematerialise *giver);

/* The row of the two calls below: functions that decide by values as they run. */
extern const lam_primitive lam__row_control;

/* Applies f, whose inputs are all that it depends on, so that a level that records takes the call as one equation.
 * Derivatives and batches are those of a checkpointed function (checkpoint.c). */
lam_status lam__checkpoint_whole(lam_fn *f, lam_value *const in[], lam_value *out[]);

/* Gradients of such a call: gx[] of the inputs with needs[] from g[], as the stage `cotangents`. */
lam_status lam__checkpoint_pull(lam_fn *f, lam_value *const in[], const bool needs[], lam_value *const g[],
                                lam_value *gx[]);

/* The env of a function that goes there and back: of inputs of its base, kept results and given cotangents it makes
 * gradients. kept, wanted and given are counts. */
typedef struct lam__pull {
    lam__policy policy;
    int kept, wanted, given;
    int numbers[]; /* inputs that want a gradient, then outputs whose cotangent is given */
} lam__pull;

/* The function of a call's operands, kept results and cotangents, for the call of f; e has room for the numbers. Which
 * inputs want a gradient and which outputs have a cotangent is written into it, so that the others cost nothing. It
 * belongs to the innermost scope; what applies it holds it by its parameters. */
lam_fn *lam__checkpoint_pull_new(const lam_call_site *call, lam_fn *f, const lam__policy *policy, int kept,
                                 const bool needs[], lam_value *const g[], lam__pull *e);

/* NULL: f is no such function. */
const lam__pull *lam__checkpoint_pull_of(const lam_fn *f);

/* Where parameters of lam__row_control have their function. */
lam_fn **lam__checkpoint_function(void *params);

/* A checkpointed function. */
extern const lam_primitive lam__row_checkpoint;

/* The types of the results of such a call, without their elements. False: it reads elements, or draws. */
bool lam__checkpoint_types(const lam_call_site *call, lam_shape out[]);

/* Gives up what was kept, and the list. */
void lam__rematerialise_release(lam_ctx *ctx, lam__kept *kept);

#endif
