/* See prune.h. A program from which something goes is recorded again (copy.h): the one that it was may be shared by
 * functions and equations. Results go before operands, and all of it until nothing changes. */
#include "lib/program/prune.h"

#include "lib/program/copy.h"
#include "lib/program/function.h"

#include <string.h>

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
            some = lam__program_copy(arena, was, plain, NULL, out, NULL);
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
static bool make_functions(lam__arena *arena, const lam__equation *e, bool plain, lam__program **within,
                           lam__edit *made) {
    const lam__nested *what = lam__nested_of(e);
    const int n = within[0]->inputs, skip = e->inputs - n;
    const bool whole = all(made->in, e->inputs);
    made->what = lam__arena_get(arena, e->params_bytes);
    if (!made->what) return false;
    memcpy(made->what, what, e->params_bytes);
    for (int i = 0; i < what->elements; i++) made->what->elements -= !made->in[skip + what->carries + i];
    for (int f = 0; f < what->count; f++) {
        lam__program *p = whole ? within[f] : lam__program_copy(arena, within[f], plain, made->in + skip, NULL, NULL);
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
static bool prune_equation(lam__arena *arena, const lam__program *p, int64_t k, bool plain, lam__edit *made) {
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
    lam__edit *edits = lam__arena_get(arena, (size_t)(p->equations + 1) * sizeof *edits);
    bool changed = plain && p->applications;
    if (!edits) return NULL;
    memset(edits, 0, (size_t)p->equations * sizeof *edits);
    for (int64_t k = 0; k < p->equations; k++) {
        if (!lam__nested_of(p->list[k])) continue;
        if (!prune_equation(arena, p, k, plain, &edits[k])) return NULL;
        changed = changed || edits[k].what;
    }
    if (changed) return lam__program_copy(arena, p, plain, NULL, NULL, edits);
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
