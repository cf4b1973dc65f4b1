/* Comparisons and logic: elementwise, bool-valued or integer-valued, never differentiable; and what stands for
 * what is no number. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

#include <string.h>

const lam_primitive lam__row_eq = {
    .name = "eq",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_eq + 1,
    .predicate = true,
};

lam_tensor *(lam_eq)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_eq, x, y);
}

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

const lam_primitive lam__row_and = {
    .name = "and",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_and + 1,
};

lam_tensor *lam_and(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_and, x, y);
}

const lam_primitive lam__row_or = {
    .name = "or",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_or + 1,
};

lam_tensor *lam_or(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_or, x, y);
}

const lam_primitive lam__row_xor = {
    .name = "xor",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_xor + 1,
};

lam_tensor *lam_xor(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_xor, x, y);
}

/* ---- what is no number ------------------------------------------------------------------------------------------- */

/* What is replaced differs from what it was. */
static lam_tensor *slope_nan_to_num(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam_where(lam_eq(r->in[0], r->out[0]), t, 0.0);
}

static void print_nan_to_num(FILE *file, const void *params) {
    lam__replacements r;
    memcpy(&r, params, sizeof r);
    fprintf(file, "nan=%g, posinf=%g, neginf=%g", r.nan, r.high, r.low);
}

const lam_primitive lam__row_nan_to_num = {
    .name = "nan_to_num",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_nan_to_num + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_nan_to_num,
    .saves = LAM_SAVE_IN(0) | LAM_SAVE_OUT(0),
    .params_print = print_nan_to_num,
};

lam_tensor *lam__nan_to_num(lam_tensor *x, double nan, double high, double low) {
    const lam__replacements r = {nan, high, low};
    return lam__apply1(&lam__row_nan_to_num, &r, sizeof r, x);
}
