/* Tensors put side by side in memory that is there already: what an in-place form of stack needs. */
#ifndef LAM_PRIMITIVES_JOIN_H
#define LAM_PRIMITIVES_JOIN_H

#include "lib/tensor/value.h"

/* Where a join goes: a part of a tensor, or all of one. */
typedef struct lam__join_place {
    char *data;
    int rank;
    const int64_t *dims, *strides; /* of the joined whole; elements */
    bool dense;                    /* without gaps */
    bool far;                      /* in memory that is larger than the caches and not read soon */
} lam__join_place;

/* Writes concrete values of one dtype and one shape, at least one, along a new axis. */
void lam__join_stack(int axis, int parts, lam_value *const in[], const lam__join_place *to);

/* The same for a concatenation or stack with the parameters of its row. */
void lam__join_parts(const void *params, int parts, lam_value *const in[], const lam__join_place *to);

/* Bytes of a tensor that is far. Columns reach it by way of a small block, whose lines are then written past the
 * caches. Straight into 8 MB they go as fast or faster where nothing else uses the caches, but in a program that does
 * it costs a sixth more. */
enum { LAM__JOIN_FAR = 1 << 22 };

#endif
