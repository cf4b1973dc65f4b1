/* Derivatives of choices and loops (nested.h).
 * forward mode   a loop of derivatives (nested_forward.c)
 * reverse mode   of a choice the choice of the way back; of a scan a scan the other way round, over the carries that
 *                the way there has kept, in which each trip is run again on a tape; of a while that of a checkpoint
 * Gradients of what all trips read are carries of the way back, or where trips are at once, results that are added. */
#include "transforms/nested_places.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/program/application.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/custom.h"
#include "transforms/rematerialise.h"
#include "transforms/tape.h"
#include "transforms/values.h"

#include <lamina/ops.h>

#include <string.h>

/* The gradient of input i, with what has come together before. */
static void give_gradient(lam_ctx *ctx, lam_status status, const lam__places *p, int i, lam_tensor *const in[],
                          lam_value *x, lam_value *gx, lam_tensor *out[]) {
    const int at = lam__places_of(p, LAM__GX)[i], sum = lam__places_of(p, LAM__SUM)[i];
    if (at < 0) return;
    if (!gx && sum < 0 && status == LAM_OK && !(gx = lam__arguments_zero(ctx, x))) status = LAM_ERR_MEMORY;
    if (!gx && sum >= 0 && status == LAM_OK) {
        out[at] = in[sum];
        return;
    }
    lam__places_give(ctx, status, gx, out, at);
    if (sum >= 0 && status == LAM_OK) out[at] = lam_add(in[sum], out[at]);
}

/* x, g -> gx: there on a tape, and back. */
static void body_pull(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam__places *p = env;
    lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    lam__recording recording;
    lam__room r;
    bool *wanted = lam__scratch_get(&area, ctx, (size_t)p->inputs + 1);
    lam_status status = wanted && lam__places_room(ctx, p, in, LAM__X, &r) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        lam_value **y = r.out, **g = r.out + p->outputs, **gx = r.in + p->inputs;
        for (int i = 0; i < p->inputs; i++) wanted[i] = lam__places_of(p, LAM__GX)[i] >= 0;
        for (int o = 0; o < p->outputs && status == LAM_OK; o++)
            if (lam__places_of(p, LAM__DY)[o] >= 0 &&
                !lam__arguments_values(ctx, 1, &in[lam__places_of(p, LAM__DY)[o]], &g[o]))
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

/* ---- reverse mode ------------------------------------------------------------------------------------------------ */

/* Held: operands, then the carries before each trip, one behind the other; in forward mode the tangents of results. */
typedef struct residual {
    int count;
    lam_value *values[];
} residual;

/* NULL after recording the failure. */
static residual *residual_new(lam_ctx *ctx, int count) {
    const size_t bytes = sizeof(residual) + (size_t)count * sizeof(lam_value *);
    residual *r = lam__alloc_get(&ctx->pool, bytes);
    if (!r) lam__error_memory(ctx, bytes);
    if (r) memset(r, 0, bytes);
    if (r) r->count = count;
    return r;
}

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

/* For the way back; NOTE [values of rules] */
static lam_status forward_kept(const lam_call_site *below, const bool needs[], lam_value *out[], residual **kept) {
    const bool values = shows_rules(below);
    const int more = below->primitive == &lam__row_scan ? lam__nested_shape_of(below).ends[0] : 0;
    residual *r = *kept = residual_new(below->ctx, below->inputs + more);
    if (!r) return LAM_ERR_MEMORY;
    for (int i = 0; i < below->inputs; i++) r->values[i] = lam__value_hold(below->in[i]);
    return more || values ? run_otherwise(below, needs, values, more, out, r->values + below->inputs)
                          : lam__dispatch(below, out);
}

/* For tangents: with them, NOTE [values and tangents], or with nothing kept. */
static lam_status forward_pushed(const lam_call_site *below, const bool needs[], lam_value *const dx[],
                                 lam_value *out[], residual **kept) {
    if (lam__nested_are_together(below, dx)) {
        *kept = residual_new(below->ctx, below->outputs);
        return *kept ? lam__nested_push(below, dx, out, (*kept)->values) : LAM_ERR_MEMORY;
    }
    return shows_rules(below) ? run_otherwise(below, needs, true, 0, out, NULL) : lam__dispatch(below, out);
}

static lam_status stage_forward(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                                bool constant[], void **kept) {
    residual *r = NULL;
    (void)constant;
    lam_status status = dx ? forward_pushed(below, needs, dx, out, &r) : forward_kept(below, needs, out, &r);
    if (status != LAM_OK) stage_release(below->ctx, r);
    *kept = status == LAM_OK ? r : NULL;
    return status;
}

static lam_status stage_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                                 lam_value *dout[]) {
    const residual *r = call->residual;
    (void)results;
    if (!r) return lam__nested_push(call, dx, NULL, dout);
    for (int o = 0; o < call->outputs; o++) dout[o] = lam__value_hold_any(r->values[o]);
    return LAM_OK;
}

/* Of a choice: operands and cotangents -> gradients. */
static lam_status pull_switch(const lam_call_site *call, const bool needs[], lam_value *const g[], lam__nested_draft *d,
                              lam_value *gx[]) {
    const residual *r = call->residual;
    lam__places *p = lam__places_new(d->ctx, call->inputs - 1, call->outputs);
    if (!p) return LAM_ERR_MEMORY;
    lam__nested_append(d, r->values[0]);
    for (int i = 0; i < p->inputs; i++) {
        lam__places_of(p, LAM__X)[i] = lam__nested_append(d, r->values[i + 1]) - 1;
        if (needs[i + 1]) lam__places_of(p, LAM__GX)[i] = p->given++;
    }
    for (int o = 0; o < call->outputs; o++)
        if (g[o]) lam__places_of(p, LAM__DY)[o] = lam__nested_append(d, g[o]) - 1;
    p->taken = d->n - 1;
    for (int f = 0; f < d->what->count; f++) d->what->fns[f] = lam__places_fn("pull", d->what->fns[f], body_pull, p);
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    for (int i = 0; i < p->inputs && status == LAM_OK; i++)
        if (needs[i + 1]) gx[i + 1] = out[lam__places_of(p, LAM__GX)[i]];
    return status;
}

/* Inputs of a trip of the scan that have a gradient on the way back; NULL after recording a failure. */
static const bool *find_active(const lam_call_site *call, lam_value *const results[], const bool needs[],
                               lam_value *const g[]) {
    const residual *r = call->residual;
    const size_t n = (size_t)call->inputs, m = (size_t)call->outputs;
    bool *active = (bool *)(void *)lam__apply_room(call->ctx, (n + m) / sizeof(void *) + 1);
    if (!active) return NULL;
    for (size_t o = 0; o < m; o++) active[n + o] = g[o] && lam__dtype_is_inexact(results[o]->dtype);
    const lam_status status = lam__nested_pulled(call->ctx, call->params, r->values, needs, active + n, active);
    return status == LAM_OK ? active : NULL;
}

/* What the way back of a scan takes: cotangents of carries and gradients that come together; what the way there had,
 * and cotangents of results; what all trips read. */
static bool place_back(const lam_call_site *call, lam_value *const results[], const bool active[], lam_value *const g[],
                       lam__nested_draft *d, lam__places *p) {
    const residual *r = call->residual;
    const lam__nested_shape s = lam__nested_shape_of(call);
    const bool batch = d->what->batch;
    int *x = lam__places_of(p, LAM__X), *gx = lam__places_of(p, LAM__GX), *dy = lam__places_of(p, LAM__DY),
        *sum = lam__places_of(p, LAM__SUM);
    for (int i = 0; i < s.ends[0]; i++) {
        if (!active[i]) continue;
        if (g[i]) dy[i] = lam__nested_append(d, g[i]);
        else if ((dy[i] = lam__nested_append_own(d, lam__arguments_zero(d->ctx, results[i]))) < 0) return false;
        gx[i] = p->given++;
    }
    for (int i = s.ends[1]; i < s.ends[2] && !batch; i++) {
        if (!active[i]) continue;
        if ((sum[i] = lam__nested_append_own(d, lam__arguments_zero(d->ctx, r->values[i]))) < 0) return false;
        gx[i] = p->given++;
    }
    d->what->carries = d->n;
    for (int i = 0; i < s.ends[0]; i++) x[i] = lam__nested_append(d, r->values[call->inputs + i]);
    for (int i = s.ends[0]; i < s.ends[1]; i++) {
        x[i] = lam__nested_append(d, r->values[i]);
        if (active[i]) gx[i] = p->given++;
    }
    for (int o = s.ends[0]; o < call->outputs; o++)
        if (g[o]) dy[o] = lam__nested_append(d, g[o]);
    d->what->elements = d->n - d->what->carries;
    for (int i = s.ends[1]; i < s.ends[2]; i++) {
        x[i] = lam__nested_append(d, r->values[i]);
        if (active[i] && batch) gx[i] = p->given++;
    }
    p->taken = d->n;
    return true;
}

lam_fn *lam__nested_trip_back(lam_fn *body, int carries, const bool active[]) {
    lam__places *p = lam__places_new(body->ctx, body->inputs, carries);
    if (!p) return body->ctx->failed_fn;
    for (int i = 0; i < body->inputs; i++) {
        if (!active[i]) continue;
        lam__places_of(p, i < carries ? LAM__DY : LAM__SUM)[i] = p->taken++;
        lam__places_of(p, LAM__GX)[i] = p->given++;
    }
    for (int i = 0; i < body->inputs; i++) lam__places_of(p, LAM__X)[i] = p->taken++;
    return lam__places_fn("pull", body, body_pull, p);
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
    lam__places *p = lam__places_new(d->ctx, call->inputs, call->outputs);
    const bool *active = p ? find_active(call, results, needs, g) : NULL;
    if (!active || !place_back(call, results, active, g, d, p)) return LAM_ERR_MEMORY;
    memset(gx, 0, (size_t)call->inputs * sizeof *gx);
    if (!p->given) return LAM_OK;
    d->what->reverse = !d->what->reverse;
    d->what->fns[0] = lam__places_fn("pull", d->what->fns[0], body_pull, p);
    lam_value **out = lam__nested_values(d->ctx, p->given);
    lam_status status = out ? lam__nested_draft_apply(d, call->primitive, p->given, out) : LAM_ERR_MEMORY;
    for (int i = 0; i < call->inputs && status == LAM_OK; i++) {
        lam_value *one = lam__places_of(p, LAM__GX)[i] < 0 ? NULL : out[lam__places_of(p, LAM__GX)[i]];
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
