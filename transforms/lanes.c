/* The examples of a batch level as an axis: see lanes.h. Both rows are staged for the sake of the level that they are
 * done at, which their parameters name; for all others they are linear and keep nothing. They stand in no registry,
 * since no level outside their batch ever meets them. */
#include "transforms/lanes.h"

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/staged.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/trace.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

static const lam_primitive row_all_gather, row_psum_scatter;

/* ---- at the level whose batch it is ------------------------------------------------------------------------------ */

/* The visible level that bears the serial; NULL. A serial and not the level itself, since what was recorded in one run
 * of a batch may be done in another one that stands for it (`stands_for` in batch.h). */
static lam__level *level_with(const lam_ctx *ctx, uint64_t serial) {
    lam__level *level = ctx->current;
    while (level && (!level->interpreter->hides_axis || lam__batch_serial(level) != serial)) level = level->parent;
    return level;
}

/* Each call of either row comes by here, so programs learn here that they know of the batch. */
static lam__level *level_of(const lam_call_site *call) {
    const lam__lanes_params *p = call->params;
    lam__level *level = level_with(call->ctx, p->level);
    if (level) lam__lanes_note(level);
    else
        lam__error_call(call, LAM_ERR_ESCAPED, "call it inside the function that vmap runs",
                        "the batch whose examples it is about has ended, or is hidden here");
    return level;
}

/* What comes of it may hold for this batch alone, even where nothing in the program shows it: what is no variable of it
 * is a constant. */
void lam__lanes_note(const lam__level *level) {
    for (lam__level *l = level->ctx->current; l && l->depth > level->depth; l = l->parent)
        if (l->interpreter == &lam__interpreter_trace) ((lam__program *)l->state)->sees_batch = true;
}

/* One call of a row of one operand, below the level. NULL after a failure, which is on record. */
static lam_value *apply(lam_ctx *ctx, const lam_primitive *row, const void *params, size_t bytes, lam_value *x) {
    lam_value *out = NULL;
    lam_call_site call = {
        .ctx = ctx, .primitive = row, .params = params, .params_bytes = bytes, .inputs = 1, .outputs = 1, .in = &x};
    lam__dispatch(&call, &out);
    return out;
}

/* A batched operand is moved, which is a view; another is the same for all examples. The payload's number is where the
 * batch axis is. */
static lam_status at_all_gather(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    const lam__lanes_params *p = call->params;
    lam_value *x = call->in[0];
    if (lam__level_owns(level, x)) {
        *out = lam__batch_move(call->ctx, lam__payload_of(x)->inner, (int)lam__payload_of(x)->number, 0);
    } else {
        lam__dims_params wide = {.rank = x->rank + 1};
        wide.dims[0] = p->size;
        for (int i = 0; i < x->rank; i++) wide.dims[i + 1] = x->dims[i];
        *out = apply(call->ctx, &lam__row_broadcast_to, &wide, lam__axes_dims_bytes(wide.rank), x);
    }
    return *out ? LAM_OK : call->ctx->error.status;
}

/* A sum over the examples of what each of them has for all: contributions, or the same from each. What is not batched
 * is the same from each example, so the sum is as many times that. Handles that are made on the way go with the
 * scope. */
static lam_value *contributions(const lam_call_site *call, lam__level *level, lam_value *z) {
    lam_tensor lent;
    lam_scope scope;
    bool own = lam__level_owns(level, z);
    lam__scope_lend(&lent, call->ctx, own ? lam__payload_of(z)->inner : z);
    lam__scope_open(call->ctx, &scope);
    scope.of_rule = true;
    lam_tensor *sum = own ? lam_sum(&lent, &(lam_reduce_options){.axes = LAM_AXES((int)lam__payload_of(z)->number)})
                          : (lam_mul)(&lent, lam_full(call->ctx, lam_dtype_of(&lent), LAM_DIMS0,
                                                      (double)((const lam__lanes_params *)call->params)->size));
    lam_value *v = lam__scope_peek(sum);
    if (v) lam__value_hold(v);
    lam__scope_close(&scope);
    return v;
}

/* What is batched has a part for each pair of examples. Of control flow that cannot be, but where the function has used
 * something that did not come in as an operand. */
static lam_status at_psum_scatter(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    const lam__lanes_params *p = call->params;
    lam_value *z = call->in[0];
    if (!p->shared && lam__level_owns(level, z))
        return lam__error_set(call->ctx, LAM_ERR_CAPTURED,
                              "pass it as an operand, or declare it in the function's captures",
                              "control flow: a function that ran for some examples alone has used a batched tensor");
    lam_value *whole = p->shared ? contributions(call, level, z) : lam__value_hold(z);
    *out = whole ? lam__level_box_behind(level, whole) : NULL;
    return *out ? LAM_OK : whole ? LAM_ERR_MEMORY : call->ctx->error.status;
}

/* ---- at other levels --------------------------------------------------------------------------------------------- */

/* Lanes are an axis beyond those of users, so the limit is that of values inside. */
static lam_status shape_all_gather(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (x->rank >= LAM_INNER_RANK) return lam_rule_fail(call, LAM_ERR_RANK, "%d axes are too many", x->rank + 1);
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank + 1;
    out->dims[0] = ((const lam__lanes_params *)call->params)->size;
    for (int i = 0; i < x->rank; i++) out->dims[i + 1] = x->dims[i];
    return LAM_OK;
}

/* Axis 0 has an element for each example, which is its part. */
static lam_status shape_psum_scatter(const lam_call_site *call, lam_shape out[]) {
    const lam_value *z = call->in[0];
    int64_t size = ((const lam__lanes_params *)call->params)->size;
    if (!z->rank || z->dims[0] != size)
        return lam_rule_fail(call, LAM_ERR_SHAPE, "axis 0 must have %lld elements", (long long)size);
    out->dtype = (lam_dtype)z->dtype;
    out->rank = z->rank - 1;
    for (int i = 0; i < out->rank; i++) out->dims[i] = z->dims[i + 1];
    return LAM_OK;
}

/* The same row, or its transpose, on another value; NULL is zero. */
static lam_status through(const lam_call_site *call, const lam_primitive *row, lam_value *x, lam_value **out) {
    *out = x ? apply(call->ctx, row, call->params, call->params_bytes, x) : NULL;
    return !x || *out ? LAM_OK : call->ctx->error.status;
}

/* Linear in the one operand: a derivative needs nothing of the values, so nothing is kept. */
static lam_status stage_forward(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                                bool constant[], void **residual) {
    (void)needs, (void)dx, (void)constant;
    *residual = NULL;
    return lam__dispatch(below, out);
}

/* The tangent goes the way of the value. */
static lam_status stage_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                                 lam_value *dout[]) {
    (void)results;
    return through(call, call->primitive, dx[0], dout);
}

/* Parameters serve both ways: level and size are the same, and so is `shared` (NOTE [contributions]). */
static lam_status stage_cotangents(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                   lam_value *const g[], lam_value *gx[]) {
    (void)results, (void)needs;
    const bool out = call->primitive == &row_all_gather;
    return through(call, out ? &row_psum_scatter : &row_all_gather, g[0], gx);
}

/* A batch of another level: its axis is put where the other axis is not. Outwards the axis of lanes comes in front, so
 * this one is behind it; inwards axis 0 is taken away, so this one waits at the end. */
static lam_status stage_batched(const lam_call_site *call, const int axes[], const lam__batch *batch, lam_value *out[],
                                int out_axes[]) {
    (void)batch;
    lam_ctx *ctx = call->ctx;
    const bool outwards = call->primitive == &row_all_gather;
    lam_value *x = lam__batch_move(ctx, call->in[0], axes[0], outwards ? 0 : call->in[0]->rank - 1);
    lam_value *y = NULL;
    if (x) through(call, call->primitive, x, &y);
    lam__value_release(x);
    out_axes[0] = outwards ? 1 : y ? y->rank - 1 : 0;
    out[0] = y;
    return y ? LAM_OK : ctx->error.status;
}

/* There is nothing, but whoever keeps a residual asks. */
static void stage_release(lam_ctx *ctx, void *residual) {
    (void)ctx, (void)residual;
}

/* At any level: what is recorded of tangents may have these rows in it. */
static bool stage_linear(const lam__level *level, const lam_call_site *call) {
    (void)level, (void)call;
    return true;
}

/* For a transpose, which needs as little. */
static lam_status stage_keep(const lam_call_site *call, const bool needs[], lam_value *const results[],
                             void **residual) {
    (void)call, (void)needs, (void)results;
    *residual = NULL;
    return LAM_OK;
}

/* Both rows are linear, each the transpose of the other, and done at the level that their parameters name. */
#define LANES_ROW(word)                                                                                                \
    static const lam__staged stages_##word = {                                                                         \
        .forward = stage_forward,                                                                                      \
        .tangents = stage_tangents,                                                                                    \
        .cotangents = stage_cotangents,                                                                                \
        .batched = stage_batched,                                                                                      \
        .release = stage_release,                                                                                      \
        .linear = stage_linear,                                                                                        \
        .keep = stage_keep,                                                                                            \
        .level = level_of,                                                                                             \
        .at = at_##word,                                                                                               \
    };                                                                                                                 \
    static const lam_primitive row_##word = {                                                                          \
        .name = #word,                                                                                                 \
        .inputs = 1,                                                                                                   \
        .derivative = LAM_LINEAR,                                                                                      \
        .linear = 1u,                                                                                                  \
        .takes_complex = true,                                                                                         \
        .shape = shape_##word,                                                                                         \
        .staged = &stages_##word,                                                                                      \
    }
LANES_ROW(all_gather);
LANES_ROW(psum_scatter);
#undef LANES_ROW

/* Applies one of the two rows to a handle. It goes past the check of ranks for users' tensors, since lanes are an axis
 * more than those have. Serial and size are read off the level here and are parameters from now on, which outlive
 * it. */
static lam_tensor *applied(const lam_primitive *row, lam_tensor *x, const lam__level *level, bool shared) {
    lam_value *v;
    lam_tensor *failed;
    lam__lanes_params params = {lam__batch_serial(level), ((const lam__batch *)level->state)->size, shared};
    lam_ctx *ctx = lam__scope_operands(row->name, 1, &x, &v, &failed);
    return ctx ? lam__scope_handle(ctx, apply(ctx, row, &params, sizeof params, v)) : failed;
}

lam_tensor *lam__lanes_out(lam_tensor *x, const lam__level *level, bool shared) {
    return applied(&row_all_gather, x, level, shared);
}

lam_tensor *lam__lanes_in(lam_tensor *z, const lam__level *level, bool shared) {
    return applied(&row_psum_scatter, z, level, shared);
}

/* Whether one of these belongs to the level. Not what lies in a box of another one: that has its own say there. */
static bool has_one(const lam__level *level, int n, lam_value *const values[]) {
    for (int i = 0; i < n; i++)
        if (lam__level_owns(level, values[i])) return true;
    return false;
}

/* The first such equation decides, and the caller asks again once the value that it got is among the operands. Elements
 * do not matter, so they are bools of 0. */
lam_tensor *lam__lanes_member(const lam__program *p, int n, lam_value *const in[], int m, lam_value *const more[]) {
    for (int64_t k = 0; k < p->equations; k++) {
        const lam__equation *e = p->list[k];
        if (e->primitive != &row_all_gather && e->primitive != &row_psum_scatter) continue;
        const lam__level *level = level_with(p->ctx, ((const lam__lanes_params *)e->params)->level);
        if (!level || has_one(level, n, in) || has_one(level, m, more)) continue;
        const int64_t size = ((const lam__batch *)level->state)->size;
        return lam__lanes_in(lam_zeros(p->ctx, LAM_BOOL, LAM_DIMS(size)), level, false);
    }
    return NULL;
}

/* ---- examples that are at work alone ----------------------------------------------------------------------------- */

/* Those of lanes too: what hides an axis is a batch. */
static bool is_batch(const lam__level *level) {
    return level->interpreter->hides_axis;
}

/* The innermost first; a level that is there already is not added again. A value has an axis for each batch that it
 * belongs to, so there are no more levels than axes. */
static void insert(lam__crew *crew, lam__level *level) {
    int at = 0;
    while (at < crew->count && crew->levels[at]->depth > level->depth) at++;
    if ((at < crew->count && crew->levels[at] == level) || crew->count == LAM_INNER_RANK) return;
    memmove(crew->levels + at + 1, crew->levels + at, (size_t)(crew->count - at) * sizeof *crew->levels);
    crew->levels[at] = level;
    crew->size = (crew->count++ ? crew->size : 1) * ((const lam__batch *)level->state)->size;
    crew->barrier = crew->levels[crew->count - 1]->depth;
}

/* Boxes are opened as for reading. A box that is hidden, or of a trace, is left to whoever reads. */
void lam__lanes_add(lam__crew *crew, const lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    while (v && v->kind == LAM__BOX && lam__level_visible(crew->ctx, lam__payload_of(v)->level)) {
        lam__level *level = lam__payload_of(v)->level;
        if (is_batch(level)) insert(crew, level);
        v = is_batch(level) ? lam__payload_of(v)->inner : level->interpreter->read ? level->interpreter->read(v) : NULL;
    }
}

/* One comparison: levels along the current chain are told apart by their depth. */
bool lam__lanes_holds(const lam__crew *crew, const lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    const lam__level *level = v && v->kind == LAM__BOX ? lam__payload_of(v)->level : NULL;
    return level && level->depth >= crew->barrier;
}

/* [of the outermost, ..., of the innermost, ...] in one axis. From the innermost level outwards, so each axis comes in
 * front of those that are there. */
lam_tensor *lam__lanes_open(const lam__crew *crew, lam_tensor *x) {
    for (int i = 0; i < crew->count; i++) x = lam__lanes_out(x, crew->levels[i], false);
    const lam_value *v = lam__scope_peek(x);
    if (!v || crew->count == 1) return x;
    int64_t dims[LAM_INNER_RANK] = {crew->size};
    int rank = v->rank - crew->count;
    for (int i = 0; i < rank; i++) dims[1 + i] = v->dims[crew->count + i];
    return lam__apply_reshape(x, rank + 1, dims);
}

/* The way back of lam__lanes_open: the axis parted again, the outermost level's part in front, which is therefore the
 * first to take its own. */
lam_tensor *lam__lanes_close(const lam__crew *crew, lam_tensor *z) {
    const lam_value *v = lam__scope_peek(z);
    int64_t dims[LAM_INNER_RANK];
    if (!v) return z;
    if (crew->count > 1) {
        int n = crew->count;
        for (int i = 0; i < n; i++) dims[i] = ((const lam__batch *)crew->levels[n - 1 - i]->state)->size;
        for (int i = 1; i < v->rank; i++) dims[n + i - 1] = v->dims[i];
        z = lam__apply_reshape(z, v->rank - 1 + n, dims);
    }
    for (int i = crew->count - 1; i >= 0; i--) z = lam__lanes_in(z, crew->levels[i], false);
    return z;
}

/* Where all are at work nothing is copied. */
lam_tensor *lam__lanes_taken(const lam__crew *crew, lam_tensor *z) {
    return crew->index ? lam_take(z, crew->index, 0) : z;
}

/* The crew whose lanes the level is; NULL of other levels. A batch of its own, such as vmap's, has none. */
static const lam__crew *crew_of(const lam__level *level) {
    return is_batch(level) ? ((const lam__batch *)level->state)->crew : NULL;
}

/* x at the level of these lanes. Done below it, as for operands before the control flow began. What is taken is boxed
 * with its axis in front, as operands of the lanes are. */
static lam_tensor *enter(lam__level *level, lam_tensor *x) {
    lam_ctx *ctx = level->ctx;
    const lam__crew *crew = crew_of(level);
    lam__level *current = ctx->current;
    ctx->current = level->parent;
    lam_value *part = lam__scope_peek(lam__lanes_taken(crew, lam__lanes_open(crew, x)));
    ctx->current = current;
    return part ? lam__scope_handle(ctx, lam__level_box_behind(level, lam__value_hold(part))) : &ctx->failed;
}

/* Lanes may lie in lanes: the outermost first, each of which makes x belong to it. Recursion goes as deep as levels do.
 * What lies below the barrier is the same for all lanes and stays as it is; what belongs to this level or above is here
 * already. */
static lam_tensor *here_from(lam__level *level, lam_tensor *x) {
    if (!level) return x;
    x = here_from(level->parent, x);
    const lam__crew *crew = crew_of(level);
    const lam_value *v = lam__scope_peek(x);
    if (!crew || !v || v->kind != LAM__BOX) return x;
    int depth = lam__payload_of(v)->level->depth;
    return depth >= crew->barrier && depth < level->depth ? enter(level, x) : x;
}

/* A concrete value belongs to nobody, and is the usual case. */
lam_tensor *lam__lanes_here(lam_tensor *x) {
    const lam_value *v = lam__scope_peek(x);
    return v && v->kind == LAM__BOX ? here_from(x->ctx->current, x) : x;
}

/* Which of the levels x belongs to already is found in the same way. Opening and closing a value that does not belong
 * to a level repeats it for each example of that one. */
lam_tensor *lam__lanes_spread(lam_tensor *x, const lam_tensor *like) {
    lam__crew has = {.ctx = like->ctx}, wanted = has;
    lam__lanes_add(&has, x);
    lam__lanes_add(&wanted, like);
    for (int i = wanted.count - 1; i >= 0; i--) {
        bool there = false;
        for (int k = 0; k < has.count; k++) there = there || has.levels[k] == wanted.levels[i];
        if (!there) x = lam__lanes_in(lam__lanes_out(x, wanted.levels[i], false), wanted.levels[i], false);
    }
    return x;
}

/* How examples draw: as at the levels they are of, where those agree. Examples of several levels draw the same numbers
 * only where all of these say so. */
static lam_randomness randomness_of(const lam__crew *crew) {
    bool same = true;
    for (int i = 0; i < crew->count; i++) {
        lam_randomness r = ((const lam__batch *)crew->levels[i]->state)->randomness;
        if (r == LAM_RANDOMNESS_ERROR) return r;
        same = same && r == LAM_RANDOMNESS_SAME;
    }
    return same ? LAM_RANDOMNESS_SAME : LAM_RANDOMNESS_DIFFERENT;
}

/* A batch whose crew says which examples of which levels it is made of. Results have its axis in front. Axes of inputs
 * and results stand behind the values in one block. The index of the crew is not looked at: the caller has taken those
 * lanes out of the inputs. */
lam_status lam__lanes_run(const lam__crew *crew, int64_t k, lam_fn *f, lam_tensor *const in[], const bool mapped[],
                          lam_tensor *out[]) {
    lam_ctx *ctx = crew->ctx;
    lam__scratch_area area;
    size_t n = (size_t)f->inputs, m = (size_t)f->outputs;
    lam_value **v = lam__scratch_get(&area, ctx, (n + m) * (sizeof *v + sizeof(int)));
    if (!v) return LAM_ERR_MEMORY;
    lam__batch batch = {.size = k, .randomness = randomness_of(crew), .crew = crew};
    int *axes = (int *)(void *)(v + n + m), *out_axes = axes + n;
    for (size_t i = 0; i < n; i++) axes[i] = mapped[i] ? 0 : LAM_UNMAPPED;
    for (size_t o = 0; o < m; o++) out_axes[o] = 0;
    for (size_t i = 0; i < n + m; i++) v[i] = NULL;
    lam_status status = lam__arguments_values(ctx, f->inputs, in, v) ? LAM_OK : ctx->error.status;
    if (status == LAM_OK) status = lam__batch_run(f, &batch, v, axes, v + n, out_axes);
    status = lam__arguments_give(ctx, status, f->outputs, v + n, out);
    lam__scratch_put(&area);
    return status;
}
