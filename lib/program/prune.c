/* See prune.h. A program from which something goes is recorded again, with other numbers for its variables: the one
 * that it was may be shared by functions and equations. */
#include "lib/program/prune.h"

#include "lib/program/application.h"
#include "lib/program/arena.h"
#include "lib/program/function.h"
#include "lib/program/nested.h"

#include <string.h>

/* What becomes of an equation with programs in it: other parameters, and which operands and results it keeps. */
typedef struct edit {
    lam__nested *what; /* NULL: it stays as it is */
    bool *in, *out;
} edit;

/* A copy being made. map: the number of each variable in it, -1 for none. plain: calls with rules are left out. */
typedef struct copy {
    lam__arena *arena;
    bool plain;
    const lam__program *p;
    lam__program *made;
    int64_t *map;
} copy;

/* With the type that it has, none where it is left out. */
static bool add_variable(const copy *c, int64_t v) {
    const lam_value *type = c->p->types[v];
    c->map[v] = lam__program_variable(c->made, type ? (lam_dtype)type->dtype : LAM_F64, type ? type->rank : -1,
                                      type ? type->dims : NULL);
    return c->map[v] >= 0;
}

/* Constants stay; the new equation holds them too. */
static lam__atom mapped(const void *copying, const lam__atom *a) {
    const copy *c = copying;
    return a->variable < 0 ? *a : (lam__atom){c->map[a->variable], NULL};
}

/* Equations with fewer operands or results keep the order of what is left, by which the programs in them take it. */
static bool add_equation(const copy *c, const lam__equation *e, const edit *changed) {
    const bool same = !changed || !changed->what;
    lam__atom *in = lam__arena_get(c->arena, (size_t)(e->inputs + 1) * sizeof *in);
    const int64_t first = c->made->variables;
    if (!in) return false;
    lam_call_site call = {.ctx = c->p->ctx,
                          .primitive = e->primitive,
                          .params = same ? e->params : changed->what,
                          .params_bytes = e->params_bytes};
    for (int i = 0; i < e->inputs; i++)
        if (same || changed->in[i]) in[call.inputs++] = mapped(c, &e->in[i]);
    for (int o = 0; o < e->outputs; o++) {
        if (!same && !changed->out[o]) continue;
        if (!add_variable(c, e->first + o)) return false;
        call.outputs++;
    }
    if (!c->plain && !lam__application_copy(c->made, e->within, mapped, c)) return false;
    return lam__program_record(c->made, &call, in, first) == LAM_OK;
}

/* p without some inputs and results (NULL: with all), and with its equations changed (NULL: as they are), finished. */
static lam__program *copy_of(lam__arena *arena, const lam__program *p, bool plain, const bool inputs[],
                             const bool results[], const edit changed[]) {
    int n = 0, m = 0;
    for (int i = 0; i < p->inputs; i++) n += !inputs || inputs[i];
    for (int o = 0; o < p->outputs; o++) m += !results || results[o];
    copy c = {arena, plain, p, lam__program_new(p->ctx, n, m),
              lam__arena_get(arena, (size_t)(p->variables + 1) * sizeof *c.map)};
    bool fine = c.made && c.map;
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

/* ---- what is read ------------------------------------------------------------------------------------------------ */

static bool all(const bool kept[], int n) {
    bool is = true;
    for (int i = 0; i < n; i++) is = is && kept[i];
    return is;
}

/* Results that somebody reads, and carries. A carry stays, read or not: the next trip reads it. */
static void find_results(const lam__program *p, int64_t k, bool out[]) {
    const lam__equation *e = p->list[k];
    const lam__nested *what = lam__nested_of(e);
    for (int o = 0; o < e->outputs; o++) out[o] = o < what->carries || p->last_use[e->first + o] > k;
}

/* Operands that some function reads, carries all. in[]: of the equation, whose first ones may be no operands of its
 * functions. The index of a choice is one of those. */
static void find_operands(const lam__equation *e, lam__program *const within[], bool in[]) {
    const lam__nested *what = lam__nested_of(e);
    const int n = within[0]->inputs, skip = e->inputs - n;
    for (int i = 0; i < skip; i++) in[i] = true;
    for (int i = 0; i < n; i++) {
        in[skip + i] = i < what->carries;
        for (int f = 0; f < what->count; f++) {
            const lam__program *p = within[f];
            in[skip + i] = in[skip + i] || p->last_use[i] >= 0;
        }
    }
}

/* ---- one equation ------------------------------------------------------------------------------------------------ */

static lam__program *settled(lam__program *p, bool plain);

/* The programs of equation k without the results that nobody reads, pruned; false without memory. *changed is true
 * where one of them is another than before. */
static bool prune_within(lam__arena *arena, const lam__program *p, int64_t k, bool plain, const bool out[],
                         lam__program **within, bool *changed) {
    const lam__nested *what = lam__nested_of(p->list[k]);
    const bool whole = all(out, p->list[k]->outputs);
    for (int f = 0; f < what->count; f++) {
        lam__program *was = lam__program_of(what->fns[f]);
        was->refs++;
        lam__program *some = was;
        if (!whole) {
            some = copy_of(arena, was, plain, NULL, out, NULL);
            lam__program_release(was);
        }
        within[f] = some ? settled(some, plain) : NULL;
        if (!within[f]) return false;
        *changed = *changed || within[f] != was;
    }
    return true;
}

/* Their functions, held by nobody but the scope, in a copy of the parameters. Programs in within[] are taken over one
 * by one, so that what is left there is the caller's. */
static bool make_functions(lam__arena *arena, const lam__equation *e, bool plain, lam__program **within, edit *made) {
    const lam__nested *what = lam__nested_of(e);
    const int n = within[0]->inputs, skip = e->inputs - n;
    const bool whole = all(made->in, e->inputs);
    made->what = lam__arena_get(arena, e->params_bytes);
    if (!made->what) return false;
    memcpy(made->what, what, e->params_bytes);
    for (int i = 0; i < what->elements; i++) made->what->elements -= !made->in[skip + what->carries + i];
    for (int f = 0; f < what->count; f++) {
        lam__program *p = whole ? within[f] : copy_of(arena, within[f], plain, made->in + skip, NULL, NULL);
        if (!whole) lam__program_release(within[f]);
        within[f] = NULL;
        if (!p) return false;
        made->what->fns[f] = lam__program_fn(p->ctx, p, what->fns[f]->name);
        if (made->what->fns[f]->magic != LAM__FN) return false;
    }
    return true;
}

/* Results go first: operands that were read for them alone are not read any more then. An edit without parameters
 * leaves the equation as it is. */
static bool prune_equation(lam__arena *arena, const lam__program *p, int64_t k, bool plain, edit *made) {
    const lam__equation *e = p->list[k];
    const lam__nested *what = lam__nested_of(e);
    lam__program **within = lam__arena_get(arena, (size_t)(what->count + 1) * sizeof *within);
    made->in = lam__arena_get(arena, (size_t)e->inputs + 1);
    made->out = lam__arena_get(arena, (size_t)e->outputs + 1);
    if (!within || !made->in || !made->out) return false;
    memset(within, 0, (size_t)what->count * sizeof *within);
    bool changed = false;
    find_results(p, k, made->out);
    bool fine = prune_within(arena, p, k, plain, made->out, within, &changed);
    if (fine) {
        find_operands(e, within, made->in);
        if (changed || !all(made->in, e->inputs)) fine = make_functions(arena, e, plain, within, made);
    }
    for (int f = 0; f < what->count; f++) lam__program_release(within[f]);
    return fine;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* One more reference to p where nothing goes. */
static lam__program *prune(lam__arena *arena, lam__program *p, bool plain) {
    edit *edits = lam__arena_get(arena, (size_t)(p->equations + 1) * sizeof *edits);
    bool changed = plain && p->applications;
    if (!edits) return NULL;
    memset(edits, 0, (size_t)p->equations * sizeof *edits);
    for (int64_t k = 0; k < p->equations; k++) {
        if (!lam__nested_of(p->list[k])) continue;
        if (!prune_equation(arena, p, k, plain, &edits[k])) return NULL;
        changed = changed || edits[k].what;
    }
    if (changed) return copy_of(arena, p, plain, NULL, NULL, edits);
    p->refs++;
    return p;
}

/* Until nothing changes; p is taken over. Without choices, loops and calls with rules there is nothing that
 * lam__program_finish has not dropped. */
static lam__program *settled(lam__program *p, bool plain) {
    lam_ctx *ctx = p->ctx;
    lam__arena arena;
    lam_scope scope;
    bool any = plain && p->applications;
    for (int64_t k = 0; k < p->equations; k++) any = any || lam__nested_of(p->list[k]);
    if (!any) return p;
    lam__scope_open(ctx, &scope); /* of functions that are made */
    lam__arena_open(&arena, ctx);
    const lam__mark mark = lam__error_mark(ctx);
    lam__program *made = prune(&arena, p, plain);
    if (!made && lam__error_since(ctx, mark) == LAM_OK) lam__error_memory(ctx, arena.bytes);
    lam__arena_close(&arena);
    lam__scope_close(&scope);
    lam__program_release(p);
    /* what went may have been all that read something else */
    return made && made != p ? settled(made, plain) : made;
}

lam__program *lam__program_prune(lam__program *p) {
    return settled(p, false);
}

lam__program *lam__program_plain(lam__program *p) {
    return settled(p, true);
}
