/* Rows that go element by element through long functions: see pointwise.h. */
#include "lib/primitives/pointwise.h"

#include "lib/primitives/apply.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rules.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* A row has kernels for real numbers or for complex ones, as it says. Dims are looked at as well: broadcasting is the
 * wrapper's, so that kernels go through all operands by one number. */
lam_status lam__pointwise_shape(const lam_call_site *call, lam_shape out[]) {
    const int dtype = call->in[0]->dtype;
    for (int i = 1; i < call->inputs; i++)
        if (!lam__value_same_type(call->in[0], call->in[i]))
            return lam_rule_fail(call, LAM_ERR_SHAPE, "operands must be of one type");
    if (call->primitive->takes_complex ? !lam__dtype_is_complex(dtype) : !lam__dtype_is_float(dtype))
        return lam_rule_fail(call, LAM_ERR_DTYPE, "there is no kernel for this dtype");
    return lam__apply_shape_as(call->in[0], (lam_dtype)dtype, out);
}

/* What the workers share. Operands and result have no gaps and one count, so one number k serves all. */
typedef struct elements {
    const lam_value *in[LAM__POINTWISE_MOST], *out;
    int inputs;
    const void *params;
    lam__pointwise *f;
} elements;

/* Functions of this kind take hundreds of nanoseconds, so that all numbers go through the widest type costs nothing
 * that counts. The dtype is that of the result, which all operands share. */
static lam_c128 load(int dtype, const void *data, int64_t k) {
    switch (dtype) {
    case LAM_F64: return (lam_c128){((const double *)data)[k], 0};
    case LAM_F32: return (lam_c128){((const float *)data)[k], 0};
    case LAM_C128: return (lam_c128){((const double *)data)[2 * k], ((const double *)data)[2 * k + 1]};
    default: return (lam_c128){((const float *)data)[2 * k], ((const float *)data)[2 * k + 1]};
    }
}

/* Rounded once, from the widest type. */
static void store(int dtype, void *data, int64_t k, lam_c128 value) {
    if (dtype == LAM_F64) ((double *)data)[k] = value.re;
    if (dtype == LAM_F32) ((float *)data)[k] = (float)value.re;
    if (dtype == LAM_C128) ((double *)data)[2 * k] = value.re, ((double *)data)[2 * k + 1] = value.im;
    if (dtype == LAM_C64) ((float *)data)[2 * k] = (float)value.re, ((float *)data)[2 * k + 1] = (float)value.im;
}

/* No element is bad by itself: what is not defined is NaN. Calls of f are independent, so threads change no bit. */
static int64_t some(const void *env, int64_t begin, int64_t end, void *room) {
    const elements *e = env;
    const int dtype = e->out->dtype;
    (void)room;
    for (int64_t k = begin; k < end; k++) {
        lam_c128 x[LAM__POINTWISE_MOST];
        for (int i = 0; i < e->inputs; i++) x[i] = load(dtype, e->in[i]->data, k);
        store(dtype, e->out->data, k, e->f(e->params, x));
    }
    return -1;
}

/* Element after element, shared among threads by what one of them costs. `cost` is in the units of
 * lam__matrices_each. */
lam_status lam__pointwise_eval(const lam_call_site *call, lam_value *const out[], lam__pointwise *f, double cost) {
    elements e = {.out = out[0], .inputs = call->inputs, .params = call->params, .f = f};
    lam_value *in[LAM__POINTWISE_MOST] = {NULL};
    lam_status status = LAM_OK;
    /* Not looked at, as no element is bad. */
    int64_t bad;
    for (int i = 0; i < call->inputs; i++) {
        e.in[i] = in[i] = lam__value_contiguous(call->in[i]);
        if (!in[i]) status = LAM_ERR_MEMORY;
    }
    if (status == LAM_OK && out[0]->count)
        status = lam__matrices_each(call->ctx, out[0]->count, cost, 0, some, &e, &bad);
    for (int i = 0; i < call->inputs; i++) lam__value_release(in[i]);
    return status;
}

/* Each example has all operands of its own. Those that have none are repeated, which costs little beside functions of
 * this kind. Parameters stay as they are: they say nothing of axes. */
void lam__pointwise_batch(const lam_rule *r, lam_tensor *out[], size_t bytes) {
    lam_tensor *in[LAM__POINTWISE_MOST];
    for (int i = 0; i < r->inputs; i++) in[i] = lam__rules_with_batch(r, i);
    out[0] = lam__apply(r->primitive, r->params, bytes, r->inputs, in);
}

/* Rows take operands of one type; broadcasting before them is a view, whose derivative sums back. in[] is written to:
 * it becomes the operands as the row has them. */
lam_tensor *lam__pointwise_call(const lam_primitive *row, const void *params, size_t bytes, lam_tensor *in[]) {
    uint64_t since = lam__scope_now(in[0]);
    const int n = row->inputs;
    int64_t dims[LAM_MAX_RANK];
    lam_tensor *failed;
    int rank;
    if (!lam__matrices_ordered(row->name, true, (size_t)n, in, &failed)) return failed;
    if (!lam__apply_common((lam_list){(size_t)n, in}, &rank, dims))
        return lam__matrices_fail(row->name, (size_t)n, in, LAM_ERR_SHAPE, NULL, "the operands do not broadcast");
    for (int i = 0; i < n; i++) in[i] = lam_broadcast_to(in[i], (lam_dims){rank, dims});
    return lam__scope_only(lam__apply(row, params, bytes, n, in), since);
}
