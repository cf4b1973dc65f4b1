/* See copy.h. Equations keep their order, so that each still reads only variables with smaller numbers than those it
 * sets. */
#include "lib/program/copy.h"

#include "lib/program/application.h"

/* A copy being made. map: the number of each variable in it, -1 for none. */
typedef struct copy {
    lam__arena *arena;
    bool plain;
    const lam__program *p;
    lam__program *made;
    int64_t *map;
} copy;

static bool add_variable(const copy *c, int64_t v) {
    return (c->map[v] = lam__program_variable_like(c->made, c->p->types[v])) >= 0;
}

/* Constants stay; the new equation holds them too. */
static lam__atom mapped(const void *copying, const lam__atom *a) {
    const copy *c = copying;
    return a->variable < 0 ? *a : (lam__atom){c->map[a->variable], NULL};
}

/* Equations with fewer operands or results keep the order of what is left, by which the programs in them take it. */
static bool add_equation(const copy *c, const lam__equation *e, lam__edit *changed) {
    lam__edit none = {.what = NULL}, *d = changed && changed->what ? changed : &none;
    lam__atom *in = lam__arena_get(c->arena, (size_t)(e->inputs + d->taken + 1) * sizeof *in);
    const int64_t first = c->made->variables;
    if (!in) return false;
    lam_call_site call = {.ctx = c->p->ctx,
                          .primitive = e->primitive,
                          .params = d->what ? d->what : e->params,
                          .params_bytes = e->params_bytes};
    for (int i = 0; i <= e->inputs; i++) {
        for (int t = 0; t < d->taken && i == d->at; t++) in[call.inputs++] = (lam__atom){d->from->first + t, NULL};
        if (i < e->inputs && (!d->in || d->in[i])) in[call.inputs++] = mapped(c, &e->in[i]);
    }
    for (int o = 0; o < e->outputs; o++) {
        if (d->out && !d->out[o]) continue;
        if (!add_variable(c, e->first + o)) return false;
        call.outputs++;
    }
    if (d->given) d->first = c->made->variables;
    for (int o = 0; o < d->given; o++, call.outputs++)
        if (lam__program_variable_like(c->made, d->types[o]) < 0) return false;
    if (!c->plain && !lam__application_copy(c->made, e->within, mapped, c)) return false;
    return lam__program_record(c->made, &call, in, first) == LAM_OK;
}

lam__program *lam__program_copy(lam__arena *arena, const lam__program *p, bool plain, const bool inputs[],
                                const bool results[], lam__edit changed[]) {
    int n = 0, m = 0;
    for (int i = 0; i < p->inputs; i++) n += !inputs || inputs[i];
    for (int o = 0; o < p->outputs; o++) m += !results || results[o];
    copy c = {arena, plain, p, lam__program_new(p->ctx, n, m),
              lam__arena_get(arena, (size_t)(p->variables + 1) * sizeof *c.map)};
    bool fine = c.made && c.map;
    if (c.made) c.made->spares = p->spares;
    for (int64_t v = 0; v < p->variables && fine; v++) c.map[v] = -1;
    for (int i = 0; i < p->inputs && fine; i++) fine = (inputs && !inputs[i]) || add_variable(&c, i);
    for (int64_t k = 0; k < p->equations && fine; k++)
        fine = add_equation(&c, p->list[k], changed ? &changed[k] : NULL);
    if (c.map && !plain) lam__application_copied(c.made, p, mapped, &c);
    for (int o = 0, at = 0; o < p->outputs && fine; o++) {
        if (results && !results[o]) continue;
        c.made->results[at] = mapped(&c, &p->results[o]);
        if (c.made->results[at].constant) lam__value_hold(c.made->results[at].constant);
        at++;
    }
    if (fine && lam__program_finish(c.made) == LAM_OK) return c.made;
    lam__program_release(c.made);
    return NULL;
}
