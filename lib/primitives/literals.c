/* C numbers as operands: what the macros and overloads of literals.h call. A number becomes a value of no axes, shown
 * for the time of the call by a handle in the C frame: no tensor is made and nothing is left in the scope. What keeps
 * the number, a tape for example, holds the value and not the handle. */
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>

/* A number as a tensor beside `like`, shown by `lent`; its value is to be released by the caller. Without a usable
 * `like` it is any number of the context of x or `like`, so that op is left to say what is wrong with a tensor in the
 * place where that stands. A number that the dtype cannot hold is the failed tensor, so that a form that rebinds x
 * leaves x failed. */
static lam_tensor *shown_number(lam_tensor *x, lam_tensor *like, lam__operand number, lam_tensor *lent,
                                lam_value **made) {
    bool usable = lam__scope_peek(like) != NULL;
    lam_ctx *ctx = usable ? like->ctx : lam__scope_context(2, (lam_tensor *[]){x, like});
    *made = NULL;
    if (ctx == &lam__context_failed) return like; /* nothing can be recorded */
    *made = usable ? lam__apply_literal("a number beside a tensor", like, number) : lam__value_scalar(ctx, LAM_F64, 0);
    if (!*made) return &ctx->failed;
    lam__scope_lend(lent, ctx, *made);
    return lent;
}

/* Calls op with the number as the second or first operand. */
static lam_tensor *with(lam__binary *op, lam_tensor *x, lam__operand number, bool first) {
    lam_value *made;
    lam_tensor lent, *y = shown_number(x, x, number, &lent, &made);
    lam_tensor *out = first ? op(y, x) : op(x, y);
    lam__value_release(made);
    return out;
}

/* The six forms that a macro or overload may need: tensor and double, long long or unsigned long long, in either
 * order. */
lam_tensor *lam__literals_td(lam__binary *op, lam_tensor *x, double y) {
    return with(op, x, lam__operand_floating(y), false);
}

lam_tensor *lam__literals_dt(lam__binary *op, double x, lam_tensor *y) {
    return with(op, y, lam__operand_floating(x), true);
}

lam_tensor *lam__literals_ti(lam__binary *op, lam_tensor *x, long long y) {
    return with(op, x, lam__operand_integer(y), false);
}

lam_tensor *lam__literals_it(lam__binary *op, long long x, lam_tensor *y) {
    return with(op, y, lam__operand_integer(x), true);
}

lam_tensor *lam__literals_tu(lam__binary *op, lam_tensor *x, unsigned long long y) {
    return with(op, x, lam__operand_unsigned(y), false);
}

lam_tensor *lam__literals_ut(lam__binary *op, unsigned long long x, lam_tensor *y) {
    return with(op, y, lam__operand_unsigned(x), true);
}

/* The tensor that sets the dtype of the numbers among x and y: one of them, or a constant when both are numbers. *made
 * is its value, for the caller to release once the call is over. */
static lam_tensor *beside(lam_tensor *given, lam__operand x, lam__operand y, lam_tensor *lent, lam_value **made) {
    *made = NULL;
    if (x.kind == LAM__TENSOR) return x.as.tensor;
    if (y.kind == LAM__TENSOR) return y.as.tensor;
    bool floating = x.kind == LAM__FLOATING || y.kind == LAM__FLOATING;
    if (!lam__scope_peek(given) || !(*made = lam__value_scalar(given->ctx, floating ? LAM_F64 : LAM_I64, 0)))
        return NULL;
    lam__scope_lend(lent, given->ctx, *made);
    return lent;
}

/* The operand beside x as a tensor. *made is NULL where nothing has to be released. */
static lam_tensor *shown(lam_tensor *x, lam_tensor *like, lam__operand o, lam_tensor *lent, lam_value **made) {
    *made = NULL;
    return o.kind == LAM__TENSOR ? o.as.tensor : shown_number(x, like, o, lent, made);
}

typedef lam_tensor *ternary(lam_tensor *, lam_tensor *, lam_tensor *);

/* Both numbers are shown by handles of this frame, so op must not keep handles; operations never do. */
static lam_tensor *with_two(ternary *op, lam_tensor *first, lam_tensor *like, lam__operand x, lam__operand y) {
    lam_tensor lent[2];
    lam_value *made[2];
    lam_tensor *a = shown(first, like, x, &lent[0], &made[0]), *b = shown(first, like, y, &lent[1], &made[1]);
    lam_tensor *out = op(first, a, b);
    lam__value_release(made[0]);
    lam__value_release(made[1]);
    return out;
}

/* The condition gives no dtype. Two numbers follow a constant that is made for the purpose, f64 or i64. */
lam_tensor *lam__where_operands(lam_tensor *c, lam__operand x, lam__operand y) {
    lam_tensor lent;
    lam_value *made;
    lam_tensor *like = beside(c, x, y, &lent, &made);
    lam_tensor *out = with_two(lam_where, c, like, x, y);
    lam__value_release(made);
    return out;
}

/* Bounds and factors are weak: they take the dtype of x, the first operand, even beside a tensor of another. */
lam_tensor *lam__clamp_operands(lam_tensor *x, lam__operand lo, lam__operand hi) {
    return with_two(lam_clamp, x, x, lo, hi);
}

lam_tensor *lam__fma_operands(lam_tensor *x, lam__operand y, lam__operand z) {
    return with_two(lam_fma, x, x, y, z);
}
