/* -x log(x) with its derivative as vector functions, below 1 ULP: the logarithm is a sum of two doubles, as in logs.h,
 * to which 1 is added before anything is rounded. f32 goes through f64. */
#ifndef LAM_KERNELS_SIMD_ENTROPY_H
#define LAM_KERNELS_SIMD_ENTROPY_H

#include "lib/kernels/simd/activation.h"
#include "lib/kernels/simd/logs.h"

/* The zero of -log(x) - 1, which is 1/e, and the series there: that of -log(1 + e t). As silu_zero in activation.h. */
static const zero64 entr_zero = {.width = 0x1p-8,
                                 .at = 0x1.78b56362cef38p-2,
                                 .at_lo = -0x1.ca8a4270fadf5p-57,
                                 .first = -0x1.5bf0a8b145769p+1,
                                 .first_lo = -0x1.4d57ee2b1013ap-53,
                                 .count = 9,
                                 .rest = {0x1.1354b0c773780p+11, -0x1.c22bdc3cd631ep+9, 0x1.749ea7d470c6ep+8,
                                          -0x1.3952e1e7eb430p+7, 0x1.0cf3d8f0b2b0ap+6, -0x1.daec0f580527fp+4,
                                          0x1.b4c902e273a58p+3, -0x1.ac7dcff3f96b3p+2, 0x1.d8e64b8d4ddaep+1}};

/* Of one logarithm. At 0 both are 0, the slope by choice, and below the function is -inf without slope. */
ALWAYS_INLINE sloped64 f64_sloped_entr(V64 x) {
    const V64 zero = {0};
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST), outside = (M64)(x <= 0);
    /* 1 is added to the sum of two before anything is rounded: next to 1/e all of it cancels. */
    const sum64 log = log_of_parts(parts_of_size(x), zero), more = any_sum(log.hi, splat64(1));
    const V64 slope = either(plain, -(more.hi + (more.lo + log.lo)), either(outside, zero, -x));
    /* -x is right for infinity and NaN. */
    const V64 special = either((M64)(x < 0), zero - INFINITY, either(outside, zero, -x));
    return (sloped64){either(plain, times_log(-x, log), special), mended(slope, x, &entr_zero)};
}

/* As f64_silu in activation.h: the compiler leaves out what is not asked for. */
ALWAYS_INLINE V64 f64_entr(V64 x) {
    return f64_sloped_entr(x).value;
}

ALWAYS_INLINE V64 f64_entr_slope(V64 x) {
    return f64_sloped_entr(x).slope;
}

/* The same formulas in doubles without second parts, for f32, whose numbers are all normal here. */
ALWAYS_INLINE V64 quick_entr(V64 x) {
    const V64 zero = {0};
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST);
    const V64 special = either((M64)(x < 0), zero - INFINITY, either((M64)(x == 0), zero, -x));
    return either(plain, -x * quick_log_of_parts(parts_of(x)), special);
}

/* The zero has to be mended here too, where the sum cancels. */
ALWAYS_INLINE V64 quick_entr_slope(V64 x) {
    const V64 zero = {0};
    const M64 plain = (M64)(x > 0) & (M64)(x <= f64_LARGEST);
    const V64 slope = -1 - quick_log_of_parts(parts_of(x));
    return mended(either(plain, slope, either((M64)(x <= 0), zero, -x)), x, &entr_zero);
}

/* Through doubles, whose errors are far below a float's. */
ALWAYS_INLINE V32 f32_entr(V32 x) {
    return f32_through1(x, quick_entr);
}

ALWAYS_INLINE V32 f32_entr_slope(V32 x) {
    return f32_through1(x, quick_entr_slope);
}

#endif
