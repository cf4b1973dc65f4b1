/* The way back through a recorded while of a batch of small examples, compiled: one example after the other, each by
 * the way back of one (nested_unwound.c), which takes its own number of trips. Large batches, and large examples, are
 * left to the checkpoint, which makes each operation for all of them at once. */
#include "transforms/nested.h"

#include "lib/base/context.h"
#include "lib/primitives/apply.h"
#include "lib/tensor/dtype.h"
#include "transforms/arguments.h"
#include "transforms/batch.h"

#include <string.h>

/* Operations one by one cost several times what compiled ones do as long as they are small: so many examples, of so
 * many elements each, are faster one by one. The elements are those of all operands of one example together. */
enum { MOST_EXAMPLES = 8, MOST_ELEMENTS = 512 };

/* Held. */
typedef struct each_env {
    lam_fn *one;
} each_env;

/* `one` is held by the function that calls it, and by nobody else here. */
static void each_free(lam_ctx *ctx, void *env) {
    (void)ctx;
    lam__fn_release(((each_env *)env)->one);
}

/* Example k of v, which has the batch at an axis or not at all; one reference. A view, whose gaps are the compiled
 * function's to copy if it has to. */
static lam_value *example_of(lam_value *v, int axis, int64_t k) {
    int64_t dims[LAM_INNER_RANK], strides[LAM_INNER_RANK];
    int rank = 0;
    if (axis == LAM_UNMAPPED) return lam__value_hold(v);
    for (int i = 0; i < v->rank; i++)
        if (i != axis) dims[rank] = v->dims[i], strides[rank++] = v->strides[i];
    return lam__value_view(v, rank, dims, strides, k * v->strides[axis]);
}

/* Puts y, result of example k, into its row of all, which is made when it is first asked for. Rows of one result have
 * one type, as results of one compiled function. */
static bool put(lam_ctx *ctx, lam_value *y, int64_t k, int64_t size, lam_value **all) {
    int64_t dims[LAM_INNER_RANK + 1] = {size};
    for (int i = 0; i < y->rank; i++) dims[i + 1] = y->dims[i];
    if (!*all) *all = lam__value_new(ctx, (lam_dtype)y->dtype, y->rank + 1, dims);
    lam_value *row = *all ? lam__value_contiguous(y) : NULL;
    if (!row) return false;
    const size_t bytes = (size_t)row->count * lam__dtype_bytes(row->dtype);
    if (bytes) memcpy((char *)(*all)->data + (size_t)k * bytes, row->data, bytes);
    lam__value_release(row);
    return true;
}

/* All examples; *plain: results are, so far. x[], y[]: room for operands and results of one. y[] is cleared behind each
 * example: the next call finds no results of the one before. */
static lam_status run_examples(lam_fn *back, lam_fn *one, lam_value *const in[], lam_value *x[], lam_value *y[],
                               lam_value *all[], bool *plain) {
    const lam__batch *batch;
    const int *axes = lam__batch_axes_of(back, &batch);
    const int n = back->inputs, m = back->outputs;
    lam_status status = LAM_OK;
    for (int64_t k = 0; k < batch->size && status == LAM_OK && *plain; k++) {
        bool fine = true;
        for (int i = 0; i < n; i++) fine = (x[i] = example_of(in[i], axes[i], k)) && fine;
        status = fine ? lam__fn_call(one, (size_t)n, x, (size_t)m, y) : LAM_ERR_MEMORY;
        *plain = status == LAM_OK && lam__nested_is_plain(m, y);
        for (int o = 0; o < m && *plain && status == LAM_OK; o++)
            if (!put(back->ctx, y[o], k, batch->size, &all[o])) status = LAM_ERR_MEMORY;
        lam__arguments_release(n, x);
        lam__arguments_release(m, y);
        memset(y, 0, (size_t)m * sizeof *y);
    }
    return status;
}

/* What is not plain is left to the checkpoint's function, as in body_unwound. Rows that were made before something
 * turned out not to be plain are thrown away, and the batch begins anew. */
static void body_each(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_fn *back = lam__fn_base(env);
    lam__scratch_area area;
    const size_t n = (size_t)back->inputs, m = (size_t)back->outputs;
    lam_value **v = lam__scratch_get(&area, ctx, 2 * (n + m) * sizeof *v);
    if (!v) return;
    memset(v, 0, 2 * (n + m) * sizeof *v);
    lam_value **x = v + n, **y = x + n, **all = y + m;
    lam_status status = lam__arguments_values(ctx, back->inputs, in, v) ? LAM_OK : ctx->error.status;
    bool plain = status == LAM_OK && lam__nested_is_plain(back->inputs, v);
    if (plain) status = run_examples(back, ((each_env *)env)->one, v, x, y, all, &plain);
    if (status == LAM_OK && !plain) {
        lam__arguments_release((int)m, all);
        (void)lam_call(back, (lam_list){n, in}, out, m);
    } else {
        if (status != LAM_OK) lam__arguments_release((int)m, all), memset(all, 0, m * sizeof *all);
        lam__arguments_give(ctx, status, back->outputs, all, out);
    }
    lam__scratch_put(&area);
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* What an operand is like of one example, held. No elements are needed: the function is compiled for dtype and dims. */
static lam_value *type_of(lam_ctx *ctx, const lam_value *v, int axis) {
    int64_t dims[LAM_INNER_RANK];
    int rank = 0;
    for (int i = 0; i < v->rank; i++)
        if (i != axis) dims[rank++] = v->dims[i];
    return lam__value_abstract(ctx, (lam_dtype)v->dtype, rank, dims);
}

/* Types of all operands; *elements: of these together. All are filled as far as memory goes, so that the caller can
 * release the list in any case. */
static bool find_types(const lam_fn *back, const int axes[], lam_value *const in[], lam_value *types[],
                       int64_t *elements) {
    bool fine = true;
    *elements = 0;
    for (int i = 0; i < back->inputs; i++) {
        fine = (types[i] = type_of(back->ctx, in[i], axes[i])) && fine;
        if (types[i]) *elements += types[i]->count;
    }
    return fine;
}

/* What is made is the batch's function to everybody else, and holds the one for an example. */
static lam_status derive(lam_fn *back, lam_fn *one, lam_fn **made) {
    const each_env e = {lam__fn_retain(one)};
    *made = lam__fn_derive(
        back->ctx, &(lam__derived){"unwound", back, body_each, back->inputs, back->outputs, &e, sizeof e, each_free});
    if ((*made)->magic == LAM__FN) return LAM_OK;
    lam__fn_release(one);
    return LAM_ERR_MEMORY;
}

/* A batch with a name may be seen from inside, one of a chunk or of lanes stands for a part of something; and results
 * that are not batched in front would have to be found elsewhere. These stay with the checkpoint. *made is left as it
 * is where the batch does not fit, which is no failure. */
lam_status lam__nested_unwound_each(lam_fn *back, lam_value *const in[], const lam_jit_options *options,
                                    lam_fn **made) {
    const lam__batch *batch;
    const int *axes = lam__batch_axes_of(back, &batch);
    bool fits = !batch->axis_name && !batch->whole && !batch->crew && batch->size > 0 && batch->size <= MOST_EXAMPLES;
    for (int o = 0; o < back->outputs; o++) fits = fits && axes[back->inputs + o] == 0;
    if (!fits) return LAM_OK;
    lam_value **types = (lam_value **)(void *)lam__apply_room(back->ctx, (size_t)back->inputs);
    if (!types) return LAM_ERR_MEMORY;
    memset(types, 0, (size_t)back->inputs * sizeof *types);
    lam_fn *one = NULL;
    int64_t elements;
    lam_status status = find_types(back, axes, in, types, &elements) ? LAM_OK : LAM_ERR_MEMORY;
    if (status == LAM_OK && elements <= MOST_ELEMENTS)
        status = lam__nested_unwound(lam__fn_base(back->env), types, options, &one);
    lam__arguments_release(back->inputs, types);
    return status == LAM_OK && one ? derive(back, one, made) : status;
}
