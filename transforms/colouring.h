/* Colours for the columns of a sparse matrix: directions that may share a product, since no entry would be lost. */
#ifndef LAM_TRANSFORMS_COLOURING_H
#define LAM_TRANSFORMS_COLOURING_H

#include "lib/base/context.h"

/* Entries of a matrix: entry k is at lines[k], across[k]. */
typedef struct lam__entries {
    int64_t count;
    const int64_t *lines, *across;
    int64_t n_lines, n_across;
} lam__entries;

/* Colours 0, 1, ... for `across`, different where two meet in a line, -1 for those without entries. `colours` has room
 * for n_across. Gives their number, -1 after a failure. At most `most` are wanted: more are as good as none, and what
 * is given then is any number above it. */
int64_t lam__colouring_apart(lam_ctx *ctx, const lam__entries *e, int64_t most, int64_t colours[]);

/* The same for a symmetric matrix, of which one triangle is enough, n_lines being n_across: entry (i, j) can be told
 * from line i of the product for the colour of j, if colours[i] >= colours[j], else from line j for the colour of i. */
int64_t lam__colouring_symmetric(lam_ctx *ctx, const lam__entries *e, int64_t colours[]);

#endif
