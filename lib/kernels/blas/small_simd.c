/* One instruction set's matrix products without CBLAS, made from the templates beside this file. */
#include "lib/kernels/blas/small.h"

#include <string.h>

#include "lib/kernels/simd/vector.h"

#define PASTE(a, b)      a##_##b
#define EXPAND(a, b)     PASTE(a, b)
#define PASTE2(a, b, c)  a##_##b##_##c
#define EXPAND2(a, b, c) PASTE2(a, b, c)
#define FN(name)         EXPAND(name, NAME)
#define FN2(name, lanes) EXPAND2(name, NAME, lanes)

#define T    double
#define U    double
#define MUL  *
#define ADD  +
#define NAME f64
#include "lib/kernels/blas/plain_type.h"

#define T    double
#define NAME f64
#include "lib/kernels/blas/small_type.h"

#define T    float
#define U    float
#define MUL  *
#define ADD  +
#define NAME f32
#include "lib/kernels/blas/plain_type.h"

#define T    float
#define NAME f32
#include "lib/kernels/blas/small_type.h"

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

const lam__small_type LAM__ISA_NAME(lam__small_simd_)[LAM_DTYPE_COUNT] = {
    [LAM_F64] = {plain_f64, small_f64}, [LAM_F32] = {plain_f32, small_f32}, [LAM_I64] = {plain_i64, NULL},
    [LAM_I32] = {plain_i32, NULL},      [LAM_U8] = {plain_u8, NULL},        [LAM_BOOL] = {plain_boolean, NULL},
    [LAM_C128] = {plain_c128, NULL},    [LAM_C64] = {plain_c64, NULL},
};
