/* One instruction set's matrix products without CBLAS, made from the templates beside this file. plain_type.h serves
 * any size and stride of all types: integers are computed without a sign, since they wrap, bools with `and` for
 * products and `or` for sums. The loops for small products are those of floats and of complex numbers; tiny_type.h has
 * the smallest ones of floats. */
#include "lib/kernels/blas/small.h"

#include <string.h>

#include "lib/kernels/simd/first.h"
#include "lib/kernels/simd/lists.h"
#include "lib/kernels/simd/registers.h"

#define PASTE(a, b)  a##_##b
#define EXPAND(a, b) PASTE(a, b)
#define FN(name)     EXPAND(name, NAME)

/* U is the type of the arithmetic, which is unsigned for integers; templates undefine what they were given. */
#define T    double
#define U    double
#define MUL  *
#define ADD  +
#define NAME f64
#include "lib/kernels/blas/plain_type.h"

#define T    float
#define U    float
#define MUL  *
#define ADD  +
#define NAME f32
#include "lib/kernels/blas/plain_type.h"

#define T    int64_t
#define U    uint64_t
#define MUL  *
#define ADD  +
#define NAME i64
#include "lib/kernels/blas/plain_type.h"

#define T    int32_t
#define U    uint32_t
#define MUL  *
#define ADD  +
#define NAME i32
#include "lib/kernels/blas/plain_type.h"

#define T    uint8_t
#define U    uint8_t
#define MUL  *
#define ADD  +
#define NAME u8
#include "lib/kernels/blas/plain_type.h"

#define T    uint8_t
#define U    uint8_t
#define MUL  &
#define ADD  |
#define NAME boolean
#include "lib/kernels/blas/plain_type.h"

#define T    double _Complex
#define U    double _Complex
#define MUL  *
#define ADD  +
#define NAME c128
#include "lib/kernels/blas/plain_type.h"

#define T    float _Complex
#define U    float _Complex
#define MUL  *
#define ADD  +
#define NAME c64
#include "lib/kernels/blas/plain_type.h"

/* ---- small products ---------------------------------------------------------------------------------------------- */

/* Registers decide how large tiles are: 32 of them with AVX-512, else 16. WIDEST times MOST_ROWS would be too many
 * sums, so SUMS bounds them. */
enum {
    WIDEST = VECTOR_BYTES >= 64 ? 4 : 2, /* vectors of a tile */
    SUMS = VECTOR_BYTES >= 64 ? 26 : 12, /* vectors that are summed up */
    MOST_ROWS = 8,
    UPRIGHT = 4, /* vectors of rows */
    TINY = 4,
    BESIDE_PRODUCTS = 512, /* at a time, where they lie side by side: of so many terms of each */
    BESIDE_TERMS = 64
};

/* The last vector of a row is half a vector where that is enough and halves are worth it: machines with the widest
 * vectors do as many halves in the time. HALF(f, type) names what deals with them, or the whole ones. */
#if VECTOR_BYTES >= 64
typedef double half_f64 __attribute__((vector_size(VECTOR_BYTES / 2)));
typedef float half_f32 __attribute__((vector_size(VECTOR_BYTES / 2)));

/* Casts of vectors are no instructions; the compilers' own vector types have no halves. */
ALWAYS_INLINE half_f64 half_of_f64(V64 v) {
    return (half_f64)_mm512_castpd512_pd256((__m512d)v);
}
ALWAYS_INLINE half_f32 half_of_f32(V32 v) {
    return (half_f32)_mm512_castps512_ps256((__m512)v);
}
/* One rounding, as whole vectors have with AVX-512, so halves have the same bits. */
ALWAYS_INLINE half_f64 half_fma_f64(half_f64 x, half_f64 y, half_f64 sum) {
    return (half_f64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)sum);
}
ALWAYS_INLINE half_f32 half_fma_f32(half_f32 x, half_f32 y, half_f32 sum) {
    return (half_f32)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)sum);
}
/* The first lanes, as in first.h. */
ALWAYS_INLINE half_f64 half_load_f64(const double *from, int lanes) {
    return (half_f64)_mm256_maskz_loadu_pd((__mmask8)((1u << lanes) - 1), from);
}
ALWAYS_INLINE half_f32 half_load_f32(const float *from, int lanes) {
    return (half_f32)_mm256_maskz_loadu_ps((__mmask8)((1u << lanes) - 1), from);
}
ALWAYS_INLINE void half_store_f64(double *to, half_f64 v, int lanes) {
    _mm256_mask_storeu_pd(to, (__mmask8)((1u << lanes) - 1), (__m256d)v);
}
ALWAYS_INLINE void half_store_f32(float *to, half_f32 v, int lanes) {
    _mm256_mask_storeu_ps(to, (__mmask8)((1u << lanes) - 1), (__m256)v);
}
#define HALVES_OF_REALS 1
/* Without AVX-512 vectors are at most four doubles, whose halves save nothing. */
#else
#define HALVES_OF_REALS 0
#endif

/* How tiles go through one product; steps in parts of elements. What does not change from product to product of a
 * batch, found out once. The last panel and those before it have one each, since their tiles differ in height. */
typedef struct tiling {
    int64_t k, x_row, x_col, y_row, out_row;
    int64_t columns;           /* of out, that are made so */
    int64_t tiles, rows, more; /* the first `more` tiles have rows + 1 rows, the others `rows` */
    int last, put;             /* lanes of the last vector that are read, and written */
} tiling;

/* As few tiles as `most` rows allow, of nearly equal height, so that none of them leaves registers empty. The last
 * vector of a row is set by the caller. */
static tiling tiling_of(const lam__product *p, int parts, int64_t most) {
    const int64_t tiles = (p->m + most - 1) / most;
    return (tiling){.k = p->k,
                    .x_row = p->x_row * parts,
                    .x_col = p->x_col * parts,
                    .y_row = p->y_row * parts,
                    .out_row = p->n * parts,
                    .columns = p->n,
                    .tiles = tiles,
                    .rows = p->m / tiles,
                    .more = p->m % tiles};
}

#define T double
/* V and LANES are the machine's vector; PARTS says how many of its lanes an element takes. */
#define V            V64
#define LANES        LANES64
#define PARTS        1
#define HALVES       HALVES_OF_REALS
#define FMA(x, y, z) madd(x, y, z)
#define LIST         LIST64
#define NAME(f)      f##_f64
#include "lib/kernels/blas/tiny_type.h"
#include "lib/kernels/blas/small_type.h"

#define T            float
#define V            V32
#define LANES        LANES32
#define PARTS        1
#define HALVES       HALVES_OF_REALS
#define FMA(x, y, z) madd32(x, y, z)
#define LIST         LIST32
#define NAME(f)      f##_f32
#include "lib/kernels/blas/tiny_type.h"
#include "lib/kernels/blas/small_type.h"

/* Complex numbers go through the loops of their parts, whose lanes come in pairs. A part of a vector then begins and
 * ends with a pair. */
#define load_c128    load_f64
#define store_c128   store_f64
#define T            double
#define V            V64
#define LANES        LANES64
#define PARTS        2
#define HALVES       0
#define FMA(x, y, z) madd(x, y, z)
#define LIST         LIST64
#define TINY_LIST    LIST64
#define NAME(f)      f##_c128
#include "lib/kernels/blas/tiny_type.h"
#include "lib/kernels/blas/small_type.h"

#define load_c64     load_f32
#define store_c64    store_f32
#define T            float
#define V            V32
#define LANES        LANES32
#define PARTS        2
#define HALVES       0
#define FMA(x, y, z) madd32(x, y, z)
#define LIST         LIST32
#define NAME(f)      f##_c64
#if VECTOR_BYTES >= 64
/* Four complex numbers of f32 are half of such a vector. */
#define TINY_LIST(f, h) LIST_8(f, 0, h)
#else
#define TINY_LIST LIST32
#endif
#include "lib/kernels/blas/tiny_type.h"
#include "lib/kernels/blas/small_type.h"

/* In the order of the ways in small.h, which are indices of this list. */
#define WAYS(type, ...)                                                                                                \
    { tiny_##type, straight_##type, turned_##type, dots_##type, __VA_ARGS__ }

/* By dtype. `lanes` is the number of elements of a vector, by which costs are estimated. */
const lam__small_type LAM__ISA_NAME(lam__small_simd_)[LAM_DTYPE_COUNT] = {
    [LAM_F64] = {plain_f64, LANES64, HALVES_OF_REALS, WAYS(f64, beside_f64)},
    [LAM_F32] = {plain_f32, LANES32, HALVES_OF_REALS, WAYS(f32, beside_f32)},
    [LAM_C128] = {plain_c128, LANES64 / 2, false, WAYS(c128, NULL)},
    [LAM_C64] = {plain_c64, LANES32 / 2, false, WAYS(c64, NULL)},
    /* Integers and bools have no small products of their own: every one is plain. */
    [LAM_I64] = {.plain = plain_i64},
    [LAM_I32] = {.plain = plain_i32},
    [LAM_U8] = {.plain = plain_u8},
    [LAM_BOOL] = {.plain = plain_boolean},
};
