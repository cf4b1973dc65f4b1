/* Plans: parts of tensors that are set where they lie. See NOTE [parts in place] in plan_items.h. */
#include "lib/program/plan_items.h"

#include "lib/dispatch/part.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <string.h>

enum { NONE = -1 };

/* By variable: how often it is read, the last item that calls something on it, and the item that calls what makes
 * it. */
typedef struct users {
    int64_t *uses, *reader, *maker;
} users;

/* Results of the program count as a use: what is one may not be written over. What a fused part reads counts as a use
 * and not as a reader: a part writes what it makes elsewhere, and takes over no memory. */
static bool find_users(lam__plan *plan, users *u) {
    const lam__program *p = plan->program;
    const size_t bytes = (size_t)(p->variables + 1) * sizeof(int64_t);
    u->uses = lam__arena_get(&plan->arena, bytes);
    u->reader = lam__arena_get(&plan->arena, bytes);
    u->maker = lam__arena_get(&plan->arena, bytes);
    if (!u->uses || !u->reader || !u->maker) return false;
    memset(u->uses, 0, bytes);
    memset(u->reader, 0xff, bytes);
    memset(u->maker, 0xff, bytes);
    for (int64_t i = 0; i < plan->count; i++) {
        const lam__plan_item *it = &plan->items[i];
        const lam__equation *e = it->equation < 0 ? NULL : p->list[it->equation];
        for (int k = 0; e && k < e->inputs; k++) {
            if (e->in[k].variable < 0) continue;
            u->uses[e->in[k].variable]++;
            u->reader[e->in[k].variable] = i;
        }
        for (int k = 0; e && k < e->outputs; k++) u->maker[e->first + k] = i;
        for (int64_t k = 0; k < it->source_count; k++)
            if (it->sources[k].of.variable >= 0) u->uses[it->sources[k].of.variable]++;
    }
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable >= 0) u->uses[p->results[o].variable]++;
    return true;
}

/* The equation of item i if that sets a part of a tensor; NULL. */
static const lam__equation *setting(const lam__plan *plan, int64_t i) {
    const int64_t k = plan->items[i].equation;
    const lam__equation *e = k < 0 ? NULL : plan->program->list[k];
    return e && e->primitive == &lam__row_update_slice ? e : NULL;
}

/* The item that puts the part together, for this one alone and not of x, in elements of x; NONE. If x were among what
 * is put together, it would be written over while it is read. A part of no elements is left to the usual call. */
static int64_t joining(const lam__plan *plan, const users *u, const lam__equation *e) {
    const lam__program *p = plan->program;
    const int64_t part = e->in[1].variable;
    if (part < 0 || u->uses[part] != 1 || u->maker[part] == NONE) return NONE;
    const lam__equation *made = p->list[plan->items[u->maker[part]].equation];
    if (made->primitive != &lam__row_concatenate || p->types[part]->dtype != p->types[e->first]->dtype ||
        !p->types[part]->count)
        return NONE;
    for (int k = 0; k < made->inputs; k++)
        if (e->in[0].variable >= 0 && made->in[k].variable == e->in[0].variable) return NONE;
    return u->maker[part];
}

/* The equation that sets a part of what e gives, if nobody else reads that; NULL. */
static const lam__equation *setting_next(const lam__plan *plan, const users *u, const lam__equation *e) {
    const int64_t x = e->first;
    const lam__equation *next = u->uses[x] == 1 && u->reader[x] != NONE ? setting(plan, u->reader[x]) : NULL;
    return next && next->in[0].variable == x ? next : NULL;
}

/* Whether parts of all rows of what e sets follow each other, from e on, before anybody reads it: who did would see a
 * tensor that is not whole. Rows in order and nothing else is what a loop that fills a tensor gives; anything else
 * costs the copy of the constant. */
static bool is_covered(const lam__plan *plan, const users *u, const lam__equation *e) {
    const lam_value *type = plan->program->types[e->first];
    int64_t rows = 0;
    for (; e && type->rank > 0; e = setting_next(plan, u, e)) {
        const lam__slice_params *part = e->params;
        bool whole = part->at[0].start == rows && part->at[0].step == 1;
        for (int axis = 1; axis < type->rank; axis++)
            whole = whole && part->at[axis].count == type->dims[axis] && part->at[axis].step == 1;
        if (!whole) return false;
        rows += part->at[0].count;
        if (rows == type->dims[0]) return true;
    }
    return false;
}

/* The item that puts operand k of a sum among zeros, for this one alone; NONE. What it is added to is another thing
 * than what is put, and has all elements of the sum. An item that is itself made of others is not taken once more:
 * `joined` can name only one. */
static int64_t adding(const lam__plan *plan, const users *u, const lam__equation *e, int k) {
    const lam__program *p = plan->program;
    const int64_t part = e->in[k].variable, other = e->in[1 - k].variable;
    if (part < 0 || other < 0 || u->uses[part] != 1 || u->maker[part] == NONE) return NONE;
    const lam__equation *made = setting(plan, u->maker[part]);
    if (!made || plan->items[u->maker[part]].joined != NONE || !lam__program_is_zeros(&made->in[0])) return NONE;
    const int64_t put = made->in[1].variable;
    if (put < 0 || put == other || p->types[put]->dtype != p->types[e->first]->dtype) return NONE;
    for (int i = 0; i < 2; i++)
        if (!lam__value_same_type(p->types[e->in[i].variable], p->types[e->first])) return NONE;
    return u->maker[part];
}

/* The item that is left to item i; NONE. What is taken away from x may be a part; x taken away from a part may not,
 * since then all of x changes its sign. */
static int64_t left_to(const lam__plan *plan, const users *u, int64_t i) {
    const int64_t k = plan->items[i].equation;
    const lam__equation *e = k < 0 ? NULL : plan->program->list[k];
    if (e && e->primitive == &lam__row_update_slice) return joining(plan, u, e);
    if (!e || (e->primitive != &lam__row_add && e->primitive != &lam__row_sub)) return NONE;
    const int64_t made = adding(plan, u, e, 1);
    return made == NONE && e->primitive == &lam__row_add ? adding(plan, u, e, 0) : made;
}

/* Uses are counted once, before anything is joined: joining moves no use, it only makes two items one. */
bool lam__plan_find_parts(lam__plan *plan) {
    users u;
    if (!find_users(plan, &u)) return false;
    for (int64_t i = 0; i < plan->count; i++) {
        lam__plan_item *it = &plan->items[i];
        const lam__equation *e = setting(plan, i);
        const int64_t made = left_to(plan, &u, i);
        /* Only a constant is copied at all: a variable that dies here is written over as it lies. */
        it->covered = e && e->in[0].variable < 0 && is_covered(plan, &u, e);
        if (made == NONE) continue;
        it->joined = plan->items[made].equation;
        plan->items[made].left = true;
    }
    return true;
}
