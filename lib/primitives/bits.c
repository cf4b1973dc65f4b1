/* Elementwise operations on the representation: shifts of integers, the neighbour of a float. Shifts have no
 * derivative; the neighbour has that of its operand, from which it differs by one unit in the last place. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/rows.h"

#include <lamina/ops.h>

/* Shifts: a count outside 0 to the width less one is defined, unlike in C. Left and logical ones then give 0, the
 * arithmetic one the sign in all bits. Bools have no loop: a shift of one bit has no use. */
const lam_primitive lam__row_shift_left = {
    .name = "shift_left",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_left + 1,
};

lam_tensor *(lam_shift_left)(lam_tensor *x, lam_tensor *count) {
    return lam__apply_binary(&lam__row_shift_left, x, count);
}

/* Two rows for the one operator of C, whose meaning depends on the sign of the operand there: u8 has no sign, and the
 * two agree for it. */
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

/* As a function of reals it is x plus a step of constant size but for the powers of 2, and does not depend on how far
 * away `towards` is, only on which side. Nothing is read, so nothing is saved. */
static lam_tensor *slope_nextafter(const lam_rule *r, int i, lam_tensor *t) {
    (void)r;
    return i == 0 ? t : NULL;
}

/* `linear` would be wrong though the slope is 1: the value is not a linear function of x. */
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
