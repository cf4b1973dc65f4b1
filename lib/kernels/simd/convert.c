/* One instruction set's conversion loops, for every pair of dtypes; compiled once per set. C semantics, with a
 * meaning where C has none: a float too large for the integer saturates, NaN gives 0; anything to bool is != 0;
 * integers narrow by dropping high bits. Floats reach integers through double, which holds every float. */
#include "lib/kernels/simd/simd.h"

#include <string.h>

#include "lib/kernels/simd/vector.h"

#define LOOP_ARGS int64_t n, void *const p[], const int64_t step[], __attribute__((unused)) const void *params

/* Each keeps the conversion itself inside the range where C defines it, so that it may be done for every lane. */
ALWAYS_INLINE int64_t saturate_i64(double x) {
    const double above = 9223372036854775808.0;
    double inside = x >= -above && x < above ? x : 0;
    int64_t limit = x >= above ? INT64_MAX : x < -above ? INT64_MIN : 0;
    return (int64_t)inside + limit;
}

ALWAYS_INLINE int32_t saturate_i32(double x) {
    double low = x > INT32_MIN ? x : INT32_MIN, inside = low < INT32_MAX ? low : INT32_MAX;
    return (int32_t)(x == x ? inside : 0);
}

ALWAYS_INLINE uint8_t saturate_u8(double x) {
    double low = x > 0 ? x : 0, inside = low < UINT8_MAX ? low : UINT8_MAX;
    return (uint8_t)(int32_t)inside;
}

#define D               double
#define TO(x)           f64_##x
#define FROM_FLOAT(x)   x
#define FROM_INTEGER(x) (double)(x)
#include "lib/kernels/simd/convert_to.h"

#define D               float
#define TO(x)           f32_##x
#define FROM_FLOAT(x)   (float)(x)
#define FROM_INTEGER(x) (float)(x)
#include "lib/kernels/simd/convert_to.h"

#define D               int64_t
#define TO(x)           i64_##x
#define FROM_FLOAT(x)   saturate_i64(x)
#define FROM_INTEGER(x) x
#include "lib/kernels/simd/convert_to.h"

#define D               int32_t
#define TO(x)           i32_##x
#define FROM_FLOAT(x)   saturate_i32(x)
#define FROM_INTEGER(x) (int32_t)(x)
#include "lib/kernels/simd/convert_to.h"

#define D               uint8_t
#define TO(x)           u8_##x
#define FROM_FLOAT(x)   saturate_u8(x)
#define FROM_INTEGER(x) (uint8_t)(x)
#include "lib/kernels/simd/convert_to.h"

#define D               uint8_t
#define TO(x)           bool_##x
#define FROM_FLOAT(x)   (x) != 0
#define FROM_INTEGER(x) (x) != 0
#include "lib/kernels/simd/convert_to.h"

/* Rows. */
/* clang-format off */
/* A bool is read as the byte it is. */
#define ROW(to) \
    { \
        [LAM_F64] = to##_loop_from_f64, [LAM_F32] = to##_loop_from_f32, [LAM_I64] = to##_loop_from_i64, \
        [LAM_I32] = to##_loop_from_i32, [LAM_U8] = to##_loop_from_u8, [LAM_BOOL] = to##_loop_from_u8 \
    }

static lam__loop *const conversions[LAM_DTYPE_COUNT][LAM_DTYPE_COUNT] = {
    [LAM_F64] = ROW(f64), [LAM_F32] = ROW(f32), [LAM_I64] = ROW(i64),
    [LAM_I32] = ROW(i32), [LAM_U8] = ROW(u8),   [LAM_BOOL] = ROW(bool),
};
/* clang-format on */

lam__loop *LAM__ISA_NAME(lam__convert_find_)(lam_dtype dst, lam_dtype src) {
    return conversions[dst][src];
}
