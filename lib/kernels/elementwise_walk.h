/* The plan of a walk over the operands of an elementwise loop: see elementwise.c, which makes it. */
#ifndef LAM_ELEMENTWISE_WALK_H
#define LAM_ELEMENTWISE_WALK_H

#include "lib/kernels/kernels.h"

/* Below LAM__WALK_SHORT elements of the inner run the call of the loop shows. */
enum { LAM__WALK_OPERANDS = 4, LAM__WALK_SHORT = 32 };

typedef struct lam__walk_axis {
    int64_t dim;
    int64_t stride[LAM__WALK_OPERANDS]; /* bytes */
} lam__walk_axis;

typedef struct lam__walk {
    lam__loop *loop;
    const void *params;
    int operands, rank;
    size_t item[LAM__WALK_OPERANDS]; /* bytes */
    lam__walk_axis axes[LAM__MAX_AXES];
} lam__walk;

/* Walks block by block with operands that are brought in order before the loop sees them. False: nothing is done, this
 * walk is none of those it is made for (short runs, transposed operands). At least two axes. */
bool lam__elementwise_blocks(const lam__walk *w, void *const p[]);

#endif
