/* The way back along the tape. Nodes that have received a cotangent wait in a heap by id; the highest has heard from
 * all its consumers, which have higher ids, so it passes its cotangent on and is done. Only what carries a cotangent
 * is visited; a chain keeps one node in the heap. */
#include "transforms/node.h"

#include "lib/primitives/rules.h"

#include <string.h>

typedef struct walk {
    lam_ctx *ctx;
    uint64_t id;
    bool once;
    lam__node **heap; /* a max-heap on id */
    size_t count, room;
} walk;

/* ---- heap ------------------------------------------------------------------------------------------------------ */

static lam_status heap_grow(walk *w) {
    size_t room = w->room ? 2 * w->room : 64;
    lam__node **wider = lam__alloc_get(&w->ctx->pool, room * sizeof *wider);
    if (!wider) return lam__error_memory(w->ctx, room * sizeof *wider);
    if (w->count) memcpy(wider, w->heap, w->count * sizeof *wider);
    if (w->heap) lam__alloc_put(&w->ctx->pool, w->heap, w->room * sizeof *w->heap);
    w->heap = wider;
    w->room = room;
    return LAM_OK;
}

static lam_status heap_push(walk *w, lam__node *n) {
    if (w->count == w->room && heap_grow(w) != LAM_OK) return LAM_ERR_MEMORY;
    size_t i = w->count++;
    for (size_t up; i && w->heap[up = (i - 1) / 2]->id < n->id; i = up) w->heap[i] = w->heap[up];
    w->heap[i] = n;
    return LAM_OK;
}

static lam__node *heap_pop(walk *w) {
    lam__node *top = w->heap[0], *last = w->heap[--w->count];
    size_t i = 0;
    for (;;) {
        size_t down = 2 * i + 1;
        if (down >= w->count) break;
        if (down + 1 < w->count && w->heap[down + 1]->id > w->heap[down]->id) down++;
        if (w->heap[down]->id <= last->id) break;
        w->heap[i] = w->heap[down];
        i = down;
    }
    if (w->count) w->heap[i] = last;
    return top;
}

/* ---- cotangents ---------------------------------------------------------------------------------------------- */

/* Gives g, taken over, to the place an edge names. */
static lam_status deliver(walk *w, lam__edge to, lam_value *g) {
    lam__node *n = to.node;
    if (n->run && n->run != w->id) {
        lam__value_release(g);
        return lam__error_set(w->ctx, LAM_ERR_VALUE, NULL, "a pullback was called by a rule that it is itself calling");
    }
    if (!n->run && heap_push(w, n) != LAM_OK) {
        lam__value_release(g);
        return LAM_ERR_MEMORY;
    }
    n->run = w->id;
    return lam__rules_accumulate(w->ctx, &lam__node_cotangents(n)[to.index], g);
}

/* ---- one node -------------------------------------------------------------------------------------------------- */

static lam_status pass_on(walk *w, lam__node *n, lam_value **in, lam_value **gx, bool *needs) {
    lam_value **saved = lam__node_in(n);
    for (int i = 0; i < n->inputs; i++) {
        lam__edge up = n->parents[i];
        needs[i] = up.node != NULL;
        in[i] = saved[i] ? saved[i] : up.node ? lam__node_out(up.node)[up.index] : NULL;
    }
    lam_call_site call = {.ctx = w->ctx,
                          .primitive = n->primitive,
                          .params = lam__node_params(n),
                          .params_bytes = n->params_bytes,
                          .inputs = n->inputs,
                          .outputs = n->outputs,
                          .in = in,
                          .residual = n->residual};
    lam_status status = lam__rules_cotangents(&call, lam__node_out(n), needs, lam__node_cotangents(n), gx);
    for (int i = 0; i < n->inputs; i++) {
        if (gx[i] && status == LAM_OK) status = deliver(w, n->parents[i], gx[i]);
        else lam__value_release(gx[i]);
    }
    return status;
}

static void let_go(lam__node *n, bool once) {
    lam_value **in = lam__node_in(n), **cotangents = lam__node_cotangents(n);
    for (int o = 0; o < n->outputs; o++) {
        lam__value_release(cotangents[o]);
        cotangents[o] = NULL;
    }
    n->run = 0;
    for (int i = 0; once && i < n->inputs; i++) {
        lam__value_release(in[i]);
        in[i] = NULL;
    }
}

static lam_status visit(walk *w, lam__node *n) {
    lam__scratch_area area;
    size_t inputs = (size_t)n->inputs;
    lam_value **in = lam__scratch_get(&area, w->ctx, inputs * (2 * sizeof *in + sizeof(bool)));
    lam_status status = in ? pass_on(w, n, in, in + inputs, (bool *)(void *)(in + 2 * inputs)) : LAM_ERR_MEMORY;
    let_go(n, w->once);
    lam__scratch_put(&area);
    return status;
}

lam_status lam__tape_pull(lam_ctx *ctx, const lam__recording *r, lam_value *const g[], lam_value *gx[], bool once) {
    walk w = {.ctx = ctx, .id = ++ctx->clock, .once = once};
    lam_status status = LAM_OK;
    for (int i = 0; i < r->inputs; i++) gx[i] = NULL;
    for (int o = 0; o < r->outputs && status == LAM_OK; o++)
        if (g[o] && r->ends[o].node) status = deliver(&w, r->ends[o], lam__value_hold(g[o]));
    while (w.count) {
        lam__node *n = heap_pop(&w);
        if (!n->primitive) {
            for (int i = 0; i < r->inputs && status == LAM_OK; i++)
                if (r->leaves[i].node == n) gx[i] = lam__value_hold(lam__node_cotangents(n)[0]);
            let_go(n, false);
        } else if (status == LAM_OK) {
            status = visit(&w, n);
        } else {
            let_go(n, false);
        }
    }
    if (w.heap) lam__alloc_put(&ctx->pool, w.heap, w.room * sizeof *w.heap);
    for (int i = 0; i < r->inputs && status != LAM_OK; i++) {
        lam__value_release(gx[i]);
        gx[i] = NULL;
    }
    return status;
}
