/* Template: the conversion loops into one type. Include with D (destination), TO(x) (spelling), FROM_FLOAT(x) for x a
 * double or float, FROM_INTEGER(x) for x any integer. The source is widened where it is a 16-bit float, and each
 * function converts one element; the loops are map.h's, which the compiler makes vectors of. Bools are read as bytes.
 * No source is complex: convert.c makes those loops of these. */

/* One line per operation. Each block below is one source: the template for its two types, the conversion of an element,
 * the loop. */
/* clang-format off */
/* The type that results have; sources change from block to block. */
#define R D

/* Floats keep what the destination has room for; all conversions round to nearest, ties to even. */
#define T      double
#define MAP(x) TO(x##_from_f64)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_f64)(double x) { return FROM_FLOAT(x); }
static void TO(loop_from_f64)(LOOP_ARGS) {
    TO(unary_from_f64)(n, p, step, TO(from_f64));
}

#define T      float
#define MAP(x) TO(x##_from_f32)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_f32)(float x) { return FROM_FLOAT(x); }
static void TO(loop_from_f32)(LOOP_ARGS) {
    TO(unary_from_f32)(n, p, step, TO(from_f32));
}

/* Integers: the narrower ones are exact in a double, the widest one rounds. */
#define T      int64_t
#define MAP(x) TO(x##_from_i64)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_i64)(int64_t x) { return FROM_INTEGER(x); }
static void TO(loop_from_i64)(LOOP_ARGS) {
    TO(unary_from_i64)(n, p, step, TO(from_i64));
}

/* u8 is exact in every float, i32 in f64 alone. */
#define T      int32_t
#define MAP(x) TO(x##_from_i32)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_i32)(int32_t x) { return FROM_INTEGER(x); }
static void TO(loop_from_i32)(LOOP_ARGS) {
    TO(unary_from_i32)(n, p, step, TO(from_i32));
}

/* Also the loop from bool. A bool counts as 0 or 1. */
#define T      uint8_t
#define MAP(x) TO(x##_from_u8)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_u8)(uint8_t x) { return FROM_INTEGER(x); }
static void TO(loop_from_u8)(LOOP_ARGS) {
    TO(unary_from_u8)(n, p, step, TO(from_u8));
}

/* 16-bit floats come as f32, which holds each of them exactly, so nothing is rounded twice. */
#define T      uint16_t
#define MAP(x) TO(x##_from_f16)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_f16)(uint16_t x) { return FROM_FLOAT(half_value(x)); }
static void TO(loop_from_f16)(LOOP_ARGS) {
    TO(unary_from_f16)(n, p, step, TO(from_f16));
}

/* bf16 is the upper half of an f32. */
#define T      uint16_t
#define MAP(x) TO(x##_from_bf16)
#include "lib/kernels/simd/map.h"
#undef T
#undef MAP
ALWAYS_INLINE D TO(from_bf16)(uint16_t x) { return FROM_FLOAT(brain_value(x)); }
static void TO(loop_from_bf16)(LOOP_ARGS) {
    TO(unary_from_bf16)(n, p, step, TO(from_bf16));
}

#undef R
#undef D
#undef TO
#undef FROM_FLOAT
#undef FROM_INTEGER
/* clang-format on */
