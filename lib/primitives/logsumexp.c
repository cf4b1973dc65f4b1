/* logsumexp: the logarithm of sums of exponentials, along any set of axes. The exponentials, shifted by the largest,
 * are an output of their own: all rules are products with them, to any order, so that each is computed once. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/cplx.h"
#include "lib/primitives/plane.h"
#include "lib/primitives/reduce.h"
#include "lib/primitives/rows.h"

#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <float.h>
#include <math.h>

/* NOTE [shifted terms]
 * With m the largest element of a sum, or a number a little below it, TERMS are exp(x - m), SUM is their sum and RESULT
 * is m + log SUM. Derivatives take m for a constant, which changes none of them: d TERMS = TERMS dx, d RESULT =
 * sum(TERMS dx) / SUM. Where m is +inf, the terms that are inf count 1 and the others 0; where it is -inf all terms are
 * 0, and SUM is given as 1.
 *
 * Terms below the least normal number are 0. They are nothing beside a sum of 1 or more, but arithmetic with numbers
 * below normal is a hundred times as slow, and the way back multiplies with every term. */
enum { RESULT, TERMS, SUM, OUTPUTS };

/* TERMS has all axes of x, the other two those that stay. TERMS is an output so that a tape can keep it: users never
 * see it. */
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

/* Whether the elements of each sum lie one behind the other. That is so where the summed axes are the last ones and
 * nothing has gaps. */
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

/* The reduction of n elements one behind the other. By the kernel of all reductions, whose blocks give the same bits
 * whoever calls. */
static double reduced(lam_dtype dtype, lam__reduce_id id, int64_t n, const void *x) {
    char out[sizeof(double)];
    lam__kernels_reduce(id, dtype, 1, &n, (const bool[]){true}, x, (const int64_t[]){1}, out);
    return lam__dtype_load(dtype, out);
}

/* Numbers below normal, which are few or none, become 0. The least is looked for first, in one pass over what is in the
 * cache. */
static void flush(lam_dtype dtype, int64_t n, void *terms) {
    const double least = dtype == LAM_F64 ? DBL_MIN : (double)FLT_MIN;
    double *wide = terms;
    float *narrow = terms;
    if (reduced(dtype, LAM__REDUCE_MIN, n, terms) >= least) return;
    for (int64_t i = 0; i < n; i++)
        if (dtype == LAM_F64 && wide[i] < DBL_MIN) wide[i] = 0;
        else if (dtype == LAM_F32 && narrow[i] < FLT_MIN) narrow[i] = 0;
}

enum { BLOCK = 1024 }; /* elements that stay in the first cache between two loops */

/* `flush` as a loop. params: the dtype. It has the form of an elementwise loop, so that threads share it. */
static void flush_all(int64_t n, void *const p[], const int64_t step[], const void *params) {
    const lam_dtype dtype = *(const lam_dtype *)params;
    (void)step;
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t count = n - at < BLOCK ? n - at : BLOCK;
        flush(dtype, count, (char *)p[0] + at * (int64_t)lam__dtype_bytes(dtype));
    }
}

/* ---- long runs --------------------------------------------------------------------------------------------------- */

/* NOTE [one pass]
 * A sum of many elements that lie one behind the other goes through memory once: m is the largest element of the first
 * block, and that of no later one may exceed it by more than SLACK, so that no term is large. Where one does, the sum
 * is made again with the largest of all. RESULT is in any case made from the largest. */
static const double SLACK = 8;

/* One such sum. */
typedef struct run {
    lam_dtype dtype;
    double shift, largest, sum, rest; /* rest: what adding block sums to `sum` has rounded away */
} run;

/* Two numbers that add up to the sum exactly (Knuth): with thousands of blocks plain adding would lose digits. */
static void add_to(run *r, double x) {
    double sum = r->sum + x, back = sum - r->sum;
    r->rest += (r->sum - (sum - back)) + (x - back);
    r->sum = sum;
}

/* terms = exp(x - shift), and what they add; `first`: the shift is the largest of these. False: one is too large. It is
 * too large too where it is no number: infinities and NaN are left to the general way. */
static bool run_block(run *r, bool first, int64_t n, const char *x, char *terms) {
    static const int64_t against_one[] = {1, 1, 0};
    char shift[sizeof(double)];
    double largest = reduced(r->dtype, LAM__REDUCE_MAX, n, x);
    if (first) r->shift = r->largest = largest;
    if (!isfinite(largest) || largest > r->shift + SLACK) return false;
    if (largest > r->largest) r->largest = largest;
    lam__dtype_store(r->dtype, shift, r->shift);
    lam__kernels_loop(LAM__LOOP_exp_gap, r->dtype)(n, (void *[]){terms, (void *)(uintptr_t)x, shift}, against_one,
                                                   NULL);
    flush(r->dtype, n, terms);
    add_to(r, reduced(r->dtype, LAM__REDUCE_SUM, n, terms));
    return true;
}

/* Sum number s, of n elements. */
static bool run_once(const lam_value *x, int64_t s, int64_t n, lam_value *const out[]) {
    run r = {.dtype = (lam_dtype)x->dtype};
    const int64_t item = (int64_t)lam__dtype_bytes(r.dtype);
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t count = n - at < BLOCK ? n - at : BLOCK, from = (s * n + at) * item;
        if (!run_block(&r, !at, count, (char *)x->data + from, (char *)out[TERMS]->data + from)) return false;
    }
    double sum = r.sum + r.rest;
    lam__dtype_store(r.dtype, (char *)out[SUM]->data + s * item, sum);
    lam__dtype_store(r.dtype, (char *)out[RESULT]->data + s * item,
                     r.largest + log(r.largest > r.shift ? sum * exp(r.shift - r.largest) : sum));
    return true;
}

/* All sums by NOTE [one pass]; false where they are few elements each, lie otherwise, or grow too much. Any one of them
 * that grows too much sends all to the general way, which begins anew. */
static bool run_all(const lam_value *x, lam__axis_set set, lam_value *const out[]) {
    int64_t sums = out[RESULT]->count;
    if (!x->count || !runs(x, set) || x->count < 256 * sums) return false;
    for (int64_t s = 0; s < sums; s++)
        if (!run_once(x, s, x->count / sums, out)) return false;
    return true;
}

/* ---- any others -------------------------------------------------------------------------------------------------- */

/* The difference goes to the result's memory and is exponentiated there. The loop takes the difference and its
 * exponential in one step. */
static void exp_spread(lam_ctx *ctx, const lam_value *x, lam__axis_set set, const void *shift, lam_value *terms) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    int64_t steps[LAM_INNER_RANK];
    spread(x, set, steps);
    const int64_t *const strides[] = {terms->strides, x->strides, steps};
    const size_t item = lam__dtype_bytes(dtype), items[] = {item, item, item};
    void *const p[] = {terms->data, x->data, (void *)(uintptr_t)shift};
    static const int64_t flat[] = {1, 1};
    lam__parallel_elementwise(ctx->team, LAM__LOOP_exp_gap, lam__kernels_loop(LAM__LOOP_exp_gap, dtype), 3, x->rank,
                              x->dims, strides, p, items, NULL);
    lam__parallel_loop(ctx->team, LAM__LOOP_abs, dtype, flush_all, terms->count,
                       (void *const[]){terms->data, terms->data}, flat, &dtype);
}

/* terms = 1 where x is inf: see NOTE [shifted terms]. Their difference to the shift was NaN. */
static lam_status mark_infinities(lam_ctx *ctx, const lam_value *x, lam_value *terms) {
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam_value *is = lam__value_new(ctx, LAM_BOOL, x->rank, x->dims);
    const int64_t none[LAM_INNER_RANK] = {0}, *const strides[] = {terms->strides, x->strides, none};
    const size_t item = lam__dtype_bytes(dtype), items[] = {1, item, item};
    /* A double is room enough for one element of any dtype here. */
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

/* The largest elements become shifts: 0 instead of -inf. True if one is +inf. A shift of +inf stays, and gives its sum
 * the result inf. */
static bool make_shifts(lam_dtype dtype, int64_t count, void *shifts) {
    double *wide = shifts;
    float *narrow = shifts;
    int infinite = 0;
    if (dtype == LAM_F64)
        for (int64_t i = 0; i < count; i++)
            infinite |= wide[i] == INFINITY, wide[i] = wide[i] == -INFINITY ? 0 : wide[i];
    else
        for (int64_t i = 0; i < count; i++)
            infinite |= narrow[i] == INFINITY, narrow[i] = narrow[i] == -INFINITY ? 0 : narrow[i];
    return infinite;
}

/* Sums of nothing but zeros become 1. */
static void fill_sums(lam_dtype dtype, int64_t count, void *sums) {
    double *wide = sums;
    float *narrow = sums;
    if (dtype == LAM_F64)
        for (int64_t i = 0; i < count; i++) wide[i] = wide[i] == 0 ? 1 : wide[i];
    else
        for (int64_t i = 0; i < count; i++) narrow[i] = narrow[i] == 0 ? 1 : narrow[i];
}

/* RESULT = shift + log SUM; a sum of 0 becomes 1. Logarithms of a few at a time lie in the C frame. */
static void end_sums(lam_dtype dtype, lam_value *const out[]) {
    enum { SOME = 64 };
    double logs[SOME]; /* room for either dtype */
    const int64_t item = (int64_t)lam__dtype_bytes(dtype);
    static const int64_t flat[] = {1, 1, 1};
    for (int64_t first = 0, count; first < out[SUM]->count; first += count) {
        char *sum = (char *)out[SUM]->data + first * item, *to = (char *)out[RESULT]->data + first * item;
        count = out[SUM]->count - first < SOME ? out[SUM]->count - first : SOME;
        lam__kernels_loop(LAM__LOOP_log, dtype)(count, (void *const[]){logs, sum}, flat, NULL);
        lam__kernels_loop(LAM__LOOP_add, dtype)(count, (void *const[]){to, to, logs}, flat, NULL);
        fill_sums(dtype, count, sum);
    }
}

/* In one pass where the kernel has one; else the largest, the terms, their sum, each by the kernel that there is for
 * it. RESULT holds the shifts until the end. */
static lam_status eval_logsumexp(const lam_call_site *call, lam_value *const out[]) {
    const lam_value *x = call->in[0];
    lam_dtype dtype = (lam_dtype)x->dtype;
    lam__axis_set set = lam__reduce_set(call->params);
    lam_status status = LAM_OK;
    if (!out[RESULT]->count || run_all(x, set, out)) return LAM_OK;
    lam__reduce_into(LAM__REDUCE_MAX, set, x, out[RESULT]->data);
    bool infinite = make_shifts(dtype, out[RESULT]->count, out[RESULT]->data);
    if (x->count) exp_spread(call->ctx, x, set, out[RESULT]->data, out[TERMS]);
    if (infinite) status = mark_infinities(call->ctx, x, out[TERMS]);
    lam__reduce_into(LAM__REDUCE_SUM, set, out[TERMS], out[SUM]->data);
    end_sums(dtype, out);
    return status;
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

/* The row sum with the rule's own set. */
static lam_tensor *sum_over(const lam_rule *r, lam_tensor *x) {
    return lam__apply1(&lam__row_sum, r->params, sizeof(lam__axis_set), x);
}

/* NOTE [shifted terms]: three results from one product and one sum. */
static void jvp_logsumexp(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    dout[TERMS] = lam_mul(r->out[TERMS], dx[0]);
    dout[SUM] = sum_over(r, dout[TERMS]);
    dout[RESULT] = lam_div(dout[SUM], r->out[SUM]);
}

/* NULL is zero. */
static lam_tensor *plus(lam_tensor *x, lam_tensor *y) {
    return x && y ? lam_add(x, y) : x ? x : y;
}

/* gx = TERMS (g_result / SUM + g_sum + g_terms), what is per sum being put back to broadcast. */
static void vjp_logsumexp(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    lam_tensor *whole = plus(g[RESULT] ? lam_div(g[RESULT], r->out[SUM]) : NULL, g[SUM]);
    if (whole) whole = lam__reduce_restore(whole, lam__reduce_set(r->params), lam_dims_of(r->in[0]));
    gx[0] = lam_mul(r->out[TERMS], plus(whole, g[TERMS]));
}

/* A batch in front moves all axes by one. */
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
    .layout = "A axes",
};

/* The logarithm of the number is taken away, as in JAX: next to 0 the error is that of rounding that logarithm. What
 * was summed of nothing has no mean. */
lam_tensor *lam_logmeanexp(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *sum = lam_logsumexp(x, options);
    const int64_t of = lam_failed(sum) ? 1 : lam_size(sum);
    const double n = of ? (double)lam_size(x) / (double)of : 1;
    if (n == 0) return lam__scope_only(lam_full_like(sum, NAN), since);
    return lam__scope_only(lam_sub(sum, log(n)), since);
}

/* Users see the first result; the others live on in the tape that needs them. */
lam_tensor *lam_logsumexp(lam_tensor *x, const lam_reduce_options *options) {
    uint64_t since = lam__scope_now(x);
    static const lam_reduce_options none;
    const lam_reduce_options *o = options ? options : &none;
    if (lam__cplx_is(x)) return lam__scope_named(lam__plane_logsumexp(x, o), since);
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
