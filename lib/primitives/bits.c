/* Elementwise operations on the representation: shifts of integers, the neighbour of a float. Shifts have no
 * derivative; the neighbour has that of its operand, from which it differs by one unit in the last place. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

const lam_primitive lam__row_shift_left = {
    .name = "shift_left",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_left + 1,
};

lam_tensor *(lam_shift_left)(lam_tensor *x, lam_tensor *count) {
    return lam__apply_binary(&lam__row_shift_left, x, count);
}

const lam_primitive lam__row_shift_right_logical = {
    .name = "shift_right_logical",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_right_logical + 1,
};

lam_tensor *(lam_shift_right_logical)(lam_tensor *x, lam_tensor *count) {
    return lam__apply_binary(&lam__row_shift_right_logical, x, count);
}

const lam_primitive lam__row_shift_right_arithmetic = {
    .name = "shift_right_arithmetic",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_right_arithmetic + 1,
};

lam_tensor *(lam_shift_right_arithmetic)(lam_tensor *x, lam_tensor *count) {
    return lam__apply_binary(&lam__row_shift_right_arithmetic, x, count);
}

static lam_tensor *slope_nextafter(const lam_rule *r, int i, lam_tensor *t) {
    (void)r;
    return i == 0 ? t : NULL;
}

const lam_primitive lam__row_nextafter = {
    .name = "nextafter",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_nextafter + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .slope = slope_nextafter,
};

lam_tensor *(lam_nextafter)(lam_tensor *x, lam_tensor *towards) {
    return lam__apply_binary(&lam__row_nextafter, x, towards);
}
