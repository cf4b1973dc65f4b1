/* Comparisons and logic: elementwise, bool-valued or integer-valued, never differentiable. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

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
