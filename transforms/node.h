/* A node of the tape: one recorded call, or a leaf (an input; no primitive, one output). */
#ifndef LAM_TRANSFORMS_NODE_H
#define LAM_TRANSFORMS_NODE_H

#include "lib/dispatch/dispatch.h"
#include "transforms/tape.h"

struct lam__node {
    lam__deferred defer; /* first: freed from a list, not by recursion */
    uint32_t refs;
    uint32_t params_bytes;
    uint64_t id;  /* rises along the tape: a node's parents have smaller ones */
    uint64_t run; /* the walk back that is using the node; 0: none */
    const lam_primitive *primitive;
    int inputs, outputs;
    void *residual;      /* of a staged primitive; NULL otherwise */
    lam__edge parents[]; /* per input; behind them lie the arrays below, then the parameters */
};

/* Per input: what vjp reads of it, a type, or NULL. */
static inline lam_value **lam__node_in(lam__node *n) {
    return (lam_value **)(void *)(n->parents + n->inputs);
}

/* Per output: what vjp reads of it, else a type. */
static inline lam_value **lam__node_out(lam__node *n) {
    return lam__node_in(n) + n->inputs;
}

/* Per output, during a walk. */
static inline lam_value **lam__node_cotangents(lam__node *n) {
    return lam__node_out(n) + n->outputs;
}

static inline void *lam__node_params(lam__node *n) {
    return lam__node_cotangents(n) + n->outputs;
}

void lam__node_release(lam_ctx *ctx, lam__node *n);

#endif
