/* logsumexp: the logarithm of sums of exponentials, along any set of axes. The exponentials, shifted by the largest,
 * are an output of their own: all rules are products with them, to any order, so that each is computed once. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <math.h>

/* NOTE [shifted terms]
 * With m the largest element of a sum, TERMS are exp(x - m), SUM is their sum and RESULT is m + log SUM. Derivatives
 * take
 * m for a constant, which changes none of them: d TERMS = TERMS dx, d RESULT = sum(TERMS dx) / SUM. Where m is +inf,
 * the
 * terms that are inf count 1 and the others 0; where it is -inf all terms are 0, and SUM is given as 1. */
enum { RESULT, TERMS, SUM, OUTPUTS };

static lam_status shape_logsumexp(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    if (!lam__dtype_is_float(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it first", "not defined for this dtype");
    for (int o = 0; o < OUTPUTS; o++) {
        out[o].dtype = (lam_dtype)x->dtype;
        out[o].rank = 0;
        for (int i = 0; i < x->rank; i++)
            if (o == TERMS || !lam__reduce_has(lam__reduce_set(call->params), i))
                out[o].dims[out[o].rank++] = x->dims[i];
    }
    return LAM_OK;
}

/* ---- kernel calls ------------------------------------------------------------------------------------------------ */

/* Strides that lay a result, contiguous over the kept axes, over the operand. */
static void spread(const lam_value *x, lam__axis_set set, int64_t strides[]) {
    int64_t step = 1;
    for (int i = x->rank - 1; i >= 0; i--) {
        strides[i] = lam__reduce_has(set, i) ? 0 : step;
        if (!lam__reduce_has(set, i)) step *= x->dims[i];
    }
}

/* Whether the elements of each sum lie one behind the other. */
static bool runs(const lam_value *x, lam__axis_set set) {
    int kept = 0;
    for (int i = 0; i < x->rank; i++) {
        if (!lam__reduce_has(set, i)) kept = i + 1;
        else if (kept > i) return false;
    }
    for (int i = 0; i < kept; i++)
        if (lam__reduce_has(set, i)) return false;
    return x->contiguous;
}

/* terms = exp(x - shift), in blocks that stay in the first cache between the two loops. */
static void exp_runs(const lam_value *x, int64_t sums, const char *shift, lam_value *terms) {
    enum { BLOCK = 1024 };
    lam_dtype dtype = (lam_dtype)x->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype), size = sums ? x->count / sums : 0;
    lam__loop *sub = lam__kernels_loop(LAM__LOOP_sub, dtype), *exp = lam__kernels_loop(LAM__LOOP_exp, dtype);
    static const int64_t flat[] = {1, 1}, against_one[] = {1, 1, 0};
    for (int64_t s = 0; s < sums; s++)
        for (int64_t at = 0; at < size; at += BLOCK) {
            int64_t count = size - at < BLOCK ? size - at : BLOCK, from = (s * size + at) * item;
            char *to = (char *)terms->data + from;
            sub(count, (void *[]){to, (char *)x->data + from, (void *)(uintptr_t)(shift + s * item)}, against_one,
                NULL);
            exp(count, (void *[]){to, to}, flat, NULL);
        }
}

static void exp_spread(lam_ctx *ctx, const lam_value *x, lam__axis_set set, const void *shift, lam_value *terms) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    int64_t steps[LAM_INNER_RANK];
    spread(x, set, steps);
    const int64_t *const strides[] = {terms->strides, x->strides, steps};
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    void *const p[] = {terms->data, x->data, (void *)(uintptr_t)shift};
    static const int64_t flat[] = {1, 1};
    lam__parallel_elementwise(ctx->team, LAM__LOOP_sub, lam__kernels_loop(LAM__LOOP_sub, dtype), 3, x->rank, x->dims,
                              strides, p, items, NULL);
    lam__parallel_loop(ctx->team, LAM__LOOP_exp, dtype, lam__kernels_loop(LAM__LOOP_exp, dtype), terms->count,
                       (void *const[]){terms->data, terms->data}, flat, NULL);
}

/* terms = 1 where x is inf: see NOTE [shifted terms]. */
static lam_status mark_infinities(lam_ctx *ctx, const lam_value *x, lam_value *terms) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam_value *is = lam__value_new(ctx, LAM_BOOL, x->rank, x->dims);
    const int64_t none[LAM_INNER_RANK] = {0}, *const strides[] = {terms->strides, x->strides, none};
    const size_t item = lam__dtype_bytes(dtype), items[] = {1, item, item};
    double infinity[1], one[1];
    if (!is) return LAM_ERR_MEMORY;
    lam__dtype_store(dtype, infinity, INFINITY);
    lam__dtype_store(dtype, one, 1);
    lam__parallel_elementwise(ctx->team, LAM__LOOP_eq, lam__kernels_loop(LAM__LOOP_eq, dtype), 3, x->rank, x->dims,
                              strides, (void *const[]){is->data, x->data, infinity}, items, NULL);
    lam__parallel_loop(ctx->team, LAM__LOOP_where, dtype, lam__kernels_loop(LAM__LOOP_where, dtype), terms->count,
                       (void *const[]){terms->data, is->data, one, terms->data}, (const int64_t[]){1, 1, 0, 1}, NULL);
    lam__value_release(is);
    return LAM_OK;
}

/* The largest elements become shifts: 0 instead of -inf. True if one is +inf. */
static bool make_shifts(lam_dtype dtype, int64_t count, char *shift) {
    bool infinite = false;
    for (int64_t i = 0; i < count; i++, shift += lam__dtype_bytes(dtype)) {
        double m = lam__dtype_load(dtype, shift);
        if (m == -INFINITY) lam__dtype_store(dtype, shift, 0);
        infinite = infinite || m == INFINITY;
    }
    return infinite;
}

/* RESULT = shift + log SUM; a sum of 0 becomes 1. */
static void end_sums(lam_dtype dtype, lam_value *const out[]) {
    enum { BLOCK = 64 };
    double logs[BLOCK]; /* room for either dtype */
    const int64_t item = (int64_t)lam__dtype_bytes(dtype);
    static const int64_t flat[] = {1, 1, 1};
    for (int64_t first = 0, count; first < out[SUM]->count; first += count) {
        char *sum = (char *)out[SUM]->data + first * item, *to = (char *)out[RESULT]->data + first * item;
        count = out[SUM]->count - first < BLOCK ? out[SUM]->count - first : BLOCK;
        lam__kernels_loop(LAM__LOOP_log, dtype)(count, (void *const[]){logs, sum}, flat, NULL);
        lam__kernels_loop(LAM__LOOP_add, dtype)(count, (void *const[]){to, to, logs}, flat, NULL);
        for (int64_t i = 0; i < count; i++)
            if (lam__dtype_load(dtype, sum + i * item) == 0) lam__dtype_store(dtype, sum + i * item, 1);
    }
}

static lam_status eval_logsumexp(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam__axis_set set = lam__reduce_set(call->params);
    lam_status status = LAM_OK;
    if (!out[RESULT]->count) return LAM_OK;
    lam__reduce_into(LAM__REDUCE_MAX, set, x, out[RESULT]->data);
    bool infinite = make_shifts(dtype, out[RESULT]->count, out[RESULT]->data);
    if (x->count && runs(x, set) && x->count >= 256 * out[RESULT]->count)
        exp_runs(x, out[RESULT]->count, out[RESULT]->data, out[TERMS]);
    else if (x->count) exp_spread(call->ctx, x, set, out[RESULT]->data, out[TERMS]);
    if (infinite) status = mark_infinities(call->ctx, x, out[TERMS]);
    lam__reduce_into(LAM__REDUCE_SUM, set, out[TERMS], out[SUM]->data);
    end_sums(dtype, out);
    return status;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static lam_tensor *sum_over(const lam_rule *r, lam_tensor *x) {
    return lam__apply1(&lam__row_sum, r->params, sizeof(lam__axis_set), x);
}

static void jvp_logsumexp(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[TERMS] = lam_mul(r->out[TERMS], dx[0]);
    dout[SUM] = sum_over(r, dout[TERMS]);
    dout[RESULT] = lam_div(dout[SUM], r->out[SUM]);
}

static lam_tensor *plus(lam_tensor *x, lam_tensor *y) {
    return x && y ? lam_add(x, y) : x ? x : y;
}

static void vjp_logsumexp(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *whole = plus(g[RESULT] ? lam_div(g[RESULT], r->out[SUM]) : NULL, g[SUM]);
    if (whole) whole = lam__reduce_restore(whole, lam__reduce_set(r->params), lam_dims_of(r->in[0]));
    gx[0] = lam_mul(r->out[TERMS], plus(whole, g[TERMS]));
}

static void batch_logsumexp(const lam_rule *r, lam_tensor *out[]) {
    lam__axis_set set = lam__reduce_set(r->params) << 1;
    lam_bind(r->ctx, r->primitive, &set, sizeof set, LAM_LIST(r->in[0]), out, OUTPUTS);
}

const lam_primitive lam__row_logsumexp = {
    .name = "logsumexp",
    .inputs = 1,
    .outputs = OUTPUTS,
    .derivative = LAM_GENERAL,
    .saves = LAM_SAVE_OUT(TERMS) | LAM_SAVE_OUT(SUM),
    .shape = shape_logsumexp,
    .eval = eval_logsumexp,
    .jvp = jvp_logsumexp,
    .vjp = vjp_logsumexp,
    .batch = batch_logsumexp,
};

lam_tensor *lam_logsumexp(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    lam_tensor *real = lam__reduce_real(x), *out[OUTPUTS];
    lam__axis_set set;
    if (!lam__axes_collect_set("logsumexp", real, o->axes, lam_rank(real), &set)) return lam__axes_failed(real);
    lam_ctx *ctx = lam_ctx_of(real);
    if (lam_bind(ctx, &lam__row_logsumexp, &set, sizeof set, LAM_LIST(real), out, OUTPUTS) != LAM_OK)
        return out[RESULT];
    lam_drop(out[TERMS]);
    lam_drop(out[SUM]);
    return lam__scope_only(o->keepdims ? lam__reduce_restore(out[RESULT], set, lam_dims_of(real)) : out[RESULT], since);
}
