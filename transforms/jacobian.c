/* Jacobians: derivatives along all unit tangents or cotangents at once, by vmap over the rows of an identity; in chunks
 * of one without vmap, so that no batching rule is needed. Made of the public transforms only. A block has the dims of
 * the output, then those of the input: J[o..., i...] = d y[o...] / d x[i...].
 * Columns are J e_i by forward mode, one pass for each element of the inputs; rows are J' e_o by reverse mode, one for
 * each element of the outputs. lam_jacobian takes the fewer of the two, both from one linearisation. */
#include "transforms/arguments.h"
#include "transforms/batch.h"
#include "transforms/trace.h"

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/create.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* By columns, by rows, or by whichever is less work. */
enum mode { FORWARD, REVERSE, CHEAPER };

/* Options with the list of inputs made plain. aux: outputs that are not differentiated. chunk: rows of the basis at
 * once. */
typedef struct jacobian_env {
    enum mode mode;
    bool with_value, holomorphic;
    int aux;
    int64_t chunk; /* 0: all */
    lam_randomness randomness;
    int count; /* argnums */
    int argnums[];
} jacobian_env;

/* What one call works with; lists live in the scope of the body. */
typedef struct work {
    lam_ctx *ctx;
    lam_fn *f;
    const jacobian_env *env;
    lam_tensor *const *in;   /* f's inputs */
    lam_tensor **values;     /* f's outputs */
    int blocks;              /* f's outputs that are not auxiliary */
    lam_tensor **given;      /* to a mapped function: its inputs */
    int *axes;               /* in_axes or out_axes of it */
    lam_random_state random; /* where the generator stood at the call */
    lam_tensor **got;        /* its outputs */
} work;

/* Rows of the basis in one chunk, of n. chunk 0 is all at once. */
static int64_t step_of(const work *w, int64_t n) {
    return w->env->chunk && w->env->chunk < n ? w->env->chunk : n;
}

/* At least one, also where there is nothing to differentiate by: f has to run for the types of its blocks. */
static int64_t chunks_of(const work *w, int64_t n) {
    const int64_t step = step_of(w, n);
    return n ? n / step + (n % step != 0) : 1;
}

/* Whether the n rows of a basis are taken one by one, without batch axis: in chunks of one, or as there is but one. */
static bool one_by_one(const work *w, int64_t n) {
    return (w->env->chunk == 1 && n > 0) || n == 1;
}

/* Whether f, run for the n rows of a basis at once, draws for each: then its values are not the same for all. */
static bool draws_apart(const work *w, int64_t n) {
    return w->env->randomness == LAM_RANDOMNESS_DIFFERENT && n > 0 && !one_by_one(w, n);
}

/* f over a chunk of a basis of n rows. Without rows there is one run for the types. With one row f is called as it is,
 * so it needs no batching rule. */
static lam_fn *over_basis(const work *w, lam_fn *f, int64_t n, lam_axes in_axes, lam_axes out_axes) {
    lam_randomness randomness = w->env->randomness;
    if (!n && randomness == LAM_RANDOMNESS_DIFFERENT) randomness = LAM_RANDOMNESS_SAME;
    lam_vmap_options options = {.in_axes = in_axes, .out_axes = out_axes, .randomness = randomness};
    return one_by_one(w, n) ? f : lam_vmap(f, &options);
}

/* Rows first.. of the identity over the elements of x, each with x's dims, as [rows, dims of x]; or the one row. There
 * are no elements where types alone are asked for. */
static lam_tensor *basis(const work *w, lam_tensor *x, int64_t first) {
    int64_t n = lam_size(x), rows = n - first < step_of(w, n) ? n - first : step_of(w, n), dims[LAM_INNER_RANK];
    const lam_dims own = lam_dims_of(x);
    const int lead = !one_by_one(w, n);
    dims[0] = rows;
    for (int i = 0; i < own.rank; i++) dims[lead + i] = own.dims[i];
    lam_value *unknown;
    if (lam__trace_unknown(w->ctx, lam_dtype_of(x), own.rank + lead, dims, &unknown))
        return unknown ? lam__scope_handle(w->ctx, unknown) : &w->ctx->failed;
    return lam__apply_reshape(lam__create_eye(w->ctx, lam_dtype_of(x), first, rows, n), own.rank + lead, dims);
}

/* A matrix of out elements by in elements as the block users see. */
static lam_tensor *shape_block(lam_tensor *m, lam_tensor *out, lam_tensor *in) {
    lam_dims a = lam_dims_of(out), b = lam_dims_of(in);
    int64_t dims[LAM_INNER_RANK];
    if (a.rank + b.rank > LAM_INNER_RANK)
        return lam__error_fail(m->ctx, LAM_ERR_RANK, "a Jacobian block of %d axes is too many", a.rank + b.rank);
    for (int i = 0; i < a.rank; i++) dims[i] = a.dims[i];
    for (int i = 0; i < b.rank; i++) dims[a.rank + i] = b.dims[i];
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(out), (int)lam_dtype_of(in));
    return lam_cast(lam__apply_reshape(m, a.rank + b.rank, dims), dtype);
}

/* All elements as a matrix: where the batch axis is last or first, one of its two axes is that. A reshape of what a
 * block is made of moves nothing where that is contiguous. */
static lam_tensor *flat(lam_tensor *t, int64_t rows, int64_t columns) {
    return lam__apply_reshape(t, 2, (int64_t[]){rows, columns});
}

/* One chunk is the block. */
static lam_tensor *joined(int64_t chunks, lam_tensor **parts, int axis) {
    return chunks == 1 ? parts[0] : lam_concatenate((lam_list){(size_t)chunks, parts}, axis);
}

/* Whether input number a of argnums is floating or complex; otherwise records it. Asked before anything runs. */
static bool real_input(const work *w, const char *name, int a) {
    lam_tensor *x = w->in[w->env->argnums[a]];
    return lam__arguments_floating(name, w->f, w->env->argnums[a], lam__scope_peek(x));
}

/* Whether each output that is not auxiliary is floating or complex; known when f has run. */
static bool real_outputs(const work *w, const char *name) {
    for (int o = 0; o < w->blocks; o++) {
        const lam_value *v = lam__scope_peek(w->values[o]);
        if (!v || !lam__arguments_floating_output(name, w->f, o, v)) return false;
    }
    return true;
}

/* A column takes one number per element of the input: a complex input needs a holomorphic function, or rows. Likewise
 * a row for a complex output. */
static bool fits_columns(const work *w, const char *name, int a) {
    int i = w->env->argnums[a];
    return lam__arguments_complex(name, w->f, w->env->holomorphic, "input", i, lam__scope_peek(w->in[i]));
}

/* Asked when f has run, since outputs do not tell their dtype before. */
static bool fits_rows(const work *w, const char *name, int o) {
    const lam_value *v = lam__scope_peek(w->values[o]);
    return v && lam__arguments_complex(name, w->f, w->env->holomorphic, "output", o, v);
}

/* ---- columns: forward -------------------------------------------------------------------------------------------- */

/* What the first call gives beside tangents: values in front, auxiliary outputs behind. Where each of n columns has
 * draws of its own they are those of the first. */
static void take_values(work *w, int64_t n) {
    for (int o = 0; o < w->blocks + w->env->aux; o++) {
        lam_tensor *value = w->got[o < w->blocks ? o : w->blocks + o];
        w->values[o] = draws_apart(w, n) ? lam_index(value, 0, 0) : value;
    }
}

/* Forward mode runs f for each chunk: the generator goes back to where it was, so that all columns are of one function,
 * unless each is to have draws of its own. */
static void draw_again(const work *w) {
    if (w->env->randomness != LAM_RANDOMNESS_DIFFERENT) w->ctx->random = w->random;
}

/* Columns that are taken one by one have no vmap to refuse draws. */
static bool draws_allowed(const work *w, int64_t n) {
    bool drawn = w->ctx->random.draws != w->random.draws;
    if (!drawn || w->env->randomness != LAM_RANDOMNESS_ERROR || !one_by_one(w, n)) return true;
    return lam__batch_refuse_draw(w->ctx, w->f->name) == LAM_OK;
}

/* One chunk: calls `mapped` on the basis from row `first` of input x, tangent number k, behind `fixed` other inputs.
 * Its tangents, outputs skip.. of it, become parts [elements, rows] at a distance of `chunks`. Nothing else outlives
 * the call. */
static bool column_chunk(work *w, lam_fn *mapped, int fixed, int tangents, int k, lam_tensor *x, int64_t first,
                         int skip, lam_tensor **parts, int64_t chunks) {
    lam_scope *scope = lam_scope_begin(w->ctx);
    int outputs = mapped->outputs;
    for (int i = 0; i < tangents; i++) w->given[fixed + i] = NULL;
    w->given[fixed + k] = basis(w, x, first);
    draw_again(w);
    bool fine = lam_call(mapped, (lam_list){(size_t)(fixed + tangents), w->given}, w->got, (size_t)outputs) == LAM_OK;
    fine = fine && draws_allowed(w, lam_size(x));
    bool values = fine && skip && first == 0;
    if (values) take_values(w, lam_size(x));
    fine = fine && (!values || real_outputs(w, "jacfwd"));
    values = values && fine;
    for (int o = 0; fine && o < w->blocks; o++) {
        int64_t rows = one_by_one(w, lam_size(x)) ? 1 : lam_dim(w->got[skip + o], -1);
        parts[o * chunks] = flat(w->got[skip + o], lam_size(w->values[o]), rows);
    }
    int keep = 0;
    for (int o = 0; fine && o < w->blocks; o++) w->got[keep++] = parts[o * chunks];
    for (int o = 0; values && o < w->f->outputs; o++) w->got[keep++] = w->values[o];
    lam_scope_end(scope, w->got, (size_t)keep);
    return fine;
}

/* The columns of all blocks by argnum a, chunk by chunk: a part for each output and chunk, and parts of one output
 * joined to its block. Where the function has one tangent alone it is number 0, whichever argnum it is. */
static bool columns(work *w, lam_fn *mapped, int fixed, int a, int tangents, int skip, lam_tensor **blocks) {
    lam_tensor *x = w->in[w->env->argnums[a]];
    int64_t chunks = chunks_of(w, lam_size(x)), step = step_of(w, lam_size(x));
    lam_tensor **parts = lam__apply_rooms(w->ctx, w->blocks, chunks);
    for (int64_t c = 0; parts && c < chunks; c++)
        if (!column_chunk(w, mapped, fixed, tangents, tangents == 1 ? 0 : a, x, c * step, skip, parts + c, chunks))
            return false;
    for (int o = 0; parts && o < w->blocks; o++)
        blocks[o * w->env->count + a] = shape_block(joined(chunks, parts + o * chunks, 1), w->values[o], x);
    return parts != NULL;
}

/* Forward mode for each input apart. lam_jvp_fn gives values, tangents, auxiliary outputs; only tangents are batched,
 * at the end, so that a chunk is a matrix of columns. Values come unmapped, from the first chunk. */
static bool forward(work *w, lam_tensor **blocks) {
    const jacobian_env *e = w->env;
    int n_in = w->f->inputs, outputs = 2 * w->blocks + e->aux;
    for (int a = 0; a < e->count; a++) {
        if (!real_input(w, "jacfwd", a) || !fits_columns(w, "jacfwd", a)) return false;
        lam_fn *push = lam_jvp_fn(w->f, &(lam_grad_options){.argnums = {1, &e->argnums[a]}, .has_aux = e->aux});
        int *in_axes = w->axes, *out_axes = in_axes + n_in + 1;
        for (int i = 0; i <= n_in; i++) in_axes[i] = i < n_in ? LAM_UNMAPPED : 0;
        int64_t n = lam_size(w->in[e->argnums[a]]);
        const int beside = draws_apart(w, n) ? 0 : LAM_UNMAPPED;
        for (int o = 0; o < outputs; o++) out_axes[o] = o >= w->blocks && o < 2 * w->blocks ? -1 : beside;
        lam_fn *mapped = over_basis(w, push, n, (lam_axes){n_in + 1, in_axes}, (lam_axes){outputs, out_axes});
        for (int i = 0; i < n_in; i++) w->given[i] = w->in[i];
        if (!columns(w, mapped, n_in, a, 1, w->blocks, blocks)) return false;
    }
    return true;
}

/* ---- rows: reverse ----------------------------------------------------------------------------------------------- */

/* One chunk: the gradients along rows first.. of the basis of output o become parts [rows, elements] at a distance
 * of `chunks`. */
static bool row_chunk(work *w, lam_fn *mapped, int o, int64_t first, lam_tensor **parts, int64_t chunks) {
    const jacobian_env *e = w->env;
    lam_scope *scope = lam_scope_begin(w->ctx);
    for (int k = 0; k < w->blocks; k++) w->given[k] = NULL;
    w->given[o] = basis(w, w->values[o], first);
    bool fine = lam_call(mapped, (lam_list){(size_t)w->blocks, w->given}, w->got, (size_t)e->count) == LAM_OK;
    for (int a = 0; fine && a < e->count; a++) {
        int64_t rows = one_by_one(w, lam_size(w->values[o])) ? 1 : lam_dim(w->got[a], 0);
        w->got[a] = parts[a * chunks] = flat(w->got[a], rows, lam_size(w->in[e->argnums[a]]));
    }
    lam_scope_end(scope, w->got, fine ? (size_t)e->count : 0);
    return fine;
}

/* Runs a pullback over the basis of each output. */
static bool rows(work *w, lam_fn *pullback, lam_tensor **blocks) {
    const jacobian_env *e = w->env;
    for (int o = 0; o < w->blocks; o++) {
        int64_t n = lam_size(w->values[o]), chunks = chunks_of(w, n), step = step_of(w, n);
        lam_fn *mapped = over_basis(w, pullback, n, (lam_axes){0}, (lam_axes){0});
        lam_tensor **parts = lam__apply_rooms(w->ctx, e->count, chunks);
        for (int64_t c = 0; c < chunks; c++)
            if (!parts || !row_chunk(w, mapped, o, c * step, parts + c, chunks)) return false;
        for (int a = 0; a < e->count; a++)
            blocks[o * e->count + a] =
                shape_block(joined(chunks, parts + a * chunks, 0), w->values[o], w->in[e->argnums[a]]);
    }
    return true;
}

/* f runs once, its pullback for each chunk of each output. Rows of a complex output would be derivatives of both of its
 * parts mixed, unless f is holomorphic. */
static bool reverse(work *w, lam_tensor **blocks) {
    const jacobian_env *e = w->env;
    lam_fn *pullback;
    for (int a = 0; a < e->count; a++)
        if (!real_input(w, "jacrev", a)) return false;
    lam_grad_options options = {.argnums = {e->count, e->argnums}, .has_aux = e->aux};
    if (lam_vjp(w->f, (lam_list){(size_t)w->f->inputs, w->in}, w->values, (size_t)w->f->outputs, &pullback, &options) !=
        LAM_OK)
        return false;
    for (int o = 0; o < w->blocks; o++)
        if (!fits_rows(w, "jacrev", o)) return false;
    return rows(w, pullback, blocks);
}

/* Whether any of the first n of these, or of those that `which` names, is complex. */
static bool any_complex(lam_tensor *const list[], int n, const int *which) {
    for (int i = 0; i < n; i++)
        if (lam__dtype_is_complex((int)lam_dtype_of(list[which ? which[i] : i]))) return true;
    return false;
}

/* ---- one linearisation, the cheaper direction -------------------------------------------------------------------- */

/* One run of f with its tangents recorded; by columns the record runs forwards, by rows backwards. Complex inputs of a
 * function that is not holomorphic go by rows and complex outputs by columns, whatever is the fewer. */
static bool cheaper(work *w, lam_tensor **blocks) {
    const jacobian_env *e = w->env;
    lam_fn *linear;
    int64_t n_in = 0, n_out = 0;
    for (int a = 0; a < e->count; a++)
        if (!real_input(w, "jacobian", a)) return false;
    lam_grad_options options = {.argnums = {e->count, e->argnums}, .has_aux = e->aux};
    if (lam_linearize(w->f, (lam_list){(size_t)w->f->inputs, w->in}, w->values, (size_t)w->f->outputs, &linear,
                      &options) != LAM_OK)
        return false;
    w->random = w->ctx->random; /* what is recorded draws nothing: the generator stays where f has left it */
    if (!real_outputs(w, "jacobian")) return false;
    for (int a = 0; a < e->count; a++) n_in += lam_size(w->in[e->argnums[a]]);
    for (int o = 0; o < w->blocks; o++) n_out += lam_size(w->values[o]);
    bool by_rows = n_out < n_in;
    if (!e->holomorphic && any_complex(w->in, e->count, e->argnums)) by_rows = true;
    else if (any_complex(w->values, w->blocks, NULL) && !e->holomorphic) by_rows = false;
    for (int o = 0; by_rows && o < w->blocks; o++)
        if (!fits_rows(w, "jacobian", o)) return false;
    for (int a = 0; !by_rows && a < e->count; a++)
        if (!fits_columns(w, "jacobian", a)) return false;
    if (by_rows) {
        for (int a = 0; a < e->count; a++) w->given[a] = w->in[e->argnums[a]];
        return rows(w, lam_linear_transpose(linear, (lam_list){(size_t)e->count, w->given}), blocks);
    }
    for (int a = 0; a < e->count; a++) {
        int64_t n = lam_size(w->in[e->argnums[a]]);
        lam_fn *mapped = over_basis(w, linear, n, (lam_axes){0}, LAM_AXES(-1));
        if (!columns(w, mapped, 0, a, e->count, 0, blocks)) return false;
    }
    return true;
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* Lists of the longest lengths that any of the ways needs, in the scope of the body. */
static bool work_start(work *w) {
    size_t outputs = (size_t)w->f->outputs, in = (size_t)w->f->inputs + (size_t)w->env->count + outputs,
           out = 2 * outputs + (size_t)w->env->count;
    w->given = lam__apply_room(w->ctx, in);
    w->got = lam__apply_room(w->ctx, out);
    w->values = lam__apply_room(w->ctx, outputs);
    w->axes = (int *)(void *)lam__apply_room(w->ctx, in + out);
    return w->given && w->got && w->values && w->axes;
}

/* Outputs: values if they are asked for, blocks by outputs and within these by argnums, auxiliary ones. */
static void body_jacobian(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const jacobian_env *e = env;
    lam_fn *f = lam__fn_base(env);
    work w = {.ctx = ctx, .f = f, .env = e, .in = in, .blocks = f->outputs - e->aux, .random = ctx->random};
    int blocks = w.blocks * e->count, first = e->with_value ? w.blocks : 0;
    for (int i = 0; i < first + blocks + e->aux; i++) out[i] = &ctx->failed;
    ctx->scope->of_rule = true; /* the basis has an axis more than the user's tensors */
    if (!work_start(&w)) return;
    bool (*const run[])(work *, lam_tensor **) = {[FORWARD] = forward, [REVERSE] = reverse, [CHEAPER] = cheaper};
    if (!run[e->mode](&w, out + first)) return;
    for (int o = 0; o < first; o++) out[o] = w.values[o];
    for (int a = 0; a < e->aux; a++) out[first + blocks + a] = w.values[w.blocks + a];
}

/* What is wrong with options is said when the function is made. */
static lam_fn *jacobian_new(const char *name, enum mode mode, bool with_value, lam_fn *f,
                            const lam_jacobian_options *options) {
    static const lam_jacobian_options none;
    const lam_jacobian_options *o = options ? options : &none;
    lam_ctx *ctx = lam__fn_check(name, f);
    if (!ctx) return f ? f->ctx->failed_fn : lam__context_failed.failed_fn;
    if (!lam__arguments_aux(name, f, o->has_aux)) return ctx->failed_fn;
    if (!lam__arguments_chunk(name, f, o->chunk_size)) return ctx->failed_fn;
    if ((int)o->randomness < 0 || o->randomness > LAM_RANDOMNESS_DIFFERENT) {
        lam__error_set(ctx, LAM_ERR_OPTION, NULL, "%s: randomness of '%s' cannot be %d", name, f->name,
                       (int)o->randomness);
        return ctx->failed_fn;
    }
    lam__scratch_area area;
    jacobian_env *e = lam__scratch_get(&area, ctx, sizeof *e + (size_t)f->inputs * sizeof(int));
    if (!e) return ctx->failed_fn;
    *e = (jacobian_env){.mode = mode,
                        .with_value = with_value,
                        .aux = o->has_aux,
                        .chunk = o->chunk_size,
                        .randomness = o->randomness,
                        .holomorphic = o->holomorphic};
    e->count = lam__arguments_argnums(name, f, o->argnums, 1, e->argnums);
    int kept = f->outputs - e->aux;
    lam__derived d = {name,
                      f,
                      body_jacobian,
                      f->inputs,
                      (with_value ? kept : 0) + kept * e->count + e->aux,
                      e,
                      sizeof *e + (size_t)(e->count < 0 ? 0 : e->count) * sizeof(int),
                      NULL};
    lam_fn *made = e->count < 0 ? ctx->failed_fn : lam__fn_derive(ctx, &d);
    lam__scratch_put(&area);
    return made;
}

lam_fn *lam_jacfwd(lam_fn *f, const lam_jacobian_options *options) {
    return jacobian_new("jacfwd", FORWARD, false, f, options);
}

lam_fn *lam_jacrev(lam_fn *f, const lam_jacobian_options *options) {
    return jacobian_new("jacrev", REVERSE, false, f, options);
}

lam_fn *lam_jacobian(lam_fn *f, const lam_jacobian_options *options) {
    return jacobian_new("jacobian", CHEAPER, false, f, options);
}

lam_fn *lam_value_and_jacobian(lam_fn *f, const lam_jacobian_options *options) {
    return jacobian_new("value_and_jacobian", CHEAPER, true, f, options);
}
