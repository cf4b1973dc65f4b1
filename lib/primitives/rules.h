/* Applies the rules of a row to values: what every interpreter calls. The row's own functions see handles and public
 * operations only; this file lends them handles, opens a scope for what they make, and takes the results out. */
#ifndef LAM_PRIMITIVES_RULES_H
#define LAM_PRIMITIVES_RULES_H

#include "lib/dispatch/dispatch.h"
#include "lib/primitives/rows.h"

/* Tangents dout[] of the outputs from tangents dx[] of the operands (NULL: zero, on both sides). call->in and
 * `results` are primals. On failure nothing is given. */
lam_status lam__rules_tangents(const lam_call_site *call, lam_value *const results[], lam_value *const dx[],
                               lam_value *dout[]);

/* Cotangents gx[] of the operands with needs[] from cotangents g[] of the outputs. Operands and results that the row
 * does not save may be abstract. */
lam_status lam__rules_cotangents(const lam_call_site *call, lam_value *const results[], const bool needs[],
                                 lam_value *const g[], lam_value *gx[]);

/* Outputs with the batch axis in front, from operands that have it in front where mapped[]. */
lam_status lam__rules_batched(const lam_call_site *call, const bool mapped[], int64_t size, lam_value *out[]);

/* An elementwise row of two operands that is linear in each: x times y for values, whichever of the two is a tangent or
 * a cotangent. Gives *out one reference, or NULL after a failure. */
static inline lam_status lam__rules_times(lam_ctx *ctx, const lam_primitive *row, lam_value *x, lam_value *y,
                                          lam_value **out) {
    bool plain = x->kind == LAM__CONCRETE && y->kind == LAM__CONCRETE;
    if (plain && (*out = lam__elementwise_pair(row, x, y, NULL))) return LAM_OK;
    lam_value *in[2] = {x, y};
    lam_call_site call = {.ctx = ctx, .primitive = row, .inputs = 2, .outputs = 1, .in = in};
    *out = NULL;
    return lam__dispatch(&call, out);
}

/* An elementwise row of three operands on values; as above. */
static inline lam_status lam__rules_of_three(lam_ctx *ctx, const lam_primitive *row, lam_value *in[3],
                                             lam_value **out) {
    lam_call_site call = {.ctx = ctx, .primitive = row, .inputs = 3, .outputs = 1, .in = in};
    *out = NULL;
    return lam__dispatch(&call, out);
}

/* What lam__rules_times gives, written over x itself. False, with nothing done, where somebody else sees x, or it is a
 * box whose interpreter cannot do that; otherwise *status tells. */
static inline bool lam__rules_times_into(const lam_primitive *row, lam_value *x, lam_value *y, lam_status *status) {
    *status = LAM_OK;
    if (x->kind == LAM__CONCRETE) return lam__elementwise_pair_into(row, x, y);
    return row == &lam__row_mul && lam__dispatch_multiply(x, y, status);
}

/* What the slot holds becomes its product with y. */
lam_status lam__rules_multiply(lam_ctx *ctx, lam_value **slot, lam_value *y);

/* Adds that product, with a sign, to what the slot holds, which must be something. */
lam_status lam__rules_accumulate_times(lam_ctx *ctx, const lam_primitive *row, lam_value **slot, lam_value *x,
                                       lam_value *y, int sign);

/* The product of g and y (NULL: g itself), summed over what an operand with the dims of `like` was broadcast along. */
lam_status lam__rules_times_summed(lam_ctx *ctx, lam_value *g, lam_value *y, const lam_value *like, lam_value **out);

/* Of handles, for rules: the sum of x y over the axes that have one element in `like`. The product is not made where it
 * need not be. */
lam_tensor *lam__rules_product_summed(lam_tensor *x, lam_tensor *y, lam_dims like);

/* Adds g (sign -1: takes it away) to what a slot holds, or to nothing where it is NULL; g is taken over. The first
 * cotangent is moved in; later ones are added in its memory if nobody else sees that. */
lam_status lam__rules_accumulate(lam_ctx *ctx, lam_value **slot, lam_value *g, int sign);

/* Operand i of a batch rule with the batch axis in front, repeated if it had none. */
lam_tensor *lam__rules_with_batch(const lam_rule *rule, int i);

/* x with the sum over what was broadcast undone: from the dims of x to those of `like`. Public operations only. */
lam_tensor *lam__rules_sum_to(lam_tensor *x, lam_dims like);

/* The gradient of operand x, of a half in its dtype: no rule knows of halves, and what comes back from a complex result
 * of one is f32. NULL stays. */
lam_tensor *lam__rules_narrowed(lam_tensor *g, const lam_value *x);

#endif
