/* Blocks of a reduction that are laid out anew, or changed, before they are reduced: see reduce_blocks.c. */
#ifndef LAM_REDUCE_BLOCKS_H
#define LAM_REDUCE_BLOCKS_H

#include "lib/kernels/reduce_loops.h"

/* What becomes of the elements first; both NULL: nothing. */
typedef struct lam__reduce_change {
    lam__loop *less, *square; /* less: takes the number of the result away; square: or the product of two elements */
    int64_t apart;            /* of a product: bytes from the first factor to the second; never with less */
} lam__reduce_change;

/* out[columns] = the block reduced; number c of the columns lies at c * step elements in `numbers`. */
void lam__reduce_changed(const lam__reduce_change *change, lam_dtype dtype, lam__reduce_op op,
                         const lam__reduce_block *block, const void *numbers, int64_t step, void *out);

#endif
