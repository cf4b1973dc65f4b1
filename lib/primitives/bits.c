/* Rows on the representation: shifts, counts of bits and divisors of integers; neighbours, powers of two and fewer
 * digits of floats; the bits of anything as another dtype. What is an integer has no derivative; the neighbour has that
 * of its operand, from which it differs by one unit in the last place. */
#include "lib/kernels/kernels.h"
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/matrices.h"
#include "lib/primitives/rows.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* Shifts: a count outside 0 to the width less one is defined, unlike in C. Left and logical ones then give 0, the
 * arithmetic one the sign in all bits. Bools have no loop: a shift of one bit has no use. Integers only: floats have no
 * loop here, which dispatch says. */
const lam_primitive lam__row_shift_left = {
    .name = "shift_left",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_left + 1,
};

/* In parentheses, as those below: the names are also macros, which take C numbers (literals.h). */
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

/* For u8 and for numbers that are taken as patterns of bits. */
lam_tensor *(lam_shift_right_logical)(lam_tensor *x, lam_tensor *count) {
    return lam__apply_binary(&lam__row_shift_right_logical, x, count);
}

/* The sign comes in from above. */
const lam_primitive lam__row_shift_right_arithmetic = {
    .name = "shift_right_arithmetic",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_shift_right_arithmetic + 1,
};

/* Of negative x it rounds down, where a division by 2^count rounds towards 0. */
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

/* At x = towards it is x. */
lam_tensor *(lam_nextafter)(lam_tensor *x, lam_tensor *towards) {
    return lam__apply_binary(&lam__row_nextafter, x, towards);
}

/* ---- counts of bits, divisors ------------------------------------------------------------------------------------ */

/* A row that names no derivative has none, LAM_NOT_DIFFERENTIABLE being 0. */
const lam_primitive lam__row_population_count = {
    .name = "population_count",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_population_count + 1,
};

lam_tensor *lam_population_count(lam_tensor *x) {
    return lam__apply_unary(&lam__row_population_count, x);
}

/* Of the width of the dtype: an i32 of 1 has 31 of them. */
const lam_primitive lam__row_clz = {
    .name = "clz",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_clz + 1,
};

lam_tensor *lam_clz(lam_tensor *x) {
    return lam__apply_unary(&lam__row_clz, x);
}

/* A row, since Euclid's algorithm takes another number of steps for each element. */
const lam_primitive lam__row_gcd = {
    .name = "gcd",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_gcd + 1,
};

lam_tensor *(lam_gcd)(lam_tensor *x, lam_tensor *y) {
    return lam__apply_binary(&lam__row_gcd, x, y);
}

/* ---- powers of two ----------------------------------------------------------------------------------------------- */

/* Linear in x. The exponents come as whole floats, made of integers, so that no derivative reaches them. So ldexp is
 * its own jvp. */
static lam_tensor *slope_ldexp(const lam_rule *r, int i, lam_tensor *t) {
    return i == 0 ? lam__apply_binary(&lam__row_ldexp, t, r->in[1]) : NULL;
}

/* The slope by x needs the exponents alone. */
const lam_primitive lam__row_ldexp = {
    .name = "ldexp",
    .inputs = 2,
    .elementwise = true,
    .loop = LAM__LOOP_ldexp + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 1u,
    .slope = slope_ldexp,
    .saves_for = {LAM_SAVE_IN(1)},
};

/* Exponents of f16 and bf16 would not be exact, so these are moved in f32, which rounds none of their results but where
 * they become 0. */
lam_tensor *lam_ldexp(lam_tensor *x, lam_tensor *exponents) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, exponents}, *failed;
    lam_value *v[2];
    if (!lam__scope_operands("ldexp", 2, in, v, &failed)) return failed;
    const int own = v[0]->dtype, other = v[1]->dtype;
    if (lam__dtype_is_inexact(other) || other == LAM_BOOL || lam__dtype_is_complex(own))
        return lam__matrices_fail("ldexp", 2, in, LAM_ERR_DTYPE, "cast them first",
                                  "a real number and an integer exponent are needed");
    const bool half = lam__dtype_is_half(own);
    const lam_dtype dtype = half ? LAM_F32 : lam__dtype_is_float(own) ? (lam_dtype)own : LAM_F64;
    /* Whole floats of f32 are exact up to 2^24, far beyond the exponents that leave any number in range. */
    lam_tensor *out = lam__apply_binary(&lam__row_ldexp, lam_cast(x, dtype), lam_cast(exponents, dtype));
    return lam__scope_only(half ? lam_cast(out, (lam_dtype)own) : out, since);
}

/* ---- fewer digits ------------------------------------------------------------------------------------------------ */

/* The tangent is rounded as the value is, and the row counts as linear, as in JAX: the derivative of a program in the
 * narrow format. */
static lam_tensor *slope_reduce_precision(const lam_rule *r, int i, lam_tensor *t) {
    (void)i;
    return lam__apply_coded(&lam__row_reduce_precision, *(const int64_t *)r->params, 1, &t);
}

/* Linear like a cast to the narrow format. */
const lam_primitive lam__row_reduce_precision = {
    .name = "reduce_precision",
    .inputs = 1,
    .elementwise = true,
    .loop = LAM__LOOP_reduce_precision + 1,
    .real = true,
    .derivative = LAM_ELEMENTWISE,
    .linear = 1u,
    .slope = slope_reduce_precision,
    .layout = "l bits",
};

/* Both numbers are one parameter, 256 times the first and the second, as the loop takes it. A byte has room for
 * each. So the parameter fits the form in which families have their order. */
lam_tensor *lam_reduce_precision(lam_tensor *x, int exponent_bits, int mantissa_bits) {
    if (exponent_bits < 1 || exponent_bits > 255 || mantissa_bits < 0 || mantissa_bits > 255)
        return lam__axes_fail("reduce_precision", x, LAM_ERR_VALUE, "%d bits of exponent and %d of fraction",
                              exponent_bits, mantissa_bits);
    return lam__apply_coded(&lam__row_reduce_precision, exponent_bits * 256 + mantissa_bits, 1, &x);
}

/* ---- the same bits as another dtype ------------------------------------------------------------------------------ */

/* One element is several smaller ones, which get an axis; or several, an axis, are one. */
static lam_status shape_bitcast(const lam_call_site *call, lam_shape out[]) {
    const lam_value *x = call->in[0];
    const int32_t dtype = *(const int32_t *)call->params;
    const size_t from = lam__dtype_bytes(x->dtype), to = lam__dtype_bytes(dtype);
    const int axes = from < to ? x->rank - 1 : x->rank;
    if (x->dtype == LAM_BOOL)
        return lam__error_call(call, LAM_ERR_DTYPE, "cast it to u8",
                               "the bytes of bool are not the bits of another dtype");
    if (from < to && (x->rank == 0 || x->dims[x->rank - 1] != (int64_t)(to / from)))
        return lam__error_call(call, LAM_ERR_SHAPE, "reshape it", "a last axis of %d elements is needed",
                               (int)(to / from));
    out->dtype = (lam_dtype)dtype;
    out->rank = from > to ? x->rank + 1 : axes;
    for (int i = 0; i < axes; i++) out->dims[i] = x->dims[i];
    if (from > to) out->dims[axes] = (int64_t)(from / to);
    return LAM_OK;
}

/* Copied as what they are into memory of the other dtype, which has as many bytes. So bytes stand in the machine's own
 * order. */
static lam_status eval_bitcast(const lam_call_site *call, lam_value *const out[]) {
    if (call->in[0]->count) lam__matrices_copy(call->in[0], out[0]->data);
    return LAM_OK;
}

/* Axes in front take no part. Only the last axis is made or taken away. */
static void batch_bitcast(const lam_rule *r, lam_tensor *out[]) {
    out[0] = lam__apply1(r->primitive, r->params, sizeof(int32_t), r->in[0]);
}

/* Evaluated on f16 and bf16 as they are (lam__half_concerns). */
const lam_primitive lam__row_bitcast = {
    .name = "bitcast",
    .inputs = 1,
    .takes_complex = true,
    .shape = shape_bitcast,
    .eval = eval_bitcast,
    .batch = batch_bitcast,
    .layout = "T dtype",
};

/* Not differentiable, as an integer may stand on either side. */
lam_tensor *lam_bitcast(lam_tensor *x, lam_dtype dtype) {
    const int32_t wanted = (int32_t)dtype;
    /* Bytes of bools are 0 or 1, which not all bits are. */
    if (!lam__dtype_valid((int)dtype) || dtype == LAM_BOOL)
        return lam__axes_fail("bitcast", x, LAM_ERR_DTYPE, "bits cannot become that dtype");
    return lam__apply1(&lam__row_bitcast, &wanted, sizeof wanted, x);
}
