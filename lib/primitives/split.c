/* split_sizes: the parts of a tensor along one axis as outputs of one call, so that its way back is one concatenation
 * of their cotangents. Taking the parts by slices has the same values, but every slice sends back a tensor of zeros. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__split_params split_params;

/* Sizes in use only. */
static size_t split_bytes(int32_t given) {
    return sizeof(split_params) + (size_t)given * sizeof(int64_t);
}

/* The sizes were found to add up by the public form; as a row for rules it trusts them. */
static lam_status shape_split_sizes(const lam_call_site *call, lam_shape out[]) {
    const split_params *p = call->params;
    const lam_value *x = call->in[0];
    int axis = x->rank - p->from_end;
    for (int o = 0; o < call->outputs; o++) {
        out[o].dtype = (lam_dtype)x->dtype;
        out[o].rank = 0;
        for (int i = 0; i < x->rank; i++)
            if (i != axis) out[o].dims[out[o].rank++] = x->dims[i];
            else if (p->given) out[o].dims[out[o].rank++] = p->sizes[o];
    }
    return LAM_OK;
}

/* Parts without gaps stay where they are; those with gaps are worth a copy, since everything after reads them. One part
 * with gaps makes copies of all. Of an empty operand all parts are made anew, since offsets within it mean nothing.
 * Axes of one element may have any stride. */
static bool view_split_sizes(const lam_call_site *call, const lam_shape out[], int64_t strides[], int64_t offset[]) {
    const split_params *p = call->params;
    const lam_value *x = call->in[0];
    int axis = x->rank - p->from_end;
    int64_t first = 0;
    for (int o = 0; o < call->outputs; o++, strides += LAM_INNER_RANK) {
        int64_t step = 1;
        for (int i = 0, n = 0; i < x->rank; i++)
            if (i != axis || p->given) strides[n++] = x->strides[i];
        for (int i = out[o].rank - 1; i >= 0; i--) {
            if (out[o].dims[i] != 1 && strides[i] != step) return false;
            step *= out[o].dims[i];
        }
        /* In elements from the first of x, as the machine wants it. */
        offset[o] = first;
        first += x->strides[axis] * (p->given ? p->sizes[o] : 1);
    }
    return x->count > 0;
}

/* Parts are read where they lie in x, `from` being the first element of each. Results have no gaps, so the outputs are
 * copied one after the other. */
static lam_status eval_split_sizes(const lam_call_site *call, lam_value *const out[]) {
    const split_params *p = call->params;
    const lam_value *x = call->in[0];
    const char *from = x->data;
    int axis = x->rank - p->from_end;
    int64_t strides[LAM_INNER_RANK], step = x->strides[axis] * (int64_t)lam__dtype_bytes(x->dtype);
    /* All parts have the same strides: those of x, without the axis where it goes. */
    for (int i = 0, n = 0; i < x->rank; i++)
        if (i != axis || p->given) strides[n++] = x->strides[i];
    for (int o = 0; o < call->outputs; o++) {
        if (out[o]->count)
            lam__parallel_copy(call->ctx->team, out[o]->rank, out[o]->dims, (lam_dtype)x->dtype, out[o]->data,
                               out[o]->strides, (lam_dtype)x->dtype, from, strides);
        from += step * (p->given ? p->sizes[o] : 1);
    }
    return LAM_OK;
}

/* The transpose of splitting is concatenating. A part that nothing depended on has no cotangent and gives zeros. By
 * position from the end, as in the parameters; a dropped axis comes back by stacking. Without room nothing is given,
 * and the failure has been recorded. */
static void vjp_split_sizes(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const split_params *p = r->params;
    lam_tensor **parts = lam__apply_room(r->ctx, (size_t)r->outputs);
    for (int o = 0; parts && o < r->outputs; o++) parts[o] = g[o] ? g[o] : lam_zeros_like(r->out[o]);
    if (!parts) return;
    lam_list list = {(size_t)r->outputs, parts};
    gx[0] = p->given ? lam_concatenate(list, -p->from_end) : lam_stack(list, -p->from_end);
}

/* The axis is counted from the end, so the parameters serve with a batch axis in front as they are. */
static void batch_split_sizes(const lam_rule *r, lam_tensor *out[]) {
    const split_params *p = r->params;
    lam_bind(r->ctx, r->primitive, p, split_bytes(p->given), LAM_LIST(r->in[0]), out, (size_t)r->outputs);
}

/* Has view and eval: the machine asks the view first. Reads nothing on the way back but the dims of parts without a
 * cotangent. */
const lam_primitive lam__row_split_sizes = {
    .name = "split_sizes",
    .inputs = 1,
    .outputs = LAM_VARIADIC,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_split_sizes,
    .view = view_split_sizes,
    .eval = eval_split_sizes,
    .vjp = vjp_split_sizes,
    .batch = batch_split_sizes,
    .layout = "i from_end, #i given, l sizes[given]",
};

/* Every out[] a failed tensor; the status of the failure. Places that are not there are not written to. */
static lam_status give_failed(lam_tensor *failed, lam_tensor **out, size_t n_out) {
    for (size_t o = 0; out && o < n_out; o++) out[o] = failed;
    return lam__apply_status(1, &failed);
}

/* The checks that both operations share. NULL when all is well, otherwise what to return. A NULL `out` is allowed where
 * no parts are asked for. */
static lam_tensor *check(const char *operation, lam_tensor *x, int *axis, lam_tensor **out, size_t n_out) {
    /* The row is asked, with no parameters, since it names a missing or freed operand as every call does. */
    if (!lam__scope_peek(x)) return lam__apply1(&lam__row_split_sizes, NULL, 0, x);
    if (!out && n_out) return lam__axes_fail(operation, x, LAM_ERR_NULL, "out is NULL");
    /* The list of sizes has eight bytes for each, and int32_t counts it. */
    if (n_out > INT32_MAX / 8) return lam__axes_fail(operation, x, LAM_ERR_OVERFLOW, "%zu parts are too many", n_out);
    return lam__apply_axis(operation, x, lam_rank(x), axis) ? NULL : lam__axes_failed(x);
}

/* Elements along the axis as parts without it. As many results as elements are asked for, because a caller's array of
 * another length is a mistake that nothing else would find. */
lam_status lam_unstack(lam_tensor *x, int axis, lam_tensor **out, size_t n_out) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *failed = check("unstack", x, &axis, out, n_out);
    if (!failed && lam_dim(x, axis) != (int64_t)n_out)
        failed = lam__axes_fail("unstack", x, LAM_ERR_ARITY,
                                "axis %d has %lld elements, room is for %zu (for larger parts: lam_split_sizes)", axis,
                                (long long)lam_dim(x, axis), n_out);
    if (failed) return give_failed(lam__scope_named(failed, since), out, n_out);
    /* No parts of an axis of none: a call without results cannot be made. */
    if (!n_out) return LAM_OK;
    split_params p = {.from_end = lam_rank(x) - axis};
    return lam_bind(lam_ctx_of(x), &lam__row_split_sizes, &p, sizeof p, LAM_LIST(x), out, n_out);
}

/* Fills the sizes of the parts; false after recording that they are not those of the axis. Each size is compared with
 * what is left, so no sum can overflow. */
static bool collect_sizes(lam_tensor *x, int axis, const int64_t *sizes, size_t parts, split_params *p) {
    int64_t left = lam_dim(x, axis);
    for (size_t o = 0; o < parts; o++) {
        if (sizes[o] < 0 || sizes[o] > left) break;
        p->sizes[o] = sizes[o];
        left -= sizes[o];
        if (o + 1 == parts && left == 0) return true;
    }
    lam__axes_fail("split_sizes", x, LAM_ERR_SHAPE, "the sizes of the %zu parts do not add up to the %lld of axis %d",
                   parts, (long long)lam_dim(x, axis), axis);
    return false;
}

/* Parts of sizes that must add up to the axis. The parameters are as long as the list, so they lie in scratch memory
 * that lasts for this call; whoever keeps the call copies them. Sizes of 0 are allowed and give empty parts. */
lam_status lam_split_sizes(lam_tensor *x, int axis, const int64_t *sizes, lam_tensor **out, size_t n_out) {
    lam_tensor *failed = check("split_sizes", x, &axis, out, n_out);
    if (!failed && (!sizes || !n_out)) failed = lam__axes_fail("split_sizes", x, LAM_ERR_NULL, "no sizes given");
    if (failed) return give_failed(failed, out, n_out);
    lam_ctx *ctx = lam_ctx_of(x);
    lam__scratch_area area;
    split_params *p = lam__scratch_get(&area, ctx, split_bytes((int32_t)n_out));
    if (!p) return give_failed(&ctx->failed, out, n_out);
    p->from_end = lam_rank(x) - axis;
    p->given = (int32_t)n_out;
    lam_status status =
        collect_sizes(x, axis, sizes, n_out, p)
            ? lam_bind(ctx, &lam__row_split_sizes, p, split_bytes((int32_t)n_out), LAM_LIST(x), out, n_out)
            : give_failed(lam__axes_failed(x), out, n_out);
    lam__scratch_put(&area);
    return status;
}
