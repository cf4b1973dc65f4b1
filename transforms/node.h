/* A node of the tape: one recorded call, or a leaf (an input; no primitive, one output). */
#ifndef LAM_TRANSFORMS_NODE_H
#define LAM_TRANSFORMS_NODE_H

#include "lib/dispatch/dispatch.h"
#include "transforms/tape.h"

struct lam__node {
    lam__deferred defer;           /* first: freed from a list, not by recursion */
    uint32_t refs;
    uint64_t id;                   /* rises along the tape: a node's parents have smaller ones */
    uint64_t run;                  /* the walk back that is using the node; 0: none */
    const lam_primitive *primitive;
    int inputs, outputs;
    size_t params_bytes;
    lam__edge *parents;            /* per input */
    lam_value **in;                /* per input: what vjp reads of it, a type, or NULL */
    lam_value **out;               /* per output: what vjp reads of it, else a type */
    lam_value **cotangents;        /* per output, during a walk */
    void *params;
    void *residual;                /* of a staged primitive; NULL otherwise */
};

void lam__node_release(lam_ctx *ctx, lam__node *n);

#endif
