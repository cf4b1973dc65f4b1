/* One instruction set's factorisations and solves: see dense.h. Columns of a matrix lie in vectors, so rows of any
 * length end in a part of one. A masked access reads and writes no byte beyond its lanes, so the last vector of the
 * last row is safe, also where the memory ends with it; without masks its elements are taken one by one. */
#include "lib/kernels/blas/dense.h"

#include <math.h>

#include "lib/kernels/simd/fused.h"

/* Registers decide how large tiles are: 32 of them with AVX-512, else 16. Of a product these are 6 x 4 (or 6 x 2) sums,
 * a line of b and an element of a; of a substitution 8 x 2 (or 8 x 1) sums with the same beside them. A tile that
 * spills its sums into memory is slower than a smaller one. */
enum {
    WIDEST = VECTOR_BYTES >= 64 ? 4 : 2, /* vectors of a tile, */
    MOST_ROWS = 6,                       /* and rows */
    BLOCK = 8,                           /* rows of a substitution, */
    BLOCK_WIDEST = VECTOR_BYTES >= 64 ? 2 : 1
};

/* The first `lanes` of a vector, and zeros. */
#if defined(__AVX512F__)
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    return (V64)_mm512_maskz_loadu_pd((__mmask8)((1u << lanes) - 1), from);
}
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << lanes) - 1), (__m512d)v);
}
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    return (V32)_mm512_maskz_loadu_ps((__mmask16)((1u << lanes) - 1), from);
}
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << lanes) - 1), (__m512)v);
}
/* The masks of AVX2 are vectors themselves: lanes whose number is below the count have their sign set. */
#elif defined(__AVX2__)
ALWAYS_INLINE __m256i first_f64(int lanes) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(lanes), _mm256_setr_epi64x(0, 1, 2, 3));
}
ALWAYS_INLINE __m256i first_f32(int lanes) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    return (V64)_mm256_maskload_pd(from, first_f64(lanes));
}
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    _mm256_maskstore_pd(to, first_f64(lanes), (__m256d)v);
}
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    return (V32)_mm256_maskload_ps(from, first_f32(lanes));
}
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    _mm256_maskstore_ps(to, first_f32(lanes), (__m256)v);
}
#else
ALWAYS_INLINE V64 load_f64(const double *from, int lanes) {
    V64 v = {from[0]};
    for (int i = 1; i < lanes; i++) v[i] = from[i];
    return v;
}
ALWAYS_INLINE void store_f64(double *to, V64 v, int lanes) {
    for (int i = 0; i < lanes; i++) to[i] = v[i];
}
ALWAYS_INLINE V32 load_f32(const float *from, int lanes) {
    V32 v = {from[0]};
    for (int i = 1; i < lanes; i++) v[i] = from[i];
    return v;
}
ALWAYS_INLINE void store_f32(float *to, V32 v, int lanes) {
    for (int i = 0; i < lanes; i++) to[i] = v[i];
}
#endif

#if defined(VECTOR_FMA)
/* Numbers of which a vector holds the same elsewhere must be rounded as they are there, or a pivot would be chosen by a
 * number that is not the one in the matrix. */
#define SCALAR_FMA(fma, x, y, z) fma(x, y, z)
#else
#define SCALAR_FMA(fma, x, y, z) ((x) * (y) + (z))
#endif

#define T              double
#define V              V64
#define M              M64
#define LANES          LANES64
#define FMA(x, y, z)   madd(x, y, z)
#define FUSED(x, y, z) SCALAR_FMA(__builtin_fma, x, y, z)
#define SQRT           sqrt
#define MAGNITUDE      fabs
#define NAME(f)        f##_f64
#include "lib/kernels/blas/dense_type.h"
#include "lib/kernels/blas/dense_qr_type.h"

#define T              float
#define V              V32
#define M              M32
#define LANES          LANES32
#define FMA(x, y, z)   madd32(x, y, z)
#define FUSED(x, y, z) SCALAR_FMA(__builtin_fmaf, x, y, z)
#define SQRT           sqrtf
#define MAGNITUDE      fabsf
#define NAME(f)        f##_f32
#include "lib/kernels/blas/dense_type.h"
#include "lib/kernels/blas/dense_qr_type.h"

/* In the order of lam__dense_loops, f64 before f32; dense.c takes the ones for this machine. The first entry is the
 * number of columns that a panel of LU takes. */
const lam__dense_loops LAM__ISA_NAME(lam__dense_loops_)[2] = {
    {LANES64, minus_f64, solve_f64, cholesky_f64, lu_f64, qr_room_f64, qr_f64},
    {LANES32, minus_f32, solve_f32, cholesky_f32, lu_f32, qr_room_f32, qr_f32},
};
