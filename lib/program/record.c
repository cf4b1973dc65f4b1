/* Programs: making and freeing them. See program.h. While a program is recorded it only grows: variables and equations
 * are appended, in the order in which they were applied, so an equation reads only variables with smaller numbers than
 * those it sets. lam__program_finish drops what no result needs and makes the program what run.c takes. */
#include "lib/program/application.h"
#include "lib/program/nested.h"

#include "lib/dispatch/staged.h"

#include <string.h>

/* Results are constants that are not there (variable -1, NULL) until lam__trace_result has set them, so that a program
 * can be released at any time. Room for one result at least, so that there is always a block to give back. */
lam__program *lam__program_new(lam_ctx *ctx, int inputs, int outputs) {
    lam__program *p = lam__alloc_get(&ctx->pool, sizeof *p);
    size_t results = (size_t)(outputs ? outputs : 1) * sizeof(lam__atom);
    lam__atom *atoms = p ? lam__alloc_get(&ctx->pool, results) : NULL;
    if (!atoms) {
        if (p) lam__alloc_put(&ctx->pool, p, sizeof *p);
        lam__error_memory(ctx, results);
        return NULL;
    }
    *p = (lam__program){
        .magic = LAM__PROGRAM, .refs = 1, .ctx = ctx, .inputs = inputs, .outputs = outputs, .results = atoms};
    for (int o = 0; o < outputs; o++) atoms[o] = (lam__atom){-1, NULL}; /* nothing yet */
    return p;
}

/* For a program whose results are the last that is read of it. The old results hold nothing yet, so there is nothing to
 * release. */
bool lam__program_set_outputs(lam__program *p, int outputs) {
    const size_t bytes = (size_t)(outputs ? outputs : 1) * sizeof(lam__atom);
    lam__atom *atoms = lam__alloc_get(&p->ctx->pool, bytes);
    if (!atoms) {
        lam__error_memory(p->ctx, bytes);
        return false;
    }
    for (int o = 0; o < outputs; o++) atoms[o] = (lam__atom){-1, NULL};
    lam__alloc_put(&p->ctx->pool, p->results, (size_t)(p->outputs ? p->outputs : 1) * sizeof *p->results);
    p->results = atoms;
    p->outputs = outputs;
    return true;
}

/* An equation owns its constants, its residual, and what its parameters hold. */
void lam__equation_free(lam_ctx *ctx, lam__equation *e) {
    for (int i = 0; i < e->inputs; i++) lam__value_release(e->in[i].constant);
    if (e->residual) e->primitive->staged->release(ctx, e->residual);
    if (e->primitive->params_release && e->params_bytes) e->primitive->params_release(ctx, e->params);
    lam__alloc_put(&ctx->pool, e, e->bytes);
}

/* One reference less; with the last, all that the program holds. last_use is there once the program is finished. */
void lam__program_release(lam__program *p) {
    if (!p || --p->refs) return;
    lam_ctx *ctx = p->ctx;
    for (int64_t k = 0; k < p->equations; k++) lam__equation_free(ctx, p->list[k]);
    lam__application_free_all(p);
    for (int64_t v = 0; v < p->variables; v++) lam__value_release(p->types[v]);
    for (int o = 0; o < p->outputs; o++) lam__value_release(p->results[o].constant);
    if (p->list) lam__alloc_put(&ctx->pool, p->list, (size_t)p->equation_room * sizeof *p->list);
    if (p->types) lam__alloc_put(&ctx->pool, p->types, (size_t)p->variable_room * sizeof *p->types);
    if (p->last_use) lam__alloc_put(&ctx->pool, p->last_use, (size_t)p->variables * sizeof *p->last_use);
    lam__alloc_put(&ctx->pool, p->results, (size_t)(p->outputs ? p->outputs : 1) * sizeof *p->results);
    lam__alloc_put(&ctx->pool, p, sizeof *p);
}

/* Twice the room for an array of pointers; false without memory. Doubling makes the copies of a program of n equations
 * O(n) in all. Before the first growth *array is NULL and *room 0. */
static bool grow(lam_ctx *ctx, void ***array, int64_t used, int64_t *room) {
    int64_t wider = *room ? 2 * *room : 16;
    void **fresh = lam__alloc_get(&ctx->pool, (size_t)wider * sizeof *fresh);
    if (!fresh) {
        lam__error_memory(ctx, (size_t)wider * sizeof *fresh);
        return false;
    }
    if (used) memcpy(fresh, *array, (size_t)used * sizeof *fresh);
    if (*array) lam__alloc_put(&ctx->pool, *array, (size_t)*room * sizeof *fresh);
    *array = fresh;
    *room = wider;
    return true;
}

/* A new variable of this type, which is kept as an abstract value: dtype and dims for shape rules, zeros and
 * transposes, no elements. On failure the number of variables is what it was. */
int64_t lam__program_variable(lam__program *p, lam_dtype dtype, int rank, const int64_t *dims) {
    void **types = (void **)p->types;
    if (p->variables == p->variable_room && !grow(p->ctx, &types, p->variables, &p->variable_room)) return -1;
    p->types = (lam_value **)types;
    lam_value *type = rank < 0 ? NULL : lam__value_abstract(p->ctx, dtype, rank, dims);
    if (!type && rank >= 0) return -1; /* recorded by the maker */
    p->types[p->variables] = type;
    return p->variables++;
}

/* Sixteen bytes are the widest element, a c128. -0 has a bit that is not 0, and is none. A value without elements has
 * no data to look at. */
bool lam__program_is_zeros(const lam__atom *a) {
    static const char zero[16];
    const lam_value *v = a->variable < 0 ? a->constant : NULL;
    if (!v || v->kind != LAM__CONCRETE || !v->count) return false;
    for (int axis = 0; axis < v->rank; axis++)
        if (v->strides[axis] && v->dims[axis] != 1) return false;
    return !memcmp(v->data, zero, lam__dtype_bytes(v->dtype));
}

/* Variables are numbered in the order of their equations, inputs first. The last equation that begins up to here. In a
 * finished program numbers of dropped equations are gaps, so this is for variables that somebody reads. */
const lam__equation *lam__program_maker(const lam__program *p, int64_t variable) {
    int64_t low = 0, high = p->equations;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (p->list[middle]->first <= variable) low = middle + 1;
        else high = middle;
    }
    return variable >= p->inputs && low ? p->list[low - 1] : NULL;
}

/* Equation, operands and parameters lie in one block. The parameters are copied because those of the call lie in some
 * frame; what they point to is held by the row's own function (params_hold), and given up with the equation. The array
 * of atoms may be the caller's room, and is not kept. */
lam__equation *lam__equation_new(const lam_call_site *call, const lam__atom in[], int64_t first) {
    lam_ctx *ctx = call->ctx;
    size_t atoms = (size_t)call->inputs * sizeof(lam__atom), bytes = sizeof(lam__equation) + atoms + call->params_bytes;
    lam__equation *e = lam__alloc_get(&ctx->pool, bytes);
    if (!e) {
        lam__error_memory(ctx, bytes);
        return NULL;
    }
    *e = (lam__equation){.primitive = call->primitive,
                         .inputs = call->inputs,
                         .outputs = call->outputs,
                         .first = first,
                         .params_bytes = call->params_bytes,
                         .bytes = bytes};
    e->in = (lam__atom *)(void *)(e + 1);
    e->params = (char *)e->in + atoms;
    for (int i = 0; i < call->inputs; i++) {
        e->in[i] = in[i];
        if (in[i].constant) lam__value_hold(in[i].constant);
    }
    if (call->params_bytes) memcpy(e->params, call->params, call->params_bytes);
    if (call->params_bytes && call->primitive->params_hold) call->primitive->params_hold(ctx, e->params);
    return e;
}

/* What is recorded while a call with rules runs is the doing of that call. `nests` is counted here for those who ask,
 * while recording goes on, how large the program has become. */
lam_status lam__program_record(lam__program *p, const lam_call_site *call, const lam__atom in[], int64_t first) {
    void **list = (void **)p->list;
    if (p->equations == p->equation_room && !grow(p->ctx, &list, p->equations, &p->equation_room))
        return LAM_ERR_MEMORY;
    p->list = (lam__equation **)list;
    lam__equation *e = lam__equation_new(call, in, first);
    if (!e) return LAM_ERR_MEMORY;
    e->within = p->within;
    p->list[p->equations++] = e;
    const lam__nested *what = lam__nested_of(e);
    p->nests += what && (p->native || lam__nested_is_loop(what));
    for (int o = 0; o < call->outputs; o++) {
        const lam_value *type = p->types[first + o];
        p->wide += type && type->count > LAM__PROGRAM_FEW ? type->count : 0;
    }
    return LAM_OK;
}

/* ---- finish ---------------------------------------------------------------------------------------------------- */

/* Marks in last_use what an equation list read backwards needs; dead equations are freed. The list is compacted towards
 * its end, since it is read from there, and moved to the front once. An equation with one live output stays whole.
 * Walking backwards, all readers of a variable come before the equation that sets it, so one pass is enough. */
static void drop_dead(lam__program *p) {
    int64_t kept = p->equations;
    for (int64_t k = p->equations - 1; k >= 0; k--) {
        lam__equation *e = p->list[k];
        bool live = false;
        for (int o = 0; o < e->outputs; o++) live = live || p->last_use[e->first + o] >= 0;
        if (!live) {
            lam__equation_free(p->ctx, e);
            continue;
        }
        for (int i = 0; i < e->inputs; i++)
            if (e->in[i].variable >= 0) p->last_use[e->in[i].variable] = 0;
        lam__application_need(p, e);
        p->list[--kept] = e;
    }
    memmove(p->list, p->list + kept, (size_t)(p->equations - kept) * sizeof *p->list);
    p->equations -= kept;
}

/* last_use serves twice: as a mark while dead equations are dropped (-1: nobody needs it), then as the number of the
 * last equation that touches a variable. A result is needed beyond all equations. A variable that an equation sets and
 * nobody reads has that equation itself as its last use. */
lam_status lam__program_finish(lam__program *p) {
    size_t bytes = (size_t)p->variables * sizeof *p->last_use;
    p->last_use = lam__alloc_get(&p->ctx->pool, bytes);
    if (!p->last_use) return lam__error_memory(p->ctx, bytes);
    for (int64_t v = 0; v < p->variables; v++) p->last_use[v] = -1;
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable >= 0) p->last_use[p->results[o].variable] = 0;
    if (p->equations) drop_dead(p);
    for (int64_t v = 0; v < p->variables; v++) p->last_use[v] = -1;
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        for (int o = 0; o < e->outputs; o++) p->last_use[e->first + o] = k;
        for (int i = 0; i < e->inputs; i++)
            if (e->in[i].variable >= 0) p->last_use[e->in[i].variable] = k;
        lam__application_read(p, k);
    }
    for (int o = 0; o < p->outputs; o++)
        if (p->results[o].variable >= 0) p->last_use[p->results[o].variable] = INT64_MAX;
    /* A residual gives -1, which counts as boxes too: nobody can tell what it holds. */
    p->boxes = lam__program_boxes(p, NULL) != 0;
    return LAM_OK;
}

/* ---- other constants --------------------------------------------------------------------------------------------- */

/* A residual holds values of its own, which cannot be told apart from outside. Calls with rules come last, since
 * lam__program_with, which takes the same values in this order, copies none of them and so never gets there. Those that
 * nothing is left of do not count. */
int64_t lam__program_boxes(const lam__program *p, lam_value **values) {
    int64_t count = 0;
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        if (e->residual) return -1;
        for (int i = 0; i < e->inputs; i++)
            if (lam__program_is_box(&e->in[i]) && ++count && values) values[count - 1] = e->in[i].constant;
    }
    for (int o = 0; o < p->outputs; o++)
        if (lam__program_is_box(&p->results[o]) && ++count && values) values[count - 1] = p->results[o].constant;
    for (const lam__application *a = p->applications; a; a = a->next)
        for (int i = 0; a->needed && i < a->call->inputs; i++)
            if (lam__program_is_box(&a->call->in[i]) && ++count && values) values[count - 1] = a->call->in[i].constant;
    return count;
}

/* An atom with the next value in the place of a box; holds its constant. *next goes on with each box, in the order of
 * lam__program_boxes. */
static lam__atom atom_with(const lam__atom *a, lam_value *const **next) {
    lam__atom made = *a;
    if (lam__program_is_box(a)) made.constant = *(*next)++;
    if (made.constant) lam__value_hold(made.constant);
    return made;
}

/* One block as the equation is, with pointers into itself. It has no residual. The copied pointers are those of the old
 * block until they are set, and its constants are held one by one as they are replaced. */
static lam__equation *equation_with(lam_ctx *ctx, const lam__equation *e, lam_value *const **next) {
    lam__equation *made = lam__alloc_get(&ctx->pool, e->bytes);
    if (!made) {
        lam__error_memory(ctx, e->bytes);
        return NULL;
    }
    memcpy(made, e, e->bytes);
    made->within = NULL;
    made->in = (lam__atom *)(void *)(made + 1);
    made->params = (char *)made->in + (size_t)e->inputs * sizeof(lam__atom);
    for (int i = 0; i < e->inputs; i++) made->in[i] = atom_with(&e->in[i], next);
    if (e->params_bytes && e->primitive->params_hold) e->primitive->params_hold(ctx, made->params);
    return made;
}

/* Room for n pointers, at least one. The room is what lam__program_release gives back, whatever the number in use
 * is. */
static void *pointers(lam_ctx *ctx, int64_t n, int64_t *room) {
    *room = n ? n : 1;
    void *made = lam__alloc_get(&ctx->pool, (size_t)*room * sizeof(void *));
    if (!made) lam__error_memory(ctx, (size_t)*room * sizeof(void *));
    return made;
}

/* Types are shared. Counts rise with what is there, so that a program which could not be completed can be released.
 * Flags that are for those who record (unrolls, native and their like) are not copied: the result is there to be
 * run. */
lam__program *lam__program_with(const lam__program *p, lam_value *const values[]) {
    lam_ctx *ctx = p->ctx;
    lam__program *made = lam__program_new(ctx, p->inputs, p->outputs);
    if (!made) return NULL;
    made->spares = p->spares;
    made->types = pointers(ctx, p->variables, &made->variable_room);
    made->list = made->types ? pointers(ctx, p->equations, &made->equation_room) : NULL;
    for (int64_t v = 0; made->list && v < p->variables; v++) {
        made->types[v] = p->types[v] ? lam__value_hold(p->types[v]) : NULL;
        made->variables++;
    }
    while (made->list && made->equations < p->equations) {
        lam__equation *e = equation_with(ctx, p->list[made->equations], &values);
        if (!e) break;
        made->list[made->equations++] = e;
    }
    if (made->list && made->equations == p->equations) {
        for (int o = 0; o < p->outputs; o++) made->results[o] = atom_with(&p->results[o], &values);
        if (lam__program_finish(made) == LAM_OK) return made;
    }
    lam__program_release(made);
    return NULL;
}

/* ---- constants that become inputs -------------------------------------------------------------------------------- */

typedef struct lifted {
    size_t count;
    lam_value *const *values;
    int inputs; /* that the program had */
} lifted;

/* Inputs stay where they are; everything behind them makes room for the new ones. */
static int64_t renumbered(const lifted *l, int64_t variable) {
    return variable < l->inputs ? variable : variable + (int64_t)l->count;
}

/* Values that are lifted are known by their address. There are few of them: what a function has captured of open
 * levels. */
static lam__atom atom_lifted(const void *lift, const lam__atom *a) {
    const lifted *l = lift;
    if (a->variable >= 0) return (lam__atom){renumbered(l, a->variable), NULL};
    for (size_t i = 0; i < l->count; i++)
        if (a->constant == l->values[i]) return (lam__atom){l->inputs + (int64_t)i, NULL};
    return *a;
}

/* Calls with rules are copied along. What copying has noted in p is taken out also where it has failed.
 * lam__program_record copies `room`, which serves all equations. */
static bool equations_lifted(lam__program *made, const lam__program *p, const lifted *l, lam__atom *room) {
    bool fine = true;
    for (int64_t k = 0; k < p->equations && fine; k++) {
        const lam__equation *e = p->list[k];
        const lam_call_site call = lam__equation_call(p->ctx, e, NULL);
        for (int i = 0; i < e->inputs; i++) room[i] = atom_lifted(l, &e->in[i]);
        fine = lam__application_copy(made, e->within, atom_lifted, l) &&
               lam__program_record(made, &call, room, renumbered(l, e->first)) == LAM_OK;
    }
    lam__application_copied(made, p, atom_lifted, l);
    return fine;
}

/* Variables are numbered anew: those of the new inputs come behind the inputs, all others move up. A result that is
 * left out stays a variable without a type, so that numbers go on. */
lam__program *lam__program_lift(const lam__program *p, size_t n, lam_value *const values[]) {
    lam_ctx *ctx = p->ctx;
    const lifted l = {n, values, p->inputs};
    int widest = 1;
    for (int64_t k = 0; k < p->equations; k++)
        if (p->list[k]->inputs > widest) widest = p->list[k]->inputs;
    const size_t bytes = (size_t)widest * sizeof(lam__atom);
    lam__atom *room = lam__alloc_get(&ctx->pool, bytes);
    lam__program *made = room ? lam__program_new(ctx, p->inputs + (int)n, p->outputs) : NULL;
    bool fine = made != NULL;
    if (fine) made->spares = p->spares;
    for (int64_t v = 0; v < p->variables + (int64_t)n && fine; v++) {
        const bool fresh = v >= l.inputs && v < l.inputs + (int64_t)n;
        const lam_value *type = fresh ? values[v - l.inputs] : p->types[v < l.inputs ? v : v - (int64_t)n];
        fine = lam__program_variable_like(made, type) >= 0;
    }
    fine = fine && equations_lifted(made, p, &l, room);
    for (int o = 0; o < p->outputs && fine; o++) {
        made->results[o] = atom_lifted(&l, &p->results[o]);
        if (made->results[o].constant) lam__value_hold(made->results[o].constant);
    }
    if (!room) lam__error_memory(ctx, bytes);
    else lam__alloc_put(&ctx->pool, room, bytes);
    if (fine && lam__program_finish(made) == LAM_OK) return made;
    lam__program_release(made);
    return NULL;
}
