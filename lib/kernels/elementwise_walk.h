/* The plan of a walk over the operands of an elementwise loop: see elementwise.c, which makes it. */
#ifndef LAM_ELEMENTWISE_WALK_H
#define LAM_ELEMENTWISE_WALK_H

#include "lib/kernels/kernels.h"

/* Below LAM__WALK_SHORT elements of the inner run the call of the loop shows. From LAM__WALK_FAR bytes on results whose
 * lines are not written in their order go past the caches: that pays, a reader that comes at once included. */
enum { LAM__WALK_OPERANDS = 4, LAM__WALK_SHORT = 32, LAM__WALK_FAR = 8 << 20 };

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

/* Both walk with operands that are brought in order, part by part, before the loop sees them: blocks where the inner
 * run is short or goes in steps, tiles where an operand is transposed (at least two axes). False: nothing is done, this
 * walk is none of those. */
bool lam__elementwise_blocks(const lam__walk *w, void *const p[]);
bool lam__elementwise_tiles(const lam__walk *w, void *const p[]);

/* Steps p to the next point `at` of the axes up to `last`, leaving one out; false after the last, where all begins
 * again. */
bool lam__elementwise_next(const lam__walk *w, int last, int left_out, int64_t at[], void *p[]);

#endif
