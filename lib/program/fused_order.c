/* Orders of nodes: see NOTE [orders] in fused_order.h. A node is listed once in the order of the graph; target by
 * target what is read from memory may be listed again. */
#include "lib/program/fused_order.h"

#include <string.h>

enum { MOST_RESULTS = 16 }; /* data that are walked along at the same time */

/* Nodes that targets need. Operands have smaller numbers, so one pass from the end finds them all. */
static void mark_live(lam__fused_order *o, const lam__graph *g, const lam__target targets[], int64_t count) {
    memset(o->live, 0, (size_t)g->count);
    for (int64_t i = 0; i < count; i++) o->live[targets[i].node] = true;
    for (int64_t i = g->count - 1; i >= 0; i--) {
        const lam__node *n = &g->nodes[i];
        if (!o->live[i] || n->kind == LAM__NODE_LOAD) continue;
        for (int k = 0; k < 3 && n->in[k] >= 0; k++) o->live[n->in[k]] = true;
    }
}

/* From the end: who is met first is the last to read. What is read again from memory begins anew there. Counts
 * registers on the way; what is the same in all lanes has one of its own in any order. */
static bool find_ends(lam__fused_order *o, const lam__graph *g, lam__arena *arena) {
    bool *read = lam__arena_get(arena, (size_t)g->count);
    o->ends = lam__arena_get(arena, (size_t)(o->count + 1));
    if (!read || !o->ends) return false;
    memset(read, 0, (size_t)g->count);
    int64_t now = 0;
    o->registers = 0;
    for (int64_t i = o->count - 1; i >= 0; i--) {
        const lam__node *n = &g->nodes[o->nodes[i]];
        uint8_t ends = read[o->nodes[i]] ? 0 : LAM__ENDS_ITSELF;
        now -= n->laned && !ends;
        read[o->nodes[i]] = false;
        for (int k = 0; k < 3 && n->kind != LAM__NODE_LOAD && n->in[k] >= 0; k++) {
            if (read[n->in[k]]) continue;
            read[n->in[k]] = true;
            ends |= (uint8_t)(1u << k);
            now += g->nodes[n->in[k]].laned;
        }
        o->ends[i] = ends;
        if (now > o->registers) o->registers = now;
    }
    return true;
}

/* Numbers rise from operands to their readers, so the order of the graph is one in which everything is there in
 * time. */
static bool by_graph(lam__fused_order *o, const lam__graph *g, lam__arena *arena) {
    o->nodes = lam__arena_get(arena, (size_t)(g->count + 1) * sizeof *o->nodes);
    o->count = 0;
    for (int64_t i = 0; i < g->count && o->nodes; i++)
        if (o->live[i] && g->nodes[i].kind != LAM__NODE_CONSTANT) o->nodes[o->count++] = (int32_t)i;
    return o->nodes && find_ends(o, g, arena);
}

/* ---- by targets -------------------------------------------------------------------------------------------------- */

/* made: by node, for which target it was made, from 1 on; 0: for none yet. stack: nodes to be made, and ~node where its
 * operands have been. */
typedef struct walk {
    const lam__graph *graph;
    lam__arena *arena;
    lam__fused_order *order;
    int32_t *made, *stack;
    int64_t depth, stack_room, room;
    int32_t target;
} walk;

/* A stack of our own: a graph may be as deep as it has nodes. */
static bool push(walk *w, int32_t node) {
    int32_t *stack = lam__arena_grow(w->arena, w->stack, w->depth, &w->stack_room, sizeof *stack);
    if (!stack) return false;
    w->stack = stack;
    stack[w->depth++] = node;
    return true;
}

/* Whether a row makes it itself: reads, and what is a few steps. A step is made again, a call of a loop is not. */
static bool is_own(const lam__node *n) {
    if (!n->laned || n->weight > LAM__GRAPH_FEW) return false;
    return lam__graph_is_read(n) ||
           (n->kind == LAM__NODE_LOOP &&
            lam__kernels_lane_op((lam__loop_id)n->loop, (lam_dtype)n->of) > LAM__LANE_ARITHMETIC);
}

/* A constant is there without being made. What a row makes itself is made anew for each target; see NOTE [orders]. */
static bool is_made(const walk *w, int32_t node) {
    const lam__node *n = &w->graph->nodes[node];
    if (n->kind == LAM__NODE_CONSTANT) return true;
    return is_own(n) ? w->made[node] == w->target : w->made[node] != 0;
}

/* Puts a node behind those that have been made, as one made for this target. */
static bool list(walk *w, int32_t node) {
    lam__fused_order *o = w->order;
    int32_t *nodes = lam__arena_grow(w->arena, o->nodes, o->count, &w->room, sizeof *nodes);
    if (!nodes) return false;
    o->nodes = nodes;
    nodes[o->count++] = node;
    w->made[node] = w->target;
    return true;
}

/* All that a target needs and that is not made, operands before those who read them. */
static bool visit(walk *w, int32_t root) {
    if (!push(w, root)) return false;
    while (w->depth) {
        const int32_t top = w->stack[--w->depth], node = top < 0 ? ~top : top;
        const lam__node *n = &w->graph->nodes[node];
        if (is_made(w, node)) continue;
        if (top < 0 || lam__graph_is_read(n)) {
            if (!list(w, node)) return false;
            continue;
        }
        if (!push(w, ~node)) return false;
        for (int k = 2; k >= 0; k--)
            if (n->in[k] >= 0 && !push(w, n->in[k])) return false;
    }
    return true;
}

/* Targets are listed data after data. This one is the next of that whose next element comes first. */
static int64_t next_target(int64_t at[], const int64_t end[], int results, const lam__target targets[]) {
    int best = -1;
    for (int i = 0; i < results; i++)
        if (at[i] < end[i] && (best < 0 || targets[at[i]].base < targets[at[best]].base)) best = i;
    return best < 0 ? -1 : at[best]++;
}

/* False where there are more data than can be walked along at once, or no memory. */
static bool by_targets(walk *w, const lam__target targets[], int64_t count) {
    int64_t at[MOST_RESULTS], end[MOST_RESULTS];
    int results = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!i || targets[i].data != targets[i - 1].data) {
            if (results == MOST_RESULTS) return false;
            at[results++] = i;
        }
        end[results - 1] = i + 1;
    }
    for (int64_t t; (t = next_target(at, end, results, targets)) >= 0;) {
        w->target++;
        if (!visit(w, targets[t].node)) return false;
    }
    return find_ends(w->order, w->graph, w->arena);
}

/* Whether lanes are neighbours in memory wherever they are read or written: only then a row is a line of it. */
static bool is_dense(const lam__fused_order *o, const lam__graph *g, const lam__target targets[], int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (g->nodes[targets[i].node].laned && targets[i].step != 1) return false;
    for (int64_t i = 0; i < o->count; i++) {
        const lam__node *n = &g->nodes[o->nodes[i]];
        if (n->kind == LAM__NODE_LOAD && n->laned && n->as.load.step != 1) return false;
    }
    return true;
}

/* A part of one lane keeps the order of the graph: registers of eight bytes are never too many. What cannot be walked
 * along by targets is not. */
bool lam__fused_order_find(lam__fused_order *o, const lam__region *r, lam__arena *arena, const lam__target targets[],
                           int64_t count) {
    const lam__graph *g = &r->graph;
    *o = (lam__fused_order){.live = lam__arena_get(arena, (size_t)(g->count + 1))};
    if (!o->live) return false;
    mark_live(o, g, targets, count);
    if (!by_graph(o, g, arena)) return false;
    if (r->lanes == 1 || !is_dense(o, g, targets, count)) return true;
    lam__fused_order other = {.live = o->live, .by_targets = true};
    walk w = {g, arena, &other, lam__arena_get(arena, (size_t)(g->count + 1) * sizeof *w.made), NULL, 0, 0, 0, 0};
    if (!w.made) return false;
    memset(w.made, 0, (size_t)(g->count + 1) * sizeof *w.made);
    /* What is read and made again takes time too, so the registers have to be less than half. */
    if (by_targets(&w, targets, count) && 2 * other.registers < o->registers) *o = other;
    return !arena->lacking;
}
