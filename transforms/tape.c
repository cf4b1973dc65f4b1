/* The tape's interpreter: recording. See tape.h; the way back is in pull.c. */
#include "transforms/node.h"

#include "lib/dispatch/staged.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- nodes --------------------------------------------------------------------------------------------------- */

/* One block: the node, then its arrays, then the parameters. */
static size_t node_bytes(int inputs, int outputs, size_t params) {
    size_t per_input = sizeof(lam__edge) + sizeof(lam_value *), per_output = 2 * sizeof(lam_value *);
    return sizeof(lam__node) + (size_t)inputs * per_input + (size_t)outputs * per_output + params;
}

static void node_free(lam_ctx *ctx, lam__deferred *self) {
    lam__node *n = (lam__node *)self;
    lam_value **in = lam__node_in(n), **out = lam__node_out(n);
    for (int i = 0; i < n->inputs; i++) {
        lam__node_release(ctx, n->parents[i].node);
        lam__value_release(in[i]);
    }
    for (int o = 0; o < n->outputs; o++) lam__value_release(out[o]);
    if (n->residual) n->primitive->staged->release(ctx, n->residual);
    if (n->primitive && n->primitive->params_release) n->primitive->params_release(ctx, lam__node_params(n));
    lam__alloc_put(&ctx->pool, n, node_bytes(n->inputs, n->outputs, n->params_bytes));
}

void lam__node_release(lam_ctx *ctx, lam__node *n) {
    if (n && --n->refs == 0) lam__value_defer(ctx, &n->defer);
}

static lam__node *node_new(lam_ctx *ctx, const lam_call_site *call) {
    int inputs = call ? call->inputs : 0, outputs = call ? call->outputs : 1;
    size_t params = call ? call->params_bytes : 0, bytes = node_bytes(inputs, outputs, params);
    lam__node *n = lam__alloc_get(&ctx->pool, bytes);
    if (!n) {
        lam__error_memory(ctx, bytes);
        return NULL;
    }
    *n = (lam__node){.defer.free = node_free,
                     .refs = 1,
                     .id = ++ctx->clock,
                     .primitive = call ? call->primitive : NULL,
                     .inputs = inputs,
                     .outputs = outputs,
                     .params_bytes = (uint32_t)params};
    lam_value **out = lam__node_out(n);
    for (int o = 0; o < 2 * outputs; o++) out[o] = NULL; /* the cotangents lie behind */
    if (params) memcpy(lam__node_params(n), call->params, params);
    if (params && call->primitive->params_hold) call->primitive->params_hold(ctx, lam__node_params(n));
    return n;
}

static lam_value *type_of(const lam_value *v) {
    return lam__value_abstract(lam__full(v)->ctx, (lam_dtype)v->dtype, v->rank, v->dims);
}

/* What vjp of this call reads: the row's saves, and those of each operand that wants a gradient. */
static unsigned saves_of(const lam_call_site *call, const lam__edge parents[]) {
    unsigned saves = call->primitive->saves;
    for (int i = 0; i < call->inputs && i < 3; i++)
        if (parents[i].node) saves |= call->primitive->saves_for[i];
    return saves;
}

static bool saves_input(unsigned saves, int i) {
    return (i < 16 && saves & LAM_SAVE_IN(i)) || ((saves & LAM_SAVE_ALL_IN) == LAM_SAVE_ALL_IN);
}

/* The type of a result; shared with that of an operand where they agree, as they mostly do. */
static lam_value *result_type(const lam__node *n, const lam_value *result) {
    const lam__edge *first = n->inputs ? &n->parents[0] : NULL;
    lam_value *known = first && first->node ? lam__node_out(first->node)[first->index] : NULL;
    if (known && known->kind == LAM__ABSTRACT && lam__value_same_type(known, result)) return lam__value_hold(known);
    return type_of(result);
}

static lam_status fill(lam__node *n, const lam_call_site *below, lam_value *const results[],
                       const lam__edge parents[]) {
    unsigned saves = saves_of(below, parents);
    bool complete = true;
    lam_value **in = lam__node_in(n), **out = lam__node_out(n);
    for (int i = 0; i < n->inputs; i++) {
        n->parents[i] = parents[i];
        if (parents[i].node) parents[i].node->refs++;
        in[i] = NULL;
        if (!below->in[i]) continue;
        if (saves_input(saves, i)) in[i] = lam__value_hold(below->in[i]);
        else if (saves & LAM_SAVE_TYPES && !parents[i].node) complete = (in[i] = type_of(below->in[i])) && complete;
    }
    for (int o = 0; o < n->outputs; o++) {
        bool whole = o < 15 && saves & LAM_SAVE_OUT(o);
        out[o] = whole ? lam__value_hold(results[o]) : result_type(n, results[o]);
        complete = out[o] && complete;
    }
    return complete ? LAM_OK : LAM_ERR_MEMORY;
}

/* ---- recording ------------------------------------------------------------------------------------------------ */

/* Boxes the floating results on the node, but for those said to be constant (NULL: none is). */
static lam_status box_results(lam__level *level, lam__node *node, int outputs, const bool constant[],
                              lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < outputs; o++) {
        if (!lam__dtype_is_float(out[o]->dtype) || (constant && constant[o])) continue;
        lam_value *inner = out[o];
        out[o] = lam__value_box(level, (lam_dtype)inner->dtype, inner->rank, inner->dims, inner);
        if (!out[o]) {
            status = LAM_ERR_MEMORY;
            continue;
        }
        node->refs++;
        lam__payload_of(out[o])->extra = node;
        lam__payload_of(out[o])->number = o;
    }
    return status;
}

static void release_all(int n, lam_value *v[]) {
    for (int i = 0; i < n; i++) {
        lam__value_release(v[i]);
        v[i] = NULL;
    }
}

/* Operands as the level below sees them, and where they hang on the tape. */
static void unbox(const lam__level *level, const lam_call_site *call, lam_value *in[], lam__edge parents[]) {
    for (int i = 0; i < call->inputs; i++) {
        bool own = lam__level_owns(level, call->in[i]);
        const lam__payload *p = own ? lam__payload_of(call->in[i]) : NULL;
        in[i] = own ? p->inner : call->in[i];
        parents[i] = own ? (lam__edge){p->extra, (int)p->number} : (lam__edge){NULL, 0};
    }
}

/* Puts the call on the tape with its results, if one of them has a derivative; takes the residual over. */
static lam_status hang(lam__level *level, const lam_call_site *below, const lam__edge parents[], const bool constant[],
                       void *residual, lam_value *out[]) {
    bool floating = false;
    for (int o = 0; o < below->outputs; o++)
        floating = floating || (lam__dtype_is_float(out[o]->dtype) && !(constant && constant[o]));
    lam__node *node = floating ? node_new(level->ctx, below) : NULL;
    if (node) node->residual = residual;
    else if (residual) below->primitive->staged->release(level->ctx, residual);
    if (!floating) return LAM_OK;
    lam_status status = node ? fill(node, below, out, parents) : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = box_results(level, node, below->outputs, constant, out);
    if (status != LAM_OK) release_all(below->outputs, out);
    lam__node_release(level->ctx, node);
    return status;
}

static lam_status record(lam__level *level, const lam_call_site *below, const lam__edge parents[], lam_value *out[]) {
    lam_status status = lam__dispatch(below, out);
    if (status != LAM_OK || below->primitive->derivative == LAM_NOT_DIFFERENTIABLE) return status;
    return hang(level, below, parents, NULL, NULL, out);
}

static lam_status record_staged(lam__level *level, const lam_call_site *below, const lam__edge parents[],
                                lam_value *out[]) {
    lam__scratch_area area;
    size_t n = (size_t)below->inputs, m = (size_t)below->outputs;
    bool *needs = lam__scratch_get(&area, level->ctx, n + m), *constant = needs + n;
    if (!needs) return LAM_ERR_MEMORY;
    void *residual = NULL;
    for (size_t i = 0; i < n; i++) needs[i] = parents[i].node != NULL;
    for (size_t o = 0; o < m; o++) constant[o] = false;
    lam_status status = below->primitive->staged->forward(below, needs, out, constant, &residual);
    if (status == LAM_OK) status = hang(level, below, parents, constant, residual, out);
    lam__scratch_put(&area);
    return status;
}

static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs;
    lam__edge *parents = lam__scratch_get(&area, level->ctx, n * (sizeof(lam__edge) + sizeof(lam_value *)));
    if (!parents) return LAM_ERR_MEMORY;
    lam_value **in = (lam_value **)(void *)(parents + n);
    unbox(level, call, in, parents);
    lam_call_site below = *call;
    below.in = in;
    lam_status status = (call->primitive->staged ? record_staged : record)(level, &below, parents, out);
    lam__scratch_put(&area);
    return status;
}

static lam_value *read_primal(const lam_value *box) {
    return lam__payload_of(box)->inner;
}

static void drop(lam_value *box) {
    lam__node_release(lam__full(box)->ctx, lam__payload_of(box)->extra);
}

static void print(FILE *file, const lam_value *box) {
    const lam__node *node = lam__payload_of(box)->extra;
    if (node->primitive) fprintf(file, "from %s", node->primitive->name);
    else fputs("an input", file);
}

const lam__interpreter lam__interpreter_vjp = {
    .name = "vjp",
    .process = process,
    .read = read_primal,
    .drop = drop,
    .print = print,
};

/* ---- running a function ------------------------------------------------------------------------------------------ */

static lam_status make_leaves(lam__level *level, int n, lam_value *const in[], const bool wanted[], lam_value *boxes[],
                              lam__edge leaves[]) {
    for (int i = 0; i < n; i++) {
        boxes[i] = wanted[i] ? NULL : lam__value_hold(in[i]);
        if (!wanted[i]) continue;
        lam__node *leaf = node_new(level->ctx, NULL);
        if (!leaf || !(lam__node_out(leaf)[0] = type_of(in[i]))) {
            lam__node_release(level->ctx, leaf);
            return LAM_ERR_MEMORY;
        }
        leaves[i].node = leaf;
        boxes[i] = lam__value_box(level, (lam_dtype)in[i]->dtype, in[i]->rank, in[i]->dims, lam__value_hold(in[i]));
        if (!boxes[i]) return LAM_ERR_MEMORY;
        leaf->refs++;
        lam__payload_of(boxes[i])->extra = leaf;
    }
    return LAM_OK;
}

/* Results come out as what lies in their boxes. */
static void take_ends(const lam__level *level, int n, lam_value *out[], lam__edge ends[]) {
    for (int o = 0; o < n; o++) {
        if (!lam__level_owns(level, out[o])) continue;
        lam_value *box = out[o];
        const lam__payload *p = lam__payload_of(box);
        ends[o] = (lam__edge){p->extra, (int)p->number};
        ends[o].node->refs++;
        out[o] = lam__value_hold(p->inner);
        lam__value_release(box);
    }
}

static lam__recording recording_new(lam_ctx *ctx, int inputs, int outputs) {
    size_t count = (size_t)(inputs + outputs);
    lam__edge *edges = lam__alloc_get(&ctx->pool, count * sizeof *edges);
    if (!edges) lam__error_memory(ctx, count * sizeof *edges);
    for (size_t i = 0; edges && i < count; i++) edges[i] = (lam__edge){NULL, 0};
    return (lam__recording){edges, edges ? edges + inputs : NULL, inputs, outputs};
}

void lam__tape_forget(lam_ctx *ctx, lam__recording *r) {
    if (!r->leaves) return;
    size_t count = (size_t)(r->inputs + r->outputs);
    for (size_t i = 0; i < count; i++) lam__node_release(ctx, r->leaves[i].node);
    lam__alloc_put(&ctx->pool, r->leaves, count * sizeof *r->leaves);
    r->leaves = NULL;
}

lam_status lam__tape_record(lam_fn *f, lam_value *const in[], const bool wanted[], lam_value *out[],
                            lam__recording *recording) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    lam__level level;
    *recording = recording_new(ctx, f->inputs, f->outputs);
    for (int o = 0; o < f->outputs; o++) out[o] = NULL;
    if (!recording->leaves) return LAM_ERR_MEMORY;
    lam_value **boxes = lam__scratch_get(&area, ctx, (size_t)f->inputs * sizeof *boxes);
    lam_status status = boxes ? lam__level_push(ctx, &level, &lam__interpreter_vjp, NULL) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        memset(boxes, 0, (size_t)f->inputs * sizeof *boxes);
        status = make_leaves(&level, f->inputs, in, wanted, boxes, recording->leaves);
        if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
        release_all(f->inputs, boxes);
        if (status == LAM_OK) take_ends(&level, f->outputs, out, recording->ends);
        else release_all(f->outputs, out);
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    if (status != LAM_OK) lam__tape_forget(ctx, recording);
    return status;
}

const lam_value *lam__tape_leaf_type(const lam__recording *r, int input) {
    return lam__node_out(r->leaves[input].node)[0];
}
