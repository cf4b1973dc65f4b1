/* Derivatives of functions of matrices by blocks: f([[x, e], [0, x]]) has f(x) on its diagonal and the derivative of f
 * at x along e in its upper right corner (Mathias, "A chain rule for matrix functions", 1996). */
#ifndef LAM_PRIMITIVES_CORNER_H
#define LAM_PRIMITIVES_CORNER_H

#include <lamina/extend.h>

/* [[x, e], [0, x]]; NULL is zero, not both. */
lam_tensor *lam__corner_blocks(lam_tensor *x, lam_tensor *e);

/* One of the four blocks of a stack of matrices of 2 n rows. */
lam_tensor *lam__corner_block(lam_tensor *x, int row, int column);

#endif
