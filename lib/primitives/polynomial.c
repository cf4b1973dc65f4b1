/* Polynomials by their coefficients, at many points, and their transpose: sums of powers over points. Each is the
 * other's derivative by what it is linear in, and by the points both are themselves with other coefficients, so two
 * rows are closed under derivatives. Leading axes that both operands share are batches. Coefficients come with the
 * highest power first. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/lent.h"
#include "lib/primitives/params.h"
#include "lib/primitives/rows.h"
#include "lib/primitives/rules.h"

#include "lib/kernels/polynomial.h"
#include "lib/parallel/parallel.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

typedef lam__polynomial_params polynomial_params;

/* Of the first `axes` dims. */
static int64_t product(int axes, const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < axes; i++) n *= dims[i];
    return n;
}

/* Both are of one floating dtype and begin with the batch axes. Shapes alone are checked; how many coefficients there
 * are is free, also none. */
static lam_status check(const lam_call_site *call) {
    const polynomial_params *p = call->params;
    const lam_value *a = call->in[0], *x = call->in[1];
    if (a->dtype != x->dtype || !lam__dtype_is_float(x->dtype))
        return lam__error_call(call, LAM_ERR_DTYPE, "cast the operands", "the operands are not of one floating dtype");
    for (int64_t i = 0; i < p->batch; i++)
        if (i >= a->rank || i >= x->rank || a->dims[i] != x->dims[i])
            return lam__error_call(call, LAM_ERR_SHAPE, NULL, "the operands differ in their batch axes");
    return LAM_OK;
}

/* Contiguous operands. False without memory, and then none is held. */
static bool hold(const lam_call_site *call, lam_value *in[2]) {
    in[0] = lam__value_contiguous(call->in[0]);
    in[1] = in[0] ? lam__value_contiguous(call->in[1]) : NULL;
    if (in[0] && !in[1]) lam__value_release(in[0]);
    return in[1];
}

/* ---- rules in common --------------------------------------------------------------------------------------------- */

/* The parameters of both rows are one struct. polyval has no use for `count`, which is 0 there: parameters are compared
 * as bytes. */
static lam_tensor *apply(const lam_primitive *row, int64_t batch, int64_t count, lam_tensor *x, lam_tensor *y) {
    const polynomial_params p = {batch, count};
    lam_tensor *in[2] = {x, y};
    return lam__apply(row, &p, sizeof p, 2, in);
}

/* p [batch, count], x [batch, points...] -> [batch, points...] */
static lam_tensor *polyval(int64_t batch, lam_tensor *p, lam_tensor *x) {
    return apply(&lam__row_polyval, batch, 0, p, x);
}

/* g and x [batch, points...] -> [batch, count]: the sums over the points of g x^(count-1), ..., g x, g. */
static lam_tensor *power_sums(int64_t batch, int64_t count, lam_tensor *g, lam_tensor *x) {
    return apply(&lam__row_power_sums, batch, count, g, x);
}

/* Coefficients, the last axis of p, times their powers but for the constant one. The derivative's coefficients, one
 * fewer. */
static lam_tensor *slopes(lam_tensor *p) {
    int64_t highest = lam_dim(p, -1) - 1;
    lam_tensor *powers = lam_arange(lam_ctx_of(p), lam_dtype_of(p), (double)highest, 0, -1);
    return lam_mul(lam_slice_axis(p, -1, 0, highest), powers);
}

/* The derivative by x of the polynomial p there, times t; NULL where it is none. NULL too where the polynomial is
 * constant. A row of no coefficients at all is the constant 0. */
static lam_tensor *along(int64_t batch, lam_tensor *p, lam_tensor *x, lam_tensor *t) {
    return t && lam_dim(p, -1) > 1 ? lam_mul(t, polyval(batch, slopes(p), x)) : NULL;
}

static lam_tensor *plus(lam_tensor *x, lam_tensor *y) {
    return x && y ? lam_add(x, y) : x ? x : y;
}

/* A batch axis is one more leading axis of both. */
static void batch_both(const lam_rule *r, lam_tensor *out[]) {
    const polynomial_params *p = r->params;
    out[0] = apply(r->primitive, p->batch + 1, p->count, lam__rules_with_batch(r, 0), lam__rules_with_batch(r, 1));
}

/* ---- polyval ----------------------------------------------------------------------------------------------------- */

/* The points may have any axes behind the batch; coefficients are one list for each entry of the batch. */
static lam_status shape_polyval(const lam_call_site *call, lam_shape out[]) {
    const polynomial_params *p = call->params;
    const lam_value *x = call->in[1];
    if (call->in[0]->rank != p->batch + 1)
        return lam__error_call(call, LAM_ERR_RANK, NULL, "the coefficients are not one list");
    lam_status status = check(call);
    out[0].dtype = (lam_dtype)x->dtype;
    out[0].rank = x->rank;
    for (int i = 0; i < x->rank; i++) out[0].dims[i] = x->dims[i];
    return status;
}

/* Horner's rule for all points at once; a polynomial per entry of the batch. For sharing, a point counts as an
 * exponential. */
static lam_status eval_polyval(const lam_call_site *call, lam_value *const out[]) {
    /* Result and points lie without gaps. */
    static const int64_t flat[] = {1, 1};
    lam_value *in[2];
    if (!hold(call, in)) return LAM_ERR_MEMORY;
    const lam_dtype dtype = (lam_dtype)in[1]->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype), batch = ((const polynomial_params *)call->params)->batch;
    int64_t parts = product((int)batch, in[1]->dims), count = in[0]->dims[batch];
    int64_t n = parts ? in[1]->count / parts : 0;
    for (int64_t b = 0; b < parts && n; b++) {
        const lam__polynomial q = {count, (char *)in[0]->data + b * count * item};
        /* The sharing among threads looks up what an element of a loop costs, and this one has no entry. */
        lam__parallel_loop(call->ctx->team, LAM__LOOP_exp, dtype, lam__kernels_polynomial(dtype), n,
                           (void *[]){(char *)out[0]->data + b * n * item, (char *)in[1]->data + b * n * item}, flat,
                           &q);
    }
    lam__value_release(in[0]);
    lam__value_release(in[1]);
    return LAM_OK;
}

/* d p(x) = dp(x) + p'(x) dx. */
static void jvp_polyval(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const int64_t batch = ((const polynomial_params *)r->params)->batch;
    dout[0] = plus(dx[0] ? polyval(batch, dx[0], r->in[1]) : NULL, along(batch, r->in[0], r->in[1], dx[1]));
}

/* By the coefficients the transpose, sums of powers weighted by g; by the points g p'(x). */
static void vjp_polyval(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const int64_t batch = ((const polynomial_params *)r->params)->batch;
    if (r->needs[0]) gx[0] = power_sums(batch, lam_dim(r->in[0], -1), g[0], r->in[1]);
    if (r->needs[1]) gx[1] = along(batch, r->in[0], r->in[1], g[0]);
}

/* Linear in the coefficients: of these nothing is kept unless the points want a gradient. */
const lam_primitive lam__row_polyval = {
    .name = "polyval",
    .inputs = 2,
    .derivative = LAM_GENERAL,
    .linear = 1u,
    .saves = LAM_SAVE_IN(1),
    .saves_for = {0, LAM_SAVE_IN(0)},
    .shape = shape_polyval,
    .eval = eval_polyval,
    .jvp = jvp_polyval,
    .vjp = vjp_polyval,
    .batch = batch_both,
    .layout = "l batch, l count",
};

/* Of what the kernel does not do: Horner's rule by other operations. Integers, whose products wrap, and complex
 * numbers. */
static lam_tensor *composed(lam_tensor *p, lam_tensor *x) {
    lam_tensor *sum = lam_zeros_like(x);
    for (int64_t i = 0; i < lam_dim(p, 0); i++) {
        lam_tensor *c = lam_index(p, 0, i);
        /* The first is added to zeros, so that the result has the promoted dtype and the dims of x also where there is
         * one coefficient. */
        sum = i == 0 ? lam_add(sum, c) : lam_add(lam_mul(sum, x), c);
    }
    return sum;
}

static lam_tensor *as(lam_tensor *x, lam_dtype dtype) {
    return lam_dtype_of(x) == dtype ? x : lam_cast(x, dtype);
}

/* One list of coefficients for all points; batches come from vmap. */
lam_tensor *lam_polyval(lam_tensor *p, lam_tensor *x) {
    uint64_t since = lam__scope_now(p);
    if (lam_failed(p) || lam_failed(x)) return polyval(0, p, x);
    if (lam_rank(p) != 1) return lam__axes_fail("polyval", p, LAM_ERR_RANK, "the coefficients are one list");
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(p), (int)lam_dtype_of(x));
    bool real = lam__dtype_is_float((int)dtype) || lam__dtype_is_half((int)dtype);
    return lam__scope_only(real ? polyval(0, as(p, dtype), as(x, dtype)) : composed(p, x), since);
}

/* ---- power_sums -------------------------------------------------------------------------------------------------- */

/* A sum for each power, of which the parameter says how many: neither operand can. */
static lam_status shape_power_sums(const lam_call_site *call, lam_shape out[]) {
    const polynomial_params *p = call->params;
    const lam_value *g = call->in[0];
    if (!lam__value_same_dims(g, call->in[1]))
        return lam__error_call(call, LAM_ERR_SHAPE, "broadcast one of them", "the operands differ in dims");
    lam_status status = check(call);
    out[0].dtype = (lam_dtype)g->dtype;
    out[0].rank = (int)p->batch + 1;
    for (int64_t i = 0; i < p->batch && status == LAM_OK; i++) out[0].dims[i] = g->dims[i];
    out[0].dims[p->batch] = p->count;
    return status;
}

/* All powers in one call of the kernel, whose scratch depends on how many there are. */
static lam_status eval_power_sums(const lam_call_site *call, lam_value *const out[]) {
    const polynomial_params *p = call->params;
    lam_value *in[2];
    if (!hold(call, in)) return LAM_ERR_MEMORY;
    const lam_dtype dtype = (lam_dtype)in[1]->dtype;
    const int64_t item = (int64_t)lam__dtype_bytes(dtype), parts = product((int)p->batch, in[1]->dims);
    const int64_t n = parts ? in[1]->count / parts : 0;
    lam__lent memory = {.ctx = call->ctx};
    /* Room for the sums of one part of the batch; the parts take turns. */
    void *room = out[0]->count ? lam__lent_get(&memory, lam__kernels_power_sums_bytes(p->count)) : NULL;
    for (int64_t b = 0; b < parts && room; b++)
        lam__kernels_power_sums(dtype, n, (char *)in[0]->data + b * n * item, (char *)in[1]->data + b * n * item,
                                p->count, (char *)out[0]->data + b * p->count * item, room);
    lam__lent_return(&memory);
    lam__value_release(in[0]);
    lam__value_release(in[1]);
    return room || !out[0]->count ? LAM_OK : LAM_ERR_MEMORY;
}

/* By x the term g x^k has k g x^(k-1): sums of g t with one power fewer, each times its k, and 0 for the constant. With
 * one power or none there is nothing that moves. */
static lam_tensor *along_sums(int64_t batch, int64_t count, lam_tensor *g, lam_tensor *x, lam_tensor *t) {
    if (!t || count < 2) return NULL;
    lam_tensor *sums = power_sums(batch, count - 1, lam_mul(g, t), x);
    lam_tensor *powers = lam_arange(lam_ctx_of(x), lam_dtype_of(x), (double)(count - 1), 0, -1);
    lam_tensor *moved = lam_mul(sums, powers);
    return lam_concatenate(LAM_LIST(moved, lam_zeros_like(lam_slice_axis(sums, -1, 0, 1))), -1);
}

/* d sum g x^k = sum dg x^k + sum g k x^(k-1) dx. */
static void jvp_power_sums(const lam_rule *r, lam_tensor *const dx[], lam_tensor *dout[]) {
    const polynomial_params *p = r->params;
    lam_tensor *first = dx[0] ? power_sums(p->batch, p->count, dx[0], r->in[1]) : NULL;
    dout[0] = plus(first, along_sums(p->batch, p->count, r->in[0], r->in[1], dx[1]));
}

/* By the weights the polynomial with coefficients g, by the points its derivative times the weights. It is the way back
 * of what was a way back: no third row is needed. */
static void vjp_power_sums(const lam_rule *r, lam_tensor *const g[], lam_tensor *gx[]) {
    const polynomial_params *p = r->params;
    if (r->needs[0]) gx[0] = polyval(p->batch, g[0], r->in[1]);
    if (r->needs[1]) gx[1] = along(p->batch, g[0], r->in[1], r->in[0]);
}

const lam_primitive lam__row_power_sums = {
    .name = "power_sums",
    .inputs = 2,
    .derivative = LAM_GENERAL,
    .linear = 1u,
    .saves = LAM_SAVE_IN(1),
    .saves_for = {0, LAM_SAVE_IN(0)},
    .shape = shape_power_sums,
    .eval = eval_power_sums,
    .jvp = jvp_power_sums,
    .vjp = vjp_power_sums,
    .batch = batch_both,
    .layout = "l batch, l count",
};

/* Public as it is what fits of polynomials need: moments of points. */
lam_tensor *lam_power_sums(lam_tensor *weights, lam_tensor *x, int64_t count) {
    uint64_t since = lam__scope_now(x);
    /* The row names what has failed. */
    if (lam_failed(weights) || lam_failed(x)) return power_sums(0, 0, weights, x);
    if (count < 0) return lam__axes_fail("power_sums", x, LAM_ERR_VALUE, "the number of powers is negative");
    lam_dtype dtype = lam__dtype_promote((int)lam_dtype_of(weights), (int)lam_dtype_of(x));
    if (!lam__dtype_is_inexact((int)dtype)) dtype = LAM_F64;
    return lam__scope_only(power_sums(0, count, as(weights, dtype), as(x, dtype)), since);
}
