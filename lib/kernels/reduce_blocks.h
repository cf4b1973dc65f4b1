/* Blocks of a reduction that are laid out anew, or changed, before they are reduced: see reduce_blocks.c. */
#ifndef LAM_REDUCE_BLOCKS_H
#define LAM_REDUCE_BLOCKS_H

#include "lib/kernels/reduce_loops.h"

/* Of functions whose arrays take kilobytes of the stack. In the frames of their callers these would lie beside each
 * other for as long as the callers run, and clang puts them there. */
#if defined(__GNUC__)
#define LAM__OWN_FRAME __attribute__((noinline))
#else
#define LAM__OWN_FRAME
#endif

/* What becomes of the elements first; both NULL: nothing. */
typedef struct lam__reduce_change {
    lam__loop *less, *square; /* less: takes the number of the result away; square: or the product of two elements */
    int64_t apart;            /* of a product: bytes from the first factor to the second; never with less */
} lam__reduce_change;

/* What becomes of a block: its leaf, of elements that may be changed first; sums in i64; of i64 in f64; or places. */
typedef enum lam__reduce_kind {
    LAM__REDUCE_LEAVES,
    LAM__REDUCE_TALLIES,
    LAM__REDUCE_ROUNDS,
    LAM__REDUCE_PLACES
} lam__reduce_kind;

/* What becomes of results, while they are near: each of their parts is loop(part, by). */
typedef struct lam__reduce_finish {
    lam__loop *loop;
    const void *by;
    int parts; /* of a result: 2 of a complex number */
    double n;  /* by which tallies are divided instead */
} lam__reduce_finish;

typedef struct lam__reduce_task {
    lam__reduce_kind kind;
    lam_dtype dtype;
    lam__reduce_op op;
    lam__reduce_change change;
    const lam__reduce_finish *finish; /* NULL: results are what they are */
} lam__reduce_task;

/* out[layers][columns] = what becomes of the block; number c of the columns of each layer lies at c * step elements in
 * `numbers`. */
void lam__reduce_block_into(const lam__reduce_task *task, const lam__reduce_block *block, const void *numbers,
                            int64_t step, void *out);

/* Results that lie side by side, in place. */
void lam__reduce_finish_some(const lam__reduce_finish *finish, lam__reduce_kind kind, int64_t count, void *results);

#endif
