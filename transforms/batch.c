/* The batch interpreter: see batch.h. A box shows the dims of one example and holds the values of all; payload.number
 * says which axis of what it holds is the batch axis. Results have it in front, so after the first operations most
 * boxes have, and nothing is moved any more. What does not depend on the example is no box of this level and is
 * computed once. */
#include "transforms/batch.h"

#include "lib/dispatch/dispatch.h"
#include "lib/dispatch/draw.h"
#include "lib/dispatch/part.h"
#include "lib/dispatch/staged.h"
#include "lib/kernels/kernels.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"
#include "transforms/arguments.h"
#include "transforms/lanes.h"

#include <string.h>

/* Also of lanes, whose state is a batch too. */
static const lam__batch *batch_of(const lam__level *level) {
    return level->state;
}

/* A batch that is run again has another level, and goes by the serial of the one that it stands for. */
uint64_t lam__batch_serial(const lam__level *level) {
    const uint64_t other = batch_of(level)->stands_for;
    return other ? other : level->serial;
}

/* A transpose through dispatch, so v may be a box of a lower level. The order: axis `to` of the result is `from` of v,
 * the others follow in their order. */
lam_value *lam__batch_move(lam_ctx *ctx, lam_value *v, int from, int to) {
    if (from == to) return lam__value_hold(v);
    lam__order_params params = {.rank = v->rank};
    for (int i = 0, n = 0; i < v->rank; i++) {
        if (n == from && i != to) n++;
        params.order[i] = (int8_t)(i == to ? from : n++);
    }
    lam_value *out = NULL;
    lam_call_site call = {.ctx = ctx,
                          .primitive = &lam__row_transpose,
                          .params = &params,
                          .params_bytes = offsetof(lam__order_params, order) + v->rank,
                          .inputs = 1,
                          .outputs = 1,
                          .in = &v};
    lam__dispatch(&call, &out);
    return out;
}

/* A box around v, taken over, whose batch axis is `axis`. In front there is a short way; elsewhere the dims of one
 * example have to be put together. NULL without memory; v is given up then as well. */
static lam_value *box(lam__level *level, lam_value *v, int axis) {
    if (axis == 0) return lam__level_box_behind(level, v);
    int64_t without[LAM_INNER_RANK];
    for (int i = 0, n = 0; i < v->rank; i++)
        if (i != axis) without[n++] = v->dims[i];
    lam_value *made = lam__value_box(level, (lam_dtype)v->dtype, v->rank - 1, without, v);
    if (made) lam__payload_of(made)->number = axis;
    return made;
}

/* The operands below, batch axes in front; moved[] holds what had to be made for that. After a failure moved[] is to be
 * released as well. */
static lam_status unbox(lam__level *level, const lam_call_site *call, lam_value *in[], lam_value *moved[],
                        bool mapped[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < call->inputs; i++) {
        const lam__payload *p = lam__payload_of(call->in[i]);
        mapped[i] = lam__level_owns(level, call->in[i]); /* else a constant */
        moved[i] = NULL;
        in[i] = mapped[i] ? p->inner : call->in[i];
        if (!mapped[i] || p->number == 0) continue;
        in[i] = moved[i] = lam__batch_move(level->ctx, p->inner, (int)p->number, 0);
        if (!in[i]) status = level->ctx->error.status;
    }
    return status;
}

/* On failure all of out[] is released, those that were boxed too. Rules give results with the axis in front. */
static lam_status box_results(lam__level *level, int n, lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < n; o++)
        if (!(out[o] = box(level, out[o], 0))) status = LAM_ERR_MEMORY;
    if (status != LAM_OK) lam__arguments_release(n, out);
    return status;
}

/* A staged primitive takes its operands as they lie and says where the results have the batch axis. A result without a
 * batch axis is the same for all examples and stays a plain value; one that is left out is NULL. stands_for: what the
 * stage records of this batch has to find it again under another level. */
static lam_status process_staged(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs, m = (size_t)call->outputs;
    lam_value **in = lam__scratch_get(&area, level->ctx, n * sizeof *in + (n + m) * sizeof(int));
    if (!in) return LAM_ERR_MEMORY;
    int *axes = (int *)(void *)(in + n), *out_axes = axes + n;
    for (size_t i = 0; i < n; i++) {
        bool own = lam__level_owns(level, call->in[i]);
        in[i] = own ? lam__payload_of(call->in[i])->inner : call->in[i];
        axes[i] = own ? (int)lam__payload_of(call->in[i])->number : LAM_UNMAPPED;
    }
    lam_call_site below = *call;
    below.in = in;
    lam__batch batch = *batch_of(level);
    batch.stands_for = lam__batch_serial(level);
    lam_status status = call->primitive->staged->batched(&below, axes, &batch, out, out_axes);
    for (size_t o = 0; o < m && status == LAM_OK; o++)
        if (out[o] && out_axes[o] != LAM_UNMAPPED && !(out[o] = box(level, out[o], out_axes[o])))
            status = LAM_ERR_MEMORY;
    if (status != LAM_OK) lam__arguments_release((int)m, out);
    lam__scratch_put(&area);
    return status;
}

/* Any call: the batch rule of its row, on operands with the axis in front. Operands that were moved are released behind
 * the rule, which has held what it needs. */
LAM__APART static lam_status process_lists(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs;
    lam_value **in = lam__scratch_get(&area, level->ctx, n * (2 * sizeof *in + sizeof(bool)));
    if (!in) return LAM_ERR_MEMORY;
    lam_value **moved = in + n;
    bool *mapped = (bool *)(void *)(moved + n);
    lam_call_site below = *call;
    below.in = in;
    for (int o = 0; o < call->outputs; o++) out[o] = NULL;
    lam_status status = unbox(level, call, in, moved, mapped);
    if (status == LAM_OK) status = lam__rules_batched(&below, mapped, batch_of(level)->size, out);
    if (status == LAM_OK) status = box_results(level, call->outputs, out);
    lam__arguments_release((int)n, moved);
    lam__scratch_put(&area);
    return status;
}

/* One result from one operand, which is a box of this level since the call came here. */
LAM__APART static lam_status process_one(lam__level *level, const lam_call_site *call, lam_value **out) {
    const lam__payload *p = lam__payload_of(call->in[0]);
    const bool mapped = true;
    lam_value *moved = p->number ? lam__batch_move(level->ctx, p->inner, (int)p->number, 0) : NULL;
    lam_value *in = moved ? moved : p->inner;
    lam_call_site below = lam__dispatch_site(call, &in);
    *out = NULL;
    if (p->number && !moved) return level->ctx->error.status;
    lam_status status = lam__rules_batched(&below, &mapped, batch_of(level)->size, out);
    if (status == LAM_OK && !(*out = lam__level_box_behind(level, *out))) status = LAM_ERR_MEMORY;
    lam__value_release(moved);
    return status;
}

/* Whether n operands of an elementwise call have the batch axis in front and one rank, or none and no more axes, so
 * that nothing is to be moved or lined up; in[] then are the operands below. Elementwise operands line up from the last
 * axis on, so one of a lower rank than another would meet the batch axis of that one with an axis of its own: [n, 3]
 * with [n, 5, 3] needs an axis of one element put in, which the general way does. */
LAM__UNROLLED bool unbox_aligned(const lam__level *level, int n, lam_value *const boxes[], lam_value *in[]) {
    int rank = -1, most = 0; /* of those that have the batch axis, of the others */
    for (int i = 0; i < n; i++) {
        const lam_value *x = boxes[i];
        bool own = lam__level_owns(level, x);
        if (own && (lam__payload_of(x)->number != 0 || (rank >= 0 && x->rank != rank))) return false;
        in[i] = own ? lam__payload_of(x)->inner : boxes[i];
        if (own) rank = x->rank;
        else if (x->rank > most) most = x->rank;
    }
    return most <= rank;
}

/* An elementwise call on n operands, where n is a constant: the same primitive, one level below, on what is in the
 * boxes. The result has the axis in front, since the operands have. */
LAM__UNROLLED lam_status process_few(lam__level *level, const lam_call_site *call, int n, lam_value *out[]) {
    lam_value *in[3];
    if (!unbox_aligned(level, n, call->in, in)) return process_lists(level, call, out);
    lam_status status = lam__dispatch_below(call, n, in, out);
    if (status == LAM_OK && !(out[0] = lam__level_box_behind(level, out[0]))) status = LAM_ERR_MEMORY;
    return status;
}

/* Elementwise calls of up to three operands have a way without lists; each is tried for what is the commonest first. */
static lam_status process(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    if (call->primitive->staged) return process_staged(level, call, out);
    if (!call->primitive->elementwise)
        return call->inputs == 1 && call->outputs == 1 ? process_one(level, call, out)
                                                       : process_lists(level, call, out);
    if (call->inputs == 2) return process_few(level, call, 2, out);
    if (call->inputs == 1) return process_few(level, call, 1, out);
    if (call->inputs == 3) return process_few(level, call, 3, out);
    return process_lists(level, call, out);
}

/* Boxes that have the batch axis at one place are added as they lie. What is not batched would have to be repeated, and
 * is left to process. */
static bool accumulate(lam__level *level, lam_value *sum, lam_value *g, int sign, lam_status *status) {
    lam__payload *to = lam__payload_of(sum);
    if (!lam__level_owns(level, g) || lam__payload_of(g)->number != to->number) return false;
    *status = lam__rules_accumulate(level->ctx, &to->inner, lam__value_hold(lam__payload_of(g)->inner), sign);
    return true;
}

/* Where the batch axis is in front of everything and lines up: sum += x y in the memory of what lies in the box, one
 * level below. Factors that are not batched broadcast there as they do here. */
static bool accumulate_product(lam__level *level, lam_value *sum, lam_value *x, lam_value *y, int sign,
                               lam_status *status) {
    lam_value *boxes[2] = {x, y}, *in[2];
    lam__payload *to = lam__payload_of(sum);
    if (to->number != 0) return false;
    for (int i = 0; i < 2; i++) {
        bool own = lam__level_owns(level, boxes[i]);
        if (own && (lam__payload_of(boxes[i])->number != 0 || boxes[i]->rank != sum->rank)) return false;
        in[i] = own ? lam__payload_of(boxes[i])->inner : boxes[i];
    }
    *status = lam__rules_accumulate_times(level->ctx, &lam__row_mul, &to->inner, in[0], in[1], sign);
    return true;
}

/* Adds to a part of what lies in the box: the part is behind the batch axis, which is in front of both, and takes all
 * of that axis. */
static bool accumulate_part(lam__level *level, lam_value *sum, const lam__slice_params *part, lam_value *g, int sign,
                            lam_status *status) {
    const lam__payload *to = lam__payload_of(sum);
    lam__slice_params below;
    if (!lam__level_owns(level, g) || lam__payload_of(g)->number != 0 || to->number != 0) return false;
    lam__slice_behind_batch(part, batch_of(level)->size, &below);
    return lam__dispatch_accumulate_part(to->inner, &below, lam__payload_of(g)->inner, sign, status);
}

/* Likewise; y has no more axes than x, so that the product has the dims of x and can be written over it. */
static bool multiply(lam__level *level, lam_value *x, lam_value *y, lam_status *status) {
    lam__payload *to = lam__payload_of(x);
    const lam__payload *by = lam__level_owns(level, y) ? lam__payload_of(y) : NULL;
    if (to->number != 0 || (by && by->number != 0)) return false;
    *status = lam__rules_multiply(level->ctx, &to->inner, by ? by->inner : y);
    return true;
}

/* The levels that the examples are of decide, and make the draw for all of them; those at work take their part. A draw
 * that is the same for all lanes belongs to none of the levels, and stays as it is. */
static lam_value *draw_lanes(lam__level *level, const lam__draw *d) {
    const lam__crew *crew = batch_of(level)->crew;
    lam_value *all = lam__draw_make(level->ctx, d);
    lam_scope scope;
    if (!all) return NULL;
    lam__scope_open(level->ctx, &scope);
    lam_tensor *x = lam__scope_handle(level->ctx, all);
    bool own = lam__lanes_holds(crew, x);
    lam_value *v = lam__scope_peek(own ? lam__lanes_taken(crew, lam__lanes_open(crew, x)) : x);
    if (v) lam__value_hold(v);
    lam__scope_close(&scope);
    return v && own ? box(level, v, 0) : v;
}

/* What a draw for none gives, which is none. With the dims that a draw would have had, of which one is 0. */
static lam_value *drawn_none(lam_ctx *ctx, const lam__draw *wide) {
    const bool pairs = wide->what.form == LAM__RANDOM_PAIRS;
    int64_t dims[LAM_INNER_RANK + 1];
    for (int i = 0; i < wide->rank; i++) dims[i] = wide->dims[i];
    dims[wide->rank] = 2;
    return lam__value_new(ctx, lam__kernels_random_dtype(wide->what.form), wide->rank + pairs, dims);
}

/* One draw for all, or one with the batch axis in front, of which a chunk is its part. What the level below makes of it
 * is its own matter: under another vmap the wider draw gets another axis. Pairs have an axis of 2 that comes with
 * them. */
static lam_value *draw(lam__level *level, const lam__draw *d) {
    const lam__batch *b = batch_of(level);
    if (b->crew) return draw_lanes(level, d);
    if (b->randomness == LAM_RANDOMNESS_SAME) return lam__draw_make(level->ctx, d);
    if (b->randomness == LAM_RANDOMNESS_ERROR) {
        lam__batch_refuse_draw(level->ctx, d->operation);
        return NULL;
    }
    if (d->rank + 1 + (d->what.form == LAM__RANDOM_PAIRS) >= LAM_INNER_RANK) {
        lam__error_set(level->ctx, LAM_ERR_RANK, NULL, "%s: %d axes are too many", d->operation, d->rank + 1);
        return NULL;
    }
    lam__draw wide = {.operation = d->operation, .what = d->what, .rank = d->rank + 1};
    wide.dims[0] = b->size;
    wide.whole[0] = b->whole ? b->whole : b->size; /* 0: no chunk */
    wide.start[0] = b->first;
    for (int i = 0; i < d->rank; i++) {
        wide.dims[i + 1] = d->dims[i];
        wide.whole[i + 1] = d->whole[i];
        wide.start[i + 1] = d->start[i];
    }
    lam_value *v = b->only_types ? drawn_none(level->ctx, &wide) : lam__draw_make(level->ctx, &wide);
    return v ? box(level, v, 0) : NULL;
}

/* A Function that is the same for all examples but for what it draws. It has run once below, for all of them. Where
 * each example is to have draws of its own that was not meant: its results are dropped, the generator goes back, and it
 * is applied as a batched one after all, whose operands have no batch axis. (NOTE [draws below] in
 * lib/dispatch/dispatch.c.) */
static lam_status drawn(lam__level *level, const lam_call_site *call, lam_random_state before, lam_value *out[],
                        bool *other) {
    const lam__batch *b = batch_of(level);
    if (b->randomness == LAM_RANDOMNESS_SAME) return LAM_OK;
    lam__arguments_release(call->outputs, out);
    *other = true;
    if (b->randomness == LAM_RANDOMNESS_ERROR) return lam__batch_refuse_draw(level->ctx, call->primitive->name);
    level->ctx->random = before; /* where it stood at the call */
    return process_staged(level, call, out);
}

/* Also for Functions and Jacobians, which find out about draws by the state of the generator. */
lam_status lam__batch_refuse_draw(lam_ctx *ctx, const char *operation) {
    return lam__error_set(ctx, LAM_ERR_OPTION,
                          "set randomness to LAM_RANDOMNESS_DIFFERENT or LAM_RANDOMNESS_SAME in its options, or give "
                          "each example a key (lam_split, lam_random_...)",
                          "%s: it draws random numbers inside vmap, whose randomness is LAM_RANDOMNESS_ERROR",
                          operation);
}

/* Behind the name in messages: "vmap(size 5, axis 'batch')". */
static void describe(const lam__level *level, lam__text *text) {
    const lam__batch *b = batch_of(level);
    lam__error_append(text, "(size %lld", (long long)b->size);
    if (b->crew) lam__error_append(text, " of %lld", (long long)b->crew->size);
    if (b->axis_name) lam__error_append(text, ", axis '%s'", b->axis_name);
    lam__error_append(text, ")");
}

/* Behind the type of a box: which axis of what follows below is the batch axis. Users see dims of one example, so only
 * this tells them apart. */
static void print(FILE *file, const lam_value *v) {
    fprintf(file, "axis %lld", (long long)lam__payload_of(v)->number);
}

/* What lies below has an axis more, so it cannot be shown as this value; print shows it with the axis named. */
const lam__interpreter lam__interpreter_vmap = {
    .name = "vmap",
    .hides_axis = true, /* for lam__eval_most_axes */
    .process = process,
    .accumulate = accumulate,
    .accumulate_product = accumulate_product,
    .accumulate_part = accumulate_part,
    .multiply = multiply,
    .draw = draw,
    .drawn = drawn,
    .unreadable_status = LAM_ERR_BATCHED,
    .unreadable = "the elements of a batched tensor cannot be read inside vmap: there is one value per example",
    .unreadable_remedy = "use lam_where instead of branching on it, or return it and read it outside",
    .describe = describe,
    .print = print,
};

/* ---- examples that are at work alone ----------------------------------------------------------------------------- */

/* Whether x may be used by a function that runs for lanes: what belongs to the levels that they are of, or to one
 * between those and here, has to come as an operand, or it would be all examples in the place of one. Lanes may lie in
 * lanes. Levels are walked upwards, since lanes may lie in lanes, each with a barrier of its own. */
static lam_status check_operand(const lam__level *level, const lam_call_site *call, int operand) {
    const lam_value *x = call->in[operand];
    if (!x || x->kind != LAM__BOX || lam__level_owns(level, x)) return LAM_OK;
    int depth = lam__payload_of(x)->level->depth;
    for (; level; level = level->parent) {
        const lam__crew *crew = level->interpreter == &lam__interpreter_lanes ? batch_of(level)->crew : NULL;
        if (crew && depth >= crew->barrier && depth < level->depth)
            return lam__error_call(
                call, LAM_ERR_CAPTURED, "pass it as an operand, or declare it in the function's captures",
                "operand %d did not come in as an operand of the control flow, and there is one of it "
                "for each example",
                operand);
    }
    return LAM_OK;
}

/* As any batch, once no operand is a tensor that the function has found elsewhere. */
static lam_status process_lanes(lam__level *level, const lam_call_site *call, lam_value *out[]) {
    for (int i = 0; i < call->inputs; i++) {
        lam_status status = check_operand(level, call, i);
        if (status == LAM_OK) continue;
        for (int o = 0; o < call->outputs; o++) out[o] = NULL;
        return status;
    }
    return process(level, call, out);
}

/* As vmap. The ways that add and multiply in place would take operands that nobody has looked at. */
const lam__interpreter lam__interpreter_lanes = {
    .name = "vmap",
    .hides_axis = true,
    .process = process_lanes,
    .accumulate = accumulate,
    .accumulate_part = accumulate_part,
    .draw = draw,
    .drawn = drawn,
    .unreadable_status = LAM_ERR_BATCHED,
    .unreadable = "the elements of a batched tensor cannot be read inside vmap: there is one value per example",
    .unreadable_remedy = "use lam_where instead of branching on it, or return it and read it outside",
    .describe = describe,
    .print = print,
};

/* A result is looked at as an operand would be. By a row that is only a name, for the message. */
static lam_status check_result(const lam__level *level, const lam_fn *f, lam_value *v) {
    lam_primitive row = {.name = f->name};
    lam_call_site call = {.ctx = level->ctx, .primitive = &row, .inputs = 1, .outputs = 1, .in = &v};
    return check_operand(level, &call, 0);
}

/* ---- running a function ------------------------------------------------------------------------------------------ */

/* Whether an output of so many axes, that of the batch included, may have the batch axis where out_axes says. */
static bool may_be_at(const lam_fn *f, lam_ctx *ctx, int o, int rank, int axis) {
    if (axis == LAM_UNMAPPED)
        lam__error_set(ctx, LAM_ERR_AXIS, "give it an axis in out_axes, or reduce over the batch",
                       "vmap: output %d of '%s' is batched, but its out_axes says it is not", o, f->name);
    else if (axis < -rank || axis >= rank)
        lam__error_set(ctx, LAM_ERR_AXIS, NULL, "vmap: out_axes of output %d of '%s' is %d, out of range [-%d, %d)", o,
                       f->name, axis, rank, rank);
    else if (rank > lam__eval_most_axes(ctx))
        lam__error_set(ctx, LAM_ERR_RANK, NULL, "vmap: output %d of '%s' would have %d axes, more than %d%s", o,
                       f->name, rank, lam__eval_most_axes(ctx),
                       ctx->current->hidden ? " left inside these batches" : "");
    else return true;
    return false;
}

/* v once for each example, by a view of stride 0 where it is concrete; the batch axis at place `to`. */
static lam_value *repeated(lam_ctx *ctx, lam_value *v, int64_t size, int to) {
    lam__dims_params wide = {.rank = v->rank + 1};
    wide.dims[0] = size;
    for (int i = 1; i < wide.rank; i++) wide.dims[i] = v->dims[i - 1];
    lam_value *front = NULL, *out = NULL;
    const lam_call_site call = {.ctx = ctx,
                                .primitive = &lam__row_broadcast_to,
                                .params = &wide,
                                .params_bytes = lam__axes_dims_bytes(wide.rank),
                                .inputs = 1,
                                .outputs = 1,
                                .in = &v};
    if (lam__dispatch(&call, &front) == LAM_OK) out = lam__batch_move(ctx, front, 0, to);
    lam__value_release(front);
    return out;
}

/* Output o as the caller of vmap sees it; takes v over. The parent is current. An output that does not depend on the
 * example is repeated. NULL after a failure, in any case with v given up. */
static lam_value *finish(const lam_fn *f, const lam__level *level, int o, lam_value *v, int axis) {
    lam_ctx *ctx = level->ctx;
    const bool own = lam__level_owns(level, v);
    if (!own && axis == LAM_UNMAPPED) return v; /* one for all, as was asked */
    lam_value *out = NULL;
    if ((own || check_result(level, f, v) == LAM_OK) && may_be_at(f, ctx, o, v->rank + 1, axis)) {
        const int to = axis < 0 ? axis + v->rank + 1 : axis;
        out = own ? lam__batch_move(ctx, lam__payload_of(v)->inner, (int)lam__payload_of(v)->number, to)
                  : repeated(ctx, v, batch_of(level)->size, to);
    }
    lam__value_release(v);
    return out;
}

/* All or none. */
static lam_status finish_all(const lam_fn *f, const lam__level *level, lam_value *out[], const int out_axes[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < f->outputs; o++)
        if (!(out[o] = finish(f, level, o, out[o], out_axes[o]))) status = f->ctx->error.status;
    if (status != LAM_OK) lam__arguments_release(f->outputs, out);
    return status;
}

/* Boxes of the level never leave this function: outputs are taken out of theirs before the pop. axes[] and out_axes[]
 * are read while f runs and behind it; `batch` is the level's state until the pop. NULL inputs stay NULL. */
lam_status lam__batch_run(lam_fn *f, const lam__batch *batch, lam_value *const in[], const int axes[], lam_value *out[],
                          const int out_axes[]) {
    lam_ctx *ctx = f->ctx;
    lam__scratch_area area;
    lam__level level;
    for (int o = 0; o < f->outputs; o++) out[o] = NULL; /* out may be NULL for a function without outputs */
    lam_value **boxes = lam__scratch_get(&area, ctx, (size_t)f->inputs * sizeof *boxes);
    lam_status status =
        boxes ? lam__level_push(ctx, &level, batch->crew ? &lam__interpreter_lanes : &lam__interpreter_vmap,
                                (void *)(uintptr_t)batch)
              : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        for (int i = 0; i < f->inputs; i++) {
            boxes[i] = lam__value_hold_any(in[i]);
            if (in[i] && axes[i] != LAM_UNMAPPED && !(boxes[i] = box(&level, boxes[i], axes[i])))
                status = LAM_ERR_MEMORY;
        }
        if (status == LAM_OK) status = lam__fn_call(f, (size_t)f->inputs, boxes, (size_t)f->outputs, out);
        lam__arguments_release(f->inputs, boxes);
        ctx->current = level.parent; /* the results are put together below the level */
        if (status == LAM_OK) status = finish_all(f, &level, out, out_axes);
        else lam__arguments_release(f->outputs, out);
        ctx->current = &level;
        lam__level_pop(&level);
    }
    lam__scratch_put(&area);
    return status;
}
