/* lam_checkpoint: f as one primitive that saves its operands only. Its derivative rules apply f's derivatives as checkpointed functions
 * again, so that what they would store is recomputed too, at every order; captures of f are operands like its inputs. */
#include "transforms/arguments.h"
#include "transforms/tape.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

static lam_fn *fn_of(const void *params) {
    return *(lam_fn *const *)params;
}

static void hold_fn(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__fn_retain(fn_of(params));
}

static void release_fn(lam_ctx *ctx, void *params) {
    (void)ctx;
    lam__fn_release(fn_of(params));
}

/* Applies f, checkpointed, to n operands. */
static void apply(lam_ctx *ctx, lam_fn *f, size_t n, lam_tensor *const in[], lam_tensor **out) {
    for (int o = 0; o < lam_fn_outputs(f); o++) out[o] = &ctx->failed;
    if (lam__fn_check("checkpoint", f)) lam_bind(ctx, &lam__row_checkpoint, &f, sizeof f, (lam_list){n, in}, out, (size_t)f->outputs);
}

/* ---- rules -------------------------------------------------------------------------------------------------------- */

static lam_status call_checkpoint(const lam_call_site *call, lam_value *out[]) {
    return lam__fn_call(fn_of(call->params), (size_t)call->inputs, call->in, (size_t)call->outputs, out);
}

/* The numbers of the entries that are not NULL. */
static int present(int n, lam_tensor *const list[], int items[], lam_tensor **packed) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (!list[i]) continue;
        packed[count] = list[i];
        items[count++] = i;
    }
    return count;
}

static void jvp_checkpoint(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    size_t n = (size_t)r->inputs;
    lam_tensor **in = lam__apply_room(r->ctx, 2 * n), **out = lam__apply_room(r->ctx, 2 * (size_t)r->outputs);
    int *items = (int *)(void *)lam__apply_room(r->ctx, n);
    if (!in || !out || !items) return;
    memcpy(in, r->in, n * sizeof *in);
    int count = present(r->inputs, dx, items, in + n);
    lam_fn *push = lam_jvp_fn(fn_of(r->params), &(lam_grad_options){.argnums = {count, items}});
    apply(r->ctx, push, n + (size_t)count, in, out);
    for (int o = 0; o < r->outputs; o++) dout[o] = out[r->outputs + o];
}

/* Inputs of the base, then cotangents -> gradients: forward and backward of the base in one function. */
typedef struct pull_env {
    int wanted, given; /* lengths of the two lists */
    int numbers[];     /* inputs that want a gradient, then outputs whose cotangent is given */
} pull_env;

/* Runs f on a tape and back at once; v: f's inputs and the given cotangents, then room for its outputs and gx. */
static lam_status pull(lam_fn *f, const pull_env *e, lam_value **v, lam_value **g, bool *wanted) {
    lam_value **results = v + f->inputs + e->given, **gx = results + f->outputs;
    lam__recording recording;
    for (int k = 0; k < e->wanted; k++) wanted[e->numbers[k]] = true;
    for (int k = 0; k < e->given; k++) g[e->numbers[e->wanted + k]] = v[f->inputs + k];
    lam_status status = lam__tape_record(f, v, wanted, results, &recording);
    if (status != LAM_OK) return status;
    status = lam__tape_pull(f->ctx, &recording, g, gx, true);
    lam__tape_forget(f->ctx, &recording);
    lam__arguments_release(f->outputs, results);
    return status;
}

static void body_pull(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const pull_env *e = env;
    lam_fn *f = lam__fn_base(env);
    int taken = f->inputs + e->given, values = taken + 2 * f->outputs + f->inputs;
    size_t bytes = (size_t)values * sizeof(lam_value *) + (size_t)f->inputs;
    lam__scratch_area area;
    lam_value **v = lam__scratch_get(&area, ctx, bytes);
    if (!v) return;
    memset(v, 0, bytes);
    lam_value **gx = v + taken + f->outputs, **g = gx + f->inputs;
    lam_status status = lam__arguments_values(ctx, taken, in, v) ? LAM_OK : ctx->error.status;
    if (status == LAM_OK) status = pull(f, e, v, g, (bool *)(void *)(v + values));
    for (int k = 0; k < e->wanted; k++) {
        lam_value *one = gx[e->numbers[k]];
        if (!one && status == LAM_OK && !(one = lam__arguments_zero(ctx, v[e->numbers[k]]))) status = LAM_ERR_MEMORY;
        lam__arguments_give(ctx, status, 1, &one, &out[k]);
    }
    lam__scratch_put(&area);
}

static void vjp_checkpoint(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_fn *f = fn_of(r->params);
    size_t n = (size_t)(r->inputs + r->outputs);
    lam_tensor **in = lam__apply_room(r->ctx, n), **out = lam__apply_room(r->ctx, (size_t)r->inputs);
    pull_env *e = (pull_env *)(void *)lam__apply_room(r->ctx, sizeof *e / sizeof(void *) + 1 + n);
    if (!in || !out || !e) return;
    memcpy(in, r->in, (size_t)r->inputs * sizeof *in);
    e->wanted = 0;
    for (int i = 0; i < r->inputs; i++)
        if (r->needs[i]) e->numbers[e->wanted++] = i;
    e->given = present(r->outputs, g, e->numbers + e->wanted, in + r->inputs);
    lam__derived d = {"pull", f, body_pull, r->inputs + e->given, e->wanted, e, sizeof *e + (size_t)(e->wanted + e->given) * sizeof(int), NULL};
    apply(r->ctx, lam__fn_derive(r->ctx, &d), (size_t)(r->inputs + e->given), in, out);
    for (int k = 0; k < e->wanted; k++) gx[e->numbers[k]] = out[k];
}

static void batch_checkpoint(const lam_rule *r, lam_tensor *out[]) {
    int *axes = (int *)(void *)lam__apply_room(r->ctx, (size_t)r->inputs);
    if (!axes) return;
    for (int i = 0; i < r->inputs; i++) axes[i] = r->mapped[i] ? 0 : LAM_UNMAPPED;
    lam_fn *mapped = lam_vmap(fn_of(r->params), &(lam_vmap_options){.in_axes = {r->inputs, axes}, .axis_size = r->size ? r->size : LAM_ZERO_SIZE});
    apply(r->ctx, mapped, (size_t)r->inputs, r->in, out);
}

const lam_primitive lam__row_checkpoint = {
    .name = "checkpoint", .inputs = LAM_VARIADIC, .outputs = LAM_VARIADIC, .derivative = LAM_GENERAL, .saves = LAM_SAVE_ALL_IN,
    .call = call_checkpoint, .jvp = jvp_checkpoint, .vjp = vjp_checkpoint, .batch = batch_checkpoint,
    .params_hold = hold_fn, .params_release = release_fn,
};

/* ---- the function ---------------------------------------------------------------------------------------------------- */

/* f with its captures as further inputs. */
static void body_open(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lam_fn *f = lam__fn_base(env);
    f->body(ctx, in, out, f->env);
}

static void body_checkpoint(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *open = lam__fn_base(env), *f = lam__fn_base(open->env);
    lam_tensor **all = lam__apply_room(ctx, (size_t)open->inputs);
    if (!all) return;
    memcpy(all, in, (size_t)f->inputs * sizeof *all);
    for (int i = 0; i < f->captured; i++) all[f->inputs + i] = lam__scope_handle(ctx, lam__value_hold(f->captures[i]));
    apply(ctx, open, (size_t)open->inputs, all, out);
}

lam_fn *lam_checkpoint(lam_fn *f, const lam_checkpoint_options *options) {
    (void)options;
    lam_ctx *ctx = lam__fn_check("checkpoint", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    int inputs = f->inputs + f->captured;
    lam_fn *open = lam__fn_derive(ctx, &(lam__derived){"body", f, body_open, inputs, f->outputs, NULL, 0, NULL});
    if (open->magic != LAM__FN) return open;
    return lam__fn_derive(ctx, &(lam__derived){"checkpoint", open, body_checkpoint, f->inputs, f->outputs, NULL, 0, NULL});
}
