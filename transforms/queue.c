/* What the queue of waiting nodes seldom needs: see queue.h. A node joins once in a walk, with its first cotangent;
 * when it is taken, all its consumers, whose ids are higher, have been visited. Both ends of the heap move a hole
 * rather than swap. */
#include "transforms/queue.h"

#include <string.h>

/* Nodes that wait stay where they are in the order; on failure the old heap is whole. */
static lam_status heap_grow(lam_ctx *ctx, lam__queue *q) {
    size_t room = q->room ? 2 * q->room : 64;
    lam__node **wider = lam__alloc_get(&ctx->pool, room * sizeof *wider);
    if (!wider) return lam__error_memory(ctx, room * sizeof *wider);
    if (q->count) memcpy(wider, q->heap, q->count * sizeof *wider);
    lam__queue_stop(ctx, q);
    q->heap = wider;
    q->room = room;
    return LAM_OK;
}

/* The heap is given up, and its counts stay for heap_grow, which puts a wider one in its place. */
void lam__queue_stop(lam_ctx *ctx, lam__queue *q) {
    if (q->heap) lam__alloc_put(&ctx->pool, q->heap, q->room * sizeof *q->heap);
    q->heap = NULL;
}

/* The queue's reference is made here, once nothing can fail any more. */
lam_status lam__queue_push(lam_ctx *ctx, lam__queue *q, lam__node *n) {
    if (q->count == q->room && heap_grow(ctx, q) != LAM_OK) return LAM_ERR_MEMORY;
    size_t i = q->count++;
    for (size_t up; i && q->heap[up = (i - 1) / 2]->id < n->id; i = up) q->heap[i] = q->heap[up];
    q->heap[i] = n;
    n->refs++;
    return LAM_OK;
}

/* The heap is not empty. The queue's reference goes to the caller. The hole goes down along the larger child until the
 * last one fits. */
lam__node *lam__queue_pop(lam__queue *q) {
    lam__node *top = q->heap[0], *last = q->heap[--q->count];
    size_t i = 0;
    for (;;) {
        size_t down = 2 * i + 1;
        if (down >= q->count) break;
        if (down + 1 < q->count && q->heap[down + 1]->id > q->heap[down]->id) down++;
        if (q->heap[down]->id <= last->id) break;
        q->heap[i] = q->heap[down];
        i = down;
    }
    if (q->count) q->heap[i] = last;
    return top;
}

/* The first run, whose front has been taken, moves back to where its next node belongs; without one the runs behind it
 * move up. Runs are few, so they are moved by hand. */
void lam__queue_order(lam__queue *q, lam__node *next) {
    int i = 0, last = q->runs - 1;
    for (; i < last && (!next || q->front[i + 1]->id > next->id); i++) q->front[i] = q->front[i + 1];
    if (next) q->front[i] = next;
    else q->runs = last;
}
