/* The tape's interpreter: recording. See tape.h; the way back is in pull.c. A call is done one level below and then
 * hung on a node, if an output has a derivative. The node keeps what the row's `saves` name of operands and results,
 * and types of the rest; values are shared, never copied. Who holds nodes: boxes of the level, nodes that have them as
 * parents, and the recording. So what no output depends on goes with its last box, while the function still runs. */
#include "transforms/node.h"

#include "lib/dispatch/staged.h"
#include "lib/primitives/rules.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* ---- nodes --------------------------------------------------------------------------------------------------- */

static inline size_t node_bytes(int inputs, int outputs, size_t params) {
    return sizeof(lam__node) + (size_t)outputs * sizeof(lam__node_output) + (size_t)inputs * sizeof(lam__node_input) +
           params;
}

/* The block of a sum of n terms: that of two, doubled as often as it takes, so that it seldom moves. Found by the
 * number of terms alone, also when it is freed. */
static inline size_t sum_bytes(int n) {
    size_t bytes = node_bytes(2, 1, 0);
    while (bytes < node_bytes(n, 1, 0)) bytes *= 2;
    return bytes;
}

LAM__UNROLLED void release_held(lam_ctx *ctx, lam__node *node, int n, int m) {
    lam__node_input *input = lam__node_inputs(node, m);
    for (int i = 0; i < n; i++) {
        lam__node_release(ctx, input[i].parent.node);
        lam__value_release(input[i].saved);
    }
    for (int o = 0; o < m; o++) lam__value_release(node->output[o].value);
}

LAM__APART static void end_any(lam_ctx *ctx, lam__node *n) {
    release_held(ctx, n, n->inputs, n->outputs);
    if (n->residual) n->primitive->staged->release(ctx, n->residual);
    if (n->params_bytes && n->primitive->params_release) n->primitive->params_release(ctx, lam__node_params(n));
    size_t bytes = node_bytes(n->inputs, n->outputs, n->params_bytes);
    lam__alloc_put(&ctx->pool, n, n->primitive == &lam__node_sum ? sum_bytes(n->inputs) : bytes);
}

/* One output, and n inputs, where n is a constant. */
LAM__UNROLLED void end_few(lam_ctx *ctx, lam__node *node, int n) {
    release_held(ctx, node, n, 1);
    lam__alloc_put(&ctx->pool, node, node_bytes(n, 1, node->params_bytes));
}

/* Most nodes have one output and up to two inputs, of which each has a way with its counts folded in. */
void lam__node_end(lam_ctx *ctx, lam__node *n) {
    const lam_primitive *p = n->primitive;
    if (n->inputs == 2 && n->outputs == 1 && !n->params_bytes && !n->residual) {
        release_held(ctx, n, 2, 1);
        lam__alloc_put(&ctx->pool, n, node_bytes(2, 1, 0));
        return;
    }
    if (n->inputs > 2 || n->outputs != 1 || n->residual || p == &lam__node_sum || (p && p->params_release))
        end_any(ctx, n);
    else if (n->inputs == 2) end_few(ctx, n, 2);
    else if (n->inputs == 1) end_few(ctx, n, 1);
    else end_few(ctx, n, 0);
}

static void node_free(lam_ctx *ctx, lam__deferred *self) {
    lam__node_end(ctx, (lam__node *)self);
}

void lam__node_free(lam_ctx *ctx, lam__node *n) {
    n->defer.free = node_free;
    lam__value_defer(ctx, &n->defer);
}

/* A node of n inputs and m outputs, nothing of them set but that there are no cotangents. */
LAM__UNROLLED lam__node *node_new(lam_ctx *ctx, const lam_primitive *primitive, int n, int m, const void *params,
                                  size_t params_bytes) {
    lam__node *node = lam__alloc_get(&ctx->pool, node_bytes(n, m, params_bytes));
    if (!node) {
        lam__error_memory(ctx, node_bytes(n, m, params_bytes));
        return NULL;
    }
    node->refs = 1; /* the caller's */
    node->params_bytes = (uint32_t)params_bytes;
    node->id = ++ctx->clock; /* above those of its parents */
    node->run = 0;
    node->primitive = primitive;
    node->inputs = n;
    node->outputs = (unsigned)m & 0x7fffffffu; /* 31 bits */
    node->minus = 0;
    node->residual = NULL;
    for (int o = 0; o < m; o++) node->output[o].cotangent = NULL;
    if (params_bytes) memcpy(lam__node_params(node), params, params_bytes);
    if (params_bytes && primitive->params_hold) primitive->params_hold(ctx, lam__node_params(node));
    return node;
}

static lam_value *type_of(const lam_value *v) {
    return lam__value_abstract(lam__full(v)->ctx, (lam_dtype)v->dtype, v->rank, v->dims);
}

/* What vjp of this call reads: the row's saves, and those of each operand that wants a gradient. */
LAM__UNROLLED unsigned saves_of(const lam_primitive *p, int n, const lam__edge parents[]) {
    unsigned saves = p->saves;
    for (int i = 0; i < n && i < 3; i++) /* as many as saves_for has */
        if (parents[i].node) saves |= p->saves_for[i];
    return saves;
}

/* Operands beyond the bits are read where all are. */
static inline bool saves_input(unsigned saves, int i) {
    return i < 16 ? (saves & LAM_SAVE_IN(i)) != 0 : (saves & LAM_SAVE_ALL_IN) == LAM_SAVE_ALL_IN;
}

/* The type of the operand that an edge leads to, if it is that of `like`; NULL if not, or not known as such. It is on
 * hand where that result was not saved whole: types along a chain of one shape are one value. */
static inline lam_value *type_at(const lam__edge *edge, const lam_value *like) {
    if (!edge->node) return NULL;
    lam_value *known = edge->node->output[edge->index].value;
    return known->kind == LAM__ABSTRACT && lam__value_same_type(known, like) ? known : NULL;
}

/* The type of a result; shared with that of an operand where they agree, as they mostly do. */
LAM__UNROLLED lam_value *result_type(int n, const lam__edge parents[], const lam_value *result) {
    lam_value *known = n > 0 ? type_at(&parents[0], result) : NULL;
    if (!known && n > 1) known = type_at(&parents[1], result);
    return known ? lam__value_hold(known) : type_of(result);
}

/* Sets input i; false without memory. */
LAM__UNROLLED bool fill_input(lam__node_input *input, int i, unsigned saves, lam_value *in, const lam__edge *parent) {
    input->parent.node = parent->node; /* NOTE [word by word] in lib/tensor/value.h */
    input->parent.index = parent->index;
    input->saved = NULL;
    if (parent->node) parent->node->refs++; /* the edge's */
    if (!in) return true;                   /* an operand that was left out */
    if (saves_input(saves, i)) input->saved = lam__value_hold(in);
    else if (saves & LAM_SAVE_TYPES && !parent->node) return (input->saved = type_of(in)) != NULL;
    return true;
}

/* Sets outputs and inputs. */
LAM__UNROLLED lam_status fill(lam__node *node, int n, int m, lam_value *const in[], const lam__edge parents[],
                              lam_value *const results[]) {
    unsigned saves = saves_of(node->primitive, n, parents);
    bool complete = true;
    lam__node_input *input = lam__node_inputs(node, m);
    if (n > 0) complete = fill_input(&input[0], 0, saves, in[0], &parents[0]);
    if (n > 1) complete = fill_input(&input[1], 1, saves, in[1], &parents[1]) && complete;
    for (int i = 2; i < n; i++) complete = fill_input(&input[i], i, saves, in[i], &parents[i]) && complete;
    for (int o = 0; o < m; o++) {
        bool whole = o < 15 && saves & LAM_SAVE_OUT(o); /* bit 31 is LAM_SAVE_TYPES */
        node->output[o].value = NULL;
        if (!results[o]) continue; /* left out */
        node->output[o].value = whole ? lam__value_hold(results[o]) : result_type(n, parents, results[o]);
        complete = node->output[o].value && complete;
    }
    return complete ? LAM_OK : LAM_ERR_MEMORY;
}

/* ---- recording ------------------------------------------------------------------------------------------------ */

/* Whether output o has a derivative; constant[] may be NULL: all floating ones have. One that is left out is
 * constant. */
static inline bool has_derivative(lam_value *const out[], const bool constant[], int o) {
    return !(constant && constant[o]) && lam__dtype_is_inexact(out[o]->dtype);
}

/* Boxes the results that have a derivative on the node; each has a reference to it. */
LAM__UNROLLED lam_status box_results(lam__level *level, lam__node *node, int m, const bool constant[],
                                     lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < m; o++) {
        if (!has_derivative(out, constant, o)) continue;
        out[o] = lam__level_box(level, out[o], node, o);
        if (out[o]) node->refs++; /* the box's */
        else status = LAM_ERR_MEMORY;
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
static inline void unbox_one(const lam__level *level, lam_value *box, lam_value **in, lam__edge *parent) {
    bool own = lam__level_owns(level, box);
    const lam__payload *p = own ? lam__payload_of(box) : NULL;
    *in = own ? p->inner : box;
    parent->node = own ? p->extra : NULL;
    parent->index = own ? (int)p->number : 0;
}

/* Puts the call on the tape with its results, if one of them has a derivative; takes the residual over. */
LAM__UNROLLED lam_status hang(lam__level *level, const lam_call_site *call, int n, int m, lam_value *const in[],
                              const lam__edge parents[], const bool constant[], void *residual, lam_value *out[]) {
    bool floating = false;
    const lam_primitive *p = call->primitive;
    for (int o = 0; o < m; o++) floating = floating || has_derivative(out, constant, o);
    lam__node *node = floating ? node_new(level->ctx, p, n, m, call->params, call->params_bytes) : NULL;
    if (node) node->residual = residual;
    else if (residual) p->staged->release(level->ctx, residual); /* no way back will ask for it */
    if (!floating) return LAM_OK;                                /* constants: nothing is recorded */
    lam_status status = node ? fill(node, n, m, in, parents, out) : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = box_results(level, node, m, constant, out);
    if (status != LAM_OK) release_all(m, out);
    lam__node_release(level->ctx, node);
    return status;
}

static lam_status record(lam__level *level, const lam_call_site *below, const lam__edge parents[], lam_value *out[]) {
    lam_status status = lam__dispatch(below, out);
    if (status != LAM_OK || below->primitive->derivative == LAM_NOT_DIFFERENTIABLE) return status; /* zero */
    return hang(level, below, below->inputs, below->outputs, below->in, parents, NULL, NULL, out);
}

/* needs[]: room for n; constant[]: room for m. */
LAM__UNROLLED lam_status record_stages(lam__level *level, const lam_call_site *below, int n, int m,
                                       const lam__edge parents[], bool needs[], bool constant[], lam_value *out[]) {
    void *residual = NULL;
    for (int i = 0; i < n; i++) needs[i] = parents[i].node != NULL; /* what hangs on the tape */
    for (int o = 0; o < m; o++) constant[o] = false;                /* forward says which are */
    lam_status status = below->primitive->staged->forward(below, needs, NULL, out, constant, &residual);
    return status == LAM_OK ? hang(level, below, n, m, below->in, parents, constant, residual, out) : status;
}

static lam_status record_staged(lam__level *level, const lam_call_site *below, const lam__edge parents[],
                                lam_value *out[]) {
    lam__scratch_area area;
    int n = below->inputs, m = below->outputs;
    bool *flags = lam__scratch_get(&area, level->ctx, (size_t)(n + m));
    lam_status status = flags ? record_stages(level, below, n, m, parents, flags, flags + n, out) : LAM_ERR_MEMORY;
    lam__scratch_put(&area);
    return status;
}

/* One result from n operands, where n is a constant. */
LAM__UNROLLED lam_status process_staged_few(lam__level *level, const lam_call_site *call, int n, lam_value *out[]) {
    lam__edge parents[2];
    lam_value *in[2];
    bool needs[2], constant;
    for (int i = 0; i < n; i++) unbox_one(level, call->in[i], &in[i], &parents[i]);
    lam_call_site below = lam__dispatch_site(call, in);
    return record_stages(level, &below, n, 1, parents, needs, &constant, out);
}

/* Any number of operands and results. */
LAM__APART static lam_status process_lists(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs;
    lam__edge *parents = lam__scratch_get(&area, level->ctx, n * (sizeof(lam__edge) + sizeof(lam_value *)));
    if (!parents) return LAM_ERR_MEMORY;
    lam_value **in = (lam_value **)(void *)(parents + n);
    for (size_t i = 0; i < n; i++) unbox_one(level, call->in[i], &in[i], &parents[i]);
    lam_call_site below = *call;
    below.in = in;
    lam_status status = (call->primitive->staged ? record_staged : record)(level, &below, parents, out);
    lam__scratch_put(&area);
    return status;
}

/* The same for one result from n operands, where n is a constant, of a call without parts of its own. */
LAM__UNROLLED lam_status hang_few(lam__level *level, const lam_call_site *call, int n, lam_value *const in[],
                                  const lam__edge parents[], lam_value **out) {
    if (!lam__dtype_is_inexact((*out)->dtype)) return LAM_OK; /* a constant */
    lam__node *node = node_new(level->ctx, call->primitive, n, 1, call->params, call->params_bytes);
    lam_status status = node ? fill(node, n, 1, in, parents, out) : LAM_ERR_MEMORY;
    lam_value *box = status == LAM_OK ? lam__level_box(level, *out, node, 0) : NULL; /* with the first reference */
    if (status != LAM_OK) lam__value_release(*out);
    if (!box) lam__node_release(level->ctx, node);
    *out = box;
    return box ? LAM_OK : LAM_ERR_MEMORY;
}

/* One result from n operands, where n is a constant. */
LAM__UNROLLED lam_status process_few(lam__level *level, const lam_call_site *call, int n, lam_value *out[]) {
    lam__edge parents[3];
    lam_value *in[3];
    unbox_one(level, call->in[0], &in[0], &parents[0]);
    if (n > 1) unbox_one(level, call->in[1], &in[1], &parents[1]);
    if (n > 2) unbox_one(level, call->in[2], &in[2], &parents[2]);
    lam_status status = lam__dispatch_below(call, n, in, out);
    if (status != LAM_OK || call->primitive->derivative == LAM_NOT_DIFFERENTIABLE) return status;
    return hang_few(level, call, n, in, parents, out);
}

/* Puts a row on the tape as the product with its derivative, taken over. */
static lam_status hang_sloped(lam__level *level, const lam_primitive *p, const lam__edge *parent, lam_value *slope,
                              lam_value **out) {
    lam_value *box = NULL;
    lam__node *node = node_new(level->ctx, p->sloped, 1, 1, NULL, 0);
    lam_status status = node ? fill(node, 1, 1, &slope, parent, out) : LAM_ERR_MEMORY;
    lam__value_release(slope);
    if (status == LAM_OK) box = lam__level_box(level, *out, node, 0); /* with the node's first reference */
    else lam__value_release(*out);
    if (!box) lam__node_release(level->ctx, node);
    *out = box;
    return box ? LAM_OK : LAM_ERR_MEMORY;
}

/* A row that may be evaluated together with its derivative: where the operand is at hand. */
LAM__APART static lam_status process_sloped(lam__level *level, const lam_call_site *call, lam_value **out) {
    lam__edge parent;
    lam_value *x, *slope;
    unbox_one(level, call->in[0], &x, &parent);
    *out = lam__elementwise_sloped(call->primitive, x, &slope);
    return *out ? hang_sloped(level, call->primitive, &parent, slope, out) : process_few(level, call, 1, out);
}

LAM__APART static lam_status process_staged(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (call->outputs == 1 && call->inputs == 1) return process_staged_few(level, call, 1, out);
    if (call->outputs == 1 && call->inputs == 2) return process_staged_few(level, call, 2, out);
    return process_lists(level, call, out);
}

/* Most calls have one result and up to three operands, and are recorded by code made for their number. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (call->primitive->staged) return process_staged(level, call, out);
    if (call->outputs != 1) return process_lists(level, call, out);
    if (call->inputs == 2) return process_few(level, call, 2, out);
    if (call->inputs == 1)
        return call->primitive->sloped ? process_sloped(level, call, out) : process_few(level, call, 1, out);
    if (call->inputs == 3) return process_few(level, call, 3, out);
    return process_lists(level, call, out);
}

/* ---- sums of cotangents --------------------------------------------------------------------------------------- */

const lam_primitive lam__node_sum = {.name = "add", .inputs = LAM_VARIADIC, .derivative = LAM_ELEMENTWISE};

static void add_term(lam__node *sum, lam__edge term) {
    lam__node_input *input = &lam__node_inputs(sum, 1)[sum->inputs++];
    input->parent = term;
    input->saved = NULL; /* the way back through a sum reads nothing */
    term.node->refs++;
}

/* A sum whose first term is what the box `of` hangs on. NULL without memory. */
static lam__node *sum_begin(lam_ctx *ctx, const lam_value *of) {
    const lam__payload *p = lam__payload_of(of);
    const lam__edge first = {p->extra, (int)p->number, 1};
    lam_value *type = result_type(1, &first, of);
    lam__node *sum = type ? node_new(ctx, &lam__node_sum, 2, 1, NULL, 0) : NULL;
    if (!sum) lam__value_release(type);
    if (!sum) return NULL;
    sum->output[0].value = type;
    sum->inputs = 0; /* there is room for two */
    add_term(sum, first);
    return sum;
}

/* The same sum with room for a term more; NULL without memory. */
static lam__node *sum_grow(lam_ctx *ctx, lam__node *sum) {
    size_t bytes = sum_bytes(sum->inputs), wider = sum_bytes(sum->inputs + 1);
    if (bytes == wider) return sum; /* there is room */
    lam__node *moved = lam__alloc_get(&ctx->pool, wider);
    if (!moved) {
        lam__error_memory(ctx, wider);
        return NULL;
    }
    memcpy(moved, sum, node_bytes(sum->inputs, 1, 0));
    lam__alloc_put(&ctx->pool, sum, bytes);
    return moved;
}

/* Hangs a term beside what the box hangs on; NOTE [sums in place]. */
static lam_status hang_term(lam_ctx *ctx, lam_value *box, lam__edge term) {
    lam__payload *p = lam__payload_of(box);
    lam__node *sum = p->extra;
    bool open = sum->primitive == &lam__node_sum && sum->refs == 1 && sum->inputs < LAM__NODE_TERMS;
    sum = open ? sum_grow(ctx, sum) : sum_begin(ctx, box);
    if (!sum) return LAM_ERR_MEMORY;
    if (!open) lam__node_release(ctx, p->extra); /* the first term holds it */
    add_term(sum, term);
    sum->id = ++ctx->clock; /* above that of the new term */
    p->extra = sum;
    p->number = 0; /* a sum has one output */
    return LAM_OK;
}

/* Two things are added: the term to the node, for derivatives of this level, and its value to the one in the box. */
static bool accumulate(lam__level *level, lam_value *sum, lam_value *g, int sign, lam_status *status) {
    bool own = lam__level_owns(level, g);
    const lam__payload *from = lam__payload_of(g);
    *status = own ? hang_term(level->ctx, sum, (lam__edge){from->extra, (int)from->number, sign}) : LAM_OK;
    if (*status != LAM_OK) return true;
    lam_value *term = lam__value_hold(own ? from->inner : g);
    *status = lam__rules_accumulate(level->ctx, &lam__payload_of(sum)->inner, term, sign);
    return true;
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
    .accumulate = accumulate,
    .read = read_primal,
    .drop = drop,
    .print = print,
};

/* ---- running a function ------------------------------------------------------------------------------------------ */

/* Operands by which a derivative is wanted become boxes with a node that has no parents. On failure the leaves and
 * boxes made so far are the caller's to release, as after a success. */
static lam_status make_leaves(lam__level *level, int n, lam_value *const in[], const bool wanted[], lam_value *boxes[],
                              lam__edge leaves[]) {
    for (int i = 0; i < n; i++) {
        boxes[i] = wanted[i] ? NULL : lam__value_hold_any(in[i]); /* not wanted: a constant, as it is */
        if (!wanted[i]) continue;
        lam__node *leaf = node_new(level->ctx, NULL, 0, 1, NULL, 0);
        if (leaf) leaf->output[0].value = type_of(in[i]);
        if (!leaf || !leaf->output[0].value) {
            lam__node_release(level->ctx, leaf);
            return LAM_ERR_MEMORY;
        }
        leaves[i].node = leaf; /* with its first reference */
        boxes[i] = lam__value_box(level, (lam_dtype)in[i]->dtype, in[i]->rank, in[i]->dims, lam__value_hold(in[i]));
        if (!boxes[i]) return LAM_ERR_MEMORY;
        leaf->refs++; /* the box's */
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
        ends[o] = (lam__edge){.node = p->extra, .index = (int)p->number};
        ends[o].node->refs++; /* the recording's */
        out[o] = lam__value_hold(p->inner);
        lam__value_release(box);
    }
}

static lam__recording recording_new(lam_ctx *ctx, int inputs, int outputs) {
    size_t count = (size_t)(inputs + outputs);
    lam__edge *edges = lam__alloc_get(&ctx->pool, count * sizeof *edges);
    if (!edges) lam__error_memory(ctx, count * sizeof *edges);
    for (size_t i = 0; edges && i < count; i++) edges[i] = (lam__edge){.node = NULL};
    return (lam__recording){edges, edges ? edges + inputs : NULL, inputs, outputs};
}

void lam__tape_forget(lam_ctx *ctx, lam__recording *r) {
    if (!r->leaves) return; /* not made, or forgotten already */
    size_t count = (size_t)(r->inputs + r->outputs);
    for (size_t i = 0; i < count; i++) lam__node_release(ctx, r->leaves[i].node);
    lam__alloc_put(&ctx->pool, r->leaves, count * sizeof *r->leaves);
    r->leaves = NULL;
}

/* Nothing of the level outlives it: outputs are taken out of their boxes before the pop, and the recording holds
 * nodes, which hold values of the levels below. */
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
        release_all(f->inputs, boxes); /* the leaves stay by the recording */
        if (status == LAM_OK) take_ends(&level, f->outputs, out, recording->ends);
        else release_all(f->outputs, out);
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    if (status != LAM_OK) lam__tape_forget(ctx, recording);
    return status;
}

const lam_value *lam__tape_leaf_type(const lam__recording *r, int input) {
    return r->leaves[input].node->output[0].value;
}
