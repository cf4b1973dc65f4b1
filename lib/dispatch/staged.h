/* Staged primitives: those whose derivative is more than a function of operands and results, because user code takes
 * part in it and keeps something of its own for the way back (custom Functions), or a level has a part in it that no
 * operand tells (collectives). Such a row names one of these tables; an interpreter that finds it uses the stage meant
 * for it in place of the row's rule. Stages work on values, not on lent handles: what they give to users must be
 * handles that users may hold. Every stage runs with the level below the one it serves current, gives one reference per
 * result, and gives none on failure, which it has recorded. */
#ifndef LAM_DISPATCH_STAGED_H
#define LAM_DISPATCH_STAGED_H

#include "lib/tensor/value.h"

struct lam__batch;
struct lam__level;

typedef struct lam__staged {
    /* Applies the primitive for a level at which the inputs with needs[] have a derivative. dx[]: their tangents, at a
     * level that goes on with the stage `tangents` for them; NULL at others. constant[o] (false before) says that
     * output o has no derivative. An output may be left out (NULL), and is constant then. *residual is what the other
     * stages get in call->residual; on failure NULL. */
    lam_status (*forward)(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                          bool constant[], void **residual);

    /* dout[] from dx[]; NULL is zero on both sides. Those of constant outputs stay NULL. */
    lam_status (*tangents)(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                           lam_value *dout[]);

    /* gx[] of the inputs with needs[] from g[]; NULL is zero on both sides. Of operands and results only types are
     * known; of operands without needs[] nothing. */
    lam_status (*cotangents)(const lam_call_site *call, lam_value *const results[], const bool needs[],
                             lam_value *const g[], lam_value *gx[]);

    /* The batched call: operand i has the batch axis at axes[i] or not at all (LAM_UNMAPPED); sets out_axes[]
     * likewise. batch: what the level that is taken apart says of it. */
    lam_status (*batched)(const lam_call_site *call, const int axes[], const struct lam__batch *batch, lam_value *out[],
                          int out_axes[]);

    /* Gives a residual up. */
    void (*release)(lam_ctx *ctx, void *residual);

    /* Whether this level, which records a program, takes this application as one equation, because it is linear in all
     * its floating operands together, depends on elements that are not known yet, or types are all that is wanted; the
     * types of its results can be had without running it. NULL: never; then what its functions do is recorded. */
    bool (*linear)(const struct lam__level *level, const lam_call_site *call);

    /* The residual with which `cotangents` transposes such an equation, at a level where the operands with needs[]
     * are variables. The recording level itself is current. */
    lam_status (*keep)(const lam_call_site *call, const bool needs[], lam_value *const results[], void **residual);

    /* Collectives, which are done at the level that bears their axis even where no operand belongs to it: the level, or
     * NULL after recording that it is not open here. Levels above it that an operand belongs to come first. NULL: the
     * operands alone tell. */
    struct lam__level *(*level)(const lam_call_site *call);

    /* Does the call at that level, whose parent is current. Set where `level` is. */
    lam_status (*at)(struct lam__level *level, const lam_call_site *call, lam_value *out[]);

    /* How many of the last operands are tangents of others, in all of which together the second half of the results is
     * linear, while the first half does not depend on them; 0: none. NULL: nothing is known of it. */
    int (*tangents_in)(const void *params);

    /* Whether the primitive is linear in operand i while the others are held still. Such an equation is recorded where
     * none of those is a variable, and with the residual NULL: what its transpose needs is among its constants, and
     * `keep_late` makes it of them, with the levels current where that runs, as `keep` does. NULL: in none. */
    bool (*linear_in)(const void *params, int i);
    lam_status (*keep_late)(const lam_call_site *call, const bool needs[], lam_value *const results[], void **residual);

    /* The stages are rules of the user's: they need not be those of what the primitive calls. */
    bool rules;

    /* The parameters are a lam__nested (lib/program/nested.h). */
    bool nested;
} lam__staged;

#endif
