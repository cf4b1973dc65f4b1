/* lam_vmap: which inputs are mapped, how large the batch is, chunks. The level itself is batch.c. A vmap is a function
 * around its base: what depends on the options is checked when it is made, what depends on the inputs when it is
 * called. Inputs that are not mapped are the same for all examples and cost nothing beside them. */
#include "transforms/arguments.h"
#include "transforms/batch.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <string.h>

/* The options, made plain: axes as far as they can be without inputs. The batch is that of a call but for its size. */
typedef struct vmap_env {
    lam__batch batch; /* size: as asked for, 0 to take it from the inputs, LAM_ZERO_SIZE */
    int64_t chunk;    /* examples at once; 0: all */
    size_t name_bytes;
    int axes[]; /* per input as given, then per output */
} vmap_env;

/* The name is a copy; vmap_env itself belongs to the function. */
static void vmap_free(lam_ctx *ctx, void *env) {
    vmap_env *e = env;
    if (e->batch.axis_name) lam__alloc_put(&ctx->pool, (void *)(uintptr_t)e->batch.axis_name, e->name_bytes);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* One entry per input or output: no list gives 0 for all, a single entry serves all. Numbers are taken as given: which
 * axis a negative one means is known with the input's rank. */
static bool axes_spread(const lam_fn *f, const char *which, lam_axes given, int n, int out[]) {
    const int count = given.count || given.items ? given.count : 1;
    if (given.count && !given.items) {
        lam__error_set(f->ctx, LAM_ERR_OPTION, "give one entry, or one for each",
                       "vmap: %s of '%s' is a count without items", which, f->name);
        return false;
    }
    if (count != n && count != 1) {
        lam__error_set(f->ctx, LAM_ERR_OPTION, "give one entry, or one for each",
                       "vmap: %s of '%s' has %d entries for %d %s", which, f->name, given.count, n,
                       *which == 'i' ? "inputs" : "outputs");
        return false;
    }
    for (int i = 0; i < n; i++) out[i] = given.items ? given.items[count == 1 ? 0 : i] : 0;
    return true;
}

/* Whether an entry stands for several, or for none as its LAM_RANGE was impossible. */
static bool is_range(int entry) {
    return entry == LAM__RANGE_BAD || LAM__IS_RANGE(entry);
}

/* The lists of a user may hold ranges. A single entry that is a number serves all, so a list of ranges is looked for
 * only where there are more. */
static bool axes_collect(const lam_fn *f, const char *which, lam_axes given, int n, int out[]) {
    if (given.count == 1 && given.items && !is_range(given.items[0])) return axes_spread(f, which, given, n, out);
    bool ranges = false;
    for (int i = 0; given.items && i < given.count; i++) ranges = ranges || is_range(given.items[i]);
    if (!ranges) return axes_spread(f, which, given, n, out);
    lam__error_set(f->ctx, LAM_ERR_OPTION, "write the axes one by one",
                   "vmap: %s of '%s' holds a LAM_RANGE, which names numbers, not axes", which, f->name);
    return false;
}

/* What can be judged without inputs. LAM_ZERO_SIZE stands for a batch of none, since 0 is the default of the field.
 * randomness is compared as a number, since C lets an enum hold any. */
static bool options_valid(const lam_fn *f, const lam_vmap_options *o) {
    const char *wrong = o->chunk_size < 0 ? "chunk_size" : o->axis_size < LAM_ZERO_SIZE ? "axis_size" : NULL;
    long long value = o->chunk_size < 0 ? (long long)o->chunk_size : (long long)o->axis_size;
    if ((int)o->randomness < 0 || o->randomness > LAM_RANDOMNESS_DIFFERENT) wrong = "randomness", value = o->randomness;
    if (wrong)
        lam__error_set(f->ctx, LAM_ERR_OPTION,
                       *wrong == 'r' ? "name one of lam_randomness" : "give a positive number, or 0 for the default",
                       "vmap: %s of '%s' cannot be %lld", wrong, f->name, value);
    return !wrong;
}

/* ---- the batch -------------------------------------------------------------------------------------------------- */

/* The axis of input i as 0..rank-1. An input that is left out has none, whatever the option says. Which of the ranks is
 * meant by a negative number depends on the input, so this is done for each call. */
static lam_status axis_of(const lam_fn *f, int i, const lam_value *v, int given, int *axis) {
    *axis = given;
    if (given == LAM_UNMAPPED) return LAM_OK;
    if (!v) {
        *axis = LAM_UNMAPPED;
        return LAM_OK;
    }
    if (given >= -v->rank && given < v->rank) {
        if (given < 0) *axis += v->rank;
        return LAM_OK;
    }
    const char *remedy = "map another axis, or say LAM_UNMAPPED in in_axes";
    if (!v->rank)
        return lam__error_set(f->ctx, LAM_ERR_AXIS, remedy, "vmap: input %d of '%s' has rank 0, and no axis to map", i,
                              f->name);
    return lam__error_set(f->ctx, LAM_ERR_AXIS, remedy,
                          "vmap: in_axes of input %d of '%s' is %d, out of range [-%d, %d)", i, f->name, given, v->rank,
                          v->rank);
}

/* Names every mapped input, since it cannot be known which of them is wrong. */
static lam_status fail_sizes(const lam_fn *f, lam_value *const in[], const int axes[], int64_t asked) {
    char text[768];
    lam__text t = {text, sizeof text, 0};
    if (asked >= 0) lam__error_append(&t, "axis_size is %lld", (long long)asked);
    for (int i = 0; i < f->inputs; i++)
        if (axes[i] != LAM_UNMAPPED)
            lam__error_append(&t, "%sinput %d has %lld on axis %d", t.used ? ", " : "", i,
                              (long long)in[i]->dims[axes[i]], axes[i]);
    return lam__error_set(f->ctx, LAM_ERR_SHAPE,
                          "all mapped axes must have one size; in_axes says LAM_UNMAPPED of what has no batch axis",
                          "vmap of '%s': batch sizes differ: %s", f->name, text);
}

/* The size of the batch from the option and the mapped inputs, which must all agree. Without either there is none to
 * know. The first mapped input says it where the option does not. */
static lam_status size_of(const lam_fn *f, lam_value *const in[], const int axes[], int64_t asked, int64_t *size) {
    int64_t wanted = asked == LAM_ZERO_SIZE ? 0 : asked > 0 ? asked : -1;
    *size = wanted;
    for (int i = 0; i < f->inputs; i++) {
        if (axes[i] == LAM_UNMAPPED) continue;
        int64_t own = in[i]->dims[axes[i]];
        if (*size >= 0 && own != *size) return fail_sizes(f, in, axes, wanted);
        *size = own;
    }
    if (*size >= 0) return LAM_OK;
    return lam__error_set(f->ctx, LAM_ERR_OPTION, "map an input, or give axis_size", "vmap: no input of '%s' is mapped",
                          f->name);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Examples first..first+count-1 of v: one reference, NULL after recording a failure. A view where v is concrete. By a
 * public operation on a lent handle, so v may belong to any level. */
static lam_value *slice_of(lam_ctx *ctx, lam_value *v, int axis, int64_t first, int64_t count) {
    lam_tensor lent;
    lam__scope_lend(&lent, ctx, v);
    lam_value *part = lam__scope_peek(lam_slice_axis(&lent, axis, first, first + count));
    return part ? lam__value_hold(part) : NULL;
}

/* The parts of one output put together along its batch axis; unmapped outputs are those of the first chunk, since they
 * do not depend on the example. The option counts axes of the whole output, as the user sees it. */
static lam_value *join(int64_t parts, lam_tensor **handles, int axis) {
    if (axis == LAM_UNMAPPED) {
        lam_value *first = lam__scope_peek(handles[0]);
        return first ? lam__value_hold(first) : NULL;
    }
    int rank = lam_rank(handles[0]);
    lam_value *whole =
        lam__scope_peek(lam_concatenate((lam_list){(size_t)parts, handles}, axis < 0 ? axis + rank : axis));
    return whole ? lam__value_hold(whole) : NULL;
}

/* One chunk after the other, each of which sees the draws of the whole: the generator goes back to where it stood, and
 * each chunk knows its place in the batch (`whole`, `first`), so a draw gives the part of it. parts: room for outputs *
 * chunks handles, which belong to the caller's scope; work: room for inputs and outputs. After the last chunk the
 * generator stands where the whole batch would have left it. */
static lam_status run_chunks(lam_fn *f, const lam__batch *batch, int64_t chunk, int64_t chunks, lam_value *const in[],
                             const int axes[], const int out_axes[], lam_tensor **parts, lam_value **work) {
    lam_ctx *ctx = f->ctx;
    lam_status status = LAM_OK;
    const lam_random_state random = ctx->random;
    for (int64_t c = 0; c < chunks && status == LAM_OK; c++) {
        lam__batch one = *batch;
        int64_t first = c * chunk;
        ctx->random = random;
        one.whole = batch->size; /* NOTE [generator] in lib/dispatch/draw.h */
        one.first = first;
        one.size = batch->size - first < chunk ? batch->size - first : chunk;
        lam_value **out = work + f->inputs;
        for (int i = 0; i < f->inputs; i++) {
            work[i] = !in[i]                    ? NULL
                      : axes[i] == LAM_UNMAPPED ? lam__value_hold(in[i])
                                                : slice_of(ctx, in[i], axes[i], first, one.size);
            if (in[i] && !work[i]) status = lam__error_last(ctx);
        }
        if (status == LAM_OK) status = lam__batch_run(f, &one, work, axes, out, out_axes);
        lam__arguments_release(f->inputs, work);
        for (int o = 0; o < f->outputs && status == LAM_OK; o++) parts[o * chunks + c] = lam__scope_handle(ctx, out[o]);
    }
    return status;
}

/* Chunks bound the memory of what f makes on the way, not that of its outputs, which are there twice at the end: as
 * parts and put together. Parts of an output lie side by side in the list, one for each chunk. */
static lam_status chunked(lam_fn *f, const lam__batch *batch, int64_t chunk, lam_value *const in[], const int axes[],
                          lam_value *out[], const int out_axes[]) {
    lam_ctx *ctx = f->ctx;
    const int64_t chunks = batch->size / chunk + (batch->size % chunk != 0);
    lam__scratch_area area;
    lam_value **work = lam__scratch_get(&area, ctx, (size_t)(f->inputs + f->outputs) * sizeof *work);
    if (!work) return LAM_ERR_MEMORY;
    lam_scope scope;
    lam__scope_open(ctx, &scope);
    lam_tensor **parts = lam__apply_rooms(ctx, f->outputs, chunks);
    lam_status status =
        parts ? run_chunks(f, batch, chunk, chunks, in, axes, out_axes, parts, work) : lam__error_last(ctx);
    for (int o = 0; o < f->outputs && status == LAM_OK; o++)
        if (!(out[o] = join(chunks, parts + o * chunks, out_axes[o]))) status = lam__error_last(ctx);
    lam__scope_close(&scope);
    lam__scratch_put(&area);
    return status;
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* axes[]: room for one per input; the batch axes as found, 0..rank-1. A chunk as large as the batch is the batch. */
static lam_status run_vmap(lam_fn *f, const vmap_env *e, lam_value *const in[], int axes[], lam_value *out[]) {
    lam_status status = LAM_OK;
    lam__batch batch = e->batch;
    for (int i = 0; i < f->inputs && status == LAM_OK; i++) status = axis_of(f, i, in[i], e->axes[i], &axes[i]);
    if (status == LAM_OK) status = size_of(f, in, axes, e->batch.size, &batch.size);
    if (status != LAM_OK) return status;
    const int *out_axes = e->axes + f->inputs;
    if (e->chunk && e->chunk < batch.size) return chunked(f, &batch, e->chunk, in, axes, out, out_axes);
    return lam__batch_run(f, &batch, in, axes, out, out_axes); /* out_axes are checked when outputs have ranks */
}

/* NULL inputs go to a base that takes them. Values and axes lie in one block, with the axes behind, which need no more
 * alignment than these. */
static void body_vmap(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *f = lam__fn_base(env);
    lam__scratch_area area;
    size_t values = (size_t)(f->inputs + f->outputs),
           bytes = values * sizeof(lam_value *) + (size_t)f->inputs * sizeof(int);
    lam_value **v = lam__scratch_get(&area, ctx, bytes);
    if (!v) return;
    memset(v, 0, bytes);
    lam_value **results = v + f->inputs;
    lam_status status = ctx->error.status;
    if (lam__arguments_values(ctx, f->inputs, in, v))
        status = run_vmap(f, env, v, (int *)(void *)(v + values), results);
    lam__arguments_give(ctx, status, f->outputs, results, out);
    lam__scratch_put(&area);
}

/* On failure nothing is owned. The lists of axes are filled after the struct is assigned: where addresses have 32 bits
 * they begin in its last padding. */
static bool env_fill(lam_fn *f, const lam_vmap_options *o, vmap_env *e) {
    *e = (vmap_env){.batch = {.size = o->axis_size, .randomness = o->randomness}, .chunk = o->chunk_size};
    if (!axes_collect(f, "in_axes", o->in_axes, f->inputs, e->axes) ||
        !axes_collect(f, "out_axes", o->out_axes, f->outputs, e->axes + f->inputs))
        return false;
    if (!o->axis_name) return true;
    e->name_bytes = strlen(o->axis_name) + 1;
    char *name = lam__alloc_get(&f->ctx->pool, e->name_bytes);
    if (name) memcpy(name, o->axis_name, e->name_bytes);
    else lam__error_memory(f->ctx, e->name_bytes);
    e->batch.axis_name = name;
    return name != NULL;
}

/* The env is copied into the function with its lists behind it. A function that could not be made has not taken over
 * the name either. */
lam_fn *lam_vmap(lam_fn *f, const lam_vmap_options *options) {
    static const lam_vmap_options none;
    const lam_vmap_options *o = options ? options : &none;
    lam_ctx *ctx = lam__fn_check("vmap", f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (!options_valid(f, o)) return ctx->failed_fn;
    lam__scratch_area area;
    size_t bytes = sizeof(vmap_env) + (size_t)(f->inputs + f->outputs) * sizeof(int);
    vmap_env *e = lam__scratch_get(&area, ctx, bytes);
    lam_fn *made = ctx->failed_fn;
    if (e && env_fill(f, o, e)) {
        lam__derived d = {"vmap", f, body_vmap, f->inputs, f->outputs, e, bytes, vmap_free};
        made = lam__fn_derive(ctx, &d);
        if (made->magic != LAM__FN) vmap_free(ctx, e);
    }
    lam__scratch_put(&area);
    return made;
}

/* For rules of staged primitives: what they call is mapped as the call itself is, and a part of a batch stays the part
 * that it is. LAM_ZERO_SIZE because a size of 0 would be taken from the inputs. */
lam_fn *lam__batch_mapped(lam_fn *f, const lam__batch *batch, const int axes[], const int out_axes[]) {
    lam_fn *mapped = lam_vmap(f, &(lam_vmap_options){.in_axes = {f->inputs, axes},
                                                     .out_axes = {out_axes ? f->outputs : 0, out_axes},
                                                     .axis_size = batch->size ? batch->size : LAM_ZERO_SIZE,
                                                     .axis_name = batch->axis_name,
                                                     .randomness = batch->randomness});
    if (mapped->magic != LAM__FN) return mapped;
    /* What no option says. The function is new, so its env may still be written. */
    vmap_env *e = mapped->env;
    e->batch.whole = batch->whole;
    e->batch.first = batch->first;
    e->batch.stands_for = batch->stands_for;
    e->batch.only_types = batch->only_types;
    return mapped;
}

/* A chunk is not all examples at once, so a vmap that goes by chunks is no such function. */
const int *lam__batch_axes_of(const lam_fn *f, const lam__batch **batch) {
    const vmap_env *e = f->body == body_vmap ? f->env : NULL;
    if (!e || e->chunk) return NULL;
    *batch = &e->batch;
    return e->axes;
}
