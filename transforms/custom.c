/* Custom Functions as one row: what it does without a derivative, and the stages that interpreters call
 * (lib/dispatch/staged.h).
 * What holds here: outputs come from applying the Function again one level below, so that every level uses its rule
 * (but for rules that give the values themselves: own_values); a context is made once per derivative level; without a
 * derivative nothing is saved. The context is the residual of the row: a tape keeps it in its node, a dual level
 * releases it after the tangents. Callbacks see values of the level below the one they serve, so what they compute may
 * be differentiated and batched again. */
#include "transforms/custom.h"

#include "lib/dispatch/level.h"
#include "lib/program/program.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"

#include <string.h>

/* ---- the row ----------------------------------------------------------------------------------------------------- */

static lam_status call_custom(const lam_call_site *call, lam_value *out[]);
static lam_status shape_custom(const lam_call_site *call, lam_shape out[]);
static const lam__staged stages;

const lam_primitive lam__custom_row = {
    .name = "custom",
    .inputs = LAM_VARIADIC,
    .outputs = LAM_VARIADIC,
    .derivative = LAM_GENERAL,
    .call = call_custom,
    .shape = shape_custom,
    .staged = &stages,
    .params_hold = lam__custom_params_hold,
    .params_release = lam__custom_params_release,
};

/* NULL operands are inputs that were left out; they belong to no level. */
static inline bool concrete(int n, lam_value *const in[]) {
    for (int i = 0; i < n; i++)
        if (in[i] && in[i]->kind != LAM__CONCRETE) return false;
    return true;
}

/* Without a derivative: forward alone. */
LAM__UNROLLED lam_status run_plain(lam__instance *x, lam_value *const in[], lam_value *out[]) {
    lam__visitor v;
    if (!lam__context_begin(&v, x)) {
        for (int o = 0; o < x->outputs; o++) out[o] = NULL;
        return LAM_ERR_MEMORY;
    }
    lam_status status = lam__custom_forward(&v.fc, in, out);
    lam__context_end(&v);
    return status;
}

/* Plain values belong to no level, so there is none to look for. */
lam_status lam__custom_dispatch(lam__instance *x, lam_value *const in[], lam_value *out[]) {
    if (concrete(x->inputs, in)) return run_plain(x, in, out);
    for (int o = 0; o < x->outputs; o++) out[o] = NULL;
    lam__custom_params params = {x};
    lam_call_site call = {.ctx = x->ctx,
                          .primitive = &x->row,
                          .params = &params,
                          .params_bytes = sizeof params,
                          .inputs = x->inputs,
                          .outputs = x->outputs,
                          .in = in};
    return lam__dispatch(&call, out);
}

/* ---- level 0, and levels that record what functions do ----------------------------------------------------------- */

/* Level 0: what `eval` is to other rows. A level that records programs calls it too, with itself current, so that the
 * operations of forward are recorded one by one; a program that may be differentiated knows whose they are. */
static lam_status call_custom(const lam_call_site *call, lam_value *out[]) {
    return run_plain(lam__custom_of(call), call->in, out);
}

/* Rank -1 stands for an input that was left out. A lam_type has room for LAM_MAX_RANK axes, as many as users may
 * have. */
static void type_in(lam_type *t, const lam_value *v) {
    *t = (lam_type){.rank = -1};
    if (!v) return;
    t->dtype = (lam_dtype)v->dtype;
    t->rank = v->rank;
    for (int i = 0; i < v->rank && i < LAM_MAX_RANK; i++) t->dims[i] = v->dims[i];
}

/* Asked where a result must have a type before it has a value: by a trace (NOTE [recorded Functions]). */
static lam_status shape_custom(const lam_call_site *call, lam_shape out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs, m = (size_t)call->outputs;
    lam__visitor v;
    lam_type *types = lam__scratch_get(&area, call->ctx, (n + m) * sizeof *types);
    if (!types || !lam__context_begin(&v, lam__custom_of(call))) {
        lam__scratch_put(&area);
        return LAM_ERR_MEMORY;
    }
    lam_status status = LAM_OK;
    for (size_t i = 0; i < n && status == LAM_OK; i++) {
        if (call->in[i] && call->in[i]->rank > LAM_MAX_RANK)
            status =
                lam__error_call(call, LAM_ERR_RANK, "make some axes one with lam_reshape",
                                "input %zu has %d axes, more than a shape callback can be told", i, call->in[i]->rank);
        type_in(&types[i], call->in[i]);
    }
    if (status == LAM_OK) status = lam__custom_shape(&v.fc, types, types + n);
    for (size_t o = 0; o < m && status == LAM_OK; o++) {
        out[o].dtype = types[n + o].dtype;
        out[o].rank = types[n + o].rank; /* -1: left out */
        memcpy(out[o].dims, types[n + o].dims, sizeof types[n + o].dims);
    }
    lam__context_end(&v);
    lam__scratch_put(&area);
    return status;
}

/* ---- derivative levels ------------------------------------------------------------------------------------------- */

/* Whether levels below derive nothing of the operands, so that only batches can tell one run of forward from
 * another. */
static bool only_batches(const lam_call_site *below) {
    for (int i = 0; i < below->inputs; i++)
        if (!lam__custom_only_batches(below->in[i])) return false;
    return true;
}

/* NOTE [hidden intermediates]
 * A separate forward ran on raw data below: what it made on the side (and kept by lam_hold or lam_fn_hold, its only
 * ways out) has lost its derivative by the levels below this one. While setup_context runs at such a level the handles
 * born in that time are refused, as saved values and as operands, and functions that may show such values when they are
 * called; without derivative levels below they are honest constants. */
static lam_status forward_separate(const lam_call_site *below, lam_fctx *fc, lam_value *out[]) {
    uint64_t from = below->ctx->clock;
    bool plain = concrete(below->inputs, below->in);
    lam_status status = plain ? run_plain(fc->instance, below->in, out) : lam__dispatch(below, out);
    if (status != LAM_OK) return status;
    if (!plain && !only_batches(below)) {
        fc->from = from;
        fc->until = below->ctx->clock;
    }
    return lam__custom_setup(fc, below->in, out);
}

/* Two runs of forward on the same values must leave out the same outputs. */
static lam_status check_absent(const lam_fctx *fc, lam_value *const own[], lam_value *const out[]) {
    for (int o = 0; o < fc->instance->outputs; o++)
        if (!own[o] != !out[o])
            return lam__custom_fail(fc, LAM_ERR_RULE, "decide it by attributes or by which inputs there are",
                                    "forward left output %d out at one level and gave it at another", o);
    return LAM_OK;
}

/* Forward runs on this level's values for what it saves. Where it would run below on the same values anyway, that run
 * serves both; elsewhere the outputs come from below, and those of this run are dropped. They are the same numbers,
 * but those from below know the derivatives that the levels below have by the rules of this Function, not by what
 * forward happens to call. So saved outputs are replaced by them too. Of batches that a loop takes apart each example
 * draws from a stream of its own, which the other run cannot see: then the one that saves gives the outputs too. */
static lam_status forward_combined(const lam_call_site *below, lam_fctx *fc, lam_value *out[]) {
    const lam_function *f = &fc->instance->fn;
    if (concrete(below->inputs, below->in) || (only_batches(below) && lam__custom_generates(f)))
        return lam__custom_forward(fc, below->in, out);
    const lam_random_state before = below->ctx->random;
    const uint64_t drawn = below->ctx->drawn;
    lam_status status = lam__dispatch(below, out);
    if (status != LAM_OK) return status;
    const lam_random_state after = below->ctx->random;
    below->ctx->random = before; /* both runs see the same draws */
    if (f->vmap_by_loop && below->ctx->drawn != drawn && only_batches(below)) {
        lam__arguments_release(below->outputs, out);
        return lam__custom_forward(fc, below->in, out);
    }
    lam__scratch_area area;
    lam_value **own = lam__scratch_get(&area, below->ctx, (size_t)below->outputs * sizeof *own);
    status = own ? lam__custom_forward(fc, below->in, own) : LAM_ERR_MEMORY;
    if (status == LAM_OK) {
        status = check_absent(fc, own, out);
        if (status == LAM_OK) lam__context_replace_outputs(fc, out);
        lam__arguments_release(below->outputs, own);
    }
    below->ctx->random = after;
    lam__scratch_put(&area);
    return status;
}

/* NOTE [linear Functions]
 * One without a jvp is its own: a derivative of a linear map needs none of its values, only the map. Beside the
 * tangents that needs the inputs that are not floating and the types of floating ones that have no tangent, which the
 * context keeps. Where there is a backward the way back is that, and otherwise the same transposed. Callbacks run as
 * for any Function, since they say which outputs have a derivative. What a forward draws is part of its map, so it
 * draws the same again. */
static bool is_own_jvp(const lam_function *f) {
    return f->is_linear && !f->jvp;
}

/* dout = F(dx): the Function applied to tangents in place of inputs, zeros where there is none. Applied through
 * dispatch, so it may be differentiated and batched again. `overwritten` is set aside, since what this run overwrites
 * are tangents. Outputs without a derivative have no tangent. */
lam_status lam__custom_linear(lam_fctx *fc, lam_value *const dx[], lam_value *dout[]) {
    lam__scratch_area area;
    lam__instance *x = fc->instance;
    lam__overwritten *outer = x->overwritten;
    int n = x->inputs;
    lam_value **operands = lam__scratch_get(&area, fc->ctx, (size_t)n * sizeof *operands);
    if (!operands) return LAM_ERR_MEMORY;
    lam_status status = LAM_OK;
    x->overwritten = NULL;
    for (int i = 0; i < n; i++) {
        lam_value *kept = fc->kept[i], *v = dx[i] ? dx[i] : kept;
        bool zero = v && v == kept && v->kind == LAM__ABSTRACT;
        operands[i] = zero ? lam__arguments_zero(fc->ctx, v) : v ? lam__value_hold(v) : NULL;
        if (v && !operands[i]) status = LAM_ERR_MEMORY;
    }
    const lam_random_state now = fc->ctx->random;
    fc->ctx->random = fc->random;
    if (status == LAM_OK) status = lam__custom_dispatch(x, operands, dout);
    fc->ctx->random = now;
    x->overwritten = outer;
    for (int o = 0; o < x->outputs && status == LAM_OK; o++)
        if (fc->constant[o]) lam__arguments_release(1, &dout[o]);
    lam__arguments_release(n, operands);
    lam__scratch_put(&area);
    return status;
}

/* A Function without any rule is an error where one is needed: at the call, where the user's line is still in the
 * message, and not on the way back. None is needed where all outputs are integers or marked non-differentiable. */
static lam_status check_rules(const lam_fctx *fc, lam_value *const out[]) {
    const lam_function *f = &fc->instance->fn;
    bool needed = false;
    for (int o = 0; o < fc->instance->outputs; o++)
        needed = needed || (!fc->constant[o] && lam__dtype_is_inexact(out[o]->dtype));
    if (!needed || f->backward || f->jvp || f->is_linear) return LAM_OK;
    return lam__custom_fail(fc, LAM_ERR_RULE,
                            "give it backward or jvp, say is_linear, or mark its outputs non-differentiable",
                            "a derivative is wanted, but it has no derivative rule");
}

/* Which way forward runs is decided by the Function alone: giving values of its own, separate, or combined. On
 * success the caller owns the context as *residual; on failure nothing is given and the context is gone. */
static lam_status forward_stage(const lam_call_site *below, const bool needs[], lam_value *const dx[], lam_value *out[],
                                bool constant[], void **residual) {
    for (int o = 0; o < below->outputs; o++) out[o] = NULL;
    *residual = NULL;
    lam_fctx *fc = lam__context_new(lam__custom_of(below), needs, below->in);
    if (!fc) return LAM_ERR_MEMORY;
    const lam_function *f = &fc->instance->fn;
    fc->tangents = dx;
    lam_status status = fc->instance->own_values ? lam__custom_forward(fc, below->in, out)
                        : f->setup_context       ? forward_separate(below, fc, out)
                                                 : forward_combined(below, fc, out);
    fc->tangents = NULL;
    if (status == LAM_OK && is_own_jvp(f) && (dx || !f->backward)) status = lam__context_keep(fc, below->in);
    if (status == LAM_OK) {
        lam__context_note_absent(fc, out);
        status = check_rules(fc, out);
    }
    if (status == LAM_OK) {
        for (int o = 0; o < below->outputs; o++) constant[o] = fc->constant[o];
        *residual = fc;
        return LAM_OK;
    }
    lam__arguments_release(below->outputs, out);
    lam__context_release(fc);
    return status;
}

/* The rule that there is, in the order jvp, the Function itself, backward transposed. With none of them the outputs are
 * constants (check_rules has seen to it), and their tangents stay NULL. KEEP IN STEP: custom-rules */
static lam_status push(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const dx[],
                       lam_value *dout[]) {
    const lam_function *f = &fc->instance->fn;
    if (f->jvp) return lam__custom_jvp(fc, in, results, dx, dout);
    if (is_own_jvp(f)) return lam__custom_linear(fc, dx, dout);
    return f->backward ? lam__derive_tangents(fc, in, results, dx, dout) : LAM_OK;
}

/* Where there is no rule nothing is written, and the NULL that stays is a tangent of zero. */
static lam_status tangents_stage(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                                 lam_value *dout[]) {
    lam_fctx *fc = call->residual;
    const lam_function *f = &fc->instance->fn;
    for (int o = 0; o < call->outputs; o++) dout[o] = NULL;
    if (!f->once_differentiable) return push(fc, call->in, results, dx, dout);
    return lam__custom_once(call, results, call->inputs, dx, f->jvp ? "jvp" : "backward", push, dout);
}

/* backward where there is one; otherwise jvp, or the linear Function itself, transposed. KEEP IN STEP: custom-rules */
static lam_status pull(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const g[],
                       lam_value *gx[]) {
    return fc->instance->fn.backward ? lam__custom_backward(fc, in, results, g, gx)
                                     : lam__derive_cotangents(fc, in, results, g, gx);
}

/* An input that the rule gives nothing keeps the NULL, which is a cotangent of zero. */
static lam_status cotangents_stage(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                   lam_value *const g[], lam_value *gx[]) {
    lam_fctx *fc = call->residual;
    const lam_function *f = &fc->instance->fn;
    (void)needs; /* the context knows */
    for (int i = 0; i < call->inputs; i++) gx[i] = NULL;
    if (!f->once_differentiable) return pull(fc, call->in, results, g, gx);
    return lam__custom_once(call, results, call->outputs, g, f->backward ? "backward" : "jvp", pull, gx);
}

static void release_stage(lam_ctx *ctx, void *residual) {
    (void)ctx;
    lam__context_release(residual);
}

/* NOTE [recorded Functions]
 * A linear Function that says its types (shape) and its transpose (backward) is recorded as a whole, so that its
 * forward may be foreign code. setup_context then runs on variables: it can save what does not depend on them. In the
 * combined style forward saves, so it is recorded by its operations. Where types are all that is wanted, any Function
 * that says them is.
 * One that is linear in one input alone (a solve in its right side) is recorded likewise where the program is to be
 * linear and no other input is a variable. Its context is made when it is transposed: the constants that it needs are
 * those of the equation, which may be others by then. Programs that are run and written have its operations. */
static bool linear_stage(const lam__level *level, const lam_call_site *call) {
    const lam__program *p = level->state;
    const lam__instance *x = lam__custom_of(call);
    const lam_function *f = &x->fn;
    if (p->only_types && f->shape) return true;
    bool whole = f->shape && f->backward && f->setup_context;
    if (!whole || f->is_linear || x->linear_in < 0) return whole && f->is_linear;
    for (int i = 0; i < call->inputs && whole; i++) {
        const lam_value *v = call->in[i];
        whole = v && v->rank < LAM_MAX_RANK && (i == x->linear_in || !lam__level_owns(level, v));
    }
    return whole && !p->keeps_loops;
}

static bool linear_in_stage(const void *params, int i) {
    return ((const lam__custom_params *)params)->instance->linear_in == i;
}

/* Runs setup_context again, for the cotangents of an equation that was recorded without a residual. */
static lam_status keep_late_stage(const lam_call_site *call, const bool needs[], lam_value *const results[],
                                  void **residual) {
    lam_fctx *fc = lam__context_new(lam__custom_of(call), needs, call->in);
    if (!fc) return LAM_ERR_MEMORY;
    lam__context_note_absent(fc, results);
    lam_status status = lam__custom_setup(fc, call->in, results);
    if (status == LAM_OK) *residual = fc;
    else lam__context_release(fc);
    return status;
}

/* Behind the recording of an equation. Where a Function is linear in one input nothing is kept yet: keep_late_stage
 * makes it when it is wanted. */
static lam_status keep_stage(const lam_call_site *call, const bool needs[], lam_value *const results[],
                             void **residual) {
    *residual = NULL;
    return lam__custom_of(call)->linear_in < 0 ? keep_late_stage(call, needs, results, residual) : LAM_OK;
}

static const lam__staged stages = {
    .forward = forward_stage,
    .tangents = tangents_stage,
    .cotangents = cotangents_stage,
    .batched = lam__custom_batched,
    .release = release_stage,
    .linear = linear_stage,
    .keep = keep_stage,
    .linear_in = linear_in_stage,
    .keep_late = keep_late_stage,
    .rules = true,
};
