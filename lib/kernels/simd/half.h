/* The 16-bit floats as numbers and back: f16 (IEEE half: 5 bits of exponent, 10 of fraction) and bf16 (the upper half
 * of an f32). From double, which holds every f32, they are rounded once, to the nearest, ties to even. */
#ifndef LAM_KERNELS_SIMD_HALF_H
#define LAM_KERNELS_SIMD_HALF_H

#include <math.h>
#include <string.h>

#include "lib/kernels/simd/vector.h"

ALWAYS_INLINE float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The fraction is put where f32 has its own; a multiplication by 2^112, which is exact, mends the exponent, also that
 * of numbers below the normal ones. */
ALWAYS_INLINE float half_value(uint16_t h) {
    const uint32_t rest = (uint32_t)(h & 0x7fffu) << 13;
    const float finite = float_of_bits(rest) * 0x1p112f, special = float_of_bits(rest | 0x7f800000u);
    const float size = (h & 0x7c00u) == 0x7c00u ? special : finite;
    return h & 0x8000u ? -size : size;
}

ALWAYS_INLINE float brain_value(uint16_t h) {
    return float_of_bits((uint32_t)h << 16);
}

/* Bits of x with `fraction` bits of fraction and exponents from `least` up, below which steps are equal: `steps` of
 * them to 1. */
ALWAYS_INLINE uint16_t narrow_bits(double x, int fraction, int least, double steps, uint16_t infinity) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000u);
    const uint64_t size = bits & 0x7fffffffffffffffu;
    const int dropped = 52 - fraction;
    if (size > 0x7ff0000000000000u) return (uint16_t)(sign | infinity | 1u << (fraction - 1)); /* NaN */
    if (size < (uint64_t)(least + 1023) << 52) return (uint16_t)(sign | (uint16_t)rint(fabs(x) * steps));
    const uint64_t rounded = size + (size >> dropped & 1u) + (((uint64_t)1 << (dropped - 1)) - 1);
    const uint64_t narrow = (rounded >> dropped) - ((uint64_t)(least - 1 + 1023) << fraction);
    return (uint16_t)(sign | (narrow > infinity ? infinity : narrow));
}

ALWAYS_INLINE uint16_t half_bits(double x) {
    return narrow_bits(x, 10, -14, 0x1p24, 0x7c00u);
}

ALWAYS_INLINE uint16_t brain_bits(double x) {
    return narrow_bits(x, 7, -126, 0x1p133, 0x7f80u);
}

/* An integer as a double that rounds further as the integer would: what is cut off is remembered in the last bit. */
ALWAYS_INLINE double odd_double(int64_t x) {
    const int64_t limit = (int64_t)1 << 53;
    if (x > -limit && x < limit) return (double)x;
    return (double)(x >> 11 | ((x & 2047) != 0)) * 2048;
}

#endif
