/* Comparisons and logic: elementwise, bool-valued or integer-valued, never differentiable; and what stands for what is
 * no number. The rows of the first two leave `derivative` at its zero, LAM_NOT_DIFFERENTIABLE: both modes give zero
 * without asking, a tape saves nothing for them, and their operands need not stay alive. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

#include <math.h>
#include <string.h>

/* The six comparisons. `predicate` makes the result bool; operands are brought to one dtype first, so that i64 and f64
 * are compared as f64, in which integers beyond 2^53 may become equal. Each has a loop of its own: with a NaN, ge is
 * not the contrary of lt. Complex numbers have no order, so there are no loops of the last four for them. */
const lam_primitive lam__row_eq = {
    .name = "eq",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_eq + 1,
    .predicate = true,
};

/* The parentheses keep the macro of the same name (literals.h) from being expanded: it chooses between this and the
 * forms for C numbers. */
lam_tensor *(lam_eq)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_eq, x, y);
}

/* The one comparison that holds where an operand is NaN. */
const lam_primitive lam__row_ne = {
    .name = "ne",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_ne + 1,
    .predicate = true,
};

lam_tensor *(lam_ne)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_ne, x, y);
}

/* With a NaN on either side false, like all but ne. */
const lam_primitive lam__row_lt = {
    .name = "lt",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_lt + 1,
    .predicate = true,
};

lam_tensor *(lam_lt)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_lt, x, y);
}

const lam_primitive lam__row_le = {
    .name = "le",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_le + 1,
    .predicate = true,
};

/* False where an operand is NaN, as are all but ne. */
lam_tensor *(lam_le)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_le, x, y);
}

const lam_primitive lam__row_gt = {
    .name = "gt",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_gt + 1,
    .predicate = true,
};

lam_tensor *(lam_gt)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_gt, x, y);
}

/* Not lt the other way round: that is true where an operand is NaN. */
const lam_primitive lam__row_ge = {
    .name = "ge",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_ge + 1,
    .predicate = true,
};

lam_tensor *(lam_ge)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_ge, x, y);
}

/* Logic of bools, bits of integers. The result has the common dtype of the operands: bool and i32 give i32, where true
 * counts as 1. Floats are refused for want of a loop. */
const lam_primitive lam__row_and = {
    .name = "and",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_and + 1,
};

lam_tensor *(lam_and)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_and, x, y);
}

const lam_primitive lam__row_or = {
    .name = "or",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_or + 1,
};

lam_tensor *(lam_or)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_or, x, y);
}

/* Of bools the same as ne, but the operands must be bools or integers, so that a float where a mask is meant is
 * noticed. */
const lam_primitive lam__row_xor = {
    .name = "xor",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_xor + 1,
};

lam_tensor *(lam_xor)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_xor, x, y);
}

/* ---- what is no number ------------------------------------------------------------------------------------------- */

/* 1 where the number stays, 0 where it is replaced: what is replaced differs from what it was, NaN from everything. An
 * infinity that is replaced by itself counts as staying; where both are, nothing is compared. t is chosen, not
 * multiplied, as it may be inf at such places. */
static lam_tensor *slope_nan_to_num(const lam_rule *r, int i, lam_tensor *t) {
    double to[3]; /* for NaN, infinity and -infinity */
    (void)i;
    memcpy(to, r->params, sizeof to);
    if (to[1] == INFINITY && to[2] == -INFINITY) return lam_where(lam_is_nan(r->in[0]), 0.0, t);
    return lam_where(lam_eq(r->in[0], r->out[0]), t, 0.0);
}

/* Operand and result are both kept, as the slope compares them. */
const lam_primitive lam__row_nan_to_num = {
    .name = "nan_to_num",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_nan_to_num + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_nan_to_num,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .layout = "d nan, d posinf, d neginf",
};

/* The public form, with its defaults that depend on the dtype, is in numeric.c. With all three numbers given, the row
 * need not know the dtype's largest one. */
lam_tensor *lam__nan_to_num(lam_tensor *x, double nan, double high, double low) {
    const lam__replacements r = {nan, high, low};
    return lam__apply1(&lam__row_nan_to_num, &r, sizeof r, x);
}
