/* lam_checkpoint: f as one primitive that keeps its operands and what the policy names. Its stages apply f's
 * derivatives as checkpointed functions again, so that what they would store is recomputed too, at every order;
 * captures of f are operands like its inputs, and so are kept results on the way back.
 * y = f(x) keeps        x, and what the policy names
 * forward mode          checkpoint(jvp(f)) of x and dx
 * reverse mode          checkpoint(pull) of x, kept results and g, where pull runs f on a tape and goes back at once
 * batch                 checkpoint(vmap(f))
 * So levels below see derivatives and batches as one call of this primitive, whose own derivatives are of these forms
 * again. Where results are kept, forward is seen by its operations, among which they are. */
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/rematerialise.h"
#include "transforms/tape.h"
#include "transforms/trace.h"
#include "transforms/values.h"

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/staged.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* NOTE [draws again]
 * What f draws from the context's generator belongs to its call: parameters remember where the generator stood, and
 * whoever runs f again for a derivative goes back there and returns. */
typedef struct checkpoint_params {
    lam_fn *f;
    lam__policy policy;
    lam_random_state random; /* where the generator stood at the call */
    bool again;              /* f has been run for it */
    int tangents;            /* how many of the last operands are those of others, in which the call is linear */
    int cotangents;          /* how many of the last operands are such, of a pull: all its results are linear in them */
} checkpoint_params;

/* What the way back needs: the operands, and the results that were kept. Both are values of the level below and
 * held. */
typedef struct residual {
    int inputs;
    lam__kept kept;
    lam_value *in[];
} residual;

/* The function is all that the parameters own. A tape that outlives the user's scope keeps it alive by this. */
static void hold_params(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__fn_retain(((checkpoint_params *)params)->f);
}

static void release_params(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__fn_release(((checkpoint_params *)params)->f);
}

/* Applies params.f by a row of these stages to n values. The function may be a failed one that was just made: that is
 * found out here, where it is recorded already. */
static lam_status apply(lam_ctx *ctx, const lam_primitive *row, checkpoint_params params, int n, lam_value *const in[],
                        lam_value *out[]) {
    lam_fn *f = params.f;
    if (!lam__fn_check("checkpoint", f)) return ctx->error.status;
    lam_call_site call = {.ctx = ctx,
                          .primitive = row,
                          .params = &params,
                          .params_bytes = sizeof params,
                          .inputs = n,
                          .outputs = f->outputs,
                          .in = in};
    return lam__dispatch(&call, out);
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* See NOTE [draws again]. over: the level that keeps; NULL: none. wanted: NULL, or values are those of rules. */
static lam_status run(const checkpoint_params *p, lam__rematerialise *over, const bool wanted[], lam_value *const in[],
                      lam_value *out[]) {
    lam_fn *f = p->f;
    lam_ctx *ctx = f->ctx;
    const lam_random_state now = ctx->random;
    if (p->again) ctx->random = p->random;
    lam_status status = over ? lam__rematerialise_keep(f, over, wanted, in, out)
                             : lam__fn_call(f, (size_t)f->inputs, in, (size_t)f->outputs, out);
    if (p->again) ctx->random = now;
    return status;
}

/* Level 0: no derivative is wanted, so f just runs. */
static lam_status call_checkpoint(const lam_call_site *call, lam_value *out[]) {
    return run(call->params, NULL, NULL, call->in, out);
}

/* NULL is accepted. The kept values go first; the block's size is that of its list of operands. */
static void release_residual(lam_ctx *ctx, void *kept) {
    residual *r = kept;
    if (!r) return;
    lam__rematerialise_release(ctx, &r->kept);
    lam__arguments_release(r->inputs, r->in);
    lam__alloc_put(&ctx->pool, r, sizeof *r + (size_t)r->inputs * sizeof *r->in);
}

/* Where nothing is kept the values of rules (values.h) are those of one call, as the level below would see f's. */
static lam_status call_values(const checkpoint_params *p, const lam_call_site *below, const bool needs[],
                              lam_value *out[]) {
    lam_scope scope;
    checkpoint_params values = *p;
    lam__scope_open(below->ctx, &scope);
    values.f = lam__values_fn(p->f, needs);
    lam_status status = apply(below->ctx, below->primitive, values, below->inputs, below->in, out);
    lam__scope_close(&scope);
    return status;
}

/* A level below that sees what f does is to differentiate what rules of f have done. Kept are values of that level;
 * what has been kept before a failure is the caller's to release. */
static lam_status run_forward(const checkpoint_params *p, const lam_call_site *below, const bool needs[],
                              lam__kept *kept, lam_value *out[]) {
    bool seen = false;
    for (int i = 0; i < below->inputs && !seen; i++) seen = below->in[i] && lam__value_is_box(below->in[i]);
    lam__rematerialise state = {.policy = &p->policy, .mode = LAM__KEEP, .kept = kept};
    if (p->policy.kind != LAM_CHECKPOINT_NOTHING) return run(p, &state, seen ? needs : NULL, below->in, out);
    return seen ? call_values(p, below, needs, out) : lam__dispatch(below, out);
}

/* The operands are held as they are: for the way back they are operands again. Nothing is a constant: which results
 * have a derivative, their dtype says. */
static lam_status stage_forward(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                                bool constant[], void **kept) {
    (void)dx, (void)constant;
    size_t bytes = sizeof(residual) + (size_t)below->inputs * sizeof(lam_value *);
    residual *r = lam__alloc_get(&below->ctx->pool, bytes);
    *kept = NULL;
    if (!r) return lam__error_memory(below->ctx, bytes);
    *r = (residual){.inputs = below->inputs};
    for (int i = 0; i < below->inputs; i++) r->in[i] = lam__value_hold(below->in[i]);
    lam_status status = run_forward(below->params, below, needs, &r->kept, out);
    if (status == LAM_OK) *kept = r;
    else release_residual(below->ctx, r);
    return status;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* dy = checkpoint(jvp(f))(x, dx): f runs a second time for that, and its values are dropped. Operands without a tangent
 * are constants of it. The function and what else is made here go with the scope. */
static lam_status stage_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                                 lam_value *dout[]) {
    const checkpoint_params *p = call->params;
    lam_ctx *ctx = call->ctx;
    lam__scratch_area area;
    int n = call->inputs, m = call->outputs, count = 0;
    size_t bytes = (size_t)(2 * n + 2 * m) * sizeof(lam_value *) + (size_t)n * sizeof(int);
    lam_value **in = lam__scratch_get(&area, ctx, bytes), **out = in + 2 * n;
    if (!in) return LAM_ERR_MEMORY;
    memset(in, 0, bytes);
    int *items = (int *)(void *)(out + 2 * m);
    memcpy(in, call->in, (size_t)n * sizeof *in);
    for (int i = 0; i < n; i++) {
        if (!dx[i]) continue;
        in[n + count] = dx[i];
        items[count++] = i;
    }
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    checkpoint_params push = {
        lam_jvp_fn(p->f, &(lam_grad_options){.argnums = {count, items}}), p->policy, p->random, true, count, 0};
    lam_status status = apply(ctx, call->primitive, push, n + count, in, out);
    lam__scope_close(&scope);
    lam__arguments_release(m, out);
    if (status == LAM_OK) status = lam__arguments_again(p->f, results, out + m);
    if (status != LAM_OK) lam__arguments_release(m, out + m);
    for (int o = 0; o < m; o++) dout[o] = out[m + o];
    lam__scratch_put(&area);
    return status;
}

/* gx = checkpoint(pull)(x, kept, g). The policy of this application is to keep nothing further. On failure gx[] is not
 * touched. */
static lam_status stage_cotangents(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                   lam_value *const g[], lam_value *gx[]) {
    (void)results;
    const checkpoint_params *p = call->params;
    const residual *r = call->residual;
    lam_ctx *ctx = call->ctx;
    lam__scratch_area area, area_env;
    size_t kept = r->kept.count, n = (size_t)call->inputs, m = (size_t)call->outputs;
    lam_value **in = lam__scratch_get(&area, ctx, (2 * n + kept + m) * sizeof *in);
    lam__pull *e = lam__scratch_get(&area_env, ctx, sizeof *e + (n + m) * sizeof(int));
    lam_status status = in && e ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        lam_value **out = in + n + kept + m;
        lam_scope scope;
        lam__scope_open(ctx, &scope);
        checkpoint_params pull = {.f = lam__checkpoint_pull_new(call, p->f, &p->policy, (int)kept, needs, g, e),
                                  .random = p->random,
                                  .again = true};
        pull.cotangents = e->given;
        memset(out, 0, n * sizeof *out);
        memcpy(in, r->in, n * sizeof *in);
        if (kept) memcpy(in + n, r->kept.values, kept * sizeof *in);
        for (int k = 0; k < e->given; k++) in[n + kept + (size_t)k] = g[e->numbers[e->wanted + k]];
        status = apply(ctx, call->primitive, pull, (int)(n + kept) + e->given, in, out);
        for (int k = 0; k < e->wanted && status == LAM_OK; k++) gx[e->numbers[k]] = out[k];
        lam__scope_close(&scope);
    }
    lam__scratch_put(&area);
    lam__scratch_put(&area_env);
    return status;
}

/* ---- batch ------------------------------------------------------------------------------------------------------- */

/* The operands stay as they lie; the mapped function takes their axes. Results have the batch axis in front. Where the
 * generator stood goes along, so that a batch that is run again draws the same. */
static lam_status stage_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                                int out_axes[]) {
    const checkpoint_params *p = call->params;
    lam_scope scope;
    lam__scope_open(call->ctx, &scope);
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    checkpoint_params batched = {
        lam__batch_mapped(p->f, batch, axes, NULL), p->policy, p->random, p->again, p->tangents, p->cotangents};
    lam_status status = apply(call->ctx, call->primitive, batched, call->inputs, call->in, out);
    lam__scope_close(&scope);
    return status;
}

static const lam__staged stages = {
    .forward = stage_forward,
    .tangents = stage_tangents,
    .cotangents = stage_cotangents,
    .batched = stage_batched,
    .release = release_residual,
};

const lam_primitive lam__row_checkpoint = {
    .name = "checkpoint",
    .inputs = LAM_VARIADIC,
    .outputs = LAM_VARIADIC,
    .derivative = LAM_GENERAL,
    .call = call_checkpoint,
    .staged = &stages,
    .params_hold = hold_params,
    .params_release = release_params,
};

/* ---- functions that are recorded whole --------------------------------------------------------------------------- */

static bool stage_whole(const lam__level *level, const lam_call_site *call) {
    (void)level, (void)call;
    return true;
}

static lam_status stage_keep(const lam_call_site *call, const bool needs[], lam_value *const results[], void **kept) {
    (void)call, (void)needs, (void)results;
    *kept = NULL;
    return LAM_OK;
}

/* Runs f on variables of a program that nobody keeps, for the types of its results. */
static lam_status run_for_types(const lam_call_site *call, lam__program *p, lam_value **room, lam_shape out[]) {
    const checkpoint_params *params = call->params;
    lam__level level;
    lam_value **results = room + call->inputs;
    lam_status status = lam__trace_push(call->ctx, &level, p);
    if (status != LAM_OK) return status;
    for (int i = 0; i < call->inputs && status == LAM_OK; i++)
        if (!(room[i] = lam__trace_variable(&level, call->in[i]))) status = LAM_ERR_MEMORY;
    if (status == LAM_OK) status = lam__fn_call(params->f, (size_t)call->inputs, room, (size_t)call->outputs, results);
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) {
        out[o].dtype = (lam_dtype)results[o]->dtype;
        out[o].rank = results[o]->rank;
        for (int i = 0; i < out[o].rank; i++) out[o].dims[i] = results[o]->dims[i];
    }
    lam__arguments_release(call->inputs + call->outputs, room);
    lam__level_pop(&level);
    return status;
}

/* What f draws on the way is not drawn. *draws: it would be. */
static lam_status shape_of(const lam_call_site *call, lam_shape out[], bool *draws) {
    lam_ctx *ctx = call->ctx;
    const lam_random_state random = ctx->random;
    lam__scratch_area area;
    size_t values = (size_t)(call->inputs + call->outputs);
    lam_value **room = lam__scratch_get(&area, ctx, values * sizeof *room);
    if (!room) return LAM_ERR_MEMORY;
    memset(room, 0, values * sizeof *room);
    lam__program *p = lam__program_new(ctx, call->inputs, call->outputs);
    if (p) p->only_types = true;
    lam_status status = p ? run_for_types(call, p, room, out) : LAM_ERR_MEMORY;
    *draws = p && p->draws;
    lam__program_release(p);
    ctx->random = random;
    lam__scratch_put(&area);
    return status;
}

static lam_status shape_control(const lam_call_site *call, lam_shape out[]) {
    bool draws;
    return shape_of(call, out, &draws);
}

/* What goes wrong does so again where the call is made in earnest. */
bool lam__checkpoint_types(const lam_call_site *call, lam_shape out[]) {
    lam_ctx *ctx = call->ctx;
    const lam__mark mark = lam__error_mark(ctx);
    bool draws = false;
    if (shape_of(call, out, &draws) == LAM_OK && !draws) return true;
    lam__error_roll_back(ctx, mark);
    return false;
}

static int tangents_of(const void *params) {
    return ((const checkpoint_params *)params)->tangents;
}

/* The way back through a loop, once its derivative is linear in what is given back. */
static bool linear_in_control(const void *params, int i) {
    const checkpoint_params *p = params;
    return i >= p->f->inputs - p->cotangents;
}

/* What stage_forward would have kept: the operands, with zeros for those that are variables, in which the call is
 * linear. */
static lam_status keep_control(const lam_call_site *call, const bool needs[], lam_value *const results[], void **kept) {
    (void)results;
    size_t bytes = sizeof(residual) + (size_t)call->inputs * sizeof(lam_value *);
    residual *r = lam__alloc_get(&call->ctx->pool, bytes);
    if (!r) return lam__error_memory(call->ctx, bytes);
    lam_status status = LAM_OK;
    *r = (residual){.inputs = call->inputs};
    for (int i = 0; i < call->inputs; i++) {
        r->in[i] = needs[i] ? lam__arguments_zero(call->ctx, call->in[i]) : lam__value_hold(call->in[i]);
        if (!r->in[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK) *kept = r;
    else release_residual(call->ctx, r);
    return status;
}

static const lam__staged stages_whole = {
    .forward = stage_forward,
    .tangents = stage_tangents,
    .cotangents = stage_cotangents,
    .batched = stage_batched,
    .release = release_residual,
    .linear = stage_whole,
    .keep = stage_keep,
    .tangents_in = tangents_of,
    .linear_in = linear_in_control,
    .keep_late = keep_control,
};

const lam_primitive lam__row_control = {
    .name = "control",
    .inputs = LAM_VARIADIC,
    .outputs = LAM_VARIADIC,
    .derivative = LAM_GENERAL,
    .shape = shape_control,
    .call = call_checkpoint,
    .staged = &stages_whole,
    .params_hold = hold_params,
    .params_release = release_params,
};

/* There has been no forward, so what one would have left is made here: the operands, and nothing that was kept. */
lam_status lam__checkpoint_pull(lam_fn *f, lam_value *const in[], const bool needs[], lam_value *const g[],
                                lam_value *gx[]) {
    lam_ctx *ctx = f->ctx;
    const size_t bytes = sizeof(residual) + (size_t)f->inputs * sizeof(lam_value *);
    lam__scratch_area area;
    residual *r = lam__scratch_get(&area, ctx, bytes);
    if (!r) return LAM_ERR_MEMORY;
    *r = (residual){.inputs = f->inputs};
    memcpy(r->in, in, (size_t)f->inputs * sizeof *in);
    checkpoint_params params = {.f = f};
    const lam_call_site call = {.ctx = ctx,
                                .primitive = &lam__row_control,
                                .params = &params,
                                .params_bytes = sizeof params,
                                .inputs = f->inputs,
                                .outputs = f->outputs,
                                .in = in,
                                .residual = r};
    const lam_status status = stage_cotangents(&call, NULL, needs, g, gx);
    lam__scratch_put(&area);
    return status;
}

lam_fn **lam__checkpoint_function(void *params) {
    return &((checkpoint_params *)params)->f;
}

lam_status lam__checkpoint_whole(lam_fn *f, lam_value *const in[], lam_value *out[]) {
    return apply(f->ctx, &lam__row_control, (checkpoint_params){.f = f}, f->inputs, in, out);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* The captures of f are borrowed from it and become operands behind the inputs. */
static void body_checkpoint(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *open = lam__fn_base(env), *f = lam__fn_base(open->env), *captor = lam__fn_captor(f);
    lam__scratch_area area;
    size_t n = (size_t)(open->inputs + open->outputs);
    lam_value **v = lam__scratch_get(&area, ctx, n * sizeof *v);
    if (!v) return;
    memset(v, 0, n * sizeof *v);
    ctx->spares = true;
    lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? LAM_OK : ctx->error.status;
    for (int i = 0; i < captor->captured; i++) v[f->inputs + i] = captor->captures[i];
    checkpoint_params params = {open, *(const lam__policy *)env, ctx->random, false, 0, 0};
    if (status == LAM_OK) status = apply(ctx, &lam__row_checkpoint, params, open->inputs, v, v + open->inputs);
    lam__arguments_give(ctx, status, open->outputs, v + open->inputs, out);
    lam__scratch_put(&area);
}

/* Checked when the function is made. Names are copied and filled up with zeros. */
static lam_status policy_of(const lam_fn *f, const lam_checkpoint_options *o, lam__policy *policy) {
    lam_ctx *ctx = f->ctx;
    *policy = (lam__policy){.kind = (int32_t)o->policy, .names = o->name_count};
    if ((int)o->policy < 0 || o->policy > LAM_CHECKPOINT_CONTRACTIONS)
        return lam__error_set(ctx, LAM_ERR_OPTION, NULL, "checkpoint of '%s': there is no policy %d", f->name,
                              (int)o->policy);
    bool named = o->policy == LAM_CHECKPOINT_NAMED;
    if (named != (o->name_count > 0) || o->name_count < 0 || o->name_count > LAM__KEEP_NAMES || (named && !o->names))
        return lam__error_set(ctx, LAM_ERR_OPTION, "give names with LAM_CHECKPOINT_NAMED, and with no other policy",
                              "checkpoint of '%s': %d names do not fit the policy, which takes %d at most", f->name,
                              o->name_count, named ? LAM__KEEP_NAMES : 0);
    for (int i = 0; i < o->name_count; i++) {
        if (!o->names[i] || !*o->names[i] || strlen(o->names[i]) >= LAM__KEEP_LENGTH)
            return lam__error_set(ctx, LAM_ERR_OPTION, NULL, "checkpoint of '%s': name %d is missing or longer than %d",
                                  f->name, i, LAM__KEEP_LENGTH - 1);
        strcpy(policy->name[i], o->names[i]);
    }
    return LAM_OK;
}

/* Two functions: `open` has captures as inputs and is what the primitive applies; the outer one is the user's. */
lam_fn *lam_checkpoint(lam_fn *f, const lam_checkpoint_options *options) {
    static const lam_checkpoint_options none;
    lam_ctx *ctx = lam__fn_check("checkpoint", f);
    lam__policy policy;
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (policy_of(f, options ? options : &none, &policy) != LAM_OK) return ctx->failed_fn;
    lam_fn *open = lam__fn_open("body", f);
    if (open->magic != LAM__FN) return open;
    open->optional = false; /* what is kept of an input is a tensor */
    return lam__fn_derive(
        ctx, &(lam__derived){"checkpoint", open, body_checkpoint, f->inputs, f->outputs, &policy, sizeof policy, NULL});
}
