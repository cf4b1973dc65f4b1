/* Reductions over any set of axes. keepdims is a reshape behind, so that the rows need one parameter only: the set. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/rows.h"

#include "lib/kernels/kernels.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

static lam__axis_set set_of(const void *params) {
    return *(const lam__axis_set *)params;
}

static lam_status shape_reduction(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = 0;
    for (int i = 0; i < x->rank; i++)
        if (!(set_of(call->params) >> i & 1u)) out->dims[out->rank++] = x->dims[i];
    return LAM_OK;
}

static lam_status eval_reduction(const lam_call_site *call, lam_value *const out[], lam__reduce_id id) {
    const lam_value *x = call->in[0];
    bool reduced[LAM_INNER_RANK];
    for (int i = 0; i < x->rank; i++) reduced[i] = set_of(call->params) >> i & 1u;
    lam__kernels_reduce(id, (lam_dtype)x->dtype, x->rank, x->dims, reduced, x->data, x->strides, out[0]->data);
    return LAM_OK;
}

/* r with the reduced axes back as axes of one element, so that it broadcasts against the operand. */
static lam_tensor *restore(lam_tensor *r, lam__axis_set set, lam_dims like) {
    int64_t dims[LAM_INNER_RANK];
    for (int i = 0; i < like.rank; i++) dims[i] = set >> i & 1u ? 1 : like.dims[i];
    return lam__apply_reshape(r, like.rank, dims);
}

static lam_tensor *reduction(const lam_primitive *row, lam_tensor *x, const lam_reduce_options *options) {
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    lam__axis_set set;
    if (!lam__axes_collect_set(row->name, x, o->axes, lam_rank(x), &set)) return lam__axes_failed(x);
    lam_tensor *out = lam__apply1(row, &set, sizeof set, x);
    return o->keepdims && !lam_failed(out) ? restore(out, set, lam_dims_of(x)) : out;
}

/* The same reduction behind a batch axis. */
static lam_tensor *behind_batch(const lam_rule *r) {
    lam__axis_set set = set_of(r->params) << 1;
    return lam__apply1(r->primitive, &set, sizeof set, r->in[0]);
}

static void batch_reduction(const lam_rule *r, lam_tensor *out[]) {
    out[0] = behind_batch(r);
}

/* ---- sum ----------------------------------------------------------------------------------------------------- */

static lam_status eval_sum(const lam_call_site *call, lam_value *const out[]) {
    return eval_reduction(call, out, LAM__REDUCE_SUM);
}

static void vjp_sum(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_dims own = lam_dims_of(r->in[0]);
    gx[0] = lam__apply_broadcast(restore(g[0], set_of(r->params), own), own.rank, own.dims);
}

const lam_primitive lam__row_sum = {
    .name = "sum", .inputs = 1, .derivative = LAM_LINEAR, .linear = 1u,
    .shape = shape_reduction, .eval = eval_sum, .vjp = vjp_sum, .batch = batch_reduction,
};

lam_tensor *lam_sum(lam_tensor *x, const lam_reduce_options *options) {
    lam_value *v = lam__scope_peek(x);
    if (v && v->dtype == LAM_BOOL) x = lam_cast(x, LAM_I64);
    return reduction(&lam__row_sum, x, options);
}
