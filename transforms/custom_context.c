/* Contexts of custom Functions: what one application keeps at one level, and what callbacks may ask of it. A context is
 * counted; the node of a tape has one, a dual level lets go of it at once. Which callback may call what is one test
 * here (check_part), after the table at the head of lamina/function.h.
 * What is saved are values, held, of the level below the one served; data are copied. Nothing saved refers to the level
 * itself, so a context outlives it, as a pullback does. Flags for inputs and outputs lie in the context's own block. */
#include "transforms/custom.h"

#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* The context and behind it its flags: needs, floating and marked of each input, constant and absent of each output. By
 * the instance alone, so that a release needs to keep no size. */
static size_t context_bytes(const lam__instance *x) {
    return sizeof(lam_fctx) + (size_t)(3 * x->inputs + 2 * x->outputs) * sizeof(bool);
}

/* `floating` is noted here because the operands may be gone, or abstract, when a rule runs. The state of the generator
 * is kept for rules that run the function again (runs_again). */
lam_fctx *lam__context_new(lam__instance *x, const bool needs[], lam_value *const in[]) {
    size_t bytes = context_bytes(x);
    lam_fctx *fc = lam__alloc_get(&x->ctx->pool, bytes);
    if (!fc) {
        lam__error_memory(x->ctx, bytes);
        return NULL;
    }
    lam__context_set_fields(fc, x, needs != NULL);
    fc->random = x->ctx->random;
    fc->needs = (bool *)(fc + 1);
    fc->floating = fc->needs + x->inputs;
    for (int i = 0; i < x->inputs; i++) {
        fc->needs[i] = needs && needs[i];
        fc->floating[i] = in[i] && lam__dtype_is_inexact(in[i]->dtype);
    }
    lam__context_set_marks(fc, fc->floating + x->inputs, x);
    lam__custom_hold(x);
    return fc;
}

/* Values and, behind them, their handles and the outputs that they are; room for one at least. One list is one block,
 * whose size follows from its count. */
static size_t saved_bytes(int count) {
    return (size_t)(count ? count : 1) * (sizeof(lam_value *) + sizeof(lam_tensor *) + sizeof(int));
}

/* Room for one at least, too. */
static size_t kept_bytes(const lam__instance *x) {
    return (size_t)(x->inputs ? x->inputs : 1) * sizeof(lam_value *);
}

/* For contexts that own what they have collected: not for copies. */
void lam__context_free_parts(lam_fctx *fc) {
    lam_ctx *ctx = fc->ctx;
    lam__instance *x = fc->instance;
    for (int mode = 0; mode < LAM__FOR_BOTH; mode++) {
        lam__saved *s = &fc->saved[mode];
        if (!s->values) continue;
        lam__arguments_release(s->count, s->values);
        lam__alloc_put(&ctx->pool, s->values, saved_bytes(s->count));
    }
    for (lam__datum *d = fc->data, *next; d; d = next) {
        next = d->next;
        lam__alloc_put(&ctx->pool, d, d->bytes);
    }
    if (fc->types) {
        lam__arguments_release(x->inputs + x->outputs, fc->types);
        lam__alloc_put(&ctx->pool, fc->types, (size_t)(x->inputs + x->outputs) * sizeof *fc->types);
    }
    if (fc->batched) lam__alloc_put(&ctx->pool, fc->batched, (size_t)fc->batched_count + 1);
    if (!fc->kept) return;
    lam__arguments_release(x->inputs, fc->kept);
    lam__alloc_put(&ctx->pool, fc->kept, kept_bytes(x));
}

/* A copy gives up its own block and its copy of the chain; all else belongs to the context that it was made from, which
 * lives longer. The instance goes last: its counts say how long the block is. */
void lam__context_release(lam_fctx *fc) {
    if (!fc || --fc->refs) return;
    lam_ctx *ctx = fc->ctx;
    lam__instance *x = fc->instance;
    if (fc->inner) lam__context_release(fc->inner); /* as deep as vmap levels nest */
    if (!fc->copy) lam__context_release_parts(fc);
    lam__alloc_put(&ctx->pool, fc, context_bytes(x));
    lam__custom_release(x);
}

/* What forward has marked, and what it did not set. */
void lam__context_note_absent(lam_fctx *fc, lam_value *const out[]) {
    for (int o = 0; o < fc->instance->outputs; o++) {
        fc->absent[o] = !out[o];
        fc->constant[o] = fc->constant[o] || !out[o];
    }
}

/* The Function itself is there; contexts around it map it. */
lam_fctx *lam__context_innermost(lam_fctx *fc) {
    while (fc->inner) fc = fc->inner;
    return fc;
}

/* A rule of a mapped Function sees its saved values as boxes of the batch level that it runs on, which differ from run
 * to run. So it runs with copies of the contexts, of which the innermost shows those boxes; flags and data are the
 * original's. */
lam_fctx *lam__context_with(lam_fctx *fc, lam_value *const values[]) {
    size_t bytes = context_bytes(fc->instance);
    lam_fctx *inner = fc->inner ? lam__context_with(fc->inner, values) : NULL;
    lam_fctx *copy = fc->inner && !inner ? NULL : lam__alloc_get(&fc->ctx->pool, bytes);
    if (!copy) {
        if (!fc->inner || inner) lam__error_memory(fc->ctx, bytes);
        lam__context_release(inner);
        return NULL;
    }
    *copy = *fc;
    copy->refs = 1;
    copy->copy = true;
    copy->inner = inner;
    copy->part = LAM__PART_NONE;
    lam__custom_hold(fc->instance);
    for (int mode = 0; mode < LAM__FOR_BOTH && !inner; mode++) {
        copy->saved[mode].values = (lam_value **)(uintptr_t)values;
        values += fc->saved[mode].count;
    }
    return copy;
}

/* Where value v is among n, shown by handle t unless that is NULL; -1: nowhere. Handles tell two inputs apart that are
 * one value. */
static int place_of(int n, lam_value *const values[], lam_tensor *const handles[], const lam_value *v,
                    const lam_tensor *t) {
    int k = 0;
    while (k < n && (values[k] != v || (t && handles[k] != t))) k++;
    return k < n ? k : -1;
}

/* The output that saved value v is, or -1. The handle that was saved tells first, since an output may be an input as it
 * came: then each has its own derivative, the one of the Function. By the value alone an input comes first, which every
 * level has already. */
static int saved_output(const lam_fctx *fc, lam_value *const in[], lam_value *const out[], const lam_value *v,
                        const lam_tensor *t) {
    int n = fc->instance->inputs, m = fc->instance->outputs;
    if (place_of(n, in, fc->in, v, t) >= 0) return -1;
    int o = place_of(m, out, fc->out, v, t);
    if (o >= 0 || place_of(n, in, fc->in, v, NULL) >= 0) return o;
    return place_of(m, out, fc->out, v, NULL);
}

void lam__context_find_outputs(const lam_fctx *fc, lam_value *const in[], lam_value *const out[]) {
    for (int mode = 0; mode < LAM__FOR_BOTH; mode++)
        for (int k = 0; k < fc->saved[mode].count; k++) {
            const lam__saved *s = &fc->saved[mode];
            if (s->values[k]) s->outputs[k] = saved_output(fc, in, out, s->values[k], s->handles[k]);
        }
}

/* Holds the new value and lets go of the old one. What forward saved of a mapped Function was made physical with one
 * bit for its batch axis; an output of this level has that axis in any case. */
void lam__context_replace_outputs(lam_fctx *fc, lam_value *const out[]) {
    const lam_fctx *holder = lam__context_innermost(fc);
    int number = 0;
    for (int mode = 0; mode < LAM__FOR_BOTH; mode++) {
        const lam__saved *s = &holder->saved[mode];
        for (int k = 0; k < s->count; k++, number++) {
            if (s->outputs[k] < 0) continue;
            lam__value_release(s->values[k]);
            s->values[k] = lam__value_hold(out[s->outputs[k]]);
            for (lam_fctx *f = fc; f->inner; f = f->inner) f->batched[number] = true;
        }
    }
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

enum {
    SAVING = LAM__PART_COMBINED | LAM__PART_SETUP,
    READING = LAM__PART_BACKWARD | LAM__PART_JVP,
    OVERWRITING = LAM__PART_FORWARD | LAM__PART_COMBINED | LAM__PART_VMAP,
    GIVING = OVERWRITING | LAM__PART_SHAPE
};

/* Whether the callback that runs may make this call; otherwise records it. With no callback running `part` is
 * LAM__PART_NONE, which is in no set, so a context that somebody has kept aside is refused too. */
static lam_status check_part(const lam_fctx *fc, int parts, const char *call) {
    if (!fc) return LAM_ERR_NULL;
    if (fc->part & parts) return LAM_OK;
    const char *remedy = fc->part == LAM__PART_FORWARD
                             ? "return it as an output and save it in setup_context, or leave setup_context out"
                             : NULL;
    return lam__custom_fail(fc, LAM_ERR_RULE, remedy, "%s may not be called here", call);
}

/* Holds the values of the list for a mode. Called at most once for each: `done` is seen before. outputs[] is filled in
 * later, when the outputs are there (lam__context_find_outputs). */
static lam_status hold_saved(lam_fctx *fc, int mode, lam_list list) {
    int count = (int)list.count;
    size_t bytes = saved_bytes(count);
    lam_value **values = lam__alloc_get(&fc->ctx->pool, bytes);
    if (!values) return lam__error_memory(fc->ctx, bytes);
    lam_tensor **handles = (lam_tensor **)(void *)(values + count);
    fc->saved[mode] = (lam__saved){true, count, values, handles, (int *)(void *)(handles + count)};
    for (int k = 0; k < count; k++) {
        handles[k] = list.items[k];
        values[k] = handles[k] ? lam__value_hold(handles[k]->value) : NULL;
        fc->saved[mode].outputs[k] = -1;
    }
    return LAM_OK;
}

/* Inputs that are not floating, and the types of floating ones that have no tangent. */
lam_status lam__context_keep(lam_fctx *fc, lam_value *const in[]) {
    const lam__instance *x = fc->instance;
    lam_value **kept = lam__alloc_get(&fc->ctx->pool, kept_bytes(x));
    if (!kept) return lam__error_memory(fc->ctx, kept_bytes(x));
    lam_status status = LAM_OK;
    fc->kept = kept;
    for (int i = 0; i < x->inputs; i++) {
        lam_value *v = in[i];
        kept[i] = NULL;
        if (!v || fc->needs[i]) continue;
        kept[i] =
            fc->floating[i] ? lam__value_abstract(fc->ctx, (lam_dtype)v->dtype, v->rank, v->dims) : lam__value_hold(v);
        if (!kept[i]) status = LAM_ERR_MEMORY;
    }
    return status;
}

/* A live handle of this context, since a value of another one would end with that; NOTE [hidden intermediates] in
 * custom.c says what else is refused, and why. Births are numbers that rise with each handle. */
static lam_status check_saved(const lam_fctx *fc, const char *call, size_t i, lam_tensor *t) {
    lam_value *v;
    lam_tensor *failed;
    if (!t) return LAM_OK;
    bool hidden = t->birth > fc->from && t->birth <= fc->until;
    if (hidden && t->ctx == fc->ctx)
        return lam__custom_fail(fc, LAM_ERR_RULE, "return it as an output of forward",
                                "%s: tensor %zu was made inside forward and is not one of its outputs", call, i);
    const lam_ctx *where = lam__scope_operands(call, 1, &t, &v, &failed);
    if (where == fc->ctx) return LAM_OK;
    if (!where && fc->ctx->error.status != LAM_OK) return fc->ctx->error.status;
    return lam__custom_fail(fc, LAM_ERR_CONTEXT, "copy the data over with lam_read and lam_array",
                            "%s: mixed contexts: tensor %zu belongs to another one", call, i);
}

/* Whether the part that runs may make this call, and its list is one. */
static lam_status check_list(lam_fctx *fc, int parts, const char *call, lam_list list) {
    const lam_status status = check_part(fc, parts, call);
    return status != LAM_OK || list.items || !list.count
               ? status
               : lam__custom_fail(fc, LAM_ERR_NULL, NULL, "%s: a count without items", call);
}

/* Values are held, not copied: they never change. Without a derivative nothing is kept, but mistakes are seen all the
 * same, so that a Function that works without gradients does not fail only when they are wanted. */
static lam_status save(lam_fctx *fc, int mode, const char *call, lam_list list) {
    lam_status status = check_list(fc, SAVING, call, list);
    if (status != LAM_OK) return status;
    lam__saved *s = &fc->saved[mode];
    if (s->done) return lam__custom_fail(fc, LAM_ERR_RULE, "save everything in one call", "%s was called twice", call);
    for (size_t i = 0; i < list.count; i++)
        if ((status = check_saved(fc, call, i, list.items[i])) != LAM_OK) return status;
    s->done = true;
    return fc->derivative ? hold_saved(fc, mode, list) : LAM_OK;
}

/* For backward first; jvp reads this list where it has none of its own. */
lam_status lam_fctx_save_for_backward(lam_fctx *fc, lam_list list) {
    return save(fc, LAM__FOR_BACKWARD, "lam_fctx_save_for_backward", list);
}

lam_status lam_fctx_save_for_forward(lam_fctx *fc, lam_list list) {
    return save(fc, LAM__FOR_JVP, "lam_fctx_save_for_forward", list);
}

/* What the running callback reads: its own list, or the other one if there is none. So a Function with both rules may
 * save once for the two of them. Where neither was saved it is empty. */
static const lam__saved *readable(const lam_fctx *fc) {
    int own = fc->part == LAM__PART_JVP ? LAM__FOR_JVP : LAM__FOR_BACKWARD;
    return &fc->saved[fc->saved[own].done ? own : LAM__FOR_BOTH - 1 - own];
}

/* A new handle in the callback's scope each time. NULL for what was saved as NULL, and a failed tensor for what was not
 * saved. */
lam_tensor *lam_fctx_saved(lam_fctx *fc, int i) {
    if (check_part(fc, READING, "lam_fctx_saved") != LAM_OK) return fc ? &fc->ctx->failed : &lam__context_failed.failed;
    const lam__saved *s = readable(fc);
    if (i >= 0 && i < s->count) return s->values[i] ? lam__scope_handle(fc->ctx, lam__value_hold(s->values[i])) : NULL;
    lam__custom_fail(fc, LAM_ERR_RULE, NULL, "lam_fctx_saved: tensor %d is asked for, %d were saved", i, s->count);
    return &fc->ctx->failed;
}

/* What is not a rule has nothing to read: 0, without a failure, so that it can be asked anywhere. */
int lam_fctx_saved_count(const lam_fctx *fc) {
    return fc && fc->part & READING ? readable(fc)->count : 0;
}

/* ---- plain data -------------------------------------------------------------------------------------------------- */

/* Name and bytes lie in one block behind the link. An older datum of the same name stays behind it until the context
 * ends. */
lam_status lam_fctx_set_data(lam_fctx *fc, const char *name, const void *bytes, size_t size) {
    lam_status status = check_part(fc, SAVING, "lam_fctx_set_data");
    if (status != LAM_OK) return status;
    if (!name || (!bytes && size))
        return lam__custom_fail(fc, LAM_ERR_NULL, NULL, "lam_fctx_set_data: the name or the data is NULL");
    size_t letters = strlen(name) + 1, block = sizeof(lam__datum) + size + letters;
    lam__datum *d = lam__alloc_get(&fc->ctx->pool, block);
    if (!d) return lam__error_memory(fc->ctx, block);
    *d = (lam__datum){.next = fc->data, .bytes = block, .size = size}; /* found before an older one of the same name */
    d->name = d->data + size;
    if (size) memcpy(d->data, bytes, size);
    memcpy(d->name, name, letters);
    fc->data = d;
    return LAM_OK;
}

/* The address is stable as long as the context lives, and aligned for any type. No failure where there is none of this
 * name: a rule may ask. */
const void *lam_fctx_data(const lam_fctx *fc, const char *name, size_t *size) {
    if (size) *size = 0;
    for (const lam__datum *d = fc ? fc->data : NULL; d && name; d = d->next)
        if (!strcmp(d->name, name)) {
            if (size) *size = d->size;
            return d->data;
        }
    return NULL;
}

/* ---- marks ------------------------------------------------------------------------------------------------------- */

/* Marks by handle: those given to the callback are compared, not their values, since two inputs may be one value. Only
 * noted here; what comes of it is decided when forward has returned. */
lam_status lam_fctx_mark_dirty(lam_fctx *fc, lam_list list) {
    lam_status status = check_list(fc, OVERWRITING, "lam_fctx_mark_dirty", list);
    for (size_t k = 0; k < list.count && status == LAM_OK; k++) {
        int i = 0;
        while (i < fc->instance->inputs && (!list.items[k] || fc->in[i] != list.items[k])) i++;
        if (i < fc->instance->inputs) fc->marked[i] = fc->marks = true;
        else
            status = lam__custom_fail(fc, LAM_ERR_RULE, "mark the handles that forward was given",
                                      "lam_fctx_mark_dirty: tensor %zu is not an input", k);
    }
    return status;
}

/* Marks by handle, among the outputs that are set by now. */
lam_status lam_fctx_mark_non_differentiable(lam_fctx *fc, lam_list list) {
    lam_status status = check_list(fc, SAVING, "lam_fctx_mark_non_differentiable", list);
    for (size_t k = 0; k < list.count && status == LAM_OK; k++) {
        int o = 0;
        while (o < fc->instance->outputs && (!list.items[k] || fc->out[o] != list.items[k])) o++;
        if (o < fc->instance->outputs) fc->constant[o] = true;
        else
            status = lam__custom_fail(fc, LAM_ERR_RULE, "set the outputs first, then mark them",
                                      "lam_fctx_mark_non_differentiable: tensor %zu is not an output", k);
    }
    return status;
}

/* Marks outputs first to first+count-1; number is what the caller wrote. A mark is for this application only: each
 * level and each example makes its own. Compared without adding, so that no sum overflows. */
static lam_status mark_absent(lam_fctx *fc, int first, int count, int number) {
    int m = fc->instance->outputs;
    if (first < 0) first += m;
    if (first < 0 || count > m - first)
        return lam__custom_fail(fc, LAM_ERR_RULE, NULL, "lam_fctx_mark_absent: output %d is out of range [-%d, %d)",
                                number, m, m);
    for (int o = first; o < first + count; o++) fc->absent[o] = true;
    return LAM_OK;
}

/* Numbers rather than handles, because what is left out has none. Negative ones count from the end, ranges are of
 * LAM_RANGE. */
lam_status lam_fctx_mark_absent(lam_fctx *fc, lam_axes outputs) {
    lam_status status = check_part(fc, GIVING, "lam_fctx_mark_absent");
    if (status == LAM_OK && outputs.count && !outputs.items)
        status = lam__custom_fail(fc, LAM_ERR_NULL, NULL, "lam_fctx_mark_absent: a count without items");
    for (int k = 0; k < outputs.count && status == LAM_OK; k++) {
        int item = outputs.items[k];
        status = LAM__IS_RANGE(item) ? mark_absent(fc, LAM__RANGE_FIRST(item), LAM__RANGE_COUNT(item),
                                                   LAM__RANGE_FIRST(item) + LAM__RANGE_COUNT(item) - 1)
                                     : mark_absent(fc, item, 1, item);
    }
    return status;
}

/* Holds for backward and jvp alike. */
lam_status lam_fctx_set_materialize_grads(lam_fctx *fc, bool materialize) {
    lam_status status = check_part(fc, SAVING, "lam_fctx_set_materialize_grads");
    if (status == LAM_OK) fc->materialize = materialize;
    return status;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

/* Without a derivative there is no needs[] worth reading, and in a visitor none at all. */
bool lam_fctx_needs_input_grad(const lam_fctx *fc, int i) {
    return fc && fc->derivative && i >= 0 && i < fc->instance->inputs && fc->needs[i];
}

lam_ctx *lam_fctx_ctx(const lam_fctx *fc) {
    return fc ? fc->ctx : &lam__context_failed;
}

/* The copy in the instance, of which all applications that share it have the same. */
const void *lam_fctx_attrs(const lam_fctx *fc) {
    return fc ? fc->instance->attrs : NULL;
}

int lam_fctx_inputs(const lam_fctx *fc) {
    return fc ? fc->instance->inputs : 0;
}

int lam_fctx_outputs(const lam_fctx *fc) {
    return fc ? fc->instance->outputs : 0;
}
