/* Elementwise calls that take less than a pass for each: a function with its derivative, and products with 1. */
#include "lib/dispatch/dispatch.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"

/* Two results from one pass. For one element it is not worth a second value. */
lam_value *lam__elementwise_sloped(const lam_primitive *p, const lam_value *x, lam_value **slope) {
    const lam__loop_id id = (lam__loop_id)(p->loop - 1);
    if (x->kind != LAM__CONCRETE || !x->contiguous || x->rank > LAM__INLINE_AXES || x->count < 2) return NULL;
    lam__pair_loop *loop = lam__dtype_is_float(x->dtype) ? lam__kernels_sloped(id, (lam_dtype)x->dtype) : NULL;
    lam_value *out = loop ? lam__value_like(x, (lam_dtype)x->dtype) : NULL;
    *slope = out ? lam__value_like(x, (lam_dtype)x->dtype) : NULL;
    if (!*slope) {
        lam__value_release(out);
        return NULL;
    }
    lam__parallel_sloped(lam__full(x)->ctx->team, id, (lam_dtype)x->dtype, loop, x->count, x->data, out->data,
                         (*slope)->data);
    return out;
}

/* Whether all elements are one, which is 1: what sums send back to their terms. */
static bool is_spread_1(const lam_value *x) {
    for (int i = 0; i < x->rank; i++)
        if (x->strides[i] && x->dims[i] != 1) return false;
    return x->count > 1 && lam__dtype_load(x->dtype, x->data) == 1;
}

/* The other operand itself: nothing is rounded, and nothing moved. */
lam_value *lam__elementwise_by_one(const lam_primitive *p, lam_value *x, lam_value *y) {
    if (p->loop != LAM__LOOP_mul + 1 || x->kind != LAM__CONCRETE || y->kind != LAM__CONCRETE || x->dtype != y->dtype ||
        !lam__dtype_is_float(x->dtype) || !lam__value_same_dims(x, y))
        return NULL;
    return is_spread_1(x) ? lam__value_hold(y) : is_spread_1(y) ? lam__value_hold(x) : NULL;
}
