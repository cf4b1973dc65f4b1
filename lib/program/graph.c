/* Graphs: nodes are found by a hash of all that they are. See graph.h. Nodes are numbered as they are made, and
 * operands are there before, so whoever goes through a graph by its numbers meets operands before their readers. */
#include "lib/program/graph.h"

#include "lib/tensor/dtype.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

/* There are no slots before the first node asks for one. */
void lam__graph_open(lam__graph *g, lam__arena *arena, int64_t most) {
    *g = (lam__graph){.arena = arena, .most = most};
}

/* Multiplication carries low bits up, the shift brings high ones down (the constant is that of Fibonacci hashing, 2^64
 * over the golden ratio). */
static uint64_t mixed(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Parameters take part with their length alone, which is cheaper than their bytes and tells most of them apart; lines
 * with where they begin. */
static uint64_t hash_of(const lam__node *n) {
    uint64_t h = mixed((uint64_t)n->kind << 24 | (uint64_t)n->dtype << 16 | (uint64_t)n->of << 8, (uint16_t)n->loop);
    for (int i = 0; i < 3; i++) h = mixed(h, (uint32_t)n->in[i]);
    if (n->kind == LAM__NODE_CONSTANT) h = mixed(h, n->as.bits);
    if (n->kind == LAM__NODE_LOAD) h = mixed(mixed(h, (uint64_t)n->as.load.base), (uint64_t)n->as.load.step);
    for (int k = 0; n->kind == LAM__NODE_LINE && k < LAM__LANE_RUNS; k++)
        h = mixed(h, (uint64_t)((const lam__lane_line *)n->as.params)->runs[k].base);
    return mixed(h, n->params_bytes);
}

/* Bits of constants are compared, not numbers: the zeros of both signs and all NaN stay apart. */
static bool equal(const lam__node *a, const lam__node *b) {
    if (a->kind != b->kind || a->dtype != b->dtype || a->of != b->of || a->loop != b->loop ||
        a->params_bytes != b->params_bytes)
        return false;
    for (int i = 0; i < 3; i++)
        if (a->in[i] != b->in[i]) return false;
    if (a->kind == LAM__NODE_CONSTANT) return a->as.bits == b->as.bits;
    if (a->kind == LAM__NODE_LOAD) return a->as.load.base == b->as.load.base && a->as.load.step == b->as.load.step;
    return !a->params_bytes || !memcmp(a->as.params, b->as.params, a->params_bytes);
}

/* Where a node with this hash is or belongs. The table is never full. Nodes lie far apart, so that those of another
 * hash are not looked at. */
static lam__graph_slot *slot_of(const lam__graph *g, const lam__node *n, uint32_t hash) {
    const uint32_t mask = (uint32_t)(g->slot_count - 1);
    uint32_t at = hash & mask;
    while (g->slots[at].node >= 0 && (g->slots[at].hash != hash || !equal(&g->nodes[g->slots[at].node], n)))
        at = (at + 1) & mask;
    return &g->slots[at];
}

/* A place that is free, for a node that is not in the table. */
static lam__graph_slot *free_slot(const lam__graph *g, uint32_t hash) {
    const uint32_t mask = (uint32_t)(g->slot_count - 1);
    uint32_t at = hash & mask;
    while (g->slots[at].node >= 0) at = (at + 1) & mask;
    return &g->slots[at];
}

/* Four times as many slots when more than half of them would be taken. The tables before stay in the arena; growing by
 * four keeps all of them together at a third of the last one. */
static bool room_for_one(lam__graph *g) {
    if (2 * g->count < g->slot_count) return true;
    const lam__graph_slot *before = g->slots;
    const int64_t had = g->slot_count, wider = had ? 4 * had : FIRST_SLOTS;
    lam__graph_slot *slots = lam__arena_get(g->arena, (size_t)wider * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, (size_t)wider * sizeof *slots);
    g->slots = slots;
    g->slot_count = wider;
    for (int64_t i = 0; i < had; i++)
        if (before[i].node >= 0) *free_slot(g, before[i].hash) = before[i];
    return true;
}

/* What is the same in all lanes is made once, and counts as nothing. What two operands share counts for both: made
 * again for one reader, it is made for each way to it. */
static uint16_t weight_of(const lam__graph *g, const lam__node *n) {
    uint32_t weight = n->laned;
    for (int i = 0; i < 3 && n->laned && !lam__graph_is_read(n) && n->in[i] >= 0; i++)
        weight += g->nodes[n->in[i]].weight;
    return (uint16_t)(weight < UINT16_MAX ? weight : UINT16_MAX);
}

/* Parameters are copied when the node is new. A node that is there already is found in a full graph too. Where memory
 * is lacking the graph is as it was before: the count is what says which nodes there are. Growing the nodes moves no
 * slot. */
int32_t lam__graph_node(lam__graph *g, const lam__node *node) {
    if (!room_for_one(g)) return -1;
    const uint64_t mixture = hash_of(node);
    const uint32_t hash = (uint32_t)(mixture ^ mixture >> 32);
    lam__graph_slot *at = slot_of(g, node, hash);
    if (at->node >= 0) return at->node;
    if (g->count >= g->most) return -1;
    lam__node *nodes = lam__arena_grow(g->arena, g->nodes, g->count, &g->room, sizeof *nodes);
    if (!nodes) return -1;
    g->nodes = nodes;
    lam__node *made = &nodes[g->count];
    *made = *node;
    if (node->params_bytes) {
        void *params = lam__arena_get(g->arena, node->params_bytes);
        if (!params) return -1;
        memcpy(params, node->as.params, node->params_bytes);
        made->as.params = params;
    }
    /* The operand of a load is a number of data, and no node. */
    for (int i = 0; i < 3 && node->kind != LAM__NODE_LOAD; i++)
        if (node->in[i] >= 0) made->laned = made->laned || nodes[node->in[i]].laned;
    if (node->kind == LAM__NODE_LOAD) made->laned = node->as.load.step != 0;
    if (node->kind == LAM__NODE_LINE) made->laned = true;
    made->weight = weight_of(g, made);
    *at = (lam__graph_slot){(int32_t)g->count, hash};
    return (int32_t)g->count++;
}

/* Bits that the dtype does not have are 0, or one number would be several nodes. */
int32_t lam__graph_constant(lam__graph *g, lam_dtype dtype, uint64_t bits) {
    lam__node n = {.kind = LAM__NODE_CONSTANT, .dtype = (uint8_t)dtype, .in = {-1, -1, -1}, .as.bits = bits};
    return lam__graph_node(g, &n);
}

/* The bits of a number in a dtype lie where an element of it begins. */
int32_t lam__graph_number(lam__graph *g, lam_dtype dtype, double value) {
    uint64_t bits = 0;
    int64_t none = 0;
    lam__kernels_copy(0, &none, dtype, &bits, &none, LAM_F64, &value, &none);
    return lam__graph_constant(g, dtype, bits);
}

int32_t lam__graph_load(lam__graph *g, lam_dtype dtype, int32_t data, int64_t base, int64_t step) {
    lam__node n = {.kind = LAM__NODE_LOAD, .dtype = (uint8_t)dtype, .in = {data, -1, -1}, .as.load = {base, step}};
    return lam__graph_node(g, &n);
}

/* Lines are compared byte by byte, which is why no byte of them may be undefined. */
int32_t lam__graph_line(lam__graph *g, lam_dtype dtype, const lam__lane_line *line) {
    lam__node n = {.kind = LAM__NODE_LINE, .dtype = (uint8_t)dtype, .in = {-1, -1, -1}, .as.params = line};
    n.params_bytes = sizeof *line;
    return lam__graph_node(g, &n);
}

/* Of a constant it is a constant; to its own dtype nothing. */
int32_t lam__graph_cast(lam__graph *g, lam_dtype dtype, int32_t x) {
    if (x < 0) return -1;
    const lam__node *of = &g->nodes[x];
    if (of->dtype == dtype) return x;
    /* By the kernel, whose rounding and limits are then those of a run. */
    if (of->kind == LAM__NODE_CONSTANT) {
        uint64_t bits = 0, from = of->as.bits;
        int64_t none = 0;
        lam__kernels_copy(0, &none, dtype, &bits, &none, (lam_dtype)of->dtype, &from, &none);
        return lam__graph_constant(g, dtype, bits);
    }
    lam__node n = {.kind = LAM__NODE_CAST, .dtype = (uint8_t)dtype, .of = of->dtype, .in = {x, -1, -1}};
    return lam__graph_node(g, &n);
}

/* Sine and cosine of one operand are two nodes, which the run makes together; of a constant neither is left. */
int32_t lam__graph_wave(lam__graph *g, lam__node_kind kind, int32_t x) {
    if (x < 0) return -1;
    const lam__node *of = &g->nodes[x];
    if (of->kind == LAM__NODE_CONSTANT) {
        uint64_t sine = 0, cosine = 0, from = of->as.bits;
        lam__kernels_sincos((lam_dtype)of->dtype, 1, &from, &sine, &cosine);
        return lam__graph_constant(g, (lam_dtype)of->dtype, kind == LAM__NODE_SINE ? sine : cosine);
    }
    lam__node n = {.kind = (uint8_t)kind, .dtype = of->dtype, .of = of->dtype, .in = {x, -1, -1}};
    return lam__graph_node(g, &n);
}
