/* Named axes: collectives along the batch of the vmap that bears a name. All are made of the two rows of lanes.c, which
 * are done at the level of that vmap, whatever levels lie above it. */
#include "transforms/batch.h"
#include "transforms/lanes.h"

#include "lib/base/context.h"
#include "lib/base/error.h"
#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/reduce.h"

#include <lamina/control.h>
#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* Of levels that hide an axis alone: the state of others is something else. */
static const lam__batch *batch_of(const lam__level *level) {
    return level->state;
}

/* Says which names there are. Nearest names first, as they are looked for. */
static void fail_name(lam_ctx *ctx, const char *what, const char *name) {
    char text[256];
    lam__text t = {text, sizeof text, 0};
    for (const lam__level *l = ctx->current; l; l = l->parent)
        if (l->interpreter->hides_axis && batch_of(l)->axis_name)
            lam__error_append(&t, "%s'%s'", t.used ? ", " : "", batch_of(l)->axis_name);
    lam__error_set(ctx, LAM_ERR_OPTION, "name the axis by axis_name in the options of the vmap around it",
                   "%s: no vmap here has an axis '%s'; there %s %s", what, name, t.used ? "is" : "are",
                   t.used ? text : "none");
}

/* The innermost of the levels that are set aside which bears the name. */
static lam__level *level_aside(const lam__aside *aside, const char *name) {
    for (lam__level *l = aside->from; l->depth > aside->top->depth; l = l->parent) {
        const char *own = l->interpreter->hides_axis ? batch_of(l)->axis_name : NULL;
        if (own && !strcmp(own, name)) return l;
    }
    return NULL;
}

/* Whether this level has been pushed in the place of the one below which something was set aside. That is a batch run
 * again for what was recorded or set aside in the one before. */
static bool stands_for_top(const lam__level *level, const lam__aside *aside) {
    const bool batches = level->interpreter->hides_axis && aside->top->interpreter->hides_axis;
    return batches && lam__batch_serial(level) == lam__batch_serial(aside->top);
}

/* Leaves word with an aside that has the level. The call is done again at that level by whoever has set it aside (NOTE
 * [asides] in dispatch/level.h). */
static bool leaves_word(lam__aside *aside, const char *name) {
    lam__level *level = level_aside(aside, name);
    if (level) aside->wanted = level;
    return level != NULL;
}

/* What is set aside comes in its place among the levels that are visible: above the one below which it was, or above
 * what stands for that one, as do those that were set aside before and stood higher. *next: the innermost aside that
 * has not been passed. */
static bool wants_aside(const lam__level *level, lam__aside **next, const char *name) {
    const lam__aside *in_place = *next;
    while (in_place && !stands_for_top(level, in_place)) in_place = in_place->outer;
    bool passed = false;
    for (lam__aside *a = *next; a && in_place; a = a->outer) {
        passed = passed || a == in_place;
        if (passed && a->top->depth >= in_place->top->depth && leaves_word(a, name)) return true;
    }
    for (; *next && level->depth < (*next)->top->depth; *next = (*next)->outer)
        if (leaves_word(*next, name)) return true;
    return false;
}

/* The innermost level that bears the name; NULL after recording why it cannot be worked along, or that it is set aside
 * (NOTE [asides]). barrier: the lowest depth from which functions run for some examples alone, of the levels passed so
 * far. A batch at or above it has not all its examples here. */
static lam__level *level_named(lam_ctx *ctx, const char *what, const char *name) {
    int barrier = INT32_MAX;
    lam__aside *aside = ctx->aside;
    lam__level *level = name ? ctx->current : NULL;
    for (; level; level = level->parent) {
        /* A failure for now, so that nothing more is done here; it is taken back when the call is done again. */
        if (wants_aside(level, &aside, name)) {
            fail_name(ctx, what, name);
            return NULL;
        }
        if (!level->interpreter->hides_axis) continue;
        const lam__batch *b = batch_of(level);
        if (b->axis_name && !strcmp(b->axis_name, name)) break;
        if (b->crew && b->crew->barrier < barrier) barrier = b->crew->barrier;
    }
    if (!name) {
        lam__error_set(ctx, LAM_ERR_NULL, NULL, "%s: the name of the axis is NULL", what);
    } else if (!level) {
        fail_name(ctx, what, name);
    } else if (level->depth >= barrier) {
        lam__error_set(ctx, LAM_ERR_OPTION, "call it outside, and pass the result as an operand",
                       "%s: the function runs for some examples of axis '%s' alone", what, name);
        level = NULL;
    } else if (batch_of(level)->whole) {
        lam__error_set(ctx, LAM_ERR_OPTION, "leave chunk_size out",
                       "%s: the vmap with axis '%s' goes by chunks, and has not the whole batch at a time", what, name);
        level = NULL;
    }
    return level;
}

/* The level for an operand; NULL, and *failed is what the operation gives. The operand is looked at first: a failed one
 * is given as it is, whatever the name. */
static lam__level *level_for(const char *what, lam_tensor *x, const char *name, lam_tensor **failed) {
    lam_value *v;
    lam_ctx *ctx = lam__scope_operands(what, 1, &x, &v, failed);
    if (!ctx) return NULL;
    *failed = &ctx->failed;
    return level_named(ctx, what, name);
}

/* ---- sums and their like ----------------------------------------------------------------------------------------- */

/* A reduction of the examples, gathered. What the reduction is made of is dropped, but for the result (NOTE [composed
 * operations] in base/scope.h). */
static lam_tensor *reduced(const char *what, lam_tensor *x, const char *name,
                           lam_tensor *(*reduce)(lam_tensor *x, const lam_reduce_options *options)) {
    lam_tensor *failed;
    uint64_t since = lam__scope_now(x);
    lam__level *level = level_for(what, x, name, &failed);
    if (!level) return failed;
    lam_tensor *all = lam__lanes_out(x, level, true);
    return lam__scope_only(reduce(all, &(lam_reduce_options){.axes = LAM_AXES(0)}), since);
}

/* The reductions are those of an axis, so a sum of integers is as wide as theirs, and NaN does what it does there. */
lam_tensor *lam_psum(lam_tensor *x, const char *axis_name) {
    return reduced("psum", x, axis_name, lam_sum);
}

lam_tensor *lam_pmean(lam_tensor *x, const char *axis_name) {
    return reduced("pmean", x, axis_name, lam_mean);
}

lam_tensor *lam_pmax(lam_tensor *x, const char *axis_name) {
    return reduced("pmax", x, axis_name, lam_max_reduce);
}

lam_tensor *lam_pmin(lam_tensor *x, const char *axis_name) {
    return reduced("pmin", x, axis_name, lam_min_reduce);
}

/* Shared: each example has a part in the cotangent of every other one. */
lam_tensor *lam_all_gather(lam_tensor *x, const char *axis_name) {
    lam_tensor *failed;
    lam__level *level = level_for("all_gather", x, axis_name, &failed);
    return level ? lam__lanes_out(x, level, true) : failed;
}

/* Whole numbers are counted where there is room for the sum, as by psum. Axis 0 numbers the examples for whom a part is
 * meant. */
lam_tensor *lam_psum_scatter(lam_tensor *x, const char *axis_name) {
    lam_tensor *failed;
    uint64_t since = lam__scope_now(x);
    lam__level *level = level_for("psum_scatter", x, axis_name, &failed);
    if (!level) return failed;
    int64_t size = batch_of(level)->size;
    if (lam_rank(x) < 1 || lam_dim(x, 0) != size)
        return lam__error_fail(level->ctx, LAM_ERR_SHAPE,
                               "psum_scatter: axis 0 must have %lld elements, one per example", (long long)size);
    lam_tensor *wide = lam__reduce_is_tallied((int)lam_dtype_of(x)) ? lam_cast(x, LAM_I64) : x;
    return lam__scope_only(lam__lanes_in(wide, level, true), since);
}

/* ---- from example to example ------------------------------------------------------------------------------------- */

/* source[to] = from; -1: nothing comes. False after recording what is wrong; sends: room for a flag per example. An
 * example that sent to two would get two cotangents back, and one that got two would have to add: neither is a
 * permutation. */
static bool sources(lam_ctx *ctx, const lam_route routes[], size_t count, int64_t size, int64_t source[],
                    bool sends[]) {
    for (int64_t i = 0; i < size; i++) source[i] = -1, sends[i] = false;
    for (size_t k = 0; k < count; k++) {
        int64_t from = routes[k].from, to = routes[k].to;
        if (from < 0 || from >= size || to < 0 || to >= size) {
            lam__error_set(ctx, LAM_ERR_INDEX, "number the examples from 0",
                           "ppermute: route %zu goes from %lld to %lld, of %lld examples", k, (long long)from,
                           (long long)to, (long long)size);
            return false;
        }
        if (sends[from] || source[to] >= 0) {
            lam__error_set(ctx, LAM_ERR_VALUE, "use all_gather to send to several",
                           "ppermute: route %zu, from %lld to %lld: an example sends or gets twice", k, (long long)from,
                           (long long)to);
            return false;
        }
        sends[from] = true;
        source[to] = from;
    }
    return true;
}

/* The examples in their new order: one line of zeros stands behind them for those who get nothing. Whose place is -1
 * takes the line behind the last one. */
static lam_tensor *permuted(lam_ctx *ctx, lam_tensor *all, size_t count, int64_t size, int64_t source[]) {
    for (int64_t i = 0; i < size; i++) source[i] = source[i] < 0 ? size : source[i];
    /* As many routes as examples reach each of them, so nobody is left who gets nothing. */
    if (count < (size_t)size) all = lam_concatenate(LAM_LIST(all, lam_zeros_like(lam_slice_axis(all, 0, 0, 1))), 0);
    return lam_take(all, lam_array(ctx, LAM_I64, LAM_DIMS(size), source), 0);
}

/* A batch of none has nothing to take and no element to take zeros from. */
lam_tensor *lam_ppermute(lam_tensor *x, const lam_route routes[], size_t count, const char *axis_name) {
    lam_tensor *failed;
    lam__scratch_area area;
    uint64_t since = lam__scope_now(x);
    lam__level *level = level_for("ppermute", x, axis_name, &failed);
    if (!level) return failed;
    lam_ctx *ctx = level->ctx;
    if (count && !routes) return lam__error_fail(ctx, LAM_ERR_NULL, "ppermute: there is no list of routes");
    int64_t size = batch_of(level)->size;
    /* Flags come behind the numbers, which need the greater alignment. */
    int64_t *source = lam__scratch_get(&area, ctx, (size_t)size * (sizeof *source + 1));
    if (!source) return failed;
    lam_tensor *out = failed;
    if (sources(ctx, routes, count, size, source, (bool *)(source + size))) {
        lam_tensor *all = lam__lanes_out(x, level, false);
        out = lam__lanes_in(size ? permuted(ctx, all, count, size, source) : all, level, false);
    }
    lam__scratch_put(&area);
    return lam__scope_only(out, since);
}

/* The examples and their parts exchanged, as the axes of a matrix are. Part j of example i becomes part i of example j:
 * opened, both are axes, [examples, parts, ...], and change places. */
lam_tensor *lam_all_to_all(lam_tensor *x, int split_axis, int concat_axis, const char *axis_name) {
    lam_tensor *failed;
    uint64_t since = lam__scope_now(x);
    lam__level *level = level_for("all_to_all", x, axis_name, &failed);
    if (!level) return failed;
    if (!lam__apply_axis("all_to_all", x, lam_rank(x), &split_axis) ||
        !lam__apply_axis("all_to_all", x, lam_rank(x), &concat_axis))
        return failed;
    int64_t size = batch_of(level)->size;
    if (lam_dim(x, split_axis) != size)
        return lam__error_fail(level->ctx, LAM_ERR_SHAPE,
                               "all_to_all: axis %d must have %lld elements, one per example", split_axis,
                               (long long)size);
    lam_tensor *all = lam__lanes_out(lam_moveaxis(x, split_axis, 0), level, false);
    lam_tensor *own = lam__lanes_in(lam_swapaxes(all, 0, 1), level, false);
    return lam__scope_only(lam_moveaxis(own, 0, concat_axis), since);
}

/* ---- about the axis ---------------------------------------------------------------------------------------------- */

/* A missing context fails as everything does without one. The numbers are those of all examples in a row, of which each
 * takes its own. */
lam_tensor *lam_axis_index(lam_ctx *ctx, const char *axis_name) {
    if (!ctx || ctx == &lam__context_failed) return &lam__context_failed.failed;
    uint64_t since = lam__scope_now_in(ctx);
    lam__level *level = level_named(ctx, "axis_index", axis_name);
    if (!level) return &ctx->failed;
    lam_tensor *places = lam_iota(ctx, LAM_I64, LAM_DIMS(batch_of(level)->size), 0);
    return lam__scope_only(lam__lanes_in(places, level, false), since);
}

/* -1 after a failure. A program that has asked holds for batches of this size alone, which is noted. */
int64_t lam_axis_size(lam_ctx *ctx, const char *axis_name) {
    const lam__level *level = ctx && ctx != &lam__context_failed ? level_named(ctx, "axis_size", axis_name) : NULL;
    if (!level) return -1;
    lam__lanes_note(level);
    return batch_of(level)->size;
}
