/* The distance from the origin, whose square is made as a sum of two numbers of operands brought into range: what the
 * function and its slopes (slopes.h) share. Static helpers only; no lane depends on another. */
#ifndef LAM_KERNELS_SIMD_DISTANCE_H
#define LAM_KERNELS_SIMD_DISTANCE_H

#include <math.h>

#include "lib/kernels/simd/exact.h"
#include "lib/kernels/simd/vmath.h"

/* Operands times 2^600, 1 or 2^-600, so that the squares are in range. `most` is the larger of both sizes as they were.
 * Of NaN and a number it is the second operand's size, and the sum of squares is NaN all the same. */
typedef struct scaled_pair {
    V64 x, y, scale, most;
    M64 large;
} scaled_pair;

ALWAYS_INLINE scaled_pair scaled_pair_of(V64 x, V64 y) {
    const V64 one = splat64(1), a = f64_magnitude(x), b = f64_magnitude(y), most = either((M64)(a > b), a, b);
    /* Squares below 2^980 and above 2^-1000 have room for their sum and for their errors. */
    const M64 large = (M64)(most > 0x1p490);
    const V64 scale = either(large, one * 0x1p-600, either((M64)(most < 0x1p-500), one * 0x1p600, one));
    return (scaled_pair){x * scale, y * scale, scale, most, large};
}

/* x^2 + y^2 of the scaled operands, with its error. */
ALWAYS_INLINE sum64 square_of_distance(const scaled_pair *s) {
    const sum64 p = product(s->x, s->x), q = product(s->y, s->y), sum = any_sum(p.hi, q.hi);
    return fast_sum(sum.hi, sum.lo + (p.lo + q.lo));
}

/* Infinite where one operand is, even beside NaN. Back in range by the inverse power. */
ALWAYS_INLINE V64 f64_hypot(V64 x, V64 y) {
    const scaled_pair s = scaled_pair_of(x, y);
    const V64 one = splat64(1), back = either(s.large, one * 0x1p600, either((M64)(s.scale > 1), one * 0x1p-600, one));
    /* The root of a sum of two is rounded once; back by a power of 2, which rounds a subnormal result once more. */
    const sum64 root = root_of(square_of_distance(&s));
    const M64 infinite = (M64)(f64_magnitude(x) == INFINITY) | (M64)(f64_magnitude(y) == INFINITY);
    return either(infinite, one * INFINITY, (root.hi + root.lo) * back);
}

/* No square of a float is too large or too small for a double. One rounding in double and one to float. */
ALWAYS_INLINE V64 quick_hypot(V64 x, V64 y) {
    const V64 root = root64(x * x + y * y);
    const M64 infinite = (M64)(f64_magnitude(x) == INFINITY) | (M64)(f64_magnitude(y) == INFINITY);
    return either(infinite, splat64(INFINITY), root);
}

ALWAYS_INLINE V32 f32_hypot(V32 x, V32 y) {
    return f32_through2(x, y, quick_hypot);
}

#endif
