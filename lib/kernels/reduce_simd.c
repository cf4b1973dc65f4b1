/* One instruction set's reductions, scans and arg-reductions, made from reduce_type.h; compiled once per set with
 * the flags of lib/kernels/simd and collected in a table by element type. */
#include "lib/kernels/reduce_simd.h"

#include <stdlib.h>
#include <string.h>

#include "lib/kernels/simd/vector.h"

/* The group of a row; columns whose running state lives on the stack at once. */
enum { GROUP_BYTES = 64, ARG_COLUMNS = 256, SCAN_COLUMNS = 64 };

/* ---- the instructions that choose the greater or the lesser of two -------------------------------------------- */

#if defined(__SSE2__)
#include <immintrin.h>
#define FLOATS_ORDERED 1
#if defined(__AVX512F__)
#define INTRINSIC(op, type)   _mm512_##op##_##type
#define UNORDERED(a, b, type) (unsigned)_mm512_cmp_##type##_mask(a, b, _CMP_UNORD_Q)
#elif defined(__AVX2__)
#define INTRINSIC(op, type)   _mm256_##op##_##type
#define UNORDERED(a, b, type) (unsigned)_mm256_movemask_##type(_mm256_cmp_##type(a, b, _CMP_UNORD_Q))
#else
#define INTRINSIC(op, type)   _mm_##op##_##type
#define UNORDERED(a, b, type) (unsigned)_mm_movemask_##type(_mm_cmpunord_##type(a, b))
#endif

/* a where it is greater (less), else b. */
/* clang-format off */
ALWAYS_INLINE V64 greater_f64(V64 a, V64 b) { return (V64)INTRINSIC(max, pd)(a, b); }
ALWAYS_INLINE V64 less_f64(V64 a, V64 b) { return (V64)INTRINSIC(min, pd)(a, b); }
ALWAYS_INLINE unsigned either_is_nan_f64(V64 a, V64 b) { return UNORDERED(a, b, pd); }
ALWAYS_INLINE V32 greater_f32(V32 a, V32 b) { return (V32)INTRINSIC(max, ps)(a, b); }
ALWAYS_INLINE V32 less_f32(V32 a, V32 b) { return (V32)INTRINSIC(min, ps)(a, b); }
ALWAYS_INLINE unsigned either_is_nan_f32(V32 a, V32 b) { return UNORDERED(a, b, ps); }
/* clang-format on */
#else
#define FLOATS_ORDERED 0
#endif

#define T           double
#define U           double
#define S           double
#define M           int64_t
#define NAME        f64
#define COMPENSATED 1
#define ORDERED     FLOATS_ORDERED
#include "lib/kernels/reduce_type.h"

#define T           float
#define U           float
#define S           double
#define M           int32_t
#define NAME        f32
#define COMPENSATED 0
#define ORDERED     FLOATS_ORDERED
#include "lib/kernels/reduce_type.h"

#define T           int64_t
#define U           uint64_t
#define S           uint64_t
#define M           int64_t
#define NAME        i64
#define COMPENSATED 0
#define ORDERED     0
#include "lib/kernels/reduce_type.h"

#define T           int32_t
#define U           uint32_t
#define S           uint32_t
#define M           int32_t
#define NAME        i32
#define COMPENSATED 0
#define ORDERED     0
#include "lib/kernels/reduce_type.h"

#define T           uint8_t
#define U           uint8_t
#define S           uint8_t
#define M           int8_t
#define NAME        u8
#define COMPENSATED 0
#define ORDERED     0
#include "lib/kernels/reduce_type.h"

const lam__reduce_type LAM__ISA_NAME(lam__reduce_simd_)[LAM_DTYPE_COUNT] = {
    [LAM_F64] = {leaf_f64, merge_f64, scan_f64, arg_f64}, [LAM_F32] = {leaf_f32, merge_f32, scan_f32, arg_f32},
    [LAM_I64] = {leaf_i64, merge_i64, scan_i64, arg_i64}, [LAM_I32] = {leaf_i32, merge_i32, scan_i32, arg_i32},
    [LAM_U8] = {leaf_u8, merge_u8, scan_u8, arg_u8},      [LAM_BOOL] = {leaf_u8, merge_u8, scan_u8, arg_u8},
};
