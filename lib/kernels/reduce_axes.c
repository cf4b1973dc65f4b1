/* Axes of reductions, scans and arg-reductions: ordering, merging, walking; the choice of the loops; and what an
 * operation means on a dtype. Nothing here looks at elements. */
#include "lib/kernels/reduce_simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The set of the elementwise loops. There is a row for each dtype but f16 and bf16, which are widened before. */
const lam__reduce_type *lam__reduce_loops(lam_dtype dtype) {
#if defined(LAM__HAVE_X86_64_LEVELS)
    const lam__simd *simd = lam__elementwise_simd();
    if (simd == &lam__simd_v4) return lam__reduce_simd_v4[dtype];
    if (simd == &lam__simd_v3) return lam__reduce_simd_v3[dtype];
#endif
    return lam__reduce_simd_v1[dtype];
}

/* On bool a sum is an or, that is the maximum of bytes 0 and 1, and a product an and. */
lam__reduce_op lam__reduce_op_of(lam__reduce_id id, lam_dtype dtype) {
    /* ANY and ALL are of bools alone, as the largest and the least; TALLY and ROUND are sums in another dtype. */
    static const lam__reduce_op of_number[LAM__REDUCE_COUNT] = {
        [LAM__REDUCE_SUM] = LAM__REDUCE_OP_SUM,   [LAM__REDUCE_PROD] = LAM__REDUCE_OP_PROD,
        [LAM__REDUCE_MAX] = LAM__REDUCE_OP_MAX,   [LAM__REDUCE_MIN] = LAM__REDUCE_OP_MIN,
        [LAM__REDUCE_ANY] = LAM__REDUCE_OP_MAX,   [LAM__REDUCE_ALL] = LAM__REDUCE_OP_MIN,
        [LAM__REDUCE_TALLY] = LAM__REDUCE_OP_SUM, [LAM__REDUCE_ROUND] = LAM__REDUCE_OP_SUM,
    };
    static const lam__reduce_op of_bool[] = {
        [LAM__REDUCE_OP_SUM] = LAM__REDUCE_OP_MAX,
        [LAM__REDUCE_OP_PROD] = LAM__REDUCE_OP_MIN,
        [LAM__REDUCE_OP_MAX] = LAM__REDUCE_OP_MAX,
        [LAM__REDUCE_OP_MIN] = LAM__REDUCE_OP_MIN,
    };
    return dtype == LAM_BOOL && id != LAM__REDUCE_TALLY ? of_bool[of_number[id]] : of_number[id];
}

/* Complex numbers are pairs of reals here, since only their bytes are wanted. */
typedef union element {
    double f64, c128[2];
    float f32, c64[2];
    int64_t i64;
    int32_t i32;
    uint8_t u8;
} element;

/* What a reduction over nothing gives, and what it begins with. Bools are reduced as numbers 0 and 1, so max is or and
 * min is and. */
static element neutral_of(lam__reduce_op op, lam_dtype dtype) {
    /* There are no complex maxima: their rows are never read for complex numbers. */
    static const struct {
        double real;
        int64_t i64;
        int32_t i32;
        uint8_t u8, boolean;
    } of[] = {
        [LAM__REDUCE_OP_SUM] = {0, 0, 0, 0, 0},
        [LAM__REDUCE_OP_PROD] = {1, 1, 1, 1, 1},
        [LAM__REDUCE_OP_MAX] = {-HUGE_VAL, INT64_MIN, INT32_MIN, 0, 0},
        [LAM__REDUCE_OP_MIN] = {HUGE_VAL, INT64_MAX, INT32_MAX, UINT8_MAX, 1},
    };
    switch (dtype) {
    case LAM_F64: return (element){.f64 = of[op].real};
    case LAM_F32: return (element){.f32 = (float)of[op].real};
    case LAM_C128: return (element){.c128 = {of[op].real, 0}};
    case LAM_C64: return (element){.c64 = {(float)of[op].real, 0}};
    case LAM_I64: return (element){.i64 = of[op].i64};
    case LAM_I32: return (element){.i32 = of[op].i32};
    case LAM_U8: return (element){.u8 = of[op].u8};
    default: return (element){.u8 = of[op].boolean};
    }
}

/* Bytes of the neutral element, whatever the dtype. */
void lam__reduce_neutral(lam__reduce_op op, lam_dtype dtype, int64_t n, void *out) {
    const element neutral = neutral_of(op, dtype);
    const size_t item = (size_t)lam__item_bytes(dtype);
    for (int64_t i = 0; i < n; i++) memcpy((char *)out + (size_t)i * item, &neutral, item);
}

/* By the size of their strides, the largest first, so that the walk goes through memory in its order whatever the order
 * of the axes. By insertion: axes of equal strides keep their order, and there are few. */
static void sort_axes(lam__reduce_axes *axes) {
    for (int i = 1; i < axes->rank; i++) {
        lam__reduce_axis moving = axes->at[i];
        int to = i;
        for (; to > 0 && llabs(axes->at[to - 1].x) < llabs(moving.x); to--) axes->at[to] = axes->at[to - 1];
        axes->at[to] = moving;
    }
}

/* Neighbouring axes that are one axis in the operand and in the result become one, so that loops are as long as they
 * can be. A reduced and a kept one never do: the strides of their results differ. Axes come out from the largest stride
 * to the smallest. */
void lam__reduce_coalesce(lam__reduce_axes *axes) {
    sort_axes(axes);
    int kept = 0;
    for (int i = 0; i < axes->rank; i++) {
        lam__reduce_axis inner = axes->at[i], *outer = &axes->at[kept - (kept > 0)];
        if (kept > 0 && outer->x == inner.x * inner.dim && outer->out == inner.out * inner.dim)
            *outer = (lam__reduce_axis){outer->dim * inner.dim, inner.x, inner.out};
        else axes->at[kept++] = inner;
    }
    axes->rank = kept;
}

/* Takes an axis out of the list, for a loop of its own; one that is not there is an axis of one element. */
lam__reduce_axis lam__reduce_take_axis(lam__reduce_axes *axes, int position) {
    /* Strides of 1, so that what is not there counts as an axis without gaps. */
    if (position < 0 || position >= axes->rank) return (lam__reduce_axis){1, 1, 1};
    lam__reduce_axis taken = axes->at[position];
    axes->rank--;
    for (int i = position; i < axes->rank; i++) axes->at[i] = axes->at[i + 1];
    return taken;
}

/* Of axes of equal length the last, whose stride is the smallest. -1 where there is none. */
int lam__reduce_longest(const lam__reduce_axes *axes) {
    int best = axes->rank - 1;
    for (int i = axes->rank - 2; i >= 0; i--)
        if (axes->at[i].dim > axes->at[best].dim) best = i;
    return best;
}

/* An odometer over the axes that are left; lam__reduce_next gives false after the last place, when it is back at the
 * first. `x` and `out` are kept up to date by additions, so a step costs no product of indices. */
void lam__reduce_begin(lam__reduce_walk *walk, const lam__reduce_axes *axes) {
    walk->x = walk->out = 0;
    for (int i = 0; i < axes->rank; i++) walk->index[i] = 0;
}

bool lam__reduce_next(lam__reduce_walk *walk, const lam__reduce_axes *axes) {
    for (int i = axes->rank - 1; i >= 0; i--) {
        const lam__reduce_axis *axis = &axes->at[i];
        walk->x += axis->x, walk->out += axis->out;
        if (++walk->index[i] < axis->dim) return true;
        walk->x -= axis->x * axis->dim, walk->out -= axis->out * axis->dim;
        walk->index[i] = 0;
    }
    return false;
}
