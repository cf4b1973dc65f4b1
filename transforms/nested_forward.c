/* Forward mode of choices and loops: the same with derivatives of their functions. Carries are with their tangents,
 * elements with theirs (nested_places.h). */
#include "transforms/nested_places.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/dual.h"

#include <string.h>

/* ---- functions made of others ------------------------------------------------------------------------------------ */

static void body_pick(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const int *places = env;
    lam_fn *f = lam__fn_base(env);
    lam_tensor **taken = lam__apply_room(ctx, (size_t)f->inputs);
    for (int i = 0; taken && i < f->inputs; i++) taken[i] = in[places[i]];
    if (taken) (void)lam_call(f, (lam_list){(size_t)f->inputs, taken}, out, (size_t)f->outputs);
}

lam_fn *lam__nested_pick(lam_fn *f, int inputs, const int places[]) {
    return lam__fn_derive(f->ctx, &(lam__derived){"pick", f, body_pick, inputs, f->outputs, places,
                                                  (size_t)f->inputs * sizeof *places, NULL});
}

/* X and DX are numbered by the inputs, all from Y on by the outputs (nested_places.h). */
static size_t places_bytes(int inputs, int outputs) {
    return sizeof(lam__places) + (size_t)(LAM__Y * inputs + (LAM__DY + 1 - LAM__Y) * outputs) * sizeof(int);
}

/* -1 in every place at first: not there. The memory is the scope's; functions made of it copy it. */
lam__places *lam__places_new(lam_ctx *ctx, int inputs, int outputs) {
    const size_t bytes = places_bytes(inputs, outputs);
    lam__places *p = (lam__places *)(void *)lam__apply_room(ctx, bytes / sizeof(void *) + 1);
    if (!p) return NULL;
    memset(p, -1, bytes);
    p->inputs = inputs;
    p->outputs = outputs;
    p->taken = p->given = 0;
    return p;
}

/* The function holds f and a copy of the places, and takes and gives what these say. */
lam_fn *lam__places_fn(const char *prefix, lam_fn *f, lam_body body, const lam__places *p) {
    return lam__fn_derive(
        f->ctx, &(lam__derived){prefix, f, body, p->taken, p->given, p, places_bytes(p->inputs, p->outputs), NULL});
}

/* What has no place is given up. */
void lam__places_give(lam_ctx *ctx, lam_status status, lam_value *v, lam_tensor *out[], int at) {
    if (at >= 0) (void)lam__arguments_give(ctx, status, 1, &v, &out[at]);
    else lam__value_release(v);
}

/* One block: inputs, what stands beside them by `second`, then twice the outputs. The area is the caller's to put back,
 * also after a failure. */
bool lam__places_room(lam_ctx *ctx, const lam__places *p, lam_tensor *const in[], int second, lam__room *r) {
    const int *x = lam__places_of(p, LAM__X), *dx = lam__places_of(p, second);
    const size_t values = 2 * (size_t)(p->inputs + p->outputs);
    r->in = lam__scratch_get(&r->area, ctx, (values + 1) * sizeof *r->in);
    if (!r->in) return false;
    memset(r->in, 0, values * sizeof *r->in);
    r->out = r->in + 2 * p->inputs;
    for (int i = 0; i < p->inputs; i++) {
        if (!lam__arguments_values(ctx, 1, &in[x[i]], &r->in[i])) return false;
        if (dx[i] >= 0 && !lam__arguments_values(ctx, 1, &in[dx[i]], &r->in[p->inputs + i])) return false;
    }
    return true;
}

/* ---- forward mode ------------------------------------------------------------------------------------------------ */

/* x, dx -> y, dy. In the place of the tangent of a y that can have none, which nobody knew before, stands y again.
 * Which results have tangents was decided before the function ran, so each place has to be filled, if need be with
 * zeros. */
static void body_push(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__places *p = env;
    lam_fn *f = lam__fn_base(env);
    lam__room r;
    lam_status status = lam__places_room(ctx, p, in, LAM__DX, &r) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__dual_run(f, r.in, r.in + p->inputs, r.out, r.out + p->outputs);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) {
        lam_value **dy = &r.out[p->outputs + o], *y = r.out[o];
        if (*dy || lam__places_of(p, LAM__DY)[o] < 0) continue;
        *dy = lam__dtype_is_inexact(y->dtype) ? lam__arguments_zero(ctx, y) : lam__value_hold(y);
        if (!*dy) status = LAM_ERR_MEMORY;
    }
    for (int o = 0; r.in && o < p->outputs; o++) {
        lam__places_give(ctx, status, r.out[o], out, lam__places_of(p, LAM__Y)[o]);
        lam__places_give(ctx, status, r.out[p->outputs + o], out, lam__places_of(p, LAM__DY)[o]);
    }
    lam__scratch_put(&r.area);
}

/* Which inputs of the functions have tangents, and behind them which of their results may have some: of a choice any,
 * since what a function gives is seen when it is run. NULL after recording a failure. */
static bool *find_varying(const lam_call_site *call, lam_value *const dx[]) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    const size_t n = (size_t)s.inputs, m = (size_t)call->outputs;
    bool *in = (bool *)(void *)lam__apply_room(call->ctx, (n + m) / sizeof(void *) + 1);
    if (!in) return NULL;
    for (size_t i = 0; i < n; i++) in[i] = dx[i + (size_t)s.skip];
    memset(in + n, true, m);
    if (s.skip) return in;
    return lam__nested_pushed(call->params, call->in, in, in + n) == LAM_OK ? in : NULL;
}

/* Operands with their tangents behind each kind. A carry without a tangent begins with zeros where a trip may give it
 * one. The lists are walked kind by kind, so that carries stay in front and elements behind them. */
static bool place_tangents(const lam_call_site *call, lam_value *const dx[], const bool varying[], lam__nested_draft *d,
                           lam__places *p) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    int *x = lam__places_of(p, LAM__X), *t = lam__places_of(p, LAM__DX), before = 0, ends[3];
    for (int kind = 0, i = 0; kind < 3; kind++) {
        for (i = before; i < s.ends[kind]; i++) x[i] = lam__nested_append(d, call->in[i + s.skip]) - s.skip;
        for (i = before; i < s.ends[kind]; i++) {
            lam_value *v = call->in[i + s.skip], *tangent = dx[i + s.skip];
            if (tangent) t[i] = lam__nested_append(d, tangent) - s.skip;
            else if (kind == 0 && varying[i]) {
                if ((t[i] = lam__nested_append_own(d, lam__arguments_zero(d->ctx, v))) < 0) return false;
            }
        }
        before = s.ends[kind];
        ends[kind] = d->n;
    }
    d->what->carries = ends[0] - s.skip;
    d->what->elements = ends[1] - ends[0];
    if (s.skip) d->what->carries = d->what->elements = 0;
    p->taken = d->n - s.skip;
    return true;
}

/* Whether result o, which is no carry, may have a tangent; true where its type is not known before it is there. Of a
 * program the type is known. Elsewhere room is kept for a tangent, in which body_push puts the value where there can be
 * none. */
static bool may_vary(const lam_call_site *call, int o) {
    const lam__nested *what = call->params;
    const lam__program *p = lam__program_of(what->fns[what->count - 1]);
    return !p || lam__dtype_is_inexact(lam__program_result_type(p, o)->dtype);
}

/* Results with their tangents, carries first. A carry has a tangent behind the trip where it has one before. */
static void place_results(const lam_call_site *call, const bool varying[], lam__places *p) {
    const int carries = lam__nested_shape_of(call).ends[0];
    int *y = lam__places_of(p, LAM__Y), *dy = lam__places_of(p, LAM__DY), next = 0;
    for (int kind = 0; kind < 2; kind++) {
        const int from = kind ? carries : 0, to = kind ? call->outputs : carries;
        for (int o = from; o < to; o++) y[o] = next++;
        for (int o = from; o < to; o++)
            if (kind ? varying[o] && may_vary(call, o) : lam__places_of(p, LAM__DX)[o] >= 0) dy[o] = next++;
    }
    p->given = next;
}

/* The condition of a while stays what it is and picks its operands from among more. y: NULL where values are not
 * needed, since the call has given them. The index of a choice stays in front and has none. Branches get the same
 * operands each, so one list of places serves all of them. */
static lam_status push(const lam_call_site *call, lam_value *const dx[], lam__nested_draft *d, lam_value *y[],
                       lam_value *dy[]) {
    lam__places *p = lam__places_new(d->ctx, lam__nested_shape_of(call).inputs, call->outputs);
    if (lam__nested_shape_of(call).skip) lam__nested_append(d, call->in[0]);
    const bool *varying = p ? find_varying(call, dx) : NULL;
    if (!varying || !place_tangents(call, dx, varying, d, p)) return LAM_ERR_MEMORY;
    place_results(call, varying + p->inputs, p);
    const bool is_while = call->primitive == &lam__row_while;
    for (int f = is_while; f < d->what->count; f++)
        d->what->fns[f] = lam__places_fn("jvp", d->what->fns[f], body_push, p);
    if (is_while) d->what->fns[0] = lam__nested_pick(d->what->fns[0], p->taken, lam__places_of(p, LAM__X));
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) {
        lam_value *value = out[lam__places_of(p, LAM__Y)[o]];
        dy[o] = lam__places_of(p, LAM__DY)[o] < 0 ? NULL : out[lam__places_of(p, LAM__DY)[o]];
        if (y) y[o] = value;
        else lam__value_release(value);
    }
    return status;
}

/* Functions that are made live as long as the scope, or as the equation that holds them. */
lam_status lam__nested_push(const lam_call_site *call, lam_value *const dx[], lam_value *y[], lam_value *dy[]) {
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(call->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    if (lam__nested_draft_open(call, 2 * call->inputs, &d)) {
        status = push(call, dx, &d, y, dy);
        lam__nested_draft_close(&d);
    }
    lam__scope_close(&scope);
    return status;
}

/* What lies in a box; NULL where its level has ended. An ended box has dropped what lay in it. */
static const lam_value *inside(const lam_value *box) {
    return lam__payload_of(box)->level ? lam__payload_of(box)->inner : NULL;
}

/* NOTE [values and tangents]
 * A loop of derivatives gives values as well, and those are the ones that are taken: a loop that is run for its values
 * alone takes as long again, and may be compiled otherwise, so that it differs in the last bit and makes another trip.
 * But where tangents belong to a level that values do not (lam_linearize, which records tangents alone; the directions
 * of a Jacobian), values of such a loop would belong to it too, and they come from a call of their own. Batches are no
 * such levels where functions are programs, which tell what of their results is batched. */
static bool belongs_to(const lam_value *v, const lam__level *level) {
    while (v && v->kind == LAM__BOX && lam__payload_of(v)->level != level) v = inside(v);
    return v && v->kind == LAM__BOX;
}

/* Then values of the joint loop belong to that level in any case, and a call of their own would not spare them that. */
static bool any_belongs_to(const lam_call_site *call, const lam__level *level) {
    bool any = false;
    for (int i = 0; i < call->inputs && !any; i++) any = belongs_to(call->in[i], level);
    return any;
}

bool lam__nested_are_together(const lam_call_site *call, lam_value *const dx[]) {
    bool traced = false;
    for (int i = 0; i < call->inputs && !traced; i++) traced = lam__nested_program_at(call->in[i]);
    for (int i = 0; i < call->inputs; i++)
        for (const lam_value *v = dx[i]; v && v->kind == LAM__BOX; v = inside(v)) {
            const lam__level *level = lam__payload_of(v)->level;
            if (level && !(traced && level->interpreter->hides_axis) && !any_belongs_to(call, level)) return false;
        }
    return true;
}
