/* The 16-bit floats as numbers and back: f16 (IEEE half: 5 bits of exponent, 10 of fraction) and bf16 (the upper half
 * of an f32). From float and double they are rounded once, to the nearest, ties to even. Between f16 and f32 NaNs keep
 * the digits that there is room for and become quiet, which is what processors do that have instructions for it. */
#ifndef LAM_KERNELS_SIMD_HALF_H
#define LAM_KERNELS_SIMD_HALF_H

#include <math.h>
#include <string.h>

#include "lib/kernels/simd/vector.h"

/* By memcpy, which costs nothing. */
ALWAYS_INLINE float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The fraction is put where f32 has its own; a multiplication by 2^112, which is exact, mends the exponent, also that
 * of numbers below the normal ones. */
ALWAYS_INLINE float half_value(uint16_t h) {
    const uint32_t rest = (uint32_t)(h & 0x7fffu) << 13;
    /* The first bit of the fraction makes a NaN quiet. */
    const uint32_t quiet = h & 0x3ffu ? 0x7fc00000u : 0x7f800000u;
    const float finite = float_of_bits(rest) * 0x1p112f, special = float_of_bits(rest | quiet);
    const float size = (h & 0x7c00u) == 0x7c00u ? special : finite;
    return h & 0x8000u ? -size : size;
}

/* The lower half of the f32 is 0. */
ALWAYS_INLINE float brain_value(uint16_t h) {
    return float_of_bits((uint32_t)h << 16);
}

ALWAYS_INLINE uint32_t bits_of_single(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ALWAYS_INLINE uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Below 2^-14 steps are equal, 2^-24: they are the last bits of a sum with 1/2. Nothing here branches, so that loops
 * become vectors. */
ALWAYS_INLINE uint16_t half_of_single(float x) {
    const uint32_t bits = bits_of_single(x), size = bits & 0x7fffffffu;
    /* 2^-24 is the last bit of a float from 1/2 to 1. */
    const uint32_t low = bits_of_single(float_of_bits(size) + 0.5f) - 0x3f000000u;
    /* Half a step less one, and one more where the last digit that stays is odd: ties go to even. 112 is the
     * difference of the biases. */
    const uint32_t rounded = (size + 0xfffu + (size >> 13 & 1u) - (112u << 23)) >> 13;
    /* Beyond the largest number it is infinity. */
    const uint32_t narrow = rounded < 0x7c00u ? rounded : 0x7c00u;
    const uint32_t number = size < 113u << 23 ? low : narrow;
    const uint32_t nan = 0x7e00u | (size >> 13 & 0x3ffu);
    return (uint16_t)((bits >> 16 & 0x8000u) | (size > 0x7f800000u ? nan : number));
}

/* Rounded by adding half a step, less one where the last digit that stays is even; a carry goes on into the exponent,
 * up to infinity. */
ALWAYS_INLINE uint16_t brain_of_single(float x) {
    const uint32_t bits = bits_of_single(x), size = bits & 0x7fffffffu;
    /* As above, for a step of 16 bits. */
    const uint32_t rounded = (size + 0x7fffu + (size >> 16 & 1u)) >> 16;
    return (uint16_t)((bits >> 16 & 0x8000u) | (size > 0x7f800000u ? 0x7fc0u : rounded));
}

/* Bits of x with `fraction` bits of fraction and exponents from `least` up, below which steps are equal: `steps` of
 * them to 1, which are the last bits of a sum with 2^52. */
ALWAYS_INLINE uint16_t narrow_bits(double x, int fraction, int least, double steps, uint64_t infinity) {
    const uint64_t bits = bits_of_double(x), size = bits & 0x7fffffffffffffffu;
    const int dropped = 52 - fraction;
    /* The bits of 2^52 come off again. */
    const uint64_t low = bits_of_double(fabs(x) * steps + 0x1p52) - 0x4330000000000000u;
    const uint64_t rounded = size + (size >> dropped & 1u) + (((uint64_t)1 << (dropped - 1)) - 1);
    const uint64_t narrow = (rounded - ((uint64_t)(least - 1 + 1023) << 52)) >> dropped;
    const uint64_t number = size < (uint64_t)(least + 1023) << 52 ? low : narrow < infinity ? narrow : infinity;
    const uint64_t nan = infinity | (uint64_t)1 << (fraction - 1);
    return (uint16_t)((bits >> 48 & 0x8000u) | (size > 0x7ff0000000000000u ? nan : number));
}

/* 10 bits of fraction; exponents from -14 up; steps of 2^-24 below. */
ALWAYS_INLINE uint16_t half_of_double(double x) {
    return narrow_bits(x, 10, -14, 0x1p24, 0x7c00u);
}

/* 7 bits of fraction, the exponents of f32, steps of 2^-133 below. */
ALWAYS_INLINE uint16_t brain_of_double(double x) {
    return narrow_bits(x, 7, -126, 0x1p133, 0x7f80u);
}

#define HALF_BITS(x)  _Generic((x), float : half_of_single, double : half_of_double)(x)
#define BRAIN_BITS(x) _Generic((x), float : brain_of_single, double : brain_of_double)(x)

/* An integer as a double that rounds further as the integer would: what is cut off is remembered in the last bit.
 * Rounding to odd: a number with digits to spare, the last of which says that it is not exact, is never in the middle
 * between two narrower ones by accident. */
ALWAYS_INLINE double odd_double(int64_t x) {
    const int64_t limit = (int64_t)1 << 53;
    if (x > -limit && x < limit) return (double)x;
    /* 53 digits stay; the shift rounds down, and an odd last digit says that something was lost. */
    return (double)(x >> 11 | ((x & 2047) != 0)) * 2048;
}

/* The same as a float, which has room for 24 bits. */
ALWAYS_INLINE float odd_single(int32_t x) {
    const int32_t limit = 1 << 24, cut = x >> 8 | ((x & 255) != 0);
    return x > -limit && x < limit ? (float)x : (float)cut * 256;
}

#endif
