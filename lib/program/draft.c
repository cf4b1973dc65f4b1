/* Drafts: equations go to regions and calls. See draft.h. Costs are nanoseconds, as such calls and steps took when they
 * were measured; they decide what is compiled, and a wrong guess costs time. */
#include "lib/program/draft.h"

#include "lib/primitives/axes.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* Limits. A draft that would pass one gives up the equation or itself, and what is left is called: so compiling takes
 * bounded time and memory whatever a program is. Nodes are those of one region; operands those of an equation, which
 * lie in arrays in the frame; retries are rounds of `settle`. */
enum { MOST_NODES = 1 << 17, MOST_OPERANDS = 64, MOST_RETRIES = 16, MOST_STAGES = 256 };

/* What a draft may take while it is made. */
static const size_t MOST_BYTES = (size_t)1 << 28;

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* NULL for an operand that is left out. */
static const lam_value *operand_type(const lam__program *p, const lam__equation *e, int i) {
    return e->in[i].variable >= 0 ? p->types[e->in[i].variable] : e->in[i].constant;
}

double lam__draft_contraction_terms(const lam__program *p, const lam__equation *e) {
    const lam__pairing *pairing = e->params;
    double terms = 1;
    for (int i = pairing->batch; i < lam__contract_pairs(pairing); i++)
        terms *= (double)operand_type(p, e, 0)->dims[lam__contract_axes(pairing, 0)[i]];
    return terms;
}

/* Three numbers for the first cache, the second, and what lies beyond. */
double lam__draft_move_cost(double elements) {
    const double near = 0.06, second = 0.2, far = 0.4;
    enum { FIRST_CACHE = 1 << 12, SECOND_CACHE = 1 << 16 }; /* elements */
    return elements > SECOND_CACHE ? far : elements > FIRST_CACHE ? second : near;
}

/* Whether what is put among zeros is added by e: that is done where it goes (NOTE [parts in place]). */
static bool adds_part(const lam__program *p, const lam__equation *e) {
    if (e->primitive != &lam__row_add && e->primitive != &lam__row_sub) return false;
    for (int i = 0; i < 2; i++) {
        const lam__equation *made = e->in[i].variable < 0 ? NULL : lam__program_maker(p, e->in[i].variable);
        if (made && made->primitive == &lam__row_update_slice && lam__program_is_zeros(&made->in[0])) return true;
    }
    return false;
}

/* A call is some hundred nanoseconds, on addresses half of that, and a pass over its elements, of what only moves half
 * of one; a view is the call alone. Of few products machine code is as fast as a kernel, which then costs as much as
 * ever. */
double lam__draft_call_cost(const lam__program *p, const lam__equation *e) {
    const double call = p->in_loop ? 50 : 90, view = p->in_loop ? 20 : 50, moved = 117, passes = 450, product = 135;
    const double few = 216;
    double in = 0, out = 0;
    for (int i = 0; i < e->inputs; i++)
        if (operand_type(p, e, i) && !lam__program_is_zeros(&e->in[i])) in += (double)operand_type(p, e, i)->count;
    for (int o = 0; o < e->outputs; o++)
        if (p->types[e->first + o]) out += (double)p->types[e->first + o]->count;
    const double move = lam__draft_move_cost(in + out);
    if (e->primitive->view && !e->primitive->eval) return view;
    if (adds_part(p, e)) return call;
    if (e->primitive == &lam__row_update_slice || e->primitive == &lam__row_concatenate)
        return moved + 0.5 * (in + out) * move;
    if (e->primitive->elementwise && e->primitive->loop)
        return call + out * (move + lam__fused_loop_cost((lam__loop_id)(e->primitive->loop - 1)));
    if (e->primitive == &lam__row_sincos) return call + (move + 2) * out;
    if (e->primitive == &lam__row_dot_general) {
        const double terms = lam__draft_contraction_terms(p, e);
        const bool is_code = p->native && out * terms <= few;
        return (is_code ? product : 1.5 * call) + out * (move + 0.06 * terms);
    }
    if (e->primitive == &lam__row_logsumexp) /* passes over its elements, one of them exponentials */
        return passes + in * (lam__fused_loop_cost(LAM__LOOP_exp_gap) + 4 * move);
    return 1.3 * call + (in + out) * move;
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* The region of a stage, which is opened when it is first asked for. */
static lam__region *region_at(lam__draft *d, int64_t stage) {
    while (d->stages <= stage) {
        lam__region **regions = lam__arena_grow(&d->arena, d->regions, d->stages, &d->stage_room, sizeof *regions);
        if (!regions) return NULL;
        d->regions = regions;
        regions[d->stages++] = NULL;
    }
    if (d->regions[stage]) return d->regions[stage];
    lam__region *r = lam__arena_get(&d->arena, sizeof *r);
    if (!r) return NULL;
    lam__region_open(r, d->program->ctx, &d->arena, d->lanes.count, MOST_NODES);
    r->last = d->lanes.last;
    r->shorter = d->lanes.shorter;
    r->graph.spelled = d->lanes.native;
    return d->regions[stage] = r;
}

/* The first stage whose region may have the equation, and the first whose calls may. Calls of a stage run before its
 * region: what a region makes is there for that region itself and for the calls of the next stage, what a call makes
 * for the region and the calls of its own. What is mixed is there as a whole, for the next region. */
static void stages_of(const lam__draft *d, const lam__equation *e, int32_t *region, int32_t *call) {
    *region = *call = 0;
    for (int i = 0; i < e->inputs; i++) {
        if (e->in[i].variable < 0) continue;
        const lam__draft_variable *v = &d->variables[e->in[i].variable];
        const int32_t first = v->stage + (v->in_region && v->piece->mixed);
        if (first > *region) *region = first;
        if (v->stage + v->in_region > *call) *call = v->stage + v->in_region;
    }
}

static lam__piece *operand_in(lam__draft *d, lam__region *r, int32_t stage, const lam__atom *a, int depth);

/* What a region takes of an equation, in pieces. */
static bool pieces_in(lam__draft *d, lam__region *r, int32_t stage, const lam__equation *e, lam__piece *out[],
                      int depth) {
    lam__piece *in[MOST_OPERANDS];
    for (int i = 0; i < e->inputs; i++)
        if (!(in[i] = operand_in(d, r, stage, &e->in[i], depth))) return false;
    return lam__lower(r, e, in, d->program->types + e->first, out);
}

/* Whether an equation makes one tensor of another one and numbers, in one step for each element. */
static bool is_one_step(const lam__program *p, const lam__equation *e) {
    const lam__loop_id id = e->primitive->loop ? (lam__loop_id)(e->primitive->loop - 1) : 0;
    int tensors = 0;
    if (!e->primitive->elementwise || !e->primitive->loop || !p->types[e->first]) return false;
    const lam__lane_op op = lam__kernels_lane_op(id, (lam_dtype)p->types[e->first]->dtype);
    for (int i = 0; i < e->inputs; i++) tensors += e->in[i].variable >= 0 && operand_type(p, e, i)->count > 1;
    return tensors == 1 && op > LAM__LANE_ARITHMETIC && lam__fused_lane_cost(id, op) == 0;
}

/* Whether a variable is what an earlier region has moved about and computed little of, so that this one may read what
 * was there before. */
static bool is_moved(const lam__draft *d, const lam__draft_variable *v, int32_t stage, int64_t variable) {
    if (!d->lanes.shorter || !v->in_region || v->stage >= stage || v->piece->mixed) return false;
    const lam__equation *e = lam__program_maker(d->program, variable);
    return lam__lower_is_move(e->primitive) || is_one_step(d->program, e);
}

/* Whether some element of a piece takes more than a few steps to make. Nodes that are not known yet are those of data
 * or codes, which take no steps. */
static bool is_heavy(const lam__region *r, const lam__piece *x) {
    const int64_t count = x->nodes ? lam__region_count(x->type, x->first, x->last) : 0;
    for (int64_t k = 0; k < count; k++)
        if (r->graph.nodes[x->nodes[k]].weight > LAM__GRAPH_FEW) return true;
    return false;
}

/* It is made once more, in this region. NULL: it has to be read. */
static lam__piece *moved_again(lam__draft *d, lam__region *r, int32_t stage, int64_t variable, int depth) {
    enum { MOST_MOVES = 32 };
    const lam__equation *e = lam__program_maker(d->program, variable);
    lam__piece *out[MOST_OPERANDS] = {NULL};
    if (depth >= MOST_MOVES || e->inputs > MOST_OPERANDS || e->outputs > MOST_OPERANDS) return NULL;
    if (!pieces_in(d, r, stage, e, out, depth + 1)) return NULL;
    lam__piece *x = out[variable - e->first];
    return is_heavy(r, x) ? NULL : x;
}

/* What a region takes from outside is a source of that region, made once for it, and needed as a value: seen_in says
 * for which it was made last. */
static lam__piece *operand_in(lam__draft *d, lam__region *r, int32_t stage, const lam__atom *a, int depth) {
    if (a->variable < 0) return a->constant ? lam__region_source(r, -1, a->constant, a->constant) : NULL;
    lam__draft_variable *v = &d->variables[a->variable];
    if (v->in_region && v->stage == stage) return v->piece;
    const int odd = stage % 2;
    if (v->outside[odd] && v->seen_in[odd] == stage) return v->outside[odd];
    lam__piece *x = is_moved(d, v, stage, a->variable) ? moved_again(d, r, stage, a->variable, depth) : NULL;
    if (!x) {
        x = lam__region_source(r, a->variable, NULL, d->program->types[a->variable]);
        v->needed = true;
    }
    v->outside[odd] = x;
    v->seen_in[odd] = stage;
    return x;
}

/* Whether what an equation moves about is read at several places and takes more than a few steps to make: each row and
 * each shift of lanes would make it again, or keep it for the next ones. It is written, and read where it is wanted.
 * Only where shorter axes share lanes: elsewhere a row has no neighbours that would make it again. */
static bool waits(const lam__draft *d, int32_t stage, const lam__equation *e) {
    if (!d->lanes.shorter || !lam__lower_is_move(e->primitive)) return false;
    for (int i = 0; i < e->inputs; i++) {
        if (e->in[i].variable < 0) continue;
        const lam__draft_variable *v = &d->variables[e->in[i].variable];
        if (v->in_region && v->stage == stage && v->shared && is_heavy(d->regions[stage], v->piece)) return true;
    }
    return false;
}

/* Tries to lower an equation in the region of a stage. What runs functions of users is always called. Where lowering
 * gives up half way, its nodes stay in the graph; no target leads to them, so no step comes of them. A residual is for
 * the way back by a rule, so such an equation has one and stays whole. */
static bool lower_at(lam__draft *d, int32_t stage, const lam__equation *e) {
    lam__region *r =
        e->inputs && e->inputs <= MOST_OPERANDS && e->outputs <= MOST_OPERANDS ? region_at(d, stage) : NULL;
    lam__piece *out[MOST_OPERANDS] = {NULL};
    if (!r || e->residual || e->primitive->call || waits(d, stage, e) || !pieces_in(d, r, stage, e, out, 0))
        return false;
    for (int o = 0; o < e->outputs; o++) {
        lam__draft_variable *v = &d->variables[e->first + o];
        v->piece = out[o];
        v->stage = stage;
        v->in_region = true;
    }
    return true;
}

/* As a value: the region has to write it, or the call that makes it anyway does. */
static void need(lam__draft *d, const lam__atom *a) {
    if (a->variable >= 0) d->variables[a->variable].needed = true;
}

/* In the order of the program, so that the stages of all operands are known. */
static void place_equation(lam__draft *d, int64_t k) {
    const lam__equation *e = d->program->list[k];
    lam__draft_equation *at = &d->equations[k];
    int32_t region, call;
    stages_of(d, e, &region, &call);
    at->fused = false;
    for (int i = 0; i <= d->lanes.shorter && !at->forced && !at->fused && region + i < MOST_STAGES; i++) {
        at->stage = region + i;
        at->fused = lower_at(d, at->stage, e);
    }
    if (at->fused) return;
    at->stage = call;
    for (int i = 0; i < e->inputs; i++) need(d, &e->in[i]);
    for (int o = 0; o < e->outputs; o++) {
        d->variables[e->first + o].stage = call;
        d->variables[e->first + o].in_region = false;
    }
}

/* ---- what regions give ------------------------------------------------------------------------------------------- */

static bool add_target(lam__draft *d, int64_t stage, lam__target target, int64_t *room) {
    lam__target *list = lam__arena_grow(&d->arena, d->targets[stage], d->target_counts[stage], room, sizeof *list);
    if (!list) return false;
    d->targets[stage] = list;
    list[d->target_counts[stage]++] = target;
    return true;
}

/* Notes that a target writes its elements, none of which is written yet. */
static bool note_written(const lam__region *r, const lam__target *target, bool *written) {
    const int64_t lanes = target->step ? r->lanes : 1;
    for (int64_t l = 0; l < lanes; l++) {
        bool *at = &written[target->base + l * target->step];
        if (*at) return false;
        *at = true;
    }
    return true;
}

/* What has no axes of lanes though there are lanes in it: these go where they are, and what lies between them, which
 * may not be much, is written element by element. Lanes that are there twice may be found in each other's places: each
 * element must be written once. */
static bool add_mixed(lam__draft *d, int64_t stage, const lam__piece *x, int32_t data, int64_t *room) {
    enum { MOST_BETWEEN = 64 };
    lam__region *r = d->regions[stage];
    const int64_t count = x->type->count;
    int64_t between = 0, left = count;
    bool *written = lam__arena_get(&d->arena, (size_t)count);
    if (!written) return false;
    memset(written, 0, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        lam__target target = {.data = data, .base = i, .lanes = r->lanes};
        if (!lam__region_code_at(r, x, i, &target.node, &target.step)) return false;
        if (target.node < 0) continue;
        if (!note_written(r, &target, written)) return false;
        left -= target.step ? r->lanes : 1;
        between += !target.step;
        if (between > MOST_BETWEEN || !add_target(d, stage, target, room)) return false;
    }
    return left == 0;
}

/* Where the nodes of a variable go: `data` counts what the region gives. False: it cannot be written so. Nodes are
 * numbered as if the lane axes were not there; in memory what is in front of these goes on by all that is inside and
 * behind them, and a lane lies `behind` elements from the next. */
static bool add_targets(lam__draft *d, int64_t stage, lam__draft_variable *v, int32_t data, int64_t *room) {
    int first, last;
    lam__region *r = d->regions[stage];
    const int32_t *nodes = lam__region_seen(r, v->piece, &first, &last);
    if (!nodes) return v->piece->mixed && add_mixed(d, stage, v->piece, data, room);
    if (first == last && !lam__region_may_be_same(r, v->piece->type->count)) return false;
    const lam_value *type = v->piece->type;
    const int64_t before = lam__axes_product(type->dims, 0, first == last ? type->rank : first),
                  behind = first == last ? 1 : lam__axes_product(type->dims, last, type->rank),
                  inside = first == last ? 1 : lam__axes_product(type->dims, first, last);
    for (int64_t i = 0; i < before * behind; i++) {
        const int64_t base = i / behind * inside * behind + i % behind;
        const int64_t step = first == last ? 0 : behind;
        if (!add_target(d, stage, (lam__target){nodes[i], data, base, step, inside}, room)) return false;
    }
    return true;
}

/* Targets of all regions, and what their equations take as calls. An equation whose result cannot be written is forced
 * to be a call, and *again says so. The data of a part are numbered as lam__fused_run takes them: sources first, then
 * variables in the order of their equations. */
static bool list_targets(lam__draft *d, bool *again) {
    const lam__program *p = d->program;
    const size_t n = (size_t)(d->stages ? d->stages : 1);
    int64_t *room = lam__arena_get(&d->arena, n * sizeof *room);
    int32_t *data = lam__arena_get(&d->arena, n * sizeof *data);
    d->targets = lam__arena_get(&d->arena, n * sizeof *d->targets);
    d->target_counts = lam__arena_get(&d->arena, n * sizeof *d->target_counts);
    d->eager = lam__arena_get(&d->arena, n * sizeof *d->eager);
    if (!room || !data || !d->targets || !d->target_counts || !d->eager) return false;
    for (int64_t s = 0; s < d->stages; s++) {
        room[s] = d->target_counts[s] = 0;
        d->targets[s] = NULL;
        d->eager[s] = 0;
        data[s] = d->regions[s] ? (int32_t)d->regions[s]->source_count : 0;
    }
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        lam__draft_equation *at = &d->equations[k];
        if (!at->fused) continue;
        d->eager[at->stage] += lam__draft_call_cost(p, e);
        at->target = d->target_counts[at->stage];
        for (int o = 0; o < e->outputs; o++) {
            lam__draft_variable *v = &d->variables[e->first + o];
            if (v->needed && !add_targets(d, at->stage, v, data[at->stage]++, &room[at->stage]))
                *again = at->forced = true;
        }
        at->targets = d->target_counts[at->stage] - at->target;
    }
    return !d->arena.lacking;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

static void note_use(lam__draft *d, const lam__atom *a) {
    if (a->variable < 0) return;
    lam__draft_variable *v = &d->variables[a->variable];
    v->shared = v->shared || v->needed;
    v->needed = true;
}

/* `needed` is what says that one was seen, until all have been. Only whether a variable is read more than once is
 * wanted of this walk. */
static void find_shared(lam__draft *d) {
    const lam__program *p = d->program;
    for (int64_t k = 0; k < p->equations; k++)
        for (int i = 0; i < p->list[k]->inputs; i++) note_use(d, &p->list[k]->in[i]);
    for (int o = 0; o < p->outputs; o++) note_use(d, &p->results[o]);
    for (int64_t v = 0; v < p->variables; v++) d->variables[v].needed = false;
}

/* From the beginning: what an equation that is forced had given its region may have decided where others went. */
static bool try_draft(lam__draft *d, bool *again) {
    const lam__program *p = d->program;
    memset(d->variables, 0, (size_t)p->variables * sizeof *d->variables);
    find_shared(d);
    d->regions = NULL;
    d->stages = d->stage_room = 0;
    for (int64_t k = 0; k < p->equations; k++) {
        place_equation(d, k);
        if (d->arena.lacking) return false;
    }
    for (int o = 0; o < p->outputs; o++) need(d, &p->results[o]);
    return list_targets(d, again);
}

/* Its arena may have MOST_BYTES, behind which everything that asks it for memory gives up, and the draft with it. */
static bool open_draft(lam__draft *d, const lam__program *p, lam__draft_lanes lanes) {
    *d = (lam__draft){.program = p, .lanes = lanes};
    lam__arena_open(&d->arena, p->ctx);
    d->arena.most = MOST_BYTES;
    d->equations = lam__arena_get(&d->arena, (size_t)(p->equations + 1) * sizeof *d->equations);
    d->variables = lam__arena_get(&d->arena, (size_t)(p->variables + 1) * sizeof *d->variables);
    if (!d->equations || !d->variables) return false;
    memset(d->equations, 0, (size_t)(p->equations + 1) * sizeof *d->equations);
    return true;
}

/* Each round forces at least one equation more, so it ends; programs that take many rounds are better left to calls.
 * False too where the rounds did not suffice; the draft is not used then. */
static bool settle(lam__draft *d) {
    bool again = true;
    for (int i = 0; again && i < MOST_RETRIES; i++) {
        again = false;
        if (!try_draft(d, &again)) return false;
    }
    return !again;
}

bool lam__draft_make(lam__draft *d, const lam__program *p, lam__draft_lanes lanes) {
    return open_draft(d, p, lanes) && settle(d);
}

/* In memory of its own, since what a draft may take has been taken in part. */
bool lam__draft_again(lam__draft *d) {
    lam__draft before = *d;
    const bool opened = open_draft(d, before.program, before.lanes);
    for (int64_t k = 0; opened && k < d->program->equations; k++) d->equations[k].forced = before.equations[k].forced;
    lam__draft_close(&before);
    return opened && settle(d);
}

void lam__draft_close(lam__draft *d) {
    lam__arena_close(&d->arena);
}
