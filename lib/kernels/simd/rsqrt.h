/* 1/sqrt(x), which two rounded operations miss by up to 1.5 ULP: with what they leave of x and of 1 it is right but for
 * some 2^-50 of an ulp beside the last rounding. Plain loops are vectorised by the compiler. */
#ifndef LAM_KERNELS_SIMD_RSQRT_H
#define LAM_KERNELS_SIMD_RSQRT_H

#include "lib/kernels/simd/fused.h"

#include <math.h>

/* x - y z, which is a number where y z is x but for its rounding. Where it is not, the result is of no use, and whoever
 * asks chooses another. */
#if defined(VECTOR_FMA)
ALWAYS_INLINE double f64_left_by(double x, double y, double z) {
    return __builtin_fma(-y, z, x);
}
#else
/* The upper half of its digits, never larger than x. By its bits, so that nothing overflows. */
ALWAYS_INLINE double f64_upper(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(uint64_t)0x7ffffff;
    memcpy(&x, &bits, sizeof bits);
    return x;
}
ALWAYS_INLINE double f64_left_by(double x, double y, double z) {
    const double p = y * z, upper_y = f64_upper(y), upper_z = f64_upper(z);
    const double lower_y = y - upper_y, lower_z = z - upper_z;
    return (x - p) - (((upper_y * upper_z - p) + upper_y * lower_z + lower_y * upper_z) + lower_y * lower_z);
}
#endif

/* Small numbers are scaled, so that what is left of them has all its digits. By an even power of 2, of which the root
 * takes half. 0, infinity, negative numbers and NaN keep what the two operations give. The correction is Newton's, made
 * of what the root leaves of x and its inverse of 1. */
ALWAYS_INLINE double f64_rsqrt(double x) {
    const double y = x < 0x1p-900 ? x * 0x1p200 : x, root = sqrt(y), r = 1 / root;
    const double of_y = f64_left_by(y, root, root), of_1 = f64_left_by(1, root, r);
    const double better = r + r * (of_1 - 0.5 * (of_y * r) * r), any = y > 0 && y <= DBL_MAX ? better : r;
    return x < 0x1p-900 ? any * 0x1p100 : any;
}

#if defined(VECTOR_FMA)
/* The same steps in floats, or, without fma, in doubles, where two roundings are enough. */
ALWAYS_INLINE float f32_rsqrt(float x) {
    const float y = x < 0x1p-96f ? x * 0x1p60f : x, root = sqrtf(y), r = 1 / root;
    const float of_y = __builtin_fmaf(-root, root, y), of_1 = __builtin_fmaf(-root, r, 1);
    const float better = r + r * (of_1 - 0.5f * (of_y * r) * r), any = y > 0 && y <= FLT_MAX ? better : r;
    return x < 0x1p-96f ? any * 0x1p30f : any;
}
#else
ALWAYS_INLINE float f32_rsqrt(float x) {
    return (float)(1 / sqrt((double)x));
}
#endif

#endif
