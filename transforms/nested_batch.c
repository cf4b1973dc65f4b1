/* Batches of choices and loops (nested.h), and how calls of their rows are put together (nested_draft.h). What all
 * examples choose alike is the choice of batched functions, loops that make the same trips for all are of batched
 * trips. Where each example chooses for itself, a program has a scan over the examples, and a run sorts them (cond.c,
 * loops.c). */
#include "transforms/nested_draft.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/dependence.h"
#include "transforms/rematerialise.h"

#include <lamina/tensor.h>

#include <string.h>

/* The parameters are copied, since functions in them are replaced one by one; the scope holds the room. */
bool lam__nested_draft_open(const lam_call_site *call, int room, lam__nested_draft *d) {
    const lam__nested *w = call->params;
    *d = (lam__nested_draft){.ctx = call->ctx};
    d->what = (lam__nested *)(void *)lam__apply_room(call->ctx, lam__nested_bytes(w->count) / sizeof(void *) + 1);
    d->in = (lam_value **)(void *)lam__apply_room(call->ctx, (size_t)room);
    d->own = (bool *)(void *)lam__apply_room(call->ctx, (size_t)room);
    if (!d->what || !d->in || !d->own) return false;
    memcpy(d->what, w, lam__nested_bytes(w->count));
    lam__nested_forget(d->what);
    return true;
}

/* Values that were borrowed stay the caller's. */
void lam__nested_draft_close(lam__nested_draft *d) {
    for (int i = 0; i < d->n; i++)
        if (d->own[i]) lam__value_release(d->in[i]);
}

/* The number is the operand's place in the new call. */
int lam__nested_append(lam__nested_draft *d, lam_value *v) {
    d->own[d->n] = false;
    d->in[d->n] = v;
    return d->n++;
}

/* -1 without a value, whose making has failed and is on record. */
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

/* ends[]: of carries, of elements, of all. A switch has neither of the former, and its index is skipped. */
lam__nested_shape lam__nested_shape_of(const lam_call_site *call) {
    const lam__nested *w = call->params;
    const int skip = call->primitive == &lam__row_switch, n = call->inputs - skip;
    const int carries = skip ? 0 : (int)w->carries, elements = call->primitive == &lam__row_scan ? (int)w->elements : 0;
    return (lam__nested_shape){skip, n, {carries, carries + elements, n}};
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

/* The room is counted in pointers, in each of which a number fits. */
static int *numbers_new(lam_ctx *ctx, int n) {
    return (int *)(void *)lam__apply_room(ctx, (size_t)n);
}

/* v for each example, the same. A broadcast, which is a view where elements are at hand. */
static lam_value *repeated(lam_ctx *ctx, lam_value *v, int64_t size) {
    int64_t dims[LAM_INNER_RANK + 1] = {size};
    for (int i = 0; i < v->rank; i++) dims[1 + i] = v->dims[i];
    lam_tensor *all = lam__apply_broadcast(lam__scope_handle(ctx, lam__value_hold(v)), v->rank + 1, dims);
    lam_value *made = lam__scope_peek(all);
    return made ? lam__value_hold(made) : NULL;
}

/* An operand whose batch axis stands at `to` for the functions, which get it without `front` axes. An element of a scan
 * has the trips in front, and its batch behind these. */
static bool append_moved(lam__nested_draft *d, lam_value *v, int axis, int front, int *inner) {
    *inner = axis == LAM_UNMAPPED ? LAM_UNMAPPED : 0;
    if (axis == LAM_UNMAPPED) return lam__nested_append(d, v) >= 0;
    return lam__nested_append_own(d, lam__batch_move(d->ctx, v, axis, front)) >= 0;
}

/* out_axes: where results get the batch axis, or that they are the same for all examples; NULL: in front. The draft's
 * list of functions is its own, so those of the row stay as they are. */
static void map_function(lam__nested_draft *d, int f, const lam__batch *batch, const int inner[],
                         const int out_axes[]) {
    d->what->fns[f] = lam__batch_mapped(d->what->fns[f], batch, inner, out_axes);
}

/* NOTE [what examples share]
 * What a choice between functions gives is batched if one of them makes it of what is. A carry is batched if it begins
 * so, or if a trip makes it of what is. The others, and results of trips that are made of others alone, are one for all
 * examples: tangents of a loop share the values that it is taken at, and its condition. Where functions are no
 * programs, or where these may know of the batch by more than their operands, all are batched. */
typedef struct batching {
    bool *in, *out; /* inputs and results of what makes trips, or of functions to choose from */
    bool known;     /* out[] tells; else all are */
} batching;

/* Of a choice: what one of the functions makes of what is batched. out[] has room for twice the results, of which the
 * second half is one function's. */
static lam_status follow_branches(const lam__nested *w, int m, batching *b) {
    bool *one = b->out + m;
    lam_status status = LAM_OK;
    memset(b->out, false, (size_t)m);
    for (int f = 0; f < w->count && status == LAM_OK; f++) {
        status = lam__program_varying(lam__program_of(w->fns[f]), b->in, one);
        for (int o = 0; o < m && status == LAM_OK; o++) b->out[o] = b->out[o] || one[o];
    }
    return status;
}

/* Follows batched carries through trips, until there are no more of them. Each round adds a carry at least, so it
 * ends. */
static lam_status follow_trips(const lam__nested *w, batching *b) {
    for (bool more = true; more;) {
        more = false;
        const lam_status status = lam__program_varying(lam__program_of(w->fns[w->count - 1]), b->in, b->out);
        if (status != LAM_OK) return status;
        for (int64_t o = 0; o < w->carries; o++) {
            more = more || (b->out[o] && !b->in[o]);
            b->out[o] = b->in[o] = b->in[o] || b->out[o];
        }
    }
    return LAM_OK;
}

/* A batch with a name may be seen by any function, so there nothing is known. Carries count as batched from the
 * beginning where nothing is known: a trip may make them so. */
static lam_status find_batching(const lam_call_site *call, const int axes[], const lam__batch *batch, batching *b) {
    const lam__nested *w = call->params;
    const bool chooses = call->primitive == &lam__row_switch;
    const int n = call->inputs - chooses, m = call->outputs;
    b->in = (bool *)(void *)lam__apply_room(call->ctx, (size_t)(n + 2 * m));
    if (!b->in) return LAM_ERR_MEMORY;
    b->out = b->in + n;
    b->known = !batch->axis_name;
    for (int f = 0; f < w->count && b->known; f++) {
        const lam__program *p = lam__program_of(w->fns[f]);
        b->known = p && !p->sees_batch;
    }
    for (int i = 0; i < n; i++) b->in[i] = axes[i + chooses] != LAM_UNMAPPED || (i < w->carries && !b->known);
    memset(b->out, true, (size_t)m);
    if (!b->known) return LAM_OK;
    return chooses ? follow_branches(w, m, b) : follow_trips(w, b);
}

/* Operands with the batch axis where functions expect it, and what they are to have of it: inner[]. A carry that
 * becomes batched on the way has to be so when it begins. */
static bool append_operands(const lam_call_site *call, const int axes[], const lam__batch *batch, const batching *b,
                            lam__nested_draft *d, int inner[]) {
    const lam__nested_shape s = lam__nested_shape_of(call);
    for (int i = 0; i < call->inputs; i++) {
        bool fine;
        if (b->in[i] && axes[i] == LAM_UNMAPPED) {
            inner[i] = 0;
            fine = lam__nested_append_own(d, repeated(d->ctx, call->in[i], batch->size)) >= 0;
        } else {
            fine = append_moved(d, call->in[i], axes[i], i >= s.ends[0] && i < s.ends[1], &inner[i]);
        }
        if (!fine) return false;
    }
    return true;
}

/* One index for all. out_axes: where one of the functions gives what depends on the example. Operands go as they are,
 * since the mapped functions take their axes. */
static lam_status batched_switch(const lam_call_site *call, const int axes[], const lam__batch *batch,
                                 const batching *b, lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    for (int i = 0; i < call->inputs; i++) lam__nested_append(d, call->in[i]);
    for (int o = 0; o < call->outputs; o++) out_axes[o] = b->out[o] ? 0 : LAM_UNMAPPED;
    for (int f = 0; f < d->what->count; f++) map_function(d, f, batch, axes + 1, out_axes);
    return lam__nested_draft_apply(d, call->primitive, call->outputs, out);
}

/* A loop whose trips are the same for all examples. out_axes: of the results of a trip, then those of the loop. Rows of
 * trips have the trips in front of the batch, hence one axis further. */
static lam_status batched_loop(const lam_call_site *call, const int axes[], const lam__batch *batch, const batching *b,
                               lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    const int carries = (int)((const lam__nested *)call->params)->carries, last = d->what->count - 1;
    int *inner = numbers_new(call->ctx, call->inputs);
    if (!inner || !append_operands(call, axes, batch, b, d, inner)) return LAM_ERR_MEMORY;
    for (int o = 0; o < call->outputs; o++) out_axes[o] = b->out[o] ? 0 : LAM_UNMAPPED;
    map_function(d, last, batch, inner, out_axes);
    if (last) map_function(d, 0, batch, inner, (int[]){LAM_UNMAPPED});
    for (int o = carries; o < call->outputs; o++) out_axes[o] += b->out[o];
    return lam__nested_draft_apply(d, call->primitive, call->outputs, out);
}

/* Whether the condition of a while is the same for all examples. Of functions that are not known it is taken to
 * differ. */
static lam_status is_common(const lam_call_site *call, const batching *b, bool *common) {
    const lam__nested *w = call->params;
    bool batched = true;
    const lam_status status = b->known ? lam__program_varying(lam__program_of(w->fns[0]), b->in, &batched) : LAM_OK;
    *common = !batched;
    return status;
}

/* Each example for itself: in a program the examples are walked along; what they share comes behind what they have. The
 * function gets its operands in another order then, by places[]. */
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

/* True also after a failure, for then out[] has failed tensors. */
bool lam__nested_as_row(lam_ctx *ctx, const lam_primitive *row, const lam__nested *what, lam_tensor *const in[],
                        lam_tensor *out[]) {
    const lam_fn *last = what->fns[what->count - 1];
    const int n = last->inputs + (row == &lam__row_switch), m = last->outputs;
    bool seen = false;
    if (row == &lam__row_scan) return false;
    for (int i = 0; i < n && !seen; i++) seen = lam__dependence_sees(lam__scope_peek(in[i]));
    if (!seen) return false;
    lam_value **operands = lam__nested_values(ctx, n), **results = lam__nested_values(ctx, m);
    if (!operands || !results) return true;
    for (int i = 0; i < n; i++) operands[i] = lam__scope_peek(in[i]);
    const lam_call_site call = {.ctx = ctx,
                                .primitive = row,
                                .params = what,
                                .params_bytes = lam__nested_bytes(what->count),
                                .inputs = n,
                                .outputs = m,
                                .in = operands};
    lam__arguments_give(ctx, lam__nested_apply(row->name, &call, results), m, results, out);
    return true;
}

/* Each example chooses or loops for itself: the call becomes a function of one example, which is mapped. What is done
 * with that depends on who is below:
 *   a program that will be run, or a level that finds out what depends on what   a scan over the examples
 *   types alone are wanted, the batch has a name, or such a level sees a batch of none   one row for the whole
 *   anybody else   a call
 * Carries, elements and direction are those of the old row, and mean nothing to the new one. */
static lam_status batched_each(const lam_call_site *call, const int axes[], const lam__batch *batch,
                               lam__nested_draft *d, lam_value *out[], int out_axes[]) {
    lam_fn *f = lam__nested_function(call->ctx, call->primitive, d->what, call->inputs, call->outputs);
    const lam__program *p = NULL;
    bool seen = false;
    for (int o = 0; o < call->outputs; o++) out_axes[o] = 0;
    for (int i = 0; i < call->inputs && !p; i++) p = lam__nested_program_at(call->in[i]);
    for (int i = 0; i < call->inputs && !seen; i++) seen = lam__dependence_sees(call->in[i]);
    if (f->magic != LAM__FN) return LAM_ERR_MEMORY;
    d->what->carries = d->what->elements = 0;
    d->what->reverse = false;
    const bool walked = p ? !p->only_types : seen && batch->size; /* a scan of no trips is the batch of none again */
    if (walked && !batch->axis_name) return examples_as_scan(call, axes, batch->size, f, d, out);
    lam_fn *mapped = lam__batch_mapped(f, batch, axes, NULL);
    if (mapped->magic != LAM__FN) return call->ctx->error.status;
    return p || seen ? lam__checkpoint_whole(mapped, call->in, out)
                     : lam__fn_call(mapped, (size_t)call->inputs, call->in, (size_t)call->outputs, out);
}

/* `common`: all examples go the same way, so the call stays what it is with functions of batches. */
lam_status lam__nested_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                               int out_axes[]) {
    lam_scope scope;
    lam__nested_draft d;
    lam__scope_open(call->ctx, &scope);
    lam_status status = LAM_ERR_MEMORY;
    if (lam__nested_draft_open(call, call->inputs, &d)) {
        const bool is_switch = call->primitive == &lam__row_switch;
        batching b = {0};
        bool common = is_switch ? axes[0] == LAM_UNMAPPED : call->primitive == &lam__row_scan;
        status = find_batching(call, axes, batch, &b);
        if (status == LAM_OK && call->primitive == &lam__row_while) status = is_common(call, &b, &common);
        if (status != LAM_OK) common = false;
        else if (!common) status = batched_each(call, axes, batch, &d, out, out_axes);
        else if (is_switch) status = batched_switch(call, axes, batch, &b, &d, out, out_axes);
        else status = batched_loop(call, axes, batch, &b, &d, out, out_axes);
        lam__nested_draft_close(&d);
    }
    lam__scope_close(&scope);
    return status;
}
