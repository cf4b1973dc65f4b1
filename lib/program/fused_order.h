/* In which order the nodes of a fused part are made, and where each is read last. Any order in which operands come
 * before their readers gives the same bits; what differs is how many registers are in use at once. */
#ifndef LAM_PROGRAM_FUSED_ORDER_H
#define LAM_PROGRAM_FUSED_ORDER_H

#include "lib/program/region.h"

/* What is written: so many of a node's lanes to elements base, base + step, ... of the data with this number; step 0:
 * of a node that is the same in all lanes one element. */
typedef struct lam__target {
    int32_t node, data;
    int64_t base, step, lanes;
} lam__target;

/* Of a node in its turn: bit k says that operand k is read there for the last time. */
enum { LAM__ENDS_ITSELF = 1 << 3 }; /* nobody reads what it makes: it is only stored */

/* NOTE [orders]
 * Nodes are made in the order of the graph, in which each equation makes all of its elements before the next one does,
 * or target by target, along the data: then a part that is a grid goes through it row by row, and what a row needs lies
 * in few registers. What comes from memory and differs between lanes is read again for each target there, and what is a
 * few steps is made again, so that no row holds anything for the next ones but what is more than that; that is what
 * makes loops over rows of it.
 *
 * Of y = sin(x), z[i] = y[i] + y[i + 1] on grids of rows x0, x1, ...: in the order of the graph all of y0, y1, ... is
 * made before z0, which takes a register for each row; target by target it is y0 y1 z0 y2 z1 ..., which takes a few. */
typedef struct lam__fused_order {
    bool *live;     /* by node: whether a target needs it */
    int32_t *nodes; /* without constants */
    uint8_t *ends;  /* of each of these */
    int64_t count;
    bool by_targets;
    int64_t registers; /* that are in use at once */
} lam__fused_order;

/* The order that takes fewer registers, by far where it is not that of the graph. False without memory. */
bool lam__fused_order_find(lam__fused_order *o, const lam__region *r, lam__arena *arena, const lam__target targets[],
                           int64_t count);

#endif
