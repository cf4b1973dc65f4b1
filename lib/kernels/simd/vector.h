/* Vectors of the set being compiled: V64 of doubles, V32 of floats, M64 and M32 the masks that comparing them gives,
 * as wide as the instruction set allows. They are the compilers' vector extension, so + - * / < & work on them as on
 * scalars. Static helpers only; all are inlined. */
#ifndef LAM_KERNELS_SIMD_VECTOR_H
#define LAM_KERNELS_SIMD_VECTOR_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline, unused))

typedef double V64 __attribute__((vector_size(VECTOR_BYTES)));
typedef float V32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t M64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t M32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t U64 __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES64 = VECTOR_BYTES / 8, LANES32 = VECTOR_BYTES / 4 };

/* Promises the compiler that an output overlaps an input only element on element, which lam__loop guarantees. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a build that does not optimise need not say so */
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

static const double f64_LARGEST = DBL_MAX;
static const float f32_LARGEST = FLT_MAX;
/* From here on all numbers are whole. */
__attribute__((unused)) static const double f64_WHOLE = 0x1p53;
__attribute__((unused)) static const float f32_WHOLE = 0x1p24f;
/* The least number with all its digits; powers of 2 that bring products from beyond either end into the range, and what
 * numbers have room for the upper one. */
__attribute__((unused)) static const double f64_NORMAL = DBL_MIN, f64_ROOM = 0x1p200, f64_UP = 0x1p540,
                                            f64_DOWN = 0x1p-512;
__attribute__((unused)) static const float f32_NORMAL = FLT_MIN, f32_ROOM = 0x1p40f, f32_UP = 0x1p75f,
                                           f32_DOWN = 0x1p-64f;

#endif
