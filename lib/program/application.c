/* See application.h. Applications are made and freed with their program, and copied with it. */
#include "lib/program/application.h"

static size_t bytes_of(int outputs) {
    return sizeof(lam__application) + (size_t)outputs * sizeof(int64_t);
}

/* The call is kept as an equation, which holds its constants and its parameters; it sets no variables in order, so it
 * has no number for the first of them. The newest application is the one that is being recorded. */
lam__application *lam__application_begin(lam__program *p, const lam_call_site *call, const lam__atom in[]) {
    lam__application *a = lam__alloc_get(&p->ctx->pool, bytes_of(call->outputs));
    lam__equation *e = a ? lam__equation_new(call, in, -1) : NULL;
    if (!a) lam__error_memory(p->ctx, bytes_of(call->outputs));
    else if (!e) lam__alloc_put(&p->ctx->pool, a, bytes_of(call->outputs));
    if (!e) return NULL;
    *a = (lam__application){.next = p->applications, .outer = p->within, .call = e};
    for (int o = 0; o < e->outputs; o++) a->out[o] = -1;
    return p->applications = p->within = a;
}

/* One that failed stays in the list, since equations that were recorded meanwhile still say that they are within it.
 * Nobody sees it there: whoever looks goes on outwards until one is done. */
void lam__application_end(lam__program *p, lam__application *a, const int64_t out[]) {
    p->within = a->outer;
    a->done = out != NULL;
    for (int o = 0; out && o < a->call->outputs; o++) a->out[o] = out[o];
}

void lam__application_free_all(lam__program *p) {
    while (p->applications) {
        lam__application *a = p->applications;
        p->applications = a->next;
        const size_t bytes = bytes_of(a->call->outputs);
        lam__equation_free(p->ctx, a->call);
        lam__alloc_put(&p->ctx->pool, a, bytes);
    }
}

/* ---- finishing ------------------------------------------------------------------------------------------------- */

/* A rule may read an operand that the operations do not. So all operands of the call live as long as one of its
 * operations does, and so do those of the calls around it. */
void lam__application_need(lam__program *p, const lam__equation *e) {
    for (lam__application *a = lam__application_done(e->within); a && !a->needed; a = lam__application_done(a->outer)) {
        a->needed = true;
        for (int i = 0; i < a->call->inputs; i++)
            if (a->call->in[i].variable >= 0) p->last_use[a->call->in[i].variable] = 0;
    }
}

/* Only where a call begins: if the equation before lies in it too, its operands have been read there, and so have those
 * of all calls around it. Later equations of the call say for themselves what they read. */
void lam__application_read(lam__program *p, int64_t k) {
    const lam__application *before = k ? p->list[k - 1]->within : NULL;
    for (lam__application *a = lam__application_done(p->list[k]->within); a; a = lam__application_done(a->outer)) {
        if (lam__application_within(before, a)) return;
        for (int i = 0; i < a->call->inputs; i++)
            if (a->call->in[i].variable >= 0) p->last_use[a->call->in[i].variable] = k;
    }
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

/* With the operands of a, in the place where made->within is. */
static lam__application *copy_of(lam__program *made, const lam__application *a, lam__atom_map *map, const void *env) {
    const lam__equation *e = a->call;
    lam__scratch_area area;
    lam__atom *in = lam__scratch_get(&area, made->ctx, (size_t)(e->inputs + 1) * sizeof *in);
    if (!in) return NULL;
    for (int i = 0; i < e->inputs; i++) in[i] = map(env, &e->in[i]);
    const lam_call_site call = lam__equation_call(made->ctx, e, NULL);
    lam__application *copy = lam__application_begin(made, &call, in);
    lam__scratch_put(&area);
    return copy;
}

/* Outer ones come first, as they did in the program itself. Each round copies the outermost one that has no copy yet,
 * since a copy is begun within that of its outer one. */
bool lam__application_copy(lam__program *made, lam__application *a, lam__atom_map *map, const void *env) {
    a = lam__application_done(a);
    while (a && !a->copy) {
        lam__application *next = a, *outer = lam__application_done(a->outer);
        for (; outer && !outer->copy; outer = lam__application_done(outer->outer)) next = outer;
        made->within = outer ? outer->copy : NULL;
        next->copy = copy_of(made, next, map, env);
        if (!next->copy) return false;
    }
    made->within = a ? a->copy : NULL;
    return true;
}

/* Results only now: the variables that they are in the copy did not exist when the calls were begun. What was noted in
 * p for the time of copying is taken out again. */
void lam__application_copied(lam__program *made, const lam__program *p, lam__atom_map *map, const void *env) {
    for (lam__application *a = p->applications; a; a = a->next) {
        lam__application *copy = a->copy;
        a->copy = NULL;
        if (!copy) continue;
        copy->done = true;
        for (int o = 0; o < a->call->outputs; o++)
            if (a->out[o] >= 0) copy->out[o] = map(env, &(lam__atom){a->out[o], NULL}).variable;
    }
    if (made) made->within = NULL;
}
