/* (x + sqrt(x^2 + b))/2, within 1.5 ULP, and its derivative by x, within 2.5, of both floating types, by the steps of
 * squareplus_type.h where x^2 is in range. Here is what each type has of its own. */
#ifndef LAM_KERNELS_SIMD_SQUAREPLUS_H
#define LAM_KERNELS_SIMD_SQUAREPLUS_H

#include "lib/kernels/simd/single.h"
#include "lib/kernels/simd/vmath.h"

/* v (size + v) - b, of which the first two terms nearly cancel: with as many digits as v^2 has. */
ALWAYS_INLINE V64 f64_beyond(V64 v, V64 size, V64 b) {
/* v^2 + (v size - b): each product is rounded with what is taken from it. Without fma the sum of both factors is
 * formed first, so that there is one product. */
#if defined(VECTOR_FMA)
    return madd(v, v, madd(v, size, -b));
#else
    const sum64 sum = any_sum(size, v), p = product(v, sum.hi);
    return (p.hi - b) + (p.lo + v * sum.lo);
#endif
}

/* fused32 keeps the digits of a product in every set, so there is one form. */
ALWAYS_INLINE V32 f32_beyond(V32 v, V32 size, V32 b) {
    return fused32(v, v, fused32(v, size, -b));
}

/* 1/x to half of its digits and more, where that is less work. A guess of 14 bits and one step of Newton's make 28;
 * a division where there is no guess. */
ALWAYS_INLINE V64 f64_half_inverse(V64 x) {
#if defined(__AVX512F__)
    const V64 guess = (V64)_mm512_rcp14_pd((__m512d)x);
    return madd(guess, madd(-x, guess, splat64(1)), guess);
#else
    return 1 / x;
#endif
}

/* For floats the guess is enough as it is. */
ALWAYS_INLINE V32 f32_half_inverse(V32 x) {
#if defined(__AVX512F__)
    return (V32)_mm512_rcp14_ps((__m512)x);
#else
    return 1 / x;
#endif
}

/* The root of x and its inverse, of as many digits: what is made of them corrects them. A guess of 14 bits, made
 * 28; 14 are enough for floats. In terms of g, a guess of 1/sqrt(x): with miss = (1 - x g^2)/2 both are mended by
 * one factor 1 + miss. */
ALWAYS_INLINE V64 f64_half_root(V64 x, V64 *inverse) {
#if defined(__AVX512F__)
    const V64 guess = (V64)_mm512_rsqrt14_pd((__m512d)x), root = guess * x;
    const V64 miss = madd(-root, 0.5 * guess, splat64(0.5));
    *inverse = madd(guess, miss, guess);
    return madd(root, miss, root);
#else
    const V64 root = root64(x);
    *inverse = 1 / root;
    return root;
#endif
}

/* As f64_half_root, where the guess is enough as it is. */
ALWAYS_INLINE V32 f32_half_root(V32 x, V32 *inverse) {
#if defined(__AVX512F__)
    *inverse = (V32)_mm512_rsqrt14_ps((__m512)x);
    return *inverse * x;
#else
    const V32 root = root32(x);
    *inverse = 1 / root;
    return root;
#endif
}

/* x / y by such an inverse of y and what the product leaves. Without a product that is rounded once a division it
 * is. */
ALWAYS_INLINE V64 f64_ratio_by(V64 x, V64 y, V64 inverse) {
#if defined(__AVX512F__)
    const V64 q = x * inverse;
    return madd(madd(-q, y, x), inverse, q);
#else
    return (void)inverse, x / y;
#endif
}

/* As f64_ratio_by. */
ALWAYS_INLINE V32 f32_ratio_by(V32 x, V32 y, V32 inverse) {
#if defined(__AVX512F__)
    const V32 q = x * inverse;
    return madd32(madd32(-q, y, x), inverse, q);
#else
    return (void)inverse, x / y;
#endif
}

/* W is what single lanes are done in: those with b below LEAST or x^2 + b beyond MOST. */
#define T       double
#define V       V64
#define M       M64
#define W       long double
#define NAME(x) f64_##x
#define OWN(x)  x
#define LEAST   0x1p-900
#define MOST    0x1p900
#include "lib/kernels/simd/squareplus_type.h"

#define T       float
#define V       V32
#define M       M32
#define W       double
#define NAME(x) f32_##x
#define OWN(x)  x##32
#define LEAST   0x1p-100f
#define MOST    0x1p98f
#include "lib/kernels/simd/squareplus_type.h"

#endif
