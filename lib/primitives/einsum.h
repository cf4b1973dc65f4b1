/* Einstein summation: einsum_read.c makes labels of subscripts, einsum_plan.c steps of labels, and einsum.c does the
 * steps, and keeps them for the next call of the kind. Reading and planning look at types alone. */
#ifndef LAM_PRIMITIVES_EINSUM_H
#define LAM_PRIMITIVES_EINSUM_H

#include "lib/base/context.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/rows.h"

enum { LAM__EINSUM_OPERANDS = 64, LAM__EINSUM_LABELS = 64, LAM__EINSUM_STEPS = 16 };

/* A set of labels: bit l is label l. */
typedef uint64_t lam__labels;

/* An operand, or the product of some, with a label for each of its axes. */
typedef struct lam__einsum_term {
    int at; /* where its value is among those of the sum */
    int rank;
    lam__labels set;               /* of all axes */
    bool distinct;                 /* no label is there twice, none belongs to the ellipsis */
    uint8_t label[LAM_INNER_RANK]; /* of each axis */
} lam__einsum_term;

/* The operands, all of one dtype; steps put results in their places. made: bit n is set where x[n] is such a result and
 * a reference of the sum's own. */
typedef struct lam__einsum_values {
    uint64_t made;
    lam_value *x[LAM__EINSUM_OPERANDS];
} lam__einsum_values;

/* A row applied to one or two of the values. The result takes the place of the first. */
typedef struct lam__einsum_step {
    const lam_primitive *row;
    uint8_t x, y; /* where the operands are; y: of the second, if there is one */
    uint16_t bytes;
    bool known;     /* evaluation can do without the row's shape rule: */
    lam_shape type; /* that of the result, since the step was done for the first time */
    union {
        lam__pairing pairing;
        lam__order_params order;
        lam__dims_params dims;
        lam__diagonal_params diagonal;
        lam__cast_params cast;
        lam__axis_set set;
    } params; /* the first `bytes` of it */
} lam__einsum_step;

/* One call. Arrays are filled as far as their counts say, and no further. */
typedef struct lam__einsum {
    lam_ctx *ctx;
    const char *subscripts;
    lam__einsum_values *values;
    int count; /* terms left */
    int dtype; /* of the operands */
    lam__einsum_term terms[LAM__EINSUM_OPERANDS];
    int known;                        /* labels in use */
    char letter[LAM__EINSUM_LABELS];  /* '.' for one under the ellipsis */
    int64_t size[LAM__EINSUM_LABELS]; /* elements */
    int dots[LAM_INNER_RANK];         /* label of the ellipsis axis, counted from the last one */
    int dot_count;                    /* axes under the ellipsis */
    uint8_t result[LAM_INNER_RANK];
    int result_rank;
    lam__labels wanted; /* of the result */
    int steps;
    bool begun;  /* there were more steps than there is room for, and the first of them have been done */
    bool failed; /* one of these has failed */
    lam__einsum_step step[LAM__EINSUM_STEPS];
} lam__einsum;

/* Records what is wrong with the subscripts; gives false. */
bool lam__einsum_refuse(const lam__einsum *s, lam_status status, const char *format, ...) LAM_PRINTF(3, 4);

/* The terms and the result, of subscripts and operands. False after recording what is wrong. */
bool lam__einsum_read(lam__einsum *s);

/* The steps, of terms and result. One term is left, in whose place they leave the sum. False after recording why there
 * is none. */
bool lam__einsum_plan(lam__einsum *s);

/* Does steps, and notes the types of their results. False after one has failed; what it leaves is told by `made`. */
bool lam__einsum_run(lam_ctx *ctx, lam__einsum_step step[], int steps, lam__einsum_values *v);

#endif
