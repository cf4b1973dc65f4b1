/* The way back along the tape. Nodes that have received a cotangent wait, the one with the highest id next: it has
 * heard
 * from all its consumers, which have higher ids, so it passes its cotangent on and is done. Only what carries a
 * cotangent is visited; leaves keep what they get until the end. */
#include "transforms/node.h"

#include "lib/primitives/rules.h"

#include <string.h>

typedef struct walk {
    lam_ctx *ctx;
    uint64_t id;
    bool once;
    lam__node *apart; /* one that waits outside the heap, or NULL */
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

/* Nodes wait in two places: one outside the heap, which for a chain is all there are, and the rest inside. Each that
 * waits is held. */
static inline lam_status wait_for_visit(walk *w, lam__node *n) {
    if (n->primitive) { /* a leaf keeps what it gets */
        if (w->apart && heap_push(w, n) != LAM_OK) return LAM_ERR_MEMORY;
        if (!w->apart) w->apart = n;
        n->refs++;
    }
    n->run = w->id;
    return LAM_OK;
}

/* The waiting node that has heard from all its consumers; NULL at the end. */
static inline lam__node *next_to_visit(walk *w) {
    lam__node *n = w->apart;
    if (w->count && (!n || w->heap[0]->id > n->id)) return heap_pop(w);
    w->apart = NULL;
    return n;
}

/* ---- cotangents ---------------------------------------------------------------------------------------------- */

LAM__APART static lam_status fail_busy(walk *w, lam_value *g) {
    lam__value_release(g);
    return lam__error_set(w->ctx, LAM_ERR_VALUE, NULL, "a pullback was called by a rule that it is itself calling");
}

/* Gives g with its sign, taken over, to the place an edge names. */
static lam_status deliver(walk *w, lam__edge to, lam_value *g, int sign) {
    lam__node *n = to.node;
    lam__node_output *place = &n->output[to.index];
    if (n->run != w->id) {
        if (n->run) return fail_busy(w, g);
        if (wait_for_visit(w, n) != LAM_OK) {
            lam__value_release(g);
            return LAM_ERR_MEMORY;
        }
    }
    return lam__rules_accumulate(w->ctx, &place->cotangent, g, sign);
}

/* ---- one node -------------------------------------------------------------------------------------------------- */

/* Ends the visit of a node. With `once` nothing needs it any more: it is freed while it is at hand, and if something
 * else holds it, what it saved goes. */
LAM__UNROLLED void let_go(walk *w, lam__node *node, int n, int m) {
    lam__node_input *input = lam__node_inputs(node, m);
    for (int o = 0; o < m; o++) {
        lam__value_release(node->output[o].cotangent);
        node->output[o].cotangent = NULL;
    }
    node->run = 0;
    for (int i = 0; i < n && w->once && node->refs > 1; i++) {
        lam__value_release(input[i].saved);
        input[i].saved = NULL;
        lam__node_release(w->ctx, input[i].parent.node);
        input[i].parent.node = NULL;
    }
    lam__node_release(w->ctx, node);
}

/* Applies the rule of a node and passes its results on. in[], needs[] and gx[] are room for n; results[] and g[] lie in
 * the node or are copies. */
LAM__UNROLLED lam_status pass_on(walk *w, lam__node *node, int n, int m, lam_value *in[], bool needs[], lam_value *gx[],
                                 lam_value *const results[], lam_value *const g[]) {
    const lam__node_input *input = lam__node_inputs(node, m);
    for (int i = 0; i < n; i++) {
        lam__edge up = input[i].parent;
        needs[i] = up.node != NULL;
        in[i] = input[i].saved ? input[i].saved : up.node ? up.node->output[up.index].value : NULL;
    }
    lam_call_site call = {.ctx = w->ctx,
                          .primitive = node->primitive,
                          .params = lam__node_params(node),
                          .params_bytes = node->params_bytes,
                          .inputs = n,
                          .outputs = m,
                          .in = in,
                          .residual = node->residual};
    lam_status status = lam__rules_cotangents(&call, results, needs, g, gx);
    for (int i = 0; i < n; i++) {
        if (gx[i] && status == LAM_OK) status = deliver(w, input[i].parent, gx[i], 1);
        else lam__value_release(gx[i]);
    }
    return status;
}

/* Back through a sum with signs of operands that have its dims: each gets the cotangent as it is. */
LAM__UNROLLED lam_status pass_signed(walk *w, lam__node *node, int n, lam_value *g) {
    lam_status status = LAM_OK;
    const lam__node_input *input = lam__node_inputs(node, 1);
    for (int i = 0; i < n && status == LAM_OK; i++)
        if (input[i].parent.node) status = deliver(w, input[i].parent, lam__value_hold(g), node->primitive->signs[i]);
    return status;
}

LAM__UNROLLED bool passes_signed(lam__node *node, int n, const lam_value *g) {
    const lam__node_input *input = lam__node_inputs(node, 1);
    if (!node->primitive->signs[0]) return false;
    for (int i = 0; i < n; i++) {
        lam__edge up = input[i].parent;
        if (up.node && !lam__value_same_dims(up.node->output[up.index].value, g)) return false;
    }
    return true;
}

/* One result from n operands, where n is a constant. */
LAM__UNROLLED lam_status visit_few(walk *w, lam__node *node, int n) {
    lam_value *in[2], *gx[2];
    bool needs[2];
    lam__node_output *out = &node->output[0];
    lam_status status = passes_signed(node, n, out->cotangent)
                            ? pass_signed(w, node, n, out->cotangent)
                            : pass_on(w, node, n, 1, in, needs, gx, &out->value, &out->cotangent);
    let_go(w, node, n, 1);
    return status;
}

LAM__APART static lam_status visit_lists(walk *w, lam__node *node) {
    lam__scratch_area area;
    size_t n = (size_t)node->inputs, m = (size_t)node->outputs;
    lam_value **in = lam__scratch_get(&area, w->ctx, 2 * (n + m) * sizeof *in + n * sizeof(bool));
    lam_status status = in ? LAM_OK : LAM_ERR_MEMORY;
    if (in) {
        lam_value **gx = in + n, **results = gx + n, **g = results + m;
        for (size_t o = 0; o < m; o++) {
            results[o] = node->output[o].value;
            g[o] = node->output[o].cotangent;
        }
        status = pass_on(w, node, node->inputs, node->outputs, in, (bool *)(void *)(g + m), gx, results, g);
    }
    let_go(w, node, node->inputs, node->outputs);
    lam__scratch_put(&area);
    return status;
}

static lam_status visit(walk *w, lam__node *node) {
    if (node->outputs != 1) return visit_lists(w, node);
    if (node->inputs == 2) return visit_few(w, node, 2);
    if (node->inputs == 1) return visit_few(w, node, 1);
    return visit_lists(w, node);
}

/* Leaves end their part in the walk: what they got is moved to gx[]. */
static void take_leaves(walk *w, const lam__recording *r, lam_status status, lam_value *gx[]) {
    for (int i = 0; i < r->inputs; i++) {
        lam__node *leaf = r->leaves[i].node;
        gx[i] = NULL;
        if (!leaf || leaf->run != w->id) continue;
        if (status == LAM_OK) gx[i] = leaf->output[0].cotangent;
        else lam__value_release(leaf->output[0].cotangent);
        leaf->output[0].cotangent = NULL;
        leaf->run = 0;
    }
}

lam_status lam__tape_pull(lam_ctx *ctx, const lam__recording *r, lam_value *const g[], lam_value *gx[], bool once) {
    walk w = {.ctx = ctx, .id = ++ctx->clock, .once = once};
    lam_status status = LAM_OK;
    for (int o = 0; o < r->outputs && status == LAM_OK; o++)
        if (g[o] && r->ends[o].node) status = deliver(&w, r->ends[o], lam__value_hold(g[o]), 1);
    for (lam__node *n; (n = next_to_visit(&w));) {
        if (status == LAM_OK) status = visit(&w, n);
        else let_go(&w, n, n->inputs, n->outputs);
    }
    if (w.heap) lam__alloc_put(&ctx->pool, w.heap, w.room * sizeof *w.heap);
    take_leaves(&w, r, status, gx);
    return status;
}
