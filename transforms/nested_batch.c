/* Batches of choices and loops (nested.h), and how calls of their rows are put together (nested_draft.h). What all
 * examples choose alike is the choice of batched functions, a scan is one of batched trips. Where each example chooses
 * for itself, a program has a scan over the examples, and a run sorts them (cond.c, loops.c). */
#include "transforms/nested_draft.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/rematerialise.h"

#include <lamina/tensor.h>

#include <string.h>

bool lam__nested_draft_open(const lam_call_site *call, int room, lam__nested_draft *d) {
    const lam__nested *w = call->params;
    *d = (lam__nested_draft){.ctx = call->ctx};
    d->what = (lam__nested *)(void *)lam__apply_room(call->ctx, lam__nested_bytes(w->count) / sizeof(void *) + 1);
    d->in = (lam_value **)(void *)lam__apply_room(call->ctx, (size_t)room);
    d->own = (bool *)(void *)lam__apply_room(call->ctx, (size_t)room);
    if (!d->what || !d->in || !d->own) return false;
    memcpy(d->what, w, lam__nested_bytes(w->count));
    d->what->machine = NULL; /* which is that of the call, not of what is made of it */
    return true;
}

void lam__nested_draft_close(lam__nested_draft *d) {
    for (int i = 0; i < d->n; i++)
        if (d->own[i]) lam__value_release(d->in[i]);
}

int lam__nested_append(lam__nested_draft *d, lam_value *v) {
    d->own[d->n] = false;
    d->in[d->n] = v;
    return d->n++;
}

int lam__nested_append_own(lam__nested_draft *d, lam_value *v) {
    if (!v) return -1;
    d->own[d->n] = true;
    d->in[d->n] = v;
    return d->n++;
}

lam_status lam__nested_draft_apply(lam__nested_draft *d, const lam_primitive *row, int m, lam_value *out[]) {
    const lam_call_site call = {.ctx = d->ctx,
                                .primitive = row,
                                .params = d->what,
                                .params_bytes = lam__nested_bytes(d->what->count),
                                .inputs = d->n,
                                .outputs = m,
                                .in = d->in};
    return lam__nested_apply(row->name, &call, out);
}

lam_value **lam__nested_values(lam_ctx *ctx, int n) {
    lam_value **v = (lam_value **)(void *)lam__apply_room(ctx, (size_t)n);
    if (v) memset(v, 0, (size_t)n * sizeof *v);
    return v;
}

lam__nested_shape lam__nested_shape_of(const lam_call_site *call) {
    const lam__nested *w = call->params;
    const int skip = call->primitive == &lam__row_switch, n = call->inputs - skip;
    const int carries = skip ? 0 : (int)w->carries, elements = call->primitive == &lam__row_scan ? (int)w->elements : 0;
    return (lam__nested_shape){skip, n, {carries, carries + elements, n}};
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static int *numbers_new(lam_ctx *ctx, int n) {
    return (int *)(void *)lam__apply_room(ctx, (size_t)n);
}

/* v for each example, the same. */
static lam_value *repeated(lam_ctx *ctx, lam_value *v, int64_t size) {
    int64_t dims[LAM_INNER_RANK + 1] = {size};
    for (int i = 0; i < v->rank; i++) dims[1 + i] = v->dims[i];
    lam_tensor *all = lam__apply_broadcast(lam__scope_handle(ctx, lam__value_hold(v)), v->rank + 1, dims);
    lam_value *made = lam__scope_peek(all);
    return made ? lam__value_hold(made) : NULL;
}

/* An operand whose batch axis stands at `to` for the functions, which get it without `front` axes. */
static bool append_moved(lam__nested_draft *d, lam_value *v, int axis, int front, int *inner) {
    *inner = axis == LAM_UNMAPPED ? LAM_UNMAPPED : 0;
    if (axis == LAM_UNMAPPED) return lam__nested_append(d, v) >= 0;
    return lam__nested_append_own(d, lam__batch_move(d->ctx, v, axis, front)) >= 0;
}

static bool map_functions(lam__nested_draft *d, const lam__batch *batch, const int inner[]) {
    for (int f = 0; f < d->what->count; f++) d->what->fns[f] = lam__batch_mapped(d->what->fns[f], batch, inner);
    return true;
}

/* One index for all. */
static lam_status batched_switch(const lam_call_site *call, const int axes[], const lam__batch *batch,
                                 lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    for (int i = 0; i < call->inputs; i++) lam__nested_append(d, call->in[i]);
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    map_functions(d, batch, axes + 1);
    return lam__nested_draft_apply(d, call->primitive, call->outputs, out);
}

/* Carries all have the batch axis, since they may get it on the way. */
static lam_status batched_scan(const lam_call_site *call, const int axes[], const lam__batch *batch,
                               lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    int *inner = numbers_new(call->ctx, call->inputs);
    bool fine = inner != NULL;
    for (int i = 0; i < call->inputs && fine; i++) {
        if (i < s.ends[0] && axes[i] == LAM_UNMAPPED) {
            inner[i] = 0;
            fine = lam__nested_append_own(d, repeated(d->ctx, call->in[i], batch->size)) >= 0;
        } else {
            fine = append_moved(d, call->in[i], axes[i], i >= s.ends[0] && i < s.ends[1], &inner[i]);
        }
    }
    for (int o = 0; o < call->outputs; o++) out_axes[o] = o >= s.ends[0];
    if (!fine) return LAM_ERR_MEMORY;
    map_functions(d, batch, inner);
    return lam__nested_draft_apply(d, call->primitive, call->outputs, out);
}

/* Each example for itself: in a program the examples are walked along; what they share comes behind what they have. */
static lam_status examples_as_scan(const lam_call_site *call, const int axes[], int64_t size, lam_fn *f,
                                   lam__nested_draft *d, lam_value *out[]) {
    int *places = numbers_new(call->ctx, call->inputs), unused;
    bool fine = places != NULL;
    for (int shared = 0; shared < 2 && fine; shared++) {
        for (int i = 0; i < call->inputs && fine; i++) {
            if ((axes[i] == LAM_UNMAPPED) != shared) continue;
            places[i] = d->n;
            fine = append_moved(d, call->in[i], axes[i], 0, &unused);
            d->what->elements += !shared;
        }
    }
    if (!fine) return LAM_ERR_MEMORY;
    d->what->length = size;
    d->what->batch = true;
    d->what->count = 1;
    d->what->fns[0] = lam__nested_pick(f, call->inputs, places);
    return lam__nested_draft_apply(d, &lam__row_scan, call->outputs, out);
}

static lam_status batched_each(const lam_call_site *call, const int axes[], const lam__batch *batch,
                               lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    lam_fn *f = lam__nested_function(call->ctx, call->primitive, d->what, call->inputs, call->outputs);
    const lam__program *p = NULL;
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    for (int i = 0; i < call->inputs && !p; i++) p = lam__nested_program_at(call->in[i]);
    if (f->magic != LAM__FN) return LAM_ERR_MEMORY;
    d->what->carries = d->what->elements = 0;
    d->what->reverse = false;
    if (p && !p->only_types && !batch->axis_name) return examples_as_scan(call, axes, batch->size, f, d, out);
    lam_fn *mapped = lam__batch_mapped(f, batch, axes);
    if (mapped->magic != LAM__FN) return call->ctx->error.status;
    return p ? lam__checkpoint_whole(mapped, call->in, out)
             : lam__fn_call(mapped, (size_t)call->inputs, call->in, (size_t)call->outputs, out);
}

lam_status lam__nested_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                               int out_axes[]) {
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(call->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    if (lam__nested_draft_open(call, call->inputs, &d)) {
        const bool same = call->primitive == &lam__row_switch && axes[0] == LAM_UNMAPPED;
        if (same) status = batched_switch(call, axes, batch, &d, out, out_axes);
        else if (call->primitive == &lam__row_scan) status = batched_scan(call, axes, batch, &d, out, out_axes);
        else status = batched_each(call, axes, batch, &d, out, out_axes);
        lam__nested_draft_close(&d);
    }
    lam__scope_close(&scope);
    return status;
}
