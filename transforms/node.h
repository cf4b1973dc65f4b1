/* A node of the tape: one recorded call, or a leaf (an input; no primitive, one output). One block holds the node, its
 * outputs, its inputs and the parameters, so the node of an operation on two operands takes two cache lines. */
#ifndef LAM_TRANSFORMS_NODE_H
#define LAM_TRANSFORMS_NODE_H

#include "lib/base/inline.h"
#include "lib/dispatch/dispatch.h"
#include "transforms/tape.h"

/* An operand. The edge has a reference to its node; `saved` is held. Both may be NULL: a constant that no rule
 * reads. */
typedef struct lam__node_input {
    lam__edge parent;
    lam_value *saved; /* what vjp reads of it, a type, or NULL */
} lam__node_input;

/* A result. `value` is held, NULL where the output is left out; `cotangent` is NULL outside of a walk. */
typedef struct lam__node_output {
    lam_value *value;     /* what vjp reads of it, else a type */
    lam_value *cotangent; /* during a walk */
} lam__node_output;

/* Counted by boxes, by edges of nodes recorded later, by recordings, and by a walk for as long as the node waits. */
struct lam__node {
    lam__deferred defer; /* first: freed from a list, not by recursion */
    uint32_t refs;
    uint32_t params_bytes;
    uint64_t id;  /* rises along the tape: a node's parents have smaller ones */
    uint64_t run; /* the walk back that is using the node; 0: none */
    const lam_primitive *primitive;
    int inputs;
    unsigned outputs : 31, minus : 1; /* minus: what waits as the cotangent of its one output is to be taken away */
    void *residual;                   /* of a staged primitive; NULL otherwise */
    lam__node_output output[];        /* behind them lie the inputs, then the parameters */
};

/* The inputs of a node of m outputs. */
static inline lam__node_input *lam__node_inputs(lam__node *n, int m) {
    return (lam__node_input *)(void *)(n->output + m);
}

static inline void *lam__node_params(lam__node *n) {
    return lam__node_inputs(n, n->outputs) + n->inputs;
}

/* NOTE [sums in place]
 * The way back adds up cotangents. Where those are boxes of a tape below, each sum would be a node with a box of its
 * own. Since nobody else sees what is being added up, one node gathers all terms, up to as many as its block may have,
 * and the box stays. It is not on anybody's way yet, so it may move to a larger block and take a new id as it grows. */
enum { LAM__NODE_TERMS = 39 }; /* of one sum: with them it takes 1024 bytes */
extern const lam_primitive lam__node_sum;

/* Frees a node that nobody holds, at once. */
void lam__node_end(lam_ctx *ctx, lam__node *n);

/* The same where it may be one of a chain: when those have been freed that wait already. */
void lam__node_free(lam_ctx *ctx, lam__node *n);

static inline void lam__node_release(lam_ctx *ctx, lam__node *n) {
    if (n && --n->refs == 0) lam__node_free(ctx, n);
}

#endif
