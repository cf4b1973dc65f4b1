/* Derivatives of choices and loops (nested.h).
 * forward mode   a loop of derivatives: carries with their tangents, elements with theirs
 * reverse mode   of a choice the choice of the way back; of a scan a scan the other way round, over the carries that
 *                the way there has kept, in which each trip is run again on a tape; of a while that of a checkpoint
 * Gradients of what all trips read are carries of the way back, or where trips are at once, results that are added. */
#include "transforms/nested_draft.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/program/application.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/custom.h"
#include "transforms/dual.h"
#include "transforms/rematerialise.h"
#include "transforms/tape.h"
#include "transforms/values.h"

#include <lamina/ops.h>

#include <string.h>

/* Where values stand among the inputs and outputs of a function made of another one; -1: nowhere. One list behind the
 * other in one block. x, dx, gx, sum: per input of the base; y, dy: per output. Of the way back through a trip x w of a
 * loop over x with w from outside, which takes (g, sum, x, w) and gives (gx, gw + sum): DY is 0, SUM of w 1, X 2 and 3,
 * and GX 0 and 1. */
typedef struct places {
    int inputs, outputs; /* of the base */
    int taken, given;    /* of the function */
    int list[];
} places;

enum { X, DX, GX, SUM, INPUT_LISTS, Y = INPUT_LISTS, DY, LISTS };

static int *list_of(const places *p, int which) {
    int *at = (int *)p->list + (which < INPUT_LISTS ? which * p->inputs : INPUT_LISTS * p->inputs);
    return which < INPUT_LISTS ? at : at + (which - INPUT_LISTS) * p->outputs;
}

static size_t places_bytes(int inputs, int outputs) {
    return sizeof(places) + (size_t)(INPUT_LISTS * inputs + (LISTS - INPUT_LISTS) * outputs) * sizeof(int);
}

/* All nowhere. Lives as long as the scope. */
static places *places_new(lam_ctx *ctx, int inputs, int outputs) {
    const size_t bytes = places_bytes(inputs, outputs);
    places *p = (places *)(void *)lam__apply_room(ctx, bytes / sizeof(void *) + 1);
    if (!p) return NULL;
    memset(p, -1, bytes);
    p->inputs = inputs;
    p->outputs = outputs;
    p->taken = p->given = 0;
    return p;
}

static lam_fn *arranged(const char *prefix, lam_fn *f, lam_body body, const places *p) {
    return lam__fn_derive(
        f->ctx, &(lam__derived){prefix, f, body, p->taken, p->given, p, places_bytes(p->inputs, p->outputs), NULL});
}

/* Gives v, taken over, as output `at`. */
static void give(lam_ctx *ctx, lam_status status, lam_value *v, lam_tensor *out[], int at) {
    if (at >= 0) (void)lam__arguments_give(ctx, status, 1, &v, &out[at]);
    else lam__value_release(v);
}

/* The inputs of the base and what belongs to them, then room for outputs and what belongs to those. */
typedef struct room {
    lam__scratch_area area;
    lam_value **in, **out;
} room;

/* Values of the inputs and, behind them, of what belongs to each: those in the list `second`, which is DX. body_pull
 * needs the inputs alone and names X again. */
static bool room_open(lam_ctx *ctx, const places *p, lam_tensor *const in[], int second, room *r) {
    const int *x = list_of(p, X), *dx = list_of(p, second);
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

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* x, dx -> y, dy */
static void body_push(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const places *p = env;
    lam_fn *f = lam__fn_base(env);
    room r;
    lam_status status = room_open(ctx, p, in, DX, &r) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__dual_run(f, r.in, r.in + p->inputs, r.out, r.out + p->outputs);
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) {
        lam_value **dy = &r.out[p->outputs + o];
        if (!*dy && list_of(p, DY)[o] >= 0 && !(*dy = lam__arguments_zero(ctx, r.out[o]))) status = LAM_ERR_MEMORY;
    }
    for (int o = 0; r.in && o < p->outputs; o++) {
        give(ctx, status, r.out[o], out, list_of(p, Y)[o]);
        give(ctx, status, r.out[p->outputs + o], out, list_of(p, DY)[o]);
    }
    lam__scratch_put(&r.area);
}

/* The gradient of input i, with what has come together before. */
static void give_gradient(lam_ctx *ctx, lam_status status, const places *p, int i, lam_tensor *const in[], lam_value *x,
                          lam_value *gx, lam_tensor *out[]) {
    const int at = list_of(p, GX)[i], sum = list_of(p, SUM)[i];
    if (at < 0) return;
    if (!gx && sum < 0 && status == LAM_OK && !(gx = lam__arguments_zero(ctx, x))) status = LAM_ERR_MEMORY;
    if (!gx && sum >= 0 && status == LAM_OK) {
        out[at] = in[sum];
        return;
    }
    give(ctx, status, gx, out, at);
    if (sum >= 0 && status == LAM_OK) out[at] = lam_add(in[sum], out[at]);
}

/* x, g -> gx: there on a tape, and back. */
static void body_pull(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const places *p = env;
    lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    lam__recording recording;
    room r;
    bool *wanted = lam__scratch_get(&area, ctx, (size_t)p->inputs + 1);
    lam_status status = wanted && room_open(ctx, p, in, X, &r) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        lam_value **y = r.out, **g = r.out + p->outputs, **gx = r.in + p->inputs;
        for (int i = 0; i < p->inputs; i++) wanted[i] = list_of(p, GX)[i] >= 0;
        for (int o = 0; o < p->outputs && status == LAM_OK; o++)
            if (list_of(p, DY)[o] >= 0 && !lam__arguments_values(ctx, 1, &in[list_of(p, DY)[o]], &g[o]))
                status = LAM_ERR_MEMORY;
        memset(gx, 0, (size_t)p->inputs * sizeof *gx);
        if (status == LAM_OK) status = lam__tape_record(f, r.in, wanted, y, &recording);
        if (status == LAM_OK) {
            status = lam__tape_pull(ctx, &recording, g, gx, true);
            lam__tape_forget(ctx, &recording);
            lam__arguments_release(p->outputs, y);
        }
        for (int i = 0; i < p->inputs; i++) give_gradient(ctx, status, p, i, in, r.in[i], gx[i], out);
    }
    if (wanted) lam__scratch_put(&r.area);
    lam__scratch_put(&area);
}

/* f, with the first of its inputs as further outputs. */
static void body_keep(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const int kept = *(const int *)env;
    lam_fn *f = lam__fn_base(env);
    (void)ctx;
    if (lam_call(f, (lam_list){(size_t)f->inputs, in}, out, (size_t)f->outputs) != LAM_OK) return;
    for (int i = 0; i < kept; i++) out[f->outputs + i] = in[i];
}

/* ---- forward mode ------------------------------------------------------------------------------------------------ */

/* Operands with their tangents behind each kind. Carries all have one, since they may get one on the way. */
static bool place_tangents(const lam_call_site *call, lam_value *const dx[], lam__nested_draft *d, places *p) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    int *x = list_of(p, X), *t = list_of(p, DX), before = 0, ends[3];
    for (int kind = 0, i = 0; kind < 3; kind++) {
        for (i = before; i < s.ends[kind]; i++) x[i] = lam__nested_append(d, call->in[i + s.skip]) - s.skip;
        for (i = before; i < s.ends[kind]; i++) {
            lam_value *v = call->in[i + s.skip], *tangent = dx[i + s.skip];
            if (tangent) t[i] = lam__nested_append(d, tangent) - s.skip;
            else if (kind == 0 && lam__dtype_is_inexact(v->dtype)) {
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

/* Results with their tangents, carries first. */
static void place_results(const lam_call_site *call, lam_value *const results[], places *p) {
    const int carries = lam__nested_shape_of(call).ends[0];
    int *y = list_of(p, Y), *dy = list_of(p, DY), next = 0;
    for (int kind = 0; kind < 2; kind++) {
        const int from = kind ? carries : 0, to = kind ? call->outputs : carries;
        for (int o = from; o < to; o++) y[o] = next++;
        for (int o = from; o < to; o++)
            if (kind ? lam__dtype_is_inexact(results[o]->dtype) : list_of(p, DX)[o] >= 0) dy[o] = next++;
    }
    p->given = next;
}

/* The condition of a while stays what it is and picks its operands from among more. Values that the loop of derivatives
 * gives as well are not needed: the call has given them. */
static lam_status push(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                       lam__nested_draft *d, lam_value *dout[]) {
    places *p = places_new(d->ctx, lam__nested_shape_of(call).inputs, call->outputs);
    if (lam__nested_shape_of(call).skip) lam__nested_append(d, call->in[0]);
    if (!p || !place_tangents(call, dx, d, p)) return LAM_ERR_MEMORY;
    place_results(call, results, p);
    const bool is_while = call->primitive == &lam__row_while;
    for (int f = is_while; f < d->what->count; f++) d->what->fns[f] = arranged("jvp", d->what->fns[f], body_push, p);
    if (is_while) d->what->fns[0] = lam__nested_pick(d->what->fns[0], p->taken, list_of(p, X));
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) {
        lam__value_release(out[list_of(p, Y)[o]]);
        dout[o] = list_of(p, DY)[o] < 0 ? NULL : out[list_of(p, DY)[o]];
    }
    return status;
}

/* Functions that are made live as long as the scope, or as the equation that holds them. */
static lam_status stage_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                                 lam_value *dout[]) {
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(call->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    if (lam__nested_draft_open(call, 2 * call->inputs, &d)) {
        status = push(call, results, dx, &d, dout);
        lam__nested_draft_close(&d);
    }
    lam__scope_close(&scope);
    return status;
}

/* ---- reverse mode ------------------------------------------------------------------------------------------------ */

/* Operands, then the carries before each trip, one behind the other; held. */
typedef struct residual {
    int count;
    lam_value *values[];
} residual;

static void stage_release(lam_ctx *ctx, void *kept) {
    residual *r = kept;
    if (!r) return;
    lam__arguments_release(r->count, r->values);
    lam__alloc_put(&ctx->pool, r, sizeof *r + (size_t)r->count * sizeof *r->values);
}

/* NOTE [values of rules]
 * The value of a call and its derivative are calls of their own here, which levels below see one by one. A rule that
 * gives values of its own (lam_custom_vjp, lam_custom_jvp) runs for both: what a level below differentiates is what it
 * has done, not the function whose rule it is. So functions in which there is such a rule are called for their values
 * as a level that differentiates would see them. */
bool lam__nested_gives_values(const lam__program *p) {
    bool gives = false;
    for (const lam__application *a = p ? p->applications : NULL; a && !gives; a = a->next) {
        const lam_call_site call = lam__equation_call(p->ctx, a->call, NULL);
        gives = a->call->primitive->staged == lam__custom_row.staged && lam__custom_of(&call)->own_values;
    }
    for (int64_t k = 0; p && k < p->equations && !gives; k++) {
        const lam__nested *what = lam__nested_of(p->list[k]);
        for (int f = 0; what && f < what->count; f++)
            gives = gives || lam__nested_gives_values(lam__program_of(what->fns[f]));
    }
    return gives;
}

/* Whether a level below may see what the call does, and a rule in it. */
static bool shows_rules(const lam_call_site *below) {
    const lam__nested *what = below->params;
    bool seen = false, gives = false;
    for (int i = 0; i < below->inputs && !seen; i++) seen = lam__value_is_box(below->in[i]);
    for (int f = 0; f < what->count && seen; f++)
        gives = gives || lam__nested_gives_values(lam__program_of(what->fns[f]));
    return gives;
}

/* The functions of the draft for their values. A carry has a derivative if it can: it may get one on the way. */
static bool take_values(const lam_call_site *below, const bool needs[], lam__nested_draft *d) {
    const lam__nested_shape s = lam__nested_shape_of(below);
    bool *wanted = (bool *)(void *)lam__apply_room(d->ctx, (size_t)s.inputs);
    if (!wanted) return false;
    for (int i = 0; i < s.inputs; i++) {
        const bool carried = i < s.ends[0] && lam__dtype_is_inexact(below->in[i + s.skip]->dtype);
        wanted[i] = needs[i + s.skip] || carried;
    }
    for (int f = below->primitive == &lam__row_while; f < d->what->count; f++)
        d->what->fns[f] = lam__values_fn(d->what->fns[f], wanted);
    return true;
}

/* The call made anew: for its values, or a scan with its `more` carries as further results, or both. */
static lam_status run_otherwise(const lam_call_site *below, const bool needs[], bool values, int more, lam_value *out[],
                                lam_value *stacks[]) {
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(below->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    const int m = below->outputs + more;
    lam_value **all = lam__nested_values(below->ctx, m);
    if (all && lam__nested_draft_open(below, below->inputs, &d) && (!values || take_values(below, needs, &d))) {
        lam_fn *f = d.what->fns[0];
        if (more)
            d.what->fns[0] = lam__fn_derive(
                d.ctx, &(lam__derived){"keep", f, body_keep, f->inputs, f->outputs + more, &more, sizeof more, NULL});
        for (int i = 0; i < below->inputs; i++) lam__nested_append(&d, below->in[i]);
        status = lam__nested_draft_apply(&d, below->primitive, m, all);
    }
    if (status == LAM_OK) memcpy(out, all, (size_t)below->outputs * sizeof *out);
    if (status == LAM_OK && more) memcpy(stacks, all + below->outputs, (size_t)more * sizeof *stacks);
    lam__scope_close(&scope);
    return status;
}

/* NOTE [values of rules] */
static lam_status stage_forward(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                                bool constant[], void **kept) {
    (void)constant;
    const bool keeps = below->primitive == &lam__row_scan && !dx, values = shows_rules(below);
    const int more = keeps ? lam__nested_shape_of(below).ends[0] : 0, count = below->inputs + more;
    const size_t bytes = sizeof(residual) + (size_t)count * sizeof(lam_value *);
    residual *r = lam__alloc_get(&below->ctx->pool, bytes);
    *kept = NULL;
    if (!r) return lam__error_memory(below->ctx, bytes);
    memset(r, 0, bytes);
    r->count = count;
    for (int i = 0; i < below->inputs; i++) r->values[i] = lam__value_hold(below->in[i]);
    lam_status status = more || values ? run_otherwise(below, needs, values, more, out, r->values + below->inputs)
                                       : lam__dispatch(below, out);
    if (status == LAM_OK) *kept = r;
    else stage_release(below->ctx, r);
    return status;
}

/* Of a choice: operands and cotangents -> gradients. */
static lam_status pull_switch(const lam_call_site *call, const bool needs[], lam_value *const g[], lam__nested_draft *d,
                              lam_value *gx[]) {
    const residual *r = call->residual;
    places *p = places_new(d->ctx, call->inputs - 1, call->outputs);
    if (!p) return LAM_ERR_MEMORY;
    lam__nested_append(d, r->values[0]);
    for (int i = 0; i < p->inputs; i++) {
        list_of(p, X)[i] = lam__nested_append(d, r->values[i + 1]) - 1;
        if (needs[i + 1]) list_of(p, GX)[i] = p->given++;
    }
    for (int o = 0; o < call->outputs; o++)
        if (g[o]) list_of(p, DY)[o] = lam__nested_append(d, g[o]) - 1;
    p->taken = d->n - 1;
    for (int f = 0; f < d->what->count; f++) d->what->fns[f] = arranged("pull", d->what->fns[f], body_pull, p);
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    for (int i = 0; i < p->inputs && status == LAM_OK; i++)
        if (needs[i + 1]) gx[i + 1] = out[list_of(p, GX)[i]];
    return status;
}

/* What the way back of a scan takes: cotangents of carries and gradients that come together; what the way there had,
 * and cotangents of results; what all trips read. */
static bool place_back(const lam_call_site *call, lam_value *const results[], const bool needs[], lam_value *const g[],
                       lam__nested_draft *d, places *p) {
    const residual *r = call->residual;
    const lam__nested_shape s = lam__nested_shape_of(call);
    const bool batch = d->what->batch;
    int *x = list_of(p, X), *gx = list_of(p, GX), *dy = list_of(p, DY), *sum = list_of(p, SUM);
    for (int i = 0; i < s.ends[0]; i++) {
        if (!lam__dtype_is_inexact(results[i]->dtype)) continue;
        if (g[i]) dy[i] = lam__nested_append(d, g[i]);
        else if ((dy[i] = lam__nested_append_own(d, lam__arguments_zero(d->ctx, results[i]))) < 0) return false;
        gx[i] = p->given++;
    }
    for (int i = s.ends[1]; i < s.ends[2] && !batch; i++) {
        if (!needs[i]) continue;
        if ((sum[i] = lam__nested_append_own(d, lam__arguments_zero(d->ctx, r->values[i]))) < 0) return false;
        gx[i] = p->given++;
    }
    d->what->carries = d->n;
    for (int i = 0; i < s.ends[0]; i++) x[i] = lam__nested_append(d, r->values[call->inputs + i]);
    for (int i = s.ends[0]; i < s.ends[1]; i++) {
        x[i] = lam__nested_append(d, r->values[i]);
        if (needs[i]) gx[i] = p->given++;
    }
    for (int o = s.ends[0]; o < call->outputs; o++)
        if (g[o]) dy[o] = lam__nested_append(d, g[o]);
    d->what->elements = d->n - d->what->carries;
    for (int i = s.ends[1]; i < s.ends[2]; i++) {
        x[i] = lam__nested_append(d, r->values[i]);
        if (needs[i] && batch) gx[i] = p->given++;
    }
    p->taken = d->n;
    return true;
}

lam_fn *lam__nested_trip_back(lam_fn *body, int carries, lam_value *const types[], const bool wanted[]) {
    places *p = places_new(body->ctx, body->inputs, carries);
    if (!p) return body->ctx->failed_fn;
    for (int i = 0; i < body->inputs; i++) {
        if (i < carries ? !lam__dtype_is_inexact(types[i]->dtype) : !wanted[i]) continue;
        list_of(p, i < carries ? DY : SUM)[i] = p->taken++;
        list_of(p, GX)[i] = p->given++;
    }
    for (int i = 0; i < body->inputs; i++) list_of(p, X)[i] = p->taken++;
    return arranged("pull", body, body_pull, p);
}

/* One reference: v, taken over, added along axis 0. */
static lam_value *added(lam_ctx *ctx, lam_value *v) {
    lam_tensor *sum = lam_sum(lam__scope_handle(ctx, v), &(lam_reduce_options){.axes = LAM_AXES(0)});
    lam_value *made = lam__scope_peek(sum);
    return made ? lam__value_hold(made) : NULL;
}

/* The scan of the ways back of the trips, the other way round; what a trip takes and gives stands where place_back has
 * put it. Of a batch, what all examples share has a gradient from each, and these are added here; a scan adds them in
 * its carries. */
static lam_status pull_scan(const lam_call_site *call, lam_value *const results[], const bool needs[],
                            lam_value *const g[], lam__nested_draft *d, lam_value *gx[]) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    places *p = places_new(d->ctx, call->inputs, call->outputs);
    if (!p || !place_back(call, results, needs, g, d, p)) return LAM_ERR_MEMORY;
    d->what->reverse = !d->what->reverse;
    d->what->fns[0] = arranged("pull", d->what->fns[0], body_pull, p);
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    memset(gx, 0, (size_t)call->inputs * sizeof *gx);
    for (int i = 0; i < call->inputs && status == LAM_OK; i++) {
        lam_value *one = list_of(p, GX)[i] < 0 ? NULL : out[list_of(p, GX)[i]];
        if (one && i >= s.ends[1] && d->what->batch && !(one = added(d->ctx, one))) status = d->ctx->error.status;
        if (needs[i]) gx[i] = one;
        else lam__value_release(one);
    }
    if (status != LAM_OK) lam__arguments_release(call->inputs, gx);
    return status;
}

/* A while is pulled through a checkpoint, since its trips are known only when it runs; choices and scans by drafts of
 * the same rows. */
static lam_status stage_cotangents(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                   lam_value *const g[], lam_value *gx[]) {
    const residual *r = call->residual;
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(call->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    if (call->primitive == &lam__row_while) {
        lam_fn *f = lam__nested_function(call->ctx, call->primitive, call->params, call->inputs, call->outputs);
        status = f->magic == LAM__FN ? lam__checkpoint_pull(f, r->values, needs, g, gx) : LAM_ERR_MEMORY;
        lam__scope_close(&scope);
        return status;
    }
    if (lam__nested_draft_open(call, 2 * (call->inputs + call->outputs), &d)) {
        status = call->primitive == &lam__row_switch ? pull_switch(call, needs, g, &d, gx)
                                                     : pull_scan(call, results, needs, g, &d, gx);
        lam__nested_draft_close(&d);
    }
    lam__scope_close(&scope);
    return status;
}

/* ---- the stages -------------------------------------------------------------------------------------------------- */

/* A level that records takes what it cannot look at, its own or what a level below records, and loops where one of
 * these programs is to keep them. */
static bool stage_linear(const lam__level *level, const lam_call_site *call) {
    const lam__nested *w = call->params;
    const lam__program *own = level->state, *p;
    bool kept = own->keeps_loops || w->kept;
    for (int i = 0; i < w->count; i++)
        if (!lam__program_of(w->fns[i])) return false;
    if (call->primitive == &lam__row_switch) return lam__nested_program_at(call->in[0]);
    for (int i = 0; i < call->inputs && !kept; i++) kept = (p = lam__nested_program_at(call->in[i])) && p != own;
    return kept;
}

static lam_status stage_keep(const lam_call_site *call, const bool needs[], lam_value *const results[], void **kept) {
    (void)call, (void)needs, (void)results;
    *kept = NULL;
    return LAM_OK;
}

const lam__staged lam__nested_stages = {
    .forward = stage_forward,
    .tangents = stage_tangents,
    .cotangents = stage_cotangents,
    .batched = lam__nested_batched,
    .release = stage_release,
    .linear = stage_linear,
    .keep = stage_keep,
    .nested = true,
};
