/* The nodes of a tape that wait for their visit on the way back; the one with the highest id is next. Each that waits
 * is held. */
#ifndef LAM_TRANSFORMS_QUEUE_H
#define LAM_TRANSFORMS_QUEUE_H

#include "transforms/node.h"

/* NOTE [runs]
 * What waits is taken from the highest id down. What joins comes in order, mostly: along a chain each is taken at once,
 * and a derivative's own way back meets the nodes of the function from the first to the last. So those that wait lie in
 * a few runs, each with its highest id in front, the runs by falling ids of their fronts; what fits no run goes to a
 * heap. */
enum { LAM__QUEUE_RUNS = 8 };

/* Lies in the frame of the walk; the heap's memory is of the pool, NULL until a node fits no run. */
typedef struct lam__queue {
    int runs;
    lam__node *front[LAM__QUEUE_RUNS]; /* linked through defer.next, which a node that is held has no use for */
    lam__node **heap;                  /* a max-heap on id */
    size_t count, room;                /* of the heap */
} lam__queue;

static inline void lam__queue_start(lam__queue *q) {
    q->runs = 0;
    q->count = q->room = 0;
    q->heap = NULL;
}

/* Gives back the memory of a queue that has become empty. */
void lam__queue_stop(lam_ctx *ctx, lam__queue *q);

/* Puts n into the first run whose front lies below it, or begins one. False where none is left. */
static inline bool lam__queue_join(lam__queue *q, lam__node *n) {
    int i = 0;
    while (i < q->runs && q->front[i]->id > n->id) i++;
    if (i == LAM__QUEUE_RUNS) return false;
    n->defer.next = i < q->runs ? &q->front[i]->defer : NULL;
    q->front[i] = n;
    if (i == q->runs) q->runs++;
    n->refs++;
    return true;
}

/* Puts n into the heap. */
lam_status lam__queue_push(lam_ctx *ctx, lam__queue *q, lam__node *n);

/* The highest of the heap, which is not empty, with the queue's reference to it. */
lam__node *lam__queue_pop(lam__queue *q);

/* Brings the runs into order where the first has ended, or its front has fallen below the next one's. */
void lam__queue_order(lam__queue *q, lam__node *next);

/* The waiting node that has heard from all its consumers, with the reference to it; NULL at the end. */
static inline lam__node *lam__queue_next(lam__queue *q) {
    lam__node *n = q->runs ? q->front[0] : NULL;
    if (q->count && (!n || q->heap[0]->id > n->id)) return lam__queue_pop(q);
    if (!n) return NULL;
    lam__node *next = (lam__node *)n->defer.next;
    if (q->runs == 1) {
        q->front[0] = next;
        q->runs = next != NULL;
    } else {
        lam__queue_order(q, next);
    }
    return n;
}

#endif
