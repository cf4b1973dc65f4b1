/* One instruction set's loops of convolutions: products of panels whose operands are found by tables of places. See
 * conv.h. */
#include "lib/kernels/conv/loops.h"

#include "lib/kernels/simd/first.h"
#include "lib/kernels/simd/lists.h"
#include "lib/kernels/simd/registers.h"

/* Registers decide how large tiles are: 32 of them with AVX-512, else 16. Tiles are the largest whose sums, operands
 * and weights fit, for each number of features (DOTS_1, DOTS_2, DOTS_4: places beside so many). */
enum {
    WIDEST = VECTOR_BYTES >= 64 ? 4 : 2, /* vectors of features */
    MOST_PLACES = 8,
    FEW = 4,     /* features at most where vectors run along places or the contraction */
    LONGEST = 8, /* vectors of places */
    MEDIUM = 4,
    SHORT = 2,
    LINES = LAM__CONV_LINES,        /* of places together, */
    LINE_WIDE = WIDEST > 2 ? 4 : 2, /* and vectors of each */
    FEW_WIDE = WIDEST > 2 ? 2 : 1,  /* vectors of four lines of one feature of few products, */
    FEW_2 = WIDEST > 2 ? 4 : 2,     /* and lines beside two of them (of two phases), */
    FEW_3 = WIDEST > 2 ? 2 : 1,     /* three or four of two phases, */
    FEW_4 = WIDEST > 2 ? 4 : 2,     /* or of one; */
    FEW_5 = WIDEST > 2 ? 2 : 1,     /* three or four of three phases */
    FEW_SUMS = 8,
    DOTS_1 = 9,
    DOTS_2 = VECTOR_BYTES >= 64 ? 9 : 5,
    DOTS_4 = VECTOR_BYTES >= 64 ? 6 : 2,
    MOST_DOTS = 9,
    ABREAST_1 = 9, /* places beside so many features of groups side by side */
    ABREAST_2 = VECTOR_BYTES >= 64 ? 9 : 5,
    ABREAST_3 = VECTOR_BYTES >= 64 ? 9 : 4,
    ABREAST_4 = VECTOR_BYTES >= 64 ? 6 : 2,
    MOST_ABREAST = 9,
    POINTS = 4 /* pieces of pictures beside four features, or features of x */
};

/* Contracted where the machine has the instruction: the flags of the build leave products and sums apart. */
ALWAYS_INLINE V64 fma_f64(V64 x, V64 y, V64 sum) {
    return madd(x, y, sum);
}

ALWAYS_INLINE V32 fma_f32(V32 x, V32 y, V32 sum) {
    return madd32(x, y, sum);
}

/* Lanes [low, high) of what lies at `from`, zeros in the others, of which nothing is read. */
#if VECTOR_BYTES >= 64
ALWAYS_INLINE V64 between_f64(const double *from, int low, int high) {
    return (V64)_mm512_maskz_loadu_pd((__mmask8)((1u << high) - (1u << low)), from);
}
ALWAYS_INLINE V32 between_f32(const float *from, int low, int high) {
    return (V32)_mm512_maskz_loadu_ps((__mmask16)((1u << high) - (1u << low)), from);
}
#elif VECTOR_BYTES == 32
ALWAYS_INLINE V64 between_f64(const double *from, int low, int high) {
    return (V64)_mm256_maskload_pd(from, _mm256_andnot_si256(first_f64(low), first_f64(high)));
}
ALWAYS_INLINE V32 between_f32(const float *from, int low, int high) {
    return (V32)_mm256_maskload_ps(from, _mm256_andnot_si256(first_f32(low), first_f32(high)));
}
#else
ALWAYS_INLINE V64 between_f64(const double *from, int low, int high) {
    return (V64){low == 0 && high > 0 ? from[0] : 0, low < 2 && high == 2 ? from[1] : 0};
}
ALWAYS_INLINE V32 between_f32(const float *from, int low, int high) {
    V32 v = {0};
    for (int i = low; i < high; i++) v[i] = from[i];
    return v;
}
#endif

#if VECTOR_BYTES >= 64
/* Lanes of two vectors by their numbers; zeros where `lanes` has none. */
typedef __m512i list_of_lanes;
ALWAYS_INLINE list_of_lanes list_f64(const int8_t *lanes) {
    return _mm512_cvtepi8_epi64(_mm_loadu_si128((const __m128i *)(const void *)lanes));
}
ALWAYS_INLINE list_of_lanes list_f32(const int8_t *lanes) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)lanes));
}
ALWAYS_INLINE V64 pick_f64(V64 a, V64 b, list_of_lanes list, uint32_t lanes) {
    return (V64)_mm512_maskz_permutex2var_pd((__mmask8)lanes, (__m512d)a, list, (__m512d)b);
}
ALWAYS_INLINE V32 pick_f32(V32 a, V32 b, list_of_lanes list, uint32_t lanes) {
    return (V32)_mm512_maskz_permutex2var_ps((__mmask16)lanes, (__m512)a, list, (__m512)b);
}
ALWAYS_INLINE V64 spread_f64(V64 v, list_of_lanes list, uint32_t lanes) {
    return (V64)_mm512_maskz_permutexvar_pd((__mmask8)lanes, list, (__m512d)v);
}
ALWAYS_INLINE V32 spread_f32(V32 v, list_of_lanes list, uint32_t lanes) {
    return (V32)_mm512_maskz_permutexvar_ps((__mmask16)lanes, list, (__m512)v);
}
/* The lanes whose numbers are not negative. */
ALWAYS_INLINE uint32_t present_f64(list_of_lanes list) {
    return (uint32_t)(uint8_t)~_mm512_movepi64_mask(list);
}
ALWAYS_INLINE uint32_t present_f32(list_of_lanes list) {
    return (uint32_t)(uint16_t)~_mm512_movepi32_mask(list);
}
/* b where `lanes` has them. */
ALWAYS_INLINE V64 either_f64(V64 a, V64 b, uint32_t lanes) {
    return (V64)_mm512_mask_blend_pd((__mmask8)lanes, (__m512d)a, (__m512d)b);
}
ALWAYS_INLINE V32 either_f32(V32 a, V32 b, uint32_t lanes) {
    return (V32)_mm512_mask_blend_ps((__mmask16)lanes, (__m512)a, (__m512)b);
}
ALWAYS_INLINE V64 load_lanes_f64(const double *from, uint32_t lanes) {
    return (V64)_mm512_maskz_loadu_pd((__mmask8)lanes, from);
}
ALWAYS_INLINE V32 load_lanes_f32(const float *from, uint32_t lanes) {
    return (V32)_mm512_maskz_loadu_ps((__mmask16)lanes, from);
}
ALWAYS_INLINE void store_lanes_f64(double *to, V64 v, uint32_t lanes) {
    _mm512_mask_storeu_pd(to, (__mmask8)lanes, (__m512d)v);
}
ALWAYS_INLINE void store_lanes_f32(float *to, V32 v, uint32_t lanes) {
    _mm512_mask_storeu_ps(to, (__mmask16)lanes, (__m512)v);
}
#endif

/* Lane i of the vector that begins (h = 0) or ends (1) two woven ones. */
#define WOVEN(i, h) ((i) / 2 + (i) % 2 * LANES + (h) * (LANES / 2))

/* The same of vector h of three woven ones, in two steps: of the first two, then with the third. Back again: the lanes
 * of strip h in three vectors. */
#define WOVEN_FIRST(i, h)  (((h)*LANES + (i)) / 3 + ((h)*LANES + (i)) % 3 % 2 * LANES)
#define WOVEN_SECOND(i, h) (((h)*LANES + (i)) % 3 == 2 ? LANES + ((h)*LANES + (i)) / 3 : (i))
#define THIRD_FIRST(i, h)  ((3 * (i) + (h)) % (2 * LANES))
#define THIRD_SECOND(i, h) (3 * (i) + (h) < 2 * LANES ? (i) : 3 * (i) + (h)-LANES)

/* Lane i of what blocks of 2 h lanes, of two vectors in turn, have in their first or second halves. */
#define FOLDED_LOW(i, h)  ((i) / (h) % 2 * LANES + (i) / (h) / 2 * 2 * (h) + (i) % (h))
#define FOLDED_HIGH(i, h) (FOLDED_LOW(i, h) + (h))
#define HALVED(n, by)     ((n) < (by) ? 1 : (n) / (by))

typedef M64 mask_f64;
typedef M32 mask_f32;

#define T            double
#define V            V64
#define LANES        LANES64
#define LIST         LIST64
#define FMA(x, y, z) fma_f64(x, y, z)
#define NAME(f)      f##_f64
#include "lib/kernels/conv/simd_type.h"

#define T            float
#define V            V32
#define LANES        LANES32
#define LIST         LIST32
#define FMA(x, y, z) fma_f32(x, y, z)
#define NAME(f)      f##_f32
#include "lib/kernels/conv/simd_type.h"

#if VECTOR_BYTES >= 64
#define ACROSS(type)                                                                                                   \
    { across_1_##type, across_2_##type, across_3_##type, across_4_##type }
#else
#define ACROSS(type)                                                                                                   \
    { across_1_##type, across_2_##type }
#endif
#define ALONG(type)                                                                                                    \
    { along_1_##type, along_2_##type, along_3_##type, along_4_##type }

#define ABREAST(type)                                                                                                  \
    { abreast_1_##type, abreast_2_##type, abreast_3_##type, abreast_4_##type }

#if VECTOR_BYTES >= 64
#define POINTED(type) points_##type, sums_##type
#else
#define POINTED(type) NULL, NULL
#endif

const lam__conv_loops LAM__ISA_NAME(lam__conv_loops_)[2] = {
    {LANES64, WIDEST, ACROSS(f64), ALONG(f64), along_lines_f64, dots_f64, copy_f64, split_f64, split_three_f64,
     weave_f64, ABREAST(f64), few_f64, far_f64, POINTED(f64), fold_f64, LAM__ISA_NAME(lam__turn_of_)},
    {LANES32, WIDEST, ACROSS(f32), ALONG(f32), along_lines_f32, dots_f32, copy_f32, split_f32, split_three_f32,
     weave_f32, ABREAST(f32), few_f32, far_f32, POINTED(f32), fold_f32, LAM__ISA_NAME(lam__turn_of_)},
};
