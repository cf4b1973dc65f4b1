/* Running plans: items one after the other, without any memory but that of results. See plan.h. Slots are empty before
 * and behind each run. A run that meets what a plan cannot do is left, and the program run through dispatch. */
#include "lib/program/plan_items.h"

#include "lib/dispatch/part.h"
#include "lib/primitives/join.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

enum { AHEAD = 8 }; /* items */

/* Borrowed: slots hold them until the item that reads them last is done. */
static void find_operands(const lam__plan *plan, const lam__equation *e) {
    for (int i = 0; i < e->inputs; i++)
        plan->work[i] = e->in[i].variable >= 0 ? plan->slots[e->in[i].variable] : e->in[i].constant;
}

/* A result's slot is empty before, since a variable is set once and slots are emptied behind each run. */
static lam_status call(const lam__plan *plan, const lam__equation *e) {
    find_operands(plan, e);
    const lam_call_site site = lam__equation_call(plan->ctx, e, plan->work);
    return lam__dispatch(&site, plan->slots + e->first);
}

/* What a part is set into, if it may be written: x that nobody needs or sees, or new memory where all of it will be
 * set. It is the value of the result then. The slot of x is emptied, so that the death of x finds nothing there. */
static lam_value *take_over(const lam__plan *plan, const lam__plan_item *it, const lam__equation *e) {
    const int64_t v = e->in[0].variable;
    const lam_value *type = plan->program->types[e->first];
    lam_value *x = NULL;
    if (it->covered) x = lam__value_new(plan->ctx, (lam_dtype)type->dtype, type->rank, type->dims);
    /* What is covered is a constant, which has no number, so there is no new memory when some is taken over. */
    for (int64_t i = 0; i < it->dead_count && v >= 0; i++)
        if (it->dead[i] == v && lam__value_unshared(plan->slots[v])) {
            x = plan->slots[v];
            plan->slots[v] = NULL;
            break;
        }
    return plan->slots[e->first] = x;
}

/* A box has no elements that could be written anywhere. */
static bool all_concrete(int n, lam_value *const in[]) {
    for (int i = 0; i < n; i++)
        if (in[i]->kind != LAM__CONCRETE) return false;
    return true;
}

/* See NOTE [parts in place]. False, with nothing done, where that is not so. What is set is looked up first, since x's
 * slot is empty once x is taken over; x itself cannot be what is set, which would be read while it is written. */
static bool set_in_place(const lam__plan *plan, const lam__plan_item *it, const lam__equation *e) {
    const lam__slice_params *part = e->params;
    const lam__equation *joined = it->joined < 0 ? NULL : plan->program->list[it->joined];
    find_operands(plan, joined ? joined : e);
    lam_value *const *in = joined ? plan->work : plan->work + 1;
    if (!all_concrete(joined ? joined->inputs : 1, in) || (!joined && in[0] == plan->work[0])) return false;
    const lam_value *x = take_over(plan, it, e);
    if (!x) return false;
    int64_t strides[LAM_INNER_RANK], dims[LAM_INNER_RANK], offset = 0;
    for (int axis = 0; axis < x->rank; axis++) {
        offset += part->at[axis].start * x->strides[axis];
        strides[axis] = part->at[axis].step * x->strides[axis];
        dims[axis] = part->at[axis].count;
    }
    const int64_t item = (int64_t)lam__dtype_bytes(x->dtype);
    char *to = (char *)x->data + offset * item;
    if (joined) {
        const lam__join_place place = {to, x->rank, dims, strides, .far = x->count * item >= LAM__JOIN_FAR};
        lam__join_parts(joined->params, joined->inputs, in, &place);
    } else if (in[0]->count) {
        lam__kernels_copy(in[0]->rank, in[0]->dims, (lam_dtype)x->dtype, to, strides, (lam_dtype)in[0]->dtype,
                          in[0]->data, in[0]->strides);
    }
    return true;
}

/* The same of a part that e adds, or takes away, where x is the other one of its operands. */
static bool add_in_place(const lam__plan *plan, const lam__plan_item *it, const lam__equation *e) {
    const lam__equation *joined = plan->program->list[it->joined];
    const int64_t v = e->in[e->in[0].variable == joined->first].variable;
    lam_value *x = plan->slots[v], *g = plan->slots[joined->in[1].variable];
    const int sign = e->primitive == &lam__row_sub ? -1 : 1;
    lam_status status;
    bool dies = false;
    for (int64_t i = 0; i < it->dead_count; i++) dies = dies || it->dead[i] == v;
    if (!dies || !all_concrete(1, &x) || !all_concrete(1, &g)) return false;
    /* Of plain values this is done or refused, and cannot fail. */
    if (!lam__dispatch_accumulate_part(x, joined->params, g, sign, &status)) return false;
    plan->slots[v] = NULL;
    plan->slots[e->first] = x;
    return true;
}

/* Where x is shared, or does not die here, the item is called like any other. */
static bool done_in_place(const lam__plan *plan, const lam__plan_item *it, const lam__equation *e) {
    if (e->primitive == &lam__row_update_slice) return set_in_place(plan, it, e);
    return it->joined >= 0 && add_in_place(plan, it, e);
}

/* An item that is left to another one does nothing itself. Where that other one cannot write in place, both are called
 * after all. */
static lam_status run_call(const lam__plan *plan, const lam__plan_item *it) {
    const lam__equation *e = plan->program->list[it->equation];
    if (it->left) return LAM_OK;
    if (done_in_place(plan, it, e)) return LAM_OK;
    const lam_status status = it->joined < 0 ? LAM_OK : call(plan, plan->program->list[it->joined]);
    return status == LAM_OK ? call(plan, e) : status;
}

/* Sources without gaps are read where they lie, others from a copy. Each is held until the part is done. What was made
 * when memory ran out stays in its slot and is released with the rest. */
static lam_status run_part(lam__plan *plan, const lam__plan_item *part) {
    const lam__program *p = plan->program;
    lam_status status = LAM_OK;
    for (int64_t i = 0; i < part->source_count; i++) {
        const lam__source *s = &part->sources[i].of;
        lam_value *v = s->variable >= 0 ? plan->slots[s->variable] : s->constant;
        plan->work[i] = v && !v->contiguous ? lam__value_contiguous(v) : lam__value_hold_any(v);
        if (v && !plan->work[i]) status = LAM_ERR_MEMORY;
        plan->data[part->sources[i].place] = plan->work[i] ? plan->work[i]->data : NULL;
    }
    for (int64_t i = 0; i < part->made_count && status == LAM_OK; i++) {
        const lam_value *type = p->types[part->made[i]];
        lam_value *v = lam__value_new(plan->ctx, (lam_dtype)type->dtype, type->rank, type->dims);
        plan->slots[part->made[i]] = v;
        if (v) plan->data[part->made_place + i] = v->data;
        else status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) lam__fused_run(part->fused, plan->data, part->fused->lanes);
    for (int64_t i = 0; i < part->source_count; i++) lam__value_release(plan->work[i]);
    return status;
}

/* Emptied first: to release a value may call a user's function, which may come back to this plan. */
static void release_slot(lam__plan *plan, int64_t v) {
    lam_value *held = plan->slots[v];
    plan->slots[v] = NULL;
    lam__value_release(held);
}

/* What a call gave is a box where a function that it calls reads a value of an open level beside its operands. */
static bool gave_box(const lam__plan *plan, const lam__plan_item *it) {
    const lam__equation *e = it->equation >= 0 ? plan->program->list[it->equation] : NULL;
    for (int o = 0; e && o < e->outputs; o++) {
        const lam_value *v = plan->slots[e->first + o];
        if (v && lam__value_is_box(v)) return true;
    }
    return false;
}

/* Items and equations of a long program have left the caches when their turn comes again. */
static void fetch_ahead(const lam__plan *plan, int64_t i) {
    if (i + 2 * AHEAD >= plan->count) return;
    const lam__plan_item *next = &plan->items[i + AHEAD], *later = &plan->items[i + 2 * AHEAD];
    __builtin_prefetch(later);
    __builtin_prefetch((const char *)later + 64);
    if (next->equation < 0) return;
    const char *e = (const char *)plan->program->list[next->equation];
    __builtin_prefetch(e);
    __builtin_prefetch(e + 64);
    if (next->dead_count) __builtin_prefetch(next->dead);
}

/* Stops where *boxed is found to be true: parts read elements, which boxes have none of. */
static lam_status run_items(lam__plan *plan, bool *boxed) {
    lam_status status = LAM_OK;
    *boxed = false;
    for (int64_t i = 0; i < plan->count && status == LAM_OK && !*boxed; i++) {
        const lam__plan_item *it = &plan->items[i];
        fetch_ahead(plan, i);
        status = it->equation >= 0 ? run_call(plan, it) : run_part(plan, it);
        *boxed = gave_box(plan, it);
        for (int64_t k = 0; k < it->dead_count; k++) release_slot(plan, it->dead[k]);
    }
    return status;
}

/* Behind a run that went through only inputs and results are still held. */
static void release_rest(lam__plan *plan, bool went_through) {
    const lam__program *p = plan->program;
    const int64_t held = went_through ? p->inputs : p->variables;
    for (int64_t v = 0; v < held; v++)
        if (plan->slots[v]) release_slot(plan, v);
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable >= 0 && plan->slots[p->results[o].variable])
            release_slot(plan, p->results[o].variable);
}

/* `busy` from the first slot to the last, so that nobody who comes back from a call takes them for his own (jit.c calls
 * the function as it is then). */
lam_status lam__plan_run(lam__plan *plan, lam_value *const in[], lam_value *out[]) {
    const lam__program *p = plan->program;
    plan->busy = true;
    for (int i = 0; i < p->inputs; i++) plan->slots[i] = lam__value_hold(in[i]);
    bool boxed;
    lam_status status = run_items(plan, &boxed);
    for (int o = 0; o < p->outputs; o++) {
        const lam__atom *a = &p->results[o];
        lam_value *v = a->variable >= 0 ? plan->slots[a->variable] : a->constant;
        out[o] = status == LAM_OK && !boxed ? lam__value_hold_any(v) : NULL;
    }
    release_rest(plan, status == LAM_OK && !boxed);
    plan->busy = false;
    /* The caller holds the inputs too, so nothing was written over them, and the program finds what there was. */
    return status == LAM_OK && boxed ? lam__program_run(p, in, out) : status;
}
