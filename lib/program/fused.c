/* Fused parts: registers are given out along the graph, a block of lanes at a time. See fused.h.
 *
 * NOTE [blocks]
 * A block is few groups of lanes, so that the registers lie in the first cache or the second, or many, so that finding
 * out what to do next is shared: as many as cost the least. Blocks do not depend on each other: a team shares them,
 * each worker with registers of its own. */
#include "lib/program/fused.h"

#include "lib/tensor/dtype.h"

#include <string.h>

/* Bytes of the caches that registers may lie in; groups of a block at most; sizes of elements: 8, 4 and 1 byte. */
enum { NONE = -1, CACHE = 32 << 10, SECOND_CACHE = 1 << 20, MOST_GROUPS = 32, SIZES = 3 };

/* A step whose loop has the parameters of this node. */
typedef struct noted {
    bool before;
    int64_t step;
    const lam__node *node;
} noted;

/* All that is known while steps are made. at: offset of a node's register, NONE: it has none now. */
typedef struct maker {
    const lam__region *r;
    const lam__node *nodes;
    lam__arena arena;
    lam__fused *f;
    const lam__target *targets;
    int64_t target_count;
    int64_t *at;
    int32_t *first_target, *next_target, *twin;
    lam__fused_order order;
    uint8_t ends; /* of the node that is being made: see lam__fused_order */
    bool single;  /* one lane: no vectors, no steps before */
    size_t unit;  /* bytes of a register that is the same in all lanes */
    size_t same;  /* bytes of these */
    int64_t used; /* registers of blocks in all */
    int64_t *idle[SIZES], idle_count[SIZES], idle_room[SIZES];
    lam__lane_step *steps[2];
    int64_t counts[2], rooms[2];
    noted *noted;
    int64_t noted_count, noted_room;
    size_t params_bytes;
    bool lacking; /* memory: what has been made so far is thrown away */
} maker;

/* Elements with gaps are moved one by one. So are those that go backwards, but calls take as much longer for these:
 * where they are charged, parts are left for calls of twice the time. */
static float move_cost(int64_t step) {
    return step > 1 ? 0.5F : 0;
}

/* ---- what is needed ---------------------------------------------------------------------------------------------- */

/* The other one of sine and cosine, where both are needed: they are made by one step, when the first of them is. wave:
 * room, in which an operand leads to the wave that was met first. */
static void find_twins(maker *m, int64_t count, int32_t *wave) {
    for (int64_t i = 0; i < count; i++) wave[i] = m->twin[i] = NONE;
    for (int64_t i = 0; i < count; i++) {
        const lam__node *n = &m->nodes[i];
        if (!m->order.live[i] || (n->kind != LAM__NODE_SINE && n->kind != LAM__NODE_COSINE)) continue;
        int32_t other = wave[n->in[0]];
        if (other == NONE) wave[n->in[0]] = (int32_t)i;
        else {
            m->twin[i] = other;
            m->twin[other] = (int32_t)i;
        }
    }
}

/* Targets by node. */
static void chain_targets(maker *m, int64_t count) {
    for (int64_t i = 0; i < count; i++) m->first_target[i] = NONE;
    for (int64_t i = m->target_count - 1; i >= 0; i--) {
        m->next_target[i] = m->first_target[m->targets[i].node];
        m->first_target[m->targets[i].node] = (int32_t)i;
    }
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

/* Offsets of block registers are numbers until their size is known (finish): marked by BLOCK. Registers that are the
 * same lie far below that. */
#define BLOCK ((int64_t)1 << 40)

/* Constants, and what is made of such alone, are done once before the blocks. */
static bool is_same(const maker *m, int32_t node) {
    return !m->nodes[node].laned;
}

/* Registers serve elements of one size only, so that what lies in one for a group of lanes lies there apart from other
 * groups. */
static int size_class(const maker *m, int32_t node) {
    const size_t item = lam__dtype_bytes(m->nodes[node].dtype);
    return item == 8 ? 0 : item == 4 ? 1 : 2;
}

/* What is the same in all lanes keeps its register; in one lane nothing is, but constants. Taken last first: what was
 * given up a moment ago is most likely in the first cache. */
static void give_register(maker *m, int32_t node) {
    const int size = size_class(m, node);
    if (is_same(m, node) && !m->single) {
        m->at[node] = (int64_t)m->same;
        m->same += m->unit;
    } else if (m->idle_count[size]) {
        m->at[node] = m->idle[size][--m->idle_count[size]];
    } else {
        m->at[node] = BLOCK + m->used++;
    }
}

/* Of blocks alone: what is the same in all lanes is read in every block. */
static void take_back(maker *m, int32_t node) {
    if (m->at[node] < BLOCK) return;
    const int size = size_class(m, node);
    int64_t *idle = lam__arena_grow(&m->arena, m->idle[size], m->idle_count[size], &m->idle_room[size], sizeof *idle);
    m->lacking = m->lacking || !idle;
    if (!idle) return;
    m->idle[size] = idle;
    idle[m->idle_count[size]++] = m->at[node];
    m->at[node] = NONE;
}

/* Of operands that this node is the last to read. */
static void release_operands(maker *m, int32_t node) {
    const lam__node *n = &m->nodes[node];
    for (int k = 0; k < 3 && n->in[k] >= 0; k++)
        if (m->ends >> k & 1u) take_back(m, n->in[k]);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* A new step, all 0, behind the others; before: among those that are done once, in front of all lanes. NULL, which is
 * noted, without memory. */
static lam__lane_step *add_step(maker *m, bool before) {
    lam__lane_step *steps =
        lam__arena_grow(&m->arena, m->steps[before], m->counts[before], &m->rooms[before], sizeof *steps);
    m->lacking = m->lacking || !steps;
    if (!steps) return NULL;
    m->steps[before] = steps;
    lam__lane_step *s = &steps[m->counts[before]++];
    *s = (lam__lane_step){0};
    return s;
}

/* Registers of steps are numbered in 32 bits, block registers from the top down until finish. */
static uint32_t reference(const maker *m, int32_t node) {
    const int64_t at = m->at[node];
    return at >= BLOCK ? UINT32_MAX - (uint32_t)(at - BLOCK) : (uint32_t)at;
}

/* What goes to one element, from a part of many lanes, is stored before the blocks, or each would store it. What is
 * read from memory again is stored the first time. */
static void store_targets(maker *m, int32_t node) {
    int32_t t = m->first_target[node];
    for (m->first_target[node] = NONE; t != NONE; t = m->next_target[t]) {
        const lam__target *to = &m->targets[t];
        lam__lane_step *s = add_step(m, !m->single && !to->step);
        if (!s) return;
        s->op = LAM__LANE_STORE;
        s->item[0] = (uint8_t)lam__dtype_bytes(m->nodes[node].dtype);
        s->at[0] = (uint32_t)to->data;
        s->at[1] = reference(m, node);
        s->same = is_same(m, node) ? 2 : 0;
        s->cost = move_cost(to->step);
        s->as.move.base = to->base;
        s->as.move.step = to->step;
        s->as.move.end = to->lanes;
    }
}

/* Parameters lie in the arena of the region; the step that was made last gets a copy when all of them are known. */
static void note_params(maker *m, bool before, const lam__node *n) {
    noted *list = lam__arena_grow(&m->arena, m->noted, m->noted_count, &m->noted_room, sizeof *list);
    m->lacking = m->lacking || !list;
    if (!list) return;
    m->noted = list;
    list[m->noted_count++] = (noted){before, m->counts[before] - 1, n};
    m->params_bytes += (n->params_bytes + 15u) / 16 * 16;
}

/* In the place of an operand only where elements are of one size; then each is read before it is written. What a loop
 * may do with its memory is its own matter. A choice has results of its branches' size, but reads a bool beside
 * them. */
static bool may_replace(const lam__node *n, lam__lane_op op) {
    return op >= LAM__LANE_AND && n->dtype == n->of && n->loop != LAM__LOOP_where;
}

/* Registers of operands are given back before the result gets its own where the step may write over them, behind it
 * where it may not. */
static void make_loop(maker *m, int32_t node, lam__loop *loop, lam__lane_op op) {
    const lam__node *n = &m->nodes[node];
    const bool same = is_same(m, node), replace = may_replace(n, op);
    lam__lane_step *s = add_step(m, same && !m->single);
    if (!s) return;
    s->op = (uint16_t)op;
    s->same = same;
    for (int k = 0; k < 3 && n->in[k] >= 0; k++, s->inputs++) {
        s->at[1 + k] = reference(m, n->in[k]);
        s->same |= (uint8_t)(is_same(m, n->in[k]) << (1 + k));
    }
    if (replace) release_operands(m, node);
    give_register(m, node);
    s->at[0] = reference(m, node);
    s->as.call.loop = loop;
    s->item[0] = (uint8_t)lam__dtype_bytes(n->dtype);
    for (int k = 0; k < s->inputs; k++) s->item[1 + k] = (uint8_t)lam__dtype_bytes(m->nodes[n->in[k]].dtype);
    s->cost = (float)(n->kind == LAM__NODE_CAST ? 0.2 : lam__fused_lane_cost((lam__loop_id)n->loop, op));
    if (!replace) release_operands(m, node);
    if (n->params_bytes) note_params(m, same && !m->single, n);
}

/* A load reads no register, so none is given back. */
static void make_load(maker *m, int32_t node) {
    const lam__node *n = &m->nodes[node];
    lam__lane_step *s = add_step(m, is_same(m, node) && !m->single);
    if (!s) return;
    give_register(m, node);
    s->op = LAM__LANE_LOAD;
    s->same = is_same(m, node);
    s->item[0] = (uint8_t)lam__dtype_bytes(n->dtype);
    s->at[0] = reference(m, node);
    s->at[1] = (uint32_t)n->in[0];
    s->cost = move_cost(n->as.load.step);
    s->as.move.base = n->as.load.base;
    s->as.move.step = n->as.load.step;
}

/* The same of runs, which are its parameters. Lines differ between lanes in any case, so there is none among the steps
 * before. */
static void make_line(maker *m, int32_t node) {
    const lam__node *n = &m->nodes[node];
    lam__lane_step *s = add_step(m, false);
    if (!s) return;
    give_register(m, node);
    s->op = LAM__LANE_LINE;
    s->item[0] = (uint8_t)lam__dtype_bytes(n->dtype);
    s->at[0] = reference(m, node);
    note_params(m, false, n);
}

/* Both waves; the one that nobody needs has a register for this step alone. The operand is given up behind both, since
 * the kernel reads it while it writes them. */
static void make_waves(maker *m, int32_t node) {
    const lam__node *n = &m->nodes[node];
    const int32_t twin = m->twin[node];
    lam__lane_step *s = add_step(m, is_same(m, node) && !m->single);
    if (!s) return;
    s->op = LAM__LANE_SINCOS;
    s->same = is_same(m, node) ? 7 : 0;
    s->at[2] = reference(m, n->in[0]);
    s->as.dtype = (lam_dtype)n->dtype;
    s->item[0] = (uint8_t)lam__dtype_bytes(n->dtype);
    s->cost = 2.5F;
    const int own = n->kind == LAM__NODE_COSINE;
    give_register(m, node);
    s->at[own] = reference(m, node);
    const int64_t kept = m->at[node];
    if (twin != NONE) {
        give_register(m, twin);
        s->at[1 - own] = reference(m, twin);
    } else {
        give_register(m, node);
        s->at[1 - own] = reference(m, node);
        take_back(m, node);
        m->at[node] = kept;
    }
    release_operands(m, node);
}

/* One node. Its operands have been made before. */
static void make_node(maker *m, int32_t node) {
    const lam__node *n = &m->nodes[node];
    const bool made = m->at[node] != NONE; /* a wave, with its twin */
    if (n->kind == LAM__NODE_LOAD) make_load(m, node);
    else if (n->kind == LAM__NODE_LINE) make_line(m, node);
    else if (n->kind == LAM__NODE_LOOP)
        make_loop(m, node, lam__kernels_loop((lam__loop_id)n->loop, (lam_dtype)n->of),
                  lam__kernels_lane_op((lam__loop_id)n->loop, (lam_dtype)n->of));
    else if (n->kind == LAM__NODE_CAST)
        make_loop(m, node, lam__kernels_lane_convert((lam_dtype)n->dtype, (lam_dtype)n->of), LAM__LANE_LOOP);
    else if (n->kind == LAM__NODE_SINE || n->kind == LAM__NODE_COSINE) {
        if (made) release_operands(m, node);
        else make_waves(m, node);
    }
    if (m->lacking) return;
    store_targets(m, node);
    if (m->ends & LAM__ENDS_ITSELF) take_back(m, node); /* only stored */
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Constants come first, so that whoever has memory of his own begins with them. */
static void place_constants(maker *m, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (m->order.live[i] && m->nodes[i].kind == LAM__NODE_CONSTANT) {
            m->at[i] = (int64_t)m->same;
            m->same += m->unit;
        }
}

/* In the first worker's registers: the others copy all that is the same from there when they run (fused_run.c). */
static void write_constants(const maker *m, int64_t count, char *memory) {
    for (int64_t i = 0; i < count; i++) {
        const lam__node *n = &m->nodes[i];
        if (!m->order.live[i] || n->kind != LAM__NODE_CONSTANT) continue;
        const size_t item = lam__dtype_bytes(n->dtype);
        for (int k = 0; k < (m->single ? 1 : LAM__LANE_GROUP); k++)
            memcpy(memory + m->at[i] + (size_t)k * item, &n->as.bits, item);
    }
}

/* For what lies between two calls machine code is something else; calls stay what they are (`called` in fused.h). */
static bool calls(const lam__lane_step *s) {
    return s->op == LAM__LANE_LOOP || s->op == LAM__LANE_SINCOS;
}

/* Nanoseconds of a step, roughly: to find out what to do, and for each group of lanes, by how much memory the registers
 * take; no groups: of a single lane. Loops are called, and take as long as they do, for one lane as for a vector. Costs
 * of steps are those of a lane, of which a group has eight. */
static double step_cost(const lam__lane_step *s, double groups, double bytes) {
    const double next = 3, loop = 8, runs = 15, first = 0.6, second = 0.9, beyond = 2.5;
    const double reach = first + (bytes > CACHE ? second : 0) + (bytes > SECOND_CACHE ? beyond : 0);
    const bool moves = s->op == LAM__LANE_LOAD || s->op == LAM__LANE_STORE, line = s->op == LAM__LANE_LINE;
    const double lanes = groups > 0 ? groups * (reach + s->cost * 8) : calls(s) ? s->cost * 8 : 0;
    return next + (moves ? 2 : line ? runs : calls(s) ? loop : 0) + lanes;
}

/* Nanoseconds of these steps, one after the other, for one block; or of those that call loops alone. */
static double cost_of(const lam__lane_step *steps, int64_t count, double groups, double bytes, bool called) {
    double cost = 0;
    for (int64_t i = 0; i < count; i++)
        if (!called || calls(&steps[i])) cost += step_cost(&steps[i], groups, bytes);
    return cost;
}

/* All blocks, if they have so many groups. */
static double blocks_cost(const maker *m, int64_t groups, bool called) {
    const double bytes = (double)(m->used * LAM__LANE_BYTES * groups), block = (double)(groups * LAM__LANE_GROUP);
    return (double)m->r->lanes / block * cost_of(m->steps[0], m->counts[0], (double)groups, bytes, called);
}

/* Of all lanes, in the blocks that were chosen. */
static double steps_cost(const maker *m, bool called) {
    return m->single ? cost_of(m->steps[0], m->counts[0], 0, 0, called) : blocks_cost(m, m->f->groups, called);
}

/* NOTE [blocks]. Where a block goes along rows of memory it has as much of each as there are registers for, and each
 * worker one. */
static int64_t groups_of(const maker *m) {
    enum { LEAST_ROW = 4, MOST_ROW = 512 };
    const int64_t all = (m->r->lanes + LAM__LANE_GROUP - 1) / LAM__LANE_GROUP;
    int64_t best = 1, least = 1;
    for (int64_t groups = 2; groups <= MOST_GROUPS && groups < 2 * all; groups *= 2)
        if (blocks_cost(m, groups, false) < blocks_cost(m, best, false)) best = groups;
    if (m->order.by_targets) {
        const int64_t room = CACHE / LAM__LANE_BYTES / (m->used + 1);
        best = room > MOST_ROW ? MOST_ROW : room > best ? room : best;
        least = all / LEAST_ROW < m->f->workers ? 1 : m->f->workers;
    }
    int64_t blocks = (all + best - 1) / best;
    if (blocks < least) blocks = least;
    return (all + blocks - 1) / blocks; /* of equal size */
}

/* Numbers from the top down are registers of blocks: they lie behind those that are the same, and all have the size
 * `each`. What else lies in at[], a number of data, is small. */
static void place_steps(const maker *m, lam__lane_step *steps, int64_t count, size_t each) {
    for (int64_t i = 0; i < count; i++) {
        lam__lane_step *s = &steps[i];
        for (int k = 0; k < 4; k++)
            if (s->at[k] > UINT32_MAX / 2) s->at[k] = (uint32_t)(m->same + (UINT32_MAX - s->at[k]) * each);
    }
}

/* What is not there yet is NULL, so a part can be freed wherever making it stopped. */
static lam__fused *give_up(lam__fused *f) {
    lam__fused_free(f);
    return NULL;
}

/* In one block, each at a multiple of 16, which is enough for any parameter. */
static bool keep_params(const maker *m) {
    lam__fused *f = m->f;
    char *own = m->noted_count ? lam__alloc_get(&f->ctx->pool, m->params_bytes) : NULL;
    f->params = own;
    f->params_bytes = m->params_bytes;
    for (int64_t i = 0; own && i < m->noted_count; i++) {
        const noted *of = &m->noted[i];
        memcpy(own, of->node->as.params, of->node->params_bytes);
        (of->before ? f->before : f->steps)[of->step].as.call.params = own;
        own += (of->node->params_bytes + 15u) / 16 * 16;
    }
    return own || !m->noted_count;
}

/* Copies what the arena holds into blocks of the fused part's own. Offsets have to stay below those numbers; a part
 * that has more registers is not made. All registers are set to 0, so that lanes which nobody reads hold numbers from
 * the first block on. */
static lam__fused *finish(maker *m, int64_t count) {
    lam__fused *f = m->f;
    lam__pool *pool = &f->ctx->pool;
    f->groups = m->single ? 0 : (int)groups_of(m);
    f->by_rows = m->order.by_targets;
    const size_t each = m->single ? sizeof(double) : (size_t)f->groups * LAM__LANE_BYTES;
    m->same = (m->same + LAM__LANE_BYTES - 1) / LAM__LANE_BYTES * LAM__LANE_BYTES;
    f->same = m->same;
    f->each = ((size_t)m->used * each + LAM__LANE_BYTES - 1) / LAM__LANE_BYTES * LAM__LANE_BYTES;
    if (f->same + f->each > UINT32_MAX / 2) return give_up(f);
    for (int b = 0; b < 2; b++) {
        const size_t bytes = (size_t)m->counts[b] * sizeof(lam__lane_step);
        lam__lane_step *own = lam__alloc_get(&f->ctx->pool, bytes);
        if (!own) return give_up(f);
        if (bytes) memcpy(own, m->steps[b], bytes);
        place_steps(m, own, m->counts[b], each);
        *(b ? &f->before : &f->steps) = own;
        *(b ? &f->before_count : &f->step_count) = m->counts[b];
        *(b ? &f->before_bytes : &f->step_bytes) = bytes;
    }
    f->memory = lam__alloc_get(pool, (size_t)f->workers * (f->same + f->each));
    if (!f->memory || !keep_params(m)) return give_up(f);
    memset(f->memory, 0, (size_t)f->workers * (f->same + f->each));
    write_constants(m, count, f->memory);
    const double before = m->single ? 0 : cost_of(m->steps[1], m->counts[1], 1, 0, false);
    f->cost = before + steps_cost(m, false);
    f->called = before + steps_cost(m, true);
    return f;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* Room per node, in one arena that goes when the steps are made. */
static bool open_maker(maker *m, int64_t count) {
    const size_t n = (size_t)(count ? count : 1);
    int32_t *words = lam__arena_get(&m->arena, 3 * n * sizeof *words);
    m->at = lam__arena_get(&m->arena, n * sizeof *m->at);
    m->next_target = lam__arena_get(&m->arena, (size_t)(m->target_count ? m->target_count : 1) * sizeof(int32_t));
    if (!words || !m->at || !m->next_target) return false;
    m->first_target = words;
    m->twin = words + n;
    for (int64_t i = 0; i < count; i++) m->at[i] = NONE;
    if (!lam__fused_order_find(&m->order, m->r, &m->arena, m->targets, m->target_count)) return false;
    find_twins(m, count, words + 2 * n);
    chain_targets(m, count);
    return true;
}

/* NULL: it cannot be made. A single lane has registers of one number, and no worker shares it. */
lam__fused *lam__fused_new(const lam__region *r, const lam__target targets[], int64_t count) {
    lam__fused *f = lam__alloc_get(&r->ctx->pool, sizeof *f);
    if (!f) return NULL;
    *f = (lam__fused){.ctx = r->ctx, .lanes = r->lanes, .workers = lam__team_size(r->ctx->team)};
    maker m = {.r = r, .nodes = r->graph.nodes, .f = f, .targets = targets, .target_count = count};
    m.single = r->lanes == 1;
    m.unit = m.single ? sizeof(double) : LAM__LANE_BYTES;
    if (m.single) f->workers = 1;
    lam__arena_open(&m.arena, r->ctx);
    const int64_t nodes = r->graph.count;
    m.lacking = !open_maker(&m, nodes);
    if (!m.lacking) place_constants(&m, nodes);
    /* Constants are not in the order: those that are results are stored here. */
    for (int64_t i = 0; i < nodes && !m.lacking; i++)
        if (m.nodes[i].kind == LAM__NODE_CONSTANT) store_targets(&m, (int32_t)i);
    for (int64_t i = 0; i < m.order.count && !m.lacking; i++) {
        m.ends = m.order.ends[i];
        make_node(&m, m.order.nodes[i]);
    }
    f = m.lacking ? give_up(f) : finish(&m, nodes);
    lam__arena_close(&m.arena);
    return f;
}

void lam__fused_free(lam__fused *f) {
    if (!f) return;
    lam__pool *pool = &f->ctx->pool;
    lam__native_free(f->native);
    if (f->before) lam__alloc_put(pool, f->before, f->before_bytes);
    if (f->steps) lam__alloc_put(pool, f->steps, f->step_bytes);
    if (f->params) lam__alloc_put(pool, f->params, f->params_bytes);
    if (f->memory) lam__alloc_put(pool, f->memory, (size_t)f->workers * (f->same + f->each));
    lam__alloc_put(pool, f, sizeof *f);
}

void lam__fused_compile(lam__fused *f) {
    f->native = lam__native_new(f->ctx, f->steps, f->step_count, f->same + f->each, f->lanes);
}
