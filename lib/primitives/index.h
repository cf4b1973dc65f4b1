/* Taking and adding by index, row by row: x is [batch..., n], indices and updates are [batch..., k]. What other rules
 * are made of. */
#ifndef LAM_PRIMITIVES_INDEX_H
#define LAM_PRIMITIVES_INDEX_H

#include <lamina/base.h>

/* The named elements of each row; 0 for an index of n or more. */
lam_tensor *lam__index_take_rows(lam_tensor *x, lam_tensor *indices);

/* x with updates added to the named elements of each row; those with an index of n or more are left out. */
lam_tensor *lam__index_add_rows(lam_tensor *x, lam_tensor *indices, lam_tensor *updates);

#endif
