/* Scans that go back through scans of the same program: see residuals.h. What belongs to a trip there and is in reach
 * of the trip back are the elements that both take, the carries and results that one gives and the other takes, and
 * what all trips read; what is kept is one more result of the one scan and one more element of the other. It does not
 * matter which way they go, since an element is one of the same place in both. */
#include "lib/program/copy.h"
#include "lib/program/function.h"
#include "lib/program/prune.h"
#include "lib/program/residuals.h"

#include "lib/tensor/dtype.h"

#include <string.h>

/* Trips at once are a batch, of which nothing is done twice that would take long. */
static const lam__nested *scan_of(const lam__equation *e) {
    const lam__nested *what = lam__nested_of(e);
    return what && what->count == 1 && what->length > 0 && !what->batch && lam__program_of(what->fns[0]) ? what : NULL;
}

/* What operand i of `back` is in a trip of `there`: a result of that, an element that both take, or what all trips
 * read. */
static lam__atom link_of(const lam__equation *there, const lam__equation *back, int i) {
    const lam__nested *a = there->params, *b = back->params;
    const lam__atom none = {LAM__RESIDUALS_NONE, NULL}, *x = &back->in[i];
    const int64_t o = x->variable - there->first, elements = a->carries + a->elements;
    if (i < b->carries) return none;
    const bool element = i < b->carries + b->elements;
    if (element && x->variable >= 0 && o >= a->carries && o < there->outputs)
        return lam__program_of(a->fns[0])->results[o];
    for (int64_t j = element ? a->carries : elements; j < (element ? elements : there->inputs); j++)
        if (there->in[j].variable == x->variable && there->in[j].constant == x->constant) return (lam__atom){j, NULL};
    return none;
}

/* Whether one reads stacked results of the other. */
static bool reads(const lam__equation *back, const lam__equation *there) {
    const lam__nested *a = there->params, *b = back->params;
    bool is = false;
    for (int64_t i = b->carries; i < b->carries + b->elements; i++) {
        const int64_t v = back->in[i].variable;
        is = is || (v >= there->first + a->carries && v < there->first + there->outputs);
    }
    return is;
}

/* Bytes that may be kept: those of a second cache or two, or a few times what the way back reads anyway. */
static double most_bytes(const lam__program *p, const lam__equation *back) {
    const lam__nested *b = back->params;
    const double usual = 1 << 24, times = 8;
    double bytes = 0;
    for (int64_t i = b->carries; i < b->carries + b->elements; i++) {
        const lam_value *v = back->in[i].variable >= 0 ? p->types[back->in[i].variable] : back->in[i].constant;
        bytes += times * (double)v->count * (double)lam__dtype_bytes(v->dtype);
    }
    return bytes > usual ? bytes : usual;
}

/* Parameters with another program, taken over, whose function nobody but the scope holds; false without memory. */
static bool set_program(lam__arena *arena, const lam__equation *e, lam__program *p, lam__edit *d) {
    const lam__nested *what = e->params;
    lam__nested *made = lam__arena_get(arena, e->params_bytes);
    if (!made) {
        lam__program_release(p);
        return false;
    }
    memcpy(made, what, e->params_bytes);
    made->fns[0] = lam__program_fn(p->ctx, p, what->fns[0]->name);
    d->what = made;
    return made->fns[0]->magic == LAM__FN;
}

/* Types of the stacks of what is kept, one reference each; false without memory. */
static bool make_types(lam__arena *arena, const lam__program *there, int64_t length, lam__edit *d) {
    lam_value **types = lam__arena_get(arena, (size_t)d->given * sizeof *types);
    bool fine = types != NULL;
    d->types = types;
    for (int o = 0; o < d->given && types; o++) {
        const lam_value *x = lam__program_result_type(there, there->outputs - d->given + o);
        int64_t dims[LAM_INNER_RANK] = {length};
        if (x->rank) memcpy(dims + 1, x->dims, (size_t)x->rank * sizeof *dims);
        types[o] = lam__value_abstract(there->ctx, (lam_dtype)x->dtype, x->rank + 1, dims);
        fine = fine && types[o];
    }
    return fine;
}

/* Changes the two equations by what was found for them; both programs of r are taken over. False without memory. */
static bool change(lam__arena *arena, const lam__equation *there, const lam__equation *back, const lam__residuals *r,
                   lam__edit *from, lam__edit *to) {
    *from = (lam__edit){.given = r->count};
    *to = (lam__edit){.taken = r->count, .from = from};
    bool fine = make_types(arena, r->there, lam__nested_of(there)->length, from);
    fine = set_program(arena, there, r->there, from) && fine;
    fine = set_program(arena, back, r->back, to) && fine;
    if (!fine) return false;
    to->at = (int)(to->what->carries + to->what->elements);
    to->what->elements += r->count;
    return true;
}

/* Keeps what it can of the scan `there` for the scan `back`, which reads what that has stacked: with parameters in the
 * edits then. False without memory. */
static bool keep(lam__arena *arena, const lam__program *p, const lam__equation *there, const lam__equation *back,
                 lam__edit *from, lam__edit *to) {
    const lam__nested *a = there->params, *b = back->params;
    lam__residuals r;
    lam__atom *link = lam__arena_get(arena, (size_t)back->inputs * sizeof *link);
    for (int i = 0; link && i < back->inputs; i++) link[i] = link_of(there, back, i);
    if (!link || !lam__residuals_split(arena, lam__program_of(a->fns[0]), lam__program_of(b->fns[0]), link, a->length,
                                       most_bytes(p, back), (int)(b->carries + b->elements), &r))
        return false;
    return !r.there || change(arena, there, back, &r, from, to);
}

/* Each pair of scans of which neither is changed yet. */
static bool keep_pairs(lam__arena *arena, const lam__program *p, lam__edit *edits, bool *any) {
    bool fine = true;
    for (int64_t k = 1; k < p->equations && fine; k++) {
        const lam__equation *back = p->list[k];
        const lam__nested *b = scan_of(back);
        for (int64_t j = 0; b && j < k && fine && !edits[k].what; j++) {
            const lam__nested *a = edits[j].what ? NULL : scan_of(p->list[j]);
            if (!a || a->length != b->length || !reads(back, p->list[j])) continue;
            fine = keep(arena, p, p->list[j], back, &edits[j], &edits[k]);
            *any = *any || edits[k].what;
        }
    }
    return fine;
}

/* *made is p with what pairs of its scans keep, NULL where there are none. False without memory. */
static bool keep_all(lam__arena *arena, const lam__program *p, lam__program **made) {
    const size_t bytes = (size_t)(p->equations + 1) * sizeof(lam__edit);
    lam__edit *edits = lam__arena_get(arena, bytes);
    bool any = false;
    *made = NULL;
    if (!edits) return false;
    memset(edits, 0, bytes);
    bool fine = keep_pairs(arena, p, edits, &any);
    if (fine && any) fine = (*made = lam__program_copy(arena, p, true, NULL, NULL, edits)) != NULL;
    for (int64_t k = 0; k < p->equations; k++)
        for (int o = 0; edits[k].types && o < edits[k].given; o++) lam__value_release(edits[k].types[o]);
    return fine;
}

/* Until there is no such pair, for a scan may be one of two; what was read for what is kept alone goes then. Rules are
 * not in the program any more when this is asked for. */
lam__program *lam__residuals_keep(lam__program *p) {
    lam_ctx *ctx = p->ctx;
    lam__program *made = NULL;
    while (!p->spares) {
        lam__arena arena;
        lam_scope scope;
        lam__scope_open(ctx, &scope); /* of functions that are made */
        lam__arena_open(&arena, ctx);
        const lam__mark mark = lam__error_mark(ctx);
        const bool fine = keep_all(&arena, p, &made);
        if (!fine && lam__error_since(ctx, mark) == LAM_OK) lam__error_memory(ctx, arena.bytes);
        lam__arena_close(&arena);
        lam__scope_close(&scope);
        if (fine && !made) return p;
        lam__program_release(p);
        p = fine ? lam__program_plain(made) : NULL;
        if (!p) return NULL;
    }
    return p;
}
