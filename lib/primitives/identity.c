/* Identities: primitives that give their operand's elements under the same dims, and differ from it in what the machine
 * or a derivative may see of it. */
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/value.h"

#include <lamina/ops.h>

/* The type of the operand. */
static lam_status shape_same(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    out->dtype = (lam_dtype)x->dtype;
    out->rank = x->rank;
    for (int i = 0; i < x->rank; i++) out->dims[i] = x->dims[i];
    return LAM_OK;
}

/* Nothing moves: the same strides from the same place. */
static bool view_same(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    *offset = 0;
    for (int i = 0; i < out->rank; i++) strides[i] = call->in[0]->strides[i];
    return true;
}

/* Nothing depends on which axis is the batch. */
static void batch_stop_gradient(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam_stop_gradient(r->in[0]);
}

/* Shares everything with an identity but the derivative, which is left at none: no node is made, and what x depends on
 * need not be kept for it. */
const lam_primitive lam__row_stop_gradient = {
    .name = "stop_gradient",
    .inputs = 1,
    .takes_complex = true,
    .shape = shape_same,
    .view = view_same,
    .batch = batch_stop_gradient,
};

/* The value of x as a constant of all levels above: rules use it for choices that have no slope. */
lam_tensor *lam_stop_gradient(lam_tensor *x) {
    return lam__apply1(&lam__row_stop_gradient, NULL, 0, x);
}

/* False for an operand with gaps: the machine then makes it contiguous and asks again, which is all that this row is
 * for. */
static bool view_contiguous(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset) {
    return call->in[0]->contiguous && view_same(call, out, strides, offset);
}

/* An identity of elements, so the cotangent passes with whatever strides it has. */
static void vjp_contiguous(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    (void)r;
    gx[0] = g[0];
}

static void batch_contiguous(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam_contiguous(r->in[0]);
}

/* Not an identity to the machine: what comes after may rely on there being no gaps. */
const lam_primitive lam__row_contiguous = {
    .name = "contiguous",
    .inputs = 1,
    .takes_complex = true,
    .derivative = LAM_LINEAR,
    .linear = 1u,
    .shape = shape_same,
    .view = view_contiguous,
    .vjp = vjp_contiguous,
    .batch = batch_contiguous,
};

/* Costs nothing where there are no gaps: the result then shares the operand's memory. */
lam_tensor *lam_contiguous(lam_tensor *x) {
    return lam__apply1(&lam__row_contiguous, NULL, 0, x);
}
