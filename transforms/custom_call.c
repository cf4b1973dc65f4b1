/* Running the callbacks of a custom Function: handles in, checks of what comes out. Each runs in a scope and a frame of
 * its own, so that what it makes is freed behind it and a failure inside names the Function and the callback. A failure
 * that the callback records comes first; what it left unset because of it is not complained about.
 * What a callback gives is never trusted: a result may be missing, of another context or type, or a box of a level that
 * has ended. Each of these is a named failure here, so the stages in custom.c deal with right values only. */
#include "transforms/custom.h"

#include "lib/base/stack.h"
#include "lib/dispatch/level.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rules.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <stdarg.h>
#include <string.h>

enum { TYPE_TEXT = 256 };

static const char *const part_names[] = {
    [LAM__PART_NONE] = NULL,           [LAM__PART_FORWARD] = "forward",
    [LAM__PART_COMBINED] = "forward",  [LAM__PART_SETUP] = "setup_context",
    [LAM__PART_BACKWARD] = "backward", [LAM__PART_JVP] = "jvp",
    [LAM__PART_VMAP] = "vmap",         [LAM__PART_SHAPE] = "shape",
};

/* What to do instead of reading the raw data of a box; NOTE [raw data] in lib/tensor/tensor.c. */
static const char *const raw_remedies[] = {
    [LAM__PART_FORWARD] = "in a batch give it a vmap callback, or say vmap_by_loop; a function that is recorded has no "
                          "elements: lam_jit calls it as it is, lam_trace cannot",
    [LAM__PART_COMBINED] = "use a Function of the separate style (setup_context): its forward sees plain data at every "
                           "derivative level",
    [LAM__PART_SETUP] = "foreign code belongs into forward",
    [LAM__PART_BACKWARD] =
        "write the rule with lamina operations, or put the foreign code into a Function of its own with rules",
    [LAM__PART_JVP] =
        "write the rule with lamina operations, or put the foreign code into a Function of its own with rules",
    [LAM__PART_VMAP] = "foreign code belongs into forward",
    [LAM__PART_SHAPE] = "foreign code belongs into forward",
};

/* The text is put together first, since the name of the Function and of the callback stand before it. Longer ones are
 * cut. */
lam_status lam__custom_fail(const lam_fctx *fc, lam_status status, const char *remedy, const char *format, ...) {
    char text[768];
    const char *part = part_names[fc->part];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lam__error_set(fc->ctx, status, remedy, "Function '%s'%s%s: %s", fc->instance->fn.name, part ? ", " : "",
                          part ? part : "", text);
}

static const char *type_text(const lam_value *v, char text[TYPE_TEXT]) {
    lam__text t = {text, TYPE_TEXT, 0};
    lam__error_append_type(&t, (lam_dtype)v->dtype, v->rank, v->dims);
    return text;
}

/* A solver that broadcasts or widens would otherwise go on with a system of another size. */
lam_tensor *lam__custom_of_type(lam_fctx *fc, const char *what, lam_tensor *x, lam_tensor *like) {
    char got[TYPE_TEXT], expected[TYPE_TEXT];
    const lam_value *v = lam__scope_peek(x), *want = lam__scope_peek(like);
    if (!v || !want || lam__value_same_type(v, want)) return x;
    lam__custom_fail(fc, v->dtype == want->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE, NULL, "%s: expected %s, got %s", what,
                     type_text(want, expected), type_text(v, got));
    return &fc->ctx->failed;
}

/* ---- a visit to user code ---------------------------------------------------------------------------------------- */

/* given: handles lent to the callback; slots: its results, and one more, which must stay empty: who sets it has counted
 * its outputs wrong, and the next one might have hit something else. What is `before` is put back at the end, since a
 * callback may apply its own Function again with the same context. */
typedef struct visit {
    lam_fctx *fc;
    lam_scope scope;
    lam__frame frame;
    size_t failures; /* recorded before */
    enum lam__part part_before;
    lam_tensor *const *in_before, *const *out_before;
    lam_tensor **given, **slots;
    int slot_count;
    lam__scratch_area area;
} visit;

/* False, with the failure recorded and nothing to end, where the C stack is short or memory is lacking. The visit has a
 * reference to the context: a callback may drop the pullback that owns it. `raw_remedy` in the frame forbids to read
 * the elements of boxes from here on, except to Functions that only pass values on. */
LAM__UNROLLED bool visit_begin(visit *v, lam_fctx *fc, enum lam__part part, int given, int slots) {
    lam_ctx *ctx = fc->ctx;
    if (lam__stack_is_short(ctx)) return lam__stack_fail(ctx, fc->instance->fn.name) == LAM_OK;
    v->given = lam__scratch_get(&v->area, ctx, (size_t)(given + slots + 1) * sizeof *v->given);
    if (!v->given) return false;
    v->slots = v->given + given;
    v->slot_count = slots;
    for (int i = 0; i <= slots; i++) v->slots[i] = NULL; /* and the one more */
    v->fc = fc;
    v->failures = ctx->error.count;
    v->part_before = fc->part;
    v->in_before = fc->in;
    v->out_before = fc->out;
    fc->part = part;
    fc->refs++; /* until visit_end */
    lam__scope_open(ctx, &v->scope);
    v->scope.of_rule |= part == LAM__PART_VMAP; /* which sees the axis of the batch */
    v->frame = (lam__frame){.name = fc->instance->fn.name,
                            .part = part_names[part],
                            .parent = ctx->frame,
                            .start = ctx->clock,
                            .level = ctx->current,
                            .raw_remedy = fc->instance->only_passes ? NULL : raw_remedies[part],
                            .levels = ctx->levels};
    ctx->frame = &v->frame;
    return true;
}

/* The scopes that the callback has left open are closed before its results are looked at, so none of them is in one. */
LAM__APART static lam_status visit_failure(visit *v) {
    lam_ctx *ctx = v->fc->ctx;
    if (lam__scope_close_inner(&v->scope))
        lam__custom_fail(v->fc, LAM_ERR_SCOPE, "end every scope that it begins", "a scope was left open");
    if (ctx->error.count != v->failures) return lam__error_since(ctx, (lam__mark){.count = v->failures});
    return lam__custom_fail(v->fc, LAM_ERR_ARITY, NULL, "too many results: number %d is set, %d expected",
                            v->slot_count, v->slot_count);
}

/* What went wrong inside, looked at directly behind the callback. */
LAM__UNROLLED lam_status visit_status(visit *v) {
    const lam_ctx *ctx = v->fc->ctx;
    if (ctx->scope == &v->scope && ctx->error.count == v->failures && !v->slots[v->slot_count]) return LAM_OK;
    return visit_failure(v);
}

/* Frees the callback's handles, its results among them, whose values have been taken by then. Returns `status`. */
LAM__UNROLLED lam_status visit_end(visit *v, lam_status status) {
    lam_fctx *fc = v->fc;
    fc->ctx->frame = v->frame.parent;
    lam__scope_close(&v->scope);
    fc->part = v->part_before;
    fc->in = v->in_before;
    fc->out = v->out_before;
    if (fc->refs > 1) fc->refs--;
    else lam__context_release(fc);
    lam__scratch_put(&v->area);
    return status;
}

/* Fresh handles, so that a callback that rebinds or drops one changes nothing for its caller. */
static inline void lend(lam_ctx *ctx, int n, lam_value *const values[], lam_tensor *handles[]) {
    for (int i = 0; i < n; i++) handles[i] = values[i] ? lam__scope_handle(ctx, lam__value_hold(values[i])) : NULL;
}

/* Result k where something is wrong with it. */
LAM__APART static lam_status take_other(visit *v, int k, lam_value **out) {
    lam_ctx *ctx = v->fc->ctx;
    lam_tensor *t = v->slots[k];
    *out = NULL;
    if (!t)
        return lam__custom_fail(v->fc, LAM_ERR_ARITY,
                                "set every out[o]; on failure out[o] = lam_fail(...); say lam_fctx_mark_absent of one "
                                "that is left out",
                                "output %d was not set", k);
    if (lam__scope_is_foreign(ctx, t))
        return lam__custom_fail(v->fc, LAM_ERR_CONTEXT, NULL, "result %d belongs to another context", k);
    lam_value *x = lam__scope_operand_in(ctx, v->fc->instance->fn.name, (size_t)k, t);
    if (!x) return ctx->error.status;
    if (lam__value_is_box(x) && !lam__level_visible(ctx, lam__payload_of(x)->level))
        return lam__level_fail_hidden(
            &(lam_call_site){.ctx = ctx, .primitive = &v->fc->instance->row, .inputs = 1, .outputs = 1, .in = &x}, 0);
    *out = lam__value_hold(x);
    return LAM_OK;
}

/* The value of result number k: one reference. */
static inline lam_status take(visit *v, int k, lam_value **out) {
    const lam_tensor *t = v->slots[k];
    const lam_ctx *ctx = v->fc->ctx;
    if (!t || t->magic != LAM__LIVE || t->ctx != ctx) return take_other(v, k, out);
    if (lam__value_is_box(t->value) && !lam__level_visible(ctx, lam__payload_of(t->value)->level))
        return take_other(v, k, out);
    *out = lam__value_hold(t->value);
    return LAM_OK;
}

/* Output k of a callback that may leave outputs out. */
static inline lam_status take_output(visit *v, int k, lam_value **out) {
    if (!v->fc->absent[k]) return take(v, k, out);
    *out = NULL;
    return !v->slots[k] ? LAM_OK
                        : lam__custom_fail(v->fc, LAM_ERR_RULE, "leave it NULL, or do not mark it",
                                           "output %d is set, but lam_fctx_mark_absent says that it is left out", k);
}

/* All of them; out[] is NULL before. */
LAM__UNROLLED lam_status take_outputs(visit *v, lam_status status, lam_value *out[]) {
    for (int k = 0; k < v->slot_count && status == LAM_OK; k++) status = take_output(v, k, &out[k]);
    if (status != LAM_OK) lam__arguments_release(v->slot_count, out);
    return status;
}

/* ---- forward ----------------------------------------------------------------------------------------------------- */

/* The output that shows what input i was overwritten with: the same handle, or another one of the same value. Without
 * one the caller's handle would have nothing to show, and no derivative. */
static lam_status settle_dirty(visit *v, int i, int *shown) {
    const lam__instance *x = v->fc->instance;
    for (*shown = 0; *shown < x->outputs; ++*shown) {
        const lam_tensor *t = v->slots[*shown];
        if (t && (t == v->given[i] || t->value == v->given[i]->value)) return LAM_OK;
    }
    return lam__custom_fail(v->fc, LAM_ERR_RULE, "return it as an output",
                            "input %d is marked dirty, but is none of the outputs", i);
}

/* Whether the handle lent for input i, which was the `number`th, shows another value now. One that the callback has
 * dropped shows none, and its memory may be another tensor by now: the birth tells, since handles are lent one after
 * the other. */
static inline bool overwritten(const visit *v, int i, uint64_t number, const lam_value *in) {
    const lam_tensor *t = v->given[i];
    return t->value != in && t->magic == LAM__LIVE && t->birth == v->frame.start + number;
}

/* Every input of which something is said or seen: it fits, and by[] names the output that shows its new value, or
 * -1. */
static lam_status settle(visit *v, lam_value *const in[]) {
    lam__instance *x = v->fc->instance;
    uint64_t number = 0;
    lam_status status = LAM_OK;
    if (x->overwritten) x->overwritten->any = v->fc->marks;
    for (int i = 0; i < x->inputs && status == LAM_OK; i++) {
        int shown = -1;
        if (in[i]) {
            number++;
            if (v->fc->marked[i]) status = settle_dirty(v, i, &shown);
            else if (overwritten(v, i, number, in[i]))
                status =
                    lam__custom_fail(v->fc, LAM_ERR_RULE, "say so with lam_fctx_mark_dirty, or work on lam_alias(x)",
                                     "input %d was overwritten, but is not marked dirty", i);
        }
        if (x->overwritten && v->fc->marks) x->overwritten->by[i] = shown;
    }
    return status;
}

/* Most callbacks overwrite nothing, which a comparison of values tells. */
static inline lam_status check_overwritten(visit *v, lam_value *const in[]) {
    bool plain = !v->fc->marks;
    for (int i = 0; i < v->fc->instance->inputs && plain; i++) plain = !in[i] || v->given[i]->value == in[i];
    if (!plain) return settle(v, in);
    if (v->fc->instance->overwritten) v->fc->instance->overwritten->any = false;
    return LAM_OK;
}

/* In the combined style the context holds what forward saved when this returns; forward_combined may want nothing else
 * of the run. */
lam_status lam__custom_forward(lam_fctx *fc, lam_value *const in[], lam_value *out[]) {
    lam__instance *x = fc->instance;
    visit v;
    for (int o = 0; o < x->outputs; o++) out[o] = NULL;
    enum lam__part part = x->fn.setup_context ? LAM__PART_FORWARD : LAM__PART_COMBINED;
    if (!visit_begin(&v, fc, part, x->inputs, x->outputs)) return LAM_ERR_MEMORY;
    lend(fc->ctx, x->inputs, in, v.given);
    fc->in = v.given;
    fc->out = v.slots;
    x->fn.forward(fc, v.given, v.slots);
    lam_status status = take_outputs(&v, visit_status(&v), out);
    if (status == LAM_OK && (status = check_overwritten(&v, in)) != LAM_OK) lam__arguments_release(x->outputs, out);
    if (status == LAM_OK && fc->derivative) lam__context_find_outputs(fc, in, out);
    return visit_end(&v, status);
}

/* Handles of inputs and outputs are made anew for it. A Function of the combined style has none, and nothing
 * happens. */
lam_status lam__custom_setup(lam_fctx *fc, lam_value *const in[], lam_value *const out[]) {
    lam__instance *x = fc->instance;
    visit v;
    if (!x->fn.setup_context) return LAM_OK;
    if (!visit_begin(&v, fc, LAM__PART_SETUP, x->inputs + x->outputs, 0)) return LAM_ERR_MEMORY;
    lend(fc->ctx, x->inputs, in, v.given);
    lend(fc->ctx, x->outputs, out, v.given + x->inputs);
    fc->in = v.given;
    fc->out = v.given + x->inputs;
    if (fc->until) lam__scope_hide(fc->ctx, fc->from, fc->until, true); /* NOTE [hidden intermediates] in custom.c */
    x->fn.setup_context(fc, fc->in, fc->out);
    if (fc->until) lam__scope_hide(fc->ctx, fc->from, fc->until, false);
    return visit_end(&v, visit_status(&v));
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* The type that a tangent or cotangent of input or output number k (inputs first) must have. */
static const lam_value *type_of(const lam_fctx *fc, lam_value *const own[], int k, int first) {
    return fc->types ? fc->types[k] : own[k - first];
}

/* NULL where a zero would be no tangent: of integers, and of what is left out. */
static lam_tensor *zero_of(lam_fctx *fc, const lam_value *type) {
    lam_tensor lent;
    if (!type || !lam__dtype_is_inexact(type->dtype)) return NULL;
    lam__scope_lend(&lent, fc->ctx, (lam_value *)(uintptr_t)type);
    return lam_zeros_like(&lent);
}

/* Handles of what is given; zeros for what is not, where those are wanted. differentiable[]: which may have one, or
 * with `invert` which may not. */
static inline void lend_or_zero(lam_fctx *fc, int n, lam_value *const given[], lam_value *const types[], int first,
                                const bool differentiable[], bool invert, lam_tensor *handles[]) {
    lend(fc->ctx, n, given, handles);
    for (int k = 0; k < n; k++)
        if (!handles[k] && fc->materialize && differentiable[k] != invert)
            handles[k] = zero_of(fc, type_of(fc, types, first + k, first));
}

/* Whether gx can be summed to the dims of `like`: it was broadcast from them. A rule for x + b may give g for both. */
static bool sums_to(const lam_value *gx, const lam_value *like) {
    int lead = gx->rank - like->rank;
    if (lead < 0 || gx->dtype != like->dtype) return false; /* a sum has no other dtype */
    for (int a = 0; a < like->rank; a++)
        if (like->dims[a] != 1 && like->dims[a] != gx->dims[lead + a]) return false;
    return true;
}

/* Gradient i as a value: one reference, NULL for zero or for what nobody wants. What has the type of its input is taken
 * as it is, what is larger by broadcasting is summed but for rules that must be exact, the rest is refused, also where
 * nobody wants it but the type is known. */
static lam_status take_gradient(visit *v, int i, const lam_value *like, lam_value **gx) {
    lam_fctx *fc = v->fc;
    char got[TYPE_TEXT], expected[TYPE_TEXT];
    if (!v->slots[i]) return LAM_OK; /* zero */
    if (!fc->floating[i])
        return lam__custom_fail(fc, LAM_ERR_RULE, "leave it NULL",
                                "there is a gradient for input %d, which is not a floating-point tensor", i);
    lam_status status = take(v, i, gx);
    if (status != LAM_OK || (like && lam__value_same_type(*gx, like) && fc->needs[i])) return status;
    lam_value *g = *gx;
    *gx = NULL;
    if (like && !(fc->instance->exact ? lam__value_same_type(g, like) : sums_to(g, like)))
        status = lam__custom_fail(
            fc, g->dtype == like->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE, "give it the dtype and dims of its input",
            "gradient of input %d: expected %s, got %s", i, type_text(like, expected), type_text(g, got));
    else if (fc->needs[i] && like) {
        lam_value *sum = lam__scope_peek(lam__rules_sum_to(v->slots[i], (lam_dims){like->rank, like->dims}));
        if (sum) *gx = lam__value_hold(sum);
        else status = fc->ctx->error.status;
    }
    lam__value_release(g);
    return status;
}

/* Takes the generator back to where forward found it (NOTE [draws again] in checkpoint.c); gives where it stood. */
static lam_random_state draw_again(const lam_fctx *fc, bool again) {
    const lam_random_state now = fc->ctx->random;
    if (again) fc->ctx->random = fc->random;
    return now;
}

/* fc knows which inputs need a gradient. Inside a batch the types in it are those of one example (fc->types). */
lam_status lam__custom_backward(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const g[],
                                lam_value *gx[]) {
    lam__instance *x = fc->instance;
    visit v;
    for (int i = 0; i < x->inputs; i++) gx[i] = NULL;
    if (!visit_begin(&v, fc, LAM__PART_BACKWARD, x->outputs, x->inputs)) return LAM_ERR_MEMORY;
    lend_or_zero(fc, x->outputs, g, results, x->inputs, fc->constant, true, v.given);
    const lam_random_state now = draw_again(fc, x->runs_again);
    x->fn.backward(fc, v.given, v.slots);
    if (x->runs_again) fc->ctx->random = now;
    lam_status status = visit_status(&v);
    for (int i = 0; i < x->inputs && status == LAM_OK; i++)
        status = take_gradient(&v, i, type_of(fc, in, i, 0), &gx[i]);
    if (status != LAM_OK) lam__arguments_release(x->inputs, gx);
    return visit_end(&v, status);
}

/* ---- jvp --------------------------------------------------------------------------------------------------------- */

/* Unlike a gradient a tangent must fit exactly: an output is not broadcast from anything. */
static lam_status take_tangent(visit *v, int o, const lam_value *like, lam_value **dout) {
    lam_fctx *fc = v->fc;
    char got[TYPE_TEXT], expected[TYPE_TEXT];
    if (!v->slots[o]) return LAM_OK; /* zero */
    if (fc->absent[o])
        return lam__custom_fail(fc, LAM_ERR_RULE, "leave it NULL",
                                "there is a tangent for output %d, which forward left out", o);
    if (fc->constant[o] || !lam__dtype_is_inexact(like->dtype))
        return lam__custom_fail(fc, LAM_ERR_RULE, "leave it NULL",
                                "there is a tangent for output %d, which has no derivative", o);
    lam_status status = take(v, o, dout);
    if (status != LAM_OK || lam__value_same_type(*dout, like)) return status;
    status = lam__custom_fail(fc, (*dout)->dtype == like->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                              "give it the dtype and dims of its output", "tangent of output %d: expected %s, got %s",
                              o, type_text(like, expected), type_text(*dout, got));
    lam__value_release(*dout);
    *dout = NULL;
    return status;
}

/* NULL is zero on both sides, but for zeros that the callback wants to see. */
lam_status lam__custom_jvp(lam_fctx *fc, lam_value *const in[], lam_value *const results[], lam_value *const dx[],
                           lam_value *dout[]) {
    lam__instance *x = fc->instance;
    visit v;
    for (int o = 0; o < x->outputs; o++) dout[o] = NULL;
    if (!visit_begin(&v, fc, LAM__PART_JVP, x->inputs, x->outputs)) return LAM_ERR_MEMORY;
    lend_or_zero(fc, x->inputs, dx, in, 0, fc->floating, false, v.given);
    const lam_random_state now = draw_again(fc, x->runs_again);
    x->fn.jvp(fc, v.given, v.slots);
    if (x->runs_again) fc->ctx->random = now;
    lam_status status = visit_status(&v);
    for (int o = 0; o < x->outputs && status == LAM_OK; o++)
        status = take_tangent(&v, o, type_of(fc, results, x->inputs + o, x->inputs), &dout[o]);
    if (status != LAM_OK) lam__arguments_release(x->outputs, dout);
    return visit_end(&v, status);
}

/* ---- vmap -------------------------------------------------------------------------------------------------------- */

/* Brings the axis of output o to 0..rank-1. INT_MAX is what stands there before the callback sets it. */
static lam_status check_out_axis(visit *v, int64_t size, int o, const lam_value *out, int *axis) {
    if (*axis == INT_MAX)
        return lam__custom_fail(v->fc, LAM_ERR_AXIS, "set it to an axis or to LAM_UNMAPPED", "out_axes[%d] was not set",
                                o);
    if (*axis == LAM_UNMAPPED) return LAM_OK; /* one for all examples */
    if (*axis < -out->rank || *axis >= out->rank)
        return lam__custom_fail(v->fc, LAM_ERR_AXIS, NULL, "out_axes[%d] is %d, out of range [-%d, %d)", o, *axis,
                                out->rank, out->rank);
    if (*axis < 0) *axis += out->rank;
    if (out->dims[*axis] == size) return LAM_OK;
    return lam__custom_fail(
        v->fc, LAM_ERR_SHAPE, NULL,
        "output %d has %lld elements on axis %d, which out_axes names: expected the batch size %lld", o,
        (long long)out->dims[*axis], *axis, (long long)size);
}

/* Operands and results have their batch axes; overwritten inputs are found as in forward. */
lam_status lam__custom_vmap(lam_fctx *fc, const lam_vmap_info *info, const int axes[], lam_value *const in[],
                            lam_value *out[], int out_axes[]) {
    lam__instance *x = fc->instance;
    visit v;
    for (int o = 0; o < x->outputs; o++) {
        out[o] = NULL;
        out_axes[o] = INT_MAX; /* not set */
    }
    if (!visit_begin(&v, fc, LAM__PART_VMAP, x->inputs, x->outputs)) return LAM_ERR_MEMORY;
    lend(fc->ctx, x->inputs, in, v.given);
    fc->in = v.given;
    fc->out = v.slots;
    x->fn.vmap(fc, info, axes, v.given, v.slots, out_axes);
    lam_status status = take_outputs(&v, visit_status(&v), out);
    if (status == LAM_OK) {
        status = check_overwritten(&v, in);
        for (int o = 0; o < x->outputs && status == LAM_OK; o++)
            if (out[o]) status = check_out_axis(&v, info->batch_size, o, out[o], &out_axes[o]);
        if (status != LAM_OK) lam__arguments_release(x->outputs, out);
    }
    return visit_end(&v, status);
}

/* ---- shape ------------------------------------------------------------------------------------------------------- */

static bool is_type(const lam_type *t) {
    bool valid = t->rank >= 0 && t->rank <= LAM_MAX_RANK && lam__dtype_valid((int)t->dtype);
    for (int a = 0; a < t->rank && valid; a++) valid = t->dims[a] >= 0;
    return valid;
}

/* Whether output o has a type, or is left out and has none. */
static lam_status check_type(const lam_fctx *fc, int o, const lam_type *t) {
    if (fc->absent[o] ? t->rank == -1 : is_type(t)) return LAM_OK;
    if (fc->absent[o])
        return lam__custom_fail(fc, LAM_ERR_RULE, "leave its rank -1, or do not mark it",
                                "output %d has a type, but lam_fctx_mark_absent says that it is left out", o);
    return lam__custom_fail(fc, LAM_ERR_SHAPE, NULL, "the type of output %d was not set, or is impossible", o);
}

/* No handles: types in, types out. Needed only where it is called, so a Function without it fails here and not
 * before. */
lam_status lam__custom_shape(lam_fctx *fc, const lam_type in[], lam_type out[]) {
    lam__instance *x = fc->instance;
    visit v;
    if (!visit_begin(&v, fc, LAM__PART_SHAPE, 0, 0)) return LAM_ERR_MEMORY;
    lam_status status = LAM_OK;
    for (int o = 0; o < x->outputs; o++) out[o] = (lam_type){.rank = -1}; /* not set */
    if (x->fn.shape) {
        x->fn.shape(fc, in, out);
        status = visit_status(&v);
    } else {
        status = lam__custom_fail(fc, LAM_ERR_RULE, "give it a shape callback",
                                  "the types of its outputs are needed before it runs");
    }
    for (int o = 0; o < x->outputs && status == LAM_OK; o++) status = check_type(fc, o, &out[o]);
    return visit_end(&v, status);
}
