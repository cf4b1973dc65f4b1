/* The batching stage of a custom Function: the user's rule, example by example, or the Function mapped
 * (custom_mapped.c). Exactly one of them applies; none is an error that names the choices. Operands come as they lie,
 * with their batch axes wherever those are; out_axes says where those of the results are. */
#include "transforms/custom.h"

#include "lib/dispatch/draw.h"
#include "lib/primitives/apply.h"
#include "transforms/arguments.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* The callback sees the operands with their batch axes and answers for all examples at once. What it answers is checked
 * by lam__custom_vmap, axes and sizes too. */
static lam_status batched_by_rule(lam_fctx *fc, const lam_call_site *call, const int axes[], const lam__batch *batch,
                                  lam_value *out[], int out_axes[]) {
    lam_vmap_info info = {batch->size, batch->randomness};
    return lam__custom_vmap(fc, &info, axes, call->in, out, out_axes);
}

/* ---- example by example ------------------------------------------------------------------------------------------ */

/* Example b of operand v: one reference, NULL after a failure. Made by public operations on a lent handle, so v may be
 * anything that the levels below know; handles made on the way stay in the innermost scope. */
static lam_value *example(lam_ctx *ctx, lam_value *v, int axis, int64_t b) {
    if (!v || axis == LAM_UNMAPPED) return v ? lam__value_hold(v) : NULL;
    lam_tensor lent;
    lam__scope_lend(&lent, ctx, v);
    lam_value *one = lam__scope_peek(lam_squeeze(lam_slice_axis(&lent, axis, b, b + 1), LAM_AXES(axis)));
    return one ? lam__value_hold(one) : NULL;
}

/* Applies the Function to example b. work: room for its operands and results; parts[o * size + b] gets output o as a
 * handle of the innermost scope, NULL where it is left out. Operands of the example are given up before the next one is
 * taken. */
static lam_status run_example(lam__instance *x, const lam_call_site *call, const int axes[], int64_t b,
                              lam_value *work[], lam_tensor **parts, int64_t size) {
    lam_status status = LAM_OK;
    lam_value **out = work + x->inputs;
    for (int i = 0; i < x->inputs; i++) {
        work[i] = example(x->ctx, call->in[i], axes[i], b);
        if (call->in[i] && !work[i]) status = x->ctx->error.status;
    }
    if (status == LAM_OK) status = lam__custom_dispatch(x, work, out);
    lam__arguments_release(x->inputs, work);
    for (int o = 0; o < x->outputs && status == LAM_OK; o++)
        parts[o * size + b] = out[o] ? lam__scope_handle(x->ctx, out[o]) : NULL;
    return status;
}

/* Output o of all examples put together; NULL where all leave it out. Examples may not differ in that, since a batched
 * output is there or not as a whole. */
static lam_status join(const lam_fctx *fc, int o, int64_t size, lam_tensor *const parts[], lam_value **out) {
    for (int64_t b = 1; b < size; b++)
        if (!parts[b] != !parts[0])
            return lam__custom_fail(fc, LAM_ERR_RULE, "decide it by attributes or by which inputs there are",
                                    "forward left output %d out for example %lld and gave it for example %lld", o,
                                    (long long)(parts[b] ? 0 : b), (long long)(parts[b] ? b : 0));
    if (!parts[0]) return LAM_OK;
    lam_value *whole = lam__scope_peek(lam_stack((lam_list){(size_t)size, parts}, 0));
    if (!whole) return fc->ctx->error.status;
    *out = lam__value_hold(whole);
    return LAM_OK;
}

/* Draws of a loop: each example has the same as the first, or a stream of its own, which depends on its place in the
 * whole batch only. The generator ends one draw further if there were any. Refused behind the first example that has
 * drawn, since nobody knows before whether forward does. */
static lam_status run_drawing(lam__instance *x, const lam_call_site *call, const int axes[], const lam__batch *batch,
                              lam_value *work[], lam_tensor **parts) {
    lam_ctx *ctx = x->ctx;
    const lam_random_state before = ctx->random;
    lam_status status = LAM_OK;
    bool drawn = false;
    for (int64_t b = 0; b < batch->size && status == LAM_OK; b++) {
        bool same = batch->randomness != LAM_RANDOMNESS_DIFFERENT;
        const lam_random_state own = lam__draw_stream(before, same ? 0 : (uint64_t)(batch->first + b));
        ctx->random = own;
        status = run_example(x, call, axes, b, work, parts, batch->size);
        drawn = drawn || ctx->random.draws != own.draws;
        if (drawn && batch->randomness == LAM_RANDOMNESS_ERROR && status == LAM_OK)
            status = lam__batch_refuse_draw(ctx, x->fn.name);
    }
    ctx->random = before;
    ctx->random.draws += drawn;
    return status;
}

/* One scope holds the outputs of all examples until they are stacked, so at the end they are there twice. A failure
 * ends the loop; what was made till then goes with the scope, of which no part is stacked. */
static lam_status run_examples(lam_fctx *fc, const lam_call_site *call, const int axes[], const lam__batch *batch,
                               lam_value *out[]) {
    lam__instance *x = fc->instance;
    lam_ctx *ctx = x->ctx;
    int64_t size = batch->size;
    lam__scratch_area area;
    size_t parts_count = (size_t)x->outputs * (size_t)size, work_count = (size_t)(x->inputs + x->outputs);
    lam_tensor **parts = lam__scratch_get(&area, ctx, parts_count * sizeof *parts + work_count * sizeof(lam_value *));
    if (!parts) return LAM_ERR_MEMORY;
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    lam_status status = run_drawing(x, call, axes, batch, (lam_value **)(void *)(parts + parts_count), parts);
    for (int o = 0; o < x->outputs && status == LAM_OK; o++)
        status = join(fc, o, size, parts + (int64_t)o * size, &out[o]);
    lam__scope_close(&scope);
    lam__scratch_put(&area);
    return status;
}

/* A batch of none has no example to run: its outputs are empty, of the types that the shape callback gives. Those see
 * the types of one example, without the batch axis; an input that was left out has rank -1. Without a shape callback
 * lam__custom_shape says what is missing. */
static lam_status no_examples(lam_fctx *fc, const lam_call_site *call, const int axes[], lam_value *out[]) {
    const lam__instance *x = fc->instance;
    lam__scratch_area area;
    lam_type *types = lam__scratch_get(&area, fc->ctx, (size_t)(x->inputs + x->outputs) * sizeof *types),
             *results = types + x->inputs;
    if (!types) return LAM_ERR_MEMORY;
    for (int i = 0; i < x->inputs; i++) {
        const lam_value *v = call->in[i];
        types[i] = (lam_type){.dtype = v ? (lam_dtype)v->dtype : LAM_F64, .rank = v ? 0 : -1};
        for (int a = 0; v && a < v->rank; a++)
            if (a != axes[i] && types[i].rank < LAM_MAX_RANK) types[i].dims[types[i].rank++] = v->dims[a];
    }
    lam_status status = lam__custom_shape(fc, types, results);
    for (int o = 0; o < x->outputs && status == LAM_OK; o++) {
        if (fc->absent[o]) continue;
        int64_t dims[LAM_MAX_RANK + 1] = {0};
        for (int a = 0; a < results[o].rank; a++) dims[a + 1] = results[o].dims[a];
        if (!(out[o] = lam__value_new(fc->ctx, results[o].dtype, results[o].rank + 1, dims))) status = LAM_ERR_MEMORY;
    }
    lam__scratch_put(&area);
    return status;
}

/* Results are stacked along a new first axis. Each example is applied through dispatch, so derivative levels below see
 * as many applications as there are examples. */
static lam_status batched_by_loop(lam_fctx *fc, const lam_call_site *call, const int axes[], const lam__batch *batch,
                                  lam_value *out[], int out_axes[]) {
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    if (!batch->size) return no_examples(fc, call, axes, out);
    return run_examples(fc, call, axes, batch, out);
}

/* ---- mapped ------------------------------------------------------------------------------------------------------ */

/* The mapped Function is applied below this level like any other. A derivative level there keeps a context of it and
 * calls its rules, which are those of the user under a batch level. It has its own reference to the Function, so this
 * one's ends here. */
static lam_status batched_by_mapping(lam_fctx *fc, const lam_call_site *call, const int axes[], const lam__batch *batch,
                                     lam_value *out[], int out_axes[]) {
    lam__instance *x = fc->instance, *mapped = lam__custom_mapped(x, axes, batch);
    if (!mapped) return LAM_ERR_MEMORY;
    lam_status status = lam__custom_dispatch(mapped, call->in, out);
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    lam__custom_release(mapped);
    return status;
}

/* The stage itself. The context is a visitor: batching saves nothing, the levels below make contexts of their own.
 * KEEP IN STEP: custom-rules */
lam_status lam__custom_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                               int out_axes[]) {
    lam__instance *x = lam__custom_of(call);
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    lam__visitor v;
    if (!lam__context_begin(&v, x)) return LAM_ERR_MEMORY;
    lam_fctx *fc = &v.fc;
    lam_status status;
    if (x->fn.vmap) status = batched_by_rule(fc, call, axes, batch, out, out_axes);
    else if (x->fn.vmap_by_loop) status = batched_by_loop(fc, call, axes, batch, out, out_axes);
    else if (lam__custom_generates(&x->fn)) status = batched_by_mapping(fc, call, axes, batch, out, out_axes);
    else
        status = lam__custom_fail(
            fc, LAM_ERR_RULE,
            "give it a vmap callback, or say generate_vmap_rule (rules made of lamina operations) or vmap_by_loop",
            "it is called inside vmap, but has no batching rule");
    if (status != LAM_OK) lam__arguments_release(call->outputs, out);
    lam__context_end(&v);
    return status;
}
