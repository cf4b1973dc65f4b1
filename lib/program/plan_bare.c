/* Plans on addresses: of operands and of results, as loops and ways back run their trips. Between the first trip and
 * the last nothing is allocated, held, counted or dispatched. A plan of one fused part needs no more than that part; in
 * any other one every value has a place of its own, which is found out once. See plan.h. */
#include "lib/program/plan_items.h"

#include "lib/dispatch/half.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- one part ---------------------------------------------------------------------------------------------------- */

enum { BARE_RESULTS = 16 }; /* which of what is made a result is, is looked up in every run */

/* Which of the variables that the part makes result o is; -1: none of them. */
static int64_t made_as(const lam__plan *plan, int o) {
    const lam__plan_item *part = &plan->items[0];
    for (int64_t i = 0; i < part->made_count; i++)
        if (part->made[i] == plan->program->results[o].variable) return i;
    return -1;
}

/* What another item would have to make or copy first is not. */
static bool is_read_bare(const lam__plan *plan, const lam__source *s) {
    return s->variable >= 0 ? s->variable < plan->program->inputs : s->constant && s->constant->contiguous;
}

/* `seen`: bit i for what the part makes as number i, each of which has to be one result and no other. */
static bool is_one_part(const lam__plan *plan) {
    const lam__program *p = plan->program;
    int64_t made = 0, seen = 0;
    if (plan->count != 1) return false;
    const lam__plan_item *part = &plan->items[0];
    if (part->equation >= 0 || p->outputs > BARE_RESULTS) return false;
    for (int64_t i = 0; i < part->source_count; i++)
        if (!is_read_bare(plan, &part->sources[i].of)) return false;
    for (int o = 0; o < p->outputs; o++) {
        const int64_t i = made_as(plan, o);
        if (i < 0 && (p->results[o].variable != o || o >= p->inputs)) return false;
        if (i < 0) continue;
        if (i >= BARE_RESULTS || (seen >> i & 1)) return false;
        seen |= INT64_C(1) << i;
        made++;
    }
    return made == part->made_count;
}

/* Where a part finds its operands, and is to put what it makes. Results that are inputs are the caller's to copy; all
 * others have places among the data behind the sources. plan->data is written in each run, so two runs of a plan cannot
 * be under way at once. */
static const lam__fused *place_bare(const lam__plan *plan, void *const in[], void *const out[]) {
    const lam__plan_item *part = &plan->items[0];
    for (int64_t i = 0; i < part->source_count; i++) {
        const lam__source *s = &part->sources[i].of;
        plan->data[part->sources[i].place] = s->variable >= 0 ? in[s->variable] : s->constant->data;
    }
    for (int o = 0; o < plan->program->outputs; o++) {
        const int64_t i = made_as(plan, o);
        if (i >= 0) plan->data[part->made_place + i] = out[o];
    }
    return part->fused;
}

/* ---- parts and calls --------------------------------------------------------------------------------------------- */

/* NOTE [places]
 * A plan of parts and calls of kernels knows all types, so each of its values can have one place for all runs: what is
 * made on the way lies in one block of memory, a view where what it shows lies, a result where the caller wants it, and
 * an input where the caller has it. Kernels are given values that stand for these: only their addresses change.
 *
 * Of y = f(tanh(reshape(w x))): w and x are at the caller's addresses, w x is in the block, its reshape is a view of
 * that, and y, which a part makes, at the caller's address again. */
typedef enum action { PART, FILL, MULTIPLY, EVALUATE, VIEW } action;

/* base, offset: of a view, the variable that it shows and the bytes up to its first element; -1: a constant. product:
 * how a contraction is done. */
typedef struct bare_item {
    action action;
    int64_t base, offset;
    lam__contraction *product;
} bare_item;

/* Where result o comes from. */
enum { INPUT = -1, COPIED = -2 };

struct lam__plan_bare {
    lam_value *anchor;   /* has the buffer that all of `values` say they lie in */
    lam_value **values;  /* by variable; NULL: no item makes it */
    int64_t *at;         /* by variable: bytes from the beginning of the block to its place; -1: it is not in there */
    size_t bytes;        /* of the block */
    bare_item *items;    /* one per item of the plan */
    int64_t *made;       /* per output: the variable that is made where the result goes, INPUT or COPIED */
    lam_value **sources; /* of copied results that are constants: held */
};

enum {
    MOST_BYTES = 1 << 19, /* that stay with the plan between runs */
    MOST_COPIED = 1 << 12 /* in a run, where others than this would let results share memory */
};

/* Whether a call can be one of a kernel into memory that is there. Half precision is worked on in another one; a
 * contraction that is `loose` chooses how its result lies. */
static bool is_direct(const lam__plan *plan, const lam__plan_item *it) {
    const lam__equation *e = plan->program->list[it->equation];
    const lam_primitive *p = e->primitive;
    bool direct = it->joined < 0 && !it->left && !it->covered && !p->call && !p->staged &&
                  (p->elementwise || p->eval || p->view) &&
                  !(p == &lam__row_dot_general && ((const lam__pairing *)e->params)->loose);
    for (int i = 0; i < e->inputs && direct; i++) {
        const lam_value *type = e->in[i].variable >= 0 ? plan->program->types[e->in[i].variable] : e->in[i].constant;
        direct = type && !lam__dtype_is_half((lam_dtype)type->dtype);
    }
    for (int o = 0; o < e->outputs && direct; o++) {
        const lam_value *type = plan->program->types[e->first + o];
        direct = type && !lam__dtype_is_half((lam_dtype)type->dtype);
    }
    return direct;
}

/* A value of this type whose address is set later; NULL without memory. The anchor's buffer is never read: it is there
 * because a value holds one, and no value frees the caller's memory. */
static lam_value *stand_in(const lam__plan *plan, const lam_value *type, const int64_t *strides) {
    lam__buffer *buffer = lam__full(plan->bare->anchor)->as.concrete.buffer;
    buffer->refs++;
    return lam__value_wrap(plan->ctx, (lam_dtype)type->dtype, type->rank, type->dims, strides, buffer);
}

/* Variables that are at the caller's addresses. */
static bool is_outside(const lam__plan *plan, int64_t v) {
    if (v < plan->program->inputs) return true;
    for (int o = 0; o < plan->program->outputs; o++)
        if (plan->bare->made[o] == v) return true;
    return false;
}

static void find_operands(const lam__plan *plan, const lam__equation *e) {
    for (int i = 0; i < e->inputs; i++)
        plan->work[i] = e->in[i].variable >= 0 ? plan->bare->values[e->in[i].variable] : e->in[i].constant;
}

/* What the call shows of its operand; *shows is false, with nothing done, where it has to be computed. */
static bool place_view(const lam__plan *plan, const lam__equation *e, bare_item *made, bool *shows) {
    lam__plan_bare *b = plan->bare;
    int64_t strides[LAM_INNER_RANK], offset = 0;
    find_operands(plan, e);
    lam_value *x = plan->work[0];
    const lam_value *type = plan->program->types[e->first];
    const lam_call_site site = lam__equation_call(plan->ctx, e, plan->work);
    lam_shape shape = {.dtype = (lam_dtype)type->dtype, .rank = type->rank};
    memcpy(shape.dims, type->dims, (size_t)type->rank * sizeof *shape.dims);
    *shows = e->outputs == 1 && e->primitive->view(&site, &shape, strides, &offset);
    if (!*shows) return true;
    *made = (bare_item){VIEW, e->in[0].variable, offset * (int64_t)lam__dtype_bytes(x->dtype), NULL};
    b->values[e->first] =
        made->base < 0 ? lam__value_view(x, shape.rank, shape.dims, strides, offset) : stand_in(plan, type, strides);
    return b->values[e->first] != NULL;
}

/* The place of a variable that is made; false as well where the block would be too large. Places begin at lines of the
 * cache, as values do. */
static bool place_made(const lam__plan *plan, int64_t v) {
    enum { LINE = 64 };
    lam__plan_bare *b = plan->bare;
    const lam_value *type = plan->program->types[v];
    b->values[v] = stand_in(plan, type, NULL);
    if (!b->values[v] || is_outside(plan, v)) return b->values[v];
    const size_t bytes = (size_t)type->count * lam__dtype_bytes(type->dtype);
    if (bytes > MOST_BYTES) return false;
    b->at[v] = (int64_t)b->bytes;
    b->bytes += (bytes + LINE - 1) / LINE * LINE;
    return b->bytes <= MOST_BYTES;
}

/* Whether a part finds all that it reads without gaps. */
static bool place_part(const lam__plan *plan, const lam__plan_item *it) {
    bool fine = true;
    for (int64_t i = 0; i < it->source_count && fine; i++) {
        const lam__source *s = &it->sources[i].of;
        const lam_value *v = s->variable >= 0 ? plan->bare->values[s->variable] : s->constant;
        fine = v && v->contiguous;
    }
    for (int64_t i = 0; i < it->made_count && fine; i++) fine = place_made(plan, it->made[i]);
    return fine;
}

/* A contraction is planned once, if its operands lie well. False without memory. */
static bool place_product(lam__plan *plan, const lam__equation *e, bare_item *made) {
    lam__contraction product;
    find_operands(plan, e);
    const lam_call_site site = lam__equation_call(plan->ctx, e, plan->work);
    if (!lam__contract_plan(&site, (lam_dtype)plan->program->types[e->first]->dtype, &product)) return true;
    made->product = lam__arena_get(&plan->arena, sizeof product);
    if (!made->product) return false;
    *made->product = product;
    made->action = MULTIPLY;
    return true;
}

/* False where it is no kernel that could be called directly, or memory is lacking. */
static bool place_call(lam__plan *plan, const lam__plan_item *it, bare_item *made) {
    const lam__equation *e = plan->program->list[it->equation];
    bool shows = false;
    if (!is_direct(plan, it)) return false;
    if (e->primitive->view && !place_view(plan, e, made, &shows)) return false;
    if (shows) return true;
    if (!e->primitive->elementwise && !e->primitive->eval) return false;
    *made = (bare_item){.action = e->primitive->elementwise ? FILL : EVALUATE};
    for (int o = 0; o < e->outputs; o++)
        if (!place_made(plan, e->first + o)) return false;
    return e->primitive != &lam__row_dot_general || place_product(plan, e, made);
}

/* Whether a variable is made by a kernel: not an input, and no view of one. */
static bool is_computed(const lam__plan *plan, int64_t v) {
    const lam__equation *e = v < plan->program->inputs ? NULL : lam__program_maker(plan->program, v);
    return e && !e->primitive->view;
}

/* Results that one variable is more than once are copies, but for the first one. */
static void place_results(const lam__plan *plan) {
    const lam__program *p = plan->program;
    int64_t *made = plan->bare->made;
    for (int o = 0; o < p->outputs; o++) {
        const int64_t v = p->results[o].variable;
        made[o] = v == o && o < p->inputs ? INPUT : v >= 0 && is_computed(plan, v) ? v : COPIED;
        for (int k = 0; k < o; k++)
            if (made[k] >= 0 && made[k] == v) made[o] = COPIED;
    }
}

/* What is copied to where result o goes; NULL without memory, and where that has gaps or no elements. */
static lam_value *copied(const lam__plan *plan, int o) {
    const lam__atom *a = &plan->program->results[o];
    lam_value *v = a->variable >= 0 ? plan->bare->values[a->variable] : NULL;
    if (a->variable >= 0) return v && v->contiguous ? v : NULL;
    if (!a->constant || a->constant->kind != LAM__CONCRETE) return NULL;
    return plan->bare->sources[o] = lam__value_contiguous(a->constant);
}

/* Whether all that is copied is there and small. The count is compared before the bytes, so these cannot overflow. */
static bool find_copied(const lam__plan *plan) {
    int64_t bytes = 0;
    for (int o = 0; o < plan->program->outputs; o++) {
        if (plan->bare->made[o] != COPIED) continue;
        const lam_value *from = copied(plan, o);
        if (!from || from->count > MOST_COPIED) return false;
        bytes += from->count * (int64_t)lam__dtype_bytes(from->dtype);
    }
    return bytes <= MOST_COPIED;
}

/* All of the plan's values. */
static bool place_all(lam__plan *plan) {
    const lam__program *p = plan->program;
    bool fine = true;
    place_results(plan);
    for (int i = 0; i < p->inputs && fine; i++) fine = (plan->bare->values[i] = stand_in(plan, p->types[i], NULL));
    for (int64_t i = 0; i < plan->count && fine; i++) {
        const lam__plan_item *it = &plan->items[i];
        plan->bare->items[i] = (bare_item){.action = PART};
        fine = it->equation < 0 ? place_part(plan, it) : place_call(plan, it, &plan->bare->items[i]);
    }
    return fine && find_copied(plan);
}

void lam__plan_bare_free(lam__plan *plan) {
    lam__plan_bare *b = plan->bare;
    if (!b) return;
    for (int64_t v = 0; v < plan->program->variables; v++) lam__value_release(b->values[v]);
    for (int o = 0; o < plan->program->outputs; o++) lam__value_release(b->sources[o]);
    lam__value_release(b->anchor);
    plan->bare = NULL;
}

/* Room for all lists; false without memory. They live as long as the plan. Two lines are more than a value has room for
 * in itself, so the anchor has a buffer. */
static bool open_bare(lam__plan *plan) {
    const lam__program *p = plan->program;
    const size_t variables = (size_t)p->variables + 1, outputs = (size_t)p->outputs + 1, items = (size_t)plan->count;
    const int64_t two_lines[] = {2 * LAM__INLINE_BYTES};
    lam__plan_bare *b = lam__arena_get(&plan->arena, sizeof *b);
    if (!b) return false;
    *b = (lam__plan_bare){
        .values = lam__arena_get(&plan->arena, variables * sizeof *b->values),
        .at = lam__arena_get(&plan->arena, variables * sizeof *b->at),
        .items = lam__arena_get(&plan->arena, items * sizeof *b->items),
        .made = lam__arena_get(&plan->arena, outputs * sizeof *b->made),
        .sources = lam__arena_get(&plan->arena, outputs * sizeof *b->sources),
    };
    if (!b->values || !b->at || !b->items || !b->made || !b->sources) return false;
    memset(b->values, 0, variables * sizeof *b->values);
    memset(b->at, 0xff, variables * sizeof *b->at);
    memset(b->sources, 0, outputs * sizeof *b->sources);
    plan->bare = b;
    return (b->anchor = lam__value_new(plan->ctx, LAM_U8, 1, two_lines));
}

/* Gives what is made its address in the block. Places are numbers until here, since the size of the block is known when
 * all of them are given out. */
static bool make_block(lam__plan *plan) {
    const lam__plan_bare *b = plan->bare;
    char *block = lam__arena_get(&plan->arena, b->bytes + 1);
    if (!block) return false;
    for (int64_t v = 0; v < plan->program->variables; v++)
        if (b->at[v] >= 0) b->values[v]->data = block + b->at[v];
    return true;
}

/* Finds all places the first time it is asked for; false where there is one that has none, also without memory: such a
 * plan is run as any other, which says so. */
static bool has_places(lam__plan *plan) {
    if (plan->asked) return plan->bare;
    const lam__mark mark = lam__error_mark(plan->ctx);
    plan->asked = true;
    if (open_bare(plan) && place_all(plan) && make_block(plan)) return true;
    lam__plan_bare_free(plan);
    lam__error_roll_back(plan->ctx, mark);
    return false;
}

/* A kernel call into what is there. ctx->calling is what messages of kernels name. */
static lam_status run_call(const lam__plan *plan, const lam__equation *e, const bare_item *made) {
    lam_ctx *ctx = plan->ctx;
    lam_value *const *in = plan->work, *const *out = &plan->bare->values[e->first];
    find_operands(plan, e);
    const lam_call_site site = lam__equation_call(ctx, e, in), *caller = ctx->calling;
    lam_status status = LAM_OK;
    ctx->calling = &site;
    if (made->action == MULTIPLY) lam__contract_run(made->product, in[0]->data, in[1]->data, out[0]->data);
    else if (made->action == FILL) lam__elementwise_fill(&site, out[0]);
    else status = e->primitive->eval(&site, out);
    ctx->calling = caller;
    return status;
}

/* From the values, whose addresses are those of this run. */
static void run_part(const lam__plan *plan, const lam__plan_item *part) {
    for (int64_t i = 0; i < part->source_count; i++) {
        const lam__source *s = &part->sources[i].of;
        plan->data[part->sources[i].place] =
            s->variable >= 0 ? plan->bare->values[s->variable]->data : s->constant->data;
    }
    for (int64_t i = 0; i < part->made_count; i++)
        plan->data[part->made_place + i] = plan->bare->values[part->made[i]]->data;
    lam__fused_run(part->fused, plan->data, part->fused->lanes);
}

/* What an input shows lies elsewhere in each run. A view of a constant stays where it is, and has no base. */
static void run_view(const lam__plan *plan, const lam__plan_item *it, const bare_item *made) {
    const int64_t v = plan->program->list[it->equation]->first;
    if (made->base >= 0) plan->bare->values[v]->data = (char *)plan->bare->values[made->base]->data + made->offset;
}

static lam_status run_items(const lam__plan *plan) {
    lam_status status = LAM_OK;
    for (int64_t i = 0; i < plan->count && status == LAM_OK; i++) {
        const lam__plan_item *it = &plan->items[i];
        const bare_item *made = &plan->bare->items[i];
        if (made->action == PART) run_part(plan, it);
        else if (made->action == VIEW) run_view(plan, it, made);
        else status = run_call(plan, plan->program->list[it->equation], made);
    }
    return status;
}

/* Behind all items, when what is copied has been made. */
static void copy_results(const lam__plan *plan, void *const out[]) {
    const lam__program *p = plan->program;
    for (int o = 0; o < p->outputs; o++) {
        const int64_t v = p->results[o].variable;
        const lam_value *from = v >= 0 ? plan->bare->values[v] : plan->bare->sources[o];
        const size_t bytes = (size_t)from->count * lam__dtype_bytes(from->dtype);
        if (plan->bare->made[o] == COPIED && bytes) memcpy(out[o], from->data, bytes);
    }
}

static lam_status run_places(const lam__plan *plan, void *const in[], void *const out[]) {
    const lam__program *p = plan->program;
    const lam__plan_bare *b = plan->bare;
    for (int i = 0; i < p->inputs; i++) b->values[i]->data = in[i];
    for (int o = 0; o < p->outputs; o++)
        if (b->made[o] >= 0) b->values[b->made[o]]->data = out[o];
    const lam_status status = run_items(plan);
    if (status == LAM_OK) copy_results(plan, out);
    return status;
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

/* One part is asked for first, since it needs no places. */
bool lam__plan_is_bare(lam__plan *plan) {
    return is_one_part(plan) || has_places(plan);
}

const lam_value *lam__plan_bare_type(const lam__plan *plan, int o) {
    const lam__program *p = plan->program;
    return p->results[o].variable == o && o < p->inputs ? NULL : lam__program_result_type(p, o);
}

/* Without places it is one part, since lam__plan_is_bare has said yes. */
lam_status lam__plan_run_bare(lam__plan *plan, void *const in[], void *const out[]) {
    if (plan->bare) return run_places(plan, in, out);
    const lam__fused *f = place_bare(plan, in, out);
    lam__fused_run(f, plan->data, f->lanes);
    return LAM_OK;
}

/* ---- the first lanes of it --------------------------------------------------------------------------------------- */

/* The input that data number `at` of the part is; -1: a constant, or what is made. */
static int64_t input_at(const lam__plan *plan, int64_t at) {
    const lam__plan_item *part = &plan->items[0];
    for (int64_t i = 0; i < part->source_count; i++)
        if (part->sources[i].place == at) return part->sources[i].of.variable;
    return -1;
}

/* Whether lanes go from row to row. A step of one row from within the first: lane l is at row l then, and nowhere
 * else. */
static bool goes_along(const lam__lane_step *s, const lam_value *rows, int64_t size) {
    return s->as.move.step == rows->count / size && s->as.move.base < s->as.move.step;
}

/* What is written goes along rows; what is read does so where it has lanes, and is one element for all of them where it
 * has none. */
static bool moves_along(const lam__plan *plan, const lam__lane_step *s, int64_t size, const bool in_lanes[]) {
    const lam__plan_item *part = &plan->items[0];
    lam_value **types = plan->program->types;
    if (s->op == LAM__LANE_STORE) return goes_along(s, types[part->made[s->at[0] - part->made_place]], size);
    if (s->op != LAM__LANE_LOAD) return s->op != LAM__LANE_LINE;
    const int64_t v = input_at(plan, s->at[1]);
    const bool in_rows = v >= 0 && in_lanes[v];
    return in_rows ? goes_along(s, types[v], size) : (s->same & 1u) != 0;
}

/* Steps before the blocks are done once for all lanes, so they may not read of what has lanes, nor write anything. */
bool lam__plan_is_abreast(const lam__plan *plan, int64_t size, const bool in_lanes[]) {
    if (!is_one_part(plan)) return false;
    const lam__fused *f = plan->items[0].fused;
    bool fine = f->lanes == size && f->groups;
    for (int64_t i = 0; i < f->before_count && fine; i++) {
        const lam__lane_step *s = &f->before[i];
        const int64_t v = s->op == LAM__LANE_LOAD ? input_at(plan, s->at[1]) : -1;
        fine = s->op != LAM__LANE_STORE && (v < 0 || !in_lanes[v]);
    }
    for (int64_t i = 0; i < f->step_count && fine; i++) fine = moves_along(plan, &f->steps[i], size, in_lanes);
    return fine;
}

void lam__plan_run_abreast(lam__plan *plan, void *const in[], void *const out[], int64_t lanes) {
    const lam__fused *f = place_bare(plan, in, out);
    const int64_t least = f->lanes < LAM__LANE_GROUP ? f->lanes : LAM__LANE_GROUP;
    lam__fused_run(f, plan->data, lanes < least ? least : lanes);
}
