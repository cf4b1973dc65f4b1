/* Graphs of scalar operations: what a part of a program is when each element of its tensors is looked at alone. A node
 * is one operation on scalars; where the program does the same for many elements side by side, these are the lanes, and
 * a node stands for one scalar in each lane. Equal nodes are one node, and what is known is folded, so a graph holds
 * each computation once. Of x / (1 + x) for x of dims [1000], in 1000 lanes:
 *     0  load    element 0 + lane of x
 *     1  1
 *     2  add     1 0
 *     3  div     0 2 */
#ifndef LAM_PROGRAM_GRAPH_H
#define LAM_PROGRAM_GRAPH_H

#include "lib/kernels/lane.h"
#include "lib/program/arena.h"

typedef enum lam__node_kind {
    LAM__NODE_CONSTANT, /* bits */
    LAM__NODE_LOAD,     /* element base + lane * step of the data `in[0]` */
    LAM__NODE_LINE,     /* elements of data that lie in runs: params, a lam__lane_line */
    LAM__NODE_LOOP,     /* an elementwise loop */
    LAM__NODE_CAST,     /* of in[0] */
    LAM__NODE_SINE,     /* by the kernel that gives both */
    LAM__NODE_COSINE
} lam__node_kind;

/* dtype: of the result; of: of the operands, of a choice of its branches. in: nodes of smaller numbers; -1: none. */
typedef struct lam__node {
    uint8_t kind, dtype, of;
    bool laned;   /* differs from lane to lane */
    int16_t loop;    /* lam__loop_id */
    uint16_t weight; /* steps that make it of memory, if none of them is made for anything else; UINT16_MAX: many */
    int32_t in[3];
    union {
        uint64_t bits;
        struct {
            int64_t base, step;
        } load;
        const void *params; /* of a loop or a line; NULL: none */
    } as;
    uint32_t params_bytes;
} lam__node;

/* Steps that are rather made again than kept, or waited for in memory. */
enum { LAM__GRAPH_FEW = 6 };

/* What is seen of a node without going to it. */
typedef struct lam__graph_slot {
    int32_t node; /* -1: free */
    uint32_t hash;
} lam__graph_slot;

typedef struct lam__graph {
    lam__arena *arena;
    lam__node *nodes;
    int64_t count, room;
    lam__graph_slot *slots; /* a hash table */
    int64_t slot_count;
    int64_t most; /* nodes that it may have */
    bool spelled; /* for machine code: loops are spelled out where they are a few instructions */
} lam__graph;

void lam__graph_open(lam__graph *g, lam__arena *arena, int64_t most);

/* All of these give the number of a node, or -1 where memory is lacking or the graph is full; of an operand -1 too. */
int32_t lam__graph_constant(lam__graph *g, lam_dtype dtype, uint64_t bits);
int32_t lam__graph_number(lam__graph *g, lam_dtype dtype, double value);
int32_t lam__graph_load(lam__graph *g, lam_dtype dtype, int32_t data, int64_t base, int64_t step);
/* Of what differs between lanes. No byte of the line is undefined. */
int32_t lam__graph_line(lam__graph *g, lam_dtype dtype, const lam__lane_line *line);
int32_t lam__graph_cast(lam__graph *g, lam_dtype dtype, int32_t x);
int32_t lam__graph_wave(lam__graph *g, lam__node_kind kind, int32_t x);

/* An elementwise operation of a row with this loop; predicate: it gives bool. Simplified where the bits stay the same,
 * but for the sign of a zero that 0 is added to. */
int32_t lam__graph_loop(lam__graph *g, lam__loop_id id, bool predicate, int inputs, const int32_t in[],
                        const void *params, size_t params_bytes);

/* Whether a node comes from memory, and not from others. */
static inline bool lam__graph_is_read(const lam__node *n) {
    return n->kind == LAM__NODE_LOAD || n->kind == LAM__NODE_LINE;
}

/* For the files of the graph: what stands for itself, and what a loop is in simpler ones (spell.c). NONE: nothing is
 * known of it; -1 where memory is lacking. */
enum { LAM__GRAPH_NONE = -2 };
int32_t lam__graph_node(lam__graph *g, const lam__node *node);
int32_t lam__graph_spelled(lam__graph *g, lam__loop_id id, const int32_t in[], const void *params);

#endif
