/* Programs: running them forwards, and linear ones backwards. Each equation is an ordinary dispatch, so a program runs
 * under whatever levels are current and can be transformed again. Backwards each equation is transposed by the rule of
 * its row: for y = A x, g goes to A' g, and where a variable is read more than once the parts are added. What a walk
 * keeps lies on a desk in one block and is released with it, also after a failure. */
#include "lib/program/application.h"
#include "lib/program/nested.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* slots: one per variable; forwards its value, backwards its cotangent, NULL where there is none (yet, or any more).
 * work: room for operands, and backwards their cotangents and results behind them, of the widest equation. needs: per
 * operand, constant: per result. */
typedef struct desk {
    lam_value **slots, **work;
    bool *needs, *constant;
    int widest;
    size_t bytes;
} desk;

/* All of it is zero at first: no slot holds anything, so desk_close is right wherever the walk stops. Bools lie behind
 * all pointers, so that nothing is out of line. */
static lam_status desk_open(const lam__program *p, desk *d) {
    d->widest = 1;
    for (int64_t k = 0; k < p->equations; k++) {
        if (p->list[k]->inputs > d->widest) d->widest = p->list[k]->inputs;
        if (p->list[k]->outputs > d->widest) d->widest = p->list[k]->outputs;
    }
    size_t values = (size_t)p->variables + 3 * (size_t)d->widest;
    d->bytes = values * sizeof(lam_value *) + 2 * (size_t)d->widest;
    d->slots = lam__alloc_get(&p->ctx->pool, d->bytes);
    if (!d->slots) return lam__error_memory(p->ctx, d->bytes);
    memset(d->slots, 0, d->bytes);
    d->work = d->slots + p->variables;
    d->needs = (bool *)(void *)(d->slots + values);
    d->constant = d->needs + d->widest;
    return LAM_OK;
}

/* Releases what the walk has left in the slots, and the desk. */
static void desk_close(const lam__program *p, desk *d) {
    for (int64_t v = 0; v < p->variables; v++) lam__value_release(d->slots[v]);
    lam__alloc_put(&p->ctx->pool, d->slots, d->bytes);
}

/* ---- forwards ---------------------------------------------------------------------------------------------------- */

/* Gives up what equation k was the last to touch, be it an operand or a result that nobody reads. */
static void release_dead(const lam__program *p, const lam__equation *e, int64_t k, lam_value **slots) {
    for (int i = 0; i < e->inputs + e->outputs; i++) {
        int64_t v = i < e->inputs ? e->in[i].variable : e->first + i - e->inputs;
        if (v < 0 || p->last_use[v] != k) continue;
        lam__value_release(slots[v]);
        slots[v] = NULL;
    }
}

/* A result that the shape rule leaves out is left out, and no other. */
static lam_status check_holes(const lam__program *p, const lam_call_site *call, int64_t first, const desk *d) {
    for (int64_t v = first; v < first + call->outputs; v++)
        if (!d->slots[v] != !p->types[v])
            return lam__error_call(call, LAM_ERR_RULE, "make its shape callback and forward agree",
                                   d->slots[v] ? "output %lld is there, but its shape rule leaves it out"
                                               : "output %lld is left out, but its shape rule gives it a type",
                                   (long long)(v - first));
    return LAM_OK;
}

/* A program being run; k: the next equation; seen: by some level, perhaps. */
typedef struct walk {
    const lam__program *p;
    desk *d;
    int64_t k;
    bool seen;
} walk;

/* A variable that equations of a call have set, and that is no result of it, is not there where the call was done
 * another way. */
LAM__APART static lam_status fail_inside(const lam__program *p, int64_t v) {
    const char *name = "";
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        const lam__application *a = lam__application_done(e->within);
        if (a && v >= e->first && v < e->first + e->outputs) name = a->call->primitive->name;
    }
    return lam__error_set(p->ctx, LAM_ERR_RULE, "return it as an output",
                          "Function '%s': a value made inside of it is used outside of it", name);
}

/* The value of an atom, borrowed; NULL for what is left out. */
static inline lam_value *value_of(const desk *d, const lam__atom *a) {
    return a->variable >= 0 ? d->slots[a->variable] : a->constant;
}

static inline bool is_missing(const lam__program *p, const desk *d, const lam__atom *a) {
    return a->variable >= 0 && !d->slots[a->variable] && p->types[a->variable];
}

/* The equation as a call that comes from outside: its types are checked as the user of the program sees them. Results
 * go straight to the slots of its variables; what it was the last to touch is released, also when it has failed. */
static lam_status run_equation(const lam__program *p, int64_t k, desk *d) {
    const lam__equation *e = p->list[k];
    for (int i = 0; i < e->inputs; i++) {
        d->work[i] = value_of(d, &e->in[i]);
        if (!d->work[i] && is_missing(p, d, &e->in[i])) return fail_inside(p, e->in[i].variable);
    }
    lam_call_site call = lam__equation_call(p->ctx, e, d->work);
    lam_status status = lam__dispatch_checked(&call, d->slots + e->first);
    if (status == LAM_OK) status = check_holes(p, &call, e->first, d);
    release_dead(p, e, k, d->slots);
    return status;
}

/* ---- calls with rules of their own ------------------------------------------------------------------------------- */

static lam_status run_inside(walk *w, const lam__application *outer);

/* The outermost application in `outer` that an equation belongs to; NULL: it is one of outer's own. Outermost, since a
 * level that is given that call decides what becomes of those in it. */
static const lam__application *next_inside(const lam__equation *e, const lam__application *outer) {
    const lam__application *a = lam__application_done(e->within), *next = NULL;
    for (; a && a != outer; a = lam__application_done(a->outer)) next = a;
    return next;
}

/* An application and the walk that has come to it. */
typedef struct visit {
    walk *w;
    const lam__application *a;
} visit;

/* By its equations: what a level that records does with it. Results that nobody reads are not there. */
static lam_status run_followed(const lam_call_site *call, void *env, lam_value *out[]) {
    const visit *v = env;
    (void)call;
    lam_status status = run_inside(v->w, v->a);
    for (int o = 0; o < v->a->call->outputs && status == LAM_OK; o++) {
        const int64_t variable = v->a->out[o];
        out[o] = variable < 0 ? NULL : lam__value_hold_any(v->w->d->slots[variable]);
    }
    return status;
}

/* Passes over the equations of a, whose results have been found another way; those are taken over. */
static void take_results(walk *w, const lam__application *a, lam_value *const out[]) {
    lam_value **slots = w->d->slots;
    for (int o = 0; o < a->call->outputs; o++) {
        const int64_t v = a->out[o];
        if (v >= 0) lam__value_release(slots[v]);
        if (v >= 0) slots[v] = out[o];
        else lam__value_release(out[o]);
    }
    for (; w->k < w->p->equations && lam__application_within(w->p->list[w->k]->within, a); w->k++)
        release_dead(w->p, w->p->list[w->k], w->k, slots);
}

/* Gives a to the level that its operands belong to; in[] has room for those, and results behind them. */
static lam_status run_at_level(walk *w, const lam__application *a, lam_value **in) {
    const lam__equation *e = a->call;
    lam_value **out = in + e->inputs;
    const lam_call_site call = lam__equation_call(w->p->ctx, e, in);
    for (int i = 0; i < e->inputs; i++) {
        if (is_missing(w->p, w->d, &e->in[i])) return fail_inside(w->p, e->in[i].variable);
        in[i] = value_of(w->d, &e->in[i]);
    }
    for (int o = 0; o < e->outputs; o++) out[o] = NULL;
    lam__level *level = lam__dispatch_top(&call);
    if (!level) return run_inside(w, a);
    visit v = {w, a};
    lam_status status = level->interpreter->follow ? level->interpreter->follow(level, &call, run_followed, &v, out)
                                                   : lam__dispatch(&call, out);
    if (status == LAM_OK) take_results(w, a, out);
    return status;
}

/* Whether a level may see what becomes of the operands. */
static bool is_seen(const walk *w, const lam__equation *e) {
    bool seen = false;
    for (int i = 0; i < e->inputs && !seen; i++) {
        const lam_value *v = value_of(w->d, &e->in[i]);
        seen = v && lam__value_is_box(v);
    }
    return seen;
}

/* NOTE [calls in programs]
 * Where no level is to see them, and where one records, the equations of a call with rules of its own are run: that is
 * what it did when it was recorded. Any other level is given the call itself, as if the function had been called that
 * the program was recorded of. */
LAM__APART static lam_status run_application(walk *w, const lam__application *a) {
    const lam__equation *e = a->call;
    if (!is_seen(w, e)) return run_inside(w, a);
    lam__scratch_area area;
    lam_value **in = lam__scratch_get(&area, w->p->ctx, (size_t)(e->inputs + e->outputs) * sizeof *in);
    lam_status status = in ? run_at_level(w, a, in) : LAM_ERR_MEMORY;
    if (in) lam__scratch_put(&area);
    return status;
}

/* The equations from the next one on that lie in `outer`; all for NULL. */
static lam_status run_inside(walk *w, const lam__application *outer) {
    lam_status status = LAM_OK;
    while (w->k < w->p->equations && status == LAM_OK) {
        const lam__equation *e = w->p->list[w->k];
        if (outer && !lam__application_within(e->within, outer)) break;
        const lam__application *next = w->seen && e->within ? next_inside(e, outer) : NULL;
        status = next ? run_application(w, next) : run_equation(w->p, w->k++, w->d);
    }
    return status;
}

/* Inputs and outputs are counted once more, so a result that is an input, or is named twice, needs no special case.
 * Inputs that no equation reads stay on the desk to the end. */
lam_status lam__program_run(const lam__program *p, lam_value *const in[], lam_value *out[]) {
    desk d;
    for (int o = 0; o < p->outputs; o++) out[o] = NULL;
    p->ctx->spares = p->ctx->spares || p->spares; /* for who records it again */
    lam_status status = desk_open(p, &d);
    if (status != LAM_OK) return status;
    walk w = {p, &d, 0, p->boxes};
    for (int i = 0; i < p->inputs; i++) {
        d.slots[i] = lam__value_hold(in[i]); /* variables 0 to inputs - 1 */
        w.seen = w.seen || lam__value_is_box(in[i]);
    }
    status = run_inside(&w, NULL);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) {
        if (is_missing(p, &d, &p->results[o])) status = fail_inside(p, p->results[o].variable);
        else out[o] = lam__value_hold(value_of(&d, &p->results[o]));
    }
    if (status != LAM_OK)
        for (int o = 0; o < p->outputs; o++) {
            lam__value_release(out[o]);
            out[o] = NULL;
        }
    desk_close(p, &d);
    return status;
}

/* ---- forwards, with zeros left out ------------------------------------------------------------------------------- */

/* Variables that depend on the inputs; where their slot is empty they are zero. */
static bool is_absent(const desk *d, const bool varying[], const lam__atom *a) {
    return a->variable >= 0 && varying[a->variable] && !d->slots[a->variable];
}

/* What stands for a zero beside terms that are there; in[] gets a reference of each operand. */
static lam_status fill_absent(const lam__program *p, const lam__equation *e, const desk *d, const bool varying[],
                              lam_value **in) {
    bool fine = true;
    for (int i = 0; i < e->inputs; i++) {
        const lam__atom *a = &e->in[i];
        const lam_value *type = is_absent(d, varying, a) ? p->types[a->variable] : NULL;
        in[i] = type ? lam__value_zeros(p->ctx, (lam_dtype)type->dtype, type->rank, type->dims)
                     : lam__value_hold_any(value_of(d, a));
        fine = fine && (in[i] || !type);
    }
    return fine ? LAM_OK : LAM_ERR_MEMORY;
}

/* x y + z where x y is zero and z of the result's type: z. */
static bool is_last_term(const lam__program *p, const lam__equation *e, const desk *d, const bool varying[]) {
    if (e->primitive != &lam__row_fma || is_absent(d, varying, &e->in[2])) return false;
    const lam_value *z = value_of(d, &e->in[2]);
    return (is_absent(d, varying, &e->in[0]) || is_absent(d, varying, &e->in[1])) &&
           lam__value_same_type(z, p->types[e->first]);
}

/* The results vary with the operands, and are zero where all operands that vary are. */
static lam_status run_linear_equation(const lam__program *p, int64_t k, desk *d, bool varying[]) {
    const lam__equation *e = p->list[k];
    bool varies = false, present = false;
    for (int i = 0; i < e->inputs; i++) {
        const bool of_input = e->in[i].variable >= 0 && varying[e->in[i].variable];
        varies = varies || of_input;
        present = present || (of_input && !is_absent(d, varying, &e->in[i]));
    }
    lam_status status = LAM_OK;
    if (is_last_term(p, e, d, varying)) {
        d->slots[e->first] = lam__value_hold(value_of(d, &e->in[2]));
    } else if (present || !varies) {
        const lam_call_site call = lam__equation_call(p->ctx, e, d->work);
        status = fill_absent(p, e, d, varying, d->work);
        if (status == LAM_OK) status = lam__dispatch_checked(&call, d->slots + e->first);
        for (int i = 0; i < e->inputs; i++) lam__value_release(d->work[i]);
    }
    memset(varying + e->first, varies, (size_t)e->outputs);
    release_dead(p, e, k, d->slots);
    return status;
}

lam_status lam__program_run_linear(const lam__program *p, lam_value *const in[], lam_value *out[]) {
    desk d;
    lam__scratch_area area;
    bool *varying = lam__scratch_get(&area, p->ctx, (size_t)p->variables + 1);
    for (int o = 0; o < p->outputs; o++) out[o] = NULL;
    if (!varying) return LAM_ERR_MEMORY;
    p->ctx->spares = p->ctx->spares || p->spares;
    lam_status status = desk_open(p, &d);
    if (status == LAM_OK) {
        memset(varying, 0, (size_t)p->variables + 1);
        memset(varying, true, (size_t)p->inputs);
        for (int i = 0; i < p->inputs; i++) d.slots[i] = lam__value_hold_any(in[i]);
        for (int64_t k = 0; k < p->equations && status == LAM_OK; k++) status = run_linear_equation(p, k, &d, varying);
        for (int o = 0; o < p->outputs && status == LAM_OK; o++)
            out[o] = lam__value_hold_any(value_of(&d, &p->results[o]));
        desk_close(p, &d);
    }
    lam__scratch_put(&area);
    return status;
}

/* ---- backwards --------------------------------------------------------------------------------------------------- */

/* Operands that are variables are zeros, in which a linear function has the derivative that it has everywhere. NULL has
 * none. */
static lam_status fill_zeros(const lam__program *p, const lam__equation *e, lam_value **in) {
    for (int i = 0; i < e->inputs; i++) {
        const lam_value *type = e->in[i].variable >= 0 ? p->types[e->in[i].variable] : NULL;
        in[i] = type ? lam__value_zeros(p->ctx, (lam_dtype)type->dtype, type->rank, type->dims)
                     : lam__value_hold(e->in[i].constant);
        if (!in[i]) return LAM_ERR_MEMORY;
    }
    return LAM_OK;
}

/* The latter are Functions whose operands are values and tangents of them: linear in the tangents alone. */
static bool is_transposed_at_zero(const lam__equation *e) {
    const lam__staged *stages = e->primitive->staged;
    return lam__nested_of(e) || (stages && stages->tangents_in && stages->tangents_in(e->params) > 0);
}

/* A choice, a loop, or what is done again later goes back as its derivative does, for which it is run once: what it
 * keeps then are the values of its constants, and of its carries zeros where these depend on the inputs. */
static lam_status transpose_at_zero(const lam__program *p, const lam__equation *e, lam_call_site *call, desk *d,
                                    lam_value **gx) {
    const lam__staged *stages = e->primitive->staged;
    lam_value **in = d->work, **out = d->work + 2 * d->widest;
    memset(d->work, 0, 3 * (size_t)d->widest * sizeof *d->work);
    lam_status status = fill_zeros(p, e, in);
    memset(d->constant, 0, (size_t)e->outputs * sizeof *d->constant);
    if (status == LAM_OK) status = stages->forward(call, d->needs, NULL, out, d->constant, &call->residual);
    for (int o = 0; o < e->outputs; o++) lam__value_release(out[o]);
    if (status == LAM_OK) status = lam__rules_cotangents(call, p->types + e->first, d->needs, d->slots + e->first, gx);
    if (call->residual) stages->release(p->ctx, call->residual);
    for (int i = 0; i < e->inputs; i++) {
        lam__value_release(in[i]);
        in[i] = NULL;
    }
    return status;
}

/* What an equation keeps for its transpose is kept from when it was recorded, or made now (lam__staged). */
static lam_status transpose_by_rule(const lam__program *p, const lam__equation *e, lam_call_site *call, const desk *d,
                                    lam_value **gx) {
    const lam__staged *stages = e->primitive->staged;
    const bool late = !e->residual && stages && stages->keep_late;
    lam_status status = late ? stages->keep_late(call, d->needs, p->types + e->first, &call->residual) : LAM_OK;
    if (status == LAM_OK) status = lam__rules_cotangents(call, p->types + e->first, d->needs, d->slots + e->first, gx);
    if (late && call->residual) stages->release(p->ctx, call->residual);
    return status;
}

/* The cotangents of the results are complete here, since what reads them comes later in the program and has been walked
 * already. They are released behind the equation. Where all are zero there is nothing to do. */
static lam_status transpose_equation(const lam__program *p, const lam__equation *e, desk *d) {
    lam_value **in = d->work, **gx = in + d->widest;
    bool any = false;
    for (int o = 0; o < e->outputs; o++) any = any || d->slots[e->first + o];
    if (!any) return LAM_OK;
    for (int i = 0; i < e->inputs; i++) {
        int64_t v = e->in[i].variable;
        in[i] = v >= 0 ? p->types[v] : e->in[i].constant; /* rules read the other factor, which is a constant */
        d->needs[i] = v >= 0 && lam__dtype_is_inexact(p->types[v]->dtype);
    }
    lam_call_site call = lam__equation_call(p->ctx, e, in);
    call.residual = e->residual;
    lam_status status =
        is_transposed_at_zero(e) ? transpose_at_zero(p, e, &call, d, gx) : transpose_by_rule(p, e, &call, d, gx);
    for (int i = 0; i < e->inputs; i++) {
        if (gx[i] && status == LAM_OK) status = lam__rules_accumulate(p->ctx, &d->slots[e->in[i].variable], gx[i], 1);
        else lam__value_release(gx[i]);
    }
    for (int o = 0; o < e->outputs; o++) {
        lam__value_release(d->slots[e->first + o]);
        d->slots[e->first + o] = NULL;
    }
    return status;
}

/* A variable may be named by several results, so cotangents are added from the first on. Outputs that are constants
 * have no way back. A variable that no cotangent has reached stays NULL, which is zero. */
lam_status lam__program_transpose(const lam__program *p, lam_value *const g[], lam_value *gx[]) {
    desk d;
    for (int i = 0; i < p->inputs; i++) gx[i] = NULL;
    lam_status status = desk_open(p, &d);
    if (status != LAM_OK) return status;
    for (int o = 0; o < p->outputs && status == LAM_OK; o++)
        if (g[o] && p->results[o].variable >= 0)
            status = lam__rules_accumulate(p->ctx, &d.slots[p->results[o].variable], lam__value_hold(g[o]), 1);
    for (int64_t k = p->equations - 1; k >= 0 && status == LAM_OK; k--) status = transpose_equation(p, p->list[k], &d);
    for (int i = 0; i < p->inputs && status == LAM_OK; i++) {
        gx[i] = d.slots[i];
        d.slots[i] = NULL;
    }
    desk_close(p, &d);
    return status;
}
