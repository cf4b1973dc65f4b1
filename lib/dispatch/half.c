/* f16 and bf16: see half.h. A value of 16 bits has 11 or 8 bits of significance, so intermediate results in f32 are
 * rounded once at the end, and what a row does inside loses nothing more. Operands are widened whole: the memory is
 * three times that of the operand while the row runs. Elementwise rows have loops that widen block by block instead. */
#include "lib/dispatch/half.h"

#include "lib/parallel/parallel.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

/* The dtype of the half operands, which results that would be f32 get; f32 itself where two kinds meet, since neither
 * holds the other (lam__dtype_promote). */
static lam_dtype narrow_of(const lam_call_site *call) {
    lam_dtype narrow = LAM_F32;
    for (int i = 0; i < call->inputs; i++) {
        if (!call->in[i] || !lam__dtype_is_half(call->in[i]->dtype)) continue;
        if (narrow != LAM_F32 && narrow != call->in[i]->dtype) return LAM_F32;
        narrow = (lam_dtype)call->in[i]->dtype;
    }
    return narrow;
}

/* An operand that was f32 before decides: nothing is narrowed then, as in promotion. */
static bool has_single(const lam_call_site *call) {
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i] && call->in[i]->dtype == LAM_F32) return true;
    return false;
}

/* Only results that would be f32 are narrowed: indices, bools and complex numbers stay. */
static lam_dtype result_of(const lam_call_site *call, int dtype) {
    return dtype == LAM_F32 && !has_single(call) ? narrow_of(call) : (lam_dtype)dtype;
}

/* Whether the operands of an elementwise call, but the condition of a select, are of one 16-bit dtype: it has loops,
 * which widen block by block (lib/kernels/elementwise_half.c). */
static bool has_loop(const lam_call_site *call) {
    int dtype = call->in[call->inputs - 1]->dtype;
    for (int i = call->primitive->loop == LAM__LOOP_where + 1; i < call->inputs; i++)
        if (call->in[i]->dtype != dtype) return false;
    return true;
}

/* Whether evaluation goes through f32. Most calls have no such operand, so that is asked first. Views do not look at
 * elements, casts convert by their own kernel, bits are what they are, and what calls functions leaves it to the
 * operations inside. */
bool lam__half_concerns(const lam_call_site *call) {
    bool half = false;
    for (int i = 0; i < call->inputs; i++) half = half || (call->in[i] && lam__dtype_is_half(call->in[i]->dtype));
    if (!half || (call->primitive->elementwise && has_loop(call))) return false;
    const bool own = call->primitive == &lam__row_cast || call->primitive == &lam__row_bitcast;
    return !own && !call->primitive->view && !call->primitive->call;
}

/* The shape rule sees twins of the operands: the head alone, as f32. */
lam_status lam__half_shape(const lam_call_site *call, lam_shape out[]) {
    lam__scratch_area area;
    size_t n = (size_t)call->inputs;
    lam_value *twins = lam__scratch_get(&area, call->ctx, n * (sizeof *twins + sizeof(lam_value *)));
    if (!twins) return LAM_ERR_MEMORY;
    lam_value **in = (lam_value **)(void *)(twins + n);
    for (size_t i = 0; i < n; i++) {
        in[i] = call->in[i];
        if (!in[i] || !lam__dtype_is_half(in[i]->dtype)) continue;
        twins[i] = *in[i];
        twins[i].dtype = LAM_F32;
        twins[i].kind = LAM__ABSTRACT; /* there is a head only, for types */
        in[i] = &twins[i];
    }
    lam_call_site wide = *call;
    wide.in = in;
    lam_status status = lam__eval_shape(&wide, out);
    for (int o = 0; o < call->outputs && status == LAM_OK; o++) out[o].dtype = result_of(call, out[o].dtype);
    lam__scratch_put(&area);
    return status;
}

/* x in another dtype, contiguous: one new reference, or NULL with the failure recorded. */
static lam_value *converted(lam_ctx *ctx, const lam_value *x, lam_dtype dtype) {
    lam_value *out = lam__value_new(ctx, dtype, x->rank, x->dims);
    if (out && x->count)
        lam__parallel_copy(ctx->team, x->rank, x->dims, dtype, out->data, out->strides, (lam_dtype)x->dtype, x->data,
                           x->strides);
    return out;
}

/* The one rounding. All or none are given. What is narrowed is a new value; the wide one goes at once, so that of
 * several results only one is there twice. */
static lam_status narrow_results(const lam_call_site *call, lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int o = 0; o < call->outputs; o++) {
        lam_value *wide = out[o];
        lam_dtype dtype = result_of(call, wide->dtype);
        if (dtype == wide->dtype) continue;
        out[o] = converted(call->ctx, wide, dtype);
        lam__value_release(wide);
        if (!out[o]) status = LAM_ERR_MEMORY;
    }
    for (int o = 0; o < call->outputs && status != LAM_OK; o++) {
        lam__value_release(out[o]);
        out[o] = NULL;
    }
    return status;
}

/* lam__eval again, whose operands then are not of 16 bits, so it comes here once only. */
lam_status lam__half_eval(const lam_call_site *call, lam_value *out[]) {
    lam__scratch_area area;
    lam_status status = LAM_OK;
    lam_value **in = lam__scratch_get(&area, call->ctx, (size_t)call->inputs * sizeof *in);
    if (!in) return LAM_ERR_MEMORY;
    for (int i = 0; i < call->inputs; i++) {
        bool half = status == LAM_OK && lam__dtype_is_half(call->in[i]->dtype);
        in[i] = half ? converted(call->ctx, call->in[i], LAM_F32) : lam__value_hold(call->in[i]);
        if (!in[i]) status = LAM_ERR_MEMORY;
    }
    lam_call_site wide = *call;
    wide.in = in;
    if (status == LAM_OK) status = lam__eval(&wide, out);
    if (status == LAM_OK) status = narrow_results(call, out);
    for (int i = 0; i < call->inputs; i++) lam__value_release(in[i]);
    lam__scratch_put(&area);
    return status;
}
