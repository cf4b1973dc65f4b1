/* Applies the rules of a row: see rules.h. The elementwise class, which most calls are of, works on values where it can
 * and on handles in the C frame where a slope has to be asked; all others get a desk of handles. What a rule makes
 * belongs to a scope that is closed behind it, so it leaves its results and nothing else, also when it fails. Where a
 * rule fails no results are given: those that were there already are released. */
#include "lib/primitives/rules.h"

#include "lib/base/inline.h"
#include "lib/dispatch/staged.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"
#include "lib/tensor/dtype.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

#include <assert.h>

/* Handles lent to a rule: operands, results, then what else it is given; and room for what it gives. */
typedef struct desk {
    lam__scratch_area area;
    lam_scope scope;
    lam_rule rule;
    lam_tensor **more, **given;
} desk;

/* A handle for each value that is there; list[] has NULL for the others, which is zero to a rule. */
LAM__UNROLLED lam_tensor **lend(lam_ctx *ctx, lam_tensor *handles, lam_tensor **list, int n, lam_value *const v[]) {
    for (int i = 0; i < n; i++) {
        list[i] = v && v[i] ? &handles[i] : NULL;
        if (list[i]) lam__scope_lend(list[i], ctx, v[i]);
    }
    return list;
}

/* Lays out a desk for n operands, m results, `more` further handles and `given` results; false without memory. */
LAM__UNROLLED bool desk_lay(desk *d, const lam_call_site *call, int n, int m, lam_value *const results[], int more,
                            lam_value *const extra[], int given) {
    lam_ctx *ctx = call->ctx;
    int lent = n + m + more;
    size_t bytes = (size_t)lent * (sizeof(lam_tensor) + sizeof(lam_tensor *)) + (size_t)given * sizeof(lam_tensor *);
    lam_tensor *handles = lam__scratch_get(&d->area, ctx, bytes);
    if (!handles) return false;
    lam_tensor **list = (lam_tensor **)(void *)(handles + lent);
    lam__scope_open(ctx, &d->scope);
    d->scope.of_rule = true;
    d->rule = (lam_rule){.ctx = ctx, .primitive = call->primitive, .params = call->params, .inputs = n, .outputs = m};
    d->rule.in = lend(ctx, handles, list, n, call->in);
    handles += n, list += n;
    d->rule.out = lend(ctx, handles, list, m, results);
    handles += m, list += m;
    d->more = lend(ctx, handles, list, more, extra);
    d->given = list + more;
    for (int i = 0; i < given; i++) d->given[i] = NULL;
    return true;
}

/* Most calls that come here are of one operand and one result. */
LAM__APART static bool desk_open(desk *d, const lam_call_site *call, lam_value *const results[], int more,
                                 lam_value *const extra[], int given) {
    const bool single = call->inputs == 1 && call->outputs == 1 && given == 1;
    if (single && more == 0) return desk_lay(d, call, 1, 1, results, 0, NULL, 1);
    if (single && more == 1) return desk_lay(d, call, 1, 1, results, 1, extra, 1);
    return desk_lay(d, call, call->inputs, call->outputs, results, more, extra, given);
}

/* What desk_open has begun; the status is passed on. */
static lam_status desk_close(desk *d, lam_status status) {
    lam__scope_close(&d->scope);
    lam__scratch_put(&d->area);
    return status;
}

/* The value of a result: one reference, NULL for zero. */
static lam_status take(lam_ctx *ctx, lam_tensor *t, lam_value **out) {
    *out = NULL;
    if (!t) return LAM_OK;
    lam_value *v = lam__scope_peek(t);
    if (!v) return ctx->error.status != LAM_OK ? ctx->error.status : LAM_ERR_RULE;
    *out = lam__value_hold(v);
    return LAM_OK;
}

/* All results of a rule or none. */
static lam_status take_all(desk *d, int n, lam_value *out[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < n; i++) {
        lam_status one = take(d->rule.ctx, d->given[i], &out[i]);
        if (one != LAM_OK) status = one;
    }
    for (int i = 0; i < n && status != LAM_OK; i++) {
        lam__value_release(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* What a row lacks is said where it is asked for: the primitive serves those who do not ask. */
static lam_status missing(const lam_call_site *call, const char *rule) {
    return lam__error_call(call, LAM_ERR_RULE, "complete the row of this primitive", "its row has no %s rule", rule);
}

lam_tensor *lam__rules_with_batch(const lam_rule *rule, int i) {
    lam_dims own = lam_dims_of(rule->in[i]);
    int64_t dims[LAM_INNER_RANK];
    dims[0] = rule->size;
    for (int k = 0; k < own.rank; k++) dims[1 + k] = own.dims[k];
    return rule->mapped[i] ? rule->in[i] : lam__apply_broadcast(rule->in[i], own.rank + 1, dims);
}

/* ---- forward ------------------------------------------------------------------------------------------- */

/* NOTE [elementwise rules]
 * Most calls are elementwise, so their rules have a short way: handles in the C frame, and only for what the row
 * says its slope reads. A slope that reads anything else meets NULL, in every test of the row. */
enum { ELEMENTWISE_INPUTS = 3 };

/* Handles for an elementwise row of one result; t: the cotangent, in reverse mode. */
typedef struct small_desk {
    lam_tensor in[ELEMENTWISE_INPUTS], out, t;
    lam_tensor *list[ELEMENTWISE_INPUTS], *result;
    lam_rule rule;
    lam_scope scope;
} small_desk;

/* Nothing is cleared that is not read: this is on the way of every elementwise derivative. */
static void small_open(small_desk *d, const lam_call_site *call, lam_value *result, unsigned reads) {
    lam_ctx *ctx = call->ctx;
    for (int i = 0; i < call->inputs; i++) {
        d->list[i] = call->in[i] && reads & LAM_SAVE_IN(i) ? &d->in[i] : NULL;
        if (d->list[i]) lam__scope_lend(&d->in[i], ctx, call->in[i]);
    }
    d->result = reads & LAM_SAVE_OUT(0) ? &d->out : NULL;
    if (d->result) lam__scope_lend(&d->out, ctx, result);
    d->rule.ctx = ctx;
    d->rule.primitive = call->primitive;
    d->rule.params = call->params;
    d->rule.inputs = call->inputs;
    d->rule.outputs = 1;
    d->rule.in = d->list;
    d->rule.out = &d->result;
    lam__scope_open(ctx, &d->scope);
    d->scope.of_rule = true;
}

static unsigned reads_of(const lam_primitive *p, int n, const bool active[]) {
    unsigned reads = p->saves;
    for (int i = 0; i < n; i++)
        if (active[i]) reads |= p->saves_for[i];
    return reads;
}

/* Whether a row is linear in each of two operands: a product, perhaps with a factor. */
static inline bool is_product(const lam_call_site *call) {
    if (call->primitive != &lam__row_times_power) return call->primitive->bilinear;
    const lam__power *power = call->params;
    return power->exponent == 1;
}

/* A product of two: dx y + x dy, the second added in the memory of the first. */
static lam_status tangents_product(const lam_call_site *call, lam_value *const dx[], lam_value **dout) {
    const bool plain = call->primitive == &lam__row_mul;
    lam_value *left[2] = {dx[0], call->in[1]}, *right[2] = {call->in[0], dx[1]}, *term = NULL;
    if (call->primitive == &lam__row_times_power) right[0] = dx[1], right[1] = call->in[0]; /* linear by it */
    lam_status status = dx[0] ? lam__dispatch_below(call, 2, left, dout) : LAM_OK;
    if (status == LAM_OK && dx[0] && dx[1] && plain)
        status = lam__rules_accumulate_times(call->ctx, call->primitive, dout, right[0], right[1], 1);
    else if (status == LAM_OK && dx[1]) status = lam__dispatch_below(call, 2, right, dx[0] ? &term : dout);
    if (term) status = lam__rules_accumulate(call->ctx, dout, term, 1);
    if (status == LAM_OK) return LAM_OK;
    lam__value_release(*dout);
    *dout = NULL;
    return status;
}

/* Each operand's tangent through its slope, added up. */
static lam_tensor *sum_of_slopes(const lam_rule *r, lam_tensor *const dx[]) {
    const lam_primitive *p = r->primitive;
    lam_tensor *sum = NULL;
    for (int i = 0; i < r->inputs; i++) {
        lam_tensor *t = !dx[i] ? NULL : p->slope ? p->slope(r, i, dx[i]) : p->signs[i] < 0 ? lam_neg(dx[i]) : dx[i];
        if (t) sum = sum ? lam_add(sum, t) : t;
    }
    return sum;
}

/* See NOTE [elementwise rules]. A slope may have fewer dims than the result: those of a broadcast operand. */
LAM__APART static lam_status tangents_by_slopes(const lam_call_site *call, lam_value *result, lam_value *const dx[],
                                                lam_value **dout) {
    const lam_primitive *p = call->primitive;
    bool active[ELEMENTWISE_INPUTS], any = false;
    small_desk d;
    for (int i = 0; i < call->inputs; i++) any = (active[i] = dx[i] != NULL) || any;
    if (!any || p->derivative == LAM_NOT_DIFFERENTIABLE) return LAM_OK;
    if (!p->slope && !p->signs[0]) return missing(call, "slope");
    small_open(&d, call, result, reads_of(p, call->inputs, active));
    lam_tensor lent[ELEMENTWISE_INPUTS], *tangents[ELEMENTWISE_INPUTS] = {NULL}, *sum = NULL;
    for (int i = 0; i < call->inputs; i++)
        if (dx[i]) lam__scope_lend(tangents[i] = &lent[i], call->ctx, dx[i]);
    if (p->jvp) p->jvp(&d.rule, tangents, &sum);
    else sum = sum_of_slopes(&d.rule, tangents);
    if (sum && lam__scope_peek(sum) && !lam__value_same_dims(sum->value, result))
        sum = lam__apply_broadcast(sum, result->rank, result->dims);
    lam_status status = take(call->ctx, sum, dout);
    lam__scope_close(&d.scope);
    return status;
}

/* Whether the operands in which a row is linear have tangents, and no other one: then it is its own jvp. */
static inline bool is_its_own_jvp(const lam_primitive *p, int n, lam_value *const dx[]) {
    if (!p->linear) return false;
    for (int i = 0; i < n; i++)
        if ((p->linear >> i & 1u) != (dx[i] != NULL)) return false;
    return true;
}

/* The row's primitive on tangents in place of the operands that have some. */
static lam_status tangents_linear_few(const lam_call_site *call, lam_value *const dx[], lam_value **dout) {
    lam_value *in[ELEMENTWISE_INPUTS];
    for (int i = 0; i < call->inputs; i++) in[i] = dx[i] ? dx[i] : call->in[i];
    return lam__dispatch_with(call, in, dout);
}

/* x plus or minus y, where x is taken over when there is a result; or minus the one that is both. y is taken over. */
static lam_status combine(lam_ctx *ctx, const lam_primitive *p, lam_value *x, lam_value *y, lam_value **out) {
    lam_value *in[2] = {x, y}, *result = NULL;
    lam_call_site call = {.ctx = ctx, .primitive = p, .inputs = p->inputs, .outputs = 1, .in = in};
    lam_status status = lam__dispatch(&call, &result);
    if (status == LAM_OK) *out = result;
    if (status == LAM_OK && p->inputs == 2) lam__value_release(x);
    lam__value_release(y);
    return status;
}

/* The one tangent of a sum with signs that has the dims of the result. */
static lam_status tangents_signed(const lam_call_site *call, lam_value *t, int sign, lam_value **dout) {
    if (sign > 0) *dout = lam__value_hold(t);
    return sign > 0 ? LAM_OK : combine(call->ctx, &lam__row_neg, t, lam__value_hold(t), dout);
}

/* What `power` of a row says, on values: t times factor y^exponent. False, nothing done: its slope is to be asked. */
static bool times_power(const lam_call_site *call, lam_value *result, lam_value *t, lam_value **out,
                        lam_status *status) {
    const lam_primitive *p = call->primitive;
    lam_value *y = p->saves & LAM_SAVE_OUT(0) ? result : call->in[0];
    if (!p->power.exponent || !y || !lam__dtype_is_float(t->dtype) || !lam__value_same_dims(t, y)) return false;
    const lam__power power = {p->power.exponent, p->power.factor};
    const bool once = power.factor == 1 && (power.exponent == 1 || power.exponent == -1);
    lam_value *in[2] = {t, y};
    lam_call_site site = {.ctx = call->ctx, .primitive = &lam__row_times_power, .params = &power, .in = in};
    site.params_bytes = sizeof power, site.inputs = 2, site.outputs = 1;
    *out = NULL;
    *status = once ? lam__rules_times(call->ctx, power.exponent > 0 ? &lam__row_mul : &lam__row_div, t, y, out)
                   : lam__dispatch_below(&site, 2, in, out);
    return true;
}

/* Products of two, and what is linear in all that has tangents, need no handles: tangents broadcast as operands do. */
static lam_status tangents_elementwise(const lam_call_site *call, lam_value *result, lam_value *const dx[],
                                       lam_value **dout) {
    const lam_primitive *p = call->primitive;
    lam_value *first = dx[0], *last = dx[call->inputs - 1];
    *dout = NULL;
    if (p->signs[0] && first && last) return lam__dispatch_below(call, call->inputs, dx, dout);
    if (p->signs[0] && (first || last) && lam__value_same_dims(first ? first : last, result))
        return tangents_signed(call, first ? first : last, p->signs[first ? 0 : 1], dout);
    if (is_product(call) && (first || last)) return tangents_product(call, dx, dout);
    if (is_its_own_jvp(p, call->inputs, dx)) return tangents_linear_few(call, dx, dout);
    lam_status status;
    if (first && times_power(call, result, first, dout, &status)) return status;
    return tangents_by_slopes(call, result, dx, dout);
}

/* The primitive itself, on `operands`. */
static void same(const lam_call_site *call, lam_tensor *const operands[], lam_tensor **out) {
    lam_bind(call->ctx, call->primitive, call->params, call->params_bytes, (lam_list){(size_t)call->inputs, operands},
             out, (size_t)call->outputs);
}

/* Jointly linear: one call of the primitive on all tangents, with zeros for those that are absent; operands in which it
 * is not linear stay as they are. */
static void tangents_linear(desk *d, const lam_call_site *call) {
    lam__scratch_area area;
    lam_tensor **operands = lam__scratch_get(&area, call->ctx, (size_t)call->inputs * sizeof *operands);
    for (int i = 0; operands && i < call->inputs; i++) {
        bool linear = lam__rules_linear_in(call->primitive, i);
        operands[i] = !linear ? d->rule.in[i] : d->more[i] ? d->more[i] : lam_zeros_like(d->rule.in[i]);
    }
    if (operands) same(call, operands, d->given);
    lam__scratch_put(&area);
}

/* The product rule: a term for each of the two that has a tangent. A third operand, if there is one, is none of the
 * factors. */
static void tangents_bilinear(desk *d, const lam_call_site *call) {
    lam_tensor *sum = NULL;
    for (int i = 0; i < 2; i++) {
        if (!d->more[i]) continue;
        lam_tensor *operands[3] = {d->rule.in[0], d->rule.in[1], call->inputs > 2 ? d->rule.in[2] : NULL};
        operands[i] = d->more[i];
        lam_tensor *t;
        same(call, operands, &t);
        sum = sum ? lam_add(sum, t) : t;
    }
    d->given[0] = sum;
}

/* By the class of the row. Without any tangent there is nothing to do, also for a row that has no rule. */
static lam_status tangents_any(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                               lam_value *dout[]) {
    bool any = false;
    const lam_primitive *p = call->primitive;
    for (int i = 0; i < call->inputs; i++) any = any || dx[i];
    for (int o = 0; o < call->outputs; o++) dout[o] = NULL;
    if (!any || p->derivative == LAM_NOT_DIFFERENTIABLE) return LAM_OK;
    if (p->derivative == LAM_GENERAL && !p->jvp) return missing(call, "jvp");
    desk d;
    if (!desk_open(&d, call, results, call->inputs, dx, call->outputs)) return LAM_ERR_MEMORY;
    if (p->derivative == LAM_LINEAR) tangents_linear(&d, call);
    else if (p->derivative == LAM_BILINEAR) tangents_bilinear(&d, call);
    else p->jvp(&d.rule, d.more, d.given);
    return desk_close(&d, take_all(&d, call->outputs, dout));
}

lam_status lam__rules_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                               lam_value *dout[]) {
    return call->primitive->derivative == LAM_ELEMENTWISE ? tangents_elementwise(call, results[0], dx, dout)
                                                          : tangents_any(call, results, dx, dout);
}

/* ---- reverse ------------------------------------------------------------------------------------------- */

/* What operand i gets of g. One that was broadcast gets the sum, down to its dims; a minus goes with what is left. */
static lam_tensor *share_of(const lam_rule *r, int i, const lam_value *x, lam_tensor *g) {
    const lam_primitive *p = r->primitive;
    lam_tensor *t = p->slope ? p->slope(r, i, g) : g;
    if (t && lam__scope_peek(t) && !lam__value_same_dims(t->value, x))
        t = lam__rules_sum_to(t, (lam_dims){x->rank, x->dims});
    return p->slope || p->signs[i] > 0 ? t : lam_neg(t);
}

/* Likewise. All or none are given. */
LAM__APART static lam_status cotangents_by_slopes(const lam_call_site *call, lam_value *result, const bool needs[],
                                                  lam_value *g, lam_value *gx[]) {
    const lam_primitive *p = call->primitive;
    lam_status status = LAM_OK;
    small_desk d;
    if (!p->slope && !p->signs[0]) return missing(call, "slope");
    small_open(&d, call, result, reads_of(p, call->inputs, needs));
    lam__scope_lend(&d.t, call->ctx, g);
    for (int i = 0; i < call->inputs && status == LAM_OK; i++)
        status = take(call->ctx, needs[i] ? share_of(&d.rule, i, call->in[i], &d.t) : NULL, &gx[i]);
    for (int i = 0; i < call->inputs && status != LAM_OK; i++) {
        lam__value_release(gx[i]);
        gx[i] = NULL;
    }
    lam__scope_close(&d.scope);
    return status;
}

/* Whether the operands that want a gradient have the dims of the result, so that nothing is to be summed. */
static inline bool one_shape(const lam_call_site *call, const bool needs[], const lam_value *g) {
    for (int i = 0; i < call->inputs; i++)
        if (needs[i] && !lam__value_same_dims(call->in[i], g)) return false;
    return true;
}

/* The way back through a product of one shape needs no handles: it is g times the other factor. */
static lam_status cotangents_elementwise(const lam_call_site *call, lam_value *result, const bool needs[], lam_value *g,
                                         lam_value *gx[]) {
    const lam_primitive *p = call->primitive;
    for (int i = 0; i < call->inputs; i++) gx[i] = NULL;
    if (!g) return LAM_OK;
    lam_value *x = call->in[0], *y = call->in[call->inputs - 1];
    bool saved = (!needs[0] || y) && (!needs[call->inputs - 1] || x); /* if not, the long way says so */
    lam_status status = LAM_OK;
    if (p->power.exponent && needs[0] && times_power(call, result, g, &gx[0], &status)) return status;
    if (!p->bilinear || !saved || !one_shape(call, needs, g)) return cotangents_by_slopes(call, result, needs, g, gx);
    if (needs[0]) status = lam__rules_times(call->ctx, p, g, y, &gx[0]);
    if (status == LAM_OK && needs[1]) status = lam__rules_times(call->ctx, p, x, g, &gx[1]);
    return status;
}

/* What a row gives that nobody needs is dropped; needs tells it beforehand, so that it may spare the work. */
static lam_status cotangents_any(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                 lam_value *const g[], lam_value *gx[]) {
    const lam_primitive *p = call->primitive;
    for (int i = 0; i < call->inputs; i++) gx[i] = NULL;
    if (p->staged) return p->staged->cotangents(call, results, needs, g, gx);
    if (p->derivative == LAM_NOT_DIFFERENTIABLE) return LAM_OK;
    if (!p->vjp) return missing(call, "vjp");
    desk d;
    if (!desk_open(&d, call, results, call->outputs, g, call->inputs)) return LAM_ERR_MEMORY;
    d.rule.needs = needs;
    p->vjp(&d.rule, d.more, d.given);
    for (int i = 0; i < call->inputs; i++) d.given[i] = needs[i] ? lam__rules_narrowed(d.given[i], call->in[i]) : NULL;
    return desk_close(&d, take_all(&d, call->inputs, gx));
}

lam_status lam__rules_cotangents(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                 lam_value *const g[], lam_value *gx[]) {
    const lam_primitive *p = call->primitive;
    return p->derivative == LAM_ELEMENTWISE && !p->staged ? cotangents_elementwise(call, results[0], needs, g[0], gx)
                                                          : cotangents_any(call, results, needs, g, gx);
}

/* What adds with a sign. */
static inline const lam_primitive *row_of(int sign) {
    return sign < 0 ? &lam__row_sub : &lam__row_add;
}

/* Into the box that a slot holds. */
LAM__APART static lam_status accumulate_box(lam_ctx *ctx, lam_value **slot, lam_value *g, int sign) {
    lam_status status;
    if (!lam__dispatch_accumulate(*slot, g, sign, &status)) return combine(ctx, row_of(sign), *slot, g, slot);
    lam__value_release(g);
    return status;
}

lam_status lam__rules_accumulate(lam_ctx *ctx, lam_value **slot, lam_value *g, int sign) {
    lam_value *sum = *slot;
    if (!sum && sign < 0 && !lam__elementwise_pair_into(&lam__row_neg, g, g))
        return combine(ctx, &lam__row_neg, g, g, slot);
    if (!sum) {
        *slot = g;
        return LAM_OK;
    }
    if (sum->kind == LAM__BOX) return accumulate_box(ctx, slot, g, sign);
    if (!lam__elementwise_pair_into(row_of(sign), sum, g)) return combine(ctx, row_of(sign), sum, g, slot);
    lam__value_release(g);
    return LAM_OK;
}

lam_status lam__rules_accumulate_times(lam_ctx *ctx, const lam_primitive *row, lam_value **slot, lam_value *x,
                                       lam_value *y, int sign) {
    lam_status status = LAM_OK;
    lam_value *sum = *slot, *product;
    bool plain = row == &lam__row_mul;
    if (plain && sum->kind == LAM__BOX && lam__dispatch_accumulate_product(sum, x, y, sign, &status)) return status;
    if (plain && sum->kind == LAM__CONCRETE && lam__elementwise_add_product(sum, x, y, sign)) return LAM_OK;
    status = lam__rules_times(ctx, row, x, y, &product);
    return status == LAM_OK ? lam__rules_accumulate(ctx, slot, product, sign) : status;
}

lam_status lam__rules_multiply(lam_ctx *ctx, lam_value **slot, lam_value *y) {
    lam_value *x = *slot, *product;
    lam_status status;
    if (lam__rules_times_into(&lam__row_mul, x, y, &status)) return status;
    status = lam__rules_times(ctx, &lam__row_mul, x, y, &product);
    if (status != LAM_OK) return status;
    *slot = product;
    lam__value_release(x);
    return LAM_OK;
}

/* ---- batch ------------------------------------------------------------------------------------------------ */

/* Elementwise operands line up from the last axis: a mapped one of lower rank gets axes of 1 behind its batch axis. */
static lam_tensor *line_up(lam_tensor *x, int rank) {
    lam_dims own = lam_dims_of(x);
    int64_t dims[LAM_INNER_RANK];
    dims[0] = own.dims[0];
    for (int i = 1; i <= rank; i++) {
        int from = i - (rank + 1 - own.rank);
        dims[i] = from < 1 ? 1 : own.dims[from];
    }
    return lam__apply_reshape(x, rank + 1, dims);
}

/* Operands are broadcast from the last axis, so batch axes meet where the mapped operands have one rank; only then can
 * they be dispatched as they are. */
static lam_status batched_elementwise(const lam_call_site *call, const bool mapped[], lam_value *out[]) {
    int rank = 0;
    bool level = true;
    for (int i = 0; i < call->inputs; i++)
        if (call->in[i]->rank - mapped[i] > rank) rank = call->in[i]->rank - mapped[i];
    for (int i = 0; i < call->inputs; i++)
        if (mapped[i] && call->in[i]->rank != rank + 1) level = false;
    if (level) return lam__dispatch(call, out);
    desk d;
    if (!desk_open(&d, call, NULL, 0, NULL, 1)) return LAM_ERR_MEMORY;
    lam_tensor *operands[4];
    for (int i = 0; i < call->inputs; i++)
        operands[i] = mapped[i] && call->in[i]->rank != rank + 1 ? line_up(d.rule.in[i], rank) : d.rule.in[i];
    same(call, operands, d.given);
    return desk_close(&d, take_all(&d, 1, out));
}

lam_status lam__rules_batched(const lam_call_site *call, const bool mapped[], int64_t size, lam_value *out[]) {
    if (call->primitive->elementwise) return batched_elementwise(call, mapped, out);
    if (!call->primitive->batch) return missing(call, "batch");
    desk d;
    if (!desk_open(&d, call, NULL, 0, NULL, call->outputs)) return LAM_ERR_MEMORY;
    d.rule.mapped = mapped;
    d.rule.size = size;
    call->primitive->batch(&d.rule, d.given);
    lam_status status = take_all(&d, call->outputs, out);
    for (int o = 0; o < call->outputs && status == LAM_OK; o++)
        assert(out[o] && out[o]->rank >= 1 && out[o]->dims[0] == size);
    return desk_close(&d, status);
}
