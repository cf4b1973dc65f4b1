/* The examples of a batch level as an axis that can be worked on: what named axes and control flow with a batched
 * predicate are made of. Two rows, all_gather and psum_scatter, are done at the level whose batch it is; levels above
 * differentiate and batch them as they do any linear row. */
#ifndef LAM_TRANSFORMS_LANES_H
#define LAM_TRANSFORMS_LANES_H

#include "lib/dispatch/level.h"
#include "lib/program/program.h"

#include <lamina/extend.h>

/* NOTE [contributions]
 * The cotangent of a value that all examples share is itself a sum over them. A collective of the user's (`shared`)
 * leaves it open: each example has its contribution, and the way back through all_gather adds these up. Control flow
 * takes lanes apart and puts them together again in one call, and nothing batched comes between: there the cotangent
 * of the axis is the whole of it, and the two rows are each other's transposes. */
typedef struct lam__lanes_params {
    uint64_t level; /* serial of the batch level */
    int64_t size;   /* of its batch */
    int64_t shared;
} lam__lanes_params;

/* x as [size, ...], of which no part belongs to the level any more; repeated if it did not. */
lam_tensor *lam__lanes_out(lam_tensor *x, const lam__level *level, bool shared);

/* z, [size, ...], which is not batched at the level, as an example's part of it for each. */
lam_tensor *lam__lanes_in(lam_tensor *z, const lam__level *level, bool shared);

/* Of the programs that are being recorded inside the batch it is noted that they know of it. */
void lam__lanes_note(const lam__level *level);

/* Of a batch along whose axis an equation of the program works, while none of in[] and more[] belongs to it: a value
 * that tells nothing but that it is one of that batch. NULL: there is none. */
lam_tensor *lam__lanes_member(const lam__program *p, int n, lam_value *const in[], int m, lam_value *const more[]);

/* ---- examples that are at work alone ---- */

/* Examples of one or more batch levels in one axis. Of a choice whose predicate belongs to a batch of 4 and one of 5 in
 * it, the crew has both levels and 20 examples; operands are opened as [20, ...], and while the function runs that 7 of
 * these want, `index` says which. */
typedef struct lam__crew {
    lam_ctx *ctx;
    int count;                          /* levels */
    lam__level *levels[LAM_INNER_RANK]; /* the innermost first */
    int64_t size;                       /* examples of all of them together */
    int barrier;                        /* depth of the outermost: boxes from there on up come as operands */
    lam_tensor *index;                  /* i64[k]: those at work; NULL: all */
} lam__crew;

/* Adds the batch levels that x belongs to, so that what can be read of x depends on no other. */
void lam__lanes_add(lam__crew *crew, const lam_tensor *x);

/* Whether x goes into an axis of lanes: it belongs to one of these levels, or to one above, whose derivatives are per
 * example. */
bool lam__lanes_holds(const lam__crew *crew, const lam_tensor *x);

/* x as [crew->size, ...], and back. */
lam_tensor *lam__lanes_open(const lam__crew *crew, lam_tensor *x);
lam_tensor *lam__lanes_close(const lam__crew *crew, lam_tensor *z);

/* Those of z, [crew->size, ...], that are at work. */
lam_tensor *lam__lanes_taken(const lam__crew *crew, lam_tensor *z);

/* x as it is seen here, where functions run for some examples alone: what belongs to levels that examples are of is
 * the part of those at work, as an operand of the control flow would be. For functions of the library's own, which know
 * their captures though the user's function that calls them cannot declare them. */
lam_tensor *lam__lanes_here(lam_tensor *x);

/* x as one for each example of the batch levels that `like` belongs to, too. */
lam_tensor *lam__lanes_spread(lam_tensor *x, const lam_tensor *like);

/* Calls f for the k lanes at work: inputs with mapped[] have them as axis 0, and so have all outputs. */
lam_status lam__lanes_run(const lam__crew *crew, int64_t k, lam_fn *f, lam_tensor *const in[], const bool mapped[],
                          lam_tensor *out[]);

#endif
