/* Contractions whose axes are known: what dot_general takes as its parameter. Products and sums that know their axes
 * come here straight, without lists that have to be checked. */
#ifndef LAM_PRIMITIVES_CONTRACT_H
#define LAM_PRIMITIVES_CONTRACT_H

#include "lib/base/context.h"

#include <lamina/extend.h>

/* The paired axes of operand 0, batch axes first, then those of operand 1; axes that are not named are free. */
typedef struct lam__pairing {
    int8_t batch, contract; /* pairs */
    int8_t axes[2 * LAM_INNER_RANK];
} lam__pairing;

/* The contraction of live operands of one context and dtype; the axes are there and named once. */
lam_tensor *lam__contract(const lam__pairing *p, lam_tensor *x, lam_tensor *y);

/* The pairing that subscripts of einsum describe, where nothing else is to be done: two terms of letters, none twice in
 * a term, a result whose axes are in order (those of both, of x, of y), at least one letter to sum over, sizes that
 * fit. False where it is not that simple; what is wrong, if anything, is for einsum to say. */
bool lam__contract_by_letters(const char *subscripts, const lam_value *x, const lam_value *y, lam__pairing *p);

#endif
