/* Plans: the best of some drafts, made into a list of items. See plan.h. All that a run needs but the values themselves
 * is made here once. */
#include "lib/program/plan_items.h"

#include <math.h>
#include <string.h>

enum { MOST_DRAFTS = 9 };

/* ---- making items ------------------------------------------------------------------------------------------------ */

/* Pointers to items hold until the next one is added. */
static lam__plan_item *add_item(lam__plan *plan) {
    lam__plan_item *items = lam__arena_grow(&plan->arena, plan->items, plan->count, &plan->room, sizeof *items);
    if (!items) return NULL;
    plan->items = items;
    items[plan->count] = (lam__plan_item){.equation = -1, .joined = -1};
    return &items[plan->count++];
}

/* `widest` is how many values a run has to line up at once. */
static bool add_call(lam__plan *plan, int64_t k) {
    lam__plan_item *made = add_item(plan);
    const lam__equation *e = plan->program->list[k];
    if (!made) return false;
    made->equation = k;
    if (e->inputs + e->outputs > plan->widest) plan->widest = e->inputs + e->outputs;
    plan->report.calls++;
    return true;
}

/* Constants that lanes read have to lie one behind the other, and to live as long as the plan. One that lies so already
 * is held once more and not copied. */
static bool keep_constant(lam__plan *plan, lam__source *s) {
    lam_value **kept = lam__arena_grow(&plan->arena, plan->kept, plan->kept_count, &plan->kept_room, sizeof *kept);
    if (!kept) return false;
    plan->kept = kept;
    lam_value *dense = lam__value_contiguous(s->constant);
    if (!dense) return false;
    kept[plan->kept_count++] = s->constant = dense;
    return true;
}

/* Marks what a step reads. Runs without data are zeros or truths, and read nothing. */
static void mark_read(const lam__lane_step *s, lam__plan_source sources[]) {
    const lam__lane_line *line = s->op == LAM__LANE_LINE ? s->as.call.params : NULL;
    if (s->op == LAM__LANE_LOAD) sources[s->at[1]].place = s->at[1];
    for (int64_t k = 0; line && k < line->count; k++)
        if (line->runs[k].data >= 0) sources[line->runs[k].data].place = line->runs[k].data;
}

/* Of the sources of a region those that some step reads. The list serves twice: places mark what is read, then what is
 * marked moves to the front, which never overtakes the reading of the marks. A source's place among the data stays what
 * it was in the region. */
static bool copy_sources(lam__plan *plan, lam__plan_item *to, const lam__region *r, const lam__fused *f) {
    lam__plan_source *sources = lam__arena_get(&plan->arena, (size_t)(r->source_count + 1) * sizeof *sources);
    if (!sources) return false;
    for (int64_t i = 0; i < r->source_count; i++) sources[i].place = -1;
    for (int b = 0; b < 2; b++)
        for (int64_t i = 0; i < (b ? f->before_count : f->step_count); i++)
            mark_read(b ? &f->before[i] : &f->steps[i], sources);
    for (int64_t i = 0; i < r->source_count; i++) {
        if (sources[i].place < 0) continue;
        lam__plan_source *used = &sources[to->source_count++];
        *used = (lam__plan_source){i, r->sources[i]};
        if (used->of.constant && !keep_constant(plan, &used->of)) return false;
    }
    to->sources = sources;
    to->made_place = r->source_count;
    return true;
}

/* Whether a region has something to be made. */
static bool is_part(const lam__draft *d, int64_t stage) {
    return d->regions[stage] && d->target_counts[stage];
}

/* The region of a stage as a fused part; NULL where it is better called. It is made to be judged: only its steps say
 * what it costs. Where shorter axes may be in the lanes a region may leave to later ones what it would have to write
 * for calls: such a draft is taken as it is, or not at all. Where memory is lacking it is NULL as well. */
static lam__fused *part_of(const lam__draft *d, int64_t stage, lam__plan_fusion fusion, bool native) {
    const lam__region *r = d->regions[stage];
    if (!is_part(d, stage) || fusion == LAM__PLAN_NONE) return NULL;
    lam__fused *f = lam__fused_new(r, d->targets[stage], d->target_counts[stage]);
    if (!f || d->lanes.shorter || fusion == LAM__PLAN_ALL ||
        lam__plan_part_cost(d->program, r, f, native) <= d->eager[stage])
        return f;
    lam__fused_free(f);
    return NULL;
}

/* Parts by stage, NULL for a stage without one or whose part is in the list, and which equations are in the list or in
 * parts. fused: the equations of all regions, those of a stage from begin[stage] to begin[stage + 1]. */
typedef struct order {
    const lam__draft *d;
    lam__fused **parts;
    bool *listed;
    int64_t next; /* all parts before this stage are in the list */
    int64_t *fused, *begin;
} order;

/* Equations of regions by stage, in the order of the program: each pass over them is over those of one stage. */
static bool sort_fused(lam__plan *plan, order *o) {
    const lam__draft *d = o->d;
    const int64_t n = plan->program->equations;
    o->fused = lam__arena_get(&plan->arena, (size_t)(n + 1) * sizeof *o->fused);
    o->begin = lam__arena_get(&plan->arena, (size_t)(d->stages + 2) * sizeof *o->begin);
    if (!o->fused || !o->begin) return false;
    memset(o->begin, 0, (size_t)(d->stages + 2) * sizeof *o->begin);
    for (int64_t k = 0; k < n; k++)
        if (d->equations[k].fused) o->begin[d->equations[k].stage + 2]++;
    for (int64_t s = 2; s <= d->stages; s++) o->begin[s] += o->begin[s - 1];
    for (int64_t k = 0; k < n; k++)
        if (d->equations[k].fused) o->fused[o->begin[d->equations[k].stage + 1]++] = k;
    return true;
}

/* The variables that the region of a stage gives; made: room for them, NULL: they are only counted. In this order a
 * region numbers what it writes, which is how a part's data are found by their place. */
static int64_t made_in(const lam__program *p, const order *o, int64_t stage, int64_t made[]) {
    int64_t count = 0;
    for (int64_t i = o->begin[stage]; i < o->begin[stage + 1]; i++) {
        const lam__equation *e = p->list[o->fused[i]];
        for (int k = 0; k < e->outputs; k++) {
            if (!o->d->variables[e->first + k].needed) continue;
            if (made) made[count] = e->first + k;
            count++;
        }
    }
    return count;
}

/* f is taken over. The plan has it from where it is in an item, and frees it also when the rest fails. Steps and bytes
 * are added up here and nowhere else, since drafts that were not taken do not count. */
static bool add_part(lam__plan *plan, const order *o, int64_t stage, lam__fused *f) {
    const lam__region *r = o->d->regions[stage];
    const lam__program *p = plan->program;
    lam__plan_item *part = add_item(plan);
    int64_t *made = lam__arena_get(&plan->arena, (size_t)(made_in(p, o, stage, NULL) + 1) * sizeof *made);
    if (!part || !made) {
        lam__fused_free(f);
        return false;
    }
    part->fused = f;
    part->made = made;
    part->made_count = made_in(p, o, stage, made);
    plan->report.fused += o->begin[stage + 1] - o->begin[stage];
    plan->report.parts++;
    plan->report.steps += f->before_count + f->step_count;
    plan->report.bytes += (size_t)f->workers * (f->same + f->each);
    const int64_t widest = r->source_count + part->made_count;
    if (widest > plan->widest) plan->widest = widest;
    return copy_sources(plan, part, r, f);
}

/* Parts of the stages before this one, each behind the calls that its operands may come from. A region reads what calls
 * of its stage and of those before it make, so these are listed first, wherever they stand in the program. */
static bool add_parts(lam__plan *plan, order *o, int64_t stage) {
    for (; o->next < stage && o->next < o->d->stages; o->next++) {
        lam__fused *f = o->parts[o->next];
        if (!f) continue;
        for (int64_t k = 0; k < plan->program->equations; k++) {
            if (o->listed[k] || o->d->equations[k].stage > o->next) continue;
            o->listed[k] = true;
            if (!add_call(plan, k)) return false;
        }
        o->parts[o->next] = NULL;
        if (!add_part(plan, o, o->next, f)) return false;
    }
    return true;
}

/* Calls are in the order of the program, which is made so that what one leaves is in the caches for the next; a part
 * comes when the first call needs it. With shorter axes a part that could not be made leaves others without what they
 * read, and there is no plan. */
static bool add_items(lam__plan *plan, const lam__draft *d, lam__plan_fusion fusion, bool native) {
    const int64_t n = plan->program->equations;
    order o = {.d = d};
    o.parts = lam__arena_get(&plan->arena, (size_t)(d->stages + 1) * sizeof *o.parts);
    o.listed = lam__arena_get(&plan->arena, (size_t)(n + 1) * sizeof *o.listed);
    if (!o.parts || !o.listed || !sort_fused(plan, &o)) return false;
    bool added = true;
    for (int64_t s = 0; s < d->stages; s++) {
        o.parts[s] = part_of(d, s, fusion, native);
        added = added && (o.parts[s] || !d->lanes.shorter || !is_part(d, s));
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t s = d->equations[k].stage;
        o.listed[k] = d->equations[k].fused && (o.parts[s] || !is_part(d, s)); /* nobody needs it as a value */
    }
    for (int64_t k = 0; k < n && added; k++) {
        if (o.listed[k]) continue;
        added = add_parts(plan, &o, d->equations[k].stage);
        if (!added || o.listed[k]) continue;
        o.listed[k] = true;
        added = add_call(plan, k);
    }
    added = added && add_parts(plan, &o, d->stages);
    for (int64_t s = 0; s < d->stages; s++) lam__fused_free(o.parts[s]);
    return added;
}

/* ---- the end of variables ---------------------------------------------------------------------------------------- */

/* Constants have no end: they are the program's. */
static void touch(int64_t *last, int64_t v, int64_t at) {
    if (v >= 0) last[v] = at;
}

/* The item that touches each variable last gets it into its list. They are counted, given a piece each of one list, and
 * written there: every variable dies once at most. Results outlive all items; what an item puts together for another
 * one to set is touched by that one. An item that is left touches nothing itself, so its operands live up to the one
 * that does its work. */
static bool find_deaths(lam__plan *plan) {
    const lam__program *p = plan->program;
    int64_t *last = lam__arena_get(&plan->arena, (size_t)(p->variables + 1) * sizeof *last);
    int64_t *dead = lam__arena_get(&plan->arena, (size_t)(p->variables + 1) * sizeof *dead);
    if (!last || !dead) return false;
    for (int64_t v = 0; v < p->variables; v++) last[v] = -1;
    for (int64_t i = 0; i < plan->count; i++) {
        const lam__plan_item *it = &plan->items[i];
        const lam__equation *e = it->equation < 0 || it->left ? NULL : p->list[it->equation],
                            *joined = it->joined < 0 ? NULL : p->list[it->joined];
        for (int k = 0; joined && k < joined->inputs; k++) touch(last, joined->in[k].variable, i);
        for (int k = 0; e && k < e->inputs; k++) touch(last, e->in[k].variable, i);
        for (int k = 0; e && k < e->outputs; k++) touch(last, e->first + k, i);
        for (int64_t k = 0; k < it->source_count; k++) touch(last, it->sources[k].of.variable, i);
        for (int64_t k = 0; k < it->made_count; k++) touch(last, it->made[k], i);
    }
    for (int o = 0; o < p->outputs; o++) touch(last, p->results[o].variable, plan->count);
    for (int64_t v = 0; v < p->variables; v++)
        if (last[v] >= 0 && last[v] < plan->count) plan->items[last[v]].dead_count++;
    for (int64_t i = 0; i < plan->count; i++) {
        plan->items[i].dead = dead;
        dead += plan->items[i].dead_count;
        plan->items[i].dead_count = 0;
    }
    for (int64_t v = 0; v < p->variables; v++)
        if (last[v] >= 0 && last[v] < plan->count) {
            lam__plan_item *it = &plan->items[last[v]];
            ((int64_t *)(uintptr_t)it->dead)[it->dead_count++] = v;
        }
    return true;
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* Nanoseconds of one run of all that the draft says, on one thread; a region whose part does not pay counts as its
 * calls, but see part_of. Parts are made and thrown away for this; plans are made once and run often. */
static double cost_of(const lam__draft *d, lam__plan_fusion fusion, bool native) {
    double cost = 0;
    for (int64_t k = 0; k < d->program->equations; k++)
        if (!d->equations[k].fused) cost += lam__draft_call_cost(d->program, d->program->list[k]);
    for (int64_t s = 0; s < d->stages; s++) {
        if (!is_part(d, s)) continue;
        lam__fused *f = part_of(d, s, fusion, native);
        if (!f && d->lanes.shorter) return HUGE_VAL;
        cost += f ? lam__plan_part_cost(d->program, d->regions[s], f, native) : d->eager[s];
        lam__fused_free(f);
    }
    return cost;
}

/* NOTE [groups]
 * Equations of a region that share nothing made there are groups, and each has to be worth it: one that takes longer
 * fused than called is called, so that it does not decide for the others. A region of many groups is judged as one. */
enum { MOST_GROUPS = 8 };

/* The first equation of k's group, by which it is known; paths are halved on the way. */
static int64_t group_of(int64_t *group, int64_t k) {
    while (group[k] != k) k = group[k] = group[group[k]];
    return k;
}

/* The groups of all regions, each named by its first equation. NULL without memory. Of two groups that meet the first
 * equation of the earlier one names both, so a group is never named by one that is not its first. */
static int64_t *find_groups(lam__draft *d) {
    const lam__program *p = d->program;
    int64_t *group = lam__arena_get(&d->arena, (size_t)(p->equations + 1) * sizeof *group);
    int64_t *maker = lam__arena_get(&d->arena, (size_t)(p->variables + 1) * sizeof *maker);
    if (!group || !maker) return NULL;
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        group[k] = k;
        for (int o = 0; o < e->outputs; o++) maker[e->first + o] = k;
        for (int i = 0; i < e->inputs && d->equations[k].fused; i++) {
            const int64_t v = e->in[i].variable;
            if (v < 0 || !d->variables[v].in_region || d->variables[v].stage != d->equations[k].stage) continue;
            const int64_t a = group_of(group, maker[v]), b = group_of(group, k);
            group[a > b ? a : b] = a > b ? b : a;
        }
    }
    return group;
}

static bool is_in(const lam__draft *d, int64_t stage, int64_t *group, int64_t of, int64_t k) {
    return d->equations[k].fused && d->equations[k].stage == stage && group_of(group, k) == of;
}

/* Whether a group takes longer fused than called. targets: room for those of its region. A group is known by its first
 * equation, so those before it need not be looked at. */
static bool is_dear(const lam__draft *d, int64_t stage, int64_t *group, int64_t of, lam__target targets[],
                    bool native) {
    int64_t n = 0;
    double eager = 0;
    for (int64_t k = of; k < d->program->equations; k++) {
        const lam__draft_equation *at = &d->equations[k];
        if (!is_in(d, stage, group, of, k)) continue;
        eager += lam__draft_call_cost(d->program, d->program->list[k]);
        for (int64_t i = 0; i < at->targets; i++) targets[n++] = d->targets[stage][at->target + i];
    }
    lam__fused *f = n ? lam__fused_new(d->regions[stage], targets, n) : NULL;
    const bool dear = f && lam__plan_part_cost(d->program, d->regions[stage], f, native) > eager;
    lam__fused_free(f);
    return dear;
}

/* Forces what belongs to such groups; whether there are any. One group alone is the region, which part_of judges
 * anyway. */
static bool force_dear(lam__draft *d, int64_t stage, int64_t *group, bool native) {
    const int64_t equations = d->program->equations;
    lam__target *targets = lam__arena_get(&d->arena, (size_t)(d->target_counts[stage] + 1) * sizeof *targets);
    int64_t count = 0;
    bool any = false;
    for (int64_t k = 0; k < equations; k++) count += is_in(d, stage, group, k, k);
    if (!targets || count < 2 || count > MOST_GROUPS) return false;
    for (int64_t k = 0; k < equations; k++) {
        if (!is_in(d, stage, group, k, k) || !is_dear(d, stage, group, k, targets, native)) continue;
        for (int64_t i = k; i < equations; i++)
            if (is_in(d, stage, group, k, i)) d->equations[i].forced = true;
        any = true;
    }
    return any;
}

/* A draft for so many lanes without dear groups. If what is left without them does not work out, the draft is the one
 * before. */
static bool make_draft(lam__draft *d, const lam__program *p, lam__draft_lanes lanes, lam__plan_fusion fusion,
                       bool native) {
    bool any = false;
    if (!lam__draft_make(d, p, lanes)) return false;
    int64_t *group = fusion == LAM__PLAN_AUTO ? find_groups(d) : NULL;
    for (int64_t s = 0; s < d->stages && group; s++)
        if (is_part(d, s) && force_dear(d, s, group, native)) any = true;
    if (!any || lam__draft_again(d)) return true;
    lam__draft_close(d);
    return lam__draft_make(d, p, lanes);
}

/* Makes the cheapest draft; false without memory. Drafts that did not work out, by limits, are not looked at. Of equal
 * ones the first stays, since lam__draft_choices gives the likeliest first. Those that are not taken give up their
 * arenas here. */
static bool choose_draft(lam__draft *best, const lam__program *p, lam__plan_fusion fusion, bool native) {
    lam__draft_lanes lanes[MOST_DRAFTS];
    const int n = fusion == LAM__PLAN_NONE ? 0 : lam__draft_choices(p, MOST_DRAFTS, lanes);
    double least = 0;
    bool found = false;
    for (int i = 0; i < n; i++) {
        lam__draft d;
        lanes[i].native = native;
        const bool made = make_draft(&d, p, lanes[i], fusion, native);
        const double cost = made ? cost_of(&d, fusion, native) : 0;
        if (made && (!found || cost < least)) {
            if (found) lam__draft_close(best);
            *best = d;
            least = cost;
            found = true;
        } else {
            lam__draft_close(&d);
        }
    }
    return found;
}

/* Without a draft every equation is a call. The draft may go once items are made: they have their own copies of what is
 * in its arena. Values that lie in slots are none yet, so a plan can be freed from here on. */
static bool fill(lam__plan *plan, lam__plan_fusion fusion, bool native) {
    const lam__program *p = plan->program;
    lam__draft best;
    const bool drafted = choose_draft(&best, p, fusion, native);
    bool made = true;
    if (drafted) {
        plan->report.lanes = best.lanes.count;
        made = add_items(plan, &best, fusion, native);
        lam__draft_close(&best);
    }
    for (int64_t k = 0; k < p->equations && !drafted && made; k++) made = add_call(plan, k);
    plan->report.equations = p->equations;
    if (!made || !lam__plan_find_parts(plan) || !find_deaths(plan)) return false;
    const size_t slots = (size_t)(p->variables + 1) * sizeof *plan->slots,
                 work = (size_t)(plan->widest + 1) * sizeof *plan->work;
    plan->slots = lam__arena_get(&plan->arena, slots);
    plan->work = lam__arena_get(&plan->arena, work);
    plan->data = lam__arena_get(&plan->arena, work);
    if (!plan->slots || !plan->work || !plan->data) return false;
    memset(plan->slots, 0, slots);
    memset(plan->work, 0, work);
    return true;
}

/* A part that the compiler does not get through stays as it is. Steps are kept beside machine code: they are what is
 * run for numbers that its short forms do not know. */
static void compile_parts(lam__plan *plan) {
    for (int64_t i = 0; i < plan->count; i++) {
        lam__fused *f = plan->items[i].fused;
        if (!f) continue;
        lam__fused_compile(f);
        plan->report.native += f->native != NULL;
    }
}

/* A plan runs on elements, and a level may end before the next run. */
bool lam__plan_fits(const lam__program *p) {
    for (int64_t k = 0; k < p->equations; k++)
        for (int i = 0; i < p->list[k]->inputs; i++)
            if (lam__program_is_box(&p->list[k]->in[i])) return false;
    for (int o = 0; o < p->outputs; o++)
        if (lam__program_is_box(&p->results[o])) return false;
    return true;
}

/* Compiling comes last and may fail for each part alone; all before it is needed for any run. The program is held
 * before anything can fail, since lam__plan_free gives it up in any case. */
lam__plan *lam__plan_new(lam__program *p, lam__plan_fusion fusion, bool native) {
    lam__plan *plan = lam__alloc_get(&p->ctx->pool, sizeof *plan);
    if (plan) {
        *plan = (lam__plan){.ctx = p->ctx, .program = p};
        lam__arena_open(&plan->arena, p->ctx);
        p->refs++;
        if (fill(plan, fusion, native)) {
            if (native) compile_parts(plan);
            return plan;
        }
        lam__plan_free(plan);
    }
    lam__error_memory(p->ctx, sizeof *plan);
    return NULL;
}

void lam__plan_free(lam__plan *plan) {
    if (!plan) return;
    lam_ctx *ctx = plan->ctx;
    lam__plan_bare_free(plan);
    for (int64_t i = 0; i < plan->count; i++) lam__fused_free(plan->items[i].fused);
    for (int64_t i = 0; i < plan->kept_count; i++) lam__value_release(plan->kept[i]);
    lam__program_release(plan->program);
    lam__arena_close(&plan->arena);
    lam__alloc_put(&ctx->pool, plan, sizeof *plan);
}

bool lam__plan_busy(const lam__plan *plan) {
    return plan->busy;
}

lam__plan_report lam__plan_report_of(const lam__plan *plan) {
    return plan->report;
}
