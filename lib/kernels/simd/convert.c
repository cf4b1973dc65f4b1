/* One instruction set's conversion loops, for every pair of dtypes; compiled once per set. C semantics, with a
 * meaning where C has none: a float too large for the integer saturates, NaN gives 0; anything to bool is != 0;
 * integers narrow by dropping high bits. Floats reach integers through double, which holds every float. A complex
 * number is made with the imaginary part 0 and read as its real part, but as a bool by both. */
#include "lib/kernels/simd/simd.h"

#include <string.h>

#include "lib/kernels/item.h"
#include "lib/kernels/simd/vector.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

/* What all loops take. Conversions have no parameters. */
#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

/* Each keeps the conversion itself inside the range where C defines it, so that it may be done for every lane. A
 * conversion that overflows would be undefined even in a lane whose result is thrown away. 2^63 has no int64_t, so that
 * end is compared with `>=`; NaN fails both comparisons and gives 0. */
ALWAYS_INLINE int64_t saturate_i64(double x) {
    const double above = 9223372036854775808.0;
    double inside = x >= -above && x < above ? x : 0;
    int64_t limit = x >= above ? INT64_MAX : x < -above ? INT64_MIN : 0;
    return (int64_t)inside + limit;
}

/* A float knows itself whether it is too large; what a double says below holds only for it. */
ALWAYS_INLINE int32_t saturate_single(float x) {
    float inside = x >= -0x1p31f && x < 0x1p31f ? x : 0;
    int32_t limit = x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : 0;
    return (int32_t)inside + limit;
}

/* Bounded first, since both bounds are doubles; NaN passes the first comparison as the bound and is 0 in the end. */
ALWAYS_INLINE int32_t saturate_i32(double x) {
    double low = x > INT32_MIN ? x : INT32_MIN, inside = low < INT32_MAX ? low : INT32_MAX;
    return (int32_t)(x == x ? inside : 0);
}

/* By way of an int, which has instructions; NaN is not above 0. */
ALWAYS_INLINE uint8_t saturate_u8(double x) {
    double low = x > 0 ? x : 0, inside = low < UINT8_MAX ? low : UINT8_MAX;
    return (uint8_t)(int32_t)inside;
}

/* The conversions of 16-bit floats, element by element. */
#include "lib/kernels/simd/half.h"

/* What rounds once more as the integer would. Integers reach 16-bit floats through a wider float, and two roundings are
 * not one unless the first is to odd (half.h). */
#define ODD(x) _Generic((x), int64_t : odd_double, default : odd_single)(x)

/* Destinations one after the other, each with all sources; the macros say how floats and how integers reach it.
 * Results are the bits of an f16. */
#define D               uint16_t
#define TO(x)           f16_##x
#define FROM_FLOAT(x)   HALF_BITS(x)
#define FROM_INTEGER(x) HALF_BITS(ODD(x))
#include "lib/kernels/simd/convert_to.h"

#define D               uint16_t
#define TO(x)           bf16_##x
#define FROM_FLOAT(x)   BRAIN_BITS(x)
#define FROM_INTEGER(x) BRAIN_BITS(ODD(x))
#include "lib/kernels/simd/convert_to.h"

/* Integers of 64 bits are rounded to the nearest double. */
#define D               double
#define TO(x)           f64_##x
#define FROM_FLOAT(x)   x
#define FROM_INTEGER(x) (double)(x)
#include "lib/kernels/simd/convert_to.h"

/* From double once, from integers once. */
#define D               float
#define TO(x)           f32_##x
#define FROM_FLOAT(x)   (float)(x)
#define FROM_INTEGER(x) (float)(x)
#include "lib/kernels/simd/convert_to.h"

/* All floats saturate by double, which holds every one of them; wider integers lose their high bits. */
#define D               int64_t
#define TO(x)           i64_##x
#define FROM_FLOAT(x)   saturate_i64(x)
#define FROM_INTEGER(x) x
#include "lib/kernels/simd/convert_to.h"

#define D               int32_t
#define TO(x)           i32_##x
#define FROM_FLOAT(x)   _Generic((x), float : saturate_single, double : saturate_i32)(x)
#define FROM_INTEGER(x) (int32_t)(x)
#include "lib/kernels/simd/convert_to.h"

#define D               uint8_t
#define TO(x)           u8_##x
#define FROM_FLOAT(x)   saturate_u8(x)
#define FROM_INTEGER(x) (uint8_t)(x)
#include "lib/kernels/simd/convert_to.h"

/* NaN is not 0, so it is true. */
#define D               uint8_t
#define TO(x)           bool_##x
#define FROM_FLOAT(x)   (x) != 0
#define FROM_INTEGER(x) (x) != 0
#include "lib/kernels/simd/convert_to.h"

/* ---- f16 and f32 where there are instructions for it, which give the same bits as half.h ------------------------ */

#if defined(__F16C__)
#if defined(__AVX512F__)
/* Items that one instruction converts: as many floats as a vector has. */
enum { SIDE_BY_SIDE = 16 };
ALWAYS_INLINE void widen(float *out, const uint16_t *x) {
    _mm512_storeu_ps(out, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)x)));
}
ALWAYS_INLINE void narrow(uint16_t *out, const float *x) {
    /* The mode is said, so that it does not depend on the processor's. */
    _mm256_storeu_si256((__m256i *)out, _mm512_cvtps_ph(_mm512_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
}
#else
enum { SIDE_BY_SIDE = 8 };
ALWAYS_INLINE void widen(float *out, const uint16_t *x) {
    _mm256_storeu_ps(out, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)x)));
}
ALWAYS_INLINE void narrow(uint16_t *out, const float *x) {
    _mm_storeu_si128((__m128i *)out, _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
}
#endif

/* Whole vectors of neighbours by the instruction, the rest and everything strided by the loop. The instruction rounds
 * to nearest and keeps NaNs quiet, as half.h does, so it does not matter which of them an element meets. */
static void quick_f32_from_f16(LOOP_ARGS) {
    /* Elements that are done by the instruction; none where something is strided. */
    const int64_t even = step[0] == 1 && step[1] == 1 ? n / SIDE_BY_SIDE * SIDE_BY_SIDE : 0;
    float *out = p[0];
    uint16_t *x = p[1];
    for (int64_t i = 0; i < even; i += SIDE_BY_SIDE) widen(out + i, x + i);
    if (even < n) f32_loop_from_f16(n - even, (void *[]){out + even, x + even}, step, params);
}

/* The same in the other direction. */
static void quick_f16_from_f32(LOOP_ARGS) {
    const int64_t even = step[0] == 1 && step[1] == 1 ? n / SIDE_BY_SIDE * SIDE_BY_SIDE : 0;
    uint16_t *out = p[0];
    float *x = p[1];
    for (int64_t i = 0; i < even; i += SIDE_BY_SIDE) narrow(out + i, x + i);
    if (even < n) f16_loop_from_f32(n - even, (void *[]){out + even, x + even}, step, params);
}
#endif

/* ---- complex numbers: the loops of their parts, which lie two apart --------------------------------------------- */

/* The loop writes every second number; zeros are put between. `part`: bytes of a part of the complex number. */
static void parts_from_real(lam__loop *loop, LOOP_ARGS, size_t part) {
    const int64_t apart[2] = {2 * step[0], step[1]};
    loop(n, p, apart, params);
    for (int64_t i = 0; i < n; i++) memset((char *)p[0] + (size_t)(i * apart[0] + 1) * part, 0, part);
}

/* Twice the loop of the parts, once for each; to and from are the bytes of a part. */
static void parts_from_parts(lam__loop *loop, LOOP_ARGS, size_t to, size_t from) {
    const int64_t apart[2] = {2 * step[0], 2 * step[1]};
    /* The imaginary parts, one part behind. */
    void *const second[2] = {(char *)p[0] + to, (char *)p[1] + from};
    loop(n, p, apart, params);
    loop(n, second, apart, params);
}

/* The imaginary part is left out. */
static void real_from_parts(lam__loop *loop, LOOP_ARGS) {
    const int64_t apart[2] = {step[0], 2 * step[1]};
    loop(n, p, apart, params);
}

/* True unless both parts are 0; a NaN is not 0. */
static void bool_loop_from_c128(LOOP_ARGS) {
    const double *x = p[1];
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)p[0])[i * step[0]] = x[2 * i * step[1]] != 0 || x[2 * i * step[1] + 1] != 0;
}

/* The same of floats. */
static void bool_loop_from_c64(LOOP_ARGS) {
    const float *x = p[1];
    for (int64_t i = 0; i < n; i++)
        ((uint8_t *)p[0])[i * step[0]] = x[2 * i * step[1]] != 0 || x[2 * i * step[1] + 1] != 0;
}

/* Rows and one-line adapters. */
/* clang-format off */
/* Sources and destinations of complex pairs: from reals, to reals, and between the two widths. */
#define TO_COMPLEX(from) \
    static void c128_loop_from_##from(LOOP_ARGS) { parts_from_real(f64_loop_from_##from, n, p, step, params, 8); } \
    static void c64_loop_from_##from(LOOP_ARGS) { parts_from_real(f32_loop_from_##from, n, p, step, params, 4); }
#define FROM_COMPLEX(to) \
    static void to##_loop_from_c128(LOOP_ARGS) { real_from_parts(to##_loop_from_f64, n, p, step, params); } \
    static void to##_loop_from_c64(LOOP_ARGS) { real_from_parts(to##_loop_from_f32, n, p, step, params); }
/* to_part and from_part are the loops' names, the sizes those of a part. */
#define BETWEEN(to, to_part, to_size, from, from_part, from_size) \
    static void to##_loop_from_##from(LOOP_ARGS) { \
        parts_from_parts(to_part##_loop_from_##from_part, n, p, step, params, to_size, from_size); \
    }
TO_COMPLEX(f64)
TO_COMPLEX(f32)
TO_COMPLEX(i64)
TO_COMPLEX(i32)
/* Bools go by this too. */
TO_COMPLEX(u8)
TO_COMPLEX(f16)
TO_COMPLEX(bf16)
FROM_COMPLEX(f64)
FROM_COMPLEX(f32)
FROM_COMPLEX(i64)
FROM_COMPLEX(i32)
FROM_COMPLEX(u8)
FROM_COMPLEX(f16)
FROM_COMPLEX(bf16)
BETWEEN(c128, f64, 8, c64, f32, 4)
BETWEEN(c64, f32, 4, c128, f64, 8)

/* Whole numbers of a pair are moved as they are. */
typedef lam_c128 c128;
typedef lam__c64 c64;
#define T      c128
#define R      c128
#define MAP(x) c128_##x
#include "lib/kernels/simd/map.h"
#undef T
#undef R
#undef MAP
#define T      c64
#define R      c64
#define MAP(x) c64_##x
#include "lib/kernels/simd/map.h"
#undef T
#undef R
#undef MAP
/* Copies of strided pairs. */
ALWAYS_INLINE c128 c128_same(c128 x) { return x; }
ALWAYS_INLINE c64 c64_same(c64 x) { return x; }
static void c128_loop_from_c128(LOOP_ARGS) { c128_unary(n, p, step, c128_same); }
static void c64_loop_from_c64(LOOP_ARGS) { c64_unary(n, p, step, c64_same); }

/* A bool is read as the byte it is. Rows are destinations, columns sources; every pair has a loop. */
#define ROW(to) \
    { \
        [LAM_F64] = to##_loop_from_f64, [LAM_F32] = to##_loop_from_f32, [LAM_I64] = to##_loop_from_i64, \
        [LAM_I32] = to##_loop_from_i32, [LAM_U8] = to##_loop_from_u8, [LAM_BOOL] = to##_loop_from_u8, \
        [LAM_C128] = to##_loop_from_c128, [LAM_C64] = to##_loop_from_c64, \
        [LAM_F16] = to##_loop_from_f16, [LAM_BF16] = to##_loop_from_bf16 \
    }

static lam__loop *const conversions[LAM_DTYPE_COUNT][LAM_DTYPE_COUNT] = {
    [LAM_F64] = ROW(f64), [LAM_F32] = ROW(f32), [LAM_I64] = ROW(i64),
    [LAM_I32] = ROW(i32), [LAM_U8] = ROW(u8),   [LAM_BOOL] = ROW(bool),
    [LAM_C128] = ROW(c128), [LAM_C64] = ROW(c64),
    [LAM_F16] = ROW(f16), [LAM_BF16] = ROW(bf16),
};
/* clang-format on */

lam__loop *LAM__ISA_NAME(lam__convert_find_)(lam_dtype dst, lam_dtype src) {
#if defined(__F16C__)
    /* What is strided or left over meets the plain loops inside of these. */
    if (dst == LAM_F32 && src == LAM_F16) return quick_f32_from_f16;
    if (dst == LAM_F16 && src == LAM_F32) return quick_f16_from_f32;
#endif
    return conversions[dst][src];
}
