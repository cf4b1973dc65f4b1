/* sincos: sine and cosine of one operand as two results of one call. They are each other's slopes, so that no way back
 * or forward evaluates either again, and their kernel reduces the argument once. */
#include "lib/primitives/apply.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/dispatch/dispatch.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

enum { SINE, COSINE, OUTPUTS };

/* Contiguous in, contiguous out: the kernel takes no strides. */
static lam_status eval_sincos(const lam_call_site *call, lam_value *const out[]) {
    lam_value *x = lam__value_contiguous(call->in[0]);
    if (!x) return LAM_ERR_MEMORY;
    lam__parallel_sincos(call->ctx->team, (lam_dtype)x->dtype, x->count, x->data, out[SINE]->data, out[COSINE]->data);
    lam__value_release(x);
    return LAM_OK;
}

/* A row with two results is not of the elementwise class, so dtypes are its own to refuse; the public form converts
 * integers before. */
static lam_status shape_sincos(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_float(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast to a floating dtype first", "not defined for this dtype");
    for (int o = 0; o < OUTPUTS; o++) {
        out[o].dtype = (lam_dtype)x->dtype;
        out[o].rank = x->rank;
        for (int i = 0; i < x->rank; i++) out[o].dims[i] = x->dims[i];
    }
    return LAM_OK;
}

/* -x y in one pass. */
static lam_tensor *minus_product(lam_tensor *x, lam_tensor *y) {
    return lam__times_integer_pow(x, y, 1, -1.0);
}

/* d sin = cos dx, d cos = -sin dx: two products and no elementary function. */
static void jvp_sincos(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[SINE] = lam_mul(dx[0], r->out[COSINE]);
    dout[COSINE] = minus_product(dx[0], r->out[SINE]);
}

/* gx = g_sin cos - g_cos sin, the second term and the sum in one pass each. Either result may have no cotangent. */
static void vjp_sincos(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *of_cosine = g[COSINE] ? minus_product(g[COSINE], r->out[SINE]) : NULL;
    if (!g[SINE]) gx[0] = of_cosine;
    else gx[0] = of_cosine ? lam_fma(g[SINE], r->out[COSINE], of_cosine) : lam_mul(g[SINE], r->out[COSINE]);
}

/* Elementwise in effect: the batch axis is one more, and nothing changes. */
static void batch_sincos(const lam_rule *r, lam_tensor *out[]) {
    lam_bind(r->ctx, r->primitive, NULL, 0, LAM_LIST(r->in[0]), out, OUTPUTS);
}

/* Both results are kept and the operand is not: each result's slope is the other. */
const lam_primitive lam__row_sincos = {
    .name = "sincos",
    .inputs = 1,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(SINE) | LAM_SAVE_OUT(COSINE),
    .shape = shape_sincos,
    .eval = eval_sincos,
    .jvp = jvp_sincos,
    .vjp = vjp_sincos,
    .batch = batch_sincos,
};

/* Complex numbers have no kernel for both: two rows, each with its own slope. */
static lam_status sincos_complex(lam_tensor *x, lam_tensor *out[]) {
    out[SINE] = lam_sin(x);
    out[COSINE] = lam_cos(x);
    return lam__apply_status(OUTPUTS, out);
}

/* A place that is NULL is a result not wanted, which is freed; lam__matrices_give does that for all operations of
 * several results. */
lam_status lam_sincos(lam_tensor *x, lam_tensor **sine, lam_tensor **cosine) {
    lam_tensor *out[OUTPUTS], **const places[OUTPUTS] = {sine, cosine};
    const lam_value *v = lam__scope_peek(x);
    /* The row names what is no tensor. */
    if (!v) return lam__matrices_give_failed(lam__apply1(&lam__row_sincos, NULL, 0, x), OUTPUTS, places);
    uint64_t since = lam__scope_now(x);
    if (lam__dtype_is_complex(v->dtype)) return lam__matrices_give(sincos_complex(x, out), since, OUTPUTS, out, places);
    lam_tensor *real = lam__dtype_is_inexact(v->dtype) ? x : lam_cast(x, LAM_F64);
    lam_status status = lam_bind(x->ctx, &lam__row_sincos, NULL, 0, LAM_LIST(real), out, OUTPUTS);
    return lam__matrices_give(status, since, OUTPUTS, out, places);
}
