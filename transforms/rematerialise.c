/* The level under a checkpointed function: see rematerialise.h. What is kept is found by order: a function that is run
 * again on the same values does the same calls. A function that does not (it looks at a clock, say) would get other
 * results than it computed before; draws from the context's generator are the same again (NOTE [draws again] in
 * checkpoint.c).
 *
 * NOTE [found above the tape]
 * The calls that count are those that reach the level directly under the function. Below the tape there are others: its
 * stages run user code there, callbacks of custom Functions and functions that are checkpointed themselves, whose calls
 * nobody saw when results were kept. So the function is run again over two levels. The one above the tape is where the
 * keeping one was and sees what that one saw; it numbers the calls. The one below the tape gives results, so that the
 * tape records the call with the result that was kept. */
#include "transforms/rematerialise.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "transforms/arguments.h"
#include "transforms/values.h"

#include <lamina/tensor.h>

#include <string.h>

/* Whether the policy names this call. Only rows of one result are asked for, so out[0] is what is kept. Names are
 * compared up to their room, in which one may have no end. */
static bool keeps(const lam__policy *policy, const lam_call_site *call) {
    if (policy->kind == LAM_CHECKPOINT_CONTRACTIONS) return call->primitive == &lam__row_dot_general;
    if (policy->kind != LAM_CHECKPOINT_NAMED || call->primitive != &lam__row_checkpoint_name) return false;
    for (int i = 0; i < policy->names; i++)
        if (!strncmp(policy->name[i], call->params, LAM__KEEP_LENGTH)) return true;
    return false;
}

/* Appends v, with a reference of its own, to a list that doubles. On failure the list is as it was. */
static lam_status keep(lam_ctx *ctx, lam__kept *kept, lam_value *v) {
    if (kept->count == kept->room) {
        size_t room = kept->room ? 2 * kept->room : 8;
        lam_value **wider = lam__alloc_get(&ctx->pool, room * sizeof *wider);
        if (!wider) return lam__error_memory(ctx, room * sizeof *wider);
        if (kept->count) memcpy(wider, kept->values, kept->count * sizeof *wider);
        if (kept->values) lam__alloc_put(&ctx->pool, kept->values, kept->room * sizeof *wider);
        kept->values = wider;
        kept->room = room;
    }
    kept->values[kept->count++] = lam__value_hold(v);
    return LAM_OK;
}

void lam__rematerialise_release(lam_ctx *ctx, lam__kept *kept) {
    for (size_t i = 0; i < kept->count; i++) lam__value_release(kept->values[i]);
    if (kept->values) lam__alloc_put(&ctx->pool, kept->values, kept->room * sizeof *kept->values);
    *kept = (lam__kept){NULL, 0, 0};
}

/* Boxes hold the value and show its type; those of the level stay as they are. On failure the entries that could not be
 * boxed are NULL, their values released. */
lam_status lam__rematerialise_box(lam__level *level, int n, lam_value *values[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < n; i++) {
        if (!values[i] || lam__level_owns(level, values[i])) continue;
        values[i] = lam__value_box(level, (lam_dtype)values[i]->dtype, values[i]->rank, values[i]->dims, values[i]);
        if (!values[i]) status = LAM_ERR_MEMORY;
    }
    return status;
}

/* ---- calls put off ---------------------------------------------------------------------------------------------- */

/* NOTE [put off]
 * While a function is run again, its calls are put off until a rule of the way back reads their results: what leads
 * only to kept results, or to the function's own outputs, is never computed a second time. Chains are as long as the
 * user's program, so they are worked off and freed by lists, not by recursion.
 * refs: boxes of its results. done: results[] are there, values below the level, and so are in[]; before that in[] may
 * be boxes of the level that wait themselves. The parameters lie behind the lists, held. */
typedef struct thunk {
    lam__deferred defer;
    uint32_t refs;
    bool done;
    struct thunk *waiting; /* the call that needs this one, while both wait */
    lam__level *level;
    lam_call_site call;
    size_t bytes;
    lam_value **in, **results;
} thunk;

/* Called from the list of what is deferred: operands that go with it may append other thunks to that list. */
static void thunk_free(lam_ctx *ctx, lam__deferred *self) {
    thunk *t = (thunk *)self;
    for (int i = 0; i < t->call.inputs; i++) lam__value_release(t->in[i]);
    for (int o = 0; o < t->call.outputs; o++) lam__value_release(t->results[o]);
    if (t->call.primitive->params_release && t->call.params_bytes)
        t->call.primitive->params_release(ctx, (void *)(uintptr_t)t->call.params);
    lam__alloc_put(&ctx->pool, t, t->bytes);
}

/* Through the list, since a thunk may hold a chain of others; NOTE [no recursion] in lib/tensor/value.h. */
static void thunk_release(lam_ctx *ctx, thunk *t) {
    if (t && --t->refs == 0) lam__value_defer(ctx, &t->defer);
}

/* A copy of the call that owns its operands and parameters: the caller's lie in some frame. The result list is NULL
 * until the call is done, whatever happens before. */
static thunk *thunk_new(lam__level *level, const lam_call_site *call) {
    lam_ctx *ctx = level->ctx;
    size_t values = (size_t)(call->inputs + call->outputs),
           bytes = sizeof(thunk) + values * sizeof(lam_value *) + call->params_bytes;
    thunk *t = lam__alloc_get(&ctx->pool, bytes);
    if (!t) {
        lam__error_memory(ctx, bytes);
        return NULL;
    }
    *t = (thunk){.defer.free = thunk_free, .refs = 1, .level = level, .call = *call, .bytes = bytes};
    t->in = (lam_value **)(void *)(t + 1);
    t->results = t->in + call->inputs;
    void *params = t->results + call->outputs;
    for (int i = 0; i < call->inputs; i++) t->in[i] = call->in[i] ? lam__value_hold(call->in[i]) : NULL;
    for (int o = 0; o < call->outputs; o++) t->results[o] = NULL;
    if (call->params_bytes) memcpy(params, call->params, call->params_bytes);
    t->call.params = call->params_bytes ? params : NULL;
    if (call->primitive->params_hold && call->params_bytes) call->primitive->params_hold(ctx, params);
    return t;
}

/* The call that v waits for; NULL if it waits for none. A box with a value inside waits for nobody. */
static thunk *waits_for(const lam__level *level, const lam_value *v) {
    thunk *t = lam__level_owns(level, v) && !lam__payload_of(v)->inner ? lam__payload_of(v)->extra : NULL;
    return t && !t->done ? t : NULL;
}

/* What lies in a box of the level whose call is done: borrowed. Other values are what they are. */
static lam_value *inside(const lam__level *level, lam_value *v) {
    if (!lam__level_owns(level, v)) return v;
    const lam__payload *p = lam__payload_of(v);
    return p->inner ? p->inner : ((thunk *)p->extra)->results[p->number];
}

/* All operands are there. Boxes among them are replaced by what lies in them, which lets go of the calls before this
 * one. An operand of several calls is computed by the first one that needs it. */
static lam_status compute(thunk *t) {
    for (int i = 0; i < t->call.inputs; i++) {
        lam_value *below = inside(t->level, t->in[i]);
        if (below == t->in[i]) continue;
        if (below) lam__value_hold(below);
        lam__value_release(t->in[i]);
        t->in[i] = below;
    }
    t->call.in = t->in;
    lam_status status = lam__dispatch(&t->call, t->results);
    t->done = status == LAM_OK;
    return status;
}

/* Does the call that v waits for, and before it those that it needs. The level's parent is current. The way from v down
 * to the call at work hangs together by `waiting`; a call with several operands that wait is come back to for each of
 * them. A failure leaves the rest undone, so that another reader would fail at the same place. `waiting` is set on the
 * way down and read on the way up, so calls that are not on the way need none. */
static lam_status settle(const lam__level *level, const lam_value *v) {
    lam_status status = LAM_OK;
    thunk *top = waits_for(level, v);
    if (top) top->waiting = NULL;
    while (top && status == LAM_OK) {
        thunk *first = NULL;
        for (int i = 0; i < top->call.inputs && !first; i++) first = waits_for(level, top->in[i]);
        if (first) {
            first->waiting = top;
            top = first;
        } else {
            status = compute(top);
            top = top->waiting;
        }
    }
    return status;
}

/* A call of known types becomes a thunk, and boxes that name it stand for its results. */
static lam_status make_thunk(lam__level *level, const lam_call_site *call, const lam_shape shapes[], lam_value *out[]) {
    thunk *t = thunk_new(level, call);
    lam_status status = t ? LAM_OK : LAM_ERR_MEMORY;
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) {
        out[o] = lam__value_box(level, shapes[o].dtype, shapes[o].rank, shapes[o].dims, NULL);
        if (!out[o]) {
            status = LAM_ERR_MEMORY;
            continue;
        }
        t->refs++;
        lam__payload_of(out[o])->extra = t;
        lam__payload_of(out[o])->number = o;
    }
    thunk_release(level->ctx, t);
    return status;
}

/* Types come from the shape rule alone, so mistakes are found where the function makes them, not where a rule reads. */
static lam_status put_off(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    lam_shape *shapes = lam__scratch_get(&area, level->ctx, (size_t)call->outputs * sizeof *shapes);
    lam_status status = shapes ? lam__eval_shape(call, shapes) : LAM_ERR_MEMORY;
    if (status == LAM_OK) status = make_thunk(level, call, shapes, out);
    lam__scratch_put(&area);
    return status;
}

/* A checkpointed function within, whose types are found by running it for these alone: of many elements that is cheaper
 * than to compute once more what nobody reads. *done: false, it has to be called at once. */
static lam_status put_off_function(lam__level *level, const lam_call_site *call, lam_value *out[], bool *done) {
    enum { MANY = 4096 };
    lam__scratch_area area;
    int64_t elements = 0;
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i] && call->in[i]->count > elements) elements = call->in[i]->count;
    *done = false;
    if (call->primitive != &lam__row_checkpoint || elements < MANY) return LAM_OK;
    lam_shape *shapes = lam__scratch_get(&area, level->ctx, (size_t)call->outputs * sizeof *shapes);
    if (!shapes) return LAM_ERR_MEMORY;
    *done = lam__checkpoint_types(call, shapes);
    const lam_status status = *done ? make_thunk(level, call, shapes, out) : LAM_OK;
    lam__scratch_put(&area);
    return status;
}

/* extra is NULL in boxes that hold a value. The last box of a call's results lets go of it, done or not. */
static void drop(lam_value *box) {
    thunk_release(lam__full(box)->ctx, lam__payload_of(box)->extra);
}

/* ---- the interpreter ------------------------------------------------------------------------------------------- */

/* What cannot be computed becomes NULL, with the failure recorded. */
void lam__rematerialise_unbox(const lam__level *level, int n, lam_value *values[]) {
    for (int i = 0; i < n; i++) {
        if (!lam__level_owns(level, values[i])) continue;
        lam_value *box = values[i], *below = settle(level, box) == LAM_OK ? inside(level, box) : NULL;
        values[i] = below ? lam__value_hold(below) : NULL;
        lam__value_release(box);
    }
}

/* Does a call at once, on what lies in the boxes; those of its operands that wait are computed first. Operands of other
 * levels are what they are. */
static lam_status pass(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    lam_status status = LAM_OK;
    lam_value **in = lam__scratch_get(&area, level->ctx, (size_t)call->inputs * sizeof *in);
    if (!in) return LAM_ERR_MEMORY;
    for (int i = 0; i < call->inputs && status == LAM_OK; i++) {
        status = settle(level, call->in[i]);
        if (status == LAM_OK) in[i] = inside(level, call->in[i]);
    }
    lam_call_site below = *call;
    below.in = in;
    if (status == LAM_OK) status = lam__dispatch(&below, out);
    lam__scratch_put(&area);
    return status;
}

/* The level below the tape. A call that was found above comes here as it is, first of all. What calls functions has no
 * shape rule that could be asked, and is put off only where it is checkpointed itself. */
static lam_status replay(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__rematerialise *r = level->state;
    lam_value *given = r->given;
    bool done;
    r->given = NULL;
    if (given) {
        out[0] = lam__value_hold(given);
        return LAM_OK;
    }
    if (!call->primitive->call) return put_off(level, call, out);
    const lam_status status = put_off_function(level, call, out, &done);
    return done || status != LAM_OK ? status : pass(level, call, out);
}

/* The level above the tape. Nobody gives the result where no operand belongs to a level below: then it is computed.
 * What is known is given one level further down, to the giver, and taken back if nobody has asked for it. */
static lam_status find(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__rematerialise *r = level->state;
    bool known = r->next < r->kept->count && keeps(r->policy, call);
    r->giver->given = known ? r->kept->values[r->next++] : NULL;
    lam_status status = pass(level, call, out);
    r->giver->given = NULL;
    return status;
}

/* The level of a function that runs for the first time. In the order of the calls, by which `find` finds them. */
static lam_status pass_keeping(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    const lam__rematerialise *r = level->state;
    lam_status status = pass(level, call, out);
    return status == LAM_OK && keeps(r->policy, call) ? keep(level->ctx, r->kept, out[0]) : status;
}

/* What waits is in boxes already. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    static lam_status (*const modes[])(lam__level *, const lam_call_site *, lam_value **) = {
        [LAM__KEEP] = pass_keeping, [LAM__FIND] = find, [LAM__REPLAY] = replay, [LAM__PASS] = pass};
    const lam__rematerialise *r = level->state;
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    lam_status status = modes[r->mode](level, call, out);
    if (status == LAM_OK) status = lam__rematerialise_box(level, call->outputs, out);
    if (status != LAM_OK) lam__arguments_release(call->outputs, out);
    return status;
}

/* Somebody reads the elements: C control flow of the function, mostly. Then the call is done on the spot, with the
 * level's parent current, as process would have it. */
static lam_value *read_inside(const lam_value *box) {
    lam__level *level = lam__payload_of(box)->level;
    lam_ctx *ctx = level->ctx;
    lam__level *saved = ctx->current;
    ctx->current = level->parent;
    lam_status status = settle(level, box);
    ctx->current = saved;
    return status == LAM_OK ? inside(level, (lam_value *)(uintptr_t)box) : NULL;
}

const lam__interpreter lam__interpreter_rematerialise = {
    .name = "checkpoint",
    .transparent = true,
    .process = process,
    .read = read_inside,
    .unreadable_status = LAM_ERR_VALUE,
    .unreadable = "the elements could not be computed again",
    .drop = drop,
};

/* ---- running a function ------------------------------------------------------------------------------------------ */

/* Runs f over a level with this state. Results come out of their boxes before the pop. On failure out[] is NULL. */
static lam_status run_over(lam_fn *f, lam__rematerialise *state, lam_value *const in[], lam_value *out[]) {
    lam__level level;
    lam__scratch_area area;
    lam_value **boxes = lam__scratch_get(&area, f->ctx, (size_t)f->inputs * sizeof *boxes);
    lam_status status =
        boxes ? lam__level_push(f->ctx, &level, &lam__interpreter_rematerialise, state) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        for (int i = 0; i < f->inputs; i++) boxes[i] = lam__value_hold(in[i]);
        status = lam__rematerialise_box(&level, f->inputs, boxes);
        if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
        lam__arguments_release(f->inputs, boxes);
        lam__rematerialise_unbox(&level, f->outputs, out);
        lam__level_pop(&level);
        if (status != LAM_OK) lam__arguments_release(f->outputs, out);
    }
    lam__scratch_put(&area);
    return status;
}

/* Values that are wanted are those at a derivative level (values.h): what is kept then was computed there, and leaves
 * its boxes as well. */
lam_status lam__rematerialise_keep(lam_fn *f, lam__rematerialise *state, const bool wanted[], lam_value *const in[],
                                   lam_value *out[]) {
    lam__scratch_area area;
    lam__level level;
    if (!wanted) return run_over(f, state, in, out);
    lam_value **boxes = lam__scratch_get(&area, f->ctx, (size_t)f->inputs * sizeof *boxes);
    lam_status status = boxes ? lam__values_push(f->ctx, &level) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        status = lam__values_box(&level, f->inputs, wanted, in, boxes);
        if (status == LAM_OK) status = run_over(f, state, boxes, out);
        if (status == LAM_OK) lam__values_unbox(&level, (size_t)f->outputs, out);
        lam__values_unbox(&level, state->kept->count, state->kept->values);
        lam__arguments_release(f->inputs, boxes);
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    return status;
}

/* A run of f that finds what the policy names and puts it where the giver keeps it; results are those of f. The env is
 * one pointer, to a state in the frame of whoever runs this. */
static void body_finder(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam__rematerialise *giver = *(lam__rematerialise **)env;
    lam_fn *f = lam__fn_base(env);
    lam__rematerialise state = {.policy = giver->policy, .mode = LAM__FIND, .kept = giver->kept, .giver = giver};
    lam__scratch_area area;
    size_t n = (size_t)(f->inputs + f->outputs);
    lam_value **v = lam__scratch_get(&area, ctx, n * sizeof *v);
    if (!v) return;
    memset(v, 0, n * sizeof *v);
    lam_value **results = v + f->inputs;
    lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? LAM_OK : ctx->error.status;
    if (status == LAM_OK) status = run_over(f, &state, v, results);
    lam__arguments_give(ctx, status, f->outputs, results, out);
    lam__scratch_put(&area);
}

lam_fn *lam__rematerialise_finder(lam_fn *f, lam__rematerialise *giver) {
    return lam__fn_derive(f->ctx,
                          &(lam__derived){"again", f, body_finder, f->inputs, f->outputs, &giver, sizeof giver, NULL});
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The identity on types; dims behind the rank are not looked at. */
static lam_status shape_checkpoint_name(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    memcpy(out->dims, x->dims, x->rank * sizeof *out->dims);
    return LAM_OK;
}

/* A name changes nothing: the result is the operand's memory. It is a row for the sake of the level that looks for
 * names. */
static bool view_checkpoint_name(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    *offset = 0;
    memcpy(strides, call->in[0]->strides, (size_t)out->rank * sizeof *strides);
    return true;
}

/* gx = g. */
static void vjp_checkpoint_name(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)r;
    gx[0] = g[0];
}

/* The name goes with the whole batch. */
static void batch_checkpoint_name(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam_checkpoint_name(r->in[0], r->params);
}

const lam_primitive lam__row_checkpoint_name = {
    .name = "checkpoint_name",
    .inputs = 1,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_checkpoint_name,
    .view = view_checkpoint_name,
    .vjp = vjp_checkpoint_name,
    .batch = batch_checkpoint_name,
    .layout = "s32 name",
};

/* All bytes behind the name are 0, so equal names are equal parameters. */
lam_tensor *lam_checkpoint_name(lam_tensor *x, const char *name) {
    char params[LAM__KEEP_LENGTH] = {0};
    if (!name || !*name || strlen(name) >= sizeof params)
        return lam__error_fail(lam_ctx_of(x), LAM_ERR_VALUE, "checkpoint_name: the name is missing or longer than %d",
                               LAM__KEEP_LENGTH - 1);
    strcpy(params, name);
    return lam__apply1(&lam__row_checkpoint_name, params, sizeof params, x);
}
