/* Colours for columns and rows of a sparse matrix: directions that may share a product, since no entry would be
 * lost. */
#ifndef LAM_TRANSFORMS_COLOURING_H
#define LAM_TRANSFORMS_COLOURING_H

#include "lib/base/context.h"

/* Entries of a matrix: entry k is at lines[k], across[k]. */
typedef struct lam__entries {
    int64_t count;
    const int64_t *lines, *across;
    int64_t n_lines, n_across;
} lam__entries;

/* How the entries of a Jacobian are told: from products with directions, which are sums of columns, and from products
 * of its transpose, which are sums of rows. Lines are its rows here. */
typedef struct lam__bicolouring {
    int64_t columns, rows; /* colours of either */
    bool rows_first;       /* entry (i, j) is told from row i if that has a colour, else from column j; or, if not this,
                            * from column j if that has one, else from row i */
} lam__bicolouring;

/* Colours 0, 1, ... for the columns and the rows, as few of both as are found; -1 for those from which nothing is told.
 * `columns` has room for n_across, `rows` for n_lines. False after a failure. */
bool lam__colouring_jacobian(lam_ctx *ctx, const lam__entries *e, int64_t columns[], int64_t rows[],
                             lam__bicolouring *b);

/* Colours for the columns of a symmetric matrix, of which one triangle is enough, n_lines being n_across: entry (i, j)
 * can be told from line i of the product for the colour of j, if colours[i] >= colours[j], else from line j for the
 * colour of i. Gives their number, -1 after a failure. */
int64_t lam__colouring_symmetric(lam_ctx *ctx, const lam__entries *e, int64_t colours[]);

#endif
